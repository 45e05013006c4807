// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=unwind_table_build_soon */
/*
 * What stands in the shards, against what readelf says of the files and /proc of the processes; and
 * what dropping and pinning do to one of the tables. time limit: 300 s
 * Covers: bpf/tracker/inventory.c bpf/tracker/evict.c bpf/tracker/tracker_commands.c
 * Covers: bpf/tracker/maplist.c bpf/tracker/object.c bpf/tracker/targets.c
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "bpf/tracker/inventory.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/work.h"
#include "tests/support/places.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/serve.h"
#include "unwind/row.h"
#include "unwind/table.h"
#include "unwind/walk.h"

static struct inventory *take(struct running *r)
{
	struct inventory *inv;

	assert_int_equal(tracker_inventory(r->tracker, &inv), 0);
	return inv;
}

/* A copy of what is known of the object with that name; false: there is none. */
static bool object_named(struct running *r, const char *name, struct inventory_object *out)
{
	struct inventory *inv = take(r);
	bool found = false;

	for (uint32_t i = 0; i < inv->nobjects; i++) {
		if (strcmp(inv->objects[i].name, name) != 0)
			continue;
		*out = inv->objects[i];
		found = true;
	}
	inventory_put(inv);
	return found;
}

static bool is_in(struct running *r, const char *name, enum inventory_state state)
{
	struct inventory_object o;

	return object_named(r, name, &o) && o.state == state;
}

static void post(struct running *r, enum tracker_command command, uint64_t id, const char *begin)
{
	unsigned int before = last_message(r).number;
	char arg[32];

	snprintf(arg, sizeof(arg), "%" PRIu64, id);
	tracker_post(r->tracker, command, arg);
	/* Others may have a table that is too large, and that is told, too. */
	WAIT(was_said(r, before, begin));
}

/* First word of the command's output. */
static void ask(const char *command, char *to, size_t size)
{
	FILE *f = popen(command, "re");

	assert_non_null(f);
	to[0] = '\0';
	if (fgets(to, (int)size, f))
		to[strcspn(to, " \n")] = '\0';
	pclose(f);
}

/* A copy of libc for this run only, so that no other process maps it. */
static void copy_library(char path[SCRATCH], const char **name)
{
	char command[512], from[256];

	ask("awk '/r-xp.*\\/libc\\./ {print $6; exit}' /proc/self/maps", from, sizeof(from));
	close(scratch_file(path, "t-inventory"));
	snprintf(command, sizeof(command), "cp %s %s", from, path);
	assert_int_equal(system(command), 0);
	*name = base_name(path);
}

/* Maps the executable part of it, in which nothing ever runs. Returns where it is. */
static uint64_t map_library(const struct child *c, const char *path)
{
	struct request r = {.order = ORDER_MAP};
	char command[512], field[64];
	uint64_t at;

	snprintf(command, sizeof(command), "readelf -lW %s | awk '/LOAD.*R E/ {print $2; exit}'",
		 path);
	ask(command, field, sizeof(field));
	r.offset = strtoull(field, NULL, 16) & ~4095ull;
	r.size = 65536;
	snprintf(r.arg, sizeof(r.arg), "%s", path);
	child_send(c, &r);
	at = child_answer(c);
	assert_true(at != 0);
	return at;
}

/* --- what it says ---------------------------------------------------------------------------- */

static void check_file(const struct inventory_object *o, const char *path)
{
	char command[512], want[256], have[2 * BUILD_ID_MAX + 1] = "";

	snprintf(command, sizeof(command), "readelf -nW %s 2>&1 | sed -n 's/.*Build ID: //p'",
		 path);
	ask(command, want, sizeof(want));
	for (int i = 0; i < o->build_id_size; i++)
		sprintf(have + 2 * (size_t)i, "%02x", o->build_id[i]);
	assert_string_equal(have, want);
	snprintf(command, sizeof(command),
		 "readelf -SW %s 2>/dev/null | sed -n 's/.* .eh_frame  *[A-Z0-9_]* *[0-9a-f]* "
		 "[0-9a-f]* \\([0-9a-f]*\\) .*/\\1/p'",
		 path);
	ask(command, want, sizeof(want));
	assert_true(strtoull(want, NULL, 16) > 0);
	assert_int_equal(o->cfi_bytes, strtoull(want, NULL, 16));
	assert_true(o->rows > 0 && o->words > o->rows);
}

