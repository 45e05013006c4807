#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs real programs of Debian one after the other, samples each with stacktop and with perf at the same
time, and prints which part of the stacks each of them walked to the end.

    tests/zoo/run.py [PROGRAM...]     names, parts of names or classes; without any all except those
                                      that programs.py calls EXTRA, which `all` includes
        SECONDS=4       how long each program is sampled
        OUT=FILE        also write the table into FILE, between its two `zoo` comments if it has them
        NO_INSTALL=1    leave out programs whose packages are missing, instead of installing them

Each program runs in a control group of its own, by which both tools choose what they sample, so its
children and workers count and the load that drives a server does not. build/zoo/ keeps the files of the
programs, the last results (results.json) and, for each program, the stacks that were not complete or
only seemed so (details/NAME.txt). `make zoo` builds stacktop first.
"""

import contextlib
import datetime
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import data
import programs
import report
import stacks

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
BUILD = BUILD if BUILD.is_absolute() else TOP / BUILD
ROOM = BUILD / "zoo"
STACKTOP = BUILD / "stacktop"
SOURCES = TOP / "tests" / "zoo" / "programs"
SECONDS = max(1, int(os.environ.get("SECONDS") or 4))
FREQUENCY = 199
STACK_BYTES = 16384
TIMEOUT_PREPARE = 240
TIMEOUT_SCRIPT = 120
FEW_SAMPLES = 50


class Skipped(Exception):
    pass


def environment():
    kept = {name: value for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BUILD", "SECONDS", "OUT")}
    return {**kept, "LC_ALL": "C.UTF-8", "SRC": str(SOURCES), "HOME": str(ROOM / "home"),
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games",
            "TOP": str(TOP), "ZOO": str(ROOM), "DATA": str(ROOM / "data")}


# --- packages --------------------------------------------------------------------------------

def installed(packages):
    """Which of the packages of Debian are there."""
    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *packages],
                            capture_output=True, text=True, check=False).stdout
    return {line.split()[0] for line in answer.splitlines() if line.endswith(" installed")}


def lacking(packages, present):
    """Those of the packages, each a name or a|b, that are missing."""
    return [package for package in packages if not present & set(package.split("|"))]


def install(chosen):
    """Installs what is missing, says so before, and goes on without what cannot be had. It removes no
    package and upgrades none."""
    if not shutil.which("apt-get"):
        sys.exit("zoo: the programs are packages of Debian, but there is no apt-get")
    packages = sorted({package for program in chosen for package in program.packages} |
                      set(programs.PACKAGES))
    wanted = [name for package in packages for name in package.split("|")]
    missing = [next(filter(available, package.split("|")), None)
               for package in lacking(packages, installed(wanted))]
    known = [package for package in missing if package]
    if known and not os.environ.get("NO_INSTALL"):
        print("zoo: installing with apt: " + " ".join(known), flush=True)
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        command = ["apt-get", "-y", "-o", "DPkg::Lock::Timeout=900", "install",
                   "--no-install-recommends", "--no-upgrade", "--no-remove"]
        if subprocess.run([*command, *known], env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode:
            for package in known:   # one that fails must not keep out the others
                subprocess.run([*command, package], env=env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, check=False)
    return installed(wanted)


def available(package):
    answer = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True,
                            check=False).stdout
    return "Candidate:" in answer and "Candidate: (none)" not in answer


# --- one program -----------------------------------------------------------------------------

class Group:
    """A control group. What runs in it is killed when the block is left."""

    def __init__(self, name):
        mounts = pathlib.Path("/proc/mounts").read_text(encoding="ascii").splitlines()
        mount = next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), None)
        if not mount:
            raise Skipped("no control groups (version 2) are mounted")
        self.name = name
        self.path = pathlib.Path(mount, name)

    def __enter__(self):
        self.path.mkdir(exist_ok=True)
        return self

    def enter(self):
        (self.path / "cgroup.procs").write_text("0", encoding="ascii")

    def pids(self):
        try:
            return [int(word) for word in
                    (self.path / "cgroup.procs").read_text(encoding="ascii").split()]
        except OSError:
            return []

    def cpu_seconds(self):
        """Of all processes that are or were in the group."""
        text = (self.path / "cpu.stat").read_text(encoding="ascii")
        return int(re.search(r"usage_usec (\d+)", text).group(1)) / 1e6

    def __exit__(self, *_):
        for _ in range(200):
            with contextlib.suppress(OSError):
                (self.path / "cgroup.kill").write_text("1", encoding="ascii")
            for pid in self.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                self.path.rmdir()
                return
            time.sleep(0.05)


def shell(command, folder, **options):
    return subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment(),
                            stdin=subprocess.DEVNULL, start_new_session=True, **options)


def prepare(program):
    """Makes the program's folder and runs its preparation, unless the same one has succeeded before."""
    folder = ROOM / "programs" / program.name
    folder.mkdir(parents=True, exist_ok=True)
    (ROOM / "home").mkdir(exist_ok=True)
    newest = max((source.stat().st_mtime for source in SOURCES.iterdir()
                  if source.name in program.prepare), default=0)
    stamp = folder / ".prepared"
    with contextlib.suppress(OSError):
        if stamp.read_text(encoding="utf-8") == program.prepare and stamp.stat().st_mtime > newest:
            return folder
    log = ROOM / "details" / f"{program.name}.prepare"
    with open(log, "wb") as file:
        process = shell("set -e\n" + program.prepare, folder, stdout=file, stderr=file)
        try:
            code = process.wait(TIMEOUT_PREPARE)
        except subprocess.TimeoutExpired:
            code = "timeout"
        end_session(process)
    if code:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Skipped(f"cannot be prepared ({code}): {lines[-1][:200] if lines else ''}")
    stamp.write_text(program.prepare, encoding="utf-8")
    return folder


