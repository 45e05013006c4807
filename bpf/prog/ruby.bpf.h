/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUBY_BPF_H
#define STACKTOP_BPF_PROG_RUBY_BPF_H

/*
 * The frames of CRuby 3.1 to 4.0. A thread's execution context has its control frames, of Ruby and
 * of C functions, in an array, the innermost first. A call of vm_exec runs those up to one that is
 * marked with FINISH, and has a record (struct rb_vm_tag) among its local variables, whose address
 * says which native frame it is. Other functions have such records, too: those of vm_exec are known
 * by the address that they jump to.
 *
 * The frame that is marked is pushed before vm_exec makes its record, and popped before that goes.
 * So there may be one record more than runs, or one run more; more is not believed.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/ruby_method.bpf.h"
#include "bpf/prog/runtime_place.bpf.h"
#include "bpf/prog/runtime_send.bpf.h"

#define RUBY_RACTORS	    16
#define RUBY_CONTROL_FRAMES 4096 /* those of C functions among them */
#define RUBY_RUNS	    512u /* that can be placed */
#define RUBY_GUARD	    0x30 /* pointer guard of glibc, from the thread pointer */
#define RUBY_GUARD_SHIFT    17

/* What is found before it is placed; the table is not used meanwhile. */
struct ruby_runs {
	__u64 tags[RUBY_RUNS];
	__u32 ends[RUBY_RUNS]; /* the last frame of each */
	__u32 ntags, nends;
	__u32 cut;    /* as r->cut */
	__u64 first;  /* control frame from which on frames were taken */
	__u64 second; /* the one behind the innermost run */
	__u64 code;   /* instructions of the function before */
	__u32 words;
	__u32 flags; /* of the frame that was looked at last */
	__u64 iseq, ep;
};

_Static_assert(sizeof(struct ruby_runs) <= METHOD_TABLE, "stands in the table");

static __always_inline struct ruby_runs *ruby_runs(struct runtime_state *r)
{
	return (struct ruby_runs *)r->table;
}

/* --- threads --------------------------------------------------------------------------------- */

/* Reads a thread into the object. 1: it is the current one. */
__attribute__((noinline)) int ruby_take(__u64 addr)
{
	struct runtime_state *r = runtime_state();
	const struct ruby_layout *l;
	__u64 id;

	if (!r || !addr)
		return 0;
	l = &r->process.ruby;
	r->thread = addr;
	if (object_read(r, addr, l->thread_size))
		return 0;
	if (l->thread_native)
		id = runtime_word(object_word(r, l->thread_native) + l->thread_id);
	else
		id = object_word(r, l->thread_id);
	return is_thread_of(r->pointer, id);
}

/* The thread at r->frame in the list at r->record. 0: it is the current one, or there are no more.
 */
__attribute__((noinline)) int ruby_list_step(void)
{
	struct runtime_state *r = runtime_state();

	if (!r)
		return 0;
	if (!r->budget || r->frame == r->record)
		r->frame = 0;
	if (!r->frame)
		return 0;
	r->budget--;
	if (ruby_take(r->frame))
		return 0;
	r->frame = runtime_word(r->frame);
	return 1;
}

__attribute__((noinline)) int ruby_list_some(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!ruby_list_step())
			return 0;
	return 1;
}

/* The current thread among those of a ractor; 1: found. */
__attribute__((noinline)) int ruby_list(__u64 ractor)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	r->record = ractor + r->process.ruby.ractor_threads;
	r->frame = runtime_word(r->record);
	for (i = 0; i < 32; i++)
		if (!ruby_list_some())
			break;
	return i < 32 && r->frame;
}

__attribute__((noinline)) int ruby_search(__u64 vm)
{
	struct runtime_state *r = runtime_state();
	__u64 head, node;
	int i;

	if (!r)
		return 0;
	head = vm + r->process.ruby.vm_ractors;
	node = runtime_word(head);
	for (i = 0; i < RUBY_RACTORS; i++) {
		if (!node || node == head || !r->budget)
			return 0;
		if (ruby_list(node - r->process.ruby.ractor_next))
			return 1;
		node = runtime_word(node);
	}
	return 0;
}

/* Finds the thread, and reads it into the object; 0: it is none of Ruby. */
__attribute__((noinline)) int ruby_find_thread(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	const struct ruby_layout *l;
	const __u64 *known;
	__u64 vm, id, addr, owner = 0;

	if (!st || !r)
		return 0;
	l = &r->process.ruby;
	vm = runtime_word(r->process.at);
	if (!vm)
		return 0;
	if (l->ractor_owner) {
		owner = runtime_word(runtime_word(vm + l->vm_main) + l->ractor_owner);
		r->lock = LANGUAGE_HOLDS;
		if (ruby_take(owner))
			return 1;
	}
	id = runtime_thread(st);
	known = bpf_map_lookup_elem(&runtime_threads, &id);
	addr = known ? *known : 0;
	if (!ruby_take(addr)) {
		r->lock = LANGUAGE_NO_LOCK;
		if (!ruby_search(vm))
			return 0;
		addr = r->thread;
		bpf_map_update_elem(&runtime_threads, &id, &addr, BPF_ANY);
	}
	if (!l->ractor_owner)
		return 1;
	owner = runtime_word(object_word(r, l->thread_ractor) + l->ractor_owner);
	r->lock = owner == addr ? LANGUAGE_HOLDS : LANGUAGE_RELEASED;
	return 1;
}

