#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# runs alone: it changes kernel.kptr_restrict
"""Kernel functions have names without /proc/kallsyms, which is a FIFO without a writer here, and at
each setting of kernel.kptr_restrict.

Covers: bpf/sampler/ksyms.c bpf/prog/ksyms.bpf.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

RESTRICT = "/proc/sys/kernel/kptr_restrict"
LOAD = "import os\nwhile True: os.listdir('/proc/self/task'); os.stat('/')"


def inside(folder, *command):
    """Runs in its own mount namespace: (output, exit status), None when time runs out."""
    script = f"mount --bind '{folder}/fifo' /proc/kallsyms && exec \"$@\""
    try:
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "", None
    return done.stdout.decode("utf-8", "replace"), done.returncode


def has_snprintf():
    """Before 5.13, /proc/kallsyms is the only source."""
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (5, 13)


def main():
    tap = live.Tap()
    live.need(tap)
    with open(RESTRICT, encoding="ascii") as file:
        before = file.read().strip()
    with tempfile.TemporaryDirectory() as folder, live.Load(["python3", "-c", LOAD]) as process:
        os.mkfifo(os.path.join(folder, "fifo"))
        if not has_snprintf() or inside(folder, "timeout", "1", "head", "-c1",
                                        "/proc/kallsyms")[1] != 124:
            tap.skip("everything", "an old kernel, or the FIFO cannot be mounted")
            tap.done()
        for value in ("1", "2"):
            try:
                with open(RESTRICT, "w", encoding="ascii") as file:
                    file.write(value)
            except OSError:
                tap.skip(f"kptr_restrict {value}", "cannot be set")
                continue
            try:
                text, status = inside(folder, live.STACKTOP, "-b", "-U", "--format=folded", "-d",
                                      "2", "-n", "1", "-p", str(process.pid))
            finally:
                with open(RESTRICT, "w", encoding="ascii") as file:
                    file.write(before)
            frames = [frame for _, kernel, _ in live.folded(text) for frame in kernel]
            bad = [f for f in frames if f.startswith(("[kernel]", "0x")) or not f]
            tap.ok(status == 0 and len(frames) > 20 and not bad and
                   any("do_syscall_64" in frame for frame in frames),
                   f"names without kallsyms, kptr_restrict {value}",
                   f"status {status}, {len(frames)} frames, {bad[:3]}")
    tap.done()


if __name__ == "__main__":
    main()
