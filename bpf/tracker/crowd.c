// SPDX-License-Identifier: GPL-2.0-or-later
/* See crowd.h. Sorts by file to count, and then by the counts. */
#include "bpf/tracker/crowd.h"

#include <errno.h>
#include <stdlib.h>

struct crowd_member {
	struct file_id file;
	uint32_t number, count;
};

static int by_file(const void *x, const void *y)
{
	const struct crowd_member *a = x, *b = y;

	if (a->file.dev != b->file.dev)
		return a->file.dev < b->file.dev ? -1 : 1;
	if (a->file.inode != b->file.inode)
		return a->file.inode < b->file.inode ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int by_count(const void *x, const void *y)
{
	const struct crowd_member *a = x, *b = y;

	return a->count != b->count ? (a->count < b->count ? -1 : 1) : by_file(x, y);
}

int crowd_order(const struct file_id *files, uint32_t n, uint32_t *order)
{
	struct crowd_member *all = malloc((n + 1u) * sizeof(*all));
	uint32_t i, first, end;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		all[i] = (struct crowd_member){files[i], i, 0};
	qsort(all, n, sizeof(*all), by_file);
	for (first = 0; first < n; first = end) {
		for (end = first + 1; end < n && all[end].file.dev == all[first].file.dev &&
				      all[end].file.inode == all[first].file.inode;
		     end++)
			;
		for (i = first; i < end; i++)
			all[i].count = end - first;
	}
	qsort(all, n, sizeof(*all), by_count);
	for (i = 0; i < n; i++)
		order[i] = all[i].number;
	free(all);
	return 0;
}
