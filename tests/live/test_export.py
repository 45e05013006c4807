#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files written while stacktop samples: by -o in every format, and by the key w of the live view.

The workload's functions are known, and so are the samples of a run of its process. That the formats
agree is tested with made-up seconds in tests/tui/export/test_export.py.

time limit: 600 s
Covers: tui/export/export.c tui/export/writer.c tui/util/outfile.c
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "tui", "export")]
import formats  # noqa: E402
import live  # noqa: E402

FILES = {"text": "x.txt", "folded": "x.folded", "json": "x.json", "perf": "x.perf",
         "pprof": "x.pb.gz", "speedscope": "x.speedscope.json", "firefox": "x.firefox.json",
         "svg": "x.svg", "flame": "x.flame.svg"}
READERS = {"folded": formats.folded, "json": formats.json_stacks, "perf": formats.perf,
           "pprof": formats.pprof, "speedscope": formats.speedscope, "firefox": formats.firefox,
           "svg": formats.svg, "flame": formats.flame}
HERTZ = live.hertz(1999)
SHORT = ["-b", "-n", "2", "-d", "0.3", "-F", HERTZ]
DELAYS = ("0.3", "2", "10")  # of a refresh: the next if the process got no CPU in the one before
CHAIN = os.path.join(live.WORK, "deep90")


def load(path, name):
    with open(path, "rb") as file:
        data = file.read()
    return data if name == "pprof" else data.decode("utf-8")


def count_of(name, data):
    if name == "text":
        return sum(report.samples for report in live.reports(data))
    return sum(READERS[name](data).values())


def write_file(pid, name, path):
    """(the file of a run in which the process got a CPU, the messages)"""
    for delay in DELAYS:
        if os.path.exists(path):
            os.unlink(path)
        said = live.stacktop("-b", "-n", "2", "-d", delay, "-F", HERTZ, "-p", str(pid), "-o", path)
        if said[2] or not os.path.exists(path) or count_of(name, load(path, name)) > 100:
            break
    return said


def check_files(tap, pid):
    for name, path in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, path)
            out, err, status = write_file(pid, name, path)
            there = os.listdir(folder)
            tap.ok(status == 0 and not out and not live.errors(err, (pid,)) and
                   there == [os.path.basename(path)],
                   f"-o writes {name}", f"{err or out} {there}")
            samples = count_of(name, load(path, name))
            if name == "text":
                tap.ok(len(live.reports(load(path, name))) == 2 and samples > 100, "two reports",
                       f"{samples} samples")
                continue
            stacks = READERS[name](load(path, name))
            deep = sum(n for stack, n in stacks.items() if len(stack) > 90)
            tap.ok(samples > 100 and deep > 0.9 * samples, f"{name} has the program's stacks",
                   f"{deep} of {samples} samples are deep")


def check_meta(tap, pid):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.pb.gz")
        before = time.time()
        write_file(pid, "pprof", path)
        ended = time.time()
        profile = formats.Pprof(load(path, "pprof"))
        labels = {(s[2]["pid"], s[2]["thread"], s[2]["comm"]) for s in profile.samples}
        tap.ok(labels == {(pid, pid, "deep90")}, "samples have process, thread and name",
               str(labels))
        tap.ok(before - 1 < profile.time / 1e9 < ended and
               0.59e9 < profile.duration < (ended - before) * 1e9 and
               profile.period == 10**9 // int(HERTZ),
               "time, duration and period are set")
        names = {frame for stack, _, _ in profile.samples for frame in stack}
        tap.ok(any(module == "deep90" for _, module in names), "modules are mappings")
        notes = subprocess.run(["readelf", "-n", CHAIN], capture_output=True, text=True,
                               check=True).stdout
        build = re.search(r"Build ID: ([0-9a-f]+)", notes)
        tap.ok(profile.builds["deep90"] == (build.group(1) if build else ""),
               "mappings have their build-id", profile.builds["deep90"])


