// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/feed_annotation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code/listing.h"
#include "symbols/code/sourcelist.h"
#include "tui/profile/annotation.h"

struct feed_insn {
	const char *text;
	const char *att;  /* in the other syntax; NULL: the same */
	const char *name; /* of the target; NULL: none */
	int to;		  /* instruction; -1: none */
	unsigned int line;
	uint64_t self, below;
};

static const struct feed_insn feed_insns[] = {
	{"push rbx", "pushq %rbx", NULL, -1, 912, 4, 0},
	{"mov rbx, rdi", "movq %rdi, %rbx", NULL, -1, 912, 0, 0},
	{"test rsi, rsi", "testq %rsi, %rsi", NULL, -1, 913, 11, 0},
	{"je 0x621c8", NULL, NULL, 10, 913, 0, 0},
	{"movzx eax, byte ptr [rdi]", "movzbl (%rdi), %eax", NULL, -1, 915, 386, 0},
	{"cmp al, 0x3a", "cmpb $0x3a, %al", NULL, -1, 916, 129, 0},
	{"jne 0x621bc", NULL, NULL, 8, 916, 3, 0},
	{"call 0x22010", "callq 0x22010", "memcmp@plt", -1, 918, 0, 22},
	{"add rdi, 1", "addq $1, %rdi", NULL, -1, 915, 88, 0},
	{"jmp 0x621a8", NULL, NULL, 2, 915, 7, 0},
	{"pop rbx", "popq %rbx", NULL, -1, 922, 2, 0},
	{"ret", "retq", NULL, -1, 0, 5, 0},
};

static uint32_t feed_string(struct listing *l, uint32_t *at, const char *text)
{
	uint32_t from = *at;

	if (!text)
		return LISTING_NONE;
	strcpy(l->strings + from, text);
	*at += (uint32_t)strlen(text) + 1;
	return from;
}

static uint32_t feed_line(struct listing *l, uint32_t *at, uint32_t file, unsigned int number)
{
	uint32_t i;
	char text[64];

	if (!number)
		return LISTING_NONE;
	for (i = 0; i < l->nlines; i++)
		if (l->lines[i].number == number)
			return i;
	snprintf(text, sizeof(text), "        line %u of the source, Zürich", number);
	l->lines[l->nlines] = (struct listing_line){file, LISTING_NONE, number};
	/* One whose text is not there. */
	if (number != 918)
		l->lines[l->nlines].text = feed_string(l, at, text);
	return l->nlines++;
}

struct listing *feed_listing(void)
{
	struct listing *l = calloc(1, sizeof(*l));
	uint32_t at = 0, file;

	l->refs = 1;
	l->start = FEED_START;
	l->end = FEED_START + 4 * FEED_INSNS;
	l->ninsns = FEED_INSNS;
	l->insns = calloc(FEED_INSNS, sizeof(*l->insns));
	l->lines = calloc(FEED_INSNS, sizeof(*l->lines));
	l->strings = calloc(1, 4096);
	file = feed_string(l, &at, "/build/nginx/src/http/ngx_http_parse.c");
	for (uint32_t i = 0; i < FEED_INSNS; i++) {
		const struct feed_insn *from = &feed_insns[i];

		l->insns[i] = (struct listing_insn){
			.addr = FEED_START + 4 * i,
			.size = 4,
			.text = feed_string(l, &at, from->text),
			.att = feed_string(l, &at, from->att),
			.name = feed_string(l, &at, from->name),
			.to = from->to < 0 ? LISTING_NONE : (uint32_t)from->to,
			.line = feed_line(l, &at, file, from->line),
			.kind = from->to >= 0 ? DISASM_JUMP
				: from->name  ? DISASM_CALL
					      : DISASM_PLAIN,
		};
	}
	return l;
}

struct cfitext *feed_cfi(void)
{
	static const struct cfitext_line lines[] = {
		{"CIE at 0x0 of .eh_frame, code alignment 1, data alignment -8", false, 0},
		{"  return address in column r16 (rip)", false, 0},
		{"  DW_CFA_def_cfa: r7 (rsp) ofs 8", false, 0},
		{"  DW_CFA_offset: r16 (rip) at cfa-8", false, 0},
		{"FDE pc=00000000000621a0..00000000000621d0", true, FEED_START},
		{"  DW_CFA_advance_loc: 4 to 00000000000621a4", true, FEED_START + 4},
		{"  DW_CFA_def_cfa_offset: 16", true, FEED_START + 4},
		{"  DW_CFA_offset: r3 (rbx) at cfa-16", true, FEED_START + 4},
		{"  DW_CFA_advance_loc: 40 to 00000000000621cc", true, FEED_START + 44},
		{"  DW_CFA_def_cfa_offset: 8", true, FEED_START + 44},
	};
	struct cfitext *t = calloc(1, sizeof(*t));

