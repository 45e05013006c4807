// SPDX-License-Identifier: GPL-2.0-or-later
/* A key that does nothing looks like one that does not work, unless the reason is told. */
#include "tui/app/dead_key.h"

#include <stddef.h>
#include <string.h>

#include "tui/screen/keymap.h"
#include "tui/ui/ui.h"

static const struct {
	enum action action;
	unsigned int views;
	const char *why;
} reasons[] = {
	{ACTION_PLAY, IN_ALL, "nothing is replayed: stacktop -r FILE shows a recording"},
	{ACTION_JUMP, IN_ALL, "nothing is replayed: stacktop -r FILE shows a recording"},
	{ACTION_ANNOTATE, IN_UNWIND, "only a frame of a walk has code: i catches a walk"},
	{ACTION_CFI, IN_UNWIND, "only a frame of a walk has CFI: i catches a walk"},
	{ACTION_ANNOTATE, IN_FRAMES, "there is no function under the cursor"},
	{ACTION_CODE, IN_ALL, "there is no function under the cursor"},
	{ACTION_ZOOM_MODULE, IN_NAMES, "there is no function under the cursor"},
	{ACTION_COPY, IN_FRAMES, "there is nothing under the cursor"},
	{ACTION_SAME_NAME, IN_FRAMES, "there is nothing under the cursor"},
	{ACTION_ZOOM, IN_PROCS, "there is no process under the cursor"},
	{ACTION_TAG, IN_PROCS, "there is no process under the cursor"},
	{ACTION_TAG_PLAY, IN_PROCS, "there is no process under the cursor"},
};

unsigned int dead_key_tell(struct ui *ui, enum action action)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].action == action && reasons[i].views & VIEW_BIT(ui_keys(ui))) {
			ui_notice(ui, "%s", reasons[i].why);
			return UI_REDRAW;
		}
	return 0;
}

unsigned int dead_key_tell_unbound(struct ui *ui, int key)
{
	const struct key_row *row = NULL;
	char views[96];
	bool most;

	for (int i = 1; i <= VIEW_COUNT && !row; i++) {
		enum ui_view view = (enum ui_view)(i % VIEW_COUNT); /* code is the last one */

		row = keymap_row(keymap_action(&ui->config.keys, key, view));
	}
	if (!row)
		return 0;
	keys_views(row, views, sizeof(views));
	most = strncmp(views, "not ", 4) == 0;
	ui_notice(ui, "%s in %s: %s", most ? "not" : "only", views + (most ? 4 : 0), row->help);
	return UI_REDRAW;
}
