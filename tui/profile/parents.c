// SPDX-License-Identifier: GPL-2.0-or-later
/* See parents.h. */
#include "tui/profile/parents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/profile_priv.h"

int profile_parents(struct profile *p, const struct profile_parent *list, size_t count)
{
	struct profile_parent *copy = count ? malloc(count * sizeof(*copy)) : NULL;

	free(p->parents);
	p->parents = copy;
	p->nparents = copy ? count : 0;
	if (copy)
		memcpy(copy, list, count * sizeof(*copy));
	return copy || !count ? 0 : -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	const struct profile_parent *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

const struct profile_parent *query_parent(const struct profile *p, pid_t pid)
{
	const struct profile_parent key = {.pid = pid};

	return p->nparents ? bsearch(&key, p->parents, p->nparents, sizeof(key), compare) : NULL;
}
