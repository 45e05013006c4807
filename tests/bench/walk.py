# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a walk, beside the kernel's own walk along frame pointers. stacktop samples rare events,
which keeps its maps loaded, and peer.c attaches its program and the peers' in short turns (ABAB) on a
CPU that should run nothing else; the loads of the other turns are stopped. Figures are run_time_ns /
run_cnt, medians over the turns; a ratio is the median of the ratios of neighbours, with the least and
the greatest."""

import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import live

BENCH = os.path.join(live.BUILD, "tests", "bench")
CPU = 0
DEPTHS = (1, 10, 30, 100, 500)
INSNS_MAX = 100000
HOLD_MAX_US = 100
SEARCHES = 100  # searches of search_many beyond those of search_one
GOAL_FRAME_NS = 40


class Peer:
    """peer.c as a server."""

    def __init__(self):
        self.process = subprocess.Popen(
            [os.path.join(BENCH, "peer"), os.path.join(BENCH, "peer.bpf.o"),
             str(CPU)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        os.sched_setaffinity(self.process.pid, {other_cpu()})
        os.sched_setscheduler(self.process.pid, os.SCHED_FIFO, os.sched_param(1))

    def ask(self, *words):
        try:
            print(*words, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer or answer.startswith("error"):
            raise ValueError(f"{' '.join(map(str, words))}: {answer.strip() or 'peer has ended'}")
        return [int(word) for word in answer.split()]

    def close(self):
        self.process.kill()
        self.process.wait()


def urgent():
    """Before exec: real-time priority on the CPU, ahead of all ordinary work. The turns are shorter
    than the kernel's limit for real-time work."""
    os.sched_setaffinity(0, {CPU})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


