// SPDX-License-Identifier: GPL-2.0-or-later
/* See inspect.h. */
#include "tui/collect/inspect.h"

#include <errno.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/text.h"
#include "tui/profile/inspection.h"
#include "tui/symbolize/resolver.h"

int inspection_make(struct tracker *tracker, struct resolver *resolver,
		    const struct capture_record *captured, struct inspection **out)
{
	const struct tracker_exec of = {(pid_t)captured->tgid, captured->start_stack,
					captured->exec_id};
	struct tracker_proc proc;
	struct inspection *i;
	struct trace *trace;
	int err = trace_new(tracker, captured, &trace);

	*out = NULL;
	if (err)
		return err;
	i = inspection_new(trace);
	err = i ? resolver_inspection(resolver, i) : -ENOMEM;
	if (err) {
		inspection_put(i);
		return err;
	}
	if (tracker_proc(tracker, &of, &proc))
		text_clean(i->comm, sizeof(i->comm), proc.comm,
			   strnlen(proc.comm, sizeof(proc.comm)));
	*out = i;
	return 0",
		[TRACE_FP_UNREADABLE] = "it points to no stack",
		[TRACE_FP_DOWN] = "it does not point upward",
		[TRACE_FP_NO_CODE] = "no code address is above the slot that it points to",
		[TRACE_FP_DEPTH] = "it never ends",
	};

	bool beyond =
		t->fp_end == TRACE_FP_UNREADABLE && t->fp_last - t->capture.stack_at < STACK_NEAR;

	snprintf(to, size, "rbp = 0x%" PRIx64 ": %s", t->fp_last,
		 beyond ? "beyond what was captured" : ends[t->fp_end]);
}

/* True if the frame's own rule needs RBP, so that RBP is a frame pointer there. */
static bool keeps_fp(const struct trace_step *s)
{
	return s->way == TRACE_FRAME_POINTER || (s->has_row && RULE_KIND(s->rule) == ROW_RBP) ||
	       (s->wide && s->wide_rule.cfa_reg == DWARF_RBP);
}

void inspection_compare(const struct inspection *i, uint32_t *first, char *to, size_t size)
{
	const struct trace *t = i->trace;
	uint32_t n = 0, at;
	char end[128];

	while (n < t->nsteps && n < t->nfp && t->steps[n].pc == t->fp_frames[n])
		n++;
	*first = n;
	/* Counts what was captured. */
	if (n == t->nsteps && !t->short_of && t->capture.reason != WALK_BOTTOM) {
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
				 "of %s has left another number in rbp (%s).",
				 n - 1, t->nsteps - 1, name_of(i, n - 1), end);
		else
			snprintf(to, size,
				 "%s keeps no frame pointer, so rbp is a number like any other: "
				 "frame pointers alone would end after frame %u of %u (%s).",
				 name_of(i, n - 1), n - 1, t->nsteps - 1, end);
		return;
	}
	for (at = n; at < t->nsteps; at++)
		if (t->steps[at].pc == t->fp_frames[n])
			break;
	if (at < t->nsteps)
		snprintf(to, size,
			 "%s keeps no frame pointer, so rbp still is that of frame %u: frame "
			 "pointers alone would go from frame %u to frame %u and never show %s.",
			 name_of(i, n - 1), at - 1, n - 1, at, name_of(i, n));
	else
		snprintf(to, size,
			 "%s keeps no frame pointer: frame pointers alone would take 0x%" PRIx64
			 ", which is not on the call path, for its caller.",
			 name_of(i, n - 1), t->fp_frames[n]);
}
