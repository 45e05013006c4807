#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Processes that change under the profiler's eyes: exec, fork, threads, numbers used again, code that
is mapped, unmapped and moved, files that are replaced. Every program here spins in a chain of its own
(tests/live/programs/track), so each stack is either that chain, or ends with a reason: never a mixture.

    tests/live/test_tracking.py [NAME...]       only these

Covers: bpf/process.c bpf/mapping.c bpf/publish.c bpf/object.c bpf/doubt.c tui/procinfo.c
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track")
HERTZ = "997"
PLUGINS = {"alpha": 64, "omega": 4096}  # name and bytes of stack of each
PROGRAMS = {"ping": 96, "pong": 2048}
COMPLETE = {"_start", "__clone", "__clone3", "clone", "clone3"}


def compile_all(folder):
    def cc(out, source, *flags):
        subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-o",
                        os.path.join(folder, out), os.path.join(SOURCES, source), *flags],
                       check=True)

    for name, pad in PLUGINS.items():
        cc(f"lib{name}.so", "plugin.c", "-shared", "-fPIC", f"-DNAME={name}", f"-DPAD={pad}")
    for name, pad in PROGRAMS.items():
        # Both lie at the same addresses: what is known of one would be believed of the other.
        cc(name, "chain.c", "-no-pie", f"-DNAME={name}", f"-DPAD={pad}")
    cc("still", "chain.c", "-static", "-DNAME=still", "-DPAD=256")
    cc("run", "run.c", "-pthread", "-ldl")


class Stacks:
    """The user stacks of a folded report."""

    def __init__(self, text, comm=None):
        self.all = [(line.partition(";")[0], user, count)
                    for line, (user, _, count) in zip(text.splitlines(), live.folded(text))
                    if user and (comm is None or line.startswith(comm + ";"))]
        self.count = sum(count for _, _, count in self.all)

    def share(self, want):
        """Percent of the stacks of which want(frames) is true."""
        good = sum(count for _, user, count in self.all if want(user))
        return 100 * good / self.count if self.count else 0

    def complete(self):
        return self.share(lambda user: user[0] in COMPLETE)

    def chain(self, name):
        """Percent of the stacks that lie in the chain, or above it and are complete."""
        return self.share(lambda user: user[0] in COMPLETE and is_chain(user, name))

    def reasons(self):
        found = {}
        for _, user, count in self.all:
            if user[0] not in COMPLETE:
                what = user[0] if user[0].startswith("[") else "no bottom: " + ";".join(user)
                found[what] = found.get(what, 0) + count
        return " ".join(f"{name} {count}" for name, count in
                        sorted(found.items(), key=lambda item: -item[1])[:5])


def names_of(user):
    """The chains that the stack has frames of."""
    return {frame.rpartition("_")[0] for frame in user
            if frame.endswith(("_one", "_two", "_spin")) and frame != "own_spin"}


def is_chain(user, name):
    frames = [frame for frame in user if names_of([frame]) == {name}]
    return frames == [f"{name}_one", f"{name}_two", f"{name}_spin"]


def profile(*command, comm=None, timeout=100, seconds="90"):
    """Of a command, from its first moment on to its end."""
    out, err, status = live.stacktop("-b", "--format", "folded", "--no-inline", "-F", HERTZ, "-d",
                                     seconds, "--", *command, timeout=timeout)
    if not out:  # the status is the command's
        raise RuntimeError(f"{' '.join(command)[:200]}: {status} {err.strip()[-200:]}")
    return Stacks(out, comm)


def attached(pid, seconds="2"):
    out, _, _ = live.stacktop("-b", "--format", "folded", "--no-inline", "-F", HERTZ, "-d", seconds,
                              "-n", "1", "-p", str(pid))
    return Stacks(out)


def check_chain(tap, stacks, name, what, least=99.0, enough=100):
    share = stacks.chain(name)
    tap.ok(stacks.count >= enough and share >= least, what,
           f"{share:.1f} % of {stacks.count}; {stacks.reasons()}")


# --- images --------------------------------------------------------------------------------------

def honest(user):
    """Nothing of two programs, and a chain in its order."""
    names = names_of(user)
    if not names:
        return True
    order = [f"{next(iter(names))}_{part}" for part in ("one", "two", "spin")]
    frames = [frame for frame in user if names_of([frame])]
    return len(names) == 1 and frames == order[:len(frames)] or \
        user[0].startswith("[") and len(names) == 1 and frames == order[-len(frames):]


