#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Annotations by the real program. A loop's samples are where perf finds them in the same seconds. A
slow instruction has its samples at itself or at the next one. A call has the samples of its callees,
a system call those of the kernel. The addresses are the function's, and source lines stand where
objdump puts them. A function of the kernel begins where kallsyms has it. A copy of the loop in memory
without a file has the loop's instructions, with a name in a perf map and without one.

Covers: symbols/code/listing.c symbols/code/kcode.c symbols/code/memcode.c tui/collect/annotator.c
Covers: tui/collect/nocode.c bpf/tracker/openfile.c tui/collect/lister.c tui/collect/stack_ring.c tui/profile/annotation.c
"""

import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

HERTZ = live.hertz(1999)
BUSY = 0.3  # seconds of CPU time

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noipa)) unsigned long hot(unsigned long n)
{
	unsigned long s = n | 1;
	while (n--) {
		s = (s << 40 | 0x123456789) / (s | 3); /* the division */
		s ^= n * 0x9e3779b97f4a7c15ul;
		s = s / ((s & 0xff) + 3);
	}
	return s;
}
__attribute__((noipa)) void slow(unsigned long n)
{
	while (n--) {
		unsigned int a = 0, b, c = 0, d;
		__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)); /* slow */
	}
}
__attribute__((noipa)) void ask(unsigned long n)
{
	while (n--) {
		long r = 110; /* getppid */
		__asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
	}
}
__attribute__((noipa)) unsigned long outer(int which)
{
	if (which == 0)
		return hot(100000) + 1;
	if (which == 1)
		slow(1000);
	else
		ask(100000);
	return 2;
}
static unsigned long made(int size, int named) /* hot, as a compiler at run time would have made it */
{
	char *code = mmap(NULL, 8192, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
	unsigned long (*copy)(unsigned long) = (void *)(code + 4096 - size / 2), s = 0;
	FILE *map;
	memcpy((void *)copy, (void *)hot, size);
	snprintf(path, sizeof(path), named ? "/tmp/perf-%d.map" : "/tmp/bare-%d.txt", getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %x copied_loop\n", (long)copy, size);
	fclose(map);
	for (;;)
		s += copy(100000);
	return s;
}
int main(int c, char **v)
{
	unsigned long s = 0;
	if (c > 2)
		return (int)made(atoi(v[1]), v[2][0] == 'n');
	for (;;)
		s += outer(atoi(v[c - 1]));
	return (int)s;
}
"""

ROW = re.compile(r"^.([ \d.]{6})([ \d.]{7})  +([0-9a-f]+) (.*)$")


def main():
    tap = live.Tap()
    live.need(tap)
    missing = subprocess.run(["gcc", "-E", "-include", "capstone/capstone.h", "-x", "c", "/dev/null"],
                             capture_output=True, check=False).returncode
    if missing:
        tap.skip("everything", "capstone is optional and missing")
        tap.done()
    with tempfile.TemporaryDirectory(prefix="stacktop-annotate-") as folder:
        source, program = os.path.join(folder, "busy.c"), os.path.join(folder, "busy")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE)
        subprocess.run(["gcc", "-g", "-O1", "-fno-tree-vectorize", "-o", program, source], check=True)
        size = str(hot_size(program))
        with concurrent.futures.ThreadPoolExecutor(8) as pool, live.Load([program, "0"]) as busy, \
                live.Load([program, "1"]) as slow, live.Load([program, "2"]) as ask, \
                live.Load([program, size, "named"]) as named, live.Load([program, size, "bare"]) as bare:
            watch.until_busy([busy.pid, slow.pid, ask.pid, named.pid, bare.pid], BUSY)
            # At the same time, each in a stacktop of its own.
            screens = [pool.submit(annotate, folder, load.pid, name) for load, name in
                       ((slow, "slow"), (ask, "ask"), (busy, "outer"), (ask, "do_syscall_64"),
                        (named, "copied_loop"), (bare, ".jit."))]
            hot(tap, folder, program, busy)
            below_slow(tap, *screens[0].result())
            below_ask(tap, *screens[1].result())
            below_outer(tap, *screens[2].result())
            of_kernel(tap, *screens[3].result())
            made(tap, "of a name", program, f"/tmp/perf-{named.pid}.map", *screens[4].result())
            made(tap, "without a name", program, f"/tmp/bare-{bare.pid}.txt", *screens[5].result())
    tap.done()


def hot_size(program):
    out = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[1], 16) for line in out.splitlines() if line.endswith(" hot"))


