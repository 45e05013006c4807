/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_HOTSPOT_H
#define STACKTOP_BPF_TRACKER_HOTSPOT_H

/*
 * The code cache of a Java virtual machine (HotSpot), which describes its own structures for the
 * serviceability agent (src/hotspot/share/runtime/vmStructs.hpp in OpenJDK).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_draft;
struct code_memory;
struct disasm;
struct work;

enum hotspot_field {
	HOTSPOT_HEAPS, /* static: its address; all others are offsets */
	HOTSPOT_ARRAY_LEN,
	HOTSPOT_ARRAY_DATA,
	HOTSPOT_HEAP_MEMORY,
	HOTSPOT_HEAP_SEGMAP,
	HOTSPOT_HEAP_LOG2,
	HOTSPOT_SPACE_LOW,
	HOTSPOT_SPACE_HIGH,
	HOTSPOT_BLOCK_LENGTH,
	HOTSPOT_BLOCK_USED,
	HOTSPOT_BLOB_NAME,
	HOTSPOT_BLOB_FRAME_SIZE,
	HOTSPOT_BLOB_FRAME_COMPLETE,
	HOTSPOT_BLOB_CODE_BEGIN, /* an address, or an offset from the blob's own */
	HOTSPOT_BLOB_CODE_END,
	HOTSPOT_METHOD, /* from here on: for names */
	HOTSPOT_METHOD_CONST,
	HOTSPOT_CONST_POOL,
	HOTSPOT_CONST_NAME,
	HOTSPOT_POOL_HOLDER,
	HOTSPOT_KLASS_NAME,
	HOTSPOT_SYMBOL_LENGTH,
	HOTSPOT_SYMBOL_BODY,
	HOTSPOT_FIELDS,
};

#define HOTSPOT_HEAPS_MAX 8u

struct hotspot {
	struct hotspot_place {
		uint64_t at;
		uint8_t size; /* bytes, 0: not known */
		bool is_signed;
		bool is_pointer;
	} fields[HOTSPOT_FIELDS];
	uint64_t block_size, pool_size; /* sizeof HeapBlock and ConstantPool; 0: not known */
	struct hotspot_heap {
		uint64_t low, high;
		uint64_t segmap;
		uint32_t log2; /* of the size of a segment */
	} heaps[HOTSPOT_HEAPS_MAX];
	unsigned int nheaps;
};

/*
 * Finds the structures; vm_structs, vm_types: addresses of gHotSpotVMStructs and gHotSpotVMTypes.
 * *missing names the first structure that the machine does not describe as it is understood, or is
 * NULL. Then there are no heaps, if frames need it, or no names of methods. A machine that is about
 * to start has neither. -errno as codereader_memory.
 */
int hotspot_open(struct code_memory *m, uint64_t vm_structs, uint64_t vm_types, struct hotspot *out,
		 const char **missing);
/* Adds the state of the code cache to *mark. -ENOMEM. */
int hotspot_mark(struct code_memory *m, const struct hotspot *h, uint64_t *mark);
/* Adds frames and names of all code. -ENOMEM, -E2BIG; what cannot be read is left out. */
int hotspot_read(struct code_memory *m, const struct hotspot *h, struct code_draft *d);

/*
 * The same of code that has no name in the draft yet, and of the code at n places (struct
 * bare_place, pc), which may be other code now. Nothing goes away.
 */
int hotspot_read_new(struct code_memory *m, const struct hotspot *h, const uint64_t *places,
		     size_t n, struct code_draft *d);

/* Compiled code. Its frame has `frame` bytes with the return address from the offset `complete` on.
 */
struct hotspot_code {
	const uint8_t *bytes;
	uint64_t addr;
	uint32_t size, complete, frame;
};

/* Adds its rows; without a disassembler, or once its work is
 * at its limit, not those behind a push. -ENOMEM, -E2BIG. */
int hotspot_frame(struct code_draft *d, const struct hotspot_code *code, struct disasm *disasm,
		  struct work *work);

#endif
