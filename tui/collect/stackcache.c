/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both tables are in the order of last use, so that aging looks only at what it drops. A raw stack
 * is dropped in two steps: first the kernel is told to send it again, and only when no slice can
 * contain earlier counts the copy goes, since they would have no frames.
 */
#include "tui/collect/stackcache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/hash.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/memory.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/language.h"
#include "tui/symbolize/resolver.h"

#define RAW_AGE	   60000000000ull /* ns */
#define NAMED_AGE  30000000000ull
#define RAW_BYTES  (memory_limit(MEMORY_RAW) / 2) /* as much again for the sites of named ones */
#define NAMED_MAX  65536u
#define RETRIES	   3 /* of a stack with addresses in no known mapping */
#define RAW_LINGER 2 /* slices */

struct stackcache_raw {
	uint64_t hash;
	uint64_t seen;	 /* round */
	uint64_t time;	 /* ns */
	uint64_t doomed; /* round in which the kernel was told; 0: it was not */
	size_t bytes;
	bool hashed;
	UT_hash_handle hh;
	struct stack_record *rec;
};

/* The frames of a language in a raw stack; goes when that does. */
struct stackcache_language {
	uint64_t hash;
	uint64_t time; /* when it came */
	struct language_stack *stack;
	bool hashed;
	UT_hash_handle hh;
};

struct stackcache_named {
	uint64_t hash;
	uint64_t seen, time;
	uint32_t stack;
	int retries;
	struct resolver_doubt doubt;
	struct tracker_exec of; /* exec with the code */
	uint64_t debug_files;	/* resolver_debug_files then */
	uint32_t *places;	/* resolver_places then; NULL: there are none */
	uint32_t nplaces;
	bool hashed;
	UT_hash_handle hh;
};

struct stackcache {
	struct profile *profile;
	struct sampler *sampler;
	struct resolver *resolver;
	struct stackcache_raw *raws;
	struct stackcache_named *named;
	struct stackcache_language *languages;
	struct language *methods;
	size_t bytes;
	size_t places; /* bytes */
	uint64_t round;
	uint64_t now;
	/* "stack lost", one reference each; -1: not made yet */
	int64_t lost[2];
};

static void forget_method(void *arg, uint64_t hash)
{
	const struct stackcache *c = arg;

	sampler_forget(c->sampler, hash);
}

int stackcache_new(struct profile *profile, struct sampler *sampler, struct resolver *resolver,
		   struct stackcache **out)
{
	struct stackcache *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return -ENOMEM;
	*c = (struct stackcache){
		.profile = profile, .sampler = sampler, .resolver = resolver, .round = 1};
	c->lost[0] = c->lost[1] = -1;
	if (!language_new(forget_method, c, &c->methods))
		return 0;
	free(c);
	*out = NULL;
	return -ENOMEM;
}

static void language_drop(struct stackcache *c, struct stackcache_language *language)
{
	HASH_DEL(c->languages, language);
	c->bytes -= sizeof(*language) + language_stack_bytes(language->stack);
	language_stack_free(c->methods, language->stack);
	free(language);
}

static struct stackcache_language *language_find(const struct stackcache *c, uint64_t hash)
{
	struct stackcache_language *language;

	HASH_FIND(hh, c->languages, &hash, sizeof(hash), language);
	return language;
}

static void raw_drop(struct stackcache *c, struct stackcache_raw *raw)
{
	struct stackcache_language *language = language_find(c, raw->hash);

	if (language)
		language_drop(c, language);
	HASH_DEL(c->raws, raw);
	c->bytes -= raw->bytes;
	free(raw->rec);
	free(raw);
}

static void places_drop(struct stackcache *c, struct stackcache_named *named)
{
	c->places -= named->nplaces * sizeof(*named->places);
	free(named->places);
	named->places = NULL;
	named->nplaces = 0;
}

static void named_free(struct stackcache *c, struct stackcache_named *named)
{
	profile_lock(c->profile);
	profile_stack_put(c->profile, named->stack);
	profile_unlock(c->profile);
	places_drop(c, named);
	free(named);
}

static void named_drop(struct stackcache *c, struct stackcache_named *named)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(c->named, named);
	named_free(c, named);
}

void stackcache_free(struct stackcache *c)
{
	struct stackcache_named *named, *next;

	if (!c)
		return;
	while (c->raws)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		raw_drop(c, c->raws);
	while (c->languages)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		language_drop(c, c->languages);
	language_free(c->methods);
	named = c->named;
	HASH_CLEAR(hh, c->named);
	for (; named; named = next) {
		next = named->hh.next;
		named_free(c, named);
	}
	profile_lock(c->profile);
	for (int i = 0; i < 2; i++)
		if (c->lost[i] >= 0)
			profile_stack_put(c->profile, (uint32_t)c->lost[i]);
	profile_unlock(c->profile);
	free(c);
}

/* --- raw stacks ------------------------------------------------------------------------------ */

static void raw_free(struct stackcache *c, struct stackcache_raw *raw)
{
	sampler_forget(c->sampler, raw->hash);
	free(raw->rec);
	free(raw);
}

