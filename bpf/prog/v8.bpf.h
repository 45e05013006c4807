/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_V8_BPF_H
#define STACKTOP_BPF_PROG_V8_BPF_H

/*
 * The frames of V8 (docs/design/runtimes.md). A function of JavaScript has a frame of its own on
 * the stack, whether it is interpreted or compiled, so the native walk has them all, each with its
 * frame pointer: 16 bytes below its CFA. At fixed places below that are the context and the
 * JSFunction. Other frames, and ones that are not complete yet, have something else there; each
 * object's map says what it is, so that is not taken for a function.
 *
 * The collector moves objects while they are sampled: then the word of the map leads to where the
 * object is now.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime_place.bpf.h"
#include "bpf/prog/runtime_send.bpf.h"

#define V8_FRAME_MAX	(1u << 20) /* bytes of a frame */
#define V8_LOCALS_MAX	75u	   /* from so many on their names are in a table */
#define V8_STRING_BYTES 40u	   /* of a string's object that are read */
#define V8_HOPS		4	   /* from a string to the one that has its characters */
#define V8_CHUNK	4096u	   /* bytes of source that are searched for lines at a time */
#define V8_SOURCE_MAX	(64u * V8_CHUNK)
#define V8_CHUNK_STEPS	(SEARCH_MAX / 64u) /* of the sample's budget: new functions share it */
#define V8_WORDS_TURN	32u

#define IS_OBJECT(word) (((word)&V8_TAG_MASK) == V8_TAG)
#define IS_SMALL(word)	(!((word) & ((1ull << V8_SMI_SHIFT) - 1)))
#define SMALL(word)	((__s32)((word) >> V8_SMI_SHIFT))

/* What the maps say that were met last in this sample. */
#define known_function outer
#define known_shared   outer_record
#define known_script   above
#define known_context  pointer
#define object_at      top /* address of the object that was read */

/* What was counted last in this sample: functions of one file lie near each other. */
#define counted_source thread
#define counted_place  run
#define counted_line   inner

/* The instance type in a map; 0: it is none, and the type of strings. */
static __always_inline __u32 v8_map_type(const struct runtime_state *r, __u64 map)
{
	__u16 type = 0;

	if (IS_OBJECT(map))
		bpf_probe_read_user(&type, sizeof(type),
				    (const void *)(map - V8_TAG + r->process.v8.map_type));
	return type;
}

/* Is it a context? */
static __always_inline int v8_is_context(struct runtime_state *r, __u64 object)
{
	const __u64 map = runtime_word(object - V8_TAG);
	__u32 type;

	if (!map || map == r->known_context)
		return map != 0;
	type = v8_map_type(r, map);
	if (type < r->process.v8.context_first || type > r->process.v8.context_last)
		return 0;
	r->known_context = map;
	return 1;
}

/* Reads an object into the state's, from where it was moved to if it was. Its map; 0: none. */
static __always_inline __u64 v8_read(struct runtime_state *r, __u64 object, __u32 size)
{
	__u64 map;

	r->object_at = object - V8_TAG;
	if (!IS_OBJECT(object) || object_read(r, r->object_at, size))
		return 0;
	map = object_word(r, 0);
	if (map && !(map & V8_TAG_MASK)) { /* it was moved there */
		r->object_at = map;
		map = object_read(r, map, size) ? 0 : object_word(r, 0);
	}
	return IS_OBJECT(map) ? map : 0;
}

/*
 * Finds out what a JSFunction's code, check and script are: r->code (0: it is none, or a builtin
 * without a script), r->check.
 */
__attribute__((noinline)) int v8_take_function(__u64 function)
{
	struct runtime_state *r = runtime_state();
	const struct v8_layout *l;
	__u64 map, shared, script, name, counts;
	__u32 type, id;

	if (!r)
		return 0;
	l = &r->process.v8;
	r->code = 0;
	map = v8_read(r, function, l->function_shared + 8);
	if (!map)
		return 0;
	if (map != r->known_function) {
		type = v8_map_type(r, map);
		if (type < l->function_first || type > l->function_last)
			return 0;
		r->known_function = map;
	}
	shared = object_word(r, l->function_shared);
	map = v8_read(r, shared, l->shared_size);
	if (!map || (map != r->known_shared && v8_map_type(r, map) != l->shared_type))
		return 0;
	r->known_shared = map;
	script = object_word(r, l->shared_script);
	name = object_word(r, l->shared_name);
	counts = object_word(r, l->shared_counts) << 16;
	id = object_int(r, l->shared_id);
	if (!IS_OBJECT(script))
		return 0;
	map = runtime_word(script - V8_TAG);
	if (!map || (map != r->known_script && v8_map_type(r, map) != l->script_type))
		return 0;
	r->known_script = map;
	counts ^= (name ^ script << 20) * 0x9e3779b97f4a7c15ull;
	r->check = (__u32)(counts >> 32 ^ counts) * 0x9e3779b1u ^ id;
	r->code = shared - V8_TAG;
	return 1;
}

