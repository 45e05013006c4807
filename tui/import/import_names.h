/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_IMPORT_IMPORT_NAMES_H
#define STACKTOP_TUI_IMPORT_IMPORT_NAMES_H

/* What a frame of a foreign file is, by the names of its function and its file. */

#include <stdbool.h>

#include "tui/import/import_build.h"
#include "tui/profile/profile.h"

#define IMPORT_NAME_MAX	  1024
#define IMPORT_MODULE_MAX 256

struct import_named { /* as profile_func takes it */
	enum func_kind kind;
	char name[IMPORT_NAME_MAX];
	char module[IMPORT_MODULE_MAX];
};

/* first: it is the outermost frame; in_kernel: the frame before is of the kernel. */
void import_named(const struct import_frame *frame, bool first, bool in_kernel,
		  struct import_named *out);
/* The name of a file without its folders; all of it, if it has none. */
struct import_text import_base(struct import_text path);
/* True for the source file of a language whose functions have it as their module. */
bool import_is_source(struct import_text file);
/* "vmlinux" for all names that the kernel itself has, "xfs" for "[xfs]" and xfs.ko. False: the
 * file is not of the kernel. */
bool import_kernel_module(struct import_text file, char *to, size_t size);

#endif
