/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_DUMP_H
#define STACKTOP_BPF_REPORT_DUMP_H

/* `stacktop --dump-unwind FILE`: the compact table of one file, as the walk would read it. */

#include <stdio.h>

/*
 * Writes the rows to `to`, and to `notes` what the table does not hold: malformed FDEs and rules by
 * class. 0, or -errno: of opening or reading the file, -ENODATA when it says nothing about any
 * address, or -EIO when writing failed.
 */
int dump_unwind(const char *path, FILE *to, FILE *notes);

#endif
