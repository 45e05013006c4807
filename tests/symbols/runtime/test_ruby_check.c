/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of each Ruby of this machine (ruby, and those that $STACKTOP_RUBIES names) in the
 * memory of a program that it runs; the same layout with one wrong member, which is always refused;
 * and where vm_exec jumps to, which is learned again and again, and is always the same. For
 * versions that no machine here has: the place of a ractor's running_ec, as others know it.
 * Covers: symbols/runtime/ruby_check.c symbols/runtime/ruby_file.c symbols/runtime/ruby_layout.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/elf/elffile.h"
#include "symbols/runtime/ruby_check.h"
#include "symbols/runtime/ruby_file.h"
#include "tests/support/rights.h"

#define TURNS 400

static const char program[] = "class Thing\n"
			      "  def leaf(n) i = 0; i += 1 while i < n; i; end\n"
			      "  def each_leaf(n) [n].each { |x| leaf(x) }; end\n"
			      "end\n"
			      "def outer(t) t.each_leaf(3000); end\n"
			      "Thread.new { t = Thing.new; outer(t) while true }\n"
			      "t = Thing.new\n"
			      "eval('outer(t) while true')\n";

struct target {
	pid_t pid;
	uint64_t bias;
	struct ruby_file file;
};

static int read_memory(void *arg, uint64_t addr, void *to, size_t size)
{
	const struct target *t = arg;
	struct iovec here = {to, size};
	struct iovec there = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(t->pid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

/* Finds the runtime among the files that the process has mapped. */
static bool find_runtime(struct target *t)
{
	char path[64], line[PATH_MAX + 128], last[PATH_MAX] = "";
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps)) {
		char name[PATH_MAX];
		struct elf_file *file;

		if (sscanf(line, "%" SCNx64 "-%*s %*s 0%*[0] %*s %*s %4095s", &t->bias, name) !=
			    2 ||
		    name[0] != '/' || !strcmp(name, last))
			continue;
		memcpy(last, name, strlen(name) + 1);
		if (elf_file_open(name, &file))
			continue;
		found = ruby_file_read(file, &t->file);
		elf_file_free(file);
	}
	fclose(maps);
	return found;
}

static int ask(struct target *t, struct ruby_layout *layout, uint64_t *label, const char **why)
{
	return ruby_check(layout, t->file.vm + t->bias, read_memory, t, label, why);
}

static void halt(const struct target *t, int how)
{
	int status;

	assert_int_equal(kill(t->pid, how), 0);
	if (how == SIGSTOP)
		assert_int_equal(waitpid(t->pid, &status, WUNTRACED), t->pid);
}

/* Stops the process where everything agrees. False: not one time. */
static bool halt_where_it_agrees(struct target *t, struct ruby_layout *layout, uint64_t *label)
{
	for (int i = 0; i < 20 * TURNS; i++) {
		const char *why;

		halt(t, SIGSTOP);
		*layout = t->file.layout;
		if (!ask(t, layout, label, &why) && layout->ractor_owner)
			return true;
		halt(t, SIGCONT);
		usleep(1000 + (unsigned int)i % 700);
	}
	return false;
}

static void learned_is_one(struct target *t)
{
	uint64_t known = 0;
	int right = 0;

	for (int i = 0; i < TURNS; i++) {
		struct ruby_layout layout = t->file.layout;
		uint64_t label;
		const char *why;
		int err = ask(t, &layout, &label, &why);

		assert_true(!err || err == -EINVAL || err == -EAGAIN || err == -ENOENT);
		if (err)
			continue;
		assert_true(!known || label == known);
		known = label;
		right++;
	}
	print_message("learned %d times of %d\n", right, TURNS);
}

/* Each member but those that say only how much is read. */
static void wrong_is_refused(struct target *t, const struct ruby_layout *right)
{
	static const int32_t changes[] = {8, -8, 16, -16, 4, 64};
	const uint32_t first = offsetof(struct ruby_layout, vm_ractors),
		       last = offsetof(struct ruby_layout, class_attached);

	for (uint32_t at = first; at <= last; at += sizeof(uint32_t)) {
		if (at == offsetof(struct ruby_layout, thread_size) ||
		    at == offsetof(struct ruby_layout, tag_prev)) /* is set by the kind of jump */
			continue;
		for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
			struct ruby_layout layout = *right;
			uint32_t value;
			uint64_t label;
			const char *why = NULL;

			memcpy(&value, (char *)&layout + at, sizeof(value));
			/* 0: the version has none, and the walk does otherwise. */
			if (!value || (int64_t)value + changes[i] < 0)
				continue;
			if (at == offsetof(struct ruby_layout, string_length))
				continue; /* it is there or not */
			value += (uint32_t)changes[i];
			memcpy((char *)&layout + at, &value, sizeof(value));
			if (ask(t, &layout, &label, &why))
				continue;
			if (at == offsetof(struct ruby_layout, ractor_owner) &&
			    !layout.ractor_owner)
				continue;
			fail_msg("offset %u of the layout may be wrong by %d", at, changes[i]);
		}
	}
}

