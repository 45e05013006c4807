// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of other profilers at their edges: each input is a few lines or messages, and what it
 * becomes is written as text, a line for each cell.
 * Covers: tui/import/import.c tui/import/import_build.c tui/import/import_names.c
 * Covers: tui/import/import_pprof.c tui/import/pprof_read.c tui/import/pprof_value.c
 * Covers: tui/import/import_folded.c tui/import/import_script.c tui/import/script_line.c
 * Covers: tui/util/protoread.h tui/session/session_import.c tui/session/session_read.c
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/import/import.h"
#include "tui/import/script_line.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/session/session.h"
#include "tui/session/session_read.h"
#include "tui/util/bytes.h"

struct result {
	char *text; /* to be freed */
	size_t length;
	FILE *out;
	size_t slices, cells, most;
	uint64_t count, weight;
	struct profile_health last;
	char error[256], message[256];
	int err;
};

static void print_stack(FILE *to, const struct profile *p, uint32_t id)
{
	static const char *const kinds[] = {"", "k:", "i:", "jit:", "!", "eval:", "wait:"};
	const struct profile_stack *stack = query_stack(p, id);

	for (uint32_t i = 0; stack && i < stack->nframes; i++) {
		const struct profile_func *func = query_func(p, stack->frames[i]);
		const char *kind = func->kind == FUNC_PYTHON ? "py:" : kinds[func->kind];

		fprintf(to, ";%s%s%s%s", kind, func->name, *func->module ? "@" : "", func->module);
	}
}

static int take_slice(struct profile *p, const struct profile_cell *cells, size_t ncells,
		      const struct profile_health *health, void *arg)
{
	struct result *r = arg;

	assert_true(session_may_have(ncells, health->elapsed));
	assert_true(health->time > r->last.time);
	r->last = *health;
	r->slices++;
	r->cells += ncells;
	r->most = ncells > r->most ? ncells : r->most;
	for (size_t i = 0; i < ncells; i++) {
		const struct profile_proc *proc = query_proc(p, cells[i].proc);

		assert_true(cells[i].count <= UINT32_MAX);
		r->count += cells[i].count;
		r->weight += cells[i].weight;
		if (r->cells > 100)
			continue;
		fprintf(r->out, "%s", proc->comm);
		if (proc->pid < PROFILE_NO_PID)
			fprintf(r->out, " %d/%u", (int)proc->pid, cells[i].tid);
		if (cells[i].cpu)
			fprintf(r->out, " cpu%u", (unsigned int)cells[i].cpu - 1);
		print_stack(r->out, p, cells[i].ustack);
		print_stack(r->out, p, cells[i].kstack);
		fprintf(r->out, " %llu/%llu\n", (unsigned long long)cells[i].count,
			(unsigned long long)cells[i].weight);
	}
	return 0;
}

static void import(struct result *r, const void *data, size_t size)
{
	struct profile *p = profile_new(1, 100000);
	struct board_message message;
	uint64_t serial = 0;
	struct import_to to = {.profile = p,
			       .slice = take_slice,
			       .arg = r,
			       .clock = 5000000000ull,
			       .error = r->error,
			       .size = sizeof(r->error)};

	*r = (struct result){0};
	r->out = open_memstream(&r->text, &r->length);
	profile_lock(p);
	r->err = import_memory(data, size, &to);
	profile_unlock(p);
	if (board_next(profile_board(p), &serial, &message))
		snprintf(r->message, sizeof(r->message), "%s", message.text);
	profile_free(p);
	fclose(r->out);
}

/* Text becomes these cells, or, with an error, this message. */
static void becomes(const char *text, const char *want)
{
	struct result r;

	import(&r, text, strlen(text));
	assert_string_equal(r.err ? r.error : r.text, want);
	free(r.text);
}

