// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files in stacks, each with its symbol table and the names made from it. Reading a table takes
 * longer than everything else done for a stack, and demangling a name longer than finding it, so
 * both are kept as long as there is room.
 */
#include "tui/symbolize/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/hash.h"
#include "bpf/tracker/tracker.h"
#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/fileasker.h"
#include "symbols/base/memory.h"
#include "symbols/elf/remotedebug.h"
#include "symbols/files/rootfile.h"
#include "symbols/names/symtab.h"
#include "symbols/base/text.h"
#include "symbols/files/writtenfile.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/module_reader.h"
#include "unwind/funcs.h"

#define MODULES_MAX   512u
#define RETRY_SECONDS 10 /* a few system calls a module without symbols */
#define REST_SECONDS  30 /* unused for so long: its files are closed */
#define LOOK_SECONDS  5
#define BITS	      64u /* of module_bit */

struct known_name {
	uint64_t vaddr; /* start of the function, or an address of none */
	bool hashed;
	UT_hash_handle hh;
	char text[];
};

struct symbol_module {
	uint64_t id;
	struct symtab *symtab; /* NULL: the file cannot be used */
	/* For a file without a full table: a debug file may be installed later. */
	struct debug_link *link;
	pid_t pid;	  /* that mapped it first: debug files are searched below its root */
	bool debug_there; /* a debug file is there, but not usable */
	int fd;	    /* our descriptor if its file system answers; -1: none, or closed for now */
	bool local; /* its file system answers */
	struct writtenfile written;
	bool was_written;    /* in place */
	bool unsure;	     /* see modules_is_rewritten; in the last look */
	struct funcs *funcs; /* NULL: not asked for yet, or there are none */
	bool funcs_read;
	/* What is being read; NULL: nothing. Until then names are module+offset. */
	struct module_job *jobs[MODULE_PARTS];
	struct known_name *names;
	/* Names from before a part was read, which the current stack may still use. */
	struct known_name *stale[MODULE_PARTS];
	size_t bytes;
	uint64_t used; /* round */
	time_t time;   /* CLOCK_MONOTONIC seconds; of the first use in that round */
	bool hashed;
	UT_hash_handle hh;
	char name[];
};

struct modules {
	struct profile *profile;
	struct tracker *tracker;
	struct fileasker *asker;
	struct symbol_module *table; /* least recently used first */
	size_t bytes;
	uint64_t round;
	struct module_reader *reader; /* NULL: files are read at once */
	uint64_t until;		      /* CLOCK_MONOTONIC ns: so long is waited for it */
	bool stale;		      /* a module has stale names */
	struct remotedebug *remote;   /* NULL: not wanted */
	unsigned int remote_found;
	time_t retry, rested; /* CLOCK_MONOTONIC seconds */
	uint64_t debug_files;
	uint64_t changes;
	uint64_t changed[BITS]; /* value of `changes` when names of modules with that bit changed
				   last */
};

static unsigned int bit_of(uint64_t id)
{
	return keyhash(&id, sizeof(id)) % BITS;
}

struct modules *modules_new(struct profile *profile, struct tracker *tracker,
			    struct fileasker *asker)
{
	struct modules *all = calloc(1, sizeof(*all));

	if (all) {
		all->profile = profile;
		all->tracker = tracker;
		all->asker = asker;
		all->round = 1;
	}
	return all;
}

void modules_set_remote(struct modules *all, struct remotedebug *remote)
{
	all->remote = remote;
}

static void names_free(struct known_name **names)
{
	struct known_name *name, *next;

	HASH_ITER(hh, *names, name, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(*names, name);
		free(name);
	}
}

/* Frees what was read of its file. */
static void module_clear(struct modules *all, struct symbol_module *m)
{
	names_free(&m->names);
	for (int i = 0; i < MODULE_PARTS; i++) {
		names_free(&m->stale[i]);
		module_reader_drop(all->reader, m->jobs[i]);
		m->jobs[i] = NULL;
	}
	symtab_free(m->symtab);
	free(m->link);
	funcs_free(m->funcs);
	m->symtab = NULL;
	m->link = NULL;
	m->funcs = NULL;
	m->funcs_read = false;
}

