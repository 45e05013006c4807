/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines are built as text and compared as text, since different stacks may read the same: names
 * that differ only in their module, processes of one name, kernel frames left out. A line that
 * exists already is taken back, so memory is that of the output.
 */
#include "tui/export/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/profile/language.h"
#include "tui/util/idtable.h"
#include "tui/util/share.h"

#define FRAME_MAX     1100
#define KERNEL_SUFFIX "_[k]"
#define INLINE_SUFFIX "_[i]"

struct folded_maker {
	struct folded *out;
	const struct profile *p;
	const struct query *q;
	struct idtable index;
};

size_t folded_frame(char *to, size_t size, const char *name)
{
	size_t length = text_clean(to, size, name, strlen(name));

	for (size_t i = 0; i < length; i++) {
		if (to[i] == ';')
			to[i] = ':';
	}
	if (length)
		return length;
	to[0] = '?';
	to[1] = 0;
	return 1;
}

static int append(struct folded *out, const char *data, size_t length)
{
	if (GROW_TO(out->text, out->size + length, out->room, SIZE_MAX))
		return -ENOMEM;
	memcpy(out->text + out->size, data, length);
	out->size += length;
	return 0;
}

/* Symbol tables may contain our suffixes, which must stay unambiguous. */
static void user_frame(char *frame, size_t length)
{
	static const char *const suffixes[] = {KERNEL_SUFFIX, INLINE_SUFFIX,
#define LANGUAGE_SUFFIX(id, mark, name) "_[" mark "]",
					       LANGUAGES(LANGUAGE_SUFFIX)
#undef LANGUAGE_SUFFIX
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (length >= n && !strcmp(frame + length - n, suffixes[i]))
			frame[length - 1] = '?';
	}
}

static const char *suffix(enum func_kind kind)
{
	switch (kind) {
	case FUNC_END:
	case FUNC_WAIT:
		return "]";
	case FUNC_KERNEL:
		return KERNEL_SUFFIX;
	case FUNC_INLINE:
		return INLINE_SUFFIX;
#define LANGUAGE_SUFFIX(id, mark, name)                                                            \
	case id:                                                                                   \
		return "_[" mark "]";
		LANGUAGES(LANGUAGE_SUFFIX)
#undef LANGUAGE_SUFFIX
	default:
		return "";
	}
}

size_t folded_label(char *to, size_t size, enum func_kind kind, const char *name)
{
	size_t end = strlen(suffix(kind)), begin = kind == FUNC_END || kind == FUNC_WAIT, length;

	length = folded_frame(to + begin, size - begin - end, name);
	if (begin)
		*to = '[';
	if (kind != FUNC_KERNEL)
		user_frame(to + begin, length);
	memcpy(to + begin + length, suffix(kind), end + 1);
	return begin + length + end;
}

static int append_stack(struct folded_maker *folder, uint32_t id)
{
	const struct profile_stack *stack = query_stack(folder->p, id);
	char frame[1 + FRAME_MAX] = ";";
	int err = 0;

	for (uint32_t i = 0; stack && i < stack->nframes && !err; i++) {
		const struct profile_func *func = query_func(folder->p, stack->frames[i]);
		size_t length;

		if (!query_shows_frame(folder->p, folder->q, stack, i))
			continue;
		length = folded_label(frame + 1, FRAME_MAX, func->kind, func->name);
		err = append(folder->out, frame, 1 + length);
	}
	return err;
}

static uint32_t text_hash(const char *text, size_t length)
{
	uint64_t hash = length, word;

	for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = idtable_mix(hash, word);
	}
	word = 0;
	memcpy(&word, text, length);
	return (uint32_t)idtable_mix(hash, word);
}

/* The text behind `at` becomes a line, or is added to an equal one. */
static int line_count(struct folded_maker *folder, size_t at, uint64_t count)
{
	struct folded *out = folder->out;
	size_t length = out->size - at;
	uint32_t hash = text_hash(out->text + at, length), id;

	for (uint32_t from = hash;
	     (id = idtable_next(&folder->index, hash, &from)) != IDTABLE_NONE;) {
		struct folded_line *line = &out->lines[id];

		if (line->length == length &&
		    !memcmp(out->text + line->at, out->text + at, length)) {
			line->count += count;
			out->size = at;
			return 0;
		}
	}
	if (idtable_reserve(&folder->index, out->count + 1) ||
	    GROW(out->lines, out->count, out->lines_room, SIZE_MAX))
		return -ENOMEM;
	idtable_add(&folder->index, hash, (uint32_t)out->count);
	out->lines[out->count++] = (struct folded_line){at, length, count};
	return 0;
}

static int fold_cell(const struct profile_cell *cell, void *arg)
{
	struct folded_maker *folder = arg;
	const struct profile_proc *proc = query_proc(folder->p, cell->proc);
	size_t at = folder->out->size;
	char comm[2 * sizeof(proc->comm)];
	int err = append(folder->out, comm, folded_frame(comm, sizeof(comm), proc->comm));

	if (!err)
		err = append_stack(folder, cell->ustack);
	if (!err)
		err = append_stack(folder, cell->kstack);
	if (!err)
		err = line_count(folder, at, cell->count);
	return err;
}

/* By text if counts are equal, so that two reports of the same samples are the same. */
static int by_count(const void *a, const void *b, void *text)
{
	const struct folded_line *x = a, *y = b;
	size_t least = x->length < y->length ? x->length : y->length;

	return ORDER(y->count, x->count)
		       ?: memcmp((char *)text + x->at, (char *)text + y->at, least)
		       ?: ORDER(x->length, y->length);
}

int folded_read(struct folded *folded, const struct profile *p, const struct query *q)
{
	struct folded_maker folder = {folded, p, q, {0}};
	int err;

	*folded = (struct folded){0};
	err = query_cells(p, q, fold_cell, &folder);
	idtable_free(&folder.index);
	if (!err && folded->count)
		qsort_r(folded->lines, folded->count, sizeof(*folded->lines), by_count,
			folded->text);
	return err;
}

void folded_free(struct folded *folded)
{
	free(folded->text);
	free(folded->lines);
	*folded = (struct folded){0};
}
