# SPDX-License-Identifier: GPL-2.0-or-later
"""What processes of other users can do to a profiler that root runs: the table ATTACKS. An attack's
prepare(stage) runs in the attacking process, as its user, and returns the command that this process
becomes once the profiler runs. root(stage) runs before it and does what needs root: mounts that a
set-uid helper would make, a control group that is delegated."""

import contextlib
import ctypes
import glob
import os
import shutil
import signal
import struct
import subprocess

import elves

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, CLONE_NEWNS, MS_PRIVATE_ALL = 1, 0x20000, 0x44000
USER = 65534
JIT_AT = 0x7e0000000000 + elves.TEXT    # where mapper -a has its code
ATTACKS = []
# Messages about files that stacktop gives up because of an attack.
TOLD = {**{name: "no unwind table for " + name.replace(" ", "-").replace(".", r"\.") for name in (
    "sparse .eh_frame", "sparse .debug_frame", "sparse .sframe", "sparse all", "bomb of zlib")},
        "a file system that stops answering": "hung/file does not answer",
        "60,000 mappings": r"storm \(\d+\): too many mappings"}


class Attack:
    """Beside prepare and root: later(stage) runs when all attacks have begun, check(stage) at the end;
    it returns what is wrong, or None."""

    def __init__(self, name, prepare, root=None, later=None, check=None):
        self.name, self.prepare = name, prepare
        self.root, self.later, self.check = root, later, check


class Stage:
    """An attack's own folder, the built programs, and the clean-up at the end."""

    def __init__(self, folder, built):
        self.folder, self.built = folder, built
        self.pid = 0        # of the attacking process
        self.kept = None    # passed from root() to check()
        self.undo = contextlib.ExitStack()

    def path(self, name):
        return os.path.join(self.folder, name)

    def mapper(self, *arguments):
        return [os.path.join(self.built, "mapper"), *arguments]

    def elf(self, name="plain"):
        return elves.write(self.path(name), elves.symbols([b"plain"]))[0]


def hide_mounts():
    """From here on only this process and its children see new mounts, which end with them."""
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_PRIVATE_ALL, None):
        raise OSError(ctypes.get_errno(), "a mount namespace")


def attack(name, **options):
    def add(prepare):
        ATTACKS.append(Attack(name, prepare, **options))
        return prepare
    return add


def helper(body):
    """Runs body in a process beside this one, until this one ends."""
    if os.fork() == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            body()
        finally:
            os._exit(0)


# --- ELF files -----------------------------------------------------------------------------------

def add_elves():
    def one(make, name, touched):
        def prepare(stage):
            return stage.mapper(*["-t"] * touched, *make(stage.path(name.replace(" ", "-"))))
        return prepare

    for name, make in elves.ELVES.items():
        ATTACKS.append(Attack(name, one(make, name, False)))
    for name in ("notes", "debuglink to 1 GiB", "sparse all"):
        ATTACKS.append(Attack(name + ", new each time", one(elves.ELVES[name], name, True)))


add_elves()


@attack("a file that is cut off and grows")
def resized(stage):
    path = stage.elf()

    def body():
        with open(path, "r+b") as file:
            whole = file.read()
            while True:
                for size in range(0, len(whole), 97):
                    file.truncate(max(size, elves.SIZE))
                    file.seek(0)
                    file.write(whole)
                    file.flush()
    helper(body)
    return stage.mapper("-t", path)


# --- code made at run time ------------------------------------------------------------------------

def perf_map(stage):
    return f"/tmp/perf-{os.getpid()}.map"


