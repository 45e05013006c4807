// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The FDE of glibc's clone and clone3 goes on behind the system call, where both return: the
 * parent, and the child, which has another stack and the parent's x30. The result in x0 tells
 * which of the two it is. The code is recognized by all of its instructions (clone.S and clone3.S
 * below sysdeps/unix/sysv/linux/aarch64), of which one branch leads to the FDE of the child:
 *
 *	svc  #0
 *	cmp  x0, #0
 *	b.eq child
 *	b.lt error
 *	ret
 *	nop ...
 *  child:
 */
#include "unwind/rule.h"

#include <string.h>

#include "symbols/elf/elffile.h"

#define CODE_WORDS 8u /* from the system call to the child at most */

static bool read_code(const struct elf_file *file, uint64_t addr, void *to, size_t size)
{
	const struct elf_load *loads;
	size_t count;

	loads = elf_file_loads(file, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = addr - loads[i].vaddr;

		if (loads[i].exec && addr >= loads[i].vaddr && at < loads[i].filesz &&
		    size <= loads[i].filesz - at)
			return !elf_file_read(file, loads[i].offset + at, to, size);
	}
	return false;
}

bool clone_gap(const struct elf_file *file, uint64_t start, uint64_t end)
{
	(void)file;
	(void)start;
	(void)end;
	return false;
}

bool clone_inside(const struct elf_file *file, uint64_t start, uint64_t child, uint64_t *from,
		  uint64_t *to)
{
	const uint64_t size = CODE_WORDS * sizeof(uint32_t);
	uint32_t code[CODE_WORDS];

	if (child % 4 || child < size || child - size < start ||
	    !read_code(file, child - size, code, size))
		return false;
	for (uint32_t i = 0; i + 5 <= CODE_WORDS; i++) {
		uint32_t distance = CODE_WORDS - (i + 2);

		if (code[i] != 0xd4000001 || code[i + 1] != 0xf100001f ||
		    code[i + 2] != (0x54000000 | distance << 5) ||
		    (code[i + 3] & 0xff00001f) != 0x5400000b || code[i + 4] != 0xd65f03c0)
			continue;
		*from = child - size + (i + 1) * sizeof(uint32_t);
		*to = *from + 2 * sizeof(uint32_t);
		return true;
	}
	return false;
}
