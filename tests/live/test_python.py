#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 1200 s
"""Programs in Python, sampled live, run by the CPythons 3.8 to 3.15 of this machine: /usr/bin/python3,
those of pyenv, and those that $STACKTOP_PYTHONS names, separated by blanks; of all these, with SIZE=full.

    test_python.py [PYTHON[:CASE]...]      only these interpreters, or this case; of several, the
                                           cases brief, inside and stripped are alone

A case's samples count from the slice after the first that has frames of Python and all names; from
then on none is excluded. Each sample's functions of Python, from <module> or the thread's first on, must
be one of the chains that the case allows. flip goes through chains of few microseconds: the function
of C that must be between two of Python must be there, and no other: of the names between these two,
at least one is in all samples of the same kind and in none of another. Frames of the interpreter that
run no function of Python yet, or no more, may be innermost only.

Covers: bpf/prog/python.bpf.h bpf/prog/runtime.bpf.h bpf/prog/runtime_place.bpf.h
Covers: bpf/prog/runtime_send.bpf.h bpf/tracker/runtimes.c bpf/tracker/runtimefile.c
Covers: symbols/runtime/python_check.c symbols/runtime/python_code.c symbols/runtime/python_dwarf.c
Covers: symbols/runtime/python_file.c symbols/runtime/python_layout.c tui/symbolize/language.c
"""

import collections
import contextlib
import functools
import glob
import os
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "python")
FLIP = os.path.join(PROGRAMS, "flip.py")
CASES = os.path.join(PROGRAMS, "cases.py")
ABSENT = 77
MERGED = 0.995
SWITCHED = 0.05     # of a case's samples at most may be what `switch` names
FULL = os.environ.get("SIZE") == "full"
ENOUGH = 2000 if FULL else 300      # samples of a case
ENOUGH_FLIP = 50000 if FULL else 2000
PATIENCE = 240                      # seconds for the cases of an interpreter, on a busy machine
HERTZ = 4999
OLDEST, NEWEST = (3, 8), (3, 15)
# Of interpreters but the first, unless SIZE=full.
FEW = ("flip", "released", "shares", "interpreters", "recycled", "names", "lines")
NAMELESS = re.compile(r"(?:lib)?python3[^;]*\+0x")
EVAL = "_PyEval_EvalFrameDefault"


# --- interpreters ----------------------------------------------------------------------------------

class Python:
    """An interpreter. name tells it from the others; stripped: functions of its own have no names."""

    def __init__(self, name, command, env=None):
        self.name, self.command = name, command
        self.env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONIOENCODING="utf-8", **(env or {}))
        said = subprocess.run([command, "-c", "import sys, sysconfig\nprint(*sys.version_info[:3])\n"
                               "print(sys.executable, sysconfig.get_config_var('INSTSONAME'),"
                               "sysconfig.get_config_var('LIBDIR'))"],
                              capture_output=True, text=True, check=False, env=self.env).stdout
        lines = said.splitlines()
        self.version = tuple(map(int, lines[0].split())) if len(lines) == 2 else None
        self.stripped = True
        if self.version:
            executable, library, folder = lines[1].split(" ")
            root = live.roots()[0].path     # "": this one
            executable, folder = root + executable, root + folder
            self.library = os.path.join(folder, library)
            self.shared = ".so" in library and os.path.exists(self.library)
            file = self.library if self.shared else os.path.realpath(executable)
            self.stripped = not has_symbols(file)
            self.named_loop = has_named_loop(os.path.realpath(executable), self.library)

    def fits(self):
        return self.version and OLDEST <= self.version[:2] <= NEWEST


def has_symbols(path):
    return ".symtab" in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True,
                                       check=False).stdout


