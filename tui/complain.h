/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COMPLAIN_H
#define STACKTOP_TUI_COMPLAIN_H

/* Writes a message to standard error, made harmless: it may quote what another program printed.
 * Returns EXIT_FAILURE. */
int complain(const char *text);

#endif
