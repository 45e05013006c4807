// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See php_file.h. PHP writes into its extensions the number of the interface that they were
 * compiled for, and whether that has threads or debugging members, and refuses others; so each
 * number stands for one layout. The same text is in PHP itself.
 *
 * 8.2, 8.4, 8.5 and 8.6 (its third candidate) were measured with their headers, and with programs
 * that ran. The others are from the published sources and agree with the structures that phpspy has
 * for them.
 */
#include "symbols/runtime/php_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/limits.h"
#include "symbols/elf/elffile.h"
#include "symbols/runtime/runtime_symbols.h"

#define BUILD_PREFIX "API4" /* of PHP 7 and 8 */
#define BUILD_MAX    32

enum php_wanted { WANT_EXECUTE, WANT_GLOBALS, WANT_COLD, WANTED };

static const char *const names[WANTED] = {
	[WANT_EXECUTE] = "execute_ex",
	[WANT_GLOBALS] = "executor_globals", /* in builds without threads */
	[WANT_COLD] = "execute_ex.cold",
};

/* Members whose size and neighbours are the same in all versions are left out. */
static const struct known {
	__u32 api, version, current, last, opcodes, file;
} known[] = {
	{420200930, 0x0800, 488, 68, 72, 144},	{420210902, 0x0801, 488, 68, 72, 144},
	{420220829, 0x0802, 488, 80, 88, 152},	{420230831, 0x0803, 488, 76, 80, 144},
	{420240924, 0x0804, 488, 96, 104, 168}, {420250925, 0x0805, 512, 96, 104, 168},
	{420260924, 0x0806, 512, 96, 104, 168},
};

int php_layout_of(const char *build, struct php_layout *out)
{
	char *end;
	unsigned long api;

	memset(out, 0, sizeof(*out));
	if (strncmp(build, "API", 3) != 0)
		return -ENOTSUP;
	api = strtoul(build + 3, &end, 10);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct known *k = &known[i];

		if (k->api != api)
			continue;
		*out = (struct php_layout){.version = k->version,
					   .globals_current = k->current,
					   .function_last = k->last,
					   .function_opcodes = k->opcodes,
					   .function_file = k->file,
					   .function_start = k->file + 8,
					   .function_end = k->file + 12,
					   .function_size = k->file + 16};
		return strcmp(end, ",NTS") != 0 ? -ENOTSUP : 0;
	}
	return -ENOTSUP;
}

/* The identification, of which there may be several copies, but only one kind. */
static int read_build(const struct elf_file *file, char build[BUILD_MAX])
{
	uint64_t left = LIMIT_GO;
	struct elf_section data;
	const uint8_t *at, *end;

	build[0] = '\0';
	if (elf_file_section_within(file, ".rodata", &left, &data))
		return -ENOTSUP;
	end = data.data + data.size;
	at = data.data;
	while ((at = memmem(at, (size_t)(end - at), BUILD_PREFIX, strlen(BUILD_PREFIX)))) {
		const size_t size = strnlen((const char *)at, (size_t)(end - at));

		if (size < BUILD_MAX && size < (size_t)(end - at) && memchr(at, ',', size)) {
			if (build[0] && strcmp(build, (const char *)at) != 0)
				return -ENOTSUP;
			memcpy(build, at, size + 1);
		}
		at += size;
	}
	return build[0] ? 0 : -ENOTSUP;
}

bool php_file_read(const struct elf_file *file, struct php_file *out)
{
	struct runtime_symbol found[WANTED];
	char build[BUILD_MAX];

	*out = (struct php_file){0};
	runtime_symbols_find(file, names, WANTED, found);
	if (!found[WANT_EXECUTE].addr)
		return false;
	out->globals = found[WANT_GLOBALS].addr;
	for (int i = 0; i < 2; i++) {
		const struct runtime_symbol *code = &found[i ? WANT_COLD : WANT_EXECUTE];

		if (code->addr && code->size) {
			out->eval[i][0] = code->addr;
			out->eval[i][1] = code->addr + code->size;
		}
	}
	out->err = read_build(file, build);
	if (!out->err)
		out->err = php_layout_of(build, &out->layout);
	if (!out->globals || !out->eval[0][0])
		out->err = -ENOTSUP;
	return true;
}
