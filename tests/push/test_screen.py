#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
""":push, on a live screen and in lines (--plain): profiles arrive, the chip says so, and what is wrong is
said without a wait.

Covers: tui/ui/pushing.c tui/push/push.c tui/push/gather.c
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]
from live import STACKTOP, Tap, need, wait_for  # noqa: E402
from receiver import Receiver  # noqa: E402

ROWS, COLUMNS = 24, 110


class Plain:
    def __init__(self, folder, *options):
        self.name = os.path.join(folder, "lines")
        self.process = subprocess.Popen([STACKTOP, "--plain", "--push-every", "1", *options],
                                        stdin=subprocess.PIPE, stdout=open(self.name, "wb"),
                                        stderr=subprocess.STDOUT)

    def text(self):
        with open(self.name, encoding="utf-8") as file:
            return file.read()

    def type(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.type("quit")
        return self.process.wait(60)


def test_plain(tap, folder):
    with Receiver() as server:
        plain = Plain(folder)
        wait_for(lambda: "1. " in plain.text())
        plain.type("push nonsense")
        tap.ok(wait_for(lambda: "is not a URL such as" in plain.text()), "a word is no URL")
        plain.type("push")
        tap.ok(wait_for(lambda: "nothing is sent" in plain.text()), "there is nothing to stop")
        plain.type(f"push otlp+http://127.0.0.1:{server.http_port}")
        tap.ok(wait_for(lambda: f"[push 127.0.0.1:{server.http_port}]" in plain.text()), "a chip says so")
        tap.ok(wait_for(lambda: len(server.requests) > 1), "intervals arrive")
        plain.type("push otlp+http://127.0.0.1:9")
        tap.ok(wait_for(lambda: "profiles are sent already" in plain.text()), "to one server at a time")
        plain.type("push")
        tap.ok(wait_for(lambda: "all was sent" in plain.text()), "it stops when all is sent")
        plain.type("push otlp+http://127.0.0.1:9")
        tap.ok(wait_for(lambda: "push 127.0.0.1:9: " in plain.text() and "Connection refused" in
                        plain.text()), "what waits for a server is said")
        tap.ok(plain.end() == 0, "the end does not wait for it")


def tmux(*words):
    return subprocess.run(["tmux", "-L", f"push{os.getpid()}", *words], capture_output=True, text=True,
                          check=False).stdout


def test_live(tap, folder):
    """--push beside the screen."""
    if not shutil.which("tmux"):
        tap.skip("a live screen", "there is no tmux")
        return
    errors = os.path.join(folder, "errors")
    with Receiver() as server:
        place = f"127.0.0.1:{server.http_port}"
        tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS),
             f"{STACKTOP} --push pyroscope+http://{place} --push-every 1 2>{errors}; sleep 60")
        tap.ok(wait_for(lambda: f"[push {place}]" in tmux("capture-pane", "-p")), "the header has a chip",
               tmux("capture-pane", "-p"))
        tap.ok(wait_for(lambda: len(server.requests) > 1), "intervals arrive")
        tmux("send-keys", "r")
        tap.ok(wait_for(lambda: f"[push {place}]" in tmux("capture-pane", "-p")), "r does not take it back")
        tmux("send-keys", ":push", "Enter")
        tap.ok(wait_for(lambda: "--push goes on to the end" in tmux("capture-pane", "-p")),
               "and neither does :push", tmux("capture-pane", "-p"))
        before = len(server.requests)
        tmux("send-keys", "q")
        tap.ok(wait_for(lambda: len(server.requests) > before), "the last interval is sent at the end")
        tmux("kill-server")
    with open(errors, encoding="utf-8") as file:
        tap.ok(file.read() == "", "there is nothing to complain about")


def main():
    tap = Tap()
    need(tap)
    for part in test_plain, test_live:
        with tempfile.TemporaryDirectory() as folder:
            part(tap, folder)
    tap.done()


main()
