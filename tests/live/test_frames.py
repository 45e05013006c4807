#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 300 s
"""One program for each kind of frame, with only one true stack, sampled live.

    test_frames.py [CASE...]    only these, the names of the table below

A program reports when it runs only its construct; stacktop starts when it has run there for a while, so
there is no sample of a program's start. A case's slices count from the first in which its process is
known, with tables and names; from then on no sample is excluded. At least 99.5 % of a case's samples must
show one of the chains that its row in the table allows, from the thread's first frame to the function
that ran. Where the construct is only part of what runs, a row also names the chain that must be among
its samples, and how many of them the test waits for: its share depends on the CPU and the kernel.
Functions of other files, which may have no name, match `foreign`, but are counted one by one; a
function of the program never passes as one. Where the compiler's CFI or the stack itself is wrong for
some instructions, the row names the stacks that result and their greatest share. Where code comes and
goes, it names the stacks that neither walk nor names can know: those are counted apart, and as many
others are needed as in any case.

Covers: unwind/step.h bpf/prog/walker.bpf.h bpf/prog/profiler.bpf.c bpf/prog/sample.bpf.h"""

import collections
import copy
import functools
import os
import platform
import re
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

PROGRAMS = os.path.abspath(os.path.join(live.BUILD, "tests", "frames"))
EXACT = 0.995
ENOUGH = 400  # samples per case
PATIENCE = 200  # seconds, on a busy machine
SLICE_SECONDS = "0.2"
HERTZ = 3999
APART = 0.1  # of a case's samples at most
NOT_YET = (["[process not known yet]"], ["[process has just called exec]"], ["[no table for pc]"])
DEPTH_LEAST = 1024

GONE = r"\[unknown\]"  # at the slice's end nothing is mapped at its address
ENDS = r"\[(?:pc not covered|code without CFI or frame pointer)\]"
# From glibc 2.41 on a system call that can be cancelled has two functions more between it and its wrapper.
CANCEL = 2 * (tuple(map(int, re.findall(r"\d+", os.confstr("CS_GNU_LIBC_VERSION") or ""))) >= (2, 41))
FOREIGN = "foreign"  # any function that is not the program's
BOTTOM = "bottom"  # the frames of the C library and _start below main


def gcc_version():
    command = [*os.environ.get("CC", "gcc").split(), "-dumpversion"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.partition(".")[0])


def main_chain(chain):
    return f"{BOTTOM};main;{chain}"


def thread_chain(chain):
    """clone3 and start_thread, whatever their names in the library."""
    return f"{FOREIGN};{FOREIGN};{chain}"


def nest(depth):
    return ";".join(f"f{(9 - i) % 10}" for i in range(depth))


# Only glibc binds lazily and switches contexts.
GLIBC_ONLY = ("bind-none", "bind-full", "coroutine", "swap")

# Each library has these as well.
CRT = {"_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones",
       "__do_global_dtors_aux"}
IN_LIBRARY = "|".join(sorted(CRT))


class Case:
    """A program's mode and the requirements on its samples."""

    def __init__(self, name, program, mode, *chains, among=(), kernel=(), built=None,
                 spare=None, apart=(), nice=19):
        self.name, self.program, self.mode = name, program, mode
        self.chains = chains
        self.among = among  # (chain, least number of samples)
        self.kernel = kernel  # (function in the kernel's part, the same of user stacks exact)
        self.built = built  # (options of readelf, pattern): shows that the construct is in the file
        self.spare = spare  # (chain, greatest share): the CFI or the stack itself is wrong
        self.apart = apart  # chains with a part that can no longer be known
        self.nice = nice
        self.process = self.pids = None
        self.lines = []

    @property
    def samples(self):
        return sum(count for _, _, count in self.lines)

    def pattern(self, chain, bottom):
        own = "|".join(map(re.escape, own_functions(self.program)))
        foreign = rf"(?!(?:{own})(?:;|$))[^;\[\]]+"
        below = ";".join(["_start"] + [foreign] * (bottom - 1))
        words = re.sub(rf"\b{BOTTOM}\b", lambda _: below, chain)
        return re.compile(re.sub(rf"\b{FOREIGN}\b", lambda _: foreign, words))


