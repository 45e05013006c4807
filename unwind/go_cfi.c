// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Go's assembler writes CFI as if only pushes and pops moved the stack pointer. So in functions of
 * the runtime that switch to the system stack the rules lead into stale data on it: frames that
 * never called, or a zero that looks like the bottom; and the trampoline of signals seems to have a
 * caller. These functions are known by name, as in Go's own unwinder. To strip a program removes
 * CFI and symbols together, so no program has only the CFI.
 *
 * The outermost functions of threads and goroutines have rules like any other: the linker of
 * Go 1.19 does not mark them, and the words above them are zero on a new stack only.
 *
 * Programs are often in the functions that ask the vDSO for the time. These have a frame pointer
 * while they are on the system stack, which their code shows.
 */
#include "unwind/go_cfi.h"

#include <elf.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/limits.h"

#define NAME_MAX_SIZE 64u /* bytes of a name that is one of ours */

static const struct {
	const char *name;
	enum go_kind kind;
} functions[] = {
	{"runtime.sigreturn", GO_TRAMPOLINE},
	{"runtime.sigreturn__sigaction", GO_TRAMPOLINE}, /* later releases */
	{"runtime.systemstack", GO_SWITCH},
	{"runtime.mcall", GO_SWITCH},
	{"runtime.morestack", GO_SWITCH},
	{"runtime.asmcgocall", GO_SWITCH},
	{"runtime.asmcgocall_no_g", GO_SWITCH},
	{"runtime.cgocallback", GO_SWITCH},
	{"runtime.rt0_go", GO_BOTTOM},
	{"runtime.goexit", GO_BOTTOM},
	{"runtime.nanotime1", GO_CLOCK},
	{"runtime.walltime", GO_CLOCK},
	{"time.now", GO_CLOCK},
};

/* Index of the name, with or without the suffix of its calling convention; -1: none of them. */
static int find_name(const char *name, size_t size)
{
	size_t length;

	if (size > NAME_MAX_SIZE)
		size = NAME_MAX_SIZE;
	length = strnlen(name, size);
	if (length == size)
		return -1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size_t n = strlen(functions[i].name);

		if (!strncmp(name, functions[i].name, n) &&
		    (length == n || !strcmp(name + n, ".abi0")))
			return (int)i;
	}
	return -1;
}

unsigned int go_untrue(const struct elf_file *file, struct go_untrue out[GO_UNTRUE_MAX])
{
	struct elf_section symtab, strtab;
	uint64_t left = LIMIT_GO;
	unsigned int count = 0;
	Elf64_Sym sym;
	int found;

	if (!elf_file_section_index(file, ".go.buildinfo") ||
	    elf_file_section_within(file, ".symtab", &left, &symtab) < 0 ||
	    elf_file_section_at_within(file, symtab.link, &left, &strtab) < 0)
		return 0;
	for (size_t at = 0; count < GO_UNTRUE_MAX && symtab.size - at >= sizeof(sym);
	     at += sizeof(sym)) {
		memcpy(&sym, symtab.data + at, sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_name >= strtab.size)
			continue;
		found = find_name((const char *)strtab.data + sym.st_name,
				  strtab.size - sym.st_name);
		if (found >= 0)
			out[count++] = (struct go_untrue){sym.st_value, functions[found].kind};
	}
	return count;
}
