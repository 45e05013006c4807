// SPDX-License-Identifier: GPL-2.0-or-later
/* See annotation.h. */
#include "tui/profile/annotation.h"

#include <stdlib.h>

#include "symbols/base/refcount.h"
#include "symbols/code/listing.h"
#include "unwind/cfitext.h"

struct annotation *annotation_new(struct listing *listing)
{
	struct annotation *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->refs = 1;
	if (!listing)
		return a;
	a->window = calloc(listing->ninsns + 1, sizeof(*a->window));
	a->all = calloc(listing->ninsns + 1, sizeof(*a->all));
	if (!a->window || !a->all) {
		annotation_put(a);
		return NULL;
	}
	a->listing = listing_get(listing);
	return a;
}

struct annotation *annotation_get(struct annotation *a)
{
	refcount_get(&a->refs);
	return a;
}

void annotation_put(struct annotation *a)
{
	if (!a || !refcount_put(&a->refs))
		return;
	listing_put(a->listing);
	cfitext_put(a->cfi);
	free(a->window);
	free(a->all);
	free(a);
}
