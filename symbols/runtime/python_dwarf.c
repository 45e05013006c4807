/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offsets of CPython's members by its debug information. Only structures at the top of units are
 * looked at, until all members are found, which the first few units of a real file have. libdw
 * bounds what it reads, but not its time: a hostile file can make it read the same bytes again and
 * again. So time is checked between calls, besides the counts.
 */
#include "symbols/runtime/python_offsets.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "symbols/base/clock.h"
#include "symbols/base/work.h"
#include "symbols/dwarf/debugimage.h"
#include "symbols/dwarf/diereader.h"
#include "symbols/elf/elffile.h"

#define BYTES_MAX  ((size_t)256 << 20)
#define TIME_MAX   (2 * CLOCK_NS_PER_SEC)
#define UNITS_MAX  16384u
#define ABBREV_MAX ((uint64_t)64 << 20) /* bytes of tables that units may have, all together */
#define TEXT_MAX   ((uint64_t)64 << 20)
#define ENTRIES	   65536u /* that are read besides one for each byte of the units */
#define TYPES_MAX  8u	  /* typedefs and qualifiers from a member to its structure */

#define FIELD(name) offsetof(struct python_layout, name)

enum type {
	TYPE_RUNTIME,
	TYPE_INTERP,
	TYPE_THREAD,
	TYPE_CFRAME,
	TYPE_FRAME_OBJECT,
	TYPE_FRAME,
	TYPE_CODE,
	TYPE_OBJECT,
	TYPE_TYPE,
	TYPE_VAR,
	TYPE_BYTES,
	TYPE_ASCII,
	TYPE_COMPACT,
	TYPES,
};

/* Structures without a name have a typedef, but no way leads there; they are known by two members.
 */
static const struct {
	const char *name; /* NULL: it never has one */
	const char *members[2];
} types[] = {
	[TYPE_RUNTIME] = {"pyruntimestate", {NULL, NULL}},
	[TYPE_INTERP] = {"_is", {NULL, NULL}},
	[TYPE_THREAD] = {"_ts", {NULL, NULL}},
	[TYPE_CFRAME] = {"_PyCFrame", {NULL, NULL}},
	[TYPE_FRAME_OBJECT] = {"_frame", {NULL, NULL}},
	[TYPE_FRAME] = {"_PyInterpreterFrame", {NULL, NULL}},
	[TYPE_CODE] = {"PyCodeObject", {"co_firstlineno", "co_filename"}},
	[TYPE_OBJECT] = {"_object", {NULL, NULL}},
	[TYPE_TYPE] = {"_typeobject", {NULL, NULL}},
	[TYPE_VAR] = {NULL, {"ob_base", "ob_size"}},
	[TYPE_BYTES] = {NULL, {"ob_base", "ob_sval"}},
	[TYPE_ASCII] = {NULL, {"hash", "state"}},
	[TYPE_COMPACT] = {NULL, {"utf8_length", "utf8"}},
};

