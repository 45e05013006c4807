// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sections of an ELF file. The memory that a section takes is known before it is read: its size
 * and, if it is compressed, the claimed size in front of the stream. So a section that is too large
 * is refused after two reads of a few bytes.
 */
#include "symbols/elf/elffile_priv.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "symbols/base/limits.h"

static int section_find(const struct elf_file *file, uint32_t index, Elf_Scn **scn, GElf_Shdr *shdr)
{
	*shdr = (GElf_Shdr){0};
	*scn = NULL;
	if (!index || index >= file->nsections + file->nmade)
		return -ENOENT;
	if (index >= file->nsections) {
		*shdr = file->made[index - file->nsections].shdr;
		return 0;
	}
	errno = 0;
	*scn = elf_getscn(file->elf, index);
	return *scn && gelf_getshdr(*scn, shdr) ? 0 : elffile_error();
}

/* A claim that no compression can make true for so few bytes, or more than is left. */
static int claim_check(uint64_t packed, uint64_t claimed, uint64_t left)
{
	if (claimed > LIMIT_RATIO_FROM && claimed / LIMIT_RATIO > packed)
		return -E2BIG;
	return packed > left || claimed > left - packed ? -E2BIG : 0;
}

/* True for GNU's older form of compression, by the name of the section. */
static bool is_gnu_packed(const char *name)
{
	return !strncmp(name, ".zdebug", strlen(".zdebug"));
}

/*
 * The memory that the section takes: its bytes and, if it is compressed, the bytes that it claims
 * to have. Two reads of a few bytes.
 */
static int section_claim(const struct elf_file *file, const GElf_Shdr *shdr, bool gnu,
			 uint64_t *claimed)
{
	struct {
		char magic[4];
		uint8_t size[8];
	} old;
	Elf64_Chdr chdr;
	int err = 0;

	*claimed = 0;
	if (shdr->sh_flags & SHF_COMPRESSED) {
		err = bytes_read(&file->bytes, shdr->sh_offset, &chdr, sizeof(chdr));
		*claimed = err ? 0 : chdr.ch_size;
	} else if (gnu && shdr->sh_size >= sizeof(old)) {
		err = bytes_read(&file->bytes, shdr->sh_offset, &old, sizeof(old));
		if (!err && !memcmp(old.magic, "ZLIB", sizeof(old.magic)))
			for (size_t i = 0; i < sizeof(old.size); i++)
				*claimed = *claimed << 8 | old.size[i];
	}
	return err;
}

int elf_file_section_cost(const struct elf_file *file, uint32_t index, uint64_t *cost)
{
	const char *name = NULL;
	GElf_Shdr shdr;
	uint64_t claimed;
	Elf_Scn *scn;
	int err = section_find(file, index, &scn, &shdr);

	*cost = 0;
	if (err || shdr.sh_type == SHT_NOBITS || shdr.sh_type == SHT_NULL)
		return err;
	if (file->names)
		name = elf_strptr(file->elf, file->names, shdr.sh_name);
	err = section_claim(file, &shdr, name && is_gnu_packed(name), &claimed);
	if (!err)
		err = claim_check(shdr.sh_size, claimed, UINT64_MAX);
	if (!err)
		*cost = shdr.sh_size + claimed;
	return err;
}

bool elf_file_section_is_zstd(const struct elf_file *file, uint32_t index)
{
	GElf_Shdr shdr;
	Elf64_Chdr chdr;
	Elf_Scn *scn;

	return !section_find(file, index, &scn, &shdr) && shdr.sh_type != SHT_NOBITS &&
	       shdr.sh_flags & SHF_COMPRESSED &&
	       !bytes_read(&file->bytes, shdr.sh_offset, &chdr, sizeof(chdr)) &&
	       chdr.ch_type == ELFCOMPRESS_ZSTD;
}

