#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--plain through pipes: what is told, what commands do, how it ends. The machine is demo's, whose
shares are known (tests/support/machine.h); the last part samples this machine if it may.

Covers: tui/app/plain.c tui/app/plain_writer.c tui/ui/plain_list.c tui/views/tree_plain.c
"""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "live")]
from live import BUILD, STACKTOP, Load, Tap, run_parts  # noqa: E402

DEMO = os.path.abspath(os.path.join(BUILD, "asan", "tests", "tui", "demo"))
PATIENCE = 60 * float(os.environ.get("TIME_FACTOR", "1"))


class Plain:
    """A program whose lines are read as they come."""

    def __init__(self, *options, program=DEMO, stdin=subprocess.PIPE):
        env = dict(os.environ, TERM="dumb", XDG_CONFIG_HOME="/nonexistent")
        self.process = subprocess.Popen([program, "--plain", *options], stdin=stdin, env=env,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.text = b""
        self.seen = 0

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self, seconds):
        """False: the output has ended, or nothing came."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return False
        data = os.read(self.process.stdout.fileno(), 65536)
        self.text += data
        return bool(data)

    def wait_for(self, pattern):
        """The match of it in what is new, which is old then; None: it did not come."""
        until = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern.encode(), self.text[self.seen:], re.M)
            if match:
                self.seen += match.end()
                return match
            if time.monotonic() > until or not self.read(PATIENCE):
                return None

    def ask(self, line, pattern):
        self.say(line)
        return self.wait_for(pattern)

    def end(self):
        """(exit status, what is on stderr)"""
        if self.process.stdin:
            self.process.stdin.close()
        while self.read(PATIENCE):
            pass
        error = self.process.stderr.read().decode()
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.wait(PATIENCE), error


