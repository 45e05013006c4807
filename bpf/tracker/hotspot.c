// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See hotspot.h. A code heap consists of segments; a byte of its map for each is 0 where a block
 * begins. A block is a header and a CodeBlob, which knows the size of its frames. Only the code
 * itself knows where a function makes and leaves its frame, and where it pushes more, so the few
 * instructions that do it are looked for.
 *
 * The interpreter has a frame pointer, but the stack pointer of its caller, which may be compiled
 * code, is in the frame: arguments are moved in between (frame::interpreter_frame_sender_sp). Stubs
 * have frame pointers or no frame, and no rows.
 */
#include "bpf/tracker/hotspot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codereader.h"
#include "symbols/base/limits.h"
#include "symbols/base/work.h"
#include "symbols/insn/disasm.h"
#include "unwind/arch.h"
#include "unwind/framecode.h"
#include "unwind/pushed.h"
#include "unwind/row.h"
#include "unwind/wide.h"

#define ENTRIES_MAX  16384u /* of each table; JDK 17 has 1,600 */
#define SEGMENTS_MAX (1u << 22)
#define FRAME_WORDS  4000 /* of a frame at most */
#define BLOB_BYTES   512u /* of a CodeBlob, that have what is read of it */
#define NAME_BYTES   256u
#define WORK_MAX     (1u << 23) /* instructions that are read in one reading */

static const struct {
	const char *type, *name;
	enum hotspot_field field;
} fields[] = {
	{"CodeCache", "_heaps", HOTSPOT_HEAPS},
	{"GrowableArrayBase", "_len", HOTSPOT_ARRAY_LEN},
	{"GenericGrowableArray", "_len", HOTSPOT_ARRAY_LEN}, /* before JDK 16 */
	{"GrowableArray<int>", "_data", HOTSPOT_ARRAY_DATA},
	{"CodeHeap", "_memory", HOTSPOT_HEAP_MEMORY},
	{"CodeHeap", "_segmap", HOTSPOT_HEAP_SEGMAP},
	{"CodeHeap", "_log2_segment_size", HOTSPOT_HEAP_LOG2},
	{"VirtualSpace", "_low", HOTSPOT_SPACE_LOW},
	{"VirtualSpace", "_high", HOTSPOT_SPACE_HIGH},
	{"HeapBlock::Header", "_length", HOTSPOT_BLOCK_LENGTH},
	{"HeapBlock::Header", "_used", HOTSPOT_BLOCK_USED},
	{"CodeBlob", "_name", HOTSPOT_BLOB_NAME},
	{"CodeBlob", "_frame_size", HOTSPOT_BLOB_FRAME_SIZE},
	{"CodeBlob", "_frame_complete_offset", HOTSPOT_BLOB_FRAME_COMPLETE},
	{"CodeBlob", "_code_begin", HOTSPOT_BLOB_CODE_BEGIN},
	{"CodeBlob", "_code_end", HOTSPOT_BLOB_CODE_END},
	{"CompiledMethod", "_method", HOTSPOT_METHOD},
	{"nmethod", "_method", HOTSPOT_METHOD}, /* JDK 8 */
	{"Method", "_constMethod", HOTSPOT_METHOD_CONST},
	{"ConstMethod", "_constants", HOTSPOT_CONST_POOL},
	{"ConstMethod", "_name_index", HOTSPOT_CONST_NAME},
	{"ConstantPool", "_pool_holder", HOTSPOT_POOL_HOLDER},
	{"Klass", "_name", HOTSPOT_KLASS_NAME},
	{"Symbol", "_length", HOTSPOT_SYMBOL_LENGTH},
	{"Symbol", "_body", HOTSPOT_SYMBOL_BODY},
};

struct vm_struct { /* VMStructEntry */
	uint64_t type, name, text;
	int32_t is_static, pad;
	uint64_t offset, address;
};

struct vm_type { /* VMTypeEntry */
	uint64_t name, super;
	int32_t is_oop, is_integer, is_unsigned, pad;
	uint64_t size;
};

/* --- structures ------------------------------------------------------------------------------ */

