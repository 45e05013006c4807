/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_READ_H
#define STACKTOP_TUI_SESSION_SESSION_READ_H

/*
 * Reads a session (docs/SESSION.md) by slices, in any order. Definitions are read when it is opened
 * (session_names.h), slices when they are asked for. Whatever the file contains, at most
 * SESSION_MEMORY_MAX bytes are used, every text is clean, and no file named in it is opened.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/base/message.h"
#include "tui/profile/profile.h"
#include "tui/session/session_names.h"

/* Names, places of slices, a chunk twice, its cells, and what zstd needs for a chunk's window. */
#define SESSION_MEMORY_MAX ((size_t)704 << 20)
/* Of these, the places; of a file with more slices only so many are read. */
#define SESSION_SLICES_MAX 2000000u

struct cursor;
struct session;

struct session_message {
	enum message_level level;
	char text[256];
};

#define SESSION_MESSAGES_MAX 16

/* A slice. Ids are the session's. */
struct session_slice {
	const struct profile_cell *cells;
	size_t ncells;
	const struct cpu_use *use;    /* sorted by CPU */
	size_t nuse;		      /* 0: not recorded */
	struct profile_health health; /* .time: ns since the start; left to the caller */
	struct session_message messages[SESSION_MESSAGES_MAX];
	size_t nmessages;
};

/* Room for the cells of a slice, reused for the next. Zeroed: none; to be freed by free(at). */
struct session_cells {
	struct profile_cell *at;
	size_t room;
	struct cpu_use use[CPU_USE_MAX];
};

/*
 * Takes slice n. out->cells point into `cells`, which the next slice overwrites. -EBADMSG: it makes
 * no sense; -ENOMEM.
 */
int session_slice_take(struct session_names *names, struct cursor *c, uint32_t n,
		       struct session_cells *cells, struct session_slice *out);

struct session_info {
	uint64_t clock; /* CLOCK_REALTIME ns when it began */
	char host[65];
	char system[96]; /* release and machine of the kernel */
};

/*
 * A session that was cut off or damaged ends with the last whole slice before. A file of another
 * profiler is imported (session_import.h), also from a pipe, for whose end this waits. error says
 * what is wrong, after the path. -EPROTONOSUPPORT: a session of another version; -ENOMSG: an empty
 * file; -ESPIPE: it cannot be read from a pipe; -EISDIR, -ENODATA, -EBADMSG, -EINVAL, -EFBIG,
 * -ENOMEM, or -errno of the open.
 */
int session_open(const char *path, struct session **out, char *error, size_t size);
/* The same for an open file, of that name in messages: closed by session_free, or at once on
 * failure. A regular file is read from its begin, wherever its offset is. */
int session_open_fd(int fd, const char *name, struct session **out, char *error, size_t size);
void session_free(struct session *s);

const struct session_info *session_info(const struct session *s);
/* NULL: it is complete; else what is wrong with its end ("was cut off", say). */
const char *session_flaw(const struct session *s);

uint32_t session_slices(const struct session *s);
/* End of slice n, ns since the start, n < session_slices(). Never decreasing. */
uint64_t session_time(const struct session *s, uint32_t n);
/* *out is valid until the next call. -EBADMSG: it makes no sense; -errno of the read; -ENOMEM. */
int session_read(struct session *s, uint32_t n, struct session_slice *out);

/* Of all slices; valid as long as the session. */
struct session_names *session_all_names(struct session *s);
/*
 * The processes that appeared or changed with slice n: numbers from *first to *end - 1 for
 * session_names_change.
 */
void session_changes(const struct session *s, uint32_t n, uint32_t *first, uint32_t *end);
/* Likewise the functions that got another hottest line, for session_names_line. */
void session_lines(const struct session *s, uint32_t n, uint32_t *first, uint32_t *end);

#endif
