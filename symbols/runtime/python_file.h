/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PYTHON_FILE_H
#define STACKTOP_SYMBOLS_RUNTIME_PYTHON_FILE_H

/* Finds CPython in an ELF file, a program or a library: where its state is, and how it is laid out.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/runtime/python_layout.h"

struct elf_file;

struct python_file {
	/* ELF addresses. */
	uint64_t runtime;    /* _PyRuntime */
	uint64_t type;	     /* PyCode_Type */
	uint64_t eval[2][2]; /* [start, end) of _PyEval_EvalFrameDefault and of its cold part; 0:
				none */
	uint32_t version;    /* PY_VERSION_HEX; up to 3.10 without patch level; 0: not known */
	int err;	     /* of python_layout_of; -ENOTSUP also if the version is not known */
	struct python_layout layout;
};

/* name: of the file, which tells the version up to 3.10. False: there is no CPython in it. */
bool python_file_read(const struct elf_file *file, const char *name, struct python_file *out);

#endif
