// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See languages.h. Files and memory of processes may be served by programs that never answer, so
 * they are opened and read by the helpers of opener.h, one question at a time. Most mappings are of
 * few files, each of which is looked at once.
 */
#include "bpf/report/languages.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/sampler/clock.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/codefile.h"
#include "bpf/tracker/mapping.h"
#include "bpf/tracker/mapsreader.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/opener.h"
#include "symbols/base/hash.h"
#include "symbols/base/text.h"

#define LOOKED_MAX 16384u /* files that are looked at */
#define TRIED_MAX  8u	  /* processes of a runtime that are asked */
#define COPY_MAX   (256u << 20)

struct language_file {
	struct file_id id;
	struct object object; /* its name, segments, symbols and runtime only */
	uint32_t processes;
	pid_t last; /* that was counted */
	struct asked {
		pid_t pid;
		uint64_t bias;
	} asked[TRIED_MAX];
	uint32_t nasked;
	bool hashed;
	UT_hash_handle hh;
};

struct languages {
	struct opener *opener;
	struct language_file *files;
	struct open_request request;
	struct open_answer answer;
	int fd; /* with the answer; -1: none */
	bool answered;
	pid_t pid; /* whose mappings are read */
	int err;
};

static void take_answer(void *arg, const struct opening *o, const struct open_answer *answer,
			int fd)
{
	struct languages *l = arg;

	(void)o;
	l->answer = *answer;
	l->fd = fd;
	l->answered = true;
}

/* The answer is in l->answer, and a descriptor, which is to be closed, in l->fd. -errno. */
static int ask(struct languages *l)
{
	struct pollfd fds[OPENHELPERS];

	l->answered = false;
	l->fd = -1;
	l->request.pid = l->pid;
	if (!opener_ask(l->opener, &l->request, l->pid, 0, true))
		return -ETIMEDOUT;
	opener_turn(l->opener, clock_now());
	while (!l->answered) {
		opener_fds(l->opener, fds);
		(void)poll(fds, OPENHELPERS, opener_wait(l->opener));
		opener_turn(l->opener, clock_now());
	}
	return l->answer.err;
}

/* --- files ----------------------------------------------------------------------------------- */

static bool has_language(const struct language_file *f)
{
	return f->object.runtime || f->object.symbols.vm_structs;
}

/* A file that cannot be opened is not of interest. */
static void read_file(struct languages *l, struct language_file *f)
{
	struct elf_file *elf;
	size_t bytes;

	if (ask(l) || l->fd < 0)
		return;
	if (!elf_file_open_fd(l->fd, &elf)) {
		f->object.runtime = runtimefile_read(elf, f->object.name);
		if (!f->object.runtime)
			codereader_symbols(elf, &f->object.symbols);
		elf_file_free(elf);
	}
	close(l->fd);
	bytes = l->answer.nloads * sizeof(*f->object.loads);
	if (!has_language(f) || l->answer.nloads > OPEN_LOADS_MAX)
		return;
	f->object.loads = malloc(bytes + 1);
	if (!f->object.loads)
		return;
	memcpy(f->object.loads, l->answer.loads, bytes);
	f->object.nloads = l->answer.nloads;
}

/* NULL: no memory, or too many. */
static struct language_file *file_of(struct languages *l, const struct procmap *map)
{
	const struct file_id id = {makedev(map->dev_major, map->dev_minor), map->inode};
	const char *slash = strrchr(map->name, '/');
	struct language_file *f;

	HASH_FIND(hh, l->files, &id, sizeof(id), f);
	if (f)
		return f;
	f = HASH_COUNT(l->files) < LOOKED_MAX ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	f->id = id;
	f->hashed = true;
	HASH_ADD(hh, l->files, id, sizeof(f->id), f);
	if (!f->hashed) {
		free(f);
		return NULL;
	}
	snprintf(f->object.name, sizeof(f->object.name), "%s", slash ? slash + 1 : map->name);
	memset(&l->request, 0, offsetof(struct open_request, name));
	l->request.kind = OPEN_MAPPED;
	l->request.copy_max = COPY_MAX;
	l->request.start = map->start;
	l->request.end = map->end;
	l->request.dev = id.dev;
	l->request.inode = id.inode;
	snprintf(l->request.name, sizeof(l->request.name), "%s", map->name);
	read_file(l, f);
	return f;
}

static void note_mapping(struct languages *l, const struct procmap *map)
{
	const struct mapping m = {
		.start = map->start, .end = map->end, .offset = map->offset, .data = !map->exec};
	struct language_file *f = map->inode ? file_of(l, map) : NULL;
	uint64_t bias;

	if (!f || !has_language(f))
		return;
	f->processes += f->last != l->pid;
	f->last = l->pid;
	/* V8 maps parts of its file once more, elsewhere: the data belongs to one of the two. */
	if (f->nasked < TRIED_MAX && objectfile_bias(&f->object, &m, m.offset, &bias) &&
	    !(f->nasked && f->asked[f->nasked - 1].pid == l->pid &&
	      f->asked[f->nasked - 1].bias == bias))
		f->asked[f->nasked++] = (struct asked){l->pid, bias};
}

