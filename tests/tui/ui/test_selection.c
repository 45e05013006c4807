// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tags and filters: what is typed, whether the shares on the screen are those of what is chosen,
 * and that a copy of it is the same.
 * Covers: tui/ui/selection.c tui/ui/filter.c tui/ui/search.c
 * Covers: tui/query/sample_filter.c tui/query/profile_copy.c
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tui/app/user_files.h"
#include "tests/support/shares.h"
#include "tui/export/export_model.h"
#include "tui/app/dispatch.h"

/* What stands on the screen for long names keys as they are bound, or none that do nothing. */
static void keys_of_the_person_are_named(void **state)
{
	struct typist *t = *state;
	struct keymap *keys = &t->ui->config.keys;
	enum action other;

	grid_resize(t->g, 30, 100);
	press(t, "zB");
	assert_shows(t, "; X shows the difference");
	press(t, "Z 2");
	assert_shows(t, "! 8% of user stacks are not complete: 7 shows why");
	assert_shows(t, "   Esc goes one level out");
	filter(t, "nginx");
	t->ui->notice_until = 0;
	grid_resize(t->g, 24, 70);
	assert_shows(t, "% is of all. Esc clears");
	assert_int_equal(keymap_bind(keys, 'e', ACTION_BACK, true, &other), 0);
	assert_int_equal(keymap_bind(keys, 'f', ACTION_VIEW_7, true, &other), 0);
	assert_int_equal(keymap_bind(keys, 'X', ACTION_NONE, true, &other), 0);
	assert_shows(t, "   e goes one level out");
	assert_shows(t, "% is of all. e clears");
	grid_resize(t->g, 30, 100);
	assert_shows(t, "not complete: f shows why");
	press(t, "zB");
	assert_shows(t, " the baseline is 10 s to 14:03:21\n");
	press(t, "Z7j\n");
	assert_shows(t, "   e goes one level out");
}

/* Their rows may be anywhere. */
static void the_number_of_tags_is_told(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		press(t, "g ");
		assert_shows(t, "tagged 1");
		press(t, "j ");
		assert_shows(t, "tagged 2");
		press(t, "\024");
		assert_hides(t, "tagged 2");
	}
	press(t, "g ");
	grid_resize(t->g, 30, 100);
	assert_shows(t, "(tagged 1)");
}

static void tagged_ones_are_summed(void **state)
{
	struct typist *t = *state;
	const int whole = samples(4121, NULL) + samples(5310, NULL);

	press(t, "  "); /* the two busiest: the cursor moves on */
	for (size_t i = 0; typist_resize(t, i); i++) {
		press(t, "1");
		assert_int_equal(screen_line(t, "4121")[1], '*');
		assert_int_equal(screen_line(t, "5310")[1], '*');
		assert_int_equal(screen_line(t, "7781")[1], ' ');
		press(t, "2");
		assert_shows(t, "2 tagged: 4121, 5310");
		assert_share(t, "ngx_parse_header", samples(0, "ngx_parse_header"), whole);
		assert_share(t, "ExecInterpExpr", samples(0, "ExecInterp"), whole);
		assert_hides(t, "Builtins_Call");
		press(t, "3");
		assert_shows(t, "2 tagged");
		assert_share(t, "ngx_process_events", samples(4121, NULL), whole);
		assert_hides(t, "kswapd");
		press(t, "4");
		assert_share(t, "ExecInterpExpr", samples(0, "ExecInterp"), whole);
		assert_hides(t, "shrink_folio");
		press(t, "5");
		assert_shows(t, "2 tagged: 4121, 5310");
		assert_hides(t, "kswapd");
	}
}

static void a_tag_can_be_taken_away(void **state)
{
	struct typist *t = *state;
	const int whole = samples(0, NULL);

	press(t, "t ");
	press(t, "gt"); /* the first once more */
	press(t, "2");
	assert_share(t, "ExecInterpExpr", 1, 1);
	press(t, "1");
	ui_key(t->ui, CTRL('T'));
	assert_int_equal(screen_line(t, "5310")[1], ' ');
	press(t, "2");
	assert_shows(t, "all processes");
	assert_share(t, "ExecInterpExpr", samples(0, "ExecInterp"), whole);
}

static void zoom_goes_before_tags(void **state)
{
	struct typist *t = *state;

	press(t, "  gjj\n");
	assert_shows(t, "7781 node");
	assert_share(t, "Builtins_Call", samples(0, "Builtins_Call"), samples(7781, NULL));
	press(t, "\033"
		 "2");
	assert_shows(t, "2 tagged");
}

