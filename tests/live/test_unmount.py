#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""A file system that programs ran from can be unmounted while stacktop goes on, soon after they ended:
no file of it stays open or mapped. A known program is known when it runs again, and a file that takes
its place, alike but for its contents, is not taken for it. All the time restless.c causes lookups of
source lines: files must be closed even if the inliner is never idle.

Covers: bpf/tracker/idlefile.c bpf/tracker/object.c tui/symbolize/modules.c tui/symbolize/inline_worker.c tui/symbolize/jit.c
Covers: tui/symbolize/resolver.c tui/collect/stackcache.c
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "programs", "unmount", "work.c")
RESTLESS = os.path.join(HERE, "programs", "unmount", "restless.c")
JITNAMES = os.path.join(live.WORK, "jitnames")
ENOUGH = 50  # samples between two reads of stacktop's output
PATIENCE = 300  # an idle machine takes a little more than a minute
STAMP = 1500000000 * 10**9 + 123456789


def mount(folder):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "stacktop-test", folder],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def unmount(folder):
    return subprocess.run(["umount", folder], capture_output=True, text=True, check=False)


def build(folder, name):
    """The program, its library, and the library's debug file, created in this order for equal inode
    numbers, and with equal times whatever they contain. Returns what identifies them."""
    def path(file):
        return os.path.join(folder, file)

    def run(*command):
        subprocess.run(command, check=True)

    with tempfile.TemporaryDirectory() as made:
        common = [os.environ.get("CC", "gcc"), "-O2", "-g", "-fno-omit-frame-pointer",
                  "-fno-optimize-sibling-calls", f"-DNAME={name}", SOURCE]
        library, debug = os.path.join(made, "libwork.so"), os.path.join(made, "libwork.so.debug")
        run(*common, "-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,libwork.so", "-o", library)
        run(*common, library, "-Wl,-rpath,$ORIGIN", "-o", os.path.join(made, "work"))
        run("objcopy", "--only-keep-debug", library, debug)
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", library)
        for file in ("work", "libwork.so", "libwork.so.debug"):
            shutil.copyfile(os.path.join(made, file), path(file))
            os.chmod(path(file), 0o755)
            os.utime(path(file), ns=(STAMP, STAMP))
    shutil.copy(JITNAMES, folder)
    return [(os.stat(path(f)).st_ino, os.stat(path(f)).st_size) for f in ("work", "libwork.so")]


def held(pid, device):
    """The files of the device that the process has open or mapped."""
    found = []
    for entry in os.listdir(f"/proc/{pid}/fd"):
        link = f"/proc/{pid}/fd/{entry}"
        try:
            if os.stat(link).st_dev == device:
                found.append(os.readlink(link))
        except OSError:
            pass
    number = f"{os.major(device):02x}:{os.minor(device):02x}"
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        found += [line.split()[-1] for line in file if line.split()[3] == number]
    return found


def until_released(pid, device):
    """(seconds waited, files still held)"""
    start = time.monotonic()
    while True:
        found, seconds = held(pid, device), time.monotonic() - start
        if not found or seconds > PATIENCE:
            return seconds, found
        time.sleep(0.5)


class Live:
    """stacktop in the background; its stacks are read as they come."""

    def __init__(self):
        self.out = tempfile.TemporaryFile()
        self.at = 0
        self.process = subprocess.Popen(
            [live.STACKTOP, "-b", "-d", "1", "-F", "499", "-K", "--format=folded"],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.DEVNULL)

    def size(self):
        return os.fstat(self.out.fileno()).st_size

    def stacks(self, comm):
        """New stacks since the last call, of processes with this name."""
        size = self.size()
        text = os.pread(self.out.fileno(), size - self.at, self.at).decode("utf-8", "replace")
        text = text[:text.rfind("\n") + 1]
        self.at += len(text.encode())
        return [(user, count) for line in text.splitlines() if line.startswith(comm + ";")
                for user, _, count in live.folded(line)]

    def close(self):
        self.process.terminate()
        self.process.wait()


def check_run(tap, top, folder, name, what):
    """Runs it until its stacks are right: at first it is unknown and has no tables."""
    want = ["main", name, name + "_outer", name + "_inner"]
    top.stacks("work")
    with live.Load([os.path.join(folder, "work")]) as load:
        end, start = time.monotonic() + PATIENCE, top.at
        right, stacks, seen = False, [], collections.Counter()
        while not right and time.monotonic() < end:
            time.sleep(0.3)
            if sum(count for _, count in stacks) > ENOUGH:
                stacks = []
            new = top.stacks("work")
            stacks += new
            for user, count in new:
                seen[";".join(user)] += count
            total = sum(count for _, count in stacks)
            good = sum(count for user, count in stacks
                       if user[-4:] == want or user[-3:] == want[:3])
            right = total > ENOUGH and good >= 0.9 * total
        ran = live.process_seconds([load.pid])
    tap.ok(right, f"{what}: its stacks", f"{good} of {total} in {ran:.1f} s of CPU time: {stacks[:2]}" +
           ("" if right else f", {top.at - start} bytes of reports, exit {top.process.poll()}"))
    for stack, count in seen.most_common(5) if not right else []:
        tap.note(f"{count} of {stack}")


