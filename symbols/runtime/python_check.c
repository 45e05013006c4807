// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See python_check.h. Each member of the layout is compared with something that it must agree with:
 * a thread's state with the thread's own control block, a type with its name, an instruction with
 * the table of lines, a frame's size with the place of the next one.
 */
#include "symbols/runtime/python_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "symbols/runtime/python_code.h"
#include "symbols/runtime/python_offsets.h"
#include "symbols/runtime/threadblock.h"

#define INTERPS_MAX	8u
#define THREADS_MAX	64u
#define FRAMES_MAX	256u  /* of a thread */
#define FRAMES_ALL	4096u /* of all, about */
#define OBJECT_MAX	PYTHON_READ_MAX
#define TABLE_MAX	8192u
#define TEXT_MAX	256u
#define PID_MAX		(1u << 22)
#define CODE_BYTES	(1u << 24)
#define WORDS_MAX	(1u << 16) /* of a frame */
#define CSTACK_OWNER	3
#define UNCOUNTED	UINT32_MAX
#define OWNER_MAX	5
#define LINE_MAX_NUMBER (1u << 24)

struct checker {
	const struct python_layout *l;
	const struct python_place *place;
	python_read_fn *read;
	void *arg;
	const char *why;
	unsigned int minor;
	uint64_t text_type, bytes_type; /* known by their name; 0: not yet */
	unsigned int frames, paths, lines;
	unsigned int looked; /* frames and records of calls */
	bool current;	     /* the state that holds the GIL was seen */
	uint64_t threads[INTERPS_MAX * THREADS_MAX];
	unsigned int nthreads;
	uint8_t table[TABLE_MAX];
};

struct code_facts {
	uint64_t table, table_size; /* of lines, in memory */
	uint32_t first, words;
	uint64_t end; /* of its instructions */
};

static int refuse(struct checker *c, const char *why)
{
	c->why = why;
	return -EINVAL;
}

static int read_word(struct checker *c, uint64_t addr, uint64_t *value)
{
	return c->read(c->arg, addr, value, sizeof(*value));
}

static uint64_t word_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t value = 0;

	if (at <= OBJECT_MAX - sizeof(value))
		memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static uint32_t int_at(const uint8_t *bytes, uint32_t at)
{
	return (uint32_t)word_at(bytes, at);
}

/* --- objects --------------------------------------------------------------------------------- */

/* Is the object of the type with that name? *known: the type's address, once it was found. */
static bool has_type(struct checker *c, uint64_t object, const char *name, uint64_t *known)
{
	const size_t size = strlen(name) + 1;
	uint64_t type, text;
	char bytes[16];

	if (read_word(c, object + c->l->object_type, &type))
		return false;
	if (*known)
		return type == *known;
	if (read_word(c, type + c->l->type_name, &text) || c->read(c->arg, text, bytes, size) ||
	    memcmp(bytes, name, size) != 0)
		return false;
	*known = type;
	return true;
}

/* Letters, digits and _, and all that is not ASCII; <module> and the like. */
static bool is_name(const char *text)
{
	for (; *text; text++)
		if (!strchr("_<>", *text) && !(*text >= '0' && *text <= '9') &&
		    !((*text | 32) >= 'a' && (*text | 32) <= 'z') && !((unsigned char)*text & 0x80))
			return false;
	return true;
}

static bool is_path(const char *text)
{
	return strchr(text, '/') || !strcmp(text, "<string>") || !strcmp(text, "<stdin>") ||
	       !strncmp(text, "<frozen ", strlen("<frozen ")) ||
	       (strlen(text) > 3 && !strcmp(text + strlen(text) - 3, ".py"));
}

/* A str; its length, 0 if it is none or empty. */
static size_t read_text(struct checker *c, uint64_t addr, char to[TEXT_MAX])
{
	uint8_t bytes[TEXT_MAX * 4 + 80];
	size_t size = sizeof(bytes);
	uint64_t length;

	if (!has_type(c, addr, "str", &c->text_type) ||
	    read_word(c, addr + c->l->text_length, &length) || !length || length > 4096)
		return 0;
	if (length < TEXT_MAX)
		size = (size_t)length + c->l->text_ascii;
	if (c->read(c->arg, addr, bytes, size))
		return 0;
	return python_text(c->l, bytes, size, to, TEXT_MAX);
}

