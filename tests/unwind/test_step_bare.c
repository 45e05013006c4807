// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * The step from code without CFI, on made-up stacks and code: the edges of a function, and whose
 * the frame pointer is. What is expected follows from the psABI and from which calls the made-up
 * code could have made.
 * Covers: unwind/bare.h unwind/lookup.h unwind/step.h unwind/reason.h unwind/arch/x86_64/code.h
 * Covers: unwind/arch/x86_64/step.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static unsigned int nbare, nstale; /* places that the walk has noted */
static unsigned int apart;	   /* the frame pointer is in another mapping */

#define STEP_BARE(w)  ((void)(w), nbare++)
#define STEP_STALE(w) ((void)(w), nstale++)
#define STEP_APART(w) ((void)(w), apart)

#include "tests/unwind/stepfake.h"

/* Functions with CFI, a granule each, then code without: of no file, and of a file. */
#define FRAMED	  TEXT
#define SP16	  (TEXT + 0x100) /* CFA = SP + 16 */
#define SP32	  (TEXT + 0x200)
#define STUB	  (TEXT + 0x300)
#define WIDE	  (TEXT + 0x400)
#define OUTERMOST (TEXT + 0x500)
#define JIT	  (TEXT + 0x1000)
#define IN_FILE	  (TEXT + 0x3000)
#define UNLISTED  (TEXT + 0x5000)
#define PC	  (JIT + 0x100)
#define LOW	  (FP - 0x80) /* where SP is; SP + 0x80 is the frame's record */

static void put_code(uint64_t addr, const char *bytes, size_t n)
{
	memcpy(fake.text + (addr - TEXT), bytes, n);
}

#define PUT_CODE(addr, bytes) put_code(addr, bytes, sizeof(bytes) - 1)

static int setup_bare(void **state)
{
	static const struct row rows[] = {
		{0x000, RULE_FRAME(ROW_FP, 16, 16)}, {0x100, RULE_FRAME(ROW_SP, 16, 0)},
		{0x200, RULE_FRAME(ROW_SP, 32, 0)},  {0x300, RULE(ROW_PLT, 11)},
		{0x400, RULE(ROW_WIDE, 0)},	     {0x500, RULE(ROW_OUTERMOST, 0)},
	};

	if (setup(state))
		return -1;
	put_block(0, 6, rows, 6);
	add_map(TEXT, TEXT + 0x600, TEXT, 0, MAP_META(MAP_CFI, 6));
	add_map(JIT, JIT + 0x1000, 0, 0, MAP_META(MAP_NO_CFI, 0));
	add_map(IN_FILE, IN_FILE + 0x1000, 0, 0, MAP_META(MAP_NO_CFI, 0));
	host.entries[2].frame = FRAME_OF(1, 0);
	for (uint64_t at = TEXT; at < TEXT + 0x600; at += 0x100)
		put_call(at + 0x80, 0);
	nbare = 0;
	return 0;
}

/* A step that leads to these registers; guessed: by a frame pointer that is not surely its own. */
static void check_step(struct walk *w, uint64_t pc, uint64_t sp, uint64_t fp, unsigned int guessed)
{
	nbare = 0;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, pc, sp, fp);
	assert_int_equal(w->exact, 0);
	assert_int_equal(w->guessed, guessed);
	assert_int_equal(nbare, guessed);
}

/* A step that ends the walk where nothing is known. */
static void check_lost(struct walk *w)
{
	nbare = 0;
	check_end(w, WALK_NO_FRAME_POINTER);
	assert_int_equal(w->guessed, 0);
	assert_int_equal(nbare, 1);
}

/* --- the edges of a function ------------------------------------------------------------------ */

struct edge {
	const char *bytes; /* of code, from before the pc on */
	unsigned int size, before;
	int ra, fp; /* offsets of what the caller has from SP; fp < 0: as it is */
};

#define EDGE(bytes, before, ra, fp)                                                                \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, before, ra, fp                                           \
	}

