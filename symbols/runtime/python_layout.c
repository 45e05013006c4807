/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From 3.13 on, _PyRuntime starts with struct _Py_DebugOffsets: a cookie, PY_VERSION_HEX, and
 * 64-bit words with the sizes of structures and the offsets of their members. Each minor version
 * adds words in the middle. The numbers in this file were computed by offsetof from the headers of
 * each version (Include/internal/pycore_*.h), as the test does again with those that are installed.
 */
#include "symbols/runtime/python_offsets.h"

#include <errno.h>
#include <string.h>

#define MINOR_FIRST 8u
#define MINOR_LAST  15u
#define FINAL	    0xf0u /* the lowest byte of PY_VERSION_HEX: release level and serial */
#define COOKIE	    "xdebugpy"

#define FIELD(name) offsetof(struct python_layout, name)

static unsigned int minor_of(__u32 version)
{
	return version >> 24 == 3 ? version >> 16 & 0xff : 0;
}

static __u32 field_get(const struct python_layout *l, size_t field)
{
	__u32 value;

	memcpy(&value, (const char *)l + field, sizeof(value));
	return value;
}

static void field_set(struct python_layout *l, size_t field, __u32 value)
{
	memcpy((char *)l + field, &value, sizeof(value));
}

/* --- what each version has ------------------------------------------------------------------- */

#define STATE_MAX  (1u << 20) /* bytes of _PyRuntimeState and PyInterpreterState */
#define STRUCT_MAX 4096u
#define OBJECT_MAX 256u

enum part { PART_STATE, PART_THREAD, PART_FRAME, PART_CODE, PART_OBJECT };

static const __u32 part_max[] = {
	[PART_STATE] = STATE_MAX,	[PART_THREAD] = PYTHON_READ_MAX,
	[PART_FRAME] = PYTHON_READ_MAX, [PART_CODE] = PYTHON_READ_MAX,
	[PART_OBJECT] = OBJECT_MAX,
};

static const struct layout_member {
	uint16_t field;
	uint8_t part;
	uint8_t width; /* bytes; 0: its address is what is used */
	uint8_t first; /* minor version that has it first */
	uint8_t last;
	bool zero; /* 0 is a possible offset */
} members[] = {
	{FIELD(runtime_current), PART_STATE, 8, 8, 11, false},
	{FIELD(runtime_interps), PART_STATE, 8, 8, 15, false},
	{FIELD(interp_next), PART_STATE, 8, 8, 15, true},
	{FIELD(interp_threads), PART_STATE, 8, 8, 15, false},
	{FIELD(tstate_next), PART_THREAD, 8, 8, 15, false},
	{FIELD(tstate_interp), PART_THREAD, 8, 8, 15, false},
	{FIELD(tstate_thread), PART_THREAD, 8, 8, 15, false},
	{FIELD(tstate_native), PART_THREAD, 8, 11, 15, false},
	{FIELD(tstate_status), PART_THREAD, 4, 12, 15, false},
	{FIELD(tstate_cframe), PART_THREAD, 8, 11, 12, false},
	{FIELD(tstate_frame), PART_THREAD, 8, 8, 15, true},
	{FIELD(cframe_previous), PART_OBJECT, 8, 11, 12, false},
	{FIELD(tstate_top), PART_THREAD, 8, 11, 12, false},
	{FIELD(tstate_limit), PART_THREAD, 8, 11, 12, false},
	{FIELD(frame_code), PART_FRAME, 8, 8, 15, true},
	{FIELD(frame_back), PART_FRAME, 8, 8, 15, false},
	{FIELD(frame_instr), PART_FRAME, 8, 11, 15, false},
	{FIELD(frame_instr), PART_FRAME, 4, 8, 10, false},
	{FIELD(frame_owner), PART_FRAME, 1, 11, 15, false},
	{FIELD(frame_entry), PART_FRAME, 1, 11, 11, false},
	{FIELD(code_firstlineno), PART_CODE, 4, 8, 15, false},
	{FIELD(code_name), PART_CODE, 8, 8, 15, false},
	{FIELD(code_filename), PART_CODE, 8, 8, 15, false},
	{FIELD(code_qualname), PART_CODE, 8, 11, 15, false},
	{FIELD(code_linetable), PART_CODE, 8, 8, 15, false},
	{FIELD(code_start), PART_CODE, 0, 11, 15, false},
	{FIELD(code_nlocalsplus), PART_CODE, 4, 11, 11, false},
	{FIELD(code_stacksize), PART_CODE, 4, 11, 11, false},
	{FIELD(code_framesize), PART_CODE, 4, 12, 15, false},
	{FIELD(object_type), PART_OBJECT, 8, 8, 15, false},
	{FIELD(type_name), PART_OBJECT, 8, 8, 15, false},
	{FIELD(bytes_size), PART_OBJECT, 8, 8, 15, false},
	{FIELD(bytes_data), PART_OBJECT, 0, 8, 15, false},
	{FIELD(text_length), PART_OBJECT, 8, 8, 15, false},
	{FIELD(text_state), PART_OBJECT, 4, 8, 15, false},
	{FIELD(text_ascii), PART_OBJECT, 0, 8, 15, false},
	{FIELD(text_compact), PART_OBJECT, 0, 8, 15, false},
};

