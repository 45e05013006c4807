/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_FEED_INSPECTION_H
#define STACKTOP_TESTS_SUPPORT_FEED_INSPECTION_H

/* A made-up captured walk of nginx: four frames by CFI, the last one the outermost. */

#include <stdlib.h>

struct inspection *feed_inspection(pid_t pid);

#endif
