// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The profile's lock is held only while frames are compared (annotator_search.c): looking up an
 * address takes the tracker's lock.
 */
#include "tui/collect/annotator_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/hash.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker.h"
#include "symbols/code/listing.h"
#include "symbols/code/sourcelist.h"
#include "tui/profile/annotation.h"
#include "tui/collect/stack_ring.h"
#include "tui/collect/lister.h"
#include "tui/collect/nocode.h"
#include "tui/profile/board.h"
#include "tui/symbolize/resolver.h"
#include "tui/collect/stackcache.h"
#include "tui/util/share.h"
#include "unwind/cfitext.h"

#define REMEMBER_NS 30000000000ull /* raw stacks are kept for longer */

int annotator_new(struct profile *profile, struct tracker *tracker, struct resolver *resolver,
		  struct stackcache *stacks, size_t limit, struct remotedebug *remote,
		  struct annotator **out)
{
	struct annotator *a = calloc(1, sizeof(*a));

	*out = NULL;
	if (!a)
		return -ENOMEM;
	a->profile = profile;
	a->tracker = tracker;
	a->resolver = resolver;
	a->stacks = stacks;
	a->limit = limit;
	a->remote = remote;
	a->hits = stack_ring_new();
	if (!a->hits) {
		free(a);
		return -ENOMEM;
	}
	*out = a;
	return 0;
}

/* All that belongs to a wish. */
static void forget(struct annotator *a)
{
	struct annotator_spot *spot, *next;

	HASH_ITER(hh, a->spots, spot, next) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
		HASH_DEL(a->spots, spot);
		free(spot);
	}
	listing_put(a->listing);
	a->listing = NULL;
	cfitext_put(a->cfi);
	a->cfi = NULL;
	a->at = 0;
	free(a->found);
	a->found = NULL;
	a->nfound = a->found_room = 0;
	a->object = a->counted = a->since = 0;
	a->asked = a->exited = a->replaced = false;
	a->trouble[0] = '\0';
	a->no_source = NULL;
	a->window = a->all = (struct annotation_sum){0};
	a->wish.serial = 0;
}

void annotator_free(struct annotator *a)
{
	if (!a)
		return;
	lister_free(a->lister);
	forget(a);
	stack_ring_free(a->hits);
	free(a);
}

void annotator_note(struct annotator *a, pid_t pid, uint64_t exec, uint64_t hash, uint64_t kernel,
		    uint64_t count, uint64_t now)
{
	struct stack_hit hit = {.time = now,
				.hash = hash,
				.exec = exec,
				.pid = pid,
				.count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count,
				.kernel = kernel};

	stack_ring_add(a->hits, &hit);
}

/* --- where they are -------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct annotator_match *x = a, *y = b;

	return ORDER(x->of.pid, y->of.pid)
		       ?: ORDER(x->of.exec_id, y->of.exec_id) ?: ORDER(x->frame, y->frame);
}

static bool same_process(const struct annotator_match *a, const struct annotator_match *b)
{
	return a->of.pid == b->of.pid && a->of.exec_id == b->of.exec_id;
}

static int by_function(const void *a, const void *b)
{
	const struct annotator_match *x = a, *y = b;

	return ORDER(x->object, y->object) ?: ORDER(x->start, y->start);
}

static int locate_kernel(struct annotator *a, struct annotator_match *f)
{
	f->vaddr = f->frame;
	return resolver_kernel_function(a->resolver, f->frame, f->of.exec_id, a->wish.name,
					&f->start, &f->end);
}

/* Where nothing describes the code: its page, or what was read around such a page. */
static int locate_jit(struct annotator *a, struct annotator_match *f)
{
	int err = resolver_jit_function(a->resolver, &f->of, f->frame, a->wish.name,
					a->wish.kind == FUNC_JS, &f->vaddr, &f->start, &f->end);

	if (err || f->start)
		return err;
	if (a->asked && a->object == OBJECT_PROCESS(&f->of) &&
	    f->vaddr - a->start < MEMCODE_GUESSED)
		f->start = a->start;
	else
		f->start = f->vaddr & -(uint64_t)MEMCODE_GUESSED;
	return 0;
}

