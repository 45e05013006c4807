// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A C++ file has a sequence of rows for each function, and few of a unit's functions are asked
 * about. Running a program takes far longer than searching it for the bytes that begin a sequence,
 * which may also occur elsewhere. So when such a piece is run, it and the one before it must be one
 * sequence each, from the first byte to the last; otherwise the whole program is run.
 */
#include "symbols/dwarf/linetable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/leb128.h"
#include "symbols/base/search.h"
#include "symbols/dwarf/linefiles.h"
#include "symbols/dwarf/lineprogram.h"
#include "symbols/dwarf/rangemap.h"

#define PIECES_MAX (1u << 20)
#define PREFIX_MAX 16u	 /* bytes from the beginning of a sequence to its address */
#define LAZY_BYTES 2048u /* a shorter program is run as a whole */

struct linetable_piece { /* of the program, up to the next one: probably one sequence */
	const uint8_t *at;
	uint64_t start; /* its first address */
	uint64_t end;	/* if it was read: the first address behind */
	uint32_t row, nrows;
	bool read;
	bool doubted; /* the one before has to be read, too */
};

struct linetable_start { /* of a piece with code in [low, high) */
	uint64_t address;
	uint32_t piece;
};

struct linetable {
	struct linetable_source source;
	struct lineprogram program; /* as it was before a run */
	struct linerows rows;
	struct linefiles files;
	struct linetable_piece *pieces; /* NULL: the program was run as a whole */
	size_t npieces, pieces_room;
	struct linetable_start *starts; /* ascending */
	size_t nstarts;
};

/* --- sequence by sequence --------------------------------------------------------------------- */

/* Behind the opcodes in front of a sequence's address, and behind the address itself; else NULL. */
static const uint8_t *prefix_skip(const struct lineprogram *r, const uint8_t *at)
{
	const uint8_t *end = (size_t)(r->end - at) < PREFIX_MAX ? r->end : at + PREFIX_MAX;

	while (at < end) {
		switch (*at++) {
		case 0:
			return end - at >= 2 && at[0] == 9 && at[1] == DW_LNE_set_address &&
					       r->end - at >= 10
				       ? at + 10
				       : NULL;
		case DW_LNS_advance_line:
		case DW_LNS_set_file:
		case DW_LNS_set_column:
			if (!leb128_skip(&at, end))
				return NULL;
			break;
		case DW_LNS_negate_stmt:
			break;
		case DW_LNS_set_prologue_end:
			if (r->opcode_base <= DW_LNS_set_prologue_end ||
			    r->lengths[DW_LNS_set_prologue_end])
				return NULL;
			break;
		default:
			return NULL;
		}
	}
	return NULL;
}

/* The beginning of a sequence with its address set at `address`; NULL: probably none. */
static const uint8_t *piece_begin(const struct lineprogram *r, const uint8_t *address)
{
	static const uint8_t end[] = {0, 1, DW_LNE_end_sequence};
	const uint8_t *at = address;

	for (; (size_t)(at - r->at) >= sizeof(end) && address - at < PREFIX_MAX; at--)
		if (!memcmp(at - sizeof(end), end, sizeof(end)) &&
		    prefix_skip(r, at) == address + 11)
			return at;
	return NULL;
}

/*
 * True if the bytes that look like the end of a sequence may be a zero that belongs to an opcode
 * before, and two rows.
 */
static bool end_is_doubted(const struct lineprogram *r, const uint8_t *begin)
{
	const uint8_t *zero = begin - 3;
	uint8_t before;

	if (zero - r->at < 2 || zero[-2] == DW_LNS_fixed_advance_pc)
		return true;
	before = zero[-1];
	if (before >= r->opcode_base)
		return before >= 0x80;
	return before != DW_LNS_copy && before != DW_LNS_negate_stmt;
}

static int piece_add(struct linetable *t, const uint8_t *at, const uint8_t *behind)
{
	struct linetable_piece piece = {.at = at};

	if (GROW(t->pieces, t->npieces, t->pieces_room, PIECES_MAX))
		return -ENOMEM;
	piece.doubted = t->npieces && end_is_doubted(&t->program, at);
	memcpy(&piece.start, behind - sizeof(piece.start), sizeof(piece.start));
	t->pieces[t->npieces++] = piece;
	return 0;
}

static int starts_make(struct linetable *t)
{
	bool sorted = true;

	t->starts = reallocarray(NULL, t->npieces, sizeof(*t->starts));
	if (!t->starts)
		return -ENOMEM;
	for (size_t i = 0; i < t->npieces; i++) {
		uint64_t address = t->pieces[i].start;

		if (address < t->source.low || address >= t->source.high)
			continue;
		sorted &= !t->nstarts || t->starts[t->nstarts - 1].address <= address;
		t->starts[t->nstarts++] = (struct linetable_start){address, (uint32_t)i};
	}
	if (!sorted)
		qsort(t->starts, t->nstarts, sizeof(*t->starts), compare_u64);
	return 0;
}

static void pieces_free(struct linetable *t)
{
	free(t->pieces);
	free(t->starts);
	t->pieces = NULL;
	t->starts = NULL;
	t->npieces = t->nstarts = t->pieces_room = 0;
}

