#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The processes that have perf events open, ` PID COMM` each on a line: with call chains these keep
# kernel.perf_event_max_stack as it is.

find /proc/[0-9]*/fd -lname 'anon_inode:\[perf_event\]' 2>/dev/null | cut -d/ -f3 | uniq |
while read -r pid; do
    read -r comm <"/proc/$pid/comm" && echo " $pid $comm"
done 2>/dev/null
