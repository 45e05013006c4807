// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw allocates each row and sorts them all, for statements, columns and views, which are not
 * used here: in all it takes 1.5 times the memory, and three to six times the time for the first
 * address of a unit. Rows are in order within a sequence, so only the sequences are sorted, and a
 * row that repeats the one before it is left out.
 *
 * DWARF 5 section 6.2, and the same section of the versions 2 to 4.
 */
#include "symbols/dwarf/lineprogram.h"

#include <dwarf.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/leb128.h"
#include "symbols/dwarf/linefiles.h"

#define ROWS_MAX (4u << 20) /* of a unit; 64 MiB */

struct lineprogram_state {
	uint64_t address, op, file, line;
	uint32_t first;	  /* row of the sequence */
	uint64_t reached; /* by its last row */
	bool open;	  /* a sequence has begun */
};

/* --- rows ------------------------------------------------------------------------------------ */

static inline int row_append(struct linerows *t, struct lineprogram_state *s,
			     const struct linerow *row)
{
	if (t->nrows == t->room && GROW(t->rows, t->nrows, t->room, ROWS_MAX))
		return -ENOMEM;
	if (!s->open)
		s->first = (uint32_t)t->nrows;
	s->open = true;
	t->rows[t->nrows++] = *row;
	s->reached = row->address;
	return 0;
}

static inline int row_add(struct linerows *t, struct lineprogram_state *s)
{
	struct linerow row = {s->address, (uint32_t)(s->line > INT32_MAX ? 0 : s->line),
			      (uint32_t)(s->file > UINT32_MAX ? UINT32_MAX : s->file)};
	struct linerow *last;

	if (!s->open)
		return row_append(t, s, &row);
	last = &t->rows[t->nrows - 1];
	if (last->address == row.address) {
		*last = row;
		return 0;
	}
	if (last->line == row.line && last->file == row.file)
		return 0;
	return row_append(t, s, &row);
}

/* The sequence ends in front of the address. */
static int sequence_end(struct lineprogram *p, struct linerows *t, struct lineprogram_state *s,
			uint64_t end)
{
	uint64_t start;

	if (!s->open)
		return 0;
	s->open = false;
	p->nsequences++;
	start = t->rows[s->first].address;
	if (start < p->low || start >= p->high || start >= end) {
		t->nrows = s->first;
		return 0;
	}
	if (GROW(t->firsts, t->nsequences, t->firsts_room, ROWS_MAX))
		return -ENOMEM;
	t->firsts[t->nsequences] = s->first;
	return rangemap_add(&t->sequences, start, end, (uint32_t)t->nsequences++);
}

static void advance(const struct lineprogram *p, struct lineprogram_state *s, uint64_t by)
{
	if (p->operations > 1) {
		s->op += by;
		by = s->op / p->operations;
		s->op %= p->operations;
	}
	s->address += p->shortest * by;
}

static int run_extended(struct lineprogram *p, struct linerows *t, struct lineprogram_state *s)
{
	const uint8_t *next;
	uint64_t length, value;
	int err = 0;

	if (!leb128_read(&p->at, p->end, &length) || !length || length > (uint64_t)(p->end - p->at))
		return -EINVAL;
	next = p->at + length;
	switch (*p->at++) {
	case DW_LNE_end_sequence:
		err = sequence_end(p, t, s, s->address);
		*s = (struct lineprogram_state){.file = 1, .line = 1};
		p->ended = next;
		p->nends++;
		break;
	case DW_LNE_set_address:
		if (!fixed_read(&p->at, next, (size_t)length - 1, &value))
			return -EINVAL;
		/* No sequence goes back; a lower address begins another one. */
		if (s->open && value < s->reached)
			err = sequence_end(p, t, s, s->reached);
		s->address = value;
		s->op = 0;
		break;
	case DW_LNE_define_file:
		err = p->files ? linefiles_define(p->files, &p->at, next) : -EINVAL;
		break;
	default:
		break;
	}
	p->at = next;
	return err;
}