def check_pipes(tap, pid):
    out, err, status = live.stacktop(*SHORT, "-p", str(pid), "--format", "json")
    reports = formats.json_objects(out)
    for report in reports:
        formats.json_check(report)
    tap.ok(status == 0 and not live.errors(err, (pid,)) and len(reports) == 2,
           "JSON has an object for each refresh", f"{len(reports)} {err}")
    out, err, status = live.stacktop(*SHORT, "-p", str(pid), "--format", "speedscope")
    tap.ok(status == 0 and formats.speedscope(out), "a whole file goes to standard output")
    out, err, status = live.stacktop(*SHORT, "-p", str(pid), "--format", "folded", "-o",
                                     "/dev/stdout")
    tap.ok(status == 0 and formats.folded(out), "/dev/stdout is written, not replaced", err)
    out, err, status = live.stacktop(*SHORT, "-p", str(pid), "-o", "/dev/full")
    tap.ok(status == 1 and live.errors(err, (pid,)) ==
           "stacktop: /dev/full: No space left on device\n",
           "a full disk is reported", err.strip())
    out, err, status = live.stacktop(*SHORT, "-o", "/nowhere/x.svg")
    tap.ok(status == 1 and live.errors(err, ()) ==
           "stacktop: /nowhere/x.svg: No such file or directory\n",
           "a file that cannot be created is reported before sampling", err.strip())


