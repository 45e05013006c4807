// SPDX-License-Identifier: GPL-2.0-or-later
/* See procwatch.h. Both files are made by the kernel from what it knows, so neither can hang. */
#include "tui/collect/procwatch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "symbols/files/procstat.h"
#include "tui/profile/board.h"

#define LOOK_NS	 400000000ull
#define WATCH_NS 600000000000ull

void procwatch_begin(struct procwatch *w, pid_t pid)
{
	atomic_store(&w->pid, pid);
}

void procwatch_end(struct procwatch *w, pid_t pid)
{
	atomic_compare_exchange_strong(&w->pid, &pid, 0);
}

static void read_stat(struct procstate *s)
{
	struct procstat stat;

	if (procstat_read(s->pid, &stat))
		return;
	text_clean(s->comm, sizeof(s->comm), stat.comm, strlen(stat.comm));
	s->state = stat.state;
	s->kthread = stat.kthread;
}

/* "0" stands there for a process that runs. */
static void read_where(struct procstate *s)
{
	char path[64], text[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/wchan", (int)s->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n > 0 && (n > 1 || text[0] != '0'))
		text_clean(s->where, sizeof(s->where), text, (size_t)n);
}

static bool is_same(const struct procstate *a, const struct procstate *b)
{
	return a->pid == b->pid && a->state == b->state && a->kthread == b->kthread &&
	       strcmp(a->comm, b->comm) == 0 && strcmp(a->where, b->where) == 0;
}

bool procwatch_turn(struct procwatch *w, struct board *board, uint64_t now)
{
	struct procstate s = {0};

	s.pid = atomic_load(&w->pid);
	if (!s.pid || (s.pid == w->told.pid && now - w->looked < LOOK_NS))
		return false;
	if (s.pid != w->told.pid)
		w->since = now;
	/* The view may be closed long since, and the PID another process's. */
	if (now - w->since > WATCH_NS) {
		procwatch_end(w, s.pid);
		return false;
	}
	w->looked = now;
	read_stat(&s);
	read_where(&s);
	if (is_same(&s, &w->told))
		return false;
	w->told = s;
	board_set_procstate(board, &s);
	return true;
}
