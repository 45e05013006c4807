/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_RUBY_LAYOUT_H
#define STACKTOP_SYMBOLS_RUNTIME_RUBY_LAYOUT_H

/*
 * Where CRuby keeps what a walk of its frames needs: offsets in bytes in the structures of one
 * version. For BPF and the host.
 */

#include <linux/types.h>

/* How a buffer of setjmp has the address where it returns to. */
enum ruby_jump {
	RUBY_JUMP_BUILTIN, /* __builtin_setjmp of GCC: its second word */
	RUBY_JUMP_PLAIN,   /* its eighth word, as musl has it */
	RUBY_JUMP_MANGLED, /* likewise, encrypted as glibc does */
};

struct ruby_layout {
	__u32 version; /* 0x030102 is 3.1.2 */
	__u32 jump;    /* enum ruby_jump */
	__u64 object;  /* address of rb_cObject, counted from ruby_current_vm_ptr; wraps around */

	/* rb_vm_t */
	__u32 vm_ractors; /* ractor.set, a list head; the number of its members is behind it */
	__u32 vm_main;	  /* ractor.main_ractor */

	/* rb_ractor_t */
	__u32 ractor_next;    /* vmlr_node, of that list */
	__u32 ractor_threads; /* threads.set, likewise */
	__u32 ractor_owner;   /* the thread that holds the lock; 0: not known */

	/* rb_thread_t; its lt_node is its beginning */
	__u32 thread_size; /* of what is read of it */
	__u32 thread_ractor;
	__u32 thread_ec;
	__u32 thread_native; /* pointer to the struct rb_native_thread; 0: it has none */
	__u32 thread_id;     /* pthread_self(), of the native one if there is one */

	/* rb_execution_context_t; its vm_stack and vm_stack_size are its beginning */
	__u32 ec_size;
	__u32 ec_cfp;
	__u32 ec_tag;
	__u32 ec_thread;

	/* struct rb_vm_tag */
	__u32 tag_buf;
	__u32 tag_prev; /* depends on the kind of jump */

	/* rb_control_frame_t; its pc is its beginning */
	__u32 frame_size;
	__u32 frame_iseq;
	__u32 frame_ep;

	/* rb_iseq_t and struct rb_iseq_constant_body; the type is the beginning of that */
	__u32 iseq_body;
	__u32 body_head;  /* what is read of it for each frame: up to the line */
	__u32 body_size;  /* ... for each function */
	__u32 body_words; /* int iseq_size */
	__u32 body_code;  /* iseq_encoded */
	__u32 body_path;  /* location.pathobj */
	__u32 body_label; /* location.label, behind the base_label */
	__u32 body_line;  /* location.first_lineno */
	__u32 line_shift; /* 1: that is a Fixnum, else an int */
	__u32 body_lines; /* insns_info.body, positions, size, succ_index_table */

	/* objects */
	__u32 string_length; /* 0: that of embedded strings is in their flags */
	__u32 string_embed;
	__u32 string_pointer;
	__u32 method_owner; /* of a method entry */
	__u32 class_table;  /* of a class: pointer to the rb_classext_t; 0: that has a classpath */
	__u32 class_path;   /* its iv_tbl, or classpath of the class; 0: not known */
	__u32 class_singleton; /* flag of singleton classes */
	__u32 class_attached;  /* attached_object of a singleton class; 0: is in the iv_tbl */
};

/* Flags of objects, of frames, and of environments: the same in all versions. */
#define RUBY_TYPE(flags)       ((flags)&0x1f)
#define RUBY_CLASS	       0x02u
#define RUBY_MODULE	       0x03u
#define RUBY_STRING	       0x05u
#define RUBY_ARRAY	       0x07u
#define RUBY_IMEMO	       0x1au
#define RUBY_MEMO(flags)       ((flags)&0xf01f)
#define RUBY_SVAR	       0x201au
#define RUBY_METHOD_ENTRY      0x601au
#define RUBY_ISEQ	       0x701au
#define RUBY_USER_0	       0x1000u
#define RUBY_NOT_EMBEDDED      (2 * RUBY_USER_0) /* a string */
#define RUBY_EMBEDDED	       (2 * RUBY_USER_0) /* an array */
#define RUBY_FRAME_FINISH      0x20u
#define RUBY_FRAME_C	       0x80u
#define RUBY_FRAME_KIND(flags) ((flags) >> 16 & 0x7fff)
#define RUBY_FRAME_DUMMY       0x7999u /* the outermost frame, which runs nothing */
#define RUBY_ENV_LOCAL	       0x02u
#define RUBY_ENV_FLAGS	       0  /* words from an ep */
#define RUBY_ENV_OUTER	       -1 /* pointer to the ep around it; the low bits are no part of it */
#define RUBY_ENV_METHOD	       -2
#define RUBY_NO_PLACE	       0xffffffffu

/* st_table of 3.1: where its entries are; each is a hash, a key and a value. */
#define RUBY_TABLE_ENTRIES 48u
#define RUBY_TABLE_LOOK	   4u /* entries that are looked at, which each table has */

/*
 * The table of a method_record: a header, the struct succ_index_table of Ruby's iseq.c from
 * instructions to entries, and the entries, of which the first word is the line.
 */
struct ruby_lines {
	__u32 index; /* bytes of the index */
	__u32 count; /* entries */
};

#define RUBY_LINE_ENTRY	      12u
#define RUBY_INDEX_IMMEDIATE  54u
#define RUBY_INDEX_BLOCK      512u
#define RUBY_INDEX_HEAD	      48u
#define RUBY_INDEX_BLOCK_SIZE 80u
#define RUBY_INDEX_BYTES(words)                                                                    \
	((words) <= RUBY_INDEX_IMMEDIATE                                                           \
		 ? ((words) + 8) / 9 * 8                                                           \
		 : RUBY_INDEX_HEAD + ((words)-RUBY_INDEX_IMMEDIATE + RUBY_INDEX_BLOCK - 1) /       \
					     RUBY_INDEX_BLOCK * RUBY_INDEX_BLOCK_SIZE)
#define RUBY_INDEX_MAX 2047u

#endif