/* -ENOENT: its code is not known. */
static int locate_one(struct annotator *a, struct annotator_match *f)
{
	struct object *object;
	int err;

	f->object = 0;
	if (func_has_source(a->wish.kind)) {
		f->object = OBJECT_SOURCE;
		f->vaddr = f->frame;
		return 0;
	}
	switch (a->wish.kind) {
	case FUNC_KERNEL:
		err = locate_kernel(a, f);
		f->object = err ? 0 : OBJECT_KERNEL;
		return err;
	case FUNC_JIT:
	case FUNC_JS:
	case FUNC_JAVA:
		err = locate_jit(a, f);
		f->object = err ? 0 : OBJECT_PROCESS(&f->of);
		return err;
	default:
		err = resolver_function(a->resolver, &f->of, f->frame, &object, &f->vaddr,
					&f->start);
		if (err)
			return err;
		f->object = object_id(object);
		object_put(a->tracker, object);
		return 0;
	}
}

static void locate(struct annotator *a)
{
	if (a->nfound)
		qsort(a->found, a->nfound, sizeof(*a->found), by_address);
	for (size_t i = 0; i < a->nfound; i++) {
		struct annotator_match *f = &a->found[i];

		if (i && !by_address(f - 1, f)) {
			f->object = f[-1].object;
			f->start = f[-1].start;
			f->vaddr = f[-1].vaddr;
			f->end = f[-1].end;
			continue;
		}
		locate_one(a, f);
	}
}

/*
 * Instructions begin at the pc of a leaf, and at return addresses. What was sampled is to be in the
 * middle of what is read.
 */
static void guess_place(struct annotator *a, const struct annotator_match *chosen,
			struct lister_job *job)
{
	uint64_t low = chosen->vaddr, high = low;

	job->marks[job->nmarks++] = low + !(chosen->frame & FRAME_EXACT);
	for (size_t i = 0; i < a->nfound && job->nmarks < MEMCODE_MARKS; i++) {
		const struct annotator_match *f = &a->found[i];

		if (f->object != a->object || f->start != a->start)
			continue;
		job->marks[job->nmarks++] = f->vaddr + !(f->frame & FRAME_EXACT);
		low = f->vaddr < low ? f->vaddr : low;
		high = f->vaddr > high ? f->vaddr : high;
	}
	if (low > MEMCODE_GUESSED)
		a->start = low + (high - low) / 2 - MEMCODE_GUESSED / 2;
	job->start = a->start;
}

/* Of what is in no file. */
static int ask_live(struct annotator *a, const struct annotator_match *f)
{
	struct lister_job job = {.serial = a->wish.serial,
				 .source = a->wish.kind == FUNC_KERNEL ? LISTER_KERNEL
								       : LISTER_MEMORY,
				 .fd = -1,
				 .start = f->start,
				 .end = f->end,
				 .pid = f->of.pid};

	a->object = f->object;
	a->start = f->start;
	if (job.source == LISTER_MEMORY && !f->end)
		guess_place(a, f, &job);
	lister_ask(a->lister, &job);
	return 0;
}

/* -ENOENT: its file is not open any more, since no process maps it. */
static int ask(struct annotator *a, const struct annotator_match *f)
{
	struct lister_job job = {.serial = a->wish.serial, .fd = -1, .start = f->start};
	struct object *object;
	const void *image;
	uint64_t vaddr, start;
	int err = 0;

	if (!a->lister)
		err = lister_new(a->limit, a->remote, a->tracker, &a->lister);
	if (!err && (a->wish.kind == FUNC_KERNEL || func_is_made(a->wish.kind)))
		return ask_live(a, f);
	if (!err)
		err = resolver_function(a->resolver, &f->of, f->frame, &object, &vaddr, &start);
	if (err)
		return err;
	job.pid = f->of.pid;
	job.at = f->vaddr;
	if (object_fd(object) >= 0) {
		job.fd = fcntl(object_fd(object), F_DUPFD_CLOEXEC, 0);
		err = job.fd < 0 ? -errno : 0;
	} else {
		image = object_image(object, &job.size);
		job.image = image ? malloc(job.size) : NULL;
		if (job.image)
			memcpy(job.image, image, job.size);
		else
			err = job.size ? -ENOMEM : -ENOENT;
	}
	object_put(a->tracker, object);
	if (err)
		return err;
	a->object = f->object;
	a->start = f->start;
	lister_ask(a->lister, &job);
	return 0;
}