static const struct edge edges[] = {
	EDGE("\x55\x48\x89\xe5", 0, 0, -1),		    /* push %rbp; mov %rsp, %rbp */
	EDGE("\x55\x48\x8b\xec", 0, 0, -1),		    /* the other encoding */
	EDGE("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5", 0, 0, -1), /* behind endbr64 */
	EDGE("\x55\x48\x89\xe5", 1, 8, 0),		    /* between the two */
	EDGE("\x55\x48\x8b\xec", 1, 8, 0),
	EDGE("\xc3", 0, 0, -1),				      /* ret */
	EDGE("\xf3\xc3", 0, 0, -1),			      /* rep ret */
	EDGE("\xc2\x10\x00", 0, 0, -1),			      /* ret $16 */
	EDGE("\x5b\xc3", 0, 8, -1),			      /* pop %rbx */
	EDGE("\x5b\x41\x5c\x5d\xc3", 0, 24, 16),	      /* pop %rbx; pop %r12; pop %rbp */
	EDGE("\xc9\xc3", 0, 0x88, 0x80),		      /* leave */
	EDGE("\x48\x83\xc4\x18\xc3", 0, 24, -1),	      /* add $24, %rsp */
	EDGE("\x48\x81\xc4\x28\x01\x00\x00\xc3", 0, 296, -1), /* add $296, %rsp */
	EDGE("\xc5\xf8\x77\xc3", 0, 0, -1),		      /* vzeroupper */
	EDGE("\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\xc3", 0, 72, -1),
};

static const struct edge no_edges[] = {
	EDGE("\x48\x89\xe5", 0, 8, -1), /* no push before */
	EDGE("\x55\x90\x48\x89\xe5", 0, 8, -1),
	EDGE("\x5c\xc3", 0, 8, -1),			    /* pop %rsp */
	EDGE("\x48\x83\xc4\xf8\xc3", 0, 248, -1),	    /* add $-8, %rsp */
	EDGE("\x48\x81\xc4\x08\x00\x01\x00\xc3", 0, 8, -1), /* add $65544, %rsp */
	EDGE("\x48\x83\xc4\x0c\xc3", 0, 12, -1),	    /* SP is no multiple of 8 */
	EDGE("\x5b\xff\xe0", 0, 8, -1),			    /* jmp *%rax */
	EDGE("\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\xc3", 0, 80, -1), /* too many */
};

static struct walk *begin_edge(const struct edge *e, uint64_t fp)
{
	setup_bare(NULL);
	memset(fake.text + (PC - TEXT) - 8, 0x90, 32);
	put_code(PC - e->before, e->bytes, e->size);
	store(LOW + (unsigned int)e->ra, SP16 + 0x80);
	return begin(PC, LOW, fp, 1);
}

static void test_edges(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		const struct edge *e = &edges[i];
		struct walk *w = begin_edge(e, FP);
		const uint64_t fp = e->fp < 0 ? FP : MARK + (LOW - STACK) + (unsigned int)e->fp;

		check_step(w, SP16 + 0x80, LOW + (unsigned int)e->ra + 8, fp, 0);
		assert_int_equal(w->known | w->fp_chain, 0);
		/* a word that no call has pushed */
		teardown(NULL);
		w = begin_edge(e, FP);
		put_code(SP16 + 0x7e, "\x90\x90", 2);
		check_lost(w);
		teardown(NULL);
	}
	for (size_t i = 0; i < sizeof(no_edges) / sizeof(no_edges[0]); i++) {
		check_lost(begin_edge(&no_edges[i], 3));
		teardown(NULL);
	}
	/* A frame pointer below SP, as by leave: not this frame's. */
	begin_edge(&edges[10], 0);
	store(LOW - 8, SP16 + 0x80);
	check_lost(begin(PC, LOW, LOW - 16, 1));
	teardown(NULL);
	/* code that cannot be read */
	check_step(begin_edge(&edges[8], 3), SP16 + 0x80, LOW + 16, 3, 0);
	teardown(NULL);
	begin_edge(&edges[8], 3);
	fake.holes[0] = (struct range){PC + 1, 1, 0};
	check_lost(begin(PC, LOW, 3, 1));
}

