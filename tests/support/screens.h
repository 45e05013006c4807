/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_SCREENS_H
#define STACKTOP_TESTS_SUPPORT_SCREENS_H

/* A typist whose seconds come when the test says so, and where its cursor is. See typist.h. */

#include <setjmp.h>
#include <stdio.h>

#include "tests/support/typist.h"

int screens_setup(void **state);

void slices(struct typist *f, int n, int heavy);

/* One more second, of this stack of postgres only. */
void slice_of_stack(struct typist *f, const char *frames, uint64_t count);

void assert_cursor_on(struct typist *f, const char *want);

#define SCREEN_TEST(function)                                                                      \
	cmocka_unit_test_setup_teardown(function, screens_setup, typist_teardown)

#endif
