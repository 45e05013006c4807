// SPDX-License-Identifier: GPL-2.0-or-later
/* See cmdline.h. Completion and execution go through the same tables, so neither promises more. */
#include "tui/app/cmdline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/ui/attach.h"
#include "tui/ui/config.h"
#include "tui/app/actions.h"
#include "tui/app/questions.h"
#include "tui/app/setup.h"
#include "tui/screen/theme.h"
#include "tui/ui/pushing.h"
#include "tui/ui/record.h"
#include "tui/ui/selection.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"
#include "tui/views/annotate.h"
#include "tui/views/butterfly.h"
#include "tui/views/view_funcs.h"

#define SELECTOR_BYTES 64

static unsigned int set(struct ui *ui, const char *rest)
{
	size_t n = strcspn(rest, " =");
	char name[SELECTOR_BYTES], why[160];

	snprintf(name, sizeof(name), "%.*s", (int)n, rest);
	rest += n;
	rest += strspn(rest, " =");
	if (!name[0] || (!*rest && strncmp(name, "hide.", 5) != 0)) {
		ui_notice(ui, "set what? :set refresh 2 (Tab shows the settings)");
		return UI_REDRAW;
	}
	if (config_set(&ui->config, name, rest, why, sizeof(why))) {
		ui_notice(ui, "%s", why);
		return UI_REDRAW;
	}
	return setup_apply(ui, name);
}

static unsigned int theme(struct ui *ui, const char *rest)
{
	char text[PROMPT_TEXT + 8];

	snprintf(text, sizeof(text), "theme %s", rest);
	return set(ui, text);
}

static unsigned int syntax(struct ui *ui, const char *rest)
{
	char text[PROMPT_TEXT + 8];

	snprintf(text, sizeof(text), "syntax %s", rest);
	return set(ui, text);
}

static unsigned int frames(struct ui *ui, const char *rest)
{
	char text[PROMPT_TEXT + 8];

	snprintf(text, sizeof(text), "frames %s", rest);
	return set(ui, text);
}

/* :window 30 sets the span, :window total what counts. */
static unsigned int window(struct ui *ui, const char *rest)
{
	char text[PROMPT_TEXT + 8];

	snprintf(text, sizeof(text), "%s %s",
		 rest[0] >= '0' && rest[0] <= '9' ? "seconds" : "window", rest);
	return set(ui, text);
}

static unsigned int bind(struct ui *ui, const char *rest)
{
	size_t n = strcspn(rest, " ");
	int key = keys_parse(rest, n);
	const char *action = rest + n + strspn(rest + n, " =");
	const struct key_row *row = keymap_find(action);
	enum action other;

	if (!n || key == KEYCODE_NONE)
		ui_notice(ui, "there is no key '%.*s'; :bind F5 flip", (int)n, rest);
	else if (!row)
		ui_notice(ui, "there is no action '%s'", action);
	else if (keymap_bind(&ui->config.keys, key, row->action, true, &other))
		ui_notice(ui, "more than %d keys", KEYMAP_MAX);
	else
		ui_notice(ui, "%.*s: %s; :save keeps it", (int)n, rest, row->help);
	return UI_REDRAW;
}

static unsigned int unbind(struct ui *ui, const char *rest)
{
	int key = keys_parse(rest, strlen(rest));
	enum action other;

	if (key == KEYCODE_NONE)
		ui_notice(ui, "there is no key '%s'", rest);
	else if (keymap_bind(&ui->config.keys, key, ACTION_NONE, true, &other))
		ui_notice(ui, "more than %d keys", KEYMAP_MAX);
	else
		ui_notice(ui, "%s has no action now; :save keeps that", rest);
	return UI_REDRAW;
}

static unsigned int detach(struct ui *ui, const char *rest)
{
	char text[PROMPT_TEXT];

	snprintf(text, sizeof(text), "-%s", rest);
	return questions_answer(ui, ACTION_ATTACH, *rest ? text : "");
}

static unsigned int save(struct ui *ui, const char *rest)
{
	(void)rest;
	ui_notice(ui, "saving the settings");
	return UI_REDRAW | UI_SAVE;
}

