// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions that want memory: each is as bad as the format allows in one way, and is opened and
 * replayed to its end in a process of its own, whose peak is compared with the bounds that
 * session_read.h and docs/SESSION.md state. A peak far below the bound would mean that the file
 * is not bad enough to tell anything, so there is a least one, too. time limit: 300 s
 * Covers: tui/session/session_read.c tui/session/session_names.c
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/scratch.h"
#include "tui/util/bytes.h"
#include "tui/profile/source.h"
#include "tui/profile/profile.h"
#include "tui/session/player.h"
#include "tui/session/session.h"
#include "tui/session/session_read.h"

#define MB	   ((size_t)1 << 20)
#define NS	   1000000000ull
#define REPLAY_MAX (2048 * MB) /* docs/SESSION.md */
#define CHUNK	   (8 * MB - 4096)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Sanitizers take ten times as long, and memory of their own. */
#define SCALE (SANITIZED ? 20 : 1)

static char path[SCRATCH];

/* --- a session by hand ------------------------------------------------------------------------ */

struct maker {
	FILE *to;
	struct outbytes content;
	void *packed;
};

static void put_chunk(struct maker *m, enum session_chunk_type type, uint64_t time)
{
	struct session_chunk head = {.magic = SESSION_CHUNK_MAGIC,
				     .type = (uint8_t)type,
				     .size = (uint32_t)m->content.size,
				     .time = time};
	size_t n = ZSTD_compress(m->packed, ZSTD_compressBound(8 * MB), m->content.data,
				 m->content.size, 1);

	assert_false(ZSTD_isError(n));
	assert_false(m->content.failed);
	head.packed = (uint32_t)n;
	head.crc = (uint32_t)crc32(0, (const void *)&head, offsetof(struct session_chunk, crc));
	head.crc = (uint32_t)crc32(head.crc, m->packed, head.packed);
	assert_int_equal(fwrite(&head, sizeof(head), 1, m->to), 1);
	assert_int_equal(fwrite(m->packed, n, 1, m->to), 1);
	m->content.size = 0;
}

static void begin(struct maker *m)
{
	*m = (struct maker){.to = fopen(path, "w"), .packed = malloc(ZSTD_compressBound(8 * MB))};
	assert_non_null(m->to);
	assert_non_null(m->packed);
	fputs(SESSION_MAGIC, m->to);
	bytes_put_number(&m->content, 1700000000 * NS);
	for (int i = 0; i < 3; i++)
		bytes_put_text(&m->content, "evil");
	put_chunk(m, SESSION_START, 0);
}

static void end(struct maker *m)
{
	assert_int_equal(fclose(m->to), 0);
	bytes_free(&m->content);
	free(m->packed);
}

static void put_record(struct maker *m, enum session_record type, const struct outbytes *body)
{
	if (m->content.size + body->size > CHUNK)
		put_chunk(m, SESSION_DEFINITIONS, 0);
	bytes_put_number(&m->content, type);
	bytes_put_number(&m->content, body->size);
	bytes_put(&m->content, body->data, body->size);
}

static void put_numbers(struct maker *m, enum session_record type, size_t count,
			const uint64_t *numbers)
{
	static struct outbytes body; /* room for many millions of them */

	body.size = 0;
	for (size_t i = 0; i < count; i++)
		bytes_put_number(&body, numbers[i]);
	put_record(m, type, &body);
}

#define RECORD(m, type, ...)                                                                       \
	put_numbers(m, type, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                 \
		    (uint64_t[]){__VA_ARGS__})

/* Of the greatest length, and no two alike. */
static void put_strings(struct maker *m, int count, int length)
{
	char text[1024];

	for (int i = 0; i < count; i++) {
		struct outbytes body = {0};

		memset(text, 'x', sizeof(text));
		snprintf(text, sizeof(text), "%08d", i);
		text[8] = 'x';
		bytes_put(&body, text, (size_t)length);
		put_record(m, SESSION_STRING, &body);
		bytes_free(&body);
	}
}

static void put_proc(struct maker *m, uint64_t id, uint64_t string)
{
	RECORD(m, SESSION_PROC, id, id + 1, 1, id, 0, string, string, string, 1, 0, string);
}

