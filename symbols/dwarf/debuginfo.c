// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libdw reads DWARF in all its forms, but answers each question from the start: dwarf_getscopes
 * reads a unit's entries again for each address. Here it is asked once for each unit and function.
 *
 * It also opens files that other files name. A name in a file may lead to a FIFO, so debugfile.c
 * finds the alternate file of dwz, and libdw is only given the result.
 */
#include "symbols/dwarf/debuginfo.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <endian.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/elf/debugfile.h"
#include "symbols/dwarf/debugimage.h"
#include "symbols/dwarf/debugtree.h"
#include "symbols/dwarf/debugunit.h"
#include "symbols/elf/elffile.h"
#include "symbols/base/leb128.h"
#include "symbols/dwarf/rangemap.h"
#include "symbols/dwarf/diereader.h"
#include "symbols/base/work.h"

#define LIBDW_UNIT   400u /* for a unit */
#define ABBREVS_EACH 4u	  /* bytes of abbreviations read per byte of them and of entries */
#define ABBREVS_MORE 65536u
#define TEXTS_LONG   ((uint64_t)64 << 20)
#define FIRST_ENTRY  16384u /* bytes of a unit that include its first entry, if it has one */

struct abbrevs { /* the budget of units_read for abbreviations */
	struct elf_section section;
	const uint8_t *entries_end; /* NULL: not known yet */
	size_t left;		    /* bytes that may be read */
};

struct debuginfo {
	struct elf_file *file;
	struct debugimage *image; /* NULL: libdw reads the file itself */
	Dwarf *dwarf;
	struct elf_file *alternate; /* dwz's file; NULL: none */
	struct debugimage *alternate_image;
	Dwarf *alternate_dwarf;
	bool lacks_alternate; /* it has not been found */
	struct debugunit *units;
	size_t nunits, room;
	struct rangemap ranges;
	struct debugunit_bounds bounds;
	uint64_t text_left; /* see there */
	struct elf_section abbrevs;
	size_t limit;
	size_t bytes;
	char path[PATH_MAX];
};

/* --- opening --------------------------------------------------------------------------------- */

/* -ENOENT: the file has none. */
static int sections_open(struct debuginfo *d, struct elf_file *file, struct debugimage **image,
			 Dwarf **out)
{
	size_t units = 0, bytes = d->bytes;
	int err = debugimage_cost(file, true, d->limit, &units, &bytes);

	if (err)
		return err;
	if (!units)
		return -ENOENT;
	err = debugimage_new(file, file == d->file, image);
	if (err && err != -ENOTSUP)
		return err;
	/* The sections in memory may have changed. */
	if (!err)
		file = debugimage_file(*image);
	units = 0;
	err = debugimage_cost(file, *image != NULL, d->limit, &units, &d->bytes);
	if (err)
		return err;
	errno = 0;
	*out = dwarf_begin_elf(elf_file_libelf(file), DWARF_C_READ, NULL);
	if (!*out)
		return errno == ENOMEM ? -ENOMEM : -EINVAL;
	d->bounds.size += units;
	return 0;
}

/*
 * Without entries of the common file, another one stands for it, with its strings, if it was found.
 * Then what refers to entries there has no name, and all else is told.
 */
static int stand_in_open(struct debuginfo *d)
{
	struct elf_section strings = {0};
	struct elf_file *file;
	int err;

	d->lacks_alternate = !d->alternate;
	if (d->alternate && elf_file_section(d->alternate, ".debug_str", &strings))
		strings.size = 0;
	err = debugimage_of_strings(elf_file_machine(d->file), &strings, &file);
	if (err)
		return err;
	elf_file_free(d->alternate);
	d->alternate = file;
	errno = 0;
	d->alternate_dwarf = dwarf_begin_elf(elf_file_libelf(file), DWARF_C_READ, NULL);
	if (d->alternate_dwarf)
		return 0;
	return errno == ENOMEM ? -ENOMEM : -EINVAL;
}

/* Opens the file that dwz moved what several files share to. 0 also if there is none. */
static int alternate_open(struct debuginfo *d, const struct debug_place *place)
{
	const char *name;
	const void *id;
	int err;

	if (!dwelf_dwarf_gnu_debugaltlink(d->dwarf, &name, &id))
		return 0;
	err = place ? debugfile_open_alt(d->file, place, &d->alternate) : -ENOENT;
	if (!err)
		err = sections_open(d, d->alternate, &d->alternate_image, &d->alternate_dwarf);
	if (err == -ENOENT)
		err = stand_in_open(d);
	if (!err)
		dwarf_setalt(d->dwarf, d->alternate_dwarf);
	d->bounds.alternate = d->alternate_dwarf;
	return err;
}

/* --- units ----------------------------------------------------------------------------------- */

