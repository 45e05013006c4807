// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file with a given number of functions, eight unwind rows each, and a program that calls
 * through it. An assembler takes a minute and a gigabyte for half a million functions, so the ELF
 * file is written in its mapped form: headers and .eh_frame, then the text. Neighbours differ in
 * frame size, and each one spoils RBP, by which its caller's frame is found.
 *
 *	giant write FILE COUNT
 *	giant run FILE COUNT DEPTH	prints the ELF addresses of the functions that it calls
 *					through, outermost first, again and again
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	  4096u
#define SHIFT	  0x10000u /* between a byte of the text in the file and its address */
#define TEXT_SIZE 28u	   /* per function */
#define CIE_SIZE  24u
#define FDE_SIZE  48u
#define DEPTH_MAX 128u

/* Where things are in the file. */
struct layout {
	uint64_t frames, text, end;
};

static struct layout layout_of(uint32_t count)
{
	struct layout l = {.frames = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)};

	l.text = l.frames + CIE_SIZE + (uint64_t)count * FDE_SIZE + 4;
	l.text = (l.text + PAGE - 1) / PAGE * PAGE;
	l.end = l.text + (uint64_t)count * TEXT_SIZE;
	return l;
}

static uint64_t address_of(const struct layout *l, uint32_t i)
{
	return l->text + SHIFT + (uint64_t)i * TEXT_SIZE;
}

/* --- the file -------------------------------------------------------------------------------- */

/* Bytes, a multiple of 16. */
static uint32_t locals_of(uint32_t i)
{
	return 128 + 16 * ((i * 7 + i / 97) % 131);
}

static void text_write(uint8_t *to, uint32_t i)
{
	static const uint8_t code[TEXT_SIZE] = {
		0x55,			      /*  0: push %rbp */
		0x53,			      /*  1: push %rbx */
		0x41, 0x54,		      /*  2: push %r12 */
		0x48, 0x81, 0xec, 0, 0, 0, 0, /*  4: sub $locals, %rsp */
		0x48, 0xf7, 0xd5,	      /* 11: not %rbp */
		0xff, 0xd7,		      /* 14: call *%rdi */
		0x48, 0x81, 0xc4, 0, 0, 0, 0, /* 16: add $locals, %rsp */
		0x41, 0x5c,		      /* 23: pop %r12 */
		0x5b,			      /* 25: pop %rbx */
		0x5d,			      /* 26: pop %rbp */
		0xc3,			      /* 27: ret */
	};
	const uint32_t locals = locals_of(i);

	memcpy(to, code, sizeof(code));
	memcpy(to + 7, &locals, sizeof(locals));
	memcpy(to + 19, &locals, sizeof(locals));
}

/* LSB 5.0 10.6.1.1: version 1, "zR": pc-relative signed words. DWARF 5 section 6.4.2. */
static void cie_write(uint8_t *to)
{
	static const uint8_t cie[CIE_SIZE] = {
		CIE_SIZE - 4, 0, 0, 0,	  0,  0, 0,    0,    1, 'z',
		'R',	      0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, /* DW_CFA_def_cfa: RSP + 8 */
		0x90,	      1, /* DW_CFA_offset: RA at CFA - 8 */
	};

	memcpy(to, cie, sizeof(cie));
}

/* at: the FDE's offset in the section. */
static void fde_write(uint8_t *to, const struct layout *l, uint32_t i, uint32_t at)
{
	const uint32_t cfa = 32 + locals_of(i);
	const uint32_t head[] = {FDE_SIZE - 4, at + 4,
				 (uint32_t)(address_of(l, i) - (l->frames + at + 8)), TEXT_SIZE};
	const uint8_t program[] = {
		0,    /* no augmentation data */
		0x41, /* DW_CFA_advance_loc */
		0x0e,
		16,
		0x86,
		2, /* DW_CFA_def_cfa_offset, DW_CFA_offset of RBP */
		0x41,
		0x0e,
		24,
		0x42,
		0x0e,
		32,
		0x47,
		0x0e,
		(uint8_t)(cfa | 0x80),
		(uint8_t)(cfa >> 7),
		0x4c,
		0x0e,
		32,
		0x42,
		0x0e,
		24,
		0x41,
		0x0e,
		16,
		0x41,
		0x0e,
		8,
		0xc6, /* DW_CFA_restore of RBP */
	};

	_Static_assert(sizeof(head) + sizeof(program) <= FDE_SIZE, "the rest is DW_CFA_nop");
	memset(to, 0, FDE_SIZE);
	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), program, sizeof(program));
}

