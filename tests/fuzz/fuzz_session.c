// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=65536 -rss_limit_mb=2048 */
/*
 * Bytes as a session. If the first byte is even, the rest is a file as it is; else it is a list of
 * chunks (type, time in 100 ms, two bytes of size, content), which get header, compression and
 * checksum here, so that the fuzzer reaches their content. A session that opens is read in all
 * directions, and, with bit 1, replayed and reported on, which takes a thread.
 * Covers: tui/session/session_read.c tui/session/session_names.c tui/session/player.c
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/session_checks.h"

#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "tui/export/batch.h"
#include "tui/profile/source.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"
#include "tui/session/player.h"
#include "tui/session/session.h"
#include "tui/session/session_read.h"

#define CONTENT_MAX 65536u

static void put(int fd, const void *data, size_t size)
{
	require(write(fd, data, size) == (ssize_t)size);
}

static void put_chunk(int fd, unsigned int type, uint64_t time, const uint8_t *data, size_t size)
{
	static uint8_t packed[2 * CONTENT_MAX];
	static ZSTD_CCtx *zstd;
	struct session_chunk head = {.magic = SESSION_CHUNK_MAGIC,
				     .type = (uint8_t)type,
				     .size = (uint32_t)size,
				     .time = time};

	size_t n;

	if (!zstd)
		zstd = ZSTD_createCCtx();
	n = ZSTD_compressCCtx(zstd, packed, sizeof(packed), data, size, 1);
	require(!ZSTD_isError(n));
	head.packed = (uint32_t)n;
	head.crc = (uint32_t)crc32(0, (const void *)&head, offsetof(struct session_chunk, crc));
	head.crc = (uint32_t)crc32(head.crc, packed, head.packed);
	put(fd, &head, sizeof(head));
	put(fd, packed, head.packed);
}

static void put_chunks(int fd, const uint8_t *data, size_t size)
{
	uint64_t time = 0;

	put(fd, SESSION_MAGIC, SESSION_MAGIC_SIZE);
	while (size >= 4) {
		unsigned int type = fuzz_u8(&data, &size);
		size_t length;
		uint8_t *copy;

		time += fuzz_u8(&data, &size) * 100000000ull;
		length = fuzz_u8(&data, &size);
		length |= (size_t)fuzz_u8(&data, &size) << 8;
		if (length > size)
			length = size;
		copy = fuzz_copy(data, length);
		put_chunk(fd, type, type == SESSION_SLICE ? time : 0, copy, length);
		free(copy);
		data += length;
		size -= length;
	}
}

static void check_slice(struct session *s, uint32_t n)
{
	struct session_slice slice;
	struct profile_proc proc;
	uint64_t weight = 0;
	uint32_t first, end;

	session_changes(s, n, &first, &end);
	for (; first < end; first++)
		require(session_names_proc(session_all_names(s),
					   session_names_change(session_all_names(s), first), n,
					   &proc));
	if (session_read(s, n, &slice))
		return;
	for (size_t i = 0; i < slice.ncells; i++) {
		const struct profile_cell *cell = &slice.cells[i];

		require(session_names_proc(session_all_names(s), cell->proc, n, &proc));
		check_text(proc.comm);
		check_text(proc.cmdline);
		require(cell->cpu <= SESSION_CPU_MAX);
		require(cell->weight <= SESSION_WEIGHT_MAX - weight);
		weight += cell->weight;
		require(cell->ustack == PROFILE_NO_STACK ||
			cell->ustack < session_names_counts(session_all_names(s)).stacks);
		require(cell->kstack == PROFILE_NO_STACK ||
			cell->kstack < session_names_counts(session_all_names(s)).stacks);
	}
	require(slice.nuse <= CPU_USE_MAX);
	for (size_t i = 0; i < slice.nuse; i++) {
		require(slice.use[i].user + slice.use[i].kernel <= SESSION_USE_WHOLE);
		require(!i || slice.use[i].cpu > slice.use[i - 1].cpu);
	}
	for (size_t i = 0; i < slice.nmessages; i++)
		check_text(slice.messages[i].text);
}

static void replay(const char *path)
{
	struct player_options options = {.path = path, .speed = 1, .screenshot = true};
	struct profile *p = profile_new(10, 1000);
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct source *source;
	char error[256], *text = NULL;
	struct pollfd fd;
	uint64_t n;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	require(p && to && !player_new(p, &options, &source, error, sizeof(error)));
	fd = (struct pollfd){.fd = source->event, .events = POLLIN};
	while (!source->finished)
		if (poll(&fd, 1, -1) == 1 && read(fd.fd, &n, sizeof(n)) < 0)
			break;
	for (int m = MEASURE_CPU; m < MEASURES_SHOWN; m++) {
		q.measure = (enum measure)m;
		require(!batch_text(to, p, &q) && !batch_folded(to, p, &q));
	}
	source_free(source);
	profile_free(p);
	fclose(to);
	free(text);
}

static int take_input(const uint8_t *data, size_t size)
{
	unsigned int packed = fuzz_u8(&data, &size);
	int fd = memfd_create("session", MFD_CLOEXEC);
	char path[64], error[256];
	struct session *s;

	require(fd >= 0);
	if (packed & 1)
		put_chunks(fd, data, size);
	else
		put(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!session_open(path, &s, error, sizeof(error))) {
		check_text(session_info(s)->host);
		check_stacks(session_all_names(s));
		for (uint32_t i = 0; i < session_slices(s); i++)
			check_slice(s, i);
		for (uint32_t i = session_slices(s); i-- > 0;)
			check_slice(s, i);
		session_free(s);
		if (packed & 2)
			replay(path);
	}
	close(fd);
	return 0;
}

FUZZ_TARGET(take_input, 16u << 20, 4096)
