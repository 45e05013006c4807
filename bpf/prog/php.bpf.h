/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_PHP_BPF_H
#define STACKTOP_BPF_PROG_PHP_BPF_H

/*
 * The frames of PHP 8 without threads (docs/design/runtimes.md). executor_globals leads to the
 * innermost frame, each frame to its caller. One call of execute_ex runs several frames, down to
 * one with PHP_CALL_TOP. That frame has the address where the value goes that it returns: mostly
 * a local variable of the C function that called execute_ex. So the frames are those of the native
 * frame of execute_ex that is next to this variable, on the leaf's side. Where the value goes
 * elsewhere (generators, __get), the placeholder may be such a variable that PHP puts before some
 * calls; else as many runs as there are native frames between two proven ones belong to these.
 *
 * Functions written in C are left out: they are native frames.
 *
 * Code that opcache has compiled runs in the native frame of the execute_ex that has jumped to it,
 * and its native frames are not proven. A stack with such code outside of the innermost frame has
 * native frames only. The innermost one may be that of a regular expression, and is not counted:
 * then a run that it has fits nowhere.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime_place.bpf.h"
#include "bpf/prog/runtime_send.bpf.h"

#define PHP_OUTERMOST	1ull /* an address in no frame */
#define PHP_START_BYTES 4096u
#define PHP_DELEGATIONS 256u
#define FILELESS_TURN	64u /* native frames that one call looks at */

/* --- places ---------------------------------------------------------------------------------- */

/* Is it on the part of the stack that is not done yet? */
static __always_inline int php_is_on_stack(const struct cpu_state *st,
					   const struct runtime_state *r, __u64 addr)
{
	__u32 last = st->walk.nframes - 1;

	STEP_BARRIER(last);
	return addr >= st->walk.sps[r->proven & (WALK_FRAMES_MAX - 1)] &&
	       addr < st->walk.sps[last & (WALK_FRAMES_MAX - 1)];
}

/*
 * Gives the frames since the last call, a run, their place; addr: a variable of who called
 * execute_ex, or PHP_OUTERMOST: it is the first call, or 0. Behind r->proven, pending runs have
 * been given the next native frames.
 */
