/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most processes live either shorter than a refresh or longer than a day: the first are read once,
 * the latter every few seconds, a part of them in each slice.
 */
#include "tui/collect/procinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/hash.h"
#include "bpf/tracker/tracker.h"
#include "symbols/files/cgroup.h"
#include "symbols/base/text.h"
#include "tui/collect/ancestors.h"
#include "tui/profile/profile.h"
#include "tui/collect/users.h"

#define REFRESH_NS 5000000000ull
#define UNSEEN_NS  600000000000ull /* of a process that lives but is not sampled */

struct procinfo_key {
	uint64_t exec;
	uint64_t pid;
};

struct procinfo_proc {
	struct procinfo_key key;
	struct profile_proc info;
	uint64_t image;	    /* for the tracker; 0: not known yet, or a kernel thread */
	uint64_t refreshed; /* ns */
	uint64_t sampled;   /* ns */
	uint64_t round;	    /* id is good in this round */
	uint32_t id;
	bool hashed;
	UT_hash_handle hh;
};

struct last_exec { /* direct-mapped by PID: a collision only loses what is known */
	pid_t pid;
	uint64_t exec;
};

#define LAST_EXECS 4096u

struct procinfo {
	struct profile *profile;
	struct tracker *tracker;
	struct procinfo_proc *procs;
	uint64_t round;
	struct users *users;
	struct ancestors *ancestors;
	struct last_exec last[LAST_EXECS];
};

int procinfo_new(struct profile *profile, struct tracker *tracker, struct procinfo **out)
{
	struct procinfo *pi = calloc(1, sizeof(*pi));
	int err;

	*out = pi;
	if (!pi)
		return -ENOMEM;
	pi->profile = profile;
	pi->tracker = tracker;
	pi->round = 1;
	err = users_new(NULL, &pi->users);
	pi->ancestors = ancestors_new();
	if (!pi->ancestors)
		err = -ENOMEM;
	if (err) {
		procinfo_free(pi);
		*out = NULL;
	}
	return err;
}

static void proc_drop(struct procinfo *pi, struct procinfo_proc *proc)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(pi->procs, proc);
	free(proc);
}

void procinfo_free(struct procinfo *pi)
{
	struct procinfo_proc *proc, *next;

	if (!pi)
		return;
	HASH_ITER(hh, pi->procs, proc, next) {
		proc_drop(pi, proc);
	}
	users_free(pi->users);
	ancestors_free(pi->ancestors);
	free(pi);
}

void procinfo_seen(struct procinfo *pi, pid_t pid, uint64_t exec)
{
	struct last_exec *last = &pi->last[(uint32_t)pid % LAST_EXECS];

	if (last->pid != pid || last->exec < exec)
		*last = (struct last_exec){pid, exec};
}

/* --- /proc ----------------------------------------------------------------------------------- */

/* At most size - 1 bytes and NUL; the length, or -errno. */
static ssize_t read_proc(pid_t pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t n = 0, got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((size_t)n < size - 1) {
		got = read(fd, to + n, size - 1 - (size_t)n);
		if (got <= 0)
			break;
		n += got;
	}
	close(fd);
	to[n] = '\0';
	return n;
}

/* False: there is no such process any more. */
static bool read_status(struct procinfo *pi, struct profile_proc *info)
{
	char text[4096];
	const char *at;
	unsigned int uid; /* effective, as in ps(1) and --user */
	ssize_t n = read_proc(info->pid, "status", text, sizeof(text));

	if (n <= 0)
		return n && n != -ENOENT && n != -ESRCH;
	at = strstr(text, "\nUid:");
	if (at && sscanf(at, "\nUid:%*u%u", &uid) == 1)
		users_name(pi->users, uid, info->user, sizeof(info->user));
	at = strstr(text, "\nPPid:");
	if (at)
		info->ppid = (pid_t)strtol(at + 6, NULL, 10);
	at = strstr(text, "\nThreads:");
	if (at)
		info->nthreads = (unsigned int)strtoul(at + 9, NULL, 10);
	return true;
}

static void read_cmdline(struct profile_proc *info)
{
	char text[sizeof(info->cmdline)] = "";
	ssize_t n = read_proc(info->pid, "cmdline", text, sizeof(text));

	while (n > 0 && !text[n - 1])
		n--;
	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text_clean(info->cmdline, sizeof(info->cmdline), text, (size_t)n);
}

/* --- processes ------------------------------------------------------------------------------- */

static void set_comm(struct profile_proc *info, const char *comm)
{
	size_t length = strnlen(comm, 16);

	if (length)
		text_clean(info->comm, sizeof(info->comm), comm, length);
}

static void ask_proc(struct procinfo *pi, struct profile_proc *info, uint64_t now)
{
	bool here = !info->exited && read_status(pi, info);
	char text[4096];
	ssize_t n;

	if (!here && !info->exited) {
		info->exited = true;
		info->exit_time = now;
	}
	if (here)
		info->cmdline[0] = '\0';
	if (here && !info->kthread) {
		read_cmdline(info);
		n = read_proc(info->pid, "cgroup", text, sizeof(text));
		if (n > 0)
			cgroup_name(text, (size_t)n, info->group, sizeof(info->group));
	}
	if (!info->cmdline[0])
		snprintf(info->cmdline, sizeof(info->cmdline), "[%s]", info->comm);
}

