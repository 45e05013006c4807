/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SYMBOLS_RUNTIME_LAYOUTS_H
#define STACKTOP_TESTS_SYMBOLS_RUNTIME_LAYOUTS_H

/* Layouts that programs print, and what an interpreter says about itself. */

#include "symbols/runtime/python_layout.h"
#include "tests/symbols/runtime/pythons.h"

#define LAYOUT_FIELDS (sizeof(struct python_layout) / sizeof(__u32))
#define LAYOUT_TABLE  1024u /* bytes of _PyRuntime */

static const char *const layout_names[] = {
	"version",	    "runtime_current", "runtime_interps",  "interp_next",
	"interp_threads",   "tstate_size",     "tstate_next",	   "tstate_interp",
	"tstate_thread",    "tstate_native",   "tstate_status",	   "tstate_cframe",
	"tstate_frame",	    "cframe_previous", "tstate_top",	   "tstate_limit",
	"frame_size",	    "frame_code",      "frame_back",	   "frame_instr",
	"frame_owner",	    "frame_entry",     "code_size",	   "code_head",
	"code_firstlineno", "code_name",       "code_filename",	   "code_qualname",
	"code_linetable",   "code_start",      "code_nlocalsplus", "code_stacksize",
	"code_framesize",   "object_type",     "type_name",	   "bytes_size",
	"bytes_data",	    "text_length",     "text_state",	   "text_ascii",
	"text_compact",
};

_Static_assert(sizeof(layout_names) / sizeof(*layout_names) == LAYOUT_FIELDS,
	       "a name for each field");

static inline void layouts_same(const struct python_layout *got,
				const struct python_layout *expected)
{
	__u32 a[LAYOUT_FIELDS], b[LAYOUT_FIELDS];

	memcpy(a, got, sizeof(a));
	memcpy(b, expected, sizeof(b));
	for (size_t i = 0; i < LAYOUT_FIELDS; i++)
		if (a[i] != b[i])
			fail_msg("%x: %s is %u, not %u", got->version, layout_names[i], a[i], b[i]);
}

static inline void facts_line(FILE *f, char *line, size_t size)
{
	assert_non_null(fgets(line, (int)size, f));
	line[strcspn(line, "\n")] = '\0';
}

static inline size_t facts_bytes(const char *hex, uint8_t *bytes, size_t room)
{
	size_t n = 0;

	for (; n < room && sscanf(hex + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
		;
	return n;
}

/* How much of threads, frames and code objects is read. */
static inline void layouts_sizes_set(struct python_layout *l)
{
	unsigned int minor = l->version >> 16 & 0xff;

	l->tstate_size = (minor < 11   ? l->tstate_thread
			  : minor < 13 ? l->tstate_limit
				       : l->tstate_native) +
			 8;
	l->frame_size = minor < 11 ? l->frame_instr + 4 : l->frame_owner + 1;
	l->code_size = l->code_linetable + 8;
	l->code_head = l->code_name + 8;
}

/* Of a program that prints a name and a number in each line; it must end without an error. */
static inline void layouts_print(const char *command, __u32 version, struct python_layout *out)
{
	__u32 fields[LAYOUT_FIELDS] = {version};
	char line[128];
	FILE *f = popen(command, "r"); /* NOLINT(cert-env33-c) */

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char name[64];
		__u32 value;
		size_t i = 0;

		assert_int_equal(sscanf(line, "%63s %u", name, &value), 2);
		while (i < LAYOUT_FIELDS && strcmp(layout_names[i], name) != 0)
			i++;
		assert_true(i < LAYOUT_FIELDS);
		fields[i] = value;
	}
	assert_int_equal(pclose(f), 0);
	memcpy(out, fields, sizeof(*out));
	layouts_sizes_set(out);
}

struct facts {
	unsigned int version;
	char include[PATH_MAX]; /* folder of headers */
	uint8_t table[LAYOUT_TABLE];
	char file[PATH_MAX]; /* that has _PyRuntime */
};

static inline void facts_read(const char *path, struct facts *facts)
{
	char line[2 * LAYOUT_TABLE + 2];
	FILE *f = pythons_run(path, "facts.py");

	facts_line(f, line, sizeof(line));
	assert_int_equal(sscanf(line, "%x", &facts->version), 1);
	facts_line(f, facts->include, sizeof(facts->include));
	facts_line(f, line, sizeof(line));
	assert_int_equal(facts_bytes(line, facts->table, LAYOUT_TABLE), LAYOUT_TABLE);
	facts_line(f, facts->file, sizeof(facts->file));
	assert_int_equal(pclose(f), 0);
}

#endif
