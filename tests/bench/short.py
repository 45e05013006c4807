# SPDX-License-Identifier: GPL-2.0-or-later
"""The first moments of processes. Programs that use the CPU for 100, 20 and 5 ms after their language
has started are sampled in three ways: as the COMMAND of stacktop, as the first of their file beside a
stacktop that samples the whole machine, and again beside the same one. What their samples lack, times
the sampling period, for each process: that is the age up to which it was missing, if it was missing
from the beginning. Lacking: the way to the outermost frame (stacks that are not complete), a name (of
code in a file), and the frames of the language (the code that runs it is among the frames, and no
frame of it is)."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import live  # noqa: E402

HERTZ = 4999
LENGTHS = 100, 20, 5        # ms
ROUNDS = 4
AGAIN = 5                   # in a round
C = """
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
int main(int argc, char **argv) { double end = now() + atof(argv[1]); unsigned n = 0;
	while (now() < end) for (int i = 0; i < 10000; i++) n = n * 33 + rand();
	return argc > 5 ? n : 0; }
"""
PYTHON = """import sys, time
def leaf():
    return sum(i for i in range(200))
def spin(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        leaf()
spin(float(sys.argv[1]))
"""
PERL = """sub leaf { my $n = 0; $n += $_ for 1 .. 200; $n }
sub spin { my $end = (times)[0] + shift; leaf() while (times)[0] < $end }
spin($ARGV[0] / 1000);
"""
NODE = """function leaf() { let n = 0; for (let i = 0; i < 2000; i++) n += i % 7; return n; }
function spin(ms) { const end = process.cpuUsage().user + ms * 1000;
	while (process.cpuUsage().user < end) leaf(); }
spin(Number(process.argv[2]));
"""
JAVA = """public class Short {
	static int leaf(int n) { for (int i = 0; i < 2000; i++) n += i % 7; return n; }
	static int spin(long ms) { long end = System.nanoTime() + ms * 1000000; int n = 0;
		while (System.nanoTime() < end) n += leaf(n);
		return n; }
	public static void main(String[] argv) { spin(Long.parseLong(argv[0])); }
}
"""
# The code that runs the language's own; JavaScript and Java have code without a file.
EVAL = {"python": "_PyEval_EvalFrame", "perl": "Perl_runops", "js": None, "java": None}
LANGUAGES = {"native": None, "python": "python", "perl": "perl", "node": "js", "java": "java"}


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def programs(folder):
    """(name, command without the milliseconds)"""
    path = os.path.join(folder, "native")
    live.cc(path, write(path + ".c", C))
    yield "native", [path]
    python = next((p for p in ("/usr/bin/python3",) if os.path.exists(p)), sys.executable)
    yield "python", [os.path.realpath(python), "-S", "-E", write(os.path.join(folder, "a.py"), PYTHON)]
    if shutil.which("perl"):
        yield "perl", [os.path.realpath(shutil.which("perl")), write(os.path.join(folder, "a.pl"), PERL)]
    if shutil.which("node"):
        yield "node", [os.path.realpath(shutil.which("node")), write(os.path.join(folder, "a.js"), NODE)]
    if shutil.which("java") and shutil.which("javac"):
        subprocess.run(["javac", "-d", folder, write(os.path.join(folder, "Short.java"), JAVA)], check=True)
        yield "java", [os.path.realpath(shutil.which("java")), "-Xshare:auto", "-XX:TieredStopAtLevel=1",
                       "-cp", folder, "Short"]


class Lacks:
    def __init__(self, language, name):
        self.language = language
        self.name = name[:15]   # as the kernel has it: before the exec it is another
        self.samples = self.processes = 0
        self.lack = collections.Counter()
        self.reasons = collections.Counter()

    def add(self, report, pids):
        """The samples of these processes, or of all, in one refresh."""
        functions = report["functions"]
        for stack in report["stacks"]:
            process = report["processes"][stack["process"]]
            if process["name"] != self.name or pids and process["pid"] not in pids:
                continue
            frames = [functions[at] for at in stack["frames"] if functions[at]["kind"] != "kernel"]
            if not frames:
                continue
            count = stack["count"]
            self.samples += count
            if frames[0]["kind"] == "end":
                self.lack["walk"] += count
                self.reasons[frames[0]["name"]] += count
            unnamed = [f for f in frames if f["name"] in ("[unknown]", "[rewritten code]")]
            if unnamed:
                self.lack["name"] += count
                self.reasons[unnamed[0]["name"]] += count
            if self.runs(frames) and not any(f["kind"] == self.language for f in frames):
                self.lack["language"] += count

    def runs(self, frames):
        if not self.language:
            return False
        name = EVAL[self.language]
        if name:
            return any(f["name"].startswith(name) for f in frames)
        return any(f["kind"] == "jit" for f in frames)

    def ms(self, what):
        return self.lack[what] * 1000 / HERTZ / max(1, self.processes)


def command(lacks, words, folder):
    path = os.path.join(folder, "report")
    subprocess.run([live.STACKTOP, "-b", "--format", "json", "-o", path, "-F", str(HERTZ), "--no-inline", "--",
                    *words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8", errors="replace") as file:
        slices = [live.Slice(line) for line in file]
    lacks.processes += 1
    for part in slices:
        lacks.add(part.json, None)


def beside(first, again, words):
    with live.Stream("-d", "0.5", "-F", str(HERTZ), "--no-inline") as top:
        top.until(lambda slices: len(slices) >= 2)
        time.sleep(0.3)
        pids = []
        for _ in range(1 + AGAIN):
            with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:
                pids.append(process.pid)
            time.sleep(0.3)
        top.more(1)
        top.stop()
    for lacks, its in ((first, {pids[0]}), (again, set(pids[1:]))):
        lacks.processes += len(its)
        for part in top.slices:
            lacks.add(part.json, its)


def report(table, name, lacks):
    if not lacks.samples:
        table.missed(name, "no samples")
        return
    whole = {what: 100 - 100 * lacks.lack[what] / lacks.samples for what in ("walk", "name", "language")}
    reasons = ", ".join(f"{what} {count * 1000 / HERTZ / lacks.processes:.1f}"
                        for what, count in lacks.reasons.most_common(4))
    table.row(name, lacks.ms("walk"), "ms", None,
              f"no name {lacks.ms('name'):.1f}, no language {lacks.ms('language'):.1f} of "
              f"{lacks.samples * 1000 / HERTZ / lacks.processes:.0f} ms; complete {whole['walk']:.1f} %, "
              f"named {whole['name']:.1f} %, of the language {whole['language']:.1f} %"
              + (f" ({reasons})" if reasons else ""))


def measure(table):
    only = re.compile(os.environ.get("SHORT", ""))
    with tempfile.TemporaryDirectory(prefix="stacktop-short-") as folder:
        for name, words in programs(folder):
            for length in LENGTHS:
                if not only.search(f"{name} {length}"):
                    continue
                own = [Lacks(LANGUAGES[name], os.path.basename(words[0])) for _ in range(3)]
                for _ in range(ROUNDS):
                    command(own[0], [*words, str(length)], folder)
                    beside(own[1], own[2], [*words, str(length)])
                for way, lacks in zip(("a command", "the first", "again"), own):
                    report(table, f"{name} of {length} ms, {way}: not complete", lacks)
    table.note(f"{live.STACKTOP} -b -F {HERTZ} --format json [-- COMMAND]")
