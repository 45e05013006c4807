// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stacks that the sampling program sends: once each until they are forgotten, walked by what is
 * known of their process, and by frame pointers where nothing is.
 * Covers: bpf/prog/profiler.bpf.c bpf/prog/arch/x86_64.bpf.h bpf/prog/walker.bpf.h
 * Covers: bpf/prog/step_env.bpf.h bpf/prog/sample.bpf.h bpf/prog/vma.bpf.h bpf/sampler/sampler.c
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/fds.h"
#include "tests/support/rights.h"
#include "tests/support/tally.h"

/*
 * A chain of frame pointers whose return addresses have names. At chain_hidden the frame pointer
 * leads nowhere sane, as in code that keeps a number there.
 */
void chain_start(void), chain_hidden(void);
extern const char chain_leaf[], chain_second[], chain_first[], chain_back[];

__asm__(".text\n"
	"chain_start: xor %ebp, %ebp; call 1f\n"
	"chain_back: ud2\n"
	"1: push %rbp; mov %rsp, %rbp; call 2f\n"
	"chain_first: ud2\n"
	"2: push %rbp; mov %rsp, %rbp; sub $4096, %rsp; call *3f(%rip)\n"
	"chain_second: ud2\n"
	"4: push %rbp; mov %rsp, %rbp\n"
	"chain_leaf: jmp chain_leaf\n"
	"chain_hidden: lea 8(%rsp), %rbp; andq $-16, %rbp; pushq $0; push %rsp; jmp chain_leaf\n"
	".section .data.rel.ro,\"aw\"\n"
	"3: .quad 4b\n"
	".text\n");

static void test_forget(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	const struct seen_stack *seen;
	struct sampler *s;
	uint32_t times;
	pid_t pid;

	(void)state;
	pid = start_child("t-forget", spin, 0, -1);
	s = start_sampler(&options);
	drain_until(s, t, pid, 500);
	seen = stack_of(t, thread_of(t, pid, pid)->last_user);
	/* once, but others may have been put in its place */
	assert_in_range(seen->times, 1, 5);
	for (int i = 0; i < 5; i++) {
		times = seen->times;
		sampler_forget(s, seen->hash + 1);
		sampler_forget(s, seen->hash);
		drain_until(s, t, pid, 20);
		assert_true(seen->times > times);
	}
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

/* Where our own code is, by /proc/self/maps: the offset in its file, whose numbers go to key. */
static uint64_t offset_of(const void *code, struct file_key *key)
{
	const uint64_t addr = (uintptr_t)code;
	unsigned long long start, end, offset, inode;
	unsigned int dev_major, dev_minor;
	uint64_t at = UINT64_MAX;
	char line[512];
	FILE *maps;

	maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		assert_int_equal(sscanf(line, "%llx-%llx %*s %llx %x:%x %llu", &start, &end,
					&offset, &dev_major, &dev_minor, &inode),
				 6);
		if (addr < start || addr >= end)
			continue;
		at = addr - start + offset;
		*key = (struct file_key){vma_dev(dev_major, dev_minor), inode};
	}
	fclose(maps);
	assert_true(at != UINT64_MAX);
	return at;
}

/*
 * The frame of our own code where no list tells of it: the file that is mapped there and the
 * offset; or the address, where the kernel's mappings cannot be seen.
 */
static uint64_t unlisted(struct sampler *s, const void *code)
{
	struct file_key key;
	uint64_t offset;

	if (!sampler_checks_lists(s))
		return (uintptr_t)code;
	offset = offset_of(code, &key);
	return FRAME_IN_FILE | offset |
	       (vma_frame_tag(vma_file_tag(key.dev, key.inode), file_generation("/proc/self/exe")) &
		FRAME_TAG_MASK);
}

/* The last user stack of the process once it was sampled under what was just set. */
static const struct seen_stack *next_stack(struct sampler *s, struct tally *t, pid_t pid)
{
	drain_old(s, t);
	drain_until(s, t, pid, 50);
	return stack_of(t, thread_of(t, pid, pid)->last_user);
}

