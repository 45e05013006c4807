// SPDX-License-Identifier: GPL-2.0-or-later
/* See proctree.h. Nodes have numbers, since rows move when they are sorted. */
#include "tui/views/proctree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/parents.h"

#define NONE	  UINT32_MAX
#define LEVELS	  64 /* of parents above a process; a loop ends there, too */
#define DEPTH_MAX 12 /* levels that are drawn */

/* --- making ---------------------------------------------------------------------------------- */

struct by_pid {
	pid_t pid;
	uint32_t node;
};

struct making {
	struct procrows *rows;
	const struct profile *p;
	struct by_pid *known; /* living processes, and then parents, by PID */
	size_t nknown;
	size_t room;
};

static int compare_pids(const void *a, const void *b)
{
	const struct by_pid *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static uint32_t find(const struct making *m, pid_t pid)
{
	const struct by_pid key = {.pid = pid};
	const struct by_pid *found =
		m->nknown ? bsearch(&key, m->known, m->nknown, sizeof(key), compare_pids) : NULL;

	return found ? found->node : NONE;
}

/* Room for so many more rows; rows point into the other arrays, which may move. */
static int reserve(struct making *m, size_t more)
{
	struct procrows *rows = m->rows;
	const size_t n = rows->count;
	struct procs_row *row = reallocarray(rows->row, n + more, sizeof(*row));
	struct profile_proc *procs;
	struct proc_row *wholes;
	struct by_pid *known;

	if (row)
		rows->row = row;
	procs = reallocarray(rows->procs, n + more, sizeof(*procs));
	if (procs)
		rows->procs = procs;
	wholes = reallocarray(rows->wholes, n + more, sizeof(*wholes));
	if (wholes)
		rows->wholes = wholes;
	known = reallocarray(m->known, n + more, sizeof(*known));
	if (known)
		m->known = known;
	m->room = n + more;
	for (size_t i = 0; i < n && procs && wholes; i++) {
		rows->row[i].proc = &procs[i];
		rows->row[i].whole = &wholes[i];
	}
	return row && procs && wholes && known ? 0 : -ENOMEM;
}

/* A parent that had no samples. */
static int add_parent(struct making *m, const struct profile_parent *parent)
{
	struct procrows *rows = m->rows;
	const size_t at = rows->count;
	struct profile_proc *proc;
	size_t k;

	if (at == m->room && reserve(m, 64))
		return -ENOMEM;
	rows->wholes[at] = (struct proc_row){.proc = NONE, .hottest = NONE, .before_cpu = -1};
	proc = &rows->procs[at];
	*proc = (struct profile_proc){.pid = parent->pid, .ppid = parent->ppid};
	snprintf(proc->comm, sizeof(proc->comm), "%s", parent->comm);
	snprintf(proc->cmdline, sizeof(proc->cmdline), "%s", parent->comm);
	rows->row[at] = (struct procs_row){.data = rows->wholes[at],
					   .proc = proc,
					   .whole = &rows->wholes[at],
					   .node = (uint32_t)at,
					   .parent = NONE,
					   .absent = true};
	rows->count = rows->nprocs = at + 1;
	for (k = m->nknown++; k && m->known[k - 1].pid > parent->pid; k--)
		m->known[k] = m->known[k - 1];
	m->known[k] = (struct by_pid){parent->pid, (uint32_t)at};
	return 0;
}

/* The parents of a row up to one that has a row. init and kthreadd are above everything. */
static int add_parents(struct making *m, uint32_t node)
{
	for (int level = 0; level < LEVELS; level++) {
		const pid_t ppid = m->rows->row[node].proc->ppid;
		const struct profile_parent *parent;
		uint32_t at = ppid > 0 ? find(m, ppid) : NONE;
		bool made = false;

		if (at == node)
			break;
		if (at == NONE) {
			parent = ppid > 2 ? query_parent(m->p, ppid) : NULL;
			if (!parent)
				break;
			at = (uint32_t)m->rows->count;
			if (add_parent(m, parent))
				return -ENOMEM;
			made = true;
		}
		m->rows->row[node].parent = at;
		if (!made)
			break;
		node = at;
	}
	return 0;
}

/* PIDs are read one after another, so parents may seem to be each other's. */
static void cut_loops(struct procrows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t at = (uint32_t)i;
		int level = 0;

		while (rows->row[at].parent != NONE && level++ < LEVELS)
			at = rows->row[at].parent;
		if (level >= LEVELS)
			rows->row[i].parent = NONE;
	}
}