def has_named_loop(*paths):
    """In the first of these files that has the interpreter. Some compilers split its loop off, as a function
    whose name is in .symtab only."""
    told = subprocess.run(["readelf", "-sW", *paths], capture_output=True, text=True, check=False).stdout
    sizes = [int(line.split()[2], 0) for line in told.splitlines() if line.endswith(" " + EVAL)]
    return next((size > 8192 for size in sizes if size), True)


def pythons():
    """All interpreters; python3 first. As a part of rooted.py, only that of the root."""
    homes = {pwd.getpwuid(os.getuid()).pw_dir, "/root", os.environ.get("HOME", "/root")}
    paths = ["/usr/bin/python3"]
    for home in sorted(homes):
        paths += sorted(glob.glob(os.path.join(home, ".pyenv/versions/3.*/bin/python3")))
    paths += os.environ.get("STACKTOP_PYTHONS", "").split()
    if live.roots()[0].path:
        paths = [shutil.which("python3")]
    found, seen = [], set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen or not os.access(path, os.X_OK):
            continue
        seen.add(real)
        python = Python(path, path)
        if python.fits():
            python.name = ".".join(map(str, python.version)) + \
                (" of the system" if path == paths[0] else "")
            found.append(python)
    return found


# --- samples ---------------------------------------------------------------------------------------

class Sample:
    """A stack of one process. frames: (name, is it of Python, file), outermost first; kernel: the
    same without what the kernel runs."""

    def __init__(self, thread, frames, count):
        self.thread, self.frames, self.count = thread, frames, count
        self.at = [i for i, frame in enumerate(frames) if frame[1]]
        self.chain = tuple(frames[i][0] for i in self.at)
        self.files = tuple(frames[i][2] for i in self.at)
        self.path = ";".join(self.chain)

    def between(self, n):
        """Names of the native frames right outside of function n of the chain."""
        return {frame[0] for frame in self.frames[self.at[n - 1] + 1:self.at[n]]}

    def is_merged(self, outside):
        """No call of the interpreter is without a function, but perhaps the innermost, and `outside` calls
        outside of the first function."""
        last = self.at[-1] if self.at else -1
        evals = [i for i, frame in enumerate(self.frames) if frame[0] == EVAL and not frame[1]]
        if outside is None:
            outside = sum(i < self.at[0] for i in evals) if self.at else 0
        if any(i > self.at[0] for i in evals[:outside]) or len(evals) < outside:
            return False
        return all(i > last for i in evals[outside:]) and len(evals) <= 1 + outside

    def text(self):
        return ";".join(f"<{name}>" if python else name for name, python, _ in self.frames)


def samples_of(part):
    """{pid: [Sample]} of a slice. Samples whose frames were lost on a busy machine tell nothing of chains: they
    are left out as far as the slice's count of losses has them."""
    told = part.json
    found = collections.defaultdict(list)
    functions = [(("[" + f["name"] + "]") if f["kind"] == "end" else f["name"], f["kind"] == "python",
                  f["module"]) for f in told["functions"]]
    kernel = [f["kind"] == "kernel" for f in told["functions"]]
    lost = told["losses"]["stack_ring"]
    for stack in told["stacks"]:
        frames = [functions[i] for i in stack["frames"] if not kernel[i]]
        if frames and frames[-1][0] == "[stack lost]" and stack["count"] <= lost:
            lost -= stack["count"]
        elif frames:
            found[told["processes"][stack["process"]]["pid"]].append(
                Sample(stack["thread"], frames, stack["count"]))
    return found


def lines_of(part):
    """{(function, file): its hottest line}"""
    return {(f["name"], f.get("file")): f.get("line") for f in part.json["functions"]
            if f["kind"] == "python"}


@functools.lru_cache(None)
def matches(pattern, path):
    return bool(pattern.fullmatch(path))


