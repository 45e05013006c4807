// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=4096 */
/*
 * Bytes as packed samples, behind the check sum of their compression: what is taken makes sense to
 * all that reads it, and becomes requests of each protocol.
 * Covers: tui/push/pack.c tui/push/otlp.c tui/push/series.c tui/push/request.c
 */
#include "tests/fuzz/fuzz.h"

#include <zstd.h>

#include "tui/push/pack.h"
#include "tui/push/request.h"

static const struct push_options options = {
	.service = "{comm}", .threads = true, .labels = {{"a.b", 3, "c"}}, .nlabels = 1};

static void check_text(const struct export_model *c, size_t at)
{
	require(at < c->pool.size);
	require(memchr(c->pool.text + at, 0, c->pool.size - at) != NULL);
}

static void check_model(const struct export_model *c)
{
	require(c->nsamples > 0 && c->nslices == 1);
	for (uint32_t i = 0; i < c->nfuncs; i++) {
		check_text(c, c->funcs[i].name);
		check_text(c, c->funcs[i].module);
		require(c->funcs[i].number < c->nmodules);
		require(c->funcs[i].file == EXPORT_MODEL_NONE || c->funcs[i].file < c->nfiles);
	}
	for (uint32_t i = 0; i < c->nnodes; i++) {
		require(c->nodes[i].func < c->nfuncs);
		require(c->nodes[i].parent == EXPORT_MODEL_NONE || c->nodes[i].parent < i);
	}
	for (uint32_t i = 0; i < c->nprocs; i++)
		check_text(c, c->procs[i].service);
	for (size_t i = 0; i < c->nsamples; i++) {
		require(c->samples[i].proc < c->nprocs);
		require(c->samples[i].node == EXPORT_MODEL_NONE || c->samples[i].node < c->nnodes);
	}
}

static void check_requests(const struct export_model *c, const char *host)
{
	struct push_piece piece = {.c = c, .host = host, .end = c->nsamples};
	struct push_request r = {0};

	/* All samples of a stack that is deep would take too long. */
	if (piece.end > 16)
		piece.end = 16;
	for (int p = PUSH_PYROSCOPE; p < PUSH_PROTOCOLS; p++) {
		require(push_request_make(&r, (enum push_protocol)p, &options, &piece) == 0);
		require(r.end > 0 && r.end <= piece.end && r.body.size > 0);
		require(strlen(r.query) < sizeof(r.query));
	}
	push_request_free(&r);
}

static int take_input(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed;
	uint8_t *copy = malloc(room), *again;
	struct export_model c;
	char host[PUSH_HOST_MAX];
	size_t count;

	require(copy != NULL);
	packed = ZSTD_compress(copy, room, data, size, 1);
	require(!ZSTD_isError(packed));
	if (!push_unpack(copy, packed, &c, host)) {
		check_model(&c);
		check_requests(&c, host);
		if (!push_pack(&c, &options, host, &again, &packed, &count))
			free(again);
		export_model_free(&c);
	}
	free(copy);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 20, 1u << 14)
