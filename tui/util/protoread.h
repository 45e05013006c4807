/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_PROTOREAD_H
#define STACKTOP_TUI_UTIL_PROTOREAD_H

/*
 * Reads the wire format of protocol buffers (protobuf.dev/programming-guides/encoding) from memory:
 * the fields of a message one after another, nothing nested, so that hostile input can neither
 * recurse nor make it read behind the end. The caller knows what a field means.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tui/util/bytes.h"
#include "tui/util/proto.h"

struct proto_field {
	uint32_t number;
	enum proto_wire wire;
	uint64_t value;	     /* all but PROTO_BYTES */
	const uint8_t *data; /* PROTO_BYTES: into the message */
	size_t size;
};

/* A number of a fixed size, little-endian. */
static inline uint64_t proto_fixed(struct cursor *c, size_t size)
{
	uint64_t value = 0;

	if (c->bad || size > (size_t)(c->end - c->at)) {
		c->bad = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)c->at[i] << 8 * i;
	c->at += size;
	return value;
}

/*
 * The next field of the message that the cursor is in. False: there is no other one, or, if c->bad,
 * what follows is none (c->at is somewhere in it). Groups, which are deprecated, are none.
 */
static inline bool proto_next(struct cursor *c, struct proto_field *f)
{
	uint64_t tag;

	*f = (struct proto_field){0};
	if (c->bad || c->at == c->end)
		return false;
	tag = cursor_number(c);
	f->number = (uint32_t)(tag >> 3);
	f->wire = (enum proto_wire)(tag & 7);
	if (!f->number || tag >> 3 > 0x1fffffff)
		c->bad = true;
	else if (f->wire == PROTO_NUMBER)
		f->value = cursor_number(c);
	else if (f->wire == PROTO_FIXED64 || f->wire == PROTO_FIXED32)
		f->value = proto_fixed(c, f->wire == PROTO_FIXED64 ? 8 : 4);
	else if (f->wire == PROTO_BYTES)
		f->data = (const uint8_t *)cursor_text(c, &f->size);
	else
		c->bad = true;
	return !c->bad;
}

/* The content of a PROTO_BYTES field as a message; empty, if it is of another type. */
static inline struct cursor proto_message(const struct proto_field *f)
{
	static const uint8_t nothing[1];
	const uint8_t *at = f->wire == PROTO_BYTES ? f->data : nothing;

	return (struct cursor){.at = at, .end = at + (f->wire == PROTO_BYTES ? f->size : 0)};
}

/*
 * The values of a repeated number, of which a field has one or, packed, several. Starts with a
 * zeroed *state; false: there are no more, or *bad was set since they are cut.
 */
struct proto_values {
	bool begun;
	struct cursor rest;
};

static inline bool proto_value(const struct proto_field *f, struct proto_values *state,
			       uint64_t *value)
{
	bool first = !state->begun;

	if (first) {
		state->begun = true;
		state->rest = proto_message(f);
	}
	if (f->wire == PROTO_NUMBER) {
		*value = f->value;
		return first;
	}
	if (state->rest.bad || state->rest.at == state->rest.end)
		return false;
	*value = cursor_number(&state->rest);
	return !state->rest.bad;
}

#endif