/* At a return address only what ends a function counts, and only if no frame pointer led there. */
static void test_edge_behind_call(void **state)
{
	struct walk *w;

	(void)state;
	put_call(PC, 0);
	PUT_CODE(PC, "\x48\x83\xc4\x08\xc3"); /* CPython's trampoline */
	store(LOW + 8, SP16 + 0x80);
	store(FP, FP + 0x100);
	store(FP + 8, FRAMED + 0x80);
	for (int i = 0; i < 4; i++) {
		w = begin(PC, LOW, i & 1 ? FP : 3, 0);
		w->known = 0;
		w->fp_chain = i >= 2;
		if (i == 2)
			check_lost(w);
		else if (i == 3)
			check_step(w, FRAMED + 0x80, FP + 16, FP + 0x100, 0);
		else
			check_step(w, SP16 + 0x80, LOW + 16, i ? FP : 3, 0);
	}
	/* push; mov behind a call is the beginning of the next function */
	PUT_CODE(PC, "\x55\x48\x89\xe5\x90");
	store(LOW, SP16 + 0x80);
	w = begin(PC, LOW, 3, 0);
	w->known = 0;
	check_lost(w);
}

/* --- the search for a return address -----------------------------------------------------------
 */

/* A frame whose record leads to `ra`, a frame with CFI that has another record above. */
static struct walk *begin_framed(uint64_t pc, uint64_t sp, uint64_t ra)
{
	store(FP, FP + 0x100);
	store(FP + 8, ra);
	return begin(pc, sp, FP, 1);
}

#define check_this(w, unsure) check_step(w, FRAMED + 0x80, FP + 16, FP + 0x100, unsure)

static void test_scan(void **state)
{
	(void)state;
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	check_this(begin_framed(PC, FP, FRAMED + 0x80), 0);
	/* data: behind no call, in no mapping, no address at all */
	store(LOW + 8, FRAMED + 0x81);
	store(LOW + 16, put_call(UNLISTED, 0));
	store(LOW + 24, (FRAMED + 0x80) | 1ull << 47);
	store(LOW + 32, (FRAMED + 0x80) | 1ull << 63);
	store(LOW + 40, 0);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	/* in the last word below the record, which is not searched itself */
	store(FP - 8, FRAMED + 0x80);
	check_step(begin_framed(PC, LOW, FRAMED + 0x80), FRAMED + 0x80, FP, FP, 0);
	check_step(begin_framed(PC, FP - 512, FRAMED + 0x80), FRAMED + 0x80, FP, FP, 0);
	/* 512 bytes are searched */
	check_this(begin_framed(PC, FP - 520, FRAMED + 0x80), 1);
	store(FP - 8, 0);
	check_this(begin_framed(PC, FP - 512, FRAMED + 0x80), 0);
	check_this(begin_framed(PC, FP - 520, FRAMED + 0x80), 1);
	/* a word that cannot be read */
	fake.holes[0] = (struct range){LOW + 0x40, 8, 0};
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 1);
}

/* Return addresses in a frame of such code are stale. Without a frame the one at SP is the
 * caller's. */
