#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Files of other profilers, read by stacktop: each function has the samples that the file says.

What a file says is known without stacktop's reader: from the report of which the file was made, from
`go tool pprof`, or from a sum over the text of `perf script` that is made here.

Covers: tui/import/import.c tui/import/import_read.c tui/import/import_build.c tui/import/import_names.c
Covers: tui/import/import_pprof.c tui/import/pprof_read.c tui/import/pprof_value.c tui/import/import_folded.c
Covers: tui/import/import_script.c tui/import/script_line.c tui/import/import_perfdata.c tui/diff.c
Covers: tui/session/session_import.c
"""

import collections
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "live"), os.path.join(HERE, "..", "export")]
import formats  # noqa: E402
from live import STACKTOP, Tap  # noqa: E402
import rights  # noqa: E402

DEMO = os.path.join(HERE, "..", "..", "..", "docs", "demo.session")
KERNEL_DSO = re.compile(r"\[(kernel|guest\.kernel).*|\[(?!vdso|unknown|vsyscall|heap|stack)\w+\]|.*\.ko|bpf_prog_.*")


def run(*options, stdin=None, env=None, **more):
    done = subprocess.run([STACKTOP, *options], capture_output=True, timeout=300, check=False, stdin=stdin,
                          env=env, **more)
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def imported(path, *options):
    out, err, status = run("-r", path, "-b", "--format", "json", *options)
    return out if status == 0 else f"{status}: {err}"


def by_name(stacks):
    """{name: (self, total)}, whatever the modules are."""
    plain = collections.Counter()
    for stack, count in stacks.items():
        plain[tuple(frame[0] for frame in stack)] += count
    return formats.per_function(plain)


def processes(text, member="samples"):
    found = collections.Counter()
    for report in formats.json_objects(text):
        for process in report["processes"]:
            found[process["name"]] += process[member]
    return +found


# --- stacktop's own files -------------------------------------------------------------------------

def export(folder, *options):
    found = {}
    for name in ("json", "folded", "perf", "pprof"):
        path = found[name] = os.path.join(folder, f"own.{name}")
        run("-r", DEMO, "-b", "--format", name, "-o", path, *options)
    with open(found["json"], encoding="utf-8") as file:
        return found, file.read()


def check_own(tap, files, text):
    want = formats.json_stacks(text)
    marked = formats.json_folded(text)
    tap.ok(sum(want.values()) > 10000, "there is something to compare", str(sum(want.values())))
    for name in ("pprof", "perf", "folded"):
        found = imported(files[name])
        if name == "folded":
            tap.ok(formats.json_folded(found) == marked, f"{name}: the same stacks, and marks")
        else:
            expected = formats.perf_words(want) if name == "perf" else want
            stacks = formats.json_stacks(found)
            tap.ok(stacks == expected, f"{name}: the same stacks, and modules",
                   str(list((stacks - expected).items())[:3]))
            tap.ok(formats.per_function(stacks) == formats.per_function(expected),
                   f"{name}: self and total of each function")
        threads = processes(text)
        tap.ok(name == "perf" or processes(found) == threads, f"{name}: the same processes",
               str(processes(found)))
        out, err, status = run("-r", files[name], "-b", "--format", "folded")
        again = formats.folded(out)
        tap.ok(status == 0 and not err and sum(again.values()) == sum(want.values()),
               f"{name}: written as folded again", err)
    kinds = collections.Counter()
    for content in (text, imported(files["pprof"])):
        for report in formats.json_objects(content):
            for func in report["functions"]:
                kinds[content is text, func["kind"]] += func["self"]
    tap.ok(kinds[True, "kernel"] == kinds[False, "kernel"] > 0, "pprof: frames of the kernel are known",
           str(kinds))
    reports = len(formats.json_objects(imported(files["perf"])))
    tap.ok(abs(reports - len(formats.json_objects(text))) <= 2, "perf: a slice for each second", str(reports))


def check_waits(tap, folder):
    files, text = export(folder, "-e", "off-cpu")
    want = formats.json_stacks(text, "time")
    found = formats.json_stacks(imported(files["pprof"], "-e", "off-cpu"), "time")
    tap.ok(want and found == want, "pprof: waits, and how long they took",
           f"{sum(want.values())} us, {sum(found.values())}")
    counts = formats.json_stacks(imported(files["pprof"], "-e", "off-cpu"))
    tap.ok(counts == formats.json_stacks(text), "pprof: how many waits there were")
    found = formats.json_stacks(imported(files["perf"], "-e", "off-cpu"), "time")
    # What a record has beyond whole microseconds goes to the next one.
    short = [abs(found[stack] - time) for stack, time in formats.perf_words(want).items()]
    tap.ok(abs(sum(found.values()) - sum(want.values())) <= 1 and max(short) < 1000,
           "perf: how long waits took", f"{sum(found.values())} of {sum(want.values())} us, {max(short)}")


def check_diff(tap, folder, files):
    for a, b in (("pprof", "folded"), ("folded", "pprof")):
        out, err, status = run("--diff", files[a], files[b])
        points = re.findall(r" ([+-]\d+\.\d\d) ", out)
        tap.ok(status == 0 and not err and len(points) > 40 and set(points) == {"+0.00"},
               f"--diff of {a} and {b}: no change", err or str(set(points)))
    out, err, status = run("--diff", DEMO, files["pprof"])
    tap.ok(status == 0 and set(re.findall(r" ([+-]\d+\.\d\d) ", out)) == {"+0.00"},
           "--diff of a session and pprof: no change", err)
    picture = os.path.join(folder, "picture.txt")
    _, err, status = run("-r", DEMO, "--baseline", files["pprof"], "--screenshot", picture)
    with open(picture, encoding="utf-8") as file:
        screen = file.read()
    good = status == 0 and "the difference from own.pprof" in screen and "vs BASE" in screen
    tap.ok(good, "the screen compares with a pprof file", "" if good else err + screen)


def check_pipes(tap, folder, files, text):
    want = sum(formats.json_stacks(text).values())
    for name in ("pprof", "folded", "perf"):
        with subprocess.Popen(["cat", files[name]], stdout=subprocess.PIPE) as cat:
            out, err, _ = run("-r", "/dev/stdin", "-b", "--format", "json", stdin=cat.stdout)
        count = sum(report["samples"] for report in formats.json_objects(out))
        tap.ok(count == want, f"{name} from a pipe", err)
    with open(DEMO, "rb") as file:
        out, err, status = run("-r", "/dev/stdin", "-b", stdin=file)
    tap.ok(status == 0 and "samples" in out, "a session is opened by its descriptor", err.strip())
    named = os.path.join(folder, "named.txt")
    with open(files["folded"], "rb") as plain, gzip.open(named, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    count = sum(report["samples"] for report in formats.json_objects(imported(named)))
    tap.ok(count == want, "folded stacks, gzipped, of any name")


# --- what is wrong --------------------------------------------------------------------------------

def bomb(path):
    """Writes a gzip file of 1.2 GB of zeros; returns its size. Deflate's blocks of 12 MB are made once."""
    zeros = bytes(12000000)
    deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    block = deflate.compress(zeros) + deflate.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(100):
        check = zlib.crc32(zeros, check)
    with open(path, "wb") as file:
        file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + 100 * block + deflate.flush())
        file.write(struct.pack("<II", check, 100 * len(zeros)))
        return file.tell()


