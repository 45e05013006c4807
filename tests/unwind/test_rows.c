// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks cache rows and the trails of threads. Here processes map and unmap files at the same
 * addresses and call exec, and their lists are published later. Each walk must equal one without
 * caches. After each walk, every cached row that may be used must equal that of its version's list.
 *
 * Covers: unwind/rows.h unwind/trail.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>

struct walk;
static void keep_rule(struct walk *w, __u32 rule);
static __u32 recall(struct walk *w, __u64 addr);
static int believe(__u32 entry);
#define WALK_KEEP(w, rule)     keep_rule(w, rule)
#define STEP_RECALL(w, addr)   recall(w, addr)
#define STEP_BELIEVE(w, entry) believe(entry)

#include "tests/unwind/stepfake.h"
#include "tests/unwind/walkalong.h"

#define PROCS	  4u
#define FILES	  6u
#define SLOTS	  8u /* places of the text where a file can be mapped */
#define GRANULES  4u
#define SLOT_SIZE (GRANULES * GRANULE_SIZE)
#define ROWS	  (GRANULES * 8u)
#define ROW_BYTES (GRANULE_SIZE / 8u)
#define BLOCK	  0x100u /* words from a file's table to the next one's */
#define LIST	  64u	 /* entries of the map from a list to the next one */
#define LISTS	  (MAP_ENTRIES_MAX / LIST)
#define DEPTH_MAX 120u
#define WALKS	  40000u
#define TOP	  (STACK + STACK_SIZE - 256)

static uint64_t seed = 0x9d2c5680;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

/* --- the world ------------------------------------------------------------------------------- */

static struct row file_rows[FILES][ROWS];

/* Of all processes: the file that is mapped at each slot (1 ...; 0: none), as it is and as it was
 * published. */
static struct proc {
	unsigned int mapped[SLOTS], published[SLOTS];
	uint32_t changes; /* as the kernel counts those of mapped */
	uint64_t exec_id;
	uint32_t version, list_at, list_count; /* as user space has published them */
	uint64_t entered;		       /* exec_id of the entry */
} procs[PROCS];

static struct proc *current;
static int checks; /* user space may be behind, and entries are checked; else it is not */
static uint32_t versions, next_list;
static uint64_t execs;
static uint32_t stamps[MAP_ENTRIES_MAX]; /* of the entries: when each was checked */
static uint32_t tags[MAP_ENTRIES_MAX];	 /* the file of each */

static uint64_t slot_start(unsigned int slot)
{
	return TEXT + (uint64_t)slot * SLOT_SIZE;
}

/* All files have the same rule for the first row: that of the outermost frame. */
static void make_files(void)
{
	for (unsigned int f = 0; f < FILES; f++) {
		for (unsigned int i = 0; i < ROWS; i++)
			file_rows[f][i] = (struct row){
				ROW_BYTES * i,
				random_below(4) ? RULE_FRAME(ROW_SP, 16 + 8 * random_below(12), 0)
						: RULE_FRAME(ROW_FP, 16, 16)};
		file_rows[f][0].rule = RULE(ROW_OUTERMOST, 0);
		put_block(f * BLOCK, GRANULES, file_rows[f], ROWS);
	}
}

static uint32_t rule_of(unsigned int file, uint64_t addr)
{
	return file_rows[file - 1][(addr - TEXT) % SLOT_SIZE / ROW_BYTES].rule;
}

/* User space has read the mappings, and publishes another list. The old one's place is used again.
 */
static void publish(struct proc *p)
{
	uint32_t at = next_list++ % LISTS * LIST;

	memcpy(p->published, p->mapped, sizeof(p->mapped));
	p->list_at = at;
	p->list_count = 0;
	for (unsigned int s = 0; s < SLOTS; s++) {
		const uint64_t start = slot_start(s);

		if (!p->mapped[s])
			continue;
		host.entries[at] = map_entry_rows(start, start + SLOT_SIZE, start,
						  FRAME_OF(p->mapped[s], start),
						  (p->mapped[s] - 1) * BLOCK, GRANULES);
		tags[at] = p->mapped[s];
		stamps[at++] = 0;
		p->list_count++;
	}
	p->version = ++versions;
	p->entered = 0;
}

static void exec(struct proc *p)
{
	for (unsigned int s = 0; s < SLOTS; s++)
		p->mapped[s] = random_below(4) ? 1 + random_below(FILES) : 0;
	p->mapped[random_below(SLOTS)] = 1;
	p->exec_id = ++execs;
	p->changes = 1;
}

