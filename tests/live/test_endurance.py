#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 400 s
"""What stacktop leaves behind, and what it survives: thousands of short processes, being stopped,
being killed, a second stacktop. `make soak` runs the same for longer.

    tests/live/test_endurance.py [NAME...]      only these; SOAK=1: long

Covers: bpf/tracker/tracker.c bpf/tracker/process.c tui/main.c tui/collect/collector.c
"""

import ctypes
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track")
LONG = os.environ.get("SOAK") == "1"
SPAWN_SECONDS = 60 if LONG else 4
RATE = 1000
ENOUGH = 2 * RATE * SPAWN_SECONDS // 5
PATIENCE = 90     # seconds
DEBUG_MIB = 16    # budget of debug information, on top of all other memory
RSS_MAX_KB = (128 + DEBUG_MIB) * 1024
DESCRIPTORS = 3   # per file: the tracker's, and those of its symbol table
STOP_SECONDS = 60 if LONG else 1
OVERRUN = 1000 * os.cpu_count()  # processes with more records than the CPUs' rings hold
BPF_MAP_GET_NEXT_KEY, BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID = 4, 13, 14  # linux/bpf.h
SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine, 0)
LIBC = ctypes.CDLL(None, use_errno=True)


def compile_all(folder):
    def cc(out, source, *flags):
        live.cc(os.path.join(folder, out), os.path.join(SOURCES, source), *flags)

    cc("run", "run.c", "-pthread", "-ldl")
    cc("late", "chain.c", "-DNAME=late", "-DPAD=64")
    cc("brief", "brief.c", "-static")


# --- what the kernel holds -----------------------------------------------------------------------

def bpf(command, *words):
    """words: the 32-bit words of the attribute."""
    attr = (ctypes.c_uint32 * 32)(*words)
    return LIBC.syscall(SYS_BPF, command, attr, ctypes.sizeof(attr))


def held(pid):
    """({program ids}, {map id: name}) that the process holds open."""
    programs, maps = set(), {}
    for fields in live.bpf_descriptors(pid):
        if "prog_id" in fields:
            programs.add(int(fields["prog_id"]))
        elif "map_id" in fields:
            maps[int(fields["map_id"])] = fields
    return programs, maps


def entries(map_id):
    """Keys of 4 bytes in a hash map."""
    fd = bpf(BPF_MAP_GET_FD_BY_ID, map_id)
    found = set()
    if fd < 0:
        return found
    key, following = ctypes.c_uint32(), ctypes.c_uint32()
    at = 0
    while True:
        out = ctypes.addressof(following)
        if bpf(BPF_MAP_GET_NEXT_KEY, fd, 0, at & 0xffffffff, at >> 32, out & 0xffffffff,
               out >> 32):
            break
        found.add(following.value)
        key.value = following.value
        at = ctypes.addressof(key)
    os.close(fd)
    return found


def procs_entries(pid):
    """The PIDs in each map of processes, which has values of struct proc_entry, 32 bytes."""
    return [entries(number) for number, fields in held(pid)[1].items()
            if fields["map_type"] == "1" and fields["key_size"] == "4" and
            fields["value_size"] == "40"]


def dead_entries(pid):
    """Processes that ended and still have an entry; includes those that other programs started."""
    return {number for found in procs_entries(pid) for number in found
            if not os.path.exists(f"/proc/{number}")}


