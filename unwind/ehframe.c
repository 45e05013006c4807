// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the functions of a CFI section. The section is read from start to end instead of through
 * .eh_frame_hdr because some files have none, and because its order is the only thing that a
 * hostile file cannot make expensive: records do not overlap, so the work is linear in the bytes.
 *
 * One pass collects the CIEs, another the FDEs: in .debug_frame a FDE may come before its CIE.
 */
#include "unwind/ehframe.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/limits.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"

#define ADDR_SIZE 8 /* of the files that elf_file opens */

/* A record between its length and its end. */
struct record {
	struct cfi_cursor body; /* behind the CIE id or pointer */
	uint32_t offset;
	uint32_t cie; /* offset of a FDE's CIE */
	bool is_cie;
	bool dwarf64;
	bool bad; /* the pointer to the CIE leads out of the section */
};

static uint64_t read_format(struct cfi_cursor *c, uint8_t format, uint8_t addr_size)
{
	switch (format) {
	case PTR_ABSOLUTE:
		return cursor_fixed(c, addr_size);
	case PTR_SIGNED:
		return (uint64_t)cursor_signed(c, addr_size);
	case PTR_ULEB:
		return cursor_uleb(c);
	case PTR_SLEB:
		return (uint64_t)cursor_sleb(c);
	case PTR_U16:
		return cursor_fixed(c, 2);
	case PTR_U32:
		return cursor_fixed(c, 4);
	case PTR_U64:
		return cursor_fixed(c, 8);
	case PTR_S16:
		return (uint64_t)cursor_signed(c, 2);
	case PTR_S32:
		return (uint64_t)cursor_signed(c, 4);
	case PTR_S64:
		return (uint64_t)cursor_signed(c, 8);
	default:
		cursor_fail(c);
		return 0;
	}
}

uint64_t cfi_pointer(const struct cfi_section *section, struct cfi_cursor *c, uint8_t encoding,
		     uint8_t addr_size, uint64_t func)
{
	uint64_t at = section->addr + (uint64_t)(c->at - section->data);
	uint64_t value, base = 0;

	if (encoding == PTR_OMIT)
		return 0;
	switch (encoding & PTR_BASE) {
	case 0:
		break;
	case PTR_PCREL:
		base = at;
		break;
	case PTR_TEXTREL:
		base = section->text;
		break;
	case PTR_DATAREL:
		base = section->got;
		break;
	case PTR_FUNCREL:
		base = func;
		break;
	case PTR_ALIGNED:
		cursor_bytes(c, -at & (addr_size - 1u));
		return cursor_fixed(c, addr_size);
	default:
		cursor_fail(c);
		return 0;
	}
	value = read_format(c, encoding & PTR_FORMAT, addr_size);
	/*
	 * A null pointer is null, whatever it is relative to; but PHP and LuaJIT mean the beginning
	 * of the text, as gdb reads it.
	 */
	if ((!value && (encoding & PTR_BASE) != PTR_TEXTREL) || c->failed)
		return 0;
	value += base;
	if (encoding & PTR_INDIRECT &&
	    (!section->read || !section->read(section->arg, value, &value))) {
		cursor_fail(c);
		return 0;
	}
	return value;
}

/*
 * The next record at *at, which moves behind it. 1: a record, 0: the end, -1: a length that leads
 * out of the section, after which nothing can be found any more.
 */
