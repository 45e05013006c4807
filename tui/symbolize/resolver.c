// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stack is resolved once, so what counts is the first second, when nothing is known: names are
 * looked up frame by frame without the profile's lock, kept with the symbol table that they come
 * from, and then interned under the lock in one go.
 */
#include "tui/symbolize/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sampler.h"
#include "bpf/report/trace.h"
#include "bpf/tracker/tracker.h"
#include "symbols/files/fileasker.h"
#include "symbols/names/madename.h"
#include "symbols/base/text.h"
#include "tui/symbolize/inline_chain.h"
#include "tui/profile/reasons.h"
#include "tui/profile/inspection.h"
#include "tui/profile/language.h"
#include "tui/symbolize/jit.h"
#include "tui/symbolize/language.h"
#include "tui/symbolize/modules.h"
#include "tui/profile/profile.h"
#include "tui/symbolize/inline_cache.h"

/* For inlined calls as many as for native ones. */
#define ANYWHERE   UINT64_MAX
#define TRAMPOLINE 16u /* bytes of its code up to the system call's end */
#define FRAMES_MAX (2 * WALK_FRAMES_MAX + LANGUAGE_FRAMES_MAX + 2)

struct frame_name {
	enum func_kind kind;
	const char *name;   /* of a module, of ksyms, or static */
	const char *module; /* likewise */
	uint64_t vaddr;	    /* address of the frame in its file, or in memory */
	uint32_t site;	    /* of the address; 0: none */
	bool waits;	    /* its inlined calls are not known yet */
	uint64_t start;	    /* of its function, likewise */
	uint32_t line;	    /* where it begins, of code made at run time; 0: not known */
	bool guessed;	    /* address identifies its function */
	bool made;	    /* name is that of code made at run time, as its runtime writes it */
};

struct resolver {
	struct profile *profile;
	struct tracker *tracker;
	struct ksyms *ksyms;
	struct fileasker asker; /* for files that may not answer */
	struct jit *jit;
	struct modules *modules;
	struct frame_name frames[FRAMES_MAX]; /* outermost first */
	uint32_t ids[FRAMES_MAX];
	uint32_t sites[FRAMES_MAX];
	uint32_t places[WALK_FRAMES_MAX + LANGUAGE_FRAMES_MAX + 1]; /* see resolver_places */
	uint32_t nplaces;
	struct inline_cache *inlined; /* NULL: not wanted */
	struct ksym ksym[KERNEL_FRAMES_MAX];
	struct madename made; /* what was read last */
};

static int ask_file(void *arg, const struct file_question *question, struct file_facts *facts)
{
	return tracker_ask_file(arg, question, facts);
}

int resolver_new(struct profile *profile, struct tracker *tracker, struct ksyms *ksyms,
		 size_t debug_memory, struct resolver **out)
{
	struct resolver *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return -ENOMEM;
	r->profile = profile;
	r->tracker = tracker;
	r->ksyms = ksyms;
	r->asker.ask = ask_file;
	r->asker.arg = tracker;
	r->modules = modules_new(profile, tracker, &r->asker);
	if (!r->modules || jit_new(tracker, &r->asker, &r->jit) ||
	    (debug_memory && inline_cache_new(debug_memory, &r->asker, &r->inlined))) {
		resolver_free(r);
		*out = NULL;
		return -ENOMEM;
	}
	return 0;
}

void resolver_set_remote(struct resolver *r, struct remotedebug *remote)
{
	modules_set_remote(r->modules, remote);
	if (r->inlined)
		inline_cache_set_remote(r->inlined, remote);
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	modules_free(r->modules);
	jit_free(r->jit);
	inline_cache_free(r->inlined);
	free(r);
}

uint64_t resolver_debug_files(const struct resolver *r)
{
	return modules_debug_files(r->modules);
}

void resolver_trim(struct resolver *r)
{
	bool came = modules_trim(r->modules);

	jit_age(r->jit);
	if (came && r->inlined)
		inline_cache_retry(r->inlined);
	if (r->inlined)
		inline_cache_trim(r->inlined);
}

