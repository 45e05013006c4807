/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chains FOLDER COUNT: loads all libraries of the folder, prints `made`, and calls chains of them
 * until its parent ends: library N calls (7 * N + 1) % COUNT, any library begins.
 */
#include <dlfcn.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DEPTH 20

typedef long (*link_fn)(void *const *chain, long turns);

__attribute__((noinline)) static long begin(void *const *chain)
{
	return ((link_fn)*chain)(chain + 1, 100000) + 1;
}

static void *load(const char *folder, int number)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/lib%04d.so", folder, number);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		errx(1, "%s", dlerror());
	return ((void *(*)(void))dlsym(library, "entry"))();
}

int main(int argc, char **argv)
{
	void *chain[DEPTH + 1] = {NULL}, **functions;
	pid_t parent = getppid();
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	functions = calloc(count, sizeof(*functions));
	if (!functions || count < 1 || getppid() != parent)
		return 1;
	for (int i = 0; i < count; i++)
		functions[i] = load(argv[1], i);
	puts("made");
	fflush(stdout);
	for (;;) {
		long at = random() % count;

		for (int i = 0; i < DEPTH; i++, at = (7 * at + 1) % count)
			chain[i] = functions[at];
		if (begin(chain) != DEPTH)
			return 1;
	}
}
