// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See vma.h. The kernel's data structures for mappings are no stable interface, so the program is
 * first tried on known mappings.
 */
#include "bpf/sampler/vma.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/objects.h"
#include "symbols/files/procmaps.h"

#define FILES_MIN 2 /* at least our own text and libc's */

struct trial {
	int program;
	unsigned int files;
};

static bool is_mapped(int program, uint64_t addr, uint32_t tag)
{
	uint64_t args[2] = {addr, tag};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	return !bpf_prog_test_run_opts(program, &opts) && opts.retval == 1;
}

/* 1: the program is wrong. */
static int try_mapping(const struct procmap *map, void *arg)
{
	struct trial *trial = arg;
	uint64_t file = vma_file_tag(vma_dev(map->dev_major, map->dev_minor), map->inode);
	uint64_t base = map->start - map->offset;

	if (!map->inode)
		return 0;
	trial->files++;
	return !is_mapped(trial->program, map->start, vma_tag(file, base)) ||
	       !is_mapped(trial->program, map->end - 1, vma_tag(file, base)) ||
	       is_mapped(trial->program, map->start, vma_tag(file, base + 4096)) ||
	       is_mapped(trial->program, map->start, VMA_ANONYMOUS) ||
	       is_mapped(trial->program, 4096, vma_tag(file, base));
}

bool vma_can_be_found(void)
{
	struct bpf_object *object = objects_vma();
	struct bpf_program *program = NULL;
	struct trial trial = {0};
	bool right = false;

	if (object && !bpf_object__load(object))
		program = bpf_object__find_program_by_name(object, "is_mapped");
	if (program) {
		trial.program = bpf_program__fd(program);
		right = !procmaps_read(getpid(), true, try_mapping, &trial) &&
			trial.files >= FILES_MIN;
	}
	bpf_object__close(object);
	return right;
}
