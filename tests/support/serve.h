/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_SERVE_H
#define STACKTOP_TESTS_SUPPORT_SERVE_H

/*
 * For the tests of the tracker: children that do as they are told through a pipe, what /proc says
 * of them, and a tracker on a real sampler, whose messages are kept.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "bpf/tracker/tracker.h"

#define SERVE_ARG 256
#define SHARDS	  32u

uint64_t clock_now(void);

/* Nothing here says how fast, only that it comes. */
#define WAIT(condition)                                                                            \
	do {                                                                                       \
		uint64_t until_ = clock_now() + 200000000000ull;                                   \
		while (!(condition)) {                                                             \
			if (clock_now() > until_)                                                  \
				fail_msg("never: %s", #condition);                                 \
			usleep(2000);                                                              \
		}                                                                                  \
	} while (0)

enum order {
	ORDER_PLUGIN, /* dlopen(arg); 0: done */
	ORDER_MAP,    /* the file arg, executable, at `at` if that is not 0; its address */
	ORDER_MOVE,   /* the mapping at `at`, by mremap; its address */
	ORDER_MAPS,   /* the first page of the file arg, executable, size times; 0: done */
	ORDER_JIT,    /* executable memory, anonymous or of a memfd with these bytes; its address */
	ORDER_STACK,  /* the address of something on the stack */
	ORDER_FORK,   /* a child that does nothing; its PID */
	ORDER_COMM,   /* be called arg */
	ORDER_USER,   /* setuid(arg); 0: done */
	ORDER_THREAD, /* one more thread, called arg */
	ORDER_RENAMES, /* 20,000 times, then be called arg */
	ORDER_SPIN,    /* forever; no answer */
	ORDER_WORK,    /* forever, a quarter of the time; no answer */
	ORDER_EXEC,    /* /bin/sleep; no answer */
};

struct request {
	enum order order;
	uint64_t offset, size, at;
	char arg[SERVE_ARG];
};

struct child {
	pid_t pid;
	int to, from;
};

/* Does what comes in on descriptor 0 and answers on 1. */
int serve(void);

void child_send(const struct child *c, const struct request *r);

uint64_t child_answer(const struct child *c);

void child_order(const struct child *c, enum order order, const char *arg);

uint64_t child_ask(const struct child *c, enum order order, const char *arg);

enum how { BY_FORK, BY_EXEC };

struct child child_start(enum how how, const char *comm, uid_t uid);

void child_end(struct child *c);

struct stat_line { /* proc_pid_stat(5) */
	char comm[64];
	char state;
	pid_t ppid;
	bool kthread;
	uint64_t start; /* tells it from others of its number */
	uint64_t image; /* start_stack */
};

bool stat_read(pid_t pid, struct stat_line *s);

uint64_t stat_image(pid_t pid);

struct area {
	uint64_t start, end, offset, inode;
	dev_t dev;
	bool exec;
	char name[512]; /* as in the file */
};

/* The next line; false: the end. */
bool area_read(FILE *f, struct area *a);

FILE *maps_open(pid_t pid);

/* The process's first area, executable or not, whose name has that in it. */
bool area_find(pid_t pid, const char *part, bool exec, struct area *a);

struct message {
	char text[512];
	int level;
	unsigned int number;
};

#define MESSAGES_KEPT 64u

struct running {
	struct sampler *sampler;
	struct tracker *tracker;
	pthread_mutex_t lock;
	struct message last;
	struct message kept[MESSAGES_KEPT]; /* by number */
	pthread_mutex_t gate;		    /* held: what has something to say waits */
};

void on_say(void *arg, int level, const char *text);

struct message last_message(struct running *r);

/* Whether one that came after that number begins so: it need not be the last any more. */
bool was_said(struct running *r, unsigned int after, const char *begin);

/* procs_max: see struct sampler_options. */
void run_sampler_of(struct running *r, unsigned int procs_max);

void run_sampler(struct running *r);

/* Starts the tracker, and waits until all processes are known that were there. */
void run_tracker(struct running *r);

/* Skips where it is not permitted, or where PIDs are not those that the kernel tells. */
void run(struct running *r, const struct tracker_filter *filter);

/*
 * As run(), of this program, its children and what they start from now on: no tables are built for
 * other processes.
 */
void run_own(struct running *r);

void run_end(struct running *r);

bool is_known(struct running *r, pid_t pid);

bool is_called(struct running *r, pid_t pid, const char *comm);

bool is_attached(struct running *r, pid_t pid);

/* Whether a walk finds an entry of that kind, MAP_CFI and so on, for some of the page at addr. */
bool has_entry(struct running *r, pid_t pid, uint64_t addr, unsigned int kind);

/* What is at the address, without the reference; the object is only good to compare. */
struct code_place place_at(struct running *r, pid_t pid, uint64_t image, uint64_t addr);

#endif
