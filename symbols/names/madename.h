/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_MADENAME_H
#define STACKTOP_SYMBOLS_NAMES_MADENAME_H

/*
 * What the names of code made at run time say, as V8 and HotSpot write them: the function, its
 * source file and the line where it begins.
 */

#include <stdbool.h>
#include <stdint.h>

#define MADENAME_ROOM 1024u
#define MADENAME_NONE "(anonymous)" /* a function without a name, as V8's own tools say */

enum madename_language { MADENAME_OTHER, MADENAME_JS, MADENAME_JAVA };

struct madename {
	enum madename_language language;
	uint32_t line; /* 0: not said */
	char name[MADENAME_ROOM];
	char file[MADENAME_ROOM]; /* of MADENAME_JAVA: "" */
};

/*
 * text: a line's name in a perf map, or of a process's own description. hotspot: the process runs
 * HotSpot, without which no name is one of Java. False: it is a stub, a builtin or of some other
 * runtime; only out->language is defined then.
 */
bool madename_read(const char *text, bool hotspot, struct madename *out);

/* The path of a file: URL, else what is given. */
const char *madename_path(const char *file);

#endif