static void test_keeps_fp(void **state)
{
	static const struct {
		const char *code;
		size_t size, before;
		int lacks;
	} cases[] = {
		{"\x90\x90", 2, 0, 0},
		{"\x55\x48\x89\xe5", 4, 0, 1}, /* push %rbp; mov %rsp, %rbp */
		{"\x55\x48\x8b\xec", 4, 3, 1},
		{"\x55\x48\x89\xe5", 4, 5, 1},
		{"\x55\x48\x89\xe5", 4, 34, 1},
		{"\x55\x48\x89\xe5", 4, 35, 0},
		{"\x55\x48\x89\xe0", 4, 5, 0},			   /* mov %rsp, %rax */
		{"\x48\x83\xf9\x01\x7f\x03\xc2\x08\x00", 9, 0, 1}, /* cmp; jg; ret $8 */
		{"\x48\x83\xf9\x01\x7f\x03\xc2\x08\x00", 9, 1, 0},
		{"\x7f\x03\xc2\x08\x00", 5, 0, 1},
		{"\x7f\x03\xc3", 3, 0, 0},
		{"\x59\x48\x83\xc4\x18\x51\xc3", 7, 0, 1}, /* pop %rcx; add; push %rcx; ret */
		{"\x41\x5a\x48\x8d\x24\xcc\x41\x52\xc3", 9, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct walk *w;

		memset(fake.text + (PC - TEXT), 0x90, 64);
		put_code(PC + cases[i].before, cases[i].code, cases[i].size);
		store(LOW, FRAMED + 0x80);
		w = begin_framed(PC, LOW, put_call(FRAMED + 0xc0, 0));
		w->keeps_fp = 1;
		if (cases[i].lacks)
			check_step(w, FRAMED + 0x80, LOW + 8, FP, 0);
		else
			check_step(w, FRAMED + 0xc0, FP + 16, FP + 0x100, 0);
	}
}

/* After the pop the return address is in a register, so the step by FP skips the caller: a guess.
 */
static void test_keeps_fp_return(void **state)
{
	static const struct {
		const char *code;
		size_t size;
	} cases[] = {
		{"\x48\x83\xc4\x18\x51\xc3", 6},
		{"\x48\x8d\x24\xcc\x41\x52\xc3", 7},
		{"\x48\x81\xc4\x18\x01\x00\x00\x51", 8},
		{"\x51\xc3", 2},
		{"\x41\x52\xc3", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct walk *w;

		memset(fake.text + (PC - TEXT), 0x90, 64);
		put_code(PC, cases[i].code, cases[i].size);
		store(LOW, 0); /* an argument */
		w = begin_framed(PC, LOW, put_call(FRAMED + 0xc0, 0));
		w->keeps_fp = 1;
		check_step(w, FRAMED + 0xc0, FP + 16, FP + 0x100, 1);
	}
}

/* The function that has the record was called where this code begins with push; mov. */
static void test_is_framed(void **state)
{
	static const struct {
		uint64_t target;
		int framed;
	} calls[] = {
		{PC - 0x80, 1},	   {PC, 1}, {JIT, 1}, {0, 0}, /* by a register */
		{PC + 0x80, 0},				      /* further on */
		{JIT - 0x80, 0},			      /* another mapping */
		{PC - 0x7f, 0},				      /* in the middle of it */
		{PC - 0x40, 0},				      /* other code */
		{UNLISTED * 2, 0},			      /* cannot be read */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct walk *w;

		PUT_CODE(PC - 0x80, "\x55\x48\x89\xe5");
		PUT_CODE(PC + 0x80, "\x55\x48\x89\xe5");
		PUT_CODE(PC, "\x55\x48\x89\xe5");
		PUT_CODE(JIT, "\x55\x48\x89\xe5");
		PUT_CODE(JIT - 0x80, "\x55\x48\x89\xe5");
		put_call(FRAMED + 0xc0, calls[i].target);
		store(LOW + 8, FRAMED + 0x80); /* may be left over */
		w = begin_framed(PC + 8, LOW, FRAMED + 0xc0);
		if (calls[i].framed)
			check_step(w, FRAMED + 0xc0, FP + 16, FP + 0x100, 0);
		else
			check_step(w, FRAMED + 0x80, LOW + 16, FP, 0);
	}
}

/* --- judging a return address ------------------------------------------------------------------
 */

/* From the return address through frames that are based on SP to the one that has the pointer. */
static void test_chain(void **state)
{
	(void)state;
	for (unsigned int n = 0; n <= 4; n++) {
		struct walk *w;

		for (unsigned int i = 0; i < n; i++)
			store(LOW + 8 + 16 * i, SP16 + 0x80);
		store(LOW + 8 + 16 * n, FRAMED + 0x80);
		w = begin_framed(PC, LOW, FRAMED + 0x80);
		if (n == 4) {
			check_this(w, 1); /* more frames than are followed */
			break;
		}
		check_step(w, n ? SP16 + 0x80 : FRAMED + 0x80, LOW + 16, FP, 0);
		assert_int_equal(w->known | w->fp_chain, 0);
		/* and from there on by CFI */
		for (unsigned int i = 0; i < n; i++)
			check_step(w, i + 1 < n ? SP16 + 0x80 : FRAMED + 0x80, LOW + 32 + 16 * i,
				   FP, 0);
		check_step(w, FRAMED + 0x80, FP + 16, FP + 0x100, 0);
	}
}

/* Return addresses that cannot be the caller's: the frame pointer is the frame's own. */
static void test_impossible(void **state)
{
	(void)state;
	/* where its caller's return address would have to be, there is none */
	store(LOW + 8, SP32 + 0x80);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	/* ... or one of no mapping */
	store(LOW + 40, put_call(UNLISTED, 0));
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	/* ... or that of the frame itself, where the record is its own */
	store(LOW + 8, 0);
	store(FP - 8, SP16 + 0x80);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	check_step(begin_framed(PC, LOW, WIDE + 0x80), WIDE + 0x80, FP + 16, FP + 0x100, 0);
	/* beyond the record: a function with a frame pointer whose frame is below */
	store(FP - 8, 0);
	store(FP - 16, SP32 + 0x80);
	store(FP + 16, FRAMED + 0x80);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	/* a stub calls nothing by a call */
	store(FP - 16, STUB + 0x80);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	/* A direct call from elsewhere leads to no code that is made later. */
	put_call(FRAMED + 0xc0, PC - 0x80);
	store(FP - 16, FRAMED + 0xc0);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
	/* ... but to the code of a file, where nothing says that it does not return there */
	check_step(begin_framed(IN_FILE + 0x100, LOW, FRAMED + 0x80), FRAMED + 0xc0, FP - 8, FP, 0);
	/* Within the code, a call of what begins further on. */
	store(FP - 16, put_call(JIT + 0x300, PC + 1));
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 0);
}

static void test_candidates(void **state)
{
	(void)state;
	/* Impossible ones are passed: three are judged. */
	store(LOW + 8, SP32 + 0x80);
	store(LOW + 16, SP32 + 0x80);
	store(LOW + 64, FRAMED + 0x80);
	check_step(begin_framed(PC, LOW, FRAMED + 0x80), FRAMED + 0x80, LOW + 72, FP, 0);
	store(LOW + 24, SP32 + 0x80);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 1);
}

