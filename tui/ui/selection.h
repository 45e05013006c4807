/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SELECTION_H
#define STACKTOP_TUI_UI_SELECTION_H

/*
 * What was chosen to look at: a scope (the tagged processes, one thread, one module), and a filter
 * within it. The scope decides what 100 % is, the filter never does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tui/ui/bycpu.h"
#include "tui/ui/filter.h"
#include "tui/screen/keys.h"
#include "tui/query/query.h"

struct ui;

/* The processes that were tagged, to look at their sum. */
#define TAGS_MAX 256

struct tags {
	struct tag {
		pid_t pid; /* (pid, image) is the process */
		uint64_t image;
	} tag[TAGS_MAX];
	size_t count;
};

bool tags_has(const struct tags *tags, pid_t pid, uint64_t image);

struct selection {
	struct filter filter;
	struct tags tags;
	/* Made by selection_query, for the query that was made last. */
	struct sample_filter scope, kept;
	struct match_cache tagged, procs, funcs, module;
	struct cpuset cpus;
	bool stale;	  /* funcs and cpus are verdicts of an earlier filter */
	char judged[256]; /* the filter that the verdicts in module are of */
};

/* NULL: no memory. */
struct selection *selection_new(void);
void selection_free(struct selection *s);

/* True when views that can be zoomed are about the tagged processes. */
bool selection_sums(const struct ui *ui);
/* The query of all processes, without scope and filter. */
struct query selection_all(const struct ui *ui);
/*
 * Adds the scope and the filter to the query; the lock is held. `paths`: the filter is about paths,
 * so one for functions keeps each sample that has such a function in its path. -ENOMEM.
 */
int selection_query(const struct ui *ui, const struct profile *p, struct query *q, bool paths);

/*
 * The query of the samples that the view is about, in any slice, with the filter as a filter of
 * samples; *narrowed: not all are. False: the process that was zoomed into is gone, or there is no
 * memory. The lock is held; good until the next query.
 */
bool selection_in_view(const struct ui *ui, const struct profile *p, struct query *q,
		       bool *narrowed);

/* The function has a row where rows are functions, in spite of the filter and the module that is
 * zoomed into. */
bool selection_keeps_func(const struct ui *ui, const struct profile_func *func);

/* Asks for a filter; the answer is selection_filter's. */
unsigned int selection_ask(struct ui *ui, enum action action);
/* The new filter, nothing else; false: text is none, why says so, and the old one stays. */
bool selection_set(struct ui *ui, const char *text, char *why, size_t size);
/* The same, and says what it means; returns enum ui_flags. */
unsigned int selection_filter(struct ui *ui, const char *text);
/* The same by one column; what is offered is exactly this value (NULL: none). */
unsigned int selection_ask_column(struct ui *ui, enum action action, const char *value);
unsigned int selection_filter_column(struct ui *ui, enum action action, const char *text);
/* Esc takes the filter away first: flags, 0 when there was none. */
unsigned int selection_back(struct ui *ui);
/* Tags the process or takes its tag away. */
unsigned int selection_tag(struct ui *ui, const struct profile_proc *proc);
unsigned int selection_untag(struct ui *ui);

/* What the filter keeps or hides in the view that is shown: "processes"; NULL: it means nothing
 * there. */
const char *selection_meaning(const struct ui *ui);
/* Why a view of stacks has nothing to show, in a few words. */
const char *selection_nothing(const struct ui *ui);

#endif
