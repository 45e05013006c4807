#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""A user without rights is told what helps, and what is told helps: the setcap line, as it is printed,
lets a copy of the program sample.

Covers: tui/rights.c
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

NOBODY = 65534


def as_nobody(folder, *command):
    done = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command],
                          cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def check_setcap(tap, top, folder, program, told):
    line = re.search(r"^  sudo (setcap .*)$", told, re.M)
    tap.ok(line, "it offers setcap")
    if line:
        done = subprocess.run(["sh", "-c", line.group(1)], capture_output=True, text=True, check=False)
        tap.ok(done.returncode == 0, "the line can be run as it is", done.stderr)
        status, out, err = as_nobody(folder, program, "-b", "-n", "1", "-d", "0.5")
        tap.ok(status == 0 and " samples (" in out, "and then a user samples", err)
        os.mkdir(os.path.join(top, "pictures"))
        shutil.chown(os.path.join(top, "pictures"), NOBODY)
        picture = os.path.join(top, "pictures", "live.txt")
        status, out, err = as_nobody(folder, program, "--screenshot", picture)
        tap.ok(status == 0 and os.path.exists(picture), "on the screen as well", err)


def main():
    tap = live.Tap()
    tools = ("setpriv", "setcap")
    if os.geteuid() or not all(shutil.which(tool) for tool in tools):
        tap.skip("ways to get rights", "needs root, setpriv and setcap")
        tap.done()
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        folder = os.path.join(top, "a 'folder'", "build")
        program = os.path.join(folder, "stacktop")
        os.makedirs(folder)
        shutil.copy(live.STACKTOP, program)
        shutil.chown(program, NOBODY)
        status, out, err = as_nobody(folder, program)
        tap.ok(status == 1 and not out, "without rights it ends with 1", f"{status}, {out!r}")
        tap.ok(err.startswith("stacktop: CAP_BPF: "), "what is missing comes first", err[:80])
        for way in ("  sudo '", "--check\n", "-r FILE\n"):
            tap.ok(way in err, f"it offers {way.strip()}")
        tap.ok("demo" not in err, "without a demo at hand there is none")
        os.mkdir(os.path.join(top, "a 'folder'", "docs"))
        with open(os.path.join(top, "a 'folder'", "docs", "demo.session"), "wb"):
            pass
        tap.ok(re.search(r"^  make -C .* demo$", as_nobody(folder, program)[2], re.M),
               "with one it offers it")
        live.run_parts(tap, (check_setcap, top, folder, program, err))
    tap.done()


if __name__ == "__main__":
    main()