void resolver_wait_until(struct resolver *r, uint64_t until)
{
	modules_wait_until(r->modules, until);
	jit_wait_until(r->jit, until);
}

void resolver_rest(struct resolver *r)
{
	modules_rest(r->modules);
}

/* --- names ----------------------------------------------------------------------------------- */

/*
 * The name from debug information for a function that has no symbol, or one that may end before.
 * NULL: none.
 */
static const char *better_name(const char *name, const char *module,
			       const struct inline_chain *calls)
{
	size_t length = strlen(module);

	if (!calls || (!calls->renames && (strncmp(name, module, length) != 0 ||
					   strncmp(name + length, "+0x", 3) != 0)))
		return NULL;
	return calls->frames[calls->count - 1].name;
}

/* The kind of function that a name of code made at run time stands for. */
static enum func_kind kind_made(struct resolver *r, const struct tracker_exec *of, const char *name)
{
	if (!madename_read(name, jit_is_hotspot(r->jit, of), &r->made))
		return FUNC_JIT;
	return r->made.language == MADENAME_JS ? FUNC_JS : FUNC_JAVA;
}

/* What the profile calls a frame: strings of its own, or of r->made. */
static const char *shown_name(struct resolver *r, const struct frame_name *f, const char **module)
{
	*module = f->module;
	if (!f->made || !madename_read(f->name, f->kind == FUNC_JAVA, &r->made))
		return f->name;
	if (r->made.file[0])
		*module = r->made.file;
	return r->made.name;
}

/* False: the process has reported no code there. */
static bool name_jit(struct resolver *r, const struct tracker_exec *of, uint64_t addr,
		     struct frame_name *out, struct resolver_doubt *doubt)
{
	const char *name = jit_find(r->jit, of, addr);

	doubt->jit = jit_version(r->jit, of);
	if (name) {
		out->kind = kind_made(r, of, name);
		out->name = name;
		out->module = "[jit]";
		out->made = func_is_language(out->kind);
		out->line = out->made ? r->made.line : 0;
	}
	return name != NULL;
}

/* Looks up what was at the frame's call when it was sampled, and returns that address. */
static uint64_t place_of(struct resolver *r, const struct tracker_exec *of, uint64_t frame,
			 struct code_place *at)
{
	uint64_t addr = frame & ~FRAME_EXACT;

	if (!(frame & FRAME_EXACT) && addr)
		addr--;
	tracker_place(r->tracker, of, addr, at);
	if (at->since) {
		object_put(r->tracker, at->object);
		*at = (struct code_place){.kind = PLACE_UNKNOWN};
	}
	return addr;
}

static int name_in_file(struct resolver *r, const struct tracker_exec *of,
			const struct code_place *at, uint64_t addr, uint64_t reach,
			struct frame_name *out, const struct inline_chain **calls,
			struct resolver_doubt *doubt)
{
	struct symbol_module *m;
	int err = modules_get(r->modules, at->object, of->pid, &m);

	doubt->closed |= err == -EAGAIN;
	if (err)
		return err == -EAGAIN ? 0 : err;
	doubt->files |= module_bit(m);
	/* .NET puts the names of code in its assemblies into the perf map. */
	if (!module_has_symbols(m) && !module_waits(m) && name_jit(r, of, addr, out, doubt))
		return 0;
	out->module = module_name(m);
	if (modules_is_rewritten(r->modules, m)) {
		out->name = JIT_REWRITTEN;
		return 0;
	}
	out->name = modules_find(r->modules, m, at->object, at->vaddr, reach, &out->start,
				 &out->guessed);
	if (!out->name)
		return -ENOMEM;
	doubt->waits |= module_waits(m);
	if (r->inlined && !module_waits(m) && object_fd(at->object) >= 0 &&
	    !module_was_rewritten(m))
		out->site =
			inline_cache_find(r->inlined, object_id(at->object), object_fd(at->object),
					  of->pid, at->vaddr, out->guessed ? out->start : 0, calls);
	out->waits = out->site && !inline_cache_get(r->inlined, out->site, calls);
	if (better_name(out->name, out->module, *calls))
		out->name = better_name(out->name, out->module, *calls);
	return 0;
}

