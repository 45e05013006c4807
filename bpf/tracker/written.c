// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that are written in place while they are mapped: who names their code sees it (it looks at
 * those that are sampled, once a slice), and the table is built anew.
 */
#include "bpf/tracker/tracker_priv.h"

#include "bpf/tracker/openfile.h"

bool tracker_mapped_as(struct tracker *t, const struct object *object, struct file_facts *facts)
{
	bool written;

	turnlock_take(&t->lock);
	*facts = (struct file_facts){.dev = object->key.dev,
				     .inode = object->key.inode,
				     .mtime = object->mapped_mtime,
				     .size = object->mapped_size,
				     .copied = object->copied};
	written = object->written;
	turnlock_give(&t->lock);
	return written;
}

void tracker_written(struct tracker *t, uint64_t id)
{
	struct object *o;

	turnlock_take(&t->lock);
	o = object_by_id(t, id);
	if (o && !o->image && !o->copied) {
		o->written = true;
		object_rebuild(t, o);
	}
	turnlock_give(&t->lock);
}
