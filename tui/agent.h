/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_AGENT_H
#define STACKTOP_TUI_AGENT_H

/* A run that only sends profiles, for months: --agent. */

struct profile;
struct push;
struct source;

/* Until a signal ends it. Returns the exit status. */
int agent_run(struct profile *profile, struct source *source, struct push *push, int signals);

#endif