def planted(name, text, unit=b"", size=0):
    """A perf map of text, followed by units up to a size."""
    def prepare(stage):
        with open(perf_map(stage), "wb") as file:
            file.write(text)
            for _ in range(size // max(len(unit), 1)):
                file.write(unit)
        return stage.mapper("-a")
    ATTACKS.append(Attack(name, prepare))


LINE = b"%x 10 one\n" % JIT_AT
planted("perf map of 128 MiB", LINE, (b"%x 10 two\n" % JIT_AT) * 65536, 128 << 20)
planted("perf map of one line of 64 MiB", b"%x 10 " % JIT_AT, b"x" * (1 << 20), 64 << 20)
planted("perf map with escapes", b"%x 10 \x1b[2J\x1b]0;x\7\r\xff\x9bm;main 9\n" % JIT_AT)
planted("perf map of names of 4 KiB", b"", b"".join(
    b"%x 10 %s\n" % (JIT_AT + i, b"%d" % i * 1000) for i in range(256)), 48 << 20)
planted("perf map of overlapping ranges", b"", b"".join(
    b"%x %x n%d\n" % (JIT_AT - i, 2 * i, i) for i in range(1, 65536)), 4 << 20)
planted("perf map of nonsense", os.urandom(1 << 20) + b"ffffffffffffffff ffffffffffffffff x\n" * 9999)


@attack("perf map that grows without end")
def growing(stage):
    path = perf_map(stage)

    def body():
        with open(path, "wb", buffering=0) as file:
            at = JIT_AT
            while file.tell() < 1 << 29:
                file.write(b"".join(b"%x 1 name%d\n" % (at + i % 4096, i) for i in range(20000)))
    helper(body)
    return stage.mapper("-a")


@attack("perf map that is a FIFO")
def fifo(stage):
    os.mkfifo(perf_map(stage))
    return stage.mapper("-a")


@attack("perf map that is a link to another user's file")
def link(stage):
    os.symlink("/etc/shadow", perf_map(stage))
    return stage.mapper("-a")


@attack("perf map that is a folder")
def folder_as_map(stage):
    os.mkdir(perf_map(stage))
    return stage.mapper("-a")


def unread():
    """Bytes of the kernel's log that are still unread."""
    return LIBC.klogctl(9, None, 0)


def before_kmsg(stage):
    with contextlib.suppress(OSError), open("/dev/kmsg", "w", encoding="ascii") as log:
        log.write("stacktop: a line to be left where it is\n")
    stage.kept = unread()
    stage.undo.callback(lambda: [os.unlink(path) for path in glob.glob("/tmp/perf-1.map")])


def after_kmsg(stage):
    left = unread()
    if stage.kept > 0 and left < stage.kept:
        return f"the kernel's log was read: {stage.kept} bytes, then {left}"
    return None


def bound(name, source, **options):
    """A user's own container with a device in place of the map of its process 1."""
    def prepare(stage):
        script = (f"touch /tmp/perf-1.map && mount --bind {source} /tmp/perf-1.map && "
                  f"exec '{stage.built}/mapper' -a")
        return ["/usr/bin/unshare", "-Urmpf", "--mount-proc", "--kill-child", "sh", "-c", script]
    ATTACKS.append(Attack(name, prepare, **options))


bound("perf map that is the kernel's log", "/proc/kmsg", root=before_kmsg, check=after_kmsg)
bound("perf map that is /dev/zero", "/dev/zero")


def jitdump(name, head, records, size=0):
    def prepare(stage):
        path = stage.path(f"jit-{os.getpid()}.dump")
        with open(path, "wb") as file:
            file.write(head(os.getpid()))
            file.write(records)
            file.truncate(max(size, elves.SIZE))
        return stage.mapper(path)
    ATTACKS.append(Attack(name, prepare))


def dump_head(pid):
    return struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, pid, 1, 0)


def load_record(size, code_size=16, name=b"n\0"):
    return struct.pack("<IIQIIQQQQ", 0, size, 1, 0, 0, JIT_AT, JIT_AT, code_size, 1) + name


jitdump("jitdump of records of no size", dump_head, load_record(0) * 100000)
jitdump("jitdump of a record of 4 GiB", dump_head, load_record(0xffffffff), elves.GIB)
jitdump("jitdump of names without end", dump_head, load_record(1 << 20, 1 << 60, b"x" * (1 << 20)) * 16)
jitdump("jitdump of a million moves", dump_head, struct.pack(
    "<IIQIIQQQQQ", 1, 64, 1, 0, 0, JIT_AT, JIT_AT, JIT_AT + 8, 1 << 63, 1) * 1000000)
