// SPDX-License-Identifier: GPL-2.0-or-later
/* See inspector.h. */
#include "tui/views/inspector.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "tui/profile/board.h"
#include "tui/views/annotate.h"
#include "tui/profile/reasons.h"
#include "tui/profile/source.h"
#include "tui/screen/hints.h"

#define COLS_FOR_BOTH 90 /* frames and memory beside the step */
#define ROWS_FOR_BOTH 12
#define ROWS_FOR_FEW  11 /* of frames beside a step that is short of room */
#define DETAIL	      "          "

void inspector_free(struct inspector *i)
{
	inspection_put(i->shown);
	i->shown = NULL;
}

/* A recording takes no commands: it has the walk that was captured last, of any process. */
static void ask_recorded(struct ui *ui, struct inspector *i)
{
	struct inspection *last;

	profile_lock(ui->profile);
	last = board_inspection(profile_board(ui->profile));
	if (last) {
		i->open = true;
		i->pid = (pid_t)last->trace->capture.tgid;
		inspector_load(i, ui->profile);
	}
	profile_unlock(ui->profile);
	ui_notice(ui, last ? "the walk that was captured last"
			   : "no walk had been captured by then: i captures one in the live view");
	inspection_put(last);
}

void inspector_ask(struct ui *ui, struct inspector *i, pid_t pid, unsigned int reason)
{
	char arg[48];

	if (ui->frozen) {
		ui_notice(ui, "the view is frozen: z resumes first");
		return;
	}
	if (ui->header.replayed) {
		ask_recorded(ui, i);
		return;
	}
	i->open = true;
	i->pid = pid;
	i->reason = reason;
	i->gone = false;
	i->proc.pid = i->state.pid = 0;
	i->proc.comm[0] = '\0';
	i->proc.kthread = false;
	i->asked = ui->now;
	snprintf(arg, sizeof(arg), "%d %u", (int)pid, reason);
	ui_post(ui, SOURCE_INSPECT, arg);
	ui_notice(ui, "catching the next walk of %d", (int)pid);
}

/* What is known of the process, without a walk. */
static void look(struct inspector *i, const struct profile *p)
{
	const uint32_t id = query_pid(p, i->pid);

	if (!board_procstate(profile_board(p), i->pid, &i->state))
		i->state.pid = 0;
	/* One without samples may be unknown to the profile. */
	i->gone = i->state.pid ? !i->state.state : id == QUERY_ALL && i->proc.pid;
	if (id != QUERY_ALL)
		i->proc = *query_proc(p, id);
}

void inspector_load(struct inspector *i, const struct profile *p)
{
	struct inspection *now = board_inspection(profile_board(p));

	look(i, p);
	if (!now || now == i->shown || (pid_t)now->trace->capture.tgid != i->pid) {
		inspection_put(now);
		return;
	}
	inspection_put(i->shown);
	i->shown = now;
	i->frames = (struct list){.count = now->trace->nsteps};
}

/* The walk that is shown is of the chosen process. */
static const struct trace *trace_of(const struct inspector *i)
{
	if (!i->shown || (pid_t)i->shown->trace->capture.tgid != i->pid)
		return NULL;
	return i->shown->trace;
}

bool inspector_waits(const struct inspector *i)
{
	return inspector_hopes(i) && !trace_of(i);
}

/* --- drawing ------------------------------------------------------------------------------- */

/* How it ended is always shown; the rest if there is room. */
static void draw_title(const struct inspector *i, const struct trace *t, struct grid *g, int row)
{
	const struct capture_record *c = &t->capture;
	const char *end = reasons_end(c->reason)->name;
	int room = g->cols - grid_width(g, end) - 2, col = 0;
	char pieces[5][64];

	snprintf(pieces[0], sizeof(pieces[0]), " pid %u", c->tgid);
	snprintf(pieces[1], sizeof(pieces[1]), " %s", i->shown->comm);
	snprintf(pieces[2], sizeof(pieces[2]), "  %u frames", c->nframes);
	snprintf(pieces[3], sizeof(pieces[3]), "  tid %u", c->tid);
	snprintf(pieces[4], sizeof(pieces[4]), "  %s code on cpu %u",
		 c->user_mode ? "user" : "kernel", c->cpu);
	for (int n = 0; n < 5 && grid_width(g, pieces[n]) <= room - col; n++)
		col += grid_put(g, row, col, room - col, n > 1 ? ROLE_TEXT : ROLE_TITLE, pieces[n]);
	grid_printf(g, row, col, g->cols - col, walk_is_complete(c->reason) ? ROLE_OK : ROLE_BROKEN,
		    "  %s", end);
}

