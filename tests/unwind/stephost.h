/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_UNWIND_STEPHOST_H
#define STACKTOP_TESTS_UNWIND_STEPHOST_H

/*
 * The host's side of the seam of unwind/step.h, included once by each test program: the kernel's
 * maps are plain arrays here, with unreadable pages around them, so that access beyond an end is a
 * crash in any build.
 */

#include <stdlib.h>
#include <sys/cdefs.h>
#include <sys/mman.h>

#include "unwind/walk.h"

#define HOST_SHARDS 8u

struct step_host {
	__u32 *shards[HOST_SHARDS]; /* of SHARD_WORDS words; NULL: there is none */
	struct map_entry *entries;  /* MAP_ENTRIES_MAX, or NULL */
	struct wide_rule *wide;	    /* WIDE_RULES_MAX, or NULL */
	int (*read)(void *to, __u64 size, __u64 from);
	/* False: something else than that entry says is mapped at the address; NULL: never so. */
	int (*holds)(__u32 entry, __u64 addr);
	__u64 thread_pointer;
	__u64 key[STACKHASH_KEYS];
};

/* Any values, as long as the factors are odd. */
#define HOST_KEY                                                                                   \
	{                                                                                          \
		0x243f6a8885a308d3, 0x452821e638d01377, 0x9e3779b97f4a7c15, 0x5851f42d4c957f2d     \
	}

static struct step_host host = {.key = HOST_KEY};

#define STEP_THREAD_POINTER(w) (host.thread_pointer)
#define STEP_KEY(n)	       (host.key[n])
#define STEP_BARRIER(x)	       __asm__ volatile("" : "+r"(x))

static inline int step_read_user(struct walk *w, void *to, __u64 size, __u64 from)
{
	(void)w;
	return host.read(to, size, from);
}

static inline const __u32 *step_shard(__u32 shard)
{
	return shard < HOST_SHARDS ? host.shards[shard] : NULL;
}

static inline const struct map_entry *step_map_entries(void)
{
	return host.entries;
}

static inline const struct wide_rule *step_wide_rule(__u32 index)
{
	return host.wide ? &host.wide[index & (WIDE_RULES_MAX - 1)] : NULL;
}

/* One copy of each, as in the BPF program: inlined everywhere they take the compiler a minute. */
static int host_refill(struct walk *w, __u64 addr);
static int host_search_map(struct walk *w, __u64 addr);
static int host_frame_pointer(struct walk *w, int reason);
static int host_wide(struct walk *w, __u32 index);
static __u32 host_rule_at(struct walk *w, __u64 addr);
static int host_switch(struct walk *w, __u64 cfa);
static int host_edge(struct walk *w);
static int host_bare(struct walk *w);
static int host_scan(struct walk *w);

#define WALK_REFILL	       host_refill
#define WALK_SEARCH_MAP	       host_search_map
#define WALK_FRAME_POINTER     host_frame_pointer
#define WALK_WIDE	       host_wide
#define WALK_GO		       walk_go
#define WALK_RULE_AT	       host_rule_at
#define WALK_SWITCH	       host_switch
#define WALK_EDGE	       host_edge
#define WALK_EDGE_SOME	       walk_edge_some
#define WALK_EPILOGUE(w, code) walk_epilogue(code)
#define WALK_LISTED	       walk_search_map
#define WALK_SEARCH_LIST       walk_search_list
#define WALK_COVERED	       walk_covered
#define WALK_JUDGE_CALL	       walk_judge_call
#define WALK_SIGCONTEXT	       walk_sigcontext
#define WALK_LOAD_REGISTER     walk_load_register
#define WALK_LOAD_WORD	       walk_load_word
#define WALK_DEREF	       walk_deref
#define WALK_BARE	       host_bare
#define WALK_SCAN	       host_scan
#define WALK_SCAN_SOME	       walk_scan_some
#define WALK_TRY_CALL	       walk_try_call
#define WALK_AT_ZERO	       walk_at_zero
#define WALK_NULL_CALL	       walk_null_call
#define WALK_CODE_RULE	       walk_code_rule
#define WALK_HAS_LEFT	       walk_has_left

#include "unwind/step.h"

static __attribute__((noinline)) int host_refill(struct walk *w, __u64 addr)
{
	return walk_refill(w, addr);
}

/* As walk_search_lists of bpf/prog/walker.bpf.h. */
static __attribute__((noinline)) int host_search_map(struct walk *w, __u64 addr)
{
	w->by_file = 0;
	if (!walk_search_map(w, addr))
		return 0;
	if (host.holds && !host.holds(w->map_at, addr)) {
		walk_distrust(w);
		return 0;
	}
	return 1;
}

static __attribute__((noinline)) int host_frame_pointer(struct walk *w, int reason)
{
	return walk_frame_pointer(w, reason);
}

static __attribute__((noinline)) int host_wide(struct walk *w, __u32 index)
{
	return walk_wide(w, index);
}

static __attribute__((noinline)) __u32 host_rule_at(struct walk *w, __u64 addr)
{
	return walk_rule_at(w, addr);
}

static __attribute__((noinline)) int host_switch(struct walk *w, __u64 cfa)
{
	return walk_switch(w, cfa);
}

static __attribute__((noinline)) int host_edge(struct walk *w)
{
	return walk_edge(w);
}

static __attribute__((noinline)) int host_bare(struct walk *w)
{
	return walk_bare(w);
}

static __attribute__((noinline)) int host_scan(struct walk *w)
{
	return walk_scan(w);
}

/* Zeroed memory of a multiple of the page's size between two pages that cannot be touched. */
static inline void *host_alloc(size_t size)
{
	char *at = mmap(NULL, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + 4096, size, PROT_READ | PROT_WRITE))
		abort();
	return at + 4096;
}

static inline void host_drop(void *at, size_t size)
{
	if (at)
		munmap((char *)at - 4096, size + 8192);
}

static inline void host_free(void)
{
	for (unsigned int i = 0; i < HOST_SHARDS; i++)
		host_drop(host.shards[i], SHARD_BYTES);
	host_drop(host.entries, MAP_ENTRIES_MAX * sizeof(*host.entries));
	host_drop(host.wide, WIDE_RULES_MAX * sizeof(*host.wide));
	host = (struct step_host){.key = HOST_KEY};
}

/* Walks as the BPF program does. Also checks a bound that BPF cannot: the number of turns. */
static inline int host_walk(struct walk *w)
{
	int reason = WALK_CONTINUE;

	for (unsigned int i = 0; i <= WALK_FRAMES_MAX && reason == WALK_CONTINUE; i++)
		reason = walk_step(w);
	return reason;
}

#endif