@functools.lru_cache(None)
def own_functions(program):
    text = subprocess.run(["nm", "-C", os.path.join(PROGRAMS, program)], capture_output=True,
                          text=True, check=True).stdout
    names = {line.split(None, 2)[2] for line in text.splitlines()
             if re.match(r"[0-9a-f]+ [tTwW] ", line)}
    return sorted(names - CRT)


RESTORE = FOREIGN  # the signal trampoline
IN_HANDLER = f"{RESTORE};outer_handler"
DRAP = r"(?s)r10\+0.*\n[0-9a-f]+ exp "
IN_VDSO = r"(?:;\[vdso\]\+0x[0-9a-f]+)?"  # an inner function of the vDSO has no name
STEPPED = f"(?:;{RESTORE}(?:;on_trap(?:;interrupted)?)?)?"

CASES = [
    Case("depth120", "nest", "depth120", main_chain(f"depth120;{nest(120)};spin")),
    Case("depth500", "nest", "depth500", main_chain(f"depth500;{nest(500)};spin")),
    Case("depth1000", "nest", "depth1000", main_chain(f"depth1000;{nest(1000)};spin")),
    # The innermost frames, and the mark in place of the others.
    Case("depth1500", "nest", "depth1500",
         r"\[too deep\];" + ";".join(nest(1500).split(";")[-DEPTH_LEAST + 1:]) + ";spin"),
    Case("full120", "nest.full", "depth120", main_chain(f"depth120;{nest(120)};spin"),
         built=("-n", r"IBT, SHSTK")),
    Case("none120", "nest.none", "depth120", main_chain(f"depth120;{nest(120)};spin")),
    Case("alloca", "nest", "alloca", main_chain("with_alloca;spin")),
    Case("vla", "nest", "vla", main_chain("with_vla;vla_inner;spin")),
    Case("big", "nest", "big", main_chain("big_frame;spin"),
         built=("-wF", r"rsp\+4[01]\d\d\d")),
    Case("huge", "nest", "huge", main_chain("huge_frame;spin"),
         built=("-wF", r"rsp\+1048\d\d\d")),
    # tail_jumper jumps away before tail_target runs.
    Case("tail", "nest", "tail", main_chain("tail_caller;tail_target")),
    Case("noreturn", "nest", "noreturn", main_chain("call_ends_in_call;ends_in_call;never_back")),
    Case("last", "coro", "last", main_chain("to_last_call;last_call;spin")),
    Case("first", "coro", "first",
         main_chain(f"to_first_faults;first_faults;{RESTORE};on_fault;spin")),
    # last_syscall enters the kernel, though the return address is in the function behind it.
    Case("last-syscall", "coro", "syscall",
         main_chain("to_last_syscall;(?:behind_)?last_syscall"),
         among=[(main_chain("to_last_syscall;last_syscall"), 160)],
         kernel=[("(?:__(?:x64|do)_)?sys_getppid", 4)]),

    Case("plt-none", "plt.none", "call", main_chain(f"call_often(?:;callee|;{FOREIGN})?"),
         among=[(main_chain(f"call_often;(?!callee$){FOREIGN}"), 8)]),
    Case("plt-full", "plt.full", "call", main_chain(f"call_often(?:;callee|;{FOREIGN})?"),
         among=[(main_chain(f"call_often;(?!callee$){FOREIGN}"), 8)],
         built=("-SW", r" \.plt\.sec ")),
    Case("plt-got", "plt.got", "call", main_chain(f"call_often(?:;callee|;{FOREIGN})?"),
         among=[(main_chain(f"call_often;(?!callee$){FOREIGN}"), 8)],
         built=("-SW", r" \.plt\.got ")),
    # A jump leads to the resolver; above it are the dynamic linker's own functions, then the callee.
    Case("bind-none", "plt.none", "bind",
         main_chain(f"bind_often(?:;callee|(?:;(?!callee(?:;|$)){FOREIGN}){{1,9}})?"),
         among=[(main_chain(f"bind_often;{FOREIGN};{FOREIGN}(?:;{FOREIGN})+"), 40)]),
    Case("bind-full", "plt.full", "bind",
         main_chain(f"bind_often(?:;callee|(?:;(?!callee(?:;|$)){FOREIGN}){{1,9}})?"),
         among=[(main_chain(f"bind_often;{FOREIGN};{FOREIGN}(?:;{FOREIGN})+"), 40)]),
    # The code of crti.o and crtbegin.o in a library has no CFI, and its caller is unknown. The frames
    # of the library get their names when a slice ends, if it is loaded then; its callees and callers are
    # known nevertheless. Just after it was mapped, the walk may not know it yet.
    Case("reopen", "plt.none", "reopen",
         main_chain(f"reopen_often(?:;(?!callee_?){FOREIGN}){{0,30}}"),
         main_chain("reopen_often;callee_lazily(?:;callee)?"),
         main_chain(f"reopen_often;callee_lazily(?:;(?!callee(?:;|$)){FOREIGN}){{1,9}}"),
         among=[(main_chain(f"reopen_often;dlopen(?:;{FOREIGN})*"), 80),
                (main_chain(f"reopen_often;callee_lazily(?:;{FOREIGN})*"), 4)],
         apart=[main_chain(f"reopen_often(?:;(?!callee){FOREIGN}){{2,30}};{GONE}"),
                main_chain(f"reopen_often;{GONE}(?:;{GONE})?"),
                main_chain(f"reopen_often;{GONE}(?:;callee|(?:;(?!callee){FOREIGN}){{1,9}})"),
                f"{ENDS};(?:{IN_LIBRARY}|{GONE})(?:;{FOREIGN}){{0,3}}",
                rf"\[pc in no mapping\];(?:{IN_LIBRARY}|callee_lazily|{GONE})(?:;{FOREIGN}){{0,9}}"]),
    Case("opened", "plt", "opened", main_chain("in_opened;callee_calls;spin")),

    Case("signal", "signals", "one", main_chain(f"one_signal;send_self;{IN_HANDLER};spin")),
    Case("signals", "signals", "two",
         main_chain(f"two_signals;send_self;{IN_HANDLER};send_self;{RESTORE};inner_handler;spin")),
    Case("altstack-low", "signals", "low", main_chain(f"low_stack;send_self;{IN_HANDLER};spin")),
    Case("altstack-high", "signals", "high",
         thread_chain(f"thread_main;send_self;{IN_HANDLER};spin")),
    Case("timer", "signals", "timer",
         main_chain(f"timer;work(?:;{FOREIGN}){{0,2}}(?:;on_timer)?"),
         among=[(main_chain(f"timer;work(?:;{FOREIGN})?;{RESTORE};on_timer"), 40)]),

    # In the kernel, the frame that is made for a handler counts.
    Case("calling", "signals", "calling", main_chain("by_frame;(?:by_registers;)?at_frame"),
         among=[(main_chain("by_frame;at_frame"), 320)]),

    Case("realign", "realign", "loop", main_chain("realigned_loop(?:;realigned)?"),
         among=[(main_chain("realigned_loop;realigned"), 120)]),
    Case("realign-leaf", "realign", "leaf",
         main_chain("realigned_leaf;realigned_loop;realigned;spin")),
    Case("drap", "realign", "dloop", main_chain("drap_loop(?:;drap)?"),
         among=[(main_chain("drap_loop;drap"), 120)], built=("-wF", DRAP)),
    Case("drap-leaf", "realign", "dleaf", main_chain("drap_leaf;drap_loop;drap;spin")),
    Case("realign-step", "realign", "step",
         main_chain(f"step_realigned;realigned_loop(?:;realigned)?{STEPPED}"),
         among=[(main_chain(
             f"step_realigned;realigned_loop;realigned;{RESTORE};on_trap;interrupted"), 60)]),
    Case("drap-step", "realign", "dstep",
         main_chain(f"step_drap;drap_loop(?:;drap)?{STEPPED}"),
         among=[(main_chain(
             f"step_drap;drap_loop;drap;{RESTORE};on_trap;interrupted"), 60)]),
    Case("drap-number", "realign", "dnumber",
         main_chain(f"step_number;with_number(?:;drap)?{STEPPED}"),
         among=[(main_chain(
             f"step_number;with_number;drap;{RESTORE};on_trap;interrupted"), 60)]),
    # -mstackrealign realigns main, too. GCC's CFI does not say that rbp is popped in the last
    # instructions of such a function, and here its caller needs rbp: gdb stops there as well. GCC 12
    # pops it two instructions before the end of drap, GCC 16 seven.
    Case("drap-all", "realign.all", "dloop", main_chain("drap_loop(?:;drap)?"),
         among=[(main_chain("drap_loop;drap"), 120)], built=("-wF", DRAP),
         spare=(r"\[stack not readable\];drap_loop;drap", 0.03) if gcc_version() < 16 else
         (r"\[stack (?:not readable|does not grow)\];drap_loop;drap", 0.06)),
    Case("drap-leaf-all", "realign.all", "dleaf", main_chain("drap_leaf;drap_loop;drap;spin")),

    # Before it returns into a handler, libgcc overwrites the return addresses in its own frame with
    # those of the target frame (uw_install_context_1), so that the stack itself is wrong.
    Case("throw", "throw", "",
         main_chain(r"catcher(?:\.cold)?(?:;passer(?:\.cold)?"
                    r"(?:;thrower|;guard::~guard(?:\(\))?)?)?"),
         main_chain(r"catcher(?:\.cold)?(?:;passer(?:\.cold)?(?:;thrower)?)?"
                    f"(?:;{FOREIGN}){{1,12}}"),
         among=[(main_chain(f"catcher;passer;thrower;__cxa_throw;{FOREIGN}(?:;{FOREIGN})*"), 80),
                (main_chain(f"catcher;passer(?:\\.cold)?;_Unwind_Resume(?:;{FOREIGN})*"), 40)],
         spare=(f".*;_Unwind_(?:Resume|RaiseException)(?:;{FOREIGN})?", 0.08)),

    # The frames that makecontext puts below a coroutine are libc's, and complete.
    Case("coroutine", "coro", "coroutine", f"{FOREIGN};coroutine;body;spin"),
    Case("swap", "coro", "swap", main_chain(f"swap_often(?:;{FOREIGN}){{0,2}}"),
         f"{FOREIGN};yielder(?:;{FOREIGN}){{0,2}}",
         among=[(main_chain("swap_often;swapcontext"), 80),
                (f"{FOREIGN};yielder;swapcontext", 80)],
         # glibc's CFI is wrong for the nine instructions after the change of rsp.
         spare=(r"(?:[^;]*;){0,4}swapcontext", 0.02)),
    Case("switch-rbp", "coro", "rbp", main_chain("to_rbp;switch_rbp;body;spin")),
    Case("switch-rbx", "coro", "rbx", main_chain("to_rbx;switch_rbx;body;spin")),
    Case("switch-high", "coro", "high",
         main_chain("to_high;switch_rbp;upward;switch_rbp;body;spin")),

    Case("getppid", "kernel", "getppid", main_chain(f"ask_parent(?:;{FOREIGN}){{0,2}}"),
         among=[(main_chain("ask_parent;(?:__)?getppid"), 120)],
         kernel=[("(?:__(?:x64|do)_)?sys_getppid", 4)]),
    Case("read", "kernel", "read", main_chain(f"read_zeros(?:;{FOREIGN}){{0,{2 + CANCEL}}}"),
         among=[(main_chain(f"read_zeros;(?:__)?read(?:;{FOREIGN}){{0,{CANCEL + CANCEL // 2}}}"), 320)],
         kernel=[("(?:__(?:x64|do)_)?sys_read|ksys_read", 320)]),
    Case("faults", "kernel", "faults", main_chain(f"fault_pages(?:;touch|;{FOREIGN})?"),
         among=[(main_chain("fault_pages;touch"), 80),
                (main_chain("fault_pages;(?:__)?madvise"), 20)],
         kernel=[("exc_page_fault", 80), ("(?:__(?:x64|do)_)?sys_madvise", 20)]),
    Case("vdso", "kernel", "vdso", main_chain(f"ask_clock(?:;{FOREIGN}){{0,3}}{IN_VDSO}"),
         among=[(main_chain("ask_clock;(?:__)?clock_gettime(?:@[^;]*)?;"
                            rf"(?:__vdso_)?clock_gettime{IN_VDSO}"), 80)]),
    Case("vfork", "kernel", "vfork", main_chain("in_vfork;vfork_child;spin")),
    Case("vforks", "kernel", "vforks", main_chain(f"vfork_often(?:;{FOREIGN}){{0,{2 + CANCEL}}}"),
         among=[(main_chain("vfork_often;(?:__)?vfork"), 80)], nice=0),
    Case("main", "kernel", "main", main_chain("in_main;spin")),
    Case("thread", "kernel", "thread", thread_chain("worker;spin")),
    Case("clone", "kernel", "clone", "(?:__)?clone;cloned;spin"),

    Case("framed-leaf", "blind", "fleaf", main_chain("framed_leaf;blind_framed_leaf")),
    Case("framed-call", "blind", "fcall", main_chain("framed_call;blind_framed_call;spin")),
    # Its frame is sound, too; the saved rbp is just a number, which the walk does not need.
    Case("framed-junk", "blind", "fjunk",
         main_chain("framed_junk;junk_call;blind_framed_call;spin")),
    # Its row is made when walks have come by, from the beginning of the function: it never returns.
    *(Case("blind-" + mode, "blind", mode, main_chain(f"{caller};blind_leaf"),
           spare=(f"{ENDS};blind_leaf", 0.2))
      for mode, caller in (("zero", "zero"), ("zeros", "zeros"), ("number", "small_number"), ("odd", "odd"),
                           ("self", "self"), ("upward", "upward"), ("nothing", "nothing"),
                           ("downward", "downward"), ("data", "data"), ("padding", "padding"))),
    # rbp is the caller's: following it would skip the caller.
    Case("blind-still", "blind", "still", main_chain("still;blind_still"),
         f"{ENDS};blind_still"),
    # Their rows are derived.
    Case("blind-below", "blind", "below", main_chain("below_number;blind_call;spin")),
    Case("blind-below0", "blind", "belowzero", main_chain(r"below_\w+;blind_call;spin")),
    Case("blind-sweep", "blind", "sweep", f"{ENDS};blind_sweep"),
    Case("blind-cc", "blind", "compiled", main_chain("compiled;blind_compiled(?:;mix)?")),
]


