/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUBY_METHOD_BPF_H
#define STACKTOP_BPF_PROG_RUBY_METHOD_BPF_H

/*
 * What is said of a function of Ruby once, when a stack is new: the class of its method, found by
 * the environments around the frame, its label, file and table of lines.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/prog/runtime_send.bpf.h"

#define RUBY_ENVS	 8		       /* from a block to its method */
#define RUBY_TEXT_OBJECT 0x7463656a624full     /* "Object" */
#define RUBY_TEXT_EVAL	 0x656c69706d6f633cull /* "<compile", of "<compiled>" */

/* Takes a text from a String. */
static __always_inline void ruby_text(struct runtime_state *r, enum method_text which, __u64 addr)
{
	const struct ruby_layout *l = &r->process.ruby;
	__u64 flags = runtime_word(addr), size, at;

	if (RUBY_TYPE(flags) != RUBY_STRING)
		return;
	at = addr + l->string_embed;
	if (flags & RUBY_NOT_EMBEDDED)
		at = runtime_word(addr + l->string_pointer);
	if (flags & RUBY_NOT_EMBEDDED || l->string_length)
		size = runtime_word(addr + 16);
	else
		size = flags >> 14 & 0x1f;
	r->method.text_size[which] = method_text(r->method.text[which], at, size, 0);
}

/* Variables of a class, 3.1. */
static __always_inline __u64 ruby_variables(const struct ruby_layout *l, __u64 class)
{
	__u64 table = runtime_word(runtime_word(class + l->class_table) + l->class_path);

	return runtime_word(table + RUBY_TABLE_ENTRIES);
}

/* That with the key, or without one that is a class or module. */
__attribute__((noinline)) __u64 ruby_variable(__u64 class, __u64 key)
{
	struct runtime_state *r = runtime_state();
	__u64 at, value;
	__u32 i, type;

	if (!r)
		return 0;
	at = ruby_variables(&r->process.ruby, class);
	for (i = 0; i < RUBY_TABLE_LOOK; i++, at += 24) {
		value = runtime_word(at + 16);
		type = RUBY_TYPE(runtime_word(value));
		if (key ? runtime_word(at + 8) == key : type == RUBY_CLASS || type == RUBY_MODULE)
			return value;
	}
	return 0;
}

/* The key of the one that has the name of a class: in Object it is "Object". */
__attribute__((noinline)) __u64 ruby_name_key(void)
{
	struct runtime_state *r = runtime_state();
	__u64 at, text;
	__u32 i;

	if (!r)
		return 0;
	at = ruby_variables(&r->process.ruby, runtime_word(r->process.at + r->process.ruby.object));
	for (i = 0; i < RUBY_TABLE_LOOK; i++, at += 24) {
		text = runtime_word(at + 16);
		if (RUBY_TYPE(runtime_word(text)) == RUBY_STRING &&
		    runtime_word(text + r->process.ruby.string_embed) << 16 >> 16 ==
			    RUBY_TEXT_OBJECT)
			return runtime_word(at + 8);
	}
	return 0;
}

/* The name of a class becomes the scope; those without one have none. */
__attribute__((noinline)) int ruby_scope(__u64 class)
{
	struct runtime_state *r = runtime_state();
	const struct ruby_layout *l;
	__u64 flags, key, name = 0;

	if (!r)
		return 0;
	l = &r->process.ruby;
	flags = runtime_word(class);
	r->method.text_layout[0] = '#';
	if (RUBY_TYPE(flags) == RUBY_CLASS && flags & l->class_singleton) {
		r->method.text_layout[0] = '.';
		if (l->class_attached)
			class = runtime_word(class + l->class_attached);
		else
			class = ruby_variable(class, 0);
		flags = runtime_word(class);
	}
	if (RUBY_TYPE(flags) != RUBY_CLASS && RUBY_TYPE(flags) != RUBY_MODULE)
		return 0;
	if (!l->class_table)
		name = runtime_word(class + l->class_path);
	else if ((key = ruby_name_key()))
		name = ruby_variable(class, key);
	if (name)
		ruby_text(r, METHOD_SCOPE, name);
	return 0;
}

