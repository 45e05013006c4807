/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests over HTTP and what comes back: bounded, clean, and only from where it was asked for.
 * Covers: tui/net/http.c tui/net/curl.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/httpserver.h"
#include "tests/support/rights.h"
#include "tui/net/http.h"

static struct httpserver *server, *other;
static char url[256];

/* What the servers answer next, and the last heads that they have seen. */
static const char *answer_text;
static size_t answer_size;
static enum http_then then;
static char seen[16384], seen_other[16384];
static uint8_t *seen_body;
static size_t seen_size;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of these */

static enum http_then serve_locked(void *arg, const struct http_got *got, FILE *answer)
{
	snprintf(arg ? seen_other : seen, sizeof(seen), "%s", got->head);
	if (!arg) {
		seen_body = realloc(seen_body, got->size + 1);
		memcpy(seen_body, got->body, got->size);
		seen_size = got->size;
	}
	if (arg)
		http_answer(answer, "200 OK", "", "other", 5);
	else
		fwrite(answer_text, 1, answer_size, answer);
	return arg ? HTTP_GO_ON : then;
}

static enum http_then serve(void *arg, const struct http_got *got, FILE *answer)
{
	enum http_then next;

	if (!got->body)
		return HTTP_GO_ON;
	pthread_mutex_lock(&lock);
	next = serve_locked(arg, got, answer);
	pthread_mutex_unlock(&lock);
	return next;
}

