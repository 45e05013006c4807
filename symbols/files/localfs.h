/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_LOCALFS_H
#define STACKTOP_SYMBOLS_FILES_LOCALFS_H

/*
 * Which file systems answer by themselves, and may be read by a thread that must not wait: those of
 * disks and of memory, and what our own root folder is on. May be used from any thread.
 */

#include <stdbool.h>
#include <sys/types.h>

/*
 * By its kind, of the file that a descriptor stands for and that has this device: also an overlay
 * that is mounted in our own namespace. Asks the file system, so that it may wait.
 */
bool localfs_is(int fd, dev_t dev);

/*
 * Whether the folder that a descriptor stands for is on such a file system, which is mounted in our
 * own namespace; never waits. False also where it is not known: in another namespace, a part of
 * Btrfs that is no mount.
 */
bool localfs_has(int folder);

#endif