/*
 * Can the native frame be one of V8's: in memory without a file, or in the builtins? A builtin that
 * is executing, as a handler of byte code, may not have written the slots of its frame yet.
 */
static __always_inline int v8_is_code(__u32 at, __u64 frame)
{
	return FRAME_IS_ADDRESS(frame & ~FRAME_EXACT) ||
	       (!(frame & FRAME_EXACT) && runtime_is_eval(at));
}

/* Looks at the native frame r->native; 1: go on with the next. */
__attribute__((noinline)) int v8_step(void)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	__u64 slots[2] = {}, frame, fp, sp;
	__u32 at, next, n;

	if (!st || !r)
		return 0;
	at = r->native;
	next = at + 1;
	if (next >= st->walk.nframes)
		return 0;
	r->native = next;
	STEP_BARRIER(at);
	STEP_BARRIER(next);
	frame = st->walk.frames[at & (WALK_FRAMES_MAX - 1)];
	sp = st->walk.sps[at & (WALK_FRAMES_MAX - 1)];
	fp = st->walk.sps[next & (WALK_FRAMES_MAX - 1)] - 16;
	/* The slots are pushed by then. */
	if (fp + V8_FUNCTION - sp > V8_FRAME_MAX || !v8_is_code(at, frame) ||
	    bpf_probe_read_user(slots, sizeof(slots), (const void *)(fp + V8_FUNCTION)))
		return 1;
	if (!IS_OBJECT(slots[0]) || !IS_OBJECT(slots[1]))
		return 1;
	if (slots[0] != r->record) {
		r->record = slots[0];
		v8_take_function(slots[0]);
	}
	if (!r->code || !v8_is_context(r, slots[1]))
		return 1;
	n = r->nframes;
	if (n >= LANGUAGE_FRAMES_MAX)
		return 0;
	language_add(r, r->code, 0, r->check);
	STEP_BARRIER(n);
	r->frames[n & (LANGUAGE_FRAMES_MAX - 1)].at = at;
	return 1;
}

__attribute__((noinline)) int v8_some_steps(void)
{
	int i;

	for (i = 0; i < 32; i++)
		if (!v8_step())
			return 0;
	return 1;
}

__attribute__((noinline)) int v8_walk(void)
{
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	int i;

	if (!r || !s)
		return 0;
	r->counted_source = 0;
	r->record = r->known_function = r->known_shared = r->known_script = r->known_context = 0;
	for (i = 0; i < (int)(WALK_FRAMES_MAX / 32) + 1; i++)
		if (!v8_some_steps())
			break;
	s->walks++;
	s->frames += r->nframes;
	s->placed++;
	return 0;
}

/* --- texts ----------------------------------------------------------------------------------- */

/* What a string is searched with. */
#define text_at	   window_at
#define text_chars outer /* address of its characters */
#define text_from  limit /* the first of them that is its own */
#define text_rest  frame /* how many there are */
#define text_wide  words

/*
 * Looks at the string r->text_at, or at what it stands for. 1: r->text_at is the next one to look
 * at. 0: this was the last; r->text_chars is 0 if its characters are not in one piece.
 */
static __always_inline int v8_text_step(struct runtime_state *r)
{
	const struct v8_layout *l;
	__u64 map, length;
	__u32 type;

	l = &r->process.v8;
	r->text_chars = 0;
	map = v8_read(r, r->text_at, V8_STRING_BYTES);
	type = v8_map_type(r, map);
	if (!map || type >= V8_NOT_STRING)
		return 0;
	length = object_int(r, l->string_length);
	if (r->text_rest == ~0ull)
		r->text_rest = length;
	r->text_wide = !(type & V8_ONE_BYTE);
	switch (type & V8_FORM) {
	case V8_THIN:
		r->text_at = object_word(r, l->thin_actual);
		return 1;
	case V8_CONS: /* all of it, if it was made flat */
		r->text_at = object_word(r, l->cons_first);
		return 1;
	case V8_SLICED:
		r->text_from += object_word(r, l->sliced_offset) >> V8_SMI_SHIFT;
		r->text_at = object_word(r, l->sliced_parent);
		return 1;
	case V8_SEQUENTIAL:
		r->text_chars = r->object_at + l->string_chars;
		break;
	case V8_EXTERNAL:
		if (!(type & V8_UNCACHED))
			r->text_chars = object_word(r, l->external_data);
		break;
	}
	if (r->text_from + r->text_rest > length)
		r->text_chars = 0;
	r->text_chars += r->text_chars ? r->text_from << r->text_wide : 0;
	return 0;
}

