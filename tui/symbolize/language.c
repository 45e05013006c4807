// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See language.h. A function is kept for as long as a stack refers to it; of the others the oldest
 * go when there are too many. Lines are decoded when a stack arrives, from the table that came with
 * the function.
 */
#include "tui/symbolize/language.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/hash.h"
#include "symbols/base/memory.h"
#include "symbols/base/text.h"
#include "symbols/names/madename.h"
#include "symbols/runtime/python_code.h"
#include "symbols/runtime/ruby_code.h"
#include "symbols/runtime/v8_code.h"

#define METHODS_BYTES (memory_limit(MEMORY_JIT) / 4) /* half of it for their tables of lines */

struct decoder;

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
	const struct decoder *decoder;
	uint32_t version; /* of the runtime */
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
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(l->methods, m);
	l->bytes -= m->bytes;
	free(m);
}

void language_free(struct language *l)
{
	if (!l)
		return;
	while (l->methods)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		method_drop(l, l->methods);
	free(l);
}

/* --- languages ------------------------------------------------------------------------------- */

static size_t python_text_of(const struct method_record *rec, enum method_text of, char *to,
			     size_t room)
{
	const struct python_layout layout = {
		.version = rec->version,
		.text_length = rec->text_layout[0],
		.text_state = rec->text_layout[1],
		.text_ascii = rec->text_layout[2],
		.text_compact = rec->text_layout[3],
	};

	return python_text(&layout, rec->text[of], rec->text_size[of], to, room);
}

static uint32_t python_line_of(const struct method *m, uint32_t place)
{
	const struct python_layout layout = {.version = m->version};
	int32_t at = (int32_t)place;

	if ((m->version >> 16 & 0xff) == 10 && at > 0) /* instructions of two bytes */
		at = at < INT32_MAX / 2 ? 2 * at : INT32_MAX;
	return python_line(&layout, m->table, m->table_size, m->table_all, m->first, at);
}

/* Of languages whose texts are plain characters. */
static size_t plain_text_of(const struct method_record *rec, enum method_text of, char *to,
			    size_t room)
{
	const char *text = (const char *)rec->text[of];

	return text_clean(to, room, text, strnlen(text, rec->text_size[of]));
}

/* Of those whose places are lines. */
static uint32_t plain_line_of(const struct method *m, uint32_t place)
{
	(void)m;
	return place;
}

/* The class stands within the label. */
static size_t ruby_text_of(const struct method_record *rec, enum method_text of, char *to,
			   size_t room)
{
	if (of == METHOD_FILE)
		return text_clean(to, room, (const char *)rec->text[of], rec->text_size[of]);
	if (of != METHOD_NAME)
		return 0;
	return ruby_label((const char *)rec->text[of], rec->text_size[of],
			  (const char *)rec->text[METHOD_SCOPE], rec->text_size[METHOD_SCOPE],
			  (char)rec->text_layout[0], to, room);
}

static uint32_t ruby_line_of(const struct method *m, uint32_t place)
{
	const uint32_t line = ruby_line(m->table, m->table_size, place);

	return line ? line : m->first;
}

static size_t v8_text_of(const struct method_record *rec, enum method_text of, char *to,
			 size_t room)
{
	const enum text_form form = rec->text_layout[of];
	const char *path;
	size_t length;

	if (form == TEXT_NONE)
		return of == METHOD_NAME ? (size_t)snprintf(to, room, "%s", MADENAME_NONE) : 0;
	length = v8_text(rec->text[of], rec->text_size[of], form == TEXT_UTF16, to, room);
	if (of != METHOD_FILE)
		return length;
	path = madename_path(to);
	length -= (size_t)(path - to);
	memmove(to, path, length + 1);
	return length;
}

/* Where the function begins; which of its lines runs is not known. */
static uint32_t first_line_of(const struct method *m, uint32_t place)
{
	(void)place;
	return m->first;
}

static const struct decoder {
	enum func_kind kind;
	const char *scope; /* between a scope and a name, at most 3 bytes */
	/* The text, clean and terminated. Its length; 0: there is none. */
	size_t (*text)(const struct method_record *rec, enum method_text of, char *to, size_t room);
	uint32_t (*line)(const struct method *m, uint32_t place);
} decoders[RUNTIME_COUNT] = {
	[RUNTIME_PYTHON] = {FUNC_PYTHON, ".", python_text_of, python_line_of},
	[RUNTIME_PHP] = {FUNC_PHP, "::", plain_text_of, plain_line_of},
	[RUNTIME_PERL] = {FUNC_PERL, "::", plain_text_of, plain_line_of},
	[RUNTIME_RUBY] = {FUNC_RUBY, "", ruby_text_of, ruby_line_of},
	[RUNTIME_V8] = {FUNC_JS, ".", v8_text_of, first_line_of},
};

