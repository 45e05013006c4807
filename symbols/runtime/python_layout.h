/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PYTHON_LAYOUT_H
#define STACKTOP_SYMBOLS_RUNTIME_PYTHON_LAYOUT_H

/*
 * Where CPython keeps what a walk of its frames needs: offsets in bytes in the structures of one
 * build. For BPF and the host. 0 where the version has no such member, unless noted.
 */

#include <linux/types.h>

#define PYTHON_ACTIVE	0x10u
#define PYTHON_READ_MAX 504u /* bytes that are read of a structure; not those of the runtime */

struct python_layout {
	__u32 version; /* PY_VERSION_HEX: 0x030b02f0 is 3.11.2 */

	/* _PyRuntime */
	__u32 runtime_current; /* the state of the thread that holds the GIL; up to 3.11 */
	__u32 runtime_interps; /* interpreters.head */

	/* PyInterpreterState */
	__u32 interp_next; /* may be 0 in fact */
	__u32 interp_threads;

	/* PyThreadState */
	__u32 tstate_size; /* of what is read of it: up to the last member that is named here */
	__u32 tstate_next;
	__u32 tstate_interp;
	__u32 tstate_thread; /* thread_id: pthread_self() */
	__u32 tstate_native; /* native_thread_id; from 3.11 on */
	__u32 tstate_status; /* bit field _status, has PYTHON_ACTIVE: holds the GIL; from 3.12 on */
	__u32 tstate_cframe; /* _PyCFrame *cframe; 3.11 and 3.12 only */
	__u32 tstate_frame; /* the current frame; if there is a cframe: in that, may be 0 in fact */
	__u32 cframe_previous;
	__u32 tstate_top;   /* datastack_top; 3.11 and 3.12 only */
	__u32 tstate_limit; /* datastack_limit, likewise */

	/* _PyInterpreterFrame, up to 3.10 PyFrameObject */
	__u32 frame_size; /* likewise as tstate_size */
	__u32 frame_code; /* may be 0 in fact */
	__u32 frame_back;
	__u32 frame_instr; /* from 3.11 on a pointer to the instruction; before int f_lasti */
	__u32 frame_owner; /* char; from 3.11 on */
	__u32 frame_entry; /* bool is_entry; 3.11 only */

	/* PyCodeObject */
	__u32 code_size; /* likewise */
	__u32 code_head; /* the same up to the last member that identifies it: the name, sizes */
	__u32 code_firstlineno;
	__u32 code_name;
	__u32 code_filename;
	__u32 code_qualname;	/* from 3.11 on */
	__u32 code_linetable;	/* co_lnotab up to 3.9 */
	__u32 code_start;	/* co_code_adaptive, the first instruction; from 3.11 on */
	__u32 code_nlocalsplus; /* int; 3.11 only */
	__u32 code_stacksize;	/* int; 3.11 only */
	__u32 code_framesize;	/* int, in words; from 3.12 on */

	/* objects */
	__u32 object_type;  /* ob_type */
	__u32 type_name;    /* tp_name */
	__u32 bytes_size;   /* ob_size */
	__u32 bytes_data;   /* ob_sval */
	__u32 text_length;  /* of PyASCIIObject */
	__u32 text_state;   /* its bit field, 4 bytes */
	__u32 text_ascii;   /* sizeof(PyASCIIObject): characters of a compact ASCII string */
	__u32 text_compact; /* sizeof(PyCompactUnicodeObject): those of other compact ones */
};

#endif
