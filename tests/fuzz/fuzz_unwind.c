// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any CFI bytes to a table: never a crash, never more memory than the bytes allow, and a table
 * that keeps its shape and answers lookups as its dump does. The first byte of the input chooses
 * the section's name, a PLT, the size of the text, and whether a part of the input is a .sframe;
 * the next two bytes are that part's length.
 *
 * Without a fuzzer (-DFUZZ_MAIN) it is a program that runs over the files of its arguments.
 * Covers: unwind/table.c unwind/spans.c unwind/wide.c unwind/ehframe.c unwind/sframe.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/elffile.h"
#include "symbols/base/work.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/elfimage.h"
#include "tests/support/tablerule.h"
#include "unwind/table.h"
#include "unwind/wide.h"

static void check_span(const struct unwind_table *t, const struct unwind_span *s)
{
	const uint32_t *index = t->words + s->first;
	uint32_t first = 0;

	require(s->end > s->start && s->ngranules == (s->end - s->start) / GRANULE_SIZE);
	require(s->nwords <= SPAN_MAX_WORDS && s->first + s->nwords <= t->nwords);
	for (uint32_t g = 0; g < s->ngranules; g++) {
		const uint32_t *row = index + s->ngranules + first;

		require(INDEX_FIRST(index[g]) == first);
		first += INDEX_ROWS(index[g]);
		require(s->ngranules + first <= s->nwords);
		require(g || (INDEX_ROWS(index[g]) && !ROW_OFFSET(row[0])));
		for (uint32_t r = 0; r < INDEX_ROWS(index[g]); r++) {
			uint64_t pc = s->start + (uint64_t)g * GRANULE_SIZE + ROW_OFFSET(row[r]);

			require(!r || ROW_OFFSET(row[r]) > ROW_OFFSET(row[r - 1]));
			require(unwind_table_rule(t, pc) == ROW_RULE(row[r]));
			require(RULE_KIND(row[r]) <= ROW_UNSUPPORTED);
		}
	}
	require(s->ngranules + first == s->nwords);
}

static void check_table(const struct unwind_table *t, size_t size)
{
	uint64_t last = 0;

	require(t->nwords <= (1u << 16) + 16 * size);
	for (uint32_t i = 0; i < t->nspans; i++) {
		require(t->spans[i].start >= last);
		last = t->spans[i].end;
		check_span(t, &t->spans[i]);
	}
}

/* Lines ascend, none repeats the one before, and each is a row of the table. */
static void check_dump(const struct unwind_table *t, const struct wide_rules *wide)
{
	char *text = NULL, *line, *save = NULL;
	uint64_t last = 0;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	require(out && unwind_table_dump(t, wide, out) == 0);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *end;
		uint64_t pc = strtoull(line, &end, 16);

		require(*end == '\t' && pc > last);
		require((RULE_KIND(unwind_table_rule(t, pc)) == ROW_END) ==
			!strncmp(end, "\tend", 4));
		last = pc;
	}
	free(text);
}

static int take_input(const uint8_t *data, size_t size)
{
	struct image_options options = {.text_size = 0x100000};
	struct wide_rules *wide;
	struct unwind_table *table;
	struct elf_file *file = NULL;
	unsigned char *image;
	size_t image_size;
	uint8_t how;

	if (size < 1)
		return 0;
	how = data[0];
	options.debug_frame = how & 1;
	options.plt = how & 2 ? IMAGE_TEXT + 0x200 : 0;
	if (how & 4)
		options.text_size = 1ull << 46;
	data++;
	size--;
	if (how & 8 && size > 2) {
		options.sframe_size = data[0] | (size_t)data[1] << 8;
		data += 2;
		size -= 2;
		if (options.sframe_size > size)
			options.sframe_size = size;
		options.sframe = data;
		data += options.sframe_size;
		size -= options.sframe_size;
	}
	image = image_new(data, size, &options, &image_size);
	wide = wide_rules_new();
	require(wide && elf_file_open_memory(image, image_size, &file) == 0);
	if (unwind_table_build(file, wide, &table) == 0) {
		check_table(table, size + options.sframe_size);
		check_dump(table, wide);
		unwind_table_free(table);
	}
	/* No input costs more than its size allows, see require_work of fuzz.h. */
	require(elf_file_work(file)->done <= 16384 + 64 * (size + options.sframe_size));
	elf_file_free(file);
	wide_rules_free(wide);
	free(image);
	return 0;
}

/* The text has granules of 256 bytes (1,024 on arm64), and few bytes of CFI may cover 1 MiB of it.
 */
FUZZ_TARGET(take_input, 4u << 20, 16384)

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *in = fopen(argv[i], "rb");
		static uint8_t data[1 << 20];
		size_t size;

		if (!in) {
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), in);
		fclose(in);
		LLVMFuzzerTestOneInput(data, size);
	}
	return 0;
}
#endif
