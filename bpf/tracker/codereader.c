// SPDX-License-Identifier: GPL-2.0-or-later
/* See codereader.h. */
#include "bpf/tracker/codereader.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codefile.h"
#include "bpf/tracker/codeleave.h"
#include "bpf/tracker/gdbjit.h"
#include "bpf/tracker/hotspot.h"
#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"

#define READ_MAX LIMIT_MIB(192) /* bytes for one answer: the code of a large Java program */
#define PAGE	 4096u
#define PAGES	 64u /* a quarter of a MiB */

/* --- symbols --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t at;
} symbols[] = {
	{"__jit_debug_descriptor", offsetof(struct code_symbols, descriptor)},
	{"gHotSpotVMStructs", offsetof(struct code_symbols, vm_structs)},
	{"gHotSpotVMTypes", offsetof(struct code_symbols, vm_types)},
};

static bool note_symbol(const Elf64_Sym *sym, const struct elf_section *strings,
			struct code_symbols *out)
{
	const char *name = (const char *)strings->data + sym->st_name;

	if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF ||
	    sym->st_name >= strings->size)
		return false;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const size_t size = strlen(symbols[i].name) + 1;

		if (strings->size - sym->st_name < size || memcmp(name, symbols[i].name, size) != 0)
			continue;
		memcpy((char *)out + symbols[i].at, &sym->st_value, sizeof(uint64_t));
		return true;
	}
	return false;
}

bool codereader_symbols(const struct elf_file *file, struct code_symbols *out)
{
	static const char *const names[] = {".dynsym", ".symtab"};
	struct elf_section table, strings;
	bool found = false;

	*out = (struct code_symbols){0};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !found; i++) {
		uint64_t left = LIMIT_GO;
		Elf64_Sym sym;

		if (elf_file_section_within(file, names[i], &left, &table) ||
		    elf_file_section_at_within(file, table.link, &left, &strings))
			continue;
		for (size_t at = 0; table.size - at >= sizeof(sym); at += sizeof(sym)) {
			memcpy(&sym, table.data + at, sizeof(sym));
			found |= note_symbol(&sym, &strings, out);
		}
	}
	return found;
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Descriptions are many small pieces, near each other: a system call for each takes most time. */
struct code_pages {
	uint64_t addrs[PAGES]; /* 0: none */
	uint8_t bytes[PAGES][PAGE];
};

static int read_memory(pid_t pid, uint64_t addr, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)addr, size};
	const ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* Within one page, which is there as a whole or not at all. */
static int read_page(struct code_memory *m, uint64_t addr, void *to, size_t size)
{
	const uint64_t page = addr & ~(uint64_t)(PAGE - 1);
	const size_t i = addr / PAGE % PAGES;

	if (m->pages->addrs[i] != page) {
		const int err = read_memory(m->pid, page, m->pages->bytes[i], PAGE);

		m->pages->addrs[i] = err ? 0 : page;
		if (err)
			return err;
	}
	memcpy(to, m->pages->bytes[i] + (addr - page), size);
	return 0;
}

int codereader_memory(struct code_memory *m, uint64_t addr, void *to, size_t size)
{
	if (size > m->left)
		return -E2BIG;
	m->left -= size;
	if (m->pages && addr >= PAGE && addr % PAGE + size <= PAGE && size < PAGE)
		return read_page(m, addr, to, size);
	return read_memory(m->pid, addr, to, size);
}

size_t codereader_string(struct code_memory *m, uint64_t addr, char *to, size_t room)
{
	const size_t page = 4096 - (addr & 4095);
	size_t n = room - 1 < page ? room - 1 : page, length;

	to[0] = '\0';
	if (codereader_memory(m, addr, to, n))
		return 0;
	length = strnlen(to, n);
	if (length == n && n < room - 1 && !codereader_memory(m, addr + n, to + n, room - 1 - n))
		length = strnlen(to, room - 1);
	to[length] = '\0';
	return length;
}

/* --- the answer ------------------------------------------------------------------------------ */

static int read_all(struct code_memory *m, const struct code_places *places, struct code_bare *bare,
		    struct code_draft *d, uint64_t *mark, const char **missing)
{
	struct hotspot vm;
	int err = 0;

	*mark = 0;
	*missing = NULL;
	for (size_t i = 0; i < CODE_DESCRIPTORS_MAX && places->descriptors[i] && !err; i++)
		err = gdbjit_mark(m, places->descriptors[i], mark);
	if (!err && places->vm_structs)
		err = hotspot_open(m, places->vm_structs, places->vm_types, &vm, missing);
	if (!err && places->vm_structs)
		err = hotspot_mark(m, &vm, mark);
	if (err)
		return err;
	if (!*mark && !places->nbare)
		return -ENOENT;
	if (*mark == places->mark && !places->again)
		return -EALREADY;
	for (size_t i = 0; i < CODE_DESCRIPTORS_MAX && places->descriptors[i] && !err; i++)
		err = gdbjit_read(m, places->descriptors[i], d);
	if (!err && places->vm_structs)
		err = hotspot_read(m, &vm, d);
	if (!err && places->nbare)
		err = codeleave_read(m, bare->places, places->nbare, d);
	if (!err && places->nconstants)
		err = codeleave_constants(m, bare->constants, places->nconstants, d);
	return err == -E2BIG ? 0 : err; /* what was read until then counts */
}

static int add_name(void *d, uint64_t start, uint64_t size, const char *name)
{
	return codedraft_name(d, start, size, name, strlen(name));
}

/* What is new counts, in front of what the last file says of the same addresses. */
static int read_part(struct code_memory *m, const struct code_places *places,
		     struct code_bare *bare, struct code_draft *d, uint64_t *mark,
		     const char **missing)
{
	struct hotspot vm;
	int err = codefile_names(places->base, add_name, d);

	err = err == -E2BIG ? 0 : err;

	*mark = places->mark;
	*missing = NULL;
	if (!err)
		err = hotspot_open(m, places->vm_structs, places->vm_types, &vm, missing);
	if (!err)
		err = hotspot_read_new(m, &vm, bare->places, places->nbare, d);
	codedraft_sort(d);
	if (!err)
		err = codefile_rows(places->base, d);
	if (!err)
		err = codeleave_read(m, bare->places, places->nbare, d);
	return err == -E2BIG ? 0 : err; /* what was read until then counts */
}

int codereader_read(pid_t pid, const struct code_places *places, struct code_bare *bare,
		    uint64_t *mark, const char **missing)
{
	struct code_memory m = {.pid = pid, .left = READ_MAX};
	struct code_draft d;
	int err = codedraft_init(&d), fd = -1;

	m.pages = calloc(1, sizeof(*m.pages));
	if (!err && !m.pages)
		err = -ENOMEM;

	if (!err)
		err = (places->part ? read_part : read_all)(&m, places, bare, &d, mark, missing);
	if (!err) {
		codedraft_sort(&d);
		fd = memfd_create(CODEFILE_NAME, MFD_CLOEXEC);
		err = fd < 0 ? -errno : codedraft_write(&d, fd);
	}
	codedraft_free(&d);
	free(m.pages);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}
