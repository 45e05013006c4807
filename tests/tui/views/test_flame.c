// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=calltree_load_part */
/*
 * The flame view and the callers: whole screens of a made-up machine, and that what they show are
 * the shares that were put in. The sums are those of machine.h: a second has 298 samples, 251 of
 * them of nginx, 100 in ngx_parse_header, 50 in memmove, 50 in tcp_sendmsg below ngx_writev. And
 * that what is made for the part that is seen is what there would be of the whole tree.
 * Covers: tui/views/view_flame.c tui/views/flamebox.c tui/views/treepath.c
 * Covers: tui/views/calltree.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/typist.h"
#include "tests/support/trees.h"
#include "tui/views/calltree.h"
#include "tui/views/flamebox.h"
#include "tui/views/treepath.h"
#include "tui/app/dispatch.h"

typedef int grow_fn(struct tree_part *part, void *arg);

static int asked; /* of the profile, for the part that Flame shows */

int __wrap_calltree_load_part(struct calltree *calls, const struct ui *ui, const struct profile *p,
			      bool callers, grow_fn *grow, void *arg);
int __real_calltree_load_part(struct calltree *calls, const struct ui *ui, const struct profile *p,
			      bool callers, grow_fn *grow, void *arg);

int __wrap_calltree_load_part(struct calltree *calls, const struct ui *ui, const struct profile *p,
			      bool callers, grow_fn *grow, void *arg)
{
	asked++;
	return __real_calltree_load_part(calls, ui, p, callers, grow, arg);
}

static int setup(void **state)
{
	struct typist *t = typist_after(12);

	type(t, "5");
	*state = t;
	return 0;
}

static void screens_are_as_expected(void **state)
{
	static const char *const keys[] = {"", "jj\n", "v", "b", "4"};
	static const char *const names[] = {"flame", "flame-zoomed", "flame-upright",
					    "flame-callers", "callers"};
	struct typist *t = *state;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		type(t, keys[k]);
		for (int ascii = 0; ascii < 2; ascii++) {
			t->ui->ascii = ascii;
			for (size_t i = 0; typist_resize(t, i); i++)
				compare(t, names[k]);
		}
		grid_resize(t->g, 30, 100);
	}
}

/* Columns that a frame takes on the screen, from its separator to the next one. */
static int columns_of(struct typist *t, const char *name)
{
	const char *line, *at;
	int width;
	char text[64];

	t->ui->ascii = true; /* a column is a byte then */
	line = screen(t);
	snprintf(text, sizeof(text), "|%s", name);
	at = strstr(line, text);
	assert_non_null(at);
	for (width = 1; at[width] && at[width] != '\n' && at[width] != '|'; width++)
		;
	return at[width] == '|' ? width : -1;
}

static void widths_are_shares(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 40, 298); /* a column is a sample of each second */
	assert_shows(t, "all processes  100.0%");
	assert_shows(t, "ngx_worker_process_cycle  67.4%"); /* 201 of 298 */
	assert_int_equal(columns_of(t, "ngx_parse_header"), 100);
	assert_int_equal(columns_of(t, "main"), 60); /* postgres's; node's is another function */
	assert_int_equal(columns_of(t, "ngx_process_request_line"), 150);
	assert_int_equal(columns_of(t, "ngx_writev"), 50);
}

static void cursor_and_zoom(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 150);
	assert_shows(t, ">all processes");
	type(t, "j");
	assert_shows(t, ">4121 nginx");
	type(t, "jjj");
	assert_shows(t, ">ngx_process_request_line");
	type(t, "l");
	assert_shows(t, ">ngx_writev");
	type(t, "l");
	assert_shows(t, ">ExecInterpExpr"); /* what is under half a column is passed */
	type(t, "hh");
	assert_shows(t, ">ngx_process_request_line");
	/* It stays there when others become hotter. */
	assert_int_equal(machine_slice(&t->feed, 1), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_shows(t, ">ngx_process_request_line");
	type(t, "\n");
	assert_shows(t, "> ... > ngx_process_request_line");
	assert_shows(t, "of zoom 100.0%");
	type(t, "j");
	assert_shows(t, ">ngx_parse_header");
	type(t, "k");
	type(t, "\b");
	assert_shows(t, "> ... > ngx_process_events_and_timers");
	type(t, "\b\b");
	assert_shows(t, "> 4121 nginx");
	type(t, "\b\b");
	assert_int_equal(t->ui->view, VIEW_PROCS);
}

