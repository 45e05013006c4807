// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One table of what can change the meaning of the numbers, so that nothing that does is forgotten
 * on a small screen or in another view: for each, when it holds, where it counts, its words, and
 * its end.
 */
#include "tui/ui/chips.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/hints.h"
#include "tui/ui/attach.h"
#include "tui/ui/pushing.h"
#include "tui/ui/record.h"
#include "tui/ui/scrub.h"
#include "tui/ui/selection.h"
#include "tui/ui/ui.h"

#define CHIP_LEAST 8 /* cells of a text that is shortened */

/* --- when each holds, and its words ---------------------------------------------------------- */

/* Where the samples of a zoom or of tagged processes are counted. */
#define IN_SUMS (VIEW_BIT(VIEW_FUNCS) | IN_CALLS | IN_WAITS)

static bool attached_text(const struct ui *ui, char *to, size_t size)
{
	const struct profile_health *last = &ui->header.last;

	snprintf(to, size, "attached %u/%u", last->nattached, last->nprocs);
	return last->filtering;
}

static bool zoom_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "zoom %s", ui->zoom.name);
	return ui->zoom.on;
}

static bool thread_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "%s", ui->zoom.thread);
	return ui->zoom.on && ui->zoom.tid;
}

static bool module_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "module %s", ui->zoom.module);
	return ui->zoom.in_module;
}

/* "cpu 2", since a number alone needs no syntax. */
static bool filter_text(const struct ui *ui, char *to, size_t size)
{
	const struct filter *f = &ui->selection->filter;
	const char *colon =
		f->set && f->of == FILTER_OF_CPU && !f->negated ? strchr(f->text, ':') : NULL;

	snprintf(to, size, "%s %s", colon ? "cpu" : "filter", colon ? colon + 1 : f->text);
	return f->set;
}

static bool tagged_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "tagged %zu", ui->selection->tags.count);
	return ui->selection->tags.count > 0;
}

static bool span_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "%s", ui_weighed(ui));
	return ui->frozen ? ui->scrub.weighed && ui->span != SPAN_WINDOW
			  : ui_weighed(ui) != ui->window_name;
}

static bool diff_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "vs %s", ui->scrub.base_name);
	return ui->scrub.diff;
}

static bool cut_text(const struct ui *ui, char *to, size_t size)
{
	const struct profile_replay *r = &ui->header.replay;
	const unsigned long long from = r->from / 1000000000u, until = r->length / 1000000000u;

	snprintf(to, size, "cut %llu:%02llu-%llu:%02llu", from / 60, from % 60, until / 60,
		 until % 60);
	return ui->header.replayed && r->cut;
}

static bool frozen_text(const struct ui *ui, char *to, size_t size)
{
	char age[64];

	if (ui->frozen) {
		scrub_age(ui, age, sizeof(age));
		snprintf(to, size, "frozen%s%s", age[0] ? " " : "", age);
	}
	return ui->frozen;
}

static bool frames_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "frames %s", query_frames_name(ui->frames));
	return ui->frames != FRAMES_MERGED;
}

static bool measure_text(const struct ui *ui, char *to, size_t size)
{
	snprintf(to, size, "%s", measure_name(ui->measure));
	return ui->measure != MEASURE_CPU;
}

static bool push_text(const struct ui *ui, char *to, size_t size)
{
	return pushing_words(ui, to, size);
}

#define CHIP_SWITCH(name, words, on)                                                               \
	static bool name##_text(const struct ui *ui, char *to, size_t size)                        \
	{                                                                                          \
		snprintf(to, size, "%s", words);                                                   \
		return on;                                                                         \
	}

CHIP_SWITCH(kernel, "-kernel", ui->hide_kernel)
CHIP_SWITCH(user, "-user", ui->hide_user)
CHIP_SWITCH(inline, "-inline", ui->hide_inline)
CHIP_SWITCH(files, "by file", ui->by_file)
CHIP_SWITCH(threads, "threads", ui->threads)
CHIP_SWITCH(recording, "REC", ui->recording)

