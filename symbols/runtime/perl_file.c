// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See perl_file.h. Perl exports its functions to its modules, also where it is not a library, and
 * its version as three bytes. Layouts may change with each even version, and never in between;
 * those here were measured with Perl's own headers.
 */
#include "symbols/runtime/perl_file.h"

#include <errno.h>
#include <string.h>

#include "symbols/runtime/runtime_symbols.h"

enum perl_wanted {
	WANT_RUNOPS,
	WANT_DEBUG, /* under the debugger */
	WANT_FIRST,
	WANT_KEY,
	WANT_REVISION,
	WANT_VERSION,
	WANT_SUBVERSION,
	WANTED
};

static const char *const names[WANTED] = {
	[WANT_RUNOPS] = "Perl_runops_standard", [WANT_DEBUG] = "Perl_runops_debug",
	[WANT_FIRST] = "PL_curinterp",		[WANT_KEY] = "PL_thr_key",
	[WANT_REVISION] = "PL_revision",	[WANT_VERSION] = "PL_version",
	[WANT_SUBVERSION] = "PL_subversion",
};

static const struct perl_layout known[] = {
	{.version = 0x052400,
	 .interp_cop = 208,
	 .interp_stack = 224,
	 .interp_catch = 760,
	 .interp_start = 768,
	 .context_size = 104,
	 .context_cop = 16,
	 .context_retop = 48,
	 .context_code = 72,
	 .context_depth = 80,
	 .context_eval = 88,
	 .context_catch = 96,
	 .code_stash = 32,
	 .code_root = 48,
	 .code_name = 56,
	 .code_file = 64,
	 .code_flags = 92,
	 .code_depth = 96,
	 .cop_line = 36,
	 .cop_file = 48,
	 .symbol_stash = 40,
	 .symbol_name = 32,
	 .stash_name = 32,
	 .stash_names = 60},
};

int perl_layout_of(uint32_t version, struct perl_layout *out)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].version >> 8 != version >> 8)
			continue;
		*out = known[i];
		out->version = version;
		return 0;
	}
	*out = (struct perl_layout){.version = version};
	return -ENOTSUP;
}

bool perl_file_read(const struct elf_file *file, struct perl_file *out)
{
	struct runtime_symbol found[WANTED];
	uint32_t version = 0;

	*out = (struct perl_file){0};
	runtime_symbols_find(file, names, WANTED, found);
	if (!found[WANT_RUNOPS].addr)
		return false;
	for (int i = 0; i < 2; i++) {
		const struct runtime_symbol *code = &found[WANT_RUNOPS + i];

		if (code->addr && code->size) {
			out->eval[i][0] = code->addr;
			out->eval[i][1] = code->addr + code->size;
		}
	}
	for (int i = WANT_REVISION; i <= WANT_SUBVERSION; i++) {
		uint8_t part = 0;

		if (!found[i].addr || !runtime_symbols_data(file, found[i].addr, &part, 1)) {
			version = 0;
			break;
		}
		version = version << 8 | part;
	}
	out->err = perl_layout_of(version, &out->layout);
	out->key = found[WANT_KEY].addr;
	out->first = found[WANT_FIRST].addr;
	if (!out->key || !out->first || !out->eval[0][0])
		out->err = -ENOTSUP;
	return true;
}