class Case:
    """A program of cases.py, or flip.py. chains: patterns of the functions joined by ";"; among: patterns
    of which some samples are wanted, with their number; bare: the share of samples without Python,
    as of threads that have not begun; merged: all calls of the interpreter must have functions; outside:
    those outside of this first function that have none, None: any number; switch: what the native names of
    samples without frames may have, where the thread's state has none; cut: a pattern for walks that did not
    reach the outermost frame; judge(tap, case): further tests."""

    def __init__(self, name, *chains, among=(), bare=0.0, judge=None, merged=True, outside=None, switch=None,
                 cut=None):
        self.name, self.judge, self.merged, self.outside = name, judge, merged, outside or {}
        self.switch = re.compile(switch) if switch else None
        self.chains = [re.compile(chain) for chain in chains]
        self.cut = re.compile(cut) if cut else None
        self.among = [(re.compile(chain), least) for chain, least in among]
        self.bare = bare
        self.python = self.load = self.process = None
        self.pids, self.samples, self.lines = [], [], {}
        self.known = False

    @property
    def total(self):
        return sum(sample.count for sample in self.samples)

    def count(self, condition):
        return sum(sample.count for sample in self.samples if condition(sample))

    def allows(self, sample):
        return any(matches(chain, sample.path) for chain in self.chains) or \
            bool(self.cut and sample.frames[0][0].startswith("[") and matches(self.cut, sample.path))

    def missing(self):
        return [f"{n} of {chain.pattern}, not {least}" for chain, least, n in
                ((chain, least, self.count(lambda s, c=chain: matches(c, s.path)))
                 for chain, least in self.among) if n < least]

    def enough(self):
        least = ENOUGH_FLIP if self.name == "flip" else ENOUGH
        return self.total >= least and not self.missing()

    def take(self, part, found, late):
        """found: samples of the slice by PID; late: they count, whatever they are."""
        mine = [sample for pid in self.pids for sample in found[pid]]
        if self.known or late:
            self.samples += mine
            self.lines.update(lines_of(part))
        elif (any(s.chain for s in mine) or self.bare == 1) and (self.python.stripped or not any(
                NAMELESS.match(frame[0]) for s in mine for frame in s.frames)):
            self.known = True


# --- judges ----------------------------------------------------------------------------------------

# What C function leads from one function of Python to the next, outermost first.
KINDS = {
    "sorted": [("a_outer", "a_key"), ("loop", "a_key"), ("loop", "d_key")],
    "reduce": [("b_outer", "b_step"), ("loop", "b_step")],
    "map": [("d_outer", "d_key")],
    "del": [("e_outer", "E.__del__"), ("e_outer", "__del__")],
}
DIRECT = {("<module>", "loop"), ("loop", "a_outer"), ("a_key", "leaf_a"), ("d_key", "d_pad"),
          ("d_pad", "leaf_b"), ("b_step", "leaf_b")}


def judge_flip(tap, case):
    """The functions between: each kind has some that are in all its samples and in none of others."""
    always, ever = {}, collections.defaultdict(set)
    unlike = collections.Counter()
    for sample in case.samples:
        for n in range(1, len(sample.chain)):
            pair = sample.chain[n - 1:n + 1]
            kind = next((k for k, pairs in KINDS.items() if pair in pairs), None)
            names = sample.between(n)
            if kind:
                always[kind] = always.get(kind, names) & names
                ever[kind] |= names
            elif pair in DIRECT and case.python.version >= (3, 11) and names:
                unlike[f"{pair}: {names}"] += sample.count
    for kind in KINDS:
        others = set().union(*(names for other, names in ever.items() if other != kind))
        own = always.get(kind, set()) - others
        tap.ok(kind not in always or own, f"{case.title}: calls through {kind} only",
               f"{sorted(own)[:3]} of {sum(map(len, ever.values()))}")
    tap.ok(not unlike, f"{case.title}: calls without a function of C have none between",
           "; ".join(f"{n} {text}" for text, n in unlike.most_common(3)))


def judge_callback(tap, case):
    wrong = case.count(lambda s: "compare" in s.chain and not any(
        "qsort" in name for name in s.between(s.chain.index("compare"))))
    tap.ok(not wrong, f"{case.title}: qsort is between", f"{wrong} of {case.total}")


