/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_PERL_BPF_H
#define STACKTOP_BPF_PROG_PERL_BPF_H

/*
 * The frames of Perl (docs/design/runtimes.md). A thread's interpreter leads to a chain of stacks
 * of contexts; those of subs, formats and evals of a text are frames. One run loop, a native frame
 * of Perl_runops_standard, runs several, which make a run. A run ends
 * - at a sub without a place to go on: C has called it, or it is the last call of a block that ends
 *   without an operation of its own, which the context outside of it tells;
 * - at the end of a stack that has other contexts: the block of a sort;
 * - at the outermost eval of a run that was called without one: Perl runs that eval in another loop
 *   (docatch), so that die() need not leave more of the C stack.
 *
 * Where C catches exceptions it has a JMPENV on its stack and calls at most one loop: contexts of
 * evals name theirs, which proves the places of these runs. Such a loop without a run of its own
 * goes on with the run outside, after the eval that it was for. All other runs between two proofs
 * belong to all other loops there, if they are as many; else these runs have no place. Of the
 * innermost ones, one may not have its loop yet (sort between two comparisons), and a loop may have
 * ended its run.
 *
 * That the interpreter is this thread's is proven by its innermost JMPENV, which is on this native
 * stack.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime_place.bpf.h"
#include "bpf/prog/runtime_send.bpf.h"

/* struct pthread in glibc, for the first keys: a number and a value for each. */
#define PERL_KEYS     0x310u
#define PERL_KEYS_MAX 32u

#define PERL_CONTEXTS_MAX (1u << 20)
#define PERL_CODE_BYTES	  104u /* of a sub's body */

/* Loops and catches of one segment between two proofs. */
#define PERL_LOOPS_MAX 256
#define PERL_TURN      8
#define PERL_CATCHES   16

/* r->skip: of the innermost runs and loops, the first one is left out. */
enum perl_skip { PERL_SKIP_NONE, PERL_SKIP_RUN, PERL_SKIP_LOOP };

/* What has no sub: r->functions then has the name of the file. */
#define PERL_MAIN (1ull << 62)
#define PERL_EVAL (1ull << 61)

/* --- the interpreter ------------------------------------------------------------------------- */

/* Is it that of this thread? */
static __always_inline int perl_is_ours(const struct cpu_state *st, const struct runtime_state *r,
					__u64 interp)
{
	__u64 catch = runtime_word(interp + r->process.perl.interp_catch);
	__u32 last = st->walk.nframes - 1;

	STEP_BARRIER(last);
	return interp && catch >= st->walk.sps[0] &&
	       catch < st->walk.sps[last & (WALK_FRAMES_MAX - 1)];
}

static __always_inline __u64 perl_find(const struct cpu_state *st, const struct runtime_state *r)
{
	__u64 interp = r->process.type;
	__u32 key;

	if (!r->process.perl.global) {
		key = runtime_word(r->process.at);
		interp = 0;
		if (key < PERL_KEYS_MAX)
			interp = runtime_word(r->pointer + PERL_KEYS + 16 * key + 8);
		/* Where a program in C calls subs, nothing catches exceptions. */
		if (perl_is_ours(st, r, interp) ||
		    (interp && runtime_word(interp + r->process.perl.interp_catch) ==
				       interp + r->process.perl.interp_start))
			return interp;
		interp = runtime_word(r->process.type);
	}
	return perl_is_ours(st, r, interp) ? interp : 0;
}

/* --- frames ---------------------------------------------------------------------------------- */

/*
 * Advances to the next outer run loop and stores its native frame in r->record. If a JMPENV was
 * passed instead, r->base is set and r->record is the loop called under it, or LANGUAGE_NOWHERE.
 * Other loops are counted in r->plain. Returns 0 at the end of the walk, 2 if the next JMPENV is
 * catch, else 1.
 */
__attribute__((noinline)) int perl_next_loop(__u64 catch)
{
	struct runtime_state *r = runtime_state();
	__u32 at, native;

	if (!r || !r->budget)
		return 0;
	r->budget--;
	runtime_search(r->jump, 1);
	at = r->record;
	native = r->native;
	r->base = r->found;
	if (!r->found) {
		if (at == LANGUAGE_NOWHERE)
			return 0;
		runtime_search(r->jump, 1);
		r->base = r->found && !r->words;
	}
	r->record = at;
	if (!r->base) {
		r->native = native;
		r->plain++;
		return 1;
	}
	r->jump = runtime_word(r->jump);
	return catch && r->jump == catch ? 2 : 1;
}

