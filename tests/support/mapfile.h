/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_MAPFILE_H
#define STACKTOP_TESTS_SUPPORT_MAPFILE_H

/* Files that a tracker without a kernel program takes for mapped. */

#include <sys/types.h>

struct object;
struct tracker;

/*
 * Opens the file as the tracker's helper does, and gives it to the tracker as if a process of the
 * user had mapped it. The object has one more reference; NULL: there is no room for it.
 */
struct object *mapfile(struct tracker *t, const char *path, uid_t uid);

#endif
