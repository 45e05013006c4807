// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * Proves the step at every instruction: runs programs one instruction at a time and compares, at
 * each, the caller that the step finds with the one that libdw finds by the same CFI, and both
 * with a witness that needs no CFI, the stack of callers kept from the calls and returns
 * themselves. At every Nth instruction it compares the whole chain.
 *
 *	verify_step [-v] [-n MAX] [-c N] [-b BURST -f USEC|-k CALLS] [-x ours|libdw|witness]
 *		    -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]...
 *
 * -n ends each program after MAX instructions, -c sets N (64), -b and -f let the program run freely
 * for USEC microseconds after each BURST of instructions, -b and -k until it has made CALLS system
 * calls, and then interrupt it every 1,000 instructions by SIGALRM, if it has a handler. -v lists
 * every place that differs, -x spoils one of the three on purpose. Exits with 1 when fewer than
 * 99.99 % are equal.
 */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unwind/verify_step_libdw.h"
#include "tests/unwind/verify_step_shadow.h"
#include "unwind/reason.h"

#define SHOW_MAX 12

enum class {
	EQUAL,		/* to libdw, and to the witness where it knows */
	CFI_WRONG,	/* equal to libdw, but the CFI is wrong */
	LIBDW_WRONG,	/* the witness agrees with ours */
	NO_CFI_RIGHT,	/* libdw has no CFI, the witness agrees with ours */
	OURS_WRONG,	/* the witness agrees with libdw */
	ALL_DIFFER,	/* three answers */
	UNWITNESSED,	/* two answers */
	GAVE_UP,	/* libdw goes on, ours ended with a reason */
	NO_CFI_WRONG,	/* libdw has no CFI, ours is made up */
	UNTRUE_GAVE_UP, /* ours ended with a reason, and libdw is wrong */
	NO_CFI_GAVE_UP, /* libdw has no CFI, ours ended with a reason */
	NO_WITNESS,	/* only ours has an answer */
	CLASSES,
};

#define LAST_RIGHT  NO_CFI_RIGHT
#define LAST_JUDGED NO_CFI_WRONG

static const char *const class_names[CLASSES] = {
	[EQUAL] = "equal",
	[CFI_WRONG] = "equal, but the CFI itself is wrong (witness)",
	[LIBDW_WRONG] = "libdw wrong, ours right (witness)",
	[NO_CFI_RIGHT] = "no CFI, ours right (witness)",
	[OURS_WRONG] = "OURS WRONG, libdw right (witness)",
	[ALL_DIFFER] = "OURS WRONG, libdw as well (witness)",
	[UNWITNESSED] = "DIFFERENT, no witness",
	[GAVE_UP] = "OURS ENDED, libdw goes on",
	[NO_CFI_WRONG] = "no CFI, OURS WRONG (witness)",
	[UNTRUE_GAVE_UP] = "ours ended with a reason, libdw is wrong (witness); not judged",
	[NO_CFI_GAVE_UP] = "no CFI, ours ended with a reason; not judged",
	[NO_WITNESS] = "no CFI, no witness; not judged",
};

struct answer { /* about a frame's caller */
	enum verdict verdict;
	uint64_t pc, sp, fp;
	bool fp_known, exact;
	int reason; /* ours */
};

struct key {
	struct place place;
	uint32_t class, chain;
};

struct difference {
	struct key key;
	uint64_t count;
	char text[320];
	UT_hash_handle hh;
};

struct count {
	uint64_t classes[CLASSES];
	uint64_t witnessed;
};

struct tracer {
	pid_t pid;
	struct space space;
	struct judge judge;
	struct witness witness;
	struct user_regs_struct regs, last;
	struct walk walk;
	uint64_t steps, max, chain_every, burst, spoil_turn;
	unsigned int free_usec, free_calls;
	bool verbose;
	const char *spoil;
	struct count first, chains;
	uint64_t frames;
	struct difference *differences;
};

static struct tracer tracer;

static int read_child(void *to, __u64 size, __u64 from)
{
	return space_read(&tracer.space, to, size, from) ? 0 : -1;
}

/* --- three answers --------------------------------------------------------------------- */

/* Moves our walk on by a frame. */
static struct answer ours_next(struct walk *w)
{
	struct answer a = {.fp_known = true};

