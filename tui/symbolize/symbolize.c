// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names addresses without sampling: for users who have addresses from elsewhere, and for the tests,
 * which compare every answer with other tools.
 */
#include "tui/symbolize/symbolize.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/elf/debugfile.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/elf/elffile.h"
#include "symbols/elf/remotedebug.h"
#include "symbols/names/symtab.h"
#include "symbols/base/text.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/symbolize/modules.h"
#include "unwind/funcs.h"

#define LINE_SIZE   128 /* an address takes 18 */
#define INPUT_SIZE  16384
#define FETCHES_MAX 4 /* the debug file, and that of dwz */
#define POLL_NS	    50000000

struct symbolizer {
	struct elf_file *file;
	struct funcs *funcs; /* NULL: not read, or unusable */
	bool funcs_read;
	struct symtab *symtab;
	struct debuginfo *info;	    /* NULL: there is none */
	struct remotedebug *remote; /* NULL: no server is asked */
	FILE *out;
};

/* --- the file -------------------------------------------------------------------------------- */

static void close_file(struct symbolizer *s)
{
	debuginfo_free(s->info);
	symtab_free(s->symtab);
	funcs_free(s->funcs);
	elf_file_free(s->file);
	s->file = NULL;
	s->funcs = NULL;
	s->funcs_read = false;
	s->info = NULL;
	s->symtab = NULL;
}

/*
 * Asks servers for what is missing, but does not wait for it. *trouble: why the debug information
 * is not read, 0 or -ENOENT if it is, or if there is none.
 */
static int open_file(struct symbolizer *s, const char *path, unsigned int debug_memory,
		     int *trouble)
{
	struct debug_place place = {.root = -1, .folder = MODULES_DEBUG_ROOT, .remote = s->remote};
	struct debuginfo_options options = {
		.place = &place, .limit = (size_t)debug_memory << 20, .user = inline_chain_user()};
	struct elf_file *file;
	int err = elf_file_open(path, &s->file);

	if (!err)
		err = elf_file_open(path, &file);
	if (err)
		return err;
	err = symtab_new(file, &place, &s->symtab);
	if (err) {
		elf_file_free(file);
		return err;
	}
	err = debuginfo_new(file, &options, &s->info);
	*trouble = err;
	return err == -ENOMEM ? err : 0;
}

static void show_progress(const struct remotedebug_state *now, FILE *to)
{
	fprintf(to, "\rstacktop: fetching the debug file %.12s, %.1f", now->id,
		(double)now->done / 1e6);
	if (now->total)
		fprintf(to, " of %.1f", (double)now->total / 1e6);
	fprintf(to, " MB\33[K");
	fflush(to);
}

/* Returns how many files have arrived by then. */
static unsigned int wait_for_remote(struct remotedebug *remote, FILE *to)
{
	bool terminal = isatty(fileno(to)), shown = false;
	struct remotedebug_state now;

	remotedebug_state(remote, &now);
	while (now.waiting) {
		if (terminal && now.id[0]) {
			show_progress(&now, to);
			shown = true;
		}
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
		remotedebug_state(remote, &now);
	}
	if (shown)
		fprintf(to, "\r\33[K");
	return now.found;
}

/* What the answers lack. */
static void tell_trouble(const struct symbolizer *s, int trouble, unsigned int debug_memory,
			 FILE *to)
{
	if (trouble == -EFBIG)
		fprintf(to,
			"stacktop: the debug information takes more than %u MiB and is not read; "
			"--debug-memory allows more\n",
			debug_memory);
	else if (trouble && trouble != -ENOENT)
		fprintf(to, "stacktop: the debug information cannot be read: %s\n",
			trouble == -EINVAL ? "it is broken" : strerror(-trouble));
	else if (s->info && debuginfo_lacks_alternate(s->info))
		fprintf(to,
			"stacktop: the file that dwz has moved names to is missing: some inlined "
			"functions have no name\n");
}

/* A debug file may name another one, which is asked for once the first is there. */
static int open_with_remote(struct symbolizer *s, const char *path, unsigned int debug_memory,
			    FILE *to)
{
	unsigned int found = 0, before;
	int err = 0, turn = 0, trouble = 0;

	do {
		close_file(s);
		before = found;
		err = open_file(s, path, debug_memory, &trouble);
		if (!err && s->remote)
			found = wait_for_remote(s->remote, to);
	} while (!err && found != before && ++turn < FETCHES_MAX);
	if (!err)
		tell_trouble(s, trouble, debug_memory, to);
	return err;
}

/* --- names ----------------------------------------------------------------------------------- */

/* Of symtab_extents. */
static bool symbol_reaches(void *arg, uint64_t start, uint64_t vaddr)
{
	struct symbolizer *s = arg;

	if (!s->funcs_read)
		funcs_new(s->file, &s->funcs);
	s->funcs_read = true;
	return !s->funcs || funcs_reaches(s->funcs, start, vaddr);
}

