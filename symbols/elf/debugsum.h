/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_DEBUGSUM_H
#define STACKTOP_SYMBOLS_ELF_DEBUGSUM_H

/*
 * CRC-32 sums of the files that .gnu_debuglink names, to tell whether a debug file without a
 * build-id is the right one. Any user can name large files, and new ones all the time. So a sum is
 * computed once, and for at most DEBUGSUM_BYTES in DEBUGSUM_SECONDS. Any thread may call these.
 */

#include <stdint.h>

#define DEBUGSUM_BYTES	 ((uint64_t)320 << 20) /* of one file, and of all files in that time */
#define DEBUGSUM_SECONDS 10u
#define DEBUGSUM_KEPT	 256u /* sums; the least recently used one goes */

struct elf_file;

/*
 * The sum of the whole file as it is now, kept for as long as its device, inode, size and times
 * stay the same. -EFBIG: larger than DEBUGSUM_BYTES; -EAGAIN: the budget is used up, ask again
 * later; -ECANCELED and -E2BIG: see elf_file_work; or the error of a read.
 */
int debugsum_of(const struct elf_file *file, uint32_t *sum);

/* How often -EAGAIN was returned so far. */
uint64_t debugsum_put_off(void);

#endif
