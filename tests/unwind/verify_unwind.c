// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the tables of many files with elfutils' interpreter of CFI (libdw), pc by pc: at both
 * ends and at a random place of every row of ours and of every row of libdw's. Rules are not
 *compared as text: both are evaluated for the same random registers and the same invented memory,
 *and must give the same CFA, stack pointer, frame pointer and return address.
 *
 *	verify_unwind [-v] [-s N] FILE|DIR...
 *
 * -v prints the first differences of each file, -s N looks at every Nth row only. Exits with 1 when
 * fewer than 99.99 % of the places agree.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elffile.h"
#include "unwind/row.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define SHOW_MAX  10
#define CIES_MAX  4096
#define STACK_MAX 64

enum outcome {
	AGREE,
	DIFFER_CFA,
	DIFFER_SP,
	DIFFER_FP,
	DIFFER_RA,
	DIFFER_SIGNAL,
	MISSING,     /* libdw has a rule, we say `end` */
	EXTRA,	     /* the other way round */
	UNSUPPORTED, /* we say that we cannot */
	SP_LOST,     /* we say that the caller's stack pointer cannot be found */
	PLT,	     /* our rule for PLT sections without CFI */
	OUTCOMES,
};

static const char *const outcome_names[OUTCOMES] = {
	"agree",	   "CFA differs", "SP differs",	     "FP differs",
	"RA differs",	   "signal flag", "we: end",	     "libdw: nothing",
	"we: unsupported", "we: SP lost", "PLT without CFI",
};

struct totals {
	uint64_t outcomes[OUTCOMES];
	uint64_t classes[ROW_CLASS_COUNT];
	uint64_t unknown; /* places whose libdw expression our evaluator does not know */
	uint64_t files, fdes, bad_fdes, rows, cfi_bytes, table_bytes, other_encodings;
};

struct frame { /* of a caller */
	uint64_t cfa, fp, ra;
	bool outermost, signal;
};

struct check {
	const char *path;
	Dwarf_CFI *cfi;
	struct unwind_table *table;
	const struct wide_rule *wide;
	uint64_t plt_start[3], plt_end[3];
	uint64_t random;
	uint64_t regs[DWARF_COUNT];
	unsigned int shown;
};

static struct totals totals;
static bool verbose;
static unsigned int stride = 1;
static struct wide_rules *wide_set;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* Invented memory: every address has a value. */
static uint64_t memory(uint64_t addr)
{
	return mix(addr + 0x1234567);
}

static void registers_invent(struct check *k, uint64_t pc)
{
	for (unsigned int i = 0; i < DWARF_COUNT; i++)
		k->regs[i] = mix(k->random += i + 1);
	k->regs[DWARF_RIP] = pc;
}

/* --- libdw's side -------------------------------------------------------------------------- */

struct machine {
	uint64_t stack[STACK_MAX];
	unsigned int depth;
	bool unknown;
	bool is_value; /* DW_OP_stack_value */
	int in_reg;    /* DW_OP_regN, or -1 */
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth < STACK_MAX)
		m->stack[m->depth++] = value;
	else
		m->unknown = true;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->unknown = true;
	return 0;
}

static uint64_t reg_value(const struct check *k, struct machine *m, uint64_t reg)
{
	if (reg < DWARF_COUNT)
		return k->regs[reg];
	m->unknown = true;
	return 0;
}

static void op_binary(struct machine *m, uint8_t atom)
{
	uint64_t b = pop(m), a = pop(m);

	switch (atom) {
	case DW_OP_plus:
		push(m, a + b);
		break;
	case DW_OP_minus:
		push(m, a - b);
		break;
	case DW_OP_mul:
		push(m, a * b);
		break;
	case DW_OP_and:
		push(m, a & b);
		break;
	case DW_OP_or:
		push(m, a | b);
		break;
	case DW_OP_shl:
		push(m, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(m, b < 64 ? a >> b : 0);
		break;
	case DW_OP_ge:
		push(m, (int64_t)a >= (int64_t)b);
		break;
	case DW_OP_swap:
		push(m, b);
		push(m, a);
		break;
	default:
		m->unknown = true;
		break;
	}
}

static void op_run(const struct check *k, struct machine *m, const Dwarf_Op *op, uint64_t cfa)
{
	uint8_t atom = op->atom;

	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		push(m, reg_value(k, m, atom - DW_OP_breg0) + op->number);
	} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		m->in_reg = atom - DW_OP_reg0;
	} else if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		push(m, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		push(m, op->number);
	} else {
		switch (atom) {
		case DW_OP_addr:
			push(m, op->number);
			break;
		case DW_OP_bregx:
			push(m, reg_value(k, m, op->number) + op->number2);
			break;
		case DW_OP_regx:
			m->in_reg = (int)op->number;
			break;
		case DW_OP_call_frame_cfa:
			push(m, cfa);
			break;
		case DW_OP_plus_uconst:
			push(m, pop(m) + op->number);
			break;
		case DW_OP_deref:
			push(m, memory(pop(m)));
			break;
		case DW_OP_stack_value:
			m->is_value = true;
			break;
		case DW_OP_nop:
			break;
		default:
			op_binary(m, atom);
			break;
		}
	}
}