static int name_user(struct resolver *r, const struct tracker_exec *of, uint64_t frame,
		     uint64_t reach, struct frame_name *out, const struct inline_chain **calls,
		     struct resolver_doubt *doubt)
{
	struct code_place at;
	uint64_t addr = place_of(r, of, frame, &at);
	int err = 0;

	*calls = NULL;
	*out = (struct frame_name){.kind = FUNC_USER,
				   .name = "[unknown]",
				   .module = "",
				   .vaddr = frame & ~FRAME_EXACT};
	switch (at.kind) {
	case PLACE_FILE:
	case PLACE_VDSO:
		out->vaddr = at.vaddr + (out->vaddr - addr);
		err = name_in_file(r, of, &at, addr, reach, out, calls, doubt);
		object_put(r->tracker, at.object);
		break;
	case PLACE_JIT:
		if (!name_jit(r, of, at.vaddr, out, doubt)) {
			out->kind = FUNC_JIT;
			out->name = RESOLVER_JIT;
		}
		break;
	case PLACE_UNKNOWN:
		doubt->vague |= !(frame & FRAME_IN_OBJECT);
		break;
	}
	return err;
}

/* --- stacks ---------------------------------------------------------------------------------- */

static int64_t intern(struct resolver *r, uint32_t count, bool kernel, bool complete,
		      enum stack_lock lock)
{
	struct profile_stack stack = {.kernel = kernel,
				      .complete = complete,
				      .lock = lock,
				      .nframes = count,
				      .frames = r->ids};
	int64_t id = 0;

	if (count > !complete)
		stack.place = r->frames[!complete].vaddr;
	profile_lock(r->profile);
	for (uint32_t i = 0; i < count && id >= 0; i++) {
		const struct frame_name *f = &r->frames[i];
		const char *name, *module;

		name = shown_name(r, f, &module);
		id = profile_func(r->profile, f->kind, name, module);
		if (id >= 0)
			r->ids[i] = (uint32_t)id;
		r->sites[i] = f->waits ? f->site : 0;
		if (f->waits)
			stack.sites = r->sites;
	}
	if (id >= 0)
		id = profile_stack_new(r->profile, &stack);
	profile_unlock(r->profile);
	return id;
}

/*
 * Adds the frames of the calls inlined into a frame, from `at` on, unless those that follow need
 * the room.
 */
static uint32_t add_inlined(struct resolver *r, const struct inline_chain *calls, uint32_t of,
			    uint32_t at, uint32_t follow)
{
	const struct frame_name *function = &r->frames[of];

	for (uint32_t i = calls ? calls->count - 1 : 0; i-- > 0 && at + follow < FRAMES_MAX;)
		r->frames[at++] = (struct frame_name){
			.kind = FUNC_INLINE,
			.name = calls->frames[i].name ? calls->frames[i].name : "?",
			.module = function->module,
			.vaddr = function->vaddr,
		};
	return at;
}

static struct frame_name end_name(const char *reason)
{
	return (struct frame_name){.kind = FUNC_END, .name = reason, .module = ""};
}

/* See inline_cache_count_lines. */
static uint32_t place_of_line(uint32_t line)
{
	return line && line < INLINE_CACHE_LINE ? INLINE_CACHE_LINE | line : 0;
}

/* Adds a frame of a language. */
static uint32_t add_call(struct resolver *r, const struct language_call *call, uint32_t at)
{
	r->places[r->nplaces++] = place_of_line(call->line);
	r->frames[at] = (struct frame_name){.kind = call->method->kind,
					    .name = call->method->name,
					    .module = call->method->file};
	return at + 1;
}

/* In the place of frames of a language for which the BPF program had no room. */
static uint32_t add_left_out(struct resolver *r, enum func_kind kind, uint32_t at)
{
	const struct language_method method = {kind, "[frames left out]", ""};

	return add_call(r, &(struct language_call){.method = &method}, at);
}

