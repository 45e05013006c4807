/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_SYMNAME_H
#define STACKTOP_SYMBOLS_NAMES_SYMNAME_H

/*
 * Which of several names of one address is shown, and which names are not functions. Shared by the
 * tables of ELF files and of the kernel, so that both choose alike.
 */

#include <stdbool.h>
#include <stddef.h>

enum symname_binding { SYMNAME_GLOBAL, SYMNAME_WEAK, SYMNAME_LOCAL };

/* A name and its length; not NUL-terminated. */
struct symname {
	const char *text;
	size_t length;
	enum symname_binding binding;
};

/*
 * < 0 if a is the better name: global before weak before local, fewer leading underscores, shorter,
 * then by bytes. 0 only if both are equal.
 */
int symname_compare(const struct symname *a, const struct symname *b);

/*
 * True for names of no function: empty, labels of tools (.L1, .annobin_...), mapping symbols ($x,
 * $d.1; AAELF64 section 5.5.4), the padding before kernel functions (__pfx_), and OCaml's labels at
 * the borders of a file's code.
 */
bool symname_is_marker(const char *text, size_t length);

/* Length without a symbol version (`memcpy@GLIBC_2.2.5`, `memcpy@@GLIBC_2.14`). */
size_t symname_cut_version(const char *text, size_t length);

#endif
