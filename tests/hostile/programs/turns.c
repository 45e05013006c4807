/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two functions that take turns at one address, each run by a thread of its own, so that the
 * thread of a sample tells which of the two it hit.
 *
 *	turns HOW MS TRUTH SYMBOL ALPHA BRAVO WORK
 *
 * ALPHA and BRAVO are shared libraries made from tests/live/programs/track/plugin.c, with
 * NAME_one at SYMBOL (hex) in a text segment that begins at 0x1000. Each has turns of MS
 * milliseconds, until the program is killed. WORK is a file of its own. TRUTH gets a line `TID
 * NAME` for each thread. HOW is how one replaces the other:
 *
 *	dlopen	dlclose and dlopen		unmap	munmap and mmap
 *	over	mmap over the mapping		mremap	mremap over the mapping
 *	rename	a file renamed over WORK	deleted	WORK made anew and deleted once mapped
 *	inplace	WORK rewritten in place		memfd	a new memfd of the same name
 *	jit	copied to anonymous memory, and named in a perf map that is rewritten
 *
 * With the last two the first turn is longer: a map or a file that is found for the first time
 * also names the samples just before.
 */

#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BASE	      ((char *)0x7e0000000000)
#define TEXT	      0x1000
#define SIZE	      0x1000
#define FIRST_SECONDS 2

static const char *const names[] = {"alpha", "bravo"};
static const char *how, *truth, *files[2], *work;
static unsigned long symbol;
static volatile int stop;
static void (*volatile target)(volatile int *stop);
static sem_t go[2], done;

static void *worker(void *arg)
{
	long side = (long)arg;
	FILE *to = fopen(truth, "a");

	if (!to)
		err(1, "%s", truth);
	fprintf(to, "%d %s\n", gettid(), names[side]);
	fclose(to);
	for (;;) {
		sem_wait(&go[side]);
		target(&stop);
		sem_post(&done);
	}
}

static int is(const char *name)
{
	return strcmp(how, name) == 0;
}

/* Copies a file; flags as for open(2). */
static int copy(const char *from, const char *to, int flags)
{
	static char buf[1 << 20];
	int in = open(from, O_RDONLY), out = to ? open(to, flags, 0755) : memfd_create("code", 0);
	ssize_t n = read(in, buf, sizeof(buf));

	if (in < 0 || out < 0 || n <= 0 || pwrite(out, buf, n, 0) != n)
		err(1, "%s", to);
	close(in);
	return out;
}

static void map(int fd, int at_base)
{
	char *want = at_base ? BASE + TEXT : NULL;
	char *at = mmap(want, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (want ? MAP_FIXED : 0), fd,
			TEXT);

	if (at == MAP_FAILED)
		err(1, "mmap");
	if (!want &&
	    mremap(at, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, BASE + TEXT) == MAP_FAILED)
		err(1, "mremap");
	close(fd);
}

static void put_jit(int side)
{
	char path[64], other[80];
	int fd = open(files[side], O_RDONLY);
	FILE *to;

	if (mmap(BASE + TEXT, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    pread(fd, BASE + TEXT, SIZE, TEXT) <= 0)
		err(1, "%s", files[side]);
	close(fd);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s.new", path);
	to = fopen(other, "w");
	if (!to)
		err(1, "%s", other);
	fprintf(to, "%lx %x %s_jit\n", (unsigned long)BASE + TEXT, SIZE, names[side]);
	fclose(to);
	if (rename(other, path))
		err(1, "%s", path);
}

static void put_library(int side)
{
	static void *library, *before;
	char name[32];

	if (library)
		dlclose(library);
	library = dlopen(files[side], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		errx(1, "%s", dlerror());
	snprintf(name, sizeof(name), "%s_one", names[side]);
	target = (void (*)(volatile int *))dlsym(library, name);
	if (before && before != (void *)target)
		errx(77, "the address is not reused");
	before = (void *)target;
}

/* Puts the function of a side at the address. */
static void put(int side)
{
	char other[4096];

	if (is("dlopen")) {
		put_library(side);
		return;
	}
	target = (void (*)(volatile int *))(BASE + symbol);
	if (is("jit")) {
		put_jit(side);
	} else if (is("unmap")) {
		munmap(BASE + TEXT, SIZE);
		map(open(files[side], O_RDONLY), 1);
	} else if (is("over")) {
		map(open(files[side], O_RDONLY), 1);
	} else if (is("mremap")) {
		map(open(files[side], O_RDONLY), 0);
	} else if (is("memfd")) {
		map(copy(files[side], NULL, 0), 1);
	} else if (is("rename")) {
		snprintf(other, sizeof(other), "%s.new", work);
		close(copy(files[side], other, O_WRONLY | O_CREAT | O_TRUNC));
		if (rename(other, work))
			err(1, "%s", work);
		map(open(work, O_RDONLY), 1);
	} else if (is("deleted")) {
		map(copy(files[side], work, O_RDWR | O_CREAT | O_TRUNC), 1);
		unlink(work);
	} else if (is("inplace")) {
		static int mapped;
		int fd = copy(files[side], work, O_RDWR | O_CREAT);

		if (mapped++)
			close(fd);
		else
			map(fd, 1);
	} else {
		errx(2, "%s: unknown", how);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int side, first = 1;

	if (argc != 8)
		return 2;
	how = argv[1];
	truth = argv[3];
	symbol = strtoul(argv[4], NULL, 16);
	files[0] = argv[5];
	files[1] = argv[6];
	work = argv[7];
	sem_init(&done, 0, 0);
	for (long i = 0; i < 2; i++) {
		sem_init(&go[i], 0, 0);
		pthread_create(&thread, NULL, worker, (void *)i);
	}
	for (side = 0;; side ^= 1) {
		stop = 0;
		put(side);
		sem_post(&go[side]);
		usleep(atoi(argv[2]) * 1000);
		if ((is("jit") || is("inplace")) && first)
			sleep(FIRST_SECONDS);
		first = 0;
		stop = 1;
		sem_wait(&done);
	}
}
