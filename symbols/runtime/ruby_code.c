// SPDX-License-Identifier: GPL-2.0-or-later
/* See ruby_code.h. The index is that of succ_index_lookup in Ruby's iseq.c. */
#include "symbols/runtime/ruby_code.h"

#include <stdbool.h>
#include <string.h>

#include "symbols/base/text.h"
#include "symbols/runtime/ruby_layout.h"

static uint64_t word_at(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* How many entries begin up to a word of the code. */
static uint32_t count_up_to(const uint8_t *index, size_t size, uint32_t word)
{
	uint32_t block, bit, part, rank;
	uint64_t ranks, bits;

	if (word < RUBY_INDEX_IMMEDIATE)
		return (word / 9 + 1) * 8 > size
			       ? 0
			       : word_at(index + word / 9 * 8) >> word % 9 * 7 & 0x7f;
	block = (word - RUBY_INDEX_IMMEDIATE) / RUBY_INDEX_BLOCK;
	bit = (word - RUBY_INDEX_IMMEDIATE) % RUBY_INDEX_BLOCK;
	part = bit / 64;
	if (RUBY_INDEX_HEAD + (block + 1) * (uint64_t)RUBY_INDEX_BLOCK_SIZE > size)
		return 0;
	index += RUBY_INDEX_HEAD + block * RUBY_INDEX_BLOCK_SIZE;
	memcpy(&rank, index, sizeof(rank));
	ranks = word_at(index + 8);
	bits = word_at(index + 16 + part * 8) << (63 - bit % 64);
	return rank + (part ? ranks >> (part - 1) * 9 & 0x1ff : 0) +
	       (uint32_t)__builtin_popcountll(bits);
}

unsigned int ruby_line(const uint8_t *table, size_t size, uint32_t place)
{
	struct ruby_lines head;
	uint32_t n = 1;
	int32_t line;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, table, sizeof(head));
	table += sizeof(head);
	size -= sizeof(head);
	if (head.index > size || !head.count || place == RUBY_NO_PLACE)
		return 0;
	/* pc is that of the next instruction, where it is not the first. */
	if (head.count > 1)
		n = count_up_to(table, head.index, place ? place - 1 : 0);
	if (!n || n > head.count || head.index + (uint64_t)n * RUBY_LINE_ENTRY > size)
		return 0;
	memcpy(&line, table + head.index + (n - 1) * (size_t)RUBY_LINE_ENTRY, sizeof(line));
	return line > 0 ? (unsigned int)line : 0;
}

/* Where the name of the method begins: "block (2 levels) in foo". */
static size_t name_start(const char *label, size_t size)
{
	for (size_t at = size; at >= 4; at--)
		if (!memcmp(label + at - 4, " in ", 4))
			return at;
	return 0;
}

/* "<main>", "<class:X>"; but "<=>" is a method. */
static bool is_bracketed(const char *name, size_t size)
{
	return size > 2 && name[0] == '<' && name[1] >= 'a' && name[1] <= 'z';
}

size_t ruby_label(const char *label, size_t label_size, const char *scope, size_t scope_size,
		  char separator, char *to, size_t room)
{
	const size_t start = name_start(label, label_size);
	size_t done = 0;

	if (!scope_size || start == label_size || is_bracketed(label + start, label_size - start))
		return text_clean(to, room, label, label_size);
	done = text_clean(to, room, label, start);
	done += text_clean(to + done, room - done, scope, scope_size);
	done += text_clean(to + done, room - done, &separator, 1);
	return done + text_clean(to + done, room - done, label + start, label_size - start);
}
