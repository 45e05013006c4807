/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_OPTIONS_PRIV_H
#define STACKTOP_TUI_OPTIONS_PRIV_H

/* What reading the command line and reading its values share. For options*.c only. */

#include <stdbool.h>
#include <stdio.h>

#include "tui/options.h"

/* The offending argument is quoted as it is, made harmless; it may be long. */
#define SHOWN 128

struct parser {
	struct options *out;
	FILE *err;
};

/* Prints what is wrong and how to get help: OPTIONS_USAGE. */
__attribute__((format(printf, 2, 3))) enum options_result options_usage(struct parser *parser,
									const char *format, ...);

/*
 * Each takes the text of one option into parser->out, or into *out: OPTIONS_RUN, or a message was
 * printed. Texts are not copied. name: of the option.
 */
enum options_result options_take_pids(struct parser *parser, const char *text);
enum options_result options_take_comm(struct parser *parser, const char *text);
enum options_result options_take_user(struct parser *parser, const char *text);
/* What the name of a control group or container is to be compared with. */
enum options_result options_take_group(struct parser *parser, const char *name, const char *text,
				       const char **out);
enum options_result options_take_cpus(struct parser *parser, const char *text);
enum options_result options_take_event(struct parser *parser, const char *text);
/* From 1 on. */
enum options_result options_take_number(struct parser *parser, const char *name, const char *text,
					unsigned int max, unsigned int *out);
enum options_result options_take_delay(struct parser *parser, const char *text);
enum options_result options_take_moment(struct parser *parser, const char *name, const char *text,
					struct replay_time *out);
enum options_result options_take_speed(struct parser *parser, const char *text);
enum options_result options_take_format(struct parser *parser, const char *text, bool *given);
enum options_result options_take_size(struct parser *parser, const char *text);
enum options_result options_take_keys(struct parser *parser, const char *text);

#endif
