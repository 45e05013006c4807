/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_LOCALFS_H
#define STACKTOP_SYMBOLS_FILES_LOCALFS_H

/*
 * Tells which file systems always answer, so that a thread that must not wait may read them: those
 * on disks and in memory, and the one of our own root folder. Any thread may call these.
 */

#include <stdbool.h>
#include <sys/types.h>

/*
 * By the kind of file system, for the file of a descriptor, with its device; accepts an overlay
 * that is mounted in our own namespace. It asks the file system, so it may wait.
 */
bool localfs_is(int fd, dev_t dev);

/*
 * True if the folder of the descriptor is on such a file system and that is mounted in our own
 * namespace; never waits. False also if that is unknown: in another namespace, or a part of Btrfs
 * that is not a mount.
 */
bool localfs_has(int folder);

#endif
