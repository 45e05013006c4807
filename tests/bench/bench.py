#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of `make bench`; see run.sh, which sets up the machine. Each figure is printed with its
limit and with a peer that was measured in the same run."""

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
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402
import churn as churn_bench  # noqa: E402
import exec as exec_bench  # noqa: E402
import frames as frames_bench  # noqa: E402
import names as names_bench  # noqa: E402
import push as push_bench  # noqa: E402
import python as python_bench  # noqa: E402
import short as short_bench  # noqa: E402
import waits as waits_bench  # noqa: E402
import walk as walk_bench  # noqa: E402

BENCH = os.path.join(live.BUILD, "tests", "bench")
DEEP = os.path.join(live.WORK, "deep90")
VIEWS = "Procs", "Funcs", "Tree", "Callers", "Flame", "Shards", "Unwind"
VIEW_SECONDS = 20
PROG_TYPE_PERF_EVENT = 7
PERF_PLAIN = ["perf", "top", "-e", "cpu-clock", "-F", "99"]
PERF_DWARF = PERF_PLAIN + ["--call-graph", "dwarf"]


class Table:
    """A line for each figure; a figure that could not be measured gets a line, too."""

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
    for fields in live.bpf_descriptors(pid):
        if fields.get("prog_type") == str(PROG_TYPE_PERF_EVENT):
            found[fields["prog_id"]] = int(fields["run_cnt"]), int(fields["run_time_ns"])
    return found


def runs(pid):
    programs = perf_programs(pid).values()
    return sum(n for n, _ in programs), sum(ns for _, ns in programs)


def walk(table):
    walk_bench.measure(table, False)


def again(table):
    """One stack again and again, without an interrupt: the cost of a frame with warm caches."""
    done = subprocess.run([os.path.join(BENCH, "again")], capture_output=True, text=True,
                          env=dict(os.environ, AGAIN_OBJECT=os.path.join(BENCH, "again.bpf.o")),
                          check=False)
    rows = [tuple(map(int, row))
            for row in re.findall(r"^(\d+) (\d+) (\d+) (\d+)$", done.stdout, re.M)]
    if done.returncode or len(rows) < 4:
        table.missed("a walk run on demand", (done.stdout + done.stderr).strip()[-100:])
        return
    for along, how in ((0, "by tables"), (1, "by the rows of the walk before")):
        few = before = 0
        for frames, middle, fast in (row[:1] + row[2:] for row in rows if row[1] == along):
            table.row(f"walk of {frames} frames, again and again, {how}", middle, "ns", digits=0,
                      peer=f"fastest tenth {fast}; {middle / frames:.1f} a frame, " +
                           f"{(middle - before) / (frames - few):.1f} one more")
            few, before = frames, middle


def quick(table):
    walk_bench.measure(table, True)


def execs(table):
    exec_bench.measure(table)


def churn(table):
    churn_bench.measure(table, Screen)


def push(table):
    push_bench.measure(table)


def waits(table):
    waits_bench.measure(table)


def frames(table):
    frames_bench.measure(table)


def python(table):
    python_bench.measure(table)


def short(table):
    short_bench.measure(table)


def names(table):
    size_, (ours, binutils, elfutils) = names_bench.measure(live.STACKTOP)
    table.row(f"1,000 names of a {size_ / 1e6:.0f} MB file, CPU time", ours, "s",
              min(binutils / 20, elfutils),
              f"addr2line -f -i {binutils:.2f} s ({binutils / ours:.1f} times), "
              f"eu-addr2line -f -i {elfutils:.2f} s ({elfutils / ours:.1f} times)", digits=3)
    table.note("stacktop --symbolize FILE")


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
        # Section sizes from readelf.
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
    size_total(table, os.environ.get("BENCH_DIR", "/usr"))


def size_total(table, folder):
    out = subprocess.run([os.path.join(BENCH, "tablesize"), "-t", folder], capture_output=True,
                         text=True, check=True).stdout.split()
    cfi, ours, rows, ms, files, wide = (float(word) for word in out[1:])
    if not cfi:
        raise ValueError(f"no file with CFI in {folder}")
    table.row(f"tables of {files:.0f} files in {folder}", ours / 1e6, "MB", round(cfi / 1e6, 1),
              f"their CFI ({100 * ours / cfi:.0f} %); {rows:.0f} rows, {wide:.0f} bytes of wide "
              "rules")
    table.row("  CPU to read and build, per byte of CFI", ms * 1e6 / cfi, "ns", 50,
              f"{cfi / ms / 1e3:.0f} MB a second in one thread")
    table.note(f"{os.path.join(BENCH, 'tablesize')} -t {folder}")


# --- sessions ------------------------------------------------------------------------------------

def session(table):
    """Ten minutes, 200 processes, 50,000 stacks: opening the session and jumping in it."""
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([os.path.join(BENCH, "session"), os.path.join(folder, "s")],
                             capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    jumps = [float(value) for value, what in rows if what == "jump"]
    figures = {what: float(value) for value, what in rows}
    table.row("session of 10 minutes, 50,000 stacks", figures["bytes"] / 1e6, "MB", 10)
    table.row("  to record a slice", figures["write"], "ms", digits=2)
    table.row("  to open it", figures["open"], "ms", 500)
    table.row("  the longest jump", max(jumps), "ms", 50, f"half of {len(jumps)}: {median(jumps):.1f}")
    table.note(f"{os.path.join(BENCH, 'session')} FILE")


def ui_line(table, line):
    words = line.split()
    if words[-1] in ("nodes", "nodes_of_callers"):
        what = "the tree" if words[-1] == "nodes" else "Callers without a limit"
        table.row(f"nodes of {what}", float(words[0]), "", digits=0)
        return
    if words[-1] == "history_mib":
        table.row("history", float(words[0]), "MiB", 64)
        return
    wall, worst, cpu, worst_cpu = map(float, words[:4])
    name = f"{words[5]}: {words[4]}".replace("-", " ")
    if words[4] == "frame":
        table.row(name, cpu, "ms", 5, f"worst {worst_cpu:.2f} ms", 2)
    elif words[4] == "news":
        table.row(name + " of a second", cpu, "ms", 10, f"worst {worst_cpu:.1f} ms")
    else:
        table.row(name, cpu, "ms", 16,
                  f"worst {worst_cpu:.1f} ms; to paint {wall:.1f} ms, worst {worst:.1f} ms")


def ui(table):
    """CPU time of the screen with 5,000 processes and a tree of 100,000 nodes, without a terminal:
    each key in each view that has it. Keys above 16 ms are marked."""
    program = os.path.join(BENCH, "ui")
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            ui_line(table, line)
    if process.returncode:
        raise ValueError(f"{program} ended with {process.returncode}")
    table.note(f"{program}; -n 20000 makes a tree of 140,000 nodes")


# --- in a terminal -------------------------------------------------------------------------------

class Screen:
    """A program in a pseudo-terminal. Its output is searched, not interpreted."""

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
        """Reads for this long, or until the pattern shows: seconds since the start, or None."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                break
            self.text = (self.text + data.decode("utf-8", "replace"))[-200000:]
            # Styles vanish; cursor movements separate words.
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
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass  # it has been waited for


