// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the tracker knows of the machine's processes and of children that the test starts, compared
 * with /proc and with the program headers of the files that they map.
 */
#include "serve.h"

#include <gelf.h>
#include <libelf.h>
#include <sys/auxv.h>

#define PLUGIN "libBrokenLocale.so.1" /* of libc6, linked by nothing here */

/* --- processes ------------------------------------------------------------------------------- */

/* True as well when the process is gone. */
static bool as_in_proc(struct running *r, pid_t pid)
{
	struct stat_line s;
	struct tracker_proc p;

	if (!stat_read(pid, &s))
		return true;
	if (!tracker_proc(r->tracker, pid, s.image, &p))
		return false;
	return p.kthread == s.kthread && !p.exited &&
	       (p.ppid == s.ppid || s.ppid == 1) && /* parents that died are another's matter */
	       /* those of workers change with what they do, which no record tells */
	       (!strncmp(p.comm, "kworker/", 8) || !strncmp(p.comm, s.comm, sizeof(p.comm) - 1));
}

static void test_existing(void **state)
{
	DIR *dir = opendir("/proc");
	size_t n = 0, kthreads = 0;
	struct tracker_state ts;
	static struct running r;
	struct dirent *e;

	(void)state;
	assert_non_null(dir);
	run(&r, NULL);
	while ((e = readdir(dir))) {
		pid_t pid = atoi(e->d_name);
		struct stat_line s;

		if (pid <= 0 || !stat_read(pid, &s))
			continue;
		WAIT(as_in_proc(&r, pid));
		n++;
		kthreads += s.kthread;
	}
	closedir(dir);
	assert_true(n > 1 && kthreads > 1);
	assert_false(is_known(&r, 0x3fffffff));
	tracker_state(r.tracker, &ts);
	assert_true(ts.nprocs > kthreads);
	assert_true(ts.nobjects > 1);
	assert_int_equal(ts.shards_max, SHARDS);
	assert_int_equal(ts.words_max, (uint64_t)SHARDS << 20);
	assert_false(ts.filtering);
	assert_int_equal(ts.nattached, 0);
	WAIT((tracker_state(r.tracker, &ts), ts.idle));
	assert_true(ts.words_used > 0 && ts.words_used <= ts.words_max);
	assert_in_range(ts.shards_used, 1, ts.shards_created);
	assert_in_range(ts.shards_created, 1, SHARDS);
	run_end(&r);
}

/* --- places ---------------------------------------------------------------------------------- */

/* The ELF virtual address of an executable byte of the file; false: in no executable segment. */
static bool vaddr_of(int fd, uint64_t offset, uint64_t *vaddr)
{
	Elf *elf;
	size_t n = 0;
	bool found = false;
	GElf_Phdr ph;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && !found; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		/* whole pages are mapped */
		if (offset < (ph.p_offset & ~4095ull) ||
		    offset >= ((ph.p_offset + ph.p_filesz + 4095) & ~4095ull))
			continue;
		*vaddr = offset - ph.p_offset + ph.p_vaddr;
		found = true;
	}
	elf_end(elf);
	return found;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void check_file(struct running *r, pid_t pid, uint64_t image, const struct area *a,
		       uint64_t addr)
{
	struct place p;
	struct stat st;
	uint64_t vaddr;

	tracker_place(r->tracker, pid, image, addr, &p);
	if (p.kind != PLACE_FILE)
		fail_msg("%" PRIx64 " of %s is of kind %d", addr, a->name, p.kind);
	assert_non_null(p.object);
	assert_int_equal(fstat(object_fd(p.object), &st), 0);
	assert_int_equal(st.st_ino, a->inode);
	assert_true(vaddr_of(object_fd(p.object), addr - a->start + a->offset, &vaddr));
	if (p.vaddr != vaddr)
		fail_msg("%" PRIx64 " of %s: %" PRIx64 " instead of %" PRIx64, addr, a->name,
			 p.vaddr, vaddr);
	assert_string_equal(object_name(p.object), base_name(a->name));
	object_put(r->tracker, p.object);
}

