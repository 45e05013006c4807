/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SYMBOLS_RUNTIME_INTERPRETER_H
#define STACKTOP_TESTS_SYMBOLS_RUNTIME_INTERPRETER_H

/* A running interpreter whose memory is read as a check does. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/elf/elffile.h"

struct interpreter {
	pid_t pid;
	char path[PATH_MAX]; /* of the file that has the runtime */
	uint64_t start;	     /* of its first mapping */
	uint64_t bias;
};

/* It ends with the test. INTERPRETER_ROOT in the environment: of another distribution. */
static inline void interpreter_start(struct interpreter *in, char *const argv[])
{
	const char *root = getenv("INTERPRETER_ROOT");

	in->pid = fork();
	assert_true(in->pid >= 0);
	if (!in->pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (root && (chroot(root) || chdir("/")))
			_exit(127);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(null, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
}

static inline void interpreter_stop(struct interpreter *in)
{
	kill(in->pid, SIGKILL);
	waitpid(in->pid, NULL, 0);
}

/* Finds the mapped file in whose name this is; false: not yet, or not at all. */
static inline bool interpreter_find(struct interpreter *in, const char *part)
{
	char line[PATH_MAX + 128], name[64];
	bool found = false;
	FILE *maps;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)in->pid);
	maps = fopen(name, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');

		if (!path || !strstr(path, part))
			continue;
		found = sscanf(line, "%lx", &in->start) == 1;
		snprintf(in->path, sizeof(in->path), "%.*s", (int)strcspn(path, "\n"), path);
	}
	if (maps)
		fclose(maps);
	return found;
}

static inline struct elf_file *interpreter_open(struct interpreter *in)
{
	struct elf_file *file;
	const struct elf_load *loads;
	size_t n;

	assert_int_equal(elf_file_open(in->path, &file), 0);
	loads = elf_file_loads(file, &n);
	assert_true(n > 0);
	in->bias = in->start - (loads[0].vaddr & ~4095ull);
	return file;
}

static inline int interpreter_read(void *arg, uint64_t addr, void *to, size_t size)
{
	const struct interpreter *in = arg;
	struct iovec local = {to, size}, remote = {(void *)addr, size};

	return process_vm_readv(in->pid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

#endif
