// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See mutes.h. A process with a runtime is asked about in each slice that has samples of it, since
 * its library may be mapped late and its layout proven later. The first stack with a frame of the
 * language settles a slice, so a process whose frames are there costs next to nothing. Of several
 * runtimes each is judged by itself.
 *
 * Samples from before the layout was proven have no frames, so one slice after that is left out.
 */
#include "tui/collect/mutes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/hash.h"
#include "tui/collect/procinfo.h"
#include "tui/collect/stackcache.h"
#include "unwind/reason.h"

#define UNSEEN_MAX 600u /* slices after which a process is forgotten */

struct mute_key {
	uint64_t exec;
	uint32_t pid, n; /* the process's n-th runtime */
};

struct mute {
	struct mute_key key;
	struct tracker_runtime runtime;
	uint64_t start_stack;
	uint64_t round;	 /* the last slice with samples of it */
	uint64_t ran;	 /* samples of that slice without a frame of the language */
	uint64_t silent; /* of all slices since the last one with such a frame */
	bool heard;	 /* in this slice, */
	bool ever;	 /* in any */
	bool counts;	 /* the runtime was settled by the end of the slice before */
	bool marked;
	bool has_runtime;
	bool hashed;
	UT_hash_handle hh;
};

struct mutes {
	struct tracker *tracker;
	const struct stackcache *stacks;
	struct procinfo *procs;
	struct mute *all;
	uint64_t round;
};

int mutes_new(struct tracker *tracker, const struct stackcache *stacks, struct procinfo *procs,
	      struct mutes **out)
{
	struct mutes *m = calloc(1, sizeof(*m));

	*out = m;
	if (!m)
		return -ENOMEM;
	m->tracker = tracker;
	m->stacks = stacks;
	m->procs = procs;
	m->round = 1;
	return 0;
}

static void mute_drop(struct mutes *m, struct mute *mute)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(m->all, mute);
	free(mute);
}

void mutes_free(struct mutes *m)
{
	struct mute *mute, *next;

	if (!m)
		return;
	HASH_ITER(hh, m->all, mute, next)
		mute_drop(m, mute);
	free(m);
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* The code of a frame's call: a return address may be the first one behind it. */
static uint64_t code_of(uint64_t frame)
{
	return frame & FRAME_EXACT ? frame & ~FRAME_EXACT : frame - 1;
}

static bool is_eval(const struct tracker_runtime *runtime, uint64_t code)
{
	for (int i = 0; i < 2; i++)
		if (code >= runtime->eval[i][0] && code < runtime->eval[i][1])
			return true;
	return false;
}

static bool is_exact(const struct tracker_runtime *runtime)
{
	return runtime->made || runtime->eval[0][0];
}

bool mutes_ran(const struct tracker_runtime *runtime, const struct stack_record *rec)
{
	const bool complete = walk_is_complete(rec->reason);
	/* The outermost frame of a walk that failed may be what made it fail. */
	const uint32_t n = rec->nframes - (!complete && rec->nframes > 1);
	/* ... and the code that runs the language's own may be outside of it. */
	const bool by_file = !runtime->made && (!is_exact(runtime) || !complete);

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t code = code_of(rec->frames[i]);

		if (is_eval(runtime, code) || (runtime->made && FRAME_IS_ADDRESS(code)) ||
		    (by_file && code & FRAME_IN_OBJECT && FRAME_OBJECT(code) == runtime->object))
			return true;
	}
	return false;
}

/* --- processes ------------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct mute *mute_of(struct mutes *m, const struct tracker_exec *of, uint32_t n)
{
	struct mute_key key = {of->exec_id, (uint32_t)of->pid, n};
	struct mute *mute;

	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(hh, m->all, &key, sizeof(key), mute);
	if (!mute) {
		mute = calloc(1, sizeof(*mute));
		if (!mute)
			return NULL;
		mute->key = key;
		mute->hashed = true;
		HASH_ADD(hh, m->all, key, sizeof(mute->key), mute);
		if (!mute->hashed) {
			free(mute);
			return NULL;
		}
	}
	if (mute->round == m->round)
		return mute;
	mute->round = m->round;
	mute->start_stack = of->start_stack;
	mute->heard = false;
	mute->ran = 0;
	mute->counts = mute->has_runtime && mute->runtime.settled;
	mute->has_runtime = tracker_runtime(m->tracker, of, n, &mute->runtime);
	return mute;
}

static const enum func_kind kinds[] = {
	[RUNTIME_PYTHON] = FUNC_PYTHON, [RUNTIME_PHP] = FUNC_PHP, [RUNTIME_PERL] = FUNC_PERL,
	[RUNTIME_RUBY] = FUNC_RUBY,	[RUNTIME_V8] = FUNC_JS,	  [RUNTIME_COUNT] = FUNC_JAVA,
};

void mutes_note(struct mutes *m, const struct tracker_exec *of, uint64_t hash, uint64_t count)
{
	struct stackcache_stack stack;
	struct mute *mute;

	for (uint32_t n = 0; (mute = mute_of(m, of, n)) && mute->has_runtime; n++) {
		if (mute->heard || !stackcache_peek(m->stacks, hash, &stack))
			continue;
		mute->heard = stack.languages >> kinds[mute->runtime.kind] & 1;
		if (!mute->heard && (mute->counts || mute->runtime.refused) &&
		    mutes_ran(&mute->runtime, stack.rec))
			mute->ran += count;
	}
}

static bool is_mute(const struct mute *mute)
{
	if (mute->heard || !mute->silent || (mute->ever && !is_exact(&mute->runtime)))
		return false;
	return mute->runtime.refused || mute->silent >= mute->runtime.enough;
}

static int judge(struct mutes *m, struct mute *mute)
{
	const struct tracker_exec of = {(pid_t)mute->key.pid, mute->start_stack, mute->key.exec};
	const uint64_t silent = mute->silent, enough = mute->runtime.enough;
	char why[sizeof(mute->runtime.shown) + sizeof(mute->runtime.why) + 4];
	bool before = mute->marked;

	mute->ever |= mute->heard;
	mute->silent = mute->heard ? 0 : silent + mute->ran;
	mute->marked = is_mute(mute);
	if (!mute->marked && !before)
		return 0;
	if (mute->marked && silent < enough && mute->silent >= enough)
		tracker_runtime_mute(m->tracker, &of, mute->key.n, mute->silent);
	snprintf(why, sizeof(why), "%s: %s", mute->runtime.shown, mute->runtime.why);
	return procinfo_mute(m->procs, &of, mute->marked ? kinds[mute->runtime.kind] : FUNC_USER,
			     mute->marked ? why : "");
}

int mutes_judge(struct mutes *m)
{
	struct mute *mute, *next;
	int err = 0;

	HASH_ITER(hh, m->all, mute, next) {
		if (mute->round == m->round && mute->has_runtime && !err)
			err = judge(m, mute);
		else if (!mute->has_runtime || m->round - mute->round > UNSEEN_MAX)
			mute_drop(m, mute);
	}
	m->round++;
	return err;
}
