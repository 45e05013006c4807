#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Random keys, clicks and sizes typed at the real screen while it samples this machine: it neither
crashes nor stops drawing, and leaves the terminal as it was. STACKTOP_RANDOM_KEYS is the number of
keys, STACKTOP_RANDOM_SEED chooses them.

Covers: tui/app/screen.c tui/app/dispatch.c tui/screen/terminal.c
"""

import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from live import STACKTOP, Load, Tap, need

KEYS = int(os.environ.get("STACKTOP_RANDOM_KEYS") or
           (3000 if os.environ.get("SIZE") == "full" else 1200))
SEED = int(os.environ.get("STACKTOP_RANDOM_SEED") or 1)
FACTOR = float(os.environ.get("TIME_FACTOR", "1"))
# No ^C, ^Z, ^\, q or F10, and no P, which may answer with any file's name. Settings can make another
# key quit; then the test starts it again.
CODES = [chr(c) for c in range(32, 127) if chr(c) not in "qP"] + \
    ["\r", "\t", "\x1b", "\x7f", "\x02", "\x04", "\x05", "\x06", "\x07", "\x0b", "\x0c", "\x0e",
     "\x10", "\x14", "\x15", "ä", "漢", "\u0301"] + \
    ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[Z", "\x1b[3~", "\x1b[5~",
     "\x1b[6~", "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~",
     "\x1b[19~", "\x1b[20~"] * 2 + list("1234567jjjkkkGg\x1b\x1b\x1b")


class Screen:
    """The program on a terminal."""

    def __init__(self, folder):
        self.master, slave = pty.openpty()
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.clicked = False  # on a row that was the last one, or became it
        self.clicks, self.height, self.process = set(), 30, None
        self.resize(30, 100)
        env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_CONFIG_HOME=folder)
        with open(os.path.join(folder, "err"), "ab") as err:
            self.process = subprocess.Popen([STACKTOP], stdin=slave, stdout=slave, stderr=err,
                                            cwd=folder, env=env, start_new_session=True)
        self.drawn = 0

    def resize(self, rows, cols):
        if rows in self.clicks:
            self.clicked = True
        self.clicks = set()
        self.rows = {rows, self.height}
        self.height = rows
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        if self.process:
            self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds):
        while select.select([self.master], [], [], seconds)[0]:
            self.drawn += len(os.read(self.master, 65536))
            seconds = 0

    def read_all(self):
        """Reads its output until it has taken the typed keys, the last of which may end it."""
        until = time.monotonic() + 120 * FACTOR
        while self.process.poll() is None and time.monotonic() < until:
            if not struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)))[0]:
                break
            self.read(0.05)
        for _ in range(3):
            before, until = self.drawn, time.monotonic() + 3
            while self.drawn == before and self.process.poll() is None and \
                    time.monotonic() < until:
                self.read(0.2)

    def type(self, text):
        data = text.encode()
        while data:
            _, ready, _ = select.select([self.master], [self.master], [], 60 * FACTOR)
            self.read(0)
            if ready:
                data = data[os.write(self.master, data):]

    def close(self):
        os.close(self.master)
        os.close(self.slave)

    def end(self):
        """The exit status; None when it does not end."""
        until = time.monotonic() + 200 * FACTOR
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.1)
        if self.process.poll() is None:
            self.process.kill()
            return None
        self.read(0.1)
        return self.process.returncode


def config(folder):
    return os.path.join(folder, "stacktop", "config")


def quits(screen, folder):
    """True if the keys may end it: a click on the last row, which has F10, or a key that earlier keys
    have bound to quit."""
    if screen.clicked:
        return True
    try:
        with open(config(folder), encoding="utf-8") as file:
            return bool(re.search(r"^key .* = quit$", file.read(), re.M))
    except FileNotFoundError:
        return False


def start(folder):
    if os.path.exists(config(folder)):
        os.unlink(config(folder))
    screen = Screen(folder)
    until = time.monotonic() + 120 * FACTOR
    while screen.drawn < 1000 and time.monotonic() < until:
        screen.read(0.2)
    return screen


def type_keys(screen, dice, count):
    """Types the keys until it ends; returns how many."""
    for i in range(count):
        if i % 50 == 0:
            screen.resize(dice.randint(1, 70), dice.randint(1, 240))
        if dice.random() < 0.04:
            row, col = dice.randint(1, 60), dice.randint(1, 200)
            button = dice.choice([0, 0, 64, 65])
            screen.clicks.add(row)
            screen.clicked = screen.clicked or row in screen.rows
            screen.type(f"\x1b[<{button};{col};{row}M\x1b[<{button};{col};{row}m")
        else:
            screen.type(dice.choice(CODES))
        screen.read(0.001 if i % 20 else 0.05)
        if screen.process.poll() is not None:
            return i + 1
    return count


def main():
    tap = Tap()
    need(tap)
    dice = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder, Load(["sh", "-c", "while :; do :; done"]):
        screen = start(folder)
        typed, starts = 0, 1
        while True:
            typed += type_keys(screen, dice, KEYS - typed)
            if typed >= KEYS:
                screen.read_all()
            status = screen.process.poll()
            if status is None or status != 0 or not quits(screen, folder):
                break
            screen.close()
            screen = start(folder)
            starts += 1
        alive = screen.process.poll() is None
        tap.ok(alive, "runs on", f"{typed} keys in {starts} runs, seed {SEED}, "
               f"{screen.process.poll()}")
        # It may show nothing that changes, as of a view frozen before there was anything to show. With
        # each new size it draws.
        screen.resize(40, 200)
        screen.read_all()
        before = screen.drawn
        screen.resize(41, 200)
        for _ in range(int(300 * FACTOR)):
            screen.read(0.2)
            if screen.drawn > before:
                break
        tap.ok(screen.drawn > before or not alive, "still draws")
        status = screen.end()
        tap.ok(status == 128 + signal.SIGTERM, "ends on SIGTERM", f"{status}")
        tap.ok(termios.tcgetattr(screen.slave)[:4] == screen.before[:4],
               "restores the terminal")
        screen.close()
        with open(os.path.join(folder, "err"), "rb") as file:
            err = file.read().decode("utf-8", "replace")
        tap.ok(not re.search(r"Sanitizer|runtime error|SIG[A-Z]+", err), "no crash",
               err[-2000:])
    tap.done()


if __name__ == "__main__":
    sys.exit(main())
