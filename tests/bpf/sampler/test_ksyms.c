// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel names against /proc/kallsyms, which the kernel fills by another way than the one that
 * ksyms.bpf.c asks. Addresses that several symbols share may be named by any of them.
 * runs alone: it changes kernel.kptr_restrict
 * Covers: bpf/sampler/ksyms.c bpf/prog/ksyms.bpf.c
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cmocka.h>

#include "bpf/sampler/ksyms.h"
#include "tests/support/fds.h"
#include "tests/support/rights.h"

#define PICKS	 300
#define RESTRICT "/proc/sys/kernel/kptr_restrict"

struct symbol {
	uint64_t addr;
	char *name, *module; /* module: "vmlinux" for the kernel's own */
};

struct symbols {
	struct symbol *all; /* text, ascending */
	size_t n;
	uint64_t stext, etext;
};

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* False: the addresses are hidden. */
static bool symbols_read(struct symbols *s)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024], name[600], module[64], type;
	size_t room = 0;
	uint64_t addr;
	int n;

	memset(s, 0, sizeof(*s));
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		n = sscanf(line, "%" SCNx64 " %c %599s [%63[^]]", &addr, &type, name, module);
		if (n < 3 || !addr || !strchr("tTwW", type))
			continue;
		if (s->n == room) {
			room = room ? room * 2 : 4096;
			s->all = realloc(s->all, room * sizeof(*s->all));
			assert_non_null(s->all);
		}
		s->all[s->n].addr = addr;
		s->all[s->n].name = strdup(name);
		s->all[s->n++].module = strdup(n == 4 ? module : "vmlinux");
		if (n == 3 && !strcmp(name, "_stext"))
			s->stext = addr;
		if (n == 3 && !strcmp(name, "_etext"))
			s->etext = addr;
	}
	fclose(f);
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), by_address);
	return s->n > 0;
}

static void symbols_free(struct symbols *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->all[i].name);
		free(s->all[i].module);
	}
	free(s->all);
}

/* The first of those that share the address of number i. */
static size_t first_of(const struct symbols *s, size_t i)
{
	while (i && s->all[i - 1].addr == s->all[i].addr)
		i--;
	return i;
}

/* The first behind those; 0: none. */
static uint64_t next_address(const struct symbols *s, size_t i)
{
	uint64_t addr = s->all[i].addr;

	while (i < s->n && s->all[i].addr == addr)
		i++;
	return i < s->n ? s->all[i].addr : 0;
}

/* Whether it is one of the names at the address of symbol i, with its module. */
static bool is_named(const struct symbols *s, size_t i, const struct ksym *k)
{
	for (size_t j = first_of(s, i); j < s->n && s->all[j].addr == s->all[i].addr; j++)
		if (!strcmp(s->all[j].name, k->name) && !strcmp(s->all[j].module, k->module))
			return true;
	print_error("%#" PRIx64 " (leaf %d) is %s [%s], not %s [%s]\n", k->addr, k->leaf, k->name,
		    k->module, s->all[i].name, s->all[i].module);
	return false;
}

static bool in_kernel_text(const struct symbols *s, size_t i)
{
	return s->all[i].addr >= s->stext && next_address(s, i) && next_address(s, i) <= s->etext &&
	       !strcmp(s->all[i].module, "vmlinux");
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Numbers of symbols of the kernel's own text, which code that was freed after boot is not in. */
static void pick(const struct symbols *s, uint64_t seed, size_t *to, size_t n)
{
	for (size_t i = 0; i < n;) {
		to[i] = random_next(&seed) % s->n;
		i += in_kernel_text(s, to[i]);
	}
}

static void start(struct ksyms **k, struct symbols *s)
{
	assert_int_equal(ksyms_new(k), 0);
	assert_non_null(*k);
	if (!symbols_read(s)) {
		symbols_free(s);
		ksyms_free(*k);
		need_syslog();
		skip_since("/proc/kallsyms hides its addresses");
	}
	assert_true(s->stext && s->stext < s->etext);
}

static void finish(struct ksyms *k, struct symbols *s)
{
	symbols_free(s);
	ksyms_free(k);
}

/* --- functions of the kernel ---------------------------------------------------------------- */

/* How many of the names are wrong. padding: what is before a function has a name, too. */
static size_t wrong_names(struct ksyms *k, const struct symbols *s, uint64_t seed, bool padding)
{
	size_t picked[PICKS], wrong = 0;
	struct ksym four[4];

	pick(s, seed, picked, PICKS);
	for (size_t i = 0; i < PICKS; i++) {
		uint64_t from = s->all[picked[i]].addr, to = next_address(s, picked[i]);

		if (!padding && !strncmp(s->all[picked[i]].name, "__pfx_", 6))
			continue;
		four[0] = (struct ksym){.addr = from, .leaf = 1};
		four[1] = (struct ksym){.addr = from + 1};
		four[2] = (struct ksym){.addr = from + (to - from) / 2, .leaf = 1};
		/* a call at the very end, whose return address is the next function's */
		four[3] = (struct ksym){.addr = to};
		ksyms_resolve(k, four, 4, 0);
		for (size_t j = 0; j < 4; j++)
			wrong += !is_named(s, picked[i], &four[j]);
	}
	return wrong;
}

static void check_random(uint64_t seed)
{
	struct symbols s;
	struct ksyms *k;

	start(&k, &s);
	assert_int_equal(wrong_names(k, &s, seed, true), 0);
	finish(k, &s);
}

static void test_functions(void **state)
{
	(void)state;
	check_random(0x9e3779b97f4a7c15);
}

/* Without CAP_BPF, as before Linux 5.13: from the text of /proc/kallsyms. */
static bool drop_bpf(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	data[CAP_SYSLOG / 32].effective = data[CAP_SYSLOG / 32].permitted = 1u << CAP_SYSLOG % 32;
	return syscall(SYS_capset, &head, data) == 0;
}

static void test_fallback(void **state)
{
	struct symbols s;
	struct ksyms *k;
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!drop_bpf() || ksyms_new(&k) || !symbols_read(&s))
			_exit(99);
		_exit(wrong_names(k, &s, 0x2545f4914f6cdd1d, false) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 99 << 8) {
		need_syslog();
		skip_since("/proc/kallsyms hides its addresses");
	}
	assert_int_equal(status, 0);
}

