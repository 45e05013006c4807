// SPDX-License-Identifier: GPL-2.0-or-later
/* See runtimefile.h. What is special to a language is in symbols/runtime. */
#include "bpf/tracker/runtimefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/codereader.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "symbols/runtime/perl_check.h"
#include "symbols/runtime/perl_file.h"
#include "symbols/runtime/php_check.h"
#include "symbols/runtime/php_file.h"
#include "symbols/runtime/python_check.h"
#include "symbols/runtime/python_file.h"
#include "symbols/runtime/ruby_check.h"
#include "symbols/runtime/ruby_file.h"
#include "symbols/runtime/v8_check.h"
#include "symbols/runtime/v8_file.h"
#include "unwind/funcs.h"
#include "unwind/walk.h"

#define CHECKS_MAX	200 /* the process runs meanwhile, so that some contradict themselves */
#define CHECKS_QUICK	100 /* without a pause */
#define PAUSE_NS	200000
#define LEARNED_SAME	3
#define V8_BUILTINS_MIN (1u << 20) /* bytes; 1.6 to 2.1 MB in V8 10 to 13 */
#define LOCKED_MAX	30	   /* of them, to see which thread holds the lock */

/* --- languages ------------------------------------------------------------------------------- */

static bool read_python(const struct elf_file *file, const char *name, struct runtime_object *r)
{
	struct python_file python;

	if (!python_file_read(file, name, &python))
		return false;
	r->err = python.err;
	if (python.version)
		snprintf(r->shown, sizeof(r->shown), "Python %u.%u", python.version >> 24,
			 python.version >> 16 & 0xff);
	else
		snprintf(r->shown, sizeof(r->shown), "an unknown Python");
	r->elf.at = python.runtime;
	r->elf.type = python.type;
	for (int i = 0; i < 4; i++)
		r->elf.eval[i / 2][i % 2] = python.eval[i / 2][i % 2];
	r->elf.python = python.layout;
	return true;
}

static int read_memory(void *arg, uint64_t addr, void *to, size_t size)
{
	return codereader_memory(arg, addr, to, size);
}

static int check_python(struct code_memory *m, const struct runtime_process *p, bool *lock,
			const char **why)
{
	const struct python_place place = {p->at, p->type};
	struct python_layout layout = p->python;
	int err = python_check(&layout, &place, read_memory, m, why);

	*lock = !p->python.runtime_current || layout.runtime_current;
	return err;
}

static void unlock_python(struct runtime_process *p)
{
	p->python.runtime_current = 0;
}

static bool read_php(const struct elf_file *file, const char *name, struct runtime_object *r)
{
	struct php_file php;

	(void)name;
	if (!php_file_read(file, &php))
		return false;
	r->err = php.err;
	snprintf(r->shown, sizeof(r->shown), "%s", "an unknown PHP");
	if (php.layout.version)
		snprintf(r->shown, sizeof(r->shown), "PHP %d.%d%s",
			 (uint8_t)(php.layout.version >> 8), (uint8_t)php.layout.version,
			 php.globals ? "" : " (ZTS)");
	r->elf.at = php.globals;
	for (int i = 0; i < 4; i++)
		r->elf.eval[i / 2][i % 2] = php.eval[i / 2][i % 2];
	r->elf.php = php.layout;
	return true;
}

static int check_php(struct code_memory *m, const struct runtime_process *p, bool *lock,
		     const char **why)
{
	*lock = true;
	return php_check(&p->php, p->at, read_memory, m, why);
}

static bool read_perl(const struct elf_file *file, const char *name, struct runtime_object *r)
{
	struct perl_file perl;

	(void)name;
	if (!perl_file_read(file, &perl))
		return false;
	r->err = perl.err;
	snprintf(r->shown, sizeof(r->shown), "Perl %d.%d%s", (uint8_t)(perl.layout.version >> 16),
		 (uint8_t)(perl.layout.version >> 8), perl.key ? "" : " (no threads)");
	r->elf.at = perl.key;
	r->elf.type = perl.first;
	for (int i = 0; i < 4; i++)
		r->elf.eval[i / 2][i % 2] = perl.eval[i / 2][i % 2];
	r->elf.perl = perl.layout;
	return true;
}

static int check_perl(struct code_memory *m, const struct runtime_process *p, bool *lock,
		      const char **why)
{
	*lock = true;
	return perl_check(&p->perl, p->type, read_memory, m, why);
}