static void folded(void **state)
{
	(void)state;
	becomes("app;main;work 3\r\napp;main;work 2\napp 1\n", "app;main;work 5/0\napp 1/0\n");
	becomes("app;main;read_[k] 3\napp;x_[i];y_[j];z_[py] 4",
		"app;main;k:read 3/0\napp;i:x;jit:y;py:z 4/0\n");
	/* Of the kernel is only what is innermost. */
	becomes("app;a_[k];b 1\n", "app;k:a;b 1/0\n");
	becomes("app;;[no table for pc];x; y;\t 2\n", "app;!no table for pc;x; y;? 2/0\n");
	becomes("app;[lock] 1\n", "app;[lock] 1/0\n");
	/* No process has such a name. */
	becomes("java/lang/Thread.run;work 1\nshort;f 2\n",
		"[folded];java/lang/Thread.run;work 1/0\n[folded];short;f 2/0\n");
	becomes("app;f 4294967297\n", "app;f 2/0\napp;f 4294967295/0\n");
	becomes("app;f 0\n", "");
	becomes("app;f 1\napp;g 1.5\n", "line 2 is not a folded stack: frames and a count");
	becomes("\n\n", "");
	becomes("", "is empty");
}

static void heads(void **state)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{"sh 12 5.25: 10 cpu-clock:ppp: ", "sh|12/12|0|5250000000|10|cpu-clock|"},
		{"  Web Content 7/9 [003] 5.250000001: page-faults:  7f f (x)",
		 "Web Content|7/9|4|5250000001|-|page-faults|7f f (x)"},
		{"a 1 b 2 [000] 5.1:", "a 1 b|2/2|1|5100000000|-||"},
		{":12 12 5.1: 1 sched:sched_switch: a=1 b:", ":12|12/12|0|5100000000|1|"
							     "sched:sched_switch|a=1 b:"},
		{"sh 12/x", NULL},
		{"sh 12", NULL},
		{"sh 99999999999 5.1:", NULL},
		{"12 5.1:", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct script_head h = {0};
		char got[256] = "", period[24] = "-";

		if (script_head((struct import_text){cases[i].line, strlen(cases[i].line)}, &h)) {
			if (h.periodic)
				snprintf(period, sizeof(period), "%d", (int)h.period);
			snprintf(got, sizeof(got), "%.*s|%d/%u|%u|%lld|%s|%.*s|%.*s",
				 (int)h.comm.length, h.comm.at, (int)h.pid, h.tid, h.cpu,
				 (long long)h.time, period, (int)h.event.length,
				 h.event.length ? h.event.at : "", (int)h.rest.length,
				 h.rest.length ? h.rest.at : "");
		}
		assert_string_equal(got, cases[i].want ? cases[i].want : "");
	}
}

static void frames(void **state)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{"\t    7f00 work+0x1f (/bin/app)", "work@/bin/app"},
		{"\t    7f00 f(int, char) const+0x2 (/lib/x y.so)",
		 "f(int, char) const@/lib/x y.so"},
		{"\t    7f00 main (/tmp/x (deleted))", "main@/tmp/x"},
		{"\t    7f00 tail (inlined)", "i:tail@"},
		{"\t    7f00 [unknown] ([unknown])", "[unknown]@[unknown]"},
		{"\tmain+0x1 (/bin/app)", "main@/bin/app"},
		{"\tmain", "main@"},
		{"\tadd (x)", "add@x"}, /* a name that could be an address, if one followed */
		{"\t7f00 operator+ (x)", "operator+@x"},
		{"main (x)", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct import_frame f;
		char got[256] = "";

		if (script_frame((struct import_text){cases[i].line, strlen(cases[i].line)}, &f))
			snprintf(got, sizeof(got), "%s%.*s@%.*s", f.inlined ? "i:" : "",
				 (int)f.name.length, f.name.at, (int)f.module.length,
				 f.module.length ? f.module.at : "");
		assert_string_equal(got, cases[i].want);
	}
}

