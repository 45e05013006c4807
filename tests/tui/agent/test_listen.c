/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP server, by clients that write what they like: right requests, wrong ones, slow ones,
 * more than there are places for, and an answer that does not come when the program ends.
 * Covers: tui/agent/microhttpd.c tui/agent/listen.c tui/agent/listen_address.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tests/support/fds.h"
#include "tests/support/rights.h"
#include "tui/agent/listen.h"

static struct listen *server;
static char error[256];
static char got[8192];
static sem_t hold, held;

static int fn(void *arg, const char *path, char **text, size_t *size)
{
	const char *said = arg;

	if (said && !strcmp(said, "hold")) {
		sem_post(&held);
		sem_wait(&hold);
	}
	if (said && !strcmp(said, "none"))
		return 200;
	*text = strdup(path);
	*size = *text ? strlen(*text) : 0;
	return strcmp(path, "/readyz") ? 200 : 503;
}

static void start(const char *address, const char *arg)
{
	int err = listen_start(&server, address, fn, (void *)arg, error, sizeof(error));

	if (err == -ENOTSUP) {
		assert_non_null(strstr(error, "libmicrohttpd-dev"));
		skip_since("libmicrohttpd is not installed");
	}
	if (err)
		fail_msg("%s", error);
}

static int end(void **state)
{
	(void)state;
	assert_true(listen_stop(server));
	server = NULL;
	return 0;
}

static double seconds(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1e9;
}