def execs(tap, folder):
    """Two programs that call exec of each other, 3 ms each."""
    ping, pong = (os.path.join(folder, name) for name in ("ping", "pong"))
    command = [ping, "3", pong, "3"] * 400
    stacks = profile(*command[:-2], "1")
    wrong = [";".join(user) for _, user, _ in stacks.all if not honest(user)]
    tap.ok(not wrong, "exec: no stack of two programs", " | ".join(wrong[:3]))
    mixed = [f"{comm};{';'.join(user)}" for comm, user, _ in stacks.all
             if comm in PROGRAMS and names_of(user) - {comm}]
    tap.ok(not mixed, "exec: no program has stacks of the other", " | ".join(mixed[:3]))
    seen = set().union(*(names_of(user) for _, user, _ in stacks.all))
    tap.ok(stacks.count > 200 and seen == set(PROGRAMS), "exec: both are seen",
           f"{stacks.count} stacks, {stacks.complete():.1f} % complete; {stacks.reasons()}")


def short_lived(tap, folder):
    """100 ms and 1 s, of files that are known."""
    ping = os.path.join(folder, "ping")
    for ms, count, least in ((100, 40, 95), (1000, 8, 99)):
        script = f"{ping} 10; sleep 1; for i in $(seq {count}); do {ping} {ms}; done"
        stacks = profile("/bin/sh", "-c", script, comm="ping")
        share = stacks.complete()
        tap.ok(stacks.count > count * ms / 2 and share >= least,
               f"processes that live {ms} ms are complete", f"{share:.2f} % of {stacks.count}; "
               f"{stacks.reasons()}")


def forks(tap, folder):
    run = os.path.join(folder, "run")
    stacks = profile(run, "forks", "20", "250")
    share = stacks.complete()
    tap.ok(stacks.count > 300 and share >= 99, "fork inherits",
           f"{share:.2f} % of {stacks.count}; {stacks.reasons()}")
    stacks = profile(run, "vforks", "20", "100", os.path.join(folder, "ping"))
    parts = [Stacks("")] * 2
    for i, comm in enumerate(("run", "ping")):
        parts[i] = Stacks("")
        parts[i].all = [stack for stack in stacks.all if stack[0] == comm]
        parts[i].count = sum(count for _, _, count in parts[i].all)
    tap.ok(parts[0].count > 200 and parts[0].complete() >= 99, "vfork: on the parent's memory",
           f"{parts[0].complete():.2f} % of {parts[0].count}; {parts[0].reasons()}")
    tap.ok(parts[1].count > 200 and parts[1].complete() >= 90 and
           parts[1].share(lambda user: not names_of(user) - {"ping"}) == 100,
           "vfork: then exec", f"{parts[1].complete():.2f} % of {parts[1].count}; "
           f"{parts[1].reasons()}")


def threads(tap, folder):
    """The first thread ends, another lives on, and another's exec takes its number."""
    run, ping = (os.path.join(folder, name) for name in ("run", "ping"))
    stacks = profile(run, "leader", "5000")
    spins = stacks.share(lambda user: user[-1] == "own_spin" and user[0] in COMPLETE)
    tap.ok(stacks.count > 2500 and spins >= 99, "a thread outlives the first",
           f"{spins:.2f} % of {stacks.count}; {stacks.reasons()}")
    # Of one that ran before, /proc/PID shows nothing: neither mappings nor a root.
    process = subprocess.Popen([run, "leader", "30000"])
    try:
        while os.path.exists(f"/proc/{process.pid}/cwd"):
            time.sleep(0.05)
        stacks = attached(process.pid, "6")
    finally:
        process.kill()
        process.wait()
    spins = stacks.share(lambda user: user[-1] == "own_spin" and user[0] in COMPLETE)
    tap.ok(stacks.count > 500 and spins >= 99, "a thread whose process's first had ended before",
           f"{spins:.2f} % of {stacks.count}; {stacks.reasons()}")
    stacks = profile(run, "leader", "100", ping, comm="ping")
    check_chain(tap, stacks, "ping", "another thread's exec", enough=1000)


def reuse(tap, folder):
    """A process number that different programs have one after the other."""
    run = os.path.join(folder, "run")
    programs = [os.path.join(folder, name) for name in PROGRAMS]
    try:
        stacks = profile(run, "reuse", "30", "50", *programs)
    except RuntimeError as error:
        tap.skip("a number used again", str(error)[-100:])
        return
    wrong = [f"{comm};{';'.join(user)}" for comm, user, _ in stacks.all
             if comm in PROGRAMS and names_of(user) - {comm}]
    share = stacks.complete()
    tap.ok(not wrong, "a number used again: no stack is the predecessor's", " | ".join(wrong[:3]))
    tap.ok(stacks.count > 600 and share >= 90, "a number used again: stacks are complete",
           f"{share:.1f} % of {stacks.count}; {stacks.reasons()}")


