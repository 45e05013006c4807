// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See openhelper.h. Processes, not threads: a thread within a FUSE request that is never answered
 * cannot be killed, and its process would not end either, so that the shell would wait for stacktop
 * forever.
 */
#include "bpf/tracker/openhelper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/tracker/openfile.h"
#include "symbols/base/forked.h"

#define SOCKET_BYTES (1 << 18)
#define END_TURNS    200 /* of a millisecond */

struct order {
	unsigned int helper;
	bool start; /* with its socket; else it is to be killed */
};

union control { /* room for a descriptor; see cmsg(3) */
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int openhelper_send(int socket, const void *data, size_t size, int fd)
{
	struct iovec part = {(void *)data, size};
	union control control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	return TEMP_FAILURE_RETRY(sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 ? -errno : 0;
}

ssize_t openhelper_receive(int socket, void *to, size_t room, int *fd)
{
	struct iovec part = {to, room};
	union control control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n = TEMP_FAILURE_RETRY(recvmsg(socket, &message, MSG_CMSG_CLOEXEC));
	struct cmsghdr *head;

	*fd = -1;
	if (n < 0)
		return -errno;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return n;
}

/* --- in the processes forked ----------------------------------------------------------------- */

static void say_hello(int socket)
{
	const char hello[OPENHELPER_HELLO] = "";
	const int stat = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (openhelper_send(socket, hello, sizeof(hello), stat))
		_exit(1);
	if (stat >= 0)
		close(stat);
}

static void __attribute__((noreturn)) helper(int socket, uint64_t root_dev)
{
	static struct open_request request;
	static struct open_answer answer;
	size_t size;
	int fd, base;
	ssize_t n;

	say_hello(socket);
	for (;;) {
		n = openhelper_receive(socket, &request, sizeof(request), &base);
		if (n <= (ssize_t)offsetof(struct open_request, name))
			_exit(0);
		request.code.base = base;
		request.name[sizeof(request.name) - 1] = '\0';
		openfile_do(&request, root_dev, &answer, &fd);
		size = offsetof(struct open_answer, loads) +
		       answer.nloads * sizeof(answer.loads[0]);
		if (openhelper_send(socket, &answer, size, fd))
			_exit(1);
		if (fd >= 0)
			close(fd);
		if (base >= 0)
			close(base);
	}
}

struct left {
	pid_t pids[OPENHELPER_LEFT_MAX];
	unsigned int count;
};

static void reap_helpers(struct left *left)
{
	unsigned int i, n = 0;

	for (i = 0; i < left->count; i++)
		if (!waitpid(left->pids[i], NULL, WNOHANG))
			left->pids[n++] = left->pids[i];
	left->count = n;
}

static void end_helper(pid_t *pid, struct left *left)
{
	if (!*pid)
		return;
	kill(*pid, SIGKILL);
	if (left->count < OPENHELPER_LEFT_MAX)
		left->pids[left->count++] = *pid;
	*pid = 0;
}

/*
 * The process that inherits the helpers may never wait for their end, like PID 1 of a container.
 * Idle helpers end at once; one that waits for a file may do so forever.
 */
static void end_all(pid_t *pids, struct left *left)
{
	const struct timespec turn = {.tv_nsec = 1000000};

	for (unsigned int i = 0; i < OPENHELPERS; i++)
		end_helper(&pids[i], left);
	reap_helpers(left);
	for (int turns = 0; left->count && turns < END_TURNS; turns++) {
		nanosleep(&turn, NULL);
		reap_helpers(left);
	}
}

static void __attribute__((noreturn)) forker(int control)
{
	pid_t pids[OPENHELPERS] = {0};
	struct left left = {.count = 0};
	struct order order;
	struct stat root;
	int socket;

	forked_let_go(control);
	if (chdir("/") || stat("/", &root))
		_exit(1);
	while (openhelper_receive(FORKED_FD, &order, sizeof(order), &socket) == sizeof(order)) {
		reap_helpers(&left);
		if (order.helper < OPENHELPERS)
			end_helper(&pids[order.helper], &left);
		reap_helpers(&left);
		if (order.helper < OPENHELPERS && order.start && socket >= 0 &&
		    left.count < OPENHELPER_LEFT_MAX) {
			pids[order.helper] = fork();
			if (!pids[order.helper]) {
				close(FORKED_FD);
				helper(socket, root.st_dev);
			}
			if (pids[order.helper] < 0)
				pids[order.helper] = 0;
		}
		if (socket >= 0)
			close(socket);
	}
	end_all(pids, &left);
	_exit(0);
}

/* --- in stacktop ------------------------------------------------------------------------------ */

int openhelpers_new(struct openhelpers *h)
{
	int sockets[2];

	h->control = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	h->pid = fork();
	if (h->pid < 0) {
		h->pid = 0;
		close(sockets[0]);
		close(sockets[1]);
		return -errno;
	}
	if (!h->pid)
		forker(sockets[1]);
	close(sockets[1]);
	h->control = sockets[0];
	return 0;
}

void openhelpers_free(struct openhelpers *h)
{
	if (h->control >= 0)
		close(h->control);
	h->control = -1;
	if (h->pid > 0)
		waitpid(h->pid, NULL, 0); /* it never waits for a file itself */
	h->pid = 0;
}

int openhelpers_start(struct openhelpers *h, unsigned int i)
{
	const struct order order = {i, true};
	const int bytes = SOCKET_BYTES;
	int sockets[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	for (int j = 0; j < 2; j++)
		setsockopt(sockets[j], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	err = fcntl(sockets[0], F_SETFL, O_NONBLOCK) ? -errno : 0;
	if (!err)
		err = openhelper_send(h->control, &order, sizeof(order), sockets[1]);
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		return err;
	}
	return sockets[0];
}

void openhelpers_kill(struct openhelpers *h, unsigned int i)
{
	const struct order order = {i, false};

	openhelper_send(h->control, &order, sizeof(order), -1);
}