class Stopped:
    """An urgent load that runs only inside `with load`."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=urgent)
        time.sleep(0.15)
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError as error:
            raise ValueError("a load ended by itself") from error

    def __enter__(self):
        self.signal(signal.SIGCONT)
        time.sleep(0.03)

    def __exit__(self, *_):
        self.signal(signal.SIGSTOP)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def other_cpu():
    return (os.cpu_count() or 1) - 1


def programs(pid):
    """The sampling programs that the process holds: {number: verified instructions or None}."""
    found = {}
    for fields in live.bpf_descriptors(pid):
        if fields.get("prog_type") == "7":  # perf event
            found[int(fields["prog_id"])] = int(fields.get("verified_insns", 0)) or None
    return found


def await_program(process, peer, name):
    for _ in range(100):
        for number, insns in programs(process.pid).items():
            if peer.ask("is", f"#{number}", name, 0)[0]:
                return number, insns
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise ValueError(f"{process.args[0]} has loaded no program {name}")


class Bench:
    """The programs under test and the peer, shared by all parts."""

    def __init__(self, quick):
        self.quick = quick
        self.loads = []
        self.stacktop = subprocess.Popen(
            [live.STACKTOP, "-b", "-d", "5", "-F", "1", "-e", "major-faults", "-C",
             str(other_cpu()), "--format", "folded"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.sched_setaffinity(self.stacktop.pid, {other_cpu()})
        self.bcc = self.peer = None
        try:
            self.peer = Peer()
            number, self.insns = await_program(self.stacktop, self.peer, "on_sample")
            self.ours = f"#{number}"
        except (OSError, ValueError):
            self.close()
            raise
        self.profile, self.profile_name = "profile_shape", "a program of bcc profile's shape"
        self.start_bcc()

    def start_bcc(self):
        """bcc's own program, where bcc can compile it (which needs the kernel's headers)."""
        command = next(filter(shutil.which, ("profile-bpfcc", "/usr/share/bcc/tools/profile")), None)
        if not command:
            return
        self.bcc = subprocess.Popen([command, "-F", "1", "-C", str(other_cpu()), "-f", "3600"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        try:
            number, _ = await_program(self.bcc, self.peer, "do_perf_event")
            self.profile = f"#{number}"
            self.profile_name = command
        except ValueError:
            self.profile_name += f" ({command} does not compile here)"

    def load(self, *command):
        self.loads.append(Stopped(command))
        return self.loads[-1]

    def chain(self, kind, frames, cold):
        return self.load(os.path.join(BENCH, "chain." + kind), str(frames),
                         *(["cold"] if cold else []))

    def unload(self):
        for load in self.loads:
            load.kill()
        self.loads = []

    def turn(self, load, program, hertz, ms):
        """(nanoseconds per run, frames per walk or None, share of complete walks, share of frames by
        rows that other walks have found)"""
        with load:
            count, spent, _, _, walks, complete, frames, kept = self.peer.ask("run", program, hertz,
                                                                              ms)
        if count < hertz * ms / 3000:
            raise ValueError(f"{program}: {count} runs in {ms} ms at {hertz} Hz")
        return (spent / count, frames / walks if walks else None,
                complete / walks if walks else None, kept / frames if frames else None)

    def close(self):
        self.unload()
        if self.peer:
            self.peer.close()
        for process in (self.stacktop, self.bcc):
            if process:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def ratio(ours, theirs):
    each = [a / b for a, b in zip(ours, theirs)]
    return f"{statistics.median(each):5.2f} [{min(each):.2f}-{max(each):.2f}]"


def load_average():
    with open("/proc/loadavg", encoding="ascii") as file:
        return file.read().split()[0]


def expect_depth(bench, load, program, frames):
    """Turns until tables are built and caches are warm; these do not count. Then checks the depth."""
    for _ in range(10):
        depth = bench.turn(load, program, 999, 150)[1]
        if depth and abs(depth - frames) < 1 + 0.02 * frames:
            return depth
        time.sleep(0.5)
    raise ValueError(f"{program} finds {depth} frames of {frames}")


def chain_part(bench, name, hertz, ms, turns, cold):
    """The table for one frequency: each depth by CFI, mixed, and by the kernel."""
    print(f"  {name}, load {load_average()}; whole sample, / frames, one more frame; ns")
    print("  frames  kind     ours  /frame    more |  stackid  /frame    more |  ours/stackid [range]")
    before = {}
    for frames in DEPTHS:
        fp = bench.chain("fp", frames, cold)
        chains = {kind: bench.chain(kind, frames, cold) for kind in ("cfi", "mixed")}
        expect_depth(bench, fp, "user_depth", frames)
        for chain in chains.values():
            expect_depth(bench, chain, bench.ours, frames)
        times = {"fp": [], "cfi": [], "mixed": []}
        for _ in range(turns):
            for kind, chain in chains.items():
                times[kind].append(bench.turn(chain, bench.ours, hertz, ms)[0])
            times["fp"].append(bench.turn(fp, "frame_pointers", hertz, ms)[0])
        bench.unload()
        now = {kind: statistics.median(each) for kind, each in times.items()}
        last, less = before.get("at", 0), before
        more = {kind: f"{(now[kind] - less[kind]) / (frames - last):7.1f}" if last else "      -"
                for kind in now}
        for kind in chains:
            print(f"  {frames:6}  {kind:5} {now[kind]:7.0f} {now[kind] / frames:7.1f} {more[kind]} | "
                  f"{now['fp']:8.0f} {now['fp'] / frames:7.1f} {more['fp']} | "
                  f"{ratio(times[kind], times['fp'])}"
                  f"{' !' if frames >= 30 and now[kind] > now['fp'] else ''}"
                  f"{' !40' if not cold and frames == 100 and now[kind] > GOAL_FRAME_NS * frames else ''}", flush=True)
        before = {**now, "at": frames}


SOURCE = """
static unsigned f%d(unsigned *a, unsigned n)
{ unsigned s = %d; for (unsigned i = 0; i < n; i++) { if (a[i] %% %d == 3) s += a[i] ^ i;
  else switch (s & 7) { case 1: s *= a[i]; break; case 2: s -= i; break; default: s ^= %d; } }
  return s; }
