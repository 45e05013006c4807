# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the stacks of stacktop (its JSON) and of perf (the text of perf script), and judges both by the
same rules. A stack is a tuple of frames, the outermost first, of user code only."""

import collections
import functools
import json
import os
import re
import shutil
import subprocess

GUESSED = "[guessed]"
KERNEL_MODULE = re.compile(r"\[(kernel\.|guest\.)|\[[a-z][a-z0-9_]*\]$|bpf_(prog|trampoline|dispatcher)_")
USER_BRACKETS = re.compile(r"\[(vdso|vsyscall|stack|heap|anon|uprobes|unknown)")
PERF_FRAME = re.compile(r"^\s+([0-9a-f]+) (.*?) \(((?:/|\[|anon_inode:|memfd:|inlined|socket:|SYSV|perf-|"
                        r"bpf_).*|[^()]*)\)$")
PERF_HEAD = re.compile(r"^(.{1,16}?) +(\d+)/(\d+)\s*$")

# Functions that have no caller, whole names. This is the only list: both tools are judged by it.
ROOTS = [re.compile(pattern) for pattern in (
    # The first code of a process: crt1.o, ld.so, and languages with a start of their own.
    r"_start", r"_dl_start_user", r"_dlstart", r"_start_valgrind", r"_dl_start",
    # FPC links its own crt1: it has no CFI above these.
    r"_FPC_proc_start", r"_FPC_dynamic_proc_start", r"SI_PRC\._FPC_PROC_START",
    # Threads: glibc, musl.
    r"clone", r"clone3", r"thread_start", r"start_thread",
    # Contexts that were made, not called: makecontext, Boost.Context, fibers of D and Ruby.
    r"start_context", r"make_fcontext", r"fiber_entry(Point)?", r"rb_fiber_start",
    r"coroutine_trampoline", r"fiber_trampoline",
    # Go: the functions at which its own traceback ends.
    r"_rt0_amd64(_linux)?", r"_rt0_arm64_linux",
    r"runtime\.(clone|goexit|rt0_go|mstart|mcall|morestack)",
    # gogo has left the stack for that of another goroutine.
    r"(runtime\.)?gogo(<1>)?",
    # gccgo: a goroutine, on a stack whose first return address is 0.
    r"runtime\.kickoff",
    # Erlang: what a process returns to.
    r"erts_beamasm:normal_exit/0.*",
    # GHC with -g: the frame below a Haskell thread. OCaml 5: the bottom of a fiber.
    r"stg_stop_thread(_info)?", r"caml_start_program_on_fiber",
)]
# Names that count only in these modules.
ROOTS_OF = {"trampoline": re.compile("libboost_context"), "finish": re.compile("libboost_context"),
            "start": re.compile("musl|^libc.so$"), "start_c11": re.compile("musl|^libc.so$")}


class Frame(collections.namedtuple("Frame", "name module offset inline end")):
    """offset is None if the name stands for the whole function."""

    __slots__ = ()


# A stack of one process: thread is its number, count the samples.
Stack = collections.namedtuple("Stack", "pid thread comm frames count")


def plain(name):
    """The name without what compilers, linkers and perf add to it."""
    name = name.split("@")[0]
    name = re.sub(r"(\.(abi0|abiinternal|part|constprop|isra|cold|llvm|lto_priv|localalias)(\.\d+)?)+$",
                  "", name)
    name = re.sub(r"^(__GI_|__libc_(?=clone))", "", name)
    return re.sub(r"^__(?=(clone3?|start_context|start_thread)$)", "", name)


def has_name(frame):
    name = frame.name
    return not (re.search(r"\+0x[0-9a-f]+$", name) or re.match(r"0x[0-9a-f]+$", name) or
                re.fullmatch(r"\[(unknown|jit|anon.*|stack|heap)\]", name) or not name)


def address(frame):
    """Of a frame without a name: its module and the offset in it."""
    if has_name(frame) or frame.offset is None:
        return frame.name
    return f"{frame.module.rsplit('/', 1)[-1]}+{frame.offset:#x}"


def is_root(frame, starts):
    """starts: a Starts, which is asked about frames without a name."""
    if has_name(frame):
        name = plain(frame.name)
        if name in ROOTS_OF:
            return bool(ROOTS_OF[name].search(frame.module.rsplit("/", 1)[-1]))
        return any(root.fullmatch(name) for root in ROOTS)
    found = re.search(r"\+0x([0-9a-f]+)$", frame.name)
    at = frame.offset if frame.offset is not None else int(found.group(1), 16) if found else None
    module = frame.module.rsplit("/", 1)[-1].replace(" (deleted)", "")
    return at is not None and starts.has(module, at)


class Starts:
    """Where the code of modules has no caller, for functions that the tools do not name: at the entry of
    an ELF file, where its CFI, as readelf shows it, says that the return address is undefined, and in
    the roots that nm knows. A context that was made returns to the first byte of its root, which is no
    call: tools that look at the byte before it find no name."""

    READELF_MAX = 64 << 20

    def __init__(self):
        self.asked = set()  # base names
        self.files = {}     # {base name: path}
        self.ranges = {}    # {base name: [(first, last + 1)]}

    def add(self, name, path):
        if name not in self.files or not os.path.exists(self.files[name]):
            self.files[name] = path

    def entry(self, name, addresses):
        self.ranges.setdefault(name, []).extend((at, at + 64) for at in addresses)

    def has(self, module, at):
        if module not in self.asked:
            self.asked.add(module)
            # A short-lived program may not have been seen in /proc.
            path = self.files.get(module) or shutil.which(module) or ""
            self.entry(module, elf_starts(path))
            if os.path.exists(path) and os.path.getsize(path) <= self.READELF_MAX:
                self.ranges.setdefault(module, []).extend(undefined_returns(path) + named_roots(path))
        return any(first <= at < end for first, end in self.ranges.get(module, ()))


def elf_starts(path):
    """The entry of an ELF file, as an address and as an offset in the file."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02":
                return set()
            entry = int.from_bytes(head[24:32], "little")
            file.seek(int.from_bytes(head[32:40], "little"))
            table = file.read(56 * int.from_bytes(head[56:58], "little"))
    except OSError:
        return set()
    found = {entry}
    for at in range(0, len(table) - 55, 56):
        kind = int.from_bytes(table[at:at + 4], "little")
        offset, address, _, size = (int.from_bytes(table[at + place:at + place + 8], "little")
                                    for place in (8, 16, 24, 32))
        if kind == 1 and address <= entry < address + size:
            found.add(entry - address + offset)
    return found


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60,
                              check=False).stdout
    except (subprocess.TimeoutExpired, OSError):
        return ""