#define MEMBERS (sizeof(members) / sizeof(*members))

static bool member_is_in(const struct layout_member *member, unsigned int minor)
{
	return minor >= member->first && minor <= member->last;
}

/* An address is where the instructions begin, which are 2 bytes each, or characters of up to 4. */
static bool member_is_sane(const struct layout_member *member, __u32 offset)
{
	__u32 align = member->width ? member->width : 4;

	return (offset || member->zero) && offset % align == 0 &&
	       offset <= part_max[member->part] - member->width;
}

/* Bytes up to the last member of a part that is read. */
static __u32 part_size(const struct python_layout *l, unsigned int part)
{
	unsigned int minor = minor_of(l->version);
	__u32 size = 0;

	for (size_t i = 0; i < MEMBERS; i++) {
		__u32 end = field_get(l, members[i].field) + members[i].width;

		if (members[i].part == part && members[i].width && end > size &&
		    member_is_in(&members[i], minor))
			size = end;
	}
	return size;
}

/* Bytes up to the last member that identifies a function, or says how large its frames are. */
static __u32 code_head(const struct python_layout *l)
{
	const __u32 ends[] = {l->code_name + 8, l->code_firstlineno + 4, l->code_nlocalsplus + 4,
			      l->code_stacksize + 4, l->code_framesize + 4};
	__u32 size = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends[i] > size)
			size = ends[i];
	return size;
}

void python_layout_measure(struct python_layout *l)
{
	l->frame_size = part_size(l, PART_FRAME);
	l->code_size = part_size(l, PART_CODE);
	l->tstate_size = part_size(l, PART_THREAD);
	l->code_head = code_head(l);
}

/* Members are inside of what is read; part_max bounds that. */
static bool is_measured(const struct python_layout *l)
{
	struct python_layout measured = *l;

	python_layout_measure(&measured);
	return !memcmp(l, &measured, sizeof(measured));
}

bool python_layout_is_sane(const struct python_layout *l)
{
	unsigned int minor = minor_of(l->version);
	bool seen[sizeof(*l) / sizeof(__u32)] = {false};

	if (minor < MINOR_FIRST || minor > MINOR_LAST || (l->version & 0xff) != FINAL)
		return false;
	for (size_t i = 0; i < MEMBERS; i++)
		if (member_is_in(&members[i], minor)) {
			if (!member_is_sane(&members[i], field_get(l, members[i].field)))
				return false;
			seen[members[i].field / sizeof(__u32)] = true;
		}
	for (size_t i = 0; i < MEMBERS; i++)
		if (!seen[members[i].field / sizeof(__u32)] && field_get(l, members[i].field))
			return false;
	return is_measured(l);
}

/* --- our table ------------------------------------------------------------------------------- */

#define FRAME_OBJECT(instr)                                                                        \
	.tstate_next = 8, .tstate_interp = 16, .tstate_thread = 176, .tstate_frame = 24,           \
	.frame_code = 32, .frame_back = 24, .frame_instr = (instr), .code_firstlineno = 40,        \
	.code_name = 112, .code_filename = 104, .code_linetable = 120

#define OBJECTS(ascii, compact)                                                                    \
	.object_type = 8, .type_name = 24, .bytes_size = 16, .bytes_data = 32, .text_length = 16,  \
	.text_state = 32, .text_ascii = (ascii), .text_compact = (compact)

