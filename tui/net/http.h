/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_NET_HTTP_H
#define STACKTOP_TUI_NET_HTTP_H

/*
 * Requests over HTTP, and unary calls of gRPC (github.com/grpc/grpc/blob/master/doc/
 * PROTOCOL-HTTP2.md), by libcurl. Everything that comes back is foreign: it is bounded, and texts
 * are clean. A struct http is used by one thread at a time and keeps its connections open.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HTTP_REPLY_MAX 65536u /* bytes of a reply that are kept; the rest is dropped */

struct http;

struct http_settings {
	const char *ca; /* file of certificates to trust instead of the system's; NULL: those */
	unsigned int seconds; /* for a whole request */
	/* "Name: value", which a request has besides its own; secrets. They stay the caller's. */
	const char *const *headers;
	size_t nheaders;
};

struct http_request {
	const char *url;
	const char *type;     /* Content-Type; NULL: no body, a GET */
	const char *encoding; /* Content-Encoding (of gRPC: grpc-encoding); NULL: none */
	const void *body;
	size_t size;
	bool grpc; /* the body is one message, and so is the reply's */
};

struct http_reply {
	int status;	     /* of HTTP; 0: there was no answer, and error says why */
	int grpc_status;     /* of gRPC; -1: none came */
	unsigned int wait;   /* seconds: Retry-After, as a number or a date; 0: none */
	bool unreachable;    /* nothing answers at that place, whatever it is asked */
	bool certificate;    /* the server is not who it should be */
	char type[64];	     /* Content-Type, clean */
	char details[1024];  /* of gRPC: grpc-status-details-bin, in base64; "" */
	char error[256];     /* clean: what went wrong, or what the server says of it; "" */
	const uint8_t *body; /* of the http, until its next request; not clean */
	size_t size;
};

/* NULL: this build can; else why it can not, with the remedy. */
const char *http_missing(void);

/* Copies the settings. -ENOMEM, or -ENOTSUP where http_missing says why. */
int http_new(const struct http_settings *settings, struct http **out);
void http_free(struct http *h); /* NULL is fine */
/*
 * Sends the request and waits for the reply; *stop is looked at meanwhile, and ends it once it is
 * true (NULL: not). -ECANCELED then; -ENOMEM; 0 in all other cases: the reply says what happened.
 */
int http_send(struct http *h, const struct http_request *request, struct http_reply *reply,
	      const atomic_bool *stop);

/* It begins with http:// or https://. */
bool http_is_url(const char *text);

/*
 * Fetches a file of at most `most` bytes to a stream, following redirects to http and https. -errno
 * with its reason in error. A signal that main has blocked and that waits (SIGINT, SIGTERM, SIGHUP)
 * ends it.
 */
int http_fetch(const char *url, FILE *to, uint64_t most, char *error, size_t size);

#endif