/* The loop of a run that no JMPENV proves: r->record. */
static __always_inline void perl_pair(struct runtime_state *r)
{
	int i, loops = 1;

	if (!r->pending && !r->proven)
		r->alone = r->entries <= 1;
	r->record = LANGUAGE_NOWHERE;
	if (r->skip == PERL_SKIP_RUN) {
		r->skip = PERL_SKIP_NONE;
		return;
	}
	if (r->skip == PERL_SKIP_LOOP)
		loops = 2;
	r->skip = PERL_SKIP_NONE;
	r->pending += loops;
	for (i = 0; i < PERL_CATCHES; i++) {
		if (!perl_next_loop(0))
			break;
		loops -= !r->base;
		if (!loops)
			return;
	}
	r->record = LANGUAGE_NOWHERE;
}

/*
 * The loop of the run inside of the JMPENV after which catch is the next one: r->record. The runs
 * before keep their places if they have all loops inside of it. catch == 0: all loops of the walk.
 * n: see perl_place.
 */
__attribute__((noinline)) int perl_prove(__u64 catch, __u32 n)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u32 at;
	int i, found = 1;

	if (!st || !r)
		return 0;
	r->native = r->proven;
	r->jump = r->outer_record;
	r->plain = 0;
	/* One branch, so that the verifier sees few paths. */
	for (i = 0; i < PERL_LOOPS_MAX && found == 1; i++)
		found = perl_next_loop(catch);
	if (found == 1 || (!found && (catch || !r->budget || !walk_is_complete(st->reason)))) {
		r->budget = 0; /* nor will others be */
		r->record = LANGUAGE_NOWHERE;
		return 0;
	}
	at = r->record;
	if (r->plain != r->pending) {
		if (!r->proven && !r->alike)
			r->shift = r->plain - r->pending;
		runtime_forget_places();
	}
	r->proven = r->native;
	r->outer_record = r->jump;
	r->from = n;
	r->pending = r->alike = 0;
	r->record = at;
	return 0;
}

/*
 * The frames from r->run to n, which may be none, are a run. catch: as in perl_prove, or 0: nothing
 * proves its loop. joins: if it has no loop yet, the next run outside runs its frames.
 */
__attribute__((noinline)) int perl_place(__u32 n, __u64 catch, int joins)
{
	struct runtime_state *r = runtime_state();

	if (!r)
		return 0;
	if (catch)
		perl_prove(catch, n);
	else
		perl_pair(r);
	r->lost += r->record == LANGUAGE_NOWHERE;
	if (n > r->run && !(joins && r->record == LANGUAGE_NOWHERE)) {
		r->run = n--;
		STEP_BARRIER(n);
		r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = r->record;
	}
	return 0;
}

/* Ends a run that C has called without an eval: one inside of it has a loop of its own. */
static __always_inline void perl_end_run(struct runtime_state *r)
{
	if (r->caught)
		perl_place(r->inner, runtime_word(r->above_catch), 1);
	perl_place(r->nframes, 0, 0);
	r->caught = r->entries = 0;
}

/* Ends a run whose loop is proven by a JMPENV. */
static __always_inline void perl_end_caught(struct runtime_state *r, __u64 catch, int joins)
{
	perl_place(r->nframes, catch, joins);
	r->caught = r->entries = 0;
}

/* A word without which it is not known where the frames end. */
static __always_inline __u64 perl_word(struct runtime_state *r, __u64 addr)
{
	__u64 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (const void *)addr))
		r->torn++;
	return value;
}

static __always_inline void perl_enter_stack(struct runtime_state *r, __u64 stack)
{
	__s32 top = (__s32)perl_word(r, stack + PERL_STACK_TOP);

	r->limit = perl_word(r, stack + PERL_STACK_CONTEXTS);
	r->outer = perl_word(r, stack + PERL_STACK_BACK);
	r->entries = r->caught = 0;
	r->frame = 0;
	if (top >= 0 && top < (__s32)PERL_CONTEXTS_MAX)
		r->frame = r->limit + (__u64)top * r->process.perl.context_size;
}

/* The line of the statement r->above; 0: not known. */
static __always_inline __u32 perl_line(const struct runtime_state *r)
{
	__u32 line = 0;

	if (r->above)
		bpf_probe_read_user(&line, sizeof(line),
				    (const void *)(r->above + r->process.perl.cop_line));
	return line;
}

