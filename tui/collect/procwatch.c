// SPDX-License-Identifier: GPL-2.0-or-later
/* See procwatch.h. Both files are made by the kernel from what it knows, so neither can hang. */
#include "tui/collect/procwatch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "tui/profile/board.h"

#define LOOK_NS	   400000000ull
#define WATCH_NS   600000000000ull
#define PF_KTHREAD 0x00200000u /* of include/linux/sched.h */

void procwatch_begin(struct procwatch *w, pid_t pid)
{
	atomic_store(&w->pid, pid);
}

void procwatch_end(struct procwatch *w, pid_t pid)
{
	atomic_compare_exchange_strong(&w->pid, &pid, 0);
}

/* At most size - 1 bytes and NUL; false: the process is gone, or the kernel does not say it. */
static bool read_file(pid_t pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, to, size - 1);
	close(fd);
	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* proc_pid_stat(5). The name may contain blanks and parentheses: the last one ends it. */
static void read_stat(struct procstate *s)
{
	char text[1024], *name, *end;
	unsigned int flags = 0;

	if (!read_file(s->pid, "stat", text, sizeof(text)))
		return;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name)
		return;
	text_clean(s->comm, sizeof(s->comm), name + 1, (size_t)(end - name - 1));
	sscanf(end + 1, " %c %*s %*s %*s %*s %*s %u", &s->state, &flags);
	s->kthread = (flags & PF_KTHREAD) != 0;
}

/* "0" stands there for a process that runs. */
static void read_where(struct procstate *s)
{
	char text[128];

	if (read_file(s->pid, "wchan", text, sizeof(text)) && strcmp(text, "0") != 0)
		text_clean(s->where, sizeof(s->where), text, strlen(text));
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