static struct machine ops_run(const struct check *k, const Dwarf_Op *ops, size_t n, uint64_t cfa)
{
	struct machine m = {.in_reg = -1};

	for (size_t i = 0; i < n && !m.unknown; i++)
		op_run(k, &m, &ops[i], cfa);
	return m;
}

/* Value of the caller's register; *undefined when libdw says that there is none. */
static bool libdw_register(const struct check *k, Dwarf_Frame *frame, int reg, uint64_t cfa,
			   uint64_t *value, bool *undefined)
{
	Dwarf_Op memory_ops[3], *ops;
	struct machine m;
	size_t n;

	*undefined = false;
	if (dwarf_frame_register(frame, reg, memory_ops, &ops, &n) < 0)
		return false;
	if (!n) {
		*undefined = ops != NULL;
		*value = k->regs[reg];
		return true;
	}
	m = ops_run(k, ops, n, cfa);
	if (m.in_reg >= 0)
		*value = reg_value(k, &m, (uint64_t)m.in_reg);
	else if (m.is_value)
		*value = pop(&m);
	else
		*value = memory(pop(&m));
	return !m.unknown;
}

/* 1: filled in, 0: libdw has no rule here, -1: it has one that cannot be evaluated here. */
static int libdw_frame(const struct check *k, uint64_t pc, struct frame *f, uint64_t *start,
		       uint64_t *end, uint64_t *sp)
{
	Dwarf_Frame *frame;
	struct machine m;
	Dwarf_Op *ops;
	bool undefined;
	int ra, found = -1;
	size_t n;

	if (dwarf_cfi_addrframe(k->cfi, pc, &frame) < 0)
		return 0;
	ra = dwarf_frame_info(frame, start, end, &f->signal);
	if (ra < 0 || ra >= DWARF_COUNT || dwarf_frame_cfa(frame, &ops, &n) < 0 || !n)
		goto out;
	m = ops_run(k, ops, n, 0);
	f->cfa = pop(&m);
	if (m.unknown)
		goto out;
	if (!libdw_register(k, frame, DWARF_RSP, f->cfa, sp, &undefined) ||
	    !libdw_register(k, frame, ra, f->cfa, &f->ra, &f->outermost) ||
	    !libdw_register(k, frame, DWARF_RBP, f->cfa, &f->fp, &undefined))
		goto out;
	found = 1;
out:
	free(frame);
	return found;
}

/* --- our side ------------------------------------------------------------------------------ */

static uint64_t wide_value(const struct check *k, unsigned int kind, unsigned int reg, int32_t off,
			   uint64_t cfa)
{
	switch (kind) {
	case WIDE_AT_CFA:
		return memory(cfa + (uint64_t)(int64_t)off);
	case WIDE_AT_REG:
		return memory(k->regs[reg] + (uint64_t)(int64_t)off);
	case WIDE_IN_REG:
		return k->regs[reg];
	default:
		return k->regs[DWARF_RBP];
	}
}

/* Only for rules that have a frame. */
static void our_frame(const struct check *k, uint32_t rule, struct frame *f)
{
	const struct wide_rule *w;
	uint64_t base;

	memset(f, 0, sizeof(*f));
	switch (RULE_KIND(rule)) {
	case ROW_OUTERMOST:
		f->outermost = true;
		return;
	case ROW_WIDE:
		w = &k->wide[RULE_PAYLOAD(rule)];
		base = k->regs[w->cfa_reg] + (uint64_t)(int64_t)w->cfa_off;
		f->cfa = w->cfa_kind == WIDE_CFA_DEREF
				 ? memory(base) + (uint64_t)(int64_t)w->cfa_add
				 : base;
		f->fp = wide_value(k, w->fp_kind, w->fp_reg, w->fp_off, f->cfa);
		f->ra = wide_value(k, w->ra_kind, w->ra_reg, w->ra_off, f->cfa);
		f->signal = w->flags & WIDE_SIGNAL;
		return;
	case ROW_PLT:
		f->cfa =
			k->regs[DWARF_RSP] + 8 + ((k->regs[DWARF_RIP] & 15) >= (rule & 15) ? 8 : 0);
		break;
	default:
		base = RULE_KIND(rule) == ROW_RSP ? DWARF_RSP : DWARF_RBP;
		f->cfa = k->regs[base] + RULE_CFA(rule);
		break;
	}
	f->fp = k->regs[DWARF_RBP];
	if (RULE_KIND(rule) != ROW_PLT && RULE_FP_DEPTH(rule) > 0)
		f->fp = memory(f->cfa - RULE_FP_DEPTH(rule));
	f->ra = memory(f->cfa - 8);
}