/* Processes that run this program. */
static unsigned int count_running(void)
{
	struct dirent *e;
	struct stat mine, its;
	DIR *dir = opendir("/proc");
	char path[64];
	unsigned int n = 0;

	assert_non_null(dir);
	assert_int_equal(stat("/proc/self/exe", &mine), 0);
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.16s/exe", e->d_name);
		n += atoi(e->d_name) && !stat(path, &its) && its.st_ino == mine.st_ino &&
		     its.st_dev == mine.st_dev;
	}
	closedir(dir);
	return n;
}

static void says_what_readelf_and_proc_say(void **state)
{
	struct inventory_object o;
	struct child c[3];
	static struct running r;
	const char *name;
	char path[SCRATCH];

	(void)state;
	copy_library(path, &name);
	for (int i = 0; i < 3; i++) {
		c[i] = child_start(BY_EXEC, "t-inventory", 0);
		map_library(&c[i], path);
	}
	map_library(&c[1], path);
	run_own(&r);
	WAIT(is_in(&r, name, INVENTORY_READY));
	assert_true(object_named(&r, name, &o));
	check_file(&o, path);
	assert_int_equal(o.processes, 3);
	assert_int_equal(o.sampled, 0);
	assert_int_equal(o.missed, 0);
	assert_false(o.pinned);
	child_end(&c[0]);
	WAIT(object_named(&r, name, &o) && o.processes == 2);
	/* The program itself is sampled. This process, its two children and those that open files
	 * for the tracker run it. */
	child_order(&c[1], ORDER_WORK, NULL);
	WAIT(object_named(&r, "test_inventory", &o) && o.sampled);
	WAIT(object_named(&r, "test_inventory", &o) && o.processes == count_running());
	assert_true(o.processes >= 4);
	assert_true(o.sampled <= clock_now());
	child_end(&c[1]);
	child_end(&c[2]);
	run_end(&r);
	unlink(path);
}

static bool sums_are_right(struct running *r)
{
	struct inventory *inv = take(r);
	uint64_t words = 0, blocks = 0, end = 0;
	struct tracker_state ts;
	bool right;

	tracker_state(r->tracker, &ts);
	for (uint32_t i = 0; i < inv->nblocks; i++) {
		const struct inventory_block *b = &inv->blocks[i];

		assert_true(b->word >= end);
		end = (uint64_t)b->word + b->words;
		assert_int_equal((end - 1) >> SHARD_SHIFT, b->word >> SHARD_SHIFT);
		assert_true(b->object < inv->nobjects);
		blocks += b->words;
	}
	for (unsigned int i = 0; i < inv->nshards; i++) {
		const struct inventory_shard *s = &inv->shards[i];

		words += s->words;
		assert_true(s->largest <= SHARD_WORDS - s->words);
		assert_int_equal(s->created, s->since != 0);
		assert_true(!s->objects == !s->words);
	}
	/* Files come and go, and what is to be freed counts until it is. */
	right = words == ts.words_used && blocks == words && inv->nshards == ts.shards_max;
	inventory_put(inv);
	return right;
}

static void blocks_are_all_that_is_used(void **state)
{
	static struct running r;

	(void)state;
	run(&r, NULL);
	WAIT(sums_are_right(&r));
	run_end(&r);
}

/* Of two files: the number of the build, from 1 on, that was the first of it. */
static struct {
	_Atomic ino_t file[2];
	_Atomic dev_t device[2];
	_Atomic unsigned int turn[2], builds;
	_Atomic bool closed; /* no build begins */
} order;

/* As if the file at hand took for ever to build. */
static struct {
	atomic_bool on;
	const atomic_bool *_Atomic cancel;
	_Atomic unsigned int builds;
} held;

/* As if the rest of a file of which the rows of the CFI are in use took for ever. */
static struct {
	_Atomic ino_t file; /* 0: none is held */
	_Atomic bool taken;
} partly;

struct soon_taken {
	const struct unwind_soon *soon;
	bool held;
};

static void take_and_wait(void *arg, const struct unwind_table *table)
{
	const struct soon_taken *s = arg;

	s->soon->take(s->soon->arg, table);
	partly.taken |= s->held;
	while (s->held && partly.file)
		usleep(1000);
}

