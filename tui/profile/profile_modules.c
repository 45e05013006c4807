/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Build-ids of modules, by name. If different files have the same name, as in containers, the
 * module has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile/profile.h"
#include "tui/profile/profile_priv.h"

#define MODULES_MAX 16384u

static struct module_build *find(const struct profile *p, const char *name)
{
	uint32_t hash = idtable_text(name), id;

	for (uint32_t at = hash; (id = idtable_next(&p->build_index, hash, &at)) != IDTABLE_NONE;)
		if (!strcmp(p->builds[id].name, name))
			return &p->builds[id];
	return NULL;
}

int profile_module(struct profile *p, const char *module, const char *build)
{
	struct module_build *known = find(p, module), *grown;

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
	const struct module_build *known = find(p, module);

	return known ? known->build : "";
}

void profile_modules_free(struct profile *p)
{
	for (uint32_t i = 0; i < p->nbuilds; i++)
		free(p->builds[i].name);
	free(p->builds);
	idtable_free(&p->build_index);
}
