#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""The command line of the real binary: refused options and their messages, reports as a program reads
them, and exit statuses. Unwind tables are compared with readelf.

Covers: tui/reports.c tui/complain.c
Covers: bpf/report/dump.c tui/options.c tui/main.c tui/collect/child.c tui/export/batch.c tui/collect/procinfo.c
        bpf/sampler/refusal.c
"""

import bisect
import ctypes
import errno
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
          "--bounding-set=-all"]
SHORT = ("-b", "-n", "1", "-d", "0.2")


PATIENCE = 200  # seconds
DELAYS = ("0.3", "1", "5", "20")  # the next if a process got no CPU in the one before


def busy():
    return live.Gentle([os.path.join(live.WORK, "deep90"), "600"])


def sampled(options, count, samples=1):
    """The output of the first delay in which enough was sampled, by count(output)."""
    for delay in DELAYS:
        said = live.stacktop("-b", "-n", "1", "-d", delay, "-F", live.hertz(999), *options, timeout=PATIENCE)
        if said[2] or count(said[0]) >= samples:
            break
    return said


def report_samples(text):
    return live.Report(text).samples


def folded_samples(text):
    return sum(n for _, _, n in live.folded(text))


def says(text, *words):
    """True if the text is a message: has each word, each line has the program's name, no junk."""
    return text.startswith("stacktop: ") and all(word in text for word in words) and \
        not CONTROL.search(text)


def shown(text, status):
    return f"exit {status}: {text.strip()[:150]!r}"


# --- what is refused -----------------------------------------------------------------------------

def check_usage(tap):
    wrong = [
        (["--bogus"], "--bogus"), (["-x"], "-x"), (["-p"], "-p"), (["--pid", "abc"], "abc"),
        (["-p", "0"], "0"), (["-p", "1,"], "1,"), (["-p", "-5"], "-5"),
        (["-p", "99999999999"], "99999999999"), (["-u", "no such user"], "no such user"),
        (["--comm", "("], "("), (["--comm", "[a"], "[a"), (["-C", "x"], "x"), (["-C", "3-1"], "3-1"),
        (["-F", "0"], "0"), (["-F", "10000"], "10000"), (["-F", "abc"], "abc"),
        (["-F", "-1"], "-1"), (["-F", "99.5"], "99.5"), (["-F", ""], "--frequency"),
        (["-e", "nonsense"], "nonsense"), (["-d", "0"], "0"), (["-d", "nan"], "nan"),
        (["-d", "1e9"], "1e9"), (["-b", "-n", "0"], "0"), (["-b", "-n", "-1"], "-1"),
        (["-b", "--format", "xml"], "xml"), (["--memory", "0"], "0"),
        (["--memory", "99999999"], "99999999"), (["-K", "-U"], "--no-kernel"),
        (["--check=1"], "--check"), (["12345"], "12345"), (["-b", "true"], "true"),
        (["--bogus\x1b[31m\n"], "--bogus"), (["-e", "x\x1b]0;t\x07"], "x"),
    ]
    for options, word in wrong:
        out, err, status = live.stacktop(*options)
        tap.ok(status == 2 and not out and says(err, word, "usage: stacktop"),
               f"refused: {' '.join(options)!r}", shown(err, status))


def check_absent(tap):
    out, err, status = live.stacktop("-p", str(free_pid()), *SHORT)
    tap.ok(status == 1 and not out and says(err, "no process"), "a process that does not exist",
           shown(err, status))
    check_absent_among_others(tap)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    out, err, status = live.stacktop("-p", str(thread.native_id), *SHORT)
    done.set()
    thread.join()
    tap.ok(status == 1 and not out and says(err, "thread", str(os.getpid())),
           "the number of a thread", shown(err, status))
    out, err, status = live.stacktop("-C", str(os.cpu_count() + 200), *SHORT)
    tap.ok(status == 1 and not out and says(err, str(os.cpu_count() + 200)),
           "a CPU that does not exist", shown(err, status))
    if os.path.isdir("/sys/bus/event_source/devices/cpu"):
        tap.skip("an event without a counter", "this machine counts cycles")
    else:
        out, err, status = live.stacktop("-e", "cycles", *SHORT)
        tap.ok(status == 1 and not out and says(err, "cpu-clock"), "an event without a counter",
               shown(err, status))


