/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_DEMANGLE_H
#define STACKTOP_SYMBOLS_NAMES_DEMANGLE_H

/*
 * The readable name of a C++, D or Rust (legacy and v0) symbol without parameters, hashes cut; any
 * other name is returned as a copy. Never fails for lack of sense: a name that cannot be
 * demangled, or is absurdly long, comes back as it is. The caller frees it; NULL: no memory.
 */
char *demangle(const char *name);

#endif
