// SPDX-License-Identifier: GPL-2.0-or-later
/* How a function's code, or its CFI, is drawn. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/annotate_priv.h"
#include "tui/profile/language.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/timespan.h"
#include "tui/util/share.h"
#include "unwind/cfitext.h"

#define COLS_FOR_BELOW 72
#define COLS_OF_SOURCE 56 /* for the same, as lines have no addresses */
#define ROWS_FOR_SUMS  8
#define DIGITS_NARROW  8

const struct annotation_count *annotate_counts(const struct ui *ui)
{
	const struct annotation *shown = annotate_of(ui)->shown;

	return timespan_weighed(ui) == SPAN_TOTAL ? shown->all : shown->window;
}

static const struct annotation_sum *sum(const struct ui *ui)
{
	const struct annotation *shown = annotate_of(ui)->shown;

	return timespan_weighed(ui) == SPAN_TOTAL ? &shown->all_sum : &shown->window_sum;
}

struct layout {
	int below, addr, digits, lanes, code; /* columns; below 0: not shown */
	int nlanes;
};

static struct layout layout_make(const struct listing *l, const struct grid *g)
{
	char last[20];
	struct layout y = {.below = g->cols >= (l->source ? COLS_OF_SOURCE : COLS_FOR_BELOW) ? 8
											     : 0};

	if (l->source) {
		y.digits = snprintf(last, sizeof(last), "%" PRIu64, l->end);
		y.digits = y.digits < (int)strlen("LINE") ? (int)strlen("LINE") : y.digits;
		y.addr = y.below ? 16 : 8;
		y.code = y.lanes = y.addr + y.digits + 2;
		return y;
	}
	y.digits = snprintf(last, sizeof(last), "%" PRIx64, l->end);
	if (!y.below && y.digits > DIGITS_NARROW)
		y.digits = DIGITS_NARROW;
	y.nlanes = g->cols < 72 ? 2 : g->cols < 96 ? 4 : g->cols < 140 ? 6 : CODEROWS_LANES;
	y.addr = y.below ? 16 : 8;
	y.lanes = y.addr + y.digits + 1;
	y.code = y.lanes + y.nlanes + 2;
	return y;
}

static void draw_lanes(const struct layout *y, const struct coderow *r, struct grid *g, int row,
		       const struct listing_insn *insn)
{
	unsigned int shown = (1u << y->nlanes) - 1, ends = (r->down | r->up) & shown;
	const char *mark = " ";

	for (int lane = y->nlanes - 1, col = y->lanes; lane >= 0; lane--, col++) {
		unsigned int bit = 1u << lane;

		if (r->pass & bit)
			grid_line(g, row, col, 1, ROLE_BORDER, GLYPH_VLINE);
		else if (r->down & bit)
			grid_line(g, row, col, 1, ROLE_BORDER, GLYPH_TOP_LEFT);
		else if (r->up & bit)
			grid_line(g, row, col, 1, ROLE_BORDER, GLYPH_BOTTOM_LEFT);
		else if (ends >> (lane + 1))
			grid_line(g, row, col, 1, ROLE_BORDER, GLYPH_HLINE);
	}
	if (r->head & shown)
		mark = ">";
	else if (r->source & shown)
		mark = grid_glyph(g, GLYPH_HLINE);
	else if (insn && insn->to != LISTING_NONE)
		mark = r->insn < insn->to ? "v" : "^";
	grid_put(g, row, y->lanes + y->nlanes, 1, ROLE_BORDER, mark);
}

static void draw_share(struct grid *g, int row, int col, uint64_t count, uint64_t all)
{
	double share = share_of(count, all);

	if (count)
		grid_printf(g, row, col, 7, ui_heat(share), "%7.1f", 100 * share);
}

void annotate_insn_text(const struct ui *ui, const struct listing *l,
			const struct listing_insn *insn, char *to, size_t size)
{
	bool named = insn->name != LISTING_NONE && insn->to == LISTING_NONE;
	bool att = ui->config.att && insn->att != LISTING_NONE;

	snprintf(to, size, "%s%s%s%s", l->strings + (att ? insn->att : insn->text),
		 named ? "  <" : "", named ? l->strings + insn->name : "", named ? ">" : "");
}

const char *annotate_line_text(const struct listing *l, const struct listing_line *line)
{
	return l->strings + (line->text == LISTING_NONE ? line->file : line->text);
}

