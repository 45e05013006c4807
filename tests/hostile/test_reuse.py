#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 200 s
"""Reused addresses: programs for which it is known at each moment what they execute. Two functions,
alpha and bravo, have one address in turn, and each is run by a thread of its own, or of its own image,
so the thread of a sample tells which of the two it hit. A sample with a frame of the other function is
wrong; a frame without a name, or a walk that ends with a reason, is not. Also a stack that is forged to
be taken for another process's.

    tests/hostile/test_reuse.py [CASE...]       only these

All cases run at once, a fifth of the time. Each is judged by the JSON report and by the session recorded
meanwhile.

Covers: bpf/tracker/process.c bpf/tracker/mapping.c bpf/tracker/rescan.c bpf/tracker/answers.c tui/collect/stackcache.c tui/symbolize/resolver.c
Covers: tui/symbolize/modules.c tui/symbolize/jit.c unwind/step.h
"""

import collections
import contextlib
import ctypes
import functools
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))
import live  # noqa: E402

PROGRAMS = os.path.join(HERE, "programs")
PLUGIN = os.path.join(HERE, "..", "live", "programs", "track", "plugin.c")
SECONDS = 14
SLOW, FAST = 1500, 150      # milliseconds per turn
ENOUGH = 50                 # samples by which a case is judged
USER = 65534
SIDES = ("alpha", "bravo")
MARK = re.compile(r"^(?:(alpha|bravo)_|(secret_miner|harmless_checksum)$)")
HERTZ = live.hertz(2999)
RUN = ((signal.SIGCONT, 0.02), (signal.SIGSTOP, 0.08))      # seconds
CLONE_NEWNS, ADDR_NO_RANDOMIZE, PR_SET_PDEATHSIG = 0x20000, 0x40000, 1
CPU_SECONDS = 30            # a case ends after this much, whatever goes wrong
LIBC = ctypes.CDLL(None, use_errno=True)


def compile_all(folder):
    def cc(out, source, *flags):
        live.cc(os.path.join(folder, out), os.path.join(PROGRAMS, source), *flags)

    for name in SIDES:
        cc(f"lib{name}.so", PLUGIN, "-shared", "-fPIC", f"-DNAME={name}", "-DPAD=64")
        cc(name, "execs.c", "-no-pie", "-pthread", f"-DNAME={name}")
    cc("turns", "turns.c", "-pthread", "-ldl")
    cc("samepid", "samepid.c")
    cc("forger", "forger.c", "-pie", "-fPIE")
    for number in (1, 2):
        cc(f"victim{number}", "victim.c", "-static", "-nostdlib", "-no-pie", f'-DAT="{number}"')


@functools.cache
def symbol(path, name):
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return re.search(rf"^([0-9a-f]+) \w {name}$", text, re.M).group(1)


class Case:
    """A way to reuse an address. start(self) starts it in its folder."""

    def __init__(self, name, start):
        self.name, self.start = name, start
        self.folder = self.truth = None
        self.processes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, command, uid=USER, before=None, **options):
        def prepare():
            if LIBC.personality(ADDR_NO_RANDOMIZE) < 0:
                os._exit(99)
            if before:
                before()
            if uid:
                os.setgid(uid)
                os.setuid(uid)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            LIBC.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)    # setuid would clear it

        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   cwd=self.folder, preexec_fn=prepare, start_new_session=True,
                                   **options)
        live.weigh(process.pid, 10)     # so that in_turns() halts it in time
        self.processes.append(process)
        return process

    def end(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"/tmp/perf-{process.pid}.map")

    def sides(self):
        """{thread: side}"""
        if not os.path.exists(self.truth):
            return {}
        with open(self.truth, encoding="ascii") as file:
            return {int(tid): side for tid, side in (line.split() for line in file)}


def turns(how, ms):
    def start(case, built):
        case.run([os.path.join(built, "turns"), how, str(ms), case.truth,
                  symbol(os.path.join(built, "libalpha.so"), "alpha_one"),
                  os.path.join(built, "libalpha.so"), os.path.join(built, "libbravo.so"),
                  case.path("work")])
    return start


def execs(case, built, how, ms, work):
    return [os.path.join(built, "alpha"), how, str(ms), case.truth, os.path.join(built, "alpha"),
            os.path.join(built, "bravo"), work]


