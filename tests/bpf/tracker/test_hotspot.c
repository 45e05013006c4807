// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A code cache that this process lays out in its own memory as HotSpot does, with the tables that
 * say where everything is: those of JDK 17 and 25 with their types, which were printed from their
 * gHotSpotVMStructs, and machine code of JDK 17 as gdb disassembles it. Expected rows are what the
 * instructions do to the stack pointer.
 * Covers: bpf/tracker/hotspot.c bpf/tracker/codereader.c bpf/tracker/codefile.c
 * unwind/arch/x86_64/framecode.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codefile.h"
#include "bpf/tracker/codereader.h"
#include "bpf/tracker/hotspot.h"
#include "symbols/insn/disasm.h"
#include "unwind/row.h"

#define AT 0x7f0000001000ull

static const uint8_t compiled[] = {
	0x44, 0x8b, 0x56, 0x08,			  /* 0: mov 0x8(%rsi), %r10d */
	0x90, 0x90, 0x90, 0x90,			  /* 4 */
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, /* 8: mov %eax, -0x14000(%rsp) */
	0x55,					  /* 15: push %rbp */
	0x48, 0x83, 0xec, 0x20,			  /* 16: sub $32, %rsp */
	0x8b, 0xc2,				  /* 20: mov %edx, %eax */
	0x48, 0x83, 0xc4, 0x20,			  /* 22: add $32, %rsp */
	0x5d,					  /* 26: pop %rbp */
	0x49, 0x3b, 0xa7, 0x48, 0x03, 0,    0,	  /* 27: cmp 0x348(%r15), %rsp */
	0x0f, 0x87, 1,	  0,	0,    0,	  /* 34: ja */
	0xc3,					  /* 40: ret */
	0x48, 0x83, 0xc4, 0x28,			  /* 41: add $40, %rsp, which is no epilogue */
	0x5d,					  /* 45 */
	0xc3,					  /* 46 */
};
static const uint8_t without_bang[] = {
	0x48, 0x81, 0xec, 0x98, 0,    0, 0,    /* 0: sub $152, %rsp */
	0x48, 0x89, 0xac, 0x24, 0x90, 0, 0, 0, /* 7: mov %rbp, 144(%rsp) */
	0x90,				       /* 15 */
	0x48, 0x81, 0xc4, 0x90, 0,    0, 0,    /* 16: add $144, %rsp */
	0x5d,				       /* 23: pop %rbp */
	0xc3,				       /* 24: ret */
};
static const uint8_t native[] = {
	0x55,			/* 0: push %rbp */
	0x48, 0x8b, 0xec,	/* 1: mov %rsp, %rbp */
	0x48, 0x83, 0xec, 0x50, /* 4: sub $80, %rsp */
	0x90,			/* 8 */
	0xc9,			/* 9: leave */
	0xc3,			/* 10: ret */
	0x90,			/* 11 */
};

/* As around a comparison of strings (javac's TimSort), and a move from memory to memory. */
static const uint8_t pushes[] = {
	0x55,			/* 0: push %rbp */
	0x48, 0x83, 0xec, 0x20, /* 1: sub $32, %rsp */
	0x51,			/* 5: push %rcx */
	0x75, 3,		/* 6: jne 11 */
	0x58,			/* 8: pop %rax */
	0xeb, 1,		/* 9: jmp 12 */
	0x59,			/* 11: pop %rcx */
	0x90,			/* 12 */
	0xff, 0x74, 0x24, 8,	/* 13: push 8(%rsp) */
	0x8f, 0x44, 0x24, 16,	/* 17: pop 16(%rsp) */
	0x48, 0x83, 0xc4, 0x20, /* 21: add $32, %rsp */
	0x5d,			/* 25: pop %rbp */
	0xc3,			/* 26: ret */
	0x51,			/* 27: push %rcx */
	0x59,			/* 28: pop %rcx */
	0x90,			/* 29 */
};

