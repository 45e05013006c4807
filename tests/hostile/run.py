#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Attacks by a user without rights: files, names, mounts and storms of processes (attacks.py,
elves.py), several at a time, while root runs the program beside a python3.

    tests/hostile/run.py [-1] [WORD...]     only attacks with a word in their name; -1: one at a time

Required under attack: each report comes at most LATE seconds late, also the first one of a run that
begins then; q and SIGTERM end it within END seconds; the python3's stacks are complete; memory is
bounded; nothing crashes, and neither reports nor messages have control characters. TIME_FACTOR in the
environment multiplies the limits.
"""

import contextlib
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]
import attacks  # noqa: E402
import live  # noqa: E402

FACTOR = float(os.environ.get("TIME_FACTOR", "1"))
LATE = 2 * FACTOR           # seconds after it is due
END = 1.5 * FACTOR          # seconds from the key or signal to the end
USUAL = 1                   # seconds that a run of half a second usually takes
GIVE_UP = 15 * FACTOR       # seconds until it is killed
LASTS = 4                   # seconds that a group attacks
MEMORY = 512 << 10          # KiB: budgets of tables, debug information and JIT names, and the program
TOGETHER = 10               # attacks at a time
CPU_SECONDS = 60            # an attacker ends after this much, whatever goes wrong
COMPLETE = 99.0             # percent
ENOUGH = 20                 # samples of the python3
BESIDE = "def inner():\n for _ in range(9999): pass\ndef outer():\n inner()\nwhile True: outer()"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


def compile_all(folder):
    for name in ("mapper", "storm", "hangfs"):
        live.cc(os.path.join(folder, name), os.path.join(HERE, "programs", name + ".c"), "-pthread")


class Attacker:
    """A process that prepares its attack and begins when the gate opens."""

    def __init__(self, attack, folder, built):
        self.attack = attack
        self.folder = folder
        os.mkdir(folder)
        os.chown(folder, attacks.USER, attacks.USER)
        self.stage = attacks.Stage(folder, built)
        self.out = os.path.join(folder, "out.txt")
        self.tell, self.gate = os.pipe()
        self.ready, ready = os.pipe()
        self.trouble = None
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self.gate)
                self.become(ready)
            except BaseException as error:  # pylint: disable=broad-except
                os.write(2, f"{attack.name}: {error!r}\n".encode())
            os._exit(1)
        os.close(self.tell)
        os.close(ready)
        self.stage.pid = self.pid
        try:
            if attack.root:
                attack.root(self.stage)
            os.write(self.gate, b"r")
        except OSError as error:
            self.trouble = str(error)

    def become(self, ready):
        os.setsid()
        out = os.open(self.out, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.read(self.tell, 1)
        os.setgroups([])
        os.setgid(attacks.USER)
        os.setuid(attacks.USER)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        attacks.LIBC.prctl(attacks.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        command = self.attack.prepare(self.stage)
        os.write(ready, b"r")
        if os.read(self.tell, 1):
            os.closerange(3, 99)
            os.execv(command[0], command)

    def prepared(self):
        """True when it is ready to begin."""
        if not self.trouble and not select.select([self.ready], [], [], 40 * FACTOR)[0]:
            self.trouble = "takes too long to prepare"
        if not self.trouble and not os.read(self.ready, 1):
            self.trouble = self.said()
        return not self.trouble

    def begin(self):
        live.weigh(self.pid, 10)
        os.write(self.gate, b"g")

    def said(self):
        with contextlib.suppress(OSError), open(self.out, encoding="utf-8", errors="replace") as file:
            return file.read(300)
        return ""

    def is_made(self):
        return "made" in self.said()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.close(self.gate)
        os.close(self.ready)
        # A process that waits for a hanging file system ends only after that is gone.
        ended = live.wait_for(lambda: os.waitpid(self.pid, os.WNOHANG)[0], 1)
        try:
            self.stage.undo.close()
        except OSError as error:
            print(f"# {self.attack.name}: {error}")
        if not ended:
            os.waitpid(self.pid, 0)
        path = f"/tmp/perf-{self.pid}.map"
        with contextlib.suppress(OSError):
            os.rmdir(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
        shutil.rmtree(self.folder, ignore_errors=True)


class Top:
    """The program, ended by a key or a signal. stop() returns the seconds until it ended, None when it
    had to be killed."""

    def __init__(self, *options):
        self.err = tempfile.TemporaryFile()
        self.high = 0
        self.start(options)

    def look(self):
        self.high = max(self.high, live.status_kb(self.process.pid, "VmHWM") or 0)

    def until_ended(self, seconds=GIVE_UP):
        begin = time.monotonic()
        while self.process.poll() is None and time.monotonic() < begin + seconds:
            self.drain(0.02)
        if self.process.poll() is None:
            self.process.kill()     # it may wait for an attacked file system: see run_group()
            return None
        return time.monotonic() - begin

    def errors(self):
        return os.pread(self.err.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def crash(self):
        """The signal that killed it, as a negative status; None if none did."""
        status = self.process.returncode
        return status if status and status < 0 and status != -signal.SIGKILL else None


class Screen(Top):
    """On a terminal."""

    def start(self, options):
        self.master, slave = pty.openpty()
        self.drawn = 0
        env = dict(os.environ, TERM="xterm-256color", LINES="40", COLUMNS="120")
        self.process = subprocess.Popen([live.STACKTOP, *options], stdin=slave, stdout=slave,
                                        stderr=self.err, env=env, start_new_session=True)
        os.close(slave)

    def drain(self, seconds):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                self.drawn += len(os.read(self.master, 65536))
            except OSError:
                return
            seconds = 0

    def stop(self):
        os.write(self.master, b"q")
        took = self.until_ended()
        os.close(self.master)
        return took


class Batch(Top):
    """Reports in JSON, with their times of arrival."""

    def start(self, options):
        self.process = subprocess.Popen([live.STACKTOP, "-b", "--format", "json", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.err, start_new_session=True)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = b""
        self.lines, self.last, self.gap = [], time.monotonic(), 0

    def drain(self, seconds):
        if select.select([self.process.stdout], [], [], seconds)[0]:
            more = self.process.stdout.read()
            self.text += more or b""
            if not more:
                time.sleep(seconds)
        self.gap = max(self.gap, time.monotonic() - self.last)
        *new, self.text = self.text.split(b"\n")
        if new:
            self.lines += [line.decode("utf-8", "replace") for line in new]
            self.last = time.monotonic()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.until_ended()

    def stacks(self, pid, first):
        """(samples with user frames, complete ones) of a process, from report `first` on."""
        count = complete = 0
        for line in self.lines[first:]:
            told = json.loads(line)
            kinds = [function["kind"] for function in told["functions"]]
            for stack in told["stacks"]:
                if told["processes"][stack["process"]]["pid"] == pid:
                    user = [kinds[at] for at in stack["frames"] if kinds[at] != "kernel"]
                    if user:
                        count += stack["count"]
                        complete += stack["count"] * (user[0] != "end")
        return count, complete


def watch(tops, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for top in tops:
            top.drain(0.05)
            top.look()


def run_meanwhile(tops, processes):
    """A run that begins under attack: (seconds until it ended or None, report, messages)."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([live.STACKTOP, "-b", "-d", "0.5", "-n", "1"],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        processes.append(process)
        while process.poll() is None and time.monotonic() < begin + GIVE_UP:
            watch(tops, 0.1)
        took = time.monotonic() - begin
        if process.poll() is None:
            process.kill()
            took = None
        return took, *(os.pread(file.fileno(), 1 << 24, 0).decode("utf-8", "replace")
                       for file in (out, err))


