#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that do not fit the budget: two programs with 3 MiB of rows each on one shard of 4 MiB. Each
gets its turn, what is small keeps its place beside them, and no stack is ever walked by rows of
something else: each is the true chain or ends with a reason.

Covers: bpf/room.c bpf/evict.c bpf/object.c
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SOURCE = """
	.text
	.globl filler_NAME
filler_NAME:
	.rept 140000
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	sub $32, %rsp
	.cfi_adjust_cfa_offset 32
	nop
	add $32, %rsp
	.cfi_adjust_cfa_offset -32
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.endr
	.macro caller name, callee
	.globl \\name
	.type \\name, @function
\\name:
	.cfi_startproc
	sub $40, %rsp
	.cfi_adjust_cfa_offset 40
	call \\callee
	add $40, %rsp
	.cfi_adjust_cfa_offset -40
	ret
	.cfi_endproc
	.size \\name, . - \\name
	.endm
	caller one_NAME, two_NAME
	caller two_NAME, spin_NAME
	.type spin_NAME, @function
spin_NAME:
	.cfi_startproc
	jmp spin_NAME
	.cfi_endproc
	.size spin_NAME, . - spin_NAME
	.section .note.GNU-stack, "", @progbits
"""
MAIN = "void one_NAME(void);\nint main(void)\n{\n\tone_NAME();\n\treturn 0;\n}\n"
ROUNDS = 15  # of two seconds: more than one that takes its turn may stay


def build(folder, name):
    """A program of about 3 MiB of rows."""
    for suffix, text in (("S", SOURCE), ("main.c", MAIN)):
        with open(os.path.join(folder, f"{name}.{suffix}"), "w", encoding="utf-8") as file:
            file.write(text.replace("NAME", name))
    path = os.path.join(folder, name)
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-no-pie", "-o", path, path + ".S",
                    path + ".main.c"], check=True)
    return path


def rounds_of(report, pid):
    """COMPLETE% of the process in each round in which it was sampled."""
    found = []
    for text in report.split("stacktop  20")[1:]:
        match = re.search(rf"^ *{pid} \S+ +[\d.]+ +(\d+) +[\d.]+ +([\d.]+)", text, re.M)
        if match and int(match.group(1)) >= 20:
            found.append(float(match.group(2)))
    return found


def honest(name, frames):
    """The true chain, or a reason and what is true of the program's innermost part."""
    chain = ["main", f"one_{name}", f"two_{name}", f"spin_{name}"]
    if frames[0] == "_start":
        return frames[-4:] == chain and len(frames) == 7
    known = ["__libc_start_call_main", *chain]  # of libc the frame before the table that is not there
    return frames[0].startswith("[") and frames[1:] == known[max(len(known) - len(frames[1:]), 0):]


def main():
    tap = live.Tap()
    live.need_root(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-budget-") as folder:
        paths = [build(folder, name) for name in ("left", "right")]
        small = [sys.executable, "-c", "while True: sum(range(1000))"]
        with live.Load([paths[0]]) as left, live.Load([paths[1]]) as right, \
                live.Load(small) as python:
            pids = ",".join(str(load.pid) for load in (left, right, python))
            out, err, status = live.stacktop("-b", "-d", "2", "-n", str(ROUNDS), "-F", "199",
                                             "--memory", "4", "-p", pids, timeout=120)
            tap.ok(status == 0, "runs on a budget of one shard", err.strip()[-120:])
            tap.ok("those that are sampled take turns" in err, "says that the tables do not fit")
            evicted = [int(n) for n in re.findall(r"(\d+) tables in use evicted", out)]
            tap.ok(0 < sum(evicted) <= 20 * ROUNDS, "evicts, and not all the time",
                   f"{sum(evicted)} in {2 * ROUNDS} s")
            for name, load in (("left", left), ("right", right)):
                shares = rounds_of(out, load.pid)
                tap.ok(len(shares) >= ROUNDS // 2 and max(shares) >= 99, f"{name} has its turn",
                       " ".join(f"{share:.0f}" for share in shares))
            shares = rounds_of(out, python.pid)
            good = sum(share >= 99 for share in shares)
            tap.ok(good >= 0.6 * len(shares) > 0, "what is small keeps its place",
                   " ".join(f"{share:.0f}" for share in shares))
            for name, load in (("left", left), ("right", right)):
                out, _, _ = live.stacktop("-b", "-d", "3", "-n", "1", "-F", "499", "--memory", "4",
                                          "--format", "folded", "-p", pids)
                wrong = [line for line in out.splitlines() if line.startswith(name + ";") and
                         not honest(name, [frame for frame in
                                           line.rpartition(" ")[0].split(";")[1:]
                                           if not frame.endswith("_[k]")])]
                tap.ok(not wrong, f"no stack of {name} is invented", " | ".join(wrong[:3]))
    tap.done()


if __name__ == "__main__":
    main()
