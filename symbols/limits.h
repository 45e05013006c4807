/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_LIMITS_H
#define STACKTOP_SYMBOLS_LIMITS_H

/*
 * How much of a foreign file is read, in one table: a sparse file is as large as its owner likes
 * and takes nothing from him, and a compressed section may claim any size. Each limit is several
 * times what the largest real files have.
 */

#include <stdint.h>

#define LIMIT_MIB(n) ((uint64_t)(n) << 20)

#define LIMIT_SECTIONS	    131072u	   /* libelf makes a record of each before it reads one */
#define LIMIT_SEGMENTS	    65535u	   /* program headers */
#define LIMIT_LOADS	    1024u	   /* of which PT_LOAD; Linux executes files of 1,170 */
#define LIMIT_SECTION_NAMES LIMIT_MIB(16)  /* bytes; an object of -ffunction-sections has some */
#define LIMIT_SECTION	    LIMIT_MIB(320) /* bytes of a section that is read as a whole */
#define LIMIT_CFI	    LIMIT_MIB(128) /* bytes of all sections of CFI; Chromium's: 12 MiB */
#define LIMIT_CIES	    (1u << 18)	   /* of a section: linkers keep one of many */
#define LIMIT_FDES	    (1u << 22)	   /* of a section; Chromium: 400,000 */
#define LIMIT_GO	    LIMIT_MIB(128) /* bytes of symbols and strings of a Go program */
#define LIMIT_STUBS	    LIMIT_MIB(128) /* bytes that names of PLT stubs are made of */
#define LIMIT_XZ_PACKED	    LIMIT_MIB(16)  /* bytes of .gnu_debugdata */
#define LIMIT_XZ	    LIMIT_MIB(64) /* and of what is in it; Fedora's largest: below 10 MiB */
#define LIMIT_REMOTE	    LIMIT_MIB(512)  /* bytes that a server may send of one file */
#define LIMIT_REMOTE_ALL    LIMIT_MIB(2048) /* and of all, in a run */

/*
 * Debug sections shrink to a third or a tenth. What claims more than 128 times its size is refused
 * before it is decompressed, unless it is small.
 */
#define LIMIT_RATIO	  128u
#define LIMIT_RATIO_FROM  LIMIT_MIB(1)
#define LIMIT_WORK(bytes) (LIMIT_MIB(1) + 8 * (uint64_t)(bytes)) /* of a table, see work.h */

#endif