/*
 * The symbol's name, if there is one: it tells the parts of a split function apart. *guess: see
 * inline_chain_read.
 */
static int symbol_name(struct symbolizer *s, uint64_t vaddr, char **name, uint64_t *guess)
{
	const struct symtab_extents extents = {symbol_reaches, s};
	struct symbol symbol;
	char *plain;

	*name = NULL;
	*guess = 0;
	if (symtab_find_within(s->symtab, vaddr, &extents, &symbol))
		return 0;
	if (symbol.guessed)
		*guess = symbol.start;
	plain = symtab_demangle(s->symtab, symbol.name);
	*name = plain ? text_clean_dup(plain) : NULL;
	free(plain);
	return *name ? 0 : -ENOMEM;
}

static void print_frame(FILE *out, const char *name, const struct inline_chain_frame *frame)
{
	fprintf(out, "\t%s\t", name ? name : "?");
	if (!frame || !frame->file)
		fprintf(out, "?\n");
	else if (!frame->line)
		fprintf(out, "%s:?\n", frame->file);
	else
		fprintf(out, "%s:%u\n", frame->file, frame->line);
}

static int print_address(struct symbolizer *s, const char *text, uint64_t vaddr)
{
	struct inline_chain *calls;
	uint64_t guess;
	char *symbol;
	int err = symbol_name(s, vaddr, &symbol, &guess);

	if (!err)
		err = inline_chain_read(s->info, vaddr, guess, &calls);
	if (err) {
		free(symbol);
		return err;
	}
	fprintf(s->out, "%s", text);
	for (uint32_t i = 0; calls && i < calls->count; i++) {
		bool by_symbol = i + 1 == calls->count && symbol && !calls->renames;

		print_frame(s->out, by_symbol ? symbol : calls->frames[i].name, &calls->frames[i]);
	}
	if (!calls)
		print_frame(s->out, symbol, NULL);
	free(calls);
	free(symbol);
	return 0;
}

struct symbolize_input {
	int fd;
	int err;
	size_t at, end; /* bytes that are not used yet */
	char bytes[INPUT_SIZE];
};

/* -1 at the end. Flushes all answers before waiting for input. */
static int input_char(struct symbolize_input *in, FILE *out)
{
	ssize_t n;

	if (in->at < in->end)
		return (unsigned char)in->bytes[in->at++];
	fflush(out);
	do
		n = read(in->fd, in->bytes, sizeof(in->bytes));
	while (n < 0 && errno == EINTR);
	in->err = n < 0 ? -errno : 0;
	in->at = 0;
	in->end = n > 0 ? (size_t)n : 0;
	return in->end ? (unsigned char)in->bytes[in->at++] : -1;
}

/* The line without blanks around it; bytes that do not fit in the buffer are dropped. */
static bool read_line(struct symbolize_input *in, FILE *out, char line[LINE_SIZE])
{
	int c = input_char(in, out);
	size_t length = 0;

	if (c < 0)
		return false;
	for (; c >= 0 && c != '\n'; c = input_char(in, out))
		if (length < LINE_SIZE - 1 && (length || !isspace(c)))
			line[length++] = (char)c;
	line[length] = '\0';
	length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	return true;
}

static bool parse_address(const char *text, uint64_t *vaddr)
{
	const char *digits = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 2 : text;
	char *end;

	if (!isxdigit((unsigned char)*digits))
		return false;
	errno = 0;
	*vaddr = strtoull(digits, &end, 16);
	return !*end && !errno;
}

static int print_all(struct symbolizer *s, struct symbolize_input *in, FILE *to)
{
	char line[LINE_SIZE], clean[LINE_SIZE];
	unsigned long number = 0;
	int err = 0, bad = 0;
	uint64_t vaddr;

	while (!err && !ferror(s->out) && read_line(in, s->out, line)) {
		number++;
		if (parse_address(line, &vaddr)) {
			err = print_address(s, line, vaddr);
		} else if (line[0]) {
			text_clean(clean, sizeof(clean), line, strlen(line));
			fflush(s->out);
			fprintf(to, "stacktop: line %lu: `%s' is not a hexadecimal address\n",
				number, clean);
			fprintf(s->out, "?\t?\t?\n");
			bad = -EBADMSG;
		}
	}
	fflush(s->out);
	if (!err)
		err = in->err;
	return err ? err : bad;
}

int symbolize(const char *path, const struct symbolize_options *options, int in, FILE *out,
	      FILE *err)
{
	struct symbolizer s = {.out = out};
	struct symbolize_input input = {.fd = in};
	int result = options->debuginfod ? remotedebug_new(&s.remote) : 0;

	if (result)
		fprintf(err, "stacktop: warning: --debuginfod: %s\n", remotedebug_trouble(result));
	result = open_with_remote(&s, path, options->debug_memory, err);
	if (!result)
		result = print_all(&s, &input, err);
	close_file(&s);
	remotedebug_free(s.remote);
	return result;
}