static void check_vdso(struct running *r, pid_t pid, uint64_t image, const struct area *a,
		       uint64_t addr)
{
	const void *mine = (const void *)getauxval(AT_SYSINFO_EHDR), *bytes;
	struct place p;
	size_t size;

	tracker_place(r->tracker, pid, image, addr, &p);
	assert_int_equal(p.kind, PLACE_VDSO);
	assert_string_equal(object_name(p.object), "[vdso]");
	assert_int_equal(object_fd(p.object), -1);
	bytes = object_image(p.object, &size);
	assert_in_range(size, 64, a->end - a->start);
	assert_memory_equal(bytes, mine, size);
	/* the kernel's is linked at 0 */
	assert_true(p.vaddr == addr - a->start);
	object_put(r->tracker, p.object);
}

static void check_area(struct running *r, pid_t pid, uint64_t image, const struct area *a,
		       uint64_t addr)
{
	if (!a->exec)
		assert_int_equal(place_at(r, pid, image, addr).kind, PLACE_UNKNOWN);
	else if (!strcmp(a->name, "[vdso]"))
		check_vdso(r, pid, image, a, addr);
	else if (a->inode)
		check_file(r, pid, image, a, addr);
	else
		assert_int_equal(place_at(r, pid, image, addr).kind, PLACE_JIT);
}

/* Every area at its first, middle and last byte; how many of them can be executed. */
static size_t check_places(struct running *r, pid_t pid)
{
	uint64_t image = stat_image(pid);
	FILE *f = maps_open(pid);
	struct area a;
	size_t n = 0;

	while (area_read(f, &a)) {
		if (!strcmp(a.name, "[vsyscall]"))
			continue;
		check_area(r, pid, image, &a, a.start);
		check_area(r, pid, image, &a, a.start + (a.end - a.start) / 2);
		check_area(r, pid, 0, &a, a.end - 1);
		n += a.exec;
	}
	fclose(f);
	return n;
}

/* Whether all is known that an exec and then the loader, up to libc, have mapped. */
static bool is_settled(struct running *r, pid_t pid, const char *program)
{
	FILE *f = maps_open(pid);
	unsigned int seen = 0;
	bool known = true;
	struct area a;

	while (known && area_read(f, &a)) {
		if (!a.exec || !strcmp(a.name, "[vsyscall]"))
			continue;
		known = place_at(r, pid, 0, a.start).kind != PLACE_UNKNOWN;
		seen |= (strstr(a.name, program) != NULL) |
			(strstr(a.name, "/libc.so") != NULL) << 1 | !strcmp(a.name, "[vdso]") << 2;
	}
	fclose(f);
	return known && seen == 7;
}

/* Returns an address of the program's text. */
static uint64_t wait_for_image(struct running *r, pid_t pid, const char *program)
{
	struct area text;

	WAIT(is_settled(r, pid, program));
	assert_true(area_find(pid, program, true, &text));
	assert_int_equal(place_at(r, pid, stat_image(pid), text.start).kind, PLACE_FILE);
	return text.start;
}

static void change_places(struct running *r, struct child *c)
{
	struct area a;
	uint64_t at;

	at = child_ask(c, ORDER_STACK, NULL);
	assert_int_equal(place_at(r, c->pid, 0, at).kind, PLACE_UNKNOWN);

	assert_int_equal(child_ask(c, ORDER_PLUGIN, PLUGIN), 0);
	assert_true(area_find(c->pid, PLUGIN, true, &a));
	WAIT(place_at(r, c->pid, 0, a.start).kind == PLACE_FILE);

	at = child_ask(c, ORDER_JIT, NULL);
	assert_int_not_equal(at, 0);
	WAIT(place_at(r, c->pid, 0, at).kind == PLACE_JIT);
	check_places(r, c->pid);
}