def read_line(process, seconds):
    """A line of the program's output, or None when it ends or prints nothing in time."""
    line = b""
    deadline = time.monotonic() + seconds
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return None
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            return None
        line += byte
    return line.decode().strip()


def start(case, scratch):
    """A name for each case tells its samples from the others'. A nice value keeps seventy of them from
    taking the CPUs from stacktop and the test."""
    alias = os.path.join(scratch, case.name)
    os.symlink(os.path.join(PROGRAMS, case.program), alias)
    case.process = subprocess.Popen([alias, case.mode], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, start_new_session=True)
    live.weigh(case.process.pid, case.nice)
    return case.process


def stop(case):
    if case.process:
        try:
            os.killpg(case.process.pid, 9)
        except ProcessLookupError:
            pass
        case.process.wait()
        case.process.stdout.close()
        case.process = None


def settled(case, lines):
    """True when the case's process is known in all of a slice, and so are tables and the names of the
    program and of its libraries, of which the one that is opened is known last."""
    nameless = (f"{case.program}+0x", "libcallee.so+0x", "libopened.so+0x")
    return lines and not any(
        user[:1] in NOT_YET or any(frame.startswith(nameless) for frame in user)
        for user, _, _ in lines)


def enough(case, bottom):
    """The slow part comes last, since most cases have too few samples to get there."""
    if case.samples < ENOUGH:
        return False
    _, _, missing, apart = judge(case, bottom)
    return not missing and case.samples - sum(apart.values()) >= ENOUGH


