// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel names from ksyms.bpf.c, cached by address. A leaf address is passed as addr + 1, because
 * the program looks up the byte before.
 */
#include "bpf/sampler/ksyms.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/kernelcode.h"
#include "bpf/sampler/kmodules.h"
#include "bpf/prog/layout.h"
#include "bpf/sampler/objects.h"
#include "symbols/base/hash.h"
#include "symbols/names/kallsyms.h"

#define CACHE_MAX 65536u
#define KEPT_MAX  4096u

struct cached_ksym {
	uint64_t addr; /* within the instruction */
	const char *module;
	uint64_t start; /* of the function; 0: not known */
	uint64_t end;	/* likewise */
	bool hashed;
	UT_hash_handle hh;
	char name[];
};

struct kernel_name { /* of bpf/sampler/kernelcode.h or a module, or a label */
	bool hashed;
	UT_hash_handle hh;
	char name[];
};

struct ksyms {
	struct bpf_object *object;
	int program_fd;
	struct ksym_batch *batch;
	struct kallsyms *kallsyms;
	uint64_t kallsyms_modules; /* result of kmodules_read before it was read */
	int no_kallsyms;	   /* error of reading it */
	struct cached_ksym *cache;
	struct kernelcode *code;   /* NULL: changes are not known */
	struct kmodules *kmodules; /* likewise */
	bool no_modules;	   /* the kernel does not report them */
	struct kernel_name *kept;
	uint32_t generation;	     /* of the cache */
	uint64_t modules_now;	     /* likewise, result of kmodules_read */
	struct kernel_name *modules; /* that have names in the cache */
};

static void load_program(struct ksyms *k)
{
	struct bpf_program *program;
	sigset_t all, old;
	void *memory;
	int err = -ENOTSUP;

	/* A signal makes the verifier give up, also that of the probe. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_snprintf, NULL) == 1)
		k->object = objects_ksyms();
	if (k->object)
		err = bpf_object__load(k->object);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	program = err ? NULL : bpf_object__find_program_by_name(k->object, "name_addresses");
	if (!program)
		return;
	memory = mmap(NULL, sizeof(*k->batch), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_object__find_map_fd_by_name(k->object, "batch"), 0);
	if (memory == MAP_FAILED)
		return;
	k->batch = memory;
	k->program_fd = bpf_program__fd(program);
}

int ksyms_new(struct ksyms **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	load_program(*out);
	return 0;
}

static void cache_clear(struct ksyms *k)
{
	struct cached_ksym *c = k->cache, *next;

	HASH_CLEAR(hh, k->cache);
	for (; c; c = next) {
		next = c->hh.next;
		free(c);
	}
}

static void names_clear(struct kernel_name **names)
{
	struct kernel_name *n = *names, *next;

	HASH_CLEAR(hh, *names);
	for (; n; n = next) {
		next = n->hh.next;
		free(n);
	}
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	cache_clear(k);
	names_clear(&k->kept);
	names_clear(&k->modules);
	if (k->batch)
		munmap(k->batch, sizeof(*k->batch));
	bpf_object__close(k->object);
	kallsyms_free(k->kallsyms);
	free(k);
}

/* A copy, valid until names_clear; NULL: no memory. */
static const char *keep_name(struct kernel_name **names, const char *name)
{
	struct kernel_name *n;

	HASH_FIND_STR(*names, name, n);
	if (!n) {
		n = malloc(sizeof(*n) + strlen(name) + 1);
		if (!n)
			return NULL;
		memcpy(n->name, name, strlen(name) + 1);
		n->hashed = true;
		HASH_ADD_STR(*names, name, n);
		if (!n->hashed) {
			free(n);
			return NULL;
		}
	}
	return n->name;
}

static const char *module_name(struct ksyms *k, const char *name)
{
	const char *kept = keep_name(&k->modules, name);

	return kept ? kept : "vmlinux";
}

static struct cached_ksym *cache_find(struct ksyms *k, uint64_t addr)
{
	struct cached_ksym *c;

	HASH_FIND(hh, k->cache, &addr, sizeof(addr), c);
	return c;
}

static void cache_add(struct ksyms *k, uint64_t addr, const char *name, const char *module,
		      uint64_t start, uint64_t end)
{
	size_t size = strlen(name) + 1;
	struct cached_ksym *c = malloc(sizeof(*c) + size);

	if (!c)
		return;
	c->addr = addr;
	c->module = module;
	c->start = start;
	c->end = end;
	memcpy(c->name, name, size);
	c->hashed = true;
	HASH_ADD(hh, k->cache, addr, sizeof(c->addr), c);
	if (!c->hashed)
		free(c);
}

/* "bpf_prog_" and a tag of 16 digits: no function of the kernel itself has such a name. */
static bool is_program(const char *text)
{
	return !strncmp(text, "bpf_prog_", 9) && strspn(text + 9, "0123456789abcdef") == 16;
}

/* "name+0x2cf/0x300 [module]" or, when there is no such function, "0xffff..." */
static void cache_add_printed(struct ksyms *k, uint64_t addr, char *text)
{
	char *plus = strstr(text, "+0x"), *open = strstr(text, " ["), *close;
	const char *module = "vmlinux", *size;
	uint64_t start = 0, end = 0;

	if (open) {
		close = strchr(open, ']');
		if (close)
			*close = '\0';
		module = is_program(text) ? "bpf" : module_name(k, open + 2);
		*open = '\0';
		/* a module's build-id may follow its name */
		if (strchr(module, ' '))
			module = "vmlinux";
	}
	if (!strncmp(text, "0x", 2) || !text[0]) {
		cache_add(k, addr, "[kernel]", "vmlinux", 0, 0);
		return;
	}
	if (plus) {
		start = addr + 1 - strtoull(plus + 1, NULL, 16);
		size = strchr(plus, '/');
		end = size ? start + strtoull(size + 1, NULL, 16) : 0;
		*plus = '\0';
	}
	if (is_program(text))
		module = "bpf";
	cache_add(k, addr, text, module, start, end);
}

static void run_batch(struct ksyms *k, const uint64_t *addrs, uint32_t n)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	char text[KSYM_NAME];
	uint32_t i;

	for (i = 0; i < n; i++) {
		k->batch->addrs[i] = addrs[i] + 1;
		k->batch->names[i][0] = '\0';
	}
	k->batch->count = n;
	if (bpf_prog_test_run_opts(k->program_fd, &opts))
		n = 0;
	for (i = 0; i < n; i++) {
		memcpy(text, k->batch->names[i], sizeof(text));
		text[sizeof(text) - 1] = '\0';
		if (!cache_find(k, addrs[i]))
			cache_add_printed(k, addrs[i], text);
	}
}

