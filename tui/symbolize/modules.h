/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_MODULES_H
#define STACKTOP_TUI_SYMBOLIZE_MODULES_H

/*
 * The files whose code is in stacks, with their symbol tables. For one thread, which does not hold
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

/* The profile is told of build-ids; asker: as in struct debug_place. All have to outlive them.
 * NULL: no memory. */
struct modules *modules_new(struct profile *profile, struct tracker *tracker,
			    struct fileasker *asker);
void modules_free(struct modules *all);
/* Debug files that are nowhere here come from there; not owned. */
void modules_set_remote(struct modules *all, struct remotedebug *remote);

/*
 * The module of a file that process pid has mapped; good until modules_bound or modules_trim. NULL:
 * no memory, or object_is_awaited. A file of which nothing can be used is a module, too.
 */
struct symbol_module *modules_get(struct modules *all, const struct object *object, pid_t pid);
/*
 * The name of the function that is at vaddr of the module's file, the start that it is known by,
 * and whether the symbol only seems to reach that far. Good as long as the module. A function
 * without a symbol is "module+0xSTART". NULL: no memory.
 */
const char *modules_find(struct modules *all, struct symbol_module *m, const struct object *object,
			 uint64_t vaddr, uint64_t *start, bool *guessed);
/* As stacks show it: without characters that a terminal would take for something else. */
const char *module_name(const struct symbol_module *m);
/* Its file is being written in place, or was in this round or the one before: a sample may be of
 * other code than what it has now. */
bool modules_is_rewritten(const struct modules *all, const struct symbol_module *m);
/* It was once: what is known of its lines and inlined calls may be of other code. */
bool module_was_rewritten(const struct symbol_module *m);
/* False: the file cannot be used. */
bool module_has_symbols(const struct symbol_module *m);

/*
 * When the samples of a slice are counted and before they are named: looks which files have been
 * written in place.
 */
void modules_look(struct modules *all);
/*
 * Whether names of a module have changed for that. of: the modules in question, each by its
 * module_bit, of which several have the same; since: modules_changes when the names were given.
 */
bool modules_have_changed(const struct modules *all, uint64_t of, uint64_t since);
uint64_t modules_changes(const struct modules *all);
uint64_t module_bit(const struct symbol_module *m);

/*
 * Drops the modules that were not used for longest when they are many: between two stacks, since a
 * slice may be of any number of files.
 */
void modules_bound(struct modules *all);
/*
 * Between two slices: drops the modules that were not used for longest when they are many, and
 * those for which a debug file has been installed or fetched since. True when one has.
 */
bool modules_trim(struct modules *all);
/* How often that was for modules whose names were already given. */
uint64_t modules_debug_files(const struct modules *all);
/*
 * At any time: closes the files of modules that have not been used for a while and that no process
 * maps. What is known of them stays.
 */
void modules_rest(struct modules *all);

#endif
