// SPDX-License-Identifier: GPL-2.0-or-later
/* See plain_writer.h. */
#include "tui/app/plain_writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "symbols/base/text.h"
#include "tui/profile/reasons.h"
#include "tui/views/inspector.h"
#include "tui/ui/chips.h"
#include "tui/ui/replay_keys.h"
#include "tui/ui/view.h"
#include "tui/util/share.h"

/* A row has moved if it did so by this much of the whole, and by this part of what it was. */
#define MOVED_PERCENT 1.0
#define MOVED_PART    0.05

/* One row of names and numbers as a line. */
__attribute__((format(printf, 2, 3))) static void line(FILE *to, const char *format, ...)
{
	char text[1400], clean[1400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_clean(clean, sizeof(clean), text, strlen(text));
	fprintf(to, "%s\n", clean);
}

void plain_writer_state(struct plain_writer *t, FILE *to, const struct ui *ui)
{
	const struct profile_health *last = &ui->header.last, *sum = &ui->header.sum;
	double seconds = (double)last->elapsed / 1e9;
	double due = profile_full(last) * (profile_is_time(last) ? last->ncpus : 1);
	uint64_t lost = profile_lost(sum);
	char when[96], chips[512];

	if (ui->header.replayed)
		replay_keys_state(ui, when, sizeof(when));
	else
		snprintf(when, sizeof(when), "%s", ui->clock);
	if (!ui->header.slices || due <= 0) {
		line(to, "%s: no samples yet", when);
		return;
	}
	line(to,
	     "%s: %.0f samples a second, %.1f %% user, %.1f %% kernel, %.1f %% of stacks complete, "
	     "%" PRIu64 " lost",
	     when, (double)last->samples / seconds, 100 * (double)last->user_samples / due,
	     100 * (double)last->kernel_samples / due,
	     sum->user_walks ? percent_of(sum->complete_walks, sum->user_walks) : 100.0, lost);
	chips_words(ui, chips, sizeof(chips));
	if (strcmp(chips, t->chips) == 0)
		return;
	line(to, "in force: %s", chips[0] ? chips : "nothing that changes the numbers");
	snprintf(t->chips, sizeof(t->chips), "%s", chips);
}

static void write_row(FILE *to, size_t at, const struct plain_row *row, const char *how)
{
	line(to, "%zu. %s%.1f %% %s%s%s", at + 1, how, row->percent, row->name,
	     row->more[0] ? "; " : "", row->more);
}

static const char *brief(const struct plain_row *row)
{
	return row->brief[0] ? row->brief : row->name;
}

static void write_all(struct plain_writer *t, FILE *to)
{
	line(to, "%s", t->now.title);
	if (t->now.empty[0] && !t->now.count)
		line(to, "%s", t->now.empty);
	for (size_t i = 0; i < t->now.count; i++)
		write_row(to, i, &t->now.rows[i], "");
	if (t->now.whole > t->now.count)
		line(to, "and %zu more", t->now.whole - t->now.count);
	t->said = t->now;
}

int plain_writer_all(struct plain_writer *t, FILE *to, const struct ui *ui)
{
	int err = plain_list_make(&t->now, ui);

	if (!err)
		write_all(t, to);
	return err;
}

static const struct plain_row *find(const struct plain_list *t, const struct plain_row *row)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].key == row->key && strcmp(t->rows[i].name, row->name) == 0)
			return &t->rows[i];
	return NULL;
}

static bool moved(double from, double to)
{
	double by = to > from ? to - from : from - to;

	return by >= MOVED_PERCENT && by >= MOVED_PART * from;
}

int plain_writer_news(struct plain_writer *t, FILE *to, const struct ui *ui)
{
	int err = plain_list_make(&t->now, ui);

	if (err)
		return err;
	if (strcmp(t->now.title, t->said.title) != 0 || (!t->said.count && t->now.count)) {
		write_all(t, to);
		return 0;
	}
	for (size_t i = 0; i < t->now.count; i++) {
		struct plain_row *row = &t->now.rows[i];
		const struct plain_row *before = find(&t->said, row);

		if (!before) {
			write_row(to, i, row, "new: ");
		} else if (moved(before->percent, row->percent)) {
			line(to, "%zu. from %.1f to %.1f %% %s", i + 1, before->percent,
			     row->percent, brief(row));
		} else {
			/* Small steps add up until they are written. */
			row->percent = before->percent;
		}
	}
	for (size_t i = 0; i < t->said.count; i++)
		if (!find(&t->now, &t->said.rows[i]))
			line(to, "no longer in the list: %s, %.1f %% before",
			     brief(&t->said.rows[i]), t->said.rows[i].percent);
	/* Also if the reason is another one. */
	if (!t->now.count && (t->said.count || strcmp(t->now.empty, t->said.empty) != 0))
		line(to, "%s", t->now.empty);
	t->said = t->now;
	return 0;
}

bool plain_writer_cursor(const struct ui *ui, char *to, size_t size)
{
	const struct view_ops *view = view_get(ui);
	const struct profile_func *func = view->function ? view->function(ui) : NULL;
	pid_t pid = 0;
	uint64_t image;

	if (ui->overlay.ops)
		return false;
	if (ui->view == VIEW_PROCS && !ui->grouping) {
		procs_under_cursor(ui, &pid, &image);
		snprintf(to, size, "PID %d", (int)pid);
		return pid != 0;
	}
	if (!func || ui->view == VIEW_PROCS)
		return false;
	plain_func(func, to, size);
	return true;
}

void plain_writer_walk(FILE *to, const struct inspection *walk)
{
	const struct trace *t = walk->trace;
	const struct capture_record *c = &t->capture;
	char why[512];
	uint32_t first;

	line(to, "A walk of PID %u %s, thread %u, on CPU %u, %s code, %u frames, %s", c->tgid,
	     walk->comm, c->tid, c->cpu, c->user_mode ? "user" : "kernel", c->nframes,
	     reasons_end(c->reason)->name);
	for (uint32_t i = 0; i < t->nsteps; i++) {
		const struct inspection_frame *f = &walk->frames[i];

		line(to, "frame %u: %s plus 0x%" PRIx64 "%s%s", i, f->name[0] ? f->name : "unknown",
		     f->offset, f->module[0] ? " in " : "", f->module);
	}
	inspection_compare(walk, &first, why, sizeof(why));
	line(to, "%s", why);
	line(to, "\"step 0\" tells how the caller of frame 0 was found, and so on");
}

bool plain_writer_step(FILE *to, const struct inspection *walk, unsigned int frame)
{
	char words[INSPECTOR_LINES][INSPECTOR_WIDTH];
	int n;

	if (frame >= walk->trace->nsteps)
		return false;
	n = inspector_words(walk, frame, words);
	for (int i = 0; i < n; i++)
		line(to, "%s", words[i]);
	return true;
}
