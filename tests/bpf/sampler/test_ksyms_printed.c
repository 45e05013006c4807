// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -Wl,--wrap=libbpf_probe_bpf_helper,--wrap=objects_ksyms,--wrap=bpf_object__load */
/* build: -Wl,--wrap=bpf_object__find_program_by_name,--wrap=bpf_object__find_map_fd_by_name */
/* build: -Wl,--wrap=bpf_program__fd,--wrap=bpf_object__close,--wrap=bpf_prog_test_run_opts */
/*
 * What the kernel prints of an address, read: many kernels have no modules that could be asked
 * about, so the test is the kernel. The forms are those of __sprint_symbol in kernel/kallsyms.c.
 * Covers: bpf/sampler/ksyms.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cmocka.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/ksyms.h"

#define ADDR 0xffffffffc0001234

static int memory = -1;		   /* a file in the place of the map */
static struct ksym_batch *batch;   /* in it */
static const char *printed;	   /* for each address */
static char object[1], program[1]; /* never looked into */

int __wrap_libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id id, const void *opts);
int __wrap_libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id id, const void *opts)
{
	(void)type;
	(void)id;
	(void)opts;
	return 1;
}

struct bpf_object *__wrap_objects_ksyms(void);
struct bpf_object *__wrap_objects_ksyms(void)
{
	return (struct bpf_object *)object;
}

int __wrap_bpf_object__load(struct bpf_object *of);
int __wrap_bpf_object__load(struct bpf_object *of)
{
	assert_ptr_equal(of, object);
	return 0;
}

struct bpf_program *__wrap_bpf_object__find_program_by_name(const struct bpf_object *of,
							    const char *name);
struct bpf_program *__wrap_bpf_object__find_program_by_name(const struct bpf_object *of,
							    const char *name)
{
	(void)of;
	assert_string_equal(name, "name_addresses");
	return (struct bpf_program *)program;
}

int __wrap_bpf_object__find_map_fd_by_name(const struct bpf_object *of, const char *name);
int __wrap_bpf_object__find_map_fd_by_name(const struct bpf_object *of, const char *name)
{
	(void)of;
	assert_string_equal(name, "batch");
	return memory;
}

int __wrap_bpf_program__fd(const struct bpf_program *of);
int __wrap_bpf_program__fd(const struct bpf_program *of)
{
	(void)of;
	return 1000;
}

void __wrap_bpf_object__close(struct bpf_object *of);
void __wrap_bpf_object__close(struct bpf_object *of)
{
	(void)of;
}

int __wrap_bpf_prog_test_run_opts(int fd, struct bpf_test_run_opts *opts);
int __wrap_bpf_prog_test_run_opts(int fd, struct bpf_test_run_opts *opts)
{
	(void)opts;
	assert_int_equal(fd, 1000);
	for (uint32_t i = 0; i < batch->count; i++)
		snprintf(batch->names[i], sizeof(batch->names[i]), "%s", printed);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memory = memfd_create("batch", MFD_CLOEXEC);
	assert_true(memory >= 0);
	assert_int_equal(ftruncate(memory, sizeof(*batch)), 0);
	batch = mmap(NULL, sizeof(*batch), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	return batch == MAP_FAILED;
}

static int teardown(void **state)
{
	(void)state;
	close(memory);
	return munmap(batch, sizeof(*batch));
}

static void test_forms(void **state)
{
	static const struct {
		const char *printed, *name, *module;
		uint64_t start, end; /* 0: not known */
	} forms[] = {
		{"nft_do_chain+0x35/0x5d0 [nf_tables]", "nft_do_chain", "nf_tables", ADDR - 0x34,
		 ADDR - 0x34 + 0x5d0},
		{"do_syscall_64+0x1/0x100", "do_syscall_64", "vmlinux", ADDR, ADDR + 0x100},
		{"bpf_prog_0123456789abcdef_mine+0x5/0x20 [bpf]", "bpf_prog_0123456789abcdef_mine",
		 "bpf", ADDR - 4, ADDR - 4 + 0x20},
		{"bpf_prog_0123456789abcdef_mine+0x5/0x20", "bpf_prog_0123456789abcdef_mine", "bpf",
		 ADDR - 4, ADDR - 4 + 0x20},
		{"bpf_prog_0123456789abcde_mine+0x5/0x20 [other]", "bpf_prog_0123456789abcde_mine",
		 "other", ADDR - 4, ADDR - 4 + 0x20},
		{"0xffffffffc0001235", "[kernel]", "vmlinux", 0, 0},
		{"", "[kernel]", "vmlinux", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct ksym one = {.addr = ADDR, .leaf = 1};
		uint64_t start = 0, end = 0;
		struct ksyms *k;

		printed = forms[i].printed;
		assert_int_equal(ksyms_new(&k), 0);
		ksyms_resolve(k, &one, 1, 0);
		assert_string_equal(one.name, forms[i].name);
		assert_string_equal(one.module, forms[i].module);
		ksyms_extent(k, ADDR, 0, one.name, &start, &end);
		assert_int_equal(start, forms[i].start);
		assert_int_equal(end, forms[i].end);
		ksyms_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
