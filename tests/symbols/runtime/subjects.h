/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SYMBOLS_RUNTIME_SUBJECTS_H
#define STACKTOP_TESTS_SYMBOLS_RUNTIME_SUBJECTS_H

/* Processes that run check.py, and their memory. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/runtime/python_check.h"
#include "symbols/runtime/python_offsets.h"

struct subject {
	pid_t pid;
	int in;
	FILE *out;
	__u32 version;
	struct python_place place;
	struct python_layout layout; /* of subject_new */
};

static inline int subject_read(void *arg, uint64_t addr, void *to, size_t size)
{
	const struct subject *s = arg;
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(s->pid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static inline void subject_exec(const char *path, const char *how, int in, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(in, 0);
	dup2(out, 1);
	execl(path, path, "-B", "-I", "tests/symbols/runtime/check.py", how, NULL);
	_exit(127);
}

static inline void subject_end(struct subject *s)
{
	close(s->in);
	fclose(s->out);
	kill(s->pid, SIGKILL);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
}

/* False: it has no _PyRuntime, and nothing runs. */
static inline bool subject_start(const char *path, const char *how, struct subject *s)
{
	int in[2], out[2];
	char line[128];

	*s = (struct subject){0};
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid)
		subject_exec(path, how, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	s->in = in[1];
	s->out = fdopen(out[0], "r");
	assert_non_null(s->out);
	if (!fgets(line, sizeof(line), s->out) ||
	    sscanf(line, "%x %" SCNx64 " %" SCNx64, &s->version, &s->place.runtime,
		   &s->place.type) != 3) {
		subject_end(s);
		return false;
	}
	assert_non_null(fgets(line, sizeof(line), s->out));
	assert_string_equal(line, "ready\n");
	return true;
}

/* False, too: there is no layout for its version. */
static inline bool subject_new(const char *path, const char *how, struct subject *s)
{
	uint8_t table[PYTHON_DEBUG_OFFSETS_SIZE];

	if (!subject_start(path, how, s))
		return false;
	if (!subject_read(s, s->place.runtime, table, sizeof(table)) &&
	    !python_layout_of(s->version, table, sizeof(table), &s->layout))
		return true;
	subject_end(s);
	return false;
}

#endif
