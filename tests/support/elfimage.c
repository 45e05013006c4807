// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/elfimage.h"

#include <elf.h>
#include <stdlib.h>

#include "unwind/arch.h"

unsigned char *image_new(const void *cfi, size_t cfi_size, const struct image_options *o,
			 size_t *size)
{
	static const char names[] = "\0.eh_frame\0.debug_frame\0.plt\0.names\0.sframe";
	const size_t names_at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 5 * sizeof(Elf64_Shdr);
	const size_t plt_at = (names_at + sizeof(names) + 7) & ~(size_t)7;
	const size_t cfi_at = plt_at + 256;
	const size_t sframe_at = (cfi_at + cfi_size + 7) & ~(size_t)7;
	unsigned char *image = calloc(1, sframe_at + o->sframe_size);
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)image;
	Elf64_Phdr *phdr = (Elf64_Phdr *)(ehdr + 1);
	Elf64_Shdr *shdr = (Elf64_Shdr *)(phdr + 1);

	if (!image)
		abort();
	*size = sframe_at + o->sframe_size;
	memcpy(ehdr->e_ident, ELFMAG, SELFMAG);
	ehdr->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr->e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr->e_ident[EI_VERSION] = EV_CURRENT;
	ehdr->e_type = ET_DYN;
	ehdr->e_machine = ARCH_MACHINE;
	ehdr->e_version = EV_CURRENT;
	ehdr->e_ehsize = sizeof(*ehdr);
	ehdr->e_phoff = sizeof(*ehdr);
	ehdr->e_phentsize = sizeof(*phdr);
	ehdr->e_phnum = 1;
	ehdr->e_shoff = sizeof(*ehdr) + sizeof(*phdr);
	ehdr->e_shentsize = sizeof(*shdr);
	ehdr->e_shnum = o->sframe ? 5 : 4;
	ehdr->e_shstrndx = 1;
	phdr->p_type = PT_LOAD;
	phdr->p_flags = PF_R | PF_X;
	phdr->p_vaddr = IMAGE_TEXT;
	phdr->p_filesz = phdr->p_memsz = o->text_size;
	shdr[1] = (Elf64_Shdr){.sh_name = 29,
			       .sh_type = SHT_STRTAB,
			       .sh_offset = names_at,
			       .sh_size = sizeof(names)};
	shdr[2] = (Elf64_Shdr){.sh_name = o->debug_frame ? 11 : 1,
			       .sh_type = SHT_PROGBITS,
			       .sh_flags = o->debug_frame ? 0 : SHF_ALLOC,
			       .sh_addr = o->debug_frame ? 0 : IMAGE_CFI,
			       .sh_offset = cfi_at,
			       .sh_size = cfi_size};
	shdr[3] = (Elf64_Shdr){.sh_name = o->plt ? 24 : 0,
			       .sh_type = SHT_PROGBITS,
			       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			       .sh_addr = o->plt,
			       .sh_offset = plt_at,
			       .sh_size = 256};
	shdr[4] = (Elf64_Shdr){.sh_name = o->sframe_is_debug  ? 11
					  : o->sframe_by_type ? 29
							      : 36,
			       .sh_type = o->sframe_by_type ? 0x6ffffff4 : SHT_PROGBITS,
			       .sh_flags = SHF_ALLOC,
			       .sh_addr = IMAGE_SFRAME,
			       .sh_offset = sframe_at,
			       .sh_size = o->sframe_size};
	if (o->sframe)
		memcpy(image + sframe_at, o->sframe, o->sframe_size);
	memcpy(image + names_at, names, sizeof(names));
	if (cfi_size)
		memcpy(image + cfi_at, cfi, cfi_size);
	return image;
}

void cfi_put(struct cfi_bytes *b, const void *bytes, size_t n)
{
	if (b->size + n > sizeof(b->data))
		abort();
	if (n)
		memcpy(b->data + b->size, bytes, n);
	b->size += n;
}

void cfi_u8(struct cfi_bytes *b, unsigned int value)
{
	unsigned char byte = (unsigned char)value;

	cfi_put(b, &byte, 1);
}

void cfi_u32(struct cfi_bytes *b, uint32_t value)
{
	cfi_put(b, &value, 4);
}

void cfi_u64(struct cfi_bytes *b, uint64_t value)
{
	cfi_put(b, &value, 8);
}

void cfi_uleb(struct cfi_bytes *b, uint64_t value)
{
	do {
		cfi_u8(b, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

void cfi_begin(struct cfi_bytes *b)
{
	b->record = b->size;
	cfi_u32(b, 0);
}

void cfi_end(struct cfi_bytes *b)
{
	uint32_t length = (uint32_t)(b->size - b->record - 4);

	memcpy(b->data + b->record, &length, 4);
}

void cfi_cie(struct cfi_bytes *b, const char *augmentation)
{
	cfi_begin(b);
	b->cie = b->record;
	cfi_u32(b, 0);
	cfi_u8(b, 1);
	cfi_put(b, augmentation, strlen(augmentation) + 1);
	cfi_uleb(b, 1);
	cfi_u8(b, 0x78);
	cfi_u8(b, 16);
	cfi_uleb(b, 1);
	cfi_u8(b, 0x00);
	cfi_put(b, "\x0c\x07\x08\x90\x01", 5);
	cfi_end(b);
}

void cfi_fde_begin(struct cfi_bytes *b, uint64_t start, uint64_t range)
{
	cfi_begin(b);
	cfi_u32(b, (uint32_t)(b->size - b->cie));
	cfi_u64(b, start);
	cfi_u64(b, range);
	cfi_uleb(b, 0);
}

void cfi_fde(struct cfi_bytes *b, uint64_t start, uint64_t range, const void *insns, size_t n)
{
	cfi_fde_begin(b, start, range);
	cfi_put(b, insns, n);
	cfi_end(b);
}
