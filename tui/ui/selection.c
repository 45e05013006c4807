// SPDX-License-Identifier: GPL-2.0-or-later
/* See selection.h. */
#include "tui/ui/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/ui.h"
#include "tui/ui/view.h"

struct selection *selection_new(void)
{
	return calloc(1, sizeof(struct selection));
}

void selection_free(struct selection *s)
{
	if (!s)
		return;
	filter_clear(&s->filter);
	match_cache_free(&s->tagged);
	match_cache_free(&s->procs);
	match_cache_free(&s->funcs);
	match_cache_free(&s->module);
	free(s->cpus.cpus);
	free(s);
}

/* --- tags ------------------------------------------------------------------------------------ */

static size_t find_tag(const struct tags *tags, pid_t pid, uint64_t image)
{
	size_t i = 0;

	while (i < tags->count && (tags->tag[i].pid != pid || tags->tag[i].image != image))
		i++;
	return i;
}

bool tags_has(const struct tags *tags, pid_t pid, uint64_t image)
{
	return find_tag(tags, pid, image) < tags->count;
}

/* --- queries --------------------------------------------------------------------------------- */

static bool is_tagged(const struct profile_proc *proc, void *arg)
{
	return tags_has(arg, proc->pid, proc->image);
}

static bool is_kept(const struct profile_proc *proc, void *arg)
{
	return filter_keeps_proc(arg, proc);
}

static bool is_of_module(const struct profile_func *func, void *arg)
{
	return strcmp(func->module, arg) == 0;
}

static bool is_found(const struct profile_func *func, void *arg)
{
	return filter_finds_func(arg, func);
}

bool selection_sums(const struct ui *ui)
{
	return !ui->zoom.on && ui->selection->tags.count;
}

static int judge_funcs(struct selection *s, const struct profile *p)
{
	int err;

	if (s->stale)
		match_cache_free(&s->funcs);
	s->stale = false;
	err = query_judge_funcs(p, &s->funcs, is_found, &s->filter);
	s->kept.funcs = s->funcs.pass;
	s->kept.nfuncs = s->funcs.count;
	s->kept.without = s->filter.negated;
	return err;
}

bool selection_keeps_func(const struct ui *ui, const struct profile_func *func)
{
	const struct filter *f = &ui->selection->filter;

	if (ui->view != VIEW_PROCS && ui->zoom.in_module && strcmp(func->module, ui->zoom.module))
		return false;
	if (!f->set || (f->of != FILTER_OF_ROW && f->of != FILTER_OF_FUNC))
		return true;
	return filter_finds_func(f, func) != f->negated;
}

/* Of the module that is zoomed into. */
static int judge_module(struct selection *s, const struct ui *ui, const struct profile *p)
{
	int err;

	if (strcmp(s->judged, ui->zoom.module) != 0)
		match_cache_free(&s->module);
	memcpy(s->judged, ui->zoom.module, sizeof(s->judged));
	err = query_judge_funcs(p, &s->module, is_of_module, s->judged);
	s->scope.funcs = s->module.pass;
	s->scope.nfuncs = s->module.count;
	return err;
}

int selection_query(const struct ui *ui, const struct profile *p, struct query *q, bool paths)
{
	struct selection *s = ui->selection;
	const enum filter_of of = s->filter.set ? s->filter.of : FILTER_OF_ROW;
	int err = 0;

	s->scope = (struct sample_filter){0};
	s->kept = (struct sample_filter){0};
	if (ui->zoom.on && ui->zoom.tid) {
		s->scope.tid = ui->zoom.tid;
		ui_query_threads(ui, q);
	}
	if (selection_sums(ui)) {
		err = query_judge_procs(p, &s->tagged, is_tagged, &s->tags);
		s->scope.procs = s->tagged.pass;
		s->scope.nprocs = s->tagged.count;
	}
	if (!err && ui->zoom.in_module)
		err = judge_module(s, ui, p);
	q->scope = &s->scope;
	if (err || !s->filter.set)
		return err;
	if (of == FILTER_OF_PROC) {
		err = query_judge_procs(p, &s->procs, is_kept, &s->filter);
		s->kept.procs = s->procs.pass;
		s->kept.nprocs = s->procs.count;
		q->filter = &s->kept;
	} else if (of == FILTER_OF_CPU) {
		bycpu_query(ui, q);
		/* Where CPUs are not known every row would be new. */
		q->baseline = q->baseline && query_knows_cpus(p, SPAN_BASELINE);
		err = cpuset_judge(&s->cpus, &s->filter, p, s->stale);
		s->stale &= err != 0;
		s->kept.cpus = s->cpus.cpus;
		s->kept.ncpus = s->cpus.ncpus;
		q->filter = &s->kept;
	} else if (paths || of == FILTER_OF_END) {
		err = judge_funcs(s, p);
		q->filter = &s->kept;
	}
	return err;
}

