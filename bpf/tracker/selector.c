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
	enum selector_kind kind;
} prefixes[] = {
	{"user:", SELECTOR_USER},
	{"cgroup:", SELECTOR_CGROUP},
	{"container:", SELECTOR_CONTAINER},
};

static enum selector_kind take_prefix(const char **text)
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
	return SELECTOR_NAME;
}

/* "70 postgres"; (uid_t)-1 is not a valid UID. */
static bool take_user(struct selector *w)
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

/* A number, even if no process has it. */
static bool take_pid(struct selector *w)
{
	char *end;
	long pid = strtol(w->text, &end, 10);

	if (!w->text[0] || *end)
		return false;
	w->kind = SELECTOR_PID;
	w->pid = pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
	return true;
}

bool selector_parse(const char *text, struct selector *out, const char **why)
{
	*out = (struct selector){.kind = take_prefix(&text)};
	*why = "too long";
	if (strlen(text) >= sizeof(out->text))
		return false;
	memcpy(out->text, text, strlen(text) + 1);
	*why = "nothing to look for";
	if (!text[0])
		return false;
	*why = "there is no user";
	if (out->kind == SELECTOR_USER)
		return take_user(out);
	*why = "not a regular expression";
	if (out->kind == SELECTOR_NAME && !take_pid(out))
		return !regcomp(&out->regex, text, REG_EXTENDED | REG_NOSUB);
	return true;
}

void selector_clear(struct selector *w)
{
	if (w->kind == SELECTOR_NAME)
		regfree(&w->regex);
}

bool selector_is_same(const struct selector *a, const struct selector *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == SELECTOR_USER ? a->uid == b->uid : strcmp(a->text, b->text) == 0;
}

bool selector_is_of_group(const struct selector *w)
{
	return w->kind == SELECTOR_CGROUP || w->kind == SELECTOR_CONTAINER;
}

bool selector_fits(const struct selector *w, const char *comm, uid_t uid, bool kthread)
{
	if (w->kind == SELECTOR_USER)
		return w->uid == uid;
	return w->kind == SELECTOR_NAME && !kthread && !regexec(&w->regex, comm, 0, NULL, 0);
}

bool selector_fits_group(const struct selector *w, const char *text, size_t length)
{
	if (w->kind == SELECTOR_CGROUP)
		return cgroup_fits(text, length, w->text);
	return w->kind == SELECTOR_CONTAINER && cgroup_fits_container(text, length, w->text);
}

void selector_tell(const struct selector *w, char *to, size_t size)
{
	static const char *const how[] = {
		[SELECTOR_PID] = "with the number",	   [SELECTOR_NAME] = "named",
		[SELECTOR_USER] = "of the user",	   [SELECTOR_CGROUP] = "in the cgroup",
		[SELECTOR_CONTAINER] = "in the container",
	};

	snprintf(to, size, "%s %s", how[w->kind], w->text);
}