static void script(void **state)
{
	struct result r;
	static const char seconds[] = "a 1 5.0: 1000000 cpu-clock: \n\t1 f (x)\n\n"
				      "a 1 7.5: 1000000 cpu-clock: \n\t1 f (x)\n\n"
				      "a 1 999.5: 1000000 cpu-clock: \n\t1 f (x)\n\n";
	static const char two[] = "a 1 5.0: 10 cycles:u: \n\t1 f (x)\n\na 1 5.0: 1 faults: \n\t1 g "
				  "(x)\n\na 1 5.1: 30 cycles:u: \n\t1 f (x)\n\n";

	(void)state;
	becomes("app 12/13 [001] 5.25: 1 page-faults: \n\t7f work+0x1f (/bin/app)\n"
		"\t7e tail (inlined)\n\t7e main (/bin/app)\n\n",
		"app 12/13 cpu1;main@app;i:tail;work@app 1/1\n");
	becomes("app 12 5.25: 1 e: \n\t1 do_read ([xfs])\n\t1 sys_read ([kernel.kallsyms])\n"
		"  fs.c:12\n\t1 read (/lib/libc.so.6)\n\t1 x ([vdso])\n\n",
		"app 12/12;x@[vdso];read@libc.so.6;k:sys_read@vmlinux;k:do_read@xfs 1/1\n");
	/* Modules as stacktop itself names them. */
	becomes("app 1 5.2: 1 e: \n\t0 f (nf_tables)\n\t0 g (vmlinux)\n\t0 h (nf_tables)\n\n",
		"app 1/1;h@nf_tables;k:g@vmlinux;k:f@nf_tables 1/1\n");
	becomes("app 1 5.2: 1 e:  1 f (x)\napp 1 5.3: 2 e:  1 g (y)\n",
		"app 1/1;f@x 1/1\napp 1/1;g@y 1/2\n");
	becomes("# header\n\nsh 1 5.2: 1 e: \n\n", "sh 1/1 1/1\n");
	/* Parts of a name with a newline, or one that looks like a comment. */
	becomes("sh 1 5.2: 1 e: \nx\n", "sh 1/1 1/1\n");
	becomes("sh 1/1 5.2: 1 e: \n\t1 f (x)\n\n#x 2/2 5.3: 1 e: \n\t1 g (y)\n\n",
		"sh 1/1;f@x 1/1\n#x 2/2;g@y 1/1\n");
	becomes("sh 1/1 5.2: 1 e: \n\t1 f (x)\n\na 7 x: 2/2 5.3: 1 e: \n\t1 g (y)\n\n",
		"sh 1/1;f@x 1/1\na 7 x: 2/2;g@y 1/1\n");
	import(&r, seconds, strlen(seconds));
	assert_int_equal(r.err, 0);
	assert_int_equal(r.last.frequency, 1000);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.weight, 3000);
	assert_int_equal(r.slices, 4); /* 5 s, an empty one, 7 s, and, after a gap, 999 s */
	free(r.text);
	import(&r, two, strlen(two));
	assert_int_equal(r.err, 0);
	assert_string_equal(r.text, "a 1/1;f@x 2/40\n");
	assert_string_equal(r.last.event, "core-cycles");
	assert_int_equal(r.last.counted, 40);
	assert_non_null(strstr(r.message, "1 records of others than core-cycles"));
	free(r.text);
}

/* Lines of a stack that was read before are not read again; lines that only begin so are. */
static void repeated_stacks(void **state)
{
#define HEAD(event) "a 1 5.0: 1 " event ": \n"
#define LONG	    "\t1 f (x)\n\t1 main (x)\n"
	(void)state;
	becomes(HEAD("e") LONG "\n" HEAD("e") LONG "\n" HEAD("other") "\t1 h (x)\n\n" HEAD("e") LONG
		"\n" HEAD("e") "\t1 h (x)\n\n" HEAD("e") LONG
		"\t1 start (x)\n\n" HEAD("e") "\n" HEAD("e") "\n" HEAD("e") LONG "\n" HEAD("e")
			LONG,
		"a 1/1;main@x;f@x 5/5\na 1/1;h@x 1/1\na 1/1;start@x;main@x;f@x 1/1\na 1/1 2/2\n");
	becomes(HEAD("e") LONG HEAD("e") LONG "\n" HEAD("e") LONG "  x.c:1\n\n" HEAD("e") LONG "\n",
		"a 1/1;main@x;f@x 4/4\n");
#undef HEAD
#undef LONG
}

