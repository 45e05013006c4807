/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF image of any shape: what is found of PHP, Perl, Ruby and V8 in it may be used.
 * Covers: symbols/runtime/php_file.c symbols/runtime/perl_file.c symbols/runtime/ruby_file.c
 * Covers: symbols/runtime/v8_file.c
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#include "symbols/elf/elffile.h"
#include "symbols/runtime/perl_file.h"
#include "symbols/runtime/php_file.h"
#include "symbols/runtime/ruby_file.h"
#include "symbols/runtime/v8_file.h"

static void check_ranges(const uint64_t ranges[2][2])
{
	for (int i = 0; i < 2; i++)
		require(ranges[i][0] ? ranges[i][0] < ranges[i][1] : !ranges[i][1]);
}

static void check_php(const struct elf_file *file)
{
	struct php_file php;

	if (!php_file_read(file, &php))
		return;
	check_ranges(php.eval);
	require(php.err ? php.err == -ENOTSUP : php.globals && php.layout.version);
}

static void check_perl(const struct elf_file *file)
{
	struct perl_file perl;

	if (!perl_file_read(file, &perl))
		return;
	check_ranges(perl.eval);
	require(perl.err ? perl.err == -ENOTSUP : perl.key && perl.layout.version);
}

static void check_ruby(const struct elf_file *file)
{
	struct ruby_file ruby;

	if (!ruby_file_read(file, &ruby))
		return;
	require(ruby.err ? ruby.err == -ENOTSUP : ruby.vm && ruby.layout.version);
}

static void check_v8(const struct elf_file *file)
{
	struct v8_file v8;

	if (!v8_file_read(file, &v8))
		return;
	require(v8.err ? v8.err == -ENOTSUP && v8.missing && *v8.missing : !v8.missing);
	require(v8.code[0] ? v8.code[0] <= v8.code[1] : !v8.code[1]);
}

static int take_input(const uint8_t *data, size_t size)
{
	uint8_t *image = fuzz_copy(data, size);
	struct elf_file *file;

	if (!elf_file_open_memory(image, size, &file)) {
		check_php(file);
		check_perl(file);
		check_ruby(file);
		check_v8(file);
		elf_file_free(file);
	}
	free(image);
	return 0;
}

FUZZ_TARGET(take_input, 16u << 20, 4096)
