// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which processes are sampled: those that the command line chooses, changed by the words that a
 * person says meanwhile. A word stays in force, also for who fits it later, and the last one that
 * fits a process decides; a PID goes before them, since it is about this one process. No record
 * tells of setuid or of a move to another control group, so where these matter processes are looked
 * at once a second.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/tracker/identity.h"
#include "bpf/tracker/procstat.h"
#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker_priv.h"
#include "bpf/tracker/selector.h"
#include "symbols/files/cgroup.h"
#include "symbols/files/procfile.h"

#define LOOK_NS	   (1000ull * 1000000)
#define LOOK_MAX   512u	 /* processes in that time; some 10 us each */
#define PIDFDS_MAX 256u	 /* files of processes need descriptors, too */
#define LOOK_PASS  4096u /* kernel threads among them are only passed */

/* Bits of process.groups behind those of the words. */
#define BIT_CGROUP    (1u << CHOICE_WORDS)
#define BIT_CONTAINER (2u << CHOICE_WORDS)

struct choice {
	struct selector word;
	bool on;
	uint32_t bit; /* in process.groups */
};

/* --- what is known of a process -------------------------------------------------------------- */

bool choice_uid(pid_t pid, uid_t *uid)
{
	char path[32];
	struct stat st;

	/* What is in it belongs to root once the process has given up its privileges. */
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return false;
	*uid = st.st_uid;
	return true;
}

static bool needs_groups(const struct tracker *t)
{
	bool needs = t->by_options && (t->filter->cgroup || t->filter->container);

	for (size_t i = 0; i < t->nwords && !needs; i++)
		needs = selector_is_of_group(&t->words[i]->word);
	return needs;
}

static bool needs_users(const struct tracker *t)
{
	bool needs = t->by_options && t->filter->user_given;

	for (size_t i = 0; i < t->nwords && !needs; i++)
		needs = t->words[i]->word.kind == SELECTOR_USER;
	return needs;
}

void choice_read(const struct tracker *t, struct process *p)
{
	const struct tracker_filter *f = t->filter;
	char *text = needs_groups(t) ? procfile_text(p->pid, "cgroup") : NULL;
	size_t length = text ? strlen(text) : 0;

	if (!text)
		return; /* not asked for, or it is ending */
	p->groups = 0;
	for (size_t i = 0; i < t->nwords; i++)
		if (selector_fits_group(&t->words[i]->word, text, length))
			p->groups |= t->words[i]->bit;
	if (f->cgroup && cgroup_fits(text, length, f->cgroup))
		p->groups |= BIT_CGROUP;
	if (f->container && cgroup_fits_container(text, length, f->container))
		p->groups |= BIT_CONTAINER;
	free(text);
}

void choice_look(struct tracker *t, uint64_t now)
{
	struct process *p = process_live(t, t->look_at);
	size_t passed, looked = 0, all = HASH_COUNT(t->processes);
	bool groups = needs_groups(t);

	if (now - t->looked < LOOK_NS || (!groups && !needs_users(t)))
		return;
	t->looked = now;
	for (passed = 0; passed < LOOK_PASS && passed < all && looked < LOOK_MAX; passed++) {
		if (!p)
			p = t->processes;
		if (!p->kthread) {
			looked++;
			choice_uid(p->pid, &p->uid);
			choice_read(t, p);
			choice_apply(t, p);
		}
		p = p->hh.next;
	}
	t->look_at = p ? p->pid : 0;
}

/* --- processes that -p names ----------------------------------------------------------------- */

/* NULL: it does not name the number. */
static struct identity *named(const struct tracker *t, pid_t pid)
{
	for (size_t i = 0; i < t->filter->npids; i++)
		if (t->named[i].pid == pid)
			return &t->named[i];
	return NULL;
}

/* Of one among others its row tells; the end of the last one leaves nothing to be sampled. */
static void tell_ended(struct tracker *t, const struct identity *id)
{
	for (size_t i = 0; i < t->filter->npids; i++)
		if (!t->named[i].ended)
			return;
	tracker_tell(t, 0, "process %d has ended, and so have all that -p names", (int)id->pid);
}

int choice_name(struct tracker *t)
{
	const struct tracker_filter *f = t->filter;

	t->named = calloc(f->npids ? f->npids : 1, sizeof(*t->named));
	if (!t->named)
		return -ENOMEM;
	for (size_t i = 0; i < f->npids; i++)
		identity_take(&t->named[i], f->pids[i], i < PIDFDS_MAX);
	if (f->npids && t->named[f->npids - 1].ended)
		tell_ended(t, &t->named[f->npids - 1]);
	return 0;
}

