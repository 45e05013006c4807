/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PHP_LAYOUT_H
#define STACKTOP_SYMBOLS_RUNTIME_PHP_LAYOUT_H

/*
 * Where PHP, without threads, keeps what a walk of its frames needs: offsets in bytes. Those of the
 * macros are the same from 8.0 to 8.6. For BPF and the host.
 */

#include <linux/types.h>

/* zend_execute_data: a frame */
#define PHP_FRAME_OPLINE   0  /* the instruction; not that of now in the innermost frame */
#define PHP_FRAME_RETURN   16 /* where the value goes that it returns */
#define PHP_FRAME_FUNCTION 24
#define PHP_FRAME_THIS	   32
#define PHP_FRAME_INFO	   40 /* flags of the call, in the type of This */
#define PHP_FRAME_BACK	   48
#define PHP_FRAME_SIZE	   56 /* of what is read */

#define PHP_CALL_CODE	   (1u << 16) /* of a file or of eval(), not of a function */
#define PHP_CALL_TOP	   (1u << 17) /* begins a call of execute_ex */
#define PHP_CALL_GENERATOR (1u << 24)

/* zend_function: what it runs */
#define PHP_FUNCTION_TYPE  0
#define PHP_FUNCTION_NAME  8
#define PHP_FUNCTION_SCOPE 16 /* the class */

#define PHP_INTERNAL 1 /* written in C */
#define PHP_USER     2
#define PHP_EVAL     4

/* zend_class_entry, zend_string */
#define PHP_CLASS_NAME	  8
#define PHP_STRING_HASH	  8
#define PHP_STRING_LENGTH 16
#define PHP_STRING_TEXT	  24

/* zend_op: an instruction */
#define PHP_OP_LINE 24
#define PHP_OP_CODE 28
#define PHP_OP_SIZE 32

/* 8.0 has other generators, whose members are not known, and no fibers. */
#define PHP_GENERATORS 0x0801

/* zend_generator */
#define PHP_GENERATOR_FRAME  56
#define PHP_GENERATOR_PARENT 152 /* the one that it waits for in a yield from */
#define PHP_GENERATOR_FAKE   184 /* a frame that stands for it and its parents but the outermost */

/* zend_fiber: its native stack, an address and a size; where its function's value goes */
#define PHP_FIBER_STACK		  96
#define PHP_FIBER_RESULT(version) ((version) < 0x0803 ? 304 : 312)

struct php_layout {
	__u32 version; /* 0x0802 is 8.2 */

	/* executor_globals */
	__u32 globals_current; /* the innermost frame */

	/* zend_op_array: a function written in PHP */
	__u32 function_last; /* number of its instructions */
	__u32 function_opcodes;
	__u32 function_file;
	__u32 function_start; /* first line */
	__u32 function_end;   /* last line */
	__u32 function_size;  /* of what is read: up to here */
};

#endif
