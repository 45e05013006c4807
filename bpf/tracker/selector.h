/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_SELECTOR_H
#define STACKTOP_BPF_TRACKER_SELECTOR_H

/*
 * The words by which a person chooses processes while it runs:
 *
 *	123			a process, by its number
 *	REGEX			those whose name (comm) matches
 *	user:NUMBER[ NAME]	those of a user, by the effective number; the name is only told
 *	cgroup:PART		see cgroup_fits
 *	container:ID		see cgroup_fits_container
 *
 * One that begins with a word of these and a colon in any other sense is written as a regular
 * expression that does not: ^user:
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SELECTOR_BYTES 256u /* as typed, with the NUL */

enum selector_kind {
	SELECTOR_PID,
	SELECTOR_NAME,
	SELECTOR_USER,
	SELECTOR_CGROUP,
	SELECTOR_CONTAINER
};

struct selector {
	enum selector_kind kind;
	char text[SELECTOR_BYTES]; /* what is looked for, without the prefix; the user's name */
	pid_t pid;
	uid_t uid;
	regex_t regex; /* valid when it is a NAME */
};

/* What is known of a process. */
struct selector_subject {
	const char *comm;
	uid_t uid;
	bool kthread;
};

/* False: *why, a static text that goes before the word, says what is wrong, and there is none. */
bool selector_parse(const char *text, struct selector *out, const char **why);
void selector_clear(struct selector *w);
/* Two that fit the same for the same reason. */
bool selector_is_same(const struct selector *a, const struct selector *b);
/* True of kinds for which the group has to be read. */
bool selector_is_of_group(const struct selector *w);
/* NAME and USER. A kernel thread has no name that is meant. */
bool selector_fits(const struct selector *w, const struct selector_subject *who);
/* CGROUP and CONTAINER, by the text of /proc/PID/cgroup. */
bool selector_fits_group(const struct selector *w, const char *text, size_t length);
/* "named x", "of the user postgres", as it follows "processes". */
void selector_tell(const struct selector *w, char *to, size_t size);

#endif
