// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See listen.h. The library could start threads itself, but those would take signals that are for
 * main, and have no second stack. So it runs in a thread of thread_start, in a loop over its epoll
 * descriptor; select(2), its other way, cannot take the high descriptors that stacktop has.
 *
 * Its timeout begins anew with each byte, so a client that sends one now and then would keep its
 * place for ever. The loop therefore keeps the age of each connection.
 */
#include "tui/agent/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/text.h"
#include "symbols/base/thread.h"
#include "tui/agent/metrics.h"
#include "tui/agent/microhttpd.h"

__attribute__((format(printf, 3, 4))) static void explain(char *error, size_t size,
							  const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_clean(error, size, text, strlen(text));
}

#if HAVE_MICROHTTPD

#define CLIENT_MEMORY 8192 /* bytes of each connection: its request and the answer's head */
#define LOOK_MS	      250  /* how often the ages are looked at */
#define IDLE_MS	      1000 /* the same without clients */
#define CROWDED_MS    1000 /* what a connection gets if all places are taken */
#define STOP_MS	      1000
#define BACKLOG	      32

/* Before 0.9.71 it was int. */
#if MHD_VERSION >= 0x00097002
typedef enum MHD_Result mhd_result;
#else
typedef int mhd_result;
#endif

struct client {
	int fd;		/* -1: the place is free */
	uint64_t since; /* ms */
};

struct listen {
	listen_fn fn;
	void *arg;
	struct MHD_Daemon *daemon;
	int wake;   /* an eventfd: the end */
	int events; /* the daemon's */
	unsigned int port;
	pthread_t thread;
	struct client clients[LISTEN_CLIENTS];
};

static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* --- answers --------------------------------------------------------------------------------- */

static mhd_result answer(struct MHD_Connection *to, unsigned int status, const char *content,
			 struct MHD_Response *response)
{
	mhd_result result;

	if (!response)
		return MHD_NO;
	microhttpd_library()->add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content);
	microhttpd_library()->add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		microhttpd_library()->add_response_header(response, MHD_HTTP_HEADER_ALLOW,
							  "GET, HEAD");
	result = microhttpd_library()->queue_response(to, status, response);
	microhttpd_library()->destroy_response(response);
	return result;
}

#define TEXT "text/plain; charset=utf-8"

static mhd_result refuse(struct MHD_Connection *to, unsigned int status, const char *text)
{
	return answer(to, status, TEXT,
		      microhttpd_library()->create_response_from_buffer(strlen(text), (void *)text,
									MHD_RESPMEM_PERSISTENT));
}

