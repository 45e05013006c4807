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
#include "tui/symbolize/modules_priv.h"
#include "unwind/funcs.h"

#define MODULES_MAX   512u
#define RETRY_SECONDS 10 /* a few system calls a module without symbols */
#define REST_SECONDS  30 /* unused for so long: its files are closed */
#define LOOK_SECONDS  5

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

static bool module_debug_there(const struct modules *all, const struct symbol_module *m)
{
	struct debug_place place = modules_debug_place(all, m->pid);
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

void modules_bound(struct modules *all)
{
	if (all->stale)
		modules_drop_stale(all);
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
	struct debug_place place = modules_debug_place(all, pid);
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

struct module_place { /* what is asked about */
	struct modules *all;
	struct symbol_module *m;
	const struct object *object;
	uint64_t reach;
};

/* NULL: not known yet, or there are none. */
static const struct funcs *module_funcs(const struct module_place *at)
{
	if (!at->m->funcs_read && !module_waits(at->m))
		module_read_funcs(at->all, at->m, at->object);
	return at->m->funcs;
}

/* Of symtab_extents. A symbol names nothing behind its start until the CFI was read. */
static bool place_reaches(void *arg, uint64_t start, uint64_t vaddr)
{
	const struct module_place *at = arg;
	const struct funcs *funcs;

	if (vaddr - start > at->reach)
		return false;
	funcs = module_funcs(at);
	return funcs ? funcs_reaches(funcs, start, vaddr) : !module_waits(at->m);
}

/*
 * A function without a symbol is identified by its start; without CFI as well, each address by
 * itself.
 */
static uint64_t place_start(const struct module_place *at, uint64_t vaddr)
{
	const struct funcs *funcs = module_funcs(at);
	uint64_t start = vaddr;

	if (funcs)
		funcs_find(funcs, vaddr, &start);
	return start;
}

const char *modules_find(struct modules *all, struct symbol_module *m, const struct object *object,
			 uint64_t vaddr, uint64_t reach, uint64_t *start, bool *guessed)
{
	struct module_place at = {all, m, object, reach};
	const struct symtab_extents extents = {place_reaches, &at};
	struct known_name *known;
	struct symbol symbol;
	bool found = m->symtab && !symtab_find_within(m->symtab, vaddr, &extents, &symbol);
	uint64_t key = found ? symbol.start : place_start(&at, vaddr);
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
