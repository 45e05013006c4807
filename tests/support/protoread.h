/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_PROTOREAD_H
#define STACKTOP_TESTS_SUPPORT_PROTOREAD_H

/*
 * Reads messages of protocol buffers (protobuf.dev/programming-guides/encoding) by no code of the
 * product. The test fails if a message makes no sense.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message {
	const uint8_t *data;
	size_t size;
};

struct message_field {
	unsigned int number, wire;
	uint64_t value;	      /* of a varint, or of four or eight bytes */
	struct message bytes; /* of a text, a message, or a list */
};

/* Takes the next field from the front. False: there is none. */
bool message_next(struct message *m, struct message_field *field);
/* Takes a varint from the front of a list. */
uint64_t message_number(struct message *m);
/* How many fields have that number. */
unsigned int message_count(struct message m, unsigned int number);
/* The i-th field of that number, which must be a text, a message or a list. */
struct message message_part(struct message m, unsigned int number, unsigned int i);
/* The last varint or fixed number of that field; 0: there is none. */
uint64_t message_value(struct message m, unsigned int number);
/* A text of that field as a string, which the caller frees; "" where it is missing. */
char *message_text(struct message m, unsigned int number);
/* Unpacks gzip; the caller frees the data. */
struct message message_gunzip(struct message m);

#endif