static int connected(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((in_port_t)listen_port(server)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct timeval patience = {.tv_sec = 30};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* All that comes up to the end of the connection, into got. */
static void read_all(int fd)
{
	size_t length = 0;
	ssize_t n;

	while ((n = recv(fd, got + length, sizeof(got) - 1 - length, 0)) > 0)
		length += (size_t)n;
	got[length] = '\0';
	if (n < 0 && errno != ECONNRESET)
		fail_msg("the connection does not end: %s", strerror(errno));
	close(fd);
}

static void ask(const char *request)
{
	int fd = connected();

	(void)!send(fd, request, strlen(request), MSG_NOSIGNAL);
	read_all(fd);
}

static int connected_with(const char *text)
{
	int fd = connected();

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	return fd;
}

static void assert_status(const char *request, int status)
{
	int answered = 0;

	ask(request);
	if (sscanf(got, "HTTP/1.1 %d ", &answered) != 1 || answered != status)
		fail_msg("`%s' is answered with: %s", request, got);
}

static const char *body(void)
{
	const char *at = strstr(got, "\r\n\r\n");

	return at ? at + 4 : "";
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

/* --- addresses ------------------------------------------------------------------------------- */

static void assert_address(const char *text, const char *host, unsigned int port)
{
	struct sockaddr_storage at;
	char name[INET6_ADDRSTRLEN];
	socklen_t length;
	const bool six = strchr(host, ':') != NULL;
	const void *place = six ? (const void *)&((struct sockaddr_in6 *)&at)->sin6_addr
				: (const void *)&((struct sockaddr_in *)&at)->sin_addr;

	if (!listen_parse(text, &at, &length))
		fail_msg("`%s' is refused", text);
	assert_int_equal(at.ss_family, six ? AF_INET6 : AF_INET);
	assert_int_equal(length, six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	assert_non_null(inet_ntop(at.ss_family, place, name, sizeof(name)));
	assert_string_equal(name, host);
	assert_int_equal(ntohs(six ? ((struct sockaddr_in6 *)&at)->sin6_port
				   : ((struct sockaddr_in *)&at)->sin_port),
			 port);
}

static void test_addresses(void **state)
{
	static const char *const wrong[] = {"",
					    ":",
					    "65536",
					    "-1",
					    "+1",
					    " 1",
					    "1 ",
					    "0x1",
					    "host:1",
					    "1.2.3:1",
					    "1.2.3.4.5:1",
					    "1.2.3.4:",
					    "1.2.3.4",
					    "::1",
					    "::1:80",
					    "[::1]",
					    "[::1]:",
					    "[::1:80",
					    "[]:80",
					    "[1.2.3.4]:80",
					    "]:80",
					    "[:80",
					    "localhost",
					    "localhost :1",
					    "[::1]:80:90",
					    "a/b:1",
					    "99999999999999999999",
					    "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:1",
					    "http://127.0.0.1:80"};
	struct sockaddr_storage at;
	socklen_t length;

	(void)state;
	assert_address("9100", "127.0.0.1", 9100);
	assert_address(":9100", "127.0.0.1", 9100);
	assert_address("0", "127.0.0.1", 0);
	assert_address("65535", "127.0.0.1", 65535);
	assert_address("localhost:1", "127.0.0.1", 1);
	assert_address("192.0.2.1:80", "192.0.2.1", 80);
	assert_address("0.0.0.0:80", "0.0.0.0", 80);
	assert_address("[::1]:80", "::1", 80);
	assert_address("[::]:80", "::", 80);
	assert_address("[2001:db8:1111:2222:3333:4444:5555:6666]:80",
		       "2001:db8:1111:2222:3333:4444:5555:6666", 80);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (listen_parse(wrong[i], &at, &length))
			fail_msg("`%s' is taken", wrong[i]);
		assert_int_equal(listen_start(&server, wrong[i], fn, NULL, error, sizeof(error)),
				 -EINVAL);
		assert_non_null(strstr(error, "is not PORT, HOST:PORT or [HOST]:PORT"));
		assert_null(server);
	}
}

static void test_taken(void **state)
{
	struct listen *second;
	char address[32];

	(void)state;
	start("0", NULL);
	assert_in_range(listen_port(server), 1, 65535);
	snprintf(address, sizeof(address), "127.0.0.1:%u", listen_port(server));
	assert_int_equal(listen_start(&second, address, fn, NULL, error, sizeof(error)),
			 -EADDRINUSE);
	assert_non_null(strstr(error, address));
	assert_non_null(strstr(error, "Address already in use"));
	assert_null(second);
	assert_int_equal(listen_start(&second, "192.0.2.1:0", fn, NULL, error, sizeof(error)),
			 -EADDRNOTAVAIL);
}

static void test_ipv6(void **state)
{
	(void)state;
	if (listen_start(&server, "[::]:0", fn, NULL, error, sizeof(error)) == -EAFNOSUPPORT)
		skip_since("no IPv6");
	if (!server)
		start("[::]:0", NULL);
	/* By IPv4, which all addresses include. */
	assert_status(GET("/healthz"), 200);
}

/* --- requests -------------------------------------------------------------------------------- */

static void test_pages(void **state)
{
	(void)state;
	start("0", NULL);
	assert_status(GET("/metrics"), 200);
	assert_string_equal(body(), "/metrics");
	assert_non_null(strstr(got, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	assert_non_null(strstr(got, "Connection: close\r\n"));
	assert_status(GET("/healthz"), 200);
	assert_string_equal(body(), "/healthz");
	assert_non_null(strstr(got, "Content-Type: text/plain; charset=utf-8\r\n"));
	assert_status(GET("/readyz"), 503);
	assert_string_equal(body(), "/readyz");
	assert_status(GET("/metrics?name=x"), 200);
	assert_string_equal(body(), "/metrics");
	assert_status("GET /metrics HTTP/1.0\r\n\r\n", 200);
	assert_status("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200);
	assert_string_equal(body(), "");
	assert_non_null(strstr(got, "Content-Length: 8\r\n"));
}

static void test_wrong_requests(void **state)
{
	static char request[20000];

	(void)state;
	start("0", NULL);
	assert_status(GET("/"), 404);
	assert_status(GET("/metrics/"), 404);
	assert_status(GET("/../metrics"), 404);
	assert_status("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na", 405);
	assert_non_null(strstr(got, "Allow: GET, HEAD\r\n"));
	assert_status("DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405);
	assert_status("X /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405);
	assert_status("GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n",
		      400);
	assert_status("GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		      400);
	memset(request, 'a', sizeof(request) - 1);
	memcpy(request, "GET /", 5);
	ask(request);
	assert_null(strstr(got, "200"));
	assert_status(GET("/healthz"), 200);
}

static void test_no_answer(void **state)
{
	(void)state;
	start("0", "none");
	assert_status(GET("/metrics"), 500);
}

static void test_many(void **state)
{
	size_t before;

	(void)state;
	start("0", NULL);
	before = count_fds();
	for (int i = 0; i < 300; i++)
		assert_status(GET("/metrics"), 200);
	/* The server closes the last one a moment after its client. */
	for (int i = 0; i < 1000 && count_fds() != before; i++)
		usleep(10000);
	assert_int_equal(count_fds(), before);
}

/* --- slow clients ---------------------------------------------------------------------------- */

/* All places are taken by clients that say nothing, and as many more wait. */
static void test_crowd(void **state)
{
	int crowd[2 * LISTEN_CLIENTS];
	double before;

	(void)state;
	start("0", NULL);
	for (size_t i = 0; i < 2 * LISTEN_CLIENTS; i++)
		crowd[i] = connected();
	before = seconds();
	assert_status(GET("/metrics"), 200);
	assert_true(seconds() - before < 8);
	for (size_t i = 0; i < 2 * LISTEN_CLIENTS; i++)
		close(crowd[i]);
}

/* A byte now and then keeps a place for LISTEN_SECONDS only, and does not hold others up. */
static void test_drops(void **state)
{
	const char *request = "GET /metrics HTTP/1.1\r\nHost: abcdefghijklmnopqrstuvwxyz";
	int blank, other, slow, sent = 0;
	double before, asked;

	(void)state;
	start("0", NULL);
	blank = connected_with("\r\n\r\n\r\n\r\n");
	other = connected_with("\x16\x03\x01\x02"); /* TLS begins so */
	slow = connected();
	before = seconds();
	while (send(slow, request + sent % 40, 1, MSG_NOSIGNAL) == 1) {
		assert_true(seconds() - before < 3 * LISTEN_SECONDS);
		asked = seconds();
		assert_status(GET("/metrics"), 200);
		assert_true(seconds() - asked < 5);
		usleep(400000);
		sent++;
	}
	assert_true(seconds() - before > LISTEN_SECONDS - 1);
	close(slow);
	read_all(blank);
	assert_string_equal(got, "");
	read_all(other);
	assert_string_equal(got, "");
}

/* --- the end --------------------------------------------------------------------------------- */

static void test_stop(void **state)
{
	size_t before = count_fds();
	double since;
	int client;

	(void)state;
	start("0", NULL);
	client = connected_with("GET");
	usleep(100000);
	since = seconds();
	assert_true(listen_stop(server));
	server = NULL;
	assert_true(seconds() - since < 0.9);
	read_all(client);
	assert_string_equal(got, "");
	assert_int_equal(count_fds(), before);
	assert_true(listen_stop(NULL));
	assert_false(thread_is_stuck());
}

/* Comes last: the program has a thread that was stuck from then on. */
static void test_stop_while_it_hangs(void **state)
{
	double since;
	int client;

	(void)state;
	sem_init(&hold, 0, 0);
	sem_init(&held, 0, 0);
	start("0", "hold");
	client = connected_with(GET("/metrics"));
	sem_wait(&held);
	since = seconds();
	assert_false(listen_stop(server));
	assert_true(seconds() - since < 5);
	assert_true(thread_is_stuck());
	sem_post(&hold);
	close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_addresses, end),
		cmocka_unit_test_teardown(test_taken, end),
		cmocka_unit_test_teardown(test_ipv6, end),
		cmocka_unit_test_teardown(test_pages, end),
		cmocka_unit_test_teardown(test_wrong_requests, end),
		cmocka_unit_test_teardown(test_no_answer, end),
		cmocka_unit_test_teardown(test_many, end),
		cmocka_unit_test_teardown(test_crowd, end),
		cmocka_unit_test_teardown(test_drops, end),
		cmocka_unit_test_teardown(test_stop, end),
		cmocka_unit_test_teardown(test_stop_while_it_hangs, end),
	};

	alarm(250);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
