// SPDX-License-Identifier: GPL-2.0-or-later
/* What each part of the program gets of the command line: only main and its options know it all. */
#include "tui/app/dispatch.h"
#include "tui/app/screenshot.h"
#include "tui/collect/collector.h"
#include "tui/options.h"
#include "tui/query/query.h"

struct ui_options options_ui(const struct options *o)
{
	return (struct ui_options){
		.delay = o->delay,
		.delay_given = o->delay_given,
		.by_cpu = o->by_cpu,
		.no_kernel = o->no_kernel,
		.no_user = o->no_user,
		.no_inline = o->no_inline,
		.frames = o->frames,
		.frames_given = o->frames_given,
		.push_options = &o->push,
		.baseline = o->baseline,
		.baseline_first = o->screenshot != NULL,
		.theme = o->theme,
		.measure = o->measure,
		.ascii = o->ascii,
		.no_color = o->no_color,
		.no_mouse = o->no_mouse,
		.ends = o->iterations || o->command || o->replay,
	};
}

struct screenshot_options options_screenshot(const struct options *o)
{
	return (struct screenshot_options){
		.path = o->screenshot,
		.keys = o->keys,
		.rows = o->rows,
		.cols = o->cols,
		.slices = o->iterations,
	};
}

struct collector_options options_collector(const struct options *o)
{
	size_t formats;

	return (struct collector_options){
		.event = o->event,
		.frequency = o->frequency,
		.delay = o->delay,
		.by_cpu = o->by_cpu,
		.waits = o->measure != MEASURE_CPU,
		.least_wait = o->min_block,
		.no_kernel = o->no_kernel,
		.no_user = o->no_user,
		.no_inline = o->no_inline,
		.cpus = o->cpus,
		.ncpus = o->ncpus,
		.pids = o->pids,
		.npids = o->npids,
		.comm = o->comm ? &o->comm_regex : NULL,
		.user_given = o->user_given,
		.user = o->user,
		.cgroup = o->cgroup,
		.container = o->container,
		.tables = o->memory,
		.debug_memory = o->debug_memory,
		.debuginfod = o->debuginfod,
		.record = o->record,
		.program = o->command ? o->command[0] : NULL,
		.iterations = o->iterations,
		.calm = o->agent,
		.batch = o->batch,
		.prompt = !o->agent && export_table(&formats)[o->format].stream && !o->at_end,
		.screenshot = o->screenshot != NULL,
		.aside = !o->batch && !o->plain && !o->screenshot,
	};
}

struct player_options options_player(const struct options *o)
{
	return (struct player_options){
		.path = o->replay,
		.from = o->from,
		.to = o->to,
		.iterations = o->iterations,
		.speed = o->speed,
		.batch = o->batch,
		.screenshot = o->screenshot != NULL,
		.aside = !o->batch && !o->plain && !o->screenshot,
	};
}

struct query options_query(const struct options *o)
{
	return (struct query){
		.span = SPAN_LAST,
		.proc = QUERY_ALL,
		.hide_kernel = o->no_kernel,
		.hide_user = o->no_user,
		.hide_inline = o->no_inline,
		.frames = o->frames,
		.measure = o->measure,
	};
}