/* Return addresses that may be the caller's, without proof. */
static void test_unsure(void **state)
{
	struct walk *w;

	(void)state;
	/* of code without CFI, called there */
	store(LOW + 8, put_call(JIT + 0x300, PC));
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 1);
	store(LOW + 8, put_call(JIT + 0x300, 0));
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 1);
	/* of CFI that needs more than SP and FP */
	store(LOW + 8, WIDE + 0x80);
	check_this(begin_framed(PC, LOW, FRAMED + 0x80), 1);
	/* that CFI leads to the record, which leads to no CFI: it may be any other frame's */
	store(LOW + 8, FRAMED + 0x80);
	put_call(JIT + 0x400, 0);
	w = begin_framed(PC, LOW, JIT + 0x400);
	check_step(w, JIT + 0x400, FP + 16, FP + 0x100, 1);
	/* Code of a file is noted, too. */
	store(LOW + 8, WIDE + 0x80);
	check_this(begin_framed(IN_FILE + 0x100, LOW, FRAMED + 0x80), 1);
}

/* --- the end of a walk -------------------------------------------------------------------------
 */

/* A walk that came by a guess is not complete; one that was lost has that reason. */
static void test_guessed(void **state)
{
	struct walk *w;

	(void)state;
	store(FP + 0x18, OUTERMOST + 0x80);
	store(FP + 0x108, OUTERMOST + 0x80);
	store(FP + 0x100, 0);
	for (int unsure = 0; unsure < 2; unsure++) {
		store(LOW + 8, unsure ? WIDE + 0x80 : 0);
		w = begin_framed(PC, LOW, FRAMED + 0x80);
		assert_int_equal(host_walk(w), unsure ? WALK_GUESSED : WALK_BOTTOM);
		assert_int_equal(w->nframes, 3);
		/* by a frame pointer of zero */
		put_call(JIT + 0x400, 0);
		store(FP + 0x108, JIT + 0x400);
		w = begin_framed(PC, LOW, FRAMED + 0x80);
		assert_int_equal(host_walk(w), unsure ? WALK_GUESSED : WALK_BOTTOM_FP);
		/* lost */
		store(FP + 0x108, UNLISTED);
		w = begin_framed(PC, LOW, FRAMED + 0x80);
		assert_int_equal(host_walk(w), WALK_NO_MAPPING);
		store(FP + 0x108, OUTERMOST + 0x80);
	}
}