static void turned_and_flipped(void **state)
{
	struct typist *t = *state;
	const char *root, *leaf;

	root = strstr(screen(t), "all processes  100");
	leaf = strstr(t->text, "ngx_parse_header");
	assert_true(root && leaf && root < leaf);
	type(t, "v");
	root = strstr(screen(t), "all processes  100");
	leaf = strstr(t->text, "ngx_parse_header");
	assert_true(root && leaf && leaf < root);
	type(t, "b");
	assert_shows(t, "callers, leaf at the bottom");
	type(t, "k"); /* up is away from the root now: the hottest that executed */
	assert_shows(t, ">ngx_parse_header");
	type(t, "k");
	assert_shows(t, ">ngx_process_request_line");
	assert_shows(t, "of parent 100.0%");
	/* a caller executes nothing itself; stacks may begin there, which is blank above */
	assert_shows(t, "  begin here 0.0%");
	assert_hides(t, "  self ");
	assert_shows(t, "blank above = begin here");
}

static void search_and_same_name(void **state)
{
	struct typist *t = *state;

	type(t, "/memm\n");
	assert_shows(t, ">memmove");
	type(t, "/ngx_w\n");
	assert_shows(t, ">ngx_writev");
	type(t, "n");
	assert_shows(t, ">ngx_worker_process_cycle");
	type(t, "N");
	assert_shows(t, ">ngx_writev");
	type(t, "g/node::Parse\n");
	assert_shows(t, "node::Parse(int) ");
	type(t, "#"); /* its parentheses are no pattern */
	assert_hides(t, "not found");
	assert_string_equal(t->ui->search.pattern, "^node::Parse\\(int\\)$");
}

/* A sample counts once, however many frames of its stack are found; of 298 a second. */
static void search_tells_the_share(void **state)
{
	struct typist *t = *state;

	type(t, "/ngx_p\n"); /* events_and_timers and, below it, request_line and parse_header */
	assert_shows(t, "search: ngx_p  3 frames, 67.4% of samples"); /* 201 */
	type(t, "/^main|SENDMSG\n");
	assert_shows(t, "search: ^main|SENDMSG  3 frames, 38.6% of samples"); /* 60, 5 and 50 */
	type(t, "/memmove\n");
	assert_shows(t, "search: memmove  1 frame, 16.8% of samples"); /* 50 */
	type(t, "/nowhere\n");
	assert_shows(t, "not found: nowhere");
	assert_hides(t, "search:");
	/* In what is zoomed into; all samples are still what shares are of. */
	type(t, "g/request_line\n\n/ngx\n");
	assert_shows(t, "search: ngx  2 frames, 50.3%  "); /* 150 */
	type(t, "\b\b\b5");				   /* out to another view, and back */
	type(t, "b/ngx_p\n");
	assert_shows(t, "search: ngx_p  7 frames, 67.4% of samples");
	type(t, "b/ngx_p|tcp\n");
	for (size_t i = 0; typist_resize(t, i); i++)
		compare(t, "flame-found");
	type(t, "/\n");
	assert_hides(t, "search:");
}

