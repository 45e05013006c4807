/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_LIMITS_H
#define STACKTOP_SYMBOLS_BASE_LIMITS_H

/*
 * How much of a foreign file is read, in one table: a sparse file is as large as its owner likes
 * and takes nothing from him, and a compressed section may claim any size. Each limit is several
 * times what the largest real files have. Of CFI and symbols there may be as much as its part of
 * memory.h allows.
 */

#include <stdint.h>

#include "symbols/base/memory.h"

#define LIMIT_MIB(n) ((uint64_t)(n) << 20)

#define LIMIT_SECTIONS	    131072u	    /* libelf makes a record of each before it reads one */
#define LIMIT_SEGMENTS	    65535u	    /* program headers */
#define LIMIT_LOADS	    1024u	    /* of which PT_LOAD; Linux executes files of 1,170 */
#define LIMIT_SECTION_NAMES LIMIT_MIB(16)   /* bytes; an object of -ffunction-sections has some */
#define LIMIT_CIES	    (1u << 18)	    /* of a section: linkers keep one of many */
#define LIMIT_XZ_PACKED	    LIMIT_MIB(16)   /* bytes of .gnu_debugdata */
#define LIMIT_REMOTE	    LIMIT_MIB(512)  /* bytes that a server may send of one file */
#define LIMIT_REMOTE_ALL    LIMIT_MIB(2048) /* and of all, in a run */

/*
 * Of what a table takes while it is built, bytes of CFI are a fifth, 48 bytes for each of its FDEs
 * two, and the rows two. Chromium has 12 MiB of CFI and 400,000 FDEs.
 */
#define LIMIT_CFI  (memory_limit(MEMORY_BUILD) / 8)
#define LIMIT_FDES (memory_limit(MEMORY_BUILD) / 4 / 48)
/*
 * Symbols of a file, which take 64 bytes until they are sorted; bytes of the symbols and strings of
 * a Go program, of what names of PLT stubs are made of, and of what is in .gnu_debugdata: Fedora's
 * largest is below 10 MiB.
 */
#define LIMIT_SYMBOLS (memory_limit(MEMORY_READ) / 64)
#define LIMIT_GO      (memory_limit(MEMORY_READ) / 2)
#define LIMIT_STUBS   (memory_limit(MEMORY_READ) / 2)
#define LIMIT_XZ      (memory_limit(MEMORY_READ) / 4)
#define LIMIT_SECTION (memory_limit(MEMORY_READ) / 4 * 5) /* bytes of one, read as a whole */

/*
 * Debug sections shrink to a third or a tenth. What claims more than 128 times its size is refused
 * before it is decompressed, unless it is small.
 */
#define LIMIT_RATIO	  128u
#define LIMIT_RATIO_FROM  LIMIT_MIB(1)
#define LIMIT_WORK(bytes) (LIMIT_MIB(1) + 8 * (uint64_t)(bytes)) /* of a table, see work.h */

#endif
