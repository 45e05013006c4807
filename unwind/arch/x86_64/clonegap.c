// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * glibc ends the FDE of clone and clone3 in front of the system call and begins the next where the
 * child continues, with the return address undefined: in between the child has a new stack and the
 * parent its old one. But RAX tells which of the two it is, and the frame of the parent is as at
 * the end of the first FDE. So the code is recognized by all of its bytes, which have not changed
 * since 2006 (sysdeps/unix/sysv/linux/x86_64/clone.S, clone3.S):
 *
 *	syscall
 *	test %rax,%rax
 *	jl   error
 *	je   child
 *	ret
 *  child:
 *
 * The second jump has to lead to the end of the gap. Nothing is pushed before the system call: the
 * gap of the parent ends with a `ret`.
 */
#include "unwind/rule.h"

#include <string.h>

#include "symbols/elf/elffile.h"

#define GAP_MIN 10u /* both jumps short */
#define GAP_MAX 18u /* both jumps near */

#define JL 0x0cu /* low half of the opcode: Intel SDM volume 2, `Jcc` */
#define JE 0x04u

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

/* Length of the jump at code[0, size) if it is one under this condition, 0: it is not. */
static size_t jump(const uint8_t *code, size_t size, unsigned int condition, int64_t *target)
{
	int32_t near;

	if (size >= 2 && code[0] == (0x70 | condition)) {
		*target = 2 + (int8_t)code[1];
		return 2;
	}
	if (size < 6 || code[0] != 0x0f || code[1] != (0x80 | condition))
		return 0;
	memcpy(&near, code + 2, sizeof(near));
	*target = 6 + (int64_t)near;
	return 6;
}

bool clone_gap(const struct elf_file *file, uint64_t start, uint64_t end)
{
	static const uint8_t begin[] = {0x0f, 0x05, 0x48, 0x85, 0xc0};
	uint8_t code[GAP_MAX];
	size_t size, at = sizeof(begin), length;
	int64_t target;

	if (end < start || end - start < GAP_MIN || end - start > GAP_MAX)
		return false;
	size = (size_t)(end - start);
	if (!read_code(file, start, code, size) || memcmp(code, begin, sizeof(begin)) != 0)
		return false;
	length = jump(code + at, size - at, JL, &target);
	if (!length)
		return false;
	at += length;
	length = jump(code + at, size - at, JE, &target);
	if (!length || target != (int64_t)(size - at))
		return false;
	at += length;
	return size - at == 1 && code[at] == 0xc3;
}

bool clone_inside(const struct elf_file *file, uint64_t start, uint64_t child, uint64_t *from,
		  uint64_t *to)
{
	(void)file;
	(void)start;
	(void)child;
	*from = *to = 0;
	return false;
}