static void test_places(void **state)
{
	struct child c[3];
	static struct running r;

	(void)state;
	c[0] = child_start(BY_EXEC, "t-before", 0);
	run(&r, NULL);
	c[1] = child_start(BY_EXEC, "t-after", 0);
	c[2] = child_start(BY_FORK, "t-fork", 0);
	for (int i = 0; i < 3; i++) {
		wait_for_image(&r, c[i].pid, "/test_tracker");
		/* the program, libc, the loader, the vDSO */
		assert_true(check_places(&r, c[i].pid) >= 4);
		change_places(&r, &c[i]);
	}
	assert_int_equal(place_at(&r, c[0].pid, 0, 0).kind, PLACE_UNKNOWN);
	assert_int_equal(place_at(&r, c[0].pid, 0, UINT64_MAX).kind, PLACE_UNKNOWN);
	assert_int_equal(place_at(&r, c[0].pid, 1, 0x400000).kind, PLACE_UNKNOWN);
	assert_int_equal(place_at(&r, 0x3fffffff, 0, 0x400000).kind, PLACE_UNKNOWN);
	for (int i = 0; i < 3; i++)
		child_end(&c[i]);
	run_end(&r);
}

static void test_life(void **state)
{
	struct tracker_proc p;
	static struct running r;
	uint64_t before[2], image, old_image;
	struct child c;

	(void)state;
	run(&r, NULL);
	c = child_start(BY_FORK, "t-life", 0);
	WAIT(is_called(&r, c.pid, "t-life"));
	old_image = stat_image(c.pid);
	assert_true(tracker_proc(r.tracker, c.pid, old_image, &p));
	assert_int_equal(p.ppid, getpid());
	assert_false(p.exited);
	assert_false(p.kthread);

	before[0] = clock_now();
	child_order(&c, ORDER_EXEC, NULL);
	WAIT(is_called(&r, c.pid, "sleep"));
	wait_for_image(&r, c.pid, "/sleep");
	image = stat_image(c.pid);
	assert_true(tracker_proc(r.tracker, c.pid, image, &p));
	assert_false(p.exited);
	assert_string_equal(p.comm, "sleep");
	assert_int_equal(p.ppid, getpid());
	/* samples of the image before may still be on their way */
	if (tracker_proc(r.tracker, c.pid, old_image, &p)) {
		assert_true(p.exited);
		assert_string_equal(p.comm, "t-life");
		assert_in_range(p.exit_time, before[0], clock_now());
	}

	before[1] = clock_now();
	child_end(&c);
	WAIT(!is_known(&r, c.pid));
	assert_true(tracker_proc(r.tracker, c.pid, image, &p));
	assert_true(p.exited);
	assert_string_equal(p.comm, "sleep");
	assert_in_range(p.exit_time, before[1], clock_now());
	WAIT(!tracker_proc(r.tracker, c.pid, image, &p));
	/* not before the last slice could be named */
	assert_true(clock_now() - before[1] > 3000000000ull);
	run_end(&r);
}

/* A fork has what its parent has; an exec leaves nothing of it, but for what was sampled before. */
static void test_exec(void **state)
{
	static struct running r;
	struct child c;
	struct area libc;
	uint64_t old_image, at;
	struct place mine, its;
	pid_t fork_;

	(void)state;
	run(&r, NULL);
	c = child_start(BY_EXEC, "t-exec", 0);
	wait_for_image(&r, c.pid, "/test_tracker");
	fork_ = (pid_t)child_ask(&c, ORDER_FORK, NULL);
	assert_true(fork_ > 0);
	assert_true(area_find(c.pid, "/libc.so", true, &libc));
	WAIT(is_known(&r, fork_));
	mine = place_at(&r, c.pid, 0, libc.start);
	its = place_at(&r, fork_, 0, libc.start);
	assert_int_equal(its.kind, PLACE_FILE);
	assert_ptr_equal(its.object, mine.object);
	assert_true(its.vaddr == mine.vaddr);
	check_places(&r, fork_);

	old_image = stat_image(c.pid);
	child_order(&c, ORDER_EXEC, NULL);
	WAIT(is_called(&r, c.pid, "sleep"));
	at = wait_for_image(&r, c.pid, "/sleep");
	assert_true(check_places(&r, c.pid) >= 4);
	if (stat_image(c.pid) != old_image) {
		/* either is found by its image for some seconds; then only the new one */
		its = place_at(&r, c.pid, old_image, libc.start);
		assert_true(its.kind == PLACE_UNKNOWN || its.object == mine.object);
		assert_int_equal(place_at(&r, c.pid, old_image, at).kind, PLACE_UNKNOWN);
	}
	/* the fork is as it was */
	check_places(&r, fork_);
	child_end(&c);
	run_end(&r);
}

