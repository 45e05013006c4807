#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 1200 s
"""Sources of names are on file systems that stop answering: a process's perf map in /tmp, a jitdump
that it maps, debug files beside a program and below its root. While they answer, the first report has
their names, like those of a debug file and a perf map on file systems that only the process sees. Then
they hang, before stacktop starts and while it runs: the report and the first screen appear, other
names are there, and q and SIGTERM end it.

Covers: bpf/tracker/asked.c symbols/files/fileasker.c symbols/files/localfs.c symbols/files/rootfile.c
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import test_hung as hung  # noqa: E402

RUNS = 5
hung.PATIENCE = 180     # on a very busy machine, where a report takes minutes
NAMED = "main;hung_outer;hung_inner "

SPINNER = """
#include <stdio.h>
#include <unistd.h>
static volatile unsigned long n;
__attribute__((noinline)) void hung_inner(void) { for (int i = 0; i < 1000000; i++) n++; }
__attribute__((noinline)) void hung_outer(void) { hung_inner(); n++; }
int main(void) { puts("runs"); fflush(stdout); for (;;) { hung_outer(); usleep(20000); } }
"""

# Prints the address of its code, and runs it after it reads a line; if the line names a file, maps that
# file executable first.
LOOP = """
import ctypes, mmap, os, sys, time
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b940420f00ffc975fcc3"))  # counts from a million down to 0
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
print(at, flush=True)
path = sys.stdin.readline().strip()
if path:
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
    libc.mmap(None, 4096, 5, 2, os.open(path, os.O_RDONLY), 0)  # PROT_READ | PROT_EXEC, MAP_PRIVATE
print("runs", flush=True)
while True:
    ctypes.CFUNCTYPE(None)(at)()
    time.sleep(0.02)
"""


class Looper:
    """A process with made-up code in a mount namespace of its own."""

    def __init__(self, stack):
        self.process = subprocess.Popen(["unshare", "--mount", sys.executable, "-c", LOOP], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.callback(self.close)
        live.weigh(self.process.pid, 5)
        self.at = int(self.process.stdout.readline())
        self.within = ["nsenter", "--mount", "--root", "--target", str(self.process.pid)]

    def runs(self, path=""):
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "runs\n"

    def map(self, folder, name):
        """Creates a file in the folder, with its perf map."""
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{self.at:x} 1000 {name}\n")
        return path

    def close(self):
        self.process.kill()
        self.process.wait()


class Stage:
    """Programs and file systems that last until the end."""

    def __init__(self, stack, folder):
        self.stack, self.folder = stack, folder
        self.server = os.path.join(folder, "hungfs")
        self.spinner = os.path.join(folder, "spinner")
        self.served = []
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([hung.CC, "-O1", "-o", self.server,
                        os.path.join(here, "programs", "hungfs.c")], check=True)
        subprocess.run([hung.CC, "-O1", "-g", "-static", "-fno-optimize-sibling-calls",
                        "-Wl,--build-id=0x0123456789abcdef", "-o", self.spinner, "-x", "c", "-"],
                       input=SPINNER.encode(), check=True)

    def path(self, *parts):
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def serve(self, point, file, name, within=()):
        """Serves the file; False when it cannot be mounted."""
        os.makedirs(point, exist_ok=True)
        served = hung.Served(self.server, point, file, name, within)
        self.stack.callback(served.close)
        self.served.append(served)
        return served.works

    def hang(self):
        for served in self.served:
            served.hang()

    def spin(self, *command):
        load = hung.spin(*command)
        self.stack.callback(load.__exit__)

    def stripped(self, name, *options):
        path = self.path(name)
        subprocess.run(["objcopy", "--strip-all", *options, self.spinner, path], check=True)
        return path

    def add_debug_link(self):
        """The folder .debug beside a program, with its debug file, is served."""
        debug = self.path("linked.debug")
        subprocess.run(["objcopy", "--only-keep-debug", self.spinner, debug], check=True)
        program = self.stripped("linked/linked", "--remove-section=.note.gnu.build-id",
                                f"--add-gnu-debuglink={debug}")
        works = self.serve(self.path("linked/.debug"), debug, "linked.debug")
        self.spin(program)
        return works

    def add_root(self, name):
        """A program with a root of its own."""
        program = self.stripped(f"{name}/{name}")
        root = os.path.dirname(program)
        os.makedirs(os.path.join(root, "usr", "lib", "debug", ".build-id", "01"))
        return root

    def add_own_debug(self):
        """The debug files are in a tmpfs that only the process sees."""
        root = self.add_root("own")
        debug = os.path.join(root, "usr", "lib", "debug")
        self.spin("unshare", "--mount", "sh", "-c",
                  f"mount -t tmpfs none {debug} && mkdir -p {debug}/.build-id/01 && "
                  f"cp {self.spinner} {debug}/.build-id/01/23456789abcdef.debug && "
                  f"exec chroot {root} /own")

    def add_root_debug(self):
        """A hanging file system below a root, where debug files would be; it has none."""
        root = self.add_root("chrooted")
        works = self.serve(os.path.join(root, "usr", "lib", "debug"), self.spinner, "none")
        self.spin("chroot", root, "/chrooted")
        return works

    def add_maps(self):
        """Perf maps, one served, one in a tmpfs of the process."""
        served, own = Looper(self.stack), Looper(self.stack)
        pid = served.process.pid
        works = self.serve("/tmp", served.map(self.folder, "served_map"), f"perf-{pid}.map",
                           served.within)
        path = own.map(self.folder, "own_map")
        subprocess.run([*own.within, "sh", "-c", "mount -t tmpfs none /tmp && "
                        f"cp {path} /tmp/perf-{own.process.pid}.map"], check=True)
        served.runs()
        own.runs()
        return works

    def add_dump(self):
        """Maps a file with a jitdump's name."""
        looper = Looper(self.stack)
        point = self.path("dump")
        works = self.serve(point, looper.map(self.folder, "dump_file"), "jit-1.dump",
                           looper.within)
        looper.runs(os.path.join(point, "jit-1.dump"))
        return works


