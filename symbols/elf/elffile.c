// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files through libelf, opened with ELF_C_READ: libelf then preads the headers, and the bytes
 * of a section only on request. Mapping the file instead (ELF_C_READ_MMAP) would save a copy, but
 * the owner of the file could crash us: after a package upgrade or a hostile user has truncated it,
 * the next access is a SIGBUS. A short pread is just an error.
 *
 * libelf checks offsets and sizes against the size of the file, but a sparse file or a compressed
 * section can claim any size. Both are bounded here.
 */
#include "symbols/elf/elffile_priv.h"

#include <endian.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf/arch.h"
#include "symbols/base/limits.h"
#include "symbols/files/rootfile.h"
#include "symbols/base/work.h"

int elffile_error(void)
{
	int saved = errno;

	elf_errno();
	if (saved == ENOMEM)
		return -ENOMEM;
	return saved == EIO ? -EIO : -EINVAL;
}

/*
 * libelf reads the names of sections as a whole when the first one is asked for, and looks for the
 * end of each from the end of all: an unterminated one would be searched once for every section.
 */
static int names_check(const struct elf_file *file)
{
	Elf_Scn *names = file->names ? elf_getscn(file->elf, file->names) : NULL;
	const Elf_Data *data;
	GElf_Shdr shdr;

	if (!names)
		return 0;
	if (!gelf_getshdr(names, &shdr))
		return elffile_error();
	if (shdr.sh_size > LIMIT_SECTION_NAMES || shdr.sh_flags & SHF_COMPRESSED)
		return -EINVAL;
	data = elf_rawdata(names, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return 0; /* no section has a name */
	return ((const char *)data->d_buf)[data->d_size - 1] ? -EINVAL : 0;
}

static bool has_type(const struct elf_file *file, bool core)
{
	if (core)
		return file->ehdr.e_type == ET_CORE;
	return file->ehdr.e_type == ET_EXEC || file->ehdr.e_type == ET_DYN ||
	       file->ehdr.e_type == ET_REL;
}

static int elf_file_header(struct elf_file *file, bool core)
{
	const char *ident;
	size_t size;

	errno = 0;
	if (elf_kind(file->elf) != ELF_K_ELF)
		return -EINVAL;
	ident = elf_getident(file->elf, &size);
	if (!ident || size < EI_NIDENT)
		return -EINVAL;
	if (ident[EI_CLASS] != (file->narrow ? ELFCLASS32 : ELFCLASS64) ||
	    ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (!gelf_getehdr(file->elf, &file->ehdr))
		return elffile_error();
	if (file->narrow ? file->ehdr.e_machine != ARCH_ELF_MACHINE_32
			 : !arch_is_known(file->ehdr.e_machine))
		return -ENOTSUP;
	if (!has_type(file, core))
		return -EINVAL;
	/* A file whose section headers are cut off still has loads and can be mapped. */
	if (elf_getshdrnum(file->elf, &file->nsections) < 0)
		file->nsections = 0;
	if (!file->nsections || elf_getshdrstrndx(file->elf, &file->names) < 0)
		file->names = 0;
	return names_check(file);
}

static int elf_file_read_segments(struct elf_file *file)
{
	size_t count = 0;

	errno = 0;
	if (elf_getphdrnum(file->elf, &count) < 0)
		return elffile_error();
	if (!count)
		return 0;
	file->loads = calloc(count < LIMIT_LOADS ? count : LIMIT_LOADS, sizeof(*file->loads));
	if (!file->loads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (i > INT_MAX || !gelf_getphdr(file->elf, (int)i, &phdr))
			return elffile_error();
		if (phdr.p_type == PT_NOTE && file->nnotes < ELFNOTE_PLACES)
			file->notes[file->nnotes++] =
				(struct elfnote_place){phdr.p_offset, phdr.p_filesz, phdr.p_align};
		if (phdr.p_type == PT_DYNAMIC)
			file->dynamic = (struct elf_part){phdr.p_vaddr, phdr.p_memsz};
		if (phdr.p_type == PT_GNU_EH_FRAME)
			file->eh_header = (struct elf_part){phdr.p_vaddr, phdr.p_memsz};
		if (phdr.p_type != PT_LOAD)
			continue;
		if (file->nloads == LIMIT_LOADS || phdr.p_offset + phdr.p_filesz < phdr.p_offset ||
		    phdr.p_vaddr + phdr.p_memsz < phdr.p_vaddr || phdr.p_filesz > phdr.p_memsz)
			return -EINVAL;
		file->loads[file->nloads++] = (struct elf_load){
			.offset = phdr.p_offset,
			.filesz = phdr.p_filesz,
			.vaddr = phdr.p_vaddr,
			.memsz = phdr.p_memsz,
			.exec = phdr.p_flags & PF_X,
		};
	}
	return 0;
}

/* elf: what libelf made of the bytes, NULL: see errno. Takes it and the descriptor over. */
static int elf_file_new(struct bytes bytes, Elf *elf, bool narrow, bool core, struct elf_file **out)
{
	int err = elf ? -ENOMEM : elffile_error();
	struct elf_file *file = elf ? calloc(1, sizeof(*file)) : NULL;

	if (!file) {
		elf_end(elf);
		if (bytes.fd >= 0)
			close(bytes.fd);
		return err;
	}
	file->bytes = bytes;
	file->elf = elf;
	file->narrow = narrow;
	file->work = &file->counted;
	file->plain = &file->kept;
	err = elf_file_header(file, core);
	if (!err)
		err = elf_file_read_segments(file);
	if (err) {
		elf_file_free(file);
		return err;
	}
	elf_file_make_sections(file);
	*out = file;
	return 0;
}

/*
 * Checks the header before libelf allocates a record for each section that it claims. -EINVAL: more
 * sections or segments than any real file has; libelf would accept them if the file is large
 * enough, as a sparse file is. -ENOTSUP: another class or byte order, which is not read here. See
 * "Extended numbering" in the ELF specification for section 0.
 */
static int counts_check(const struct bytes *bytes)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr first;
	int err = bytes_read(bytes, 0, &ehdr, sizeof(ehdr));

	if (err)
		return err;
	if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0)
		return -EINVAL;
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if ((ehdr.e_shnum && ehdr.e_phnum != PN_XNUM) || !ehdr.e_shoff ||
	    bytes_read(bytes, ehdr.e_shoff, &first, sizeof(first)))
		first = (Elf64_Shdr){0};
	if ((!ehdr.e_shnum && first.sh_size > LIMIT_SECTIONS) ||
	    (ehdr.e_phnum == PN_XNUM && first.sh_info > LIMIT_SEGMENTS))
		return -EINVAL;
	return elf_version(EV_CURRENT) == EV_NONE ? -ENOTSUP : 0;
}

