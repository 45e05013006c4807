// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O2 -fomit-frame-pointer -fno-sanitize=alignment */
/*
 * Walks of a child's stack, with all results of each step: pc, sp and fp. One reference is libdw.
 * The other is a shadow stack, kept from each call, return and signal while the child runs
 * instruction by instruction, so that prologues, epilogues, PLT stubs, the dynamic linker, the
 * vDSO and a signal's trampoline are tested wherever they can be interrupted.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 * Covers: unwind/step.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unwind/stepreal.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* --- a stopped child, seen by libdw ---------------------------------------------------- */

struct dwfl_view {
	struct walk walk;
	int reason;
	unsigned int frames;
	unsigned int checked; /* frames of which libdw also knew sp and fp */
	unsigned int differ;
};

static int no_debuginfo(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **out)
{
	(void)m, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)out;
	return -1;
}

/* Compares a frame of libdw's with a step of ours. */
static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct dwfl_view *v = arg;
	struct user_regs_struct regs;
	Dwarf_Word sp, fp;
	Dwarf_Addr pc;
	bool activation;

	assert_true(dwfl_frame_pc(frame, &pc, &activation));
	if (!v->frames) {
		/* The stop is in a system call, so the first pc is a return address as well. */
		assert_int_equal(ptrace(PTRACE_GETREGS, target, NULL, &regs), 0);
		begin_user(&v->walk, &regs, 0);
		v->reason = WALK_CONTINUE;
	} else {
		assert_int_equal(v->reason, WALK_CONTINUE);
		v->reason = walk_step(&v->walk);
	}
	if (v->walk.pc != pc)
		v->differ++;
	if (!dwfl_frame_reg(frame, DWARF_RSP, &sp) && !dwfl_frame_reg(frame, DWARF_RBP, &fp)) {
		v->checked++;
		if (v->walk.sp != sp || v->walk.fp != fp)
			v->differ++;
	}
	v->frames++;
	return DWARF_CB_OK;
}

static void act_stop(void)
{
	raise(SIGSTOP);
}

static void test_stopped_child(void **state)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = no_debuginfo,
	};
	static struct dwfl_view v;
	Dwfl *dwfl;
	int status;

	(void)state;
	act = act_stop;
	target = fork();
	assert_true(target >= 0);
	if (!target) {
		descend(0);
		_exit(0);
	}
	assert_int_equal(waitpid(target, &status, WUNTRACED), target);
	assert_true(WIFSTOPPED(status));
	dwfl = dwfl_begin(&callbacks);
	assert_int_equal(dwfl_linux_proc_report(dwfl, target), 0);
	assert_int_equal(dwfl_report_end(dwfl, NULL, NULL), 0);
	assert_int_equal(dwfl_linux_proc_attach(dwfl, target, false), 0);
	dwfl_getthread_frames(dwfl, target, on_frame, &v);
	assert_int_equal(v.reason, WALK_CONTINUE);
	v.reason = host_walk(&v.walk);
	dwfl_end(dwfl);
	kill(target, SIGKILL);
	waitpid(target, &status, 0);
	target = getpid();

	print_message("%u frames, registers of %u\n", v.frames, v.checked);
	assert_int_equal(v.differ, 0);
	assert_true(v.frames > 2 * LINKS + 4);
	assert_true(v.checked >= v.frames - 1);
	assert_int_equal(v.reason, WALK_BOTTOM);
	assert_int_equal(v.walk.nframes, v.frames);
}

/* --- a child, instruction by instruction ----------------------------------------------- */

#define CALLERS_MAX 256
#define STEPS_MAX   3000000

struct caller { /* the registers that a caller gets back */
	uint64_t pc, sp, fp;
	bool exact;
};

/* The true stack: functions called or interrupted, and not left yet. */
struct stepper {
	pid_t pid;
	struct user_regs_struct regs, last;
	struct caller callers[CALLERS_MAX];
	unsigned int ncallers, deepest;
	void *outer[64]; /* frames below, from libgcc, before the fork */
	int nouter, outer_at;
	unsigned int calls, returns, signals, wrong;
	unsigned long steps, lost, gcc_wrong;
};

