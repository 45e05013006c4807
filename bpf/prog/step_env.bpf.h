/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_STEP_ENV_BPF_H
#define STACKTOP_BPF_PROG_STEP_ENV_BPF_H

/*
 * The environment of unwind/step.h in the kernel: how it reads, and which parts are global
 * functions, which the verifier checks once. bpf/prog/walker.bpf.h defines them.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/arch.bpf.h"
#include "bpf/prog/layout.h"

struct walk;

extern const volatile struct profiler_config config;

/* config is volatile: each use of the key is a load. */
#define STEP_KEY(n)		      (config.hash_key[n])
#define STEP_CODE_MASK		      (config.code_mask)
#define STEP_BARRIER(x)		      asm volatile("" : "+r"(x))
#define STEP_UNLISTED(w)	      walk_unlisted((w)->pc, (w)->exact)
#define STEP_TOUCH(entry)	      touch(entry)
#define STEP_BARE(w)		      walk_note_bare(0)
#define STEP_STALE(w)		      walk_note_bare(1)
#define STEP_APART(w)		      walk_is_apart((w)->sp, (w)->fp)
#define STEP_BELIEVE(w, entry)	      trail_believe(entry)
#define STEP_COPY(to, size, from)     bpf_probe_read_kernel(to, size, from)
#define STEP_THREAD_POINTER(w)	      current_thread_pointer()
#define STEP_RECALL(w, addr)	      walk_recall(addr)
#define WALK_KEEP(w, rule)	      walk_keep_rule(rule)
#define WALK_REFILL(w, addr)	      walk_call_refill(addr)
#define WALK_SEARCH_MAP(w, addr)      walk_search_lists(addr)
#define WALK_FRAME_POINTER(w, reason) walk_call_frame_pointer(reason)
#define WALK_WIDE(w, index)	      walk_call_wide(index)
#define WALK_GO(w, index)	      walk_call_go(index)
#define WALK_RULE_AT(w, addr)	      walk_call_rule_at(addr)
#define WALK_SWITCH(w, cfa)	      walk_call_switch(cfa)
#define WALK_AFTER_CALL(w, addr)      walk_call_after_call(addr)
#define WALK_EDGE(w)		      walk_call_edge()
#define WALK_EDGE_SOME(w)	      walk_call_edge_some()
#define WALK_LISTED(w, addr)	      walk_find_entry(addr)
#define WALK_SEARCH_LIST(w, addr)     walk_call_search_list(addr)
#define WALK_COVERED(w, addr)	      walk_call_covered(addr)
#define WALK_SIGCONTEXT(w, at)	      walk_call_sigcontext(at)
#define WALK_JUDGE_CALL(w)	      walk_call_judge_call()
#define WALK_LOAD_REGISTER(w, reg)    walk_call_load_register(reg)
#define WALK_LOAD_WORD(w, addr)	      walk_call_load_word(addr)
#define WALK_DEREF(w, addr, kind)     walk_call_deref(addr, kind)
#define WALK_BARE(w)		      walk_call_bare()
#define WALK_EPILOGUE(w, code)	      walk_call_epilogue(code)
#define WALK_SCAN(w)		      walk_call_scan()
#define WALK_SCAN_SOME(w)	      walk_call_scan_some()
#define WALK_TRY_CALL(w)	      walk_call_try_call()
#define WALK_AT_ZERO(w, cfa, fp)      walk_call_at_zero(cfa, fp)
#define WALK_NULL_CALL(w)	      walk_call_null_call()
#define WALK_CODE_RULE(w, addr)	      walk_call_code_rule(addr)
#define WALK_HAS_LEFT(w)	      walk_call_has_left()

static __always_inline long step_read_user(struct walk *w, void *to, __u64 size, __u64 from)
{
	return bpf_probe_read_user(to, size, (const void *)from);
}

static const __u32 *step_shard(__u32 shard);
static const struct map_entry *step_map_entries(void);
static const struct wide_rule *step_wide_rule(__u32 index);
static void touch(__u32 entry);
int trail_believe(__u32 entry);
int walk_keep_rule(__u32 rule);
static __u32 walk_recall(__u64 addr);
int walk_note_bare(int stale);
int walk_is_apart(__u64 sp, __u64 fp);
int walk_call_refill(__u64 addr);
__u64 walk_unlisted(__u64 pc, int exact);
int walk_search_lists(__u64 addr);
int walk_call_frame_pointer(int reason);
int walk_call_wide(__u32 index);
int walk_call_go(__u32 index);
__u32 walk_call_rule_at(__u64 addr);
int walk_call_switch(__u64 cfa);
int walk_call_after_call(__u64 addr);
int walk_call_edge(void);
int walk_call_edge_some(void);
__u32 walk_call_epilogue(__u64 code);
int walk_find_entry(__u64 addr);
__u32 walk_call_search_list(__u64 addr);
int walk_call_covered(__u64 addr);
int walk_call_load_word(__u64 addr);
int walk_call_deref(__u64 addr, __u32 kind);
int walk_call_sigcontext(__u64 at);
int walk_call_judge_call(void);
int walk_call_load_register(__u32 reg);
int walk_call_bare(void);
int walk_call_scan(void);
int walk_call_scan_some(void);
int walk_call_try_call(void);
int walk_call_at_zero(__u64 cfa, __u64 fp);
int walk_call_null_call(void);
__u32 walk_call_code_rule(__u64 addr);
int walk_call_has_left(void);

#include "unwind/step.h"

#endif
