// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of a made-up kernel in a made-up core file: instructions in both syntaxes against
 * objdump, names of what is called, and hostile headers; and one of the running kernel against gdb,
 * where there is a /proc/kcore. The code is this program's own.
 * Covers: symbols/code/kcode.c symbols/code/memcode.c symbols/code/listing.c symbols/insn/disasm.c
 * Covers: symbols/elf/elffile.c symbols/names/kallsyms.c
 */
#include <elf.h>
#include <errno.h>
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

#include "symbols/code/kcode.h"
#include "symbols/code/listing.h"
#include "symbols/code/memcode.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"

#define TEXT  0xffffffff81000000ull
#define BYTES 3000u
#define PLACE 0x2000u /* of the text in the core file */

static char folder[SCRATCH];
static uint8_t code[BYTES]; /* of a function of this program, and what is behind it */

static const char *in(const char *name)
{
	static char paths[4][SCRATCH + 32];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(in(name), "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

struct core {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdrs[4];
};

/* As the kernel makes it: notes, then ranges of addresses, all of them executable. */
static struct core core_header(void)
{
	struct core c = {.ehdr = {.e_type = ET_CORE,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_phoff = sizeof(Elf64_Ehdr),
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 4}};
	const Elf64_Phdr load = {.p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X};

	memcpy(c.ehdr.e_ident, ELFMAG, SELFMAG);
	c.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	c.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	c.ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	c.phdrs[0].p_type = PT_NOTE;
	for (int i = 1; i < 4; i++)
		c.phdrs[i] = load;
	c.phdrs[1].p_vaddr = 0xffff888000000000ull;
	c.phdrs[1].p_offset = 0x1000;
	c.phdrs[1].p_filesz = c.phdrs[1].p_memsz = 0x1000;
	c.phdrs[2].p_vaddr = TEXT;
	c.phdrs[2].p_offset = PLACE;
	c.phdrs[2].p_filesz = c.phdrs[2].p_memsz = BYTES;
	c.phdrs[3].p_vaddr = 0xffffffffff600000ull;
	c.phdrs[3].p_offset = 0x777fff600000ull; /* behind the end, as far as the kernel's */
	c.phdrs[3].p_filesz = c.phdrs[3].p_memsz = 0x1000;
	return c;
}

static void write_core(const char *name, const struct core *c)
{
	static uint8_t file[PLACE + BYTES];

	memcpy(file, c, sizeof(*c));
	memcpy(file + PLACE, code, BYTES);
	write_file(name, file, sizeof(file));
}

static int setup(void **state)
{
	static const char names[] = "ffffffff81000000 T first\n"
				    "ffffffff81000100 t second\n"
				    "ffffffff81000bb8 D not_code\n"
				    "ffffffffa0000000 t of_module\t[nf_tables]\n";
	const struct core c = core_header();

	(void)state;
	scratch_folder(folder, "kcode");
	memcpy(code, (const void *)(uintptr_t)kcode_list, BYTES);
	write_core("core", &c);
	write_file("kallsyms", names, sizeof(names) - 1);
	write_file("text", code, BYTES);
	return 0;
}

static int teardown(void **state)
{
	char command[SCRATCH + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command); /* NOLINT(cert-env33-c) */
}

static int list(const char *core, uint64_t start, uint64_t end, struct listing **out)
{
	const struct kcode_request request = {
		.start = start, .end = end, .core = in(core), .kallsyms = in("kallsyms")};

	return kcode_list(&request, out);
}

/* The registers of an instruction, in their order. */
static void registers(const char *text, char *to, size_t room)
{
	size_t n = 0;

	to[0] = '\0';
	for (const char *at = strchr(text, '%'); at; at = strchr(at + 1, '%'))
		n += (size_t)snprintf(to + n, room - n, "%.*s ",
				      (int)strspn(at, "%abcdefghijklmnopqrstuvwxyz0123456789"), at);
}

/* Others, prefixes and data among them, are written in too many ways. */
static bool is_plain(const char *mnemonic, const char *operands)
{
	static const char *const plain[] = {"push", "pop", "mov", "lea", "add", "sub",
					    "and",  "xor", "cmp", "jmp", "je",	"jne",
					    "ret",  "sar", "shr", "call"};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strncmp(mnemonic, plain[i], strlen(plain[i])))
			return !strstr(operands, "mm");
	return false;
}

/* Each instruction begins where objdump's does, and is the same one. */
static void compare(const struct listing *l, const char *syntax)
{
	char command[3 * SCRATCH], row[256];
	unsigned int compared = 0;
	uint32_t n = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "objdump -D -b binary -m i386:x86-64 -M %s --no-show-raw-insn "
		 "--adjust-vma=0x%" PRIx64 " %s",
		 syntax, (uint64_t)TEXT, in("text"));
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(f);
	while (fgets(row, sizeof(row), f) && n < l->ninsns) {
		char mnemonic[64], operands[160] = "", theirs[160], ours[160];
		const struct listing_insn *insn = &l->insns[n];
		const char *text = l->strings + insn->text;
		uint64_t addr;

		if (sscanf(row, " %" SCNx64 ": %63s %159[^\n#<]", &addr, mnemonic, operands) < 2)
			continue;
		if (!strcmp(syntax, "att") && insn->att != LISTING_NONE)
			text = l->strings + insn->att;
		assert_int_equal(insn->addr, addr);
		n++;
		if (!is_plain(mnemonic, operands))
			continue;
		if (strncmp(text, mnemonic, strlen(mnemonic)) != 0)
			fail_msg("%" PRIx64 ": '%s', objdump: %s %s", addr, text, mnemonic,
				 operands);
		registers(operands, theirs, sizeof(theirs));
		registers(text, ours, sizeof(ours));
		assert_string_equal(ours, theirs);
		compared++;
	}
	pclose(f);
	assert_true(n + 8 > l->ninsns); /* the last one may be cut */
	assert_true(compared > 200);
}