/* Where the characters of the file of the statement r->above are. */
static __always_inline __u64 perl_file(const struct runtime_state *r)
{
	const struct perl_layout *l = &r->process.perl;
	__u64 file = runtime_word(r->above + l->cop_file);

	if (l->global) {
		file = runtime_word(file + PERL_VALUE_BODY);
		file = runtime_word(file + l->symbol_name) + PERL_TEXT + PERL_FILE_PREFIX;
	}
	return file;
}

/* Adds a frame without a sub: that of a file or text. */
__attribute__((noinline)) int perl_add_text(__u64 kind)
{
	struct runtime_state *r = runtime_state();
	__u64 text[2] = {}, file, mix;
	__u32 n;

	if (!r)
		return 0;
	n = r->nframes;
	file = perl_file(r);
	bpf_probe_read_user_str(text, sizeof(text), (const void *)file);
	mix = text[0] ^ text[1] * 31 ^ kind;
	if (n >= LANGUAGE_FRAMES_MAX)
		return 0;
	language_add(r, file, perl_line(r), (__u32)(mix ^ mix >> 32));
	STEP_BARRIER(n);
	r->functions[n & (LANGUAGE_FRAMES_MAX - 1)] = file | kind;
	return 1;
}

/* Reads the body of a sub into the object; 0: it is none. */
__attribute__((noinline)) int perl_take_code(__u64 code)
{
	struct runtime_state *r = runtime_state();
	const struct perl_layout *l;
	__u64 head[2], mix;

	if (!r || !code)
		return 0;
	if (r->code == code)
		return 1;
	r->code = 0;
	l = &r->process.perl;
	if (bpf_probe_read_user(head, sizeof(head), (const void *)code) ||
	    (head[1] >> 32 & PERL_TYPE_MASK) != PERL_TYPE_CODE ||
	    object_read(r, head[0], PERL_CODE_BYTES))
		return 0;
	mix = object_word(r, l->code_name) ^ object_word(r, l->code_file) << 7;
	r->check = (__u32)(mix ^ mix >> 32) * 0x9e3779b1u;
	r->code = code;
	return 1;
}

/* Adds the frame of the sub in the object; 0: there is no room. */
static __always_inline int perl_add_sub(struct runtime_state *r)
{
	__u32 n = r->nframes;

	if (n >= LANGUAGE_FRAMES_MAX)
		return 0;
	language_add(r, object_word(r, r->process.perl.code_root), perl_line(r), r->check);
	STEP_BARRIER(n);
	r->functions[n & (LANGUAGE_FRAMES_MAX - 1)] = r->code;
	return 1;
}

/*
 * What is outside of a sub without a place to go on? A JMPENV: C has called it within an eval,
 * which was made under that one. 1: a block whose last operation this call is. 0: C.
 */
static __always_inline __u64 perl_caller(struct runtime_state *r, __u64 addr)
{
	const struct perl_layout *l = &r->process.perl;
	__u64 catch;
	int type;

	if (addr < r->limit || window_hold(r, addr, l->context_size))
		return 0;
	type = window_byte(r, addr) & PERL_CONTEXT_MASK;
	if (type == PERL_CONTEXT_EVAL && !window_word(r, addr + l->context_retop)) {
		catch = window_word(r, addr + l->context_catch);
		return catch != r->top ? catch : 0;
	}
	return type == PERL_CONTEXT_SORT || type == PERL_CONTEXT_DEFER ||
	       (type == PERL_CONTEXT_SUB && window_byte(r, addr) & PERL_CONTEXT_REGEX);
}

/*
 * A sub or format. The innermost one may be about to begin or to end: its context is complete
 * exactly while the sub is one deeper in its recursion.
 */
__attribute__((noinline)) int perl_step_sub(__u64 addr)
{
	struct runtime_state *r = runtime_state();
	const struct perl_layout *l;
	__u64 retop, cop, caller;
	int taken, fake;

	if (!r)
		return 0;
	l = &r->process.perl;
	retop = window_word(r, addr + l->context_retop);
	cop = window_word(r, addr + l->context_cop);
	fake = (window_byte(r, addr) & (PERL_CONTEXT_FAKE | PERL_CONTEXT_MASK)) ==
	       (PERL_CONTEXT_FAKE | PERL_CONTEXT_SUB);
	taken = !fake && perl_take_code(window_word(r, addr + l->context_code));
	if (r->first && !fake) {
		r->first = 0;
		if (!taken || object_int(r, l->code_depth) !=
				      (__u32)window_word(r, addr + l->context_depth) + 1) {
			r->above = 0;
			return 1;
		}
		if (r->above == cop) /* it has not come to its own first statement */
			r->above = 0;
	}
	if (!taken && !fake) {
		r->torn++;
		return 0;
	}
	if (taken && !perl_add_sub(r))
		return 0;
	r->first = 0;
	if (!fake)
		r->above = cop;
	r->entries++;
	if (retop)
		return 1;
	caller = perl_caller(r, addr - l->context_size);
	if (caller == 1)
		r->alike++;
	else if (caller)
		perl_end_caught(r, caller, 0);
	else
		perl_end_run(r);
	return 1;
}

