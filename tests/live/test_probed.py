#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 180 s
"""The time that a process spends in the BPF program of a tracer is its own, as the kernel accounts it, and the
program has its name, although the kernel runs no sampling program then. A stacktop that must not list the
machine's programs knows it by the ticks that it misses. A second stacktop takes nothing from the first.

Covers: bpf/sampler/skipped.c bpf/sampler/loader.c bpf/prog/profiler.bpf.c tui/collect/accounting.c
Covers: tui/collect/collector_slice.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERTZ = live.hertz(499)
SECONDS = 2
WITHIN = 0.2  # of the time: a hypervisor steals from it. Without these ticks it is a few hundredths
PROGRAM = "_probed_slow"  # the kernel puts bpf_prog_ and a number before it


class Probed:
    """The process and what it is told to do."""

    def __init__(self, path=os.path.join(live.WORK, "probed")):
        self.process = subprocess.Popen([path], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.says = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def work(self):
        """Returns the seconds that the kernel charges it for."""
        before = live.process_seconds([self.pid])
        for _ in range(SECONDS):
            self.process.stdin.write("go\n")
            self.process.stdout.readline()
        return live.process_seconds([self.pid]) - before


def has_frames(slices, pid):
    """Samples with the program and with main, of all."""
    stacks = [stack for part in slices for stack in part.stacks if stack[0] == pid]
    return (sum(count for _, _, _, kernel, count in stacks if any(PROGRAM in name for name in kernel)),
            sum(count for _, _, user, _, count in stacks if "main" in user),
            sum(count for *_, count in stacks))


def check(tap, name, before=(), learn=False):
    """learn: the process works before it is looked at, so that ticks are missed."""
    with Probed() as probed:
        if probed.says != "ready":
            tap.skip(name, f"the BPF program is not attached: {probed.says}")
            return
        cpu = min(os.sched_getaffinity(probed.pid))  # of more than ten, the process has too few of the ticks
        os.sched_setaffinity(probed.pid, {cpu})
        with live.Stream("-d", "0.5", "-F", HERTZ, "-C", str(cpu), "-p", str(probed.pid), before=before) as stream:
            stream.more()
            if learn:
                probed.work()
                stream.more()
            first = len(stream.slices)
            seconds = probed.work()
            stream.more()
            slices = stream.slices[first - 1:]
            stream.err.seek(0)
            warnings = stream.err.read().decode("utf-8", "replace")
    program, user, samples = has_frames(slices, probed.pid)
    tap.ok(abs(samples / int(HERTZ) - seconds) < WITHIN * seconds, f"{name}: the time is that of the process",
           f"{samples / int(HERTZ):.2f} s of {seconds:.2f}")
    tap.ok(program > 0.8 * samples > 0, f"{name}: the program has its name", f"{program} of {samples}")
    tap.ok(user > 0.8 * samples > 0, f"{name}: the caller is known", f"{user} of {samples}")
    told = [line for line in warnings.splitlines() if "BPF programs of other tools" in line]
    tap.ok(len(told) == 1 and (learn or "probed_slow" in told[0]) and "came late" not in warnings,
           f"{name}: the warning tells the cause", warnings.strip())


def check_name(tap):
    """Under another name the program hardly does anything: most ticks are those of any sampler, and count once."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "another")
        os.symlink(os.path.join(live.WORK, "probed"), path)
        with Probed(path) as probed:
            if probed.says != "ready":
                tap.skip("another name", f"the BPF program is not attached: {probed.says}")
                return
            with live.Stream("-d", "0.5", "-F", HERTZ, "-p", str(probed.pid)) as stream:
                stream.more()
                seconds = probed.work()
                stream.more()
                program, _, samples = has_frames(stream.slices, probed.pid)
    tap.ok(abs(samples / int(HERTZ) - seconds) < WITHIN * seconds, "another name: each tick counts once",
           f"{samples / int(HERTZ):.2f} s of {seconds:.2f}, {program} in the program")


def check_session(tap):
    """A recording keeps the frames."""
    with Probed() as probed, tempfile.TemporaryDirectory() as folder:
        if probed.says != "ready":
            tap.skip("recording", "the BPF program is not attached")
            return
        path = os.path.join(folder, "session")
        with live.Stream("-d", "0.5", "-F", HERTZ, "-p", str(probed.pid), "--record", path) as stream:
            stream.more()
            probed.work()
            stream.more()
            stream.process.terminate()
            stream.process.wait()
            stream.poll()
            shown = has_frames(stream.slices, probed.pid)[0]
        out, err, status = live.stacktop("-b", "--replay", path, "--format", "folded")
        kept = sum(count for _, kernel, count in live.folded(out) if any(PROGRAM in name for name in kernel))
        tap.ok(status == 0 and kept == shown > 0, "a recording has the same samples", f"{kept} of {shown} {err}")


def check_two(tap):
    """Two at once see the same time, all of it."""
    with Probed() as probed:
        if probed.says != "ready":
            tap.skip("two", f"the BPF program is not attached: {probed.says}")
            return
        options = ("-d", "0.5", "-F", HERTZ, "-p", str(probed.pid))
        with live.Stream(*options) as one, live.Stream(*options) as two:
            for stream in (one, two):
                stream.more()
            seconds = probed.work()
            for name, stream in (("one", one), ("the other", two)):
                stream.more()
                program, user, samples = has_frames(stream.slices, probed.pid)
                tap.ok(abs(samples / int(HERTZ) - seconds) < WITHIN * seconds and
                       min(program, user) > 0.8 * samples, f"two at once: {name} has all of the time",
                       f"{samples / int(HERTZ):.2f} s of {seconds:.2f}, {program} in the program")


def main():
    tap = live.Tap()
    live.need(tap, "CAP_SYS_ADMIN")
    check(tap, "with all rights")
    check(tap, "without CAP_SYS_ADMIN", before=("setpriv", "--bounding-set=-sys_admin"), learn=True)
    check_name(tap)
    check_session(tap)
    check_two(tap)
    tap.done()


main()