def judge_hubs(tap, case):
    """The functions between two of one greenlet are its own, but while it switches to another."""
    wrong = 0 if case.python.stripped else case.count(lambda s: not case.switch.search(s.text()) and any(
        any("sort" in name for name in s.between(n)) != (s.chain[n - 1:n + 1] == ("hub_deep", "hub_key"))
        for n in range(1, len(s.chain))))
    tap.ok(not wrong, f"{case.title}: calls through sorted only", f"{wrong} of {case.total}")


def judge_recycled(tap, case):
    wrong = collections.Counter()
    for sample in case.samples:
        for n, (name, file) in enumerate(zip(sample.chain, sample.files)):
            number = re.fullmatch(r"f_(\d+)", name)
            if number and (file != f"<gen_{number.group(1)}>" or sample.files[n - 1] != file):
                wrong[f"{name} of {file} called by {sample.files[n - 1]}"] += sample.count
    tap.ok(not wrong, f"{case.title}: each function is in its file",
           f"{sum(wrong.values())} of {case.total} not: {wrong.most_common(3)}")


def judge_shares(tap, case):
    """Two functions with the same native frames, one three times as long as the other: samples of one
    are not counted for the other. No loop takes exactly its share."""
    short = case.count(lambda s: "short" in s.chain)
    both = short + case.count(lambda s: "long" in s.chain)
    error = 5 * (0.25 * 0.75 / max(both, 1)) ** 0.5
    tap.ok(0.20 - error < short / (both or 1) < 0.30 + error,
           f"{case.title}: each function has its samples", f"{short} of {both} in the short one")


def line_of(mark):
    with open(CASES, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith("# " + mark))


def judge_lines(tap, case):
    for function, file, line in (("hot_line", CASES, line_of("HOT")), ("hot_jump", CASES, line_of("JUMP")),
                                 ("far", "<far>", 304)):
        told = case.lines.get((function, file))
        tap.ok(told == line, f"{case.title}: the hottest line of {function}", f"{told}, not {line}")


def judge_files(tap, case):
    """Names of all widths, with the right files."""
    found = {pair for sample in case.samples for pair in zip(sample.chain, sample.files)}
    for name, file in (("latin_ñame", CASES), ("日本語", CASES), ("𐐨𐐩", CASES), ("<lambda>", CASES),
                       ("<module>", "<ñ>"), ("Body", "<body>")):
        tap.ok((name, file) in found, f"{case.title}: {name} of {os.path.basename(file)}",
               "" if (name, file) in found else str(sorted(found)[:12]))
    tap.ok(any(name.startswith("long_nnn") and file == "<日本>" for name, file in found),
           f"{case.title}: a name that is too long, in <日本>")


MODULE = "<module>"
SWITCH = r"::g_switchstack|\bslp_switch"
THREAD = r"(?:Thread\.)?_bootstrap(?:;(?:Thread\.)?_bootstrap_inner(?:;(?:Thread\.)?run"


