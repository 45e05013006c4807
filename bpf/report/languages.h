/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_LANGUAGES_H
#define STACKTOP_BPF_REPORT_LANGUAGES_H

/* The runtimes of languages that processes of this machine have mapped, for `stacktop --check`. */

#include <stdio.h>

struct sampler;

/*
 * Prints a line for each file of a runtime, as check_print does: `ok  runtime:NAME-VERSION  file,
 * processes: frames` if a process has proven that frames of its language can be had, else `--` with
 * the reason. sampler: says which of them the kernel refuses; NULL: not known. Runtimes of which
 * nothing can be read have no line. -EIO; -ENOMEM.
 */
int languages_print(FILE *to, const struct sampler *sampler);

#endif
