// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of `perf script` in two passes. The first one finds out of which events there are
 * records, since counts of two events have no sum, and how processes are called, since records have
 * the names of threads. The second one makes a slice of each second.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/keyhash.h"
#include "symbols/base/text.h"
#include "tui/import/script_line.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/util/idtable.h"

#define NS_PER_SEC  ((uint64_t)1000000000)
#define EVENTS_MAX  256u
#define PROCS_MAX   1000000u
#define GAP_MAX	    2	   /* s without samples that become empty slices */
#define SLICES_MAX  100000 /* then the last one has the rest */
#define CLOCK_LEAST 1000   /* ns: shorter periods are no time */

struct script_event {
	struct import_text name;
	uint64_t records, periods; /* and their sum */
};

struct script_proc {
	int64_t pid;
	struct import_text comm;
	bool main; /* it is that of the main thread */
};

struct script_kept {
	struct import_frame frame;
	struct import_slot slot;
};

/*
 * Records that follow each other often have the same stack, of which exporters write the same
 * lines. These are compared, and not read again.
 */
struct script_repeat {
	const char *from;	  /* the lines since the head; NULL: not frames alone */
	size_t before;		  /* lines before these */
	struct import_text known; /* frames, and the empty line behind them; without length: none */
	size_t lines;		  /* that these are */
};

struct script_input {
	size_t wrong; /* lines that make no sense */
	struct import_to *to;
	struct import_builder *b;
	struct import_text text;
	struct script_event events[EVENTS_MAX];
	size_t nevents, event;
	uint64_t records, beyond; /* of all events, and of those that had no room */
	struct script_proc *procs;
	size_t nprocs, procs_room;
	struct idtable index;
	bool timed;
	uint64_t first, last; /* ns */
	/* the sample */
	struct script_kept *frames; /* innermost first */
	size_t nframes, frames_room;
	struct script_repeat repeat;
	/* the slice */
	uint64_t begin;
	uint64_t cut; /* ns */
	uint64_t slices;
	bool waits, clock, weighed;
};

/* What a line is. */
enum script_kind { SCRIPT_NOTHING, SCRIPT_HEAD, SCRIPT_FRAME, SCRIPT_SOURCE, SCRIPT_WRONG };

/* "  parse.c:42", the line of the frame before (-F +srcline). */
static bool is_source(struct import_text line)
{
	size_t n = line.length;

	while (n && line.at[n - 1] >= '0' && line.at[n - 1] <= '9')
		n--;
	return n < line.length && n > 3 && line.at[n - 1] == ':' && !memcmp(line.at, "  ", 2) &&
	       line.at[2] != ' ' && !memchr(line.at + 2, ' ', n - 2);
}

/*
 * within: a head and frames come before. A frame begins with a blank; so does a head of an older
 * perf, which aligns names, but not with a tabulator.
 */
static enum script_kind kind_of(struct import_text line, bool within, struct script_head *head,
				struct import_frame *frame)
{
	if (!import_trim(line).length)
		return SCRIPT_NOTHING;
	if (within && *line.at == '\t' && script_frame(line, frame))
		return SCRIPT_FRAME;
	if (script_head(line, head))
		return SCRIPT_HEAD;
	if (within && is_source(line))
		return SCRIPT_SOURCE;
	/* Comments stand before the first sample; later it is a part of a name. */
	if (*line.at == '#' && !within)
		return SCRIPT_NOTHING;
	return within && script_frame(line, frame) ? SCRIPT_FRAME : SCRIPT_WRONG;
}

bool import_is_script(struct import_text text)
{
	struct import_lines lines = {.at = text.at, .end = text.at + text.length};
	struct import_text line;
	struct script_head head;
	struct import_frame frame;

	while (import_line(&lines, &line)) {
		enum script_kind kind = kind_of(line, false, &head, &frame);

		if (kind == SCRIPT_NOTHING)
			continue;
		return kind == SCRIPT_HEAD;
	}
	return false;
}