int stackcache_add(struct stackcache *c, const struct stack_record *rec)
{
	size_t size = sizeof(*rec) + rec->nframes * sizeof(rec->frames[0]);
	uint64_t hash = rec->hash;
	struct stackcache_raw *raw;

	HASH_FIND(hh, c->raws, &hash, sizeof(hash), raw);
	if (raw) { /* the kernel had forgotten it, by itself or on request */
		raw->doomed = 0;
		raw->time = c->now;
		return 0;
	}
	raw = calloc(1, sizeof(*raw));
	if (raw)
		raw->rec = malloc(size);
	if (!raw || !raw->rec) {
		free(raw);
		sampler_forget(c->sampler, hash);
		return -ENOMEM;
	}
	memcpy(raw->rec, rec, size);
	raw->hash = hash;
	raw->time = c->now;
	raw->seen = c->round;
	raw->bytes = sizeof(*raw) + size;
	raw->hashed = true;
	HASH_ADD(hh, c->raws, hash, sizeof(raw->hash), raw);
	if (!raw->hashed) {
		raw_free(c, raw);
		return -ENOMEM;
	}
	c->bytes += raw->bytes;
	return 0;
}

/* A function that is missing, or no memory: all is sent again. */
void stackcache_language(struct stackcache *c, const struct stack_record *rec)
{
	struct stackcache_language *language;

	if (rec->kernel == STACK_METHOD) {
		language_add(c->methods, (const struct method_record *)rec);
		return;
	}
	if (language_find(c, rec->hash))
		return;
	language = calloc(1, sizeof(*language));
	if (language)
		language->stack = language_stack_new(c->methods, rec);
	if (!language || !language->stack) {
		free(language);
		sampler_forget(c->sampler, rec->hash);
		return;
	}
	language->hash = rec->hash;
	language->time = c->now;
	language->hashed = true;
	HASH_ADD(hh, c->languages, hash, sizeof(language->hash), language);
	if (!language->hashed) {
		language_stack_free(c->methods, language->stack);
		free(language);
		sampler_forget(c->sampler, rec->hash);
		return;
	}
	c->bytes += sizeof(*language) + language_stack_bytes(language->stack);
}

const struct language_stack *stackcache_language_of(const struct stackcache *c, uint64_t hash)
{
	const struct stackcache_language *language = language_find(c, hash);

	return language ? language->stack : NULL;
}

/* Those whose native stack did not come. */
static void languages_age(struct stackcache *c)
{
	struct stackcache_language *language, *next;
	struct stackcache_raw *raw;

	HASH_ITER(hh, c->languages, language, next) {
		if (c->now - language->time < RAW_AGE)
			break;
		HASH_FIND(hh, c->raws, &language->hash, sizeof(language->hash), raw);
		if (!raw)
			language_drop(c, language);
	}
}

/* NULL: its frames did not arrive. */
static const struct stack_record *raw_use(struct stackcache *c, uint64_t hash)
{
	struct stack_record *rec;
	struct stackcache_raw *raw;

	HASH_FIND(hh, c->raws, &hash, sizeof(hash), raw);
	if (!raw) {
		sampler_forget(c->sampler, hash);
		return NULL;
	}
	rec = raw->rec;
	raw->time = c->now;
	if (raw->seen == c->round)
		return rec;
	raw->seen = c->round;
	HASH_DEL(c->raws, raw);
	raw->hashed = true;
	HASH_ADD(hh, c->raws, hash, sizeof(raw->hash), raw);
	if (!raw->hashed) {
		c->bytes -= raw->bytes;
		raw_free(c, raw);
		return NULL;
	}
	return rec;
}

/* Of the frames of a language in the stack of that hash. */
static size_t language_bytes(const struct stackcache *c, uint64_t hash)
{
	const struct stackcache_language *language = language_find(c, hash);

	return language ? sizeof(*language) + language_stack_bytes(language->stack) : 0;
}

static void raw_age(struct stackcache *c)
{
	struct stackcache_raw *raw, *next;
	size_t left = c->bytes;

	HASH_ITER(hh, c->raws, raw, next) {
		if (c->now - raw->time < RAW_AGE && left <= RAW_BYTES)
			break;
		left -= raw->bytes + language_bytes(c, raw->hash);
		if (!raw->doomed) {
			sampler_forget(c->sampler, raw->hash);
			raw->doomed = c->round;
		} else if (c->round - raw->doomed >= RAW_LINGER && raw->seen < c->round) {
			raw_drop(c, raw);
		}
	}
}

/* --- stacks of the profile ------------------------------------------------------------------- */

static int64_t resolve(struct stackcache *c, const struct stack_record *rec,
		       struct resolver_doubt *doubt)
{
	*doubt = (struct resolver_doubt){0};
	return rec->kernel ? resolver_kernel(c->resolver, rec)
			   : resolver_user(c->resolver, rec, stackcache_language_of(c, rec->hash),
					   doubt);
}

