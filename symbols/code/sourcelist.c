// SPDX-License-Identifier: GPL-2.0-or-later
/* See sourcelist.h. */
#include "symbols/code/sourcelist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "symbols/code/listing.h"
#include "symbols/files/sourcefile.h"

#define STRINGS_MAX (64u << 20)

struct sourcelist_maker {
	struct listing *l;
	uint32_t lines_room, strings_room;
};

static int add_line(struct sourcelist_maker *m, uint32_t number, const char *text, size_t length)
{
	struct listing *l = m->l;

	if (GROW_TO(l->strings, l->nstrings + length + 1, m->strings_room, STRINGS_MAX) ||
	    GROW(l->insns, l->ninsns, m->lines_room, SOURCELIST_LINES))
		return -ENOMEM;
	l->insns[l->ninsns++] = (struct listing_insn){.addr = number,
						      .size = 1,
						      .text = l->nstrings,
						      .att = LISTING_NONE,
						      .name = LISTING_NONE,
						      .to = LISTING_NONE,
						      .line = LISTING_NONE};
	/* A byte that is no text becomes one character, so it does not grow. */
	text_clean(l->strings + l->nstrings, length + 1, text, length);
	l->nstrings += (uint32_t)length + 1;
	return 0;
}

static int start(struct sourcelist_maker *m)
{
	*m = (struct sourcelist_maker){.l = calloc(1, sizeof(*m->l))};
	if (!m->l)
		return -ENOMEM;
	m->l->refs = 1;
	m->l->source = true;
	return 0;
}

static int finish(struct sourcelist_maker *m, int err, struct listing **out)
{
	struct listing *l = m->l;

	if (!err && !l->ninsns)
		err = -ENODATA;
	if (err) {
		listing_put(l);
		return err;
	}
	l->start = l->insns[0].addr;
	l->end = l->insns[l->ninsns - 1].addr + 1;
	*out = l;
	return 0;
}

static int read_lines(struct sourcelist_maker *m, const struct sourcelist_request *request,
		      struct sourcefile *file)
{
	const uint32_t half = SOURCELIST_LINES / 2;
	uint32_t number = request->around > half ? request->around - half : 1;
	const char *text;
	size_t length;
	int err = 0;

	m->l->cut = number > 1;
	for (; !err && (text = sourcefile_line(file, number, &length)); number++) {
		if (m->l->ninsns == SOURCELIST_LINES) {
			m->l->cut = true;
			break;
		}
		err = request->cancel && atomic_load(request->cancel)
			      ? -ECANCELED
			      : add_line(m, number, text, length);
	}
	return err;
}

int sourcelist_read(const struct sourcelist_request *request, struct listing **out)
{
	struct sourcelist_maker m;
	struct sourcefile *file;
	int err;

	*out = NULL;
	err = sourcefile_read(request->root, request->path, &file);
	if (err)
		return err;
	err = start(&m);
	if (!err) {
		m.l->newer = request->since && sourcefile_written(file) > request->since;
		err = finish(&m, read_lines(&m, request, file), out);
	}
	sourcefile_free(file);
	return err;
}

int sourcelist_bare(const uint32_t *numbers, uint32_t n, const char *why, struct listing **out)
{
	struct sourcelist_maker m;
	int err = start(&m);

	*out = NULL;
	if (err)
		return err;
	m.l->lines_missing = why;
	for (uint32_t i = 0; i < n && i < SOURCELIST_LINES && !err; i++)
		err = add_line(&m, numbers[i], "", 0);
	return finish(&m, err, out);
}
