// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The keys of a player. Time moves in the source: here are only the commands for it, and what of it
 * is shown.
 */
#include "tui/ui/replay_keys.h"

#include <stdio.h>
#include <time.h>

#include "tui/profile/source.h"
#include "tui/ui/ui.h"

static unsigned int post(struct ui *ui, enum source_command command, const char *arg)
{
	ui_post(ui, command, arg);
	return UI_REDRAW;
}

static unsigned int refuse(struct ui *ui, const char *why)
{
	ui_notice(ui, "this is a recording: %s", why);
	return UI_REDRAW;
}

unsigned int replay_keys_act(struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_ATTACH: /* refused before the question, not after the answer */
		return refuse(ui, "its processes are fixed");
	case ACTION_RESET:
		return refuse(ui, "its shards cannot be reset");
	case ACTION_PLAY:
	case ACTION_TAG_PLAY: /* the same key */
		return post(ui, SOURCE_PLAY, "");
	case ACTION_SLOWER:
		return post(ui, SOURCE_SPEED, "-");
	case ACTION_FASTER:
		return post(ui, SOURCE_SPEED, "+");
	case ACTION_STEP_BACK:
		return post(ui, SOURCE_STEP, "-1");
	case ACTION_STEP_ON:
		return post(ui, SOURCE_STEP, "1");
	case ACTION_FAR_BACK:
		return post(ui, SOURCE_STEP, "-10");
	case ACTION_FAR_ON:
		return post(ui, SOURCE_STEP, "10");
	case ACTION_JUMP:
		prompt_open(&ui->prompt, (int)action, "Jump to (90, +10, -10, 14:03:20):", "");
		return UI_REDRAW;
	default:
		return 0;
	}
}

unsigned int replay_keys_jump(struct ui *ui, const char *text)
{
	return text[0] ? post(ui, SOURCE_JUMP, text) : UI_REDRAW;
}

static void duration(char *to, size_t size, uint64_t ns)
{
	unsigned long long seconds = ns / 1000000000u;

	if (seconds >= 3600)
		snprintf(to, size, "%llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60,
			 seconds % 60);
	else
		snprintf(to, size, "%llu:%02llu", seconds / 60, seconds % 60);
}

void replay_keys_clock(const struct header *h, char *to, size_t size)
{
	time_t now = (time_t)(h->replay.clock / 1000000000u);
	struct tm tm;

	to[0] = '\0';
	if (localtime_r(&now, &tm))
		strftime(to, size, "%H:%M:%S", &tm);
}

void replay_keys_state(const struct ui *ui, char *to, size_t size)
{
	const struct profile_replay *r = &ui->header.replay;
	char position[32], length[32], clock[16];
	const char *moment = ui->frozen ? ui->scrub.clock : "";

	duration(position, sizeof(position), r->position);
	duration(length, sizeof(length), r->length);
	replay_keys_clock(&ui->header, clock, sizeof(clock));
	snprintf(to, size, "%s%s%s %gx %s/%s%s%s", moment, moment[0] ? "  " : "",
		 r->ended    ? "END"
		 : r->paused ? "PAUSE"
			     : "PLAY",
		 r->speed, position, length, ui->frozen ? "" : "  ", ui->frozen ? "" : clock);
}
