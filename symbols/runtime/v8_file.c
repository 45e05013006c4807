// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See v8_file.h. The constants are symbols of int in .dynsym. Those of a class's member are called
 * v8dbg_class_CLASS__MEMBER__TYPE, where the type was spelled in several ways; some members had
 * other names before. Members that no constant has stand beside one that has.
 */
#include "symbols/runtime/v8_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/limits.h"
#include "symbols/elf/arch.h"
#include "symbols/elf/elffile.h"

#define PREFIX	   "v8dbg_"
#define WORD	   8
#define MEMBER_MAX 256 /* of an offset */
#define KINDS	   17  /* of JSFunction: constructors have their own */

enum constant {
	SMI_SHIFT,
	SMI_TAG,
	HEAP_TAG,
	HEAP_TAG_MASK,
	TAGGED_SIZE,
	FP_CONTEXT,
	FP_FUNCTION,
	NOT_STRING,
	FORM_MASK,
	ENCODING_MASK,
	ONE_BYTE,
	FORM_SEQUENTIAL,
	FORM_CONS,
	FORM_EXTERNAL,
	FORM_SLICED,
	FORM_THIN,
	MAP_TYPE,
	FUNCTION_TYPE,
	FUNCTION_LAST, /* from V8 12 on */
	CONTEXT_FIRST,
	CONTEXT_LAST,
	SHARED_TYPE,
	SCRIPT_TYPE,
	SCOPE_TYPE,
	FUNCTION_SHARED,
	SHARED_NAME,
	SHARED_SCRIPT,
	SHARED_LENGTH,
	SHARED_FLAGS,
	SCOPE_LOCALS,
	SCOPE_VARS,
	SCRIPT_SOURCE,
	SCRIPT_NAME,
	SCRIPT_LINE_ENDS,
	STRING_LENGTH,
	ONE_BYTE_CHARS,
	TWO_BYTE_CHARS,
	CONS_FIRST,
	CONS_SECOND,
	THIN_ACTUAL,
	SLICED_PARENT,
	SLICED_OFFSET,
	EXTERNAL_RESOURCE,
	CONSTANTS
};

#define FIXED	 1 /* the value is understood only as it is here */
#define OPTIONAL 2