static void change_world(void)
{
	struct proc *p = &procs[random_below(PROCS)];

	switch (random_below(6)) {
	case 0: /* unmapped, or another file in its place */
	case 1:
		p->mapped[random_below(SLOTS)] = random_below(3) ? 1 + random_below(FILES) : 0;
		p->changes++;
		break;
	case 2:
		if (!random_below(4))
			exec(p);
		break;
	case 3:
	case 4:
		publish(p);
		break;
	default:
		break;
	}
	if (!checks)
		publish(p);
}

/* As stamp_of of bpf/prog/walker.bpf.h, without collisions. */
static uint32_t stamp_now(void)
{
	return (uint32_t)(current->exec_id << 12 | (current->changes & 4095));
}

static int file_at(uint64_t addr)
{
	const uint64_t slot = (addr - TEXT) / SLOT_SIZE;

	return addr >= TEXT && slot < SLOTS ? (int)current->mapped[slot] : 0;
}

/* As entry_holds. */
static int holds(__u32 entry, __u64 addr)
{
	if (stamps[entry] == stamp_now())
		return 1;
	if ((int)tags[entry] != file_at(addr))
		return 0;
	stamps[entry] = stamp_now();
	return 1;
}

static int believe(__u32 entry)
{
	return !checks || stamps[entry] == stamp_now();
}

/* --- caches ---------------------------------------------------------------------------------- */

static struct found_row rows[1 << ROWS_SHIFT];
static struct trail trails[PROCS]; /* of one thread a process, but see TRAIL_OF */
static struct trail *trail;	   /* NULL: nothing is kept or recalled in this walk */
static uint32_t version;	   /* of the walk; 0: likewise */
/* Two processes share each, as threads do whose numbers have one hash. */
#define TRAIL_OF(p) (&trails[(p) / 2])

static __u32 recall(struct walk *w, __u64 addr)
{
	return version ? row_recall(w, &rows[rows_place(addr, version)], addr, version) : 0;
}

/* As walk_keep_rule. */
static void keep_rule(struct walk *w, __u32 rule)
{
	const uint32_t kind = RULE_KIND(rule);

	if (!version || (!w->recalled && w->by_file))
		return;
	if (!w->recalled)
		row_keep(w, &rows[rows_place(w->looked_at, version)], rule, version);
	if (kind == ROW_SP || kind == ROW_FP)
		trail_note(w, trail, rule);
}

/* --- walks ----------------------------------------------------------------------------------- */

/*
 * A stack of the present process: return addresses in what is mapped now, by the rules of that, or
 * with some words changed by those of the walk before.
 */
static void make_stack(uint64_t *pc, uint64_t *sp, uint64_t *fp)
{
	const unsigned int depth = 1 + random_below(DEPTH_MAX);
	uint64_t at = SP, frame;

	*sp = SP;
	*fp = SP + 64;
	*pc = 0;
	for (unsigned int i = 0; i < depth && at + 512 < TOP; i++) {
		const unsigned int slot = random_below(SLOTS);
		const unsigned int file = current->mapped[slot];
		const uint64_t addr = slot_start(slot) + (i + 1 == depth ? 0 : ROW_BYTES) +
				      random_below(SLOT_SIZE - ROW_BYTES);
		uint32_t rule;

		if (!file)
			continue;
		rule = rule_of(file, addr);
		if (!*pc)
			*pc = addr;
		else
			store(at - 8, addr + 1);
		frame = RULE_CFA(rule);
		if (RULE_KIND(rule) == ROW_FP) {
			store(at,
			      at + 16 + 64); /* where the caller's FP is; at is FP of this one */
			frame = 16;
		}
		if (RULE_KIND(rule) == ROW_OUTERMOST)
			break;
		at += frame;
	}
	if (!*pc)
		*pc = TEXT + 5;
}

/* As take_list of bpf/prog/sample.bpf.h. False: the walk has no list. */
static int begin_lists(struct walk *w, int keeps)
{
	struct trail *t = TRAIL_OF(current - procs);
	const uint32_t tid = (uint32_t)(current - procs) + 1;

	trail = NULL;
	version = 0;
	if (!current->entered)
		current->entered = current->exec_id;
	if (current->entered != current->exec_id)
		return 0;
	w->list_at = current->list_at;
	w->list_count = current->list_count;
	if (!keeps)
		return 1;
	version = current->version;
	trail = t;
	trail_begin(w, t, t->exec_id == current->exec_id && t->tid == tid && t->version == version);
	t->exec_id = current->exec_id;
	t->tid = tid;
	t->version = version;
	return 1;
}

/* --- the check ------------------------------------------------------------------------------- */