# --- mappings ------------------------------------------------------------------------------------

def libraries(folder):
    return [word for name in PLUGINS
            for word in (os.path.join(folder, f"lib{name}.so"), f"{name}_one")]


def dlopen(tap, folder):
    """Two libraries take turns at one address. Addresses are named at the end of a refresh, by what
    lies there then, but never half by this and half by that."""
    stacks = profile(os.path.join(folder, "run"), "reopen", *libraries(folder), "5", "500",
                     seconds="0.1")
    mixed = [";".join(user) for _, user, _ in stacks.all if len(names_of(user)) > 1]
    tap.ok(not mixed, "dlclose and dlopen: no stack of two libraries", " | ".join(mixed[:3]))
    share = stacks.share(lambda user: user[0] in COMPLETE)
    tap.ok(stacks.count > 2000 and share >= 97, "dlopen is seen at once",
           f"{share:.1f} % of {stacks.count}; {stacks.reasons()}")
    right = {name: stacks.chain(name) for name in PLUGINS}
    tap.ok(min(right.values()) >= 30, "dlopen: both have their chains",
           " ".join(f"{name} {share:.1f} %" for name, share in right.items()))


def moved(tap, folder):
    """dlclose leaves no trace, mremap neither: what was mapped there before must be forgotten."""
    command = [os.path.join(folder, "run"), "move", *libraries(folder), "10000"]
    stacks = profile(*command, seconds="1")
    stacks.all = [stack for stack in stacks.all if names_of(stack[1]) - {"alpha"}]
    stacks.count = sum(count for _, _, count in stacks.all)
    check_chain(tap, stacks, "omega", "moved code", 90, 1000)


def many(tap, folder):
    run = os.path.join(folder, "run")
    stacks = profile(run, "many", *libraries(folder)[:2], "2000", "6000")
    check_chain(tap, stacks, "alpha", "2,000 executable mappings", 95, 1000)
    stacks = profile(run, "whole", *libraries(folder)[2:], "3000")
    check_chain(tap, stacks, "omega", "a file mapped as a whole", 95, 1000)


# --- files ---------------------------------------------------------------------------------------

def vanished(tap, folder):
    """Deleted, replaced, without a name from the beginning; always without symbols, too."""
    copy = os.path.join(folder, "copy")
    ping, pong = (os.path.join(folder, name) for name in ("ping", "pong"))
    shutil.copy(ping, copy)
    with live.Load([copy, "20000"]) as load:
        time.sleep(0.2)
        os.unlink(copy)
        check_chain(tap, attached(load.pid), "ping", "a deleted program")
    shutil.copy(ping, copy)
    with live.Load([copy, "20000"]) as load:
        time.sleep(0.2)
        shutil.copy(pong, copy + ".new")
        os.rename(copy + ".new", copy)
        with live.Load([copy, "20000"]) as other:
            check_chain(tap, attached(load.pid), "ping", "a replaced program")
            check_chain(tap, attached(other.pid), "pong", "the program that replaced it")
    subprocess.run(["strip", "-o", copy, ping], check=True)
    code = ("import os\nfd = os.memfd_create('forgotten')\n"
            f"os.write(fd, open({copy!r}, 'rb').read())\n"
            "os.execve(fd, ['memory', '20000'], {})\n")

    def is_walked(user):
        return user[0].startswith("memfd:forgotten+") and user[1] == "__libc_start_main"

    with live.Load([sys.executable, "-c", code]) as load:
        time.sleep(0.5)
        stacks = attached(load.pid)
        names = {frame.partition("+")[0] for _, user, _ in stacks.all for frame in user
                 if "+0x" in frame}
        tap.ok(stacks.count > 300 and stacks.share(is_walked) >= 99 and
               "memfd:forgotten" in names and not any("deleted" in name for name in names),
               "a program in a memfd", f"{stacks.share(is_walked):.1f} % of {stacks.count}; "
               f"{stacks.reasons()}; {' '.join(sorted(names))}")