static bool is_sound(const struct method_record *rec)
{
	if (rec->runtime >= RUNTIME_COUNT || !decoders[rec->runtime].text ||
	    rec->table_size > METHOD_TABLE)
		return false;
	for (unsigned int i = 0; i < METHOD_TEXTS; i++)
		if (rec->text_size[i] > METHOD_TEXT)
			return false;
	return true;
}

/* --- functions ------------------------------------------------------------------------------- */

/* Drops the oldest that no stack refers to, until no more than so many bytes are left. */
static void methods_bound(struct language *l, size_t bytes)
{
	struct method *m, *next;

	HASH_ITER(hh, l->methods, m, next) {
		if (l->bytes <= bytes)
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
static size_t read_text(const struct method_record *rec, enum method_text of, char to[METHOD_TEXT])
{
	size_t length = decoders[rec->runtime].text(rec, of, to, METHOD_TEXT);

	if (length)
		return length;
	to[0] = '?';
	to[1] = '\0';
	return 1;
}

/* With so many bytes of its table of lines. */
static struct method *method_new(const struct method_record *rec, uint32_t table)
{
	const struct decoder *decoder = &decoders[rec->runtime];
	char name[METHOD_TEXT], file[METHOD_TEXT], scope[METHOD_TEXT];
	const size_t nname = read_text(rec, METHOD_NAME, name),
		     nfile = read_text(rec, METHOD_FILE, file);
	size_t nscope = 0, bytes;
	struct method *m;
	char *at;

	if (rec->text_size[METHOD_SCOPE])
		nscope = decoder->text(rec, METHOD_SCOPE, scope, sizeof(scope) - 4);
	if (nscope) /* "Class" and "::" */
		nscope += (size_t)snprintf(scope + nscope, sizeof(scope) - nscope, "%s",
					   decoder->scope);
	bytes = sizeof(*m) + table + nscope + nname + nfile + 2;
	m = calloc(1, bytes);
	if (!m)
		return NULL;
	m->bytes = bytes;
	m->hash = rec->hash;
	m->key = (struct method_key){rec->exec_id, rec->code, rec->tgid, rec->check};
	m->decoder = decoder;
	m->version = rec->version;
	m->first = rec->first;
	m->table_size = table;
	m->table_all = rec->table_all;
	m->table = memcpy(m->data, rec + 1, table);
	at = (char *)m->data + table;
	m->shown = (struct language_method){decoder->kind, at, at + nscope + nname + 1};
	memcpy(at, scope, nscope);
	memcpy(at + nscope, name, nname + 1);
	memcpy(at + nscope + nname + 1, file, nfile + 1);
	return m;
}

void language_add(struct language *l, const struct method_record *rec)
{
	struct method *m, *old;

	if (!is_sound(rec))
		return;
	/* Where stacks refer to so many, lines go before names. */
	methods_bound(l, METHODS_BYTES / 2);
	m = method_new(rec, l->bytes <= METHODS_BYTES / 2 ? rec->table_size : 0);
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
	methods_bound(l, METHODS_BYTES);
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* Frames of several runtimes: by the native frames that run them; those without a place are last.
 */
static void weave(struct language_stack *stack)
{
	for (uint32_t i = 1; i < stack->nframes; i++) {
		const struct language_call call = stack->frames[i];
		uint32_t to = i;

		for (; to && stack->frames[to - 1].at > call.at; to--)
			stack->frames[to] = stack->frames[to - 1];
		stack->frames[to] = call;
	}
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
		stack->frames[stack->nframes++] =
			(struct language_call){.method = &m->shown,
					       .line = m->decoder->line(m, frames[i].place),
					       .at = frames[i].at};
	}
	for (uint32_t i = n; i-- > 0;) {
		if (stack->frames[i].at == LANGUAGE_SAME) {
			stack->frames[i].at = at;
		} else if (stack->frames[i].at < LANGUAGE_SAME) {
			stack->frames[i].cut = stack->frames[i].at & LANGUAGE_CUT;
			stack->frames[i].at &= ~LANGUAGE_CUT;
		}
		at = stack->frames[i].at;
	}
	if (rec->start_stack == RUNTIME_NONE)
		weave(stack);
	return stack;
}

void language_stack_free(struct language *l, struct language_stack *stack)
{
	if (!stack)
		return;
	for (uint32_t i = 0; i < stack->nframes; i++)
		((struct method *)stack->frames[i].method)->refs--; /* shown is its first member */
	free(stack);
	methods_bound(l, METHODS_BYTES);
}

size_t language_stack_bytes(const struct language_stack *stack)
{
	return sizeof(*stack) + stack->nframes * sizeof(stack->frames[0]);
}
