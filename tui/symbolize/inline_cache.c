// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See inline_cache.h. Most objects have no debug information: their addresses take no memory here.
 */
#include "tui/symbolize/inline_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "symbols/base/clock.h"
#include "symbols/base/hash.h"
#include "symbols/base/memory.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/symbolize/inline_worker.h"

#define SITES_BYTES  memory_limit(MEMORY_ANSWERS)
#define BARE_SECONDS 60 /* a debug package may be installed meanwhile */

struct site_key {
	uint64_t object;
	uint64_t vaddr;
};

struct inline_site {
	struct site_key key;
	uint32_t id;
	bool known;
	bool hashed;
	struct inline_chain *calls;
	UT_hash_handle hh;
	UT_hash_handle by_id;
};

struct inline_bare { /* an object without debug information */
	uint64_t object;
	time_t since;
	bool hashed;
	UT_hash_handle hh;
};

struct inline_cache {
	struct inline_worker *inliner;
	struct inline_site *sites; /* the oldest first */
	struct inline_site *ids;
	struct inline_bare *bare;
	size_t bytes;
	uint32_t last;
};

int inline_cache_new(size_t budget, struct fileasker *asker, struct inline_cache **out)
{
	struct inline_cache *s = calloc(1, sizeof(*s));
	int err;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	err = inline_worker_new(budget, asker, &s->inliner);
	if (err)
		free(s);
	else
		*out = s;
	return err;
}

static size_t site_bytes(const struct inline_site *site)
{
	return sizeof(*site) + (site->calls ? site->calls->bytes : 0);
}

static void site_drop(struct inline_cache *s, struct inline_site *site)
{
	s->bytes -= site_bytes(site);
	/* NOLINTBEGIN(clang-analyzer-unix.Malloc,clang-analyzer-core.NullDereference): the tables
	 * are freed, not the item, which is in both */
	HASH_DEL(s->sites, site);
	HASH_DELETE(by_id, s->ids, site);
	/* NOLINTEND(clang-analyzer-unix.Malloc,clang-analyzer-core.NullDereference) */
	free(site->calls);
	free(site);
}

static void bare_drop(struct inline_cache *s, struct inline_bare *bare)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(s->bare, bare);
	free(bare);
}

void inline_cache_free(struct inline_cache *sites)
{
	if (!sites)
		return;
	inline_worker_free(sites->inliner);
	while (sites->sites)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		site_drop(sites, sites->sites);
	while (sites->bare)
		bare_drop(sites, sites->bare);
	free(sites);
}

static bool is_bare(struct inline_cache *s, uint64_t object)
{
	struct inline_bare *bare;

	HASH_FIND(hh, s->bare, &object, sizeof(object), bare);
	if (bare && clock_seconds() - bare->since > BARE_SECONDS) {
		bare_drop(s, bare);
		bare = NULL;
	}
	return bare != NULL;
}

/* Without memory it is only asked again. */
static void bare_add(struct inline_cache *s, uint64_t object)
{
	struct inline_bare *bare;

	if (is_bare(s, object))
		return;
	bare = calloc(1, sizeof(*bare));
	if (!bare)
		return;
	*bare = (struct inline_bare){.object = object, .since = clock_seconds(), .hashed = true};
	HASH_ADD(hh, s->bare, object, sizeof(bare->object), bare);
	if (!bare->hashed)
		free(bare);
}

static struct inline_site *site_new(struct inline_cache *s, const struct site_key *key)
{
	struct inline_site *site = calloc(1, sizeof(*site));

	if (!site)
		return NULL;
	site->key = *key;
	s->last = s->last == UINT32_MAX ? 1 : s->last + 1;
	site->id = s->last;
	site->hashed = true;
	HASH_ADD(hh, s->sites, key, sizeof(site->key), site);
	if (!site->hashed) {
		free(site);
		return NULL;
	}
	HASH_ADD(by_id, s->ids, id, sizeof(site->id), site);
	if (!site->hashed) {
		HASH_DEL(s->sites, site);
		free(site);
		return NULL;
	}
	s->bytes += site_bytes(site);
	return site;
}

void inline_cache_set_remote(struct inline_cache *sites, struct remotedebug *remote)
{
	inline_worker_set_remote(sites->inliner, remote);
}