/* The beginning is cut where it is scrolled, in cells of plain text. */
static void draw_text(struct grid *g, int row, int col, enum role role, const char *text,
		      int scroll)
{
	while (scroll-- > 0 && *text) {
		text++;
		while (((unsigned char)*text & 0xc0) == 0x80)
			text++;
	}
	grid_fit(g, row, col, g->cols - col, role, text);
}

/* The path of lines without text is shown once: it is long, and each line has its file's name. */
static bool path_told(const struct annotate *a, size_t at)
{
	const struct listing *l = a->shown->listing;
	const struct listing_line *line = &l->lines[a->rows.row[at].line];

	while (line->text == LISTING_NONE && at-- > 0) {
		uint32_t number = a->rows.row[at].line;
		const struct listing_line *before;

		if (number == LISTING_NONE)
			continue;
		before = &l->lines[number];
		return before->text == LISTING_NONE &&
		       !strcmp(l->strings + before->file, l->strings + line->file);
	}
	return false;
}

static void draw_source_row(const struct ui *ui, const struct layout *y, size_t at, struct grid *g,
			    int row)
{
	const struct annotate *a = annotate_of(ui);
	const struct listing *l = a->shown->listing;
	const struct listing_insn *line = &l->insns[a->rows.row[at].insn];
	const struct annotation_count *c = &annotate_counts(ui)[line - l->insns];
	enum role role = ROLE_TEXT;

	draw_share(g, row, 0, c->self, sum(ui)->total);
	if (y->below)
		draw_share(g, row, y->below - 1, c->below, sum(ui)->total);
	grid_printf(g, row, y->addr, y->digits, ROLE_DIM, "%*" PRIu64, y->digits, line->addr);
	if (c->self + c->below)
		role = ui_heat(share_of(c->self + c->below, sum(ui)->total));
	if (search_matches(ui, l->strings + line->text))
		role = ROLE_MATCH;
	draw_text(g, row, y->code, role, l->strings + line->text, a->scroll);
}

static void draw_row(const struct ui *ui, const struct layout *y, size_t at, struct grid *g,
		     int row)
{
	const struct annotate *a = annotate_of(ui);
	const struct listing *l = a->shown->listing;
	const struct coderow *r = &a->rows.row[at];
	const struct listing_insn *insn = &l->insns[r->insn];
	const struct annotation_count *c = &annotate_counts(ui)[r->insn];
	enum role role = ROLE_TEXT;
	char text[512];

	if (r->line != LISTING_NONE) {
		const struct listing_line *line = &l->lines[r->line];
		const char *file = l->strings + line->file, *slash = strrchr(file, '/');

		snprintf(text, sizeof(text), "%.200s:%u", slash ? slash + 1 : file, line->number);
		if (grid_width(g, text) > y->lanes - 2)
			snprintf(text, sizeof(text), ":%u", line->number);
		grid_right(g, row, 1, y->lanes - 2, ROLE_DIM, text);
		draw_lanes(y, r, g, row, NULL);
		if (path_told(a, at))
			return;
		draw_text(g, row, y->code,
			  search_matches(ui, annotate_line_text(l, line)) ? ROLE_MATCH
			  : line->text == LISTING_NONE			  ? ROLE_DIM
									  : ROLE_USER,
			  annotate_line_text(l, line), a->scroll);
		return;
	}
	draw_share(g, row, 0, c->self, sum(ui)->total);
	if (y->below)
		draw_share(g, row, y->below - 1, c->below, sum(ui)->total);
	/* Of a narrow screen the last digits: the title has all of them. */
	snprintf(text, sizeof(text), "%*" PRIx64, y->digits, insn->addr);
	grid_put(g, row, y->addr, y->digits, ROLE_DIM, text + strlen(text) - (size_t)y->digits);
	draw_lanes(y, r, g, row, insn);
	annotate_insn_text(ui, l, insn, text, sizeof(text));
	if (c->self)
		role = ui_heat((double)c->self / (double)(sum(ui)->total ? sum(ui)->total : 1));
	if (search_matches(ui, text))
		role = ROLE_MATCH;
	draw_text(g, row, y->code, role, text, a->scroll);
}

