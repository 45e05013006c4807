/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees and functions against a model that knows stacks as lists of names and adds them up one by
 * one: with everything that is hidden, recursion, inlined calls that come later, ids that are used
 * again and a baseline. And parts of trees against the whole ones, also of more paths than a tree
 * has room for.
 * Covers: tui/query/query_tree.c tui/query/query_funcs.c tui/query/query_priv.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <uthash.h>

#include <cmocka.h>

#include "tests/support/deep.h"
#include "tests/support/feed.h"
#include "tests/support/trees.h"
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"

#define FUNCS	 40
#define STACKS	 120 /* at a time */
#define CELLS	 150
#define DEPTH	 12
#define ROUNDS	 60
#define PATH_MAX 1024
#define INLINED	 3 /* the function that sites turn out to call */

static unsigned long left_out, hottest_left_out; /* of rows, over all tests */

struct known { /* a stack as the test knows it */
	uint32_t id;
	bool kernel, waits;
	int nframes;
	int frames[2 * DEPTH]; /* numbers of functions, outermost first */
};

struct counted { /* by path or by function */
	char path[PATH_MAX];
	uint64_t self, total, before;
	int last; /* cell that was counted */
	UT_hash_handle hh;
};

struct machine {
	struct profile *p;
	uint64_t random;
	struct known stacks[STACKS];
	int nstacks;
	uint32_t funcs[FUNCS];
	struct machine_cell {
		int ustack, kstack; /* of stacks, -1: none */
		uint32_t proc;
		uint64_t count;
	} cells[CELLS], baseline[CELLS];
	int nbaseline;
	struct known old[STACKS]; /* of the baseline */
};

static const char *func_name(int n, enum func_kind *kind)
{
	static char name[16];

	*kind = n % 5 == 3 ? FUNC_INLINE : n % 7 == 6 ? FUNC_KERNEL : FUNC_USER;
	snprintf(name, sizeof(name), "f%d", n);
	return name;
}

static bool is_inline(int n)
{
	enum func_kind kind;

	func_name(n, &kind);
	return kind == FUNC_INLINE;
}

static void make_funcs(struct machine *m)
{
	for (int i = 0; i < FUNCS; i++) {
		enum func_kind kind;
		const char *name = func_name(i, &kind);

		m->funcs[i] = feed_func(m->p, kind, name);
	}
}

/* Few functions, so that paths share beginnings, recur and come together again. */
static void make_stack(struct machine *m, struct known *s)
{
	uint32_t frames[DEPTH], sites[DEPTH] = {0};
	struct profile_stack stack = {.complete = true, .frames = frames, .sites = sites};
	int64_t id;

	*s = (struct known){.kernel = feed_random(&m->random, 4) == 0,
			    .waits = feed_random(&m->random, 8) == 0,
			    .nframes = (int)feed_random(&m->random, DEPTH + 1)};
	for (int i = 0; i < s->nframes; i++) {
		s->frames[i] = (int)feed_random(&m->random, i < 3 ? 4 : FUNCS);
		frames[i] = m->funcs[s->frames[i]];
	}
	s->waits &= s->nframes > 0;
	sites[0] = s->waits;
	stack.kernel = s->kernel;
	stack.nframes = (uint32_t)s->nframes;
	if (!s->waits)
		stack.sites = NULL;
	id = profile_stack_new(m->p, &stack);
	assert_true(id >= 0);
	s->id = (uint32_t)id;
}

static int known_site(uint32_t site, const char *name, const char *module, uint32_t *outer,
		      uint32_t inlined[PROFILE_INLINED_MAX], void *arg)
{
	const struct machine *m = arg;

	(void)name;
	(void)module;
	(void)outer;
	assert_int_equal(site, 1);
	inlined[0] = m->funcs[INLINED];
	return 1;
}

/* The first frame of those that wait has a call inlined into it. */
static void settle(struct machine *m)
{
	assert_int_equal(profile_settle(m->p, known_site, m), 0);
	for (int i = 0; i < m->nstacks; i++) {
		struct known *s = &m->stacks[i];

		if (!s->waits)
			continue;
		memmove(s->frames + 2, s->frames + 1,
			(size_t)(s->nframes - 1) * sizeof(*s->frames));
		s->frames[1] = INLINED;
		s->nframes++;
		s->waits = false;
	}
}