__attribute__((noinline)) int php_place(__u64 addr)
{
	struct runtime_state *r = runtime_state();
	__u32 n;
	__u64 at = LANGUAGE_NOWHERE;

	if (!r || r->run == r->nframes)
		return 0;
	if (!addr) {
		runtime_search(0, 1);
		at = r->record;
		r->pending++;
	} else {
		r->native = r->proven;
		if (runtime_search(addr, 0) || addr == PHP_OUTERMOST) {
			at = r->record;
			if (r->pending && r->words != r->pending + 1)
				runtime_forget_places();
			r->proven = r->native;
			r->from = r->nframes;
			r->pending = 0;
		}
	}
	n = r->nframes - 1;
	STEP_BARRIER(n);
	r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = at;
	r->lost += at == LANGUAGE_NOWHERE;
	r->run = r->nframes;
	return 0;
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Reads a function; its type, 0: it is none. */
__attribute__((noinline)) int php_take_function(__u64 addr)
{
	struct runtime_state *r = runtime_state();
	const struct php_layout *l;
	__u64 name, scope, hash;
	int type;

	if (!r)
		return 0;
	l = &r->process.php;
	if (r->code == addr)
		return r->object[PHP_FUNCTION_TYPE];
	r->code = 0;
	if (object_read(r, addr, l->function_size)) {
		/* One written in C is smaller. */
		type = (__u8)runtime_word(addr);
		return type == PHP_INTERNAL ? type : 0;
	}
	r->code = addr;
	type = r->object[PHP_FUNCTION_TYPE];
	if (type != PHP_USER && type != PHP_EVAL)
		return type == PHP_INTERNAL ? type : 0;
	name = object_word(r, PHP_FUNCTION_NAME);
	scope = object_word(r, PHP_FUNCTION_SCOPE);
	if (!name)
		name = object_word(r, l->function_file);
	hash = runtime_word(name + PHP_STRING_HASH);
	r->check = (__u32)(hash ^ hash >> 32 ^ scope >> 4) * 0x9e3779b1u ^
		   object_int(r, l->function_start);
	return type;
}

/* The line of the instruction, if it is one of the function in the object; 0: it is none. */
static __always_inline __u32 php_line(const struct runtime_state *r, __u64 oplines)
{
	const struct php_layout *l = &r->process.php;
	__u64 at = oplines - object_word(r, l->function_opcodes);
	__u32 line = 0;

	if (at >= (__u64)PHP_OP_SIZE * object_int(r, l->function_last))
		return 0;
	bpf_probe_read_user(&line, sizeof(line), (const void *)(oplines + PHP_OP_LINE));
	return line;
}

/* Adds a frame that runs the function in the object; 0: there is no room. */
__attribute__((noinline)) int php_add(__u64 opline)
{
	struct runtime_state *r = runtime_state();
	const struct php_layout *l;
	__u32 n;

	if (!r)
		return 0;
	l = &r->process.php;
	n = r->nframes;
	/* Closures and traits copy the function, not its instructions. */
	if (n >= LANGUAGE_FRAMES_MAX)
		return 0;
	language_add(r, object_word(r, l->function_opcodes), php_line(r, opline), (__u32)r->check);
	STEP_BARRIER(n);
	r->functions[n & (LANGUAGE_FRAMES_MAX - 1)] = r->code;
	return 1;
}

/*
 * The generator whose next frame, back, is a placeholder for it and for others that wait in a
 * yield from, each for its parent; 0: it is none.
 */
__attribute__((noinline)) __u64 php_generator(__u64 back)
{
	struct runtime_state *r = runtime_state();
	__u64 generator;

	if (!r || r->process.php.version < PHP_GENERATORS)
		return 0;
	generator = runtime_word(back + PHP_FRAME_THIS);
	return generator + PHP_GENERATOR_FAKE == back ? generator : 0;
}

/* Does the placeholder stand for frames that are not known? One on the native stack is C's. */
static __always_inline int php_is_hidden(const struct cpu_state *st, const struct runtime_state *r,
					 __u64 back)
{
	__u64 function = 1;

	return !php_is_on_stack(st, r, back) &&
	       !bpf_probe_read_user(&function, sizeof(function),
				    (const void *)(back + PHP_FRAME_FUNCTION)) &&
	       !function;
}

__attribute__((noinline)) int php_turn_some(__u32 low, __u32 high)
{
	struct runtime_state *r = runtime_state();
	struct language_frame frame;
	__u64 function;
	__u32 i;

	if (!r)
		return 0;
	for (i = 0; i < SEARCH_TURN; i++) {
		if (low >= high)
			return 0;
		STEP_BARRIER(low);
		STEP_BARRIER(high);
		frame = r->frames[low & (LANGUAGE_FRAMES_MAX - 1)];
		r->frames[low & (LANGUAGE_FRAMES_MAX - 1)] =
			r->frames[high & (LANGUAGE_FRAMES_MAX - 1)];
		r->frames[high & (LANGUAGE_FRAMES_MAX - 1)] = frame;
		function = r->functions[low & (LANGUAGE_FRAMES_MAX - 1)];
		r->functions[low & (LANGUAGE_FRAMES_MAX - 1)] =
			r->functions[high & (LANGUAGE_FRAMES_MAX - 1)];
		r->functions[high & (LANGUAGE_FRAMES_MAX - 1)] = function;
		low++;
		high--;
	}
	return 1;
}

/* The generators were found from the outermost one on. */
static __always_inline void php_end_generators(struct runtime_state *r)
{
	__u32 i, n = r->nframes;

	for (i = 0; i < PHP_DELEGATIONS / 2 / SEARCH_TURN; i++)
		if (!php_turn_some(r->inner + i * SEARCH_TURN, n - 1 - i * SEARCH_TURN))
			break;
	r->outer = 0;
	php_place(r->above);
}

/* Adds the generator r->outer, up to the one that runs, which has its frame: r->thread. */
__attribute__((noinline)) int php_generator_step(void)
{
	struct runtime_state *r = runtime_state();
	__u64 parent, frame;

	if (!r)
		return 0;
	if (r->outer == r->thread) {
		php_end_generators(r);
		return 1;
	}
	parent = runtime_word(r->outer + PHP_GENERATOR_PARENT);
	frame = runtime_word(r->outer + PHP_GENERATOR_FRAME);
	if (!parent || r->nframes - r->inner >= PHP_DELEGATIONS ||
	    php_take_function(runtime_word(frame + PHP_FRAME_FUNCTION)) != PHP_USER ||
	    !php_add(runtime_word(frame + PHP_FRAME_OPLINE))) {
		r->torn++;
		return 0;
	}
	r->outer = parent;
	return 1;
}

/*
 * What php_place needs to know of the run that ends with this frame. The outermost one is that of
 * the outermost native frame of execute_ex if the walk has come to the beginning of the process: a
 * fiber has a stack of its own, though the frames go on. A generator may have no caller because
 * that is about to be set.
 */
static __always_inline __u64 php_variable(const struct cpu_state *st, const struct runtime_state *r,
					  __u64 result, __u64 back, __u32 info)
{
	__u32 last = st->walk.nframes - 1;

	if (php_is_on_stack(st, r, result))
		return result;
	if (php_is_on_stack(st, r, back))
		return back;
	STEP_BARRIER(last);
	if (!back && !(info & PHP_CALL_GENERATOR) && walk_is_complete(st->reason) &&
	    st->walk.start_stack - st->walk.sps[last & (WALK_FRAMES_MAX - 1)] < PHP_START_BYTES)
		return PHP_OUTERMOST;
	return 0;
}

/*
 * The outermost frame of a fiber runs a function without a name. The frames outside of it are on
 * another native stack; those inside have all native frames of this one if they are as many, and
 * this is the stack of the fiber: while PHP goes from one to the other they differ. r->thread is
 * where its function returns to.
 */
__attribute__((noinline)) int php_end_fiber(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 version;
	__u64 stack;

	if (!st || !r)
		return 0;
	version = r->process.php.version;
	if (version < PHP_GENERATORS || !walk_is_complete(st->reason))
		return 0;
	stack = runtime_word(r->thread - PHP_FIBER_RESULT(version) + PHP_FIBER_STACK);
	if (st->walk.sps[0] - runtime_word(stack) >= runtime_word(stack + 8))
		return 0;
	r->native = r->proven;
	runtime_search(0, 0);
	if (r->words == r->pending)
		r->from = r->nframes;
	return 0;
}

/* One frame; 1: there may be more. */
__attribute__((noinline)) int php_step(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 addr, function, back, opline, result, variable;
	__u32 info;
	int type;

	if (!st || !r)
		return 0;
	addr = r->frame;
	if (!addr)
		return 0;
	if (addr & 7 || window_hold(r, addr, PHP_FRAME_SIZE)) {
		r->torn++;
		return 0;
	}
	back = window_word(r, addr + PHP_FRAME_BACK);
	function = window_word(r, addr + PHP_FRAME_FUNCTION);
	r->frame = back;
	if (!function) /* a placeholder */
		return 1;
	type = php_take_function(function);
	if (!type) {
		r->torn++;
		return 0;
	}
	if (type == PHP_INTERNAL) {
		if (r->code != function || object_word(r, PHP_FUNCTION_NAME))
			return 1;
		php_end_fiber();
		return 0;
	}
	opline = window_word(r, addr + PHP_FRAME_OPLINE);
	if (regs_php_frame(&st->regs) == addr && php_line(r, regs_php_opline(&st->regs)))
		opline = regs_php_opline(&st->regs);
	if (!php_add(opline))
		return 0;
	info = window_word(r, addr + PHP_FRAME_INFO);
	if (!(info & PHP_CALL_TOP))
		return 1;
	result = window_word(r, addr + PHP_FRAME_RETURN);
	variable = php_variable(st, r, result, back, info);
	if (info & PHP_CALL_GENERATOR) {
		r->outer = php_generator(back);
		if (!r->outer && php_is_hidden(st, r, back)) {
			r->torn++;
			return 0;
		}
	}
	r->above = variable;
	r->thread = result;
	r->inner = r->nframes;
	if (!r->outer)
		php_place(variable);
	return 1;
}

__attribute__((noinline)) int php_some_steps(void)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	for (i = 0; i < 8; i++)
		if (!(r->outer ? php_generator_step() : php_step()))
			return 0;
	return 1;
}

