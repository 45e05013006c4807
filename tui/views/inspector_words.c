// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A step in words. They follow the walk's own order, so that they explain how a caller is found:
 * what address to look up, in which mapping, granule and row, by which rule.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "bpf/report/trace.h"
#include "tui/profile/reasons.h"
#include "tui/views/inspector.h"

struct words {
	const struct inspection *i;
	const struct trace_step *s;
	uint32_t frame;
	char (*lines)[INSPECTOR_WIDTH];
	int n;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *w, const char *format, ...)
{
	va_list args;

	if (w->n == INSPECTOR_LINES)
		return;
	va_start(args, format);
	vsnprintf(w->lines[w->n++], INSPECTOR_WIDTH, format, args);
	va_end(args);
}

static void say_pc(struct words *w)
{
	if (w->s->exact) {
		say(w, "1 pc      %" PRIx64 ", which was executing:", w->s->pc);
		say(w, "          it is looked up itself");
	} else if (!w->frame) {
		/* Interrupts and faults leave an address that was executing. */
		say(w, "1 pc      %" PRIx64 ", behind a system call:", w->s->pc);
		say(w, "          pc-1 is looked up, the syscall instruction");
	} else {
		say(w, "1 pc      %" PRIx64 ", a return address:", w->s->pc);
		say(w, "          pc-1 is looked up, the call instruction");
	}
}

static void say_mapping(struct words *w)
{
	static const char *const kinds[] = {[MAP_CFI] = "with CFI",
					    [MAP_NO_CFI] = "without CFI",
					    [MAP_PENDING] = "its table is not there"};
	const struct inspection_frame *f = &w->i->frames[w->frame];
	uint32_t kind = MAP_KIND(w->s->map.meta);

	if (!w->s->mapped) {
		say(w, "2 mapping none that is known of the process");
		return;
	}
	say(w, "2 mapping %" PRIx64 "-%" PRIx64 " %s", (uint64_t)w->s->map.start,
	    (uint64_t)w->s->map.end, kind <= MAP_PENDING ? kinds[kind] : "?");
	if (f->vaddr)
		say(w, "          %s, 0x%" PRIx64 " of that file", f->module,
		    f->vaddr - (w->s->exact ? 0 : 1));
	else if (f->module[0])
		say(w, "          %s", f->module);
}

static void say_row(struct words *w)
{
	const struct trace_step *s = w->s;
	uint32_t word = s->map.word + s->granule;
	char from[32] = "before the granule", to[32] = "its end";

	say(w, "3 granule %u of %u: word %u of shard %u", s->granule,
	    (unsigned int)MAP_GRANULES(s->map.meta), word & SHARD_MASK, word >> SHARD_SHIFT);
	say(w, "          = 0x%08x: %u rows, from row %u on", s->index, INDEX_ROWS(s->index),
	    INDEX_FIRST(s->index));
	if (s->row_start)
		snprintf(from, sizeof(from), "%" PRIx64, s->row_start);
	if (s->row_end)
		snprintf(to, sizeof(to), "%" PRIx64, s->row_end);
	say(w, "4 row     %u = 0x%08x, which holds", s->row, s->row_word);
	say(w, "          %s to %s", from, to);
	if (s->rule & RULE_DERIVED)
		say(w, "          derived from the machine code: no CFI");
}

static void say_wide_register(struct words *w, const char *what, unsigned int kind,
			      unsigned int reg, int off)
{
	switch (kind) {
	case WIDE_SAME:
		say(w, "          %s unchanged", what);
		break;
	case WIDE_AT_CFA:
		say(w, "          %s = [CFA %+d]", what, off);
		break;
	case WIDE_AT_REG:
		say(w, "          %s = [%s %+d]", what, arch_reg_name(reg), off);
		break;
	case WIDE_IN_REG:
		say(w, "          %s = %s", what, arch_reg_name(reg));
		break;
	case WIDE_IS_CFA:
		say(w, "          %s = CFA, on a stack apart from C's", what);
		break;
	default:
		say(w, "          %s undefined", what);
	}
}

