// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of .eh_frame and .debug_frame written by hand: versions, 32- and 64-bit forms, pointer
 * encodings, augmentations, and the cost of a broken record.
 * Covers: unwind/ehframe.c unwind/cursor.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/elfimage.h"
#include "unwind/ehframe.h"

#define ADDR 0x400000u

static struct cfi_bytes bytes;

static struct cfi_section section_of(const struct cfi_bytes *b, bool eh_frame)
{
	return (struct cfi_section){.data = b->data,
				    .size = b->size,
				    .addr = ADDR,
				    .eh_frame = eh_frame,
				    .text = 0x100000,
				    .got = 0x200000};
}

static void read_all(struct cfi *cfi, bool eh_frame)
{
	struct cfi_section section = section_of(&bytes, eh_frame);

	assert_int_equal(cfi_read(&section, cfi), 0);
}

static int setup(void **state)
{
	(void)state;
	memset(&bytes, 0, sizeof(bytes));
	return 0;
}

static void test_plain(void **state)
{
	struct cfi cfi;

	(void)state;
	cfi_cie(&bytes, "zR");
	cfi_fde(&bytes, 0x1000, 0x20, "\x41\x0e\x10", 3);
	cfi_fde(&bytes, 0x500, 0x10, "", 0);
	read_all(&cfi, true);
	assert_int_equal(cfi.ncies, 1);
	assert_int_equal(cfi.nfdes, 2);
	assert_int_equal(cfi.bad_fdes, 0);
	assert_int_equal(cfi.cies[0].ra_reg, 16);
	assert_int_equal(cfi.cies[0].code_align, 1);
	assert_int_equal(cfi.cies[0].data_align, -8);
	assert_int_equal(cfi.cies[0].ninsns, 5);
	assert_true(cfi.cies[0].sized);
	assert_false(cfi.cies[0].signal);
	assert_int_equal(cfi.fdes[0].start, 0x1000);
	assert_int_equal(cfi.fdes[0].end, 0x1020);
	assert_int_equal(cfi.fdes[0].ninsns, 3);
	assert_memory_equal(bytes.data + cfi.fdes[0].insns, "\x41\x0e\x10", 3);
	assert_int_equal(cfi.fdes[1].start, 0x500);
	cfi_free(&cfi);
	/* the terminator does not end the section */
	cfi_u32(&bytes, 0);
	cfi_fde(&bytes, 0x3000, 0x10, "", 0);
	read_all(&cfi, true);
	assert_int_equal(cfi.nfdes, 3);
	assert_int_equal(cfi.ncies, 1);
	assert_int_equal(cfi.bad_fdes, 0);
	cfi_free(&cfi);
}

/* An .eh_frame CIE of a version, with personality, LSDA, signal and B. */
static void put_cie(unsigned int version, const char *augmentation, const char *data, size_t n)
{
	cfi_begin(&bytes);
	bytes.cie = bytes.record;
	cfi_u32(&bytes, 0);
	cfi_u8(&bytes, version);
	cfi_put(&bytes, augmentation, strlen(augmentation) + 1);
	if (version == 4) {
		cfi_u8(&bytes, 8);
		cfi_u8(&bytes, 0);
	}
	cfi_uleb(&bytes, 4);
	cfi_u8(&bytes, 0x78);
	if (version == 1)
		cfi_u8(&bytes, 0x90); /* a byte, not the start of a LEB128 */
	else
		cfi_uleb(&bytes, 0x90);
	if (augmentation[0] == 'z')
		cfi_uleb(&bytes, n);
	cfi_put(&bytes, data, n);
	cfi_end(&bytes);
}

static void test_versions(void **state)
{
	struct cfi cfi;

	(void)state;
	put_cie(1, "", "", 0);
	put_cie(3, "", "", 0);
	put_cie(4, "", "", 0);
	put_cie(2, "", "", 0);
	put_cie(5, "", "", 0);
	put_cie(1, "eh", "12345678", 8);
	read_all(&cfi, true);
	assert_int_equal(cfi.ncies, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(cfi.cies[i].bad, i == 3 || i == 4);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cfi.cies[i].ra_reg, 0x90);
		assert_int_equal(cfi.cies[i].code_align, 4);
	}
	cfi_free(&cfi);
}