def cpu_ns(pid):
    """Of all threads, exact: /proc/PID/stat has ticks of ten milliseconds."""
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
    row = r"\b\d+ +[a-z_][-\w]* +\d+ +"  # PID USER THR
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
    """(own CPU share in %, run time of BPF programs in %, peak of RSS in MB, CPU of the start in ms) of
    the quietest of three attempts: other programs that start meanwhile are profiled, too, and cost."""
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
        print(f"  ! not quiet: other programs took {others:.0f} % of a CPU from the two busy programs")
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


PYTHON_BUSY = """
def walk(n):
    return walk(n - 1) + 1 if n else sum(range(50))
while True:
    walk(30)
"""
PERL_BUSY = 'sub f { my $n = shift; $n ? f($n - 1) + 1 : length("x" x 50) } while (1) { f(30) }'


def processes():
    """The number of processes started since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("processes "))


def drawn_ns(pid):
    """CPU time of the thread that draws."""
    with open(f"/proc/{pid}/task/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def view_share(screen):
    """(all threads in % of a CPU, the drawing thread in % of a CPU, processes started per second)"""
    def now():
        return [cpu_ns(screen.pid), drawn_ns(screen.pid), 1e7 * processes()]
    before, when = now(), time.monotonic()
    screen.run(VIEW_SECONDS)
    took = time.monotonic() - when
    return [(after - first) / took / 1e7 for after, first in zip(now(), before)]


def views(table):
    """Own CPU of each view at one refresh a second. Each process that another program starts costs the
    tracker some hundred microseconds, in every view."""
    with live.Load([sys.executable, "-c", PYTHON_BUSY]), live.Load(["perl", "-e", PERL_BUSY]):
        screen = Screen([live.STACKTOP])
        try:
            screen.run(15)  # until the window is full
            for key, view in enumerate(VIEWS, 1):
                os.write(screen.fd, str(key).encode())
                screen.run(3)
                whole, drawn, started = view_share(screen)
                table.row(f"own CPU, {view}, 99 Hz", whole, "%", 1,
                          f"drawing {drawn:.2f} %; {started:.0f} processes started a second", 2)
        finally:
            screen.stop()
    table.note(f"{live.STACKTOP}, keys 1 to {len(VIEWS)}: {VIEW_SECONDS} s each of "
               "/proc/PID/task/*/schedstat beside python3 and perl")


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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the loads end with their blocks
    figures = {"walk": walk, "quick": quick, "size": size, "start": start, "share": share,
               "exec": execs, "churn": churn, "again": again, "names": names, "python": python,
               "session": session, "ui": ui, "views": views, "waits": waits, "frames": frames,
               "push": push, "short": short}
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
