/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of each CPython of this machine is accepted in its own process, and none that has one
 * wrong offset; and memory that is made to mislead.
 * Covers: symbols/runtime/threadblock.h symbols/runtime/python_check.c
 */
#include "tests/symbols/runtime/pythons.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <time.h>

#include "symbols/runtime/python_check.h"
#include "symbols/runtime/python_offsets.h"
#include "tests/symbols/runtime/layouts.h"
#include "tests/symbols/runtime/subjects.h"

#define TRIES	    60
#define READS_MAX   50000u /* of one check, whatever the memory has */
#define MUTANTS_MIN 50

/* --- processes ------------------------------------------------------------------------------- */

static int check(struct subject *s, struct python_layout *layout, const char **why)
{
	*why = NULL;
	return python_check(layout, &s->place, subject_read, s, why);
}

#define STILL_PAGE  4096ull
#define STILL_PAGES 4096ull

/* The memory of a process whose threads sleep stays as it is: each page is read once. */
static struct {
	uint64_t at[STILL_PAGES]; /* and 1 */
	uint8_t bytes[STILL_PAGES][STILL_PAGE];
} still;

static int read_still(void *arg, uint64_t addr, void *to, size_t size)
{
	const uint64_t in = addr % STILL_PAGE, page = addr - in,
		       slot = page / STILL_PAGE % STILL_PAGES;

	if (in + size > STILL_PAGE)
		return subject_read(arg, addr, to, size);
	if (still.at[slot] != (page | 1)) {
		still.at[slot] = 0;
		if (subject_read(arg, page, still.bytes[slot], STILL_PAGE))
			return -EFAULT;
		still.at[slot] = page | 1;
	}
	memcpy(to, still.bytes[slot] + in, size);
	return 0;
}

/* Checks until it is accepted; how often it was. */
static unsigned int check_often(struct subject *s, struct python_layout *layout, unsigned int tries)
{
	const struct timespec pause = {0, 1000000};
	unsigned int accepted = 0;
	const char *why;

	for (unsigned int i = 0; i < tries; i++) {
		struct python_layout l = s->layout;
		int err = check(s, &l, &why);

		assert_true(!err || err == -EINVAL || err == -ENOENT);
		assert_true(err != -EINVAL || why);
		if (!err) {
			accepted++;
			*layout = l;
		}
		nanosleep(&pause, NULL);
	}
	return accepted;
}

/* A process whose threads all sleep; they may not do so yet when they say so. */
static bool sleeper_new(const char *path, struct subject *s)
{
	const struct timespec pause = {0, 10000000};
	struct python_layout l;
	const char *why = NULL;
	unsigned int quiet = 0;

	if (!subject_new(path, "sleep", s))
		return false;
	for (unsigned int i = 0; i < 500 && quiet < 10; i++) {
		l = s->layout;
		quiet = check(s, &l, &why) ? 0 : quiet + 1;
		nanosleep(&pause, NULL);
	}
	if (quiet < 10)
		fail_msg("%s: %s", path, why ? why : "no reason");
	memset(still.at, 0, sizeof(still.at));
	return true;
}

/* --- the right layout ------------------------------------------------------------------------ */

static size_t look_at_sleeper(const char *path)
{
	struct python_layout l, expected;
	struct subject s;

	if (!sleeper_new(path, &s))
		return 0;
	assert_int_equal(check_often(&s, &l, 30), 30);
	/* no thread holds the lock, so that where it stands is not proven */
	expected = s.layout;
	expected.runtime_current = 0;
	layouts_same(&l, &expected);
	subject_end(&s);
	return 1;
}

static void sleeping_processes_are_accepted(void **state)
{
	(void)state;
	pythons_each(look_at_sleeper);
}

static size_t look_at_runner(const char *path)
{
	static const char *const how[] = {"run", "alone"};
	struct python_layout l;
	struct subject s;

	for (int i = 0; i < 2; i++) {
		unsigned int accepted;

		if (!subject_new(path, how[i], &s))
			return 0;
		accepted = check_often(&s, &l, TRIES);
		print_message("%s: %s: %u of %u\n", path, how[i], accepted, TRIES);
		assert_true(accepted > 0);
		subject_end(&s);
	}
	return 1;
}