static bool read_ruby(const struct elf_file *file, const char *name, struct runtime_object *r)
{
	struct ruby_file ruby;

	(void)name;
	if (!ruby_file_read(file, &ruby))
		return false;
	r->err = ruby.err;
	if (ruby.version)
		snprintf(r->shown, sizeof(r->shown), "Ruby %u.%u", ruby.version >> 16,
			 ruby.version >> 8 & 0xff);
	else
		snprintf(r->shown, sizeof(r->shown), "an unknown Ruby");
	r->elf.at = ruby.vm;
	r->elf.ruby = ruby.layout;
	return true;
}

/* Tries it some times, since programs are quick from where it can be told to where it cannot. */
static int ask_ruby(struct code_memory *m, uint64_t at, struct ruby_layout *layout, uint64_t *label,
		    const char **why)
{
	const struct timespec pause = {0, PAUSE_NS};
	const struct ruby_layout asked = *layout;
	int err;

	for (int i = 0; i < CHECKS_QUICK; i++) {
		*layout = asked;
		err = ruby_check(layout, at, read_memory, m, label, why);
		if (err != -EAGAIN)
			return err;
		nanosleep(&pause, NULL);
	}
	return -ENOENT;
}

static int check_ruby(struct code_memory *m, const struct runtime_process *p, bool *lock,
		      const char **why)
{
	struct ruby_layout layout = p->ruby;
	uint64_t label;
	int err = ask_ruby(m, p->at, &layout, &label, why);

	*lock = !p->ruby.ractor_owner || layout.ractor_owner;
	return err;
}

#define LEARNED_JUMP 48 /* bits of an address */

static uint64_t learn_ruby(struct code_memory *m, const struct runtime_process *p)
{
	struct ruby_layout layout = p->ruby;
	const char *why;
	uint64_t label;

	if (ask_ruby(m, p->at, &layout, &label, &why))
		return 0;
	return (label - p->at) << (64 - LEARNED_JUMP) >> (64 - LEARNED_JUMP) |
	       (uint64_t)layout.jump << LEARNED_JUMP;
}

static void take_ruby(struct runtime_process *p, uint64_t learned)
{
	const uint64_t distance = learned << (64 - LEARNED_JUMP);

	p->type = p->at + (uint64_t)((int64_t)distance >> (64 - LEARNED_JUMP));
	ruby_layout_jump(&p->ruby, (enum ruby_jump)(learned >> LEARNED_JUMP));
}

static void unlock_ruby(struct runtime_process *p)
{
	p->ruby.ractor_owner = 0;
}

/* In a stripped file V8's builtins are the largest range without CFI: all other code has some. */
static void find_builtins(const struct elf_file *file, uint64_t code[2])
{
	struct funcs *funcs;

	if (funcs_new(file, &funcs))
		return;
	funcs_gap(funcs, code);
	if (code[1] - code[0] < V8_BUILTINS_MIN)
		code[0] = code[1] = 0;
	funcs_free(funcs);
}

static bool read_v8(const struct elf_file *file, const char *name, struct runtime_object *r)
{
	struct v8_file v8;

	(void)name;
	if (!v8_file_read(file, &v8))
		return false;
	r->err = v8.err;
	r->missing = v8.missing;
	snprintf(r->shown, sizeof(r->shown), "V8 %u.%u", v8.layout.version >> 16,
		 v8.layout.version & 0xffff);
	if (!v8.code[1])
		find_builtins(file, v8.code);
	r->elf.at = v8.major;
	r->elf.type = v8.minor;
	r->elf.eval[0][0] = v8.code[0];
	r->elf.eval[0][1] = v8.code[1];
	r->elf.v8 = v8.layout;
	return true;
}

static int check_v8(struct code_memory *m, const struct runtime_process *p, bool *lock,
		    const char **why)
{
	const struct v8_place place = {p->at, p->type};

	*lock = true; /* there is none */
	return v8_check(&p->v8, &place, read_memory, m, why);
}

