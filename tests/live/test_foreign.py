#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 400 s
"""Walks programs of other libcs, linkers, compilers and languages (programs/foreign/build.mk) with
known call chains: every sample's user stack must be the chain, from the first frame of the thread to
the leaf, with nothing left out and nothing made up. All programs run at once, each until there are
enough samples of it. They spin before sampling begins, so no stack of a program's start is excused. Where
code without CFI and frame pointers hides the rest, the walk must end there with its reason. What else
is allowed stands at the case. Until the first refresh in which all stacks of a program are right, tables
and names may be missing; stacks that have all names and do not end with a reason count even then.

Covers: unwind/step.h bpf/prog/walker.bpf.h"""

import collections
import errno
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402
import watch  # noqa: E402

RIGHT = 0.995
ENOUGH = 200      # samples per program, unless it says more
FEW = 10          # samples of a refresh that tell whether its code is known
BUSY = 0.05       # seconds of CPU time, after which it spins
EXCUSED = 0.05    # of a program's samples at most may be what `excused` names
PROGRAMS = os.path.abspath(os.path.join(live.BUILD, "tests", "foreign"))
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "foreign")

LIBC = r"libc\.so\.6\+0x[0-9a-f]+"
CLONE = rf"((__)?clone3?|{LIBC})"    # glibc names one function twice
STATIC = "_start;__libc_start_main(_impl)?;__libc_start_call_main"
# The inner function is not in .dynsym.
GLIBC = rf"_start;(__libc_start_main(_impl)?|{LIBC});(__libc_start_call_main|{LIBC})"
LOST = r"\[code without CFI or frame pointer\]"
# musl has neither CFI nor frame pointers; _start_c and __libc_start_main leave by jumps.
MUSL = r"_start(;_start_c)?(;__libc_start_main)?;(libc_start_main_stage2|[\w.-]+\+0x[0-9a-f]+)"
# nasm makes symbols of local labels.
NASM = r"main;one;two;three\.case;four;spin(\.loop)?"
# Of its functions for contexts, later releases of Boost have the names of wrappers only. What a
# coroutine would return to is the outermost frame for gdb and elfutils, too.
BOOST = r"libboost_context\.so\.[\d.]+\+0x[0-9a-f]+"
JUMP = rf"(boost::context::detail::)?jump_fcontext(;{BOOST})?|{BOOST}"
CHAIN = "main;one;two;bsearch;three;four;spin"
DIRECT = "main;one;two;three;four;spin"
# glibc's trampoline is in .symtab only; musl's gets the name of the preceding symbol, which has no size.
RESTORER = rf"(__restore_rt|{LIBC})"
SIGNALS = "main;broken;{0};handler;deeper;again;{0};nested;spin"
# After libgcc has put the landing pad's address in place of its own return address, and before it has
# moved the stack pointer, no CFI tells where the frame is.
LANDING = r"\[[^;]+\];(\[unknown\];)?hot(\.cold)?;_Unwind_RaiseException(;[^;]+)?"
UNWINDER = r"(;(?!\[|_start|main;|one;|hot)[^;]+)*"
# The frames of Rust's own library, below and between, differ between releases.
STD = r"((?!\[|rust::)[^;]+;)*"
RUST = rf"{GLIBC};main;{STD}rust::main;"
RUST_CHAIN = RUST + (r"rust::one;rust::two(::<[^;]+)?;(core::[^;]+;)?"
                     r"rust::one::\{[^;]*closure[^;]*;"
                     r"<rust::Square as rust::Shape>::area;rust::spin")
RUST_DROP = RUST + STD + (r"rust::falls;(core::ptr::drop_in_place[^;]*;)?"
                          r"<rust::Guard as core::ops::drop::Drop>::drop;rust::spin")
# An inner function of the vDSO has no name.
VDSO = r"(;__vdso[^;]+(;\[vdso\]\+0x[0-9a-f]+)?)?"
GO = r"runtime\.goexit(\.abi0)?;(main\.main\.[^;]+;)?main\.worker"
GO_CHAIN = GO + r";main\.one;main\.two;main\.three;main\."
GO_PANIC = GO + (r";main\.faulty;runtime\.sigpanic;(runtime\.panicmem[^;]*;)?runtime\.gopanic;"
                 r"(runtime\.[^;]+;)*main\.faulty\.func1;main\.framed")
