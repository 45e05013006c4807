// SPDX-License-Identifier: GPL-2.0-or-later
/* See record.h. The work is done by tui/session/recording.c, in a thread. */
#include "tui/ui/record.h"

#include <string.h>
#include <strings.h>

#include "tui/profile/source.h"
#include "tui/session/recording.h"
#include "tui/ui/ui.h"

#define SUFFIX ".session"

bool record_is_session(const char *path)
{
	size_t length = strlen(path), suffix = strlen(SUFFIX);

	return length > suffix && path[length - suffix - 1] != '/' &&
	       !strcasecmp(path + length - suffix, SUFFIX);
}

void record_look(struct ui *ui)
{
	struct recording **const all[] = {&ui->record, &ui->kept};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (*all[i] && recording_done(*all[i])) {
			recording_free(*all[i]);
			*all[i] = NULL;
			ui->notice[0] = '\0'; /* its message says more */
		}
	ui->recording = ui->record || (ui->source && atomic_load(&ui->source->records));
}

/* The range that is marked in a frozen view; 0, 0: none. */
static void marked(const struct ui *ui, uint64_t *first, uint64_t *last)
{
	const struct scrub *s = &ui->scrub;

	*first = *last = 0;
	if (!ui->frozen || !s->mark || s->weighed)
		return;
	*first = s->mark < s->at ? s->mark : s->at;
	*last = s->mark < s->at ? s->at : s->mark;
}

void record_save(struct ui *ui, const char *path)
{
	uint64_t first, last;
	int err;

	record_look(ui);
	if (ui->kept) {
		ui_notice(ui, "still saving to %s", recording_path(ui->kept));
		return;
	}
	marked(ui, &first, &last);
	err = recording_start(&ui->kept, ui->profile, ui->source, path, first, last, false);
	if (err)
		ui_notice(ui, "%s: %s", path, strerror(-err));
	else
		ui_notice(ui, "saving %s to %s", first ? "the range" : "the history", path);
}

static unsigned int start(struct ui *ui, const char *path)
{
	int err;

	if (ui->header.replayed) {
		ui_notice(ui, "this is a recording: w NAME.session saves what was played");
	} else if (ui->record) {
		ui_notice(ui, "recording to %s already; :record without a file stops",
			  recording_path(ui->record));
	} else {
		err = recording_start(&ui->record, ui->profile, ui->source, path, 0, 0, true);
		if (err)
			ui_notice(ui, "%s: %s", path, strerror(-err));
		else
			ui_notice(ui, "recording to %s, with the history; :record stops", path);
	}
	record_look(ui);
	return UI_REDRAW;
}

unsigned int record_stop(struct ui *ui)
{
	record_look(ui);
	if (ui->record) {
		recording_stop(ui->record);
		ui_notice(ui, "completing %s", recording_path(ui->record));
	} else if (ui->recording) {
		ui_notice(ui, "--record goes on to the end");
	} else {
		ui_notice(ui, "nothing is being recorded; :record FILE does it");
	}
	return UI_REDRAW;
}

unsigned int record_command(struct ui *ui, const char *path)
{
	record_look(ui);
	return *path ? start(ui, path) : record_stop(ui);
}

bool record_writes(const struct ui *ui)
{
	return ui && ((ui->kept && !recording_done(ui->kept)) ||
		      (ui->record && !recording_done(ui->record)));
}

void record_free(struct ui *ui)
{
	recording_free(ui->record);
	recording_free(ui->kept);
	ui->record = ui->kept = NULL;
}
