// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/serve.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "bpf/sampler/sampler.h"
#include "tests/support/orders.h"
#include "tests/support/rights.h"

#define PID_NS_INIT 4026531836u /* PROC_PID_INIT_INO of linux/proc_ns.h */

uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* --- children -------------------------------------------------------------------------------- */

static void *serve_thread(void *arg)
{
	prctl(PR_SET_NAME, arg);
	for (;;)
		pause();
	return NULL;
}

static uint64_t serve_map(const struct request *r)
{
	int fd = open(r->arg, O_RDONLY | O_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd >= 0) {
		at = mmap((void *)r->at, r->size, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | (r->at ? MAP_FIXED : 0), fd, (off_t)r->offset);
		close(fd);
	}
	return at == MAP_FAILED ? 0 : (uintptr_t)at;
}

static uint64_t serve_move(const struct request *r)
{
	void *at = mmap(NULL, r->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at != MAP_FAILED)
		at = mremap((void *)r->at, r->size, r->size, MREMAP_MAYMOVE | MREMAP_FIXED, at);
	return at == MAP_FAILED ? 0 : (uintptr_t)at;
}

static uint64_t serve_maps(const struct request *r)
{
	struct request one = *r;

	one.size = 1;
	for (uint64_t i = 0; i < r->size; i++)
		if (!serve_map(&one))
			return 1;
	return 0;
}

static uint64_t serve_jit(const char *bytes)
{
	const int fd = *bytes ? memfd_create("jit", MFD_CLOEXEC) : -1;
	void *at;

	if (*bytes &&
	    (ftruncate(fd, 65536) || write(fd, bytes, strlen(bytes)) != (ssize_t)strlen(bytes)))
		return 0;
	at = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
		  *bytes ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);

	return at == MAP_FAILED ? 0 : (uintptr_t)at;
}

static uint64_t serve_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			sleep(1);
		_exit(0);
	}
	return pid;
}

static uint64_t serve_renames(const char *last)
{
	char name[16];

	for (unsigned int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		prctl(PR_SET_NAME, name);
	}
	prctl(PR_SET_NAME, last);
	return 0;
}

__attribute__((noreturn)) static void serve_work(void)
{
	for (;;) {
		for (uint64_t until = clock_now() + 5000000; clock_now() < until;)
			for (volatile int i = 0; i < 100000; i++)
				;
		usleep(15000);
	}
}