static void instructions_are_those_of_objdump(void **state)
{
	struct listing *l;
	unsigned int differ = 0;

	(void)state;
	assert_int_equal(list("core", TEXT, TEXT + BYTES, &l), 0);
	assert_int_equal(l->start, TEXT);
	assert_int_equal(l->end, TEXT + BYTES);
	assert_false(l->cut);
	compare(l, "intel");
	compare(l, "att");
	for (uint32_t i = 0; i < l->ninsns; i++)
		differ += l->insns[i].att != LISTING_NONE;
	assert_true(differ > l->ninsns / 2);
	listing_put(l);
}

/* To the beginning of another function, into one, and to where none is. */
static void calls_are_named(void **state)
{
	uint8_t saved[32];
	struct core c = core_header();
	struct listing *l;
	const int32_t to[] = {0x100 - 5, 0x108 - 10, -0x10000};

	(void)state;
	memcpy(saved, code, sizeof(saved));
	for (int i = 0; i < 3; i++) {
		code[5 * i] = 0xe8;
		memcpy(code + 5 * i + 1, &to[i], sizeof(to[i]));
	}
	code[15] = 0xc3;
	write_core("calls", &c);
	memcpy(code, saved, sizeof(saved));
	assert_int_equal(list("calls", TEXT, TEXT + 16, &l), 0);
	assert_int_equal(l->ninsns, 4);
	assert_string_equal(l->strings + l->insns[0].name, "second");
	assert_string_equal(l->strings + l->insns[1].name, "second+0x8");
	assert_int_equal(l->insns[2].name, LISTING_NONE);
	assert_int_equal(l->insns[3].kind, DISASM_RETURN);
	listing_put(l);
	/* Code that does not begin where its segment does. */
	assert_int_equal(list("calls", TEXT + 5, TEXT + 16, &l), 0);
	assert_int_equal(l->ninsns, 3);
	assert_string_equal(l->strings + l->insns[0].name, "second+0x8");
	listing_put(l);
}

static void an_unknown_end_is_the_next_name(void **state)
{
	struct listing *l;

	(void)state;
	assert_int_equal(list("core", TEXT, 0, &l), 0);
	assert_int_equal(l->end, TEXT + 0x100);
	listing_put(l);
	assert_int_equal(list("core", 0xffffffffa0000000ull, 0, &l), -ENODATA);
}

