/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ELFFILE_H
#define STACKTOP_SYMBOLS_ELF_ELFFILE_H

/*
 * An ELF file opened for reading, with every offset and size in it checked. The file may be
 * hostile: it is only ever read by pread or through libelf, and nothing in it is trusted. 64-bit
 * little-endian files only (-ENOTSUP otherwise), except for elf_file_open_any_fd.
 */

#include <stdbool.h>

#include "symbols/base/bytes.h"

#define BUILD_ID_MAX 64

struct elf_load { /* a PT_LOAD */
	uint64_t offset;
	uint64_t filesz;
	uint64_t vaddr;
	uint64_t memsz;
	bool exec;
};

struct elf_section { /* a view of a section's bytes, owned by the elf_file */
	const uint8_t *data;
	size_t size;
	uint64_t offset; /* sh_offset */
	uint64_t addr;	 /* sh_addr */
	uint64_t flags;	 /* sh_flags */
	uint32_t type;	 /* sh_type */
	uint32_t link;	 /* sh_link */
	uint32_t info;	 /* sh_info */
	uint64_t entsize;
};

struct Elf;
struct elf_file;
struct work;

/*
 * Takes an open, regular, readable file; the descriptor is duplicated, the caller keeps its own.
 * -EINVAL: not an ELF file, or a broken one; -ENOTSUP: other class, byte order or machine; -ENOMEM;
 * or the error of a system call. Nothing blocks: FIFOs and devices are refused with -EINVAL.
 */
int elf_file_open_fd(int fd, struct elf_file **out);
/*
 * Takes a 32-bit file of a program that this machine runs, too. Its segments, its build-id, its
 * section headers and its symbols (symbols/names/symread.h) can be read, nothing else.
 */
int elf_file_open_any_fd(int fd, struct elf_file **out);
/* Takes a core file only, such as /proc/kcore: its segments can be read. */
int elf_file_open_core_fd(int fd, struct elf_file **out);
bool elf_file_is_narrow(const struct elf_file *file); /* of 32 bits */
/* Opens with O_NONBLOCK | O_CLOEXEC, then as above. */
int elf_file_open(const char *path, struct elf_file **out);
/* An ELF image in memory, such as the vDSO. The bytes must stay valid until elf_file_free. */
int elf_file_open_memory(const void *image, size_t size, struct elf_file **out);
/* The same for a block from malloc, which is taken over, even on failure. */
int elf_file_open_block(void *image, size_t size, struct elf_file **out);
void elf_file_free(struct elf_file *file);

/* The file's own descriptor, valid until elf_file_free; -1 for an image in memory. */
int elf_file_fd(const struct elf_file *file);
/* The file's bytes; the descriptor or image remains the file's own. */
struct bytes elf_file_bytes(const struct elf_file *file);
/*
 * Bytes of the file as they are now, bypassing libelf: large data that is read once needs no copy
 * there. Errors as for bytes_read.
 */
int elf_file_read(const struct elf_file *file, uint64_t offset, void *to, size_t size);

const struct elf_load *elf_file_loads(const struct elf_file *file, size_t *count);
/* For libdw. Valid until elf_file_free. */
struct Elf *elf_file_libelf(const struct elf_file *file);
/*
 * The work done for the file so far, and where to limit or cancel it; by default neither is set.
 * Valid until elf_file_free.
 */
struct work *elf_file_work(const struct elf_file *file);
uint16_t elf_file_machine(const struct elf_file *file); /* e_machine */
uint16_t elf_file_type(const struct elf_file *file);	/* ET_EXEC, ET_DYN, ET_REL */

/* Bytes of the build-id note copied to id, or 0 if the file has none. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t id[BUILD_ID_MAX]);

/*
 * The first section of that name, decompressed if SHF_COMPRESSED or named .zdebug*. NOBITS sections
 * count as absent. -ENOENT, -EINVAL (out of the file, broken compression, more than LIMIT_SECTION),
 * -ENOMEM, -ECANCELED. Valid until elf_file_free.
 */
int elf_file_section(const struct elf_file *file, const char *name, struct elf_section *out);
/*
 * The same, but it takes its bytes, and its decompressed bytes, from *left. -E2BIG: more than
 * *left, or a size that so few compressed bytes cannot expand to; nothing was read.
 */
int elf_file_section_within(const struct elf_file *file, const char *name, uint64_t *left,
			    struct elf_section *out);
/* The same by section index (sh_link). */
int elf_file_section_at_within(const struct elf_file *file, uint32_t index, uint64_t *left,
			       struct elf_section *out);
/*
 * The bytes that it would take, without reading it; 0 for NOBITS. -E2BIG: as above; -ENOENT,
 * -EINVAL.
 */
int elf_file_section_cost(const struct elf_file *file, uint32_t index, uint64_t *cost);
/*
 * True for a section compressed by zstd, of which libelf before 0.189 cannot say more, nor can
 * libdw. Its bytes, of the size that elf_file_section_cost adds to sh_size, are written to `to`:
 * -EINVAL if they are not as many, -E2BIG, -ENOMEM, or the error of a read.
 */
bool elf_file_section_is_zstd(const struct elf_file *file, uint32_t index);
int elf_file_section_unzstd(const struct elf_file *file, uint32_t index, void *to, size_t size);
/* Index of the first section of that name; 0: none. */
uint32_t elf_file_section_index(const struct elf_file *file, const char *name);
size_t elf_file_section_count(const struct elf_file *file);
/*
 * What the section header says, without reading the section: data is NULL, size is sh_size, and
 * NOBITS sections count. It is not checked against the file. -ENOENT, -EINVAL.
 */
int elf_file_section_header(const struct elf_file *file, uint32_t index, struct elf_section *out);

#endif