/* All new stacks and one slice of them. */
static void second(struct machine *m)
{
	struct profile_cell cells[CELLS];

	profile_zero(m->p);
	for (int i = 0; i < m->nstacks; i++)
		profile_stack_put(m->p, m->stacks[i].id);
	if (feed_random(&m->random, 2))
		assert_int_equal(feed_commit(m->p, NULL, 0), 0); /* they go, ids are free */
	make_funcs(m);
	m->nstacks = STACKS;
	for (int i = 0; i < STACKS; i++)
		make_stack(m, &m->stacks[i]);
	for (int i = 0; i < CELLS; i++) {
		struct machine_cell *c = &m->cells[i];
		int a = (int)feed_random(&m->random, STACKS),
		    b = (int)feed_random(&m->random, STACKS);

		*c = (struct machine_cell){
			.ustack = m->stacks[a].kernel ? -1 : a,
			.kstack = m->stacks[b].kernel ? b : -1,
			.proc = feed_proc(m->p, 1 + i % 3, 1, "a", false),
			.count = 1 + feed_random(&m->random, 50),
		};
		cells[i] = (struct profile_cell){
			.proc = c->proc,
			.ustack = c->ustack < 0 ? PROFILE_NO_STACK : m->stacks[a].id,
			.kstack = c->kstack < 0 ? PROFILE_NO_STACK : m->stacks[b].id,
			.count = c->count,
		};
	}
	assert_int_equal(feed_commit(m->p, cells, CELLS), 0);
}

static struct machine *machine_new(uint64_t seed)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->random = seed;
	m->p = profile_new(10, 100000);
	profile_keep(m->p, 600, 1 << 20);
	return m;
}

static void machine_free(struct machine *m)
{
	profile_free(m->p);
	free(m);
}

/* --- the model ------------------------------------------------------------------------------- */

static struct counted *counted_get(struct counted **table, const char *path)
{
	struct counted *c;

	HASH_FIND_STR(*table, path, c);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	assert_non_null(c);
	snprintf(c->path, sizeof(c->path), "%s", path);
	c->last = -1;
	HASH_ADD_STR(*table, path, c);
	return c;
}

static void counted_free(struct counted **table)
{
	struct counted *c, *next;

	HASH_ITER(hh, *table, c, next) {
		HASH_DEL(*table, c);
		free(c);
	}
}

/* By the filter. */
static bool is_chosen(int n)
{
	return n % 8 == 3 || n == 1;
}

/* The functions of a cell as they are shown, outermost first; < 0: it is not part of the answer. */
static int shown(const struct machine_cell *c, const struct known *stacks, const struct query *q,
		 int *frames)
{
	const struct known *parts[] = {c->ustack < 0 || q->hide_user ? NULL : &stacks[c->ustack],
				       c->kstack < 0 || q->hide_kernel ? NULL : &stacks[c->kstack]};
	bool passes = false;
	int n = 0;

	if (q->hide_user && (c->kstack < 0 || !stacks[c->kstack].nframes))
		return -1;
	if (q->proc != QUERY_ALL && q->proc != c->proc)
		return -1;
	for (int k = 0; k < 2; k++)
		for (int i = 0; parts[k] && i < parts[k]->nframes; i++)
			if (!q->hide_inline || !is_inline(parts[k]->frames[i]))
				frames[n++] = parts[k]->frames[i];
	for (int i = 0; i < n; i++)
		passes |= is_chosen(frames[i]);
	return q->filter && passes == q->filter->without ? -1 : n;
}

static struct counted *model_tree(const struct machine *m, const struct query *q, bool callers)
{
	struct counted *table = NULL;

	for (int i = 0; i < CELLS + (q->baseline ? m->nbaseline : 0); i++) {
		bool base = i >= CELLS;
		const struct machine_cell *c = base ? &m->baseline[i - CELLS] : &m->cells[i];
		int frames[4 * DEPTH], n = shown(c, base ? m->old : m->stacks, q, frames);
		char path[PATH_MAX] = "";
		struct counted *at = counted_get(&table, path);

		for (int k = -1; k < n; k++) {
			size_t length = strlen(path);

			if (k >= 0)
				snprintf(path + length, sizeof(path) - length, ";f%d",
					 frames[callers ? n - 1 - k : k]);
			at = counted_get(&table, path);
			*(base ? &at->before : &at->total) += c->count;
		}
		if (n >= 0 && !base)
			at->self += c->count;
	}
	return table;
}

static struct counted *model_funcs(const struct machine *m, const struct query *q)
{
	struct counted *table = NULL;

