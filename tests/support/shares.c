// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/app/dispatch.h"

#define SLICES 12

/* A second of machine_slice(f, 0), by process and innermost function. */
static const struct {
	pid_t pid;
	const char *leaf;
	int count;
} second[] = {
	{4121, "ngx_parse_header", 100}, {4121, "memmove", 50},	    {4121, "tcp_sendmsg", 50},
	{4121, "rare_one", 1},		 {5310, "ExecInterp", 60},  {7781, "Builtins_Call", 20},
	{7781, "node::Parse", 5},	 {902, "shrink_folio", 12},
};

int samples(pid_t pid, const char *leaf)
{
	int sum = 0;

	for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); i++)
		if ((!pid || second[i].pid == pid) && (!leaf || strcmp(second[i].leaf, leaf) == 0))
			sum += WINDOW * second[i].count;
	return sum;
}

int shares_setup(void **state)
{
	struct typist *t = typist_new();

	*state = t;
	for (int i = 0; i < SLICES; i++)
		assert_int_equal(machine_slice(&t->feed, 0), 0);
	return ui_refresh(t->ui);
}

void press(struct typist *t, const char *keys)
{
	for (; *keys; keys++)
		ui_key(t->ui, *keys == '\n'	? KEYCODE_ENTER
			      : *keys == '\033' ? KEYCODE_ESCAPE
						: *keys);
}

void filter(struct typist *t, const char *text)
{
	press(t, "\\");
	ui_key(t->ui, CTRL('U'));
	press(t, text);
	press(t, "\n");
}

void assert_share(struct typist *t, const char *name, int part, int whole)
{
	const char *line = screen_line(t, name);
	double share = -1;

	if (sscanf(line + strcspn(line, "0123456789"), "%lf", &share) != 1 ||
	    share < 100.0 * part / whole - 0.051 || share > 100.0 * part / whole + 0.051)
		fail_msg("%s: %d of %d is not what '%s' says\n%s", name, part, whole, line,
			 t->text);
}