def cases(python):
    """All cases of an interpreter. Before 3.11 names are not qualified: X.f is f."""
    new = python.version >= (3, 11)
    method = "E.__del__" if new else "__del__"
    comprehension = r"(?:;(?:f_outer\.<locals>\.)?<listcomp>)?"

    def path(*names):
        """This chain and all that are shorter."""
        return "(?:;" .join(names) + ")?" * (len(names) - 1)

    # A greenlet's stack stands on that of the one that has started it, whose frames can be told in two versions.
    stacked = python.version[:2] in ((3, 11), (3, 12))

    def below(rest):
        return f"{MODULE};{rest};" if stacked else ""

    in_hub = below("hubs(?:;hub_main){1,5}") + "hub_run"
    in_worker = (in_hub + ";" if stacked else "") + "hub_worker"
    in_child = (in_worker + ";" if stacked else "") + "hub_child"
    deep = "(?:;hub_deep(?:;hub_key;hub_deep){0,4}(?:;hub_key)?)?"
    asyncio = r"coroutines(?:;[^;]+)*"
    return [
        Case("flip", path(MODULE, "loop", "a_outer", "a_key", "leaf_a"),
             path(MODULE, "loop", "b_outer", "b_step", "leaf_b"),
             path(MODULE, "loop", "c_outer", "c_gen", "leaf_a"),
             path(MODULE, "loop", "d_outer", "d_key", "d_pad", "leaf_b"),
             path(MODULE, "loop", "e_outer", re.escape(method), "leaf_a"),
             f"{MODULE};loop;f_outer{comprehension}(?:;leaf_b)?",
             path(MODULE, "loop", "a_key", "leaf_a"), path(MODULE, "loop", "b_step", "leaf_b"),
             path(MODULE, "loop", "d_key", "d_pad", "leaf_b"), judge=judge_flip,
             among=[(f"{MODULE};loop;{outer}.*", 4) for outer in
                    ("a_outer", "b_outer", "c_outer", "d_outer", "e_outer", "f_outer")]),
        Case("released", path(MODULE, "released", "in_threads", "unlocked", "(?:hashing|packing)"),
             THREAD + ";unlocked(?:;(?:hashing|packing))?)?)?",
             among=[(f"{MODULE};released;in_threads;unlocked;hashing", 20),
                    (THREAD + ")?)?;unlocked;hashing", 20)]),
        Case("shares", path(MODULE, "shares", "(?:short;one|long;three)"), f"{MODULE};shares;(?:short|long)",
             judge=judge_shares),
        Case("born", f"{MODULE};born(?:;[^;]+)*", THREAD + ";newborn(?:;spin)?|;[^;]+)?)?",
             THREAD + "|;[^;]+)*)?(?:;[^;]+)*", bare=0.3,
             among=[(THREAD + ")?)?;newborn;spin", 100)]),
        Case("turns", path(MODULE, "turns", "in_threads", "taking_turns", "spin"),
             THREAD + ";taking_turns(?:;spin)?)?)?"),
        Case("callback", f"{MODULE};callback(?:;compare(?:;spin)?)?(?:;[^;]+)?", judge=judge_callback,
             among=[(f"{MODULE};callback;compare;spin", 30)]),
        # Up to 3.10 the walk ends before the outermost of its 3,000 native frames.
        Case("deep", f"{MODULE};deep(?:;descend){{801}}(?:;spin)?", merged=new),
        Case("deep_calls", f"{MODULE};deep_calls;descend_alike"
             "(?:;descend_alike_key;descend_alike){60}(?:;spin)?"),
        Case("coroutines", f"{MODULE};{asyncio}",
             among=[(f"{MODULE};{asyncio};outer;inner;innermost;spin", 50)]),
        Case("greenlets", f"{MODULE};greenlets", below("greenlets") + "in_greenlet(?:;spin)?",
             outside={} if stacked else {"in_greenlet": 1 if new else 2},
             among=[(below("greenlets") + "in_greenlet;spin", 50)], switch=SWITCH),
        Case("hubs", f"{MODULE};hubs(?:;hub_main){{0,5}}(?:;spin)?", in_hub + "(?:;spin)?",
             in_worker + deep + "(?:;spin)?", in_child + "(?:;hub_caught)?(?:;spin)?",
             # The stack is in pieces while greenlets switch.
             cut=f"hub_run|hub_worker{deep}|hub_child(?:;hub_caught)?",
             outside={} if stacked else dict.fromkeys(("hub_run", "hub_worker", "hub_child")), judge=judge_hubs,
             among=[(in_hub + ";spin", 50), (in_worker + ";hub_deep;hub_key;hub_deep;spin", 20),
                    (in_child + ";spin", 20), (in_child + ";hub_caught;spin", 20)],
             # One that has not begun, or has ended.
             switch=rf"{SWITCH}|::(?:g_initialstub|inner_bootstrap)(?:;(?!{EVAL})[^;]+)*$"),
        # Its own stack begins with its <module>. The outer interpreter's frames are another state's; they stand alone
        # while the inner one compiles the string that it runs.
        Case("interpreters", f"{MODULE}(?:;interpreters(?:;run_sub)?(?:;[^;]+)*)?(?:;{MODULE})?(?:;in_sub)?",
             among=[(below("interpreters;run_sub") + f"{MODULE};in_sub", 100), (f"{MODULE};interpreters;run_sub.*", 1)], merged=False),
        Case("recycled", f"{MODULE};recycled(?:;make(?:;{MODULE}(?:;f_\\d+)?)?)?", judge=judge_recycled,
             among=[(f"{MODULE};recycled;make;{MODULE};f_\\d+", 100)]),
        Case("names", f"{MODULE};names(?:;[^;]*(?:<[^;]*;)?[^;]*)*", judge=judge_files),
        Case("lines", f"{MODULE};lines(?:;(?:hot_line|hot_jump|far))?", judge=judge_lines,
             among=[(f"{MODULE};lines;{name}", 60) for name in ("hot_line", "hot_jump", "far")]),
        Case("forked", f"{MODULE};forked;spin_for_ever(?:;spin)?", f"{MODULE};forked;.*;in_child(?:;spin)?",
             among=[(f"{MODULE};forked;.*;in_child;spin", 50)]),
    ]


