/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See procgroups.h. */
#include "tui/views/procgroups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/selection.h"

#define MIXED_IMAGE ((uint64_t)1 << 61) /* no process has it: see count_key.exec_id */
#define NAMES_SHOWN 3			/* programs of a row of several */

void procgroups_free(struct procgroups *g)
{
	free(g->owners);
	free(g->members);
	free(g->folded);
	free(g->mixed);
	free(g->samples);
	*g = (struct procgroups){0};
}

bool procgroups_exited(const struct ui *ui, const struct profile_proc *proc)
{
	return proc->exited && (!ui->frozen || proc->exit_time <= ui->header.last.time);
}

const char *procgroups_text(const struct ui *ui, const struct profile_proc *proc)
{
	return ui->grouping == GROUP_USER     ? proc->user
	       : ui->grouping == GROUP_CGROUP ? proc->group
					      : proc->comm;
}

/* --- which process counts in which row ------------------------------------------------------- */

struct member {
	const struct profile_proc *proc;
	uint32_t id;
	bool alone; /* a row of its own */
	bool exited;
	bool sampled;
	const char *text;
};

/* Those of one text together. The first owns the row: one with samples, and alive if one is. */
static int by_text(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int result = (x->alone > y->alone) - (x->alone < y->alone);

	if (!result)
		result = strcmp(x->text, y->text);
	if (!result)
		result = y->sampled - x->sampled;
	if (!result)
		result = x->exited - y->exited;
	return result ? result : (x->id > y->id) - (x->id < y->id);
}

struct forming {
	struct procgroups *g;
	const struct ui *ui;
	uint32_t mixed; /* owns the row of several programs; QUERY_ALL: there is none yet */
};

static void join(struct procgroups *g, const struct member *m, uint32_t owner)
{
	g->owners[m->id] = owner;
	g->members[owner] += g->samples[m->id] > 0;
}

/* n processes of one text. */
static void form(struct forming *f, const struct member *m, size_t n)
{
	const bool fold = f->ui->grouping != GROUP_USER && f->ui->grouping != GROUP_CGROUP;
	struct procgroups *g = f->g;
	uint32_t owner = m->id;
	uint64_t samples = 0;
	size_t sampled = 0, living = 0;
	bool few;

	for (size_t i = 0; i < n; i++) {
		samples += g->samples[m[i].id];
		sampled += m[i].sampled;
		living += !m[i].exited;
	}
	/* By program, all that has no process any more is one row. */
	few = fold && !living && sampled &&
	      (f->ui->grouping == GROUP_PROGRAM || samples < PROCGROUPS_FEW);
	if (few && f->mixed == QUERY_ALL)
		f->mixed = owner;
	if (few) {
		owner = f->mixed;
		g->mixed[owner] = true;
	}
	g->folded[owner] = few || (fold && !living && sampled > 1);
	for (size_t i = 0; i < n; i++)
		join(g, &m[i], owner);
}

/* A row of several with one process in it is that process. */
static void settle(struct forming *f, const struct member *members, size_t n)
{
	struct procgroups *g = f->g;

	if (f->mixed == QUERY_ALL || g->members[f->mixed] > 1)
		return;
	for (size_t i = 0; i < n; i++) {
		const uint32_t id = members[i].id;

		if (g->owners[id] != f->mixed)
			continue;
		g->owners[id] = id;
		g->members[id] = g->samples[id] > 0;
	}
	g->folded[f->mixed] = g->mixed[f->mixed] = false;
}

static bool is_alone(const struct ui *ui, const struct member *m, bool unfolded)
{
	if (ui->grouping && ui->grouping != GROUP_TREE)
		return false;
	return unfolded || !m->exited || !filter_keeps_proc(&ui->selection->filter, m->proc);
}

