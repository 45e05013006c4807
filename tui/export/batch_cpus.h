/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_BATCH_CPUS_H
#define STACKTOP_TUI_EXPORT_BATCH_CPUS_H

#include <stdio.h>

#include "tui/query/query.h"

/* The table of CPUs of a text report, where they were told apart. The lock is held. -ENOMEM. */
int batch_cpus(FILE *to, const struct profile *p, const struct query *q);

#endif