/* Code is where the file has something to execute. */
static void bounds_set(struct debuginfo *d, const struct elf_file *file)
{
	const struct elf_load *loads;
	size_t count;

	d->text_left = TEXTS_LONG;
	d->bounds.text_left = &d->text_left;
	d->bounds.low = UINT64_MAX;
	loads = elf_file_loads(file, &count);
	for (size_t i = 0; i < count; i++) {
		if (!loads[i].exec)
			continue;
		if (loads[i].vaddr < d->bounds.low)
			d->bounds.low = loads[i].vaddr;
		if (loads[i].vaddr + loads[i].memsz > d->bounds.high)
			d->bounds.high = loads[i].vaddr + loads[i].memsz;
	}
	/* Code that the linker dropped begins at 0 or so, where a file may have its headers. */
	if (!d->bounds.low)
		d->bounds.low = 64;
}

static int unit_add(struct debuginfo *d, Dwarf_Die *die, size_t *left)
{
	int err;

	if (d->nunits >= RANGEMAP_NONE)
		return -EFBIG;
	err = debugtree_ranges(die, &d->bounds, (uint32_t)d->nunits, &d->ranges, left);
	if (err)
		return err;
	if (GROW(d->units, d->nunits, d->room, RANGEMAP_NONE))
		return -ENOMEM;
	d->units[d->nunits++] = (struct debugunit){.die = *die};
	return 0;
}

/* Bytes from there to the abbreviation of the code, or to the end of the table. */
static size_t abbrevs_before(const uint8_t *start, const uint8_t *end, uint64_t code)
{
	const uint8_t *at = start;
	uint64_t found, name, form;

	while (leb128_read(&at, end, &found) && found && found != code) {
		if (!leb128_skip(&at, end) || !bytes_skip(&at, end, 1))
			break;
		do {
			if (!leb128_read(&at, end, &name) || !leb128_read(&at, end, &form) ||
			    (form == DW_FORM_implicit_const && !leb128_skip(&at, end)))
				return (size_t)(at - start);
		} while (name || form);
	}
	return (size_t)(at - start);
}

/*
 * To read a unit's first entry, libdw reads all abbreviations in front of the entry's, for each
 * unit anew, and keeps them for each. Compilers put that one first, and dwz those of most entries,
 * so that the unit has more bytes than they have. -EFBIG: units that share a long table too many
 * times.
 */
static int abbrevs_count(struct abbrevs *a, Dwarf_Die *die, uint64_t offset)
{
	const uint8_t *at = die->addr;
	uint64_t code;
	size_t bytes;

	if (!a->entries_end)
		a->entries_end = diereader_section_end(die);
	if (!a->entries_end || at >= a->entries_end || !leb128_read(&at, a->entries_end, &code) ||
	    offset >= a->section.size)
		return 0;
	bytes = abbrevs_before(a->section.data + offset, a->section.data + a->section.size, code);
	if (bytes > a->left)
		return -EFBIG;
	a->left -= bytes;
	return 0;
}

static int units_read(struct debuginfo *d)
{
	size_t header, left = d->bounds.size + 65536;
	struct abbrevs abbrevs = {.section = d->abbrevs};
	Dwarf_Off at = 0, next, offset;
	Dwarf_Die die;
	int err = 0;

	abbrevs.left = ABBREVS_EACH * (d->abbrevs.size + d->bounds.size) + ABBREVS_MORE;
	debugimage_need(d->image, at, FIRST_ENTRY);
	while (!err && !dwarf_next_unit(d->dwarf, at, &next, &header, NULL, &offset, NULL, NULL,
					NULL, NULL)) {
		d->bytes += LIBDW_UNIT;
		if (d->bytes > d->limit)
			return -EFBIG;
		if (dwarf_offdie(d->dwarf, at + header, &die) &&
		    !(err = abbrevs_count(&abbrevs, &die, offset)) &&
		    (dwarf_tag(&die) == DW_TAG_compile_unit ||
		     dwarf_tag(&die) == DW_TAG_skeleton_unit))
			err = unit_add(d, &die, &left);
		if (next <= at)
			break;
		at = next;
		debugimage_need(d->image, at, FIRST_ENTRY);
	}
	if (!err)
		err = rangemap_build(&d->ranges);
	d->bytes += rangemap_bytes(&d->ranges) + d->room * sizeof(*d->units);
	return err;
}

/* By both names; the second is GNU's for compressed sections. A section may be missing. */
static void sections_find(struct debuginfo *d)
{
	const struct elf_file *file = d->image ? debugimage_file(d->image) : d->file;
	struct debugunit_bounds *b = &d->bounds;
	const struct {
		const char *name;
		struct elf_section *section;
	} wanted[] = {
		{"debug_line", &b->line},	  {"debug_line_str", &b->line_str},
		{"debug_str", &b->str},		  {"debug_ranges", &b->ranges},
		{"debug_rnglists", &b->rnglists}, {"debug_abbrev", &d->abbrevs},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char name[32];

		snprintf(name, sizeof(name), ".%s", wanted[i].name);
		if (!elf_file_section(file, name, wanted[i].section))
			continue;
		snprintf(name, sizeof(name), ".z%s", wanted[i].name);
		if (elf_file_section(file, name, wanted[i].section))
			*wanted[i].section = (struct elf_section){0};
	}
}