/* Up to the cells. */
static void begin_slice(struct maker *m, uint64_t elapsed, uint64_t cells)
{
	if (m->content.size)
		put_chunk(m, SESSION_DEFINITIONS, 0);
	bytes_put_number(&m->content, 0); /* clock, event */
	bytes_put_number(&m->content, 0);
	bytes_put_number(&m->content, 1); /* figures, losses, messages */
	bytes_put_number(&m->content, elapsed);
	bytes_put_number(&m->content, 0);
	bytes_put_number(&m->content, 0);
	bytes_put_number(&m->content, cells);
}

static void put_cell(struct maker *m, uint64_t proc, uint64_t ustack, uint64_t kstack)
{
	bytes_put_number(&m->content, proc);
	bytes_put_number(&m->content, 0);
	bytes_put_number(&m->content, ustack);
	bytes_put_number(&m->content, kstack);
	bytes_put_number(&m->content, 1);
}

/* --- who opens it ----------------------------------------------------------------------------- */

static int replay(void)
{
	struct player_options options = {.path = path, .speed = 1, .screenshot = true};
	struct profile *p = profile_new(10, 50000);
	struct source *source;
	char error[256];

	if (!p || player_new(p, &options, &source, error, sizeof(error)))
		return 2;
	while (!source->finished) {
		struct pollfd fd = {.fd = source->event, .events = POLLIN};

		poll(&fd, 1, 100);
	}
	source_free(source);
	profile_free(p);
	return 0;
}

static int open_only(void)
{
	struct session *s;
	struct session_slice slice;
	char error[256];

	if (session_open(path, &s, error, sizeof(error)))
		return 2;
	for (uint32_t n = 0; n < session_slices(s); n++)
		if (session_read(s, n, &slice))
			return 3;
	session_free(s);
	return 0;
}

/* Peak of a process that does it, bytes. */
static size_t peak(int (*what)(void))
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(what());
	assert_true(pid > 0);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return (size_t)usage.ru_maxrss * 1024;
}

static void check(size_t least, size_t least_replay)
{
	size_t opened = peak(open_only), replayed = peak(replay);

	print_message("          %zu MiB opened, %zu MiB replayed\n", opened / MB, replayed / MB);
	if (SANITIZED)
		return;
	assert_in_range(opened, least, SESSION_MEMORY_MAX);
	assert_in_range(replayed, least_replay, REPLAY_MAX);
}

/* --- what is bad ------------------------------------------------------------------------------ */

/* A few long strings make a million functions with long names, and stacks use them all. */
static void functions(void **state)
{
	struct maker m;

	(void)state;
	begin(&m);
	put_strings(&m, 2000, 1023);
	put_proc(&m, 0, 0);
	for (uint64_t i = 0; i < 2000; i++)
		for (uint64_t k = 0; k < 700; k++)
			RECORD(&m, SESSION_FUNC, 0, i, k);
	for (uint64_t i = 0; i < 1400; i++) {
		struct outbytes body = {0};

		bytes_put_number(&body, 0);
		bytes_put_number(&body, 0);
		bytes_put_number(&body, 1000);
		for (uint64_t k = 0; k < 1000; k++)
			bytes_put_number(&body, i * 1000 + k);
		put_record(&m, SESSION_STACK, &body);
		bytes_free(&body);
	}
	begin_slice(&m, NS, 1400);
	for (uint64_t i = 0; i < 1400; i++)
		put_cell(&m, 0, i + 1, 0);
	put_chunk(&m, SESSION_SLICE, NS);
	end(&m);
	check(20 * MB, 300 * MB);
}

/* As many definitions as fit, of whatever is cheapest to write. */
static void definitions(void **state)
{
	struct maker m;

	(void)state;
	begin(&m);
	put_strings(&m, 1, 100);
	put_proc(&m, 0, 0);
	RECORD(&m, SESSION_FUNC, 0, 0, 0);
	begin_slice(&m, NS, 1);
	put_cell(&m, 0, 0, 0);
	put_chunk(&m, SESSION_SLICE, NS);
	for (uint64_t i = 0; i < 9000000 / SCALE; i++)
		RECORD(&m, SESSION_STACK, 0, i, 1, 0);
	for (uint64_t i = 0; i < 3000000 / SCALE; i++)
		RECORD(&m, SESSION_THREAD, 0, i, 0);
	put_chunk(&m, SESSION_DEFINITIONS, 0);
	end(&m);
	check(200 * MB, 200 * MB);
}

