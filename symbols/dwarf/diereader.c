// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nearly all entries of a unit are skipped on the way to a function, and libdw parses an entry anew
 * for each question about it. Here each abbreviation is compiled once into a short list of steps:
 * adjacent unused attributes of a fixed size become one step, so that most entries are skipped by
 * one addition.
 */
#include "symbols/dwarf/diereader.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/leb128.h"

#define CODES_MAX      65536u /* of abbreviations; compilers count them from 1 on */
#define ATTRIBUTES_MAX 128u   /* of an entry; libdw searches for the n-th from the first on */
#define TEXT_LONG      65536u /* bytes: any number of entries may lead into one endless text */

enum step_kind {
	STEP_FIXED, /* `size` bytes */
	STEP_LEB,
	STEP_STRING,
	STEP_BLOCK, /* its length has `size` bytes */
	STEP_BLOCK_LEB,
	STEP_INDIRECT,
	STEP_SIBLING, /* from the unit's first byte, `size` bytes; 0: a LEB number */
	STEP_LOW,
	STEP_HIGH,	 /* an address */
	STEP_LENGTH,	 /* likewise, from low on */
	STEP_RANGES,	 /* an offset into the section */
	STEP_CODE_FIXED, /* of code, in another form: as STEP_FIXED */
	STEP_CODE_LEB,	 /* as STEP_LEB */
	STEP_END,
};

struct diereader_step {
	uint8_t kind;
	uint32_t size;
};

struct abbreviation {
	uint32_t steps; /* index of the first one; UINT32_MAX: there is no such code */
	uint16_t tag;
	bool children;
	bool dull; /* not a function, not an inlined call, no children: diereader_read skips it */
};

struct diereader_region { /* bytes of a section */
	const uint8_t *start, *end;
};

struct diereader {
	const uint8_t *base, *unit, *end; /* of the section, the unit's header, behind the unit */
	struct diereader_region section;  /* of entries */
	struct diereader_region texts[2]; /* where the last texts were */
	unsigned int version, address_size, offset_size;
	struct abbreviation *codes; /* by code */
	size_t ncodes;
	struct diereader_step *steps;
	size_t nsteps, room;
};

/* --- abbreviations --------------------------------------------------------------------------- */

/* How to skip a form (DWARF 5 section 7.5.6, and GNU's own). False: unknown form. */
static bool step_of_form(const struct diereader *s, unsigned int form, struct diereader_step *step)
{
	*step = (struct diereader_step){STEP_FIXED, 0};
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		break;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		step->size = 1;
		break;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		step->size = 2;
		break;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		step->size = 3;
		break;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		step->size = 4;
		break;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		step->size = 8;
		break;
	case DW_FORM_data16:
		step->size = 16;
		break;
	case DW_FORM_addr:
		step->size = s->address_size;
		break;
	case DW_FORM_ref_addr:
		step->size = s->version < 3 ? s->address_size : s->offset_size;
		break;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		step->size = s->offset_size;
		break;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		step->kind = STEP_LEB;
		break;
	case DW_FORM_string:
		step->kind = STEP_STRING;
		break;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		*step = (struct diereader_step){STEP_BLOCK, form == DW_FORM_block1   ? 1
							    : form == DW_FORM_block2 ? 2
										     : 4};
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		step->kind = STEP_BLOCK_LEB;
		break;
	case DW_FORM_indirect:
		step->kind = STEP_INDIRECT;
		break;
	default:
		return false;
	}
	return true;
}

