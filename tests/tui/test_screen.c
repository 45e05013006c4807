// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=engine_post */
/*
 * Types keys at a made-up profile and looks at the screen as text. Whole screens are compared with
 * files of expected/; STACKTOP_EXPECTED=write makes them anew, to be read before they are kept.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/feed.h"
#include "tui/engine.h"
#include "tui/options.h"
#include "tui/ui.h"

static enum engine_command posted;
static char posted_arg[64];
static int nposted;

void __wrap_engine_post(struct engine *engine, enum engine_command command, const char *arg);

void __wrap_engine_post(struct engine *engine, enum engine_command command, const char *arg)
{
	(void)engine;
	posted = command;
	snprintf(posted_arg, sizeof(posted_arg), "%s", arg);
	nposted++;
}

struct fixture {
	struct feed feed;
	struct ui *ui;
	struct grid *g;
	char *text;
	char engine; /* only its address counts */
};

static int setup(void **state)
{
	static const struct options options = {.delay = 1};
	struct fixture *f = calloc(1, sizeof(*f));

	feed_open(&f->feed);
	f->ui = ui_new(f->feed.p, (struct engine *)&f->engine, &options);
	f->ui->utf8 = true;
	f->ui->now = FEED_NOW;
	strcpy(f->ui->clock, "14:03:21");
	strcpy(f->ui->host, "web-07");
	f->g = grid_new(30, 100);
	nposted = 0;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ui_free(f->ui);
	grid_free(f->g);
	feed_close(&f->feed);
	free(f->text);
	free(f);
	return 0;
}

static void slices(struct fixture *f, int n, int heavy)
{
	while (n--)
		assert_int_equal(feed_slice(&f->feed, heavy), 0);
	assert_int_equal(ui_refresh(f->ui), 0);
}

/* Keys are characters; `\n` is Enter, `\b` Backspace. */
static void type(struct fixture *f, const char *keys)
{
	for (; *keys; keys++)
		ui_key(f->ui, *keys == '\n'   ? KEYCODE_ENTER
			      : *keys == '\b' ? KEYCODE_BACKSPACE
					      : *keys);
}

static const char *screen(struct fixture *f)
{
	free(f->text);
	ui_draw(f->ui, f->g);
	f->text = grid_text(f->g);
	return f->text;
}

static void assert_shows(struct fixture *f, const char *want)
{
	if (!strstr(screen(f), want))
		fail_msg("'%s' is not on the screen:\n%s", want, f->text);
}

static void assert_hides(struct fixture *f, const char *unwanted)
{
	if (strstr(screen(f), unwanted))
		fail_msg("'%s' is on the screen:\n%s", unwanted, f->text);
}

/* The text of the row that the cursor of the view is on. */
static const char *cursor_row(struct fixture *f)
{
	static char row[1024];
	const char *line = screen(f);

	for (int i = 0; i < f->g->rows; i++) {
		const char *end = strchr(line, '\n');

		if (f->g->cells[(size_t)i * f->g->cols + 20].role == ROLE_CURSOR) {
			snprintf(row, sizeof(row), "%.*s", (int)(end - line), line);
			return row;
		}
		line = end + 1;
	}
	return "";
}

static void assert_cursor_on(struct fixture *f, const char *want)
{
	const char *row = cursor_row(f);

	if (!strstr(row, want))
		fail_msg("the cursor is on '%s', not on %s\n%s", row, want, f->text);
}

static void compare(struct fixture *f, const char *name)
{
	char path[128], want[32768];
	const char *mode = getenv("STACKTOP_EXPECTED");
	FILE *file;

	snprintf(path, sizeof(path), "tests/tui/expected/%s-%dx%d%s.txt", name, f->g->cols,
		 f->g->rows, f->ui->ascii ? "-ascii" : "");
	screen(f);
	if (mode && strcmp(mode, "write") == 0) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(f->text, file);
		fclose(file);
		return;
	}
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s is missing", path);
	want[fread(want, 1, sizeof(want) - 1, file)] = '\0';
	fclose(file);
	if (strcmp(want, f->text) != 0)
		fail_msg("%s differs from the screen:\n%s", path, f->text);
}

/* --- whole screens ------------------------------------------------------------------------- */

