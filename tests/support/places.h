/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_PLACES_H
#define STACKTOP_TESTS_SUPPORT_PLACES_H

/* Where the mapped files of a child lie, by /proc and by their program headers. */

#include <setjmp.h>
#include <stdio.h>

#include "tests/support/serve.h"

#define PLUGIN "libBrokenLocale.so.1" /* of libc6, linked by nothing here */

/* The ELF virtual address of an executable byte of the file; false: in no executable segment. */
bool vaddr_of(int fd, uint64_t offset, uint64_t *vaddr);

const char *base_name(const char *path);

/* Returns an address of the program's text. */
uint64_t wait_for_image(struct running *r, pid_t pid, const char *program);

#endif
