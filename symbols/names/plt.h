/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_PLT_H
#define STACKTOP_SYMBOLS_NAMES_PLT_H

/*
 * The stubs of procedure linkage tables, which have no symbols of their own.
 */

struct elf_file;
struct symlist;

/*
 * Adds each stub of the sections .plt* and .iplt as SYMLIST_PLT or SYMLIST_IPLT. A file without
 * any, or with broken ones, adds none. -ENOMEM.
 */
int plt_read(const struct elf_file *file, struct symlist *list);

#endif
