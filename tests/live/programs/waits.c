/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/*
 * Waits in known ways, each in a function of its own, and says how long.
 *
 *	waits MILLISECONDS NAME		one of the table at the end, for about so long
 *	waits MILLISECONDS all		most of the table, at the same time
 *
 * Each prints "NAME FUNCTION CAUSE WAITED RUNNABLE TID" at its end: ns that the calls took, without
 * the time on a CPU and the time that the thread was ready to run, which is the next number
 * ("wall": with both). TID is 0 where several threads have waited. "births" tells how many of each
 * kind in place of ns. "NAME skip REASON": that wait cannot be had here.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	    1000000ll
#define TMPFS	    0x01021994
#define CROWD	    500
#define CHILDREN    20 /* at the same time */
#define EXECS	    8
#define FILE_BYTES  (16u << 20)
#define PAGE	    4096u
#define NUMBER_TEXT 24
#define SETTLE	    (200 * MS)

extern char **environ;

static long long length = 1000 * MS; /* ns that one lasts */
static char *self;
static volatile unsigned int sink;

struct spent {
	long long wall, on, ready;
	long long lost; /* by all CPUs: neither the thread's nor a wait */
};

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static long long now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static long long ready_ns(int schedstat)
{
	char text[128] = "";
	long long ns;

	if (schedstat < 0 || pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%*d %lld", &ns) != 1) {
		printf("all skip no schedstat\n");
		exit(1);
	}
	return ns;
}

/*
 * Time in interrupts and time that a hypervisor took, of all CPUs. Kernels that measure them leave
 * them out of the time of the thread that they interrupt. Source: proc_stat(5), field 6 to 8 of
 * `cpu`.
 */
static long long lost_ns(void)
{
	char text[256] = "";
	const int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);
	long long irq = 0, softirq = 0, steal = 0;

	close(fd);
	if (n > 0)
		sscanf(text, "cpu %*d %*d %*d %*d %*d %lld %lld %lld", &irq, &softirq, &steal);
	return (irq + softirq + steal) * (1000 * MS / sysconf(_SC_CLK_TCK));
}

/* Of this thread, until one moment: it was not made to wait for a CPU between the three. */
static __attribute__((noinline)) struct spent spent_now(void)
{
	const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	struct spent s = {.lost = lost_ns()};

	do {
		s.ready = ready_ns(fd);
		s.wall = now();
		s.on = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (ready_ns(fd) != s.ready);
	close(fd);
	return s;
}

/* What a thread does between two looks is added up; the looks take time on a CPU only. */
struct watch {
	struct spent sum, from;
};

static void begin(struct watch *w)
{
	w->from = spent_now();
}

static void end(struct watch *w)
{
	const struct spent to = spent_now();

	w->sum.wall += to.wall - w->from.wall;
	w->sum.on += to.on - w->from.on;
	w->sum.ready += to.ready - w->from.ready;
	w->sum.lost += to.lost - w->from.lost;
}

static void say_sum(const char *name, const char *function, const char *cause, long long waited,
		    long long ready, long tid, long long lost)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%s %s %s %lld %lld %ld %lld\n", name, function, cause,
			 waited, ready, tid, lost);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		exit(1);
}

static void say(const char *name, const char *function, const char *cause, const struct watch *w)
{
	say_sum(name, function, cause, w->sum.wall - w->sum.on - w->sum.ready, w->sum.ready,
		syscall(SYS_gettid), w->sum.lost);
}

static void say_skip(const char *name, const char *reason)
{
	printf("%s skip %s\n", name, reason);
	fflush(stdout);
}

