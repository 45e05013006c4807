// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the tracker's two threads. The tracker thread reads side-band records and commands, changes
 * what is known, and publishes; the builder thread compiles tables and throws blocks away once no
 * program can read them any more.
 */
#include "bpf/tracker/tracker_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sampler/kernelcode.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/pace.h"
#include "bpf/sampler/pidns.h"
#include "bpf/sampler/sampler.h"
#include "symbols/base/memory.h"
#include "symbols/base/thread.h"
#include "unwind/wide.h"

#define KEEP_DEAD_NS   (5ull * 1000000000)
#define TRACKER_NICE   (-10) /* a new process cannot be walked until it is known */
#define GARBAGE_MAX_NS (250ull * 1000000)
#define SCAN_NS	       (1000ull * 1000000)
#define SMALL_FILE     (8ull << 20)
#define OPEN_MAX_FILES 4096u
#define WATCH_NS       (1000ull * 1000000)

uint64_t tracker_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t tracker_cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void tracker_wake(struct tracker *t)
{
	uint64_t one = 1;

	if (write(t->wake_fd, &one, sizeof(one)) < 0)
		return; /* full means that it is awake */
}

void tracker_tell(struct tracker *t, int level, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (t->say)
		t->say(t->say_arg, level, text);
}

/* --- blocks that may still be read ---------------------------------------------------------- */

void tracker_discard(struct tracker *t, struct shards *from, uint32_t word)
{
	struct garbage *more;
	size_t room;

	if (t->ngarbage == t->garbage_room) {
		room = t->garbage_room ? t->garbage_room * 2 : 256;
		more = realloc(t->garbage, room * sizeof(*more));
		if (!more) {
			sampler_wait(t->sampler);
			shards_remove(from, word);
			return;
		}
		t->garbage = more;
		t->garbage_room = room;
	}
	t->garbage[t->ngarbage++] = (struct garbage){from, word};
	t->unpublished |= from == t->shards;
	if (t->ngarbage == 1)
		pthread_cond_broadcast(&t->builder_wake);
}

static void free_garbage(struct garbage *garbage, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		shards_remove(garbage[i].from, garbage[i].word);
}

/* Frees discarded blocks at once, for a caller that needs the room. */
void tracker_flush(struct tracker *t, const struct shards *from)
{
	size_t i, kept = 0, collected = 0;

	sampler_wait(t->sampler);
	for (i = 0; i < t->ngarbage; i++) {
		if (from && t->garbage[i].from != from) {
			t->garbage[kept++] = t->garbage[i];
			collected += i < t->ncollected;
		} else {
			shards_remove(t->garbage[i].from, t->garbage[i].word);
		}
	}
	t->ngarbage = kept;
	t->ncollected = collected;
}

/*
 * By a builder, without the lock while it waits. The blocks stay in the list meanwhile: what they
 * take up can be had, by who measures room and by tracker_flush, which may be faster. Not while
 * lists are being published, of which some may still lead to them.
 */
static void collect_garbage(struct tracker *t)
{
	if (t->collecting || t->unpublished)
		return;
	t->collecting = true;
	t->ncollected = t->ngarbage;
	turnlock_give(&t->lock);
	sampler_wait(t->sampler);
	turnlock_take(&t->lock);
	free_garbage(t->garbage, t->ncollected);
	t->ngarbage -= t->ncollected;
	memmove(t->garbage, t->garbage + t->ncollected, t->ngarbage * sizeof(*t->garbage));
	t->ncollected = 0;
	t->collecting = false;
}

/* --- the allocators' memory ------------------------------------------------------------------ */

static int shard_create(void *arg, unsigned int i)
{
	struct tracker *t = arg;

	t->shard_since[i] = tracker_now();
	return sampler_shard_create(t->sampler, i);
}

static void shard_destroy(void *arg, unsigned int i)
{
	sampler_shard_destroy(((struct tracker *)arg)->sampler, i);
}

static int shard_write(void *arg, unsigned int i, uint32_t at, const uint32_t *words,
		       uint32_t count)
{
	return sampler_shard_write(((struct tracker *)arg)->sampler, i, at, words, count);
}