/* A parent without samples whose only child has none, either, says nothing: its row goes. */
static void drop_chains(struct procrows *rows, uint32_t *children)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i].parent != NONE)
			children[rows->row[i].parent]++;
	for (size_t i = 0; i < rows->count; i++) {
		struct procs_row *row = &rows->row[i];

		while (row->parent != NONE && row->absent && rows->row[row->parent].absent &&
		       children[row->parent] == 1) {
			children[row->parent] = 0;
			row->parent = rows->row[row->parent].parent;
		}
	}
	for (size_t i = 0; i < rows->count; i++)
		rows->row[i].kept = !rows->row[i].absent || children[i] > 0;
}

static void add_up(struct proc_row *to, const struct proc_row *from)
{
	/* The hottest function is that of the process with most samples. */
	if (from->samples > to->samples)
		to->hottest = from->hottest;
	to->samples += from->samples;
	to->kernel_samples += from->kernel_samples;
	to->walks += from->walks;
	to->complete += from->complete;
	for (int i = 0; i < STACK_LOCKS; i++)
		to->locks[i] += from->locks[i];
	to->cpu_percent += from->cpu_percent;
	to->rate += from->rate;
	if (from->before_cpu >= 0)
		to->before_cpu = (to->before_cpu < 0 ? 0 : to->before_cpu) + from->before_cpu;
	to->before_samples += from->before_samples;
	to->full = to->full > 0 ? to->full : from->full;
	to->before_full = to->before_full > 0 ? to->before_full : from->before_full;
	for (int i = 0; i < PROC_HISTORY; i++) {
		unsigned int sum = to->history[i] + from->history[i];

		to->history[i] = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
	}
}

/* Each row's own samples are added to all above it. */
static int sum_rows(struct procrows *rows)
{
	struct proc_row *own = malloc((rows->count + 1) * sizeof(*own));
	uint64_t *most = calloc(rows->count + 1, sizeof(*most));

	for (size_t i = 0; own && most && i < rows->count; i++) {
		own[i] = rows->row[i].data;
		most[i] = own[i].samples;
	}
	for (size_t i = 0; own && most && i < rows->count; i++)
		for (uint32_t at = rows->row[i].parent; at != NONE; at = rows->row[at].parent) {
			struct procs_row *above = &rows->row[at];
			const uint32_t hottest = above->data.hottest;

			add_up(&above->data, &own[i]);
			above->data.hottest = hottest;
			if (own[i].samples <= most[at])
				continue;
			most[at] = own[i].samples;
			above->hottest = above->whole_hottest = rows->row[i].hottest;
		}
	for (size_t i = 0; own && most && i < rows->count; i++)
		rows->wholes[i] = rows->row[i].data;
	free(most);
	free(own);
	return own && most ? 0 : -ENOMEM;
}

static int drop_rows(struct procrows *rows)
{
	uint32_t *children = calloc(rows->count + 1, sizeof(*children));
	size_t n = 0;

	if (!children)
		return -ENOMEM;
	drop_chains(rows, children);
	/* Numbers become those of the rows that stay. */
	for (size_t i = 0; i < rows->count; i++)
		children[i] = rows->row[i].kept ? (uint32_t)n++ : NONE;
	for (size_t i = 0; i < rows->count; i++) {
		struct procs_row row = rows->row[i];
		const uint32_t to = children[i];

		if (to == NONE)
			continue;
		row.node = to;
		row.parent = row.parent == NONE ? NONE : children[row.parent];
		rows->procs[to] = rows->procs[i];
		rows->wholes[to] = rows->wholes[i];
		row.proc = &rows->procs[to];
		row.whole = &rows->wholes[to];
		rows->row[to] = row;
	}
	rows->count = rows->nprocs = n;
	free(children);
	return 0;
}