/* What the line was that has just been taken. */
static void repeat_note(struct script_repeat *r, enum script_kind kind,
			const struct import_lines *lines)
{
	if (kind == SCRIPT_FRAME)
		return;
	if (kind == SCRIPT_NOTHING && r->from) {
		r->known = (struct import_text){r->from, (size_t)(lines->at - r->from)};
		r->lines = lines->number - r->before;
	}
	r->from = kind == SCRIPT_HEAD ? lines->at : NULL;
	r->before = lines->number;
}

/* Behind a head: passes over the stack that is known; false: another one follows. */
static bool repeat_pass(struct script_repeat *r, struct import_lines *lines)
{
	if (!r->known.length || r->known.length > (size_t)(lines->end - lines->at) ||
	    memcmp(lines->at, r->known.at, r->known.length) != 0)
		return false;
	lines->at += r->known.length;
	lines->number += r->lines;
	r->from = NULL;
	return true;
}

/* --- the first pass -------------------------------------------------------------------------- */

static bool same(struct import_text a, struct import_text b)
{
	return a.length == b.length && (!a.length || !memcmp(a.at, b.at, a.length));
}

static void count_event(struct script_input *in, const struct script_head *head)
{
	size_t i = 0;

	in->records++;
	while (i < in->nevents && !same(in->events[i].name, head->event))
		i++;
	if (i == EVENTS_MAX) {
		in->beyond++;
		return;
	}
	if (i == in->nevents)
		in->events[in->nevents++].name = head->event;
	in->events[i].records++;
	in->events[i].periods += head->period;
	if (in->events[i].records > in->events[in->event].records)
		in->event = i;
}

static struct script_proc *find_proc(struct script_input *in, int64_t pid, uint32_t hash)
{
	uint32_t at = hash, id;

	while ((id = idtable_next(&in->index, hash, &at)) != IDTABLE_NONE)
		if (in->procs[id].pid == pid)
			return &in->procs[id];
	return NULL;
}

/* The first name of its main thread, or else that of any thread. */
static int note_proc(struct script_input *in, const struct script_head *head)
{
	uint32_t hash = keyhash(&head->pid, sizeof(head->pid));
	struct script_proc *proc = find_proc(in, head->pid, hash);
	bool main = head->pid == head->tid;

	if (proc && main && !proc->main) {
		proc->main = true;
		proc->comm = head->comm;
	}
	if (proc)
		return 0;
	if (in->nprocs == PROCS_MAX)
		return import_fail(in->to, -EFBIG, "has more than %u processes", PROCS_MAX);
	if (GROW(in->procs, in->nprocs, in->procs_room, PROCS_MAX) ||
	    idtable_reserve(&in->index, in->nprocs + 1))
		return -ENOMEM;
	idtable_add(&in->index, hash, (uint32_t)in->nprocs);
	in->procs[in->nprocs++] = (struct script_proc){head->pid, head->comm, main};
	return 0;
}

static int survey(struct script_input *in)
{
	struct import_lines lines = {.at = in->text.at, .end = in->text.at + in->text.length};
	struct import_text line;
	struct script_head head;
	struct import_frame frame;
	bool within = false;
	int err = 0;

	in->timed = true;
	while (!err && import_line(&lines, &line)) {
		enum script_kind kind = kind_of(line, within, &head, &frame);

		/* A process may have any name, with a newline as well: it hides its own samples
		 * only. */
		if (kind == SCRIPT_WRONG && !in->records)
			return import_fail(in->to, -EINVAL,
					   "line %zu is not one of perf script: a sample expected",
					   lines.number);
		in->wrong += kind == SCRIPT_WRONG;
		repeat_note(&in->repeat, kind, &lines);
		within = kind != SCRIPT_NOTHING && kind != SCRIPT_WRONG;
		if (kind != SCRIPT_HEAD)
			continue;
		count_event(in, &head);
		err = note_proc(in, &head);
		in->timed &= head.timed;
		if (in->records == 1)
			in->first = head.time;
		if (head.time > in->last)
			in->last = head.time;
		within = !repeat_pass(&in->repeat, &lines);
	}
	in->repeat = (struct script_repeat){0};
	return err;
}