static bool has_exited(const struct annotator *a, const struct annotator_match *f)
{
	const struct profile_proc *proc;
	bool exited;

	profile_lock(a->profile);
	proc = query_proc(a->profile, query_find_proc(a->profile, f->of.pid, f->of.exec_id));
	exited = !proc || proc->exited;
	profile_unlock(a->profile);
	return exited;
}

/* The mappings are gone with the process. */
static void tell_no_file(struct annotator *a, const struct annotator_match *found, size_t count)
{
	size_t gone = 0;

	while (gone < count && a->wish.kind != FUNC_KERNEL && has_exited(a, &found[gone]))
		gone++;
	snprintf(a->trouble, sizeof(a->trouble), "%s", nocode_nowhere(a->wish.kind, gone == count));
}

static void ask_or_tell(struct annotator *a, const struct annotator_match *f)
{
	int err = ask(a, f);

	a->trouble[0] = '\0';
	if (err == -ENOENT)
		tell_no_file(a, f, 1);
	else if (err)
		snprintf(a->trouble, sizeof(a->trouble), "its file cannot be read");
	a->asked = !a->trouble[0];
	a->chosen = *f;
}

/* The function at the address of the wish. */
static void choose_frame(struct annotator *a)
{
	struct annotator_match f = {.of = {.pid = a->wish.pid, .exec_id = a->wish.image},
				    .frame = a->wish.frame};

	a->trouble[0] = '\0';
	if (locate_one(a, &f)) {
		tell_no_file(a, &f, 1);
		return;
	}
	a->at = f.vaddr;
	ask_or_tell(a, &f);
}

/*
 * The hottest line in the process with most samples of the function, whose file is read; NULL: all
 * have exited. found is sorted by process.
 */
static const struct annotator_match *choose_process(const struct annotator *a)
{
	const struct annotator_match *best = NULL, *line;
	uint64_t most = 0, sum;

	for (size_t i = 0, end; i < a->nfound; i = end) {
		line = &a->found[i];
		sum = 0;
		for (end = i; end < a->nfound && same_process(line, &a->found[end]); end++) {
			sum += a->found[end].count;
			if (a->found[end].count > line->count)
				line = &a->found[end];
		}
		if (sum > most && !has_exited(a, line)) {
			best = line;
			most = sum;
		}
	}
	return best;
}

/* Without its text the lines are still numbers with counts. */
static void choose_source(struct annotator *a)
{
	struct lister_job job = {.serial = a->wish.serial, .source = LISTER_SOURCE, .fd = -1};
	const struct annotator_match *f = choose_process(a);
	int err = 0;

	if (!a->nfound)
		return;
	a->chosen = f ? *f : a->found[0];
	a->object = OBJECT_SOURCE;
	a->start = 0;
	a->asked = true;
	a->no_source = f ? nocode_no_file(a->wish.module) : nocode_nowhere(a->wish.kind, true);
	if (!a->no_source && !a->lister)
		err = lister_new(a->limit, a->remote, a->tracker, &a->lister);
	if (err)
		a->no_source = nocode_unread(a->wish.kind, err);
	if (a->no_source)
		return;
	job.pid = f->of.pid;
	job.at = f->frame;
	snprintf(job.file, sizeof(job.file), "%s", a->wish.module);
	lister_ask(a->lister, &job);
}

/* The hottest of the functions with that name. */
static void choose(struct annotator *a)
{
	const struct annotator_match *best = NULL;
	uint64_t most = 0, sum = 0;

	if (a->nfound)
		qsort(a->found, a->nfound, sizeof(*a->found), by_function);
	for (size_t i = 0; i < a->nfound; i++) {
		const struct annotator_match *f = &a->found[i];

		sum = i && !by_function(f - 1, f) ? sum + f->count : f->count;
		if (f->object && sum > most) {
			best = f;
			most = sum;
		}
	}
	if (!best && a->nfound)
		tell_no_file(a, a->found, a->nfound);
	if (!best)
		return;
	ask_or_tell(a, best);
}

