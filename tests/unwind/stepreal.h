/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_STEPREAL_H
#define STACKTOP_TESTS_UNWIND_STEPREAL_H

/*
 * Real stacks for the step, after cmocka.h: tables of all files that are mapped here, put into
 * shards and a list as by the tracker; the memory of this process or of a forked child; and a
 * chain of calls that makes one frame of each kind. Compile with -fomit-frame-pointer: such code
 * needs the tables.
 */

#include <alloca.h>
#include <elf.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbols/elf/elffile.h"
#include "symbols/files/procmaps.h"
#include "tests/unwind/stephost.h"
#include "unwind/shards.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define NOINLINE __attribute__((noinline))
#define KEEP(x)	 __asm__ volatile("" : "+r"(x) : : "memory")

/* --- tables of all mapped files, in shards and a list, as by the tracker --------------- */

struct loader {
	struct shards *shards;
	struct wide_rules *wide;
	uint32_t count;
	uint32_t cfi; /* entries with rows */
};

static pid_t target; /* reads go to this process's memory */

static inline int read_target(void *to, __u64 size, __u64 from)
{
	struct iovec local = {to, size}, remote = {(void *)from, size};

	return process_vm_readv(target, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -1;
}

static inline int shard_create(void *arg, unsigned int i)
{
	(void)arg;
	host.shards[i] = host_alloc(SHARD_BYTES);
	return 0;
}

static inline int shard_write(void *arg, unsigned int i, uint32_t at, const uint32_t *words,
			      uint32_t n)
{
	(void)arg;
	memcpy(host.shards[i] + at, words, n * sizeof(*words));
	return 0;
}

static inline void add_entry(struct loader *l, uint64_t start, uint64_t end, uint64_t base,
			     uint32_t word, uint32_t meta)
{
	if (start >= end)
		return;
	host.entries[l->count++] =
		MAP_KIND(meta) == MAP_CFI
			? map_entry_rows(start, end, base, 0, word, MAP_GRANULES(meta))
			: (struct map_entry){.start = start, .end = end, .meta = meta};
}

/* Run-time address minus ELF address of the mapping that begins at the file's offset. */
static inline uint64_t load_bias(const struct elf_file *file, const struct procmap *map)
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

static inline void add_table(struct loader *l, const struct procmap *map,
			     const struct elf_file *file)
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

static inline int on_map(const struct procmap *map, void *arg)
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

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
	(void)state;
	host_free();
	return 0;
}

/* --- walks ----------------------------------------------------------------------------- */

static inline void begin(struct walk *w, const uint64_t regs[DWARF_COUNT], int exact)
{
	memcpy(w->regs, regs, sizeof(w->regs));
	w->list_at = 0;
	w->list_count = list_count;
	w->code_count = 0;
	w->window_top = w->start_stack = 0;
	walk_begin(w, exact);
}

static inline void begin_context(struct walk *w, const ucontext_t *uc)
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

static inline void begin_user(struct walk *w, const struct user_regs_struct *r, int exact)
{
	const uint64_t regs[DWARF_COUNT] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,	r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};

	begin(w, regs, exact);
}

/*
 * True if a walk had to end because the rule needs a register that only the innermost frame has:
 * the walk restores no others. Known cases: a realigned frame's prologue, interrupted by a signal
 * (r10), and functions that the dynamic linker calls to bind a function (rbx).
 */
static inline bool register_is_lost(struct walk *w, int reason)
{
	const struct wide_rule *r;
	__s64 rule;

	if (reason != WALK_REGISTER || w->known || !walk_find_map(w, w->pc - !w->exact))
		return false;
	rule = walk_find_rule(w, w->pc - !w->exact);
	if (rule < 0 || RULE_KIND((__u32)rule) != ROW_WIDE)
		return false;
	r = &host.wide[RULE_PAYLOAD((__u32)rule)];
	return (r->cfa_reg != DWARF_RSP && r->cfa_reg != DWARF_RBP) || r->ra_kind == WIDE_IN_REG;
}

/* --- a chain of frames, one of each kind ----------------------------------------------- */

static void (*act)(void);	   /* what the deepest frame does */
static volatile size_t vary = 200; /* a value that no compiler may know */

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

/* Pushed arguments change the CFA around the call. */
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

#endif