def check_absent_among_others(tap):
    """What is left of -p is sampled; it is one list, however many options gave it."""
    gone = free_pid()
    with busy() as load:
        for given in (("-p", f"{gone},{load.pid}"), ("-p", str(load.pid), "-p", str(gone))):
            out, err, status = sampled((*given, "--format", "folded"), folded_samples)
            tap.ok(status == 0 and folded_samples(out) and says(err, f"no process {gone}"),
                   f"{len(given) // 2} -p with a process that does not exist", shown(err, status))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "screen.txt")
            _, err, status = live.stacktop("-p", f"{gone},{load.pid}", "-n", "1", "-d", "0.3", "--screenshot",
                                           path, timeout=PATIENCE)
            with open(path, encoding="utf-8") as file:
                screen = file.read()
            tap.ok(status == 0 and f"! there is no process {gone}" in screen and
                   says(err, f"no process {gone}"), "the screen and stderr say so", shown(err, status))


def free_pid():
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        pid = int(file.read()) - 1
    while os.path.exists(f"/proc/{pid}"):
        pid -= 1
    return pid


def check_unprivileged(tap, scratch):
    if not shutil.which("setpriv"):
        tap.skip("without privileges", "no setpriv")
        return
    os.chmod(scratch, 0o755)
    program = shutil.copy(live.STACKTOP, os.path.join(scratch, "stacktop"))
    os.chmod(program, 0o755)

    def run(*options):
        done = subprocess.run([*NOBODY, program, *options], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False, text=True, cwd="/")
        return done.stdout, done.stderr, done.returncode

    remedy = re.compile(r"CAP_(BPF|PERFMON)|perf_event_paranoid|unprivileged_bpf_disabled")
    for options in (SHORT, ()):
        out, err, status = run(*options)
        tap.ok(status == 1 and not out and says(err, "sudo") and bool(remedy.search(err)),
               f"without privileges{' in batch' if options else ''}", shown(err, status))
    out, err, status = run("--check")
    tap.ok(status == 1 and "CAP_BPF" in out and not err, "--check without privileges",
           shown(err, status))
    for options in (["--help"], ["--version"], ["--dump-unwind", os.path.realpath("/bin/sh")]):
        out, err, status = run(*options)
        tap.ok(status == 0 and out and not err, f"{options[0]} needs no privileges",
               shown(err, status))


def refuse(call):
    """Before exec: a seccomp filter like a container's that makes a system call fail with EPERM."""
    load, equal, answer = 0x20, 0x15, 0x06  # of linux/filter.h
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in (
        (load, 0, 0, 0), (equal, 0, 1, call), (answer, 0, 0, 0x50000 | errno.EPERM),
        (answer, 0, 0, 0x7fff0000))))
    head = ctypes.create_string_buffer(struct.pack("@HP", 4, ctypes.addressof(program)))
    libc = ctypes.CDLL(None)
    no_new_privs, seccomp, filters = 38, 22, 2
    if libc.prctl(no_new_privs, 1, 0, 0, 0) or libc.prctl(seccomp, filters, head, 0, 0):
        os._exit(99)


