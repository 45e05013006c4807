/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_OPTIONS_PRIV_H
#define STACKTOP_TUI_OPTIONS_PRIV_H

/* Shared by the table of the options (options.c) and what reads their values (options_values.c). */

#include "tui/options.h"

#define SHOWN 128 /* bytes of an argument in a message */

struct parser {
	struct options *out;
	FILE *err;
	const struct option_row *row; /* of the option that is read */
	bool format;		      /* --format was given */
};

/* Prints what is wrong and how to get help. Returns OPTIONS_USAGE. */
__attribute__((format(printf, 2, 3))) enum options_result options_usage(struct parser *parser,
									const char *format, ...);

/* Where the option's value goes. */
static inline void *options_place(const struct parser *parser)
{
	return (char *)parser->out + parser->row->at;
}

/* Each reads the value of its option, see struct option_row. */
enum options_result options_take_pids(struct parser *parser, const char *text);
enum options_result options_take_cpus(struct parser *parser, const char *text);
enum options_result options_take_comm(struct parser *parser, const char *text);
enum options_result options_take_user(struct parser *parser, const char *text);
enum options_result options_take_group(struct parser *parser, const char *text);
enum options_result options_take_event(struct parser *parser, const char *text);
enum options_result options_take_number(struct parser *parser, const char *text);
enum options_result options_take_delay(struct parser *parser, const char *text);
enum options_result options_take_moment(struct parser *parser, const char *text);
enum options_result options_take_speed(struct parser *parser, const char *text);
enum options_result options_take_format(struct parser *parser, const char *text);
enum options_result options_take_frames(struct parser *parser, const char *text);
enum options_result options_take_size(struct parser *parser, const char *text);
enum options_result options_take_keys(struct parser *parser, const char *text);
enum options_result options_take_push(struct parser *parser, const char *text);
enum options_result options_take_every(struct parser *parser, const char *text);
enum options_result options_take_service(struct parser *parser, const char *text);
enum options_result options_take_label(struct parser *parser, const char *text);
enum options_result options_take_listen(struct parser *parser, const char *text);
enum options_result options_take_spool(struct parser *parser, const char *text);

#endif
