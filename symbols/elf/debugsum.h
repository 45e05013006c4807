/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_DEBUGSUM_H
#define STACKTOP_SYMBOLS_ELF_DEBUGSUM_H

/*
 * CRC-32 sums of the files that .gnu_debuglink names, which say whether a debug file without a
 * build-id is the right one. Any user can name large files, and new ones all the time, so a sum is
 * made once, and of DEBUGSUM_BYTES each DEBUGSUM_SECONDS at most. May be used from any thread.
 */

#include <stdint.h>

#define DEBUGSUM_BYTES	 ((uint64_t)320 << 20) /* of one file, and of all in that time */
#define DEBUGSUM_SECONDS 10u
#define DEBUGSUM_KEPT	 256u /* sums; the one that was asked for longest ago goes */

struct elf_file;

/*
 * The sum of the whole file as it is now, kept for as long as its device, inode, size and times are
 * the same. -EFBIG: larger than DEBUGSUM_BYTES; -EAGAIN: so much was summed lately that it has to
 * be asked for again; -ECANCELED and -E2BIG: as elf_file_work(file) says; or what reading it said.
 */
int debugsum_of(const struct elf_file *file, uint32_t *sum);

/* How often -EAGAIN was said so far. */
uint64_t debugsum_put_off(void);

#endif