@functools.lru_cache(maxsize=None)
def named_roots(path):
    """The ranges of roots in the symbols of the file or of its debug file, from the byte before."""
    name = re.search(r"Build ID: (..)(\w+)", output("readelf", "-n", path))
    debug = f"/usr/lib/debug/.build-id/{name.group(1)}/{name.group(2)}.debug" if name else ""
    found = []
    for line in output("nm", "-S", debug if os.path.exists(debug) else path).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT" and any(root.fullmatch(plain(words[3])) for root in ROOTS):
            found.append((int(words[0], 16) - 1, int(words[0], 16) + int(words[1], 16)))
    return tuple(found)


@functools.lru_cache(maxsize=None)
def undefined_returns(path):
    """The ranges of the FDEs that never have a return address."""
    text = output("readelf", "--debug-dump=frames-interp", path)
    found = []
    for entry in re.finditer(r"FDE cie=\w+ pc=(\w+)\.\.(\w+)\n((?:.+\n)*)", text):
        rows = [line.split() for line in entry.group(3).splitlines()]
        if len(rows) > 1 and rows[0][-1:] == ["ra"] and all(row[-1] == "u" for row in rows[1:]):
            found.append((int(entry.group(1), 16), int(entry.group(2), 16)))
    return tuple(found)


def from_stacktop(lines):
    """The stacks of the refreshes, with the reason, if there is one, as outermost frame. Samples that
    have neither user frames nor a reason are left out."""
    found = collections.Counter()
    for line in lines:
        report = json.loads(line)
        functions = [Frame(function["name"], function["module"] or "", None,
                           function["kind"] == "inline",
                           function["kind"] == "end" or function["name"] == GUESSED)
                     if function["kind"] != "kernel" else None for function in report["functions"]]
        processes = report["processes"]
        for stack in report["stacks"]:
            frames = tuple(filter(None, (functions[index] for index in stack["frames"])))
            if frames:
                process = processes[stack["process"]]
                found[process["pid"], stack["thread"], process["name"], frames] += stack["count"]
    return [Stack(*key, count) for key, count in found.items()]


