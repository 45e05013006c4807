/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PHP_FILE_H
#define STACKTOP_SYMBOLS_RUNTIME_PHP_FILE_H

/* Finds PHP in an ELF file, a program or a library: where its state is, and how it is laid out. */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/runtime/php_layout.h"

struct elf_file;

struct php_file {
	/* ELF addresses. */
	uint64_t globals; /* executor_globals; 0 in a build with threads, which has one for each */
	uint64_t eval[2][2]; /* [start, end) of execute_ex and of its cold part; 0: none */
	int err;	     /* -ENOTSUP: a version that is not known, or a build with threads */
	struct php_layout layout; /* its version is right even so, or 0 */
};

/* False: there is no PHP in it. */
bool php_file_read(const struct elf_file *file, struct php_file *out);
/*
 * The layout that belongs to an identification of the build (ZEND_EXTENSION_BUILD_ID), such as
 * "API420220829,NTS". -ENOTSUP as above.
 */
int php_layout_of(const char *build, struct php_layout *out);

#endif