void choice_ends(struct tracker *t, pid_t pid)
{
	t->named_ends |= named(t, pid) != NULL;
}

bool choice_watch(struct tracker *t, uint64_t now)
{
	if (now - t->named_looked >= LOOK_NS) {
		t->named_looked = now;
		t->named_ends = false;
	} else if (!t->named_ends) {
		return false;
	}
	for (size_t i = 0; i < t->filter->npids && t->by_options; i++) {
		struct identity *id = &t->named[i];

		if (!id->ended && identity_has_ended(id)) {
			t->named_ends = false;
			tell_ended(t, id);
		}
	}
	return t->named_ends;
}

/* That another process has the number of one that -p names is said once. */
static void meet(struct tracker *t, struct process *p)
{
	struct identity *id = named(t, p->pid);
	struct procstat s;

	if (!id)
		return;
	if (!p->start && !procstat_read(p->pid, &s))
		p->start = s.start;
	if (!p->start || p->start == id->start || id->told_reuse || !t->by_options)
		return;
	id->ended = id->told_reuse = true;
	tracker_tell(t, 1, "process %d has ended; its number is used by another process now",
		     (int)p->pid);
}

/* --- the decision ---------------------------------------------------------------------------- */

static bool fits(const struct choice *c, const struct process *p)
{
	const struct selector_subject who = {p->comm, p->uid, p->kthread};

	if (selector_is_of_group(&c->word))
		return p->groups & c->bit;
	return selector_fits(&c->word, &who);
}

