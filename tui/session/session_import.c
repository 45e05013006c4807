// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A private profile is fed and recorded as the live one is. The session goes to a memfd: it may be
 * larger than the file that it comes from, and must not lie around.
 */
#include "tui/session/session_import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tui/import/import.h"
#include "tui/profile/profile.h"
#include "tui/session/feeder.h"
#include "tui/session/session_write.h"

#define CELLS_MAX 2000000

static int take_slice(struct profile *p, const struct profile_cell *cells, size_t ncells,
		      const struct profile_health *health, void *arg)
{
	struct session_writer *w = arg;
	int err = session_note(w, p, cells, ncells, health);

	return err ? err : session_flush(w);
}

static int import_to_writer(int fd, struct session_writer *w, char *error, size_t size)
{
	/* The machine on which it was recorded is not known. */
	const struct profile_replay replay = {.speed = 1};
	struct profile *p = profile_new(1, CELLS_MAX);
	struct import_to to = {
		.profile = p, .slice = take_slice, .arg = w, .error = error, .size = size};
	int err = -ENOMEM;

	if (p) {
		/* The player counts more for each name and stack: what it has no room for is folded
		 * here. */
		profile_bound(p, FEEDER_NAMES_MAX / 2);
		profile_lock(p);
		profile_set_replay(p, &replay);
		err = import_file(fd, &to);
		profile_unlock(p);
	}
	if (p)
		profile_free(p);
	return err;
}

int session_import(int fd, const char *name, int *out, char *error, size_t size)
{
	int made = memfd_create("stacktop-import", MFD_CLOEXEC);
	int copy = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, 0);
	struct session_writer *w = NULL;
	char what[256] = "";
	int err = copy < 0 ? -errno : 0;

	*out = -1;
	if (!err)
		err = session_writer_on(copy, name, &w, what, sizeof(what));
	if (!err)
		err = import_to_writer(fd, w, what, sizeof(what));
	if (!err)
		err = session_writer_end(w);
	session_writer_free(w);
	if (!err) {
		*out = made;
		return 0;
	}
	snprintf(error, size, "%s: %s", name, *what ? what : strerror(-err));
	if (made >= 0)
		close(made);
	return err;
}