static bool has_body(struct MHD_Connection *from)
{
	const char *length = microhttpd_library()->lookup_connection_value(
		from, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       microhttpd_library()->lookup_connection_value(from, MHD_HEADER_KIND,
							     MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static mhd_result serve(const struct listen *l, struct MHD_Connection *to, const char *path)
{
	const bool metrics = !strcmp(path, "/metrics");
	struct MHD_Response *response;
	char *text = NULL;
	size_t size = 0;
	int status;

	if (!metrics && strcmp(path, "/healthz") != 0 && strcmp(path, "/readyz") != 0)
		return refuse(to, MHD_HTTP_NOT_FOUND, "/metrics, /healthz and /readyz are here\n");
	status = l->fn(l->arg, path, &text, &size);
	if (!text || status < 200 || status > 599) {
		free(text);
		return refuse(to, MHD_HTTP_INTERNAL_SERVER_ERROR, "there is no answer\n");
	}
	response = microhttpd_library()->create_response_from_buffer(size, text,
								     MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(text);
	return answer(to, (unsigned int)status, metrics ? METRICS_CONTENT : TEXT, response);
}

/* An answer that is queued before a body was read ends the connection with it. */
static mhd_result on_request(void *arg, struct MHD_Connection *from, const char *path,
			     const char *method, const char *version, const char *data,
			     size_t *size, void **state)
{
	(void)version;
	(void)data;
	(void)size;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(from, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (has_body(from))
		return refuse(from, MHD_HTTP_BAD_REQUEST, "a request has no body here\n");
	return serve(arg, from, path);
}

/* --- clients --------------------------------------------------------------------------------- */

static void on_connection(void *arg, struct MHD_Connection *connection, void **state,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = microhttpd_library()->get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct listen *l = arg;

	(void)state;
	if (!info)
		return;
	for (size_t i = 0; i < LISTEN_CLIENTS; i++) {
		struct client *client = &l->clients[i];

		if (what == MHD_CONNECTION_NOTIFY_CLOSED && client->fd == info->connect_fd) {
			client->fd = -1;
			return;
		}
		if (what == MHD_CONNECTION_NOTIFY_STARTED && client->fd < 0) {
			*client = (struct client){info->connect_fd, now_ms()};
			return;
		}
	}
}

/* The library then finds that the client is gone, and closes the descriptor. */
static void cut_off_old(struct listen *l)
{
	const uint64_t now = now_ms();
	uint64_t allowed = CROWDED_MS;

	for (size_t i = 0; i < LISTEN_CLIENTS; i++)
		if (l->clients[i].fd < 0)
			allowed = LISTEN_SECONDS * 1000;
	for (size_t i = 0; i < LISTEN_CLIENTS; i++)
		if (l->clients[i].fd >= 0 && now - l->clients[i].since >= allowed)
			shutdown(l->clients[i].fd, SHUT_RDWR);
}

static bool is_any(const struct listen *l)
{
	for (size_t i = 0; i < LISTEN_CLIENTS; i++)
		if (l->clients[i].fd >= 0)
			return true;
	return false;
}

/*
 * How long the thread may sleep. While all places are taken the library does not wait for new
 * clients, and it begins again only when it is called: also without clients it has to be.
 */
static int sleep_ms(const struct listen *l)
{
	MHD_UNSIGNED_LONG_LONG wanted;
	const int most = is_any(l) ? LOOK_MS : IDLE_MS;

	if (microhttpd_library()->get_timeout(l->daemon, &wanted) != MHD_YES ||
	    wanted > (unsigned int)most)
		return most;
	return (int)wanted;
}

static void *run(void *arg)
{
	struct listen *l = arg;
	struct pollfd fds[] = {{.fd = l->wake, .events = POLLIN},
			       {.fd = l->events, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 2, sleep_ms(l)) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		cut_off_old(l);
		microhttpd_library()->run(l->daemon);
	}
	microhttpd_library()->stop_daemon(l->daemon);
	return NULL;
}

/* --- begin and end --------------------------------------------------------------------------- */

static int open_socket(const struct sockaddr_storage *at, socklen_t length)
{
	int fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int no = 0, yes = 1;
	int err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (at->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(fd, (const struct sockaddr *)at, length) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static unsigned int port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} at = {.six = {0}};
	socklen_t length = sizeof(at);

	if (getsockname(fd, &at.any, &length))
		return 0;
	return ntohs(at.any.sa_family == AF_INET6 ? at.six.sin6_port : at.four.sin_port);
}

/* Takes the socket. */
static int start_daemon(struct listen *l, int fd)
{
	const union MHD_DaemonInfo *info;

	l->port = port_of(fd);
	l->daemon = microhttpd_library()->start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, l, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)LISTEN_CLIENTS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)LISTEN_SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, l, MHD_OPTION_END);
	if (!l->daemon) /* it has closed the socket */
		return -ENOMEM;
	info = microhttpd_library()->get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	l->events = info ? info->listen_fd : -1;
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return l->wake < 0 ? -errno : l->events < 0 ? -ENOTSUP : 0;
}

static int start(struct listen *l, const char *address)
{
	struct sockaddr_storage at;
	socklen_t length;
	int fd, err;

	if (!listen_parse(address, &at, &length))
		return -EINVAL;
	fd = open_socket(&at, length);
	if (fd < 0)
		return fd;
	err = start_daemon(l, fd);
	if (!err)
		err = thread_start(&l->thread, run, l);
	if (err && l->daemon)
		microhttpd_library()->stop_daemon(l->daemon);
	if (err && l->wake >= 0)
		close(l->wake);
	return err;
}

int listen_start(struct listen **out, const char *address, listen_fn fn, void *arg, char *error,
		 size_t size)
{
	struct listen *l = calloc(1, sizeof(*l));
	int err = -ENOMEM;

	*error = '\0';
	*out = NULL;
	if (!microhttpd_library()) {
		free(l);
		explain(error, size,
			"libmicrohttpd.so.12 is missing: install libmicrohttpd12 (Debian; "
			"elsewhere libmicrohttpd)");
		return -ENOTSUP;
	}
	if (l) {
		l->fn = fn;
		l->arg = arg;
		l->wake = -1;
		for (size_t i = 0; i < LISTEN_CLIENTS; i++)
			l->clients[i].fd = -1;
		err = start(l, address);
	}
	if (!err) {
		*out = l;
		return 0;
	}
	free(l);
	if (err == -EINVAL)
		explain(error, size, "`%.128s' is not PORT, HOST:PORT or [HOST]:PORT", address);
	else
		explain(error, size, "cannot listen at %.128s: %s", address, strerror(-err));
	return err;
}

unsigned int listen_port(const struct listen *l)
{
	return l->port;
}

bool listen_stop(struct listen *l)
{
	const uint64_t one = 1;

	if (!l)
		return true;
	if (write(l->wake, &one, sizeof(one)) < 0 || !thread_join_within(l->thread, STOP_MS))
		return false;
	close(l->wake);
	free(l);
	return true;
}

#else

int listen_start(struct listen **out, const char *address, listen_fn fn, void *arg, char *error,
		 size_t size)
{
	struct sockaddr_storage at;
	socklen_t length;

	(void)fn;
	(void)arg;
	*out = NULL;
	if (!listen_parse(address, &at, &length)) {
		explain(error, size, "`%.128s' is not PORT, HOST:PORT or [HOST]:PORT", address);
		return -EINVAL;
	}
	explain(error, size,
		"this stacktop was built without an HTTP server: install libmicrohttpd-dev "
		"(Debian; elsewhere libmicrohttpd-devel) and build it again");
	return -ENOTSUP;
}

unsigned int listen_port(const struct listen *l)
{
	(void)l;
	return 0;
}

bool listen_stop(struct listen *l)
{
	(void)l;
	return true;
}

#endif
