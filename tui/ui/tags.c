// SPDX-License-Identifier: GPL-2.0-or-later
/* See tags.h. A person tags a few: a list will do. */
#include "tui/ui/tags.h"

static size_t find(const struct tags *tags, pid_t pid, uint64_t image)
{
	size_t i = 0;

	while (i < tags->count && (tags->tag[i].pid != pid || tags->tag[i].image != image))
		i++;
	return i;
}

bool tags_has(const struct tags *tags, pid_t pid, uint64_t image)
{
	return find(tags, pid, image) < tags->count;
}

bool tags_toggle(struct tags *tags, pid_t pid, uint64_t image)
{
	size_t at = find(tags, pid, image);

	if (at < tags->count)
		tags->tag[at] = tags->tag[--tags->count];
	else if (tags->count < TAGS_MAX)
		tags->tag[tags->count++] = (struct tag){pid, image};
	else
		return false;
	return true;
}