/*
 * Adds the frames of a language that the native frame runs, of those before *left. Frames whose
 * place is not proven stay out: the native ones say what is known.
 */
static uint32_t add_calls(struct resolver *r, const struct language_stack *language,
			  uint32_t native, uint32_t *left, uint32_t at)
{
	while (*left && language->frames[*left - 1].at == LANGUAGE_NOWHERE)
		--*left;
	while (*left && language->frames[*left - 1].at == native) {
		const struct language_call *call = &language->frames[--*left];

		if (call->cut) /* the BPF program had no room for those outside of it */
			at = add_left_out(r, call->method->kind, at);
		at = add_call(r, call, at);
	}
	return at;
}

/*
 * The walk ended early: the outermost frames of a language have no place, but are outside of all
 * others.
 */
static uint32_t add_outer_calls(struct resolver *r, const struct language_stack *language,
				uint32_t *left, uint32_t at)
{
	while (*left && language->frames[*left - 1].at == LANGUAGE_NOWHERE)
		at = add_call(r, &language->frames[--*left], at);
	return at;
}

/* Inlined calls that become known later would come before the frames that it runs. */
static void note_eval(struct frame_name *frame, struct resolver_doubt *doubt)
{
	if (frame->kind == FUNC_USER)
		frame->kind = FUNC_EVAL;
	doubt->waits |= frame->waits;
	frame->waits = false;
}

/*
 * A thread without the lock waits for it where the interpreter's own functions say so: take_gil,
 * or what calls it from outside, as far as these have names.
 */
static enum stack_lock lock_of(const struct resolver *r, const struct language_stack *language,
			       uint32_t count)
{
	static const char *const takers[] = {"take_gil", "PyEval_RestoreThread",
					     "PyEval_AcquireThread", "PyGILState_Ensure",
					     "_PyThreadState_Attach"};

	if (language->lock != LANGUAGE_RELEASED)
		return language->lock == LANGUAGE_HOLDS ? STACK_LOCK_HELD : STACK_LOCK_NONE;
	while (count-- > 0 && !func_is_language(r->frames[count].kind))
		for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++)
			if (!strcmp(r->frames[count].name, takers[i]))
				return STACK_LOCK_WAITS;
	return STACK_LOCK_RELEASED;
}

/*
 * V8's compilers make code of a function: the frame that runs it is its own. Returns where the next
 * frame goes.
 */
static uint32_t join_own(struct resolver *r, uint32_t native, uint32_t end)
{
	if (end != native + 2 || !func_is_made(r->frames[native].kind) ||
	    r->frames[end - 1].kind != FUNC_JS)
		return end;
	r->frames[end - 1].vaddr = r->frames[native].vaddr;
	r->frames[native] = r->frames[end - 1];
	r->nplaces--;
	r->places[r->nplaces - 1] = r->places[r->nplaces];
	return end - 1;
}

/*
 * How far behind the start of its function the frame may be, if that has no size. A signal's
 * handler returns to the start of the trampoline, which musl's library has no symbol for and which
 * would have the name of what precedes it. It is the frame of what a signal has interrupted.
 */
static uint64_t reach_of(uint64_t frame, uint64_t caller, bool leaf)
{
	if (!(frame & caller & FRAME_EXACT))
		return ANYWHERE;
	return leaf ? TRAMPOLINE : 0;
}

