#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables beyond the budget: two programs with 3 MiB of rows each on one shard of 4 MiB. Each gets its
turn, small tables keep their place beside them, and no stack is walked by rows of another program:
each is the true chain or ends with a reason.

Covers: bpf/tracker/evict.c bpf/tracker/object.c bpf/prog/walker.bpf.h
"""

import concurrent.futures
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
PATIENCE = 120


def build(folder, name):
    """Builds a program of about 3 MiB of rows."""
    for suffix, text in (("S", SOURCE), ("main.c", MAIN)):
        with open(os.path.join(folder, f"{name}.{suffix}"), "w", encoding="utf-8") as file:
            file.write(text.replace("NAME", name))
    path = os.path.join(folder, name)
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-no-pie", "-o", path, path + ".S",
                    path + ".main.c"], check=True)
    return path


def share_of(part, pid):
    """The share of complete stacks of the process in a slice; None when it has few samples."""
    stacks = [(user, count) for number, _, user, _, count in part.stacks if number == pid and user]
    total = sum(count for _, count in stacks)
    whole = sum(count for user, count in stacks if not user[0].startswith("["))
    return 100 * whole / total if total >= 20 else None


def shares_of(slices, pid):
    shares = [share_of(part, pid) for part in slices]
    return [share for share in shares if share is not None]


def honest(name, frames):
    """True for the true chain, or for a reason followed by the innermost frames of the chain."""
    chain = ["main", f"one_{name}", f"two_{name}", f"spin_{name}"]
    if frames[0] == "_start":
        return frames[-4:] == chain and len(frames) == 7
    known = ["__libc_start_call_main", *chain]  # libc's frame is found before libc's table is missed
    return frames[0].startswith("[") and frames[1:] == known[max(len(known) - len(frames[1:]), 0):]


def evicted(session):
    """The number of evicted tables that were in use, of each slice that reports one."""
    text, _, _ = live.stacktop("-b", "-r", session)
    return [int(count) for count in re.findall(r"(\d+) tables in use evicted", text)]


def check(tap, left, right, python, session):
    """Samples until each program had its turn and the small ones were seen beside them."""
    def each(slices):
        return all(max(shares_of(slices, pid), default=0) >= 99 for pid in (left, right)) and \
            sum(share >= 99 for share in shares_of(slices, python)) >= 6

    with live.Stream("-d", "1", "-F", "199", "--memory", "4", "-w", session, "-p",
                     f"{left},{right},{python}") as top:
        top.until(each, PATIENCE)
        status, slices = top.stop(), top.slices
        said = os.pread(top.err.fileno(), 1 << 20, 0).decode("utf-8", "replace")
    tap.ok(status == 0 and slices, "runs with a budget of one shard", said.strip()[-120:])
    tap.ok("those that are sampled take turns" in said, "reports that the tables do not fit")
    for name, pid in (("left", left), ("right", right)):
        shares = shares_of(slices, pid)
        tap.ok(max(shares, default=0) >= 99, f"{name} has its turn",
               " ".join(f"{share:.0f}" for share in shares))
    both = [[share for share in (share_of(part, left), share_of(part, right)) if share is not None]
            for part in slices]
    best = [max(shares) for shares in both if shares]
    tap.ok(sum(share >= 99 for share in best) >= 0.5 * len(best) > 0, "one of the two has its table",
           " ".join(f"{share:.0f}" for share in best))
    went = evicted(session)
    tap.ok(0 < sum(went) <= 20 * len(slices), "evicts, but not all the time", f"{went}")
    shares = shares_of(slices, python)
    good = sum(share >= 99 for share in shares)
    tap.ok(good >= 0.6 * len(shares) > 0, "small tables keep their place",
           " ".join(f"{share:.0f}" for share in shares))
    for name, pid in (("left", left), ("right", right)):
        stacks = [user for part in slices for number, _, user, _, _ in part.stacks
                  if number == pid and user]
        wrong = [user for user in stacks if not honest(name, user)]
        tap.ok(stacks and not wrong, f"no stack of {name} is invented",
               " | ".join(";".join(user) for user in wrong[:3]))


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-budget-") as folder:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            paths = list(pool.map(lambda name: build(folder, name), ("left", "right")))
        small = [sys.executable, "-c", "while True: sum(range(1000))"]
        with live.Load([paths[0]]) as left, live.Load([paths[1]]) as right, \
                live.Load(small) as python:
            check(tap, left.pid, right.pid, python.pid, os.path.join(folder, "session"))
    tap.done()


if __name__ == "__main__":
    main()