/* What a process entry does to the walk, and that the leaf is where the child is. */
static void test_process(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct tally *t = tally_new();
	const struct seen_stack *unknown, *other, *empty;
	struct profiler_stats stats;
	struct proc_entry entry = {0};
	struct sampler *s;
	pid_t pid;

	(void)state;
	pid = start_child("t-process", spin, 0, -1);
	s = start_sampler(&options);
	unknown = next_stack(s, t, pid);
	assert_int_equal(unknown->reason, WALK_UNKNOWN_PROCESS);
	assert_int_equal(unknown->tgid, pid);
	assert_int_equal(unknown->kernel, 0);
	assert_true(unknown->leaf & FRAME_EXACT);
	/* a fork: what is here is there */
	assert_in_range((unknown->leaf & ~FRAME_EXACT) - unlisted(s, spin), 0, 64);

	entry.start_stack = stat_field(pid, 28) + 16;
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	other = next_stack(s, t, pid);
	assert_int_equal(other->reason, WALK_OTHER_EXEC);
	assert_true(other->leaf == unknown->leaf);

	entry.start_stack = stat_field(pid, 28);
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	empty = next_stack(s, t, pid);
	assert_int_equal(empty->reason, WALK_NO_MAPPING);

	sampler_drop_process(s, pid);
	assert_true(next_stack(s, t, pid) == unknown);
	/* Without lists, only a walk from a process's entry point can be complete. */
	assert_int_equal(sampler_stats(s, &stats), 0);
	assert_true(stats.complete < stats.walks / 2);
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

/*
 * A process without a list is walked by that of the file that is mapped there, if the file is still
 * the one that it was made of. What the list says of the file's bytes is true of them at whatever
 * address they are.
 */
static void test_file(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct map_entry list = {.start = FILE_SPACE,
				 .end = FILE_SPACE + FRAME_OFFSET_MAX,
				 .frame = FRAME_OF(77, FILE_SPACE),
				 .meta = MAP_META(MAP_NO_CFI, 0)};
	struct sampler *s = start_sampler(&options);
	struct file_entry entry = {.list_count = 1};
	const struct seen_stack *seen;
	uint64_t leaf, offset;
	struct tally *t;
	struct file_key key;
	struct stat st;
	pid_t pid;

	(void)state;
	leaf = unlisted(s, chain_leaf);
	if (!sampler_checks_lists(s)) {
		sampler_free(s);
		skip_since("the kernel's mappings cannot be looked up");
	}
	t = tally_new();
	pid = start_child("t-file", chain_start, 0, -1);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	offset = offset_of(chain_leaf, &key);
	memcpy((void *)sampler_memory(s)->map_entries, &list, sizeof(list));

	entry.change = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	assert_int_equal(sampler_set_file(s, &key, &entry), 0);
	seen = next_stack(s, t, pid);
	/* Without a list of the process its code cannot be told from data, so frame pointers are
	   not sure to be their frames' own. */
	assert_int_equal(seen->reason, WALK_GUESSED);
	assert_int_equal(seen->nframes, 4);
	assert_int_equal(sampler_memory(s)->touched[0], 1);
	assert_true(seen->leaf ==
		    (FRAME_EXACT | FRAME_IN_OBJECT | 77ull << FRAME_VADDR_BITS | offset));

	entry.change++;
	assert_int_equal(sampler_set_file(s, &key, &entry), 0);
	seen = next_stack(s, t, pid);
	assert_int_equal(seen->reason, WALK_UNKNOWN_PROCESS);
	assert_true(seen->leaf == (leaf | FRAME_EXACT));

	entry.change--;
	list.end = FILE_SPACE + offset; /* its list says nothing of that place */
	memcpy((void *)sampler_memory(s)->map_entries, &list, sizeof(list));
	assert_int_equal(sampler_set_file(s, &key, &entry), 0);
	seen = next_stack(s, t, pid);
	assert_int_equal(seen->reason, WALK_UNKNOWN_PROCESS);
	assert_true(seen->leaf == (leaf | FRAME_EXACT));
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

/* Each run has a key of its own: the same frames have another hash. */
static void test_key(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	uint64_t user[2], kernel[2];
	struct seen_stack seen[2];
	struct tally *t;
	struct sampler *s;
	pid_t pid, caller;

	(void)state;
	pid = start_child("t-key", chain_start, 0, -1);
	caller = start_child("t-key-kernel", enter_kernel, 0, -1);
	for (int i = 0; i < 2; i++) {
		t = tally_new();
		s = start_sampler(&options);
		seen[i] = *next_stack(s, t, pid);
		user[i] = seen[i].hash;
		while (!(kernel[i] = thread_of(t, caller, caller)->last_kernel))
			drain_until(s, t, caller, 50);
		sampler_free(s);
		tally_free(t);
	}
	assert_int_equal(seen[0].nframes, 4);
	assert_true(seen[0].frames == seen[1].frames);
	assert_true(user[0] != user[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(user[i] >> 62, 1);
		assert_int_equal(kernel[i] >> 62, 2);
	}
	end_child(pid);
	end_child(caller);
}

/* A kernel stack is one of a generation of the kernel's code. */
static void test_kernel_code(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	const struct seen_stack *seen;
	struct tally *t = tally_new();
	struct sampler *s;
	pid_t pid;

	(void)state;
	pid = start_child("t-code", enter_kernel, 0, -1);
	s = start_sampler(&options);
	for (uint32_t generation = 0; generation < 3; generation++) {
		assert_int_equal(sampler_set_kernel_code(s, generation), 0);
		drain_old(s, t);
		do {
			drain_until(s, t, pid, 50);
			seen = stack_of(t, thread_of(t, pid, pid)->last_kernel);
		} while ((uint32_t)seen->image != generation); /* modules may come meanwhile */
		assert_int_equal(seen->kernel, 1);
	}
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

/* Of a process that was never heard of there are its frames as far as the frame pointer tells. */
static void test_unknown(void **state)
{
	uint64_t chain[4];
	struct sampler_options options = cpu_clock(1999);
	struct proc_entry entry = {0};
	struct tally *t = tally_new();
	const struct seen_stack *seen;
	struct sampler *s;
	pid_t pid, hidden;

	(void)state;
	pid = start_child("t-unknown", chain_start, 0, -1);
	hidden = start_child("t-hidden", chain_hidden, 0, -1);
	s = start_sampler(&options);
	chain[0] = unlisted(s, chain_leaf) | FRAME_EXACT;
	chain[1] = unlisted(s, chain_second);
	chain[2] = unlisted(s, chain_first);
	chain[3] = unlisted(s, chain_back);
	seen = next_stack(s, t, pid);
	assert_int_equal(seen->reason, WALK_UNKNOWN_PROCESS);
	assert_int_equal(seen->nframes, 4);
	assert_memory_equal(seen->first, chain, sizeof(chain));
	seen = next_stack(s, t, hidden);
	assert_int_equal(seen->reason, WALK_UNKNOWN_PROCESS);
	assert_int_equal(seen->nframes, 1);

	/* what is known of the image before exec says nothing about the one behind it */
	entry.start_stack = stat_field(pid, 28) + 16;
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	seen = next_stack(s, t, pid);
	assert_int_equal(seen->reason, WALK_OTHER_EXEC);
	assert_int_equal(seen->nframes, 4);
	assert_memory_equal(seen->first, chain, sizeof(chain));

	sampler_free(s);
	end_child(pid);
	end_child(hidden);
	tally_free(t);
}

/*
 * A child without a sampler_set_process yet is walked with its parent's list while it is young, if
 * both have the same image. The parent's list is empty here, so that the reason tells of its use.
 */
static void test_forked(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct proc_entry entry = {.start_stack = stat_field(getpid(), 28)};
	struct tally *t = tally_new();
	struct sampler *s = start_sampler(&options);
	unsigned int reason = WALK_UNKNOWN_PROCESS;
	pid_t pid = 0;

	(void)state;
	assert_int_equal(sampler_set_process(s, getpid(), &entry), 0);
	/* A machine that stands still for seconds makes an old child. */
	for (int i = 0; i < 5 && reason != WALK_NO_MAPPING; i++) {
		if (pid)
			end_child(pid);
		pid = start_child("t-forked", spin, 0, -1);
		reason = next_stack(s, t, pid)->reason;
	}
	assert_int_equal(reason, WALK_NO_MAPPING);
	kill(pid, SIGSTOP);
	sleep(6); /* beyond which the list may be another */
	kill(pid, SIGCONT);
	assert_int_equal(next_stack(s, t, pid)->reason, WALK_UNKNOWN_PROCESS);
	end_child(pid);

	entry.start_stack += 16;
	assert_int_equal(sampler_set_process(s, getpid(), &entry), 0);
	pid = start_child("t-other", spin, 0, -1);
	assert_int_equal(next_stack(s, t, pid)->reason, WALK_UNKNOWN_PROCESS);
	end_child(pid);
	entry.start_stack = 0; /* not known */
	assert_int_equal(sampler_set_process(s, getpid(), &entry), 0);
	pid = start_child("t-none", spin, 0, -1);
	assert_int_equal(next_stack(s, t, pid)->reason, WALK_UNKNOWN_PROCESS);
	end_child(pid);
	sampler_free(s);
	tally_free(t);
}

#define EXECS "--execs" /* then the number of the exec, one digit */

static volatile sig_atomic_t next_exec;

static void on_usr1(int number)
{
	(void)number;
	next_exec = 1;
}

/* Executes this program at the addresses at which it was before. */
static void exec_at(char digit)
{
	const char number[] = {digit, '\0'};

	personality(ADDR_NO_RANDOMIZE);
	signal(SIGUSR1, SIG_IGN);
	execl("/proc/self/exe", "execs", EXECS, number, NULL);
	_exit(1);
}

static void exec_first(void)
{
	exec_at('1');
}

/* Spins, and execs at each SIGUSR1. */
static void serve_execs(const char *number)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_usr1);
	for (;;)
		if (next_exec)
			exec_at((char)(number[0] + 1));
}

static bool has_digit(pid_t pid, char digit)
{
	char path[64], line[64] = "";
	const char expected[] = "execs\0" EXECS;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	return n == sizeof(expected) + 2 && !memcmp(line, expected, sizeof(expected)) &&
	       line[sizeof(expected)] == digit;
}

/*
 * Without randomization the next exec has its stack where the one before had it. The list that was
 * made for that one is its alone all the same.
 */
static void test_exec(void **state)
{
	struct sampler_options options = cpu_clock(1999);
	struct proc_entry entry = {0}, then;
	struct tally *t = tally_new();
	const struct seen_stack *seen;
	struct sampler *s;
	pid_t pid;

	(void)state;
	pid = start_child("t-exec", exec_first, 0, -1);
	/* end_code is what an exec sets last */
	while (!has_digit(pid, '1') || !stat_field(pid, 27))
		usleep(1000);
	s = start_sampler(&options);
	entry.start_stack = stat_field(pid, 28);
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	seen = next_stack(s, t, pid);
	assert_int_equal(seen->reason, WALK_NO_MAPPING);
	assert_int_equal(sampler_process(s, pid, &then), 0);
	assert_true(then.exec_id != 0 && then.start_stack == entry.start_stack);

	/* a list for the same exec is made in its name */
	entry.exec_id = then.exec_id;
	assert_int_equal(sampler_set_process(s, pid, &entry), 0);
	assert_int_equal(next_stack(s, t, pid)->reason, WALK_NO_MAPPING);

	while (has_digit(pid, '1')) {
		kill(pid, SIGUSR1);
		usleep(1000);
	}
	/* in the middle of an exec there is none */
	while (stat_field(pid, 28) != entry.start_stack)
		usleep(1000);
	seen = next_stack(s, t, pid);
	assert_int_equal(seen->reason, WALK_OTHER_EXEC);
	assert_int_equal(sampler_process(s, pid, &then), 0);
	assert_true(then.exec_id == entry.exec_id);
	sampler_free(s);
	end_child(pid);
	tally_free(t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key),	cmocka_unit_test(test_forget),
		cmocka_unit_test(test_process), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_forked),	cmocka_unit_test(test_kernel_code),
		cmocka_unit_test(test_exec),	cmocka_unit_test(test_file),
	};

	if (argc == 3 && !strcmp(argv[1], EXECS))
		serve_execs(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
