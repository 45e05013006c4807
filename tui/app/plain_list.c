// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Views as lists of words. A list is short on purpose: who listens to it cannot skim. So a path
 * without a branch is one row, and of a tree the largest parts are told, in the order of the tree.
 */
#include "tui/app/plain_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/calltree.h"
#include "tui/views/functable.h"
#include "tui/views/procrows.h"
#include "tui/ui/selection.h"
#include "tui/ui/view.h"

#define LINKS_MAX   4096 /* parts of a tree that are looked at */
#define CHAIN_SHOWN 4	 /* functions of a path without a branch that are told by name */

struct tell_row *tell_next(struct tell *t, uint64_t key, double percent)
{
	struct tell_row *row = &t->rows[t->count];

	t->whole++;
	if (t->count == TELL_ROWS)
		return NULL;
	t->count++;
	*row = (struct tell_row){.key = key, .percent = percent};
	return row;
}

double tell_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void tell_func(const struct profile_func *func, char *to, size_t size)
{
	char name[320];

	names_show(func, name, sizeof(name));
	snprintf(to, size, "%s%s%s%s", name,
		 func->kind == FUNC_KERNEL   ? ", kernel"
		 : func->kind == FUNC_INLINE ? ", inlined"
		 : func->kind == FUNC_JIT    ? ", made at run time"
					     : "",
		 func->module[0] ? ", in " : "", func->module);
}

void tell_more(struct tell_row *row, const char *format, ...)
{
	size_t length = strlen(row->more);
	va_list args;

	if (length)
		length += (size_t)snprintf(row->more + length, sizeof(row->more) - length, "; ");
	if (length >= sizeof(row->more))
		return;
	va_start(args, format);
	vsnprintf(row->more + length, sizeof(row->more) - length, format, args);
	va_end(args);
}

/* --- processes ----------------------------------------------------------------------------- */

static void name_process(const struct ui *ui, const struct procs_row *from, struct tell_row *row)
{
	if (ui->grouping == GROUP_CPU)
		snprintf(row->name, sizeof(row->name), "%s", from->proc->comm);
	else if (ui->grouping)
		snprintf(row->name, sizeof(row->name), "%s", from->proc->cmdline);
	else if (from->data.tid)
		snprintf(row->name, sizeof(row->name), "thread %u %s of PID %d %s", from->data.tid,
			 from->thread, (int)from->proc->pid, from->proc->comm);
	else
		snprintf(row->name, sizeof(row->name), "PID %d %s", (int)from->proc->pid,
			 from->proc->cmdline);
	if (!ui->grouping && !from->data.tid)
		snprintf(row->brief, sizeof(row->brief), "PID %d %s", (int)from->proc->pid,
			 from->proc->comm);
}

static void describe_process(const struct ui *ui, const struct procs_row *from,
			     struct tell_row *row, double share)
{
	const struct proc_row *data = &from->data;
	char text[400];

	if (data->before_cpu >= 0)
		tell_more(row, "%.1f in the baseline", data->before_cpu * share);
	if (data->kernel_samples)
		tell_more(row, "%.0f %% of it in the kernel",
			  tell_percent(data->kernel_samples, data->samples));
	if (from->cpus[0])
		tell_more(row, "on CPU %s", from->cpus);
	if (from->hottest) {
		tell_func(from->hottest, text, sizeof(text));
		tell_more(row, "mostly %s", text);
	}
	if (data->complete < data->walks)
		tell_more(row, "%.1f %% of its stacks complete",
			  tell_percent(data->complete, data->walks));
	if (from->proc->exited)
		tell_more(row, "exited");
	if (ui->header.last.filtering && from->proc->attached)
		tell_more(row, "attached");
	if (!data->tid && tags_has(&ui->selection->tags, from->proc->pid, from->proc->image))
		tell_more(row, "tagged");
}

static int sorted_by(const struct ui *ui, const char **title)
{
	int count, sorted;
	const struct column *columns = view_get(ui)->columns(&count, ui, &sorted);

	*title = columns[sorted].title;
	return sorted;
}

static int tell_procs(struct tell *t, struct ui *ui, const struct profile *p)
{
	struct procrows rows = {.names = names_new()};
	bool machine = ui->config.units == UNITS_MACHINE && ui->header.last.ncpus &&
		       profile_is_time(&ui->header.last);
	double share = machine ? 1.0 / ui->header.last.ncpus : 1;
	const char *by;
	int sorted = sorted_by(ui, &by), err = rows.names ? 0 : -ENOMEM;

	if (!err)
		err = procrows_load(&rows, ui, p);
	if (!err)
		procrows_sort(&rows, (enum procs_column)sorted, false);
	for (size_t i = 0; !err && i < rows.kept; i++) {
		const struct procs_row *from = &rows.row[i];
		struct tell_row *row = tell_next(
			t, from->proc->image ^ (uint64_t)from->proc->pid << 32 ^ from->data.tid,
			from->data.cpu_percent * share);

		if (!row)
			continue;
		name_process(ui, from, row);
		describe_process(ui, from, row, share);
	}
	snprintf(t->title, sizeof(t->title), "%s by %s, %% of %s",
		 ui->grouping == GROUP_CGROUP ? "Containers and units"
		 : ui->grouping == GROUP_USER ? "Users"
		 : ui->grouping == GROUP_CPU  ? "CPUs"
		 : ui->threads		      ? "Processes and their threads"
					      : "Processes",
		 by, machine ? "all CPUs" : "one CPU");
	snprintf(t->empty, sizeof(t->empty), "%s",
		 bycpu_chosen(ui) && bycpu_missing(ui) ? bycpu_missing(ui)
		 : ui->selection->filter.set	       ? "The filter keeps no process."
		 : !ui->header.slices		       ? "No samples have come yet."
		 : ui->header.last.filtering	       ? "The attached processes use no CPU."
						       : "Nothing uses the CPU.");
	procrows_free(&rows);
	names_free(rows.names);
	return err;
}