/* Returns the column behind the text. */
static int draw_heading(struct grid *g, int row, int col, int width, const char *text)
{
	grid_line(g, row, col, width, ROLE_BORDER, GLYPH_HLINE);
	return col + 2 + grid_put(g, row, col + 2, width - 2, ROLE_TITLE, text);
}

/* Which frames are shown, at the right end of a rule, behind column col. */
static void draw_range(const struct inspector *i, int col, struct grid *g, int row)
{
	char range[LIST_RANGE];
	int at;

	list_range(&i->frames, range);
	at = g->cols - grid_width(g, range) - 4;
	if (range[0] && at > col)
		grid_printf(g, row, at, g->cols - at, ROLE_DIM, " %s ", range);
}

/* Where in its function a frame is, and that it runs frames of a language. */
static void tell_offset(const struct inspection *shown, uint32_t frame, char *to, size_t size)
{
	const struct inspection_frame *f = &shown->frames[frame];
	char runs[24] = "";

	for (uint32_t n = 0; n < shown->nruns; n++)
		if (shown->runs[n].frame == frame)
			snprintf(runs, sizeof(runs), "  runs %s", shown->runs[n].language);
	if (f->vaddr)
		snprintf(to, size, "+0x%" PRIx64 "%s", f->offset, runs);
	else
		snprintf(to, size, "%s", runs);
}

static void draw_frames(const struct ui *ui, struct inspector *i, const struct trace *t,
			struct grid *g, int top, int rows, int width)
{
	list_settle(&i->frames, rows > 0 ? (size_t)rows : 1);
	for (int y = 0; y < rows; y++) {
		size_t at = i->frames.top + (size_t)y;
		const struct inspection_frame *f = &i->shown->frames[at];
		enum role role = ROLE_TEXT;
		char text[320], offset[48];
		int room;

		if (at >= t->nsteps)
			break;
		if (t->steps[at].reason != WALK_CONTINUE && !walk_is_complete(t->steps[at].reason))
			role = ROLE_BROKEN;
		if (search_matches(ui, f->name))
			role = ROLE_MATCH;
		tell_offset(i->shown, (uint32_t)at, offset, sizeof(offset));
		snprintf(text, sizeof(text), "%s%3zu %012" PRIx64 " %s",
			 at == i->frames.cursor ? ">" : " ", at, t->steps[at].pc,
			 f->name[0] ? f->name : "?");
		/* Of a long name the end goes, not where in the function it is. */
		room = width - (int)strlen(offset);
		if (room > grid_width(g, text))
			room = grid_width(g, text);
		grid_fit(g, top + y, 0, room, role, text);
		grid_fit(g, top + y, room, width - room, role, offset);
	}
	list_draw_scroll(&i->frames, g, top, rows, width - 1);
	if (rows > 0)
		grid_role(g, top + (int)(i->frames.cursor - i->frames.top), 0, width, ROLE_CURSOR);
}

static const char *word_mark(const struct trace_step *s, uint64_t addr)
{
	return addr == s->cfa		? "< CFA"
	       : addr == s->ra_at	? "< RA"
	       : addr == s->fp_at	? "< " ARCH_FP_CAPITALS
	       : addr == s->sp		? "< " ARCH_SP_NAME
	       : addr == s->fp && s->fp ? "< " ARCH_FP_NAME " here"
					: "";
}

