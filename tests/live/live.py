# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the live tests: TAP, workloads that surely end, and parsers of stacktop's reports."""

import contextlib
import glob
import inspect
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import rights

BUILD = os.environ.get("BUILD", "build")
STACKTOP = os.path.abspath(os.path.join(BUILD, "stacktop"))
WORK = os.path.abspath(os.path.join(BUILD, "tests", "work"))


class Tap:
    """Counts and prints results; a test is a named condition."""

    def __init__(self):
        self.count = self.failed = 0

    def ok(self, condition, name, detail=""):
        self.count += 1
        self.failed += not condition
        print(f"{'ok' if condition else 'not ok'} {self.count} - {name}" +
              (f" ({detail})" if detail else ""), flush=True)

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} # SKIP {name}: {why}", flush=True)

    def note(self, text):
        for line in text.splitlines():
            print("# " + line, flush=True)

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


class Root:
    """A distribution whose programs are sampled: this one, or the folder that another is installed in."""

    def __init__(self, path):
        self.path = path.rstrip("/")
        self.name = os.path.basename(self.path) or "here"

    def find(self, *patterns):
        """Programs, as their own root has them."""
        found = [path for pattern in patterns for path in sorted(glob.glob(self.path + pattern))]
        return [path[len(self.path):] for path in found if os.access(path, os.X_OK)]

    def command(self, *words):
        return ["chroot", self.path, *words] if self.path else list(words)

    def run(self, *words, **options):
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False, **options)

    @contextlib.contextmanager
    def folder(self, *files):
        """A folder with copies of the files, as the root has it."""
        with tempfile.TemporaryDirectory(dir=self.path + "/tmp") as path:
            os.chmod(path, 0o755)
            for file in files:
                shutil.copy(file, path)
            yield path[len(self.path):]


def roots():
    """This one and those of the environment variable ROOTS, separated by colons; as a part of rooted.py that
    root alone."""
    if "STACKTOP_ROOT" in os.environ:
        return [Root(os.environ["STACKTOP_ROOT"])]
    return [Root(path) for path in ["", *filter(None, os.environ.get("ROOTS", "").split(":"))]]


SAMPLING = ("CAP_BPF", "CAP_PERFMON")


def need(tap, *more):
    """Ends the program unless stacktop can sample here as root, and there are `more` rights."""
    lacks = rights.missing(*SAMPLING, *more)
    if lacks or os.geteuid() != 0:
        tap.skip("everything", f"no {lacks}" if lacks else "needs root")
        tap.done()


def cc(out, source, *flags):
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-o", out, source, *flags],
                   check=True)


