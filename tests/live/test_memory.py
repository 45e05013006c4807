#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
stacktop in a control group of 512 MiB, beside processes of another user that try to make it use more:
one with a file of more call frame information than any program has, and one with thousands of mappings
that forks all the time, each child a process to remember. stacktop is not killed, goes on reporting,
and names what it gave up.
Covers: symbols/base/memory.c symbols/base/quota.c bpf/tracker/mapping.c unwind/cfifile.c
"""

import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import live

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))
import elves  # noqa: E402

LIMIT = 512 << 20
FDES = 2000000      # of 24 bytes: 46 MiB
USER = 65534
GIVE_UP = 90        # seconds, on a busy machine
GOES_ON = 3

# Maps the given descriptor `times` times, executable; with `forks` it then forks all the time.
ATTACKER = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
fd, times, forks, user = map(int, sys.argv[1:])
os.setgroups([])
os.setgid(user)
os.setuid(user)
libc.prctl(4, 1, 0, 0, 0) # PR_SET_DUMPABLE: /proc shows its user
size = os.fstat(fd).st_size
for _ in range(times):
    libc.mmap(None, size, 5, 2, fd, 0)
print("ready", flush=True)
end = time.monotonic() + 300
while time.monotonic() < end:
    if not forks:
        time.sleep(1)
        continue
    if not os.fork():
        os._exit(0)
    os.wait()
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


class Group:
    """A memory control group of either version; OSError where none can be made."""

    def __init__(self):
        name = f"stacktop-test-{os.getpid()}"
        self.kills_at = "memory.events"
        if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            if "memory" not in read("/sys/fs/cgroup/cgroup.subtree_control").split():
                write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")
            self.path = "/sys/fs/cgroup/" + name
            limits = (("memory.max", True), ("memory.swap.max", False))
        else:
            own = re.search(r"^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$", read("/proc/self/cgroup"), re.M)
            if not own:
                raise OSError("no memory controller")
            self.path = os.path.join("/sys/fs/cgroup/memory", own.group(1).lstrip("/"), name)
            limits = (("memory.limit_in_bytes", True), ("memory.memsw.limit_in_bytes", False))
            self.kills_at = "memory.oom_control"
        os.mkdir(self.path)
        try:
            for file, needed in limits:
                if needed or os.path.exists(os.path.join(self.path, file)):
                    write(os.path.join(self.path, file),
                          "0" if file == "memory.swap.max" else str(LIMIT))
            self.kills()
        except (OSError, ValueError):
            self.remove()
            raise

    def enter(self):
        """Runs in the child that becomes stacktop."""
        write(os.path.join(self.path, "cgroup.procs"), str(os.getpid()))

    def kills(self):
        found = re.search(r"^oom_kill (\d+)$", read(os.path.join(self.path, self.kills_at)), re.M)
        if not found:
            raise ValueError("the kernel does not count")
        return int(found.group(1))

    def remove(self):
        # Ended processes leave the group a moment later.
        end = time.monotonic() + 10
        while True:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                if time.monotonic() > end:
                    return
                time.sleep(0.1)


def frames(path):
    """A CIE and identical FDEs, as .debug_frame may have them."""
    body = struct.pack("<I", 0xffffffff) + bytes([1, 0, 1, 0x78, 16, 0x0c, 7, 8])
    fde = struct.pack("<IIQQ", 20, 0, elves.TEXT, 16)
    elves.write(path, [elves.Section(".debug_frame",
                                     struct.pack("<I", len(body)) + body + fde * FDES)])


@contextlib.contextmanager
def attacker(path, times, forks):
    fd = os.open(path, os.O_RDONLY)
    try:
        with live.Load([sys.executable, "-c", ATTACKER, str(fd), str(times), str(int(forks)), str(USER)],
                       pass_fds=(fd,), stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            yield
    finally:
        os.close(fd)


def wait_for(process, errors, wanted):
    """Those of the wanted messages that came in time."""
    end = time.monotonic() + GIVE_UP
    while time.monotonic() < end and process.poll() is None:
        told = os.pread(errors.fileno(), 1 << 20, 0).decode("utf-8", "replace")
        if all(re.search(one, told) for one in wanted):
            return told
        time.sleep(0.2)
    return os.pread(errors.fileno(), 1 << 20, 0).decode("utf-8", "replace")


def main():
    tap = live.Tap()
    live.need(tap)
    try:
        group = Group()
    except (OSError, ValueError) as error:
        tap.skip("a control group of 512 MiB", f"none can be made: {error}")
        tap.done()
    wanted = (r"no unwind table for frames: more CFI", r"too many mappings for the memory")
    with tempfile.TemporaryDirectory(dir=live.WORK) as folder, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as errors:
        frames(os.path.join(folder, "frames"))
        write(os.path.join(folder, "page"), "x" * 4096)
        with attacker(os.path.join(folder, "frames"), 1, False), \
                attacker(os.path.join(folder, "page"), 8000, True), \
                attacker(os.path.join(folder, "page"), 8000, True):
            process = subprocess.Popen([live.STACKTOP, "-b", "-d", "1"], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=errors, preexec_fn=group.enter)
            told = wait_for(process, errors, wanted)
            time.sleep(GOES_ON)
        alive = process.poll() is None
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        kills = group.kills()
        group.remove()
        tap.ok(kills == 0, "no process in the group is killed", f"{kills}")
        tap.ok(alive and status == 0, "stacktop goes on and ends on request", f"{status}")
        for one in wanted:
            tap.ok(re.search(one, told), f"it reports what it gave up: {one}")
        reports = os.pread(out.fileno(), 1 << 24, 0).decode("utf-8", "replace")
        tap.ok(len(re.findall(r"^stacktop  ", reports, re.M)) >= 2, "it reports")
        tap.note(told)
    tap.done()


main()