static void screens_are_as_expected(void **state)
{
	static const int sizes[][2] = {{15, 60}, {24, 80}, {30, 100}, {50, 200}};
	static const char *const names[] = {"procs", "funcs", "tree"};
	struct fixture *f = *state;

	slices(f, 12, 0);
	for (int ascii = 0; ascii < 2; ascii++) {
		f->ui->ascii = ascii;
		for (int v = 0; v < 3; v++) {
			char key[2] = {(char)('1' + v), '\0'};

			type(f, key);
			for (size_t i = 0; i < 4; i++) {
				grid_resize(f->g, sizes[i][0], sizes[i][1]);
				compare(f, names[v]);
			}
		}
	}
}

static void help_is_as_expected(void **state)
{
	struct fixture *f = *state;

	slices(f, 1, 0);
	grid_resize(f->g, 24, 80);
	type(f, "?");
	compare(f, "help");
	type(f, "G");
	compare(f, "help-end");
	type(f, "x");
	assert_shows(f, "[1 Procs]");
}

static void first_screen_says_what_goes_on(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ui_refresh(f->ui), 0);
	assert_shows(f, "Starting: no samples have come yet.");
	type(f, "2");
	assert_shows(f, "no samples yet");
	type(f, "3");
	assert_shows(f, "no stacks yet");
}

/* Every cell of every size is a printable one, whatever is open. */
static void no_size_breaks(void **state)
{
	struct fixture *f = *state;
	static const char *const keys[] = {"1", "2", "3", "3E", "?", "1A", "3R"};

	slices(f, 12, 0);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		type(f, keys[k]);
		for (int rows = 1; rows < 40; rows++) {
			for (int cols = 1; cols < 130; cols += 3) {
				grid_resize(f->g, rows, cols);
				ui_draw(f->ui, f->g);
				for (int i = 0; i < rows * cols; i++)
					assert_true(f->g->cells[i].ch == 0 ||
						    f->g->cells[i].ch >= ' ');
			}
		}
		ui_key(f->ui, KEYCODE_ESCAPE);
	}
	ui_key(f->ui, KEYCODE_F0 + 6);
	for (int rows = 1; rows < 20; rows++) {
		grid_resize(f->g, rows, 30);
		ui_draw(f->ui, f->g);
	}
}

/* --- the cursor ---------------------------------------------------------------------------- */

static void cursor_stays_on_its_process(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	assert_cursor_on(f, "nginx: worker");
	type(f, "j");
	assert_cursor_on(f, "postgres: SELECT");
	assert_shows(f, "Functions of 5310 postgres");
	/* postgres becomes the busiest, and the first. */
	slices(f, 12, 1);
	assert_cursor_on(f, "postgres: SELECT");
	assert_shows(f, "ExecInterpExpr");
	type(f, "I");
	assert_cursor_on(f, "postgres: SELECT");
	type(f, "k"); /* now the least busy are above */
	assert_cursor_on(f, "node server.js");
	type(f, "G");
	assert_cursor_on(f, "postgres: SELECT");
}

static void cursor_stays_though_nobody_moved_it(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	assert_cursor_on(f, "nginx: worker");
	slices(f, 12, 1);
	assert_cursor_on(f, "nginx: worker");
}

static void cursor_stays_on_its_function(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "2j");
	assert_cursor_on(f, "ExecInterpExpr");
	slices(f, 12, 1);
	assert_cursor_on(f, "ExecInterpExpr");
	type(f, "P");
	assert_cursor_on(f, "ExecInterpExpr");
}

static void cursor_and_open_nodes_stay_in_the_tree(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "3jj");
	assert_cursor_on(f, "ngx_process_request_line");
	type(f, "-");
	assert_hides(f, "memmove");
	/* postgres overtakes nginx: the order turns round. */
	slices(f, 12, 1);
	assert_cursor_on(f, "ngx_process_request_line");
	assert_hides(f, "memmove");
	type(f, "+");
	assert_shows(f, "memmove");
	slices(f, 12, 0);
	assert_cursor_on(f, "ngx_process_request_line");
	assert_shows(f, "memmove");
}

/* --- the tree ------------------------------------------------------------------------------ */

static void tree_opens_and_closes(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "3C");
	assert_hides(f, "ngx_process_events");
	assert_cursor_on(f, "[+] ngx_worker_process_cycle");
	type(f, "\n");
	assert_shows(f, "[+] ngx_process_events");
	assert_hides(f, "memmove");
	type(f, "*");
	assert_shows(f, "memmove");
	assert_shows(f, "k tcp_sendmsg");
	assert_hides(f, "ExecutorRun");
	type(f, "e");
	assert_hides(f, "ngx_process_events");
	type(f, "E");
	assert_shows(f, "ExecInterpExpr");
	assert_shows(f, "memmove");
	/* h closes, then goes to the parent; l opens, then goes to the child. */
	type(f, "gjjh");
	assert_cursor_on(f, "[+] ngx_process_request_line");
	type(f, "h");
	assert_cursor_on(f, "ngx_process_events_and_timers");
	type(f, "jll");
	assert_cursor_on(f, "ngx_parse_header");
}

