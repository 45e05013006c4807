#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU 1 comes, goes and comes again while stacktop runs: what is pinned to it is sampled whenever it is
online, the processes on it are followed by their records, and the books stay even. CPU 1 is never
off for longer than a few seconds, and no two of these tests switch it at the same time.

Covers: bpf/cpus.c bpf/events.c bpf/sideband.c tui/engine_watch.c
"""

import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import test_accounting  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track")
SWITCH = "/sys/devices/system/cpu/cpu1/online"
HERTZ = 499
NOTICED = 2.5  # seconds until stacktop has seen what a CPU did: it looks twice, once a second


class Cpu1:
    """As it was, when the block is left; counts the seconds that it was online."""

    def __enter__(self):
        self.file = open(SWITCH, "r+", encoding="ascii")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.before = self.is_online()
        self.since, self.seconds = time.monotonic(), 0.0
        return self

    def __exit__(self, *_):
        self.switch(self.before)
        self.file.close()

    def is_online(self):
        self.file.seek(0)
        return self.file.read().strip() == "1"

    def switch(self, on):
        if on != self.is_online():
            with open(SWITCH, "w", encoding="ascii") as file:
                file.write("1" if on else "0")
            self.mark(on)

    def mark(self, on):
        now = time.monotonic()
        if not on:
            self.seconds += now - self.since
        self.since = now

    def online_seconds(self):
        return self.seconds + (time.monotonic() - self.since if self.is_online() else 0)


def why_not():
    """Why CPU 1 cannot be switched; None when it can."""
    if not os.path.exists(SWITCH):
        return f"there is no {SWITCH}"
    if 0 not in os.sched_getaffinity(0):
        return "CPU 0 may not be used"
    try:
        with Cpu1() as cpu:
            if not cpu.before:
                return "CPU 1 is offline"
            cpu.switch(False)
    except OSError as error:
        return f"{SWITCH}: {error.strerror}"
    return None


class Running:
    """stacktop with a report a second."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [live.STACKTOP, "-b", "-d", "1", "-F", str(HERTZ), *options],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def text(self):
        return os.pread(self.out.fileno(), 1 << 26, 0).decode("utf-8", "replace")

    def messages(self):
        return [line[10:] for line in self.text().splitlines() if line.startswith("stacktop: ")]

    def reports(self):
        """Those that are whole."""
        text = re.sub(r"(?m)^stacktop: .*\n", "", self.text())
        parts = re.split(r"(?m)^(?=stacktop  )", text)[1:]
        if self.process.poll() is None:
            parts = parts[:-1]  # may be on its way
        return [live.Report(part) for part in parts]

    def more(self, count):
        """So many reports more, of slices that began after the call."""
        first = len(self.reports()) + 1
        end = time.monotonic() + 5 + 2 * count
        while time.monotonic() < end and len(self.reports()) < first + count:
            time.sleep(0.05)
        return self.reports()[first:first + count]

    def until(self, good, seconds=8):
        """Waits for a report that is good."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(good(report) for report in self.reports()[-1:]):
                return True
            time.sleep(0.05)
        return False

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


def pin(pid=0):
    os.sched_setaffinity(pid, {1})


def check_pinned(tap, name, top, pid):
    """What is pinned to CPU 1 is sampled for as long as it runs, by the kernel's own accounting."""
    pin(pid)  # taking its only CPU away has undone it
    before, start = live.process_seconds([pid]), len(top.reports())
    top.more(3)
    ran = live.process_seconds([pid]) - before
    seen = top.reports()[start:]
    samples = sum(count for report in seen for number, count, _ in report.procs if number == pid)
    # The slices that the measuring began and ended in belong to it in part.
    rows = [[count for number, count, _ in report.procs if number == pid] for report in seen]
    tap.ok(samples >= 0.5 * ran * HERTZ > 0 and all(rows[1:-1]), f"{name}: it is sampled",
           f"{samples} samples at {HERTZ} Hz in {ran:.2f} s")
    tap.ok(seen[-1].cpus == 2, f"{name}: the report says so", f"{seen[-1].cpus} CPUs")


ROW = re.compile(r"^ *\d+ \S+ +[\d.]+ +(\d+) +[\d.]+ +([\d.]+)  .*\bsecond\b", re.M)


