// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that run Python, as the kernel's map of runtimes has them: those that prove a layout,
 * those that only map a library, those whose memory is garbage, and versions that are not known.
 * Covers: bpf/tracker/runtimes.c bpf/tracker/runtimefile.c
 */
#include "tests/support/rights.h"
#include "tests/symbols/runtime/pythons.h"

#include <bpf/bpf.h>

#include "bpf/sampler/sampler.h"
#include "tests/support/orders.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tests/symbols/runtime/layouts.h"
#include "tests/symbols/runtime/subjects.h"

#define NO_FRAMES "no frames of its language for "

static char folder[SCRATCH];
static struct running r; /* for all tests: a start makes the tables of all files of this machine */
static bool started;

static void start(void)
{
	if (!started)
		run(&r, NULL);
	started = true;
}

static bool runtime_of(pid_t pid, struct runtime_process *out)
{
	__u32 key = (__u32)pid;

	return !bpf_map_lookup_elem(fd_of_map("runtimes"), &key, out);
}

static bool has_runtime(pid_t pid)
{
	struct runtime_process p;

	return runtime_of(pid, &p);
}

/* --- interpreters ---------------------------------------------------------------------------- */

static struct runtime_stats stats_of(void)
{
	struct runtime_stats s = {0};

	assert_int_equal(sampler_runtime_stats(r.sampler, &s), 0);
	return s;
}

static void wait_for_frames(void)
{
	const struct runtime_stats before = stats_of();

	WAIT(stats_of().walks > before.walks + 20 && stats_of().frames > before.frames + 40);
}

/*
 * Its frames are found after it is in the map, and not before; also when its file was read again,
 * since its table had gone.
 */
static void check_entry(const struct subject *s)
{
	static bool reset;
	struct runtime_process p = {0};

	WAIT(runtime_of(s->pid, &p));
	assert_int_equal(p.at, s->place.runtime);
	assert_int_equal(p.type, s->place.type);
	assert_int_equal(p.python.version >> 16, s->version >> 16);
	assert_true(p.eval[0][0] && p.eval[0][0] < p.eval[0][1]);
	if (!p.python.runtime_current) /* the thread with the lock was not seen */
		p.python.runtime_current = s->layout.runtime_current;
	p.python.version = s->layout.version;
	layouts_same(&p.python, &s->layout);
	/* of no other process */
	post_pid(&r, TRACKER_ATTACH, s->pid, 0, "attached");
	wait_for_frames();
	if (!reset) {
		post(&r, TRACKER_RESET_SHARDS, "", 0, "reset: ");
		sleep(1); /* too short a time hides a fault, but fails no test */
		wait_for_frames();
		reset = true;
	}
	post(&r, TRACKER_DETACH_ALL, "", 0, "the whole machine");
}

/* Others on this machine may have what is to be said of them. */
static bool is_said_of(const char *program, pid_t pid)
{
	const char *slash = strrchr(program, '/');
	char said[256];

	snprintf(said, sizeof(said), NO_FRAMES "%.15s (%d)", slash ? slash + 1 : program, (int)pid);
	return was_said(&r, 0, said);
}

/* One process proves it for the next, which need not be sampled. */
static size_t check_python(const char *path)
{
	struct subject first, second;

	if (!subject_new(path, "run", &first))
		return 0;
	check_entry(&first);
	assert_false(is_said_of(path, first.pid));
	assert_true(subject_new(path, "sleep", &second));
	WAIT(has_runtime(second.pid));
	subject_end(&first);
	WAIT(!has_runtime(first.pid));
	assert_true(has_runtime(second.pid));
	subject_end(&second);
	WAIT(!has_runtime(second.pid));
	print_message("%s\n", path);
	return 1;
}

static void processes_that_run_python_are_walked(void **state)
{
	(void)state;
	start();
	pythons_each(check_python);
}

/* --- libraries ------------------------------------------------------------------------------- */

static void program_make(void)
{
	must("cat >%s/maps.c <<'END'\n"
	     "#include <dlfcn.h>\n"
	     "#include <string.h>\n"
	     "#include <time.h>\n"
	     "int main(int argc, char **argv)\n"
	     "{\n"
	     "	void *library = dlopen(argv[1], RTLD_NOW);\n"
	     "	char *runtime = library ? dlsym(library, \"_PyRuntime\") : 0;\n"
	     "	unsigned long (*version)(void) = library ? dlsym(library, \"Py_GetVersion\") : 0;\n"
	     "	if (!runtime)\n"
	     "		return 1;\n"
	     "	if (argc > 2)\n"
	     "		memset(runtime + 32, 0x48, 552);\n"
	     "	for (;;) {	/* a tenth of the time is enough for samples */\n"
	     "		for (clock_t end = clock() + CLOCKS_PER_SEC / 500; clock() < end;)\n"
	     "			for (int i = 0; i < 1000; i++)\n"
	     "				version();\n"
	     "		nanosleep(&(struct timespec){0, 18000000}, NULL);\n"
	     "	}\n"
	     "}\n"
	     "END\n"
	     "${CC:-cc} -O1 -w -o %s/maps %s/maps.c -ldl",
	     folder, folder, folder);
}

