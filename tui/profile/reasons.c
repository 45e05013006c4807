// SPDX-License-Identifier: GPL-2.0-or-later
/* See reasons.h. A remedy is what the user can do. */
#include "tui/profile/reasons.h"

#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct cause unknown = {"?", "nothing more is known", ""};

/* The names are those of the one list. */
#define X(reason, text) static const char reason##_NAME[] = text;
WALK_REASONS(X)
#undef X

#define END(reason, meaning, remedy) [reason] = {reason##_NAME, meaning, remedy}

static const struct cause ends[WALK_REASON_COUNT] = {
	END(WALK_CONTINUE, "the walk was not ended", ""),
	END(WALK_BOTTOM, "the stack is complete, to its outermost function", ""),
	END(WALK_UNKNOWN_PROCESS, "it was sampled before its mappings were read",
	    "passes within milliseconds"),
	END(WALK_OTHER_EXEC, "the mappings of the new program are being read",
	    "passes within milliseconds"),
	END(WALK_NO_MAPPING, "the return address is in no code that is known of the process",
	    "code that was just loaded is known within a second; else something wrote over the "
	    "stack"),
	END(WALK_NO_TABLE, "the file's table is queued, was evicted or refused, or cannot be built",
	    "6 shows which; --memory raises the budget"),
	END(WALK_NOT_COVERED,
	    "the file's CFI is silent about this place, and no frame pointer "
	    "leads on",
	    "build it with -fasynchronous-unwind-tables; assembly needs .cfi directives"),
	END(WALK_NO_FRAME_POINTER,
	    "code made at run time, or a file without CFI, and no frame "
	    "pointer leads on",
	    "node: --interpreted-frames-native-stack; java: -XX:+PreserveFramePointer; else "
	    "-fno-omit-frame-pointer"),
	END(WALK_READ_FAULT, "what the rule reads is not in memory: swapped out, or no stack",
	    "a few are normal; many at one place mean that its CFI is wrong"),
	END(WALK_BAD_CFA, "the caller's frame would lie below its callee's",
	    "the CFI at this place is wrong, or something wrote over the stack"),
	END(WALK_REGISTER, "the rule needs a register that no inner frame saved",
	    "hand-written assembly mostly; its CFI should say where the register is"),
	END(WALK_UNSUPPORTED, "the CFI's expression is none that the table can hold",
	    "--dump-unwind FILE shows it; rare, in assembly and where Go changes stacks"),
	END(WALK_DEPTH, "more frames than are followed", "a recursion; its inner part is shown"),
	END(WALK_32_BIT, "the process runs 32-bit code, which is not walked", ""),
	END(WALK_NO_REGISTERS, "the kernel did not tell the user's registers",
	    "--check says what this kernel lacks"),
	END(WALK_CHANGED, "something else was mapped there a moment before",
	    "passes within a second, unless the program maps code all the time"),
	END(WALK_BOTTOM_FP, "the stack is complete, as far as a frame pointer of zero can tell",
	    ""),
	END(WALK_GUESSED,
	    "it reached an outermost function, but in code without CFI the frame pointer may have "
	    "been that of a caller further out",
	    "java: -XX:+PreserveFramePointer; else -fno-omit-frame-pointer, or CFI for this code"),
	END(WALK_ZERO,
	    "the return address is zero, but nothing else says that the stack begins there",
	    "assembly that moves the stack pointer needs .cfi directives; so does a first function of "
	    "coroutines"),
};

static const struct cause others[] = {
	{CAUSE_STACK_LOST, "counted, but its frames could not be handed over",
	 "lower -F, or refresh more often: ]"},
	{CAUSE_EARLY, "the wait had begun when threads were first followed",
	 "its next wait has a stack"},
	{CAUSE_NOT_TAKEN, "a wait that was longer than those before it, or the first of a thread",
	 "stacks of short waits are thinned out when they cost too much"},
	{CAUSE_FOLDED, "too many different stacks: the rarest are kept without frames",
	 "0 begins anew"},
};

static const struct cause losses[LOSS_COUNT] = {
	[LOSS_COUNTS_FULL] = {"stack map full", "more different stacks in a refresh than it holds",
			      "lower -F, or refresh more often: ]"},
	[LOSS_STACK_RING] = {"stacks not handed over", "the ring to user space was full",
			     "counted without frames; lower -F"},
	[LOSS_BUSY] = {"sampler busy", "the sample hit what it needed while that was in use",
		       "lower -F"},
	[LOSS_SIDEBAND] = {"process events lost", "the kernel had no room for its records",
			   "processes were scanned again"},
	[LOSS_SLICE] = {"slice not kept", "read, but there was no memory to keep them",
			"memory is short"},
	[LOSS_KERNEL] = {"no kernel stack", "the kernel did not hand it out",
			 "counted as of its user function"},
	[LOSS_THROTTLED] = {"throttled by the kernel", "it takes no more samples than its limit",
			    "lower -F, or raise kernel.perf_event_max_sample_rate"},
	[LOSS_MISSED] = {"ticks late or missed", "the CPU was away, or its interrupts were off",
			 "lower -F; virtual machines need CPUs of their own"},
};

static const char *const reported[LOSS_COUNT] = {
	[LOSS_COUNTS_FULL] = "the count map was full",
	[LOSS_STACK_RING] = "counted without their frames",
	[LOSS_BUSY] = "the sampler was busy",
	[LOSS_SIDEBAND] = "process records",
	[LOSS_SLICE] = "a slice could not be kept",
	[LOSS_KERNEL] = "without a kernel stack",
};

const struct cause *reasons_end(unsigned int reason)
{
	return reason < WALK_REASON_COUNT ? &ends[reason] : &unknown;
}

unsigned int reasons_reason(const char *name)
{
	for (unsigned int i = 0; i < WALK_REASON_COUNT; i++)
		if (strcmp(ends[i].name, name) == 0)
			return i;
	return WALK_CONTINUE;
}

const struct cause *reasons_find(const char *name)
{
	unsigned int reason = reasons_reason(name);

	if (reason != WALK_CONTINUE)
		return &ends[reason];
	for (size_t i = 0; i < COUNT(others); i++)
		if (strcmp(others[i].name, name) == 0)
			return &others[i];
	return &unknown;
}

const struct cause *reasons_loss(enum loss loss)
{
	return &losses[loss];
}

const char *reasons_reported(enum loss loss)
{
	return reported[loss];
}
