/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_AGENT_NOTIFY_H
#define STACKTOP_TUI_AGENT_NOTIFY_H

/*
 * Tells the service manager how the program is: sd_notify(3), a datagram to $NOTIFY_SOCKET. Without
 * that variable nothing is sent, and all calls succeed. They never wait. Only one thread may call
 * them; with NotifyAccess=main any thread of the process counts as its main process.
 */

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NOTIFY_STATUS 256 /* bytes of a status, at most */

struct notify {
	int fd; /* -1: there is no manager */
	struct sockaddr_un to;
	socklen_t length;
	char owed[96]; /* a state that the full socket did not take; it goes before the next */
};

/*
 * Reads the environment. 0, also if there is no manager; notify_close ends it. -EAFNOSUPPORT:
 * $NOTIFY_SOCKET is neither a path from / on nor @name; -E2BIG: it is too long for a socket; or the
 * error of socket(2). *n is as without a manager then.
 */
int notify_open(struct notify *n);
void notify_close(struct notify *n);

/*
 * 0, or the error of sendto(2). -EAGAIN: the manager is busy; the state is kept and sent before the
 * next message, unless a newer one takes its place.
 */
int notify_ready(struct notify *n);	/* also when a reload has ended */
int notify_reloading(struct notify *n); /* before the configuration is read again */
int notify_stopping(struct notify *n);
/* What `systemctl status` shows; it is made printable and may be cut. Not kept with -EAGAIN. */
int notify_status(struct notify *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * How often notify_watchdog has to be called, in ms: half of what the manager allows. 0: it does
 * not watch this process.
 */
uint64_t notify_watchdog_ms(void);
int notify_watchdog(struct notify *n);

#endif
