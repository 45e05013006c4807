/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_DEMANGLE_H
#define STACKTOP_SYMBOLS_NAMES_DEMANGLE_H

/*
 * The readable name of a symbol of C++, D, Rust (legacy and v0) or a language of langname.h without
 * parameters and hashes; any other name is returned as a copy, and so is one that cannot be
 * demangled or is absurdly long. The caller frees it; NULL: no memory.
 */
char *demangle(const char *name);
/* languages: of the file that it is from, see langname.h. */
char *demangle_in(const char *name, unsigned int languages);

#endif
