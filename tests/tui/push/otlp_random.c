/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes requests of OpenTelemetry with the samples of random models (tests/support/randommodel.h),
 * each with its length in four bytes before it, the lowest first:
 *
 *     otlp_random SEED COUNT
 *
 * They were packed and unpacked, as on their way through a queue; each second one is a piece.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/randommodel.h"
#include "tui/push/pack.h"
#include "tui/push/request.h"

static const struct push_options rules[] = {
	{.service = "{comm}", .threads = true},
	{.service = "{cgroup}"},
	{.service = "all",
	 .threads = true,
	 .labels = {{"zone", 4, "eu-1"}, {"zone", 4, "eu-2"}, {"host.name", 9, "mine"}},
	 .nlabels = 3},
	{.service = "{user}{pid}",
	 .labels = {{"process.pid", 11, "42"}, {"service.name", 12, "\xc3\xa4"}},
	 .nlabels = 2},
};

#define RULES (sizeof(rules) / sizeof(*rules))

static int put_request(const struct push_options *options, const struct push_piece *piece)
{
	struct outbytes out = {0};
	size_t profiles;
	int err = push_otlp(&out, options, piece, &profiles);
	uint8_t length[4];

	for (int i = 0; i < 4; i++)
		length[i] = (uint8_t)(out.size >> (8 * i));
	if (!err && (fwrite(length, 1, sizeof(length), stdout) != sizeof(length) ||
		     fwrite(out.data, 1, out.size, stdout) != out.size))
		err = -1;
	bytes_free(&out);
	return err;
}

static int put_model(uint64_t seed)
{
	const struct push_options *options = &rules[seed % RULES];
	struct push_piece piece = {.host = seed % 5 ? "node1" : ""};
	struct export_model c, back;
	char host[PUSH_HOST_MAX];
	size_t size, count;
	uint8_t *data;
	int err;

	random_model(&c, seed);
	memcpy(piece.id, &seed, sizeof(seed));
	if (push_pack(&c, options, piece.host, &data, &size, &count) ||
	    push_unpack(data, size, &back, host))
		return -1;
	piece.c = &back;
	piece.end = back.nsamples;
	if (seed % 2) {
		piece.first = back.nsamples / 3;
		piece.end -= (back.nsamples - piece.first) / 3;
	}
	err = put_request(options, &piece);
	free(data);
	export_model_free(&back);
	export_model_free(&c);
	return err;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t end = seed + (argc > 2 ? strtoull(argv[2], NULL, 10) : 1);

	for (; seed < end; seed++)
		if (put_model(seed))
			return EXIT_FAILURE;
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
