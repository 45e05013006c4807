#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the files in snapshots/, word for word, and the same files read by libdw; see
snapshots/README.md. UPDATE=1 writes the tables instead, for `git diff` to show.

Covers: unwind/machine.c unwind/dumpfile.c unwind/arch/x86_64/plthead.c
Covers: unwind/table.c unwind/dump.c unwind/cfa.c unwind/expr.c unwind/cfifile.c
"""

import difflib
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "snapshots")
VERIFY = os.path.join(live.BUILD, "tests", "unwind", "verify_unwind")
THIS = {"aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
SIZE_MAX = 30 * 1024

# Places where libdw differs, by its name for them. The CFA of `index` needs two registers; in `crypto`
# libdw has no CFA where binutils, gdb and libgcc have one. A return address in x15, by the column of the
# CIE, is undefined for libdw, since its ABI does not say that a function keeps that register.
DIFFERENT = {"rules": {"we: unsupported": 2, "libdw: unknown": 2}, "arm64-rules": {"RA differs": 5}}
FINE = ("agree", "we: SP lost", "PLT without CFI", "derived", "clone")


def dump(path):
    out, err, status = live.stacktop("--dump-unwind", path)
    return status, out + "".join(f"# {line}\n" for line in err.splitlines())


def verified(path):
    """({outcome: places} of the places that do not agree, the number of those that do)"""
    machine = "arm64" if os.path.basename(path).startswith("arm64-") else "x86_64"
    verify = VERIFY if machine == THIS else VERIFY + ".other"
    out = subprocess.run([verify, path], capture_output=True, text=True, check=False).stdout
    outcomes = {}
    for line in out.splitlines():
        number, _, name = line.strip().partition("  ")
        if number.isdigit() and not name.startswith(" ") and name != "functions not enumerated":
            outcomes[name] = int(number)
    agree = outcomes.get("agree", 0)
    return {name: n for name, n in outcomes.items() if n and name not in FINE}, agree


def check(tap, elf, update):
    name = os.path.basename(elf)[:-len(".elf")]
    expected_path = elf[:-len(".elf")] + ".txt"
    status, text = dump(elf)
    if update:
        with open(expected_path, "w", encoding="ascii") as file:
            file.write(text)
    with open(expected_path, encoding="ascii") as file:
        expected = file.read()
    same = status == 0 and text == expected
    tap.ok(same, f"{name}: the table is as it was", f"{expected.count(chr(10))} lines")
    if not same:
        diff = list(difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected",
                                         "now", lineterm="", n=2))
        tap.note("\n".join(diff[:60]))
    different, agree = verified(elf)
    tap.ok(agree > 50 and different == DIFFERENT.get(name, {}), f"{name}: libdw sees the same",
           f"{agree} places, not {different}")


def main():
    tap = live.Tap()
    files = sorted(glob.glob(os.path.join(FOLDER, "*.elf")))
    with open(os.path.join(FOLDER, "README.md"), encoding="ascii") as file:
        readme = file.read()
    unnamed = [path for path in files if f"\n| {os.path.basename(path)[:-4]} |" not in readme]
    large = [path for path in files if os.path.getsize(path) > SIZE_MAX]
    tap.ok(len(files) >= 12 and not unnamed and not large, "a dozen small files, all in the README",
           f"{len(files)} files, not {unnamed + large}")
    for path in files:
        check(tap, path, os.environ.get("UPDATE") == "1")
    tap.done()


if __name__ == "__main__":
    main()