def annotate(folder, pid, name):
    """({address: (self, below, text)}, the whole screen) of a function of the process."""
    path = os.path.join(folder, f"{name.strip('.')}.txt")
    keys = " ".join(["2", "/", *f"^{name}$", "Enter", "a"])
    _, err, status = live.stacktop("--screenshot", path, "--size", "140x70", "--ascii", "-F", HERTZ,
                                   "-p", str(pid), "-d", "1", "-n", "3", "--keys", keys, timeout=300)
    if status:
        raise RuntimeError(err)
    with open(path, encoding="utf-8") as file:
        screen = file.read()
    rows = {}
    for line in screen.splitlines():
        match = ROW.match(line)
        if match:
            values = [float(match.group(i).strip() or 0) for i in (1, 2)]
            rows[int(match.group(3), 16)] = (*values, match.group(4))
    return rows, screen


def mnemonic(text):
    """objdump's, without the prefixes that it names: capstone has none for a long `nop`."""
    return next(word for word in text.split() if word not in ("data16", "cs"))


def objdump(program, name):
    """({address: text}, {address: source line}) of a function."""
    out = subprocess.run(["objdump", "-dl", "--no-show-raw-insn", "-M", "intel",
                          f"--disassemble={name}", program], capture_output=True, text=True,
                         check=True).stdout
    insns, lines, number = {}, {}, 0
    for line in out.splitlines():
        place = re.match(r"^/.*busy\.c:(\d+)", line)
        insn = re.match(r"^ +([0-9a-f]+):\s+(.*)$", line)
        if place:
            number = int(place.group(1))
        elif insn:
            insns[int(insn.group(1), 16)] = insn.group(2)
            lines[int(insn.group(1), 16)] = number
    return insns, lines


def perf_shares(perf, data, pid, insns, base):
    """Share of the samples at each address of a function, in percent."""
    out = subprocess.run([perf, "script", "-i", data, "--pid", str(pid), "-F", "ip"],
                         capture_output=True, text=True, check=True).stdout
    counts = collections.Counter(int(word, 16) - base for word in out.split())
    total = sum(counts[addr] for addr in insns)
    return {addr: 100 * counts[addr] / total for addr in insns if counts[addr]} if total else {}, total


def load_base(pid, program):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            if program in line:
                return int(line.split("-")[0], 16)
    return 0