static bool find_kallsyms(struct ksyms *k, uint64_t addr, const char **name, const char **module,
			  uint64_t *offset)
{
	if (!k->kallsyms && !k->no_kallsyms) {
		k->kallsyms_modules = k->modules_now;
		k->no_kallsyms = kallsyms_new("/proc/kallsyms", &k->kallsyms);
	}
	return k->kallsyms && !kallsyms_find(k->kallsyms, addr, name, module, offset);
}

/* If modules have changed since the file was read, it is read again when one of them is needed. */
static void ask_kallsyms(struct ksyms *k, uint64_t addr)
{
	const char *name, *module;
	uint64_t offset;
	bool found = find_kallsyms(k, addr, &name, &module, &offset);

	if (k->kallsyms && k->kallsyms_modules != k->modules_now &&
	    (!found || strcmp(module, "vmlinux") != 0)) {
		kallsyms_free(k->kallsyms);
		k->kallsyms = NULL;
		found = find_kallsyms(k, addr, &name, &module, &offset);
	}
	if (found)
		cache_add(k, addr, name, module_name(k, module), addr - offset, 0);
	else
		cache_add(k, addr, "[kernel]", "vmlinux", 0, 0);
}

static void ask_kernel(struct ksyms *k, const uint64_t *addrs, uint32_t n)
{
	uint32_t i;

	if (k->batch) {
		run_batch(k, addrs, n);
		return;
	}
	for (i = 0; i < n; i++)
		if (!cache_find(k, addrs[i]))
			ask_kallsyms(k, addrs[i]);
}

const char *ksyms_trouble(const struct ksyms *k)
{
	if (k->no_modules)
		return "an unloaded kernel module may be taken for the one that is loaded in its "
		       "place: the kernel does not report changes of modules";
	if (!k->no_kallsyms)
		return NULL;
	return k->no_kallsyms == -EPERM
		       ? "kernel functions are [kernel]: /proc/kallsyms hides addresses; run as "
			 "root, or set kernel.kptr_restrict to 0 or 1"
		       : "kernel functions are [kernel]: /proc/kallsyms cannot be read";
}

static uint64_t looked_up(const struct ksym *s)
{
	return s->leaf ? s->addr : s->addr - 1;
}

void ksyms_set_code(struct ksyms *k, struct kernelcode *code)
{
	k->code = code;
}

