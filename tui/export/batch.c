/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of `stacktop -b`, as users may send it to others: every figure has its unit and its
 * name, shares say of what, and nothing needs the manual. Everything is copied out of the profile
 * first; the pipe may be slow.
 */
#include "tui/export/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/base/text.h"
#include "tui/profile/board.h"
#include "tui/profile/language.h"
#include "tui/profile/reasons.h"
#include "tui/profile/units.h"
#include "tui/export/folded.h"
#include "tui/query/query.h"
#include "tui/util/share.h"

#define PROCS_SHOWN   20
#define PROCS_FUNCS   5	 /* processes with a list of functions */
#define FUNCS_SHOWN   12 /* functions of each process */
#define CPUS_SHOWN    64
#define REASONS_SHOWN 20 /* pairs of a process and a reason */

static int write_all(FILE *to, const char *text, size_t size)
{
	errno = 0;
	if (fwrite(text, 1, size, to) == size && !fflush(to))
		return 0;
	return errno ? -errno : -EIO;
}

/* Cleans names once more before they are printed, in case an earlier step did not. */
static const char *clean(char *to, size_t size, const char *from)
{
	text_clean(to, size, from, strlen(from));
	return to;
}

/* --- the head -------------------------------------------------------------------------------- */

static void write_losses(FILE *to, const struct profile_health *health)
{
	const char *separator = "";

	fprintf(to, "lost %" PRIu64 " samples", profile_lost(health));
	for (int i = 0; i < LOSS_COUNT; i++) {
		const char *name = reasons_reported((enum loss)i);

		if (!health->loss[i] || !name)
			continue;
		fprintf(to, "%s%" PRIu64 " %s", *separator ? separator : " (", health->loss[i],
			name);
		separator = ", ";
	}
	fprintf(to, "%s\n", *separator ? ")" : "");
}

/* What became of each tick, including the share that was never sampled. */
static void write_ticks(FILE *to, const struct profile_health *health)
{
	uint64_t throttled = health->loss[LOSS_THROTTLED], missed = health->loss[LOSS_MISSED];

	if (health->ticks)
		fprintf(to,
			"%" PRIu64 " ticks due: %" PRIu64 " samples taken, %" PRIu64
			" idle, %" PRIu64 " throttled, %" PRIu64 " missed (%.1f %%)\n",
			health->ticks, health->taken, health->idle, throttled, missed,
			percent_of(missed, health->ticks));
	else
		fprintf(to, "%" PRIu64 " samples taken, %" PRIu64 " throttled\n", health->taken,
			throttled);
	if (throttled)
		fprintf(to, "throttled by the kernel: lower -F, or raise "
			    "kernel.perf_event_max_sample_rate\n");
}

/* What following threads costs, and what was left out for that. */
static void write_waits(FILE *to, const struct profile_health *health)
{
	if (!health->waits)
		return;
	fprintf(to,
		"waits of threads followed: %.2f %% of a CPU, %" PRIu64 " stacks taken, %" PRIu64
		" thinned out, %" PRIu64 " long ones without a stack, %" PRIu64 " lost, %" PRIu64
		" switches not reported\n",
		percent_of(health->wait_ns, health->elapsed), health->wait_walks,
		health->wait_thinned, health->wait_untaken, health->wait_lost, health->wait_missed);
}

/* In a file of another profiler a PID may be missing. */
static const char *pid_text(const struct profile_proc *proc, char to[16])
{
	if (proc->pid >= PROFILE_NO_PID)
		return "-";
	snprintf(to, 16, "%d", (int)proc->pid);
	return to;
}

