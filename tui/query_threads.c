/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row for each thread. Sums have no threads, so this adds up slices: ten times as many samples as
 * the window has cells, of more threads than a cache holds. Hence samples are put beside those of
 * the same process first, in two passes over what lies one after another, and then a process at a
 * time is summed up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/prefetch.h"
#include "tui/query_priv.h"

#define NO_AGE	UINT8_MAX
#define NO_FUNC ((1u << 30) - 2)
#define AHEAD	8 /* turns of a loop */

struct sample {
	uint64_t count;
	union {
		uint32_t tid;
		uint32_t next; /* of the same row, + 1, once the row is known */
	};
	uint32_t leaf; /* function at the end, or NO_FUNC */
	uint8_t age;   /* of its slice, if that is one of the history; else NO_AGE */
	bool weighed, kernel, walked, complete;
};

/* Of a stack: the last function that is shown, or NO_FUNC, + 1; 0: nobody asked. And, whether or
 * not that is known, how its walk ended; neither: nobody asked. */
#define END_COMPLETE (1u << 31)
#define END_BROKEN   (1u << 30)
#define END_WALK     (END_COMPLETE | END_BROKEN)

struct slot { /* a thread of the process */
	uint32_t tid;
	uint32_t row; /* + 1; 0: free */
};

struct threads {
	const struct profile *p;
	const struct query *q;
	size_t *from; /* by process: where its samples begin */
	struct sample *samples;
	uint32_t *ends;	    /* by stack */
	struct slot *slots; /* of the process, which needs so many: */
	uint32_t mask;	    /* ... - 1 */
	uint32_t *heads;    /* by row of the process: its first sample + 1 */
	uint64_t *sum;	    /* by function */
	struct proc_row *rows;
	size_t count;
};

/* --- samples --------------------------------------------------------------------------------- */

struct visitor {
	struct threads *t;
	void (*fn)(struct threads *t, const struct profile_cell *raw, struct sample *sample);
	uint8_t age;
	bool weighed;
};

static int visit_cell(const struct profile_cell *raw, void *arg)
{
	const struct visitor *v = arg;
	struct sample sample = {.age = v->age, .weighed = v->weighed};

	v->fn(v->t, raw, &sample);
	return 0;
}

/* What the samples after this one need is fetched meanwhile, instead of waited for at each: stacks
 * that nobody asked about yet, the ends of their frames, and the place in the order. */
static void expect_samples(const struct threads *t, const struct slice *slice, size_t at)
{
	const struct profile_cell *cell;

	if (at + 4 * AHEAD >= slice->ncells)
		return;
	cell = &slice->cells[at + 4 * AHEAD];
	if (cell->ustack != PROFILE_NO_STACK)
		prefetch_read(&t->ends[cell->ustack]);
	cell = &slice->cells[at + 2 * AHEAD];
	if (cell->ustack != PROFILE_NO_STACK && !t->ends[cell->ustack])
		prefetch_read(stack_at(t->p, cell->ustack));
	cell = &slice->cells[at + AHEAD];
	prefetch_write(&t->samples[t->from[cell->proc + 1]]);
	if (cell->ustack != PROFILE_NO_STACK && !t->ends[cell->ustack]) {
		const struct profile_stack *stack = &stack_at(t->p, cell->ustack)->stack;

		prefetch_read(stack->frames + stack->nframes);
	}
}

static void visit_slice(struct visitor *v, size_t newest, size_t age, bool weighed)
{
	const struct slice *slice = slice_at(v->t->p, newest + age);

	v->age = age < PROC_HISTORY ? (uint8_t)age : NO_AGE;
	v->weighed = weighed;
	for (size_t i = 0; i < slice->ncells; i++) {
		if (v->t->samples)
			expect_samples(v->t, slice, i);
		visit_cell(&slice->cells[i], v);
	}
}

/* What is weighed, and what the history is made of. */
static int visit(struct visitor *v)
{
	const struct profile *p = v->t->p;
	const struct query *q = v->t->q;
	size_t newest, n = 0;
	uint64_t first, last;

	if (!query_slices_of(p, q->weigh, &newest, &n)) {
		int err;

		n = 0;
		v->age = NO_AGE;
		v->weighed = true;
		err = query_raw(p, q, visit_cell, v);
		query_slices_weighed(p, q->weigh, &first, &last);
		/* Of a moment long ago there is no history any more. */
		if (err || !slice_age(p, last, &newest))
			return err;
	}
	for (size_t age = 0; age < n || (age < PROC_HISTORY && newest + age < p->nslices); age++)
		visit_slice(v, newest, age, age < n);
	return 0;
}