def bpf_descriptors(pid):
    """What the kernel tells of each BPF program and map that the process holds: {field: text}."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as file:
                fields = dict(line.split(":\t") for line in file.read().splitlines() if ":\t" in line)
        except OSError:
            continue
        if "prog_id" in fields or "map_id" in fields:
            yield fields


UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def rerun_in_pid_namespace(tap, *arguments):
    """Runs this program again in a new PID namespace, with these arguments; its status."""
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode:
        tap.skip("everything", "no PID namespace can be made")
        tap.done()
    return subprocess.run([*UNSHARE, sys.executable, os.path.abspath(sys.argv[0]), *arguments],
                          check=False).returncode


def run_parts(tap, *parts):
    """Parts, each (function, argument...), of a program whose other parts need no rights. Where stacktop
    cannot sample they are skipped, test by test of their source."""
    lacks = rights.missing(*SAMPLING)
    for part, *arguments in parts:
        if not lacks:
            part(tap, *arguments)
            continue
        for at in range(max(1, len(re.findall(r"\bok\(", inspect.getsource(part))))):
            tap.skip(f"{part.__name__}, test {at + 1}", f"no {lacks}")


def weigh(pid, nice):
    """Autogroup (sched(7)) makes each session a group of the scheduler with a nice value of its own;
    a process's nice value counts only within its group. Without autogroup, set the process's."""
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
            file.write(str(nice))
    except OSError:
        os.setpriority(os.PRIO_PROCESS, pid, nice)


class Load:
    """A busy process, killed when the block is left. Its nice value leaves most of the CPUs to
    stacktop, which has tables to build, and to the tests that run at the same time."""

    def __init__(self, command, **options):
        self.command = command
        self.options = options
        self.process = None

    def __enter__(self):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **self.options}
        self.process = subprocess.Popen(self.command, start_new_session=True, **options)
        weigh(self.process.pid, 5)
        return self.process

    def end(self):
        if self.process.returncode is None:
            os.killpg(self.process.pid, 9)
            self.process.wait()

    def __exit__(self, *_):
        self.end()


class Gentle(Load):
    """Busy for a quarter of the time: for tests that want samples of a process, not all of a CPU."""

    def __enter__(self):
        super().__enter__()
        self.leaving = threading.Event()
        self.thread = threading.Thread(target=self.turns, daemon=True)
        self.thread.start()
        return self.process

    def turns(self):
        for number, seconds in itertools.cycle(((signal.SIGCONT, 0.02), (signal.SIGSTOP, 0.06))):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                return
            if self.leaving.wait(seconds):
                return

    def __exit__(self, *_):
        self.leaving.set()
        self.thread.join()
        super().__exit__()


def stacktop(*options, timeout=300):
    """(standard output, standard error, exit status)"""
    done = subprocess.run([STACKTOP, *options], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout, check=False)
    return (done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"),
            done.returncode)


def folded(text):
    """(user frames, kernel frames, count) of each line; comm is left out."""
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")[1:]
        user = [frame for frame in frames if not frame.endswith("_[k]")]
        kernel = [frame[:-4] for frame in frames if frame.endswith("_[k]")]
        yield user, kernel, int(count)


class Report:
    """The head and the tables of a report in text form."""

    HEAD = re.compile(r"^stacktop  \S+ \S+  ([\d.]+) s of (\S+) at (\d+) Hz on (\d+) CPUs?$", re.M)
    SAMPLES = re.compile(r"^(\d+) samples \((\d+) in user mode, (\d+) in the kernel\), "
                         r"[\d.]+ a second; lost (\d+) samples(.*)$", re.M)
    WALKS = re.compile(r"^(?:([\d.]+) % of (\d+) user stacks? complete|no user stacks)[,;]"
                       r".*own CPU ([\d.]+) % of one$", re.M)
    PROC = re.compile(r"^ *(\d+) \S+ +[\d.]+ +(\d+) +[\d.]+ +(?:-|[\d.]+)  (.*)$", re.M)

    def __init__(self, text):
        head, samples = self.HEAD.search(text), self.SAMPLES.search(text)
        walks = self.WALKS.search(text)
        if not (head and samples and walks):
            raise ValueError("not a report:\n" + text)
        self.text = text
        self.seconds = float(head.group(1))
        self.hertz, self.cpus = int(head.group(3)), int(head.group(4))
        self.samples, self.user, self.kernel, self.lost = map(int, samples.groups()[:4])
        self.losses = samples.group(5).strip()
        self.complete, self.walks = float(walks.group(1) or 0), int(walks.group(2) or 0)
        self.own_cpu = float(walks.group(3))
        self.procs = [(int(pid), int(n), name) for pid, n, name in self.PROC.findall(text)]


OWED = re.compile(r"stacktop: warning: (\d+ % of the busy CPUs' ticks (came late|hit BPF)|the kernel throttles)")
# Said of one process; that not all processes have room is said of stacktop.
# Of a file system that a test lets hang (test_hung.py, test_hungnames.py), whose folder is below no TMPDIR.
OF_HUNG = re.compile(r"stacktop: warning: /var/tmp/stacktop-hung\S+ does not answer: ")
OF_PROCESS = (re.compile(r"stacktop: warning: (?:no frames of its language for )?(?P<name>.{1,15}) \((?P<pid>\d+)\)"
                         r"(?:: its memory|: the layout|: \d+ samples|: too many mappings| and others of its user)"),
              re.compile(r"stacktop: warning: no room for the mappings of process (?P<pid>\d+)"))


def errors(err, own):
    """stderr without the warnings that a busy machine causes, and those about a process that is not one
    of `own`: PIDs, and names of programs whose processes have come and gone."""
    def is_foreign(line):
        if OF_HUNG.match(line):
            return True
        match = next(filter(None, (pattern.match(line) for pattern in OF_PROCESS)), None)
        return match and int(match["pid"]) not in own and match.groupdict().get("name") not in own

    return "".join(line for line in err.splitlines(True) if not OWED.match(line) and not is_foreign(line))


def reports(text):
    """All reports of a run, in order; skips a message before the first."""
    return [Report("stacktop  " + part) for part in re.split(r"(?m)^stacktop  ", text)[1:]]


def status_kb(pid, field):
    """A field such as VmRSS or VmHWM of /proc/PID/status; None when the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
    except OSError:
        pass
    return None