static struct proc *proc_of(uint32_t of)
{
	for (unsigned int i = 0; i < PROCS; i++)
		if (procs[i].version == of)
			return &procs[i];
	return NULL;
}

/* The entry is of the process's list, and its file has the rule at all addresses of the range. */
static void check_kept(const struct proc *p, uint32_t entry, uint64_t start, uint64_t size,
		       uint64_t to_frame, uint32_t rule)
{
	const struct map_entry *e = &host.entries[entry];

	assert_in_range(entry, p->list_at, p->list_at + p->list_count - 1);
	assert_true(size > 0);
	assert_in_range(start, e->start, e->end - 1);
	assert_in_range(start + size - 1, e->start, e->end - 1);
	assert_int_equal(to_frame, e->frame);
	for (uint64_t addr = start; addr < start + size; addr++)
		assert_int_equal(rule_of(p->published[(addr - TEXT) / SLOT_SIZE], addr), rule);
}

static unsigned int check_rows(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct found_row *row = &rows[i];
		const struct proc *p = row->version ? proc_of(row->version) : NULL;

		if (!p)
			continue; /* no walk uses it */
		check_kept(p, row->map_at, row->start, row->size, row->to_frame, row->rule);
		n++;
	}
	return n;
}

static unsigned int check_trails(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < PROCS; i++) {
		const struct proc *p = trails[i].version ? proc_of(trails[i].version) : NULL;

		if (!p || trails[i].exec_id != p->exec_id)
			continue;
		for (uint64_t at = trails[i].base; at < trails[i].end; at++) {
			const struct trail_frame *f = trail_at(&trails[i], at);
			const uint32_t rule =
				f->cfa & 1 ? RULE_FRAME(ROW_FP, f->cfa & ~7, (f->span & ~7))
					   : RULE_FRAME(ROW_SP, f->cfa,
							f->span & 1 ? f->span & ~7 : 0);

			check_kept(p, f->map_at, f->pc - 1, 1, f->frame - f->pc, rule);
			n++;
		}
	}
	return n;
}

static void change(int with_checks)
{
	struct walk *w = fake.walk, *kept_walk = calloc(1, sizeof(*w));
	unsigned int again = 0, recalled = 0, none = 0, changed = 0, kept = 0;
	uint64_t pc = 0, sp = 0, fp = 0;

	assert_non_null(kept_walk);
	checks = with_checks;
	host.holds = checks ? holds : NULL;
	memset(rows, 0, sizeof(rows));
	memset(trails, 0, sizeof(trails));
	make_files();
	for (unsigned int i = 0; i < PROCS; i++) {
		exec(&procs[i]);
		publish(&procs[i]);
	}
	for (unsigned int i = 0; i < WALKS; i++) {
		int reason, kept_reason;

		if (!random_below(6))
			change_world();
		if (!i || !random_below(5))
			current = &procs[random_below(PROCS)];
		/* The same stack, as of other threads or before and after a change, or another one.
		 */
		if (!i || !random_below(8))
			make_stack(&pc, &sp, &fp);
		begin(pc, sp, fp, 1);
		if (!begin_lists(w, 1))
			continue;
		w->again = 0;
		kept_reason = walk_along(w, trail, &again);
		recalled += w->again;
		memcpy(kept_walk, w, sizeof(*w));
		/* Behind it, since it checks all entries that it uses. */
		begin(pc, sp, fp, 1);
		begin_lists(w, 0);
		reason = walk_along(w, trail, &none);
		assert_int_equal(kept_reason, reason);
		assert_int_equal(kept_walk->nframes, w->nframes);
		assert_memory_equal(kept_walk->frames, w->frames,
				    w->nframes * sizeof(w->frames[0]));
		assert_memory_equal(kept_walk->sps, w->sps, w->nframes * sizeof(w->sps[0]));
		assert_memory_equal(&kept_walk->hash, &w->hash, sizeof(w->hash));
		changed += reason == WALK_CHANGED;
		if (i % 64)
			continue;
		kept += check_rows() + check_trails();
	}
	print_message(
		"%u frames by trails, %u by rows; %u walks met a change; %u kept rows compared\n",
		again, recalled, changed, kept);
	assert_true(again > WALKS / 2 && recalled > WALKS / 4 && kept > 10000);
	assert_int_equal(changed > 100, checks);
	assert_int_equal(none, 0);
	free(kept_walk);
}

static void test_behind_the_world(void **state)
{
	(void)state;
	change(1);
}

/* Where mappings cannot be checked, the version alone tells what is out of date. */
static void test_versions(void **state)
{
	(void)state;
	change(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_behind_the_world, setup, teardown),
		cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