static uint64_t serve_one(struct request *r)
{
	static char name[SERVE_ARG];
	pthread_t thread;

	switch (r->order) {
	case ORDER_PLUGIN:
		return dlopen(r->arg, RTLD_NOW) == NULL;
	case ORDER_MAP:
		return serve_map(r);
	case ORDER_MOVE:
		return serve_move(r);
	case ORDER_MAPS:
		return serve_maps(r);
	case ORDER_JIT:
		return serve_jit(r->arg);
	case ORDER_STACK:
		return (uintptr_t)r;
	case ORDER_FORK:
		return serve_fork();
	case ORDER_COMM:
		return prctl(PR_SET_NAME, r->arg);
	case ORDER_USER:
		return (uint64_t)setuid((uid_t)strtoul(r->arg, NULL, 10));
	case ORDER_THREAD:
		memcpy(name, r->arg, sizeof(name));
		return pthread_create(&thread, NULL, serve_thread, name);
	case ORDER_RENAMES:
		return serve_renames(r->arg);
	case ORDER_SPIN:
		for (;;)
			;
	case ORDER_WORK:
		serve_work();
	case ORDER_EXEC:
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	return UINT64_MAX;
}

int serve(void)
{
	struct request r;
	uint64_t answer;

	while (read(0, &r, sizeof(r)) == sizeof(r)) {
		answer = serve_one(&r);
		if (write(1, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

void child_send(const struct child *c, const struct request *r)
{
	assert_int_equal(write(c->to, r, sizeof(*r)), sizeof(*r));
}

uint64_t child_answer(const struct child *c)
{
	uint64_t answer;

	assert_int_equal(read(c->from, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

void child_order(const struct child *c, enum order order, const char *arg)
{
	struct request r = {.order = order};

	strncpy(r.arg, arg ? arg : "", sizeof(r.arg) - 1);
	child_send(c, &r);
}

uint64_t child_ask(const struct child *c, enum order order, const char *arg)
{
	child_order(c, order, arg);
	return child_answer(c);
}

struct child child_start(enum how how, const char *comm, uid_t uid)
{
	int to[2], from[2];
	pid_t parent = getpid();
	struct child c;
	char byte = 0;

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	fflush(NULL);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		if ((uid && setuid(uid)) || dup2(to[0], 0) != 0 || dup2(from[1], 1) != 1)
			_exit(127);
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		prctl(PR_SET_NAME, comm);
		if (write(1, &byte, 1) != 1)
			_exit(127);
		if (how == BY_FORK)
			serve();
		execl("/proc/self/exe", comm, "--serve", NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	c.to = to[1];
	c.from = from[0];
	assert_int_equal(read(c.from, &byte, 1), 1);
	if (how == BY_EXEC) /* when it answers, all is mapped */
		child_ask(&c, ORDER_STACK, NULL);
	return c;
}

void child_end(struct child *c)
{
	kill(c->pid, SIGKILL);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
	close(c->to);
	close(c->from);
}

/* --- /proc ----------------------------------------------------------------------------------- */

bool stat_read(pid_t pid, struct stat_line *s)
{
	char path[64], text[2048], *open_, *close_, *word, *rest;
	size_t n;
	FILE *f;

	memset(s, 0, sizeof(*s));
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	open_ = strchr(text, '(');
	close_ = strrchr(text, ')');
	if (!open_ || !close_ || close_ - open_ > 64)
		return false;
	memcpy(s->comm, open_ + 1, close_ - open_ - 1);
	word = strtok_r(close_ + 1, " ", &rest);
	for (int field = 3; word; field++, word = strtok_r(NULL, " ", &rest)) {
		if (field == 3)
			s->state = *word;
		else if (field == 4)
			s->ppid = atoi(word);
		else if (field == 9)
			s->kthread = strtoul(word, NULL, 10) >> 21 & 1; /* PF_KTHREAD */
		else if (field == 22)
			s->start = strtoull(word, NULL, 10);
		else if (field == 28)
			s->image = strtoull(word, NULL, 10);
	}
	return true;
}

uint64_t stat_image(pid_t pid)
{
	struct stat_line s;

	assert_true(stat_read(pid, &s));
	return s.image;
}

bool area_read(FILE *f, struct area *a)
{
	unsigned int maj, min;
	char line[4400], perms[8];
	int at = 0;

	if (!fgets(line, sizeof(line), f))
		return false;
	memset(a, 0, sizeof(*a));
	assert_int_equal(sscanf(line,
				"%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
				&a->start, &a->end, perms, &a->offset, &maj, &min, &a->inode, &at),
			 7);
	a->dev = makedev(maj, min);
	a->exec = perms[2] == 'x';
	line[strcspn(line, "\n")] = '\0';
	snprintf(a->name, sizeof(a->name), "%s", line + at);
	return true;
}

FILE *maps_open(pid_t pid)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	return f;
}

bool area_find(pid_t pid, const char *part, bool exec, struct area *a)
{
	FILE *f = maps_open(pid);
	bool found = false;

	while (!found && area_read(f, a))
		found = a->exec == exec && strstr(a->name, part);
	fclose(f);
	return found;
}

/* --- a tracker ------------------------------------------------------------------------------- */

/* A test holds the gate on purpose while it posts what makes the tracker come to it. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "deadlock:on_say\n";
}

void on_say(void *arg, int level, const char *text)
{
	struct running *r = arg;

	pthread_mutex_lock(&r->gate);
	pthread_mutex_unlock(&r->gate);
	if (!strncmp(text, "no unwind table", 15))
		return; /* of a file that others map */
	pthread_mutex_lock(&r->lock);
	snprintf(r->last.text, sizeof(r->last.text), "%s", text);
	r->last.level = level;
	r->last.number++;
	r->kept[r->last.number % MESSAGES_KEPT] = r->last;
	pthread_mutex_unlock(&r->lock);
}

struct message last_message(struct running *r)
{
	struct message m;

	pthread_mutex_lock(&r->lock);
	m = r->last;
	pthread_mutex_unlock(&r->lock);
	return m;
}

bool was_said(struct running *r, unsigned int after, const char *begin)
{
	bool found = false;

	pthread_mutex_lock(&r->lock);
	for (unsigned int n = r->last.number; n > after && n + MESSAGES_KEPT > r->last.number; n--)
		found |= !strncmp(r->kept[n % MESSAGES_KEPT].text, begin, strlen(begin));
	pthread_mutex_unlock(&r->lock);
	return found;
}

void run_sampler_of(struct running *r, unsigned int procs_max)
{
	const struct sampler_options options = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = 999,
		.shards_max = SHARDS,
		.procs_max = procs_max,
	};
	struct stat st;
	char error[256];
	int err;

	need_sampling();
	if (stat("/proc/self/ns/pid", &st) || st.st_ino != PID_NS_INIT)
		skip_since("not in the first PID namespace");
	err = sampler_new(&options, &r->sampler, error, sizeof(error));
	if (!err) {
		err = sampler_start(r->sampler, error, sizeof(error));
		if (err)
			sampler_free(r->sampler);
	}
	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	if (err)
		fail_msg("%d: %s", err, error);
}

void run_sampler(struct running *r)
{
	run_sampler_of(r, 0);
}

void run_tracker(struct running *r)
{
	struct tracker_state state;

	assert_int_equal(tracker_start(r->tracker), 0);
	WAIT((tracker_state(r->tracker, &state), state.started));
}

void run(struct running *r, const struct tracker_filter *filter)
{
	static const struct tracker_filter all;
	int err;

	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->gate, NULL);
	run_sampler(r);
	err = tracker_new(r->sampler, filter ? filter : &all, SHARDS, on_say, r, &r->tracker);
	if (err == -EPERM || err == -EACCES) {
		sampler_free(r->sampler);
		skip_without("CAP_BPF");
	}
	assert_int_equal(err, 0);
	run_tracker(r);
}

static void follow_children(struct running *r)
{
	DIR *dir = opendir("/proc");
	struct stat_line s;
	struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (atoi(e->d_name) > 0 && stat_read(atoi(e->d_name), &s) && s.ppid == getpid())
			tracker_follow(r->tracker, atoi(e->d_name)); /* unless it has ended */
	closedir(dir);
}

void run_own(struct running *r)
{
	static pid_t own;
	static const struct tracker_filter filter = {.pids = &own, .npids = 1};

	own = getpid();
	run(r, &filter);
	assert_int_equal(tracker_follow(r->tracker, own), 0);
	follow_children(r);
}

void run_end(struct running *r)
{
	tracker_free(r->tracker);
	sampler_free(r->sampler);
}

bool is_known(struct running *r, pid_t pid)
{
	struct tracker_proc p;

	return tracker_proc(r->tracker, &(struct tracker_exec){.pid = pid}, &p);
}

bool is_called(struct running *r, pid_t pid, const char *comm)
{
	struct tracker_proc p;

	return tracker_proc(r->tracker, &(struct tracker_exec){.pid = pid}, &p) &&
	       !strncmp(p.comm, comm, sizeof(p.comm));
}

bool is_attached(struct running *r, pid_t pid)
{
	struct tracker_proc p;

	return tracker_proc(r->tracker, &(struct tracker_exec){.pid = pid}, &p) && p.attached;
}

/* As a walk it reads what may be written meanwhile. */
__attribute__((no_sanitize("thread"))) bool has_entry(struct running *r, pid_t pid, uint64_t addr,
						      unsigned int kind)
{
	const struct map_entry *e = sampler_memory(r->sampler)->map_entries;
	struct proc_entry proc;
	uint32_t key = (uint32_t)pid;

	if (bpf_map_lookup_elem(fd_of_map("procs"), &key, &proc))
		return false;
	for (uint32_t i = 0; i < proc.list_count; i++) {
		const struct map_entry *one = &e[proc.list_at + i];

		if (one->start < addr + 4096 && one->end > addr && MAP_KIND(one->meta) == kind)
			return true;
	}
	return false;
}

struct code_place place_at(struct running *r, pid_t pid, uint64_t image, uint64_t addr)
{
	struct code_place p;

	tracker_place(r->tracker, &(struct tracker_exec){.pid = pid, .start_stack = image}, addr,
		      &p);
	if (p.object)
		object_put(r->tracker, p.object);
	return p;
}