static const struct runtime_ops {
	/* Finds the runtime in a file; false: it is not there. */
	bool (*read)(const struct elf_file *file, const char *name, struct runtime_object *r);
	/* As runtimefile_check, once. */
	int (*check)(struct code_memory *m, const struct runtime_process *p, bool *lock,
		     const char **why);
	/* Takes out what says which thread holds the lock. */
	void (*unlock)(struct runtime_process *p);
	/* What only memory says, as a number, if there is such; 0: not now. */
	uint64_t (*learn)(struct code_memory *m, const struct runtime_process *p);
	void (*take)(struct runtime_process *p, uint64_t learned);
} runtime_ops[RUNTIME_COUNT] = {
	[RUNTIME_PYTHON] = {read_python, check_python, unlock_python, NULL, NULL},
	[RUNTIME_PHP] = {read_php, check_php, NULL, NULL, NULL},
	[RUNTIME_PERL] = {read_perl, check_perl, NULL, NULL, NULL},
	[RUNTIME_RUBY] = {read_ruby, check_ruby, unlock_ruby, learn_ruby, take_ruby},
	[RUNTIME_V8] = {read_v8, check_v8, NULL, NULL, NULL},
};

/*
 * A program without any symbols, by the name that all distributions give it. One that loads its
 * runtime as a library has symbols.
 */
static bool read_stripped(const struct elf_file *file, const char *name, struct runtime_object *r)
{
	static const struct {
		const char *name;
		enum runtime kind;
		const char *shown;
	} programs[] = {
		{"python", RUNTIME_PYTHON, "Python"}, {"php", RUNTIME_PHP, "PHP"},
		{"perl", RUNTIME_PERL, "Perl"},	      {"ruby", RUNTIME_RUBY, "Ruby"},
		{"node", RUNTIME_V8, "V8"},
	};

	if (elf_file_section_index(file, ".dynsym") || elf_file_section_index(file, ".symtab"))
		return false;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		const size_t length = strlen(programs[i].name);

		if (strncmp(name, programs[i].name, length) != 0 ||
		    name[length + strspn(name + length, "0123456789.")])
			continue;
		r->kind = programs[i].kind;
		r->err = -ENOTSUP;
		r->missing = "it has no symbols";
		snprintf(r->shown, sizeof(r->shown), "%s", programs[i].shown);
		return true;
	}
	return false;
}

/* --- files and processes --------------------------------------------------------------------- */

struct runtime_object *runtimefile_read(const struct elf_file *file, const char *name)
{
	struct runtime_object *r = calloc(1, sizeof(*r));

	for (unsigned int i = 1; r && i < RUNTIME_COUNT; i++) {
		r->kind = i;
		if (runtime_ops[i].read(file, name, r))
			return r;
	}
	if (r && read_stripped(file, name, r))
		return r;
	free(r);
	return NULL;
}

struct object *runtimefile_of(const struct process *p, unsigned int n)
{
	struct object *found[PROCESS_RUNTIMES];
	unsigned int nfound = 0, at;

	for (size_t i = 0; i < p->nmappings && nfound < PROCESS_RUNTIMES; i++) {
		struct object *o = p->mappings[i].object;

		if (!o || !o->runtime)
			continue;
		for (at = 0; at < nfound && found[at] != o; at++)
			;
		if (at < nfound)
			continue;
		if (nfound == n)
			return o;
		found[nfound++] = o;
	}
	return NULL;
}

const struct process_runtime *runtimefile_known(const struct process *p, const struct object *o)
{
	for (unsigned int i = 0; i < PROCESS_RUNTIMES; i++)
		if (p->runtimes[i].object == o->id)
			return &p->runtimes[i];
	return NULL;
}

struct process_runtime *runtimefile_slot(struct process *p, const struct object *o)
{
	struct process_runtime *r = (struct process_runtime *)runtimefile_known(p, o);

	for (unsigned int i = 0; i < PROCESS_RUNTIMES && !r; i++)
		if (!p->runtimes[i].object)
			r = &p->runtimes[i];
	if (r)
		r->object = o->id;
	return r;
}

bool runtimefile_is_proven(const struct runtime_object *r, const struct process *p)
{
	return r->proven && (!r->user || r->user == p->uid);
}

void runtimefile_prove(struct runtime_object *r, uid_t user, uint64_t mark)
{
	if (!r->proven || !user)
		r->user = user;
	r->proven = true;
	if (!(mark & 1) && runtime_ops[r->kind].unlock)
		runtime_ops[r->kind].unlock(&r->elf);
	if (runtime_ops[r->kind].take)
		runtime_ops[r->kind].take(&r->elf, mark >> 1);
}

static uint64_t moved(uint64_t addr, uint64_t bias)
{
	return addr ? addr + bias : 0;
}

void runtimefile_eval(const struct object *o, uint64_t eval[2][2])
{
	for (int i = 0; i < 4; i++)
		eval[i / 2][i % 2] = moved(o->runtime->elf.eval[i / 2][i % 2], FRAME_OF(o->id, 0));
}

