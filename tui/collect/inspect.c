// SPDX-License-Identifier: GPL-2.0-or-later
/* See inspect.h. */
#include "tui/collect/inspect.h"

#include <errno.h>
#include <string.h>

#include "bpf/report/trace.h"
#include "bpf/tracker/tracker.h"
#include "symbols/base/text.h"
#include "tui/profile/inspection.h"
#include "tui/symbolize/resolver.h"

int inspection_make(struct tracker *tracker, struct resolver *resolver,
		    const struct capture_record *captured, struct inspection **out)
{
	const struct tracker_exec of = {(pid_t)captured->tgid, captured->start_stack,
					captured->exec_id};
	struct tracker_proc proc;
	struct inspection *i;
	struct trace *trace;
	int err = trace_new(tracker, captured, &trace);

	*out = NULL;
	if (err)
		return err;
	i = inspection_new(trace);
	err = i ? resolver_inspection(resolver, i) : -ENOMEM;
	if (err) {
		inspection_put(i);
		return err;
	}
	if (tracker_proc(tracker, &of, &proc))
		text_clean(i->comm, sizeof(i->comm), proc.comm,
			   strnlen(proc.comm, sizeof(proc.comm)));
	*out = i;
	return 0;
}
