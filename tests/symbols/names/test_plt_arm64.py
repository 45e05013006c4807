#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the stubs of the PLT in files of arm64, of GNU ld and lld, as llvm-objdump finds them, by
--symbolize on any machine.

Covers: symbols/elf/arch.h symbols/elf/arch/arm64.h symbols/names/plt.c
"""

import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "live"))
import live  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "unwind", "snapshots")
STUB = re.compile(r"^([0-9a-f]+) <(\w+)@plt>:$", re.M)


def stubs(path):
    out = subprocess.run(["llvm-objdump", "-d", "-j", ".plt", path], capture_output=True, text=True,
                         check=False).stdout
    return [(int(addr, 16), name) for addr, name in STUB.findall(out)]


def named(path, addrs):
    out = subprocess.run([live.STACKTOP, "--symbolize", path], capture_output=True, text=True,
                         input="".join(f"{addr:x}\n" for addr in addrs), check=False).stdout
    return out.splitlines()


def main():
    tap = live.Tap()
    if not shutil.which("llvm-objdump"):
        tap.skip("names of stubs", "there is no llvm-objdump")
        tap.done()
        return
    total = 0
    for path in sorted(glob.glob(os.path.join(FOLDER, "arm64-*.elf"))):
        expected = stubs(path)
        if not expected:
            continue
        total += len(expected)
        # Each instruction of a stub; the last one may be the last of the section.
        addrs = [addr + at for addr, _ in expected for at in (0, 4, 12)]
        lines = named(path, addrs)
        wrong = [(hex(addr), line) for addr, line, (_, name) in
                 zip(addrs, lines, [one for one in expected for _ in range(3)])
                 if not re.search(rf"\b{re.escape(name)}@plt\b", line)]
        tap.ok(len(lines) == len(addrs) and not wrong, f"{os.path.basename(path)}: stubs are named",
               f"{len(expected)} stubs, {len(lines)} lines, not {wrong[:3]}")
    tap.ok(total >= 20, "enough of them were compared", f"{total}")
    tap.done()


if __name__ == "__main__":
    main()
