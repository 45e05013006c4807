/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server's answer: a byte for the protocol, two for statuses, and the rest as what says more:
 * text in base64 of gRPC, the body, or both.
 * Covers: tui/push/verdict.c
 */
#include "tests/fuzz/fuzz.h"

#include "tui/net/http.h"
#include "tui/push/verdict.h"

static int take_input(const uint8_t *data, size_t size)
{
	struct http_reply reply = {.status = 200, .grpc_status = -1};
	enum push_protocol protocol;
	struct push_answer answer;
	uint8_t *body;
	size_t n;

	protocol = (enum push_protocol)(PUSH_PYROSCOPE + fuzz_u8(&data, &size) % (PUSH_OTLP_GRPC));
	reply.status = (int)fuzz_u8(&data, &size) * 4;
	reply.grpc_status = (int)fuzz_u8(&data, &size) - 1;
	n = size < sizeof(reply.details) - 1 ? size : sizeof(reply.details) - 1;
	memcpy(reply.details, data, n);
	n = size < sizeof(reply.error) - 1 ? size : sizeof(reply.error) - 1;
	memcpy(reply.error, data, n);
	body = fuzz_copy(data, size);
	reply.body = body;
	reply.size = size;
	push_judge(protocol, &reply, &answer);
	require(answer.wait <= PUSH_WAIT_MAX);
	require(answer.rejected <= INT64_MAX);
	require(memchr(answer.text, 0, sizeof(answer.text)) != NULL);
	require((answer.verdict == PUSH_TAKEN) == !*answer.text);
	require(!answer.rejected || answer.verdict == PUSH_TAKEN);
	push_knows(protocol, &reply);
	free(body);
	return 0;
}

FUZZ_TARGET(take_input, 4096, 64)