static const struct {
	uint16_t field;
	uint8_t first, last; /* minor versions in which this is the path */
	uint8_t type;
	const char *path; /* members, each in the one in front; NULL: the size of the structure */
} wanted[] = {
	{FIELD(runtime_current), 8, 11, TYPE_RUNTIME, "gilstate.tstate_current"},
	{FIELD(runtime_interps), 8, 15, TYPE_RUNTIME, "interpreters.head"},
	{FIELD(interp_next), 8, 15, TYPE_INTERP, "next"},
	{FIELD(interp_threads), 8, 10, TYPE_INTERP, "tstate_head"},
	{FIELD(interp_threads), 11, 15, TYPE_INTERP, "threads.head"},
	{FIELD(tstate_next), 8, 15, TYPE_THREAD, "next"},
	{FIELD(tstate_interp), 8, 15, TYPE_THREAD, "interp"},
	{FIELD(tstate_thread), 8, 15, TYPE_THREAD, "thread_id"},
	{FIELD(tstate_native), 11, 15, TYPE_THREAD, "native_thread_id"},
	{FIELD(tstate_status), 12, 15, TYPE_THREAD, "_status"},
	{FIELD(tstate_cframe), 11, 12, TYPE_THREAD, "cframe"},
	{FIELD(tstate_frame), 8, 10, TYPE_THREAD, "frame"},
	{FIELD(tstate_frame), 11, 12, TYPE_CFRAME, "current_frame"},
	{FIELD(tstate_frame), 13, 15, TYPE_THREAD, "current_frame"},
	{FIELD(cframe_previous), 11, 12, TYPE_CFRAME, "previous"},
	{FIELD(tstate_top), 11, 12, TYPE_THREAD, "datastack_top"},
	{FIELD(tstate_limit), 11, 12, TYPE_THREAD, "datastack_limit"},
	{FIELD(frame_code), 8, 10, TYPE_FRAME_OBJECT, "f_code"},
	{FIELD(frame_code), 11, 12, TYPE_FRAME, "f_code"},
	{FIELD(frame_code), 13, 15, TYPE_FRAME, "f_executable"},
	{FIELD(frame_back), 8, 10, TYPE_FRAME_OBJECT, "f_back"},
	{FIELD(frame_back), 11, 15, TYPE_FRAME, "previous"},
	{FIELD(frame_instr), 8, 10, TYPE_FRAME_OBJECT, "f_lasti"},
	{FIELD(frame_instr), 11, 12, TYPE_FRAME, "prev_instr"},
	{FIELD(frame_instr), 13, 15, TYPE_FRAME, "instr_ptr"},
	{FIELD(frame_owner), 11, 15, TYPE_FRAME, "owner"},
	{FIELD(frame_entry), 11, 11, TYPE_FRAME, "is_entry"},
	{FIELD(code_firstlineno), 8, 15, TYPE_CODE, "co_firstlineno"},
	{FIELD(code_name), 8, 15, TYPE_CODE, "co_name"},
	{FIELD(code_filename), 8, 15, TYPE_CODE, "co_filename"},
	{FIELD(code_qualname), 11, 15, TYPE_CODE, "co_qualname"},
	{FIELD(code_linetable), 8, 9, TYPE_CODE, "co_lnotab"},
	{FIELD(code_linetable), 10, 15, TYPE_CODE, "co_linetable"},
	{FIELD(code_start), 11, 15, TYPE_CODE, "co_code_adaptive"},
	{FIELD(code_nlocalsplus), 11, 11, TYPE_CODE, "co_nlocalsplus"},
	{FIELD(code_stacksize), 11, 11, TYPE_CODE, "co_stacksize"},
	{FIELD(code_framesize), 12, 15, TYPE_CODE, "co_framesize"},
	{FIELD(object_type), 8, 15, TYPE_OBJECT, "ob_type"},
	{FIELD(type_name), 8, 15, TYPE_TYPE, "tp_name"},
	{FIELD(bytes_size), 8, 15, TYPE_VAR, "ob_size"},
	{FIELD(bytes_data), 8, 15, TYPE_BYTES, "ob_sval"},
	{FIELD(text_length), 8, 15, TYPE_ASCII, "length"},
	{FIELD(text_state), 8, 15, TYPE_ASCII, "state"},
	{FIELD(text_ascii), 8, 15, TYPE_ASCII, NULL},
	{FIELD(text_compact), 8, 15, TYPE_COMPACT, NULL},
};

#define WANTED (sizeof(wanted) / sizeof(*wanted))

struct layout_search {
	Dwarf *dwarf;
	Dwarf *alternate; /* NULL: none */
	struct diereader *reader;
	struct work *work;
	uint64_t deadline;	     /* of CLOCK_THREAD_CPUTIME_ID */
	uint64_t text_left;	     /* as in diereader_string_ends */
	uint64_t entries;	     /* that may still be read */
	uint64_t abbrev_size;	     /* of their section */
	unsigned int missing[TYPES]; /* members that were not found yet */
	unsigned int left;	     /* all together */
	int err;		     /* why it ended early; 0: it did not */
	bool found[WANTED];
	struct python_layout layout;
};

/* False: it has to end. Called for each entry that is read. */
static bool goes_on(struct layout_search *s)
{
	if (!s->err)
		s->err = work_add(s->work, 1);
	if (s->err || !s->entries)
		return false;
	s->entries--;
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) < s->deadline;
}

static const char *name_of(struct layout_search *s, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name && diereader_string_ends(s->reader, die, s->alternate, name, &s->text_left)
		       ? name
		       : NULL;
}

/* --- members --------------------------------------------------------------------------------- */

/* The next member with a name, from the first on when *started is false. NULL: there is none. */
static const char *member_next(struct layout_search *s, Dwarf_Die *parent, Dwarf_Die *die,
			       bool *started)
{
	while (goes_on(s)) {
		const char *name;

		if (*started ? dwarf_siblingof(die, die) : dwarf_child(parent, die))
			return NULL;
		*started = true;
		if (dwarf_tag(die) == DW_TAG_member && (name = name_of(s, die)))
			return name;
	}
	return NULL;
}

static bool member_find(struct layout_search *s, Dwarf_Die *parent, const char *name, size_t length,
			Dwarf_Die *out)
{
	bool started = false;
	const char *found;

	while ((found = member_next(s, parent, out, &started)))
		if (!strncmp(found, name, length) && !found[length])
			return true;
	return false;
}