/* The frame's words, high addresses first; of a large frame its top, where what counts stands. */
static void draw_memory(const struct trace *t, uint32_t frame, struct grid *g, int top, int rows,
			int width)
{
	const struct trace_step *s = &t->steps[frame];
	uint64_t high = s->cfa ? s->cfa : s->sp + 8 * (uint64_t)rows;

	for (int y = 0; y < rows; y++) {
		uint64_t addr = high - 8 * (uint64_t)y, value;
		const char *mark = word_mark(s, addr);
		char text[96];

		if (y == rows - 1 && addr > s->sp) {
			addr = s->sp;
			mark = word_mark(s, addr);
			if (y)
				grid_fit(g, top + y - 1, 1, width - 1, ROLE_DIM, "...");
		}
		if (addr < s->sp)
			break;
		if (trace_word(t, addr, &value))
			snprintf(text, sizeof(text), "%012" PRIx64 "  %016" PRIx64 "  %s", addr,
				 value, mark);
		else
			snprintf(text, sizeof(text), "%012" PRIx64 "  not captured      %s", addr,
				 mark);
		grid_fit(g, top + y, 1, width - 1, *mark ? ROLE_TITLE : ROLE_DIM, text);
	}
}

/* What does not fit: first the lines that go on with the one before, written or broken. */
static void draw_step(const struct inspector *i, uint32_t frame, struct grid *g, int top, int rows,
		      int col)
{
	char lines[INSPECTOR_LINES][INSPECTOR_WIDTH];
	int n = inspector_words(i->shown, frame, lines), left = -rows;

	for (int line = 0; line < n; line++)
		left += grid_words(g, top, 0, col, g->cols - col, (int)strlen(DETAIL), ROLE_TEXT,
				   lines[line]);
	for (int line = 0, y = 0; line < n && y < rows; line++) {
		int takes = grid_words(g, top, 0, col, g->cols - col, (int)strlen(DETAIL),
				       ROLE_TEXT, lines[line]);

		if (left > 0 && strncmp(lines[line], DETAIL, strlen(DETAIL)) == 0) {
			left -= takes;
			continue;
		}
		while (left > 0 && takes > 1) {
			left--;
			takes--;
		}
		takes = takes < rows - y ? takes : rows - y;
		grid_words(g, top + y, takes, col, g->cols - col, (int)strlen(DETAIL),
			   strncmp(lines[line], "  end", 5) ? ROLE_TEXT : ROLE_BROKEN, lines[line]);
		y += takes;
	}
}

/* Draws the comparison into at most that many rows, and whether the steps are those of the
 * program; returns the rows that all of it takes. */
static int draw_why(const struct inspector *i, const struct trace *t, struct grid *g, int top,
		    int rows)
{
	char text[512];
	uint32_t first;
	int n;

	inspection_compare(i->shown, &first, text, sizeof(text));
	n = grid_words(g, top, rows - 1, 1, g->cols - 1, 2, ROLE_TEXT, text) + 1;
	if (rows > 0)
		grid_fit(g, top + (n < rows ? n : rows) - 1, 1, g->cols - 1,
			 t->agrees ? ROLE_OK : ROLE_WARN,
			 t->agrees ? "These steps give the very frames that the program gave."
			 : t->short_of
				 ? "The steps end where the captured 16 KiB of the stack do."
				 : "These steps give other frames than the program: tables have "
				   "changed since.");
	return n;
}

static const struct hint hints[] = {
	{ACTION_UP, ACTION_DOWN, "frames"},
	{ACTION_DEEPER, ACTION_NONE, "its caller"},
	{ACTION_ANNOTATE, ACTION_NONE, "code"},
	{ACTION_CFI, ACTION_NONE, "raw CFI"},
	{ACTION_INSPECT, ACTION_NONE, "another walk"},
	{ACTION_BACK, ACTION_NONE, "back"},
};

#define HINTS	   (sizeof(hints) / sizeof(hints[0]))
#define HINTS_LESS 1 /* the first that stands in a heading */

static void draw_wide(const struct ui *ui, struct inspector *i, const struct trace *t,
		      struct grid *g, int top, int rows)
{
	uint32_t frame = (uint32_t)i->frames.cursor;
	int width = g->cols / 2 - 1, frames = rows / 2 - 1;
	char text[80], range[LIST_RANGE];

