/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that realign their stack: by rbp alone, and with GCC's argument pointer (DRAP), where
 * the CFA is in r10 in the prologue and at *(rbp - N) in the body. `step` runs with the trap flag
 * set, so that a signal interrupts each of their instructions.
 */

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "frame.h"

typedef float vector __attribute__((vector_size(32)));

/* The section's borders tell whether a signal came from within. */
#define ALONE __attribute__((section("realigned_text")))
extern const char __start_realigned_text[], __stop_realigned_text[];

static volatile float sink;
static volatile int with_leaf;

static ALONE KEEP long realigned(long a, long b, long c, long d, long e, long f, long g, long h)
{
	volatile vector local = {(float)a, (float)b, (float)c, (float)d};

	sink = local[1];
	if (with_leaf)
		spin();
	return e + f + g + h + (long)local[a & 7];
}

/* An array of variable size forces the argument pointer, r10. */
static ALONE KEEP long drap(long a, long b, long c, long d, long e, long f, long g, long h)
{
	volatile vector local = {(float)a, (float)b, (float)c, (float)d};
	volatile char room[a];

	room[a - 1] = 1;
	sink = local[1];
	if (with_leaf)
		spin();
	return e + f + g + h + (long)local[a & 7] + room[a - 1];
}

static KEEP void drap_loop(void)
{
	ready();
	while (!frames_stop)
		drap(100, 2, 3, 4, 5, 6, 7, 8);
}

static KEEP void drap_leaf(void)
{
	with_leaf = 1;
	drap_loop();
	STAY;
}

static KEEP void realigned_loop(void)
{
	ready();
	while (!frames_stop)
		realigned(1, 2, 3, 4, 5, 6, 7, 8);
}

static KEEP void realigned_leaf(void)
{
	with_leaf = 1;
	realigned_loop();
	STAY;
}

static KEEP void interrupted(void)
{
	for (volatile int i = 0; i < 60000; i++)
		STAY;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	(void)info;
	if (pc >= (uintptr_t)__start_realigned_text && pc < (uintptr_t)__stop_realigned_text)
		interrupted();
	STAY;
}

static void set_trap_flag(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;
}

static KEEP void step(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};

	action.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &action, NULL);
	action.sa_sigaction = set_trap_flag;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/*
 * Calls the function over and over with a number in rbp. GCC's CFI does not say that a function
 * like drap has popped rbp, so in its last instructions the saved rbp seems to be where that number
 * points.
 */
void with_number(long (*function)(long, long, long, long, long, long, long, long));
__asm__("	.text\n"
	"	.type	with_number, @function\n"
	"with_number:\n"
	"	.cfi_startproc\n"
	"	push	%rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	push	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	sub	$24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	mov	%rdi, %rbx\n"
	"	mov	$5, %ebp\n"
	"1:	mov	$100, %edi\n"
	"	movq	$7, (%rsp)\n"
	"	movq	$8, 8(%rsp)\n"
	"	call	*%rbx\n"
	"	jmp	1b\n"
	"	.cfi_endproc\n"
	"	.size	with_number, . - with_number\n");

static KEEP void step_number(void)
{
	step();
	ready();
	with_number(drap);
	STAY;
}

static KEEP void step_realigned(void)
{
	step();
	realigned_loop();
	STAY;
}

static KEEP void step_drap(void)
{
	step();
	drap_loop();
	STAY;
}

FRAMES_MAIN({"loop", realigned_loop}, {"leaf", realigned_leaf}, {"dloop", drap_loop},
	    {"dleaf", drap_leaf}, {"step", step_realigned}, {"dstep", step_drap},
	    {"dnumber", step_number})
