#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 120 s
"""Another user's links, FIFOs and files in place of reports, sessions, screenshots and settings that
root's run writes or reads. The run refuses them, with a message and an exit status that is not 0, and
leaves them and their targets as they were.

Covers: tui/util/outfile.c tui/session/session_write.c tui/app/screenshot.c tui/ui/config_file.c
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

USER = 65534
SECRET = b"what another file holds\n"
PATIENCE = 20   # seconds after which a run counts as hanging


def as_user(body):
    """Runs body in a child as another user."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
            os.umask(0)
            body()
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1]:
        raise OSError("the other user cannot plant it")


def plant_file(path):
    def body():
        with open(path, "wb") as file:
            file.write(SECRET)
        os.chmod(path, 0o666)
    as_user(body)


PLANTS = {
    "a file": plant_file,
    "a FIFO": lambda path: as_user(lambda: os.mkfifo(path, 0o666)),
    "a link to root's file": lambda path: as_user(lambda: os.symlink(path + ".root", path)),
    "a link to nothing": lambda path: as_user(lambda: os.symlink(path + ".none", path)),
    "a folder": lambda path: as_user(lambda: os.mkdir(path)),
}


def run(*options, env=None):
    """(exit status or None when it had to be killed, messages)"""
    try:
        done = subprocess.run([live.STACKTOP, *options], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False, env=env)
    except subprocess.TimeoutExpired:
        return None, "not in time"
    return done.returncode, done.stderr.decode("utf-8", "replace").strip()


def state(folder):
    """The contents of a folder; links are not followed."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(top, name)
            st = os.lstat(path)
            text = None
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    text = file.read()
            found[path] = (st.st_mode, st.st_uid, text)
    return found


def check_planted(tap, top):
    for plant, make in PLANTS.items():
        for what, options in (("a report", ("-b", "-d", "0.2", "-n", "1", "-o")),
                              ("a session", ("-b", "-d", "0.2", "-n", "1", "-w")),
                              ("a screenshot", ("-d", "0.2", "--screenshot"))):
            folder = tempfile.mkdtemp(dir=top)
            os.chmod(folder, 0o1777)
            path = os.path.join(folder, "out.txt")
            with open(path + ".root", "wb") as file:
                file.write(SECRET)
            make(path)
            before = state(folder)
            status, said = run(*options, path)
            tap.ok(status not in (0, None) and state(folder) == before,
                   f"{what}, where another user has planted {plant}: refused and left alone",
                   f"{status}: {said[-150:]}")


def check_full(tap, top):
    folder = os.path.join(top, "full")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=False).returncode:
        tap.skip("a full file system", "cannot mount")
        return
    try:
        with open(os.path.join(folder, "filler"), "wb") as file:
            file.write(b"x" * 65536)
            file.flush()
    except OSError:
        pass
    try:
        for what in "-w", "-o":
            status, said = run("-b", "-d", "0.2", "-n", "2", what, os.path.join(folder, "out.txt"))
            tap.ok(status not in (0, None) and said, f"{what} on a full file system is an error",
                   f"{status}: {said[-150:]}")
    finally:
        subprocess.run(["umount", "-l", folder], check=False)


def check_home(tap, top):
    """sudo -E: root with another user's HOME."""
    for name in ("config", "themes"):
        home = tempfile.mkdtemp(dir=top)
        os.chown(home, USER, USER)

        def body(at=os.path.join(home, ".config", "stacktop"), name=name):
            os.makedirs(at)
            os.mkfifo(os.path.join(at, name))
        as_user(body)
        env = dict(os.environ, HOME=home)
        env.pop("XDG_CONFIG_HOME", None)
        status, said = run("--screenshot", os.path.join(top, f"{name}.txt"), "-d", "0.2", env=env)
        tap.ok(status is not None and status >= 0,
               f"a FIFO as {name} in another user's HOME does not hang",
               f"{status}: {said[-150:]}")


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-outputs-", dir="/tmp") as top:
        os.chmod(top, 0o755)
        check_planted(tap, top)
        check_full(tap, top)
        check_home(tap, top)
    tap.done()


if __name__ == "__main__":
    main()
