/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_FORESEE_H
#define STACKTOP_TUI_COLLECT_FORESEE_H

/*
 * Maps the code of the files that a program will map when it is executed, by the calling process,
 * for good: whoever follows its mappings has their tables before the program runs. These are the
 * program, found as execvp(3) finds it, its dynamic linker, and the libraries that it names; of a
 * script its interpreter. Libraries that are looked for in other places than the program's own, in
 * LD_LIBRARY_PATH, or beside the dynamic linker are not found, nor those that dlopen(3) loads, but
 * for Java's machine.
 */
void foresee(const char *program);

#endif