GO_SIGNAL = GO + (r";main\.signals(;[\w/]*\bsyscall(/linux)?\.[^;]+)*"
                  r"(;runtime\.sigreturn[^;]*(;runtime\.sigtramp[^;]*(;runtime\.[^;]+)*)?)?")
# The garbage collector's threads start at their own goexit. Code on the runtime's stack begins at a
# thread's start, where the goroutine was left for good, or in the goroutine that called systemstack.
GO_ROOT = r"runtime\.(goexit|clone|mstart|rt0_go|mcall|morestack)(\.abi0)?"
# A closure has the name of the function around it, which gives it to systemstack.
GO_CLOSURE = "".join(rf"(?!.*(?<!;{name});runtime\.systemstack(\.abi0)?;{name}\.func)"
                     for name in (r"runtime\.gcBgMarkWorker", r"runtime\.\(\*mheap\)\.alloc"))
GO_RUNTIME = GO_CLOSURE + f"({GO}" + r";main\.churn|" + GO_ROOT + r"|gogo)(;(?!\[|main\.)[^;]+)*" + VDSO
# The runtime asks for the time on the system stack; the way there and back is on this one.
GO_CLOCK = GO + r";main\.watch(;time\.[^;]+|;runtime\.(time_now|nanotime|walltime)[^;]*)*" + VDSO
# The runtime's own threads: one reads the clock all the time, however little CPU the worker gets.
GO_THREAD = r"runtime\.clone(\.abi0)?;runtime\.mstart(\.abi0)?(;(internal/)?runtime[./][^;]+)*" + VDSO
GO_START = r"\[[^;]+\];runtime\.mstart(\.abi0)?(;runtime\.[^;]+)*" + VDSO
# A function's first instructions yield to the scheduler every 10 ms, also where no signal may
# interrupt the worker: on the runtime's stack, from which no CFI leads back.
GO_YIELD = GO_START + r"|(\[[^;]+\];)?runtime\.(morestack|mcall)(\.abi0)?(;runtime\.[^;]+)*" + VDSO
# The kernel is about to put a signal's frame on the stack, or to remove it: the stack pointer belongs
# to the one side, the pc to the other.
GO_HALFWAY = (r"\[user registers not available\];(runtime\.sigreturn[^;]*|[\w/]*\bsyscall(/linux)?\.Syscall6)"
              r"|" +
              GO + r";main\.signals(;[\w/]*\bsyscall(/linux)?\.[^;]+)*;runtime\.sigreturn[^;]*"
              r";[\w/]*\bsyscall(/linux)?\.Syscall6")
CGO_CALL = (GO + r";main\.one;main\.two;main\._Cfunc_{0}(\.abi0)?;runtime\.cgocall;"
            r"runtime\.asmcgocall(\.abi0)?;_cgo_\w+_Cfunc_{0};{0};")
CGO_BACK = CGO_CALL.format("c_through") + (
    r"c_again;goBack;crosscall2;runtime\.cgocallback(\.abi0)?(;runtime\.cgocallbackg1?(\.abi0)?)+;"
    r"_cgoexp_\w+_goBack(;main\.goBack)?;main\.framed")
CGO_COLLECT = GO_CLOSURE + f"({GO}" + r";main\.collect|" + GO_ROOT + r"|gogo)(;(?!\[|main\.)[^;]+)*" + VDSO
# The runtime's own threads: C code without CFI starts them.
CGO_THREAD = (r"(\[[^;]+\]|{0};(start_thread|{0})(;[^;]+)?);crosscall(1|_amd64);runtime\.mstart(\.abi0)?"
              r"(;runtime\.[^;]+)*").format(CLONE) + VDSO
# Haskell has one frame on the C stack: that of the function at work, or that called C. In a library its
# scheduler's inner function is not in .dynsym.
SCHEDULER = rf"{GLIBC};main;hs_main;scheduleWaitThread(;schedule|;libHSrts[^;]+)?;"
HASKELL = SCHEDULER + r"(Main\.[\w$]+|haskell[\w.]*\+0x[0-9a-f]+)"
# The runtime's timer has a thread of its own, and interrupts.
HASKELL_TIMER = (rf"{CLONE};(start_thread|{LIBC})(;(?!\[)[^;]+)+|" +
                 HASKELL + rf"(;h_one;h_two)?;{RESTORER}(;(?!\[)[^;]+)*")
