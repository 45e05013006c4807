/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_INLINE_CACHE_H
#define STACKTOP_TUI_SYMBOLIZE_INLINE_CACHE_H

/*
 * Addresses of code and the calls inlined there, as far as they are known. A site has a number;
 * stacks of the profile wait for it. Used by the collector's thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inline_chain;
struct fileasker;
struct remotedebug;
struct inline_cache;
struct profile;

/* As inline_worker_new. */
int inline_cache_new(size_t budget, struct fileasker *asker, struct inline_cache **out);
void inline_cache_free(struct inline_cache *sites);
/* As inline_worker_set_remote. */
void inline_cache_set_remote(struct inline_cache *sites, struct remotedebug *remote);
/* A debug file has arrived: objects that had none are asked about again. */
void inline_cache_retry(struct inline_cache *sites);
/*
 * The site of an address of an object: fd is its file, pid a process that maps it; symbol: as for
 * inline_chain_read. 0: there is none, since the object has no debug information. *calls: what is
 * known so far, as for inline_cache_get.
 */
uint32_t inline_cache_find(struct inline_cache *sites, uint64_t object, int fd, pid_t pid,
			   uint64_t vaddr, uint64_t symbol, const struct inline_chain **calls);
/*
 * False: not known yet. *calls (valid until inline_cache_trim): NULL if there are none; a site that
 * was forgotten has none.
 */
bool inline_cache_get(const struct inline_cache *sites, uint32_t id,
		      const struct inline_chain **calls);
/* True if some became known. */
bool inline_cache_update(struct inline_cache *sites);
/* Waits so long for all questions. */
void inline_cache_wait(struct inline_cache *sites, uint64_t ns);
/* Between two slices: forgets the oldest sites if there are too many. */
void inline_cache_trim(struct inline_cache *sites);
/*
 * Counts so many samples of a profile's stack for the lines of its frames (profile_line). of: the
 * site, or 0, of each of the n addresses that it was made from, outermost first; of a frame of a
 * language its line and INLINE_CACHE_LINE. Lines that are not known yet are not counted. sites may
 * be NULL. The profile's lock is held. -ENOMEM; -EINVAL: no such stack.
 */
#define INLINE_CACHE_LINE (1u << 31)
int inline_cache_count_lines(const struct inline_cache *sites, struct profile *p, uint32_t stack,
			     const uint32_t *of, uint32_t n, uint64_t count);

#endif