static struct disasm *disasm;

struct want {
	uint32_t at, cfa, depth;
};

static void check_rows(const struct code_draft *d, const struct want *want, uint32_t n)
{
	assert_int_equal(d->nrows, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(d->rows[i].pc - AT, want[i].at);
		assert_int_equal(d->rows[i].rule, RULE_FRAME(ROW_SP, want[i].cfa, want[i].depth));
	}
}

static void check_frame(const uint8_t *code, uint32_t size, uint32_t complete, uint32_t frame,
			const struct want *want, uint32_t n)
{
	struct code_draft d;

	assert_int_equal(codedraft_init(&d), 0);
	assert_int_equal(hotspot_frame(&d,
				       &(struct hotspot_code){.bytes = code,
							      .addr = AT,
							      .size = size,
							      .complete = complete,
							      .frame = frame},
				       disasm, NULL),
			 0);
	check_rows(&d, want, n);
	assert_int_equal(d.nruns, n != 0);
	codedraft_free(&d);
}

static void test_frames(void **state)
{
	const struct want first[] = {{0, 8, 0},	   {16, 16, 16}, {20, 48, 16},
				     {26, 16, 16}, {27, 8, 0},	 {41, 48, 16}};
	const struct want second[] = {
		{0, 8, 0}, {7, 160, 0}, {15, 160, 16}, {23, 16, 16}, {24, 8, 0}};
	const struct want third[] = {{0, 8, 0}, {1, 16, 16}, {8, 96, 16}, {10, 8, 0}, {11, 96, 16}};
	const struct want silent[] = {{20, 64, 16}};
	const struct want fourth[] = {{0, 8, 0},    {1, 16, 16},  {5, 48, 16},	{6, 56, 16},
				      {9, 48, 16},  {11, 56, 16}, {12, 48, 16}, {17, 56, 16},
				      {21, 48, 16}, {25, 16, 16}, {26, 8, 0},	{27, 48, 16},
				      {28, 56, 16}, {29, 48, 16}};

	(void)state;
	check_frame(compiled, sizeof(compiled), 20, 48, first, 6);
	check_frame(without_bang, sizeof(without_bang), 15, 160, second, 5);
	check_frame(native, sizeof(native), 8, 96, third, 5);
	check_frame(pushes, sizeof(pushes), 5, 48, fourth, 14);
	/* Code of another size of frame: only where the frame is complete. */
	check_frame(compiled, 41, 20, 64, silent, 1);
	check_frame(compiled, sizeof(compiled), sizeof(compiled), 48, NULL, 0);
	check_frame(compiled, sizeof(compiled), 20, 1u << 20, NULL, 0);
	for (uint32_t size = 1; size <= sizeof(compiled); size++) { /* cut anywhere */
		struct code_draft d;
		uint8_t *copy = malloc(size);

		assert_non_null(copy);
		memcpy(copy, compiled, size);
		assert_int_equal(codedraft_init(&d), 0);
		for (uint32_t complete = 0; complete < size; complete++)
			assert_int_equal(hotspot_frame(&d,
						       &(struct hotspot_code){.bytes = copy,
									      .addr = AT,
									      .size = size,
									      .complete = complete,
									      .frame = 48},
						       disasm, NULL),
					 0);
		codedraft_free(&d);
		free(copy);
	}
}

/* --- a code cache ---------------------------------------------------------------------------- */

#define SEGMENT	 128
#define SEGMENTS 40

struct space {
	uint64_t low, high;
};

struct code_heap {
	struct space memory, segmap;
	int log2;
};

struct block {
	uint64_t length;
	uint64_t used;
	struct blob {
		const char *name;
		int frame_size, frame_complete;
		uint64_t code_begin, code_end, method;
	} blob;
};

struct block25 {
	uint32_t length;
	uint8_t used;
	struct blob25 {
		const char *name;
		int code_offset, data_offset, frame_size;
		int16_t frame_complete, other;
		uint64_t method;
	} blob;
};

