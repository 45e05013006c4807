// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A screen program that dies must not leave a terminal without echo behind. What a handler may do
 * is little (signal-safety(7)): write, tcsetattr and raise, from memory prepared before.
 */
#include "tui/screen/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>

#define UNDO_MAX   256
#define STACK_SIZE (64 * 1024)

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
static const struct {
	int signal;
	const char *name;
} killing[] = {
	{SIGSEGV, "SIGSEGV (bad address)"},
	{SIGBUS, "SIGBUS (a file that was mapped is shorter now)"},
	{SIGABRT, "SIGABRT (a check failed)"},
	{SIGFPE, "SIGFPE (bad arithmetic)"},
	{SIGILL, "SIGILL (bad instruction)"},
};

#define ASKING	(sizeof(asking) / sizeof(asking[0]))
#define KILLING (sizeof(killing) / sizeof(killing[0]))

static struct {
	int pipe[2];
	struct sigaction before_asking[ASKING], before_killing[KILLING];
	sigset_t blocked_before;
	stack_t stack;
	struct termios modes;
	volatile sig_atomic_t have_modes;
	volatile sig_atomic_t taken;
	char undo[UNDO_MAX];
	size_t undo_length;
} state = {.pipe = {-1, -1}};

/* The linker's name for the start of the program in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static void on_asking(int signal)
{
	int saved = errno;
	char byte = (char)signal;

	/* A full pipe wakes the main loop anyway. */
	if (write(state.pipe[1], &byte, 1) < 0)
		errno = saved;
	errno = saved;
}

static void say(const char *text)
{
	size_t length = 0;
	ssize_t ignored;

	while (text[length])
		length++;
	ignored = write(STDERR_FILENO, text, length);
	(void)ignored;
}

static void say_hex(uintptr_t value)
{
	char text[2 + 2 * sizeof(value) + 1];
	char *at = text + sizeof(text) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	*--at = 'x';
	*--at = '0';
	say(at);
}

static uintptr_t where(const void *context)
{
	const ucontext_t *at = context;

#if defined(__x86_64__)
	return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)at->uc_mcontext.pc;
#else
	(void)at;
	return 0;
#endif
}

static void terminal_undo(void)
{
	ssize_t ignored;

	if (!state.taken)
		return;
	state.taken = 0;
	ignored = write(STDOUT_FILENO, state.undo, state.undo_length);
	(void)ignored;
	if (state.have_modes)
		tcsetattr(STDIN_FILENO, TCSANOW, &state.modes);
}

static void on_killing(int signal, siginfo_t *info, void *context)
{
	uintptr_t pc = where(context);

	terminal_undo();
	say("stacktop: ended by ");
	for (size_t i = 0; i < KILLING; i++)
		if (killing[i].signal == signal)
			say(killing[i].name);
	if (signal == SIGSEGV || signal == SIGBUS) {
		say(", address ");
		say_hex((uintptr_t)info->si_addr);
	}
	say(", at pc ");
	say_hex(pc);
	if (pc > (uintptr_t)__ehdr_start) {
		say(" (addr2line -fe stacktop ");
		say_hex(pc - (uintptr_t)__ehdr_start);
		say(")");
	}
	say("\nThis is a bug in stacktop; please report this line with `stacktop --version`.\n");
	/* SA_RESETHAND: the second time it kills, so the exit status is right. */
	raise(signal);
}

int crash_open(void)
{
	struct sigaction ask = {.sa_handler = on_asking, .sa_flags = SA_RESTART};
	struct sigaction die = {.sa_sigaction = on_killing,
				.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK | SA_NODEFER};
	sigset_t wanted;

	if (pipe2(state.pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* A stack that overflowed is no place for a handler. */
	state.stack.ss_sp = malloc(STACK_SIZE);
	state.stack.ss_size = STACK_SIZE;
	if (state.stack.ss_sp)
		sigaltstack(&state.stack, NULL);
	sigemptyset(&ask.sa_mask);
	sigemptyset(&die.sa_mask);
	sigemptyset(&wanted);
	for (size_t i = 0; i < ASKING; i++) {
		sigaction(asking[i], &ask, &state.before_asking[i]);
		sigaddset(&wanted, asking[i]);
	}
	for (size_t i = 0; i < KILLING; i++) {
		sigaction(killing[i].signal, &die, &state.before_killing[i]);
		sigaddset(&wanted, killing[i].signal);
	}
	/* The parent may have blocked them: perf blocks SIGWINCH for its children. */
	pthread_sigmask(SIG_UNBLOCK, &wanted, &state.blocked_before);
	return state.pipe[0];
}

void crash_close(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	pthread_sigmask(SIG_SETMASK, &state.blocked_before, NULL);
	for (size_t i = 0; i < ASKING; i++)
		sigaction(asking[i], &state.before_asking[i], NULL);
	for (size_t i = 0; i < KILLING; i++)
		sigaction(killing[i].signal, &state.before_killing[i], NULL);
	sigaltstack(&none, NULL);
	free(state.stack.ss_sp);
	state.stack.ss_sp = NULL;
	close(state.pipe[0]);
	close(state.pipe[1]);
	state.pipe[0] = state.pipe[1] = -1;
}

void crash_terminal_before(void)
{
	state.have_modes = tcgetattr(STDIN_FILENO, &state.modes) == 0;
}

/* Delays of terminfo ("$<5>") are left out: no terminal of today needs them. */
static void undo_add(const char *text)
{
	while (text && *text && state.undo_length < UNDO_MAX) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;

		if (end)
			text = end + 1;
		else
			state.undo[state.undo_length++] = *text++;
	}
}

void crash_terminal_taken(const char *exit_screen, const char *show_cursor, const char *plain,
			  const char *keypad)
{
	state.undo_length = 0;
	undo_add(plain);
	undo_add(show_cursor);
	undo_add(keypad);
	undo_add(exit_screen);
	state.taken = 1;
}

void crash_terminal_given_back(void)
{
	state.taken = 0;
}