static bool tag_has_code(unsigned int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* The steps of attributes that are used. */
static void step_of_attribute(const struct diereader *s, unsigned int tag, unsigned int name,
			      unsigned int form, struct diereader_step *step)
{
	bool code = name == DW_AT_low_pc || name == DW_AT_high_pc || name == DW_AT_ranges;

	if (name == DW_AT_sibling) {
		if (form == DW_FORM_ref_udata)
			*step = (struct diereader_step){STEP_SIBLING, 0};
		else if (form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 ||
			 form == DW_FORM_ref8)
			step->kind = STEP_SIBLING;
		return;
	}
	if (!code || !tag_has_code(tag))
		return;
	if (name == DW_AT_low_pc && form == DW_FORM_addr)
		step->kind = STEP_LOW;
	else if (name == DW_AT_high_pc && form == DW_FORM_addr)
		step->kind = STEP_HIGH;
	else if (name == DW_AT_high_pc && s->version >= 4 &&
		 (form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4 ||
		  form == DW_FORM_data8))
		step->kind = STEP_LENGTH;
	else if (name == DW_AT_ranges && form == DW_FORM_sec_offset)
		step->kind = STEP_RANGES;
	else if (step->kind == STEP_FIXED)
		step->kind = STEP_CODE_FIXED;
	else if (step->kind == STEP_LEB)
		step->kind = STEP_CODE_LEB;
}

static int step_add(struct diereader *s, const struct diereader_step *step, uint32_t first)
{
	struct diereader_step *last = s->nsteps > first ? &s->steps[s->nsteps - 1] : NULL;

	if (step->kind == STEP_FIXED && last && last->kind == STEP_FIXED) {
		last->size += step->size;
		return 0;
	}
	if (GROW(s->steps, s->nsteps, s->room, UINT32_MAX))
		return -ENOMEM;
	s->steps[s->nsteps++] = *step;
	return 0;
}

static int code_add(struct diereader *s, Dwarf_Abbrev *abbrev, unsigned int code)
{
	size_t before = s->ncodes;
	unsigned int name, form, tag = dwarf_getabbrevtag(abbrev);
	uint32_t first = (uint32_t)s->nsteps;
	struct diereader_step step;
	int err = 0;

	if (GROW_TO(s->codes, (size_t)code + 1, s->ncodes, SIZE_MAX))
		return -ENOMEM;
	if (s->ncodes > before)
		memset(s->codes + before, 0xff, (s->ncodes - before) * sizeof(*s->codes));
	if (s->codes[code].steps != UINT32_MAX)
		return 0;
	/* dwarf_getattrcnt counts the values of DW_FORM_implicit_const, too (elfutils 0.188). */
	for (size_t i = 0; !err && !dwarf_getabbrevattr_data(abbrev, i, &name, &form, NULL, NULL);
	     i++) {
		if (i == ATTRIBUTES_MAX || !step_of_form(s, form, &step))
			return -EINVAL;
		step_of_attribute(s, tag, name, form, &step);
		err = step_add(s, &step, first);
	}
	if (!err)
		err = step_add(s, &(struct diereader_step){STEP_END, 0}, first);
	s->codes[code] = (struct abbreviation){.steps = first,
					       .tag = (uint16_t)tag,
					       .children = dwarf_abbrevhaschildren(abbrev),
					       .dull = !tag_has_code(tag)};
	if (s->codes[code].children)
		s->codes[code].dull = false;
	return err;
}

static int codes_read(struct diereader *s, Dwarf_Die *unit)
{
	Dwarf_Off at = 0;
	size_t length;
	int err = 0;

	while (!err) {
		Dwarf_Abbrev *abbrev = dwarf_getabbrev(unit, at, &length);
		unsigned int code;

		if (!abbrev || abbrev == DWARF_END_ABBREV)
			break;
		code = dwarf_getabbrevcode(abbrev);
		if (!code || code >= CODES_MAX || !length)
			return -EINVAL;
		err = code_add(s, abbrev, code);
		at += length;
	}
	return err;
}

/* --- the unit -------------------------------------------------------------------------------- */

static bool region_holds(const struct diereader_region *region, const uint8_t *at)
{
	return at >= region->start && at < region->end;
}

/* The section of entries or texts in memory that contains the byte. libdw has read it already. */
static bool region_find(Elf *elf, const uint8_t *inside, struct diereader_region *region)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const Elf_Data *data = NULL;
		const char *name = NULL;
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type != SHT_NOBITS)
			name = elf_strptr(elf, names, shdr.sh_name);
		name = name && (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8))
			       ? strchr(name, '_')
			       : NULL;
		if (name && (!strncmp(name, "_info", 5) || !strncmp(name, "_str", 4) ||
			     !strncmp(name, "_line_str", 9)))
			data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		*region = (struct diereader_region){data->d_buf,
						    (uint8_t *)data->d_buf + data->d_size};
		if (region_holds(region, inside))
			return true;
	}
	return false;
}

const uint8_t *diereader_section_end(Dwarf_Die *die)
{
	struct diereader_region region;

	return region_find(dwarf_getelf(dwarf_cu_getdwarf(die->cu)), die->addr, &region)
		       ? region.end
		       : NULL;
}