struct symbol {
	uint16_t length;
	char body[30];
};

struct pool {
	struct klass {
		const struct symbol *name;
	} * holder;
	const struct symbol *entries[3];
};

struct const_method {
	const struct pool *pool;
	uint16_t name_index;
};

static struct machine {
	_Alignas(SEGMENT) uint8_t memory[SEGMENTS * SEGMENT];
	uint8_t segmap[SEGMENTS];
	struct code_heap heap;
	struct {
		int len;
		struct code_heap **data;
	} array;
	struct code_heap *list[1];
	void *heaps; /* CodeCache::_heaps */
} vm;
static const struct symbol class_name = {9, "a/b/Class"}, method_name = {6, "method"};
static struct klass klass = {&class_name};
static const struct pool pool = {&klass, {NULL, NULL, &method_name}};
static const struct const_method constant = {&pool, 2};
static const struct const_method *const method = &constant;

struct vm_struct {
	const char *type, *name, *text;
	int32_t is_static;
	uint64_t offset;
	void *address;
};
struct vm_type {
	const char *name, *super;
	int32_t flags[3];
	uint64_t size;
};

#define FIELD(type, name, text, of, member)                                                        \
	{                                                                                          \
		type, name, text, 0, offsetof(struct of, member), NULL                             \
	}

