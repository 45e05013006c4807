// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that threads have asked for by name (symbols/files/fileasker.h) because they must not wait.
 * The processes that open mapped files open these, too, and users take turns. The thread waits for
 * the answer, which takes a millisecond where the file system answers. All waiting within a period
 * is bounded; an answer that comes later is there when the file is asked for again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/tracker/openfile.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/tracker_priv.h"
#include "symbols/base/memory.h"

#define ASKED_MAX    256u
#define OPEN_MAX     32u		  /* of them, that are open */
#define KEEP_NS	     (15000ull * 1000000) /* time to fetch it */
#define KEEP_NONE_NS (5000ull * 1000000)  /* it may be installed by then */
#define PATIENCE_NS  (500ull * 1000000)
#define PERIOD_NS    (30000ull * 1000000)
#define COPIES_MAX   memory_limit(MEMORY_COPIES) /* with those of mapped files */
#define COPY_MAX     (COPIES_MAX / 4)
#define COUNTED_MAX  1024u
#define COUNT_NS     (1000ull * 1000000)

struct asked_file {
	struct asked_file *next; /* an older one */
	uint64_t question;	 /* 0: it is answered */
	uint64_t time;		 /* of the question, or of the answer */
	uint64_t room;		 /* reserved for a copy, while there is no answer */
	uint32_t kind;
	pid_t pid;
	int fd; /* or -errno */
	struct file_facts facts;
	char name[];
};

struct asked_files {
	struct asked_file *files;
	unsigned int n;
	pthread_cond_t wake; /* a file is answered */
	uint64_t patience;   /* ns that threads may wait in a period */
	uint64_t left;	     /* of that in the current one */
	uint64_t until;	     /* end of the current one */
	uint64_t held;	     /* bytes of copies when they were last counted */
	uint64_t counted;    /* when that was */
	struct open_request request;
};

struct asked_files *asked_new(void)
{
	struct asked_files *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;

	if (!a)
		return NULL;
	a->patience = PATIENCE_NS;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->wake, &attr);
	pthread_condattr_destroy(&attr);
	return a;
}

