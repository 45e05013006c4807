// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The effects of instructions against capstone, for all code of this program and of the C library:
 * lengths, targets of jumps, and whether SP or FP is written; and the encodings that compiled code
 * has for each effect, assembled by the compiler.
 * Covers: unwind/arch/x86_64/effect.c symbols/insn/disasm.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>

#include "symbols/elf/elffile.h"
#include "symbols/insn/disasm.h"
#include "unwind/effect.h"

static struct disasm *disasm;

static bool has_target(const struct effect *e)
{
	return e->kind == EFFECT_JUMP || e->kind == EFFECT_BRANCH || e->kind == EFFECT_CALL;
}

static bool writes_sp(const struct effect *e)
{
	switch (e->kind) {
	case EFFECT_PUSH:
	case EFFECT_PUSH_FP:
	case EFFECT_POP:
	case EFFECT_POP_FP:
	case EFFECT_ADD_SP:
	case EFFECT_SP_LOST:
	case EFFECT_BOTH_LOST:
	case EFFECT_SP_FROM_FP:
	case EFFECT_LEAVE:
	case EFFECT_RETURN:
	case EFFECT_CALL:
	case EFFECT_CALL_COMPUTED:
		return true;
	default:
		return false;
	}
}

static bool writes_fp(const struct effect *e)
{
	return e->kind == EFFECT_POP_FP || e->kind == EFFECT_FP_LOST ||
	       e->kind == EFFECT_BOTH_LOST || e->kind == EFFECT_FP_FROM_SP ||
	       e->kind == EFFECT_LOAD_FP || e->kind == EFFECT_RELOAD_FP ||
	       e->kind == EFFECT_ZERO_FP || e->kind == EFFECT_LEAVE;
}

static unsigned int check_code(const uint8_t *code, size_t size)
{
	unsigned int count = 0;
	struct effect effect;

	for (size_t at = 0; at < size; at += effect.size) {
		struct disasm_insn insn;
		unsigned int does;
		size_t length = disasm_effect(disasm, code + at, size - at, &does);

		arch_effect(disasm, code + at, size - at, &effect);
		assert_true(effect.size >= 1 && effect.size <= 15);
		if (effect.kind == EFFECT_BAD)
			continue;
		count++;
		if (!length) /* hints of new processors */
			continue;
		if (effect.size != length || writes_fp(&effect) != !!(does & DISASM_WRITES_FP) ||
		    ((does & DISASM_WRITES_SP) && !writes_sp(&effect))) {
			disasm_one(disasm, at, code + at, size - at, &insn);
			fail_msg("%s: %u bytes, not %zu; kind %u, not %u", insn.text, effect.size,
				 length, effect.kind, does);
		}
		if (!has_target(&effect))
			continue;
		disasm_one(disasm, at, code + at, size - at, &insn);
		if (!strncmp(insn.text, "loop", 4)) /* no jump for capstone 4 */
			continue;
		if (!insn.has_target)
			fail_msg("%s: no target", insn.text);
		assert_true(at + effect.size + (uint64_t)(int64_t)effect.value == insn.target);
	}
	return count;
}

static unsigned int check_file(const char *path)
{
	struct elf_section s, text;
	struct elf_file *file;
	unsigned int count = 0;

	assert_int_equal(elf_file_open(path, &file), 0);
	for (size_t i = 1; i < elf_file_section_count(file); i++) {
		uint8_t *code;

		assert_int_equal(elf_file_section_header(file, (uint32_t)i, &s), 0);
		text = s;
		if (text.type != SHT_PROGBITS || !(text.flags & SHF_EXECINSTR))
			continue;
		code = malloc(text.size);
		assert_non_null(code);
		assert_int_equal(elf_file_read(file, text.offset, code, text.size), 0);
		count += check_code(code, text.size);
		free(code);
	}
	elf_file_free(file);
	return count;
}

static void test_programs(void **state)
{
	Dl_info libc;

	(void)state;
	assert_true(check_file("/proc/self/exe") > 1000);
	assert_true(dladdr((void *)(uintptr_t)qsort, &libc));
	assert_true(check_file(libc.dli_fname) > 100000);
}

struct sample {
	const char *bytes;
	unsigned int size;
	unsigned int kind;
	int value;
};

#define INSN(bytes, kind, value)                                                                   \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, EFFECT_##kind, value                                     \
	}