	a.reason = walk_step(w);
	a.verdict = a.reason == WALK_CONTINUE	 ? STEPPED
		    : walk_is_complete(a.reason) ? OUTERMOST
						 : NOTHING;
	a.pc = w->pc;
	a.sp = w->sp;
	a.fp = w->fp;
	a.exact = w->exact;
	return a;
}

static struct answer libdw_next(struct tracer *t, struct frame *f, bool all)
{
	struct answer a = {.verdict = judge_step(&t->judge, f, all)};

	a.pc = f->regs[DWARF_RIP];
	a.sp = f->regs[DWARF_RSP];
	a.fp = f->regs[DWARF_RBP];
	a.fp_known = f->known >> DWARF_RBP & 1;
	a.exact = f->exact;
	return a;
}

/* Of the frame i callers out from the innermost one. */
static struct answer witness_next(const struct tracer *t, unsigned int i)
{
	const struct shadow *s = &t->witness.now;
	const struct caller *c;

	if (i >= s->n)
		return (struct answer){.verdict = s->rooted && i == s->n ? OUTERMOST : NOTHING};
	c = &s->callers[s->n - 1 - i];
	return (struct answer){STEPPED, c->pc, c->sp, c->fp, true, c->exact, 0};
}

static void answer_spoil(struct tracer *t, const char *who, struct answer *a)
{
	if (t->spoil && !strcmp(t->spoil, who) && t->spoil_turn++ % 500 == 0)
		a->sp += 8;
}

/* The name of what they disagree about, or NULL. */
static const char *answer_differs(const struct answer *a, const struct answer *b)
{
	if (a->verdict != b->verdict)
		return "end";
	if (a->verdict != STEPPED)
		return NULL;
	if (a->pc != b->pc)
		return "pc";
	if (a->sp != b->sp)
		return "sp";
	if (a->fp_known && b->fp_known && a->fp != b->fp)
		return "fp";
	return a->exact != b->exact ? "signal" : NULL;
}

static enum class classify(const struct answer *ours, const struct answer *libdw,
			   const struct answer *truth, const char **what) {
	const char *from_truth = answer_differs(ours, truth), *from_libdw;

	*what = from_truth; if (libdw->verdict == NOTHING || libdw->verdict == UNKNOWN){
		if (ours->verdict == NOTHING) return NO_CFI_GAVE_UP;
		if (truth->verdict == NOTHING) return NO_WITNESS;
		return from_truth ? NO_CFI_WRONG : NO_CFI_RIGHT;}
from_libdw = answer_differs(ours, libdw);
if (!from_libdw)
	return truth->verdict != NOTHING && from_truth ? CFI_WRONG : EQUAL;
*what = from_libdw;
if (ours->verdict == NOTHING)
	return GAVE_UP;
if (truth->verdict == NOTHING)
	return UNWITNESSED;
if (!from_truth)
	return LIBDW_WRONG;
return answer_differs(libdw, truth) ? ALL_DIFFER : OURS_WRONG;
}

/* --- notes ----------------------------------------------------------------------------- */

static void answer_print(const struct answer *a, char *to, size_t size)
{
	static const char *const names[] = {"", "outermost", "nothing", "cannot say"};

	if (a->verdict == STEPPED)
		snprintf(to, size, "%" PRIx64 " sp %" PRIx64 " fp %" PRIx64 "%s", a->pc, a->sp,
			 a->fp, a->exact ? " exact" : "");
	else
		snprintf(to, size, "%s", names[a->verdict]);
}

static const char *reason_text(int reason)
{
	static const char *const texts[] = {
#define X(name, text) text,
		WALK_REASONS(X)
#undef X
	};

	return texts[reason];
}