__attribute__((noinline)) int php_more_steps(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!php_some_steps())
			return 0;
	return 1;
}

/*
 * Does any of FILELESS_TURN native frames, beginning with number first, lie outside of all files?
 * The outermost frame does not count.
 */
__attribute__((noinline)) int php_fileless_some(__u32 first)
{
	const struct cpu_state *st = this_state();
	__u32 i, at = first;

	if (!st)
		return 0;
	for (i = 0; i < FILELESS_TURN; i++) {
		if (at + 1 >= st->walk.nframes)
			return 0;
		STEP_BARRIER(at);
		if (FRAME_IS_ADDRESS(st->walk.frames[at & (WALK_FRAMES_MAX - 1)] & ~FRAME_EXACT))
			return 1;
		at++;
	}
	return 0;
}

/* Has the stack code that opcache may have compiled, other than the innermost frame? */
static __always_inline int php_is_compiled(void)
{
	__u32 i;

	for (i = 0; i < WALK_FRAMES_MAX / FILELESS_TURN; i++)
		if (php_fileless_some(1 + i * FILELESS_TURN))
			return 1;
	return 0;
}

/* Finds the frames, if the thread runs any. */
static __always_inline void php_walk(struct runtime_state *r)
{
	struct runtime_stats *s = runtime_stats();
	int i;

	if (!s)
		return;
	r->pending = r->run = r->proven = r->inner = 0;
	r->outer = 0;
	runtime_search(0, 1);
	r->native = 0;
	if (!r->words || php_is_compiled()) {
		s->stateless++;
		return;
	}
	r->frame = runtime_word(r->process.at + r->process.php.globals_current);
	/* Functions in C and placeholders count as frames here. */
	for (i = 0; i < (int)(2 * LANGUAGE_FRAMES_MAX / 256); i++)
		if (!php_more_steps())
			break;
	r->lost += r->nframes - r->run;
	r->nframes = r->run;
	runtime_forget_places();
	s->walks++;
	s->frames += r->nframes;
	s->torn += r->torn != 0;
	s->placed += !r->lost;
}

