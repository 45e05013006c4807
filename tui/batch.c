/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a person reads who was sent the output of `stacktop -b`: every figure stands next to its
 * unit and its name, shares say of what, and nothing needs the manual. Everything is copied out of
 * the profile first; the pipe may be slow.
 */
#include "tui/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbols/text.h"
#include "tui/folded.h"
#include "tui/options.h"
#include "tui/query.h"

#define PROCS_SHOWN   20
#define PROCS_FUNCS   5	 /* processes whose functions are listed */
#define FUNCS_SHOWN   12 /* functions of each */
#define REASONS_SHOWN 12

static int write_all(FILE *to, const char *text, size_t size)
{
	errno = 0;
	if (fwrite(text, 1, size, to) == size && !fflush(to))
		return 0;
	return errno ? -errno : -EIO;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The names of others once more at the edge, whoever was to clean them. */
static const char *clean(char *to, size_t size, const char *from)
{
	text_clean(to, size, from, strlen(from));
	return to;
}

/* --- the head -------------------------------------------------------------------------------- */

static void write_losses(FILE *to, const struct profile_health *health)
{
	static const char *const names[LOSS_COUNT] = {
		[LOSS_COUNTS_FULL] = "the count map was full",
		[LOSS_STACK_RING] = "counted without their frames",
		[LOSS_BUSY] = "the sampler was busy",
		[LOSS_SIDEBAND] = "process records",
	};
	const char *separator = "";
	uint64_t lost = health->loss[LOSS_COUNTS_FULL] + health->loss[LOSS_BUSY];

	fprintf(to, "lost %" PRIu64 " samples", lost);
	for (int i = 0; i < LOSS_COUNT; i++) {
		if (!health->loss[i])
			continue;
		fprintf(to, "%s%" PRIu64 " %s", *separator ? separator : " (", health->loss[i],
			names[i]);
		separator = ", ";
	}
	fprintf(to, "%s\n", *separator ? ")" : "");
}

static void write_head(FILE *to, const struct profile_health *health)
{
	double seconds = (double)health->elapsed / 1e9;
	char when[32] = "", event[sizeof(health->event)];
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(to, "stacktop  %s  %.1f s of %s at %u Hz on %u CPU%s\n", when, seconds,
		clean(event, sizeof(event), health->event), health->frequency, health->ncpus,
		health->ncpus == 1 ? "" : "s");
	fprintf(to, "%" PRIu64 " samples (%" PRIu64 " in user mode, %" PRIu64 " in the kernel), ",
		health->samples, health->user_samples, health->kernel_samples);
	fprintf(to, "%.1f a second; ", seconds > 0 ? (double)health->samples / seconds : 0);
	write_losses(to, health);
	if (health->filtering)
		fprintf(to, "%u processes chosen, %" PRIu64 " samples of others left out\n",
			health->nattached, health->filtered);
	fprintf(to, "%.1f %% of %" PRIu64 " user stacks complete; ",
		percent(health->complete_walks, health->user_walks), health->user_walks);
	fprintf(to, "unwind tables %.1f of %.1f MiB in %u shard%s; own CPU %.1f %% of one\n",
		(double)health->words_used * 4 / 1048576, (double)health->words_max * 4 / 1048576,
		health->shards_used, health->shards_used == 1 ? "" : "s",
		percent(health->self_ns, health->elapsed));
}

/* --- processes and functions ----------------------------------------------------------------- */

static int by_samples(const void *a, const void *b)
{
	const struct proc_row *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

static int by_self(const void *a, const void *b)
{
	const struct func_row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->func > y->func) - (x->func < y->func);
}

static void write_procs(FILE *to, const struct profile *p, const struct proc_row *rows,
			size_t count)
{
	char user[32], command[256];

	fprintf(to, "\n%8s %-12s %6s %8s %8s %10s  %s\n", "PID", "USER", "CPU%", "SAMPLES",
		"KERNEL%", "COMPLETE%", "COMMAND");
	for (size_t i = 0; i < count && i < PROCS_SHOWN; i++) {
		const struct profile_proc *proc = query_proc(p, rows[i].proc);
		char complete[16] = "-";

		if (rows[i].walks)
			snprintf(complete, sizeof(complete), "%.1f",
				 percent(rows[i].complete, rows[i].walks));
		fprintf(to, "%8d %-12s %6.1f %8" PRIu64 " %8.1f %10s  %s%s\n", (int)proc->pid,
			*proc->user ? clean(user, sizeof(user), proc->user) : "-",
			rows[i].cpu_percent, rows[i].samples,
			percent(rows[i].kernel_samples, rows[i].samples), complete,
			clean(command, sizeof(command), proc->cmdline),
			proc->exited ? " (exited)" : "");
	}
	if (!count)
		fprintf(to, "         nothing was sampled\n");
	if (count > PROCS_SHOWN)
		fprintf(to, "         and %zu more\n", count - PROCS_SHOWN);
}

static const char *func_mark(enum func_kind kind)
{
	return kind == FUNC_KERNEL ? " [k]" : kind == FUNC_JIT ? " [jit]" : "";
}

static int write_funcs(FILE *to, const struct profile *p, const struct query *q,
		       const struct proc_row *row)
{
	const struct profile_proc *proc = query_proc(p, row->proc);
	char comm[32], name[512], module[128];
	struct query one = *q;
	struct func_row *rows;
	size_t count;
	int err;

	one.proc = row->proc;
	err = query_funcs(p, &one, &rows, &count);
	if (err)
		return err;
	qsort(rows, count, sizeof(*rows), by_self);
	fprintf(to, "\nHottest functions of %s, PID %d (%% of its %" PRIu64 " samples)\n",
		clean(comm, sizeof(comm), proc->comm), (int)proc->pid, row->samples);
	fprintf(to, "%8s %8s  %-20s  %s\n", "SELF%", "TOTAL%", "MODULE", "FUNCTION");
	for (size_t i = 0; i < count && i < FUNCS_SHOWN && rows[i].self; i++) {
		const struct profile_func *func = query_func(p, rows[i].func);
		bool end = func->kind == FUNC_END;

		fprintf(to, "%8.1f %8.1f  %-20s  %s%s%s%s\n", percent(rows[i].self, row->samples),
			percent(rows[i].total, row->samples),
			*func->module ? clean(module, sizeof(module), func->module) : "-",
			end ? "[" : "", clean(name, sizeof(name), func->name), end ? "]" : "",
			func_mark(func->kind));
	}
	free(rows);
	return 0;
}

/* --- where walks ended early ----------------------------------------------------------------- */

static int by_total(const void *a, const void *b)
{
	const struct func_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->func > y->func) - (x->func < y->func);
}

