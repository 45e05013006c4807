/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics as text: each byte of a small page, and what is refused.
 * Covers: tui/agent/metrics.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/agent/metrics.h"

static char *text;
static size_t size;

static int end(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static struct metrics *begin(void)
{
	struct metrics *m = metrics_new();

	assert_non_null(m);
	return m;
}

static void test_page(void **state)
{
	const struct metric_label labels[] = {{"to", "a\"\\\n"}, {"code", "200"}};
	struct metrics *m = begin();

	(void)state;
	metrics_family(m, METRIC_COUNTER, "pushes_total", "Profiles that were \\ sent.");
	metrics_count(m, labels, 2, 3);
	metrics_family(m, METRIC_GAUGE, "spool_bytes", "Bytes.");
	metrics_value(m, NULL, 0, 0.1);
	assert_int_equal(metrics_finish(m, &text, &size), 0);
	assert_string_equal(text, "# HELP pushes_total Profiles that were \\\\ sent.\n"
				  "# TYPE pushes_total counter\n"
				  "pushes_total{to=\"a\\\"\\\\?\",code=\"200\"} 3\n"
				  "# HELP spool_bytes Bytes.\n"
				  "# TYPE spool_bytes gauge\n"
				  "spool_bytes 0.1\n");
	assert_int_equal(size, strlen(text));
}

static void test_empty(void **state)
{
	(void)state;
	assert_int_equal(metrics_finish(begin(), &text, &size), 0);
	assert_string_equal(text, "");
	assert_int_equal(size, 0);
}

static void test_long_value(void **state)
{
	static char value[5000];
	struct metrics *m = begin();

	(void)state;
	memset(value, '"', sizeof(value) - 1);
	metrics_family(m, METRIC_GAUGE, "a", "");
	metrics_count(m, &(struct metric_label){"b", value}, 1, 1);
	assert_int_equal(metrics_finish(m, &text, &size), 0);
	assert_non_null(strstr(text, "\\\"\"} 1\n"));
	assert_in_range(size, 2 * METRICS_VALUE, 2 * METRICS_VALUE + 100);
}

static void assert_refused(struct metrics *m)
{
	metrics_family(m, METRIC_GAUGE, "good", "");
	metrics_count(m, NULL, 0, 1);
	assert_int_equal(metrics_finish(m, &text, &size), -EINVAL);
	assert_null(text);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {"", "1a", "a-b", "a b", "_a", "a:b", "ä", "a_total"};
	struct metrics *m;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		m = begin();
		metrics_family(m, METRIC_GAUGE, wrong[i], "");
		assert_refused(m);
	}
	m = begin();
	metrics_family(m, METRIC_COUNTER, "a", "");
	assert_refused(m);
	m = begin();
	metrics_count(m, NULL, 0, 1);
	assert_refused(m);
	m = begin();
	metrics_family(m, METRIC_GAUGE, "a", "");
	metrics_count(m, &(struct metric_label){"a-b", ""}, 1, 1);
	assert_refused(m);
	m = begin();
	metrics_family(m, METRIC_GAUGE, "a", "");
	metrics_family(m, METRIC_GAUGE, "ab", "");
	metrics_family(m, METRIC_GAUGE, "a", "");
	assert_refused(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_page, end),
		cmocka_unit_test_teardown(test_empty, end),
		cmocka_unit_test_teardown(test_long_value, end),
		cmocka_unit_test_teardown(test_refused, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