	for (int i = 0; i < CELLS; i++) {
		int frames[4 * DEPTH], n = shown(&m->cells[i], m->stacks, q, frames);

		for (int k = 0; k < n; k++) {
			char name[16];
			struct counted *at;

			snprintf(name, sizeof(name), "f%d", frames[k]);
			at = counted_get(&table, name);
			at->total += at->last == i ? 0 : m->cells[i].count;
			at->last = i;
			at->self += k == n - 1 ? m->cells[i].count : 0;
		}
	}
	return table;
}

/* --- answers --------------------------------------------------------------------------------- */

static void node_path(const struct profile *p, const struct tree *tree, uint32_t node, char *path,
		      size_t size)
{
	size_t length;

	path[0] = '\0';
	if (!node)
		return;
	node_path(p, tree, tree->nodes[node].parent, path, size);
	length = strlen(path);
	snprintf(path + length, size - length, ";%s", query_func(p, tree->nodes[node].func)->name);
}

/* All of them, by total and then by path. */
static void check_children(const struct tree *tree, const struct tree_node *parent)
{
	uint32_t count = 0, expected = 0;

	for (uint32_t i = 1; i < tree->count; i++)
		expected += &tree->nodes[tree->nodes[i].parent] == parent;
	for (uint32_t k = parent->first_child; k; k = tree->nodes[k].next) {
		const struct tree_node *child = &tree->nodes[k], *next = &tree->nodes[child->next];

		assert_ptr_equal(&tree->nodes[child->parent], parent);
		count++;
		if (child->next)
			assert_true(child->total > next->total ||
				    (child->total == next->total && child->path < next->path));
	}
	assert_int_equal(count, expected);
	assert_int_equal(parent->nchildren, expected);
}

static void check_tree(const struct machine *m, const struct query *q, bool callers)
{
	struct counted *table = model_tree(m, q, callers);
	struct tree tree;
	char path[PATH_MAX];
	int err = callers ? query_callers(m->p, q, &tree) : query_tree(m->p, q, &tree);

	assert_int_equal(err, 0);
	assert_int_equal(tree.count, HASH_COUNT(table));
	for (uint32_t i = 0; i < tree.count; i++) {
		const struct tree_node *n = &tree.nodes[i];
		struct counted *c;

		node_path(m->p, &tree, i, path, sizeof(path));
		HASH_FIND_STR(table, path, c);
		assert_non_null(c);
		assert_int_equal(n->self, c->self);
		assert_int_equal(n->total, c->total);
		assert_int_equal(n->before, c->before);
		check_children(&tree, n);
	}
	free(tree.nodes);
	counted_free(&table);
}

/* The rows have what the tree has, down to the children of nodes of so many samples. */
static void check_below(const struct tree *tree, uint32_t a, const struct tree *rows, uint32_t b,
			double least)
{
	const struct tree_node *x = &tree->nodes[a], *y = &rows->nodes[b];
	uint32_t child = y->first_child;

	assert_int_equal(x->self, y->self);
	assert_int_equal(x->total, y->total);
	assert_int_equal(x->before, y->before);
	assert_int_equal(x->path, y->path);
	if (!a || (double)x->total >= least)
		assert_int_equal(x->nchildren, y->nchildren);
	for (uint32_t c = x->first_child; c && child; c = tree->nodes[c].next) {
		check_below(tree, c, rows, child, least);
		child = rows->nodes[child].next;
	}
}

static void check_rows(const struct machine *m, const struct query *q, bool callers)
{
	double least = 400;
	struct tree tree, rows;
	uint64_t left = 0;
	uint32_t hottest;
	int err = callers ? query_callers(m->p, q, &tree) : query_tree(m->p, q, &tree);

	assert_int_equal(err, 0);
	assert_int_equal(query_rows(m->p, q, callers, least, &rows, &hottest), 0);
	check_below(&tree, 0, &rows, 0, least);
	assert_true(rows.count <= tree.count);
	for (uint32_t i = 1; i < tree.count; i++) {
		bool kept = false;

		for (uint32_t k = 1; k < rows.count && !kept; k++)
			kept = rows.nodes[k].path == tree.nodes[i].path;
		if (!kept && tree.nodes[i].self > left)
			left = tree.nodes[i].self;
	}
	for (uint32_t i = 1; i < rows.count && hottest; i++)
		assert_true(rows.nodes[i].self <= rows.nodes[hottest].self);
	if (callers)
		assert_int_equal(hottest, 0);
	else if (hottest)
		assert_true(left <= rows.nodes[hottest].self);
	for (uint32_t i = 1; i < rows.count && !hottest && !callers; i++)
		assert_true(rows.nodes[i].self < left);
	hottest_left_out += !hottest && !callers;
	left_out += tree.count - rows.count;
	free(tree.nodes);
	free(rows.nodes);
}