static bool chosen_by_options(const struct tracker *t, const struct process *p)
{
	const struct tracker_filter *f = t->filter;

	if (p->follow)
		return true;
	if (!t->by_options)
		return false;
	if (f->npids) {
		const struct identity *id = named(t, p->pid);

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

static bool is_chosen(const struct tracker *t, const struct process *p)
{
	if (p->attached || p->excluded)
		return p->attached;
	for (size_t i = t->nwords; i > 0; i--)
		if (fits(t->words[i - 1], p))
			return t->words[i - 1]->on;
	return chosen_by_options(t, p);
}

void choice_apply(struct tracker *t, struct process *p)
{
	bool target;

	meet(t, p);
	target = is_chosen(t, p);
	if (target == p->target)
		return;
	if (sampler_set_target(t->sampler, p->pid, p->start, target) && target) {
		/* It is tried again, once a second maybe, and with all that come. */
		if (!t->told_targets)
			tracker_tell(
				t, 1,
				"more than %u processes chosen: %s (%d) and others are not attached to",
				sampler_procs_max(t->sampler), p->comm, (int)p->pid);
		t->told_targets = true;
		return;
	}
	p->target = target;
	t->nattached += target ? 1 : -1;
}

static void apply_all(struct tracker *t)
{
	struct process *p, *next;

	HASH_ITER(hh, t->processes, p, next)
		choice_apply(t, p);
}

/* --- words ----------------------------------------------------------------------------------- */

static void drop_word(struct tracker *t, size_t i)
{
	struct choice *c = t->words[i];

	for (t->nwords--; i < t->nwords; i++)
		t->words[i] = t->words[i + 1];
	selector_clear(&c->word);
	free(c);
}

static void drop_words(struct tracker *t)
{
	while (t->nwords)
		drop_word(t, t->nwords - 1);
}

void choice_filter(struct tracker *t)
{
	bool any = t->by_options || t->following;
	struct process *p, *next;

	/* Nothing is chosen that one which leaves out could be about. */
	while (!any && t->nwords && !t->words[0]->on)
		drop_word(t, 0);
	any |= t->nwords > 0;
	HASH_ITER(hh, t->processes, p, next)
		any |= p->attached;
	t->filtering = any;
	sampler_set_filtering(t->sampler, any);
	if (any)
		return;
	HASH_ITER(hh, t->processes, p, next)
		p->excluded = false;
}

/* Takes the word over. -ENOSPC, -ENOMEM: it does not. */
static int add_word(struct tracker *t, const struct selector *word, bool on)
{
	struct process *p, *next;
	struct choice *c;
	uint32_t used = 0;

	if (t->nwords == CHOICE_WORDS)
		return -ENOSPC;
	c = malloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < t->nwords; i++)
		used |= t->words[i]->bit;
	*c = (struct choice){.word = *word, .on = on, .bit = ~used & (used + 1)};
	t->words[t->nwords++] = c;
	if (!selector_is_of_group(word))
		return 0;
	HASH_ITER(hh, t->processes, p, next) {
		p->groups &= ~c->bit; /* another word may have had it */
		if (!p->kthread)
			choice_read(t, p);
	}
	return 0;
}

/* So many processes fit the word; how it was with them before is forgotten. */
static unsigned int settle(struct tracker *t, const struct choice *c)
{
	struct process *p, *next;
	unsigned int n = 0;

	HASH_ITER(hh, t->processes, p, next) {
		if (!fits(c, p))
			continue;
		p->attached = p->excluded = false;
		n++;
	}
	return n;
}

static void tell(struct tracker *t, const struct selector *word, bool on, unsigned int n,
		 bool known)
{
	unsigned int all = HASH_COUNT(t->processes);
	char what[SELECTOR_BYTES + 32];

	selector_tell(word, what, sizeof(what));
	if (n)
		tracker_tell(t, 0, "%s %u process%s %s", on ? "attached to" : "detached from", n,
			     n == 1 ? "" : "es", what);
	else if (known && !on)
		tracker_tell(t, 0, "detached: processes %s are not waited for any more", what);
	else
		tracker_tell(t, 2, "%s nothing: no process of %u is %s",
			     on ? "attached to" : "detached from", all, what);
}

/* Cannot detach: no selector is active. */
static void leave_whole(struct tracker *t)
{
	tracker_tell(t, 2, "the whole machine is sampled: attach to something first");
}

/* The last that was said. */
static void say_again(struct tracker *t, size_t i, bool on)
{
	struct choice *c = t->words[i];

	for (; i + 1 < t->nwords; i++)
		t->words[i] = t->words[i + 1];
	t->words[i] = c;
	c->on = on;
}

static void attach_word(struct tracker *t, struct selector *word, bool on)
{
	size_t at = 0;
	unsigned int n;
	bool known;
	int err;

	while (at < t->nwords && !selector_is_same(&t->words[at]->word, word))
		at++;
	known = at < t->nwords;
	err = known ? 0 : add_word(t, word, on);
	if (err) {
		tracker_tell(t, 2,
			     err == -ENOSPC ? "more than %u words: an empty answer ends them all"
					    : "no memory for more than %u words",
			     CHOICE_WORDS);
		selector_clear(word);
		return;
	}
	n = settle(t, t->words[at]);
	if (n && !on && !t->filtering) {
		leave_whole(t);
		drop_word(t, at);
		return;
	}
	tell(t, word, on, n, known);
	if (known)
		selector_clear(word);
	/* A word that was mistyped shall not empty the screen. */
	if (!n && !known)
		drop_word(t, at);
	if (!n && (on || !known))
		return;
	say_again(t, at, on);
	choice_filter(t);
	apply_all(t);
}

static void attach_pid(struct tracker *t, const struct selector *word, bool on)
{
	struct process *p = process_live(t, word->pid);
	struct procstat s;

	if (!p) { /* at the start it may not have been read yet */
		process_scan(t, word->pid);
		p = process_live(t, word->pid);
	}
	if (!p) {
		tracker_tell(t, 2, "there is no process %s", word->text);
		return;
	}
	if (!on && !t->filtering) {
		leave_whole(t);
		return;
	}
	if (!p->start && !procstat_read(p->pid, &s))
		p->start = s.start;
	p->attached = on;
	p->excluded = !on;
	tracker_tell(t, 0, "%s %d (%s)", on ? "attached to" : "detached from", (int)p->pid,
		     p->comm);
	choice_filter(t);
	choice_apply(t, p);
}

void choice_attach(struct tracker *t, const char *arg, bool on)
{
	struct selector word;
	const char *why;

	t->told_targets = false;
	if (!selector_parse(arg, &word, &why))
		tracker_tell(t, 2, "%s: %s", why, arg);
	else if (word.kind == SELECTOR_PID)
		attach_pid(t, &word, on);
	else
		attach_word(t, &word, on);
}

void choice_clear(struct tracker *t)
{
	struct process *p, *next;

	t->by_options = t->following = false;
	drop_words(t);
	HASH_ITER(hh, t->processes, p, next)
		p->attached = p->excluded = p->follow = false;
	apply_all(t);
	choice_filter(t);
	tracker_tell(t, 0, "the whole machine is sampled");
}

void choice_free(struct tracker *t)
{
	for (size_t i = 0; t->named && i < t->filter->npids; i++)
		identity_drop(&t->named[i]);
	free(t->named);
	t->named = NULL;
	drop_words(t);
}