static unsigned int stop_waits(struct ui *ui, const char *rest)
{
	(void)rest;
	ui->measure = MEASURE_CPU;
	ui_post(ui, SOURCE_WAITS, "0");
	ui_notice(ui, "waits of threads are no longer collected");
	return UI_RELOAD;
}

static unsigned int quit(struct ui *ui, const char *rest)
{
	(void)ui;
	(void)rest;
	return UI_QUIT;
}

/* --- what is named instead of being under the cursor -------------------------------------- */

static bool is_pid(const char *text)
{
	return text[0] && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

/* Of those that were sampled, the busiest; else one that was not, by its PID. A copy. */
static bool find_process(struct ui *ui, const char *text, struct profile_proc *out)
{
	struct profile *p = ui_profile(ui);
	pid_t pid = is_pid(text) ? (pid_t)strtol(text, NULL, 10) : 0;
	struct query q = selection_all(ui);
	const struct profile_proc *proc;
	struct proc_row *rows = NULL;
	uint64_t most = 0;
	size_t count = 0;
	bool found = false;

	profile_lock(p);
	if (query_procs(p, &q, &rows, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		proc = query_proc(p, rows[i].proc);
		if (!proc || (pid ? proc->pid != pid : strcmp(proc->comm, text) != 0) ||
		    (found && rows[i].samples <= most))
			continue;
		*out = *proc;
		most = rows[i].samples;
		found = true;
	}
	proc = !found && pid ? query_proc(p, query_pid(p, pid)) : NULL;
	if (proc) {
		*out = *proc;
		found = true;
	}
	profile_unlock(p);
	free(rows);
	if (!found)
		ui_notice(ui, "there is no process '%s' with samples", text);
	return found;
}

/* The process of that PID, or the busiest of that name. */
static unsigned int zoom(struct ui *ui, const char *text)
{
	struct profile_proc proc;

	if (!find_process(ui, text, &proc))
		return UI_REDRAW;
	ui_zoom(ui, &proc);
	return ui_go(ui, VIEW_BIT(ui->view) & (IN_NAMES | IN_UNWIND) ? ui->view : VIEW_FUNCS);
}

static unsigned int tag(struct ui *ui, const char *text)
{
	struct profile_proc proc;

	return find_process(ui, text, &proc) ? selection_tag(ui, &proc) : UI_REDRAW;
}

static unsigned int inspect(struct ui *ui, const char *text)
{
	struct profile_proc proc;

	/* One that sleeps has no samples; the source finds out whether there is one. */
	if (!ui->header.replayed && is_pid(text))
		return unwind_inspect(ui, (pid_t)strtol(text, NULL, 10), 0);
	return find_process(ui, text, &proc) ? unwind_inspect(ui, proc.pid, 0) : UI_REDRAW;
}

struct target_search {
	char name[1024], module[256];
	enum func_kind kind;
	uint64_t self;
	bool any;
};

static void find_function(struct ui *ui, const char *text, struct target_search *out)
{
	struct profile *p = ui_profile(ui);
	struct func_row *rows = NULL;
	struct query q;
	size_t count = 0;

	profile_lock(p);
	if (!ui_query(ui, p, &q) || query_funcs(p, &q, &rows, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct profile_func *func = query_func(p, rows[i].func);

		if (!func || strcmp(func->name, text) != 0 ||
		    (out->any && rows[i].self <= out->self))
			continue;
		snprintf(out->name, sizeof(out->name), "%s", func->name);
		snprintf(out->module, sizeof(out->module), "%s", func->module);
		out->kind = func->kind;
		out->self = rows[i].self;
		out->any = true;
	}
	profile_unlock(p);
	free(rows);
}

/* The hottest function of that name, of what is zoomed into; false, with a notice: none. */
static bool named_function(struct ui *ui, const char *text, struct target_search *found,
			   struct profile_func *func)
{
	find_function(ui, text, found);
	*func = (struct profile_func){found->name, found->module, found->kind, NULL, 0};
	if (!found->any)
		ui_notice(ui, "there is no function '%s' with samples", text);
	return found->any;
}

static unsigned int annotate(struct ui *ui, const char *text)
{
	struct target_search found = {.any = false};
	struct profile_func func;

	if (!named_function(ui, text, &found, &func))
		return UI_REDRAW;
	return annotate_open(ui, &func, ui->zoom.on ? ui->zoom.pid : 0, ui->zoom.image);
}

static unsigned int butterfly(struct ui *ui, const char *text)
{
	struct target_search found = {.any = false};
	struct profile_func func;

	if (!named_function(ui, text, &found, &func))
		return UI_REDRAW;
	return butterfly_open(ui, &func, false);
}

static unsigned int sum(struct ui *ui, const char *text)
{
	return funcs_sum(ui, text);
}

/* By the column with a title that begins so, in any case. */
static unsigned int sort(struct ui *ui, const char *text)
{
	const struct view_ops *view = view_get(ui);
	const struct column *columns;
	int count, sorted;

	if (!view->columns || !view->sort_by || ui->overlay.ops) {
		ui_notice(ui, "this view cannot be sorted");
		return UI_REDRAW;
	}
	columns = view->columns(&count, ui, &sorted);
	for (int i = 0; i < count; i++)
		if (columns[i].sortable && strncasecmp(columns[i].title, text, strlen(text)) == 0)
			return view->sort_by(ui, i);
	ui_notice(ui, "there is no column '%s' to sort by", text);
	return UI_REDRAW;
}

/* --- the table ----------------------------------------------------------------------------- */

#define VIEW_WORD(id, number, title, name)                                                         \
	static unsigned int go_##id(struct ui *ui, const char *rest)                               \
	{                                                                                          \
		(void)rest;                                                                        \
		return ui_go(ui, VIEW_##id);                                                       \
	}
VIEW_LIST(VIEW_WORD)
#undef VIEW_WORD

static const struct command_word {
	const char *name;
	bool needs; /* a word behind it; an action of that name is what works without */
	unsigned int (*run)(struct ui *ui, const char *rest);
	const char *help;
} words[] = {
#define VIEW_WORD(id, number, title, name) {name, false, go_##id, "to the view " title},
	VIEW_LIST(VIEW_WORD)
#undef VIEW_WORD
		{"zoom", true, zoom, "zoom into the process of that PID or name"},
	{"tag", true, tag, "tag the process of that PID or name, or untag it"},
	{"inspect", true, inspect, "catch a walk of the process of that PID or name"},
	{"annotate", true, annotate, "machine code and samples of the function of that name"},
	{"butterfly", true, butterfly, "callers and callees of the function of that name"},
	{"baseline", true, scrub_baseline, "compare with a session, by its file"},
	{"record", false, record_command,
	 "save the history to a session and record what comes; without a file: stop"},
	{"push", false, push_command,
	 "send profiles to Pyroscope, Parca or OpenTelemetry; without a URL: stop"},
	{"sort", true, sort, "sort by the column of that title"},
	{"sum", true, sum, "Funcs: sum by file, or by function"},
	{"set", true, set, "change a setting: set refresh 2"},
	{"window", true, window, "count the last seconds: window 30; or sliding, or total"},
	{"theme", true, theme, "use the theme of that name"},
	{"syntax", true, syntax, "how machine code is written: intel or att"},
	{"frames", true, frames, "of interpreted languages: merged, all or language"},
	{"bind", true, bind, "give a key an action: bind F5 flip"},
	{"unbind", true, unbind, "take a key away"},
	{"save", false, save, "keep the settings"},
	{"detach", false, detach,
	 "detach what a word selects; without one: sample everything again"},
	{"stop-waits", false, stop_waits, "collect no more waits of threads"},
	{"q", false, quit, "end"},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

const char *cmdline_word(size_t at, const char **help)
{
	if (at >= WORDS)
		return NULL;
	*help = words[at].help;
	return words[at].name;
}

unsigned int cmdline_run(struct ui *ui, const char *text)
{
	char name[SELECTOR_BYTES], argument[PROMPT_TEXT];
	const struct key_row *row;
	const char *rest;
	size_t n;

	text += strspn(text, " :");
	n = strcspn(text, " ");
	if (!n)
		return UI_REDRAW;
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	rest = text + n + strspn(text + n, " ");
	row = keymap_find(name);
	for (size_t i = 0; i < WORDS; i++) {
		if (strcmp(words[i].name, name) != 0 || (words[i].needs && !*rest && row))
			continue;
		if (words[i].needs && !*rest) {
			ui_notice(ui, ":%s needs an argument; Tab shows which", name);
			return UI_REDRAW;
		}
		/* Tab leaves a blank behind a word that is complete. */
		snprintf(argument, sizeof(argument), "%s", rest);
		for (n = strlen(argument); n && argument[n - 1] == ' ';)
			argument[--n] = '\0';
		return words[i].run(ui, argument);
	}
	if (row && *rest)
		return questions_answer(ui, row->action, rest);
	if (row && row->views & VIEW_BIT(ui_keys(ui)))
		return actions_do(ui, row->action);
	if (row)
		ui_notice(ui, "%s has no meaning in this view", name);
	else
		ui_notice(ui, "there is no command '%s'; Tab or help shows them", name);
	return UI_REDRAW;
}

/* --- completion ---------------------------------------------------------------------------- */

struct choices {
	const char *start; /* of the word */
	bool known;	   /* what could stand there */
	size_t typed, count, common;
	char first[PROMPT_TEXT];
	char shown[200];
	size_t nshown;
};

/* As a word among those that are shown. */
static bool is_shown(const struct choices *c, const char *word)
{
	size_t n = strlen(word);
	const char *at = c->shown;

	while ((at = strstr(at, word))) {
		if ((at == c->shown || at[-1] == ' ') && at[n] == ' ')
			return true;
		at += n;
	}
	return false;
}

static void offer(void *arg, const char *word)
{
	struct choices *c = arg;
	size_t n = 0;

	if (strncmp(word, c->start, c->typed) != 0)
		return;
	/* A word that is an action, too, is offered by both, and a user has many processes. */
	if ((c->count == 1 && strcmp(word, c->first) == 0) || is_shown(c, word))
		return;
	if (!c->count++) {
		snprintf(c->first, sizeof(c->first), "%s", word);
		c->common = strlen(c->first);
	}
	while (n < c->common && word[n] == c->first[n])
		n++;
	while (n > c->typed && ((unsigned char)c->first[n] & 0xc0) == 0x80)
		n--; /* in the middle of a character */
	c->common = n;
	if (c->nshown + strlen(word) + 2 < sizeof(c->shown))
		c->nshown += (size_t)snprintf(c->shown + c->nshown, sizeof(c->shown) - c->nshown,
					      "%s ", word);
}

static void offer_list(struct choices *c, const char *const *list)
{
	for (; *list; list++)
		offer(c, *list);
}

static void offer_actions(struct choices *c, unsigned int views)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].views & views)
			offer(c, rows[i].name);
}

static void offer_values(struct choices *c, const char *setting, size_t n)
{
	static const char *const values[][5] = {{"window", "sliding", "total", NULL},
						{"units", "cpu", "machine", NULL},
						{"syntax", "intel", "att", NULL},
						{"sum", "file", "function", NULL},
						{"frames", "merged", "all", "language", NULL},
						{"ascii", "no", "yes", NULL},
						{"mouse", "no", "yes", NULL}};

	if (n == 5 && strncmp(setting, "theme", n) == 0)
		offer_list(c, theme_embedded());
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strlen(values[i][0]) == n && strncmp(values[i][0], setting, n) == 0)
			offer_list(c, values[i] + 1);
}

/* What could answer the question of an action; false: nothing is known. */
static bool offer_answers(struct choices *c, const struct ui *ui, enum action action,
			  const char *text)
{
	static const char *const kinds[] = {"user:", "cgroup:", "container:", NULL};

	c->start = text;
	switch (action) {
	case ACTION_ATTACH:
		c->start += *c->start == '-';
		c->typed = strlen(c->start);
		if (strchr(c->start, ':')) {
			attach_offer(ui, ATTACH_WORDS, offer, c);
		} else {
			offer_list(c, kinds);
			attach_offer(ui, ATTACH_NAMES, offer, c);
		}
		return true;
	case ACTION_FILTER_USER:
	case ACTION_FILTER_GROUP:
		c->start += *c->start == '^';
		c->typed = strlen(c->start);
		attach_offer(ui, action == ACTION_FILTER_USER ? ATTACH_USERS : ATTACH_GROUPS, offer,
			     c);
		return true;
	default:
		return false;
	}
}

/* Titles and names have blanks: all that stands behind the command is one word. Titles are found in
 * any case, as :sort does, and written as they are. */
static bool offer_columns(struct choices *c, const struct ui *ui, const char *text)
{
	const struct view_ops *view = view_get(ui);
	int count = 0, sorted;
	const struct column *columns = view->columns ? view->columns(&count, ui, &sorted) : NULL;

	c->start = text;
	c->typed = 0;
	for (int i = 0; i < count; i++)
		if (columns[i].sortable && strncasecmp(columns[i].title, text, strlen(text)) == 0)
			offer(c, columns[i].title);
	return true;
}

static bool offer_processes(struct choices *c, const struct ui *ui, const char *text)
{
	c->start = text;
	c->typed = strlen(text);
	attach_offer(ui, ATTACH_NAMES, offer, c);
	return true;
}

static bool first_is(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) == 0 && text[n] == ' ';
}

