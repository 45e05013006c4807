/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_NM_H
#define STACKTOP_TESTS_SUPPORT_NM_H

/* The start of a command, without the compilers' plugins: loading LLVM's takes ten times as long as
 * what nm does with a small file. */
#define NM "nm --plugin= "

#endif
