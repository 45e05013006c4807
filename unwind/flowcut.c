// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See flowcut.h. What is no instruction of compiled code takes a byte, behind which cutting goes
 * on, so that data between functions costs only itself.
 */
#include "unwind/flowcut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/base/work.h"
#include "unwind/effect.h"

#define ENDS_RARELY 8 /* other calls, for each where a function ends */

static int sweep(struct flow *f)
{
	size_t start = 0;
	struct effect effect;
	int err = 0;

	for (uint32_t at = 0; at < f->size && !err; at += effect.size) {
		struct flow_insn *insn;
		uint32_t limit = f->size;
		bool starts;

		while (start < f->nstarts && f->starts[start] < f->addr + at)
			start++;
		starts = start < f->nstarts && f->starts[start] == f->addr + at;
		if (start + starts < f->nstarts && f->starts[start + starts] < f->addr + f->size)
			limit = (uint32_t)(f->starts[start + starts] - f->addr);
		if (GROW(f->insns, f->ninsns, f->insns_room, UINT32_MAX))
			return -ENOMEM;
		arch_effect(f->disasm, f->code + at, limit - at, &effect);
		insn = &f->insns[f->ninsns++];
		*insn = (struct flow_insn){.at = at,
					   .value = effect.value,
					   .size = effect.size,
					   .kind = effect.kind,
					   .flags = starts ? START : 0};
		if (effect.uses_fp)
			insn->flags |= USES_FP;
		if (effect.uses_sp && (effect.kind == EFFECT_NONE || effect.kind == EFFECT_PUSH))
			insn->flags |= USES_SP;
		err = work_add(f->work, 1);
	}
	return err;
}

uint32_t flowcut_find(const struct flow *f, int64_t at)
{
	size_t low;

	if (at < 0 || at >= f->size)
		return NO_INSN;
	low = SEARCH(f->ninsns, i, f->insns[i].at <= at);
	if (!low)
		return NO_INSN;
	low--;
	if (f->insns[low].at == at ||
	    (f->insns[low].at + 1 == at && f->code[f->insns[low].at] == 0xf0))
		return (uint32_t)low;
	return NO_INSN;
}

int64_t flowcut_target(const struct flow_insn *insn)
{
	return (int64_t)insn->at + insn->size + insn->value;
}

bool flowcut_ends_block(const struct flow_insn *insn)
{
	return insn->kind == EFFECT_RETURN || insn->kind == EFFECT_JUMP ||
	       insn->kind == EFFECT_JUMP_COMPUTED || insn->kind == EFFECT_STOP ||
	       insn->kind == EFFECT_BAD || insn->kind == EFFECT_PAD || insn->flags & NORETURN;
}

static bool makes_room(const struct flow_insn *insn)
{
	return insn->kind == EFFECT_PUSH || insn->kind == EFFECT_PUSH_FP ||
	       (insn->kind == EFFECT_ADD_SP && insn->value < 0);
}

/* Functions begin where calls lead, and maybe where code takes an address. */
static void note_called(struct flow *f)
{
	for (uint32_t i = 0; i < f->ninsns; i++) {
		bool call = f->insns[i].kind == EFFECT_CALL && f->insns[i].value;
		uint32_t target;

		if (!call && f->insns[i].kind != EFFECT_ADDRESS &&
		    f->insns[i].kind != EFFECT_ABSOLUTE)
			continue;
		target = flowcut_find(f, f->insns[i].kind == EFFECT_ABSOLUTE
						 ? (int64_t)f->insns[i].value - (int64_t)f->addr
						 : flowcut_target(&f->insns[i]));
		if (target != NO_INSN && f->insns[target].kind != EFFECT_BAD &&
		    f->insns[target].kind != EFFECT_PAD)
			f->insns[target].flags |= call ? START : TAKEN;
	}
}

