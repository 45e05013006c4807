#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 400 s
"""Programs that make threads or processes in a loop: samples within the system call that returns
twice. The parent's stacks there must be one chain, from _start through the program's own functions to
the function with the system call. A child on its way out of the kernel has only that function, if it
has a stack of its own, else the parent's chain, of which it has a copy. The kernel's functions tell
parent and child apart. Children are new processes that live for less than a millisecond, and still
each one is known. Within execve a child has the stack of its parent's image, or none, or the stack
that the kernel has just made, on which nothing has run.

Covers: unwind/arch/x86_64/clonegap.c unwind/step.h bpf/prog/walker.bpf.h bpf/tracker/process.c bpf/tracker/rescan.c
"""

import collections
import os
import platform
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

PROGRAM = os.path.abspath(os.path.join(live.BUILD, "tests", "frames", "clones"))
EXACT = 0.995
ENOUGH_PARENT, ENOUGH_CHILD, ENOUGH_EXEC = 200, 10, 50  # samples per mode
BETWEEN = 0.02  # of the samples within execve
PATIENCE = 300  # seconds
NO_TABLE, UNKNOWN = "[no table for pc]", "[process not known yet]"
JUST_EXEC = "[process has just called exec]"

# mode: (the function of the loop, whether the child has a stack of its own)
MODES = {
    "threads": ("one_thread", True),
    "spawns": ("one_spawn", True),
    "forks": ("one_fork", False),
    "vforks": ("one_vfork", False),
    "clones": ("one_clone", True),
}
# A name for each mode, which no other process has: children come and go.
NAMES = {mode: f"{mode}{os.getpid()}" for mode in MODES}
IN_CLONE = re.compile(r"(?:__(?:x64|se|do)_)*sys_(?:clone3?|v?fork)|kernel_clone|_do_fork")
IN_EXEC = re.compile(r"(?:__(?:x64|se|do)_)*sys_execve(?:at)?")
FROM_FORK = re.compile(r"ret_from_fork(?:_asm)?")
CRT = {"_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones",
       "__do_global_dtors_aux"}


def own_functions():
    text = subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout
    names = {line.split()[2] for line in text.splitlines() if re.match(r"[0-9a-f]+ [tT] ", line)}
    return names - CRT


def foreign_function(own):
    return rf"(?!(?:{'|'.join(map(re.escape, sorted(own)))})(?:;|$))[^;\[\]]+"


def chain_of(mode, own):
    """The chain of a mode; any frames of the library may lie between program and system call."""
    foreign = foreign_function(own)
    return re.compile(rf"_start(?:;{foreign}){{0,3}};main;{mode};{mode}_inner;{MODES[mode][0]}"
                      rf"(?:;{foreign}){{1,7}}")


def nameless(stacks):
    return {frame for user, _, _ in stacks for frame in user if "+0x" in frame}


def settled(mode, slices):
    """The stacks of a mode from the second slice on in which the parent's stacks are complete and have
    their names, and no table lacks: tables and names are made beside the sampling. What has no name in
    the last slice has none in any file."""
    chains = [[stack for stack in stacks if stack[0][:1] == ["_start"] and mode in stack[0]]
              for stacks in slices]
    never = nameless(chains[-1] if chains else [])
    good = [n for n, stacks in enumerate(slices)
            if chains[n] and nameless(chains[n]) <= never and not samples(stacks, NO_TABLE)]
    return [stack for stacks in slices[good[1]:] for stack in stacks] if len(good) > 1 else []


def samples(stacks, bottom=None):
    """The samples of the stacks, or of those with this outermost frame."""
    return sum(count for user, _, count in stacks if not bottom or user[:1] == [bottom])


def sample(programs, found):
    """Fills found, by mode: its slices, each [(user, kernel, count)], until each mode has enough.
    Samples everything, since nothing could have named the children before; of other processes only the
    number is kept. A child is rarely on its way out of the kernel, and for each the program waits for
    the scheduler: beside other load it would take minutes without a weight."""
    names = "^(" + "|".join([*NAMES.values(), "true"]) + ")$"
    with live.Stream("-d", "0.5", "-F", live.hertz(9999), "--no-inline", "--comm", names) as top:
        live.weigh(top.pid, -20)
        end = time.monotonic() + PATIENCE
        while programs and time.monotonic() < end and top.process.poll() is None:
            time.sleep(0.1)
            for part in top.poll():
                for mode, program in list(programs.items()):
                    found[mode].append([stack[2:] for stack in part.stacks if stack[1] == NAMES[mode]])
                    if enough(mode, settled(mode, found[mode])):
                        program.kill()
                        del programs[mode]
        status = top.stop()
        return top.errors(NAMES.values()) + ("" if status in (0, 130) else f"status {status}")


