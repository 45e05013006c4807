/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function with the calls inlined at one address is one location for pprof, and frames of one
 * address for Firefox: if all of that is equal, it is one place.
 */
#include "tui/export/export_model.h"

#include <errno.h>
#include <stdlib.h>

void export_model_places_free(struct export_model_places *places)
{
	free(places->of_node);
	free(places->list);
	*places = (struct export_model_places){0};
}

/* What is inlined into an interpreter comes behind the frames that it runs, which have no address.
 */
static bool inlined(const struct export_model *c, uint32_t node)
{
	const struct export_model_node *at = &c->nodes[node];

	return at->parent != EXPORT_MODEL_NONE && c->funcs[at->func].kind == FUNC_INLINE &&
	       !func_is_language(c->funcs[c->nodes[at->parent].func].kind);
}

/* There is room. */
static uint32_t place_add(struct export_model_places *places, struct idtable *index,
			  const struct export_model_place *place)
{
	uint32_t hash = (uint32_t)idtable_mix(place->outer, place->func), id;

	for (uint32_t at = hash; (id = idtable_next(index, hash, &at)) != IDTABLE_NONE;)
		if (places->list[id].outer == place->outer && places->list[id].func == place->func)
			return id;
	idtable_add(index, hash, places->count);
	places->list[places->count] = *place;
	return places->count++;
}

int export_model_places_find(struct export_model_places *places, const struct export_model *c)
{
	struct idtable index = {0};

	*places = (struct export_model_places){0};
	places->of_node = calloc((size_t)c->nnodes + 1, sizeof(*places->of_node));
	places->list = calloc((size_t)c->nnodes + 1, sizeof(*places->list));
	if (!places->of_node || !places->list || idtable_reserve(&index, c->nnodes)) {
		idtable_free(&index);
		export_model_places_free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->nnodes; i++) {
		struct export_model_place place = {EXPORT_MODEL_NONE, c->nodes[i].func, 0};

		if (inlined(c, i)) {
			place.outer = places->of_node[c->nodes[i].parent];
			place.depth = places->list[place.outer].depth + 1;
		}
		places->of_node[i] = place_add(places, &index, &place);
	}
	idtable_free(&index);
	return 0;
}

uint32_t export_model_caller(const struct export_model *c, uint32_t node)
{
	while (inlined(c, node))
		node = c->nodes[node].parent;
	return c->nodes[node].parent;
}