NO_PREEMPTION = {"GODEBUG": "asyncpreemptoff=1"}


class Case:
    """A program and its true stacks: `chain` must match all of a stack, frames joined by `;`. Stacks
    that match `excused` are unknowable and not counted; stacks that match `others` are of threads
    other than the worker."""

    def __init__(self, program, chain, *arguments, excused=None, others=None, env=None, rename=None,
                 command=None, says=False, enough=ENOUGH):
        self.name = " ".join((program, *arguments))
        self.path = os.path.join(PROGRAMS, program)
        self.command = command or live.roots()[0].command(self.path, *arguments)
        self.chain, self.excused, self.others = (re.compile(pattern or r"(?!)")
                                                 for pattern in (chain, excused, others))
        self.env = dict(os.environ, **(env or {}))
        self.rename = rename or (lambda frame: frame)
        self.enough = enough    # samples
        self.says = says    # prints a line when it is about to spin
        self.process = None
        self.known = False
        self.stacks = collections.Counter()

    def add(self, found):
        """found: its stacks of a refresh."""
        own = {stack: samples for stack, samples in found.items() if not self.others.fullmatch(stack)}
        for stack, samples in own.items():
            if self.known or not (stack.startswith("[") or "+0x" in stack):
                self.stacks[stack] += samples
        if not self.known:
            right, _, wrong = self.verdict(own, FEW)
            self.known = right and not wrong

    def verdict(self, stacks, enough=None):
        """(right or not, detail, wrong stacks)"""
        total = sum(stacks.values())
        wrong = collections.Counter()
        excused = 0
        for stack, samples in stacks.items():
            if self.excused.fullmatch(stack):
                excused += samples
            elif not self.chain.fullmatch(stack):
                wrong[stack] = samples
        count = total - excused
        right = count - sum(wrong.values())
        good = count >= (enough or self.enough) and right >= RIGHT * count and excused <= EXCUSED * total
        return good, f"{right} of {count}" + (f", {excused} excused" if excused else ""), wrong


def symbols(path):
    """(address, size, name) of the functions, ascending."""
    text = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                          check=True).stdout
    rows = re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +\d+ (\S+)$", text, re.M)
    return sorted((int(at, 16), int(size), name) for at, size, name in rows)


def stripped_chain(path):
    """The chain as the starts of the functions, read from the binary's twin before strip."""
    start = {name: at for at, _, name in symbols(path + ".full")}

    def frame(name):
        return re.escape(f"{os.path.basename(path)}+0x{start[name]:x}")
    return (rf"{frame('_start')};(__libc_start_main|{LIBC});(__libc_start_call_main|{LIBC});" +
            ";".join(name if name == "bsearch" else frame(name) for name in CHAIN.split(";")))


def names_of_twin(path, twin):
    """Names for `module+0xADDRESS` in a stripped file, from its unstripped twin."""
    table = symbols(twin)

    def rename(frame):
        match = re.fullmatch(re.escape(os.path.basename(path)) + r"\+0x([0-9a-f]+)", frame)
        for at, size, name in table if match else []:
            if at <= int(match.group(1), 16) < at + size:
                return name
        return frame
    return rename


