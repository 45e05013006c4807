/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Too much of something, until it is killed. Prints `made` once it is there.
 *
 *	storm maps	60,000 mappings of code		storm mmap	mmap and munmap all the time
 *	storm files DIR	8,000 files mapped as code	storm touch F	a new file at each mmap
 *	storm threads	2,000 threads			storm names	new names of 50 threads
 *	storm deep	100,000 frames			storm random	unlike stacks, 900 deep
 *	storm exec	exec all the time		storm fork	fork all the time
 *	storm vdso	a vDSO at another place		storm jump	a wild stack pointer
 *	storm jit	as random, named in a perf map that is rewritten all the time
 */

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE	  ((char *)0x7d0000000000)
#define MAPS	  60000
#define FILES	  8000
#define THREADS	  2000
#define FUNCTIONS 4096
#define DEPTH	  900

static volatile unsigned int sink;

static void made(void)
{
	puts("made");
	fflush(stdout);
}

static void burn(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++)
		sink = sink * 1664525 + i;
}

static int own(void)
{
	return open("/proc/self/exe", O_RDONLY);
}

static void maps(const char *unused)
{
	int fd = own();

	(void)unused;
	for (long i = 0; i < MAPS; i++)
		if (mmap(BASE + i * 8192, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 0) == MAP_FAILED)
			err(1, "mapping %ld", i);
	made();
	for (;;) {
		burn(1000000);
		usleep(20000);
	}
}

static void remap(const char *unused)
{
	int fd = own();

	(void)unused;
	made();
	for (;;)
		munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), 4096);
}

static void files(const char *folder)
{
	char page[4096] = "\177ELF", path[4096];

	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%d", folder, i);
		fd = open(path, O_RDWR | O_CREAT, 0644);
		if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page) ||
		    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			err(1, "%s", path);
		close(fd);
	}
	made();
	pause();
}

static void touch(const char *path)
{
	int fd = open(path, O_RDONLY);

	made();
	for (;;) {
		void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (futimens(fd, NULL) || at == MAP_FAILED)
			err(1, "%s", path);
		usleep(1000);
		munmap(at, 4096);
	}
}

static void *named(void *arg)
{
	char name[16];

	for (unsigned int i = 0; arg || i < UINT32_MAX; i++) {
		snprintf(name, sizeof(name), "\033[%uA\n%ld", i, (long)arg);
		prctl(PR_SET_NAME, name);
		burn(20000);
		usleep(50000);
	}
	return arg;
}

static void *idle(void *arg)
{
	for (;;) {
		burn(1000);
		sleep(1);
	}
	return arg;
}

static void threads_of(int count, void *(*body)(void *arg))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < count; i++)
		if (pthread_create(&thread, &attr, body, (void *)i))
			errx(1, "thread %ld", i);
	made();
	pause();
}

static void threads(const char *unused)
{
	(void)unused;
	threads_of(THREADS, idle);
}

static void names(const char *unused)
{
	(void)unused;
	threads_of(50, named);
}

__attribute__((noipa)) static void recurse(unsigned int left)
{
	if (left) {
		recurse(left - 1);
	} else {
		made();
		for (long i = 0; i < 1000000; i++) {
			burn(100000);
			usleep(2000);
		}
	}
	sink++;
}

static void *dive(void *arg)
{
	recurse(100000);
	return arg;
}

static void deep(const char *unused)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)unused;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 20);
	pthread_create(&thread, &attr, dive, NULL);
	pause();
}

/* push rbp; mov rbp,rsp; mov rax,[rdi]; add rdi,8; call rax; pop rbp; ret */
static const unsigned char call_next[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x07, 0x48,
					  0x83, 0xc7, 0x08, 0xff, 0xd0, 0x5d, 0xc3};

static void tell(unsigned int round)
{
	static char filler[900];
	char path[64];
	FILE *to;

	memset(filler, 'x', sizeof(filler) - 1);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	to = fopen(path, "w");
	if (!to)
		err(1, "%s", path);
	for (long i = 0; i < FUNCTIONS; i++)
		fprintf(to, "%lx 40 f%u_%ld_%s\n", (unsigned long)BASE + i * 64, round, i, filler);
	fclose(to);
}

static void last(void)
{
	burn(200000);
}

static void jit_or_random(int is_told)
{
	static void *chain[DEPTH + 1];

	if (mmap(BASE, FUNCTIONS * 64, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		err(1, "mmap");
	for (long i = 0; i < FUNCTIONS; i++)
		memcpy(BASE + i * 64, call_next, sizeof(call_next));
	if (is_told)
		tell(0);
	made();
	for (unsigned int turn = 1;; turn++) {
		for (int i = 0; i < DEPTH; i++)
			chain[i] = BASE + random() % FUNCTIONS * 64;
		chain[DEPTH] = (void *)last;
		((void (*)(void **))chain[0])(chain + 1);
		if (is_told && turn % 256 == 0)
			tell(turn);
		usleep(500);
	}
}

static void random_stacks(const char *unused)
{
	(void)unused;
	jit_or_random(0);
}

static void jit(const char *unused)
{
	(void)unused;
	jit_or_random(1);
}

static void exec(const char *again)
{
	if (!again)
		made();
	burn(100000);
	execl("/proc/self/exe", "storm", "exec", "again", NULL);
}

static void forks(const char *unused)
{
	(void)unused;
	made();
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(10000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void vdso(const char *unused)
{
	char *at = (char *)getauxval(AT_SYSINFO_EHDR);

	(void)unused;
	if (mremap(at, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, BASE) == MAP_FAILED)
		mremap(at, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, BASE);
	made();
	for (;;) {
		burn(1000000);
		usleep(20000);
	}
}

static void jump(const char *unused)
{
	(void)unused;
	made();
	__asm__ volatile("mov $0x7fffffffffffff00, %rsp\n\tmov %rsp, %rbp\n1:\tpause\n\tjmp 1b");
}

static const struct {
	const char *name;
	void (*run)(const char *arg);
} storms[] = {
	{"maps", maps},	      {"mmap", remap}, {"files", files}, {"touch", touch},
	{"exec", exec},	      {"deep", deep},  {"jit", jit},	 {"random", random_stacks},
	{"fork", forks},      {"vdso", vdso},  {"jump", jump},	 {"names", names},
	{"threads", threads},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(storms) / sizeof(*storms); i++)
		if (strcmp(argv[1], storms[i].name) == 0)
			storms[i].run(argc > 2 ? argv[2] : NULL);
	return 2;
}