/* The frame pointer is zero far from where a stack begins. */
static struct walk *begin_root(uint64_t pc, uint64_t fp, int exact)
{
	struct walk *w = begin(pc, LOW, fp, exact);

	w->known = 0;
	w->start_stack = LOW + 0x1000;
	return w;
}

static void test_root(void **state)
{
	(void)state;
	/* The return address was written, not pushed, which only the zero tells from a wrong one.
	 */
	check_end(begin_root(PC, 0, 0), WALK_BOTTOM_FP);
	check_end(begin_root(PC, 0, 1), WALK_NO_FRAME_POINTER);
	check_end(begin_root(PC, 3, 0), WALK_NO_FRAME_POINTER);
	put_call(PC, 0);
	check_end(begin_root(PC, 0, 0), WALK_NO_FRAME_POINTER);
	/* xor %ebp, %ebp and sub %ebp, %ebp before calls of both kinds */
	PUT_CODE(PC - 4, "\x31\xed\xff\xd0");
	check_end(begin_root(PC, 0, 0), WALK_BOTTOM);
	PUT_CODE(PC - 4, "\x29\xed\xff\xd3");
	check_end(begin_root(PC, 0, 0), WALK_BOTTOM);
	PUT_CODE(PC - 7, "\x31\xed\xe8\x00\x00\x00\x00");
	check_end(begin_root(PC, 0, 0), WALK_BOTTOM);
	PUT_CODE(PC - 7, "\x29\xed\xe8\x00\x00\x00\x00");
	check_end(begin_root(PC, 0, 0), WALK_BOTTOM);
	/* another register */
	PUT_CODE(PC - 7, "\x31\xdb\xe8\x00\x00\x00\x00");
	check_end(begin_root(PC, 0, 0), WALK_NO_FRAME_POINTER);
	/* musl: mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall */
	PUT_CODE(PC, "\x89\xc7\x31\xc0\xb0\x3c\x0f\x05");
	check_end(begin_root(PC, 0, 0), WALK_BOTTOM);
	PUT_CODE(PC, "\x89\xc7\x31\xc0\xb0\x3b\x0f\x05");
	check_end(begin_root(PC, 0, 0), WALK_NO_FRAME_POINTER);
	/* code that cannot be read */
	PUT_CODE(PC - 7, "\x31\xed\xe8\x00\x00\x00\x00");
	fake.holes[0] = (struct range){PC - 8, 1, 0};
	check_end(begin_root(PC, 0, 0), WALK_NO_FRAME_POINTER);
}

/* --- another stack -----------------------------------------------------------------------------
 */

static struct walk *begin_elsewhere(uint64_t pc, uint64_t fp, int exact)
{
	struct walk *w = begin(pc, SP, fp, exact);

	w->known = 0;
	return w;
}

