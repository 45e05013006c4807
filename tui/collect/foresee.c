// SPDX-License-Identifier: GPL-2.0-or-later
/* See foresee.h. What is mapped in vain costs a table: so the cache of ld.so need not be read. */
#include "tui/collect/foresee.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf/elffile.h"

#define FILES_MAX   128u
#define SCRIPTS_MAX 4u /* as the kernel follows them */
#define LINE_MAX_   256u

struct foreseen {
	char *paths[FILES_MAX]; /* as realpath(3) has them; the first `done` are mapped */
	size_t count;
	char beside[PATH_MAX]; /* the folder of the dynamic linker; empty: not known */
};

static void folder_of(const char *path, char folder[PATH_MAX])
{
	snprintf(folder, PATH_MAX, "%.*s", (int)(strrchr(path, '/') - path), path);
}

/* False: there is no such file, or too many. */
static bool add_file(struct foreseen *f, const char *path)
{
	struct stat st;
	char *real = NULL;

	/* A FIFO would not answer. */
	if (!stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK))
		real = realpath(path, NULL);
	for (size_t i = 0; real && i < f->count; i++) {
		if (!strcmp(f->paths[i], real)) {
			free(real);
			return true;
		}
	}
	if (!real || f->count == FILES_MAX) {
		free(real);
		return false;
	}
	f->paths[f->count++] = real;
	return true;
}

/* In the folders of a list that colons separate; $ORIGIN at the beginning of one is `origin`. */
static bool add_from(struct foreseen *f, const char *list, const char *origin, const char *name)
{
	static const char *const marks[] = {"$ORIGIN", "${ORIGIN}"};
	char path[PATH_MAX];

	for (size_t n; list && *list; list += n + (list[n] == ':')) {
		const char *from = "", *folder = list;
		size_t size = n = strcspn(list, ":");

		for (size_t i = 0; origin && i < 2; i++) {
			const size_t mark = strlen(marks[i]);

			if (size < mark || strncmp(folder, marks[i], mark) != 0)
				continue;
			from = origin;
			folder += mark;
			size -= mark;
			break;
		}
		if (snprintf(path, sizeof(path), "%s%.*s/%s", from, (int)size, folder, name) <
			    (int)sizeof(path) &&
		    add_file(f, path))
			return true;
	}
	return false;
}

static void add_program(struct foreseen *f, const char *name)
{
	if (strchr(name, '/'))
		add_file(f, name);
	else
		add_from(f, getenv("PATH"), NULL, name);
}

/* The interpreter of a script; of `#!/usr/bin/env NAME` also that program. */
static bool add_script(struct foreseen *f, const char *path)
{
	char line[LINE_MAX_], *word, *rest = NULL;
	FILE *file = fopen(path, "re");
	bool script = file && fgets(line, sizeof(line), file) && !strncmp(line, "#!", 2);

	if (file)
		fclose(file);
	if (!script)
		return false;
	word = strtok_r(line + 2, " \t\n", &rest);
	if (!word)
		return true;
	add_program(f, word);
	if (strlen(word) >= 4 && !strcmp(word + strlen(word) - 4, "/env")) {
		word = strtok_r(NULL, " \t\n", &rest);
		if (word)
			add_program(f, word);
	}
	return true;
}

static void map_code(const struct elf_file *file)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t count;
	const struct elf_load *loads = elf_file_loads(file, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t before = loads[i].offset % page;

		/* A mapping that fails is one of which nothing is known. */
		if (loads[i].exec && loads[i].filesz)
			(void)mmap(NULL, loads[i].filesz + before, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE, elf_file_fd(file),
				   (off_t)(loads[i].offset - before));
	}
}

/* The string at an offset; NULL: none ends there. */
static const char *string_at(const struct elf_section *strings, uint64_t at)
{
	return at < strings->size && memchr(strings->data + at, 0, strings->size - at)
		       ? (const char *)strings->data + at
		       : NULL;
}

static void add_needed(struct foreseen *f, const struct elf_file *file, const char *path)
{
	struct elf_section dynamic, strings;
	const char *run_path = NULL, *name;
	char origin[PATH_MAX];
	Elf64_Dyn entry;

	if (elf_file_section(file, ".dynamic", &dynamic) ||
	    elf_file_section(file, ".dynstr", &strings))
		return;
	folder_of(path, origin);
	for (size_t at = 0; dynamic.size - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, dynamic.data + at, sizeof(entry));
		if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
			run_path = string_at(&strings, entry.d_un.d_val);
	}
	for (size_t at = 0; dynamic.size - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, dynamic.data + at, sizeof(entry));
		name = entry.d_tag == DT_NEEDED ? string_at(&strings, entry.d_un.d_val) : NULL;
		if (!name)
			continue;
		if (strchr(name, '/'))
			add_file(f, name);
		else if (!add_from(f, getenv("LD_LIBRARY_PATH"), origin, name) &&
			 !add_from(f, run_path, origin, name))
			add_from(f, f->beside, NULL, name);
	}
}

/* As PT_INTERP names it. */
static void add_linker(struct foreseen *f, const struct elf_file *file)
{
	struct elf_section s;
	const char *name;
	const size_t before = f->count;

	if (f->beside[0] || elf_file_section(file, ".interp", &s))
		return;
	name = string_at(&s, 0);
	if (!name || !add_file(f, name) || f->count == before)
		return;
	folder_of(f->paths[before], f->beside);
}

/* `java` loads its machine by dlopen(3), which takes longer to build than most programs run. */
static void add_machine(struct foreseen *f, const char *path)
{
	char origin[PATH_MAX];

	folder_of(path, origin);
	add_from(f, "$ORIGIN/../lib/server:$ORIGIN/../lib/amd64/server", origin, "libjvm.so");
}

void foresee(const char *program)
{
	struct foreseen f = {0};
	struct elf_file *file;
	unsigned int scripts = 0;

	add_program(&f, program);
	for (size_t i = 0; i < f.count; i++) {
		if (elf_file_open(f.paths[i], &file)) {
			if (scripts++ < SCRIPTS_MAX)
				add_script(&f, f.paths[i]);
			continue;
		}
		map_code(file);
		if (!i)
			add_machine(&f, f.paths[i]);
		add_linker(&f, file);
		add_needed(&f, file, f.paths[i]);
		elf_file_free(file);
	}
	for (size_t i = 0; i < f.count; i++)
		free(f.paths[i]);
}