def from_perf(text):
    """The user stacks of perf script -F comm,pid,tid,ip,sym,dso."""
    found = collections.Counter()
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        head = PERF_HEAD.match(lines[0])
        if not head:
            continue
        frames = []
        for line in lines[1:]:
            match = PERF_FRAME.match(line)
            if not match:
                continue
            offset, name, module = int(match.group(1), 16), match.group(2), match.group(3)
            if offset >= 1 << 63 or KERNEL_MODULE.match(module) and not USER_BRACKETS.match(module):
                continue
            frames.append(Frame(name, module, offset, False, False))
        if frames:
            found[int(head.group(2)), int(head.group(3)), head.group(1).strip(),
                  tuple(reversed(frames))] += 1
    return [Stack(*key, count) for key, count in found.items()]


def shows(names, pattern):
    return any(re.search(pattern, name) for name in names)


class Verdict:
    """What the stacks of one tool are worth. Samples are counted, not stacks."""

    def __init__(self, stacks, program, starts, ends):
        """ends: the tool says itself where a stack ended early (stacktop); otherwise a stack is
        complete if its outermost function is a root."""
        self.samples = self.complete = self.guessed = self.false = 0
        self.frames = self.named = 0
        self.reasons = collections.Counter()
        self.wrong = collections.Counter()      # falsely complete, as text
        self.broken = collections.Counter()     # ended early: (reason, outermost frames)
        self.seen = collections.Counter()       # samples in which each own function stands
        for stack in stacks:
            self._add(stack, program, starts, ends)

    def _add(self, stack, program, starts, ends):
        count = stack.count
        marks = [frame for frame in stack.frames if frame.end]
        frames = [frame for frame in stack.frames if not frame.end]
        real = [frame for frame in frames if not frame.inline]
        self.samples += count
        self.frames += count * len(real)
        self.named += count * sum(has_name(frame) for frame in real)
        names = [frame.name for frame in frames]
        for own in program.own:
            if shows(names, own):
                self.seen[own] += count
        if any(frame.name == GUESSED for frame in marks):
            self.guessed += count
            self.reasons[GUESSED] += count
            self.broken[GUESSED, text(frames[:4])] += count
            return
        rooted = bool(real) and (is_root(real[0], starts) or any(
            re.fullmatch(root, address(real[0])) for root in program.roots))
        main = stack.thread in (0, stack.pid) and program.main
        fault = "no root" if not rooted else f"lacks {main}" if main and not shows(names, main) else \
            next((f"{inner} without {outer}" for inner, outer in program.under
                  if shows(names, inner) and not shows(names, outer)), "")
        if ends and not marks:
            self.complete += count
            if fault:
                self.false += count
                self.wrong[fault, text(frames)] += count
        elif not ends and rooted:
            self.complete += count
            self.false += count * bool(fault)
        else:
            reason = marks[0].name if marks else "no root"
            self.reasons[reason] += count
            self.broken[reason, text(frames[:4])] += count

    def share(self, number):
        return 100 * number / self.samples if self.samples else 0.0

    def summary(self, program):
        shown = [own for own in program.own if self.seen[own] * 100 >= max(self.samples, 1)]
        return {
            "samples": self.samples, "complete": self.share(self.complete - self.false),
            "claimed": self.share(self.complete), "guessed": self.share(self.guessed),
            "false": self.share(self.false),
            "named": 100 * self.named / self.frames if self.frames else 0.0,
            "own": "-" if not program.own else "yes" if len(shown) == len(program.own) else
                   "part" if shown else "no",
            "missing": [own for own in program.own if own not in shown],
            "depth": self.frames / self.samples if self.samples else 0.0,
            "reasons": [[name, self.share(count)] for name, count in self.reasons.most_common(3)],
        }


def text(frames):
    """A stack for people, the outermost first; repeated frames once."""
    out = []
    for frame in frames:
        name = address(frame)
        if frame.inline:
            name += "(i)"
        if out and out[-1][0] == name:
            out[-1][1] += 1
        else:
            out.append([name, 1])
    return " > ".join(name if times == 1 else f"{name} x{times}" for name, times in out)
