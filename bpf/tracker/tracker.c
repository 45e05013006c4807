// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tracker's own thread: it reads side-band records and commands, changes what is known, and
 * publishes. The builder threads (builder.c) compile tables and free garbage.
 */
#include "bpf/tracker/tracker_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bpf/sampler/kernelcode.h"
#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/pidns.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/shardmaps.h"
#include "bpf/tracker/opener.h"
#include "bpf/tracker/sideband.h"
#include "symbols/base/memory.h"
#include "symbols/base/thread.h"
#include "symbols/files/kernelclock.h"

#define KEEP_DEAD_NS   (5ull * 1000000000)
#define TRACKER_NICE   (-10) /* a new process cannot be walked until it is known */
#define SCAN_NS	       (1000ull * 1000000)
#define OPEN_MAX_FILES 4096u
#define WATCH_NS       (1000ull * 1000000)

/* --- the allocators' memory ------------------------------------------------------------------ */

static int shard_create(void *arg, unsigned int i)
{
	struct tracker *t = arg;

	t->shard_since[i] = clock_now();
	return shardmaps_create(sampler_shards(t->sampler), i);
}

static void shard_destroy(void *arg, unsigned int i)
{
	shardmaps_destroy(sampler_shards(((struct tracker *)arg)->sampler), i);
}

static int shard_write(void *arg, unsigned int i, uint32_t at, const uint32_t *words,
		       uint32_t count)
{
	return shardmaps_write(sampler_shards(((struct tracker *)arg)->sampler), i, at, words,
			       count);
}

/* The map_lists map is as large as a shard, so the same allocator serves it. */
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
	memcpy((uint32_t *)sampler_memory(t->sampler)->map_entries + at, words,
	       count * sizeof(*words));
	return 0;
}

/* --- the thread ------------------------------------------------------------------------------ */

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
	struct tracker *t = arg;

	if (o->request->kind == OPEN_MAPPED)
		mappings_on_answer(&t->mappings, o, a, fd);
	else if (o->request->kind == OPEN_CODE)
		runcode_on_answer(&t->runcode, o, a, fd);
	else if (o->request->kind == OPEN_RUNTIME)
		runtimes_on_answer(&t->runtimes, o, a);
	else
		asked_on_answer(t, o, a, fd);
}

/* CPUs come and go; true: records may be missing. */
static bool watch_cpus(struct tracker *t, uint64_t now)
{
	int changes;

	if (now - t->watched < WATCH_NS)
		return false;
	t->watched = now;
	changes = sideband_watch(t->sideband);
	if (changes >= 0)
		notices_renew(&t->notices, NOTICE_UNWATCHED_CPU);
	else if (notices_first(&t->notices, NOTICE_UNWATCHED_CPU))
		notices_tell(&t->notices, 1,
			     "cannot follow the processes on a CPU that came online: %s",
			     strerror(-changes));
	return changes > 0;
}

static void read_records(struct tracker *t)
{
	const uint64_t until = kernelclock_now();
	uint32_t generation;

	t->lost_records += sideband_read(t->sideband, on_event, t);
	t->told_until = until;
	generation = kernelcode_generation(t->kernel_code);
	if (generation != t->kernel_told && !sampler_set_kernel_code(t->sampler, generation))
		t->kernel_told = generation;
	if (sideband_has_gap(t->sideband))
		rescan_begin(t);
}

