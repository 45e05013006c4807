// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=512 -entropic=0 */
/*
 * Bytes as the contents of a session's chunks, without the file, the checksums and the
 * compression around them, which fuzz_session has: that makes a hundred times as many runs. Each
 * chunk is a byte (0 to 127: definitions, else a slice), a byte of size, content. Weighing inputs
 * by the rarity of their features would take two thirds of the time, so -entropic=0.
 * Covers: tui/session/session_names.c tui/session/session_read.c tui/util/bytes.h
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/session_checks.h"

#include "tui/util/bytes.h"
#include "tui/session/session_names.h"
#include "tui/session/session_read.h"

static void check_proc(struct session_names *names, uint32_t id, uint32_t slice)
{
	struct profile_proc proc;
	uint32_t before = 0;

	require(session_names_proc(names, id, slice, &proc));
	require(session_names_pid(names, id, slice) == proc.pid);
	check_text(proc.comm);
	check_text(proc.user);
	check_text(proc.group);
	check_text(proc.cmdline);
	for (uint32_t at = session_names_first_thread(names, id); at != SESSION_NAMES_NONE;) {
		struct session_thread thread = session_names_thread(names, at);

		check_text(thread.comm);
		require(thread.slice >= before &&
			(thread.next == SESSION_NAMES_NONE || thread.next > at));
		before = thread.slice;
		at = thread.next;
	}
}

static void check_inventory(struct session_names *names, uint32_t slice)
{
	struct cursor content;

	/* Its contents have a fuzzer of their own, since they involve half of the program. */
	if (session_names_state(names, SESSION_INVENTORY, slice, &content) == SESSION_NAMES_NONE)
		return;
	require(content.at <= content.end && !content.bad);
	while (content.at < content.end && !content.bad)
		cursor_number(&content);
}

static void check_names(struct session_names *names, uint32_t slices)
{
	const char *module, *build;

	check_stacks(names);
	for (uint32_t i = 0; i < session_names_counts(names).changes; i++)
		require(session_names_change(names, i) < session_names_counts(names).procs);
	for (uint32_t i = 0; i < session_names_counts(names).procs; i++)
		check_proc(names, i, slices);
	for (uint32_t i = 0; i < session_names_counts(names).lines; i++) {
		require(session_names_line(names, i).func < session_names_counts(names).funcs);
		check_text(session_names_line(names, i).file);
	}
	for (uint32_t i = 0; i < session_names_counts(names).modules; i++) {
		session_names_module(names, i, &module, &build);
		check_text(module);
		require(strlen(build) < PROFILE_BUILD_MAX);
	}
	check_inventory(names, slices);
	require(session_names_bytes(names) <= SESSION_NAMES_MAX);
}

static void check_slice(struct session_names *names, uint32_t n, const struct session_slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *cell = &slice->cells[i];

		require(cell->proc < session_names_counts(names).procs);
		require(session_names_pid(names, cell->proc, n) >= 0);
		require(cell->ustack == PROFILE_NO_STACK ||
			cell->ustack < session_names_counts(names).stacks);
		require(cell->kstack == PROFILE_NO_STACK ||
			cell->kstack < session_names_counts(names).stacks);
	}
	for (size_t i = 0; i < slice->nmessages; i++)
		check_text(slice->messages[i].text);
	require(memchr(slice->health.event, 0, sizeof(slice->health.event)) != NULL);
}

/* Returns false where the session ends. */
static bool take_chunk(struct session_names *names, struct session_cells *cells, uint32_t *slices,
		       const uint8_t **data, size_t *size)
{
	bool is_slice = fuzz_u8(data, size) & 0x80;
	size_t length = fuzz_u8(data, size);
	struct session_slice slice;
	struct cursor c;
	uint8_t *copy;
	int err;

	if (length > *size)
		length = *size;
	copy = fuzz_copy(*data, length);
	c = (struct cursor){.at = copy, .end = copy + length};
	if (is_slice)
		err = session_slice_take(names, &c, *slices, cells, &slice);
	else
		err = session_names_take(names, &c, *slices);
	if (is_slice && !err)
		check_slice(names, (*slices)++, &slice);
	free(copy);
	*data += length;
	*size -= length;
	return !err;
}

static int take_input(const uint8_t *data, size_t size)
{
	struct session_names *names = session_names_new();
	struct session_cells cells = {0};
	uint32_t slices = 0;

	require(names != NULL);
	while (size > 2 && take_chunk(names, &cells, &slices, &data, &size))
		;
	check_names(names, slices);
	free(cells.at);
	session_names_free(names);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 1024)
