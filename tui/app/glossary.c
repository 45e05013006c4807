// SPDX-License-Identifier: GPL-2.0-or-later
/* See glossary.h: one line for each title, since the width of a column has no room for more. */
#include "tui/app/glossary.h"

#include <string.h>

#include "tui/screen/keys.h"

#define IN_FUNCS (VIEW_BIT(VIEW_FUNCS) | VIEW_BIT(VIEW_PROCS)) /* the lower half of Procs */

static const struct glossary_entry entries[] = {
	{"CPU%", IN_PROCS, "time on CPUs, in percent of one CPU; 200 is two of them all the time"},
	{"SMP%", IN_PROCS, "share of the events, where these have no time"},
	{"OFF%", IN_PROCS, "time its threads waited, in percent of one thread's time (Q)"},
	{"WALL%", IN_PROCS, "all time of its threads, on CPUs and off, likewise (Q)"},
	{"STATE", IN_PROCS,
	 "# on a CPU, r runnable, L lock, s sleep, p poll, i pipe, n socket, D disk, f fault, c child, T "
	 "stopped, o other"},
	{"WAITS FOR", IN_PROCS, "what takes most of its time off a CPU"},
	{"us/s", IN_PROCS, "microseconds of waits a second"},
	{"K%", IN_PROCS, "part of its samples that hit the kernel"},
	{"PID", IN_PROCS | IN_UNWIND, "number of the process, or of the thread (H)"},
	{"USER", IN_PROCS, "whom the process runs as"},
	{"THR", IN_PROCS, "its threads"},
	{"HISTORY", IN_PROCS, "LAST 16 s: CPU time of the last seconds, the newest on the right"},
	{"SMP/s", IN_PROCS | IN_UNWIND,
	 "samples a second; of another event their share of how often it happened: FLT/s, faults"},
	{"ON CPU", IN_PROCS, "where it was sampled, the most first (W turns this on)"},
	{"GIL%", IN_PROCS, "part of its samples in which a thread holds its interpreter's lock"},
	{"UNWOUND", IN_PROCS, "part of its stacks that were walked to the outermost function"},
	{"HOTTEST FUNCTION", IN_PROCS, "where most of its samples ended"},
	{"CONTAINER, UNIT", IN_PROCS, "the container or systemd unit it belongs to"},
	{"COMMAND", IN_PROCS | IN_UNWIND, "its command line; in brackets: the name of one without"},
	{"CALLED BY", IN_LISTS, "who called it in most of the samples that ended in it"},
	{"SELF%", IN_PROCS | IN_NAMES, "samples that ended in this function itself"},
	{"TOTAL%", IN_PROCS | IN_NAMES,
	 "samples with this function on the stack: itself and what it called"},
	{"PARENT%", IN_TREE, "as TOTAL%, of the samples of the row that it belongs to (%)"},
	{"SAMPLES", IN_WINGS | IN_FUNCS | IN_TREE | IN_UNWIND, "the same as a number of samples"},
	{"TIME", IN_WINGS | IN_FUNCS | IN_TREE, "the same as a time of threads (Q)"},
	{"EVENTS", IN_WINGS | IN_FUNCS | IN_TREE, "the same as how often the event happened (F7)"},
	{"TIME%", IN_WAITS, "part of all long waits"},
	{"TIME", IN_WAITS, "how long its threads waited for this"},
	{"WAITS", IN_WAITS, "how often; one that goes on counts once in each refresh"},
	{"WAITERS", IN_WAITS, "threads that waited"},
	{"PID", IN_WAITS, "number of the process"},
	{"PROCESS", IN_WAITS, "its name"},
	{"WAITS FOR", IN_WAITS, "the address of the lock, or what else it waited for"},
	{"MOSTLY ENDED BY", IN_WAITS, "the thread that woke it, and in which function"},
	{"vs BEFORE", IN_FUNCS,
	 "change of SELF% against the time just before the window, in points"},
	{"vs BASE", IN_LISTS | IN_TREE | IN_WINGS,
	 "change against the baseline (B), in points (X shows it)"},
	{"BAR", IN_WINGS | IN_FUNCS | IN_TREE | IN_UNWIND, "the share as a bar"},
	{"k/u", IN_WINGS | IN_FUNCS,
	 "k: kernel, u: user, i: inlined into its caller, j: made at run time; py and others: language"},
	{"FUNCTION", IN_FUNCS, "its name"},
	{"SOURCE FILE, OBJECT", VIEW_BIT(VIEW_FUNCS),
	 "what a row is the sum of (c): a source file of a language, else a program or library"},
	{"MODULE", IN_FUNCS | IN_TREE | IN_WINGS,
	 "the program, library or kernel module it is from; of a language the source file"},
	{"SOURCE", IN_FUNCS, "its hottest line, where debug information tells it"},
	{"CALL TREE", VIEW_BIT(VIEW_TREE), "functions, each below the one that called it"},
	{"EXECUTED, CALLED BY", VIEW_BIT(VIEW_CALLERS),
	 "functions that executed, and below each the ones that called it"},
	{"#", IN_SHARDS, "number of the shard: a block of unwind tables"},
	{"OCCUPANCY", IN_SHARDS, "how full the shard is"},
	{"USED", IN_SHARDS, "of a shard: words in use; of an object: when a walk last used it"},
	{"WORDS", IN_SHARDS, "words of memory that its tables take"},
	{"OBJS", IN_SHARDS, "objects (programs, libraries) with a table in the shard"},
	{"STATE", IN_SHARDS, "whether the table is there, queued, evicted or failed; p: pinned"},
	{"EVICTED", IN_SHARDS, "tables that had to make room for others"},
	{"GEN", IN_SHARDS, "how often the shard was created"},
	{"AGE", IN_SHARDS, "time since then"},
	{"KEY", IN_SHARDS, "the letter of the object in the drawing of the shard"},
	{"PROCS", IN_SHARDS, "processes that map the object"},
	{"MISS s", IN_SHARDS, "seconds in which walks wanted its table and there was none"},
	{"B/CFI", IN_SHARDS, "bytes of the table for each byte of call frame information"},
	{"ROWS", IN_SHARDS, "rows of the table: ranges of code with one rule"},
	{"DERIV%", IN_SHARDS, "part of the rows that follow from instructions, without CFI"},
	{"BUILD ID", IN_SHARDS, "tells one build of the object from another"},
	{"OBJECT", IN_SHARDS, "its file"},
	{"WALKS", IN_UNWIND, "user stacks that were walked"},
	{"COMPLETE", IN_UNWIND, "part of them that reached the outermost function"},
	{"BROKEN", IN_UNWIND, "walks that did not"},
	{"/s", IN_UNWIND, "the same in a second"},
	{"GUESSED", IN_UNWIND, "complete, if a frame pointer of zero is what it seems to be"},
	{"MOSTLY", IN_UNWIND, "why most of the others ended early"},
	{"SHARE%", IN_WINGS, "part of the function's samples that came from there, or went there"},
	{"CALLERS AND CALLEES", IN_WINGS, "above the function who called it, below what it called"},
	{"SHARE%", IN_UNWIND, "of all stacks of what is looked at"},
	{"WHAT HAPPENED", IN_UNWIND, "how the walks ended, or what was lost"},
	{"WHAT IT MEANS", IN_UNWIND, "and what helps"},
	{"LAST FRAME", IN_UNWIND, "the function at which walks ended"},
	{"FILE", IN_UNWIND, "the file it is from"},
	{"AT", IN_UNWIND, "the address in that file, as objdump and addr2line take it"},
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

const struct glossary_entry *glossary_table(size_t *count)
{
	*count = ENTRIES;
	return entries;
}

/* A rate is called after its event: "FLT/s". */
static bool is_rate(const char *title)
{
	size_t n = strlen(title);

	return n == 5 && strcmp(title + 3, "/s") == 0;
}

const struct glossary_entry *glossary_find(const char *title, enum ui_view view)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if ((entries[i].views & VIEW_BIT(view)) &&
		    (strcmp(entries[i].title, title) == 0 ||
		     (is_rate(title) && is_rate(entries[i].title))))
			return &entries[i];
	return NULL;
}