def until_sampled(top, pid):
    """Waits until both events of each CPU are open, the tracker's and the sampler's, and the process
    has then run for three tenths of a second."""
    end, began = time.monotonic() + 200, None
    while time.monotonic() < end and top.poll() is None:
        folder = f"/proc/{top.pid}/fd"
        try:
            links = [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
        except OSError:
            links = []
        if began is None and sum("perf_event" in link for link in links) >= \
                2 * os.sysconf("SC_NPROCESSORS_ONLN"):
            began = live.process_seconds([pid])
        if began is not None and live.process_seconds([pid]) > began + 0.3:
            return
        time.sleep(0.05)


def check_interrupt(tap, pid):
    """The file is complete after Ctrl-C, and does not exist before."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.svg")
        with subprocess.Popen([live.STACKTOP, "-b", "-d", "0.3", "-F", HERTZ, "-p", str(pid), "-o", path],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            until_sampled(process, pid)
            early = os.path.exists(path)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=200)
        tap.ok(not early and process.returncode == 0 and formats.svg(load(path, "svg")) and
               os.listdir(folder) == ["x.svg"], "Ctrl-C ends with a complete file", str(err))


def check_session(tap):
    """The same recorded seconds of the whole machine, in every format."""
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "x.session")
        with live.Load([CHAIN, "900"]):
            live.stacktop("-b", "-n", "3", "-d", "0.4", "-F", "499", "-w", session)
        found = {}
        for name in READERS:
            path = os.path.join(folder, FILES[name])
            _, err, status = live.stacktop("-b", "-r", session, "-o", path)
            found[name] = load(path, name)
            tap.ok(status == 0 and not live.errors(err, ()), f"a session becomes {name}", err)
        for name, stacks, want in formats.agree(found):
            sums = formats.per_function(stacks)
            tap.ok(stacks == want and sums == formats.per_function(want) and len(sums) > 20 and
                   sum(stacks.values()) > 200, f"{name} has the stacks of the session's JSON",
                   f"{sum(stacks.values())} samples, {len(sums)} functions")


def waits_of(name, data):
    """{stack: microseconds}"""
    if name == "json":
        return formats.json_stacks(data, "time")
    if name == "folded":
        return formats.folded(data)
    return READERS[name](data, "time")


def check_waits(tap):
    """A program that sleeps for a second, from its first instruction to its last. Drawings leave out
    what is too short to be seen. A wait that goes on at the end of a refresh counts in both."""
    names = [name for name in READERS if name not in ("svg", "flame")]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = os.path.join(folder, FILES[name])
            _, err, status = live.stacktop("-b", "-e", "off-cpu", "-o", path, "--", "sleep", "1")
            stacks = waits_of(name, load(path, name))
            asleep = sum(us for stack, us in stacks.items() if stack and stack[-1][0] == "[sleep]")
            tap.ok(status == 0 and not live.errors(err, ("sleep",)) and 950000 < asleep < 1300000,
                   f"{name} has the second of sleep", f"{asleep} us {err}")
        for name, below in (("svg", False), ("flame", True)):
            path = os.path.join(folder, FILES[name])
            _, err, status = live.stacktop("-b", "-e", "wall", "-o", path, "--", "sleep", "1")
            titles = [lines for *_, lines in formats.svg_frames(load(path, name), below)]
            tap.ok(status == 0 and any(lines[0] == "[sleep]" and
                                       re.match(r"1\.[0-2]\d s \([89]\d\.\d\d %\), .*; [12] waits and samples$",
                                                lines[2]) for lines in titles),
                   f"{name} has the second of sleep", f"{titles[-1]} {err}")
        session = os.path.join(folder, "x.session")
        with live.Load([CHAIN, "900"]):
            live.stacktop("-b", "-n", "3", "-d", "0.4", "-e", "wall", "-w", session)
        found = {}
        for name in READERS:
            path = os.path.join(folder, FILES[name])
            live.stacktop("-b", "-e", "wall", "-r", session, "-o", path)
            found[name] = load(path, name)
        for name, stacks, want in formats.agree(found, "time"):
            if name in ("svg", "flame"):
                continue
            tap.ok(stacks == want and sum(stacks.values()) > 400000,
                   f"{name} has the waits of the session's JSON", f"{sum(stacks.values())} us")


class Screen:
    """The live view in a terminal."""

    def __init__(self, folder, *options):
        self.pid, self.fd = pty.fork()
        self.text = ""
        if not self.pid:
            os.chdir(folder)
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execv(live.STACKTOP, [live.STACKTOP, *options])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not condition():
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        return condition()

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def close(self):
        self.type("q")
        self.wait(lambda: False, 1)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def check_key(tap, pid):
    with tempfile.TemporaryDirectory() as folder:
        screen = Screen(folder, "-p", str(pid), "-d", "0.5", "-F", "499")
        tap.ok(screen.wait(lambda: "deep90" in screen.text), "the screen is filled")
        ran = live.process_seconds([pid])
        screen.wait(lambda: live.process_seconds([pid]) > ran + 0.6)
        screen.wait(lambda: False, 1)  # one or two refreshes, until the screen shows it
        for name, path in FILES.items():
            path = os.path.join(folder, path)
            screen.type("w")
            screen.wait(lambda: False, 0.1)
            screen.type(os.path.basename(path) + "\r")
            made = screen.wait(lambda p=path: os.path.exists(p))
            screen.wait(lambda: False, 0.1)
            if name == "text":
                tap.ok(made and live.reports(load(path, name))[0].samples > 100, "w writes text")
                continue
            stacks = READERS[name](load(path, name)) if made else {}
            tap.ok(sum(stacks.values()) > 100 and max(map(len, stacks)) > 90, f"w writes {name}")
        screen.type("w")
        screen.wait(lambda: False, 0.3)
        screen.type("\r")
        offered = screen.wait(lambda: any(re.fullmatch(r"flame-\d\d-\d\d-\d\d\.svg", name)
                                          for name in os.listdir(folder)))
        tap.ok(offered, "w proposes a file", str(os.listdir(folder)))
        before = load(os.path.join(folder, "x.svg"), "svg")
        for typed, told in (("x.svg", "File exists"), ("x.xyz", "ends in none of"),
                            ("none/x.svg", "No such file")):
            screen.text = ""
            screen.type("w")
            screen.wait(lambda: False, 0.3)
            screen.type(typed + "\r")
            tap.ok(screen.wait(lambda t=told: t in screen.text), f"{typed}: {told}")
        tap.ok(load(os.path.join(folder, "x.svg"), "svg") == before, "a file is never replaced")
        tap.ok(screen.close() == 0 and len(os.listdir(folder)) == len(FILES) + 1,
               "no other file is left")


def main():
    tap = live.Tap()
    live.need(tap)
    with live.Gentle([CHAIN, "900"]) as process:
        live.wait_busy([process.pid])
        check_files(tap, process.pid)
        check_meta(tap, process.pid)
        check_pipes(tap, process.pid)
        check_interrupt(tap, process.pid)
        check_key(tap, process.pid)
    check_session(tap)
    check_waits(tap)
    tap.done()


main()
