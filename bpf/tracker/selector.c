// SPDX-License-Identifier: GPL-2.0-or-later
/* See selector.h. */
#include "bpf/tracker/selector.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/files/cgroup.h"

static const struct {
	const char *prefix;
	enum word_kind kind;
} prefixes[] = {
	{"user:", WORD_USER},
	{"cgroup:", WORD_CGROUP},
	{"container:", WORD_CONTAINER},
};

static enum word_kind take_prefix(const char **text)
{
	size_t n;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		n = strlen(prefixes[i].prefix);
		if (strncmp(*text, prefixes[i].prefix, n) != 0)
			continue;
		*text += n;
		*text += strspn(*text, " ");
		return prefixes[i].kind;
	}
	return WORD_NAME;
}

/* "70 postgres"; (uid_t)-1 is not a valid UID. */
static bool take_user(struct word *w)
{
	char *end;
	unsigned long uid = strtoul(w->text, &end, 10);

	if (w->text[0] < '0' || w->text[0] > '9' || (*end && *end != ' ') || uid >= UINT32_MAX)
		return false;
	w->uid = (uid_t)uid;
	if (*end && end[1])
		memmove(w->text, end + 1, strlen(end + 1) + 1);
	return true;
}

/* A number, of a process or not. */
static bool take_pid(struct word *w)
{
	char *end;
	long pid = strtol(w->text, &end, 10);

	if (!w->text[0] || *end)
		return false;
	w->kind = WORD_PID;
	w->pid = pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
	return true;
}

bool word_parse(const char *text, struct word *out, const char **why)
{
	*out = (struct word){.kind = take_prefix(&text)};
	*why = "too long";
	if (strlen(text) >= sizeof(out->text))
		return false;
	memcpy(out->text, text, strlen(text) + 1);
	*why = "nothing to look for";
	if (!text[0])
		return false;
	*why = "there is no user";
	if (out->kind == WORD_USER)
		return take_user(out);
	*why = "not a regular expression";
	if (out->kind == WORD_NAME && !take_pid(out))
		return !regcomp(&out->regex, text, REG_EXTENDED | REG_NOSUB);
	return true;
}

void word_clear(struct word *w)
{
	if (w->kind == WORD_NAME)
		regfree(&w->regex);
}

bool word_is_same(const struct word *a, const struct word *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == WORD_USER ? a->uid == b->uid : strcmp(a->text, b->text) == 0;
}

bool word_is_of_group(const struct word *w)
{
	return w->kind == WORD_CGROUP || w->kind == WORD_CONTAINER;
}

bool word_fits(const struct word *w, const struct word_subject *who)
{
	if (w->kind == WORD_USER)
		return w->uid == who->uid;
	return w->kind == WORD_NAME && !who->kthread && !regexec(&w->regex, who->comm, 0, NULL, 0);
}

bool word_fits_group(const struct word *w, const char *text, size_t length)
{
	if (w->kind == WORD_CGROUP)
		return cgroup_fits(text, length, w->text);
	return w->kind == WORD_CONTAINER && cgroup_fits_container(text, length, w->text);
}

void word_tell(const struct word *w, char *to, size_t size)
{
	static const char *const how[] = {
		[WORD_PID] = "with the number",	       [WORD_NAME] = "named",
		[WORD_USER] = "of the user",	       [WORD_CGROUP] = "in the cgroup",
		[WORD_CONTAINER] = "in the container",
	};

	snprintf(to, size, "%s %s", how[w->kind], w->text);
}