static int record_next(const struct cfi_section *s, size_t *at, struct record *r)
{
	struct cfi_cursor c;
	uint64_t length, id;
	size_t id_at;

	do {
		if (s->size - *at < 4)
			return 0;
		c = cursor_new(s->data + *at, s->size - *at);
		r->offset = (uint32_t)*at;
		length = cursor_fixed(&c, 4);
		*at += 4;
	} while (!length);
	r->dwarf64 = length == 0xffffffff;
	if (r->dwarf64)
		length = cursor_fixed(&c, 8);
	else if (length >= 0xfffffff0)
		return -1;
	if (c.failed || length > cursor_left(&c))
		return -1;
	c.end = c.at + length;
	*at = (size_t)(c.end - s->data);
	id_at = (size_t)(c.at - s->data);
	/* LSB: the CIE id of .eh_frame has 4 bytes, whatever the length has. */
	id = cursor_fixed(&c, r->dwarf64 && !s->eh_frame ? 8 : 4);
	if (s->eh_frame) {
		r->is_cie = id == 0;
		r->bad = c.failed || id > id_at;
		r->cie = (uint32_t)(id_at - id);
	} else {
		r->is_cie = id == (r->dwarf64 ? UINT64_MAX : UINT32_MAX);
		r->bad = c.failed || id >= s->size;
		r->cie = (uint32_t)id;
	}
	if (r->is_cie)
		r->bad = c.failed;
	r->body = c;
	return 1;
}

/* The characters of the augmentation string; false when one is unknown. */
static bool cie_augmentation(const struct cfi_section *s, struct cfi_cie *cie, struct cfi_cursor *c,
			     const char *string)
{
	for (; *string; string++) {
		switch (*string) {
		case 'R':
			cie->encoding = cursor_u8(c);
			break;
		case 'P': {
			uint8_t encoding = cursor_u8(c);

			/* Only skipped: what an indirect one points to does not matter. */
			cfi_pointer(s, c,
				    encoding == PTR_OMIT ? encoding : encoding & ~PTR_INDIRECT,
				    cie->addr_size, 0);
			break;
		}
		case 'L':
			cursor_u8(c);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* arm64: return addresses signed with key B */
		case 'G': /* arm64: memory tagging */
			break;
		default:
			return false;
		}
	}
	return !c->failed;
}

static bool cie_body(const struct cfi_section *s, struct cfi_cie *cie, struct cfi_cursor *c)
{
	uint8_t version = cursor_u8(c);
	const char *string = cursor_string(c);
	struct cfi_cursor data;
	const uint8_t *at;
	uint64_t size;

	if (!string || (version != 1 && version != 3 && version != 4))
		return false;
	if (!strncmp(string, "eh", 2)) { /* before GCC 3: a pointer of no use here */
		cursor_bytes(c, ADDR_SIZE);
		string += 2;
	}
	if (version >= 4) {
		cie->addr_size = cursor_u8(c);
		if (cursor_u8(c) != 0) /* segmented addresses */
			return false;
	}
	if (cie->addr_size != 8 && cie->addr_size != 4)
		return false;
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	cie->ra_reg = version == 1 ? cursor_u8(c) : (uint32_t)cursor_uleb(c);
	if (*string != 'z')
		return cie_augmentation(s, cie, c, string);
	cie->sized = true;
	size = cursor_uleb(c);
	at = cursor_bytes(c, size);
	if (!at)
		return false;
	data = cursor_new(at, size);
	/* An unknown character is no harm here: the size leads past its data. */
	cie_augmentation(s, cie, &data, string + 1);
	return !data.failed;
}

static int cies_read(const struct cfi_section *s, struct cfi *cfi)
{
	struct cfi_cie *cie;
	struct record r;
	size_t at = 0;
	int err;

	while (record_next(s, &at, &r) > 0) {
		err = work_add(s->work, 1);
		if (err)
			return err;
		if (!r.is_cie)
			continue;
		if (cfi->ncies == LIMIT_CIES)
			return -E2BIG;
		if (GROW(cfi->cies, cfi->ncies, cfi->cies_room, LIMIT_CIES))
			return -ENOMEM;
		cie = &cfi->cies[cfi->ncies++];
		*cie = (struct cfi_cie){.offset = r.offset, .addr_size = ADDR_SIZE};
		cie->bad = r.bad || !cie_body(s, cie, &r.body) || r.body.failed;
		cie->insns = (uint32_t)(r.body.at - s->data);
		cie->ninsns = (uint32_t)cursor_left(&r.body);
	}
	return 0;
}