/* --- functions ------------------------------------------------------------------------------- */

static __always_inline __u32 php_text(__u8 *to, __u64 string)
{
	__u64 length = string ? runtime_word(string + PHP_STRING_LENGTH) : 0;

	if (length > METHOD_TEXT)
		length = METHOD_TEXT;
	return length ? method_text(to, string + PHP_STRING_TEXT, length, length) : 0;
}

/* As PHP's own backtraces name what is no function. */
static __always_inline __u32 php_code_name(__u8 *to, int type, int top)
{
	if (type == PHP_EVAL)
		return method_word(to, 0x6c617665, 4); /* eval */
	if (top)
		return method_word(to, 0x7d6e69616d7b, 6); /* {main} */
	return method_word(to, 0x6564756c636e69, 7);	   /* include */
}

/* Sends the function of a frame. 0: it was sent, or cannot be read. */
__attribute__((noinline)) int php_send_method(__u32 n)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	const struct php_layout *l;
	const struct language_frame *f;
	struct method_record *m;
	__u64 name, scope;

	if (!st || !r || !s)
		return 0;
	l = &r->process.php;
	m = &r->method;
	STEP_BARRIER(n);
	f = &r->frames[n & (LANGUAGE_FRAMES_MAX - 1)];
	method_begin(st, m, f, RUNTIME_PHP);
	m->version = l->version;
	if (object_read(r, r->functions[n & (LANGUAGE_FRAMES_MAX - 1)], l->function_size))
		return 0;
	m->first = object_int(r, l->function_start);
	m->text_size[METHOD_FILE] =
		php_text(m->text[METHOD_FILE], object_word(r, l->function_file));
	name = object_word(r, PHP_FUNCTION_NAME);
	scope = object_word(r, PHP_FUNCTION_SCOPE);
	if (name && scope)
		m->text_size[METHOD_SCOPE] =
			php_text(m->text[METHOD_SCOPE], runtime_word(scope + PHP_CLASS_NAME));
	if (name)
		m->text_size[METHOD_NAME] = php_text(m->text[METHOD_NAME], name);
	else
		m->text_size[METHOD_NAME] = php_code_name(
			m->text[METHOD_NAME], r->object[PHP_FUNCTION_TYPE], f->at != LANGUAGE_SAME);
	if (method_send(r))
		return -1;
	s->methods++;
	sample_mark_seen(m->hash);
	return 0;
}

RUNTIME_SENDER(php, RUNTIME_PHP)

RUNTIME_PROGRAM(php, php_walk(r))

#endif
