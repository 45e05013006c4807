// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See runcode.h. Which process is to be asked is known by the marks that walks leave in its list:
 * one that runs no such code costs nothing. The pause between two questions grows while nothing
 * changes and with the time that the answer takes.
 */
#include "bpf/tracker/runcode.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/clock.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/bareset.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/openfile.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/targets.h"

#define BARE_NS	      (20ull * 1000000) /* a turn while walks come by bare code */
#define IDLE_NS	      (50ull * 1000000) /* and at other times: the first sample of a process counts */
#define CALM_NS	      (500ull * 1000000)   /* likewise, if it does not */
#define BARE_LAST_NS  (10000ull * 1000000) /* as long as that was at most so long ago */
#define BARE_WAIT_NS  (20ull * 1000000)	   /* the pause between the first readings of such code */
#define BARE_LATER_NS (100ull * 1000000)   /* and between later ones, if new places came */
#define LATER_SHARE   16u		   /* as SHARE, for these */
#define BARE_SHARE    8u		   /* as SHARE, for these and while a description grows */
#define BARESETS_MAX  256u		   /* processes whose places are kept, 160 KiB each */
#define BARE_FIRST    12u /* as many of them: each shows one more frame of a stack */
#define WAIT_MIN_NS   (1000ull * 1000000)
#define WAIT_MAX_NS   (8000ull * 1000000)
#define FAILED_NS     (30000ull * 1000000)
#define REFUSALS_TOLD 3u
#define ASKS_MAX      100u /* about new places only, in a second */
#define ASKS_NS	      (1000ull * 1000000)
#define SHARE	      50u /* 1/n of the time at most goes into readings of one process */

int runcode_wait(const struct runcode *rc)
{
	return rc->bare && clock_now() - rc->bare < BARE_LAST_NS ? (int)(BARE_NS / 1000000)
	       : rc->calm					 ? (int)(CALM_NS / 1000000)
								 : (int)(IDLE_NS / 1000000);
}

/* --- questions ------------------------------------------------------------------------------- */

/* Has a walk met code without a file since the marks were cleared last? */
static bool was_sampled(const struct runcode *rc, const struct process *p)
{
	const uint32_t first = p->list ? p->list->word / MAPLIST_ENTRY_WORDS : 0;
	const struct map_entry *entries = sampler_memory(rc->sampler)->map_entries + first;
	const uint8_t *touched = sampler_memory(rc->sampler)->touched + first;

	for (uint32_t i = 0; p->list && !p->list->cold && i < p->list->count - p->list->ncode; i++)
		if (touched[i] && !entries[i].frame && MAP_KIND(entries[i].meta) != MAP_PENDING)
			return true;
	return false;
}

/* --- bare code ------------------------------------------------------------------------------- */

static void keep_place(struct runcode *rc, struct process *p, const struct bare_place *place)
{
	if (!p->code.bare && rc->nbare < BARESETS_MAX) {
		p->code.bare = calloc(1, sizeof(*p->code.bare));
		rc->nbare += p->code.bare != NULL;
	}
	if (p->code.bare)
		p->code.bare_is_new |= bareset_add(p->code.bare, place);
}

/* Takes the places out of the list of the BPF program. */
static void take_places(struct runcode *rc, uint64_t now)
{
	struct bare_place *list = sampler_memory(rc->sampler)->bare_places;

	for (uint32_t i = 0; i < BARE_PLACES; i++) {
		const struct bare_place place = list[i];
		struct process *p;

		if (!place.pc)
			continue;
		list[i].pc = 0;
		p = proctable_live(rc->procs, (pid_t)place.tgid);
		if (!p)
			continue;
		keep_place(rc, p, &place);
		if (p->code.bare_is_new && (p->code.described || p->code.nreadings < BARE_FIRST))
			rc->bare = now;
	}
}

/* --- who is asked ----------------------------------------------------------------------------- */

/* Questions about new places only are few enough for the user. */
static bool may_ask(struct runcode *rc, const struct process *p, uint64_t now)
{
	if (now - rc->asks_since >= ASKS_NS) {
		rc->asks_since = now;
		quota_free(&rc->asks);
		rc->asks = (struct quota){.max = ASKS_MAX};
	}
	return quota_take(&rc->asks, p->uid, 1);
}

/*
 * While a machine compiles it describes new code all the time, and reading all of it takes longer
 * each time. Between full readings only new code is read, once the last table is in use.
 */
static bool asks_in_part(const struct process *p, uint64_t now)
{
	return p->code.in_blobs && p->code.bare_is_new && !p->code.whole && p->code.table &&
	       !object_is_closed(p->code.table) && now < p->code.next;
}

/*
 * A chosen process is asked about before its first sample. Code that nothing describes may change
 * without a sign, so it is read again while it is sampled.
 */