/* The map_lists map has just the size of a shard, so the same allocator serves it. */
_Static_assert(MAP_ENTRIES_MAX * sizeof(struct map_entry) == SHARD_BYTES, "one shard of lists");

static int list_create(void *arg, unsigned int i)
{
	(void)arg;
	return i ? -ENOSPC : 0;
}

static int list_write(void *arg, unsigned int i, uint32_t at, const uint32_t *words, uint32_t count)
{
	struct tracker *t = arg;

	(void)i;
	memcpy((uint32_t *)sampler_map_entries(t->sampler) + at, words, count * sizeof(*words));
	return 0;
}

/* --- threads --------------------------------------------------------------------------------- */

static void on_event(const struct sideband_event *e, void *arg)
{
	struct tracker *t = arg;

	if (e->kind == SIDEBAND_KSYMBOL)
		kernelcode_note(t->kernel_code, e->start, e->length, e->name, e->gone);
	else
		process_on_event(t, e);
}

static void on_answer(void *arg, const struct opening *o, const struct open_answer *a, int fd)
{
	if (o->request->kind == OPEN_MAPPED)
		mappings_on_answer(arg, o, a, fd);
	else
		asked_on_answer(arg, o, a, fd);
}

/* CPUs come and go; true when records may be missing. */
static bool watch_cpus(struct tracker *t, uint64_t now)
{
	int changes;

	if (now - t->watched < WATCH_NS)
		return false;
	t->watched = now;
	changes = sideband_watch(t->sideband);
	if (changes < 0 && !t->told_unwatched)
		tracker_tell(t, 1, "cannot follow the processes on a CPU that came online: %s",
			     strerror(-changes));
	t->told_unwatched = changes < 0;
	return changes > 0;
}

static void read_records(struct tracker *t)
{
	uint32_t generation;

	t->lost_records += sideband_read(t->sideband, on_event, t);
	generation = kernelcode_generation(t->kernel_code);
	if (generation != t->kernel_told && !sampler_set_kernel_code(t->sampler, generation))
		t->kernel_told = generation;
	if (sideband_has_gap(t->sideband))
		rescan_begin(t);
}

static bool publish(struct tracker *t)
{
	if (process_refresh(t))
		read_records(t);
	return process_publish_some(t);
}

/* Since boot there may not have been as much time as the dead are kept. */
static void bury_old(struct tracker *t, uint64_t now)
{
	const uint64_t keep = atomic_load(&t->keep_dead);

	process_bury(t, now > keep ? now - keep : 0);
}

/* All processes that are there already; those that were named first, as are their tables. */
static void begin(struct tracker *t)
{
	for (size_t i = 0; i < t->filter->npids; i++)
		process_scan(t, t->filter->pids[i]);
	rescan_begin(t);
}

static int timeout(const struct tracker *t, bool again)
{
	int opener = opener_wait(t->opener);

	if (!t->started || t->publishing)
		return 0;
	return again ? 1 : opener >= 0 ? opener : 1000;
}