/* at: the address looked up, in the frame that was stepped from. */
static void note(struct tracer *t, enum class class, bool chain, uint64_t at,
		 const struct answer answers[3], const char *what)
{
	const struct range *range = space_range(&t->space, at);
	struct difference *d;
	char a[3][80];
	struct key key;

	memset(&key, 0, sizeof(key));
	key.place.module = range ? range->module : NULL;
	key.place.vaddr = range ? at - range->bias : at;
	key.class = class;
	key.chain = chain;
	HASH_FIND(hh, t->differences, &key, sizeof(key), d);
	if (d) {
		d->count++;
		return;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		err(2, "memory");
	d->key = key;
	d->count = 1;
	for (int i = 0; i < 3; i++)
		answer_print(&answers[i], a[i], sizeof(a[i]));
	if (answers[0].verdict == NOTHING)
		snprintf(a[0], sizeof(a[0]), "%s", reason_text(answers[0].reason));
	snprintf(d->text, sizeof(d->text), "%s: ours %s | libdw %s | witness %s",
		 what ? what : "end", a[0], a[1], a[2]);
	HASH_ADD(hh, t->differences, key, sizeof(d->key), d);
}

static enum class judge_frame(struct tracer *t, struct count *count, uint64_t at,
			      const struct answer answers[3]) {
	const char *what; enum class class = classify(&answers[0], &answers[1], &answers[2], &what);

	if (class != EQUAL && class != NO_CFI_RIGHT)
		note(t, class, count == &t->chains, at, answers, what);
	return class;
}

/* --- comparing ------------------------------------------------------------------------- */

static void frames_begin(struct tracer *t, struct frame *f)
{
	const struct user_regs_struct *r = &t->regs;
	const uint64_t regs[DWARF_COUNT] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,	r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};

	memcpy(f->regs, regs, sizeof(f->regs));
	f->known = (1u << DWARF_COUNT) - 1;
	f->exact = true;
	memcpy(t->walk.regs, regs, sizeof(regs));
	t->walk.list_at = 0;
	t->walk.list_count = t->space.nentries;
	t->walk.code_count = 0;
	t->walk.window_top = t->walk.start_stack = 0;
	walk_begin(&t->walk, 1);
}

static void compare_first(struct tracer *t)
{
	struct answer a[3];
	struct frame f;
	enum class class;

	frames_begin(t, &f);
	a[0] = ours_next(&t->walk);
	a[1] = libdw_next(t, &f, false);
	a[2] = witness_next(t, 0);
	answer_spoil(t, "libdw", &a[1]);
	answer_spoil(t, "witness", &a[2]);
	class = judge_frame(t, &t->first, t->regs.rip, a);
	t->first.classes[class]++;
	t->first.witnessed += a[2].verdict != NOTHING && !answer_differs(&a[0], &a[2]);
}

/* Compares up to the first frame that is not right. */
static void compare_chain(struct tracer *t)
{
	enum class class = EQUAL, worst = EQUAL;
	struct answer a[3] = {{STEPPED, 0, 0, 0, false, false, 0}};
	struct frame f;

	frames_begin(t, &f);
	for (unsigned int i = 0; class <= LAST_RIGHT && a[0].verdict == STEPPED; i++) {
		uint64_t at = t->walk.pc - !t->walk.exact;

		a[0] = ours_next(&t->walk);
		a[1] = libdw_next(t, &f, true);
		a[2] = witness_next(t, i);
		class = judge_frame(t, &t->chains, at, a);
		if (class > worst)
			worst = class;
		t->frames++;
		if (class == EQUAL || a[0].verdict != STEPPED)
			continue;
		/* libdw goes on from our frame, with the registers that we know. */
		f.regs[DWARF_RIP] = a[0].pc;
		f.regs[DWARF_RSP] = a[0].sp;
		f.regs[DWARF_RBP] = a[0].fp;
		f.known = 1u << DWARF_RIP | 1u << DWARF_RSP | 1u << DWARF_RBP;
		f.exact = a[0].exact;
	}
	t->chains.classes[worst]++;
}

static void compare(struct tracer *t)
{
	if (t->space.stale || !space_range(&t->space, t->regs.rip))
		space_refresh(&t->space);
	compare_first(t);
	if (t->steps % t->chain_every == 0)
		compare_chain(t);
}

/* --- running --------------------------------------------------------------------------- */

/* Waits for a stop. Returns false when the program is gone. *sig: to be delivered to it, or 0. */
static bool wait_stop(struct tracer *t, int *sig)
{
	int status;

	if (waitpid(t->pid, &status, 0) != t->pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs))
		return false;
	*sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

/* Notes the effects of a system call that matter here. */
static void after_syscall(struct tracer *t)
{
	enum { MMAP = 9, MPROTECT = 10, MUNMAP = 11, MREMAP = 25, EXECVE = 59, EXECVEAT = 322 };
	uint64_t number = t->last.rax;

	if (number == MUNMAP || number == MREMAP ||
	    ((number == MMAP || number == MPROTECT) && t->last.rdx & 4)) {
		t->space.stale = true;
		memset(t->witness.codes, 0, sizeof(t->witness.codes));
	} else if ((number == EXECVE || number == EXECVEAT) && t->regs.rip != t->last.rip + 2) {
		t->space.stale = true;
		witness_reset(&t->witness, true);
	}
}