int64_t resolver_user(struct resolver *r, const struct stack_record *rec,
		      const struct language_stack *language, struct resolver_doubt *doubt)
{
	const struct tracker_exec of = {(pid_t)rec->tgid, rec->start_stack, rec->exec_id};
	uint32_t n = rec->nframes, count = 0, left = language ? language->nframes : 0;
	uint64_t frame = 0, caller;
	uint32_t own;
	int err;

	*doubt = (struct resolver_doubt){.changes = modules_changes(r->modules)};
	modules_bound(r->modules);
	if (n > WALK_FRAMES_MAX)
		n = WALK_FRAMES_MAX;
	if (!walk_is_complete(rec->reason))
		r->frames[count++] = end_name(reasons_end(rec->reason)->name);
	r->nplaces = 0;
	if (language && !walk_is_complete(rec->reason))
		count = add_outer_calls(r, language, &left, count);
	while (n--) {
		const struct inline_chain *calls;

		caller = frame;
		frame = rec->frames[n];
		err = name_user(r, &of, frame, reach_of(frame, caller, !n), &r->frames[count],
				&calls, doubt);
		if (err)
			return err;
		r->places[r->nplaces++] =
			r->frames[count].site ?: place_of_line(r->frames[count].line);
		own = count + 1;
		if (language)
			own = add_calls(r, language, n, &left, own);
		/* What is inlined into the interpreter is done by the frame that it runs. */
		if (own > count + 1)
			note_eval(&r->frames[count], doubt);
		own = join_own(r, count, own);
		count = add_inlined(r, calls, count, own, n + left);
	}
	for (uint32_t i = 0; i < count; i++)
		if (func_is_language(r->frames[i].kind))
			doubt->languages |= 1u << r->frames[i].kind;
	return intern(r, count, false, walk_is_complete(rec->reason),
		      language ? lock_of(r, language, count) : STACK_LOCK_NONE);
}

void resolver_seen(struct resolver *r, const struct stack_record *rec)
{
	uint32_t i = 0;

	while (i < rec->nframes && !FRAME_IS_ADDRESS(rec->frames[i] & ~FRAME_EXACT))
		i++;
	if (i < rec->nframes)
		jit_seen(r->jit, (pid_t)rec->tgid, rec->frames[i] & ~FRAME_EXACT);
}

const uint32_t *resolver_places(const struct resolver *r, uint32_t *count)
{
	bool any = false;

	for (uint32_t i = 0; i < r->nplaces && !any; i++)
		any = r->places[i] != 0;
	*count = any ? r->nplaces : 0;
	return r->places;
}

int resolver_count_lines(const struct resolver *r, uint32_t stack, const uint32_t *places,
			 uint32_t n, uint64_t count)
{
	return n ? inline_cache_count_lines(r->inlined, r->profile, stack, places, n, count) : 0;
}

bool resolver_files_changed(const struct resolver *r, uint64_t files, uint64_t changes)
{
	return modules_have_changed(r->modules, files, changes);
}

void resolver_look(struct resolver *r)
{
	modules_look(r->modules);
}

uint64_t resolver_jit_version(struct resolver *r, const struct tracker_exec *of)
{
	return jit_version(r->jit, of);
}

static int known_site(uint32_t site, const char *own, const char *module, uint32_t *outer,
		      uint32_t inlined[PROFILE_INLINED_MAX], void *arg)
{
	const struct resolver *r = arg;
	const struct inline_chain *calls;
	int64_t id;
	int n = 0;

	if (!inline_cache_get(r->inlined, site, &calls))
		return PROFILE_SITE_WAITS;
	own = better_name(own, module, calls);
	if (own) {
		id = profile_func(r->profile, FUNC_USER, own, module);
		if (id < 0)
			return (int)id;
		*outer = (uint32_t)id;
	}
	for (uint32_t i = calls ? calls->count - 1 : 0; i-- > 0 && n < PROFILE_INLINED_MAX;) {
		const char *name = calls->frames[i].name;

		id = profile_func(r->profile, FUNC_INLINE, name ? name : "?", module);
		if (id < 0)
			return (int)id;
		inlined[n++] = (uint32_t)id;
	}
	return n;
}

bool resolver_settle(struct resolver *r, uint64_t wait)
{
	if (!r->inlined)
		return false;
	if (wait)
		inline_cache_wait(r->inlined, wait);
	if (!inline_cache_update(r->inlined))
		return false;
	/* Without memory they wait. */
	profile_lock(r->profile);
	profile_settle(r->profile, known_site, r);
	profile_unlock(r->profile);
	return true;
}

