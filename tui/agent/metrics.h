/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_AGENT_METRICS_H
#define STACKTOP_TUI_AGENT_METRICS_H

/*
 * Writes numbers in the text format of Prometheus, version 0.0.4: families of a name, a sentence
 * and a type, and their samples. An error sticks, so that only metrics_finish is asked for it.
 *
 *     metrics_family(m, METRIC_COUNTER, "stacktop_samples_total", "Samples taken.");
 *     metrics_count(m, NULL, 0, 12345);
 */

#include <stddef.h>
#include <stdint.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE };

struct metric_label {
	const char *name;
	const char *value; /* any text: it is made printable, and cut at METRICS_VALUE bytes */
};

#define METRICS_VALUE	1024
#define METRICS_CONTENT "text/plain; version=0.0.4; charset=utf-8" /* for Content-Type */

struct metrics;

/* NULL: no memory. */
struct metrics *metrics_new(void);
/*
 * Begins a family, each only once, of which the next samples are. A name has letters, digits and
 * '_', begins with a letter, and ends in _total if it is a counter's, as promtool wants it.
 */
void metrics_family(struct metrics *m, enum metric_type type, const char *name, const char *help);
/*
 * A sample with n labels; two of a family must differ in them. Names of labels are as those of
 * families.
 */
void metrics_count(struct metrics *m, const struct metric_label *labels, size_t n, uint64_t value);
void metrics_value(struct metrics *m, const struct metric_label *labels, size_t n, double value);
/*
 * Frees m. 0: the caller frees *text, which has *size bytes and a NUL. -ENOMEM; -EINVAL: a name is
 * wrong, a family was begun twice, or there was a sample before the first one; *text is NULL then.
 */
int metrics_finish(struct metrics *m, char **text, size_t *size);

#endif