static bool is_answered(const struct pollfd *fds)
{
	for (size_t i = 0; i < OPENHELPERS; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* Waits until there is something to do; fds[0] is that of the records. */
static void wait_for_work(struct tracker *t, struct pollfd *fds, bool again, struct pace *pace)
{
	const bool has_read = fds[0].fd < 0 || fds[0].revents;
	/* Where some are chosen, what is not known yet is not sampled. */
	const bool by_files = sampler_checks_lists(t->sampler) && !t->filtering;
	const uint64_t pause =
		pace_wait(pace, by_files ? PACE_FILES_NS : PACE_NS, has_read, tracker_now());
	const int ms = timeout(t, again);
	struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
	uint64_t count;

	fds[0].fd = sideband_fd(t->sideband);
	if (pause && ms) {
		fds[0].fd = -1;
		wait = (struct timespec){0, (long)pause};
	}
	opener_fds(t->opener, fds + 2);
	turnlock_give(&t->lock);
	ppoll(fds, 2 + OPENHELPERS, &wait, NULL);
	if (fds[1].revents && read(t->wake_fd, &count, sizeof(count)) < 0)
		count = 0;
	turnlock_take(&t->lock);
}

/*
 * A busy machine is the reason to look at it. Without the privilege records are read later. Not
 * before the processes that were there have been read: thousands of them would keep the collector,
 * which has its usual weight, from naming the first samples.
 */
static void hurry(const struct tracker *t, bool *hurries)
{
	if (*hurries || !t->started)
		return;
	setpriority(PRIO_PROCESS, (id_t)gettid(), TRACKER_NICE);
	*hurries = true;
}

static void *tracker_main(void *arg)
{
	struct tracker *t = arg;
	struct pollfd fds[2 + OPENHELPERS] = {
		{.fd = sideband_fd(t->sideband), .events = POLLIN},
		{.fd = t->wake_fd, .events = POLLIN},
	};
	bool again = false, more, changed, ending, hurries = false;
	struct pace pace = {0};
	uint64_t now;

	turnlock_take(&t->lock);
	t->tracker_self = pthread_self();
	t->in_thread = true;
	begin(t);
	while (!t->stop) {
		wait_for_work(t, fds, again, &pace);
		now = tracker_now();
		changed = watch_cpus(t, now);
		read_records(t);
		if (changed)
			rescan_begin(t);
		more = rescan_turn(t);
		hurry(t, &hurries);
		commands_take(t);
		rest_ask(t);
		if (is_answered(fds + 2) || opener_wait(t->opener) >= 0)
			opener_turn(t->opener, tracker_now());
		now = tracker_now();
		doubt_settle(t, now);
		choice_look(t, now);
		ending = choice_watch(t, now);
		again = publish(t) || more || t->rescan || ending;
		bury_old(t, now);
		if (now - t->scanned >= SCAN_NS)
			evict_scan(t, now);
		rest_look(t, now);
		asked_age(t, now);
	}
	turnlock_give(&t->lock);
	return NULL;
}

static void *builder_main(void *arg)
{
	struct builder *b = arg;
	struct tracker *t = b->tracker;
	struct timespec until;

	turnlock_take(&t->lock);
	while (!t->stop) {
		if (object_build_next(b))
			continue;
		if (t->ngarbage)
			collect_garbage(t);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += GARBAGE_MAX_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		while (!t->stop && !object_is_queued(b)) {
			if (t->ngarbage) {
				if (pthread_cond_timedwait(&t->builder_wake, &t->lock.lock, &until))
					break;
			} else {
				pthread_cond_wait(&t->builder_wake, &t->lock.lock);
			}
		}
	}
	turnlock_give(&t->lock);
	return NULL;
}

/* Names, maps and events need descriptors, too. */
static void limits_set(struct tracker *t)
{
	struct rlimit files;

	t->open_max = OPEN_MAX_FILES;
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur / 3 < t->open_max)
		t->open_max = (unsigned int)(files.rlim_cur / 3);
	t->mappings.max = memory_limit(MEMORY_MAPPINGS) / sizeof(struct mapping);
	t->bytes.max = memory_limit(MEMORY_OBJECTS) / 2;
}

/* --- life ------------------------------------------------------------------------------------ */

int tracker_new(struct sampler *sampler, const struct tracker_filter *filter,
		unsigned int shards_max, tracker_say *say, void *arg, struct tracker **out)
{
	static const struct shards_ops shard_ops = {shard_create, shard_destroy, shard_write,
						    false};
	static const struct shards_ops list_ops = {list_create, NULL, list_write, true};
	struct tracker *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;
	int err = -ENOMEM;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->sampler = sampler;
	t->filter = filter;
	t->say = say;
	t->say_arg = arg;
	t->by_options = filter->npids || filter->comm || filter->user_given || filter->cgroup ||
			filter->container;
	t->dead_end = &t->dead;
	atomic_init(&t->keep_dead, KEEP_DEAD_NS);
	t->queue_end = &t->queue;
	t->posted_end = &t->posted;
	turnlock_init(&t->lock);
	pthread_mutex_init(&t->posted_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->builder_wake, &attr);
	pthread_cond_init(&t->asked_wake, &attr);
	pthread_cond_init(&t->has_read, NULL);
	pthread_condattr_destroy(&attr);
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	limits_set(t);
	t->shards = shards_new(shards_max, &shard_ops, t);
	t->lists = shards_new(1, &list_ops, t);
	t->wide = wide_rules_new();
	t->asked = asked_new();
	if (t->wake_fd < 0 || !t->shards || !t->lists || !t->wide || !t->asked)
		goto fail;
	err = choice_name(t);
	if (!err)
		err = kernelcode_new(&t->kernel_code);
	if (!err)
		err = sideband_new(NULL, 0, &t->sideband);
	if (err)
		goto fail;
	*out = t;
	return 0;
fail:
	tracker_free(t);
	return err;
}

static int start_thread(pthread_t *thread, bool *runs, void *(*run)(void *), void *arg)
{
	int err = thread_start(thread, run, arg);

	*runs = !err;
	return err;
}

/* Without it the kernel shows neither mappings nor addresses of other users' processes. */
static bool may_read_processes(void)
{
	char line[256];
	unsigned long long caps = ~0ull;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps >> CAP_SYS_PTRACE & 1;
}

/* However long a large file takes, or one that was made to take long: a small one need not wait. */
static int start_builders(struct tracker *t)
{
	/* The CFI of one takes twice the size at most (cfi_limit), and all of it five times that.
	 */
	const uint64_t share = memory_limit(MEMORY_BUILD) / 32;
	const uint64_t sizes[BUILDERS] = {UINT64_MAX, share < SMALL_FILE ? share : SMALL_FILE};
	int err = 0;
	size_t i;

	for (i = 0; i < BUILDERS && !err; i++) {
		struct builder *b = &t->builders[i];

		b->tracker = t;
		b->size_max = sizes[i];
		b->wide = wide_rules_join(t->wide);
		err = b->wide ? start_thread(&b->thread, &b->runs, builder_main, b) : -ENOMEM;
	}
	return err;
}

int tracker_start(struct tracker *t)
{
	int err;

	if (!may_read_processes())
		tracker_tell(t, 1,
			     "without CAP_SYS_PTRACE most user stacks cannot be walked, nor named");

	if (!pidns_is_initial())
		tracker_tell(t, 0,
			     "in a PID namespace: samples of processes outside of it, and of the "
			     "kernel's threads, are counted, not shown");
	turnlock_take(&t->lock);
	choice_filter(t);
	turnlock_give(&t->lock);
	err = opener_new(on_answer, t, &t->opener);
	if (!err)
		err = start_builders(t);
	if (!err)
		err = start_thread(&t->tracker_thread, &t->tracker_runs, tracker_main, t);
	return err;
}

void tracker_free(struct tracker *t)
{
	size_t i;

	if (!t)
		return;
	atomic_store(&t->stopping, true);
	turnlock_take(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->builder_wake);
	pthread_cond_broadcast(&t->asked_wake);
	turnlock_give(&t->lock);
	if (t->wake_fd >= 0)
		tracker_wake(t);
	if (t->tracker_runs)
		pthread_join(t->tracker_thread, NULL);
	for (i = 0; i < BUILDERS; i++)
		if (t->builders[i].runs)
			pthread_join(t->builders[i].thread, NULL);
	t->say = NULL;
	rescan_free(t);
	opener_free(t->opener);
	asked_free(t->asked);
	processes_free(t);
	if (t->shards && t->lists)
		objects_free(t);
	free(t->garbage);
	commands_free(t);
	choice_free(t);
	sideband_free(t->sideband);
	kernelcode_free(t->kernel_code);
	shards_free(t->shards);
	shards_free(t->lists);
	quota_free(&t->mappings);
	quota_free(&t->bytes);
	for (i = 0; i < BUILDERS; i++)
		wide_rules_free(t->builders[i].wide);
	wide_rules_free(t->wide);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	pthread_cond_destroy(&t->builder_wake);
	pthread_cond_destroy(&t->asked_wake);
	pthread_cond_destroy(&t->has_read);
	turnlock_destroy(&t->lock);
	pthread_mutex_destroy(&t->posted_lock);
	free(t);
}

struct kernelcode *tracker_kernel_code(struct tracker *t)
{
	return t->kernel_code;
}

void tracker_keep_dead(struct tracker *t, uint64_t ns)
{
	atomic_store(&t->keep_dead, ns > KEEP_DEAD_NS ? ns : KEEP_DEAD_NS);
}