static void note_field(struct code_memory *m, const struct vm_struct *entry, struct hotspot *h)
{
	char type[40], name[40];

	if (!codereader_string(m, entry->name, name, sizeof(name)))
		return;
	type[0] = '\0';
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const enum hotspot_field field = fields[i].field;

		if (strcmp(name, fields[i].name) != 0)
			continue;
		if (!type[0] && !codereader_string(m, entry->type, type, sizeof(type)))
			return;
		if (strcmp(type, fields[i].type) != 0)
			continue;
		h->fields[field] = field == HOTSPOT_HEAPS ? entry->address : entry->offset;
		h->known[field] = true;
	}
}

static int read_structs(struct code_memory *m, uint64_t vm_structs, struct hotspot *h)
{
	struct vm_struct entry;
	uint64_t at;
	int err = codereader_memory(m, vm_structs, &at, sizeof(at));

	for (unsigned int n = 0; !err && n < ENTRIES_MAX; n++, at += sizeof(entry)) {
		err = codereader_memory(m, at, &entry, sizeof(entry));
		if (err || !entry.type)
			break;
		note_field(m, &entry, h);
	}
	return err;
}

static int read_types(struct code_memory *m, uint64_t vm_types, struct hotspot *h)
{
	struct vm_type entry;
	char name[16];
	uint64_t at;
	int err = codereader_memory(m, vm_types, &at, sizeof(at));

	for (unsigned int n = 0; !err && n < ENTRIES_MAX; n++, at += sizeof(entry)) {
		err = codereader_memory(m, at, &entry, sizeof(entry));
		if (err || !entry.name)
			break;
		if (!codereader_string(m, entry.name, name, sizeof(name)))
			continue;
		if (!strcmp(name, "HeapBlock"))
			h->block_size = entry.size;
		else if (!strcmp(name, "ConstantPool"))
			h->pool_size = entry.size;
	}
	return err;
}

static bool knows_frames(const struct hotspot *h)
{
	for (unsigned int i = 0; i < HOTSPOT_FRAMES; i++)
		if (!h->known[i])
			return false;
	return h->block_size && h->block_size <= 64;
}

static bool knows_names(const struct hotspot *h)
{
	for (unsigned int i = HOTSPOT_FRAMES; i < HOTSPOT_FIELDS; i++)
		if (!h->known[i])
			return false;
	return h->pool_size;
}

static int read_word(struct code_memory *m, uint64_t addr, uint64_t *to)
{
	return codereader_memory(m, addr, to, sizeof(*to));
}

static void read_heap(struct code_memory *m, uint64_t addr, struct hotspot *h)
{
	const uint64_t memory = addr + h->fields[HOTSPOT_HEAP_MEMORY],
		       segmap = addr + h->fields[HOTSPOT_HEAP_SEGMAP];
	struct hotspot_heap heap;

	if (read_word(m, memory + h->fields[HOTSPOT_SPACE_LOW], &heap.low) ||
	    read_word(m, memory + h->fields[HOTSPOT_SPACE_HIGH], &heap.high) ||
	    read_word(m, segmap + h->fields[HOTSPOT_SPACE_LOW], &heap.segmap) ||
	    codereader_memory(m, addr + h->fields[HOTSPOT_HEAP_LOG2], &heap.log2,
			      sizeof(heap.log2)))
		return;
	if (heap.low >= heap.high || heap.high >= CODE_ADDR_MAX || heap.log2 < 4 ||
	    heap.log2 > 16 || (heap.high - heap.low) >> heap.log2 > SEGMENTS_MAX)
		return;
	h->heaps[h->nheaps++] = heap;
}

static int read_heaps(struct code_memory *m, struct hotspot *h)
{
	uint64_t array, data, heap;
	uint32_t count;
	int err = read_word(m, h->fields[HOTSPOT_HEAPS], &array);

	if (!err)
		err = codereader_memory(m, array + h->fields[HOTSPOT_ARRAY_LEN], &count,
					sizeof(count));
	if (!err)
		err = read_word(m, array + h->fields[HOTSPOT_ARRAY_DATA], &data);
	for (uint32_t i = 0; !err && i < count && i < HOTSPOT_HEAPS_MAX; i++) {
		err = read_word(m, data + i * sizeof(heap), &heap);
		if (!err)
			read_heap(m, heap, h);
	}
	return err;
}

int hotspot_open(struct code_memory *m, uint64_t vm_structs, uint64_t vm_types, struct hotspot *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = read_structs(m, vm_structs, out);
	if (!err)
		err = read_types(m, vm_types, out);
	if (!err && knows_frames(out))
		read_heaps(m, out); /* there are none yet while the machine starts */
	return err;
}