static void pause_ns(long long ns)
{
	const struct timespec t = {ns / (1000 * MS), ns % (1000 * MS)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* --- each a wait ----------------------------------------------------------------------------- */

static void nap(long long ns)
{
	pause_ns(ns);
	sink++;
}

/* Long and short ones. */
static void run_sleep(void)
{
	const long long until = now() + length;
	struct watch w = {0};

	begin(&w);
	nap(length / 3);
	for (unsigned int i = 0; now() < until; i++)
		nap(i % 8 ? MS : 30 * MS);
	end(&w);
	say("sleep", "nap", "sleep", &w);
}

/* Writes a byte every 20 ms until the length is over. */
static void write_now_and_then(int fd)
{
	const long long until = now() + length;

	while (now() < until) {
		pause_ns(20 * MS);
		if (write(fd, "x", 1) != 1)
			break;
	}
	close(fd);
}

/* A child that writes to fd. other: the end that it does not need. */
static pid_t writer(int fd, int other)
{
	pid_t child = fork();

	if (!child) {
		close(other);
		write_now_and_then(fd);
		_exit(0);
	}
	close(fd);
	return child;
}

static ssize_t read_pipe(int fd)
{
	char byte;
	ssize_t n = read(fd, &byte, 1);

	sink++;
	return n;
}

/* Reads by one, byte by byte, what a child writes into a pipe or socket. */
static void run_reads(const char *name, const char *function, bool of_socket,
		      ssize_t (*one)(int fd))
{
	struct watch w = {0};
	int ends[2];
	pid_t child;

	if (of_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends))
		exit(1);
	child = writer(ends[1], ends[0]);
	begin(&w);
	while (one(ends[0]) == 1)
		;
	end(&w);
	waitpid(child, NULL, 0);
	say(name, function, of_socket ? "socket" : "pipe", &w);
}

static void run_pipe(void)
{
	run_reads("pipe", "read_pipe", false, read_pipe);
}

static ssize_t receive(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	sink++;
	return n;
}

static void run_socket(void)
{
	run_reads("socket", "receive", true, receive);
}

static ssize_t read_socket(int fd)
{
	char byte;
	ssize_t n = read(fd, &byte, 1);

	sink++;
	return n;
}

/* By read(), where only the file says what it is. */
static void run_socket_read(void)
{
	run_reads("socket_read", "read_socket", true, read_socket);
}

static int poll_pipe(int fd)
{
	struct pollfd of = {.fd = fd, .events = POLLIN};
	int n = poll(&of, 1, 7);

	sink++;
	return n;
}

static void run_poll(void)
{
	const long long until = now() + length;
	struct watch w = {0};
	int ends[2];

	if (pipe(ends))
		exit(1);
	begin(&w);
	while (now() < until)
		poll_pipe(ends[0]);
	end(&w);
	say("poll", "poll_pipe", "poll", &w);
}

static int await_event(int epoll)
{
	struct epoll_event event;
	int n = epoll_wait(epoll, &event, 1, -1);

	sink++;
	return n;
}

static void run_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), ends[2];
	struct watch w = {0};
	char byte;
	pid_t child;

	if (pipe(ends) || epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event))
		exit(1);
	child = writer(ends[1], ends[0]);
	begin(&w);
	while (await_event(epoll) == 1 && read(ends[0], &byte, 1) == 1)
		;
	end(&w);
	waitpid(child, NULL, 0);
	say("epoll", "await_event", "poll", &w);
}

