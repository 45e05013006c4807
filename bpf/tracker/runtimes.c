// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See runtimes.h. A process whose runtime has not begun to run code is asked about again soon; one
 * that contradicts its layout rarely, after a message.
 */
#include "bpf/tracker/runtimes.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bpf/sampler/clock.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/openfile.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/publish.h"
#include "bpf/tracker/targets.h"

#define TURN_NS	      (20ull * 1000000)
#define WAIT_MIN_NS   (20ull * 1000000)
#define WAIT_MAX_NS   (1000ull * 1000000)
#define REFUSED_NS    (30000ull * 1000000)
#define REFUSALS_TOLD 3u /* a process may be about to begin or to end */

static bool was_sampled(const struct runtimes *rs, const struct process *p)
{
	const uint32_t first = p->list ? p->list->word / MAPLIST_ENTRY_WORDS : 0;

	return p->list && !p->list->cold &&
	       memchr(sampler_memory(rs->sampler)->touched + first, 1, p->list->count);
}

/* A file whose layout is not known: says so once. */
static void tell_unknown(struct runtimes *rs, const struct process *p, struct object *o)
{
	if (o->runtime->told)
		return;
	o->runtime->told = true;
	notices_tell(rs->notices, 1,
		     "no frames of its language for %s (%d): the layout of %s in %s is not "
		     "known%s%s",
		     p->comm, (int)p->pid, o->runtime->shown, o->name,
		     o->runtime->missing ? ": " : "", o->runtime->missing ?: "");
}

static void ask(struct runtimes *rs, struct process *p, const struct object *o, uint64_t bias,
		uint64_t now)
{
	struct open_request request;

	memset(&request, 0, offsetof(struct open_request, name));
	request.kind = OPEN_RUNTIME;
	request.pid = process_thread(p);
	runtimefile_question(o, bias, &request.runtime);
	p->runtime.question = opener_ask(rs->opener, &request, p->pid, p->uid, false);
	p->runtime.next = now + (p->runtime.question ? WAIT_MAX_NS : REFUSED_NS);
}

static void look_at(struct runtimes *rs, struct process *p, uint64_t now)
{
	uint64_t bias;
	struct object *o;

	if (p->runtime.entered || p->runtime.question || now < p->runtime.next ||
	    process_is_unread(p) || p->kthread)
		return;
	o = runtimefile_of(p, &bias);
	if (!o || (!(rs->targets->filtering && p->target) && !was_sampled(rs, p)))
		return;
	if (o->runtime->err)
		tell_unknown(rs, p, o);
	else if (runtimefile_is_proven(o->runtime, p))
		publish_entry(rs->publisher, p); /* there was no room */
	else
		ask(rs, p, o, bias, now);
	if (now >= p->runtime.next)
		p->runtime.next = now + WAIT_MAX_NS;
}

void runtimes_turn(struct runtimes *rs, uint64_t now)
{
	struct process *p, *next;

	if (!rs->opener || now - rs->looked < TURN_NS)
		return;
	rs->looked = now;
	HASH_ITER(hh, rs->procs->live, p, next)
		look_at(rs, p, now);
}

/* --- answers --------------------------------------------------------------------------------- */

/* All processes that it speaks for are walked from now on. */
static void take_proof(struct runtimes *rs, const struct process *of, struct object *o,
		       const struct open_answer *a)
{
	struct process *p, *next;
	uint64_t bias;

	runtimefile_prove(o->runtime, of->uid, a->mark);
	HASH_ITER(hh, rs->procs->live, p, next)
		if (p->entered && !p->runtime.entered && runtimefile_of(p, &bias) == o)
			publish_entry(rs->publisher, p);
}

static void take_refusal(struct runtimes *rs, struct process *p, struct object *o,
			 const struct open_answer *a, uint64_t now)
{
	if (++p->runtime.refusals < REFUSALS_TOLD) {
		p->runtime.next = now + WAIT_MAX_NS / 4;
		return;
	}
	p->runtime.next = now + REFUSED_NS;
	if (o->runtime->told)
		return;
	o->runtime->told = true;
	notices_tell(rs->notices, 1,
		     "no frames of its language for %s (%d): its memory contradicts the layout of "
		     "%s: %s",
		     p->comm, (int)p->pid, o->runtime->shown, a->why);
}

void runtimes_on_answer(struct runtimes *rs, const struct opening *o, const struct open_answer *a)
{
	const uint64_t now = clock_now();
	struct process *p = proctable_live(rs->procs, o->tgid);
	struct object *object;
	uint64_t bias;

	if (!p || p->runtime.question != o->id)
		return;
	p->runtime.question = 0;
	object = runtimefile_of(p, &bias);
	if (!object)
		return;
	if (!a->err) {
		take_proof(rs, p, object, a);
	} else if (a->err == -ENOENT) {
		p->runtime.wait =
			2 * p->runtime.wait < WAIT_MAX_NS ? 2 * p->runtime.wait : WAIT_MAX_NS;
		if (p->runtime.wait < WAIT_MIN_NS)
			p->runtime.wait = WAIT_MIN_NS;
		p->runtime.next = now + p->runtime.wait;
	} else if (a->err == -EINVAL) {
		take_refusal(rs, p, object, a, now);
	} else {
		p->runtime.next = now + REFUSED_NS;
	}
}
