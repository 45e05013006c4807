// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See runtimes.h. A process whose runtime has not begun to run code is asked about again soon; one
 * that contradicts its layout rarely, after a message. Whether samples have the frames of their
 * language, only the collector sees; what it finds to have none is told of here, too.
 */
#include "bpf/tracker/runtimes.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
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
#include "bpf/tracker/tracker.h"
#include "unwind/walk.h"

#define TURN_NS	      (20ull * 1000000)
#define WAIT_MIN_NS   (2ull * 1000000) /* a program's language begins in 10 to 50 ms */
#define WAIT_MAX_NS   (1000ull * 1000000)
#define CONTRARY_NS   (WAIT_MAX_NS / 4) /* a process that contradicts has begun by then */
#define REFUSED_NS    (30000ull * 1000000)
#define REFUSALS_TOLD 3u    /* a process may be about to begin or to end */
#define ENOUGH	      100u  /* samples */
#define ENOUGH_JAVA   1000u /* its interpreter, in which a program begins, has no names */

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

static void look_until(struct runtimes *rs, uint64_t time)
{
	if (time < rs->until)
		rs->until = time;
}

/* Or it is to be. */
static bool is_sampled(const struct runtimes *rs, const struct process *p)
{
	return (rs->targets->filtering && p->target) || was_sampled(rs, p);
}

/*
 * A new process is asked about before its first sample. A process that runs when stacktop starts is
 * asked about once. If many processes map the same file, one of them is asked about each turn.
 */
static bool is_asked_about(struct runtimes *rs, const struct process *p, const struct object *o,
			   const struct process_runtime *here, uint64_t now)
{
	const uint64_t turn = o->runtime->asked + TURN_NS;

	if (is_sampled(rs, p))
		return true;
	if (rs->targets->filtering || here->wait >= (p->recorded ? WAIT_MAX_NS : WAIT_MIN_NS))
		return false;
	if (now < turn)
		look_until(rs, turn);
	return now >= turn;
}

static void ask(struct runtimes *rs, struct process *p, const struct object *o,
		struct process_runtime *here, uint64_t now)
{
	struct open_request request;

	memset(&request, 0, offsetof(struct open_request, name));
	request.kind = OPEN_RUNTIME;
	request.pid = process_thread(p);
	runtimefile_question(o, process_home(p, o), &request.runtime);
	request.runtime.brief = here->wait < CONTRARY_NS;
	o->runtime->asked = now;
	here->question = opener_ask(rs->opener, &request, p->pid, p->uid, true);
	here->next = now + (here->question ? WAIT_MAX_NS : REFUSED_NS);
}

static void look_at(struct runtimes *rs, struct process *p, struct object *o, uint64_t now)
{
	struct process_runtime *here = runtimefile_slot(p, o);

	if (!here || here->entered || here->question || p->kthread || p->waits)
		return;
	if (now < here->next) {
		if (here->wait && here->wait < WAIT_MAX_NS)
			look_until(rs, here->next);
		return;
	}
	if (!(o->runtime->err ? is_sampled(rs, p) : is_asked_about(rs, p, o, here, now)))
		return;
	if (o->runtime->err)
		tell_unknown(rs, p, o);
	else if (runtimefile_is_proven(o->runtime, p))
		publish_entry(rs->publisher, p); /* there was no room */
	else
		ask(rs, p, o, here, now);
	if (now >= here->next)
		here->next = now + WAIT_MAX_NS;
}

void runtimes_turn(struct runtimes *rs, uint64_t now)
{
	struct process *p, *next;
	struct object *o;

	if (!rs->opener ||
	    (now - rs->looked < TURN_NS && now < rs->until && !rs->procs->runtime_came))
		return;
	rs->looked = now;
	rs->until = UINT64_MAX;
	rs->procs->runtime_came = false;
	HASH_ITER(hh, rs->procs->live, p, next)
		for (unsigned int n = 0; !process_is_unread(p) && (o = runtimefile_of(p, n)); n++)
			look_at(rs, p, o, now);
}

int runtimes_wait(const struct runtimes *rs, int most)
{
	const uint64_t now = clock_now();
	const uint64_t ms = rs->until > now ? (rs->until - now) / 1000000 + 1 : 1;

	return rs->opener && ms < (uint64_t)most ? (int)ms : most;
}

/* --- processes without a frame of their language --------------------------------------------- */

/* Why no frames of the language are looked for, or what keeps them from being found. */
static void explain(const struct runtimes *rs, const struct process *p, const struct object *o,
		    struct tracker_runtime *out)
{
	static const struct process_runtime none;
	const struct runtime_object *r = o->runtime;
	const struct process_runtime *here = runtimefile_known(p, o) ?: &none;
	char *to = out->why;
	const size_t size = sizeof(out->why);

