/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A debuginfod of elfutils on the loopback, with the debug file of a program that is compiled here,
 * and servers that do not answer. Without debuginfod only the latter are tested.
 * Covers: symbols/elf/remotedebug.c symbols/elf/debugfile.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/remotedebug.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"

static char folder[SCRATCH];

#define PATIENCE 60 /* s */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* A socket that listens on a free port of the loopback. */
static int listener(unsigned int *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	/* NOLINTNEXTLINE: a test's own words */
	assert_int_equal(system(command), 0);
}

static void use_server(unsigned int port)
{
	char url[64], cache[96];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	setenv("DEBUGINFOD_TIMEOUT", "600", 1); /* far more than PATIENCE */
	unsetenv("http_proxy");
	setenv("no_proxy", "127.0.0.1", 1);
}

/* Or skips. */
static struct remotedebug *start(void)
{
	struct remotedebug *rd = NULL;
	int err = remotedebug_new(&rd);

	if (err == -ELIBACC) {
		skip_since("libdebuginfod.so.1 is not installed");
	}
	assert_int_equal(err, 0);
	return rd;
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "remote");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	run("rm -rf '%s'", folder);
	return 0;
}

static void test_not_asked_for(void **state)
{
	struct remotedebug *rd;

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_int_equal(remotedebug_new(&rd), -ENOENT);
	assert_null(rd);
	setenv("DEBUGINFOD_URLS", "", 1);
	assert_int_equal(remotedebug_new(&rd), -ENOENT);
	remotedebug_free(NULL);
}

/* A server that accepts and never answers: remotedebug_open and remotedebug_free do not wait. */
static void test_silent_server(void **state)
{
	const uint8_t id[20] = {1, 2, 3};
	struct remotedebug_state now;
	struct remotedebug *rd;
	unsigned int port;
	int fd = listener(&port);
	double begin = seconds();

	(void)state;
	use_server(port);
	rd = start();
	for (int i = 0; i < 20; i++) {
		assert_int_equal(remotedebug_open(rd, id, sizeof(id)), -EAGAIN);
		pause_ms(20);
	}
	remotedebug_state(rd, &now);
	assert_int_equal(now.waiting, 1);
	assert_string_equal(now.id, "0102030000000000000000000000000000000000");
	assert_int_equal(remotedebug_open(rd, id, 0), -ENOENT);
	remotedebug_free(rd);
	assert_true(seconds() - begin < PATIENCE);
	close(fd);
}

/* What is being fetched is given up at once, what waits behind it too, and neither comes again. */
static void test_cancel(void **state)
{
	const uint8_t ids[2][20] = {{1, 2, 3}, {4, 5, 6}};
	struct remotedebug_state now;
	struct remotedebug *rd;
	unsigned int port;
	double end;
	int fd = listener(&port);

	(void)state;
	use_server(port);
	rd = start();
	if (!rd)
		skip_since("libdebuginfod is not installed");
	assert_int_equal(remotedebug_cancel(rd), 0);
	assert_int_equal(remotedebug_open(rd, ids[0], 20), -EAGAIN);
	assert_int_equal(remotedebug_open(rd, ids[1], 20), -EAGAIN);
	do {
		pause_ms(20);
		remotedebug_state(rd, &now);
	} while (!now.id[0]);
	assert_int_equal(now.waiting, 2);
	assert_int_equal(remotedebug_cancel(rd), 2);
	assert_int_equal(remotedebug_open(rd, ids[1], 20), -ENOENT);
	for (end = seconds() + PATIENCE; now.waiting && seconds() < end;
	     remotedebug_state(rd, &now))
		pause_ms(20);
	assert_int_equal(now.waiting, 0);
	assert_int_equal(now.missing, 2);
	assert_int_equal(remotedebug_open(rd, ids[0], 20), -ENOENT);
	remotedebug_free(rd);
	close(fd);
}

/* 30 s for the first byte, then 10 s and 64 KiB a second; 512 MiB, and what is left. */
static void test_too_much(void **state)
{
	const uint64_t mib = 1 << 20, any = 2048 * mib;

	(void)state;
	assert_false(remotedebug_is_too_much(0, 0, any, 29));
	assert_true(remotedebug_is_too_much(0, 0, any, 31));
	assert_false(remotedebug_is_too_much(11, 1000, any, 9));
	assert_true(remotedebug_is_too_much(11, 1000, any, 11));
	assert_false(remotedebug_is_too_much(64 * mib, 512 * mib, any, 1030));
	assert_true(remotedebug_is_too_much(64 * mib, 512 * mib, any, 1040));
	assert_false(remotedebug_is_too_much(64 * mib, 0, any, 1030));
	assert_true(remotedebug_is_too_much(64 * mib, 0, any, 1040));
	assert_true(remotedebug_is_too_much(1, 512 * mib + 1, any, 0));
	assert_true(remotedebug_is_too_much(512 * mib + 1, 0, any, 0));
	assert_true(remotedebug_is_too_much(1, 101, 100, 0));
	assert_false(remotedebug_is_too_much(1, 100, 100, 0));
}

/* A server that begins each answer so, and then sends a byte each 100 ms. */
static pid_t start_slow_server(const char *head, unsigned int *port)
{
	int fd = listener(port), to;
	char request[4096];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid) {
		close(fd);
		return pid;
	}
	signal(SIGPIPE, SIG_IGN);
	while ((to = accept(fd, NULL, NULL)) >= 0) {
		if (read(to, request, sizeof(request)) > 0 && write(to, head, strlen(head)) > 0)
			while (write(to, "x", 1) == 1)
				pause_ms(100);
		close(to);
	}
	_exit(0);
}

