/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OBJECTFILE_H
#define STACKTOP_BPF_TRACKER_OBJECTFILE_H

/* Which object a mapped file is, and where its segments are mapped. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_id;
struct mapping;
struct objects;
struct open_answer;
struct open_request;

/*
 * The object of a file, by its numbers from stat(2), or by those of the mapping, with a reference.
 * NULL: ask for the file, since it is unknown or has changed.
 */
struct object *objectfile_known(struct objects *os, const struct file_id *id, uid_t uid);
struct object *objectfile_still(struct objects *os, const struct mapping *m);
/* Fills in the request for a mapped file (bpf/tracker/openfile.h), except for the id. */
void objectfile_request(const struct objects *os, struct open_request *r, pid_t pid,
			const struct mapping *m, const char *name);
/*
 * The object of an opened file, with a reference; takes the descriptor. NULL: no memory, or the
 * user's quota is used up. More files may be open than idlefile_limit allows then.
 */
struct object *objectfile_take(struct objects *os, const struct open_request *r,
			       const struct open_answer *a, uid_t uid, int fd);
/* With a reference; NULL: no memory, or there is none. */
struct object *objectfile_vdso(struct objects *os);
/*
 * Computes the bias of a mapping at a file offset. If the mapping covers several segments, the one
 * with the mapping's executable flag decides. False: no segment covers the offset.
 */
bool objectfile_bias(const struct object *o, const struct mapping *m, uint64_t offset,
		     uint64_t *bias);
/* True if one executable segment contains this range of ELF addresses. */
bool objectfile_has_code(const struct object *o, uint64_t start, uint64_t end);
/* True if an executable segment, rounded to pages, has one of these ELF addresses. */
bool objectfile_meets_code(const struct object *o, uint64_t start, uint64_t end);
/*
 * The object at an offset in a file, as a frame has it, without a reference, and the ELF address.
 * NULL: the file is unknown, or has no segment there.
 */
struct object *objectfile_by_tag(struct objects *os, uint64_t frame, uint64_t *vaddr);

#endif