/* As `objdump -d` reads them; the assembler's text stands behind. */
static const struct sample samples[] = {
	INSN("\x55", PUSH_FP, 0),			      /* push %rbp */
	INSN("\x41\x55", PUSH, 0),			      /* push %r13 */
	INSN("\x68\0\x10\0\0", PUSH, 0x1000),		      /* push $0x1000 */
	INSN("\x5d", POP_FP, 0),			      /* pop %rbp */
	INSN("\x41\x5d", POP, 0),			      /* pop %r13 */
	INSN("\x5c", SP_LOST, 0),			      /* pop %rsp */
	INSN("\x48\x89\xe5", FP_FROM_SP, 0),		      /* mov %rsp,%rbp */
	INSN("\x48\x8b\xec", FP_FROM_SP, 0),		      /* the same */
	INSN("\xf3\x48\x0f\xae\xc5", FP_LOST, 0),	      /* rdfsbase %rbp */
	INSN("\x0f\xae\xf0", NONE, 0),			      /* mfence */
	INSN("\x48\x8b\x6d\x10", RELOAD_FP, 16),	      /* mov 16(%rbp),%rbp */
	INSN("\x48\x89\xec", SP_FROM_FP, 0),		      /* mov %rbp,%rsp */
	INSN("\x89\xe5", FP_LOST, 0),			      /* mov %esp,%ebp */
	INSN("\x48\x89\xc4", SP_LOST, 0),		      /* mov %rax,%rsp */
	INSN("\x49\x89\xe5", SAVE_SP, 0),		      /* mov %rsp,%r13 */
	INSN("\x48\x89\x27", SAVE_SP, 0),		      /* mov %rsp,(%rdi) */
	INSN("\x49\x89\xec", NONE, 0),			      /* mov %rbp,%r12 */
	INSN("\x48\x83\xec\x18", ADD_SP, -24),		      /* sub $24,%rsp */
	INSN("\x48\x81\xc4\0\x01\0\0", ADD_SP, 256),	      /* add $256,%rsp */
	INSN("\x48\x83\xe4\xf0", SP_LOST, -16),		      /* and $-16,%rsp */
	INSN("\x48\x83\xc5\x08", FP_LOST, 8),		      /* add $8,%rbp */
	INSN("\x48\x83\xfc\x08", NONE, 0),		      /* cmp $8,%rsp */
	INSN("\x48\x8d\x64\x24\x10", ADD_SP, 16),	      /* lea 16(%rsp),%rsp */
	INSN("\x48\x8d\x65\xd8", SP_FROM_FP, -40),	      /* lea -40(%rbp),%rsp */
	INSN("\x48\x8d\x6c\x24\x20", FP_FROM_SP, 32),	      /* lea 32(%rsp),%rbp */
	INSN("\x48\x8d\x2c\x04", FP_LOST, 0),		      /* lea (%rsp,%rax),%rbp */
	INSN("\x48\x8d\x6d\0", ADD_SP, 0),		      /* lea 0(%rbp),%rbp: a nop */
	INSN("\x8d\x6d\0", FP_LOST, 0),			      /* lea 0(%rbp),%ebp */
	INSN("\x48\x8d\x6d\x08", FP_LOST, 0),		      /* lea 8(%rbp),%rbp */
	INSN("\x48\x8d\x6c\x05\0", FP_LOST, 0),		      /* lea 0(%rbp,%rax),%rbp */
	INSN("\x48\x89\x6c\x24\x10", STORE_FP, 16),	      /* mov %rbp,16(%rsp) */
	INSN("\x48\x8b\x6c\x24\x10", LOAD_FP, 16),	      /* mov 16(%rsp),%rbp */
	INSN("\x31\xed", ZERO_FP, 0),			      /* xor %ebp,%ebp */
	INSN("\x48\x31\xed", ZERO_FP, 0),		      /* xor %rbp,%rbp */
	INSN("\x45\x31\xed", NONE, 0),			      /* xor %r13d,%r13d */
	INSN("\x87\xec", BOTH_LOST, 0),			      /* xchg %ebp,%esp */
	INSN("\x48\x0f\x44\xe8", FP_LOST, 0),		      /* cmove %rax,%rbp */
	INSN("\x40\x0f\x94\xc5", FP_LOST, 0),		      /* sete %bpl */
	INSN("\x0f\x94\xc5", NONE, 0),			      /* sete %ch */
	INSN("\xbd\1\0\0\0", FP_LOST, 1),		      /* mov $1,%ebp */
	INSN("\x41\xbd\1\0\0\0", ABSOLUTE, 1),		      /* mov $1,%r13d */
	INSN("\x48\xb8\1\2\3\4\5\6\7\x08", NONE, 0),	      /* movabs $...,%rax */
	INSN("\xf3\x0f\x6f\x2c\x24", NONE, 0),		      /* movdqu (%rsp),%xmm5 */
	INSN("\x66\x48\x0f\x7e\xc5", FP_LOST, 0),	      /* movq %xmm0,%rbp */
	INSN("\xc5\xf9\x6f\xec", NONE, 0),		      /* vmovdqa %xmm4,%xmm5 */
	INSN("\xc4\xe2\xf0\xf2\xe8", FP_LOST, 0),	      /* andn %rax,%rcx,%rbp */
	INSN("\x62\xf2\x7d\x28\x1d\x07", NONE, 0),	      /* vpabsw (%rdi),%ymm0 */
	INSN("\x62\xa3\x65\x43\x43\xcb\xf5", NONE, 0),	      /* vshufi32x4 $0xf5,...,%zmm17{%k3} */
	INSN("\x62\xf1\x7d\x48\x72\xd0\x05", NONE, 0),	      /* vpsrld $5,%zmm0,%zmm0 */
	INSN("\x62\xe1\x7d\x08\x7e\xc5", FP_LOST, 0),	      /* vmovd %xmm16,%ebp */
	INSN("\x62\xf1\x7e\x08\x2d\x6c\x24\x01", FP_LOST, 0), /* vcvtss2si 4(%rsp),%ebp */
	INSN("\xc5\xed\x46\xd2", NONE, 0),		      /* kxnorb %k2,%k2,%k2 */
	INSN("\xc5\xfb\x93\xe8", FP_LOST, 0),		      /* kmovd %k0,%ebp */
	INSN("\xc5\xf8\x77", NONE, 0),			      /* vzeroupper */
	INSN("\xc9", LEAVE, 0),				      /* leave */
	INSN("\xc3", RETURN, 0),			      /* ret */
	INSN("\xf3\xc3", RETURN, 0),			      /* repz ret */
	INSN("\xc2\x10\0", RETURN, 0),			      /* ret $16 */
	INSN("\xeb\xfe", JUMP, -2),			      /* jmp . */
	INSN("\x0f\x85\0\1\0\0", BRANCH, 256),		      /* jne .+262 */
	INSN("\xe8\0\1\0\0", CALL, 256),		      /* call .+261 */
	INSN("\xff\x15\0\1\0\0", CALL_COMPUTED, 0),	      /* call *256(%rip) */
	INSN("\x3e\xff\xe0", JUMP_COMPUTED, 0),		      /* notrack jmp *%rax */
	INSN("\xff\x74\x24\x08", PUSH, 0),		      /* push 8(%rsp) */
	INSN("\x0f\x0b", STOP, 0),			      /* ud2 */
	INSN("\xf4", STOP, 0),				      /* hlt */
	INSN("\xf3\x0f\x1e\xfa", NONE, 0),		      /* endbr64 */
	INSN("\x66\x0f\x1f\x44\0\0", PAD, 0),		      /* nopw 0(%rax,%rax) */
	INSN("\x90", PAD, 0),				      /* nop */
	INSN("\xcc", PAD, 0),				      /* int3 */
	INSN("\x48\x8d\x3d\0\1\0\0", ADDRESS, 256),	      /* lea 256(%rip),%rdi */
	INSN("\0\0", BAD, 0),				      /* what linkers fill with */
	INSN("\x06", BAD, 0),				      /* push %es: not in 64-bit code */
	INSN("\x48\xcf", BAD, 0),			      /* iretq */
};