# --- running ---------------------------------------------------------------------------------------

def read_pids(process, seconds=60):
    """The PIDs that a program prints when it runs its construct; [] when it ends before."""
    line = b""
    end = time.monotonic() + seconds
    while not line.endswith(b"\n"):
        if not select.select([process.stdout], [], [], max(end - time.monotonic(), 0))[0]:
            return []
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            return []
        line += byte
    return [int(word) for word in line.split()]


def start(running, python, case, waits=True):
    """waits: it runs its construct when begin() says so."""
    program = [FLIP] if case.name == "flip" else [CASES, case.name]
    case.python, case.title = python, f"{python.name}: {case.name}"
    case.load = live.Load([python.command, *program], env=python.env,
                          stdin=subprocess.PIPE if waits else subprocess.DEVNULL,
                          stdout=subprocess.PIPE if case.name != "flip" else subprocess.DEVNULL)
    case.process = running.enter_context(case.load)
    case.pids = [case.process.pid] if case.name == "flip" else read_pids(case.process)
    return bool(case.pids)


def begin(case):
    if case.process.stdin:
        case.process.stdin.close()


def sample(chosen):
    """Samples all cases at the same time, each until it has enough. Those that wait begin when stacktop
    has had time to read their interpreters."""
    pids = [pid for case in chosen for pid in case.pids]
    running = list(chosen)
    with live.Stream("-d", "0.25", "-F", live.hertz(HERTZ), "--no-inline", "-p",
                     ",".join(map(str, pids))) as top:
        live.weigh(top.pid, -20)
        top.until(lambda slices: len(slices) > 2)
        for case in chosen:
            begin(case)
        live.wait_busy(pids, 0.02, 60)
        began, at = time.monotonic(), top.next()
        while running and time.monotonic() < began + PATIENCE and top.process.poll() is None:
            time.sleep(0.1)
            top.poll()
            for part in top.slices[at:]:
                found = samples_of(part)
                for case in running:
                    case.take(part, found, time.monotonic() > began + PATIENCE / 3)
            at = max(at, len(top.slices))
            for case in [case for case in running if case.enough()]:
                running.remove(case)
                if running:  # stacktop warns when the last process of -p has ended
                    case.load.end()
        status = top.stop()
        return top.errors(pids) + ("" if status in (0, 130) else f"status {status}")