static pid_t program_start(const char *library, const char *how)
{
	char path[128];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/maps", folder);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, library, how, NULL);
		_exit(127);
	}
	return pid;
}

static void program_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/*
 * Copies the library of a version with our own table, so that no other process proves it. False:
 * there is none.
 */
static bool library_copy(const char *python, char path[PATH_MAX], unsigned int *minor)
{
	static struct facts facts;

	facts_read(python, &facts);
	*minor = facts.version >> 16 & 0xff;
	if (facts.version < 0x03080000 || *minor > 12 || !strstr(facts.file, ".so"))
		return false;
	snprintf(path, PATH_MAX, "%s/%s", folder, strrchr(facts.file, '/') + 1);
	must("cp '%s' '%s'", facts.file, path);
	return true;
}

/* The tracker knows the library in the process. */
static bool is_mapped(pid_t pid, const char *library)
{
	struct area a;

	return area_find(pid, strrchr(library, '/') + 1, true, &a) &&
	       place_at(&r, pid, 0, a.start).kind == PLACE_FILE;
}

static void libraries_that_run_nothing_are_asked_again(void **state)
{
	static struct pythons pythons;
	char library[PATH_MAX];
	pid_t pids[PYTHONS_MAX];
	unsigned int minor;
	size_t n = 0;

	(void)state;
	pythons_find(&pythons);
	start();
	for (size_t i = 0; i < pythons.count; i++)
		if (library_copy(pythons.paths[i], library, &minor)) {
			pids[n++] = program_start(library, NULL);
			WAIT(is_mapped(pids[n - 1], library));
		}
	sleep(n ? 4 : 0);
	for (size_t i = 0; i < n; i++) {
		assert_false(is_said_of("maps", pids[i]));
		assert_false(has_runtime(pids[i]));
		assert_int_equal(kill(pids[i], 0), 0);
		program_end(pids[i]);
	}
	if (!n)
		skip_since("no interpreter is installed");
}

/* Said once for a file, and its next processes are not believed either. */
static void memory_that_contradicts_is_said_once(void **state)
{
	static struct pythons pythons;
	char library[PATH_MAX], said[256];
	pid_t first, second;
	unsigned int minor;
	size_t i = 0;

	(void)state;
	pythons_find(&pythons);
	while (i < pythons.count && !library_copy(pythons.paths[i], library, &minor))
		i++;
	if (i == pythons.count)
		skip_since("no libpython");
	start();
	first = program_start(library, "garbage");
	snprintf(said, sizeof(said),
		 NO_FRAMES "maps (%d): its memory contradicts the layout of Python 3.%u: ",
		 (int)first, minor);
	WAIT(was_said(&r, 0, said));
	assert_false(has_runtime(first));
	second = program_start(library, "garbage");
	WAIT(is_mapped(second, library));
	sleep(2);
	assert_false(is_said_of("maps", second));
	assert_false(has_runtime(second));
	program_end(first);
	program_end(second);
}

static void unknown_versions_are_said(void **state)
{
	static struct pythons pythons;
	struct subject s;
	char said[256];
	size_t i = 0;

	(void)state;
	pythons_find(&pythons);
	while (i < pythons.count && !strstr(pythons.paths[i], "/python3.7"))
		i++;
	if (i == pythons.count)
		skip_since("no python3.7");
	start();
	assert_true(subject_start(pythons.paths[i], "run", &s));
	snprintf(said, sizeof(said), NO_FRAMES "python3.7 (%d): the layout of Python 3.7 in ",
		 (int)s.pid);
	WAIT(was_said(&r, 0, said));
	assert_false(has_runtime(s.pid));
	subject_end(&s);
}

static int setup(void **state)
{
	(void)state;
	scratch_folder(folder, "runtimes");
	program_make();
	return 0;
}

static int teardown(void **state)
{
	if (started)
		run_end(&r);
	return scratch_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: it is said once, and the others may start one, too */
		cmocka_unit_test(unknown_versions_are_said),
		cmocka_unit_test(processes_that_run_python_are_walked),
		cmocka_unit_test(libraries_that_run_nothing_are_asked_again),
		cmocka_unit_test(memory_that_contradicts_is_said_once),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