/* The class of a method whose environment is r->above; else that becomes the one around it. 0: it
 * is none.
 */
__attribute__((noinline)) __u64 ruby_owner_step(void)
{
	struct runtime_state *r = runtime_state();
	__u64 entry, flags;

	if (!r || !r->above)
		return 0;
	entry = runtime_word(r->above + 8 * RUBY_ENV_METHOD);
	flags = runtime_word(entry);
	if (RUBY_MEMO(flags) == RUBY_SVAR) {
		entry = runtime_word(entry + 8);
		flags = runtime_word(entry);
	}
	if (RUBY_MEMO(flags) == RUBY_METHOD_ENTRY)
		return runtime_word(entry + r->process.ruby.method_owner);
	flags = runtime_word(r->above);
	r->above = flags & RUBY_ENV_LOCAL ? 0 : runtime_word(r->above + 8 * RUBY_ENV_OUTER) & ~3ull;
	return 0;
}

/* The class of the method in which the frame with this environment is; 0: it is in none. */
static __always_inline __u64 ruby_owner(struct runtime_state *r, __u64 ep)
{
	__u64 class = 0;
	int i;

	r->above = ep;
	for (i = 0; i < RUBY_ENVS && !class; i++)
		class = ruby_owner_step();
	return class;
}

/* The table of lines of the body in the object. */
__attribute__((noinline)) int ruby_read_lines(void)
{
	struct runtime_state *r = runtime_state();
	struct ruby_lines *head;
	__u64 entries, index, size, bytes;
	__u32 count, words;

	if (!r)
		return 0;
	head = (struct ruby_lines *)r->table;
	entries = object_word(r, r->process.ruby.body_lines);
	count = object_int(r, r->process.ruby.body_lines + 16);
	index = object_word(r, r->process.ruby.body_lines + 24);
	words = object_int(r, r->process.ruby.body_words);
	bytes = RUBY_INDEX_BYTES(words);
	size = (__u64)count * RUBY_LINE_ENTRY;
	r->method.table_all = sizeof(*head) + bytes + size;
	if (!index || bytes > RUBY_INDEX_MAX)
		return 0;
	if (size > METHOD_TABLE - sizeof(*head) - RUBY_INDEX_MAX)
		size = METHOD_TABLE - sizeof(*head) - RUBY_INDEX_MAX;
	head->index = bytes;
	head->count = count;
	STEP_BARRIER(bytes);
	bytes &= RUBY_INDEX_MAX;
	STEP_BARRIER(size);
	if (size > METHOD_TABLE - sizeof(*head) - RUBY_INDEX_MAX ||
	    bpf_probe_read_user(r->table + sizeof(*head), bytes, (const void *)index) ||
	    bpf_probe_read_user(r->table + sizeof(*head) + bytes, size, (const void *)entries))
		return 0;
	r->method.table_size = sizeof(*head) + bytes + size;
	return 0;
}

/*
 * The name of the function whose body is in the object. That of an eval is the method's around it,
 * but from 3.4 on the label does not say so, only the base label.
 */
static __always_inline void ruby_name(struct runtime_state *r)
{
	const __u32 label = r->process.ruby.body_label;
	__u64 begins;

	ruby_text(r, METHOD_NAME, object_word(r, label));
	__builtin_memcpy(&begins, r->method.text[METHOD_NAME], sizeof(begins));
	if (begins == RUBY_TEXT_EVAL && r->method.text_size[METHOD_NAME] > sizeof(begins))
		ruby_text(r, METHOD_NAME, object_word(r, label - 8));
}

/* The file of a function: a String, or an Array of the path and the real path. */
static __always_inline __u64 ruby_path(__u64 path)
{
	__u64 flags = runtime_word(path);

	if (RUBY_TYPE(flags) != RUBY_ARRAY)
		return path;
	return runtime_word(flags & RUBY_EMBEDDED ? path + 16 : runtime_word(path + 32));
}

#endif