static void say_wide(struct words *w)
{
	const struct wide_rule *r = &w->s->wide_rule;

	if (r->flags & WIDE_SIGCONTEXT) {
		say(w, "5 rule    a signal's frame: all registers stand");
		say(w, "          in the sigcontext that the kernel left");
		return;
	}
	if (r->cfa_kind == WIDE_CFA_GO) {
		say(w, "5 rule    the stack pointer that Go's goroutine has saved");
		return;
	}
	if (r->cfa_kind == WIDE_CFA_DEREF)
		say(w, "5 rule    CFA = [%s %+d] %+d  (a wide rule)", arch_reg_name(r->cfa_reg),
		    r->cfa_off, r->cfa_add);
	else if (r->cfa_kind == WIDE_CFA_DEREF_TWICE)
		say(w, "5 rule    CFA = [[%s %+d]] %+d  (a wide rule)", arch_reg_name(r->cfa_reg),
		    r->cfa_off, r->cfa_add);
	else
		say(w, "5 rule    CFA = %s %+d  (a wide rule)", arch_reg_name(r->cfa_reg),
		    r->cfa_off);
	if (r->flags & WIDE_CLONED)
		say(w,
		    "          the parent's; " ARCH_RESULT_NAME " = 0: a child, without a caller");
	say_wide_register(w, "RA", r->ra_kind, r->ra_reg, r->ra_off);
	say_wide_register(w, ARCH_FP_CAPITALS, r->fp_kind, r->fp_reg, r->fp_off);
}

static void say_rule(struct words *w)
{
	uint32_t rule = w->s->rule, depth = RULE_FP_DEPTH(rule);
	char ra[24] = "[CFA - 8]";

	if (ARCH_HAS_LINK && depth > 8)
		snprintf(ra, sizeof(ra), "[CFA - %u]", depth - 8);
	else if (ARCH_HAS_LINK && depth)
		snprintf(ra, sizeof(ra), "[CFA]");
	else if (ARCH_HAS_LINK)
		snprintf(ra, sizeof(ra), "%s", arch_reg_name(ARCH_LINK));
	switch (RULE_KIND(rule)) {
	case ROW_SP:
	case ROW_FP:
		say(w, "5 rule    CFA = %s + %u   RA = %s",
		    RULE_KIND(rule) == ROW_SP ? ARCH_SP_NAME : ARCH_FP_NAME, RULE_CFA(rule), ra);
		if (depth)
			say(w, "          " ARCH_FP_CAPITALS " = [CFA - %u]", depth);
		else
			say(w, "          " ARCH_FP_CAPITALS " unchanged");
		break;
	case ROW_PLT:
		say(w, "5 rule    a stub of the PLT: CFA = " ARCH_SP_NAME " + 8, or + 16");
		say(w, "          from byte %u of its 16 on", rule & 15);
		break;
	case ROW_WIDE:
		say_wide(w);
		break;
	case ROW_OUTERMOST:
		say(w, "5 rule    RA is undefined: the outermost frame");
		break;
	case ROW_UNSUPPORTED:
		say(w, "5 rule    CFI that no row can hold");
		break;
	default:
		say(w, "5 rule    none: the file's CFI is silent here");
	}
}

static void say_way(struct words *w)
{
	switch (w->s->way) {
	case TRACE_FRAME_POINTER:
		say(w, "  so      the frame pointer, " ARCH_FP_NAME ", is followed:");
		if (ARCH_HAS_LINK)
			say(w, "          RA = [" ARCH_FP_NAME " + 8]; the CFA is above, anywhere");
		else
			say(w,
			    "          CFA = " ARCH_FP_NAME " + 16   RA = [" ARCH_FP_NAME " + 8]");
		break;
	case TRACE_LEAF:
		if (ARCH_HAS_LINK && w->s->ra_at)
			say(w, "  so      its next instructions: they load RA");
		else if (ARCH_HAS_LINK)
			say(w, "  so      %s is RA: it has not been saved yet",
			    arch_reg_name(ARCH_LINK));
		else
			say(w, "  so      the top of the stack is the return address:");
		say(w, "          a call precedes what it points to");
		break;
	case TRACE_SIGNAL:
		say(w, "  so      the walk goes on with what was interrupted");
		break;
	default:
		break;
	}
}