static const struct {
	const char *name; /* "__" at its end: any type may follow */
	enum constant constant;
	int flags;
	int32_t value; /* of FIXED */
} wanted[] = {
	{"SmiShiftSize", SMI_SHIFT, FIXED, 31},
	{"SmiTag", SMI_TAG, FIXED, 0},
	{"HeapObjectTag", HEAP_TAG, FIXED, V8_TAG},
	{"HeapObjectTagMask", HEAP_TAG_MASK, FIXED, V8_TAG_MASK},
	{"TaggedSize", TAGGED_SIZE, FIXED, WORD},
	{"off_fp_context_or_frame_type", FP_CONTEXT, FIXED, V8_CONTEXT},
	{"off_fp_function", FP_FUNCTION, FIXED, V8_FUNCTION},
	{"FirstNonstringType", NOT_STRING, FIXED, V8_NOT_STRING},
	{"StringRepresentationMask", FORM_MASK, FIXED, V8_FORM},
	{"StringEncodingMask", ENCODING_MASK, FIXED, V8_ONE_BYTE},
	{"OneByteStringTag", ONE_BYTE, FIXED, V8_ONE_BYTE},
	{"SeqStringTag", FORM_SEQUENTIAL, FIXED, V8_SEQUENTIAL},
	{"ConsStringTag", FORM_CONS, FIXED, V8_CONS},
	{"ExternalStringTag", FORM_EXTERNAL, FIXED, V8_EXTERNAL},
	{"SlicedStringTag", FORM_SLICED, FIXED, V8_SLICED},
	{"ThinStringTag", FORM_THIN, FIXED, V8_THIN},
	{"class_Map__instance_type__", MAP_TYPE, 0, 0},
	{"type_JSFunction__JS_FUNCTION_TYPE", FUNCTION_TYPE, 0, 0},
	{"LastJSFunctionType", FUNCTION_LAST, OPTIONAL, 0},
	{"FirstContextType", CONTEXT_FIRST, 0, 0},
	{"LastContextType", CONTEXT_LAST, 0, 0},
	{"type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", SHARED_TYPE, 0, 0},
	{"type_Script__SCRIPT_TYPE", SCRIPT_TYPE, 0, 0},
	{"type_ScopeInfo__SCOPE_INFO_TYPE", SCOPE_TYPE, 0, 0},
	{"class_JSFunction__shared__", FUNCTION_SHARED, 0, 0},
	{"class_SharedFunctionInfo__name_or_scope_info__", SHARED_NAME, 0, 0},
	{"class_SharedFunctionInfo__script_or_debug_info__", SHARED_SCRIPT, 0, 0},
	{"class_SharedFunctionInfo__script__", SHARED_SCRIPT, 0, 0},
	{"class_SharedFunctionInfo__raw_script__", SHARED_SCRIPT, 0, 0},
	{"class_SharedFunctionInfo__length__", SHARED_LENGTH, 0, 0},
	{"class_SharedFunctionInfo__flags__", SHARED_FLAGS, 0, 0},
	{"scopeinfo_idx_ncontextlocals", SCOPE_LOCALS, 0, 0},
	{"scopeinfo_idx_first_vars", SCOPE_VARS, 0, 0},
	{"class_Script__source__", SCRIPT_SOURCE, 0, 0},
	{"class_Script__name__", SCRIPT_NAME, 0, 0},
	{"class_Script__line_ends__", SCRIPT_LINE_ENDS, 0, 0},
	{"class_String__length__", STRING_LENGTH, 0, 0},
	{"class_SeqOneByteString__chars__", ONE_BYTE_CHARS, 0, 0},
	{"class_SeqTwoByteString__chars__", TWO_BYTE_CHARS, 0, 0},
	{"class_ConsString__first__", CONS_FIRST, 0, 0},
	{"class_ConsString__second__", CONS_SECOND, 0, 0},
	{"class_ThinString__actual__", THIN_ACTUAL, 0, 0},
	{"class_SlicedString__parent__", SLICED_PARENT, 0, 0},
	{"class_SlicedString__offset__", SLICED_OFFSET, 0, 0},
	{"class_ExternalString__resource__", EXTERNAL_RESOURCE, 0, 0},
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

struct v8_constants {
	bool known[CONSTANTS];
	int32_t value[CONSTANTS];
};

/* --- constants ------------------------------------------------------------------------------- */

struct v8_constants *v8_constants_new(void)
{
	return calloc(1, sizeof(struct v8_constants));
}

void v8_constants_free(struct v8_constants *c)
{
	free(c);
}

static bool is_called(const char *name, const char *want)
{
	const size_t length = strlen(want);

	return length > 2 && !strcmp(want + length - 2, "__") ? !strncmp(name, want, length)
							      : !strcmp(name, want);
}

void v8_constants_note(struct v8_constants *c, const char *name, int32_t value)
{
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return;
	name += strlen(PREFIX);
	for (size_t i = 0; i < WANTED; i++) {
		if (!is_called(name, wanted[i].name))
			continue;
		c->known[wanted[i].constant] = true;
		c->value[wanted[i].constant] = value;
	}
}

/*
 * The name of one that is missing, is another than is understood, or is no offset; NULL: none.
 */
static const char *find_missing(const struct v8_constants *c)
{
	for (size_t i = 0; i < WANTED; i++) {
		const enum constant constant = wanted[i].constant;
		const int32_t value = c->value[constant];
		const bool offset = strncmp(wanted[i].name, "class_", 6) == 0;

		if (!c->known[constant] && wanted[i].flags & OPTIONAL)
			continue;
		if (!c->known[constant] || (wanted[i].flags & FIXED && value != wanted[i].value) ||
		    (!(wanted[i].flags & FIXED) && value <= 0) || (offset && value > MEMBER_MAX))
			return wanted[i].name;
	}
	return NULL;
}

/* Before V8 12 there is no constant; of the kinds that follow JSFunction some have come since. */
static uint32_t last_function(const struct v8_constants *c)
{
	return (uint32_t)(c->known[FUNCTION_LAST] ? c->value[FUNCTION_LAST]
						  : c->value[FUNCTION_TYPE] + KINDS - 1);
}

static uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

int v8_constants_layout(const struct v8_constants *c, struct v8_layout *out, const char **missing)
{
	const int32_t *v = c->value;

	*out = (struct v8_layout){0};
	*missing = find_missing(c);
	if (*missing)
		return -ENOTSUP;
	*out = (struct v8_layout){
		.map_type = (uint32_t)v[MAP_TYPE],
		.function_first = (uint32_t)v[FUNCTION_TYPE],
		.function_last = last_function(c),
		.context_first = (uint32_t)v[CONTEXT_FIRST],
		.context_last = (uint32_t)v[CONTEXT_LAST],
		.shared_type = (uint32_t)v[SHARED_TYPE],
		.script_type = (uint32_t)v[SCRIPT_TYPE],
		.scope_type = (uint32_t)v[SCOPE_TYPE],
		.function_shared = (uint32_t)v[FUNCTION_SHARED],
		.shared_name = (uint32_t)v[SHARED_NAME],
		.shared_script = (uint32_t)v[SHARED_SCRIPT],
		.shared_counts = (uint32_t)v[SHARED_LENGTH],
		.shared_id = (uint32_t)v[SHARED_FLAGS] + 4, /* function_literal_id */
		.scope_locals = (uint32_t)v[SCOPE_LOCALS],
		.scope_vars = (uint32_t)v[SCOPE_VARS],
		/* The position of the function stands before the names if there is room. */
		.scope_start =
			v[SCOPE_VARS] - v[SCOPE_LOCALS] == 3 ? (uint32_t)v[SCOPE_LOCALS] + 1 : 0,
		.script_source = (uint32_t)v[SCRIPT_SOURCE],
		.script_name = (uint32_t)v[SCRIPT_NAME],
		.script_line = (uint32_t)v[SCRIPT_NAME] + WORD, /* line_offset */
		.string_length = (uint32_t)v[STRING_LENGTH],
		.string_chars = (uint32_t)v[ONE_BYTE_CHARS],
		.cons_first = (uint32_t)v[CONS_FIRST],
		.cons_second = (uint32_t)v[CONS_SECOND],
		.thin_actual = (uint32_t)v[THIN_ACTUAL],
		.sliced_parent = (uint32_t)v[SLICED_PARENT],
		.sliced_offset = (uint32_t)v[SLICED_OFFSET],
		.external_data = (uint32_t)v[EXTERNAL_RESOURCE] + WORD, /* resource_data */
	};
	out->shared_size = most(most(out->shared_name, out->shared_script) + WORD,
				most(out->shared_counts, out->shared_id) + WORD);
	out->script_size = most(out->script_source, out->script_line) + WORD;
	if (v[ONE_BYTE_CHARS] != v[TWO_BYTE_CHARS])
		*missing = "class_SeqTwoByteString__chars__";
	if (out->function_last < out->function_first ||
	    out->function_last - out->function_first > 2 * KINDS)
		*missing = "LastJSFunctionType";
	if (out->context_last < out->context_first)
		*missing = "LastContextType";
	if (*missing)
		*out = (struct v8_layout){0};
	return *missing ? -ENOTSUP : 0;
}

/* --- the file -------------------------------------------------------------------------------- */

enum v8_symbol { CODE, CODE_SIZE, MAJOR, MINOR, PLACES };

static const char *const places[PLACES] = {
	[CODE] = "v8_Default_embedded_blob_code_",
	[CODE_SIZE] = "v8_Default_embedded_blob_code_size_",
	[MAJOR] = "_ZN2v88internal7Version6major_E",
	[MINOR] = "_ZN2v88internal7Version6minor_E",
};

struct reader {
	const struct elf_file *file;
	struct v8_constants *constants;
	uint64_t places[PLACES]; /* addresses; 0: not found */
};

/* Bytes of the file at an ELF address. */
static bool read_at(const struct elf_file *file, uint64_t addr, void *to, size_t size)
{
	const struct elf_load *loads;
	size_t n;

	loads = elf_file_loads(file, &n);
	for (size_t i = 0; i < n; i++) {
		const uint64_t in = addr - loads[i].vaddr;

		if (addr >= loads[i].vaddr && in < loads[i].filesz && size <= loads[i].filesz - in)
			return !elf_file_read(file, loads[i].offset + in, to, size);
	}
	return false;
}

static bool read_int(const struct elf_file *file, uint64_t addr, int32_t *to)
{
	const struct elf_load *loads;
	size_t n;

	if (read_at(file, addr, to, sizeof(*to)))
		return true;
	*to = 0; /* in .bss */
	loads = elf_file_loads(file, &n);
	for (size_t i = 0; i < n; i++)
		if (addr >= loads[i].vaddr && addr - loads[i].vaddr < loads[i].memsz)
			return true;
	return false;
}

static void note_symbol(struct reader *r, const Elf64_Sym *sym, const char *name)
{
	int32_t value;

	if (name[0] == 'v' && !strncmp(name, PREFIX, strlen(PREFIX))) {
		if (read_int(r->file, sym->st_value, &value))
			v8_constants_note(r->constants, name, value);
		return;
	}
	for (int i = 0; i < PLACES; i++)
		if (strcmp(name, places[i]) == 0)
			r->places[i] = sym->st_value;
}

/* One symbol table; false: none of V8's constants are among its names. */
static bool read_table(struct reader *r, const char *name, const char *must)
{
	uint64_t left = LIMIT_GO;
	struct elf_section table, strings;
	Elf64_Sym sym;

	if (elf_file_section_within(r->file, name, &left, &table) ||
	    elf_file_section_at_within(r->file, table.link, &left, &strings) || !strings.size ||
	    strings.data[strings.size - 1] ||
	    !memmem(strings.data, strings.size, must, strlen(must)))
		return false;
	for (size_t at = 0; table.size - at >= sizeof(sym); at += sizeof(sym)) {
		memcpy(&sym, table.data + at, sizeof(sym));
		if (sym.st_shndx != SHN_UNDEF && sym.st_name < strings.size)
			note_symbol(r, &sym, (const char *)strings.data + sym.st_name);
	}
	return true;
}

static void find_code(const struct reader *r, struct v8_file *out)
{
	const uint64_t start = r->places[CODE], at = r->places[CODE_SIZE];
	uint32_t size;

	if (!start || !at || !read_at(r->file, at, &size, sizeof(size)) || size > LIMIT_MIB(64))
		return;
	out->code[0] = start;
	out->code[1] = start + size;
}

bool v8_file_read(const struct elf_file *file, struct v8_file *out)
{
	struct reader r = {.file = file};
	int32_t major = 0, minor = 0;

	*out = (struct v8_file){0};
	r.constants = v8_constants_new();
	if (!r.constants || !read_table(&r, ".dynsym", PREFIX)) {
		v8_constants_free(r.constants);
		return false;
	}
	if (!r.places[CODE])
		read_table(&r, ".symtab", places[CODE_SIZE]);
	out->err = v8_constants_layout(r.constants, &out->layout, &out->missing);
	v8_constants_free(r.constants);
	if (r.places[MAJOR] && r.places[MINOR] && read_int(file, r.places[MAJOR], &major) &&
	    read_int(file, r.places[MINOR], &minor)) {
		out->major = r.places[MAJOR];
		out->minor = r.places[MINOR];
	}
	out->layout.version = (uint32_t)major << 16 | ((uint32_t)minor & 0xffff);
	find_code(&r, out);
	return true;
}
