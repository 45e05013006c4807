/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of functions. The profile keeps no addresses, so each function counts samples of its
 * few leading lines: a new line takes over the entry and the count of the last (the "space saving"
 * algorithm), so a line with more than 1/LINES_COUNTED of the samples always has an entry. Counts
 * are halved now and then, so that the hottest line is that of late.
 *
 * And build-ids of modules, by name. If different files have the same name, as in containers, the
 * module has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/profile_priv.h"

#define FILES_MAX   65536u
#define FILES_SIZE  4095u      /* bytes of a path */
#define FILES_ALL   (8u << 20) /* bytes of all */
#define HALVE_AT    4096u
#define MODULES_MAX 16384u

/* Interns a path; *to is NULL if it is too long or there are too many. Kept as long as the profile,
 * since copies of functions refer to it. -ENOMEM. */
static int file_get(struct profile *p, const char *path, const char **file)
{
	uint32_t hash = idtable_text(path), id;
	size_t length = strlen(path);
	char **grown, *copy;

	*file = NULL;
	for (uint32_t at = hash; (id = idtable_next(&p->file_index, hash, &at)) != IDTABLE_NONE;)
		if (!strcmp(p->files[id], path)) {
			*file = p->files[id];
			return 0;
		}
	if (p->nfiles >= FILES_MAX || length > FILES_SIZE || p->files_bytes + length > FILES_ALL)
		return 0;
	if (idtable_reserve(&p->file_index, p->nfiles + 1u))
		return -ENOMEM;
	grown = reallocarray(p->files, p->nfiles + 1u, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->files = grown;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	idtable_add(&p->file_index, hash, p->nfiles);
	p->files[p->nfiles++] = copy;
	p->files_bytes += length;
	*file = copy;
	return 0;
}

static bool is_line(const struct func_line *at, const char *file, unsigned int line)
{
	return at->file && at->line == line && !strcmp(at->file, file);
}

/* The entry of the line, an old or a new one. */
static struct func_line *line_at(struct func_lines *lines, const char *file, unsigned int line)
{
	struct func_line *least = &lines->at[0];

	for (int i = 0; i < LINES_COUNTED; i++) {
		struct func_line *at = &lines->at[i];

		if (is_line(at, file, line))
			return at;
		if (at->votes < least->votes)
			least = at;
	}
	return least;
}

static void halve(struct func_lines *lines)
{
	for (int i = 0; i < LINES_COUNTED; i++)
		lines->at[i].votes /= 2;
	lines->votes /= 2;
}

/* The best line stays until another has more. */
static void choose(struct func_entry *entry)
{
	const struct func_line *best = &entry->lines->at[entry->lines->best];

	for (int i = 0; i < LINES_COUNTED; i++)
		if (entry->lines->at[i].votes > best->votes)
			best = &entry->lines->at[i];
	entry->lines->best = (uint32_t)(best - entry->lines->at);
	entry->func.file = best->file;
	entry->func.line = best->line;
}

int profile_line(struct profile *p, uint32_t func, const char *file, unsigned int line,
		 uint64_t count)
{
	struct func_entry *entry;
	struct func_line *at;
	const char *kept;
	int err;

	if (!pool_has(&p->funcs, func))
		return -EINVAL;
	entry = func_at(p, func);
	if (!entry->lines) {
		entry->lines = calloc(1, sizeof(*entry->lines));
		if (!entry->lines)
			return -ENOMEM;
		p->bound_bytes += sizeof(*entry->lines);
		if (entry->entry.held)
			p->history_bytes += sizeof(*entry->lines);
	}
	at = line_at(entry->lines, file, line);
	if (!is_line(at, file, line)) {
		err = file_get(p, file, &kept);
		if (err || !kept)
			return err;
		at->file = kept;
		at->line = line;
	}
	count = count < HALVE_AT ? count : HALVE_AT;
	at->votes += (uint32_t)count;
	entry->lines->votes += (uint32_t)count;
	choose(entry);
	while (entry->lines->votes > HALVE_AT)
		halve(entry->lines);
	return 0;
}

int profile_line_recorded(struct profile *p, uint32_t func, const char *file, unsigned int line)
{
	struct func_entry *entry;

	if (!pool_has(&p->funcs, func))
		return -EINVAL;
	entry = func_at(p, func);
	if (entry->lines)
		memset(entry->lines, 0, sizeof(*entry->lines));
	return profile_line(p, func, file, line, 1);
}

/* --- modules --------------------------------------------------------------------------------- */

static struct module_build *module_find(const struct profile *p, const char *name)
{
	uint32_t hash = idtable_text(name), id;

	for (uint32_t at = hash; (id = idtable_next(&p->build_index, hash, &at)) != IDTABLE_NONE;)
		if (!strcmp(p->builds[id].name, name))
			return &p->builds[id];
	return NULL;
}

int profile_module(struct profile *p, const char *module, const char *build)
{
	struct module_build *known = module_find(p, module), *grown;

	if (known) {
		if (strcmp(known->build, build))
			known->build[0] = '\0';
		return 0;
	}
	if (p->nbuilds >= MODULES_MAX)
		return 0;
	if (idtable_reserve(&p->build_index, p->nbuilds + 1u))
		return -ENOMEM;
	grown = reallocarray(p->builds, p->nbuilds + 1u, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->builds = grown;
	known = &grown[p->nbuilds];
	memset(known, 0, sizeof(*known));
	known->name = strdup(module);
	if (!known->name)
		return -ENOMEM;
	strncpy(known->build, build, sizeof(known->build) - 1);
	idtable_add(&p->build_index, idtable_text(module), p->nbuilds++);
	return 0;
}

const char *query_build(const struct profile *p, const char *module)
{
	const struct module_build *known = module_find(p, module);

	return known ? known->build : "";
}

void profile_lines_free(struct profile *p)
{
	for (uint32_t i = 0; i < p->nbuilds; i++)
		free(p->builds[i].name);
	free(p->builds);
	idtable_free(&p->build_index);
	for (uint32_t i = 0; i < p->nfiles; i++)
		free(p->files[i]);
	free(p->files);
	idtable_free(&p->file_index);
}
