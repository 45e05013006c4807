// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

uint32_t feed_proc(struct profile *p, pid_t pid, uint64_t image, const char *comm, bool exited)
{
	struct profile_proc info = {.pid = pid, .image = image, .exited = exited, .nthreads = 1};
	int64_t id;

	snprintf(info.comm, sizeof(info.comm), "%s", comm);
	snprintf(info.cmdline, sizeof(info.cmdline), "/bin/%s -x", comm);
	snprintf(info.user, sizeof(info.user), "root");
	id = profile_proc(p, &info);
	assert_true(id >= 0);
	return (uint32_t)id;
}

uint32_t feed_func(struct profile *p, enum func_kind kind, const char *name)
{
	int64_t id = profile_func(p, kind, name, kind == FUNC_KERNEL ? "vmlinux" : "libx.so");

	assert_true(id >= 0);
	return (uint32_t)id;
}

uint32_t feed_stack(struct profile *p, bool kernel, bool complete, const uint32_t *frames,
		    uint32_t nframes)
{
	struct profile_stack stack = {
		.kernel = kernel, .complete = complete, .nframes = nframes, .frames = frames};
	int64_t id = profile_stack_new(p, &stack);

	assert_true(id >= 0);
	return (uint32_t)id;
}

uint32_t feed_names(struct profile *p, bool kernel, const char *names)
{
	char copy[512], *save = NULL;
	uint32_t frames[64], n = 0;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *s = strtok_r(copy, ";", &save); s; s = strtok_r(NULL, ";", &save))
		frames[n++] = feed_func(p, kernel ? FUNC_KERNEL : FUNC_USER, s);
	return feed_stack(p, kernel, !kernel, frames, n);
}

uint32_t feed_frames(struct profile *p, const char *frames, uint64_t place)
{
	static const struct {
		const char *prefix;
		enum func_kind kind;
	} kinds[] = {{"k:", FUNC_KERNEL},  {"inline:", FUNC_INLINE}, {"jit:", FUNC_JIT},
		     {"eval:", FUNC_EVAL}, {"py:", FUNC_PYTHON},     {"php:", FUNC_PHP},
		     {"pl:", FUNC_PERL},   {"rb:", FUNC_RUBY},	     {"js:", FUNC_JS},
		     {"java:", FUNC_JAVA}, {"wait:", FUNC_WAIT},     {"time:", FUNC_TIME},
		     {"lock:", FUNC_LOCK}, {"waker:", FUNC_WAKER}};
	uint32_t ids[1024];
	struct profile_stack stack = {.complete = true, .frames = ids, .place = place};
	char copy[16384];
	char *save = NULL;

	if (frames[0] == '=') {
		stack.lock = (enum stack_lock)(frames[1] - '0');
		frames += 3;
	}
	strncpy(copy, frames, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	for (char *at = strtok_r(copy, ";", &save); at; at = strtok_r(NULL, ";", &save)) {
		enum func_kind kind = FUNC_USER;
		char *module = strchr(at, '@');

		if (module)
			*module++ = '\0';
		if (*at == '!') {
			kind = FUNC_END;
			stack.complete = false;
			at++;
		}
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (strncmp(at, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
				kind = kinds[i].kind;
				at += strlen(kinds[i].prefix);
				break;
			}
		stack.kernel |= kind == FUNC_KERNEL || func_is_wait(kind);
		ids[stack.nframes++] = (uint32_t)profile_func(p, kind, at, module ? module : "");
	}
	return (uint32_t)profile_stack_new(p, &stack);
}

int feed_commit(struct profile *p, const struct profile_cell *cells, size_t ncells)
{
	struct profile_health health = {
		.elapsed = NS, .ncpus = 2, .frequency = 99, .event = "cpu-clock"};

	for (size_t i = 0; i < ncells; i++)
		health.samples += cells[i].count;
	return profile_commit(p, cells, ncells, &health);
}

uint32_t feed_random(uint64_t *state, uint32_t below)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 0x2545f4914f6cdd1dull >> 33) % below);
}