def check_refusals(tap):
    """A message names the system call that was refused, or the resource that is too small."""
    def run(before):
        done = subprocess.run([live.STACKTOP, *SHORT], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE, check=False, text=True, preexec_fn=before)
        return done.stdout, done.stderr, done.returncode

    for name, number, cap in (("perf_event_open", 298, "CAP_PERFMON"), ("bpf", 321, "CAP_BPF")):
        out, err, status = run(lambda call=number: refuse(call))
        if status == 99:
            tap.skip(f"{name} refused", "no seccomp filters")
            continue
        tap.ok(status == 1 and not out and says(err, name, cap, "is held", "seccomp filter"),
               f"{name} refused by a filter", shown(err, status))
    out, err, status = run(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)))
    tap.ok(status == 1 and not out and says(err, "descriptors: 20 are too few", "ulimit -n"),
           "too few descriptors", shown(err, status))


# --- what needs no sampling ----------------------------------------------------------------------

def check_words(tap):
    out, err, status = live.stacktop("--version")
    tap.ok(status == 0 and re.fullmatch(r"stacktop \d+\.\d+(\.\d+)?\n", out) and not err,
           "--version", shown(out, status))
    out, err, status = live.stacktop("--help")
    options = ["--pid", "--comm", "--user", "--cpu", "--frequency", "--event", "--delay",
               "--no-kernel", "--no-user", "--batch", "--iterations", "--format", "--memory",
               "--dump-unwind", "--check", "--force", "--version", "--help"]
    missing = [option for option in options if option not in out]
    tap.ok(status == 0 and not missing and not err and "-- COMMAND" in out, "--help",
           f"missing {missing}")
    tap.ok(max(map(len, out.splitlines())) <= 80, "--help fits in 80 columns")


def check_check(tap):
    out, err, status = live.stacktop("--check")
    lines = out.splitlines()
    tap.ok(status == 0 and not err and len(lines) > 5 and
           all(re.match(r"(ok|no|--)  \S", line) for line in lines) and
           not any(line.startswith("no") for line in lines), "--check", shown(err, status))


# --- unwind tables -------------------------------------------------------------------------------

def readelf_rows(path):
    """[(first, end, [(pc, CFA, FP, RA)])] of the FDEs, the columns in readelf's words."""
    text = subprocess.run(["readelf", "-wF", path], capture_output=True, text=True,
                          check=True).stdout
    text = text.split("Contents of the .eh_frame section:", 1)[1].split("\nContents of the ", 1)[0]
    cies, fdes = {}, []
    rows = columns = None
    for line in text.splitlines():
        entry = re.match(r"([0-9a-f]+) \S+ \S+ (?:(CIE)|FDE cie=([0-9a-f]+) "
                         r"pc=([0-9a-f]+)\.\.([0-9a-f]+))", line)
        if entry:
            rows = []
            if entry.group(2):
                cies[entry.group(1)] = rows
            else:
                fdes.append((int(entry.group(4), 16), int(entry.group(5), 16), rows,
                             cies[entry.group(3)]))
        elif line.split()[:2] == ["LOC", "CFA"]:
            columns = line.split()
        elif rows is not None and re.match(r"[0-9a-f]{16} ", line):
            row = dict(zip(columns, line.split()))
            rows.append((int(row["LOC"], 16), row["CFA"], row.get("rbp", "u"), row["ra"]))
    return sorted((first, end, rows or [(first, *cie[0][1:])]) for first, end, rows, cie in fdes)


def same(cfa, fp, ra, row):
    """Equal, as far as readelf shows: it writes exp (vexp for a value) for every expression."""
    outermost = row[3] == "u"
    short = cfa == row[1] or cfa == "expr" and outermost or \
        row[1] == "exp" and (cfa in ("plt", "expr") or cfa.startswith("*("))
    return short and (outermost or fp == row[2] or row[2] in ("exp", "vexp") and
                      (fp == "expr" or fp.startswith("*("))) and \
        (ra == row[3] or row[3] in ("exp", "vexp") and ra == "expr")