/* --- calls of vm_exec ------------------------------------------------------------------------ */

/* Where the record in the object jumps to. */
static __always_inline __u64 ruby_label(const struct runtime_state *r)
{
	const struct ruby_layout *l = &r->process.ruby;
	__u64 word;

	if (l->jump == RUBY_JUMP_BUILTIN)
		return object_word(r, l->tag_buf + 8);
	word = object_word(r, l->tag_buf + 56);
	if (l->jump == RUBY_JUMP_MANGLED)
		word = (word >> RUBY_GUARD_SHIFT | word << (64 - RUBY_GUARD_SHIFT)) ^ r->outer;
	return word;
}

/* The record at r->above; 1: there may be more. */
__attribute__((noinline)) int ruby_tag_step(void)
{
	struct runtime_state *r = runtime_state();
	struct ruby_runs *runs;
	__u64 back;
	__u32 n;

	if (!r || !r->above)
		return 0;
	runs = ruby_runs(r);
	if (object_read(r, r->above, r->process.ruby.tag_prev + 8)) {
		r->torn++;
		return 0;
	}
	if (ruby_label(r) == r->process.type) {
		n = runs->ntags++;
		if (n < RUBY_RUNS) {
			STEP_BARRIER(n);
			runs->tags[n & (RUBY_RUNS - 1)] = r->above;
		}
	}
	back = object_word(r, r->process.ruby.tag_prev);
	if (back && back <= r->above)
		r->torn++;
	r->above = back > r->above ? back : 0;
	return 1;
}

__attribute__((noinline)) int ruby_some_tags(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!ruby_tag_step())
			return 0;
	return 1;
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Frames further out lie above: reads a window that begins with this one. */
static __always_inline int ruby_hold(struct runtime_state *r, __u64 addr)
{
	__u64 bytes = r->limit - addr;
	__u32 size = r->process.ruby.frame_size;

	if (addr >= r->window_at && addr + size <= r->window_at + r->window_size)
		return 0;
	if (bytes > LANGUAGE_WINDOW)
		bytes = LANGUAGE_WINDOW;
	STEP_BARRIER(bytes);
	if (bytes > LANGUAGE_WINDOW || bytes < size)
		return -1;
	r->window_at = addr;
	r->window_size = bytes;
	if (!bpf_probe_read_user(r->window, bytes, (const void *)addr))
		return 0;
	r->window_size = 0;
	return -1;
}

/* Looks at the control frame r->frame. 0: there is none; 1: it is of Ruby; 2: of a C function. */
__attribute__((noinline)) int ruby_look(void)
{
	struct runtime_state *r = runtime_state();
	const struct ruby_layout *l;
	struct ruby_runs *runs;

	if (!r)
		return 0;
	l = &r->process.ruby;
	runs = ruby_runs(r);
	if (r->frame + l->frame_size > r->limit || ruby_hold(r, r->frame))
		return 0;
	runs->iseq = window_word(r, r->frame + l->frame_iseq);
	runs->ep = window_word(r, r->frame + l->frame_ep);
	runs->flags = runtime_word(runs->ep);
	return !runs->iseq || runs->flags & RUBY_FRAME_C ||
			       RUBY_FRAME_KIND(runs->flags) == RUBY_FRAME_DUMMY
		       ? 2
		       : 1;
}

/* The function of a frame; 0: it is none. */
__attribute__((noinline)) int ruby_take_iseq(void)
{
	struct runtime_state *r = runtime_state();
	const struct ruby_layout *l;
	struct ruby_runs *runs;
	__u64 body, line;

	if (!r)
		return 0;
	l = &r->process.ruby;
	runs = ruby_runs(r);
	if (r->code == runs->iseq)
		return 1;
	r->code = 0;
	if (object_read(r, runs->iseq, l->iseq_body + 8) ||
	    RUBY_MEMO(object_word(r, 0)) != RUBY_ISEQ)
		return 0;
	body = object_word(r, l->iseq_body);
	if (object_read(r, body, l->body_head))
		return 0;
	runs->code = object_word(r, l->body_code);
	runs->words = object_int(r, l->body_words);
	line = object_int(r, l->body_line) >> l->line_shift;
	r->code = runs->iseq;
	r->check = (__u32)(body >> 4 ^ body >> 36) * 0x9e3779b1u ^ (__u32)line;
	return 1;
}