static void write_head(FILE *to, const struct profile_health *health)
{
	double seconds = (double)health->elapsed / 1e9;
	char when[32] = "", rate[24] = "", event[sizeof(health->event)];
	time_t now = health->clock ? (time_t)(health->clock / 1000000000u) : time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (health->frequency)
		snprintf(rate, sizeof(rate), " at %u Hz", health->frequency);
	fprintf(to, "stacktop  %s  %.2f s of %s%s on %u CPU%s\n", when, seconds,
		clean(event, sizeof(event), health->event), rate, health->ncpus,
		health->ncpus == 1 ? "" : "s");
	fprintf(to, "%" PRIu64 " samples (%" PRIu64 " in user mode, %" PRIu64 " in the kernel), ",
		health->samples, health->user_samples, health->kernel_samples);
	fprintf(to, "%.1f a second; ", seconds > 0 ? (double)health->samples / seconds : 0);
	write_losses(to, health);
	write_ticks(to, health);
	write_waits(to, health);
	if (health->filtering && !health->nattached && health->samples)
		fprintf(to,
			"the chosen processes have ended, %" PRIu64 " samples of others left out\n",
			profile_unattached(health));
	else if (health->filtering)
		fprintf(to, "%u process%s chosen, %" PRIu64 " samples of others left out\n",
			health->nattached, health->nattached == 1 ? "" : "es",
			profile_unattached(health));
	if (health->outside)
		fprintf(to,
			"%" PRIu64 " samples of processes outside this PID namespace left out\n",
			health->outside);
	if (health->user_walks)
		fprintf(to, "%.1f %% of %" PRIu64 " user stack%s complete",
			percent_of(health->complete_walks, health->user_walks), health->user_walks,
			health->user_walks == 1 ? "" : "s");
	else
		fputs("no user stacks", to);
	if (health->complete_fp_walks)
		fprintf(to, ", %.1f %% of these by frame pointers",
			percent_of(health->complete_fp_walks, health->complete_walks));
	fprintf(to, "; unwind tables %.1f of %.1f MiB in %u shard%s; own CPU %.1f %% of one\n",
		(double)health->words_used * 4 / 1048576, (double)health->words_max * 4 / 1048576,
		health->shards_used, health->shards_used == 1 ? "" : "s",
		percent_of(health->self_ns, health->elapsed));
	if (health->evicted || health->evictions)
		fprintf(to,
			"%u files without room for their table, %" PRIu64
			" tables in use evicted, %.1f a second; --memory raises the budget\n",
			health->evicted, health->evictions,
			seconds > 0 ? (double)health->evictions / seconds : 0);
}

/* --- processes and functions ----------------------------------------------------------------- */

/* Equal rows are ordered by their text: a replay, which has other ids, gives the same report. */
static int by_proc(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_proc *x = query_proc(p, a), *y = query_proc(p, b);

	return ORDER(x->pid, y->pid) ?: ORDER(x->image, y->image);
}

static int by_func(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_func *x = query_func(p, a), *y = query_func(p, b);

	return strcmp(x->name, y->name)
		       ?: strcmp(x->module, y->module) ?: (int)x->kind - (int)y->kind;
}

static int by_samples(const void *a, const void *b, void *profile)
{
	const struct proc_row *x = a, *y = b;

	return ORDER(y->samples, x->samples) ?: by_proc(profile, x->proc, y->proc);
}

static int by_self(const void *a, const void *b, void *profile)
{
	const struct func_row *x = a, *y = b;

	return ORDER(y->self, x->self)
		       ?: ORDER(y->total, x->total) ?: by_func(profile, x->func, y->func);
}

/* A time of threads. */
static const char *span_text(uint64_t us, char *to, size_t size)
{
	units_time(us, to, size);
	return to;
}

/* Where the time of the threads of each process went. */
static int write_times(FILE *to, const struct profile *p, const struct query *q,
		       const struct proc_row *rows, size_t count)
{
	char command[256], all[24], pid[16];
	struct time_row *times;
	size_t ntimes;
	int err = query_times(p, q, &times, &ntimes);

	if (err)
		return err;
	fprintf(to, "\n%8s %10s  %s\n", "PID", "TIME",
		"COMMAND, and where the time of its threads went");
	for (size_t i = 0; i < count && i < PROCS_SHOWN; i++) {
		const struct profile_proc *proc = query_proc(p, rows[i].proc);
		const struct time_row *row = time_row_find(times, ntimes, rows[i].proc, 0);

		fprintf(to, "%8s %10s  %s%s\n%21s", pid_text(proc, pid),
			row ? span_text(row->all, all, sizeof(all)) : "-",
			clean(command, sizeof(command), proc->cmdline),
			proc->exited ? " (exited)" : "", "");
		for (int cause = 0; row && cause < WAIT_CAUSES; cause++)
			if (row->us[cause])
				fprintf(to, " %s %.1f %%", wait_text((enum wait_cause)cause)->name,
					percent_of(row->us[cause], row->all));
		fprintf(to, "\n");
	}
	if (!count)
		fprintf(to, "         no thread has waited\n");
	if (count > PROCS_SHOWN)
		fprintf(to, "         and %zu more\n", count - PROCS_SHOWN);
	free(times);
	return 0;
}

