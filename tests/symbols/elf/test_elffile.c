// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF files as readelf sees them, and files that are none, broken, or change under us.
 * Covers: symbols/elf/elffile.c symbols/elf/elfsection.c
 * Covers: symbols/base/bytes.c symbols/files/rootfile.c
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"

static const char *const paths[] = {
	"/bin/ls",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
};

static char *copy_of(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	char *data = malloc(1 << 22);

	assert_non_null(in);
	assert_non_null(data);
	*size = fread(data, 1, 1 << 22, in);
	fclose(in);
	return data;
}

static int temporary(char path[SCRATCH], const void *data, size_t size)
{
	int fd = scratch_file(path, "elffile");

	assert_int_equal(write(fd, data, size), size);
	return fd;
}

/* System calls of the process that read, which the kernel counts (proc(5), io); 0: it does not. */
static size_t reads_so_far(void)
{
	FILE *in = fopen("/proc/self/io", "re");
	char line[128];
	size_t reads = 0;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "syscr: %zu", &reads) == 1)
			break;
	if (in)
		fclose(in);
	return reads;
}

static FILE *readelf(const char *option, const char *path, const char *filter)
{
	char command[512];
	FILE *in;

	snprintf(command, sizeof(command), "readelf %s '%s' | %s", option, path, filter);
	in = popen(command, "r");
	assert_non_null(in);
	return in;
}

static void test_loads(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		FILE *in = readelf("-lW", paths[i], "grep '^  LOAD'");
		const struct elf_load *loads;
		struct elf_file *file;
		char line[512];
		size_t count, n = 0;

		assert_int_equal(elf_file_open(paths[i], &file), 0);
		assert_int_equal(elf_file_machine(file), EM_X86_64);
		assert_int_equal(elf_file_type(file), ET_DYN);
		loads = elf_file_loads(file, &count);
		for (; fgets(line, sizeof(line), in); n++) {
			uint64_t offset, vaddr, filesz, memsz;
			char flags[16];

			assert_true(n < count);
			assert_int_equal(sscanf(line,
						" LOAD %" SCNx64 " %" SCNx64 " %*x %" SCNx64
						" %" SCNx64 " %15[RWE ]",
						&offset, &vaddr, &filesz, &memsz, flags),
					 5);
			assert_int_equal(loads[n].offset, offset);
			assert_int_equal(loads[n].vaddr, vaddr);
			assert_int_equal(loads[n].filesz, filesz);
			assert_int_equal(loads[n].memsz, memsz);
			assert_int_equal(loads[n].exec, strchr(flags, 'E') != NULL);
		}
		assert_int_equal(n, count);
		assert_true(n >= 2);
		pclose(in);
		elf_file_free(file);
	}
}

static int section_at(const struct elf_file *file, uint32_t index, struct elf_section *out)
{
	uint64_t left = 1ull << 30;

	return elf_file_section_at_within(file, index, &left, out);
}

static void test_sections(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		FILE *in = readelf("-SW", paths[i],
				   "sed -n 's/^ *\\[ *\\([0-9]*\\)\\]/\\1/p' | grep -v NULL");
		struct elf_file *file;
		char line[512];
		size_t size, n = 0, matched = 0;
		char *data = copy_of(paths[i], &size);

		assert_int_equal(elf_file_open(paths[i], &file), 0);
		while (fgets(line, sizeof(line), in)) {
			struct elf_section s;
			uint64_t addr, offset, length;
			uint32_t index;
			char name[64], type[32];

			if (sscanf(line, "%" SCNu32 " %63s %31s %" SCNx64 " %" SCNx64 " %" SCNx64,
				   &index, name, type, &addr, &offset, &length) != 6)
				continue;
			n++;
			if (!strcmp(type, "NOBITS")) {
				assert_int_equal(elf_file_section(file, name, &s), -ENOENT);
				continue;
			}
			assert_int_equal(section_at(file, index, &s), 0);
			assert_int_equal(s.size, length);
			assert_int_equal(s.addr, addr);
			assert_true(offset + length <= size);
			assert_memory_equal(s.data, data + offset, length);
			memset(&s, 0, sizeof(s));
			assert_int_equal(elf_file_section(file, name, &s), 0);
			matched += s.size == length;
		}
		assert_int_equal(elf_file_section_count(file), n + 1);
		assert_true(matched >= n / 2);
		pclose(in);
		elf_file_free(file);
		free(data);
	}
}