def check_dump(tap, path):
    out, err, status = live.stacktop("--dump-unwind", path)
    table = [line.split("\t") for line in out.splitlines()]
    shape = all((len(row) == 4 or row[4:] == ["derived"]) and re.fullmatch(r"[0-9a-f]+", row[0]) for row in table)
    pcs = [int(row[0], 16) for row in table] if shape else []
    tap.ok(status == 0 and shape and pcs == sorted(set(pcs)) and pcs, f"{path}: a table",
           f"{len(pcs)} rows{', ' + err.strip() if err.strip() else ''}")
    tap.ok(all(a[1:] != b[1:] for a, b in zip(table, table[1:])), f"{path}: neighbours differ")
    wrong, compared, covered = [], 0, []
    for first, end, rows in readelf_rows(path):
        covered.append((first, end))
        for row, after in zip(rows, rows[1:] + [(end,)]):
            for pc in {row[0], after[0] - 1} if after[0] > row[0] else ():
                at = bisect.bisect_right(pcs, pc) - 1
                compared += 1
                if at < 0 or len(table[at]) > 4 or not same(*table[at][1:], row):
                    wrong.append(f"{pc:x}: {table[at][1:] if at >= 0 else None}, not {row[1:]}")
    tap.ok(compared > 1000 and not wrong, f"{path}: it has every row of readelf's",
           f"{compared} places, {len(wrong)} differ")
    for line in wrong[:10]:
        tap.note(line)
    # The other way round: addresses outside all FDEs are `end` or derived from the machine code,
    # except for stubs of the PLT.
    starts = [first for first, _ in covered]
    extra = []
    for pc, row in zip(pcs, table):
        at = bisect.bisect_right(starts, pc) - 1
        inside = at >= 0 and pc < covered[at][1]
        if not inside and row[1] != "end" and len(row) == 4 and row[1:] != ["rsp+8", "u", "c-8"]:
            extra.append("\t".join(row))
    tap.ok(not extra, f"{path}: it has no other rows", f"{len(extra)} more {extra[:3]}")


def loaded_end(elf):
    """The end of what is mapped; what is behind that, as section headers, may be missing."""
    at, size, count = struct.unpack_from("<32xQ14xHH", elf)
    headers = [struct.unpack_from("<IIQQQQ", elf, at + i * size) for i in range(count)]
    return max(offset + length for kind, _, offset, _, _, length in headers if kind == 1)


