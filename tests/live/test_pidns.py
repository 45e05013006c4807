#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""In a PID namespace, processes have the numbers of this namespace: in the live counts, for -p and
--comm, for a command, and for processes of namespaces below. Processes outside have no number there;
they are counted apart and never shown, even where a process inside has the number that one outside has
there. /proc in the namespace, and perf where it exists, are the reference.

Covers: bpf/sampler/pidns.c bpf/prog/pidns.bpf.h bpf/report/check.c bpf/tracker/sideband.c bpf/prog/profiler.bpf.c
Covers: bpf/prog/waits.bpf.c
"""

import collections
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DEEP = os.path.join(live.WORK, "deep90")
OUTSIDE = "outsider"    # a busy process that no report may show
CHAIN = ["main"] + [f"f{i:02}" for i in range(90)]
SECONDS = "600"
PATIENCE = 200
BURN = "import time\nwhile time.process_time() < 0.5: pass"
NAPS = """import threading, time
def nap():
    while True:
        time.sleep(0.02)
threading.Thread(target=nap).start()
"""


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        pids = file.read().split()
    return int(pids[0]) if pids else 0


def comm_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def taken(slices, what):
    return sum(part.json[what] for part in slices)


def watch(good, *options):
    """(the slices of a run that ends once good(slices), its exit status)"""
    with live.Stream("-d", "0.5", "-F", live.hertz(999), *options) as stream:
        stream.until(good, PATIENCE)
        status = stream.stop()
        return stream.slices, status


def samples(slices):
    """{(PID, name): samples}"""
    found = collections.Counter()
    for part in slices:
        for pid, name, _, _, count in part.stacks:
            found[pid, name] += count
    return found


def chains(slices, pid):
    """The number of user stacks of the process that are deep90's chain."""
    return sum(count for part in slices for at, _, user, _, count in part.stacks
               if at == pid and user[-len(CHAIN):] == CHAIN)


# --- inside ---------------------------------------------------------------------------------------

def test_check(tap):
    out, _, status = live.stacktop("--check")
    tap.ok(status == 0 and re.search(r"^--  PID_namespace +not the initial one", out, re.M),
           "--check reports that it is not the initial namespace")
    inode = os.stat("/proc/self/ns/pid").st_ino
    tap.ok(re.search(rf"^ok  PID_numbers +.*\b{inode}\b", out, re.M),
           "--check reports the numbers by which processes are named")


def test_all(tap, mine, below):
    """below: a process in a namespace of its own, within ours."""
    slices, status = watch(lambda s: chains(s, mine) and chains(s, below) and taken(s, "outside"))
    found = samples(slices)
    tap.ok(status == 0 and chains(slices, mine), "a process has its number, its name and its stacks",
           f"{mine}: {found}")
    tap.ok(chains(slices, below), "so has a process of a namespace below", f"{below}: {found}")
    tap.ok({name for pid, name in found if pid in (mine, below)} == {"deep90"},
           "nothing else has these numbers", str(found))
    tap.ok(taken(slices, "outside") > 0 and not any(name == OUTSIDE for _, name in found),
           "processes outside are counted and not shown", str(found))
    tap.ok(taken(slices, "filtered") == taken(slices, "outside") and taken(slices, "taken") ==
           taken(slices, "filtered") + taken(slices, "samples") + taken(slices, "lost"),
           "each sample taken is accounted for")


def test_chosen(tap, mine, below):
    """Returns what was sampled of `mine`."""
    for pid in (below, mine):
        slices, status = watch(lambda s, pid=pid: chains(s, pid), "-p", str(pid))
        tap.ok(status == 0 and set(samples(slices)) == {(pid, "deep90")},
               f"-p samples a process{' of a namespace below' if pid == below else ''} by its number",
               str(samples(slices)))
    named, _ = watch(lambda s: chains(s, mine), "--comm", "^deep90$")
    tap.ok(chains(named, mine) and {name for _, name in samples(named)} == {"deep90"},
           "--comm chooses by name", str(samples(named)))
    return slices


def test_waits(tap):
    """A thread that sleeps: its waits have its number here, and the process's number and name."""
    with live.Load([sys.executable, "-c", NAPS]) as load:
        task = f"/proc/{load.pid}/task"
        live.wait_for(lambda: len(os.listdir(task)) == 2)
        thread = max(map(int, os.listdir(task)))

        def asleep(slices):
            return sum(stack["weight"] for part in slices for stack in part.json["stacks"]
                       if stack["thread"] == thread and part.json["processes"][stack["process"]]["pid"] == load.pid
                       and part.json["functions"][stack["frames"][-1]]["name"].strip("[]") == "sleep")

        slices, status = watch(lambda s: asleep(s) > 1e5, "-e", "off-cpu", "-p", str(load.pid))
        names = {(process["pid"], process["name"]) for part in slices for process in part.json["processes"]}
        tap.ok(status == 0 and asleep(slices) > 1e5, "a thread that sleeps has its waits",
               f"{asleep(slices)} us")
        tap.ok(names == {(load.pid, comm_of(load.pid))}, "... with its process's number and name", str(names))