static uint64_t stack_word(const struct stepper *s)
{
	uint64_t word;

	assert_int_equal(read_target(&word, 8, s->regs.rsp), 0);
	return word;
}

static void push(struct stepper *s, uint64_t pc, uint64_t sp, uint64_t fp, bool exact)
{
	assert_true(s->ncallers < CALLERS_MAX);
	s->callers[s->ncallers++] = (struct caller){pc, sp, fp, exact};
	if (s->ncallers > s->deepest)
		s->deepest = s->ncallers;
}

static void pop(struct stepper *s)
{
	const struct caller *c = &s->callers[--s->ncallers];

	assert_int_equal(s->regs.rip, c->pc);
	assert_int_equal(s->regs.rsp, c->sp);
	assert_int_equal(s->regs.rbp, c->fp);
}

/* Applies the instruction that has just run to the stack of callers. */
static void follow(struct stepper *s)
{
	uint8_t code[16] = {0};
	unsigned int i = 0;

	if (read_target(code, sizeof(code), s->last.rip))
		assert_int_equal(read_target(code, 4096 - (s->last.rip & 4095) % 4096, s->last.rip),
				 0);
	while (i < 6 && (code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x3e || code[i] == 0x66 ||
			 (code[i] & 0xf0) == 0x40))
		i++;
	if (code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2)) {
		assert_int_equal(s->regs.rsp, s->last.rsp - 8);
		push(s, stack_word(s), s->last.rsp, s->last.rbp, false);
		s->calls++;
	} else if (code[i] == 0xc3) {
		pop(s);
		s->returns++;
	} else if (code[i] == 0x0f && code[i + 1] == 0x05 && s->last.rax == 15) {
		pop(s); /* rt_sigreturn */
	}
}

static void handler_entered(struct stepper *s)
{
	push(s, s->last.rip, s->last.rsp, s->last.rbp, true);
	push(s, stack_word(s), s->regs.rsp + 8, s->regs.rbp, false);
	s->signals++;
}

/*
 * The CFI of gcc (12, 13) does not say that rbp has been restored for the last two instructions of
 * a realigned function, lea -8(%r10),%rsp and ret, so every unwinder gets a wrong rbp there.
 */
static bool rbp_rule_is_wrong(const struct stepper *s)
{
	static const uint8_t lea[] = {0x49, 0x8d, 0x62, 0xf8};
	uint8_t code[8] = {0};

	if (read_target(code, sizeof(code), s->regs.rip - 4))
		return false;
	return !memcmp(code, lea, 4) || !memcmp(code + 4, lea, 4);
}

/*
 * 1: every step of a walk equals the shadow stack, down to main's callers; 0: up to where a
 * register is lost; -1: not so.
 */
static int compare_state(const struct stepper *s, struct walk *w)
{
	int reason, at = s->outer_at;

	begin_user(w, &s->regs, 1);
	for (unsigned int i = s->ncallers; i-- > 0;) {
		const struct caller *c = &s->callers[i];

		reason = walk_step(w);
		if (reason != WALK_CONTINUE)
			return register_is_lost(w, reason) ? 0 : -1;
		if (w->pc != c->pc || w->sp != c->sp || w->fp != c->fp || !w->exact != !c->exact)
			return -1;
	}
	reason = host_walk(w);
	for (unsigned int i = s->ncallers + 1; i < w->nframes; i++, at++)
		if (at >= s->nouter || w->frames[i] != (uint64_t)s->outer[at])
			return -1;
	return reason == WALK_BOTTOM && at == s->nouter ? 1 : -1;
}