static void test_build_id(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		FILE *in = readelf("-n", paths[i], "sed -n 's/.*Build ID: //p'");
		char expected[256] = "", found[2 * BUILD_ID_MAX + 1] = "";
		uint8_t id[BUILD_ID_MAX];
		struct elf_file *file;
		size_t length;

		assert_non_null(fgets(expected, sizeof(expected), in));
		pclose(in);
		expected[strcspn(expected, "\n")] = '\0';
		assert_int_equal(elf_file_open(paths[i], &file), 0);
		length = elf_file_build_id(file, id);
		for (size_t j = 0; j < length; j++)
			sprintf(found + 2 * j, "%02x", id[j]);
		assert_string_equal(found, expected);
		elf_file_free(file);
	}
}

static void test_refused(void **state)
{
	struct elf_file *file;
	size_t size;
	char *data = copy_of("/bin/ls", &size), path[SCRATCH], fifo[80];
	int fd;

	(void)state;
	assert_int_equal(elf_file_open("/no/such/file", &file), -ENOENT);
	assert_int_equal(elf_file_open("/etc/passwd", &file), -EINVAL);
	assert_int_equal(elf_file_open("/dev/zero", &file), -EINVAL);
	assert_int_equal(elf_file_open("/tmp", &file), -EINVAL);
	fd = temporary(path, "", 0);
	assert_int_equal(elf_file_open_fd(fd, &file), -EINVAL);
	close(fd);
	unlink(path);
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(elf_file_open(fifo, &file), -EINVAL);
	unlink(fifo);
	data[EI_CLASS] = ELFCLASS32;
	assert_int_equal(elf_file_open_memory(data, size, &file), -ENOTSUP);
	/* as a 32-bit file its header is a broken one, of another machine */
	fd = temporary(path, (const char *)data, size);
	assert_int_equal(elf_file_open_fd(fd, &file), -ENOTSUP);
	assert_true(elf_file_open_any_fd(fd, &file) < 0);
	assert_null(file);
	close(fd);
	unlink(path);
	data[EI_CLASS] = ELFCLASS64;
	data[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(elf_file_open_memory(data, size, &file), -ENOTSUP);
	data[EI_DATA] = ELFDATA2LSB;
	((Elf64_Ehdr *)data)->e_machine = EM_RISCV;
	assert_int_equal(elf_file_open_memory(data, size, &file), -ENOTSUP);
	((Elf64_Ehdr *)data)->e_machine = EM_X86_64;
	((Elf64_Ehdr *)data)->e_type = ET_CORE;
	assert_int_equal(elf_file_open_memory(data, size, &file), -EINVAL);
	assert_null(file);
	assert_int_equal(elf_file_open_memory(data, 3, &file), -EINVAL);
	elf_file_free(NULL);
	free(data);
}

static void test_memory(void **state)
{
	struct elf_file *file;
	struct elf_section s;
	size_t size;
	char *data = copy_of("/bin/ls", &size);

	(void)state;
	assert_int_equal(elf_file_open_memory(data, size, &file), 0);
	assert_int_equal(elf_file_section(file, ".eh_frame", &s), 0);
	assert_true((const char *)s.data > data && (const char *)s.data + s.size < data + size);
	elf_file_free(file);
	free(data);
	assert_int_equal(elf_file_open_memory((void *)getauxval(AT_SYSINFO_EHDR),
					      2 * (size_t)sysconf(_SC_PAGESIZE), &file),
			 0);
	assert_int_equal(elf_file_section(file, ".text", &s), 0);
	elf_file_free(file);
}

/* The file gets shorter between opening and reading: an error, not a signal. */
static void test_truncated(void **state)
{
	struct elf_file *file;
	struct elf_section s;
	size_t size;
	char *data = copy_of("/bin/ls", &size), path[SCRATCH];
	int fd = temporary(path, data, size);

	(void)state;
	assert_int_equal(elf_file_open_fd(fd, &file), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_true(elf_file_section(file, ".eh_frame", &s) < 0);
	assert_true(section_at(file, 5, &s) <= 0);
	elf_file_free(file);
	close(fd);
	unlink(path);
	free(data);
}

/* Any prefix, and any byte of the headers changed: an answer, in bounds. */
static void test_hostile(void **state)
{
	unsigned int random = 1, opened = 0;
	size_t size, headers;
	char *data = copy_of("/bin/ls", &size), *copy = malloc(size);

	(void)state;
	headers = ((Elf64_Ehdr *)data)->e_shoff;
	for (int i = 0; i < 3000; i++) {
		struct elf_file *file;
		uint8_t id[BUILD_ID_MAX];
		uint64_t sum = 0;
		size_t n = i % 3 ? size : (size_t)rand_r(&random) % size;

		memcpy(copy, data, size);
		for (int j = 0; j < 4; j++) {
			size_t at = (size_t)rand_r(&random) % 1024;

			copy[j & 1 ? at : headers + at % (size - headers)] = (char)rand_r(&random);
		}
		if (elf_file_open_memory(copy, n, &file) < 0)
			continue;
		opened++;
		assert_true(elf_file_build_id(file, id) <= BUILD_ID_MAX);
		for (uint32_t k = 0; k < elf_file_section_count(file) && k < 100; k++) {
			struct elf_section s;

			if (section_at(file, k, &s) < 0)
				continue;
			for (size_t b = 0; b < s.size; b += 64)
				sum += s.data[b];
		}
		assert_true(sum < UINT64_MAX);
		elf_file_free(file);
	}
	assert_true(opened > 100);
	free(copy);
	free(data);
}

/* A gigabyte of nothing costs nothing, and a section that claims it is refused. */
static void test_sparse(void **state)
{
	struct elf_file *file;
	struct elf_section s;
	size_t size;
	char *data = copy_of("/bin/ls", &size), path[SCRATCH];
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)data;
	Elf64_Shdr *shdr = (Elf64_Shdr *)(data + ehdr->e_shoff);
	int fd;

	(void)state;
	shdr[2].sh_size = 1ull << 40;
	shdr[3].sh_size = UINT64_MAX;
	fd = temporary(path, data, size);
	if (ftruncate(fd, 1ll << 41) == 0) {
		assert_int_equal(elf_file_open_fd(fd, &file), 0);
		assert_int_equal(section_at(file, 2, &s), -E2BIG);
		assert_int_equal(section_at(file, 3, &s), -E2BIG);
		assert_int_equal(elf_file_section(file, ".eh_frame", &s), 0);
		elf_file_free(file);
	}
	close(fd);
	unlink(path);
	free(data);
}

/* A section that the file does not have is refused without counting its bytes as work. */
static void test_beyond(void **state)
{
	struct elf_file *file;
	struct elf_section s;
	size_t size;
	char *data = copy_of("/bin/ls", &size);
	Elf64_Shdr *shdr = (Elf64_Shdr *)(data + ((Elf64_Ehdr *)data)->e_shoff);

	(void)state;
	shdr[2].sh_size = 1u << 26;
	assert_int_equal(elf_file_open_memory(data, size, &file), 0);
	assert_true(section_at(file, 2, &s) < 0);
	assert_true(elf_file_work(file)->done <= size / 64);
	elf_file_free(file);
	free(data);
}

/* Of the names of sections libelf reads all at once. */
static void test_endless_names(void **state)
{
	struct elf_file *file;
	size_t size;
	char *data = copy_of("/bin/ls", &size), path[SCRATCH];
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)data;
	Elf64_Shdr *names = (Elf64_Shdr *)(data + ehdr->e_shoff) + ehdr->e_shstrndx;
	uint64_t as_it_was = names->sh_size;
	int fd;

	(void)state;
	names->sh_size = 1ull << 31;
	fd = temporary(path, data, size);
	assert_int_equal(ftruncate(fd, 1ll << 32), 0);
	assert_int_equal(elf_file_open_fd(fd, &file), -EINVAL);
	close(fd);
	unlink(path);
	names->sh_size = as_it_was;
	names->sh_flags |= SHF_COMPRESSED;
	assert_int_equal(elf_file_open_memory(data, size, &file), -EINVAL);
	free(data);
}

