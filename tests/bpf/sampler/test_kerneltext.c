// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel text as a BPF program copies it, against the text of that program itself, which bpf(2)
 * gives by another way; and where it ends, as the kernel names it.
 * Covers: bpf/sampler/kerneltext.c bpf/prog/kcode.bpf.c bpf/sampler/ksyms.c
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

#include "bpf/sampler/kerneltext.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/objects.h"
#include "tests/support/rights.h"

struct own { /* text of a program that is loaded */
	struct bpf_object *object;
	uint8_t text[65536];
	uint32_t size;
	uint64_t at;
};

static int setup(void **state)
{
	static struct own own;
	struct bpf_prog_info info = {.jited_prog_insns = (uintptr_t)own.text,
				     .jited_prog_len = sizeof(own.text),
				     .jited_ksyms = (uintptr_t)&own.at,
				     .nr_jited_ksyms = 1};
	uint32_t size = sizeof(info);
	struct bpf_program *program;

	own.object = objects_kcode();
	assert_non_null(own.object);
	*state = &own;
	if (bpf_object__load(own.object) == -EPERM)
		return 0;
	program = bpf_object__find_program_by_name(own.object, "read_code");
	assert_non_null(program);
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size), 0);
	own.size = info.jited_prog_len;
	return 0;
}

static int teardown(void **state)
{
	struct own *own = *state;

	bpf_object__close(own->object);
	return 0;
}

static void text_is_that_of_the_kernel(void **state)
{
	struct own *own = *state;
	static uint8_t text[sizeof(own->text)];

	need_sampling();
	if (!own->at || !own->size)
		skip_since("no compiler in this kernel, or its addresses are hidden");
	assert_true(own->size > 32);
	assert_int_equal(kerneltext_read(own->at, text, own->size), 0);
	assert_memory_equal(text, own->text, own->size);
	for (uint32_t i = 0; i < 24; i++) { /* pieces of any size, from anywhere */
		memset(text, 0, 8);
		assert_int_equal(kerneltext_read(own->at + i, text, 8), 0);
		assert_memory_equal(text, own->text + i, 8);
	}
	/* Of a user, and of no one. */
	assert_int_equal(kerneltext_read((uintptr_t)text, text, 8), -EFAULT);
	assert_int_equal(kerneltext_read(0, text, 8), -EFAULT);
	assert_int_equal(kerneltext_read(UINT64_MAX - 4, text, 4), -EFAULT);
}

static void a_function_has_an_extent(void **state)
{
	struct own *own = *state;
	struct ksym sym = {.addr = own->at + 16, .leaf = 1};
	uint64_t start, end;
	struct ksyms *k;
	char name[128];

	need_sampling();
	if (!own->at || !own->size)
		skip_since("no compiler in this kernel, or its addresses are hidden");
	assert_int_equal(ksyms_new(&k), 0);
	ksyms_resolve(k, &sym, 1, 0);
	snprintf(name, sizeof(name), "%s", sym.name);
	assert_non_null(strstr(name, "_read_code"));
	assert_int_equal(ksyms_extent(k, own->at + 16, 0, name, &start, &end), 0);
	assert_true(own->at - start < 16); /* a landing pad may come first */
	assert_true(!end || (end >= own->at + own->size && end < own->at + own->size + 4096));
	assert_int_equal(ksyms_extent(k, own->at + 16, 0, "another", &start, &end), -ENOENT);
	assert_int_equal(ksyms_extent(k, 4096, 0, "[kernel]", &start, &end), -ENOENT);
	ksyms_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_that_of_the_kernel),
		cmocka_unit_test(a_function_has_an_extent),
	};

	if (geteuid()) {
		printf("1..1\nok 1 # SKIP needs root\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