static void running_processes_are_accepted_sometimes(void **state)
{
	(void)state;
	pythons_each(look_at_runner);
}

/* --- wrong layouts --------------------------------------------------------------------------- */

/* Not a member, but computed of them; version decides which rules hold. */
static bool is_member(const char *name)
{
	const size_t length = strlen(name);

	return strcmp(name, "version") != 0 && strcmp(name, "code_head") != 0 &&
	       (length < 5 || strcmp(name + length - 5, "_size") != 0 ||
		!strcmp(name, "bytes_size"));
}

/* What a wrong value does not show of in a process like these. */
static bool cannot_be_told(const char *name, unsigned int minor)
{
	/* Of the only interpreter it is 0, as is much around it. The runtime itself has told it. */
	if (minor >= 13 && !strcmp(name, "interp_next"))
		return true;
	/* Every instruction may be the first one. Told, as well. */
	return minor >= 14 && !strcmp(name, "code_start");
}

/* With which it may look as if no code ran yet; the runtime itself has told them, too. */
static bool may_seem_idle(const char *name, unsigned int minor)
{
	return minor >= 13 && (!strcmp(name, "tstate_frame") || !strcmp(name, "runtime_interps"));
}

static void check_mutant(struct subject *s, size_t field, int change, python_read_fn *read)
{
	const unsigned int minor = s->layout.version >> 16 & 0xff;
	const char *name = layout_names[field], *why;
	struct python_layout l = s->layout;
	__u32 *value = (__u32 *)&l + field;
	int err;

	*value += (__u32)change;
	python_layout_measure(&l);
	why = NULL;
	err = python_check(&l, &s->place, read, s, &why);
	if (!err && !strcmp(name, "runtime_current")) {
		assert_int_equal(l.runtime_current, 0);
		return;
	}
	if (err == -ENOENT && may_seem_idle(name, minor))
		return;
	if (err != -EINVAL || !why)
		fail_msg("3.%u: %s %+d: %d", minor, name, change, err);
}

static unsigned int check_mutants(struct subject *s, python_read_fn *read)
{
	static const int changes[] = {-16, -8, -4, 4, 8, 16, 24, 40};
	unsigned int all = 0;

	for (size_t i = 0; i < LAYOUT_FIELDS; i++) {
		const int value = (int)((__u32 *)&s->layout)[i];

		if (!is_member(layout_names[i]) ||
		    cannot_be_told(layout_names[i], s->layout.version >> 16 & 0xff))
			continue;
		/* 0: the version does not have it, or it stands at the beginning */
		if (!value && strcmp(layout_names[i], "frame_code") != 0 &&
		    strcmp(layout_names[i], "tstate_frame") != 0 &&
		    strcmp(layout_names[i], "interp_next") != 0)
			continue;
		for (size_t j = 0; j < sizeof(changes) / sizeof(*changes); j++)
			if (value + changes[j] >= 0) {
				check_mutant(s, i, changes[j], read);
				all++;
			}
	}
	return all;
}

/*
 * In a process with all that there is, and in one with a single frame, which says less: enough
 * where the layout is not from the runtime itself.
 */
static size_t look_at_mutants(const char *path)
{
	unsigned int all;
	struct subject s;

	if (!sleeper_new(path, &s))
		return 0;
	all = check_mutants(&s, read_still);
	print_message("%s: %u wrong layouts\n", path, all);
	assert_true(all >= MUTANTS_MIN);
	subject_end(&s);
	if ((s.layout.version >> 16 & 0xff) >= 13)
		return 1;
	assert_true(subject_new(path, "alone", &s));
	check_mutants(&s, subject_read); /* it runs */
	subject_end(&s);
	return 1;
}

static void wrong_layouts_are_refused(void **state)
{
	(void)state;
	pythons_each(look_at_mutants);
}

/* --- memory that misleads -------------------------------------------------------------------- */

#define FAKE	  0x100000000000ull /* addresses that the reader makes up */
#define FAKE_PAGE 4096ull
#define LIES_MAX  8

/* A page's bytes, the same at each page from FAKE on but for links to its neighbours. */
struct fake {
	struct subject *s;
	uint8_t page[FAKE_PAGE];
	int32_t next, before;	    /* offsets of links to the page behind and in front; -1: none */
	uint64_t lies[LIES_MAX][2]; /* words of the process that are replaced: address, value */
	unsigned int nlies;
	uint64_t reads;
	unsigned int seed; /* of random words; 0: the process's */
};