static void test_elsewhere(void **state)
{
	const uint64_t below = STACK + 0x200;
	struct walk *w;

	(void)state;
	put_call(PC, 0);
	put_call(IN_FILE + 0x100, 0);
	store(below, below + 0x100);
	store(below + 8, FRAMED + 0x80);
	w = begin_elsewhere(PC, below, 0);
	w->window_top = SP + 0x100; /* of the stack that is left */
	check_step(w, FRAMED + 0x80, below + 16, below + 0x100, 0);
	assert_int_equal(w->window_top, 0);
	/* once in a walk */
	w->pc = PC;
	w->sp = SP;
	w->fp = below;
	w->fp_chain = 0;
	check_lost(w);
	w = begin_elsewhere(PC, below, 0);
	w->switches = WALK_SWITCHES_MAX;
	check_lost(w);
	/* a stack far above: 65 MiB from here to the record */
	w = begin_elsewhere(PC, below, 0);
	w->sp = below - (65ull << 20);
	check_step(w, FRAMED + 0x80, below + 16, below + 0x100, 0);
	/* not where the register may just have been changed, and not in files */
	check_lost(begin_elsewhere(PC, below, 1));
	w = begin_elsewhere(IN_FILE + 0x100, below, 0);
	assert_int_equal(walk_step(w), WALK_NO_FRAME_POINTER);
	/* what is no record */
	check_lost(begin_elsewhere(PC, below + 4, 0));
	check_lost(begin_elsewhere(PC, STACK - 0x1000, 0));
	store(below, below);
	check_lost(begin_elsewhere(PC, below, 0));
	store(below, 0);
	check_step(begin_elsewhere(PC, below, 0), FRAMED + 0x80, below + 16, 0, 0);
	store(below + 8, FRAMED + 0x81);
	check_lost(begin_elsewhere(PC, below, 0));
	store(below + 8, put_call(UNLISTED, 0));
	check_lost(begin_elsewhere(PC, below, 0));
}

/* --- rows from code ----------------------------------------------------------------------------
 */

/* What a row from code says is checked, unless it is of CFI. */
static void test_derived(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++) {
		const int derived = i & 1, file = i >> 1 & 1, ra = i >> 2;
		struct walk *w;
		int wanted = WALK_CONTINUE;

		put_rule(RULE_FRAME(ROW_SP, 16, 0) | (derived ? RULE_DERIVED : 0));
		if (file)
			host.entries[0].frame = FRAME_OF(1, 0);
		put_call(TEXT + 0x80, 0);
		store(LOW + 8, ra == 0 ? 0 : ra == 1 ? TEXT + 0x81 : TEXT + 0x80);
		w = begin(TEXT + 0x20, LOW, FP, 1);
		nstale = 0;
		if (derived && (ra == 0 || (ra == 1 && !file)))
			wanted = WALK_NO_FRAME_POINTER;
		else if (ra == 0)
			wanted = WALK_ZERO;
		assert_int_equal(walk_step(w), wanted);
		if (wanted == WALK_CONTINUE)
			assert_state(w, TEXT + (ra == 1 ? 0x81 : 0x80), LOW + 16, FP);
		/* What led nowhere is noted, for its code to be read again. */
		assert_int_equal(nstale, wanted == WALK_NO_FRAME_POINTER);
	}
}

/* Such a row that leads nowhere is as none: the frame pointer may lead on. */
static void test_derived_in_vain(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct walk *w;

		put_rule(RULE_FRAME(ROW_SP, 16, 0) | RULE_DERIVED);
		if (i & 1)
			host.entries[0].frame = FRAME_OF(1, 0);
		put_call(TEXT + 0x20, 0);
		store(LOW + 8, 0);
		store(FP, FP + 0x100);
		store(FP + 8, put_call(TEXT + 0x80, 0));
		w = begin(TEXT + 0x20, LOW, FP, 0);
		if (i & 2)
			host.entries[0].start =
				TEXT + 0x40; /* that of the pc counts, not another */
		nstale = 0;
		if (i & 2) {
			assert_int_equal(walk_step(w), WALK_NO_MAPPING);
			continue;
		}
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, TEXT + 0x80, FP + 16, FP + 0x100);
		assert_int_equal(nstale, 1);
	}
}

/* What begins a stack has written a return address that no call has pushed. */
static void test_written_start(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		const int ends = !(i & 1), near = !(i & 2);
		struct walk *w;

		put_rule(RULE_FRAME(ROW_SP, near ? 0x90 : 0x98, near ? 16 : 24) | RULE_DERIVED);
		put_call(TEXT + 0x20, 0);
		store(FP, ends ? 0 : FP + 0x100);
		store(FP + 8, TEXT + 0x81);
		store(FP + 16, TEXT + 0x81);
		w = begin(TEXT + 0x20, LOW, FP, 0);
		if (ends && near) {
			assert_int_equal(walk_step(w), WALK_CONTINUE);
			assert_state(w, TEXT + 0x81, FP + 16, 0);
		} else {
			assert_int_equal(walk_step(w), WALK_NO_FRAME_POINTER);
		}
	}
}

