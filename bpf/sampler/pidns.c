// SPDX-License-Identifier: GPL-2.0-or-later
/* See pidns.h. */
#include "bpf/sampler/pidns.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/objects.h"

/* PROC_PID_INIT_INO of include/linux/proc_ns.h: the initial PID namespace. */
#define INITIAL_PID_NS 0xeffffffcu

static uint32_t own_inode(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? INITIAL_PID_NS : (uint32_t)st.st_ino;
}

bool pidns_is_initial(void)
{
	return own_inode() == INITIAL_PID_NS;
}

unsigned int pidns_numbers(const char *line, long *first)
{
	unsigned int n = 0;
	char *end;
	long number;

	*first = 0;
	if (strncmp(line, "NSpid:", 6) != 0)
		return 0;
	for (line += 6;; line = end, n++) {
		line += strspn(line, " \t");
		if (!*line || *line == '\n')
			return n;
		number = isdigit((unsigned char)*line) ? strtol(line, &end, 10) : 0;
		if (number <= 0 || number > INT_MAX)
			return 0;
		if (!n)
			*first = number;
	}
}

/*
 * In the /proc of an outer namespace the process has one number for each level; in that of any
 * other namespace it does not appear. Without CONFIG_PID_NS there are no numbers.
 */
bool pidns_has_proc(char *error, size_t size)
{
	FILE *file = fopen("/proc/self/status", "re");
	char *line = NULL;
	size_t room = 0;
	unsigned int n = 0;
	long first = getpid();

	while (file && !n && getline(&line, &room, file) > 0)
		if (!strncmp(line, "NSpid:", 6))
			n = pidns_numbers(line, &first);
	free(line);
	if (file)
		fclose(file);
	if (file && n <= 1 && first == getpid())
		return true;
	snprintf(error, size, "/proc is not of this PID namespace; mount -t proc proc /proc%s",
		 n > 1 ? ", or unshare --mount-proc" : "");
	return false;
}

/* The knob is the only content of .rodata. */
static int load_object(struct bpf_object *object, uint32_t inode)
{
	struct bpf_map *map;
	int err = -EINVAL;
	size_t size = 0;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata") && bpf_map__initial_value(map, &size) &&
		    size == sizeof(inode))
			err = bpf_map__set_initial_value(map, &inode, sizeof(inode));
	}
	return err ? err : bpf_object__load(object);
}

int pidns_read(struct pidns *out, char *error, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	const uint32_t inode = own_inode();
	struct bpf_program *program;
	struct bpf_object *object;
	int err;

	*out = (struct pidns){0};
	if (inode == INITIAL_PID_NS)
		return 0;
	object = objects_pidns();
	err = object ? load_object(object, inode) : -errno;
	program = err ? NULL : bpf_object__find_program_by_name(object, "find_level");
	if (!err)
		err = program ? bpf_prog_test_run_opts(bpf_program__fd(program), &opts) : -ENOENT;
	bpf_object__close(object);
	if (!err && (opts.retval & PIDNS_NUMBER_MASK) != (uint32_t)getpid())
		err = -ENOTSUP;
	if (err) {
		snprintf(error, size,
			 "this kernel does not report the numbers of PID namespace %u: %s; run "
			 "stacktop outside of the container, or with its host's PID namespace",
			 inode, strerror(-err));
		return err;
	}
	*out = (struct pidns){inode, opts.retval >> PIDNS_LEVEL_SHIFT};
	return 0;
}
