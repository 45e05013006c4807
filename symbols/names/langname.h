/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_LANGNAME_H
#define STACKTOP_SYMBOLS_NAMES_LANGNAME_H

/*
 * Symbols of Ada (GNAT), Fortran (gfortran), Haskell (GHC), OCaml and Pascal (Free Pascal) as their
 * programmers write the names: module and function, without packages, parameters and stamps.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * The languages whose symbols could be words of C as well (`list__add`, `Widget_get_info`). They
 * are read only in a file that mentions the language's runtime: a bit each.
 */
enum langname_language {
	LANGNAME_ADA = 1 << 0,
	LANGNAME_HASKELL = 1 << 1,
};

/* The language that the name may be from, if its file is; 0: none of these. */
unsigned int langname_asks(const char *name);
/* What the names of functions of the language's runtime begin with. */
const char *langname_runtime(unsigned int language);

/*
 * Writes the readable name to `to`. languages: those of the file. False: it is not such a name, or
 * does not fit; `to` is undefined.
 */
bool langname(const char *name, unsigned int languages, char *to, size_t room);

#endif