/* --- locks ----------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, is_taken;
static atomic_bool over;

static void release_mutex(void)
{
	pthread_mutex_unlock(&mutex);
	sink++;
}

static void *hold_mutex(void *arg)
{
	(void)arg;
	while (!over) {
		pthread_mutex_lock(&mutex);
		sem_post(&is_held);
		pause_ns(25 * MS);
		release_mutex();
		sem_wait(&is_taken);
	}
	return NULL;
}

static void take_mutex(void)
{
	pthread_mutex_lock(&mutex);
	sink++;
}

static void run_mutex(void)
{
	const long long until = now() + length;
	struct watch w = {0};
	pthread_t holder;

	sem_init(&is_held, 0, 0);
	sem_init(&is_taken, 0, 0);
	if (pthread_create(&holder, NULL, hold_mutex, NULL))
		exit(1);
	while (!over) {
		sem_wait(&is_held);
		begin(&w);
		take_mutex();
		end(&w);
		pthread_mutex_unlock(&mutex);
		over = now() >= until;
		sem_post(&is_taken);
	}
	pthread_join(holder, NULL);
	say("mutex", "take_mutex", "lock", &w);
}

static int lock_file(int fd)
{
	int err = flock(fd, LOCK_EX);

	sink++;
	return err;
}

static int open_scratch(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		exit(1);
	unlink(name);
	return fd;
}

static void run_flock(void)
{
	struct watch w = {0};
	const char *name = "waits.lock";
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600), ends[2];
	char byte;
	pid_t child;

	if (fd < 0 || pipe(ends))
		exit(1);
	child = fork();
	if (!child) {
		int own = open(name, O_RDWR | O_CLOEXEC);

		if (flock(own, LOCK_EX) || write(ends[1], "x", 1) != 1)
			_exit(1);
		pause_ns(length);
		_exit(0);
	}
	if (read(ends[0], &byte, 1) != 1)
		exit(1);
	unlink(name);
	begin(&w);
	lock_file(fd);
	end(&w);
	waitpid(child, NULL, 0);
	say("flock", "lock_file", "lock", &w);
}

/* --- disks ----------------------------------------------------------------------------------- */

static bool is_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == TMPFS;
}

static int flush_file(int fd)
{
	int err = fsync(fd);

	sink++;
	return err;
}

static void run_disk(void)
{
	const long long until = now() + length;
	int fd = open_scratch("waits.disk");
	struct watch w = {0};
	char page[PAGE] = "";

	if (is_in_memory(fd)) {
		say_skip("disk", "the file system is in memory");
		return;
	}
	for (unsigned int i = 0; now() < until; i++) {
		if (pwrite(fd, page, sizeof(page), i % 64 * PAGE) != PAGE)
			exit(1);
		begin(&w);
		flush_file(fd);
		end(&w);
		pause_ns(5 * MS);
	}
	say("disk", "flush_file", "disk", &w);
}

static void touch_page(const volatile char *page)
{
	sink += (unsigned int)*page;
}

static long major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

/* Pages of a file that the page cache has dropped, far from each other. */
static void run_fault(void)
{
	const long long until = now() + length;
	int fd = open_scratch("waits.fault");
	long faults = major_faults();
	struct watch w = {0};
	static char block[1u << 20];
	char *map;

	if (is_in_memory(fd)) {
		say_skip("fault", "the file system is in memory");
		return;
	}
	memset(block, 1, sizeof(block));
	for (size_t at = 0; at < FILE_BYTES; at += sizeof(block))
		if (pwrite(fd, block, sizeof(block), (off_t)at) < 0)
			exit(1);
	fsync(fd);
	while (now() < until) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			exit(1);
		madvise(map, FILE_BYTES, MADV_RANDOM);
		begin(&w);
		for (size_t at = 0; at < FILE_BYTES; at += 256 * PAGE)
			touch_page(map + at);
		end(&w);
		munmap(map, FILE_BYTES);
		pause_ns(5 * MS);
	}
	if (major_faults() == faults)
		say_skip("fault", "no page fault has read from the disk");
	else
		say("fault", "touch_page", "fault", &w);
}

/* --- processes ------------------------------------------------------------------------------- */

static void await_child(pid_t child)
{
	waitpid(child, NULL, 0);
	sink++;
}

static void run_child(void)
{
	const long long until = now() + length;
	struct watch w = {0};
	pid_t child;

	while (now() < until) {
		child = fork();
		if (!child) {
			pause_ns(length / 4);
			_exit(0);
		}
		begin(&w);
		await_child(child);
		end(&w);
	}
	say("child", "await_child", "child", &w);
}

static void stop_myself(void)
{
	raise(SIGSTOP);
	sink++;
}

