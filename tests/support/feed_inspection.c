// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/feed_inspection.h"

#include <stdio.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "tui/profile/inspection.h"

#define FEED_TEXT 0x55d0c09e0000ull /* where the mapping begins; ELF address 0x20000 */

#define FEED_STACK 0x7ffd1c3a9000ull

static void feed_word(struct trace *t, uint64_t addr, uint64_t value)
{
	memcpy(t->capture.stack + (addr - FEED_STACK), &value, sizeof(value));
}

struct feed_step {
	const char *name;
	uint64_t pc, offset;
	uint32_t rule;
	uint64_t sp, fp;
};

struct inspection *feed_inspection(pid_t pid)
{
	static const struct feed_step steps[] = {
		{"ngx_http_parse_header_line", FEED_TEXT + 0x42232, 0x92,
		 RULE_FRAME(ROW_SP, 32, 24), FEED_STACK + 0xe00, 0x55d0c1f0a2c0},
		{"ngx_http_process_request_line", FEED_TEXT + 0x4b31c, 0x13c,
		 RULE_FRAME(ROW_SP, 64, 48), FEED_STACK + 0xe20, 0x55d0c1f0b7e8},
		{"main", FEED_TEXT + 0x11c06, 0xa16, RULE_FRAME(ROW_FP, 16, 16), FEED_STACK + 0xe60,
		 FEED_STACK + 0xe80},
		{"_start", FEED_TEXT + 0x12021, 0x21, RULE(ROW_OUTERMOST, 0), FEED_STACK + 0xe90,
		 0},
	};
	const uint32_t count = sizeof(steps) / sizeof(steps[0]);
	struct trace *t = calloc(1, sizeof(*t));
	struct inspection *i;

	t->steps = calloc(count, sizeof(*t->steps));
	t->fp_frames = calloc(2, sizeof(*t->fp_frames));
	t->nsteps = count;
	t->agrees = true;
	t->capture.tgid = (uint32_t)pid;
	t->capture.tid = 4133;
	t->capture.cpu = 5;
	t->capture.user_mode = 1;
	t->capture.nframes = (uint16_t)count;
	t->capture.reason = WALK_BOTTOM;
	t->capture.stack_at = FEED_STACK;
	t->capture.pages = 1;
	t->fp_frames[t->nfp++] = steps[0].pc;
	t->fp_last = steps[0].fp;
	t->fp_end = TRACE_FP_UNREADABLE;
	for (uint64_t at = 0; at < CAPTURE_PAGE; at += 8)
		feed_word(t, FEED_STACK + at, 0x1000 + at);
	for (uint32_t n = 0; n < count; n++) {
		const struct feed_step *from = &steps[n];
		struct trace_step *s = &t->steps[n];

		*s = (struct trace_step){
			.pc = from->pc,
			.frame = from->pc | (n ? 0 : FRAME_EXACT),
			.sp = from->sp,
			.fp = from->fp,
			.addr = from->pc - (n ? 1 : 0),
			.exact = n == 0,
			.mapped = true,
			.has_row = true,
			.map = {FEED_TEXT, FEED_TEXT + 0x134000, FEED_TEXT, 114020 - 1200,
				MAP_META(MAP_CFI, 0x1340)},
			.granule = (uint32_t)((from->pc - FEED_TEXT) >> GRANULE_SHIFT),
			.index = INDEX_WORD(1700 + n, 4),
			.row = 1701 + n,
			.row_word = ROW_WORD(0x10, from->rule),
			.row_start = n == 1 ? 0 : from->pc - 0x12,
			.row_end = n == 2 ? 0 : from->pc + 0x24,
			.rule = from->rule,
			.reason = n + 1 < count ? WALK_CONTINUE : WALK_BOTTOM,
			.way = n + 1 < count ? TRACE_CFI : TRACE_NONE,
		};
		if (n + 1 == count)
			break;
		s->cfa = steps[n + 1].sp;
		s->ra_at = s->cfa - 8;
		s->ra = steps[n + 1].pc;
		s->fp_at = s->cfa - RULE_FP_DEPTH(from->rule);
		s->caller_fp = steps[n + 1].fp;
		feed_word(t, s->ra_at, s->ra);
		feed_word(t, s->fp_at, s->caller_fp);
	}
	i = inspection_new(t);
	strcpy(i->comm, "nginx");
	for (uint32_t n = 0; n < count; n++) {
		snprintf(i->frames[n].name, sizeof(i->frames[n].name), "%s", steps[n].name);
		strcpy(i->frames[n].module, "nginx");
		i->frames[n].vaddr = steps[n].pc - FEED_TEXT + 0x20000;
		i->frames[n].offset = steps[n].offset;
	}
	return i;
}