static bool is_due(struct runcode *rc, const struct process *p, uint64_t now)
{
	if (p->code.question || process_is_unread(p) || p->waits)
		return false;
	if (asks_in_part(p, now))
		return now >= p->code.soon && !p->code.table->in_queue && !p->code.table->held &&
		       may_ask(rc, p, now);
	if (p->code.bare_is_new && now >= p->code.soon)
		return true;
	if (now < p->code.next)
		return false;
	if (p->code.bare && now - p->code.asked >= WAIT_MAX_NS && was_sampled(rc, p))
		return true;
	if (!p->code.described)
		return false;
	return (rc->targets->filtering && p->target && !p->code.next) || was_sampled(rc, p);
}

static void add_places(const struct process *p, struct code_places *to)
{
	const struct object *last = NULL;
	uint64_t home;
	size_t n = 0;

	for (size_t i = 0; i < p->nmappings; i++) {
		const struct object *o = p->mappings[i].object;
		const struct code_symbols *s = o ? &o->symbols : NULL;

		if (o == last || !s || (!s->descriptor && !s->vm_structs))
			continue;
		last = o;
		home = process_home(p, o);
		if (s->descriptor && n < CODE_DESCRIPTORS_MAX &&
		    (!n || to->descriptors[n - 1] != s->descriptor + home))
			to->descriptors[n++] = s->descriptor + home;
		if (s->vm_structs && s->vm_types) {
			to->vm_structs = s->vm_structs + home;
			to->vm_types = s->vm_types + home;
		}
	}
}

static void ask(struct runcode *rc, struct process *p, uint64_t now)
{
	struct open_request request;
	const struct object *o = p->code.table;
	const bool in_part = asks_in_part(p, now);

	memset(&request, 0, offsetof(struct open_request, name));
	request.kind = OPEN_CODE;
	request.pid = process_thread(p);
	add_places(p, &request.code);
	p->code.in_blobs = request.code.vm_structs && !request.code.descriptors[0];
	p->code.in_part = in_part;
	if (in_part) {
		request.code.part = 1;
		request.code.base = o->fd;
		request.code.nbare = bareset_fresh(p->code.bare, request.bare.places);
	} else if (p->code.bare) {
		request.code.nbare = bareset_places(p->code.bare, request.bare.places);
		request.code.nconstants = bareset_constants(p->code.bare, request.bare.constants);
		request.code.first = !p->code.nreadings;
		request.code.again = p->code.bare_is_new || now - p->code.asked >= WAIT_MAX_NS;
	}
	p->code.bare_is_new = false;
	p->code.asked = now;
	if (o && !object_is_closed(o))
		request.code.mark = p->code.mark;
	p->code.question = opener_ask(rc->opener, &request, p->pid, p->uid, false);
	p->code.bare_is_new |= !p->code.question && p->code.bare;
	p->code.whole = in_part && !p->code.question;
	if (in_part)
		return;
	p->code.soon = now + (p->code.question ? BARE_WAIT_NS : FAILED_NS);
	p->code.next = now + (p->code.question ? WAIT_MIN_NS : FAILED_NS);
}

void runcode_turn(struct runcode *rc, uint64_t now)
{
	struct process *p, *next;

	if (!rc->opener || now - rc->looked < BARE_NS)
		return;
	rc->looked = now;
	take_places(rc, now);
	HASH_ITER(hh, rc->procs->live, p, next)
		if (is_due(rc, p, now))
			ask(rc, p, now);
}

/* --- answers --------------------------------------------------------------------------------- */

/* Takes the descriptor. NULL: no memory, or the user's share is used up. */
static struct object *new_object(struct runcode *rc, const struct process *p,
				 const struct open_answer *a, int fd)
{
	const struct object_key key = {
		.dev = UINT64_MAX, .inode = ++rc->count, .size = a->file.size};
	struct objects *os = rc->objects;
	char name[64];
	struct object *o;

	snprintf(name, sizeof(name), "[code of %d]", (int)p->pid);
	o = object_new(&key, fd, name);
	if (!o) {
		close(fd);
		return NULL;
	}
	o->uid = p->uid;
	o->code = true;
	if (!object_charge_new(os, o, 0)) {
		object_free(o);
		return NULL;
	}
	if (!object_charge(os, o, (int64_t)a->file.size) || !object_add(os, o, false)) {
		object_charge(os, o, -(int64_t)o->bytes);
		object_free(o);
		return NULL;
	}
	os->nopen++;
	object_get(os, o);
	return o;
}

/* Takes the descriptor. */
static bool renew_object(struct runcode *rc, struct object *o, const struct open_answer *a, int fd)
{
	if (!object_charge(rc->objects, o, (int64_t)a->file.size - (int64_t)o->key.size)) {
		close(fd);
		return false;
	}
	if (o->fd >= 0)
		close(o->fd);
	else
		rc->objects->nopen++;
	o->fd = fd;
	o->key.size = a->file.size;
	object_renew(rc->objects, o);
	return true;
}

static void drop_table(struct runcode *rc, struct process *p)
{
	if (p->code.table)
		object_unref_code(rc->objects, p->code.table);
	p->code.table = NULL;
}