/*
 * An eval. The innermost context may be one of a loop that is about to begin, in the place of an
 * eval that has ended: code that runs as an eval of a text is exactly one deep.
 */
__attribute__((noinline)) int perl_step_eval(__u64 addr)
{
	struct runtime_state *r = runtime_state();
	const struct perl_layout *l;
	__u64 code, catch, retop, cop;
	int text, own;

	if (!r)
		return 0;
	l = &r->process.perl;
	catch = window_word(r, addr + l->context_catch);
	if (r->first && catch != r->top)
		return 1;
	retop = window_word(r, addr + l->context_retop);
	cop = window_word(r, addr + l->context_cop);
	text = !(window_byte(r, addr) & PERL_CONTEXT_TRY);
	code = text ? window_word(r, addr + l->context_eval) : 0;
	if (r->first && code && (!perl_take_code(code) || object_int(r, l->code_depth) != 1)) {
		r->above = 0; /* it may be a statement of that eval */
		return 1;
	}
	r->first = 0;
	own = catch == r->top;
	r->top = catch;
	/* C has made it around its call of a sub. */
	if (!retop && !own)
		return 1;
	if (text) {
		if (code && !perl_add_text(PERL_EVAL))
			return 0;
		r->above = cop;
	}
	r->entries++;
	if (!retop) {
		/* C runs it, or it is the last operation of a block. */
		perl_end_caught(r, runtime_word(catch), 1);
		return 1;
	}
	r->caught = 1;
	r->inner = r->nframes;
	r->above_catch = catch;
	return 1;
}

/* The end of a stack; 1: there is another one. */
__attribute__((noinline)) int perl_step_stack(void)
{
	struct runtime_state *r = runtime_state();

	if (!r)
		return 0;
	if (r->outer) {
		if (r->entries)
			perl_end_run(r);
		perl_enter_stack(r, r->outer);
		return 1;
	}
	/* The program itself runs in a block. */
	if (r->entries && perl_add_text(PERL_MAIN))
		perl_end_caught(r, r->thread + r->process.perl.interp_start, 0);
	else if (r->pending)
		perl_prove(0, r->nframes);
	return 0;
}

/* One context; 1: there may be more. */
static __always_inline int perl_step(struct runtime_state *r)
{
	__u64 addr;
	int type;

	addr = r->frame;
	if (addr < r->limit || !addr)
		return perl_step_stack();
	if (window_hold(r, addr, r->process.perl.context_size)) {
		r->torn++;
		return 0;
	}
	r->frame = addr - r->process.perl.context_size;
	type = window_byte(r, addr) & PERL_CONTEXT_MASK;
	if (type == PERL_CONTEXT_SUB || type == PERL_CONTEXT_FORMAT)
		return perl_step_sub(addr);
	if (type == PERL_CONTEXT_EVAL)
		return perl_step_eval(addr);
	r->first = 0;
	r->entries++;
	if (type == PERL_CONTEXT_DEFER)
		perl_end_run(r);
	return 1;
}

/* Contexts of loops and blocks count as frames here. */
__attribute__((noinline)) int perl_some_steps(void)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	for (i = 0; i < PERL_TURN; i++)
		if (!perl_step(r))
			return 0;
	return 1;
}

static __always_inline void perl_pass(struct runtime_state *r, __u32 skip)
{
	const struct perl_layout *l = &r->process.perl;
	int i;

	r->skip = skip;
	r->nframes = r->from = r->native = r->lost = r->torn = 0;
	r->run = r->inner = r->proven = r->pending = r->alike = r->shift = r->alone = 0;
	r->first = 1;
	r->above = runtime_word(r->thread + l->interp_cop);
	r->top = r->jump = r->outer_record = runtime_word(r->thread + l->interp_catch);
	perl_enter_stack(r, runtime_word(r->thread + l->interp_stack));
	for (i = 0; i < (int)(4 * LANGUAGE_FRAMES_MAX / PERL_TURN); i++)
		if (!perl_some_steps())
			break;
}

