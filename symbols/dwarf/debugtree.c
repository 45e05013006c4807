// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries form a tree, but in a hostile file DW_AT_sibling may lead anywhere. Entries are only
 * followed forward in the file, and no more of them are read than the file has bytes.
 *
 * Functions inside of functions (GNU C, Ada, D) are looked for only if an address is in none of the
 * outer ones: nearly all entries are inside of functions and types.
 */
#include "symbols/dwarf/debugtree.h"

#include <dwarf.h>

#include "symbols/base/grow.h"
#include "symbols/base/leb128.h"
#include "symbols/dwarf/debugunit.h"
#include "symbols/dwarf/diereader.h"

#define DEPTH_MAX    200u /* of nested entries */
#define RANGES_MORE  65536u
#define RANGE_BYTES  16u /* bytes of a list that count as one more range */
#define CANCEL_EVERY 1024u

struct debugtree_walk {
	struct debugunit *unit;
	struct debugunit_function *function; /* NULL: looking for functions */
	size_t entries_left, ranges_left;
	bool types;	     /* types outside of functions may hold code, too */
	unsigned int inside; /* depth in functions, while looking for functions */
};

/*
 * Half of the inlined calls have a list of ranges. libdw looks up section, unit and base again for
 * each range of one, and reads on in a list of bases without any range: entries that share a list
 * of n bases take n steps each.
 */
bool rangelist_open(struct rangelist *list, const uint8_t *section, size_t size, uint64_t offset,
		    unsigned int version, uint64_t base)
{
	if (offset >= size)
		return false;
	*list = (struct rangelist){section + offset, section + size, base, version};
	return true;
}

static enum rangelist_next next_old(struct rangelist *l, uint64_t *start, uint64_t *end)
{
	while (fixed_read(&l->at, l->end, 8, start) && fixed_read(&l->at, l->end, 8, end)) {
		if (*start == UINT64_MAX) {
			l->base = *end;
			continue;
		}
		if (!*start && !*end)
			break;
		*start += l->base;
		*end += l->base;
		return RANGELIST_RANGE;
	}
	return RANGELIST_END;
}

static enum rangelist_next next_new(struct rangelist *l, uint64_t *start, uint64_t *end)
{
	bool ok = true;

	while (ok && l->at < l->end) {
		switch (*l->at++) {
		case DW_RLE_end_of_list:
			return RANGELIST_END;
		case DW_RLE_base_address:
			ok = fixed_read(&l->at, l->end, 8, &l->base);
			continue;
		case DW_RLE_offset_pair:
			ok = leb128_read(&l->at, l->end, start) && leb128_read(&l->at, l->end, end);
			*start += l->base;
			*end += l->base;
			break;
		case DW_RLE_start_end:
			ok = fixed_read(&l->at, l->end, 8, start) &&
			     fixed_read(&l->at, l->end, 8, end);
			break;
		case DW_RLE_start_length:
			ok = fixed_read(&l->at, l->end, 8, start) &&
			     leb128_read(&l->at, l->end, end);
			*end += *start;
			break;
		default:
			return RANGELIST_OTHER;
		}
		if (ok)
			return RANGELIST_RANGE;
	}
	return RANGELIST_END;
}

enum rangelist_next rangelist_next(struct rangelist *list, uint64_t *start, uint64_t *end)
{
	*start = *end = 0;
	return list->version < 5 ? next_old(list, start, end) : next_new(list, start, end);
}

static int add_range(const struct debugunit_bounds *bounds, uint64_t start, uint64_t end,
		     uint32_t value, struct rangemap *map)
{
	if (start < bounds->low || start >= end || end > bounds->high)
		return 0;
	return rangemap_add(map, start, end, value);
}

int debugtree_ranges(Dwarf_Die *die, const struct debugunit_bounds *bounds, uint32_t value,
		     struct rangemap *map, size_t *left)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (*left && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		--*left;
		if (add_range(bounds, start, end, value, map))
			return -ENOMEM;
	}
	return 0;
}

