// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See ruby_check.h. Each member of the layout is compared with something that it must agree with: a
 * list with the number of its members, a thread with its own control block, a frame with the flags
 * of its environment, a label with the one that it ends with, the last frame with the end of the
 * stack.
 */
#include "symbols/runtime/ruby_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "symbols/runtime/ruby_code.h"
#include "symbols/runtime/ruby_file.h"
#include "symbols/runtime/threadblock.h"

#define RACTORS_MAX 16u
#define THREADS_MAX 64u
#define FRAMES_MAX  1024u
#define TAGS_MAX    1024u
#define OBJECT_MAX  512u
#define TEXT_MAX    256u
#define TABLE_MAX   8192u
#define STACK_MAX   (1u << 27) /* words of a stack of frames */
#define WORDS_MAX   (1u << 24) /* of a function */
#define LINE_MAX    (1u << 24)
#define NEAR	    (1u << 26) /* bytes from the runtime's state to its code */
#define GUARD	    0x30       /* pointer guard of glibc, from the thread pointer */
#define GUARD_SHIFT 17

struct ruby_checker {
	struct ruby_layout *l;
	uint64_t vm_at;
	ruby_read_fn *read;
	void *arg;
	const char *why;
	uint64_t label; /* 0: not known yet */
	uint64_t owner; /* the thread that holds the lock of the ractor; 0: none */
	unsigned int frames, lines, paths, owners;
	bool locked; /* it was one of the ractor's */
	uint8_t table[TABLE_MAX];
};

static int refuse(struct ruby_checker *c, const char *why)
{
	c->why = why;
	return -EINVAL;
}

static bool read_word(struct ruby_checker *c, uint64_t addr, uint64_t *value)
{
	*value = 0;
	return !c->read(c->arg, addr, value, sizeof(*value));
}

/* 0 where there is nothing. */
static uint64_t word(struct ruby_checker *c, uint64_t addr)
{
	uint64_t value;

	read_word(c, addr, &value);
	return value;
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

/* A String with printable text; its length, 0: it is none. */
static size_t read_text(struct ruby_checker *c, uint64_t addr, char to[TEXT_MAX])
{
	const uint64_t flags = word(c, addr);
	uint64_t size, at = addr + c->l->string_embed;

	if (addr & 7 || RUBY_TYPE(flags) != RUBY_STRING)
		return 0;
	if (flags & RUBY_NOT_EMBEDDED)
		at = word(c, addr + c->l->string_pointer);
	size = flags >> 14 & 0x1f;
	if (flags & RUBY_NOT_EMBEDDED || c->l->string_length)
		size = word(c, addr + 16);
	if (!size || size > 4096)
		return 0;
	if (size > TEXT_MAX - 1)
		size = TEXT_MAX - 1;
	if (c->read(c->arg, at, to, size))
		return 0;
	to[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)to[i] < 0x20)
			return 0;
	return size;
}

/* The file of a function; its path is absolute, or is no file. */
static bool has_path(struct ruby_checker *c, uint64_t object)
{
	const uint64_t flags = word(c, object);
	char text[TEXT_MAX];

	if (RUBY_TYPE(flags) == RUBY_ARRAY)
		object = word(c, flags & RUBY_EMBEDDED ? object + 16 : word(c, object + 32));
	if (!read_text(c, object, text))
		return false;
	c->paths += strchr(text, '/') || strstr(text, ".rb") || text[0] == '-' || text[0] == '<' ||
		    text[0] == '(';
	return true;
}

/* Like ruby_scope of ruby.bpf.h. */
static uint64_t class_variable(struct ruby_checker *c, uint64_t class, const char *text)
{
	uint64_t at = word(c, word(c, class + c->l->class_table) + c->l->class_path);
	char found[TEXT_MAX];

	at = word(c, at + RUBY_TABLE_ENTRIES);
	for (unsigned int i = 0; i < RUBY_TABLE_LOOK; i++, at += 24) {
		const uint64_t value = word(c, at + 16), type = RUBY_TYPE(word(c, value));

		if (text ? read_text(c, value, found) && !strcmp(found, text)
			 : type == RUBY_CLASS || type == RUBY_MODULE)
			return value;
	}
	return 0;
}

