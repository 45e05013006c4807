/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text as the address of --listen: what is taken is an address of one of two kinds, with its
 * port.
 *
 * Covers: tui/agent/listen_address.c
 */
#include "tests/fuzz/fuzz.h"

#include <netinet/in.h>

#include "tui/agent/listen.h"

static int take_input(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct sockaddr_storage at;
	socklen_t length;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (!listen_parse(text, &at, &length))
		require(strlen(text) <= size);
	else if (*text == '[')
		require(at.ss_family == AF_INET6 && length == sizeof(struct sockaddr_in6));
	else
		require(at.ss_family == AF_INET && length == sizeof(struct sockaddr_in));
	free(text);
	return 0;
}

FUZZ_TARGET(take_input, 1024, 16)
