// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is read of a module's file, at once or by the other thread. Names that were given before it
 * was read may be in use by the stack that is being named, so they are freed after that.
 */
#include "tui/symbolize/modules_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/tracker/tracker.h"
#include "symbols/elf/elffile.h"
#include "symbols/files/rootfile.h"
#include "symbols/names/symtab.h"
#include "tui/profile/profile.h"
#include "unwind/funcs.h"

static void names_free(struct known_name **names)
{
	struct known_name *name, *next;

	HASH_ITER(hh, *names, name, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(*names, name);
		free(name);
	}
}

void module_clear(const struct modules *all, struct symbol_module *m)
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

struct debug_place modules_debug_place(const struct modules *all, pid_t pid)
{
	int root = rootfile_root(pid);

	return (struct debug_place){root < 0 ? -1 : root, MODULES_DEBUG_ROOT, all->remote,
				    all->asker, pid};
}

void modules_wait_until(struct modules *all, uint64_t until)
{
	if (!all->reader)
		all->reader = module_reader_new(); /* without memory files are read at once */
	all->until = until;
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

void module_read_more(struct modules *all, struct symbol_module *m)
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
		place = modules_debug_place(all, m->pid);
	m->jobs[part] = module_reader_ask(all->reader, fd, &place, part);
	if (!m->jobs[part] && place.root >= 0)
		close(place.root);
	asked = m->jobs[part] != NULL;
	if (asked)
		module_read_more(all, m);
	return asked;
}

int module_read_symbols(struct modules *all, struct symbol_module *m, const struct object *object)
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
	place = modules_debug_place(all, m->pid);
	module_read_file(file, &place, MODULE_SYMBOLS, &read);
	tell_build(all, m, &read);
	if (place.root >= 0)
		close(place.root);
	elf_file_free(file);
	return module_take(m, &read);
}

void module_read_funcs(struct modules *all, struct symbol_module *m, const struct object *object)
{
	struct module_read read = {0};
	struct debug_place place = {.root = -1};
	struct elf_file *file = NULL;
	int err;

	m->funcs_read = module_ask(all, m, object, MODULE_FUNCS);
	if (m->funcs_read)
		return;
	err = file_open(m, object, &file);
	if (!err)
		module_read_file(file, &place, MODULE_FUNCS, &read);
	module_take(m, &read);
	all->bytes += funcs_bytes(m->funcs);
	/* A file that is closed is read once it is open. */
	m->funcs_read = err != -ENOENT;
	elf_file_free(file);
}

void modules_drop_stale(struct modules *all)
{
	struct symbol_module *m, *next;

	HASH_ITER(hh, all->table, m, next) {
		for (int i = 0; i < MODULE_PARTS; i++)
			names_free(&m->stale[i]);
	}
	all->stale = false;
}
