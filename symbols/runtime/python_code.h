/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PYTHON_CODE_H
#define STACKTOP_SYMBOLS_RUNTIME_PYTHON_CODE_H

/* Reads what CPython's code objects refer to, from copies of its memory: texts and line numbers. */

#include <stddef.h>
#include <stdint.h>

struct python_layout;

/*
 * The text of a str as clean UTF-8 (text_clean), NUL-terminated; room > 0. object: the first `size`
 * bytes of the object, which may be fewer than it has; the text is then as much as is there,
 * without half characters. Returns the length written; 0 if it is empty or not a str, and for a str
 * whose characters are in a block of their own, which no name in a code object has.
 */
size_t python_text(const struct python_layout *layout, const uint8_t *object, size_t size, char *to,
		   size_t room);

/*
 * The line of the instruction at byte `lasti` of the code; before the first instruction, the
 * function's first line. table: the first `size` bytes of co_linetable (co_lnotab up to 3.9), which
 * has `whole` of them. first: co_firstlineno. 0: the instruction has no line, or the table is cut
 * in front of it. Takes time linear in size. (f_lasti of 3.10 counts instructions, of 2 bytes
 * each.)
 */
unsigned int python_line(const struct python_layout *layout, const uint8_t *table, size_t size,
			 size_t whole, unsigned int first, int32_t lasti);

#endif