def end_session(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def starts_of(pids):
    """The stacks.Starts of processes that run now: their programs and libraries, and ld.so."""
    starts = stacks.Starts()
    for pid in pids:
        with contextlib.suppress(OSError):
            name = os.readlink(f"/proc/{pid}/exe").replace(" (deleted)", "").rsplit("/", 1)[-1]
            starts.entry(name, stacks.elf_starts(f"/proc/{pid}/exe"))
            for line in pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
                path = line.split(maxsplit=5)[5:]
                if line.split()[1][2] == "x" and path and path[0].startswith("/"):
                    starts.add(path[0].rsplit("/", 1)[-1], path[0])
    for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"):
        path = os.path.realpath(path)
        starts.entry(os.path.basename(path), stacks.elf_starts(path))
    return starts


class Perf:
    """perf record, which begins disabled, so that it samples the same time as stacktop."""

    def __init__(self, group, file):
        control, self.control = os.pipe()
        self.answers, answer = os.pipe()
        self.file = file
        self.process = subprocess.Popen(
            ["perf", "record", "-q", "-N", "-F", str(FREQUENCY), "-a", "-e", "cpu-clock", "-G", group.name,
             "--call-graph", f"dwarf,{STACK_BYTES}", "-m", "4096", "-D", "-1",
             "--control", f"fd:{control},{answer}", "-o", file],
            pass_fds=(control, answer), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        os.close(control)
        os.close(answer)

    def tell(self, word):
        try:
            os.write(self.control, word.encode() + b"\n")
        except BrokenPipeError as error:
            raise Skipped("perf record has ended: " + (self.process.stderr.read() or "")) from error
        os.read(self.answers, 16)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        os.close(self.control)
        os.close(self.answers)

    def script(self):
        try:
            done = subprocess.run(
                ["perf", "script", "--no-inline", "-i", self.file, "-F", "comm,pid,tid,ip,sym,dso"],
                capture_output=True, timeout=TIMEOUT_SCRIPT, env=environment(), check=False)
        except subprocess.TimeoutExpired as error:
            return (error.stdout or b"").decode("utf-8", "replace"), True
        return done.stdout.decode("utf-8", "replace"), False


def sample(group, own_group, folder):
    """Both tools on a group; stacktop runs in own_group, which counts its CPU time. The result is
    (lines of stacktop, text of perf, whether perf was cut off, stacktop's CPU in per cent, starts).
    stacktop's first refresh builds its tables; the others count."""
    file = folder / "perf.data"
    perf = Perf(group, file)
    stacktop = subprocess.Popen(
        [STACKTOP, "-b", "-F", str(FREQUENCY), "-d", "1", "-n", str(SECONDS + 1),
         "--cgroup", "/" + group.name, "--format", "json"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "HOME": str(ROOM / "home")}, preexec_fn=own_group.enter)
    lines = []
    used = began = 0
    try:
        for line in stacktop.stdout:
            lines.append(line)
            if len(lines) == 1:
                perf.tell("enable")
                began, used = time.monotonic(), own_group.cpu_seconds()
                starts = starts_of(group.pids())
            elif len(lines) == SECONDS + 1:
                own = 100 * (own_group.cpu_seconds() - used) / (time.monotonic() - began)
                perf.tell("disable")
        words = stacktop.stderr.read()
        stacktop.wait()
    finally:
        perf.stop()
        end(stacktop)
    if len(lines) < SECONDS + 1:
        raise Skipped("stacktop has ended early: " + words.strip()[-200:])
    text, cut = perf.script()
    os.environ.get("KEEP") or file.unlink()
    return lines[1:], text, cut, own, starts


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()


def wait_ready(program, folder):
    for _ in range(100):
        process = shell(program.ready, folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if process.wait() == 0:
            return
        time.sleep(0.1)
    raise Skipped("does not start: " + program.ready)


def run(program):
    """The result of one program as a dictionary; raises Skipped."""
    folder = prepare(program)
    log = open(ROOM / "details" / f"{program.name}.log", "wb")
    with log, Group("stacktop-zoo") as group, contextlib.ExitStack() as others:
        process = shell(program.command, folder, stdout=subprocess.DEVNULL, stderr=log,
                        preexec_fn=group.enter)
        others.callback(end_session, process)
        if program.ready:
            wait_ready(program, folder)
        for command in program.drive:
            driver = shell(command, folder, stdout=subprocess.DEVNULL, stderr=log)
            others.callback(end_session, driver)
        time.sleep(program.warm)
        with Group("stacktop-zoo-tool") as own_group:
            lines, text, cut, own, starts = sample(group, own_group, folder)
    ours = stacks.from_stacktop(lines)
    theirs = stacks.from_perf(text)
    if program.comm:
        ours = [stack for stack in ours if re.fullmatch(program.comm, stack.comm)]
        pids = {stack.pid for stack in ours}
        theirs = [stack for stack in theirs if stack.pid in pids]
    verdicts = {"stacktop": stacks.Verdict(ours, program, starts, True),
                "perf": stacks.Verdict(theirs, program, starts, False)}
    report.write_details(ROOM / "details" / f"{program.name}.txt", program, verdicts)
    result = {tool: verdict.summary(program) for tool, verdict in verdicts.items()}
    result.update({"class": program.kind, "cpu": own, "cut": cut, "why": program.why})
    if result["stacktop"]["samples"] < FEW_SAMPLES:
        tail = pathlib.Path(log.name).read_text(encoding="utf-8", errors="replace").strip()
        raise Skipped(f"only {result['stacktop']['samples']} samples: {tail.rpartition(chr(10))[2][-200:]}")
    return result


def chosen_programs(words):
    names = [program.name for program in programs.PROGRAMS]
    if len(set(names)) != len(names):
        sys.exit("zoo: two programs have the same name")
    if not words:
        return [program for program in programs.PROGRAMS if program.name not in programs.EXTRA]
    if words == ["all"]:
        return programs.PROGRAMS
    exact = [program for program in programs.PROGRAMS if program.name in words]
    loose = [word for word in words if word not in names]
    found = exact + [program for program in programs.PROGRAMS if program not in exact and
                     any(word in program.name or word == program.kind for word in loose)]
    if not found:
        sys.exit("zoo: no such program: " + " ".join(words))
    return found


def main():
    if os.geteuid() != 0:
        sys.exit("zoo: needs root")
    os.chdir(TOP)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # ends what runs, as SIGINT does
    chosen = chosen_programs(" ".join(sys.argv[1:]).split())
    present = install(chosen)
    (ROOM / "details").mkdir(parents=True, exist_ok=True)
    data.make(ROOM / "data")
    if subprocess.run(["perf", "--version"], capture_output=True, check=False).returncode:
        sys.exit("zoo: perf does not work here (package linux-perf)")
    with open(ROOM / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)    # two programs never run at once
        store = ROOM / "results.json"
        results = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
        began = time.monotonic()
        print(report.HEAD, flush=True)
        for program in chosen:
            missing = lacking(program.packages, present)
            try:
                if missing:
                    raise Skipped("not installed: package " + ", ".join(missing))
                results[program.name] = run(program)
            except Skipped as error:
                results[program.name] = {"class": program.kind, "skipped": str(error)}
            print(report.line(program.name, results[program.name]), flush=True)
            store.write_text(json.dumps(results, indent=1), encoding="utf-8")
        print(report.totals({program.name: results[program.name] for program in chosen}))
        print(f"{time.monotonic() - began:.0f} s; stacks that are not complete: {ROOM}/details/")
        out = os.environ.get("OUT")
        if out:
            every = {program.name: results[program.name] for program in programs.PROGRAMS
                     if program.name in results}
            report.write_markdown(TOP / out, every, SECONDS, FREQUENCY,
                                  datetime.date.today().isoformat())


if __name__ == "__main__":
    main()