static void write_procs(FILE *to, const struct profile *p, const struct profile_health *health,
			const struct proc_row *rows, size_t count)
{
	char user[32], command[256], pid[16];

	fprintf(to, "\n%8s %-12s %6s %8s %8s %10s  %s\n", "PID", "USER",
		profile_is_time(health) ? "CPU%" : "SMP%",
		units_are_samples(health, MEASURE_CPU) ? "SAMPLES" : "EVENTS", "KERNEL%",
		"COMPLETE%", "COMMAND");
	for (size_t i = 0; i < count && i < PROCS_SHOWN; i++) {
		const struct profile_proc *proc = query_proc(p, rows[i].proc);
		char complete[16] = "-";

		if (rows[i].walks)
			snprintf(complete, sizeof(complete), "%.1f",
				 percent_of(rows[i].complete, rows[i].walks));
		fprintf(to, "%8s %-12s %6.1f %8" PRIu64 " %8.1f %10s  %s%s\n", pid_text(proc, pid),
			*proc->user ? clean(user, sizeof(user), proc->user) : "-",
			rows[i].cpu_percent, rows[i].samples,
			percent_of(rows[i].kernel_samples, rows[i].samples), complete,
			clean(command, sizeof(command), proc->cmdline),
			proc->exited ? " (exited)" : "");
	}
	if (!count)
		fprintf(to, "         nothing was sampled\n");
	if (count > PROCS_SHOWN)
		fprintf(to, "         and %zu more\n", count - PROCS_SHOWN);
}

static int write_funcs(FILE *to, const struct profile *p, const struct query *q,
		       const struct proc_row *row)
{
	const struct profile_proc *proc = query_proc(p, row->proc);
	char comm[32], name[512], module[128], amount[48], pid[16];
	struct profile_health health;
	struct query one = *q;
	struct func_row *rows;
	size_t count;
	int err;

	query_health_sum(p, q->span, &health);
	units_amount(&health, q->measure, row->samples, amount, sizeof(amount));
	one.proc = row->proc;
	err = query_funcs(p, &one, &rows, &count);
	if (err)
		return err;
	qsort_r(rows, count, sizeof(*rows), by_self, (void *)p);
	if (q->measure == MEASURE_CPU)
		fprintf(to, "\nHottest functions of %s, PID %s (%% of its %s)\n",
			clean(comm, sizeof(comm), proc->comm), pid_text(proc, pid), amount);
	else
		fprintf(to, "\nWhere %s, PID %s, %s (%% of its %s)\n",
			clean(comm, sizeof(comm), proc->comm), pid_text(proc, pid),
			q->measure == MEASURE_OFF ? "waits" : "is", amount);
	fprintf(to, "%8s %8s  %-20s  %s\n", "SELF%", "TOTAL%", "MODULE", "FUNCTION");
	for (size_t i = 0;
	     i < count && i < FUNCS_SHOWN && (rows[i].self || q->measure != MEASURE_CPU); i++) {
		const struct profile_func *func = query_func(p, rows[i].func);
		const char *file = language_module(func->kind, func->module);
		const char *language = language_mark(func->kind);
		bool end = func->kind == FUNC_END || func->kind == FUNC_WAIT;

		fprintf(to, "%8.1f %8.1f  %-20s  %s%s%s%s%s%s",
			percent_of(rows[i].self, row->samples),
			percent_of(rows[i].total, row->samples),
			*file ? clean(module, sizeof(module), file) : "-", end ? "[" : "",
			clean(name, sizeof(name), func->name), end ? "]" : "",
			language		    ? " ["
			: func->kind == FUNC_KERNEL ? " [k]"
			: func->kind == FUNC_INLINE ? " [i]"
			: func->kind == FUNC_JIT    ? " [jit]"
						    : "",
			language ? language : "", language ? "]" : "");
		sourcename(func, name, sizeof(name));
		fprintf(to, "%s%s\n", *name ? "  " : "", name);
	}
	free(rows);
	return 0;
}

/* --- where walks ended early ----------------------------------------------------------------- */

struct batch_ended { /* samples of a process with walks that ended for a reason */
	uint32_t proc, func;
	uint64_t samples;
};

static int by_pair(const void *a, const void *b)
{
	const struct batch_ended *x = a, *y = b;

	return ORDER(x->proc, y->proc) ?: ORDER(x->func, y->func);
}

