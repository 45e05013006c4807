// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of LuaJIT's vm_x64.dasc that have another frame than the interpreter: those that C
 * calls push registers first and pop them at their end; fff_gcstep, which the interpreter calls,
 * takes its return address off the stack meanwhile; functions for arithmetic have no frame; and an
 * exit of a trace has one that depends on the trace.
 */
#include "unwind/luajit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "unwind/arch.h"

#define CODE_MIN  (8u << 10) /* bytes of the interpreter's code; it has 17,000 */
#define CODE_MAX  (64u << 10)
#define INSNS_MAX 32u /* bytes of its CFI */
#define FRAME	  80  /* CFA - SP in the interpreter */
#define ENTRIES	  3u  /* functions that C calls, at least */

/* push %rbp; push %rbx; push %r15; push %r14; sub $40,%rsp, and back */
static const uint8_t save[] = {0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x48, 0x83, 0xec, 0x28};
static const uint8_t restore[] = {0x48, 0x83, 0xc4, 0x28, 0x41, 0x5e, 0x41, 0x5f, 0x5b, 0x5d};
/* As save behind an int3, where a callback of the FFI has pushed RBP. */
static const uint8_t save_rest[] = {0xcc, 0x53, 0x41, 0x57, 0x41, 0x56, 0x48, 0x83, 0xec, 0x28};
/* push %r13; push %r12; push %r11; push %r10; ... and, much later, mov %rcx,%rsp */
static const uint8_t exit_begins[] = {0x41, 0x55, 0x41, 0x54, 0x41, 0x53, 0x41, 0x52};
static const uint8_t exit_ends[] = {0x48, 0x89, 0xcc};

#define IS(code, at, size, what)                                                                   \
	((size) - (at) >= sizeof(what) && !memcmp((code) + (at), what, sizeof(what)))

static size_t fde_size(const struct cfi_fde *fde)
{
	return (size_t)(fde->end - fde->start);
}

static bool is_interpreter(const uint8_t *code, size_t size)
{
	unsigned int entries = 0, exits = 0;

	for (size_t at = 0; at < size; at++) {
		entries += IS(code, at, size, save);
		exits += IS(code, at, size, restore);
	}
	return entries >= ENTRIES && exits;
}

int luajit_rows_begin(struct luajit_rows *rows, const struct elf_file *file,
		      const struct cfi_fde *fde, cfa_row_fn *row, void *arg)
{
	const struct elf_load *loads;
	const size_t size = fde_size(fde);
	size_t count;

	if (fde->end - fde->start < CODE_MIN || fde->end - fde->start > CODE_MAX || fde->skip ||
	    fde->ninsns > INSNS_MAX)
		return 0;
	*rows = (struct luajit_rows){.fde = fde, .code = malloc(size), .row = row, .arg = arg};
	if (!rows->code)
		return -ENOMEM;
	loads = elf_file_loads(file, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = fde->start - loads[i].vaddr;

		if (loads[i].exec && fde->start >= loads[i].vaddr && at < loads[i].filesz &&
		    size <= loads[i].filesz - at &&
		    !elf_file_read(file, loads[i].offset + at, rows->code, size) &&
		    is_interpreter(rows->code, size))
			return 1;
	}
	luajit_rows_free(rows);
	return 0;
}

void luajit_rows_free(struct luajit_rows *rows)
{
	free(rows->code);
	rows->code = NULL;
}

/* Where a call at code[at] leads to in the code; 0: none is there, or it leads elsewhere. */
static size_t call_target(const uint8_t *code, size_t size, size_t at)
{
	int32_t by;
	int64_t to;

	if (code[at] != 0xe8 || size - at < 5)
		return 0;
	memcpy(&by, code + at + 1, sizeof(by));
	to = (int64_t)at + 5 + by;
	return to > 0 && to < (int64_t)size ? (size_t)to : 0;
}

/* A row: CFA = SP + cfa, and the caller's frame pointer below the return address, or unchanged. */
static int row_at(struct luajit_rows *r, size_t at, int64_t cfa)
{
	struct cfa_state state = {
		.cfa = {.kind = EXPR_REG, .reg = ARCH_SP, .add = cfa},
		.fp = {.how = cfa > 8 ? REG_AT_CFA : REG_SAME, .off = ARCH_RA_AT - 8},
		.ra = {.how = REG_AT_CFA, .off = ARCH_RA_AT},
	};

	return r->row(r->arg, r->fde->start + at, &state);
}

