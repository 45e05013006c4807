// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mappings are looked up as /proc/self/maps shows them, on the kernels that keep them in a maple
 * tree, those from Linux 6.1 on; on others that is found out.
 * Covers: bpf/sampler/vma.c bpf/prog/vma.bpf.c bpf/prog/vma.bpf.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/vma.h"
#include "tests/support/rights.h"

#define MANY 3000 /* of four levels, in a tree of ten children a node */

static bool has_tree(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname uts;

	assert_int_equal(uname(&uts), 0);
	assert_int_equal(sscanf(uts.release, "%u.%u", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 1);
}

static void test_found(void **state)
{
	(void)state;
	need_sampling();
	assert_int_equal(vma_can_be_found(), has_tree());
}

/* Mappings that cannot become one, since every other page may not be written. */
static void test_deep(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, MANY * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	need_sampling();
	assert_true(at != MAP_FAILED);
	for (size_t i = 0; i < MANY; i += 2)
		assert_int_equal(mprotect(at + i * page, page, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(vma_can_be_found(), has_tree());
	assert_int_equal(munmap(at, MANY * page), 0);
}

/* Another file, another place, and nothing of either is what says that something is not checked. */
static void test_tags(void **state)
{
	const uint64_t file = vma_file_tag(vma_dev(8, 1), 77);

	(void)state;
	assert_true(file != vma_file_tag(vma_dev(8, 2), 77));
	assert_true(file != vma_file_tag(vma_dev(8, 1), 78));
	assert_true((file & FRAME_TAG_MASK) != (vma_file_tag(vma_dev(8, 1), 78) & FRAME_TAG_MASK));
	assert_true(vma_frame_tag(file, 0) == file);
	for (uint32_t next = 1; next; next <<= 1)
		assert_true(((vma_frame_tag(file, next) ^ file) & FRAME_TAG_MASK) != 0);
	for (uint64_t base = 0; base < 4096; base++) {
		uint32_t tag = vma_tag(file, base << 12);

		assert_true(tag != VMA_ANONYMOUS && tag != VMA_ANY);
		assert_true(tag != vma_tag(file, (base + 1) << 12));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