static __always_inline void perl_walk(const struct cpu_state *st, struct runtime_state *r)
{
	struct runtime_stats *s = runtime_stats();

	if (!s)
		return;
	r->thread = perl_find(st, r);
	if (!r->thread) {
		s->stateless++;
		return;
	}
	perl_pass(r, PERL_SKIP_NONE);
	if (r->shift == 1 || (r->shift == -1 && r->alone))
		perl_pass(r, r->shift == 1 ? PERL_SKIP_LOOP : PERL_SKIP_RUN);
	if (r->from < r->nframes)
		runtime_forget_places();
	s->walks++;
	s->frames += r->nframes;
	s->torn += r->torn != 0;
	s->placed += !r->lost;
}

/* --- functions ------------------------------------------------------------------------------- */

static __always_inline __u32 perl_text(__u8 *to, __u64 text)
{
	__u32 length = text ? (__u32)(runtime_word(text + PERL_TEXT_LENGTH)) : 0;

	if (length > METHOD_TEXT)
		length = METHOD_TEXT;
	return length ? method_text(to, text + PERL_TEXT, length, length) : 0;
}

static __always_inline __u32 perl_characters(__u8 *to, __u64 addr)
{
	long length = bpf_probe_read_user_str(to, METHOD_TEXT, (const void *)addr);

	return length > 0 ? length : 0;
}

static __always_inline __u32 perl_package(const struct perl_layout *l, __u8 *to, __u64 stash)
{
	__u64 body = stash ? runtime_word(stash + PERL_VALUE_BODY) : 0, name;

	if (!body)
		return 0;
	if (l->stash_last)
		body = runtime_word(stash + PERL_VALUE_ARRAY) +
		       8 * (runtime_word(body + l->stash_last) + 1);
	name = runtime_word(body + l->stash_name);
	if ((__u32)runtime_word(body + l->stash_names))
		name = runtime_word(name);
	return perl_text(to, name);
}

/* The names of the sub in the object. */
__attribute__((noinline)) int perl_name(void)
{
	struct runtime_state *r = runtime_state();
	const struct perl_layout *l;
	struct method_record *m;
	__u64 name, stash, symbol;

	if (!r)
		return 0;
	l = &r->process.perl;
	m = &r->method;
	name = object_word(r, l->code_name);
	stash = object_word(r, l->code_stash);
	m->text_size[METHOD_FILE] =
		perl_characters(m->text[METHOD_FILE], object_word(r, l->code_file));
	if (!(object_int(r, l->code_flags) & PERL_CODE_NAMED)) {
		symbol = name ? runtime_word(name + PERL_VALUE_BODY) : 0;
		name = symbol ? runtime_word(symbol + l->symbol_name) : 0;
		stash = symbol ? runtime_word(symbol + l->symbol_stash) : 0;
	}
	m->text_size[METHOD_SCOPE] = perl_package(l, m->text[METHOD_SCOPE], stash);
	m->text_size[METHOD_NAME] = perl_text(m->text[METHOD_NAME], name);
	return 0;
}

/* Sends the function of a frame. 0: it was sent, or cannot be read. */
__attribute__((noinline)) int perl_send_method(__u32 n)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	struct method_record *m;
	__u64 function;

	if (!st || !r || !s)
		return 0;
	m = &r->method;
	STEP_BARRIER(n);
	n &= LANGUAGE_FRAMES_MAX - 1;
	method_begin(st, m, &r->frames[n], RUNTIME_PERL);
	m->version = r->process.perl.version;
	function = r->functions[n];
	if (function & (PERL_MAIN | PERL_EVAL)) {
		m->text_size[METHOD_NAME] =
			function & PERL_MAIN
				? method_word(m->text[METHOD_NAME], 0x296e69616d28, 6)	/* (main) */
				: method_word(m->text[METHOD_NAME], 0x296c61766528, 6); /* (eval) */
		m->text_size[METHOD_FILE] =
			perl_characters(m->text[METHOD_FILE], function & ~(PERL_MAIN | PERL_EVAL));
	} else {
		if (!perl_take_code(function))
			return 0;
		perl_name();
	}
	if (method_send(r))
		return -1;
	s->methods++;
	sample_mark_seen(m->hash);
	return 0;
}

RUNTIME_SENDER(perl, RUNTIME_PERL)

RUNTIME_PROGRAM(perl, perl_walk(st, r))

#endif