static int check_texts(struct checker *c, const uint8_t *code, uint32_t first)
{
	char name[TEXT_MAX], qualified[TEXT_MAX], file[TEXT_MAX];
	size_t length = read_text(c, word_at(code, c->l->code_name), name), n;

	if (!length || !is_name(name))
		return refuse(c, "a function has no name");
	memcpy(qualified, name, sizeof(name));
	if (c->l->code_qualname) {
		n = read_text(c, word_at(code, c->l->code_qualname), qualified);
		if (n < length || (n < TEXT_MAX - 1 && strcmp(qualified + n - length, name) != 0))
			return refuse(c, "a function's qualified name is another one's");
	}
	if (!read_text(c, word_at(code, c->l->code_filename), file) || !strcmp(file, name) ||
	    !strcmp(file, qualified))
		return refuse(c, "a function has no file");
	c->paths += is_path(file);
	/* Up to 3.9, a module begins at its first statement. */
	if (first > LINE_MAX_NUMBER || (c->minor >= 10 && !strcmp(name, "<module>") && first > 1) ||
	    (name[0] != '<' && !first))
		return refuse(c, "a function begins at an impossible line");
	return 0;
}

static int check_table(struct checker *c, const uint8_t *code, struct code_facts *facts)
{
	const uint64_t table = word_at(code, c->l->code_linetable);

	if (!has_type(c, table, "bytes", &c->bytes_type) ||
	    read_word(c, table + c->l->bytes_size, &facts->table_size) ||
	    facts->table_size > CODE_BYTES)
		return refuse(c, "a function has no table of lines");
	facts->table = table + c->l->bytes_data;
	return 0;
}

/*
 * Functions begin with RESUME, COPY_FREE_VARS, MAKE_CELL or RETURN_GENERATOR, or with what takes
 * the place of RESUME when it is specialized or instrumented (Include/opcode.h, opcode_ids.h).
 */
static bool is_beginning(unsigned int minor, uint8_t opcode)
{
	static const uint8_t old[] = {151, 150, 149, 135, 75}, new[] = {149, 207, 62, 94, 35};

	if (minor >= 14) /* the runtime itself says where its code begins */
		return true;
	for (size_t i = 0; i < sizeof(old); i++)
		if (opcode == (minor <= 12 ? old[i] : new[i]))
			return true;
	return minor >= 12 && opcode >= 236;
}

static int check_code(struct checker *c, uint64_t addr, struct code_facts *facts)
{
	uint8_t code[OBJECT_MAX] = {0};
	uint64_t units;
	uint8_t first;
	int err;

	*facts = (struct code_facts){0};
	if (c->l->code_size > OBJECT_MAX || c->read(c->arg, addr, code, c->l->code_size))
		return refuse(c, "a frame has no code object");
	if (word_at(code, c->l->object_type) != c->place->type)
		return refuse(c, "a frame's code is of another type");
	facts->first = int_at(code, c->l->code_firstlineno);
	err = check_texts(c, code, facts->first);
	if (!err)
		err = check_table(c, code, facts);
	if (err)
		return err;
	facts->end = CODE_BYTES;
	if (c->minor <= 10)
		return 0;
	/* A code object ends with its instructions, and says how many units it has. */
	units = word_at(code, c->l->bytes_size);
	if (c->read(c->arg, addr + c->l->code_start, &first, sizeof(first)) ||
	    units > CODE_BYTES / 2)
		return refuse(c, "a function has no instructions");
	facts->end = 2 * units;
	facts->words = c->l->code_framesize ? int_at(code, c->l->code_framesize)
					    : int_at(code, c->l->code_nlocalsplus) +
						      int_at(code, c->l->code_stacksize) + 9;
	if (!is_beginning(c->minor, first))
		return refuse(c, "a function does not begin where its code does");
	if (facts->words < 4 || facts->words > WORDS_MAX)
		return refuse(c, "a frame has an impossible size");
	return 0;
}

