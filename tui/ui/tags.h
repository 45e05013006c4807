/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_TAGS_H
#define STACKTOP_TUI_UI_TAGS_H

/* The processes that a person tagged, to look at their sum. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TAGS_MAX 256

struct tags {
	struct tag {
		pid_t pid; /* (pid, image) is the process */
		uint64_t image;
	} tag[TAGS_MAX];
	size_t count;
};

bool tags_has(const struct tags *tags, pid_t pid, uint64_t image);
/* Tags it, or takes its tag away. False: there are TAGS_MAX already. */
bool tags_toggle(struct tags *tags, pid_t pid, uint64_t image);

#endif