/* Without any capability addresses are zeros: no name is made up, and the remedy is told. */
static void test_hidden(void **state)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	struct ksym one = {.addr = 0xffffffff81000100, .leaf = 1};
	struct symbols s;
	struct ksyms *k;
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setuid(65534) || syscall(SYS_capset, &head, data) || ksyms_new(&k) ||
		    ksyms_trouble(k))
			_exit(99);
		if (symbols_read(&s)) /* kptr_restrict and perf_event_paranoid show them to all */
			_exit(98);
		ksyms_resolve(k, &one, 1, 0);
		_exit(strcmp(one.name, "[kernel]") != 0 || !ksyms_trouble(k) ||
		      !strstr(ksyms_trouble(k), "root"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 98 << 8 || (geteuid() && status == 99 << 8))
		skip_since("/proc/kallsyms hides its addresses");
	assert_int_equal(status, 0);
}

static void write_restrict(char value)
{
	int fd = open(RESTRICT, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, &value, 1) != 1)
		print_message("%s cannot be set\n", RESTRICT);
	if (fd >= 0)
		close(fd);
}

static char read_restrict(void)
{
	int fd = open(RESTRICT, O_RDONLY | O_CLOEXEC);
	char value = 0;

	if (fd < 0 || read(fd, &value, 1) != 1)
		value = 0;
	if (fd >= 0)
		close(fd);
	return value;
}

static char restrict_before;

static int put_back(void **state)
{
	(void)state;
	if (restrict_before)
		write_restrict(restrict_before);
	return 0;
}

/* What the kernel lets others see of its addresses must not matter to root. */
static void test_restricted(void **state)
{
	(void)state;
	restrict_before = read_restrict();
	if (geteuid() != 0 || access(RESTRICT, W_OK) || !strchr("01", restrict_before)) {
		restrict_before = 0;
		need_sys_admin();
		skip_since("kptr_restrict cannot be set");
	}
	for (char value = '0'; value <= '1'; value++) {
		write_restrict(value);
		if (read_restrict() != value)
			skip_since("kptr_restrict cannot be set");
		check_random(0xd1b54a32d192ed03 + value);
	}
}

/* Functions of the kernel that are called like BPF programs. */
static void test_lookalikes(void **state)
{
	struct symbols s;
	struct ksyms *k;
	size_t n = 0;

	(void)state;
	start(&k, &s);
	for (size_t i = 0; i < s.n; i++) {
		struct ksym one = {.addr = s.all[i].addr, .leaf = 1};

		if (!in_kernel_text(&s, i) || strncmp(s.all[i].name, "bpf_prog_", 9))
			continue;
		ksyms_resolve(k, &one, 1, 0);
		assert_true(is_named(&s, i, &one));
		n++;
	}
	finish(k, &s);
	if (!n)
		skip_since("no module is loaded");
}

/* --- modules and programs -------------------------------------------------------------------- */

/* Both ends of a symbol. */
static bool is_right(struct ksyms *k, const struct symbols *s, size_t i)
{
	uint64_t from = s->all[i].addr;
	struct ksym two[2] = {{.addr = from, .leaf = 1}, {.addr = from + 1}};

	ksyms_resolve(k, two, 2, 0);
	return is_named(s, i, &two[0]) && is_named(s, i, &two[1]);
}

/* Modules are unloaded, and others take their place. */
static bool is_still_there(const struct symbol *symbol)
{
	struct symbols s;
	bool found = false;

	assert_true(symbols_read(&s));
	for (size_t i = 0; i < s.n && !found; i++)
		found = s.all[i].addr == symbol->addr && !strcmp(s.all[i].name, symbol->name) &&
			!strcmp(s.all[i].module, symbol->module);
	symbols_free(&s);
	return found;
}