static int name_inspected(struct resolver *r, const struct capture_record *c, uint64_t frame,
			  uint64_t reach, struct inspection_frame *to)
{
	const struct tracker_exec of = {(pid_t)c->tgid, c->start_stack, c->exec_id};
	struct resolver_doubt doubt = {0};
	const struct inline_chain *calls;
	const char *shown, *module;
	struct frame_name name;
	int err = name_user(r, &of, frame, reach, &name, &calls, &doubt);

	if (err)
		return err;
	shown = shown_name(r, &name, &module);
	text_clean(to->name, sizeof(to->name), shown, strlen(shown));
	text_clean(to->module, sizeof(to->module), module, strlen(module));
	if (name.start) {
		to->vaddr = name.vaddr;
		to->offset = name.vaddr - name.start;
	}
	return 0;
}

int resolver_function(struct resolver *r, const struct tracker_exec *of, uint64_t frame,
		      struct object **object, uint64_t *vaddr, uint64_t *start)
{
	struct symbol_module *m;
	struct code_place at;
	bool guessed;
	int err;

	place_of(r, of, frame, &at);
	if (at.kind != PLACE_FILE && at.kind != PLACE_VDSO)
		return -ENOENT;
	err = modules_get(r->modules, at.object, of->pid, &m);
	if (!err && !modules_find(r->modules, m, at.object, at.vaddr, ANYWHERE, start, &guessed))
		err = -ENOMEM;
	if (err) {
		object_put(r->tracker, at.object);
		return err == -EAGAIN ? -ENOENT : err;
	}
	*object = at.object;
	*vaddr = at.vaddr;
	return 0;
}

int resolver_kernel_function(struct resolver *r, uint64_t addr, uint64_t generation,
			     const char *name, uint64_t *start, uint64_t *end)
{
	return ksyms_extent(r->ksyms, addr, generation, name, start, end);
}

int resolver_jit_function(struct resolver *r, const struct tracker_exec *of, uint64_t frame,
			  const char *name, bool told, uint64_t *addr, uint64_t *start,
			  uint64_t *end)
{
	struct code_place at;
	const char *known;

	*start = *end = 0;
	*addr = place_of(r, of, frame, &at);
	if (at.object)
		object_put(r->tracker, at.object);
	if (at.kind == PLACE_JIT)
		*addr = at.vaddr;
	/* Code in assemblies of .NET has an address only as long as it is named by that. */
	if (at.kind == PLACE_UNKNOWN || !*addr || !FRAME_IS_ADDRESS(*addr))
		return -ENOENT;
	known = jit_extent(r->jit, of, *addr, start, end);
	if (known && madename_read(known, jit_is_hotspot(r->jit, of), &r->made))
		known = r->made.name;
	if (!known && told)
		return 0;
	return strcmp(known ? known : RESOLVER_JIT, name) != 0 ? -ENOENT : 0;
}

static const char *name_place(struct resolver *r, const struct tracker_exec *of,
			      const struct code_place *at, uint64_t *start)
{
	struct symbol_module *m;
	uint64_t end;
	bool guessed;

	switch (at->kind) {
	case PLACE_JIT:
		return jit_extent(r->jit, of, at->vaddr, start, &end);
	case PLACE_FILE:
	case PLACE_VDSO:
		if (modules_get(r->modules, at->object, of->pid, &m))
			return NULL;
		return modules_find(r->modules, m, at->object, at->vaddr, ANYWHERE, start,
				    &guessed);
	default:
		return NULL;
	}
}

bool resolver_name(struct resolver *r, const struct tracker_exec *of, uint64_t addr, char *to,
		   size_t room)
{
	struct code_place at;
	uint64_t start = 0;
	const char *name;

	if (!FRAME_IS_ADDRESS(addr) || addr & FRAME_EXACT)
		return false;
	place_of(r, of, addr | FRAME_EXACT, &at);
	name = name_place(r, of, &at, &start);
	if (name && start && start != at.vaddr)
		snprintf(to, room, "%s+0x%" PRIx64, name, at.vaddr - start);
	else if (name)
		snprintf(to, room, "%s", name);
	if (at.object)
		object_put(r->tracker, at.object);
	return name != NULL;
}