static void tags_hold_while_frozen(void **state)
{
	struct typist *t = *state;
	const int whole = samples(4121, NULL) + samples(5310, NULL);

	press(t, "z  2");
	assert_share(t, "ExecInterpExpr", samples(0, "ExecInterp"), whole);
}

static void processes_are_filtered_by_column(void **state)
{
	static const struct {
		const char *text, *keeps, *hides;
	} cases[] = {
		{"nginx", "4121", "5310"},	    {"!nginx", "5310", "4121"},
		{"comm:^node$", "7781", "4121"},    {"!comm:^node$", "4121", "7781"},
		{"user:ww", "4121", "5310"},	    {"pid:^53", "5310", "4121"},
		{"command:WORKER", "4121", "7781"}, {"func:Exec", "5310", "4121"},
		{"module:libc", "4121", "5310"},    {"reason:no table", "7781", "4121"},
		{"!func:Exec", "4121", "5310"},	    {"www|root", "902", "7781"},
	};
	struct typist *t = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int frozen = 0; frozen < 2; frozen++) {
			char keeps[32], hides[32];

			press(t, frozen ? "z" : "");
			filter(t, cases[i].text);
			snprintf(keeps, sizeof(keeps), " %s ", cases[i].keeps);
			snprintf(hides, sizeof(hides), " %s ", cases[i].hides);
			assert_shows(t, keeps);
			assert_hides(t, hides);
			assert_shows(t, "[filter ");
			assert_shows(t, cases[i].text);
			press(t, "\033");
			assert_shows(t, hides);
			assert_hides(t, "[filter ");
			press(t, frozen ? "z" : "");
		}
	}
}

static void a_filter_never_changes_shares(void **state)
{
	struct typist *t = *state;
	const int whole = samples(0, NULL);

	for (size_t i = 0; typist_resize(t, i); i++) {
		press(t, "2");
		filter(t, "parse");
		assert_share(t, "ngx_parse_header", samples(0, "ngx_parse_header"), whole);
		assert_share(t, "node::Parse", samples(0, "node::Parse"), whole);
		assert_hides(t, "ExecInterpExpr");
		filter(t, "!parse");
		assert_share(t, "ExecInterpExpr", samples(0, "ExecInterp"), whole);
		assert_hides(t, "ngx_parse_header");
		filter(t, "comm:postgres");
		assert_share(t, "ExecInterpExpr", samples(0, "ExecInterp"), whole);
		assert_hides(t, "ngx_parse_header");
		filter(t, "module:libc");
		assert_share(t, "memmove", samples(0, "memmove"), whole);
		assert_hides(t, "ExecInterpExpr");
		press(t, "\033");
		assert_shows(t, "ExecInterpExpr");
		assert_shows(t, "[2 Funcs]");
	}
}

static void paths_are_kept_or_not(void **state)
{
	struct typist *t = *state;
	const int whole = samples(0, NULL);

	grid_resize(t->g, 50, 200);
	press(t, "3E");
	filter(t, "memmove");
	/* All that is on the path counts what goes there, and nothing else. */
	assert_share(t, "ngx_worker_process_cycle", samples(0, "memmove"), whole);
	assert_share(t, "ngx_process_request_line", samples(0, "memmove"), whole);
	assert_hides(t, "ngx_writev");
	assert_hides(t, "ExecutorRun");
	filter(t, "!memmove");
	assert_share(t, "ngx_worker_process_cycle", samples(4121, NULL) - samples(0, "memmove"),
		     whole);
	assert_hides(t, " memmove");
	assert_share(t, "ExecutorRun", samples(5310, NULL), whole);
	filter(t, "reason:table");
	assert_share(t, "Builtins_Call", samples(0, "Builtins_Call"), whole);
	assert_hides(t, "uv_run");
	press(t, "4");
	assert_share(t, "Builtins_Call", samples(0, "Builtins_Call"), whole);
	assert_hides(t, "ngx_parse_header");
	press(t, "5");
	assert_shows(t, "Builtins_Call");
	assert_hides(t, "ngx_parse_header");
	press(t, "\033");
	assert_shows(t, "ngx_parse_header");
}

