// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See notify.h. The protocol is stable and needs a dozen lines, so libsystemd is not a dependency;
 * sd_notify(3) itself recommends that. Addresses of the kind vsock:, which virtual machines use,
 * are left out.
 */
#include "tui/agent/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/text.h"

static int find_address(struct notify *n, const char *name)
{
	size_t length = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || !name[1])
		return -EAFNOSUPPORT;
	if (length >= sizeof(n->to.sun_path))
		return -E2BIG;
	n->to = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(n->to.sun_path, name, length);
	if (name[0] == '@') /* no file, and its name ends where the address does */
		n->to.sun_path[0] = '\0';
	else
		length++;
	n->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	return 0;
}

int notify_open(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");
	int err;

	*n = (struct notify){.fd = -1};
	if (!name || !*name)
		return 0;
	err = find_address(n, name);
	if (err)
		return err;
	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return n->fd < 0 ? -errno : 0;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

static int send_text(struct notify *n, const char *text)
{
	if (sendto(n->fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&n->to, n->length) >=
	    0)
		return 0;
	return errno == ENOBUFS ? -EAGAIN : -errno;
}

/* Two states in one datagram would have no order. */
static int tell(struct notify *n, const char *text, bool state)
{
	int err = 0;

	if (n->fd < 0)
		return 0;
	if (*n->owed)
		err = send_text(n, n->owed);
	if (err != -EAGAIN) {
		*n->owed = '\0';
		err = send_text(n, text);
	}
	if (err == -EAGAIN && state)
		snprintf(n->owed, sizeof(n->owed), "%s", text);
	return err;
}

int notify_ready(struct notify *n)
{
	return tell(n, "READY=1", true);
}

/* The manager tells by the time which reload is meant. */
int notify_reloading(struct notify *n)
{
	char text[sizeof(n->owed)];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 clock_ns(CLOCK_MONOTONIC) / 1000);
	return tell(n, text, true);
}

int notify_stopping(struct notify *n)
{
	return tell(n, "STOPPING=1", true);
}

int notify_status(struct notify *n, const char *format, ...)
{
	char text[NOTIFY_STATUS + 1], line[sizeof("STATUS=") + NOTIFY_STATUS] = "STATUS=";
	const size_t head = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_clean(line + head, sizeof(line) - head, text, strlen(text));
	return tell(n, line, false);
}

static bool read_number(const char *name, uint64_t *value)
{
	const char *text = getenv(name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !*end && !errno;
}

uint64_t notify_watchdog_ms(void)
{
	uint64_t usec, pid;

	if (!read_number("WATCHDOG_USEC", &usec) || !usec)
		return 0;
	/* A parent's watchdog is not for this process. */
	if (getenv("WATCHDOG_PID") &&
	    (!read_number("WATCHDOG_PID", &pid) || pid != (uint64_t)getpid()))
		return 0;
	return usec < 2000 ? 1 : usec / 2000;
}

int notify_watchdog(struct notify *n)
{
	return tell(n, "WATCHDOG=1", false);
}
