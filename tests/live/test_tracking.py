#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""Processes that change while they are profiled: exec, fork, threads, reused PIDs, code that is mapped,
unmapped and moved, replaced files. Every program here spins in a chain of its own
(tests/live/programs/track), so each stack is either that chain or ends with a reason: never a mixture.

    tests/live/test_tracking.py [NAME...]       only these

Covers: bpf/tracker/process.c bpf/tracker/mapping.c bpf/tracker/publish.c bpf/tracker/object.c bpf/tracker/rescan.c tui/collect/procinfo.c
Covers: tui/collect/stackcache.c
"""

import functools
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track")
HERTZ = live.hertz(3999)
PLUGINS = {"alpha": 64, "omega": 4096}  # name: bytes of stack
PROGRAMS = {"ping": 96, "pong": 2048}
THOUSANDS_COUNT = 4000 if os.environ.get("SIZE") == "full" else 1500
# A walk ends with these until the records of a new image or mapping are read and its table is built.
# How long that takes depends on the load of the CPUs.
NOT_YET = {"[process not known yet]", "[process has just called exec]", "[pc in no mapping]",
           "[no table for pc]"}
NO_IMAGE = ("[process not known yet]", "[process has just called exec]")
STARTS = {"_start", "_dl_start_user"}  # of a process's main thread
COMPLETE = {"_start", "__clone", "__clone3", "clone", "clone3"}


def compile_all(folder):
    def cc(out, source, *flags):
        live.cc(os.path.join(folder, out), os.path.join(SOURCES, source), *flags)

    for name, pad in PLUGINS.items():
        cc(f"lib{name}.so", "plugin.c", "-shared", "-fPIC", f"-DNAME={name}", f"-DPAD={pad}")
    for name, pad in PROGRAMS.items():
        # Both have the same addresses: knowledge of one would be used for the other.
        cc(name, "chain.c", "-no-pie", f"-DNAME={name}", f"-DPAD={pad}")
    # Like alpha, except for its names.
    cc("libgamma.so", "plugin.c", "-shared", "-fPIC", "-DNAME=gamma", f"-DPAD={PLUGINS['alpha']}")
    cc("still", "chain.c", "-static", "-DNAME=still", "-DPAD=256")
    cc("run", "run.c", "-pthread", "-ldl")


class Stacks:
    """The user stacks of slices: (name of the process, frames, count)."""

    def __init__(self, slices, comm=None):
        self.parts = [[(pid, name, user, count) for pid, name, user, _, count in part.stacks
                       if user and comm in (None, name)] for part in slices]
        self.all = [stack[1:] for part in self.parts for stack in part]

    @property
    def count(self):
        return sum(count for _, _, count in self.all)

    def __add__(self, other):
        both = Stacks(())
        both.parts, both.all = self.parts + other.parts, self.all + other.all
        return both

    def known(self, name=None):
        """From the first slice on in which all is known and the chain is seen."""
        return self.since(lambda users: not any(user[0] in NOT_YET for user in users) and any(
            name is None or user[0] in COMPLETE and is_chain(user, name) for user in users))

    def named(self):
        """From the first slice on in which the outermost functions have names: names that take longer
        than half a slice come with the next one."""
        return self.since(lambda users: not any("+0x" in user[0] for user in users))

    def since(self, good):
        """From the first slice on with good(its user stacks)."""
        rest = Stacks(())
        at = next((i for i, part in enumerate(self.parts)
                   if part and good([user for _, _, user, _ in part])), len(self.parts))
        rest.parts = self.parts[at:]
        rest.all = [stack[1:] for part in rest.parts for stack in part]
        return rest

    def only(self, want):
        """The stacks for which want(frames) is true."""
        rest = Stacks(())
        rest.parts = [[stack for stack in part if want(stack[2])] for part in self.parts]
        rest.all = [stack[1:] for part in rest.parts for stack in part]
        return rest

    def share(self, want):
        """Percent of the stacks for which want(frames) is true."""
        good = sum(count for _, user, count in self.all if want(user))
        return 100 * good / self.count if self.count else 0

    def complete(self):
        return self.share(lambda user: user[0] in COMPLETE)

    def chain(self, name):
        """Percent of the stacks that lie in the chain, or above it and are complete."""
        return self.share(lambda user: user[0] in COMPLETE and is_chain(user, name))

    def broken(self):
        """Percent of the stacks that are neither complete nor waiting to become known."""
        return self.share(lambda user: user[0] not in COMPLETE and user[0] not in NOT_YET)

    def once_known(self):
        """Of each process, the slices after the first in which a stack is complete."""
        rest, known = Stacks(()), set()
        for part in self.parts:
            later = [stack for stack in part if stack[0] in known]
            rest.parts.append(later)
            rest.all += [stack[1:] for stack in later]
            known.update(pid for pid, _, user, _ in part if user[0] in COMPLETE)
        return rest

    def median(self):
        """Percent of complete stacks per process: the median."""
        counts = {}
        for part in self.parts:
            for pid, _, user, count in part:
                both = counts.setdefault(pid, [0, 0])
                both[user[0] in COMPLETE] += count
        return 100 * statistics.median([good / (good + bad) for bad, good in counts.values()]
                                       or [0])

    def slice_median(self):
        """Percent of complete stacks per slice: the median."""
        shares = [100 * sum(count for _, _, user, count in part if user[0] in COMPLETE) /
                  sum(count for _, _, _, count in part) for part in self.parts if part]
        return statistics.median(shares or [0])

    def reasons(self):
        found = {}
        for _, user, count in self.all:
            if user[0] not in COMPLETE:
                what = user[0] if user[0].startswith("[") else "no bottom: " + ";".join(user)
                found[what] = found.get(what, 0) + count
        return " ".join(f"{name} {count}" for name, count in
                        sorted(found.items(), key=lambda item: -item[1])[:5])


def names_of(user):
    """The chains with frames in the stack."""
    return {frame.rpartition("_")[0] for frame in user
            if frame.endswith(("_one", "_two", "_spin")) and frame != "own_spin"}


def is_chain(user, name):
    frames = [frame for frame in user if names_of([frame]) == {name}]
    return frames == [f"{name}_one", f"{name}_two", f"{name}_spin"]


def stream(*options, first=False):
    return live.Stream("--no-inline", "-F", HERTZ, "-d", "0.1", *options, first=first)


def profile(*command, comm=None, timeout=100):
    """Slices of a command, from its start to its end."""
    with stream("--", *command, first=True) as top:
        top.until(lambda _: False, timeout)
        if not top.slices:  # the status is the command's
            raise RuntimeError(f"{' '.join(command)[:200]}: {top.process.poll()} "
                               f"{top.errors((comm,))[-200:]}")
        return Stacks(top.slices, comm)


def attached(pid, enough=200, symbols=True):
    """Stacks of a process that runs already, once it is known."""
    def of(slices):
        stacks = Stacks(slices).known()
        return stacks.named() if symbols else stacks

    with stream("-p", str(pid)) as top:
        top.until(lambda slices: of(slices).count >= enough)
        top.stop()
        return of(top.slices)


def samples_of(ms):
    """The least number of samples of a program that spins this long: half of what the clock says,
    since the kernel ends the program by ticks."""
    return int(HERTZ) * ms / 2000


def check_chain(tap, stacks, name, what, least=99.0, enough=100):
    share = stacks.chain(name)
    tap.ok(stacks.count >= enough and share >= least, what,
           f"{share:.1f} % of {stacks.count}; {stacks.reasons()}")


def check_new(tap, run, name, what, enough):
    """A process that starts during the run: from some moment on all of it is known, and until then
    stacks end only with NOT_YET. `run` starts it anew: another program may delay it once, but not
    three times."""
    broken = 0
    for _ in range(3):
        stacks = run()
        broken = max(broken, stacks.broken())
        early = stacks.share(lambda user: user[0] in NOT_YET)
        if stacks.count and early <= 30:
            break
    check_chain(tap, stacks.known(name), name, what, enough=enough)
    tap.ok(early <= 30 and broken <= 1, f"{what}: soon known",
           f"{early:.1f} % before of {stacks.count}; {stacks.reasons()}")


# --- images --------------------------------------------------------------------------------------

def honest(user):
    """True if the stack has frames of one program only, in the order of its chain."""
    names = names_of(user)
    if not names:
        return True
    order = [f"{next(iter(names))}_{part}" for part in ("one", "two", "spin")]
    frames = [frame for frame in user if names_of([frame])]
    return len(names) == 1 and frames == order[:len(frames)] or \
        user[0].startswith("[") and len(names) == 1 and frames == order[-len(frames):]


def execs(tap, folder):
    """Two programs that exec each other after 3 ms each, for long enough that both are seen."""
    ping, pong = (os.path.join(folder, name) for name in ("ping", "pong"))
    command = [ping, "3", pong, "3"] * 100
    stacks, seen = Stacks(()), set()
    for _ in range(20):
        stacks += profile(*command[:-2], "1")
        seen = set().union(*(names_of(user) for _, user, _ in stacks.all))
        if stacks.count > 400 and seen == set(PROGRAMS):
            break
    wrong = [";".join(user) for _, user, _ in stacks.all if not honest(user)]
    tap.ok(not wrong, "exec: no stack of two programs", " | ".join(wrong[:3]))
    # A sample of an unknown image gets the names of the image at the end of its slice.
    mixed = [(f"{comm};{';'.join(user)}", count) for comm, user, count in stacks.all
             if comm in PROGRAMS and names_of(user) - {comm}]
    early = sum(count for text, count in mixed if text.partition(";")[2].startswith(NO_IMAGE))
    tap.ok(sum(count for _, count in mixed) == early <= 0.01 * stacks.count,
           "exec: no program has stacks of the other",
           " | ".join(f"{count} {text}" for text, count in mixed[:3]))
    tap.ok(stacks.count > 400 and seen == set(PROGRAMS), "exec: both are seen",
           f"{stacks.count} stacks, {stacks.complete():.1f} % complete; {stacks.reasons()}")


def short_lived(tap, folder):
    """100 ms and 500 ms, of known files: most processes are known at once, and all soon, and what is
    once known stays known. The median needs fifteen processes, not three: a moment without a CPU for
    stacktop hits a single process."""
    ping = os.path.join(folder, "ping")
    for ms, count, all_of_them, kept in ((100, 15, 80, 0), (500, 3, 84, 99)):
        script = f"{ping} 10; sleep 1; for i in $(seq {count}); do {ping} {ms}; done"
        stacks = profile("/bin/sh", "-c", script, comm="ping")
        later = stacks.once_known()
        enough = samples_of(count * ms)
        tap.ok(stacks.count > enough and stacks.median() >= 95 and
               stacks.complete() >= all_of_them and stacks.broken() <= 1 and
               (not kept or later.count > enough / 2 and later.complete() >= kept),
               f"processes that live {ms} ms are complete",
               f"{stacks.median():.2f} % in the median process, {stacks.complete():.2f} % of "
               f"{stacks.count}, {later.complete():.2f} % of {later.count} later; "
               f"{stacks.reasons()}")


def forks(tap, folder):
    run = os.path.join(folder, "run")
    stacks = profile(run, "forks", "20", "50").known()
    share = stacks.complete()
    tap.ok(stacks.count > samples_of(20 * 20) and share >= 99, "fork inherits",
           f"{share:.2f} % of {stacks.count}; {stacks.reasons()}")
    stacks = profile(run, "vforks", "50", "10", os.path.join(folder, "ping"))
    parts = [Stacks(()), Stacks(())]
    for i, comm in enumerate(("run", "ping")):
        parts[i].parts = [[stack for stack in part if stack[1] == comm] for part in stacks.parts]
        parts[i].all = [stack[1:] for part in parts[i].parts for stack in part]
    parts[0] = parts[0].known()
    tap.ok(parts[0].count > 200 and parts[0].complete() >= 99, "vfork: on the parent's memory",
           f"{parts[0].complete():.2f} % of {parts[0].count}; {parts[0].reasons()}")
    tap.ok(parts[1].count > 200 and parts[1].median() >= 90 and parts[1].complete() >= 70 and
           parts[1].broken() <= 1 and
           parts[1].share(lambda user: not names_of(user) - {"ping"}) == 100,
           "vfork: then exec", f"{parts[1].complete():.2f} % of {parts[1].count}; "
           f"{parts[1].reasons()}")


def threads(tap, folder):
    """The main thread ends, another lives on, and an exec of another takes its number."""
    run, ping = (os.path.join(folder, name) for name in ("run", "ping"))
    # Not tested here: how long the main thread takes to start, and the other to end the process.
    stacks = profile(run, "leader", "1000").known().named().only(
        lambda user: user[0] not in STARTS and "exit" not in user)
    spins = stacks.share(lambda user: user[-1] == "own_spin" and user[0] in COMPLETE)
    tap.ok(stacks.count > samples_of(500) and spins >= 99, "a thread outlives the main thread",
           f"{spins:.2f} % of {stacks.count}; {stacks.reasons()}")
    # When the main thread ended before, /proc/PID shows neither mappings nor a root.
    process = subprocess.Popen([run, "leader", "60000"])
    try:
        live.wait_for(lambda: not os.path.exists(f"/proc/{process.pid}/cwd"))
        live.wait_busy([process.pid])
        stacks = attached(process.pid, 1000)
    finally:
        process.kill()
        process.wait()
    spins = stacks.share(lambda user: user[-1] == "own_spin" and user[0] in COMPLETE)
    tap.ok(stacks.count >= 1000 and spins >= 99,
           "a thread after its main thread has ended",
           f"{spins:.2f} % of {stacks.count}; {stacks.reasons()}")
    check_new(tap, lambda: profile(run, "leader", "100", ping, comm="ping"), "ping",
              "another thread's exec", 500)


def reuse(tap, folder):
    """Different programs have one PID in turn. The median tells a failure from a delay: when stacktop
    gets no CPU for a while some slices are spoilt, when it does not follow the PID most of them are."""
    run = os.path.join(folder, "run")
    programs = [os.path.join(folder, name) for name in PROGRAMS]
    try:
        stacks = profile(run, "reuse", "10", "150", *programs)
    except RuntimeError as error:
        tap.skip("a reused PID", str(error)[-100:])
        return
    wrong = [f"{comm};{';'.join(user)}" for comm, user, _ in stacks.all
             if comm in PROGRAMS and names_of(user) - {comm}]
    share, middle = stacks.complete(), stacks.slice_median()
    tap.ok(not wrong, "a reused PID: no stack is the predecessor's", " | ".join(wrong[:3]))
    tap.ok(stacks.count > samples_of(10 * 150) and middle >= 90 and share >= 50 and
           stacks.broken() <= 1, "a reused PID: stacks are complete",
           f"{middle:.1f} % in the median slice, {share:.1f} % of {stacks.count}; "
           f"{stacks.reasons()}")


# --- mappings ------------------------------------------------------------------------------------

def libraries(folder):
    return [word for name in PLUGINS
            for word in (os.path.join(folder, f"lib{name}.so"), f"{name}_one")]


def dlopen(tap, folder):
    """Two libraries take turns at one address. Addresses are named at the end of a refresh, by the
    library that is there then, but no stack has names of both."""
    stacks = profile(os.path.join(folder, "run"), "reopen", *libraries(folder), "3", "400")
    mixed = [";".join(user) for _, user, _ in stacks.all if len(names_of(user)) > 1]
    tap.ok(not mixed, "dlclose and dlopen: no stack of two libraries", " | ".join(mixed[:3]))
    whole = [all(user[0] in COMPLETE for _, _, user, _ in part) for part in stacks.parts if part]
    share = stacks.complete()
    tap.ok(stacks.count > samples_of(2400) and share >= 85 and stacks.broken() <= 1 and
           sum(whole) >= len(whole) / 2, "dlopen is seen at once",
           f"{share:.1f} % of {stacks.count}, {sum(whole)} of {len(whole)} slices whole; "
           f"{stacks.reasons()}")
    right = {name: stacks.chain(name) for name in PLUGINS}
    tap.ok(min(right.values()) >= 30, "dlopen: both have their chains",
           " ".join(f"{name} {share:.1f} %" for name, share in right.items()))


def steps(tap, what, command, *states):
    """Runs a program that stays in own_spin, prints where, and goes on at SIGUSR1. A state is (the line
    it prints, or None if it does not stay; its chain in this state). Each state lasts until a slice
    that began after the signal has only complete stacks of the chain. Returns the stacks of the last
    state from there on."""
    stacks = Stacks(())
    with live.Load(command, stdout=subprocess.PIPE) as load:
        said = load.stdout.readline()
        with stream("-p", str(load.pid)) as top:
            for n, (word, chain) in enumerate(states):
                if word and (said if n == 0 else load.stdout.readline()).decode().strip() != word:
                    tap.ok(False, what, f"does not print {word}")
                    return stacks

                def right(user, chain=chain):
                    return user[0] in COMPLETE and \
                        (is_chain(user, chain) if chain else user[-1] == "own_spin")

                first = top.next()
                found = top.until(lambda slices, first=first, right=right: any(
                    part.samples and all(right(user) for _, _, user, _, _ in part.stacks if user)
                    for part in slices[first:]))
                if not found:
                    stacks = Stacks(top.slices[first:])
                    tap.ok(False, f"{what}: gets to {chain or 'own_spin'}",
                           f"{stacks.count} samples; {stacks.reasons()}")
                    return stacks
                if n + 1 < len(states):
                    load.send_signal(signal.SIGUSR1)
            first = top.next()
            top.until(lambda slices: sum(part.samples for part in slices[first:]) >= 1000)
            stacks = Stacks(top.slices[first:])
    return stacks


def moved(tap, folder):
    """dlclose leaves no record, nor does mremap: the earlier mapping must be forgotten."""
    command = [os.path.join(folder, "run"), "move", *libraries(folder)]
    stacks = steps(tap, "moved code", command, ("open", None), (None, "alpha"), ("moved", None),
                   (None, "omega"))
    check_chain(tap, stacks, "omega", "moved code", enough=1000)


def twins(tap, folder):
    """A library at the addresses that another one had some slices ago: the same stacks have other
    names."""
    command = [os.path.join(folder, "run"), "twins", *libraries(folder)[:2],
               os.path.join(folder, "libgamma.so"), "gamma_one"]
    stacks = steps(tap, "other names", command, ("loaded", None), (None, "alpha"), ("closed", None),
                   ("loaded", None), (None, "gamma"))
    check_chain(tap, stacks, "gamma", "other names at the same addresses", enough=1000)


def many(tap, folder):
    run = os.path.join(folder, "run")
    for what, command, chain in (
            ("2,000 executable mappings", ["many", *libraries(folder)[:2], "2000"], "alpha"),
            ("a file mapped as a whole", ["whole", *libraries(folder)[2:]], "omega")):
        stacks = steps(tap, what, [run, *command], ("loaded", None), ("mapped", None),
                       (None, chain))
        check_chain(tap, stacks, chain, what, enough=1000)


# --- files ---------------------------------------------------------------------------------------

def vanished(tap, folder):
    """Files deleted, replaced, or never named; always without symbols, too."""
    copy = os.path.join(folder, "copy")
    ping, pong = (os.path.join(folder, name) for name in ("ping", "pong"))
    shutil.copy(ping, copy)
    with live.Load([copy, "60000"]) as load:
        live.wait_busy([load.pid])
        os.unlink(copy)
        check_chain(tap, attached(load.pid), "ping", "a deleted program")
    shutil.copy(ping, copy)
    with live.Load([copy, "60000"]) as load:
        live.wait_busy([load.pid])
        shutil.copy(pong, copy + ".new")
        os.rename(copy + ".new", copy)
        with live.Load([copy, "60000"]) as other:
            live.wait_busy([other.pid])
            check_chain(tap, attached(load.pid), "ping", "a replaced program")
            check_chain(tap, attached(other.pid), "pong", "the program that replaced it")
    subprocess.run(["strip", "-o", copy, ping], check=True)
    code = ("import os\nfd = os.memfd_create('forgotten')\n"
            f"os.write(fd, open({copy!r}, 'rb').read())\n"
            "os.execve(fd, ['memory', '60000'], {})\n")

    def is_walked(user):
        return user[0].startswith("memfd:forgotten+") and user[1] == "__libc_start_main"

    with live.Load([sys.executable, "-c", code]) as load:
        live.wait_for(lambda: "memfd:" in os.readlink(f"/proc/{load.pid}/exe") and
                      live.wait_busy([load.pid]))
        stacks = attached(load.pid, 400, symbols=False)
        names = {frame.partition("+")[0] for _, user, _ in stacks.all for frame in user
                 if "+0x" in frame}
        tap.ok(stacks.count > 300 and stacks.share(is_walked) >= 99 and
               "memfd:forgotten" in names and not any("deleted" in name for name in names),
               "a program in a memfd", f"{stacks.share(is_walked):.1f} % of {stacks.count}; "
               f"{stacks.reasons()}; {' '.join(sorted(names))}")


def namespaces(tap, folder):
    """A program in its own mount, pid and user namespace, on a tmpfs that is mounted only there."""
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    script = (f"mount -t tmpfs none {inside} && cp {folder}/ping {inside}/hidden && "
              f"exec {inside}/hidden 60000")
    command = ["unshare", "-U", "-r", "-m", "-p", "-f", "--mount-proc", "/bin/sh", "-c", script]
    with live.Load(command) as load:
        def hidden():
            with open(f"/proc/{load.pid}/task/{load.pid}/children", encoding="ascii") as file:
                child = file.read().split()
            return child[0] if child and comm_of(child[0]) == "hidden" else load.poll() is not None

        pid = live.wait_for(hidden)
        if pid is True:
            pid = None
        if not pid:
            tap.skip("in namespaces of its own", "this machine has no namespaces")
            return
        live.wait_busy([pid])
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
            tap.skip("files on overlay", "this kernel has no overlayfs")
            return
        try:
            # One file stays in the lower layer, the other is copied up.
            os.chmod(os.path.join(parts[3], "pong"), 0o755)
            for name in ("ping", "pong"):
                with live.Load([os.path.join(parts[3], name), "60000"]) as load:
                    live.wait_busy([load.pid])
                    check_chain(tap, attached(load.pid), name, f"{name} on overlay")
                command = os.path.join(parts[3], name), "1000"
                check_new(tap, functools.partial(profile, *command), name,
                          f"{name} on overlay, from its start", 300)
        finally:
            subprocess.run(["umount", "-l", parts[3]], check=False)
    finally:
        subprocess.run(["umount", "-l", base], check=False)


def changing(tap, folder):
    """A file that is written while it is read."""
    library, other = (os.path.join(folder, f"lib{name}.so") for name in PLUGINS)
    target = os.path.join(folder, "changing.so")
    shutil.copy(library, target)
    with open(library, "rb") as one, open(other, "rb") as two:
        texts = one.read(), two.read()
    writes = 0
    with live.Load([os.path.join(folder, "run"), "remap", target, "60000"]) as load, \
            stream("-p", str(load.pid)) as top:
        end = time.monotonic() + 300
        while top.process.poll() is None and time.monotonic() < end and \
                (writes < 500 or len(top.slices) < 10):
            with open(target, "r+b") as file:
                text = texts[writes % 2]
                file.truncate(writes * 977 % len(text))
                file.write(text[:writes * 1973 % len(text)])
            writes += 1
            time.sleep(0.001)
            if writes % 50 == 0:
                top.poll()
        status = top.stop()
        tap.ok(status in (0, 130) and len(top.slices) >= 10 and writes >= 500,
               "a file that changes while it is read",
               f"{writes} writes, {len(top.slices)} slices, exit {status} {top.errors(())[-100:]}")


# --- numbers -------------------------------------------------------------------------------------

def thousands(tap, folder):
    """Thousands of processes, each with mappings of its own; then one more."""
    still = os.path.join(folder, "ping")
    count = THOUSANDS_COUNT
    with live.Load([sys.executable, "-c", THOUSANDS, still, str(count)]) as load:
        live.wait_for(lambda: children(load.pid) >= count, 120, 0.2)
        started = children(load.pid)
        pong = os.path.join(folder, "pong")
        check_new(tap, lambda: profile(pong, "1000", comm="pong"), "pong",
                  f"beside {started} processes", 500)
        out, err, _ = live.stacktop("-b", "-d", "1", "-n", "1")
        err = live.errors(err, ("ping", "pong"))
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


def comm_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return len(file.read().split())
    except OSError:
        return 0


TESTS = (execs, short_lived, forks, threads, reuse, dlopen, moved, twins, many, vanished, namespaces,
         overlay, changing, thousands)


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-tracking-") as folder:
        compile_all(folder)
        for test in TESTS:
            if not sys.argv[1:] or test.__name__ in sys.argv[1:]:
                test(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
