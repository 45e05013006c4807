// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See targets.h. No record reports setuid or a move to another control group, so where rules depend
 * on these, processes are looked at once a second.
 */
#include "bpf/tracker/targets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/identity.h"
#include "bpf/tracker/mapping.h"
#include "bpf/tracker/notices.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/selector.h"
#include "bpf/tracker/tracker.h"
#include "symbols/files/cgroup.h"
#include "symbols/files/procfile.h"
#include "symbols/files/procstat.h"

#define LOOK_NS	   (1000ull * 1000000)
#define LOOK_MAX   512u	 /* processes in that time; some 10 us each */
#define PIDFDS_MAX 256u	 /* files of processes need descriptors, too */
#define LOOK_PASS  4096u /* including kernel threads, which are only skipped */

/* Bits of process.groups behind those of the rules. */
#define BIT_CGROUP    (1u << TARGET_RULES)
#define BIT_CONTAINER (2u << TARGET_RULES)

struct target_rule {
	struct selector selector;
	bool on;
	uint32_t bit; /* in process.groups */
};

/* --- users and groups of processes ------------------------------------------------------------ */

static bool needs_groups(const struct targets *ts)
{
	bool needs = ts->by_options && (ts->filter->cgroup || ts->filter->container);

	for (size_t i = 0; i < ts->nrules && !needs; i++)
		needs = selector_is_of_group(&ts->rules[i]->selector);
	return needs;
}

static bool needs_users(const struct targets *ts)
{
	bool needs = ts->by_options && ts->filter->user_given;

	for (size_t i = 0; i < ts->nrules && !needs; i++)
		needs = ts->rules[i]->selector.kind == SELECTOR_USER;
	return needs;
}

void targets_read(const struct targets *ts, struct process *p)
{
	const struct tracker_filter *f = ts->filter;
	char *text = needs_groups(ts) ? procfile_text(p->pid, "cgroup") : NULL;
	size_t length = text ? strlen(text) : 0;

	if (!text)
		return; /* not needed, or the process is ending */
	p->groups = 0;
	for (size_t i = 0; i < ts->nrules; i++)
		if (selector_fits_group(&ts->rules[i]->selector, text, length))
			p->groups |= ts->rules[i]->bit;
	if (f->cgroup && cgroup_fits(text, length, f->cgroup))
		p->groups |= BIT_CGROUP;
	if (f->container && cgroup_fits_container(text, length, f->container))
		p->groups |= BIT_CONTAINER;
	free(text);
}

void targets_look(struct targets *ts, uint64_t now)
{
	struct process *p = proctable_live(ts->procs, ts->look_at);
	size_t passed, looked = 0, all = HASH_COUNT(ts->procs->live);
	bool groups = needs_groups(ts);

	if (now - ts->looked < LOOK_NS || (!groups && !needs_users(ts)))
		return;
	ts->looked = now;
	for (passed = 0; passed < LOOK_PASS && passed < all && looked < LOOK_MAX; passed++) {
		if (!p)
			p = ts->procs->live;
		if (!p->kthread) {
			looked++;
			procstat_uid(p->pid, &p->uid);
			targets_read(ts, p);
			targets_apply(ts, p);
		}
		p = p->hh.next;
	}
	ts->look_at = p ? p->pid : 0;
}

/* --- processes that -p names ----------------------------------------------------------------- */

/* NULL: -p does not name that PID. */
static struct identity *identity_of(const struct targets *ts, pid_t pid)
{
	for (size_t i = 0; i < ts->filter->npids; i++)
		if (ts->named[i].pid == pid)
			return &ts->named[i];
	return NULL;
}

/* One end is shown by the process's row; after the last one nothing is left to be sampled. */
static void tell_ended(const struct targets *ts, const struct identity *id)
{
	for (size_t i = 0; i < ts->filter->npids; i++)
		if (!ts->named[i].ended)
			return;
	notices_tell(ts->notices, 0, "process %d has ended, and so have all that -p names",
		     (int)id->pid);
}

