#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 180 s
"""--by-cpu: a thread pinned to a CPU is sampled on that CPU only, a thread that moves to and fro on
both, the shares on each CPU are those of the work that each thread reports to have done there, and no
sample is lost. By default, samples have no CPU and reports no table of CPUs.

Covers: bpf/prog/profiler.bpf.c bpf/prog/sample.bpf.h tui/export/batch.c tui/query/query_cpus.c tui/ui/bycpu.c
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
# Works in turns on each CPU of its arguments, 20 ms on the first and twice as long on the second, and
# prints how many rounds it has done on each. The rounds are the reference: a thread's CPU time goes on
# while a hypervisor has the CPU.
WORK = """import os, sys, time
cpus, rounds, turn = [int(c) for c in sys.argv[1:]], [0, 0], 0
while True:
    at = turn % len(cpus)
    os.sched_setaffinity(0, {cpus[at]})
    start = time.process_time()
    while time.process_time() - start < (0.02, 0.04)[at]:
        sum(range(1000))
        rounds[at] += 1
    turn += 1
    if turn % 2 == 0:
        os.write(1, b"%d %d\\n" % tuple(rounds))"""


def working(*cpus, load=live.Gentle):
    return load([sys.executable, "-c", WORK, *map(str, cpus)], stdout=subprocess.PIPE)


def rounds(load):
    """The last numbers that the load printed; waits for the first."""
    return [int(n) for n in os.read(load.stdout.fileno(), 1 << 20).splitlines()[-1].split()]


def samples(reports):
    """({(pid, cpu): count}, the sums of the heads); cpu is None where the report has none."""
    found, head = {}, {"taken": 0, "filtered": 0, "lost": 0, "samples": 0}
    for report in reports:
        for name in head:
            head[name] += report[name]
        for stack in report["stacks"]:
            key = (report["processes"][stack["process"]]["pid"], stack.get("cpu"))
            found[key] = found.get(key, 0) + stack["count"]
    return found, head


def run(own, *options):
    """own: PIDs of processes that stacktop may have no trouble with."""
    out, err, status = live.stacktop("-b", "-F", HERTZ, "--format", "json", *options)
    return [json.loads(line) for line in out.splitlines()], live.errors(err, own), status


def test_pinned(tap, cpus):
    with working(cpus[0], load=live.Load) as one, working(cpus[1], load=live.Load) as two, \
            working(*cpus, load=live.Load) as mover:
        loads = one, two, mover
        before = [rounds(load) for load in loads]
        pids = [load.pid for load in loads]
        reports, err, status = run(pids, "--by-cpu", "-d", "2", "-n", "2", "-p", ",".join(map(str, pids)))
        done = [[b - a for a, b in zip(was, rounds(load))] for was, load in zip(before, loads)]
    tap.ok(status == 0 and err == "" and len(reports) == 2, "samples by CPU", err)
    found, head = samples(reports)
    tap.note(f"{found}, {head}, {done}")
    tap.ok({cpu for pid, cpu in found if pid == one.pid} == {cpus[0]},
           "a thread pinned to the first CPU is sampled only there")
    tap.ok({cpu for pid, cpu in found if pid == two.pid} == {cpus[1]},
           "a thread pinned to the second CPU is sampled only there")
    moved = [found.get((mover.pid, cpu), 0) for cpu in cpus]
    tap.ok(min(moved) > 0, "a thread that moves is sampled on both", str(moved))
    for n, name in enumerate(("first", "second")):
        want = done[n][0] / max(1, done[n][0] + done[2][n])
        own = found.get((loads[n].pid, cpus[n]), 0)
        share = own / max(1, own + moved[n])
        tap.ok(abs(share - want) < 0.1, f"shares on the {name} CPU match the work done there",
               f"{share:.2f}, {want:.2f}")
    tap.ok(head["samples"] == sum(found.values()) and
           head["taken"] == head["filtered"] + head["samples"] + head["lost"],
           "each sample taken is shown, filtered or lost", str(head))


def test_report(tap, cpus):
    """The text has a table of CPUs with the samples of their processes."""
    with working(cpus[0]) as one, working(cpus[1]) as two:
        for load in one, two:
            rounds(load)  # waits until the load runs on its CPU
        out, err, status = live.stacktop("-b", "--by-cpu", "-F", HERTZ, "-d", "1", "-n", "1", "-p",
                                         f"{one.pid},{two.pid}")
    plain, _, _ = live.stacktop("-b", "-d", "0.2", "-n", "1", "-p", str(os.getpid()))
    report = live.Report(out)
    rows = {int(cpu): (float(busy), int(count), float(share)) for cpu, busy, count, share in
            re.findall(r"^ +cpu(\d+) +([\d.]+) +(\d+) +([\d.]+) +[\d.]+  \S", out, re.M)}
    procs = {pid: count for pid, count, _ in report.procs}
    tap.ok(status == 0 and live.errors(err, (one.pid, two.pid)) == "" and set(rows) == set(cpus) and
           [rows[cpu][1] for cpu in cpus] == [procs[one.pid], procs[two.pid]],
           "a text report has a row for each CPU", f"{rows} {procs}")
    tap.ok(abs(sum(share for _, _, share in rows.values()) - 100) < 0.2 and
           all(abs(busy - 100 * count / report.hertz / report.seconds) < 1
               for busy, count, _ in rows.values()),
           "with shares of the CPU's own time and of all samples")
    tap.ok("OF ALL%" not in plain, "no table of CPUs without --by-cpu")


def test_not_asked(tap, cpus):
    with working(cpus[0]) as spin:
        reports, err, status = run((spin.pid,), "-d", "0.5", "-n", "2", "-p", str(spin.pid))
    found, _ = samples(reports)
    tap.ok(status == 0 and err == "" and set(found) == {(spin.pid, None)},
           "samples have no CPU without --by-cpu", f"{found} {err}")


def test_toggled(tap, cpus):
    """Switched at run time while a session is recorded, which must keep the CPUs."""
    with tempfile.TemporaryDirectory() as folder, working(cpus[1]) as one, \
            working(*cpus) as other, \
            open(os.path.join(folder, "told"), "w+b") as told:
        rounds(one)
        session = os.path.join(folder, "session")
        plain = subprocess.Popen([live.STACKTOP, "--plain", "-F", HERTZ, "-d", "0.15", "-n", "32",
                                  "-w", session], stdin=subprocess.PIPE, bufsize=0,
                                 stdout=told, stderr=subprocess.STDOUT)

        def refreshes(count):
            """Waits for `count` more refreshes."""
            def shown():
                return len(re.findall(rb", [\d,]+ lost$", os.pread(told.fileno(), 1 << 24, 0), re.M))

            first = shown()
            live.wait_for(lambda: shown() >= first + count or plain.poll() is not None)

        # An odd number of switches, so that CPUs are told apart at the end.
        refreshes(1)
        for _ in range(7):
            refreshes(2)
            plain.stdin.write(b"by-cpu\n")
        status = plain.wait(timeout=60)
        done, err, replayed = run((one.pid, other.pid), "-r", session)
    found, head = samples(done)
    tap.ok(status == 0 and replayed == 0 and err == "" and len(done) == 32,
           "it is switched at run time and recorded",
           f"{len(done)} refreshes {status} {replayed} {err}")
    with_cpu = sum(count for (_, cpu), count in found.items() if cpu is not None)
    without = sum(count for (_, cpu), count in found.items() if cpu is None)
    tap.ok(with_cpu > 0 and without > 0 and
           {cpu for pid, cpu in found if pid == one.pid} == {None, cpus[1]},
           "the replay has samples of both kinds, on the right CPU",
           f"{with_cpu} with a CPU, {without} without")
    mixed = sum(len({("cpu" in stack) for stack in report["stacks"]}) == 2 for report in done)
    tap.ok(head["taken"] == head["filtered"] + with_cpu + without + head["lost"] and
           other.pid in {pid for pid, _ in found},
           "switching loses no sample", f"{head}, {mixed} refreshes of both kinds")


def main():
    tap = live.Tap()
    live.need(tap)
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        tap.skip("everything", "needs two CPUs")
        tap.done()
    test_pinned(tap, cpus)
    test_report(tap, cpus)
    test_not_asked(tap, cpus)
    test_toggled(tap, cpus)
    tap.done()


main()
