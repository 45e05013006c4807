// SPDX-License-Identifier: GPL-2.0-or-later
/* See agent.h. */
#include "tui/agent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tui/complain.h"
#include "tui/export/batch.h"
#include "tui/profile/profile.h"
#include "tui/profile/source.h"
#include "tui/push/push.h"

int agent_run(struct profile *profile, struct source *source, struct push *push, int signals)
{
	struct pollfd fds[2] = {{.fd = source->event, .events = POLLIN},
				{.fd = signals, .events = POLLIN}};
	uint64_t seen = 0, slices, serial = 0, n;
	struct signalfd_siginfo info;
	bool finished = false;

	while (!finished) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return complain(strerror(errno));
		if (fds[0].revents && read(fds[0].fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
			return complain(strerror(errno));
		if (fds[1].revents && read(fds[1].fd, &info, sizeof(info)) > 0)
			source_finish(source);
		finished = source->finished;
		slices = source->slices;
		batch_messages(stderr, profile, &serial);
		if (slices == seen)
			continue;
		push_take(push);
		source_post(source, SOURCE_NEXT, NULL);
		seen = slices;
	}
	return EXIT_SUCCESS;
}
