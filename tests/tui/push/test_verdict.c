/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What answers mean: statuses of HTTP and of gRPC, how long to wait, what was rejected, and answers
 * that make no sense. Details of gRPC were encoded by protoc from google/rpc/status.proto and
 * error_details.proto.
 * Covers: tui/push/verdict.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tui/net/http.h"
#include "tui/push/verdict.h"

static struct http_reply http(int status, const char *error)
{
	struct http_reply reply = {.status = status, .grpc_status = -1};

	snprintf(reply.error, sizeof(reply.error), "%s", error);
	return reply;
}

static struct http_reply grpc(int status, const char *error, const char *details)
{
	struct http_reply reply = http(200, error);

	reply.grpc_status = status;
	snprintf(reply.details, sizeof(reply.details), "%s", details);
	return reply;
}

static struct push_answer judged(enum push_protocol protocol, struct http_reply reply)
{
	struct push_answer answer;

	memset(&answer, 0xff, sizeof(answer));
	push_judge(protocol, &reply, &answer);
	assert_true(answer.wait <= PUSH_WAIT_MAX);
	assert_non_null(memchr(answer.text, 0, sizeof(answer.text)));
	assert_int_equal(*answer.text == '\0', answer.verdict == PUSH_TAKEN);
	return answer;
}