/* Hidden frames are on no path. */
static void a_filter_knows_what_is_hidden(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 50, 200);
	press(t, "3");
	filter(t, "tcp_sendmsg");
	assert_shows(t, "ngx_writev");
	press(t, "K");
	assert_hides(t, "ngx_writev");
}

static void what_is_no_filter_is_told(void **state)
{
	struct typist *t = *state;

	filter(t, "nginx");
	filter(t, "(");
	assert_shows(t, "Unmatched (");
	assert_shows(t, "[filter nginx]");
	filter(t, "comm:");
	assert_shows(t, "nothing to look for");
	filter(t, "std::x"); /* no column */
	assert_shows(t, "The filter keeps no process");
	filter(t, "");
	assert_hides(t, "[filter ");
}

/* What looks like a column and is none is searched all the same, and told. */
static void a_column_that_there_is_not_is_told(void **state)
{
	static const char *const silent[] = {
		"std::sort",  "!std::sort", "nginx: worker", "^foo:bar", "a.*:b",    "12:30",
		"comm:nginx", "cpu:0",	    "kworker/0:1",   "nginx:",	 "foo\\:bar"};
	struct typist *t = *state;
	char long_word[PROMPT_TEXT];

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		filter(t, silent[i]);
		assert_hides(t, "no column");
	}
	filter(t, "foo:bar");
	assert_shows(t,
		     "no column \"foo\": searched as text; columns are comm, command, user, pid,");
	assert_shows(t, "[filter foo:bar]");
	assert_shows(t, "The filter keeps no process");
	filter(t, "!Comm:nginx");
	assert_shows(t, "no column \"Comm\": ");
	assert_shows(t, "nginx: worker");
	press(t, "2");
	assert_hides(t, "no column");
	filter(t, "ngx_parse_header|x");
	assert_hides(t, "no column");
	filter(t, "a:b|ngx_parse_header");
	assert_shows(t, "no column \"a\": ");
	assert_shows(t, "ngx_parse_header ");
	assert_hides(t, "ngx_writev");
	grid_resize(t->g, 15, 60);
	assert_shows(t, "no column \"a\": searched as text; columns are");
	memset(long_word, 'q', sizeof(long_word));
	memcpy(long_word + sizeof(long_word) - 3, ":q", 3);
	filter(t, long_word);
	assert_shows(t, "no column \"qqqq");
}

static void a_search_has_no_case_and_names_are_no_patterns(void **state)
{
	struct typist *t = *state;

	press(t, "2/NGX_WRITEV\n");
	assert_hides(t, "not found");
	assert_int_equal(search_name(t->ui, "a*b"), UI_REDRAW);
	assert_true(search_matches(t->ui, "a*b"));
	assert_false(search_matches(t->ui, "aaab"));
}

static void other_views_are_filtered(void **state)
{
	struct typist *t = *state;

	press(t, "7");
	assert_shows(t, "5310");
	filter(t, "nginx");
	assert_shows(t, "4121");
	assert_hides(t, "5310");
	filter(t, "!comm:nginx");
	assert_hides(t, "4121");
	press(t, "6");
	assert_shows(t, "(filter !comm:nginx)");
	grid_resize(t->g, 15, 60);
	assert_shows(t, "(filter !comm:nginx)");
	filter(t, "!comm:nginx|a-name-that-leaves-no-room-for-words-behind-it");
	assert_shows(t, "the filter has no effect in this view");
	assert_shows(t, "(filter !comm:nginx|a-name-that-leaves-no-room-for-");
	grid_resize(t->g, 30, 100);
}

/* Samples of a file that `w` would write now. */
static int copied(struct typist *t)
{
	struct profile *copy;
	struct query q;
	uint64_t n;

	assert_int_equal(user_files_copy(t->ui, &copy, &q), 0);
	/* The screen goes on and forgets what it chose. */
	filter(t, "");
	assert_int_equal(machine_slice(&t->feed, 1), 0);
	profile_lock(copy);
	n = query_samples(copy, &q, NULL);
	profile_unlock(copy);
	profile_free(copy);
	assert_null(q.scope);
	assert_null(q.filter);
	return (int)n;
}