/* Each is small enough to be read; all of them are two gigabytes. */
static void test_endless_notes(void **state)
{
	enum { NOTES = 2000, EACH = 1 << 20 };
	Elf64_Phdr *notes = calloc(NOTES, sizeof(*notes));
	uint8_t id[BUILD_ID_MAX];
	struct mallinfo2 before, after;
	struct elf_file *file;
	size_t size;
	char *data = copy_of("/bin/ls", &size), path[SCRATCH];
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)data;
	int fd;

	(void)state;
	assert_non_null(notes);
	for (int i = 0; i < NOTES; i++)
		notes[i] = (Elf64_Phdr){.p_type = PT_NOTE,
					.p_offset = (uint64_t)(i + 1) * EACH,
					.p_filesz = EACH,
					.p_memsz = EACH};
	ehdr->e_phoff = EACH / 2;
	ehdr->e_phnum = NOTES;
	ehdr->e_shoff = ehdr->e_shnum = ehdr->e_shstrndx = 0;
	assert_true(size < EACH / 2);
	fd = temporary(path, data, size);
	assert_int_equal(pwrite(fd, notes, NOTES * sizeof(*notes), EACH / 2),
			 NOTES * sizeof(*notes));
	assert_int_equal(ftruncate(fd, (NOTES + 1ll) * EACH), 0);
	assert_int_equal(elf_file_open_fd(fd, &file), 0);
	before = mallinfo2();
	assert_int_equal(elf_file_build_id(file, id), 0);
	after = mallinfo2();
	assert_true(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + 4 * EACH);
	elf_file_free(file);
	close(fd);
	unlink(path);
	free(notes);
	free(data);
}

