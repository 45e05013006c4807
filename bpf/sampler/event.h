/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_EVENT_H
#define STACKTOP_BPF_SAMPLER_EVENT_H

/*
 * The events that can drive the sampling, with the names of perf-list(1). type and config are those
 * of struct perf_event_attr (perf_event_open(2)). Whether the machine has an event is only known
 * when it is opened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	const char *name;
	const char *alias; /* NULL: none */
	uint32_t type;
	uint64_t config;
};

/* The event of that name or alias; NULL: unknown. Static, never freed. */
const struct event *event_find(const char *name);
/* All of them; the first is the default. */
const struct event *event_table(size_t *count);

#endif
