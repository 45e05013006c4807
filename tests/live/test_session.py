#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""A session equals the run: a recording made while reports are written replays as the same reports,
byte for byte, also for a user without rights, and after the recording stacktop was killed.

Covers: tui/session/session_write.c tui/session/player.c tui/profile/source.h
"""

import datetime
import gzip
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs",
          "--bounding-set=-all", "--inh-caps=-all"]
MAGIC = b"stacktop session 1\n"
DEEP = os.path.join(live.WORK, "deep90")
DEMO = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "demo.session")
SLIDE = os.path.join(live.WORK, "slide")


def first_difference(a, b):
    for number, (x, y) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
        if x != y:
            return f"line {number}: {x!r} and {y!r}"
    return f"{len(a)} and {len(b)} bytes"


def folded_of(path):
    return replay(path, "--format", "folded")[0]


def replay(path, *options, unprivileged=False):
    """Replays as live.stacktop, or as the user nobody."""
    command = [live.STACKTOP, "-b", "-r", path, *options]
    if unprivileged:
        os.chmod(path, 0o644)
        # The user nobody may have no access to the build directory.
        command[0] = shutil.copy(live.STACKTOP, os.path.join(os.path.dirname(path), "program"))
        os.chmod(command[0], 0o755)
        command = NOBODY + command
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=200,
                          check=False)
    return (done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"),
            done.returncode)


def contents(path):
    """The session, decompressed."""
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def wait_for(condition, seconds=100):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.1)


def slice_times(path):
    """The end of each complete slice of a session, in seconds: docs/SESSION.md, "Chunks"."""
    times = []
    with open(path, "rb") as file:
        data = file.read()
    at = len("stacktop session 1\n")
    while at + 32 <= len(data):
        kind, packed, time_ns = struct.unpack_from("<4xB3xI4xQ", data, at)
        at += 32 + packed
        if kind == 3 and at <= len(data):
            times.append(time_ns / 1e9)
    return times


def check_round_trip(tap, folder):
    for form in "text", "folded":
        path = os.path.join(folder, form)
        shown, _, status = live.stacktop("-b", "-n", "4", "-d", "0.5", "--format", form, "-w", path,
                                        timeout=300)
        tap.ok(status == 0 and shown.count("deep90") > 0, f"{form}: a run is recorded")
        played, err, status = replay(path, "--format", form, unprivileged=True)
        tap.ok(status == 0 and played == shown, f"{form}: the user nobody replays the same",
               first_difference(shown, played) + err)
    for form in "json", "pprof", "perf", "speedscope", "firefox", "svg":
        path, live_file, played = (os.path.join(folder, form + end) for end in ("", "1", "2"))
        _, err, status = live.stacktop("-b", "-n", "2", "-d", "0.2", "--format", form, "-w", path,
                                       "-o", live_file, timeout=300)
        _, more, again = replay(path, "--format", form, "-o", played)
        tap.ok(status == again == 0 and contents(live_file) == contents(played) != b"",
               f"{form}: a replay writes the same file", err + more)
    path = os.path.join(folder, "text")
    shown, _, _ = replay(path)
    part, _, status = replay(path, "-n", "2")
    tap.ok(status == 0 and part and shown.startswith(part) and len(live.reports(part)) == 2,
           "-n ends a replay")
    times = slice_times(path)
    # Refreshes come a little late: the one that ends next to the time is meant.
    start = "--from", f"{times[1] - 0.01:.3f}"
    last, _, status = replay(path, *start)
    tap.ok(status == 0 and len(live.reports(last)) == len(times) - 2,
           "--from leaves out earlier slices", f"{len(live.reports(last))} of {len(times)}")
    last, everything = replay(path, *start, "--format", "folded")[0], folded_of(path)
    tap.ok(last and everything.endswith(last) and everything != last, "and no later ones")
    clocks = re.findall(r"^stacktop  (\S+ \S+) ", shown, re.M)
    until = datetime.datetime.fromisoformat(clocks[1]) + datetime.timedelta(seconds=1)
    early, _, status = replay(path, "--to", until.strftime("%H:%M:%S"))
    tap.ok(status == 0 and shown.startswith(early) and
           len(live.reports(early)) - sum(clock <= clocks[1] for clock in clocks) in (0, 1),
           "--to takes a time of day", f"{clocks} until {until}")
    none, err, status = replay(path, "--from", "1000")
    tap.ok(status == 1 and not none and path in err, "a time outside the session is reported", err)


def check_shards(tap, folder):
    """The replay has the tables that were in the shards."""
    shot = os.path.join(folder, "shards.txt")
    # The search brings the table onto the screen, however many others there are.
    done = subprocess.run([live.STACKTOP, "-r", os.path.join(folder, "text"), "--screenshot", shot,
                           "--keys", "6 / d e e p 9 0 Enter", "--size", "140x100"],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=200, check=False)
    screen = read(shot) if done.returncode == 0 else done.stderr.decode()
    # Behind a row there may be the mark of where the rows on the screen lie in the list.
    rows = re.findall(r"^[ >] *\S+ +([\d,]+) +\d+ +\S+ \S+ +\d+ +[\d.]+ +([\d,]+) +[-\d.]+ \w+ +(\S+)"
                      r"(?: +[\u2590#])?$", screen, re.MULTILINE)
    words = {name: int(words.replace(",", "")) for words, _, name in rows}
    tap.ok("Layout of shard 0" in screen and words.get("deep90", 0) > 100,
           "Shards shows the recorded tables", f"{len(words)} tables")


def check_kill(tap, folder):
    path = os.path.join(folder, "killed")
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([live.STACKTOP, "-b", "-d", "0.5", "-w", path],
                                   stdin=subprocess.DEVNULL, stdout=out)
        wait_for(lambda: os.path.exists(path) and len(slice_times(path)) > 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        out.seek(0)
        shown = out.read().decode("utf-8", "replace")
    played, err, status = replay(path)
    # The kill may have come after the last slice was written to only one of the two.
    heads = [len(re.findall(r"^stacktop  ", text, re.M)) for text in (played, shown)]
    tap.ok(status == 0 and shown and (played.startswith(shown) or shown.startswith(played)) and
           heads[0] >= max(heads[1] - 1, 2), "slices recorded before a kill are there",
           f"{heads[0]} of {heads[1]} reports {err}")
    tap.ok("was cut off" in err, "a message says that it was cut off", err)


def record_on_full_disk(tap, folder, disk):
    path = os.path.join(disk, "s")
    out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
    with open(out, "wb") as to, open(err, "wb") as errors:
        process = subprocess.Popen([live.STACKTOP, "-b", "--format", "folded", "-d", "0.3",
                                    "-w", path], stdin=subprocess.DEVNULL, stdout=to,
                                   stderr=errors)
    try:
        wait_for(lambda: os.path.exists(path) and len(slice_times(path)) > 2)
        try:
            with open(os.path.join(disk, "rest"), "wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass
        wait_for(lambda: "No space left on device" in read(err))
        told = len(read(out))
        wait_for(lambda: len(read(out)) > told)
        process.send_signal(signal.SIGINT)
        status, shown = process.wait(timeout=100), read(out)
        tap.ok(len(shown) > told, "a full disk is reported and the reports go on", read(err))
        tap.ok(status == 1 and read(err).count("No space left on device") == 1,
               "but the run fails", f"{status} {read(err)}")
        played, problem, status = replay(path, "--format", "folded")
        tap.ok(status == 0 and 0 < len(played) < len(shown) and shown.startswith(played),
               "the part before it can be replayed",
               f"{len(played)} of {len(shown)} bytes {problem}")
    finally:
        process.kill()


def check_full_disk(tap, folder):
    disk = os.path.join(folder, "disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", disk],
                      capture_output=True, check=False).returncode:
        tap.skip("a full disk", "cannot mount a tmpfs")
        return
    try:
        # So that each slice has something to replay.
        with live.Gentle([SLIDE]):
            record_on_full_disk(tap, folder, disk)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def check_file_limit(tap, folder):
    """Only the beginning of a session can be written (ulimit -f)."""
    path, signals = os.path.join(folder, "limited"), os.path.join(folder, "signals")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(MAGIC), len(MAGIC)))

    for mode in ("-b", "--plain"):
        done = subprocess.run([live.STACKTOP, mode, "-d", "0.3", "-n", "2", "-p",
                               str(os.getpid()), "-w", path],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=200,
                              preexec_fn=limit, check=False)
        err = done.stderr.decode("utf-8", "replace")
        tap.ok(done.returncode == 1 and f"{path}: File too large" in err and done.stdout,
               f"{mode}: a file size limit is an error, not a signal", f"{done.returncode} {err}")
        tap.ok(contents(path) == MAGIC, "the part that fits is written")
        os.unlink(path)
    done = subprocess.run([live.STACKTOP, "-b", "-r", DEMO, "-o", path], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=200, preexec_fn=limit, check=False)
    err = done.stderr.decode("utf-8", "replace")
    tap.ok(done.returncode == 1 and f"{path}: File too large" in err and not os.path.exists(path),
           "the same for a report", f"{done.returncode} {err}")
    # The signal (25) still kills the user's own command.
    live.stacktop("-b", "-d", "0.3", "-n", "1", "--", "sh", "-c",
                  f"grep SigIgn /proc/self/status >{signals}", timeout=200)
    ignored = re.search(r"SigIgn:\s*(\w+)", read(signals))
    tap.ok(ignored and not int(ignored.group(1), 16) >> signal.SIGXFSZ - 1 & 1,
           "a command does not inherit the ignored signal", read(signals))


def check_size(tap, folder):
    """Two busy CPUs at 99 Hz: at most a megabyte a minute. Other processes are not counted."""
    path = os.path.join(folder, "size")
    seconds = 6
    with live.Load([SLIDE]), live.Load([DEEP]):
        live.stacktop("-b", "-n", str(seconds), "--comm", "^(slide|deep90)$", "-w", path, timeout=300)
    size = os.path.getsize(path) * 60 / seconds
    tap.ok(0 < size <= 1 << 20, "a minute takes at most 1 MB", f"{size / 1024:.0f} KiB")


def check_demo(tap, folder):
    """The published recording, with everything that `make demo` shows."""
    path = os.path.join(folder, "demo")
    shutil.copy(DEMO, path)
    text, err, status = replay(path, "--format", "folded", unprivileged=os.geteuid() == 0)
    missing = [word for word in ("hotloop;", ";scramble", "place_queen;place_queen;place_queen",
                                 "kernelbound;", "convoy;", "__lll_lock_wait", "jit;",
                                 ";Basket.total_[py];find_price_[py]", ";deflate")
               if word not in text]
    tap.ok(status == 0 and not missing, "docs/demo.session has all that the demo shows",
           f"{missing} {err}")


def check_precious(tap, path):
    _, err, status = live.stacktop("-b", "-n", "1", "-w", path)
    with open(path, encoding="ascii") as file:
        kept = file.read() == "not to be lost\n" * 10
    tap.ok(status == 1 and "is not a session" in err and kept, "another file is not overwritten", err)


def check_refusals(tap, folder):
    path = os.path.join(folder, "precious")
    with open(path, "w", encoding="ascii") as file:
        file.write("not to be lost\n" * 10)
    live.run_parts(tap, (check_precious, path))
    _, err, status = replay(path)
    tap.ok(status == 1 and "is not a stacktop session" in err, "nor replayed", err)
    for options in (["-r", path, "-p", "1"], ["-r", path, "-w", path], ["--from", "1"],
                    ["--speed", "2"], ["-r", path, "--", "true"], ["-r", path, "--from", "x"]):
        _, err, status = live.stacktop("-b", *options)
        tap.ok(status == 2 and "usage" in err, f"{' '.join(options[:3:2])} is refused", err[:70])


def main():
    tap = live.Tap()
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    try:
        with live.Gentle([DEEP]):
            live.run_parts(tap, (check_round_trip, folder), (check_shards, folder), (check_kill, folder))
        live.run_parts(tap, (check_full_disk, folder), (check_file_limit, folder), (check_size, folder))
        check_demo(tap, folder)
        check_refusals(tap, folder)
    finally:
        shutil.rmtree(folder)
    tap.done()


if __name__ == "__main__":
    main()