static void draw_sums(const struct ui *ui, struct grid *g, int row)
{
	const struct annotation *shown = annotate_of(ui)->shown;
	const struct annotation_sum *s = sum(ui);
	char text[256];
	int col = 0;

	if (annotate_of(ui)->gone || shown->exited)
		col = grid_put(g, row, 1, g->cols - 1, ROLE_WARN, "its process has exited; ");
	else if (shown->replaced)
		col = grid_put(g, row, 1, g->cols - 1, ROLE_WARN, "other code is there now; ");
	col += grid_printf(g, row, 1 + col, g->cols - 1 - col, ROLE_TEXT,
			   "%" PRIu64 " samples, %" PRIu64 " at its own %s", s->total, s->self,
			   annotate_has_source(annotate_of(ui)) ? "lines and native code" : "code");
	if (timespan_weighed(ui) == SPAN_TOTAL)
		col += grid_printf(g, row, 1 + col, g->cols - 1 - col, ROLE_DIM, ", of %.0f s",
				   (double)(shown->now - shown->since) / 1e9);
	else
		col += grid_put(g, row, 1 + col, g->cols - 1 - col, ROLE_DIM, ", of 10 s");
	if (s->elsewhere)
		col += grid_printf(g, row, 1 + col, g->cols - 1 - col, ROLE_WARN,
				   "; %" PRIu64 " more in others of this name", s->elsewhere);
	if (shown->processes > 1 && shown->listing->source)
		col += grid_printf(g, row, 1 + col, g->cols - 1 - col, ROLE_DIM,
				   ", of %u processes", shown->processes);
	if (shown->listing->newer)
		col += grid_put(g, row, 1 + col, g->cols - 1 - col, ROLE_WARN,
				"; the file was changed after its process began");
	if (s->stray)
		col += grid_printf(
			g, row, 1 + col, g->cols - 1 - col, ROLE_WARN, "; %" PRIu64 " %s", s->stray,
			shown->listing->source ? "at no line of it" : "behind what is shown");
	if (shown->listing->lines_missing && !shown->listing->source && 1 + col < g->cols) {
		snprintf(text, sizeof(text), "; no lines: %s", shown->listing->lines_missing);
		grid_fit(g, row, 1 + col, g->cols - 1 - col, ROLE_DIM, text);
	}
}

/* list: of which rows are shown; NULL: of none. */
static void draw_title(const struct ui *ui, const struct list *list, struct grid *g, int row)
{
	const struct annotate *a = annotate_of(ui);
	const struct listing *l = a->shown ? a->shown->listing : NULL;
	char right[64] = "", mark[8], range[LIST_RANGE] = "";
	int at = g->cols - 2, width;

	grid_line(g, row, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	if (list)
		list_range(list, range);
	if (range[0] && at > 2 * grid_width(g, range)) {
		at -= grid_width(g, range) + 2;
		grid_printf(g, row, at, g->cols - at - 2, ROLE_DIM, " %s ", range);
		at--;
	}
	if (l && l->source)
		snprintf(right, sizeof(right), "%s", l->cut ? " cut " : "");
	else if (l)
		snprintf(right, sizeof(right), " 0x%" PRIx64 "..0x%" PRIx64 "%s ", l->start, l->end,
			 l->cut ? ", cut" : "");
	if (l && at - grid_width(g, right) > 30) {
		at -= grid_width(g, right);
		grid_put(g, row, at, g->cols - at, ROLE_DIM, right);
	}
	width = at < g->cols - 2 ? at - 3 : g->cols - 4;
	snprintf(mark, sizeof(mark), "%s ", language_mark(a->wish.kind) ?: "");
	grid_printf(g, row, 2, width, ROLE_TITLE, " %s%s  %s ",
		    a->wish.kind == FUNC_INLINE	     ? "around "
		    : func_is_language(a->wish.kind) ? mark
						     : "",
		    a->wish.name, a->wish.module);
}

/* In as many rows as it needs, of which the screen may have fewer. */
static void draw_wrapped(struct grid *g, int row, enum role role, const char *text)
{
	const int width = g->cols - 3;

	while (*text && row < g->rows && width > 0) {
		int n = (int)strlen(text), cut = n;

		if (n > width)
			for (cut = width; cut > 1 && text[cut] != ' '; cut--)
				;
		grid_printf(g, row++, 2, g->cols - 2, role, "%.*s", cut, text);
		text += cut;
		text += strspn(text, " ");
	}
}

static void draw_waiting(const struct ui *ui, struct grid *g, int top)
{
	const struct annotation *shown = annotate_of(ui)->shown;
	char text[128];

	if (shown && shown->state == ANNOTATION_FAILED) {
		grid_put(g, top, 2, g->cols - 2, ROLE_ERROR,
			 annotate_has_source(annotate_of(ui)) ? "! Its source is not shown:"
							      : "! Its machine code is not shown:");
		draw_wrapped(g, top + 1, ROLE_TEXT, shown->trouble);
	} else if (shown && shown->state == ANNOTATION_READS) {
		grid_put(g, top, 2, g->cols - 2, ROLE_TITLE,
			 annotate_has_source(annotate_of(ui))
				 ? "Reads its source ..."
				 : "Reads its machine code and the lines of its source ...");
	} else if (shown && annotate_of(ui)->gone) {
		snprintf(text, sizeof(text), "Process %d has ended, or is another program by now:",
			 (int)annotate_of(ui)->wish.pid);
		grid_put(g, top, 2, g->cols - 2, ROLE_TITLE, text);
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_TEXT,
			 "no sample of it will come any more. Esc goes back.");
	} else {
		grid_put(g, top, 2, g->cols - 2, ROLE_TITLE,
			 "Looks for samples of it in the last seconds ...");
		if (shown)
			grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM,
				 "There is none yet: waits for the next. Esc goes back.");
	}
}

