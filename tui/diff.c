/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both profiles go into one tree of frames by what is written on them: side 1 of it is what was
 * before, side 0 what is now. Shares are compared, not counts, since no two runs are equally long.
 */
#include "tui/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "tui/export/batch.h"
#include "tui/export/export_model.h"
#include "tui/profile/source.h"
#include "tui/export/export_priv.h"
#include "tui/export/flametree.h"
#include "tui/options.h"
#include "tui/import/import.h"
#include "tui/session/player.h"
#include "tui/util/share.h"

#define NOW	    0
#define BEFORE	    1
#define FUNCS_SHOWN 40
#define PROCS_SHOWN 20
#define CELLS_MAX   500000

struct diff {
	const struct options *options;
	struct flametree tree;
	struct batch_event event[2];
	enum export_unit unit[2];
	char *error;
	size_t size;
};

/* --- both sides ------------------------------------------------------------------------------ */

/* What only counts samples (folded stacks) may have counted anything: -e says what. */
static bool is_plain(struct profile *p)
{
	struct profile_health health;

	profile_lock(p);
	query_health(p, &health);
	profile_unlock(p);
	return !health.waits && !strcmp(health.event, IMPORT_SAMPLES);
}

static int take_slices(struct source *source, struct profile *p, const char *path, struct query *q,
		       struct batch_event *event, struct export_model *c)
{
	struct pollfd fd = {.fd = source->event, .events = POLLIN};
	uint64_t seen = 0, slices, n;
	bool finished = false;
	int err = 0;

