/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files are opened when the first stack with such code arrives, and stay open: what a process
 * wrote before it ended can still be read then, but not be found. A round has a budget of bytes,
 * since the collector must come back in time. What was written before the first sample comes as a
 * whole, and names nothing until it is read: another budget is for that, which takes longer to fill
 * again. The rest comes in the next rounds. Users share these bytes and the memory for names
 * (symbols/base/quota.h).
 */
#include "tui/symbolize/jit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/base/clock.h"
#include "symbols/base/hash.h"
#include "bpf/tracker/tracker.h"
#include "symbols/names/codemap.h"
#include "symbols/names/jitdump.h"
#include "symbols/base/memory.h"
#include "symbols/names/perfmap.h"
#include "symbols/files/procfile.h"
#include "symbols/base/quota.h"

#define ALL_BYTES     memory_limit(MEMORY_JIT)
#define PROCESS_BYTES (ALL_BYTES / 3) /* of names of one process, by each kind of file */
#define ROUND_BYTES   (ALL_BYTES / 6) /* read of all files in a round */
#define FIRST_BYTES   ALL_BYTES	      /* and beyond that in FIRST_NS */
#define FIRST_NS      (10ull * 1000000000)
#define STEP_BYTES    ((size_t)1 << 20) /* between two looks at the clock */
#define PROCESSES_MAX 1024u
#define UNUSED_NS                                                                                  \
	(60ull * 1000000000) /* files unused for so long are closed, and read anew if needed */
#define UNKNOWN_USER 65534u  /* for a process that was gone before it was looked at */

#define EARLY_MAX  64u
#define PLACES_MAX 4096u /* address checks in a round */
#define FILES_MAX  128u	 /* searches for files in a round */
#define AGAIN_NS   150000000ull
#define ROUNDS	   4u /* rounds that files wait to be taken; fewer if rounds are long */
#define WAIT_NS	   30000000000ull

struct jit_process {
	struct tracker_exec key;
	struct perfmap *perfmap;
	struct codemap *by_map;
	struct jitdump *dump; /* NULL: none found yet */
	struct codemap *by_dump;
	struct codemap *by_code; /* what the process describes in its memory; NULL: none yet */
	uint64_t code_version;
	uint64_t looked; /* round */
	uint64_t time;	 /* ns, of that read */
	uint64_t version;
	uint64_t doubted; /* round in which code replaced other code; 0: none lately */
	bool behind;	  /* more was written than has been read */
	bool hotspot;
	bool unread; /* may have another perf map: not known in time, or it has ended since */
	uid_t uid;   /* that its memory is charged to */
	size_t charged;
	uint64_t refused; /* ns, when its user had too much; 0: not refused */
	bool hashed;
	UT_hash_handle hh;
};

/*
 * Files of processes that may be gone when their slice is named: they are opened as soon as a stack
 * with code made by the process arrives. The cost of a flood of stacks is bounded: a round has a
 * number of address checks and of searches for files, and each process is checked at intervals.
 */
struct jit_early {
	pid_t pid; /* 0: free */
	uint64_t time;
	uint64_t round;
	struct perfmap *map;
	struct jitdump *dump;
};

struct jit {
	struct tracker *tracker;
	struct fileasker *asker;
	struct jit_early early[EARLY_MAX];
	unsigned int places, files;    /* left in the round, for these */
	struct jit_process *processes; /* least recently used first */
	uint64_t round;
	struct quota bytes; /* of all names */
	struct quota reads; /* bytes read in a round */
	struct quota first; /* and beyond it, since the time in `filled` */
	uint64_t filled;
	uint64_t until; /* 0: reading may take as long as the bytes do */
};

/* --- files of processes that may end --------------------------------------------------------- */

static void early_close(struct jit_early *early)
{
	perfmap_free(early->map);
	jitdump_free(early->dump);
	*early = (struct jit_early){0};
}

static bool is_made(struct jit *jit, pid_t pid, uint64_t addr)
{
	struct code_place at;

	jit->places--;
	tracker_place(jit->tracker, &(struct tracker_exec){.pid = pid}, addr, &at);
	if (at.object)
		object_put(jit->tracker, at.object);
	return at.kind == PLACE_JIT;
}

/* The slot of the process, else the least recently used one. */
static struct jit_early *early_of(struct jit *jit, pid_t pid)
{
	struct jit_early *oldest = &jit->early[0];