#define ALL_RELEASES                                                                               \
	{"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, 0, &vm.heaps},                     \
		{"Other", "_low", "char*", 0, 4711, NULL},                                         \
		{"GrowableArrayBase", "_len", "int", 0, 0, NULL},                                  \
		{"GrowableArray<int>", "_data", "int*", 0, 8, NULL},                               \
		FIELD("CodeHeap", "_memory", "VirtualSpace", code_heap, memory),                   \
		FIELD("CodeHeap", "_segmap", "VirtualSpace", code_heap, segmap),                   \
		FIELD("CodeHeap", "_log2_segment_size", "int", code_heap, log2),                   \
		FIELD("VirtualSpace", "_low", "char*", space, low),                                \
		FIELD("VirtualSpace", "_high", "char*", space, high),                              \
		{"Method", "_constMethod", "ConstMethod*", 0, 0, NULL},                            \
		FIELD("ConstMethod", "_constants", "ConstantPool*", const_method, pool),           \
		FIELD("ConstMethod", "_name_index", "u2", const_method, name_index),               \
		FIELD("ConstantPool", "_pool_holder", "InstanceKlass*", pool, holder),             \
		FIELD("Klass", "_name", "Symbol*", klass, name),                                   \
		FIELD("Symbol", "_length", "u2", symbol, length),                                  \
		FIELD("Symbol", "_body", NULL, symbol, body)

static struct vm_struct vm_structs17[] = {
	ALL_RELEASES,
	FIELD("HeapBlock::Header", "_length", "size_t", block, length),
	FIELD("HeapBlock::Header", "_used", "bool", block, used),
	FIELD("CodeBlob", "_name", "const char*", blob, name),
	FIELD("CodeBlob", "_frame_size", "int", blob, frame_size),
	FIELD("CodeBlob", "_frame_complete_offset", "int", blob, frame_complete),
	{"CodeBlob", "_data_offset", "int", 0, 4, NULL}, /* not used beside the two that follow */
	FIELD("CodeBlob", "_code_begin", "address", blob, code_begin),
	FIELD("CodeBlob", "_code_end", "address", blob, code_end),
	FIELD("CompiledMethod", "_method", "Method*", blob, method),
	{NULL, NULL, NULL, 0, 0, NULL},
};
static struct vm_struct vm_structs25[] = {
	ALL_RELEASES,
	FIELD("HeapBlock::Header", "_length", "uint32_t", block25, length),
	FIELD("HeapBlock::Header", "_used", "bool", block25, used),
	FIELD("CodeBlob", "_name", "const char*", blob25, name),
	FIELD("CodeBlob", "_frame_size", "int", blob25, frame_size),
	FIELD("CodeBlob", "_frame_complete_offset", "int16_t", blob25, frame_complete),
	FIELD("CodeBlob", "_code_offset", "int", blob25, code_offset),
	FIELD("CodeBlob", "_data_offset", "int", blob25, data_offset),
	FIELD("nmethod", "_method", "Method*", blob25, method),
	{NULL, NULL, NULL, 0, 0, NULL},
};
static struct vm_type vm_types[] = {{"Other", NULL, {0}, 1},
				    {"HeapBlock", NULL, {0}, offsetof(struct block, blob)},
				    {"ConstantPool", NULL, {0}, offsetof(struct pool, entries)},
				    {NULL, NULL, {0}, 0}};
static const struct vm_struct *gHotSpotVMStructs;
static const struct vm_type *gHotSpotVMTypes = vm_types;
static bool is_25;

static void be_release(bool of_25)
{
	is_25 = of_25;
	gHotSpotVMStructs = of_25 ? vm_structs25 : vm_structs17;
	vm_types[1].size = of_25 ? offsetof(struct block25, blob) : offsetof(struct block, blob);
}

/* A block of 8 segments whose code begins in its second one, at what is returned. */
static uint64_t put_block(unsigned int segment, const char *name, const uint8_t *code, size_t size,
			  int words, int complete)
{
	uint8_t *at = vm.memory + (size_t)segment * SEGMENT;
	const uint64_t begin = (uint64_t)(uintptr_t)at + SEGMENT;

	for (unsigned int i = 0; i < 8; i++)
		vm.segmap[segment + i] = (uint8_t)i;
	memcpy(at + SEGMENT, code, size);
	if (is_25)
		*(struct block25 *)at = (struct block25){
			8,
			1,
			{name, SEGMENT - offsetof(struct block25, blob),
			 (int)(SEGMENT - offsetof(struct block25, blob) + size), words,
			 (int16_t)complete, 0x7777, (uint64_t)(uintptr_t)&method}};
	else
		*(struct block *)at = (struct block){
			8,
			1,
			{name, words, complete, begin, begin + size, (uint64_t)(uintptr_t)&method}};
	return begin;
}

static void free_block(unsigned int segment)
{
	uint8_t *at = vm.memory + (size_t)segment * SEGMENT;

	at[is_25 ? offsetof(struct block25, used) : offsetof(struct block, used)] = 0;
}

static void make_machine(void)
{
	memset(&vm, 0, sizeof(vm));
	memset(vm.segmap, 0xff, sizeof(vm.segmap));
	vm.heap = (struct code_heap){
		{(uint64_t)(uintptr_t)vm.memory,
		 (uint64_t)(uintptr_t)(vm.memory + sizeof(vm.memory))},
		{(uint64_t)(uintptr_t)vm.segmap, (uint64_t)(uintptr_t)(vm.segmap + SEGMENTS)},
		7};
	vm.list[0] = &vm.heap;
	vm.array.len = 1;
	vm.array.data = vm.list;
	vm.heaps = &vm.array;
}

static struct code_places places(void)
{
	return (struct code_places){.vm_structs = (uint64_t)(uintptr_t)&gHotSpotVMStructs,
				    .vm_types = (uint64_t)(uintptr_t)&gHotSpotVMTypes};
}

static void open_machine(struct code_memory *m, struct hotspot *h)
{
	const struct code_places p = places();
	const char *missing;

	*m = (struct code_memory){.pid = getpid(), .left = 1 << 24};
	assert_int_equal(hotspot_open(m, p.vm_structs, p.vm_types, h, &missing), 0);
	assert_null(missing);
}

static void check_code_cache(bool of_25)
{
	struct code_memory m;
	struct code_draft d;
	struct hotspot h;
	uint64_t mark = 0, again = 0, nmethod, interpreter;

	be_release(of_25);
	make_machine();
	nmethod = put_block(0, "nmethod", compiled, sizeof(compiled), 6, 20);
	interpreter = put_block(16, "Interpreter", native, sizeof(native), 0, -1);
	put_block(24, "nmethod", native, sizeof(native), 12, 8);
	free_block(24);
	open_machine(&m, &h);
	assert_int_equal(h.nheaps, 1);
	assert_int_equal(codedraft_init(&d), 0);
	assert_int_equal(hotspot_read(&m, &h, &d), 0);
	assert_int_equal(d.nruns, 2);
	assert_int_equal(d.runs[0].start, nmethod);
	assert_int_equal(d.runs[0].end, nmethod + sizeof(compiled));
	assert_int_equal(d.runs[0].nrows, 6);
	assert_int_equal(d.runs[1].start, interpreter);
	assert_int_equal(RULE_KIND(d.rows[6].rule), ROW_WIDE);
	assert_int_equal(d.nnames, 2);
	assert_string_equal(d.text + d.names[0].text, "a.b.Class.method");
	assert_string_equal(d.text + d.names[1].text, "Interpreter");
	codedraft_free(&d);

	assert_int_equal(hotspot_mark(&m, &h, &mark), 0);
	assert_int_equal(hotspot_mark(&m, &h, &again), 0);
	assert_int_equal(mark, again);
	put_block(32, "vtable chunks", native, sizeof(native), 0, -1);
	again = 0;
	assert_int_equal(hotspot_mark(&m, &h, &again), 0);
	assert_int_not_equal(mark, again);
}

static void test_code_cache(void **state)
{
	(void)state;
	check_code_cache(false);
	check_code_cache(true);
}

static int count_name(void *arg, uint64_t start, uint64_t size, const char *name)
{
	(void)start;
	(void)size;
	(void)name;
	++*(unsigned int *)arg;
	return 0;
}

/* The rows that are read now; the number of names. part: of the new code and at the place. */
static unsigned int read_file(struct code_draft *d, int base, uint64_t place, int *file)
{
	static struct code_bare bare;
	struct code_places p = places();
	unsigned int names = 0;
	const char *missing;
	uint64_t mark;

	p.part = base >= 0;
	p.base = base;
	p.nbare = place != 0;
	bare.places[0] = place;
	*file = codereader_read(getpid(), &p, &bare, &mark, &missing);
	assert_true(*file >= 0);
	assert_int_equal(codedraft_init(d), 0);
	assert_int_equal(codefile_rows(*file, d), 0);
	assert_int_equal(codefile_names(*file, count_name, &names), 0);
	return names;
}

static void assert_same_rows(const struct code_draft *a, const struct code_draft *b)
{
	assert_int_equal(a->nrows, b->nrows);
	assert_int_equal(a->nruns, b->nruns);
	for (uint32_t i = 0; i < a->nrows; i++) {
		assert_int_equal(a->rows[i].pc, b->rows[i].pc);
		assert_int_equal(a->rows[i].rule, b->rows[i].rule);
	}
	for (uint32_t i = 0; i < a->nruns; i++) {
		assert_int_equal(a->runs[i].start, b->runs[i].start);
		assert_int_equal(a->runs[i].end, b->runs[i].end);
	}
}

/*
 * With what was read before, new code and code that was met where other code had been give what
 * reading all of it gives; code that has gone stays until then, and what is met again has no second
 * name.
 */
static void check_new_code(bool of_25)
{
	struct code_draft before, part, all, last;
	int base, file[3];
	uint64_t at, other;

	be_release(of_25);
	make_machine();
	put_block(0, "nmethod", without_bang, sizeof(without_bang), 20, 15);
	put_block(8, "nmethod", native, sizeof(native), 12, 8);
	put_block(16, "Interpreter", native, sizeof(native), 0, -1);
	assert_int_equal(read_file(&before, -1, 0, &base), 3);

	at = put_block(0, "nmethod", compiled, sizeof(compiled), 6, 20);
	other = put_block(24, "nmethod", pushes, sizeof(pushes), 6, 5);
	put_block(32, "vtable chunks", native, sizeof(native), 0, -1);
	assert_int_equal(read_file(&part, base, (at + 22) | BARE_EXACT, &file[0]), 6);
	assert_int_equal(read_file(&all, -1, 0, &file[1]), 5);
	assert_same_rows(&part, &all);

	free_block(8);
	put_block(0, "nmethod", without_bang, sizeof(without_bang), 20, 15);
	assert_int_equal(read_file(&last, file[0], (other + 6) | BARE_EXACT, &file[2]), 6);
	assert_same_rows(&last, &part);
	for (int i = 0; i < 3; i++)
		close(file[i]);
	close(base);
	codedraft_free(&before);
	codedraft_free(&part);
	codedraft_free(&all);
	codedraft_free(&last);
}

static void test_new_code(void **state)
{
	(void)state;
	check_new_code(false);
	check_new_code(true);
}

/* Code that goes on in another method: nothing but the return address is on the stack. */
static void test_frameless(void **state)
{
	static const char *const kinds[] = {"vtable chunks", "MethodHandles adapters",
					    "native nmethod"};

	(void)state;
	be_release(true);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct code_memory m;
		struct code_draft d;
		struct hotspot h;

		make_machine();
		put_block(0, kinds[i], native, sizeof(native), 0, -1);
		open_machine(&m, &h);
		assert_int_equal(codedraft_init(&d), 0);
		assert_int_equal(hotspot_read(&m, &h, &d), 0);
		assert_int_equal(d.nrows, 1);
		assert_int_equal(d.rows[0].rule, RULE_FRAME(ROW_SP, 8, 0));
		codedraft_free(&d);
	}
}

