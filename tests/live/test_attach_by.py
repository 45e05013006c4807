#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""Attaching by user, control group and container, on the command line and at run time: one load of
the user nobody, one in a control group, one of neither. /proc says which of them must be sampled.

Covers: symbols/files/cgroup.c bpf/tracker/targets.c bpf/tracker/selector.c tui/collect/collector_post.c
"""

import os
import re
import select
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

NOBODY = 65534
EVIL = "evil\x1b[31m\x1b]0;t\x07" + "x" * 200 + ".service"
ID = "3f29ad0a9cd9b4e3a0cf8a9d0b3a1c5e7f60718293a4b5c6d7e8f90112233445"
SPIN = "while :; do :; done"
PATIENCE = 200
DELAYS = ("0.5", "3", "15")  # the next if an attached load got no CPU in the one before


def as_nobody():
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def spin(**options):
    """A load that also ends by itself."""
    return live.Gentle(["timeout", "900", "sh", "-c", SPIN], **options)


def busy_pid(load):
    """The PID of the shell below timeout, once it exists."""
    path = f"/proc/{load.pid}/task/{load.pid}/children"
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with open(path, encoding="ascii") as file:
            pids = file.read().split()
        if pids:
            return int(pids[0])
        time.sleep(0.01)
    raise TimeoutError("no shell")


def euid(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return int(re.search(r"^Uid:\s+\d+\s+(\d+)", file.read(), re.M).group(1))


def groups(pid):
    """The paths of a process in all hierarchies."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        return [line.rstrip("\n").split(":", 2)[2] for line in file]


def below(pid, path):
    return any(group == path or group.startswith(path + "/") for group in groups(pid))


class Group:
    """A cgroup of version 2 with a container's name below it; None where it cannot be made."""

    def __init__(self, name):
        self.path = self.root = self.name = None
        with open("/proc/mounts", encoding="utf-8") as file:
            roots = [line.split()[1] for line in file if line.split()[2] == "cgroup2"]
        for root in roots:
            try:
                os.mkdir(os.path.join(root, name))
                os.mkdir(os.path.join(root, name, f"docker-{ID}.scope"))
                os.mkdir(os.path.join(root, name, EVIL))
            except OSError:
                continue
            self.root, self.name = root, name
            self.path = os.path.join(root, name)

    def __enter__(self):
        return self

    def inside(self):
        return os.path.join(self.path, f"docker-{ID}.scope")

    def evil(self):
        return os.path.join(self.path, EVIL)

    def move(self, pid, where):
        with open(os.path.join(where, "cgroup.procs"), "w", encoding="ascii") as file:
            file.write(str(pid))

    def __exit__(self, *_):
        for path in (self.inside(), self.evil(), self.path) if self.path else ():
            for _ in range(200):  # until the kernel has removed the ended processes
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.05)


def sampled(loads, delay, *options):
    """(loads with PIDs in a report, the report's number of attached processes)"""
    out, err, status = live.stacktop("-b", "-n", "1", "-F", live.hertz(999), "-d", delay, *options,
                                     timeout=PATIENCE)
    if status:
        raise RuntimeError(err)
    report = live.Report(out)
    chosen = re.search(r"^(\d+) process(?:es)? chosen", out, re.M)
    pids = {pid for pid, _, _ in report.procs}
    return {name for name, pid in loads.items() if pid in pids}, int(chosen.group(1)), report


def expect(tap, name, loads, options, fits):
    """All loads that fit are sampled, and no process that does not fit."""
    expected = {load for load, pid in loads.items() if fits(pid)}
    for delay in DELAYS:
        found, chosen, report = sampled(loads, delay, *options)
        if expected <= found:
            break
    tap.ok(found == expected, name, f"{sorted(found)}, not {sorted(expected)}")
    tap.ok(chosen >= len(expected), f"{name}: their number", f"{chosen}")
    strangers = []
    for pid, _, comm in report.procs:
        try:
            if pid not in loads.values() and not fits(pid):
                strangers.append((pid, comm))
        except OSError:
            pass  # the process has ended since
    tap.ok(not strangers, f"{name}: no other process", str(strangers))


def check_options(tap, loads, group):
    expect(tap, "-u nobody", loads, ("-u", "nobody"), lambda pid: euid(pid) == NOBODY)
    expect(tap, "-u by number", loads, ("-u", str(NOBODY)), lambda pid: euid(pid) == NOBODY)
    if not group.path:
        tap.skip("--cgroup, --container", "no control group of version 2 can be made")
        return
    top = "/" + group.name
    expect(tap, "-G PATH", loads, ("-G", top), lambda pid: below(pid, top))
    expect(tap, "-G PATH of the group itself", loads, ("-G", f"{top}/docker-{ID}.scope"),
           lambda pid: below(pid, top))
    expect(tap, "-G PART", loads, ("-G", group.name[2:]), lambda pid: below(pid, top))
    expect(tap, "-G as shown", loads, ("-G", "docker " + ID[:12]), lambda pid: below(pid, top))
    expect(tap, "--container", loads, ("--container", ID[:6]), lambda pid: below(pid, top))
    expect(tap, "-u and -G together", loads, ("-u", "nobody", "-G", top),
           lambda pid: euid(pid) == NOBODY and below(pid, top))
    expect(tap, "a path that is only a part of a name", loads, ("-G", top[:-1]),
           lambda pid: below(pid, top[:-1]))


