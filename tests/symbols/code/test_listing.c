// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that the test compiles, listed: instructions against objdump, lines against addr2line,
 * and hostile code, symbols and sources.
 * Covers: symbols/code/listing.c symbols/insn/disasm.c symbols/files/sourcefile.c
 * Covers: symbols/dwarf/debuginfo.c symbols/dwarf/debugunit.c symbols/dwarf/lineprogram.c
 * Covers: symbols/dwarf/linefiles.c symbols/base/refcount.h
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/elf/debugfile.h"
#include "symbols/elf/elffile.h"
#include "symbols/code/listing.h"
#include "symbols/files/sourcefile.h"
#include "tests/support/nm.h"
#include "tests/support/scratch.h"

static char folder[SCRATCH];

static const char source[] =
	"#include <stdlib.h>\n"
	"__attribute__((noipa)) int other(int);\n"
	"int other(int x) { return x * 3; }\n"
	"static inline __attribute__((always_inline)) int twice(int x)\n"
	"{\n"
	"\treturn x + x ^ 0x55;\n"
	"}\n"
	"int work(int n, int *a);\n"
	"int work(int n, int *a)\n"
	"{\n"
	"\tint sum = 0;\n"
	"\tfor (int i = 0; i < n; i++) {\n"
	"\t\tif (a[i] & 1)\n"
	"\t\t\tsum += twice(a[i]);\n"
	"\t\telse\n"
	"\t\t\tsum -= other(sum);\n"
	"\t}\n"
	"\tif (sum < 0)\n"
	"\t\tabort();\n"
	"\treturn sum;\n"
	"}\n"
	"int main(int c, char **v) { int a[2] = {c, !v}; return work(2, a); }\n";

static void write_file(const char *name, const void *bytes, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command)) /* NOLINT(cert-env33-c): of the test's own making */
		fail_msg("%s", command);
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "listing");
	write_file("p.c", source, sizeof(source) - 1);
	run("cd %s && gcc -g -O1 -fno-inline-functions -o p p.c", folder);
	run("cd %s && objcopy --strip-debug p nodebug", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	run("rm -rf %s", folder);
	return 0;
}

/* Address and size of a function as nm tells. */
static void find_symbol(const char *file, const char *name, uint64_t *start, uint64_t *size)
{
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), NM "-S %s/%s | awk '$4 == \"%s\" {print $1, $2}'",
		 folder, file, name);
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(f);
	if (fscanf(f, "%" SCNx64 " %" SCNx64, start, size) != 2)
		fail_msg("%s: nothing came", command);
	pclose(f);
}

/* Of functions without a size. */
static bool reaches_4(void *arg, uint64_t start, uint64_t vaddr)
{
	(void)arg;
	return vaddr - start < 4;
}

static int list(const char *file, uint64_t start, uint64_t end, struct listing **out)
{
	static const struct debug_place place = {.root = -1, .folder = "/nonexistent"};
	struct listing_request request = {.start = start,
					  .end = end,
					  .place = &place,
					  .reaches = reaches_4,
					  .sources = true,
					  .limit = 64 << 20,
					  .user = getuid()};
	struct elf_file *elf;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	assert_int_equal(elf_file_open(path, &elf), 0);
	return listing_new(elf, &request, out);
}

static struct listing *list_work(const char *file)
{
	uint64_t start, size;
	struct listing *l;

	find_symbol(file, "work", &start, &size);
	assert_int_equal(list(file, start, 0, &l), 0);
	assert_int_equal(l->start, start);
	assert_int_equal(l->end, start + size);
	return l;
}

static void instructions_are_those_of_objdump(void **state)
{
	struct listing *l = list_work("p");
	char command[256], row[256];
	uint32_t n = 0, jumps = 0, calls = 0, aborts = 0;
	FILE *f;

	(void)state;
	snprintf(command, sizeof(command),
		 "objdump -d -M intel --no-show-raw-insn --disassemble=work %s/p", folder);
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(f);
	while (fgets(row, sizeof(row), f)) {
		const struct listing_insn *insn = &l->insns[n];
		char mnemonic[64], to[160] = "";
		const char *text;
		uint64_t addr, target;

		if (row[0] != ' ' ||
		    sscanf(row, " %" SCNx64 ": %63s %159[^\n]", &addr, mnemonic, to) < 2)
			continue;
		assert_true(n < l->ninsns);
		text = l->strings + insn->text;
		assert_int_equal(insn->addr, addr);
		if (strncmp(text, mnemonic, strlen(mnemonic)) != 0)
			fail_msg("%" PRIx64 ": %s, objdump: %s", addr, text, mnemonic);
		if (mnemonic[0] == 'j') {
			assert_int_equal(insn->kind, DISASM_JUMP);
			assert_int_equal(sscanf(to, "%" SCNx64, &target), 1);
			assert_int_not_equal(insn->to, LISTING_NONE);
			assert_int_equal(l->insns[insn->to].addr, target);
			jumps++;
		}
		if (!strcmp(mnemonic, "call")) { /* "1139 <other>" */
			char want[64];

			assert_int_equal(insn->kind, DISASM_CALL);
			assert_int_equal(sscanf(to, "%*x <%63[^>]", want), 1);
			assert_int_not_equal(insn->name, LISTING_NONE);
			assert_string_equal(l->strings + insn->name, want);
			calls++;
			aborts += !strcmp(want, "abort@plt");
		}
		if (!strcmp(mnemonic, "ret"))
			assert_int_equal(insn->kind, DISASM_RETURN);
		n++;
	}
	pclose(f);
	assert_int_equal(n, l->ninsns);
	assert_true(n > 15);
	assert_true(jumps >= 3);
	assert_int_equal(calls, 2);
	assert_int_equal(aborts, 1);
	listing_put(l);
}