/* The same for a 32-bit file. -ENOTSUP: it is none. */
static int narrow_check(const struct bytes *bytes)
{
	Elf32_Ehdr ehdr;
	Elf32_Shdr first;
	int err = bytes_read(bytes, 0, &ehdr, sizeof(ehdr));

	if (err)
		return err;
	if (memcmp(ehdr.e_ident, ELFMAG, SELFMAG) != 0 || ehdr.e_ident[EI_CLASS] != ELFCLASS32 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if ((ehdr.e_shnum && ehdr.e_phnum != PN_XNUM) || !ehdr.e_shoff ||
	    bytes_read(bytes, ehdr.e_shoff, &first, sizeof(first)))
		first = (Elf32_Shdr){0};
	if ((!ehdr.e_shnum && first.sh_size > LIMIT_SECTIONS) ||
	    (ehdr.e_phnum == PN_XNUM && first.sh_info > LIMIT_SEGMENTS))
		return -EINVAL;
	return elf_version(EV_CURRENT) == EV_NONE ? -ENOTSUP : 0;
}

static int open_fd(int fd, bool any, bool core, struct elf_file **out)
{
	struct bytes bytes = {.fd = fd};
	bool narrow = false;
	struct stat st;
	int err;

	*out = NULL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	err = counts_check(&bytes);
	if (any && err) {
		narrow = !narrow_check(&bytes);
		err = narrow ? 0 : err;
	}
	if (err)
		return err;
	bytes.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (bytes.fd < 0)
		return -errno;
	errno = 0;
	return elf_file_new(bytes, elf_begin(bytes.fd, ELF_C_READ, NULL), narrow, core, out);
}

int elf_file_open_fd(int fd, struct elf_file **out)
{
	return open_fd(fd, false, false, out);
}

int elf_file_open_core_fd(int fd, struct elf_file **out)
{
	return open_fd(fd, false, true, out);
}

int elf_file_open_any_fd(int fd, struct elf_file **out)
{
	return open_fd(fd, true, false, out);
}

bool elf_file_is_narrow(const struct elf_file *file)
{
	return file->narrow;
}

int elf_file_open(const char *path, struct elf_file **out)
{
	int fd = rootfile_open(-1, path);
	int err;

	*out = NULL;
	if (fd < 0)
		return fd;
	err = elf_file_open_fd(fd, out);
	close(fd);
	return err;
}

int elf_file_open_memory(const void *image, size_t size, struct elf_file **out)
{
	const struct bytes bytes = {.fd = -1, .image = image, .size = size};
	int err;

	*out = NULL;
	if (!image)
		return -EINVAL;
	err = counts_check(&bytes);
	if (err)
		return err;
	errno = 0;
	/* Not const for the sake of ELF_C_RDWR users; nothing is written without elf_update. */
	return elf_file_new(bytes, elf_memory((char *)(uintptr_t)image, size), false, false, out);
}

int elf_file_open_block(void *image, size_t size, struct elf_file **out)
{
	int err = elf_file_open_memory(image, size, out);

	if (err)
		free(image);
	else
		(*out)->block = image;
	return err;
}

void elf_file_free(struct elf_file *file)
{
	struct elf_plain *plain, *next;

	if (!file)
		return;
	for (plain = file->kept.first; plain; plain = next) {
		next = plain->next;
		free(plain);
	}
	elf_end(file->elf);
	if (file->bytes.fd >= 0)
		close(file->bytes.fd);
	free(file->block);
	free(file->loads);
	free(file);
}

int elf_file_fd(const struct elf_file *file)
{
	return file->bytes.fd;
}

struct bytes elf_file_bytes(const struct elf_file *file)
{
	return file->bytes;
}

int elf_file_read(const struct elf_file *file, uint64_t offset, void *to, size_t size)
{
	return bytes_read(&file->bytes, offset, to, size);
}

const struct elf_load *elf_file_loads(const struct elf_file *file, size_t *count)
{
	*count = file->nloads;
	return file->loads;
}

struct Elf *elf_file_libelf(const struct elf_file *file)
{
	return file->elf;
}

struct work *elf_file_work(const struct elf_file *file)
{
	return file->work;
}

uint16_t elf_file_machine(const struct elf_file *file)
{
	return file->ehdr.e_machine;
}

uint16_t elf_file_type(const struct elf_file *file)
{
	return file->ehdr.e_type;
}

/*
 * libelf keeps a list of the pieces that it was asked for, and walks it for each request: a file of
 * 65,535 note segments, 4 MB in size, took two minutes. So notes are read here ("Note Section" in
 * the ELF specification): at most ELFNOTE_PLACES places of a file, ELFNOTE_BYTES of each, by one
 * read. Real files have four places, of some hundred bytes.
 */
/* The length of a part with its padding. Sizes are 32 bits, so nothing wraps. */
static uint64_t padded(uint64_t at, uint64_t align)
{
	return (at + align - 1) & ~(align - 1);
}

static size_t find_build_id(const uint8_t *notes, size_t size, uint64_t align,
			    uint8_t id[BUILD_ID_MAX])
{
	uint64_t at = 0, desc;
	Elf64_Nhdr note;

	while (at <= size && size - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		desc = padded(at + sizeof(note) + note.n_namesz, align);
		if (desc > size || note.n_descsz > size - desc)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + at + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
		    note.n_descsz && note.n_descsz <= BUILD_ID_MAX) {
			memcpy(id, notes + desc, note.n_descsz);
			return note.n_descsz;
		}
		at = padded(desc + note.n_descsz, align);
	}
	return 0;
}

