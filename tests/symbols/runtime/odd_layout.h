/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose structures have the names of CPython 3.8 or, with -DMINOR=12, of 3.12, but other
 * layouts, which it prints; test_python_dwarf compiles it with debug information.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SIZE(name, value)	  printf(#name " %lu\n", (unsigned long)(value))
#define PLACE(name, type, member) SIZE(name, offsetof(type, member))

typedef struct _object { /* as with Py_TRACE_REFS */
	struct _object *_ob_next, *_ob_prev;
	intptr_t ob_refcnt;
	struct _typeobject *ob_type;
} PyObject;

typedef struct {
	PyObject ob_base;
	intptr_t ob_size;
} PyVarObject;

struct _typeobject {
	PyVarObject ob_base;
	const char *tp_name;
};

typedef struct {
	PyVarObject ob_base;
	intptr_t ob_shash;
	char ob_sval[1];
} PyBytesObject;

typedef struct {
	PyObject ob_base;
	intptr_t length, hash;
	struct {
		unsigned int interned : 2;
		unsigned int kind : 3;
	} state;
	wchar_t *wstr;
} PyASCIIObject;

typedef struct {
	PyASCIIObject _base;
	intptr_t utf8_length;
	char *utf8;
} PyCompactUnicodeObject;

struct _gilstate_runtime_state {
	long odd[3];
	uintptr_t tstate_current;
};

typedef const volatile struct _gilstate_runtime_state odd_gilstate;

typedef struct pyruntimestate {
	int odd[7];
	struct pyinterpreters {
		void *mutex;
		struct _is *head;
	} interpreters;
#if MINOR < 12
	odd_gilstate gilstate;
#endif
} _PyRuntimeState;

typedef struct _is {
	long odd;
	struct _is *next;
#if MINOR < 12
	struct _ts *tstate_head;
#else
	struct pythreads {
		uint64_t next_unique_id;
		struct _ts *head;
	} threads;
#endif
} PyInterpreterState;

#if MINOR < 12
typedef struct _frame {
	PyVarObject ob_base;
	struct _frame *f_back;
	struct _code *f_code;
	long odd;
	int f_lasti;
} PyFrameObject;
#else
typedef struct _PyInterpreterFrame {
	long odd;
	struct PyCodeObject *f_code;
	struct _PyInterpreterFrame *previous;
	uint16_t *prev_instr;
	char owner;
} _PyInterpreterFrame;

typedef struct _PyCFrame {
	long odd;
	_PyInterpreterFrame *current_frame;
	struct _PyCFrame *previous;
} _PyCFrame;
#endif

typedef struct _ts {
	long odd[2];
	struct _ts *prev, *next;
	PyInterpreterState *interp;
#if MINOR < 12
	PyFrameObject *frame;
#else
	_PyCFrame *cframe;
	unsigned long native_thread_id;
	struct {
		unsigned int initialized : 1;
		unsigned int bound : 1;
	} _status;
	PyObject **datastack_top, **datastack_limit;
#endif
	unsigned long thread_id;
} PyThreadState;

#if MINOR < 12
typedef struct {
#else
typedef struct PyCodeObject {
#endif
	PyObject ob_base;
	int co_firstlineno;
	PyObject *co_filename, *co_name;
#if MINOR < 12
	PyObject *co_lnotab;
#else
	PyObject *co_linetable, *co_qualname;
	int co_framesize;
	char co_code_adaptive[1];
#endif
} PyCodeObject;

_PyRuntimeState runtime;
PyInterpreterState interp;
PyThreadState thread;
PyCodeObject code;
PyBytesObject bytes;
PyCompactUnicodeObject text;
struct _typeobject type;

int main(void)
{
#if MINOR < 12
	PLACE(runtime_current, _PyRuntimeState, gilstate.tstate_current);
	PLACE(interp_threads, PyInterpreterState, tstate_head);
	PLACE(tstate_frame, PyThreadState, frame);
	PLACE(frame_back, PyFrameObject, f_back);
	PLACE(frame_code, PyFrameObject, f_code);
	PLACE(frame_instr, PyFrameObject, f_lasti);
	PLACE(code_linetable, PyCodeObject, co_lnotab);
#else
	PLACE(interp_threads, PyInterpreterState, threads.head);
	PLACE(tstate_native, PyThreadState, native_thread_id);
	PLACE(tstate_status, PyThreadState, _status);
	PLACE(tstate_cframe, PyThreadState, cframe);
	PLACE(tstate_frame, _PyCFrame, current_frame);
	PLACE(cframe_previous, _PyCFrame, previous);
	PLACE(tstate_top, PyThreadState, datastack_top);
	PLACE(tstate_limit, PyThreadState, datastack_limit);
	PLACE(frame_back, _PyInterpreterFrame, previous);
	PLACE(frame_code, _PyInterpreterFrame, f_code);
	PLACE(frame_instr, _PyInterpreterFrame, prev_instr);
	PLACE(frame_owner, _PyInterpreterFrame, owner);
	PLACE(code_linetable, PyCodeObject, co_linetable);
	PLACE(code_qualname, PyCodeObject, co_qualname);
	PLACE(code_framesize, PyCodeObject, co_framesize);
	PLACE(code_start, PyCodeObject, co_code_adaptive);
#endif
	PLACE(runtime_interps, _PyRuntimeState, interpreters.head);
	PLACE(interp_next, PyInterpreterState, next);
	PLACE(tstate_next, PyThreadState, next);
	PLACE(tstate_interp, PyThreadState, interp);
	PLACE(tstate_thread, PyThreadState, thread_id);
	PLACE(code_firstlineno, PyCodeObject, co_firstlineno);
	PLACE(code_name, PyCodeObject, co_name);
	PLACE(code_filename, PyCodeObject, co_filename);
	PLACE(object_type, PyObject, ob_type);
	PLACE(type_name, struct _typeobject, tp_name);
	PLACE(bytes_size, PyVarObject, ob_size);
	PLACE(bytes_data, PyBytesObject, ob_sval);
	PLACE(text_length, PyASCIIObject, length);
	PLACE(text_state, PyASCIIObject, state);
	SIZE(text_ascii, sizeof(PyASCIIObject));
	SIZE(text_compact, sizeof(PyCompactUnicodeObject));
	return 0;
}
