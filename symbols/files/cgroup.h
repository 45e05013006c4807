/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_CGROUP_H
#define STACKTOP_SYMBOLS_FILES_CGROUP_H

/*
 * What a control group means to a user: the container of a runtime, or a systemd unit. The path
 * tells, since runtimes name their groups after the container; no daemon is asked.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * Turns the text of /proc/PID/cgroup (cgroups(7), length bytes) into "docker 0123456789ab", "lxc
 * web", "nginx.service", or "" for the root group and paths that tell nothing. Always clean.
 */
void cgroup_name(const char *text, size_t length, char *to, size_t size);
/*
 * With the same text: if word begins with a slash, tells whether a line's group is at that path or
 * below it; otherwise whether word is a part of a path, or of cgroup_name's result for a line.
 */
bool cgroup_fits(const char *text, size_t length, const char *word);
/*
 * Tells whether the process is in the container with this name, or with an id that begins so, as
 * cgroup_name shows it, with or without the runtime's name.
 */
bool cgroup_fits_container(const char *text, size_t length, const char *word);
/* The id in "docker 0123456789ab"; NULL: the group is not a container's. */
const char *cgroup_container(const char *name);

#endif