static int run_standard(struct lineprogram *p, struct linerows *t, struct lineprogram_state *s,
			uint8_t opcode)
{
	uint64_t value = 0;
	int64_t lines = 0;
	bool ok = true;

	switch (opcode) {
	case DW_LNS_copy:
		return row_add(t, s);
	case DW_LNS_advance_pc:
		ok = leb128_read(&p->at, p->end, &value);
		advance(p, s, value);
		break;
	case DW_LNS_advance_line:
		ok = leb128_signed(&p->at, p->end, &lines);
		s->line = (uint32_t)(s->line + (uint64_t)lines);
		break;
	case DW_LNS_set_file:
		ok = leb128_read(&p->at, p->end, &s->file);
		break;
	case DW_LNS_const_add_pc:
		advance(p, s, (255 - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		ok = fixed_read(&p->at, p->end, 2, &value);
		s->address += value;
		s->op = 0;
		break;
	default:
		for (uint8_t i = 0; i < p->lengths[opcode] && ok; i++)
			ok = leb128_skip(&p->at, p->end);
		break;
	}
	return ok ? 0 : -EINVAL;
}

/*
 * Runs the opcodes that compilers write for nearly every row: columns and discriminators, which are
 * not used, lines, files, flags, and the row itself. It keeps what they change in registers. False:
 * see *err; true: another opcode is next, or the end.
 */
static inline bool run_frequent(struct lineprogram *p, struct linerows *t,
				struct lineprogram_state *s, int *err)
{
	const uint8_t *at = p->at, *end = p->end, *next;
	uint64_t address = s->address, line = s->line, file;
	int64_t lines;

	while (at < end) {
		uint8_t opcode = *at;

		next = at + 1;
		if (opcode >= p->opcode_base) {
			address += p->advances[opcode];
			line = (uint32_t)(line + (uint64_t)(int64_t)p->lines[opcode]);
		} else if (opcode == DW_LNS_set_column) {
			if (!leb128_skip(&next, end))
				break;
			at = next;
			continue;
		} else if (opcode == DW_LNS_advance_line) {
			if (!leb128_signed(&next, end, &lines))
				break;
			line = (uint32_t)(line + (uint64_t)lines);
			at = next;
			continue;
		} else if (opcode == DW_LNS_set_file) {
			if (!leb128_read(&next, end, &file))
				break;
			s->file = file;
			at = next;
			continue;
		} else if (opcode == DW_LNS_negate_stmt) {
			at = next;
			continue;
		} else if (!opcode && end - next > 1 && next[1] == DW_LNE_set_discriminator &&
			   *next && *next < 0x80 && *next < end - next) {
			at = next + 1 + *next;
			continue;
		} else if (opcode != DW_LNS_copy) {
			break;
		}
		at = next;
		s->address = address;
		s->line = line;
		/* Only a step that overflows goes back. */
		*err = s->open && address < s->reached ? -EINVAL : row_add(t, s);
		if (*err)
			return false;
	}
	s->address = address;
	s->line = line;
	p->at = at;
	return true;
}

/* True if run_frequent is right: the header may give opcodes other arguments. */
bool lineprogram_is_usual(const struct lineprogram *p)
{
	return p->operations <= 1 && p->opcode_base > DW_LNS_negate_stmt &&
	       !p->lengths[DW_LNS_copy] && p->lengths[DW_LNS_set_column] == 1 &&
	       !p->lengths[DW_LNS_negate_stmt];
}

static int run_one(struct lineprogram *p, struct linerows *t, struct lineprogram_state *s)
{
	uint8_t opcode = *p->at++;
	int err;

	if (opcode >= p->opcode_base) {
		advance(p, s, p->steps[opcode]);
		s->line = (uint32_t)(s->line + (uint64_t)(int64_t)p->lines[opcode]);
		return s->open && s->address < s->reached ? -EINVAL : row_add(t, s);
	}
	if (!opcode)
		return run_extended(p, t, s);
	err = run_standard(p, t, s, opcode);
	return s->open && s->address < s->reached ? -EINVAL : err;
}

int lineprogram_run(struct lineprogram *p, struct linerows *t)
{
	struct lineprogram_state s = {.file = 1, .line = 1};
	bool usual = lineprogram_is_usual(p);
	int err = 0;

	while (!err && p->at < p->end) {
		if (usual && (!run_frequent(p, t, &s, &err) || p->at >= p->end))
			continue;
		err = run_one(p, t, &s);
	}
	if (s.open)
		t->nrows = s.first;
	return err;
}

/* --- the header ------------------------------------------------------------------------------- */

int lineprogram_open(struct lineprogram *p, const uint8_t **program)
{
	uint64_t length, value;

	p->offset_size = 4;
	if (!fixed_read(&p->at, p->end, 4, &length))
		return -EINVAL;
	if (length == UINT32_MAX) {
		p->offset_size = 8;
		if (!fixed_read(&p->at, p->end, 8, &length))
			return -EINVAL;
	}
	if (length > (uint64_t)(p->end - p->at))
		return -EINVAL;
	p->end = p->at + length;
	if (!fixed_read(&p->at, p->end, 2, &value) || value < 2 || value > 5)
		return -EINVAL;
	p->version = (unsigned int)value;
	if (p->version >= 5 && !bytes_skip(&p->at, p->end, 2))
		return -EINVAL;
	if (!fixed_read(&p->at, p->end, p->offset_size, &length) ||
	    length > (uint64_t)(p->end - p->at))
		return -EINVAL;
	*program = p->at + length;
	if (p->end - p->at < 5 + (p->version >= 4))
		return -EINVAL;
	p->shortest = *p->at++;
	p->operations = p->version >= 4 ? *p->at++ : 1;
	p->at++;				 /* whether rows begin statements */
	p->line_base = (*p->at++ ^ 0x80) - 0x80; /* it has a sign */
	p->line_range = *p->at++;
	p->opcode_base = *p->at++;
	if (!p->line_range || !p->opcode_base || p->end - p->at < (ptrdiff_t)p->opcode_base - 1)
		return -EINVAL;
	memcpy(p->lengths + 1, p->at, p->opcode_base - 1);
	p->at += p->opcode_base - 1;
	for (unsigned int i = p->opcode_base; i < 256; i++) {
		p->steps[i] = (uint8_t)((i - p->opcode_base) / p->line_range);
		p->advances[i] = (uint16_t)(p->shortest * p->steps[i]);
		p->lines[i] = (int16_t)(p->line_base + (int)((i - p->opcode_base) % p->line_range));
	}
	return 0;
}
