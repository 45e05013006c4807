# SPDX-License-Identifier: GPL-2.0-or-later
"""What the live tests share: TAP, workloads that surely end, and stacktop's reports taken apart."""

import os
import re
import subprocess
import sys
import tempfile
import time

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


def need_root(tap):
    if os.geteuid() != 0:
        tap.skip("everything", "needs root")
        tap.done()


class Load:
    """A busy process, killed when the block is left."""

    def __init__(self, command, **options):
        self.command = command
        self.options = options
        self.process = None

    def __enter__(self):
        options = {"stdout": subprocess.DEVNULL, **self.options}
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        start_new_session=True, **options)
        return self.process

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()


def stacktop(*options, timeout=60):
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
    WALKS = re.compile(r"^([\d.]+) % of (\d+) user stacks complete;.*own CPU ([\d.]+) % of one$",
                       re.M)
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
        self.complete, self.walks = float(walks.group(1)), int(walks.group(2))
        self.own_cpu = float(walks.group(3))
        self.procs = [(int(pid), int(n), name) for pid, n, name in self.PROC.findall(text)]


def errors(err):
    """What was written to stderr but for warnings: a busy machine is owed one of late ticks."""
    return "".join(line for line in err.splitlines(True)
                   if not line.startswith("stacktop: warning:"))


def reports(text):
    """All reports of a run, in order; a message may come before the first."""
    return [Report("stacktop  " + part) for part in re.split(r"(?m)^stacktop  ", text)[1:]]


def status_kb(pid, field):
    """VmRSS, VmHWM and the like of /proc/PID/status; None when the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
    except OSError:
        pass
    return None


def process_seconds(pids):
    """User and system time of all threads of the processes, those that ended included."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


class Batch:
    """stacktop in the background, with the memory it took."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([STACKTOP, *options], stdin=subprocess.DEVNULL,
                                        stdout=self.out)
        self.peak = 0
        self.resident = []  # (seconds since the start, KiB)

    def wait(self, timeout=120):
        start = time.monotonic()
        while self.process.poll() is None:
            if time.monotonic() - start > timeout:
                self.process.kill()
                break
            self.peak = max(self.peak, status_kb(self.process.pid, "VmHWM") or 0)
            resident = status_kb(self.process.pid, "VmRSS")
            if resident:
                self.resident.append((time.monotonic() - start, resident))
            time.sleep(0.05)
        self.process.wait()
        self.out.seek(0)
        return self.out.read().decode("utf-8", "replace")