/* A note as the ELF specification has it, padded to multiples of align. Returns its size. */
static size_t note_put(uint8_t *to, uint32_t type, const char *name, const uint8_t *desc,
		       uint32_t size, size_t align)
{
	Elf64_Nhdr note = {(uint32_t)strlen(name) + 1, size, type};
	size_t at = sizeof(note) + note.n_namesz;

	at = (at + align - 1) / align * align;
	memcpy(to, &note, sizeof(note));
	memcpy(to + sizeof(note), name, note.n_namesz);
	memcpy(to + at, desc, size);
	return (at + size + align - 1) / align * align;
}

/* A file of segments, their bytes and nothing else. The caller frees it. */
static uint8_t *segments_file(const Elf64_Phdr *notes, size_t count, const void *bytes,
			      size_t length, size_t *size)
{
	Elf64_Ehdr ehdr = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_ehsize = sizeof(ehdr),
			   .e_phentsize = sizeof(*notes),
			   .e_phoff = sizeof(ehdr),
			   .e_phnum = (uint16_t)count};
	uint8_t *data = malloc(sizeof(ehdr) + count * sizeof(*notes) + length);

	assert_non_null(data);
	memcpy(data, &ehdr, sizeof(ehdr));
	memcpy(data + sizeof(ehdr), notes, count * sizeof(*notes));
	memcpy(data + sizeof(ehdr) + count * sizeof(*notes), bytes, length);
	*size = sizeof(ehdr) + count * sizeof(*notes) + length;
	return data;
}

/* Of `count` segments all but number `at` are notes of another kind; that one is a build-id. */
static size_t id_of_segment(size_t count, size_t at, size_t align, size_t *reads)
{
	static const uint8_t want[20] = "its null byte too..", other[5] = "else";
	Elf64_Phdr *notes = calloc(count, sizeof(*notes));
	size_t start = sizeof(Elf64_Ehdr) + count * sizeof(*notes), size, length, first, second;
	uint8_t bytes[256] = {0}, *data, id[BUILD_ID_MAX];
	char path[SCRATCH];
	struct elf_file *file;
	size_t before;
	int fd;

	assert_non_null(notes);
	first = note_put(bytes, 77, "Another", other, sizeof(other), align);
	second = note_put(bytes + first, NT_GNU_BUILD_ID, "GNU", want, sizeof(want), align);
	for (size_t i = 0; i < count; i++)
		notes[i] = (Elf64_Phdr){.p_type = PT_NOTE,
					.p_offset = start,
					.p_filesz = i == at ? first + second : first,
					.p_align = align};
	data = segments_file(notes, count, bytes, first + second, &size);
	fd = temporary(path, data, size);
	assert_int_equal(elf_file_open_fd(fd, &file), 0);
	before = reads_so_far();
	length = elf_file_build_id(file, id);
	*reads = reads_so_far() - before;
	assert_true(!length || (length == sizeof(want) && !memcmp(id, want, length)));
	elf_file_free(file);
	close(fd);
	unlink(path);
	free(data);
	free(notes);
	return length;
}

/* 16 places are looked at, by a read each, however many there are; both alignments are known. */
static void test_places_of_notes(void **state)
{
	size_t reads;

	(void)state;
	assert_int_equal(id_of_segment(1, 0, 4, &reads), 20);
	assert_int_equal(id_of_segment(1, 0, 8, &reads), 20);
	assert_int_equal(id_of_segment(16, 15, 4, &reads), 20);
	assert_int_equal(id_of_segment(40, 20, 4, &reads), 0);
	assert_int_equal(id_of_segment(4096, 0, 4, &reads), 20);
	assert_int_equal(id_of_segment(4096, 4095, 4, &reads), 0);
	if (!reads_so_far())
		skip_since("this kernel does not count reads");
	assert_in_range(reads, 1, 18);
}

