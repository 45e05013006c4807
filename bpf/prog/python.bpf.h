/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_PYTHON_BPF_H
#define STACKTOP_BPF_PROG_PYTHON_BPF_H

/*
 * The frames of CPython 3.8 to 3.14 (docs/design/runtimes.md). A thread's state leads to its
 * current frame, each frame to its caller. From 3.11 on one call of the eval function runs several
 * frames; a record of it is among its own local variables, whose address says which native frame
 * that is: the shim frame that ends the run (3.12 on) or the _PyCFrame (3.11).
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime_place.bpf.h"
#include "bpf/prog/runtime_send.bpf.h"

#define PYTHON_MINOR(l)	    ((l)->version >> 16 & 0xff)
#define OWNED_BY_THREAD	    0
#define OWNED_BY_CSTACK	    3 /* or another one that is not of Python */
#define PYTHON_NOT_STARTED  0xffffffffu
#define PYTHON_TAGS	    3ull       /* of a reference; 3.14 */
#define PYTHON_CODE_BYTES   (1u << 24) /* no function has more */
#define PYTHON_INTERPRETERS 16
/* From co_firstlineno to co_version, from 3.12 on: no two code objects have the same. */
#define PYTHON_CODE_VERSION  24
#define PYTHON_SPECIALS_3_11 9 /* words of a frame before its locals */

/* Reads a thread's state into the object. 1: it is that of this thread; -1: there is none. */
__attribute__((noinline)) int python_take(__u64 addr)
{
	struct runtime_state *r = runtime_state();
	const struct python_layout *l;

	if (!r || !addr)
		return -1;
	l = &r->process.python;
	r->thread = addr;
	if (object_read(r, addr, l->tstate_size))
		return -1;
	return is_thread_of(r->pointer, object_word(r, l->tstate_thread));
}

static __always_inline int python_is_active(const struct runtime_state *r)
{
	const struct python_layout *l = &r->process.python;

	return l->tstate_status && object_int(r, l->tstate_status) & PYTHON_ACTIVE;
}

/* What a state that is searched for has to be. */
enum python_wanted { PYTHON_ANY, PYTHON_HOLDS, PYTHON_RUNS };

/* Is the state in the object such a one? It holds the GIL, or has a frame. */
static __always_inline int python_is(const struct runtime_state *r, int wanted)
{
	const struct python_layout *l = &r->process.python;
	__u64 frame;

	if (wanted == PYTHON_HOLDS)
		return python_is_active(r);
	if (wanted == PYTHON_ANY)
		return 1;
	if (l->tstate_cframe)
		frame = runtime_word(object_word(r, l->tstate_cframe) + l->tstate_frame);
	else
		frame = object_word(r, l->tstate_frame);
	return frame != 0;
}

/* The state at r->frame: 0: found, or it is none (r->frame is 0). 1: r->frame is the next one. */
__attribute__((noinline)) int python_list_step(int wanted)
{
	struct runtime_state *r = runtime_state();
	int taken;

	if (!r)
		return 0;
	if (!r->budget) {
		r->frame = 0;
		return 0;
	}
	r->budget--;
	taken = python_take(r->frame);
	if (taken > 0 && python_is(r, wanted))
		return 0;
	r->frame = taken < 0 ? 0 : object_word(r, r->process.python.tstate_next);
	return r->frame != 0;
}

__attribute__((noinline)) int python_list_some(int wanted)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!python_list_step(wanted))
			return 0;
	return 1;
}

/* The thread's state among those of an interpreter; 1: found. */
__attribute__((noinline)) int python_list(int wanted)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	r->frame = runtime_word(r->record + r->process.python.interp_threads);
	for (i = 0; i < 32; i++)
		if (!python_list_some(wanted))
			break;
	return i < 32 && r->frame;
}

/* The same among those of all interpreters. */
__attribute__((noinline)) int python_search(int wanted)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	r->record = runtime_word(r->process.at + r->process.python.runtime_interps);
	for (i = 0; i < PYTHON_INTERPRETERS; i++) {
		if (!r->record || !r->budget)
			return 0;
		if (python_list(wanted))
			return 1;
		r->record = runtime_word(r->record + r->process.python.interp_next);
	}
	return 0;
}

/* Is there more than one interpreter? */
static __always_inline int python_has_several(const struct runtime_state *r)
{
	const struct python_layout *l = &r->process.python;
	__u64 first = runtime_word(r->process.at + l->runtime_interps);

	return first && runtime_word(first + l->interp_next);
}

