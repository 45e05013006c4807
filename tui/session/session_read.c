// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening reads the file once, from the front, and keeps all definitions and the offsets of the
 * slices. The first thing that makes no sense ends the session there: behind it ids could mean
 * anything.
 */
#include "tui/session/session_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/session/session_chunks.h"

struct session_place { /* of a slice */
	uint64_t offset;
	uint64_t time;
	uint32_t packed, size;
	/* Names behind the last slice's belong to a slice that was cut. */
	uint32_t first, end; /* changes */
	uint32_t lines_end;
};

struct session {
	struct session_chunks *chunks;
	struct session_names *names;
	struct session_info info;
	const char *flaw;
	struct session_place *slices;
	uint32_t nslices, slices_room;
	struct session_cells cells;
};

static void take_text(struct cursor *c, char *to, size_t size)
{
	size_t length;
	const char *text = cursor_text(c, &length);

	text_clean(to, size, text, length);
}

static int take_start(struct session *s, struct cursor *c)
{
	char release[64], machine[32];

	s->info.clock = cursor_number(c);
	take_text(c, s->info.host, sizeof(s->info.host));
	take_text(c, release, sizeof(release));
	take_text(c, machine, sizeof(machine));
	if (c->bad)
		return -EBADMSG;
	snprintf(s->info.system, sizeof(s->info.system), "%s %s", release, machine);
	return 0;
}

static int take_place(struct session *s, const struct session_chunk *head, uint64_t offset,
		      uint32_t first)
{
	if (head->time > INT64_MAX || (s->nslices && head->time < s->slices[s->nslices - 1].time))
		return -EBADMSG;
	if (GROW(s->slices, s->nslices, s->slices_room, SESSION_SLICES_MAX))
		return -ENOMEM;
	s->slices[s->nslices++] =
		(struct session_place){.offset = offset,
				       .time = head->time,
				       .packed = head->packed,
				       .size = head->size,
				       .first = first,
				       .end = session_names_counts(s->names).changes,
				       .lines_end = session_names_counts(s->names).lines};
	return 0;
}

static int take_chunk(struct session *s, const struct session_chunk *head)
{
	struct cursor c;
	int err;

	if (head->type != SESSION_START && head->type != SESSION_DEFINITIONS)
		return 0;
	err = session_chunks_unpack(s->chunks, head, &c);
	if (err)
		return err;
	return head->type == SESSION_START ? take_start(s, &c)
					   : session_names_take(s->names, &c, s->nslices);
}

/* What a half-read chunk added stays among the names, but no slice refers to it. */
static int scan(struct session *s)
{
	uint64_t offset = SESSION_MAGIC_SIZE;
	struct session_chunk head;
	uint32_t first = 0; /* change of the next slice */
	bool started = false;
	int err;

	for (;; offset += sizeof(head) + head.packed) {
		err = session_chunks_read(s->chunks, offset, &head);
		if (err || head.type == SESSION_END)
			return err;
		if (!started && head.type != SESSION_START)
			return -EBADMSG;
		err = take_chunk(s, &head);
		if (!err && head.type == SESSION_SLICE) {
			err = take_place(s, &head, offset, first);
			first = session_names_counts(s->names).changes;
		}
		if (err)
			return err;
		started = true;
	}
}

static const char *why(int err)
{
	return err == -EINVAL		 ? "is not a stacktop session"
	       : err == -EPROTONOSUPPORT ? "is a session of another stacktop version"
	       : err == -ESPIPE		 ? "is not a regular file"
	       : err == -ENODATA	 ? "has no complete slice"
	       : err == -EBADMSG	 ? "is damaged before its first slice"
					 : strerror(-err);
}

static const char *flaw_of(int err)
{
	return !err		 ? NULL
	       : err == -ENODATA ? "was cut off"
	       : err == -EBADMSG ? "is damaged"
	       : err == -ENOMEM	 ? "does not fit in memory"
				 : strerror(-err);
}

int session_open(const char *path, struct session **out, char *error, size_t size)
{
	struct session *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	*out = NULL;
	if (s)
		s->names = session_names_new();
	if (s && s->names)
		err = session_chunks_open(path, &s->chunks);
	if (!err) {
		err = scan(s);
		s->flaw = flaw_of(err);
		err = s->nslices ? 0 : err ? err : -ENODATA;
	}
	if (err) {
		snprintf(error, size, "%s: %s", path, why(err));
		session_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	session_chunks_free(s->chunks);
	session_names_free(s->names);
	free(s->slices);
	free(s->cells.at);
	free(s);
}

int session_read(struct session *s, uint32_t n, struct session_slice *out)
{
	const struct session_place *place = &s->slices[n];
	struct session_chunk head;
	struct cursor c;
	int err = session_chunks_read(s->chunks, place->offset, &head);

	*out = (struct session_slice){0};
	if (err)
		return err;
	/* The file may have changed. */
	if (head.type != SESSION_SLICE || head.size != place->size || head.packed != place->packed)
		return -EBADMSG;
	err = session_chunks_unpack(s->chunks, &head, &c);
	if (!err)
		err = session_slice_take(s->names, &c, n, &s->cells, out);
	out->health.time = place->time;
	return err;
}

const struct session_info *session_info(const struct session *s)
{
	return &s->info;
}

const char *session_flaw(const struct session *s)
{
	return s->flaw;
}

uint32_t session_slices(const struct session *s)
{
	return s->nslices;
}

uint64_t session_time(const struct session *s, uint32_t n)
{
	return s->slices[n].time;
}

struct session_names *session_all_names(struct session *s)
{
	return s->names;
}

void session_changes(const struct session *s, uint32_t n, uint32_t *first, uint32_t *end)
{
	*first = s->slices[n].first;
	*end = s->slices[n].end;
}

void session_lines(const struct session *s, uint32_t n, uint32_t *first, uint32_t *end)
{
	*first = n ? s->slices[n - 1].lines_end : 0;
	*end = s->slices[n].lines_end;
}
