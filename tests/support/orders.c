// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/orders.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "bpf/prog/layout.h"

int fd_of_map(const char *name)
{
	struct bpf_map_info info;
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	int found = -1;
	__u32 size;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		if (!bpf_obj_get_info_by_fd(atoi(e->d_name), &info, &size) &&
		    !strcmp(info.name, name) && atoi(e->d_name) > found)
			found = atoi(e->d_name);
	}
	closedir(dir);
	assert_true(found >= 0);
	return found;
}

bool has_target(pid_t pid)
{
	__u32 key = pid;
	struct target value;

	return bpf_map_lookup_elem(fd_of_map("targets"), &key, &value) == 0 && value.chosen;
}

unsigned int count_attached(struct running *r)
{
	struct tracker_state ts;

	tracker_state(r->tracker, &ts);
	return ts.nattached;
}

void post(struct running *r, enum tracker_command command, const char *arg, int level,
	  const char *begin)
{
	unsigned int before = last_message(r).number;
	struct message m;

	tracker_post(r->tracker, command, arg);
	WAIT((m = last_message(r)).number != before);
	if (m.level != level || strncmp(m.text, begin, strlen(begin)) || strstr(m.text, "(null)"))
		fail_msg("%d: %s", m.level, m.text);
}

void post_pid(struct running *r, enum tracker_command command, pid_t pid, int level,
	      const char *begin)
{
	char arg[16];

	snprintf(arg, sizeof(arg), "%d", pid);
	post(r, command, arg, level, begin);
}
