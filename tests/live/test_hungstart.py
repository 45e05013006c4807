#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system that answers nothing has what stacktop reads before it samples: the settings, $HOME, a
session to replay or to compare with, the file to record to. The first screen comes while it hangs and
says what is waited for, keys are answered, and q ends stacktop. Settings that were not read are not
saved.

Covers: tui/ui/settings_process.c tui/ui/settings_thread.c tui/app/user_files.c tui/app/screen.c
Covers: tui/session/player.c tui/session/baseline.c tui/collect/collector.c symbols/base/thread.c
"""

import os
import pty
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import test_hung as hung  # noqa: E402


class Screen(hung.Screen):
    def __init__(self, options, environment):  # pylint: disable=super-init-not-called
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update({"TERM": "xterm", **environment})
            os.execv(live.STACKTOP, [live.STACKTOP, *options])
        self.text = ""


def check(tap, name, point, *wanted, options=(), environment=None, keys=()):
    """keys: what is typed, and what it makes appear."""
    screen = Screen(options, environment or {})
    tap.ok(screen.shows("1 Procs"), f"{name}: the screen appears")
    seen = screen.text
    for want in wanted:
        tap.ok(want in seen or screen.shows(want), f"{name}: it says '{want}'")
    for key, want in keys:
        screen.key(key)
        tap.ok(screen.shows(want), f"{name}: {key!r} shows '{want}'")
    screen.key("q")
    status = screen.ends()
    tap.ok(status == 0, f"{name}: q ends it while {os.path.basename(point)} hangs", f"exit {status}")


def main():
    tap = live.Tap()
    with hung.server_built(tap) as (folder, server):
        file, point = os.path.join(folder, "file"), os.path.join(folder, "mount")
        os.mkdir(point)
        with open(file, "w", encoding="ascii") as out:
            out.write("nothing\n")
        served = hung.Served(server, point, file)
        if not served.works:
            tap.skip("everything", f"cannot mount: {served.server.stderr.read().strip()}")
            served.close()
            tap.done()
        served.hang()
        mapped = os.path.join(point, "mapped")
        try:
            check(tap, "settings", point, "waiting for the settings",
                  environment={"XDG_CONFIG_HOME": point},
                  keys=[("o", "setup"), ("\x1b", "Procs"), (":~", "~"), ("\x1b", "")])
            check(tap, "home", point, "waiting for the settings",
                  environment={"HOME": point, "XDG_CONFIG_HOME": ""})
            check(tap, "theme", point, environment={"XDG_CONFIG_HOME": point},
                  options=["--theme", "nord"])
            check(tap, "replay", point, "Waiting for", options=["-r", mapped])
            check(tap, "baseline", point, options=["--baseline", mapped])
            check(tap, "record", point, options=["-w", mapped])
        finally:
            served.close()
    tap.done()


if __name__ == "__main__":
    main()