static void test_augmentations(void **state)
{
	struct cfi cfi;

	(void)state;
	/* indirect pcrel sdata4 personality, sdata4 LSDA, pcrel sdata4 FDEs, signal, key B */
	put_cie(1, "zPLRSB", "\x9b\x11\x22\x33\x44\x1b\x1b", 7);
	/* personality omitted */
	put_cie(1, "zPR", "\xff\x1b", 2);
	/* an aligned personality, with data that begins at an unaligned address */
	put_cie(1, "zPR", "\x50\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x1b", 17);
	/* unknown: with z it is skipped, without z the bytes after it cannot be understood */
	put_cie(1, "zQ", "\x01\x02\x03", 3);
	put_cie(1, "Q", "", 0);
	/* data longer than the record, and shorter than the letters need */
	put_cie(1, "zR", "", 0);
	read_all(&cfi, true);
	assert_int_equal(cfi.ncies, 6);
	assert_true(cfi.cies[0].signal);
	assert_int_equal(cfi.cies[0].encoding, 0x1b);
	assert_int_equal(cfi.cies[0].ninsns, 0);
	assert_int_equal(cfi.cies[1].encoding, 0x1b);
	assert_false(cfi.cies[3].bad);
	assert_true(cfi.cies[4].bad);
	assert_true(cfi.cies[5].bad);
	cfi_free(&cfi);
}

/* An FDE of the last CIE, with its addresses as bytes. */
static void put_fde(const char *addresses, size_t n)
{
	cfi_begin(&bytes);
	cfi_u32(&bytes, (uint32_t)(bytes.size - bytes.cie));
	cfi_put(&bytes, addresses, n);
	cfi_uleb(&bytes, 0);
	cfi_end(&bytes);
}

static void check_encoding(unsigned int encoding, const char *addresses, size_t n, uint64_t start)
{
	char data = (char)encoding;
	struct cfi cfi;
	uint64_t at;

	memset(&bytes, 0, sizeof(bytes));
	put_cie(1, "zR", &data, 1);
	at = ADDR + bytes.size + 8;
	put_fde(addresses, n);
	read_all(&cfi, true);
	assert_int_equal(cfi.bad_fdes, 0);
	assert_int_equal(cfi.nfdes, 1);
	if ((encoding & 0x70) == 0x10)
		start += at;
	assert_int_equal(cfi.fdes[0].start, start);
	assert_int_equal(cfi.fdes[0].end - cfi.fdes[0].start, 0x20);
	assert_int_equal(cfi.fdes[0].ninsns, 0);
	cfi_free(&cfi);
}

static void test_encodings(void **state)
{
	(void)state;
	check_encoding(0x00, "\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0", 16, 0x1000);
	check_encoding(0x04, "\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0", 16, 0x1000);
	check_encoding(0x0c, "\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0", 16, 0x1000);
	check_encoding(0x08, "\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0", 16, 0x1000);
	check_encoding(0x03, "\x00\x10\0\x80\x20\0\0\0", 8, 0x80001000);
	check_encoding(0x02, "\x00\x90\x20\0", 4, 0x9000);
	check_encoding(0x01, "\x80\x20\x20", 3, 0x1000);
	check_encoding(0x09, "\x80\x20\x20", 3, 0x1000);
	check_encoding(0x1b, "\x00\xf0\xff\xff\x20\0\0\0", 8, (uint64_t)-0x1000);
	check_encoding(0x1a, "\x00\xf0\x20\0", 4, (uint64_t)-0x1000);
	check_encoding(0x1c, "\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0", 16, 0x1000);
	check_encoding(0x10, "\x00\x10\0\0\0\0\0\0\x20\0\0\0\0\0\0\0", 16, 0x1000);
	check_encoding(0x2b, "\x00\x10\0\0\x20\0\0\0", 8, 0x101000);
	check_encoding(0x3b, "\x00\x10\0\0\x20\0\0\0", 8, 0x201000);
}

static bool read_slot(void *arg, uint64_t addr, uint64_t *value)
{
	*value = 0x5000;
	return addr == *(uint64_t *)arg;
}

