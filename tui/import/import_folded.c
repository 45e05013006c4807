// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks (github.com/brendangregg/FlameGraph): "frame;frame;frame COUNT", outermost first.
 * Tools that know processes put them in front, others do not, and no line says which: the first
 * frames are processes unless one of the file is longer than the name of a process can be.
 */
#include <errno.h>
#include <string.h>

#include "tui/import/import_build.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define COUNT_LIMIT    ((uint64_t)1 << 48)
#define COMM_MAX       15u
#define NS_PER_SEC     1000000000ull

struct folded_input {
	struct import_to *to;
	struct import_builder *b;
	bool lines; /* some are folded stacks */
	bool procs; /* the first frames are processes */
	uint64_t sum;
};

/* Splits a line into frames and a count. */
static bool take_count(struct import_text line, struct import_text *frames, uint64_t *count)
{
	const char *blank = line.length ? memrchr(line.at, ' ', line.length) : NULL;
	struct import_text number;

	if (!blank || blank == line.at || memchr(line.at, 0, line.length) ||
	    line.length >= LINE_MAX_BYTES)
		return false;
	number.at = blank + 1;
	number.length = line.length - (size_t)(blank + 1 - line.at);
	*frames = (struct import_text){line.at, (size_t)(blank - line.at)};
	return import_number(number, COUNT_LIMIT, count);
}

/* Cuts off the first frame that is not empty; false: there is none. */
static bool take_frame(struct import_text *frames, struct import_text *frame)
{
	do {
		const char *end = frames->length ? memchr(frames->at, ';', frames->length) : NULL;
		size_t n = end ? (size_t)(end - frames->at) : frames->length;

		*frame = (struct import_text){frames->at, n};
		n += end != NULL;
		frames->at += n;
		frames->length -= n;
	} while (!frame->length && frames->length);
	return frame->length > 0;
}

/* Whether all lines are stacks, and what is in front of them. */
static int survey(struct folded_input *in, struct import_text text)
{
	struct import_lines lines = {.at = text.at, .end = text.at + text.length};
	struct import_text line, frames, frame;
	uint64_t count;

	in->procs = true;
	while (import_line(&lines, &line)) {
		if (!line.length)
			continue;
		if (!take_count(line, &frames, &count))
			return import_fail(in->to, -EINVAL,
					   "%sline %zu is not a folded stack: frames and a count",
					   in->lines ? ""
						     : "is not a stacktop session, nor a profile "
						       "of a known format: ",
					   lines.number);
		in->lines = true;
		if (take_frame(&frames, &frame) && frame.length > COMM_MAX)
			in->procs = false;
		if (count > UINT64_MAX / 2 - in->sum)
			return -EFBIG;
		in->sum += count;
	}
	return 0;
}

static int feed_line(struct folded_input *in, struct import_text frames, uint64_t count)
{
	struct import_proc proc = {.pid = -1, .comm = {"[folded]", strlen("[folded]")}};
	struct import_frame frame = {.marked = true};
	int64_t id;
	int err = 0;

	if (in->procs && take_frame(&frames, &frame.name))
		proc.comm = frame.name;
	id = import_proc(in->b, &proc);
	if (id < 0)
		return (int)id;
	while (!err && take_frame(&frames, &frame.name))
		err = import_frame(in->b, &frame, NULL, NULL);
	if (err)
		return err;
	return import_sample(in->b, &(struct import_sample){.proc = (uint32_t)id, .count = count});
}

static int feed_lines(struct folded_input *in, struct import_text text)
{
	struct import_lines lines = {.at = text.at, .end = text.at + text.length};
	struct import_text line, frames;
	uint64_t count;
	int err = 0;

	/* How long it took is not known; a second is as good as any. */
	import_pace(in->b, NS_PER_SEC, in->sum);
	import_clock(in->b, in->to->clock > NS_PER_SEC ? in->to->clock - NS_PER_SEC : 0);
	while (!err && import_line(&lines, &line))
		if (line.length && take_count(line, &frames, &count) && count)
			err = feed_line(in, frames, count);
	return err ? err : import_end(in->b, 0);
}

int import_folded(struct import_text text, struct import_to *to)
{
	static const struct import_event event = {.name = IMPORT_SAMPLES};
	struct folded_input in = {.to = to};
	int err = survey(&in, text);

	if (!err)
		err = import_builder_new(to, &event, &in.b);
	if (!err)
		err = feed_lines(&in, text);
	import_builder_free(in.b);
	return err;
}
