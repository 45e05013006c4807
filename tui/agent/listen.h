/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_AGENT_LISTEN_H
#define STACKTOP_TUI_AGENT_LISTEN_H

/*
 * Serves GET and HEAD of /metrics, /healthz and /readyz over HTTP, by libmicrohttpd, which is
 * optional: without its header when stacktop is built, listen_start says what to install. One
 * thread serves LISTEN_CLIENTS connections at a time, each with one request and a few KiB. One that
 * is not done after LISTEN_SECONDS is cut off; after a second if others wait for its place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define LISTEN_CLIENTS 16
#define LISTEN_SECONDS 10

struct listen;

/*
 * Answers a request for a path, one of the three: a status such as 200 or 503, and a text from
 * malloc(3), which the server frees. *text is NULL before; without a text the answer is 500. It is
 * called by the server's thread and must not wait long: all clients wait for it.
 */
typedef int (*listen_fn)(void *arg, const char *path, char **text, size_t *size);

/*
 * Reads 9100 or :9100 (only this machine reaches it), localhost:9100, 192.0.2.1:9100, 0.0.0.0:9100
 * (all addresses of IPv4), [::1]:9100 or [::]:9100 (all, also of IPv4). No other names: none is
 * looked up. Port 0: any free one. False: wrong.
 */
bool listen_parse(const char *text, struct sockaddr_storage *to, socklen_t *length);

/*
 * Starts to serve. -ENOTSUP: built without the library; -EINVAL: not an address; or the error of a
 * system call. The error is one line.
 */
int listen_start(struct listen **out, const char *address, listen_fn fn, void *arg, char *error,
		 size_t size);
unsigned int listen_port(const struct listen *l);
/*
 * Cuts off all clients. If fn does not return within a second, its thread is left behind with what
 * it uses (symbols/base/thread.h, thread_is_stuck), and arg must not be freed: false; it may be
 * called again. NULL: true.
 */
bool listen_stop(struct listen *l);

#endif
