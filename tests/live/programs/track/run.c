/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes do to their memory, threads and PIDs, each as a mode: see the table at the end.
 * Every program spins in a known chain, so the test knows the true stacks.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void spin(volatile int *stop);

static volatile int stop, asked;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

static void on_ask(int signal)
{
	(void)signal;
	asked = 1;
}

/* CPU time, so a busy machine takes as many samples. The kernel counts it in ticks of <= 10 ms. */
__attribute__((noinline)) static void spin_for(spin *one, unsigned int ms)
{
	const struct itimerval timer = {
		.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000},
	};

	stop = 0;
	setitimer(ms < 10 ? ITIMER_REAL : ITIMER_PROF, &timer, NULL);
	one(&stop);
	stop = 1;
}

__attribute__((noinline)) static void own_spin(volatile int *until)
{
	while (!*until)
		;
}

/* Prints where it is and spins here until SIGUSR1, so the test can tell earlier samples from later
 * ones. */
__attribute__((noinline)) static void stay(const char *where)
{
	printf("%s\n", where);
	fflush(stdout);
	own_spin(&asked);
	asked = 0;
}

static void *must(void *p, const char *what)
{
	if (p && p != MAP_FAILED)
		return p;
	perror(what);
	exit(1);
}

static spin *load(const char *file, const char *name, void **handle)
{
	*handle = must(dlopen(file, RTLD_NOW), file);
	return (spin *)(uintptr_t)must(dlsym(*handle, name), name);
}

/* FILE NAME FILE NAME ROUNDS MS: loads one library after the other, at the same address. */
static int reopen(char **arg)
{
	uintptr_t at[2] = {0, 0};
	int rounds = atoi(arg[4]), i, same = 0;
	void *handle;

	for (i = 0; i < 2 * rounds; i++) {
		spin *one = load(arg[i % 2 * 2], arg[i % 2 * 2 + 1], &handle);

		at[i % 2] = (uintptr_t)one;
		same += at[0] == at[1];
		spin_for(one, atoi(arg[5]));
		dlclose(handle);
	}
	printf("%d\n", same);
	return 0;
}

struct text {
	uintptr_t start, end;
};

static int find_text(const char *file, struct text *text)
{
	char line[4352];
	FILE *maps = must(fopen("/proc/self/maps", "re"), "maps");

	memset(text, 0, sizeof(*text));
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, file) && strstr(line, " r-xp "))
			sscanf(line, "%lx-%lx", &text->start, &text->end);
	fclose(maps);
	return text->start != 0;
}

/* FILE NAME FILE NAME: closes the first and moves the code of the second to its address. Stays
 * before each step, and in the second until it is killed. */
static int move(char **arg)
{
	struct text first, second;
	void *handle, *to;
	spin *one = load(arg[0], arg[1], &handle);
	size_t size;

	if (!find_text(arg[0], &first))
		return 1;
	stay("open");
	one(&asked);
	asked = 0;
	dlclose(handle);
	one = load(arg[2], arg[3], &handle);
	if (!find_text(arg[2], &second))
		return 1;
	size = second.end - second.start;
	/* If it lies where the first was, it first moves away. */
	to = must(mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "mmap");
	if (second.start != first.start)
		to = (void *)first.start;
	must(mremap((void *)second.start, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to), "mremap");
	stay("moved");
	((spin *)((uintptr_t)one - second.start + (uintptr_t)to))(&stop);
	_exit(0);
}

/* FILE NAME FILE NAME: loads one library, then the other at its address, called from the same
 * place. Stays before each and while neither is loaded; the last one runs until it is killed. */
static int twins(char **arg)
{
	volatile int i; /* one call, whatever the compiler makes of the loop */
	spin *one, *first = NULL;
	void *handle;

	for (i = 0; i < 2; i++) {
		one = load(arg[2 * i], arg[2 * i + 1], &handle);
		if (first && one != first) {
			fprintf(stderr, "%s is not where %s was\n", arg[2], arg[0]);
			return 1;
		}
		first = one;
		stay("loaded");
		one(&asked);
		asked = 0;
		dlclose(handle);
		stay("closed");
	}
	return 0;
}

