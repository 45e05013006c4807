// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See pushed.h. The code is read once from front to back; behind each push it is followed along its
 * jumps, until as much was popped.
 */
#include "unwind/pushed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/work.h"
#include "unwind/effect.h"

#define WORD	8
#define UNKNOWN (PUSHED_MAX + 1) /* words */

struct pushed {
	const uint8_t *code;
	uint32_t size, from;
	struct disasm *disasm;
	struct work *work;
	uint8_t *at;
	uint32_t *todo; /* offsets of instructions with words */
	uint32_t ntodo, room;
};

/*
 * There, the stack has so many words more. Where other code comes without any, it has none: the
 * path was led there by a call that does not return. Where two paths differ, it is not known.
 */
static int reach(struct pushed *p, int64_t to, int64_t words)
{
	uint8_t value;

	if (to < p->from || to >= p->size || words <= 0 || p->at[to] == PUSHED_START)
		return 0;
	value = words > PUSHED_MAX ? PUSHED_UNKNOWN : (uint8_t)(PUSHED_START + words);
	if (p->at[to] == value || p->at[to] == PUSHED_UNKNOWN)
		return 0;
	if (p->at[to])
		value = PUSHED_UNKNOWN;
	if (GROW(p->todo, p->ntodo, p->room, UINT32_MAX))
		return -ENOMEM;
	p->at[to] = value;
	p->todo[p->ntodo++] = (uint32_t)to;
	return 0;
}

/* Words more behind an instruction, more than PUSHED_MAX: not known; 0: none, or it goes nowhere.
 */
static int64_t words_after(const struct effect *e, int64_t words)
{
	if (words == UNKNOWN && (e->kind == EFFECT_POP || e->kind == EFFECT_POP_FP ||
				 e->kind == EFFECT_ADD_SP || e->kind == EFFECT_SP_LOST))
		return words;
	switch (e->kind) {
	case EFFECT_PUSH:
	case EFFECT_PUSH_FP:
		return words + 1;
	case EFFECT_POP:
	case EFFECT_POP_FP:
		return words - 1;
	case EFFECT_ADD_SP:
		return e->value % WORD ? UNKNOWN : words - e->value / WORD;
	case EFFECT_SP_LOST:
	case EFFECT_BOTH_LOST:
		return UNKNOWN;
	case EFFECT_BAD:
	case EFFECT_STOP:
	case EFFECT_RETURN:
	case EFFECT_LEAVE:
	case EFFECT_SP_FROM_FP:
	case EFFECT_JUMP_COMPUTED:
		return 0;
	default:
		return words;
	}
}

static int follow(struct pushed *p)
{
	int err = 0;

	while (p->ntodo && !err) {
		const uint32_t at = p->todo[--p->ntodo];
		struct effect e;
		int64_t words, next;

		arch_effect(p->disasm, p->code + at, p->size - at, &e);
		next = (int64_t)at + e.size;
		words = words_after(&e, p->at[at] - PUSHED_START);
		if (e.kind == EFFECT_JUMP || e.kind == EFFECT_BRANCH)
			err = reach(p, next + e.value, words);
		if (!err && e.kind != EFFECT_JUMP)
			err = reach(p, next, words);
		if (!err)
			err = work_add(p->work, 1);
	}
	return err;
}

/* Where a jump without anything pushed leads, there is nothing either. */
static void leads(struct pushed *p, const struct effect *e, int64_t next)
{
	const int64_t to = next + e->value;

	if ((e->kind == EFFECT_JUMP || e->kind == EFFECT_BRANCH) && to >= p->from && to < p->size &&
	    !p->at[to])
		p->at[to] = PUSHED_START;
}

int pushed_find(const uint8_t *code, uint32_t size, uint32_t from, struct disasm *disasm,
		struct work *work, uint8_t *at)
{
	struct pushed p = {code, size, from, disasm, work, at, NULL, 0, 0};
	struct effect e;
	int err = 0;

	memset(at + from, 0, size - from);
	for (uint32_t i = from; i < size && !err; i += e.size) {
		arch_effect(disasm, code + i, size - i, &e);
		if (at[i] <= PUSHED_START) {
			at[i] = PUSHED_START;
			leads(&p, &e, (int64_t)i + e.size);
			if (e.kind == EFFECT_PUSH || e.kind == EFFECT_PUSH_FP)
				err = reach(&p, (int64_t)i + e.size, 1);
		}
		if (!err)
			err = follow(&p);
		if (!err)
			err = work_add(work, 1);
	}
	free(p.todo);
	return err;
}