/* The line where a frame is; the innermost one may be anywhere. */
static int check_line(struct checker *c, const struct code_facts *f, int64_t at, bool innermost)
{
	const size_t size = f->table_size < TABLE_MAX ? (size_t)f->table_size : TABLE_MAX;
	unsigned int line;

	if (at < -2 || (uint64_t)at + 2 > f->end + 2 || at >= CODE_BYTES ||
	    (c->minor >= 11 && at & 1))
		return refuse(c, "a frame is outside of its function");
	if (at < 0)
		return 0;
	if (c->read(c->arg, f->table, c->table, size))
		return refuse(c, "a table of lines cannot be read");
	line = python_line(c->l, c->table, size, (size_t)f->table_size, f->first, (int32_t)at);
	if (!line && size == f->table_size && !innermost)
		return refuse(c, "a frame is at no line of its function");
	c->lines += line != 0;
	return 0;
}

/* --- frames ---------------------------------------------------------------------------------- */

struct frame_facts {
	uint64_t addr, back;
	uint32_t words;
	bool record; /* of a call of the eval function, not a frame */
	bool entry;  /* the last of such a call */
	bool owned;  /* stands on the thread's stack of frames */
};

static int check_frame(struct checker *c, uint64_t addr, bool innermost, struct frame_facts *out)
{
	uint8_t frame[OBJECT_MAX] = {0};
	struct code_facts facts;
	uint64_t code;
	int64_t at;
	int err;

	*out = (struct frame_facts){.addr = addr};
	if (addr & 7 || c->l->frame_size > OBJECT_MAX ||
	    c->read(c->arg, addr, frame, c->l->frame_size))
		return refuse(c, "a frame cannot be read");
	out->back = word_at(frame, c->l->frame_back);
	if (c->l->frame_owner) {
		const uint8_t owner = frame[c->l->frame_owner];

		if (owner > OWNER_MAX)
			return refuse(c, "a frame has no owner");
		out->record = owner >= CSTACK_OWNER;
		out->owned = !owner;
	}
	if (out->record)
		return 0;
	if (c->l->frame_entry) {
		if (frame[c->l->frame_entry] > 1)
			return refuse(c, "a frame neither begins a call nor goes on in one");
		out->entry = frame[c->l->frame_entry];
	}
	code = word_at(frame, c->l->frame_code);
	if (c->minor >= 14)
		code &= ~(uint64_t)3;
	err = check_code(c, code, &facts);
	if (err)
		return err;
	out->words = facts.words;
	c->frames++;
	if (c->minor >= 11)
		at = (int64_t)(word_at(frame, c->l->frame_instr) - code - c->l->code_start);
	else
		at = (int32_t)int_at(frame, c->l->frame_instr) * (c->minor == 10 ? 2 : 1);
	return check_line(c, &facts, at, innermost);
}

/* Frames on one stack follow each other without a gap, where it does not begin a new piece. */
static bool are_neighbours(const struct frame_facts *inner, const struct frame_facts *outer)
{
	return !inner->owned || !outer->owned || inner->addr < outer->addr ||
	       inner->addr - outer->addr > WORDS_MAX ||
	       inner->addr == outer->addr + 8ull * outer->words;
}

static int check_frames(struct checker *c, uint64_t first, unsigned int *records)
{
	struct frame_facts frame = {0}, inner = {0};
	const uint64_t any = first;
	int err = 0;

	*records = 0;
	if (!first)
		*records = UNCOUNTED;
	for (unsigned int n = 0; first && n < FRAMES_MAX && !err; n++) {
		c->looked++;
		err = check_frame(c, first, n == 0, &frame);
		if (err)
			break;
		*records += frame.record || frame.entry;
		if (!frame.record) {
			if (!are_neighbours(&inner, &frame))
				return refuse(c, "frames overlap, or there is a gap between them");
			inner = frame;
		}
		first = frame.back;
	}
	if (first)
		*records = UNCOUNTED;
	else if (!err && any && c->minor >= 12 && !frame.record)
		return refuse(c, "frames end without the record of a call");
	return err;
}

/*
 * The records of calls, 3.11 and 3.12: each has its current frame. The thread's own one, the last,
 * has none, nor has the one before it in a greenlet. *count: those with a frame.
 */
