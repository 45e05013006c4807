/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program: test_python_layout compiles it with the headers of one CPython, whose offsets it
 * prints. It is a header so that it is not compiled without them.
 */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>

#include "frameobject.h"
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_frame.h"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_interpframe_structs.h"
#include "internal/pycore_runtime_structs.h"
#include "internal/pycore_interp_structs.h"
#include "internal/pycore_debug_offsets.h"
#endif

#define SIZE(name, value)	  printf(#name " %lu\n", (unsigned long)(value))
#define PLACE(name, type, member) SIZE(name, offsetof(type, member))

int main(void)
{
#if PY_VERSION_HEX < 0x030c0000
	PLACE(runtime_current, _PyRuntimeState, gilstate.tstate_current);
#endif
	PLACE(runtime_interps, _PyRuntimeState, interpreters.head);
	PLACE(interp_next, PyInterpreterState, next);
#if PY_VERSION_HEX >= 0x030b0000
	PLACE(interp_threads, PyInterpreterState, threads.head);
#else
	PLACE(interp_threads, PyInterpreterState, tstate_head);
#endif
	PLACE(tstate_next, PyThreadState, next);
	PLACE(tstate_interp, PyThreadState, interp);
	PLACE(tstate_thread, PyThreadState, thread_id);
#if PY_VERSION_HEX >= 0x030b0000
	PLACE(tstate_native, PyThreadState, native_thread_id);
#endif
#if PY_VERSION_HEX >= 0x030c0000
	PLACE(tstate_status, PyThreadState, _status);
#endif
#if PY_VERSION_HEX >= 0x030d0000
	PLACE(tstate_frame, PyThreadState, current_frame);
#elif PY_VERSION_HEX >= 0x030b0000
	PLACE(tstate_cframe, PyThreadState, cframe);
	PLACE(tstate_frame, _PyCFrame, current_frame);
	PLACE(cframe_previous, _PyCFrame, previous);
	PLACE(tstate_top, PyThreadState, datastack_top);
	PLACE(tstate_limit, PyThreadState, datastack_limit);
#else
	PLACE(tstate_frame, PyThreadState, frame);
#endif
#if PY_VERSION_HEX >= 0x030b0000
	PLACE(frame_back, _PyInterpreterFrame, previous);
	PLACE(frame_owner, _PyInterpreterFrame, owner);
#if PY_VERSION_HEX >= 0x030d0000
	PLACE(frame_code, _PyInterpreterFrame, f_executable);
	PLACE(frame_instr, _PyInterpreterFrame, instr_ptr);
#else
	PLACE(frame_code, _PyInterpreterFrame, f_code);
	PLACE(frame_instr, _PyInterpreterFrame, prev_instr);
#endif
#if PY_VERSION_HEX < 0x030c0000
	PLACE(frame_entry, _PyInterpreterFrame, is_entry);
#endif
#else
	PLACE(frame_back, PyFrameObject, f_back);
	PLACE(frame_code, PyFrameObject, f_code);
	PLACE(frame_instr, PyFrameObject, f_lasti);
#endif
	PLACE(code_firstlineno, PyCodeObject, co_firstlineno);
	PLACE(code_name, PyCodeObject, co_name);
	PLACE(code_filename, PyCodeObject, co_filename);
#if PY_VERSION_HEX >= 0x030b0000
	PLACE(code_qualname, PyCodeObject, co_qualname);
	PLACE(code_start, PyCodeObject, co_code_adaptive);
#if PY_VERSION_HEX >= 0x030c0000
	PLACE(code_framesize, PyCodeObject, co_framesize);
#else
	PLACE(code_nlocalsplus, PyCodeObject, co_nlocalsplus);
	PLACE(code_stacksize, PyCodeObject, co_stacksize);
#endif
#endif
#if PY_VERSION_HEX >= 0x030a0000
	PLACE(code_linetable, PyCodeObject, co_linetable);
#else
	PLACE(code_linetable, PyCodeObject, co_lnotab);
#endif
	PLACE(object_type, PyObject, ob_type);
	PLACE(type_name, PyTypeObject, tp_name);
	PLACE(bytes_size, PyVarObject, ob_size);
	PLACE(bytes_data, PyBytesObject, ob_sval);
	PLACE(text_length, PyASCIIObject, length);
	PLACE(text_state, PyASCIIObject, state);
	SIZE(text_ascii, sizeof(PyASCIIObject));
	SIZE(text_compact, sizeof(PyCompactUnicodeObject));
	return 0;
}