int targets_init(struct targets *ts, const struct tracker_filter *f)
{
	ts->filter = f;
	ts->by_options = f->npids || f->comm || f->user_given || f->cgroup || f->container;
	ts->named = calloc(f->npids ? f->npids : 1, sizeof(*ts->named));
	if (!ts->named)
		return -ENOMEM;
	for (size_t i = 0; i < f->npids; i++)
		identity_take(&ts->named[i], f->pids[i], i < PIDFDS_MAX);
	if (f->npids && ts->named[f->npids - 1].ended)
		tell_ended(ts, &ts->named[f->npids - 1]);
	return 0;
}

void targets_note_end(struct targets *ts, pid_t pid)
{
	ts->named_ends |= identity_of(ts, pid) != NULL;
}

bool targets_watch(struct targets *ts, uint64_t now)
{
	if (now - ts->named_looked >= LOOK_NS) {
		ts->named_looked = now;
		ts->named_ends = false;
	} else if (!ts->named_ends) {
		return false;
	}
	for (size_t i = 0; i < ts->filter->npids && ts->by_options; i++) {
		struct identity *id = &ts->named[i];

		if (!id->ended && identity_has_ended(id)) {
			ts->named_ends = false;
			tell_ended(ts, id);
		}
	}
	return ts->named_ends;
}

static void read_start(struct process *p)
{
	struct procstat s;

	if (!p->start && !procstat_read(p->pid, &s))
		p->start = s.start;
}

/* Reports once that another process has a PID that -p names. */
static void tell_reuse(struct targets *ts, struct process *p)
{
	struct identity *id = identity_of(ts, p->pid);

	if (!id)
		return;
	read_start(p);
	if (!p->start || p->start == id->start || id->told_reuse || !ts->by_options)
		return;
	id->ended = id->told_reuse = true;
	notices_tell(ts->notices, 1,
		     "process %d has ended; its number is used by another process now",
		     (int)p->pid);
}

/* --- the decision ---------------------------------------------------------------------------- */

static bool rule_fits(const struct target_rule *c, const struct process *p)
{
	if (selector_is_of_group(&c->selector))
		return p->groups & c->bit;
	return selector_fits(&c->selector, p->comm, p->uid, p->kthread);
}

static bool chosen_by_options(const struct targets *ts, const struct process *p)
{
	const struct tracker_filter *f = ts->filter;

	if (p->follow)
		return true;
	if (!ts->by_options)
		return false;
	if (f->npids) {
		const struct identity *id = identity_of(ts, p->pid);

		if (!id || !id->start || id->start != p->start)
			return false;
	}
	if (f->comm && regexec(f->comm, p->comm, 0, NULL, 0))
		return false;
	if (f->cgroup && !(p->groups & BIT_CGROUP))
		return false;
	if (f->container && !(p->groups & BIT_CONTAINER))
		return false;
	return !f->user_given || f->user == p->uid;
}

static bool is_chosen(const struct targets *ts, const struct process *p)
{
	if (p->choice != CHOICE_NONE)
		return p->choice == CHOICE_ATTACHED;
	for (size_t i = ts->nrules; i > 0; i--)
		if (rule_fits(ts->rules[i - 1], p))
			return ts->rules[i - 1]->on;
	return chosen_by_options(ts, p);
}

static void want_tables(const struct targets *ts, const struct process *p)
{
	for (size_t i = 0; i < p->nmappings; i++)
		if (p->mappings[i].object)
			object_want_table(ts->objects, p->mappings[i].object);
}

bool targets_choose(const struct targets *ts, const struct process *p, const char comm[16])
{
	struct process of = {.uid = (uid_t)-1}; /* no user */

	if (p)
		of = *p;
	memcpy(of.comm, comm, sizeof(of.comm));
	of.comm[sizeof(of.comm) - 1] = '\0';
	return is_chosen(ts, &of);
}

/* Those that are not chosen have an entry, too, where one without is undecided. */
static int tell_sampler(const struct targets *ts, struct process *p, bool target)
{
	struct target entry = {.start = p->start, .chosen = target};
	int err;

	snprintf(entry.comm, sizeof(entry.comm), "%s", p->comm);
	if (!target && !ts->judged) {
		if (p->listed)
			sampler_set_target(ts->sampler, p->pid, NULL);
		p->listed = false;
		return 0;
	}
	if (p->listed && target == p->target && (!ts->judged || !strcmp(p->listed_comm, p->comm)))
		return 0;
	err = sampler_set_target(ts->sampler, p->pid, &entry);
	p->listed |= !err;
	memcpy(p->listed_comm, p->comm, sizeof(p->comm));
	return ts->judged ? 0 : err; /* undecided is good enough */
}