static int write_reasons(FILE *to, const struct profile *p, const struct query *q)
{
	struct func_row *rows;
	size_t count, kept = 0;
	char name[256];
	int err = query_funcs(p, q, &rows, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		if (query_func(p, rows[i].func)->kind == FUNC_END)
			rows[kept++] = rows[i];
	}
	qsort(rows, kept, sizeof(*rows), by_total);
	if (kept)
		fprintf(to, "\nWhy stacks are not complete\n%8s  %s\n", "SAMPLES", "REASON");
	for (size_t i = 0; i < kept && i < REASONS_SHOWN; i++)
		fprintf(to, "%8" PRIu64 "  %s\n", rows[i].total,
			clean(name, sizeof(name), query_func(p, rows[i].func)->name));
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
	qsort(rows, count, sizeof(*rows), by_samples);
	query_health(p, &health);
	write_head(to, &health);
	write_procs(to, p, rows, count);
	for (size_t i = 0; i < count && i < PROCS_FUNCS && rows[i].samples && !err; i++)
		err = write_funcs(to, p, q, &rows[i]);
	if (!err)
		err = write_reasons(to, p, q);
	fprintf(to, "\n");
	free(rows);
	return err;
}

static struct query batch_query(const struct options *options)
{
	return (struct query){
		.weigh = WEIGH_LAST,
		.proc = QUERY_ALL,
		.hide_kernel = options->no_kernel,
		.hide_user = options->no_user,
	};
}

int batch_text(FILE *to, struct profile *profile, const struct options *options)
{
	struct query q = batch_query(options);
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int err;

	if (!memory)
		return -ENOMEM;
	profile_lock(profile);
	err = write_report(memory, profile, &q);
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

int batch_folded(FILE *to, struct profile *profile, const struct options *options)
{
	struct query q = batch_query(options);
	struct folded folded;
	int err;

	profile_lock(profile);
	err = folded_read(&folded, profile, &q);
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

int batch_report(FILE *to, struct profile *profile, const struct options *options)
{
	if (options->format == FORMAT_FOLDED)
		return batch_folded(to, profile, options);
	return batch_text(to, profile, options);
}

int batch_messages(FILE *to, struct profile *profile, uint64_t *serial)
{
	static const char *const words[] = {
		[MESSAGE_INFO] = "", [MESSAGE_WARNING] = "warning: ", [MESSAGE_ERROR] = "error: "};
	enum message_level level;

	for (;;) {
		char text[512] = "";
		const char *message;

		profile_lock(profile);
		message = query_message_after(profile, &level, serial);
		if (message)
			clean(text, sizeof(text), message);
		profile_unlock(profile);
		if (!message)
			return write_all(to, "", 0);
		if (fprintf(to, "stacktop: %s%s\n", words[level], text) < 0)
			return errno ? -errno : -EIO;
	}
}
