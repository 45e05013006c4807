// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linkers write a dozen kinds of stubs (lazy or not, with endbr64 or bnd, in .plt, .plt.sec or
 * .plt.got), and nothing tells the kind. All of them jump through a slot of the GOT that a
 * relocation fills. So the code is searched for such jumps (symbols/elf/arch/), and the relocation
 * of the slot has the name. Lazy stubs of .plt that have their jump in .plt.sec push the number of
 * their relocation instead.
 */
#include "symbols/names/symread.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/limits.h"
#include "symbols/base/search.h"
#include "symbols/elf/arch.h"
#include "symbols/elf/elffile.h"
#include "symbols/names/symname.h"

#define RELOCS_MAX (4ull * SYMLIST_MAX) /* relocations of a file that are looked at */

struct plt_slot { /* of the GOT, with the relocation that fills it */
	uint64_t addr;
	uint64_t value; /* IRELATIVE: address of the resolver; else offset of the name */
	bool resolver;
};

struct plt_slots {
	struct plt_slot *list; /* by address */
	size_t count;
	size_t room;
	struct elf_section symbols; /* .dynsym */
	struct elf_section lazy;    /* .rela.plt: lazy stubs push indexes into it */
	uint64_t left;		    /* relocations that may still be looked at */
	unsigned int machine;
};

/* False: a relocation of another kind, or without a name. */
static bool slot_read(const struct plt_slots *slots, const Elf64_Rela *rela, struct plt_slot *out)
{
	enum arch_relocation type = arch_relocation(slots->machine, ELF64_R_TYPE(rela->r_info));
	uint64_t index = ELF64_R_SYM(rela->r_info);
	Elf64_Sym sym;

	*out = (struct plt_slot){.addr = rela->r_offset};
	if (type == ARCH_IRELATIVE) {
		out->resolver = true;
		out->value = (uint64_t)rela->r_addend;
		return true;
	}
	if ((type != ARCH_JUMP_SLOT && type != ARCH_GLOB_DAT) || !index ||
	    index >= slots->symbols.size / sizeof(sym))
		return false;
	memcpy(&sym, slots->symbols.data + index * sizeof(sym), sizeof(sym));
	out->value = sym.st_name;
	return sym.st_name != 0;
}

/*
 * .rela.dyn has all sorts of relocations, mostly relative ones, so it is read in pieces. A sparse
 * file can claim any number of them.
 */
static int slots_of_section(struct plt_slots *slots, const struct elf_file *file,
			    const struct elf_section *section)
{
	Elf64_Rela chunk[1024];
	uint64_t count = section->size / sizeof(*chunk), at, n, i;
	struct plt_slot slot;

	for (at = 0; at < count && slots->left && slots->count < SYMLIST_MAX; at += n) {
		n = count - at < 1024 ? count - at : 1024;
		slots->left -= n < slots->left ? n : slots->left;
		if (elf_file_read(file, section->offset + at * sizeof(*chunk), chunk,
				  n * sizeof(*chunk)))
			return 0;
		for (i = 0; i < n; i++)
			if (slot_read(slots, &chunk[i], &slot)) {
				if (GROW(slots->list, slots->count, slots->room, SIZE_MAX))
					return -ENOMEM;
				slots->list[slots->count++] = slot;
			}
	}
	return 0;
}

static int slots_read(struct plt_slots *slots, const struct elf_file *file)
{
	size_t nsections = elf_file_section_count(file), i;
	struct elf_section section;
	int err;

	slots->left = RELOCS_MAX;
	for (i = 1; i < nsections; i++) {
		if (elf_file_section_header(file, (uint32_t)i, &section) ||
		    section.type != SHT_RELA || !(section.flags & SHF_ALLOC) ||
		    section.entsize != sizeof(Elf64_Rela))
			continue;
		err = slots_of_section(slots, file, &section);
		if (err)
			return err;
	}
	if (slots->count)
		qsort(slots->list, slots->count, sizeof(*slots->list), compare_u64);
	return 0;
}

/* The slot that the stub at p jumps through. False: no stub begins here. */
static bool stub_at(const struct plt_slots *slots, const uint8_t *p, size_t room, uint64_t addr,
		    struct plt_slot *out)
{
	struct plt_slot key = {0}, *slot;
	Elf64_Rela rela;
	uint64_t value;

	switch (arch_plt_stub(slots->machine, p, room, addr, &value)) {
	case PLT_STUB_SLOT:
		key.addr = value;
		slot = slots->count
			       ? bsearch(&key, slots->list, slots->count, sizeof(key), compare_u64)
			       : NULL;
		if (slot)
			*out = *slot;
		return slot != NULL;
	case PLT_STUB_LAZY:
		if (value >= slots->lazy.size / sizeof(rela))
			return false;
		memcpy(&rela, slots->lazy.data + value * sizeof(rela), sizeof(rela));
		return slot_read(slots, &rela, out);
	default:
		return false;
	}
}

static int stubs_add(struct symlist *list, const struct plt_slots *slots,
		     const struct elf_section *section)
{
	struct symlist_item stub = {.binding = SYMNAME_LOCAL};
	uint64_t last = 0, base = list->ranges[0].start;
	struct plt_slot slot = {0}, next = {0};
	size_t at;
	int err = 0;

	/* A stub ends where the next one begins, which is known one stub later. */
	for (at = 0; at <= section->size && !err; at++) {
		bool end = at == section->size;

		if (!end && !stub_at(slots, section->data + at, section->size - at,
				     section->addr + at, &next))
			continue;
		if (stub.start) {
			stub.source = slot.resolver ? SYMLIST_IPLT : SYMLIST_PLT;
			stub.name = (uint32_t)(slot.resolver ? slot.value - base : slot.value);
			if (!slot.resolver || slot.value - base <= UINT32_MAX)
				err = symlist_add(list, &stub,
						  at - last < ARCH_STUB_MAX ? at - last
									    : ARCH_STUB_USUAL);
		}
		stub.start = section->addr + at;
		last = at;
		slot = next;
		if (!end)
			at += arch_jump_min(slots->machine);
	}
	return err == -E2BIG ? 0 : err;
}

/* *left: bytes that may be read. */
static int plts_read(const struct elf_file *file, struct symlist *list, struct plt_slots *slots,
		     uint64_t *left)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt"};
	struct elf_section section;
	int err;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		err = elf_file_section_within(file, names[i], left, &section);
		if (!err && section.flags & SHF_EXECINSTR)
			err = stubs_add(list, slots, &section);
		if (err == -ENOMEM)
			return err;
	}
	return 0;
}

int plt_read(const struct elf_file *file, struct symlist *list)
{
	struct plt_slots slots = {.machine = elf_file_machine(file)};
	uint64_t left = LIMIT_STUBS;
	int err;

	if (!arch_is_known(slots.machine) || !list->nranges)
		return 0;
	if (!elf_file_section_index(file, ".plt") && !elf_file_section_index(file, ".plt.got") &&
	    !elf_file_section_index(file, ".iplt"))
		return 0;
	err = elf_file_section_within(file, ".dynsym", &left, &slots.symbols);
	if (!err && slots.symbols.entsize != sizeof(Elf64_Sym))
		slots.symbols.size = 0;
	if (err != -ENOMEM)
		err = elf_file_section_within(file, ".rela.plt", &left, &slots.lazy);
	if (err != -ENOMEM)
		err = slots_read(&slots, file);
	if (!err)
		err = plts_read(file, list, &slots, &left);
	free(slots.list);
	return err;
}
