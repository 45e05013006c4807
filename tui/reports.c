// SPDX-License-Identifier: GPL-2.0-or-later
/* See reports.h. */
#include "tui/reports.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "tui/collect/child.h"
#include "tui/complain.h"
#include "tui/export/batch.h"
#include "tui/export/export.h"
#include "tui/leave.h"
#include "tui/options.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/profile/source.h"
#include "tui/push/push.h"
#include "tui/screen/theme.h"
#include "tui/ui/themes.h"
#include "tui/util/outfile.h"

#define LAST_REPORT_MS 30000 /* after the signal */

int reports_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool reports_end_push(struct push *push, struct profile *profile, uint64_t *serial, unsigned int ms)
{
	bool whole = push_end(push, ms > leave_ms() ? ms : leave_ms());

	batch_messages(stderr, profile, serial);
	return whole;
}

static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/*
 * The first signal asks for the last report, a second one does not wait for it. A command gets the
 * first one, unless the terminal gave it to both, and the report comes when that has ended it.
 */
static bool batch_wait(struct source *source, struct child *command, int signals, uint64_t *asked)
{
	struct pollfd fds[2] = {{.fd = source->event, .events = POLLIN},
				{.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	uint64_t n;
	int left = -1;

	/* A command may take as long as it likes. */
	if (*asked && !command) {
		n = now_ms() - *asked;
		left = n < LAST_REPORT_MS ? (int)(LAST_REPORT_MS - n) : 0;
	}
	if (!left)
		complain("the last report did not come in time");
	if (!left || (poll(fds, 2, left) < 0 && errno != EINTR))
		return false;
	if (fds[0].revents && read(fds[0].fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return false;
	if (fds[1].revents && read(fds[1].fd, &info, sizeof(info)) > 0) {
		if (*asked)
			return false;
		*asked = now_ms();
		if (!command)
			source_finish(source);
		else if (info.ssi_code != SI_KERNEL)
			child_signal(command, (int)info.ssi_signo);
	}
	return true;
}

/* Reports until the end. */
static int batch_loop(struct profile *profile, struct source *source, struct child *command,
		      struct push *push, const struct options *options, struct exporter *exporter,
		      int signals, uint64_t *serial)
{
	struct query q = options_query(options);
	/* A file of all refreshes takes them as they come. */
	bool streams = export_streams(exporter);
	bool one = options->at_end && streams;
	struct batch_event event = {0};
	uint64_t seen = 0, slices, before, committed = 0, asked = 0;
	bool finished = false;
	int err = 0;

	if (one)
		q.span = SPAN_TOTAL;
	while (!err && !finished && batch_wait(source, command, signals, &asked)) {
		finished = source->finished; /* before: what it committed is seen below */
		slices = source->slices;
		batch_messages(stderr, profile, serial);
		if (slices == seen)
			continue;
		if (options->replay && !streams)
			batch_event(stderr, options->replay, profile, &event);
		before = committed;
		profile_lock(profile);
		committed = query_slices(profile);
		profile_unlock(profile);
		/* If the last slice was lost, the one before has its report. */
		if (committed != before && !one)
			err = export_add(exporter, profile, &q);
		if (push)
			push_take(push);
		source_post(source, SOURCE_NEXT, NULL);
		seen = slices;
	}
	if (one && !err)
		err = export_add(exporter, profile, &q);
	return err ? err : export_finish(exporter);
}

int reports_complain(const struct options *options, int err)
{
	char text[1024];

	if (options->output)
		outfile_error(options->output, err, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s: %s",
			 options->at_end ? "standard error" : "standard output", strerror(-err));
	return complain(text);
}

int reports_run(struct profile *profile, struct source *source, struct child *command,
		struct push *push, const struct options *options, struct outfile *file, int signals,
		uint64_t *serial)
{
	struct exporter *exporter = NULL;
	struct theme *theme = NULL;
	/* Standard output is the command's, unless each refresh has a report. */
	FILE *to = file ? outfile_stream(file) : options->at_end ? stderr : stdout;
	int err = themes_open(&theme, options->theme, profile_board(profile));

	if (err) { /* a message was written */
		outfile_abandon(file);
		return EXIT_FAILURE;
	}
	err = export_new(options->format, to, theme, &exporter);
	if (!err)
		err = batch_loop(profile, source, command, push, options, exporter, signals,
				 serial);
	export_free(exporter);
	theme_free(theme);
	if (file && !err)
		err = outfile_commit(file);
	else
		outfile_abandon(file);
	return err && err != -EPIPE ? reports_complain(options, err) : EXIT_SUCCESS;
}

int reports_open(const struct options *options, struct outfile **file)
{
	int err = options->output ? outfile_open(options->output, file) : 0;

	if (err)
		return reports_complain(options, err);
	if (!options->output && options->format == FORMAT_PPROF &&
	    isatty(options->at_end ? STDERR_FILENO : STDOUT_FILENO))
		return complain("pprof files are binary: -o FILE names one");
	return EXIT_SUCCESS;
}
