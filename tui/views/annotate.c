// SPDX-License-Identifier: GPL-2.0-or-later
/* See annotate.h. */
#include "tui/views/annotate_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/board.h"
#include "tui/profile/language.h"
#include "unwind/cfitext.h"

#define SCROLL_STEP 8
#define SCROLL_MAX  400
#define ENOUGH	    20 /* samples, to tell which instruction is the hottest */

/* --- loading ------------------------------------------------------------------------------ */

/*
 * Where no sample was at an instruction itself, calls count by what was below them. A line of a
 * source calls a lot, so both count.
 */
enum heat_of {
	HEAT_SELF,
	HEAT_BELOW,
	HEAT_BOTH,
};

static uint64_t heat(const struct annotation_count *c, uint32_t i, enum heat_of of)
{
	return (of != HEAT_BELOW ? c[i].self : 0) + (of != HEAT_SELF ? c[i].below : 0);
}

static bool is_hotter(const struct annotation_count *c, enum heat_of of, uint32_t a, uint32_t b)
{
	return heat(c, a, of) > heat(c, b, of) || (a < b && heat(c, a, of) == heat(c, b, of));
}

static enum heat_of heat_of(const struct listing *l, const struct annotation_count *c)
{
	if (l->source)
		return HEAT_BOTH;
	for (uint32_t i = 0; i < l->ninsns; i++)
		if (c[i].self)
			return HEAT_SELF;
	return HEAT_BELOW;
}

/* The instruction of a rank by samples, 0 the hottest; LISTING_NONE: there is none. */
static uint32_t hottest(const struct ui *ui, uint32_t rank)
{
	const struct annotation_count *c = annotate_counts(ui);
	const struct listing *l = annotate_of(ui)->shown->listing;
	const enum heat_of of = heat_of(l, c);
	uint32_t n = l->ninsns, best = LISTING_NONE, last;

	for (uint32_t turn = 0; turn <= rank; turn++) {
		last = best;
		best = LISTING_NONE;
		for (uint32_t i = 0; i < n; i++) {
			if (!heat(c, i, of) || (last != LISTING_NONE && !is_hotter(c, of, last, i)))
				continue;
			if (best == LISTING_NONE || is_hotter(c, of, i, best))
				best = i;
		}
		if (best == LISTING_NONE)
			break;
	}
	return best;
}

static void go_insn(struct annotate *a, uint32_t insn)
{
	size_t half;

	list_select(&a->list, a->rows.of_insn[insn]);
	half = a->list.page / 2;
	/* With what is around it. */
	if (a->list.cursor < a->list.top || a->list.cursor >= a->list.top + a->list.page)
		a->list.top = a->list.cursor > half ? a->list.cursor - half : 0;
}

uint64_t annotate_cfi_address(const struct annotate *a)
{
	const struct annotation *shown = a->shown;

	if (!shown->listing || !a->list.count)
		return shown->at || !shown->cfi ? shown->at : shown->cfi->start;
	return shown->listing->insns[a->rows.row[a->list.cursor].insn].addr;
}

/* To the line of the CFI that is in force there. */
static void go_cfi(struct annotate *a)
{
	a->cfi_list = (struct list){.count = a->shown->cfi ? a->shown->cfi->count : 0};
	if (a->cfi_list.count)
		list_select(&a->cfi_list, cfitext_at(a->shown->cfi, annotate_cfi_address(a)));
}

static unsigned int go_hottest(struct ui *ui)
{
	struct annotate *a = annotate_of(ui);
	uint32_t insn = hottest(ui, a->rank);

	if (insn == LISTING_NONE && a->rank) {
		a->rank = 0;
		insn = hottest(ui, 0);
	}
	if (insn == LISTING_NONE) {
		ui_notice(ui, "no sample was at %s of this function",
			  annotate_has_source(a) ? "a line" : "an instruction");
		return UI_REDRAW;
	}
	a->rank++;
	a->moved = true;
	go_insn(a, insn);
	return UI_REDRAW;
}

/*
 * Where the wish points to, else the hottest: drawing puts it in the middle. It may be another one
 * after a few more samples.
 */
static void go_first(struct ui *ui)
{
	struct annotate *a = annotate_of(ui);
	uint32_t insn = a->shown->at ? listing_find(a->shown->listing, a->shown->at) : LISTING_NONE;

	a->settled = insn != LISTING_NONE || a->shown->all_sum.total >= ENOUGH;
	if (insn == LISTING_NONE)
		insn = hottest(ui, 0);
	if (insn != LISTING_NONE)
		list_select(&a->list, a->rows.of_insn[insn]);
}

/* Lines without a source become more. */
static void keep_line(struct annotate *a, const struct listing *now, uint64_t line)
{
	uint32_t at = listing_find(now, line);

	if (at != LISTING_NONE)
		list_select(&a->list, a->rows.of_insn[at]);
}