/* A request has ended: what the servers have seen can be read, and their answers can be changed. */
static void settle(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static int begin(void **state)
{
	(void)state;
	if (http_missing()) {
		skip_since(http_missing());
	}
	server = httpserver_new(serve, NULL);
	other = httpserver_new(serve, "other");
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/path", httpserver_port(server));
	then = HTTP_GO_ON;
	*seen = *seen_other = '\0';
	return 0;
}

static int end(void **state)
{
	(void)state;
	httpserver_free(server);
	httpserver_free(other);
	free(seen_body);
	seen_body = NULL;
	return 0;
}

static void answer(const char *text, size_t size)
{
	answer_text = text;
	answer_size = size;
}

#define ANSWER(text) answer(text, sizeof(text) - 1)

/* The reply's body is valid as long as the http, which the caller frees. */
static struct http *send_with(const struct http_settings *settings, struct http_reply *reply)
{
	const struct http_request request = {
		.url = url, .type = "a/b", .encoding = "gzip", .body = "\0body\n", .size = 6};
	struct http *h;

	assert_int_equal(http_new(settings, &h), 0);
	assert_int_equal(http_send(h, &request, reply, NULL), 0);
	settle();
	assert_non_null(memchr(reply->type, 0, sizeof(reply->type)));
	assert_non_null(memchr(reply->error, 0, sizeof(reply->error)));
	for (const char *s = reply->error; *s; s++)
		assert_true((unsigned char)*s >= ' ' && *s != 0x7f);
	for (const char *s = reply->type; *s; s++)
		assert_true((unsigned char)*s >= ' ' && *s != 0x7f);
	return h;
}

static const struct http_settings plain = {.seconds = 60};

/* Without its body. */
static struct http_reply sent(void)
{
	struct http_reply reply;

	http_free(send_with(&plain, &reply));
	return reply;
}

/* --- requests ----------------------------------------------------------------------------------
 */

static void test_request(void **state)
{
	static const char *const headers[] = {"Authorization: Bearer hunter2", "X-Tenant: 1"};
	struct http_settings settings = plain;
	struct http_reply reply;
	struct http *h;

	(void)state;
	settings.headers = headers;
	settings.nheaders = 2;
	ANSWER("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=x\r\nContent-Length: 5\r\n\r\n"
	       "a\0b\nc");
	h = send_with(&settings, &reply);
	assert_int_equal(reply.status, 200);
	assert_int_equal(reply.grpc_status, -1);
	assert_int_equal(reply.wait, 0);
	assert_false(reply.unreachable);
	assert_string_equal(reply.type, "text/plain");
	assert_string_equal(reply.error, "");
	assert_int_equal(reply.size, 5);
	assert_memory_equal(reply.body, "a\0b\nc", 5);
	http_free(h);
	assert_int_equal(strncmp(seen, "POST /path HTTP/1.1\r\n", 21), 0);
	assert_non_null(strstr(seen, "\r\nAuthorization: Bearer hunter2\r\n"));
	assert_non_null(strstr(seen, "\r\nX-Tenant: 1\r\n"));
	assert_non_null(strstr(seen, "\r\nContent-Type: a/b\r\n"));
	assert_non_null(strstr(seen, "\r\nContent-Encoding: gzip\r\n"));
	assert_null(strcasestr(seen, "\r\nExpect:"));
	assert_int_equal(seen_size, 6);
	assert_memory_equal(seen_body, "\0body\n", 6);
}

/* One handle, other requests: nothing of the one before is left. */
static void test_again(void **state)
{
	const struct http_request post = {.url = url, .type = "a/b", .body = "x", .size = 1};
	const struct http_request get = {.url = url};
	struct http_reply reply;
	struct http *h;

	(void)state;
	assert_int_equal(http_new(&plain, &h), 0);
	ANSWER("HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Type: a/b\r\ngrpc-status: 3\r\n"
	       "Content-Length: 3\r\n\r\nwhy");
	assert_int_equal(http_send(h, &post, &reply, NULL), 0);
	settle();
	assert_int_equal(reply.wait, 7);
	assert_int_equal(reply.grpc_status, 3);
	ANSWER("HTTP/1.1 204 OK\r\nConnection: close\r\n\r\n");
	assert_int_equal(http_send(h, &get, &reply, NULL), 0);
	settle();
	assert_int_equal(strncmp(seen, "GET /path HTTP/1.1\r\n", 20), 0);
	assert_null(strcasestr(seen, "content-type"));
	assert_int_equal(reply.status, 204);
	assert_int_equal(reply.wait, 0);
	assert_int_equal(reply.grpc_status, -1);
	assert_string_equal(reply.error, "");
	assert_string_equal(reply.type, "");
	assert_int_equal(reply.size, 0);
	http_free(h);
	http_free(NULL);
}

/* --- replies -----------------------------------------------------------------------------------
 */

static void test_bounded(void **state)
{
	static char text[4 * HTTP_REPLY_MAX];
	struct http_reply reply;
	struct http *h;
	int n = snprintf(text, sizeof(text), "HTTP/1.1 500 No\r\nContent-Length: %zu\r\n\r\n",
			 (size_t)3 * HTTP_REPLY_MAX);

	(void)state;
	memset(text + n, 'x', sizeof(text) - (size_t)n);
	answer(text, (size_t)n + 3 * HTTP_REPLY_MAX);
	h = send_with(&plain, &reply);
	assert_int_equal(reply.status, 500);
	assert_int_equal(reply.size, HTTP_REPLY_MAX);
	for (size_t i = 0; i < reply.size; i++)
		assert_int_equal(reply.body[i], 'x');
	assert_int_equal(strlen(reply.error), sizeof(reply.error) - 1);
	http_free(h);
	/* A head that is as long as it likes. */
	n = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\ncontent-type: ");
	memset(text + n, 'y', 50000);
	memcpy(text + n + 50000, "\r\n\r\n", 5);
	answer(text, (size_t)n + 50004);
	reply = sent();
	assert_int_equal(strlen(reply.type), sizeof(reply.type) - 1);
}

static void test_headers(void **state)
{
	static const struct {
		const char *line;
		unsigned int wait;
	} waits[] = {
		{"Retry-After: 5", 5},
		{"retry-after:    17", 17},
		{"Retry-After: 0", 0},
		{"Retry-After: 99999999999999999999999", 86400},
		{"Retry-After: -5", 0},
		{"Retry-After: soon", 0},
		{"Retry-After:", 0},
		{"Retry-After: Thu, 01 Jan 1970 00:00:00 GMT", 0},
		{"Retry-After: Fri, 31 Dec 2100 23:59:59 GMT", 86400},
		{"X-Retry-After: 5", 0},
	};
	static const struct {
		const char *line;
		int status;
	} codes[] = {
		{"grpc-status: 0", 0},
		{"Grpc-Status: 8", 8},
		{"grpc-status: 256", 2},
		{"grpc-status: -1", -1},
		{"grpc-status: x", -1},
		{"grpc-status: 0x", 2},
		{"grpc-status: 99999999999999999999", 2},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		int n = snprintf(text, sizeof(text),
				 "HTTP/1.1 503 No\r\n%s\r\nContent-Length: 0\r\n\r\n",
				 waits[i].line);

		answer(text, (size_t)n);
		if (sent().wait != waits[i].wait)
			fail_msg("%s", waits[i].line);
	}
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		int n = snprintf(text, sizeof(text),
				 "HTTP/1.1 200 OK\r\n%s\r\nContent-Length: 0\r\n\r\n",
				 codes[i].line);

		answer(text, (size_t)n);
		if (sent().grpc_status != codes[i].status)
			fail_msg("%s", codes[i].line);
	}
}