static void what_is_shown_is_copied(void **state)
{
	static const struct {
		const char *keys, *filter;
		pid_t pid;
		const char *leaf;
	} cases[] = {
		{"3", "comm:postgres", 5310, NULL},
		{"3", "func:rare_one", 0, "rare_one"},
		{"3", "module:vmlinux", 902, NULL}, /* and the kernel's part of nginx */
		{"3K", "comm:kswapd", 902, NULL},
		{"3", "reason:table", 0, "Builtins_Call"},
		{"  g 2", "", 5310, NULL}, /* a tag was taken away */
		{"gj\n", "", 5310, NULL},
		{"HgjjT", "", 0, "tcp_sendmsg"}, /* and rare_one */
		{"2/memmove\nd", "", 0, "memmove"},
		{"2", "", 0, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct typist *t;
		int want = samples(cases[i].pid, cases[i].leaf);

		typist_free(*state);
		shares_setup(state);
		t = *state;
		if (strstr(cases[i].filter, "vmlinux"))
			want += samples(4121, "tcp_sendmsg");
		if (cases[i].keys[0] == 'H')
			want += samples(0, "rare_one");
		press(t, cases[i].keys);
		if (cases[i].filter[0])
			filter(t, cases[i].filter);
		if (copied(t) != want)
			fail_msg("%s, %s: not %d samples", cases[i].keys, cases[i].filter, want);
	}
}

/* Files tell threads apart, where they are known. */
static void threads_are_copied(void **state)
{
	struct typist *t = *state;
	struct export_model c = {0};
	struct profile *copy;
	struct query q;
	uint64_t second_one = 0;

	profile_lock(t->feed.p);
	assert_int_equal(profile_thread(t->feed.p, t->feed.nginx, 4133, "cache"), 0);
	profile_unlock(t->feed.p);
	press(t, "gj2");
	assert_int_equal(user_files_copy(t->ui, &copy, &q), 0);
	profile_lock(copy);
	assert_int_equal(export_model_add(&c, copy, &q), 0);
	profile_unlock(copy);
	profile_free(copy);
	assert_int_equal(c.nthreads, 1);
	assert_int_equal(c.threads->tid, 4133);
	assert_string_equal(export_model_text(&c, c.threads->comm), "cache");
	for (size_t i = 0; i < c.nsamples; i++)
		if (c.samples[i].tid == 4133)
			second_one += c.samples[i].count;
	assert_int_equal(second_one, samples(0, "tcp_sendmsg") + samples(0, "rare_one"));
	export_model_free(&c);
}

static void users_have_a_key(void **state)
{
	struct typist *t = *state;

	press(t, "ju\n");
	assert_shows(t, "[filter user:^postgres$]");
	assert_hides(t, " 4121 ");
	press(t, "u\b");
	press(t, "\033");
	press(t, "uwww\n");
	assert_shows(t, "user:www");
	assert_hides(t, " 5310 ");
	press(t, "2#");
	assert_shows(t, "ngx_parse_header");
	/* all but one, as for the other filters */
	press(t, "1u!postgres\n");
	assert_shows(t, "[filter !user:postgres]");
	assert_hides(t, " 5310 ");
	assert_shows(t, " 4121 ");
	/* a group has processes of many users */
	press(t, "\033ccu");
	assert_string_equal(t->ui->prompt.text, "");
	press(t, "\033cu");
	assert_true(t->ui->prompt.text[0] == '^');
}

static void no_size_breaks(void **state)
{
	struct typist *t = *state;

	press(t, "H  ");
	filter(t, "a very long filter: ngx_process_request_line|ngx_process_events_and_timers");
	for (int view = '1'; view <= '7'; view++) {
		press(t, (const char[]){(char)view, '\0'});
		assert_no_size_breaks(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARES_TEST(keys_of_the_person_are_named),
		SHARES_TEST(the_number_of_tags_is_told),
		SHARES_TEST(tagged_ones_are_summed),
		SHARES_TEST(a_tag_can_be_taken_away),
		SHARES_TEST(zoom_goes_before_tags),
		SHARES_TEST(tags_hold_while_frozen),
		SHARES_TEST(processes_are_filtered_by_column),
		SHARES_TEST(a_filter_never_changes_shares),
		SHARES_TEST(paths_are_kept_or_not),
		SHARES_TEST(a_filter_knows_what_is_hidden),
		SHARES_TEST(what_is_no_filter_is_told),
		SHARES_TEST(a_column_that_there_is_not_is_told),
		SHARES_TEST(a_search_has_no_case_and_names_are_no_patterns),
		SHARES_TEST(other_views_are_filtered),
		SHARES_TEST(what_is_shown_is_copied),
		SHARES_TEST(threads_are_copied),
		SHARES_TEST(users_have_a_key),
		SHARES_TEST(no_size_breaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