/* --- what is counted ------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names))
		names++;
	return *names != NULL;
}

/*
 * The periods of a clock are ns. Those of cycles vary, and stand for more than the samples do; such
 * a count has a name of its own, since that of the live view counts samples of a fixed frequency.
 */
static void choose_event(struct script_input *in, struct import_event *out)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock", NULL};
	static const char *const waits[] = {"off-cpu", "wall", NULL};
	static const char *const cycles[] = {"cycles", "cpu-cycles", "ref-cycles", NULL};
	const struct script_event *event = &in->events[in->event];
	bool timely = event->periods / CLOCK_LEAST >= event->records;

	*out = (struct import_event){0};
	text_clean(out->name, sizeof(out->name), event->name.at, event->name.length);
	in->waits = out->waits = is_one_of(out->name, waits) && event->periods;
	in->clock = out->time = is_one_of(out->name, clocks) && timely;
	in->weighed = out->counted = !out->waits && !out->time && event->periods > 0;
	if (out->time) {
		out->frequency =
			(unsigned int)((double)event->records * 1e9 / (double)event->periods + 0.5);
	} else if (!*out->name || !event->periods || is_one_of(out->name, clocks) ||
		   (is_one_of(out->name, cycles) && event->periods == event->records)) {
		snprintf(out->name, sizeof(out->name), "%s", IMPORT_SAMPLES);
		in->weighed = out->counted = false;
	} else if (is_one_of(out->name, cycles)) {
		snprintf(out->name, sizeof(out->name), "core-cycles");
	}
	if (out->frequency == 0 && out->time)
		out->frequency = 1;
}

static void tell_others(const struct script_input *in, const struct import_event *event)
{
	uint64_t others = in->records - in->events[in->event].records;

	if (in->wrong)
		board_message(profile_board(in->to->profile), MESSAGE_WARNING,
			      "%zu lines of the file make no sense, and are left out", in->wrong);
	if (others)
		board_message(profile_board(in->to->profile), MESSAGE_WARNING,
			      "the file has several events: %" PRIu64 " records of others than %s "
			      "are left out",
			      others, event->name);
}

/* --- the second pass ------------------------------------------------------------------------- */

/* Slices end at whole seconds after the first record. */
static int reach(struct script_input *in, uint64_t time)
{
	int err = 0;

	while (!err && time >= in->begin + NS_PER_SEC && in->slices < SLICES_MAX) {
		uint64_t gap = (time - in->begin) / NS_PER_SEC;

		if (gap > GAP_MAX && !import_begun(in->b)) {
			import_skip(in->b, gap * NS_PER_SEC);
			in->begin += gap * NS_PER_SEC;
		} else {
			err = import_slice(in->b, NS_PER_SEC);
			in->begin += NS_PER_SEC;
			in->slices++;
		}
	}
	return err;
}

/* Another name of the main thread is that of another program: it is changed by exec. */
static int64_t feed_proc(struct script_input *in, const struct script_head *head)
{
	struct script_proc *found =
		find_proc(in, head->pid, keyhash(&head->pid, sizeof(head->pid)));
	struct import_proc proc = {.pid = head->pid, .comm = head->comm};
	int64_t id;
	int err;

	if (found && head->pid == head->tid)
		found->comm = head->comm;
	else if (found)
		proc.comm = found->comm;
	id = import_proc(in->b, &proc);
	err = id < 0 ? 0 : import_thread(in->b, (uint32_t)id, head->tid, head->comm);
	return err ? err : id;
}

/* What is cut off is added to the next one, so that the sum stays right. */
static uint64_t take_us(struct script_input *in, uint64_t ns)
{
	ns += in->cut;
	in->cut = ns % 1000;
	return ns / 1000;
}

