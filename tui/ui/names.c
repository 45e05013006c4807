// SPDX-License-Identifier: GPL-2.0-or-later
/* See names.h. Ids are small and used again, so that a vector by id is no larger than the
 * profile's. */
#include "tui/ui/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/language.h"
#include "tui/profile/reasons.h"
#include "tui/query/query.h"

#define UNUSED_MIN 1024u /* names that are kept even if not used lately */

struct kept_name {
	uint64_t serial; /* of the function */
	uint64_t hash;
	uint32_t round; /* the round in which it was used last */
	struct profile_func func;
	char text[]; /* name, NUL, module, NUL */
};

static const struct profile_func gone = {.name = "?", .module = "", .kind = FUNC_USER};

struct names {
	struct kept_name **by_id; /* NULL: not used yet */
	uint32_t room;
	uint32_t count, used; /* names, and how many of them were used in this round */
	uint32_t round;
};

struct names *names_new(void)
{
	return calloc(1, sizeof(struct names));
}

void names_clear(struct names *names)
{
	for (uint32_t id = 0; id < names->room; id++)
		free(names->by_id[id]);
	/* NOLINTNEXTLINE(bugprone-multi-level-implicit-pointer-conversion) */
	free(names->by_id);
	*names = (struct names){.round = names->round};
}

void names_free(struct names *names)
{
	if (!names)
		return;
	names_clear(names);
	free(names);
}

void names_renew(struct names *names)
{
	if (names->count > UNUSED_MIN && names->count / 2 > names->used)
		names_clear(names);
	names->used = 0;
	names->round++;
}

static int names_reserve(struct names *names, uint32_t id)
{
	uint32_t room = id + id / 2 + 64;
	struct kept_name **grown;

	if (id < names->room)
		return 0;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	grown = reallocarray(names->by_id, room, sizeof(*grown));
	if (!grown)
		return -1;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): likewise */
	memset(grown + names->room, 0, (room - names->room) * sizeof(*grown));
	names->by_id = grown;
	names->room = room;
	return 0;
}

static struct kept_name *copy_func(const struct profile_func *from)
{
	size_t length = strlen(from->name) + 1, module = strlen(from->module) + 1;
	struct kept_name *name = calloc(1, sizeof(*name) + length + module);

	if (!name)
		return NULL;
	memcpy(name->text, from->name, length);
	memcpy(name->text + length, from->module, module);
	name->func = *from;
	name->func.name = name->text;
	name->func.module = name->text + length;
	name->hash = names_hash(&name->func);
	return name;
}

const struct profile_func *names_get_hash(struct names *names, const struct profile *p,
					  uint32_t func, uint64_t *hash)
{
	uint64_t serial = query_func_serial(p, func);
	struct kept_name *name;

	if (!serial) {
		*hash = names_hash(&gone);
		return &gone;
	}
	if (names_reserve(names, func))
		return NULL;
	name = names->by_id[func];
	if (!name || name->serial != serial) {
		struct kept_name *copy = copy_func(query_func(p, func));

		if (!copy)
			return NULL;
		names->count += !name;
		free(name);
		names->by_id[func] = name = copy;
		name->serial = serial;
		name->round = names->round - 1;
	}
	if (name->round != names->round) {
		const struct profile_func *now = query_func(p, func);

		/* The hottest line changes, a name does not. */
		name->func.file = now->file;
		name->func.line = now->line;
		name->round = names->round;
		names->used++;
	}
	*hash = name->hash;
	return &name->func;
}

const struct profile_func *names_get(struct names *names, const struct profile *p, uint32_t func)
{
	uint64_t hash;

	return names_get_hash(names, p, func, &hash);
}

const struct profile_func *names_kept(const struct names *names, uint32_t func)
{
	return func < names->room && names->by_id[func] ? &names->by_id[func]->func : &gone;
}

/* FNV-1a: it only distinguishes functions, and a forced collision gains an attacker nothing. */
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
		snprintf(to, size, strcmp(func->name, CAUSE_FOLDED) ? "[unwind: %s]" : "[%s]",
			 func->name);
	else if (func->kind == FUNC_WAIT)
		snprintf(to, size, "[%s]", func->name);
	else if (func->kind == FUNC_LOCK)
		snprintf(to, size, "[lock %s]", func->name);
	else if (func->kind == FUNC_WAKER)
		snprintf(to, size, "[woken by %s%s%s]", func->name, func->module[0] ? ", " : "",
			 func->module);
	else
		snprintf(to, size, "%s", func->name);
}

const char *names_mark(const struct profile_func *func)
{
	const char *language = language_mark(func->kind);

	return language			   ? language
	       : func->kind == FUNC_KERNEL ? "k"
	       : func->kind == FUNC_INLINE ? "i"
	       : func->kind == FUNC_JIT	   ? "j"
	       : func->kind == FUNC_END	   ? "!"
	       : func_is_wait(func->kind)  ? "w"
					   : "u";
}

enum role names_mark_role(const struct profile_func *func)
{
	return func_is_language(func->kind) ? ROLE_LANGUAGE
	       : func->kind == FUNC_KERNEL  ? ROLE_KERNEL
	       : func->kind == FUNC_END	    ? ROLE_BROKEN
	       : func_is_wait(func->kind)   ? names_role(func, ROLE_DIM)
					    : ROLE_USER;
}

const char *names_kind(const struct profile_func *func)
{
	const char *language = language_name(func->kind);

	return language			   ? language
	       : func->kind == FUNC_KERNEL ? "kernel"
	       : func->kind == FUNC_INLINE ? "inlined"
	       : func->kind == FUNC_JIT	   ? "made at run time"
	       : func->kind == FUNC_EVAL   ? "interpreter"
	       : func_is_wait(func->kind)  ? "wait"
					   : "";
}

const char *names_module(const struct profile_func *func)
{
	return language_module(func->kind, func->module);
}

enum role names_wait_role(enum wait_cause cause)
{
	return (enum role)(ROLE_WAIT_ON + (int)cause);
}

enum role names_role(const struct profile_func *func, enum role role)
{
	if (func->kind == FUNC_WAIT)
		return names_wait_role(wait_by_name(func->name));
	return func->kind == FUNC_EVAL ? ROLE_DIM : role;
}
