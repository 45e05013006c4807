// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of Go's runtime that change stacks (unwind/go_cfi.h): where their code does it, and
 * what leads back.
 *
 * From Go 1.21 on all of them have a frame, so their frame pointer stays on the stack of their
 * caller while the stack pointer does not. Up to Go 1.20 those without arguments on the stack have
 * none. There asmcgocall, which cgocall alone calls on a goroutine's stack, has the frame pointer
 * of cgocall, at a fixed distance from its stack pointer; and where systemstack goes back its code
 * says where the goroutine has saved its stack pointer. The frame pointer is that of the caller.
 */
#include "unwind/go_cfi.h"

#include <string.h>

#include "symbols/elf/elffile.h"
#include "unwind/arch.h"

#define ANY	     0x100u /* in a code: any byte */
#define END	     0x200u
#define PROLOGUE_MAX 32u
#define CODE_MAX     4096u /* bytes of a function's code */

struct code {
	uint8_t text[CODE_MAX];
	size_t size;
	uint64_t start;
	struct go_rows *rows;
};

static const uint16_t set_by_lea[] = {0x48, 0x8d, 0x6c, 0x24, ANY, END};
static const uint16_t sp_to_fp[] = {0x48, 0x89, 0xe5, END}; /* mov %rsp,%rbp */
static const uint16_t set_by_push[] = {0x55, 0x48, 0x89, 0xe5, END};
/* mov n(%rsp),%rbp; add $n,%rsp; ret */
static const uint16_t mov_back[] = {0x48, 0x8b, 0x6c, 0x24, ANY, 0x48, 0x83, 0xc4, ANY, 0xc3, END};
static const uint16_t switch_gobuf[] = {0x48, 0x8b, 0x23, END}; /* mov (%rbx),%rsp */
static const uint16_t pop_ret[] = {0x5d, 0xc3, END};
static const uint16_t pop_jmp[] = {0x5d, 0xff, 0xe7, END};	       /* pop %rbp; jmp *%rdi */
static const uint16_t align[] = {0x48, 0x83, 0xe4, 0xf0, END};	       /* and $~15,%rsp */
static const uint16_t save_rdx[] = {0x48, 0x89, 0x54, 0x24, ANY, END}; /* mov %rdx,n(%rsp) */
static const uint16_t system_stack[] = {0x48, 0x8b, 0x5a, 0x38, END};  /* mov 0x38(%rdx),%rbx */
/* mov %fs:n,%rax; mov m(%rax),%rbx; mov n(%rbx),%rax; mov %rax,%fs:n; mov n(%rax),%rsp */
static const uint16_t go_back[] = {
	0x64, 0x48, 0x8b, 0x04, 0x25, ANY,  ANY,  ANY,	ANY,  0x48, 0x8b, 0x58,
	ANY,  0x48, 0x8b, 0x83, ANY,  ANY,  ANY,  ANY,	0x64, 0x48, 0x89, 0x04,
	0x25, ANY,  ANY,  ANY,	ANY,  0x48, 0x8b, 0x60, ANY,  END,
};
/* The same in a program for any address: mov $n,%rcx; mov %fs:(%rcx),%rax ... */
static const uint16_t go_back_pie[] = {
	0x48, 0xc7, 0xc1, ANY, ANY, ANY, ANY,  0x64, 0x48, 0x8b, 0x01, 0x48, 0x8b, 0x58, ANY, 0x48,
	0x8b, 0x83, ANY,  ANY, ANY, ANY, 0x64, 0x48, 0x89, 0x01, 0x48, 0x8b, 0x60, ANY,	 END,
};

/* syscall; cmp $0,%rax */
static const uint16_t system_call[] = {0x0f, 0x05, 0x48, 0x83, 0xf8, 0x00, END};

/*
 * Offset right behind the code's first occurrence in the text from there on; 0: none. Codes end
 * with END.
 */
static size_t behind(const struct code *c, size_t from, size_t size, const uint16_t *code)
{
	for (; from < size; from++) {
		size_t i = 0;

		while (code[i] != END && from + i < size &&
		       (code[i] == ANY || code[i] == c->text[from + i]))
			i++;
		if (code[i] == END)
			return from + i;
	}
	return 0;
}

/* Offset right behind the next move to the stack pointer, from memory or a register; 0: none. */
static size_t behind_switch(const struct code *c, size_t from)
{
	for (; from + 4 <= c->size; from++) {
		const uint8_t *at = c->text + from;

		/* mov n(%reg),%rsp and mov (%reg),%rsp */
		if ((at[0] & 0xfe) == 0x48 && at[1] == 0x8b && (at[2] & 0xf8) == 0x60 &&
		    (at[2] & 7) != 4)
			return from + 4;
		/* mov %reg,%rsp */
		if ((at[0] & 0xfb) == 0x48 && at[1] == 0x89 && (at[2] & 0xc7) == 0xc4)
			return from + 3;
	}
	return 0;
}

