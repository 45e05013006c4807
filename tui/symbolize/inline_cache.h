/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_INLINE_CACHE_H
#define STACKTOP_TUI_SYMBOLIZE_INLINE_CACHE_H

/*
 * Addresses of code and the calls inlined there, as far as they are known by now. A site has a
 * number, by which stacks of the profile wait for it. Used by the collector's thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct calls;
struct fileasker;
struct remotedebug;
struct sites;

/* budget: bytes of debug information. Errors as inliner_new. */
int sites_new(size_t budget, struct sites **out);
void sites_free(struct sites *sites);
/* As inliner_set_remote. */
void sites_set_remote(struct sites *sites, struct remotedebug *remote);
/* As inliner_set_asker. */
void sites_set_asker(struct sites *sites, struct fileasker *asker);
/* A debug file has come: objects that had none are asked about again. */
void sites_retry(struct sites *sites);
/*
 * The site of an address of the object whose file fd is, which pid maps; symbol: as of calls_read.
 * 0: there is none, for the object has no debug information. *calls: what is known of it by now, as
 * of sites_get.
 */
uint32_t sites_find(struct sites *sites, uint64_t object, int fd, pid_t pid, uint64_t vaddr,
		    uint64_t symbol, const struct calls **calls);
/* False: it is not known yet. *calls (valid until sites_trim): NULL where there are none; a site
 * that was forgotten has none. */
bool sites_get(const struct sites *sites, uint32_t id, const struct calls **calls);
/* True when some became known. */
bool sites_update(struct sites *sites);
/* Waits that long for all that was asked. */
void sites_wait(struct sites *sites, uint64_t ns);
/* Between two slices: forgets the oldest when they are many. */
void sites_trim(struct sites *sites);

#endif