static int feed_record(struct script_input *in, const struct script_head *head)
{
	struct import_sample sample = {.tid = head->tid, .cpu = head->cpu, .count = 1};
	int64_t proc;
	int err = in->timed ? reach(in, head->time) : 0;

	if (err)
		return err;
	proc = feed_proc(in, head);
	if (proc < 0)
		return (int)proc;
	sample.proc = (uint32_t)proc;
	if (in->weighed)
		sample.weight = head->period;
	else if (in->waits || in->clock)
		sample.weight = take_us(in, head->period);
	for (size_t i = in->nframes; i-- > 0 && !err;)
		err = import_frame(in->b, &in->frames[i].frame, &in->frames[i].slot, NULL);
	return err ? err : import_sample(in->b, &sample);
}

static int keep_frame(struct script_input *in, const struct import_frame *frame)
{
	if (in->nframes >= IMPORT_DEPTH_MAX)
		return import_fail(in->to, -EFBIG, "has a stack of more than %u frames",
				   IMPORT_DEPTH_MAX);
	if (GROW(in->frames, in->nframes, in->frames_room, IMPORT_DEPTH_MAX))
		return -ENOMEM;
	in->frames[in->nframes++] = (struct script_kept){.frame = *frame};
	return 0;
}

/* The stack of a record of the event, or of another one, of which no frame is kept. */
static int begin_stack(struct script_input *in, struct import_lines *lines, bool chosen,
		       struct import_text rest, bool *within)
{
	struct import_frame frame;
	bool one = chosen && script_frame_only(rest, &frame);

	if (!one && repeat_pass(&in->repeat, lines)) {
		*within = false;
		return 0;
	}
	if (!chosen || one)
		in->repeat.from = NULL;
	in->nframes = 0;
	in->repeat.known.length = 0;
	return one ? keep_frame(in, &frame) : 0;
}

/* Records that follow each other without an empty line have one frame each, behind their head. */
static int feed_records(struct script_input *in)
{
	struct import_lines lines = {.at = in->text.at, .end = in->text.at + in->text.length};
	struct import_text line;
	struct script_head head = {0}, next;
	struct import_frame frame;
	bool within = false, chosen = false;
	int err = 0;

	in->begin = in->first;
	while (!err && import_line(&lines, &line)) {
		enum script_kind kind = kind_of(line, within, &next, &frame);

		repeat_note(&in->repeat, kind, &lines);
		if (kind == SCRIPT_SOURCE)
			continue;
		if (kind != SCRIPT_FRAME && chosen)
			err = feed_record(in, &head);
		if (kind != SCRIPT_FRAME)
			chosen = false;
		within = kind != SCRIPT_NOTHING && kind != SCRIPT_WRONG;
		if (kind == SCRIPT_HEAD) {
			head = next;
			chosen = same(head.event, in->events[in->event].name);
			err = err ?: begin_stack(in, &lines, chosen, head.rest, &within);
		} else if (kind == SCRIPT_FRAME && chosen) {
			err = keep_frame(in, &frame);
		}
	}
	return !err && chosen ? feed_record(in, &head) : err;
}

static int feed(struct script_input *in)
{
	uint64_t whole = in->timed ? in->last - in->first : NS_PER_SEC;
	int err;

	import_clock(in->b, in->to->clock > whole ? in->to->clock - whole : 0);
	if (!in->timed)
		import_pace(in->b, NS_PER_SEC, in->events[in->event].records);
	err = feed_records(in);
	if (err)
		return err;
	if (!in->timed)
		return import_end(in->b, 0);
	return import_end(in->b, in->last > in->begin ? in->last - in->begin : 0);
}

int import_script(struct import_text text, struct import_to *to)
{
	struct script_input *in = calloc(1, sizeof(*in));
	struct import_event event;
	int err = in ? 0 : -ENOMEM;

	if (!err) {
		in->to = to;
		in->text = text;
		err = survey(in);
	}
	if (!err && !in->records)
		err = import_fail(to, -ENODATA, "has no samples");
	if (!err) {
		choose_event(in, &event);
		err = import_builder_new(to, &event, &in->b);
	}
	if (!err) {
		tell_others(in, &event);
		err = feed(in);
	}
	if (in) {
		import_builder_free(in->b);
		free(in->procs);
		free(in->frames);
		idtable_free(&in->index);
	}
	free(in);
	return err;
}
