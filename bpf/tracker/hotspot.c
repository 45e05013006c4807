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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/prog/layout.h"
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
#define TYPE_BYTES   40u /* of what the machine calls a type or a field */
#define ENTER_NAME   "jdk.internal.vm.Continuation.enterSpecial"
#define BARRIER_NAME "[frames of the virtual thread that are not on a stack]"
#define STEPS_MAX    4096u	/* from a segment back to the beginning of its block */
#define WORK_MAX     (1u << 23) /* instructions that are read in one reading */

/* A pointer, a structure within the structure, of which the place counts, or a number. */
enum shape { POINTER, PART, NUMBER, POINTER_OR_NUMBER };

/* Of two rows of one field, the machine has one, or the first counts. */
static const struct field {
	const char *name;
	enum hotspot_field field;
	enum shape shape;
} fields[] = {
	{"CodeCache::_heaps", HOTSPOT_HEAPS, POINTER},
	{"GrowableArrayBase::_len", HOTSPOT_ARRAY_LEN, NUMBER},
	{"GenericGrowableArray::_len", HOTSPOT_ARRAY_LEN, NUMBER}, /* before JDK 16 */
	{"GrowableArray<int>::_data", HOTSPOT_ARRAY_DATA, POINTER},
	{"CodeHeap::_memory", HOTSPOT_HEAP_MEMORY, PART},
	{"CodeHeap::_segmap", HOTSPOT_HEAP_SEGMAP, PART},
	{"CodeHeap::_log2_segment_size", HOTSPOT_HEAP_LOG2, NUMBER},
	{"VirtualSpace::_low", HOTSPOT_SPACE_LOW, POINTER},
	{"VirtualSpace::_high", HOTSPOT_SPACE_HIGH, POINTER},
	{"HeapBlock::Header::_length", HOTSPOT_BLOCK_LENGTH, NUMBER},
	{"HeapBlock::Header::_used", HOTSPOT_BLOCK_USED, NUMBER},
	{"CodeBlob::_name", HOTSPOT_BLOB_NAME, POINTER},
	{"CodeBlob::_frame_size", HOTSPOT_BLOB_FRAME_SIZE, NUMBER},
	{"CodeBlob::_frame_complete_offset", HOTSPOT_BLOB_FRAME_COMPLETE, NUMBER},
	{"CodeBlob::_code_begin", HOTSPOT_BLOB_CODE_BEGIN, POINTER_OR_NUMBER},
	{"CodeBlob::_code_offset", HOTSPOT_BLOB_CODE_BEGIN, POINTER_OR_NUMBER}, /* JDK 23 on */
	{"CodeBlob::_code_end", HOTSPOT_BLOB_CODE_END, POINTER_OR_NUMBER},
	{"CodeBlob::_data_offset", HOTSPOT_BLOB_CODE_END, POINTER_OR_NUMBER},
	{"CompiledMethod::_method", HOTSPOT_METHOD, POINTER},
	{"nmethod::_method", HOTSPOT_METHOD, POINTER}, /* JDK 8, and 23 on */
	{"Method::_constMethod", HOTSPOT_METHOD_CONST, POINTER},
	{"ConstMethod::_constants", HOTSPOT_CONST_POOL, POINTER},
	{"ConstMethod::_name_index", HOTSPOT_CONST_NAME, NUMBER},
	{"ConstantPool::_pool_holder", HOTSPOT_POOL_HOLDER, POINTER},
	{"Klass::_name", HOTSPOT_KLASS_NAME, POINTER},
	{"Symbol::_length", HOTSPOT_SYMBOL_LENGTH, NUMBER},
	{"Symbol::_body", HOTSPOT_SYMBOL_BODY, PART},
};
#define FIELD_ROWS (sizeof(fields) / sizeof(fields[0]))

