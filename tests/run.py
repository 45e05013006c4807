#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the test programs and says, in its last line, how many tests passed.

    tests/run.py [WORD...]      only programs whose name contains one of the words

Programs are the cmocka binaries build/tests/DIR/test_* that have a source, and the scripts
tests/DIR/*.sh and *.py that are executable or named test_*. Both speak TAP: `ok N - name`,
`not ok N - name`, `ok N # SKIP name`, `1..N`. A program that crashes, runs out of time, ends with
an error, or runs fewer tests than it announced or none at all is a failure of its own. Output is
shown whole when something failed (always with V=1).

Each program has TIME_LIMIT seconds, or what a line `time limit: N s` among the first 15 of its
source says, times TIME_FACTOR (sanitizers are slow). Whatever it leaves running is killed: the runner adopts orphans, so that a daemon
that left its session is found, too.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TIME_LIMIT = 120
DIRS = ("symbols", "unwind", "bpf", "tui", "live")
PR_SET_CHILD_SUBREAPER = 36

RESULT = re.compile(r"^(not ok|ok)\b\s*\d*\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\s*(#.*)?$")
SKIP = re.compile(r"#\s*skip\b", re.IGNORECASE)
LIMIT = re.compile(r"time limit: (\d+) s")


def programs(build):
    """(name, command, source) of all test programs, in the order of the layers."""
    found = []
    for folder in DIRS:
        path = os.path.join("tests", folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            source = os.path.join(path, name)
            stem, ext = os.path.splitext(name)
            if ext == ".c" and stem.startswith("test_"):
                found.append((f"{folder}/{stem}", [os.path.join(build, path, stem)], source))
            elif ext in (".sh", ".py"):
                if os.access(source, os.X_OK):
                    found.append((f"{folder}/{name}", [source], source))
                elif stem.startswith("test_"):
                    shell = "bash" if ext == ".sh" else sys.executable
                    found.append((f"{folder}/{name}", [shell, source], source))
    return found


def time_limit(source):
    with open(source, encoding="utf-8", errors="replace") as file:
        for _ in range(15):
            match = LIMIT.search(file.readline())
            if match:
                return int(match.group(1))
    return TIME_LIMIT


def children():
    """PIDs whose parent is this process, zombies included."""
    me = os.getpid()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == me:
                        yield int(entry)
            except (OSError, IndexError, ValueError):
                pass


def kill_leftovers():
    """Kills orphans until none is left; a killed one's children come to us in turn."""
    killed = 0
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        left = list(children())
        if not left:
            break
        for pid in left:
            try:
                done, _ = os.waitpid(pid, os.WNOHANG)
                if done == 0:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            except (ChildProcessError, ProcessLookupError):
                pass
        time.sleep(0.02)
    return killed


def run(command, limit):
    """(output, exit status or None when out of time)"""
    binary = os.path.join(os.environ.get("BUILD", "build"), "stacktop")
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", LC_ALL=os.environ.get("LC_ALL", "C.UTF-8"),
               STACKTOP_BIN=os.path.abspath(binary))
    with tempfile.TemporaryFile() as out:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, env=env, start_new_session=True)
        except OSError as error:
            return f"{command[0]}: {error.strerror}\n", 127
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        kill_leftovers()
        out.seek(0)
        return out.read().decode("utf-8", "replace"), status


def judge(output, status, limit):
    """(passed, failed, skipped, reasons) of one program's output."""
    passed = failed = skipped = planned = 0
    reasons = []
    for line in output.splitlines():
        plan = PLAN.match(line)
        if plan:
            planned += int(plan.group(1))
        result = RESULT.match(line)
        if not result:
            continue
        # cmocka says "not ok 2 # SKIP name" of a test that called skip().
        if SKIP.match(result.group(2)) or result.group(1) == "ok" and SKIP.search(result.group(2)):
            skipped += 1
        elif result.group(1) == "not ok":
            failed += 1
            reasons.append(result.group(2).lstrip("- ") or line)
        else:
            passed += 1
    ran = passed + failed + skipped
    trouble = None
    if status is None:
        trouble = f"out of time ({limit} s)"
    elif status < 0:
        trouble = f"killed by {signal.Signals(-status).name}"
    elif planned > ran:
        trouble = f"ran {ran} of {planned} tests"
    elif status != 0 and not failed:
        trouble = f"exit status {status}"
    elif ran == 0:
        trouble = "ran no test"
    if trouble:
        failed += 1
        reasons.append(trouble)
    return passed, failed, skipped, reasons


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    build = os.environ.get("BUILD", "build")
    words = sys.argv[1:]
    total = [0, 0, 0]
    broken = []
    for name, command, source in programs(build):
        if words and not any(word in name for word in words):
            continue
        limit = time_limit(source) * int(os.environ.get("TIME_FACTOR", "1"))
        start = time.monotonic()
        output, status = run(command, limit)
        passed, failed, skipped, reasons = judge(output, status, limit)
        verdict = "FAILED" if failed else "ok"
        counts = f"{passed} passed" + (f", {failed} failed" if failed else "") + \
            (f", {skipped} skipped" if skipped else "")
        print(f"{verdict:7} {name:38} {counts}, {time.monotonic() - start:.1f} s")
        if failed or os.environ.get("V") == "1":
            print("".join(f"    | {line}\n" for line in output.splitlines()), end="")
            broken += [f"{name}: {reason}" for reason in reasons]
        elif skipped:
            print("".join(f"    | {line}\n" for line in output.splitlines()
                          if SKIP.search(line)), end="")
        sys.stdout.flush()
        total = [a + b for a, b in zip(total, (passed, failed, skipped))]
    if sum(total) == 0:
        print("no test was found")
        total[1] = 1
    if broken:
        print("\nfailed:")
        for line in broken:
            print(f"  {line}")
    print(f"{total[0]} passed, {total[1]} failed" +
          (f", {total[2]} skipped" if total[2] else ""))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