void targets_drop(struct targets *ts, struct process *p)
{
	if (p->listed)
		sampler_set_target(ts->sampler, p->pid, NULL);
	ts->nattached -= p->target;
	p->listed = p->target = false;
}

void targets_apply(struct targets *ts, struct process *p)
{
	bool target;

	tell_reuse(ts, p);
	target = is_chosen(ts, p);
	if (tell_sampler(ts, p, target)) {
		/* It is tried again for each new process, and maybe once a second. */
		if (notices_first(ts->notices, NOTICE_TARGETS))
			notices_tell(
				ts->notices, 1,
				"more than %u processes chosen: %s (%d) and others are not attached to",
				sampler_procs_max(ts->sampler), p->comm, (int)p->pid);
		return;
	}
	if (target == p->target)
		return;
	p->target = target;
	ts->nattached += target ? 1 : -1;
	if (target)
		want_tables(ts, p);
}

static void apply_all(struct targets *ts)
{
	struct process *p, *next;

	HASH_ITER(hh, ts->procs->live, p, next)
		targets_apply(ts, p);
}

/* --- rules ----------------------------------------------------------------------------------- */

static void drop_rule(struct targets *ts, size_t i)
{
	struct target_rule *c = ts->rules[i];

	for (ts->nrules--; i < ts->nrules; i++)
		ts->rules[i] = ts->rules[i + 1];
	selector_clear(&c->selector);
	free(c);
}

static void drop_rules(struct targets *ts)
{
	while (ts->nrules)
		drop_rule(ts, ts->nrules - 1);
}

/* Tables that only processes map that are not sampled would be built for nothing. */
static void choose_tables(const struct targets *ts)
{
	const struct process *p, *next;

	objects_choose(ts->objects, ts->filtering);
	HASH_ITER(hh, ts->procs->live, p, next)
		if (p->target)
			want_tables(ts, p);
}

void targets_filter(struct targets *ts)
{
	bool any = ts->by_options || ts->following;
	struct process *p, *next;

	/* Rules that detach mean nothing without one before them that attaches. */
	while (!any && ts->nrules && !ts->rules[0]->on)
		drop_rule(ts, 0);
	any |= ts->nrules > 0;
	HASH_ITER(hh, ts->procs->live, p, next)
		any |= p->choice == CHOICE_ATTACHED;
	ts->filtering = any;
	ts->judged = ts->following || ts->nrules || (ts->by_options && !ts->filter->npids);
	sampler_set_filtering(ts->sampler, !any		? FILTER_NONE
					   : ts->judged ? FILTER_JUDGED
							: FILTER_LISTED);
	choose_tables(ts);
	if (any)
		return;
	HASH_ITER(hh, ts->procs->live, p, next)
		p->choice = CHOICE_NONE;
}

/* Takes the selector. -ENOSPC, -ENOMEM: the caller still has it. */
static int add_rule(struct targets *ts, const struct selector *selector, bool on)
{
	struct process *p, *next;
	struct target_rule *c;
	uint32_t used = 0;

	if (ts->nrules == TARGET_RULES)
		return -ENOSPC;
	c = malloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < ts->nrules; i++)
		used |= ts->rules[i]->bit;
	*c = (struct target_rule){.selector = *selector, .on = on, .bit = ~used & (used + 1)};
	ts->rules[ts->nrules++] = c;
	if (!selector_is_of_group(selector))
		return 0;
	HASH_ITER(hh, ts->procs->live, p, next) {
		p->groups &= ~c->bit; /* an earlier rule may have used it */
		if (!p->kthread)
			targets_read(ts, p);
	}
	return 0;
}

/* The rule replaces choices by PID. Returns how many processes fit it. */
static unsigned int override_choices(const struct targets *ts, const struct target_rule *c)
{
	struct process *p, *next;
	unsigned int n = 0;

	HASH_ITER(hh, ts->procs->live, p, next) {
		if (!rule_fits(c, p))
			continue;
		p->choice = CHOICE_NONE;
		n++;
	}
	return n;
}

