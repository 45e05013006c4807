/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack is resolved once for each process that has it, so what counts is the first second, when
 * nothing is known: names are looked up frame by frame without the profile's lock, kept with the
 * symbol table they come from, and then interned under it in one go.
 */
#include "tui/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->hashed = false;                                                         \
	} while (0)
#include <uthash.h>

#include "bpf/ksyms.h"
#include "bpf/sampler.h"
#include "bpf/tracker.h"
#include "symbols/debugfile.h"
#include "symbols/demangle.h"
#include "symbols/elffile.h"
#include "symbols/symtab.h"
#include "symbols/text.h"
#include "tui/profile.h"
#include "unwind/funcs.h"

#define DEBUG_ROOT    "/usr/lib/debug"
#define MODULES_MAX   512u
#define MODULES_BYTES ((size_t)32 << 20)
#define FRAMES_MAX    (WALK_FRAMES_MAX + 1)

struct known_name {
	uint64_t vaddr; /* start of the function, or an address of none */
	bool hashed;
	UT_hash_handle hh;
	char text[];
};

struct module {
	uint64_t id;
	struct symtab *symtab; /* NULL: the file cannot be used */
	struct funcs *funcs;   /* NULL: not asked for yet, or there are none */
	bool funcs_read;
	struct known_name *names;
	size_t bytes;
	uint64_t used; /* round */
	bool hashed;
	UT_hash_handle hh;
	char name[];
};

struct frame_name {
	enum func_kind kind;
	const char *name;   /* of a known_name, of ksyms, or static */
	const char *module; /* likewise */
};

struct resolver {
	struct profile *profile;
	struct tracker *tracker;
	struct ksyms *ksyms;
	struct module *modules; /* in the order of their last use */
	size_t bytes;
	uint64_t round;
	struct frame_name frames[FRAMES_MAX]; /* outermost first */
	uint32_t ids[FRAMES_MAX];
	struct ksym ksym[KERNEL_FRAMES_MAX];
};

static const char *const end_names[WALK_REASON_COUNT] = {
#define X(name, text) [name] = text,
	WALK_REASONS(X)
#undef X
};

int resolver_new(struct profile *profile, struct tracker *tracker, struct ksyms *ksyms,
		 struct resolver **out)
{
	struct resolver *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->profile = profile;
	r->tracker = tracker;
	r->ksyms = ksyms;
	return 0;
}

/* --- modules --------------------------------------------------------------------------------- */

static void module_free(struct module *m)
{
	struct known_name *name, *next;

	HASH_ITER(hh, m->names, name, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(m->names, name);
		free(name);
	}
	symtab_free(m->symtab);
	funcs_free(m->funcs);
	free(m);
}

static void module_drop(struct resolver *r, struct module *m)
{
	HASH_DEL(r->modules, m);
	r->bytes -= m->bytes;
	module_free(m);
}

void resolver_free(struct resolver *r)
{
	struct module *m, *next;

	if (!r)
		return;
	HASH_ITER(hh, r->modules, m, next) {
		module_drop(r, m);
	}
	free(r);
}

void resolver_trim(struct resolver *r)
{
	while (r->modules && (r->bytes > MODULES_BYTES || HASH_COUNT(r->modules) > MODULES_MAX))
		module_drop(r, r->modules);
	r->round++;
}

static int object_open(const struct object *object, struct elf_file **out)
{
	const void *image;
	size_t size;

	if (object_fd(object) >= 0)
		return elf_file_open_fd(object_fd(object), out);
	image = object_image(object, &size);
	return image ? elf_file_open_memory(image, size, out) : -ENOENT;
}

/* -ENOMEM; a file of which nothing can be used has no table, and its addresses are shown. */
static int module_read(struct module *m, const struct object *object)
{
	struct elf_file *file = NULL;
	int err = object_open(object, &file);

	if (!err)
		err = symtab_new(file, &(struct debug_place){-1, DEBUG_ROOT, NULL}, &m->symtab);
	if (err)
		m->symtab = NULL;
	elf_file_free(file);
	return err == -ENOMEM ? err : 0;
}

static struct module *module_new(const struct object *object)
{
	char *name = text_clean_dup(object_name(object));
	struct module *m = NULL;
	size_t length;

	if (!name)
		return NULL;
	length = strlen(name) + 1;
	m = calloc(1, sizeof(*m) + length);
	if (m) {
		memcpy(m->name, name, length);
		m->id = object_id(object);
		m->bytes = sizeof(*m) + length;
		if (module_read(m, object)) {
			free(m);
			m = NULL;
		} else if (m->symtab) {
			m->bytes += symtab_bytes(m->symtab);
		}
	}
	free(name);
	return m;
}

static struct module *module_get(struct resolver *r, const struct object *object)
{
	uint64_t id = object_id(object);
	struct module *m;

	HASH_FIND(hh, r->modules, &id, sizeof(id), m);
	if (m && m->used == r->round)
		return m;
	if (m) { /* to the end of the list: it is the order in which they are dropped */
		HASH_DEL(r->modules, m);
		r->bytes -= m->bytes;
	} else {
		m = module_new(object);
		if (!m)
			return NULL;
	}
	m->used = r->round;
	m->hashed = true;
	HASH_ADD(hh, r->modules, id, sizeof(m->id), m);
	if (!m->hashed) {
		module_free(m);
		return NULL;
	}
	r->bytes += m->bytes;
	return m;
}

/* --- names ----------------------------------------------------------------------------------- */

