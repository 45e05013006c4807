/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_SELECTOR_H
#define STACKTOP_BPF_TRACKER_SELECTOR_H

/*
 * Selectors, by which the user chooses processes at run time:
 *
 *	123			a process, by its PID
 *	REGEX			those whose name (comm) matches
 *	user:NUMBER[ NAME]	those of a user, by the effective UID; the name is only shown
 *	cgroup:PART		see cgroup_fits
 *	container:ID		see cgroup_fits_container
 *
 * A regular expression that would begin with one of these prefixes is written differently: ^user:
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
	char text[SELECTOR_BYTES]; /* without the prefix; of a USER the name, if given */
	pid_t pid;
	uid_t uid;
	regex_t regex; /* NAME only */
};

/* False: *why, a static text to be printed before the selector, says what is wrong. */
bool selector_parse(const char *text, struct selector *out, const char **why);
void selector_clear(struct selector *w);
bool selector_is_same(const struct selector *a, const struct selector *b);
/* Does it depend on the control group? */
bool selector_is_of_group(const struct selector *w);
/* NAME and USER. The name of a kernel thread fits no selector. */
bool selector_fits(const struct selector *w, const char *comm, uid_t uid, bool kthread);
/* CGROUP and CONTAINER; text: of /proc/PID/cgroup. */
bool selector_fits_group(const struct selector *w, const char *text, size_t length);
/* "named x", "of the user postgres": follows "processes". */
void selector_tell(const struct selector *w, char *to, size_t size);

#endif
