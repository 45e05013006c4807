#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""Stacks through code that is made at run time and that nothing describes: a program that knows its own
chain of calls (runcode.c), a large file without CFI (late.c), and sbcl, guile, racket, mono, node, ruby,
python and php where they are installed. After a
warm-up nearly all stacks are whole, and no whole one lacks the frames that surely are below the code.

Covers: bpf/tracker/runcode.c bpf/tracker/codeleave.c bpf/tracker/bareset.c unwind/leave.c unwind/bare.h
"""

import collections
import glob
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import together  # noqa: E402
from together import common, share  # noqa: E402

RUNCODE = os.path.join(live.WORK, "runcode")
LATE = os.path.join(live.WORK, "late")
LEAST = 0.97   # of the stacks are whole
MADE = "[jit]"  # code without a name
MONO = """using System; using System.Collections.Generic; using System.Runtime.CompilerServices;
class P {
  static long sink;
  [MethodImpl(MethodImplOptions.NoInlining)] static long C(int n) {
    long s = n; for (int i = 0; i < 3000; i++) s = s * 31 + i; return s; }
  abstract class K { public abstract long B(int n); }
  class K1 : K {
    [MethodImpl(MethodImplOptions.NoInlining)] public override long B(int n) { return C(n) + 1; } }
  class K2 : K {
    [MethodImpl(MethodImplOptions.NoInlining)] public override long B(int n) { return C(n) + 2; } }
  [MethodImpl(MethodImplOptions.NoInlining)] static long A(K k, int n) { return k.B(n) + 1; }
  [MethodImpl(MethodImplOptions.NoInlining)] static int Compare(int a, int b) {
    sink += C(a); return a.CompareTo(b); }
  [MethodImpl(MethodImplOptions.NoInlining)] static void Sorted() {
    var l = new List<int>(); for (int i = 0; i < 50; i++) l.Add(i * 7919 % 1009); l.Sort(Compare); }
  static void Main() {
    K[] k = {new K1(), new K2()};
    while (true) { for (int i = 0; i < 300; i++) sink += A(k[i & 1], i); Sorted(); } }
}
"""
NODE = """class K1 { b(n) { return c(n) + 1; } }
class K2 { b(n) { return c(n) + 2; } }
function c(n) { let s = n; for (let i = 0; i < 3000; i++) s = (s * 31 + i) | 0; return s; }
function a(k, n) { return k.b(n) + 1; }
function sorted() { const l = []; for (let i = 0; i < 50; i++) l.push(i * 7919 % 1009);
  l.sort((x, y) => c(x) * 0 + x - y); return l[3]; }
const ks = [new K1(), new K2()]; let sink = 0;
for (;;) { for (let i = 0; i < 100; i++) sink = (sink + a(ks[i & 1], i)) | 0;
  sink = (sink + sorted()) | 0; }
"""
RUBY = """def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
def deep(d) d == 0 ? fib(12) : deep(d - 1) + 1 end
deep(10)
File.write(ARGV[0], "")
loop { deep(10) }
"""
PYTHON = """def leaf(n):
    s = n
    for i in range(3000):
        s = (s * 31 + i) & 0xffffffff
    return s
def middle(n):
    return leaf(n) + 1
def outer(n):
    return sorted(range(5), key=middle)[0]
def top():
    while True:
        outer(1)