def judge(tap, case):
    total = case.total
    wrong, open_ = collections.Counter(), collections.Counter()
    bare = switched = 0
    for each in case.samples:
        if not each.chain and case.switch and case.switch.search(each.text()):
            switched += each.count
            continue
        if not each.chain:
            bare += each.count
            open_[each.text()] += each.count
        elif not case.allows(each):
            wrong[each.text()] += each.count
        elif case.merged and case.python.named_loop and \
                not each.is_merged(case.outside.get(each.chain[0], 0)):
            open_[each.text()] += each.count
    tap.ok(total and not wrong, f"{case.title}: no impossible chain",
           f"{sum(wrong.values())} of {total}")
    for text, count in wrong.most_common(3):
        tap.note(f"  {count} {text[-600:]}")
    unmerged = sum(open_.values()) - bare
    right = total - unmerged - max(bare - case.bare * total, 0)
    # With few samples, three times the deviation of a share that is just right.
    least = total if case.name == "released" else MERGED * total - 3 * ((1 - MERGED) * total) ** 0.5
    tap.ok(case.enough() and right >= least and switched <= SWITCHED * total,
           f"{case.title}: frames of Python from the outermost on",
           f"{right:.0f} of {total}, {bare} without, {switched} in switches; " + "; ".join(case.missing()))
    if right < total:
        for text, count in open_.most_common(3):
            tap.note(f"  {count} {text[-400:]}")
    if case.judge and case.samples:
        case.judge(tap, case)


def start_all(tap, running, python, only=None, waits=True):
    """The cases that this interpreter can run."""
    for case in cases(python):
        if only and case.name not in only:
            continue
        if start(running, python, case, waits):
            yield case
        elif case.process.wait() == ABSENT:
            tap.skip(case.title, "this interpreter lacks it")
        else:
            tap.ok(False, f"{case.title}: runs", f"status {case.process.returncode}")


def run(tap, groups):
    """groups: each takes the TAP object and an ExitStack, and gives the cases that it has started."""
    with contextlib.ExitStack() as running:
        chosen = [case for group in groups for case in group(tap, running)]
        trouble = sample(chosen) if chosen else ""
    tap.ok(not trouble, "stacktop reports no problem", trouble)
    for case in chosen:
        judge(tap, case)


def stripped_copy(python, folder):
    """The interpreter, or its library, without symbols and debug information."""
    if not python.shared:
        return None
    copy = os.path.join(folder, os.path.basename(python.library))
    shutil.copy(python.library, copy)
    if subprocess.run(["strip", copy], capture_output=True, check=False).returncode:
        return None
    return Python(python.name + " stripped", python.command, {"LD_LIBRARY_PATH": folder})


def start_stripped(tap, running, python):
    """These do not wait: their interpreter's file, which no other process has, is read while they run."""
    stripped = stripped_copy(python, running.enter_context(tempfile.TemporaryDirectory()))
    if stripped:
        stripped.stripped = True
        yield from start_all(tap, running, stripped, ["flip", "released", "shares"], waits=False)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def jail(python, folder):
    """A root with the interpreter and what it needs for cases.py; the interpreter's path."""
    real = os.path.realpath(python.command)
    libraries = re.findall(r"/[^ )]+", subprocess.run(["ldd", real], capture_output=True, text=True,
                                                      check=False).stdout)
    standard = os.path.dirname(subprocess.run([python.command, "-c", "import os; print(os.__file__)"],
                                              capture_output=True, text=True, check=False,
                                              env=python.env).stdout)
    for path in [real, *libraries, *(path for part in ("*.py", "encodings/*.py", "lib-dynload/unicodedata.*")
                                     for path in glob.glob(os.path.join(standard, part)))]:
        os.makedirs(folder + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, folder + path)
    shutil.copy(CASES, folder)
    return real