/*
 * A server that would go on for a day and one that claims a terabyte are given up, although they
 * never pause. The library alone would wait for 600 s without progress.
 */
static void test_slow_server(void **state)
{
	static const char *const heads[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n",
	};
	const uint8_t id[20] = {9};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct remotedebug_state now;
		struct remotedebug *rd;
		unsigned int port;
		pid_t server = start_slow_server(heads[i], &port);

		use_server(port);
		rd = start();
		assert_int_equal(remotedebug_open(rd, id, sizeof(id)), -EAGAIN);
		/* As long as it takes: what must be true is that it ends. */
		while (remotedebug_open(rd, id, sizeof(id)) == -EAGAIN)
			pause_ms(50);
		remotedebug_state(rd, &now);
		assert_int_equal(now.missing, 1);
		assert_int_equal(now.waiting, 0);
		remotedebug_free(rd);
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		run("rm -rf '%s/cache'", folder);
	}
}

static pid_t start_server(unsigned int *port)
{
	char number[16];
	int fd = listener(port), log;
	pid_t pid;

	close(fd); /* the port is free now, and not reused for a while */
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%u", *port);
	log = open("/dev/null", O_RDWR);
	dup2(log, 1);
	dup2(log, 2);
	execlp("debuginfod", "debuginfod", "-p", number, "-d", ":memory:", "-t", "1", "-g", "0",
	       "-F", folder, NULL);
	_exit(127);
}

/* Until it is no longer asked for; a server that is still reading its files is asked anew. */
static int wait_for(struct remotedebug **rd, const uint8_t *id, size_t length, bool there)
{
	double end = seconds() + PATIENCE;
	int fd = -EAGAIN;

	while (seconds() < end) {
		fd = remotedebug_open(*rd, id, length);
		if (fd >= 0 || (fd == -ENOENT && !there))
			break;
		if (fd == -ENOENT) {
			remotedebug_free(*rd);
			run("rm -rf '%s/cache'", folder);
			pause_ms(300);
			*rd = start();
		}
		pause_ms(30);
	}
	return fd;
}

/* A server that is not there is no server without the file. */
static void test_refused(void **state)
{
	const uint8_t id[20] = {7};
	struct remotedebug_state now;
	struct remotedebug *rd;
	unsigned int port;

	(void)state;
	close(listener(&port));
	use_server(port);
	rd = start();
	if (!rd)
		skip_since("libdebuginfod is not installed");
	assert_int_equal(wait_for(&rd, id, sizeof(id), false), -ENOENT);
	remotedebug_state(rd, &now);
	assert_int_equal(now.missing, 1);
	assert_int_equal(now.error, -ECONNREFUSED);
	remotedebug_free(rd);
}

static void compare(int fd, const char *path)
{
	char copy[96];
	FILE *to;
	char bytes[4096];
	ssize_t n;

	snprintf(copy, sizeof(copy), "%s/fetched", folder);
	to = fopen(copy, "w");
	assert_non_null(to);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)n, to);
	fclose(to);
	run("cmp '%s' '%s'", copy, path);
}

static void test_elfutils_server(void **state)
{
	const uint8_t none[20] = {7, 7, 7};
	char program[96], path[96];
	struct elf_file *file, *debug;
	struct remotedebug *rd;
	struct debug_link link;
	struct debug_place place = {.root = -1, .folder = "/nonexistent"};
	struct remotedebug_state now;
	unsigned int port;
	pid_t server;
	int fd;

	(void)state;
	/* NOLINTNEXTLINE: a test's own words */
	if (system("command -v debuginfod >/dev/null")) {
		skip_since("debuginfod is not installed");
	}
	snprintf(program, sizeof(program), "%s.program", folder); /* not where the server looks */
	snprintf(path, sizeof(path), "%s/program.debug", folder);
	run("echo 'static int f(int x) { return x + 1; } int main(int c, char **v) { return f(c) + !v; }' |"
	    "gcc -g -O0 -Wl,--build-id -x c -o '%s' -",
	    program);
	run("objcopy --only-keep-debug '%s' '%s' && strip '%s'", program, path, program);
	server = start_server(&port);
	use_server(port);
	rd = start();
	assert_int_equal(elf_file_open(program, &file), 0);
	debug_link_read(file, &link);
	assert_int_equal(link.id_length, 20);
	assert_int_equal(debug_link_open(&link, &place, NULL, &debug), -ENOENT);
	fd = wait_for(&rd, link.id, link.id_length, true);
	if (fd >= 0)
		compare(fd, path);
	place.remote = rd;
	assert_true(fd >= 0 && debug_link_present(&link, &place));
	assert_int_equal(debug_link_open(&link, &place, NULL, &debug), 0);
	elf_file_free(debug);
	assert_int_equal(wait_for(&rd, none, sizeof(none), false), -ENOENT);
	remotedebug_state(rd, &now);
	assert_int_equal(now.waiting, 0);
	assert_int_equal(now.found, 1);
	assert_int_equal(now.missing, 1);
	assert_int_equal(now.error, 0);
	close(fd);
	elf_file_free(file);
	unlink(program);
	remotedebug_free(rd);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_not_asked_for),   TEST(test_silent_server), TEST(test_cancel),
		TEST(test_too_much),	    TEST(test_slow_server),   TEST(test_refused),
		TEST(test_elfutils_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