def namespaces(tap, folder):
    """In its own mount, pid and user namespace, from a file that nobody else can see."""
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    script = (f"mount -t tmpfs none {inside} && cp {folder}/ping {inside}/hidden && "
              f"exec {inside}/hidden 30000")
    command = ["unshare", "-U", "-r", "-m", "-p", "-f", "--mount-proc", "/bin/sh", "-c", script]
    with live.Load(command) as load:
        pid = child = None
        end = time.monotonic() + 10
        while time.monotonic() < end and not pid:
            time.sleep(0.1)
            with open(f"/proc/{load.pid}/task/{load.pid}/children", encoding="ascii") as file:
                child = file.read().split()
            if child:
                with open(f"/proc/{child[0]}/comm", encoding="ascii") as file:
                    pid = child[0] if file.read().strip() == "hidden" else None
        if not pid:
            tap.skip("in namespaces of its own", "this machine makes none")
            return
        check_chain(tap, attached(pid), "ping", "in namespaces of its own")


def overlay(tap, folder):
    parts = [os.path.join(folder, "overlay", name) for name in ("low", "up", "work", "all")]
    for path in parts:
        os.makedirs(path)
    base = os.path.join(folder, "overlay")
    if subprocess.run(["mount", "-t", "tmpfs", "none", base], check=False).returncode:
        tap.skip("files on overlay", "cannot mount")
        return
    try:
        for path in parts:
            os.makedirs(path)
        shutil.copy(os.path.join(folder, "ping"), parts[0])
        shutil.copy(os.path.join(folder, "pong"), parts[0])
        options = f"lowerdir={parts[0]},upperdir={parts[1]},workdir={parts[2]}"
        if subprocess.run(["mount", "-t", "overlay", "none", "-o", options, parts[3]],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            tap.skip("files on overlay", "this kernel has none")
            return
        try:
            # One that stays below, one that was copied up.
            os.chmod(os.path.join(parts[3], "pong"), 0o755)
            for name in ("ping", "pong"):
                with live.Load([os.path.join(parts[3], name), "20000"]) as load:
                    time.sleep(0.2)
                    check_chain(tap, attached(load.pid), name, f"{name} on overlay")
                stacks = profile(os.path.join(parts[3], name), "1000")
                check_chain(tap, stacks, name, f"{name} on overlay, from its start", 90, 300)
        finally:
            subprocess.run(["umount", parts[3]], check=False)
    finally:
        subprocess.run(["umount", base], check=False)


def changing(tap, folder):
    """A file that is written while it is read."""
    library, other = (os.path.join(folder, f"lib{name}.so") for name in PLUGINS)
    target = os.path.join(folder, "changing.so")
    shutil.copy(library, target)
    with open(library, "rb") as one, open(other, "rb") as two:
        texts = one.read(), two.read()
    load = subprocess.Popen([os.path.join(folder, "run"), "remap", target, "20000"])
    command = [live.STACKTOP, "-b", "-d", "4", "-n", "1", "-F", HERTZ]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    writes = 0
    try:
        while process.poll() is None and writes < 100000:
            with open(target, "r+b") as file:
                text = texts[writes % 2]
                file.truncate(writes * 977 % len(text))
                file.write(text[:writes * 1973 % len(text)])
            writes += 1
            time.sleep(0.001)
        out, err = (data.decode() for data in process.communicate(timeout=60))
    finally:
        load.kill()
        load.wait()
    tap.ok(process.returncode == 0 and "samples" in out and writes > 100,
           "a file that changes while it is read", f"{writes} writes, exit {process.returncode} "
           f"{err.strip()[-100:]}")


# --- numbers -------------------------------------------------------------------------------------

def thousands(tap, folder):
    """Four thousand processes, each with mappings of its own; then one more."""
    still = os.path.join(folder, "ping")
    count = 4000
    with live.Load([sys.executable, "-c", THOUSANDS, still, str(count)]) as load:
        end = time.monotonic() + 60
        while time.monotonic() < end and children(load.pid) < count:
            time.sleep(0.2)
        started = children(load.pid)
        stacks = profile(os.path.join(folder, "pong"), "2000", comm="pong")
        check_chain(tap, stacks, "pong", f"beside {started} processes", 95, 500)
        out, err, _ = live.stacktop("-b", "-d", "2", "-n", "1")
        tap.ok(started == count and "samples" in out and "no room" not in err and
               "too many" not in err, f"room for {started} processes", err.strip()[-100:])


THOUSANDS = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(int(sys.argv[2])):
    pid = os.posix_spawn(sys.argv[1], [sys.argv[1], "100000"], {})
    os.kill(pid, signal.SIGSTOP)
signal.pause()
"""


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return len(file.read().split())
    except OSError:
        return 0


TESTS = (execs, short_lived, forks, threads, reuse, dlopen, moved, many, vanished, namespaces,
         overlay, changing, thousands)


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-tracking-") as folder:
        compile_all(folder)
        for test in TESTS:
            if not sys.argv[1:] or test.__name__ in sys.argv[1:]:
                test(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