void inline_cache_retry(struct inline_cache *sites)
{
	struct inline_bare *bare, *next;

	HASH_ITER(hh, sites->bare, bare, next) {
		bare_drop(sites, bare);
	}
}

uint32_t inline_cache_find(struct inline_cache *sites, uint64_t object, int fd, pid_t pid,
			   uint64_t vaddr, uint64_t symbol, const struct inline_chain **calls)
{
	struct site_key key = {object, vaddr};
	struct inline_site *site;

	*calls = NULL;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): both words are set */
	HASH_FIND(hh, sites->sites, &key, sizeof(key), site);
	if (site) {
		*calls = site->calls;
		return site->id;
	}
	if (is_bare(sites, object))
		return 0;
	site = site_new(sites, &key);
	if (site && inline_worker_ask(sites->inliner, object, fd, pid, vaddr, symbol, site->id)) {
		site_drop(sites, site);
		site = NULL;
	}
	return site ? site->id : 0;
}

bool inline_cache_get(const struct inline_cache *sites, uint32_t id,
		      const struct inline_chain **calls)
{
	struct inline_site *site;

	HASH_FIND(by_id, sites->ids, &id, sizeof(id), site);
	*calls = site ? site->calls : NULL;
	return !site || site->known;
}

bool inline_cache_update(struct inline_cache *sites)
{
	struct inline_worker_answer *answers = inline_worker_take(sites->inliner), *a;
	struct inline_site *site;

	for (a = answers; a; a = a->next) {
		HASH_FIND(by_id, sites->ids, &a->id, sizeof(a->id), site);
		if (!site)
			continue;
		if (a->bare) {
			bare_add(sites, site->key.object);
			site_drop(sites, site);
			continue;
		}
		site->known = true;
		site->calls = a->calls;
		a->calls = NULL;
		sites->bytes += site->calls ? site->calls->bytes : 0;
	}
	inline_worker_answers_free(answers);
	return answers != NULL;
}

void inline_cache_wait(struct inline_cache *sites, uint64_t ns)
{
	inline_worker_wait(sites->inliner, ns);
}

void inline_cache_trim(struct inline_cache *sites)
{
	struct inline_site *site, *next;

	HASH_ITER(hh, sites->sites, site, next) {
		if (sites->bytes <= SITES_BYTES)
			break;
		site_drop(sites, site);
	}
}

/* --- lines ----------------------------------------------------------------------------------- */

/* The outermost call is the function itself. Inlined ones are missing before profile_settle. */
static int count_address(struct profile *p, const struct inline_chain *calls,
			 const uint32_t *frames, uint32_t nframes, uint64_t count)
{
	int err = 0;

	for (uint32_t i = 0; i < nframes && i < calls->count && !err; i++) {
		const struct inline_chain_frame *call = &calls->frames[calls->count - 1 - i];

		if (call->file && call->line)
			err = profile_line(p, frames[i], call->file, call->line, count);
	}
	return err;
}

/* Of a language's function, the module is the source file. */
static int count_own(struct profile *p, uint32_t frame, uint32_t line, uint64_t count)
{
	return profile_line(p, frame, query_func(p, frame)->module, line, count);
}

int inline_cache_count_lines(const struct inline_cache *sites, struct profile *p, uint32_t stack,
			     const uint32_t *of, uint32_t n, uint64_t count)
{
	const struct profile_stack *s = query_stack(p, stack);
	uint32_t at = 0;
	int err = 0;

	if (!s)
		return -EINVAL;
	if (s->nframes && query_func(p, s->frames[0])->kind == FUNC_END)
		at++;
	for (uint32_t i = 0; i < n && at < s->nframes && !err; i++) {
		const struct inline_chain *calls;
		uint32_t end = at + 1;

		/* The calls inlined at an address are frames after the function's. */
		while (end < s->nframes && query_func(p, s->frames[end])->kind == FUNC_INLINE)
			end++;
		if (of[i] & INLINE_CACHE_LINE)
			err = count_own(p, s->frames[at], of[i] & ~INLINE_CACHE_LINE, count);
		else if (sites && of[i] && inline_cache_get(sites, of[i], &calls) && calls)
			err = count_address(p, calls, s->frames + at, end - at, count);
		at = end;
	}
	return err;
}
