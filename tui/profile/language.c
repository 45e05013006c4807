/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See language.h. */
#include "tui/profile/language.h"

#include <string.h>

const char *language_mark(enum func_kind kind)
{
	switch (kind) {
#define LANGUAGE_MARK(id, mark, name)                                                              \
	case id:                                                                                   \
		return mark;
		LANGUAGES(LANGUAGE_MARK)
#undef LANGUAGE_MARK
	default:
		return NULL;
	}
}

const char *language_name(enum func_kind kind)
{
	switch (kind) {
#define LANGUAGE_NAME(id, mark, name)                                                              \
	case id:                                                                                   \
		return name;
		LANGUAGES(LANGUAGE_NAME)
#undef LANGUAGE_NAME
	default:
		return NULL;
	}
}

const char *language_module(enum func_kind kind, const char *module)
{
	const char *slash = func_is_language(kind) ? strrchr(module, '/') : NULL;

	return slash && slash[1] ? slash + 1 : module;
}