def check_refused(tap, folder, files):
    with open(files["pprof"], "rb") as file:
        packed = file.read()
    plain = gzip.decompress(packed)
    path = os.path.join(folder, "wrong")
    for what, data, want in (
            ("nothing", b"", "is empty"),
            ("a cut gzip file", packed[:len(packed) // 2], "is cut off"),
            ("a damaged gzip file", packed[:99] + b"\xff\0\xff" * 9 + packed[126:], "is damaged"),
            ("a cut pprof file", plain[:len(plain) // 2], "at byte"),
            ("a pprof file of samples only", plain[:9], "pprof"),
            ("text", b"Dear reader,\nthis is no profile\n", "is not a stacktop session"),
            ("one line of many", b"a;b 3\nnonsense\n", "line 2 "),
            ("too many", b"a;b 281474976710655\nc;d 281474976710655\n", "larger numbers"),
            ("a deep stack", b"a" + b";b" * 20000 + b" 3\n", "16384 frames"),
            ("a stranger's perf.data", b"PERFILE2" + b"x" * 999, "perf")):
        with open(path, "wb") as file:
            file.write(data)
        out, err, status = run("-r", path, "-b")
        tap.ok(status == 1 and not out and err.startswith(f"stacktop: {path}: ") and want in err and
               err.count("\n") == 1, f"refused: {what}", err.strip())
    with open(path, "wb") as file:
        file.write(b"PERFILE2" + b"x" * 999)
    _, err, status = run("-r", path, "-b", env={**os.environ, "PATH": folder})
    tap.ok(status == 1 and "perf script -i FILE" in err, "without perf the remedy is named", err.strip())
    size = bomb(path)
    _, err, status = run("-r", path, "-b")
    tap.ok(status == 1 and "more than 1024 MiB" in err, f"refused: {size} bytes that are 1.2 GB", err.strip())


# --- Go -------------------------------------------------------------------------------------------

def go_top(path, index, unit):
    """{function: (self, total)} of `go tool pprof -top`."""
    # From Go 1.25 on the tool is built first.
    done = subprocess.run(["go", "tool", "pprof", "-top", "-symbolize=none", f"-sample_index={index}",
                           f"-unit={unit}", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", path],
                          capture_output=True, timeout=600, check=False, text=True,
                          env={**os.environ, "PPROF_TMPDIR": os.path.dirname(path)})
    found = collections.Counter(), collections.Counter()
    for line in done.stdout.splitlines():
        match = re.match(r" *(\d+)\w* +[\d.]+% +[\d.]+% +(\d+)\w* +[\d.]+%  (\S.*?)( \((?:partial-)?inline\))?$",
                         line)
        if match:
            for kind, number in enumerate(match.groups()[:2]):
                found[kind][match.group(3)] += int(number)
    return {name: (found[0][name], found[1][name]) for name in found[1]}


def go_agrees(tap, what, path, index, unit, value):
    want = go_top(path, index, unit)
    want = {name: sums for name, sums in want.items() if sums[1]}
    found = by_name(formats.json_stacks(imported(path), value))
    wrong = [(name, want.get(name), found.get(name)) for name in {*want, *found}
             if want.get(name) != found.get(name)]
    tap.ok(want and not wrong, f"{what}: self and total of {len(want)} functions as go tool pprof has them",
           str(wrong[:4]))


def check_go(tap, folder):
    if shutil.which("go") is None:
        tap.skip("profiles of a Go program", "no go")
        return
    program, cpu, heap = (os.path.join(folder, name) for name in ("profiled", "cpu.pb.gz", "heap.pb.gz"))
    done = subprocess.run(["go", "build", "-o", program, os.path.join(HERE, "profiled.go")],
                          capture_output=True, check=False, text=True,
                          env={"GOCACHE": os.path.join(folder, "cache"), **os.environ, "GO111MODULE": "off"})
    tap.ok(done.returncode == 0, "the Go program is built", done.stderr)
    subprocess.run([program, cpu, heap], check=True, stdout=subprocess.DEVNULL)
    go_agrees(tap, "CPU profile", cpu, "samples", "count", "samples")
    report = formats.json_objects(imported(cpu))[0]
    tap.ok(report["event"] == "cpu-clock" and report["frequency"] == 100 and report["unit"] == "microseconds" and
           report["weight"] == 10000 * report["samples"] and report["processes"][0]["name"] == "profiled",
           "CPU profile: a clock of 100 Hz", json.dumps({k: v for k, v in report.items() if k != "stacks"})[:300])
    go_agrees(tap, "heap profile", heap, "inuse_space", "B", "events")
    report = formats.json_objects(imported(heap))[0]
    tap.ok(report["event"] == "inuse_space" == report["unit"], "heap profile: bytes in use", report["event"])
    out, _, _ = run("-r", heap, "-b")
    tap.ok(re.search(r"of its \d[\d.kM]* bytes", out), "heap profile: they are called bytes")
    lines = {func["name"]: (func.get("file", ""), func.get("line")) for func in report["functions"]}
    tap.ok(lines["main.keep"][0].endswith("profiled.go"), "heap profile: source lines", str(lines["main.keep"]))


# --- perf -----------------------------------------------------------------------------------------

def script_text(data, *fields):
    return subprocess.run(["perf", "script", "--no-inline", *fields, "-i", data], capture_output=True,
                          check=True).stdout.decode()


def script_stacks(text):
    """What the text of perf script says: {(name, ...): records}, outermost first, and the same folded."""
    stacks, folded = collections.Counter(), collections.Counter()
    comm, frames = None, []
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if comm:
                stacks[tuple(name for name, _ in reversed(frames))] += 1
                folded[";".join([comm, *(name.replace(";", ":") + ("_[k]" if KERNEL_DSO.fullmatch(dso) else "")
                                         for name, dso in reversed(frames))])] += 1
            comm, frames = None, []
        elif line[0] not in "\t ":
            comm = re.match(r"(.*?)\s+\d+(/\d+)? ", line).group(1)
        else:
            name, dso = re.fullmatch(r"\s+[0-9a-f]+ (.*) \((.*)\)", line).groups()
            frames.append((re.sub(r"\+0x[0-9a-f]+$", "", name), dso))
    return stacks, folded


def check_perf(tap, folder):
    data = os.path.join(folder, "perf.data")
    work = "python3 -c 'import zlib; [zlib.compress(bytes(range(256))*99) for _ in range(1500)]; " \
           "print(sum(len(open(\"/proc/self/maps\").read()) for _ in range(900)))' & " \
           "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; wait"
    if shutil.which("perf") is None or subprocess.run(
            ["perf", "record", "-g", "-F", "499", "-o", data, "sh", "-c", work],
            capture_output=True, check=False).returncode:
        lacks = rights.missing("CAP_PERFMON")
        tap.skip("perf script and perf.data", f"no {lacks}" if lacks else "no perf, or no permission")
        return
    text = script_text(data)
    stacks, folded = script_stacks(text)
    want = formats.per_function(stacks)
    tap.ok(sum(stacks.values()) > 100, "perf has recorded something", str(sum(stacks.values())))
    paths = {"perf.data": data}
    for name, fields in (("perf script", ()), ("-F without a PID", ("-F", "comm,tid,time,event,ip,sym,dso")),
                         ("-F with all", ("-F", "comm,pid,tid,time,period,event,ip,sym,symoff,dso"))):
        paths[name] = os.path.join(folder, f"script{len(paths)}")
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write(script_text(data, *fields))
    for name, path in paths.items():
        found = by_name(formats.json_stacks(imported(path)))
        tap.ok(found == want, f"{name}: self and total of {len(want)} functions",
               str([(f, want.get(f), found.get(f)) for f in {*want, *found} if want.get(f) != found.get(f)][:4]))
    report = formats.json_objects(imported(data))[0]
    tap.ok(report["event"] != "samples" and {"sh", "python3"} <= set(processes(imported(data))),
           "perf.data: event and processes", f"{report['event']} {report['frequency']} Hz")
    path = os.path.join(folder, "perf.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{stack} {count}\n" for stack, count in folded.items())
    found = by_name(formats.json_stacks(imported(path)))
    tap.ok(found == want, "folded of perf script: self and total of each function")
    out, err, status = run("--diff", data, path)
    tap.ok(status == 0 and set(re.findall(r" ([+-]\d+\.\d\d) ", out)) == {"+0.00"},
           "--diff of perf.data and folded: no change", err)
    flat = os.path.join(folder, "flat.data")
    subprocess.run(["perf", "record", "-F", "499", "-o", flat, "sh", "-c", work], capture_output=True, check=False)
    names = collections.Counter(re.sub(r"\+0x[0-9a-f]+$", "", match.group(1)) for match in
                                re.finditer(r" [a-z][\w:-]*:\s+[0-9a-f]+ (.*) \(.*\)$", script_text(flat), re.M))
    found = by_name(formats.json_stacks(imported(flat)))
    tap.ok(found == {name: (n, n) for name, n in names.items()}, "records without a call chain",
           f"{sum(names.values())}")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_waits(tap, folder)
        files, text = export(folder)
        check_own(tap, files, text)
        check_diff(tap, folder, files)
        check_pipes(tap, folder, files, text)
        check_refused(tap, folder, files)
        check_go(tap, folder)
        check_perf(tap, folder)
    tap.done()


main()
