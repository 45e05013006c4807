// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The accounting of the collector. The sampler has sums that only grow and that are not read all at
 * once; here they become the figures of a slice, and ticks without a counter get a reason. Each
 * tick is counted exactly once, in whatever order the sums are read.
 */
#include "tui/collect/accounting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/sampler/kernelinfo.h"

#define TICKS_ENOUGH   100u	    /* ticks in a slice from which a share is meaningful */
#define MISSED_PERCENT 10u	    /* percent, from which on to warn */
#define LONG_ENOUGH_NS 500000000ull /* the idle time of a CPU comes in steps of 10 ms */

static uint64_t delta(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/*
 * Samples, idle time and clocks are read one after the other, and idle time comes in steps of 10
 * ms. A tick that was counted as missed and turns out idle stays missed, so that sums never fall
 * and reported figures add up.
 */
void accounting_take(struct accounting *b, const struct profiler_stats *stats,
		     const struct sampler_ticks *ticks)
{
	struct accounting_sums *now = &b->now;
	const struct accounting_sums *base = &b->base;
	uint64_t found, left, late, missed;

	now->stats = *stats;
	now->ticks = *ticks;
	found = delta(now->stats.samples, base->stats.samples) +
		delta(now->ticks.throttled, base->ticks.throttled);
	left = delta(delta(now->ticks.due, base->ticks.due), found);
	late = delta(left, delta(now->ticks.idle, base->ticks.idle));
	if (base->missed + late > now->missed)
		now->missed = base->missed + late;
	missed = now->missed - base->missed;
	if (base->idle + delta(left, missed) > now->idle)
		now->idle = base->idle + delta(left, missed);
}

void accounting_read(struct accounting *b, struct sampler *s)
{
	struct profiler_stats stats;
	struct sampler_ticks ticks;

	if (sampler_stats(s, &stats))
		stats = b->before.stats;
	sampler_ticks(s, &ticks);
	if (sampler_run_time(s, &b->now.run_ns, &b->now.runs)) {
		b->now.run_ns = b->before.run_ns;
		b->now.runs = b->before.runs;
	}
	b->now.idle = b->before.idle;
	b->now.missed = b->before.missed;
	accounting_take(b, &stats, &ticks);
}

void accounting_restart(struct accounting *b)
{
	b->base = b->now;
}

/*
 * Samples that hit while the counts are read are in the counters already. Kernel stacks tell
 * exactly which samples hit the kernel; the counters are used only without such stacks.
 */
void accounting_fill(const struct accounting *books, bool no_kernel, struct profile_health *h)
{
	const struct accounting_sums *now = &books->now, *before = &books->before;
	const struct profiler_stats *s = &now->stats, *b = &before->stats;

	h->taken = delta(s->samples, b->samples);
	h->idle = delta(now->idle, before->idle);
	h->filtered += delta(s->filtered, b->filtered);
	h->outside = delta(s->outside, b->outside);
	h->user_walks = delta(s->walks, b->walks);
	h->complete_walks = delta(s->complete, b->complete);
	h->complete_fp_walks = delta(s->complete_fp, b->complete_fp);
	h->frames = delta(s->frames, b->frames);
	h->run_ns = delta(now->run_ns, before->run_ns);
	h->runs = delta(now->runs, before->runs);
	h->loss[LOSS_COUNTS_FULL] = delta(s->counts_full, b->counts_full);
	h->loss[LOSS_BUSY] = delta(s->counts_busy, b->counts_busy);
	h->loss[LOSS_SLICE] = books->dropped;
	h->loss[LOSS_KERNEL] = delta(s->kernel_lost, b->kernel_lost);
	h->loss[LOSS_THROTTLED] = delta(now->ticks.throttled, before->ticks.throttled);
	h->loss[LOSS_MISSED] = delta(now->missed, before->missed);
	/*
	 * The ticks of a slice are those that it accounts for. A sample found before it was due by
	 * the clock makes them more than the clock's, and fewer in the slice that follows. 0: the
	 * event has no clock.
	 */
	h->ticks = now->ticks.due <= books->base.ticks.due
			   ? 0
			   : h->taken + h->idle + h->loss[LOSS_THROTTLED] + h->loss[LOSS_MISSED];
	h->counted = delta(now->ticks.counted, before->ticks.counted);
	h->samples += profile_lost(h);
	h->user_samples = delta(s->user, b->user);
	if (!no_kernel || h->user_samples > h->samples)
		h->user_samples = h->samples - h->kernel_samples;
	h->kernel_samples = h->samples - h->user_samples;
}

static void say_throttled(uint64_t throttles, char *text, size_t size)
{
	char limits[128] = "";
	long rate, percent;

	if (kernelinfo_rate_limits(&rate, &percent))
		snprintf(limits, sizeof(limits),
			 " (now %ld Hz; the kernel lowers it by kernel.perf_cpu_time_max_percent, "
			 "now %ld)",
			 rate, percent);
	snprintf(text, size,
		 "the kernel throttles the sampling, %" PRIu64 " times in this slice: lower -F, or "
		 "raise kernel.perf_event_max_sample_rate%s",
		 throttles, limits);
}

static bool is_much(const struct profile_health *h, uint64_t ticks)
{
	uint64_t busy = delta(h->ticks, h->idle);

	return h->elapsed >= LONG_ENOUGH_NS && busy >= TICKS_ENOUGH &&
	       ticks * 100 > busy * MISSED_PERCENT;
}

bool accounting_misses(const struct profile_health *h)
{
	return is_much(h, h->loss[LOSS_MISSED]);
}

/* False: nothing tells of such programs. untaken: why these ticks are missed; 0: most are not. */
static bool say_skipped(uint64_t percent, int untaken, char *text, size_t size)
{
	char names[128], in[160] = "";

	sampler_others(names, sizeof(names));
	if (*names)
		snprintf(in, sizeof(in), " (%s)", names);
	if (untaken)
		snprintf(text, size,
			 "%" PRIu64 " %% of the busy CPUs' ticks are missed, maybe in BPF programs "
			 "of other tools%s: the kernel refuses the program that samples these: %s",
			 percent, in, strerror(-untaken));
	else
		snprintf(text, size,
			 "%" PRIu64 " %% of the busy CPUs' ticks hit BPF programs of other tools%s",
			 percent, in);
	return !untaken || *names;
}

bool accounting_warning(struct accounting *b, const struct profile_health *h, char *text,
			size_t size)
{
	uint64_t throttles = delta(b->now.ticks.throttles, b->before.ticks.throttles);
	uint64_t busy = delta(h->ticks, h->idle), missed = h->loss[LOSS_MISSED];
	uint64_t skipped = delta(b->now.stats.skipped, b->before.stats.skipped);
	bool say = false;

	if (throttles && !b->told_throttled) {
		b->told_throttled = true;
		say_throttled(throttles, text, size);
		return true;
	}
	/* What was missed beside them hit such programs, too, before these were noticed. */
	if (skipped > missed || b->untaken) {
		if (!b->told_skipped && is_much(h, skipped + missed))
			b->told_skipped = say = say_skipped((skipped + missed) * 100 / busy,
							    b->untaken, text, size);
		if (b->told_skipped || !b->untaken)
			return say;
	}
	if (!b->told_missed && accounting_misses(h)) {
		b->told_missed = true;
		snprintf(text, size,
			 "%" PRIu64 " %% of the busy CPUs' ticks came late, together, or not at "
			 "all: lower -F, or give a virtual machine CPUs of its own",
			 missed * 100 / busy);
		return true;
	}
	return false;
}

void accounting_close(struct accounting *b, bool kept, const struct sampler_count *counts,
		      size_t ncounts)
{
	if (kept) {
		b->before = b->now;
		b->dropped = 0;
		return;
	}
	for (size_t i = 0; i < ncounts; i++)
		if (!(counts[i].key.cpu & COUNT_WAIT))
			b->dropped += counts[i].value.count;
}