void ksyms_set_modules(struct ksyms *k, struct kmodules *modules)
{
	k->kmodules = modules;
	k->no_modules = !modules;
}

/* The kernel's present answer may be wrong for an earlier generation. */
static bool name_from_code(struct ksyms *k, struct ksym *s, uint32_t generation)
{
	char name[KERNELCODE_NAME];
	const char *kept;

	if (!k->code || !kernelcode_find(k->code, generation, looked_up(s), name, sizeof(name)))
		return false;
	kept = keep_name(&k->kept, name);
	if (!kept)
		return false;
	s->name = kept;
	s->module = !strncmp(kept, "bpf_", 4) ? "bpf" : "vmlinux";
	return true;
}

static void set_label(struct ksyms *k, struct ksym *s, const char *what, const char *module)
{
	char text[KERNELCODE_NAME];
	const char *kept;

	snprintf(text, sizeof(text), "[%s%s]", what, module);
	kept = keep_name(&k->kept, text);
	s->name = kept ? kept : "[kernel]";
	s->module = kept && *module ? module_name(k, module) : "vmlinux";
}

/* answer: the kernel's present one, which is in s; NULL: none. */
static void name_as_then(struct ksyms *k, struct ksym *s, const struct cached_ksym *answer,
			 uint64_t generation)
{
	enum kmodules_then then = KMODULES_NOTHING;
	const uint32_t code = (uint32_t)generation;
	struct kmodules_code of = {"", 0};
	bool is_its;

	if (k->kmodules)
		then = kmodules_at(k->kmodules, (uint32_t)(generation >> 32), looked_up(s), &of);
	/* /proc/kallsyms has no ends of functions: one that starts before is other code. */
	is_its = answer && answer->start >= of.start && !strcmp(s->module, of.name);
	switch (then) {
	case KMODULES_NOTHING:
		name_from_code(k, s, code);
		return;
	case KMODULES_SAME:
		if (!is_its)
			set_label(k, s, "", of.name);
		return;
	case KMODULES_INIT:
		if (!is_its && !name_from_code(k, s, code))
			set_label(k, s, "init of ", of.name);
		return;
	case KMODULES_GONE:
		set_label(k, s, "unloaded ", of.name);
		return;
	case KMODULES_OTHER:
	case KMODULES_LOST:
		if (!name_from_code(k, s, code) &&
		    (then == KMODULES_OTHER || strcmp(s->module, "vmlinux") != 0))
			set_label(k, s, "unloaded module", "");
		return;
	}
}

static void renew_cache(struct ksyms *k, size_t count)
{
	uint32_t generation = k->code ? kernelcode_generation(k->code) : 0;
	uint64_t modules = k->kmodules ? kmodules_read(k->kmodules) : 0;

	if (generation != k->generation || modules != k->modules_now ||
	    HASH_COUNT(k->cache) + count > CACHE_MAX)
		cache_clear(k);
	if (HASH_COUNT(k->kept) > KEPT_MAX)
		names_clear(&k->kept);
	k->generation = generation;
	k->modules_now = modules;
}

void ksyms_resolve(struct ksyms *k, struct ksym *syms, size_t count, uint64_t generation)
{
	uint64_t addrs[KSYM_BATCH];
	struct cached_ksym *c;
	uint32_t n = 0;
	size_t i;

	renew_cache(k, count);
	for (i = 0; i < count; i++) {
		if (!cache_find(k, looked_up(&syms[i])))
			addrs[n++] = looked_up(&syms[i]);
		if (n == KSYM_BATCH || (n && i + 1 == count)) {
			ask_kernel(k, addrs, n);
			n = 0;
		}
	}
	/* An answer is valid if the module of the sample is still there after the question. */
	if (k->kmodules)
		kmodules_read(k->kmodules);
	for (i = 0; i < count; i++) {
		c = cache_find(k, looked_up(&syms[i]));
		syms[i].name = c ? c->name : "[kernel]";
		syms[i].module = c ? c->module : "vmlinux";
		name_as_then(k, &syms[i], c, generation);
	}
}

int ksyms_extent(struct ksyms *k, uint64_t addr, uint64_t generation, const char *name,
		 uint64_t *start, uint64_t *end)
{
	struct ksym sym = {.addr = addr, .leaf = 1};
	const struct cached_ksym *c;

	ksyms_resolve(k, &sym, 1, generation);
	c = cache_find(k, addr);
	/* The code there is that of now, its name that of the sample. */
	if (!c || !c->start || strcmp(c->name, name) != 0 || strcmp(sym.name, name) != 0)
		return -ENOENT;
	*start = c->start;
	*end = c->end;
	return 0;
}
