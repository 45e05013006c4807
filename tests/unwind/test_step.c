// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O2 -fomit-frame-pointer -fno-sanitize=alignment */
/*
 * The walk on real stacks, with tables of the real files that are mapped. Four judges, none of
 * which is ours: libgcc's unwinder (backtrace) on the own stack, elfutils' (libdw) on a stopped
 * child, and a shadow stack, kept by looking at each call, return and signal while a child is run
 * instruction by instruction.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <alloca.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <execinfo.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbols/elffile.h"
#include "symbols/procmaps.h"
#include "tests/unwind/stephost.h"
#include "unwind/shards.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define TRACE_MAX  1536
#define NOINLINE   __attribute__((noinline))
#define KEEP(x)	   __asm__ volatile("" : "+r"(x) : : "memory")
#define ADDRESS(f) ((f) & ~FRAME_EXACT)

/* --- tables of all that is mapped, in shards and a list, as the tracker does it ----------------
 */

struct loader {
	struct shards *shards;
	struct wide_rules *wide;
	uint32_t count;
	uint32_t cfi; /* entries with rows */
};

static pid_t target; /* whose memory is read */

static int read_target(void *to, __u64 size, __u64 from)
{
	struct iovec local = {to, size}, remote = {(void *)from, size};

	return process_vm_readv(target, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -1;
}

static int shard_create(void *arg, unsigned int i)
{
	(void)arg;
	host.shards[i] = host_alloc(SHARD_BYTES);
	return 0;
}

static int shard_write(void *arg, unsigned int i, uint32_t at, const uint32_t *words, uint32_t n)
{
	(void)arg;
	memcpy(host.shards[i] + at, words, n * sizeof(*words));
	return 0;
}

static void add_entry(struct loader *l, uint64_t start, uint64_t end, uint64_t base, uint32_t word,
		      uint32_t meta)
{
	if (start < end)
		host.entries[l->count++] = (struct map_entry){start, end, base, word, meta};
}

/* Run-time address minus ELF address of what is mapped from the file's offset on. */
static uint64_t load_bias(const struct elf_file *file, const struct procmap *map)
{
	size_t n;
	const struct elf_load *loads = elf_file_loads(file, &n);

	for (size_t i = 0; i < n; i++)
		if (loads[i].exec && map->offset >= (loads[i].offset & ~4095ull) &&
		    map->offset < loads[i].offset + loads[i].filesz)
			return map->start - (loads[i].vaddr - loads[i].offset + map->offset);
	fail_msg("no segment covers %s", map->name);
	return 0;
}

static void add_table(struct loader *l, const struct procmap *map, const struct elf_file *file)
{
	uint64_t bias = load_bias(file, map), gap = map->start;
	struct unwind_table *t;
	uint32_t word;

	assert_int_equal(unwind_table_build(file, l->wide, &t), 0);
	for (uint32_t i = 0; i < t->nspans; i++) {
		const struct unwind_span *s = &t->spans[i];
		uint64_t start = s->start + bias < gap ? gap : s->start + bias;
		uint64_t end = s->end + bias < map->end ? s->end + bias : map->end;

		if (start >= end)
			continue;
		assert_int_equal(shards_add(l->shards, t->words + s->first, s->nwords, &word), 0);
		add_entry(l, gap, start, 0, 0, MAP_META(MAP_NO_CFI, 0));
		add_entry(l, start, end, s->start + bias, word, MAP_META(MAP_CFI, s->ngranules));
		gap = end;
		l->cfi++;
	}
	add_entry(l, gap, map->end, 0, 0, MAP_META(MAP_NO_CFI, 0));
	unwind_table_free(t);
}

static int on_map(const struct procmap *map, void *arg)
{
	struct loader *l = arg;
	struct elf_file *file = NULL;
	const Elf64_Ehdr *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (!strcmp(map->name, "[vsyscall]"))
		return 0;
	if (!strcmp(map->name, "[vdso]"))
		assert_int_equal(elf_file_open_memory(vdso,
						      vdso->e_shoff + (size_t)vdso->e_shnum *
									      vdso->e_shentsize,
						      &file),
				 0);
	else if (map->name[0] == '/')
		assert_int_equal(elf_file_open(map->name, &file), 0);
	if (file)
		add_table(l, map, file);
	else
		add_entry(l, map->start, map->end, 0, 0, MAP_META(MAP_NO_CFI, 0));
	elf_file_free(file);
	return 0;
}

static uint32_t list_count;

static int setup(void **state)
{
	static const struct shards_ops ops = {.create = shard_create, .write = shard_write};
	struct loader l = {0};
	const struct wide_rule *rules;
	void *frames[4];
	unsigned int n;

	(void)state;
	backtrace(frames, 4); /* loads libgcc now, not in a signal handler */
	host.entries = host_alloc(MAP_ENTRIES_MAX * sizeof(*host.entries));
	host.wide = host_alloc(WIDE_RULES_MAX * sizeof(*host.wide));
	host.read = read_target;
	target = getpid();
	l.shards = shards_new(HOST_SHARDS, &ops, NULL);
	l.wide = wide_rules_new();
	assert_int_equal(procmaps_read(target, true, on_map, &l), 0);
	rules = wide_rules_all(l.wide, &n);
	assert_true(n > 0 && n <= WIDE_RULES_MAX);
	memcpy(host.wide, rules, n * sizeof(*rules));
	assert_true(l.cfi >= 4); /* the program, libc, ld.so, libcmocka at least */
	list_count = l.count;
	wide_rules_free(l.wide);
	shards_free(l.shards);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	host_free();
	return 0;
}

/* --- walks -------------------------------------------------------------------------------------
 */

static void begin(struct walk *w, const uint64_t regs[DWARF_COUNT], int exact)
{
	memcpy(w->regs, regs, sizeof(w->regs));
	w->list_at = 0;
	w->list_count = list_count;
	w->window_top = 0;
	walk_begin(w, exact);
}

static void begin_context(struct walk *w, const ucontext_t *uc)
{
	/* in the order of enum dwarf_reg */
	static const int from[DWARF_COUNT] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	uint64_t regs[DWARF_COUNT];

	for (int i = 0; i < DWARF_COUNT; i++)
		regs[i] = (uint64_t)uc->uc_mcontext.gregs[from[i]];
	begin(w, regs, 1);
}

static void begin_user(struct walk *w, const struct user_regs_struct *r, int exact)
{
	const uint64_t regs[DWARF_COUNT] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,	r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};

	begin(w, regs, exact);
}

