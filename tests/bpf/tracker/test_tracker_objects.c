// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which files the tracker takes for the same, and where it says that their text lies: of children
 * that map what the test wrote.
 * Covers: bpf/tracker/object.c bpf/tracker/mapping.c bpf/tracker/publish.c bpf/tracker/answers.c
 * Covers: bpf/tracker/maplist.c bpf/tracker/objectfile.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <libelf.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/sampler.h"
#include "symbols/files/fileasker.h"
#include "tests/support/fds.h"
#include "tests/support/orders.h"
#include "tests/support/places.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/tally.h"

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
	char dir[SCRATCH];
	char path[96];
};

/* A copy of the library, called so, in a directory of its own. */
static void scratch_make(struct scratch *s, const char *library, const char *name)
{
	scratch_folder(s->dir, "objects");
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
	struct code_place p;
	uint64_t id;

	tracker_place(r->tracker, &(struct tracker_exec){.pid = pid}, addr, &p);
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

static struct code_place place_in_file(struct running *r, const struct stat *st,
				       uint32_t generation, uint64_t offset)
{
	const uint64_t tag = vma_frame_tag(
		vma_file_tag(vma_dev(major(st->st_dev), minor(st->st_dev)), st->st_ino),
		generation);

	return place_at(r, 1, 0, FRAME_IN_FILE | (tag & FRAME_TAG_MASK) | offset);
}

/* A frame that tells of a file and an offset is of no process: its place is where libelf has it. */
static void test_by_tag(void **state)
{
	struct child c = child_start(BY_EXEC, "t-tag", 0);
	struct request text = {.order = ORDER_MAP};
	static struct running r;
	struct scratch s;
	struct code_place p;
	uint32_t generation;
	uint64_t vaddr;
	struct stat st;
	int fd;

	(void)state;
	scratch_make(&s, "/proc/self/exe", "tag.so");
	run_own(&r);
	wait_for_image(&r, c.pid, "/test_tracker_objects");
	assert_int_equal(stat(s.path, &st), 0);
	generation = file_generation(s.path);
	assert_int_equal(place_in_file(&r, &st, generation, 4096).kind, PLACE_UNKNOWN);
	map_file(&r, &c, s.path, false);
	text_of(s.path, &text);
	fd = open(s.path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (uint64_t at = text.offset; at < text.offset + text.size; at += 4096) {
		WAIT(place_in_file(&r, &st, generation, at).kind == PLACE_FILE);
		p = place_in_file(&r, &st, generation, at);
		assert_true(vaddr_of(fd, at, &vaddr));
		assert_int_equal(p.vaddr, vaddr);
	}
	close(fd);
	p = place_in_file(&r, &st, generation + 1, text.offset);
	assert_int_equal(p.kind, PLACE_UNKNOWN); /* an earlier file of that number */
	st.st_ino++;
	assert_int_equal(place_in_file(&r, &st, generation, text.offset).kind, PLACE_UNKNOWN);
	child_end(&c);
	run_end(&r);
	scratch_end(&s);
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
		wait_for_image(&r, c[i].pid, "/test_tracker_objects");
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
	struct code_place p;
	struct stat st;
	uint64_t vaddr;
	FILE *f = maps_open(c->pid);

	do
		assert_true(area_read(f, &a));
	while (a.end <= addr);
	fclose(f);
	/* While its mappings are read again, the file may be asked for once more. */
	WAIT(place_at(r, c->pid, 0, addr).kind == PLACE_FILE);
	tracker_place(r->tracker, &(struct tracker_exec){.pid = c->pid}, addr, &p);
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
	struct code_place p;
	struct area a;
	uint64_t at;

	(void)state;
	need_sampling();
	c = child_start(BY_EXEC, "t-moved", 0);
	assert_int_equal(child_ask(&c, ORDER_PLUGIN, PLUGIN), 0);
	assert_true(area_find(c.pid, PLUGIN, true, &a));
	scratch_make(&copy, a.name, "moved.so");
	move_segments(copy.path);
	run_own(&r);
	at = map_file(&r, &c, copy.path, false);
	check_mapped(&r, &c, at, "moved.so");
	/* it differs from its original by just that */
	WAIT((p = place_at(&r, c.pid, 0, a.start)).kind == PLACE_FILE);
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
	need_sampling();
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
	run_own(&r);
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

/*
 * Whether the walk finds the process's executable areas as /proc has them: entry by entry, each
 * from where the one before ended, and none beyond its area. At least one has rows if `rows` says
 * so.
 */
static bool is_published(struct running *r, pid_t pid, bool rows)
{
	const struct map_entry *e = sampler_memory(r->sampler)->map_entries;
	struct proc_entry proc;
	uint32_t key = (uint32_t)pid, i = 0;
	bool right = !bpf_map_lookup_elem(fd_of_map("procs"), &key, &proc);
	FILE *f = maps_open(pid);
	struct area a;

	while (right && area_read(f, &a)) {
		uint64_t at = a.start;

		if (!a.exec || !strcmp(a.name, "[vsyscall]"))
			continue;
		for (; i < proc.list_count && at < a.end; i++) {
			const struct map_entry *one = &e[proc.list_at + i];

			right &= one->start == at && one->end > at && one->end <= a.end;
			rows &= MAP_KIND(one->meta) != MAP_CFI;
			at = one->end;
		}
		right &= at == a.end;
	}
	fclose(f);
	return right && i == proc.list_count && !rows;
}

static bool is_idle(struct running *r)
{
	struct tracker_state ts;

	tracker_state(r->tracker, &ts);
	return ts.idle;
}

/* tracker_mapped_as() for the file mapped at addr. False, and zeroed facts, if no file is. */
static bool mapped_as(struct running *r, pid_t pid, uint64_t addr, struct file_facts *facts)
{
	struct code_place p;
	bool written;

	tracker_place(r->tracker, &(struct tracker_exec){.pid = pid}, addr, &p);
	if (p.kind != PLACE_FILE) {
		*facts = (struct file_facts){0};
		return false;
	}
	written = tracker_mapped_as(r->tracker, p.object, facts);
	object_put(r->tracker, p.object);
	return written;
}

/* Writes the file anew in place: what it was, or nothing that is ELF. */
static void write_in_place(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	close(fd);
}

/* The table of a file that is written in place goes by what it is then, once that is said; and one
 * who maps it afterwards has another object, of which it is not known when it was written. */
static void test_written(void **state)
{
	struct child c = child_start(BY_EXEC, "t-written", 0),
		     other = child_start(BY_EXEC, "t-other", 0);
	uint64_t at, at_other, id, mtime;
	struct file_facts facts;
	static struct running r;
	char *bytes, *zeros;
	struct scratch copy;
	struct area plugin;
	struct stat st;
	size_t size;
	int fd;

	(void)state;
	need_sampling();
	assert_int_equal(child_ask(&c, ORDER_PLUGIN, PLUGIN), 0);
	assert_true(area_find(c.pid, PLUGIN, true, &plugin));
	scratch_make(&copy, plugin.name, "written.so");
	assert_int_equal(stat(copy.path, &st), 0);
	size = (size_t)st.st_size;
	bytes = malloc(size);
	zeros = calloc(1, size);
	fd = open(copy.path, O_RDONLY | O_CLOEXEC);
	assert_true(bytes && zeros && fd >= 0);
	assert_int_equal(read(fd, bytes, size), size);
	close(fd);

	run_own(&r);
	at = map_file(&r, &c, copy.path, false);
	id = id_at(&r, c.pid, at);
	WAIT(has_entry(&r, c.pid, at, MAP_CFI));
	assert_false(mapped_as(&r, c.pid, at, &facts));
	assert_int_equal(facts.size, size);
	mtime = st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec;
	assert_int_equal(facts.mtime, mtime);
	write_in_place(copy.path, zeros, size);
	tracker_written(r.tracker, id);
	WAIT(!has_entry(&r, c.pid, at, MAP_CFI) && is_idle(&r));
	/* If the mappings were read anew meanwhile it is another object, or none: it is no ELF. */
	assert_true(mapped_as(&r, c.pid, at, &facts) || facts.mtime != mtime);
	write_in_place(copy.path, bytes, size);
	tracker_written(r.tracker, id);
	WAIT(has_entry(&r, c.pid, at, MAP_CFI));

	at_other = map_file(&r, &other, copy.path, false);
	assert_int_not_equal(id_at(&r, other.pid, at_other), id);
	assert_false(mapped_as(&r, other.pid, at_other, &facts));
	if (id_at(&r, c.pid, at) == id) /* mapped still */
		assert_int_equal(facts.mtime, 0);
	tracker_written(r.tracker, UINT64_MAX); /* none */
	scratch_end(&copy);
	child_end(&c);
	child_end(&other);
	run_end(&r);
	free(bytes);
	free(zeros);
}

/* Files whose text is mapped in part: one page of what one span covers, and one within which
 * another file was mapped afterwards. */
static void test_parts(void **state)
{
	struct request request = {.order = ORDER_MAP};
	struct area libc, plugin;
	struct tracker_state ts;
	static struct running r;
	uint64_t at, inside;
	struct child c;

	(void)state;
	c = child_start(BY_EXEC, "t-parts", 0);
	run_own(&r);
	assert_int_equal(child_ask(&c, ORDER_PLUGIN, PLUGIN), 0);
	assert_true(area_find(c.pid, "/libc.so", true, &libc));
	assert_true(area_find(c.pid, PLUGIN, true, &plugin));
	WAIT(place_at(&r, c.pid, 0, plugin.start).kind == PLACE_FILE);
	strncpy(request.arg, libc.name, sizeof(request.arg) - 1);
	request.offset = libc.offset;
	request.size = 4096;
	child_send(&c, &request);
	at = child_answer(&c);
	WAIT(place_at(&r, c.pid, 0, at).kind == PLACE_FILE);
	request.size = libc.end - libc.start;
	child_send(&c, &request);
	at = child_answer(&c);
	assert_true(request.size > 3 * 4096);
	strncpy(request.arg, plugin.name, sizeof(request.arg) - 1);
	request.offset = plugin.offset;
	request.size = 4096;
	request.at = at + 4096;
	child_send(&c, &request);
	inside = child_answer(&c);
	assert_int_equal(inside, at + 4096);
	WAIT(place_at(&r, c.pid, 0, inside).kind == PLACE_FILE &&
	     id_at(&r, c.pid, inside) == id_at(&r, c.pid, plugin.start));
	assert_int_equal(id_at(&r, c.pid, at), id_at(&r, c.pid, libc.start));
	assert_int_equal(id_at(&r, c.pid, at + 8192), id_at(&r, c.pid, libc.start));
	WAIT((tracker_state(r.tracker, &ts), ts.idle));
	WAIT(is_published(&r, c.pid, true));
	child_end(&c);
	run_end(&r);
}

/* Is the address in the code of this program, as the dynamic linker sees the file? */
static int in_own_code(struct dl_phdr_info *info, size_t size, void *vaddr)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X &&
		    *(uint64_t *)vaddr - p->p_vaddr < p->p_memsz)
			return 1;
	}
	return -1; /* the program comes first */
}