/* Without memory its samples do not count for lines. */
static void keep_places(struct stackcache *c, struct stackcache_named *named, bool kernel)
{
	const uint32_t *places;
	uint32_t count = 0;

	places_drop(c, named);
	if (!kernel) {
		places = resolver_places(c->resolver, &count);
		named->places = count ? malloc(count * sizeof(*places)) : NULL;
		if (named->places)
			memcpy(named->places, places, count * sizeof(*places));
	}
	named->nplaces = named->places ? count : 0;
	c->places += named->nplaces * sizeof(*named->places);
}

static int64_t named_new(struct stackcache *c, const struct stack_record *rec)
{
	struct stackcache_named *named = calloc(1, sizeof(*named));
	struct resolver_doubt doubt;
	int64_t id;

	if (!named)
		return -ENOMEM;
	id = resolve(c, rec, &doubt);
	if (id < 0) {
		free(named);
		return id;
	}
	named->hash = rec->hash;
	named->of = (struct tracker_exec){(pid_t)rec->tgid, rec->start_stack, rec->exec_id};
	named->seen = c->round;
	named->time = c->now;
	named->stack = (uint32_t)id;
	keep_places(c, named, rec->kernel);
	named->retries = doubt.vague ? RETRIES : 0;
	named->doubt = doubt;
	named->debug_files = resolver_debug_files(c->resolver);
	named->hashed = true;
	HASH_ADD(hh, c->named, hash, sizeof(named->hash), named);
	if (!named->hashed) {
		named_free(c, named);
		return -ENOMEM;
	}
	return id;
}

static bool is_doubtful(struct stackcache *c, const struct stackcache_named *named)
{
	return named->retries || named->doubt.closed || named->doubt.waits ||
	       named->debug_files != resolver_debug_files(c->resolver) ||
	       resolver_files_changed(c->resolver, named->doubt.files, named->doubt.changes) ||
	       (named->doubt.jit &&
		resolver_jit_version(c->resolver, &named->of) != named->doubt.jit);
}

/* A failure leaves the names as they are. */
static void name_again(struct stackcache *c, struct stackcache_named *named,
		       const struct stack_record *rec)
{
	struct resolver_doubt doubt;
	int64_t id = resolve(c, rec, &doubt);

	if (id < 0)
		return;
	profile_lock(c->profile);
	profile_stack_put(c->profile, named->stack);
	profile_unlock(c->profile);
	named->stack = (uint32_t)id;
	keep_places(c, named, rec->kernel);
	named->retries = doubt.vague && named->retries ? named->retries - 1 : 0;
	named->doubt = doubt;
	named->debug_files = resolver_debug_files(c->resolver);
}

int64_t stackcache_stack(struct stackcache *c, uint64_t hash, bool kernel, bool *lost)
{
	const struct stack_record *rec;
	struct stackcache_named *named;
	uint32_t id;

	*lost = false;
	HASH_FIND(hh, c->named, &hash, sizeof(hash), named);
	if (named && named->seen == c->round)
		return named->stack;
	rec = raw_use(c, hash);
	*lost = !rec && !named;
	if (*lost) {
		if (c->lost[kernel] < 0)
			c->lost[kernel] = resolver_lost(c->resolver, kernel);
		return c->lost[kernel];
	}
	if (!named)
		return named_new(c, rec);
	if (rec && is_doubtful(c, named))
		name_again(c, named, rec);
	id = named->stack;
	named->seen = c->round;
	named->time = c->now;
	HASH_DEL(c->named, named);
	named->hashed = true;
	HASH_ADD(hh, c->named, hash, sizeof(named->hash), named);
	if (!named->hashed) {
		named_free(c, named);
		return -ENOMEM;
	}
	return id;
}

int stackcache_count_lines(const struct stackcache *c, uint64_t hash, uint64_t count)
{
	struct stackcache_named *named;

	HASH_FIND(hh, c->named, &hash, sizeof(hash), named);
	return named ? resolver_count_lines(c->resolver, named->stack, named->places,
					    named->nplaces, count)
		     : 0;
}

bool stackcache_peek(const struct stackcache *c, uint64_t hash, struct stackcache_stack *stack)
{
	struct stackcache_named *named;
	struct stackcache_raw *raw;

	HASH_FIND(hh, c->named, &hash, sizeof(hash), named);
	HASH_FIND(hh, c->raws, &hash, sizeof(hash), raw);
	if (!named || !raw)
		return false;
	*stack = (struct stackcache_stack){named->stack, raw->rec, named->places, named->nplaces,
					   named->doubt.languages};
	return true;
}

void stackcache_age(struct stackcache *c, uint64_t now)
{
	struct stackcache_named *named, *next;

	c->now = now;
	HASH_ITER(hh, c->named, named, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		if (now - named->time < NAMED_AGE && HASH_COUNT(c->named) <= NAMED_MAX &&
		    c->places <= RAW_BYTES)
			break;
		named_drop(c, named);
	}
	raw_age(c);
	languages_age(c);
	c->round++;
}
