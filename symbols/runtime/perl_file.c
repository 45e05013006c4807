// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See perl_file.h. Perl exports its functions to its modules, also where it is not a library, and
 * its version as three bytes. Layouts may change with each even version, and never in
 * between. 5.32, 5.36, 5.40, 5.42 and 5.44 were measured with Perl's own headers, and with programs
 * that ran; what has changed between them, and where, is from the published sources.
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
	WANT_COP, /* without threads */
	WANT_STACK,
	WANT_CATCH,
	WANT_START,
	WANTED
};

static const char *const names[WANTED] = {
	[WANT_RUNOPS] = "Perl_runops_standard", [WANT_DEBUG] = "Perl_runops_debug",
	[WANT_FIRST] = "PL_curinterp",		[WANT_KEY] = "PL_thr_key",
	[WANT_REVISION] = "PL_revision",	[WANT_VERSION] = "PL_version",
	[WANT_SUBVERSION] = "PL_subversion",	[WANT_COP] = "PL_curcop",
	[WANT_STACK] = "PL_curstackinfo",	[WANT_CATCH] = "PL_top_env",
	[WANT_START] = "PL_start_env",
};

#define VERSION(minor) (5u << 16 | (minor) << 8)
#define OLDEST	       VERSION(30u)
#define NEWER	       VERSION(45u)

/* of 5.38 to 5.44 */
static const struct perl_layout newest = {
	.interp_cop = 208,
	.interp_stack = 224,
	.interp_catch = 776,
	.interp_start = 784,
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
	.stash_names = 60,
};

int perl_layout_of(uint32_t version, struct perl_layout *out)
{
	*out = (struct perl_layout){.version = version};
	/* Odd ones are those of its developers. */
	if (version < OLDEST || version >= NEWER || version & 0x100)
		return -ENOTSUP;
	*out = newest;
	out->version = version;
	if (version < VERSION(38u)) { /* two names of pads in the interpreter became larger */
		out->interp_catch -= 16;
		out->interp_start -= 16;
	}
	if (version < VERSION(36u)) { /* the names of a package came into its body */
		out->stash_last = 24;
		out->stash_name -= 32;
		out->stash_names -= 32;
	}
	if (version < VERSION(34u)) { /* bytes were put together */
		out->interp_cop += 16;
		out->interp_stack += 16;
		out->interp_catch += 16;
		out->interp_start += 16;
	}
	if (version < VERSION(32u)) { /* contexts had no index of the sub's context outside */
		out->context_size -= 8;
		out->context_code -= 8;
		out->context_depth -= 8;
		out->context_eval -= 8;
		out->context_catch -= 8;
	}
	return 0;
}

/* Without threads: puts the variables in the place of the interpreter's members. */
static int take_variables(const struct runtime_symbol found[WANTED], struct perl_file *out)
{
	uint32_t *const members[] = {&out->layout.interp_cop, &out->layout.interp_stack,
				     &out->layout.interp_catch, &out->layout.interp_start};

	out->first = found[WANT_COP].addr;
	for (int i = 0; i < 4; i++)
		if (found[WANT_COP + i].addr < out->first)
			out->first = found[WANT_COP + i].addr;
	for (int i = 0; i < 4; i++) {
		const uint64_t at = found[WANT_COP + i].addr - out->first;

		if (!out->first || at > UINT32_MAX)
			return -ENOTSUP;
		*members[i] = (uint32_t)at;
	}
	out->layout.global = 1;
	return 0;
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
	if (!out->key && !out->err)
		out->err = take_variables(found, out);
	if (!out->first || !out->eval[0][0])
		out->err = -ENOTSUP;
	return true;
}