/* What a signal handler saw: the stack it interrupted, its own, and libgcc's opinion of both. */
struct shot {
	struct walk walk, here;
	int reason, here_reason;
	int ntrace;
	void *trace[TRACE_MAX];
};

static struct shot shot;
static unsigned int shots, bad_shots, lost_shots;
static struct shot bad_shot;

static int trace_index(const struct shot *s, uint64_t pc)
{
	for (int i = 0; i < s->ntrace; i++)
		if ((uint64_t)s->trace[i] == pc)
			return i;
	return -1;
}

/* Index of the first frame, from the given one on, that is not libgcc's; -1: all are. */
static int first_difference(const struct shot *s, const struct walk *w, int at, unsigned int from)
{
	for (unsigned int i = from; i < w->nframes; i++)
		if (at + (int)i >= s->ntrace ||
		    ADDRESS(w->frames[i]) != (uint64_t)s->trace[at + (int)i])
			return (int)i;
	return -1;
}

/*
 * True where a walk had to end because the rule needs a register that only the innermost frame has:
 * the walk restores no others. Known cases: a realigned frame's prologue, interrupted by a signal
 * (r10), and what the dynamic linker calls to bind a function (rbx).
 */
static bool register_is_lost(struct walk *w, int reason)
{
	const struct wide_rule *r;
	__s64 rule;

	if (reason != WALK_REGISTER || w->has_regs || !walk_find_map(w, w->pc - !w->exact))
		return false;
	rule = walk_find_rule(w, w->pc - !w->exact);
	if (rule < 0 || RULE_KIND((__u32)rule) != ROW_WIDE)
		return false;
	r = &host.wide[RULE_PAYLOAD((__u32)rule)];
	return (r->cfa_reg != DWARF_RSP && r->cfa_reg != DWARF_RBP) || r->ra_kind == WIDE_IN_REG;
}

/* 1: each frame is libgcc's, to the last; 0: to where a register is lost; -1: not so. */
static int compare_walk(const struct shot *s, struct walk *w, int reason, int at, unsigned int from)
{
	if (first_difference(s, w, at, from) >= 0)
		return -1;
	if (register_is_lost(w, reason))
		return 0;
	return reason == WALK_BOTTOM && (int)w->nframes == s->ntrace - at ? 1 : -1;
}

