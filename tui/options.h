/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_OPTIONS_H
#define STACKTOP_TUI_OPTIONS_H

/*
 * The command line. One table holds every option: the parser, --help and the test that compares
 * them with the manual read it. After options_parse the struct is constant and shared by all
 * threads without a lock.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "tui/export/export.h"
#include "tui/push/target.h"
#include "tui/query/query.h"
#include "tui/session/player.h"

struct collector_options;
struct event;
struct screenshot_options;
struct ui_options;

struct options {
	pid_t *pids; /* -p: ascending, each once; NULL: every process */
	size_t npids;
	const char *comm;   /* --comm as given; NULL: any name */
	regex_t comm_regex; /* compiled with REG_EXTENDED | REG_NOSUB; valid when comm is set */
	bool user_given;    /* -u */
	uid_t user;
	const char *cgroup;    /* -G; NULL: any */
	const char *container; /* NULL: any, or none */
	unsigned int *cpus;    /* -C: ascending, each once; NULL: every online CPU */
	size_t ncpus;
	unsigned int frequency; /* Hz */
	const struct event *event;
	enum measure measure;	/* of the samples of that, or of waits */
	unsigned int min_block; /* us */
	double delay;		/* seconds between refreshes */
	bool delay_given;
	bool by_cpu; /* samples are counted per CPU from the start */
	bool no_kernel;
	bool no_user;
	enum frames_mode frames;
	bool frames_given;
	bool batch;
	bool plain;  /* lines instead of a screen */
	bool at_end; /* a report of all at the end of the command instead of one for each refresh */
	unsigned int iterations; /* refreshes until the end; 0: until stopped */
	enum file_format format;
	const char *diff[2];	     /* what is compared, the older one first; NULL: not given */
	const char *output;	     /* -o; NULL: standard output */
	const char *record;	     /* a path; NULL: not given */
	const char *replay;	     /* likewise */
	const char *baseline;	     /* likewise */
	struct replay_time from, to; /* of the replay */
	double speed;		     /* of the replay */
	unsigned int memory;	     /* MiB for unwind tables; 0: not given */
	unsigned int debug_memory;   /* MiB for debug information; 0: not given */
	bool debuginfod;
	bool no_inline;
	struct push_options push; /* url NULL: nothing is sent */
	const char *config;	  /* a path; NULL: not given. arguments.h has read it */
	const char *listen;	  /* an address; NULL: none */
	bool agent;		  /* batch is set, too, and nothing is reported */
	const char *dump_unwind;  /* a path; NULL: not given */
	const char *symbolize;	  /* likewise */
	bool check;
	bool force; /* although the kernel is known to hang */
	bool ascii;
	bool no_color;
	bool no_mouse;
	const char *theme;	 /* NULL: the default */
	const char *screenshot;	 /* a path to write; NULL: not given */
	const char *keys;	 /* names of keys with blanks between; NULL: none */
	unsigned int cols, rows; /* of the screenshot; 0: as is usual */
	char **command;		 /* NULL-terminated arguments after the options; NULL: none */
};

enum options_result {
	OPTIONS_RUN,	 /* go on */
	OPTIONS_HELP,	 /* the caller prints options_help to stdout, exit 0 */
	OPTIONS_VERSION, /* the caller prints options_version to stdout, exit 0 */
	OPTIONS_USAGE,	 /* the message was written to err, exit 2 */
	OPTIONS_FAILED,	 /* no memory; the message was written to err, exit 1 */
};

/*
 * Fills *out; strings and command point into argv. options_free is right after every result. Uses
 * getopt_long, so only one thread may parse at a time.
 */
enum options_result options_parse(int argc, char **argv, struct options *out, FILE *err);
void options_free(struct options *options);

/* What each part of the program gets of it. The structs point into the options. */
struct ui_options options_ui(const struct options *o);
struct screenshot_options options_screenshot(const struct options *o);
struct collector_options options_collector(const struct options *o);
struct player_options options_player(const struct options *o);
/* Of the last slice, with the frames that are not hidden. */
struct query options_query(const struct options *o);

void options_help(FILE *to);
void options_version(FILE *to);

struct parser;

struct option_row {
	int letter;	  /* -p; 0: there is only the long form */
	const char *name; /* "pid", for --pid */
	const char *arg;  /* "LIST"; NULL: takes none */
	const char *help; /* one sentence without a full stop */
	/*
	 * Reads the value: OPTIONS_RUN, or a message was printed. NULL: a bool says that the option
	 * was given, or the text of its argument is kept as it is, for the code that uses it.
	 */
	enum options_result (*take)(struct parser *parser, const char *text);
	unsigned int max;	    /* of a number */
	size_t at;		    /* in struct options, where the value goes */
	enum options_result result; /* OPTIONS_RUN, or the option is all that counts */
};

const struct option_row *options_table(size_t *count);

#endif
