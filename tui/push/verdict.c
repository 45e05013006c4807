// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources: RFC 9110 for the statuses of HTTP; OTLP 1.x, "Failures" (opentelemetry-proto,
 * docs/specification.md) for what may be sent again; the codes of gRPC
 * (github.com/grpc/grpc/blob/master/doc/statuscodes.md). A secret that is wrong may be set right
 * while samples wait, so it is no reason to throw them away.
 */
#include "tui/push/verdict.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tui/net/http.h"
#include "tui/util/bytes.h"

/* Codes of gRPC. */
enum {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_NOT_FOUND = 5,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
};

/* --- details of gRPC: how long to wait ---------------------------------------------------------
 */

static int digit_of(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '+' || c == '-' ? 62
	       : c == '/' || c == '_' ? 63
				      : -1;
}

/* Base64 with or without padding; what makes no sense ends it. */
static size_t decode(const char *text, uint8_t *to, size_t size)
{
	uint32_t bits = 0;
	size_t n = 0;
	int have = 0;

	for (; digit_of(*text) >= 0 && n < size; text++) {
		bits = bits << 6 | (uint32_t)digit_of(*text);
		have += 6;
		if (have >= 8) {
			have -= 8;
			to[n++] = (uint8_t)(bits >> have);
		}
	}
	return n;
}

/* The bytes of the field with that number of the message that is next; else an empty one. */
static struct cursor field_of(struct cursor message, uint64_t field, uint64_t *number)
{
	struct cursor none = {message.end, message.end, true};

	while (!message.bad && message.at < message.end) {
		uint64_t head = cursor_number(&message);
		size_t length = 0;

		if ((head & 7) == 0) {
			uint64_t value = cursor_number(&message);

			if (number && head >> 3 == field && !message.bad) {
				*number = value;
				return none;
			}
		} else if ((head & 7) == 2) {
			const char *data = cursor_text(&message, &length);

			if (head >> 3 == field && !number && !message.bad)
				return (struct cursor){(const uint8_t *)data,
						       (const uint8_t *)data + length, false};
		} else {
			return none;
		}
	}
	return none;
}

/*
 * Seconds of google.rpc.RetryInfo in google.rpc.Status (googleapis, google/rpc): details = 3 (Any:
 * value = 2), of which RetryInfo has retry_delay = 1 (Duration: seconds = 1). False: there is none.
 */
static bool retry_info(const struct http_reply *reply, unsigned int *wait)
{
	uint8_t plain[sizeof(reply->details)];
	size_t size = decode(reply->details, plain, sizeof(plain));
	struct cursor any = field_of((struct cursor){plain, plain + size, false}, 3, NULL), type;
	static const char name[] = "type.googleapis.com/google.rpc.RetryInfo";
	uint64_t seconds = 0;

	type = field_of(any, 1, NULL);
	if (any.bad || type.bad || (size_t)(type.end - type.at) != strlen(name) ||
	    memcmp(type.at, name, strlen(name)) != 0)
		return false;
	field_of(field_of(field_of(any, 2, NULL), 1, NULL), 1, &seconds);
	*wait = (unsigned int)(seconds < PUSH_WAIT_MAX ? seconds : PUSH_WAIT_MAX);
	return true;
}

/* --- verdicts -------------------------------------------------------------------------------- */

static bool is_grpc(enum push_protocol protocol)
{
	return protocol == PUSH_PARCA_GRPC || protocol == PUSH_OTLP_GRPC;
}

/* Servers' own words for a message that is over their limit. */
static bool says_too_large(const char *text)
{
	return strcasestr(text, "larger than") || strcasestr(text, "too large") ||
	       strcasestr(text, "exceeds");
}

