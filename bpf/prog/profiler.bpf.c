// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler. On each tick of a perf event it takes the kernel stack and walks the user stack by
 * the unwind tables in the shards, hashes both, and counts the pair in the stack-count map. A new
 * stack is sent to user space once, through the ring buffer.
 *
 * The kernel runs no program of a perf event, kprobe or tracepoint within another one, nor while it
 * changes a map (its counter bpf_prog_active): on_sample misses the ticks that hit there. A program
 * of a raw tracepoint always runs. on_timer_end runs when the timer of a clock event has ended, and
 * takes the sample if on_sample has not. User space attaches it when there is a reason
 * (bpf/sampler/skipped.h).
 */
#include "bpf/prog/sample.bpf.h"

#include "bpf/prog/perl.bpf.h"
#include "bpf/prog/php.bpf.h"
#include "bpf/prog/python.bpf.h"
#include "bpf/prog/ruby.bpf.h"
#include "bpf/prog/v8.bpf.h"

/*
 * While the time of threads is taken, the time that the thread was on a CPU since its last sample;
 * else what the event has counted, which is the period of a clock.
 */
static __always_inline __u64 sample_weight(__u64 counted)
{
	struct thread_entry *t = thread_entry(bpf_get_current_task());
	__u64 on;

	if (!t || t->state != THREAD_ON)
		return counted;
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

/* Whether the sample that was just counted is to be taken: enum choice. */
static __always_inline int is_wanted(struct profiler_stats *s, const struct cpu_state *st,
				     const struct profiler_control *ctl, __u32 tgid)
{
	int choice = CHOICE_TAKEN;

	if (!tgid) {
		s->filtered++;
		s->outside++;
		return CHOICE_LEFT_OUT;
	}
	if (ctl->filtering)
		choice = sample_choice(tgid, ctl->filtering);
	if (choice == CHOICE_LEFT_OUT) {
		s->filtered++;
		return CHOICE_LEFT_OUT;
	}
	if (st->busy) { /* this is an NMI */
		s->counts_busy++;
		return CHOICE_LEFT_OUT;
	}
	return choice;
}

static __always_inline void begin_sample(struct cpu_state *st, const struct profiler_control *ctl,
					 __u64 id, __u64 weight, int choice)
{
	st->waits = 0;
	st->weight = weight;
	st->exec_id = current_exec_id();
	st->key = (struct count_key){.tgid = id >> 32, .tid = (__u32)id, .exec_id = st->exec_id};
	if (ctl->by_cpu)
		st->key.cpu = bpf_get_smp_processor_id() + 1;
	if (choice == CHOICE_UNDECIDED)
		st->key.cpu |= COUNT_UNDECIDED;
}

/* The kernel stack is taken, and the registers if they are those of user mode. */
static __always_inline void end_sample(void *ctx, struct profiler_stats *s, struct cpu_state *st,
				       __u32 tgid)
{
	__u64 start_stack = current_start_stack();

	if (start_stack && !config.no_user) {
		((struct stack_record *)st->walk.head)->tgid = tgid;
		if (walk_user(st, start_stack, NULL)) {
			if (config.runtimes && st->runtimes) { /* finish the sample */
				st->kept = 0;
				bpf_tail_call(ctx, &runtime_programs, RUNTIME_KIND(st->runtimes));
			}
			sample_hash_user(st->reason);
			sample_finish(st, 0);
			return;
		}
	}
	sample_count(s, &st->key, start_stack, st->weight);
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = current_ids(), weight = 0;
	__u32 zero = 0, tgid = id >> 32;
	struct profiler_control *ctl = bpf_map_lookup_elem(&control, &zero);
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	int choice;

	if (!(bpf_get_current_pid_tgid() >> 32) || !ctl || !s || !st)
		return 0; /* idle */
	s->samples++;
	if (ctl->event) /* for left out ones, too */
		weight = event_weight(ctx, st, ctl->event);
	choice = is_wanted(s, st, ctl, tgid);
	if (choice == CHOICE_LEFT_OUT)
		return 0;
	begin_sample(st, ctl, id, sample_weight(weight ? weight : ctx->sample_period), choice);
	st->user_mode = regs_user_mode(&ctx->regs);
	if (st->user_mode) {
		regs_of_sample(&st->regs, &ctx->regs);
		s->user++;
	} else if (!config.no_kernel) {
		take_kernel_stack(ctx, st, s, ctl, 0);
	}
	end_sample(ctx, s, st, tgid);
	return 0;
}

/* --- ticks that on_sample misses ------------------------------------------------------------- */

/* Fields of the kernel that are used; libbpf finds them through its BTF. */
enum perf_event_state {
	PERF_EVENT_STATE_ACTIVE = 1,
};

struct hrtimer {
	void *function;
} __attribute__((preserve_access_index));

struct hw_perf_event {
	struct hrtimer hrtimer;
	__u64 sample_period;
} __attribute__((preserve_access_index));

struct bpf_prog_aux {
	__u32 id;
} __attribute__((preserve_access_index));

struct bpf_prog {
	struct bpf_prog_aux *aux;
} __attribute__((preserve_access_index));

struct perf_event {
	enum perf_event_state state;
	struct hw_perf_event hw;
	struct bpf_prog *prog;
} __attribute__((preserve_access_index));

#define TIMER_FRAMES 32u /* of an interrupt of the timer, at most */

/*
 * How many frames lead from the kernel stack in the state to the code that the timer hit. The last
 * is in the entry text, as may be one of the two before it, which changes the stack (Linux 5.10).
 */
__attribute__((noinline)) int sample_timer_frames(__u32 n)
{
	struct cpu_state *st = this_state();
	__u32 i, found = 0;

	if (!st)
		return 0;
	for (i = 0; i < TIMER_FRAMES; i++) {
		if (i >= n || (found && i > found + 1))
			break;
		if (st->kernel_frames[i] >= config.entry_text &&
		    st->kernel_frames[i] < config.entry_text_end)
			found = i + 1;
	}
	return found;
}

/*
 * Whether the timer was that of an event of this sampler, and on_sample has missed its tick: then
 * the tick is counted, and this is the period of the event. 0: no. Most timers are in no event, and
 * the bytes read may be anything. These are functions so that the walk has their stack space.
 */
__attribute__((noinline)) __u64 sample_missed_tick(__u64 timer)
{
	const struct perf_event *event =
		(const void *)(timer - bpf_core_field_offset(struct perf_event, hw.hrtimer));
	__u32 zero = 0, program = 0, state = 0;
	struct profiler_stats *s = bpf_map_lookup_elem(&stats, &zero);
	struct cpu_state *st = this_state();
	struct bpf_prog *prog = NULL;
	struct bpf_prog_aux *aux = NULL;
	__u64 period = 0;

	if (bpf_core_read(&state, sizeof(state), &event->state) ||
	    state != PERF_EVENT_STATE_ACTIVE || bpf_core_read(&prog, sizeof(prog), &event->prog) ||
	    bpf_core_read(&aux, sizeof(aux), &prog->aux) ||
	    bpf_core_read(&program, sizeof(program), &aux->id) || program != config.sampler ||
	    bpf_core_read(&period, sizeof(period), &event->hw.sample_period))
		return 0;
	if (!(bpf_get_current_pid_tgid() >> 32) || !s || !st)
		return 0; /* idle */
	if (st->samples != s->samples) {
		st->samples = s->samples;
		return 0;
	}
	st->samples = ++s->samples;
	s->skipped++;
	return period;
}

SEC("raw_tp/hrtimer_expire_exit")
int on_timer_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 id, period = sample_missed_tick(ctx->args[0]);
	struct profiler_control *ctl;
	struct profiler_stats *s;
	struct cpu_state *st;
	__u32 zero = 0;
	long bytes;
	int choice;

	if (!period)
		return 0;
	id = current_ids();
	ctl = bpf_map_lookup_elem(&control, &zero);
	s = bpf_map_lookup_elem(&stats, &zero);
	st = this_state();
	if (!ctl || !s || !st)
		return 0;
	choice = is_wanted(s, st, ctl, id >> 32);
	if (choice == CHOICE_LEFT_OUT)
		return 0;
	begin_sample(st, ctl, id, sample_weight(period), choice);
	st->user_mode = 0;
	if (!config.no_kernel) {
		bytes = bpf_get_stack(ctx, st->kernel_frames, KERNEL_FRAMES_MAX * 8, 0);
		take_kernel_stack(ctx, st, s, ctl, bytes > 0 ? sample_timer_frames(bytes >> 3) : 0);
	}
	end_sample(ctx, s, st, id >> 32);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
