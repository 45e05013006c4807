// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.data holds addresses, whose names only perf can find, with the files and build-ids that it
 * knows: `perf script` reads it. Inlined calls are left out (--no-inline): some builds of perf ask
 * addr2line for each address, and others, as that of Debian 12, do not find any.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "symbols/base/thread.h"
#include "symbols/base/clock.h"
#include "tui/import/import_priv.h"

#define CHILD_FD  3
#define PART	  ((size_t)1 << 16)
#define TIME_MAX  600 /* s */
#define COMPLAINT 160

struct perf_child {
	pid_t pid;
	int out, err;
	char said[COMPLAINT]; /* the first that it says of what is wrong */
	size_t nsaid;
};

/* Threads of stacktop block signals, and SIGPIPE is ignored; both would be inherited. */
static int usual_signals(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int failed;

	sigemptyset(&none);
	sigfillset(&all);
	failed = posix_spawnattr_setsigmask(attr, &none);
	if (!failed)
		failed = posix_spawnattr_setsigdefault(attr, &all);
	return failed ? failed
		      : posix_spawnattr_setflags(attr,
						 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int start(struct perf_child *child, int fd, int out, int err)
{
	static const char *const args[] = {"perf", "script", "-f",	  "--no-inline", "-F",
					   "+pid", "-i",     "/dev/fd/3", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int failed = posix_spawn_file_actions_init(&actions);

	if (failed)
		return -failed;
	posix_spawnattr_init(&attr); /* never fails in glibc and musl */
	failed = usual_signals(&attr);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	if (!failed)
		failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
							  O_RDONLY, 0);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&actions, fd, CHILD_FD);
	if (!failed)
		failed = posix_spawnp(&child->pid, "perf", &actions, &attr,
				      (char *const *)(uintptr_t)args, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -failed;
}

/* Descriptors below 10 could be in the way of those that the child gets. */
static int pipe_high(int ends[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC))
		return -errno;
	ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 10);
	ends[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 10);
	close(low[0]);
	close(low[1]);
	return ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
}

static void take_complaint(struct perf_child *child)
{
	char part[512];
	ssize_t n = read(child->err, part, sizeof(part));

	if (n <= 0) {
		close(child->err);
		child->err = -1;
		return;
	}
	for (ssize_t i = 0; i < n && child->nsaid < sizeof(child->said) - 1; i++)
		child->said[child->nsaid++] = part[i] == '\n' ? ' ' : part[i];
}

static int take_output(struct perf_child *child, struct import_bytes *bytes)
{
	ssize_t n;

	if (GROW_TO(bytes->at, bytes->size + PART, bytes->room, IMPORT_PLAIN_MAX + 2 * PART))
		return -ENOMEM;
	n = read(child->out, bytes->at + bytes->size, bytes->room - bytes->size);
	if (n < 0 && errno != EINTR)
		return -errno;
	if (!n) {
		close(child->out);
		child->out = -1;
	}
	bytes->size += n > 0 ? (size_t)n : 0;
	return bytes->size > IMPORT_PLAIN_MAX ? -EFBIG : 0;
}

static int take_all(struct perf_child *child, struct import_bytes *bytes)
{
	const time_t end = clock_seconds() + TIME_MAX;
	int err = 0;

	while (!err && child->out >= 0) {
		struct pollfd fds[2] = {{.fd = child->out, .events = POLLIN},
					{.fd = child->err, .events = POLLIN}};

		poll(fds, 2, 200);
		if (fds[1].revents)
			take_complaint(child);
		if (fds[0].revents)
			err = take_output(child, bytes);
		if (!err && clock_seconds() > end)
			err = -ETIMEDOUT;
		if (!err && thread_must_end())
			err = -EINTR;
	}
	while (!err && child->err >= 0 && child->nsaid < sizeof(child->said) - 1)
		take_complaint(child);
	return err;
}

static int finish(struct perf_child *child, int err, const struct import_to *to)
{
	char said[COMPLAINT];
	int status = 0;

	if (err)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	text_clean(said, sizeof(said), child->said, child->nsaid);
	if (err == -EFBIG)
		return import_fail(to, err, "perf script prints more than %zu MiB of it",
				   IMPORT_PLAIN_MAX >> 20);
	if (err == -ETIMEDOUT)
		return import_fail(to, err, "perf script takes longer than %d s", TIME_MAX);
	if (!err && WIFSIGNALED(status))
		return import_fail(to, -EINVAL, "perf script was ended by signal %d",
				   WTERMSIG(status));
	if (!err && status)
		return import_fail(to, -EINVAL, "perf script cannot read it: %s", said);
	return err;
}

static int run(struct perf_child *child, int fd, struct import_bytes *out,
	       const struct import_to *to)
{
	int output[2] = {-1, -1}, errors[2] = {-1, -1}, high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	int err = high < 0 ? -errno : pipe_high(output);

	if (!err)
		err = pipe_high(errors);
	if (!err)
		err = start(child, high, output[1], errors[1]);
	if (high >= 0)
		close(high);
	for (int i = 0; i < 2; i++)
		if ((i ? errors : output)[1] >= 0)
			close((i ? errors : output)[1]);
	child->out = output[0];
	child->err = errors[0];
	if (!err)
		err = finish(child, take_all(child, out), to);
	if (child->out >= 0)
		close(child->out);
	if (child->err >= 0)
		close(child->err);
	return err;
}

int import_perf_script(int fd, struct import_bytes *out, const struct import_to *to)
{
	struct perf_child child = {.out = -1, .err = -1};
	int err = run(&child, fd, out, to);

	if (err == -ENOENT)
		return import_fail(to, err,
				   "is a perf.data file, which needs perf to be read, and there is "
				   "none here; read what `perf script -i FILE >FILE.perf` prints "
				   "where it was recorded");
	if (!err && !out->size)
		return import_fail(to, -ENOMSG, "has no samples, says perf script");
	return err;
}
