// SPDX-License-Identifier: GPL-2.0-or-later
/* See mapsreader.h. */
#include "bpf/tracker/mapsreader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "symbols/base/grow.h"

#define COUNTED_MAX (1u << 18) /* mappings among which MAPPINGS_MAX are chosen */

/* --- which to keep --------------------------------------------------------------------------- */

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

/* Sorts by file to count, and then by the counts. */
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

/* --- reading --------------------------------------------------------------------------------- */

static int add_read(struct maps_reading *s, const struct procmap *map)
{
	const size_t length = strlen(map->name) + 1;
	size_t name = 0;

	if (GROW(s->seen, s->nseen, s->seen_room, MAPPINGS_MAX))
		return -ENOMEM;
	if (s->nseen)
		name = s->seen[s->nseen - 1].name;
	if (!s->nseen || strcmp(s->names + name, map->name) != 0) {
		if (GROW_TO(s->names, s->names_used + length, s->names_room, SIZE_MAX))
			return -ENOMEM;
		name = s->names_used;
		memcpy(s->names + name, map->name, length);
		s->names_used += length;
	}
	s->seen[s->nseen++] = (struct read_mapping){*map, name};
	return 0;
}

static bool has_file(const struct procmap *map)
{
	return map->inode || map->dev_major || map->dev_minor;
}

/* Not the vDSO, nor what has a name by prctl(PR_SET_VMA). */
static bool is_nameless_code(const struct procmap *map)
{
	return map->exec && !has_file(map) && !map->name[0];
}

static int count_map(struct maps_reading *s, const struct procmap *map)
{
	bool wanted = true;

	if (s->keep) {
		wanted = s->at < s->nfiles && s->keep[s->at++];
	} else if (s->nfiles < COUNTED_MAX) {
		if (GROW(s->files, s->nfiles, s->files_room, COUNTED_MAX))
			return -ENOMEM;
		s->files[s->nfiles++] =
			(struct file_id){makedev(map->dev_major, map->dev_minor), map->inode};
	}
	return wanted && s->nseen < MAPPINGS_MAX ? add_read(s, map) : 0;
}

/* Keeps a mapping that is not executable until the next one shows whether it is needed. */
static int hold_back(struct maps_reading *s, const struct procmap *map)
{
	const size_t length = strlen(map->name) + 1;

	s->before = *map;
	if (GROW_TO(s->before_name, length, s->before_room, SIZE_MAX))
		return -ENOMEM;
	memcpy(s->before_name, map->name, length);
	s->before.name = s->before_name;
	return 0;
}

static int on_map(const struct procmap *map, void *arg)
{
	struct maps_reading *s = arg;
	const bool file = has_file(map), code = is_nameless_code(map);
	int err = 0;

	if (!strcmp(map->name, "[vsyscall]"))
		return 0;
	if (!map->exec && file && s->anonymous_end != map->start)
		return hold_back(s, map);
	if (code && s->before.end == map->start)
		err = count_map(s, &s->before);
	s->before.end = 0;
	s->anonymous_end = code ? map->end : 0;
	return err || (!map->exec && !file) ? err : count_map(s, map);
}

static int choose_kept(struct maps_reading *s)
{
	uint32_t *order = malloc(s->nfiles * sizeof(*order));
	int err = order ? crowd_order(s->files, (uint32_t)s->nfiles, order) : -ENOMEM;

	s->keep = err ? NULL : calloc(s->nfiles, sizeof(*s->keep));
	for (size_t i = 0; s->keep && i < MAPPINGS_MAX; i++)
		s->keep[order[i]] = true;
	free(order);
	return s->keep ? 0 : -ENOMEM;
}

/* Of too many mappings, those to keep are known only after all were read: they are read again. */
int mapsreader_read(struct maps_reading *s)
{
	int err = procmaps_read(s->pid, false, on_map, s);

	if (err || s->nfiles <= MAPPINGS_MAX)
		return err;
	s->nseen = s->names_used = 0;
	s->before.end = s->anonymous_end = 0;
	err = choose_kept(s);
	return err ? err : procmaps_read(s->pid, false, on_map, s);
}

void mapsreader_free(struct maps_reading *s)
{
	free(s->files);
	free(s->keep);
	free(s->seen);
	free(s->names);
	free(s->before_name);
}