static void test_modules(void **state)
{
	struct symbols s;
	struct ksyms *k;
	size_t n = 0;

	(void)state;
	start(&k, &s);
	for (size_t i = 0; i < s.n && n < PICKS; i++) {
		/* the kernel names the generators of code that belongs to no module */
		if (!strcmp(s.all[i].module, "vmlinux") || !strcmp(s.all[i].module, "bpf") ||
		    !strncmp(s.all[i].module, "__builtin__", 11))
			continue;
		if (is_right(k, &s, i))
			n++;
		else
			assert_false(is_still_there(&s.all[i]));
	}
	finish(k, &s);
	if (!n) {
		skip_since("no module is loaded");
	}
}

/* Those of others may go at any time, so the test loads a program of its own. */
static void test_program(void **state)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 7},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "stacktop_own", "GPL", insns, 2, NULL);
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	char name[64] = "bpf_prog_";
	struct symbols s;
	struct ksyms *k;
	size_t i;

	(void)state;
	if (fd == -EPERM || fd == -EACCES)
		skip_without("CAP_BPF");
	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	for (i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(name + 9 + 2 * i, 3, "%02x", info.tag[i]);
	strcat(name, "_stacktop_own");
	start(&k, &s);
	for (i = 0; i < s.n && strcmp(s.all[i].name, name); i++)
		;
	if (i < s.n) {
		assert_string_equal(s.all[i].module, "bpf");
		assert_true(is_right(k, &s, i));
	}
	close(fd);
	if (i == s.n) {
		finish(k, &s);
		skip_since("programs are not in /proc/kallsyms");
	}
	finish(k, &s);
}

/* --- what has no name ------------------------------------------------------------------------ */

static void test_nameless(void **state)
{
	static const uint64_t addrs[] = {
		0,
		1,
		4096,
		0x400000,
		0x7fffffffffff,
		0x800000000000,
		1ull << 63,
		0xffff800000000000,
		UINT64_MAX - 1,
		UINT64_MAX,
	};
	const size_t n = sizeof(addrs) / sizeof(addrs[0]);
	struct ksym syms[2 * sizeof(addrs) / sizeof(addrs[0]) + 2];
	struct ksyms *k;

	(void)state;
	assert_int_equal(ksyms_new(&k), 0);
	for (size_t i = 0; i < 2 * n; i++)
		syms[i] = (struct ksym){.addr = addrs[i / 2], .leaf = i & 1};
	syms[2 * n] = (struct ksym){.addr = (uintptr_t)test_nameless, .leaf = 1};
	syms[2 * n + 1] = (struct ksym){.addr = (uintptr_t)&k};
	ksyms_resolve(k, syms, 2 * n + 2, 0);
	for (size_t i = 0; i < 2 * n + 2; i++) {
		if (strcmp(syms[i].name, "[kernel]") || strcmp(syms[i].module, "vmlinux"))
			fail_msg("%#" PRIx64 " is %s [%s]", syms[i].addr, syms[i].name,
				 syms[i].module);
	}
	ksyms_resolve(k, syms, 0, 0);
	ksyms_resolve(k, NULL, 0, 0);
	ksyms_free(k);
	ksyms_free(NULL);
}

/* --- batches --------------------------------------------------------------------------------- */

/* Every entry is named as in its place, whatever the sizes, repetitions and turns of the cache. */
static void check_batch(struct ksyms *k, const struct symbols *s, const size_t *picked, size_t n)
{
	struct ksym *batch = calloc(n, sizeof(*batch));

	assert_non_null(batch);
	for (size_t i = 0; i < n; i++) {
		if (i % 7 == 6)
			batch[i] = (struct ksym){.addr = 0x400000 + i, .leaf = 1};
		else
			batch[i] = (struct ksym){.addr = s->all[picked[i]].addr + (i & 1),
						 .leaf = !(i & 1)};
	}
	ksyms_resolve(k, batch, n, 0);
	for (size_t i = 0; i < n; i++) {
		if (i % 7 == 6)
			assert_string_equal(batch[i].name, "[kernel]");
		else
			assert_true(is_named(s, picked[i], &batch[i]));
	}
	free(batch);
}

static void test_batches(void **state)
{
	/* around the size of a turn of the program; more than the cache holds */
	static const size_t sizes[] = {1, 63, 64, 65, 128, 1000, 70000, 3};
	const size_t most = 70000;
	size_t *picked;
	struct symbols s;
	struct ksyms *k;

	(void)state;
	start(&k, &s);
	picked = calloc(most, sizeof(*picked));
	assert_non_null(picked);
	pick(&s, 0x8cb92ba72f3d8dd7, picked, most);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_batch(k, &s, picked + most - sizes[i], sizes[i]);
	finish(k, &s);
	free(picked);
}

static void test_descriptors(void **state)
{
	size_t fds = count_fds();
	struct ksyms *k;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct ksym one = {.addr = (uint64_t)-4096, .leaf = 1};

		assert_int_equal(ksyms_new(&k), 0);
		ksyms_resolve(k, &one, 1, 0);
		ksyms_free(k);
	}
	assert_int_equal(count_fds(), fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_fallback),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test_teardown(test_restricted, put_back),
		cmocka_unit_test(test_lookalikes),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_descriptors),
	};

	libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
