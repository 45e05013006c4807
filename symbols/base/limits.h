/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_LIMITS_H
#define STACKTOP_SYMBOLS_BASE_LIMITS_H

/*
 * How much of a foreign file is read, in one table. A sparse file can claim any size and costs its
 * owner nothing, and so can a compressed section. Each limit is several times what the largest real
 * files have. CFI and symbols are limited by their parts of memory.h.
 */

#include "symbols/base/memory.h"

#define LIMIT_MIB(n) ((uint64_t)(n) << 20)

#define LIMIT_SECTIONS	    131072u	    /* libelf makes a record of each before it reads one */
#define LIMIT_SEGMENTS	    65535u	    /* program headers */
#define LIMIT_LOADS	    1024u	    /* of which PT_LOAD; Linux executes files of 1,170 */
#define LIMIT_SECTION_NAMES LIMIT_MIB(16)   /* bytes; a -ffunction-sections object has some */
#define LIMIT_CIES	    (1u << 18)	    /* of a section: linkers keep one of many groups */
#define LIMIT_XZ_PACKED	    LIMIT_MIB(16)   /* bytes of .gnu_debugdata */
#define LIMIT_DERIVED	    LIMIT_MIB(8)    /* bytes of code without CFI of which rows are made */
#define LIMIT_STARTS	    (1u << 18)	    /* symbols of functions in it */
#define LIMIT_REMOTE	    LIMIT_MIB(512)  /* bytes that a server may send of one file */
#define LIMIT_REMOTE_ALL    LIMIT_MIB(2048) /* and of all, in a run */

/*
 * Of the memory in which a table is built, CFI may have an eighth and FDEs (48 bytes each) a
 * quarter; rows take as much as FDEs. Chromium has 12 MiB of CFI and 400,000 FDEs.
 */
#define LIMIT_CFI  (memory_limit(MEMORY_BUILD) / 8)
#define LIMIT_FDES (memory_limit(MEMORY_BUILD) / 4 / 48)
/*
 * Symbols of a file (64 bytes each until they are sorted), and bytes of: the symbols and strings of
 * a Go program, the sources of PLT stubs' names, and .gnu_debugdata. Fedora's largest is below 10
 * MiB.
 */
#define LIMIT_SYMBOLS (memory_limit(MEMORY_READ) / 64)
#define LIMIT_GO      (memory_limit(MEMORY_READ) / 2)
#define LIMIT_STUBS   (memory_limit(MEMORY_READ) / 2)
#define LIMIT_XZ      (memory_limit(MEMORY_READ) / 4)
#define LIMIT_SECTION (memory_limit(MEMORY_READ) / 4 * 5) /* bytes of one, read as a whole */

/*
 * Debug sections shrink to a third or a tenth. A larger ratio than 128 is refused before
 * decompression, unless the section is small.
 */
#define LIMIT_RATIO	  128u
#define LIMIT_RATIO_FROM  LIMIT_MIB(1)
#define LIMIT_WORK(bytes) (LIMIT_MIB(1) + 8 * (uint64_t)(bytes)) /* of a table, see work.h */

#endif