/* Finds a string's characters. How many there are; 0: none, or they cannot be found. */
__attribute__((noinline)) __u64 v8_find_text(__u64 string)
{
	struct runtime_state *r = runtime_state();
	int i;

	if (!r)
		return 0;
	r->text_at = string;
	r->text_from = 0;
	r->text_rest = ~0ull;
	for (i = 0; i < V8_HOPS; i++)
		if (!v8_text_step(r))
			break;
	return i < V8_HOPS && r->text_chars ? r->text_rest : 0;
}

/* Puts a string into the method's METHOD_NAME or METHOD_FILE; 0: it has no characters. */
__attribute__((noinline)) int v8_put_text(__u64 string, __u32 of)
{
	struct runtime_state *r = runtime_state();
	__u64 length = v8_find_text(string);

	if (!r || !length)
		return 0;
	STEP_BARRIER(of);
	of &= METHOD_FILE;
	length <<= r->text_wide & 1;
	if (length > METHOD_TEXT)
		length = METHOD_TEXT;
	STEP_BARRIER(length);
	if (length > METHOD_TEXT ||
	    bpf_probe_read_user(r->method.text[of], length, (const void *)r->text_chars))
		return 0;
	r->method.text_size[of] = length;
	r->method.text_layout[of] = r->text_wide ? TEXT_UTF16 : TEXT_LATIN1;
	return 1;
}

/* --- lines ----------------------------------------------------------------------------------- */

#define NEWLINES    0x0a0a0a0a0a0a0a0aull
#define LOW_BITS    0x7f7f7f7f7f7f7f7full
#define EACH_BYTE   0x0101010101010101ull
#define NEWLINES_16 0x000a000a000a000aull
#define LOW_BITS_16 0x7fff7fff7fff7fffull
#define EACH_16	    0x0001000100010001ull

/* Counts the newlines in a word, of one byte each or of two: lanes of zero get their top bit. */
static __always_inline __u32 v8_newlines(__u64 word)
{
	__u64 x = word ^ NEWLINES;

	x = ~(((x & LOW_BITS) + LOW_BITS) | x | LOW_BITS);
	return (x >> 7) * EACH_BYTE >> 56;
}

static __always_inline __u32 v8_wide_newlines(__u64 word)
{
	__u64 x = word ^ NEWLINES_16;

	x = ~(((x & LOW_BITS_16) + LOW_BITS_16) | x | LOW_BITS_16);
	return (x >> 15) * EACH_16 >> 48;
}

/* In some words of the state's table, from first on. */
__attribute__((noinline)) int v8_count_words(__u32 first)
{
	struct runtime_state *r = runtime_state();
	__u32 i, at = first, narrow = 0, wide = 0;
	__u64 word;

	if (!r)
		return 0;
	for (i = 0; i < V8_WORDS_TURN; i++) {
		STEP_BARRIER(at);
		word = *(const __u64 *)(r->table + (at * 8 & (V8_CHUNK - 8)));
		narrow += v8_newlines(word);
		wide += v8_wide_newlines(word);
		at++;
	}
	r->lost += r->text_wide ? wide : narrow;
	return 0;
}

/* In the next piece of the source; 0: it was the last, or cannot be read. */
__attribute__((noinline)) int v8_count_chunk(void)
{
	struct runtime_state *r = runtime_state();
	__u64 size;
	__u32 i;

	if (!r)
		return 0;
	if (r->budget < V8_CHUNK_STEPS) {
		r->torn = 1;
		return 0;
	}
	size = r->text_rest < V8_CHUNK ? r->text_rest : V8_CHUNK;
	r->budget -= 1 + size * (V8_CHUNK_STEPS - 1) / V8_CHUNK;
	STEP_BARRIER(size);
	if (!size || size > V8_CHUNK)
		return 0;
	if (bpf_probe_read_user(r->table, size, (const void *)r->text_chars)) {
		r->torn = 1;
		return 0;
	}
	/* No newlines behind it, up to the end of the turn. */
	__builtin_memset(r->table + size, 0, 8 * V8_WORDS_TURN);
	for (i = 0; i < V8_CHUNK / 8 / V8_WORDS_TURN; i++)
		if (i * 8 * V8_WORDS_TURN < size)
			v8_count_words(i * V8_WORDS_TURN);
	r->text_chars += size;
	r->text_rest -= size;
	return r->text_rest != 0;
}

