#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of `make bench`; see run.sh, which sets the machine up. Each figure is printed with
what it must not exceed and with a peer that was measured in the same run."""

import fcntl
import glob
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

BENCH = os.path.join(live.BUILD, "tests", "bench")
DEEP = os.path.join(live.WORK, "deep90")
SHALLOW = os.path.join(live.WORK, "shallow")
CPU = "0"
PROG_TYPE_PERF_EVENT = 7
PERF_PLAIN = ["perf", "top", "-e", "cpu-clock", "-F", "99"]
PERF_DWARF = PERF_PLAIN + ["--call-graph", "dwarf"]


class Table:
    """A line for each figure; what could not be measured is a line, too."""

    ROW = "{:<46} {:>11} {:>9}  {}"

    def __init__(self):
        self.missing = 0
        print(self.ROW.format("figure", "measured", "at most", "compared with"))

    def row(self, name, value, unit, limit=None, peer="", digits=1):
        over = limit is not None and value > limit
        print(self.ROW.format(name, f"{value:.{digits}f} {unit}",
                              "" if limit is None else f"{limit:g}{' !' if over else '  '}",
                              peer).rstrip(), flush=True)

    def missed(self, name, why):
        self.missing += 1
        print(self.ROW.format(name, "-", "", f"not measured: {why}"), flush=True)

    @staticmethod
    def note(text):
        print("  $ " + text, flush=True)


def median(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]


# --- cost of a walk ------------------------------------------------------------------------------

def perf_programs(pid):
    """{program id: (runs, nanoseconds)} of the sampling programs that the process holds."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as file:
                fields = dict(line.split(":\t") for line in file.read().splitlines()
                              if ":\t" in line)
        except OSError:
            continue
        if fields.get("prog_type") == str(PROG_TYPE_PERF_EVENT):
            found[fields["prog_id"]] = int(fields["run_cnt"]), int(fields["run_time_ns"])
    return found


def runs(pid):
    programs = perf_programs(pid).values()
    return sum(n for n, _ in programs), sum(ns for _, ns in programs)