static bool step(struct tracer *t, int *sig)
{
	int given = *sig;

	t->last = t->regs;
	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, given) || !wait_stop(t, sig))
		return false;
	t->space.generation++;
	t->steps++;
	if (given && t->regs.rsp != t->last.rsp)
		witness_signal(&t->witness, &t->last, &t->regs);
	else if (t->regs.rip != t->last.rip || t->regs.rsp != t->last.rsp)
		witness_follow(&t->witness, &t->last, &t->regs);
	if (witness_code(&t->witness, t->last.rip) == CODE_SYSCALL)
		after_syscall(t);
	return true;
}

/* The program continues at another place. */
static void arrived(struct tracer *t)
{
	t->space.generation++;
	t->space.stale = true;
	witness_reset(&t->witness, false);
}

/* The program stops at the entry and at the exit of each system call. */
static bool run_calls(struct tracer *t, int *sig)
{
	for (unsigned int stops = 0; stops < 2 * t->free_calls;) {
		if (ptrace(PTRACE_SYSCALL, t->pid, NULL, *sig) || !wait_stop(t, sig))
			return false;
		stops += !*sig;
	}
	arrived(t);
	return true;
}

static bool run_freely(struct tracer *t, int *sig)
{
	const struct timespec pause = {0, t->free_usec * 1000l};

	if (t->free_calls)
		return run_calls(t, sig);
	if (ptrace(PTRACE_CONT, t->pid, NULL, *sig))
		return false;
	nanosleep(&pause, NULL);
	kill(t->pid, SIGSTOP);
	while (wait_stop(t, sig)) {
		if (*sig == SIGSTOP) {
			*sig = 0;
			arrived(t);
			return true;
		}
		if (ptrace(PTRACE_CONT, t->pid, NULL, *sig))
			return false;
	}
	return false;
}

static void interrupt(const struct tracer *t)
{
	unsigned long long caught = 0;
	char path[32], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)t->pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status) &&
	       sscanf(line, "SigCgt: %llx", &caught) != 1)
		;
	if (status)
		fclose(status);
	if (caught >> (SIGALRM - 1) & 1)
		kill(t->pid, SIGALRM);
}

static void run_instructions(struct tracer *t)
{
	uint64_t begun = t->steps;
	int sig = 0;

	for (;;) {
		/* A repeated string instruction stops again and again, without a change. */
		if (t->regs.rip != t->last.rip || t->regs.rsp != t->last.rsp ||
		    t->regs.rbp != t->last.rbp)
			compare(t);
		if (t->steps - begun >= t->max || !step(t, &sig))
			return;
		if (t->free_calls && t->steps % 1000 == 0)
			interrupt(t);
		if (t->burst && (t->steps - begun) % t->burst == 0 && !run_freely(t, &sig))
			return;
	}
}

static void run_program(struct tracer *t, char **argv)
{
	uint64_t steps = t->steps;
	int status = 0, sig;

	t->pid = fork();
	if (t->pid < 0)
		err(2, "fork");
	if (!t->pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		err(127, "%s", argv[0]);
	}
	if (!wait_stop(t, &sig))
		errx(2, "%s does not start", argv[0]);
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, PTRACE_O_EXITKILL);
	t->space.pid = t->pid;
	t->space.stale = true;
	t->space.generation++;
	memset(&t->last, 0, sizeof(t->last));
	witness_reset(&t->witness, true);
	run_instructions(t);
	if (!kill(t->pid, SIGKILL))
		waitpid(t->pid, &status, 0);
	printf("%9" PRIu64 " instructions of %s\n", t->steps - steps, argv[0]);
	fflush(stdout);
}

/* Both on one CPU: a stop is then a plain switch, without waking another CPU. */
static void stay_here(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)(cpu < 0 ? 0 : cpu), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* --- report ---------------------------------------------------------------------------- */

static int by_class(const struct difference *a, const struct difference *b)
{
	if (a->key.chain != b->key.chain)
		return a->key.chain < b->key.chain ? -1 : 1;
	if (a->key.class != b->key.class)
		return a->key.class < b->key.class ? -1 : 1;
	return a->count > b->count ? -1 : a->count < b->count;
}