/* --- both ---------------------------------------------------------------------------------- */

static bool in_bare_plt(const struct check *k, uint64_t pc)
{
	for (int i = 0; i < 3; i++)
		if (pc >= k->plt_start[i] && pc < k->plt_end[i])
			return true;
	return false;
}

static enum outcome compare(const struct frame *ours, const struct frame *theirs, uint64_t sp)
{
	if (ours->outermost != theirs->outermost)
		return DIFFER_RA;
	if (ours->outermost)
		return AGREE;
	if (ours->cfa != theirs->cfa)
		return DIFFER_CFA;
	if (ours->ra != theirs->ra)
		return DIFFER_RA;
	if (ours->fp != theirs->fp)
		return DIFFER_FP;
	if (ours->signal != theirs->signal)
		return DIFFER_SIGNAL;
	return ours->cfa == sp ? AGREE : DIFFER_SP;
}

/* Compares at one pc. *end: where libdw's row ends, or 0 when it has none. */
static void check_pc(struct check *k, uint64_t pc, uint64_t *end)
{
	uint32_t rule = unwind_table_rule(k->table, pc);
	struct frame ours, theirs = {0};
	uint64_t start = 0, sp = 0;
	enum outcome outcome;
	int found;

	registers_invent(k, pc);
	*end = 0;
	found = libdw_frame(k, pc, &theirs, &start, end, &sp);
	if (RULE_KIND(rule) == ROW_UNSUPPORTED) {
		outcome = UNSUPPORTED;
		totals.classes[RULE_PAYLOAD(rule) % ROW_CLASS_COUNT]++;
	} else if (found > 0 && RULE_KIND(rule) == ROW_WIDE &&
		   k->wide[RULE_PAYLOAD(rule)].flags & WIDE_SP_LOST) {
		our_frame(k, rule, &ours);
		outcome = compare(&ours, &theirs, sp) == DIFFER_SP ? SP_LOST : DIFFER_SP;
	} else if (found < 0) {
		totals.unknown++;
		return;
	} else if (RULE_KIND(rule) == ROW_END) {
		outcome = found ? MISSING : AGREE;
	} else if (!found) {
		outcome = in_bare_plt(k, pc) ? PLT : EXTRA;
	} else {
		our_frame(k, rule, &ours);
		outcome = compare(&ours, &theirs, sp);
	}
	totals.outcomes[outcome]++;
	if (verbose && outcome != AGREE && outcome != PLT && outcome != SP_LOST &&
	    k->shown++ < SHOW_MAX)
		printf("  %s: %" PRIx64 ": %s (rule %06x, libdw row %" PRIx64 "..%" PRIx64 ")\n",
		       k->path, pc, outcome_names[outcome], rule, start, *end);
}

static void check_range(struct check *k, uint64_t start, uint64_t end)
{
	uint64_t ignored;

	if (end <= start)
		return;
	check_pc(k, start, &ignored);
	if (end - start > 1)
		check_pc(k, end - 1, &ignored);
	if (end - start > 2)
		check_pc(k, start + 1 + mix(k->random++) % (end - start - 2), &ignored);
}

static void check_our_rows(struct check *k)
{
	unsigned int turn = 0;

	for (uint32_t i = 0; i < k->table->nspans; i++) {
		const struct unwind_span *span = &k->table->spans[i];
		const uint32_t *index = k->table->words + span->first;
		const uint32_t *rows = index + span->ngranules;
		uint64_t last = span->start;

		/* From row to row; the rows stand one behind the other, whatever their granule. */
		for (uint32_t g = 0; g < span->ngranules; g++)
			for (uint32_t r = 0; r < INDEX_ROWS(index[g]); r++) {
				uint64_t pc = span->start + (uint64_t)g * GRANULE_SIZE +
					      ROW_OFFSET(rows[INDEX_FIRST(index[g]) + r]);

				if (turn++ % stride == 0)
					check_range(k, last, pc);
				last = pc;
			}
		check_range(k, last, span->end);
	}
}

