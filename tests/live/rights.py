# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights that tests need. Each is tried: a seccomp filter denies a call whatever the capabilities, and
CAP_SYS_ADMIN stands for many of the others."""

import ctypes
import functools
import os
import platform
import struct

BPF, PERF_EVENT_OPEN = {"x86_64": (321, 298), "aarch64": (280, 241)}.get(platform.machine(), (-1, -1))
BPF_MAP_CREATE, BPF_MAP_TYPE_LPM_TRIE, BPF_F_NO_PREALLOC = 0, 11, 1
PERF_TYPE_SOFTWARE = 1
CLONE_NEWNS = 0x20000

LIBC = ctypes.CDLL(None)


def made(number, *arguments):
    """Whether a system call gives a descriptor."""
    fd = LIBC.syscall(number, *arguments)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def map_made():
    """A kind of map that users without the right cannot make even where others are allowed."""
    attr = struct.pack("=5I", BPF_MAP_TYPE_LPM_TRIE, 8, 8, 1, BPF_F_NO_PREALLOC).ljust(128, b"\0")
    return made(BPF, BPF_MAP_CREATE, attr, len(attr))


def cpu_sampled():
    """All processes of a CPU, in kernel mode, too."""
    attr = struct.pack("=2I2Q", PERF_TYPE_SOFTWARE, 64, 0, 10000000).ljust(64, b"\0")
    return made(PERF_EVENT_OPEN, attr, -1, min(os.sched_getaffinity(0)), -1, 0)


def in_child(action):
    """Whether a child can do what changes a process for good."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if action() else 1)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def scheduled():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return True


TRIALS = {
    "CAP_BPF": map_made,
    "CAP_PERFMON": cpu_sampled,
    "CAP_SYS_ADMIN": lambda: in_child(lambda: LIBC.unshare(CLONE_NEWNS) == 0),
    "CAP_SYS_NICE": lambda: in_child(scheduled),
}


@functools.cache
def granted(right):
    return TRIALS[right]()


def missing(*rights):
    """The first of the rights that this process lacks, or None."""
    return next((right for right in rights if not granted(right)), None)