/* Takes the descriptor. False: the description is to be read again. */
static bool take_code(struct runcode *rc, struct process *p, const struct open_answer *a, int fd)
{
	struct object *o = p->code.table;

	if (o && (o->in_queue || o->held)) {
		close(fd);
		return false;
	}
	if (o && o->refs == 1u + o->pinned)
		return renew_object(rc, o, a, fd);
	drop_table(rc, p); /* shared since a fork */
	p->code.table = new_object(rc, p, a, fd);
	return p->code.table != NULL;
}

/* A machine that is about to start may not have filled its tables yet. */
static void tell_missing(struct runcode *rc, struct process *p, const struct open_answer *a)
{
	if (!a->why[0] || ++p->code.refusals < REFUSALS_TOLD ||
	    !notices_first(rc->notices, NOTICE_HOTSPOT))
		return;
	notices_tell(rc->notices, 1,
		     "no methods of Java for %s (%d): its virtual machine does not describe %s as "
		     "HotSpot of JDK 9 to 25 does",
		     p->comm, (int)p->pid, a->why);
}

static void tell_moved(struct runcode *rc, const struct process *p, const struct open_answer *a)
{
	if (a->moved && notices_first(rc->notices, NOTICE_MOVED))
		notices_tell(
			rc->notices, 1,
			"%s (%d) does not run the code of its file: it is packed (UPX), or has "
			"moved its code, which has no names then",
			p->comm, (int)p->pid);
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of an answer about new places. */
static void take_part(struct runcode *rc, struct process *p, const struct open_answer *a, int fd,
		      uint64_t now)
{
	const uint64_t before = p->code.table ? p->code.table->key.size : 0;
	const bool used = !a->err && take_code(rc, p, a, fd);

	p->code.in_part = false;
	p->code.names += used;
	p->code.whole = !used;
	p->code.bare_is_new |= !used;
	p->code.soon = now + (used && a->file.size > before
				      ? longer(a->spent * BARE_SHARE, BARE_WAIT_NS)
				      : longer(a->spent * LATER_SHARE, BARE_LATER_NS));
	if (p->code.bare)
		p->code.bare->readings += used;
}

void runcode_on_answer(struct runcode *rc, const struct opening *o, const struct open_answer *a,
		       int fd)
{
	const uint64_t now = clock_now();
	bool changed = false, used = false;
	struct process *p = proctable_live(rc->procs, o->tgid);

	if (!p || p->code.question != o->id) { /* it has called exec meanwhile */
		if (fd >= 0)
			close(fd);
		return;
	}
	p->code.question = 0;
	if (p->code.in_part) {
		take_part(rc, p, a, fd, now);
		return;
	}
	tell_missing(rc, p, a);
	tell_moved(rc, p, a);
	used = !a->err && take_code(rc, p, a, fd);
	if (used) {
		changed = p->code.mark != a->mark;
		p->code.mark = p->code.names = a->mark;
		p->code.wait = WAIT_MIN_NS;
	} else if (!a->err || a->err == -EALREADY || a->err == -ENOENT) {
		p->code.bare_is_new |= !a->err && p->code.bare; /* what was read is not in use */
		p->code.wait = 2 * p->code.wait < WAIT_MAX_NS ? 2 * p->code.wait : WAIT_MAX_NS;
	} else {
		p->code.bare_is_new |= p->code.bare != NULL;
		p->code.wait = FAILED_NS;
	}
	if (p->code.wait < WAIT_MIN_NS)
		p->code.wait = WAIT_MIN_NS;
	p->code.next = now + longer(a->spent * SHARE, p->code.wait);
	p->code.soon = now + longer(a->spent * LATER_SHARE, BARE_LATER_NS);
	if (p->code.nreadings < BARE_FIRST || changed)
		p->code.soon = now + longer(a->spent * BARE_SHARE, BARE_WAIT_NS);
	if (p->code.wait == FAILED_NS)
		p->code.soon = now + WAIT_MIN_NS;
	if (p->code.bare && (used || a->err == -EALREADY))
		p->code.bare->readings++;
	p->code.nreadings += p->code.bare && p->code.nreadings < BARE_FIRST;
}

/* --- processes ------------------------------------------------------------------------------- */

void runcode_fork(struct runcode *rc, struct process *child, const struct process *parent)
{
	child->code = parent->code;
	child->code.question = child->code.next = 0;
	child->code.in_part = false;
	child->code.bare = NULL;
	child->code.bare_is_new = false;
	if (child->code.table)
		object_get(rc->objects, child->code.table);
}

void runcode_drop_places(struct runcode *rc, struct process *p)
{
	rc->nbare -= p->code.bare != NULL;
	free(p->code.bare);
	p->code.bare = NULL;
	p->code.bare_is_new = false;
}

void runcode_drop(struct runcode *rc, struct process *p)
{
	drop_table(rc, p);
	runcode_drop_places(rc, p);
	p->code = (struct process_code){
		.described = p->code.described,
		.next = p->code.next,
		.soon = p->code.soon,
		.wait = p->code.wait,
	};
}
