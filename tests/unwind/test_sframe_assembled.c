// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * .sframe from this machine's assembler, compared with readelf's listing of it and with libdw's
 * interpretation of the .eh_frame of the same program.
 * Covers: unwind/sframe.c
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
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
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/tablerule.h"
#include "unwind/arch.h"
#include "unwind/table.h"
#include "unwind/wide.h"

static const char source[] =
	"#include <alloca.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"#define N __attribute__((noinline))\n"
	"N int leaf(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"
	"N int big(int n) { volatile char b[40000]; memset((void *)b, n, sizeof(b));\n"
	"	return leaf(n) + b[n]; }\n"
	"N int vla(int n) { char *p = alloca(n * 8 + 16); memset(p, n, n * 8);\n"
	"	return p[n] + big(n); }\n"
	"N long regs(long a, long b, long c, long d, long e) { long r = vla(a);\n"
	"	r += vla(b) * c; r += big(d) * e; printf(\"%ld %ld %ld\\n\", a, b, c); return r; }\n"
	"int main(int argc, char **argv) { return regs(argc, 2, 3, 4, 5) + !getenv(argv[0]); }\n";

struct program {
	char folder[SCRATCH];
	char whole[96], bare[96]; /* paths: with .eh_frame and without */
	struct wide_rules *wide;
	struct elf_file *file;
	struct unwind_table *table; /* of the bare one */
};

static bool program_new(struct program *p, const char *flags)
{
	char command[512];
	FILE *out;

	memset(p, 0, sizeof(*p));
	scratch_folder(p->folder, "sframe");
	snprintf(p->whole, sizeof(p->whole), "%s/whole", p->folder);
	snprintf(p->bare, sizeof(p->bare), "%s/bare", p->folder);
	snprintf(command, sizeof(command), "gcc %s -Wa,--gsframe -x c -o %s - 2>%s/errors", flags,
		 p->whole, p->folder);
	out = popen(command, "w");
	assert_non_null(out);
	fputs(source, out);
	if (pclose(out))
		return false;
	snprintf(command, sizeof(command),
		 "objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr %s %s",
		 p->whole, p->bare);
	assert_int_equal(system(command), 0);
	p->wide = wide_rules_new();
	assert_non_null(p->wide);
	assert_int_equal(elf_file_open(p->bare, &p->file), 0);
	assert_int_equal(unwind_table_build(p->file, p->wide, &p->table), 0);
	assert_int_equal(p->table->bad_fdes, 0);
	return true;
}

static void program_free(struct program *p)
{
	char command[96];

	unwind_table_free(p->table);
	elf_file_free(p->file);
	wide_rules_free(p->wide);
	snprintf(command, sizeof(command), "rm -r %s", p->folder);
	assert_int_equal(system(command), 0);
}

struct plain { /* a rule in the words of readelf */
	char base;
	int64_t cfa;
	int64_t fp; /* offset from the CFA; 0: unchanged */
};

static struct plain our_rule(const struct program *p, uint64_t pc)
{
	uint32_t rule = unwind_table_rule(p->table, pc);
	const struct wide_rule *w;
	unsigned int count;

	switch (RULE_KIND(rule)) {
	case ROW_SP:
	case ROW_FP:
		return (struct plain){RULE_KIND(rule) == ROW_SP ? 's' : 'f', RULE_CFA(rule),
				      -(int64_t)RULE_FP_DEPTH(rule)};
	case ROW_PLT:
		return (struct plain){'s', (pc & 15) >= (rule & 15) ? 16 : 8, 0};
	case ROW_WIDE:
		w = &wide_rules_all(p->wide, &count)[RULE_PAYLOAD(rule)];
		assert_int_equal(w->cfa_kind, WIDE_CFA_REG);
		assert_int_equal(w->ra_kind, WIDE_AT_CFA);
		assert_int_equal(w->ra_off, -8);
		return (struct plain){w->cfa_reg == DWARF_RSP ? 's' : 'f', w->cfa_off,
				      w->fp_kind == WIDE_SAME ? 0 : w->fp_off};
	default:
		return (struct plain){'-', 0, 0};
	}
}

static void assert_plain(const struct program *p, uint64_t pc, struct plain expected)
{
	struct plain ours = our_rule(p, pc);

	if (ours.base != expected.base || ours.cfa != expected.cfa || ours.fp != expected.fp)
		fail_msg("%s: %" PRIx64 ": %cp+%" PRId64 " %" PRId64 ", expected %cp+%" PRId64
			 " %" PRId64,
			 p->whole, pc, ours.base, ours.cfa, ours.fp, expected.base, expected.cfa,
			 expected.fp);
}