def told_seconds(took):
    return "not in time, killed" if took is None else f"{took:.1f} s"


def judge(tap, name, group, batch, screen, first, python, more):
    """Judges the results when both have ended. group: attackers; more: messages of the other run."""
    count, complete = batch.stacks(python, first)
    share = 100 * complete / count if count else 0
    what = f"{name}: a python3 beside it has complete stacks"
    if count < ENOUGH:
        tap.skip(what, f"{count} samples")
    else:
        tap.ok(share >= COMPLETE, what, f"{share:.1f} % of {count}")
    high = max(batch.high, screen.high)
    tap.ok(high <= MEMORY, f"{name}: memory is bounded", f"{high >> 10} MiB")
    crash = batch.crash() or screen.crash()
    tap.ok(crash is None, f"{name}: nothing crashes", f"{crash}")
    said = "".join(batch.lines) + batch.errors() + screen.errors()
    found = CONTROL.search(said.replace("\n", ""))
    tap.ok(not found, f"{name}: no control characters are written",
           repr(said[max(found.start() - 40, 0):found.end() + 40]) if found else "")
    for attacker in group:
        wanted = attacks.TOLD.get(attacker.attack.name)
        if wanted and attacker.is_made():
            tap.ok(re.search(wanted, said + more),
                   f"{attacker.attack.name}: a message names what is given up", wanted)
        if attacker.attack.check:
            wrong = attacker.attack.check(attacker.stage)
            tap.ok(not wrong, f"{attacker.attack.name}: no harm is done", wrong or "")
    tap.note("\n".join(sorted(set((batch.errors() + screen.errors()).splitlines()))[:12]))


