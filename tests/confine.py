#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command with the rights of a default Docker container: root, but with 14 capabilities and a
filter that denies the system calls of the others.

    tests/confine.py COMMAND...

Like a container, the command has its own PID and mount namespaces, in which /sys and /proc/sys are read
only and /proc/kcore is empty. Within a container the command keeps what that has left.
"""

import ctypes
import os
import platform
import signal
import struct
import sys

# CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, NET_RAW, SYS_CHROOT,
# MKNOD, AUDIT_WRITE, SETFCAP
CAPABILITIES = 0xa80425fb
CAPABILITIES_MAX = 64

# What Docker's profile denies without further capabilities: numbers on x86-64 and arm64, -1 where the
# machine has no such call.
DENIED = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "clock_adjtime": (305, 266),
    "clock_settime": (227, 112), "delete_module": (176, 106), "fanotify_init": (300, 262),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430),
    "fspick": (433, 433), "get_mempolicy": (239, 236), "init_module": (175, 105),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioperm": (173, -1), "iopl": (172, -1), "kcmp": (312, 272), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "mbind": (237, 235), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pivot_root": (155, 41), "process_madvise": (440, 440),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218),
    "set_mempolicy": (238, 237), "setdomainname": (171, 162), "sethostname": (170, 161),
    "setns": (308, 268), "settimeofday": (164, 170), "swapoff": (168, 225), "swapon": (167, 224),
    "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
ARCHES = {"x86_64": (0, 0xc000003e, 56), "aarch64": (1, 0xc00000b7, 220)}   # column, AUDIT_ARCH_*, clone
CLONE3 = 435
NAMESPACES = 0x7e020000     # all CLONE_NEW*
EPERM, ENOSYS = 1, 38

CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = \
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 22, 23, 24, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION = 0x20080522

LIBC = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    """A function of libc, whose error is raised."""
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), f"{function.__name__}: {os.strerror(ctypes.get_errno())}")


def control(option, *arguments):
    words = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in arguments]
    call(LIBC.prctl, option, *words, *[ctypes.c_ulong(0)] * (4 - len(words)))


def mount(source, target, kind, flags):
    call(LIBC.mount, source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), None)


def read_only(path):
    """Each mount has flags of its own."""
    with open("/proc/self/mountinfo", encoding="ascii") as file:
        points = [line.split()[4] for line in file]
    for point in points:
        if point == path or point.startswith(path + "/"):
            mount("none", point, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)


def separate():
    """Enters new namespaces and returns in their first process, which dies with the caller."""
    call(LIBC.unshare, CLONE_NEWNS | CLONE_NEWPID)
    pid = os.fork()
    if pid:
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # a terminal's goes to both
        os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xff)
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("/proc/sys", "/proc/sys", "", MS_BIND)
    read_only("/proc/sys")
    read_only("/sys")
    if os.path.exists("/proc/kcore"):
        mount("/dev/null", "/proc/kcore", "", MS_BIND)


def filter_calls():
    """Without CAP_SYS_ADMIN a filter needs that no exec gains rights."""
    column, arch, clone = ARCHES[platform.machine()]
    code = []

    def add(operation, value, true=0, false=0):
        code.append(struct.pack("=HBBI", operation, true, false, value))

    load, equal, any_bit, end = 0x20, 0x15, 0x45, 0x06
    allow, deny = 0x7fff0000, 0x00050000
    add(load, 4)    # seccomp_data.arch
    add(equal, arch, 1, 0)
    add(end, allow)     # 32 bit
    add(load, 0)        # nr
    for numbers in DENIED.values():
        if numbers[column] >= 0:
            add(equal, numbers[column], 0, 1)
            add(end, deny | EPERM)
    add(equal, CLONE3, 0, 1)
    add(end, deny | ENOSYS)     # its flags are in memory; libc then takes clone
    add(equal, clone, 0, 3)
    add(load, 16)   # args[0]
    add(any_bit, NAMESPACES, 0, 1)
    add(end, deny | EPERM)
    add(end, allow)
    text = ctypes.create_string_buffer(b"".join(code))
    program = struct.pack("@HP", len(code), ctypes.addressof(text))
    try:
        control(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)
    except PermissionError:
        control(PR_SET_NO_NEW_PRIVS, 1)
        control(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)


def drop():
    """An exec by root gives what is in the bounding set. A user has nothing to drop."""
    if os.geteuid() != 0:
        return
    for capability in range(CAPABILITIES_MAX):
        if not CAPABILITIES >> capability & 1 and LIBC.prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
            control(PR_CAPBSET_DROP, capability)
    control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    held = ctypes.create_string_buffer(24)
    call(LIBC.capget, header, held)
    kept = struct.unpack("=6I", held.raw)[1] & CAPABILITIES     # of the permitted ones
    call(LIBC.capset, header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def main():
    if not sys.argv[1:]:
        sys.exit(__doc__)
    try:
        separate()
    except PermissionError:     # a container's process
        pass
    filter_calls()
    drop()
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