/* The map of a heap's segments, from malloc; *n: how many. NULL: no memory, or it is gone. */
static uint8_t *read_segmap(struct code_memory *m, const struct hotspot_heap *heap, size_t *n)
{
	uint8_t *map;

	*n = (heap->high - heap->low) >> heap->log2;
	map = malloc(*n + 1);
	if (map && codereader_memory(m, heap->segmap, map, *n)) {
		free(map);
		map = NULL;
	}
	return map;
}

int hotspot_mark(struct code_memory *m, const struct hotspot *h, uint64_t *mark)
{
	for (unsigned int i = 0; i < h->nheaps; i++) {
		size_t n;
		uint8_t *map = read_segmap(m, &h->heaps[i], &n);
		uint64_t word;

		for (size_t at = 0; map && n - at >= sizeof(word); at += sizeof(word)) {
			memcpy(&word, map + at, sizeof(word));
			*mark = code_mark(*mark, word);
		}
		*mark = code_mark(*mark, h->heaps[i].high);
		free(map);
	}
	return 0;
}

/* --- compiled code --------------------------------------------------------------------------- */

static int add_prologue(struct code_draft *d, uint64_t addr, const uint8_t *code, uint32_t complete,
			uint32_t frame)
{
	struct frame_prologue p;
	int err;

	if (!framecode_prologue(code, complete, frame, &p))
		return 0;
	err = codedraft_row(d, addr, RULE_FRAME(ROW_SP, -ARCH_RA_AT, 0));
	if (!err && p.saved < p.room)
		err = codedraft_row(d, addr + p.saved, RULE_FRAME(ROW_SP, 16, 16));
	else if (!err)
		err = codedraft_row(d, addr + p.room, RULE_FRAME(ROW_SP, frame, 0));
	if (!err)
		err = codedraft_row(d, addr + (p.saved > p.room ? p.saved : p.room),
				    RULE_FRAME(ROW_SP, frame, 16));
	return err;
}

/* Rows of what is pushed and popped again, from one offset to another. */
static int add_pushed(struct code_draft *d, const struct hotspot_code *c, const uint8_t *pushed,
		      uint32_t at, uint32_t to)
{
	uint8_t last = PUSHED_START;
	int err = 0;

	for (; at < to && !err; at++) {
		if (!pushed[at] || pushed[at] == last)
			continue;
		last = pushed[at];
		if (last == PUSHED_UNKNOWN) {
			err = codedraft_row(d, c->addr + at, RULE(ROW_END, 0));
			continue;
		}
		err = codedraft_row(d, c->addr + at,
				    RULE_FRAME(ROW_SP, c->frame + 8u * (last - PUSHED_START), 16));
	}
	return err;
}

/* From where the frame is complete. */
static int add_body(struct code_draft *d, const struct hotspot_code *c, const uint8_t *pushed)
{
	struct frame_epilogue e;
	uint32_t at = c->complete;
	int err = codedraft_row(d, c->addr + at, RULE_FRAME(ROW_SP, c->frame, 16));

	for (; !err && framecode_epilogue(c->bytes, c->size, at, c->frame, &e); at = e.end) {
		err = add_pushed(d, c, pushed, at, e.room);
		if (!err && e.room < e.restored)
			err = codedraft_row(d, c->addr + e.room, RULE_FRAME(ROW_SP, 16, 16));
		if (!err && e.restored < e.room)
			err = codedraft_row(d, c->addr + e.restored,
					    RULE_FRAME(ROW_SP, c->frame, 0));
		if (!err)
			err = codedraft_row(d,
					    c->addr + (e.room > e.restored ? e.room : e.restored),
					    RULE_FRAME(ROW_SP, -ARCH_RA_AT, 0));
		if (!err && e.end < c->size)
			err = codedraft_row(d, c->addr + e.end, RULE_FRAME(ROW_SP, c->frame, 16));
	}
	return err ? err : add_pushed(d, c, pushed, at, c->size);
}

int hotspot_frame(struct code_draft *d, const struct hotspot_code *c, struct disasm *disasm,
		  struct work *work)
{
	uint8_t *pushed;
	int err;