/* A key that searches asks the profile once, and shows what the next refresh would. */
static void a_search_asks_once(void **state)
{
	static const char *const keys[] = {"/memm\n",
					   "n",
					   "N",
					   "/ngx_\n",
					   "n",
					   "/nowhere\n",
					   ":search exec\n",
					   "/ngx_writev\n",
					   "#",
					   "\\memm|writev\n",
					   "b",
					   "/ngx_p|tcp\n",
					   "n"};
	struct typist *t = *state;
	char *shown;

	screen(t);
	assert_int_equal(ui_refresh(t->ui), 0); /* it is known how wide it is by now */
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		for (const char *key = keys[i]; *key; key++) {
			const char one[] = {*key, '\0'};

			asked = 0;
			type(t, one);
			if (asked > 1)
				fail_msg("%d times for %c of %s", asked, *key, keys[i]);
		}
		t->ui->notice[0] = '\0';
		shown = strdup(screen(t));
		assert_non_null(shown);
		assert_int_equal(ui_refresh(t->ui), 0);
		assert_string_equal(shown, screen(t));
		free(shown);
	}
	/* What was searched elsewhere is counted when it is looked at. */
	type(t, "\\\b\n2/memmove\n5");
	assert_shows(t, "search: memmove  ");
	assert_shows(t, "% of samples");
	type(t, "z2/writev\n5");
	assert_shows(t, "search: writev  ");
	/* In a screen of another width, where all of the tree is there at first. */
	grid_resize(t->g, 40, 150);
	screen(t);
	type(t, "/tcp\n");
	assert_shows(t, "search: tcp  ");
}

static void callers_are_counted(void **state)
{
	struct typist *t = *state;

	type(t, "4");
	assert_shows(t, "EXECUTED, CALLED BY");
	assert_mark_on(t, "ngx_parse_header");
	assert_mark_on(t, " 33.6"); /* 100 of 298 */
	assert_mark_on(t, "(1)");
	type(t, "*");
	assert_shows(t, "ngx_worker_process_cycle");
	type(t, "/tcp_send\n");
	assert_mark_on(t, "16.8"); /* 50 of 298 */
	type(t, "*");
	/* the kernel's caller is the user's leaf */
	type(t, "jj");
	assert_mark_on(t, "ngx_writev");
	type(t, "b");
	assert_int_equal(t->ui->view, VIEW_TREE);
	type(t, "b");
	assert_int_equal(t->ui->view, VIEW_CALLERS);
	ui_key(t->ui, KEYCODE_F0 + 5);
	assert_int_equal(t->ui->view, VIEW_FLAME);
	ui_key(t->ui, KEYCODE_F0 + 5);
	assert_int_equal(t->ui->view, VIEW_TREE);
}

static void no_size_breaks(void **state)
{
	struct typist *t = *state;

	assert_no_size_breaks(t);
	type(t, "vbjjkk\n/ngx\n");
	assert_no_size_breaks(t);
	type(t, "4");
	assert_no_size_breaks(t);
}

/* Of a tree of all kinds of widths: boxes lie on their parents, side by side, each once. */
static void boxes_are_nested(void **state)
{
	enum { NODES = 3000 };
	struct tree_node *nodes = calloc(NODES, sizeof(*nodes));
	struct tree tree = {nodes, NODES};
	struct flame flame = {0};
	uint32_t seed = 7;

	(void)state;
	for (uint32_t i = 1; i < NODES; i++) {
		seed = seed * 1103515245u + 12345u;
		nodes[i].parent = (seed >> 8) % (i < 20 ? i : 20 + i % 40) % i;
		nodes[i].self = (seed >> 16) % 50;
	}
	for (uint32_t i = NODES - 1; i > 0; i--) {
		nodes[i].total += nodes[i].self;
		nodes[nodes[i].parent].total += nodes[i].total;
		nodes[i].next = nodes[nodes[i].parent].first_child;
		nodes[nodes[i].parent].first_child = i;
	}
	for (int columns = 1; columns < 400; columns += 7) {
		assert_int_equal(flame_make(&flame, &tree, NULL, 0, columns), 0);
		assert_true(flame.count >= 1);
		for (size_t i = 1; i < flame.count; i++) {
			const struct flame_box *b = &flame.boxes[i], *on = &flame.boxes[b->parent];
			double width =
				(double)nodes[b->node].total * columns / (double)nodes[0].total;

			assert_true(b->from >= on->from && b->to <= on->to && b->from < b->to);
			assert_true(b->to - b->from < width + 1 && b->to - b->from > width - 1);
			assert_int_equal(nodes[b->node].parent, on->node);
			if (flame.boxes[i - 1].level == b->level)
				assert_true(flame.boxes[i - 1].to <= b->from);
			assert_int_equal(flame_at(&flame, b->level, b->to - 1), i);
		}
	}
	flame_free(&flame);
	free(nodes);
}

