// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Passes inventories of the shards and inspections from the collector to the views. For an
 * inventory the tracker looks at every mapping of every process, so it takes one only on request.
 */
#include "bpf/tracker/inventory.h"
#include "tui/profile/inspection.h"
#include "tui/profile/profile_priv.h"

#define FRESH_NS 500000000ull /* a person reads no faster */

void profile_want_inventory(struct profile *p, uint64_t now)
{
	p->inventory_wanted = !p->inventory || p->inventory->time + FRESH_NS <= now;
}

bool profile_inventory_wanted(struct profile *p)
{
	bool wanted = p->inventory_wanted;

	p->inventory_wanted = false;
	return wanted;
}

void profile_set_inventory(struct profile *p, struct inventory *inventory)
{
	inventory_put(p->inventory);
	p->inventory = inventory;
}

struct inventory *profile_inventory(const struct profile *p)
{
	return p->inventory ? inventory_get(p->inventory) : NULL;
}

void profile_set_inspection(struct profile *p, struct inspection *inspection)
{
	inspection_put(p->inspection);
	p->inspection = inspection;
}

struct inspection *profile_inspection(const struct profile *p)
{
	return p->inspection ? inspection_get(p->inspection) : NULL;
}