jitdump("jitdump with a header of 4 GiB", lambda pid: struct.pack(
    "<IIIIIIQQ", 0x4A695444, 1, 0xffffffff, 62, 0, pid, 1, 0), b"\xff" * 9999)


# --- names -----------------------------------------------------------------------------------------

EVIL = b"\x1b[2J\x1b]0;x\7\n\xff main"


@attack("file and command with escapes and newlines")
def evil_names(stage):
    path = os.fsencode(stage.path("")) + EVIL + b" (deleted)"
    shutil.copy(os.fsencode(stage.mapper()[0]), path)
    library = path + b".so\r9"
    os.rename(stage.elf(), library)
    return [path, library, EVIL * 3000]


@attack("a file that is deleted and one that only says so")
def deleted(stage):
    one = stage.elf("one")
    shutil.copy(one, stage.path("two (deleted)"))

    def body():
        while True:
            with contextlib.suppress(OSError):
                os.rename(one, one + ".new")
                shutil.copy(one + ".new", one)
    helper(body)
    return stage.mapper(one, stage.path("two (deleted)"))


@attack("a path of more than 4,096 bytes")
def long_path(stage):
    path = stage.elf()
    os.chdir(stage.folder)
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    shutil.copy(path, "file")
    return stage.mapper("file")


def make_cgroup(stage):
    """Done by root, in place of a user with a delegated group."""
    for top in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup", "/sys/fs/cgroup/systemd"):
        path = os.path.join(os.fsencode(top), b"docker-" + b"\x1b[2J\x1b]0;x\7\xff" + b"a" * 64)
        if os.path.exists(os.path.join(top, "cgroup.procs")):
            os.mkdir(path)
            stage.undo.callback(os.rmdir, path)
            with open(os.path.join(path, b"cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(stage.pid))
            return
    raise OSError("no control groups")


@attack("control group with escapes", root=make_cgroup)
def in_cgroup(stage):
    return stage.mapper(stage.elf())


# --- storms ----------------------------------------------------------------------------------------

def add_storms():
    def one(kind):
        def prepare(stage):
            argument = {"files": stage.path(""), "touch": stage.path("plain")}.get(kind)
            if kind == "touch":
                stage.elf()
            return [os.path.join(stage.built, "storm"), kind] + [argument] * bool(argument)
        return prepare

    for kind, name in (
            ("maps", "60,000 mappings"), ("mmap", "mmap and munmap all the time"),
            ("files", "8,000 files mapped"), ("touch", "a new file a millisecond"),
            ("threads", "2,000 threads"), ("names", "threads' names with escapes, ever new"),
            ("deep", "100,000 frames"), ("random", "stacks that are never alike"),
            ("jit", "stacks that are never alike, with new names of 900 bytes"),
            ("exec", "exec all the time"), ("fork", "fork all the time"),
            ("vdso", "a vDSO that was moved"), ("jump", "a stack pointer that leads nowhere")):
        ATTACKS.append(Attack(name, one(kind)))


add_storms()


# --- file systems ----------------------------------------------------------------------------------

def hang(stage):
    """As fusermount does it for a user."""
    folder = stage.path("hung")
    os.mkdir(folder)
    elves.write(stage.path("served"), elves.symbols([b"served"]))
    server = subprocess.Popen([os.path.join(stage.built, "hangfs"), folder, stage.path("served"),
                               str(USER)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    stage.kept = server
    stage.undo.callback(subprocess.run, ["umount", "-l", folder], stderr=subprocess.DEVNULL, check=False)
    stage.undo.callback(server.wait)
    stage.undo.callback(server.kill)
    if server.stdout.readline() != b"made\n":
        raise OSError("FUSE cannot be mounted")


@attack("a file system that stops answering", root=hang,
        later=lambda stage: stage.kept.send_signal(signal.SIGUSR1))
def hung(stage):
    return stage.mapper("-k", os.path.join(stage.path("hung"), "file"))
