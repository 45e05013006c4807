// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random keys, clicks and sizes while the made-up machine goes on. Nothing crashes, nothing leaks
 * (a sanitizer says so), and when rows are made anew the cursor stays on its item.
 *
 * STACKTOP_RANDOM_KEYS says how many keys, STACKTOP_RANDOM_SEED which: both are told when it fails.
 * `make random-keys` types 100,000 under the sanitizers.
 * Covers: tui/app/dispatch.c tui/screen/list.c tui/screen/prompt.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "tests/support/feed_annotation.h"
#include "tests/support/feed_inspection.h"
#include "tests/support/feed_inventory.h"
#include "tests/support/typist.h"
#include "tui/profile/annotation.h"
#include "tui/profile/board.h"
#include "tui/screen/mouse.h"
#include "tui/app/plain_writer.h"
#include "tui/app/dispatch.h"

#define KEYS	     60000
#define KEYS_A_LIFE  2500 /* then another person sits down */
#define KEYS_A_SLICE 7
#define KEYS_A_SIZE  40
#define PROCS	     40
#define FUNCS	     30
#define CAUSES	     4 /* that threads wait for */
#define LAST_KEYS    40

struct rig {
	struct typist *t;
	uint64_t seed;
	uint32_t procs[PROCS], stacks[PROCS * 2], kernel;
	uint32_t waits[CAUSES], wakes[PROCS]; /* kernel stacks */
	int keys[LAST_KEYS];		      /* the last ones, in a ring */
	unsigned long typed, held;
	bool by_cpu; /* all its life: so rows of CPUs do not go, either */
	struct plain_writer plain;
};

static uint32_t rnd(struct rig *m, uint32_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->seed >> 33) % below;
}

/* Each process has two stacks, some of them deep, with names that are long, wide or alike. */
static void open_rig(struct rig *m)
{
	static const char *const names[] = {"run",
					    "漢字の名前",
					    "e\xcc\x81\xcc\x82tude",
					    "loop",
					    "std::map<int, std::string>::operator[](int)",
					    "h",
					    "",
					    "a_name_that_is_quite_long_to_be_cut_somewhere"};
	struct machine *f;

	m->t = typist_new();
	f = &m->t->feed;
	profile_lock(f->p);
	for (uint32_t i = 0; i < PROCS; i++) {
		struct profile_proc proc = {
			.pid = (pid_t)(100 + i), .image = 1, .nthreads = 1 + i % 4};

		snprintf(proc.comm, sizeof(proc.comm), "proc%u", i % 30);
		snprintf(proc.user, sizeof(proc.user), "%s", i % 3 ? "root" : "www");
		snprintf(proc.group, sizeof(proc.group), "docker %u", i % 5);
		snprintf(proc.cmdline, sizeof(proc.cmdline), "/usr/bin/%s --%s", proc.comm,
			 names[i % 8]);
		m->procs[i] = (uint32_t)profile_proc(f->p, &proc);
	}
	for (uint32_t i = 0; i < PROCS * 2; i++) {
		char frames[8192];
		size_t n = (size_t)snprintf(frames, sizeof(frames),
					    i % 9 == 8 ? "!pc not covered;" : "");
		uint32_t depth = i % 10 == 9 ? 90 : 2 + rnd(m, 12);

		for (uint32_t d = 0; d < depth; d++)
			n += (size_t)snprintf(frames + n, sizeof(frames) - n, "%s%s%u@mod%u",
					      d ? ";" : "", names[rnd(m, 8)], rnd(m, FUNCS),
					      rnd(m, 5));
		m->stacks[i] = machine_stack(f, frames);
	}
	m->kernel = machine_stack(f, "k:entry@vmlinux;k:do_read@vmlinux;k:copy@vmlinux");
	for (uint32_t i = 0; i < CAUSES; i++) {
		char frames[256];

		snprintf(frames, sizeof(frames), "k:entry%u@vmlinux;k:schedule@vmlinux;wait:%s", i,
			 wait_text((enum wait_cause)(WAIT_LOCK + i))->name);
		m->waits[i] = machine_stack(f, frames);
	}
	for (uint32_t i = 0; i < PROCS; i++) {
		char frames[256];

		snprintf(frames, sizeof(frames), "k:futex@vmlinux;wait:lock;lock:0x%x;%s%s", i,
			 i % 5 ? "waker:proc1@pid 101;main@mod1;" : "waker:interrupt",
			 i % 5 ? names[i % 8] : "");
		m->wakes[i] = machine_stack(f, frames);
	}
	profile_unlock(f->p);
}