def check_exec(tap, name, top, folder):
    """Programs that live for 75 ms of CPU time after an exec, which they share. A process that only /proc tells of is read when a
    sample of it was met, five times a second: most are gone by then, and of those that are not a part
    is lost. By its records one is followed within a ms or two, and some more where a host takes the
    CPU away. How soon is a matter of timing and not asked here: followed is who was for the most
    part. Without the records 38 to 46 % of the samples are of such, with them 99.6 %, and 93 % when a
    third of the CPU is taken away 30 ms at a time."""
    start = len(top.reports())
    end = time.monotonic() + 5
    while time.monotonic() < end:
        subprocess.run([os.path.join(folder, "first"), "1", os.path.join(folder, "second"), "75"],
                       preexec_fn=pin, check=True)
    top.more(1)
    rows = [(int(count), float(complete)) for report in top.reports()[start:]
            for count, complete in ROW.findall(report.text)]
    samples = sum(count for count, _ in rows)
    share = 100 * sum(count for count, complete in rows if complete >= 50) / max(samples, 1)
    stacks = sum(count * complete for count, complete in rows) / max(samples, 1)
    tap.ok(samples >= 50 and share >= 95, f"{name}: processes on it are followed",
           f"{share:.1f} % of {samples} samples of {len(rows)} rows are of such as are; "
           f"{stacks:.1f} % of the stacks complete")


def check_books(tap, top, cpu, start):
    sums = test_accounting.Sums(re.sub(r"(?m)^stacktop: .*\n", "", top.text()))
    tap.ok(sums.taken == sums.filtered + sums.samples > 0, "the books are even",
           f"{sums}, samples {sums.samples}")
    rest = sums.due - sums.taken - sums.idle - sums.throttled - sums.missed
    tap.ok(abs(rest) <= 0.02 * sums.due, "every tick is named", f"{rest} of {sums.due} are not")
    # CPU 1 came three times; each time some of its ticks were not asked for.
    most = (sums.seconds + cpu - start) * HERTZ
    tap.ok(most - 3 * NOTICED * HERTZ <= sums.due <= 1.02 * most,
           "ticks are due while the CPU is online", f"{sums.due} of at most {most:.0f}")


def come_and_go(tap, folder):
    with Cpu1() as cpu, live.Load([os.path.join(live.WORK, "deep90"), "90"]) as load:
        cpu.switch(False)
        with Running() as top:
            alone = top.until(lambda report: report.cpus == 1, 20)
            start = cpu.online_seconds()
            cpu.switch(True)
            tap.ok(alone, "begins with one CPU")
            time.sleep(NOTICED)
            check_pinned(tap, "a CPU that came", top, load.pid)
            check_exec(tap, "a CPU that came", top, folder)
            cpu.switch(False)
            one = top.until(lambda report: report.cpus == 1, 20)
            cpu.switch(True)
            tap.ok(one, "a CPU that went: the report says so")
            time.sleep(NOTICED)
            check_pinned(tap, "off and on", top, load.pid)
            check_exec(tap, "off and on", top, folder)
            cpu.switch(False)
            cpu.switch(True)
            time.sleep(NOTICED)
            check_pinned(tap, "off for an instant", top, load.pid)
            check_exec(tap, "off for an instant", top, folder)
            status, seconds = top.stop(), cpu.online_seconds()
            tap.ok(status in (0, 130), "ends in good order", f"exit {status}")
            check_books(tap, top, seconds, start)
            said = " | ".join(text for text in top.messages() if "sampled are now" in text)
            tap.ok(re.search("came online, sampled are now: 2 .*went offline, sampled are now: 1 "
                             ".*came online, sampled are now: 2$", said), "tells of it", said)


def listed(tap):
    """The only CPU of --cpu goes and comes again."""
    with Cpu1() as cpu, live.Load([os.path.join(live.WORK, "deep90"), "90"]) as load, \
            Running("--cpu", "1") as top:
        pin(load.pid)
        top.until(lambda report: report.cpus == 1)
        cpu.switch(False)
        none = top.until(lambda report: report.cpus == 0 and report.samples == 0, 20)
        cpu.switch(True)
        tap.ok(none, "--cpu 1: nothing is sampled while it is off", " | ".join(top.messages()))
        time.sleep(NOTICED)
        pin(load.pid)
        back = top.until(lambda report: report.cpus == 1 and
                         any(pid == load.pid for pid, _, _ in report.procs))
        tap.ok(back, "--cpu 1: it is sampled again", " | ".join(top.messages()))
        status = top.stop()
        tap.ok(status in (0, 130), "--cpu 1: ends in good order", f"exit {status}")


def main():
    tap = live.Tap()
    live.need_root(tap)
    reason = why_not()
    if reason:
        tap.skip("CPUs come and go", reason)
        tap.done()
    with tempfile.TemporaryDirectory(prefix="stacktop-hotplug-") as folder:
        os.chmod(folder, 0o755)
        for name in ("first", "second"):
            subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-o",
                            os.path.join(folder, name), os.path.join(SOURCES, "chain.c"),
                            f"-DNAME={name}", "-DPAD=64"], check=True)
        come_and_go(tap, folder)
        listed(tap)
    tap.done()


if __name__ == "__main__":
    main()