static void fake_page(const struct fake *f, uint64_t addr, uint8_t *to, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const uint64_t at = (addr + i) % FAKE_PAGE, base = addr + i - at;
		const uint64_t links[2] = {base + FAKE_PAGE, base > FAKE ? base - FAKE_PAGE : 0};

		to[i] = f->page[at];
		for (int j = 0; j < 2; j++) {
			const int32_t link = j ? f->before : f->next;

			if (link >= 0 && at - (uint64_t)link < sizeof(uint64_t))
				to[i] = (uint8_t)(links[j] >> 8 * (at - (uint64_t)link));
		}
	}
}

static int read_fake(void *arg, uint64_t addr, void *to, size_t size)
{
	struct fake *f = arg;

	f->reads++;
	if (f->seed) {
		for (size_t i = 0; i < size; i++)
			((uint8_t *)to)[i] = (uint8_t)rand_r(&f->seed);
		return f->seed % 50 ? 0 : -EFAULT;
	}
	if (addr >= FAKE && addr < FAKE + (FAKE_PAGE << 32)) {
		fake_page(f, addr, to, size);
		return 0;
	}
	if (read_still(f->s, addr, to, size))
		return -EFAULT;
	for (unsigned int i = 0; i < f->nlies; i++)
		if (f->lies[i][0] >= addr && f->lies[i][0] + sizeof(uint64_t) <= addr + size)
			memcpy((uint8_t *)to + (f->lies[i][0] - addr), &f->lies[i][1],
			       sizeof(uint64_t));
	return 0;
}

static uint64_t word_of(struct subject *s, uint64_t addr)
{
	uint64_t value;

	assert_int_equal(subject_read(s, addr, &value, sizeof(value)), 0);
	return value;
}

/* Where things are in a process that sleeps. */
struct found {
	uint64_t interp, thread, cframe, frame; /* the innermost one that is no record */
};

static void find(struct subject *s, struct found *found)
{
	const struct python_layout *l = &s->layout;

	found->interp = word_of(s, s->place.runtime + l->runtime_interps);
	found->thread = word_of(s, found->interp + l->interp_threads);
	found->cframe = l->tstate_cframe ? word_of(s, found->thread + l->tstate_cframe) : 0;
	found->frame =
		word_of(s, (found->cframe ? found->cframe : found->thread) + l->tstate_frame);
	assert_true(found->frame);
}

static int check_fake(struct fake *f)
{
	struct python_layout l = f->s->layout;
	const char *why = NULL;
	int err;

	f->reads = 0;
	err = python_check(&l, &f->s->place, read_fake, f, &why);
	assert_true(err == 0 || err == -EINVAL || err == -ENOENT);
	assert_true(err != -EINVAL || why);
	if (f->reads > READS_MAX)
		fail_msg("%" PRIu64 " reads", f->reads);
	return err;
}

static void lie(struct fake *f, uint64_t addr, uint64_t value)
{
	assert_true(f->nlies < LIES_MAX);
	f->lies[f->nlies][0] = addr;
	f->lies[f->nlies++][1] = value;
}

static struct fake *fake_new(struct subject *s)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->s = s;
	f->next = f->before = -1;
	return f;
}

/* An endless row of copies of an object, to which the word at `link` leads. */
static int check_row(struct subject *s, uint64_t link, uint64_t object, size_t size, __u32 next,
		     int32_t before)
{
	struct fake *f = fake_new(s);
	int err;

	assert_int_equal(subject_read(s, object, f->page, size), 0);
	f->next = (int32_t)next;
	f->before = before;
	lie(f, link, FAKE);
	err = check_fake(f);
	free(f);
	return err;
}