static void module_close(struct symbol_module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

static void module_free(struct modules *all, struct symbol_module *m)
{
	module_clear(all, m);
	module_close(m);
	free(m);
}

static void module_drop(struct modules *all, struct symbol_module *m)
{
	HASH_DEL(all->table, m);
	all->bytes -= m->bytes;
	module_free(all, m);
}

void modules_free(struct modules *all)
{
	struct symbol_module *m, *next;

	if (!all)
		return;
	HASH_ITER(hh, all->table, m, next) {
		module_drop(all, m);
	}
	module_reader_free(all->reader);
	free(all);
}

void modules_wait_until(struct modules *all, uint64_t until)
{
	if (!all->reader)
		all->reader = module_reader_new(); /* without memory files are read at once */
	all->until = until;
}

/* Our own root if the process is gone, and its debug files with it. */
static struct debug_place debug_place_of(const struct modules *all, pid_t pid)
{
	int root = rootfile_root(pid);

	return (struct debug_place){root < 0 ? -1 : root, MODULES_DEBUG_ROOT, all->remote,
				    all->asker, pid};
}

static bool module_debug_there(const struct modules *all, const struct symbol_module *m)
{
	struct debug_place place = debug_place_of(all, m->pid);
	bool there = debug_link_present(m->link, &place);

	if (place.root >= 0)
		close(place.root);
	return there;
}

/* A module is dropped when its debug file arrives, and read with it when it is next sampled. */
static bool retry_debug_files(struct modules *all)
{
	struct remotedebug_state remote = {.found = all->remote_found};
	const time_t now = clock_seconds();
	struct symbol_module *m, *next;
	bool came;

	if (all->remote)
		remotedebug_state(all->remote, &remote);
	came = remote.found != all->remote_found;
	all->remote_found = remote.found;
	if (now < all->retry && !came)
		return false;
	all->retry = now + RETRY_SECONDS;
	HASH_ITER(hh, all->table, m, next) {
		if (!m->link || m->debug_there || !module_debug_there(all, m))
			continue;
		module_drop(all, m);
		all->debug_files++;
		came = true;
	}
	return came;
}

uint64_t modules_debug_files(const struct modules *all)
{
	return all->debug_files;
}

/* Between two stacks. */
static void drop_stale(struct modules *all)
{
	struct symbol_module *m, *next;

	HASH_ITER(hh, all->table, m, next) {
		for (int i = 0; i < MODULE_PARTS; i++)
			names_free(&m->stale[i]);
	}
	all->stale = false;
}

void modules_bound(struct modules *all)
{
	if (all->stale)
		drop_stale(all);
	/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the table is freed, not the item */
	while (all->table &&
	       (all->bytes > memory_limit(MEMORY_SYMBOLS) || HASH_COUNT(all->table) > MODULES_MAX))
		module_drop(all, all->table);
	/* NOLINTEND(clang-analyzer-unix.Malloc) */
}

bool modules_trim(struct modules *all)
{
	bool came = retry_debug_files(all);

	modules_bound(all);
	all->round++;
	return came;
}

static int by_id(const void *x, const void *y)
{
	const struct symbol_module *const *a = x, *const *b = y;

	return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

/*
 * Modules with open files that were not used for a while, MODULES_MAX at most, by id; returns how
 * many.
 */
static size_t idle_modules(struct modules *all, time_t now, struct symbol_module **idle)
{
	struct symbol_module *m, *next;
	size_t n = 0;

	HASH_ITER(hh, all->table, m, next) {
		if (now - m->time < REST_SECONDS || n == MODULES_MAX)
			break;
		if (m->fd >= 0 || (m->symtab && !symtab_rests(m->symtab)))
			idle[n++] = m;
	}
	qsort(idle, n, sizeof(struct symbol_module *), by_id);
	return n;
}

void modules_rest(struct modules *all)
{
	const time_t now = clock_seconds();
	struct symbol_module *idle[MODULES_MAX];
	uint64_t ids[MODULES_MAX];
	bool mapped[MODULES_MAX];
	size_t n, i;

	if (now < all->rested + LOOK_SECONDS)
		return;
	all->rested = now;
	n = idle_modules(all, now, idle);
	for (i = 0; i < n; i++)
		ids[i] = idle[i]->id;
	if (n)
		tracker_mapped(all->tracker, ids, n, mapped);
	for (i = 0; i < n; i++) {
		if (mapped[i])
			continue;
		module_close(idle[i]);
		if (idle[i]->symtab && !symtab_rests(idle[i]->symtab))
			symtab_rest(idle[i]->symtab);
	}
}

/* The object's own file may be closed while the module's is open. */
static int module_fd(const struct symbol_module *m, const struct object *object)
{
	return object_fd(object) >= 0 ? object_fd(object) : m->fd;
}

static int file_open(const struct symbol_module *m, const struct object *object,
		     struct elf_file **out)
{
	const int fd = module_fd(m, object);
	const void *image;
	size_t size;

	if (fd >= 0)
		return elf_file_open_any_fd(fd, out);
	image = object_image(object, &size);
	return image ? elf_file_open_memory(image, size, out) : -ENOENT;
}

/* Takes what was read of its file. -ENOMEM. */
static int module_take(struct symbol_module *m, const struct module_read *read)
{
	if (read->funcs) {
		m->funcs = read->funcs;
		m->bytes += funcs_bytes(m->funcs);
	}
	if (!read->symtab)
		return read->err;
	m->symtab = read->symtab;
	m->link = read->link;
	m->debug_there = read->debug_there;
	m->bytes += symtab_bytes(m->symtab) + (m->link ? sizeof(*m->link) : 0);
	return 0;
}

/* Other tools identify files by it. */
static void tell_build(const struct modules *all, const struct symbol_module *m,
		       const struct module_read *read)
{
	profile_lock(all->profile);
	profile_module(all->profile, m->name, read->build); /* it may do without */
	profile_unlock(all->profile);
}

/* Takes what has been read by now. The names that were given until then are only addresses. */
static void module_read_more(struct modules *all, struct symbol_module *m)
{
	size_t before = m->bytes;

	for (int i = 0; i < MODULE_PARTS; i++) {
		struct module_read read;

		if (!m->jobs[i] || m->stale[i] ||
		    !module_reader_take(all->reader, m->jobs[i], all->until, &read))
			continue;
		m->jobs[i] = NULL;
		if (i == MODULE_SYMBOLS)
			tell_build(all, m, &read);
		module_take(m, &read);
		m->stale[i] = m->names;
		m->names = NULL;
		all->stale = true;
	}
	if (m->hashed)
		all->bytes += m->bytes - before;
}

/* Has a part of the file read in the other thread. False: it has to be read now. */
static bool module_ask(struct modules *all, struct symbol_module *m, const struct object *object,
		       enum module_part part)
{
	const int fd = module_fd(m, object);
	struct debug_place place = {.root = -1};
	bool asked;

	if (!all->reader || fd < 0)
		return false;
	if (part == MODULE_SYMBOLS)
		place = debug_place_of(all, m->pid);
	m->jobs[part] = module_reader_ask(all->reader, fd, &place, part);
	if (!m->jobs[part] && place.root >= 0)
		close(place.root);
	asked = m->jobs[part] != NULL;
	if (asked)
		module_read_more(all, m);
	return asked;
}

/* -ENOMEM. An unusable file has no table; its addresses are shown. */
static int module_read_symbols(struct modules *all, struct symbol_module *m,
			       const struct object *object)
{
	struct debug_place place;
	struct module_read read;
	struct elf_file *file = NULL;
	int err;

	if (module_ask(all, m, object, MODULE_SYMBOLS))
		return 0;
	err = file_open(m, object, &file);
	if (err)
		return err == -ENOMEM ? err : 0;
	place = debug_place_of(all, m->pid);
	module_read_file(file, &place, MODULE_SYMBOLS, &read);
	tell_build(all, m, &read);
	if (place.root >= 0)
		close(place.root);
	elf_file_free(file);
	return module_take(m, &read);
}

static void module_watch(struct symbol_module *m, const struct object *object)
{
	if (m->fd < 0 && m->local && object_fd(object) >= 0)
		m->fd = fcntl(object_fd(object), F_DUPFD_CLOEXEC, 0);
}

static struct symbol_module *module_new(struct modules *all, const struct object *object, pid_t pid)
{
	char *name = text_clean_dup(object_name(object));
	struct symbol_module *m = NULL;
	struct file_facts facts;
	size_t length;

	if (!name)
		return NULL;
	length = strlen(name) + 1;
	m = calloc(1, sizeof(*m) + length);
	if (m) {
		memcpy(m->name, name, length);
		m->id = object_id(object);
		m->pid = pid;
		m->fd = -1;
		m->bytes = sizeof(*m) + length;
		m->was_written = tracker_mapped_as(all->tracker, object, &facts);
		m->local = !facts.copied;
		module_watch(m, object);
		writtenfile_begin(&m->written, m->fd, facts.mtime, facts.size, all->round,
				  clock_ns(CLOCK_MONOTONIC));
		m->unsure = writtenfile_is_uncertain(&m->written, all->round);
		m->was_written |= m->unsure;
		if (module_read_symbols(all, m, object)) {
			module_free(all, m);
			m = NULL;
		}
	}
	free(name);
	return m;
}

/* Its file has been written in place, and is stable now. Without memory it stays unnamed. */
static void module_read_again(struct modules *all, struct symbol_module *m,
			      const struct object *object)
{
	module_clear(all, m);
	m->bytes = sizeof(*m) + strlen(m->name) + 1;
	m->debug_there = false;
	if (module_read_symbols(all, m, object))
		return;
	writtenfile_again(&m->written, clock_ns(CLOCK_MONOTONIC));
	m->unsure = writtenfile_is_uncertain(&m->written, all->round);
}

/* False: another debug file is there now, or its own cannot be opened. */
static bool module_wake(const struct modules *all, struct symbol_module *m,
			const struct object *object, pid_t pid)
{
	struct debug_place place = debug_place_of(all, pid);
	int err = symtab_wake(m->symtab, object_fd(object), &place);

	if (place.root >= 0)
		close(place.root);
	m->pid = pid;
	return !err;
}

/*
 * A closed file may have another one in its place until it is open again, so names that were asked
 * for before are not given either.
 */
int modules_get(struct modules *all, const struct object *object, pid_t pid,
		struct symbol_module **out)
{
	uint64_t id = object_id(object);
	struct symbol_module *m;
	bool rested, closed;

	HASH_FIND(hh, all->table, &id, sizeof(id), m);
	rested = m && m->symtab && symtab_rests(m->symtab);
	closed = !m || rested || (!m->symtab && m->fd < 0);
	*out = m;
	if (closed && !object_is_open(all->tracker, object))
		return -EAGAIN;
	if (rested && !module_wake(all, m, object, pid)) {
		module_drop(all, m);
		m = NULL;
	}
	if (m && !rested)
		module_read_more(all, m);
	if (m && m->used == all->round && !rested)
		return 0;
	if (m) { /* to the end of the list, which is the order of dropping */
		HASH_DEL(all->table, m);
		m->hashed = false;
		all->bytes -= m->bytes;
	} else {
		*out = m = module_new(all, object, pid);
		if (!m)
			return -ENOMEM;
	}
	module_watch(m, object);
	if (writtenfile_is_due(&m->written, all->round, clock_ns(CLOCK_MONOTONIC)))
		module_read_again(all, m, object);
	m->used = all->round;
	m->time = clock_seconds();
	m->hashed = true;
	HASH_ADD(hh, all->table, id, sizeof(m->id), m);
	if (!m->hashed) {
		module_free(all, m);
		return -ENOMEM;
	}
	all->bytes += m->bytes;
	return 0;
}

const char *module_name(const struct symbol_module *m)
{
	return m->name;
}

bool module_waits(const struct symbol_module *m)
{
	return m->jobs[MODULE_SYMBOLS] || m->jobs[MODULE_FUNCS];
}

bool module_has_symbols(const struct symbol_module *m)
{
	return m->symtab != NULL;
}

/* --- files that are written in place --------------------------------------------------------- */

void modules_look(struct modules *all)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct symbol_module *m, *next;
	bool unsure;

	HASH_ITER(hh, all->table, m, next) {
		if (writtenfile_look(&m->written, m->fd, all->round)) {
			m->was_written = true;
			tracker_written(all->tracker, m->id);
		}
		unsure = writtenfile_is_uncertain(&m->written, all->round);
		/* Earlier names may differ from those of now. */
		if (unsure != m->unsure || writtenfile_is_due(&m->written, all->round, now))
			all->changed[bit_of(m->id)] = ++all->changes;
		m->unsure = unsure;
	}
}

bool modules_is_rewritten(const struct modules *all, const struct symbol_module *m)
{
	return writtenfile_is_uncertain(&m->written, all->round);
}

bool module_was_rewritten(const struct symbol_module *m)
{
	return m->was_written;
}

uint64_t modules_changes(const struct modules *all)
{
	return all->changes;
}

uint64_t module_bit(const struct symbol_module *m)
{
	return 1ull << bit_of(m->id);
}

bool modules_have_changed(const struct modules *all, uint64_t of, uint64_t since)
{
	if (since == all->changes)
		return false;
	for (unsigned int i = 0; i < BITS; i++)
		if ((of >> i & 1) && all->changed[i] > since)
			return true;
	return false;
}

/* --- names of functions ---------------------------------------------------------------------- */

static char *name_text(const struct symbol_module *m, const struct symbol *symbol, uint64_t vaddr)
{
	char *plain, *text = NULL;

	if (symbol) {
		plain = symtab_demangle(m->symtab, symbol->name);
		text = plain ? text_clean_dup(plain) : NULL;
		free(plain);
	} else if (asprintf(&text, "%s+0x%" PRIx64, m->name, vaddr) < 0) {
		text = NULL;
	}
	return text;
}

static void module_read_funcs(struct modules *all, struct symbol_module *m,
			      const struct object *object)
{
	struct module_read read = {0};
	struct debug_place place = {.root = -1};
	struct elf_file *file = NULL;
	int err = file_open(m, object, &file);

	if (!err)
		module_read_file(file, &place, MODULE_FUNCS, &read);
	module_take(m, &read);
	all->bytes += funcs_bytes(m->funcs);
	/* A file that is closed is read once it is open. */
	m->funcs_read = err != -ENOENT;
	elf_file_free(file);
}

/*
 * A function without a symbol is identified by its start; without CFI as well, each address by
 * itself.
 */
static uint64_t module_func(struct modules *all, struct symbol_module *m,
			    const struct object *object, uint64_t vaddr)
{
	uint64_t start = vaddr;

	if (!m->funcs_read && !module_waits(m)) {
		m->funcs_read = module_ask(all, m, object, MODULE_FUNCS);
		if (!m->funcs_read)
			module_read_funcs(all, m, object);
	}
	if (m->funcs)
		funcs_find(m->funcs, vaddr, &start);
	return start;
}

const char *modules_find(struct modules *all, struct symbol_module *m, const struct object *object,
			 uint64_t vaddr, uint64_t *start, bool *guessed)
{
	struct known_name *known;
	struct symbol symbol;
	bool found = m->symtab && !symtab_find(m->symtab, vaddr, &symbol);
	uint64_t key = found ? symbol.start : module_func(all, m, object, vaddr);
	size_t length;
	char *text;

	*start = key;
	*guessed = found && symbol.guessed;
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
	all->bytes += sizeof(*known) + length;
	return known->text;
}
