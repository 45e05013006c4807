/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_LANGUAGE_H
#define STACKTOP_TUI_PROFILE_LANGUAGE_H

/* Interpreted languages, as screens, reports, files and filters name them. */

#include "tui/profile/profile.h"

/* Kind, mark, name. The mark is that of files in the language, in at most four characters. */
#define LANGUAGES(X)                                                                               \
	X(FUNC_PYTHON, "py", "Python")                                                             \
	X(FUNC_PHP, "php", "PHP")                                                                  \
	X(FUNC_PERL, "pl", "Perl")                                                                 \
	X(FUNC_RUBY, "rb", "Ruby")                                                                 \
	X(FUNC_JS, "js", "JavaScript")                                                             \
	X(FUNC_JAVA, "java", "Java")

/* "py", "Python"; NULL: the function is of no language. */
const char *language_mark(enum func_kind kind);
const char *language_name(enum func_kind kind);
/* The module; of a language, whose modules are source files, without its folders. */
const char *language_module(enum func_kind kind, const char *module);

#endif
