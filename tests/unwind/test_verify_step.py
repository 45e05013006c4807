#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The step at every instruction of parts of some programs, by verify_step.

time limit: 240 s

Covers: unwind/step.h
"""

import os
import re
import subprocess
import sys

TOOL = os.path.join(os.environ.get("BUILD", "build"), "tests/unwind/verify_step")
LOAD = TOOL + "_load"
FOLDER = os.path.dirname(os.path.abspath(__file__))
RESULT = re.compile(r"^equal: ([\d.]+) % of (\d+) instructions, ([\d.]+) % of chains$", re.M)


def verify(*arguments):
    """(exit status, share of instructions, instructions, share of chains, output)"""
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    output = done.stdout.decode("utf-8", "replace")
    found = RESULT.search(output)
    if not found:
        return done.returncode, 0.0, 0, 0.0, output
    return (done.returncode, float(found.group(1)), int(found.group(2)), float(found.group(3)),
            output)


def count(output, what):
    found = re.search(rf"(\d+)\s+{what}", output)
    return int(found.group(1)) if found else 0


# Known differences: the stack pointer that longjmp and setcontext are about to jump to, and the last
# two instructions of a realigned function, where gcc's CFI of rbp is wrong.
KNOWN = (
    re.compile(r"^OURS ENDED.* end: ours rule needs a lost register \|"),
    # swapcontext on its way to a fresh stack, where libdw takes a zero for the outermost frame.
    re.compile(r"swapcontext\+0x.* end: ours return address is zero \| libdw outermost \|"),
    # Code of the C start files, which has no CFI and has not set up a frame yet.
    re.compile(r"^no CFI, OURS WRONG.* _(init|fini)\+0x"),
)


def unknown(output):
    """The lines of unknown differences in the output of `verify -v`, with their number of places."""
    title = ""
    for line in output.splitlines():
        if line.endswith(":") and line[:1] not in " \t":
            title = line
        elif ("OURS" in title or "DIFFERENT" in title) and " x " in line:
            if not any(known.search(title.replace("chain: ", "") + line) for known in KNOWN):
                yield line, int(line.split()[0])


def programs_are_equal():
    """Whole short programs, and parts of long ones interrupted by signals."""
    status, share, steps, chains, output = verify("-n", "60000", "--", "ls", "-l", "/")
    print(output)
    if status or share < 99.99 or chains < 99.99 or steps < 40000:
        return False
    _, _, steps, _, output = verify(
        "-v", "-n", "30000", "-b", "3000", "-k", "211",
        "--", sys.executable, os.path.join(FOLDER, "verify_step_load.py"),
        "--", "perl", os.path.join(FOLDER, "verify_step_load.pl"))
    print(output)
    # How many longjmps the traced part has depends on the program.
    return sum(places for _, places in unknown(output)) <= 0.0001 * steps and steps == 60000 and \
        count(output, "signals") >= 5


def every_difference_is_known():
    """Each kind of frame and each way to leave it, with every place that differs."""
    _, _, steps, _, output = verify("-v", "-n", "400000", "-c", "200", "--", LOAD)
    print(output)
    lines = [line for line, _ in unknown(output)]
    for line in lines:
        print("not known:", line)
    return not lines and steps > 100000 and count(output, "switches of stacks") >= 8 and \
        count(output, "signals") >= 10 and count(output, "jumps to older frames") >= 3 and \
        count(output, "of all confirmed") > 0.99 * steps


def errors_are_found(who, name):
    """Spoils one of the three answers on purpose."""
    status, share, _, _, output = verify("-n", "15000", "-c", "1000", "-x", who, "--", "ls")
    print(output)
    found = sum(map(int, re.findall(rf"^ *(\d+)  {name}", output, re.M)))
    return found > 0 and (status == 1 and share < 99.99) == (who == "ours")


TESTS = (
    ("the step is right at every instruction", programs_are_equal),
    ("every difference in a program of all kinds of frames is known", every_difference_is_known),
    ("a wrong row is found",
     lambda: errors_are_found("ours", r"OURS WRONG, libdw right \(witness\)")),
    ("a wrong answer of libdw is told from one of ours",
     lambda: errors_are_found("libdw", r"libdw wrong, ours right \(witness\)")),
    ("CFI that is not true is told from a wrong step",
     lambda: errors_are_found("witness", r"equal, but the CFI itself is wrong \(witness\)")),
)


def main():
    failed = 0
    print(f"1..{len(TESTS)}")
    for number, (name, test) in enumerate(TESTS, 1):
        good = test()
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