top()
"""


def is_whole(user):
    """The reason of a walk that ended early stands in the place of the outermost frame."""
    return not user[0].startswith("[") or user[0] == MADE


class Program(together.Program):
    """right: whether a whole stack may look so
    more: takes the TAP object and the whole stacks, for further tests
    changes: at a signal its code becomes another, which must be known, too"""

    def __init__(self, name, command, right, more=None, least=LEAST, changes=False, begun=None):
        super().__init__(name, command, is_whole, least, own=command[0] in (RUNCODE, LATE), begun=begun)
        self.right, self.more, self.changes = right, more, changes
        self.passed = 0     # refreshes that are not looked at: they may be of the time before the change

    def knows(self, part):
        if self.passed:
            self.passed -= 1
            return False
        known = super().knows(part)
        if known and self.changes:
            self.changes, self.passed = False, 2
            self.process.send_signal(signal.SIGUSR1)
            return False
        return known

    def check(self, tap):
        whole = collections.Counter({user: count for user, count in self.stacks.items() if is_whole(user)})
        wrong = [(user, count) for user, count in whole.items() if not self.right(user)]
        total, good = sum(self.stacks.values()), share(self.stacks, is_whole)
        tap.ok(total >= together.ENOUGH and good >= self.least, f"{self.name}: whole stacks",
               f"{good:.4f} of {total}")
        tap.ok(whole and not wrong, f"{self.name}: whole ones have all frames",
               f"{sum(count for _, count in wrong)} have not: {';'.join(wrong[0][0])}" if wrong else "")
        if self.more:
            self.more(tap, whole)


def strip(user):
    return [name.removesuffix("_[j]") for name in user]


def own_programs():
    """Exactly what the program does; INNER of the last kind has OUTER's frame and no own."""
    chain = ["main", "run"]
    for kind, inner in (("framed", ["OUTER", "INNER"]), ("numbers", ["OUTER", "INNER"]),
                        ("loop", ["OUTER", "INNER"]), ("constant", ["INNER"]), ("shared", ["INNER"]),
                        ("changed", ["OUTER", "INNER"])):
        def right(user, inner=inner):
            names = strip(user)
            return names[0] == "_start" and "main" in names and \
                names[names.index("main"):] in ([*chain, *inner], [*chain, "OUTER"], chain)

        def exact(tap, whole, kind=kind, inner=inner):
            part = share(whole, lambda user: strip(user)[-len(inner) - 1:] == ["run", *inner])
            tap.ok(part > 0.95, f"own program, {kind}: all frames to the innermost", f"{part:.4f}")

        yield Program(f"own program, {kind}", [RUNCODE, kind], right, exact, changes=kind == "changed")


def late(_tap, _folder):
    """Text without CFI behind the first 8 MiB of it: functions around the places that walks come by."""
    chain = ["main", "run", "outer", "inner", "innermost"]

    def right(user):
        return user[0] == "_start" and "main" in user and \
            user[user.index("main"):] == tuple(chain[:len(user) - user.index("main")])

    def exact(tap, whole):
        part = share(whole, lambda user: user[-1] == "innermost")
        tap.ok(part > 0.8, "a large file: all frames to the innermost", f"{part:.4f}: {common(whole)}")

    yield Program("a large file", [LATE], right, exact)


# With a busy function in Lisp or Scheme: what runs it, from the outermost frame on, and its code.
LISPS = (
    ("sbcl", ["sbcl", "--noinform", "--non-interactive", "--load"],
     "(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (compile 'fib) (loop (fib 20))",
     ["main", "initialize_lisp", "create_main_lisp_thread", "call_into_lisp_"]),
    ("guile", ["guile", "--no-auto-compile"],
     "(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (let loop () (fib 20) (loop))", []),
    ("racket", ["racket"],
     "#lang racket/base\n(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))\n"
     "(let loop () (fib 20) (loop))", []),
)


def lisps(tap, folder):
    for name, command, text, chain in LISPS:
        if not shutil.which(name):
            tap.skip(name, "not installed")
            continue
        with open(f"{folder}/{name}.scm", "w", encoding="ascii") as file:
            file.write(text)

        def right(user, chain=chain):
            # Garbage collections and signals interrupt, and the runtime's own threads wait.
            # A stripped program's _start has no name.
            return MADE not in user or (user[0] != MADE and
                                        list(user[user.index(MADE) - len(chain):user.index(MADE)]) == chain)

        yield Program(name, [*command, f"{folder}/{name}.scm"], right, through_code(name), least=0.8)


def mono(tap, folder):
    compiler = shutil.which("mcs")
    if not compiler or not shutil.which("mono"):
        tap.skip("mono", "not installed")
        return
    with open(f"{folder}/m.cs", "w", encoding="ascii") as file:
        file.write(MONO)
    subprocess.run([compiler, "-optimize+", f"-out:{folder}/m.exe", f"{folder}/m.cs"], check=True,
                   stdout=subprocess.DEVNULL)

    def more(tap, whole):
        # The wrapper by which mono enters, Main, A, B, C; a callback of List.Sort is deeper.
        five = share(whole, lambda user: user.count(MADE) == 5 and user[-5:] == (MADE,) * 5)
        deep = share(whole, lambda user: user.count(MADE) > 7)
        tap.ok(five > 0.2 and deep > 0.1, "mono: the virtual call and the callback",
               f"{five:.3f}, {deep:.3f}: {common(whole)}")
        between = share(whole, lambda user: user.count(MADE) in (6, 7))
        tap.ok(between < 0.1, "mono: no frame twice", f"{between:.3f}: {common(whole)}")

    yield Program("mono", ["mono", f"{folder}/m.exe"],
                  lambda user: user[0] == "_start" and "mono_jit_exec" in user if MADE in user
                  else user[0] != MADE, more)


