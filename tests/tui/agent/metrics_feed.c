// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints metrics of all kinds, for tests/tui/agent/test_metrics.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/agent/metrics.h"

static void samples(struct metrics *m)
{
	const struct metric_label to[] = {{"url", "https://host/\"a\"\\b\n\033[m"},
					  {"state", "ü\xff"}};

	metrics_family(m, METRIC_COUNTER, "stacktop_samples_total", "Samples\nof \"all\" \\ CPUs.");
	metrics_count(m, NULL, 0, UINT64_MAX);
	metrics_family(m, METRIC_COUNTER, "stacktop_pushes_total", "Profiles sent.");
	metrics_count(m, to, 2, 0);
	metrics_count(m, to, 1, 12);
	metrics_family(m, METRIC_GAUGE, "stacktop_spool_bytes", "Bytes that wait.");
	metrics_value(m, &(struct metric_label){"k", "nan"}, 1, NAN);
	metrics_value(m, &(struct metric_label){"k", "inf"}, 1, INFINITY);
	metrics_value(m, &(struct metric_label){"k", "minus"}, 1, -INFINITY);
	metrics_value(m, &(struct metric_label){"k", "tenth"}, 1, 0.1);
	metrics_value(m, &(struct metric_label){"k", "small"}, 1, -1.5e-300);
	metrics_value(m, &(struct metric_label){"k", ""}, 1, 1e15);
	metrics_family(m, METRIC_GAUGE, "stacktop_up", "Without a sample.");
}

int main(void)
{
	struct metrics *m = metrics_new();
	char *text;
	size_t size;

	if (!m)
		return EXIT_FAILURE;
	samples(m);
	if (metrics_finish(m, &text, &size))
		return EXIT_FAILURE;
	fwrite(text, 1, size, stdout);
	free(text);
	return EXIT_SUCCESS;
}
