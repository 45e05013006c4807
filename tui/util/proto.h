/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_PROTO_H
#define STACKTOP_TUI_UTIL_PROTO_H

/*
 * Writes messages of protocol buffers (protobuf.dev/programming-guides/encoding): a field is its
 * number and wire type, and then a varint, eight bytes, or a length and bytes. A message that is
 * part of another one is written to a buffer of its own first.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tui/util/bytes.h"

enum proto_wire {
	PROTO_NUMBER = 0,
	PROTO_FIXED64 = 1,
	PROTO_BYTES = 2,
	PROTO_FIXED32 = 5,
};

static inline void proto_head(struct outbytes *m, unsigned int field, enum proto_wire wire)
{
	bytes_put_number(m, (uint64_t)field << 3 | wire);
}

/* A zero, which is the default, is left out. */
static inline void proto_number(struct outbytes *m, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	proto_head(m, field, PROTO_NUMBER);
	bytes_put_number(m, value);
}

static inline void proto_fixed64(struct outbytes *m, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	proto_head(m, field, PROTO_FIXED64);
	for (int i = 0; i < 8; i++, value >>= 8)
		bytes_put(m, &(uint8_t){(uint8_t)value}, 1);
}

/* Also if there are none: a repeated field has an element more. */
static inline void proto_bytes(struct outbytes *m, unsigned int field, const void *data, size_t n)
{
	proto_head(m, field, PROTO_BYTES);
	bytes_put_number(m, n);
	bytes_put(m, data, n);
}

/* An empty text, which is the default, is left out. */
static inline void proto_text(struct outbytes *m, unsigned int field, const char *text)
{
	if (*text)
		proto_bytes(m, field, text, strlen(text));
}

/* The part becomes a field of the message, and is emptied. */
static inline void proto_part(struct outbytes *m, unsigned int field, struct outbytes *part)
{
	m->failed |= part->failed;
	proto_bytes(m, field, part->data ? part->data : (const uint8_t *)"", part->size);
	part->size = 0;
}

#endif
