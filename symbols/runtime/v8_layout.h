/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_V8_LAYOUT_H
#define STACKTOP_SYMBOLS_RUNTIME_V8_LAYOUT_H

/*
 * Where V8 keeps what a walk of its frames needs: offsets in bytes from the beginning of an object,
 * and instance types, which a map has. For BPF and the host. 64 bits without pointer compression:
 * a word is a pointer + 1, or a small integer in its upper half.
 */

#include <linux/types.h>

#define V8_TAG	      1ull
#define V8_TAG_MASK   3ull
#define V8_SMI_SHIFT  32
#define V8_FUNCTION   (-16) /* of a frame, from its frame pointer: the JSFunction */
#define V8_CONTEXT    (-8)  /* the context; a small integer: not a frame of a JSFunction */
#define V8_NOT_STRING 0x80u /* bits of a string's instance type */
#define V8_FORM	      0x07u
#define V8_ONE_BYTE   0x08u
#define V8_UNCACHED   0x10u /* of an external string */

enum v8_form { V8_SEQUENTIAL, V8_CONS, V8_EXTERNAL, V8_SLICED, V8_THIN = 5 };

struct v8_layout {
	__u32 version; /* major << 16 | minor */

	__u32 map_type;			     /* u16, of a Map */
	__u32 function_first, function_last; /* instance types of a JSFunction */
	__u32 context_first, context_last;   /* ... of a Context */
	__u32 shared_type;		     /* ... of a SharedFunctionInfo */
	__u32 script_type;		     /* ... of a Script */
	__u32 scope_type;		     /* ... of a ScopeInfo */

	__u32 function_shared;

	/* SharedFunctionInfo */
	__u32 shared_size; /* of what is read of it */
	__u32 shared_name; /* String or ScopeInfo */
	__u32 shared_script;
	__u32 shared_counts; /* three u16: length, parameters, offset of the token `function` */
	__u32 shared_id;     /* int: number of the function in its script */

	/* ScopeInfo: words, all small integers but the names */
	__u32 scope_locals; /* how many there are in a context */
	__u32 scope_vars;   /* the first word of their names */
	__u32 scope_start;  /* the start of the function, up to 13.0 behind the names; 0 then */

	/* Script */
	__u32 script_size;
	__u32 script_source;
	__u32 script_name;
	__u32 script_line; /* of its first line in its file, from 0 */

	/* String */
	__u32 string_length; /* int */
	__u32 string_chars;  /* of a sequential one */
	__u32 cons_first, cons_second;
	__u32 thin_actual;
	__u32 sliced_parent, sliced_offset;
	__u32 external_data; /* pointer to the characters */
};

#endif