def plt_chain(path):
    """A stub is named by its address in one of the PLT sections."""
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True,
                          check=True).stdout
    ranges = [(int(at, 16), int(size, 16)) for at, size in
              re.findall(r"\] \.plt\S* +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)]
    stubs = "|".join(f"{at + i:x}" for at, size in ranges for i in range(size))
    module = re.escape(os.path.basename(path))
    return rf"{GLIBC};main;outer;loop(;nothing_[12](@plt)?|;{module}\+0x({stubs}))?"


def node_case():
    """V8 prints the number of JavaScript frames when it is about to spin."""
    options = ["node", "--always-sparkplug"]
    script = os.path.join(SOURCES, "foreign.js")
    with subprocess.Popen([*options, script], stdout=subprocess.PIPE) as process:
        frames = int(process.stdout.readline())
        process.kill()
    # In a stripped library its builtins have no names.
    entry, builtin = (rf"({name}|libnode\.so\.\d+\+0x[0-9a-f]+)" for name in ("Builtins_JSEntry", r"Builtins_\w+"))
    # Until a thread of V8 has optimized the loop, it calls V8, for arithmetic and to be optimized.
    return Case("node", rf"{GLIBC};((?!\[)[^;]+;)+{entry};{builtin}"
                rf"(;(\[jit\]|(?!Builtins_|\[)[^;:]+)){{{frames}}}(;{builtin}(;(?!\[)[^;]+)*)?", command=[*options, script],
                others=rf"{CLONE};(start_thread|{LIBC})(;(?!\[)[^;]+)+", says=True)


def haskell_chain(path, argument):
    """The CFI of `ghc -g` leads to functions on Haskell's stack: those that elfutils finds, too."""
    with subprocess.Popen([path, argument]) as process:
        try:
            watch.until_busy([process.pid], BUSY)
            text = subprocess.run(["eu-stack", "-1", "-p", str(process.pid)], capture_output=True, text=True,
                                  check=False).stdout
        finally:
            process.kill()
    frames = []
    for name in re.findall(r"^#\d+ +0x\w+ *(\S*)", text, re.M):
        for code, plain in (("zd", "$"), ("zi", "."), ("zm", "-"), ("zu", "_")):
            name = name.replace(code, plain)
        haskell = re.fullmatch(r"(?:[a-z][\w.-]*?_)?([A-Z][\w.$]*?)_([\w$]+)_info", name)
        frames.insert(0, re.escape(".".join(haskell.groups()) if haskell else name) or r"[^;[]+")
    return SCHEDULER + ";".join(frames)


def luajit_case():
    """The interpreter's functions are one in the symbol table; its CFI says where it begins."""
    text = subprocess.run(["readelf", "--debug-dump=frames", os.path.realpath(shutil.which("luajit"))],
                          capture_output=True, text=True, check=True).stdout
    start = re.search(r"FDE cie=\w+ pc=0*(\w+)\.\.\w+\n  DW_CFA_def_cfa_offset: 80\n", text)
    interpreter = rf"luajit[\w.-]*\+0x{start.group(1)}" if start else "(?!)"
    return Case("luajit", rf"{GLIBC};main;lua_cpcall;{interpreter}(;luajit[\w.-]*\+0x[0-9a-f]+){{2}};lua_pcall"
                rf"(;{interpreter}){{1,2}}",
                command=["luajit", "-joff", os.path.join(SOURCES, "foreign.lua")])


def cases():
    """The cases that can run here; programs that were not built are skipped."""
    def path(name):
        return os.path.join(PROGRAMS, name)

    def built(name):
        return os.access(path(name), os.X_OK)

    for name in ("chain", "chain.clang", "chain.lld", "chain.gold"):
        yield Case(name, f"{GLIBC};{CHAIN}")
    for name in ("chain.static", "chain.static-pie"):
        yield Case(name, f"{STATIC};{CHAIN}")
    yield Case("chain.stripped", stripped_chain(path("chain.stripped")))
    # Code without CFI: rows are derived from it.
    yield Case("chain.nocfi", f"{GLIBC};{CHAIN}")
    yield Case("chain.nocfi-static", f"{STATIC};{CHAIN}")
    yield Case("chain.nasm", f"{GLIBC};{NASM}")
    yield Case("fcontext", rf"(make_fcontext|{BOOST});routine;work;(spin|{JUMP})|{GLIBC};main(;({JUMP}))?")
    yield Case("fcontext", rf"((make_fcontext|{BOOST});routine;work|{GLIBC};main)(;(jump_fcontext@plt|{JUMP}))?",
               "jumps")
    yield Case("chain.musl", f"{MUSL};{CHAIN}")
    yield Case("chain.musl-direct", f"{MUSL};{DIRECT}")
    yield Case("chain.musl-static", f"{MUSL};{DIRECT}")
    yield Case("signal", f"{GLIBC};{SIGNALS.format(RESTORER)}")
    yield Case("signal.static", f"{STATIC};{SIGNALS.format('__restore_rt')}")
    yield Case("signal.musl", f"{MUSL};{SIGNALS.format('[^;]+')}")
    yield Case("signal.musl-static", f"{MUSL};{SIGNALS.format('__restore_rt')}")
    for name, bottom, trampoline in (("signal", GLIBC, RESTORER),
                                     ("signal.static", STATIC, "__restore_rt"),
                                     ("signal.musl-static", MUSL, "__restore_rt")):
        # As GO_HALFWAY: while the kernel sets up the frame or removes it.
        halfway = rf"{bottom};main;storm;{trampoline};storm|" \
            rf"\[user registers not available\];{trampoline}"
        yield Case(name, rf"{bottom};main;storm(;{trampoline}(;seen)?)?", "storm", excused=halfway)
    yield Case("jit", rf"{GLIBC};main;first;\[jit\];second;\[jit\];\[jit\];third;fourth;spin", "fp")
    # Until rows were made of its code, a moment after the first samples.
    early = rf"({LOST}|\[pc not covered\]);(\[jit\];second;)?(\[jit\];)?\[jit\];third;fourth;spin"
    yield Case("jit", rf"{GLIBC};main;first;\[jit\];second;\[jit\];\[jit\];third;fourth;spin", "nofp",
               excused=early)
    yield Case("bits32", r"\[32-bit process\];(spin|_start)")
    for name in ("plt.lld", "plt.lld-lazy", "plt.lld-ibt", "plt.gold"):
        yield Case(name, plt_chain(path(name)) if built(name) else "")
    for name, bottom in (("throw", GLIBC), ("throw.static", STATIC)):
        yield Case(name, rf"{bottom};main;one;two(\.cold)?;Guard::~Guard;spin", "dtor")
        yield Case(name, rf"{bottom};main;one;in_catch(\.cold)?;spin", "catch")
        yield Case(name, rf"{bottom};main;one;hot(\.cold)?{UNWINDER}", "hot", excused=LANDING, enough=2000)    # 3.5 % are excused
    for name in ("rust", "rust.v0"):
        yield Case(name, RUST_CHAIN, "chain")
        yield Case(name, RUST_DROP, "drop")
    yield Case("rust.abort", RUST_CHAIN, "chain")
    twin = None
    if built("go") and built("go.stripped"):
        twin = names_of_twin(path("go.stripped"), path("go"))
    # A stripped program has the same rules, from .gopclntab.
    for name, rename in (("go", None), ("go.stripped", twin)):
        quiet = {"rename": rename, "env": NO_PREEMPTION, "excused": GO_YIELD, "others": GO_THREAD}
        yield Case(name, GO_CHAIN + "framed", "frame", **quiet)
        yield Case(name, GO_PANIC, "panic", **quiet)
        yield Case(name, GO_CHAIN + "bare", "bare", **quiet)
        yield Case(name, GO_CLOCK, "clock", **quiet)
        yield Case(name, GO_RUNTIME, "runtime", rename=rename, excused=GO_START)
    yield Case("go", GO_SIGNAL, "signal", env=NO_PREEMPTION, excused=f"{GO_YIELD}|{GO_HALFWAY}",
               others=GO_THREAD)
    yield Case("cgo", CGO_CALL.format("c_work") + r"c_spin(\.isra\.0)?", "there", others=f"{CGO_THREAD}|{GO_YIELD}")
    yield Case("cgo", CGO_BACK, "back", env=NO_PREEMPTION, others=f"{CGO_THREAD}|{GO_YIELD}")
    yield Case("cgo", CGO_COLLECT, "collect", others=CGO_THREAD)
    for name in ("haskell", "haskell.dynamic"):
        yield Case(name, HASKELL, "leaf", others=HASKELL_TIMER)
        yield Case(name, HASKELL + ";h_one;h_two", "call", others=HASKELL_TIMER)
    for argument in ("leaf", "call"):
        chain = haskell_chain(path("haskell.g"), argument) if built("haskell.g") else ""
        yield Case("haskell.g", chain, argument, others=rf"{HASKELL_TIMER}|{chain};{RESTORER}(;(?!\[)[^;]+)*")


class Running:
    """All programs, until the block is left."""

    def __init__(self, group):
        self.group = group
        self.cases = {}     # by pid

    def __enter__(self):
        return self

    def start(self):
        """Starts a few at a time and halts them when they spin; False if one has ended."""
        for first in range(0, len(self.group), 4):
            for case in self.group[first:first + 4]:
                case.process = subprocess.Popen(
                    case.command, env=case.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    stdout=subprocess.PIPE if case.says else subprocess.DEVNULL, start_new_session=True)
                self.cases[case.process.pid] = case
                if case.says:
                    case.process.stdout.readline()
            if not watch.until_busy(list(self.cases)[first:], BUSY, halt=True):
                return False
        return True

    @staticmethod
    def end(case):
        if case.process and case.process.returncode is None:
            os.killpg(case.process.pid, signal.SIGKILL)
            case.process.wait()

    def __exit__(self, *_):
        for case in self.group:
            self.end(case)


def is_for_kernel(case):
    """Whether the kernel runs 32-bit programs: some kernels do not, those of the guests do."""
    try:
        with Running([case]) as running:
            return running.start()
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return False


def enough(case):
    return sum(n for stack, n in case.stacks.items() if not case.excused.fullmatch(stack)) >= case.enough


def run(group):
    """Samples the group. Returns None, or why that failed."""
    with Running(group) as running:
        if not running.start():
            return f"ended: {[case.name for case in running.cases.values() if case.process.poll() is not None]}"
        waiting, ended = list(group), []

        def add(part):
            found = collections.defaultdict(collections.Counter)
            for pid, user, _, samples in part.stacks():
                if user and running.cases.get(pid) in waiting:
                    case = running.cases[pid]
                    found[case][";".join(map(case.rename, user))] += samples
            for case, stacks in found.items():
                case.add(stacks)
            for case in [case for case in waiting if enough(case)]:
                waiting.remove(case)
                if case.process.poll() is not None:
                    ended.append(case.name)
                elif waiting:    # stacktop warns when the last process of -p has ended
                    running.end(case)
            return not waiting

        pids = ",".join(str(pid) for pid in running.cases)
        with watch.Watch("-d", "0.25", "-F", live.hertz(3999), "--no-inline", "-p", pids, first=True) as top:
            for _ in range(2):
                top.next()
            watch.resume(running.cases)
            top.until(add)
        ended += [case.name for case in waiting if case.process.poll() is not None]
    return f"exit status {top.status} {top.said().strip()} ended: {ended}, waited for: " \
        f"{[case.name for case in waiting]}" if top.status or ended else None


def judge(tap, case):
    good, detail, wrong = case.verdict(case.stacks)
    tap.ok(good, case.name, detail)
    for stack, samples in wrong.most_common(12):
        tap.note(f"  {samples} {stack}")


def spoilt(stack):
    """Yields the stacks that wrong walks would have made of this one."""
    frames = stack.split(";")
    for i in range(len(frames)):
        yield frames[:i] + frames[i + 1:]
        yield frames[:i] + [frames[i]] + frames[i:]
        yield frames[:i] + ["invented"] + frames[i:]
        yield ["[stack not readable]"] + frames[i:]
    yield frames + ["invented"]
    yield frames[::-1]


def check_judge(tap, case, liar):
    """The verdict must reject a program with another chain, spoilt stacks and too few samples."""
    good, detail, _ = case.verdict(liar.stacks)
    tap.ok(sum(liar.stacks.values()) >= ENOUGH and not good, "another chain is rejected", detail)
    stack = next((s for s in case.stacks if case.chain.fullmatch(s)), "")
    missed = [frames for frames in spoilt(stack)
              if case.verdict(collections.Counter({stack: 990, ";".join(frames): 10}))[0]]
    tap.ok(stack and not missed, "1 % of spoilt stacks is rejected",
           "; ".join(map(str, missed[:3])))
    tap.ok(not case.verdict(collections.Counter({stack: ENOUGH - 1}))[0],
           "too few samples are rejected")


def main():
    tap = live.Tap()
    live.need(tap)
    words = sys.argv[1:]
    ready = []
    liar = Case("liar", f"{GLIBC};{CHAIN.replace('four;', '')}")
    for case in cases():
        if words and case.name.split()[0] not in words:
            continue
        if case.path in case.command and not os.access(case.path, os.X_OK):
            tap.skip(case.name, "not built, its compiler is missing")
        elif case.name == "bits32" and not is_for_kernel(case):
            tap.skip(case.name, "this kernel runs no 32-bit programs")
        else:
            ready.append(case)
    if not words or "node" in words:
        if shutil.which("node"):
            ready.append(node_case())
        else:
            tap.skip("node", "not installed")
    if not words or "luajit" in words:
        if shutil.which("luajit"):
            ready.append(luajit_case())
        else:
            tap.skip("luajit", "not installed")
    trouble = run(ready + [liar])
    for case in ready:
        if trouble:
            tap.ok(False, case.name, trouble)
        else:
            judge(tap, case)
    if not words:
        check_judge(tap, ready[0], liar)
    tap.done()


if __name__ == "__main__":
    main()