/* --- counts ---------------------------------------------------------------------------------- */

static struct annotator_spot *spot_get(struct annotator *a, uint64_t vaddr)
{
	struct annotator_spot *spot;

	HASH_FIND(hh, a->spots, &vaddr, sizeof(vaddr), spot);
	if (spot)
		return spot;
	spot = calloc(1, sizeof(*spot));
	if (!spot)
		return NULL;
	spot->vaddr = vaddr;
	spot->hashed = true;
	HASH_ADD(hh, a->spots, vaddr, sizeof(spot->vaddr), spot);
	if (spot->hashed)
		return spot;
	free(spot);
	return NULL;
}

static void sum_add(struct annotation_sum *sum, const struct annotator_match *f, bool here)
{
	if (!here) {
		sum->elsewhere += f->once ? f->count : 0;
		return;
	}
	sum->self += f->self ? f->count : 0;
	sum->total += f->once ? f->count : 0;
}

static void count_add(struct annotation_count *c, const struct annotator_match *f)
{
	*(f->self ? &c->self : &c->below) += f->count;
}

/* Code made at run time is replaced, or moves, as its process likes. */
static void check_place(struct annotator *a)
{
	struct annotator_match now = a->chosen;

	if (!func_is_made(a->wish.kind) || !a->listing)
		return;
	a->exited = has_exited(a, &now);
	/* Code that nothing describes may have got a name. */
	if (!a->exited && a->chosen.end && !a->replaced)
		a->replaced = locate_one(a, &now) || now.start != a->start;
}

static void count_processes(struct annotator *a)
{
	a->processes = 0;
	for (size_t i = 0; i < a->nfound; i++)
		a->processes += !i || !same_process(&a->found[i], &a->found[i - 1]);
}

static void tally(struct annotator *a, uint64_t now)
{
	struct annotator_spot *spot;

	annotator_search(a, now);
	locate(a);
	count_processes(a);
	if (!a->asked && a->wish.frame)
		choose_frame(a);
	else if (!a->asked && func_has_source(a->wish.kind))
		choose_source(a);
	else if (!a->asked)
		choose(a);
	if (a->asked && a->chosen.start != a->start) { /* it was guessed */
		a->chosen.start = a->start;
		locate(a);
	}
	check_place(a);
	for (spot = a->spots; spot; spot = spot->hh.next)
		spot->window = (struct annotation_count){0};
	a->window = (struct annotation_sum){0};
	if (!a->asked)
		return; /* counted when the function is known */
	for (size_t i = 0; i < a->nfound; i++) {
		const struct annotator_match *f = &a->found[i];
		bool here = f->object == a->object && f->start == a->start;

		if (f->window)
			sum_add(&a->window, f, here);
		if (f->fresh)
			sum_add(&a->all, f, here);
		spot = here ? spot_get(a, f->vaddr) : NULL;
		if (spot && f->window)
			count_add(&spot->window, f);
		if (spot && f->fresh)
			count_add(&spot->all, f);
	}
	a->counted = now;
}

/* --- the answer ------------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Of a source that cannot be shown: another listing whenever a line was seen for the first time. */
static int list_lines(struct annotator *a)
{
	uint32_t n = 0, *numbers = calloc(HASH_COUNT(a->spots) + 1, sizeof(*numbers));
	struct listing *listing = NULL;
	int err = numbers ? 0 : -ENOMEM;

	for (struct annotator_spot *spot = a->spots; numbers && spot; spot = spot->hh.next)
		if (spot->vaddr)
			numbers[n++] = (uint32_t)spot->vaddr;
	if (n && (!a->listing || n > a->listing->ninsns)) {
		qsort(numbers, n, sizeof(*numbers), by_number);
		err = sourcelist_bare(numbers, n, a->no_source, &listing);
	}
	free(numbers);
	if (listing) {
		listing_put(a->listing);
		a->listing = listing;
	}
	return err;
}

