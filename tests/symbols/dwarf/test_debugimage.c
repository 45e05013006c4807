// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which bytes of .debug_info are in an image, and when: what a file says of itself decides.
 * Covers: symbols/dwarf/debugimage.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/dwarf/debugimage.h"
#include "symbols/elf/elffile.h"

#define INFO_SIZE ((size_t)4 << 20)
#define FAR	  ((size_t)3 << 20)

struct file { /* as it is on disk; libelf needs the headers in order */
	Elf64_Ehdr ehdr;
	char names[64];
	uint8_t text[4096]; /* .debug_str */
	uint8_t info[INFO_SIZE];
	Elf64_Shdr sections[4];
};

static struct file contents;

static void section_write(size_t i, uint32_t name, size_t offset, size_t size)
{
	contents.sections[i] = (Elf64_Shdr){
		.sh_name = name, .sh_type = SHT_PROGBITS, .sh_offset = offset, .sh_size = size};
}

static void contents_write(void)
{
	static const char names[] = "\0.shstrtab\0.debug_str\0.debug_info";

	contents.ehdr = (Elf64_Ehdr){.e_type = ET_EXEC,
				     .e_machine = EM_X86_64,
				     .e_version = EV_CURRENT,
				     .e_shoff = offsetof(struct file, sections),
				     .e_ehsize = sizeof(Elf64_Ehdr),
				     .e_phentsize = sizeof(Elf64_Phdr),
				     .e_shentsize = sizeof(Elf64_Shdr),
				     .e_shnum = 4,
				     .e_shstrndx = 1};
	memcpy(contents.ehdr.e_ident, ELFMAG, SELFMAG);
	contents.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	contents.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	contents.ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(contents.names, names, sizeof(names));
	section_write(1, 1, offsetof(struct file, names), sizeof(contents.names));
	contents.sections[1].sh_type = SHT_STRTAB;
	section_write(2, 11, offsetof(struct file, text), sizeof(contents.text));
	section_write(3, 22, offsetof(struct file, info), sizeof(contents.info));
	memset(contents.text, 't', sizeof(contents.text));
	for (size_t i = 0; i < INFO_SIZE; i++)
		contents.info[i] = (uint8_t)(i % 251 + 1);
}

static struct elf_file *file_open(int *fd)
{
	struct elf_file *file;

	*fd = memfd_create("image", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(write(*fd, &contents, sizeof(contents)), sizeof(contents));
	assert_int_equal(elf_file_open_fd(*fd, &file), 0);
	return file;
}

/* Of .debug_info, that the image has right, that are still zero, and that are something else. */
struct counts {
	size_t right, zero, wrong;
};

static struct counts count(const struct debugimage *image, size_t from, size_t to)
{
	struct elf_section section;
	struct counts counts = {0};

	assert_int_equal(elf_file_section(debugimage_file(image), ".debug_info", &section), 0);
	assert_int_equal(section.size, INFO_SIZE);
	for (size_t i = from; i < to; i++) {
		counts.right += section.data[i] == contents.info[i];
		counts.zero += !section.data[i];
	}
	counts.wrong = to - from - counts.right - counts.zero;
	return counts;
}

static void test_on_demand(void **state)
{
	struct debugimage *image;
	struct elf_section text;
	struct elf_file *file;
	int fd;

	(void)state;
	contents_write();
	file = file_open(&fd);
	assert_int_equal(debugimage_new(file, true, &image), 0);
	assert_int_equal(elf_file_section(debugimage_file(image), ".debug_str", &text), 0);
	assert_memory_equal(text.data, contents.text, sizeof(contents.text));
	assert_int_equal(count(image, 0, INFO_SIZE).zero, INFO_SIZE);
	debugimage_need(image, FAR, 1000);
	assert_int_equal(count(image, FAR, FAR + 1000).right, 1000);
	assert_true(count(image, 0, INFO_SIZE).right < INFO_SIZE / 8);
	debugimage_need(image, INFO_SIZE - 1, SIZE_MAX);
	debugimage_need(image, 70000, 200000);
	debugimage_need(image, 0, 0);
	debugimage_need(image, INFO_SIZE, 1);
	debugimage_need(image, UINT64_MAX, 1);
	debugimage_need(NULL, 0, 1);
	assert_int_equal(count(image, 70000, 270000).right, 200000);
	assert_int_equal(count(image, INFO_SIZE - 1, INFO_SIZE).right, 1);
	assert_int_equal(count(image, 0, INFO_SIZE).wrong, 0);
	assert_true(count(image, 0, INFO_SIZE).zero > INFO_SIZE / 2);
	assert_memory_equal(text.data, contents.text, sizeof(contents.text));
	debugimage_need(image, 0, INFO_SIZE);
	assert_int_equal(count(image, 0, INFO_SIZE).right, INFO_SIZE);
	debugimage_free(image);
	elf_file_free(file);
	close(fd);
}

/* All of the section is there before anything of it is asked for. */
static void check_whole(bool lazy)
{
	struct debugimage *image;
	struct elf_file *file;
	int fd;

	file = file_open(&fd);
	assert_int_equal(debugimage_new(file, lazy, &image), 0);
	assert_int_equal(count(image, 0, INFO_SIZE).right, INFO_SIZE);
	debugimage_free(image);
	elf_file_free(file);
	close(fd);
}

/* Not lazy, as for an alternate file, which debugimage_need is never called for: all is read. */
static void test_at_once(void **state)
{
	(void)state;
	contents_write();
	check_whole(false);
}

/* What another section or a header has bytes of must not change once it was looked at. */
static void test_shared_bytes(void **state)
{
	static const struct {
		size_t offset, size;
	} of_text[] = {
		{offsetof(struct file, info) + INFO_SIZE - 1, 64},
		{offsetof(struct file, info) - 8, 9},
		{offsetof(struct file, info) + FAR, 4096},
		{0, sizeof(struct file)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of_text) / sizeof(*of_text); i++) {
		contents_write();
		section_write(2, 11, of_text[i].offset, of_text[i].size);
		check_whole(true);
	}
}

/* What was cut off meanwhile is zero, and nothing waits or ends the program. */
static void test_shrunk(void **state)
{
	struct debugimage *image;
	struct elf_file *file;
	int fd;

	(void)state;
	contents_write();
	file = file_open(&fd);
	assert_int_equal(debugimage_new(file, true, &image), 0);
	assert_int_equal(ftruncate(fd, offsetof(struct file, info) + 300000), 0);
	debugimage_need(image, 0, INFO_SIZE);
	assert_int_equal(count(image, 0, 250000).right, 250000);
	assert_int_equal(count(image, 0, INFO_SIZE).wrong, 0);
	assert_int_equal(count(image, 400000, INFO_SIZE).zero, INFO_SIZE - 400000);
	debugimage_free(image);
	elf_file_free(file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_demand),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_shared_bytes),
		cmocka_unit_test(test_shrunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