/* Up to 3.12 all of it, then what _PyRuntime does not tell. */
static const struct python_layout known[MINOR_LAST - MINOR_FIRST + 1] = {
	[8 - MINOR_FIRST] = {.runtime_current = 1368,
			     .runtime_interps = 32,
			     .interp_threads = 8,
			     FRAME_OBJECT(104),
			     OBJECTS(48, 72)},
	[9 - MINOR_FIRST] = {.runtime_current = 568,
			     .runtime_interps = 32,
			     .interp_threads = 8,
			     FRAME_OBJECT(104),
			     OBJECTS(48, 72)},
	[10 - MINOR_FIRST] = {.runtime_current = 568,
			      .runtime_interps = 32,
			      .interp_threads = 8,
			      FRAME_OBJECT(96),
			      OBJECTS(48, 72)},
	[11 - MINOR_FIRST] = {.runtime_current = 576,
			      .runtime_interps = 40,
			      .interp_threads = 16,
			      .tstate_next = 8,
			      .tstate_interp = 16,
			      .tstate_thread = 152,
			      .tstate_native = 160,
			      .tstate_cframe = 56,
			      .tstate_frame = 8,
			      .cframe_previous = 16,
			      .tstate_top = 304,
			      .tstate_limit = 312,
			      .frame_code = 32,
			      .frame_back = 48,
			      .frame_instr = 56,
			      .frame_owner = 69,
			      .frame_entry = 68,
			      .code_firstlineno = 72,
			      .code_name = 120,
			      .code_filename = 112,
			      .code_qualname = 128,
			      .code_linetable = 136,
			      .code_start = 184,
			      .code_nlocalsplus = 76,
			      .code_stacksize = 68,
			      OBJECTS(48, 72)},
	[12 - MINOR_FIRST] = {.runtime_interps = 40,
			      .interp_threads = 72,
			      .tstate_next = 8,
			      .tstate_interp = 16,
			      .tstate_thread = 136,
			      .tstate_native = 144,
			      .tstate_status = 24,
			      .tstate_cframe = 56,
			      .cframe_previous = 8,
			      .tstate_top = 240,
			      .tstate_limit = 248,
			      .frame_back = 8,
			      .frame_instr = 56,
			      .frame_owner = 70,
			      .code_firstlineno = 68,
			      .code_name = 120,
			      .code_filename = 112,
			      .code_qualname = 128,
			      .code_linetable = 136,
			      .code_start = 192,
			      .code_framesize = 76,
			      OBJECTS(40, 56)},
	[13 - MINOR_FIRST] = {.code_framesize = 76, .text_compact = 56},
	[14 - MINOR_FIRST] = {.code_framesize = 76, .text_compact = 56},
	[15 - MINOR_FIRST] = {.code_framesize = 76},
};

/* --- the table in _PyRuntime ----------------------------------------------------------------- */

#define MINOR_TOLD 13u /* the first version with a table */
#define MINORS	   (MINOR_LAST - MINOR_TOLD + 1)

enum { WORD_COOKIE, WORD_VERSION, WORD_THREADED };

struct layout_words { /* the numbers of words in the table of each minor version; 0: has none */
	uint8_t of[MINORS];
};

enum told_struct {
	TOLD_RUNTIME,
	TOLD_INTERP,
	TOLD_THREAD,
	TOLD_FRAME,
	TOLD_CODE,
	TOLD_OBJECT,
	TOLD_TYPE,
	TOLD_BYTES,
	TOLD_TEXT,
	TOLD_STRUCTS
};

static const struct {
	struct layout_words size;
	uint32_t max;
} told_structs[TOLD_STRUCTS] = {
	[TOLD_RUNTIME] = {{{3, 3, 3}}, STATE_MAX},    [TOLD_INTERP] = {{{6, 6, 6}}, STATE_MAX},
	[TOLD_THREAD] = {{{19, 22, 22}}, STRUCT_MAX}, [TOLD_FRAME] = {{{28, 31, 39}}, STRUCT_MAX},
	[TOLD_CODE] = {{{34, 39, 47}}, STRUCT_MAX},   [TOLD_OBJECT] = {{{44, 50, 58}}, OBJECT_MAX},
	[TOLD_TYPE] = {{{46, 52, 60}}, STRUCT_MAX},   [TOLD_BYTES] = {{{64, 74, 86}}, OBJECT_MAX},
	[TOLD_TEXT] = {{{67, 77, 89}}, OBJECT_MAX},
};