static int compare_shot(struct shot *s)
{
	int at = trace_index(s, ADDRESS(s->walk.frames[0])), first, second;

	if (at < 2)
		return -1;
	first = compare_walk(s, &s->walk, s->reason, at, 0);
	second = compare_walk(s, &s->here, s->here_reason, at - 2, 1);
	return first < second ? first : second;
}

static NOINLINE void take_shot(const ucontext_t *interrupted, const ucontext_t *here)
{
	int right;

	begin_context(&shot.walk, interrupted);
	shot.reason = host_walk(&shot.walk);
	begin_context(&shot.here, here);
	shot.here_reason = host_walk(&shot.here);
	shots++;
	right = compare_shot(&shot);
	if (!right)
		lost_shots++;
	else if (right < 0 && !bad_shots++)
		bad_shot = shot;
}

static NOINLINE void on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t here;
	int error = errno;

	(void)sig;
	(void)info;
	shot.ntrace = backtrace(shot.trace, TRACE_MAX);
	getcontext(&here);
	take_shot(context, &here);
	errno = error;
}

static void print_shot(const struct shot *s)
{
	int at = trace_index(s, ADDRESS(s->walk.frames[0]));

	print_message("ended as %d and %d, frames %u and %u of %d, frame 0 is %d\n", s->reason,
		      s->here_reason, s->walk.nframes, s->here.nframes, s->ntrace, at);
	for (unsigned int i = 0; i < s->walk.nframes || at + (int)i < s->ntrace; i++)
		print_message("  %3u %16" PRIx64 " %16" PRIx64 "\n", i,
			      i < s->walk.nframes ? (uint64_t)s->walk.frames[i] : 0,
			      at >= 0 && at + (int)i < s->ntrace ? (uint64_t)s->trace[at + (int)i]
								 : 0);
}

static void catch_signal(int sig, int flags)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	assert_int_equal(sigaction(sig, &sa, NULL), 0);
	shots = bad_shots = lost_shots = 0;
}

static void check_shots(void)
{
	if (bad_shots)
		print_shot(&bad_shot);
	assert_int_equal(bad_shots, 0);
	assert_true(shots > 0);
}

/* --- a chain of frames, one of each kind -------------------------------------------------------
 */

static void (*act)(void);	   /* what the deepest frame does */
static volatile size_t vary = 200; /* that no compiler may know */

static NOINLINE int descend(int k);

static NOINLINE int link_small(int k)
{
	int r = descend(k + 1);

	KEEP(r);
	return r + 1;
}

static NOINLINE int link_big(int k)
{
	char buf[4000];
	char *p = buf;
	int r;

	KEEP(p);
	r = descend(k + 1);
	KEEP(p);
	return r + 1;
}

/* A frame so large that its CFA takes a wide rule. */
static NOINLINE int link_huge(int k)
{
	char buf[50000];
	char *p = buf;
	int r;

	KEEP(p);
	r = descend(k + 1);
	KEEP(p);
	return r + 1;
}

static NOINLINE int link_alloca(int k)
{
	char *p = alloca(vary);
	int r;

	KEEP(p);
	r = descend(k + 1);
	KEEP(p);
	return r + 1;
}

/* Realigned and of variable size: gcc keeps the CFA in r10, then at a place below rbp. */
static NOINLINE int link_realigned(int k)
{
	char buf[64] __attribute__((aligned(64)));
	char *p = alloca(vary), *q = buf;
	int r;

	KEEP(p);
	KEEP(q);
	r = descend(k + 1);
	KEEP(p);
	KEEP(q);
	return r + 1;
}

static NOINLINE long nine(long a, long b, long c, long d, long e, long f, long g, long h, long k)
{
	long r = descend((int)k + 1);

	KEEP(r);
	return a + b + c + d + e + f + g + h + r;
}

/* Arguments that are pushed change the CFA around the call. */
static NOINLINE int link_pushes(int k)
{
	long r = nine(k, k + 1, k + 2, k + 3, k + 4, k + 5, k + 6, k + 7, k);

	KEEP(r);
	return (int)r;
}

static int below; /* where a callback goes on, once */

