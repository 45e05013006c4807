// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See skipped.h. The kernel numbers programs in ascending order, so looking for new ones costs one
 * system call to find.
 */
#include "bpf/sampler/skipped.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/loader.h"

#define NAMES_MAX 3u

struct skipped {
	const struct profiler_programs *programs;
	struct bpf_object *object;
	struct bpf_link *link;
	__u32 last;  /* number of the last program that was looked at */
	__u32 other; /* id of the program it is attached for; 0: none */
	bool asked;  /* skipped_take */
	int err;     /* of attaching it */
};

int skipped_new(const struct profiler_programs *programs, struct skipped **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->programs = programs;
	return 0;
}

void skipped_free(struct skipped *s)
{
	if (!s)
		return;
	bpf_link__destroy(s->link);
	bpf_object__close(s->object);
	free(s);
}

/* The sampler itself has programs of other types only. */
static bool is_other(__u32 id, struct bpf_prog_info *info)
{
	__u32 size = sizeof(*info);
	int fd = bpf_prog_get_fd_by_id(id), err;

	if (fd < 0)
		return false;
	memset(info, 0, sizeof(*info));
	err = bpf_obj_get_info_by_fd(fd, info, &size);
	close(fd);
	return !err &&
	       (info->type == BPF_PROG_TYPE_KPROBE || info->type == BPF_PROG_TYPE_TRACEPOINT);
}

static void look(struct skipped *s)
{
	struct bpf_prog_info info;
	__u32 next;

	if (s->other && (bpf_prog_get_next_id(s->other - 1, &next) || next != s->other))
		s->other = s->last = 0;
	while (!s->other && !bpf_prog_get_next_id(s->last, &next)) {
		s->last = next;
		if (is_other(next, &info))
			s->other = next;
	}
}

static int attach(struct skipped *s)
{
	if (!s->object)
		s->err = programs_load_timer(s->programs, &s->object);
	if (s->err)
		return s->err;
	s->link = bpf_program__attach(bpf_object__find_program_by_name(s->object, "on_timer_end"));
	if (!s->link)
		s->err = -errno;
	return s->err;
}

int skipped_watch(struct skipped *s)
{
	if (s->err)
		return s->err;
	look(s);
	if ((s->other || s->asked) && !s->link)
		return attach(s);
	if (!s->other && !s->asked) {
		bpf_link__destroy(s->link);
		s->link = NULL;
	}
	return 0;
}

int skipped_take(struct skipped *s)
{
	s->asked = true;
	if (s->err)
		return s->err;
	return s->link ? -EALREADY : attach(s);
}

void skipped_names(char *to, size_t size)
{
	struct bpf_prog_info info;
	size_t at = 0;
	unsigned int n = 0;
	__u32 id = 0;

	to[0] = '\0';
	while (n <= NAMES_MAX && !bpf_prog_get_next_id(id, &id)) {
		if (!is_other(id, &info) || strstr(to, info.name))
			continue;
		at += (size_t)snprintf(to + at, size - at, "%s%s", n ? ", " : "",
				       n < NAMES_MAX ? info.name : "...");
		if (at >= size)
			break;
		n++;
	}
}
