// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/screens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/app/dispatch.h"

int screens_setup(void **state)
{
	*state = typist_new();
	return 0;
}

void slices(struct typist *f, int n, int heavy)
{
	while (n--)
		assert_int_equal(machine_slice(&f->feed, heavy), 0);
	assert_int_equal(ui_refresh(f->ui), 0);
}

void slice_of_stack(struct typist *f, const char *frames, uint64_t count)
{
	struct profile_cell cell = {f->feed.postgres, 5310, 0, PROFILE_NO_STACK, count, 0, 0};
	struct profile_health h;

	profile_lock(f->feed.p);
	cell.ustack = machine_stack(&f->feed, frames);
	f->feed.time += MACHINE_SECOND;
	machine_health(&f->feed, &h, count, 0, count);
	assert_int_equal(profile_commit(f->feed.p, &cell, 1, &h), 0);
	profile_stack_put(f->feed.p, cell.ustack);
	profile_unlock(f->feed.p);
	assert_int_equal(ui_refresh(f->ui), 0);
}

/* The text of the row that the cursor of the view is on. */
static const char *cursor_row(struct typist *f)
{
	static char row[1024];
	const char *line = screen(f);

	for (int i = 0; i < f->g->rows; i++) {
		const char *end = strchr(line, '\n');

		if (f->g->cells[(size_t)i * f->g->cols + 20].role == ROLE_CURSOR) {
			snprintf(row, sizeof(row), "%.*s", (int)(end - line), line);
			return row;
		}
		line = end + 1;
	}
	return "";
}

void assert_cursor_on(struct typist *f, const char *want)
{
	const char *row = cursor_row(f);

	if (!strstr(row, want))
		fail_msg("the cursor is on '%s', not on %s\n%s", row, want, f->text);
}