/* --- objects --------------------------------------------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
	char buffer[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, n), n);
	close(in);
	close(out);
}

struct scratch {
	char dir[32];
	char path[96];
};

/* A copy of the library, called so, in a directory of its own. */
static void scratch_make(struct scratch *s, const char *library, const char *name)
{
	strcpy(s->dir, "/tmp/stacktop-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/%s", s->dir, name);
	copy_file(library, s->path);
}

static void scratch_end(struct scratch *s)
{
	unlink(s->path);
	rmdir(s->dir);
}

static uint64_t id_at(struct running *r, pid_t pid, uint64_t addr)
{
	struct place p;
	uint64_t id;

	tracker_place(r->tracker, pid, 0, addr, &p);
	assert_int_equal(p.kind, PLACE_FILE);
	id = object_id(p.object);
	object_put(r->tracker, p.object);
	assert_int_not_equal(id, 0);
	return id;
}

/* The executable segment's pages. */
static void text_of(const char *path, struct request *r)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t vaddr;

	assert_true(fd >= 0);
	for (r->offset = 0; !vaddr_of(fd, r->offset, &vaddr); r->offset += 4096)
		;
	for (r->size = 4096; vaddr_of(fd, r->offset + r->size, &vaddr); r->size += 4096)
		;
	close(fd);
}

/* Maps the file's text, by its last page alone or all of it, and waits until it is known. */
static uint64_t map_file(struct running *r, struct child *c, const char *path, bool last)
{
	struct request request = {.order = ORDER_MAP};
	uint64_t at;

	strncpy(request.arg, path, sizeof(request.arg) - 1);
	text_of(path, &request);
	if (last) {
		request.offset += request.size - 4096;
		request.size = 4096;
	}
	child_send(c, &request);
	at = child_answer(c);
	assert_int_not_equal(at, 0);
	if (r)
		WAIT(place_at(r, c->pid, 0, at).kind != PLACE_UNKNOWN);
	return at;
}

static void test_identity(void **state)
{
	struct child c[2];
	struct scratch copy;
	static struct running r;
	struct area libc[2], plugin[2];
	uint64_t at;

	(void)state;
	c[0] = child_start(BY_EXEC, "t-first", 0);
	run(&r, NULL);
	c[1] = child_start(BY_EXEC, "t-second", 0);
	for (int i = 0; i < 2; i++) {
		wait_for_image(&r, c[i].pid, "/test_tracker");
		assert_int_equal(child_ask(&c[i], ORDER_PLUGIN, PLUGIN), 0);
		assert_true(area_find(c[i].pid, "/libc.so", true, &libc[i]));
		assert_true(area_find(c[i].pid, PLUGIN, true, &plugin[i]));
		WAIT(place_at(&r, c[i].pid, 0, plugin[i].start).kind == PLACE_FILE);
	}
	assert_int_equal(id_at(&r, c[0].pid, libc[0].start), id_at(&r, c[1].pid, libc[1].start));
	assert_int_equal(id_at(&r, c[0].pid, plugin[0].start),
			 id_at(&r, c[1].pid, plugin[1].start));
	assert_int_not_equal(id_at(&r, c[0].pid, plugin[0].start),
			     id_at(&r, c[0].pid, libc[0].start));

	/* the same bytes in another file */
	scratch_make(&copy, plugin[0].name, base_name(plugin[0].name));
	at = map_file(&r, &c[1], copy.path, false);
	assert_int_not_equal(id_at(&r, c[1].pid, at), id_at(&r, c[1].pid, plugin[1].start));
	scratch_end(&copy);
	for (int i = 0; i < 2; i++)
		child_end(&c[i]);
	run_end(&r);
}

