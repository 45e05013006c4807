/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes machine code and tells profilers its names, as a runtime does: main calls OUTER, which
 * calls INNER, which spins. After each 1.5 seconds of its own CPU time, INNER is compiled anew in
 * the same place, under the next name, and so on.
 *
 *	jitnames map [SECONDS [USER]]	by /tmp/perf-PID.map, owned by the user of number USER
 *	jitnames dump [SECONDS]		by jit-PID.dump in the working folder
 *	jitnames none [SECONDS]		not at all
 *
 * OTHERS in the environment: so many functions are told before, with names of 80 characters.
 *
 * MEMORY in the environment says what the code is in: memfd, file (one in /dev/shm), zero (shared
 * /dev/zero) or sysv (a segment of System V); unless it is given, anonymous memory.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#define OUTER_AT 256
#define INNER_AT 1024

typedef void (*outer_fn)(unsigned int count, void (*inner)(void));

static const unsigned char outer_code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0x53,		  /* push %rbx */
	0x50,		  /* push %rax */
	0x89, 0xfb,	  /* mov %edi, %ebx */
	0xff, 0xd6,	  /* 1: call *%rsi */
	0xff, 0xcb,	  /* dec %ebx */
	0x75, 0xfa,	  /* jne 1b */
	0x58,		  /* pop %rax */
	0x5b,		  /* pop %rbx */
	0xc9,		  /* leave */
	0xc3,		  /* ret */
};
static const unsigned char inner_code[] = {
	0x55,			      /* push %rbp */
	0x48, 0x89, 0xe5,	      /* mov %rsp, %rbp */
	0xb8, 0x00, 0x00, 0x01, 0x00, /* mov $65536, %eax */
	0xff, 0xc8,		      /* 1: dec %eax */
	0x75, 0xfc,		      /* jne 1b */
	0x5d,			      /* pop %rbp */
	0xc3,			      /* ret */
};

struct load { /* with the header of the file, after the jitdump specification */
	uint32_t id, total;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
};

static FILE *file;
static int is_dump;
static uint64_t next_index;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int start(const char *how, const char *owner)
{
	uint32_t header[10] = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid()};
	char path[64];

	is_dump = !strcmp(how, "dump");
	if (!strcmp(how, "none"))
		return 1;
	snprintf(path, sizeof(path), is_dump ? "jit-%d.dump" : "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w+");
	if (!file)
		return 0;
	if (owner && chown(path, (uid_t)atoi(owner), (gid_t)-1))
		return 0;
	if (!is_dump)
		return 1;
	fwrite(header, sizeof(header), 1, file);
	fflush(file);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) != MAP_FAILED;
}

static void tell(const void *at, const unsigned char *code, size_t size, const char *name)
{
	struct load load = {.total = (uint32_t)(sizeof(load) + strlen(name) + 1 + size),
			    .time = now(CLOCK_MONOTONIC),
			    .pid = (uint32_t)getpid(),
			    .tid = (uint32_t)getpid(),
			    .vma = (uintptr_t)at,
			    .addr = (uintptr_t)at,
			    .size = size,
			    .index = next_index++};

	if (!file)
		return;
	if (is_dump) {
		fwrite(&load, sizeof(load), 1, file);
		fwrite(name, strlen(name) + 1, 1, file);
		fwrite(code, size, 1, file);
	} else {
		fprintf(file, "%llx %zx %s\n", (unsigned long long)load.addr, size, name);
	}
	fflush(file);
}

/* A page of code, not the first one of its file, as a runtime has it that maps its code twice. */
static unsigned char *code_new(const char *memory)
{
	char path[64];
	void *code;
	int fd;

	if (!memory)
		return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(memory, "sysv")) {
		fd = shmget(IPC_PRIVATE, 8192, 0700);
		code = shmat(fd, NULL, SHM_EXEC);
		shmctl(fd, IPC_RMID, NULL);
		return code == MAP_FAILED ? code : (unsigned char *)code + 4096;
	}
	snprintf(path, sizeof(path), "/dev/shm/jitnames-%d", (int)getpid());
	if (!strcmp(memory, "memfd"))
		fd = memfd_create("jitnames", 0);
	else if (!strcmp(memory, "zero"))
		fd = open("/dev/zero", O_RDWR);
	else
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	unlink(path);
	if (strcmp(memory, "zero") != 0 && ftruncate(fd, 8192))
		return MAP_FAILED;
	code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
	return code == MAP_FAILED ? code : (unsigned char *)code + 4096;
}

int main(int argc, char **argv)
{
	unsigned char *code = code_new(getenv("MEMORY"));
	const char *others = getenv("OTHERS");
	unsigned int number = 0;
	char name[96];

	alarm(argc > 2 ? (unsigned int)atoi(argv[2]) : 60);
	if (argc < 2 || code == MAP_FAILED || !start(argv[1], argc > 3 ? argv[3] : NULL))
		return 1;
	memcpy(code + OUTER_AT, outer_code, sizeof(outer_code));
	memcpy(code + INNER_AT, inner_code, sizeof(inner_code));
	for (int i = others ? atoi(others) : 0; i > 0; i--) {
		snprintf(name, sizeof(name), "Other %073d", i);
		tell((char *)((uintptr_t)i << 8), inner_code, sizeof(inner_code), name);
	}
	tell(code + OUTER_AT, outer_code, sizeof(outer_code), "Outer main.x:1");
	for (;;) {
		uint64_t end = now(CLOCK_PROCESS_CPUTIME_ID) + 1500000000u;

		snprintf(name, sizeof(name), "Inner %u main.x:7", number++);
		tell(code + INNER_AT, inner_code, sizeof(inner_code), name);
		while (now(CLOCK_PROCESS_CPUTIME_ID) < end)
			((outer_fn)(uintptr_t)(code + OUTER_AT))(
				100, (void (*)(void))(uintptr_t)(code + INNER_AT));
	}
}