/* As of a version where it is not known how a class is laid out. */
static void classes_may_be_unknown(struct target *t, const struct ruby_layout *right)
{
	struct ruby_layout layout = *right;
	uint64_t label;
	const char *why = NULL;

	layout.class_path = layout.class_table = layout.class_attached = 0;
	assert_int_equal(ask(t, &layout, &label, &why), 0);
}

static bool check_ruby(const char *ruby)
{
	struct target t = {0};
	struct ruby_layout layout;
	bool known = false;
	uint64_t label;

	t.pid = fork();
	assert_true(t.pid >= 0);
	if (!t.pid) {
		execlp(ruby, ruby, "-e", program, NULL);
		_exit(127);
	}
	for (int i = 0; i < 200 && !known; i++) {
		usleep(50000);
		known = !kill(t.pid, 0) && waitpid(t.pid, NULL, WNOHANG) != t.pid &&
			find_runtime(&t);
		if (waitpid(t.pid, NULL, WNOHANG) < 0)
			return false;
	}
	if (!known || t.file.err) {
		print_message("%s: not known\n", ruby);
		kill(t.pid, SIGKILL);
		waitpid(t.pid, NULL, 0);
		return false;
	}
	print_message("%s: %x\n", ruby, t.file.version);
	assert_true(halt_where_it_agrees(&t, &layout, &label));
	wrong_is_refused(&t, &layout);
	classes_may_be_unknown(&t, &layout);
	halt(&t, SIGCONT);
	learned_is_one(&t);
	kill(t.pid, SIGKILL);
	waitpid(t.pid, NULL, 0);
	return true;
}

static void layouts_are_those_of_the_rubies(void **state)
{
	const char *more = getenv("STACKTOP_RUBIES");
	char names[1024];
	int checked = 0;

	(void)state;
	snprintf(names, sizeof(names), "ruby %s", more ? more : "");
	for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
		checked += check_ruby(name);
	if (!checked)
		skip_since("no ruby that is known");
}

static void other_versions_are_not_known(void **state)
{
	struct ruby_layout layout;

	(void)state;
	assert_int_equal(ruby_layout_of(0x020700, &layout), -ENOTSUP);
	assert_int_equal(ruby_layout_of(0x030009, &layout), -ENOTSUP);
	assert_int_equal(ruby_layout_of(0x040100, &layout), -ENOTSUP);
	assert_int_equal(ruby_layout_of(0, &layout), -ENOTSUP);
	assert_int_equal(ruby_layout_of(0x030204, &layout), 0);
	assert_int_equal(layout.version, 0x030204);
	assert_int_equal(layout.class_singleton, 0x1000);
	assert_int_equal(layout.class_path, 0);
	assert_int_equal(ruby_layout_of(0x040000, &layout), 0);
	assert_int_equal(layout.version, 0x040000);
	assert_int_equal(layout.class_singleton, 0x2000);
	assert_int_equal(ruby_layout_of(0x030105, &layout), 0);
	assert_int_equal(layout.version, 0x030105);
	assert_int_equal(layout.class_singleton, 0x1000);
	assert_int_equal(ruby_layout_of(0x03040b, &layout), 0);
	assert_int_equal(layout.version, 0x03040b);
	assert_int_equal(layout.class_singleton, 0x2000);
	assert_int_equal(ruby_layout_of(0x030105, &layout), 0);
	ruby_layout_jump(&layout, RUBY_JUMP_MANGLED);
	assert_int_equal(layout.tag_prev, 216);
}

static int read_nothing(void *arg, uint64_t addr, void *to, size_t size)
{
	(void)arg;
	(void)addr;
	(void)to;
	(void)size;
	return -EFAULT;
}

/*
 * In rb_ractor_t, running_ec, main, thgroup_default, name, loc and status_ lie in front of the node
 * of the list. The running_ec is where another profiler reads it in these versions on x86-64.
 */
static void ractors_are_those_of_the_version(void **state)
{
	static const struct {
		uint32_t version, running;
	} known[] = {
		{0x030101, 0x208}, {0x030200, 0x208}, {0x030209, 0x208}, {0x030301, 0x180},
		{0x030405, 0x180}, {0x040001, 0x138}, {0x040005, 0x138}, {0x040006, 0x140},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct ruby_layout layout;
		uint64_t label;
		const char *why = NULL;

		assert_int_equal(ruby_layout_of(known[i].version, &layout), 0);
		assert_int_equal(layout.ractor_next - 6 * 8, known[i].running);
		assert_int_equal(ruby_check(&layout, 8, read_nothing, NULL, &label, &why), -EINVAL);
		assert_string_equal(why, "the runtime's state cannot be read");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_are_those_of_the_rubies),
		cmocka_unit_test(other_versions_are_not_known),
		cmocka_unit_test(ractors_are_those_of_the_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
