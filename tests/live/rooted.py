# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests of known chains with the programs of another release of Debian: interpreters and compilers run
in its root (tests/roots/make.sh), and stacktop, which stands outside, samples them. A folder in front of
PATH has a script for each program, which enters the root; this tree and /tmp are at the same place in it.
The mounts are this program's own."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import live

REPO = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NAMES = ("python3", "perl", "php", "ruby", "node", "gcc", "g++", "rustc", "go", "ghc", "ocamlopt", "strip")
PROGRAMS = ("chain", "liar", "chain.static", "chain.static-pie", "chain.stripped", "chain.nocfi", "signal", "throw",
            "rust", "rust.v0", "rust.abort", "go", "go.stripped", "cgo", "haskell", "haskell.dynamic")
TESTS = ("test_foreign.py " + " ".join(PROGRAMS), "test_node.py", "test_perl.py", "test_php.py", "test_ruby.py",
         "test_python.py", "test_ocaml.py")
RESULT = re.compile(r"(ok|not ok) \d+ (?:- (?P<name>.*)|# SKIP (?P<why>.*))")


def mount(root):
    """What the programs need, in a namespace that ends with this program."""
    for command in (["mount", "--make-rprivate", "/"], ["mount", "--bind", root, root],
                    ["mount", "--rbind", "/dev", root + "/dev"], ["mount", "-t", "proc", "proc", root + "/proc"],
                    ["mount", "--bind", "/tmp", root + "/tmp"],
                    *([["mount", "--bind", REPO, root + REPO]])):
        os.makedirs(command[-1], exist_ok=True)
        subprocess.run(command, check=True)


def find(root, name):
    """The program in the root, which may be called NAME8.4 there; None: there is none."""
    folder = os.path.join(root, "usr/bin")
    found = [other for other in os.listdir(folder)
             if re.fullmatch(re.escape(name) + r"[\d.]*", other) and
             os.path.exists(os.path.join(root, "usr/bin", other))]
    return min(found, key=len) if found else None


def write_scripts(root, folder):
    os.makedirs(folder, exist_ok=True)
    for name in NAMES:
        path = os.path.join(folder, name)
        program = find(root, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n" + (f'exec chroot {shlex.quote(root)} /usr/bin/env -C "$PWD" PATH=/usr/bin '
                                        f'{program} "$@"\n' if program else "exit 127\n"))
        os.chmod(path, 0o755)


def run(tap, suite, command, env):
    """A test's results as one's own."""
    done = subprocess.run([sys.executable, *command], cwd=REPO, env=env, capture_output=True, text=True, errors="replace",
                          check=False)
    name = os.path.basename(command[0])
    seen = 0
    for line in done.stdout.splitlines():
        match = RESULT.match(line)
        if not match:
            tap.note(line)
        elif match["why"]:
            tap.skip(f"{suite}, {name}", match["why"])
        else:
            tap.ok(match[1] == "ok", f"{suite}, {name}: {match['name']}")
        seen += bool(match)
    if done.returncode not in (0, 1) or not seen:
        tap.ok(False, f"{suite}, {name}: runs", f"status {done.returncode} {done.stderr[-300:]}")


def main(suite):
    """The words of the command line choose among the tests."""
    tap = live.Tap()
    live.need(tap, "CAP_SYS_ADMIN")
    if "STACKTOP_ROOT" not in os.environ:
        sys.exit(subprocess.run(["unshare", "--mount", sys.executable, *sys.argv],
                                env={**os.environ, "STACKTOP_ROOT": suite}, check=False).returncode)
    root = os.path.abspath(os.path.join(live.BUILD, "roots", suite))
    if not os.path.isdir(root) and not shutil.which("mmdebstrap"):
        tap.skip("everything", "no mmdebstrap, which unpacks the root")
        tap.done()
    made = subprocess.run([os.path.join(REPO, "tests/roots/make.sh"), suite], capture_output=True, text=True, check=False)
    if made.returncode:
        tap.ok(False, f"a root of {suite} is made", made.stderr.strip()[-300:])
        tap.done()
    build, scripts = root + ".build", root + ".bin"
    mount(root)
    write_scripts(root, scripts)
    os.makedirs(build, exist_ok=True)
    if not os.path.lexists(os.path.join(build, "stacktop")):
        os.symlink(live.STACKTOP, os.path.join(build, "stacktop"))
    env = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "BUILD": build, "STACKTOP_ROOT": root}
    compiled = subprocess.run(["chroot", root, "/usr/bin/ghc-pkg", "recache"], capture_output=True, check=False)
    compiled = subprocess.run(["make", "-k", "-j2", "BUILD=" + build, "CC=gcc",
                               *(os.path.join(build, "tests/foreign", name) for name in PROGRAMS)],
                              cwd=REPO, env=env, capture_output=True, text=True, check=False)
    tap.ok(compiled.returncode == 0, f"{suite}: the programs are compiled", compiled.stderr.strip()[-500:])
    words = sys.argv[1:]
    for test in TESTS:
        command = test.split()
        if words and not any(word in command[0] for word in words):
            continue
        run(tap, suite, [os.path.join(REPO, "tests/live", command[0]), *command[1:]], env)
    tap.done()
