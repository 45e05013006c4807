// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/sframe_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "unwind/table.h"

#define HEADER 28

static void put(unsigned char *to, size_t *at, uint64_t value, unsigned int bytes)
{
	memcpy(to + *at, &value, bytes);
	*at += bytes;
}

void section_begin(struct section *s, unsigned int version, unsigned int flags)
{
	memset(s, 0, sizeof(*s));
	s->version = version;
	s->flags = flags;
	s->fixed_ra = -8;
}

void func(struct section *s, uint64_t start, uint32_t size, unsigned int count, unsigned int info,
	  unsigned int info2, unsigned int block)
{
	static const unsigned int sizes[] = {0, 17, 20, 16};
	uint64_t base = IMAGE_SFRAME;

	if (s->flags & PCREL)
		base += HEADER + s->aux + s->nfdes * sizes[s->version];
	put(s->fdes, &s->nfdes_bytes, start - base, s->version == 3 ? 8 : 4);
	put(s->fdes, &s->nfdes_bytes, size, 4);
	put(s->fdes, &s->nfdes_bytes, s->nfres_bytes, 4);
	if (s->version == 3) {
		put(s->fres, &s->nfres_bytes, count, 2);
		put(s->fres, &s->nfres_bytes, info, 1);
		put(s->fres, &s->nfres_bytes, info2, 1);
		put(s->fres, &s->nfres_bytes, block, 1);
	} else {
		put(s->fdes, &s->nfdes_bytes, count, 4);
		put(s->fdes, &s->nfdes_bytes, info, 1);
		if (s->version == 2)
			put(s->fdes, &s->nfdes_bytes, block, 3);
	}
	s->nfdes++;
}

void row(struct section *s, unsigned int addr, uint32_t start, unsigned int base,
	 unsigned int words, unsigned int count, ...)
{
	va_list list;

	put(s->fres, &s->nfres_bytes, start, 1u << addr);
	put(s->fres, &s->nfres_bytes, base | count << 1 | words << 5, 1);
	va_start(list, count);
	while (count--)
		put(s->fres, &s->nfres_bytes, (uint64_t)(int64_t)va_arg(list, int), 1u << words);
	va_end(list);
}

void section_end(struct section *s)
{
	size_t at = 0;

	put(s->all, &at, 0xdee2, 2);
	put(s->all, &at, s->version, 1);
	put(s->all, &at, s->flags, 1);
	put(s->all, &at, 3, 1);
	put(s->all, &at, (uint64_t)s->fixed_fp, 1);
	put(s->all, &at, (uint64_t)s->fixed_ra, 1);
	put(s->all, &at, s->aux, 1);
	put(s->all, &at, s->nfdes, 4);
	put(s->all, &at, 0, 4); /* rows in all: not used by the reader */
	put(s->all, &at, s->nfres_bytes, 4);
	put(s->all, &at, 0, 4);
	put(s->all, &at, s->nfdes_bytes, 4);
	at += s->aux;
	memcpy(s->all + at, s->fdes, s->nfdes_bytes);
	memcpy(s->all + at + s->nfdes_bytes, s->fres, s->nfres_bytes);
	s->size = at + s->nfdes_bytes + s->nfres_bytes;
}

int sframe_setup(void **state)
{
	struct fixture *f;

	if (tables_setup(state))
		return -1;
	f = *state;
	f->s = calloc(1, sizeof(*f->s));
	return f->s ? 0 : -1;
}

int sframe_status(struct fixture *f)
{
	f->options.sframe = f->s->all;
	f->options.sframe_size = f->s->size;
	return build_status(f);
}

void assert_rows(struct fixture *f, unsigned int bad, const char *expected)
{
	assert_int_equal(sframe_status(f), 0);
	assert_dump(f, expected);
	assert_int_equal(f->table->bad_fdes, bad);
}

void prologue(struct section *s, unsigned int addr, unsigned int words)
{
	row(s, addr, 0, SP, words, 1, 8);
	row(s, addr, 1, SP, words, 2, 16, -16);
	row(s, addr, 4, FP, words, 2, 16, -16);
	row(s, addr, 31, SP, words, 1, 8);
}

const char frame_at_100[] = "10100\trsp+8\tu\tc-8\n"
			    "10101\trsp+16\tc-16\tc-8\n"
			    "10104\trbp+16\tc-16\tc-8\n"
			    "1011f\trsp+8\tu\tc-8\n"
			    "10120\tend\t-\t-\n";

void one_good(struct section *s, unsigned int version)
{
	section_begin(s, version, 0);
	func(s, T + 0x100, 0x20, 4, ADDR1, 0, 0);
	prologue(s, ADDR1, 0);
}