def sample(cases, bottom):
    """Samples all cases at the same time, each until it has enough. Processes that start with
    stacktop do not count: a case's slices count from the first in which all of it is known."""
    running = {case.name: case for case in cases if case.pids}
    start = time.monotonic()
    with live.Stream("-d", SLICE_SECONDS, "-F", live.hertz(HERTZ), "--no-inline", "-p",
                     ",".join(case.pids for case in cases if case.pids)) as top:
        while running and time.monotonic() < start + PATIENCE and top.process.poll() is None:
            time.sleep(0.05)
            for part in top.poll():
                found = collections.defaultdict(list)
                for _, name, user, kernel, count in part.stacks:
                    found[name].append((user, kernel, count))
                for case in running.values():
                    if case.lines or settled(case, found[case.name]) or \
                            time.monotonic() > start + PATIENCE / 4:
                        case.lines += found[case.name]
            for case in list(running.values()):
                if enough(case, bottom):
                    del running[case.name]
                    if running:  # stacktop warns when the last process of -p has ended
                        stop(case)
        status = top.stop()
        return top.errors([int(case.pids) for case in cases if case.pids]) + ("" if status in (0, 130) else f"status {status}")


def number(lines, condition):
    return sum(count for user, kernel, count in lines if condition(user, kernel))


