// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Go's assembler writes CFI as if only pushes and pops moved the stack pointer. So in functions of
 * the runtime that switch to the system stack the rules lead into stale data on it: frames that
 * never called, or a zero that looks like the bottom; and the trampoline of signals seems to have a
 * caller. These functions are known by name, as in Go's own unwinder, and their rules are taken
 * from their code. To strip a program removes CFI and symbols together; what is left has the same
 * rules and the names, see unwind/go_pcsp.h.
 *
 * The outermost functions of threads and goroutines have rules like any other: the linker of
 * Go 1.19 does not mark them, and the words above them are zero on a new stack only. A thread of
 * the runtime begins within clone, at the very end of its stack, so that what the CFI takes for a
 * return address is the first word of other memory. mcall and morestack are outermost for what they
 * call on the system stack, for Go's unwinder, too: the goroutine that they leave is not waiting
 * for it, and its stack may be gone.
 */
#include "unwind/go_cfi.h"

#include <elf.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/limits.h"
#include "unwind/cfifile.h"

static const struct {
	const char *name;
	enum go_kind kind;
} functions[] = {
	{"runtime.sigreturn", GO_TRAMPOLINE},
	{"runtime.sigreturn__sigaction", GO_TRAMPOLINE}, /* later releases */
	{"runtime.systemstack", GO_SYSTEMSTACK},
	{"runtime.mcall", GO_LEAVE},
	{"runtime.morestack", GO_LEAVE},
	{"runtime.asmcgocall", GO_ASMCGOCALL},
	{"runtime.asmcgocall_no_g", GO_ALIGN},
	{"runtime.cgocallback", GO_CHANGE},
	{"gogo", GO_RESUME},
	{"runtime.clone", GO_CLONE},
	{"runtime.rt0_go", GO_BOTTOM},
	{"runtime.goexit", GO_BOTTOM},
	{"runtime.nanotime1", GO_CHANGE},
	{"runtime.walltime", GO_CHANGE},
	{"runtime.walltime1", GO_CHANGE}, /* up to Go 1.16 */
	{"time.now", GO_CHANGE},
	{"runtime.vgetrandom1", GO_CHANGE},
};

bool go_cie(const struct cfi_cie *cie)
{
	/* No other tool has this factor on a machine of 64 bits. */
	return cie->section == CFI_DEBUG_FRAME && !cie->sized && cie->data_align == -4;
}

/* The name is this one, with or without the suffix of its calling convention. */
static bool is_name(const char *name, const char *other)
{
	size_t n = strlen(other);

	return !strncmp(name, other, n) && (!name[n] || !strcmp(name + n, ".abi0"));
}

const struct go_function *go_function_at(const struct go_functions *all, uint64_t start)
{
	for (unsigned int i = 0; i < all->count; i++)
		if (all->at[i].start == start)
			return &all->at[i];
	return NULL;
}

void go_functions_add(struct go_functions *out, const char *name, uint64_t start)
{
	if (is_name(name, "runtime.cgocall"))
		out->cgocall = start;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (is_name(name, functions[i].name) && out->count < GO_FUNCTIONS_MAX &&
		    !go_function_at(out, start))
			out->at[out->count++] = (struct go_function){start, functions[i].kind};
}

void go_functions(const struct elf_file *file, struct go_functions *out)
{
	struct elf_section symtab, strtab;
	uint64_t left = LIMIT_GO;
	Elf64_Sym sym;
	size_t room;
	const char *name;

	memset(out, 0, sizeof(*out));
	out->found = elf_file_section_index(file, ".go.buildinfo") != 0;
	if (!out->found || elf_file_section_within(file, ".symtab", &left, &symtab) < 0 ||
	    elf_file_section_at_within(file, symtab.link, &left, &strtab) < 0)
		return;
	for (size_t at = 0; out->count < GO_FUNCTIONS_MAX && symtab.size - at >= sizeof(sym);
	     at += sizeof(sym)) {
		memcpy(&sym, symtab.data + at, sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_name >= strtab.size)
			continue;
		name = (const char *)strtab.data + sym.st_name;
		room = strtab.size - sym.st_name;
		room = room < GO_NAME_ROOM ? room : GO_NAME_ROOM;
		if (strnlen(name, room) < room)
			go_functions_add(out, name, sym.st_value);
	}
}

void go_rows(const struct elf_file *file, const struct go_functions *all,
	     const struct go_function *function, uint64_t end, struct go_rows *out)
{
	if (function->kind == GO_BOTTOM) {
		out->row[0] = (struct go_row){.from = function->start, .rule = GO_OUTERMOST};
		out->count = 1;
	} else {
		go_code_rows(file, function, end, all->cgocall, out);
	}
}
