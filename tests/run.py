#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the test programs; its last line has the number of tests passed.

    tests/run.py [WORD...]      only programs named by a word, or else with a word in their name

Programs are the cmocka binaries build/asan/tests/DIR/test_* that have a source, and the scripts
tests/DIR/*.sh and *.py (DIR is a folder or a room in it) that are executable or named test_*. Both
print TAP: `ok N - name`, `not ok N - name`, `ok N # SKIP name`, `1..N`. A program that crashes, runs
out of time, ends with an error, or runs no tests or fewer than it announced is a failure of its own.
Its whole output is shown when a test failed (always with V=1).

Programs run beside each other, one more at a time than there are CPUs, those with the longest limits
first. Programs that change the machine for all, or measure all of it, say so by a line `runs alone: why`
among the first LIMIT_LINES of their source: they run one after the other, when the others have ended,
even when two suites run at a time (a lock per user ensures that).

Each program has its own environment: of the caller's variables only those of KEPT, an empty HOME and
TMPDIR, which are removed after it (see scratch()), UTC, C.UTF-8, a terminal's name and umask 022. With
SIZE=full, tests with a size use their largest one (`make test-all`), and the programs of FULL run, too.

Each has TIME_LIMIT seconds, or N by a line `time limit: N s` of its source, times TIME_FACTOR. The limit
ends programs that would never end: on a busy machine everything is slow, so it does not judge speed. All
processes that a program leaves are killed: its runner adopts orphans, so that it also finds a daemon
that left its session.

CPUs that a program has taken offline come back after it. While a suite runs, the kernel does not lower
the sampling frequency by itself (kernel.perf_cpu_time_max_percent), as it would because of a
`perf record` at the same time.

A test that this machine does not let run says which right it lacks, `no CAP_BPF`, where it is skipped
(rights.py); the end counts these by right. Of a program that is skipped as a whole the tests in its
source count. With CI=true such a skip is a failure, unless CONTAINER says that rights are kept back.

Programs of MEASURING that fail a test or run out of time run AGAIN times more when the others have ended,
and all of these runs must pass; a crash, a sanitizer's finding or a test that did not run is never excused. Such a
program is `unsteady`: the output of its first run is shown, and it is named again at the end. All
further runs together get AGAIN_SECONDS; AGAIN=0 in the environment turns them off.

The end lists the time of each part (PARTS in the environment adds earlier ones: NAME=SECONDS, separated
by blanks) and the SLOWEST programs.
"""

import collections
import concurrent.futures
import ctypes
import curses
import fcntl
import glob
import multiprocessing
import os
import pwd
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TIME_LIMIT = 300
LIMIT_LINES = 40
DIRS = ("symbols", "unwind", "bpf", "tui", "push", "live")
# Only with SIZE=full, except for those of ALWAYS. Of the kernels the oldest and the newest always run.
FULL = ("hostile/", "live/test_budget", "live/test_crowd", "live/test_endurance", "live/test_giant",
        "live/test_kernel_6_", "live/test_load", "live/test_offcpu_trace", "live/test_root_bullseye", "live/test_root_sid")
ALWAYS = ("hostile/test_reuse.py",)
# These depend on the machine's scheduler.
MEASURING = ("bpf/", "live/", "tui/app/test_pty", "hostile/", "push/")
PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")
KEPT = re.compile(r"^(PATH|ROOTS|BUILD|UNIT|SIZE|CI|CONTAINER|V|AGAIN|TIME_FACTOR|CC|CLANG|KERNEL\w*|STACKTOP_\w+|\w+_OPTIONS|"
                  r"PERL|PHP|INTERPRETER_ROOT|LD_LIBRARY_PATH|http_proxy|https_proxy|no_proxy|RUSTUP_HOME|CARGO_HOME|GOROOT|"
                  r"NODE_EXTRA_CA_CERTS)$")
SLOWEST = 10
AGAIN = int(os.environ.get("AGAIN", "2"))
AGAIN_SECONDS = 600     # for all further runs of all programs
PR_SET_CHILD_SUBREAPER = 36

# cmocka cuts a message after 1023 characters, with its line's end: the result stands behind it.
RESULT = re.compile(r"^(?:.*(?=not ok \d+ - \w+$))?(not ok|ok)\b\s*\d*\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\s*(#.*)?$")
SKIP = re.compile(r"#\s*skip\b", re.IGNORECASE)
COMMENTS = 8    # lines of a failed test that are shown at once
WIDTH = 300     # characters shown of each
LIMIT = re.compile(r"time limit: (\d+) s")
ALONE = re.compile(r"\bruns alone: \w")
LACKS = re.compile(r"\bno (CAP_\w+)")
WHOLE = re.compile(r"# SKIP everything\b")
TESTS = re.compile(r"\bcmocka_unit_test\w*\(|\bok\(|^\s*ok ", re.M)
# A test that fails leaves its memory: leaks say nothing then.
FINDING = re.compile(r"Sanitizer(?!: detected memory leaks|: \d+ byte\(s\) leaked)|runtime error:|Assertion|SIG(SEGV|ABRT|BUS|ILL|FPE)")


def rooms(path):
    """A folder of tests and the folders in it, which mirror the product's rooms."""
    if os.path.isdir(path):
        yield path
        for name in sorted(os.listdir(path)):
            if os.path.isdir(os.path.join(path, name)):
                yield os.path.join(path, name)


def programs(build):
    """(name, command, source) of all test programs, in the order of the layers."""
    unit = os.environ.get("UNIT") or os.path.join(build, "asan")
    found = []
    for top in DIRS + ("hostile",):
        for path in rooms(os.path.join("tests", top)):
            folder = os.path.relpath(path, "tests")
            for name in sorted(os.listdir(path)):
                source = os.path.join(path, name)
                stem, ext = os.path.splitext(name)
                if ext == ".c" and stem.startswith("test_"):
                    found.append((f"{folder}/{stem}", [os.path.join(unit, path, stem)], source))
                elif ext in (".sh", ".py"):
                    if os.access(source, os.X_OK) and "/" not in folder:
                        found.append((f"{folder}/{name}", [source], source))
                    elif stem.startswith("test_"):
                        shell = "bash" if ext == ".sh" else sys.executable
                        found.append((f"{folder}/{name}", [shell, source], source))
    if os.environ.get("SIZE") != "full":
        found = [each for each in found if not each[0].startswith(FULL) or each[0] in ALWAYS]
    return found


def measures(name):
    return name.startswith(MEASURING)


def head(source):
    """The first lines of a program, with what it says of itself."""
    with open(source, encoding="utf-8", errors="replace") as file:
        return "".join(line for line, _ in zip(file, range(LIMIT_LINES)))


def time_limit(source):
    match = LIMIT.search(head(source))
    return int(match.group(1)) if match else TIME_LIMIT


def children():
    """PIDs of this process's children, including zombies."""
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
    """Kills orphans until none is left; the children of a killed one become orphans in turn."""
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


def environment(folder):
    """A program's environment, whatever the caller's."""
    build = os.path.abspath(os.environ.get("BUILD", "build"))
    env = {name: value for name, value in os.environ.items() if KEPT.match(name)}
    for name in ("HOME", "TMPDIR"):
        env[name] = os.path.join(folder, name.lower())
        os.mkdir(env[name])
    # Toolchains installed in the user's home, whatever HOME is.
    for name, place in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
        home = os.path.join(pwd.getpwuid(os.getuid()).pw_dir, place)
        if os.path.isdir(home):
            env.setdefault(name, home)
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    if curses.ncurses_version[:2] == (6, 6):    # its delscreen() leaks the screen's table of line-drawing characters
        leaks = os.path.join(folder, "leaks")
        with open(leaks, "w", encoding="ascii") as file:
            file.write("leak:libncursesw.so\n")
        env.setdefault("LSAN_OPTIONS", f"suppressions={leaks}:print_suppressions=0")
    env.update(CMOCKA_MESSAGE_OUTPUT="TAP", STACKTOP_BIN=os.path.join(build, "stacktop"),
               GOCACHE=os.path.join(build, "go-cache"), LC_ALL="C.UTF-8", LANG="C.UTF-8", TZ="UTC",
               TERM="xterm-256color", PYTHONDONTWRITEBYTECODE="1", SHELL="/bin/sh")
    return env


def adopt_orphans():
    """Makes this process the parent of orphaned descendants."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def restore_cpus(online):
    """Brings CPUs back online: a killed program cannot."""
    for path in online:
        try:
            with open(path, "r+", encoding="ascii") as file:
                if file.read().strip() == "0":
                    file.seek(0)
                    file.write("1")
        except OSError:
            pass


def cpus_online():
    """The files of the CPUs that can be taken offline and are not."""
    found = []
    for path in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/online"):
        with open(path, encoding="ascii") as file:
            if file.read().strip() == "1":
                found.append(path)
    return found


def scratch():
    """The folder for programs' own folders: TMPDIR, unless LD_PRELOAD, sanitizers' options or mount
    options would split its path, or other users cannot reach it."""
    for path in (os.path.realpath(tempfile.gettempdir()), "/tmp", "/var/tmp"):
        parts = [path[:i] for i, c in enumerate(path) if c == "/" and i] + [path]
        if PLAIN.fullmatch(path) and all(os.path.isdir(part) and os.stat(part).st_mode & 0o001
                                         for part in parts) and os.access(path, os.W_OK):
            return path
    return None     # mkdtemp's default


def run(command, limit):
    """(output, exit status or None when out of time)"""
    own = tempfile.mkdtemp(prefix="stacktop-test-", dir=scratch())
    os.chmod(own, 0o755)    # tests run programs there as other users
    with tempfile.TemporaryFile() as out:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, env=environment(own),
                                       start_new_session=True, umask=0o022)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        except OSError as error:
            out.write(f"{command[0]}: {error.strerror}\n".encode())
            status = 127
        finally:    # also after an interruption
            kill_leftovers()
            shutil.rmtree(own, ignore_errors=True)
        out.seek(0)
        return out.read().decode("utf-8", "replace"), status


class Result:
    """What one run of a program's output says: numbers of tests, reasons of failures, and the skipped
    tests by the right that they lack."""

    def __init__(self, source, output, status, limit):
        self.passed = self.failed = self.skipped = planned = 0
        self.reasons = []
        self.lacking = collections.Counter()
        comment = ""
        for line in output.splitlines():
            plan = PLAN.match(line)
            if plan:
                planned += int(plan.group(1))
            result = RESULT.match(line)
            if not result:
                comment = line if line.startswith("#") else comment
                continue
            # cmocka prints "not ok 2 # SKIP name" for a test that called skip(), from 1.1.6 on "ok 2 # SKIP
            # name"; why stands before it.
            if SKIP.match(result.group(2)) or result.group(1) == "ok" and SKIP.search(result.group(2)):
                self._skip(source, line if LACKS.search(line) else line + comment)
            elif result.group(1) == "not ok":
                self.failed += 1
                self.reasons.append(result.group(2).lstrip("- ") or line)
            else:
                self.passed += 1
            comment = ""
        ran = self.passed + self.failed + self.skipped
        if status is None:
            self._trouble(f"out of time ({limit} s)")
        elif status < 0:
            self._trouble(f"killed by {signal.Signals(-status).name}")
        elif planned > ran:
            self._trouble(f"ran {ran} of {planned} tests")
        elif status != 0 and not self.failed:
            self._trouble(f"exit status {status}")
        elif ran == 0:
            self._trouble("ran no test")

    def _trouble(self, reason):
        self.failed += 1
        self.reasons.append(reason)

    def _skip(self, source, line):
        count = 1
        if WHOLE.search(line):
            with open(source, encoding="utf-8", errors="replace") as file:
                count = max(1, len(TESTS.findall(file.read())))
        self.skipped += count
        lacks = LACKS.search(line)
        if lacks:
            self.lacking[lacks.group(1)] += count
        if lacks and os.environ.get("CI") and not os.environ.get("CONTAINER"):
            self._trouble(f"was skipped: no {lacks.group(1)}")


def skips(lines):
    """The lines of skipped tests, each with the comment before it: cmocka's skip() takes no reason."""
    for before, line in zip(["", *lines], lines):
        if SKIP.search(line):
            yield line + ("  " + before if before.startswith("# ") and "SKIP" not in before else "")


def excusable(name, output, status, broken):
    """True if more runs may show that the `broken` tests failed by a bad moment of the machine."""
    failed = sum(1 for line in output.splitlines()
                 if line.startswith("not ok") and not SKIP.search(line))
    return measures(name) and not FINDING.search(output) and \
        (status is None or status >= 0 and broken == failed)


def failures(lines):
    """The lines of failed tests, each with the comments after it: a log may be cut."""
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


class Suite:
    """The results so far, printed as they come."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.lacking = collections.Counter()
        self.broken = []
        self.unsteady = []
        self.times = []     # (seconds, name)
        self.left = AGAIN_SECONDS
        self.online = []    # files of CPUs that must be online for each program

    def take(self, program, limit, ran, more=()):
        """Counts the first run's (output, status, seconds, seconds of CPU) of a program, and what further
        runs showed. False, and nothing is counted, when the program must run AGAIN times more."""
        name, _, source = program
        output, status, took, used = ran
        result = Result(source, output, status, limit)
        verdict = "FAILED" if result.failed else "ok"
        if result.failed and not more and 0 < AGAIN * took < self.left and \
                excusable(name, output, status, result.failed):
            self.left -= AGAIN * took
            return False
        if more:
            took += sum(again[2] for again in more)
            used += sum(again[3] for again in more)
            again = [Result(source, *each[:2], limit) for each in more]
            if not any(each.failed or each.skipped > result.skipped for each in again):
                print("".join(f"    ~ {line}\n" for line in output.splitlines()), end="")
                self.unsteady += [f"{name}: {reason}" for reason in result.reasons]
                verdict = "unsteady"
                output, result = more[0][0], again[0]
            else:
                print("".join(f"    ~ again: {reason}\n" for each in again for reason in each.reasons), end="")
        counts = f"{result.passed} passed" + (f", {result.failed} failed" if result.failed else "") + \
            (f", {result.skipped} skipped" if result.skipped else "")
        print(f"{verdict:8} {name:38} {counts}, {took:.1f} s, CPU {used:.1f} s")
        if result.failed:
            print("".join(f"    ! {line}\n" for line in failures(output.splitlines())), end="")
        if result.failed or os.environ.get("V") == "1":
            print("".join(f"    | {line}\n" for line in output.splitlines()), end="")
            self.broken += [f"{name}: {reason}" for reason in result.reasons]
        elif result.skipped:
            print("".join(f"    | {line}\n" for line in skips(output.splitlines())), end="")
        sys.stdout.flush()
        self.times.append((took, name))
        self.passed += result.passed
        self.failed += result.failed
        self.skipped += result.skipped
        self.lacking += result.lacking
        return True

    def again(self, program, limit, ran):
        """Runs a program AGAIN times more: not while a pool's workers are children of this process, as
        what a program leaves is told by that."""
        more = []
        for _ in range(AGAIN):
            restore_cpus(self.online)
            more.append(timed(program[1], limit))
        self.take(program, limit, ran, more)

    def end(self, parts):
        """Prints the summary; returns whether all passed."""
        if not self.passed + self.failed + self.skipped:
            print("no test was found")
            self.failed = 1
        if self.unsteady:
            print(f"\nunsteady: once not ok, then {AGAIN} times ok:")
            for line in self.unsteady:
                print(f"  {line}")
        if self.broken:
            print("\nfailed:")
            for line in self.broken:
                print(f"  {line}")
        parts = [part.split("=") for part in os.environ.get("PARTS", "").split()] + parts
        print("\nslowest: " + ", ".join(f"{name} {took:.0f} s"
                                        for took, name in sorted(self.times)[:-SLOWEST - 1:-1]))
        print("parts: " + ", ".join(f"{name} {float(took):.0f} s" for name, took in parts))
        for right, count in self.lacking.most_common():
            print(f"{count:,} skipped: no {right}")
        print(f"{self.passed} passed, {self.failed} failed" +
              (f", {self.skipped} skipped" if self.skipped else ""))
        return not self.failed


def timed(command, limit):
    """(output, exit status or None when out of time, seconds, seconds of CPU)"""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    output, status = run(command, limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, status, time.monotonic() - start, \
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_beside(suite, programs_limits):
    """Runs programs one more at a time than there are CPUs, as some wait most of the time; those with
    the longest limits first. Those that must run again do so in the end."""
    order = sorted(programs_limits, key=lambda one: -one[1])
    unsure = []
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(1 + len(os.sched_getaffinity(0)), fork,
                                                adopt_orphans) as pool:
        try:
            waiting = {pool.submit(timed, program[1], limit): (program, limit)
                       for program, limit in order}
            for done in concurrent.futures.as_completed(waiting):
                if not suite.take(*waiting[done], done.result()):
                    unsure.append((*waiting[done], done.result()))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for pid in children():
                os.kill(pid, signal.SIGTERM)
            raise
    for one in unsure:
        suite.again(*one)


class Rate:
    """Keeps the highest sampling frequency: the kernel lowers it for good after slow samples. Suites
    share a file with the original value, and the last one to end restores it, also for a suite that
    was killed."""

    HIGHEST = "/proc/sys/kernel/perf_event_max_sample_rate"
    PERCENT = "/proc/sys/kernel/perf_cpu_time_max_percent"     # 0: the kernel leaves the rate alone
    ENOUGH = 100000

    def __enter__(self):
        self.file = open_own("rate")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            before = f"{read_text(self.HIGHEST)} {read_text(self.PERCENT)}"
            if before.split()[1] not in ("0", "100"):
                os.ftruncate(self.file, 0)
                os.pwrite(self.file, before.encode(), 0)
                write_text(self.HIGHEST, max(self.ENOUGH, int(before.split()[0])))
                write_text(self.PERCENT, 0)
        except OSError:     # another suite has done it, or this user may not
            pass
        fcntl.flock(self.file, fcntl.LOCK_SH)

    def __exit__(self, *_):
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            before = os.pread(self.file, 100, 0).split()
            if len(before) == 2:
                write_text(self.PERCENT, int(before[1]))
                write_text(self.HIGHEST, int(before[0]))
            os.ftruncate(self.file, 0)
        except OSError:     # another suite still runs
            pass
        os.close(self.file)


def read_text(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def write_text(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def open_own(name):
    """A file of this user, shared by all suites."""
    path = f"/tmp/stacktop-{name}-{os.getuid()}"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.fstat(file).st_uid != os.getuid():
        sys.exit(f"{path}: the file is another user's")
    return file


def lock_machine():
    """Waits until no other suite of this user measures; holds the lock until this process ends."""
    lock = open_own("measuring")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print("another suite is measuring; waiting for it", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


def run_all(suite, beside, alone):
    """Runs both parts of the suite; returns their [(name, seconds)]."""
    parts = []
    start = time.monotonic()
    if beside:
        run_beside(suite, beside)
        parts.append(("beside", time.monotonic() - start))
    if alone:
        lock_machine()
        suite.online = cpus_online()
        start = time.monotonic()
        for program, limit in alone:
            ran = timed(program[1], limit)
            if not suite.take(program, limit, ran):
                suite.again(program, limit, ran)
            restore_cpus(suite.online)
        parts.append(("alone", time.monotonic() - start))
    return parts


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    os.umask(0o022)
    # A background shell may have made us ignore these, which programs would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    adopt_orphans()
    words = sys.argv[1:]
    factor = int(os.environ.get("TIME_FACTOR", "1"))
    every = programs(os.environ.get("BUILD", "build"))
    names = [program[0] for program in every]
    whole = any(word in names for word in words)
    chosen = [(program, time_limit(program[2]) * factor) for program in every
              if not words or program[0] in words or
              not whole and any(word in program[0] for word in words)]
    alone = [one for one in chosen if ALONE.search(head(one[0][2]))]
    beside = [one for one in chosen if one not in alone]
    suite = Suite()
    with Rate():
        parts = run_all(suite, beside, alone)
    return 0 if suite.end(parts) else 1


if __name__ == "__main__":
    sys.exit(main())