/* The class of all has a name, and its singleton class is attached to it. */
static int check_classes(struct ruby_checker *c)
{
	const uint64_t object = word(c, c->vm_at + c->l->object), single = word(c, object + 8);
	uint64_t name, attached;
	char text[TEXT_MAX];

	if (RUBY_TYPE(word(c, object)) != RUBY_CLASS || RUBY_TYPE(word(c, single)) != RUBY_CLASS ||
	    !(word(c, single) & c->l->class_singleton))
		return refuse(c, "Object is no class");
	if (c->l->class_table) {
		name = class_variable(c, object, "Object");
		attached = class_variable(c, single, NULL);
	} else {
		name = word(c, object + c->l->class_path);
		attached = word(c, single + c->l->class_attached);
	}
	if (attached != object)
		return refuse(c, "a singleton class is attached to another object");
	if (!read_text(c, name, text) || strcmp(text, "Object") != 0)
		return refuse(c, "a class has another name");
	return 0;
}

/* --- functions ------------------------------------------------------------------------------- */

static int check_label(struct ruby_checker *c, const uint8_t *body)
{
	char label[TEXT_MAX], base[TEXT_MAX];
	const size_t size = read_text(c, word_at(body, c->l->body_label), label),
		     nbase = read_text(c, word_at(body, c->l->body_label - 8), base);

	if (!size || !nbase)
		return refuse(c, "a function has no label");
	if (strcmp(label, "<compiled>") != 0 && /* an eval, from 3.4 on */
	    (nbase > size || (size < TEXT_MAX - 1 && strcmp(label + size - nbase, base) != 0)))
		return refuse(c, "a label does not end with the name of its method");
	if (!has_path(c, word_at(body, c->l->body_path)))
		return refuse(c, "a function has no file");
	return 0;
}

/* The table that ruby_read_lines of ruby.bpf.h makes; its size, 0: it cannot be had. */
static size_t read_lines(struct ruby_checker *c, const uint8_t *body)
{
	const uint32_t words = int_at(body, c->l->body_words);
	const uint64_t entries = word_at(body, c->l->body_lines),
		       index = word_at(body, c->l->body_lines + 24);
	struct ruby_lines head = {RUBY_INDEX_BYTES(words), int_at(body, c->l->body_lines + 16)};
	uint64_t size = (uint64_t)head.count * RUBY_LINE_ENTRY;

	if (!index || head.index > RUBY_INDEX_MAX ||
	    sizeof(head) + head.index + size > sizeof(c->table))
		return 0;
	memcpy(c->table, &head, sizeof(head));
	if (c->read(c->arg, index, c->table + sizeof(head), head.index) ||
	    c->read(c->arg, entries, c->table + sizeof(head) + head.index, (size_t)size))
		return 0;
	return sizeof(head) + head.index + (size_t)size;
}

static int check_lines(struct ruby_checker *c, const uint8_t *body, uint64_t place)
{
	const uint32_t count = int_at(body, c->l->body_lines + 16);
	size_t size;

	if (!count || count > int_at(body, c->l->body_words))
		return refuse(c, "a function has no lines");
	if (!word_at(body, c->l->body_lines + 24)) /* not finished */
		return 0;
	size = read_lines(c, body);
	if (!size)
		return word_at(body, c->l->body_words) > TABLE_MAX / RUBY_LINE_ENTRY
			       ? 0
			       : refuse(c, "a table of lines cannot be read");
	if (!ruby_line(c->table, size, (uint32_t)place) ||
	    ruby_line(c->table, size, (uint32_t)place) > LINE_MAX)
		return refuse(c, "a frame is at no line of its function");
	c->lines++;
	return 0;
}

