// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See ruby_file.h. The API is in .dynsym, but from 3.2 on ruby_current_vm_ptr is not: it is what
 * rb_during_gc reads first, then.
 */
#include "symbols/runtime/ruby_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/runtime/runtime_symbols.h"

enum ruby_symbol { WANT_VERSION, WANT_VM, WANT_OBJECT, WANT_GC, WANTED };

static const char *const names[WANTED] = {
	[WANT_VERSION] = "ruby_version",
	[WANT_VM] = "ruby_current_vm_ptr",
	[WANT_OBJECT] = "rb_cObject",
	[WANT_GC] = "rb_during_gc",
};

/* "3.1.2". 0: it is none. */
static uint32_t read_version(const struct elf_file *file, uint64_t addr)
{
	char text[16] = "";
	uint32_t version = 0;
	char *at = text;

	if (!runtime_symbols_data(file, addr, text, sizeof(text) - 1))
		return 0;
	for (int i = 0; i < 3; i++) {
		char *end;
		const unsigned long part = strtoul(at, &end, 10);

		if (end == at || part > 255 || *end != (i < 2 ? '.' : '\0'))
			return 0;
		version = version << 8 | (uint32_t)part;
		at = end + 1;
	}
	return version;
}

/*
 * What the first instruction of the function reads, or takes the address of, behind a mark for
 * indirect branches if it has one: x86-64, at a distance from the instruction that follows.
 */
static uint64_t first_read(const struct elf_file *file, uint64_t addr)
{
	static const uint8_t branch[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[11];
	int32_t distance;
	size_t at = 0;

	if (runtime_symbols_data(file, addr, code, sizeof(code)) != sizeof(code))
		return 0;
	if (!memcmp(code, branch, sizeof(branch)))
		at = sizeof(branch);
	if (code[at] != 0x48 || (code[at + 1] != 0x8d && code[at + 1] != 0x8b) ||
	    code[at + 2] != 0x05)
		return 0;
	memcpy(&distance, code + at + 3, sizeof(distance));
	return addr + at + 7 + (uint64_t)(int64_t)distance;
}

bool ruby_file_read(const struct elf_file *file, struct ruby_file *out)
{
	struct runtime_symbol found[WANTED];

	*out = (struct ruby_file){0};
	runtime_symbols_find(file, names, WANTED, found);
	if (!found[WANT_VERSION].addr || !found[WANT_OBJECT].addr)
		return false;
	out->version = read_version(file, found[WANT_VERSION].addr);
	out->err = ruby_layout_of(out->version, &out->layout);
	out->vm = found[WANT_VM].addr;
	if (!out->vm && found[WANT_GC].addr)
		out->vm = first_read(file, found[WANT_GC].addr);
	out->layout.object = found[WANT_OBJECT].addr - out->vm;
	if (!out->vm)
		out->err = -ENOTSUP;
	return true;
}