static void close_rig(struct rig *m)
{
	struct machine *f = &m->t->feed;

	profile_lock(f->p);
	for (uint32_t i = 0; i < PROCS * 2; i++)
		profile_stack_put(f->p, m->stacks[i]);
	for (uint32_t i = 0; i < CAUSES; i++)
		profile_stack_put(f->p, m->waits[i]);
	for (uint32_t i = 0; i < PROCS; i++)
		profile_stack_put(f->p, m->wakes[i]);
	profile_stack_put(f->p, m->kernel);
	profile_unlock(f->p);
	typist_free(m->t);
}

/* Every stack has samples in every slice, so nothing goes by itself; what changes is the order. */
static void slice(struct rig *m)
{
	struct machine *f = &m->t->feed;
	struct profile_cell cells[PROCS * 7], *cell = cells;
	struct profile_health h;
	uint64_t user = 0;

	for (uint32_t i = 0; i < PROCS * 2; i++, cell += 3) {
		*cell = (struct profile_cell){.proc = m->procs[i / 2],
					      .tid = 100 + i / 2 + (i % 2) * 1000,
					      .ustack = m->stacks[i],
					      .kstack = PROFILE_NO_STACK,
					      .count = 40 + rnd(m, 100),
					      .cpu = m->by_cpu ? 1 + i % 5 : 0};
		user += cell->count;
		/* The thread waits at the same place, which its time has, too. */
		cell[1] = *cell;
		cell[1].kstack = m->waits[i / 2 % CAUSES];
		cell[1].weight = 400000 + rnd(m, 500000);
		cell[2] = cell[1];
		cell[2].ustack = PROFILE_NO_STACK;
		cell[2].kstack =
			profile_time_stack(f->p, (enum wait_cause)(WAIT_LOCK + i / 2 % CAUSES));
		cell[2].count = 1;
	}
	for (uint32_t i = 0; i < PROCS; i++, cell++)
		*cell = (struct profile_cell){.proc = m->procs[i],
					      .tid = 100 + i,
					      .ustack = m->stacks[i * 2],
					      .kstack = m->wakes[i],
					      .count = 1 + rnd(m, 9),
					      .weight = 400000 + rnd(m, 500000)};
	f->time += MACHINE_SECOND;
	m->t->ui->now = f->time;
	machine_health(f, &h, user, 0, user - user / 9);
	h.by_cpu = m->by_cpu;
	h.waits = true;
	h.wait_ns = rnd(m, 20000000);
	h.wait_thinned = rnd(m, 3);
	h.wait_walks = 100;
	profile_lock(f->p);
	assert_int_equal(profile_commit(f->p, cells, (size_t)(cell - cells), &h), 0);
	if (rnd(m, 20) == 0)
		board_message(profile_board(f->p), (enum message_level)rnd(m, 3), "message %u",
			      rnd(m, 100));
	profile_unlock(f->p);
}