/* 0 also if there are none, or too many. */
static int pieces_find(struct linetable *t)
{
	const struct lineprogram *r = &t->program;
	const uint8_t *at = r->at, *behind;
	int err;

	if (r->end - at < LAZY_BYTES || !lineprogram_is_usual(r) || !(behind = prefix_skip(r, at)))
		return 0;
	err = piece_add(t, at, behind);
	/* The length of the opcode that sets an address is rarer than its other bytes. */
	for (at = behind;
	     !err && t->npieces < PIECES_MAX && (at = memchr(at, 9, (size_t)(r->end - at))); at++) {
		const uint8_t *begin = NULL;

		if (r->end - at >= 10 && !at[-1] && at[1] == DW_LNE_set_address)
			begin = piece_begin(r, at - 1);
		if (begin && begin > t->pieces[t->npieces - 1].at)
			err = piece_add(t, begin, at + 10);
	}
	if (!err && t->npieces > 1 && t->npieces < PIECES_MAX)
		return starts_make(t);
	pieces_free(t);
	return err;
}

/* False: it is not one sequence. */
static bool piece_read(struct linetable *t, size_t i)
{
	struct linetable_piece *p = &t->pieces[i];
	const uint8_t *end = i + 1 < t->npieces ? t->pieces[i + 1].at : t->program.end;
	struct lineprogram r = t->program;
	size_t before = t->rows.nrows;

	if (p->read)
		return true;
	r.at = p->at;
	r.end = end;
	r.files = NULL;
	if (lineprogram_run(&r, &t->rows) || r.nends != 1 || r.ended != end || r.nsequences > 1)
		return false;
	p->row = (uint32_t)before;
	p->nrows = (uint32_t)(t->rows.nrows - before);
	p->end = t->rows.nsequences ? t->rows.sequences.ranges[0].end : p->start;
	t->rows.nsequences = t->rows.sequences.nranges = 0;
	p->read = true;
	return !p->nrows || t->rows.rows[p->row].address == p->start;
}

static int whole_read(struct linetable *t)
{
	struct lineprogram r = t->program;
	int err;

	pieces_free(t);
	t->rows.nrows = t->rows.nsequences = t->rows.sequences.nranges = 0;
	err = lineprogram_run(&r, &t->rows);
	return err == -ENOMEM ? err : rangemap_build(&t->rows.sequences);
}

/* NULL: the whole program has to be run to find out. */
static const struct linetable_piece *piece_at(struct linetable *t, uint64_t vaddr)
{
	size_t low = SEARCH(t->nstarts, n, t->starts[n].address <= vaddr), i;
	const struct linetable_piece *p;

	if (!low || (low > 1 && t->starts[low - 2].address == t->starts[low - 1].address))
		return NULL;
	i = t->starts[low - 1].piece;
	p = &t->pieces[i];
	if ((p->doubted && !piece_read(t, i - 1)) || !piece_read(t, i) || !p->nrows ||
	    vaddr >= p->end)
		return NULL;
	return p;
}

/* --- the table ------------------------------------------------------------------------------- */

static int table_read(struct linetable *t)
{
	struct linefiles_source source = {
		.line_str = t->source.line_str, .str = t->source.str, .dir = t->source.dir};
	const uint8_t *program;
	int err = lineprogram_open(&t->program, &program);

	source.version = t->program.version;
	source.offset_size = t->program.offset_size;
	if (!err)
		err = linefiles_read(&t->files, &source, &t->program.at, t->program.end);
	if (err)
		return err;
	t->program.at = program;
	err = pieces_find(t);
	return err || t->pieces ? err : whole_read(t);
}

int linetable_new(const struct linetable_source *source, uint64_t offset, struct linetable **out)
{
	struct linetable *t;
	int err;

	*out = NULL;
	if (offset >= source->line.size)
		return -EINVAL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->source = *source;
	t->program.low = source->low;
	t->program.high = source->high;
	t->program.files = &t->files;
	t->program.at = source->line.data + offset;
	t->program.end = source->line.data + source->line.size;
	err = table_read(t);
	if (err) {
		linetable_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void linetable_free(struct linetable *table)
{
	if (!table)
		return;
	pieces_free(table);
	linefiles_free(&table->files);
	free(table->rows.firsts);
	free(table->rows.rows);
	rangemap_free(&table->rows.sequences);
	free(table);
}

size_t linetable_bytes(const struct linetable *table)
{
	return sizeof(*table) + table->rows.room * sizeof(*table->rows.rows) +
	       table->rows.firsts_room * sizeof(*table->rows.firsts) +
	       rangemap_bytes(&table->rows.sequences) +
	       table->pieces_room * sizeof(*table->pieces) +
	       table->nstarts * sizeof(*table->starts) + linefiles_bytes(&table->files);
}

/* The rows [*low, *high) of the sequence at an address. */
static bool rows_find(struct linetable *t, uint64_t vaddr, size_t *low, size_t *high)
{
	const struct linetable_piece *p = t->pieces ? piece_at(t, vaddr) : NULL;
	uint32_t sequence;

	if (p) {
		*low = p->row;
		*high = p->row + (size_t)p->nrows;
		return true;
	}
	if (t->pieces && whole_read(t))
		return false;
	sequence = rangemap_find(&t->rows.sequences, vaddr);
	if (sequence == RANGEMAP_NONE)
		return false;
	*low = t->rows.firsts[sequence];
	*high = sequence + 1 < t->rows.nsequences ? t->rows.firsts[sequence + 1] : t->rows.nrows;
	return true;
}

bool linetable_find(struct linetable *table, uint64_t vaddr, uint64_t *file, unsigned int *line)
{
	const struct linerow *rows;
	size_t low, high, n;

	if (!rows_find(table, vaddr, &low, &high))
		return false;
	rows = &table->rows.rows[low];
	n = SEARCH(high - low, i, rows[i].address <= vaddr);
	rows += n ? n - 1 : 0;
	*file = rows->file;
	*line = rows->line;
	return true;
}

const char *linetable_file(struct linetable *table, uint64_t file)
{
	/* The program may define more of them. */
	if (table->pieces && file >= table->files.nfiles && whole_read(table))
		return NULL;
	return linefiles_path(&table->files, file);
}