static int annotate_load(struct ui *ui)
{
	struct annotate *a = annotate_of(ui);
	struct annotation *now;
	const struct listing *before;
	uint64_t line = 0;
	uint32_t id;
	int err = 0;

	if (ui->frozen && a->shown && a->shown->state == ANNOTATION_READY)
		return 0;
	profile_lock(ui->profile);
	now = board_annotation(profile_board(ui->profile));
	id = query_pid(ui->profile, a->wish.pid);
	a->gone = !a->wish.all &&
		  (id == QUERY_ALL || query_proc(ui->profile, id)->image != a->wish.image);
	profile_unlock(ui->profile);
	if (!now || now == a->shown || now->serial != a->wish.serial) {
		annotation_put(now);
		return 0;
	}
	before = a->shown ? a->shown->listing : NULL;
	if (now->listing && now->listing != before) {
		if (before && a->list.count)
			line = before->insns[a->rows.row[a->list.cursor].insn].addr;
		err = coderows_make(&a->rows, now->listing);
		if (err) {
			annotation_put(now);
			return err;
		}
		a->list.count = a->rows.count;
		if (line)
			keep_line(a, now->listing, line);
	}
	if (!now->listing) { /* counts were zeroed: it is read again */
		a->list = (struct list){0};
		a->moved = a->settled = false;
	}
	annotation_put(a->shown);
	a->shown = now;
	if (now->listing && (!before || (!a->settled && !a->moved)))
		go_first(ui);
	if (!a->cfi_list.count &&
	    (now->state == ANNOTATION_READY || now->state == ANNOTATION_FAILED))
		go_cfi(a);
	return 0;
}

static bool annotate_waits(const struct ui *ui)
{
	const struct annotate *a = annotate_of(ui);

	return !a->shown || (a->shown->state == ANNOTATION_LOOKS && !a->gone) ||
	       a->shown->state == ANNOTATION_READS;
}

/* --- keys ---------------------------------------------------------------------------------- */

static unsigned int go_target(struct ui *ui)
{
	struct annotate *a = annotate_of(ui);
	const struct coderow *r = &a->rows.row[a->list.cursor];
	uint32_t to = a->shown->listing->insns[r->insn].to;

	if (annotate_has_source(a))
		ui_notice(ui, "a line of a source has no jumps");
	else if (r->line != LISTING_NONE || to == LISTING_NONE)
		ui_notice(ui, "no jump within the function");
	else
		go_insn(a, to);
	a->moved = true;
	return UI_REDRAW;
}

static void annotate_zero(struct ui *ui)
{
	struct annotate *a = annotate_of(ui);

	a->wish.serial = ++ui->annotations;
	a->wish.after = ui->now;
	profile_lock(ui->profile);
	board_want_annotation(profile_board(ui->profile), &a->wish);
	profile_unlock(ui->profile);
}

static unsigned int annotate_key(struct ui *ui, int action)
{
	struct annotate *a = annotate_of(ui);
	bool ready = a->shown && a->shown->listing && a->list.count;

	if (action == ACTION_BACK)
		return ui_overlay_back(ui);
	if (annotate_has_source(a) && (action == ACTION_CFI || action == ACTION_SYNTAX)) {
		ui_notice(ui, "an interpreter runs it: it has neither machine code nor CFI");
		return UI_REDRAW;
	}
	if (action == ACTION_CFI) {
		a->cfi = !a->cfi;
		if (a->shown)
			go_cfi(a);
		return UI_REDRAW;
	}
	if (action == ACTION_SYNTAX) {
		ui->config.att = !ui->config.att;
		ui_notice(ui, "%s; :save keeps it",
			  ui->config.att ? "AT&T syntax" : "Intel syntax");
		return UI_REDRAW;
	}
	if (a->cfi && list_move(&a->cfi_list, (enum action)action))
		return UI_REDRAW;
	if (ready && !a->cfi && action == ACTION_HOTTEST)
		return go_hottest(ui);
	a->rank = 0;
	if (ready && !a->cfi && list_move(&a->list, (enum action)action)) {
		a->moved = true;
		return UI_REDRAW;
	}
	switch (action) {
	case ACTION_TARGET:
		return ready && !a->cfi ? go_target(ui) : UI_REDRAW;
	case ACTION_LEFT:
		a->scroll -= a->scroll ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_RIGHT:
		a->scroll += a->scroll < SCROLL_MAX ? SCROLL_STEP : 0;
		return UI_REDRAW;
	default:
		return 0;
	}
}

static bool row_matches(const struct ui *ui, const struct annotate *a, size_t at)
{
	const struct listing *l = a->shown->listing;
	const struct coderow *r = &a->rows.row[at];
	char text[512];

	if (r->line != LISTING_NONE)
		snprintf(text, sizeof(text), "%s", annotate_line_text(l, &l->lines[r->line]));
	else
		annotate_insn_text(ui, l, &l->insns[r->insn], text, sizeof(text));
	return search_matches(ui, text);
}