static int by_ended(const void *a, const void *b, void *profile)
{
	const struct batch_ended *x = a, *y = b;

	return ORDER(y->samples, x->samples)
		       ?: by_proc(profile, x->proc, y->proc) ?: by_func(profile, x->func, y->func);
}

/* The reasons of all processes: rows of the same process and reason are added up. */
static int ended_read(const struct profile *p, const struct query *q, struct batch_ended **list,
		      size_t *count)
{
	struct end_row *rows;
	size_t n;
	int err = query_ends(p, q, &rows, &n);

	*count = 0;
	*list = err ? NULL : calloc(n + 1, sizeof(**list));
	if (!err && !*list)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		if (rows[i].end != QUERY_NONE)
			(*list)[(*count)++] =
				(struct batch_ended){rows[i].proc, rows[i].end, rows[i].samples};
	free(rows);
	return err;
}

static size_t ended_merge(struct batch_ended *list, size_t count)
{
	size_t n = 0;

	qsort(list, count, sizeof(*list), by_pair);
	for (size_t i = 0; i < count; i++) {
		if (n && by_pair(&list[n - 1], &list[i]) == 0)
			list[n - 1].samples += list[i].samples;
		else
			list[n++] = list[i];
	}
	return n;
}

static int write_reasons(FILE *to, const struct profile *p, const struct query *q)
{
	char comm[32], name[256], amount[24], pid[16];
	struct batch_ended *list = NULL;
	size_t count;
	int err = ended_read(p, q, &list, &count);

	if (!err && count) {
		count = ended_merge(list, count);
		qsort_r(list, count, sizeof(*list), by_ended, (void *)p);
		fprintf(to, "\nWhy stacks are not complete\n%8s %8s %-16s %s\n",
			q->measure == MEASURE_CPU ? "SAMPLES" : "TIME", "PID", "PROCESS", "REASON");
	}
	for (size_t i = 0; i < count && i < REASONS_SHOWN && !err; i++) {
		const struct profile_proc *proc = query_proc(p, list[i].proc);

		if (q->measure == MEASURE_CPU)
			snprintf(amount, sizeof(amount), "%" PRIu64, list[i].samples);
		else
			units_time(list[i].samples, amount, sizeof(amount));
		fprintf(to, "%8s %8s %-16s %s\n", amount, pid_text(proc, pid),
			clean(comm, sizeof(comm), proc->comm),
			clean(name, sizeof(name), query_func(p, list[i].func)->name));
	}
	if (count > REASONS_SHOWN && !err)
		fprintf(to, "         and %zu more\n", count - REASONS_SHOWN);
	free(list);
	return err;
}

/* What each CPU did: sums hide one that is busy with something else than the others. */
static int by_cpu_samples(const void *a, const void *b)
{
	const struct proc_row *x = a, *y = b;

	return ORDER(y->samples, x->samples) ?: ORDER(x->cpu, y->cpu);
}

static void write_cpu(FILE *to, const struct profile *p, const struct proc_row *row, uint64_t all)
{
	const struct profile_func *func = query_func(p, row->hottest);
	char cpu[16] = "unknown", name[512] = "-";

	if (row->cpu)
		snprintf(cpu, sizeof(cpu), "cpu%u", row->cpu - 1);
	if (func)
		clean(name, sizeof(name), func->name);
	fprintf(to, "%8s %6.1f %8" PRIu64 " %8.1f %8.1f  %s\n", cpu, row->cpu_percent, row->samples,
		percent_of(row->samples, all), percent_of(row->kernel_samples, row->samples), name);
}

static int write_cpus(FILE *to, const struct profile *p, const struct query *q)
{
	struct query cpus = *q;
	struct profile_health health;
	struct proc_row *rows;
	uint64_t all = 0;
	size_t count;
	int err;

	cpus.cpus = cpus.by_cpu = true;
	err = query_procs(p, &cpus, &rows, &count);
	if (err)
		return err;
	if (count > 1 || (count && rows[0].cpu)) {
		qsort(rows, count, sizeof(*rows), by_cpu_samples);
		for (size_t i = 0; i < count; i++)
			all += rows[i].samples;
		query_health_sum(p, q->span, &health);
		fprintf(to, "\n%8s %6s %8s %8s %8s  %s\n", "CPU",
			profile_is_time(&health) ? "CPU%" : "SMP%", "SAMPLES", "OF ALL%", "KERNEL%",
			"HOTTEST FUNCTION");
		for (size_t i = 0; i < count && i < CPUS_SHOWN; i++)
			write_cpu(to, p, &rows[i], all);
		if (count > CPUS_SHOWN)
			fprintf(to, "         and %zu more\n", count - CPUS_SHOWN);
	}
	free(rows);
	return 0;
}