def changing(how, ms, uid=USER):
    """A program that executes another one, of the same name if `how` says so."""
    def start(case, built):
        open(case.path("work"), "wb").close()
        os.chown(case.path("work"), uid, uid)
        case.run(execs(case, built, how, ms, case.path("work")), uid,
                 apart if how == "bind" else None)
    return start


def apart():
    """In a child: a mount namespace for it and its children."""
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, 0x44000, None):
        os._exit(98)


def mount(what, where, options=None):
    kind = what.encode()
    if LIBC.mount(kind, os.fsencode(where), kind, 0, options and os.fsencode(options)):
        os._exit(97)


def containers(kind):
    """Two at once that see different programs at the same path."""
    def start(case, built):
        at = case.path("opt")
        os.mkdir(at)

        def enter(side):
            def inside():
                apart()
                if kind == "overlay":
                    mount("tmpfs", at)
                    for part in ("lower", "upper", "work", "both"):
                        os.mkdir(os.path.join(at, part))
                    put(os.path.join(built, SIDES[0]), os.path.join(at, "lower", "program"))
                    mount("overlay", os.path.join(at, "both"),
                          f"lowerdir={at}/lower,upperdir={at}/upper,workdir={at}/work")
                    if side == SIDES[1]:
                        put(os.path.join(built, side), os.path.join(at, "both", "program"))
                else:
                    mount("tmpfs", at)
                    os.mkdir(os.path.join(at, "both"))
                    put(os.path.join(built, side), os.path.join(at, "both", "program"))
            return inside

        command = execs(case, built, "once", SECONDS * 1000 * 4, case.path("work"))
        for side in SIDES:
            case.run(command, before=enter(side),
                     executable=os.path.join(at, "both", "program"))
    return start


def put(source, target):
    """Copies in place, with a fixed time that does not tell copies apart."""
    with open(source, "rb") as file, open(target, "wb") as to:
        to.write(file.read())
    os.chmod(target, 0o755)
    os.utime(target, (1500000000, 1500000000))


def replaced(how):
    """Two at once from one path; the first one's file is deleted, or another renamed over it."""
    def start(case, built):
        work = case.path("program")
        command = execs(case, built, "once", SECONDS * 1000 * 4, case.path("work"))
        for side in SIDES:
            if how == "deleted" and os.path.exists(work):
                os.unlink(work)
            put(os.path.join(built, side), work + ".new")
            os.rename(work + ".new", work)
            case.run(command, executable=work)
            live.wait_for(lambda: os.path.exists(case.truth), 10)
            time.sleep(0.2)
    return start


def same_pid(ms):
    """One program ends, and the other gets its number."""
    def start(case, built):
        command = execs(case, built, "once", ms, case.path("work"))
        case.run([os.path.join(built, "samepid"), command[0], os.path.join(built, "bravo"),
                  *command[1:]], uid=0)
    return start


class Forged(Case):
    """A process that plants a stack with the hash of another process's stack."""

    def __init__(self, name, number, first):
        super().__init__(name, lambda case, built: case.begin(built, case.first))
        self.number, self.first = number, first
        self.victim = self.forger = None

    def begin(self, built, what):
        victim = os.path.join(built, f"victim{self.number}")
        if what == "victim":
            self.victim = self.run([victim], uid=0)
        else:
            self.forger = self.run([os.path.join(built, "forger"), victim] + [
                symbol(victim, name) for name in ("secret_miner", "secret_back", "harmless_checksum")])

    def later(self, built):
        self.begin(built, "forger" if self.first == "victim" else "victim")


CASES = [
    *(Case(f"{how} {'slowly' if ms == SLOW else 'fast'}", turns(how, ms))
      for how in ("dlopen", "unmap", "over", "mremap", "memfd", "rename", "deleted", "inplace", "jit")
      for ms in (SLOW, FAST)),
    Case("exec slowly", changing("exec", SLOW)),
    Case("exec fast", changing("exec", FAST)),
    Case("exec of what was renamed", changing("rename", SLOW)),
    Case("exec of what deletes itself", changing("deleted", SLOW)),
    Case("exec of what is bound over", changing("bind", SLOW, uid=0)),
    Case("PID slowly", same_pid(SLOW)),
    Case("PID fast", same_pid(FAST)),
    Case("containers of tmpfs", containers("tmpfs")),
    Case("containers of overlayfs", containers("overlay")),
    Case("program renamed over", replaced("renamed")),
    Case("program deleted", replaced("deleted")),
    Forged("stack forged before", 1, "forger"),
    Forged("stack forged after", 2, "victim"),
]


