// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See language.h. A function is kept for as long as a stack refers to it; of the others the oldest
 * go when there are too many. Lines are decoded when a stack arrives, from the table that came with
 * the function.
 */
#include "tui/symbolize/language.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/prog/layout.h"
#include "symbols/base/hash.h"
#include "symbols/base/memory.h"
#include "symbols/base/text.h"
#include "symbols/runtime/python_code.h"

#define METHODS_BYTES (memory_limit(MEMORY_JIT) / 4)

struct method_key {
	uint64_t exec_id, code;
	uint32_t tgid, check;
};

struct method {
	struct language_method shown;
	struct method_key key;
	uint64_t hash; /* of the BPF program */
	unsigned int refs;
	size_t bytes;
	struct python_layout layout; /* as far as it matters for lines */
	uint32_t first;
	uint32_t table_size, table_all;
	const uint8_t *table;
	bool hashed;
	UT_hash_handle hh;
	uint8_t data[]; /* table, name and file */
};

struct language {
	struct method *methods; /* by key, oldest first */
	size_t bytes;
	void (*forget)(void *arg, uint64_t hash);
	void *arg;
};

int language_new(void (*forget)(void *arg, uint64_t hash), void *arg, struct language **out)
{
	struct language *l = calloc(1, sizeof(*l));

	*out = l;
	if (!l)
		return -ENOMEM;
	l->forget = forget;
	l->arg = arg;
	return 0;
}

static void method_drop(struct language *l, struct method *m)
{
	HASH_DEL(l->methods, m);
	l->bytes -= m->bytes;
	free(m);
}

void language_free(struct language *l)
{
	if (!l)
		return;
	while (l->methods)
		method_drop(l, l->methods);
	free(l);
}

/* --- functions ------------------------------------------------------------------------------- */

static void methods_bound(struct language *l)
{
	struct method *m, *next;

	HASH_ITER(hh, l->methods, m, next) {
		if (l->bytes <= METHODS_BYTES)
			break;
		if (m->refs)
			continue;
		l->forget(l->arg, m->hash);
		method_drop(l, m);
	}
}

static struct method_key key_of(const struct stack_record *rec, uint64_t code, uint32_t check)
{
	return (struct method_key){
		.exec_id = rec->exec_id, .code = code, .tgid = rec->tgid, .check = check};
}

static struct method *method_find(const struct language *l, const struct method_key *key)
{
	struct method *m;

	HASH_FIND(hh, l->methods, key, sizeof(*key), m);
	return m;
}

/* A text, or what stands for one that could not be read. */
static size_t read_text(const struct python_layout *layout, const uint8_t *bytes, size_t size,
			char to[METHOD_TEXT])
{
	size_t length = python_text(layout, bytes, size, to, METHOD_TEXT);

	if (length)
		return length;
	to[0] = '?';
	to[1] = '\0';
	return 1;
}

static struct method *method_new(const struct method_record *rec)
{
	const struct python_layout layout = {
		.version = rec->version,
		.text_length = rec->text_layout[0],
		.text_state = rec->text_layout[1],
		.text_ascii = rec->text_layout[2],
		.text_compact = rec->text_layout[3],
	};
	char name[METHOD_TEXT], file[METHOD_TEXT];
	const size_t nname = read_text(&layout, rec->text[0], rec->name_size, name) + 1,
		     nfile = read_text(&layout, rec->text[1], rec->file_size, file) + 1,
		     bytes = sizeof(struct method) + rec->table_size + nname + nfile;
	struct method *m = calloc(1, bytes);
	uint8_t *at;

	if (!m)
		return NULL;
	m->bytes = bytes;
	m->hash = rec->hash;
	m->key = (struct method_key){rec->exec_id, rec->code, rec->tgid, rec->check};
	m->layout = layout;
	m->first = rec->first;
	m->table_size = rec->table_size;
	m->table_all = rec->table_all;
	at = m->data;
	m->table = memcpy(at, rec + 1, rec->table_size);
	at += rec->table_size;
	m->shown = (struct language_method){FUNC_PYTHON, memcpy(at, name, nname),
					    memcpy(at + nname, file, nfile)};
	return m;
}

void language_add(struct language *l, const struct method_record *rec)
{
	struct method *m, *old;

	if (rec->name_size > METHOD_TEXT || rec->file_size > METHOD_TEXT ||
	    rec->table_size > METHOD_TABLE)
		return;
	m = method_new(rec);
	if (!m) {
		l->forget(l->arg, rec->hash);
		return;
	}
	old = method_find(l, &m->key);
	if (old) { /* sent again: the kernel had forgotten it */
		free(m);
		return;
	}
	m->hashed = true;
	HASH_ADD(hh, l->methods, key, sizeof(m->key), m);
	if (!m->hashed) {
		l->forget(l->arg, rec->hash);
		free(m);
		return;
	}
	l->bytes += m->bytes;
	methods_bound(l);
}

/* --- stacks ---------------------------------------------------------------------------------- */

static uint32_t line_of(const struct method *m, uint32_t place)
{
	const unsigned int minor = m->layout.version >> 16 & 0xff;
	int32_t at = (int32_t)place;

	if (minor == 10 && at > 0) /* instructions of two bytes */
		at = at < INT32_MAX / 2 ? 2 * at : INT32_MAX;
	return python_line(&m->layout, m->table, m->table_size, m->table_all, m->first, at);
}

struct language_stack *language_stack_new(struct language *l, const struct stack_record *rec)
{
	const struct language_frame *frames = (const struct language_frame *)rec->frames;
	const uint32_t n = rec->nframes / 2;
	uint32_t at = LANGUAGE_NOWHERE;
	struct language_stack *stack = calloc(1, sizeof(*stack) + n * sizeof(struct language_call));

	if (!stack)
		return NULL;
	stack->lock = rec->reason;
	for (uint32_t i = 0; i < n; i++) {
		const struct method_key key = key_of(rec, frames[i].code, frames[i].check);
		struct method *m = method_find(l, &key);

		if (!m) {
			language_stack_free(l, stack);
			return NULL;
		}
		m->refs++;
		stack->frames[stack->nframes++] = (struct language_call){
			&m->shown, line_of(m, frames[i].place), frames[i].at};
	}
	for (uint32_t i = n; i-- > 0;) {
		if (stack->frames[i].at == LANGUAGE_SAME)
			stack->frames[i].at = at;
		at = stack->frames[i].at;
	}
	return stack;
}

void language_stack_free(struct language *l, struct language_stack *stack)
{
	if (!stack)
		return;
	for (uint32_t i = 0; i < stack->nframes; i++)
		((struct method *)stack->frames[i].method)->refs--; /* shown is its first member */
	free(stack);
	methods_bound(l);
}

size_t language_stack_bytes(const struct language_stack *stack)
{
	return sizeof(*stack) + stack->nframes * sizeof(stack->frames[0]);
}