/* As a sum where the rule is one, so that it can be done by hand. */
static void say_cfa(struct words *w)
{
	const struct trace_step *s = w->s;
	uint32_t kind = s->has_row ? RULE_KIND(s->rule) : ROW_END;
	const uint64_t base = kind == ROW_SP ? s->sp : s->fp;

	if (!s->cfa || (ARCH_HAS_LINK && s->way == TRACE_FRAME_POINTER))
		return;
	if (ARCH_HAS_LINK && kind == ROW_SP && base + RULE_CFA(s->rule) != s->cfa)
		say(w, "6 CFA     " ARCH_FP_NAME " + %u = %" PRIx64 ", " ARCH_SP_NAME " not known",
		    RULE_FP_DEPTH(s->rule), s->cfa);
	else if (kind == ROW_SP || kind == ROW_FP)
		say(w, "6 CFA     %" PRIx64 " + 0x%x = %" PRIx64, base, RULE_CFA(s->rule), s->cfa);
	else
		say(w, "6 CFA     %" PRIx64, s->cfa);
	if (s->cfa < s->sp || (s->cfa == s->sp && !ARCH_HAS_LINK))
		say(w, "          which is not above " ARCH_SP_NAME ", %" PRIx64, s->sp);
}

static void say_result(struct words *w)
{
	const struct trace_step *s = w->s;
	bool goes_on = s->reason == WALK_CONTINUE;
	const struct inspection_frame *caller = &w->i->frames[w->frame + 1];
	uint64_t value;

	say_cfa(w);
	if (s->ra_at && trace_word(w->i->trace, s->ra_at, &value))
		say(w, "7 RA      [%" PRIx64 "] = %" PRIx64 "%s", s->ra_at,
		    ARCH_HAS_LINK && goes_on ? s->ra : value,
		    ARCH_HAS_LINK && goes_on && value != s->ra ? ", without its signature" : "");
	else if (s->ra_at)
		say(w, "7 RA      [%" PRIx64 "] was not captured", s->ra_at);
	else if (goes_on)
		say(w, "7 RA      %" PRIx64, s->ra);
	if (goes_on && w->frame + 1 < w->i->trace->nsteps && !caller->vaddr)
		say(w, "          %s", caller->name);
	else if (goes_on && w->frame + 1 < w->i->trace->nsteps)
		say(w, "          %s+0x%" PRIx64, caller->name, caller->offset);
	if (goes_on && s->fp_at)
		say(w, "8 " ARCH_FP_CAPITALS "     [%" PRIx64 "] = %" PRIx64, s->fp_at,
		    s->caller_fp);
	else if (goes_on)
		say(w, "8 " ARCH_FP_CAPITALS "     %" PRIx64 "%s", s->caller_fp,
		    s->caller_fp == s->fp ? ", as it was" : "");
	if (!goes_on)
		say(w, "  end     %s", reasons_end((unsigned int)s->reason)->name);
}

/* Frames of an interpreted language in a native one, and what proves that they are there. */
static void say_runs(struct words *w)
{
	for (uint32_t n = 0; n < w->i->nruns; n++) {
		const struct inspection_run *run = &w->i->runs[n];

		if (run->frame != w->frame)
			continue;
		say(w, "runs      %s: %s", run->language, run->calls);
		if (run->record)
			say(w,
			    "          its record of the call, %" PRIx64
			    ", lies between SP and CFA of this frame",
			    run->record);
		else
			say(w, "          as many frames of %s as calls of this function",
			    run->language);
	}
}

int inspector_words(const struct inspection *i, uint32_t frame,
		    char lines[INSPECTOR_LINES][INSPECTOR_WIDTH])
{
	struct words w = {.i = i, .frame = frame, .lines = lines};

	if (frame >= i->trace->nsteps)
		return 0;
	w.s = &i->trace->steps[frame];
	say_pc(&w);
	say_mapping(&w);
	if (w.s->has_row) {
		say_row(&w);
		say_rule(&w);
	}
	say_way(&w);
	say_result(&w);
	say_runs(&w);
	return w.n;
}