static const struct {
	uint16_t field;
	uint8_t in; /* enum told_struct */
	struct layout_words word;
} told[] = {
	{FIELD(runtime_interps), TOLD_RUNTIME, {{5, 5, 5}}},
	{FIELD(interp_next), TOLD_INTERP, {{8, 8, 8}}},
	{FIELD(interp_threads), TOLD_INTERP, {{9, 9, 9}}},
	{FIELD(tstate_next), TOLD_THREAD, {{21, 24, 24}}},
	{FIELD(tstate_interp), TOLD_THREAD, {{22, 25, 25}}},
	{FIELD(tstate_frame), TOLD_THREAD, {{23, 26, 26}}},
	{FIELD(tstate_thread), TOLD_THREAD, {{24, 27, 30}}},
	{FIELD(tstate_native), TOLD_THREAD, {{25, 28, 31}}},
	{FIELD(tstate_status), TOLD_THREAD, {{27, 30, 33}}},
	{FIELD(frame_back), TOLD_FRAME, {{29, 32, 40}}},
	{FIELD(frame_code), TOLD_FRAME, {{30, 33, 41}}},
	{FIELD(frame_instr), TOLD_FRAME, {{31, 34, 42}}},
	{FIELD(frame_owner), TOLD_FRAME, {{33, 36, 44}}},
	{FIELD(code_filename), TOLD_CODE, {{35, 40, 48}}},
	{FIELD(code_name), TOLD_CODE, {{36, 41, 49}}},
	{FIELD(code_qualname), TOLD_CODE, {{37, 42, 50}}},
	{FIELD(code_linetable), TOLD_CODE, {{38, 43, 51}}},
	{FIELD(code_firstlineno), TOLD_CODE, {{39, 44, 52}}},
	{FIELD(code_start), TOLD_CODE, {{43, 48, 56}}},
	{FIELD(object_type), TOLD_OBJECT, {{45, 51, 59}}},
	{FIELD(type_name), TOLD_TYPE, {{47, 53, 61}}},
	{FIELD(bytes_size), TOLD_BYTES, {{65, 75, 87}}},
	{FIELD(bytes_data), TOLD_BYTES, {{66, 76, 88}}},
	{FIELD(text_state), TOLD_TEXT, {{68, 78, 90}}},
	{FIELD(text_length), TOLD_TEXT, {{69, 79, 91}}},
	{FIELD(text_ascii), TOLD_TEXT, {{70, 80, 92}}},
	{FIELD(text_compact), TOLD_TEXT, {{0, 0, 93}}},
};

static uint64_t word_at(const uint8_t *table, unsigned int word)
{
	uint64_t value;

	memcpy(&value, table + word * sizeof(value), sizeof(value));
	return value;
}

static int told_read(unsigned int minor, const uint8_t *table, size_t size, struct python_layout *l)
{
	/* the last word that is read */
	static const struct layout_words last = {{70, 80, 93}};
	unsigned int at = minor - MINOR_TOLD;
	uint64_t sizes[TOLD_STRUCTS];

	if (size / sizeof(uint64_t) <= last.of[at] ||
	    memcmp(table, COOKIE, sizeof(uint64_t)) != 0 ||
	    word_at(table, WORD_VERSION) != l->version)
		return -EINVAL;
	if (word_at(table, WORD_THREADED) != 0)
		return word_at(table, WORD_THREADED) == 1 ? -ENOTSUP : -EINVAL;
	for (unsigned int i = 0; i < TOLD_STRUCTS; i++) {
		sizes[i] = word_at(table, told_structs[i].size.of[at]);
		if (sizes[i] > told_structs[i].max)
			return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		unsigned int word = told[i].word.of[at];

		if (!word)
			continue;
		if (word_at(table, word) >= sizes[told[i].in])
			return -EINVAL;
		field_set(l, told[i].field, (__u32)word_at(table, word));
	}
	python_layout_measure(l);
	return l->tstate_size <= sizes[TOLD_THREAD] && l->frame_size <= sizes[TOLD_FRAME] &&
			       l->code_size <= sizes[TOLD_CODE]
		       ? 0
		       : -EINVAL;
}

int python_layout_of(__u32 version, const uint8_t *debug_offsets, size_t size,
		     struct python_layout *out)
{
	unsigned int minor = minor_of(version);
	int err = 0;

	*out = (struct python_layout){0};
	if (minor < MINOR_FIRST || minor > MINOR_LAST || (version & 0xff) != FINAL)
		return -ENOTSUP;
	*out = known[minor - MINOR_FIRST];
	out->version = version;
	if (minor >= MINOR_TOLD)
		err = told_read(minor, debug_offsets, size, out);
	python_layout_measure(out);
	if (!err && !python_layout_is_sane(out))
		err = -EINVAL;
	if (err) {
		*out = (struct python_layout){0};
		return err;
	}
	return 0;
}