static const struct {
	bool (*text)(const struct ui *ui, char *to, size_t size); /* true: it holds */
	unsigned int views; /* where it counts, if it does at all */
	enum role role;
} kinds[CHIP_COUNT] = {
	[CHIP_MEASURE] = {measure_text, IN_FRAMES, ROLE_MATCH},
	[CHIP_KERNEL] = {kernel_text, IN_FRAMES, ROLE_MATCH},
	[CHIP_USER] = {user_text, IN_FRAMES, ROLE_MATCH},
	[CHIP_INLINE] = {inline_text, IN_FRAMES, ROLE_MATCH},
	[CHIP_FRAMES] = {frames_text, IN_FRAMES, ROLE_MATCH},
	[CHIP_ATTACHED] = {attached_text, IN_ALL & ~IN_SHARDS, ROLE_MATCH},
	[CHIP_ZOOM] = {zoom_text, IN_SUMS | IN_UNWIND, ROLE_MATCH},
	[CHIP_THREAD] = {thread_text, IN_SUMS, ROLE_MATCH},
	[CHIP_MODULE] = {module_text, IN_SUMS, ROLE_MATCH},
	[CHIP_FILTER] = {filter_text, IN_ALL, ROLE_MATCH},
	[CHIP_TAGGED] = {tagged_text, IN_SUMS, ROLE_MATCH},
	[CHIP_THREADS] = {threads_text, IN_PROCS, ROLE_MATCH},
	[CHIP_FILES] = {files_text, VIEW_BIT(VIEW_FUNCS), ROLE_MATCH},
	[CHIP_SPAN] = {span_text, IN_ALL & ~IN_SHARDS, ROLE_MATCH},
	[CHIP_DIFF] = {diff_text, IN_FRAMES, ROLE_MATCH},
	[CHIP_CUT] = {cut_text, IN_ALL, ROLE_MATCH},
	[CHIP_RECORDING] = {recording_text, IN_ALL, ROLE_ERROR},
	[CHIP_PUSH] = {push_text, IN_ALL, ROLE_MATCH},
	[CHIP_FROZEN] = {frozen_text, IN_ALL, ROLE_PAUSED},
};

static bool counts_here(const struct ui *ui, enum chip_kind kind)
{
	if (!(kinds[kind].views & VIEW_BIT(ui->view)))
		return false;
	if (kind == CHIP_FILTER)
		return selection_meaning(ui) != NULL;
	/* Of one module there are only functions. */
	if (kind == CHIP_FILES)
		return !ui->zoom.in_module;
	return kind != CHIP_TAGGED || selection_sums(ui);
}

size_t chips_list(const struct ui *ui, struct chip chips[CHIP_COUNT])
{
	size_t n = 0;

	for (int kind = 0; kind < CHIP_COUNT; kind++) {
		struct chip *chip = &chips[n];

		if (!kinds[kind].text(ui, chip->text, sizeof(chip->text)))
			continue;
		chip->kind = (enum chip_kind)kind;
		chip->idle = !counts_here(ui, chip->kind);
		n++;
	}
	return n;
}

void chips_words(const struct ui *ui, char *to, size_t size)
{
	struct chip chips[CHIP_COUNT];
	size_t n = chips_list(ui, chips), length = 0;

	to[0] = '\0';
	for (size_t i = 0; i < n && length < size; i++)
		length += (size_t)snprintf(to + length, size - length, "%s%c%s%c", i ? " " : "",
					   chips[i].idle ? '(' : '[', chips[i].text,
					   chips[i].idle ? ')' : ']');
}

/* --- drawing --------------------------------------------------------------------------------- */

static int text_width(const struct grid *g, const struct chip *chip, int most)
{
	int width = grid_width(g, chip->text);

	return width < most ? width : most;
}

int chips_width(const struct grid *g, const struct chip *chips, size_t n, int most)
{
	int width = 0;

	for (size_t i = 0; i < n; i++)
		width += 3 + text_width(g, &chips[i], most);
	return width;
}

static int draw_one(struct grid *g, int row, int col, int room, const struct chip *chip, int most)
{
	int width = text_width(g, chip, most);
	enum role role = chip->idle ? ROLE_DIM : kinds[chip->kind].role;

	if (width > room - 2)
		width = room - 2;
	if (width < 1)
		return col;
	grid_put(g, row, col, 1, role, chip->idle ? "(" : "[");
	grid_fit(g, row, col + 1, width, role, chip->text);
	grid_put(g, row, col + 1 + width, 1, role, chip->idle ? ")" : "]");
	grid_zone(g, (struct zone){ZONE_CHIP, (int)chip->kind, NULL, row, 1, col, width + 2});
	return col + 2 + width;
}

/* Those behind `hidden` have room, with a number for the others. */
static bool chips_fit(const struct grid *g, const struct chip *chips, size_t n, size_t hidden,
		      int most, int room)
{
	int more = hidden ? (int)strlen(" [+12]") : 0;

	return more + chips_width(g, chips + hidden, n - hidden, most) <= room;
}

int chips_draw(struct grid *g, int row, int col, int room, const struct chip *chips, size_t n)
{
	const int end = col + room;
	int most = CHIP_LEAST;
	size_t hidden = 0;
	char more[32];

	/* The last ones stay: the key takes those back first. */
	while (hidden + 1 < n && !chips_fit(g, chips, n, hidden, most, room))
		hidden++;
	while (most < room && chips_fit(g, chips, n, hidden, most + 1, room))
		most++;
	if (hidden) {
		snprintf(more, sizeof(more), " [+%zu]", hidden);
		col += grid_put(g, row, col, end - col, ROLE_MATCH, more);
	}
	for (size_t i = hidden; i < n; i++)
		col = draw_one(g, row, col + 1, end - col - 1, &chips[i], most);
	return col;
}

