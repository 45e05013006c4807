// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/sampler/loader.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/objects.h"
#include "bpf/sampler/pidns.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/vma.h"
#include "bpf/sampler/waits.h"
#include "symbols/files/kernelclock.h"

#define ALL_RUNTIMES ((1u << RUNTIME_COUNT) - 1)
#define WAIT_SHARE   100 /* of a CPU, 1 / this: what taking stacks of waits may cost */

/* A random key for this run. Reads of up to 256 bytes are complete (getrandom(2)). */
static int stackhash_draw(__u64 key[STACKHASH_KEYS])
{
	if (getrandom(key, STACKHASH_KEYS * sizeof(*key), 0) < 0)
		return -errno;
	key[STACKHASH_FACTOR_A] |= 1;
	key[STACKHASH_FACTOR_B] |= 1;
	return 0;
}

/* Sets the knobs, which are constants to the verifier. */
static int set_config(struct profiler_programs *p, const struct sampler_options *options,
		      const struct map_sizes *sizes, char *error, size_t error_size)
{
	struct bpf_map *map = bpf_object__find_map_by_name(p->object, ".rodata");
	struct profiler_config config = {
		.no_kernel = options->no_kernel,
		.no_user = options->no_user,
		.capture = options->capture,
		.thread_size = sysconf(_SC_PAGESIZE) > 16384 ? sysconf(_SC_PAGESIZE) : 16384,
		.seen_mask = sizes->seen_sets - 1,
		.ring_wake = sizes->ring / 4,
		.unfollowed = (__u32)options->unfollowed,
		.wait_share = WAIT_SHARE,
		.code_mask = kernelinfo_address_mask(),
		.runtimes = p->refused != ALL_RUNTIMES,
	};
	const void *value;
	uint64_t offset;
	struct bpf_map *m;
	struct pidns ns;
	size_t size = 0;
	int err = pidns_read(&ns, error, error_size);

	if (!err)
		err = stackhash_draw(config.hash_key);
	if (err)
		return err;
	if (ns.inode)
		config.unfollowed = 0; /* the number is another one there */
	config.pidns_inode = ns.inode;
	config.pidns_level = ns.level;
	p->knows_starts = kernelclock_boottime_offset(&offset) &&
			  sysconf(_SC_CLK_TCK) == 1000000000 / CLOCK_TICK_NS;
	config.boottime_offset = offset;
	bpf_object__for_each_map(m, p->object)
	{
		if (strstr(bpf_map__name(m), ".rodata"))
			map = m;
	}
	config.has_task_regs = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
						       BPF_FUNC_task_pt_regs, NULL) == 1 &&
			       libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
						       BPF_FUNC_get_current_task_btf, NULL) == 1;
	config.checks_lists = p->checks_lists;
	waits_calls(config.calls);
	value = map ? bpf_map__initial_value(map, &size) : NULL;
	/* It contains only the knobs. */
	if (!value || size != sizeof(config))
		return -EINVAL;
	p->config = config;
	return bpf_map__set_initial_value(map, &config, sizeof(config));
}

static int set_sizes(const struct profiler_programs *p, const struct sampler_options *options,
		     const struct map_sizes *sizes)
{
	const struct {
		const char *name;
		uint32_t size;
	} maps[] = {
		{"shards", options->shards_max},
		{"stacks", sizes->ring},
		{"seen_stacks", sizes->seen_sets},
		{"procs", sizes->procs},
		{"targets", sizes->procs},
		{"files", p->checks_lists ? FILES_MAX : 1},
		{"rows", (uint32_t)libbpf_num_possible_cpus() << ROWS_SHIFT},
		{"trails", TRAILS * (uint32_t)libbpf_num_possible_cpus()},
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(maps) / sizeof(maps[0]) && !err; i++)
		err = bpf_map__set_max_entries(
			bpf_object__find_map_by_name(p->object, maps[i].name), maps[i].size);
	return err;
}

/* The programs of the runtimes: on_sample calls them by number. */
static const char *const runtime_names[RUNTIME_COUNT] = {
	[RUNTIME_PYTHON] = "on_python", [RUNTIME_PHP] = "on_php", [RUNTIME_PERL] = "on_perl",
	[RUNTIME_RUBY] = "on_ruby",	[RUNTIME_V8] = "on_v8",
};

/* Opens and loads the object, without the programs of these runtimes, one bit each. */
static int load_object(struct profiler_programs *p, const struct sampler_options *options,
		       const struct map_sizes *sizes, unsigned int without, char *error,
		       size_t size)
{
	int err;

	bpf_object__close(p->object);
	p->refused = without;
	p->object = objects_profiler();
	if (!p->object) {
		snprintf(error, size, "the built-in BPF object is broken: %s", strerror(errno));
		return -EINVAL;
	}
	for (unsigned int i = 0; i < RUNTIME_COUNT; i++)
		if (runtime_names[i] && without >> i & 1)
			bpf_program__set_autoload(
				bpf_object__find_program_by_name(p->object, runtime_names[i]),
				false);
	err = set_sizes(p, options, sizes);
	if (!err)
		err = set_config(p, options, sizes, error, size);
	bpf_program__set_autoload(bpf_object__find_program_by_name(p->object, "on_timer_end"),
				  false);
	return err ? err : bpf_object__load(p->object);
}

/* By the verifier, which does not like a program. */
static bool is_refused(int err)
{
	return err == -EINVAL || err == -EACCES || err == -E2BIG || err == -ENOTSUP;
}