static void tree_says_where_a_stack_broke(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "3");
	assert_shows(f, "(!) [unwind: no table for pc]");
	assert_shows(f, "... 1 frame under 0.5%");
	assert_hides(f, "rare_one");
	assert_shows(f, "<== hottest");
}

static void deep_stacks_keep_their_names(void **state)
{
	struct fixture *f = *state;
	char frames[16384] = "";
	struct profile_health h;
	struct profile_cell cell = {f->feed.nginx, 1, 0, PROFILE_NO_STACK, 100000};
	uint32_t other;

	for (int i = 0; i < 512; i++)
		sprintf(frames + strlen(frames), "f%d@m;", i);
	profile_lock(f->feed.p);
	cell.ustack = feed_stack(&f->feed, frames);
	strcpy(strstr(frames, "f400@"), "other@m");
	other = feed_stack(&f->feed, frames);
	f->feed.time += FEED_SECOND;
	feed_health(&f->feed, &h, 200000, 0, 200000);
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, cell.ustack);
	cell.ustack = other;
	cell.count /= 2;
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, other);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	type(f, "3EG");
	assert_cursor_on(f, "other");
	type(f, "k");
	assert_cursor_on(f, "f511");
	assert_shows(f, " > f510 > f511");
}

/* --- the rest of the keys ------------------------------------------------------------------ */

static void zoom_goes_in_and_out(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "j\n");
	assert_shows(f, "[2 Funcs]");
	assert_shows(f, "Zoom: all > 5310 postgres");
	assert_hides(f, "memmove");
	assert_shows(f, "100.0");
	type(f, "3");
	assert_shows(f, "ExecutorRun");
	assert_hides(f, "ngx_");
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_shows(f, "[1 Procs]");
	assert_cursor_on(f, "postgres: SELECT");
	type(f, "3");
	assert_shows(f, "ngx_");
}

static void frozen_data_stay_and_can_be_explored(void **state)
{
	struct fixture *f = *state;
	char *before;

	slices(f, 12, 0);
	type(f, "z");
	assert_shows(f, "FROZEN");
	assert_shows(f, "8Resume");
	before = strdup(screen(f));
	slices(f, 12, 1);
	assert_string_equal(screen(f), before);
	free(before);
	/* Another view shows the same moment: nginx has two thirds, not a tenth. */
	type(f, "3");
	assert_shows(f, "67.4");
	assert_cursor_on(f, "ngx_worker_process_cycle");
	type(f, "1\n");
	assert_shows(f, "Zoom: all > 4121 nginx");
	assert_shows(f, "49.8");
	type(f, "K");
	assert_hides(f, "tcp_sendmsg");
	type(f, "Kz");
	assert_shows(f, "LIVE");
	assert_shows(f, "47.6"); /* 10 of 21 samples a second, no longer 100 of 201 */
}

static void kernel_and_user_frames_can_be_hidden(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "2");
	assert_shows(f, "tcp_sendmsg");
	type(f, "K");
	assert_hides(f, "tcp_sendmsg");
	assert_shows(f, "ngx_writev");
	type(f, "KU");
	assert_shows(f, "tcp_sendmsg");
	assert_hides(f, "ngx_writev");
	type(f, "U");
	assert_shows(f, "libc.so.6");
	type(f, "V");
	assert_hides(f, "libc.so.6");
}

static void search_finds_and_goes_on(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "/NODE\n");
	assert_cursor_on(f, "node server.js");
	type(f, "2/mem.*e$\n");
	assert_cursor_on(f, "memmove");
	type(f, "/ngx_p\n");
	assert_cursor_on(f, "ngx_process_events");
	type(f, "n");
	assert_cursor_on(f, "ngx_process_request_line");
	type(f, "N");
	assert_cursor_on(f, "ngx_process_events");
	type(f, "/nowhere\n");
	assert_shows(f, "not found: nowhere");
	type(f, "/[\n");
	assert_shows(f, "[: ");
	/* In the tree, what is closed is searched as well, and opened. */
	type(f, "3C/tcp_send\n");
	assert_cursor_on(f, "tcp_sendmsg");
}