static int rows_add(struct luajit_rows *r, size_t at, const uint8_t (*steps)[2], size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		if (at + steps[i][0] < fde_size(r->fde))
			err = row_at(r, at + steps[i][0], steps[i][1]);
	return err;
}

/* Offset of the next such code, or size. */
#define FIND(code, from, size, what)                                                               \
	({                                                                                         \
		size_t found_ = (from);                                                            \
                                                                                                   \
		while (found_ < (size) && !IS(code, found_, size, what))                           \
			found_++;                                                                  \
		found_;                                                                            \
	})

/*
 * The functions for arithmetic: behind the exit of traces and in front of the next function that C
 * calls, from the first one on that the interpreter calls.
 */
static void find_leaves(const uint8_t *code, size_t size, size_t *from, size_t *to)
{
	const size_t begins = FIND(code, 0, size, exit_begins);
	const size_t exits = FIND(code, begins, size, exit_ends);

	*from = *to = FIND(code, exits, size, save_rest);
	for (size_t at = 0; at < size; at++) {
		size_t target = call_target(code, size, at);

		if (target > exits && target < *from)
			*from = target;
	}
}

/* pop %rbp; ...; push %rbp; ret */
static int gcstep(struct luajit_rows *r, size_t at)
{
	static const uint8_t popped[][2] = {{0, FRAME + 8}, {1, FRAME}};

	return rows_add(r, at, popped, 2);
}

static bool is_gcstep(const uint8_t *code, size_t size, size_t at)
{
	if (code[at] != 0x5d)
		return false;
	for (size_t i = 0; i < size; i++)
		if (call_target(code, size, i) == at)
			return true;
	return false;
}

static int interpreter(struct luajit_rows *r, const struct cfa_state *state)
{
	/* Offset and CFA - SP from there on. */
	static const uint8_t saved[][2] = {{0, 8}, {1, 16}, {2, 24}, {4, 32}, {6, 40}, {10, FRAME}};
	static const uint8_t saved_rest[][2] = {{1, 16}, {2, 24}, {4, 32}, {6, 40}, {10, FRAME}};
	static const uint8_t restored[][2] = {{4, 40}, {6, 32}, {8, 24}, {9, 16}, {10, 8}};
	static const uint8_t returns[][2] = {{1, FRAME + 8}, {2, FRAME}};
	const size_t size = fde_size(r->fde);
	const uint8_t *code = r->code;
	const struct cfa_state unknown = {.ra = {.how = REG_AT_CFA, .off = ARCH_RA_AT}};
	size_t from, to, gcsteps = 0;
	bool leaving = false;
	int err = r->row(r->arg, r->fde->start, state);

	find_leaves(code, size, &from, &to);
	for (size_t at = 0; at < size && !err; at++) {
		if (at == from)
			err = row_at(r, at, 8);
		if (IS(code, at, size, save)) {
			err = rows_add(r, at, saved, 6);
		} else if (IS(code, at, size, save_rest)) {
			err = rows_add(r, at, saved_rest, 5);
		} else if (at >= from && at < to) {
			continue;
		} else if (IS(code, at, size, restore)) {
			err = rows_add(r, at, restored, 5);
			at += sizeof(restore);
			if (at < size && code[at] != 0xc3)
				at += 4; /* a jump instead of the return */
			if (!err && at + 1 < size)
				err = row_at(r, at + 1, FRAME);
		} else if (code[at] == 0x5d && !gcsteps && is_gcstep(code, size, at)) {
			err = gcstep(r, at);
			gcsteps++;
		} else if (gcsteps == 1 && code[at] == 0x55 && size - at > 2 &&
			   code[at + 1] == 0xc3) {
			err = rows_add(r, at, returns, 2);
			gcsteps++;
		} else if (IS(code, at, size, exit_begins)) {
			err = r->row(r->arg, r->fde->start + at, &unknown);
			leaving = true;
		} else if (leaving && IS(code, at, size, exit_ends)) {
			err = row_at(r, at + sizeof(exit_ends), FRAME);
			leaving = false;
		}
	}
	return err;
}

int luajit_row(void *rows, uint64_t pc, const struct cfa_state *state)
{
	struct luajit_rows *r = rows;

	if (pc == r->fde->start && state->cfa.kind == EXPR_REG && state->cfa.reg == ARCH_SP &&
	    state->cfa.add == FRAME && state->fp.how == REG_AT_CFA &&
	    state->fp.off == ARCH_RA_AT - 8)
		return interpreter(r, state);
	return r->row(r->arg, pc, state);
}