/* libdw's rows of a FDE. */
static void check_fde(struct check *k, uint64_t start, uint64_t size)
{
	uint64_t pc = start, end, ignored;

	while (pc - start < size) {
		check_pc(k, pc, &end);
		if (end <= pc)
			return;
		if (end - pc > 1)
			check_pc(k, end - 1, &ignored);
		pc = end;
	}
	/* What is right behind it: padding or the next function. */
	check_pc(k, start + size, &ignored);
}

struct cie {
	uint64_t offset;
	uint8_t encoding;
};

static uint8_t cie_encoding(const Dwarf_CIE *cie)
{
	const uint8_t *data = cie->augmentation_data;
	const char *c = cie->augmentation;

	if (!c || *c != 'z')
		return DW_EH_PE_absptr;
	for (c++; *c; c++) {
		if (*c == 'R')
			return *data;
		if (*c == 'L') {
			data++;
		} else if (*c == 'P') {
			uint8_t encoding = *data++ & 0x0f;

			data += encoding == DW_EH_PE_sdata4 || encoding == DW_EH_PE_udata4 ? 4 : 8;
		}
	}
	return DW_EH_PE_absptr;
}

/* Every function that the section names, read by libdw's record reader. */
static void check_fdes(struct check *k, Elf *elf, Elf_Data *data, uint64_t addr, bool eh_frame)
{
	static struct cie cies[CIES_MAX];
	unsigned int ncies = 0, turn = 0;
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry entry;
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	int more;

	for (; (more = dwarf_next_cfi(ident, data, eh_frame, at, &next, &entry)) <= 0; at = next) {
		uint64_t start = 0, size = 0;
		int64_t encoding = -1;

		if (more < 0 && next == at)
			return;
		if (more < 0)
			continue;
		if (entry.CIE_id == LIBDW_CIE_ID) {
			if (ncies < CIES_MAX)
				cies[ncies++] = (struct cie){at, cie_encoding(&entry.cie)};
			continue;
		}
		for (unsigned int i = ncies; i-- && encoding < 0;)
			if (cies[i].offset == entry.fde.CIE_pointer)
				encoding = cies[i].encoding;
		if (encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4)) {
			int32_t rel;
			uint32_t range;

			memcpy(&rel, entry.fde.start, sizeof(rel));
			start = addr + (uint64_t)(entry.fde.start - (uint8_t *)data->d_buf) +
				(uint64_t)(int64_t)rel;
			memcpy(&range, entry.fde.start + 4, sizeof(range));
			size = range;
		} else if (encoding == DW_EH_PE_absptr) {
			memcpy(&start, entry.fde.start, sizeof(start));
			memcpy(&size, entry.fde.start + 8, sizeof(size));
		} else {
			totals.other_encodings++;
			continue;
		}
		if (start && size && turn++ % stride == 0)
			check_fde(k, start, size);
	}
}

static Elf_Data *section_data(Elf *elf, const char *name, uint64_t *addr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *found;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, shdr.sh_name);
		if (found && !strcmp(found, name)) {
			*addr = shdr.sh_addr;
			return elf_rawdata(scn, NULL);
		}
	}
	return NULL;
}

static void check_find_plt(struct check *k, const struct elf_file *file)
{
	static const char *const names[3] = {".plt", ".plt.sec", ".plt.got"};

	for (int i = 0; i < 3; i++) {
		struct elf_section section;

		if (elf_file_section(file, names[i], &section) < 0)
			continue;
		k->plt_start[i] = section.addr;
		k->plt_end[i] = section.addr + section.size;
	}
}

static void totals_add(const struct unwind_table *t)
{
	totals.files++;
	totals.fdes += t->nfdes;
	totals.bad_fdes += t->bad_fdes;
	totals.rows += t->nrows;
	totals.cfi_bytes += t->cfi_bytes;
	totals.table_bytes += 4ull * t->nwords;
}