static void columns_sort(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "g");
	ui_key(f->ui, KEYCODE_F0 + 6);
	assert_shows(f, "Sort by");
	type(f, "g\n");
	type(f, "g");
	assert_cursor_on(f, "902"); /* the lowest PID */
	type(f, "Ig");
	assert_cursor_on(f, "7781");
	type(f, ">g");
	assert_cursor_on(f, "7781 app"); /* by USER */
	type(f, "Pg");
	assert_cursor_on(f, "4121");
	type(f, "2Pg");
	assert_cursor_on(f, "ngx_process_events_and_timers");
	type(f, "Sg");
	assert_cursor_on(f, "ngx_parse_header");
}

static void zero_and_weigh(void **state)
{
	struct fixture *f = *state;

	slices(f, 30, 0);
	type(f, "2");
	assert_shows(f, "1000");
	type(f, "m");
	assert_shows(f, "3000");
	type(f, "0");
	assert_shows(f, "no samples yet");
	slices(f, 1, 0);
	assert_shows(f, " 100 ");
}

static void attach_is_asked_and_posted(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "2A^ngx\n");
	assert_int_equal(posted, ENGINE_ATTACH);
	assert_string_equal(posted_arg, "^ngx");
	type(f, "A-77\n");
	assert_int_equal(posted, ENGINE_DETACH);
	assert_string_equal(posted_arg, "77");
	type(f, "A\n");
	assert_int_equal(posted, ENGINE_DETACH_ALL);
	type(f, "1j ");
	assert_shows(f, "Attach (PID or name; -X detaches; empty: all): 5310");
	type(f, "\n");
	assert_string_equal(posted_arg, "5310");
	type(f, " 42\n"); /* instead of the PID that is offered */
	assert_string_equal(posted_arg, "42");
	assert_int_equal(nposted, 5);
	type(f, "A");
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_int_equal(nposted, 5);
}

static void reset_asks_first(void **state)
{
	struct fixture *f = *state;

	slices(f, 1, 0);
	type(f, "R");
	assert_shows(f, "Reset shard");
	assert_int_equal(nposted, 0);
	ui_key(f->ui, KEYCODE_ESCAPE);
	assert_int_equal(nposted, 0);
	type(f, "Rmaybe\n");
	assert_int_equal(nposted, 0);
	assert_shows(f, "nothing was reset");
	type(f, "R\n"); /* what is offered */
	assert_int_equal(posted, ENGINE_RESET_SHARDS);
	assert_int_equal(nposted, 1);
	type(f, "R3\n"); /* takes its place */
	assert_int_equal(posted, ENGINE_RESET_SHARD);
	assert_string_equal(posted_arg, "3");
	type(f, "Rall\n");
	assert_int_equal(posted, ENGINE_RESET_SHARDS);
	assert_int_equal(nposted, 3);
}

static void pace_is_posted(void **state)
{
	struct fixture *f = *state;

	slices(f, 1, 0);
	type(f, "[");
	assert_int_equal(posted, ENGINE_INTERVAL);
	assert_string_equal(posted_arg, "2.0");
	type(f, "]]");
	assert_string_equal(posted_arg, "0.5");
	type(f, "]]]]]]");
	assert_string_equal(posted_arg, "0.1");
	type(f, "[[[[[[[[[[[[");
	assert_string_equal(posted_arg, "60.0");
}

static void ascii_is_ascii(void **state)
{
	struct fixture *f = *state;

	slices(f, 12, 0);
	type(f, "~");
	for (const char *view = "123?"; *view; view++) {
		char key[2] = {*view, '\0'};

		type(f, key);
		for (const char *c = screen(f); *c; c++)
			assert_true((unsigned char)*c < 0x7f);
	}
	type(f, "x~");
	assert_shows(f, "●");
}

static void prompts_can_be_edited(void **state)
{
	struct fixture *f = *state;

	slices(f, 1, 0);
	type(f, "2Aabc");
	ui_key(f->ui, KEYCODE_LEFT);
	type(f, "\bX");
	ui_key(f->ui, KEYCODE_HOME);
	ui_key(f->ui, 0xe9);
	ui_key(f->ui, KEYCODE_END);
	ui_key(f->ui, 0x6f22);
	type(f, "\n");
	assert_string_equal(posted_arg, "éaXc漢");
	type(f, "A");
	for (int i = 0; i < 2000; i++)
		ui_key(f->ui, 0x6f22);
	screen(f);
	type(f, "\n");
	assert_int_equal(posted, ENGINE_ATTACH);
}