/* FILE NAME COUNT: maps the file's code at COUNT addresses; the last runs until it is killed. */
static int many(char **arg)
{
	int fd = open(arg[0], O_RDONLY | O_CLOEXEC), i, count = atoi(arg[2]);
	struct link_map *map;
	struct text text;
	char *place = NULL;
	void *handle;
	spin *one = load(arg[0], arg[1], &handle);
	uintptr_t offset;
	size_t size;

	if (fd < 0 || !find_text(arg[0], &text) || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return 1;
	offset = text.start - map->l_addr; /* the segment's address is its offset */
	size = text.end - text.start;
	stay("loaded");
	place = must(mmap(NULL, 2 * size * count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		     "mmap");
	for (i = 0; i < count; i++)
		must(mmap(place + 2 * size * i, size, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset),
		     arg[0]);
	place += 2 * size * (count - 1);
	stay("mapped");
	((spin *)((uintptr_t)one - text.start + (uintptr_t)place))(&stop);
	return 0;
}

/* FILE NAME: maps the whole file, as some loaders do. */
static int whole(char **arg)
{
	int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
	struct link_map *map;
	void *handle, *place;
	spin *one = load(arg[0], arg[1], &handle);
	off_t size = lseek(fd, 0, SEEK_END);

	if (fd < 0 || size <= 0 || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return 1;
	stay("loaded");
	place = must(mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), "mmap");
	stay("mapped");
	((spin *)((uintptr_t)one - map->l_addr + (uintptr_t)place))(&stop);
	return 0;
}

/* FILE MS: maps the file executable again and again. */
static int remap(char **arg)
{
	unsigned int ms = atoi(arg[1]), i;

	for (i = 0; i < ms; i++) {
		int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
		void *place = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		spin_for(own_spin, 1);
		munmap(place, 65536);
		close(fd);
	}
	return 0;
}

/* MS COUNT: children that never call exec, one after the other. */
static int forks(char **arg)
{
	int i;

	for (i = 0; i < atoi(arg[1]); i++) {
		if (!fork()) {
			spin_for(own_spin, atoi(arg[0]));
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

/* MS COUNT PROGRAM: a vfork's child spins on its parent's memory, then calls exec. */
static int vforks(char **arg)
{
	volatile int i; /* a vfork's child shares it */

	for (i = 0; i < atoi(arg[1]); i++) {
		if (!vfork()) {
			spin_for(own_spin, atoi(arg[0]));
			execl(arg[2], arg[2], arg[0], (char *)NULL);
			_exit(1);
		}
		wait(NULL);
	}
	return 0;
}

static unsigned int thread_ms;
static char *thread_exec;

static void *thread(void *unused)
{
	(void)unused;
	usleep(100000); /* by then the main thread has ended */
	spin_for(own_spin, thread_ms);
	if (thread_exec)
		execl(thread_exec, thread_exec, "800", (char *)NULL);
	exit(0);
}

/* MS [PROGRAM]: the main thread ends, another spins, and then calls exec. */
static int leader(char **arg)
{
	pthread_t id;

	thread_ms = atoi(arg[0]);
	thread_exec = arg[1];
	if (pthread_create(&id, NULL, thread, NULL))
		return 1;
	pthread_exit(NULL);
}

/* ROUNDS MS PROGRAM PROGRAM...: each with the PID of the one before. */
static int reuse(char **arg)
{
	int rounds = atoi(arg[0]), i, n = 0, status;
	pid_t pid = fork(), got;

	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	while (arg[2 + n])
		n++;
	for (i = 0; i < rounds; i++) {
		struct clone_args args = {
			.exit_signal = SIGCHLD,
			.set_tid = (uintptr_t)&pid,
			.set_tid_size = 1,
		};

		got = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (!got) {
			execl(arg[2 + i % n], arg[2 + i % n], arg[1], (char *)NULL);
			_exit(1);
		}
		if (got != pid) {
			perror("clone3");
			return 1;
		}
		waitpid(pid, &status, 0);
	}
	return 0;
}

/* RATE SECONDS PROGRAM: starts RATE processes a second, which end at once. */
static int spawn(char **arg)
{
	unsigned int rate = atoi(arg[0]), i;
	long seconds = atol(arg[1]);
	char *const argv[] = {arg[2], "1", NULL}, *const none[] = {NULL};
	struct timespec start, now;
	int64_t left;
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	clock_gettime(CLOCK_MONOTONIC, &start);
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (i = 0; i < rate * seconds && now.tv_sec - start.tv_sec <= seconds; i++) {
		if (posix_spawn(&pid, arg[2], NULL, NULL, argv, none))
			perror(arg[2]);
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = 1000000000ll * (i + 1) / rate -
		       ((now.tv_sec - start.tv_sec) * 1000000000ll + now.tv_nsec - start.tv_nsec);
		if (left > 0)
			usleep(left / 1000);
	}
	printf("%u\n", i);
	return 0;
}

static const struct mode {
	const char *name;
	int (*run)(char **arg);
	int args;
} modes[] = {
	{"reopen", reopen, 6}, {"move", move, 4},   {"twins", twins, 4}, {"many", many, 3},
	{"whole", whole, 2},   {"remap", remap, 2}, {"forks", forks, 2}, {"vforks", vforks, 3},
	{"leader", leader, 1}, {"reuse", reuse, 3}, {"spawn", spawn, 3},
};

int main(int argc, char **argv)
{
	size_t i;

	signal(SIGALRM, on_alarm);
	signal(SIGPROF, on_alarm);
	signal(SIGUSR1, on_ask);
	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(argv[1], modes[i].name) && argc - 2 >= modes[i].args)
			return modes[i].run(argv + 2);
	fprintf(stderr, "run: no such mode, or too few arguments\n");
	return 2;
}
