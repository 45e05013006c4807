// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load OBJECT [LEFT-OUT...]: loads the BPF programs of the object but these, ten times, and prints
 * the median CPU time in microseconds, then each program's name and the instructions that the
 * verifier followed. Maps and settings are those of the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define ROUNDS 10

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void show(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			printf("%s %u\n", bpf_program__name(program), info.verified_insns);
	}
}

/* Microseconds; negative: it cannot be loaded. */
static double load(char *const argv[], int quiet)
{
	struct bpf_object *object = bpf_object__open_file(argv[1], NULL);
	struct bpf_program *program;
	struct bpf_map *map;
	double began = now_us();
	int err;

	if (!object)
		return -1;
	for (char *const *name = argv + 2; *name; name++) {
		program = bpf_object__find_program_by_name(object, *name);
		if (program)
			bpf_program__set_autoload(program, false);
	}
	bpf_object__for_each_map(map, object) if (!bpf_map__max_entries(map))
		bpf_map__set_max_entries(map, bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF ? 1u << 20
											 : 1024);
	began = now_us();
	err = bpf_object__load(object);
	began = now_us() - began;
	if (!err && !quiet)
		show(object);
	bpf_object__close(object);
	return err ? -1 : began;
}

int main(int argc, char **argv)
{
	double us[ROUNDS];

	if (argc < 2)
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		us[i] = load(argv, i != 0);
		if (us[i] < 0) {
			fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
			return 1;
		}
	}
	qsort(us, ROUNDS, sizeof(*us), compare);
	printf("us %.0f\n", us[ROUNDS / 2]);
	return 0;
}