/* The machine's words for its numbers. */
static const struct {
	const char *text;
	uint8_t size;
	bool is_signed;
} numbers[] = {
	{"bool", 1, false},    {"u1", 1, false},       {"uint8_t", 1, false},
	{"int8_t", 1, true},   {"u2", 2, false},       {"uint16_t", 2, false},
	{"jushort", 2, false}, {"int16_t", 2, true},   {"short", 2, true},
	{"int", 4, true},      {"jint", 4, true},      {"int32_t", 4, true},
	{"u4", 4, false},      {"uint", 4, false},     {"unsigned int", 4, false},
	{"juint", 4, false},   {"uint32_t", 4, false}, {"size_t", 8, false},
	{"u8", 8, false},      {"uint64_t", 8, false}, {"int64_t", 8, true},
	{"intptr_t", 8, true}, {"uintx", 8, false},
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

/* What the machine says of a field's type. False: not understood. */
static bool find_shape(const char *text, enum shape shape, struct hotspot_place *out)
{
	const size_t length = strlen(text);

	if (shape == PART) {
		out->size = 1;
		return true;
	}
	out->is_pointer = shape != NUMBER &&
			  ((length && text[length - 1] == '*') || !strcmp(text, "address"));
	if (out->is_pointer)
		out->size = sizeof(uint64_t);
	for (size_t i = 0; shape != POINTER && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(text, numbers[i].text)) {
			out->size = numbers[i].size;
			out->is_signed = numbers[i].is_signed;
		}
	return out->size;
}

static void note_field(struct code_memory *m, const struct vm_struct *entry,
		       struct hotspot_place *places)
{
	char full[2 * TYPE_BYTES], name[TYPE_BYTES], text[TYPE_BYTES];
	const size_t length = codereader_string(m, entry->name, name, sizeof(name));
	size_t type = 0;

	for (size_t i = 0; length && i < FIELD_ROWS; i++) {
		const char *want = fields[i].name, *member = strrchr(want, ':') + 1;
		struct hotspot_place place = {0};

		if (strcmp(name, member) != 0)
			continue;
		if (!type) {
			type = codereader_string(m, entry->type, full, TYPE_BYTES);
			snprintf(full + type, sizeof(full) - type, "::%s", name);
		}
		if (strcmp(full, want) != 0)
			continue;
		codereader_string(m, entry->text, text, sizeof(text));
		if (!find_shape(text, fields[i].shape, &place))
			continue;
		place.at = fields[i].field == HOTSPOT_HEAPS ? entry->address : entry->offset;
		places[i] = place;
	}
}

static int read_structs(struct code_memory *m, uint64_t vm_structs, struct hotspot *h)
{
	struct hotspot_place places[FIELD_ROWS] = {{0}};
	struct vm_struct entry;
	uint64_t at;
	int err = codereader_memory(m, vm_structs, &at, sizeof(at));

	for (unsigned int n = 0; !err && n < ENTRIES_MAX; n++, at += sizeof(entry)) {
		err = codereader_memory(m, at, &entry, sizeof(entry));
		if (err || !entry.type)
			break;
		note_field(m, &entry, places);
	}
	for (size_t i = 0; i < FIELD_ROWS; i++)
		if (!h->fields[fields[i].field].size)
			h->fields[fields[i].field] = places[i];
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

/* The first field from one on to another that the machine does not describe. NULL: none. */
static const char *find_missing(const struct hotspot *h, unsigned int field, unsigned int to)
{
	for (; field < to; field++)
		for (size_t i = 0; !h->fields[field].size && i < FIELD_ROWS; i++)
			if (fields[i].field == field)
				return fields[i].name;
	return NULL;
}

static const char *find_missing_frames(const struct hotspot *h)
{
	const char *missing = find_missing(h, 0, HOTSPOT_METHOD);

	return missing || (h->block_size && h->block_size <= 64) ? missing : "HeapBlock";
}

static const char *find_missing_names(const struct hotspot *h)
{
	const char *missing = find_missing(h, HOTSPOT_METHOD, HOTSPOT_FIELDS);

	return missing || h->pool_size ? missing : "ConstantPool";
}

static int read_word(struct code_memory *m, uint64_t addr, uint64_t *to)
{
	return codereader_memory(m, addr, to, sizeof(*to));
}

/* The value of a field in memory: of its width, with its sign. */
static uint64_t field_value(const struct hotspot_place *place, const void *from)
{
	const unsigned int unused = 64 - 8u * place->size;
	uint64_t value = 0;

	if (!place->size)
		return 0;
	memcpy(&value, from, place->size);
	return place->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static int read_field(struct code_memory *m, const struct hotspot *h, uint64_t addr,
		      enum hotspot_field field, uint64_t *to)
{
	const struct hotspot_place *place = &h->fields[field];
	uint8_t bytes[sizeof(*to)];
	const int err = codereader_memory(m, addr + place->at, bytes, place->size);

	*to = err ? 0 : field_value(place, bytes);
	return err;
}

static void read_heap(struct code_memory *m, uint64_t addr, struct hotspot *h)
{
	const uint64_t memory = addr + h->fields[HOTSPOT_HEAP_MEMORY].at,
		       segmap = addr + h->fields[HOTSPOT_HEAP_SEGMAP].at;
	struct hotspot_heap heap;
	uint64_t log2;

	if (read_field(m, h, memory, HOTSPOT_SPACE_LOW, &heap.low) ||
	    read_field(m, h, memory, HOTSPOT_SPACE_HIGH, &heap.high) ||
	    read_field(m, h, segmap, HOTSPOT_SPACE_LOW, &heap.segmap) ||
	    read_field(m, h, addr, HOTSPOT_HEAP_LOG2, &log2))
		return;
	if (heap.low >= heap.high || heap.high >= CODE_ADDR_MAX || log2 < 4 || log2 > 16 ||
	    (heap.high - heap.low) >> log2 > SEGMENTS_MAX)
		return;
	heap.log2 = (uint32_t)log2;
	h->heaps[h->nheaps++] = heap;
}

static int read_heaps(struct code_memory *m, struct hotspot *h)
{
	uint64_t array, data, count, heap;
	int err = read_word(m, h->fields[HOTSPOT_HEAPS].at, &array);

	if (!err)
		err = read_field(m, h, array, HOTSPOT_ARRAY_LEN, &count);
	if (!err)
		err = read_field(m, h, array, HOTSPOT_ARRAY_DATA, &data);
	for (uint64_t i = 0; !err && i < count && i < HOTSPOT_HEAPS_MAX; i++) {
		err = read_word(m, data + i * sizeof(heap), &heap);
		if (!err)
			read_heap(m, heap, h);
	}
	return err;
}

int hotspot_open(struct code_memory *m, uint64_t vm_structs, uint64_t vm_types, struct hotspot *out,
		 const char **missing)
{
	int err;

	*missing = NULL;
	memset(out, 0, sizeof(*out));
	err = read_structs(m, vm_structs, out);
	if (!err)
		err = read_types(m, vm_types, out);
	if (err)
		return err;
	*missing = find_missing_frames(out);
	if (*missing)
		return 0;
	*missing = find_missing_names(out);
	read_heaps(m, out); /* during startup the VM has no heaps yet */
	return 0;
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
	uint64_t length;

	if (read_field(m, h, addr, HOTSPOT_SYMBOL_LENGTH, &length))
		return 0;
	if (length > room)
		length = room;
	return length && !codereader_memory(m, addr + h->fields[HOTSPOT_SYMBOL_BODY].at, to, length)
		       ? length
		       : 0;
}

/* Class and method; the length, 0 if they cannot be read. */
static size_t method_name(struct code_memory *m, const struct hotspot *h, uint64_t method, char *to)
{
	uint64_t constant, pool, holder, klass, name, index;
	size_t length, more;

	if (!method || read_field(m, h, method, HOTSPOT_METHOD_CONST, &constant) ||
	    read_field(m, h, constant, HOTSPOT_CONST_POOL, &pool) ||
	    read_field(m, h, constant, HOTSPOT_CONST_NAME, &index) ||
	    read_word(m, pool + h->pool_size + 8 * index, &name) ||
	    read_field(m, h, pool, HOTSPOT_POOL_HOLDER, &holder) ||
	    read_field(m, h, holder, HOTSPOT_KLASS_NAME, &klass))
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

#define BARRIERS_MAX 4u
#define PC_STEP	     (1u << ARCH_PC_SHIFT)

/*
 * A virtual thread that goes on has only its innermost frames on the stack of the thread that
 * carries it. The outermost of them returns to a barrier, right below the frame of
 * Continuation.enterSpecial, by which the carrier has entered: the barrier stands for that method
 * and for all frames that are not there.
 */
struct continuations {
	uint64_t barriers[BARRIERS_MAX];
	uint32_t nbarriers;
	uint32_t enter_frame; /* bytes of enterSpecial's frame; 0: not found */
};

struct heap_reader {
	struct code_memory *m;
	const struct hotspot *h;
	struct code_draft *d;
	const struct hotspot_heap *heap;
	struct disasm *disasm; /* NULL: there is none */
	struct work *work;     /* of it */
	struct continuations *continuations;
	uint8_t *bytes; /* of the heap, between these offsets */
	uint64_t from, size;
	bool again; /* of a block whose name the draft may have, with one of a part behind it */
	uint64_t kind_at; /* address of the name read last */
	char kind[32];
};

static uint64_t blob_field(const struct heap_reader *r, uint64_t at, enum hotspot_field field)
{
	const struct hotspot_place *place = &r->h->fields[field];

	return field_value(place, r->bytes + (at - r->from) + place->at);
}

/* Where the code of a blob begins or ends. */
static uint64_t blob_code(const struct heap_reader *r, uint64_t at, enum hotspot_field field)
{
	const uint64_t value = blob_field(r, at, field);

	return r->h->fields[field].is_pointer ? value : r->heap->low + at + value;
}

/* The frame size of a code blob in bytes; 0: the blob has no frame, or its size is invalid. */
static uint32_t blob_frame(const struct heap_reader *r, uint64_t at)
{
	const int64_t words = (int64_t)blob_field(r, at, HOTSPOT_BLOB_FRAME_SIZE);

	return words > 1 && words < FRAME_WORDS ? (uint32_t)words * 8 : 0;
}

/* Code that hands over to another method, and leaves the return address where it is. */
static bool has_no_frame(const char *kind, uint32_t frame)
{
	return !strcmp(kind, "vtable chunks") || !strcmp(kind, "MethodHandles adapters") ||
	       (!strcmp(kind, "native nmethod") && !frame);
}

static void note_barriers(struct continuations *c, const uint8_t *code, uint64_t addr,
			  uint32_t size)
{
	for (uint32_t at = 0; at < size && c->nbarriers < BARRIERS_MAX; at++)
		if (framecode_barrier(code, size, at))
			c->barriers[c->nbarriers++] = addr + at;
}

/* Nothing but a return leads there, so only the byte before, by which one is looked up, counts. */
static int add_barriers(const struct continuations *c, struct code_draft *d)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nbarriers && c->enter_frame && !err; i++) {
		err = add_rule(d, c->barriers[i] - PC_STEP, c->barriers[i],
			       RULE_FRAME(ROW_SP, c->enter_frame, 16));
		if (!err)
			err = codedraft_name(d, c->barriers[i] - PC_STEP, 2 * PC_STEP, BARRIER_NAME,
					     strlen(BARRIER_NAME));
	}
	return err;
}

static int add_code(struct heap_reader *r, uint64_t at, uint64_t begin, uint64_t end)
{
	const int32_t complete = (int32_t)blob_field(r, at, HOTSPOT_BLOB_FRAME_COMPLETE);
	const uint32_t frame = blob_frame(r, at);
	const uint8_t *code = r->bytes + (begin - r->heap->low - r->from);

	if (!strcmp(r->kind, "Interpreter"))
		return add_interpreter(r->d, begin, end);
	if (has_no_frame(r->kind, frame))
		return add_rule(r->d, begin, end, RULE_FRAME(ROW_SP, -ARCH_RA_AT, 0));
	if (!strncmp(r->kind, "StubRoutines (continuation", 26))
		note_barriers(r->continuations, code, begin, (uint32_t)(end - begin));
	if (!frame)
		return 0;
	return hotspot_frame(r->d,
			     &(struct hotspot_code){
				     .bytes = code,
				     .addr = begin,
				     .size = (uint32_t)(end - begin),
				     .complete = complete > 0 ? (uint32_t)complete : 0,
				     .frame = frame,
			     },
			     r->disasm, r->work);
}

static bool has_name(const struct code_draft *d, uint64_t start, uint64_t size, const char *name,
		     size_t length)
{
	for (uint32_t i = 0; i < d->nnames; i++) {
		const struct code_name *n = &d->names[i];

		if (n->start == start && n->size == size && strlen(d->text + n->text) == length &&
		    !memcmp(d->text + n->text, name, length))
			return true;
	}
	return false;
}

static int add_blob_name(struct heap_reader *r, uint64_t at, uint64_t begin, uint64_t end)
{
	char name[NAME_BYTES];
	size_t length = 0;

	if (!find_missing_names(r->h) &&
	    (!strcmp(r->kind, "nmethod") || !strcmp(r->kind, "native nmethod")))
		length = method_name(r->m, r->h, blob_field(r, at, HOTSPOT_METHOD), name);
	if (length == strlen(ENTER_NAME) && !memcmp(name, ENTER_NAME, length))
		r->continuations->enter_frame = blob_frame(r, at);
	if (!length)
		length = (size_t)snprintf(name, sizeof(name), "%s", r->kind);
	return r->again && has_name(r->d, begin, end - begin, name, length)
		       ? 0
		       : codedraft_name(r->d, begin, end - begin, name, length);
}

/* The blob of the block at an offset in the heap. */
static int add_block(struct heap_reader *r, uint64_t block)
{
	const struct hotspot *h = r->h;
	const uint64_t at = block + h->block_size;
	uint64_t length, begin, end, name;
	int err;

	if (at + BLOB_BYTES > r->size || !blob_field(r, block, HOTSPOT_BLOCK_USED))
		return 0;
	length = blob_field(r, block, HOTSPOT_BLOCK_LENGTH);
	begin = blob_code(r, at, HOTSPOT_BLOB_CODE_BEGIN);
	end = blob_code(r, at, HOTSPOT_BLOB_CODE_END);
	if (length > (r->size - block) >> r->heap->log2 || begin < r->heap->low + at ||
	    begin >= end || end > r->heap->low + block + (length << r->heap->log2))
		return 0;
	name = blob_field(r, at, HOTSPOT_BLOB_NAME);
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

/* The block at r->from; nothing if it is free or cannot be read. */
static int add_block_alone(struct heap_reader *r)
{
	const struct hotspot *h = r->h;
	const uint64_t heap = r->heap->high - r->heap->low;
	const struct hotspot_place *used = &h->fields[HOTSPOT_BLOCK_USED],
				   *length = &h->fields[HOTSPOT_BLOCK_LENGTH];
	uint8_t head[BLOB_BYTES];
	uint64_t size;
	int err;

	if (codereader_memory(r->m, r->heap->low + r->from, head, h->block_size) ||
	    used->at + used->size > h->block_size || length->at + length->size > h->block_size ||
	    !field_value(used, head + used->at))
		return 0;
	size = field_value(length, head + length->at);
	if (size > (heap - r->from) >> r->heap->log2)
		return 0;
	size = (size << r->heap->log2) + BLOB_BYTES; /* the read below may pass its end */
	r->size = r->from + size < heap ? r->from + size : heap;
	r->bytes = malloc(r->size - r->from + 1);
	if (!r->bytes)
		return -ENOMEM;
	err = codereader_memory(r->m, r->heap->low + r->from, r->bytes, r->size - r->from);
	if (!err)
		err = add_block(r, r->from);
	free(r->bytes);
	return err == -EFAULT ? 0 : err;
}

/* A return address is looked up by the byte before it, in the call. */
static uint64_t place_addr(uint64_t place)
{
	return (place & ~(BARE_EXACT | BARE_STALE)) - (place & BARE_EXACT ? 0 : 1);
}

enum segment { SEGMENT_NAMED = 1, SEGMENT_MET = 2 };

/* Notes in which segments, of the heap with that map, names begin, and which places' blocks do. */
static void note_segments(const struct heap_reader *r, const uint8_t *map, const uint64_t *places,
			  size_t n, uint8_t *segments)
{
	const uint64_t low = r->heap->low, size = r->heap->high - low;

	for (uint32_t i = 0; i < r->d->nnames; i++)
		if (r->d->names[i].start - low < size)
			segments[(r->d->names[i].start - low) >> r->heap->log2] |= SEGMENT_NAMED;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = (place_addr(places[i]) - low) >> r->heap->log2;

		if (place_addr(places[i]) - low >= size)
			continue;
		for (unsigned int steps = 0; map[at] && map[at] <= at && steps < STEPS_MAX; steps++)
			at -= map[at];
		segments[at] |= SEGMENT_MET;
	}
}

/* Adds the blocks without a name in the draft, and those of the places. */
static int add_new_blocks(struct heap_reader *r, const uint64_t *places, size_t n)
{
	size_t count, i, next;
	uint8_t *map = read_segmap(r->m, r->heap, &count);
	uint8_t *segments = map ? calloc(count + 1, 1) : NULL;
	int err = 0;

	if (segments)
		note_segments(r, map, places, n, segments);
	for (i = 0; segments && i < count && !err; i = next) {
		uint8_t known = segments[i];

		for (next = i + 1; next < count && map[next] && map[next] != 0xff; next++)
			known |= segments[next] & SEGMENT_NAMED;
		r->from = (uint64_t)i << r->heap->log2;
		r->again = known & SEGMENT_NAMED;
		if (!map[i] && known != SEGMENT_NAMED)
			err = add_block_alone(r);
	}
	free(segments);
	free(map);
	return err;
}

/* All blocks, or as add_new_blocks. */
static int read_heaps_with(struct code_memory *m, const struct hotspot *h, const uint64_t *places,
			   size_t n, bool all, struct code_draft *d)
{
	struct work work = {.limit = WORK_MAX};
	struct continuations continuations = {.nbarriers = 0};
	struct disasm *disasm = NULL;
	int err;

	for (unsigned int i = HOTSPOT_BLOCK_LENGTH; i <= HOTSPOT_METHOD; i++)
		if (h->fields[i].size && h->fields[i].at > BLOB_BYTES - sizeof(uint64_t))
			return 0;
	err = disasm_new(ARCH_MACHINE, &disasm);
	err = err == -ENOTSUP ? 0 : err;
	for (unsigned int i = 0; i < h->nheaps && !err; i++) {
		struct heap_reader r = {.m = m,
					.h = h,
					.d = d,
					.heap = &h->heaps[i],
					.disasm = disasm,
					.work = &work,
					.continuations = &continuations};

		err = all ? add_heap(&r) : add_new_blocks(&r, places, n);
	}
	if (!err)
		err = add_barriers(&continuations, d);
	disasm_free(disasm);
	return err;
}

int hotspot_read_new(struct code_memory *m, const struct hotspot *h, const uint64_t *places,
		     size_t n, struct code_draft *d)
{
	return read_heaps_with(m, h, places, n, false, d);
}

int hotspot_read(struct code_memory *m, const struct hotspot *h, struct code_draft *d)
{
	return read_heaps_with(m, h, NULL, 0, true, d);
}
