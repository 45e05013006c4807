# SPDX-License-Identifier: GPL-2.0-or-later
"""stacktop in the background, whose reports are read as they come, until they say enough: so a test
takes as many samples as it needs, however busy the machine is, and no more."""

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

PATIENCE = 150  # seconds, of a machine that is busy with other things


class Slice:
    """A refresh, taken apart."""

    def __init__(self, report):
        began = datetime.datetime.fromisoformat(report["time"].replace("Z", "+00:00"))
        self.report = report
        self.begin, self.end = began.timestamp(), began.timestamp() + report["seconds"]
        self.pids = [process["pid"] for process in report["processes"]]
        self.names = [(self._name(f), f["kind"] == "kernel") for f in report["functions"]]

    @staticmethod
    def _name(function):
        """As the folded format has it, but without what tells the kind of a frame."""
        name = function["name"] or "?"
        return f"[{name}]" if function["kind"] == "end" else name

    def stacks(self):
        """(pid, user frames, kernel frames, count), frames from the outermost on"""
        for stack in self.report["stacks"]:
            frames = [self.names[frame] for frame in stack["frames"]]
            yield (self.pids[stack["process"]], tuple(name for name, kernel in frames if not kernel),
                   tuple(name for name, kernel in frames if kernel), stack["count"])


class Watch:
    """A run of stacktop -b. It is ended when the block is left, and is killed if it does not end. Where
    programs have sessions of their own, which the scheduler serves in turn, `first` has it served
    before them: what is judged is what it makes of their samples, not what it gets of the CPUs."""

    def __init__(self, *options, binary=live.STACKTOP, env=None, first=False):
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen([binary, "-b", "--format", "json", *options],
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
        """The next refresh; None: there is no more, or none came."""
        try:
            line = self.lines.get(timeout=max(patience, 0.01))
        except queue.Empty:
            return None
        if line is None:
            self.lines.put(None)
            return None
        return Slice(json.loads(line))

    def until(self, enough, patience=PATIENCE):
        """Hands each refresh to `enough` until that is true; false: it never was."""
        end = time.monotonic() + patience
        while True:
            part = self.next(end - time.monotonic())
            if not part:
                return False
            if enough(part):
                return True

    def until_tables(self, patience=60):
        """Until no walk of a refresh has missed a table: those of large files take their time. Returns
        the refreshes that were read, the last of which has all tables if they came in time."""
        parts = []

        def walked(part):
            parts.append(part)
            return part.report["walks"] and not any(
                "[no table for pc]" in user for _, user, _, _ in part.stacks())
        self.until(walked, patience)
        return parts

    def said(self):
        """What stands on its standard error."""
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
    """Counts of user stacks by process, added up over refreshes."""

    def __init__(self):
        self.user = collections.defaultdict(collections.Counter)

    def add(self, part, early=False):
        """Before all tables are there, `early`, without the stacks that were given up."""
        for pid, user, _, count in part.stacks():
            if user and not (early and user[0].startswith("[")):
                self.user[pid][user] += count
        return self

    def total(self, pid):
        return sum(self.user[pid].values())


def spent(pid):
    """CPU seconds of a process so far; None: it is gone."""
    try:
        return live.process_seconds([pid])
    except OSError:
        return None


def until_busy(pids, seconds, patience=PATIENCE):
    """Waits until each process has had so much of a CPU; false: one has ended or never had it."""
    end = time.monotonic() + patience
    waiting = list(pids)
    while waiting and time.monotonic() < end:
        now = [(pid, spent(pid)) for pid in waiting]
        if any(had is None for _, had in now):
            return False
        waiting = [pid for pid, had in now if had < seconds]
        time.sleep(0.05 if waiting else 0)
    return not waiting
