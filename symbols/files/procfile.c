/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profiler often runs as root, and a profiled process may have put anything at the path that it
 * looks for: the owner of a file counts as much as its contents.
 */
#include "symbols/files/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/files/fileasker.h"
#include "symbols/files/rootfile.h"

#define CLOCK_SLACK 2 /* seconds: the two clocks are coarse and not read at once */
#define NS_PER_SEC  1000000000ll

char *procfile_text(pid_t pid, const char *name)
{
	char path[64], *text = NULL;
	size_t room = 0;
	ssize_t length;
	FILE *file;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "re");
	if (!file) {
		errno = errno == ENOENT ? ESRCH : errno;
		return NULL;
	}
	errno = 0;
	length = getdelim(&text, &room, '\0', file);
	err = errno ? errno : ESRCH;
	fclose(file);
	if (length > 0)
		return text;
	free(text);
	errno = err;
	return NULL;
}

/*
 * Field 22 of /proc/PID/stat, clock ticks since boot, as wall-clock time. If a time namespace has
 * booted after the process started, the kernel turns negative ns into unsigned ticks.
 */
static int read_start(pid_t pid, int64_t *start)
{
	struct timespec boot, day;
	char *text = procfile_text(pid, "stat"), *at;
	uint64_t ticks, ns;

	if (!text)
		return -errno;
	at = strrchr(text, ')'); /* the name in front of it may contain anything */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	ticks = at ? strtoull(at, NULL, 10) : UINT64_MAX;
	free(text);
	if (ticks == UINT64_MAX)
		return -EINVAL;
	ns = ticks * (NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &day);
	*start = day.tv_sec - boot.tv_sec + (int64_t)ns / NS_PER_SEC;
	return 0;
}

/* The innermost number comes last. Kernels without PID namespaces have no such line. */
static int read_nspid(const char *status, pid_t *pid)
{
	const char *at = strstr(status, "\nNSpid:");
	char *end;

	for (at = at ? at + strlen("\nNSpid:") : ""; *at == '\t' || *at == ' '; at = end) {
		*pid = (pid_t)strtol(at, &end, 10);
		if (end == at)
			return -EINVAL;
	}
	return 0;
}

int procfile_owner(pid_t pid, struct procfile_owner *out)
{
	char *text = procfile_text(pid, "status"), *at;
	unsigned int uid = 0, euid = 0;
	int err = -EINVAL;

	if (!text)
		return -errno;
	*out = (struct procfile_owner){.pid = pid, .nspid = pid};
	at = strstr(text, "\nUid:");
	if (at && sscanf(at, "\nUid:%u%u", &uid, &euid) == 2)
		err = read_nspid(text, &out->nspid);
	free(text);
	out->uid = uid;
	out->euid = euid;
	return err ? err : read_start(pid, &out->start);
}

/* local: without waiting, or -EXDEV. */
static int open_below(const struct procfile_owner *owner, const char *path, bool local,
		      struct stat *st)
{
	int root = rootfile_root(owner->pid), held, fd;

	if (root < 0)
		return root;
	held = local ? rootfile_hold_local(root, path, O_NOFOLLOW)
		     : rootfile_hold(root, path, O_NOFOLLOW);
	close(root);
	if (held < 0)
		return held;
	fd = rootfile_check(held, st);
	if (fd == -EINVAL ||
	    (!fd && ((st->st_uid && st->st_uid != owner->uid && st->st_uid != owner->euid) ||
		     st->st_mtim.tv_sec + CLOCK_SLACK < owner->start)))
		fd = -EPERM;
	else if (!fd)
		fd = rootfile_reopen(held);
	close(held);
	return fd;
}

int procfile_open(const struct procfile_owner *owner, const char *path, struct stat *st)
{
	return open_below(owner, path, false, st);
}

int procfile_ask(const struct procfile_owner *owner, const char *path, struct fileasker *asker,
		 const struct file_facts *known, struct file_facts *facts)
{
	const struct file_question question = {owner->pid, path, owner, known};
	struct stat st;
	int fd = open_below(owner, path, asker != NULL, &st);

	if (fd == -EXDEV && asker)
		return fileasker_ask(asker, &question, facts);
	if (fd >= 0)
		file_facts_of(facts, &st);
	return fd;
}