static void what_is_not_there_is_refused(void **state)
{
	struct listing *l;
	struct core c;

	(void)state;
	assert_int_equal(list("none", TEXT, TEXT + 16, &l), -ENOENT);
	assert_int_equal(list("core", TEXT - 1, TEXT + 16, &l), -EFAULT);
	assert_int_equal(list("core", TEXT + BYTES, TEXT + BYTES + 1, &l), -EFAULT);
	assert_int_equal(list("core", TEXT + 16, TEXT, &l), -ENODATA);
	/* A segment of which the file has nothing. */
	assert_true(list("core", 0xffffffffff600000ull, 0xffffffffff600010ull, &l) < 0);
	/* What is behind the end of the segment is left out. */
	assert_int_equal(list("core", TEXT + BYTES - 8, UINT64_MAX, &l), 0);
	assert_true(l->cut);
	assert_in_range(l->ninsns, 1, 8);
	listing_put(l);
	c = core_header();
	c.ehdr.e_type = ET_EXEC;
	write_core("program", &c);
	assert_int_equal(list("program", TEXT, TEXT + 16, &l), -EINVAL);
	c = core_header();
	c.phdrs[2].p_memsz = c.phdrs[2].p_filesz = UINT64_MAX - 0x1000;
	write_core("wraps", &c);
	assert_int_equal(list("wraps", TEXT, TEXT + 16, &l), -EINVAL);
	c = core_header();
	c.phdrs[2].p_offset = UINT64_MAX - 8;
	c.phdrs[2].p_memsz = c.phdrs[2].p_filesz = 8;
	write_core("far", &c);
	assert_true(list("far", TEXT, TEXT + 16, &l) < 0);
	c = core_header();
	c.ehdr.e_phnum = 0xfffe;
	write_core("many", &c);
	assert_true(list("many", TEXT, TEXT + 16, &l) < 0);
	write_file("text.core", code, BYTES);
	assert_int_equal(list("text.core", TEXT, TEXT + 16, &l), -EINVAL);
}

static unsigned int asked;

static int read_other_way(uint64_t addr, void *to, size_t size)
{
	asked++;
	if (addr < TEXT || addr - TEXT + size > BYTES)
		return -EFAULT;
	memcpy(to, code + (addr - TEXT), size);
	return 0;
}

static void there_is_another_way(void **state)
{
	struct kcode_request request = {.start = TEXT,
					.end = TEXT + 64,
					.core = in("none"),
					.kallsyms = in("none"),
					.read = read_other_way};
	struct listing *l, *same;

	(void)state;
	assert_int_equal(kcode_list(&request, &l), 0);
	assert_int_equal(asked, 1);
	assert_int_equal(list("core", TEXT, TEXT + 64, &same), 0);
	assert_int_equal(l->ninsns, same->ninsns);
	for (uint32_t i = 0; i < l->ninsns; i++)
		assert_string_equal(l->strings + l->insns[i].text,
				    same->strings + same->insns[i].text);
	listing_put(l);
	listing_put(same);
	request.end = TEXT + 2 * BYTES;
	assert_int_equal(kcode_list(&request, &l), -ENOENT); /* of the first way */
}

/* --- code of a process ----------------------------------------------------------------------- */

static int list_memory(size_t junk, const uint64_t *marks, size_t n, struct listing **out)
{
	struct memcode_request request = {.start = 0x7000,
					  .end = 0x7000 + junk + 256,
					  .bytes = malloc(junk + 256),
					  .size = junk + 256,
					  .marks = marks,
					  .nmarks = n};

	/* The first byte of a long instruction, which eats the beginning of the code. */
	memset(request.bytes, 0x48, junk);
	if (junk > 1)
		request.bytes[junk - 1] = 0xb8;
	memcpy(request.bytes + junk, code, 256);
	return memcode_list(&request, out);
}

/* Where samples say that instructions begin, the listing has some. */
static void marks_are_instructions(void **state)
{
	struct listing *whole, *l;
	uint64_t marks[16];

	(void)state;
	assert_int_equal(list("core", TEXT, TEXT + 256, &whole), 0);
	assert_true(whole->ninsns > 20);
	for (size_t junk = 0; junk < 12; junk++) {
		for (size_t i = 0; i < 16; i++)
			marks[i] = 0x7000 + junk + (whole->insns[i].addr - TEXT);
		assert_int_equal(list_memory(junk, marks, 16, &l), 0);
		for (size_t i = 0; i < 16; i++) {
			uint32_t at = listing_find(l, marks[i]);

			assert_int_not_equal(at, LISTING_NONE);
			assert_int_equal(l->insns[at].addr, marks[i]);
		}
		listing_put(l);
	}
	listing_put(whole);
	assert_int_equal(list_memory(0, NULL, 0, &l), 0);
	assert_int_equal(l->start, 0x7000);
	assert_string_equal(l->lines_missing, "it was made at run time");
	listing_put(l);
	/* Marks that no instruction begins at. */
	marks[0] = 3;
	assert_int_equal(list_memory(4, marks, 1, &l), 0);
	listing_put(l);
}