int __real_unwind_table_build_soon(const struct elf_file *file, struct wide_rules *wide,
				   const struct unwind_soon *soon, struct unwind_table **out);
int __wrap_unwind_table_build_soon(const struct elf_file *file, struct wide_rules *wide,
				   const struct unwind_soon *soon, struct unwind_table **out);

int __wrap_unwind_table_build_soon(const struct elf_file *file, struct wide_rules *wide,
				   const struct unwind_soon *soon, struct unwind_table **out)
{
	const struct timespec moment = {0, 1000000};
	int fd = elf_file_fd(file);
	struct soon_taken taken = {.soon = soon};
	const struct unwind_soon waiting = {take_and_wait, &taken};
	struct stat st;

	taken.held = partly.file && fd >= 0 && !fstat(fd, &st) && st.st_ino == partly.file;
	while (order.closed)
		usleep(1000);
	order.builds++;
	if (held.on) {
		held.builds++;
		held.cancel = elf_file_work(file)->cancel;
		while (held.cancel && !atomic_load(held.cancel))
			nanosleep(&moment, NULL);
		return -ECANCELED;
	}
	for (int i = 0; i < 2; i++)
		if (fd >= 0 && !fstat(fd, &st) && st.st_ino == order.file[i] &&
		    st.st_dev == order.device[i] && !order.turn[i])
			order.turn[i] = order.builds;
	return __real_unwind_table_build_soon(file, wide, &waiting, out);
}

static void watch_for(int i, const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	order.file[i] = st.st_ino;
	order.device[i] = st.st_dev;
	order.turn[i] = 0;
}

/* The large one comes first in the order of addresses, hence of finding. */
static void small_files_come_before_large_ones(void **state)
{
	char small[SCRATCH], large[96], command[512];
	static struct running r;
	const char *name;
	struct child c;

	(void)state;
	copy_library(small, &name);
	snprintf(large, sizeof(large), "%s.large", small);
	snprintf(command, sizeof(command), "cp %s %s && truncate -s 200M %s", small, large, large);
	assert_int_equal(system(command), 0);
	c = child_start(BY_EXEC, "t-inventory", 0);
	map_library(&c, small);
	map_library(&c, large);
	watch_for(0, small);
	watch_for(1, large);
	/* What the builders take first are files of processes that were there before. */
	order.closed = true;
	run_own(&r);
	WAIT(is_in(&r, name, INVENTORY_QUEUED) && is_in(&r, base_name(large), INVENTORY_QUEUED));
	order.closed = false;
	WAIT(order.turn[0] && order.turn[1]);
	assert_true(order.turn[0] < order.turn[1]);
	child_end(&c);
	run_end(&r);
	unlink(small);
	unlink(large);
}

/* Walks need not wait until the machine code of a large library has been read. */
static void rows_of_the_cfi_are_used_meanwhile(void **state)
{
	struct inventory_object before, after;
	char path[SCRATCH], from[256], command[512];
	static struct running r;
	const char *name;
	struct stat st;
	struct child c;

	(void)state;
	ask("ls /usr/lib*/*/libcrypto.so.[0-9]* /usr/lib64/libcrypto.so.[0-9]* 2>/dev/null", from,
	    sizeof(from));
	if (!from[0])
		skip_since("no libcrypto");
	close(scratch_file(path, "t-inventory"));
	name = base_name(path);
	snprintf(command, sizeof(command), "cp %s %s", from, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(path, &st), 0);
	partly.file = st.st_ino;
	c = child_start(BY_EXEC, "t-inventory", 0);
	map_library(&c, path);
	run_own(&r);
	WAIT(partly.taken);
	WAIT(is_in(&r, name, INVENTORY_READY));
	assert_true(object_named(&r, name, &before));
	assert_true(before.words > 0);
	partly.file = 0;
	WAIT(object_named(&r, name, &after) && after.words > before.words);
	assert_int_equal(after.state, INVENTORY_READY);
	child_end(&c);
	run_end(&r);
	unlink(path);
}

