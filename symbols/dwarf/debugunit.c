// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * To find the calls inlined at an address, the entries of its whole function have to be read; to
 * find the function, those of its unit, but without what is inside of functions. So there are two
 * indexes: of a unit's functions, and of the calls inlined into one function, each made when an
 * address first falls into it.
 */
#include "symbols/dwarf/debugunit.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/dwarf/debugimage.h"
#include "symbols/dwarf/debugtree.h"
#include "symbols/dwarf/linetable.h"
#include "symbols/files/rootfile.h"
#include "symbols/dwarf/diereader.h"

#define ORIGINS_MAX 16	/* steps from an inlined call to its abstract instance and declaration */
#define LIBDW_FILE  32u /* bytes that libdw keeps for a file of a split unit */

/* Reads the unit of the entry, if it is in the file with units that are read on demand. */
static void unit_need(const struct debugunit *unit, Dwarf_Die *die)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(die->cu);
	Dwarf_Off at = dwarf_dieoffset(die) - dwarf_cuoffset(die), next;
	size_t header;

	if (unit->bounds->image && dwarf != unit->bounds->alternate &&
	    !dwarf_next_unit(dwarf, at, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL) &&
	    next > at)
		debugimage_need(unit->bounds->image, at, next - at);
}

/* --- split units ----------------------------------------------------------------------------- */

/*
 * libdw opens any file of that name, blocks on a FIFO, and maps the file, so that truncating it
 * would end the program. Here none is opened on a file system that does not answer. *bounds->bytes
 * grows by the size of a file that may be opened.
 */
static bool path_trusted(const struct debugunit_bounds *bounds, const char *dir, size_t length,
			 const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = name[0] == '/' ? snprintf(path, sizeof(path), "%s", name)
			       : snprintf(path, sizeof(path), "%.*s/%s", (int)length, dir, name);
	int held, err;

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	held = path[0] == '/' ? rootfile_hold_local(-1, path, 0) : rootfile_hold(-1, path, 0);
	if (held < 0)
		return held == -ENOENT;
	err = fstat(held, &st);
	close(held);
	if (err || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != bounds->user))
		return false;
	*bounds->bytes += (size_t)st.st_size;
	return true;
}

static const char *attr_string(const struct debugunit *unit, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *text = dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;

	return text && diereader_string_ends(unit->reader, die, unit->bounds->alternate, text,
					     unit->bounds->text_left)
		       ? text
		       : NULL;
}

/* Finds where the functions are: for a skeleton in another file, if that may be opened. */
static void body_find(struct debugunit *unit, const struct debugunit_bounds *bounds)
{
	const char *name = attr_string(unit, &unit->die, DW_AT_dwo_name), *slash;
	char package[PATH_MAX];
	Dwarf_Die body;
	int n;

	unit->body = unit->die;
	if (!name)
		name = attr_string(unit, &unit->die, DW_AT_GNU_dwo_name);
	slash = bounds->path ? strrchr(bounds->path, '/') : NULL;
	if (!name || !slash)
		return;
	n = snprintf(package, sizeof(package), "%s.dwp", bounds->path);
	if (n < 0 || (size_t)n >= sizeof(package) || !path_trusted(bounds, "", 0, package) ||
	    !path_trusted(bounds, bounds->path, (size_t)(slash - bounds->path), name) ||
	    (unit->dir && !path_trusted(bounds, unit->dir, strlen(unit->dir), name)))
		return;
	if (!dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &body, NULL, NULL, NULL) && body.cu)
		unit->body = body;
}

/* --- a unit ---------------------------------------------------------------------------------- */

static void functions_free(struct debugunit *unit)
{
	for (uint32_t i = 0; i < unit->nfunctions; i++) {
		rangemap_free(&unit->functions[i].ranges);
		free(unit->functions[i].calls);
	}
	free(unit->functions);
	unit->functions = NULL;
	unit->nfunctions = unit->room = 0;
	rangemap_free(&unit->ranges);
}

static int functions_load(struct debugunit *unit)
{
	int err;

	functions_free(unit);
	err = debugtree_read(unit, NULL);
	if (!err)
		err = rangemap_build(&unit->ranges);
	if (err)
		functions_free(unit);
	*unit->bounds->bytes +=
		rangemap_bytes(&unit->ranges) + unit->room * sizeof(*unit->functions);
	return err;
}

/* A table that cannot be read counts as empty. */
static int lines_load(struct debugunit *unit, const struct debugunit_bounds *bounds)
{
	struct linetable_source source = {.line = bounds->line,
					  .line_str = bounds->line_str,
					  .str = bounds->str,
					  .dir = unit->dir,
					  .low = bounds->low,
					  .high = bounds->high};
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	int err;

	if (!dwarf_attr(&unit->die, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &offset))
		return 0;
	err = linetable_new(&source, offset, &unit->lines);
	if (!err)
		*bounds->bytes += linetable_bytes(unit->lines);
	return err == -ENOMEM ? err : 0;
}

int debugunit_load(struct debugunit *unit, const struct debugunit_bounds *bounds)
{
	int err;

	unit->bounds = bounds;
	unit_need(unit, &unit->die);
	unit->dir = attr_string(unit, &unit->die, DW_AT_comp_dir);
	if (dwarf_lowpc(&unit->die, &unit->base))
		unit->base = 0;
	body_find(unit, bounds);
	err = diereader_new(&unit->body, &unit->reader);
	if (!err) {
		*bounds->bytes += diereader_bytes(unit->reader);
		err = functions_load(unit);
	} else if (err != -ENOMEM) {
		err = 0; /* a unit with unreadable entries may still have lines */
	}
	if (!err)
		err = lines_load(unit, bounds);
	if (err) {
		debugunit_free(unit);
		return err;
	}
	/* The files of split units are beside their entries; libdw keeps them. */
	if (unit->body.cu == unit->die.cu ||
	    dwarf_getsrcfiles(&unit->body, &unit->files, &unit->nfiles))
		unit->files = NULL;
	unit->loaded = true;
	*bounds->bytes += unit->nfiles * LIBDW_FILE;
	return 0;
}