def cost(program, hertz, seconds, *options):
    """(nanoseconds of a run, depth) while the program alone is busy on a CPU of its own."""
    with live.Load(["taskset", "-c", CPU, program]):
        time.sleep(0.3)
        process = subprocess.Popen(
            [live.STACKTOP, "-b", "-d", str(seconds + 30), "-F", str(hertz), "-C", CPU, *options,
             "--format", "folded"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        os.sched_setaffinity(process.pid, {(os.cpu_count() or 1) - 1})
        time.sleep(1.5)
        count, spent = runs(process.pid)
        time.sleep(seconds)
        after, later = runs(process.pid)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=30)[0].decode("utf-8", "replace")
    stacks = {}
    for user, kernel, samples in live.folded(out):
        if user and not kernel and not user[0].startswith("["):
            stacks[len(user)] = stacks.get(len(user), 0) + samples
    depth = max(stacks, key=stacks.get, default=0)
    if not depth:
        raise ValueError("no complete stack")
    if after - count < hertz * seconds / 2 or stacks[depth] < 0.97 * sum(stacks.values()):
        raise ValueError(f"{after - count} runs, depths {stacks}: the CPU did something else")
    return (later - spent) / (after - count), depth


def peer_cost(program, what, hertz, seconds):
    with live.Load(["taskset", "-c", CPU, program]):
        time.sleep(0.3)
        out = subprocess.run(["taskset", "-c", str((os.cpu_count() or 1) - 1),
                              os.path.join(BENCH, "peer"), os.path.join(BENCH, "peer.bpf.o"), what,
                              CPU, str(hertz), str(seconds)], capture_output=True, text=True,
                             check=True).stdout.split()
    return int(out[1]) / int(out[0]), int(out[2])


def walk_turn(hertz, seconds):
    """What walk() prints; turn by turn, so that what disturbs one disturbs its peer."""
    deep, depth = cost(DEEP, hertz, seconds)
    pointers, depth_fp = peer_cost(os.path.join(BENCH, "deep90.fp"), "frame_pointers", hertz,
                                   seconds)
    shallow, one = cost(SHALLOW, hertz, seconds)
    pointers_1, _ = peer_cost(SHALLOW, "frame_pointers", hertz, seconds)
    nothing, _ = peer_cost(SHALLOW, "count_only", hertz, seconds)
    return deep, depth, pointers, depth_fp, shallow, one, pointers_1, nothing


def walk_turns(hertz, seconds):
    """Medians of five turns in which the CPU did nothing else."""
    turns, wrong = [], None
    for _ in range(20):
        try:
            turns.append(walk_turn(hertz, seconds))
        except ValueError as error:
            wrong = error
            time.sleep(5)
        if len(turns) == 5:
            return [median(column) for column in zip(*turns)]
    raise ValueError(wrong)


def walk(table):
    for hertz, seconds in ((99, 5), (999, 2), (4999, 2)):
        deep, depth, pointers, depth_fp, shallow, one, pointers_1, nothing = \
            walk_turns(hertz, seconds)
        at = f"at {hertz} Hz"
        table.row(f"a frame, all costs / {depth} frames, {at}", deep / depth, "ns", 80,
                  f"{pointers / depth_fp:.1f} ns bpf_get_stackid, {depth_fp} frame pointers")
        table.row(f"a frame, depth {depth} against {one}, {at}", (deep - shallow) / (depth - one),
                  "ns", 80, f"{(pointers - pointers_1) / (depth_fp - 1):.1f} ns bpf_get_stackid")
        table.row(f"a sample of depth {one}, {at}", shallow, "ns", None,
                  f"{nothing:.0f} ns a hash counter, {pointers_1:.0f} ns bpf_get_stackid", 0)
    table.note(f"taskset -c {CPU} {DEEP} & {live.STACKTOP} -b -F HZ -C {CPU} --format folded; 5 runs; "
               "run_time_ns / run_cnt in /proc/PID/fdinfo")


# --- size of tables ------------------------------------------------------------------------------

def size(table):
    patterns = ["/lib*/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/ld-musl-*.so.1",
                "/usr/lib/*-linux-gnu/libstdc++.so.6", "/usr/lib64/libstdc++.so.6",
                "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/node"]
    names = {}
    for pattern in patterns:
        for path in glob.glob(pattern):
            names.setdefault(os.path.realpath(path), os.path.basename(path))
    out = subprocess.run([os.path.join(BENCH, "tablesize"), *names], capture_output=True,
                         text=True, check=True).stdout
    for line in out.splitlines():
        path, _, ours, rows, ms = line.rsplit(" ", 4)
        # The size of the section as somebody else says.
        sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True,
                                  check=True).stdout
        frame = int(re.search(r" \.eh_frame +\S+ +\S+ +\S+ +(\S+)", sections).group(1), 16)
        header = re.search(r" \.eh_frame_hdr +\S+ +\S+ +\S+ +(\S+)", sections)
        header = int(header.group(1), 16) if header else 0
        table.row(f"table of {names[path]}", int(ours) / 1024, "KiB",
                  frame / 1024 if names[path] == "libc.so.6" else None,
                  f"{frame / 1024:.1f} KiB .eh_frame ({100 * int(ours) / frame:.0f} %), "
                  f"{header / 1024:.1f} KiB .eh_frame_hdr; {rows} rows in {ms} ms")
    table.note(f"{os.path.join(BENCH, 'tablesize')} FILE...; readelf -SW FILE")


# --- in a terminal -------------------------------------------------------------------------------

class Screen:
    """A program in a pseudo-terminal. What it draws is searched, not interpreted."""

    def __init__(self, command, columns=120, lines=40):
        self.text = ""
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.environ.pop("COLUMNS", None)
            os.environ.pop("LINES", None)
            try:
                os.execvp(command[0], command)
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def run(self, seconds, until=None):
        """Reads for so long, or until the pattern shows: seconds since the start, or None."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                break
            self.text = (self.text + data.decode("utf-8", "replace"))[-200000:]
            # Styles vanish, what moves the cursor parts words.
            plain = re.sub(r"\x1b\[[\d;]*m|\x1b\(B|\x0f", "", self.text)
            plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", " ", plain)
            if until and until.search(plain):
                return time.monotonic() - self.start
        return None

    def stop(self):
        try:
            os.kill(self.pid, signal.SIGINT)
            self.run(0.5)
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def cpu_ns(pid):
    """Of all threads, exactly: ticks of /proc/PID/stat are ten milliseconds."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def first_screen(command, pattern, times):
    taken = []
    for _ in range(times):
        screen = Screen(command)
        seconds = screen.run(15, re.compile(pattern))
        screen.stop()
        if seconds is None:
            raise ValueError("no filled screen in 15 s; it ended with " + repr(screen.text[-300:]))
        taken.append(seconds)
        time.sleep(0.5)
    return median(taken), taken