/* Those of the reply, not those that came before it. */
static void test_interim(void **state)
{
	struct http_reply reply;

	(void)state;
	ANSWER("HTTP/1.1 103 Early Hints\r\nRetry-After: 5\r\nContent-Type: x/y\r\n"
	       "grpc-status: 0\r\ngrpc-message: no\r\n\r\n"
	       "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	reply = sent();
	assert_int_equal(reply.status, 200);
	assert_int_equal(reply.wait, 0);
	assert_int_equal(reply.grpc_status, -1);
	assert_string_equal(reply.type, "");
	assert_string_equal(reply.error, "");
}

static void test_clean(void **state)
{
	struct http_reply reply;

	(void)state;
	ANSWER("HTTP/1.1 400 \033[31mNo\r\nContent-Type: a\033]0;x\007/b\r\n"
	       "Content-Length: 26\r\n\r\n\033[2Jbad\nline\xff\xe2\x80\xae of tenant");
	reply = sent();
	assert_int_equal(reply.status, 400);
	assert_null(strchr(reply.type, '\033'));
	assert_string_equal(reply.error, "?[2Jbad?line?? of tenant");
	ANSWER("HTTP/1.1 200 OK\r\ngrpc-message: %1b[2J%41%zz%4\r\ngrpc-status: 2\r\n"
	       "Content-Length: 0\r\n\r\n");
	assert_string_equal(sent().error, "?[2JA%zz%4");
	ANSWER("HTTP/1.1 200 OK\r\ngrpc-message: %E4%B8%AD%ff%00\r\ngrpc-status: 2\r\n"
	       "Content-Length: 0\r\n\r\n");
	assert_string_equal(sent().error, "\xe4\xb8\xad??");
}

/* --- no reply ----------------------------------------------------------------------------------
 */

static void test_broken(void **state)
{
	struct http_reply reply;

	(void)state;
	/* Cut off: what was taken is not known. */
	ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
	reply = sent();
	assert_int_equal(reply.status, 0);
	assert_true(*reply.error);
	assert_false(reply.unreachable);
	ANSWER("");
	then = HTTP_RESET;
	reply = sent();
	assert_int_equal(reply.status, 0);
	assert_true(*reply.error);
	then = HTTP_GO_ON;
	ANSWER("\033[31mnothing of HTTP\r\n\r\n");
	reply = sent();
	assert_int_equal(reply.status, 0);
	assert_true(*reply.error);
	/* A port that was just closed. */
	snprintf(url, sizeof(url), "http://127.0.0.1:1/");
	reply = sent();
	assert_int_equal(reply.status, 0);
	assert_true(reply.unreachable);
	assert_string_equal(reply.error, strerror(ECONNREFUSED));
}

/* Only HTTP: no file can be read or written by what a user typed. */
static void test_schemes(void **state)
{
	static const char *const urls[] = {"file:///etc/passwd", "ftp://127.0.0.1/",
					   "gopher://127.0.0.1/", "dict://127.0.0.1/"};

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		struct http_reply reply;

		snprintf(url, sizeof(url), "%s", urls[i]);
		reply = sent();
		assert_int_equal(reply.status, 0);
		assert_int_equal(reply.size, 0);
		assert_true(*reply.error);
	}
}

static atomic_bool stop;

static void *stop_soon(void *arg)
{
	(void)arg;
	while (!httpserver_requests(server))
		usleep(1000);
	atomic_store(&stop, true);
	return NULL;
}