/* --- pprof ----------------------------------------------------------------------------------- */

static void put(struct outbytes *to, unsigned int field, uint64_t value)
{
	bytes_put_number(to, field << 3);
	bytes_put_number(to, value);
}

static void put_bytes(struct outbytes *to, unsigned int field, const void *data, size_t size)
{
	bytes_put_number(to, field << 3 | 2);
	bytes_put_number(to, size);
	bytes_put(to, data, size);
}

/* A message of numbers: pairs of field and value, up to a field 0. */
static void put_message(struct outbytes *to, unsigned int field, ...)
{
	struct outbytes m = {0};
	unsigned int number;
	va_list args;

	va_start(args, field);
	while ((number = va_arg(args, unsigned int)))
		put(&m, number, va_arg(args, uint64_t));
	va_end(args);
	put_bytes(to, field, m.data, m.size);
	bytes_free(&m);
}

#define U(n) ((uint64_t)(n))

static const char *const words[] = {"",	     "samples", "count", "cpu",	   "nanoseconds", "space",
				    "bytes", "main",	"inner", "/b/app", "off-cpu",	  "[lock]",
				    "pid",   "comm",	"77",	 "x.py",   "wait"};

enum {
	NONE,
	SAMPLES,
	COUNT,
	CPU,
	NS,
	SPACE,
	BYTES,
	MAIN,
	INNER,
	APP,
	OFF,
	LOCK,
	PID,
	COMM,
	N77,
	PY
};

static void put_words(struct outbytes *to)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		put_bytes(to, 6, words[i], strlen(words[i]));
}

/* A location of one function of the same id. */
static void put_func(struct outbytes *to, uint64_t id, uint64_t mapping, uint64_t name,
		     uint64_t file)
{
	struct outbytes m = {0};

	put_message(to, 5, 1, id, 2, U(name), 4, U(file), 0);
	put(&m, 1, id);
	put(&m, 2, mapping);
	put_message(&m, 4, 1, id, 2, U(12), 0);
	put_bytes(to, 4, m.data, m.size);
	bytes_free(&m);
}

static void put_types(struct outbytes *to, uint64_t type, uint64_t unit, uint64_t period)
{
	put_message(to, 1, 1, U(SAMPLES), 2, U(COUNT), 0);
	put_message(to, 1, 1, U(type), 2, U(unit), 0);
	put_message(to, 11, 1, U(CPU), 2, U(NS), 0);
	put(to, 12, period);
}

static void becomes_of(struct outbytes *m, const char *want)
{
	struct result r;

	put_words(m);
	import(&r, m->data, m->size);
	assert_string_equal(r.err ? r.error : r.text, want);
	free(r.text);
	bytes_free(m);
}

static void pprof(void **state)
{
	const uint64_t far = UINT64_MAX - 5; /* ids are any numbers */
	struct outbytes m = {0}, location = {0};

	(void)state;
	put_types(&m, CPU, NS, 10000000);
	put_message(&m, 3, 1, far, 5, U(APP), 0);
	put_func(&m, far, far, MAIN, NONE);
	put_func(&m, 3, 0, INNER, PY);
	put(&location, 1, 4);
	put(&location, 2, far);
	put_message(&location, 4, 1, U(3), 0); /* inlined into */
	put_message(&location, 4, 1, far, 0);
	put_bytes(&m, 4, location.data, location.size);
	bytes_free(&location);
	put_message(&m, 2, 1, U(3), 1, far, 2, U(2), 2, U(20000000), 0);
	put_message(&m, 2, 1, U(4), 2, U(1), 2, U(10000000), 0);
	put_message(&m, 2, 1, U(4), 2, U(0), 2, U(0), 0);
	becomes_of(&m, "app;main@app;py:inner@x.py 2/0\napp;main@app;i:inner@x.py 1/0\n");
	/* Memory has no clock; a label has a PID as text; a location may have no line. */
	put_types(&m, SPACE, BYTES, 512);
	put_message(&m, 4, 1, U(9), 0);
	put_bytes(&location, 1, "\x09", 1);
	put_bytes(&location, 2, "\x02\x80\x08", 3);
	put_message(&location, 3, 1, U(PID), 2, U(N77), 0);
	put_message(&location, 3, 1, U(COMM), 2, U(MAIN), 0);
	put_bytes(&m, 2, location.data, location.size);
	bytes_free(&location);
	becomes_of(&m, "main 77/0;[unknown] 2/1024\n");
	/* Waits are recognized by their cause. */
	put_types(&m, OFF, NS, 0);
	put_func(&m, 1, 0, MAIN, NONE);
	put_func(&m, 2, 0, LOCK, NONE);
	put_message(&m, 2, 1, U(2), 1, U(1), 2, U(3), 2, U(5000), 0);
	put_message(&m, 2, 1, U(1), 1, U(2), 2, U(1), 2, U(1000), 0);
	becomes_of(&m, "[profile];main;wait:lock 3/5\n[profile];[lock];main 1/1\n");
}