static void check_elf(struct check *k, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf *dwarf = NULL;
	Elf_Data *data;
	uint64_t addr = 0;
	bool eh_frame = true;

	data = section_data(elf, ".eh_frame", &addr);
	if (data && data->d_size > 4) {
		k->cfi = dwarf_getcfi_elf(elf);
	} else {
		eh_frame = false;
		data = section_data(elf, ".debug_frame", &addr);
		dwarf = data ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
		k->cfi = dwarf ? dwarf_getcfi(dwarf) : NULL;
	}
	if (k->cfi && data) {
		check_our_rows(k);
		check_fdes(k, elf, data, addr, eh_frame);
	} else if (k->table->cfi_bytes) {
		printf("%s: libdw finds no CFI\n", k->path);
	}
	if (eh_frame && k->cfi)
		dwarf_cfi_end(k->cfi);
	if (dwarf)
		dwarf_end(dwarf);
	elf_end(elf);
}

static void verify_file(const char *path)
{
	struct check k = {.path = path, .random = 42};
	struct totals before = totals;
	struct elf_file *file;
	unsigned int nwide;
	uint64_t different = 0;
	int err, fd;

	if (elf_file_open(path, &file) < 0)
		return;
	/* Relocatable files are not mapped. */
	if (elf_file_type(file) == ET_REL) {
		elf_file_free(file);
		return;
	}
	err = unwind_table_build(file, wide_set, &k.table);
	if (err) {
		printf("%s: %s\n", path, strerror(-err));
		elf_file_free(file);
		return;
	}
	check_find_plt(&k, file);
	elf_file_free(file);
	k.wide = wide_rules_all(wide_set, &nwide);
	totals_add(k.table);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && elf_version(EV_CURRENT) != EV_NONE) {
		check_elf(&k, fd);
		close(fd);
	}
	for (int i = AGREE + 1; i < OUTCOMES; i++)
		if (i != PLT && i != SP_LOST)
			different += totals.outcomes[i] - before.outcomes[i];
	if (different || k.table->bad_fdes)
		printf("%s: %" PRIu64 " of %" PRIu64 " places differ, %u bad FDEs\n", path,
		       different, different + totals.outcomes[AGREE] - before.outcomes[AGREE],
		       k.table->bad_fdes);
	unwind_table_free(k.table);
	fflush(stdout);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && S_ISREG(st->st_mode))
		verify_file(path);
	return 0;
}

static int report(void)
{
	uint64_t all = 0;
	unsigned int nwide;
	double share;

	for (int i = 0; i < OUTCOMES; i++)
		all += totals.outcomes[i];
	/* Of PLT stubs libdw knows nothing; where the stack pointer is lost, all else agrees. */
	share = all ? 100.0 *
				(double)(totals.outcomes[AGREE] + totals.outcomes[PLT] +
					 totals.outcomes[SP_LOST]) /
				(double)all
		    : 0;
	wide_rules_all(wide_set, &nwide);
	printf("\n%" PRIu64 " files, %" PRIu64 " FDEs (%" PRIu64 " bad), %" PRIu64 " rows, %u wide "
	       "rules, %" PRIu64 " bytes of CFI, %" PRIu64 " bytes of tables\n",
	       totals.files, totals.fdes, totals.bad_fdes, totals.rows, nwide, totals.cfi_bytes,
	       totals.table_bytes);
	for (int i = 0; i < OUTCOMES; i++)
		printf("%12" PRIu64 "  %s\n", totals.outcomes[i], outcome_names[i]);
	for (int i = 1; i < ROW_CLASS_COUNT; i++)
		if (totals.classes[i])
			printf("%12" PRIu64 "    unsupported: %s\n", totals.classes[i],
			       row_class_name((unsigned int)i));
	printf("%12" PRIu64 "  rules of libdw not evaluated, %" PRIu64 " FDEs not enumerated\n",
	       totals.unknown, totals.other_encodings);
	printf("%.5f %% agree\n", share);
	return share >= 99.99 ? 0 : 1;
}

int main(int argc, char **argv)
{
	int option, status;

	while ((option = getopt(argc, argv, "vs:")) != -1) {
		if (option == 'v') {
			verbose = true;
		} else if (option == 's' && atoi(optarg) > 0) {
			stride = (unsigned int)atoi(optarg);
		} else {
			fprintf(stderr, "usage: verify_unwind [-v] [-s N] FILE|DIR...\n");
			return 2;
		}
	}
	wide_set = wide_rules_new();
	if (!wide_set)
		return 2;
	for (; optind < argc; optind++) {
		struct stat st;

		if (stat(argv[optind], &st) < 0)
			perror(argv[optind]);
		else if (S_ISDIR(st.st_mode))
			nftw(argv[optind], visit, 32, FTW_PHYS);
		else
			verify_file(argv[optind]);
	}
	status = report();
	wide_rules_free(wide_set);
	return status;
}