struct seen { /* what is asked of a part of a tree */
	uint64_t random;
	uint32_t below; /* one of so many nodes gets no children */
	bool *asked;
	uint32_t room;
};

static int see_some(struct tree_part *part, void *arg)
{
	const struct tree *tree = query_part_tree(part);
	struct seen *seen = arg;

	for (uint32_t i = 0; i < tree->count && i < seen->room; i++) {
		seen->asked[i] = feed_random(&seen->random, seen->below) != 0;
		if (seen->asked[i])
			assert_int_equal(query_part_children(part, i), 0);
		/* Nothing more comes of the second time. */
		if (seen->asked[i] && i % 3 == 0)
			assert_int_equal(query_part_children(part, i), 0);
	}
	return 0;
}

static unsigned long compared, unseen;

/* A node has what it has in the whole tree, and its children are all there where it was asked. */
static void check_seen(const struct tree *tree, uint32_t a, const struct tree *part, uint32_t b,
		       const struct seen *seen)
{
	const struct tree_node *x = &tree->nodes[a], *y = &part->nodes[b];
	uint32_t child = y->first_child;

	compared++;
	assert_int_equal(x->total, y->total);
	assert_int_equal(x->before, y->before);
	assert_int_equal(x->path, y->path);
	assert_int_equal(x->self, y->self);
	if (!seen->asked[b]) {
		assert_int_equal(y->nchildren, 0);
		assert_int_equal(child, 0);
		unseen += x->nchildren;
		return;
	}
	assert_int_equal(x->nchildren, y->nchildren);
	for (uint32_t c = x->first_child; c; c = tree->nodes[c].next) {
		assert_true(child > b);
		assert_int_equal(part->nodes[child].parent, b);
		assert_int_equal(part->nodes[child].func, tree->nodes[c].func);
		check_seen(tree, c, part, child, seen);
		child = part->nodes[child].next;
	}
	assert_int_equal(child, 0);
}

static void check_part(struct machine *m, const struct query *q, bool callers)
{
	struct tree tree, part;
	int err = callers ? query_callers(m->p, q, &tree) : query_tree(m->p, q, &tree);
	struct seen seen = {.random = m->random, .below = 2 + feed_random(&m->random, 9)};

	assert_int_equal(err, 0);
	seen.room = tree.count;
	seen.asked = calloc(seen.room, sizeof(*seen.asked));
	assert_non_null(seen.asked);
	assert_int_equal(query_part(m->p, q, callers, see_some, &seen, &part), 0);
	assert_true(part.count <= tree.count);
	check_seen(&tree, 0, &part, 0, &seen);
	free(seen.asked);
	free(tree.nodes);
	free(part.nodes);
}

static void check_funcs(const struct machine *m, const struct query *q)
{
	struct counted *table = model_funcs(m, q);
	struct func_row *rows;
	size_t count;

	assert_int_equal(query_funcs(m->p, q, &rows, &count), 0);
	assert_int_equal(count, HASH_COUNT(table));
	for (size_t i = 0; i < count; i++) {
		struct counted *c;

		HASH_FIND_STR(table, query_func(m->p, rows[i].func)->name, c);
		assert_non_null(c);
		assert_int_equal(rows[i].self, c->self);
		assert_int_equal(rows[i].total, c->total);
	}
	free(rows);
	counted_free(&table);
}

static void check_all(struct machine *m, uint32_t proc, bool baseline)
{
	static bool chosen[16384]; /* by id, of which there are not as many */
	struct sample_filter kept = {.funcs = chosen, .nfuncs = sizeof(chosen) / sizeof(*chosen)};

	memset(chosen, 0, sizeof(chosen));
	for (int i = 0; i < FUNCS; i++) {
		assert_true(m->funcs[i] < kept.nfuncs);
		chosen[m->funcs[i]] = is_chosen(i);
	}
	for (unsigned int hide = 0; hide < 8; hide++) {
		struct query q = {.span = SPAN_WINDOW,
				  .filter = feed_random(&m->random, 2) ? &kept : NULL,
				  .proc = proc,
				  .hide_user = hide & 1,
				  .hide_kernel = hide & 2,
				  .hide_inline = hide & 4,
				  .baseline = baseline};

		kept.without = feed_random(&m->random, 2);
		check_tree(m, &q, false);
		check_tree(m, &q, true);
		check_rows(m, &q, hide & 1);
		check_part(m, &q, false);
		check_part(m, &q, true);
		if (!baseline)
			check_funcs(m, &q);
	}
}