static int check_cframes(struct checker *c, uint64_t cframe, uint64_t *first, unsigned int *count)
{
	bool outermost = false;
	uint64_t frame;

	*first = *count = 0;
	if (!cframe)
		return refuse(c, "a thread has no record of calls");
	for (unsigned int n = 0; cframe && n < FRAMES_MAX; n++) {
		if (read_word(c, cframe + c->l->tstate_frame, &frame) ||
		    read_word(c, cframe + c->l->cframe_previous, &cframe))
			return refuse(c, "a record of a call cannot be read");
		if (!n)
			*first = frame;
		if (frame & 7 || (frame && !cframe) || (outermost && (frame || cframe)))
			return refuse(c, "a record of a call has no frame");
		outermost = n && !frame;
		*count += frame != 0;
		c->looked++;
	}
	return 0;
}

/* --- threads --------------------------------------------------------------------------------- */

/* The piece of the stack of frames that is in use: previous, size, top, data (_PyStackChunk). */
static int check_stack(struct checker *c, const uint8_t *tstate)
{
	const uint64_t piece = word_at(tstate, c->l->tstate_top - 8),
		       top = word_at(tstate, c->l->tstate_top),
		       limit = word_at(tstate, c->l->tstate_limit);
	uint64_t size;

	if (!c->l->tstate_top || (!piece && !top && !limit))
		return 0;
	if (top & 7 || top < piece || top > limit || read_word(c, piece + 8, &size) ||
	    limit != piece + size)
		return refuse(c, "a thread's stack of frames has no end");
	return 0;
}

static int check_thread(struct checker *c, uint64_t addr, uint64_t interp, uint64_t before,
			uint64_t *next)
{
	uint8_t tstate[OBJECT_MAX] = {0};
	uint64_t thread, self, tid, frame;
	unsigned int records, cframes = 0;
	int err;

	if (addr & 7 || c->read(c->arg, addr, tstate, c->l->tstate_size))
		return refuse(c, "a thread's state cannot be read");
	*next = word_at(tstate, c->l->tstate_next);
	/* prev stands before next. */
	if (word_at(tstate, c->l->tstate_next - 8) != before)
		return refuse(c, "a thread's state is not in the list of threads");
	if (word_at(tstate, c->l->tstate_interp) != interp)
		return refuse(c, "a thread's state is of another interpreter");
	thread = word_at(tstate, c->l->tstate_thread);
	if (c->l->tstate_status) {
		const uint32_t status = int_at(tstate, c->l->tstate_status);

		if (!(status & 1) || status >> 16)
			return refuse(c, "a thread's state has an impossible status");
		if (!(status & 2)) /* not bound to a thread yet */
			return thread ? refuse(c, "a thread's state is of a thread, and of none")
				      : 0;
	}
	if (read_word(c, thread, &self) || read_word(c, thread + THREADBLOCK_TID, &tid) ||
	    !threadblock_is_sound(thread, self, tid))
		return refuse(c, "a thread's state is of no thread");
	if (c->l->tstate_native && word_at(tstate, c->l->tstate_native) - 1 >= PID_MAX)
		return refuse(c, "a thread's number is impossible");
	err = check_stack(c, tstate);
	if (err || c->looked >= FRAMES_ALL)
		return err;
	frame = word_at(tstate, c->l->tstate_frame);
	if (c->l->tstate_cframe)
		err = check_cframes(c, word_at(tstate, c->l->tstate_cframe), &frame, &cframes);
	if (!err)
		err = check_frames(c, frame, &records);
	if (!err && cframes && cframes < FRAMES_MAX && records != UNCOUNTED && records != cframes)
		return refuse(c, "there are more records of calls than calls, or fewer");
	return err;
}

static int check_interp(struct checker *c, uint64_t interp, uint64_t *next)
{
	uint64_t tstate, before = 0;
	int err = 0;

	if (interp & 7 || read_word(c, interp + c->l->interp_threads, &tstate) ||
	    read_word(c, interp + c->l->interp_next, next))
		return refuse(c, "an interpreter's state cannot be read");
	for (unsigned int n = 0; tstate && n < THREADS_MAX && !err; n++) {
		c->threads[c->nthreads++] = tstate;
		err = check_thread(c, tstate, interp, before, &tstate);
		before = c->threads[c->nthreads - 1];
	}
	return err;
}

