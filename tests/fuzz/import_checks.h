/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_IMPORT_CHECKS_H
#define STACKTOP_TESTS_IMPORT_CHECKS_H

/* What holds for whatever a file of another profiler contains. */

#include "tests/fuzz/fuzz.h"

#include "tests/fuzz/session_checks.h"
#include "tui/import/import_priv.h"
#include "tui/profile/profile.h"
#include "tui/session/session.h"

static inline int check_imported(struct profile *p, const struct profile_cell *cells, size_t ncells,
				 const struct profile_health *health, void *arg)
{
	uint64_t *time = arg, sum = 0;

	require(session_may_have(ncells, health->elapsed) && health->elapsed);
	require(health->time > *time);
	*time = health->time;
	for (size_t i = 0; i < ncells; i++) {
		require(cells[i].count && cells[i].count <= UINT32_MAX);
		require(cells[i].weight <= SESSION_WEIGHT_MAX - sum);
		sum += cells[i].weight;
		require(query_proc(p, cells[i].proc) != NULL);
		check_text(query_proc(p, cells[i].proc)->comm);
		require(cells[i].ustack == PROFILE_NO_STACK || query_stack(p, cells[i].ustack));
		require(cells[i].kstack == PROFILE_NO_STACK || query_stack(p, cells[i].kstack));
	}
	return 0;
}

/* Has a copy of the input read by one of the readers. */
static inline int import_check(const uint8_t *data, size_t size,
			       int (*import)(const uint8_t *data, size_t size,
					     struct import_to *to))
{
	struct profile *p = profile_new(1, 1000);
	uint8_t *copy = fuzz_copy(data, size);
	uint64_t time = 0;
	char error[256] = "";
	struct import_to to = {.profile = p,
			       .slice = check_imported,
			       .arg = &time,
			       .clock = (uint64_t)1 << 60,
			       .error = error,
			       .size = sizeof(error)};
	int err;

	require(p != NULL);
	profile_lock(p);
	err = import(copy, size, &to);
	require(err <= 0 && (err || time));
	require(!strpbrk(error, "\033\n\r"));
	profile_unlock(p);
	profile_free(p);
	free(copy);
	return 0;
}

#endif