/* Which words of the stack may lead to the function that runs code in one frame. */
static void test_return_words(void **state)
{
	struct walk *w;

	(void)state;
	host.entries[0].frame = FRAME_OF(1, 0); /* of the text with CFI */
	w = begin(PC, LOW, FP, 1);
	for (uint64_t at = LOW; at < LOW + 0x400; at += 8)
		store(at, 0);
	assert_true(walk_return_words(w) == 0);
	/* CFA = SP + 16, twice; the next two of these are followed by too few; no call; of code
	 * without a file; beyond 64 words */
	store(LOW + 8 * 5, put_call(SP16 + 0x40, 0));
	store(LOW + 8 * 7, put_call(SP16 + 0x60, 0));
	store(LOW + 8 * 9, put_call(SP16 + 0x80, 0));
	store(LOW + 8 * 20, SP16 + 0x81);
	store(LOW + 8 * 21, put_call(JIT + 0x40, 0));
	store(LOW + 8 * 64, put_call(SP16 + 0x40, 0));
	/* one that leads to nothing, and one that needs FP */
	store(LOW + 8 * 30, put_call(SP16 + 0xa0, 0));
	store(LOW + 8 * 40, put_call(FRAMED + 0x40, 0));
	w = begin(PC, LOW, FP, 1);
	assert_int_equal(walk_return_words(w), 1ull << 5 | 1ull << 40);
	assert_int_equal(w->return_ra, SP16 + 0x40);
	assert_true(w->fp == FP);
	/* a nearer one of code without a file: it has called this code, which is not in one frame
	 */
	store(LOW + 8 * 3, put_call(JIT + 0x40, 0));
	w = begin(PC, LOW, FP, 1);
	assert_int_equal(walk_return_words(w), 0);
	assert_true(w->fp == FP);
}

/* What is far above is another stack's if it is in another mapping; else it may be a caller's. */
static void test_apart(void **state)
{
	static const struct {
		uint64_t distance;
		uint32_t apart, guess;
	} cases[] = {{4096, 0, 1}, {4096, 1, 0}, {4088, 1, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct walk *w = begin_framed(put_call(PC, 0), FP - cases[i].distance,
					      put_call(FRAMED + 0xc0, 0));

		w->exact = 0;
		w->known = 0;
		apart = cases[i].apart;
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, FRAMED + 0xc0, FP + 16, FP + 0x100);
		assert_int_equal(w->guessed, cases[i].guess);
	}
	apart = 0;
}

/* Rows of such code do not count where it keeps frame pointers: it may have been another
 * function's. */
static void test_rows_of_kept(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		const int file = i & 1, keeps = i >> 1;
		struct walk *w;

		put_rule(RULE_FRAME(ROW_SP, 16, 0) | (file ? 0 : RULE_DERIVED));
		if (file)
			host.entries[0].frame = FRAME_OF(1, 0);
		put_call(TEXT + 0x80, 0);
		put_call(TEXT + 0xc0, 0);
		store(LOW + 8, TEXT + 0x80);
		store(FP, FP + 0x100);
		store(FP + 8, TEXT + 0xc0);
		w = begin(put_call(TEXT + 0x20, 0), LOW, FP, 0);
		w->keeps_fp = (uint32_t)keeps;
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		if (keeps && !file)
			assert_state(w, TEXT + 0xc0, FP + 16, FP + 0x100);
		else
			assert_state(w, TEXT + 0x80, LOW + 16, FP);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup_bare, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_edges, teardown),
		TEST(edge_behind_call),
		TEST(scan),
		TEST(keeps_fp),
		TEST(derived_in_vain),
		TEST(written_start),
		TEST(apart),
		TEST(return_words),
		TEST(keeps_fp_return),
		TEST(is_framed),
		TEST(chain),
		TEST(impossible),
		TEST(candidates),
		TEST(unsure),
		TEST(guessed),
		TEST(root),
		TEST(elsewhere),
		TEST(derived),
		TEST(rows_of_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