/*
 * libelf looks for the end of a name from the end of all names: a table of names without a last
 * zero would be gone through for each section. The ELF specification wants that zero ("String
 * Table").
 */
static void test_unterminated_names(void **state)
{
	struct elf_file *file;
	size_t size, at;
	char *data = copy_of("/bin/ls", &size);
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)data;
	Elf64_Shdr *names = (Elf64_Shdr *)(data + ehdr->e_shoff) + ehdr->e_shstrndx;

	(void)state;
	assert_int_equal(elf_file_open_memory(data, size, &file), 0);
	elf_file_free(file);
	at = names->sh_offset + names->sh_size - 1;
	assert_int_equal(data[at], 0);
	data[at] = 'x';
	assert_int_equal(elf_file_open_memory(data, size, &file), -EINVAL);
	free(data);
}

/* Linux executes no file of more than 1,170 segments, and each is looked at for each mapping. */
static void test_many_loads(void **state)
{
	static const size_t counts[] = {1024, 1025, 65534};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		Elf64_Phdr *loads = calloc(counts[i], sizeof(*loads));
		struct elf_file *file;
		uint8_t *data;
		size_t size, count;

		assert_non_null(loads);
		for (size_t k = 0; k < counts[i]; k++)
			loads[k] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_X};
		data = segments_file(loads, counts[i], "", 0, &size);
		if (counts[i] <= 1024) {
			assert_int_equal(elf_file_open_memory(data, size, &file), 0);
			elf_file_loads(file, &count);
			assert_int_equal(count, counts[i]);
			elf_file_free(file);
		} else {
			assert_int_equal(elf_file_open_memory(data, size, &file), -EINVAL);
		}
		free(data);
		free(loads);
	}
}

/* Compressed by the assembler, read as it was; broken and boasting compression is refused. */
static void test_compressed(void **state)
{
	char path[SCRATCH], command[512];
	struct elf_file *file;
	struct elf_section s;
	char *data, *plain;
	size_t size;
	Elf64_Shdr *shdr;
	int fd = temporary(path, "", 0);

	(void)state;
	close(fd);
	snprintf(command, sizeof(command),
		 "printf '.section .debug_x\\n.rept 9999\\n.ascii \"stacktop \"\\n.endr\\n' | "
		 "as --compress-debug-sections=zlib -o '%s' -",
		 path);
	assert_int_equal(system(command), 0);
	assert_int_equal(elf_file_open(path, &file), 0);
	assert_int_equal(elf_file_type(file), ET_REL);
	assert_int_equal(elf_file_section(file, ".debug_x", &s), 0);
	assert_int_equal(s.size, 9999 * 9);
	plain = malloc(s.size);
	for (size_t i = 0; i < s.size; i += 9)
		memcpy(plain + i, "stacktop ", 9);
	assert_memory_equal(s.data, plain, s.size);
	elf_file_free(file);
	free(plain);

	data = copy_of(path, &size);
	shdr = (Elf64_Shdr *)(data + ((Elf64_Ehdr *)data)->e_shoff);
	while (!(shdr->sh_flags & SHF_COMPRESSED))
		shdr++;
	((Elf64_Chdr *)(data + shdr->sh_offset))->ch_size = 1ull << 50;
	assert_int_equal(elf_file_open_memory(data, size, &file), 0);
	assert_int_equal(elf_file_section(file, ".debug_x", &s), -EINVAL);
	elf_file_free(file);
	((Elf64_Chdr *)(data + shdr->sh_offset))->ch_size = 9999 * 9;
	memset(data + shdr->sh_offset + sizeof(Elf64_Chdr), 0xee, 20);
	assert_int_equal(elf_file_open_memory(data, size, &file), 0);
	assert_int_equal(elf_file_section(file, ".debug_x", &s), -EINVAL);
	elf_file_free(file);
	unlink(path);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loads),	      cmocka_unit_test(test_sections),
		cmocka_unit_test(test_build_id),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_memory),	      cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_hostile),	      cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_beyond),	      cmocka_unit_test(test_endless_names),
		cmocka_unit_test(test_endless_notes), cmocka_unit_test(test_places_of_notes),
		cmocka_unit_test(test_compressed),    cmocka_unit_test(test_unterminated_names),
		cmocka_unit_test(test_many_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
