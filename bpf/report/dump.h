/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_DUMP_H
#define STACKTOP_BPF_REPORT_DUMP_H

/* `stacktop --dump-unwind FILE`: the compact table of one file, as the walk would read it. */

#include <stdio.h>

/*
 * Writes the rows to `to`, and to `notes` what the table lacks: malformed FDEs and rules by class.
 * -errno: from opening or reading the file, -ENODATA: the file has no CFI, -EIO: writing failed.
 */
int dump_unwind(const char *path, FILE *to, FILE *notes);

#endif
