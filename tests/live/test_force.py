#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""On a kernel that may hang when it is profiled, stacktop samples only with --force. A preloaded
library makes uname(2) report such kernels.

Covers: bpf/sampler/kernelinfo.c bpf/report/check.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

SHIM = """
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
int uname(struct utsname *u)
{
	const char *release = getenv("FAKE_RELEASE"), *version = getenv("FAKE_VERSION");
	int err = (int)syscall(SYS_uname, u);

	strcpy(u->release, release);
	strcpy(u->version, version);
	return err;
}
"""
PLAIN = "#1 SMP PREEMPT_DYNAMIC"
DEBIAN = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.27-1 (2023-05-08)"
KERNELS = [  # release, version, whether it hangs
    ("5.15.0-91-generic", PLAIN, False), ("5.19.17", PLAIN, True), ("6.1.35", PLAIN, True),
    ("6.1.36", PLAIN, False), ("6.2.0-made-up", PLAIN, True), ("6.3.9", PLAIN, True),
    ("6.3.10", PLAIN, False), ("6.1.0-9-amd64", DEBIAN, True), ("6.12.1", PLAIN, False),
]


def build(folder):
    source, path = os.path.join(folder, "shim.c"), os.path.join(folder, "shim.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SHIM)
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-o", path, source],
                   check=True)
    return path


def run(shim, release, version, *options):
    environment = dict(os.environ, LD_PRELOAD=shim, FAKE_RELEASE=release, FAKE_VERSION=version)
    environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    done = subprocess.run([live.STACKTOP, *options], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60, check=False, env=environment)
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def main():
    tap = live.Tap()
    live.need(tap)
    if os.path.exists("/proc/version_signature"):
        tap.skip("everything", "on this kernel a file names the source, not uname(2)")
        tap.done()
    short = ("-b", "-n", "1", "-d", "0.2")
    with tempfile.TemporaryDirectory(prefix="stacktop-force-") as folder:
        shim = build(folder)
        for release, version, hangs in KERNELS:
            out, err, status = run(shim, release, version, *short)
            tap.ok((status != 0 and not out and "--force" in err and "6.3.10" in err) if hangs else
                   (status == 0 and out.startswith("stacktop") and "hang" not in err),
                   f"{release}: {'refused' if hangs else 'sampled'}", err.strip()[:160])
        out, err, status = run(shim, "6.2.0-made-up", PLAIN, "--force", *short)
        tap.ok(status == 0 and out.startswith("stacktop") and "may hang" in err,
               "--force samples and warns", err.strip()[:160])
        out, _, status = run(shim, "6.2.0-made-up", PLAIN, "--check")
        tap.ok(status == 0 and "may hang" in out, "--check says so, too")
    tap.done()


if __name__ == "__main__":
    main()
