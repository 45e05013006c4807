#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Short runs with less than they want: no memory for a map, no privilege, no BTF, no tracefs. Each ends
with a message or goes on with less.

Covers: bpf/report/check.c tui/main.c
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "track", "nomem.c")


def nomem(tap, folder):
    """The creation of each map fails in turn. The last ones hold tables, and there are more of them for
    the whole machine than for one process."""
    shim, worst, works, chosen = os.path.join(folder, "nomem.so"), [], [], ["-p", str(os.getpid())]
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC",
                    "-o", shim, SHIM, "-ldl"], check=True)
    while len(works) < 60:
        n = len(works) + 1
        done = subprocess.run([live.STACKTOP, "-b", "-d", "0.1", "-n", "1", *chosen],
                              env=dict(os.environ, LD_PRELOAD=shim, NOMEM_AT=str(n)),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                              check=False)
        if chosen and "nomem: not reached" in done.stderr:
            chosen = []
            continue
        # libbpf probes the kernel's features, also by creating maps; then only the load fails.
        named = re.search(r"stacktop: .*(memory|cannot load the BPF program)", done.stderr, re.I)
        if done.returncode < 0 or done.returncode > 2 or done.returncode and not named:
            worst.append(f"map {n}: exit {done.returncode} {done.stderr.strip()[-80:]}")
        works.append(done.returncode == 0)
        if "nomem: not reached" in done.stderr:
            break
    else:
        worst.append("the number of maps has no end")
    tap.ok(works.count(False) >= 4 and works[-1] and not worst,
           "no memory for a map: a message, or one table less",
           f"{len(works)} runs, {works.count(False)} ended; " + " | ".join(worst[:3]))


def unprivileged(tap, folder):
    """Runs with fewer rights than root."""
    run = [live.STACKTOP, "-b", "-d", "0.5", "-n", "1"]
    drop = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]

    def check(name, command, ends, pattern):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=300, check=False)
        tap.ok((done.returncode == 0) == ends and re.search(pattern, done.stderr + done.stdout),
               name, f"exit {done.returncode}: {done.stderr.strip()[-120:]}")

    inside = "mount {} && exec " + " ".join(run)
    check("no CAP_SYS_PTRACE", drop + run, True, "CAP_SYS_PTRACE")
    check("hidepid", ["unshare", "-m", "sh", "-c", "mount -t proc -o hidepid=2 none /proc && exec " +
                      " ".join(drop + run)], True, "CAP_SYS_PTRACE")
    check("no BTF", ["unshare", "-m", "sh", "-c", inside.format("-t tmpfs none /sys/kernel/btf")],
          False, "BTF")
    tracing = "/sys/kernel/tracing"
    if os.path.isdir(tracing):
        check("no tracefs", ["unshare", "-m", "sh", "-c", inside.format(f"-t tmpfs none {tracing}")],
              True, "samples")
    # The user nobody may have no access to the build directory.
    own = shutil.copy(live.STACKTOP, folder)
    os.chmod(own, 0o755)
    check("nobody", ["setpriv", "--reuid", "65534", "--clear-groups", own] + run[1:], False,
          "^stacktop: CAP_BPF")


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-less-") as folder:
        os.chmod(folder, 0o755)
        nomem(tap, folder)
        unprivileged(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