def share(lines, condition):
    return number(lines, condition) / (sum(count for _, _, count in lines) or 1)


def judge(case, bottom):
    """(the exact share, the wrong samples as (count, description), the missing chains, the number that
    is counted apart)"""
    chains = [case.pattern(chain, bottom) for chain in case.chains]
    unknowable = [case.pattern(chain, bottom) for chain in case.apart]

    @functools.lru_cache(None)
    def matches(text, patterns):
        return any(pattern.fullmatch(text) for pattern in patterns)

    def exact(user, _):
        return matches(";".join(user), tuple(chains))

    apart = collections.Counter()
    if unknowable:
        for user, kernel, count in case.lines:
            text = ";".join(user)
            if not exact(user, kernel) and matches(text, tuple(unknowable)):
                apart[text] += count
        other = copy.copy(case)
        other.apart = ()
        other.lines = [line for line in case.lines if ";".join(line[0]) not in apart]
        return *judge(other, bottom)[:3], apart
    good = share(case.lines, exact)
    if case.spare:
        pattern, most = case.pattern(case.spare[0], bottom), case.spare[1]
        spared = share(case.lines, lambda user, kernel: not exact(user, kernel) and
                       pattern.fullmatch(";".join(user)))
        good += min(spared, most)
    wrong = collections.Counter()
    for user, kernel, count in case.lines:
        if not exact(user, kernel):
            wrong[";".join(user) + " | " + ";".join(kernel[-6:])] += count
    trouble = [(count, text) for text, count in wrong.most_common()]
    missing = []
    for chain, least in case.among:
        pattern = case.pattern(chain, bottom)
        found = number(case.lines, lambda user, _, p=pattern: p.fullmatch(";".join(user)))
        if found < least:
            missing.append(f"{found} of {chain}, not {least}")
    for function, least in case.kernel:
        pattern = re.compile(function)
        found = number(case.lines, lambda user, kernel, p=pattern: exact(user, kernel) and
                       any(p.fullmatch(frame) for frame in kernel))
        if found < least:
            missing.append(f"{found} in {function}, not {least}")
    return good, trouble, missing, apart