def attack_together(tap, name, group, python, processes):
    """processes: gets the started ones, to be waited for when the attackers are gone."""
    batch, screen = Batch("-d", "1"), Screen("-d", "1")
    tops = (batch, screen)
    processes += [top.process for top in tops]
    try:
        live.wait_for(lambda: watch(tops, 0.1) or len(batch.lines) >= 2, 30 * FACTOR)
        calm = run_meanwhile(tops, processes)[0]
        busy = max((calm or GIVE_UP) / USUAL, 1)
        first, batch.gap, batch.last = len(batch.lines), 0, time.monotonic()
        for attacker in group:
            attacker.begin()
        live.wait_for(lambda: watch(tops, 0.1) or all(one.is_made() for one in group), 10 * FACTOR)
        for attacker in group:
            if attacker.attack.later:
                attacker.attack.later(attacker.stage)
        watch(tops, LASTS)
        took, report, messages = run_meanwhile(tops, processes)
        tap.ok(batch.gap <= 1 + LATE * busy, f"{name}: a report comes when it is due",
               f"{batch.gap:.1f} s after the one before; before, a run took {told_seconds(calm)}")
        tap.ok(took is not None and took <= 1 + LATE * busy,
               f"{name}: a run of half a second that begins under attack", told_seconds(took))
        found = CONTROL.search(report + messages)
        tap.ok(not found, f"{name}: its report has no control characters", repr(found))
        took = screen.stop()
        tap.ok(took is not None and took <= END * busy, f"{name}: q ends it", told_seconds(took))
        took = batch.stop()
        tap.ok(took is not None and took <= END * busy, f"{name}: SIGTERM ends it", told_seconds(took))
        judge(tap, name, group, batch, screen, first, python, report + messages)
    finally:
        for top in tops:
            if top.process.poll() is None:
                top.process.kill()


def run_group(tap, name, chosen, folder):
    group = [Attacker(attack, os.path.join(folder, str(number)), folder)
             for number, attack in enumerate(chosen)]
    processes = []
    try:
        able = [attacker for attacker in group if attacker.prepared()]
        with live.Load([sys.executable, "-c", BESIDE]) as python:
            live.weigh(python.pid, 0)
            if able:
                attack_together(tap, name, able, python.pid, processes)
        for attacker in group:
            if attacker.trouble:
                tap.skip(attacker.attack.name, attacker.trouble.replace("\n", " ")[-200:])
            elif attacker.is_made():
                tap.ok(True, f"{attacker.attack.name}: was there")
            else:
                tap.skip(attacker.attack.name, "not made: " + attacker.said().replace("\n", " ")[:200])
    finally:
        for attacker in group:
            attacker.end()
        for process in processes:
            process.wait()


def main():
    tap = live.Tap()
    live.need(tap)
    single = "-1" in sys.argv[1:]
    words = [word for word in sys.argv[1:] if word != "-1"]
    chosen = [attack for attack in attacks.ATTACKS
              if not words or any(word in attack.name for word in words)]
    attacks.hide_mounts()
    together = 1 if single else TOGETHER
    with tempfile.TemporaryDirectory(prefix="stacktop-hostile-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        compile_all(folder)
        for at in range(0, len(chosen), together):
            part = chosen[at:at + together]
            name = part[0].name if single else f"group {at // together + 1}"
            tap.note(f"{name}: " + ", ".join(attack.name for attack in part))
            run_group(tap, name, part, folder)
    tap.done()


if __name__ == "__main__":
    main()