static void hostile_names_do_not_reach_the_screen(void **state)
{
	struct fixture *f = *state;
	struct profile_health h;
	struct profile_cell cell = {0, 1, 0, PROFILE_NO_STACK, 500};

	f->feed.time += FEED_SECOND;
	feed_health(&f->feed, &h, 500, 0, 500);
	profile_lock(f->feed.p);
	cell.proc = feed_proc(&f->feed, 666, "\x1b[5m", "\x1b]0;x\x07", "\x1b[2J\n\xc2\x9b", 1);
	cell.ustack =
		feed_stack(&f->feed, "\x1b[31mred@\x1b[0m;\xe2\x80\xaegnp@x;漢字漢字e\xcc\x81");
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, cell.ustack);
	profile_message(f->feed.p, MESSAGE_ERROR, "\x1b[2J%s", "\x9b");
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	for (const char *view = "1\n3?"; *view; view++) {
		char key[2] = {*view, '\0'};

		type(f, key);
		assert_null(strchr(screen(f), 0x1b));
		assert_null(strstr(f->text, "\xc2\x9b"));
		assert_null(strstr(f->text, "\xe2\x80\xae"));
		assert_null(strchr(f->text, 0x07));
	}
}

static void losses_name_cause_and_remedy(void **state)
{
	struct fixture *f = *state;
	struct profile_health h;

	slices(f, 12, 0);
	f->feed.time += FEED_SECOND;
	feed_health(&f->feed, &h, 100, 0, 100);
	h.loss[LOSS_COUNTS_FULL] = 7;
	profile_lock(f->feed.p);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	ui_refresh(f->ui);
	assert_shows(f, "lost 7 (stack map full)");
	assert_shows(f, "lost 7: stack map full (lower -F");
}

static void filters_and_exits_are_marked(void **state)
{
	struct fixture *f = *state;
	struct profile_proc gone = {.pid = 7781,
				    .image = 1,
				    .comm = "node",
				    .user = "app",
				    .cmdline = "node server.js",
				    .exited = true,
				    .exit_time = FEED_NOW};
	struct profile_proc chosen = {.pid = 5310,
				      .image = 1,
				      .comm = "postgres",
				      .cmdline = "postgres: SELECT",
				      .attached = true};
	struct profile_health h;

	slices(f, 3, 0);
	f->feed.time += FEED_SECOND;
	feed_health(&f->feed, &h, 100, 0, 100);
	h.filtering = true;
	h.nattached = 1;
	profile_lock(f->feed.p);
	assert_true(profile_proc(f->feed.p, &gone) >= 0);
	assert_true(profile_proc(f->feed.p, &chosen) >= 0);
	assert_int_equal(profile_commit(f->feed.p, NULL, 0, &h), 0);
	profile_unlock(f->feed.p);
	f->ui->now = FEED_NOW + 4 * FEED_SECOND;
	ui_refresh(f->ui);
	assert_shows(f, "z    7781");
	assert_shows(f, "exited 4 s ago");
	assert_shows(f, "+    5310");
	assert_shows(f, "attached 1/231");
	type(f, "j ");
	assert_shows(f, "all): -5310");
}

#define SCREEN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(screens_are_as_expected),
		SCREEN_TEST(help_is_as_expected),
		SCREEN_TEST(first_screen_says_what_goes_on),
		SCREEN_TEST(no_size_breaks),
		SCREEN_TEST(cursor_stays_on_its_process),
		SCREEN_TEST(cursor_stays_though_nobody_moved_it),
		SCREEN_TEST(cursor_stays_on_its_function),
		SCREEN_TEST(cursor_and_open_nodes_stay_in_the_tree),
		SCREEN_TEST(tree_opens_and_closes),
		SCREEN_TEST(tree_says_where_a_stack_broke),
		SCREEN_TEST(deep_stacks_keep_their_names),
		SCREEN_TEST(zoom_goes_in_and_out),
		SCREEN_TEST(frozen_data_stay_and_can_be_explored),
		SCREEN_TEST(kernel_and_user_frames_can_be_hidden),
		SCREEN_TEST(search_finds_and_goes_on),
		SCREEN_TEST(columns_sort),
		SCREEN_TEST(zero_and_weigh),
		SCREEN_TEST(attach_is_asked_and_posted),
		SCREEN_TEST(reset_asks_first),
		SCREEN_TEST(pace_is_posted),
		SCREEN_TEST(ascii_is_ascii),
		SCREEN_TEST(prompts_can_be_edited),
		SCREEN_TEST(hostile_names_do_not_reach_the_screen),
		SCREEN_TEST(losses_name_cause_and_remedy),
		SCREEN_TEST(filters_and_exits_are_marked),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