	while (!err && !finished) {
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return -errno;
		if (fd.revents && read(fd.fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
			return -errno;
		finished = source->finished;
		slices = source->slices;
		if (slices == seen)
			continue;
		batch_event(stderr, path, p, event);
		if (is_plain(p))
			q->measure = MEASURE_CPU;
		profile_lock(p);
		err = export_model_add(c, p, q);
		profile_unlock(p);
		source_post(source, SOURCE_NEXT, NULL);
		seen = slices;
	}
	return err;
}

static int read_side(struct diff *d, int side, const char *path)
{
	struct player_options options = options_player(d->options);
	struct query q = options_query(d->options);
	struct profile *p = profile_new(1, CELLS_MAX);
	struct source *source = NULL;
	struct export_model capture = {0};
	int err;

	if (!p)
		return -ENOMEM;
	options.path = path;
	options.batch = true;
	err = player_new(p, &options, &source, d->error, d->size);
	if (!err)
		err = take_slices(source, p, path, &q, &d->event[side], &capture);
	if (!err)
		err = export_svg_samples(&d->tree, &capture, side, true);
	d->unit[side] =
		d->options->measure != MEASURE_CPU ? EXPORT_TIME : export_model_unit(&capture);
	source_free(source);
	export_model_free(&capture);
	profile_free(p);
	if (err == -ENOMSG) { /* an empty file has no samples */
		*d->error = '\0';
		err = 0;
	}
	if (err && !*d->error)
		snprintf(d->error, d->size, "%s: %s", path, strerror(-err));
	return err;
}

/* --- folded, with two counts ----------------------------------------------------------------- */

static void write_path(FILE *to, const struct flametree *t, uint32_t node)
{
	uint32_t path[FLAMETREE_DEPTH_MAX + 1], n = 0;

	for (; node; node = t->nodes[node].parent)
		path[n++] = node;
	while (n--)
		fprintf(to, "%s%s", flametree_name(t, path[n]), n ? ";" : "");
}

static void write_folded(FILE *to, const struct flametree *t)
{
	for (uint32_t i = 1; i < t->nnodes; i++) {
		const struct flametree_node *node = &t->nodes[i];

		if (!node->self[NOW] && !node->self[BEFORE])
			continue;
		write_path(to, t, i);
		fprintf(to, " %" PRIu64 " %" PRIu64 "\n", node->self[BEFORE], node->self[NOW]);
	}
}

/* --- text ------------------------------------------------------------------------------------ */

struct diff_row { /* of a frame's text, wherever it stands */
	uint32_t frame;
	bool proc;
	uint64_t self[2], total[2];
	double points; /* of the self share; of the total one for processes */
	double total_points;
};

static double share(const struct flametree *t, uint64_t count, int side)
{
	return percent_of(count, t->nodes->total[side]);
}

static double points(const struct flametree *t, const uint64_t counts[2])
{
	return share(t, counts[NOW], NOW) - share(t, counts[BEFORE], BEFORE);
}

/* In the order of the tree, so that what a node stands below is known without looking up. */
static void sum_nodes(const struct flametree *t, struct diff_row *changes, uint32_t *open)
{
	uint32_t node = t->nodes->first;

	while (node != FLAMETREE_NONE && node) {
		const struct flametree_node *n = &t->nodes[node];
		struct diff_row *change = &changes[n->frame];
		uint32_t next = n->first;

		for (int side = 0; side < 2; side++) {
			change->self[side] += n->self[side];
			/* Recursion counts once: a frame below itself is in the total already. */
			if (!open[n->frame])
				change->total[side] += n->total[side];
		}
		open[n->frame]++;
		change->proc |= n->depth == 1;
		for (; next == FLAMETREE_NONE && node; node = t->nodes[node].parent) {
			open[t->nodes[node].frame]--;
			next = t->nodes[node].next;
		}
		node = next;
	}
}

/* By text where changes are equal, so that the order is that of no file. */
static int by_change(const void *a, const void *b, void *arg)
{
	const struct diff_row *x = a, *y = b;
	const struct flametree *t = arg;

	return ORDER(y->proc, x->proc)
		       ?: most_first(fabs(x->points), fabs(y->points))
		       ?: most_first(fabs(x->total_points), fabs(y->total_points))
		       ?: strcmp(t->pool.text + t->frames[x->frame].name,
				 t->pool.text + t->frames[y->frame].name);
}

static void write_changes(FILE *to, const struct flametree *t, const struct diff_row *changes,
			  uint32_t count)
{
	uint32_t i, procs = 0;

	fprintf(to, "\n%8s %8s %8s  %s\n", "BEFORE", "NOW", "CHANGE", "PROCESS");
	for (i = 0; i < count && changes[i].proc; i++)
		if (procs++ < PROCS_SHOWN)
			fprintf(to, "%8.2f %8.2f %+8.2f  %s\n",
				share(t, changes[i].total[BEFORE], BEFORE),
				share(t, changes[i].total[NOW], NOW), changes[i].points,
				t->pool.text + t->frames[changes[i].frame].name);
	if (procs > PROCS_SHOWN)
		fprintf(to, "%28sand %u more\n", "", procs - PROCS_SHOWN);
	fprintf(to, "\n%26s  %26s\n%8s %8s %8s  %8s %8s %8s  %s\n", "SELF", "TOTAL", "BEFORE",
		"NOW", "CHANGE", "BEFORE", "NOW", "CHANGE", "FUNCTION");
	for (uint32_t n = 0; i < count && n < FUNCS_SHOWN; i++, n++)
		fprintf(to, "%8.2f %8.2f %+8.2f  %8.2f %8.2f %+8.2f  %s\n",
			share(t, changes[i].self[BEFORE], BEFORE),
			share(t, changes[i].self[NOW], NOW), changes[i].points,
			share(t, changes[i].total[BEFORE], BEFORE),
			share(t, changes[i].total[NOW], NOW), changes[i].total_points,
			t->pool.text + t->frames[changes[i].frame].name);
	if (i < count)
		fprintf(to, "%56sand %u more\n", "", count - i);
}

static const char *counted(const struct diff *d, int side)
{
	return d->unit[side] == EXPORT_TIME	? "time"
	       : d->unit[side] == EXPORT_EVENTS ? d->event[side].name
						: "samples";
}

/* What a side has in all. */
static const char *all_text(const struct diff *d, int side, char *to, size_t size)
{
	const uint64_t all = d->tree.nodes->total[side];

	if (d->unit[side] == EXPORT_TIME)
		return export_span(to, size, all);
	snprintf(to, size, "%" PRIu64 " %s", all, counted(d, side));
	return to;
}

static int write_text(FILE *to, const struct diff *d)
{
	const struct flametree *t = &d->tree;
	struct diff_row *changes = calloc(t->nframes, sizeof(*changes));
	uint32_t *open = calloc(t->nframes, sizeof(*open)), count = 0;
	char a[256], b[256], before[64], now[64];

	if (!changes || !open) {
		free(changes);
		free(open);
		return -ENOMEM;
	}
	sum_nodes(t, changes, open);
	for (uint32_t i = 0; i < t->nframes; i++) {
		struct diff_row change = changes[i];

		if (!change.total[NOW] && !change.total[BEFORE])
			continue;
		change.frame = i;
		change.total_points = points(t, change.total);
		change.points = change.proc ? change.total_points : points(t, change.self);
		changes[count++] = change;
	}
	qsort_r(changes, count, sizeof(*changes), by_change, (void *)(uintptr_t)t);
	text_clean(a, sizeof(a), d->options->diff[0], strlen(d->options->diff[0]));
	text_clean(b, sizeof(b), d->options->diff[1], strlen(d->options->diff[1]));
	fprintf(to,
		"stacktop  before: %s, %s; now: %s, %s\n"
		"shares in %% of all %s; changes in percentage points\n",
		a, all_text(d, BEFORE, before, sizeof(before)), b,
		all_text(d, NOW, now, sizeof(now)), counted(d, NOW));
	write_changes(to, t, changes, count);
	free(changes);
	free(open);
	return 0;
}

/* Shares are compared, and those of two events are not of the same thing. */
static void warn_events(FILE *to, const struct diff *d)
{
	const char *before = d->event[BEFORE].name, *now = d->event[NOW].name;
	char a[256], b[256], of_a[64], of_b[64];

	if (!*before || !*now || strcmp(before, now) == 0)
		return;
	/* Files of folded stacks and the like do not say of what their samples are. */
	if (strcmp(before, IMPORT_SAMPLES) == 0 || strcmp(now, IMPORT_SAMPLES) == 0)
		return;
	text_clean(a, sizeof(a), d->options->diff[0], strlen(d->options->diff[0]));
	text_clean(b, sizeof(b), d->options->diff[1], strlen(d->options->diff[1]));
	text_clean(of_a, sizeof(of_a), before, strlen(before));
	text_clean(of_b, sizeof(of_b), now, strlen(now));
	fprintf(to,
		"stacktop: warning: %s has samples of %s, %s of %s: their shares are not of the "
		"same thing\n",
		a, of_a, b, of_b);
}

/* --- all ------------------------------------------------------------------------------------- */

static int write_drawing(FILE *to, struct diff *d, const struct theme *theme)
{
	struct svg_look look = {.flame = d->options->format == FORMAT_FLAME,
				.diff = true,
				.unit = d->unit[NOW],
				.counted = counted(d, NOW)};
	char title[320];

	snprintf(title, sizeof(title), "%.120s beside %.120s", d->options->diff[1],
		 d->options->diff[0]);
	look.title = title;
	return export_svg_tree(to, &d->tree, theme, &look);
}

int diff_write(FILE *to, const struct options *options, const struct theme *theme, char *error,
	       size_t size)
{
	struct diff d = {.options = options, .error = error, .size = size};
	int err = flametree_new(&d.tree, "all");

	*error = '\0';
	if (!err)
		err = read_side(&d, BEFORE, options->diff[0]);
	if (!err)
		err = read_side(&d, NOW, options->diff[1]);
	if (!err)
		warn_events(stderr, &d);
	if (!err)
		err = flametree_sort(&d.tree);
	if (!err && options->format == FORMAT_TEXT)
		err = write_text(to, &d);
	else if (!err && options->format == FORMAT_FOLDED)
		write_folded(to, &d.tree);
	else if (!err)
		err = write_drawing(to, &d, theme);
	flametree_free(&d.tree);
	if (err && !*error)
		snprintf(error, size, "%s", strerror(-err));
	errno = 0;
	if (!err && (fflush(to) || ferror(to)))
		err = errno ? -errno : -EIO;
	return err;
}