	for (unsigned int i = 0; i < EARLY_MAX; i++) {
		if (jit->early[i].pid == pid)
			return &jit->early[i];
		if (jit->early[i].time < oldest->time)
			oldest = &jit->early[i];
	}
	return oldest;
}

static void open_early(struct jit *jit, struct jit_early *early)
{
	struct procfile_owner owner;
	int fd;

	jit->files--;
	if (procfile_owner(early->pid, &owner))
		return;
	if (!early->map)
		early->map = perfmap_new();
	if (early->map && !perfmap_open(early->map, &owner, jit->asker)) {
		perfmap_free(early->map);
		early->map = NULL;
	}
	if (early->dump)
		return;
	fd = tracker_open_mapped(jit->tracker, &(struct tracker_exec){.pid = early->pid},
				 jitdump_is_name);
	if (fd >= 0 && !jitdump_new(fd, &early->dump))
		jitdump_set_early(early->dump);
}

/* On failure the process has no files. */
void jit_seen(struct jit *jit, pid_t pid, uint64_t addr)
{
	struct jit_early *early = early_of(jit, pid);
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (early->pid == pid && (now < early->time + AGAIN_NS || early->map))
		return;
	if (!jit->places || !jit->files || !is_made(jit, pid, addr))
		return;
	if (early->pid != pid)
		early_close(early);
	early->pid = pid;
	early->time = now;
	early->round = jit->round;
	open_early(jit, early);
}

/* What came in a round is named at the end of that or the next one. */
static bool is_over(const struct jit *jit, const struct jit_early *early, uint64_t now)
{
	uint64_t rounds = jit->round - early->round;

	return rounds > ROUNDS || (rounds > 1 && now - early->time > WAIT_NS);
}

/* --- names ----------------------------------------------------------------------------------- */

int jit_new(struct tracker *tracker, struct fileasker *asker, struct jit **out)
{
	struct jit *jit = calloc(1, sizeof(*jit));

	*out = jit;
	if (!jit)
		return -ENOMEM;
	jit->places = PLACES_MAX;
	jit->files = FILES_MAX;
	jit->tracker = tracker;
	jit->asker = asker;
	jit->round = 1;
	jit->bytes.max = ALL_BYTES;
	jit->reads.max = ROUND_BYTES;
	jit->first.max = FIRST_BYTES;
	return 0;
}

void jit_wait_until(struct jit *jit, uint64_t until)
{
	jit->until = until;
}

static void process_free(struct jit_process *p)
{
	jitdump_free(p->dump);
	perfmap_free(p->perfmap);
	codemap_free(p->by_dump);
	codemap_free(p->by_map);
	codemap_free(p->by_code);
	free(p);
}

static void process_drop(struct jit *jit, struct jit_process *p)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the table is freed, not the item */
	HASH_DEL(jit->processes, p);
	quota_give(&jit->bytes, p->uid, p->charged);
	process_free(p);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	while (jit->processes)
		process_drop(jit, jit->processes);
	for (unsigned int i = 0; i < EARLY_MAX; i++)
		early_close(&jit->early[i]);
	quota_free(&jit->bytes);
	quota_free(&jit->reads);
	quota_free(&jit->first);
	free(jit);
}

static size_t process_bytes(const struct jit_process *p)
{
	return sizeof(*p) + codemap_bytes(p->by_map) + codemap_bytes(p->by_dump) +
	       (p->by_code ? codemap_bytes(p->by_code) : 0);
}

void jit_age(struct jit *jit)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
	struct jit_process *p, *next;
	unsigned int left = HASH_COUNT(jit->processes);

	HASH_ITER(hh, jit->processes, p, next) {
		if (now - p->time < UNUSED_NS && left <= PROCESSES_MAX)
			break;
		left--;
		process_drop(jit, p);
	}
	jit->round++;
	jit->places = PLACES_MAX;
	jit->files = FILES_MAX;
	for (unsigned int i = 0; i < EARLY_MAX; i++)
		if (jit->early[i].pid && is_over(jit, &jit->early[i], now))
			early_close(&jit->early[i]);
	quota_free(&jit->reads);
	jit->reads = (struct quota){.max = ROUND_BYTES};
	if (now - jit->filled < FIRST_NS)
		return;
	jit->filled = now;
	quota_free(&jit->first);
	jit->first = (struct quota){.max = FIRST_BYTES};
}

static struct jit_process *process_new(struct jit *jit, const struct tracker_exec *key)
{
	struct jit_process *p = calloc(1, sizeof(*p));
	struct jit_early *early;