/* Index of the CIE at an offset, or -1. hint: the last answer, mostly this one, too. */
static int64_t cie_find(const struct cfi *cfi, uint32_t offset, uint32_t hint)
{
	uint32_t low;

	if (hint < cfi->ncies && cfi->cies[hint].offset == offset)
		return hint;
	low = (uint32_t)SEARCH(cfi->ncies, i, cfi->cies[i].offset < offset);
	return low < cfi->ncies && cfi->cies[low].offset == offset ? (int64_t)low : -1;
}

int cfi_append(struct cfi *cfi, const struct cfi_fde *fde)
{
	if (GROW(cfi->fdes, cfi->nfdes, cfi->fdes_room, UINT32_MAX))
		return -ENOMEM;
	cfi->fdes[cfi->nfdes++] = *fde;
	return 0;
}

/* 1: filled in, 0: describes nothing, -1: malformed. */
static int fde_read(const struct cfi_section *s, const struct record *r, const struct cfi_cie *cie,
		    struct cfi_fde *fde)
{
	struct cfi_cursor c = r->body;
	uint64_t range;

	fde->start = cfi_pointer(s, &c, cie->encoding, cie->addr_size, 0);
	range = read_format(&c, cie->encoding & PTR_FORMAT, cie->addr_size);
	if (cie->sized)
		cursor_bytes(&c, cursor_uleb(&c));
	if (c.failed || cie->encoding == PTR_OMIT)
		return -1;
	/* Linkers leave 0 or all ones where they removed the function. */
	if (!range || !fde->start || fde->start >= UINT64_MAX - 1)
		return 0;
	fde->end = fde->start + range;
	if (fde->end < fde->start)
		return -1;
	fde->order = r->offset;
	fde->insns = (uint32_t)(c.at - s->data);
	fde->ninsns = (uint32_t)cursor_left(&c);
	return 1;
}

static int fdes_read(const struct cfi_section *s, struct cfi *cfi)
{
	uint32_t hint = 0;
	struct record r;
	size_t at = 0;
	int more, err;

	while ((more = record_next(s, &at, &r)) > 0) {
		struct cfi_fde fde = {0};
		int64_t cie;
		int kind;

		err = work_add(s->work, 1);
		if (err)
			return err;
		if (r.is_cie)
			continue;
		cie = r.bad ? -1 : cie_find(cfi, r.cie, hint);
		kind = cie < 0 || cfi->cies[cie].bad ? -1 : fde_read(s, &r, &cfi->cies[cie], &fde);
		if (kind < 0)
			cfi->bad_fdes++;
		else if (!kind)
			cfi->empty_fdes++;
		if (kind <= 0)
			continue;
		hint = fde.cie = (uint32_t)cie;
		err = cfi->nfdes >= LIMIT_FDES ? -E2BIG : cfi_append(cfi, &fde);
		if (err)
			return err;
	}
	if (more < 0)
		cfi->bad_fdes++;
	return 0;
}

int cfi_read(const struct cfi_section *section, struct cfi *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	if (section->size > UINT32_MAX)
		return -EINVAL;
	err = cies_read(section, out);
	if (!err)
		err = fdes_read(section, out);
	if (!err && out->bad_fdes && !out->ncies)
		err = -EINVAL;
	return err;
}

static int fde_compare(const void *left, const void *right)
{
	const struct cfi_fde *a = left, *b = right;

	if (cfi_from(a) != cfi_from(b))
		return cfi_from(a) < cfi_from(b) ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void cfi_sort(struct cfi *cfi)
{
	/* Linkers keep the order of the text, mostly. */
	for (uint32_t i = 1; i < cfi->nfdes; i++)
		if (fde_compare(&cfi->fdes[i - 1], &cfi->fdes[i]) > 0) {
			qsort(cfi->fdes, cfi->nfdes, sizeof(*cfi->fdes), fde_compare);
			return;
		}
}

void cfi_free(struct cfi *cfi)
{
	free(cfi->cies);
	free(cfi->fdes);
	memset(cfi, 0, sizeof(*cfi));
}