/* CFA and saved RBP as libdw finds them in .eh_frame. */
static struct plain libdw_rule(Dwarf_CFI *cfi, uint64_t pc)
{
	struct plain rule = {'-', 0, 0};
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	size_t n;

	if (dwarf_cfi_addrframe(cfi, pc, &frame) < 0)
		return rule;
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	assert_true(n == 1 || n > 5);
	assert_true(ops[0].atom == DW_OP_bregx || ops[0].atom == DW_OP_breg6 ||
		    ops[0].atom == DW_OP_breg7);
	rule.base = ops[0].atom == DW_OP_breg7 || (ops[0].atom == DW_OP_bregx && ops[0].number == 7)
			    ? 's'
			    : 'f';
	rule.cfa = (int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
	if (n > 1) { /* the PLT's: breg7 8; breg16 0; lit15; and; litN; ge; ... */
		assert_true(ops[4].atom >= DW_OP_lit0 && ops[4].atom < DW_OP_lit0 + 16);
		rule.cfa += (pc & 15) >= (uint64_t)(ops[4].atom - DW_OP_lit0) ? 8 : 0;
	}
	assert_int_equal(dwarf_frame_register(frame, 6, memory, &ops, &n), 0);
	if (n == 2) {
		assert_int_equal(ops[0].atom, DW_OP_call_frame_cfa);
		assert_int_equal(ops[1].atom, DW_OP_plus_uconst);
		rule.fp = (int64_t)ops[1].number;
	}
	free(frame);
	return rule;
}

static bool within(const struct program *p, const char *name, uint64_t pc)
{
	struct elf_section section;

	return !elf_file_section(p->file, name, &section) && pc - section.addr < section.size;
}

/*
 * GNU ld's .sframe is wrong for .plt.sec and .plt.got, which stacktop ignores, and for the jump in
 * .plt if stubs begin with endbr64: it has its row at 9 instead of 11.
 */
static bool known_wrong(const struct program *p, uint64_t pc)
{
	struct elf_section section;

	return !elf_file_section(p->file, ".plt.sec", &section) && within(p, ".plt", pc) &&
	       ((pc & 15) == 9 || (pc & 15) == 10);
}

/* Compares with readelf's rows, and with libdw's at each byte of the functions in its listing. */
static void check_program(const struct program *p)
{
	unsigned long start = 0, size = 0, rows = 0, funcs = 0, masked = 0;
	char command[128], line[256];
	Dwarf_CFI *cfi;
	Elf *elf;
	int fd;
	FILE *in;

	fd = open(p->whole, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	snprintf(command, sizeof(command), "readelf --sframe %s", p->bare);
	in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		unsigned long pc;
		struct plain rule;
		char fp[32];

		if (sscanf(line, " func idx [%*u]: pc = 0x%lx, size = %lu", &start, &size) == 2) {
			funcs++;
			for (pc = start; pc < start + size; pc++)
				if (!known_wrong(p, pc))
					assert_plain(p, pc, libdw_rule(cfi, pc));
		} else if (strstr(line, "STARTPC")) {
			masked = strstr(line, "STARTPC[m]") ? start : 0;
		} else if (sscanf(line, " %lx %cp+%" SCNd64 " %31s", &pc, &rule.base, &rule.cfa,
				  fp) == 4) {
			rule.fp = fp[0] == 'c' ? atoi(fp + 1) : 0;
			if (!within(p, ".plt.sec", masked + pc) &&
			    !within(p, ".plt.got", masked + pc))
				assert_plain(p, masked + pc, rule);
			rows++;
		}
	}
	assert_int_equal(pclose(in), 0);
	assert_true(funcs >= 6 && rows >= 20);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
}

static void test_assembled(void **state)
{
	static const char *const flags[] = {
		"-O2 -Wl,-z,lazy",
		"-O0",
		"-O2 -fno-omit-frame-pointer",
		"-Os -fcf-protection=full -Wl,-z,ibtplt,-z,lazy",
		"-O1 -fPIC -pie",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct program p;
		bool made = program_new(&p, flags[i]);

		if (made)
			check_program(&p);
		program_free(&p);
		if (!made) {
			skip_since("the assembler writes no .sframe");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_assembled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