static void tell_fitting(const struct targets *ts, const struct selector *selector, bool on,
			 unsigned int n, bool known)
{
	unsigned int all = HASH_COUNT(ts->procs->live);
	char what[SELECTOR_BYTES + 32];

	selector_tell(selector, what, sizeof(what));
	if (n)
		notices_tell(ts->notices, 0, "%s %u process%s %s%s",
			     on ? "attached to" : "detached from", n, n == 1 ? "" : "es", what,
			     on ? ", and to those that start later" : "");
	else if (known && !on)
		notices_tell(ts->notices, 0, "detached: processes %s are not waited for any more",
			     what);
	else
		notices_tell(ts->notices, 2, "%s nothing: no process of %u is %s",
			     on ? "attached to" : "detached from", all, what);
}

/* Cannot detach: no selector is active. */
static void tell_whole_machine(const struct targets *ts)
{
	notices_tell(ts->notices, 2, "the whole machine is sampled: attach to something first");
}

static void attach_rule(struct targets *ts, struct selector *selector, bool on)
{
	struct target_rule *rule;
	size_t at = 0;
	unsigned int n;
	bool known;
	int err;

	while (at < ts->nrules && !selector_is_same(&ts->rules[at]->selector, selector))
		at++;
	known = at < ts->nrules;
	err = known ? 0 : add_rule(ts, selector, on);
	if (err) {
		notices_tell(ts->notices, 2,
			     err == -ENOSPC
				     ? "more than %u selectors: an empty answer ends them all"
				     : "no memory for more than %u selectors",
			     TARGET_RULES);
		selector_clear(selector);
		return;
	}
	n = override_choices(ts, ts->rules[at]);
	if (n && !on && !ts->filtering) {
		tell_whole_machine(ts);
		drop_rule(ts, at);
		return;
	}
	tell_fitting(ts, selector, on, n, known);
	if (known)
		selector_clear(selector);
	/* A mistyped selector must not empty the screen. */
	if (!n && !known)
		drop_rule(ts, at);
	if (!n && (on || !known))
		return;
	/* The last one decides. */
	rule = ts->rules[at];
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are moved */
	memmove(ts->rules + at, ts->rules + at + 1, (ts->nrules - at - 1) * sizeof(*ts->rules));
	ts->rules[ts->nrules - 1] = rule;
	rule->on = on;
	targets_filter(ts);
	apply_all(ts);
}

static void attach_pid(struct targets *ts, const struct selector *selector, bool on)
{
	struct process *p = proctable_live(ts->procs, selector->pid);

	if (!p) {
		notices_tell(ts->notices, 2, "there is no process %s", selector->text);
		return;
	}
	if (!on && !ts->filtering) {
		tell_whole_machine(ts);
		return;
	}
	read_start(p);
	p->choice = on ? CHOICE_ATTACHED : CHOICE_DETACHED;
	notices_tell(ts->notices, 0, "%s %d (%s)", on ? "attached to" : "detached from",
		     (int)p->pid, p->comm);
	targets_filter(ts);
	targets_apply(ts, p);
}

void targets_attach(struct targets *ts, struct selector *selector, bool on)
{
	notices_renew(ts->notices, NOTICE_TARGETS);
	if (selector->kind == SELECTOR_PID)
		attach_pid(ts, selector, on);
	else
		attach_rule(ts, selector, on);
}

void targets_follow(struct targets *ts, struct process *command)
{
	command->follow = true;
	ts->following = true;
	targets_apply(ts, command);
	targets_filter(ts);
}

void targets_clear(struct targets *ts)
{
	struct process *p, *next;

	ts->by_options = ts->following = false;
	drop_rules(ts);
	HASH_ITER(hh, ts->procs->live, p, next) {
		p->choice = CHOICE_NONE;
		p->follow = false;
	}
	targets_filter(ts);
	apply_all(ts);
	notices_tell(ts->notices, 0, "the whole machine is sampled");
}

void targets_free(struct targets *ts)
{
	for (size_t i = 0; ts->named && i < ts->filter->npids; i++)
		identity_drop(&ts->named[i]);
	free(ts->named);
	ts->named = NULL;
	drop_rules(ts);
}