/* A child lets it go on, after it has seen that it is stopped. */
static void run_stop(void)
{
	struct watch w = {0};
	pid_t child = fork();

	if (!child) {
		pause_ns(length);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	begin(&w);
	stop_myself();
	end(&w);
	waitpid(child, NULL, 0);
	say("stop", "stop_myself", "stopped", &w);
}

static void nap_in_child(long long ns)
{
	pause_ns(ns);
	sink++;
}

/* Many processes that live for some milliseconds each. */
static void run_forks(void)
{
	const long long until = now() + length;
	atomic_llong *sum =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct watch w = {0};

	if (sum == MAP_FAILED)
		exit(1);
	while (now() < until) {
		for (int i = 0; i < CHILDREN; i++) {
			if (fork())
				continue;
			begin(&w);
			nap_in_child(5 * MS);
			end(&w);
			sum[0] += w.sum.wall - w.sum.on - w.sum.ready;
			sum[1] += w.sum.ready;
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
	}
	say_sum("forks", "nap_in_child", "sleep", sum[0], sum[1], 0, 0);
}

static void fork_once(void)
{
	const pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	sink++;
}

static void *thread_once(void *arg)
{
	return arg;
}

static void make_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_once, NULL))
		pthread_join(thread, NULL);
	sink++;
}

static void spawn_once(void)
{
	char *argv[] = {"true", NULL};
	pid_t child;

	if (!posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ))
		waitpid(child, NULL, 0);
	sink++;
}

/* Children and threads, one after the other. */
static void run_births(void)
{
	const long long until = now() + length;
	long long births = 0;

	for (; now() < until; births++) {
		fork_once();
		make_thread();
		spawn_once();
		pause_ns(5 * MS);
	}
	say_sum("births", "fork_once", "child", births, 0, 0, 0);
}

static void nap_between_execs(long long ns)
{
	pause_ns(ns);
	sink++;
}

static char *exec_arguments[8];

/* Replaces the process from a thread that is not its first. */
static void *exec_again(void *arg)
{
	(void)arg;
	execve("/proc/self/exe", exec_arguments, environ);
	exit(1);
}

/* "waits MS exec LEFT WAITED READY": each has one exec less left. */
static void run_exec(char **argv)
{
	long left = argv[0] ? atol(argv[0]) : EXECS;
	long long waited = argv[0] && argv[1] ? atoll(argv[1]) : 0;
	long long ready = waited ? atoll(argv[2]) : 0;
	static char texts[4][NUMBER_TEXT];
	struct watch w = {0};
	pthread_t thread;

	begin(&w);
	nap_between_execs(length / EXECS);
	end(&w);
	waited += w.sum.wall - w.sum.on - w.sum.ready;
	ready += w.sum.ready;
	if (left <= 1) {
		say_sum("exec", "nap_between_execs", "sleep", waited, ready, getpid(), 0);
		return;
	}
	snprintf(texts[0], NUMBER_TEXT, "%lld", length / MS);
	snprintf(texts[1], NUMBER_TEXT, "%ld", left - 1);
	snprintf(texts[2], NUMBER_TEXT, "%lld", waited);
	snprintf(texts[3], NUMBER_TEXT, "%lld", ready);
	exec_arguments[0] = self;
	exec_arguments[1] = texts[0];
	exec_arguments[2] = "exec";
	memcpy(&exec_arguments[3], (char *[]){texts[1], texts[2], texts[3]}, 3 * sizeof(char *));
	if (left % 2)
		exec_again(NULL);
	if (pthread_create(&thread, NULL, exec_again, NULL))
		exit(1);
	for (;;)
		pause();
}

/* --- many threads, and CPUs ------------------------------------------------------------------ */

static atomic_llong crowd_waited, crowd_ready;

static void nap_in_crowd(long long ns)
{
	pause_ns(ns);
	sink++;
}

static void *crowd_thread(void *arg)
{
	struct watch w = {0};

	(void)arg;
	begin(&w);
	for (int i = 0; i < 4; i++)
		nap_in_crowd(length / 4);
	end(&w);
	crowd_waited += w.sum.wall - w.sum.on - w.sum.ready;
	crowd_ready += w.sum.ready;
	return NULL;
}

static void run_crowd(void)
{
	pthread_t threads[CROWD];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], &attr, crowd_thread, NULL))
			exit(1);
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	say_sum("crowd", "nap_in_crowd", "sleep", crowd_waited, crowd_ready, 0, 0);
}