def process_seconds(pids):
    """User and system time of the processes, with threads that ended."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Batch:
    """stacktop in the background."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([STACKTOP, *options], stdin=subprocess.DEVNULL,
                                        stdout=self.out)

    def wait(self, timeout=120):
        start = time.monotonic()
        while self.process.poll() is None:
            if time.monotonic() - start > timeout:
                self.process.kill()
                break
            time.sleep(0.05)
        self.process.wait()
        self.out.seek(0)
        return self.out.read().decode("utf-8", "replace")


RATE = "/proc/sys/kernel/perf_event_max_sample_rate"


def hertz(wanted):
    """The frequency as an option, no higher than the kernel allows."""
    with open(RATE, encoding="ascii") as file:
        return str(min(wanted, int(file.read())))


def kernel_clock():
    """CLOCK_MONOTONIC as perf reads it: outside the time namespace of this process."""
    with open("/proc/self/timens_offsets", encoding="ascii") as file:
        seconds, ns = re.search(r"^monotonic\s+(-?\d+)\s+(-?\d+)", file.read(), re.M).groups()
    return time.monotonic() - int(seconds) - int(ns) / 1e9


def wait_for(state, seconds=60, step=0.02):
    """Polls until state() is true and returns its last value. The limit ends a wait in vain."""
    end = time.monotonic() + seconds
    while True:
        value = state()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def wait_busy(pids, seconds=0.02, limit=20):
    """Waits until each process has used this much CPU time: by then it spins in its loop."""
    def spent(pid):
        try:
            return process_seconds([pid])
        except OSError:  # the process has ended
            return float("inf")

    start = {pid: spent(pid) for pid in pids}
    return wait_for(lambda: all(spent(pid) >= start[pid] + seconds for pid in pids), limit)


class Slice:
    """A refresh, parsed from JSON. stacks: (pid, name, user frames, kernel frames, count). A walk
    that ended early has its reason in brackets."""

    def __init__(self, line):
        self.json = told = json.loads(line)
        self.seconds, self.taken, self.filtered = told["seconds"], told["taken"], told["filtered"]
        self.samples, self.lost = told["samples"], told["lost"]
        names = ["[" + function["name"] + "]" if function["kind"] == "end" else function["name"]
                 for function in told["functions"]]
        kernel = [function["kind"] == "kernel" for function in told["functions"]]
        procs = told["processes"]
        self.stacks = [(procs[stack["process"]]["pid"], procs[stack["process"]]["name"],
                        [names[at] for at in stack["frames"] if not kernel[at]],
                        [names[at] for at in stack["frames"] if kernel[at]], stack["count"])
                       for stack in told["stacks"]]

    def count(self, pid):
        """The number of samples of a process."""
        return sum(stack[4] for stack in self.stacks if stack[0] == pid)


class Stream:
    """stacktop in the background, read slice by slice while it runs. `first`: it and its command come
    before all others, for a test of how soon stacktop knows something. `before`: a command that runs it."""

    def __init__(self, *options, first=False, before=()):
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([*before, STACKTOP, "-b", "--format", "json", *options],
                                        stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                        start_new_session=first)
        if first:
            weigh(self.process.pid, -20)
        self.pid = self.process.pid
        self.slices = []
        self.at = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def poll(self):
        """Returns the new slices; self.slices has all."""
        text = os.pread(self.out.fileno(), 1 << 28, self.at)
        text = text[:text.rfind(b"\n") + 1]
        self.at += len(text)
        new = [Slice(line) for line in text.decode("utf-8", "replace").splitlines()]
        self.slices += new
        return new

    def next(self):
        """The index of the first slice that surely starts after the call: one slice may be in the
        middle of being written, and the next may have begun."""
        self.poll()
        return len(self.slices) + 2

    def until(self, good, seconds=60, step=0.05):
        """Waits until good(slices) is true or the process has ended; returns good's last value."""
        def look():
            ended = self.process.poll() is not None
            self.poll()
            return (good(self.slices),) if good(self.slices) or ended else None

        value = wait_for(look, seconds, step)
        return value[0] if value else False

    def more(self, count=1, seconds=60):
        """Waits for `count` slices that began after the call."""
        first = self.next()
        self.until(lambda slices: len(slices) >= first + count, seconds)
        return self.slices[first:first + count]

    def errors(self, own):
        """See errors()."""
        return errors(os.pread(self.err.fileno(), 1 << 20, 0).decode("utf-8", "replace"), own)

    def stop(self, seconds=60):
        """Interrupts it as Ctrl-C does and reads the last slice. Returns the exit status, None when it
        does not end."""
        self.process.send_signal(signal.SIGINT)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = None
        self.poll()
        return status
