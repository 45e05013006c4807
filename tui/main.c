/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edge: here errors become messages and exit statuses, and nowhere else. What can be found
 * wrong is found before anything is loaded or a screen is taken.
 */
#include <errno.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bpf/report/check.h"
#include "bpf/sampler/kernelinfo.h"
#include "bpf/report/dump.h"
#include "bpf/sampler/sizes.h"
#include "symbols/base/clock.h"
#include "symbols/base/memory.h"
#include "symbols/base/text.h"
#include "symbols/base/thread.h"
#include "tui/export/batch.h"
#include "tui/agent_run.h"
#include "tui/arguments.h"
#include "tui/collect/child.h"
#include "tui/collect/collector.h"
#include "tui/complain.h"
#include "tui/diff.h"
#include "tui/profile/source.h"
#include "tui/push/push.h"
#include "tui/reports.h"
#include "tui/export/export.h"
#include "tui/leave.h"
#include "tui/options.h"
#include "tui/rights.h"
#include "tui/util/outfile.h"
#include "tui/app/dispatch.h"
#include "tui/app/plain.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/session/player.h"
#include "tui/app/screen.h"
#include "tui/app/screenshot.h"
#include "tui/symbolize/symbolize.h"
#include "tui/screen/theme.h"
#include "tui/ui/scrub.h"
#include "tui/ui/themes.h"

#define CELLS_MAX      50000
#define CELLS_REPLAYED 500000 /* a file of another profiler may be one slice of all */
#define DESCRIPTORS    65536
#define ONLINE_CPUS    "/sys/devices/system/cpu/online"
#define EXIT_USAGE     2
#define EXIT_NOT_FOUND 127 /* the status of shells */
#define EXIT_NO_RUN    126

/* --- what needs no sampling ------------------------------------------------------------------ */