	t->refs = 1;
	t->start = FEED_START;
	t->end = FEED_START + 4 * FEED_INSNS;
	t->count = sizeof(lines) / sizeof(lines[0]);
	t->lines = malloc(sizeof(lines));
	memcpy(t->lines, lines, sizeof(lines));
	return t;
}

struct annotation *feed_annotation(uint64_t serial)
{
	struct listing *l = feed_listing();
	struct annotation *a = annotation_new(l);

	listing_put(l);
	a->serial = serial;
	a->cfi = feed_cfi();
	a->state = ANNOTATION_READY;
	a->since = 1000000000u;
	a->now = 35000000000u;
	for (uint32_t i = 0; i < FEED_INSNS; i++) {
		a->window[i] = (struct annotation_count){feed_insns[i].self, feed_insns[i].below};
		a->all[i] =
			(struct annotation_count){2 * feed_insns[i].self, 2 * feed_insns[i].below};
		a->window_sum.self += feed_insns[i].self;
		a->window_sum.total += feed_insns[i].self + feed_insns[i].below;
	}
	a->all_sum.self = 2 * a->window_sum.self;
	a->all_sum.total = 2 * a->window_sum.total;
	return a;
}

static const struct feed_source_line {
	const char *text;
	uint64_t self, below;
} feed_source_lines[FEED_SOURCE_LINES] = {
	{"\"\"\"Prices of a shop.\"\"\"", 0, 0},
	{"", 0, 0},
	{"import json", 0, 0},
	{"", 0, 0},
	{"", 0, 0},
	{"class Shop:", 0, 0},
	{"    def answer(self, request):", 0, 0},
	{"        order = json.loads(request)", 21, 4},
	{"        total = 0", 2, 0},
	{"        for item in order[\"items\"]:  # Zürich, 東京", 37, 0},
	{"            # Each item has a price of its own.", 0, 0},
	{"            total += self.price(item)", 19, 310},
	{"        return {\"total\": total, \"currency\": \"EUR\", \"items\": len(order[\"items\"])}",
	 7, 0},
	{"", 0, 0},
	{"    def price(self, item):", 0, 0},
	{"        best = None", 0, 0},
	{"        for offer in self.offers:", 0, 0},
	{"            if offer.name == item and (best is None or offer.cents < best):", 0, 0},
	{"                best = offer.cents", 0, 0},
	{"        return best or 0", 0, 0},
	{"", 0, 0},
	{"", 0, 0},
	{"def main():", 0, 0},
	{"    shop = Shop()", 0, 0},
	{"    while True:", 0, 0},
	{"        shop.answer(input())", 0, 0},
};

static struct listing *feed_source_listing(const char *why)
{
	uint32_t numbers[FEED_SOURCE_LINES], n = 0, at = 1;
	struct listing *l;

	for (uint32_t i = 0; i < FEED_SOURCE_LINES; i++)
		if (!why || feed_source_lines[i].self)
			numbers[n++] = i + 1;
	if (sourcelist_bare(numbers, n, why, &l))
		return NULL;
	if (why)
		return l;
	free(l->strings);
	l->strings = calloc(1, 4096);
	for (uint32_t i = 0; i < FEED_SOURCE_LINES; i++)
		l->insns[i].text = feed_string(l, &at, feed_source_lines[i].text);
	return l;
}

struct annotation *feed_source(uint64_t serial, const char *why)
{
	struct listing *l = feed_source_listing(why);
	struct annotation *a = annotation_new(l);

	a->serial = serial;
	a->state = ANNOTATION_READY;
	a->since = 1000000000u;
	a->now = 35000000000u;
	a->processes = 1;
	for (uint32_t i = 0; i < l->ninsns; i++) {
		const struct feed_source_line *from = &feed_source_lines[l->insns[i].addr - 1];

		a->window[i] = (struct annotation_count){from->self, from->below};
		a->all[i] = (struct annotation_count){2 * from->self, 2 * from->below};
		a->window_sum.self += from->self;
		a->window_sum.total += from->self + from->below;
	}
	a->all_sum.self = 2 * a->window_sum.self;
	a->all_sum.total = 2 * a->window_sum.total;
	listing_put(l);
	return a;
}
