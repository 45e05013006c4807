/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_FDS_H
#define STACKTOP_TESTS_SUPPORT_FDS_H

#include <stddef.h>

/* The open descriptors below 4,096, without /proc, which a child that gave up root cannot read. */
size_t count_fds(void);

#endif
