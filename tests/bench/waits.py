# SPDX-License-Identifier: GPL-2.0-or-later
"""BENCH=waits: what following threads through their waits costs. Two processes on one CPU send each other
a byte through pipes, the most switches that there can be, and perf's messaging benchmark makes many on all
CPUs: alone, and while each tool follows the whole machine, in turns. A ratio is the median of those of
neighbours. The programs' own run time is the kernel's account (kernel.bpf_stats_enabled, see run.sh)."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import live

PINGPONG = os.path.join(live.BUILD, "tests", "bench", "pingpong")
TURNS = 5
LENGTH_MS = 2000
PROG_TYPES = {"26": "switches and wake-ups", "7": "stacks, and those that look whether there are any"}
FOLLOWED = re.compile(r"^waits of threads followed: .*?, (\d+) stacks taken, (\d+) thinned out, "
                      r"(\d+) long ones without a stack, (\d+) lost, \d+ switches not reported$", re.M)


def tools(folder):
    """{name: command}; only those that are there."""
    found = {"stacktop": [live.STACKTOP, "-b", "-e", "off-cpu", "-d", "1"]}
    bcc = next(filter(shutil.which, ("offcputime-bpfcc", "/usr/share/bcc/tools/offcputime")), None)
    if bcc:
        found["bcc's offcputime"] = [bcc, "-f", "3600"]
    if shutil.which("perf"):
        found["perf record"] = ["perf", "record", "-q", "-e", "sched:sched_switch", "-g", "-a", "-o",
                                os.path.join(folder, "perf.data")]
    return found


def programs(pid):
    """{type of program: (runs, ns)} of those that the process holds."""
    found = {}
    for fields in live.bpf_descriptors(pid):
        if fields.get("prog_type") in PROG_TYPES:
            found[fields["prog_id"]] = fields["prog_type"], int(fields["run_cnt"]), int(fields["run_time_ns"])
    return {kind: tuple(sum(row[at] for row in found.values() if row[0] == kind) for at in (1, 2))
            for kind in PROG_TYPES}


class Tool:
    """Runs while the block does."""

    def __init__(self, command):
        self.command = command
        self.out = tempfile.TemporaryFile()
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.DEVNULL)
        time.sleep(3)   # bcc compiles
        if self.process.poll() is not None:
            raise ValueError(f"{self.command[0]} has ended")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self):
        return os.pread(self.out.fileno(), 1 << 26, 0).decode("utf-8", "replace")


def pingpong():
    """ns for a switch"""
    switches, ns = map(int, subprocess.run([PINGPONG, str(LENGTH_MS)], capture_output=True, text=True,
                                           check=True).stdout.split())
    return ns / switches


def messaging():
    """seconds"""
    text = subprocess.run(["perf", "bench", "sched", "messaging", "-g", "10", "-l", "300"], capture_output=True,
                          text=True, check=True).stdout
    return float(re.search(r"Total time: ([\d.]+)", text).group(1))


def median(numbers):
    return statistics.median(numbers)


def compare(table, what, unit, load, found):
    """Returns {kind: [runs, ns]} of stacktop's programs, and what it said."""
    alone, with_tool = [], {name: [] for name in found}
    spent, said = {kind: [0, 0] for kind in PROG_TYPES}, ""
    for _ in range(TURNS):
        alone.append(load())
        for name, command in found.items():
            with Tool(command) as tool:
                before = programs(tool.process.pid)
                with_tool[name].append(load())
                after = programs(tool.process.pid)
            if name == "stacktop":
                said += tool.said()
                for kind in spent:
                    for at in (0, 1):
                        spent[kind][at] += after[kind][at] - before[kind][at]
    table.row(f"{what}, alone", median(alone), unit)
    for name, each in with_tool.items():
        ratios = [a / b for a, b in zip(each, alone)]
        table.row(f"{what}, with {name}", median(each), unit,
                  peer=f"{median(ratios):.2f} times [{min(ratios):.2f}-{max(ratios):.2f}]")
    return spent, said


def measure(table):
    with tempfile.TemporaryDirectory(prefix="stacktop-waits-") as folder:
        found = tools(folder)
        spent, said = compare(table, "a switch of two processes", "ns", pingpong, found)
        for kind, (runs, ns) in spent.items():
            table.row(f"mean run of {PROG_TYPES[kind]}", ns / runs if runs else 0, "ns", peer=f"{runs} runs")
        sums = [sum(int(row[at]) for row in FOLLOWED.findall(said)) for at in range(4)]
        table.note("{} stacks taken, {} waits thinned out, {} long ones without a stack, {} lost"
                   .format(*sums))
        if shutil.which("perf"):
            compare(table, "perf bench sched messaging", "s", messaging, found)