def readelf(case, *options):
    return subprocess.run(["readelf", *options, os.path.join(PROGRAMS, case.program)],
                          capture_output=True, text=True, check=False).stdout


def check_built(tap, case):
    """The compiled file has the construct that the case tests."""
    option, pattern = case.built
    found = re.search(pattern, readelf(case, option))
    if not found and pattern == DRAP and "clang" in readelf(case, "-p", ".comment"):
        tap.skip(f"{case.name}: built as intended", "clang has no argument pointer")
    else:
        tap.ok(found, f"{case.name}: built as intended")


def report(tap, case, bottom):
    good, trouble, missing, apart = judge(case, bottom)
    aside = sum(apart.values())
    samples = case.samples - aside
    if case.built:
        check_built(tap, case)
    tap.ok(samples >= ENOUGH and good >= EXACT, f"{case.name}: exact chain",
           f"{100 * good:.2f} % of {samples}")
    if case.apart:
        tap.ok(aside <= APART * case.samples, f"{case.name}: few are counted apart",
               f"{aside} of {case.samples}")
        for text, count in apart.most_common(4):
            tap.note(f"  {count} {text}")
    if good < 1:
        for count, text in trouble[:4]:
            tap.note(f"  {count} {text if len(text) < 500 else text[:240] + ' ... ' + text[-240:]}")
    if case.among or case.kernel:
        tap.ok(not missing, f"{case.name}: has samples of its construct", "; ".join(missing))