#define LIMBS 100
#define STEPS 1500

static uint32_t draw(uint64_t *random, uint32_t below)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*random >> 33) % below;
}

/* Stacks of few functions, so that paths have many branches, of which most are narrow. */
static void feed_branches(struct profile *p, uint64_t *random)
{
	struct profile_health health = {
		.elapsed = 1000000000, .ncpus = 4, .frequency = 99, .event = "cpu-clock"};
	struct profile_proc proc = {.pid = 77, .image = 1, .comm = "limbs"};
	struct profile_cell cells[LIMBS];

	for (uint32_t i = 0; i < LIMBS; i++) {
		uint32_t frames[9], n = draw(random, 10);
		struct profile_stack stack = {.complete = true, .nframes = n, .frames = frames};

		for (uint32_t k = 0; k < n; k++) {
			uint32_t number = draw(random, 12);
			char name[16];

			snprintf(name, sizeof(name), "limb%u", number);
			frames[k] = (uint32_t)profile_func(p, number % 4 ? FUNC_USER : FUNC_INLINE,
							   name, "libtree.so");
		}
		cells[i] = (struct profile_cell){(uint32_t)profile_proc(p, &proc),
						 77,
						 (uint32_t)profile_stack_new(p, &stack),
						 PROFILE_NO_STACK,
						 1 + draw(random, 5),
						 0,
						 0};
		health.samples += cells[i].count;
	}
	assert_int_equal(profile_commit(p, cells, LIMBS, &health), 0);
	for (uint32_t i = 0; i < LIMBS; i++)
		profile_stack_put(p, cells[i].ustack);
}

/* What has become wider was not seen, so that all of the tree is asked for. */
static void ask_for_all(struct typist *t, int columns)
{
	grid_resize(t->g, 40, columns + 1);
	screen(t);
	grid_resize(t->g, 40, columns);
	screen(t);
}

/* Nodes too narrow to be drawn are not asked for; the screen is the same as with all of them. */
static void what_is_not_seen_is_there(void **state)
{
	static const char *const keys[] = {"j",	       "j",	 "j", "j",   "l",  "h",
					   "k",	       "\n",	 "n", "N",   "\b", "b",
					   "/limb7\n", "/11$\n", "J", "K",   "G",  "g",
					   "v",	       "#",	 "l", "zBX", "Xz", "\\limb[1-5]\n"};
	struct typist *t[2] = {typist_new(), typist_new()};
	uint64_t random = 4711;

	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		grid_resize(t[whole]->g, 40, 90);
		profile_keep(t[whole]->feed.p, 60, 1 << 24);
	}
	for (int step = 0; step < STEPS; step++) {
		const char *key = keys[draw(&random, sizeof(keys) / sizeof(keys[0]))];
		uint64_t seed = draw(&random, 1 << 30);
		const char *shown[2];

		for (int whole = 0; whole < 2; whole++) {
			uint64_t same = seed;

			if (step % 8 == 0) {
				feed_branches(t[whole]->feed.p, &same);
				assert_int_equal(ui_refresh(t[whole]->ui), 0);
			}
			if (t[whole]->ui->view != VIEW_FLAME)
				type(t[whole], "5");
			screen(t[whole]);
			if (whole)
				ask_for_all(t[whole], 90);
			type(t[whole], key);
			shown[whole] = screen(t[whole]);
		}
		if (strcmp(shown[0], shown[1]) != 0)
			fail_msg("step %d, %s:\n%s\nall:\n%s", step, key, shown[0], shown[1]);
	}
	typist_free(t[0]);
	typist_free(t[1]);
}