/*
 * Leaves out what was taken of a run. The frame of a method that C calls is pushed before it is
 * marked, so the innermost ones may be such.
 */
static __always_inline int ruby_drop(struct runtime_state *r, struct ruby_runs *runs)
{
	r->nframes = r->from;
	if (runs->nends || r->torn)
		return 0;
	r->torn++;
	r->frame += r->process.ruby.frame_size;
	runs->first = r->frame;
	return 1;
}

/* One control frame; 1: there may be more. */
__attribute__((noinline)) int ruby_step(void)
{
	struct runtime_state *r = runtime_state();
	const struct ruby_layout *l;
	struct ruby_runs *runs;
	__u64 place;
	int kind = ruby_look();
	__u32 n;

	if (!r || !kind)
		return 0;
	l = &r->process.ruby;
	runs = ruby_runs(r);
	if (kind == 2) {
		if (r->from < r->nframes)
			return ruby_drop(r, runs);
		r->frame += l->frame_size;
		return 1;
	}
	if (!ruby_take_iseq())
		return ruby_drop(r, runs);
	place = (window_word(r, r->frame) - runs->code) >> 3;
	if (place > runs->words)
		place = RUBY_NO_PLACE;
	language_add(r, r->code, place, r->check);
	r->frame += l->frame_size;
	if (!(runs->flags & RUBY_FRAME_FINISH))
		return 1;
	n = runs->nends++;
	if (!n)
		runs->second = r->frame;
	if (n < RUBY_RUNS) {
		STEP_BARRIER(n);
		runs->ends[n & (RUBY_RUNS - 1)] = r->nframes - 1;
	}
	if (r->from < r->nframes)
		runs->cut = r->cut;
	r->from = r->nframes;
	return 1;
}

__attribute__((noinline)) int ruby_some_steps(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!ruby_step())
			return 0;
	return 1;
}

__attribute__((noinline)) int ruby_more_steps(void)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!ruby_some_steps())
			return 0;
	return 1;
}

/* Takes the frames from a control frame on. */
__attribute__((noinline)) int ruby_take_frames(__u64 first)
{
	struct runtime_state *r = runtime_state();
	struct ruby_runs *runs;
	int i;

	if (!r)
		return 0;
	runs = ruby_runs(r);
	r->frame = runs->first = first;
	r->nframes = r->from = r->cut = runs->nends = runs->cut = 0;
	for (i = 0; i < RUBY_CONTROL_FRAMES / 512; i++)
		if (!ruby_more_steps())
			break;
	return 0;
}

/* Reads the context of the thread in the object; 0: it is none. */
static __always_inline int ruby_context(struct runtime_state *r)
{
	const struct ruby_layout *l = &r->process.ruby;
	__u64 ec = object_word(r, l->thread_ec), cfp;

	if (object_read(r, ec, l->ec_size) || object_word(r, l->ec_thread) != r->thread)
		return 0;
	r->top = object_word(r, 0);
	r->limit = r->top + 8 * object_word(r, 8);
	r->above = object_word(r, l->ec_tag);
	cfp = object_word(r, l->ec_cfp);
	if (cfp & 7 || cfp < r->top || cfp >= r->limit)
		return 0;
	r->frame = cfp;
	return 1;
}

/*
 * Places a run: the record of the vm_exec is at that address. Those behind the one that is cut have
 * no frames. 0: it is beyond the native frames.
 */
__attribute__((noinline)) int ruby_place(__u32 run, __u32 tag)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	struct ruby_runs *runs;
	__u32 end, last;
	__u64 addr;

	if (!st || !r || run >= RUBY_RUNS || tag >= RUBY_RUNS)
		return 0;
	runs = ruby_runs(r);
	STEP_BARRIER(run);
	STEP_BARRIER(tag);
	end = runs->ends[run & (RUBY_RUNS - 1)];
	addr = runs->tags[tag & (RUBY_RUNS - 1)];
	last = st->walk.nframes - 1;
	STEP_BARRIER(last);
	if (addr >= st->walk.sps[last & (WALK_FRAMES_MAX - 1)])
		return 0;
	r->nframes = end + 1;
	r->cut = r->nframes == LANGUAGE_FRAMES_MAX ? runs->cut : 0;
	runtime_place(addr);
	return 1;
}

__attribute__((noinline)) int ruby_place_some(__u32 run, __u32 tag)
{
	struct runtime_state *r = runtime_state();
	__u32 i, n;

	if (!r)
		return 0;
	n = ruby_runs(r)->nends;
	for (i = 0; i < 32; i++)
		if (run + i >= n || !ruby_place(run + i, tag + i))
			return 0;
	return 1;
}

