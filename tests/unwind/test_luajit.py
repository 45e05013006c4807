#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The interpreter of LuaJIT: code of many functions with one FDE, as vm_x64.dasc writes them; and other
code of the same size and CFI, of which the CFI is believed. Each label is where a row has to begin.

Covers: unwind/arch/x86_64/luajit.c unwind/table.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

SOURCE = """
	.macro save entry
\\entry:	push %rbp
\\entry\\()_1: push %rbx
\\entry\\()_2: push %r15
\\entry\\()_3: push %r14
\\entry\\()_4: sub $40, %rsp
\\entry\\()_5:
	.endm
	.macro restore exit
	add $40, %rsp
\\exit\\()_1: pop %r14
\\exit\\()_2: pop %r15
\\exit\\()_3: pop %rbx
\\exit\\()_4: pop %rbp
\\exit\\()_5:
	.endm
	.text
	.globl _start
_start:	.cfi_startproc
	.cfi_def_cfa_offset 80
	.cfi_offset rbp, -16
	.cfi_offset rbx, -24
	.skip 9000, 0x90
	call floor
	call gcstep
	restore a
	ret
a_6:	restore b
	jmp _start
b_6:	nop
	save c
	jmp *(%r14)
	SAVE d
	jmp *(%r14)
	SAVE e
	jmp *(%r14)
gcstep:	pop %rbp
g_pop:	mov (%rsp), %rbp
	push %rbp
g_push:	ret
g_end:	nop
exit:	push %r13
	push %r12
	push %r11
	push %r10
	nop
	mov %rcx, %rsp
x_end:	jmp *(%r14)
floor:	movaps %xmm0, %xmm1
	ret
callback: int3
f_1:	push %rbx
f_2:	push %r15
f_3:	push %r14
f_4:	sub $40, %rsp
f_5:	jmp *(%r14)
	.cfi_endproc
end:
"""

LEAF = ("rsp+8", "u", "c-8")
END = ("end", "-", "-")


def stack(offset):
    return f"rsp+{offset}", "c-16", "c-8"


def saves(entry):
    yield entry, LEAF
    for i, offset in enumerate((16, 24, 32, 40, 80)):
        yield f"{entry}_{i + 1}", stack(offset)


def restores(leave):
    for i, offset in enumerate((40, 32, 24, 16)):
        yield f"{leave}_{i + 1}", stack(offset)
    yield f"{leave}_5", LEAF
    yield f"{leave}_6", stack(80)


EXPECTED = {
    "the interpreter": [("_start", stack(80))],
    "the end of a function": restores("a"),
    "the end by a jump": restores("b"),
    "functions that C calls": [*saves("c"), *saves("d"), *saves("e")],
    "a return address off the stack": [("gcstep", stack(88)), ("g_pop", stack(80)),
                                       ("g_push", stack(88)), ("g_end", stack(80))],
    "the exit of a trace": [("exit", ("expr", "-", "-")), ("x_end", stack(80))],
    "a function without a frame": [("floor", LEAF), ("callback", LEAF)],
    "a callback": [("f_1", stack(16)), ("f_2", stack(24)), ("f_3", stack(32)), ("f_4", stack(40)),
                   ("f_5", stack(80))],
    "the end": [("end", END)],
}


def build(folder, entries):
    """SAVE: the second and third function that C calls push as the first does, or not."""
    source, program = os.path.join(folder, "vm.s"), os.path.join(folder, "vm")
    with open(source, "w", encoding="ascii") as file:
        file.write(SOURCE.replace("SAVE", "save" if entries else "nop #"))
    subprocess.run([os.environ.get("CC", "gcc"), "-nostdlib", "-static", "-o", program, source],
                   check=True)
    names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    out, err, status = live.stacktop("--dump-unwind", program)
    return err.strip(), status, [(int(row[0], 16), tuple(row[1:]))
                                 for row in (line.split("\t") for line in out.splitlines())], \
        {name: int(address, 16) for address, _, name in (line.split() for line in names.splitlines())}


def rule_at(table, addr):
    rules = [rule for at, rule in table if at <= addr]
    return rules[-1] if rules else END


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory(prefix="stacktop-luajit-") as folder:
        err, status, table, at = build(folder, True)
        tap.ok(status == 0, "--dump-unwind", err)
        for name, rows in EXPECTED.items():
            for label, rule in rows:
                found = rule_at(table, at[label])
                tap.ok(found == rule, f"{name}: {label}",
                       "" if found == rule else f"{found} instead of {rule}")
        starts = {addr for addr, _ in table}
        tap.ok({at["c_1"], at["g_pop"], at["floor"], at["f_1"]} <= starts, "rows begin at labels")
        err, status, table, at = build(folder, False)
        tap.ok([rule for _, rule in table] == [stack(80), END], "other code: the CFI is believed",
               str(table[:4]))
    tap.done()


if __name__ == "__main__":
    main()
