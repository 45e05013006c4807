// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The shipped themes as part of the program. The assembler includes the files, which are found
 * from the top of the tree, where make runs: no generated source, no rule of its own.
 */
#include "tui/screen/theme.h"

#include <string.h>

#define THEME_EMBED(symbol, path)                                                                  \
	__asm__(".pushsection .rodata\n"                                                           \
		"theme_text_" symbol ":\n"                                                         \
		".incbin \"" path "\"\n"                                                           \
		"theme_end_" symbol ":\n"                                                          \
		".byte 0\n"                                                                        \
		".popsection\n");

#define THEMES(X)                                                                                  \
	X(default_dark, "default")                                                                 \
	X(light, "light")                                                                          \
	X(mono, "mono")                                                                            \
	X(high_contrast, "high-contrast")                                                          \
	X(deuteranopia, "deuteranopia")                                                            \
	X(nord, "nord")                                                                            \
	X(solarized, "solarized")

#define THEME_ASM(id, name) THEME_EMBED(#id, "themes/" name ".theme")
THEMES(THEME_ASM)
#undef THEME_ASM

#define THEME_EXTERN(id, name)                                                                     \
	extern __attribute__((visibility("hidden"))) const char theme_text_##id[], theme_end_##id[];
THEMES(THEME_EXTERN)
#undef THEME_EXTERN

#define THEME_NAME(id, name) name,
static const char *const names[] = {THEMES(THEME_NAME) NULL};
#undef THEME_NAME

const char *const *theme_embedded(void)
{
	return names;
}

const char *theme_embedded_text(const char *name, size_t *length)
{
#define THEME_FIND(id, known)                                                                      \
	if (strcmp(name, known) == 0) {                                                            \
		*length = (size_t)(theme_end_##id - theme_text_##id);                              \
		return theme_text_##id;                                                            \
	}
	THEMES(THEME_FIND)
#undef THEME_FIND
	return NULL;
}
