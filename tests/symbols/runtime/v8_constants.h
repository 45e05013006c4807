/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SYMBOLS_RUNTIME_V8_CONSTANTS_H
#define STACKTOP_TESTS_SYMBOLS_RUNTIME_V8_CONSTANTS_H

/* Constants as node 18 (Debian's), 20, 22 and 24 have them: V8 10.2, 11.3, 12.4 and 13.6. */

#include <stdint.h>

#define V8_VERSIONS 4
#define NONE	    INT32_MIN

static const struct {
	const char *name;
	int32_t value[V8_VERSIONS];
} v8_constants[] = {
	{"v8dbg_ConsStringTag", {1, 1, 1, 1}},
	{"v8dbg_ExternalStringTag", {2, 2, 2, 2}},
	{"v8dbg_FirstContextType", {207, 205, 190, 220}},
	{"v8dbg_FirstNonstringType", {128, 128, 128, 128}},
	{"v8dbg_HeapObjectTag", {1, 1, 1, 1}},
	{"v8dbg_HeapObjectTagMask", {3, 3, 3, 3}},
	{"v8dbg_LastContextType", {216, 214, 199, 229}},
	{"v8dbg_LastJSFunctionType", {NONE, NONE, 2082, 2081}},
	{"v8dbg_OneByteStringTag", {8, 8, 8, 8}},
	{"v8dbg_SeqStringTag", {0, 0, 0, 0}},
	{"v8dbg_SlicedStringTag", {3, 3, 3, 3}},
	{"v8dbg_SmiShiftSize", {31, 31, 31, 31}},
	{"v8dbg_SmiTag", {0, 0, 0, 0}},
	{"v8dbg_StringEncodingMask", {8, 8, 8, 8}},
	{"v8dbg_StringRepresentationMask", {7, 7, 7, 7}},
	{"v8dbg_TaggedSize", {8, 8, 8, 8}},
	{"v8dbg_ThinStringTag", {5, 5, 5, 5}},
	{"v8dbg_class_ConsString__first__String", {16, 16, 16, 16}},
	{"v8dbg_class_ConsString__second__String", {24, 24, 24, 24}},
	{"v8dbg_class_ExternalString__resource__Object", {16, 16, 16, 16}},
	{"v8dbg_class_JSFunction__shared__SharedFunctionInfo", {24, 24, 32, 32}},
	{"v8dbg_class_Map__instance_type__uint16_t", {12, 12, 12, 12}},
	{"v8dbg_class_Script__line_ends__Object", {56, 56, 56, 56}},
	{"v8dbg_class_Script__name__Object", {16, 16, 16, 16}},
	{"v8dbg_class_Script__source__Object", {8, 8, 8, 8}},
	{"v8dbg_class_SeqOneByteString__chars__char", {16, 16, 16, 16}},
	{"v8dbg_class_SeqTwoByteString__chars__char", {16, 16, 16, 16}},
	{"v8dbg_class_SharedFunctionInfo__flags__int", {48, 48, 48, 56}},
	{"v8dbg_class_SharedFunctionInfo__length__uint16_t", {40, 40, 40, 48}},
	{"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object", {16, 16, NONE, NONE}},
	{"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
	 {NONE, NONE, NONE, 24}},
	{"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
	 {NONE, NONE, 16, NONE}},
	{"v8dbg_class_SharedFunctionInfo__raw_script__Tagged_Object_", {NONE, NONE, 32, 40}},
	{"v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_", {NONE, NONE, 32, 40}},
	{"v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject", {32, 32, NONE, NONE}},
	{"v8dbg_class_SlicedString__offset__SMI", {24, 24, 24, 24}},
	{"v8dbg_class_SlicedString__parent__String", {16, 16, 16, 16}},
	{"v8dbg_class_String__length__int32_t", {12, 12, 12, 12}},
	{"v8dbg_class_ThinString__actual__String", {16, 16, 16, 16}},
	{"v8dbg_off_fp_context_or_frame_type", {-8, -8, -8, -8}},
	{"v8dbg_off_fp_function", {-16, -16, -16, -16}},
	{"v8dbg_scopeinfo_idx_first_vars", {3, 3, 3, 5}},
	{"v8dbg_scopeinfo_idx_ncontextlocals", {2, 2, 2, 2}},
	{"v8dbg_type_JSFunction__JS_FUNCTION_TYPE", {2065, 2066, 2066, 2065}},
	{"v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", {256, 261, 272, 280}},
	{"v8dbg_type_Script__SCRIPT_TYPE", {170, 167, 167, 167}},
	{"v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", {257, 262, 274, 282}},
};

#endif