	if (!p)
		return NULL;
	p->key = *key;
	p->version = 1;
	p->uid = UNKNOWN_USER;
	early = early_of(jit, key->pid);
	if (early->pid == key->pid) {
		p->perfmap = early->map;
		p->dump = early->dump;
		*early = (struct jit_early){0};
	}
	if (!p->perfmap)
		p->perfmap = perfmap_new();
	p->by_map = codemap_new(PROCESS_BYTES);
	p->by_dump = codemap_new(PROCESS_BYTES);
	if (!p->perfmap || !p->by_map || !p->by_dump) {
		process_free(p);
		return NULL;
	}
	return p;
}

static bool is_recent(const struct jit *jit, uint64_t round)
{
	return round && jit->round <= round + 1;
}

static bool is_behind(const struct jit_process *p)
{
	return perfmap_is_behind(p->perfmap) || (p->dump && jitdump_is_behind(p->dump));
}

/* Certain names are another version than uncertain ones. */
static void process_doubt(const struct jit *jit, struct jit_process *p, bool lives)
{
	const bool unread =
		(!lives && codemap_was_cleared(p->by_map)) || perfmap_is_unsure(p->perfmap);
	uint64_t by_map, by_dump;
	const bool behind = is_behind(p);

	codemap_find(p->by_dump, 0); /* so that new names are laid over old ones */
	codemap_find(p->by_map, 0);
	by_dump = codemap_last_rewritten(p->by_dump);
	by_map = codemap_last_rewritten(p->by_map);
	if (behind != p->behind || (p->doubted && !is_recent(jit, p->doubted)) ||
	    unread != p->unread)
		p->version++;
	p->behind = behind;
	p->unread = unread;
	p->doubted = by_map > by_dump ? by_map : by_dump;
	if (!is_recent(jit, p->doubted))
		p->doubted = 0;
}

/*
 * The process with the least recently used names, of the same user or, for root, of any. NULL: all
 * are in use in this round.
 */
static struct jit_process *evictable_for(const struct jit *jit, const struct jit_process *of)
{
	struct jit_process *p, *next;

	HASH_ITER(hh, jit->processes, p, next)
		if (p != of && p->looked != jit->round && p->charged &&
		    (p->uid == of->uid || !of->uid))
			return p;
	return NULL;
}

/* Forgets its names, and reads none for a while. */
static void process_refuse(struct jit *jit, struct jit_process *p)
{
	codemap_clear(p->by_map);
	codemap_clear(p->by_dump);
	codemap_free(p->by_code);
	p->by_code = NULL;
	p->code_version = 0;
	perfmap_close(p->perfmap);
	jitdump_free(p->dump);
	p->dump = NULL;
	p->refused = p->time;
	p->version++;
	quota_give(&jit->bytes, p->uid, p->charged);
	p->charged = 0;
}

/* Its names are charged to its user. */
static void process_charge(struct jit *jit, struct jit_process *p, uid_t uid)
{
	const size_t bytes = process_bytes(p);
	struct jit_process *victim;

	quota_give(&jit->bytes, p->uid, p->charged);
	p->charged = 0;
	p->uid = uid;
	while (!quota_take(&jit->bytes, uid, bytes)) {
		victim = evictable_for(jit, p);
		if (!victim) {
			process_refuse(jit, p);
			return;
		}
		process_drop(jit, victim);
	}
	p->charged = bytes;
}

static int add_name(void *arg, uint64_t start, uint64_t size, const char *name)
{
	int err = codemap_add(arg, CODEMAP_NO_INDEX, start, size, name, strlen(name));

	return err == -ENOMEM ? err : 0;
}

/* A description is whole, so its names replace those of the one before. */
static void look_code(struct jit *jit, struct jit_process *p, size_t *budget)
{
	struct codemap *map = *budget ? codemap_new(PROCESS_BYTES) : NULL;
	size_t bytes;

	if (!map)
		return;
	if (tracker_code_names(jit->tracker, &p->key, &p->code_version, add_name, map) != 1) {
		codemap_free(map);
		return;
	}
	codemap_free(p->by_code);
	p->by_code = map;
	p->version++;
	bytes = codemap_bytes(map);
	*budget -= bytes < *budget ? bytes : *budget;
}

/* owner: NULL if the process is gone. At least once, so that it is known whether they have changed.
 */
