/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_SHELL_H
#define STACKTOP_TESTS_SUPPORT_SHELL_H

/* Runs a command line of the shell; the test fails with it. */
__attribute__((format(printf, 1, 2))) void must(const char *format, ...);

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