class Plain:
    """The view in lines; asks for the attached processes anew each time."""

    def __init__(self):
        env = dict(os.environ, TERM="dumb", XDG_CONFIG_HOME="/nonexistent")
        self.process = subprocess.Popen([live.STACKTOP, "--plain", "-d", "0.2"], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.text = self.all = b""

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        data = os.read(self.process.stdout.fileno(), 65536)
        self.text += data
        self.all += data

    def wait_for(self, pattern):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            match = re.search(pattern.encode(), self.text, re.M)
            if match:
                self.text = self.text[match.end():]
                return match
            if select.select([self.process.stdout], [], [], 1)[0]:
                self.read()
        return None

    def ask(self, line, pattern):
        self.say(line)
        return self.wait_for(pattern)

    def become(self, loads, names):
        """Asks until the attached loads are `names`, which takes a scan or two."""
        until = time.monotonic() + PATIENCE
        while True:
            found = self.list(loads)
            if found == names or time.monotonic() > until:
                return found == names, f"{sorted(found)}, not {sorted(names)}"
            time.sleep(0.2)

    def list(self, loads):
        self.text = b""
        self.say("")
        self.wait_for("^Processes by.*\n")
        told = b""
        while True:
            match = re.search(rb"^\d\d:\d\d:\d\d: ", self.text, re.M)
            if match:
                told = self.text[:match.start()]
                break
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                break
            self.read()
        return {name for name, pid in loads.items()
                if re.search(rf"PID {pid} .*; attached".encode(), told)}

    def end(self):
        self.say("quit")
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        self.process.stdout.close()


def check_users(tap, plain, loads):
    tap.ok(plain.ask("attach user:no-such-user", "there is no user 'no-such-user'"),
           "an unknown user is reported")
    tap.ok(plain.ask("attach user:3999999999", r"attached to nothing: no process of \d+ is of the "
                                               "user 3999999999"),
           "a user without processes is reported")
    tap.ok(plain.ask("attach user:nobody", r"attached to \d+ process(es)? of the user nobody"),
           "attach user:nobody")
    fits = {name for name, pid in loads.items() if euid(pid) == NOBODY}
    tap.ok(*words(plain.become(loads, fits), "the loads of the user nobody are attached"))
    with spin(preexec_fn=as_nobody) as load:
        more = {"later": busy_pid(load), **loads}
        tap.ok(*words(plain.become(more, fits | {"later"}), "so is a load that starts later"))
    changes = subprocess.Popen(
        [sys.executable, "-c", f"import os, sys, time\nend = time.monotonic() + 900\n"
         f"sys.stdin.readline()\nos.setuid({NOBODY})\nwhile time.monotonic() < end: pass"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        more = {"changes": changes.pid, **loads}
        tap.ok(*words(plain.become(more, fits), "root's process is not"))
        changes.stdin.write(b"\n")
        changes.stdin.flush()
        tap.ok(*words(plain.become(more, fits | {"changes"}), "until it calls setuid"))
    finally:
        changes.kill()
        changes.wait()
        changes.stdin.close()
    tap.ok(plain.ask(f"detach user:{NOBODY}", r"detached from \d+ process(es)? of the user"),
           "detach by the number")
    tap.ok(*words(plain.become(loads, set()), "no load is attached"))


def check_groups(tap, plain, loads, group):
    if not group.path:
        tap.skip("cgroup:, container:", "no control group of version 2 can be made")
        return
    top = "/" + group.name
    fits = {name for name, pid in loads.items() if below(pid, top)}
    for word in (f"cgroup:{top}", f"cgroup:{group.name}", f"container:{ID[:12]}"):
        tap.ok(plain.ask(f"attach {word}", r"attached to \d+ process(es)? in the c"),
               f"attach {word}")
        tap.ok(*words(plain.become(loads, fits), f"{word}: those of the group"))
        tap.ok(plain.ask(f"detach {word}", r"detached from \d+ process(es)? in the c"),
               f"detach {word}")
    tap.ok(plain.ask(f"attach container:{ID[:12]}", "attached to "), "attach once more")
    group.move(loads["other"], group.inside())
    tap.ok(*words(plain.become(loads, fits | {"other"}), "a process that is moved into it"))
    group.move(loads["other"], group.root)
    tap.ok(*words(plain.become(loads, fits), "and out of it again"))
    tap.ok(plain.ask("attach user:nobody", "attached to "), "a user in addition")
    both = fits | {name for name, pid in loads.items() if euid(pid) == NOBODY}
    tap.ok(*words(plain.become(loads, both), "both selectors hold"))
    tap.ok(plain.ask(f"attach -cgroup:{top}", "detached from "), "- detaches")
    tap.ok(*words(plain.become(loads, both - fits), "the loads of the user nobody remain"))
    tap.ok(plain.ask("detach", "the whole machine is sampled"), "detach all")
    group.move(loads["other"], group.evil())
    tap.ok(plain.ask("attach cgroup:evil?[31m?]0;t?xxx", "attached to 1 process in the cgroup"),
           "a name with escape sequences, typed as it is shown")
    tap.ok(*words(plain.become(loads, {"other"}), "its process is attached"))
    tap.ok(not re.search(rb"[^\n\x20-\x7e]", plain.all), "only text was written")


def words(result, name):
    """The arguments of Tap.ok in their order."""
    return result[0], name, result[1]


def main():
    tap = live.Tap()
    live.need(tap)
    with Group(f"stacktop-test-{os.getpid()}") as group, spin(preexec_fn=as_nobody) as owned, \
            spin() as grouped, spin() as other:
        loads = {"nobody": busy_pid(owned), "grouped": busy_pid(grouped),
                 "other": busy_pid(other)}
        if group.path:
            group.move(loads["grouped"], group.inside())
        check_options(tap, loads, group)
        plain = Plain()
        try:
            plain.wait_for("^Processes by")
            check_users(tap, plain, loads)
            check_groups(tap, plain, loads, group)
        finally:
            plain.end()
    tap.done()


main()
