#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""The suite in a container (confine.py): what needs no rights passes, what samples is skipped and counted
by the right that it lacks, and CI without CONTAINER takes that for a failure.

Covers: tests/confine.py tests/support/rights.c tests/live/rights.py
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
CONFINE, RUN = os.path.join(TESTS, "confine.py"), os.path.join(TESTS, "run.py")
PLAIN = ("unwind/test_cfa", "symbols/elf/test_debugsum", "tui/export/test_events.py", "live/test_zoo.py")
SAMPLING = ("bpf/sampler/test_memlock.c", "live/test_trail.py", "live/test_screenshot.py")  # all their tests
TEST = re.compile(r"\bcmocka_unit_test\w*\(|\bok\(")
RIGHTS = 14     # of a container


def tests_of(name):
    with open(os.path.join(TESTS, name), encoding="utf-8") as file:
        return len(TEST.findall(file.read()))


def confined(*command, **env):
    """(output, exit status) of a command in a container."""
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "CONTAINER", "V")}
    done = subprocess.run([CONFINE, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**kept, "AGAIN": "0", **env}, check=False)
    return done.stdout, done.returncode


def main():
    tap = live.Tap()
    out, status = confined("cat", "/proc/self/status")
    masks = [int(mask, 16) for mask in re.findall(r"^Cap(?:Prm|Eff|Bnd):\s*(\w+)", out, re.M)]
    tap.ok(status == 0 and len(masks) == 3 and all(mask.bit_count() <= RIGHTS for mask in masks[:2]) and
           re.search(r"^Seccomp:\s*2$", out, re.M), "a container has few rights", out if status else "")
    out, status = confined(RUN, *PLAIN, *(name.removesuffix(".c") for name in SAMPLING), CI="true",
                           CONTAINER="1")
    tap.note(out)
    count = sum(map(tests_of, SAMPLING))
    last = out.splitlines()[-2:]
    tap.ok(status == 0, "the suite passes", f"exit {status}")
    tap.ok(last[0] == f"{count} skipped: no CAP_BPF", "what samples is skipped", f"{last[0]}, not {count}")
    result = re.fullmatch(r"(\d+) passed, 0 failed, (\d+) skipped", last[1])
    tap.ok(result and int(result[2]) == count, "nothing else is skipped", last[1])
    for name in PLAIN:
        tap.ok(re.search(rf"^ok +{name} +[1-9]\d* passed, [\d.]+ s,", out, re.M), f"{name} passes")
    out, status = confined(RUN, "live/test_trail.py", CI="true")
    tap.ok(status == 1 and "live/test_trail.py: was skipped: no CAP_BPF" in out,
           "for CI that is a failure", f"exit {status}")
    tap.done()


if __name__ == "__main__":
    main()