static NOINLINE int compare(const void *a, const void *b)
{
	int k = below, r = 0;

	below = -1;
	if (k >= 0)
		r = descend(k);
	KEEP(r);
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static NOINLINE int link_qsort(int k)
{
	int values[] = {3, 1, 2, 5, 4};

	below = k + 1;
	qsort(values, 5, sizeof(values[0]), compare);
	return values[0];
}

static NOINLINE int link_bsearch(int k)
{
	static const int values[] = {1, 2, 3, 4, 5};
	int key = 4, *found;

	below = k + 1;
	found = bsearch(&key, values, 5, sizeof(values[0]), compare);
	return found ? *found : 0;
}

static int (*const links[])(int) = {
	link_small,	link_big,    link_alloca,  link_qsort, link_huge,
	link_realigned, link_pushes, link_bsearch, link_small, link_realigned,
};

#define LINKS ((int)(sizeof(links) / sizeof(links[0])))

static NOINLINE int descend(int k)
{
	int r = 0;

	if (k < LINKS)
		r = links[k](k);
	else
		act();
	KEEP(r);
	return r;
}

static void act_raise(void)
{
	raise(SIGUSR1);
}

/* --- the own process ---------------------------------------------------------------------------
 */

static bool is_exact(const struct walk *w, unsigned int i)
{
	return (w->frames[i] & FRAME_EXACT) != 0;
}

static void test_chain(void **state)
{
	(void)state;
	act = act_raise;
	catch_signal(SIGUSR1, 0);
	descend(0);
	check_shots();
	assert_int_equal(lost_shots, 0);
	/* Each link and descend has a frame; qsort and bsearch bring more. */
	assert_true(shot.walk.nframes > 2 * LINKS + 4);
	/* Only what was interrupted is exact: here the handler, the trampoline is a return. */
	for (unsigned int i = 0; i < shot.walk.nframes; i++)
		assert_int_equal(is_exact(&shot.walk, i), i == 0);
	for (unsigned int i = 0; i < shot.here.nframes; i++)
		assert_int_equal(is_exact(&shot.here, i), i == 0 || i == 2);
}

static void *thread_main(void *arg)
{
	descend(0);
	return arg;
}

static void test_thread(void **state)
{
	pthread_t thread;

	(void)state;
	act = act_raise;
	catch_signal(SIGUSR1, 0);
	assert_int_equal(pthread_create(&thread, NULL, thread_main, NULL), 0);
	pthread_join(thread, NULL);
	check_shots();
}

static ucontext_t outside, inside;
static char inside_stack[512 << 10];

static void coroutine(void)
{
	descend(0);
}

/*
 * A coroutine on a stack in .bss, and its signals on one in the main thread's, far above: the walk
 * goes down in memory where a handler ends and must not mistake that for a broken stack.
 */
static NOINLINE void run_coroutine(char *altstack, size_t size)
{
	stack_t alt = {.ss_sp = altstack, .ss_size = size}, off = {.ss_flags = SS_DISABLE};

	act = act_raise;
	catch_signal(SIGUSR1, SA_ONSTACK);
	assert_int_equal(sigaltstack(&alt, NULL), 0);
	assert_int_equal(getcontext(&inside), 0);
	inside.uc_stack.ss_sp = inside_stack;
	inside.uc_stack.ss_size = sizeof(inside_stack);
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	assert_int_equal(swapcontext(&outside, &inside), 0);
	assert_int_equal(sigaltstack(&off, NULL), 0);
}

static void test_coroutine(void **state)
{
	char altstack[256 << 10];

	(void)state;
	run_coroutine(altstack, sizeof(altstack));
	check_shots();
	assert_true(shot.here.regs[DWARF_RSP] > shot.walk.regs[DWARF_RSP]);
}

static NOINLINE int recurse(int n)
{
	int r = 0;

	if (n)
		r = recurse(n - 1);
	else
		act();
	KEEP(r);
	return r + 1;
}

static void test_too_deep(void **state)
{
	int at;

	(void)state;
	act = act_raise;
	catch_signal(SIGUSR1, 0);
	recurse(WALK_FRAMES_MAX + 100);
	at = trace_index(&shot, ADDRESS(shot.walk.frames[0]));
	assert_int_equal(shot.reason, WALK_DEPTH);
	assert_int_equal(shot.walk.nframes, WALK_FRAMES_MAX);
	assert_int_equal(first_difference(&shot, &shot.walk, at, 0), -1);
	/* One less than the limit is complete. */
	catch_signal(SIGUSR1, 0);
	recurse((int)WALK_FRAMES_MAX - 60);
	check_shots();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* Code of every origin: own, libc, its string functions, the vDSO, PLT stubs. */
static void act_work(void)
{
	struct timespec ts;
	char text[64];
	char *p;

	for (int i = 0; i < 20; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		snprintf(text, sizeof(text), "%ld %g", ts.tv_nsec, (double)ts.tv_nsec / 3);
		p = malloc(vary * 10);
		if (p) {
			memset(p, text[0], vary * 10);
			KEEP(p);
			free(p);
		}
	}
}

static pthread_t sampled;
static bool sampled_ends;

static void *sampler_main(void *arg)
{
	unsigned int random = 1;

	while (!__atomic_load_n(&sampled_ends, __ATOMIC_RELAXED)) {
		random = random * 1103515245u + 12345u;
		usleep(20 + (random >> 16) % 200);
		pthread_kill(sampled, SIGPROF);
	}
	return arg;
}

/* As the profiler does: interrupted anywhere, in prologues and PLT stubs, too. */
static void test_sampled(void **state)
{
	pthread_t thread;
	time_t until = time(NULL) + 10;

	(void)state;
	act = act_work;
	catch_signal(SIGPROF, SA_RESTART);
	sampled = pthread_self();
	sampled_ends = false;
	assert_int_equal(pthread_create(&thread, NULL, sampler_main, NULL), 0);
	while (shots < 5000 && time(NULL) < until)
		descend(0);
	__atomic_store_n(&sampled_ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	signal(SIGPROF, SIG_IGN);
	print_message("%u stacks, %u end at a lost register\n", shots, lost_shots);
	check_shots();
	assert_true(shots >= 200 && lost_shots < shots / 20);
}

/* --- a stopped child, seen by libdw ------------------------------------------------------------
 */

struct dwfl_view {
	struct walk walk;
	int reason;
	unsigned int frames;
	unsigned int checked; /* frames whose sp and fp libdw knew, too */
	unsigned int differ;
};

static int no_debuginfo(Dwfl_Module *m, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **out)
{
	(void)m, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)out;
	return -1;
}

/* Each frame of libdw's against a step of ours. */
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
		v->reason = WALK_GOES_ON;
	} else {
		assert_int_equal(v->reason, WALK_GOES_ON);
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
	assert_int_equal(v.reason, WALK_GOES_ON);
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

/* --- a child, instruction by instruction -------------------------------------------------------
 */

#define CALLERS_MAX 256
#define STEPS_MAX   3000000

struct caller { /* the registers that a frame's caller gets back */
	uint64_t pc, sp, fp;
	bool exact;
};

/* The true stack: what was called, interrupted and not yet left. */
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

/* What the instruction that has just run did to the stack of callers. */
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
 * gcc (12, 13) does not tell that rbp has been restored for the last two instructions of a
 * realigned function, lea -8(%r10),%rsp and ret, so that every unwinder gets a wrong rbp there.
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
 * 1: every step of a walk gives what the shadow stack has, down to main's callers; 0: so far as no
 * register is lost; -1: not so.
 */
static int compare_state(const struct stepper *s, struct walk *w)
{
	int reason, at = s->outer_at;

	begin_user(w, &s->regs, 1);
	for (unsigned int i = s->ncallers; i-- > 0;) {
		const struct caller *c = &s->callers[i];

		reason = walk_step(w);
		if (reason != WALK_GOES_ON)
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
		assert_int_equal(walk_step(&w), WALK_GOES_ON);
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

/* One instruction, or the delivery of a signal. False: the child is gone. */
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

/* The first call of each of these by this program goes through the dynamic linker. */
static NOINLINE void act_stepped(void)
{
	struct timespec ts;
	char text[64];
	long bits = a64l("stacktop");

	clock_gettime(CLOCK_MONOTONIC, &ts);
	snprintf(text, sizeof(text), "%s %g", l64a(bits), 0.1);
	handled += (unsigned int)strtod(text, NULL);
	raise(SIGUSR2);
#ifndef __SANITIZE_ADDRESS__ /* which takes its return address away */
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
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_coroutine),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_stopped_child),
		cmocka_unit_test(test_every_instruction),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