/* The tracker says so to the builder, and ends while it is at work. */
static void the_end_does_not_wait_for_a_build(void **state)
{
	static struct running r;
	struct child c = child_start(BY_EXEC, "t-inventory", 0);

	(void)state;
	held.on = true;
	run_own(&r);
	WAIT(held.builds);
	run_end(&r);
	held.on = false;
	assert_non_null(held.cancel);
	child_end(&c);
}

/* --- what can be done ------------------------------------------------------------------------ */

static void dropped_stays_away_until_sampled(void **state)
{
	struct inventory_object o;
	static struct running r;
	const char *name;
	struct child c, busy;
	char path[SCRATCH];

	(void)state;
	copy_library(path, &name);
	c = child_start(BY_EXEC, "t-inventory", 0);
	map_library(&c, path);
	busy = child_start(BY_EXEC, "t-busy", 0);
	child_order(&busy, ORDER_WORK, NULL);
	run_own(&r);
	WAIT(is_in(&r, name, INVENTORY_READY));
	object_named(&r, name, &o);
	post(&r, TRACKER_DROP, o.id, "dropped the table of t-inventory");
	/* Nothing samples it: three looks at the marks do not bring it back. */
	for (int looks = 0; looks < 3; looks++) {
		uint64_t before;

		assert_true(object_named(&r, "test_inventory", &o));
		before = o.sampled;
		WAIT(object_named(&r, "test_inventory", &o) && o.sampled > before);
		assert_true(is_in(&r, name, INVENTORY_EVICTED));
	}
	child_end(&busy);
	object_named(&r, name, &o);
	assert_int_equal(o.words, 0);
	assert_int_equal(o.missed, 0);
	post(&r, TRACKER_DROP, o.id, "t-inventory");
	post(&r, TRACKER_DROP, UINT64_MAX, "that object is gone");
	/* The program is sampled all the time. */
	child_order(&c, ORDER_WORK, NULL);
	WAIT(object_named(&r, "test_inventory", &o) && o.sampled && o.state == INVENTORY_READY);
	post(&r, TRACKER_DROP, o.id, "dropped the table of test_inventory");
	WAIT(object_named(&r, "test_inventory", &o) && o.missed > 0);
	WAIT(is_in(&r, "test_inventory", INVENTORY_READY));
	child_end(&c);
	run_end(&r);
	unlink(path);
}

static void pinned_outlives_its_processes(void **state)
{
	struct inventory_object o;
	static struct running r;
	const char *name;
	struct child c;
	char path[SCRATCH];

	(void)state;
	copy_library(path, &name);
	c = child_start(BY_EXEC, "t-inventory", 0);
	map_library(&c, path);
	run_own(&r);
	WAIT(is_in(&r, name, INVENTORY_READY));
	object_named(&r, name, &o);
	post(&r, TRACKER_PIN, o.id, "t-inventory");
	WAIT(object_named(&r, name, &o) && o.pinned);
	child_end(&c);
	WAIT(object_named(&r, name, &o) && o.processes == 0);
	assert_int_equal(o.state, INVENTORY_READY);
	post(&r, TRACKER_PIN, o.id, "t-inventory");
	WAIT(object_named(&r, name, &o) && !o.pinned);
	/* What is pinned at the end is given back, too: the sanitizers look. */
	post(&r, TRACKER_PIN, o.id, "t-inventory");
	post(&r, TRACKER_PIN, UINT64_MAX, "that object is gone");
	run_end(&r);
	unlink(path);
}

/* A program that spins and has about 3 MiB of rows. */
static void make_large(const char *path)
{
	const char *cc = getenv("CC") ? getenv("CC") : "gcc";
	char command[512];
	FILE *f;

	snprintf(command, sizeof(command),
		 "%s -x assembler -nostdlib -static -Wl,--build-id -o %s -", cc, path);
	f = popen(command, "we");
	assert_non_null(f);
	fprintf(f, ".text\n.rept 140000\n.cfi_startproc\npush %%rbx\n.cfi_adjust_cfa_offset 8\n"
		   "sub $32, %%rsp\n.cfi_adjust_cfa_offset 32\nnop\nadd $32, %%rsp\n"
		   ".cfi_adjust_cfa_offset -32\npop %%rbx\n.cfi_adjust_cfa_offset -8\nret\n"
		   ".cfi_endproc\n.endr\n.globl _start\n_start: .cfi_startproc\n"
		   ".cfi_undefined rip\n1: jmp 1b\n.cfi_endproc\n");
	assert_int_equal(pclose(f), 0);
}