static size_t read_build_id(const struct bytes *bytes, const struct elfnote_place *place,
			    uint8_t id[BUILD_ID_MAX])
{
	size_t size = place->size < ELFNOTE_BYTES ? (size_t)place->size : ELFNOTE_BYTES, length = 0;
	uint8_t *notes = size ? malloc(size) : NULL;

	if (notes && !bytes_read(bytes, place->offset, notes, size))
		length = find_build_id(notes, size, place->align == 8 ? 8 : 4, id);
	free(notes);
	return length;
}

size_t elf_file_build_id(const struct elf_file *file, uint8_t id[BUILD_ID_MAX])
{
	unsigned int looked = 0;
	size_t length = 0;

	for (unsigned int i = 0; i < file->nnotes && !length; i++)
		length = read_build_id(&file->bytes, &file->notes[i], id);
	/* Kernel modules and other relocatable files have no segments. */
	for (size_t i = 1; i < file->nsections && !length && looked < ELFNOTE_PLACES; i++) {
		Elf_Scn *scn = elf_getscn(file->elf, i);
		struct elfnote_place place;
		GElf_Shdr shdr;

		if (!scn || !gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		looked++;
		place = (struct elfnote_place){shdr.sh_offset, shdr.sh_size, shdr.sh_addralign};
		length = read_build_id(&file->bytes, &place, id);
	}
	return length;
}
