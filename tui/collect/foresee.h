/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_FORESEE_H
#define STACKTOP_TUI_COLLECT_FORESEE_H

/*
 * Maps into the calling process the code of the files that a program will map when it is executed,
 * so that the tracker builds their tables before the program runs; they stay mapped. The files are
 * the program as execvp(3) finds it, or the interpreter of a script, the dynamic linker, and the
 * libraries in DT_NEEDED. Libraries are searched in the program's run path, LD_LIBRARY_PATH and the
 * dynamic linker's directory only. Of those loaded by dlopen(3) only Java's libjvm is found.
 */
void foresee(const char *program);

#endif
