// SPDX-License-Identifier: GPL-2.0-or-later
/* See names.h. A vector by id would be as big as the highest id, so it is a hash table. */
#include "tui/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* uthash ends the program when memory is gone unless it is told to report it. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "tui/query.h"

struct name {
	uint32_t id;
	struct profile_func func;
	UT_hash_handle hh;
	char text[]; /* name, NUL, module, NUL */
};

struct names {
	struct name *by_id;
};

struct names *names_new(void)
{
	return calloc(1, sizeof(struct names));
}

void names_clear(struct names *names)
{
	struct name *name = names->by_id, *next;

	/* Frees the table; the names still know the next one. */
	HASH_CLEAR(hh, names->by_id);
	for (; name; name = next) {
		next = name->hh.next;
		free(name);
	}
}

void names_free(struct names *names)
{
	if (!names)
		return;
	names_clear(names);
	free(names);
}

const struct profile_func *names_get(struct names *names, const struct profile *p, uint32_t func)
{
	static const struct profile_func gone = {.name = "?", .module = "", .kind = FUNC_USER};
	const struct profile_func *from;
	struct name *name;
	size_t length, module;

	HASH_FIND(hh, names->by_id, &func, sizeof(func), name);
	if (name)
		return &name->func;
	from = query_func(p, func);
	if (!from)
		return &gone;
	length = strlen(from->name) + 1;
	module = strlen(from->module) + 1;
	name = calloc(1, sizeof(*name) + length + module);
	if (!name)
		return NULL;
	name->id = func;
	memcpy(name->text, from->name, length);
	memcpy(name->text + length, from->module, module);
	name->func = (struct profile_func){name->text, name->text + length, from->kind};
	HASH_ADD(hh, names->by_id, id, sizeof(name->id), name);
	if (!name->hh.tbl) {
		free(name);
		return NULL;
	}
	return &name->func;
}

/* FNV-1a: only has to tell functions apart, and nobody gains by making two collide. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	do {
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	} while (*text++);
	return hash;
}

uint64_t names_hash(const struct profile_func *func)
{
	uint64_t hash = 0xcbf29ce484222325 + (uint64_t)func->kind;

	return hash_text(hash_text(hash, func->name), func->module);
}

void names_show(const struct profile_func *func, char *to, size_t size)
{
	if (func->kind == FUNC_END)
		snprintf(to, size, strcmp(func->name, "folded away") ? "[unwind: %s]" : "[%s]",
			 func->name);
	else
		snprintf(to, size, "%s", func->name);
}