/*
 * Finds the thread's state, and reads it into the object; 0: it has none. Up to 3.11 the runtime
 * says which one holds the GIL. A thread may have several, one for each interpreter.
 */
__attribute__((noinline)) int python_find_thread(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	const __u64 *known;
	__u64 id, addr;

	if (!st || !r)
		return 0;
	if (r->process.python.runtime_current) {
		r->lock = LANGUAGE_HOLDS;
		addr = runtime_word(r->process.at + r->process.python.runtime_current);
		if (python_take(addr) > 0)
			return 1;
		r->lock = LANGUAGE_RELEASED;
	}
	id = runtime_thread(st);
	known = bpf_map_lookup_elem(&runtime_threads, &id);
	addr = known ? *known : 0;
	if (python_take(addr) <= 0) {
		if (!python_search(PYTHON_ANY))
			return 0;
		addr = r->thread;
		bpf_map_update_elem(&runtime_threads, &id, &addr, BPF_ANY);
	}
	if (!r->process.python.tstate_status)
		return 1;
	if (!python_is_active(r) && python_has_several(r) && !python_search(PYTHON_HOLDS))
		python_take(addr);
	r->lock = python_is_active(r) ? LANGUAGE_HOLDS : LANGUAGE_RELEASED;
	return 1;
}

/* Begins with the frames of an interpreter's call, by its record. */
__attribute__((noinline)) int python_begin(__u64 record)
{
	struct runtime_state *r = runtime_state();
	const struct python_layout *l;

	if (!r)
		return 0;
	l = &r->process.python;
	r->record = record;
	r->run = r->nframes;
	r->above = r->outer = r->outer_record = r->frame = 0;
	if (object_read(r, record, 24))
		return 0;
	r->frame = object_word(r, l->tstate_frame);
	r->outer_record = object_word(r, l->cframe_previous);
	if (r->outer_record)
		r->outer = runtime_word(r->outer_record + l->tstate_frame);
	return r->frame != 0;
}

/* Finds the current frame from the thread's state in the object. */
static __always_inline void python_first_frame(struct runtime_state *r)
{
	const struct python_layout *l = &r->process.python;

	r->top = r->limit = r->outer = r->outer_record = r->record = 0;
	if (!l->tstate_cframe) {
		r->frame = object_word(r, l->tstate_frame);
		return;
	}
	r->top = object_word(r, l->tstate_top);
	r->limit = object_word(r, l->tstate_limit);
	python_begin(object_word(r, l->tstate_cframe));
}

/* How far below its end a native frame has the record; 0: none has it. */
static __always_inline __u64 python_record_at(const struct cpu_state *st, struct runtime_state *r,
					      __u64 record)
{
	__u32 at;

	r->native = 0;
	if (!runtime_search(record, 0))
		return 0;
	at = r->native + 1;
	STEP_BARRIER(at);
	return st->walk.sps[at & (WALK_FRAMES_MAX - 1)] - record;
}

/*
 * 3.11 and 3.12: the frames of the thread's state have ended, but the stack goes on: a greenlet
 * stands on that which has started it, an interpreter on another one. Each call has its record as
 * far below its end as the innermost one. 0: there is no further call, or it is not understood.
 */
__attribute__((noinline)) int python_next_stack(__u64 innermost)
{
	const struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 native, at;
	__u64 below;

	if (!st || !r || r->frame || r->torn || r->lost || r->from < r->nframes)
		return 0;
	native = r->native;
	below = python_record_at(st, r, innermost);
	r->native = native;
	if (!below)
		return 0;
	runtime_search(0, 1);
	at = r->record;
	if (at == LANGUAGE_NOWHERE)
		return 0;
	r->native = at++;
	STEP_BARRIER(at);
	return python_begin(st->walk.sps[at & (WALK_FRAMES_MAX - 1)] - below);
}

/*
 * Leaves out the frames of the run that was not finished. Between two instructions of the eval
 * function the innermost record has no frame yet; then the walk goes on with the record before.
 * 0: there is none.
 */
static __always_inline int python_drop_run(struct runtime_state *r)
{
	r->torn++;
	r->lost += r->nframes - r->from + 1;
	r->nframes = r->from;
	r->above = 0;
	if (r->from || !r->outer_record || r->torn > 1)
		return 0;
	r->record = r->outer_record;
	r->frame = r->outer;
	return 1;
}

/*
 * What tells a module from others that are called so and begin at the same line, up to 3.11: the
 * end of its file's name. That alone would not do, since strings get the memory of earlier ones.
 */
