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

#define WORD_BYTES 256u /* as typed, with the NUL */

enum word_kind { WORD_PID, WORD_NAME, WORD_USER, WORD_CGROUP, WORD_CONTAINER };

struct word {
	enum word_kind kind;
	char text[WORD_BYTES]; /* what is looked for, without the prefix; the user's name */
	pid_t pid;
	uid_t uid;
	regex_t regex; /* valid when it is a NAME */
};

/* What is known of a process. */
struct word_subject {
	const char *comm;
	uid_t uid;
	bool kthread;
};

/* False: *why, a static text that goes before the word, says what is wrong, and there is none. */
bool word_parse(const char *text, struct word *out, const char **why);
void word_clear(struct word *w);
/* Two that fit the same for the same reason. */
bool word_is_same(const struct word *a, const struct word *b);
/* True of kinds for which the group has to be read. */
bool word_is_of_group(const struct word *w);
/* NAME and USER. A kernel thread has no name that is meant. */
bool word_fits(const struct word *w, const struct word_subject *who);
/* CGROUP and CONTAINER, by the text of /proc/PID/cgroup. */
bool word_fits_group(const struct word *w, const char *text, size_t length);
/* "named x", "of the user postgres", as it follows "processes". */
void word_tell(const struct word *w, char *to, size_t size);

#endif