int elf_file_section_unzstd(const struct elf_file *file, uint32_t index, void *to, size_t size)
{
	GElf_Shdr shdr;
	uint8_t *packed;
	Elf_Scn *scn;
	size_t n = 0;
	int err = section_find(file, index, &scn, &shdr);

	if (!err)
		err = claim_check(shdr.sh_size, size, UINT64_MAX);
	if (err || shdr.sh_size < sizeof(Elf64_Chdr))
		return err ? err : -EINVAL;
	packed = malloc(shdr.sh_size);
	if (!packed)
		return -ENOMEM;
	err = bytes_read(&file->bytes, shdr.sh_offset, packed, shdr.sh_size);
	if (!err)
		n = ZSTD_decompress(to, size, packed + sizeof(Elf64_Chdr),
				    shdr.sh_size - sizeof(Elf64_Chdr));
	free(packed);
	return !err && n != size ? -EINVAL : err;
}

/* Before 0.189, libelf has no zstd. The bytes are kept as long as the file. */
static int section_plain(const struct elf_file *file, uint32_t index, uint64_t claimed,
			 struct elf_plain **out)
{
	struct elf_plain *plain;
	int err;

	for (plain = file->plain->first; plain && plain->index != index; plain = plain->next)
		;
	*out = plain;
	if (plain)
		return 0;
	if (!claimed || claimed > SIZE_MAX - sizeof(*plain))
		return -EINVAL;
	plain = malloc(sizeof(*plain) + claimed);
	if (!plain)
		return -ENOMEM;
	err = elf_file_section_unzstd(file, index, plain->bytes, claimed);
	if (err) {
		free(plain);
		return err;
	}
	plain->next = file->plain->first;
	plain->index = index;
	plain->size = claimed;
	file->plain->first = plain;
	*out = plain;
	return 0;
}

/*
 * elf_compress replaces the section's bytes and header by the decompressed ones. The claim may have
 * changed since the section was examined.
 */
static int section_decompress(Elf_Scn *scn, GElf_Shdr *shdr, uint64_t claimed)
{
	GElf_Chdr chdr;

	errno = 0;
	if (!gelf_getchdr(scn, &chdr))
		return elffile_error();
	if (chdr.ch_size != claimed)
		return -EINVAL;
	if (elf_compress(scn, 0, 0) < 0 || !gelf_getshdr(scn, shdr))
		return elffile_error();
	return 0;
}