static void test_http(void **state)
{
	static const struct {
		int status;
		const char *error;
		enum push_verdict verdict;
	} cases[] = {
		{0, "Connection refused", PUSH_AGAIN},
		{0, "", PUSH_AGAIN},
		{200, "", PUSH_TAKEN},
		{202, "", PUSH_TAKEN},
		{204, "", PUSH_TAKEN},
		{301, "", PUSH_AGAIN},
		{400, "no such label", PUSH_REFUSED},
		{400, "message size Exceeds the limit", PUSH_TOO_LARGE},
		{400, "timestamp exceeds the max age", PUSH_REFUSED},
		{401, "", PUSH_AGAIN},
		{403, "", PUSH_AGAIN},
		{404, "", PUSH_UNKNOWN},
		{405, "", PUSH_UNKNOWN},
		{408, "", PUSH_AGAIN},
		{413, "", PUSH_TOO_LARGE},
		{415, "", PUSH_UNKNOWN},
		{422, "", PUSH_REFUSED},
		{422, "profile too large", PUSH_TOO_LARGE},
		{429, "", PUSH_AGAIN},
		{500, "", PUSH_AGAIN},
		{501, "", PUSH_UNKNOWN},
		{502, "", PUSH_AGAIN},
		{503, "", PUSH_AGAIN},
		{504, "", PUSH_AGAIN},
		{999, "", PUSH_AGAIN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int p = PUSH_PYROSCOPE; p <= PUSH_OTLP; p++) {
			struct push_answer answer;

			if (p == PUSH_PARCA_GRPC)
				continue;
			answer = judged((enum push_protocol)p,
					http(cases[i].status, cases[i].error));
			if (answer.verdict != cases[i].verdict)
				fail_msg("HTTP %d %s is %d", cases[i].status, cases[i].error,
					 answer.verdict);
			assert_int_equal(answer.wait, 0);
		}
	assert_string_equal(judged(PUSH_OTLP, http(429, "slow down")).text, "HTTP 429: slow down");
	assert_string_equal(judged(PUSH_OTLP, http(500, "")).text, "HTTP 500");
	assert_string_equal(judged(PUSH_OTLP, http(0, "Connection refused")).text,
			    "Connection refused");
	assert_string_equal(judged(PUSH_OTLP, http(0, "")).text, "there was no answer");
}

static void test_grpc(void **state)
{
	/* By code, 0 to 17. */
	static const enum push_verdict verdicts[] = {
		PUSH_TAKEN,   PUSH_AGAIN, PUSH_AGAIN, PUSH_REFUSED, PUSH_AGAIN, PUSH_UNKNOWN,
		PUSH_AGAIN,   PUSH_AGAIN, PUSH_AGAIN, PUSH_REFUSED, PUSH_AGAIN, PUSH_AGAIN,
		PUSH_UNKNOWN, PUSH_AGAIN, PUSH_AGAIN, PUSH_AGAIN,   PUSH_AGAIN, PUSH_AGAIN,
	};
	static const enum push_protocol both[] = {PUSH_PARCA_GRPC, PUSH_OTLP_GRPC};

	(void)state;
	for (int p = 0; p < 2; p++) {
		for (int code = 0; code < 18; code++)
			if (judged(both[p], grpc(code, "why", "")).verdict != verdicts[code])
				fail_msg("gRPC %d", code);
		assert_int_equal(
			judged(both[p], grpc(8, "received message larger than max", "")).verdict,
			PUSH_TOO_LARGE);
		assert_int_equal(judged(both[p], grpc(3, "profile too large", "")).verdict,
				 PUSH_TOO_LARGE);
		assert_string_equal(judged(both[p], grpc(14, "no", "")).text, "gRPC status 14: no");
		/* What answers does not speak gRPC. */
		assert_int_equal(judged(both[p], http(200, "")).verdict, PUSH_UNKNOWN);
		assert_int_equal(judged(both[p], http(404, "")).verdict, PUSH_UNKNOWN);
		assert_int_equal(judged(both[p], http(503, "")).verdict, PUSH_AGAIN);
		assert_int_equal(judged(both[p], http(0, "")).verdict, PUSH_AGAIN);
	}
}

/* --- how long to wait ------------------------------------------------------------------------ */

#define HEAD  "CAgSCXNsb3cgZG93bh"
#define RETRY "Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZv"
#define SEVEN HEAD "ow" RETRY "EgQKAggH"
/* After an ErrorInfo, 90.000000005 s. */
#define SECOND                                                                                     \
	HEAD "ozCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuRXJyb3JJbmZvEgcKBVFVT1RBGjIK"          \
	     "KHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SBgoECFoQBQ=="
#define NEGATIVE  HEAD "o5" RETRY "Eg0KCwj///////////8B"
#define HUGE_WAIT HEAD "o0" RETRY "EggKBgiAlOvcAw=="
#define NO_DELAY  HEAD "os" RETRY "EgA="
#define OTHER	  HEAD "owCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuRXJyb3JJbmZvEgQKAggH"
/* Behind fields of unknown numbers, of eight and four bytes. */
#define FIXED "CAhJAAAAAAAAAABVAAAAABow" RETRY "EgQKAggH"

static void test_retry_info(void **state)
{
	static const struct {
		const char *details;
		unsigned int wait;
	} cases[] = {
		{SEVEN, 7},    {SECOND, 90},  {NEGATIVE, 0}, {HUGE_WAIT, PUSH_WAIT_MAX},
		{NO_DELAY, 0}, {OTHER, 0},    {FIXED, 7},    {"", 0},
		{"====", 0},   {"!SEVEN", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int code = 1; code < 17; code++) {
			struct push_answer answer =
				judged(PUSH_OTLP_GRPC, grpc(code, "", cases[i].details));

			if (answer.verdict == PUSH_AGAIN && answer.wait != cases[i].wait)
				fail_msg("%s: %u s", cases[i].details, answer.wait);
		}
	/* Who says when to come back does not mean the size. */
	assert_int_equal(judged(PUSH_OTLP_GRPC, grpc(8, "size exceeds", SEVEN)).verdict,
			 PUSH_AGAIN);
	assert_int_equal(judged(PUSH_OTLP_GRPC, grpc(8, "size exceeds", OTHER)).verdict,
			 PUSH_TOO_LARGE);
}

static void test_retry_after(void **state)
{
	struct http_reply reply = http(429, "");

	(void)state;
	reply.wait = 17;
	assert_int_equal(judged(PUSH_PYROSCOPE, reply).wait, 17);
	reply.wait = 86400;
	assert_int_equal(judged(PUSH_PYROSCOPE, reply).wait, PUSH_WAIT_MAX);
	reply = grpc(14, "", "");
	reply.wait = 5;
	assert_int_equal(judged(PUSH_OTLP_GRPC, reply).wait, 5);
}

/* Any beginning, and any byte changed: a bounded wait, and nothing read behind the end. */
static void test_hostile_details(void **state)
{
	static const char *const texts[] = {SEVEN, SECOND, NEGATIVE, HUGE_WAIT, FIXED};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (size_t n = 0; n < strlen(texts[i]); n++)
			for (int flip = 0; flip < 8; flip++) {
				char text[1024];

				snprintf(text, sizeof(text), "%.*s", (int)n, texts[i]);
				judged(PUSH_OTLP_GRPC, grpc(8, "", text));
				snprintf(text, sizeof(text), "%s", texts[i]);
				text[n] ^= (char)(1 << flip);
				judged(PUSH_OTLP_GRPC, grpc(8, "", text));
			}
}

/* --- what was taken, but not all of it ------------------------------------------------------- */

static struct push_answer taken(enum push_protocol protocol, const void *body, size_t size)
{
	struct http_reply reply = protocol == PUSH_OTLP_GRPC ? grpc(0, "", "") : http(200, "");
	uint8_t *copy = malloc(size + 1);
	struct push_answer answer;

	memcpy(copy, body, size);
	/* Of its own size, so that no byte behind it can be read. */
	copy = realloc(copy, size ? size : 1);
	assert_non_null(copy);
	reply.body = copy;
	reply.size = size;
	answer = judged(protocol, reply);
	assert_int_equal(answer.verdict, PUSH_TAKEN);
	free(copy);
	return answer;
}

#define TAKEN(protocol, text) taken(protocol, text, sizeof(text) - 1).rejected

static void test_partial_success(void **state)
{
	static const enum push_protocol both[] = {PUSH_OTLP, PUSH_OTLP_GRPC};
	/* partial_success { rejected_profiles: 300 error_message: "bad" } */
	static const char many[] = "\x0a\x08\x08\xac\x02\x12\x03"
				   "bad";

	(void)state;
	for (int p = 0; p < 2; p++) {
		assert_int_equal(TAKEN(both[p], ""), 0);
		assert_int_equal(TAKEN(both[p], "\x0a\x00"), 0);
		assert_int_equal(TAKEN(both[p], many), 300);
		assert_int_equal(TAKEN(both[p], "\x0a\x05\x12\x01x\x08\x05"), 5);
		/* A warning. */
		assert_int_equal(TAKEN(both[p], "\x0a\x03\x12\x01x"), 0);
		/* Fields that are not known. */
		assert_int_equal(TAKEN(both[p], "\x51"
						"12345678"
						"\x0a\x02\x08\x02"),
				 2);
		/* -1, a text in its place, JSON, a group. */
		assert_int_equal(
			TAKEN(both[p], "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0);
		assert_int_equal(TAKEN(both[p], "\x0a\x03\x0a\x01x"), 0);
		assert_int_equal(TAKEN(both[p], "{\"partialSuccess\":{}}"), 0);
		assert_int_equal(TAKEN(both[p], "\x0b\x08\x05\x0c"), 0);
		/* Cut off, and lengths beyond the end. */
		for (size_t n = 0; n < sizeof(many) - 1; n++)
			assert_int_equal(taken(both[p], many, n).rejected, 0);
		assert_int_equal(TAKEN(both[p], "\x0a\xff\xff\xff\xff\x0f\x08\x05"), 0);
	}
	/* Only OpenTelemetry has it. */
	assert_int_equal(TAKEN(PUSH_PYROSCOPE, "\x0a\x02\x08\x05"), 0);
	assert_int_equal(TAKEN(PUSH_PARCA, "\x0a\x02\x08\x05"), 0);
}

static void test_random_bodies(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint8_t body[32];
		size_t size = feed_random(&seed, sizeof(body) + 1);

		for (size_t n = 0; n < size; n++)
			body[n] = (uint8_t)(feed_random(&seed, 2) ? feed_random(&seed, 256)
								  : 0x0a + feed_random(&seed, 3));
		taken(PUSH_OTLP, body, size);
	}
}

/* --- does a server know a protocol ----------------------------------------------------------- */

static bool knows(enum push_protocol protocol, struct http_reply reply, const char *type)
{
	snprintf(reply.type, sizeof(reply.type), "%s", type);
	return push_knows(protocol, &reply);
}

static void test_knows(void **state)
{
	struct http_reply page = http(200, "");

	(void)state;
	page.body = (const uint8_t *)"<html>";
	page.size = 6;
	assert_true(knows(PUSH_PYROSCOPE, http(200, ""), "application/proto"));
	assert_true(knows(PUSH_PYROSCOPE, http(400, "no series"), "application/json"));
	/* It may be a proxy that says so of any path. */
	assert_false(knows(PUSH_PYROSCOPE, http(401, ""), "text/plain"));
	assert_false(knows(PUSH_PYROSCOPE, http(429, ""), ""));
	assert_true(knows(PUSH_OTLP, http(200, ""), ""));
	assert_true(knows(PUSH_OTLP, http(200, ""), "application/x-protobuf"));
	assert_false(knows(PUSH_OTLP, http(200, ""), "text/html"));
	assert_false(knows(PUSH_OTLP, page, ""));
	assert_false(knows(PUSH_OTLP, http(404, ""), "application/json"));
	assert_false(knows(PUSH_OTLP, http(0, "Connection refused"), ""));
	assert_false(knows(PUSH_PYROSCOPE, http(500, ""), "text/html"));
	assert_true(knows(PUSH_OTLP_GRPC, grpc(0, "", ""), "application/grpc"));
	assert_true(knows(PUSH_OTLP_GRPC, grpc(3, "", ""), "application/grpc"));
	assert_false(knows(PUSH_OTLP_GRPC, grpc(12, "", ""), "application/grpc"));
	assert_false(knows(PUSH_OTLP_GRPC, http(200, ""), "application/grpc"));
	assert_false(knows(PUSH_PARCA_GRPC, http(404, ""), "text/html"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_grpc),
		cmocka_unit_test(test_retry_info),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_hostile_details),
		cmocka_unit_test(test_partial_success),
		cmocka_unit_test(test_random_bodies),
		cmocka_unit_test(test_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
