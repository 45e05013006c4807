#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Annotations of functions in Python by the real program. The line that runs has the samples, with the
native code that it calls; a line that calls has those below it. The text is that of the file as the
process sees it, also in a mount namespace of its own. Where it is not there, the lines are still counted,
and the screen says why. A function in C that Python calls has its samples where they belong.

Covers: tui/collect/annotator.c tui/collect/annotator_search.c tui/collect/lister.c tui/collect/nocode.c
Covers: tui/views/annotate_draw.c symbols/code/sourcelist.c symbols/files/sourcefile.c
"""

import concurrent.futures
import os
import re
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

HERTZ = live.hertz(1999)
BUSY = 0.3  # seconds of CPU time
ENOUGH = 30  # samples

PROGRAM = r"""import ctypes
import sys

native = ctypes.CDLL(sys.argv[1]).hot

def price(item):
    value = 0
    for i in range(50):
        value = (value * 31 + i * item) % 1000003; value = (value * 17 + i) % 1000003 # the hot line
    return value

def in_c():
    return native(20000) # the line that calls C

def total():
    return price(3) + price(4) + price(5) # the line that calls Python

def serve():
    while True:
        total()
        in_c()

serve()
"""

LIBRARY = r"""
__attribute__((noipa)) unsigned long hot(unsigned long n)
{
	unsigned long s = n | 1;
	while (n--)
		s = (s << 40 | 0x123456789) / (s | 3);
	return s;
}
"""

ROW = re.compile(r"^.([ \d.]{6})([ \d.]{7})  +(\d+)(?:  (.*))?$")
CODE = re.compile(r"^.([ \d.]{6})([ \d.]{7})  +([0-9a-f]+) (.*)$")


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-source-") as folder:
        library, program = os.path.join(folder, "hot.so"), os.path.join(folder, "app.py")
        write(os.path.join(folder, "hot.c"), LIBRARY)
        subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-o", library,
                        os.path.join(folder, "hot.c")], check=True)
        write(program, PROGRAM)
        gone, changed = os.path.join(folder, "gone.py"), os.path.join(folder, "changed.py")
        write(gone, PROGRAM)
        write(changed, PROGRAM)
        hidden = os.path.join(folder, "hidden")
        os.mkdir(hidden)
        private = (f"mount -t tmpfs none {hidden} && cp {program} {hidden} && "
                   f"exec {sys.executable} {hidden}/app.py {library}")
        with concurrent.futures.ThreadPoolExecutor(8) as pool, \
                live.Gentle([sys.executable, program, library]) as app, \
                live.Gentle([sys.executable, gone, library]) as without, \
                live.Gentle([sys.executable, changed, library]) as edited, \
                live.Gentle(["unshare", "--mount", "sh", "-c", private]) as apart, \
                live.Gentle([sys.executable, "-c", PROGRAM, library]) as text:
            watch.until_busy([load.pid for load in (app, without, edited, apart, text)], BUSY)
            os.unlink(gone)
            later = time.time() + 10
            os.utime(changed, (later, later))
            jobs = [pool.submit(annotate, folder, load.pid, name) for load, name in
                    ((app, "price"), (app, "total"), (app, "in_c"), (without, "price"),
                     (edited, "price"), (apart, "price"), (text, "price"), (app, "hot"))]
            screens = [job.result() for job in jobs]
            of_lines(tap, *screens[:3])
            of_files(tap, *screens[3:7])
            of_native(tap, screens[7])
            plain(tap, app.pid)
    tap.done()


def check(tap, condition, name, screen):
    """Of a failure the whole screen."""
    tap.ok(condition, name)
    if not condition:
        tap.note(screen)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def number_of(comment):
    return next(i + 1 for i, line in enumerate(PROGRAM.splitlines()) if comment in line)


def annotate(folder, pid, name):
    """The screen of a function of the process, with enough samples."""
    path = os.path.join(folder, f"{pid}-{name}.txt")
    keys = " ".join(["2", "/", *f"^{name}$", "Enter", "a"])
    until, slices, screen = time.monotonic() + watch.PATIENCE, 7, ""
    while time.monotonic() < until:     # on a busy machine names come late
        _, err, status = live.stacktop("--screenshot", path, "--size", "140x60", "--ascii", "-F",
                                       HERTZ, "-p", str(pid), "-d", "0.5", "-n", str(slices), "--keys",
                                       keys, timeout=300)
        if status:
            raise RuntimeError(err)
        with open(path, encoding="utf-8") as file:
            screen = file.read()
        os.unlink(path)
        count = re.search(r"^ (\d+) samples, ", screen, re.M)
        if f" {name}  " in screen.split("7 Unwind")[1][:200] and count and int(count.group(1)) >= ENOUGH:
            break
        slices = min(slices + 2, 13)
    return screen


def lines_of(screen):
    """{line: (self, below, text)}"""
    rows = {}
    for line in screen.splitlines():
        match = ROW.match(line.rstrip("# \n") if line.endswith("#") else line)
        if match:
            values = [float(match.group(i).strip() or 0) for i in (1, 2)]
            rows[int(match.group(3))] = (*values, (match.group(4) or "").rstrip())
    return rows


def of_lines(tap, price, total, in_c):
    rows, hot = lines_of(price), number_of("the hot line")
    check(tap, rows.get(hot, (0,))[0] > 50, "the hot line has most samples", price)
    mark = next((line for line in price.splitlines() if line.startswith(">")), "")
    check(tap, "# the hot line" in mark, "the cursor is on it", price)
    check(tap, "-- py price  /" in price, "the title has the language", price)
    added = sum(row[0] + row[1] for row in rows.values())
    check(tap, 98 < added < 102, "the shares add up to 100 %", price)
    shown = [rows[i][2] for i in sorted(rows)]
    check(tap, shown == PROGRAM.splitlines(), "all lines have their text", price)
    row = lines_of(total).get(number_of("that calls Python"), (0, 0))
    check(tap, row[1] > 90 > row[0], "below a line is what it calls in Python", total)
    row = lines_of(in_c).get(number_of("that calls C"), (0, 0))
    check(tap, row[0] > 95 and row[1] == 0, "native code is its own", in_c)


def of_files(tap, gone, edited, apart, text):
    hot = number_of("the hot line")
    check(tap, "SOURCE: its process has no file of that name now" in gone, "a missing file is told", gone)
    check(tap, lines_of(gone).get(hot, (0,))[0] > 50, "its lines are counted", gone)
    check(tap, "changed after its process began" in edited and "# the hot line" in edited,
           "a changed file is told", edited)
    check(tap, "# the hot line" in apart and "SOURCE:" not in apart and "changed" not in apart,
           "a file of another mount namespace is read", apart)
    check(tap, "SOURCE: it was compiled from a text in memory" in text and
           lines_of(text).get(hot, (0,))[0] > 50, "a text in memory is told", text)


def of_native(tap, screen):
    """Before frames of Python were left out, addresses of other frames were taken."""
    rows = {}
    for line in screen.splitlines():
        match = CODE.match(line)
        if match:
            rows[match.group(4)] = sum(float(match.group(i).strip() or 0) for i in (1, 2))
    if "machine code is not shown" in screen and "capstone" in screen:
        tap.skip("a function in C", "capstone is optional and missing")
        return
    added = sum(rows.values())
    check(tap, 98 < added < 102 and "more in others" not in screen and "behind what" not in screen,
           "samples of a function in C are in it", screen)
    slow = sum(share for text, share in rows.items() if " div " in text or " or " in text or
               " mov " in text)
    check(tap, slow > 50, "and at its loop", screen)


def plain(tap, pid):
    run = subprocess.Popen([live.STACKTOP, "--plain", "-F", HERTZ, "-d", "1", "-p", str(pid)],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           env=dict(os.environ, TERM="dumb"))
    text, until = b"", time.monotonic() + watch.PATIENCE
    asked = 0
    while b"# the hot line" not in text and time.monotonic() < until:
        if time.monotonic() > asked + 3:    # the function has samples by then
            asked = time.monotonic()
            run.stdin.write(b"annotate price\n")
            run.stdin.flush()
        if select.select([run.stdout], [], [], 1)[0]:
            data = os.read(run.stdout.fileno(), 65536)
            if not data:
                break
            text += data
    run.stdin.close()
    run.kill()
    run.wait()
    run.stdout.close()
    text = text.decode("utf-8", "replace")
    check(tap, f"line {number_of('the hot line')}: value = (value * 31" in text, "--plain has the hot line",
           text)


if __name__ == "__main__":
    main()
