/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_EXPORT_PRIV_H
#define STACKTOP_TUI_EXPORT_EXPORT_PRIV_H

/*
 * Shared by the writers of formats. They return 0 or -ENOMEM; errors of the stream stay in the
 * stream, where export.c finds them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/export/export_model.h"
#include "tui/profile/profile.h"

struct flametree;
struct theme;

#ifndef STACKTOP_VERSION
#define STACKTOP_VERSION "0.1"
#endif

int export_json(FILE *to, const struct export_model *c);
int export_pprof(FILE *to, const struct export_model *c);
/*
 * The same for those who keep the profiles of many machines: what labels the process has is text
 * (pid, comm, user, command, cgroup, thread, thread_comm), mappings of the kernel begin with
 * "[kernel] ", and waits are called off_cpu.
 */
int export_pprof_push(FILE *to, const struct export_model *c);
int export_speedscope(FILE *to, const struct export_model *c);
int export_firefox(FILE *to, const struct export_model *c);
int export_perf(FILE *to, const struct export_model *c);
/* theme NULL: the default's colours. */
int export_svg(FILE *to, const struct export_model *c, const struct theme *theme, bool flame);

struct svg_look {
	const char *title;
	enum export_unit unit; /* of what was counted in the tree */
	/* Not of samples: what is counted ("page-faults"), and how many of what these are
	 * ("waits"); NULL: that is not told. */
	const char *counted, *events;
	bool flame; /* the root is below */
	bool diff;  /* colours show how counts changed from side 1 to side 0 of the tree */
};

/* Adds the samples to a side of the tree. plain: without modules and roles, as in folded stacks. */
int export_svg_samples(struct flametree *t, const struct export_model *c, int side, bool plain);
int export_svg_tree(FILE *to, struct flametree *t, const struct theme *theme,
		    const struct svg_look *look);

/* A string with its quotes, and as it is what stands before. Bytes that are not UTF-8 become '?'.
 */
void json_string(FILE *to, const char *before, const char *text);
/* Escapes text and attributes. What XML cannot contain becomes '?'. */
void xml_text(FILE *to, const char *text);

/*
 * The function for formats without kinds: the reason of an end or of a wait is in brackets. The
 * longest name is EXPORT_NAME_MAX - 1 bytes.
 */
#define EXPORT_NAME_MAX 1100
const char *export_name(char *to, const struct export_model *c, uint32_t func);
/* A time in a few characters: "1.23 s". */
const char *export_span(char *to, size_t size, uint64_t us);
/* What is counted: "page-faults", "off-cpu". */
const char *export_counted(const struct export_model *c);
/* What the counts of samples are of: "samples", "waits", "waits and samples". */
const char *export_events(const struct export_model *c);
/* Nanoseconds that a sample stands for; 0: its event is not a clock. */
uint64_t export_period(const struct export_model *c);

#endif