struct grown {
	const struct search_total *judged;
	struct search_total found;
	uint64_t *random;
	uint64_t path; /* of the node that was looked below */
};

/* Some children of some children. */
static int grow_some(struct tree_part *part, void *arg)
{
	const struct tree *tree = query_part_tree(part);
	struct grown *g = arg;
	uint32_t top;

	for (int i = 0; i < 20; i++)
		assert_int_equal(query_part_children(part, draw(g->random, tree->count)), 0);
	top = draw(g->random, 3) ? draw(g->random, tree->count) : 0;
	g->path = tree->nodes[top].path;
	g->found = *g->judged;
	return search_total_in_part(&g->found, part, top);
}

struct counted {
	const struct profile *p;
	struct search_total *judged;
	bool hide_inline;
	uint64_t samples;
};

static int count_found(const struct profile_cell *cell, void *arg)
{
	const uint32_t stacks[] = {cell->ustack, cell->kstack};
	struct counted *c = arg;

	for (int i = 0; i < 2; i++) {
		const struct profile_stack *stack = query_stack(c->p, stacks[i]);

		for (uint32_t k = 0; stack && k < stack->nframes; k++) {
			const struct profile_func *func = query_func(c->p, stack->frames[k]);

			if (c->hide_inline && func->kind == FUNC_INLINE)
				continue;
			if (search_total_func(c->judged, stack->frames[k])) {
				c->samples += cell->count;
				return 0;
			}
		}
	}
	return 0;
}

/* In a part of the tree, in the whole tree, and stack by stack. */
static void what_is_found_is_counted(void **state)
{
	static const char *const patterns[] = {"limb[1-3]$", "limb1", "libtree", "limb[0-9]"};
	struct typist *t = typist_new();
	uint64_t random = 815;
	int nonzero = 0;

	(void)state;
	for (int step = 0; step < 160; step++) {
		struct query q = {.proc = QUERY_ALL, .hide_inline = step & 1};
		struct search_total judged = {0}, whole;
		struct grown g = {.judged = &judged, .random = &random};
		struct counted c = {t->feed.p, &judged, q.hide_inline, 0};
		struct tree part, tree;
		uint32_t top = 0;
		bool callers = step & 2;

		feed_branches(t->feed.p, &random);
		search_set(t->ui, patterns[step / 4 % 4]);
		profile_lock(t->feed.p);
		assert_int_equal(search_total_judge(&judged, t->ui, t->feed.p), 0);
		assert_int_equal(query_part(t->feed.p, &q, callers, grow_some, &g, &part), 0);
		assert_int_equal(callers ? query_callers(t->feed.p, &q, &tree)
					 : query_tree(t->feed.p, &q, &tree),
				 0);
		while (g.path && tree.nodes[top].path != g.path)
			assert_true(++top < tree.count);
		whole = judged;
		assert_int_equal(search_total_in_tree(&whole, &tree, top), 0);
		assert_int_equal(g.found.sum.samples, whole.sum.samples);
		assert_int_equal(g.found.sum.nodes, whole.sum.nodes);
		query_cells(t->feed.p, &q, count_found, &c);
		if (!top)
			assert_int_equal(c.samples, whole.sum.samples);
		nonzero += !top && c.samples;
		profile_unlock(t->feed.p);
		search_total_free(&judged);
		free(part.nodes);
		free(tree.nodes);
	}
	assert_true(nonzero > 20);
	typist_free(t);
}

#define SCREEN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(screens_are_as_expected),
		SCREEN_TEST(widths_are_shares),
		SCREEN_TEST(cursor_and_zoom),
		SCREEN_TEST(turned_and_flipped),
		SCREEN_TEST(search_and_same_name),
		SCREEN_TEST(search_tells_the_share),
		SCREEN_TEST(a_search_asks_once),
		SCREEN_TEST(callers_are_counted),
		SCREEN_TEST(no_size_breaks),
		cmocka_unit_test(boxes_are_nested),
		cmocka_unit_test(what_is_not_seen_is_there),
		cmocka_unit_test(what_is_found_is_counted),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