def mark(name):
    """Whose function it is."""
    match = MARK.match(name)
    return match and (match.group(1) or match.group(2))


def samples(lines):
    """{(pid, thread, whose functions there are in the user stack): [count, one such stack]} of a JSON report"""
    found = {}
    for line in lines:
        told = json.loads(line)
        functions = told["functions"]
        user = [f["kind"] not in ("kernel", "end") for f in functions]
        marks = [mark(f["name"] or "") for f in functions]
        for stack in told["stacks"]:
            frames = [at for at in stack["frames"] if user[at]]
            if frames:
                key = (told["processes"][stack["process"]]["pid"], stack["thread"],
                       frozenset(marks[at] for at in frames if marks[at]))
                example = ";".join(functions[at]["name"] or "?" for at in frames)
                found.setdefault(key, [0, example])[0] += stack["count"]
    return found


def judge(case, found):
    """(counts of right, wrong and nameless samples, examples of wrong ones)"""
    result, wrong = collections.Counter(), collections.Counter()
    if isinstance(case, Forged):
        own = {case.victim.pid: "secret_miner", case.forger.pid: "harmless_checksum"}
    else:
        own = case.sides()
    for (pid, thread, named), (count, frames) in found.items():
        whose = own.get(pid if isinstance(case, Forged) else thread)
        if not whose:
            continue
        verdict = "wrong" if named - {whose} else "right" if named else "nameless"
        result[verdict] += count
        if verdict == "wrong":
            wrong[f"{whose}'s: {frames}"] += count
    return result["right"], result["wrong"], result["nameless"], wrong.most_common(2)


@contextlib.contextmanager
def in_turns(cases):
    """Lets all run at once, halts all at once, and so on."""
    leaving = threading.Event()

    def turns():
        for number, seconds in itertools.cycle(RUN):
            for process in [process for case in cases for process in case.processes]:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
            if leaving.wait(seconds):
                break

    thread = threading.Thread(target=turns)
    thread.start()
    try:
        yield
    finally:
        leaving.set()
        thread.join()


def start_all(cases, built, folder):
    for number, case in enumerate(cases):
        case.folder = os.path.join(folder, str(number))
        os.mkdir(case.folder)
        os.chown(case.folder, USER, USER)
        case.truth = case.path("truth")
        case.start(case, built)


def report(tap, cases, told):
    """told: {what reported: samples()}"""
    for case in cases:
        for where, found in told.items():
            right, wrong, nameless, examples = judge(case, found)
            total = right + wrong + nameless
            name = f"{case.name}, {where}: no sample has the name of the earlier code"
            detail = f"{total} samples: {right} right, {wrong} wrong, {nameless} without a name"
            if total < ENOUGH:
                tap.skip(name, f"only {total} samples")
            else:
                tap.ok(wrong == 0, name, detail)
            for example, count in examples:
                tap.note(f"{count} of {example}")


def main():
    tap = live.Tap()
    live.need(tap)
    words = sys.argv[1:]
    cases = [case for case in CASES if not words or any(word in case.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="stacktop-reuse-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        compile_all(folder)
        session = os.path.join(folder, "session")
        with live.Stream("-d", "0.5", "-F", HERTZ, "-K", "--no-inline", "-w", session) as top:
            live.weigh(top.pid, -10)
            top.until(lambda slices: len(slices) >= 1)
            try:
                with in_turns(cases):
                    start_all(cases, folder, folder)
                    time.sleep(SECONDS / 3)
                    for case in cases:
                        if isinstance(case, Forged):
                            case.later(folder)
                    time.sleep(SECONDS * 2 / 3)
            finally:
                for case in cases:
                    case.end()
            top.stop()
            lines = os.pread(top.out.fileno(), 1 << 28, 0).decode().splitlines()
        replay, err, _ = live.stacktop("-r", session, "-b", "--format", "json", "-d", "0.5")
        tap.note(err)
        report(tap, cases, {"report": samples(lines), "session": samples(replay.splitlines())})
    tap.done()


if __name__ == "__main__":
    main()