static enum push_verdict verdict_of_grpc(const struct http_reply *reply, unsigned int *wait)
{
	switch (reply->grpc_status) {
	case GRPC_OK:
		return PUSH_TAKEN;
	case GRPC_RESOURCE_EXHAUSTED:
		if (retry_info(reply, wait))
			return PUSH_AGAIN;
		return says_too_large(reply->error) ? PUSH_TOO_LARGE : PUSH_AGAIN;
	case GRPC_INVALID_ARGUMENT:
	case GRPC_OUT_OF_RANGE:
	case GRPC_FAILED_PRECONDITION:
		return says_too_large(reply->error) ? PUSH_TOO_LARGE : PUSH_REFUSED;
	case GRPC_UNIMPLEMENTED:
	case GRPC_NOT_FOUND:
		return PUSH_UNKNOWN;
	default:
		retry_info(reply, wait);
		return PUSH_AGAIN;
	}
}

static enum push_verdict verdict_of_http(const struct http_reply *reply)
{
	switch (reply->status) {
	case 200 ... 299:
		return PUSH_TAKEN;
	case 413:
		return PUSH_TOO_LARGE;
	case 404:
	case 405:
	case 415:
	case 501:
		return PUSH_UNKNOWN;
	case 400:
	case 409:
	case 410:
	case 422:
		return says_too_large(reply->error) ? PUSH_TOO_LARGE : PUSH_REFUSED;
	default:
		return PUSH_AGAIN;
	}
}

/* ExportProfilesServiceResponse: partial_success = 1, of which rejected_profiles = 1. */
static uint64_t rejected_of(const struct http_reply *reply)
{
	struct cursor body = {reply->body, reply->body + reply->size, false};
	uint64_t rejected = 0;

	field_of(field_of(body, 1, NULL), 1, &rejected);
	return rejected > INT64_MAX ? 0 : rejected;
}

static void explain(bool grpc, const struct http_reply *reply, char *to, size_t size)
{
	const char *colon = *reply->error ? ": " : "";

	if (!reply->status)
		snprintf(to, size, "%s", *reply->error ? reply->error : "there was no answer");
	else if (grpc && reply->grpc_status > 0)
		snprintf(to, size, "gRPC status %d%s%s", reply->grpc_status, colon, reply->error);
	else if (grpc && reply->status == 200)
		snprintf(to, size, "the answer is not of gRPC");
	else
		snprintf(to, size, "HTTP %d%s%s", reply->status, colon, reply->error);
}

void push_judge(enum push_protocol protocol, const struct http_reply *reply,
		struct push_answer *out)
{
	const bool grpc = is_grpc(protocol);

	*out = (struct push_answer){.wait = reply->wait};
	if (!reply->status)
		out->verdict = PUSH_AGAIN;
	else if (grpc && reply->grpc_status >= 0)
		out->verdict = verdict_of_grpc(reply, &out->wait);
	else if (grpc && reply->status == 200)
		out->verdict = PUSH_UNKNOWN; /* it speaks something else */
	else
		out->verdict = verdict_of_http(reply);
	if (out->wait > PUSH_WAIT_MAX)
		out->wait = PUSH_WAIT_MAX;
	if (out->verdict != PUSH_TAKEN)
		explain(grpc, reply, out->text, sizeof(out->text));
	else if (protocol == PUSH_OTLP || protocol == PUSH_OTLP_GRPC)
		out->rejected = rejected_of(reply);
}

/* A server for pages answers everything with a page. */
bool push_knows(enum push_protocol protocol, const struct http_reply *reply)
{
	static const char *const types[] = {"application/json", "application/proto",
					    "application/x-protobuf", "application/grpc",
					    "application/grpc+proto"};
	struct push_answer answer;

	push_judge(protocol, reply, &answer);
	if (!reply->status || answer.verdict == PUSH_UNKNOWN)
		return false;
	if (is_grpc(protocol))
		return reply->grpc_status >= 0;
	/* 401 and 403 may come from a proxy, which has looked at the path or not. */
	if (reply->status == 401 || reply->status == 403 || reply->status == 429)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcasecmp(types[i], reply->type))
			return true;
	return answer.verdict == PUSH_TAKEN && !*reply->type && !reply->size;
}
