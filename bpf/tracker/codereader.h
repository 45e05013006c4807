/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_CODEREADER_H
#define STACKTOP_BPF_TRACKER_CODEREADER_H

/*
 * Reads what a process says, in its own memory, of the code that it makes at run time. A page of
 * that memory may be served by a file system or by another program (userfaultfd(2)) that never
 * answers, so only the processes of bpf/tracker/openhelper.c do this.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct code_draft;
struct elf_file;

#define CODE_DESCRIPTORS_MAX 4u

/* Symbols by which a file says where it describes such code. Addresses; 0: it has none. */
struct code_symbols {
	uint64_t descriptor; /* __jit_debug_descriptor */
	uint64_t vm_structs; /* gHotSpotVMStructs */
	uint64_t vm_types;   /* gHotSpotVMTypes */
};

#define CODE_BARE_MAX	   4096u
#define CODE_CONSTANTS_MAX 512u
#define CODE_CALLERS_MAX   4u

/* What walks have found out about code that nothing describes. */
struct code_bare {
	struct code_constant { /* code in one frame: its return address is `word` words above SP */
		uint64_t start, end;
		uint64_t ras[CODE_CALLERS_MAX]; /* such return addresses; 0: no more */
		uint32_t word;
		uint32_t pad;
	} constants[CODE_CONSTANTS_MAX]; /* ascending */
	/* Places from which no walk leads on, as struct bare_place has them in pc; any order. */
	uint64_t places[CODE_BARE_MAX];
};

/* Where a process describes its code: the symbols of all its files, at run time. */
struct code_places {
	uint64_t descriptors[CODE_DESCRIPTORS_MAX]; /* 0: no more */
	uint64_t vm_structs, vm_types;
	uint64_t mark;		    /* of what was read last; 0: nothing yet */
	uint32_t nbare, nconstants; /* in struct code_bare */
	uint32_t again;		    /* read all, though the mark is the known one */
	uint32_t part; /* read new code and the places of struct code_bare; keep the rest of base */
	int32_t base;  /* with part: the file of the last answer; without it nothing is read */
	uint32_t first; /* find out open_answer.moved, too */
};

/* The memory of a process. */
struct code_memory {
	pid_t pid;
	uint64_t left;		  /* bytes that may be read */
	struct code_pages *pages; /* those of small pieces, read once; NULL: each piece is read */
};

/* Finds the symbols in .dynsym, or else in .symtab. False: none. */
bool codereader_symbols(const struct elf_file *file, struct code_symbols *out);

/* All bytes. -EFAULT: some are not there; -E2BIG: more than is left; or the error of the call. */
int codereader_memory(struct code_memory *m, uint64_t addr, void *to, size_t size);
/* At most room - 1 characters, terminated. Its length, 0 if it is empty or cannot be read. */
size_t codereader_string(struct code_memory *m, uint64_t addr, char *to, size_t room);

/*
 * Returns a file in memory (bpf/tracker/codefile.h), and *mark, which differs when the process has
 * changed its description; of a part, the known one. The places of bare are sorted. -EALREADY: the
 * mark is the known one; -ENOENT: nothing is known yet; or -errno. *missing: as hotspot_open.
 */
int codereader_read(pid_t pid, const struct code_places *places, struct code_bare *bare,
		    uint64_t *mark, const char **missing);

/* One word of a mark. */
static inline uint64_t code_mark(uint64_t mark, uint64_t word)
{
	mark = (mark ^ word) * 0x9e3779b97f4a7c15ull;
	return mark ^ mark >> 29;
}

#endif
