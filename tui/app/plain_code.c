// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine code of a function by its hottest instructions: all are too many to listen to. */
#include "tui/app/plain_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/annotate_priv.h"

struct hot {
	uint64_t self;
	uint32_t insn;
};

static int by_self(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return (x->insn > y->insn) - (x->insn < y->insn);
}

static void tell_insn(struct tell *t, const struct listing *l, uint32_t at, double percent)
{
	const struct listing_insn *insn = &l->insns[at];
	struct tell_row *row = tell_next(t, insn->addr, percent);
	char text[256];

	if (!row)
		return;
	annotate_insn_text(l, insn, text, sizeof(text));
	snprintf(row->name, sizeof(row->name), "%" PRIx64 " %s", insn->addr, text);
	if (insn->line != LISTING_NONE) {
		const struct listing_line *line = &l->lines[insn->line];

		tell_more(row, "line %u: %s", line->number,
			  l->strings + (line->text != LISTING_NONE ? line->text : line->file));
	}
	if (insn->to != LISTING_NONE)
		tell_more(row, "jumps to %" PRIx64, l->insns[insn->to].addr);
}

int tell_code(struct tell *t, const struct ui *ui)
{
	const struct annotate *a = ui->overlay.state;
	const struct annotation *shown = a->shown;
	const struct annotation_count *counts;
	const struct listing *l;
	struct hot *hot;
	uint64_t sum = 0;

	snprintf(t->title, sizeof(t->title), "Machine code of %.300s by samples at it, %%",
		 a->wish.name);
	if (!shown || shown->state != ANNOTATION_READY) {
		snprintf(t->empty, sizeof(t->empty), "%s",
			 shown && shown->state == ANNOTATION_FAILED  ? shown->trouble
			 : shown && shown->state == ANNOTATION_READS ? "The code is being read."
			 : shown && a->gone ? "Its process has ended: no sample of it will come."
					    : "No sample of it yet.");
		return 0;
	}
	l = shown->listing;
	counts = annotate_counts(ui);
	hot = calloc((size_t)l->ninsns + 1, sizeof(*hot));
	if (!hot)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->ninsns; i++) {
		hot[i] = (struct hot){counts[i].self, i};
		sum += counts[i].self;
	}
	qsort(hot, l->ninsns, sizeof(*hot), by_self);
	for (uint32_t i = 0; i < l->ninsns && hot[i].self; i++)
		tell_insn(t, l, hot[i].insn, tell_percent(hot[i].self, sum));
	snprintf(t->empty, sizeof(t->empty), "No sample was at an instruction of it.");
	free(hot);
	return 0;
}
