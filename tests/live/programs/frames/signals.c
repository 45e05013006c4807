/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signal handlers in the middle of the stack: one, two, on a signal stack, in a thread. */

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "frame.h"

static volatile int nested;

static void inner_handler(int number)
{
	(void)number;
	spin();
	STAY;
}

/* The signal arrives after the system call, in this very function. */
static KEEP void send_self(long number)
{
#if defined(__x86_64__)
	long result = SYS_tgkill;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"((long)getpid()), "S"((long)gettid()), "d"(number)
			 : "rcx", "r11", "memory");
#else
	const long pid = getpid(), tid = gettid();
	register long call __asm__("x8") = SYS_tgkill, result __asm__("x0") = pid;
	register long to __asm__("x1") = tid, sent __asm__("x2") = number;

	__asm__ volatile("svc #0" : "+r"(result) : "r"(call), "r"(to), "r"(sent) : "memory");
#endif
	STAY;
}

static void outer_handler(int number)
{
	(void)number;
	if (nested)
		send_self(SIGUSR2);
	spin();
	STAY;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_flags = flags};

	action.sa_handler = handler;
	sigaction(number, &action, NULL);
}

static KEEP void one_signal(void)
{
	handle(SIGUSR1, outer_handler, 0);
	ready();
	send_self(SIGUSR1);
	STAY;
}

static KEEP void two_signals(void)
{
	nested = 1;
	handle(SIGUSR1, outer_handler, 0);
	handle(SIGUSR2, inner_handler, 0);
	ready();
	send_self(SIGUSR1);
	STAY;
}

static void use_stack(char *stack, size_t size)
{
	stack_t other = {.ss_sp = stack, .ss_size = size};

	sigaltstack(&other, NULL);
	handle(SIGUSR1, outer_handler, SA_ONSTACK);
}

/* A signal stack below the main thread's stack. */
static KEEP void low_stack(void)
{
	static char stack[64 << 10];

	use_stack(stack, sizeof(stack));
	ready();
	send_self(SIGUSR1);
	STAY;
}

static void *thread_main(void *stack)
{
	use_stack(stack, 64 << 10);
	ready();
	send_self(SIGUSR1);
	return NULL;
}

/* A thread's handler runs above the thread's own stack, on the main thread's stack. */
static KEEP void high_stack(void)
{
	char stack[64 << 10];
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_main, stack))
		pthread_join(thread, NULL);
}

/* A timer's signal at any instruction, those of libc included. */
static KEEP void work(void)
{
	static char from[256], to[256];

	while (!frames_stop)
		memcpy(to, from, (size_t)(to[0] + 100));
}

static void on_timer(int number)
{
	(void)number;
	for (volatile int i = 0; i < 400000; i++)
		STAY;
}

static KEEP void timer(void)
{
	const struct itimerspec every = {{0, 2000000}, {0, 2000000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t id;

	handle(SIGUSR1, on_timer, 0);
	if (timer_create(CLOCK_MONOTONIC, &event, &id) || timer_settime(id, 0, &every, NULL))
		return;
	ready();
	work();
	STAY;
}

#if defined(__x86_64__)
/*
 * The moment in which the kernel has set SP for a handler, but not the pc, made to last: SP is at
 * such a frame, whose registers belong to a call by by_frame, during system calls. Those of the
 * thread itself belong to a call by by_registers.
 */
struct handler_frame {
	void (*restorer)(void);
	ucontext_t context;
};

__attribute__((noreturn)) void at_frame(long file, void *to, long size, void *frame);
extern const char at_frame_pc[];
void frame_restorer(void);

__asm__(".globl	at_frame\n"
	".type	at_frame, @function\n"
	"at_frame:\n"
	"	.cfi_startproc\n"
	"	mov	%rsp, %rbx\n"
	"	.cfi_def_cfa_register %rbx\n"
	"	mov	%rcx, %rsp\n"
	"1:	xor	%eax, %eax\n" /* read */
	"	syscall\n"
	"at_frame_pc:\n"
	"	jmp	1b\n"
	"	.cfi_endproc\n"
	"	.size	at_frame, . - at_frame\n"
	".type	frame_restorer, @function\n"
	"frame_restorer:\n"
	"	mov	$15, %rax\n"
	"	syscall\n"
	"	.size	frame_restorer, . - frame_restorer\n");

static KEEP void by_registers(int file)
{
	static char zeros[1 << 16];
	struct handler_frame frame = {.restorer = frame_restorer};
	greg_t *regs = frame.context.uc_mcontext.gregs;

	regs[REG_RIP] = (greg_t)at_frame_pc;
	/* Where the caller of this function has left its return address. */
	regs[REG_RBX] = (greg_t)__builtin_dwarf_cfa() - 8;
	regs[REG_RSP] = regs[REG_RBX];
	ready();
	at_frame(file, zeros, sizeof(zeros), &frame);
}

static KEEP void by_frame(void)
{
	by_registers(open("/dev/zero", O_RDONLY));
	STAY;
}

#define CALLING                                                                                    \
	,                                                                                          \
	{                                                                                          \
		"calling", by_frame                                                                \
	}
#else
#define CALLING
#endif

FRAMES_MAIN({"one", one_signal}, {"two", two_signals}, {"low", low_stack}, {"high", high_stack},
	    {"timer", timer} CALLING)
