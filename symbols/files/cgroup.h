/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_CGROUP_H
#define STACKTOP_SYMBOLS_FILES_CGROUP_H

/*
 * What a control group is to a person: the container of a runtime, the unit of systemd. All of it
 * is in the path, since runtimes name their groups after the container, so no daemon is asked.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * From the text of /proc/PID/cgroup (cgroups(7), length bytes) to "docker 0123456789ab", "lxc web",
 * "nginx.service", or "" for the root group and where no sense can be made of it. Always clean.
 */
void cgroup_name(const char *text, size_t length, char *to, size_t size);
/*
 * From the same text: is a line's group that of the path `word`, or below it, when word begins
 * with a slash; else, is word a part of its path, or of what cgroup_name makes of that line?
 */
bool cgroup_fits(const char *text, size_t length, const char *word);
/*
 * Is it in the container that has this name, or whose id begins so? As cgroup_name shows it, with
 * or without the runtime ahead.
 */
bool cgroup_fits_container(const char *text, size_t length, const char *word);
/* Of "docker 0123456789ab" the id; NULL when the group is no container's. */
const char *cgroup_container(const char *name);

#endif
