// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw reads all debug sections when it opens a file, although a quarter of them is about the
 * locations of variables, into memory from malloc that costs a fault for each 4 KiB. The file must
 * not be mapped (elffile.c says why), but its sections can be copied to the same offsets of an
 * empty mapping: the rest of it takes no memory, and the large sections get large pages.
 */
#include "symbols/dwarf/debugimage.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define LIBDW_ABBREV 4u		       /* bytes that libdw keeps for a byte of .debug_abbrev */
#define SIZE_LIMIT   ((off_t)64 << 30) /* of the file: address space, not memory */
#define PAGE	     ((uint64_t)4096)
#define PLAIN_ALIGN  ((uint64_t)16)
#define HUGE_PAGE    ((uint64_t)2 << 20)
#define CHUNK	     ((uint64_t)64 << 10)
#define LAZY_SIZE    ((uint64_t)1 << 20) /* a smaller .debug_info is read at once */

struct debugimage {
	uint8_t *map;
	size_t size;
	struct elf_file *file;
	const struct elf_file *source;
	uint64_t plain; /* where zstd's sections go: behind the file's own bytes; 0: there are none
			 */
	bool lazy;
	uint64_t info, info_size; /* .debug_info, which is read on demand; 0: all of it was read */
	uint8_t *chunks;	  /* of .debug_info: 1 for one that was read */
};

bool debugimage_leaves_out(const char *name, uint64_t flags)
{
	static const char *const unwanted[] = {
		".debug_loclists", ".debug_loc",      ".debug_macro",	     ".debug_macinfo",
		".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames", ".debug_gnu_pubtypes",
		".debug_names",	   ".debug_frame",
	};

	/* A compressed section has a header that must be true. */
	if (flags & SHF_COMPRESSED)
		return false;
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++)
		if (!strcmp(name, unwanted[i]))
			return true;
	return false;
}

static int copy(const struct debugimage *image, const struct elf_file *file, uint64_t offset,
		uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return -EINVAL;
	return elf_file_read(file, offset, image->map + offset, size);
}

/* The headers that libelf will look for, and the names of sections. */
static int copy_headers(const struct debugimage *image, const struct elf_file *file)
{
	Elf *elf = elf_file_libelf(file);
	size_t count, names;
	Elf64_Ehdr ehdr;
	GElf_Shdr shdr;
	int err;

	if (image->size < sizeof(ehdr) || elf_getshdrnum(elf, &count) < 0 ||
	    elf_getshdrstrndx(elf, &names) < 0 || !gelf_getshdr(elf_getscn(elf, names), &shdr) ||
	    shdr.sh_type == SHT_NOBITS || shdr.sh_flags & SHF_COMPRESSED)
		return -ENOTSUP;
	err = copy(image, file, 0, sizeof(ehdr));
	if (err)
		return err;
	memcpy(&ehdr, image->map, sizeof(ehdr));
	err = copy(image, file, ehdr.e_shoff, count * sizeof(Elf64_Shdr));
	return err ? err : copy(image, file, shdr.sh_offset, shdr.sh_size);
}

/* 1: the section has to be copied; 0: not; or -ENOTSUP. */
static int is_wanted(const struct debugimage *image, Elf *elf, Elf_Scn *scn, size_t names,
		     GElf_Shdr *shdr)
{
	const char *name = NULL;

	if (gelf_getshdr(scn, shdr) && shdr->sh_type != SHT_NOBITS)
		name = elf_strptr(elf, names, shdr->sh_name);
	if (!name || (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8) &&
		      strcmp(name, ".gnu_debugaltlink")))
		return 0;
	/* Of split units nothing but lines is left if libdw cannot read what is compressed. */
	if (!image->plain && (!strcmp(name, ".debug_addr") || !strcmp(name, ".zdebug_addr")))
		return -ENOTSUP;
	return !debugimage_leaves_out(name, shdr->sh_flags);
}

/* Asks for large pages, as far as they fit; without them small ones serve. */
static void pages_ask(const struct debugimage *image, uint64_t from, uint64_t to)
{
	from &= ~(PAGE - 1);
	if (to <= image->size && from < to && to - from >= HUGE_PAGE)
		madvise(image->map + from, to - from, MADV_HUGEPAGE);
}

/* True for what is read a unit at a time, if possible. */
static bool is_read_later(const struct debugimage *image, Elf *elf, size_t names,
			  const GElf_Shdr *shdr)
{
	const char *name = elf_strptr(elf, names, shdr->sh_name);

	return image->lazy && name && !strcmp(name, ".debug_info") &&
	       !(shdr->sh_flags & SHF_COMPRESSED) && shdr->sh_size >= LAZY_SIZE &&
	       shdr->sh_offset <= image->size && shdr->sh_size <= image->size - shdr->sh_offset;
}

static bool overlap(const GElf_Shdr *info, uint64_t offset, uint64_t size)
{
	if (offset < info->sh_offset)
		return size > info->sh_offset - offset;
	return size && offset - info->sh_offset < info->sh_size;
}

/*
 * What was checked before must not change when the section is read, whatever the file has become.
 */