/* --- taking back ----------------------------------------------------------------------------- */

/* What is so now, and the key that makes it as it was. */
static unsigned int again(struct ui *ui, const char *now, enum action action, const char *does)
{
	char words[96];

	hints_words(&ui->config.keys, action, does, words, sizeof(words));
	ui_notice(ui, "%s%s%s", now, words[0] ? "; " : "", words);
	return UI_RELOAD;
}

static unsigned int detach(struct ui *ui)
{
	unsigned int flags = attach_take(ui, "");

	return ui->header.replayed ? flags
				   : again(ui, "detaching: the whole machine is sampled",
					   ACTION_ATTACH, "attaches again");
}

static unsigned int fixed(struct ui *ui, const char *why)
{
	ui_notice(ui, "%s", why);
	return UI_REDRAW;
}

static unsigned int unzoom(struct ui *ui)
{
	ui->zoom.on = false;
	ui->zoom.tid = 0;
	return again(ui, "all processes", ACTION_ZOOM, "in Procs zooms into one");
}

/* A frozen view keeps the span that it was frozen with. */
static unsigned int unweigh(struct ui *ui)
{
	char now[64];

	if (ui->frozen)
		return fixed(ui, "the view is frozen: z resumes first");
	ui->span = SPAN_WINDOW;
	snprintf(now, sizeof(now), "shows the last %s", ui->window_name);
	return again(ui, now, ACTION_WEIGH, "shows other spans");
}

unsigned int chips_take_back(struct ui *ui, enum chip_kind kind)
{
	switch (kind) {
	case CHIP_KERNEL:
		ui->hide_kernel = false;
		return again(ui, "kernel frames are shown", ACTION_KERNEL, "hides them again");
	case CHIP_USER:
		ui->hide_user = false;
		return again(ui, "user frames are shown", ACTION_USER, "hides them again");
	case CHIP_INLINE:
		ui->hide_inline = false;
		return again(ui, "inlined calls are shown", ACTION_INLINE, "hides them again");
	case CHIP_FRAMES:
		ui->frames = FRAMES_MERGED;
		return again(ui, "interpreters give way to the frames that they run", ACTION_FRAMES,
			     "shows others");
	case CHIP_ATTACHED:
		return detach(ui);
	case CHIP_ZOOM:
		return unzoom(ui);
	case CHIP_THREAD:
		ui->zoom.tid = 0;
		return again(ui, "all threads of the process", ACTION_ZOOM_THREAD,
			     "in Procs zooms into one");
	case CHIP_MODULE:
		ui->zoom.in_module = false;
		return again(ui, "all modules", ACTION_ZOOM_MODULE, "zooms into one");
	case CHIP_FILTER:
		selection_filter(ui, "");
		return again(ui, "no filter", ACTION_FILTER, "and Up bring it back");
	case CHIP_TAGGED:
		selection_untag(ui);
		return again(ui, "no process is tagged", ACTION_TAG, "in Procs tags one");
	case CHIP_THREADS:
		ui->threads = false;
		return again(ui, "threads are counted with their process", ACTION_THREADS,
			     "shows them again");
	case CHIP_FILES:
		ui->by_file = false;
		return again(ui, "a row for each function", ACTION_SUM, "in Funcs sums by file");
	case CHIP_SPAN:
		return unweigh(ui);
	case CHIP_DIFF:
		scrub_act(ui, ACTION_DIFF);
		return again(ui, "the difference is not shown", ACTION_DIFF, "shows it again");
	case CHIP_CUT:
		return fixed(ui, "only this part is replayed: --from, --to and -n chose it");
	case CHIP_RECORDING:
		return record_stop(ui);
	case CHIP_PUSH:
		return push_stop_command(ui);
	case CHIP_FROZEN:
		scrub_act(ui, ACTION_LIVE);
		return again(ui, ui->header.replayed ? "the view goes on" : "live again",
			     ACTION_FREEZE, "freezes");
	default:
		return 0;
	}
}

/* Chips that cannot be taken back. */
static bool is_fixed(const struct ui *ui, enum chip_kind kind)
{
	return kind == CHIP_CUT || (kind == CHIP_ATTACHED && ui->header.replayed) ||
	       (kind == CHIP_RECORDING && !ui->record) || (kind == CHIP_PUSH && !ui->pushing);
}

unsigned int chips_take_last(struct ui *ui)
{
	struct chip chips[CHIP_COUNT];
	size_t n = chips_list(ui, chips);

	while (n && is_fixed(ui, chips[n - 1].kind))
		n--;
	if (n)
		return chips_take_back(ui, chips[n - 1].kind);
	ui_notice(ui, "nothing to take back: no chip stands in the header");
	return UI_REDRAW;
}