struct query selection_all(const struct ui *ui)
{
	return (struct query){.span = ui_span(ui),
			      .proc = QUERY_ALL,
			      .hide_kernel = ui->hide_kernel,
			      .hide_user = ui->hide_user,
			      .hide_inline = ui->hide_inline,
			      .frames = ui->frames,
			      .measure = ui->measure,
			      .baseline = ui->scrub.diff};
}

bool ui_query(const struct ui *ui, const struct profile *p, struct query *q)
{
	*q = selection_all(ui);
	if (ui->zoom.on) {
		q->proc = query_find_proc(p, ui->zoom.pid, ui->zoom.image);
		if (q->proc == QUERY_ALL)
			return false;
	}
	return !selection_query(ui, p, q, VIEW_BIT(ui->view) & (IN_CALLS | IN_WAITS));
}

/* Of a view of processes, which has rows for all of them. */
static int filter_in_view(const struct ui *ui, const struct profile *p)
{
	struct selection *s = ui->selection;
	int err;

	s->scope = (struct sample_filter){0};
	s->kept = (struct sample_filter){0};
	if (!s->filter.set || !selection_meaning(ui))
		return 0;
	if (s->filter.of == FILTER_OF_FUNC || s->filter.of == FILTER_OF_END)
		return judge_funcs(s, p);
	if (s->filter.of == FILTER_OF_CPU) {
		err = cpuset_judge(&s->cpus, &s->filter, p, s->stale);
		s->stale &= err != 0;
		s->kept.cpus = s->cpus.cpus;
		s->kept.ncpus = s->cpus.ncpus;
		return err;
	}
	err = query_judge_procs(p, &s->procs, is_kept, &s->filter);
	s->kept.procs = s->procs.pass;
	s->kept.nprocs = s->procs.count;
	return err;
}

static bool narrows(const struct sample_filter *s)
{
	return s && (s->procs || s->tid || s->cpus || s->funcs);
}

bool selection_in_view(const struct ui *ui, const struct profile *p, struct query *q,
		       bool *narrowed)
{
	const unsigned int view = VIEW_BIT(ui->view);
	const bool zooms = ui->zoom.on && !(view & (IN_PROCS | IN_SHARDS));
	bool there = true;

	*q = selection_all(ui);
	*narrowed = zooms;
	if (zooms) {
		q->proc = query_find_proc(p, ui->zoom.pid, ui->zoom.image);
		there = q->proc != QUERY_ALL;
	}
	if (view & (IN_PROCS | IN_UNWIND | IN_SHARDS)) {
		there &= !filter_in_view(ui, p);
		q->scope = &ui->selection->scope;
		q->filter = &ui->selection->kept;
	} else {
		there &= !selection_query(ui, p, q, true);
	}
	if (view & (IN_UNWIND | IN_SHARDS))
		q->hide_user = false;
	*narrowed |= q->hide_user || narrows(q->scope) || narrows(q->filter);
	if (!narrows(q->filter))
		q->filter = NULL;
	return there;
}

/* --- keys ------------------------------------------------------------------------------------ */

unsigned int selection_ask(struct ui *ui, enum action action)
{
	prompt_open(&ui->prompt, (int)action, "Filter (empty: none):",
		    ui->selection->filter.set ? ui->selection->filter.text : "");
	return UI_REDRAW;
}

bool selection_set(struct ui *ui, const char *text, char *why, size_t size)
{
	if (!filter_set(&ui->selection->filter, text, why, size))
		return false;
	ui->selection->stale = true;
	return true;
}