/* The rows of the list are the n from that row of the grid on. */
static void draw_cursor(const struct list *list, struct grid *g, int row, int n)
{
	const int at = row + (int)(list->cursor - list->top);

	list_draw_scroll(list, g, row, n, g->cols - 1);
	if (n <= 0 || !list->count)
		return;
	grid_put(g, at, 0, 1, ROLE_CURSOR, ">");
	grid_role(g, at, 0, g->cols, ROLE_CURSOR);
}

static void draw_cfi(struct ui *ui, struct grid *g, int top, int rows)
{
	struct annotate *a = annotate_of(ui);
	const struct cfitext *cfi = a->shown->cfi;
	uint32_t force;

	if (!cfi) {
		grid_put(g, top, 2, g->cols - 2, ROLE_WARN,
			 a->wish.kind == FUNC_KERNEL || func_is_made(a->wish.kind)
				 ? "It is in no file, so it has no FDE."
				 : "The file has no FDE for it, neither in .eh_frame nor in "
				   ".debug_frame.");
		return;
	}
	force = cfitext_at(cfi, annotate_cfi_address(a));
	grid_printf(g, top, 1, g->cols - 1, ROLE_TEXT, "At 0x%" PRIx64 " all up to => is in force.",
		    annotate_cfi_address(a));
	list_settle(&a->cfi_list, rows > 1 ? (size_t)rows - 1 : 1);
	for (int i = 1; i < rows; i++) {
		size_t at = a->cfi_list.top + (size_t)i - 1;
		const char *text;
		enum role role;

		if (at >= cfi->count)
			break;
		text = cfi->lines[at].text;
		role = text[0] != ' ' ? ROLE_TITLE : at > force ? ROLE_DIM : ROLE_TEXT;
		if (search_matches(ui, text))
			role = ROLE_MATCH;
		if (at == force)
			grid_put(g, top + i, 2, 2, ROLE_TITLE, "=>");
		draw_text(g, top + i, 5, role, text, a->scroll);
	}
	draw_cursor(&a->cfi_list, g, top + 1, rows - 1);
}

static void draw_header(const struct annotate *a, const struct layout *y, struct grid *g, int row)
{
	const char *missing = a->shown->listing->lines_missing;
	char text[256] = "SOURCE AND CODE";

	grid_blank(g, row, 0, g->cols, ROLE_HEADER);
	grid_put(g, row, 2, 6, ROLE_HEADER, "SELF%");
	if (y->below)
		grid_put(g, row, y->below, 7, ROLE_HEADER, "BELOW%");
	grid_right(g, row, y->addr, y->digits, ROLE_HEADER,
		   annotate_has_source(a) ? "LINE"
		   : y->digits >= 7	  ? "ADDRESS"
					  : "ADDR");
	if (annotate_has_source(a))
		snprintf(text, sizeof(text), "SOURCE%s%s", missing ? ": " : "", missing ?: "");
	grid_fit(g, row, y->code, g->cols - y->code, ROLE_HEADER, text);
}