static void test_stop(void **state)
{
	const struct http_request request = {.url = url, .type = "a/b", .body = "x", .size = 1};
	struct http_reply reply;
	struct http *h;
	pthread_t thread;

	(void)state;
	then = HTTP_HANG;
	ANSWER("HTTP/1.1 200 OK\r\n");
	atomic_store(&stop, false);
	assert_int_equal(http_new(&(struct http_settings){.seconds = 3600}, &h), 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
	assert_int_equal(http_send(h, &request, &reply, &stop), -ECANCELED);
	pthread_join(thread, NULL);
	http_free(h);
}

/* --- redirects and files ------------------------------------------------------------------------
 */

/* What is sent, with its secrets, goes only where it should. */
static void test_no_redirect(void **state)
{
	static const char *const headers[] = {"Authorization: Bearer hunter2"};
	static const int codes[] = {301, 302, 303, 307, 308};
	struct http_settings settings = plain;
	char text[512];

	(void)state;
	settings.headers = headers;
	settings.nheaders = 1;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct http_reply reply;
		int n = snprintf(text, sizeof(text),
				 "HTTP/1.1 %d Moved\r\nLocation: http://127.0.0.1:%u/\r\n"
				 "Content-Length: 0\r\n\r\n",
				 codes[i], httpserver_port(other));

		answer(text, (size_t)n);
		http_free(send_with(&settings, &reply));
		assert_int_equal(reply.status, codes[i]);
		assert_int_equal(httpserver_requests(other), 0);
	}
}

static int fetch(uint64_t most, char **text, size_t *size, char error[256])
{
	FILE *to = open_memstream(text, size);
	int err = http_fetch(url, to, most, error, 256);

	fclose(to);
	settle();
	if (err)
		assert_true(*error);
	for (const char *s = error; err && *s; s++)
		assert_true((unsigned char)*s >= ' ');
	return err;
}

static void test_fetch(void **state)
{
	char *text, error[256];
	size_t size;

	(void)state;
	ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
	assert_int_equal(fetch(10, &text, &size, error), 0);
	assert_int_equal(size, 10);
	assert_memory_equal(text, "0123456789", 10);
	free(text);
	assert_int_equal(fetch(9, &text, &size, error), -EFBIG);
	assert_true(size <= 9);
	free(text);
	ANSWER("HTTP/1.1 404 \033[2JNo\r\nContent-Length: 10\r\n\r\n0123456789");
	assert_int_equal(fetch(10, &text, &size, error), -EIO);
	assert_non_null(strstr(error, "404"));
	assert_int_equal(size, 0);
	free(text);
	ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0123456789");
	assert_int_equal(fetch(100, &text, &size, error), -EIO);
	free(text);
}

/* Of any length, since no length is told. */
static void test_fetch_endless(void **state)
{
	static char many[1 << 20];
	char *text, error[256];
	size_t size;
	int n = snprintf(many, sizeof(many), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");

	(void)state;
	memset(many + n, 'x', sizeof(many) - (size_t)n);
	answer(many, sizeof(many));
	assert_int_equal(fetch(1000, &text, &size, error), -EFBIG);
	assert_true(size <= 1000);
	free(text);
}

static void test_fetch_full(void **state)
{
	FILE *to = fopen("/dev/full", "w");
	char error[256] = "";

	(void)state;
	assert_non_null(to);
	setvbuf(to, NULL, _IONBF, 0);
	ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
	assert_int_equal(http_fetch(url, to, 100, error, sizeof(error)), -EIO);
	assert_true(*error);
	fclose(to);
}

static void test_fetch_redirect(void **state)
{
	char *text, error[256], head[512];
	size_t size;
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%u/there\r\n"
			 "Content-Length: 0\r\n\r\n",
			 httpserver_port(other));

	(void)state;
	answer(head, (size_t)n);
	assert_int_equal(fetch(10, &text, &size, error), 0);
	assert_int_equal(size, 5);
	assert_memory_equal(text, "other", 5);
	free(text);
	assert_int_equal(strncmp(seen_other, "GET /there ", 11), 0);
	/* Not to files of this machine, and not for ever. */
	ANSWER("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n");
	assert_int_equal(fetch(1 << 20, &text, &size, error), -EIO);
	assert_int_equal(size, 0);
	free(text);
	n = snprintf(head, sizeof(head),
		     "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", url);
	answer(head, (size_t)n);
	assert_int_equal(fetch(10, &text, &size, error), -EIO);
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_request),	TEST(test_again),	   TEST(test_bounded),
		TEST(test_headers),	TEST(test_interim),	   TEST(test_clean),
		TEST(test_broken),	TEST(test_schemes),	   TEST(test_stop),
		TEST(test_no_redirect), TEST(test_fetch),	   TEST(test_fetch_endless),
		TEST(test_fetch_full),	TEST(test_fetch_redirect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
