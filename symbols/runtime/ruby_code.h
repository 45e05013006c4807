/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_RUBY_CODE_H
#define STACKTOP_SYMBOLS_RUNTIME_RUBY_CODE_H

/* Reads what CRuby says of a function: its table of lines, and its label. */

#include <stddef.h>
#include <stdint.h>

/*
 * The line of a frame whose pc is `place` words behind the first instruction. table: the first
 * `size` bytes of a struct ruby_lines and what follows it. 0: it has no line, or the table is cut
 * before it.
 */
unsigned int ruby_line(const uint8_t *table, size_t size, uint32_t place);

/*
 * A label as Ruby 3.4 shows it, clean and terminated: "block in foo" of the class A is "block in
 * A#foo", for the separator '#'. Labels that name no method, like "<main>", stay alone. Returns the
 * length written.
 */
size_t ruby_label(const char *label, size_t label_size, const char *scope, size_t scope_size,
		  char separator, char *to, size_t room);

#endif