/* True if something changed that users see. */
static bool refresh(struct procinfo *pi, struct procinfo_proc *proc, uint64_t now)
{
	const struct tracker_exec of = {proc->info.pid, proc->image, proc->key.exec};
	struct profile_proc *info = &proc->info, before = *info;
	const struct last_exec *last = &pi->last[(uint32_t)info->pid % LAST_EXECS];
	/* The PID belongs to another program or process by now. */
	bool over = last->pid == info->pid && last->exec > proc->key.exec;
	struct tracker_proc known;

	if (info->exited)
		return false;
	if (tracker_proc(pi->tracker, &of, &known) && (known.exited || !over)) {
		set_comm(info, known.comm);
		if (known.ppid > 0)
			info->ppid = known.ppid;
		info->attached = known.attached;
		info->exited = known.exited;
		info->exit_time = known.exited ? known.exit_time : 0;
		info->kthread = known.kthread;
	} else if (over) {
		info->exited = true;
		info->exit_time = now;
	}
	if (!info->exited && now - proc->refreshed >= REFRESH_NS) {
		ask_proc(pi, info, now);
		proc->refreshed = now;
	}
	return info->exited || info->attached != before.attached || info->ppid != before.ppid ||
	       info->nthreads != before.nthreads || strcmp(info->comm, before.comm) != 0 ||
	       strcmp(info->cmdline, before.cmdline) != 0 || strcmp(info->user, before.user) != 0 ||
	       strcmp(info->group, before.group) != 0;
}

static struct procinfo_proc *proc_new(struct procinfo *pi, const struct tracker_exec *of,
				      const char *comm, uint64_t now)
{
	struct procinfo_proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->key = (struct procinfo_key){of->exec_id, (uint64_t)of->pid};
	proc->image = of->start_stack;
	proc->info.pid = of->pid;
	proc->info.image = of->exec_id;
	proc->info.kthread = !of->start_stack;
	proc->refreshed = proc->sampled = now;
	set_comm(&proc->info, comm);
	refresh(pi, proc, now);
	ask_proc(pi, &proc->info, now);
	proc->hashed = true;
	HASH_ADD(hh, pi->procs, key, sizeof(proc->key), proc);
	if (!proc->hashed) {
		free(proc);
		return NULL;
	}
	return proc;
}

static int feed(struct procinfo *pi, struct procinfo_proc *proc)
{
	int64_t id;

	profile_lock(pi->profile);
	id = profile_proc(pi->profile, &proc->info);
	profile_unlock(pi->profile);
	if (id < 0)
		return (int)id;
	proc->id = (uint32_t)id;
	proc->round = pi->round;
	return 0;
}

int64_t procinfo_proc(struct procinfo *pi, const struct tracker_exec *of, const char *comm,
		      uint64_t now)
{
	struct procinfo_key key = {of->exec_id, (uint64_t)of->pid};
	struct procinfo_proc *proc;
	int err;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(hh, pi->procs, &key, sizeof(key), proc);
	if (!proc)
		proc = proc_new(pi, of, comm, now);
	if (!proc)
		return -ENOMEM;
	if (of->start_stack && !proc->image) {
		/* A sample taken within exec may have the name of the next image. */
		set_comm(&proc->info, comm);
		proc->round = pi->round - 1;
	}
	if (of->start_stack)
		proc->image = of->start_stack;
	proc->info.kthread &= !proc->image;
	proc->sampled = now;
	if (proc->round == pi->round)
		return proc->id;
	refresh(pi, proc, now);
	err = feed(pi, proc);
	return err ? err : (int64_t)proc->id;
}

int procinfo_mute(struct procinfo *pi, const struct tracker_exec *of, enum func_kind language,
		  const char *why)
{
	struct procinfo_key key = {of->exec_id, (uint64_t)of->pid};
	struct procinfo_proc *proc;
	char text[sizeof(proc->info.why)];

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(hh, pi->procs, &key, sizeof(key), proc);
	text_clean(text, sizeof(text), why, strlen(why));
	if (!proc || (proc->info.mute == language && !strcmp(proc->info.why, text)))
		return 0;
	proc->info.mute = language;
	memcpy(proc->info.why, text, sizeof(text));
	return feed(pi, proc);
}

int procinfo_update(struct procinfo *pi, uint64_t now)
{
	struct procinfo_proc *proc, *next;
	int err = 0;

	HASH_ITER(hh, pi->procs, proc, next) {
		if (proc->round == pi->round)
			continue;
		if (refresh(pi, proc, now))
			err = feed(pi, proc);
		if (err)
			return err;
		/* The profile keeps what it needs; if it is sampled again it is read anew. */
		if (proc->info.exited || now - proc->sampled > UNSEEN_NS)
			proc_drop(pi, proc);
	}
	return 0;
}

int procinfo_parents(struct procinfo *pi, uint64_t now)
{
	const struct procinfo_proc *proc, *next;
	pid_t *parents = malloc((HASH_COUNT(pi->procs) + 1) * sizeof(*parents));
	size_t n = 0;
	int err;

	if (!parents)
		return -ENOMEM;
	HASH_ITER(hh, pi->procs, proc, next) {
		if (!proc->info.exited && proc->info.ppid > 0)
			parents[n++] = proc->info.ppid;
	}
	err = ancestors_feed(pi->ancestors, pi->profile, parents, n, now);
	free(parents);
	return err;
}

struct users *procinfo_users(const struct procinfo *pi)
{
	return pi->users;
}

void procinfo_age(struct procinfo *pi)
{
	pi->round++;
}
