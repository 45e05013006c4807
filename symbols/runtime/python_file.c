// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See python_file.h. Names are those of CPython's own symbols; stripped builds keep them in
 * .dynsym, since extension modules link to them. Only the cold part of the eval function is in
 * .symtab alone.
 */
#include "symbols/runtime/python_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/runtime/python_offsets.h"
#include "symbols/runtime/runtime_symbols.h"

enum wanted { WANT_RUNTIME, WANT_TYPE, WANT_VERSION, WANT_EVAL, WANT_COLD, WANTED };

static const char *const names[WANTED] = {
	[WANT_RUNTIME] = "_PyRuntime",
	[WANT_TYPE] = "PyCode_Type",
	[WANT_VERSION] = "Py_Version", /* from 3.11 on */
	[WANT_EVAL] = "_PyEval_EvalFrameDefault",
	[WANT_COLD] = "_PyEval_EvalFrameDefault.cold",
};

/* "libpython3.10.so.1.0" or "python3.9": a final release of that version. 0: neither. */
static uint32_t version_of_name(const char *name)
{
	const char *at = strstr(name, "python3.");
	unsigned long minor;

	if (!at)
		return 0;
	minor = strtoul(at + strlen("python3."), NULL, 10);
	return minor && minor <= 10 ? 0x030000f0u | (uint32_t)minor << 16 : 0;
}

bool python_file_read(const struct elf_file *file, const char *name, struct python_file *out)
{
	uint8_t debug[PYTHON_DEBUG_OFFSETS_SIZE];
	struct runtime_symbol found[WANTED];
	size_t size;

	*out = (struct python_file){0};
	runtime_symbols_find(file, names, WANTED, found);
	if (!found[WANT_RUNTIME].addr || !found[WANT_TYPE].addr)
		return false;
	out->runtime = found[WANT_RUNTIME].addr;
	out->type = found[WANT_TYPE].addr;
	for (int i = 0; i < 2; i++) {
		const uint64_t start = found[WANT_EVAL + i].addr,
			       end = start + found[WANT_EVAL + i].size;

		if (start && end > start) {
			out->eval[i][0] = start;
			out->eval[i][1] = end;
		}
	}
	if (!found[WANT_VERSION].addr)
		out->version = version_of_name(name);
	else if (runtime_symbols_data(file, found[WANT_VERSION].addr, &out->version,
				      sizeof(out->version)) != sizeof(out->version))
		out->version = 0;
	size = runtime_symbols_data(file, out->runtime, debug, sizeof(debug));
	out->err = python_layout_of(out->version, debug, size, &out->layout);
	/* From 3.13 on the runtime itself has told it. Without debug information the table holds.
	 */
	if (!out->err && (out->version >> 16 & 0xff) < 13)
		(void)python_layout_dwarf(file, NULL, &out->layout);
	return true;
}