	out->refused = true;
	if (sampler_refuses(rs->sampler, r->kind))
		snprintf(to, size, "this kernel refuses the program that walks its frames");
	else if (r->err)
		snprintf(to, size, "its layout is not known%s%s", r->missing ? ": " : "",
			 r->missing ?: "");
	else if (!here->entered && here->refusals >= REFUSALS_TOLD)
		snprintf(to, size, "its memory contradicts the layout: %.76s", r->why);
	else if (!here->entered && here->err && here->err != -ENOENT && here->err != -EINVAL)
		snprintf(to, size, "its memory cannot be read: %s", strerror(-here->err));
	else
		out->refused = false;
	out->settled = out->refused || here->entered || here->wait >= WAIT_MAX_NS ||
		       runtimefile_is_proven(r, p);
	if (out->refused)
		return;
	if (here->entered)
		snprintf(to, size, "they are looked for, but none is found, or has a proven place");
	else if (runtimefile_is_proven(r, p))
		snprintf(to, size, "more than %u processes have such a language", RUNTIMES_MAX);
	else if (here->err == -ENOENT)
		snprintf(to, size, "its memory shows no code of the language yet");
	else
		snprintf(to, size, "its memory has not proven the layout yet");
}

static const struct object *hotspot_of(const struct process *p)
{
	for (size_t i = 0; i < p->nmappings; i++)
		if (p->mappings[i].object && p->mappings[i].object->symbols.vm_structs)
			return p->mappings[i].object;
	return NULL;
}

/* The virtual machine of Java is behind the runtimes. */
bool runtimes_know(const struct runtimes *rs, const struct process *p, unsigned int n,
		   struct tracker_runtime *out)
{
	const struct object *o = runtimefile_of(p, n);

	memset(out, 0, sizeof(*out));
	out->enough = ENOUGH;
	if (o) {
		out->kind = o->runtime->kind;
		out->made = out->kind == RUNTIME_V8;
		snprintf(out->shown, sizeof(out->shown), "%s", o->runtime->shown);
		runtimefile_eval(o, out->eval);
		explain(rs, p, o, out);
	} else {
		o = !n || runtimefile_of(p, n - 1) ? hotspot_of(p) : NULL;
		if (!o)
			return false;
		out->kind = RUNTIME_COUNT;
		out->made = out->settled = true;
		if (p->code.mark)
			out->enough = ENOUGH_JAVA;
		snprintf(out->shown, sizeof(out->shown), "Java");
		snprintf(out->why, sizeof(out->why), "%s",
			 p->code.mark ? "what its virtual machine says of its code has no names"
				      : "its virtual machine describes no code, or in a way that "
					"is not known");
	}
	out->object = o->id;
	return true;
}

void runtimes_mute(struct runtimes *rs, const struct process *p, unsigned int n, uint64_t samples)
{
	struct tracker_runtime runtime;
	struct object *o = runtimefile_of(p, n);

	if (!runtimes_know(rs, p, n, &runtime) || (o && o->runtime->told) ||
	    (!o && !notices_first(rs->notices, NOTICE_MUTE_JAVA)))
		return;
	if (o)
		o->runtime->told = true;
	notices_tell(rs->notices, 1,
		     "no frames of its language for %s (%d): %llu samples of it ran %s, and none "
		     "has any: %s",
		     p->comm, (int)p->pid, (unsigned long long)samples, runtime.shown, runtime.why);
}

/* --- answers --------------------------------------------------------------------------------- */

/* All processes that it speaks for are walked from now on. */
static void take_proof(struct runtimes *rs, const struct process *of, struct object *o,
		       const struct open_answer *a)
{
	struct process *p, *next;
	const struct process_runtime *here;

	runtimefile_prove(o->runtime, of->uid, a->mark);
	HASH_ITER(hh, rs->procs->live, p, next) {
		here = runtimefile_known(p, o);
		if (p->entered && here && !here->entered)
			publish_entry(rs->publisher, p);
	}
}

static void ask_again(struct runtimes *rs, struct process_runtime *here, uint64_t most,
		      uint64_t now)
{
	here->wait = 2 * here->wait < most ? 2 * here->wait : most;
	if (here->wait < WAIT_MIN_NS)
		here->wait = WAIT_MIN_NS;
	here->next = now + here->wait;
	look_until(rs, here->next);
}

static void take_refusal(struct runtimes *rs, const struct process *p, struct process_runtime *here,
			 struct object *o, const struct open_answer *a, uint64_t now)
{
	/* An interpreter that is starting has filled its memory in part. */
	if (here->wait < CONTRARY_NS || ++here->refusals < REFUSALS_TOLD) {
		ask_again(rs, here, CONTRARY_NS, now);
		return;
	}
	here->next = now + REFUSED_NS;
	snprintf(o->runtime->why, sizeof(o->runtime->why), "%s", a->why);
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
	struct process_runtime *here = NULL;
	struct object *object = NULL;

	for (unsigned int i = 0; p && i < PROCESS_RUNTIMES && !here; i++)
		if (p->runtimes[i].question == o->id)
			here = &p->runtimes[i];
	if (!here)
		return;
	here->question = 0;
	here->err = a->err;
	for (unsigned int n = 0; (object = runtimefile_of(p, n)); n++)
		if (object->id == here->object)
			break;
	if (!object)
		return;
	if (!a->err) {
		take_proof(rs, p, object, a);
	} else if (a->err == -ENOENT) {
		ask_again(rs, here, WAIT_MAX_NS, now);
	} else if (a->err == -EINVAL) {
		take_refusal(rs, p, here, object, a, now);
	} else {
		here->next = now + REFUSED_NS;
	}
}
