/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a service manager receives, at a socket as it makes one; that nothing waits for a manager
 * that does not read.
 * Covers: tui/agent/notify.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "tests/support/fds.h"
#include "tests/support/scratch.h"
#include "tui/agent/notify.h"

static char folder[SCRATCH];
static int manager = -1;
static struct notify n;
static char received[1024];

static int begin(void **state)
{
	(void)state;
	alarm(60);
	scratch_folder(folder, "notify");
	return 0;
}

static int end(void **state)
{
	(void)state;
	notify_close(&n);
	if (manager >= 0)
		close(manager);
	manager = -1;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

/* name: with @ in front for one without a file. */
static void listen_at(const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));

	assert_true(strlen(name) < sizeof(at.sun_path));
	memcpy(at.sun_path, name, strlen(name));
	if (*name == '@')
		at.sun_path[0] = '\0';
	else
		length++;
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(manager >= 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&at, length), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_open(&n), 0);
	assert_true(n.fd >= 0);
}

static void listen_in_folder(const char *file)
{
	char name[SCRATCH + 32];

	snprintf(name, sizeof(name), "%s/%s", folder, file);
	listen_at(name);
}

/* A datagram, or "" */
static const char *next(void)
{
	ssize_t got = recv(manager, received, sizeof(received) - 1, 0);

	received[got > 0 ? got : 0] = '\0';
	return received;
}

static void send_all(void)
{
	assert_int_equal(notify_ready(&n), 0);
	assert_int_equal(notify_status(&n, "%d profiles", 3), 0);
	assert_int_equal(notify_watchdog(&n), 0);
	assert_int_equal(notify_stopping(&n), 0);
}

static void assert_all_received(void)
{
	assert_string_equal(next(), "READY=1");
	assert_string_equal(next(), "STATUS=3 profiles");
	assert_string_equal(next(), "WATCHDOG=1");
	assert_string_equal(next(), "STOPPING=1");
	assert_string_equal(next(), "");
}

static void test_path(void **state)
{
	(void)state;
	listen_in_folder("path");
	send_all();
	assert_all_received();
}

static void test_abstract(void **state)
{
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "@stacktop-test-%d", getpid());
	listen_at(name);
	send_all();
	assert_all_received();
}

static void test_reload(void **state)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC) / 1000, usec;

	(void)state;
	listen_in_folder("reload");
	assert_int_equal(notify_reloading(&n), 0);
	assert_int_equal(sscanf(next(), "RELOADING=1\nMONOTONIC_USEC=%" SCNu64, &usec), 1);
	assert_in_range(usec, before, clock_ns(CLOCK_MONOTONIC) / 1000);
	assert_int_equal(notify_ready(&n), 0);
	assert_string_equal(next(), "READY=1");
}

/* No text can be a second assignment, and a long one is cut between characters. */
static void test_status_is_clean(void **state)
{
	char text[600];

	(void)state;
	listen_in_folder("clean");
	assert_int_equal(notify_status(&n, "%s", "a\nSTOPPING=1\033[31m"), 0);
	assert_string_equal(next(), "STATUS=a?STOPPING=1?[31m");
	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = "ü"[i & 1];
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(notify_status(&n, "%s", text), 0);
	next();
	assert_int_equal(strlen(received), 7 + NOTIFY_STATUS);
	assert_string_equal(received + strlen(received) - 2, "ü");
}

static void test_no_manager(void **state)
{
	size_t open_before = count_fds();

	(void)state;
	assert_int_equal(notify_open(&n), 0);
	send_all();
	assert_int_equal(notify_reloading(&n), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(notify_open(&n), 0);
	send_all();
	notify_close(&n);
	notify_close(&n);
	assert_int_equal(count_fds(), open_before);
}

static void test_wrong_addresses(void **state)
{
	char name[200];

	(void)state;
	setenv("NOTIFY_SOCKET", "run/notify", 1);
	assert_int_equal(notify_open(&n), -EAFNOSUPPORT);
	setenv("NOTIFY_SOCKET", "vsock:2:1", 1);
	assert_int_equal(notify_open(&n), -EAFNOSUPPORT);
	setenv("NOTIFY_SOCKET", "@", 1);
	assert_int_equal(notify_open(&n), -EAFNOSUPPORT);
	memset(name, '/', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_open(&n), -E2BIG);
	send_all();
	name[107] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_open(&n), 0);
	assert_true(notify_ready(&n) < 0);
}

/* A manager that has ended, and one that does not read. */
static void test_manager_is_away(void **state)
{
	int sent = 0;

	(void)state;
	listen_in_folder("away");
	while (!notify_status(&n, "%d", sent))
		sent++;
	assert_true(sent > 0);
	assert_int_equal(notify_watchdog(&n), -EAGAIN);
	assert_int_equal(notify_reloading(&n), -EAGAIN);
	assert_int_equal(notify_ready(&n), -EAGAIN);
	for (int i = 0; i < sent; i++)
		assert_int_equal(strncmp(next(), "STATUS=", 7), 0);
	assert_string_equal(next(), "");
	assert_int_equal(notify_watchdog(&n), 0);
	assert_string_equal(next(), "READY=1");
	assert_string_equal(next(), "WATCHDOG=1");
	assert_string_equal(next(), "");
	close(manager);
	manager = -1;
	assert_int_equal(notify_stopping(&n), -ECONNREFUSED);
}

static void test_watchdog(void **state)
{
	char pid[32];

	(void)state;
	assert_int_equal(notify_watchdog_ms(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	assert_int_equal(notify_watchdog_ms(), 15000);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog_ms(), 15000);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog_ms(), 0);
	setenv("WATCHDOG_PID", "", 1);
	assert_int_equal(notify_watchdog_ms(), 0);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "10", 1);
	assert_int_equal(notify_watchdog_ms(), 1);
	setenv("WATCHDOG_USEC", "-1", 1);
	assert_int_equal(notify_watchdog_ms(), 0);
	setenv("WATCHDOG_USEC", "1s", 1);
	assert_int_equal(notify_watchdog_ms(), 0);
	setenv("WATCHDOG_USEC", "99999999999999999999999", 1);
	assert_int_equal(notify_watchdog_ms(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_path, end),
		cmocka_unit_test_teardown(test_abstract, end),
		cmocka_unit_test_teardown(test_reload, end),
		cmocka_unit_test_teardown(test_status_is_clean, end),
		cmocka_unit_test_teardown(test_no_manager, end),
		cmocka_unit_test_teardown(test_wrong_addresses, end),
		cmocka_unit_test_teardown(test_manager_is_away, end),
		cmocka_unit_test_teardown(test_watchdog, end),
	};

	n.fd = -1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, scratch_remove);
}