def check_not_elf(tap, scratch):
    def made(name, content):
        path = os.path.join(scratch, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    with open(live.STACKTOP, "rb") as file:
        elf = file.read()
    cases = [
        ("a text file", made("text", b"not a program\n" * 10)), ("an empty file", made("none", b"")),
        ("a missing file", os.path.join(scratch, "missing")), ("a directory", scratch),
        ("a device", "/dev/zero"),
        ("an ELF header cut short", made("cut40", elf[:40])),
        ("an ELF file without its end", made("cut", elf[:loaded_end(elf) // 2])),
        ("a name with an escape sequence", os.path.join(scratch, "x\x1b[31m\n")),
    ]
    for name, path in cases:
        out, err, status = live.stacktop("--dump-unwind", path)
        tap.ok(status == 1 and not out and says(err, os.path.basename(path)[:1]),
               f"--dump-unwind of {name}", shown(err, status))


# --- reports -------------------------------------------------------------------------------------

def check_reports(tap):
    with busy() as load:
        start = time.monotonic()
        out, err, status = live.stacktop("-b", "-n", "2", "-d", "0.5")
        seconds = time.monotonic() - start
        parts = live.reports(out)
        tap.ok(status == 0 and not live.errors(err, (load.pid,)) and len(parts) == 2 and
               all(part.seconds > 0 and part.hertz == 99 for part in parts) and
               0.99 <= sum(part.seconds for part in parts) <= seconds,
               "-b -n 2 -d 0.5: two reports", f"{len(parts)} in {seconds:.1f} s")
        out, err, status = live.stacktop("-b", "-n", "1", "-d", "0.3", "-F", "499", "-C", "0")
        part = live.Report(out)
        tap.ok(status == 0 and part.hertz == 499 and part.cpus == 1, "-F 499 -C 0",
               out.splitlines()[0])
        out, _, status = sampled(("-p", str(load.pid)), report_samples)
        tap.ok(status == 0 and {pid for pid, _, _ in live.Report(out).procs} == {load.pid},
               "-p: only this process")
        out, _, status = sampled(("--comm", "^deep90$"), report_samples)
        tap.ok(status == 0 and load.pid in {pid for pid, _, _ in live.Report(out).procs} and
               all("deep90" in name for _, _, name in live.Report(out).procs),
               "--comm: only processes of this name")
        out, _, status = live.stacktop(*SHORT, "-u", "65533")
        tap.ok(status == 0 and not live.Report(out).procs, "-u: a user without processes")
        out, _, status = sampled(("-p", str(load.pid), "-K", "--format", "folded"), folded_samples)
        tap.ok(status == 0 and out and "_[k]" not in out, "-K: no kernel frames")
        out, _, status = live.stacktop(*SHORT, "-F", live.hertz(999), "-U", "--format", "folded")
        tap.ok(status == 0 and all(not user for user, _, _ in live.folded(out)),
               "-U: no user frames")
        check_quiet_end(tap)
        check_signals(tap, load.pid)


def check_process(tap):
    """The user and the command line of a process, as ps shows them: a user in effect only, and an empty
    word among the words. The number stands for the name until a busy machine has looked it up."""
    spin = "import os; os.setresuid(0, 65534, 0); print(1, flush=True)\nwhile True: pass"
    with live.Load([sys.executable, "-c", spin, "two words", "", "end"], stdout=subprocess.PIPE) as load:
        load.stdout.readline()
        want = subprocess.run(["ps", "-ww", "-o", "euser=", "-o", "args=", "-p", str(load.pid)],
                              capture_output=True, text=True, check=True).stdout.split(None, 1)
        with live.Stream("-d", "0.2", "-p", str(load.pid)) as top:
            found = top.until(lambda slices: [
                process for part in slices for process in part.json["processes"]
                if process["user"] == want[0]], PATIENCE)
            top.stop()
    # ps shows line ends differently, so they are removed.
    said = {(process["user"], process["command"][-len("two words  end"):]) for process in found or []}
    tap.ok(said == {(want[0], "two words  end")} and want[1].rstrip("\n").endswith("two words  end"),
           "a process has the user and command line of ps", f"{said}, ps: {want}")


def check_quiet_end(tap):
    for what in ("-b -d 0.1", "-b -d 0.1 --format folded", "--help",
                 "--dump-unwind " + live.STACKTOP):
        done = subprocess.run(["bash", "-c", f"'{live.STACKTOP}' {what} | head -1; "
                               "exit ${PIPESTATUS[0]}"], capture_output=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, check=False)
        tap.ok(done.returncode == 0 and not live.errors(done.stderr.decode(), ()) and
               done.stdout.count(b"\n") == 1,
               f"{what.split('/')[0].strip()} | head -1: quiet end",
               shown(done.stderr.decode(), done.returncode))
    for what in (["--help"], ["-b", "-n", "1", "-d", "0.1"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([live.STACKTOP, *what], stdout=full, stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        err = live.errors(done.stderr.decode(), ())
        tap.ok(done.returncode == 1 and says(err, "No space left"),
               f"{what[0]} onto a full disk: a message", shown(err, done.returncode))


def perf_events(pid):
    try:
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return 0
    return sum("perf_event" in link for link in links)


def until_sampled(top, pid):
    """Waits until it has opened its events, for each CPU one that samples and one that records
    processes, and the process has then run for a third of a second."""
    end, began = time.monotonic() + PATIENCE, None
    while time.monotonic() < end and top.poll() is None:
        if began is None and perf_events(top.pid) >= 2 * os.sysconf("SC_NPROCESSORS_ONLN"):
            began = live.process_seconds([pid])
        if began is not None and live.process_seconds([pid]) > began + 0.3:
            return
        time.sleep(0.05)


def check_signals(tap, pid):
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([live.STACKTOP, "-b", "-d", "3000", "-F", "499", "-p", str(pid)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        until_sampled(process, pid)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        parts = live.reports(out.decode())
        tap.ok(process.returncode == 0 and not live.errors(err.decode(), (pid,)) and
               len(parts) == 1 and parts[0].samples > 100,
               f"{number.name}: prints what it has and ends",
               f"{parts[0].samples if parts else 0} samples, exit {process.returncode}")


def check_command(tap, scratch):
    out, err, status = live.stacktop("-b", "-d", "3000", "--", "sh", "-c", "sleep 0.3; exit 3",
                                     timeout=PATIENCE)
    tap.ok(status == 3 and not live.errors(err, ("sh", "sleep")) and len(live.reports(out)) == 1,
           "COMMAND: ends with it and with its status", f"exit {status}")
    out, err, status = live.stacktop("-b", "--", "sh", "-c", "echo its own; sleep 1.3; kill -9 $$")
    tap.ok(status == 137 and out == "its own\n" and len(live.reports(err)) == 1 and
           live.Report(err).seconds > 1.2,
           "COMMAND: its output is untouched, the report goes to stderr",
           shown(err, status))
    path = os.path.join(scratch, "report")
    out, err, status = live.stacktop("-b", "-o", path, "--", "echo", "its own")
    with open(path, encoding="utf-8") as file:
        report = file.read()
    tap.ok(status == 0 and out == "its own\n" and not live.errors(err, ("echo",)) and
           len(live.reports(report)) == 1,
           "COMMAND: or the report goes to a file", shown(err, status))
    # It prints the signal that it got, and ends by itself.
    process = subprocess.Popen([live.STACKTOP, "-b", "--", "sh", "-c",
                                "trap 'echo told; sleep 0.5; exit 7' TERM; echo up; "
                                "while :; do sleep 0.1; done"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    tap.ok(first == b"up\n" and out == b"told\n" and process.returncode == 7 and
           len(live.reports(err.decode())) == 1, "COMMAND: signals are passed on",
           f"{out} exit {process.returncode}")
    # A grandchild burns; processes older than the command must not be in the report.
    with busy() as load:
        out, err, status = live.stacktop(
            "-b", "-d", "3000", "-F", live.hertz(1999), "--", "sh", "-c",
            f"'{os.path.join(live.WORK, 'deep90')}' 2 >&2; :", timeout=PATIENCE)
    report = live.Report(out)
    total = sum(count for _, count, _ in report.procs)
    # The shell's command line has the name, too, and the shell gets a sample now and then.
    mine = max((count for _, count, name in report.procs if "deep90" in name), default=0)
    tap.ok(status == 0 and mine > 20 and mine == max(n for _, n, _ in report.procs) and
           not any(pid == load.pid for pid, _, _ in report.procs),
           "COMMAND: it and its children only", f"{mine} of {total} samples")
    secret = os.path.join(scratch, "not-executable")
    with open(secret, "w", encoding="ascii") as file:
        file.write("x")
    for name, program, code in (("does not exist", "/nonexistent/program", 127),
                                ("is no program", secret, 126)):
        out, err, status = live.stacktop("-b", "-d", "3000", "--", program)
        tap.ok(status == code and not out and says(err, program), f"COMMAND {name}",
               shown(err, status))


# --- folded stacks -------------------------------------------------------------------------------

def grammar(text):
    """Yields the lines that do not read comm;frame;...;frame COUNT."""
    for line in text.split("\n")[:-1]:
        stack, blank, count = line.rpartition(" ")
        comm, *frames = stack.split(";")
        kernel = [frame.endswith("_[k]") for frame in frames]
        fine = blank and re.fullmatch(r"[1-9]\d*", count) and comm and frames and all(frames) and \
            len(comm.encode()) <= 15 * 3 and not CONTROL.search(line) and \
            "\ufffd" not in line and kernel == sorted(kernel)
        if not fine:
            yield line


def patched(program, scratch):
    """A copy of hostile with harmful function names of the same length."""
    with open(os.path.join(live.WORK, program), "rb") as file:
        image = file.read()
    names = {b"placeholder_inner_function": b"in\x1b[2J;r 7\nx;y\x9b31m\xffz\tw",
             b"placeholder_outer_function": b"outer\r\x08 12;evil\x7f\x00"}
    for name, harm in names.items():
        if image.count(name) != 1:
            raise ValueError(f"{name} is not in {program} once")
        harm = harm.rstrip(b"\0").ljust(len(name) - 4, b"_") + b"_[k]"
        image = image.replace(name, harm)
    path = os.path.join(scratch, program)
    with open(path, "wb") as file:
        file.write(image)
    os.chmod(path, 0o755)
    return path


def check_folded(tap, scratch):
    with live.Gentle([patched("hostile", scratch)]) as load, \
            live.Gentle(["sh", "-c", "while :; do cat /proc/self/maps /proc/self/status; done"]):
        time.sleep(0.3)
        out, err, status = sampled(("--format", "folded"), lambda text: text.count("\n"), 6)
        wrong, trouble = list(grammar(out)), live.errors(err, (load.pid, "sh", "cat"))
        tap.ok(status == 0 and not trouble and out.count("\n") > 5 and not wrong,
               "folded: every line can be parsed",
               f"exit {status}: {out.count(chr(10))} lines {wrong[:3]} {trouble}")
        mine, err, status = sampled(("-p", str(load.pid), "--format", "folded"), folded_samples, 30)
        wrong = list(grammar(mine))
        count = sum(n for user, _, n in live.folded(mine) if len(user) >= 3)
        tap.ok(status == 0 and not wrong and count > 20, "folded: hostile names are harmless",
               f"exit {status}, {count} samples {wrong[:3]} {err!r}")
        tap.ok(all(not frame.endswith("_[k]") for line in mine.splitlines()
                   for frame in line.rpartition(" ")[0].split(";") if "evil" in frame) and
               "evil" in mine, "folded: a user function cannot pass for a kernel function",
               mine.splitlines()[0] if mine else "")
        out, err, status = sampled(("-p", str(load.pid)), report_samples, 21)
        found = CONTROL.search(out + err)
        tap.ok(status == 0 and not found and live.Report(out).samples > 20,
               "text: hostile names are harmless",
               repr(found.group()) if found else f"exit {status} {err!r}")
    session = os.path.join(scratch, "session")
    with busy():
        out, _, _ = sampled(("--comm", "^deep90$", "--format", "folded", "-w", session),
                            folded_samples, 50)
    counts = [n for _, _, n in live.folded(out)]
    text, err, _ = live.stacktop("-b", "-r", session)
    taken = sum(report.samples for report in live.reports(text)[-1:])
    tap.ok(counts == sorted(counts, reverse=True) and sum(counts) == taken >= 50,
           "folded: the most frequent first, and all of them",
           f"{sum(counts)} of {taken} samples {err}")


def main():
    tap = live.Tap()
    check_usage(tap)
    check_words(tap)
    with tempfile.TemporaryDirectory(prefix="stacktop-options-") as scratch:
        for path in ("/usr/bin/xz", live.STACKTOP):
            if os.access(path, os.R_OK):
                check_dump(tap, os.path.realpath(path))
        check_not_elf(tap, scratch)
        if os.geteuid() == 0:
            check_unprivileged(tap, scratch)
        live.run_parts(tap, (check_check,), (check_absent,), (check_refusals,), (check_reports,),
                       (check_process,), (check_command, scratch), (check_folded, scratch))
    tap.done()


if __name__ == "__main__":
    main()