/* The stub of JDK 25: a frame that returns to its second function is below enterSpecial's. */
static void test_continuation(void **state)
{
	static const uint8_t stub[] = {
		0x5d,				 /* 0: pop %rbp */
		0xc3,				 /* 1: ret */
		0x49, 0x8b, 0xa7, 0x18, 6, 0, 0, /* 2: mov 0x618(%r15), %rsp */
		0x50,				 /* 9: push %rax */
		0x49, 0x8b, 0xa7, 0x18, 6, 0, 0, /* 10: not behind a return */
	};
	static const struct symbol owner = {28, "jdk/internal/vm/Continuation"},
				   name = {12, "enterSpecial"};
	static struct klass klass_of = {&owner};
	static const struct pool pool_of = {&klass_of, {NULL, NULL, &name}};
	static const struct const_method constant_of = {&pool_of, 2};
	static const struct const_method *const method_of = &constant_of;
	struct code_memory m;
	struct code_draft d;
	struct hotspot h;
	uint64_t begin;

	(void)state;
	be_release(true);
	for (int found = 0; found < 2; found++) {
		make_machine();
		begin = put_block(0, "StubRoutines (continuationstubs)", stub, sizeof(stub), 0, -1);
		put_block(8, "native nmethod", native, sizeof(native), 12, 8);
		if (found)
			((struct block25 *)(vm.memory + 8 * SEGMENT))->blob.method =
				(uint64_t)(uintptr_t)&method_of;
		open_machine(&m, &h);
		assert_int_equal(codedraft_init(&d), 0);
		assert_int_equal(hotspot_read(&m, &h, &d), 0);
		codedraft_sort(&d);
		assert_int_equal(d.nruns, 1 + found);
		if (found) {
			assert_int_equal(d.runs[0].start, begin + 1);
			assert_int_equal(d.runs[0].end, begin + 2);
			assert_int_equal(d.rows[d.runs[0].first].rule, RULE_FRAME(ROW_SP, 96, 16));
		}
		codedraft_free(&d);
	}
}