static void test_pointers(void **state)
{
	static const uint8_t data[] =
		"\x01\x02\x00\x00\x00\x00\x00\x00\x11\x22\x33\x44\x55\x66\x77\x08";
	uint64_t slot = 0x2201;
	struct cfi_section s = {.data = data, .size = sizeof(data), .addr = ADDR, .got = 0x2000};
	struct cfi_cursor c = cursor_new(data, 16);

	(void)state;
	/* indirect: refused without a reader, and where the reader fails */
	assert_int_equal(cfi_pointer(&s, &c, 0xb2, 8, 0), 0);
	assert_true(c.failed);
	s.read = read_slot;
	s.arg = &slot;
	c = cursor_new(data, 16);
	assert_int_equal(cfi_pointer(&s, &c, 0xb2, 8, 0), 0x5000);
	slot = 1;
	c = cursor_new(data, 16);
	cfi_pointer(&s, &c, 0xb2, 8, 0);
	assert_true(c.failed);
	/* aligned: from byte 1 to byte 8 */
	c = cursor_new(data, 16);
	cursor_u8(&c);
	assert_int_equal(cfi_pointer(&s, &c, 0x50, 8, 0), 0x0877665544332211);
	assert_int_equal(cursor_left(&c), 0);
	/* relative to the function, omitted, null, unknown */
	c = cursor_new(data, 16);
	assert_int_equal(cfi_pointer(&s, &c, 0x42, 8, 0x7000), 0x7201);
	assert_int_equal(cfi_pointer(&s, &c, 0xff, 8, 0), 0);
	assert_int_equal(cursor_left(&c), 14);
	assert_int_equal(cfi_pointer(&s, &c, 0x12, 8, 0), 0);
	assert_false(c.failed);
	cfi_pointer(&s, &c, 0x0f, 8, 0);
	assert_true(c.failed);
	c = cursor_new(data, 16);
	cfi_pointer(&s, &c, 0x63, 8, 0);
	assert_true(c.failed);
}

static void test_64_bit(void **state)
{
	struct cfi cfi;
	size_t cie;

	(void)state;
	/* .debug_frame: 8-byte length, 8-byte ids that are offsets; the FDE comes first */
	cfi_u32(&bytes, 0xffffffff);
	cfi_u64(&bytes, 8 + 16);
	cfi_u64(&bytes, 36);
	cfi_u64(&bytes, 0x1000);
	cfi_u64(&bytes, 0x20);
	cie = bytes.size;
	assert_int_equal(cie, 36);
	cfi_u32(&bytes, 0xffffffff);
	cfi_u64(&bytes, 8 + 7);
	cfi_u64(&bytes, UINT64_MAX);
	cfi_put(&bytes, "\x04\0\x08\0\x01\x78\x10", 7);
	read_all(&cfi, false);
	assert_int_equal(cfi.nfdes, 1);
	assert_int_equal(cfi.fdes[0].start, 0x1000);
	assert_int_equal(cfi.cies[0].addr_size, 8);
	cfi_free(&cfi);
	/* .eh_frame: 8-byte length, 4-byte ids */
	setup(NULL);
	cfi_u32(&bytes, 0xffffffff);
	cfi_u64(&bytes, 4 + 5);
	cfi_u32(&bytes, 0);
	cfi_put(&bytes, "\x01\0\x01\x78\x10", 5);
	cfi_u32(&bytes, 0xffffffff);
	cfi_u64(&bytes, 4 + 16);
	cfi_u32(&bytes, (uint32_t)bytes.size);
	cfi_u64(&bytes, 0x1000);
	cfi_u64(&bytes, 0x20);
	read_all(&cfi, true);
	assert_int_equal(cfi.nfdes, 1);
	assert_int_equal(cfi.bad_fdes, 0);
	cfi_free(&cfi);
}

