// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asks the kernel instead of adding up sizes: the memory of a map beyond its values, and for each
 * CPU, differs between kernels.
 */
#include "bpf/sampler/memlock.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/sampler/sizes.h"

#define MAPS_MAX 4096u /* maps that are counted: shards, and some for each CPU */

/* bpf_map_show_fdinfo() of the kernel writes "name:\tvalue" lines; false: it is no map. */
static bool map_read(const char *number, uint64_t *id, uint64_t *bytes)
{
	char path[64], line[128];
	bool has_id = false, has_bytes = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%.16s", number);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		has_id |= sscanf(line, "map_id: %" SCNu64, id) == 1;
		has_bytes |= sscanf(line, "memlock: %" SCNu64, bytes) == 1;
	}
	fclose(f);
	return has_id && has_bytes;
}

/* A map that is open twice counts once. */
static bool is_new(uint64_t *ids, unsigned int *n, uint64_t id)
{
	for (unsigned int i = 0; i < *n; i++)
		if (ids[i] == id)
			return false;
	if (*n == MAPS_MAX)
		return false;
	ids[(*n)++] = id;
	return true;
}

uint64_t memlock_expected(void)
{
	struct machine_limits machine;
	struct map_sizes sizes;

	machine_read(&machine);
	map_sizes_of(&machine, &sizes);
	return map_sizes_bytes(&sizes);
}

int memlock_maps(uint64_t *bytes)
{
	uint64_t *ids, id = 0, size = 0;
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir;
	int err = 0;

	*bytes = 0;
	ids = calloc(MAPS_MAX, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	dir = opendir("/proc/self/fdinfo");
	if (!dir)
		err = -errno;
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && map_read(e->d_name, &id, &size) && is_new(ids, &n, id))
			*bytes += size;
	if (dir)
		closedir(dir);
	free(ids);
	return err;
}