static struct vm_struct *find_entry(struct vm_struct *at, const char *type, const char *name)
{
	while (strcmp(at->type, type) != 0 || strcmp(at->name, name) != 0)
		at++;
	return at;
}

/* A field that is gone, or is of a type that nobody knows, is named. */
static void check_missing(const char *type, const char *name, unsigned int heaps)
{
	const struct code_places p = places();
	struct vm_struct *entry = find_entry(vm_structs25, type, name), kept = *entry;
	struct code_memory m = {.pid = getpid(), .left = 1 << 24};
	const char *missing;
	struct hotspot h;
	char full[80];

	snprintf(full, sizeof(full), "%s::%s", type, name);
	for (int i = 0; i < 2; i++) {
		*entry = kept;
		if (i)
			entry->text = "float128";
		else
			entry->name = "_gone";
		assert_int_equal(hotspot_open(&m, p.vm_structs, p.vm_types, &h, &missing), 0);
		assert_string_equal(missing, full);
		assert_int_equal(h.nheaps, heaps);
	}
	*entry = kept;
}

static void test_missing(void **state)
{
	(void)state;
	be_release(true);
	make_machine();
	check_missing("CodeCache", "_heaps", 0);
	check_missing("HeapBlock::Header", "_length", 0);
	check_missing("CodeBlob", "_frame_complete_offset", 0);
	check_missing("CodeHeap", "_log2_segment_size", 0);
	check_missing("Klass", "_name", 1); /* of names only */
}