/* A kernel that refuses the program of a runtime still samples all other frames. */
static int load_without(struct profiler_programs *p, const struct sampler_options *options,
			const struct map_sizes *sizes, char *error, size_t size)
{
	int err = -EINVAL;

	for (unsigned int i = 0; i < RUNTIME_COUNT && err; i++)
		if (runtime_names[i])
			err = load_object(p, options, sizes, 1u << i, error, size);
	return err ? load_object(p, options, sizes, ALL_RUNTIMES, error, size) : 0;
}

/* The programs of the runtimes go where on_sample calls them. */
static int set_programs(const struct bpf_object *object)
{
	const int map = bpf_object__find_map_fd_by_name(object, "runtime_programs");

	for (__u32 i = 0; i < RUNTIME_COUNT; i++) {
		const struct bpf_program *program =
			runtime_names[i]
				? bpf_object__find_program_by_name(object, runtime_names[i])
				: NULL;
		const int fd = program ? bpf_program__fd(program) : -1;

		if (fd >= 0 && bpf_map_update_elem(map, &i, &fd, BPF_ANY))
			return -errno;
	}
	return 0;
}

int programs_load(struct profiler_programs *p, const struct sampler_options *options,
		  const struct map_sizes *sizes, char *error, size_t size)
{
	char remedy[256];
	sigset_t all, old;
	int err;

	/*
	 * A signal makes the verifier start over, again and again with a timer. The probes of
	 * set_config load programs, too, and would take the failure for a missing helper.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	p->checks_lists = vma_can_be_found();
	err = load_object(p, options, sizes, 0, error, size);
	if (is_refused(err) && !error[0])
		err = load_without(p, options, sizes, error, size);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err && error[0])
		return err;
	if (err) {
		refusal_of(REFUSAL_BPF, err, remedy, sizeof(remedy));
		snprintf(error, size, "cannot load the BPF program: %s%s", strerror(-err),
			 *remedy ? remedy
			 : err == -ENOENT || err == -ESRCH
				 ? "; the kernel needs BTF (/sys/kernel/btf/vmlinux)"
				 : "; `stacktop --check` says what this kernel lacks");
		return err;
	}
	p->on_sample = bpf_object__find_program_by_name(p->object, "on_sample");
	return p->on_sample ? set_programs(p->object) : -ENOENT;
}

static bool is_of_programs(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_PROG_ARRAY;
}

int programs_share_maps(struct bpf_object *object, const struct bpf_object *profiler,
			const struct profiler_config *config)
{
	struct bpf_map *map, *from;
	size_t size;
	int err = 0;

	bpf_object__for_each_map(map, object)
	{
		from = bpf_object__find_map_by_name(profiler, bpf_map__name(map));
		if (strstr(bpf_map__name(map), ".rodata")) {
			if (!bpf_map__initial_value(map, &size) || size != sizeof(*config))
				err = -EINVAL;
			else
				err = bpf_map__set_initial_value(map, config, sizeof(*config));
		} else if (from && (!config->sampler || !is_of_programs(map))) {
			err = bpf_map__reuse_fd(map, bpf_map__fd(from));
		}
		if (err)
			return err;
	}
	return 0;
}

/* Zeros if the kernel does not tell: its addresses are hidden, or a name is another one. */
static void read_entry_text(struct profiler_config *config)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[64];
	uint64_t addr;

	while (file && !config->entry_text_end && fgets(line, sizeof(line), file)) {
		if (!strstr(line, " __entry_text_") ||
		    sscanf(line, "%" SCNx64 " %*c %63s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "__entry_text_start"))
			config->entry_text = addr;
		else if (!strcmp(name, "__entry_text_end"))
			config->entry_text_end = addr;
	}
	if (file)
		fclose(file);
}

/* A program only calls others of its type, so those of the runtimes are loaded once more, too. */
static int load_timer(const struct profiler_programs *p, struct bpf_object *object)
{
	struct profiler_config config = p->config;
	struct bpf_prog_info info = {0};
	struct bpf_program *program;
	__u32 size = sizeof(info);
	int err;

	if (bpf_obj_get_info_by_fd(bpf_program__fd(p->on_sample), &info, &size))
		return -errno;
	config.sampler = info.id;
	read_entry_text(&config);
	bpf_object__for_each_program(program, object)
	{
		const struct bpf_program *same =
			bpf_object__find_program_by_name(p->object, bpf_program__name(program));

		if (bpf_program__type(program) != BPF_PROG_TYPE_PERF_EVENT)
			continue;
		bpf_program__set_autoload(program,
					  same != p->on_sample && bpf_program__autoload(same));
		bpf_program__set_type(program, BPF_PROG_TYPE_RAW_TRACEPOINT);
	}
	bpf_object__for_each_program(program, object)
	{
		if (!strncmp(bpf_program__name(program), "on_module_", 10))
			bpf_program__set_autoload(program, false); /* they run already */
	}
	err = programs_share_maps(object, p->object, &config);
	if (!err)
		err = bpf_object__load(object);
	return err ? err : set_programs(object);
}

int programs_load_timer(const struct profiler_programs *p, struct bpf_object **object)
{
	sigset_t all, old;
	int err;

	*object = objects_profiler();
	if (!*object)
		return -EINVAL;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = load_timer(p, *object);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

void programs_free(struct profiler_programs *p)
{
	bpf_object__close(p->object);
	p->object = NULL;
}

const char *programs_refused(const struct profiler_programs *p, enum runtime runtime)
{
	return p->refused >> runtime & 1 ? runtime_names[runtime] : NULL;
}