static void fill(const struct annotator *a, struct annotation *to)
{
	const struct annotator_spot *spot;

	for (spot = a->spots; spot; spot = spot->hh.next) {
		uint32_t at = listing_find(a->listing, spot->vaddr);

		if (at == LISTING_NONE) {
			to->window_sum.stray += spot->window.self + spot->window.below;
			to->all_sum.stray += spot->all.self + spot->all.below;
			continue;
		}
		to->window[at].self += spot->window.self;
		to->window[at].below += spot->window.below;
		to->all[at].self += spot->all.self;
		to->all[at].below += spot->all.below;
	}
}

static void publish(struct annotator *a, uint64_t now)
{
	struct annotation *to = a->no_source && list_lines(a) ? NULL : annotation_new(a->listing);
	const char *trouble = a->trouble;

	if (!to)
		return;
	to->serial = a->wish.serial;
	/* Lines without a source are listed, if there is any whose number is known. */
	if (a->no_source && !a->listing)
		trouble = a->no_source;
	to->state = trouble[0]	 ? ANNOTATION_FAILED
		    : a->listing ? ANNOTATION_READY
		    : a->asked	 ? ANNOTATION_READS
				 : ANNOTATION_LOOKS;
	snprintf(to->trouble, sizeof(to->trouble), "%s", trouble);
	to->window_sum = a->window;
	to->all_sum = a->all;
	to->cfi = a->cfi ? cfitext_get(a->cfi) : NULL;
	to->processes = a->processes;
	to->exited = a->exited;
	to->replaced = a->replaced;
	to->at = a->at;
	to->since = a->since;
	to->now = now;
	if (a->listing)
		fill(a, to);
	board_set_annotation(profile_board(a->profile), to);
}

/* The number may be that of another program by now, whose memory was read then. */
static bool was_other_program(struct annotator *a)
{
	struct tracker_proc proc;

	return (func_is_made(a->wish.kind) || func_has_source(a->wish.kind)) &&
	       !tracker_proc(a->tracker, &a->chosen.of, &proc);
}

/* What code calls that a process made: other such code, and functions of files. */
static bool name_target(void *arg, uint64_t addr, char *to, size_t room)
{
	struct annotator *a = arg;

	return resolver_name(a->resolver, &a->chosen.of, addr, to, room);
}

/* True if the listing has arrived. */
static bool take_listing(struct annotator *a)
{
	struct listing *listing;
	struct cfitext *cfi;
	uint64_t serial;
	int err;

	if (!a->lister || !lister_take(a->lister, &serial, &err, &listing, &cfi))
		return false;
	if (serial != a->wish.serial) {
		listing_put(listing);
		cfitext_put(cfi);
		return false;
	}
	if (!err && was_other_program(a)) {
		listing_put(listing);
		listing = NULL;
		err = -ESRCH;
	}
	if (listing && func_is_made(a->wish.kind))
		listing_name_targets(listing, name_target, a);
	if (err && func_has_source(a->wish.kind))
		a->no_source = nocode_unread(a->wish.kind, err);
	else if (err)
		snprintf(a->trouble, sizeof(a->trouble), "%s", nocode_unread(a->wish.kind, err));
	listing_put(a->listing);
	cfitext_put(a->cfi);
	a->listing = listing;
	a->cfi = cfi;
	return true;
}

/* True if there is a new one. */
static bool take_wish(struct annotator *a)
{
	struct annotation_wish wish;
	bool wished = board_annotation_wish(profile_board(a->profile), &wish);
	bool gone = !wished && a->wish.serial;
	bool fresh = wished && wish.serial != a->wish.serial;

	if (gone || fresh)
		forget(a);
	if (fresh)
		a->wish = wish;
	return fresh;
}

bool annotator_work(struct annotator *a, uint64_t now, bool slice)
{
	bool fresh = take_wish(a), came = a->wish.serial && take_listing(a);

	if (slice)
		stack_ring_forget(a->hits, now > REMEMBER_NS ? now - REMEMBER_NS : 0);
	if (!a->wish.serial || !(fresh || came || slice))
		return false;
	if (fresh || slice)
		tally(a, now);
	publish(a, now);
	return true;
}