/* --- functions ----------------------------------------------------------------------------- */

static void no_samples(struct tell *t, const struct ui *ui)
{
	snprintf(t->empty, sizeof(t->empty), "%s",
		 ui->selection->filter.set ? "The filter keeps nothing." : "There are no samples.");
}

static int tell_funcs(struct tell *t, const struct ui *ui, const struct profile *p)
{
	struct functable *table = functable_new();
	char of[320];
	const char *by;
	struct query q;
	int err = table ? 0 : -ENOMEM;

	if (!err && ui_query(ui, p, &q))
		err = functable_load(table, p, &q, ui);
	if (!err) {
		table->sorted = (enum functable_column)sorted_by(ui, &by);
		functable_sort(table);
		ui_zoom_name(ui, of, sizeof(of));
		snprintf(t->title, sizeof(t->title), "Functions of %s by %s, %% of samples", of,
			 by);
		no_samples(t, ui);
	}
	for (size_t i = 0; !err && i < table->list.count; i++) {
		const struct functable_row *from = &table->rows[i];
		bool total = table->sorted == FUNCTABLE_TOTAL;
		double self = tell_percent(from->self, table->samples);
		double whole = tell_percent(from->total, table->samples);
		struct tell_row *row;

		/* By self: those that only call others are told by the tree. */
		row = total || from->self ? tell_next(t, from->hash, total ? whole : self) : NULL;
		if (!row)
			continue;
		tell_func(from->func, row->name, sizeof(row->name));
		if (from->total != from->self)
			tell_more(row, total ? "%.1f itself" : "%.1f with what it calls",
				  total ? self : whole);
		if (ui->scrub.diff && from->before >= 0)
			tell_more(row, "%.1f in the baseline", 100 * from->before);
	}
	functable_free(table);
	return err;
}

/* --- trees --------------------------------------------------------------------------------- */

struct link { /* a path without a branch */
	uint32_t first, last;
	uint32_t nodes, level;
	uint64_t total;
};

struct links {
	const struct calltree *calls;
	struct link *link;
	size_t count;
	uint64_t least; /* smaller ones are not looked at */
};

static uint32_t only_child(const struct calltree *calls, uint32_t node)
{
	const struct tree_node *n = &calls->tree.nodes[node];

	return n->first_child && calls->tree.nodes[n->first_child].total == n->total
		       ? n->first_child
		       : 0;
}