static bool stands_alone(Elf *elf, const GElf_Shdr *info)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr other;
	GElf_Ehdr ehdr;
	size_t count;
	int same = 0;

	if (!gelf_getehdr(elf, &ehdr) || elf_getshdrnum(elf, &count) < 0 ||
	    overlap(info, 0, sizeof(Elf64_Ehdr)) ||
	    overlap(info, ehdr.e_shoff, count * sizeof(Elf64_Shdr)))
		return false;
	while ((scn = elf_nextscn(elf, scn)))
		if (!gelf_getshdr(scn, &other) ||
		    (other.sh_type != SHT_NOBITS && overlap(info, other.sh_offset, other.sh_size)))
			same++;
	return same == 1;
}

/* False: the section has to be read now. */
static bool leave_for_later(struct debugimage *image, Elf *elf, const GElf_Shdr *shdr)
{
	if (!image->info_size && stands_alone(elf, shdr))
		image->chunks = calloc(1, shdr->sh_size / CHUNK + 1);
	if (image->info_size || !image->chunks) {
		image->lazy = false;
		return false;
	}
	image->info = shdr->sh_offset;
	image->info_size = shdr->sh_size;
	return true;
}

/* Adjacent sections share the page where they meet. */
static int ask_for_pages(const struct debugimage *image, Elf *elf, size_t names)
{
	uint64_t from = 0, to = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int wanted;

	while ((scn = elf_nextscn(elf, scn))) {
		wanted = is_wanted(image, elf, scn, names, &shdr);
		if (wanted < 0)
			return wanted;
		if (wanted && is_read_later(image, elf, names, &shdr))
			continue;
		if (!wanted || shdr.sh_size > image->size || shdr.sh_offset > image->size)
			continue;
		if (shdr.sh_offset < to || shdr.sh_offset - to >= PAGE) {
			pages_ask(image, from, to);
			from = shdr.sh_offset;
		}
		to = shdr.sh_offset + shdr.sh_size;
	}
	pages_ask(image, from, to);
	return 0;
}

/* Bytes of the section when it is decompressed; 0: zstd has not compressed it. */
static uint64_t zstd_size(const struct elf_file *file, Elf_Scn *scn)
{
	const uint32_t index = (uint32_t)elf_ndxscn(scn);
	struct elf_section section;
	uint64_t cost;

	if (!elf_file_section_is_zstd(file, index) ||
	    elf_file_section_header(file, index, &section) ||
	    elf_file_section_cost(file, index, &cost))
		return 0;
	return cost - section.size;
}

/* Decompresses the section to the end of the image, and says so in its header. */
static int copy_zstd(struct debugimage *image, const struct elf_file *file, Elf_Scn *scn,
		     uint64_t size)
{
	const uint64_t at = image->plain;
	Elf64_Ehdr ehdr;
	Elf64_Shdr *shdr;
	int err;

	if (size > image->size - at)
		return -EINVAL;
	err = elf_file_section_unzstd(file, (uint32_t)elf_ndxscn(scn), image->map + at, size);
	if (err)
		return err;
	/* copy_headers has all of them. */
	memcpy(&ehdr, image->map, sizeof(ehdr));
	shdr = (Elf64_Shdr *)(image->map + ehdr.e_shoff) + elf_ndxscn(scn);
	shdr->sh_offset = at;
	shdr->sh_size = size;
	shdr->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	image->plain += (size + PLAIN_ALIGN - 1) & ~(PLAIN_ALIGN - 1);
	return 0;
}

static int copy_section(struct debugimage *image, const struct elf_file *file, Elf_Scn *scn,
			const GElf_Shdr *shdr)
{
	uint64_t size = image->plain ? zstd_size(file, scn) : 0;

	return size ? copy_zstd(image, file, scn, size)
		    : copy(image, file, shdr->sh_offset, shdr->sh_size);
}

static int copy_sections(struct debugimage *image, const struct elf_file *file)
{
	Elf *elf = elf_file_libelf(file);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;
	int err;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return -ENOTSUP;
	err = ask_for_pages(image, elf, names);
	while (!err && (scn = elf_nextscn(elf, scn)))
		if (is_wanted(image, elf, scn, names, &shdr) > 0 &&
		    !(is_read_later(image, elf, names, &shdr) &&
		      leave_for_later(image, elf, &shdr)))
			err = copy_section(image, file, scn, &shdr);
	return err;
}

/* Reads a chunk of .debug_info. */
static void chunk_read(const struct debugimage *image, uint64_t chunk)
{
	uint64_t at = chunk * CHUNK, left = image->info_size - at;
	uint64_t size = left < CHUNK ? left : CHUNK;

#ifdef MADV_POPULATE_WRITE
	uint64_t first = (image->info + at) & ~(PAGE - 1);

	/* A fault for each page would take longer. Before Linux 5.14 there is one. */
	madvise(image->map + first, image->info + at + size - first, MADV_POPULATE_WRITE);
#endif
	copy(image, image->source, image->info + at, size);
}

