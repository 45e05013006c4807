// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A few kilobytes of xz can expand to gigabytes of zeros, and a stream may ask for a dictionary of
 * gigabytes. Both are bounded; the block grows with the bytes that really come out.
 */
#include "symbols/elf/minidebug.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <lzma.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/limits.h"
#include "symbols/base/work.h"

#define FIRST_BLOCK ((size_t)256 << 10)

struct minidebug_image {
	uint8_t *data;
	size_t size;   /* allocated */
	size_t packed; /* bytes of the section */
	struct work *work;
};

/* Doubles the room; false: no memory, or more than is allowed, in all or for so few bytes. */
static bool image_grow(struct minidebug_image *image, lzma_stream *stream, int *err)
{
	size_t size = image->size ? image->size * 2 : FIRST_BLOCK;
	uint8_t *data;

	*err = work_add(image->work, image->size / 64);
	if (*err)
		return false;
	*err = -EINVAL;
	if (size > LIMIT_XZ ||
	    (image->size >= LIMIT_RATIO_FROM && image->size / LIMIT_RATIO > image->packed))
		return false;
	*err = -ENOMEM;
	data = realloc(image->data, size);
	if (!data)
		return false;
	stream->next_out = data + stream->total_out;
	stream->avail_out = size - image->size;
	image->data = data;
	image->size = size;
	return true;
}

static int decode(lzma_stream *stream, struct minidebug_image *image)
{
	lzma_ret ret = LZMA_OK;
	int err = 0;

	while (ret == LZMA_OK) {
		if (!stream->avail_out && !image_grow(image, stream, &err))
			return err;
		ret = lzma_code(stream, LZMA_FINISH);
	}
	if (ret == LZMA_MEM_ERROR)
		return -ENOMEM;
	return ret == LZMA_STREAM_END ? 0 : -EINVAL;
}

int minidebug_open(const struct elf_file *file, struct elf_file **out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct minidebug_image image = {0};
	uint64_t left = LIMIT_XZ_PACKED;
	struct elf_section section;
	int err;

	*out = NULL;
	err = elf_file_section_within(file, ".gnu_debugdata", &left, &section);
	if (err)
		return err == -E2BIG ? -EINVAL : err;
	if (lzma_stream_decoder(&stream, memory_limit(MEMORY_READ) / 2, 0) != LZMA_OK)
		return -ENOMEM;
	image.packed = section.size;
	image.work = elf_file_work(file);
	stream.next_in = section.data;
	stream.avail_in = section.size;
	err = decode(&stream, &image);
	if (!err)
		err = elf_file_open_block(image.data, stream.total_out, out);
	else
		free(image.data);
	lzma_end(&stream);
	return err;
}