def check_answering(tap):
    """All names are in the first report; on a very busy machine the answers may come later."""
    wanted = {"a debug file that is served": rf"^linked;.*{NAMED}",
              "a debug file in a file system of the process": rf"^own;.*{NAMED}",
              "a perf map that is served": r"^python3.*;served_map ",
              "a perf map in a file system of the process": r"^python3.*;own_map ",
              "a stripped program beside them": r"^chrooted;.*;chrooted\+0x[0-9a-f]+ "}
    text = ""
    for _ in range(RUNS):
        text += live.stacktop("-b", "-d", "3", "-n", "1", "-K", "--format=folded", "-F",
                              live.hertz(499), timeout=hung.PATIENCE)[0]
        if all(re.search(pattern, text, re.M) for pattern in wanted.values()):
            break
    for what, pattern in wanted.items():
        found = re.search(pattern, text, re.M)
        tap.ok(found, f"names of {what}", "" if found else text)


def check_hung(tap, stage):
    """The file systems hang when stacktop starts, beside a program that has names."""
    stage.spin(shutil.copy(stage.spinner, stage.path("beside")))
    process = subprocess.Popen([live.STACKTOP, "-b", "-d", "2", "-n", "2", "-K", "--format=folded"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        process.communicate(timeout=hung.PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
    tap.ok(process.returncode == 0, "hung: two reports appear", f"exit {process.returncode}")
    top = hung.Reports()
    tap.ok(top.shows("beside;", NAMED), "hung: other programs are named")
    tap.ok(top.shows("linked;", ";linked+0x"),
           "hung: functions without names are told apart by their starts")
    status = top.ends()
    tap.ok(status == 0, "hung: SIGTERM ends it", f"exit {status}")
    screen = hung.Screen()
    tap.ok(screen.shows("COMMAND"), "hung: the screen appears")
    screen.key(":~")
    tap.ok(screen.shows("~"), "hung: keys are answered")
    screen.key("\x1b")
    screen.key("q")
    status = screen.ends()
    tap.ok(status == 0, "hung: q ends it", f"exit {status}")


def check_live(tap, stage):
    """The file systems hang while stacktop runs."""
    top = hung.Reports()
    tap.ok(top.shows("linked;", NAMED), "live: names are there")
    stage.hang()
    stage.spin(shutil.copy(stage.spinner, stage.path("late")))
    tap.ok(top.shows("late;", NAMED), "live: a program that starts after that is named")
    tap.ok(top.shows("late;", NAMED), "live: reports go on")
    status = top.ends()
    tap.ok(status == 0, "live: SIGTERM ends it", f"exit {status}")


def main():
    tap = live.Tap()
    live.need(tap)
    if not os.path.exists("/dev/fuse") or platform.machine() != "x86_64":
        tap.skip("everything", "needs /dev/fuse and x86-64")
        tap.done()
    folder = tempfile.mkdtemp(prefix="stacktop-hungnames-", dir="/var/tmp")
    try:
        with contextlib.ExitStack() as stack:
            stage = Stage(stack, folder)
            works = [add() for add in (stage.add_debug_link, stage.add_root_debug, stage.add_maps,
                                       stage.add_dump)]
            if not all(works):
                tap.skip("everything", "cannot mount")
                tap.done()
            stage.add_own_debug()
            check_answering(tap)
            check_live(tap, stage)
            check_hung(tap, stage)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
