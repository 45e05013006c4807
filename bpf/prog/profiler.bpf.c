// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler. On each tick of a perf event it takes the kernel stack and walks the user stack by
 * the unwind tables in the shards, hashes both, and counts the pair in the stack-count map. A new
 * stack is sent to user space once, through the ring buffer.
 */
#include "bpf/prog/sample.bpf.h"

#include "bpf/prog/perl.bpf.h"
#include "bpf/prog/php.bpf.h"
#include "bpf/prog/python.bpf.h"
#include "bpf/prog/ruby.bpf.h"
#include "bpf/prog/v8.bpf.h"

/*
 * While the time of threads is taken, the time that the thread was on a CPU since its last sample;
 * else what the event has counted, or the period of a clock.
 */
static __always_inline __u64 sample_weight(const struct bpf_perf_event_data *ctx, __u64 counted)
{
	struct thread_entry *t = thread_entry(bpf_get_current_task());
	__u64 on;

	if (!t || t->state != THREAD_ON)
		return counted ? counted : ctx->sample_period;
	on = t->spent[THREAD_ON] + bpf_ktime_get_ns() - t->since - t->sampled;
	t->sampled += on;
	return on;
}

/*
 * What happened since the last sample of this CPU. The period that a sample comes with is not that:
 * where the kernel changes it, it may let the next sample come at once, with the new period.
 */
static __always_inline __u64 event_weight(struct bpf_perf_event_data *ctx, struct cpu_state *st,
					  __u32 event)
{
	struct bpf_perf_event_value now;
	__u64 before = st->event == event ? st->counted : 0;

	if (bpf_perf_prog_read_value(ctx, &now, sizeof(now)))
		return 0;
	st->event = event;
	st->counted = now.counter;
	return now.counter > before ? now.counter - before : 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = current_ids(), start_stack, weight = 0;
	__u32 zero = 0, tgid = id >> 32;
	struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();

	if (!(bpf_get_current_pid_tgid() >> 32) || !ctl || !s || !st)
		return 0; /* idle */
	s->samples++;
	if (ctl->event) /* for left out ones, too */
		weight = event_weight(ctx, st, ctl->event);
	if (!tgid) {
		s->filtered++;
		s->outside++;
		return 0;
	}
	if (ctl->filtering && !is_chosen(tgid)) {
		s->filtered++;
		return 0;
	}
	if (st->busy) { /* this is an NMI */
		s->counts_busy++;
		return 0;
	}
	st->waits = 0;
	st->weight = sample_weight(ctx, weight);
	st->exec_id = current_exec_id();
	st->key = (struct count_key){.tgid = tgid, .tid = (__u32)id, .exec_id = st->exec_id};
	if (ctl->by_cpu)
		st->key.cpu = bpf_get_smp_processor_id() + 1;
	st->user_mode = regs_user_mode(&ctx->regs);
	if (st->user_mode) {
		regs_of_sample(&st->regs, &ctx->regs);
		s->user++;
	} else if (!config.no_kernel) {
		take_kernel_stack(ctx, st, s, ctl);
	}
	start_stack = current_start_stack();
	if (start_stack && !config.no_user) {
		((struct stack_record *)st->walk.head)->tgid = tgid;
		if (walk_user(st, start_stack)) {
			if (config.runtimes &&
			    st->runtime) /* finishes the sample, unless it is not there */
				bpf_tail_call(ctx, &runtime_programs, st->runtime);
			sample_hash_user(st->reason);
			sample_finish(st, 0);
			return 0;
		}
	}
	sample_count(s, &st->key, start_stack, st->weight);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