def perf_tops():
    if shutil.which("perf"):
        yield "perf top", PERF_PLAIN
        yield "perf top --call-graph dwarf", PERF_DWARF


def start(table):
    sleeping = [subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL) for _ in range(50)]
    row = r"\b\d+ +[a-z_][-\w]* +\d+ +\d+\.\d\b"  # PID USER THREADS CPU%
    try:
        processes = sum(name.isdigit() for name in os.listdir("/proc"))
        ours, every = first_screen([live.STACKTOP], row, 5)
        with live.Load([DEEP, "60"]):
            busy, _ = first_screen([live.STACKTOP], row, 5)
            percent = r"[1-9]\d?\.\d+% "
            peers = [f"{first_screen(command, percent, 3)[0]:.2f} s {name}"
                     for name, command in perf_tops()]
    finally:
        for process in sleeping:
            process.kill()
            process.wait()
    table.row(f"first filled screen, idle, {processes} processes", ours, "s", 0.5,
              "5 runs " + " ".join(f"{seconds:.2f}" for seconds in every), 2)
    table.row("first filled screen, one busy process", busy, "s", 0.5, ", ".join(peers) or
              "no perf", 2)
    table.note("in a pseudo-terminal of 120x40: " + live.STACKTOP)
    for _, command in perf_tops():
        table.note(" ".join(command))


def share_of(command, seconds, loads):
    """(own CPU share in %, run time of BPF programs in %, peak of RSS in MB, CPU of the start, ms),
    the quietest of three attempts: what others start in between is profiled, too, and costs."""
    def busy_ns():
        return sum(cpu_ns(load.pid) for load in loads)

    tries = []
    for _ in range(3):
        screen = Screen(command)
        screen.run(3)
        before, (_, bpf), when = cpu_ns(screen.pid), runs(screen.pid), time.monotonic()
        burnt = busy_ns()
        screen.run(seconds)
        took = (time.monotonic() - when) * 1e9
        after, (_, later), burnt = cpu_ns(screen.pid), runs(screen.pid), busy_ns() - burnt
        peak = live.status_kb(screen.pid, "VmHWM")
        screen.stop()
        if peak is None or not after:
            raise ValueError("it ended: " + repr(screen.text[-300:]))
        others = 100 * (len(loads) - (burnt + after - before) / took)
        tries.append((others, 100 * (after - before) / took, 100 * (later - bpf) / took,
                      peak * 1024 / 1e6, before / 1e6))
        if others < 4:
            break
    others, *figures = min(tries)
    if others >= 4:
        print(f"  ! not quiet: others took {others:.0f} % of a CPU from the two busy programs")
    return figures


def share(table):
    with live.Load([DEEP, "300"]) as one, live.Load([DEEP, "300"]) as two:
        time.sleep(0.5)
        cpu, bpf, rss, begin = share_of([live.STACKTOP], 10, [one, two])
        peers = [(name, *share_of(command, 10, [one, two])) for name, command in perf_tops()]

    def others(column, unit, digits):
        return ", ".join(f"{peer[column]:.{digits}f} {unit} {peer[0]}" for peer in peers)

    table.row("own CPU, live view, 99 Hz, 2 busy programs", cpu, "%", 1, others(1, "%", 2), 2)
    table.row("  and in the BPF program, all CPUs", bpf, "%", None, "", 2)
    table.row("  and for the first 3 s", begin, "ms", None, others(4, "ms", 0), 0)
    table.row("memory (VmHWM) after that", rss, "MB", 40, others(3, "MB", 1))
    table.note(f"{DEEP} & {DEEP} & {live.STACKTOP}: 10 s of /proc/PID/task/*/schedstat from the "
               "third second on")


def idle_share():
    def ticks():
        with open("/proc/stat", encoding="ascii") as file:
            numbers = [int(n) for n in file.readline().split()[1:9]]
        return numbers[3] + numbers[4], sum(numbers)
    idle, total = ticks()
    time.sleep(1)
    idle_after, total_after = ticks()
    return (idle_after - idle) / (total_after - total)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # loads end with their blocks
    figures = {"walk": walk, "size": size, "start": start, "share": share}
    print(f"Linux {os.uname().release}, {os.cpu_count()} CPUs, {100 * idle_share():.0f} % idle")
    table = Table()
    for name in sys.argv[1:]:
        try:
            figures[name](table)
        except (OSError, ValueError, KeyError, AttributeError, subprocess.SubprocessError) as error:
            table.missed(name, error)
    sys.exit(1 if table.missing else 0)


if __name__ == "__main__":
    main()
