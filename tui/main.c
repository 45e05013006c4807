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
#include <sys/signalfd.h>
#include <unistd.h>

#include "bpf/check.h"
#include "bpf/dump.h"
#include "symbols/text.h"
#include "tui/batch.h"
#include "tui/command.h"
#include "tui/engine.h"
#include "tui/options.h"
#include "tui/profile.h"
#include "tui/screen.h"

#define WINDOW_SECONDS 10
#define CELLS_MAX      50000
#define ONLINE_CPUS    "/sys/devices/system/cpu/online"
#define EXIT_USAGE     2
#define EXIT_NOT_FOUND 127 /* as shells say it */
#define EXIT_NO_RUN    126

/* Messages quote what was typed, and that may be what another program printed. */
static int complain(const char *text)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), text, strlen(text));
	fprintf(stderr, "stacktop: %s\n", clean);
	return EXIT_FAILURE;
}

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
		 : err == -ENODATA ? "has no call frame information, or was cut short"
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

/* The process that the thread belongs to; 0: there is none, or nothing can be said. */
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

static bool pids_exist(const struct options *options)
{
	for (size_t i = 0; i < options->npids; i++) {
		int pid = (int)options->pids[i], process;

		if (kill(pid, 0) && errno == ESRCH) {
			fprintf(stderr, "stacktop: there is no process %d\n", pid);
			return false;
		}
		process = process_of(pid);
		if (process && process != pid) {
			fprintf(stderr, "stacktop: %d is a thread of process %d, not a process\n",
				pid, process);
			return false;
		}
	}
	return true;
}

/* --- batch ----------------------------------------------------------------------------------- */

static int batch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The first signal asks for the last report, a second one does not wait for it. */
static bool batch_wait(struct engine *engine, int signals, bool *asked)
{
	struct pollfd fds[2] = {{.fd = engine_event_fd(engine), .events = POLLIN},
				{.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	uint64_t n;

	if (poll(fds, 2, -1) < 0 && errno != EINTR)
		return false;
	if (fds[0].revents && read(fds[0].fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return false;
	if (fds[1].revents && read(fds[1].fd, &info, sizeof(info)) > 0) {
		if (*asked)
			return false;
		*asked = true;
		engine_finish(engine);
	}
	return true;
}

static int batch_run(struct profile *profile, struct engine *engine, const struct options *options,
		     int signals)
{
	uint64_t seen = 0, slices, serial = 0;
	bool asked = false, finished = false;
	int err = 0;

	while (!err && !finished && batch_wait(engine, signals, &asked)) {
		finished = engine_finished(engine); /* before: what it committed is seen below */
		slices = engine_slices(engine);
		batch_messages(stderr, profile, &serial);
		if (slices != seen)
			err = batch_report(stdout, profile, options);
		seen = slices;
	}
	if (err && err != -EPIPE) {
		fprintf(stderr, "stacktop: standard output: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* --- sampling -------------------------------------------------------------------------------- */

static int run(struct profile *profile, const struct options *options, struct command *command)
{
	int status = EXIT_FAILURE, err, signals = options->batch ? batch_signals() : -1;
	struct engine *engine;
	char error[1024] = "";
	bool loaded;

	err = engine_new(profile, options, command, &engine, error, sizeof(error));
	loaded = !err;
	if (!err)
		err = engine_start(engine, error, sizeof(error));
	if (err) {
		complain(error);
		if (command && loaded && command_error(command))
			status = command_error(command) == ENOENT ? EXIT_NOT_FOUND : EXIT_NO_RUN;
	} else if (options->batch) {
		status = batch_run(profile, engine, options, signals);
	} else {
		status = screen_run(profile, engine, options);
	}
	engine_free(engine);
	if (signals >= 0)
		close(signals);
	return status;
}

static int sample(const struct options *options)
{
	struct command *command = NULL;
	struct profile *profile;
	char error[1024] = "";
	int status, err;

	if (check_privileges(error, sizeof(error)))
		return complain(error);
	if (!pids_exist(options) || !cpus_exist(options))
		return EXIT_FAILURE;
	profile = profile_new(WINDOW_SECONDS, CELLS_MAX);
	if (!profile)
		return complain(strerror(ENOMEM));
	err = options->command ? command_new(options->command, !options->batch, &command) : 0;
	if (err)
		status = complain(strerror(-err));
	else
		status = run(profile, options, command);
	command_free(command);
	profile_free(profile);
	return status;
}

static int go(const struct options *options)
{
	if (options->check) {
		int err = check_print(stdout);

		return err < 0 ? flush_stdout(EXIT_SUCCESS) : flush_stdout(err);
	}
	if (options->dump_unwind)
		return dump(options->dump_unwind);
	return sample(options);
}

/*
 * The table of a large program takes tens of megabytes on its way. Once glibc has seen one block of
 * that size freed, it keeps such memory in the arena of the thread; a fixed threshold stops that.
 */
static void keep_memory_small(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

int main(int argc, char **argv)
{
	struct options options;
	int status = EXIT_FAILURE;

	keep_memory_small();
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	switch (options_parse(argc, argv, &options, stderr)) {
	case OPTIONS_RUN:
		status = go(&options);
		break;
	case OPTIONS_HELP:
		status = print(options_help);
		break;
	case OPTIONS_VERSION:
		status = print(options_version);
		break;
	case OPTIONS_USAGE:
		status = EXIT_USAGE;
		break;
	case OPTIONS_FAILED:
		break;
	}
	options_free(&options);
	return status;
}