static int check_function(struct ruby_checker *c, uint64_t iseq, uint64_t pc)
{
	uint8_t body[OBJECT_MAX] = {0};
	uint64_t code, place;
	uint32_t words, line;
	int err;

	if (iseq & 7 || RUBY_MEMO(word(c, iseq)) != RUBY_ISEQ)
		return refuse(c, "a frame has no function");
	if (c->read(c->arg, word(c, iseq + c->l->iseq_body), body, c->l->body_size))
		return refuse(c, "a function cannot be read");
	code = word_at(body, c->l->body_code);
	words = int_at(body, c->l->body_words);
	place = (pc - code) / 8;
	if (!words || words > WORDS_MAX || code & 7 || pc & 7 || int_at(body, 0) > 16)
		return refuse(c, "a function has an impossible size");
	if (place > words)
		return refuse(c, "a frame is outside of its function");
	line = int_at(body, c->l->body_line);
	if ((c->l->line_shift && !(line & 1)) || line >> c->l->line_shift > LINE_MAX)
		return refuse(c, "a function begins at an impossible line");
	c->frames++;
	err = check_label(c, body);
	return err ? err : check_lines(c, body, place);
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Of the method entry that an environment has, like ruby_owner_step of ruby.bpf.h. */
static int check_owner(struct ruby_checker *c, uint64_t ep)
{
	uint64_t entry = word(c, ep + 8 * (uint64_t)RUBY_ENV_METHOD), flags = word(c, entry), type;

	if (RUBY_MEMO(flags) == RUBY_SVAR) {
		entry = word(c, entry + 8);
		flags = word(c, entry);
	}
	if (entry & 7 || RUBY_MEMO(flags) != RUBY_METHOD_ENTRY)
		return 0;
	type = RUBY_TYPE(word(c, word(c, entry + c->l->method_owner)));
	if (type != RUBY_CLASS && type != RUBY_MODULE)
		return refuse(c, "a method has no owner");
	c->owners++;
	return 0;
}

/* The flags of a frame have a kind, and bit 0 (VM_FRAME_MAGIC_MASK). */
static bool is_frame(uint64_t flags)
{
	static const uint16_t kinds[] = {0x1111, 0x2222, 0x3333, 0x4444, 0x5555,
					 0x6666, 0x7777, 0x7888, 0x7999};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (RUBY_FRAME_KIND(flags) == kinds[i])
			return flags & 1;
	return false;
}

/* *runs: of frames of Ruby. */
static int check_frames(struct ruby_checker *c, uint64_t from, uint64_t end, unsigned int *runs)
{
	*runs = 0;
	if (from & 7 || (end - from) % c->l->frame_size)
		return refuse(c, "frames do not end with their stack");
	for (unsigned int n = 0; from < end && n < FRAMES_MAX; n++, from += c->l->frame_size) {
		uint8_t frame[OBJECT_MAX] = {0};
		uint64_t ep, flags;
		int err;

		if (c->read(c->arg, from, frame, c->l->frame_size))
			return refuse(c, "a frame cannot be read");
		ep = word_at(frame, c->l->frame_ep);
		if (ep & 7 || !read_word(c, ep, &flags) || !is_frame(flags))
			return refuse(c, "a frame has no environment");
		if (flags & RUBY_FRAME_C && word_at(frame, 0))
			return refuse(c, "a frame of C has instructions");
		if (flags & RUBY_FRAME_C || RUBY_FRAME_KIND(flags) == RUBY_FRAME_DUMMY)
			continue;
		err = check_function(c, word_at(frame, c->l->frame_iseq), word_at(frame, 0));
		if (!err)
			err = check_owner(c, ep);
		if (err)
			return err;
		*runs += (flags & RUBY_FRAME_FINISH) != 0;
	}
	return 0;
}

/* --- records of calls ------------------------------------------------------------------------ */

static uint64_t label_of(struct ruby_checker *c, uint64_t tag, uint64_t guard)
{
	uint64_t label;

	if (c->l->jump == RUBY_JUMP_BUILTIN)
		return word(c, tag + c->l->tag_buf + 8);
	label = word(c, tag + c->l->tag_buf + 56);
	if (c->l->jump == RUBY_JUMP_MANGLED)
		label = (label >> GUARD_SHIFT | label << (64 - GUARD_SHIFT)) ^ guard;
	return label;
}

struct ruby_tags { /* what the records of a stack jump to, the innermost first */
	unsigned int count;
	uint64_t labels[TAGS_MAX];
};

/* Records lie above each other, and jump into the runtime. */
static bool read_tags(struct ruby_checker *c, uint64_t tag, uint64_t guard, struct ruby_tags *out)
{
	uint64_t back;

	out->count = 0;
	for (; tag && out->count < TAGS_MAX; tag = back) {
		const uint64_t label = label_of(c, tag, guard);

		if (tag & 7 || !read_word(c, tag + c->l->tag_prev, &back) ||
		    (back && back <= tag) || label - c->vm_at + NEAR > 2ull * NEAR)
			return false;
		out->labels[out->count++] = label;
	}
	return true;
}

static unsigned int count_of(const struct ruby_tags *tags, uint64_t label)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < tags->count; i++)
		count += tags->labels[i] == label;
	return count;
}