/* The structure that is the type of a member. */
static bool member_type(struct layout_search *s, Dwarf_Die *die)
{
	for (unsigned int i = 0; i < TYPES_MAX && goes_on(s); i++) {
		Dwarf_Attribute attr;
		Dwarf_Die type;

		if (!dwarf_attr(die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type))
			return false;
		*die = type;
		switch (dwarf_tag(die)) {
		case DW_TAG_structure_type:
			return true;
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return false;
		}
	}
	return false;
}

/* The offset at the end of a path. The layout's own check bounds it. */
static bool path_follow(struct layout_search *s, Dwarf_Die structure, const char *path, __u32 *out)
{
	uint64_t sum = 0;

	for (;;) {
		size_t length = strcspn(path, ".");
		Dwarf_Attribute attr;
		Dwarf_Word offset;
		Dwarf_Die die;

		if (!member_find(s, &structure, path, length, &die) ||
		    !dwarf_attr(&die, DW_AT_data_member_location, &attr) ||
		    dwarf_formudata(&attr, &offset) || offset > UINT32_MAX / 4)
			return false;
		sum += offset;
		if (!path[length])
			break;
		if (!member_type(s, &die))
			return false;
		structure = die;
		path += length + 1;
	}
	*out = (__u32)sum;
	return sum <= UINT32_MAX;
}

/* --- structures ------------------------------------------------------------------------------ */

static void type_take(struct layout_search *s, Dwarf_Die *die, unsigned int type)
{
	unsigned int minor = s->layout.version >> 16 & 0xff;

	for (size_t i = 0; i < WANTED; i++) {
		Dwarf_Word size;
		Dwarf_Attribute attr;
		__u32 value;

		if (wanted[i].type != type || s->found[i] || minor < wanted[i].first ||
		    minor > wanted[i].last)
			continue;
		if (wanted[i].path) {
			if (!path_follow(s, *die, wanted[i].path, &value))
				continue;
		} else {
			if (!dwarf_attr(die, DW_AT_byte_size, &attr) ||
			    dwarf_formudata(&attr, &size) || size > UINT32_MAX)
				continue;
			value = (__u32)size;
		}
		memcpy((char *)&s->layout + wanted[i].field, &value, sizeof(value));
		s->found[i] = true;
		s->missing[type]--;
		s->left--;
	}
}

/* Which of those without a name it is; TYPES: none that is still missed. */
static unsigned int type_by_members(struct layout_search *s, Dwarf_Die *die)
{
	uint8_t seen[TYPES] = {0};
	bool started = false;
	Dwarf_Die member;
	const char *name;

	while ((name = member_next(s, die, &member, &started)))
		for (unsigned int i = 0; i < TYPES; i++)
			for (unsigned int j = 0; j < 2; j++)
				if (s->missing[i] && types[i].members[j] &&
				    !strcmp(types[i].members[j], name)) {
					seen[i] |= 1u << j;
					if (seen[i] == 3)
						return i;
				}
	return TYPES;
}

static unsigned int type_by_name(const struct layout_search *s, const char *name)
{
	for (unsigned int i = 0; i < TYPES; i++)
		if (s->missing[i] && types[i].name && !strcmp(types[i].name, name))
			return i;
	return TYPES;
}

static void structure_read(struct layout_search *s, Dwarf_Off offset)
{
	const char *name;
	unsigned int type;
	Dwarf_Die die;

	if (!goes_on(s) || !dwarf_offdie(s->dwarf, offset, &die))
		return;
	name = name_of(s, &die);
	if (name)
		type = type_by_name(s, name);
	else
		type = dwarf_hasattr(&die, DW_AT_name) ? TYPES : type_by_members(s, &die);
	if (type < TYPES)
		type_take(s, &die, type);
}

/* --- units ----------------------------------------------------------------------------------- */

/* Structures of C are at the top of a unit, wherever they are declared. */
static void unit_read(struct layout_search *s, Dwarf_Die *unit)
{
	struct diereader_entry entry;
	const uint8_t *at;
	size_t depth;

	s->err = diereader_new(unit, &s->reader);
	if (s->err) {
		s->reader = NULL;
		s->err = s->err == -ENOMEM ? -ENOMEM : 0;
		return;
	}
	at = unit->addr;
	if (diereader_read(s->reader, at, &entry) && entry.at == at && entry.children) {
		at = entry.next;
		for (depth = 1; depth && s->left && goes_on(s);) {
			if (!diereader_read(s->reader, at, &entry))
				break;
			at = entry.next;
			if (!entry.tag) {
				depth--;
				continue;
			}
			if (!entry.children)
				continue;
			if (depth == 1 && entry.tag == DW_TAG_structure_type)
				structure_read(s,
					       (Dwarf_Off)(entry.at - diereader_base(s->reader)));
			if (entry.sibling)
				at = entry.sibling;
			else
				depth++;
		}
	}
	diereader_free(s->reader);
	s->reader = NULL;
}

