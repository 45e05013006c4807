# SPDX-License-Identifier: GPL-2.0-or-later
"""What frames of Python cost: in the BPF programs, by the kernel's own account of their run time
(kernel.bpf_stats_enabled, which run.sh sets), and a whole sample beside py-spy's. The programs under
test run on one CPU, which alone is sampled, and stacktop on another."""

import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402
from test_python import pythons  # noqa: E402

DEEP = """
import sys
sys.setrecursionlimit(5000)
def burn():
    s = 0
    while True:
        s += 1
def deep(n):
    if n:
        return deep(n - 1)
    burn()
deep(int(sys.argv[1]))
"""
DEPTHS = 20, 60, 500
SECONDS = 3
OBJECT = os.path.join(live.BUILD, "bpf", "prog", "profiler.bpf.o")
LOAD = os.path.join(live.BUILD, "tests", "bench", "load")
INSNS_MAX = 100000


def on_cpu(number, command):
    return ["taskset", "-c", str(number), *command]


def deep(python, depth):
    """The program on the first CPU, of which it gets nearly all: samples of others count as runs."""
    process = subprocess.Popen(on_cpu(0, [python.command, "-c", DEEP, str(depth)]), env=python.env,
                               stdin=subprocess.DEVNULL, start_new_session=True)
    live.weigh(process.pid, -20)
    return process


def cpu_seconds(pids):
    """Of all threads, exact."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def run_stats(pid):
    """(runs, nanoseconds) of the sampling programs; a program called by another counts in its time."""
    found = {}
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                fields = dict(re.findall(r"^(\w+):\t(\d+)$", file.read(), re.M))
        except OSError:
            continue
        if fields.get("prog_type") == "7":
            found[fields["prog_id"]] = int(fields["run_cnt"]), int(fields["run_time_ns"])
    return tuple(map(sum, zip(*found.values()))) if found else (0, 0)


def sampled(python, depth, hertz, seconds=SECONDS):
    """(nanoseconds of a sample in BPF, CPU seconds of stacktop for each sample)"""
    load = deep(python, depth)
    try:
        live.wait_busy([load.pid], 0.3)
        command = [live.STACKTOP, "-b", "-d", "0.5", "-F", str(hertz), "-C", "0", "-p", str(load.pid),
                   "--format", "folded"]
        top = subprocess.Popen(on_cpu(os.cpu_count() - 1, command), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            live.wait_for(lambda: run_stats(top.pid)[0] > 2 * hertz, 60)
            (runs, spent), used = run_stats(top.pid), cpu_seconds([top.pid])
            time.sleep(seconds)
            (runs_, spent_), used_ = run_stats(top.pid), cpu_seconds([top.pid])
        finally:
            top.kill()
            top.wait()
    finally:
        load.kill()
        load.wait()
    if runs_ - runs < hertz * seconds / 10:
        raise ValueError(f"{runs_ - runs} samples in {seconds} s at {hertz} Hz")
    return (spent_ - spent) / (runs_ - runs), (used_ - used) / (runs_ - runs)


def spied(python, hertz):
    """CPU seconds of py-spy for each sample, without the pause of the process that it looks at."""
    load = deep(python, 20)
    try:
        live.wait_busy([load.pid], 0.3)
        spy = subprocess.Popen(on_cpu(os.cpu_count() - 1, [
            "py-spy", "record", "--native", "-r", str(hertz), "-d", "60", "-f", "raw", "-o", "/dev/null",
            "-p", str(load.pid)]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            used = cpu_seconds([spy.pid])
            time.sleep(SECONDS)
            return (cpu_seconds([spy.pid]) - used) / (hertz * SECONDS)
        finally:
            spy.kill()
            spy.wait()
    finally:
        load.kill()
        load.wait()


def programs(table):
    """The load of the BPF object with and without the programs of the runtimes."""
    told = {}
    for without in ((), ("on_python",)):
        done = subprocess.run([LOAD, OBJECT, *without], capture_output=True, text=True, check=False)
        told[without] = dict(re.findall(r"^(\S+) (\d+)$", done.stdout, re.M))
        if done.returncode or "us" not in told[without]:
            table.missed("CPU time to load the BPF object", done.stderr.strip()[-100:])
            return
    whole, bare = (int(told[key]["us"]) / 1000 for key in ((), ("on_python",)))
    table.row("CPU time to load the BPF object", whole, "ms", None, f"{bare:.0f} ms without on_python", 0)
    for name, insns in told[()].items():
        if name != "us" and int(insns):
            table.row(f"verified instructions of {name}", int(insns), "", INSNS_MAX - 1, "", 0)


def measure(table):
    programs(table)
    for python in pythons():
        name = f"Python {python.name.split()[0]}"
        costs = [sampled(python, depth, 999)[0] for depth in DEPTHS]
        more = [(b - a) / (n - m) for a, b, m, n in
                zip(costs, costs[1:], DEPTHS, DEPTHS[1:])]
        table.row(f"{name}: a frame, warm, 999 Hz", (costs[-1] - costs[0]) / (DEPTHS[-1] - DEPTHS[0]), "ns",
                  None, ", ".join(f"{cost / 1000:.1f} us at {depth}" for depth, cost in zip(DEPTHS, costs)) +
                  "; " + ", ".join(f"{each:.0f}" for each in more) +
                  ("; with its native frames" if python.version < (3, 11) else ""), 1)
    python = pythons()[0]
    for hertz in (99, 999):
        bpf, own = sampled(python, 20, hertz, 10 if hertz == 99 else SECONDS)
        row = f"a sample of Python, {hertz} Hz, BPF and stacktop"
        if shutil.which("py-spy"):
            peer = f"{spied(python, hertz) * 1e6:.0f} us py-spy --native"
        else:
            peer = "py-spy is missing"
        table.row(row, bpf / 1000 + own * 1e6, "us", None, f"{bpf / 1000:.1f} us in BPF; {peer}", 1)
    table.note(f"{live.STACKTOP} -b -F 999 -C 0 -p PID: run_time_ns / run_cnt of /proc/PID/fdinfo")