/*
 * Learns from the main thread's records how and where vm_exec jumps. While functions of C have as
 * many records as vm_exec has, which they do at the start, nothing is proven.
 */
static int learn(struct ruby_checker *c, uint64_t tag, uint64_t guard, unsigned int runs)
{
	static struct ruby_tags tags;
	int jump = RUBY_JUMP_BUILTIN;

	if (!tag) /* a program in C does not call it now */
		return -EAGAIN;
	for (; jump <= RUBY_JUMP_MANGLED; jump++) {
		ruby_layout_jump(c->l, (enum ruby_jump)jump);
		if (read_tags(c, tag, guard, &tags) && tags.count)
			break;
	}
	if (jump > RUBY_JUMP_MANGLED)
		return refuse(c, "the main thread has no records of calls");
	if (tags.count < 2 || !runs)
		return -EAGAIN;
	c->label = tags.labels[tags.count - 2];
	if (tags.count == 2 && runs == 1)
		return 0;
	for (unsigned int i = 0; i < tags.count; i++)
		if (tags.labels[i] != c->label && count_of(&tags, tags.labels[i]) == runs)
			return -EAGAIN;
	return 0;
}

/* --- threads --------------------------------------------------------------------------------- */

static int check_context(struct ruby_checker *c, uint64_t ec, uint64_t thread, uint64_t pointer,
			 bool main)
{
	uint8_t bytes[OBJECT_MAX] = {0};
	static struct ruby_tags tags;
	uint64_t stack, end, cfp, tag;
	unsigned int runs;
	int err;

	if (ec & 7 || c->read(c->arg, ec, bytes, c->l->ec_size) ||
	    word_at(bytes, c->l->ec_thread) != thread)
		return refuse(c, "a context is of another thread");
	stack = word_at(bytes, 0);
	end = stack + 8 * word_at(bytes, 8);
	cfp = word_at(bytes, c->l->ec_cfp);
	tag = word_at(bytes, c->l->ec_tag);
	if (!stack && !main) /* has not begun */
		return 0;
	if (stack & 7 || word_at(bytes, 8) > STACK_MAX || cfp < stack || cfp >= end)
		return refuse(c, "a stack of frames has no end");
	err = check_frames(c, cfp, end, &runs);
	if (!err && main && !c->label)
		err = learn(c, tag, word(c, pointer + GUARD), runs);
	if (err)
		return err;
	if (!read_tags(c, tag, word(c, pointer + GUARD), &tags))
		return refuse(c, "records of calls do not follow each other");
	if (end - cfp < FRAMES_MAX * (uint64_t)c->l->frame_size && tags.count < TAGS_MAX &&
	    count_of(&tags, c->label) != runs)
		return refuse(c, "there are more records of calls than calls, or fewer");
	return 0;
}

static int check_thread(struct ruby_checker *c, uint64_t addr, uint64_t ractor, bool main)
{
	uint8_t thread[OBJECT_MAX] = {0};
	uint64_t pointer, self, tid;

	if (addr & 7 || c->read(c->arg, addr, thread, c->l->thread_size))
		return refuse(c, "a thread cannot be read");
	if (word_at(thread, c->l->thread_ractor) != ractor)
		return refuse(c, "a thread is of another ractor");
	c->locked |= addr == c->owner;
	if (c->l->thread_native) {
		const uint64_t native = word_at(thread, c->l->thread_native);

		if (!native && !main) /* has none now */
			return 0;
		pointer = word(c, native + c->l->thread_id);
	} else {
		pointer = word_at(thread, c->l->thread_id);
	}
	if (!pointer && !main) /* has not begun */
		return 0;
	if (!read_word(c, pointer, &self) || !read_word(c, pointer + THREADBLOCK_TID, &tid) ||
	    !threadblock_is_sound(pointer, self, tid))
		return refuse(c, "a thread is none of the process");
	return check_context(c, word_at(thread, c->l->thread_ec), addr, pointer, main);
}