/* Adds a call to the text of a run, and how often it stands there in a row. */
static void tell_call(struct inspection_run *run, const struct language_call *call,
		      uint32_t repeated)
{
	const size_t at = strlen(run->calls), room = sizeof(run->calls) - at;
	const char *file = strrchr(call->method->file, '/');
	char times[16] = "";

	if (repeated > 1)
		snprintf(times, sizeof(times), " x%u", repeated);
	snprintf(run->calls + at, room, "%s%s (%s:%u)%s", at ? ", " : "", call->method->name,
		 file ? file + 1 : call->method->file, call->line, times);
}

static bool same_call(const struct language_call *a, const struct language_call *b)
{
	return a->method == b->method && a->line == b->line && a->at == b->at;
}

/* Runs of frames in the same native frame, leaf first; in one, the outermost call comes first. */
static int tell_runs(struct inspection *i, const struct language_stack *language,
		     const struct stack_record *proofs)
{
	uint32_t end, repeated;

	i->runs = calloc(INSPECTION_RUNS, sizeof(*i->runs));
	if (!i->runs)
		return -ENOMEM;
	for (uint32_t at = 0; at < language->nframes && i->nruns < INSPECTION_RUNS; at = end) {
		struct inspection_run *run = &i->runs[i->nruns];

		for (end = at + 1; end < language->nframes &&
				   language->frames[end].at == language->frames[at].at;)
			end++;
		run->frame = language->frames[at].at == LANGUAGE_NOWHERE ? INSPECTION_NOWHERE
									 : language->frames[at].at;
		if (proofs && i->nruns < proofs->nframes)
			run->record = proofs->frames[i->nruns];
		snprintf(run->language, sizeof(run->language), "%s",
			 language_name(language->frames[at].method->kind));
		for (uint32_t n = end; n > at; n -= repeated) {
			repeated = 1;
			while (n - repeated > at && same_call(&language->frames[n - 1],
							      &language->frames[n - 1 - repeated]))
				repeated++;
			tell_call(run, &language->frames[n - 1], repeated);
		}
		i->nruns++;
	}
	return 0;
}

int resolver_inspection(struct resolver *r, struct inspection *inspection,
			const struct language_stack *language, const struct stack_record *proofs)
{
	const struct trace *t = inspection->trace;
	uint64_t frame, caller;
	int err = 0;

	for (uint32_t i = 0; i < t->nsteps && !err; i++) {
		frame = t->steps[i].frame;
		caller = i + 1 < t->nsteps ? t->steps[i + 1].frame : 0;
		err = name_inspected(r, &t->capture, frame, reach_of(frame, caller, !i),
				     &inspection->frames[i]);
	}
	for (uint32_t i = 0; i < t->nfp && !err; i++)
		err = name_inspected(r, &t->capture, t->fp_frames[i] | (i ? 0 : FRAME_EXACT),
				     ANYWHERE, &inspection->fp_frames[i]);
	if (!err && language)
		err = tell_runs(inspection, language,
				proofs && proofs->hash == t->capture.hash ? proofs : NULL);
	return err;
}

int64_t resolver_kernel(struct resolver *r, const struct stack_record *rec)
{
	uint32_t n = rec->nframes;

	if (n > KERNEL_FRAMES_MAX)
		n = KERNEL_FRAMES_MAX;
	for (uint32_t i = 0; i < n; i++)
		r->ksym[i] = (struct ksym){.addr = rec->frames[i], .leaf = i == 0};
	ksyms_resolve(r->ksyms, r->ksym, n, rec->kernel_code);
	for (uint32_t i = 0; i < n; i++)
		r->frames[n - 1 - i] = (struct frame_name){
			.kind = FUNC_KERNEL, .name = r->ksym[i].name, .module = r->ksym[i].module};
	return intern(r, n, true, true, STACK_LOCK_NONE);
}

int64_t resolver_lost(struct resolver *r, bool kernel)
{
	r->frames[0] = end_name(CAUSE_STACK_LOST);
	return intern(r, 1, kernel, false, STACK_LOCK_NONE);
}
