/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_MODULES_H
#define STACKTOP_TUI_SYMBOLIZE_MODULES_H

/*
 * The files with the code in stacks, with their symbol tables. For one thread, which does not hold
 * the profile's lock: a table is read from the file when a stack first needs it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MODULES_DEBUG_ROOT "/usr/lib/debug" /* separate debug files are below */

struct fileasker;
struct symbol_module;
struct modules;
struct object;
struct profile;
struct remotedebug;
struct tracker;

/*
 * Build-ids are reported to the profile; asker: as in struct debug_place. All must outlive the
 * modules. NULL: no memory.
 */
struct modules *modules_new(struct profile *profile, struct tracker *tracker,
			    struct fileasker *asker);
void modules_free(struct modules *all);
/* Fetches debug files that are not on this machine; not owned. */
void modules_set_remote(struct modules *all, struct remotedebug *remote);

/*
 * From now on files are read in another thread, which is waited for until then (CLOCK_MONOTONIC
 * ns). What is not read by then is read on, and its names are module+offset meanwhile.
 */
void modules_wait_until(struct modules *all, uint64_t until);

/*
 * The module of a file that process pid has mapped, valid until modules_bound or modules_trim. An
 * unusable file is a module, too. -EAGAIN: its file is closed, and was asked for; -ENOMEM.
 */
int modules_get(struct modules *all, const struct object *object, pid_t pid,
		struct symbol_module **out);
/*
 * The name of the function at vaddr of the module's file, its identifying start, and whether the
 * symbol may end before that. Valid as long as the module. A function without a symbol is
 * "module+0xSTART". reach: how far behind a symbol without a size vaddr may be to be called by it.
 * NULL: no memory.
 */
const char *modules_find(struct modules *all, struct symbol_module *m, const struct object *object,
			 uint64_t vaddr, uint64_t reach, uint64_t *start, bool *guessed);
/* The name as stacks show it: without characters that act on a terminal. */
const char *module_name(const struct symbol_module *m);
/*
 * True if its file is being written in place, or was in this round or the one before: a sample may
 * be of other code than is there now.
 */
bool modules_is_rewritten(const struct modules *all, const struct symbol_module *m);
/* True if it ever was: known lines and inlined calls may be of other code. */
bool module_was_rewritten(const struct symbol_module *m);
/* True: it is being read, and has better names once it was. */
bool module_waits(const struct symbol_module *m);
/* False: the file is not usable, or is still being read. */
bool module_has_symbols(const struct symbol_module *m);

/*
 * After the samples of a slice are counted and before they are named: checks which files have been
 * written in place.
 */
void modules_look(struct modules *all);
/*
 * True if that changed names of a module. of: the module_bits of the modules in question, several
 * of which may share a bit; since: modules_changes when the names were given.
 */
bool modules_have_changed(const struct modules *all, uint64_t of, uint64_t since);
uint64_t modules_changes(const struct modules *all);
uint64_t module_bit(const struct symbol_module *m);

/*
 * Drops the least recently used modules if there are too many: between two stacks, since a slice
 * may contain any number of files.
 */
void modules_bound(struct modules *all);
/*
 * Between two slices: drops the least recently used modules if there are too many, and those with
 * debug files that have been installed or fetched since. True if one of the latter was dropped.
 */
bool modules_trim(struct modules *all);
/* How often that was so for modules with names that were already given. */
uint64_t modules_debug_files(const struct modules *all);
/*
 * At any time: closes the files of modules that have not been used for a while and that no process
 * maps. What is known of them stays.
 */
void modules_rest(struct modules *all);

#endif
