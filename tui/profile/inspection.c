// SPDX-License-Identifier: GPL-2.0-or-later
/* See inspection.h. */
#include "tui/profile/inspection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "symbols/base/refcount.h"

#define STACK_NEAR (64ull << 20) /* no stack is larger */

struct inspection *inspection_new(struct trace *trace)
{
	struct inspection *i = calloc(1, sizeof(*i));

	if (i) {
		i->refs = 1;
		i->trace = trace;
		i->frames = calloc(trace->nsteps + 1, sizeof(*i->frames));
		i->fp_frames = calloc(trace->nfp + 1, sizeof(*i->fp_frames));
	}
	if (i && i->frames && i->fp_frames)
		return i;
	if (i)
		inspection_put(i);
	else
		trace_free(trace);
	return NULL;
}

struct inspection *inspection_get(struct inspection *i)
{
	refcount_get(&i->refs);
	return i;
}

void inspection_put(struct inspection *i)
{
	if (!i || !refcount_put(&i->refs))
		return;
	trace_free(i->trace);
	free(i->frames);
	free(i->fp_frames);
	free(i->runs);
	free(i);
}

static const char *name_of(const struct inspection *i, uint32_t frame)
{
	return i->frames[frame].name[0] ? i->frames[frame].name : "the function";
}

static void tell_end(const struct trace *t, char *to, size_t size)
{
	static const char *const ends[] = {
		/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text of two */
		[TRACE_FP_ZERO] = ARCH_FP_NAME " is 0",
		[TRACE_FP_UNREADABLE] = "it points to no stack",
		[TRACE_FP_DOWN] = "it does not point upward",
		[TRACE_FP_NO_CODE] = "no code address is above the slot that it points to",
		[TRACE_FP_DEPTH] = "it never ends",
	};

	bool beyond =
		t->fp_end == TRACE_FP_UNREADABLE && t->fp_last - t->capture.stack_at < STACK_NEAR;

	snprintf(to, size, ARCH_FP_NAME " = 0x%" PRIx64 ": %s", t->fp_last,
		 beyond ? "beyond what was captured" : ends[t->fp_end]);
}

/* True when the frame's own rule needs the frame pointer, so that it is one there. */
static bool keeps_fp(const struct trace_step *s)
{
	return s->way == TRACE_FRAME_POINTER || (s->has_row && RULE_KIND(s->rule) == ROW_FP) ||
	       (s->wide && s->wide_rule.cfa_reg == ARCH_FP);
}

void inspection_compare(const struct inspection *i, uint32_t *first, char *to, size_t size)
{
	const struct trace *t = i->trace;
	uint32_t n = 0, at;
	char end[128];

	while (n < t->nsteps && n < t->nfp && t->steps[n].pc == t->fp_frames[n])
		n++;
	*first = n;
	/* Of what is captured. */
	if (n == t->nsteps && !t->short_of && !walk_is_complete(t->capture.reason)) {
		if (t->nfp > n)
			snprintf(to, size,
				 "Frame pointers alone show what is above, and then %u more, which "
				 "nothing confirms.",
				 t->nfp - n);
		else
			snprintf(to, size,
				 "Frame pointers alone show what is above and end there, too.");
		return;
	}
	if (n == t->nsteps) {
		snprintf(to, size,
			 "Frame pointers alone would have shown all %u frames: every function here "
			 "keeps one.",
			 t->nsteps);
		return;
	}
	if (!n || n > t->nsteps) {
		snprintf(to, size, "There is no frame to compare.");
		return;
	}
	if (n == t->nfp) {
		tell_end(t, end, sizeof(end));
		if (keeps_fp(&t->steps[n - 1]))
			snprintf(to, size,
				 "Frame pointers alone would end after frame %u of %u: the caller "
				 "of %s has left another number in " ARCH_FP_NAME " (%s).",
				 n - 1, t->nsteps - 1, name_of(i, n - 1), end);
		else
			snprintf(to, size,
				 "%s keeps no frame pointer, so " ARCH_FP_NAME
				 " is a number like any other: "
				 "frame pointers alone would end after frame %u of %u (%s).",
				 name_of(i, n - 1), n - 1, t->nsteps - 1, end);
		return;
	}
	for (at = n; at < t->nsteps; at++)
		if (t->steps[at].pc == t->fp_frames[n])
			break;
	if (at < t->nsteps)
		snprintf(to, size,
			 "%s keeps no frame pointer, so " ARCH_FP_NAME
			 " still is that of frame %u: frame "
			 "pointers alone would go from frame %u to frame %u and never show %s.",
			 name_of(i, n - 1), at - 1, n - 1, at, name_of(i, n));
	else
		snprintf(to, size,
			 "%s keeps no frame pointer: frame pointers alone would take 0x%" PRIx64
			 ", which is not on the call path, for its caller.",
			 name_of(i, n - 1), t->fp_frames[n]);
}
