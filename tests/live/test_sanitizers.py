#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 1200 s
"""The program itself, built with sanitizers, among short processes: as a report, and on a screen
through all its views. The unit tests are built with the same sanitizers; `make tsan` builds those of
threaded code with the thread sanitizer.

    tests/live/test_sanitizers.py [asan|tsan]       only this one; asan, or all with SIZE=full, if none

Covers: tui/main.c tui/app/screen.c tui/collect/collector.c
"""

import concurrent.futures
import fcntl
import glob
import os
import pty
import re
import resource
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs", "track")
FULL = os.environ.get("SIZE") == "full"
# The build of the unit tests, and that of `make tsan`.
FLAGS = {"asan": "-fsanitize=address,undefined", "tsan": "-O1 -g -fno-omit-frame-pointer -fsanitize=thread"}
SLICES = 16 if FULL else 5
HERTZ = "499" if FULL else "199"
PATIENCE = 300
COMMS = "^(first|second|brief|run|sh)$"
FOUND = re.compile(r"Sanitizer|runtime error")
SEQUENCE = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|[()].)")
# Each has a fault that its sanitizer must find: otherwise silence would prove nothing. With an argument
# that of asan is a leak.
WRONG = {
    "asan": "#include <stdlib.h>\nint main(int n, char **v)\n{ (void)v; char *volatile p = malloc(1); "
            "if (n == 1) p[n] = 1; for (int i = 0; i < 9; i++) p = malloc(1); return 0; }\n",
    # A thread that ends before the other begins to count leaves no trace, so both begin together.
    "tsan": "#include <pthread.h>\nstatic int n;\nstatic pthread_barrier_t b;\n"
            "static void *f(void *a)\n{ pthread_barrier_wait(&b); for (int i = 0; i < 100000; i++) n++; "
            "return a; }\nint main(void)\n{ pthread_t t; pthread_barrier_init(&b, 0, 2); "
            "pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); return 0; }\n",
}


def options(kind, folder):
    """The environment: findings go to files, since the screen would hide them."""
    log = os.path.join(folder, "found")
    each = f"log_path={log}:exitcode=66:print_stacktrace=1"
    return dict(os.environ, ASAN_OPTIONS=each + ":detect_leaks=1", UBSAN_OPTIONS=each,
                STACKTOP_END_MS="100000",
                TSAN_OPTIONS=each, TERM="xterm-256color", SANITIZER=kind)