static int image_fill(struct debugimage *image, const struct elf_file *file)
{
	void *map = mmap(NULL, image->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err;

	if (map == MAP_FAILED)
		return -ENOTSUP;
	image->map = map;
	err = copy_headers(image, file);
	if (!err)
		err = copy_sections(image, file);
	return err ? err : elf_file_open_memory(image->map, image->size, &image->file);
}

/* Makes room behind the file; the caller has bounded what sections claim. */
static void plan_zstd(struct debugimage *image, const struct elf_file *file)
{
	const uint64_t from = (image->size + PLAIN_ALIGN - 1) & ~(PLAIN_ALIGN - 1);
	uint64_t size, all = 0;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf_file_libelf(file), scn))) {
		size = zstd_size(file, scn);
		if (size < SIZE_LIMIT - all)
			all += (size + PLAIN_ALIGN - 1) & ~(PLAIN_ALIGN - 1);
	}
	if (!all)
		return;
	image->plain = from;
	image->size = from + all;
}

int debugimage_new(const struct elf_file *file, bool lazy, struct debugimage **out)
{
	struct debugimage *image;
	struct stat st;
	int err;

	*out = NULL;
	if (elf_file_fd(file) < 0 || fstat(elf_file_fd(file), &st) < 0 || st.st_size <= 0 ||
	    st.st_size > SIZE_LIMIT)
		return -ENOTSUP;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->size = (size_t)st.st_size;
	plan_zstd(image, file);
	image->source = file;
	image->lazy = lazy;
	err = image_fill(image, file);
	if (err) {
		debugimage_free(image);
		return err;
	}
	*out = image;
	return 0;
}

void debugimage_free(struct debugimage *image)
{
	if (!image)
		return;
	elf_file_free(image->file);
	if (image->map)
		munmap(image->map, image->size);
	free(image->chunks);
	free(image);
}

void debugimage_need(struct debugimage *image, uint64_t offset, uint64_t size)
{
	uint64_t chunk, last;

	if (!image || offset >= image->info_size || !size)
		return;
	if (size > image->info_size - offset)
		size = image->info_size - offset;
	last = (offset + size - 1) / CHUNK;
	for (chunk = offset / CHUNK; chunk <= last; chunk++) {
		if (!image->chunks[chunk])
			chunk_read(image, chunk);
		image->chunks[chunk] = 1;
	}
}

int debugimage_of_strings(uint16_t machine, const struct elf_section *strings,
			  struct elf_file **out)
{
	static const char names[] = "\0.debug_str\0.debug_line\0.shstrtab";
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Shdr shdrs[4];
		char names[sizeof(names)];
		uint8_t line[8]; /* libdw wants one of a few sections, and nothing refers to it */
	} head = {
		.ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_EXEC,
			 .e_version = EV_CURRENT,
			 .e_machine = machine,
			 .e_shoff = sizeof(Elf64_Ehdr),
			 .e_ehsize = sizeof(Elf64_Ehdr),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 4,
			 .e_shstrndx = 3},
	};
	uint8_t *block;

	*out = NULL;
	head.shdrs[1] = (Elf64_Shdr){.sh_name = 1,
				     .sh_type = SHT_PROGBITS,
				     .sh_offset = sizeof(head),
				     .sh_size = strings->size};
	head.shdrs[2] = (Elf64_Shdr){.sh_name = sizeof("\0.debug_str"),
				     .sh_type = SHT_PROGBITS,
				     .sh_offset = sizeof(head) - sizeof(head.line),
				     .sh_size = sizeof(head.line)};
	head.shdrs[3] = (Elf64_Shdr){.sh_name = sizeof("\0.debug_str\0.debug_line"),
				     .sh_type = SHT_STRTAB,
				     .sh_offset = sizeof(head.ehdr) + sizeof(head.shdrs),
				     .sh_size = sizeof(names)};
	memcpy(head.names, names, sizeof(names));
	block = malloc(sizeof(head) + strings->size);
	if (!block)
		return -ENOMEM;
	memcpy(block, &head, sizeof(head));
	if (strings->size)
		memcpy(block + sizeof(head), strings->data, strings->size);
	return elf_file_open_block(block, sizeof(head) + strings->size, out);
}

struct elf_file *debugimage_file(const struct debugimage *image)
{
	return image->file;
}

int debugimage_cost(const struct elf_file *file, bool image, size_t limit, size_t *units,
		    size_t *bytes)
{
	Elf *elf = elf_file_libelf(file);
	unsigned int abbrevs = 0;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name = NULL;
		uint64_t size;

		if (gelf_getshdr(scn, &shdr))
			name = elf_strptr(elf, names, shdr.sh_name);
		if (!name || (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8)) ||
		    (image && debugimage_leaves_out(name, shdr.sh_flags)))
			continue;
		if (elf_file_section_cost(file, (uint32_t)elf_ndxscn(scn), &size) || size > limit ||
		    *bytes > limit - size)
			return -EFBIG;
		*bytes += size;
		name = strchr(name, '_');
		if (!strcmp(name, "_info"))
			*units += size;
		if (strcmp(name, "_abbrev") != 0)
			continue;
		*bytes += LIBDW_ABBREV * size;
		if (abbrevs++)
			return -EINVAL;
	}
	return 0;
}