/* What the other threads would answer. */
static void answer(struct rig *m)
{
	struct profile *p = m->t->feed.p;
	struct annotation_wish wish;
	bool wished;

	profile_lock(p);
	if (board_inventory_wanted(profile_board(p)))
		board_set_inventory(profile_board(p), feed_inventory(m->t->ui->now));
	wished = board_annotation_wish(profile_board(p), &wish);
	if (wished && rnd(m, 3))
		board_set_annotation(profile_board(p), feed_annotation(wish.serial));
	profile_unlock(p);
	if (nposted && posted == SOURCE_INSPECT) {
		profile_lock(p);
		board_set_inspection(profile_board(p), feed_inspection((pid_t)atoi(posted_arg)));
		profile_unlock(p);
	}
	nposted = 0;
}

static int any_key(struct rig *m)
{
	static const int odd[] = {0,
				  0x7f,
				  0x301,
				  0x6f22,
				  0x10ffff,
				  KEYCODE_F0 + 11,
				  KEYCODE_NONE,
				  KEYCODE_DELETE,
				  KEYCODE_ENTER,
				  KEYCODE_ESCAPE,
				  KEYCODE_ESCAPE};
	size_t count;
	const struct key_row *rows = keys_table(&count);
	const char *names, *at;
	uint32_t kind = rnd(m, 100), n;

	if (kind < 12)
		return (int)(' ' + rnd(m, 95));
	if (kind < 20)
		return odd[rnd(m, sizeof(odd) / sizeof(odd[0]))];
	names = rows[rnd(m, (uint32_t)count)].keys;
	n = rnd(m, 3);
	for (at = names; n && strchr(at, ' '); n--)
		at = strchr(at, ' ') + 1;
	return keys_parse(at, strcspn(at, " "));
}

/* Nonsense alone would keep nothing, find nothing, and name nothing. */
static void sensible_answer(struct rig *m)
{
	static const char *const answers[] = {"proc1",
					      "run",
					      "!run",
					      "comm:proc2",
					      "module:mod[12]",
					      "user:www",
					      "5",
					      "0.1",
					      "100",
					      "all",
					      "sort pid",
					      "zoom 105",
					      "tag proc3",
					      "inspect 107",
					      "annotate run3",
					      "set units machine",
					      "set hide.procs USER, THR",
					      "theme mono",
					      "bind F5 flip",
					      "detach",
					      "set window total",
					      "set window sliding",
					      "callers",
					      "by-cpu",
					      "cpu:1|3",
					      "untag",
					      "procs"};
	const char *answer = answers[rnd(m, sizeof(answers) / sizeof(answers[0]))];

	ui_key(m->t->ui, 'U' - '@');
	type(m->t, answer);
	ui_key(m->t->ui, KEYCODE_ENTER);
}

static void press(struct rig *m)
{
	struct ui *ui = m->t->ui;
	int key = any_key(m);

	m->keys[m->typed++ % LAST_KEYS] = key;
	if (rnd(m, 25) == 0) {
		struct mouse mouse = {(enum mouse_kind)rnd(m, 4),
				      (int)rnd(m, (uint32_t)m->t->g->rows),
				      (int)rnd(m, (uint32_t)m->t->g->cols), rnd(m, 3) == 0};

		ui_draw(ui, m->t->g);
		ui_mouse(ui, m->t->g, &mouse);
	} else {
		ui_key(ui, key);
	}
	if (ui->prompt.question && rnd(m, 4) == 0)
		sensible_answer(m);
	answer(m);
	if (rnd(m, 4) == 0)
		ui_draw(ui, m->t->g);
}

static void resize(struct rig *m)
{
	int rows = 1 + (int)rnd(m, rnd(m, 8) ? 50 : 120);
	int cols = 1 + (int)rnd(m, rnd(m, 8) ? 160 : 400);

	assert_int_equal(grid_resize(m->t->g, rows, cols), 0);
	ui_draw(m->t->ui, m->t->g);
}