def check_interrupts(tap, cases, bottom):
    """A timer tick inside an interrupt of a spinning function: both parts are one stack."""
    interrupt = re.compile(r"asm_(?:sysvec|common)_\w*interrupt|asm_sysvec_\w+|irq_exit\w*")
    found = right = 0
    for case in cases:
        if case.program == "nest" and not case.among:
            other = Case(case.name, case.program, case.mode, *case.chains)
            other.lines = [line for line in case.lines
                           if any(interrupt.fullmatch(frame) for frame in line[1])]
            found += other.samples
            right += judge(other, bottom)[0] * other.samples
    if found:
        tap.ok(right >= EXACT * found, "interrupts: exact chain below the kernel's part",
               f"{right:.0f} of {found}")
    else:
        tap.skip("interrupts: exact chain below the kernel's part", "no sample was inside one")


def self_check(tap, case, bottom):
    """Judges the same samples by chains that are slightly wrong: none may pass."""
    chain = case.chains[0]
    frames = chain.split(";")
    near = {
        "a frame less": frames[:-2] + frames[-1:],
        "a frame more": frames[:-1] + ["f0"] + frames[-1:],
        "two frames swapped": frames[:10] + [frames[11], frames[10]] + frames[12:],
        "no bottom": frames[1:],
        "a name": frames[:-1] + ["spin2"],
        "a bottom of the program's": ["_start;main"] + frames[1:],
    }
    for what, wrong in near.items():
        other = Case(case.name, case.program, case.mode, ";".join(wrong))
        other.lines = case.lines
        good, *_ = judge(other, bottom)
        tap.ok(case.samples >= ENOUGH and good == 0, f"a wrong chain is noticed: {what}")
    # One wrong sample in 200 passes, two fail, and so do walks that did not reach the bottom.
    other = Case(case.name, case.program, case.mode, chain)
    user = next((user for user, _, _ in case.lines), [])
    for bad, passes in ((1, True), (2, False)):
        other.lines = [(user, [], 200 - bad), (["[stack not readable]"] + user[1:], [], bad)]
        good, *_ = judge(other, bottom)
        tap.ok((good >= EXACT) == passes, f"{bad} broken of 200 {'pass' if passes else 'fail'}")


def main():
    tap = live.Tap()
    live.need(tap)
    cases = [case for case in CASES if not sys.argv[1:] or case.name in sys.argv[1:]]
    if platform.libc_ver()[0] != "glibc":
        cases = [case for case in cases if case.name not in GLIBC_ONLY]
        tap.skip(", ".join(GLIBC_ONLY), "this C library has no such code")
    bottom = int(subprocess.run([os.path.join(PROGRAMS, "nest"), "bottom"], capture_output=True,
                                check=True).stdout)
    with tempfile.TemporaryDirectory(prefix="stacktop-frames-") as scratch:
        try:
            for case in cases:
                start(case, scratch)
            for case in cases:
                case.pids = read_line(case.process, 60)
                tap.ok(case.pids, f"{case.name}: runs")
            live.wait_busy([case.pids for case in cases if case.pids and case.nice])
            trouble = sample(cases, bottom)
        finally:
            for case in cases:
                stop(case)
    tap.ok(not trouble, "stacktop reports no problem", trouble)
    for case in cases:
        report(tap, case, bottom)
    check_interrupts(tap, cases, bottom)
    for case in cases:
        if case.name == "depth120":
            self_check(tap, case, bottom)
    tap.done()


if __name__ == "__main__":
    main()
