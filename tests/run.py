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
source says, times TIME_FACTOR (sanitizers are slow). Whatever it leaves running is killed: the
runner adopts orphans, so that a daemon that left its session is found, too.

Programs of MEASURING sample the running machine, whose other work can spoil a run. One with a
test that is not ok, or that is out of time, runs AGAIN times more at once, and all of these runs
must pass; a crash, a finding of a sanitizer or a test that did not run is excused by nothing. Such
a program is `unsteady`: what its first run said is shown, and named again at the end. Further runs
get AGAIN_SECONDS in all; AGAIN=0 in the environment turns them off.
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
MEASURING = ("bpf/", "live/", "tui/test_pty")
AGAIN = int(os.environ.get("AGAIN", "2"))
AGAIN_SECONDS = 900     # for all further runs of all programs
PR_SET_CHILD_SUBREAPER = 36

RESULT = re.compile(r"^(not ok|ok)\b\s*\d*\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\s*(#.*)?$")
SKIP = re.compile(r"#\s*skip\b", re.IGNORECASE)
COMMENTS = 8    # lines shown at once of a test that failed
WIDTH = 300     # characters of each
LIMIT = re.compile(r"time limit: (\d+) s")
FINDING = re.compile(r"Sanitizer|runtime error:|Assertion|SIG(SEGV|ABRT|BUS|ILL|FPE)")


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


def excusable(name, output, status, broken):
    """Whether more runs may tell that `broken` tests met a bad moment of the machine."""
    failed = sum(1 for line in output.splitlines()
                 if line.startswith("not ok") and not SKIP.search(line))
    return name.startswith(MEASURING) and not FINDING.search(output) and \
        (status is None or status >= 0 and broken == failed)


def failures(lines):
    """The lines of tests that failed, each with the comments behind it: a log may be cut."""
    shown = []
    wanted = 0
    for line in lines:
        result = RESULT.match(line)
        if result:
            wanted = COMMENTS if result.group(1) == "not ok" else 0
            if wanted:
                shown.append(line[:WIDTH])
        elif wanted and line.lstrip().startswith("#"):
            shown.append(line[:WIDTH])
            wanted -= 1
    return shown


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    # What starts this in the background may have them ignored, which programs inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    build = os.environ.get("BUILD", "build")
    words = sys.argv[1:]
    total = [0, 0, 0]
    broken = []
    unsteady = []
    left = AGAIN_SECONDS
    for name, command, source in programs(build):
        if words and not any(word in name for word in words):
            continue
        limit = time_limit(source) * int(os.environ.get("TIME_FACTOR", "1"))
        start = time.monotonic()
        output, status = run(command, limit)
        passed, failed, skipped, reasons = judge(output, status, limit)
        verdict = "FAILED" if failed else "ok"
        took = time.monotonic() - start
        if failed and 0 < AGAIN * took < left and excusable(name, output, status, failed):
            left -= AGAIN * took
            more = [run(command, limit) for _ in range(AGAIN)]
            counts = [judge(*result, limit) for result in more]
            if not any(count[1] for count in counts):
                print("".join(f"    ~ {line}\n" for line in output.splitlines()), end="")
                unsteady += [f"{name}: {reason}" for reason in reasons]
                verdict = "unsteady"
                output = more[0][0]
                passed, failed, skipped, reasons = counts[0]
        counts = f"{passed} passed" + (f", {failed} failed" if failed else "") + \
            (f", {skipped} skipped" if skipped else "")
        print(f"{verdict:8} {name:38} {counts}, {time.monotonic() - start:.1f} s")
        if failed:
            print("".join(f"    ! {line}\n" for line in failures(output.splitlines())), end="")
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
    if unsteady:
        print(f"\nunsteady: once not ok, then {AGAIN} times ok:")
        for line in unsteady:
            print(f"  {line}")
    if broken:
        print("\nfailed:")
        for line in broken:
            print(f"  {line}")
    print(f"{total[0]} passed, {total[1]} failed" +
          (f", {total[2]} skipped" if total[2] else ""))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