static bool name_even(void *arg, uint64_t addr, char *to, size_t room)
{
	(*(unsigned int *)arg)++;
	snprintf(to, room, "a\x1b[2J%" PRIx64, addr);
	return addr % 2 == 0;
}

/* Once for each call, and never for a jump within. */
static void targets_are_named_later(void **state)
{
	struct memcode_request request = {.start = 0x7000, .end = 0x7000 + 5 * 400};
	unsigned int asked_for = 0, named = 0;
	struct listing *l;

	(void)state;
	request.size = 5 * 400;
	request.bytes = calloc(1, request.size);
	for (size_t i = 0; i < 400; i++) {
		const int32_t to = i == 7 ? -10 : (int32_t)(0x10000 + i - 5 * i - 5);

		request.bytes[5 * i] = i == 7 ? 0xe9 : 0xe8;
		memcpy(request.bytes + 5 * i + 1, &to, sizeof(to));
	}
	assert_int_equal(memcode_list(&request, &l), 0);
	assert_int_equal(l->ninsns, 400);
	assert_int_equal(l->insns[9].target, 0x17009);
	assert_int_not_equal(l->insns[7].to, LISTING_NONE);
	listing_name_targets(l, name_even, &asked_for);
	assert_int_equal(asked_for, LISTING_NAMED_MAX);
	for (uint32_t i = 0; i < l->ninsns; i++) {
		if (l->insns[i].name == LISTING_NONE)
			continue;
		assert_int_equal(l->insns[i].target % 2, 0);
		assert_null(strchr(l->strings + l->insns[i].name, '\x1b'));
		named++;
	}
	assert_in_range(named, LISTING_NAMED_MAX / 2 - 1, LISTING_NAMED_MAX / 2 + 1);
	assert_non_null(strstr(l->strings + l->insns[8].name, "17008"));
	listing_put(l);
}

/* --- the running kernel ---------------------------------------------------------------------- */

static void one_function_is_that_of_gdb(void **state)
{
	const struct kcode_request request = {.core = "/proc/kcore", .kallsyms = "/proc/kallsyms"};
	struct kcode_request own = request;
	char command[256], row[256];
	struct listing *l;
	uint32_t n = 0;
	FILE *f;

	(void)state;
	f = popen("awk '$3 == \"getname_flags\" && $2 ~ /[tT]/ {print $1}' " /* NOLINT */
		  "/proc/kallsyms",
		  "r");
	assert_non_null(f);
	if (fscanf(f, "%" SCNx64, &own.start) != 1)
		own.start = 0;
	pclose(f);
	if (!own.start)
		need_syslog();
	if (!own.start || access("/proc/kcore", R_OK) || kcode_list(&own, &l))
		skip_since("/proc/kcore cannot be read");
	snprintf(command, sizeof(command),
		 "gdb -batch -nx -c /proc/kcore -ex 'x/%ui 0x%" PRIx64 "' 2>/dev/null", l->ninsns,
		 own.start);
	f = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(f);
	while (fgets(row, sizeof(row), f)) {
		uint64_t addr;

		if (sscanf(row, " 0x%" SCNx64 ":", &addr) != 1)
			continue;
		assert_true(n < l->ninsns);
		assert_int_equal(l->insns[n++].addr, addr);
	}
	pclose(f);
	assert_int_equal(n, l->ninsns);
	listing_put(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_those_of_objdump),
		cmocka_unit_test(calls_are_named),
		cmocka_unit_test(an_unknown_end_is_the_next_name),
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(there_is_another_way),
		cmocka_unit_test(marks_are_instructions),
		cmocka_unit_test(targets_are_named_later),
		cmocka_unit_test(one_function_is_that_of_gdb),
	};

	if (disasm_missing()) { /* which is optional */
		printf("1..1\nok 1 # SKIP %s\n", disasm_missing());
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
