/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_FLOW_H
#define STACKTOP_UNWIND_FLOW_H

/*
 * Follows the flow of control through a piece of machine code, and with it where the CFA and the
 * caller's frame pointer are.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_NONE      0    /* sp: no path leads here */
#define FLOW_UNKNOWN   (-1) /* sp: the CFA is not at a known distance */
#define FLOW_OUTERMOST (-2) /* sp: there is no caller */
#define FLOW_POPPED    (-3) /* sp: the return address is below SP, which is the CFA */
#define FLOW_FP_CALLER 0    /* fp: it is the caller's */
#define FLOW_FP_OTHER  (-1) /* fp: anything */

/* In front of an instruction. */
struct flow_state {
	int32_t sp;   /* CFA - SP, or one of the above */
	int32_t fp;   /* CFA - FP, or one of the above */
	int32_t slot; /* CFA - the address where the caller's FP is saved; 0: nowhere */
};

struct flow_insn {
	uint32_t at; /* offset in the code */
	int32_t value;
	uint8_t size;
	uint8_t kind; /* enum effect_kind */
	uint8_t flags;
	uint32_t turn; /* of the exploration that set the state */
	struct flow_state state;
};

struct disasm;
struct work;

struct flow {
	/* Set by the caller. */
	const uint8_t *code;
	uint32_t size;
	uint64_t addr;		/* of code[0] */
	const uint64_t *starts; /* addresses in it where functions begin, ascending */
	size_t nstarts;
	const uint64_t *taken; /* addresses that the file's data holds, where functions may begin */
	size_t ntaken;
	uint64_t entry; /* where the program begins; 0: not in this code */
	bool strict;	/* the code may leave no function but by a return */
	struct disasm *disasm;
	struct work *work;
	/* The result. */
	struct flow_insn *insns; /* ascending, without gaps */
	uint32_t ninsns, insns_room;
};

/*
 * Finds the states. A state is set only where the code proves it: by the return instructions that
 * it leads to. -ENOMEM, or as work_add. flow_free also after an error.
 */
int flow_run(struct flow *flow);
/* True for the first instruction of the child behind a clone: `syscall; test; jnz; xor %ebp,%ebp`.
 */
bool flow_is_child(const struct flow *flow, uint32_t insn);
void flow_free(struct flow *flow);

#endif