static bool has_value(unsigned int kind)
{
	return kind == EFFECT_ADD_SP || kind == EFFECT_SP_FROM_FP || kind == EFFECT_FP_FROM_SP ||
	       kind == EFFECT_STORE_FP || kind == EFFECT_LOAD_FP || kind == EFFECT_RELOAD_FP ||
	       kind == EFFECT_JUMP || kind == EFFECT_BRANCH || kind == EFFECT_CALL ||
	       kind == EFFECT_ADDRESS || kind == EFFECT_ABSOLUTE;
}

static void test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		struct effect effect;

		arch_effect(disasm, (const uint8_t *)s->bytes, s->size, &effect);
		if (effect.kind != s->kind || (s->kind != EFFECT_BAD && effect.size != s->size) ||
		    (has_value(s->kind) && effect.value != s->value))
			fail_msg("sample %zu: kind %u, not %u; value %d; %u bytes", i, effect.kind,
				 s->kind, effect.value, effect.size);
		/* cut off, it is no instruction, or a shorter one that ends in time */
		for (unsigned int size = 1; size < s->size; size++) {
			uint8_t *copy = malloc(size);

			assert_non_null(copy);
			memcpy(copy, s->bytes, size);
			arch_effect(disasm, copy, size, &effect);
			assert_true(effect.size >= 1 && effect.size <= 15);
			assert_true(effect.kind == EFFECT_BAD || effect.size <= size);
			free(copy);
		}
	}
}