def enough(mode, lines):
    parents, children = parts(lines)
    in_exec = sum(count for _, kernel, count in lines
                  if any(IN_EXEC.fullmatch(frame) for frame in kernel))
    return sum(parents.values()) >= ENOUGH_PARENT and sum(children.values()) >= ENOUGH_CHILD and \
        (mode != "spawns" or in_exec >= ENOUGH_EXEC)


def parts(lines):
    """Stacks within the system call, and stacks of children on their way out of it: two Counters."""
    parents, children = collections.Counter(), collections.Counter()
    for user, kernel, count in lines:
        if any(FROM_FORK.fullmatch(frame) for frame in kernel):
            children[";".join(user)] += count
        elif any(IN_CLONE.fullmatch(frame) for frame in kernel):
            parents[";".join(user)] += count
    return parents, children


def judge(tap, name, stacks, wanted, enough):
    total = sum(stacks.values())
    tap.ok(total >= enough and stacks[wanted] >= EXACT * total, name,
           f"{stacks[wanted]} of {total}")
    if stacks[wanted] < total:
        tap.note(f"wanted {wanted}")
        for stack, count in stacks.most_common(4):
            if stack != wanted:
                tap.note(f"{count} {stack}")


def check_exec(tap, lines, leaf, own):
    """Stacks of the mode with children that call execve."""
    foreign = foreign_function(own)
    before = re.compile(rf"{re.escape(leaf)}(?:;{foreign}){{1,3}}")
    after = re.compile(rf"(?!{re.escape(leaf)}$)(?:{foreign}|_start)")
    kinds, wrong = collections.Counter(), collections.Counter()
    for user, kernel, count in lines:
        if any(IN_EXEC.fullmatch(frame) for frame in kernel):
            stack = ";".join(user)
            kind = "none" if not user else "before" if before.fullmatch(stack) else \
                "after" if after.fullmatch(stack) else \
                "between" if user[0] == JUST_EXEC and before.fullmatch(";".join(user[1:])) else "wrong"
            kinds[kind] += count
            wrong[stack] += count if kind == "wrong" else 0
    total = sum(kinds.values())
    # The image may change between two looks at the process in one sample, which says so then.
    tap.ok(total >= ENOUGH_EXEC and kinds["before"] and kinds["wrong"] <= (1 - EXACT) * total and
           kinds["between"] <= BETWEEN * total,
           "execve: the old stack, none, or a new one", str(dict(kinds)))
    for stack, count in wrong.most_common(4):
        if count:
            tap.note(f"{count} {stack}")


def report(tap, mode, lines, own):
    parents, children = parts(lines)
    chain = next(iter(parents.most_common(1)), ("", 0))[0]
    leaf = chain.rpartition(";")[2]
    tap.ok(chain_of(mode, own).fullmatch(chain), f"{mode}: the chain of calls", chain)
    judge(tap, f"{mode}: the parent's stacks", parents, chain, ENOUGH_PARENT)
    judge(tap, f"{mode}: the child's stacks", children, leaf if MODES[mode][1] else chain,
          ENOUGH_CHILD)
    unknown, total = samples(lines, UNKNOWN), samples(lines)
    tap.ok(unknown <= (1 - EXACT) * total, f"{mode}: processes are known",
           f"but for {unknown} of {total} samples")
    if mode == "spawns":
        check_exec(tap, lines, leaf, own)


def main():
    tap = live.Tap()
    live.need(tap)
    if platform.libc_ver()[0] != "glibc":
        tap.skip("everything", "other C libraries have no CFI around their system calls")
        tap.done()
    found, programs = {mode: [] for mode in MODES}, {}
    with tempfile.TemporaryDirectory(prefix="stacktop-clones-") as scratch:
        try:
            for mode in MODES:
                alias = os.path.join(scratch, NAMES[mode])
                os.symlink(PROGRAM, alias)
                programs[mode] = subprocess.Popen(
                    [alias, mode], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    start_new_session=True)
                live.weigh(programs[mode].pid, -5)
            running = dict(programs)
            for program in running.values():
                tap.ok(program.stdout.readline(), f"{program.args[1]}: runs")
            trouble = sample(running, found)
        finally:
            for program in programs.values():
                program.kill()
                program.wait()
                program.stdout.close()
    tap.ok(not trouble, "stacktop reports no problem", trouble)
    own = own_functions()
    for mode, slices in found.items():
        report(tap, mode, settled(mode, slices), own)
    tap.done()


if __name__ == "__main__":
    main()