unsigned g%d(unsigned *a, unsigned n) { return f%d(a, n) + f%d(a + 1, n / 2); }
"""
PYTHON = ("import json, re\n"
          "d = {str(i): [i, {'a': 'x' * (i % 50)}, None] for i in range(2000)}\n"
          "while True:\n"
          "    s = json.dumps(d, sort_keys=True, indent=1)\n"
          "    sorted(re.findall(r'x+', s), key=lambda t: -len(t)); json.loads(s)\n")


def program_loads(folder):
    """Real programs, each over and over, not made for this benchmark."""
    source = os.path.join(folder, "much.c")
    with open(source, "w", encoding="ascii") as file:
        for i in range(1500):
            file.write(SOURCE % (i, i, i % 97 + 5, i, i, i, i))
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                         check=False).stdout.strip()
    python = os.path.realpath("/usr/bin/python3")
    if os.path.isfile(cc1):
        yield "cc1", ["sh", "-c", f"while :; do {cc1} -quiet -O2 {source} -o /dev/null; done"]
    if shutil.which("xz"):
        yield "xz", ["sh", "-c", f"while :; do xz -T1 -6 -c {python}; done"]
    if os.path.isfile(python):
        yield "python3", [python, "-c", PYTHON]


def program_part(bench, hertz, ms, turns):
    print(f"  whole samples, {hertz} Hz, user + kernel + counting, load {load_average()}; ns; the "
          f"peer is\n  {bench.profile_name}, which follows frame pointers that these programs lack")
    print("  program    ours   frames  complete   kept |  profile   frames |  ours/profile [range]")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in program_loads(folder):
            load = bench.load(*command)
            bench.turn(load, bench.ours, 499, 1500)
            bench.turn(load, bench.profile, 499, 500)
            depth = bench.turn(load, "user_depth", 499, 500)[1] or 0
            ours, profile = [], []
            for _ in range(turns):
                ours.append(bench.turn(load, bench.ours, hertz, ms))
                profile.append(bench.turn(load, bench.profile, hertz, ms)[0])
            bench.unload()
            times = [each[0] for each in ours]
            print(f"  {name:8} {statistics.median(times):6.0f} "
                  f"{statistics.median(each[1] or 0 for each in ours):8.1f} "
                  f"{100 * statistics.median(each[2] or 0 for each in ours):7.1f} % "
                  f"{100 * statistics.median(each[3] or 0 for each in ours):4.0f} % | "
                  f"{statistics.median(profile):8.0f} {depth:8.1f} | {ratio(times, profile)}",
                  flush=True)


def search_part(bench, turns):
    load = bench.chain("cfi", 4, False)
    for hertz, ms in ((999, 300), (99, 1000)):
        each = [(bench.turn(load, "search_many", hertz, ms)[0] -
                 bench.turn(load, "search_one", hertz, ms)[0]) / SEARCHES for _ in range(turns)]
        print(f"  a search of 17 steps in a sorted array of 1 MiB, {hertz} Hz: "
              f"{statistics.median(each):.0f} ns [{min(each):.0f}-{max(each):.0f}]", flush=True)
    bench.unload()


def single_part(bench, seconds):
    """The time of single runs. It includes time that the hypervisor takes away, and so does the
    peer's."""
    print("  single runs at 1,020 frames, us            seen of    runs     p50     p99   p99.9     max")
    worst = 0
    for hertz, cold in ((499, False), (99, True)):
        for kind, program, name in (("cfi", bench.ours, "ours, CFI"),
                                    ("mixed", bench.ours, "ours, mixed"),
                                    ("fp", "frame_pointers", "bpf_get_stackid")):
            chain = bench.chain(kind, 1020, cold)
            expect_depth(bench, chain, program if kind != "fp" else "user_depth", 1020)
            with chain:
                count, seen, *times = bench.peer.ask("single", program, hertz, seconds * 1000)
            bench.unload()
            if program == bench.ours:
                worst = max(worst, times[2])
            print(f"  {name + (', cold' if cold else ', warm') + f', {hertz} Hz':38} {seen:10} "
                  f"{count:8} " + " ".join(f"{ns / 1000:7.1f}" for ns in times), flush=True)
    print(f"  p99.9 at most {HOLD_MAX_US} us: {'yes' if worst <= HOLD_MAX_US * 1000 else 'NO'}; "
          "a maximum beyond the peer's p99.9 may be the hypervisor's (steal)")


def measure(table, quick):
    """All parts. Raises ValueError when one cannot be measured or exceeds its hard limit."""
    with open("/proc/sys/kernel/perf_event_max_stack", encoding="ascii") as file:
        if int(file.read()) < 1024:
            found = subprocess.run(["tests/bench/holders.sh"], stdout=subprocess.PIPE, text=True, check=True)
            raise ValueError("kernel.perf_event_max_stack could not be raised: call chains in use; with "
                             "perf events: " + (", ".join(map(str.strip, found.stdout.splitlines())) or "none"))
    bench = Bench(quick)
    try:
        if bench.insns:
            table.row("verified instructions of on_sample", bench.insns, "", INSNS_MAX - 1, "",  0)
            if bench.insns >= INSNS_MAX:
                raise ValueError("the verifier follows too many instructions")
        else:
            table.missed("verified instructions of on_sample", "Linux before 5.16")
        turns, ms = (3, 150) if quick else (7, 300)
        chain_part(bench, "warm, 999 Hz, spinning leaf", 999, ms, turns, False)
        if not quick:
            chain_part(bench, "cold, 99 Hz, the leaf writes to 32 MiB at random", 99, 800, 5, True)
        program_part(bench, 99, 1000, 2 if quick else 5)
        if not quick:
            program_part(bench, 999, 500, 5)
        search_part(bench, 3 if quick else 5)
        single_part(bench, 2 if quick else 6)
    finally:
        bench.close()
