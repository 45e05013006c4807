// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See helptext.h. Lines are made anew for each drawing: keys may be bound and the window resized
 * meanwhile, and a few hundred lines take no time.
 */
#include "tui/app/helptext.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "tui/app/glossary.h"
#include "tui/profile/profile.h"
#include "tui/screen/keymap.h"
#include "tui/screen/keysections.h"
#include "tui/ui/pattern.h"
#include "tui/ui/scrub.h"

#define MIB	  1048576.0
#define SHARD_MIB (SHARD_BYTES / MIB)

static const char *const marks[] = {
	">  the cursor; it stays on its process, function or node",
	"+  attached      *  tagged      z  exited; its samples are kept",
	"!  an incomplete stack, or a process with more than 5% of them",
	"k  kernel        u  user        i  inlined      j  code made at run time",
	"py php pl rb js java  of that language; its module is the source file",
	"py?  it runs Python, but its stacks have no frames of it; the last line says why",
	"p  a pinned table",
	"[-kernel]  changes the numbers of this view   (-kernel)  of other views",
	"",
	"A stack that could not be walked to its outermost function begins with",
	"[unwind: reason]. It is counted like any other; 7 says what helps.",
	"",
	"In a question, Left Right ^A ^E move, ^U ^K cut, Esc cancels;",
	"Up and Down, ^P and ^N bring back earlier answers to / and \\.",
	"Behind : Up does so in an empty line and chooses a command in others; ^P always does.",
	"\\ takes lang:py, lang:php and so on; lang:native: functions of no language.",
	"/ and \\ act at each key: Enter keeps what is shown, Esc goes back.",
};

struct helpwriter {
	struct helptext *to;
	int width;
	int err;
};

static struct helptext_line *add(struct helpwriter *w, int kind)
{
	struct helptext *t = w->to;
	struct helptext_line *lines;

	if (t->count == t->room) {
		lines = realloc(t->lines, 2 * ((size_t)t->room + 64) * sizeof(*lines));
		if (!lines) {
			w->err = -ENOMEM;
			return NULL;
		}
		t->lines = lines;
		t->room = 2 * (t->room + 64);
	}
	lines = &t->lines[t->count++];
	lines->kind = kind;
	lines->entry = t->entries;
	lines->left[0] = lines->text[0] = '\0';
	return lines;
}

/* The bytes of the first words that have room; all texts are ASCII. */
static size_t fitting(const char *text, size_t room)
{
	size_t n = strlen(text);

	if (n <= room)
		return n;
	for (n = room; n && text[n] != ' ';)
		n--;
	return n ? n : room;
}

static void entry(struct helpwriter *w, int kind, const char *left, const char *text)
{
	int indent = kind == HELPTEXT_TEXT || kind == HELPTEXT_TITLE ? 2 : HELPTEXT_LEFT + 3;
	size_t room = w->width > indent + 8 ? (size_t)(w->width - indent - 1) : 8;
	struct helptext_line *line;

	/* A long title has a line of its own. */
	if (strlen(left) > HELPTEXT_LEFT) {
		line = add(w, kind);
		if (!line)
			return;
		snprintf(line->left, sizeof(line->left), "%s", left);
		left = "";
	}
	do {
		size_t n = fitting(text, room);

		line = add(w, kind);
		if (!line)
			return;
		snprintf(line->left, sizeof(line->left), "%s", left);
		snprintf(line->text, sizeof(line->text), "%.*s", (int)n, text);
		left = "";
		text += n;
		text += strspn(text, " ");
	} while (*text);
	w->to->entries++;
}

static void title(struct helpwriter *w, const char *text)
{
	if (w->to->count)
		entry(w, HELPTEXT_TEXT, "", "");
	entry(w, HELPTEXT_TITLE, "", text);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void key(struct helpwriter *w, const struct help_subject *subject, const struct key_row *row)
{
	char bound[48], views[96] = "", text[240];

	keymap_keys(subject->keys, row->action, bound, sizeof(bound));
	if (!(row->views & VIEW_BIT(subject->view)))
		keys_views(row, views, sizeof(views));
	snprintf(text, sizeof(text), "%s%s%s%s", row->help, views[0] ? " (" : "", views,
		 views[0] ? ")" : "");
	entry(w, HELPTEXT_KEY, bound[0] ? bound : "-", text);
}

static void keys_own(struct helpwriter *w, const struct help_subject *subject, const char *view)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);
	char text[80];

	snprintf(text, sizeof(text), "This view: %s", view);
	title(w, text);
	for (size_t i = 0; i < count; i++)
		if (keysections_own(&rows[i], subject->view))
			key(w, subject, &rows[i]);
}