/* The area as it was mapped by map_file from the segment at addr. */
static void check_mapped(struct running *r, const struct child *c, uint64_t addr, const char *name)
{
	struct area a;
	struct place p;
	struct stat st;
	uint64_t vaddr;
	FILE *f = maps_open(c->pid);

	do
		assert_true(area_read(f, &a));
	while (a.end <= addr);
	fclose(f);
	tracker_place(r->tracker, c->pid, 0, addr, &p);
	assert_int_equal(p.kind, PLACE_FILE);
	assert_int_equal(fstat(object_fd(p.object), &st), 0);
	assert_int_equal(st.st_ino, a.inode);
	assert_true(vaddr_of(object_fd(p.object), addr - a.start + a.offset, &vaddr));
	assert_true(p.vaddr == vaddr);
	assert_memory_equal(object_name(p.object), name, strlen(name));
	object_put(r->tracker, p.object);
}

/* Lets the file's segments want to be somewhere else than their offsets, as other linkers do. */
static void move_segments(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		off_t at = (off_t)(eh.e_phoff + i * sizeof(ph));

		assert_int_equal(pread(fd, &ph, sizeof(ph), at), sizeof(ph));
		ph.p_vaddr += 0x30000;
		assert_int_equal(pwrite(fd, &ph, sizeof(ph), at), sizeof(ph));
	}
	close(fd);
}

static void test_moved(void **state)
{
	static struct running r;
	struct scratch copy;
	struct child c;
	struct place p;
	struct area a;
	uint64_t at;

	(void)state;
	if (geteuid() != 0) /* before there is something to be cleaned up */
		skip();
	c = child_start(BY_EXEC, "t-moved", 0);
	assert_int_equal(child_ask(&c, ORDER_PLUGIN, PLUGIN), 0);
	assert_true(area_find(c.pid, PLUGIN, true, &a));
	scratch_make(&copy, a.name, "moved.so");
	move_segments(copy.path);
	run(&r, NULL);
	at = map_file(&r, &c, copy.path, false);
	check_mapped(&r, &c, at, "moved.so");
	/* it differs from its original by just that */
	p = place_at(&r, c.pid, 0, a.start);
	assert_int_equal(p.kind, PLACE_FILE);
	assert_true(place_at(&r, c.pid, 0, at).vaddr == p.vaddr + 0x30000);
	scratch_end(&copy);
	child_end(&c);
	run_end(&r);
}

/* Names that try to do something to a terminal, and a file that goes while it is mapped. */
static void test_files(void **state)
{
	static const char hostile[] = "x\033[2J\n\xff (deleted) y.so";
	struct scratch before, after, evil[2];
	struct child c;
	static struct running r;
	struct area a;
	uint64_t at[4];
	void *plugin = dlopen(PLUGIN, RTLD_NOW);

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(plugin);
	c = child_start(BY_EXEC, "t-files", 0);
	assert_true(area_find(getpid(), PLUGIN, true, &a));
	scratch_make(&before, a.name, "before.so");
	scratch_make(&after, a.name, "after.so");
	scratch_make(&evil[0], a.name, hostile);
	scratch_make(&evil[1], a.name, hostile);
	at[0] = map_file(NULL, &c, before.path, false);
	at[1] = map_file(NULL, &c, evil[0].path, true);
	scratch_end(&before);
	run(&r, NULL);
	at[2] = map_file(&r, &c, after.path, true);
	scratch_end(&after);
	at[3] = map_file(&r, &c, evil[1].path, false);
	check_mapped(&r, &c, at[0], "before.so");
	check_mapped(&r, &c, at[1], hostile);
	check_mapped(&r, &c, at[2], "after.so");
	check_mapped(&r, &c, at[3], hostile);
	assert_int_not_equal(id_at(&r, c.pid, at[1]), id_at(&r, c.pid, at[3]));
	scratch_end(&evil[0]);
	scratch_end(&evil[1]);
	child_end(&c);
	dlclose(plugin);
	run_end(&r);
}