static bool is_answered(const struct pollfd *fds)
{
	for (size_t i = 0; i < OPENHELPERS; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* Each reading uses up `each` ns; PACE_AT_ONCE readings may be used in advance. */
uint64_t pace_wait(struct pace *pace, uint64_t each, bool has_read, uint64_t now)
{
	const uint64_t advance = now + (PACE_AT_ONCE - 1) * each;

	if (has_read) {
		if (pace->until < now)
			pace->until = now;
		pace->until += each;
	}
	if (pace->until > advance + each)
		pace->until = advance + each;
	return pace->until > advance ? pace->until - advance : 0;
}

/* Waits until there is something to do; fds[0] is for records, fds[1] the wake_fd. */
static void wait_for_work(struct tracker *t, struct pollfd *fds, bool again, struct pace *pace)
{
	const bool has_read = fds[0].fd < 0 || fds[0].revents;
	const uint64_t pause =
		pace_wait(pace, sampler_checks_lists(t->sampler) ? PACE_FILES_NS : PACE_NS,
			  has_read, clock_now());
	const int opener = opener_wait(t->opener);
	const int most = opener >= 0 ? opener : runcode_wait(&t->runcode);
	const int ms = !t->rescan.started || t->publisher.publishing ? 0
		       : again					     ? 1
			       : runtimes_wait(&t->runtimes, most);
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

static void *tracker_main(void *arg)
{
	struct tracker *t = arg;
	struct pollfd fds[2 + OPENHELPERS] = {
		{.fd = sideband_fd(t->sideband), .events = POLLIN},
		{.fd = t->wake_fd, .events = POLLIN},
	};
	bool again = false, more, changed, ending, raised = false;
	struct pace pace = {0};
	uint64_t now, keep;

	turnlock_take(&t->lock);
	t->mappings.reader = pthread_self();
	t->mappings.has_reader = true;
	/* Those that -p names are read first, so that their tables are built first. */
	for (size_t i = 0; i < t->targets.filter->npids; i++)
		process_scan(t, t->targets.filter->pids[i]);
	rescan_begin(t);
	while (!t->stop) {
		wait_for_work(t, fds, again, &pace);
		now = clock_now();
		changed = watch_cpus(t, now);
		read_records(t);
		if (changed)
			rescan_begin(t);
		more = rescan_turn(t);
		/*
		 * The machine may be busy; without the privilege records are read later. Only after
		 * the existing processes have been read: thousands of them would keep the
		 * collector, which has its usual weight, from naming the first samples.
		 */
		if (!raised && t->rescan.started) {
			setpriority(PRIO_PROCESS, (id_t)gettid(), TRACKER_NICE);
			raised = true;
		}
		commands_take(t);
		idlefile_ask(&t->idlefiles);
		if (is_answered(fds + 2) || opener_wait(t->opener) >= 0)
			opener_turn(t->opener, clock_now());
		now = clock_now();
		stale_turn(t, now);
		targets_look(&t->targets, now);
		ending = targets_watch(&t->targets, now);
		if (process_refresh(t))
			read_records(t);
		again = publish_some(&t->publisher) || more || t->rescan.proc || ending;
		/* The time since boot may be shorter than the one for which the dead are kept. */
		keep = atomic_load(&t->keep_dead);
		process_bury(t, now > keep ? now - keep : 0);
		runcode_turn(&t->runcode, now);
		runtimes_turn(&t->runtimes, now);
		/* What they ask goes to the helpers at once, not after the wait. */
		if (opener_wait(t->opener) >= 0)
			opener_turn(t->opener, clock_now());
		if (now - t->evictor.scanned >= SCAN_NS)
			evict_scan(&t->evictor, now);
		idlefile_look(&t->idlefiles, now);
		asked_age(t, now);
	}
	turnlock_give(&t->lock);
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------ */

void tracker_connect(struct tracker *t)
{
	t->garbage.sampler = t->maplists.sampler = t->publisher.sampler = t->sampler;
	t->targets.sampler = t->evictor.sampler = t->builders.sampler = t->sampler;
	t->garbage.wake = t->objects.queue_wake = &t->builders.wake;
	t->garbage.tables = t->objects.shards = t->evictor.shards = t->shards;
	t->publisher.lock = t->mappings.lock = t->builders.lock = &t->lock;
	t->idlefiles.wake_fd = t->builders.wake_fd = t->wake_fd;
	t->maplists.garbage = t->publisher.garbage = t->objects.garbage = &t->garbage;
	t->evictor.garbage = t->builders.garbage = &t->garbage;
	t->publisher.maps = &t->maplists;
	t->publisher.procs = t->objects.procs = t->idlefiles.procs = &t->procs;
	t->mappings.procs = t->targets.procs = t->evictor.procs = t->builders.procs = &t->procs;
	t->publisher.notices = t->objects.notices = t->idlefiles.notices = &t->notices;
	t->mappings.notices = t->targets.notices = t->builders.notices = &t->notices;
	t->idlefiles.objects = t->mappings.objects = t->targets.objects = &t->objects;
	t->evictor.objects = t->builders.objects = &t->objects;
	t->mappings.idlefiles = t->evictor.idlefiles = &t->idlefiles;
	t->objects.publisher = t->evictor.publisher = &t->publisher;
	t->evictor.targets = t->runcode.targets = t->runtimes.targets = &t->targets;
	t->runcode.sampler = t->runtimes.sampler = t->sampler;
	t->runcode.procs = t->runtimes.procs = &t->procs;
	t->runtimes.publisher = &t->publisher;
	t->runtimes.notices = t->runcode.notices = &t->notices;
	t->runcode.objects = &t->objects;
	t->builders.evictor = &t->evictor;
}

int tracker_new(struct sampler *sampler, const struct tracker_filter *filter,
		unsigned int shards_max, tracker_say *say, void *arg, struct tracker **out)
{
	static const struct shards_ops shard_ops = {shard_create, shard_destroy, shard_write,
						    false};
	static const struct shards_ops list_ops = {list_create, NULL, list_write, true};
	struct tracker *t = calloc(1, sizeof(*t));
	struct rlimit files;
	int err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->sampler = sampler;
	t->notices = (struct notices){.say = say, .arg = arg};
	atomic_init(&t->keep_dead, KEEP_DEAD_NS);
	turnlock_init(&t->lock);
	pthread_mutex_init(&t->posted.lock, NULL);
	pthread_cond_init(&t->mappings.has_read, NULL);
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->shards = shards_new(shards_max, &shard_ops, t);
	t->maplists.shards = shards_new(1, &list_ops, t);
	t->asked = asked_new();
	tracker_connect(t);
	/* Symbol files, maps and events need descriptors, too. */
	t->idlefiles.open_max = OPEN_MAX_FILES;
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur / 3 < t->idlefiles.open_max)
		t->idlefiles.open_max = (unsigned int)(files.rlim_cur / 3);
	t->mappings.quota.max = memory_limit(MEMORY_MAPPINGS) / sizeof(struct mapping);
	t->objects.bytes.max = memory_limit(MEMORY_OBJECTS) / 2;
	err = builders_init(&t->builders);
	if (t->wake_fd < 0 || !t->shards || !t->maplists.shards || !t->asked)
		err = -ENOMEM;
	if (!err)
		err = targets_init(&t->targets, filter);
	if (!err)
		err = kernelcode_new(&t->kernel_code);
	if (!err)
		err = sideband_new(NULL, 0, &t->sideband);
	if (err)
		tracker_free(t);
	else
		*out = t;
	return err;
}

int tracker_start(struct tracker *t)
{
	uint64_t caps;
	int err;

	/* The kernel hides mappings and addresses of other users' processes. */
	if (kernelinfo_status("CapEff", 16, &caps) && !(caps >> CAP_SYS_PTRACE & 1))
		notices_tell(&t->notices, 1,
			     "without CAP_SYS_PTRACE most user stacks cannot be walked, nor named");

	if (!pidns_is_initial())
		notices_tell(&t->notices, 0,
			     "in a PID namespace: samples of processes outside of it, and of the "
			     "kernel's threads, are counted, not shown");
	turnlock_take(&t->lock);
	targets_filter(&t->targets);
	turnlock_give(&t->lock);
	err = opener_new(on_answer, t, &t->opener);
	t->mappings.opener = t->idlefiles.opener = t->runcode.opener = t->runtimes.opener =
		t->opener;
	if (!err)
		err = builders_start(&t->builders);
	if (!err) {
		err = thread_start(&t->thread, tracker_main, t);
		t->runs = !err;
	}
	return err;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	turnlock_take(&t->lock);
	t->stop = true;
	if (t->asked)
		asked_stop(t->asked);
	turnlock_give(&t->lock);
	if (t->runs) {
		eventfd_write(t->wake_fd, 1);
		pthread_join(t->thread, NULL);
	}
	builders_stop(&t->builders);
	t->notices.say = NULL;
	if (t->rescan.proc)
		closedir(t->rescan.proc);
	opener_free(t->opener);
	asked_free(t->asked);
	processes_free(t);
	objects_free(&t->objects);
	free(t->garbage.blocks);
	commands_free(t);
	targets_free(&t->targets);
	sideband_free(t->sideband);
	kernelcode_free(t->kernel_code);
	shards_free(t->shards);
	shards_free(t->maplists.shards);
	quota_free(&t->mappings.quota);
	quota_free(&t->objects.bytes);
	quota_free(&t->runcode.asks);
	builders_free(&t->builders);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	pthread_cond_destroy(&t->mappings.has_read);
	turnlock_destroy(&t->lock);
	pthread_mutex_destroy(&t->posted.lock);
	free(t);
}

void tracker_calm(struct tracker *t)
{
	turnlock_take(&t->lock);
	t->runcode.calm = true;
	turnlock_give(&t->lock);
}

struct kernelcode *tracker_kernel_code(struct tracker *t)
{
	return t->kernel_code;
}

void tracker_keep_dead(struct tracker *t, uint64_t ns)
{
	atomic_store(&t->keep_dead, ns);
}