/* The line of a place in a source, from 0; -1: not known, or too far behind. */
__attribute__((noinline)) int v8_line(__u64 source, __u32 place)
{
	struct runtime_state *r = runtime_state();
	__u64 from = 0, base = 0;
	int i;

	if (!r || v8_find_text(source) < place)
		return -1;
	if (r->counted_source == source) {
		from = r->counted_place;
		base = r->counted_line;
	}
	r->text_chars += (place < from ? place : from) << (r->text_wide & 1);
	r->text_rest = (place < from ? from - place : place - from) << (r->text_wide & 1);
	if (r->text_rest > V8_SOURCE_MAX)
		return -1;
	r->lost = r->torn = 0;
	for (i = 0; i < (int)(V8_SOURCE_MAX / V8_CHUNK); i++)
		if (!v8_count_chunk())
			break;
	if (r->torn)
		return -1;
	r->counted_source = source;
	r->counted_place = place;
	r->counted_line = place < from ? base - r->lost : base + r->lost;
	return (int)r->counted_line;
}

/* --- functions ------------------------------------------------------------------------------- */

/*
 * The name and the place of a function by its ScopeInfo: behind the variables stand its name, where
 * that is kept, the name that was guessed for it, and its start, unless that comes first. Returns
 * the place; -1: not known.
 */
__attribute__((noinline)) int v8_scope(__u64 scope)
{
	struct runtime_state *r = runtime_state();
	const struct v8_layout *l;
	__u64 at, words[4], name, guess;
	__u32 locals;
	int place = -1;

	if (!r)
		return -1;
	l = &r->process.v8;
	at = v8_read(r, scope, 8 + 8 * (l->scope_vars & 15));
	if (!at || v8_map_type(r, at) != l->scope_type)
		return -1;
	locals = object_word(r, 8 + 8 * l->scope_locals) >> V8_SMI_SHIFT;
	if (l->scope_start)
		place = SMALL(object_word(r, 8 + 8 * l->scope_start));
	at = r->object_at + 8 + 8ull * l->scope_vars;
	at += locals < V8_LOCALS_MAX ? 16ull * locals : 8 + 8ull * locals;
	if (bpf_probe_read_user(words, sizeof(words), (const void *)at))
		return place;
	name = words[0];
	guess = words[2];
	if (!l->scope_start && IS_SMALL(words[1]) && IS_OBJECT(guess) && IS_SMALL(words[3]))
		place = SMALL(words[3]);
	else if (!l->scope_start && IS_SMALL(name) && IS_SMALL(words[1]))
		place = SMALL(name); /* code without a name */
	if (!IS_SMALL(words[1]))
		return place;
	if (!v8_put_text(name, METHOD_NAME))
		v8_put_text(guess, METHOD_NAME);
	return place;
}

/* The file of a function, and its line if its place is known. */
__attribute__((noinline)) int v8_script(__u64 script, int place)
{
	struct runtime_state *r = runtime_state();
	const struct v8_layout *l;
	__u64 map, source, name, line;
	int in;

	if (!r)
		return 0;
	l = &r->process.v8;
	map = v8_read(r, script, l->script_size);
	if (!map || v8_map_type(r, map) != l->script_type)
		return 0;
	source = object_word(r, l->script_source);
	name = object_word(r, l->script_name);
	line = object_word(r, l->script_line);
	v8_put_text(name, METHOD_FILE);
	in = place >= 0 ? v8_line(source, place) : -1;
	if (in >= 0)
		r->method.first = in + 1 + (IS_SMALL(line) ? SMALL(line) : 0);
	return 0;
}

/* Sends the function of a frame. 0: it was sent, or cannot be read. */
static __always_inline int v8_send_method(__u32 n)
{
	struct cpu_state *st = this_state();
	struct runtime_state *r = runtime_state();
	struct runtime_stats *s = runtime_stats();
	const struct v8_layout *l;
	const struct language_frame *f;
	__u64 script, name;
	int place = -1;

	if (!st || !r || !s)
		return 0;
	l = &r->process.v8;
	STEP_BARRIER(n);
	f = &r->frames[n & (LANGUAGE_FRAMES_MAX - 1)];
	method_begin(st, &r->method, f, RUNTIME_V8);
	r->method.version = l->version;
	r->method.text_layout[METHOD_NAME] = r->method.text_layout[METHOD_FILE] = TEXT_NONE;
	if (!v8_read(r, f->code + V8_TAG, l->shared_size))
		return 0;
	script = object_word(r, l->shared_script);
	name = object_word(r, l->shared_name);
	if (!v8_put_text(name, METHOD_NAME))
		place = v8_scope(name);
	v8_script(script, place);
	if (method_send(r))
		return -1;
	s->methods++;
	sample_mark_seen(r->method.hash);
	return 0;
}

RUNTIME_SENDER(v8, RUNTIME_V8)

RUNTIME_PROGRAM(v8, v8_walk())

#endif
