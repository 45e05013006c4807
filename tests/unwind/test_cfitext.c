// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CFI as text against readelf: every FDE of some files, line by line except for padding and the
 * bodies of expressions, which readelf decodes.
 * Covers: unwind/cfitext.c unwind/arch/x86_64/registers.h
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "unwind/cfitext.h"

#define FDES_MAX 400u /* per file */

/* Brings lines of both into the same form. */
static void normalize(char *line)
{
	char *block = strstr(line, "expression");
	char *from = line, *to = line;

	line[strcspn(line, "\n")] = '\0';
	if (block) /* " r6 (rbp) (DW_OP..." or " (DW_OP..." or " (3 bytes..." */
		block[strlen("expression")] = '\0';
	for (; *from; from++)
		if (*from != ' ' && *from != ':')
			*to++ = *from;
	*to = '\0';
}

static unsigned int compare_fde(struct elf_file *file, uint64_t start, char lines[][256],
				unsigned int n)
{
	struct cfitext *t;
	uint32_t at = 0;

	assert_int_equal(cfitext_new(file, start, &t), 0);
	while (at < t->count && strncmp(t->lines[at].text, "FDE", 3) != 0)
		at++;
	assert_true(at < t->count);
	assert_int_equal(t->start, start);
	for (unsigned int i = 0; i < n; i++) {
		char ours[256];

		assert_true(++at < t->count);
		snprintf(ours, sizeof(ours), "%s", t->lines[at].text);
		normalize(ours);
		if (strcmp(ours, lines[i]) != 0)
			fail_msg("%" PRIx64 ": %s, readelf: %s", start, ours, lines[i]);
	}
	assert_int_equal(at + 1, t->count);
	cfitext_put(t);
	return n;
}

static unsigned int compare_file(const char *path)
{
	static char lines[1024][256];
	unsigned int n = 0, fdes = 0, compared = 0;
	struct elf_file *file;
	uint64_t start = 0;
	bool in_fde = false;
	char command[256], row[512];
	FILE *f;

	assert_int_equal(elf_file_open(path, &file), 0);
	/* Wide output, only of .eh_frame. */
	snprintf(command, sizeof(command), "readelf -W --debug-dump=frames %s", path);
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(f);
	while (fdes < FDES_MAX && fgets(row, sizeof(row), f)) {
		const char *pc = strstr(row, "FDE cie=");

		if (row[0] != ' ' && in_fde) {
			compared += compare_fde(file, start, lines, n);
			in_fde = false;
			fdes++;
		}
		pc = pc ? strstr(pc, "pc=") : NULL;
		if (pc) {
			start = strtoull(pc + 3, NULL, 16);
			in_fde = true;
			n = 0;
		} else if (in_fde && strstr(row, "DW_CFA_") && !strstr(row, "DW_CFA_nop")) {
			assert_true(n < 1024);
			snprintf(lines[n], sizeof(lines[n]), "%.255s", row);
			normalize(lines[n++]);
		}
	}
	while (fgets(row, sizeof(row), f))
		;
	pclose(f);
	elf_file_free(file);
	assert_true(fdes > 3);
	return compared;
}

static void every_line_is_that_of_readelf(void **state)
{
	unsigned int compared = 0;
	char self[256];

	(void)state;
	self[readlink("/proc/self/exe", self, sizeof(self) - 1)] = '\0';
	compared += compare_file(self);
	compared += compare_file("/bin/sh");
	compared += compare_file("/lib64/ld-linux-x86-64.so.2");
	print_message("%u instructions\n", compared);
	assert_true(compared > 1000);
}

static void what_has_no_fde_is_refused(void **state)
{
	struct elf_file *file;
	struct cfitext *t;

	(void)state;
	assert_int_equal(elf_file_open("/proc/self/exe", &file), 0);
	assert_int_equal(cfitext_new(file, 1, &t), -ENOENT);
	assert_int_equal(cfitext_new(file, UINT64_MAX, &t), -ENOENT);
	elf_file_free(file);
}

/* Any CFA program: printable text, and no more lines than the bound. */
static void no_bytes_break(void **state)
{
	static uint8_t image[8 << 20], sound[8 << 20];
	struct elf_section section;
	unsigned int seed = 11, made = 0;
	struct elf_file *file;
	uint64_t start = 0;
	ssize_t size;
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);

	(void)state;
	size = read(fd, sound, sizeof(sound));
	close(fd);
	assert_true(size > 4096);
	memcpy(image, sound, (size_t)size);
	assert_int_equal(elf_file_open_memory(image, (size_t)size, &file), 0);
	assert_int_equal(elf_file_section(file, ".eh_frame", &section), 0);
	elf_file_free(file);
	for (unsigned int turn = 0; turn < 300; turn++) {
		struct cfitext *t;

		memcpy(image + section.offset, sound + section.offset, section.size);
		for (unsigned int i = 0; i < 40; i++) {
			seed = seed * 1103515245 + 12345;
			image[section.offset + (seed >> 8) % section.size] = (uint8_t)(seed >> 3);
		}
		assert_int_equal(elf_file_open_memory(image, (size_t)size, &file), 0);
		for (start = 0x4000; start < 0x18000; start += 0x1fd0) {
			if (cfitext_new(file, start, &t))
				continue;
			made++;
			assert_true(t->count <= CFITEXT_LINES_MAX + 4);
			assert_true(cfitext_at(t, start) < t->count);
			for (uint32_t i = 0; i < t->count; i++)
				for (const char *c = t->lines[i].text; *c; c++)
					assert_in_range(*c, ' ', '~');
			cfitext_put(t);
		}
		elf_file_free(file);
	}
	assert_true(made > 300);
}

/* The current line: the last with an address that is not above. */
static void the_line_in_force_is_found(void **state)
{
	struct cfitext_line lines[] = {
		{"CIE", false, 0},	  {"  DW_CFA_def_cfa", false, 0},
		{"FDE", true, 0x10},	  {"  advance", true, 0x14},
		{"  offset", true, 0x14}, {"  advance", true, 0x20},
	};
	struct cfitext t = {1, 0x10, 0x30, lines, 6};

	(void)state;
	assert_int_equal(cfitext_at(&t, 0x10), 2);
	assert_int_equal(cfitext_at(&t, 0x13), 2);
	assert_int_equal(cfitext_at(&t, 0x14), 4);
	assert_int_equal(cfitext_at(&t, 0x1f), 4);
	assert_int_equal(cfitext_at(&t, 0x2f), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_is_that_of_readelf),
		cmocka_unit_test(what_has_no_fde_is_refused),
		cmocka_unit_test(no_bytes_break),
		cmocka_unit_test(the_line_in_force_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