/* Its name is the last part of path. */
static pid_t start_large(const char *path)
{
	pid_t pid, parent = getpid();

	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			execl(path, path, NULL);
		_exit(127);
	}
	return pid;
}

/*
 * Two that do not fit together. One that nothing samples for two seconds has to go for the other,
 * and with SIZE=full, where both are sampled, they take turns of ten seconds; not a pinned one.
 */
static void pinned_is_never_evicted(void **state)
{
	static const struct tracker_filter all;
	struct inventory_object in, out;
	static struct running r;
	const char *size = getenv("SIZE");
	const bool full = size && !strcmp(size, "full");
	char folder[SCRATCH], path[2][96], command[300];
	const char *name[2];
	uint64_t until, missed, at, start = clock_now();
	struct child user;
	pid_t pid[2];
	int first;

	(void)state;
	memset(&r, 0, sizeof(r));
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.gate, NULL);
	run_sampler(&r);
	scratch_folder(folder, "inventory");
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/t-large%d", folder, i);
		name[i] = base_name(path[i]);
	}
	make_large(path[0]);
	snprintf(command, sizeof(command), "cp %s %s", path[0], path[1]);
	assert_int_equal(system(command), 0);
	for (int i = 0; i < 2; i++)
		pid[i] = start_large(path[i]);
	assert_int_equal(tracker_new(r.sampler, &all, 1, on_say, &r, &r.tracker), 0);
	run_tracker(&r);
	WAIT(object_named(&r, name[0], &in) && object_named(&r, name[1], &out) &&
	     (in.state == INVENTORY_READY) != (out.state == INVENTORY_READY) &&
	     (in.state == INVENTORY_EVICTED || out.state == INVENTORY_EVICTED));
	first = in.state == INVENTORY_READY ? 0 : 1;
	/* It maps the table's file, too, and is sampled, so its list stays published. */
	user = child_start(BY_EXEC, "t-user", 0);
	at = map_library(&user, path[first]);
	child_order(&user, ORDER_WORK, NULL);
	WAIT(has_entry(&r, user.pid, at, MAP_CFI));
	post(&r, TRACKER_PIN, first ? out.id : in.id, name[first]);
	WAIT(object_named(&r, name[!first], &out) && out.missed);
	missed = out.missed;
	if (!full)
		kill(pid[first], SIGSTOP);
	/* Each second without its table is a look at which the other could have come back. */
	for (until = clock_now() + 60000000000ull; out.missed <= missed + (full ? 13 : 4);) {
		assert_true(clock_now() < until);
		assert_true(is_in(&r, name[first], INVENTORY_READY));
		usleep(50000);
		object_named(&r, name[!first], &out);
	}
	/* missed counts seconds, however often the tracker looks. */
	assert_true(out.missed <= (clock_now() - start) / 900000000ull + 1);
	object_named(&r, name[first], &in);
	assert_true(in.pinned);
	post(&r, TRACKER_PIN, in.id, name[first]);
	WAIT(!is_in(&r, name[first], INVENTORY_READY));
	/* Its walks neither use the evicted rows nor take the code for code without rows. */
	WAIT(has_entry(&r, user.pid, at, MAP_PENDING) && !has_entry(&r, user.pid, at, MAP_CFI));
	child_end(&user);
	WAIT(is_in(&r, name[!first], INVENTORY_READY));
	for (int i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		unlink(path[i]);
	}
	rmdir(folder);
	run_end(&r);
}

/* --- made up --------------------------------------------------------------------------------- */

static void sums_of_what_is_made_up(void **state)
{
	static const struct inventory_block blocks[] = {
		{SHARD_WORDS + 100, 50, 1},
		{0, 10, 0},
		{500, 100, 1},
		{20, 5, 0},
		{600, SHARD_WORDS - 600, 0},
		{SHARD_WORDS + 10, 5, 1},
	};
	struct inventory *inv = inventory_new(3, 2, 6);

	(void)state;
	memcpy(inv->blocks, blocks, sizeof(blocks));
	inventory_settle(inv);
	for (uint32_t i = 1; i < inv->nblocks; i++)
		assert_true(inv->blocks[i - 1].word < inv->blocks[i].word);
	assert_int_equal(inv->shards[0].words, 10 + 5 + 100 + SHARD_WORDS - 600);
	assert_int_equal(inv->shards[0].objects, 2);
	assert_int_equal(inv->shards[0].largest, 500 - 25);
	assert_int_equal(inv->shards[1].words, 55);
	assert_int_equal(inv->shards[1].objects, 1);
	assert_int_equal(inv->shards[1].largest, SHARD_WORDS - 150);
	assert_int_equal(inv->shards[2].largest, SHARD_WORDS);
	inventory_put(inventory_get(inv));
	inventory_put(inv);
	inventory_put(NULL);
}

