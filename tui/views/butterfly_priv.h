/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_BUTTERFLY_PRIV_H
#define STACKTOP_TUI_VIEWS_BUTTERFLY_PRIV_H

/* The inside of the butterfly, for butterfly*.c only. */

#include "tui/profile/profile.h"
#include "tui/query/query.h"
#include "tui/screen/list.h"
#include "tui/ui/names.h"
#include "tui/ui/view.h"
#include "tui/views/butterfly.h"

#define VISITED_MAX 64 /* beyond, the first ones are forgotten */

enum wing { WING_CALLER, WING_MIDDLE, WING_CALLEE };

struct wing_row {
	enum wing wing;
	const struct profile_func *func; /* NULL: no caller, or no callee */
	uint64_t key;			 /* the same row in every refresh */
	uint64_t samples, before;
};

struct visited { /* a function that is or was the middle */
	struct profile_func func;
	uint64_t cursor; /* key of the row that the cursor was on when it was left; 0: the middle */
	char text[];	 /* name, NUL, module, NUL */
};

struct wings { /* the state of the overlay */
	struct visited *visited[VISITED_MAX];
	size_t depth; /* the last of so many is the middle */
	struct match_cache middle;
	bool of_row; /* of Procs, which says what counts: */
	struct procs_scope scope;
	bool *cpus;
	struct sample_filter counted;
	/* What was loaded. */
	struct names *names;
	struct wing_row *rows;
	size_t at; /* row of the middle */
	uint64_t self, recursive;
	uint64_t samples, before_samples; /* in all */
	bool compared;
	struct list list;
	uint64_t cursor; /* key of its row */
	bool placed;	 /* it was scrolled since the middle is another */
	int scroll;
};

/* The overlay is this one. */
static inline struct wings *wings_of(const struct ui *ui)
{
	return ui->overlay.state;
}

/* The function in the middle. */
static inline struct visited *wings_middle(const struct wings *w)
{
	return w->visited[w->depth - 1];
}

/* A row by its name as it is shown. */
void wing_row_name(const struct wing_row *row, char *to, size_t size);
void butterfly_draw(struct ui *ui, struct grid *g, int top, int rows);
/* As view_ops.plain. */
int butterfly_plain(const struct ui *ui, struct plain_list *list);

#endif