static void keys_of(struct helpwriter *w, const struct help_subject *subject,
		    enum keysection section)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	title(w, keysections_title(section));
	for (size_t i = 0; i < count; i++)
		if (keysections_of(rows[i].action) == section &&
		    (rows[i].views & VIEW_BIT(subject->view)) &&
		    !keysections_own(&rows[i], subject->view))
			key(w, subject, &rows[i]);
}

static void keys_elsewhere(struct helpwriter *w, const struct help_subject *subject)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);

	title(w, "Keys of other views");
	for (size_t i = 0; i < count; i++)
		if (!(rows[i].views & VIEW_BIT(subject->view)))
			key(w, subject, &rows[i]);
}

/* --- columns ---------------------------------------------------------------------------------- */

static void columns(struct helpwriter *w, enum ui_view view, bool here)
{
	size_t count;
	const struct glossary_entry *all = glossary_table(&count);
	char text[240], views[96];

	for (size_t i = 0; i < count; i++) {
		const struct key_row scope = {.views = all[i].views};

		if (((all[i].views & VIEW_BIT(view)) != 0) != here)
			continue;
		keys_views(&scope, views, sizeof(views));
		snprintf(text, sizeof(text), here ? "%s" : "%s (%s)", all[i].meaning, views);
		entry(w, HELPTEXT_TERM, all[i].title, text);
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

static void memory(struct helpwriter *w, const struct help_subject *s)
{
	double tables = s->last->shards_created * SHARD_MIB, maps = (double)s->last->locked / MIB;
	char text[160];

	title(w, "Memory");
	if (s->kept->bytes_max) {
		snprintf(text, sizeof(text),
			 "%.1f of %.0f MiB of memory for the history: %.0f of %d s",
			 (double)s->kept->bytes / MIB, (double)s->kept->bytes_max / MIB,
			 s->kept->seconds, SCRUB_SECONDS);
		entry(w, HELPTEXT_TEXT, "", text);
	}
	snprintf(text, sizeof(text),
		 "%.1f MiB of locked memory: %.1f of BPF maps, %.0f of %.0f (--memory) of tables",
		 maps + tables, maps, tables, s->last->shards_max * SHARD_MIB);
	entry(w, HELPTEXT_TEXT, "", text);
}

int helptext_make(struct helptext *text, const struct help_subject *subject, int width)
{
	static const char *const names[VIEW_KEYS_COUNT] = {[VIEW_FRAME] = "code",
							   [VIEW_BUTTERFLY] = "Butterfly",
#define HELPTEXT_VIEW(id, number, title, name) [VIEW_##id] = (title),
							   VIEW_LIST(HELPTEXT_VIEW)
#undef HELPTEXT_VIEW
	};
	struct helpwriter w = {text, width, 0};
	char about[80];

	*text = (struct helptext){0};
	keys_own(&w, subject, names[subject->view]);
	for (int i = 0; i < KEYSECTION_COUNT; i++)
		keys_of(&w, subject, (enum keysection)i);
	keys_elsewhere(&w, subject);
	if (subject->view != VIEW_FRAME && subject->view != VIEW_FLAME) {
		snprintf(about, sizeof(about), "Columns of %s", names[subject->view]);
		title(&w, about);
		columns(&w, subject->view, true);
	}
	title(&w, "Columns of other views");
	columns(&w, subject->view, false);
	title(&w, "Marks and questions");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		entry(&w, HELPTEXT_TEXT, "", marks[i]);
	memory(&w, subject);
	if (w.err)
		helptext_free(text);
	return w.err;
}

void helptext_free(struct helptext *text)
{
	free(text->lines);
	*text = (struct helptext){0};
}

int helptext_line_of(const struct helptext *text, int entry)
{
	int i = 0;

	while (i < text->count && text->lines[i].entry < entry)
		i++;
	return i;
}

bool helptext_matches(const struct helptext *text, int entry, const struct pattern *pattern)
{
	char whole[512] = "";
	size_t n = 0;

	for (int i = helptext_line_of(text, entry);
	     i < text->count && text->lines[i].entry == entry && n < sizeof(whole); i++)
		n += (size_t)snprintf(whole + n, sizeof(whole) - n, "%s%s%s%s", n ? " " : "",
				      text->lines[i].left, text->lines[i].left[0] ? " " : "",
				      text->lines[i].text);
	return pattern_matches(pattern, whole);
}