static void count_sample(struct threads *t, const struct profile_cell *raw, struct sample *sample)
{
	struct profile_cell cell = *raw;

	(void)sample;
	if (query_take(t->p, t->q, &cell))
		t->from[cell.proc + 2]++;
}

static uint32_t end_of(struct threads *t, uint32_t id)
{
	const struct profile_stack *stack;
	uint32_t func = NO_FUNC;

	if (t->ends[id] & ~END_WALK)
		return t->ends[id];
	stack = &stack_at(t->p, id)->stack;
	for (uint32_t n = stack->nframes; n-- > 0 && func == NO_FUNC;)
		if (query_shows(t->p, t->q, stack->frames[n]))
			func = stack->frames[n];
	t->ends[id] = (func + 1) | (stack->complete ? END_COMPLETE : END_BROKEN);
	return t->ends[id];
}

static bool is_complete(struct threads *t, uint32_t id)
{
	return (t->ends[id] & END_WALK ? t->ends[id] : end_of(t, id)) & END_COMPLETE;
}

static uint32_t leaf_of(struct threads *t, uint32_t id)
{
	return id == PROFILE_NO_STACK ? NO_FUNC : (end_of(t, id) & ~END_WALK) - 1;
}

static void place_sample(struct threads *t, const struct profile_cell *raw, struct sample *sample)
{
	struct profile_cell cell = *raw;

	if (!query_take(t->p, t->q, &cell))
		return;
	sample->count = cell.count;
	sample->tid = cell.tid;
	sample->kernel = raw->kstack != PROFILE_NO_STACK;
	if (raw->ustack != PROFILE_NO_STACK) {
		sample->walked = true;
		sample->complete = is_complete(t, raw->ustack);
	}
	sample->leaf = leaf_of(t, cell.kstack);
	if (sample->leaf == NO_FUNC)
		sample->leaf = leaf_of(t, cell.ustack);
	t->samples[t->from[cell.proc + 1]++] = *sample;
}

/* What is known of cells saves looking at their stacks, which lie everywhere. */
static void see_known(struct threads *t)
{
	const struct profile *p = t->p;

	for (uint32_t i = 0; i < p->ids.count && !t->q->hide_inline; i++) {
		const struct cellid *id = &p->ids.at[i];

		if (!id->refs || id->place.stamp != p->scratch->stamp ||
		    id->place.walk == PLACE_UNKNOWN || id->ustack == PROFILE_NO_STACK)
			continue;
		/* The function at the end is that of the kernel's stack where there is one. */
		if (id->kstack != PROFILE_NO_STACK)
			t->ends[id->ustack] |=
				id->place.walk == PLACE_COMPLETE ? END_COMPLETE : END_BROKEN;
		else if (id->place.leaf)
			t->ends[id->ustack] =
				id->place.leaf |
				(id->place.walk == PLACE_COMPLETE ? END_COMPLETE : END_BROKEN);
	}
}

/* Those of process n are from[n] to from[n + 1] - 1 in the end. *most: of one process. */
static int sort_samples(struct threads *t, size_t *most)
{
	struct visitor counting = {.t = t, .fn = count_sample},
		       placing = {.t = t, .fn = place_sample};
	size_t nprocs = t->p->procs.count;
	int err;

	t->from = calloc(nprocs + 2, sizeof(*t->from));
	t->ends = calloc((size_t)t->p->stacks.count + 1, sizeof(*t->ends));
	if (!t->from || !t->ends)
		return -ENOMEM;
	see_known(t);
	err = visit(&counting);
	if (err)
		return err;
	*most = 0;
	for (size_t i = 2; i < nprocs + 2; i++) {
		*most = t->from[i] > *most ? t->from[i] : *most;
		t->from[i] += t->from[i - 1];
	}
	t->samples = malloc((t->from[nprocs + 1] + 1) * sizeof(*t->samples));
	return t->samples ? visit(&placing) : -ENOMEM;
}

/* --- rows ------------------------------------------------------------------------------------ */

static struct slot *find_slot(const struct threads *t, uint32_t tid)
{
	uint32_t at = (uint32_t)idtable_mix(tid, 0) & t->mask;