/*
 * Two processes, each with its files where randomization put them, run the same code: a stack of
 * it has one hash, and a frame of it is the file's number and the address there.
 */
static void test_one_stack(void **state)
{
	const struct seen_stack *seen = NULL;
	struct child c[2];
	static struct running r;
	struct tally *t = tally_new();
	struct area text;
	uint64_t vaddr;

	(void)state;
	for (int i = 0; i < 2; i++)
		c[i] = child_start(BY_EXEC, "t-one", 0);
	run_own(&r);
	for (int i = 0; i < 2; i++)
		child_order(&c[i], ORDER_SPIN, "");
	WAIT((drain(r.sampler, t), seen = stack_of(t, thread_of(t, c[0].pid, c[0].pid)->last_user),
	      seen->hash && seen->reason == WALK_BOTTOM &&
		      seen->hash == thread_of(t, c[1].pid, c[1].pid)->last_user));
	assert_in_range(seen->times, 1, 5); /* once, but two CPUs may do so at a time */
	assert_true(seen->leaf & FRAME_EXACT && seen->leaf & FRAME_IN_OBJECT);
	for (int i = 0; i < 2; i++) {
		assert_true(area_find(c[i].pid, program_invocation_short_name, true, &text));
		assert_int_equal(FRAME_OBJECT(seen->leaf), id_at(&r, c[i].pid, text.start));
	}
	vaddr = FRAME_VADDR(seen->leaf);
	assert_int_equal(dl_iterate_phdr(in_own_code, &vaddr), 1);
	for (int i = 0; i < 2; i++)
		child_end(&c[i]);
	run_end(&r);
	tally_free(t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_stack), cmocka_unit_test(test_identity),
		cmocka_unit_test(test_moved),	  cmocka_unit_test(test_files),
		cmocka_unit_test(test_parts),	  cmocka_unit_test(test_by_tag),
		cmocka_unit_test(test_written),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