static void processes(void **state)
{
	struct maker m;
	uint64_t count = 1000000 / SCALE;

	(void)state;
	begin(&m);
	put_strings(&m, 1, 300);
	for (uint64_t i = 0; i < count; i++)
		put_proc(&m, i, 0);
	for (uint64_t at = 0; at < count; at += 100000 / SCALE) {
		begin_slice(&m, NS, 100000 / SCALE);
		for (uint64_t i = 0; i < 100000 / SCALE; i++)
			put_cell(&m, at + i, 0, 0);
		put_chunk(&m, SESSION_SLICE, NS * (1 + at * SCALE / 100000));
	}
	end(&m);
	check(60 * MB, 200 * MB);
}

/* Slices that say they took long may have many cells; these are all different. */
static void cells(void **state)
{
	struct maker m;

	(void)state;
	begin(&m);
	put_strings(&m, 1, 10);
	RECORD(&m, SESSION_FUNC, 0, 0, 0);
	for (uint64_t i = 0; i < 2000; i++) {
		put_proc(&m, i, 0);
		RECORD(&m, SESSION_STACK, 0, i, 2, 0, 0);
		RECORD(&m, SESSION_STACK, 1, i, 2, 0, 0);
	}
	for (uint64_t n = 0; n < 32; n++) {
		/* The old and the new ones are one slice a second, of all the cells there can be.
		 */
		uint64_t count = 200000 / SCALE;

		begin_slice(&m, NS, count);
		for (uint64_t i = 0; i < count; i++)
			put_cell(&m, (i + n) % 2000, 1 + (i / 7 + n * 31) % 2000,
				 1 + i * 2654435761u % 2000);
		put_chunk(&m, SESSION_SLICE, NS * (n + 1));
	}
	/* Less than nothing in time, and as large as a chunk can be. */
	for (uint64_t n = 0; n < 3; n++) {
		begin_slice(&m, 30 * NS, 1000000);
		for (uint64_t i = 0; i < 1000000; i++)
			put_cell(&m, (i + n) % 100, 1 + i / 100 % 2000, 1 + i % 100);
		put_chunk(&m, SESSION_SLICE, NS * 32);
	}
	end(&m);
	check(20 * MB, 200 * MB);
}

/* Slices of no time at all. */
static void slices(void **state)
{
	struct maker m;

	(void)state;
	begin(&m);
	put_strings(&m, 1, 10);
	put_proc(&m, 0, 0);
	for (uint64_t n = 0; n < 100000 / SCALE; n++) {
		begin_slice(&m, 0, 1);
		put_cell(&m, 0, 0, 0);
		put_chunk(&m, SESSION_SLICE, 5);
	}
	end(&m);
	check(10 * MB, 10 * MB);
}

/* A session with a process and nothing else. */
static void begin_one(struct maker *m)
{
	begin(m);
	put_strings(m, 1, 10);
	put_proc(m, 0, 0);
}

/* Its only slice is in m; to be freed. */
static struct session *open_one(struct maker *m)
{
	struct session *s;
	char error[256];

	put_chunk(m, SESSION_SLICE, NS);
	end(m);
	assert_int_equal(session_open(path, &s, error, sizeof(error)), 0);
	return s;
}

