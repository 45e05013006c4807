/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_MAPS_BPF_H
#define STACKTOP_BPF_PROG_MAPS_BPF_H

/* The maps of the sampler. User space sets their sizes before the load (bpf/sampler/sizes.h). */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/arch.bpf.h"
#include "bpf/prog/layout.h"
#include "bpf/prog/step_env.bpf.h"
#include "bpf/prog/returns.bpf.h"
#include "bpf/prog/vma.bpf.h"

const volatile struct profiler_config config = {};

struct cpu_state {
	entry_regs_t regs;
	__u64 exec_id; /* of the process that is sampled; never 0 */
	struct count_key key;
	__u32 runtimes; /* of the process, that are still to be walked (struct proc_entry) */
	__u32 kept;	/* frames of those that were walked (struct kept_frames) */
	__s32 reason;	/* for which the walk ended, while a runtime's program runs */
	/*
	 * The sample hit user code. Read again where it counts, so that the verifier does not
	 * follow the rest of the program once for each.
	 */
	__u64 user_mode;
	struct vma_search vma;
	struct returns returns;
	__u32 exact;   /* the walk begins at an instruction, not at a return address */
	__u32 stamp;   /* see struct entry_check */
	__u32 no_list; /* why the process has no list; WALK_CONTINUE: it has one */
	/* Kept while an address is looked up by its file: */
	struct file_key file;
	__u32 list_at, list_count, distrusted;
	__u32 tag;     /* of the entry that is being checked */
	__u32 version; /* of the list of the process; 0: not known */
	__u32 trail;   /* number of the trail; TRAIL_NONE: the walk has none */
	struct stackhash kernel_hash;
	__u64 event;   /* see struct profiler_control: the last one that was read ... */
	__u64 counted; /* ... and its count then */
	__u64 weight;  /* see struct count_value */
	__u64 waits;   /* the thread, by its key, whose wait it is; 1: it wakes one; 0: a sample */
	__u64 began;   /* when its stacks were begun */
	__u64 busy;    /* a program uses this that another one can interrupt */
	__u64 samples; /* of this CPU after the last tick that on_timer_end has seen */
	/* A record as it goes through the ring: the header stands right before its frames. */
	__u64 kernel_head[4];
	__u64 kernel_frames[KERNEL_FRAMES_MAX + 1];
	/* Behind what each sample uses: its own beginning is that, too, and so they share pages. */
	struct walk walk;
};

_Static_assert(sizeof(struct stack_record) == 32, "the room before the frames");

_Static_assert(offsetof(struct walk, frames) - offsetof(struct walk, head) ==
		       sizeof(struct stack_record),
	       "the user stack's record is walk.head and walk.frames");

_Static_assert(sizeof(struct cpu_state) <= 32768, "a per-CPU map value is at most 32 KiB");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} walk_state SEC(".maps");

/* TRAILS for each CPU, which no other one uses. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRAILS);
	__type(key, __u32);
	__type(value, struct trail);
} trails SEC(".maps");

/* 1 << ROWS_SHIFT for each CPU, which no other one uses. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << ROWS_SHIFT);
	__type(key, __u32);
	__type(value, struct found_row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profiler_stats);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profiler_control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before load, as all that bpf/sampler/sizes.h names */
	__type(key, __u32);
	__type(value, struct target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proc_entry);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct file_key);
	__type(value, struct file_entry);
} files SEC(".maps");

struct map_list {
	struct map_entry entries[MAP_ENTRIES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct map_list);
} map_lists SEC(".maps");

struct check_list {
	struct entry_check entries[MAP_ENTRIES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct check_list);
} checks SEC(".maps");

struct touch_list {
	__u8 entries[MAP_ENTRIES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct touch_list);
} touched SEC(".maps");

struct bare_list {
	struct bare_place places[BARE_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bare_list);
} bare_places SEC(".maps");

struct wide_list {
	struct wide_rule rules[WIDE_RULES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wide_list);
} wide_rules SEC(".maps");

struct shard_words {
	__u32 words[SHARD_WORDS];
};

struct shard_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct shard_words));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 16); /* set before load, from the budget */
	__type(key, __u32);
	__array(values, struct shard_map);
} shards SEC(".maps");

struct counts_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct count_key));
	__uint(value_size, sizeof(struct count_value));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct counts_map);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct seen_set);
} seen_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} stacks SEC(".maps");

struct threads_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, sizeof(struct thread_entry));
};

/* Empty while the time of threads is not taken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct threads_map);
} threads SEC(".maps");

/* What one CPU may spend on stacks of waits. */
struct wait_budget {
	__u64 wanted; /* the thread, by its key, whose stacks are taken as it leaves the CPU */
	__u64 at;     /* of the last turn */
	__u64 spent;  /* ns, since then */
	__s64 ns;     /* left; below 0: more was spent than there is */
	__u64 limit;  /* see struct thread_entry */
	__u64 runs;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_budget);
} wait_budgets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_stats);
} wait_counts SEC(".maps");

/* The entry of the thread with that key; NULL: it is not looked at. */
static __always_inline struct thread_entry *thread_entry(__u64 key)
{
	__u32 zero = 0;
	void *inner = bpf_map_lookup_elem(&threads, &zero);

	return inner ? bpf_map_lookup_elem(inner, &key) : NULL;
}

static __always_inline struct wait_stats *wait_stats(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&wait_counts, &zero);
}

static __always_inline struct wait_budget *wait_budget(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&wait_budgets, &zero);
}

#endif
