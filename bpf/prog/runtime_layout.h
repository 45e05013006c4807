/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RUNTIME_LAYOUT_H
#define STACKTOP_BPF_PROG_RUNTIME_LAYOUT_H

/* What the programs that walk frames of interpreted languages share with user space. */

#include <linux/types.h>

#include "symbols/runtime/perl_layout.h"
#include "symbols/runtime/php_layout.h"
#include "symbols/runtime/python_layout.h"
#include "symbols/runtime/ruby_layout.h"
#include "symbols/runtime/v8_layout.h"

/* Also the number of the program in the map runtime_programs. */
enum runtime {
	RUNTIME_NONE,
	RUNTIME_PYTHON,
	RUNTIME_PHP,
	RUNTIME_PERL,
	RUNTIME_RUBY,
	RUNTIME_V8,
	RUNTIME_COUNT
};

/* A process may have several, each with a slot of its own. */
#define PROCESS_RUNTIMES	 4u
#define RUNTIME_BYTE(kind, slot) ((kind) | (slot) << 4)
#define RUNTIME_KIND(byte)	 ((byte)&15)
#define RUNTIME_SLOT(byte)	 ((byte) >> 4 & 3)
#define RUNTIMES_KEEP_FP	 0x80u /* one of them is V8: walk.keeps_fp */
/* Of the map runtimes: a PID has 22 bits. */
#define RUNTIME_KEY(pid, slot) ((__u32)(pid) | (slot) << 24)

/* What a walk of a process's language frames needs; the value of the map runtimes. */
struct runtime_process {
	__u64 at;   /* address of the runtime's state: _PyRuntime, executor_globals, PL_thr_key,
		       ruby_current_vm_ptr */
	__u64 type; /* ... of what all objects that describe code point to: PyCode_Type;
		       PL_curinterp; Ruby: where records of vm_exec jump to, ruby_check.h */
	/* Frames (unwind/walk.h) in the code that runs the language's own, where they are placed by
	 * that; [start, end), 0: none. */
	__u64 eval[2][2];
	union {
		struct python_layout python;
		struct php_layout php;
		struct perl_layout perl;
		struct ruby_layout ruby;
		struct v8_layout v8;
	};
};

/*
 * A frame of a language. code identifies its function together with check, since a function's
 * memory is used again; place is where in it, as its runtime counts.
 */
#define RUNTIMES_MAX	    4096u /* of all processes */
#define RUNTIME_THREADS_MAX 8192u
#define LANGUAGE_FRAMES_MAX 1024u
#define LANGUAGE_NOWHERE    0xffffu /* where it belongs among the native frames is not proven */
/* Of the last frame of a run, added to its place: the run has more frames outside of it. */
#define LANGUAGE_CUT  0x8000u
#define LANGUAGE_SAME 0xfffeu /* that of its caller; if it has none: not proven */

struct language_frame {
	__u64 code : 48;
	__u64 at : 16; /* index of the native frame that runs it */
	__u32 place;
	__u32 check;
};

/* Does the thread hold the lock of its interpreter? */
enum language_lock {
	LANGUAGE_NO_LOCK, /* there is none, or it is not known */
	LANGUAGE_HOLDS,
	LANGUAGE_RELEASED,
};

/*
 * Goes through the ring like a struct stack_record, with kernel == STACK_LANGUAGE, before the
 * native stack of the same hash: its frames are those of the language, leaf first, two words each.
 * reason: enum language_lock; start_stack: enum runtime; RUNTIME_NONE: of several runtimes, one
 * after the other.
 */
#define STACK_LANGUAGE 3
/*
 * Of a walk that is captured, before its capture_record: the addresses by which its runs of frames
 * were placed, leaf first, as frames of a struct stack_record.
 */
#define STACK_PROOFS	5
#define LANGUAGE_PROOFS 64u /* further ones are left out */
/* A function of a language: a struct method_record, before the first stack that has it. */
#define STACK_METHOD 4

#define METHOD_TEXT  600u  /* bytes of a text */
#define METHOD_TABLE 8192u /* ... of a table of lines */

enum method_text {
	METHOD_NAME,
	METHOD_FILE,
	METHOD_SCOPE, /* class or package, where the name does not have it */
	METHOD_TEXTS
};

enum text_form {
	TEXT_LATIN1,
	TEXT_UTF16,
	TEXT_NONE, /* there is none: a function without a name */
};

/*
 * Begins like a stack_record. Texts are as they stand in memory: string objects of Python with
 * their headers, else characters. The table follows.
 */
struct method_record {
	__u64 hash; /* under which it is marked as seen */
	__u64 code;
	__u64 exec_id;
	__u32 tgid;
	__u16 nframes; /* 0 */
	__u8 kernel;   /* STACK_METHOD */
	__u8 runtime;
	__u32 check;
	__u32 first;		       /* line of its beginning */
	__u32 table_size;	       /* of the table, as far as it was read */
	__u32 table_all;	       /* its whole size */
	__u32 version;		       /* of the runtime */
	__u16 text_size[METHOD_TEXTS]; /* bytes; 0: there is none */
	/* Python: text_length, _state, _ascii, _compact of its layout; Ruby: what joins scope and
	 * name; V8: of each text, an enum text_form. */
	__u16 text_layout[4];
	__u8 text[METHOD_TEXTS][METHOD_TEXT];
};

_Static_assert(sizeof(struct language_frame) == 16, "two words of a record");

/* Per CPU, only ever growing. */
struct runtime_stats {
	__u64 walks;	 /* of a process with a runtime, to a thread with a state */
	__u64 frames;	 /* of the languages */
	__u64 placed;	 /* walks all of whose frames have a proven place */
	__u64 stateless; /* walks of threads that the runtime does not know */
	__u64 methods;	 /* sent */
	__u64 torn;	 /* walks that ended at a frame that contradicts another */
};

#endif
