#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Stacks through code without frame pointers that a process makes at run time and describes in its own
memory: a program that knows its own chain of calls (described.c), and lli, qemu, php and java where they
are installed.

Covers: bpf/tracker/runcode.c bpf/tracker/gdbjit.c bpf/tracker/codereader.c bpf/tracker/openhelper.c tui/symbolize/jit.c
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

DESCRIBED = os.path.join(live.WORK, "described")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
PHP = """<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
class K { function m($x) { $s = 0; for ($i = 0; $i < 1000; $i++) { $s += $i * $x; } return $s; } }
function mid($k, $n) { $a = 0; for ($i = 0; $i < 50; $i++) $a += $k->m($i % 7); return fib($n) + $a; }
$k = new K; $s = 0;
while (true) { $s = mid($k, 15); }
"""
INTERPRETED = "Interpreter"
JAVA = """public class Chain {
  static long burn(int n) { long s = n; for (int i = 0; i < 2000; i++) s = s * 31 + i; return s; }
  static long odd(int n) { return even(n) + 1; }
  static long even(int n) { return (n == 0 ? burn(n) : odd(n - 1)) + 1; }
  static long top() { return odd(2) + 1; }
  static void run() { long s = 0; while (true) { s += top(); if (s == 1) System.out.println(s); } }
  public static void main(String[] a) { Thread t = new Thread(Chain::run); t.start(); }
}
"""


def sample(*options, seconds=4):
    out, err, status = live.stacktop("-b", "--format", "folded", "-d", str(seconds), "-n", "1", "-F",
                                     "199", *options, timeout=120)
    if status:
        raise RuntimeError(err)
    return [(user, count) for user, _, count in live.folded(out) if user]


def share(stacks, condition):
    total = sum(count for _, count in stacks)
    return sum(count for user, count in stacks if condition(user)) / total if total else 0.0


def below(user, chain):
    """Does the stack go through these functions, one after the other? Suffixes do not matter."""
    names = [re.sub(r"_?\[.*\]$", "", name).strip() for name in user]
    return any(all(re.fullmatch(want, name) for want, name in zip(chain, names[at:at + len(chain)]))
               for at in range(len(names) - len(chain) + 1))


def outermost(user):
    return not user[0].startswith("[")


def own_program(tap):
    with live.Load([DESCRIBED, "now"]) as process:
        live.wait_busy([process.pid])
        stacks = sample("-p", str(process.pid))
        good = share(stacks, lambda user: outermost(user) and
                     below(user, ["main", "run_outer", "OUTER", "INNER0"]))
        tap.ok(good > 0.95, "a process that describes its code: whole stacks with names", f"{good:.3f}")
    with live.Load([DESCRIBED, "late"]) as process:
        live.wait_busy([process.pid])
        stacks = sample("-p", str(process.pid), seconds=8)
        good = share(stacks, lambda user: below(user, ["main", "run_outer", "OUTER", "INNER0"]))
        tap.ok(0.3 < good < 0.95, "a description that comes later is found", f"{good:.3f}")
    with live.Load([DESCRIBED, "moved"]) as process:
        live.wait_busy([process.pid])
        stacks = sample("-p", str(process.pid), seconds=9)
        good = share(stacks, lambda user: outermost(user) and below(user, ["main", "run_outer", "OUTER"]))
        last = share(stacks, lambda user: below(user, ["OUTER", r"INNER[1-9]\d*"]))
        tap.ok(good > 0.4 and last > 0.01, "one that changes is read again", f"{good:.3f}, {last:.3f}")