/* --- names ----------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	static const char *const names[] = {
		"\033[2J\033]0;x\007",
		"\n\r\t\b",
		"\xff\xfe\xfd\xfc\xfb\xfa\xf9",
		"a) R 1 2 (",
		") 0 0",
		"%s%n%x",
		"",
		"fifteen-letters",
		"((((((((((((((",
	};
	const size_t n = sizeof(names) / sizeof(names[0]);
	struct child before[sizeof(names) / sizeof(names[0])], after;
	struct tracker_proc p;
	static struct running r;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		before[i] = child_start(BY_FORK, names[i], 0);
		assert_int_equal(child_ask(&before[i], ORDER_THREAD, names[n - 1 - i]), 0);
	}
	run(&r, NULL);
	after = child_start(BY_FORK, "t-names", 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(tracker_proc(r.tracker, before[i].pid, 0, &p));
		assert_int_equal(p.ppid, getpid());
		assert_true(p.comm[15] == '\0');
		assert_string_equal(p.comm, names[i]);
		/* a thread's name is not its process's */
		assert_int_equal(child_ask(&after, ORDER_THREAD, names[n - 1 - i]), 0);
		assert_int_equal(child_ask(&after, ORDER_COMM, names[i]), 0);
		WAIT(is_called(&r, after.pid, names[i]));
	}
	for (size_t i = 0; i < n; i++) {
		assert_true(is_called(&r, before[i].pid, names[i]));
		child_end(&before[i]);
	}
	child_end(&after);
	run_end(&r);
}

static void test_descriptors(void **state)
{
	size_t fds = count_fds();
	static struct running r;
	struct child c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		run(&r, NULL);
		c = child_start(BY_EXEC, "t-fds", 0);
		wait_for_image(&r, c.pid, "/test_tracker");
		run_end(&r); /* at once, while tables are built */
		child_end(&c);
		assert_int_equal(count_fds(), fds);
	}
	tracker_free(NULL);
}

/* More processes than the map of them holds: all are known, and that some are not walked is told.
 */
static void test_too_many(void **state)
{
	static const struct tracker_filter all;
	struct tracker_state ts;
	static struct running r;
	struct child c;

	(void)state;
	memset(&r, 0, sizeof(r));
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.gate, NULL);
	c = child_start(BY_FORK, "t-many", 0);
	run_sampler_of(&r, 2);
	assert_int_equal(sampler_procs_max(r.sampler), 2);
	assert_int_equal(tracker_new(r.sampler, &all, SHARDS, on_say, &r, &r.tracker), 0);
	assert_int_equal(tracker_start(r.tracker), 0);
	assert_string_equal(strtok(last_message(&r).text, ":"), "more than 2 processes");
	assert_int_equal(last_message(&r).number, 1);
	tracker_state(r.tracker, &ts);
	assert_true(ts.nprocs > 2 && is_known(&r, c.pid));
	child_end(&c);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_existing),    cmocka_unit_test(test_life),
		cmocka_unit_test(test_places),	    cmocka_unit_test(test_exec),
		cmocka_unit_test(test_identity),    cmocka_unit_test(test_moved),
		cmocka_unit_test(test_files),	    cmocka_unit_test(test_names),
		cmocka_unit_test(test_descriptors), cmocka_unit_test(test_too_many),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