static __always_inline __u32 python_module(const struct python_layout *l, __u64 file)
{
	__u64 length = runtime_word(file + l->text_length), end;

	if (!length)
		return 0;
	if (length < sizeof(end))
		end = runtime_word(file + l->text_ascii) << (64 - 8 * length);
	else
		end = runtime_word(file + l->text_ascii + length - sizeof(end));
	return length ^ end ^ end >> 32;
}

/* The code object of a frame, whose words until the next frame are at most so many; 0: it is none.
 */
__attribute__((noinline)) int python_take_code(__u64 code)
{
	struct runtime_state *r = runtime_state();
	const struct python_layout *l;
	__u64 texts, file;
	__u32 first, version = 0;

	if (!r)
		return 0;
	if (r->code == code)
		return 1;
	l = &r->process.python;
	r->code = 0;
	if (object_read(r, code, l->code_head) || object_word(r, l->object_type) != r->process.type)
		return 0;
	file = object_word(r, l->code_filename);
	texts = object_word(r, l->code_name) + 3 * file;
	first = object_int(r, l->code_firstlineno);
	r->words = 0;
	if (l->code_framesize) {
		r->words = object_int(r, l->code_framesize);
		version = object_int(r, l->code_firstlineno + PYTHON_CODE_VERSION);
	} else if (l->code_nlocalsplus) {
		r->words = object_int(r, l->code_nlocalsplus) + object_int(r, l->code_stacksize) +
			   PYTHON_SPECIALS_3_11;
	}
	if (!l->code_framesize && first <= 1)
		version = python_module(l, file);
	r->code = code;
	r->check =
		((__u32)(texts >> 4 ^ texts >> 36) ^ version * 0x85ebca6bu) * 0x9e3779b1u ^ first;
	return 1;
}

/*
 * The frame ends a run: gives it its place. 0: it does not fit the frames outside, or two stacks
 * end with it: the record of a call that is about to begin still has a frame of the stack outside.
 */
static __always_inline int python_end_run(struct runtime_state *r, __u64 record, __u64 addr,
					  __u64 back)
{
	if (r->from == r->run && r->outer_record && !r->torn && back != r->outer)
		return 0;
	if (!back) {
		if (addr == r->outermost)
			return 0;
		r->outermost = addr;
	}
	runtime_place(record);
	r->above = 0;
	return 1;
}

/* One frame from 3.11 on; 1: there may be more. */
__attribute__((noinline)) int python_step(void)
{
	struct runtime_state *r = runtime_state();
	const struct python_layout *l;
	__u64 addr, code, back, place;
	int owner;

	if (!r || !r->frame)
		return 0;
	l = &r->process.python;
	addr = r->frame;
	if (addr & 7 || window_hold(r, addr, l->frame_size))
		return python_drop_run(r);
	back = window_word(r, addr + l->frame_back);
	owner = window_byte(r, addr + l->frame_owner);
	if (owner >= OWNED_BY_CSTACK) {
		if (!python_end_run(r, addr, addr, back))
			return python_drop_run(r);
		r->frame = back;
		return 1;
	}
	if (owner == OWNED_BY_THREAD && !r->nframes && addr >= r->top && addr < r->limit)
		return python_drop_run(r);
	code = window_word(r, addr + l->frame_code) & ~PYTHON_TAGS;
	if (!python_take_code(code))
		return python_drop_run(r);
	if (owner == OWNED_BY_THREAD) {
		if (addr < r->above && addr + 8ull * r->words > r->above)
			return python_drop_run(r);
		r->above = r->top ? addr : 0;
	}
	place = window_word(r, addr + l->frame_instr) - code - l->code_start;
	if (place >= PYTHON_CODE_BYTES)
		place = PYTHON_NOT_STARTED;
	language_add(r, code, place, r->check);
	if (l->frame_entry && window_byte(r, addr + l->frame_entry)) {
		if (!python_end_run(r, r->record, addr, back))
			return python_drop_run(r);
		r->record = runtime_word(r->record + l->cframe_previous);
	}
	r->frame = back;
	return 1;
}

/* One frame up to 3.10. */
__attribute__((noinline)) int python_step_object(void)
{
	struct runtime_state *r = runtime_state();
	const struct python_layout *l;
	__u64 code;
	__u32 size;

	if (!r || !r->frame)
		return 0;
	l = &r->process.python;
	size = l->frame_size;
	STEP_BARRIER(size);
	size &= LANGUAGE_WINDOW - 1;
	r->window_at = r->frame;
	if (bpf_probe_read_user(r->window, size, (const void *)r->frame))
		return 0;
	code = window_word(r, r->frame + l->frame_code);
	if (!python_take_code(code)) {
		r->torn++;
		return 0;
	}
	language_add(r, code, window_word(r, r->frame + l->frame_instr), r->check);
	r->above = r->frame;
	r->frame = window_word(r, r->frame + l->frame_back);
	return 1;
}

