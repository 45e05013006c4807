#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug information that leads in circles: names that are said to be each other's, siblings that
come before, and a name of 10 MB. --symbolize ends and tells what is told.

Covers: symbols/dwarf/debuginfo.c symbols/dwarf/debugtree.c symbols/dwarf/debugunit.c"""

import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "live"))
import live  # noqa: E402

LONG = 10 << 20
ENDLESS = 60 * int(os.environ.get("TIME_FACTOR", "1"))  # seconds of CPU time; it takes less than one

# Abbreviations: 1 unit, 2 function with calls and a sibling, 3 inlined call, 4 DW_AT_specification,
# 5 DW_AT_abstract_origin, 6 a name, 7 DW_TAG_imported_unit.
SOURCE = f"""
	.text
	.globl round, long, back
round:	.skip 16, 0x90
	.type round, @function
	.size round, 16
long:	.skip 16, 0x90
	.type long, @function
	.size long, 16
back:	.skip 16, 0x90
	.type back, @function
	.size back, 16
	.section .debug_abbrev,"",@progbits
	.byte 1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0
	.byte 2, 0x2e, 1, 0x11, 0x01, 0x12, 0x06, 0x01, 0x13, 0, 0
	.byte 3, 0x1d, 0, 0x11, 0x01, 0x12, 0x06, 0x31, 0x13, 0, 0
	.byte 4, 0x2e, 0, 0x47, 0x13, 0, 0
	.byte 5, 0x2e, 0, 0x31, 0x13, 0, 0
	.byte 6, 0x2e, 0, 0x03, 0x08, 0, 0
	.byte 7, 0x3d, 0, 0x18, 0x13, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
unit:	.long end - version
version: .short 4
	.long 0
	.byte 8
top:	.byte 1
	.quad round
	.long 48
	.byte 7
	.long top - unit
self:	.byte 4
	.long self - unit
one:	.byte 4
	.long other - unit
other:	.byte 5
	.long one - unit
first:	.byte 2
	.quad round
	.long 16
	.long behind - unit
	.byte 3
	.quad round
	.long 8
	.long self - unit
	.byte 3
	.quad round + 8
	.long 8
	.long other - unit
	.byte 0
behind:	.byte 2
	.quad long
	.long 16
	.long first - unit
	.byte 3
	.quad long
	.long 16
	.long name - unit
	.byte 0
	.byte 2
	.quad back
	.long 16
	.long top - unit
	.byte 0
name:	.byte 6
	.fill {LONG}, 1, 'n'
	.byte 0
	.byte 0
end:
	.section .note.GNU-stack,"",@progbits
"""


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (ENDLESS, ENDLESS))


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        subprocess.run(["gcc", "-nostdlib", "-static", "-Wl,-Ttext=0x401000", "-Wl,-e,round", "-x",
                        "assembler", "-o", path, "-"], input=SOURCE.encode(), check=True)
        done = subprocess.run([live.STACKTOP, "--symbolize", path], input="401000\n401008\n401010\n"
                              "401020\n", capture_output=True, text=True, check=False,
                              preexec_fn=limit)
    names = [line.split("\t")[1] for line in done.stdout.splitlines()]
    short = [name if len(name) < 20 else f"{name[:3]}..{len(name)}" for name in names]
    tap.ok(done.returncode == 0, "it ends", f"{done.returncode} {done.stderr}")
    tap.ok(short[:4] == ["?", "round", "?", "round"], "names that are each other's are none",
           repr(short))
    tap.ok(len(names) == 7 and set(names[4]) == {"n"} and names[5:] == ["long", "back"],
           "a name of 10 MB, and what is behind it", repr(short))
    tap.done()


if __name__ == "__main__":
    main()