unsigned int selection_filter(struct ui *ui, const char *text)
{
	char why[256];

	if (!selection_set(ui, text, why, sizeof(why))) {
		ui_notice(ui, "%s", why);
		return UI_REDRAW;
	}
	if (filter_doubt(text, why, sizeof(why)))
		ui_notice(ui, "%s", why);
	else if (text[0] && selection_meaning(ui))
		ui_notice(ui, "the filter %s %s; %% is of all",
			  ui->selection->filter.negated ? "hides" : "keeps", selection_meaning(ui));
	else if (text[0])
		ui_notice(ui, "the filter has no effect in this view");
	if (bycpu_chosen(ui))
		bycpu_wanted(ui);
	return UI_RELOAD;
}

unsigned int selection_ask_column(struct ui *ui, enum action action, const char *value)
{
	char offer[128] = "";

	if (value && value[0])
		search_quote(offer, sizeof(offer), value);
	prompt_open(&ui->prompt, (int)action,
		    action == ACTION_FILTER_USER ? "Only the user (empty: all):"
						 : "Only the container or unit (empty: all):",
		    offer);
	return UI_REDRAW;
}

unsigned int selection_filter_column(struct ui *ui, enum action action, const char *text)
{
	char filter[PROMPT_TEXT + 8];
	bool negated = text[0] == '!';

	snprintf(filter, sizeof(filter), "%s%s:%s", negated ? "!" : "",
		 action == ACTION_FILTER_USER ? "user" : "cgroup", text + negated);
	return selection_filter(ui, text[0] ? filter : "");
}

unsigned int selection_back(struct ui *ui)
{
	return ui->selection->filter.set ? selection_filter(ui, "") : 0;
}

unsigned int selection_tag(struct ui *ui, const struct profile_proc *proc)
{
	struct tags *tags = &ui->selection->tags;
	size_t at = find_tag(tags, proc->pid, proc->image);

	if (at == TAGS_MAX) {
		ui_notice(ui, "no more than %d processes can be tagged", TAGS_MAX);
		return UI_RELOAD;
	}
	if (at < tags->count)
		tags->tag[at] = tags->tag[--tags->count];
	else
		tags->tag[tags->count++] = (struct tag){proc->pid, proc->image};
	if (tags->count)
		ui_notice(ui, "%zu tagged: Funcs, Tree, Callers and Flame show their sum",
			  tags->count);
	else
		ui_notice(ui, "no process is tagged");
	return UI_RELOAD;
}

unsigned int selection_untag(struct ui *ui)
{
	ui->selection->tags.count = 0;
	ui_notice(ui, "no process is tagged");
	return UI_RELOAD;
}

/* --- words ----------------------------------------------------------------------------------- */

const char *selection_meaning(const struct ui *ui)
{
	const enum filter_of of = ui->selection->filter.of;
	const unsigned int view = VIEW_BIT(ui->view);

	if (ui->overlay.ops && !ui->overlay.ops->filtered) /* all samples of the function count */
		return NULL;
	if (ui->overlay.ops && of == FILTER_OF_ROW &&
	    !(view & IN_NAMES)) /* it is about processes */
		return NULL;
	if (view & IN_SHARDS)
		return of == FILTER_OF_ROW ? "objects" : NULL;
	if (of == FILTER_OF_CPU)
		return "samples of such CPUs";
	if (view & IN_UNWIND && !ui->overlay.ops)
		return of == FILTER_OF_ROW || of == FILTER_OF_PROC ? "processes" : NULL;
	if (view & IN_PROCS && !ui->overlay.ops)
		return of == FILTER_OF_FUNC  ? "processes with such a frame"
		       : of == FILTER_OF_END ? "processes with such a walk"
					     : "processes";
	if (of == FILTER_OF_PROC)
		return "samples of such processes";
	if (of == FILTER_OF_END)
		return "stacks that ended so";
	return view & (IN_CALLS | IN_WAITS) || ui->overlay.ops ? "paths with such a frame"
							       : "functions";
}

const char *selection_nothing(const struct ui *ui)
{
	if (ui->hide_kernel || ui->hide_user)
		return "no stacks; frames are hidden (K, U)";
	if (bycpu_chosen(ui) && bycpu_missing(ui))
		return bycpu_missing(ui);
	return ui->selection->filter.set ? "the filter keeps none: Esc clears it, F4 changes it"
					 : "no stacks yet";
}