def check_released(tap, top, device, what):
    seconds, found = until_released(top.process.pid, device)
    tap.ok(not found, f"{what}: no file of it is open", f"{seconds:.0f} s, {sorted(set(found))}")


def others(pid, device):
    """PIDs of other processes that hold files of it, such as an older profiler or a file scanner."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) not in (pid, os.getpid()):
            try:
                if held(int(entry), device):
                    found.append(int(entry))
            except OSError:
                pass
    return found


def check_unmount(tap, top, folder, device, name):
    end = time.monotonic() + 60
    done = unmount(folder)
    while done.returncode and time.monotonic() < end:
        time.sleep(0.5)
        done = unmount(folder)
    alive = top.process.poll() is None
    who = others(top.process.pid, device) if done.returncode else []
    if who:
        tap.skip(name, f"processes {who} hold it, too")
        subprocess.run(["umount", "--lazy", folder], check=True)
    else:
        tap.ok(done.returncode == 0 and alive, name, done.stderr.strip())
    return done.returncode == 0 or bool(who)


def check(tap, once, twice):
    """A program of one file system runs once, and makes code of its own; its files are closed after a
    minute. In the meantime a program of another one runs again after the half minute in which its
    files are closed."""
    before = build(once, "alpha")
    build(twice, "sigma")
    device, other = os.stat(once).st_dev, os.stat(twice).st_dev
    top = Live()
    try:
        end = time.monotonic() + PATIENCE
        while not top.size() and time.monotonic() < end:
            time.sleep(0.1)
        jitnames, tmp = os.path.join(once, "jitnames"), os.path.join(once, "tmp")
        os.mkdir(tmp)
        own_tmp = f"mount --bind '{tmp}' /tmp && exec '{jitnames}' map {2 * PATIENCE}"
        with live.Load([jitnames, "dump", str(2 * PATIENCE)], cwd=once), \
                live.Load(["unshare", "--mount", "sh", "-c", own_tmp]):
            check_run(tap, top, once, "alpha", "the first time")
            wanted = re.compile(r"jit-\d+\.dump jitnames libwork\.so libwork\.so\.debug "
                                r"perf-\d+\.map work")
            end = time.monotonic() + PATIENCE
            while True:
                found = sorted({os.path.basename(path) for path in held(top.process.pid, device)})
                if wanted.fullmatch(" ".join(found)) or time.monotonic() > end:
                    break
                time.sleep(0.3)
            tap.ok(wanted.fullmatch(" ".join(found)), "its files are open by then", str(found))
        check_run(tap, top, twice, "sigma", "another file system")
        check_released(tap, top, other, "another file system")
        check_run(tap, top, twice, "sigma", "known and run again")
        check_released(tap, top, device, "the first time")
        check_released(tap, top, other, "known and run again")
        check_unmount(tap, top, twice, other, "the other is unmounted, too")
        if not check_unmount(tap, top, once, device, "it is unmounted while stacktop runs"):
            return
        if not mount(once):
            raise OSError("cannot mount again")
        same = build(once, "delta") == before and os.stat(once).st_dev == device
        tap.note(f"another file system: {'alike' if same else 'not alike'} from outside")
        check_run(tap, top, once, "delta", "another one in its place")
    finally:
        top.close()


def main():
    tap = live.Tap()
    live.need(tap)
    folders = []
    try:
        for _ in range(2):
            folder = tempfile.mkdtemp(prefix="stacktop-unmount-", dir="/var/tmp")  # below no /tmp
            folders.append(folder)
            if not mount(folder):
                tap.skip("everything", "cannot mount a tmpfs")
                tap.done()
        with tempfile.TemporaryDirectory() as elsewhere:
            restless = os.path.join(elsewhere, "restless")
            subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-g", "-o", restless, RESTLESS],
                           check=True)
            with live.Load([restless]):
                check(tap, *folders)
    finally:
        for folder in folders:
            subprocess.run(["umount", "--lazy", folder], stderr=subprocess.DEVNULL, check=False)
            os.rmdir(folder)
    tap.done()


if __name__ == "__main__":
    main()
