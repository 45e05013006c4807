/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps files as code, each in turn, and executes the code of elves.py in them, so that stacktop
 * opens them for tables and names. Prints `made` when it has mapped each of them once.
 *
 *	mapper [-t] FILE...	until it is killed; -t: touches the files, so each is new each time
 *	mapper -k FILE		keeps the mapping and executes it
 *	mapper -a		anonymous code instead, like a JIT's
 */

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define TEXT   0x1000
#define LENGTH 0x2000

static const unsigned char code[] = {0x83, 0x3f, 0x00, 0x74, 0xfb, 0xc3}; /* until *rdi; ret */
static volatile int stop;

static void on_alarm(int number)
{
	(void)number;
	stop = 1;
}

static void execute(void *at)
{
	struct itimerval soon = {.it_value.tv_usec = 15000};

	stop = 0;
	setitimer(ITIMER_REAL, &soon, NULL);
	((void (*)(volatile int *))at)(&stop);
}

/* Returns false when the file cannot be mapped. */
static int map(const char *path, int touch)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	struct stat st;
	char *at;

	if (fd < 0 || fstat(fd, &st))
		return 0;
	at = mmap(NULL, LENGTH, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (touch)
		futimens(fd, NULL);
	close(fd);
	if (at == MAP_FAILED)
		return 0;
	if (st.st_size >= TEXT + (off_t)sizeof(code) && !memcmp(at + TEXT, code, sizeof(code)))
		execute(at + TEXT);
	usleep(20000);
	munmap(at, LENGTH);
	return 1;
}

static void stay(char *at)
{
	puts("made");
	fflush(stdout);
	for (;;) {
		execute(at + TEXT);
		usleep(40000);
	}
}

static void keep(const char *path)
{
	char *at = mmap(NULL, LENGTH, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(path, O_RDONLY), 0);

	if (at == MAP_FAILED)
		err(1, "%s", path);
	stay(at);
}

static void anonymous(void)
{
	char *at = mmap((void *)0x7e0000000000, LENGTH, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	memcpy(at + TEXT, code, sizeof(code));
	stay(at);
}

int main(int argc, char **argv)
{
	int touch = argc > 1 && strcmp(argv[1], "-t") == 0, first = touch ? 2 : 1, made = 0;

	signal(SIGALRM, on_alarm);
	if (argc > 1 && strcmp(argv[1], "-a") == 0)
		anonymous();
	if (argc > 2 && strcmp(argv[1], "-k") == 0)
		keep(argv[2]);
	for (int round = 0;; round++) {
		for (int i = first; i < argc; i++)
			made += map(argv[i], touch);
		if (!made)
			err(1, "%s", argv[first]);
		if (!round)
			puts("made");
		fflush(stdout);
	}
}