static bool read_text(const struct elf_file *file, uint64_t start, uint64_t end, struct code *c)
{
	struct elf_section section;

	c->start = start;
	c->size = end - start;
	return elf_file_section_header(file, elf_file_section_index(file, ".text"), &section) >=
		       0 &&
	       start >= section.addr && end > start && end - section.addr <= section.size &&
	       c->size <= sizeof(c->text) &&
	       !elf_file_read(file, section.offset + (start - section.addr), c->text, c->size);
}

void go_text_open(const struct elf_file *file, struct go_text *out)
{
	struct elf_section section;

	memset(out, 0, sizeof(*out));
	out->file = file;
	if (elf_file_section_header(file, elf_file_section_index(file, ".text"), &section) < 0)
		return;
	out->addr = section.addr;
	out->size = section.size;
	out->offset = section.offset;
}

/* Bytes of code at the address; NULL: not all of them are there. */
static const uint8_t *text_at(struct go_text *text, uint64_t addr, uint32_t size)
{
	uint64_t left = text->size - (addr - text->addr);

	if (addr < text->addr || addr - text->addr > text->size || size > left)
		return NULL;
	if (addr < text->at || addr - text->at > text->filled ||
	    size > text->filled - (addr - text->at)) {
		text->at = addr;
		text->filled = left < sizeof(text->window) ? (uint32_t)left : sizeof(text->window);
		if (elf_file_read(text->file, text->offset + (addr - text->addr), text->window,
				  text->filled)) {
			text->filled = 0;
			return NULL;
		}
	}
	return text->window + (addr - text->at);
}

int64_t go_fp_slot(int64_t cfa)
{
	(void)cfa;
	return ARCH_RA_AT - 8;
}

uint64_t go_saved(struct go_text *text, uint64_t pc, int64_t cfa)
{
	const uint8_t *code = text_at(text, pc - 1, 9);
	int32_t near;

	if (!code)
		return 0;
	if (cfa == 16 && code[0] == 0x55) /* push %rbp */
		return pc;
	/* mov %rbp,n(%rsp) */
	if (code[1] != 0x48 || code[2] != 0x89 || code[4] != 0x24)
		return 0;
	if (code[3] == 0x6c && (int8_t)code[5] == cfa - 16)
		return pc + 5;
	memcpy(&near, code + 5, sizeof(near));
	return code[3] == 0xac && near == cfa - 16 ? pc + 8 : 0;
}

static void add(struct code *c, size_t offset, enum go_rule rule, uint32_t reg, int64_t cfa)
{
	if (c->rows->count == GO_ROWS_MAX)
		c->rows->count = 0; /* not as known: the caller sees that there are none */
	else
		c->rows->row[c->rows->count++] = (struct go_row){
			.from = c->start + offset,
			.rule = rule,
			.cfa = {.kind = EXPR_REG, .reg = reg, .add = cfa},
		};
}

static void add_deref(struct code *c, size_t offset, int64_t at, int64_t cfa)
{
	add(c, offset, GO_NO_FRAME, ARCH_SP, cfa);
	if (c->rows->count) {
		struct expr *expr = &c->rows->row[c->rows->count - 1].cfa;

		expr->kind = EXPR_DEREF;
		expr->off = at;
	}
}

/* The frame pointer is CFA - 16 but where the function has given its caller's back. */
static bool pushed_frame(struct code *c, size_t set)
{
	size_t at = set, ret, jmp;

	add(c, set, GO_FRAME, ARCH_FP, 16);
	for (;;) {
		ret = behind(c, at, c->size, pop_ret);
		jmp = behind(c, at, c->size, pop_jmp);
		if (!ret && !jmp)
			return at != set;
		if (!ret || (jmp && jmp < ret)) {
			add(c, jmp - 2, GO_NO_FRAME, ARCH_SP, 8);
			at = jmp;
		} else {
			add(c, ret - 1, GO_NO_FRAME, ARCH_SP, 8);
			at = ret;
		}
		if (at < c->size)
			add(c, at, GO_FRAME, ARCH_FP, 16);
	}
}

/* Up to Go 1.16 the clock's functions keep the stack pointer itself in the register. */
static bool moved_frame(struct code *c, size_t set)
{
	int64_t cfa = 16;
	size_t at = set, ret;

	add(c, set, GO_FRAME, ARCH_FP, cfa);
	if (set + 3 <= c->size && behind(c, set, set + 3, sp_to_fp)) {
		cfa += (int8_t)c->text[set - 1];
		add(c, set + 3, GO_FRAME, ARCH_FP, cfa);
	}
	while ((ret = behind(c, at, c->size, mov_back))) {
		add(c, ret - 5, GO_NO_FRAME, ARCH_SP, 8 + (int8_t)c->text[ret - 2]);
		add(c, ret - 1, GO_NO_FRAME, ARCH_SP, 8);
		if (ret < c->size)
			add(c, ret, GO_FRAME, ARCH_FP, cfa);
		at = ret;
	}
	return at != set;
}