/* The state that holds the GIL is one of those that were found. */
static int check_current(struct checker *c)
{
	uint64_t current;

	if (!c->l->runtime_current)
		return 0;
	if (read_word(c, c->place->runtime + c->l->runtime_current, &current))
		return refuse(c, "the runtime's state cannot be read");
	c->current = current != 0;
	for (unsigned int i = 0; current && i < c->nthreads; i++)
		if (c->threads[i] == current)
			return 0;
	return current && c->nthreads < THREADS_MAX
		       ? refuse(c, "the lock is held by no known thread")
		       : 0;
}

/* Neighbours in all versions; a lone wrong offset shows. */
static bool is_consistent(const struct checker *c)
{
	const struct python_layout *l = c->l;

	return python_layout_is_sane(l) &&
	       l->text_compact - l->text_ascii == (c->minor >= 12 ? 16 : 24) &&
	       l->bytes_data == l->bytes_size + 16 && l->tstate_next == 8 &&
	       l->tstate_interp == 16 && !(l->tstate_status & 7) &&
	       l->code_name == l->code_filename + 8 &&
	       (!l->code_qualname || l->code_qualname == l->code_name + 8) &&
	       (!l->tstate_cframe ||
		(l->cframe_previous == l->tstate_frame + 8 && l->cframe_previous <= 16 &&
		 l->tstate_limit == l->tstate_top + 8)) &&
	       (!l->code_framesize || l->code_framesize == l->code_firstlineno + 8) &&
	       (!l->code_nlocalsplus || (l->code_nlocalsplus == l->code_firstlineno + 4 &&
					 l->code_stacksize == l->code_firstlineno - 4)) &&
	       (c->minor >= 13 || !l->interp_next) &&
	       (c->minor >= 11 || l->tstate_frame == l->tstate_interp + 8) &&
	       (c->minor >= 11 || l->code_name == l->code_firstlineno + 72) &&
	       (c->minor >= 11 || l->frame_instr == l->frame_back + (c->minor == 10 ? 72 : 80)) &&
	       (c->minor < 11 || c->minor > 12 ||
		(l->frame_back == l->frame_code + (c->minor == 11 ? 16 : 8) &&
		 l->frame_owner == l->frame_instr + (c->minor == 11 ? 13 : 14))) &&
	       (!l->frame_entry || l->frame_owner == l->frame_entry + 1);
}

int python_check(struct python_layout *layout, const struct python_place *place,
		 python_read_fn *read, void *arg, const char **why)
{
	struct checker c = {.l = layout,
			    .place = place,
			    .read = read,
			    .arg = arg,
			    .minor = layout->version >> 16 & 0xff};
	uint64_t interp = 0, last = 0, outermost = 0;
	int err = is_consistent(&c) ? 0 : refuse(&c, "its layout contradicts itself");

	if (!err && read_word(&c, place->runtime + layout->runtime_interps, &interp))
		err = refuse(&c, "the runtime's state cannot be read");
	if (!err && read_word(&c, place->runtime + layout->runtime_interps + 8, &outermost))
		err = refuse(&c, "the runtime's state cannot be read");
	if (!err && !interp && !outermost)
		return -ENOENT;
	for (unsigned int n = 0; interp && n < INTERPS_MAX && !err; n++) {
		last = interp;
		err = check_interp(&c, interp, &interp);
	}
	/* The main interpreter is named behind the head of the list, and is its last. */
	if (!err && !interp && outermost != last)
		err = refuse(&c, "the list of interpreters does not end with the main one");
	if (!err && !c.nthreads)
		err = refuse(&c, "no interpreter has a thread");
	if (!err)
		err = check_current(&c);
	if (!err && (!c.frames || !c.lines))
		err = -ENOENT;
	if (!err && !c.paths)
		err = refuse(&c, "no function is of a file");
	*why = c.why;
	if (!err && !c.current)
		layout->runtime_current = 0;
	return err;
}