void annotate_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct annotate *a = annotate_of(ui);
	int head = rows >= ROWS_FOR_SUMS ? 3 : 1;
	struct layout y;
	size_t page;

	if (a->cfi && a->shown && (a->shown->cfi || a->shown->state == ANNOTATION_READY)) {
		draw_cfi(ui, g, top + 1, rows - 1);
		draw_title(ui, a->shown->cfi ? &a->cfi_list : NULL, g, top);
		return;
	}
	if (!a->shown || a->shown->state != ANNOTATION_READY) {
		draw_title(ui, NULL, g, top);
		draw_waiting(ui, g, top + 1);
		return;
	}
	y = layout_make(a->shown->listing, g);
	if (head == 3) {
		draw_sums(ui, g, top + 1);
		draw_header(a, &y, g, top + 2);
	}
	page = rows > head ? (size_t)(rows - head) : 1;
	if (!a->moved)
		a->list.top = a->list.cursor > page / 2 ? a->list.cursor - page / 2 : 0;
	list_settle(&a->list, page);
	for (int i = head; i < rows; i++) {
		size_t at = a->list.top + (size_t)(i - head);

		if (at >= a->list.count)
			break;
		if (a->shown->listing->source)
			draw_source_row(ui, &y, at, g, top + i);
		else
			draw_row(ui, &y, at, g, top + i);
	}
	draw_cursor(&a->list, g, top + head, rows - head);
	draw_title(ui, &a->list, g, top);
}

/* --- in words: the hottest instructions, or lines ------------------------------------------ */

struct hot {
	uint64_t self; /* of a line: and below */
	uint32_t insn;
};

static int by_self(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return (x->insn > y->insn) - (x->insn < y->insn);
}

static void add_insn(const struct ui *ui, struct plain_list *list, uint32_t at, double percent)
{
	const struct listing *l = annotate_of(ui)->shown->listing;
	const struct listing_insn *insn = &l->insns[at];
	struct plain_row *row = plain_list_add(list, insn->addr, percent);
	char text[256];

	if (!row)
		return;
	annotate_insn_text(ui, l, insn, text, sizeof(text));
	snprintf(row->name, sizeof(row->name), "%" PRIx64 " %s", insn->addr, text);
	if (insn->line != LISTING_NONE) {
		const struct listing_line *line = &l->lines[insn->line];

		plain_row_add(row, "line %u: %s", line->number,
			      l->strings + (line->text != LISTING_NONE ? line->text : line->file));
	}
	if (insn->to != LISTING_NONE)
		plain_row_add(row, "jumps to %" PRIx64, l->insns[insn->to].addr);
}

static void add_line(const struct ui *ui, struct plain_list *list, uint32_t at, double percent)
{
	const struct annotation *shown = annotate_of(ui)->shown;
	const struct listing_insn *line = &shown->listing->insns[at];
	const struct annotation_count *c = &annotate_counts(ui)[at];
	struct plain_row *row = plain_list_add(list, line->addr, percent);
	const char *text = shown->listing->strings + line->text;

	if (!row)
		return;
	text += strspn(text, " ");
	snprintf(row->name, sizeof(row->name), "line %" PRIu64 "%s%.300s", line->addr,
		 *text ? ": " : "", text);
	snprintf(row->brief, sizeof(row->brief), "line %" PRIu64, line->addr);
	if (c->below)
		plain_row_add(row, "%.1f in what it calls", percent_of(c->below, sum(ui)->total));
}

/* What the screen says above the lines. */
static void tell_source(const struct annotate *a, struct plain_list *list)
{
	const struct listing *l = a->shown ? a->shown->listing : NULL;

	snprintf(list->title, sizeof(list->title),
		 "Lines of %.150s in %.200s by samples at them and below, %%%s%.100s", a->wish.name,
		 a->wish.module,
		 l && l->lines_missing ? "; no text: "
		 : l && l->newer       ? "; the file was changed after its process began"
				       : "",
		 l && l->lines_missing ? l->lines_missing : "");
}

int annotate_plain(const struct ui *ui, struct plain_list *list)
{
	const struct annotate *a = annotate_of(ui);
	const struct annotation *shown = a->shown;
	const struct annotation_count *counts;
	const struct listing *l;
	struct hot *hot;
	uint64_t all = 0;

	snprintf(list->title, sizeof(list->title), "Machine code of %.300s by samples at it, %%",
		 a->wish.name);
	if (annotate_has_source(a))
		tell_source(a, list);
	if (!shown || shown->state != ANNOTATION_READY) {
		snprintf(list->empty, sizeof(list->empty), "%s",
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
		hot[i] = (struct hot){counts[i].self + (l->source ? counts[i].below : 0), i};
		all += counts[i].self;
	}
	if (l->source)
		all = sum(ui)->total;
	qsort(hot, l->ninsns, sizeof(*hot), by_self);
	for (uint32_t i = 0; i < l->ninsns && hot[i].self; i++)
		(l->source ? add_line : add_insn)(ui, list, hot[i].insn,
						  percent_of(hot[i].self, all));
	snprintf(list->empty, sizeof(list->empty), "No sample was at %s of it.",
		 l->source ? "a line" : "an instruction");
	free(hot);
	return 0;
}