static void fail_with_keys(const struct rig *m, const char *before, const char *after)
{
	char text[LAST_KEYS * (KEYMAP_NAME + 12)] = "";
	size_t n = 0;

	for (unsigned long i = m->typed > LAST_KEYS ? m->typed - LAST_KEYS : 0; i < m->typed; i++) {
		char name[KEYMAP_NAME];
		int key = m->keys[i % LAST_KEYS];

		if (!keymap_name(key, name, sizeof(name)))
			snprintf(name, sizeof(name), "%x", (unsigned int)key);
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", name);
	}
	fail_msg("key %lu in view %d: the cursor went from '%s' to '%s'; the last keys:%s\n%s",
		 m->typed, (int)m->t->ui->view, before, after, text, screen(m->t));
}

/* What lies over the rows would take most keys for itself, and a filter or a frozen view that has
 * nothing leaves nothing to be looked at. */
static void clear_rows(struct ui *ui)
{
	prompt_close(&ui->prompt);
	menu_close(&ui->menu);
	ui_close_page(ui);
	ui->config.keys.count = 0;
	ui_key(ui, 'Z');
	ui_key(ui, KEYCODE_ESCAPE);
}

/* Nothing lies over the rows, and the keys of movement mean that. */
static bool rows_are_free(const struct ui *ui)
{
	return !ui->prompt.question && !ui->menu.title && !ui->page.ops && !ui->overlay.ops &&
	       !ui->config.keys.count;
}

/* Whatever the screen shows can be told in lines. */
static void tell(struct rig *m)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	plain_writer_state(&m->plain, to, m->t->ui);
	assert_int_equal(plain_writer_news(&m->plain, to, m->t->ui), 0);
	fclose(to);
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (unsigned char)*c >= ' ');
	free(text);
}

/* A person chooses a row; then the data changes, and with it the order. */
static void check_cursor(struct rig *m)
{
	struct ui *ui = m->t->ui;
	char before[400], after[400] = "nothing";

	ui_key(ui, rnd(m, 2) ? 'j' : 'k');
	if (!plain_writer_cursor(ui, before, sizeof(before)))
		return;
	slice(m);
	assert_int_equal(ui_refresh(ui), 0);
	if (rnd(m, 2))
		resize(m);
	plain_writer_cursor(ui, after, sizeof(after));
	if (strcmp(before, after) != 0)
		fail_with_keys(m, before, after);
	m->held++;
}

static void live(struct rig *m, unsigned long keys)
{
	open_rig(m);
	for (unsigned long i = 0; i < keys; i++) {
		press(m);
		if (i % KEYS_A_SIZE == 0)
			resize(m);
		if (i % KEYS_A_SLICE)
			continue;
		slice(m);
		assert_int_equal(ui_refresh(m->t->ui), 0);
		if (rnd(m, 4) == 0)
			tell(m);
		if (rnd(m, 4) == 0)
			clear_rows(m->t->ui);
		if (rows_are_free(m->t->ui))
			check_cursor(m);
	}
	close_rig(m);
}

static unsigned long number_of(const char *name, unsigned long usual)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 10) : usual;
}

static void random_keys(void **state)
{
	unsigned long keys = number_of("STACKTOP_RANDOM_KEYS", KEYS);
	unsigned long seed = number_of("STACKTOP_RANDOM_SEED", 1), typed = 0, held = 0;

	(void)state;
	/* A life has a seed of its own, so one that fails can be lived alone. */
	for (; typed < keys; seed++) {
		struct rig *m = calloc(1, sizeof(*m));
		unsigned long more = keys - typed < KEYS_A_LIFE ? keys - typed : KEYS_A_LIFE;

		assert_non_null(m);
		m->seed = seed;
		m->by_cpu = seed % 2;
		print_message("# STACKTOP_RANDOM_SEED=%lu STACKTOP_RANDOM_KEYS=%lu\n", seed, more);
		live(m, more);
		typed += more;
		held += m->held;
		free(m);
	}
	print_message("# %lu keys, the cursor was looked at %lu times\n", typed, held);
	/* A test whose overlays never close would look at nothing. */
	assert_true(held * 60 > typed || typed < KEYS_A_LIFE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_keys)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
