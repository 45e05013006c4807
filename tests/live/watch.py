# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs stacktop in the background and reads its reports as they come, until a test has enough samples:
no more than it needs, however busy the machine is."""

import collections
import datetime
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time

import live

PATIENCE = 150  # seconds, on a busy machine
INTERPRETED = ("python", "php", "perl", "ruby")  # and, behind an interpreter's own frame, js


class Slice:
    """A refresh, parsed."""

    def __init__(self, report):
        began = datetime.datetime.fromisoformat(report["time"].replace("Z", "+00:00"))
        self.report = report
        self.begin, self.end = began.timestamp(), began.timestamp() + report["seconds"]
        self.pids = [process["pid"] for process in report["processes"]]
        self.kinds = [f["kind"] for f in report["functions"]]
        self.names = [(self._name(f), f["kind"] == "kernel") for f in report["functions"]]

    @staticmethod
    def _name(function):
        """The name as in the folded format, without the mark of the frame's kind."""
        name = function["name"] or "?"
        return f"[{name}]" if function["kind"] == "end" else name

    def _native(self, frames):
        """Those that have code of their own."""
        for outer, frame in zip([None, *frames], frames):
            kind = self.kinds[frame]
            if kind not in INTERPRETED and not (kind == "js" and outer is not None and
                                                self.kinds[outer] == "eval"):
                yield frame

    def made(self):
        """Names of functions whose code V8 or HotSpot has made."""
        return {f["name"] for f in self.report["functions"] if f["kind"] in ("js", "java")}

    def stacks(self):
        """(pid, user frames, kernel frames, count), frames from the outermost on; those of interpreted
        languages, which are no native ones, are left out"""
        for stack in self.report["stacks"]:
            frames = [self.names[frame] for frame in self._native(stack["frames"])]
            yield (self.pids[stack["process"]], tuple(name for name, kernel in frames if not kernel),
                   tuple(name for name, kernel in frames if kernel), stack["count"])


class Watch:
    """A run of stacktop -b, ended when the block is left, by a kill if need be. Where each program has a
    scheduler session of its own, `first` gives stacktop's precedence: a test judges what stacktop makes
    of its samples, not how much CPU it gets."""

    def __init__(self, *options, binary=live.STACKTOP, env=None, first=False):
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen([binary, "-b", "--format", "json", "--frames", "all", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.err, env=env, start_new_session=first)
        if first:
            live.weigh(self.process.pid, -20)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.status = None

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next(self, patience=PATIENCE):
        """The next refresh; None when there is no more or none comes in time."""
        try:
            line = self.lines.get(timeout=max(patience, 0.01))
        except queue.Empty:
            return None
        if line is None:
            self.lines.put(None)
            return None
        return Slice(json.loads(line))

    def until(self, enough, patience=PATIENCE):
        """Passes each refresh to `enough` until it returns true; False if it never does."""
        end = time.monotonic() + patience
        while True:
            part = self.next(end - time.monotonic())
            if not part:
                return False
            if enough(part):
                return True

    def until_tables(self, patience=60):
        """Reads until no walk of a refresh has missed a table: tables of large files take a while.
        Returns the refreshes read; the last one has all tables unless time ran out."""
        parts = []

        def walked(part):
            parts.append(part)
            return part.report["walks"] and not any(
                "[no table for pc]" in user for _, user, _, _ in part.stacks())
        self.until(walked, patience)
        return parts

    def said(self):
        """All of its stderr so far."""
        size = os.fstat(self.err.fileno()).st_size
        return os.pread(self.err.fileno(), size, 0).decode("utf-8", "replace")

    def close(self):
        if self.status is not None:
            return self.status
        self.process.send_signal(signal.SIGINT)
        try:
            self.status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.status = self.process.wait()
        self.reader.join(10)
        return self.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self.process.stdout.close()


class Stacks:
    """User stacks by process with their counts, summed over refreshes."""

    def __init__(self):
        self.user = collections.defaultdict(collections.Counter)

    def add(self, part, leave_out=lambda user: False):
        """leave_out(user): whether a user stack does not count."""
        for pid, user, _, count in part.stacks():
            if user and not leave_out(user):
                self.user[pid][user] += count
        return self

    def total(self, pid):
        return sum(self.user[pid].values())


def spent(pid):
    """CPU seconds of a process so far; None when it is gone."""
    try:
        return live.process_seconds([pid])
    except OSError:
        return None


def until_busy(pids, seconds, patience=PATIENCE, halt=False):
    """Waits until each process has used this much more CPU time; False if one has ended or never does. halt:
    stops each then, until resume(): it need not run while others start and stacktop reads tables."""
    end = time.monotonic() + patience
    waiting = list(pids)
    before = {pid: spent(pid) or 0 for pid in pids}
    while waiting and time.monotonic() < end:
        now = [(pid, spent(pid)) for pid in waiting]
        if any(had is None for _, had in now):
            return False
        for pid, had in now:
            if had >= before[pid] + seconds:
                waiting.remove(pid)
                if halt:
                    os.kill(pid, signal.SIGSTOP)
        time.sleep(0.02 if waiting else 0)
    return not waiting


def resume(pids):
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