def check_lists(tap):
    plain = Plain()
    tap.ok(plain.wait_for(r'^stacktop on .*"help"'), "says who it is")
    # 100 + 50 + 50 + 1 samples of 99 ticks
    tap.ok(plain.wait_for(r"^Processes by CPU%.*\n1\. 203\.0 % PID 4121 nginx: worker process; "
                          r"25 % of it in the kernel; mostly ngx_parse_header, in nginx$"),
           "tells the processes", plain.text.decode())
    tap.ok(plain.wait_for(r"^\d\d:\d\d:\d\d: \d+ samples a second, [\d.]+ % user, [\d.]+ % kernel"),
           "tells the state of each refresh")
    tap.ok(plain.ask("funcs", r"^Functions of all processes.*\n"
                              r"1\. [\d.]+ % \S+, in [^;]+; mostly called by \S+$"),
           "funcs")
    tap.ok(plain.ask("tree", r"^Call paths of all.*\n1\. [\d.]+ % process 4121 nginx; level 1\n"
                             r"2\. [\d.]+ % ngx_worker_process_cycle calls "
                             r"ngx_process_events_and_timers; level 2\n"
                             r"3\. [\d.]+ % ngx_process_request_line; level 3$"), "tree")
    tap.ok(plain.ask("callers", r"called by ngx_process_events_and_timers, called by "
                                r"ngx_worker_process_cycle; level 1$"), "callers")
    tap.ok(plain.ask("unwind", r"^How stacks .*\n1\. [\d.]+ % complete; \d+ stacks\n"
                               r"2\. [\d.]+ % no table for pc; \d+ stacks; mostly of PID 7781 node"),
           "unwind")
    tap.ok(plain.ask("filter-user postgres", r"^How stacks .* % of them, .*user:postgres\n"
                                             r"1\. [\d.]+ % complete; \d+ stacks\n(?!2\.)"),
           "unwind of a user", plain.text.decode()[-600:])
    tap.ok(plain.ask("filter-user !postgres", r"filter !user:postgres\n1\. .*\n2\. .* no table"),
           "unwind of all but a user")
    tap.ok(plain.ask("filter func:x", r"filter func:x \(no effect here\)"),
           "a filter that does nothing here says so")
    tap.ok(plain.ask("filter-user", "or cancel$") and plain.ask("", "^How stacks (?!.*filter)"),
           "no filter")
    tap.ok(plain.ask("flame", r"^Flame: call paths of all"), "flame")
    tap.ok(plain.ask("invert", "^invert needs a screen$") and
           plain.ask("frame-zoom", "^frame-zoom needs a screen$"), "what needs a screen is refused")
    tap.ok(plain.ask("shards", r"^Unwind tables\nThe shards are being read"), "shards")
    tap.ok(plain.ask("zoom 4121", r"^Functions of 4121 nginx"), "zoom by PID")
    tap.ok(plain.ask("zoom postgres", r"^Functions of 5310 postgres.*\n1\. 100\.0 % Exec"),
           "zoom by name")
    tap.ok(plain.ask("back", r"^Processes by"), "back")
    tap.ok(plain.ask("sort pid", r"^Processes by PID.*\n1\. [\d.]+ % PID 902 "), "sort by a column")
    tap.ok(plain.ask("sort", r"(?s)^Sort by which\? sort and.*^HOTTEST FUNCTION$"),
           "sort says by what")
    tap.ok(plain.ask("event", r"(?s)^Sample at which\? event and.*^page-faults$"),
           "event says which there are")
    tap.ok(plain.ask("filter", r"^Filter .* or cancel$"), "a command asks")
    tap.ok(plain.ask("node", r"^Processes by PID.*filter node\n1\. [\d.]+ % PID 7781 .*\n(?!2\.)"),
           "and the next line answers")
    tap.ok(plain.ask("filter", r"or cancel$") and plain.ask("cancel", r"^\d\d:") and
           plain.ask("", r"filter node\n"), "cancel leaves it")
    tap.ok(plain.ask("tag 77", "there is no process '77'"), "an unknown process is told")
    tap.ok(plain.ask("frobnicate", "no command 'frobnicate'"), "an unknown command is told")
    tap.ok(plain.ask("picture", "picture needs a screen"), "a command of the screen is told")
    tap.ok(plain.ask("P", "picture needs a screen"), "and so is its key")
    tap.ok(plain.ask("z", r"frozen at \d\d:\d\d:\d\d") and plain.ask("F8", "^Processes by PID"),
           "a key is pressed by its name")
    tap.ok(plain.ask("x" * 300, "the line is too long"), "a line that is too long is told")
    tap.ok(plain.ask("help", r"(?s)^Lists: .*^help COMMAND"), "help")
    tap.ok(plain.ask("help zoom", r"^zoom: zoom into the process of that PID or name$"),
           "help of a command")
    tap.ok(plain.ask("set units machine", r"% of all CPUs"), "a setting")
    tap.ok(plain.ask("setup", r"(?s)^units: machine$.*^set NAME VALUE"), "all settings")
    plain.say("quit")
    status, error = plain.end()
    tap.ok(status == 0 and not error, "quit ends it", error)
    tap.ok(not re.search(rb"[^\n\x20-\x7e]", plain.text), "nothing but text of lines was written")


def check_news(tap):
    """Shares move for a second and stand still for the next: told is what has moved."""
    plain = Plain()
    tap.ok(plain.wait_for(r"^\d\. from [\d.]+ to [\d.]+ % PID 4121 nginx$"),
           "a change is told in few words")
    match = plain.ask("freeze", r"frozen at \d\d:\d\d:\d\d\n(?:\d\. .*\n)+")
    # Commands are answered one after the other: this one when all of the list was told.
    tap.ok(match and plain.ask("frobnicate", "no command 'frobnicate'.*\n"), "freeze")
    before = len(plain.text)
    time.sleep(1.2)
    while plain.read(0.05):
        pass
    tap.ok(len(plain.text) == before, "a frozen list is silent", plain.text[before:].decode())
    tap.ok(plain.ask("live", r"^Processes by CPU%, % of one CPU, 10 s$"), "live goes on")
    plain.say("m")  # all since the zero, which are more with each refresh
    tap.ok(plain.wait_for(r"^shows all samples since zero") and
           plain.ask("unwind", r"^How stacks of all processes ended, .*all since"), "another list")
    told = plain.seen
    for _ in range(3):
        plain.wait_for(r"^\d\d:\d\d:\d\d: ")
    again = plain.text[told:].count(b"How stacks of")
    tap.ok(again == 0, "a list of unwind is told once", f"{again} times more")
    plain.say("quit")
    tap.ok(plain.end()[0] == 0, "and ends")