/* Into the middle of an instruction, and into the middle of another function. */
static void odd_jumps_have_no_row(void **state)
{
	static const char assembly[] = ".globl first, second\n"
				       ".type first,@function\n"
				       ".type second,@function\n"
				       "first: .byte 0xeb, 0xff, 0xc0, 0xc0, 0\n"
				       "jmp second + 1\n"
				       ".size first, . - first\n"
				       "second: nop\n nop\n ret\n"
				       ".size second, . - second\n";
	uint64_t start, size;
	struct listing *l;

	(void)state;
	write_file("odd.s", assembly, sizeof(assembly) - 1);
	run("cd %s && gcc -nostdlib -static -Wl,-e,first -o jumps odd.s && "
	    "objdump -d --disassemble=first jumps | grep -q 'jmp .*<first+0x1>' && "
	    "objdump -d --disassemble=first jumps | grep -q 'jmp .*<second+0x1>'",
	    folder);
	find_symbol("jumps", "first", &start, &size);
	assert_int_equal(list("jumps", start, 0, &l), 0);
	assert_int_equal(l->ninsns, 3);
	assert_int_equal(l->insns[0].kind, DISASM_JUMP);
	assert_int_equal(l->insns[0].to, LISTING_NONE);
	assert_int_equal(l->insns[2].kind, DISASM_JUMP);
	assert_int_equal(l->insns[2].to, LISTING_NONE);
	assert_int_not_equal(l->insns[2].name, LISTING_NONE);
	assert_string_equal(l->strings + l->insns[2].name, "second+0x1");
	listing_put(l);
}

/* It ends where it is said to, and names nothing behind that. */
static void functions_without_a_size_end(void **state)
{
	static const char assembly[] = ".type before,@function\n"
				       ".type first,@function\n"
				       ".type second,@function\n"
				       "before: .skip 16, 0x90\n"
				       ".size before, 16\n"
				       "first: jmp second + 1\n jmp second + 6\n .skip 4, 0x90\n"
				       "second: .skip 12, 0x90\n";
	uint64_t start, size;
	struct listing *l;

	(void)state;
	write_file("sizeless.s", assembly, sizeof(assembly) - 1);
	run("cd %s && gcc -nostdlib -static -Wl,-e,first -o sizeless sizeless.s", folder);
	find_symbol("sizeless", "before", &start, &size);
	assert_int_equal(list("sizeless", start + size, 0, &l), 0);
	assert_int_equal(l->end, start + size + 4);
	assert_int_equal(l->ninsns, 2);
	assert_int_not_equal(l->insns[0].name, LISTING_NONE);
	assert_string_equal(l->strings + l->insns[0].name, "second+0x1");
	assert_int_equal(l->insns[1].target, start + size + 14);
	assert_int_equal(l->insns[1].name, LISTING_NONE);
	listing_put(l);
}

static void lines_are_those_of_addr2line(void **state)
{
	struct listing *l = list_work("p");
	char path[128];
	uint32_t inlined = 0;

	(void)state;
	assert_null(l->lines_missing);
	snprintf(path, sizeof(path), "%s/p.c", folder);
	for (uint32_t i = 0; i < l->ninsns; i++) {
		const struct listing_line *line;
		char command[256], file[128], want[128];
		unsigned int number;
		const char *at = source;
		FILE *f;

		snprintf(command, sizeof(command), "addr2line -e %s/p 0x%" PRIx64, folder,
			 l->insns[i].addr);
		f = popen(command, "r"); /* NOLINT(cert-env33-c) */
		assert_int_equal(fscanf(f, "%127[^:]:%u", file, &number), 2);
		pclose(f);
		assert_int_not_equal(l->insns[i].line, LISTING_NONE);
		line = &l->lines[l->insns[i].line];
		assert_string_equal(l->strings + line->file, path);
		assert_string_equal(file, path);
		assert_int_equal(line->number, number);
		for (unsigned int k = 1; k < number; k++)
			at = strchr(at, '\n') + 1;
		snprintf(want, sizeof(want), "%.*s", (int)strcspn(at, "\n"), at);
		at = want;
		for (; *at == '\t'; at++)
			;
		assert_int_not_equal(line->text, LISTING_NONE);
		assert_string_equal(l->strings + line->text + strspn(l->strings + line->text, " "),
				    at);
		inlined += number == 6;
	}
	assert_true(inlined > 0);
	listing_put(l);
	l = list_work("nodebug");
	assert_non_null(strstr(l->lines_missing, "no debug information"));
	assert_int_equal(l->nlines, 0);
	listing_put(l);
}