/* --- tests ----------------------------------------------------------------------------------- */

static void answers_are_those_of_the_model(void **state)
{
	struct machine *m = machine_new(0x1234567);

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		second(m);
		check_all(m, QUERY_ALL, false);
		check_all(m, m->cells[0].proc, false);
		settle(m);
		check_all(m, QUERY_ALL, false);
	}
	assert_true(left_out > 10000 && hottest_left_out > 10);
	assert_true(compared > 100000 && unseen > 10000);
	machine_free(m);
}

static void the_baseline_has_its_own_nodes(void **state)
{
	struct machine *m = machine_new(0x7654321);

	(void)state;
	for (int i = 0; i < ROUNDS / 4; i++) {
		second(m);
		settle(m);
		assert_int_equal(frozen_sum_span(m->p, FROZEN_BASELINE, SPAN_WINDOW), 0);
		memcpy(m->baseline, m->cells, sizeof(m->cells));
		memcpy(m->old, m->stacks, sizeof(m->stacks));
		m->nbaseline = CELLS;
		second(m);
		check_all(m, QUERY_ALL, true);
	}
	machine_free(m);
}

#define MANY 5000 /* stacks ... */
#define DEEP 120  /* ... of so many functions, all but the outermost the same */

struct asked {
	uint32_t levels; /* below the root that are asked about */
};

static int ask_levels(struct tree_part *part, void *arg)
{
	const struct tree *tree = query_part_tree(part);
	struct asked *asked = arg;
	uint32_t end = 1;
	int err = 0;

	for (uint32_t level = 0, i = 0; level < asked->levels && !err; level++, end = tree->count)
		for (; i < end && !err; i++)
			err = query_part_children(part, i);
	return err;
}

/* Of feed_deep's stacks, which are as many as their greatest count. */
static void check_outermost(const struct profile *p, const struct tree *tree, uint32_t node)
{
	unsigned int n = 0;

	assert_int_equal(sscanf(query_func(p, tree->nodes[node].func)->name, "f%u", &n), 1);
	assert_true(n >= 1000 && n < 1000 + MANY);
	assert_int_equal(tree->nodes[node].total, 1 + (n - 1000) * 7919 % MANY);
}

/* What is seen is not cut, however many paths there are, unless it is too much itself. Then nothing
 * is lost: what has no node counts for the one that is next to it. */
static void a_part_of_too_many_is_exact(void **state)
{
	static const enum span spans[] = {SPAN_WINDOW, SPAN_TOTAL};
	struct profile *p = profile_new(10, 100000);
	const uint64_t all = (uint64_t)MANY * (MANY + 1) / 2;

	(void)state;
	profile_keep(p, 600, 1 << 20);
	feed_deep(p, MANY, DEEP);
	for (int i = 0; i < 2; i++) {
		struct query q = {.span = spans[i], .proc = QUERY_ALL};
		struct asked asked = {.levels = DEEP + 1};
		uint64_t all_self = 0;
		struct tree tree;

		assert_int_equal(query_part(p, &q, true, ask_levels, &asked, &tree), 0);
		assert_int_equal(tree.count, DEEP + MANY);
		for (uint32_t n = 0; n < DEEP; n++) {
			assert_int_equal(tree.nodes[n].total, all);
			assert_int_equal(tree.nodes[n].self, 0);
			assert_int_equal(tree.nodes[n].nchildren, n < DEEP - 1 ? 1 : MANY);
		}
		for (uint32_t n = DEEP; n < tree.count; n++) {
			check_outermost(p, &tree, n);
			assert_int_equal(tree.nodes[n].self, tree.nodes[n].total);
		}
		free(tree.nodes);

		asked.levels = 2;
		assert_int_equal(query_part(p, &q, false, ask_levels, &asked, &tree), 0);
		assert_int_equal(tree.count, 1 + 2 * MANY);
		for (uint32_t n = 1; n <= MANY; n++) {
			check_outermost(p, &tree, n);
			assert_int_equal(tree.nodes[tree.nodes[n].first_child].total,
					 tree.nodes[n].total);
		}
		free(tree.nodes);

		asked.levels = DEEP;
		assert_int_equal(query_part(p, &q, false, ask_levels, &asked, &tree), 0);
		assert_int_equal(tree.count, 200000);
		for (uint32_t n = 0; n < tree.count; n++)
			all_self += tree.nodes[n].self;
		assert_int_equal(all_self, all);
		free(tree.nodes);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_the_model),
		cmocka_unit_test(the_baseline_has_its_own_nodes),
		cmocka_unit_test(a_part_of_too_many_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
