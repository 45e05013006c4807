// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel addresses that are used again: which code was there when, and that a program which is
 * gone keeps its name.
 * Covers: bpf/sampler/kernelcode.c bpf/sampler/ksyms.c bpf/tracker/sideband.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cmocka.h>

#include "bpf/sampler/kernelcode.h"
#include "bpf/sampler/ksyms.h"
#include "tests/support/rights.h"
#include "tests/support/serve.h"

static const char *at(struct kernelcode *k, uint32_t generation, uint64_t addr)
{
	static char name[KERNELCODE_NAME];

	return kernelcode_find(k, generation, addr, name, sizeof(name)) ? name : "-";
}

static void test_generations(void **state)
{
	struct kernelcode *k;

	(void)state;
	assert_int_equal(kernelcode_new(&k), 0);
	assert_int_equal(kernelcode_generation(k), 0);
	assert_string_equal(at(k, 0, 0x1000), "-");
	assert_int_equal(kernelcode_note(k, 0x1000, 0x100, "alpha", false), 1);
	assert_int_equal(kernelcode_note(k, 0x2000, 0x100, "other", false), 2);
	assert_int_equal(kernelcode_note(k, 0x1000, 0x100, "alpha", true), 3);
	assert_int_equal(kernelcode_note(k, 0x1080, 0x100, "bravo", false), 4);
	/* was there before anything was noted */
	assert_int_equal(kernelcode_note(k, 0x3000, 0x10, "early", true), 5);
	/* the end of bravo was lost */
	assert_int_equal(kernelcode_note(k, 0x1080, 0x80, "delta", false), 6);
	assert_int_equal(kernelcode_generation(k), 6);
	assert_string_equal(at(k, 0, 0x1000), "-");
	assert_string_equal(at(k, 1, 0x1000), "alpha");
	assert_string_equal(at(k, 2, 0x10ff), "alpha");
	assert_string_equal(at(k, 2, 0x1100), "-");
	assert_string_equal(at(k, 2, 0xfff), "-");
	assert_string_equal(at(k, 3, 0x1000), "-");
	assert_string_equal(at(k, 4, 0x10c0), "bravo");
	assert_string_equal(at(k, 5, 0x117f), "bravo");
	assert_string_equal(at(k, 6, 0x10c0), "delta");
	assert_string_equal(at(k, 6, 0x1100), "-");
	assert_string_equal(at(k, 0, 0x3000), "early");
	assert_string_equal(at(k, 4, 0x300f), "early");
	assert_string_equal(at(k, 5, 0x3000), "-");
	assert_string_equal(at(k, 6, 0x2000), "other");
	kernelcode_free(k);
	kernelcode_free(NULL);
}

/* Lengths that lead nowhere, and more pieces than are kept. */
static void test_bounds(void **state)
{
	struct kernelcode *k;

	(void)state;
	assert_int_equal(kernelcode_new(&k), 0);
	kernelcode_note(k, UINT64_MAX - 10, 100, "over", false);
	kernelcode_note(k, 0x1000, 0, "empty", false);
	kernelcode_note(k, 0x1000, 0, "empty", true);
	assert_string_equal(at(k, 1, UINT64_MAX - 5), "-");
	assert_string_equal(at(k, 2, 0x1000), "-");
	kernelcode_note(k, 0x10, 1, "stays", false); /* generation 4 */
	for (uint32_t i = 0; i < 5000; i++) {
		kernelcode_note(k, 0x100000 + i, 1, "passes", false);
		kernelcode_note(k, 0x100000 + i, 1, "passes", true);
	}
	assert_string_equal(at(k, 4 + 10000, 0x10), "stays");
	assert_string_equal(at(k, 4 + 2 * 4999 + 1, 0x100000 + 4999), "passes");
	assert_string_equal(at(k, 4 + 2 * 4000 + 1, 0x100000 + 4000), "passes");
	assert_string_equal(at(k, 5, 0x100000), "-"); /* forgotten */
	kernelcode_free(k);
}

/* A program of that name, of two instructions; its address and length. */
static int load(const char *name, uint64_t *addr, uint32_t *length)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 7},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, name, "GPL", insns, 2, NULL);
	struct bpf_prog_info info = {
		.jited_ksyms = (uintptr_t)addr,
		.nr_jited_ksyms = 1,
		.jited_func_lens = (uintptr_t)length,
		.nr_jited_func_lens = 1,
	};
	__u32 size = sizeof(info);

	if (fd < 0)
		return fd;
	*addr = 0;
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	if (!*addr || !info.jited_prog_len) {
		print_message("programs are interpreted, or their addresses hidden\n");
		close(fd);
		return -ENOTSUP;
	}
	return fd;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), e = strlen(end);

	return n >= e && !strcmp(text + n - e, end);
}

static const char *named(struct ksyms *k, uint64_t addr, uint32_t generation, const char **module)
{
	struct ksym one = {.addr = addr, .leaf = 1};

	ksyms_resolve(k, &one, 1, generation);
	*module = one.module;
	return one.name;
}

/*
 * Loads the program and waits until its record has come; *then is a generation in which it is
 * there. A record may be lost where there are too many of others, so it is tried again. < 0: it
 * cannot be.
 */
static int load_known(struct kernelcode *code, const char *name, uint64_t *addr, uint32_t *length,
		      uint32_t *then)
{
	for (int tries = 0; tries < 30; tries++) {
		int fd = load(name, addr, length);

		for (int i = 0; fd >= 0 && i < 1000; i++) {
			*then = kernelcode_generation(code);
			if (ends_in(at(code, *then, *addr), name))
				return fd;
			usleep(2000);
		}
		if (fd < 0)
			return fd;
		close(fd);
	}
	fail_msg("no record of %s", name);
	return -1;
}

/*
 * Of a program that is gone the kernel knows no name any more, or another one's, which was put in
 * its place.
 */
static void test_program_is_gone(void **state)
{
	static const char *const names[2] = {"_st_alpha", "_st_bravo"};
	static struct running r;
	struct kernelcode *code;
	uint64_t addr[2];
	uint32_t then[2], length[2];
	const char *module;
	struct ksyms *k;
	int fd;

	(void)state;
	run(&r, NULL);
	code = tracker_kernel_code(r.tracker);
	assert_int_equal(ksyms_new(&k), 0);
	ksyms_set_code(k, code);
	for (int i = 0; i < 2; i++) {
		fd = load_known(code, names[i], &addr[i], &length[i], &then[i]);
		if (fd < 0) {
			ksyms_free(k);
			run_end(&r);
			skip_since("the program cannot be loaded");
		}
		assert_true(ends_in(named(k, addr[i], then[i], &module), names[i]));
		assert_string_equal(module, "bpf");
		close(fd);
	}
	for (int i = 0; i < 2; i++) {
		assert_true(ends_in(named(k, addr[i] + length[i] - 1, then[i], &module), names[i]));
		assert_string_equal(module, "bpf");
	}
	print_message("at %s address\n", addr[0] == addr[1] ? "the same" : "another");
	ksyms_free(k);
	run_end(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_program_is_gone),
	};

	if (argc > 1 && !strcmp(argv[1], "--serve"))
		return serve();
	libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