def test_same_number(tap, number):
    """A sleeping process has the number inside that a busy process has outside."""
    try:
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
            file.write(str(number - 1))
    except OSError as error:
        tap.skip("a number that is used outside, too", str(error))
        return
    with subprocess.Popen(["sleep", SECONDS]) as sleeper:
        if sleeper.pid != number:
            tap.skip("a number that is used outside, too", f"{sleeper.pid} instead of {number}")
        else:
            slices, status = watch(lambda s: taken(s, "outside") > 100, "-p", str(number))
            tap.ok(status == 0 and taken(slices, "outside") > 100 and not samples(slices),
                   "-p shows nothing of a process outside that has the number there",
                   str(samples(slices)))
        sleeper.kill()


def test_command(tap):
    name = os.path.join(os.environ.get("TMPDIR", "/tmp"), "pidns.folded")
    _, err, status = live.stacktop("-b", "--format", "folded", "-F", live.hertz(999), "-o", name, "--",
                                   sys.executable, "-c", BURN, timeout=PATIENCE)
    with open(name, encoding="utf-8", errors="replace") as file:
        tap.ok(status == 0 and sum(n for _, _, n in live.folded(file.read())) > 0,
               "a command is sampled", err)


def test_text(tap):
    for delay in ("0.5", "2", "10"):
        out, _, status = live.stacktop("-b", "-n", "1", "-d", delay, "-F", live.hertz(999))
        told = re.search(r"^(\d+) samples of processes outside this PID namespace left out$", out, re.M)
        if told or status:
            break
    tap.ok(status == 0 and bool(told), "the report counts samples of processes outside", str(status))


def test_perf(tap, mine, slices):
    if not shutil.which("perf"):
        tap.skip("perf names the same process", "perf is missing")
        return
    name = os.path.join(os.environ.get("TMPDIR", "/tmp"), "pidns.perf")
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "99", "-p", str(mine), "-o", name,
                           "--", "sleep", "1"], capture_output=True, check=False)
    out = subprocess.run(["perf", "script", "-i", name, "-F", "comm,pid,sym,ip"], capture_output=True,
                         check=False).stdout.decode("utf-8", "replace") if not done.returncode else ""
    lines = re.findall(r"^ *(\S+) +(\d+) +[0-9a-f]+ (\S+)", out, re.M)
    if not lines:
        tap.skip("perf names the same process", "it took no samples")
        return
    leaves = {user[-1] for part in slices for _, _, user, _, _ in part.stacks if user}
    tap.ok({(int(pid), comm) for comm, pid, _ in lines} == set(samples(slices)),
           "perf names the same process", f"{set(lines)} {samples(slices)}")
    functions = {sym for _, _, sym in lines if sym in CHAIN}    # the others are the kernel's
    tap.ok(functions and functions <= leaves, "... and function", f"{set(lines)} {leaves}")


def test_foreign_proc(tap):
    """Runs in its own namespace, but with our /proc."""
    for options in (["--check"], ["-b", "-n", "1", "-d", "0.1"]):
        done = subprocess.run(["unshare", "--pid", "--fork", live.STACKTOP, *options], capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        told = re.search("PID_namespace.*/proc is not of this PID namespace", said)
        tap.ok(done.returncode == 1 and bool(told), f"{options[0]}: a /proc of another namespace is refused")


def inside(number):
    tap = live.Tap()
    with live.Gentle([DEEP, SECONDS]) as mine, live.Gentle([*live.UNSHARE, DEEP, SECONDS]) as unshare:
        below = live.wait_for(lambda: child_of(unshare.pid))
        live.wait_for(lambda: comm_of(below) == "deep90")
        live.wait_busy([mine.pid, below])
        test_check(tap)
        test_all(tap, mine.pid, below)
        test_perf(tap, mine.pid, test_chosen(tap, mine.pid, below))
    test_waits(tap)
    test_same_number(tap, number)
    test_command(tap)
    test_text(tap)
    test_foreign_proc(tap)
    tap.done()


# --- outside --------------------------------------------------------------------------------------

def main():
    tap = live.Tap()
    live.need(tap)
    name = os.path.join(os.environ.get("TMPDIR", "/tmp"), OUTSIDE)
    shutil.copy(DEEP, name)
    with live.Gentle([name, "900"]) as outside:
        live.wait_busy([outside.pid])
        status = live.rerun_in_pid_namespace(tap, str(outside.pid))
    os.unlink(name)
    sys.exit(status)


if len(sys.argv) > 1:
    inside(int(sys.argv[1]))
else:
    main()
