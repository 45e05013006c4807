/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text as the URL of --push, a label, a spool or a rule for services: what is taken has its form,
 * and no URL with a user.
 * Covers: tui/push/target.c
 */
#include "tests/fuzz/fuzz.h"

#include "tui/push/target.h"

static void check_url(const char *text)
{
	struct push_target target, again;
	char error[256] = "";

	if (!push_target_parse(text, &target, error, sizeof(error))) {
		require(*error != '\0');
		return;
	}
	require(!strncmp(target.base, "http://", 7) || !strncmp(target.base, "https://", 8));
	require(!memchr(strstr(target.base, "://") + 3, '@',
			strcspn(strstr(target.base, "://") + 3, "/")));
	require(target.base[strlen(target.base) - 1] != '/');
	for (const char *s = target.base; *s; s++)
		require(*s > ' ' && *s <= '~');
	require(!*target.url == (target.protocol == PUSH_ASK));
	for (int p = PUSH_PYROSCOPE; p < PUSH_PROTOCOLS; p++) {
		push_target_set(&target, (enum push_protocol)p);
		require(!strncmp(target.url, target.base, strlen(target.base)));
		/* It says itself which protocol it is. */
		require(strlen(target.url) >= PUSH_URL_MAX / 2 ||
			(push_target_parse(target.url, &again, error, sizeof(error)) &&
			 again.protocol == target.protocol && !strcmp(again.base, target.base)));
	}
}

static void check_others(const char *text)
{
	static const struct push_names names = {"comm", "user", "group", "host", 7};
	struct push_options options = {0};
	char service[PUSH_TEXT_MAX];
	struct push_label label;

	if (push_label_parse(text, &label)) {
		require(label.key == text && label.key_length > 0);
		require(label.value == text + label.key_length + 1 && *label.value);
	}
	if (push_spool_parse(text, &options)) {
		require(options.spool_length > 0 && text[options.spool_length] == ':');
		require(options.spool_bytes >= PUSH_SPOOL_LEAST);
	}
	if (push_service(text, &names, service))
		require(*service && strlen(service) < PUSH_TEXT_MAX);
}

static int take_input(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	check_url(text);
	check_others(text);
	free(text);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 512)