static void report_differences(struct tracer *t)
{
	const struct difference *before = NULL;
	unsigned int shown = 0, left = 0;
	struct difference *d, *next;
	char name[128];

	HASH_SORT(t->differences, by_class);
	HASH_ITER(hh, t->differences, d, next) {
		struct module *m = d->key.place.module;

		if (!before || before->key.class != d->key.class ||
		    before->key.chain != d->key.chain) {
			if (left)
				printf("  and %u more places\n", left);
			printf("\n%s%s:\n", d->key.chain ? "chain: " : "",
			       class_names[d->key.class]);
			shown = left = 0;
		}
		before = d;
		if (!t->verbose && shown == SHOW_MAX) {
			left++;
			continue;
		}
		shown++;
		space_name(m, d->key.place.vaddr, name, sizeof(name));
		printf("  %6" PRIu64 " x %s %" PRIx64 " %s: %s\n", d->count,
		       m ? m->path : "[no file]", d->key.place.vaddr, name, d->text);
	}
	if (left)
		printf("  and %u more places\n", left);
}

static double report_count(const char *title, const struct count *c)
{
	uint64_t right = 0, judged = 0;

	printf("\n%s\n", title);
	for (int i = 0; i < CLASSES; i++) {
		if (c->classes[i])
			printf("%12" PRIu64 "  %s\n", c->classes[i], class_names[i]);
		right += i <= LAST_RIGHT ? c->classes[i] : 0;
		judged += i <= LAST_JUDGED ? c->classes[i] : 0;
	}
	return judged ? 100.0 * (double)right / (double)judged : 0;
}

static int report(struct tracer *t)
{
	const struct witness *w = &t->witness;
	double first, chains;

	report_differences(t);
	first = report_count("the caller, at each instruction", &t->first);
	printf("%12" PRIu64 "  of all confirmed by the witness\n", t->first.witnessed);
	printf("%12.5f %% equal\n", first);
	chains = report_count("the whole chain", &t->chains);
	printf("%12" PRIu64 "  frames\n%12.5f %% equal\n", t->frames, chains);
	printf("\nwitness: %" PRIu64 " calls, %" PRIu64 " returns (%" PRIu64
	       " with another rbp), %" PRIu64 " returns used as jumps, %" PRIu64
	       " jumps to older frames, %" PRIu64 " switches of stacks, %" PRIu64 " signals\n",
	       w->calls, w->returns, w->fp_changed, w->tail_returns, w->unwound, w->switches,
	       w->signals);
	printf("equal: %.5f %% of %" PRIu64 " instructions, %.5f %% of chains\n", first, t->steps,
	       chains);
	return first >= 99.99 && chains >= 99.99 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct tracer *t = &tracer;
	int option;

	t->max = UINT64_MAX;
	t->chain_every = 64;
	while ((option = getopt(argc, argv, "+vn:c:b:f:k:x:")) != -1) {
		if (option == 'v')
			t->verbose = true;
		else if (option == 'n')
			t->max = strtoull(optarg, NULL, 10);
		else if (option == 'c' && atoi(optarg) > 0)
			t->chain_every = strtoull(optarg, NULL, 10);
		else if (option == 'b')
			t->burst = strtoull(optarg, NULL, 10);
		else if (option == 'f' && atoi(optarg) < 1000000)
			t->free_usec = (unsigned int)atoi(optarg);
		else if (option == 'k' && atoi(optarg) > 0)
			t->free_calls = (unsigned int)atoi(optarg);
		else if (option == 'x')
			t->spoil = optarg;
		else
			errx(2, "usage: verify_step [-v] [-n MAX] [-c N] [-b BURST -f USEC] "
				"[-k CALLS] [-x WHO] -- PROGRAM ARGUMENT... [-- PROGRAM ...]...");
	}
	t->space.spoil = t->spoil && !strcmp(t->spoil, "ours");
	host.read = read_child;
	space_init(&t->space);
	stay_here();
	t->judge.space = t->witness.space = &t->space;
	for (int i = optind; i < argc; i++) {
		int end = i;

		while (end < argc && strcmp(argv[end], "--") != 0)
			end++;
		argv[end] = NULL;
		if (end > i)
			run_program(t, argv + i);
		i = end;
	}
	return report(t);
}