/* Functions whose address is in data. Calls that do not return are known by now. */
static void note_taken(struct flow *f)
{
	for (size_t i = 0; i < f->ntaken; i++) {
		uint32_t target = flowcut_find(f, (int64_t)(f->taken[i] - f->addr));

		/* Cases of a jump table are no functions, and do not begin like one. */
		if (target != NO_INSN && makes_room(&f->insns[target]) &&
		    (!target || flowcut_ends_block(&f->insns[target - 1])))
			f->insns[target].flags |= TAKEN;
	}
}

/* Marks what jumps lead to. */
static void note_jumps(struct flow *f)
{
	for (uint32_t i = 0; i < f->ninsns; i++) {
		uint32_t target = NO_INSN;

		if (f->insns[i].kind == EFFECT_JUMP || f->insns[i].kind == EFFECT_BRANCH)
			target = flowcut_find(f, flowcut_target(&f->insns[i]));
		if (target != NO_INSN)
			f->insns[target].flags |= JUMPED_TO;
	}
}

/* A function that is called where others end. */
struct ender {
	int64_t target; /* offset */
	uint32_t ends;
	uint32_t others; /* calls with code behind that nothing else leads to */
};

static int compare_enders(const void *left, const void *right)
{
	const struct ender *a = left, *b = right;

	return a->target < b->target ? -1 : a->target > b->target;
}

static struct ender *find_ender(struct ender *enders, uint32_t count, int64_t target)
{
	const struct ender key = {.target = target};

	return count ? bsearch(&key, enders, count, sizeof(key), compare_enders) : NULL;
}

/* True for a call right in front of a function's start, padding aside. */
static bool is_last_call(const struct flow *f, uint32_t at)
{
	uint32_t next = at + 1;

	while (next < f->ninsns && f->insns[next].kind == EFFECT_PAD &&
	       !(f->insns[next].flags & START))
		next++;
	return next >= f->ninsns || f->insns[next].flags & START;
}

static int find_enders(const struct flow *f, struct ender **enders, uint32_t *count)
{
	uint32_t room = 0, kept = 0;

	for (uint32_t i = 0; i + 1 < f->ninsns; i++) {
		if (f->insns[i].kind != EFFECT_CALL || !is_last_call(f, i))
			continue;
		if (GROW(*enders, *count, room, UINT32_MAX))
			return -ENOMEM;
		(*enders)[(*count)++] = (struct ender){flowcut_target(&f->insns[i]), 1, 0};
	}
	if (*count)
		qsort(*enders, *count, sizeof(**enders), compare_enders);
	for (uint32_t i = 0; i < *count; i++)
		if (kept && (*enders)[kept - 1].target == (*enders)[i].target)
			(*enders)[kept - 1].ends++;
		else
			(*enders)[kept++] = (*enders)[i];
	*count = kept;
	return 0;
}

/*
 * What is called where a function ends does not return; and so does no other call of it. But if
 * most calls have code behind that no jump leads to, it returns, and now and then throws.
 */
static int note_noreturn(struct flow *f)
{
	struct ender *enders = NULL, *ender;
	uint32_t count = 0;
	int err = find_enders(f, &enders, &count);

	note_jumps(f);
	for (uint32_t i = 0; i + 1 < f->ninsns && count; i++) {
		const struct flow_insn *next = &f->insns[i + 1];

		if (f->insns[i].kind != EFFECT_CALL || next->flags & JUMPED_TO ||
		    next->kind == EFFECT_PAD || is_last_call(f, i))
			continue;
		ender = find_ender(enders, count, flowcut_target(&f->insns[i]));
		if (ender)
			ender->others++;
	}
	for (uint32_t i = 0; i < f->ninsns && count; i++) {
		if (f->insns[i].kind != EFFECT_CALL)
			continue;
		ender = find_ender(enders, count, flowcut_target(&f->insns[i]));
		if (ender && ender->others <= (uint64_t)ender->ends * ENDS_RARELY)
			f->insns[i].flags |= NORETURN;
	}
	free(enders);
	return err;
}

int flowcut_run(struct flow *f)
{
	int err = sweep(f);

	if (err)
		return err;
	note_called(f);
	err = note_noreturn(f);
	if (!err)
		note_taken(f);
	return err;
}