/* Abbreviations are counted as if each unit had all behind where its own begin. */
static void units_read(struct layout_search *s)
{
	uint64_t abbrevs = 0;
	Dwarf_Off at = 0, next, offset;
	size_t header;

	for (unsigned int i = 0; i < UNITS_MAX && s->left && goes_on(s); i++) {
		Dwarf_Die die;

		if (dwarf_next_unit(s->dwarf, at, &next, &header, NULL, &offset, NULL, NULL, NULL,
				    NULL) ||
		    next <= at)
			break;
		abbrevs += offset < s->abbrev_size ? s->abbrev_size - offset : 0;
		if (abbrevs > ABBREV_MAX)
			break;
		if (dwarf_offdie(s->dwarf, at + header, &die))
			unit_read(s, &die);
		at = next;
	}
}

/* --- files ----------------------------------------------------------------------------------- */

struct opened {
	struct debugimage *image; /* NULL: the file is read as it is */
	Dwarf *dwarf;
	size_t units; /* bytes of .debug_info */
	uint64_t abbrev_size;
};

static void opened_close(struct opened *o)
{
	dwarf_end(o->dwarf);
	debugimage_free(o->image);
}

/* *bytes: those of the files so far. */
static int opened_new(const struct elf_file *file, size_t *bytes, struct opened *o)
{
	struct elf_section abbrev;
	size_t expected = *bytes;
	int err;

	*o = (struct opened){0};
	if (elf_file_type(file) == ET_REL)
		return -ENOTSUP;
	err = debugimage_cost(file, true, BYTES_MAX, &o->units, &expected);
	if (err || !o->units)
		return err ? err : -ENOENT;
	err = debugimage_new(file, false, &o->image);
	if (err && err != -ENOTSUP)
		return err;
	if (!err)
		file = debugimage_file(o->image);
	/* The file may have changed. */
	o->units = 0;
	err = debugimage_cost(file, o->image != NULL, BYTES_MAX, &o->units, bytes);
	if (!err)
		err = elf_file_section(file, ".debug_abbrev", &abbrev);
	if (err == -ENOENT)
		err = elf_file_section(file, ".zdebug_abbrev", &abbrev);
	if (!err) {
		o->abbrev_size = abbrev.size;
		errno = 0;
		o->dwarf = dwarf_begin_elf(elf_file_libelf(file), DWARF_C_READ, NULL);
		if (!o->dwarf)
			err = errno == ENOMEM ? -ENOMEM : -EINVAL;
	}
	if (err)
		opened_close(o);
	return err;
}

/* libdw would open an alternate file that was not given, by the name that is in the file. */
static int search_run(struct layout_search *s, const struct elf_file *file,
		      const struct elf_file *alternate)
{
	struct opened main, other = {0};
	const char *name;
	const void *id;
	size_t bytes = 0;
	int err = opened_new(file, &bytes, &main);

	if (err)
		return err;
	if (dwelf_dwarf_gnu_debugaltlink(main.dwarf, &name, &id)) {
		err = alternate ? opened_new(alternate, &bytes, &other) : -ENOENT;
		if (!err && dwelf_dwarf_gnu_debugaltlink(other.dwarf, &name, &id))
			err = -EINVAL;
		if (!err)
			dwarf_setalt(main.dwarf, other.dwarf);
	}
	if (!err) {
		s->dwarf = main.dwarf;
		s->alternate = other.dwarf;
		s->abbrev_size = main.abbrev_size;
		s->entries = ENTRIES + main.units;
		units_read(s);
	}
	opened_close(&main);
	opened_close(&other);
	return err ? err : s->err;
}

int python_layout_dwarf(const struct elf_file *file, const struct elf_file *alternate,
			struct python_layout *io)
{
	struct layout_search s = {
		.work = elf_file_work(file), .text_left = TEXT_MAX, .layout = *io};
	unsigned int minor = io->version >> 16 & 0xff, all;
	int err;

	if (!python_layout_is_sane(io))
		return -EINVAL;
	for (size_t i = 0; i < WANTED; i++)
		if (minor >= wanted[i].first && minor <= wanted[i].last) {
			s.missing[wanted[i].type]++;
			s.left++;
		}
	all = s.left;
	s.deadline = clock_ns(CLOCK_THREAD_CPUTIME_ID) + TIME_MAX;
	err = search_run(&s, file, alternate);
	if (err)
		return err;
	if (s.left == all)
		return -ENOENT;
	python_layout_measure(&s.layout);
	if (!python_layout_is_sane(&s.layout))
		return -EINVAL;
	*io = s.layout;
	return (int)(all - s.left);
}