static void test_malformed(void **state)
{
	struct cfi cfi;
	size_t fde, sound;

	(void)state;
	cfi_cie(&bytes, "zR");
	fde = bytes.size;
	cfi_fde(&bytes, 0x1000, 0x20, "", 0);
	/* a CIE pointer out of the section, to an FDE, into the middle of the CIE */
	for (int i = 0; i < 3; i++) {
		const uint32_t back[] = {0x100000, (uint32_t)(bytes.size + 4 - fde),
					 (uint32_t)(bytes.size + 4 - bytes.cie - 4)};

		cfi_begin(&bytes);
		cfi_u32(&bytes, back[i]);
		cfi_u64(&bytes, 0x5000);
		cfi_u64(&bytes, 0x10);
		cfi_u8(&bytes, 0);
		cfi_end(&bytes);
	}
	/* a range that wraps, augmentation data longer than the record, cut off addresses */
	cfi_fde(&bytes, 0x6000, UINT64_MAX, "", 0);
	cfi_fde_begin(&bytes, 0x6000, 16);
	bytes.data[bytes.size - 1] = 0x70;
	cfi_end(&bytes);
	cfi_begin(&bytes);
	cfi_u32(&bytes, (uint32_t)(bytes.size - bytes.cie));
	cfi_u32(&bytes, 0x7000);
	cfi_end(&bytes);
	/* no length, no function */
	cfi_fde(&bytes, 0x6000, 0, "", 0);
	cfi_fde(&bytes, 0, 0x10, "", 0);
	/* and a sound one */
	cfi_fde(&bytes, 0x2000, 0x20, "", 0);
	read_all(&cfi, true);
	assert_int_equal(cfi.nfdes, 2);
	assert_int_equal(cfi.bad_fdes, 6);
	assert_int_equal(cfi.empty_fdes, 2);
	assert_int_equal(cfi.fdes[1].start, 0x2000);
	cfi_free(&cfi);
	/* a length beyond the section or a reserved one ends it; earlier functions are kept */
	sound = bytes.size;
	for (int i = 0; i < 2; i++) {
		cfi_u32(&bytes, i ? 0xfffffff0 : 0x1000);
		cfi_fde(&bytes, 0x9000, 0x20, "", 0);
		read_all(&cfi, true);
		assert_int_equal(cfi.nfdes, 2);
		assert_int_equal(cfi.bad_fdes, 7);
		cfi_free(&cfi);
		bytes.size = sound;
	}
}

/* Every prefix of a section is read without harm, and never has more functions. */
static void test_prefixes(void **state)
{
	uint32_t last = 0;
	size_t size;

	(void)state;
	cfi_cie(&bytes, "zR");
	cfi_fde(&bytes, 0x1000, 0x20, "\x41\x0e\x10", 3);
	cfi_fde(&bytes, 0x2000, 0x20, "\x41\x0e\x10", 3);
	size = bytes.size;
	for (size_t n = 0; n <= size; n++) {
		/* at the end of a malloc'd block, where a sanitizer sees the byte after it */
		uint8_t *copy = malloc(n ? n : 1);
		struct cfi_section s = section_of(&bytes, true);
		struct cfi cfi;

		assert_non_null(copy);
		memcpy(copy, bytes.data, n);
		s.data = copy;
		s.size = n;
		if (cfi_read(&s, &cfi) == 0) {
			assert_true(cfi.nfdes >= last && cfi.nfdes <= 2);
			last = cfi.nfdes;
		}
		cfi_free(&cfi);
		free(copy);
	}
	assert_int_equal(last, 2);
}

static void test_leb(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool fails;
		uint64_t value;
	} leb[] = {
		{"\x7f", 1, false, 127},
		{"\x80\x01", 2, false, 128},
		{"\xe5\x8e\x26", 3, false, 624485},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, false, UINT64_MAX},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03", 10, true, 0},
		{"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13, false, 1},
		{"\x80", 1, true, 0},
		{"", 0, true, 0},
	};
	static const struct {
		const char *bytes;
		size_t n;
		bool fails;
		int64_t value;
	} sleb[] = {
		{"\x02", 1, false, 2},
		{"\x7e", 1, false, -2},
		{"\xff\x00", 2, false, 127},
		{"\x81\x7f", 2, false, -127},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, false, INT64_MIN},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, false, INT64_MAX},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, true, 0},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11, false, -1},
		{"\xff", 1, true, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(leb) / sizeof(leb[0]); i++) {
		struct cfi_cursor c = cursor_new((const uint8_t *)leb[i].bytes, leb[i].n);

		assert_true(cursor_uleb(&c) == leb[i].value);
		assert_int_equal(c.failed, leb[i].fails);
		assert_int_equal(cursor_left(&c), 0);
	}
	for (size_t i = 0; i < sizeof(sleb) / sizeof(sleb[0]); i++) {
		struct cfi_cursor c = cursor_new((const uint8_t *)sleb[i].bytes, sleb[i].n);

		assert_true(cursor_sleb(&c) == sleb[i].value);
		assert_int_equal(c.failed, sleb[i].fails);
		assert_int_equal(cursor_left(&c), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_plain, setup),
		cmocka_unit_test_setup(test_versions, setup),
		cmocka_unit_test_setup(test_augmentations, setup),
		cmocka_unit_test_setup(test_encodings, setup),
		cmocka_unit_test_setup(test_pointers, setup),
		cmocka_unit_test_setup(test_64_bit, setup),
		cmocka_unit_test_setup(test_malformed, setup),
		cmocka_unit_test_setup(test_prefixes, setup),
		cmocka_unit_test(test_leb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
