/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SYMBOLS_RUNTIME_DEBUG_OFFSETS_H
#define STACKTOP_TESTS_SYMBOLS_RUNTIME_DEBUG_OFFSETS_H

/*
 * The tables at the start of _PyRuntime of Debian's builds of three versions, and the layouts that
 * layout_probe.h prints with their headers.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/python_layout.h"

#define COOKIE 0x7970677562656478

static const uint64_t words_3_13[] = {
	COOKIE, 0x30d12f0, 0,	 283408, 608,  632,  194984, 7272, 7264, 7344, 7400, 7656, 7640,
	7648,	16,	   7752, 0,	 7768, 7760, 312,    0,	   8,	 16,   72,   152,  160,
	232,	32,	   80,	 8,	 0,    56,   72,     70,   208,	 112,  120,  128,  136,
	68,	52,	   96,	 104,	 200,  16,   8,	     416,  24,	 88,   168,  32,   24,
	16,	40,	   24,	 16,	 48,   32,   40,     24,   16,	 32,   16,   24,   40,
	16,	32,	   64,	 32,	 16,   40,   240,    200};

static const uint64_t words_3_14[] = {
	COOKIE, 0x30e0af0, 0,	 316616, 784,  808, 225864, 7280, 7272, 7344, 7360, 7408,
	7688,	7672,	   7680, 16,	 7784, 0,   7800,   7792, 7992, 0,    832,  0,
	8,	16,	   72,	 152,	 160,  232, 32,	    88,	  8,	0,    56,   80,
	74,	64,	   0,	 216,	 112,  120, 128,    136,  68,	52,   96,   104,
	208,	0,	   16,	 8,	 416,  24,  88,	    168,  40,	32,   16,   40,
	24,	16,	   200,	 24,	 40,   32,  48,	    32,	  40,	24,   16,   32,
	16,	24,	   40,	 16,	 32,   64,  32,	    16,	  40,	264,  192,  160,
	24,	72,	   67,	 0,	 8,    24,  304,    8076, 0,	4,    512};

static const uint64_t words_3_15[] = {
	COOKIE, 0x30f02f0, 0,	346568, 912, 936,  226240, 7272, 7264, 7336, 7352, 7400, 7592,
	7576,	7584,	   16,	7736,	0,   7752, 7744,   7944, 0,    888,  0,	   8,	 16,
	72,	80,	   88,	96,	176, 184,  256,	   32,	 36,   40,   136,  288,	 0,
	88,	8,	   0,	56,	80,  74,   64,	   0,	 216,  112,  120,  128,	 136,
	68,	52,	   96,	104,	208, 0,	   16,	   8,	 424,  24,   88,   168,	 32,
	288,	944,	   888, 40,	32,  16,   40,	   24,	 16,   200,  24,   40,	 32,
	48,	32,	   40,	24,	16,  32,   16,	   24,	 40,   16,   32,   64,	 32,
	16,	40,	   56,	176,	112, 120,  1120,   104,	 160,  24,   72,   67,	 0,
	8,	24,	   344, 8028,	0,   4,	   512};

/* What the layouts have in common. */
#define SAME                                                                                       \
	.tstate_next = 8, .tstate_interp = 16, .tstate_status = 32, .tstate_frame = 72,            \
	.frame_back = 8, .frame_code = 0, .frame_instr = 56, .code_firstlineno = 68,               \
	.code_name = 120, .code_filename = 112, .code_qualname = 128, .code_framesize = 76,        \
	.code_linetable = 136, .object_type = 8, .type_name = 24, .bytes_size = 16,                \
	.bytes_data = 32, .text_length = 16, .text_state = 32, .text_ascii = 40,                   \
	.text_compact = 56, .code_size = 144, .code_head = 128

static const struct {
	const uint64_t *words;
	size_t size;
	struct python_layout layout;
} debug_offsets[] = {
	{words_3_13,
	 sizeof(words_3_13),
	 {SAME, .version = 0x030d12f0, .runtime_interps = 632, .interp_next = 7264,
	  .interp_threads = 7344, .tstate_thread = 152, .tstate_native = 160, .frame_owner = 70,
	  .code_start = 200, .frame_size = 71, .tstate_size = 168}},
	{words_3_14,
	 sizeof(words_3_14),
	 {SAME, .version = 0x030e0af0, .runtime_interps = 808, .interp_next = 7272,
	  .interp_threads = 7344, .tstate_thread = 152, .tstate_native = 160, .frame_owner = 74,
	  .code_start = 208, .frame_size = 75, .tstate_size = 168}},
	{words_3_15,
	 sizeof(words_3_15),
	 {SAME, .version = 0x030f02f0, .runtime_interps = 936, .interp_next = 7264,
	  .interp_threads = 7336, .tstate_thread = 176, .tstate_native = 184, .frame_owner = 74,
	  .code_start = 208, .frame_size = 75, .tstate_size = 192}},
};

#endif
