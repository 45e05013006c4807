// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The frame pointer of Go's clocks (unwind/go_cfi.h): how their code sets it and gives it back.
 */
#include "unwind/go_cfi.h"

#include <stddef.h>

#include "symbols/elf/elffile.h"

#define ANY	      0x100u /* in a code: any byte */
#define END	      0x200u
#define PROLOGUE_MAX  32u
#define CLOCK_MAX     4096u /* bytes of code of a clock */
#define MOV_BACK_REST 5u    /* bytes of the add and the ret */

/*
 * Offset right behind the code's first occurrence in text[from, size), 0: none. Codes end with END.
 */
static size_t behind(const uint8_t *text, size_t size, size_t from, const uint16_t *code)
{
	for (; from < size; from++) {
		size_t i = 0;

		while (code[i] != END && from + i < size &&
		       (code[i] == ANY || code[i] == text[from + i]))
			i++;
		if (code[i] == END)
			return from + i;
	}
	return 0;
}

bool go_clock_frame(const struct elf_file *file, uint64_t start, uint64_t end, struct go_frame *out)
{
	static const uint16_t with_lea[] = {0x48, 0x8d, 0x6c, 0x24, ANY, END};
	static const uint16_t with_push[] = {0x55, 0x48, 0x89, 0xe5, END};
	/* mov n(%rsp),%rbp; add $n,%rsp; ret */
	static const uint16_t mov_back[] = {0x48, 0x8b, 0x6c, 0x24, ANY, 0x48,
					    0x83, 0xc4, ANY,  0xc3, END};
	static const uint16_t pop_back[] = {0x5d, 0xc3, END};
	struct elf_section section;
	uint8_t text[CLOCK_MAX];
	size_t size, set, ret;
	bool pushed;

	if (elf_file_section_header(file, elf_file_section_index(file, ".text"), &section) < 0 ||
	    start < section.addr || end < start || end - section.addr > section.size ||
	    end - start > sizeof(text) ||
	    elf_file_read(file, section.offset + (start - section.addr), text, end - start))
		return false;
	size = end - start;
	set = behind(text, size < PROLOGUE_MAX ? size : PROLOGUE_MAX, 0, with_lea);
	pushed = !set;
	if (pushed)
		set = behind(text, size < PROLOGUE_MAX ? size : PROLOGUE_MAX, 0, with_push);
	ret = set ? behind(text, size, set, pushed ? pop_back : mov_back) : 0;
	if (!ret)
		return false;
	/* The caller's RBP is back before the stack pointer is, or right before the return. */
	*out = (struct go_frame){
		{start + set, start + ret},
		{start + ret - (pushed ? 1 : MOV_BACK_REST), end},
	};
	return true;
}