def start_inside(tap, running, python):
    """In a PID namespace, and in another root, where the interpreter's file is another one."""
    inside = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        tap.skip(f"{python.name}: in a PID namespace", "none can be made")
        return
    folder = running.enter_context(tempfile.TemporaryDirectory())
    real = jail(python, folder)
    for name, command in (("in a PID namespace", [*inside, python.command, CASES, "plain"]),
                          ("in another root", ["chroot", folder, real, "-S", "/cases.py", "plain"])):
        case = Case("plain", f"{MODULE};plain;spin_for_ever(?:;spin)?")
        case.python, case.title = python, f"{python.name}, {name}"
        case.load = live.Load(command, env=python.env, stdout=subprocess.PIPE)
        case.process = running.enter_context(case.load)
        if not read_pids(case.process):
            tap.ok(False, f"{case.title}: runs")
            continue
        case.pids = children_of(case.process.pid) if "namespace" in name else [case.process.pid]
        yield case


def run_brief(tap, python):
    """Processes that have ended when their names are asked for: beside one by which the interpreter is
    known, each shorter than a slice."""
    with contextlib.ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory())
        name = os.path.join(folder, "brief")
        os.symlink(os.path.realpath(python.command), name)
        home = dict(python.env, PYTHONHOME=subprocess.run(
            [python.command, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True,
            check=False, env=python.env).stdout.strip())
        with live.Stream("-d", "1", "-F", live.hertz(HERTZ), "--no-inline", "--comm",
                         "^brief$") as top:
            keeper = running.enter_context(live.Load([name, CASES, "plain"], env=home,
                                                     stdout=subprocess.PIPE))
            read_pids(keeper)

            def knows(slices):
                return any(each.chain for part in slices for each in samples_of(part)[keeper.pid])

            known = top.until(knows)
            keeper.send_signal(signal.SIGSTOP)
            found = collections.Counter()
            end = time.monotonic() + PATIENCE / 2
            while known and found["right"] < 20 and time.monotonic() < end:
                top.poll()
                first = len(top.slices)
                ended = subprocess.Popen([name, CASES, "brief"], stdin=subprocess.DEVNULL, env=home)
                ended.wait()
                top.more(1)
                for part in top.slices[first:]:
                    for each in samples_of(part)[ended.pid]:
                        if "brief" in each.chain:
                            found["right" if re.fullmatch(f"{MODULE};brief(?:;spin)?",
                                                          each.path) else "wrong"] += each.count
            top.stop()
    tap.ok(found["right"] >= 20 and not found["wrong"],
           f"{python.name}: functions of processes that have ended", str(dict(found)))


def main():
    tap = live.Tap()
    live.need(tap)
    words = [word.partition(":")[::2] for word in sys.argv[1:]]
    groups, brief = [], []
    here = not live.roots()[0].path     # in a root, a script starts it
    for python in pythons():
        first = python.name.endswith(" of the system")
        mine = [case for word, case in words if word in python.name]
        # 3.9 and 3.10 are walked as 3.8 is.
        if not words and (first or FULL or python.version[:2] in ((3, 8), (3, 12), (3, 13))):
            groups.append(functools.partial(start_all, python=python, only=None if first or FULL else FEW))
        elif mine and not {"brief", "inside", "stripped"} & set(mine):
            groups.append(functools.partial(start_all, python=python, only=[case for case in mine if case]))
        if "inside" in mine or not words and (first and here or FULL):
            groups.append(functools.partial(start_inside, python=python))
        if "stripped" in mine or not words and (FULL or python.version[:2] in ((3, 8), (3, 12))):
            groups.append(functools.partial(start_stripped, python=python))
        if "brief" in mine or not words and (first and here or FULL):
            brief.append(python)
    # With many more samples, all at once would take too much memory.
    for some in [[group] for group in groups] if FULL else [groups] if groups else []:
        run(tap, some)
    for python in brief:
        run_brief(tap, python)
    tap.done()


if __name__ == "__main__":
    main()