	if (c->complete >= c->size || c->frame < 16 || c->frame > RULE_CFA_MAX - 8 * PUSHED_MAX)
		return 0;
	pushed = malloc(c->size);
	if (!pushed)
		return -ENOMEM;
	err = disasm ? pushed_find(c->bytes, c->size, c->complete, disasm, work, pushed) : -E2BIG;
	if (err == -E2BIG) { /* the other rows count without */
		memset(pushed, 0, c->size);
		err = 0;
	}
	if (!err)
		err = add_prologue(d, c->addr, c->bytes, c->complete, c->frame);
	if (!err)
		err = add_body(d, c, pushed);
	codedraft_end(d, c->addr + c->size);
	free(pushed);
	return err;
}

/* --- other code ------------------------------------------------------------------------------ */

static int add_interpreter(struct code_draft *d, uint64_t addr, uint64_t end)
{
	const struct wide_rule rule = {
		.cfa_kind = WIDE_CFA_DEREF,
		.cfa_reg = ARCH_FP,
		.cfa_off = -8, /* sender_sp */
		.fp_kind = WIDE_AT_REG,
		.fp_reg = ARCH_FP,
		.ra_kind = WIDE_AT_REG,
		.ra_reg = ARCH_FP,
		.ra_off = 8,
	};
	int index = wide_rules_index(d->wide, &rule), err;

	if (index < 0)
		return 0;
	err = codedraft_row(d, addr, RULE(ROW_WIDE, index));
	codedraft_end(d, end);
	return err;
}

static int add_rule(struct code_draft *d, uint64_t addr, uint64_t end, uint32_t rule)
{
	int err = codedraft_row(d, addr, rule);

	codedraft_end(d, end);
	return err;
}

/* --- names ----------------------------------------------------------------------------------- */

/* A Symbol; its length, 0 if it cannot be read. */
static size_t read_symbol(struct code_memory *m, const struct hotspot *h, uint64_t addr, char *to,
			  size_t room)
{
	uint16_t length;

	if (codereader_memory(m, addr + h->fields[HOTSPOT_SYMBOL_LENGTH], &length, sizeof(length)))
		return 0;
	if (length > room)
		length = (uint16_t)room;
	return length && !codereader_memory(m, addr + h->fields[HOTSPOT_SYMBOL_BODY], to, length)
		       ? length
		       : 0;
}

/* Class and method; the length, 0 if they cannot be read. */
static size_t method_name(struct code_memory *m, const struct hotspot *h, uint64_t method, char *to)
{
	uint64_t constant, pool, holder, klass, name;
	size_t length, more;
	uint16_t index;

	if (!method || read_word(m, method + h->fields[HOTSPOT_METHOD_CONST], &constant) ||
	    read_word(m, constant + h->fields[HOTSPOT_CONST_POOL], &pool) ||
	    codereader_memory(m, constant + h->fields[HOTSPOT_CONST_NAME], &index, sizeof(index)) ||
	    read_word(m, pool + h->pool_size + 8ull * index, &name) ||
	    read_word(m, pool + h->fields[HOTSPOT_POOL_HOLDER], &holder) ||
	    read_word(m, holder + h->fields[HOTSPOT_KLASS_NAME], &klass))
		return 0;
	length = read_symbol(m, h, klass, to, NAME_BYTES / 2);
	for (size_t i = 0; i < length; i++)
		if (to[i] == '/')
			to[i] = '.';
	if (!length)
		return 0;
	to[length++] = '.';
	more = read_symbol(m, h, name, to + length, NAME_BYTES / 2 - 1);
	return more ? length + more : 0;
}

/* --- the heaps ------------------------------------------------------------------------------- */

struct heap_reader {
	struct code_memory *m;
	const struct hotspot *h;
	struct code_draft *d;
	const struct hotspot_heap *heap;
	struct disasm *disasm; /* NULL: there is none */
	struct work *work;     /* of it */
	uint8_t *bytes;	       /* of the heap, from its start */
	uint64_t size;
	uint64_t kind_at; /* address of the name read last */
	char kind[32];
};

static uint64_t blob_word(const struct heap_reader *r, uint64_t at, enum hotspot_field field,
			  size_t size)
{
	uint64_t value = 0;

	memcpy(&value, r->bytes + at + r->h->fields[field], size);
	return value;
}