static void check_state(struct stepper *s)
{
	static struct walk w;
	const struct caller *c = &s->callers[s->ncallers - 1];
	int right = compare_state(s, &w);

	s->lost += !right;
	if (right < 0 && rbp_rule_is_wrong(s)) {
		begin_user(&w, &s->regs, 1);
		assert_int_equal(walk_step(&w), WALK_CONTINUE);
		assert_int_equal(w.pc, c->pc);
		assert_int_equal(w.sp, c->sp);
		s->gcc_wrong++;
		return;
	}
	if (right >= 0 || s->wrong++ > 10)
		return;
	begin_user(&w, &s->regs, 1);
	print_message("at %llx sp %llx: step says %d", s->regs.rip, s->regs.rsp, walk_step(&w));
	print_message(", pc %llx sp %llx fp %llx; truth: pc %" PRIx64 " sp %" PRIx64 " fp %" PRIx64
		      "\n",
		      w.pc, w.sp, w.fp, c->pc, c->sp, c->fp);
}

/* Runs one instruction or delivers a signal. Returns false when the child is gone. */
static bool step_child(struct stepper *s, int sig)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, sig) || waitpid(s->pid, &status, 0) != s->pid ||
	    !WIFSTOPPED(status))
		return false;
	s->last = s->regs;
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs), 0);
	sig = WSTOPSIG(status);
	return sig == SIGTRAP || step_child(s, sig);
}

static volatile unsigned int handled;

static NOINLINE void on_stepped(int sig)
{
	handled += (unsigned int)sig;
}

static void run_steps(struct stepper *s)
{
	push(s, stack_word(s), s->regs.rsp + 8, s->regs.rbp, false);
	while (s->ncallers && s->steps++ < STEPS_MAX) {
		check_state(s);
		if (!step_child(s, 0))
			fail_msg("the child ended");
		if (s->regs.rip == (uint64_t)on_stepped && s->last.rip != (uint64_t)on_stepped)
			handler_entered(s);
		else
			follow(s);
	}
}

/* The first call of each of these functions goes through the dynamic linker. */
static NOINLINE void act_stepped(void)
{
	struct timespec ts;
	char text[64];
	long bits = a64l("stacktop");

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, sizeof(text), "%s %g", l64a(bits), 0.1);
	handled += (unsigned int)strtod(text, NULL);
	raise(SIGUSR2);
#ifndef __SANITIZE_ADDRESS__ /* which removes its return address */
	if (!vfork())
		_exit(0);
#endif
}

static NOINLINE void scenario(void)
{
	descend(0);
	KEEP(below);
}

static NOINLINE void fork_stepped(struct stepper *s, void *altstack)
{
	stack_t alt = {.ss_sp = altstack, .ss_size = 64 << 10};
	struct sigaction sa = {.sa_handler = on_stepped, .sa_flags = SA_ONSTACK};

	s->nouter = backtrace(s->outer, 64);
	while (s->outer_at < s->nouter && s->outer[s->outer_at] != __builtin_return_address(0))
		s->outer_at++;
	s->pid = fork();
	if (s->pid)
		return;
	sigaction(SIGUSR2, &sa, NULL);
	sigaltstack(&alt, NULL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	scenario();
	_exit(0);
}

static void test_every_instruction(void **state)
{
	static struct stepper s;
	static char altstack[64 << 10];
	int status;

	(void)state;
	act = act_stepped;
	fork_stepped(&s, altstack);
	assert_true(s.pid > 0 && s.outer_at > 0 && s.outer_at < s.nouter);
	target = s.pid;
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	do {
		if (!step_child(&s, 0) || s.steps++ > 10000)
			fail_msg("the child does not come to its task");
	} while (s.regs.rip != (uint64_t)scenario);
	s.steps = 0;
	run_steps(&s);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, &status, 0);
	target = getpid();

	print_message("%lu instructions, %u calls, %u returns, %u signals, %u deep\n", s.steps,
		      s.calls, s.returns, s.signals, s.deepest);
	print_message("at %lu of them the walk ends where a register is lost\n", s.lost);
	assert_int_equal(s.wrong, 0);
	assert_true(s.gcc_wrong <= 4); /* two realigned frames */
	assert_int_equal(s.ncallers, 0);
	assert_int_equal(s.signals, 1);
	assert_true(s.steps > 5000 && s.deepest > 2 * LINKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stopped_child),
		cmocka_unit_test(test_every_instruction),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