static void test_uses_fp(void **state)
{
	static const struct {
		const char *bytes;
		unsigned int size;
		bool uses, uses_sp;
	} codes[] = {
		{"\x48\x8b\x45\xf8", 4, true, false},	   /* mov -8(%rbp),%rax */
		{"\xff\x65\0", 3, true, false},		   /* jmp *0(%rbp) */
		{"\x48\x8d\x45\xe8", 4, true, false},	   /* lea -24(%rbp),%rax */
		{"\x8b\x04\xa8", 3, true, false},	   /* mov (%rax,%rbp,4),%eax */
		{"\x49\x8b\x45\xf8", 4, false, false},	   /* mov -8(%r13),%rax */
		{"\x48\x8b\x05\0\0\0\0", 7, false, false}, /* mov 0(%rip),%rax */
		{"\x0f\x1f\x45\0", 4, false, false},	   /* nopl 0(%rbp) */
		{"\x48\x8d\x65\xe8", 4, false, false},	   /* lea -24(%rbp),%rsp */
		{"\x8b\x04\x25\0\0\0\0", 7, false, false}, /* mov 0,%eax */
		{"\x8b\x44\x24\x08", 4, false, true},	   /* mov 8(%rsp),%eax */
		{"\x8b\x44\x04\x08", 4, false, false},	   /* mov 8(%rsp,%rax),%eax */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct effect effect;

		arch_effect(disasm, (const uint8_t *)codes[i].bytes, codes[i].size, &effect);
		assert_int_equal(effect.size, codes[i].size);
		if (effect.uses_fp != codes[i].uses || effect.uses_sp != codes[i].uses_sp)
			fail_msg("code %zu", i);
	}
}

/* Where a function may begin: bytes before the place, and at it. */
static void test_may_begin(void **state)
{
	static const struct {
		const char *bytes;
		unsigned int size, at;
		bool may;
	} codes[] = {
		{"\xc3\x55", 2, 1, true},		/* ret; push %rbp */
		{"\xcc\x53", 2, 1, true},		/* int3; push %rbx */
		{"\x90\x48\x83\xec\x18", 5, 1, true},	/* nop; sub $24, %rsp */
		{"\x0f\x1f\x40\0\x41\x57", 6, 4, true}, /* nopl 0(%rax); push %r15 */
		{"\xc3\x48\x83\xc4\x18", 5, 1, false},	/* add $24, %rsp */
		{"\xc3\x31\xc0", 3, 1, false},		/* xor %eax, %eax */
		{"\x5d\x55", 2, 1, false},		/* behind an instruction */
		{"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\x31", 10, 9, true},
		{"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\x31", 9, 8, false},
		{"\0\0\0\0\xcc\xcc\xcc\xcc\xcc\x31", 10, 9, false}, /* of two kinds */
		{"\xb8\0\0\0\0\x31", 6, 5, false},		    /* mov $0, %eax */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (arch_may_begin(disasm, (const uint8_t *)codes[i].bytes, codes[i].at,
				   codes[i].size) != codes[i].may)
			fail_msg("code %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_uses_fp),
		cmocka_unit_test(test_may_begin),
	};
	int failed;

	if (disasm_new(EM_X86_64, &disasm)) {
		printf("1..0 # SKIP no capstone, or another machine\n");
		return 0;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	disasm_free(disasm);
	return failed;
}
