/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_SHARES_H
#define STACKTOP_TESTS_SUPPORT_SHARES_H

/*
 * Whether shares on the screen are those that the samples of the made-up machine give when they are
 * added up here. See typist.h.
 */

#include <setjmp.h>
#include <stdio.h>

#include "tests/support/typist.h"

#define CTRL(letter) ((letter) - '@')
#define WINDOW	     10

/* Samples of the window; pid 0: any, leaf NULL: any. */
int samples(pid_t pid, const char *leaf);

int shares_setup(void **state);

/* Unlike type(), knows '!' and control characters. */
void press(struct typist *t, const char *keys);

void filter(struct typist *t, const char *text);

/* The first number of the line that shows the function is part of whole. */
void assert_share(struct typist *t, const char *name, int part, int whole);

#define SHARES_TEST(function)                                                                      \
	cmocka_unit_test_setup_teardown(function, shares_setup, typist_teardown)

#endif