/* The members of a list, whose number is behind its head. */
static int read_list(struct ruby_checker *c, uint64_t head, uint64_t *members, unsigned int max,
		     unsigned int *count)
{
	uint64_t node = word(c, head), before = head;
	uint32_t said = (uint32_t)word(c, head + 16);

	*count = 0;
	for (; node && node != head; node = word(c, node)) {
		if (*count == max)
			return 0;
		if (word(c, node + 8) != before)
			return refuse(c, "a list does not lead back");
		before = node;
		members[(*count)++] = node;
	}
	if (!node || !*count || said != *count)
		return refuse(c, "a list has another number of members");
	return 0;
}

static int check_ractor(struct ruby_checker *c, uint64_t ractor, bool main)
{
	uint64_t threads[THREADS_MAX];
	unsigned int n;
	int err = read_list(c, ractor + c->l->ractor_threads, threads, THREADS_MAX, &n);

	c->owner = c->l->ractor_owner ? word(c, ractor + c->l->ractor_owner) : 0;
	c->locked = false;
	/* The main thread is the first. */
	for (unsigned int i = 0; i < n && !err; i++)
		err = check_thread(c, threads[i], ractor, main && !i);
	if (!err && c->owner && !c->locked && n < THREADS_MAX)
		err = refuse(c, "the lock is held by no known thread");
	return err;
}

/* Neighbours in all versions; a lone wrong offset shows. Up to 3.2 the scheduler begins with the
 * owner, which is behind a mutex since. */
static bool is_consistent(const struct ruby_layout *l)
{
	return l->vm_main == l->vm_ractors + 24 && l->ec_tag == l->ec_cfp + 8 &&
	       l->frame_ep == l->frame_iseq + 16 && l->body_code == l->body_words + 4 &&
	       l->body_label == l->body_path + 16 && l->body_line == l->body_label + 8 &&
	       l->body_head == l->body_line + (l->line_shift ? 8 : 4) &&
	       l->body_size == l->body_lines + 32 && l->thread_size <= OBJECT_MAX &&
	       l->string_pointer == 24 && l->body_size <= OBJECT_MAX &&
	       (l->frame_size == 56 || l->frame_size == 64) && l->line_shift <= 1 &&
	       l->ec_size == l->ec_thread + 8 && l->ec_size <= OBJECT_MAX && l->tag_buf == 16 &&
	       l->method_owner == 32 &&
	       (l->class_path || (!l->class_table && !l->class_attached)) &&
	       (l->class_singleton == RUBY_USER_0 || l->class_singleton == RUBY_USER_0 << 1) &&
	       (!l->ractor_owner ||
		l->ractor_owner == l->ractor_threads + (l->frame_size == 56 ? 72 : 32));
}

int ruby_check(struct ruby_layout *layout, uint64_t vm_at, ruby_read_fn *read, void *arg,
	       uint64_t *label, const char **why)
{
	struct ruby_checker c = {.l = layout, .vm_at = vm_at, .read = read, .arg = arg};
	uint64_t vm = 0, main, ractors[RACTORS_MAX];
	unsigned int n = 0;
	bool known = false, locked = false;
	int err = is_consistent(layout) ? 0 : refuse(&c, "its layout contradicts itself");

	if (!err && !read_word(&c, vm_at, &vm))
		err = refuse(&c, "the runtime's state cannot be read");
	if (!err && !vm)
		return -ENOENT;
	if (!err)
		err = read_list(&c, vm + layout->vm_ractors, ractors, RACTORS_MAX, &n);
	main = word(&c, vm + layout->vm_main);
	for (unsigned int i = 0; i < n && !err; i++)
		known |= ractors[i] - layout->ractor_next == main;
	if (!err && !known)
		err = refuse(&c, "the main ractor is none of the ractors");
	if (!err)
		err = check_ractor(&c, main, true);
	locked = c.owner != 0;
	for (unsigned int i = 0; i < n && !err; i++)
		if (ractors[i] - layout->ractor_next != main)
			err = check_ractor(&c, ractors[i] - layout->ractor_next, false);
	if (!err && (!c.frames || !c.lines || !c.owners))
		err = -ENOENT;
	if (!err && !c.paths)
		err = refuse(&c, "no function is of a file");
	if (!err && layout->class_path)
		err = check_classes(&c);
	*why = c.why;
	*label = c.label;
	if (!err && !locked)
		layout->ractor_owner = 0;
	return err;
}