def descriptors(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return -1


class Running:
    """stacktop with a report each second; the text grows."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([live.STACKTOP, "-b", *options], stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=subprocess.STDOUT)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def text(self):
        return os.pread(self.out.fileno(), 1 << 26, 0).decode("utf-8", "replace")

    def ready(self, count=1):
        end = time.monotonic() + 30
        while time.monotonic() < end and self.text().count("user stacks complete") < count:
            time.sleep(0.1)
        return self.text().count("user stacks complete")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            return None


# --- tests ---------------------------------------------------------------------------------------

def spawn(folder, seconds):
    """The number of processes started in this many seconds."""
    done = subprocess.run([os.path.join(folder, "run"), "spawn", str(RATE), str(seconds),
                           os.path.join(folder, "brief")], capture_output=True, text=True,
                          check=True)
    return int(done.stdout)


def own_files(pid, folder):
    """Descriptors of files in the folder only: other programs' files come and go all the time."""
    count = 0
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            count += os.readlink(path).startswith(folder)
        except OSError:
            pass
    return count


def churn(tap, folder):
    """A thousand processes a second; afterwards all is as before. Totals of processes that ended
    remain, up to the bound of the profile (tui/profile/profile_fold.c)."""
    with Running("-d", "1", "-F", live.hertz(999), "--debug-memory", str(DEBUG_MIB)) as top:
        top.ready(2)
        resident = live.status_kb(top.pid, "VmRSS")
        cpu, start = live.process_seconds([top.pid]), time.monotonic()
        spawned = spawn(folder, SPAWN_SECONDS)
        while spawned < ENOUGH and time.monotonic() - start < PATIENCE:  # a machine with other work
            spawned += spawn(folder, SPAWN_SECONDS)
        seconds = time.monotonic() - start
        cpu = 100 * (live.process_seconds([top.pid]) - cpu) / seconds
        tap.ok(spawned >= ENOUGH, "processes were started",
               f"{spawned / seconds:.0f} a second for {seconds:.0f} s; own CPU {cpu:.1f} %")
        known, dead = procs_entries(top.pid), dead_entries(top.pid)
        # stacktop keeps ended processes for 5 s.
        live.wait_for(lambda: not dead & dead_entries(top.pid), 60, 0.5)
        left = dead & dead_entries(top.pid)
        tap.ok(len(known) == 1 and len(known[0]) > 0 and not left,
               "entries of ended processes are removed",
               f"{[len(found) for found in known]} entries, {len(dead)} of the dead, then "
               f"{len(left)} of these")
        live.wait_for(lambda: own_files(top.pid, folder) <= 2 * DESCRIPTORS, 30, 0.2)
        files = own_files(top.pid, folder)
        everything = descriptors(top.pid)
        tap.ok(files <= 2 * DESCRIPTORS and everything < 2000, "descriptors are closed",
               f"{files} of the files started, {everything} in all")
        grown = live.status_kb(top.pid, "VmRSS") - resident
        tap.ok(resident + grown < RSS_MAX_KB, "memory is bounded",
               f"{resident / 1024:.1f} MiB, {grown / 1024:+.1f}")
        status = top.stop()
        tap.ok(status in (0, 130), "ends with success", f"exit {status}")
        losses = [part.losses for part in live.reports(top.text()) if part.losses]
        tap.note(f"losses named: {losses[:3]}")


def killed(tap, folder):
    del folder
    with Running("-d", "0.5") as top:
        top.ready()
        programs, maps = held(top.pid)
        top.process.kill()
        top.process.wait()
    tap.ok(len(programs) > 0 and len(maps) > 8, "holds programs and maps",
           f"{len(programs)} programs, {len(maps)} maps")

    def left():
        found = []
        for command, numbers in ((BPF_PROG_GET_FD_BY_ID, programs), (BPF_MAP_GET_FD_BY_ID, maps)):
            for number in numbers:
                fd = bpf(command, number)
                if fd >= 0:
                    found.append(number)
                    os.close(fd)
        return found

    end = time.monotonic() + 10  # the kernel frees maps after an RCU grace period
    while left() and time.monotonic() < end:
        time.sleep(0.1)
    tap.ok(not left(), "kill -9 leaves no program and no map", f"left: {left()}")


def two(tap, folder):
    late = os.path.join(folder, "late")
    with live.Load([late, "30000"]) as load, Running("-d", "1", "-F", "499", "-p", str(load.pid)) as one, \
            Running("-d", "1", "-F", "499", "-p", str(load.pid)) as other:
        counts = [top.ready(2) for top in (one, other)]
        parts = [live.reports(top.text().partition("stacktop  ")[1] +
                              top.text().partition("stacktop  ")[2])[-1] for top in (one, other)]
        tap.ok(min(counts) >= 2 and min(part.complete for part in parts) >= 98,
               "two at once", " ".join(f"{part.complete:.1f} % of {part.walks}" for part in parts))
        ends = one.stop(), other.stop()
        tap.ok(set(ends) <= {0, 130}, "both end", str(ends))


def stopped(tap, folder):
    """The side-band rings overflow while stacktop is stopped."""
    late = os.path.join(folder, "late")
    with Running("-d", "0.5", "-F", "499") as top:
        top.ready(1)
        os.kill(top.pid, signal.SIGSTOP)
        started, until = 0, time.monotonic() + 45
        while started < OVERRUN and time.monotonic() < until:
            started += spawn(folder, STOP_SECONDS)
        with live.Load([late, "60000"]) as load:
            time.sleep(0.3)
            os.kill(top.pid, signal.SIGCONT)
            seen = top.text().count("user stacks complete")
            spawn(folder, 1)  # the kernel reports lost records with the next one
            top.ready(seen + 5)
            text = top.text()
            parts = live.reports(text[text.index("stacktop  "):])
            tap.ok(len(parts) >= seen + 5, "goes on after SIGSTOP", f"{len(parts)} reports")
            losses = [part.losses for part in parts if part.losses]
            tap.ok(bool(losses) or started < OVERRUN, "reports what it lost",
                   f"{started} processes: " + " | ".join(losses[:2]))
            row = re.findall(rf"^ *{load.pid} \S+ +[\d.]+ +(\d+) +[\d.]+ +([\d.]+)  ", text, re.M)
            tap.ok(bool(row) and float(row[-1][1]) >= 98,
                   "walks a process that started in the meantime",
                   f"{row[-1][1]} % of {row[-1][0]}" if row else "not seen")


TESTS = (churn, killed, two, stopped)


def main():
    tap = live.Tap()
    live.need(tap)
    if not SYS_BPF:
        tap.skip("everything", "the system call number of bpf(2) is unknown here")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="stacktop-endurance-") as folder:
        os.chmod(folder, 0o755)
        compile_all(folder)
        for test in TESTS:
            if not sys.argv[1:] or test.__name__ in sys.argv[1:]:
                test(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