	while (t->slots[at].row && t->slots[at].tid != tid)
		at = (at + 1) & t->mask;
	return &t->slots[at];
}

static void add_sample(struct threads *t, uint32_t proc, size_t first_row, size_t at)
{
	struct sample *sample = &t->samples[at];
	struct slot *slot = find_slot(t, sample->tid);
	uint32_t *head;
	struct proc_row *row;

	if (!slot->row) {
		t->heads[t->count - first_row] = 0;
		t->rows[t->count] = (struct proc_row){
			.proc = proc, .tid = sample->tid, .hottest = UINT32_MAX, .before_cpu = -1};
		*slot = (struct slot){sample->tid, (uint32_t)++t->count};
	}
	row = &t->rows[slot->row - 1];
	if (sample->age != NO_AGE)
		query_history_count(&row->history[PROC_HISTORY - 1 - sample->age], sample->count);
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a slot in use has a row */
	row->samples += sample->count;
	row->kernel_samples += sample->kernel ? sample->count : 0;
	row->walks += sample->walked ? sample->count : 0;
	row->complete += sample->complete ? sample->count : 0;
	/* From here on it has no number of a thread. */
	if (sample->leaf == NO_FUNC)
		return;
	head = &t->heads[slot->row - 1 - first_row];
	sample->next = *head;
	*head = (uint32_t)(at - t->from[proc]) + 1;
}

/* The function with most samples; of two, that of the smaller id. */
static void find_hottest(struct threads *t, struct proc_row *row, uint32_t head)
{
	const struct sample *samples = t->samples + t->from[row->proc];
	uint64_t best = 0;

	for (uint32_t at = head; at; at = samples[at - 1].next) {
		uint32_t func = samples[at - 1].leaf;

		t->sum[func] += samples[at - 1].count;
		if (t->sum[func] < best || (t->sum[func] == best && func > row->hottest))
			continue;
		best = t->sum[func];
		row->hottest = func;
	}
	for (uint32_t at = head; at; at = samples[at - 1].next)
		t->sum[samples[at - 1].leaf] = 0;
}

static void add_proc(struct threads *t, uint32_t proc)
{
	size_t begin = t->from[proc], end = t->from[proc + 1], first_row = t->count;

	if (begin == end)
		return;
	for (t->mask = 3; t->mask < 2 * (end - begin); t->mask = 2 * t->mask + 1)
		;
	memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(*t->slots));
	for (size_t i = begin; i < end; i++)
		if (t->samples[i].weighed)
			add_sample(t, proc, first_row, i);
	/* Those that were not weighed are part of the history only. */
	for (size_t i = begin; i < end; i++) {
		const struct sample *sample = &t->samples[i];
		const struct slot *slot = sample->weighed ? NULL : find_slot(t, sample->tid);

		if (slot && slot->row)
			query_history_count(
				&t->rows[slot->row - 1].history[PROC_HISTORY - 1 - sample->age],
				sample->count);
	}
	for (size_t row = first_row; row < t->count; row++)
		find_hottest(t, &t->rows[row], t->heads[row - first_row]);
}

static int make_rows(struct threads *t, size_t most)
{
	const struct profile *p = t->p;

	if (most > UINT32_MAX / 8)
		return -ENOMEM;
	t->slots = malloc((4 * most + 4) * sizeof(*t->slots));
	t->heads = malloc((most + 1) * sizeof(*t->heads));
	t->sum = calloc((size_t)p->funcs.count + 1, sizeof(*t->sum));
	/* No more threads than samples. */
	t->rows = malloc((t->from[p->procs.count] + 1) * sizeof(*t->rows));
	if (!t->slots || !t->heads || !t->sum || !t->rows)
		return -ENOMEM;
	for (uint32_t proc = 0; proc < p->procs.count; proc++)
		add_proc(t, proc);
	query_rates(p, t->q, t->rows, t->count);
	return 0;
}

int query_threads(const struct profile *p, const struct query *q, struct proc_row **rows,
		  size_t *count)
{
	struct threads t = {.p = p, .q = q};
	size_t most;
	int err = sort_samples(&t, &most);

	if (!err)
		err = make_rows(&t, most);
	if (!err) {
		*rows = t.rows;
		*count = t.count;
		t.rows = NULL;
	}
	free(t.from);
	free(t.samples);
	free(t.ends);
	free(t.slots);
	free(t.heads);
	free(t.sum);
	free(t.rows);
	return err;
}