/* Text that the error must have. */
static void refused_of(struct outbytes *m, const char *why)
{
	struct result r;

	put_words(m);
	import(&r, m->data, m->size);
	assert_int_equal(r.err, -EINVAL);
	if (!strstr(r.error, why) || strchr(r.error, '\n'))
		fail_msg("%s: %s", r.error, why);
	free(r.text);
	bytes_free(m);
}

static void pprof_refused(void **state)
{
	struct outbytes m = {0};

	(void)state;
	put_types(&m, CPU, NS, 1);
	put_message(&m, 2, 1, U(8), 2, U(1), 2, U(1), 0);
	refused_of(&m, "a location that is not there");
	put_types(&m, CPU, NS, 1);
	put_message(&m, 2, 2, U(1), 0);
	refused_of(&m, "too few values");
	put_types(&m, CPU, NS, 1);
	put_message(&m, 2, 2, U(1), 2, U(1), 2, U(1), 0);
	refused_of(&m, "more values than types");
	put_types(&m, CPU, NS, 1);
	put_message(&m, 2, 2, U(1), 2, UINT64_MAX, 0);
	refused_of(&m, "below 0");
	put_types(&m, CPU, NS, 1);
	put_func(&m, 1, 0, MAIN, NONE);
	put_func(&m, 1, 0, MAIN, NONE);
	refused_of(&m, "that another one has");
	put_types(&m, CPU, NS, 1);
	put(&m, 2, 7); /* a number is no sample */
	refused_of(&m, "wrong field");
}

/* --- many ------------------------------------------------------------------------------------ */

/* More different stacks than a slice may have in its time are several slices. */
static void many_stacks(void **state)
{
	char *text = NULL, error[256];
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct result r;
	struct session *s;
	struct session_slice slice;
	uint64_t sum = 0;
	int fd = memfd_create("folded", 0);

	(void)state;
	for (int i = 0; i < 450000; i++)
		fprintf(file, "app;f%d;g%d 2\n", i / 1000, i);
	fclose(file);
	import(&r, text, size);
	assert_int_equal(r.err, 0);
	assert_int_equal(r.count, 900000);
	assert_int_equal(r.slices, 3);
	assert_int_equal(r.most, 200000);
	free(r.text);
	assert_int_equal(write(fd, text, size), size);
	free(text);
	if (session_open_fd(fd, "many", &s, error, sizeof(error)))
		fail_msg("%s", error);
	assert_null(session_flaw(s));
	for (uint32_t n = 0; n < session_slices(s); n++) {
		assert_int_equal(session_read(s, n, &slice), 0);
		for (size_t i = 0; i < slice.ncells; i++)
			sum += slice.cells[i].count;
	}
	assert_int_equal(sum, 900000);
	session_free(s);
	assert_true(fcntl(fd, F_GETFD) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded),	   cmocka_unit_test(heads),
		cmocka_unit_test(frames),	   cmocka_unit_test(script),
		cmocka_unit_test(repeated_stacks), cmocka_unit_test(pprof),
		cmocka_unit_test(pprof_refused),   cmocka_unit_test(many_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