def findings(folder, *texts):
    """The contents of the files, which are removed, and those of the texts that have findings."""
    said = ""
    for path in glob.glob(os.path.join(folder, "found*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            said += file.read()
        os.unlink(path)
    return said + "".join(text for text in texts if FOUND.search(text))


def works(tap, kind, folder):
    """True if the compiler has the sanitizer and it finds a known fault."""
    source, binary = os.path.join(folder, "wrong.c"), os.path.join(folder, "wrong")
    with open(source, "w", encoding="ascii") as file:
        file.write(WRONG[kind])
    made = subprocess.run([os.environ.get("CC", "gcc"), *FLAGS[kind].split(), "-pthread", "-o",
                           binary, source], capture_output=True, text=True, check=False)
    if made.returncode:
        tap.skip(kind, "the compiler has no such sanitizer")
        return False
    for what, *arguments in (("fault",), ("leak", "x"))[:1 + (kind == "asan")]:
        done = subprocess.run([binary, *arguments], env=options(kind, folder), capture_output=True, text=True,
                              timeout=60, check=False)
        said = findings(folder, done.stderr)
        if "unexpected memory mapping" in said or "personality" in said:
            tap.skip(kind, "the sanitizer does not run on this kernel")
            return False
        tap.ok(FOUND.search(said) and done.returncode == 66, f"{kind}: finds a known {what}",
               f"exit {done.returncode}")
    return True


def build(tap, kind):
    """Builds the binary; None on failure."""
    binary = os.path.abspath(os.path.join(live.BUILD, kind, "stacktop"))
    command = ["make", "-s", f"-j{os.cpu_count()}"]
    if kind == "asan":
        command += [f"BUILD={live.BUILD}", os.path.join(live.BUILD, "asan", "stacktop")]
    else:
        command += [f"BUILD={os.path.join(live.BUILD, kind)}", f"CFLAGS={FLAGS[kind]}", "WERROR_=", "all"]
    done = subprocess.run(command, cwd=os.path.join(HERE, "..", ".."), capture_output=True, text=True,
                          env={name: value for name, value in os.environ.items()
                               if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}, check=False)
    tap.ok(done.returncode == 0, f"{kind}: is built", done.stderr.strip()[-300:])
    return binary if done.returncode == 0 else None


def batch(kind, binary, folder):
    """JSON until there are enough refreshes and stacks of programs that exec each other, recorded; then
    the recording as text. Other programs are not named here, but on the screen."""
    session, slices, chain, unwound = os.path.join(folder, "session"), 0, 0, 0

    def enough(part):
        nonlocal slices, chain, unwound
        slices += 1
        unwound += part.report["complete_walks"]
        chain += sum(process["samples"] for process in part.report["processes"]
                     if process["name"] in ("first", "second"))
        return slices >= SLICES and chain > 0 and unwound > 0

    env = options(kind, folder)
    with watch.Watch("-d", "0.5", "-F", HERTZ, "--comm", COMMS, "-w", session, binary=binary, env=env) as top:
        top.until(enough, PATIENCE)
    done = subprocess.run([binary, "-b", "-r", session], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=PATIENCE,
                          env=env, check=False)
    said = findings(folder, top.said(), done.stderr)
    again = sum(report.samples for report in live.reports(done.stdout))
    return [(top.status == 0 and slices >= SLICES and chain > 0 and unwound > 0 and not said,
             f"{kind}: a report", f"exit {top.status}, {slices} refreshes, {chain} samples of a chain, "
             f"{unwound} stacks complete", said),
            (done.returncode == 0 and again > 0, f"{kind}: its recording, replayed",
             f"exit {done.returncode}, {again} samples", "")]


class Screen:
    """The program on a pseudo-terminal; keeps its output."""

    def __init__(self, command, env):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env,
                                        start_new_session=True)
        os.close(slave)
        self.output = b""

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.output += os.read(self.master, 65536)
                except OSError:
                    return

    def until(self, pattern, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if re.search(pattern, SEQUENCE.sub(b"", self.output)):
                return True
            self.read(0.1)
        return False

    def drawn(self, seconds=20):
        """Waits, after a key, until output came and then paused."""
        end, before = time.monotonic() + seconds, len(self.output)
        while time.monotonic() < end and len(self.output) == before and self.process.poll() is None:
            self.read(0.05)
        self.read(0.4 if FULL else 0.15)

    def type(self, keys):
        os.write(self.master, keys)

    def close(self, seconds):
        """Ends it, whatever view is open."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            self.type(b"\x1b")
            self.read(0.5)
            self.type(b"q")
            self.read(2)
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        os.close(self.master)
        return status


def screen(kind, binary, folder):
    """Types all keys; the Shards view comes last, where tables are dropped and loaded again."""
    top = Screen([binary, "-d", "0.3", "-F", HERTZ], options(kind, folder))
    shown = top.until(rb"complete +\d")
    for keys in (b"\r", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"?", b"\x1b", b"1", b"\x1b[B",
                 b"\x1b[B", b"\r", b"f", b"\x1b", b" ", b" ", b"/s\r", b"R", b"\x1b", b"7", b"R",
                 b"\x1b", b"1"):
        if top.process.poll() is not None:
            break
        top.type(keys)
        top.drawn()
    alive = top.process.poll() is None
    status = top.close(PATIENCE)
    said = findings(folder, top.output.decode("utf-8", "replace"))
    return [(shown and alive and status == 0 and not said, f"{kind}: a screen",
             f"exit {status}, {len(top.output)} bytes" + ("" if shown else ", nothing was sampled") +
             ("" if alive else ", ended by itself"), said)]


def check(tap, binaries, folder):
    """Runs all at once and reports their results in order."""
    first, second = (os.path.join(folder, name) for name in ("first", "second"))
    chain = f"while :; do {first} 5 {second} 30; done"
    spawn = [os.path.join(folder, "run"), "spawn", "50", "500", os.path.join(folder, "brief")]
    with live.Load(["sh", "-c", chain]), live.Load(spawn), \
            concurrent.futures.ThreadPoolExecutor() as pool:
        runs = []
        for kind, binary in binaries.items():
            for run in (batch, screen):
                own = os.path.join(folder, f"{kind}-{run.__name__}")
                os.mkdir(own)
                runs.append(pool.submit(run, kind, binary, own))
        for run in runs:
            for good, name, detail, said in run.result():
                tap.ok(good, name, detail)
                tap.note(said[:20000])


def compile_all(folder):
    def cc(out, source, *flags):
        live.cc(os.path.join(folder, out), os.path.join(SOURCES, source), *flags)

    cc("first", "chain.c", "-DNAME=first", "-DPAD=64")
    cc("second", "chain.c", "-DNAME=second", "-DPAD=256")
    cc("brief", "brief.c", "-static")
    cc("run", "run.c", "-pthread", "-ldl")


def main():
    tap = live.Tap()
    live.need(tap)
    # Shadow memory counts as data, which may be limited.
    resource.setrlimit(resource.RLIMIT_DATA, (resource.getrlimit(resource.RLIMIT_DATA)[1],) * 2)
    with tempfile.TemporaryDirectory(prefix="stacktop-sanitizers-") as folder:
        os.chmod(folder, 0o755)
        compile_all(folder)
        kinds = sys.argv[1:] or (list(FLAGS) if FULL else ["asan"])
        binaries = {kind: build(tap, kind) for kind in kinds if works(tap, kind, folder)}
        check(tap, {kind: binary for kind, binary in binaries.items() if binary}, folder)
    tap.done()


if __name__ == "__main__":
    main()