static bool is_cancelled(const struct debugunit *unit)
{
	const atomic_bool *cancel = unit->bounds->cancel;

	return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

/* The next entry; false: nothing more can be read, at any level. */
static bool walk_read(struct debugtree_walk *w, const uint8_t *at, struct diereader_entry *e)
{
	if (!w->entries_left)
		return false;
	w->entries_left--;
	if ((w->entries_left % CANCEL_EVERY || !is_cancelled(w->unit)) &&
	    diereader_read(w->unit->reader, at, e))
		return true;
	w->entries_left = 0;
	return false;
}

/* Moves *at from the first of the entry's children to behind the last. */
static void children_skip(struct debugtree_walk *w, const struct diereader_entry *parent,
			  const uint8_t **at)
{
	struct diereader_entry e;
	size_t depth = 1;

	if (parent->sibling) {
		*at = parent->sibling;
		return;
	}
	while (depth && walk_read(w, *at, &e)) {
		*at = e.children && e.sibling ? e.sibling : e.next;
		if (!e.tag)
			depth--;
		else if (e.children && !e.sibling)
			depth++;
	}
}

static int ask_libdw(struct debugtree_walk *w, const struct diereader_entry *e, uint32_t value,
		     struct rangemap *map)
{
	Dwarf_Off offset = (Dwarf_Off)(e->at - diereader_base(w->unit->reader));
	Dwarf_Die die;

	if (!dwarf_offdie(dwarf_cu_getdwarf(w->unit->body.cu), offset, &die))
		return 0;
	return debugtree_ranges(&die, w->unit->bounds, value, map, &w->ranges_left);
}

static int add_list(struct debugtree_walk *w, const struct diereader_entry *e, uint32_t value,
		    struct rangemap *map)
{
	const struct debugunit *u = w->unit;
	const unsigned int version = diereader_version(u->reader);
	const struct elf_section *section = version < 5 ? &u->bounds->ranges : &u->bounds->rnglists;
	enum rangelist_next next;
	struct rangelist list;
	uint64_t start, end;
	int err = 0;

	/* The lists of split units are elsewhere. */
	if (u->body.cu != u->die.cu ||
	    !rangelist_open(&list, section->data, section->size, e->ranges, version, u->base))
		return ask_libdw(w, e, value, map);
	while (!err && w->ranges_left) {
		const uint8_t *before = list.at;
		size_t ranges;

		next = rangelist_next(&list, &start, &end);
		/*
		 * Many entries may lead to one list, and it may hold only bases: its bytes count,
		 * not its ranges.
		 */
		ranges = 1 + (size_t)(list.at - before) / RANGE_BYTES;
		w->ranges_left -= ranges < w->ranges_left ? ranges : w->ranges_left;
		if (next == RANGELIST_OTHER)
			return ask_libdw(w, e, value, map);
		if (next == RANGELIST_END)
			break;
		err = add_range(u->bounds, start, end, value, map);
	}
	return err;
}

static int add_ranges(struct debugtree_walk *w, const struct diereader_entry *e, uint32_t value,
		      struct rangemap *map)
{
	switch (e->code) {
	case DIEREADER_RANGE:
		return add_range(w->unit->bounds, e->low, e->high, value, map);
	case DIEREADER_RANGES:
		return add_list(w, e, value, map);
	case DIEREADER_OTHER:
		return ask_libdw(w, e, value, map);
	case DIEREADER_NONE:
		break;
	}
	return 0;
}

static int add_function(struct debugtree_walk *w, const struct diereader_entry *e)
{
	struct debugunit *u = w->unit;
	size_t before = u->ranges.nranges;
	int err = add_ranges(w, e, u->nfunctions, &u->ranges);

	if (err || u->ranges.nranges == before)
		return err;
	if (GROW(u->functions, u->nfunctions, u->room, UINT32_MAX))
		return -ENOMEM;
	u->functions[u->nfunctions++] =
		(struct debugunit_function){.die = (Dwarf_Off)(e->at - diereader_base(u->reader))};
	return 0;
}

static int add_call(struct debugtree_walk *w, const struct diereader_entry *e, uint32_t parent)
{
	struct debugunit_function *f = w->function;

	if (GROW(f->calls, f->ncalls, f->room, UINT32_MAX))
		return -ENOMEM;
	f->calls[f->ncalls] = (struct debugtree_call){
		(Dwarf_Off)(e->at - diereader_base(w->unit->reader)), parent};
	return add_ranges(w, e, f->ncalls++, &f->ranges);
}

/*
 * C and C++ have the code of a type's functions beside the type, unless the type is in a function.
 */
static bool types_hold_code(const struct debugunit *unit)
{
	Dwarf_Die die = unit->body;

	switch (dwarf_srclang(&die)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
		return false;
	default:
		return true;
	}
}

static bool holds_functions(const struct debugtree_walk *w, unsigned int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return w->unit->deep;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return w->unit->deep && (w->types || w->inside);
	default:
		return false;
	}
}

static bool holds_calls(unsigned int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* Reads the list of children at *at, which moves behind it. call: the call that they belong to. */
static int walk_children(struct debugtree_walk *w, const uint8_t **at, uint32_t call,
			 unsigned int depth)
{
	struct diereader_entry e;
	int err = 0;

	while (!err && walk_read(w, *at, &e)) {
		uint32_t inner = call;
		bool enter;

		*at = e.next;
		if (!e.tag)
			break;
		if (w->function) {
			enter = holds_calls(e.tag);
			if (e.tag == DW_TAG_inlined_subroutine) {
				inner = w->function->ncalls;
				err = add_call(w, &e, call);
			}
		} else {
			enter = holds_functions(w, e.tag);
			if (e.tag == DW_TAG_subprogram)
				err = add_function(w, &e);
		}
		if (err || !e.children)
			continue;
		if (enter && depth < DEPTH_MAX) {
			w->inside += e.tag == DW_TAG_subprogram;
			err = walk_children(w, at, inner, depth + 1);
			w->inside -= e.tag == DW_TAG_subprogram;
			/*
			 * Starting from the children again, each level would read them once more.
			 */
			if (e.sibling > *at)
				*at = e.sibling;
		} else {
			children_skip(w, &e, at);
		}
	}
	return err;
}

int debugtree_read(struct debugunit *unit, struct debugunit_function *function)
{
	struct debugtree_walk w = {.unit = unit, .function = function};
	const uint8_t *at = diereader_base(unit->reader) +
			    (function ? function->die : dwarf_dieoffset(&unit->body));
	struct diereader_entry e;
	int err = 0;

	w.entries_left = unit->bounds->size;
	w.ranges_left = unit->bounds->size + RANGES_MORE;
	w.types = !function && unit->deep && types_hold_code(unit);
	if (walk_read(&w, at, &e) && e.children) {
		at = e.next;
		err = walk_children(&w, &at, RANGEMAP_NONE, 0);
	}
	return !err && is_cancelled(unit) ? -ECANCELED : err;
}
