/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_FILELIST_H
#define STACKTOP_BPF_TRACKER_FILELIST_H

/*
 * Lists of map entries by file and offset: where the sampler checks lists, the walk uses them for
 * processes that are not known yet. Guarded by the tracker's lock.
 */

#include <stdint.h>

struct maplists;
struct object;

struct filelists {
	struct maplists *maps;
	struct object *first; /* the objects that have such a list */
};

/*
 * Publishes the file's list if that is useful and there is room; does nothing if the published one
 * is up to date. filelist_drop before the object's table goes.
 */
void filelist_publish(struct filelists *files, struct object *o);
void filelist_drop(struct filelists *files, struct object *o);
void filelists_drop_all(struct filelists *files);
/* Sets object.sampled to now where the walk has used the list since the last scan. */
void filelists_scan(struct filelists *files, uint64_t now);

#endif