/* The action that takes the text behind the first word. */
static enum action asks(const char *first)
{
	char name[SELECTOR_BYTES];
	const struct key_row *row;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(first, " "), first);
	row = keymap_find(strcmp(name, "detach") == 0 ? "attach" : name);
	return row ? row->action : ACTION_NONE;
}

/* All that could stand where the last word of the text is; true: names, which may go on. */
static bool find_choices(struct choices *c, const struct ui *ui, const char *text)
{
	const char *space = strrchr(text, ' '), *second;
	const char *first = text + strspn(text, " ");

	c->start = space ? space + 1 : text;
	c->typed = strlen(c->start);
	if (c->start <= first || !strchr(first, ' ')) {
		for (size_t i = 0; i < WORDS; i++)
			offer(c, words[i].name);
		offer_actions(c, VIEW_BIT(ui_keys(ui)));
		return false;
	}
	second = first + strcspn(first, " ");
	second += strspn(second, " ");
	if (first_is(first, "window"))
		offer_values(c, "window", 6);
	else if (first_is(first, "sum"))
		offer_values(c, "sum", 3);
	else if (first_is(first, "frames"))
		offer_values(c, "frames", 6);
	else if (first_is(first, "theme"))
		offer_list(c, theme_embedded());
	else if (first_is(first, "set") && c->start == second)
		offer_list(c, config_names());
	else if (first_is(first, "set"))
		offer_values(c, second, strcspn(second, " ="));
	else if (first_is(first, "bind") && c->start != second)
		offer_actions(c, ~0U);
	else if (first_is(first, "sort"))
		return offer_columns(c, ui, second);
	else if (first_is(first, "zoom") || first_is(first, "tag") || first_is(first, "inspect"))
		return offer_processes(c, ui, second);
	else
		return c->known = offer_answers(c, ui, asks(first), second);
	return false;
}

bool cmdline_complete(struct ui *ui)
{
	struct prompt *p = &ui->prompt;
	struct choices c = {.known = true};
	char text[PROMPT_TEXT] = "";
	size_t before;
	bool names;

	if (!p->offered) /* a proposal is not what was typed */
		memcpy(text, p->text, sizeof(text));
	if (p->purpose == ACTION_COMMAND)
		names = find_choices(&c, ui, text);
	else if (!offer_answers(&c, ui, (enum action)p->purpose, text))
		return false;
	else
		names = true;
	if (!c.known)
		ui_notice(ui, "no completion is known here");
	else if (!c.count)
		ui_notice(ui, "nothing begins with '%s'", c.start);
	if (!c.count)
		return true;
	/* A word that is complete gets the blank behind it. */
	before = (size_t)(c.start - text);
	if (before + c.common + 2 < sizeof(p->text)) {
		memcpy(p->text, text, before);
		snprintf(p->text + before, sizeof(p->text) - before, "%.*s%s", (int)c.common,
			 c.first, c.count == 1 && !names ? " " : "");
	}
	p->length = p->cursor = strlen(p->text);
	p->offered = false;
	if (c.count > 1)
		ui_notice(ui, "%s", c.shown);
	return true;
}
