/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two pipes: one holds the child back. The other says that it has mapped what it will execute, by a
 * byte, and returns the error of an exec, which closes it.
 */
#include "tui/collect/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tui/collect/foresee.h"

#define FORESEE_MS 1000 /* a file may not answer */

struct child {
	pid_t pid;
	int go;	    /* writing end */
	int error;  /* reading end */
	int fd;	    /* pidfd */
	bool ready; /* has said so */
	bool started;
	int exec_error; /* errno of the exec; 0: it succeeded, or was not tried */
	int status;	/* once it has ended; -1 */
};

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void set_streams(enum child_streams streams)
{
	int null;

	if (streams == CHILD_ASIDE || streams == CHILD_APART)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (streams != CHILD_QUIET && streams != CHILD_APART)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		if (streams == CHILD_APART ? fd == 0 : isatty(fd))
			dup2(null, fd);
}

static void __attribute__((noreturn))
child(char **argv, enum child_streams streams, int go, int error)
{
	char byte;
	int err;

	foresee(argv[0]);
	if (write(error, "", 1) < 0)
		_exit(127);
	/* End of file: stacktop is gone or gave up. */
	if (TEMP_FAILURE_RETRY(read(go, &byte, 1)) != 1)
		_exit(127);
	set_streams(streams);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(argv[0], argv);
	err = errno;
	if (write(error, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int child_new(char **argv, enum child_streams streams, struct child **out)
{
	struct child *c = calloc(1, sizeof(*c));
	int go[2] = {-1, -1}, error[2] = {-1, -1}, err = 0;

	*out = NULL;
	if (!c)
		return -ENOMEM;
	c->go = c->error = c->fd = c->status = -1;
	if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC)) {
		err = -errno;
	} else {
		c->pid = fork();
		if (c->pid < 0)
			err = -errno;
		if (!c->pid) {
			close(go[1]); /* otherwise it would wait for itself */
			child(argv, streams, go[0], error[1]);
		}
	}
	close_fd(go[0]);
	close_fd(error[1]);
	c->go = go[1];
	c->error = error[0];
	if (!err) {
		c->fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		if (c->fd < 0)
			err = -errno;
	}
	if (err) {
		child_free(c);
		return err;
	}
	*out = c;
	return 0;
}

void child_free(struct child *c)
{
	if (!c)
		return;
	close_fd(c->go);
	if (c->pid > 0 && c->started)
		child_signal(c, child_status(c) < 0 ? SIGTERM : 0);
	else if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
	close_fd(c->error);
	close_fd(c->fd);
	free(c);
}

pid_t child_pid(const struct child *c)
{
	return c->pid;
}

/* End of file: it was killed. */
static void take_ready(struct child *c)
{
	char byte;

	if (!c->ready)
		c->ready = TEMP_FAILURE_RETRY(read(c->error, &byte, 1)) >= 0;
}

void child_wait(struct child *c)
{
	struct pollfd fd = {.fd = c->error, .events = POLLIN};

	if (poll(&fd, 1, FORESEE_MS) > 0)
		take_ready(c);
}

int child_go(struct child *c)
{
	int err = 0;
	ssize_t n;

	c->started = true;
	if (TEMP_FAILURE_RETRY(write(c->go, "", 1)) != 1)
		return -errno;
	take_ready(c);
	n = TEMP_FAILURE_RETRY(read(c->error, &err, sizeof(err)));
	c->exec_error = n == sizeof(err) ? err : 0;
	return -c->exec_error;
}

int child_error(const struct child *c)
{
	return c->exec_error;
}

int child_fd(const struct child *c)
{
	return c->fd;
}

void child_signal(const struct child *c, int signal)
{
	if (c->started && c->status < 0)
		kill(c->pid, signal);
}

int child_status(struct child *c)
{
	int state;

	if (c->status < 0 && c->started && waitpid(c->pid, &state, WNOHANG) == c->pid)
		c->status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
	return c->status;
}
