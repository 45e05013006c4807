// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/protoread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

uint64_t message_number(struct message *m)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		assert_true(m->size > 0 && shift < 70);
		byte = *m->data++;
		m->size--;
		value |= (uint64_t)(byte & 0x7f) << (shift < 63 ? shift : 63);
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static uint64_t fixed(struct message *m, size_t size)
{
	uint64_t value = 0;

	assert_true(m->size >= size);
	memcpy(&value, m->data, size); /* both processors are little-endian */
	m->data += size;
	m->size -= size;
	return value;
}

bool message_next(struct message *m, struct message_field *field)
{
	uint64_t head, size;

	if (!m->size)
		return false;
	head = message_number(m);
	*field = (struct message_field){.number = (unsigned int)(head >> 3), .wire = head & 7};
	assert_true(field->number > 0);
	switch (field->wire) {
	case 0:
		field->value = message_number(m);
		return true;
	case 1:
		field->value = fixed(m, 8);
		return true;
	case 2:
		size = message_number(m);
		assert_true(size <= m->size);
		field->bytes = (struct message){m->data, (size_t)size};
		m->data += size;
		m->size -= (size_t)size;
		return true;
	case 5:
		field->value = fixed(m, 4);
		return true;
	default:
		fail_msg("wire type %u", field->wire);
		return false;
	}
}

unsigned int message_count(struct message m, unsigned int number)
{
	struct message_field field;
	unsigned int n = 0;

	while (message_next(&m, &field))
		n += field.number == number;
	return n;
}

struct message message_part(struct message m, unsigned int number, unsigned int i)
{
	struct message_field field;

	while (message_next(&m, &field))
		if (field.number == number && !i--) {
			assert_int_equal(field.wire, 2);
			return field.bytes;
		}
	fail_msg("no field %u", number);
	return (struct message){0};
}

uint64_t message_value(struct message m, unsigned int number)
{
	struct message_field field;
	uint64_t value = 0;

	while (message_next(&m, &field))
		if (field.number == number) {
			assert_int_not_equal(field.wire, 2);
			value = field.value;
		}
	return value;
}

char *message_text(struct message m, unsigned int number)
{
	struct message text = {(const uint8_t *)"", 0};
	char *copy;

	if (message_count(m, number))
		text = message_part(m, number, 0);
	copy = strndup((const char *)text.data, text.size);
	assert_non_null(copy);
	assert_int_equal(strlen(copy), text.size);
	return copy;
}

struct message message_gunzip(struct message m)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)m.data, .avail_in = (unsigned int)m.size};
	size_t room = 1 << 16;
	uint8_t *data = malloc(room);
	int err = Z_OK;

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	while (err == Z_OK) {
		if (z.total_out == room)
			data = realloc(data, room *= 2);
		assert_non_null(data);
		z.next_out = data + z.total_out;
		z.avail_out = (unsigned int)(room - z.total_out);
		err = inflate(&z, Z_NO_FLUSH);
	}
	assert_int_equal(err, Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	room = z.total_out;
	inflateEnd(&z);
	return (struct message){data, room};
}