static int write_report(FILE *to, const struct profile *p, const struct query *q)
{
	struct profile_health health;
	struct proc_row *rows;
	size_t count;
	int err = query_procs(p, q, &rows, &count);

	if (err)
		return err;
	qsort_r(rows, count, sizeof(*rows), by_samples, (void *)p);
	query_health_sum(p, q->span, &health);
	write_head(to, &health);
	if (q->measure == MEASURE_CPU)
		write_procs(to, p, &health, rows, count);
	else
		err = write_times(to, p, q, rows, count);
	if (health.by_cpu && q->measure == MEASURE_CPU)
		err = write_cpus(to, p, q);
	for (size_t i = 0; i < count && i < PROCS_FUNCS && rows[i].samples && !err; i++)
		err = write_funcs(to, p, q, &rows[i]);
	if (!err)
		err = write_reasons(to, p, q);
	fprintf(to, "\n");
	free(rows);
	return err;
}

int batch_text(FILE *to, struct profile *profile, const struct query *q)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int err;

	if (!memory)
		return -ENOMEM;
	profile_lock(profile);
	err = write_report(memory, profile, q);
	profile_unlock(profile);
	if (ferror(memory) && !err)
		err = -ENOMEM;
	if (fclose(memory) && !err)
		err = -ENOMEM;
	if (!err)
		err = write_all(to, text, size);
	free(text);
	return err;
}

int batch_folded(FILE *to, struct profile *profile, const struct query *q)
{
	struct folded folded;
	int err;

	profile_lock(profile);
	err = folded_read(&folded, profile, q);
	profile_unlock(profile);
	errno = 0;
	for (size_t i = 0; i < folded.count && !err; i++) {
		const struct folded_line *line = &folded.lines[i];

		if (fwrite(folded.text + line->at, 1, line->length, to) != line->length ||
		    fprintf(to, " %" PRIu64 "\n", line->count) < 0)
			err = errno ? -errno : -EIO;
	}
	folded_free(&folded);
	return err ? err : write_all(to, "", 0);
}

int batch_messages(FILE *to, struct profile *profile, uint64_t *serial)
{
	static const char *const words[] = {
		[MESSAGE_INFO] = "", [MESSAGE_WARNING] = "warning: ", [MESSAGE_ERROR] = "error: "};
	struct board_message message;

	for (;;) {
		char text[512] = "";

		if (!board_next(profile_board(profile), serial, &message))
			return write_all(to, "", 0);
		clean(text, sizeof(text), message.text);
		if (fprintf(to, "stacktop: %s%s\n", words[message.level], text) < 0)
			return errno ? -errno : -EIO;
	}
}

/* Rounded up to whole milliseconds, so that the slice that ends then is included. */
static double seconds_up(uint64_t ns)
{
	uint64_t ms = (ns + 999999) / 1000000;

	return (double)ms / 1000;
}

void batch_event(FILE *to, const char *path, struct profile *profile, struct batch_event *event)
{
	char name[256], now[sizeof(event->name)], before[sizeof(event->name)], from[40] = "";
	const struct profile_replay *replay;
	struct profile_health health;
	uint64_t border = event->position;

	profile_lock(profile);
	replay = profile_replay(profile);
	query_health(profile, &health);
	event->position = replay ? replay->position : 0;
	profile_unlock(profile);
	if (!border || !strcmp(health.event, event->name)) {
		memcpy(event->name, health.event, sizeof(event->name));
		return;
	}
	if (event->from)
		snprintf(from, sizeof(from), "--from %.3f ", seconds_up(event->from));
	fprintf(to,
		"stacktop: warning: %s: samples are of %s from %.3f s on, and only those are "
		"reported; -r %s--to %.3f has those of %s before\n",
		clean(name, sizeof(name), path), clean(now, sizeof(now), health.event),
		seconds_up(border), from, seconds_up(border),
		clean(before, sizeof(before), event->name));
	event->from = border;
	memcpy(event->name, health.event, sizeof(event->name));
}