static int unit_bounds(struct diereader *s, Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	Dwarf_Off start = dwarf_dieoffset(unit) - dwarf_cuoffset(unit), next;
	uint8_t address_size, offset_size;
	Dwarf_Half version;
	size_t header;

	if (dwarf_next_unit(dwarf, start, &next, &header, &version, NULL, &address_size,
			    &offset_size, NULL, NULL))
		return -EINVAL;
	s->base = (const uint8_t *)unit->addr - dwarf_dieoffset(unit);
	/* libdw trusts the length that a unit claims. */
	if (!region_find(dwarf_getelf(dwarf), unit->addr, &s->section) || next <= start)
		return -EINVAL;
	s->end = s->section.end;
	s->unit = s->base + start;
	if (next < (Dwarf_Off)(s->end - s->base))
		s->end = s->base + next;
	s->version = version;
	s->address_size = address_size;
	s->offset_size = offset_size;
	return address_size > 8 || offset_size > 8 ? -EINVAL : 0;
}

int diereader_new(Dwarf_Die *unit, struct diereader **out)
{
	struct diereader *s = calloc(1, sizeof(*s));
	int err = s ? unit_bounds(s, unit) : -ENOMEM;

	*out = NULL;
	if (!err)
		err = codes_read(s, unit);
	if (err) {
		diereader_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void diereader_free(struct diereader *reader)
{
	if (!reader)
		return;
	free(reader->codes);
	free(reader->steps);
	free(reader);
}

size_t diereader_bytes(const struct diereader *reader)
{
	return sizeof(*reader) + reader->ncodes * sizeof(*reader->codes) +
	       reader->room * sizeof(*reader->steps);
}

unsigned int diereader_version(const struct diereader *reader)
{
	return reader->version;
}

const uint8_t *diereader_base(const struct diereader *reader)
{
	return reader->base;
}

/*
 * The section that contains the text: of the entry's file, or of the one that dwz moved texts to.
 */
static bool texts_find(Dwarf_Die *die, Dwarf *alternate, const uint8_t *at,
		       struct diereader_region *region)
{
	return region_find(dwarf_getelf(dwarf_cu_getdwarf(die->cu)), at, region) ||
	       (alternate && region_find(dwarf_getelf(alternate), at, region));
}

bool diereader_string_ends(struct diereader *reader, Dwarf_Die *die, Dwarf *alternate,
			   const char *text, uint64_t *left)
{
	const uint8_t *at = (const uint8_t *)text;
	struct diereader_region region = {0};
	const uint8_t *text_end;
	uint64_t length;
	size_t room;

	if (reader && region_holds(&reader->texts[0], at))
		region = reader->texts[0];
	else if (reader && region_holds(&reader->texts[1], at))
		region = reader->texts[1];
	else if (reader && region_holds(&reader->section, at))
		region = reader->section;
	else if (!texts_find(die, alternate, at, &region))
		return false;
	else if (reader) {
		reader->texts[1] = reader->texts[0];
		reader->texts[0] = region;
	}
	room = (size_t)(region.end - at);
	if (memchr(at, 0, room < TEXT_LONG ? room : TEXT_LONG))
		return true;
	if (room <= TEXT_LONG || !*left)
		return false;
	text_end = memchr(at + TEXT_LONG, 0, room - TEXT_LONG);
	length = text_end ? (uint64_t)(text_end - at) : room;
	*left -= length < *left ? length : *left;
	return text_end != NULL;
}

/* --- entries --------------------------------------------------------------------------------- */

static bool step_over(const struct diereader *s, const struct diereader_step *step,
		      const uint8_t **at);

static bool step_indirect(const struct diereader *s, const uint8_t **at)
{
	struct diereader_step step;
	uint64_t form;

	return leb128_read(at, s->end, &form) && form <= UINT16_MAX && form != DW_FORM_indirect &&
	       form != DW_FORM_implicit_const && step_of_form(s, (unsigned int)form, &step) &&
	       step_over(s, &step, at);
}

static bool step_over(const struct diereader *s, const struct diereader_step *step,
		      const uint8_t **at)
{
	uint64_t value;

	switch (step->kind) {
	case STEP_FIXED:
	case STEP_CODE_FIXED:
		return bytes_skip(at, s->end, step->size);
	case STEP_LEB:
	case STEP_CODE_LEB:
		return leb128_skip(at, s->end);
	case STEP_STRING:
		return string_read(at, s->end) != NULL;
	case STEP_BLOCK:
		return fixed_read(at, s->end, step->size, &value) && bytes_skip(at, s->end, value);
	case STEP_BLOCK_LEB:
		return leb128_read(at, s->end, &value) && bytes_skip(at, s->end, value);
	case STEP_INDIRECT:
		return step_indirect(s, at);
	default:
		return false;
	}
}

struct diereader_told { /* by the attributes of one entry */
	bool low, high, length, ranges, other;
	uint64_t end;
};

static bool step_wanted(const struct diereader *s, const struct diereader_step *step,
			const uint8_t **at, struct diereader_entry *e, struct diereader_told *told)
{
	uint64_t value;

	if (step->size ? !fixed_read(at, s->end, step->size, &value)
		       : !leb128_read(at, s->end, &value))
		return false;
	switch (step->kind) {
	case STEP_SIBLING:
		if (value > (uint64_t)(e->at - s->unit) && value <= (uint64_t)(s->end - s->unit))
			e->sibling = s->unit + value;
		break;
	case STEP_LOW:
		told->low = true;
		e->low = value;
		break;
	case STEP_HIGH:
	case STEP_LENGTH:
		told->high = true;
		told->length = step->kind == STEP_LENGTH;
		told->end = value;
		break;
	default:
		told->ranges = true;
		e->ranges = value;
		break;
	}
	return true;
}

/* As in libdw, a range has priority over a list. */
static void tell_code(struct diereader_entry *e, const struct diereader_told *told)
{
	if (told->other) {
		e->code = DIEREADER_OTHER;
	} else if (told->low && told->high) {
		e->code = DIEREADER_RANGE;
		e->high = told->length ? e->low + told->end : told->end;
	} else if (told->ranges) {
		e->code = DIEREADER_RANGES;
	}
}

/* Runs the steps of the entry at *at, which moves behind it. The most frequent steps are inline. */
static inline bool steps_over(const struct diereader *s, const struct abbreviation *abbrev,
			      const uint8_t **where)
{
	const uint8_t *at = *where, *end = s->end;
	const struct diereader_step *step;

	for (step = &s->steps[abbrev->steps]; step->kind != STEP_END; step++) {
		if (step->kind == STEP_FIXED) {
			if ((size_t)(end - at) < step->size)
				return false;
			at += step->size;
		} else if (step->kind == STEP_BLOCK_LEB && at < end && *at < 0x80) {
			if (end - at <= *at)
				return false;
			at += 1 + *at;
		} else if (step->kind == STEP_SIBLING) {
			if (step->size ? !bytes_skip(&at, end, step->size) : !leb128_skip(&at, end))
				return false;
		} else if (!step_over(s, step, &at)) {
			return false;
		}
	}
	*where = at;
	return true;
}

/* NULL: there is none, or no abbreviation for its code. *code is 0 at the end of a list. */
static inline const struct abbreviation *code_read(const struct diereader *s, const uint8_t **at,
						   uint64_t *code)
{
	static const struct abbreviation end;

	if (*at < s->end && **at < 0x80)
		*code = *(*at)++;
	else if (!leb128_read(at, s->end, code))
		return NULL;
	if (!*code)
		return &end;
	if (*code >= s->ncodes || s->codes[*code].steps == UINT32_MAX)
		return NULL;
	return &s->codes[*code];
}

bool diereader_read(const struct diereader *reader, const uint8_t *at,
		    struct diereader_entry *entry)
{
	const struct abbreviation *abbrev;
	struct diereader_told told = {0};
	const uint8_t *start;
	uint64_t code;

	do {
		start = at;
		abbrev = code_read(reader, &at, &code);
		if (!abbrev || (abbrev->dull && !steps_over(reader, abbrev, &at)))
			return false;
	} while (abbrev->dull);
	*entry = (struct diereader_entry){
		.at = start, .next = at, .tag = abbrev->tag, .children = abbrev->children};
	if (!code)
		return true;
	for (const struct diereader_step *step = &reader->steps[abbrev->steps];
	     step->kind != STEP_END; step++) {
		bool wanted = step->kind >= STEP_SIBLING && step->kind <= STEP_RANGES;

		told.other |= step->kind == STEP_CODE_FIXED || step->kind == STEP_CODE_LEB;
		if (wanted ? !step_wanted(reader, step, &at, entry, &told)
			   : !step_over(reader, step, &at))
			return false;
	}
	entry->next = at;
	if (entry->sibling && entry->sibling < at)
		entry->sibling = NULL;
	tell_code(entry, &told);
	return true;
}