static int add_code(struct heap_reader *r, uint64_t at, uint64_t begin, uint64_t end)
{
	const int32_t words = (int32_t)blob_word(r, at, HOTSPOT_BLOB_FRAME_SIZE, 4);
	const int32_t complete = (int32_t)blob_word(r, at, HOTSPOT_BLOB_FRAME_COMPLETE, 4);
	const uint32_t frame = words > 1 && words < FRAME_WORDS ? (uint32_t)words * 8 : 0;

	if (!strcmp(r->kind, "Interpreter"))
		return add_interpreter(r->d, begin, end);
	if (!strcmp(r->kind, "vtable chunks"))
		return add_rule(r->d, begin, end, RULE_FRAME(ROW_SP, 8, 0));
	if (!frame)
		return 0;
	return hotspot_frame(r->d,
			     &(struct hotspot_code){
				     .bytes = r->bytes + (begin - r->heap->low),
				     .addr = begin,
				     .size = (uint32_t)(end - begin),
				     .complete = complete > 0 ? (uint32_t)complete : 0,
				     .frame = frame,
			     },
			     r->disasm, r->work);
}

static int add_blob_name(struct heap_reader *r, uint64_t at, uint64_t begin, uint64_t end)
{
	char name[NAME_BYTES];
	size_t length = 0;

	if (knows_names(r->h) &&
	    (!strcmp(r->kind, "nmethod") || !strcmp(r->kind, "native nmethod")))
		length = method_name(r->m, r->h, blob_word(r, at, HOTSPOT_METHOD, 8), name);
	return length ? codedraft_name(r->d, begin, end - begin, name, length)
		      : codedraft_name(r->d, begin, end - begin, r->kind, strlen(r->kind));
}

/* The blob of the block at an offset in the heap. */
static int add_block(struct heap_reader *r, uint64_t block)
{
	const struct hotspot *h = r->h;
	const uint64_t at = block + h->block_size;
	uint64_t length, begin, end, name;
	int err;

	if (at + BLOB_BYTES > r->size || !blob_word(r, block, HOTSPOT_BLOCK_USED, 1))
		return 0;
	length = blob_word(r, block, HOTSPOT_BLOCK_LENGTH, 8);
	begin = blob_word(r, at, HOTSPOT_BLOB_CODE_BEGIN, 8);
	end = blob_word(r, at, HOTSPOT_BLOB_CODE_END, 8);
	if (length > (r->size - block) >> r->heap->log2 || begin < r->heap->low + at ||
	    begin >= end || end > r->heap->low + block + (length << r->heap->log2))
		return 0;
	name = blob_word(r, at, HOTSPOT_BLOB_NAME, 8);
	if (name != r->kind_at)
		codereader_string(r->m, name, r->kind, sizeof(r->kind));
	r->kind_at = name;
	err = add_code(r, at, begin, end);
	return err ? err : add_blob_name(r, at, begin, end);
}

static int add_heap(struct heap_reader *r)
{
	size_t n, used;
	uint8_t *map = read_segmap(r->m, r->heap, &n);
	int err = 0;

	for (used = map ? n : 0; used && map[used - 1] == 0xff;)
		used--;
	if (used > (r->m->left / 2) >> r->heap->log2) /* of a larger heap the first part counts */
		used = (size_t)((r->m->left / 2) >> r->heap->log2);
	r->size = (uint64_t)used << r->heap->log2;
	r->bytes = malloc(r->size + 1);
	if (!r->bytes)
		err = -ENOMEM;
	else if (r->size)
		err = codereader_memory(r->m, r->heap->low, r->bytes, r->size);
	for (size_t i = 0; !err && i < used; i++)
		if (!map[i])
			err = add_block(r, (uint64_t)i << r->heap->log2);
	free(r->bytes);
	free(map);
	return err == -EFAULT ? 0 : err;
}

int hotspot_read(struct code_memory *m, const struct hotspot *h, struct code_draft *d)
{
	struct work work = {.limit = WORK_MAX};
	struct disasm *disasm = NULL;
	int err;

	for (unsigned int i = HOTSPOT_BLOCK_LENGTH; i <= HOTSPOT_METHOD; i++)
		if (h->known[i] && h->fields[i] > BLOB_BYTES - sizeof(uint64_t))
			return 0;
	err = disasm_new(ARCH_MACHINE, &disasm);
	err = err == -ENOTSUP ? 0 : err;
	for (unsigned int i = 0; i < h->nheaps && !err; i++) {
		struct heap_reader r = {.m = m,
					.h = h,
					.d = d,
					.heap = &h->heaps[i],
					.disasm = disasm,
					.work = &work};

		err = add_heap(&r);
	}
	disasm_free(disasm);
	return err;
}