static void drop_file(struct asked_files *a, struct asked_file **at)
{
	struct asked_file *f = *at;

	*at = f->next;
	a->n--;
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

void asked_free(struct asked_files *a)
{
	if (!a)
		return;
	while (a->files)
		drop_file(a, &a->files);
	pthread_cond_destroy(&a->wake);
	free(a);
}

void asked_stop(struct asked_files *a)
{
	pthread_cond_broadcast(&a->wake);
}

static struct asked_file **find_file(struct asked_files *a, uint32_t kind,
				     const struct file_question *q)
{
	struct asked_file **at = &a->files;

	while (*at && ((*at)->kind != kind || (*at)->pid != q->pid || strcmp((*at)->name, q->path)))
		at = &(*at)->next;
	return at;
}

void asked_age(struct tracker *t, uint64_t now)
{
	struct asked_file **at = &t->asked->files, *f;
	unsigned int open = 0;

	while ((f = *at)) {
		open += !f->question && f->fd >= 0;
		if ((!f->question && f->time + (f->fd >= 0 ? KEEP_NS : KEEP_NONE_NS) <= now) ||
		    (open > OPEN_MAX && f->fd >= 0))
			drop_file(t->asked, at);
		else
			at = &f->next;
	}
}

void asked_on_answer(struct tracker *t, const struct opening *o, const struct open_answer *answer,
		     int fd)
{
	struct asked_file *f = t->asked->files;

	while (f && f->question != o->id)
		f = f->next;
	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	f->question = f->room = 0;
	f->time = clock_now();
	f->fd = answer->err ? answer->err : fd;
	f->facts = answer->file;
	if (!answer->err && answer->file.copied)
		t->asked->held += answer->file.size;
	pthread_cond_broadcast(&t->asked->wake);
}

/* --- room for copies ------------------------------------------------------------------------- */

/* The bytes of an open copy that was not counted yet, else 0. */
static uint64_t count_copy(int folder, const char *name, ino_t *counted, size_t *n)
{
	static const char copy[] = "/memfd:" OPEN_COPY_NAME;
	char target[sizeof(copy)];
	struct stat st;

	/* No link to a file elsewhere starts like this; links are not followed for that. */
	if (readlinkat(folder, name, target, sizeof(target)) < (ssize_t)sizeof(copy) - 1 ||
	    memcmp(target, copy, sizeof(copy) - 1) || *n == COUNTED_MAX ||
	    fstatat(folder, name, &st, 0))
		return 0;
	for (size_t i = 0; i < *n; i++)
		if (counted[i] == st.st_ino)
			return 0;
	counted[(*n)++] = st.st_ino;
	return (uint64_t)st.st_size;
}

/* A thread that has fetched a copy does not report when it closes the last descriptor. */
static uint64_t copies_bytes(void)
{
	ino_t counted[COUNTED_MAX];
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	uint64_t bytes = 0;
	size_t n = 0;

	while (folder && (entry = readdir(folder)))
		bytes += count_copy(dirfd(folder), entry->d_name, counted, &n);
	if (folder)
		closedir(folder);
	return bytes;
}

static uint64_t copy_room(struct asked_files *a, uint64_t now)
{
	uint64_t used;

	if (now >= a->counted + COUNT_NS) {
		a->held = copies_bytes();
		a->counted = now;
	}
	used = a->held;
	for (const struct asked_file *f = a->files; f; f = f->next)
		used += f->room;
	if (used >= COPIES_MAX)
		return 0;
	return COPIES_MAX - used < COPY_MAX ? COPIES_MAX - used : COPY_MAX;
}

/* --- questions ------------------------------------------------------------------------------- */

/* The oldest is last. */
static bool drop_oldest(struct asked_files *a)
{
	struct asked_file **oldest = NULL;

	for (struct asked_file **at = &a->files; *at; at = &(*at)->next)
		if (!(*at)->question)
			oldest = at;
	if (oldest)
		drop_file(a, oldest);
	return oldest != NULL;
}

static int ask_opener(struct tracker *t, uint32_t kind, const struct file_question *q)
{
	const size_t length = strlen(q->path) + 1;
	struct open_request *r = &t->asked->request;
	const struct process *p = proctable_live(&t->procs, q->pid);
	const uid_t uid = q->pid && p ? p->uid : 0;
	struct asked_file *f;

	if (q->pid && !p)
		return -ESRCH;
	if (length > sizeof(r->name))
		return -ENAMETOOLONG;
	if (t->asked->n == ASKED_MAX && !drop_oldest(t->asked))
		return -EAGAIN;
	*r = (struct open_request){
		.kind = kind, .pid = q->pid, .copy_max = copy_room(t->asked, clock_now())};
	if (q->owner)
		r->owner = *q->owner;
	if (q->known)
		r->known = *q->known;
	memcpy(r->name, q->path, length);
	f = malloc(sizeof(*f) + length);
	if (!f)
		return -ENOMEM;
	*f = (struct asked_file){.next = t->asked->files,
				 .question = opener_ask(t->opener, r, q->pid, uid, false),
				 .time = clock_now(),
				 .room = r->copy_max,
				 .kind = kind,
				 .pid = q->pid,
				 .fd = -1};
	memcpy(f->name, q->path, length);
	if (!f->question) {
		free(f);
		return -ETIMEDOUT;
	}
	t->asked->files = f;
	t->asked->n++;
	eventfd_write(t->wake_fd, 1);
	return 0;
}

/* Gives up the lock meanwhile. */
static void wait_for_file(struct tracker *t, uint32_t kind, const struct file_question *q)
{
	struct asked_files *a = t->asked;
	const uint64_t began = clock_now();
	struct asked_file *f = *find_file(a, kind, q);
	uint64_t end, passed;
	struct timespec until;
	int err = 0;

	if (began >= a->until) {
		a->until = began + PERIOD_NS;
		a->left = a->patience;
	}
	end = began + a->left;
	until = (struct timespec){(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
	while (f && f->question && !err && !t->stop) {
		err = pthread_cond_timedwait(&t->asked->wake, &t->lock.lock, &until);
		f = *find_file(a, kind, q);
	}
	passed = clock_now() - began;
	a->left -= passed < a->left ? passed : a->left;
}

static int fetch_file(struct asked_files *a, struct asked_file **at, struct file_facts *facts)
{
	struct asked_file *f = *at;
	int fd = f->fd;

	*facts = f->facts;
	/* Files of a process about itself, and its memory, change: they are asked for each time. */
	if (f->kind == OPEN_OWN || f->kind == OPEN_MEMORY) {
		f->fd = -1;
		drop_file(a, at);
	} else if (fd >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

static int ask(struct tracker *t, uint32_t kind, const struct file_question *q,
	       struct file_facts *facts)
{
	struct asked_file **at;
	int fd = -ENOENT;

	turnlock_take(&t->lock);
	if (t->opener && t->asked) {
		at = find_file(t->asked, kind, q);
		fd = *at ? 0 : ask_opener(t, kind, q);
		if (!fd && kind != OPEN_MEMORY)
			wait_for_file(t, kind, q);
		at = find_file(t->asked, kind, q);
		if (!fd)
			fd = !*at || (*at)->question ? -EAGAIN : fetch_file(t->asked, at, facts);
	}
	turnlock_give(&t->lock);
	return fd;
}

int tracker_ask_file(struct tracker *t, const struct file_question *q, struct file_facts *facts)
{
	return ask(t, q->owner ? OPEN_OWN : OPEN_NAMED, q, facts);
}

int tracker_ask_memory(struct tracker *t, pid_t pid, uint64_t addr, uint64_t size)
{
	char range[40];
	const struct file_question q = {.pid = pid, .path = range};
	struct file_facts facts;

	openfile_range(range, addr, size);
	return ask(t, OPEN_MEMORY, &q, &facts);
}

void tracker_patience(struct tracker *t, uint64_t ns)
{
	turnlock_take(&t->lock);
	t->asked->patience = ns;
	turnlock_give(&t->lock);
}