/* Lists that lead back to themselves. */
static void check_rings(struct subject *s, const struct found *at)
{
	const struct python_layout *l = &s->layout;
	struct fake *f = fake_new(s);

	lie(f, at->frame + l->frame_back, at->frame);
	check_fake(f);
	f->nlies = 0;
	lie(f, at->thread + l->tstate_next, at->thread);
	assert_int_equal(check_fake(f), -EINVAL);
	/* its prev, too: a thread that is there again and again */
	lie(f, at->thread + l->tstate_next - 8, at->thread);
	assert_int_equal(check_fake(f), -EINVAL);
	f->nlies = 0;
	lie(f, at->interp + l->interp_next, at->interp);
	check_fake(f);
	if (at->cframe) {
		f->nlies = 0;
		lie(f, at->cframe + l->cframe_previous, at->cframe);
		check_fake(f);
	}
	free(f);
}

static void check_rows(struct subject *s, const struct found *at)
{
	const struct python_layout *l = &s->layout;
	const uint64_t link = (at->cframe ? at->cframe : at->thread) + l->tstate_frame;

	check_row(s, link, at->frame, l->frame_size, l->frame_back, -1);
	/* threads with all their frames, one after the other */
	check_row(s, at->interp + l->interp_threads, at->thread, l->tstate_size, l->tstate_next,
		  (int32_t)l->tstate_next - 8);
	/* interpreters, each with all threads */
	if (l->interp_threads + 8 <= FAKE_PAGE)
		check_row(s, s->place.runtime + l->runtime_interps, at->interp,
			  l->interp_threads + 8, l->interp_next, -1);
	if (at->cframe)
		check_row(s, at->thread + l->tstate_cframe, at->cframe, 24, l->cframe_previous, -1);
}

/* The outermost record of a greenlet has no frame; behind it is the thread's own. */
static void check_greenlet(struct subject *s, const struct found *at)
{
	const struct python_layout *l = &s->layout;
	uint64_t record = at->cframe, own = word_of(s, record + l->cframe_previous), next;
	struct fake *f = fake_new(s);

	for (; (next = word_of(s, own + l->cframe_previous)); own = next)
		record = own;
	lie(f, record + l->cframe_previous, FAKE);
	memcpy(f->page + l->cframe_previous, &own, sizeof(own));
	assert_int_equal(check_fake(f), 0);
	/* a record with a frame that belongs to no call */
	memcpy(f->page + l->tstate_frame, &at->frame, sizeof(at->frame));
	assert_int_equal(check_fake(f), -EINVAL);
	/* several without a frame */
	memset(f->page, 0, sizeof(f->page));
	f->next = (int32_t)l->cframe_previous;
	assert_int_equal(check_fake(f), -EINVAL);
	free(f);
}

static void check_random(struct subject *s)
{
	for (unsigned int seed = 1; seed <= 500; seed++) {
		struct fake *f = fake_new(s);

		f->seed = seed;
		assert_int_equal(check_fake(f), -EINVAL);
		free(f);
	}
}

/* Words of a thread's state, a frame and a code object that are other words of the process. */
static void check_words(struct subject *s, const struct found *at)
{
	const uint64_t code = word_of(s, at->frame + s->layout.frame_code) & ~3ull;
	const uint64_t objects[][2] = {{at->thread, s->layout.tstate_size},
				       {at->frame, s->layout.frame_size},
				       {code, s->layout.code_size}};
	const uint64_t values[] = {0, 1, UINT64_MAX, at->thread, at->frame, code, s->place.type};
	struct fake *f = fake_new(s);

	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++)
		for (uint64_t word = 0; word < objects[i][1] / 8; word++)
			for (size_t j = 0; j < sizeof(values) / sizeof(*values); j++) {
				f->nlies = 0;
				lie(f, objects[i][0] + 8 * word, values[j]);
				check_fake(f);
			}
	free(f);
}

static size_t look_at_lies(const char *path)
{
	struct found at;
	struct subject s;

	if (!sleeper_new(path, &s))
		return 0;
	find(&s, &at);
	check_random(&s);
	check_rings(&s, &at);
	check_rows(&s, &at);
	if (at.cframe)
		check_greenlet(&s, &at);
	check_words(&s, &at);
	subject_end(&s);
	return 1;
}

static void hostile_memory_is_read_within_bounds(void **state)
{
	(void)state;
	pythons_each(look_at_lies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeping_processes_are_accepted),
		cmocka_unit_test(running_processes_are_accepted_sometimes),
		cmocka_unit_test(wrong_layouts_are_refused),
		cmocka_unit_test(hostile_memory_is_read_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