def check_ends(tap):
    plain = Plain("-n", "7", stdin=subprocess.DEVNULL)
    status, error = plain.end()
    lines = plain.text.decode().splitlines()
    states = [line for line in lines if re.match(r"\d\d:\d\d:\d\d: ", line)]
    tap.ok(status == 0 and 1 <= len(states) <= 7, "without input it goes on until -n",
           f"{len(states)} refreshes, {error}")
    plain = Plain(stdin=subprocess.DEVNULL)
    status, error = plain.end()
    tap.ok(status == 0 and not error, "without input and without -n it ends", f"{status} {error}")
    plain = Plain()
    plain.wait_for("Processes")
    plain.process.stdin.close()
    plain.process.stdin = None
    tap.ok(plain.wait_for(r"^\d\d:\d\d:\d\d: "), "the end of a pipe of commands is not its end")
    plain.process.send_signal(signal.SIGTERM)
    tap.ok(plain.end()[0] == 128 + signal.SIGTERM, "SIGTERM ends it")
    plain = Plain()
    plain.wait_for("Processes")
    plain.process.stdout.close()
    status = plain.process.wait(PATIENCE)
    tap.ok(status == 0, "a reader that went away ends it", str(status))
    for option in ("--batch", "--screenshot=x.svg"):
        done = subprocess.run([STACKTOP, "--plain", option], capture_output=True, timeout=60,
                              check=False)
        tap.ok(done.returncode == 2 and b"--plain" in done.stderr, f"not with {option}")
    plain = Plain()
    plain.wait_for("Processes")
    for _ in range(200):  # the test reads no answer
        plain.say("help all")
    plain.process.send_signal(signal.SIGINT)
    tap.ok(plain.process.wait(PATIENCE) == 128 + signal.SIGINT,
           "a reader that stands still does not hold up a signal")
    plain.end()


def ask_again(plain, line, back, pattern):
    """Until the answer is another one than at first."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        plain.say(line)
        second = time.monotonic() + 1.5
        while time.monotonic() < second and not re.search(pattern, plain.text[plain.seen:]):
            plain.read(0.5)
        if re.search(pattern, plain.text[plain.seen:]):
            return True
        plain.say(back)
    return False


def check_live(tap):
    with tempfile.TemporaryDirectory() as folder:
        # all its samples are in a file that nothing else maps
        spinner = os.path.join(folder, "spinner")
        subprocess.run([os.environ.get("CC", "gcc"), "-O0", "-o", spinner, "-x", "c", "-"],
                       input=b"int main(void) { for (;;) ; }\n", check=True)
        run_parts(tap, (check_exited, spinner))


def check_exited(tap, spinner):
    with Load([spinner]) as load:
        plain = Plain("-p", str(load.pid), program=STACKTOP)
        tap.ok(plain.wait_for(rf"^\d\. [\d.]+ % PID {load.pid} "), "the busy process is told",
               plain.text.decode())
        tap.ok(plain.ask(f"inspect {load.pid}",
                         rf"(?s)^A walk of PID {load.pid} .*^frame 0: .*^\"step 0\""),
               "a walk is caught and told")
        tap.ok(plain.ask("step 0", r"^ *1 pc "), "and a step of it")
        load.kill()
        load.wait()
        tap.ok(plain.ask("cfi", r"(?s)^Machine code of .*^(1\. |No sample was at an instruction)"),
               "the code of a process that has exited is told", plain.text[plain.seen:].decode())
        plain.say("back")
        tap.ok(ask_again(plain, "cfi", "back", rb"its process has exited"),
               "when its file has been closed there is none, and why is told",
               plain.text[plain.seen:].decode())
        tap.ok(plain.ask("shards", r"(?s)^Unwind tables, .*table of "), "the shards are told")
        plain.say("quit")
        status, error = plain.end()
        tap.ok(status == 0 and not error, "and it ends", error)


def main():
    tap = Tap()
    check_lists(tap)
    check_news(tap)
    check_ends(tap)
    check_live(tap)
    tap.done()


main()