/* Numbers anywhere in the machine that are not true. */
static void test_broken(void **state)
{
	static const uint64_t values[] = {0, 1, 0xff, 0x7fffffff, 1ull << 47, UINT64_MAX};
	uint64_t seed = 7;

	(void)state;
	for (int turn = 0; turn < 1000; turn++) {
		struct code_memory m;
		struct code_draft d;
		struct hotspot h;
		const struct code_places p = places();
		const char *missing;
		uint64_t at[1];

		be_release(turn & 1);
		make_machine();
		put_block(0, "nmethod", compiled, sizeof(compiled), 6, 20);
		put_block(8, "native nmethod", native, sizeof(native), 12, 8);
		for (int i = 0; i < 6; i++) {
			uint8_t *to;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			to = seed >> 63 ? vm.memory + (seed >> 33) % 64 * 8
					: vm.segmap + (seed >> 33) %
							      (sizeof(vm) - sizeof(vm.memory) - 8);
			memcpy(to, &values[(seed >> 20) % 6], 1 + (seed >> 24 & 7));
		}
		m = (struct code_memory){.pid = getpid(), .left = 1 << 24};
		if (hotspot_open(&m, p.vm_structs, p.vm_types, &h, &missing))
			continue;
		assert_int_equal(codedraft_init(&d), 0);
		hotspot_read(&m, &h, &d);
		at[0] = (uint64_t)(uintptr_t)vm.memory + (seed >> 40) % sizeof(vm.memory);
		hotspot_read_new(&m, &h, at, 1, &d);
		for (uint32_t i = 0; i < d.nruns; i++)
			assert_true(d.runs[i].start < d.runs[i].end);
		codedraft_free(&d);
	}
}

static int open_disasm(void **state)
{
	(void)state;
	return disasm_new(EM_X86_64, &disasm);
}

static int close_disasm(void **state)
{
	(void)state;
	disasm_free(disasm);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	  cmocka_unit_test(test_code_cache),
		cmocka_unit_test(test_frameless), cmocka_unit_test(test_continuation),
		cmocka_unit_test(test_missing),	  cmocka_unit_test(test_broken),
		cmocka_unit_test(test_new_code),
	};

	return cmocka_run_group_tests(tests, open_disasm, close_disasm);
}
