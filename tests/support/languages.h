/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_LANGUAGES_H
#define STACKTOP_TESTS_SUPPORT_LANGUAGES_H

/*
 * Samples of a Python program, as a slice. User stacks, outermost first; E is the interpreter, i
 * inlined into the frame before it, py Python:
 *
 *     5 times   _start, main, Py_RunMain, E _PyEval_EvalFrameDefault, py <module>, py main,
 *               _PyObject_MakeTpCall, i vectorcall, E _PyEval_EvalFrameDefault, i eval_frame,
 *               py Thing.method, sha256_update
 *     2 times   the same, in the kernel in sys_getrandom
 *     3 times   up to py main
 *     1 time    broken (no table for pc): E _PyEval_EvalFrameDefault, py main
 *
 * and 4 times, of a program that has no language: _start, main, i helper; E lone_eval.
 */

#include "tui/profile/profile.h"

#define LANGUAGES_PYTHON  700 /* PIDs */
#define LANGUAGES_NATIVE  800
#define LANGUAGES_SAMPLES 15

#define LANGUAGES_CELLS 5

/* The cells, of which each has a reference to its stacks, which the caller drops by
 * languages_put once they are committed. */
void languages_cells(struct profile *p, struct profile_cell cells[LANGUAGES_CELLS]);
void languages_put(struct profile *p, const struct profile_cell cells[LANGUAGES_CELLS]);
/* Adds them as a slice. */
void languages_feed(struct profile *p);

#endif
