// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/httpserver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD_MOST 16384

struct httpserver {
	httpserver_fn fn;
	void *arg;
	int listen, end[2];
	unsigned int port;
	pthread_t thread;
	atomic_uint requests;
	unsigned int begun;
};

/* False: the server ends. */
static bool wait_for(const struct httpserver *s, int fd)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = s->end[0], .events = POLLIN}};

	return poll(fds, 2, -1) > 0 && !fds[1].revents;
}

/* Reads a head byte by byte: what follows is the body. */
static bool read_head(const struct httpserver *s, int fd, char *head)
{
	size_t n = 0;

	while (n < HEAD_MOST - 1 && (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0)) {
		if (!wait_for(s, fd) || read(fd, head + n, 1) != 1)
			return false;
		n++;
	}
	head[n] = '\0';
	return n < HEAD_MOST - 1;
}

static uint8_t *read_body(const struct httpserver *s, int fd, size_t size)
{
	uint8_t *body = malloc(size + 1);
	size_t at = 0;
	ssize_t n = 1;

	while (body && at < size && n > 0) {
		n = wait_for(s, fd) ? read(fd, body + at, size - at) : 0;
		at += n > 0 ? (size_t)n : 0;
	}
	if (at == size)
		return body;
	free(body);
	return NULL;
}

static size_t length_of(const char *head)
{
	const char *line = strcasestr(head, "\r\ncontent-length:");

	return line ? strtoul(line + 17, NULL, 10) : 0;
}

static void send_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		data += n;
		size -= (size_t)n;
	}
}

static enum http_then ask(struct httpserver *s, int fd, const struct http_got *got)
{
	char *text = NULL;
	size_t size = 0;
	FILE *answer = open_memstream(&text, &size);
	enum http_then then = s->fn(s->arg, got, answer);

	fclose(answer);
	send_all(fd, text, size);
	free(text);
	return then;
}

static void serve(struct httpserver *s, int fd)
{
	char head[HEAD_MOST];
	struct http_got got = {.number = s->begun, .head = head};
	enum http_then then;
	uint8_t *body = NULL;

	if (!read_head(s, fd, head))
		return;
	s->begun++;
	got.size = length_of(head);
	then = ask(s, fd, &got);
	if (then == HTTP_GO_ON) {
		body = read_body(s, fd, got.size);
		if (!body)
			return;
		got.body = body;
		atomic_fetch_add(&s->requests, 1);
		then = ask(s, fd, &got);
	}
	free(body);
	if (then == HTTP_RESET) /* socket(7) */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
			   sizeof(struct linger));
	if (then == HTTP_HANG)
		poll((struct pollfd[2]){{.fd = fd, .events = POLLRDHUP},
					{.fd = s->end[0], .events = POLLIN}},
		     2, -1);
}

static void *run(void *arg)
{
	struct httpserver *s = arg;

	while (wait_for(s, s->listen)) {
		int fd = accept(s->listen, NULL, NULL);

		if (fd < 0)
			continue;
		serve(s, fd);
		close(fd);
	}
	return NULL;
}

struct httpserver *httpserver_new(httpserver_fn fn, void *arg)
{
	struct httpserver *s = calloc(1, sizeof(*s));
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);

	assert_non_null(s);
	s->fn = fn;
	s->arg = arg;
	s->listen = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(pipe(s->end), 0);
	assert_int_equal(bind(s->listen, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s->listen, 64), 0);
	assert_int_equal(getsockname(s->listen, (struct sockaddr *)&at, &size), 0);
	s->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, run, s), 0);
	return s;
}

unsigned int httpserver_port(const struct httpserver *s)
{
	return s->port;
}

unsigned int httpserver_requests(struct httpserver *s)
{
	return atomic_load(&s->requests);
}

void httpserver_free(struct httpserver *s)
{
	close(s->end[1]);
	pthread_join(s->thread, NULL);
	close(s->end[0]);
	close(s->listen);
	free(s);
}

char *http_got_path(const struct http_got *got)
{
	const char *path = strchr(got->head, ' ');

	return path ? strndup(path + 1, strcspn(path + 1, " \r")) : strdup("");
}

void http_answer(FILE *to, const char *status, const char *extra, const void *body, size_t size)
{
	fprintf(to, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n", status,
		size, extra);
	fwrite(body, 1, size, to);
}