static int flush_stdout(int status)
{
	if (fflush(stdout) && errno != EPIPE) {
		fprintf(stderr, "stacktop: standard output: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	return status;
}

static int print(void (*what)(FILE *to))
{
	what(stdout);
	return flush_stdout(EXIT_SUCCESS);
}

static int dump(const char *path)
{
	int err = dump_unwind(path, stdout, stderr);
	char message[1024];

	if (!err || ferror(stdout))
		return flush_stdout(EXIT_SUCCESS);
	snprintf(message, sizeof(message), "%s: %s", path,
		 err == -EINVAL	   ? "not an ELF file, or its tables are broken"
		 : err == -E2BIG   ? "has more call frame information than any real file"
		 : err == -ENODATA ? "has no call frame information, or was cut short"
				   : strerror(-err));
	return complain(message);
}

static int name_addresses(const struct options *options)
{
	struct symbolize_options how = {options->debug_memory, options->debuginfod};
	int err = symbolize(options->symbolize, &how, STDIN_FILENO, stdout, stderr);
	char message[1024];

	if (!err || err == -EBADMSG || ferror(stdout))
		return flush_stdout(err ? EXIT_FAILURE : EXIT_SUCCESS);
	snprintf(message, sizeof(message), "%s: %s", options->symbolize,
		 err == -EINVAL	   ? "not an ELF file, or a broken one"
		 : err == -ENOTSUP ? "an ELF file for another kind of machine"
				   : strerror(-err));
	return complain(message);
}

/* --- what the options name exists ------------------------------------------------------------ */

static bool cpu_in_list(const char *list, unsigned long cpu)
{
	unsigned long from, to;
	char *end;

	for (;;) {
		from = to = strtoul(list, &end, 10);
		if (end == list)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (cpu >= from && cpu <= to)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
}

static bool cpus_exist(const struct options *options)
{
	char online[4096] = "";
	FILE *file = options->ncpus ? fopen(ONLINE_CPUS, "re") : NULL;
	bool known;

	if (!file)
		return true;
	known = fgets(online, sizeof(online), file) != NULL;
	fclose(file);
	for (size_t i = 0; known && i < options->ncpus; i++)
		if (!cpu_in_list(online, options->cpus[i])) {
			online[strcspn(online, "\n")] = '\0';
			fprintf(stderr, "stacktop: there is no CPU %u online (there are %s)\n",
				options->cpus[i], online);
			return false;
		}
	return true;
}

/* The process that the thread belongs to; 0: none, or not known. */
static int process_of(int tid)
{
	char path[64], line[256];
	int tgid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!tgid && fgets(line, sizeof(line), file))
		if (!strncmp(line, "Tgid:", 5))
			tgid = (int)strtol(line + 5, NULL, 10);
	fclose(file);
	return tgid;
}

/* A process may end while a person types its number: those that are left are sampled. */
static void tell_absent(const char *list, size_t n, char *text, size_t size)
{
	snprintf(text, size, "there %s %s: the others of -p are sampled",
		 n == 1 ? "is no process" : "are no processes", list);
}

/*
 * Removes those that do not exist from options->pids, and says which in text (empty: none). False:
 * none is left, or one is a thread; a message was written.
 */
static bool pids_exist(struct options *options, char *text, size_t size)
{
	size_t kept = 0, absent = 0, all = options->npids, length = 0;
	char list[256] = "";

	*text = '\0';
	for (size_t i = 0; i < all; i++) {
		int pid = (int)options->pids[i], process;

		if (kill(pid, 0) && errno == ESRCH) {
			if (length < sizeof(list))
				length += snprintf(list + length, sizeof(list) - length, "%s%d",
						   absent ? ", " : "", pid);
			absent++;
			continue;
		}
		process = process_of(pid);
		if (process && process != pid) {
			fprintf(stderr, "stacktop: %d is a thread of process %d, not a process\n",
				pid, process);
			return false;
		}
		options->pids[kept++] = options->pids[i];
	}
	options->npids = kept;
	if (absent && !kept)
		fprintf(stderr, "stacktop: there is no process %s\n", list);
	else if (absent)
		tell_absent(list, absent, text, size);
	return kept || !all;
}

/* --- sampling -------------------------------------------------------------------------------- */

/* Each object that a process maps takes up to three. COMMAND was forked before. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* All output is complete but for a recording: if that is not whole, the run has failed. */
static int leave(struct source *source, struct child *command, int status)
{
	char error[1024];
	int err;

	/* Once more, since child_free may not be reached. */
	if (command && child_status(command) < 0)
		child_signal(command, SIGTERM);
	err = source_stop(source, leave_ms(), error, sizeof(error));
	if (err == -ETIME)
		leave_now(status);
	if (*error)
		complain(error);
	if (err && status == EXIT_SUCCESS)
		status = EXIT_FAILURE;
	if (thread_is_stuck())
		leave_now(status);
	leave_within(leave_ms(), status);
	source_free(source);
	return status;
}

static int show(struct profile *profile, struct source *source, struct push *push,
		const struct options *options, int signals)
{
	struct ui_options ui = options_ui(options);
	const struct screenshot_options screenshot = options_screenshot(options);

	ui.push = push;
	if (options->screenshot)
		return screenshot_run(profile, source, &ui, &screenshot);
	return options->plain ? plain_run(profile, source, &ui, signals)
			      : screen_run(profile, source, &ui);
}

static int not_begun(struct child *command, const char *error)
{
	complain(error);
	if (!command || !child_error(command))
		return EXIT_FAILURE;
	return child_error(command) == ENOENT ? EXIT_NOT_FOUND : EXIT_NO_RUN;
}

static int start_push(struct push **push, struct profile *profile, const struct options *options)
{
	char error[512] = "";
	int err;

	if (options->batch)
		push_keep(profile, &options->push);
	err = push_start(push, profile, &options->push,
			 options->batch ? PUSH_BY_CALLER : PUSH_BY_THREAD, error, sizeof(error));
	if (err)
		complain(error);
	return err;
}

/* The collector or a player. err: what opening it said. */
static int open_source(struct profile *profile, const struct collector_options *collector_options,
		       const struct player_options *player_options, struct child *command,
		       struct source **source, char *error, size_t size)
{
	struct collector *collector = NULL;
	int err;

	*source = NULL;
	if (player_options->path)
		return player_new(profile, player_options, source, error, size);
	err = collector_new(profile, collector_options, command, &collector, error, size);
	if (collector)
		*source = collector_source(collector);
	return err ? err : collector_start(collector, error, size);
}

/* What a run is made of; each is NULL where there is none. */
struct run_parts {
	struct profile *profile;
	const struct options *options;
	const struct agent_command *typed;
	struct child *command;
	struct outfile *file;
	struct source *source;
	struct push *push;
	int signals;
};

/* Until its end, with what it owns of the run. */
static int run_source(struct run_parts *r)
{
	uint64_t serial = 0;
	int status;

	if (r->options->agent)
		return agent_run(r->profile, r->source, r->push, r->options, r->typed, r->signals);
	if (r->options->batch) {
		status = reports_run(r->profile, r->source, r->command, r->push, r->options,
				     r->file, r->signals, &serial);
		r->file = NULL;
	} else {
		status = show(r->profile, r->source, r->push, r->options, r->signals);
		if (r->source && r->source->failed)
			status = not_begun(r->command, r->source->failure);
		/* The screen has shown what is on the board. */
		while (board_next(profile_board(r->profile), &serial, &(struct board_message){0}))
			;
	}
	if (r->push &&
	    !reports_end_push(r->push, r->profile, &serial,
			      r->options->batch ? PUSH_END_MS : leave_ms()) &&
	    status == EXIT_SUCCESS)
		status = EXIT_FAILURE;
	return status;
}

static int run(struct run_parts *r)
{
	const struct options *options = r->options;
	const struct collector_options collector_options = options_collector(options);
	const struct player_options player_options = options_player(options);
	char error[1024] = "";
	int status = EXIT_FAILURE;

	r->signals = options->batch || options->plain ? reports_signals() : -1;
	allow_descriptors();
	/* Before the first slice: what is not kept by then is gone. */
	if (!options->batch) {
		profile_lock(r->profile);
		profile_keep(r->profile, SCRUB_SECONDS, memory_limit(MEMORY_HISTORY));
		profile_unlock(r->profile);
	}
	if (options->push.url && start_push(&r->push, r->profile, options)) {
		outfile_abandon(r->file);
		return EXIT_FAILURE;
	}
	if (!open_source(r->profile, &collector_options, &player_options, r->command, &r->source,
			 error, sizeof(error))) {
		status = run_source(r);
	} else {
		push_end(r->push, 0);
		status = not_begun(r->command, error);
	}
	/* How the command ended is how this ends. */
	if (r->command && status == EXIT_SUCCESS && child_status(r->command) > 0)
		status = child_status(r->command);
	outfile_abandon(r->file);
	status = leave(r->source, r->command, status);
	if (r->signals >= 0)
		close(r->signals);
	return status;
}

static enum child_streams child_streams(const struct options *options)
{
	if (options->plain)
		return CHILD_APART;
	if (!options->batch)
		return CHILD_QUIET;
	return options->at_end || options->output ? CHILD_PLAIN : CHILD_ASIDE;
}

static int sample(struct options *options, const struct agent_command *typed)
{
	char absent[512] = "";
	struct child *command = NULL;
	struct outfile *file = NULL;
	struct profile *profile;
	char error[1024] = "";
	int status, err;

	if (!options->replay && check_privileges(error, sizeof(error))) {
		complain(error);
		if (!strncmp(error, "CAP_", 4)) /* not an old kernel */
			rights_ways(stderr);
		return EXIT_FAILURE;
	}
	if (!options->replay && kernelinfo_hang_warning() && !options->force) {
		snprintf(error, sizeof(error), "%s; --force goes on although it may",
			 kernelinfo_hang_warning());
		return complain(error);
	}
	if (!pids_exist(options, absent, sizeof(absent)) || !cpus_exist(options))
		return EXIT_FAILURE;
	profile = profile_new(PROFILE_WINDOW, options->replay ? CELLS_REPLAYED : CELLS_MAX);
	if (!profile)
		return complain(strerror(ENOMEM));
	if (*absent) {
		board_message(profile_board(profile), MESSAGE_WARNING, "%s", absent);
		if (!options->batch) /* a report has the messages of the board, too */
			complain(absent);
	}
	if (options->batch && reports_open(options, &file)) {
		profile_free(profile);
		return EXIT_FAILURE;
	}
	err = options->command ? child_new(options->command, child_streams(options), &command) : 0;
	if (err) {
		outfile_abandon(file);
		status = complain(strerror(-err));
	} else {
		status = run(&(struct run_parts){.profile = profile,
						 .options = options,
						 .typed = typed,
						 .command = command,
						 .file = file});
	}
	child_free(command);
	profile_free(profile);
	leave_done();
	return status;
}

static int compare(const struct options *options)
{
	struct board *messages = board_new();
	struct outfile *file = NULL;
	struct theme *theme = NULL;
	char error[1024] = "";
	int err;

	if (!messages)
		return complain(strerror(ENOMEM));
	err = themes_open(&theme, options->theme, messages);
	board_free(messages);
	if (err)
		return EXIT_FAILURE;
	err = options->output ? outfile_open(options->output, &file) : 0;
	if (!err)
		err = diff_write(file ? outfile_stream(file) : stdout, options, theme, error,
				 sizeof(error));
	theme_free(theme);
	if (err)
		outfile_abandon(file);
	else if (file)
		err = outfile_commit(file);
	if (*error)
		return complain(error);
	return err && err != -EPIPE ? reports_complain(options, err) : EXIT_SUCCESS;
}

static int go(struct options *options, const struct agent_command *typed)
{
	if (options->check) {
		int err = check_print(stdout);

		return err < 0 ? flush_stdout(EXIT_SUCCESS) : flush_stdout(err);
	}
	if (options->dump_unwind)
		return dump(options->dump_unwind);
	if (options->symbolize)
		return name_addresses(options);
	if (options->diff[0])
		return compare(options);
	return sample(options, typed);
}

/* What is not given is as much as there is room for. */
static void plan_memory(struct options *options)
{
	struct memory_given given = {
		.tables = (uint64_t)options->memory << 20,
		.debug = (uint64_t)options->debug_memory << 20,
	};
	struct memory_plan plan;

	/* An agent has the least of each part. */
	memory_plan(&plan, options->agent ? 0 : memory_available(), memlock_expected(), &given);
	if (options->agent)
		memory_plan_shrink(&plan);
	memory_use(&plan);
	options->memory = (unsigned int)(memory_limit(MEMORY_TABLES) >> 20);
	options->debug_memory = (unsigned int)(memory_limit(MEMORY_DEBUG) >> 20);
}

int main(int argc, char **argv)
{
	const struct agent_command typed = {argc, argv};
	struct arguments arguments;
	struct options options = {0};
	char error[512] = "";
	int status = EXIT_FAILURE;

#ifdef M_MMAP_THRESHOLD
	/*
	 * The table of a large program takes tens of megabytes on its way. Once glibc has seen one
	 * block of that size freed, it keeps such memory in the arena of the thread; a fixed
	 * threshold stops that.
	 */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* what is beyond ulimit -f is an error of write(2) */
	push_secrets_keep();
	if (arguments_merge(argc, argv, NULL, &arguments, error, sizeof(error))) {
		complain(error);
		return EXIT_USAGE;
	}
	switch (options_parse(arguments.argc, arguments.argv, &options, stderr)) {
	case OPTIONS_RUN:
		plan_memory(&options);
		status = go(&options, &typed);
		break;
	case OPTIONS_HELP:
		status = print(options_help);
		break;
	case OPTIONS_VERSION:
		status = print(options_version);
		break;
	case OPTIONS_USAGE:
		arguments_blame(&arguments);
		status = EXIT_USAGE;
		break;
	case OPTIONS_FAILED:
		break;
	}
	options_free(&options);
	arguments_free(&arguments);
	return status;
}
