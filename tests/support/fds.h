/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_FDS_H
#define STACKTOP_TESTS_SUPPORT_FDS_H

#include <stddef.h>
#include <stdint.h>

/* The open descriptors below 4,096, without /proc, which a child that gave up root cannot read. */
size_t count_fds(void);

/* The generation of the file's inode, as in vma_frame_tag. */
uint32_t file_generation(const char *path);

#endif
