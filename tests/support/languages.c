// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/languages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/feed.h"

#define PYTHON "@python3.11"
#define SCRIPT "@/app/t.py"
#define EVAL   "eval:_PyEval_EvalFrameDefault" PYTHON
#define OUTER                                                                                      \
	"_start" PYTHON ";main" PYTHON ";Py_RunMain" PYTHON ";" EVAL ";py:<module>" SCRIPT         \
	";py:main" SCRIPT
#define WHOLE                                                                                      \
	OUTER ";_PyObject_MakeTpCall" PYTHON ";inline:vectorcall" PYTHON ";" EVAL                  \
	      ";inline:eval_frame" PYTHON ";py:Thing.method" SCRIPT                                \
	      ";sha256_update@_hashlib.cpython-311.so"

void languages_cells(struct profile *p, struct profile_cell cells[LANGUAGES_CELLS])
{
	static const char broken[] = "!no table for pc;" EVAL ";py:main" SCRIPT,
			  plain[] = "_start@tool;main@tool;inline:helper@tool;eval:lone_eval@tool";
	const uint32_t python = feed_proc(p, LANGUAGES_PYTHON, 1, "python3", false);
	const uint32_t native = feed_proc(p, LANGUAGES_NATIVE, 1, "tool", false);
	const uint32_t kernel = feed_frames(p, "k:sys_getrandom@vmlinux", 0);

	cells[0] = (struct profile_cell){
		python, LANGUAGES_PYTHON, feed_frames(p, WHOLE, 0), PROFILE_NO_STACK, 5, 0, 0};
	cells[1] = (struct profile_cell){
		python, LANGUAGES_PYTHON, feed_frames(p, WHOLE, 0), kernel, 2, 0, 0};
	cells[2] = (struct profile_cell){
		python, LANGUAGES_PYTHON, feed_frames(p, OUTER, 0), PROFILE_NO_STACK, 3, 0, 0};
	cells[3] = (struct profile_cell){
		python, LANGUAGES_PYTHON, feed_frames(p, broken, 0), PROFILE_NO_STACK, 1, 0, 0};
	cells[4] = (struct profile_cell){
		native, LANGUAGES_NATIVE, feed_frames(p, plain, 0), PROFILE_NO_STACK, 4, 0, 0};
}

void languages_put(struct profile *p, const struct profile_cell cells[LANGUAGES_CELLS])
{
	for (int i = 0; i < LANGUAGES_CELLS; i++) {
		profile_stack_put(p, cells[i].ustack);
		if (cells[i].kstack != PROFILE_NO_STACK)
			profile_stack_put(p, cells[i].kstack);
	}
}

void languages_feed(struct profile *p)
{
	struct profile_cell cells[LANGUAGES_CELLS];

	languages_cells(p, cells);
	assert_int_equal(feed_commit(p, cells, LANGUAGES_CELLS), 0);
	languages_put(p, cells);
}