static void headers_write(uint8_t *file, const struct layout *l, uint64_t sections)
{
	static const char names[] = "\0.eh_frame\0.text\0.shstrtab";
	const uint64_t frames_size = l->text - l->frames, text_size = l->end - l->text;
	const Elf64_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(ehdr),
		.e_shoff = sections,
		.e_ehsize = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	const Elf64_Phdr phdrs[2] = {
		{PT_LOAD, PF_R, 0, 0, 0, l->text, l->text, PAGE},
		{PT_LOAD, PF_R | PF_X, l->text, l->text + SHIFT, l->text + SHIFT, text_size,
		 text_size, PAGE},
	};
	const Elf64_Shdr shdrs[4] = {
		{0},
		{1, SHT_PROGBITS, SHF_ALLOC, l->frames, l->frames, frames_size, 0, 0, 8, 0},
		{11, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, l->text + SHIFT, l->text, text_size,
		 0, 0, 16, 0},
		{17, SHT_STRTAB, 0, 0, sections + sizeof(shdrs), sizeof(names), 0, 0, 1, 0},
	};

	memcpy(file, &ehdr, sizeof(ehdr));
	memcpy(file + sizeof(ehdr), phdrs, sizeof(phdrs));
	memcpy(file + sections, shdrs, sizeof(shdrs));
	memcpy(file + sections + sizeof(shdrs), names, sizeof(names));
}

static void file_write(const char *path, uint32_t count)
{
	const struct layout l = layout_of(count);
	const uint64_t sections = (l.end + 7) / 8 * 8;
	const uint64_t size = sections + 4 * sizeof(Elf64_Shdr) + 64;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	uint8_t *file;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		err(1, "%s", path);
	file = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		err(1, "%s", path);
	headers_write(file, &l, sections);
	cie_write(file + l.frames);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t at = CIE_SIZE + i * FDE_SIZE;

		fde_write(file + l.frames + at, &l, i, at);
		text_write(file + l.text + (uint64_t)i * TEXT_SIZE, i);
	}
	munmap(file, size);
	close(fd);
}

/* --- the way through it ---------------------------------------------------------------------- */

static struct way {
	void (*functions[DEPTH_MAX])(void *);
	unsigned int depth, at;
	volatile unsigned int turns;
} way;

/* Each of the functions calls its argument. */
static void go_on(void *self)
{
	if (way.at < way.depth) {
		way.functions[way.at++](self);
		way.at--;
	} else {
		for (way.turns = 0; way.turns < 2000;)
			way.turns++;
	}
	/* Keeps the call from becoming a jump. */
	__asm__ volatile("");
}

static void run(const char *path, uint32_t count, unsigned int depth)
{
	const struct layout l = layout_of(count);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *text;

	if (fd < 0)
		err(1, "%s", path);
	text = mmap(NULL, l.end - l.text, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)l.text);
	if (text == MAP_FAILED)
		err(1, "%s", path);
	way.depth = depth;
	for (unsigned int i = 0; i < depth; i++) {
		/* Mixed order, with the first and the last function among them. */
		uint32_t n = (uint64_t)(i * 37 % depth) * (count - 1) / (depth - 1);

		way.functions[i] = (void (*)(void *))(text + (uint64_t)n * TEXT_SIZE);
		printf("%lx%c", (unsigned long)address_of(&l, n), i + 1 < depth ? ' ' : '\n');
	}
	fflush(stdout);
	for (;;)
		go_on((void *)go_on);
}

int main(int argc, char **argv)
{
	const long count = argc > 3 ? atol(argv[3]) : 0, depth = argc > 4 ? atol(argv[4]) : 0;

	if (count < 2 || count > 2000000)
		errx(2, "giant write FILE COUNT | run FILE COUNT DEPTH");
	if (!strcmp(argv[1], "write")) {
		file_write(argv[2], (uint32_t)count);
		return 0;
	}
	if (strcmp(argv[1], "run") || depth < 2 || depth > (long)DEPTH_MAX)
		errx(2, "what?");
	run(argv[2], (uint32_t)count, (unsigned int)depth);
}