	if ((int)t->nsteps < frames)
		frames = (int)t->nsteps;
	draw_frames(ui, i, t, g, top + 1, frames, width);
	list_range(&i->frames, range);
	snprintf(text, sizeof(text), " Frames %s ", range);
	draw_heading(g, top, 0, width, text);
	draw_heading(g, top + 1 + frames, 0, width, " Stack memory, 64-bit words ");
	draw_memory(t, frame, g, top + 2 + frames, rows - frames - 2, width);
	for (int y = 0; y < rows; y++)
		grid_line(g, top + y, width, 1, ROLE_BORDER, GLYPH_VLINE);
	snprintf(text, sizeof(text), " Who called frame %u? ", frame);
	draw_heading(g, top, width + 1, g->cols - width - 1, text);
	draw_step(i, frame, g, top + 1, rows - 1, width + 2);
}

/* foot: there is a row of keys below. */
static void draw_narrow(const struct ui *ui, struct inspector *i, const struct trace *t,
			struct grid *g, int top, int rows, bool foot)
{
	int frames = rows < ROWS_FOR_FEW ? 1 : rows / 4;
	char text[80];

	draw_frames(ui, i, t, g, top, frames, g->cols);
	snprintf(text, sizeof(text), " Who called frame %zu? ", i->frames.cursor);
	if (rows > frames && foot)
		draw_range(i, draw_heading(g, top + frames, 0, g->cols, text), g, top + frames);
	else if (rows > frames)
		hints_heading(&ui->config.keys, hints + HINTS_LESS, HINTS - HINTS_LESS, g,
			      top + frames, text);
	draw_step(i, (uint32_t)i->frames.cursor, g, top + frames + 1, rows - frames - 1, 1);
}

void inspector_draw(const struct ui *ui, struct inspector *i, struct grid *g, int top, int rows)
{
	const struct trace *t = trace_of(i);
	bool foot = rows >= ROWS_FOR_BOTH;
	int why = 0;

	if (!t || !t->nsteps) {
		inspector_draw_wait(ui, i, g, top, rows);
		return;
	}
	draw_title(i, t, g, top);
	if (foot) {
		hints_draw(&ui->config.keys, hints, HINTS, g, top + rows-- - 1, ROLE_DIM);
		why = draw_why(i, t, g, 0, 0);
		why = why < rows / 4 ? why : rows / 4;
		draw_why(i, t, g, top + rows - why, why);
	}
	rows -= why + 1;
	list_settle(&i->frames, i->frames.page);
	if (g->cols >= COLS_FOR_BOTH && rows >= ROWS_FOR_BOTH)
		draw_wide(ui, i, t, g, top + 1, rows);
	else if (rows > 0)
		draw_narrow(ui, i, t, g, top + 1, rows, foot);
}

/* --- keys ---------------------------------------------------------------------------------- */

/* The function of the frame under the cursor, as the file has it. */
static unsigned int show_code(struct ui *ui, const struct inspector *i, bool cfi)
{
	const struct trace *t = trace_of(i);
	const struct inspection_frame *f;
	struct profile_func func = {.kind = FUNC_USER};

	if (!t || !t->nsteps)
		return UI_REDRAW;
	f = &i->shown->frames[i->frames.cursor];
	if (!strcmp(f->module, "[jit]") || !strcmp(f->name, "[jit]")) {
		func.kind = FUNC_JIT;
	} else if (!f->vaddr) {
		ui_notice(ui, "the address of this frame is in no file");
		return UI_REDRAW;
	}
	func.name = f->name;
	func.module = f->module;
	return annotate_frame(ui, &func, (pid_t)t->capture.tgid, t->capture.exec_id,
			      t->steps[i->frames.cursor].frame, cfi);
}

unsigned int inspector_key(struct ui *ui, struct inspector *i, enum action action)
{
	if (list_move(&i->frames, action))
		return UI_REDRAW;
	switch (action) {
	case ACTION_INSPECT:
		inspector_ask(ui, i, i->pid, i->reason);
		return UI_REDRAW;
	case ACTION_ANNOTATE:
	case ACTION_CFI:
		return show_code(ui, i, action == ACTION_CFI);
	case ACTION_DEEPER:
		list_move(&i->frames, ACTION_DOWN);
		return UI_REDRAW;
	case ACTION_BACK:
		i->open = false;
		return UI_RELOAD;
	default:
		return 0;
	}
}

bool inspector_find(struct ui *ui, struct inspector *i, int step, bool here)
{
	return i->shown &&
	       LIST_FIND(&i->frames, step, here, at, search_matches(ui, i->shown->frames[at].name));
}
