#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system with a program's code stops answering, before stacktop starts or while it runs: the
report and the first screen appear, keys are answered, programs that start later are walked, and q and
SIGTERM end stacktop, all while the file system still hangs. While it answers, its files are walked and
named like any others.

Covers: bpf/tracker/opener.c bpf/tracker/openhelper.c bpf/tracker/openfile.c
"""

import contextlib
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60  # for what takes a second or two; a hang would never end
CC = os.environ.get("CC", "gcc")

# Maps the file when it reads a line, and uses the CPU.
MAPPER = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
file = os.open(sys.argv[1], os.O_RDONLY)
print("open", flush=True)
sys.stdin.readline()
libc.mmap(None, 4096, 5, 2, file, 0)  # PROT_READ | PROT_EXEC, MAP_PRIVATE: reads nothing from the file
print("mapped", flush=True)
while True:
    pass
"""

SPINNER = """
#include <stdio.h>
static volatile unsigned long n;
__attribute__((noinline)) void hung_inner(void) { for (int i = 0; i < 1000000; i++) n++; }
__attribute__((noinline)) void hung_outer(void) { hung_inner(); n++; }
int main(void) { puts("runs"); fflush(stdout); for (;;) hung_outer(); }
"""


class Served:
    """The file system."""

    def __init__(self, program, folder, file, name="mapped", within=()):
        self.folder = folder
        self.path = os.path.join(folder, name)
        self.server = subprocess.Popen([*within, program, folder, file, name], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.within = within
        self.works = self.server.stdout.readline() == "ready\n"

    def hang(self):
        self.server.send_signal(signal.SIGUSR1)
        assert self.server.stdout.readline() == "hung\n"

    def close(self):
        """Readers that wait for it continue with an error."""
        self.server.kill()
        self.server.wait()
        if self.works:
            subprocess.run([*self.within, "umount", "--lazy", self.folder], check=False)


class Mapper:
    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, "-c", MAPPER, path], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        live.weigh(self.process.pid, 5)
        assert self.process.stdout.readline() == "open\n"

    def map(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "mapped\n"

    def close(self):
        self.process.kill()
        self.process.wait()


class Reports:
    """stacktop -b in the background."""

    def __init__(self, *options):
        self.out = tempfile.TemporaryFile()
        self.at = 0
        self.process = subprocess.Popen(
            [live.STACKTOP, "-b", "-d", "0.5", "-K", "--format=folded", *options],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.DEVNULL)

    def shows(self, *what):
        """Waits for a line, written after the call, with all of these words."""
        self.at = os.fstat(self.out.fileno()).st_size
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            size = os.fstat(self.out.fileno()).st_size
            text = os.pread(self.out.fileno(), size - self.at, self.at).decode("utf-8", "replace")
            if any(all(part in line for part in what) for line in text.splitlines()):
                return True
            time.sleep(0.1)
        return False

    def ends(self):
        self.process.send_signal(signal.SIGTERM)
        return ends(self.process)


def ends(process):
    """The exit status; None when it does not end."""
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return None


class Screen:
    def __init__(self):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "xterm"
            os.execv(live.STACKTOP, [live.STACKTOP, "-d", "0.5"])
        self.text = ""

    def shows(self, what):
        self.text = ""
        end = time.monotonic() + PATIENCE
        while what not in self.text and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        return what in self.text

    def key(self, key):
        os.write(self.fd, key.encode())

    def ends(self):
        """The exit status; None when it does not end."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    os.read(self.fd, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        return None


def spin(*command):
    load = live.Load(command, stdout=subprocess.PIPE)
    process = load.__enter__()
    assert process.stdout.readline() == b"runs\n"
    return load


def check_before(tap):
    """The file system hangs when stacktop starts."""
    process = subprocess.Popen([live.STACKTOP, "-b", "-d", "0.5", "-n", "1"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    status = ends(process)
    tap.ok(status == 0, "hung before the start: the report appears", f"exit {status}")
    for how in ("q", "SIGTERM"):
        screen = Screen()
        tap.ok(screen.shows("COMMAND"), f"hung before the start: the screen appears, ended by {how}")
        if how == "q":
            screen.key("q")
        else:
            screen.key(":~")
            tap.ok(screen.shows("~"), "keys are answered")
            os.kill(screen.pid, signal.SIGTERM)
        status = screen.ends()
        tap.ok(status == (0 if how == "q" else 128 + signal.SIGTERM), f"{how} ends it",
               f"exit {status}")


def check_live(tap, served, spinner, folder):
    """A program on it is named while it answers. Then it hangs, and a file that was opened before is
    mapped."""
    top, mapper, loads = Reports(), Mapper(served.path), []
    try:
        loads.append(spin(served.path))
        tap.ok(top.shows("main;hung_outer;hung_inner "), "a program on it is walked and named")
        served.hang()
        mapper.map()
        late = os.path.join(folder, "late")
        shutil.copy(spinner, late)
        loads.append(spin(late))
        tap.ok(top.shows("late;", "main;hung_outer;hung_inner "), "so is a program that starts later")
        status = top.ends()
        tap.ok(status == 0, "SIGTERM ends it", f"exit {status}")
    finally:
        served.close()
        mapper.close()
        for load in loads:
            load.__exit__()


@contextlib.contextmanager
def server_built(tap):
    """(folder, server): a folder and the program of the mounts in it. Ends the test without FUSE."""
    live.need(tap)
    if not os.path.exists("/dev/fuse"):
        tap.skip("everything", "there is no /dev/fuse")
        tap.done()
    folder = tempfile.mkdtemp(prefix="stacktop-hung-", dir="/var/tmp")
    try:
        server = os.path.join(folder, "hungfs")
        subprocess.run([CC, "-O1", "-o", server, os.path.join(HERE, "programs", "hungfs.c")],
                       check=True)
        yield folder, server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    tap = live.Tap()
    with server_built(tap) as (folder, server):
        spinner = os.path.join(folder, "spinner")
        subprocess.run([CC, "-O1", "-fno-optimize-sibling-calls", "-o", spinner, "-x", "c", "-"],
                       input=SPINNER.encode(), check=True)
        for check in ("before", "live"):
            point = os.path.join(folder, check)
            os.mkdir(point)
            served = Served(server, point, spinner)
            if not served.works:
                tap.skip("everything", f"cannot mount: {served.server.stderr.read().strip()}")
                served.close()
                break
            if check == "before":
                mapper = Mapper(served.path)
                try:
                    mapper.map()
                    served.hang()
                    check_before(tap)
                finally:
                    served.close()
                    mapper.close()
            else:
                check_live(tap, served, spinner, folder)
    tap.done()


if __name__ == "__main__":
    main()