static unsigned int annotate_find(struct ui *ui, int step, bool here)
{
	struct annotate *a = annotate_of(ui);
	bool found = a->shown != NULL;

	if (found && a->cfi)
		found = a->shown->cfi &&
			LIST_FIND(&a->cfi_list, step, here, i,
				  search_matches(ui, a->shown->cfi->lines[i].text));
	else if (found)
		found = LIST_FIND(&a->list, step, here, i, row_matches(ui, a, i));
	a->moved |= found && !a->cfi;
	return found ? UI_REDRAW : 0;
}

static unsigned int annotate_place(struct ui *ui, struct view_place *place, bool back)
{
	struct annotate *a = annotate_of(ui);

	if (!back) {
		place->list[0] = a->list;
		place->list[1] = a->cfi_list;
		return 0;
	}
	list_restore(&a->list, &place->list[0]);
	list_restore(&a->cfi_list, &place->list[1]);
	return UI_REDRAW;
}

/* --- opening and closing ------------------------------------------------------------------- */

static void tell_replayed(struct ui *ui, const struct profile_func *func)
{
	char line[300] = "";

	if (func->file && func->line)
		snprintf(line, sizeof(line), ": line %u of %.200s", func->line,
			 language_module(func->kind, func->file));
	ui_notice(ui, "a session holds the hottest line of a function only%s", line);
}

static const char *why_not(const struct ui *ui, const struct profile_func *func)
{
	if (ui->header.replayed)
		return "a session holds functions, not the addresses of samples in them";
	if (func->kind == FUNC_END)
		return "this is why walks ended, not a function";
	if (func->kind == FUNC_KERNEL && func->name[0] == '[')
		return strcmp(func->name, "[kernel]") == 0
			       ? "where it is in the kernel is not known: run as root, or set "
				 "kernel.kptr_restrict to 0 or 1"
			       : "its module was unloaded, and its code with it";
	if (func->kind == FUNC_JIT && strcmp(func->name, "[rewritten code]") == 0)
		return "it was replaced while it was sampled: which code it was is not known";
	return NULL;
}

static void annotate_close(struct ui *ui)
{
	struct annotate *a = annotate_of(ui);

	profile_lock(ui->profile);
	board_want_annotation(profile_board(ui->profile), NULL);
	profile_unlock(ui->profile);
	annotation_put(a->shown);
	coderows_free(&a->rows);
	free(a);
}

static const struct profile_func *annotate_function(const struct ui *ui)
{
	return &annotate_of(ui)->func;
}

static const struct overlay_ops annotate_ops = {
	.draw = annotate_draw,
	.key = annotate_key,
	.load = annotate_load,
	.function = annotate_function,
	.find = annotate_find,
	.place = annotate_place,
	.reset = annotate_zero,
	.waits = annotate_waits,
	.plain = annotate_plain,
	.close = annotate_close,
	.keys = VIEW_FRAME,
};

unsigned int annotate_frame(struct ui *ui, const struct profile_func *func, pid_t pid,
			    uint64_t image, uint64_t frame, bool cfi)
{
	const char *no = why_not(ui, func);
	struct annotate *a;
	int err;

	if (ui->header.replayed && func_has_source(func->kind)) {
		tell_replayed(ui, func);
		return UI_REDRAW;
	}
	if (no) {
		ui_notice(ui, "%s", no);
		return UI_REDRAW;
	}
	a = calloc(1, sizeof(*a));
	if (!a) {
		ui_notice(ui, "%s", strerror(ENOMEM));
		return UI_REDRAW;
	}
	a->wish = (struct annotation_wish){.serial = ++ui->annotations,
					   .all = !pid,
					   .pid = pid,
					   .image = image,
					   .frame = frame,
					   .kind = func->kind};
	snprintf(a->wish.name, sizeof(a->wish.name), "%s", func->name);
	snprintf(a->wish.module, sizeof(a->wish.module), "%s", func->module);
	a->func = (struct profile_func){a->wish.name, a->wish.module, a->wish.kind, NULL, 0};
	a->cfi = cfi;
	ui_close_overlay(ui);
	ui->overlay = (struct overlay){&annotate_ops, a};
	if (ui->frozen)
		ui_notice(ui, "shows samples of now: a frozen view has no %s",
			  annotate_has_source(a) ? "lines" : "addresses");
	profile_lock(ui->profile);
	err = board_want_annotation(profile_board(ui->profile), &a->wish);
	profile_unlock(ui->profile);
	if (err)
		ui_close_overlay(ui);
	return UI_REDRAW;
}

unsigned int annotate_open(struct ui *ui, const struct profile_func *func, pid_t pid,
			   uint64_t image)
{
	return annotate_frame(ui, func, pid, image, 0, false);
}
