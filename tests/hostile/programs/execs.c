/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that executes another one with the same addresses: built once with -DNAME=alpha and
 * once with -DNAME=bravo. Its function runs in a thread of its own, which writes its number and
 * name to TRUTH, so the thread of a sample tells which of the two it hit.
 *
 *	alpha|bravo HOW MS TRUTH ALPHA BRAVO WORK
 *
 * After MS milliseconds, until it is killed:
 *
 *	exec	executes the other one		once	ends
 *	rename	renames a copy of the other over WORK and executes it there
 *	deleted	executes a copy of the other as WORK, which deletes itself
 *	bind	the other is bound over WORK and executed from there (root only)
 */

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define PAD 64
#include "../../live/programs/track/plugin.c"

#define TEXT_(a) #a
#define TEXT(a)	 TEXT_(a)

static volatile int stop;

static void *worker(void *arg)
{
	FILE *to = fopen(arg, "a");

	if (!to)
		err(1, "%s", (char *)arg);
	fprintf(to, "%d " TEXT(NAME) "\n", gettid());
	fclose(to);
	JOIN(NAME, _one)(&stop);
	return NULL;
}

static void copy(const char *from, const char *to)
{
	char other[4096];
	int in = open(from, O_RDONLY), out;

	snprintf(other, sizeof(other), "%s.new", to);
	out = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (in < 0 || out < 0 || sendfile(out, in, NULL, 1 << 26) <= 0 || close(out) ||
	    rename(other, to))
		err(1, "%s", to);
	close(in);
}

int main(int argc, char **argv)
{
	const char *how = argv[1], *other, *work = argv[6];
	pthread_t thread;

	if (argc != 7)
		return 2;
	other = argv[strcmp(TEXT(NAME), "alpha") == 0 ? 5 : 4];
	if (strcmp(how, "deleted") == 0)
		unlink(work);
	pthread_create(&thread, NULL, worker, argv[3]);
	usleep(atoi(argv[2]) * 1000);
	if (strcmp(how, "once") == 0)
		return 0;
	if (strcmp(how, "exec") == 0) {
		work = other;
	} else if (strcmp(how, "bind") == 0) {
		umount2(work, MNT_DETACH);
		if (mount(other, work, NULL, MS_BIND, NULL))
			err(1, "%s", work);
	} else {
		copy(other, work);
	}
	argv[0] = argv[6];
	execv(work, argv);
	err(1, "%s", work);
}
