/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_FEED_ANNOTATION_H
#define STACKTOP_TESTS_SUPPORT_FEED_ANNOTATION_H

/* A made-up listing of a function of nginx, with its samples. */

#include "unwind/cfitext.h"

#define FEED_START 0x621a0u
#define FEED_INSNS 12u

struct listing *feed_listing(void);

struct cfitext *feed_cfi(void);

/* READY, with half of the samples in the window. */
struct annotation *feed_annotation(uint64_t serial);

#define FEED_SOURCE_LINES 26u
#define FEED_SOURCE_HOT	  12u /* the line of most samples */

/* The same of a function in Python, and the source file that it is in; why: NULL, or the text is
 * missing for that reason. */
struct annotation *feed_source(uint64_t serial, const char *why);

#endif