static bool use_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* One of the CPUs that this process may use. */
static int allowed_cpu(int number)
{
	static cpu_set_t set;
	int cpu = 0;

	if (!CPU_COUNT(&set) && sched_getaffinity(0, sizeof(set), &set))
		exit(1);
	for (number %= CPU_COUNT(&set);; cpu++)
		if (CPU_ISSET(cpu, &set) && number-- == 0)
			return cpu;
}

static void nap_elsewhere(long long ns)
{
	pause_ns(ns);
	sink++;
}

static void run_migrate(void)
{
	const long long until = now() + length;
	struct watch w = {0};

	allowed_cpu(0);
	for (int i = 0; now() < until; i++) {
		if (!use_cpu(allowed_cpu(i)))
			exit(1);
		begin(&w);
		nap_elsewhere(10 * MS);
		end(&w);
	}
	say("migrate", "nap_elsewhere", "sleep", &w);
}

static void compete(long long until)
{
	while (now() < until)
		for (unsigned int i = 0; i < 1000; i++)
			sink++;
}

/* Its child computes on the same CPU. Returns what compete() took. */
static struct spent compete_with_child(void)
{
	const long long until = now() + length;
	struct watch w = {0};
	pid_t child;

	if (!use_cpu(allowed_cpu(0)))
		exit(1);
	child = fork();
	if (!child) {
		while (now() < until)
			sink++;
		_exit(0);
	}
	begin(&w);
	compete(until);
	end(&w);
	waitpid(child, NULL, 0);
	return w.sum;
}

static void run_starve(void)
{
	say_sum("starve", "compete", "runnable", 0, compete_with_child().ready, getpid(), 0);
}

static void run_wall(void)
{
	const struct spent spent = compete_with_child();

	say_sum("wall", "compete", "wall", spent.wall, spent.ready, getpid(), 0);
}

/* --------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(void);
	bool alone; /* not one of "all" */
} table[] = {
	{"sleep", run_sleep, false},	 {"mutex", run_mutex, false},
	{"flock", run_flock, false},	 {"pipe", run_pipe, false},
	{"socket", run_socket, false},	 {"socket_read", run_socket_read, false},
	{"poll", run_poll, false},	 {"epoll", run_epoll, false},
	{"disk", run_disk, false},	 {"fault", run_fault, false},
	{"child", run_child, false},	 {"stop", run_stop, false},
	{"migrate", run_migrate, false}, {"starve", run_starve, false},
	{"forks", run_forks, true},	 {"crowd", run_crowd, true},
	{"wall", run_wall, true},	 {"births", run_births, true},
};

#define WAYS (sizeof(table) / sizeof(table[0]))

static void start(const char *milliseconds, const char *name)
{
	char *argv[] = {self, (char *)milliseconds, (char *)name, NULL};
	pid_t child;

	if (posix_spawn(&child, self, NULL, NULL, argv, environ))
		exit(1);
}

/* A process that has just begun may have no tables yet for the walk of its stacks. */
static void settle(long long ns)
{
	const struct timespec t = {ns / (1000 * MS), ns % (1000 * MS)};

	ppoll(NULL, 0, &t, NULL);
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: waits MILLISECONDS NAME|all\n");
		return 2;
	}
	self = argv[0];
	length = atoll(argv[1]) * MS;
	if (strcmp(argv[2], "exec") == 0) {
		if (argc == 3)
			settle(SETTLE);
		run_exec(argv + 3);
		return 0;
	}
	settle(SETTLE);
	for (size_t i = 0; i < WAYS; i++) {
		if (strcmp(argv[2], "all") == 0 && !table[i].alone)
			start(argv[1], table[i].name);
		else if (strcmp(argv[2], table[i].name) == 0)
			return table[i].run(), 0;
	}
	if (strcmp(argv[2], "all") != 0)
		return 2;
	start(argv[1], "exec");
	while (wait(NULL) > 0)
		;
	return 0;
}