/*
 * The path as of now; for a file that was deleted it leads nowhere. None if neither root nor
 * bounds.user owns the file: its owner chooses the names of the split units, and could replace what
 * is at a name while libdw opens it.
 */
static void path_read(struct debuginfo *d)
{
	ssize_t length = -1;
	struct stat st;
	char link[64];

	d->bounds.path = NULL;
	if (elf_file_fd(d->file) >= 0 && !fstat(elf_file_fd(d->file), &st) &&
	    (!st.st_uid || st.st_uid == d->bounds.user)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", elf_file_fd(d->file));
		length = readlink(link, d->path, sizeof(d->path) - 1);
	}
	if (length <= 0)
		return;
	d->path[length] = '\0';
	d->bounds.path = d->path;
}

static int open_all(struct debuginfo *d, const struct debuginfo_options *options)
{
	struct elf_file *separate = NULL;
	int err;

	if (elf_file_type(d->file) == ET_REL)
		return -ENOTSUP;
	bounds_set(d, d->file);
	err = sections_open(d, d->file, &d->image, &d->dwarf);
	if (err == -ENOENT && options->place &&
	    !debugfile_open(d->file, options->place, &separate)) {
		elf_file_free(d->file);
		d->file = separate;
		err = sections_open(d, d->file, &d->image, &d->dwarf);
	}
	path_read(d);
	if (!err)
		err = alternate_open(d, options->place);
	if (!err)
		sections_find(d);
	d->bounds.image = d->image;
	if (!err)
		err = units_read(d);
	return err;
}

int debuginfo_new(struct elf_file *file, const struct debuginfo_options *options,
		  struct debuginfo **out)
{
	struct debuginfo *d = calloc(1, sizeof(*d));
	int err;

	*out = NULL;
	if (!d) {
		elf_file_free(file);
		return -ENOMEM;
	}
	d->file = file;
	elf_file_work(file)->cancel = options->cancel;
	d->limit = options->limit;
	d->bounds.cancel = options->cancel;
	d->bounds.user = options->user;
	d->bounds.bytes = &d->bytes;
	d->bytes = sizeof(*d);
	err = open_all(d, options);
	if (err) {
		debuginfo_free(d);
		return err;
	}
	*out = d;
	return 0;
}

void debuginfo_free(struct debuginfo *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < info->nunits; i++)
		debugunit_free(&info->units[i]);
	free(info->units);
	rangemap_free(&info->ranges);
	dwarf_end(info->dwarf);
	dwarf_end(info->alternate_dwarf);
	debugimage_free(info->image);
	debugimage_free(info->alternate_image);
	elf_file_free(info->file);
	elf_file_free(info->alternate);
	free(info);
}

bool debuginfo_lacks_alternate(const struct debuginfo *info)
{
	return info->lacks_alternate;
}

size_t debuginfo_bytes(const struct debuginfo *info)
{
	return info->bytes;
}

/*
 * A unit of DWARF 2 has one range, or none: code that GCC put aside (f.cold) is only in
 * .debug_aranges.
 */
static uint32_t unit_by_table(const struct debuginfo *d, uint64_t vaddr)
{
	Dwarf_Aranges *table;
	Dwarf_Arange *range;
	Dwarf_Off unit;
	size_t low;

	if (dwarf_getaranges(d->dwarf, &table, &low))
		return RANGEMAP_NONE;
	range = dwarf_getarange_addr(table, vaddr);
	if (!range || dwarf_getarangeinfo(range, NULL, NULL, &unit))
		return RANGEMAP_NONE;
	low = SEARCH(d->nunits, i, dwarf_dieoffset(&d->units[i].die) < unit);
	return low < d->nunits && dwarf_dieoffset(&d->units[low].die) == unit ? (uint32_t)low
									      : RANGEMAP_NONE;
}

/* The loaded unit of an address; NULL: there is none. */
static struct debugunit *unit_at(struct debuginfo *info, uint64_t vaddr)
{
	uint32_t at = rangemap_find(&info->ranges, vaddr);
	struct debugunit *unit;

	if (at == RANGEMAP_NONE)
		at = unit_by_table(info, vaddr);
	if (at == RANGEMAP_NONE)
		return NULL;
	unit = &info->units[at];
	if (!unit->loaded && debugunit_load(unit, &info->bounds))
		return NULL;
	return unit;
}

size_t debuginfo_find(struct debuginfo *info, uint64_t vaddr,
		      struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX])
{
	struct debugunit *unit = unit_at(info, vaddr);

	return unit ? debugunit_find(unit, vaddr, frames) : 0;
}

bool debuginfo_is_one_function(struct debuginfo *info, uint64_t a, uint64_t b)
{
	struct debugunit *unit = unit_at(info, a);

	return unit && unit == unit_at(info, b) && debugunit_is_one_function(unit, a, b);
}