/* Siblings are in order, so those behind a small one are small. */
static int find_links(struct links *l)
{
	const struct tree_node *nodes = l->calls->tree.nodes;
	/* Each turn takes one from the stack and puts two there at most. */
	struct open {
		uint32_t node, level;
	} *open = calloc(LINKS_MAX + 2, sizeof(*open));
	size_t depth = 0;

	if (!open)
		return -ENOMEM;
	if (l->calls->tree.count)
		open[depth++] = (struct open){nodes[0].first_child, 1};
	while (depth && l->count < LINKS_MAX) {
		struct open at = open[--depth];
		struct link *link = &l->link[l->count];
		uint32_t next;

		if (!at.node || !nodes[at.node].total || nodes[at.node].total < l->least)
			continue;
		*link = (struct link){at.node, at.node, 1, at.level, nodes[at.node].total};
		while ((next = only_child(l->calls, link->last))) {
			link->last = next;
			link->nodes++;
		}
		l->count++;
		open[depth++] = (struct open){nodes[at.node].next, at.level};
		open[depth++] = (struct open){nodes[link->last].first_child, at.level + 1};
	}
	free(open);
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* The total that the smallest of the rows has, where there are more than can be told. */
static int choose_least(struct links *l, uint64_t *least)
{
	uint64_t *totals = calloc(l->count + 1, sizeof(*totals));

	*least = 0;
	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		totals[i] = l->link[i].total;
	qsort(totals, l->count, sizeof(*totals), by_total);
	if (l->count > TELL_ROWS)
		*least = totals[TELL_ROWS - 1];
	free(totals);
	return 0;
}

static void name_link(const struct calltree *calls, const struct link *link, const char *arrow,
		      struct tell_row *row)
{
	uint32_t at = link->first;
	size_t length = 0;

	for (uint32_t i = 0; i < link->nodes && length < sizeof(row->name); i++) {
		char name[160];

		names_show(calltree_func(calls, at), name, sizeof(name));
		if (i + 2 == CHAIN_SHOWN && link->nodes > CHAIN_SHOWN) {
			uint32_t left = link->nodes - (CHAIN_SHOWN - 1);

			length += (size_t)snprintf(row->name + length, sizeof(row->name) - length,
						   "%s%u more", arrow, left);
			for (; i + 2 < link->nodes; i++)
				at = only_child(calls, at);
			continue;
		}
		length += (size_t)snprintf(row->name + length, sizeof(row->name) - length, "%s%s",
					   i ? arrow : "", name);
		at = only_child(calls, at);
	}
}

static void tell_links(struct tell *t, const struct links *l, uint64_t least, bool callers)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct link *link = &l->link[i];
		const struct tree_node *first = &l->calls->tree.nodes[link->first];
		const struct tree_node *last = &l->calls->tree.nodes[link->last];
		struct tell_row *row;
		double before = calltree_before(l->calls, link->first);

		if (link->total < least) {
			t->whole++;
			continue;
		}
		row = tell_next(t, first->path, 100 * calltree_share(l->calls, link->total));
		if (!row)
			continue;
		name_link(l->calls, link, callers ? ", called by " : " calls ", row);
		tell_more(row, "level %u", link->level);
		if (last->self && last->first_child)
			tell_more(row, "%.1f %s", 100 * calltree_share(l->calls, last->self),
				  callers ? "begin here" : "in it itself");
		if (before >= 0)
			tell_more(row, "%.1f in the baseline", 100 * before);
	}
}

static int tell_tree(struct tell *t, const struct ui *ui, const struct profile *p)
{
	bool callers = ui->view == VIEW_CALLERS;
	struct links l = {.link = calloc(LINKS_MAX, sizeof(*l.link))};
	const char *by = "TOTAL%";
	struct calltree calls;
	char of[320];
	uint64_t least;
	int err = calltree_init(&calls);

	if (!err && !l.link)
		err = -ENOMEM;
	if (!err)
		err = calltree_load(&calls, ui, p, callers, false);
	if (!err) {
		ui_zoom_name(ui, of, sizeof(of));
		if (ui->view != VIEW_FLAME) {
			sorted_by(ui, &by);
			tree_arrange(ui, &calls);
		}
		snprintf(t->title, sizeof(t->title), "%s of %s by %s, %% of samples",
			 callers		  ? "Callers"
			 : ui->view == VIEW_FLAME ? "Flame: call paths"
						  : "Call paths",
			 of, by);
		no_samples(t, ui);
		l.calls = &calls;
		l.least = (uint64_t)(calls.limit * (double)calls.samples);
		err = find_links(&l);
	}
	if (!err)
		err = choose_least(&l, &least);
	if (!err)
		tell_links(t, &l, least, callers);
	calltree_free(&calls);
	free(l.link);
	return err;
}

/* --- the view ------------------------------------------------------------------------------ */

/* Which time, and which part of it. */
static void end_title(struct tell *t, const struct ui *ui)
{
	size_t length = strlen(t->title);
	const char *frames = ui->hide_kernel && ui->hide_user ? ", without any frames"
			     : ui->hide_kernel		      ? ", without kernel frames"
			     : ui->hide_user		      ? ", without user frames"
							      : "";
	const char *frozen = ui->scrub.clock[0] ? ui->scrub.clock : ui->clock;
	char filter[320] = "";

	if (ui->selection->filter.set)
		snprintf(filter, sizeof(filter), ", filter %s%s", ui->selection->filter.text,
			 selection_meaning(ui) ? "" : " (of no meaning here)");
	snprintf(t->title + length, sizeof(t->title) - length, "%s%s, %s%s%s%s", frames,
		 ui->hide_inline ? ", without inlined calls" : "", ui_weighed(ui),
		 ui->frozen ? ", frozen at " : "", ui->frozen ? frozen : "", filter);
}

int tell_view(struct tell *t, struct ui *ui)
{
	struct profile *p = ui_profile(ui);
	int err = 0;

	memset(t, 0, sizeof(*t));
	if (ui->overlay.ops)
		return tell_code(t, ui);
	profile_lock(p);
	switch (ui->view) {
	case VIEW_FUNCS:
		err = tell_funcs(t, ui, p);
		break;
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_FLAME:
		err = tell_tree(t, ui, p);
		break;
	case VIEW_SHARDS:
		err = tell_shards(t, p);
		break;
	case VIEW_UNWIND:
		err = tell_unwind(t, ui, p);
		break;
	default:
		err = tell_procs(t, ui, p);
	}
	profile_unlock(p);
	if (t->count)
		t->empty[0] = '\0';
	if (ui->view != VIEW_SHARDS)
		end_title(t, ui);
	return err;
}