static void addresses_are_found(void **state)
{
	struct listing *l = list_work("p");

	(void)state;
	for (uint32_t i = 0; i < l->ninsns; i++) {
		assert_int_equal(listing_find(l, l->insns[i].addr), i);
		assert_int_equal(listing_find(l, l->insns[i].addr + l->insns[i].size - 1), i);
	}
	assert_int_equal(listing_find(l, l->start - 1), LISTING_NONE);
	assert_int_equal(listing_find(l, l->end), LISTING_NONE);
	assert_int_equal(listing_find(l, 0), LISTING_NONE);
	assert_int_equal(listing_find(l, UINT64_MAX), LISTING_NONE);
	listing_put(l);
}

/* Any bytes: every one of them is in one instruction, and no text can harm a terminal. */
static void no_bytes_break(void **state)
{
	uint8_t bytes[4096];
	unsigned int seed = 7;
	struct disasm *d;

	(void)state;
	assert_int_equal(disasm_new(62 /* EM_X86_64 */, &d), 0);
	for (int turn = 0; turn < 50; turn++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		for (size_t at = 0; at < sizeof(bytes);) {
			struct disasm_insn insn;

			disasm_one(d, at, bytes + at, sizeof(bytes) - at, &insn);
			assert_int_equal(insn.addr, at);
			assert_in_range(insn.size, 1, sizeof(bytes) - at);
			for (const char *c = insn.text; *c; c++)
				assert_in_range(*c, ' ', '~');
			at += insn.size;
		}
	}
	disasm_free(d);
	assert_int_equal(disasm_new(8 /* EM_MIPS */, &d), -ENOTSUP);
}

static void what_is_no_code_is_refused(void **state)
{
	uint64_t start, size;
	struct listing *l;

	(void)state;
	find_symbol("p", "work", &start, &size);
	assert_int_equal(list("p", 1, 2, &l), -ENOENT);
	assert_int_equal(list("p", UINT64_MAX - 4, UINT64_MAX, &l), -ENOENT);
	assert_int_equal(list("p", 1, 0, &l), -ENODATA);
	/* Of what ends far behind the file, what is there. */
	assert_int_equal(list("p", start, UINT64_MAX, &l), 0);
	assert_true(l->ninsns > 20);
	assert_true(l->insns[l->ninsns - 1].addr < start + 0x2000);
	listing_put(l);
}

static void hostile_sources_are_not_read(void **state)
{
	static const char odd[] = "one\n\tt\x1b[2Jwo\n\nfour\tmore";
	struct sourcefile *s;
	char path[128], large[128];
	const char *line;
	size_t length;

	(void)state;
	assert_int_equal(sourcefile_read(-1, "relative.c", &s), -EINVAL);
	assert_int_equal(sourcefile_read(-1, "/dev/zero", &s), -EINVAL);
	assert_int_equal(sourcefile_read(-1, folder, &s), -EINVAL);
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(sourcefile_read(-1, path, &s), -EINVAL);
	snprintf(large, sizeof(large), "%s/large", folder);
	run("truncate -s 1T %s", large);
	assert_int_equal(sourcefile_read(-1, large, &s), -EFBIG);
	write_file("odd", odd, sizeof(odd) - 1);
	snprintf(path, sizeof(path), "%s/odd", folder);
	assert_int_equal(sourcefile_read(-1, path, &s), 0);
	line = sourcefile_line(s, 1, &length);
	assert_int_equal(length, 3);
	assert_memory_equal(line, "one", 3);
	line = sourcefile_line(s, 2, &length);
	assert_null(memchr(line, '\x1b', length));
	assert_memory_equal(line, "        t", 9);
	assert_non_null(sourcefile_line(s, 3, &length));
	assert_int_equal(length, 0);
	line = sourcefile_line(s, 4, &length);
	assert_int_equal(length, 12);
	assert_memory_equal(line, "four    more", 12);
	assert_null(sourcefile_line(s, 5, &length));
	assert_null(sourcefile_line(s, UINT32_MAX, &length));
	assert_null(sourcefile_line(s, 0, &length));
	line = sourcefile_line(s, 1, &length);
	assert_memory_equal(line, "one", 3);
	sourcefile_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_those_of_objdump),
		cmocka_unit_test(odd_jumps_have_no_row),
		cmocka_unit_test(functions_without_a_size_end),
		cmocka_unit_test(lines_are_those_of_addr2line),
		cmocka_unit_test(addresses_are_found),
		cmocka_unit_test(no_bytes_break),
		cmocka_unit_test(what_is_no_code_is_refused),
		cmocka_unit_test(hostile_sources_are_not_read),
	};

	if (disasm_missing()) { /* which is optional */
		printf("1..1\nok 1 # SKIP %s\n", disasm_missing());
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
