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
#include "tui/util/protoread.h"

/* Codes of gRPC. */
enum {
	GRPC_OK = 0,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_NOT_FOUND = 5,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
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

/* The last field of that number and wire type. False: there is none. */
static bool find_field(struct cursor message, uint64_t number, enum proto_wire wire,
		       struct proto_field *out)
{
	struct proto_field field;
	bool found = false;

	while (proto_next(&message, &field))
		if (field.number == number && field.wire == wire) {
			*out = field;
			found = true;
		}
	return found;
}

/* Any (google/protobuf/any.proto): type_url = 1, value = 2. */
static bool is_retry_info(struct cursor any)
{
	static const char name[] = "type.googleapis.com/google.rpc.RetryInfo";
	struct proto_field type;

	return find_field(any, 1, PROTO_BYTES, &type) && type.size == strlen(name) &&
	       !memcmp(type.data, name, strlen(name));
}

/*
 * Seconds of google.rpc.RetryInfo in google.rpc.Status (googleapis, google/rpc): one of its details
 * = 3 (Any), of which RetryInfo has retry_delay = 1 (Duration: seconds = 1). False: there is none.
 */
static bool retry_info(const struct http_reply *reply, unsigned int *wait)
{
	uint8_t plain[sizeof(reply->details)];
	size_t size = decode(reply->details, plain, sizeof(plain));
	struct cursor status = {plain, plain + size, false};
	struct proto_field detail, value;
	uint64_t seconds = 0;
	bool found = false;

	while (!found && proto_next(&status, &detail))
		found = detail.number == 3 && detail.wire == PROTO_BYTES &&
			is_retry_info(proto_message(&detail));
	if (!found)
		return false;
	if (find_field(proto_message(&detail), 2, PROTO_BYTES, &value) &&
	    find_field(proto_message(&value), 1, PROTO_BYTES, &value) &&
	    find_field(proto_message(&value), 1, PROTO_NUMBER, &value) && value.value <= INT64_MAX)
		seconds = value.value;
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
	       (strcasestr(text, "exceeds") &&
		(strcasestr(text, "size") || strcasestr(text, "bytes")));
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
		/* A page: Parca has one for every path that it does not know. */
		return strcasecmp(reply->type, "text/html") == 0 ? PUSH_UNKNOWN : PUSH_TAKEN;
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
	struct proto_field field;

	return find_field(body, 1, PROTO_BYTES, &field) &&
			       find_field(proto_message(&field), 1, PROTO_NUMBER, &field) &&
			       field.value <= INT64_MAX
		       ? field.value
		       : 0;
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
	/* It has no answer of a type of its own, but refuses what is empty. */
	if (protocol == PUSH_INGEST && answer.verdict == PUSH_REFUSED)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcasecmp(types[i], reply->type))
			return true;
	return answer.verdict == PUSH_TAKEN && !*reply->type && !reply->size;
}
