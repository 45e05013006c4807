// SPDX-License-Identifier: GPL-2.0-or-later
/* See cellorder.h. Processes are sorted, not cells. */
#include "tui/cellorder.h"

#include <errno.h>
#include <stdlib.h>

#include "tui/profile_priv.h"

struct met {
	pid_t pid;
	uint32_t proc;
	uint64_t image;
};

static struct met met_of(const struct profile *p, uint32_t proc)
{
	const struct profile_proc *of = &proc_at(p, proc)->proc;

	return (struct met){of->pid, proc, of->image};
}

static int by_process(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->image > y->image) - (x->image < y->image);
}

bool cells_before(const struct profile *p, uint32_t one, uint32_t other)
{
	struct met x = met_of(p, one), y = met_of(p, other);

	return by_process(&x, &y) < 0;
}

/* at: how many cells each process has; then where the next one goes. */
static size_t place_processes(struct met *met, size_t nmet, size_t *at)
{
	size_t end = 0;

	qsort(met, nmet, sizeof(*met), by_process);
	for (size_t i = 0; i < nmet; i++) {
		size_t cells = at[met[i].proc];

		at[met[i].proc] = end;
		end += cells;
	}
	return end;
}

ssize_t cells_by_process(const struct profile *p, const struct profile_cell *cells, size_t n,
			 struct profile_cell *to)
{
	size_t room = (size_t)p->procs.count + 1, nmet = 0, end;
	size_t *at = calloc(room, sizeof(*at));
	struct met *met = malloc(room * sizeof(*met));

	if (!at || !met) {
		free(at);
		free(met);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		if (cells[i].count && !at[cells[i].proc]++)
			met[nmet++] = met_of(p, cells[i].proc);
	end = place_processes(met, nmet, at);
	for (size_t i = 0; i < n; i++)
		if (cells[i].count)
			to[at[cells[i].proc]++] = cells[i];
	free(at);
	free(met);
	return (ssize_t)end;
}
