# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions a frame on both processors. Guests are emulated with a clock that advances by a
nanosecond with each instruction (QEMU's -icount), so the kernel's own figure for the time of a
program counts them: what no other load of the machine can change."""

import os
import re
import subprocess

RUN = os.path.join("tests", "kernels", "run.sh")
SERIES = "6.12"
DEPTHS = 120, 500
LINE = re.compile(r"^# depth(\d+) (\d+) instructions a sample", re.M)


def count(machine):
    """{depth: instructions a sample}"""
    env = dict(os.environ, GUEST=machine, ICOUNT="1", TESTS=os.path.join("tests", "bench", "frames.guest.sh"))
    fetched = subprocess.run([os.path.join("tests", "kernels", "fetch.sh"), SERIES], env=env, check=False,
                             stdout=subprocess.DEVNULL)
    if fetched.returncode:
        return {}
    out = subprocess.run([RUN, SERIES], env=env, check=False, capture_output=True, text=True).stdout
    return {int(depth): int(number) for depth, number in LINE.findall(out)}


def measure(table):
    own = os.uname().machine
    for machine in ("x86_64", "aarch64"):
        if machine != own and subprocess.run(
                [os.path.join("tests", "kernels", "guest-programs.sh"), machine], check=False,
                stdout=subprocess.DEVNULL).returncode:
            table.missed(f"{machine}: one more frame", "it cannot be built for it")
            continue
        counted = count(machine)
        low, high = (counted.get(depth, 0) for depth in DEPTHS)
        if not low or not high:
            table.missed(f"{machine}: one more frame", "the guest did not count")
            continue
        table.row(f"{machine}: a sample of {DEPTHS[0]} frames", low, "instructions", digits=0)
        table.row(f"{machine}: one more frame", (high - low) / (DEPTHS[1] - DEPTHS[0]), "instructions",
                  digits=0)
