/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_BOARD_H
#define STACKTOP_TUI_PROFILE_BOARD_H

/*
 * What threads leave for each other: messages for the user, wishes of a screen, and the answers of
 * the collector. A profile has a board (profile_board). Each call takes the board's own lock, also
 * while the lock of the profile is held; what is returned is a copy or has a reference.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbols/base/message.h"

struct annotation;
struct annotation_wish;
struct board;
struct inspection;
struct inventory;
struct procstate;

/* NULL: no memory. */
struct board *board_new(void);
void board_free(struct board *b); /* NULL is fine */

/* --- messages -------------------------------------------------------------------------------- */

#define BOARD_MESSAGES_MAX 16
#define BOARD_TEXT_MAX	   256

struct board_message {
	uint64_t time; /* CLOCK_MONOTONIC ns */
	enum message_level level;
	char text[BOARD_TEXT_MAX]; /* clean */
};

/* A line for the user, shown for some seconds (live) or written to stderr (batch). */
void board_message(struct board *b, enum message_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The message that a screen shows now; false: the last one has been shown for max_age ns. It is the
 * newest, but warnings that came together take turns. */
bool board_shown(struct board *b, uint64_t now, uint64_t max_age, struct board_message *out);
/* The message after number *serial, which is set to its number; false: none. Start at 0. Some of a
 * long burst are lost. */
bool board_next(struct board *b, uint64_t *serial, struct board_message *out);

/* --- what is waited for before the first slice ----------------------------------------------- */

/* False: it said so before. */
bool board_set_awaited(struct board *b, const char *text);
/* Clean; "" nothing that is known. */
void board_awaited(struct board *b, char *to, size_t size);

/* --- which events this machine has, by their place in event_table() ----------------------------
 */

#define BOARD_EVENTS_MAX 32

/* -errno of each, 0: it can be sampled. */
void board_set_events(struct board *b, const int *errors, size_t count);
/* That of one; 0 as well as long as it is not known. */
int board_event(struct board *b, size_t at);

/* --- the inventory of the shards (bpf/tracker/inventory.h) ----------------------------------- */

/* Asks the collector for a new inventory unless there is a fresh one. */
void board_want_inventory(struct board *b, uint64_t now);
/* True if one was asked for since the last call. */
bool board_inventory_wanted(struct board *b);
/* Takes the reference of the caller. */
void board_set_inventory(struct board *b, struct inventory *inventory);
/* With a new reference; NULL: there is none yet. */
struct inventory *board_inventory(struct board *b);

/* --- the last captured walk (tui/profile/inspection.h) --------------------------------------- */

/* Takes the reference of the caller. */
void board_set_inspection(struct board *b, struct inspection *inspection);
/* With a new reference; NULL: there is none yet. */
struct inspection *board_inspection(struct board *b);

/* What the process does whose walk is waited for (tui/profile/procstate.h); copied. */
void board_set_procstate(struct board *b, const struct procstate *state);
/* False: nothing is known of that process. */
bool board_procstate(struct board *b, pid_t pid, struct procstate *out);

/* --- the annotated function (tui/profile/annotation.h) --------------------------------------- */

/* Replaces the wish with a copy; NULL: removes it. -ENOMEM: there is none. */
int board_want_annotation(struct board *b, const struct annotation_wish *wish);
/* False: there is none. */
bool board_annotation_wish(struct board *b, struct annotation_wish *out);
/* Takes the reference of the caller. Without the wish that it answers it is dropped. */
void board_set_annotation(struct board *b, struct annotation *a);
/* With a new reference; NULL: there is none. */
struct annotation *board_annotation(struct board *b);

#endif
