// SPDX-License-Identifier: GPL-2.0-or-later
/* See ancestors.h. */
#include "tui/collect/ancestors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"
#include "symbols/files/procstat.h"
#include "tui/profile/parents.h"
#include "tui/profile/profile.h"

#define REFRESH_NS 5000000000ull
#define READS_MAX  256 /* files at one time; the others the next time */

struct ancestor {
	struct profile_parent as;
	uint64_t read; /* ns */
	uint64_t used; /* round */
};

struct ancestors {
	struct ancestor *list; /* by PID */
	size_t count, room;
	uint64_t round;
	unsigned int reads; /* of this round */
};

struct ancestors *ancestors_new(void)
{
	return calloc(1, sizeof(struct ancestors));
}

void ancestors_free(struct ancestors *a)
{
	if (a)
		free(a->list);
	free(a);
}

static bool read_stat(pid_t pid, struct profile_parent *out)
{
	struct procstat stat;

	if (procstat_read(pid, &stat))
		return false;
	*out = (struct profile_parent){.pid = pid, .ppid = stat.ppid};
	text_clean(out->comm, sizeof(out->comm), stat.comm, strlen(stat.comm));
	return true;
}

/* Where it is, or belongs. */
static size_t place(const struct ancestors *a, pid_t pid)
{
	size_t low = 0, high = a->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->list[middle].as.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: there is no such process, or no room for it. */
static struct ancestor *get(struct ancestors *a, pid_t pid, uint64_t now)
{
	size_t at = place(a, pid);
	bool known = at < a->count && a->list[at].as.pid == pid;
	struct profile_parent as;

	if (known && (now - a->list[at].read < REFRESH_NS || a->reads >= READS_MAX))
		return &a->list[at];
	if ((!known && a->count == PROFILE_PARENTS) || a->reads++ >= READS_MAX ||
	    !read_stat(pid, &as))
		return NULL;
	if (!known && a->count == a->room) {
		size_t room = a->room ? 2 * a->room : 64;
		struct ancestor *list = reallocarray(a->list, room, sizeof(*list));

		if (!list)
			return NULL;
		a->list = list;
		a->room = room;
	}
	if (!known) {
		memmove(&a->list[at + 1], &a->list[at], (a->count - at) * sizeof(*a->list));
		a->count++;
		a->list[at].used = 0;
	}
	a->list[at].as = as;
	a->list[at].read = now;
	return &a->list[at];
}

/* Those that no process needed go, and so do those that are gone. */
static void drop_unused(struct ancestors *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->count; i++)
		if (a->list[i].used == a->round)
			a->list[n++] = a->list[i];
	a->count = n;
}

int ancestors_feed(struct ancestors *a, struct profile *p, const pid_t *parents, size_t count,
		   uint64_t now)
{
	struct profile_parent *list;
	int err;

	a->round++;
	a->reads = 0;
	for (size_t i = 0; i < count; i++) {
		struct ancestor *at;

		/* Those above one that was seen were seen with it. */
		for (pid_t pid = parents[i]; pid > 0; pid = at->as.ppid) {
			at = get(a, pid, now);
			if (!at || at->used == a->round)
				break;
			at->used = a->round;
		}
	}
	drop_unused(a);
	list = malloc((a->count + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < a->count; i++)
		list[i] = a->list[i].as;
	profile_lock(p);
	err = profile_parents(p, list, a->count);
	profile_unlock(p);
	free(list);
	return err;
}