static int enter(struct sampler *s, const struct process *p, unsigned int slot,
		 const struct object *o)
{
	const uint64_t bias = process_home(p, o);
	struct runtime_process entry = o->runtime->elf;
	uint64_t eval[2][2];

	entry.at = moved(entry.at, bias);
	entry.type = moved(entry.type, bias);
	runtimefile_eval(o, eval);
	for (int i = 0; i < 4; i++)
		entry.eval[i / 2][i % 2] = eval[i / 2][i % 2];
	return sampler_set_runtime(s, p->pid, slot, &entry);
}

uint32_t runtimefile_enter(struct sampler *s, struct process *p)
{
	bool entered[PROCESS_RUNTIMES] = {false};
	struct process_runtime *r;
	const struct object *o;
	bool keeps_fp = false;
	uint32_t list = 0;

	p->unproven = false;
	for (unsigned int n = 0; (o = runtimefile_of(p, n)); n++) {
		const enum runtime kind = o->runtime->kind;
		unsigned int slot;

		r = runtimefile_slot(p, o);
		if (!r || !runtimefile_is_proven(o->runtime, p)) {
			p->unproven |= r != NULL;
			continue;
		}
		slot = (unsigned int)(r - p->runtimes);
		entered[slot] = !enter(s, p, slot, o);
		/* A walk would not get beyond a program that is not there. */
		if (!entered[slot] || sampler_refuses(s, kind))
			continue;
		list = list << 8 | RUNTIME_BYTE(kind, slot);
		keeps_fp |= kind == RUNTIME_V8;
	}
	for (unsigned int i = 0; i < PROCESS_RUNTIMES; i++) {
		/* The file was read again: what was proven before is asked about again. */
		if (p->runtimes[i].entered && !entered[i])
			sampler_drop_runtime(s, p->pid, i);
		p->runtimes[i].entered = entered[i];
	}
	return list | (keeps_fp ? RUNTIMES_KEEP_FP : 0);
}

void runtimefile_leave(struct sampler *s, struct process *p)
{
	for (unsigned int i = 0; i < PROCESS_RUNTIMES; i++)
		if (p->runtimes[i].entered)
			sampler_drop_runtime(s, p->pid, i);
	memset(p->runtimes, 0, sizeof(p->runtimes));
}

/* --- the check ------------------------------------------------------------------------------- */

void runtimefile_question(const struct object *o, uint64_t bias, struct runtime_question *q)
{
	q->kind = o->runtime->kind;
	q->process = o->runtime->elf;
	q->process.at = moved(q->process.at, bias);
	q->process.type = moved(q->process.type, bias);
}

/* Believes what was said some times, since the process runs meanwhile. 0: nothing was. */
static uint64_t learn(struct code_memory *m, const struct runtime_question *q)
{
	uint64_t learned = 0;
	unsigned int same = 0;

	for (int i = 0; i < CHECKS_MAX && same < LEARNED_SAME; i++) {
		const uint64_t now = runtime_ops[q->kind].learn(m, &q->process);

		if (!now)
			continue;
		same = now == learned ? same + 1 : 1;
		learned = now;
	}
	return same < LEARNED_SAME ? 0 : learned;
}

int runtimefile_check(struct code_memory *m, struct runtime_question *q, uint64_t *mark,
		      const char **why)
{
	const struct timespec pause = {0, PAUSE_NS};
	const int tries = q->brief ? CHECKS_QUICK : CHECKS_MAX;
	bool right = false, lock = false;
	uint64_t learned = 0;
	int err = -EINVAL;

	*why = NULL;
	*mark = 0;
	if (q->kind >= RUNTIME_COUNT || !runtime_ops[q->kind].check)
		return -EINVAL;
	for (int i = 0; i < tries; i++) {
		err = runtime_ops[q->kind].check(m, &q->process, &lock, why);
		if (err != -EINVAL && err)
			return err;
		right |= !err;
		if ((!err && lock) || (right && i >= LOCKED_MAX))
			break;
		if (i >= CHECKS_QUICK)
			nanosleep(&pause, NULL);
	}
	lock &= !err;
	if (right && runtime_ops[q->kind].learn) {
		learned = learn(m, q);
		right = learned;
	}
	*mark = lock | learned << 1;
	return right ? 0 : err ? err : -EINVAL;
}