/* What may stand behind the two cells of a slice. */
static void cpus(void **state)
{
	static const struct {
		uint64_t numbers[12];
		int count, err;
		unsigned int cpus[2];
		size_t nuse;	     /* CPUs whose time is told behind them */
		uint64_t weights[2]; /* what the cells stand for, behind that */
	} cases[] = {
		{.count = 0}, /* as it was before there were CPUs */
		{{2, 1, SESSION_CPU_MAX}, 3, 0, {1, SESSION_CPU_MAX}, 0, {0}},
		{{2, 0, 5}, 3, 0, {0, 5}, 0, {0}},
		{{2, 3, 4, 0}, 4, 0, {3, 4}, 0, {0}},
		{{2, 0, 0, 1, 0, 400, 600}, 7, 0, {0, 0}, 1, {0}},
		{{2, 0, 0, 2, 0, 400, 600, 8190, 0, 0}, 10, 0, {0, 0}, 2, {0}},
		{{2, 0, 0, 0, 2, 7, 9}, 7, 0, {0, 0}, 0, {7, 9}},
		{{2, 3, 4, 1, 7, 0, 0, 2, 0, 1}, 10, 0, {3, 4}, 1, {0, 1}},
		{{2, 0, 0, 0, 2, 1, SESSION_WEIGHT_MAX - 1},
		 7,
		 0,
		 {0, 0},
		 0,
		 {1, SESSION_WEIGHT_MAX - 1}},
		/* And what is not known yet. */
		{{2, 3, 4, 1, 7, 0, 0, 2, 5, 6, 99}, 11, 0, {3, 4}, 1, {5, 6}},
		{{2, 0, 0, 0, 1, 7}, 6, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, 3, 7, 8, 9}, 8, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, UINT64_MAX, 7, 8}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, 0}, 5, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, 2}, 5, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, 2, 7}, 6, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, 2, 1, SESSION_WEIGHT_MAX}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 0, 2, UINT64_MAX, 1}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 2, 0, 400, 600}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 1, 0, 400, 601}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 1, 0, 1001, 0}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 1, SESSION_CPU_MAX, 1, 1}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, 2, 0, 1, 1, 8191, 0, 0}, 10, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, SESSION_CPU_MAX + 1, 0, 1, 1}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 0, 0, UINT64_MAX, 0, 1, 1}, 7, -EBADMSG, {0}, 0, {0}},
		{{2, 1}, 2, -EBADMSG, {0}, 0, {0}},
		{{2}, 1, -EBADMSG, {0}, 0, {0}},
		{{1, 1}, 2, -EBADMSG, {0}, 0, {0}},
		{{3, 1, 1, 1}, 4, -EBADMSG, {0}, 0, {0}},
		{{UINT64_MAX, 1, 1}, 3, -EBADMSG, {0}, 0, {0}},
		{{2, 1, SESSION_CPU_MAX + 1}, 3, -EBADMSG, {0}, 0, {0}},
		{{2, UINT64_MAX, 1}, 3, -EBADMSG, {0}, 0, {0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session_slice slice;
		struct session *s;
		struct maker m;

		begin_one(&m);
		begin_slice(&m, NS, 2);
		put_cell(&m, 0, 0, 0);
		put_cell(&m, 0, 0, 0);
		for (int k = 0; k < cases[i].count; k++)
			bytes_put_number(&m.content, cases[i].numbers[k]);
		s = open_one(&m);
		if (session_read(s, 0, &slice) != cases[i].err)
			fail_msg("case %zu", i);
		for (size_t k = 0; k < 2 && !cases[i].err; k++)
			assert_int_equal(slice.cells[k].cpu, cases[i].cpus[k]);
		for (size_t k = 0; k < 2 && !cases[i].err; k++)
			assert_int_equal(slice.cells[k].weight, cases[i].weights[k]);
		if (!cases[i].err)
			assert_int_equal(slice.nuse, cases[i].nuse);
		session_free(s);
	}
}

/* A cell's stack is one of those that were defined, or none. */
static void stacks(void **state)
{
	(void)state;
	for (uint64_t defined = 0; defined < 3; defined++)
		for (uint64_t id = 0; id < 5; id++) {
			struct session_slice slice;
			struct session *s;
			struct maker m;

			begin_one(&m);
			RECORD(&m, SESSION_FUNC, 0, 0, 0);
			for (uint64_t i = 0; i < defined; i++)
				RECORD(&m, SESSION_STACK, 0, i, 1, 0);
			begin_slice(&m, NS, 1);
			put_cell(&m, 0, id, 0);
			s = open_one(&m);
			assert_int_equal(session_read(s, 0, &slice), id > defined ? -EBADMSG : 0);
			if (id <= defined)
				assert_int_equal(slice.cells[0].ustack,
						 id ? id - 1 : PROFILE_NO_STACK);
			session_free(s);
		}
}

static int make_path(void **state)
{
	(void)state;
	return close(scratch_file(path, "hostile"));
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions), cmocka_unit_test(definitions),
		cmocka_unit_test(processes), cmocka_unit_test(cells),
		cmocka_unit_test(slices),    cmocka_unit_test(cpus),
		cmocka_unit_test(stacks),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