int procgroups_make(struct procgroups *g, const struct ui *ui, const struct profile *p,
		    const struct query *q, bool unfolded,
		    bool (*keep)(const struct profile_proc *proc, const void *arg), const void *arg)
{
	struct forming f = {g, ui, QUERY_ALL};
	struct member *members;
	size_t n = 0;
	int err;

	procgroups_free(g);
	err = query_proc_samples(p, q, &g->samples, &g->count);
	if (err)
		return err;
	g->owners = calloc(g->count + 1, sizeof(*g->owners));
	g->members = calloc(g->count + 1, sizeof(*g->members));
	g->folded = calloc(g->count + 1, sizeof(*g->folded));
	g->mixed = calloc(g->count + 1, sizeof(*g->mixed));
	members = calloc(g->count + 1, sizeof(*members));
	if (!g->owners || !g->members || !g->folded || !g->mixed || !members) {
		free(members);
		procgroups_free(g);
		return -ENOMEM;
	}
	for (uint32_t id = 0; id < g->count; id++) {
		struct member *m = &members[n];

		g->owners[id] = id;
		m->proc = query_proc(p, id);
		if (!m->proc)
			continue;
		m->id = id;
		m->exited = procgroups_exited(ui, m->proc);
		m->sampled = g->samples[id] > 0;
		m->text = procgroups_text(ui, m->proc);
		m->alone = is_alone(ui, m, unfolded || (keep && keep(m->proc, arg)));
		n++;
	}
	qsort(members, n, sizeof(*members), by_text);
	for (size_t i = 0, next; i < n; i = next) {
		next = i + 1;
		while (!members[i].alone && next < n && !members[next].alone &&
		       strcmp(members[i].text, members[next].text) == 0)
			next++;
		if (members[i].alone)
			join(g, &members[i], members[i].id);
		else
			form(&f, &members[i], next - i);
	}
	settle(&f, members, n);
	free(members);
	return 0;
}

/* --- what a row is called -------------------------------------------------------------------- */

/* The programs of the row with most samples: "ls, true". */
static void name_mixed(const struct procgroups *g, const struct profile *p, uint32_t owner,
		       struct profile_proc *row)
{
	const struct profile_proc *best[NAMES_SHOWN] = {NULL};
	uint64_t most[NAMES_SHOWN] = {0};
	size_t length = 0;

	for (uint32_t id = 0; id < g->count; id++) {
		const struct profile_proc *proc = query_proc(p, id);
		uint64_t samples = g->samples[id];
		int at;

		if (!proc || g->owners[id] != owner || !samples)
			continue;
		for (at = 0; at < NAMES_SHOWN; at++)
			if (best[at] && strcmp(best[at]->comm, proc->comm) == 0)
				break;
		if (at < NAMES_SHOWN) {
			/* Its other process may have more. */
			most[at] += samples;
			continue;
		}
		for (at = 0; at < NAMES_SHOWN && most[at] >= samples; at++)
			;
		if (at == NAMES_SHOWN)
			continue;
		for (int i = NAMES_SHOWN - 1; i > at; i--) {
			best[i] = best[i - 1];
			most[i] = most[i - 1];
		}
		best[at] = proc;
		most[at] = samples;
	}
	for (int i = 0; i < NAMES_SHOWN && best[i]; i++)
		length += (size_t)snprintf(row->cmdline + length, sizeof(row->cmdline) - length,
					   "%s%s", i ? ", " : "", best[i]->comm);
	snprintf(row->comm, sizeof(row->comm), "%.15s", row->cmdline);
	row->image = MIXED_IMAGE;
}

static uint64_t hash_of(const char *text, bool folded)
{
	uint64_t hash = 14695981039346656037U ^ folded;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211U;
	return hash;
}

static void name_group(const struct ui *ui, const char *text, struct profile_proc *row)
{
	const bool user = ui->grouping == GROUP_USER;

	row->image = hash_of(text, row->exited);
	snprintf(row->comm, sizeof(row->comm), "%.15s", text);
	snprintf(row->user, sizeof(row->user), "%.31s", user ? text : "");
	snprintf(row->group, sizeof(row->group), "%s", ui->grouping == GROUP_CGROUP ? text : "");
	snprintf(row->cmdline, sizeof(row->cmdline), "%s",
		 text[0] ? text
		 : user	 ? PROCGROUPS_NO_USER
			 : PROCGROUPS_NO_UNIT);
}

void procgroups_name(const struct procgroups *g, const struct ui *ui, const struct profile *p,
		     uint32_t owner, struct profile_proc *proc)
{
	struct profile_proc row = {.exited = g->folded[owner]};

	if (g->mixed[owner])
		name_mixed(g, p, owner, &row);
	else
		name_group(ui, procgroups_text(ui, proc), &row);
	*proc = row;
}
