// SPDX-License-Identifier: GPL-2.0-or-later
/* See attach.h. Completion offers what the profile knows: this thread looks nothing up. */
#include "tui/ui/attach.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "symbols/files/cgroup.h"
#include "tui/profile/source.h"
#include "tui/query/query.h"
#include "tui/ui/ui.h"

#define EXPECTED_NS 60000000000ull /* one that sleeps shows up with its next sample */
#define CUT_AT_MOST 4u		   /* a character that has no room as a whole */

unsigned int attach_ask(struct ui *ui, const char *offer)
{
	prompt_open(&ui->prompt, ACTION_ATTACH, "Attach (-X detaches; empty: all):", offer);
	return UI_REDRAW;
}

/* It means itself as a regular expression. */
static bool is_plain(const char *text)
{
	return *text && !strpbrk(text, "\\^$[]|()*+?{}");
}

/* The word for the processes that share this one's group; "": there is none. A name that may have
 * been cut is a part of the whole one. */
static void group_word(const struct profile_proc *proc, char *to, size_t size)
{
	const char *id = cgroup_container(proc->group);
	bool whole = strlen(proc->group) + CUT_AT_MOST < sizeof(proc->group);

	to[0] = '\0';
	if (proc->group[0])
		snprintf(to, size, "%s:%s", id && whole ? "container" : "cgroup",
			 id ? id : proc->group);
}

unsigned int attach_ask_proc(struct ui *ui, const struct profile_proc *proc, bool group)
{
	char word[64] = "", text[80];

	if (proc && !group)
		snprintf(word, sizeof(word), "%d", (int)proc->pid);
	else if (proc && ui->grouping == GROUP_USER)
		snprintf(word, sizeof(word), "user:%s", proc->user);
	else if (proc && ui->grouping == GROUP_CGROUP)
		group_word(proc, word, sizeof(word));
	else if (proc && ui->grouping == GROUP_PROGRAM && !proc->exited && is_plain(proc->comm))
		snprintf(word, sizeof(word), "%s", proc->comm);
	if (proc && group && !word[0]) {
		ui_notice(ui, "this group cannot be attached by a word: c ends grouping");
		return UI_REDRAW;
	}
	snprintf(text, sizeof(text), "%s%s",
		 proc && ui->header.last.filtering && proc->attached ? "-" : "", word);
	return attach_ask(ui, text);
}

/* --- the cursor goes to what was attached ---------------------------------------------------- */

static void expect(struct ui *ui, const char *word)
{
	snprintf(ui->attaching.word, sizeof(ui->attaching.word), "%s", word);
	ui->attaching.serial++;
	ui->attaching.until = ui->now + EXPECTED_NS;
}

void attach_forget(struct ui *ui)
{
	ui->attaching.word[0] = '\0';
}

/* As bpf/tracker/selector.h has it, by what the profile knows of the process. */
static bool fits(const char *word, const regex_t *regex, const struct profile_proc *proc)
{
	static const char *const prefixes[] = {"user:", "cgroup:", "container:"};
	char pid[16];

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(word, prefixes[i], n) != 0)
			continue;
		word += n;
		word += strspn(word, " ");
		return i ? strstr(proc->group, word) != NULL : strcmp(proc->user, word) == 0;
	}
	snprintf(pid, sizeof(pid), "%d", (int)proc->pid);
	if (word[strspn(word, "0123456789")] == '\0')
		return strcmp(pid, word) == 0;
	return !proc->kthread && !regexec(regex, proc->comm, 0, NULL, 0);
}

size_t attach_find(const struct ui *ui, uint64_t *serial, size_t count,
		   const struct profile_proc *(*row)(const void *rows, size_t i), const void *rows)
{
	const struct attaching *a = &ui->attaching;
	const struct profile_proc *proc;
	regex_t regex;
	size_t i;

	if (!a->word[0] || a->serial == *serial || ui->now > a->until ||
	    (ui->grouping && ui->grouping != GROUP_TREE) ||
	    regcomp(&regex, a->word, REG_EXTENDED | REG_NOSUB))
		return count;
	for (i = 0; i < count; i++) {
		proc = row(rows, i);
		if (proc->attached && !proc->exited && fits(a->word, &regex, proc))
			break;
	}
	regfree(&regex);
	if (i < count)
		*serial = a->serial;
	return i;
}

/* --- the question ---------------------------------------------------------------------------- */

unsigned int attach_take(struct ui *ui, const char *text)
{
	bool off = text[0] == '-';

	if (ui->header.replayed) {
		ui_notice(ui, "this is a recording: its processes are fixed");
		return UI_REDRAW;
	}
	if (!text[0])
		ui_notice_command(ui, "sampling the whole machine");
	else if (off)
		ui_notice_command(ui, "detaching %s", text + off);
	else
		ui_notice_command(ui, "attaching to %s", text);
	if (text[0] && !off)
		expect(ui, text);
	ui_post(ui, !text[0] ? SOURCE_DETACH_ALL : off ? SOURCE_DETACH : SOURCE_ATTACH, text + off);
	return UI_REDRAW;
}

/* --- completion ------------------------------------------------------------------------------ */

struct offering {
	enum attach_what what;
	void (*offer)(void *arg, const char *word);
	void *arg;
};

/* Offers the words of one process. Always false, so that all are visited. */
static bool offer_proc(const struct profile_proc *proc, void *arg)
{
	const struct offering *o = arg;
	char word[64];

	if (proc->exited)
		return false;
	if (o->what == ATTACH_USERS && is_plain(proc->user))
		o->offer(o->arg, proc->user);
	if (o->what == ATTACH_GROUPS && is_plain(proc->group))
		o->offer(o->arg, proc->group);
	if (o->what == ATTACH_NAMES && !proc->kthread && is_plain(proc->comm))
		o->offer(o->arg, proc->comm);
	if (o->what != ATTACH_WORDS)
		return false;
	snprintf(word, sizeof(word), "user:%s", proc->user);
	if (proc->user[0])
		o->offer(o->arg, word);
	group_word(proc, word, sizeof(word));
	if (word[0])
		o->offer(o->arg, word);
	return false;
}

void attach_offer(const struct ui *ui, enum attach_what what,
		  void (*offer)(void *arg, const char *word), void *arg)
{
	struct offering offering = {what, offer, arg};
	struct profile *p = ui_profile(ui);
	struct match_cache verdicts = {0};

	profile_lock(p);
	/* Without memory nothing is offered. */
	(void)query_judge_procs(p, &verdicts, offer_proc, &offering);
	profile_unlock(p);
	match_cache_free(&verdicts);
}