void debugunit_free(struct debugunit *unit)
{
	functions_free(unit);
	diereader_free(unit->reader);
	linetable_free(unit->lines);
	*unit = (struct debugunit){.die = unit->die};
}

static int function_load(struct debugunit *unit, struct debugunit_function *f)
{
	int err = debugtree_read(unit, f);

	if (!err)
		err = rangemap_build(&f->ranges);
	if (err) {
		rangemap_free(&f->ranges);
		free(f->calls);
		f->calls = NULL;
		f->ncalls = f->room = 0;
		return err;
	}
	f->loaded = true;
	*unit->bounds->bytes += rangemap_bytes(&f->ranges) + f->room * sizeof(*f->calls);
	return 0;
}

/* --- names and places ------------------------------------------------------------------------ */

/* An entry may leave its name to its abstract instance, and that to a declaration. */
static const char *die_name(const struct debugunit *unit, Dwarf_Die *die)
{
	const char *name = NULL, *linkage;
	Dwarf_Attribute attr;
	Dwarf_Die at = *die, next;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		linkage = attr_string(unit, &at, DW_AT_linkage_name);
		if (!linkage)
			linkage = attr_string(unit, &at, DW_AT_MIPS_linkage_name);
		if (linkage)
			return linkage;
		if (!name)
			name = attr_string(unit, &at, DW_AT_name);
		if (!dwarf_attr(&at, DW_AT_abstract_origin, &attr) &&
		    !dwarf_attr(&at, DW_AT_specification, &attr))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		if (next.cu != at.cu)
			unit_need(unit, &next);
		at = next;
	}
	return name;
}

static void frame_place(const struct debugunit *unit, const char *file, unsigned int line,
			struct debuginfo_frame *frame)
{
	frame->file = file;
	/* A line table's paths have the unit's directory already, which may be relative itself. */
	frame->dir = unit->files && file && file[0] != '/' ? unit->dir : NULL;
	frame->line = line;
}

static void place_of_line(struct debugunit *unit, uint64_t vaddr, struct debuginfo_frame *frame)
{
	unsigned int line = 0;
	uint64_t file;
	size_t before;

	if (!unit->lines)
		return;
	before = linetable_bytes(unit->lines);
	if (linetable_find(unit->lines, vaddr, &file, &line))
		frame_place(unit, linetable_file(unit->lines, file), line, frame);
	*unit->bounds->bytes += linetable_bytes(unit->lines) - before;
}

static const char *file_of_call(struct debugunit *unit, uint64_t file)
{
	if (unit->files)
		return file < unit->nfiles ? dwarf_filesrc(unit->files, file, NULL, NULL) : NULL;
	return unit->lines ? linetable_file(unit->lines, file) : NULL;
}

static void place_of_call(struct debugunit *unit, Dwarf_Die *call, struct debuginfo_frame *frame)
{
	Dwarf_Word file = 0, line = 0;
	Dwarf_Attribute attr;
	bool known = dwarf_attr(call, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &file);

	if (!dwarf_attr(call, DW_AT_call_line, &attr) || dwarf_formudata(&attr, &line) ||
	    line > INT32_MAX)
		line = 0;
	frame_place(unit, known ? file_of_call(unit, file) : NULL, (unsigned int)line, frame);
}

static struct debugunit_function *function_at(struct debugunit *unit, uint64_t vaddr)
{
	uint32_t at = rangemap_find(&unit->ranges, vaddr);

	if (at == RANGEMAP_NONE && !unit->deep && unit->reader) {
		unit->deep = true;
		if (!functions_load(unit))
			at = rangemap_find(&unit->ranges, vaddr);
	}
	return at == RANGEMAP_NONE ? NULL : &unit->functions[at];
}

bool debugunit_is_one_function(struct debugunit *unit, uint64_t a, uint64_t b)
{
	const struct debugunit_function *f = function_at(unit, a);
	Dwarf_Off die = f ? f->die : 0;

	/* Looking for the second may read all functions anew. */
	f = f ? function_at(unit, b) : NULL;
	return f && f->die == die;
}

size_t debugunit_find(struct debugunit *unit, uint64_t vaddr,
		      struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX])
{
	struct debugunit_function *f = function_at(unit, vaddr);
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->body.cu);
	Dwarf_Die die;
	uint32_t call;
	size_t n = 0;

	frames[0] = (struct debuginfo_frame){0};
	place_of_line(unit, vaddr, &frames[0]);
	if (!f || (!f->loaded && function_load(unit, f)))
		return frames[0].file != NULL;
	for (call = rangemap_find(&f->ranges, vaddr);
	     call != RANGEMAP_NONE && n < DEBUGINFO_FRAMES_MAX - 1; call = f->calls[call].parent) {
		if (!dwarf_offdie(dwarf, f->calls[call].die, &die))
			break;
		frames[n++].name = die_name(unit, &die);
		frames[n] = (struct debuginfo_frame){0};
		place_of_call(unit, &die, &frames[n]);
	}
	if (dwarf_offdie(dwarf, f->die, &die))
		frames[n].name = die_name(unit, &die);
	return n + 1;
}