static void read_files(struct jit *jit, struct jit_process *p, const struct procfile_owner *owner,
		       size_t *budget)
{
	size_t left, step;

	do {
		left = step = *budget < STEP_BYTES ? *budget : STEP_BYTES;
		if (p->dump && jitdump_update(p->dump, p->by_dump, jit->round, &left) > 0)
			p->version++;
		if (perfmap_update(p->perfmap, owner, jit->asker, p->by_map, jit->round, &left) > 0)
			p->version++;
		*budget -= step - left;
		owner = NULL; /* its file was looked up */
	} while (is_behind(p) && left < step &&
		 (!jit->until || clock_ns(CLOCK_MONOTONIC) < jit->until));
}

/* A failure here is retried in the next round; until then there are no new names. */
static void process_look(struct jit *jit, struct jit_process *p)
{
	struct procfile_owner owner;
	bool lives = !procfile_owner(p->key.pid, &owner);
	uid_t uid = lives ? owner.uid : p->uid;
	struct tracker_proc known;
	uint64_t room, first;
	size_t budget, used;
	int fd;

	if (p->refused && p->time < p->refused + UNUSED_NS)
		return;
	p->refused = 0;
	room = quota_room(&jit->reads, uid);
	first = quota_room(&jit->first, uid);
	budget = room + first;

	/* The PID may belong to another program by now. */
	if (lives && tracker_proc(jit->tracker, &p->key, &known) && known.exited)
		lives = false;
	p->hotspot = tracker_runs_hotspot(jit->tracker, &p->key);
	if (!p->dump) {
		fd = tracker_open_mapped(jit->tracker, &p->key, jitdump_is_name);
		if (fd >= 0)
			jitdump_new(fd, &p->dump);
	}
	read_files(jit, p, lives ? &owner : NULL, &budget);
	look_code(jit, p, &budget);
	used = room + first - budget;
	quota_take(&jit->reads, uid, used < room ? used : room);
	quota_take(&jit->first, uid, used < room ? 0 : used - room);
	process_doubt(jit, p, lives);
	process_charge(jit, p, uid);
}

/* NULL: no memory. */
static struct jit_process *process_get(struct jit *jit, const struct tracker_exec *of)
{
	struct tracker_exec key;
	struct jit_process *p;

	memset(&key, 0, sizeof(key)); /* and the padding */
	key.pid = of->pid;
	key.start_stack = of->start_stack;
	key.exec_id = of->exec_id;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): hashed as bytes */
	HASH_FIND(hh, jit->processes, &key, sizeof(key), p);
	if (p && p->looked == jit->round)
		return p;
	if (p)
		HASH_DEL(jit->processes, p);
	else
		p = process_new(jit, &key);
	if (!p)
		return NULL;
	p->looked = jit->round;
	p->time = clock_ns(CLOCK_MONOTONIC_COARSE);
	p->hashed = true;
	HASH_ADD(hh, jit->processes, key, sizeof(p->key), p);
	if (!p->hashed) {
		process_free(p);
		return NULL;
	}
	process_look(jit, p);
	return p;
}

const char *jit_find(struct jit *jit, const struct tracker_exec *of, uint64_t addr)
{
	struct jit_process *p = process_get(jit, of);
	struct codemap *map;
	const char *name;

	if (!p || p->behind)
		return NULL;
	map = p->by_dump;
	name = codemap_find(map, addr);
	if (!name) {
		map = p->by_map;
		name = codemap_find(map, addr);
	}
	if (!name && p->by_code)
		return codemap_find(p->by_code, addr);
	if (name &&
	    ((p->unread && map == p->by_map) || is_recent(jit, codemap_rewritten(map, addr))))
		return JIT_REWRITTEN;
	return name;
}

bool jit_is_hotspot(struct jit *jit, const struct tracker_exec *of)
{
	const struct jit_process *p = process_get(jit, of);

	return p && p->hotspot;
}

const char *jit_extent(struct jit *jit, const struct tracker_exec *of, uint64_t addr,
		       uint64_t *start, uint64_t *end)
{
	struct jit_process *p = process_get(jit, of);
	const char *name;

	if (!p || p->behind)
		return NULL;
	name = codemap_extent(p->by_dump, addr, start, end);
	if (!name)
		name = codemap_extent(p->by_map, addr, start, end);
	if (!name && p->by_code)
		name = codemap_extent(p->by_code, addr, start, end);
	return name;
}

uint64_t jit_version(struct jit *jit, const struct tracker_exec *of)
{
	const struct jit_process *p = process_get(jit, of);

	return p ? p->version : 1;
}
