// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time and size reveal a change. The time of the inode's last change does not, since links and
 * modes change it, too. A user who can write the file can set its time back, but deceives only
 * about his own code.
 */
#include "symbols/files/writtenfile.h"

#include <sys/stat.h>

#include "symbols/base/clock.h"

#define WAIT_MIN_NS (10 * CLOCK_NS_PER_SEC)
#define WAIT_MAX_NS (640 * CLOCK_NS_PER_SEC)

static bool facts(int fd, uint64_t *mtime, uint64_t *size)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	*mtime = clock_timespec_ns(&st.st_mtim);
	*size = (uint64_t)st.st_size;
	return true;
}

void writtenfile_begin(struct writtenfile *w, int fd, uint64_t mtime, uint64_t size, uint64_t round,
		       uint64_t now)
{
	*w = (struct writtenfile){.read = now, .wait = WAIT_MIN_NS};
	w->known = facts(fd, &w->mtime, &w->size);
	if (w->known && (w->mtime != mtime || w->size != size))
		w->changed = round;
}

bool writtenfile_look(struct writtenfile *w, int fd, uint64_t round)
{
	bool before = writtenfile_is_uncertain(w, round);
	uint64_t mtime, size;

	if (!w->known || !facts(fd, &mtime, &size) || (mtime == w->mtime && size == w->size))
		return false;
	w->mtime = mtime;
	w->size = size;
	w->changed = round;
	w->stale = true;
	return !before;
}

bool writtenfile_is_due(const struct writtenfile *w, uint64_t round, uint64_t now)
{
	return w->stale && round > w->changed + 1 && now >= w->read + w->wait;
}

void writtenfile_again(struct writtenfile *w, uint64_t now)
{
	/* After a long time without a change, start over. */
	if (now - w->read > 4 * w->wait)
		w->wait = WAIT_MIN_NS;
	else if (w->wait < WAIT_MAX_NS)
		w->wait *= 2;
	w->read = now;
	w->stale = false;
}

bool writtenfile_is_uncertain(const struct writtenfile *w, uint64_t round)
{
	return w->stale || (w->changed && round <= w->changed + 1);
}
