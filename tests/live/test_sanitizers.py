#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""The program itself, built with sanitizers, among processes that come and go: as a report, and on a
screen through all its views. The unit tests under the same sanitizers are `make asan` and `make tsan`.

    tests/live/test_sanitizers.py [asan|tsan]       only this one

Covers: tui/main.c tui/screen.c tui/engine.c
"""

import fcntl
import glob
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs", "track")
COMMON = "-O1 -g -fno-omit-frame-pointer "
FLAGS = {"asan": COMMON + "-fsanitize=address,undefined", "tsan": COMMON + "-fsanitize=thread"}
SECONDS = 8
FOUND = re.compile(r"Sanitizer|runtime error")
# Each is wrong in a way that its sanitizer has to find: or nothing that is silent here says anything.
WRONG = {
    "asan": "#include <stdlib.h>\nint main(int n, char **v)\n{ (void)v; char *p = malloc(1); "
            "p[n] = 1; return p[n] + n - 2; }\n",
    "tsan": "#include <pthread.h>\nstatic int n;\nstatic void *f(void *a) { n++; return a; }\n"
            "int main(void)\n{ pthread_t t; pthread_create(&t, 0, f, 0); n++; "
            "pthread_join(t, 0); return 0; }\n",
}


def options(kind, folder):
    """The environment: findings go to files, where no screen hides them."""
    log = os.path.join(folder, "found")
    each = f"log_path={log}:exitcode=66:print_stacktrace=1"
    return dict(os.environ, ASAN_OPTIONS=each + ":detect_leaks=1", UBSAN_OPTIONS=each,
                TSAN_OPTIONS=each, TERM="xterm-256color", SANITIZER=kind)


def findings(folder, *texts):
    """What the files say, which are removed, and the texts."""
    said = ""
    for path in glob.glob(os.path.join(folder, "found*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            said += file.read()
        os.unlink(path)
    return said + "".join(text for text in texts if FOUND.search(text))


def works(tap, kind, folder):
    """Is there such a sanitizer, and does it find what it should?"""
    source, binary = os.path.join(folder, "wrong.c"), os.path.join(folder, "wrong")
    with open(source, "w", encoding="ascii") as file:
        file.write(WRONG[kind])
    made = subprocess.run([os.environ.get("CC", "gcc"), *FLAGS[kind].split(), "-pthread", "-o",
                           binary, source], capture_output=True, text=True, check=False)
    if made.returncode:
        tap.skip(kind, "the compiler has no such sanitizer")
        return False
    done = subprocess.run([binary], env=options(kind, folder), capture_output=True, text=True,
                          timeout=60, check=False)
    said = findings(folder, done.stderr)
    if "unexpected memory mapping" in said or "personality" in said:
        tap.skip(kind, "the sanitizer does not run on this kernel")
        return False
    tap.ok(FOUND.search(said) and done.returncode == 66, f"{kind}: finds what is wrong",
           f"exit {done.returncode}")
    return True


def build(tap, kind):
    """The binary; None. Warnings are the ordinary build's: sanitizers make a compiler doubt what is right."""
    folder = os.path.join(live.BUILD, kind)
    done = subprocess.run(["make", "-s", "-j2", f"BUILD={folder}", f"CFLAGS={FLAGS[kind]}", "WERROR_=",
                           "all"], cwd=os.path.join(HERE, "..", ".."), capture_output=True, text=True,
                          env={name: value for name, value in os.environ.items()
                               if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}, check=False)
    tap.ok(done.returncode == 0, f"{kind}: is built", done.stderr.strip()[-300:])
    return os.path.abspath(os.path.join(folder, "stacktop")) if done.returncode == 0 else None


def batch(tap, kind, binary, folder):
    done = subprocess.run([binary, "-b", "-d", "1", "-n", str(SECONDS), "-F", "499"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=200, env=options(kind, folder), check=False)
    said = findings(folder, done.stderr)
    samples = sum(report.samples for report in live.reports(done.stdout))
    tap.ok(done.returncode == 0 and samples > 0 and not said, f"{kind}: a report",
           f"exit {done.returncode}, {samples} samples")
    tap.note(said[:20000])


class Screen:
    """The program on a pseudo-terminal, whose output is read and kept."""

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

    def until(self, word, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and word not in self.output and self.process.poll() is None:
            self.read(0.1)
        return word in self.output

    def type(self, keys):
        os.write(self.master, keys)

    def close(self, seconds):
        """Whatever is open on the screen."""
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


def screen(tap, kind, binary, folder):
    """Keys as they come; the shards' view last, where tables are dropped and loaded again."""
    top = Screen([binary, "-d", "0.3", "-F", "499"], options(kind, folder))
    shown = top.until(b"complete", 60) or top.until(b"cpu-clock", 1)
    for keys in (b"\r", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"?", b"\x1b", b"1", b"\x1b[B",
                 b"\x1b[B", b"\r", b"f", b"\x1b", b" ", b" ", b"/s\r", b"R", b"\x1b", b"7", b"R",
                 b"\x1b", b"1"):
        if top.process.poll() is not None:
            break
        top.type(keys)
        top.read(0.4)
    alive = top.process.poll() is None
    status = top.close(60)
    said = findings(folder, top.output.decode("utf-8", "replace"))
    tap.ok(shown and alive and status == 0 and not said, f"{kind}: a screen",
           f"exit {status}, {len(top.output)} bytes" + ("" if alive else ", ended by itself"))
    tap.note(said[:20000])


def check(tap, kind, folder):
    if not works(tap, kind, folder):
        return
    binary = build(tap, kind)
    if not binary:
        return
    first, second = (os.path.join(folder, name) for name in ("first", "second"))
    chain = f"while :; do {first} 5 {second} 30; done"
    spawn = [os.path.join(folder, "run"), "spawn", "50", "500", os.path.join(folder, "brief")]
    with live.Load(["sh", "-c", chain]), live.Load(spawn):
        batch(tap, kind, binary, folder)
        screen(tap, kind, binary, folder)


def compile_all(folder):
    def cc(out, source, *flags):
        subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-o",
                        os.path.join(folder, out), os.path.join(SOURCES, source), *flags],
                       check=True)

    cc("first", "chain.c", "-DNAME=first", "-DPAD=64")
    cc("second", "chain.c", "-DNAME=second", "-DPAD=256")
    cc("brief", "brief.c", "-static")
    cc("run", "run.c", "-pthread", "-ldl")


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-sanitizers-") as folder:
        os.chmod(folder, 0o755)
        compile_all(folder)
        for kind in FLAGS:
            if not sys.argv[1:] or kind in sys.argv[1:]:
                check(tap, kind, folder)
    tap.done()


if __name__ == "__main__":
    main()