/* The older form: "ZLIB", the size with its highest byte first, and the stream. */
static int section_decompress_gnu(Elf_Scn *scn, GElf_Shdr *shdr, uint64_t claimed)
{
	const Elf_Data *data;
	uint64_t size;

	errno = 0;
	data = elf_rawdata(scn, NULL);
	if (!data)
		return elffile_error();
	if (data->d_size < 4 + sizeof(size) || memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0; /* it was decompressed before */
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	if (be64toh(size) != claimed)
		return -EINVAL;
	if (elf_compress_gnu(scn, 0, 0) < 0 || !gelf_getshdr(scn, shdr))
		return elffile_error();
	return 0;
}

/* *plain: where the bytes are, if libelf does not have them; else NULL. */
static int section_load(const struct elf_file *file, uint32_t index, Elf_Scn *scn, GElf_Shdr *shdr,
			bool gnu, uint64_t *left, struct elf_plain **plain)
{
	uint64_t claimed, cost;
	int err;

	*plain = NULL;
	if (shdr->sh_type == SHT_NOBITS || shdr->sh_type == SHT_NULL)
		return -ENOENT;
	err = section_claim(file, shdr, gnu, &claimed);
	if (!err)
		err = claim_check(shdr->sh_size, claimed, *left);
	if (err)
		return err;
	/* What the file does not have is not read, and no work. */
	errno = 0;
	if (scn && !claimed && !elf_rawdata(scn, NULL))
		return elffile_error();
	cost = shdr->sh_size + claimed;
	err = work_add(file->work, cost / 64);
	if (!err && elf_file_section_is_zstd(file, index))
		err = section_plain(file, index, claimed, plain);
	else if (!err && shdr->sh_flags & SHF_COMPRESSED)
		err = section_decompress(scn, shdr, claimed);
	else if (!err && claimed)
		err = section_decompress_gnu(scn, shdr, claimed);
	if (!err)
		*left -= cost;
	return err;
}

static struct elf_section section_of(const GElf_Shdr *shdr)
{
	return (struct elf_section){
		.size = shdr->sh_size,
		.offset = shdr->sh_offset,
		.addr = shdr->sh_addr,
		.flags = shdr->sh_flags,
		.type = shdr->sh_type,
		.link = shdr->sh_link,
		.info = shdr->sh_info,
		.entsize = shdr->sh_entsize,
	};
}

/* scn: NULL if the section was made. plain: see section_load. */
static int section_view(const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *shdr,
			const struct elf_plain *plain, struct elf_section *out)
{
	const Elf_Data *data;

	if (plain) {
		*out = section_of(shdr);
		out->flags &= ~(uint64_t)SHF_COMPRESSED;
		out->data = plain->bytes;
		out->size = plain->size;
		return 0;
	}

	errno = 0;
	data = scn ? elf_rawdata(scn, NULL)
		   : elf_getdata_rawchunk(file->elf, (int64_t)shdr->sh_offset, shdr->sh_size,
					  ELF_T_BYTE);
	if (!data || (!data->d_buf && data->d_size))
		return elffile_error();
	*out = section_of(shdr);
	out->data = data->d_buf ? data->d_buf : (const uint8_t *)"";
	out->size = data->d_size;
	return 0;
}

uint32_t elf_file_section_index(const struct elf_file *file, const char *name)
{
	for (size_t i = 0; i < file->nmade; i++)
		if (!strcmp(file->made[i].name, name))
			return (uint32_t)(file->nsections + i);
	if (!file->names)
		return 0;
	for (size_t i = 1; i < file->nsections; i++) {
		Elf_Scn *scn = elf_getscn(file->elf, i);
		const char *found;
		GElf_Shdr shdr;

		if (!scn || !gelf_getshdr(scn, &shdr))
			continue;
		found = elf_strptr(file->elf, file->names, shdr.sh_name);
		if (found && !strcmp(found, name))
			return (uint32_t)i;
	}
	return 0;
}

int elf_file_section_within(const struct elf_file *file, const char *name, uint64_t *left,
			    struct elf_section *out)
{
	uint32_t index = elf_file_section_index(file, name);
	struct elf_plain *plain;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	int err;

	if (!index)
		return -ENOENT;
	err = section_find(file, index, &scn, &shdr);
	if (!err)
		err = section_load(file, index, scn, &shdr, is_gnu_packed(name), left, &plain);
	return err ? err : section_view(file, scn, &shdr, plain, out);
}

int elf_file_section_at_within(const struct elf_file *file, uint32_t index, uint64_t *left,
			       struct elf_section *out)
{
	struct elf_plain *plain;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	int err = section_find(file, index, &scn, &shdr);

	if (!err)
		err = section_load(file, index, scn, &shdr, false, left, &plain);
	return err ? err : section_view(file, scn, &shdr, plain, out);
}

int elf_file_section(const struct elf_file *file, const char *name, struct elf_section *out)
{
	uint64_t left = LIMIT_SECTION;
	int err = elf_file_section_within(file, name, &left, out);

	return err == -E2BIG ? -EINVAL : err;
}

int elf_file_section_header(const struct elf_file *file, uint32_t index, struct elf_section *out)
{
	GElf_Shdr shdr;
	Elf_Scn *scn;
	int err = section_find(file, index, &scn, &shdr);

	if (err)
		return err;
	*out = section_of(&shdr);
	return 0;
}

size_t elf_file_section_count(const struct elf_file *file)
{
	return file->nsections + file->nmade;
}