def hot(tap, folder, program, busy):
    perf, data = shutil.which("perf"), os.path.join(folder, "perf.data")
    insns, lines = objdump(program, "hot")
    base, recorder = load_base(busy.pid, program), None
    if perf:
        recorder = subprocess.Popen([perf, "record", "-q", "-e", "cpu-clock", "-F", HERTZ, "-o", data,
                                     "-p", str(busy.pid)], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
    try:
        rows, screen = annotate(folder, busy.pid, "hot")
    finally:
        if recorder:
            recorder.send_signal(2)
            recorder.wait()
    if perf:
        compare(tap, perf_shares(perf, data, busy.pid, insns, base), rows, screen)
    else:
        tap.skip("shares are those of perf", "perf is missing")
    tap.ok(set(rows) == set(insns), "all instructions of objdump are shown, and no others",
           str({hex(a) for a in set(rows) ^ set(insns)} or ""))
    wrong = [hex(a) for a in set(rows) & set(insns) if f" {mnemonic(insns[a])}" not in rows[a][2]]
    tap.ok(not wrong, "with objdump's mnemonics", " ".join(wrong))
    total = sum(row[0] + row[1] for row in rows.values())
    tap.ok(98 < total < 102, "the shares add up to 100 %", f"{total:.1f}")
    check_lines(tap, screen, lines)


def below_outer(tap, rows, screen):
    calls = {addr: row for addr, row in rows.items() if "<hot>" in row[2]}
    tap.ok(len(calls) == 1 and next(iter(calls.values()))[1] > 95,
           "the caller's row of the call has the samples below it", str(calls) if calls else screen)


def of_kernel(tap, rows, screen):
    """A function of the running kernel: from its symbol on, with the call of the system call."""
    if "machine code is not shown" in screen:
        tap.skip("a function of the kernel", "this kernel shows its code to no one")
        return
    with open("/proc/kallsyms", encoding="utf-8") as file:
        starts = [int(line.split()[0], 16) for line in file if line.split()[2] == "do_syscall_64"]
    title = re.search(r"do_syscall_64 .* 0x([0-9a-f]+)\.\.0x([0-9a-f]+)", screen)
    tap.ok(title and int(title.group(1), 16) in starts and rows and
           all(int(title.group(1), 16) <= addr < int(title.group(2), 16) for addr in rows),
           "a function of the kernel is where kallsyms has it", "" if rows else screen)
    below = sum(row[1] for row in rows.values() if "call" in row[2])
    total = sum(row[0] + row[1] for row in rows.values())   # of the rows that the screen has
    tap.ok(30 < total < 102 and below > 0, "with its samples, and those of what it calls", f"{total:.1f} %" if rows else screen)


def made(tap, what, program, path, rows, screen):
    """Rows of the copy of a function in memory: the instructions of the original."""
    insns, _ = objdump(program, "hot")
    with open(path, encoding="utf-8") as file:
        base = int(file.read().split()[0], 16) - min(insns)
    os.unlink(path)
    hot_rows = {addr: row for addr, row in rows.items() if row[0] or row[1]}
    wrong = [hex(addr) for addr, row in rows.items() if min(insns) <= addr - base <= max(insns) and
             (addr - base not in insns or f" {mnemonic(insns[addr - base])}" not in row[2])]
    outside = [hex(addr) for addr in hot_rows if addr - base not in insns]
    total = sum(row[0] + row[1] for row in hot_rows.values())
    tap.ok(len(rows) >= len(insns) and not wrong and not outside and 98 < total < 102,
           f"code made at run time, {what}, is that of the original",
           f"{total:.1f} %, wrong {wrong}, outside {outside}" if rows else screen)


def compare(tap, shares, rows, screen):
    theirs, samples = shares
    match = re.search(r"(\d+) samples, (\d+) at its own code", screen)
    count = int(match.group(2)) if match else 0
    tap.ok(samples > 200 and count > 200, "both have samples", f"{count}, perf {samples}")
    worst = max((abs(theirs.get(a, 0) - rows.get(a, (0, 0))[0]), hex(a))
                for a in set(theirs) | set(rows))
    # Two independent samples: allow three standard deviations of their difference.
    allowed = 300 * (0.25 / max(samples, 1) + 0.25 / max(count, 1)) ** 0.5 + 1
    tap.ok(worst[0] < allowed, "shares are those of perf",
           f"{worst[0]:.1f} points at {worst[1]}, allowed {allowed:.1f}")
    if theirs and rows:
        hottest, ours = max(theirs, key=theirs.get), max(rows, key=lambda a: rows[a][0])
        tap.ok(theirs[hottest] - theirs.get(ours, 0) < allowed, "the hottest instruction is perf's",
               f"{hex(ours)}, perf {hex(hottest)}")
        mark = next((line for line in screen.splitlines() if line.startswith(">")), "")
        tap.ok(f" {ours:x} " in mark, "the cursor is on it", mark)


def check_lines(tap, screen, lines):
    """Each row of a source line stands before an instruction of that line."""
    text, wrong, seen = SOURCE.splitlines(), [], 0
    rows = screen.splitlines()
    for row, behind in zip(rows, rows[1:]):
        place = re.match(r"^ +busy\.c:(\d+) (.*)$", row)
        insn = ROW.match(behind)
        if not place or not insn:
            continue
        number, seen = int(place.group(1)), seen + 1
        source = text[number - 1].strip().replace("\t", " ")
        if lines.get(int(insn.group(3), 16)) != number or source not in row:
            wrong.append(row + " / " + behind)
    tap.ok(seen >= 5 and not wrong, "source lines stand before their instructions",
           f"{seen} lines" + "".join(wrong[:3]))


def below_slow(tap, rows, screen):
    order = sorted(rows)
    at = next((i for i, addr in enumerate(order) if "cpuid" in rows[addr][2]), None)
    share = sum(rows[addr][0] + rows[addr][1] for addr in order[at:at + 2]) if at is not None else 0
    tap.ok(share > 90, "the slow instruction or the next one has the samples",
           f"{share:.1f} %" if share else screen)


def below_ask(tap, rows, screen):
    # An interrupt enters the kernel at any instruction, but seldom.
    below, syscall = sum(row[1] for row in rows.values()), [r for r in rows.values() if "syscall" in r[2]]
    tap.ok(len(syscall) == 1 and below > 20 and syscall[0][1] > 0.9 * below,
           "the kernel's samples are below the system call",
           f"{syscall[0][1]} of {below:.1f} %" if syscall else screen)


if __name__ == "__main__":
    main()