__attribute__((noinline)) int python_some_steps(int objects)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!(objects ? python_step_object() : python_step()))
			return 0;
	return 1;
}

__attribute__((noinline)) int python_more_steps(int objects)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!python_some_steps(objects))
			return 0;
	return 1;
}

/* Some steps, also from one stack to the next; innermost: see there. 1: there may be more. */
__attribute__((noinline)) int python_turn(__u64 innermost)
{
	const struct runtime_state *r = runtime_state();

	if (!r)
		return 0;
	if (python_more_steps(PYTHON_MINOR(&r->process.python) <= 10))
		return 1;
	return r->process.python.tstate_cframe && python_next_stack(innermost);
}

/* Finds the frames of the current thread. */
__attribute__((noinline)) int python_walk(int complete)
{
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	__u64 innermost;
	int i, objects;

	if (!r || !s)
		return 0;
	if (!python_find_thread()) {
		s->stateless++;
		return 0;
	}
	objects = PYTHON_MINOR(&r->process.python) <= 10;
	/* Between two greenlets a record may lie on the part of another function. */
	r->in_eval = r->process.python.tstate_cframe && r->process.eval[0][1];
	python_first_frame(r);
	/*
	 * A state without frames may be left of an earlier call into Python, or be that of an
	 * interpreter within another one, whose frames are outside.
	 */
	if (!r->frame) {
		if (python_search(PYTHON_RUNS))
			python_first_frame(r);
		else
			r->frame = 0;
	}
	innermost = objects ? r->frame : r->record;
	/* Records of calls count as frames here. */
	for (i = 0; i < (int)(2 * LANGUAGE_FRAMES_MAX / 256); i++)
		if (!python_turn(innermost))
			break;
	if (objects && r->torn)
		r->nframes = 0;
	if (objects)
		runtime_place_by_count(complete, innermost, r->above);
	else if (r->from < r->nframes)
		r->lost += r->nframes - r->from;
	s->walks++;
	s->frames += r->nframes;
	s->torn += r->torn != 0;
	s->placed += !r->lost;
	return 0;
}

/* --- functions ------------------------------------------------------------------------------- */

static __always_inline __u32 python_text(const struct python_layout *l, __u8 *to, __u64 addr)
{
	__u64 length = runtime_word(addr + l->text_length);

	if (length > METHOD_TEXT)
		length = METHOD_TEXT;
	return method_text(to, addr, l->text_compact + 4 * length, l->text_ascii + length);
}

/* Sends the function of a frame. 0: it was sent, or cannot be read. */
__attribute__((noinline)) int python_send_method(__u32 n)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	const struct python_layout *l;
	const struct language_frame *f;
	struct method_record *m;
	__u64 table, size, name;

	if (!st || !r || !s)
		return 0;
	l = &r->process.python;
	m = &r->method;
	STEP_BARRIER(n);
	f = &r->frames[n & (LANGUAGE_FRAMES_MAX - 1)];
	method_begin(st, m, f, RUNTIME_PYTHON);
	m->version = l->version;
	m->text_layout[0] = l->text_length;
	m->text_layout[1] = l->text_state;
	m->text_layout[2] = l->text_ascii;
	m->text_layout[3] = l->text_compact;
	if (object_read(r, f->code, l->code_size))
		return 0;
	m->first = object_int(r, l->code_firstlineno);
	name = object_word(r, l->code_qualname ? l->code_qualname : l->code_name);
	m->text_size[METHOD_NAME] = python_text(l, m->text[METHOD_NAME], name);
	m->text_size[METHOD_FILE] =
		python_text(l, m->text[METHOD_FILE], object_word(r, l->code_filename));
	table = object_word(r, l->code_linetable);
	size = runtime_word(table + l->bytes_size);
	m->table_all = size;
	if (size > METHOD_TABLE)
		size = METHOD_TABLE;
	STEP_BARRIER(size);
	if (size > METHOD_TABLE ||
	    bpf_probe_read_user(r->table, size, (const void *)(table + l->bytes_data)))
		size = 0;
	m->table_size = size;
	if (method_send(r))
		return -1;
	s->methods++;
	sample_mark_seen(m->hash);
	return 0;
}

RUNTIME_SENDER(python, RUNTIME_PYTHON)

RUNTIME_PROGRAM(python, python_walk(walk_is_complete(st->reason)))

#endif
