/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_HTTPSERVER_H
#define STACKTOP_TESTS_SUPPORT_HTTPSERVER_H

/*
 * A server of HTTP/1.1 at 127.0.0.1 that answers as a test likes, or not at all. A thread serves
 * one connection after the other, each with one request.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct httpserver;

struct http_got {
	unsigned int number; /* of the request, from 0 on */
	const char *head;    /* lines up to the empty one, with \r\n */
	const uint8_t *body; /* NULL: it was not read yet */
	size_t size;	     /* of the body, as the head says */
};

enum http_then {
	HTTP_GO_ON, /* read the body, or send the answer */
	HTTP_RESET, /* reset the connection, after the part of an answer that is there */
	HTTP_HANG,  /* say nothing more until the client goes or the server ends */
};

/* Called twice for each request, by the server's thread: with its head, and with its body. Writes
 * the answer, all bytes of it. */
typedef enum http_then (*httpserver_fn)(void *arg, const struct http_got *got, FILE *answer);

/* The test fails if it cannot be started. */
struct httpserver *httpserver_new(httpserver_fn fn, void *arg);
unsigned int httpserver_port(const struct httpserver *s);
/* Requests whose body was read. */
unsigned int httpserver_requests(struct httpserver *s);
void httpserver_free(struct httpserver *s);
/* The path of a request, which the caller frees. */
char *http_got_path(const struct http_got *got);
/* An answer without more headers than it needs; extra: such, each with its \r\n. */
void http_answer(FILE *to, const char *status, const char *extra, const void *body, size_t size);

#endif
