#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""A stripped program gets the names of its functions from a debuginfod on the loopback interface while
it is being sampled, and only with --debuginfod.

Covers: symbols/elf/remotedebug.c tui/symbolize/modules.c
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

NAMES = "served_leaf", "served_inlined"
CAME = r"debuginfod: \d+ debug files? fetched"
PROGRAM = """
static volatile unsigned int sink;
static __attribute__((noinline)) void served_leaf(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}
static inline __attribute__((always_inline)) void served_inlined(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}
static __attribute__((noinline)) void served_caller(void)
{
	served_leaf();
	served_inlined();
	sink++;
}
int main(void)
{
	for (;;)
		served_caller();
}
"""


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def build(folder):
    """Builds a stripped program; its debug file is in the folder `served`."""
    path, served = os.path.join(folder, "program"), os.path.join(folder, "served")
    os.mkdir(served)
    subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", "-x", "c", "-o", path, "-"],
                   input=PROGRAM.encode(), check=True)
    subprocess.run(["objcopy", "--only-keep-debug", path, os.path.join(served, "p.debug")],
                   check=True)
    subprocess.run(["strip", path], check=True)
    return path, served


def sample(pid, env, *options):
    """(two reports in text, stderr)"""
    done = subprocess.run([live.STACKTOP, "-b", "-d", "0.5", "-F", "499", "-n", "2", "-p", str(pid),
                           *options], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=watch.PATIENCE, env=env, check=False)
    return done.stdout.decode(), done.stderr.decode()


def fetched(pid, env):
    """(the last report in text once it has the names, all output until then)"""
    with tempfile.TemporaryFile() as out, \
            subprocess.Popen([live.STACKTOP, "-b", "-d", "1", "-F", "499", "-p", str(pid),
                              "--debuginfod"], stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, env=env) as top:
        end, last = time.monotonic() + watch.PATIENCE, ""
        while time.monotonic() < end and top.poll() is None:
            text = os.pread(out.fileno(), 1 << 24, 0).decode()
            last = text.split("\nHottest functions")[-1]
            if text and all(name in last for name in NAMES) and "program+0x" not in last and \
                    re.search(CAME, text):
                break
            time.sleep(0.2)
        top.send_signal(signal.SIGINT)
        return text, last


def is_served(port, path):
    """Waits until the server knows the program's debug file; False when it does not."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True,
                           check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port), 60) as sock:
                sock.sendall(f"GET /buildid/{build_id}/debuginfo HTTP/1.0\r\n\r\n".encode())
                if b" 200 " in sock.recv(64):
                    return True
        except OSError:
            pass
        time.sleep(0.2)
    return False


def check_symbolize(tap, path, env, folder):
    """Names of addresses; the truth is read before the program is stripped."""
    debug = os.path.join(folder, "served", "p.debug")
    symbols = subprocess.run(["nm", debug], capture_output=True, text=True, check=True).stdout
    start = re.search(r"^(\w+) t served_leaf$", symbols, re.M).group(1)
    answers = []
    for options in (), ("--debuginfod",):
        own = dict(env, DEBUGINFOD_CACHE_PATH=os.path.join(folder, "symbolized"))
        done = subprocess.run([live.STACKTOP, *options, "--symbolize", path], input=start + "\n",
                              capture_output=True, text=True, timeout=watch.PATIENCE, env=own, check=False)
        answers.append(done.stdout + done.stderr)
    tap.ok(answers[0] == f"{start}\t?\t?\n", "--symbolize fetches nothing by itself", answers[0])
    place = subprocess.run(["eu-addr2line", "-e", debug, "0x" + start], capture_output=True,
                           text=True, check=True).stdout
    line = re.search(r":(\d+)", place).group(1)
    tap.ok(re.fullmatch(rf"{start}\tserved_leaf\t\S*:{line}\n", answers[1]),
           "with --debuginfod it waits for name and line, and prints only those", answers[1])
    del own["DEBUGINFOD_URLS"]
    done = subprocess.run([live.STACKTOP, "--debuginfod", "--symbolize", path], input=start + "\n",
                          capture_output=True, text=True, timeout=watch.PATIENCE, env=own, check=False)
    tap.ok(done.returncode == 0 and "DEBUGINFOD_URLS is not set" in done.stderr and
           done.stdout == answers[0], "without a server: a warning", done.stderr[:200])


def main():
    tap = live.Tap()
    live.need(tap)
    if not shutil.which("debuginfod"):
        tap.skip("everything", "debuginfod is not installed")
        tap.done()
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path, served = build(folder)
        env = dict(os.environ, DEBUGINFOD_URLS=f"http://127.0.0.1:{port}",
                   DEBUGINFOD_CACHE_PATH=os.path.join(folder, "cache"), no_proxy="127.0.0.1")
        with live.Load(["debuginfod", "-p", str(port), "-d", ":memory:", "-F", served],
                       stderr=subprocess.DEVNULL), live.Load([path]) as process:
            if not is_served(port, path):
                tap.skip("everything", "the server does not come up")
                tap.done()
            check_symbolize(tap, path, env, folder)
            text, said = sample(process.pid, env)
            tap.ok("served_leaf" not in text and not os.path.exists(env["DEBUGINFOD_CACHE_PATH"]),
                   "nothing is fetched without --debuginfod", said[:200])
            text, last = fetched(process.pid, env)
            tap.ok("served_leaf" in last and "program+0x" not in last,
                   "names arrive while it is sampled", last[:400])
            tap.ok("served_inlined" in last, "so do its inlined calls", last[:400])
            tap.ok(re.search(CAME, text), "a message reports their arrival", text[-300:])
            del env["DEBUGINFOD_URLS"]
            text, said = sample(process.pid, env, "--debuginfod")
            tap.ok("DEBUGINFOD_URLS is not set" in said + text and "program+0x" in text,
                   "no server given: a warning, and the run goes on", said[:200])
    tap.done()


if __name__ == "__main__":
    main()
