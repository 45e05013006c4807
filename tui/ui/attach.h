/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_ATTACH_H
#define STACKTOP_TUI_UI_ATTACH_H

/*
 * Attaching from the screen: to a process by its number, to many by name, user, control group or
 * container (bpf/tracker/selector.h has the words). The source answers with a message.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/profile.h"

struct ui;

/* Asks what to attach; offer: the proposed answer. Returns enum ui_flags, as all here. */
unsigned int attach_ask(struct ui *ui, const char *offer);
/* The same with the process under the cursor, or with the group that looks like one. */
unsigned int attach_ask_proc(struct ui *ui, const struct profile_proc *proc, bool group);
/* The answer: a word, one behind '-' to detach by, or nothing for the whole machine. */
unsigned int attach_take(struct ui *ui, const char *text);

/*
 * Among rows of processes, the first that belongs to what was attached last; the count of rows:
 * none, or *serial, the caller's own, says that it was found before. A key that acts on a view
 * forgets it: the user is elsewhere by then.
 */
size_t attach_find(const struct ui *ui, uint64_t *serial, size_t count,
		   const struct profile_proc *(*row)(const void *rows, size_t i), const void *rows);
void attach_forget(struct ui *ui);

/* What processes of the profile are known by, more than once each; the lock is taken. */
enum attach_what {
	ATTACH_NAMES,  /* "nginx" */
	ATTACH_WORDS,  /* "user:postgres", "container:0123456789ab", "cgroup:nginx.service" */
	ATTACH_USERS,  /* "postgres" */
	ATTACH_GROUPS, /* "docker 0123456789ab" */
};
void attach_offer(const struct ui *ui, enum attach_what what,
		  void (*offer)(void *arg, const char *word), void *arg);

#endif