def through_code(name):
    """Most of the whole stacks go through code made at run time."""
    def more(tap, whole):
        made = share(whole, lambda user: MADE in user)
        tap.ok(made > 0.5, f"{name}: through compiled code", f"{made:.3f}: {common(whole)}")
    return more


def v8_entry(node):
    """The innermost function with a name that V8 enters JavaScript by: builtins have none in a stripped library."""
    libraries = subprocess.run(["ldd", node], capture_output=True, text=True, check=False).stdout
    for path in (node, *re.findall(r"=> (\S*libnode\S*)", libraries)):
        with open(path, "rb") as file:
            if b"Builtins_JSEntry" in file.read():
                return "Builtins_JSEntry"
    return "v8::Function::Call"


def node(tap, folder):
    if not shutil.which("node"):
        tap.skip("node", "not installed")
        return
    with open(f"{folder}/n.js", "w", encoding="ascii") as file:
        file.write(NODE)
    entry = v8_entry(shutil.which("node"))

    def right(user):
        return MADE not in user or (user[0] == "_start" and "node::Start" in user and
                                    entry in user[:user.index(MADE)])

    def named(tap, whole):
        """Functions of JavaScript have names. Which calls are inlined is V8's business."""
        own = share(whole, lambda user: MADE not in user and entry in user)
        tap.ok(own > 0.9, "node: functions have names", f"{own:.3f}: {common(whole)}")

    yield Program("node", ["node", f"{folder}/n.js"], right, named)


def ruby(tap, folder):
    # A Ruby that was built without it only warns.
    probe = ["ruby", "--yjit", "-e", "exit RubyVM::YJIT.enabled?"]
    if not shutil.which("ruby") or subprocess.run(probe, check=False, capture_output=True).returncode:
        tap.skip("ruby", "no YJIT")
        return
    with open(f"{folder}/y.rb", "w", encoding="ascii") as file:
        file.write(RUBY)
    # It takes its memory and loads its library first, under its compiler, too.
    yield Program("ruby", ["ruby", "--yjit", f"{folder}/y.rb", f"{folder}/begun"],
                  lambda user: MADE not in user or (user[0] == "_start" and
                                                    user[user.index(MADE) - 1] == "rb_vm_exec"),
                  through_code("ruby"), begun=f"{folder}/begun")


def pythons():
    """(name, path) of those whose frames are code: 3.12 is the first with -X perf."""
    found = {}
    for pattern in ("/usr/bin/python3.*", "/usr/local/bin/python3.*",
                    pwd.getpwuid(os.getuid()).pw_dir + "/.pyenv/versions/3.*/bin/python3.*"):
        for path in sorted(glob.glob(pattern)):
            name = os.path.basename(path)
            if name in ("python3.12", "python3.13", "python3.14"):
                found[name] = path
    return sorted(found.items())


def python(tap, folder):
    with open(f"{folder}/c.py", "w", encoding="ascii") as file:
        file.write(PYTHON)
    wanted = ["<module>", "top", "outer", "middle", "leaf"]

    def chain(user):
        return [name.split(":")[2] for name in user if name.startswith("py::")]

    for name, path in pythons():
        def more(tap, whole, name=name):
            deep = share(whole, lambda user: chain(user) == wanted)
            tap.ok(deep > 0.8, f"{name}: all five functions", f"{deep:.3f}")

        yield Program(name, [path, "-X", "perf", f"{folder}/c.py"],
                      lambda user: user[0] == "_start" and chain(user) == wanted[:len(chain(user))], more)
    if not pythons():
        tap.skip("python", "none with -X perf")


def php(tap, folder):
    """Code of PHP's compiler runs in execute_ex's frame, whose return address leads to zend_execute, and
    leaves by computed jumps only, so that many places have to agree on it. gdb finds the same return
    address behind the saved %rbp."""
    if not shutil.which("php"):
        tap.skip("php", "not installed")
        return
    with open(f"{folder}/f.php", "w", encoding="ascii") as file:
        file.write(together.PHP)
    yield Program("php", ["php", "-d", "opcache.enable_cli=1", "-d", "opcache.jit=1255", "-d",
                          "opcache.jit_buffer_size=32M", "-d", "opcache.file_update_protection=0",
                          f"{folder}/f.php"],
                  lambda user: user[0] == "_start" and
                  (MADE not in user or user[user.index(MADE) - 1] in ("zend_execute", "execute_ex")), least=0.8)


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        programs = [program for kind in (late, lisps, mono, node, ruby, python, php) for program in kind(tap, folder)]
        for program in together.sample(tap, [*own_programs(), *programs]):
            program.check(tap)
    tap.done()


main()
