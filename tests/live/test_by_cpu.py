#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 180 s
"""CPUs told apart: what was pinned to a CPU was sampled on that one and no other, a thread that goes
to and fro was sampled on both as long as it says it was there, shares on each CPU are those of
/proc/PID/stat, and no sample is lost. By default, samples have no CPU and reports no table of CPUs.

Covers: bpf/profiler.bpf.c tui/batch_cpus.c tui/query_cpus.c tui/bycpu.c
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERTZ = "499"
SPIN = "while True: sum(range(1000))"
# Twice as long on the second CPU as on the first; says how much CPU time it had on each.
MOVE = """import os, sys, time
cpus, spent, turn = [int(c) for c in sys.argv[1:]], [0.0, 0.0], 0
while True:
    at = turn % 2
    os.sched_setaffinity(0, {cpus[at]})
    start = time.process_time()
    while time.process_time() - start < (0.02, 0.04)[at]:
        sum(range(100))
    spent[at] += time.process_time() - start
    turn += 1
    if turn % 10 == 0:
        print(spent[0], spent[1], flush=True)"""


def pinned(cpu):
    return live.Load(["taskset", "-c", str(cpu), sys.executable, "-c", SPIN])


def samples(reports):
    """{(pid, cpu): count}, None where no CPU is told, and the sums of the heads."""
    found, head = {}, {"taken": 0, "filtered": 0, "lost": 0, "samples": 0}
    for report in reports:
        for name in head:
            head[name] += report[name]
        for stack in report["stacks"]:
            key = (report["processes"][stack["process"]]["pid"], stack.get("cpu"))
            found[key] = found.get(key, 0) + stack["count"]
    return found, head


def run(*options):
    out, err, status = live.stacktop("-b", "-F", HERTZ, "--format", "json", *options)
    return [json.loads(line) for line in out.splitlines()], live.errors(err), status


def test_pinned(tap, cpus):
    with pinned(cpus[0]) as one, pinned(cpus[1]) as two, \
            live.Load([sys.executable, "-c", MOVE, *map(str, cpus)],
                      stdout=subprocess.PIPE) as mover:
        pids = [one.pid, two.pid, mover.pid]
        first = mover.stdout.readline().split()
        before = [live.process_seconds([pid]) for pid in pids]
        reports, err, status = run("--by-cpu", "-d", "2", "-n", "2", "-p",
                                   ",".join(map(str, pids)))
        spent = [live.process_seconds([pid]) - b for pid, b in zip(pids, before)]
        mover.kill()
        last = mover.stdout.read().splitlines()[-1].split()
    tap.ok(status == 0 and err == "" and len(reports) == 2, "it samples by CPU", err)
    found, head = samples(reports)
    tap.note(f"{found}, {head}, {spent}")
    tap.ok({cpu for pid, cpu in found if pid == one.pid} == {cpus[0]},
           "what is pinned to the first CPU was sampled there only")
    tap.ok({cpu for pid, cpu in found if pid == two.pid} == {cpus[1]},
           "what is pinned to the second one likewise")
    moved = [found.get((mover.pid, cpu), 0) for cpu in cpus]
    there = [float(b) - float(a) for a, b in zip(first, last)]
    share, want = moved[0] / max(1, sum(moved)), there[0] / sum(there)
    tap.ok(min(moved) > 0 and abs(share - want) < 0.1,
           "what moves was sampled on both, as long as it was there",
           f"{share:.2f}, {want:.2f} by its own clock")
    # Of the second CPU the mover had what it says, the other one all of its time.
    for n, name in enumerate(("first", "second")):
        of_mover = spent[2] * there[n] / sum(there)
        want = spent[n] / (spent[n] + of_mover)
        share = found.get((pids[n], cpus[n]), 0) / max(1, sum(
            count for (_, cpu), count in found.items() if cpu == cpus[n]))
        tap.ok(abs(share - want) < 0.1, f"shares on the {name} CPU are those of /proc/PID/stat",
               f"{share:.2f}, {want:.2f}")
    tap.ok(head["samples"] == sum(found.values()) and
           head["taken"] == head["filtered"] + head["samples"] + head["lost"],
           "all that was taken is shown, filtered or lost", str(head))


def test_report(tap, cpus):
    """The text has a table of CPUs, whose samples are those of its processes."""
    with pinned(cpus[0]) as one, pinned(cpus[1]) as two:
        out, err, status = live.stacktop("-b", "--by-cpu", "-F", HERTZ, "-d", "1", "-n", "1", "-p",
                                         f"{one.pid},{two.pid}")
        plain, _, _ = live.stacktop("-b", "-d", "0.2", "-n", "1", "-p", f"{one.pid}")
    report = live.Report(out)
    rows = {int(cpu): (float(busy), int(count), float(share)) for cpu, busy, count, share in
            re.findall(r"^ +cpu(\d+) +([\d.]+) +(\d+) +([\d.]+) +[\d.]+  \S", out, re.M)}
    procs = {pid: count for pid, count, _ in report.procs}
    tap.ok(status == 0 and live.errors(err) == "" and set(rows) == set(cpus) and
           [rows[cpu][1] for cpu in cpus] == [procs[one.pid], procs[two.pid]],
           "a report in text has a row for each CPU", f"{rows} {procs}")
    tap.ok(abs(sum(share for _, _, share in rows.values()) - 100) < 0.2 and
           all(abs(busy - 100 * count / report.hertz / report.seconds) < 1
               for busy, count, _ in rows.values()),
           "with shares of its own time and of all samples")
    tap.ok("OF ALL%" not in plain, "no table of CPUs without --by-cpu")


def test_not_asked(tap):
    with live.Load([sys.executable, "-c", SPIN]) as spin:
        reports, err, status = run("-d", "0.5", "-n", "2", "-p", str(spin.pid))
    found, _ = samples(reports)
    tap.ok(status == 0 and err == "" and set(found) == {(spin.pid, None)},
           "samples have no CPU without --by-cpu", f"{found} {err}")


def test_toggled(tap, cpus):
    """While it runs, a session is recorded, which keeps what is told."""
    with tempfile.TemporaryDirectory() as folder, pinned(cpus[1]) as one, \
            live.Load([sys.executable, "-c", SPIN]) as other, \
            open(os.path.join(folder, "told"), "w+b") as told:
        session = os.path.join(folder, "session")
        plain = subprocess.Popen([live.STACKTOP, "--plain", "-F", HERTZ, "-d", "0.15", "-n", "32",
                                  "-w", session], stdin=subprocess.PIPE, bufsize=0,
                                 stdout=told, stderr=subprocess.STDOUT)

        def refreshes(count):
            """Waits for so many more."""
            def shown():
                return len(re.findall(rb", [\d,]+ lost$", os.pread(told.fileno(), 1 << 24, 0), re.M))

            first = shown()
            live.wait_for(lambda: shown() >= first + count or plain.poll() is not None)

        # An odd number of times, so that it ends with CPUs apart.
        refreshes(1)
        for _ in range(7):
            refreshes(2)
            plain.stdin.write(b"by-cpu\n")
        status = plain.wait(timeout=60)
        done, err, replayed = run("-r", session)
    found, head = samples(done)
    tap.ok(status == 0 and replayed == 0 and err == "" and len(done) == 32,
           "it is switched while it runs, and recorded", f"{len(done)} refreshes {status} {replayed} {err}")
    with_cpu = sum(count for (_, cpu), count in found.items() if cpu is not None)
    without = sum(count for (_, cpu), count in found.items() if cpu is None)
    tap.ok(with_cpu > 0 and without > 0 and
           {cpu for pid, cpu in found if pid == one.pid} == {None, cpus[1]},
           "the replay has samples of both kinds, on the right CPU",
           f"{with_cpu} with a CPU, {without} without")
    mixed = sum(len({("cpu" in stack) for stack in report["stacks"]}) == 2 for report in done)
    tap.ok(head["taken"] == head["filtered"] + with_cpu + without + head["lost"] and
           other.pid in {pid for pid, _ in found},
           "to switch loses no sample", f"{head}, {mixed} refreshes of both kinds")


def main():
    tap = live.Tap()
    live.need_root(tap)
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        tap.skip("everything", "needs two CPUs")
        tap.done()
    test_pinned(tap, cpus)
    test_report(tap, cpus)
    test_not_asked(tap)
    test_toggled(tap, cpus)
    tap.done()


main()
