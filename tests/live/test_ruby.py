#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Frames of Ruby: a program that changes its chain of calls every few microseconds (programs/chains.rb),
through blocks, C functions, exceptions, fibers and threads, in each ruby that is installed and those that
$STACKTOP_RUBIES names. No stack may mix chains; nearly all have the frames of Ruby; a run of frames
stands behind the native frame that called it; lines are those of the method.

Covers: bpf/prog/ruby.bpf.h bpf/prog/ruby_method.bpf.h symbols/runtime/ruby_check.c
Covers: symbols/runtime/ruby_code.c symbols/runtime/ruby_file.c symbols/runtime/ruby_layout.c
"""

import collections
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "chains.rb")
ENOUGH = 4000   # samples of each program
LEAST = 0.99    # of them have frames of Ruby; coroutine_transfer has none
KNOWN = 0.9     # ... in a refresh from which on they count
EACH = "rb_ary_each"  # native, between the frames of two runs; in Ruby itself from 3.4 on

# Behind the methods that run them all, each chain to its innermost frame. A name without a class is a
# method of Chain, * one for each level.
CHAINS = [chain.split(" > ") for chain in f"""
plain > plain_two > plain_three > spin
by_each > {EACH} > block in Chain#by_each > each_inner > spin
by_map > block in Chain#by_map > {EACH} > block (2 levels) in Chain#by_map > map_inner > spin
by_defined > block in <class:Chain> > defined_inner > spin
by_missing > method_missing > missing_inner > spin
by_compare > <=> > compare_inner > spin
by_single > Chain.single > spin
by_raise > raise_inner > {EACH} > block in Chain#raise_inner
by_raise > rescue in Chain#by_raise > rescue_inner > spin
by_raise > ensure in Chain#by_raise > ensure_inner > spin
by_raise > ensure_inner > spin
by_catch > block in Chain#by_catch > {EACH} > block (2 levels) in Chain#by_catch > catch_inner > spin
by_break > {EACH} > block in Chain#by_break > break_inner > spin
by_proc > block in <class:Chain> > proc_inner > spin
by_method > method_inner > spin
by_symbol > {EACH} > symbol_inner > spin
by_send > send_inner > spin
by_eval > block in Chain#by_eval > eval_inner > spin
by_sort > block in Chain#by_sort > sort_inner > spin
by_hash > block in Chain#by_hash > hash_inner > spin
by_gsub > block in Chain#by_gsub > gsub_inner > spin
by_string > to_s > string_inner > spin
by_fiber
by_enumerator
by_garbage""".strip().splitlines()]
CHAINS += [["by_recursion"] + ["deep"] * 801 + ["spin"],
           ["by_nesting"] + ["deep_each", EACH, "block in Chain#deep_each"] * 20 + ["deep_each", "spin"]]
FIBERS = [["block in <class:Chain>", "block (2 levels) in <class:Chain>", inner, "spin"]
          for inner in ("fiber_inner", "enumerator_inner")]
THREAD = ["block (2 levels) in <main>", "Object#in_thread", "Object#thread_inner", EACH,
          "block in Object#thread_inner", "Chain#spin"]
SIMPLE = re.compile(r"(\w+|<=>)$")


def named(chain):
    return [name if name == EACH or not SIMPLE.match(name) else "Chain#" + name for name in chain]


def possible():
    """All chains, as stacks show them. A process that is sampled may be at any frame of one."""
    outer = ["<main>", "<main>", "Object#forever", "Chain#run"]  # an eval has the name around it
    return [outer + named(chain) for chain in CHAINS] + [named(chain) for chain in FIBERS] + \
        [THREAD, ["block in <main>"], ["block in <class:Chain>", "Chain#initialize"]]


class Judge:
    """Stacks of one program: (samples, frames) of Ruby, with EACH where a chain names it."""

    def __init__(self):
        self.chains = possible()
        self.samples = self.bare = 0
        self.wrong = collections.Counter()
        self.reached = set()

    def is_right(self, frames, whole):
        for number, chain in enumerate(self.chains):
            if not whole or EACH not in chain:
                chain = [name for name in chain if name != EACH]
                here = [name for name in frames if name != EACH]
            else:
                here = frames
            # What the innermost frame calls may be an each that has called no block yet.
            if here and here[-1] == EACH and here != chain[:len(here)]:
                here = here[:-1]
            if here == chain[:len(here)]:
                if len(here) == len(chain):
                    self.reached.add(number)
                return True
        return False

    def add(self, count, frames, whole):
        self.samples += count
        if not any(name != EACH for name in frames):
            self.bare += count
        elif not self.is_right(frames, whole):
            self.wrong[";".join(frames[-12:])] += count


def stacks(part):
    """(samples, frames of Ruby and EACH, has it any of Ruby, is it whole, thread) of each stack."""
    functions = part.json["functions"]
    for stack in part.json["stacks"]:
        frames, ruby = [], False
        for at in stack["frames"]:
            function = functions[at]
            if function["kind"] == "ruby":
                ruby = True
                if not function["module"].startswith("<internal:"):
                    frames.append(function["name"])
            elif function["name"] == EACH and function["kind"] != "kernel":
                frames.append(EACH)
        yield stack["count"], frames, ruby, functions[stack["frames"][0]]["kind"] != "end", \
            stack["thread"]


def version(ruby):
    try:
        done = subprocess.run([ruby, "-e", "puts RUBY_ENGINE, RUBY_VERSION"], capture_output=True,
                              text=True, timeout=30, check=False).stdout.split()
    except OSError:
        return None
    if len(done) != 2 or done[0] != "ruby":
        return None
    return tuple(int(word) for word in done[1].split(".")[:2])


def rubies():
    """{version: command}"""
    found = {}
    for ruby in ["ruby", *os.environ.get("STACKTOP_RUBIES", "").split()]:
        path = shutil.which(ruby)
        if path and version(path) in ((3, 1), (3, 3), (3, 4), (4, 0)):
            found.setdefault(version(path), path)
    return found


# Methods with one line of code, the one behind that of their `def`.
ONE_LINE = {"Chain#deep", "Chain#by_catch"}


def methods():
    """{name: line of its def} of the methods of Chain."""
    with open(PROGRAM, encoding="ascii") as source:
        return {"Chain#" + match.group(1): number
                for number, line in enumerate(source, 1)
                if (match := re.match(r"  def (\w+)", line))}


def check_lines(tap, name, parts):
    begins, off, seen = methods(), [], 0
    for part in parts:
        for function in part.json["functions"]:
            begin = begins.get(function["name"])
            if function["kind"] == "ruby" and begin:
                seen += 1
                lines = [begin + 1] if function["name"] in ONE_LINE else range(begin, begin + 10)
                if function.get("line", 0) not in lines:
                    off.append((function["name"], function.get("line")))
    tap.ok(seen > 20 and not off, f"{name}: lines are those of the methods", f"{seen}, wrong: {off[:3]}")


def check(tap, name, command, all_chains):
    judge, parts = Judge(), []
    with live.Load(command) as process, \
            live.Stream("-d", "0.5", "-F", live.hertz(3999), "-p", str(process.pid)) as top:
        def share(part):
            total = sum(count for count, *_ in stacks(part))
            return total > 50 and sum(count for count, _, ruby, *_ in stacks(part) if ruby) / total

        known = top.until(lambda slices: any(share(part) > KNOWN for part in slices), 60)
        tap.ok(known, f"{name}: its frames become known")
        first = top.next()
        top.until(lambda slices: sum(part.count(process.pid) for part in slices[first:]) >= ENOUGH, 90)
        parts = top.slices[first:]
    # Ruby has threads of its own that never run Ruby, like the one with its timer.
    running = {thread for part in parts for _, _, ruby, _, thread in stacks(part) if ruby}
    for part in parts:
        for count, frames, _, whole, thread in stacks(part):
            if thread in running:
                judge.add(count, frames, whole)
    total = judge.samples
    tap.ok(total >= ENOUGH // 2 and not judge.wrong, f"{name}: every chain is possible",
           f"{sum(judge.wrong.values())} of {total} are not: {judge.wrong.most_common(2)}")
    tap.ok(total and 1 - judge.bare / total >= LEAST, f"{name}: stacks have frames of Ruby",
           f"all but {judge.bare} of {total}")
    if all_chains:
        tap.ok(len(judge.reached) >= 20, f"{name}: chains of all kinds are seen to their innermost frame",
               f"{len(judge.reached)} kinds")
        check_lines(tap, name, parts)
    else:
        tap.ok(judge.chains.index(THREAD) in judge.reached, f"{name}: those of the threads, too")


def main():
    tap = live.Tap()
    live.need(tap)
    found = rubies()
    if not found:
        tap.skip("everything", "no ruby 3.1 or 3.3")
    for number, ruby in found.items():
        name = "ruby " + ".".join(map(str, number))
        check(tap, name, [ruby, PROGRAM], True)
        check(tap, name + " with threads", [ruby, PROGRAM, "threads"], False)
    tap.done()


main()