/* Places the runs. The innermost records may be of calls whose run has ended. */
__attribute__((noinline)) int ruby_place_runs(__u32 skip)
{
	struct runtime_state *r = runtime_state();
	__u32 n, i, all;

	if (!r)
		return 0;
	all = r->nframes;
	r->from = r->native = 0;
	for (i = 0; i < RUBY_RUNS / 32; i++)
		if (!ruby_place_some(32 * i, 32 * i + skip))
			break;
	r->nframes = all;
	if (r->from >= all)
		return 0;
	/* The walk ended before. */
	r->lost += all - r->from;
	n = all - 1;
	STEP_BARRIER(n);
	if (n < LANGUAGE_FRAMES_MAX)
		r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = LANGUAGE_NOWHERE;
	return 0;
}

/* Finds the frames of the current thread. */
__attribute__((noinline)) int ruby_walk(int complete)
{
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	struct ruby_runs *runs;
	int i, skip;

	if (!r || !s)
		return 0;
	if (!ruby_find_thread() || !ruby_context(r)) {
		s->stateless++;
		return 0;
	}
	runs = ruby_runs(r);
	runs->ntags = 0;
	r->outer = r->process.ruby.jump == RUBY_JUMP_MANGLED ? runtime_word(r->pointer + RUBY_GUARD)
							     : 0;
	for (i = 0; i < 64; i++)
		if (!ruby_some_tags())
			break;
	ruby_take_frames(r->frame);
	if (runs->nends == runs->ntags + 1) /* the innermost has not begun */
		ruby_take_frames(runs->second);
	skip = runs->ntags - runs->nends;
	if (r->from < r->nframes)
		r->nframes = 0; /* the outermost run has no end */
	else if (skip != 0 && skip != 1)
		r->lost = r->nframes;
	else
		ruby_place_runs(skip);
	/* Another coroutine's, while it is switched to. */
	if (complete && r->lost == r->nframes)
		r->nframes = 0;
	s->walks++;
	s->frames += r->nframes;
	s->torn += r->torn != 0;
	s->placed += !r->lost;
	return 0;
}

/* --- functions ------------------------------------------------------------------------------- */

/* Sends the function of a frame, that of the control frame that was looked at. 0: it was sent, or
 * cannot be read. */
__attribute__((noinline)) int ruby_send_method(__u32 n)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	const struct ruby_layout *l;
	struct ruby_runs *runs;
	struct method_record *m;
	__u64 body, owner;

	if (!st || !r || !s)
		return 0;
	l = &r->process.ruby;
	m = &r->method;
	runs = ruby_runs(r);
	STEP_BARRIER(n);
	method_begin(st, m, &r->frames[n & (LANGUAGE_FRAMES_MAX - 1)], RUNTIME_RUBY);
	m->version = l->version;
	owner = l->class_path ? ruby_owner(r, runs->ep) : 0;
	if (owner)
		ruby_scope(owner);
	body = runtime_word(m->code + l->iseq_body);
	if (object_read(r, body, l->body_size))
		return 0;
	m->first = object_int(r, l->body_line) >> l->line_shift;
	ruby_name(r);
	ruby_text(r, METHOD_FILE, ruby_path(object_word(r, l->body_path)));
	ruby_read_lines();
	if (method_send(r))
		return -1;
	s->methods++;
	sample_mark_seen(m->hash);
	return 0;
}

/* Sends the function of the control frame r->frame, if it is of Ruby and was not sent yet. */
__attribute__((noinline)) int ruby_send_step(void)
{
	struct runtime_state *r = runtime_state();
	int n, kind;

	if (!r)
		return 0;
	kind = ruby_look();
	if (kind == 1) {
		n = runtime_unsent();
		if (n < 0)
			return 0;
		if (n < (int)LANGUAGE_FRAMES_MAX && ruby_send_method(n)) {
			r->full = 1;
			return 0;
		}
		r->next++;
	}
	r->frame += r->process.ruby.frame_size;
	return kind != 0;
}

__attribute__((noinline)) int ruby_send_some(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!ruby_send_step())
			return 0;
	return 1;
}

__attribute__((noinline)) int ruby_send_more(void)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!ruby_send_some())
			return 0;
	return 1;
}

/* Sends what user space needs to name the stack, if that is new. */
__attribute__((noinline)) int ruby_send(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	int i;

	if (!st || !r || language_is_sent(st, r))
		return 0;
	r->frame = ruby_runs(r)->first;
	for (i = 0; i < RUBY_CONTROL_FRAMES / 512; i++)
		if (!ruby_send_more())
			break;
	if (!r->full)
		r->full = language_send(st, r, RUNTIME_RUBY) != 0;
	return 0;
}

RUNTIME_PROGRAM(ruby, ruby_walk(walk_is_complete(st->reason)))

#endif