def hung(tap):
    """Reading the memory of one process never ends; the other is read meanwhile."""
    with live.Load([DESCRIBED, "hung"], stderr=subprocess.PIPE) as bad, \
            live.Load([DESCRIBED, "now"]) as good:
        time.sleep(0.3)
        if bad.poll() is not None:
            tap.skip("memory that is never read", bad.stderr.read().decode().strip())
            return
        live.wait_busy([bad.pid, good.pid])
        began = time.monotonic()
        stacks = sample("-p", f"{bad.pid},{good.pid}", seconds=6)
        took = time.monotonic() - began
        found = share(stacks, lambda user: below(user, ["main", "run_outer", "OUTER", "INNER0"]))
        tap.ok(found > 0.3, "a process whose memory is never read delays no other", f"{found:.3f}")
        tap.ok(took < 25, "nor the end", f"{took:.1f} s")
        tap.ok(bad.poll() is None and good.poll() is None, "and both processes live on")


def runtime(tap, name, command, chain, least=0.7):
    with live.Load(command, stderr=subprocess.DEVNULL) as process:
        time.sleep(1)
        if process.poll() is not None:
            tap.skip(name, "does not run here")
            return
        live.wait_busy([process.pid], 0.5)
        stacks = sample("-p", str(process.pid))
        good = share(stacks, outermost)
        through = share(stacks, lambda user: below(user, chain))
        tap.ok(good > least and through > 0.5, f"{name}: whole stacks, with names",
               f"{good:.3f}, {through:.3f}")


def java(tap):
    """Between call_stub, by which the machine enters Java, and the method that runs: three interpreted
    methods (Thread.run, the lambda, Chain.run), then the compiled ones."""
    if not shutil.which("java"):
        tap.skip("java", "not installed")
        return
    # Each method is compiled alone, so that all of them are frames.
    flags = ["-XX:-Inline", "-XX:-UseOnStackReplacement", "-XX:+UseSerialGC"]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/Chain.java", "w", encoding="ascii") as file:
            file.write(JAVA)
        deep = ["Chain.odd", "Chain.even"] * 3 + ["Chain.burn"]
        for name, more in (("C2", ["-XX:-TieredCompilation"]), ("C1", ["-XX:TieredStopAtLevel=1"])):
            with live.Load(["java", *flags, *more, f"{folder}/Chain.java"],
                           stderr=subprocess.DEVNULL) as process:
                time.sleep(2)
                if process.poll() is not None:
                    tap.skip(f"java, {name}", "does not run here")
                    continue
                live.wait_busy([process.pid], 5)
                stacks = [(user, count) for user, count in sample("-p", str(process.pid))
                          if outermost(user) and "burn" in user[-1] or not outermost(user)]
                whole = [(user, count) for user, count in stacks if outermost(user)]
                tap.ok(share(stacks, outermost) > 0.8 and len(whole) > 0, f"java, {name}: whole stacks",
                       f"{share(stacks, outermost):.3f}")
                right = share(whole, lambda user: below(user, ["StubRoutines.*", *[INTERPRETED] * 3,
                                                               "Chain.top", *deep]))
                tap.ok(right > 0.99, f"java, {name}: with all frames", f"{right:.4f}")


def main():
    tap = live.Tap()
    live.need_root(tap)
    own_program(tap)
    hung(tap)
    for kind in ("orc", "mcjit"):
        if shutil.which("lli"):
            runtime(tap, f"lli, {kind}", ["lli", f"-jit-kind={kind}", f"{PROGRAMS}/recursion.ll"],
                    ["main", *["deep"] * 6, "fib", "fib"])
        else:
            tap.skip(f"lli, {kind}", "not installed")
    if shutil.which("qemu-x86_64"):
        runtime(tap, "qemu", ["qemu-x86_64", "/bin/sh", "-c", "while :; do :; done"],
                ["code_gen_buffer"])
    else:
        tap.skip("qemu", "not installed")
    if shutil.which("php"):
        with tempfile.NamedTemporaryFile("w", suffix=".php") as script:
            script.write(PHP)
            script.flush()
            runtime(tap, "php", ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit=1255", "-d",
                                 "opcache.jit_buffer_size=32M", "-d", "opcache.jit_debug=0x100", "-d",
                                 "opcache.file_update_protection=0",
                                 script.name], [r"(TRACE-\d+\$)?K::m.*"])
    else:
        tap.skip("php", "not installed")
    java(tap)
    tap.done()


main()
