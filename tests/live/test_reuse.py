#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""-p means a process, not a number: when the process has ended and another one has its number, stacktop
never shows the other one, whether it followed the events or was stopped meanwhile, and it prints a
message. In a PID namespace of its own, where the test chooses the next number.

Covers: bpf/tracker/identity.c bpf/tracker/targets.c bpf/tracker/process.c bpf/prog/profiler.bpf.c
Covers: bpf/prog/sample.bpf.h
"""

import collections
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DEEP = os.path.join(live.WORK, "deep90")
NEXT = "/proc/sys/kernel/ns_last_pid"
SECONDS = "600"
PATIENCE = 200
TRIES = 50


def copy(name):
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), name)
    shutil.copy(DEEP, path)
    return path


def start(program):
    process = subprocess.Popen([program, SECONDS], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    live.weigh(process.pid, 5)
    return process


def end(process):
    process.kill()
    process.wait()


def start_as(program, pid):
    """Starts the program with this number; None when that fails. Threads take numbers, too."""
    for _ in range(TRIES):
        with open(NEXT, "w", encoding="ascii") as file:
            file.write(str(pid - 1))
        process = start(program)
        if process.pid == pid:
            return process
        end(process)
    return None


def samples(stream):
    """{(PID, name): samples}"""
    found = collections.Counter()
    for part in stream.slices:
        for pid, name, _, _, count in part.stacks:
            found[pid, name] += count
    return found


def said(stream):
    return stream.errors(()).replace("\n", " ")


def wait_busy(process):
    live.wait_busy([process.pid])


def test_reuse(tap, first, second, stopped):
    """stopped: stacktop cannot read the events while the kernel program goes on."""
    what = "while it was stopped" if stopped else "while it runs"
    one = start(first)
    pid = one.pid
    wait_busy(one)
    with live.Stream("-d", "0.3", "-F", live.hertz(999), "-p", str(pid)) as stream:
        stream.until(lambda _: samples(stream)[pid, "first"], PATIENCE)
        if stopped:
            stream.process.send_signal(signal.SIGSTOP)
        end(one)
        two = start_as(second, pid)
        if not two:
            tap.skip(f"a number is used again {what}", "the number cannot be had")
            return
        wait_busy(two)
        if stopped:
            stream.process.send_signal(signal.SIGCONT)
        live.wait_for(lambda: "used by another process" in stream.errors(()), PATIENCE)
        begun = len(stream.slices)
        stream.until(lambda slices: len(slices) > begun + 3, PATIENCE)
        wait_busy(two)
        status = stream.stop()
        end(two)
        found, words = samples(stream), said(stream)
    tap.ok(status == 0 and set(found) == {(pid, "first")}, f"{what}: only the chosen process is shown",
           str(found))
    tap.ok(f"process {pid} has ended; its number is used by another process now" in words,
           f"{what}: a message says that another one has its number", words)


def test_ends(tap, first):
    """A message reports the end of the last chosen process; the end of one of several has none."""
    ones = [start(first) for _ in range(2)]
    for one in ones:
        wait_busy(one)
    with live.Stream("-d", "0.3", "-p", ",".join(str(one.pid) for one in ones)) as stream:
        stream.until(lambda slices: slices, PATIENCE)
        end(ones[0])
        begun = len(stream.slices)
        stream.until(lambda slices: len(slices) > begun + 5, PATIENCE)
        tap.ok("has ended" not in said(stream), "the end of one of 2 has no message", said(stream))
        end(ones[1])
        told = live.wait_for(lambda: re.search(r"process \d+ has ended, and so have all that -p names",
                                               stream.errors(())), PATIENCE)
        tap.ok(bool(told), "the end of both is reported", said(stream))
        tap.ok(stream.process.poll() is None and stream.stop() == 0, "it goes on until it is stopped")


def test_number_in_use(tap, first, second):
    """A new run takes the process that has the number then."""
    one = start(first)
    end(one)
    two = start_as(second, one.pid)
    if not two:
        tap.skip("a number that another process had before", "the number cannot be had")
        return
    wait_busy(two)
    with live.Stream("-d", "0.3", "-F", live.hertz(999), "-p", str(two.pid)) as stream:
        stream.until(lambda _: samples(stream)[two.pid, "second"], PATIENCE)
        status = stream.stop()
        tap.ok(status == 0 and set(samples(stream)) == {(two.pid, "second")} and
               "has ended" not in said(stream),
               "a number that another process had before", f"{samples(stream)} {said(stream)}")
    end(two)


def inside():
    tap = live.Tap()
    first, second = copy("first"), copy("second")
    if not os.access(NEXT, os.W_OK):
        tap.skip("everything", f"no {NEXT}, which chooses numbers")
        tap.done()
    for stopped in (False, True):
        test_reuse(tap, first, second, stopped)
    test_ends(tap, first)
    test_number_in_use(tap, first, second)
    tap.done()


def main():
    tap = live.Tap()
    live.need(tap)
    sys.exit(live.rerun_in_pid_namespace(tap, "inside"))


if len(sys.argv) > 1:
    inside()
else:
    main()
