// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that is forked to touch files ends whatever other threads of its parent do, and holds
 * neither descriptors nor shared mappings of it.
 * Covers: symbols/base/forked.c
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "symbols/base/forked.h"
#include "tests/support/rights.h"

#define TURNS	   100
#define ALLOCATORS 2

static atomic_bool done;

/* Blocks of the sizes of stdio's, more than a thread keeps for itself. */
static void *allocate(void *arg)
{
	void *kept[256];

	(void)arg;
	while (!done)
		for (size_t size = 256; size <= 16384; size *= 2) {
			for (size_t i = 0; i < 256; i++)
				kept[i] = malloc(size - 24);
			for (size_t i = 0; i < 256; i++)
				free(kept[i]);
		}
	return NULL;
}

static void ends_while_others_allocate(void **state)
{
	static const atomic_bool stop;
	pthread_t threads[ALLOCATORS];

	(void)state;
	alarm(60); /* a child that needs a lock of its parent's never ends */
	for (int i = 0; i < ALLOCATORS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate, NULL), 0);
	for (int i = 0; i < TURNS; i++)
		assert_true(forked_await("/nowhere/file", &stop));
	done = true;
	for (int i = 0; i < ALLOCATORS; i++)
		pthread_join(threads[i], NULL);
	alarm(0);
}

static void stops_when_told(void **state)
{
	static const atomic_bool stop = true;

	(void)state;
	assert_false(forked_await("/proc/self/exe", &stop));
}

/* How many mappings of BPF maps there are, and descriptors beyond the one that was kept. */
static void tell(int keep)
{
	char line[512];
	int found[2] = {0, 0};
	FILE *maps;

	forked_let_go(keep);
	for (int fd = FORKED_FD + 1; fd < 64; fd++)
		found[1] += fcntl(fd, F_GETFD) >= 0;
	maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof(line), maps))
		found[0] += strstr(line, "anon_inode:bpf-map") != NULL;
	_exit(!maps || write(FORKED_FD, found, sizeof(found)) != sizeof(found));
}

static void holds_nothing(void **state)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int ends[2], found[2], status, fd;
	void *map;
	pid_t pid;

	(void)state;
	need_sampling();
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_forked", 4, 8, 1, &options);
	assert_true(fd >= 0);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		tell(ends[1]);
	assert_int_equal(read(ends[0], found, sizeof(found)), sizeof(found));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(found[0], 0);
	assert_int_equal(found[1], 0);
	munmap(map, size);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(holds_nothing),
		cmocka_unit_test(ends_while_others_allocate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