static bool frame(struct code *c)
{
	const size_t prologue = c->size < PROLOGUE_MAX ? c->size : PROLOGUE_MAX;
	size_t set = behind(c, 0, prologue, set_by_lea);

	if (set)
		return moved_frame(c, set);
	set = behind(c, 0, prologue, set_by_push);
	return set && pushed_frame(c, set);
}

static int32_t signed_byte(uint8_t byte)
{
	return (int32_t)(byte ^ 0x80u) - 0x80;
}

static void add_links(struct code *c, size_t there, size_t back)
{
	const size_t full = behind(c, there, back, go_back),
		     pie = behind(c, there, back, go_back_pie);
	struct go_links links = {0};

	if (full == back || pie == back) {
		memcpy(&links.g, c->text + back - (full ? 28 : 27), sizeof(links.g));
		links.m = signed_byte(c->text[back - (full ? 21 : 16)]);
		memcpy(&links.goroutine, c->text + back - (full ? 17 : 12),
		       sizeof(links.goroutine));
		links.sp = signed_byte(c->text[back - 1]);
	}
	add(c, there, GO_LINKS, 0, 0);
	if (c->rows->count)
		c->rows->row[c->rows->count - 1].links = links;
}

/* Up to Go 1.20. */
static bool systemstack(struct code *c)
{
	size_t load = behind(c, 0, c->size, system_stack);
	size_t there = load ? behind_switch(c, load) : 0;
	size_t back = there ? behind_switch(c, there) : 0;

	if (!back)
		return false;
	add_links(c, there, back);
	add(c, back, GO_CFI, 0, 0);
	return true;
}

/* The way of asmcgocall if it is on a system stack already: RDX, or a slot, has the old SP. */
static bool aligned(struct code *c, size_t from)
{
	size_t set = behind(c, from, c->size, align);
	size_t saved = set ? behind(c, set, c->size, save_rdx) : 0;
	size_t back = saved ? behind_switch(c, saved) : 0;

	if (!back || set < 8)
		return false;
	add(c, set - 4, GO_NO_FRAME, DWARF_RDX, 8);
	add_deref(c, saved, (int8_t)c->text[saved - 1], 8);
	add(c, back, GO_CFI, 0, 0);
	return true;
}

/* Up to Go 1.20. The distance from the frame pointer to the stack pointer is in cgocall's lea. */
static bool asmcgocall(struct code *c, const struct elf_file *file, uint64_t cgocall)
{
	size_t there = behind_switch(c, 0);
	size_t back = there ? behind_switch(c, there) : 0;
	struct go_rows rows;
	struct code caller = {.rows = &rows};
	size_t set;

	if (!back || !cgocall || !read_text(file, cgocall, cgocall + PROLOGUE_MAX, &caller))
		return false;
	set = behind(&caller, 0, PROLOGUE_MAX, set_by_lea);
	if (!set)
		return false;
	add(c, there, GO_NO_FRAME, ARCH_FP, -(int64_t)(int8_t)caller.text[set - 1]);
	add(c, back, GO_CFI, 0, 0);
	return aligned(c, back);
}

/* The functions that leave a stack for good: on the other one they, and what they call, have no
 * caller. */
static bool leave(struct code *c, enum go_kind kind)
{
	size_t there =
		kind == GO_RESUME ? behind(c, 0, c->size, switch_gobuf) : behind_switch(c, 0);

	if (there)
		add(c, there, GO_OUTERMOST, 0, 0);
	return there;
}

/* Right behind the system call the result tells the parent from the child, which only then moves.
 */
static bool cloned(struct code *c)
{
	size_t call = behind(c, 0, c->size, system_call);
	size_t child = call ? behind_switch(c, call) : 0;

	if (!child)
		return false;
	add(c, call - 4, GO_CLONED, 0, 0);
	add(c, child - 3, GO_OUTERMOST, 0, 0);
	return true;
}

static bool changes(struct code *c, const struct elf_file *file, enum go_kind kind,
		    uint64_t cgocall)
{
	switch (kind) {
	case GO_LEAVE:
	case GO_RESUME:
		return leave(c, kind);
	case GO_CLONE:
		return cloned(c);
	case GO_SYSTEMSTACK:
		return frame(c) || systemstack(c);
	case GO_ASMCGOCALL:
		return frame(c) || asmcgocall(c, file, cgocall);
	case GO_ALIGN:
		return frame(c) || aligned(c, 0);
	default:
		return frame(c);
	}
}

void go_code_rows(const struct elf_file *file, const struct go_function *function, uint64_t end,
		  uint64_t cgocall, struct go_rows *out)
{
	struct code c = {.rows = out};

	out->count = 0;
	if (read_text(file, function->start, end, &c)) {
		/* A wrapper for another calling convention, or C code, may have the name, too. */
		if (!(function->kind == GO_RESUME ? behind(&c, 0, c.size, switch_gobuf)
						  : behind_switch(&c, 0)))
			return;
		if (changes(&c, file, function->kind, cgocall) && out->count)
			return;
	}
	out->count = 0;
	add(&c, 0, GO_WRONG, 0, 0);
}
