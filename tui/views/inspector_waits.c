// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why a walk has not come yet. A process that sleeps has no samples, so that its walk may be
 * waited for all day; a kernel thread has no stack to walk.
 */
#include <stdio.h>

#include "symbols/base/clock.h"
#include "tui/profile/profile.h"
#include "tui/profile/reasons.h"
#include "tui/screen/hints.h"
#include "tui/views/inspector.h"

#define IDLE_NS 1500000000ull /* a busy process sleeps now and then, too */

bool inspector_hopes(const struct inspector *i)
{
	return !i->gone && !i->proc.kthread && !(i->state.pid && i->state.kthread);
}

/* "12 bash", as far as it is known. */
static void tell_process(const struct inspector *i, char *to, size_t size)
{
	const char *comm = i->proc.comm[0] ? i->proc.comm : i->state.pid ? i->state.comm : "";

	snprintf(to, size, "%d%s%s", (int)i->pid, *comm ? " " : "", comm);
}

static void tell_sleep(const struct inspector *i, unsigned long long seconds, char *to, size_t size)
{
	char who[40];

	tell_process(i, who, sizeof(who));
	snprintf(
		to, size,
		"%s is idle: it has had no sample for %llu s%s%s. Its walk is caught as soon as it "
		"runs.",
		who, seconds,
		i->state.where[0]	? ", sleeping in "
		: i->state.state == 'D' ? ", waiting in the kernel"
					: ", sleeping",
		i->state.where);
}

/* What its state says; false: nothing that explains it. */
static bool tell_state(const struct inspector *i, uint64_t waited, char *to, size_t size)
{
	char who[40];

	tell_process(i, who, sizeof(who));
	switch (i->state.pid == i->pid ? i->state.state : 'R') {
	case 'T':
	case 't':
		snprintf(to, size, "%s is stopped: its walk is caught when it goes on.", who);
		return true;
	case 'Z':
	case 'X':
		snprintf(to, size,
			 "%s has ended, and its parent has not taken notice: no walk of it will "
			 "come.",
			 who);
		return true;
	case 'S':
	case 'D':
	case 'I':
		if (waited < IDLE_NS)
			return false;
		tell_sleep(i, waited / CLOCK_NS_PER_SEC, to, size);
		return true;
	default:
		return false;
	}
}

/* It runs, or what it does is not known. */
static void tell_rare(const struct ui *ui, const struct inspector *i, char *to, size_t size)
{
	const struct profile_health *last = &ui->header.last;

	if (i->reason)
		snprintf(to, size, "None of its walks has ended so since you asked.");
	else if (last->event[0] && !profile_is_time(last))
		snprintf(to, size,
			 "There is none yet: samples are of %s, and it may have few. F7 chooses "
			 "another event.",
			 last->event);
	else
		snprintf(to, size, "There is none yet: it is caught at its next sample.");
}

void inspector_tell_wait(const struct ui *ui, const struct inspector *i, char *to, size_t size)
{
	const uint64_t waited = ui->now > i->asked ? ui->now - i->asked : 0;
	char who[40], attaches[48];

	to[0] = '\0';
	tell_process(i, who, sizeof(who));
	if (i->gone) {
		snprintf(to, size, "Process %d has exited: no walk of it will come.", (int)i->pid);
	} else if (!inspector_hopes(i)) {
		snprintf(to, size, "%s is a kernel thread: it has no user stack to walk.", who);
	} else if (ui->header.last.filtering && i->proc.pid && !i->proc.attached) {
		hints_words(&ui->config.keys, ACTION_ATTACH, "attaches it.", attaches,
			    sizeof(attaches));
		snprintf(to, size, "%s is not sampled, since it is not attached: %s", who,
			 attaches);
	} else if (!tell_state(i, waited, to, size) && waited > IDLE_NS) {
		tell_rare(ui, i, to, size);
	}
}

void inspector_draw_wait(const struct ui *ui, const struct inspector *i, struct grid *g, int top,
			 int rows)
{
	char text[256];
	int n = 0;

	if (inspector_hopes(i)) {
		snprintf(text, sizeof(text), "Waiting for a walk of process %d%s%s.", (int)i->pid,
			 i->reason ? " that ends: " : "",
			 i->reason ? reasons_end(i->reason)->name : "");
		n = grid_words(g, top, rows, 2, g->cols - 2, 0, ROLE_TITLE, text);
	}
	inspector_tell_wait(ui, i, text, sizeof(text));
	if (text[0] && n < rows)
		n += grid_words(g, top + n, rows - n, 2, g->cols - 2, 0, n ? ROLE_TEXT : ROLE_TITLE,
				text);
	if (n < rows) {
		hints_words(&ui->config.keys, ACTION_BACK, "goes back.", text, sizeof(text));
		grid_fit(g, top + n, 2, g->cols - 2, ROLE_DIM, text);
	}
}