int proctree_make(struct procrows *rows, const struct ui *ui, const struct profile *p)
{
	struct making m = {.rows = rows, .p = p};
	const size_t sampled = rows->count;
	int err = reserve(&m, 64);

	for (size_t i = 0; !err && i < sampled; i++) {
		struct procs_row *row = &rows->row[i];

		row->node = (uint32_t)i;
		row->parent = NONE;
		if (!row->group && !procgroups_exited(ui, row->proc))
			m.known[m.nknown++] = (struct by_pid){row->proc->pid, row->node};
	}
	if (!err)
		qsort(m.known, m.nknown, sizeof(*m.known), compare_pids);
	for (size_t i = 0; !err && i < sampled; i++)
		if (!rows->row[i].group)
			err = add_parents(&m, (uint32_t)i);
	free(m.known);
	if (!err) {
		cut_loops(rows);
		err = drop_rows(rows);
	}
	return err ? err : sum_rows(rows);
}

void proctree_keep_parents(struct procrows *rows)
{
	/* Numbers of nodes are those of rows until these are sorted. */
	for (size_t i = 0; i < rows->count; i++)
		for (uint32_t at = rows->row[i].kept ? rows->row[i].parent : NONE;
		     at != NONE && !rows->row[at].kept; at = rows->row[at].parent)
			rows->row[at].kept = true;
}

/* --- order ----------------------------------------------------------------------------------- */

struct sorting {
	const struct procs_row **sorted; /* siblings by what rows are sorted by */
	uint32_t *first, *next;		 /* by node: the first child, the next sibling */
	struct procs_row *out;
	size_t n;
};

/* A node and all below it. */
static void emit(struct sorting *s, const struct procs_row *row, uint16_t depth, uint64_t guides)
{
	const size_t at = s->n++;
	uint32_t child = s->first[row->node];

	s->out[at] = *row;
	s->out[at].depth = depth;
	s->out[at].guides = guides;
	for (; child != NONE; child = s->next[child]) {
		uint64_t more = s->next[child] != NONE && depth < LEVELS - 1
					? (uint64_t)1 << (depth + 1)
					: 0;

		emit(s, s->sorted[child], (uint16_t)(depth + 1), guides | more);
	}
	s->out[at].below = s->n - at;
}

int proctree_sort(struct procrows *rows, int (*compare)(const void *a, const void *b, void *arg),
		  void *arg)
{
	const size_t n = rows->count, kept = rows->kept;
	uint32_t *last = malloc((n + 1) * sizeof(*last)), root = NONE, last_root = NONE;
	struct sorting s = {.sorted = calloc(n + 1, sizeof(const struct procs_row *)),
			    .first = malloc((n + 1) * sizeof(*s.first)),
			    .next = malloc((n + 1) * sizeof(*s.next)),
			    .out = malloc((n + 1) * sizeof(*s.out))};
	int err = last && s.sorted && s.first && s.next && s.out ? 0 : -ENOMEM;

	if (!err) {
		qsort_r(rows->row, kept, sizeof(*rows->row), compare, arg);
		memset(s.first, 0xff, (n + 1) * sizeof(*s.first));
		memset(s.next, 0xff, (n + 1) * sizeof(*s.next));
		memset(last, 0xff, (n + 1) * sizeof(*last));
		for (size_t i = 0; i < kept; i++) {
			const struct procs_row *row = &rows->row[i];
			uint32_t *of = row->parent == NONE ? &last_root : &last[row->parent];

			s.sorted[row->node] = row;
			if (*of != NONE)
				s.next[*of] = row->node;
			else if (row->parent == NONE)
				root = row->node;
			else
				s.first[row->parent] = row->node;
			*of = row->node;
		}
		for (; root != NONE; root = s.next[root])
			emit(&s, s.sorted[root], 0, 0);
		memcpy(s.out + s.n, rows->row + kept, (n - kept) * sizeof(*s.out));
		free(rows->row);
		rows->row = s.out;
		s.out = NULL;
	}
	free(last);
	free(s.sorted);
	free(s.first);
	free(s.next);
	free(s.out);
	return err;
}

void proctree_guides(const struct procs_row *row, const struct grid *g, char *to, size_t size)
{
	const int depth = row->depth < DEPTH_MAX ? row->depth : DEPTH_MAX;
	size_t length = 0;

	to[0] = '\0';
	for (int level = 1; level <= depth && length < size; level++) {
		const bool more = level < LEVELS && row->guides >> level & 1;
		const bool own = level == depth;

		length += (size_t)snprintf(to + length, size - length, "%s%s ",
					   own ? grid_glyph(g, more ? GLYPH_BRANCH : GLYPH_CORNER)
					   : more ? grid_glyph(g, GLYPH_VLINE)
						  : " ",
					   own ? grid_glyph(g, GLYPH_HLINE) : "");
	}
}