/* --- chosen processes ------------------------------------------------------------------------ */

/* The process maps the file, and the tracker knows it. */
static void map_known(struct running *r, const struct child *c, const char *path)
{
	struct area a;

	map_library(c, path);
	assert_true(area_find(c->pid, base_name(path), true, &a));
	WAIT(place_at(r, c->pid, 0, a.start).kind == PLACE_FILE);
}

/* Each object of the inventory is mapped by the process. */
static void check_all_of(struct running *r, pid_t pid)
{
	struct inventory *inv = take(r);
	struct area a;

	assert_true(inv->nobjects >= 3); /* program, libc, loader */
	for (uint32_t i = 0; i < inv->nobjects; i++)
		if (strcmp(inv->objects[i].name, "[vdso]") != 0 &&
		    !area_find(pid, inv->objects[i].name, true, &a))
			fail_msg("%s is not mapped", inv->objects[i].name);
	inventory_put(inv);
}

static void tables_are_built_for_chosen_processes(void **state)
{
	static struct running r;
	static pid_t pids[1];
	const struct tracker_filter filter = {.pids = pids, .npids = 1};
	const char *name[4], *begin = "attached to ";
	struct inventory_object o;
	struct tracker_state ts;
	char path[4][SCRATCH], arg[16];
	unsigned int before;
	struct child c[3];
	struct area a;

	(void)state;
	for (int i = 0; i < 4; i++)
		copy_library(path[i], &name[i]);
	for (int i = 0; i < 3; i++)
		c[i] = child_start(BY_EXEC, "t-chosen", 0);
	map_library(&c[0], path[0]);
	map_library(&c[1], path[1]);
	pids[0] = c[0].pid;
	run(&r, &filter);
	WAIT(is_in(&r, name[0], INVENTORY_READY));
	assert_true(area_find(c[1].pid, name[1], true, &a));
	WAIT(place_at(&r, c[1].pid, 0, a.start).kind == PLACE_FILE);
	WAIT((tracker_state(r.tracker, &ts), ts.started && ts.idle));
	map_known(&r, &c[1], path[2]);
	map_known(&r, &c[2], path[3]);
	check_all_of(&r, c[0].pid);

	/* who is attached later gets its tables at once, without a sample */
	before = last_message(&r).number;
	snprintf(arg, sizeof(arg), "%d", (int)c[1].pid);
	tracker_post(r.tracker, TRACKER_ATTACH, arg);
	WAIT(was_said(&r, before, begin));
	WAIT(is_in(&r, name[1], INVENTORY_READY) && is_in(&r, name[2], INVENTORY_READY));

	/* and so do all when the whole machine is sampled */
	assert_false(object_named(&r, name[3], &o));
	tracker_post(r.tracker, TRACKER_DETACH_ALL, "");
	WAIT(is_in(&r, name[3], INVENTORY_READY));
	for (int i = 0; i < 3; i++)
		child_end(&c[i]);
	run_end(&r);
	for (int i = 0; i < 4; i++)
		unlink(path[i]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_what_is_made_up),
		cmocka_unit_test(says_what_readelf_and_proc_say),
		cmocka_unit_test(blocks_are_all_that_is_used),
		cmocka_unit_test(small_files_come_before_large_ones),
		cmocka_unit_test(rows_of_the_cfi_are_used_meanwhile),
		cmocka_unit_test(the_end_does_not_wait_for_a_build),
		cmocka_unit_test(dropped_stays_away_until_sampled),
		cmocka_unit_test(pinned_outlives_its_processes),
		cmocka_unit_test(pinned_is_never_evicted),
		cmocka_unit_test(tables_are_built_for_chosen_processes),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