static char *name_text(const struct module *m, const struct symbol *symbol, uint64_t vaddr)
{
	char *plain, *text = NULL;

	if (symbol) {
		plain = demangle(symbol->name);
		text = plain ? text_clean_dup(plain) : NULL;
		free(plain);
	} else if (asprintf(&text, "%s+0x%" PRIx64, m->name, vaddr) < 0) {
		text = NULL;
	}
	return text;
}

/* A function without a name is known by its start; without CFI, too, each address by itself. */
static uint64_t module_func(struct resolver *r, struct module *m, const struct object *object,
			    uint64_t vaddr)
{
	struct elf_file *file = NULL;
	uint64_t start = vaddr;

	if (!m->funcs_read && !object_open(object, &file))
		funcs_new(file, &m->funcs);
	if (!m->funcs_read) {
		m->bytes += funcs_bytes(m->funcs);
		r->bytes += funcs_bytes(m->funcs);
	}
	m->funcs_read = true;
	elf_file_free(file);
	if (m->funcs)
		funcs_find(m->funcs, vaddr, &start);
	return start;
}

static const char *module_find(struct resolver *r, struct module *m, const struct object *object,
			       uint64_t vaddr)
{
	struct known_name *known;
	struct symbol symbol;
	bool found = m->symtab && !symtab_find(m->symtab, vaddr, &symbol);
	uint64_t key = found ? symbol.start : module_func(r, m, object, vaddr);
	size_t length;
	char *text;

	HASH_FIND(hh, m->names, &key, sizeof(key), known);
	if (known)
		return known->text;
	text = name_text(m, found ? &symbol : NULL, key);
	if (!text)
		return NULL;
	length = strlen(text) + 1;
	known = malloc(sizeof(*known) + length);
	if (known) {
		known->vaddr = key;
		known->hashed = true;
		memcpy(known->text, text, length);
		HASH_ADD(hh, m->names, vaddr, sizeof(known->vaddr), known);
		if (!known->hashed) {
			free(known);
			known = NULL;
		}
	}
	free(text);
	if (!known)
		return NULL;
	m->bytes += sizeof(*known) + length;
	r->bytes += sizeof(*known) + length;
	return known->text;
}

static int name_user(struct resolver *r, pid_t pid, uint64_t image, uint64_t frame,
		     struct frame_name *out, bool *vague)
{
	uint64_t addr = frame & ~FRAME_EXACT;
	struct module *m;
	struct place at;

	if (!(frame & FRAME_EXACT) && addr)
		addr--;
	tracker_place(r->tracker, pid, image, addr, &at);
	*out = (struct frame_name){FUNC_USER, "[unknown]", ""};
	switch (at.kind) {
	case PLACE_FILE:
	case PLACE_VDSO:
		m = module_get(r, at.object);
		if (m) {
			out->module = m->name;
			out->name = module_find(r, m, at.object, at.vaddr);
		}
		object_put(r->tracker, at.object);
		return m && out->name ? 0 : -ENOMEM;
	case PLACE_JIT:
		*out = (struct frame_name){FUNC_JIT, "[jit]", ""};
		return 0;
	case PLACE_UNKNOWN:
		*vague = true;
		return 0;
	}
	return 0;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static int64_t intern(struct resolver *r, uint32_t count, bool kernel, bool complete)
{
	struct profile_stack stack = {kernel, complete, count, r->ids};
	int64_t id = 0;

	profile_lock(r->profile);
	for (uint32_t i = 0; i < count && id >= 0; i++) {
		const struct frame_name *f = &r->frames[i];

		id = profile_func(r->profile, f->kind, f->name, f->module);
		if (id >= 0)
			r->ids[i] = (uint32_t)id;
	}
	if (id >= 0)
		id = profile_stack_new(r->profile, &stack);
	profile_unlock(r->profile);
	return id;
}

int64_t resolver_user(struct resolver *r, pid_t pid, uint64_t image, const struct stack_record *rec,
		      bool *vague)
{
	uint32_t n = rec->nframes, count = 0;
	bool unknown = false;
	int err;

	if (n > WALK_FRAMES_MAX)
		n = WALK_FRAMES_MAX;
	if (rec->reason != WALK_BOTTOM)
		r->frames[count++] = (struct frame_name){
			FUNC_END, rec->reason < WALK_REASON_COUNT ? end_names[rec->reason] : "?",
			""};
	while (n--) {
		err = name_user(r, pid, image, rec->frames[n], &r->frames[count++], &unknown);
		if (err)
			return err;
	}
	if (vague)
		*vague = unknown;
	return intern(r, count, false, rec->reason == WALK_BOTTOM);
}

int64_t resolver_kernel(struct resolver *r, const struct stack_record *rec)
{
	uint32_t n = rec->nframes;

	if (n > KERNEL_FRAMES_MAX)
		n = KERNEL_FRAMES_MAX;
	for (uint32_t i = 0; i < n; i++)
		r->ksym[i] = (struct ksym){.addr = rec->frames[i], .leaf = i == 0};
	ksyms_resolve(r->ksyms, r->ksym, n);
	for (uint32_t i = 0; i < n; i++)
		r->frames[n - 1 - i] =
			(struct frame_name){FUNC_KERNEL, r->ksym[i].name, r->ksym[i].module};
	return intern(r, n, true, true);
}

int64_t resolver_lost(struct resolver *r, bool kernel)
{
	r->frames[0] = (struct frame_name){FUNC_END, "stack lost", ""};
	return intern(r, 1, kernel, false);
}
