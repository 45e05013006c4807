/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_MANGLED_H
#define STACKTOP_SYMBOLS_NAMES_MANGLED_H

#include <stdbool.h>

/*
 * False for a mangled name of C++ (_Z, Itanium C++ ABI) or Rust (_R, RFC 2603) that libiberty may
 * take years to read although it is short. Names that compilers make are bounded.
 */
bool mangled_is_bounded(const char *name);

#endif
