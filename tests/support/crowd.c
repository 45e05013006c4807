// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/crowd.h"

#include <stdio.h>
#include <string.h>

#include "tui/app/dispatch.h"

static void tell(struct crowd *c, int job, const char *comm, const char *cmdline, int parent,
		 bool exited)
{
	struct profile_proc proc = {.pid = 1000 + job,
				    .ppid = parent,
				    .image = 1,
				    .nthreads = 1,
				    .exited = exited,
				    .exit_time = exited ? c->t->feed.time : 0,
				    .user = "ann"};
	int64_t id;

	snprintf(proc.comm, sizeof(proc.comm), "%s", comm);
	snprintf(proc.cmdline, sizeof(proc.cmdline), "%s", cmdline);
	profile_lock(c->t->feed.p);
	id = profile_proc(c->t->feed.p, &proc);
	profile_unlock(c->t->feed.p);
	assert_true(id >= 0);
	c->ids[job] = (uint32_t)id;
}

void crowd_open(struct crowd *c, struct typist *t, int count)
{
	*c = (struct crowd){.t = t, .count = count};
	assert_true(count <= CROWD_MAX);
	for (int i = 0; i < count; i++) {
		char name[32], frames[64];

		snprintf(name, sizeof(name), "job-%02d", i);
		snprintf(frames, sizeof(frames), "main@job;work_%d@job", i);
		tell(c, i, name, name, 1, false);
		profile_lock(t->feed.p);
		c->stacks[i] = machine_stack(&t->feed, frames);
		profile_unlock(t->feed.p);
	}
}

void crowd_close(struct crowd *c)
{
	profile_lock(c->t->feed.p);
	for (int i = 0; i < c->count; i++)
		profile_stack_put(c->t->feed.p, c->stacks[i]);
	profile_unlock(c->t->feed.p);
}

void crowd_seconds(struct crowd *c, int n)
{
	struct profile_cell cells[CROWD_MAX];
	struct profile_health h;

	while (n--) {
		uint64_t sum = 0;
		size_t ncells = 0;

		for (int i = 0; i < c->count; i++) {
			if (!c->samples[i])
				continue;
			sum += c->samples[i];
			cells[ncells++] = (struct profile_cell){c->ids[i],
								(uint32_t)(1000 + i),
								c->stacks[i],
								PROFILE_NO_STACK,
								c->samples[i],
								0,
								0};
		}
		c->t->feed.time += MACHINE_SECOND;
		c->t->ui->now += MACHINE_SECOND;
		machine_health(&c->t->feed, &h, sum, 0, sum);
		profile_lock(c->t->feed.p);
		assert_int_equal(profile_commit(c->t->feed.p, cells, ncells, &h), 0);
		profile_unlock(c->t->feed.p);
		assert_int_equal(ui_refresh(c->t->ui), 0);
	}
}

static void tell_again(struct crowd *c, int job, bool exited)
{
	struct profile_proc proc;

	profile_lock(c->t->feed.p);
	proc = *query_proc(c->t->feed.p, c->ids[job]);
	profile_unlock(c->t->feed.p);
	tell(c, job, proc.comm, proc.cmdline, (int)proc.ppid, exited);
}

void crowd_exits(struct crowd *c, int job)
{
	c->samples[job] = 0;
	tell_again(c, job, true);
}

void crowd_names(struct crowd *c, int job, const char *comm, const char *cmdline, int parent)
{
	tell(c, job, comm, cmdline, parent ? parent : 1, false);
}
