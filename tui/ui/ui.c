// SPDX-License-Identifier: GPL-2.0-or-later
/* What views may ask of the screen; tui/app/dispatch.c calls the views. */
#include "tui/ui/ui.h"

#include <stdarg.h>
#include <stdio.h>

#include "tui/profile/board.h"
#include "tui/ui/view.h"
#include "tui/util/share.h"

#define NS_PER_SEC     1000000000ULL
#define NOTICE_SECONDS 5

const struct view_ops *view_get(const struct ui *ui)
{
	return ui->views[ui->view];
}

struct profile *ui_profile(const struct ui *ui)
{
	return ui->profile;
}

__attribute__((format(printf, 3, 0))) static void notice(struct ui *ui, bool waits,
							 const char *format, va_list args)
{
	vsnprintf(ui->notice, sizeof(ui->notice), format, args);
	ui->notice_until = ui->now + NOTICE_SECONDS * NS_PER_SEC;
	ui->notice_waits = waits;
	ui->notice_name = false;
}

void ui_notice(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	notice(ui, false, format, args);
	va_end(args);
}

void ui_notice_command(struct ui *ui, const char *format, ...)
{
	struct board_message message;
	va_list args;

	va_start(args, format);
	notice(ui, true, format, args);
	va_end(args);
	while (board_next(profile_board(ui->profile), &ui->notice_serial, &message))
		;
}

void ui_notice_answered(struct ui *ui)
{
	struct board_message message;

	while (ui->notice_waits &&
	       board_next(profile_board(ui->profile), &ui->notice_serial, &message)) {
		if (message.level == MESSAGE_WARNING)
			continue;
		ui->notice[0] = '\0';
		ui->notice_waits = false;
	}
}

void ui_post(struct ui *ui, enum source_command command, const char *arg)
{
	if (ui->source)
		source_post(ui->source, command, arg);
}

unsigned int ui_go(struct ui *ui, enum ui_view view)
{
	chosen_leave(ui);
	ui_close_overlay(ui);
	ui->view = view;
	return UI_RELOAD;
}

enum ui_view ui_keys(const struct ui *ui)
{
	return ui->overlay.ops ? ui->overlay.ops->keys : ui->view;
}

enum role ui_heat(double share)
{
	return share >= 0.25	? ROLE_HEAT_5
	       : share >= 0.10	? ROLE_HEAT_4
	       : share >= 0.03	? ROLE_HEAT_3
	       : share >= 0.005 ? ROLE_HEAT_2
				: ROLE_HEAT_1;
}

enum role ui_share_role(uint64_t samples, enum role role)
{
	return samples < SHARE_FEW ? ROLE_DIM : role;
}

static void close_overlay(struct ui *ui, struct overlay *overlay)
{
	if (overlay->ops && overlay->ops->close)
		overlay->ops->close(ui);
	*overlay = (struct overlay){0};
}

void ui_close_overlay(struct ui *ui)
{
	close_overlay(ui, &ui->overlay);
	/* It is closed as the one that lies there. */
	ui->overlay = ui->beneath;
	ui->beneath = (struct overlay){0};
	close_overlay(ui, &ui->overlay);
}

unsigned int ui_overlay_back(struct ui *ui)
{
	close_overlay(ui, &ui->overlay);
	ui->overlay = ui->beneath;
	ui->beneath = (struct overlay){0};
	return UI_RELOAD;
}

const struct profile_func *overlay_function(const struct ui *ui)
{
	const struct overlay_ops *ops = ui->overlay.ops;

	return ops && ops->function ? ops->function(ui) : NULL;
}

void ui_close_page(struct ui *ui)
{
	close_overlay(ui, &ui->page);
}

bool ui_waits(const struct ui *ui)
{
	const struct view_ops *view = view_get(ui);

	return (ui->overlay.ops && ui->overlay.ops->waits && ui->overlay.ops->waits(ui)) ||
	       (view->waits && view->waits(ui));
}
