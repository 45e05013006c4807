# SPDX-License-Identifier: GPL-2.0-or-later
"""BENCH=churn: the cost of short processes, beside perf. Two loads, each without a profiler and with
each profiler in turn: a thousand short commands a second, and `make -j2` of small C files. The figures
are CPU time, so that other work on the machine does not count: a profiler's with its children, perf
record's with its work at the end. The load's own CPU time tells how much it is slowed."""

import glob
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import live

CHURN = os.path.join(live.BUILD, "tests", "bench", "churn")
RATE, SECONDS = 1000, 5
TURNS = 3
FILES = 24
GOAL_MS = 0.08
SOURCE = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
int FUNCTION(int n) { char *s = malloc(n); snprintf(s, n, "%f", sin(n)); return strlen(s); }
"""


def tools(folder):
    """{name: command}; only stacktop where perf is missing."""
    found = {"nothing": None, "stacktop": [live.STACKTOP]}
    if shutil.which("perf"):
        found["perf record -a -g"] = ["perf", "record", "-a", "-g", "-e", "cpu-clock", "-F", "99",
                                      "-o", os.path.join(folder, "perf.data")]
        found["perf top -g"] = ["perf", "top", "-g", "-e", "cpu-clock", "-F", "99"]
    return found


def family(pid):
    yield pid
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path, encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def cpu_ms(pid):
    total = 0
    for each in family(pid):
        for path in glob.glob(f"/proc/{each}/task/*/schedstat"):
            try:
                with open(path, encoding="ascii") as file:
                    total += int(file.read().split()[0])
            except OSError:
                continue
    return total / 1e6


def whole_ms(screen):
    """Ends the profiler; returns the CPU time of its whole life in ms, with work put off to its end."""
    os.kill(screen.pid, signal.SIGINT)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        pid, _, use = os.wait4(screen.pid, os.WNOHANG)
        if pid:
            return (use.ru_utime + use.ru_stime) * 1000
        screen.run(0.1)
    raise ValueError("the profiler does not end")


def beside(screen_of, command, load):
    """(the load's result, ms of CPU time that the profiler used meanwhile)"""
    if not command:
        return load(time.sleep), 0
    screen = screen_of(command)
    try:
        screen.run(3)
        before = cpu_ms(screen.pid)
        result = load(screen.run)
        screen.run(1.2)  # work that is left for the next refresh
        after = whole_ms(screen) if "record" in command else cpu_ms(screen.pid)
    finally:
        screen.stop()
    if after <= before:
        raise ValueError(f"{command[0]} ended: " + repr(screen.text[-300:]))
    return result, after - before


def wait(process, run):
    """Calls run(seconds) until the process ends; returns its CPU time in ms."""
    while True:
        pid, status, use = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            break
        run(0.1)
    if process.returncode:
        raise ValueError(f"{process.args} ended with {process.returncode}")
    return (use.ru_utime + use.ru_stime) * 1000


def storm(rate):
    """A load; returns (processes started, ms of CPU time per process)."""
    def load(run):
        command = [CHURN, str(rate), str(SECONDS), shutil.which("true")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            wait(process, run)
            started, cpu, _ = map(int, process.stdout.read().split())
        return started, cpu / started / 1e6
    return load


def compiling(folder):
    """A load; returns (1, ms of CPU time)."""
    with open(os.path.join(folder, "Makefile"), "w", encoding="ascii") as file:
        objects = " ".join(f"{i}.o" for i in range(FILES))
        file.write(f"all: {objects}\n%.o: one.c\n\tgcc -O2 -DFUNCTION=f$* -c -o $@ $<\n")
    with open(os.path.join(folder, "one.c"), "w", encoding="ascii") as file:
        file.write(SOURCE)

    def load(run):
        with subprocess.Popen(["make", "-s", "-r", "-B", "-j2", "-C", folder]) as process:
            return 1, wait(process, run)
    return load


def measure(table, screen_of):
    """screen_of(command) runs it in a pseudo-terminal."""
    with tempfile.TemporaryDirectory(prefix="stacktop-churn-") as folder:
        commands = tools(folder)
        own = {name: [] for name in commands}
        taken = {name: [] for name in commands}

        def turns(load):
            for name in commands:
                own[name], taken[name] = [], []
            for _ in range(TURNS):
                for name, command in commands.items():
                    (count, cost), cpu = beside(screen_of, command, load)
                    own[name].append(cpu / count)
                    taken[name].append(cost)

        turns(storm(RATE))
        report(table, f"{RATE} exec a second: own CPU for each", own, "ms", GOAL_MS)
        slowed(table, "  the storm's own CPU beside it", taken)
        turns(compiling(folder))
        report(table, f"make -j2 of {FILES} files: own CPU", own, "ms", None, 0)
        slowed(table, "  the compiler's CPU beside it", taken)
        for command in commands.values():
            if command:
                table.note(" ".join(command))
        table.note(f"{CHURN} {RATE} {SECONDS} true")


def report(table, name, own, unit, limit, digits=3):
    peers = {peer: statistics.median(own[peer]) for peer in own if peer.startswith("perf")}
    if limit is None:
        limit = round(peers.get("perf top -g", 0)) or None
    told = [f"{value:.{digits}f} {unit} {peer}" for peer, value in peers.items()]
    every = " ".join(f"{value:.{digits}f}" for value in own["stacktop"])
    table.row(name, statistics.median(own["stacktop"]), unit, limit,
              f"{every}; " + (", ".join(told) or "no perf"), digits)


def slowed(table, name, taken):
    alone = statistics.median(taken["nothing"])
    times = {tool: statistics.median(values) / alone for tool, values in taken.items()}
    peers = [f"{value:.2f} times {tool}" for tool, value in times.items() if tool.startswith("perf")]
    table.row(name, times["stacktop"], "times",
              round(times.get("perf record -a -g", 0), 2) or None,
              f"{alone:.2f} ms alone; " + (", ".join(peers) or "no perf"), 2)