static void read_mappings(struct languages *l)
{
	struct maps_reading s = {.pid = l->pid};

	(void)mapsreader_read(&s);
	for (size_t i = 0; i < s.nseen; i++) {
		struct procmap map = s.seen[i].map;

		map.name = s.names + s.seen[i].name;
		note_mapping(l, &map);
	}
	mapsreader_free(&s);
}

static void read_processes(struct languages *l)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		l->pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (l->pid != getpid())
			read_mappings(l);
	}
	if (proc)
		closedir(proc);
}

/* --- frames ---------------------------------------------------------------------------------- */

static int count_name(void *arg, uint64_t start, uint64_t size, const char *name)
{
	(void)start;
	(void)size;
	(void)name;
	++*(unsigned long *)arg;
	return 0;
}

/* Has a Java virtual machine names for its code? As runtimefile_check. */
static int ask_hotspot(struct languages *l, const struct language_file *f, const struct asked *of)
{
	unsigned long names = 0;
	int err;

	memset(&l->request, 0, sizeof(l->request));
	l->request.kind = OPEN_CODE;
	l->request.code.vm_structs = f->object.symbols.vm_structs + of->bias;
	l->request.code.vm_types = f->object.symbols.vm_types + of->bias;
	err = ask(l);
	if (l->fd < 0)
		return err;
	err = codefile_names(l->fd, count_name, &names);
	close(l->fd);
	return err ? err : names ? 0 : -ENOENT;
}

static int ask_runtime(struct languages *l, const struct language_file *f, const struct asked *of)
{
	if (!f->object.runtime)
		return ask_hotspot(l, f, of);
	memset(&l->request, 0, offsetof(struct open_request, name));
	l->request.kind = OPEN_RUNTIME;
	runtimefile_question(&f->object, of->bias, &l->request.runtime);
	return ask(l);
}

/* One process that proves it is enough; a contradiction may be that of a process that begins. */
static int ask_processes(struct languages *l, const struct language_file *f, char why[80])
{
	int err = -ENOENT, now;

	why[0] = '\0';
	for (uint32_t i = 0; i < f->nasked; i++) {
		l->pid = f->asked[i].pid;
		now = ask_runtime(l, f, &f->asked[i]);
		if (!now)
			return 0;
		if (now == -ENOENT || now == -ESRCH)
			continue;
		err = now;
		text_clean(why, 80, l->answer.why, strnlen(l->answer.why, 79));
	}
	return err;
}

static void tell(struct languages *l, const struct sampler *sampler, const struct language_file *f,
		 FILE *to)
{
	const struct runtime_object *r = f->object.runtime;
	char name[48], why[80], text[160], file[64];
	int err = -ENOTSUP;

	snprintf(name, sizeof(name), "runtime:%s", r ? r->shown : "Java");
	for (char *c = name; *c; c++)
		if (*c == ' ')
			*c = '-';
	if (r && r->err)
		snprintf(text, sizeof(text), "no frames: its layout is not known%s%s",
			 r->missing ? ": " : "", r->missing ?: "");
	else if (r && sampler && sampler_refuses(sampler, r->kind))
		snprintf(text, sizeof(text), "no frames: this kernel refuses the program");
	else if (!(err = ask_processes(l, f, why)))
		snprintf(text, sizeof(text), "%s",
			 r ? "frames of its language" : "names of its compiled code");
	else if (err == -EINVAL)
		snprintf(text, sizeof(text), "no frames: memory contradicts the layout: %s", why);
	else if (err == -ENOENT && !r)
		snprintf(text, sizeof(text),
			 "no names: its virtual machine describes no code, or "
			 "in a way that is not known");
	else if (err == -ENOENT)
		snprintf(text, sizeof(text), "not proven: no code of the language runs now");
	else
		snprintf(text, sizeof(text), "not proven: memory cannot be read: %s",
			 strerror(-err));
	text_clean(file, sizeof(file), f->object.name, strlen(f->object.name));
	if (fprintf(to, "%s  %-33s  %s, %u process%s: %s\n", err ? "--" : "ok", name, file,
		    f->processes, f->processes == 1 ? "" : "es", text) < 0)
		l->err = -EIO;
}

int languages_print(FILE *to, const struct sampler *sampler)
{
	struct languages *l = calloc(1, sizeof(*l));
	struct language_file *f, *next;
	int err = l ? opener_new(take_answer, l, &l->opener) : -ENOMEM;

	if (err) {
		free(l);
		return err;
	}
	read_processes(l);
	HASH_ITER(hh, l->files, f, next) {
		if (has_language(f) && !l->err)
			tell(l, sampler, f, to);
		HASH_DEL(l->files, f);
		free(f->object.runtime);
		free(f->object.loads);
		free(f);
	}
	err = l->err;
	opener_free(l->opener);
	free(l);
	return err;
}
