// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line table lists its files before its rows, and only a few of the names are needed: texts stay
 * where they are, and linefiles_path makes a path on demand. libdw makes the paths of all files, so
 * a table of 2,000 files with one name of 1 MiB takes 4 GB of memory there.
 */
#include "symbols/dwarf/linefiles.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "symbols/base/leb128.h"

#define FILES_MAX   (1u << 20)
#define FORMATS_MAX 16u

struct linefiles_file {
	const char *name;
	char *path; /* NULL: not asked for yet */
	uint64_t dir;
};

struct linefiles_reader {
	const struct linefiles_source *source;
	const uint8_t *at, *end;
};

static int dir_add(struct linefiles *t, const char *name)
{
	if (GROW(t->dirs, t->ndirs, t->dirs_room, FILES_MAX))
		return -ENOMEM;
	t->dirs[t->ndirs++] = name;
	return 0;
}

static int file_add(struct linefiles *t, const char *name, uint64_t dir)
{
	if (GROW(t->files, t->nfiles, t->files_room, FILES_MAX))
		return -ENOMEM;
	t->files[t->nfiles++] = (struct linefiles_file){name, NULL, dir};
	return 0;
}

/* Directory, time and length. */
static int read_file_old(struct linefiles *t, const char *name, const uint8_t **at,
			 const uint8_t *end)
{
	uint64_t dir, other;

	if (!leb128_read(at, end, &dir) || !leb128_read(at, end, &other) ||
	    !leb128_read(at, end, &other))
		return -EINVAL;
	return file_add(t, name, dir);
}

/* The next string of a list that ends with an empty one: 1, or 0 at the end. */
static int entry_read(struct linefiles_reader *r, const char **name)
{
	*name = string_read(&r->at, r->end);
	return *name ? **name != '\0' : -EINVAL;
}

/* Before DWARF 5: two lists, counted from 1 on. */
static int read_lists_old(struct linefiles_reader *r, struct linefiles *t)
{
	const char *name;
	int err = dir_add(t, r->source->dir);

	while (!err && (err = entry_read(r, &name)) > 0)
		err = dir_add(t, name);
	if (!err)
		err = file_add(t, NULL, 0);
	while (!err && (err = entry_read(r, &name)) > 0)
		err = read_file_old(t, name, &r->at, r->end);
	return err;
}

/* NULL also for a text too long to be a path: many may lead to one string of any length. */
static const char *string_at(const struct elf_section *section, uint64_t offset)
{
	const uint8_t *at;

	if (offset >= section->size)
		return NULL;
	at = section->data + offset;
	return string_read(
		&at, at + (section->size - offset < PATH_MAX ? section->size - offset : PATH_MAX));
}

/* *text, *value: the value of the form. */
static int read_form(struct linefiles_reader *r, uint64_t form, const char **text, uint64_t *value)
{
	uint64_t size = 0;
	bool ok;

	switch (form) {
	case DW_FORM_string:
		*text = string_read(&r->at, r->end);
		ok = *text != NULL;
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		ok = fixed_read(&r->at, r->end, r->source->offset_size, value);
		*text = string_at(form == DW_FORM_strp ? &r->source->str : &r->source->line_str,
				  *value);
		break;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		ok = fixed_read(&r->at, r->end,
				form == DW_FORM_data1	? 1
				: form == DW_FORM_data2 ? 2
				: form == DW_FORM_data4 ? 4
							: 8,
				value);
		break;
	case DW_FORM_udata:
		ok = leb128_read(&r->at, r->end, value);
		break;
	case DW_FORM_data16:
		ok = bytes_skip(&r->at, r->end, 16);
		break;
	case DW_FORM_block:
		ok = leb128_read(&r->at, r->end, &size) && bytes_skip(&r->at, r->end, size);
		break;
	default:
		ok = false;
	}
	return ok ? 0 : -EINVAL;
}

/* DWARF 5: a description of the entries comes first. */
static int read_list(struct linefiles_reader *r, struct linefiles *t, bool files)
{
	uint64_t formats[FORMATS_MAX][2], count, value;
	uint8_t nformats;
	int err = 0;

	if (r->at == r->end)
		return -EINVAL;
	nformats = *r->at++;
	if (nformats > FORMATS_MAX)
		return -EINVAL;
	for (uint8_t i = 0; i < nformats; i++)
		if (!leb128_read(&r->at, r->end, &formats[i][0]) ||
		    !leb128_read(&r->at, r->end, &formats[i][1]))
			return -EINVAL;
	if (!leb128_read(&r->at, r->end, &count) || count > (uint64_t)(r->end - r->at) ||
	    (!nformats && count))
		return -EINVAL;
	while (count-- && !err) {
		const char *name = NULL, *text = NULL;
		uint64_t dir = 0;

		for (uint8_t i = 0; i < nformats && !err; i++) {
			value = 0;
			err = read_form(r, formats[i][1], &text, &value);
			if (formats[i][0] == DW_LNCT_path)
				name = text;
			else if (formats[i][0] == DW_LNCT_directory_index)
				dir = value;
		}
		if (!err)
			err = files ? file_add(t, name, dir) : dir_add(t, name);
	}
	return err;
}

int linefiles_read(struct linefiles *lists, const struct linefiles_source *source,
		   const uint8_t **at, const uint8_t *end)
{
	struct linefiles_reader r = {source, *at, end};
	int err;

	if (source->version < 5) {
		err = read_lists_old(&r, lists);
	} else {
		err = read_list(&r, lists, false);
		if (!err)
			err = read_list(&r, lists, true);
	}
	*at = r.at;
	return err;
}

int linefiles_define(struct linefiles *lists, const uint8_t **at, const uint8_t *end)
{
	const char *name = string_read(at, end);

	return name ? read_file_old(lists, name, at, end) : -EINVAL;
}

void linefiles_free(struct linefiles *lists)
{
	for (size_t i = 0; i < lists->nfiles; i++)
		free(lists->files[i].path);
	free(lists->files);
	free(lists->dirs);
	*lists = (struct linefiles){0};
}

size_t linefiles_bytes(const struct linefiles *lists)
{
	return lists->files_room * sizeof(*lists->files) + lists->dirs_room * sizeof(*lists->dirs);
}

const char *linefiles_path(struct linefiles *lists, uint64_t file)
{
	struct linefiles_file *f = file < lists->nfiles ? &lists->files[file] : NULL;
	const char *dir, *top;

	if (!f || !f->name || f->name[0] == '/' || f->path)
		return f && f->path ? f->path : f ? f->name : NULL;
	dir = f->dir < lists->ndirs ? lists->dirs[f->dir] : NULL;
	if (!dir)
		return f->name;
	/*
	 * As in all other tools: a relative one is relative to the first, which may be relative
	 * itself.
	 */
	top = *dir != '/' ? lists->dirs[0] : NULL;
	if (asprintf(&f->path, "%s%s%s/%s", top ? top : "", top ? "/" : "", dir, f->name) < 0)
		f->path = NULL;
	return f->path;
}
