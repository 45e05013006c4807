#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""All formats of the same seconds: each is well-formed, all say the same.

export_feed writes them; the readers of formats.py, written by the formats' documents, take them
apart; Go's own pprof reads its format, too. What is compared is each stack and its count, and the
samples of each function, exactly.

Covers: tui/export/export_json.c tui/export/export_perf.c tui/export/export_pprof.c tui/export/export_speedscope.c
Covers: tui/export/export_firefox.c tui/export/export_svg.c tui/export/export_text.c tui/export/export_model.c tui/export/export_places.c
Covers: tui/util/textpool.h tui/export/flametree.c
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "live"), os.path.dirname(__file__)]
import formats  # noqa: E402
import schemas  # noqa: E402
from live import BUILD, Tap  # noqa: E402

FEED = os.path.abspath(os.path.join(BUILD, "asan", "tests", "tui", "export", "export_feed"))


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        data = file.read()
    return data if name == "pprof" else data.decode("utf-8")


def pprof_tool(folder, *options):
    done = subprocess.run(["go", "tool", "pprof", *options, os.path.join(folder, "pprof")],
                          capture_output=True, timeout=600, check=False, text=True,
                          env={**os.environ, "PPROF_TMPDIR": folder})
    return done.stdout, done.stderr, done.returncode


NAMES = ("json", "folded", "svg", "flame", "pprof", "speedscope", "firefox", "perf")


def compare(tap, folder, what, unit="samples"):
    found = {name: read(folder, name) for name in NAMES}
    for name, stacks, want in formats.agree(found, unit):
        tap.ok(stacks == want and formats.per_function(stacks) == formats.per_function(want),
               f"{what}: {name} has the stacks of the JSON",
               f"{sum(stacks.values())} {unit} in {len(stacks)} stacks")
    return formats.json_stacks(found["json"], unit)


def counts_agree(tap, folder, what):
    """How many waits or samples there are, in the formats that tell it beside the time."""
    want = formats.json_stacks(read(folder, "json"))
    tap.ok(formats.pprof(read(folder, "pprof"), "counts") == want, f"{what}: pprof has the counts")
    count = sum(want.values())
    profile = json.loads(read(folder, "firefox"))
    tap.ok(sum(sum(thread["samples"]["count"]) for thread in profile["threads"]) == count,
           f"{what}: firefox has the counts")
    root = formats.svg_frames(read(folder, "svg"), False)[0][3]
    tap.ok(re.search(rf"; {count} (waits|samples|waits and samples)$", root[2]),
           f"{what}: the drawing has the counts", root[2])


def waits_are_named(tap, folder, what):
    """A measure has its cells and no others, and the causes of waits."""
    reports = formats.json_objects(read(folder, "json"))
    causes = {func["name"] for report in reports for func in report["functions"]
              if func["kind"] == "wait"}
    known = {"on", "runnable", "lock", "sleep", "poll", "pipe", "socket", "disk", "fault", "child",
             "stopped", "other"}
    tap.ok(causes == (known if what == "wall" else known - {"on"}), f"{what}: all causes are there",
           str(causes))
    kinds = {func["kind"] for report in reports for func in report["functions"]}
    tap.ok(not kinds & {"time", "lock", "waker"}, f"{what}: nothing else is", str(kinds))
    ends = [report["functions"][stack["frames"][-1]]["kind"] if stack["frames"] else None
            for report in reports for stack in report["stacks"]]
    tap.ok(("wait" in ends) and (set(ends) == {"wait"}) == (what == "off-cpu"),
           f"{what}: waits end in their cause", str(set(ends)))
    leaves = {line.rpartition(" ")[0].rpartition(";")[2] for line in read(folder, "folded").splitlines()}
    tap.ok({f"[{name}]" for name in causes} <= leaves and not causes & leaves,
           f"{what}: folded has them in brackets", str(leaves))
    profile = json.loads(read(folder, "firefox"))
    names = [category["name"] for category in profile["meta"]["categories"]]
    found = {thread["stringArray"][thread["funcTable"]["name"][func]]
             for thread in profile["threads"]
             for func, category in zip(thread["frameTable"]["func"], thread["frameTable"]["category"])
             if names[category] == "Waits"}
    tap.ok(found == {f"[{name}]" for name in causes}, f"{what}: firefox has a category of them",
           str(found))
    heads = [match for match in map(formats.PERF_HEAD.match, read(folder, "perf").splitlines()) if match]
    count = sum(report["samples"] for report in reports)
    # Of many waits of one stack only some have a record of their own.
    tap.ok(300 < len(heads) < count and {head.group(6) for head in heads} == {what} and
           all(int(head.group(5)) > 0 for head in heads), f"{what}: perf has it as the event",
           f"{len(heads)} records of {count}")


TYPES = {
    "off-cpu": [("waits", "count"), ("off-cpu", "nanoseconds")],
    "wall": [("samples", "count"), ("wall", "nanoseconds")],
    "page-faults": [("samples", "count"), ("page-faults", "count")],
}


def with_frames(stacks):
    return {stack: count for stack, count in stacks.items() if stack}


def go_agrees(tap, folder, what, reference):
    """Go's pprof adds up what each function has of its own, by either type."""
    types = formats.Pprof(read(folder, "pprof")).types
    tap.ok(types == TYPES[what], f"{what}: pprof has its types", str(types))
    if shutil.which("go") is None:
        tap.skip(f"{what}: go tool pprof", "no go")
        return
    counts = formats.json_stacks(read(folder, "json"))
    out, err, status = pprof_tool(folder, "-raw", "-symbolize=none")
    # Up to Go 1.23 it passes over samples of no frames.
    tap.ok(status == 0 and with_frames(formats.pprof_raw(out)) == with_frames(counts),
           f"{what}: go tool pprof -raw agrees on {types[0][0]}", err)
    # Without -sample_index it shows the second type, in seconds with two digits.
    out, err, status = pprof_tool(folder, "-top", *(("-unit=s",) if what != "page-faults" else ()))
    shown = re.search(r"Total samples = ([\d.]+)", out)
    want = sum(n for stack, n in reference.items() if stack)
    if what != "page-faults":
        want /= 1e6
    tap.ok(status == 0 and shown and abs(float(shown.group(1)) - want) <= 0.005,
           f"{what}: go tool pprof agrees on all {types[1][0]}", f"{shown and shown.group(0)}: {want} {err}")



def compare_tool(tap, folder, reference):
    """Go's pprof, as a person would ask it."""
    out, err, status = pprof_tool(folder, "-raw", "-symbolize=none")
    want = with_frames(reference)
    tap.ok(status == 0 and len(want) == len(reference) - 1 and with_frames(formats.pprof_raw(out)) == want,
           "go tool pprof -raw agrees")
    out, err, status = pprof_tool(folder, "-top", "-sample_index=samples", "-nodecount=100000",
                                  "-nodefraction=0", "-edgefraction=0")
    complaints = [line for line in err.splitlines() if line]
    tap.ok(status == 0 and not complaints, "go tool pprof opens it without a complaint",
           "; ".join(complaints))
    top, inlined = {}, 0
    for line in out.splitlines():
        # Partial: one that is inlined into a frame, and has a place of its own behind another.
        match = re.match(r" +(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+%  (\S.*?)"
                         r"( \((?:partial-)?inline\))?$", line)
        if match:
            top[match.group(3)] = int(match.group(1))
            inlined += match.group(4) is not None
    lines, _, status = pprof_tool(folder, "-list", "^f7$", "-sample_index=samples")
    # Of a file that is not there it says so, by its name.
    tap.ok("/src/some file/f7.c" in lines, "go tool pprof -list knows the file",
           str(status))
    lines, _, status = pprof_tool(folder, "-top", "-lines", "-sample_index=samples",
                                  "-nodecount=100000", "-nodefraction=0", "-edgefraction=0")
    found = {int(i) for i, file, line in
             re.findall(r"  f(\d+) /src/some file/f(\d+)\.c:(\d+)", lines)
             if i == file and int(line) == 100 + int(i)}
    tap.ok(status == 0 and found == set(range(12)), "go tool pprof -lines has the lines",
           str(found))
    # It knows functions by their names alone, wherever they are.
    want = {}
    for (name, _), (flat, _) in formats.per_function(reference).items():
        want[name] = want.get(name, 0) + flat
    tap.ok(len(want) > 10 and inlined == 5 and top == want,
           "go tool pprof -top agrees", f"{len(want)} names, {inlined} inlined")


def cpus_agree(tap, folder):
    """Those of the JSON, None where it tells none, in the formats that have CPUs."""
    want, found, lines, shown = (collections.Counter() for _ in range(4))
    for report in formats.json_objects(read(folder, "json")):
        for stack in report["stacks"]:
            want[stack.get("cpu")] += stack["count"]
            if stack["frames"] and "cpu" in stack:  # up to Go 1.23 it passes over samples of no frames
                shown[stack["cpu"]] += stack["count"]
    for _, values, labels in formats.Pprof(read(folder, "pprof")).samples:
        found[int(labels["cpu"]) if "cpu" in labels else None] += values[0]
    for line in read(folder, "perf").splitlines():
        match = re.match(r"\S.*? \d+/\d+(?: \[(\d{3})\])? +\d+\.\d{6}: ", line)
        if match:
            lines[int(match.group(1)) if match.group(1) else None] += 1
    tap.ok(set(want) == {None, 0, 1, 2, 3} and found == want, "pprof has the CPUs of the JSON",
           str(dict(want)))
    tap.ok(lines == want, "perf has the CPUs of the JSON")
    if shutil.which("go"):
        out, _, status = pprof_tool(folder, "-tags", "-sample_index=samples")
        part = out[out.find(" cpu: "):].split("\n\n")[0]
        told = {int(cpu): int(n) for n, cpu in
                re.findall(r"^ +(\d+)(?:\.0)? \([ \d.]+%\): (\d+)$", part, re.M)}
        every = {cpu: count for cpu, count in want.items() if cpu is not None}
        tap.ok(status == 0 and told in (shown, every), "go tool pprof -tags agrees", str(told))


def times_and_losses(tap, folder):
    """As tests/tui/export/export_feed.c gave them: three slices from 1700001000 s on, causes in order."""
    reports = formats.json_objects(read(folder, "json"))
    tap.ok([report["seconds"] for report in reports] == [1.005] * 3, "the JSON has the seconds",
           str([report["seconds"] for report in reports]))
    names = ("counts_full", "stack_ring", "busy", "sideband", "slice", "kernel", "throttled",
             "missed")
    tap.ok(all(report["losses"] == {name: i + 1 for i, name in enumerate(names)}
               for report in reports), "the JSON has the losses", str(reports[0]["losses"]))
    times = [float(time) for time in
             re.findall(r"^\S.*? (\d+\.\d{6}): ", read(folder, "perf"), re.M)]
    tap.ok(abs(times[0] - 1700001000) < 0.001 and abs(times[-1] - 1700001003.015) < 0.01 and
           all(0 <= then - now < 0.01 for now, then in zip(times, times[1:])),
           "perf's samples are spread over the seconds", f"{times[0]} to {times[-1]}")


def labels_of_samples(tap, folder):
    profile = formats.Pprof(read(folder, "pprof"))
    by_thread, by_comm = {}, {}
    for _, values, labels in profile.samples:
        by_thread[labels["pid"], labels["thread"]] = \
            by_thread.get((labels["pid"], labels["thread"]), 0) + values[0]
        by_comm[labels["comm"]] = by_comm.get(labels["comm"], 0) + values[0]
    want_thread, want_comm = {}, {}
    for report in formats.json_objects(read(folder, "json")):
        for stack in report["stacks"]:
            process = report["processes"][stack["process"]]
            key = process["pid"], stack["thread"]
            want_thread[key] = want_thread.get(key, 0) + stack["count"]
            want_comm[process["name"]] = want_comm.get(process["name"], 0) + stack["count"]
    tap.ok(len(by_thread) == 15 and by_thread == want_thread and by_comm == want_comm,
           "pprof labels samples with process, thread and name")
    tap.ok(profile.types == [("samples", "count"), ("cpu", "nanoseconds")] and
           profile.period == 10101010 and profile.duration == 3 * 1005 * 10**6,
           "pprof has its types, its period and its time")
    libs = json.loads(read(folder, "firefox"))["libs"]
    tap.ok(profile.builds == {"liba.so": "0123abcd", "vmlinux": "", "[jit]": "",
                              "/app/run.py": ""} and
           {lib["name"]: lib["codeId"] for lib in libs if lib["codeId"]} ==
           {"liba.so": "0123abcd"}, "build-ids are told", str(profile.builds))


def lines_of_functions(tap, folder, want):
    """No others have lines. None: there is only a file."""
    lines = formats.Pprof(read(folder, "pprof")).lines
    tap.ok({func: line for func, line in lines.items() if line != ("", 0)} ==
           {func: (file, line or 0) for func, (file, line) in want.items()} and
           len(lines) > len(want), "pprof has the lines of functions", str(len(lines)))
    found = {(func["name"], func["module"]): (func.get("file"), func.get("line"))
             for report in formats.json_objects(read(folder, "json"))
             for func in report["functions"]}
    tap.ok({func: line for func, line in found.items() if line != (None, None)} == want and
           len(found) > len(want), "json has the lines of functions", str(len(found)))
    profile = json.loads(read(folder, "firefox"))
    found = {}
    for thread in profile["threads"]:
        strings, funcs, frames = (thread[name] for name in
                                  ("stringArray", "funcTable", "frameTable"))
        for func, line in zip(frames["func"], frames["line"]):
            file, resource = funcs["fileName"][func], funcs["resource"][func]
            key = strings[funcs["name"][func]], "" if resource < 0 else \
                profile["libs"][thread["resourceTable"]["lib"][resource]]["name"]
            found[key] = (None if file is None else strings[file], line)
    tap.ok({func: line for func, line in found.items() if line != (None, None)} == want and
           len(found) > len(want), "firefox has the lines of functions", str(len(found)))


# export_feed gave the functions f0 to f11 of liba.so lines; one function is of Python.
PLAIN_LINES = {(f"f{i}", "liba.so"): (f"/src/some file/f{i}.c", 100 + i) for i in range(12)}
PLAIN_LINES["run", "/app/run.py"] = "/app/run.py", None

# Its functions of languages: category of Firefox, name, source file, line.
LANGUAGES = (
    ("Python", "<module>", "/app/t.py", None),
    ("Python", "main", "/app/t.py", None),
    ("Python", "Thing.method", "/app/t.py", 42),
    ("PHP", "handle", "/www/Kernel.php", None),
    ("Perl", "main::work", "/opt/w.pl", None),
    ("Ruby", "Foo#bar", "/srv/foo.rb", None),
    ("JavaScript", "listen", "/srv/s.js", None),
    ("Java", "com.foo.Bar.baz", "/src/Bar.java", None),
)


def languages_are_named(tap, folder):
    lines_of_functions(tap, folder, {(name, path): (path, line)
                                     for _, name, path, line in LANGUAGES})
    frames = json.loads(read(folder, "speedscope"))["shared"]["frames"]
    found = {(frame["name"], frame["file"], frame.get("line")) for frame in frames
             if frame.get("file", "").startswith("/")}
    tap.ok(found == {row[1:] for row in LANGUAGES}, "speedscope has files and lines of languages",
           str(found))
    text = read(folder, "perf")
    tap.ok(all(f" {name} ({path})\n" in text for _, name, path, _ in LANGUAGES),
           "perf has the files of languages")
    profile = json.loads(read(folder, "firefox"))
    names = [category["name"] for category in profile["meta"]["categories"]]
    found = set()
    for thread in profile["threads"]:
        strings, funcs, frames = (thread[name] for name in
                                  ("stringArray", "funcTable", "frameTable"))
        for func, category in zip(frames["func"], frames["category"]):
            file = funcs["fileName"][func]
            found.add((names[category], strings[funcs["name"][func]],
                       None if file is None else strings[file]))
    tap.ok({row for row in found if row[0] not in ("User", "Kernel", "Walk ended")} ==
           {row[:3] for row in LANGUAGES} and ("User", "main", None) in found,
           "firefox has a category of each language", str(found))
    # The interpreter's own function gives way, but for a stack that has no other.
    names = {func["name"] for report in formats.json_objects(read(folder, "json"))
             for func in report["functions"]}
    tap.ok("lone_eval" in names and "_PyEval_EvalFrameDefault" not in names and
           "eval_frame" not in names and "vectorcall" in names, "frames are merged", str(names))


def json_threads(text):
    """{(pid, tid, name of the process, name of the thread): samples}"""
    found = {}
    for report in formats.json_objects(text):
        own = {(t["process"], t["thread"]): t["name"] for t in report["threads"]}
        for stack in report["stacks"]:
            process = report["processes"][stack["process"]]
            name = own.get((stack["process"], stack["thread"]), process["name"])
            key = process["pid"], stack["thread"], process["name"], name
            found[key] = found.get(key, 0) + stack["count"]
    return found


def threads_by_format(folder):
    """The same of the formats that have threads; perf's has no name of the process."""
    found = {}
    for _, values, labels in formats.Pprof(read(folder, "pprof")).samples:
        key = labels["pid"], labels["thread"], labels["comm"], labels["thread_comm"]
        found[key] = found.get(key, 0) + values[0]
    yield "pprof", found
    yield "firefox", {(int(t["pid"]), t["tid"], t["processName"], t["name"]):
                      sum(t["samples"]["weight"])
                      for t in json.loads(read(folder, "firefox"))["threads"]}
    found = {}
    for profile in json.loads(read(folder, "speedscope"))["profiles"]:
        match = re.fullmatch(r"(.*?) \((\d+)\)(?:, thread (.*) \((\d+)\))?", profile["name"])
        comm, pid, name, tid = match.groups()
        found[int(pid), int(tid or pid), comm, name or comm] = sum(profile["weights"])
    yield "speedscope", found
    found = {}
    for line in read(folder, "perf").splitlines():
        match = formats.PERF_HEAD.match(line)
        if match:
            key = int(match.group(2)), int(match.group(3)), match.group(1)
            found[key] = found.get(key, 0) + 1
    yield "perf", found


def threads_agree(tap, folder):
    want = json_threads(read(folder, "json"))
    names = {key[3] for key in want if key[2] != key[3]}
    tap.ok(len(want) == 15 and names == {"helper", 'at "work" 1'}, "threads have their names",
           str(names))
    for name, found in threads_by_format(folder):
        plain = want
        if name == "perf":
            # A blank before a number would look like the PID to its readers.
            plain = {(pid, tid, comm.replace(" 1", "_1")): count
                     for (pid, tid, _, comm), count in want.items()}
        tap.ok(found == plain, f"{name} has the threads of the JSON", str(len(found)))


def schemas_refuse(tap, folder):
    """Each member that is missing or wrong is found."""
    speedscope = json.loads(read(folder, "speedscope"))
    del speedscope["profiles"][1:]
    frames = speedscope["shared"]["frames"]
    frames[:] = [frame for frame in frames if "file" in frame][:1]
    left = schemas.survivors(speedscope, schemas.SPEEDSCOPE)
    # What it may be without.
    tap.ok(set(left) == {("exporter", "without it"), ("name", "without it"),
                         ("shared.frames.0.file", "without it")} and
           len(list(schemas.mutants(speedscope))) > 30,
           "the schema of speedscope refuses all other changes", str(left))
    firefox = json.loads(read(folder, "firefox"))
    del firefox["threads"][1:]
    left = schemas.survivors(firefox, schemas.FIREFOX)
    optional = {"meta.categories", "meta.debug", "meta.extensions", "meta.importedFrom",
                "meta.logicalCPUs", "meta.sampleUnits", "meta.symbolicated",
                "meta.usesOnlyOneStackType", "meta.doesNotUseFrameImplementation",
                "meta.sourceCodeIsNotOnSearchfox", "pages", "counters", "profilerOverhead",
                "threads.0.processName"}
    tap.ok({path for path, how in left if how == "without it"} == optional and
           all(how == "without it" for _, how in left) and
           len(list(schemas.mutants(firefox))) > 200,
           "the schema of Firefox's profiles refuses all other changes",
           str({path for path, _ in left} ^ optional))


def main():
    tap = Tap()
    for what in ("plain", "hostile", "languages", "empty"):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([FEED, folder, what], timeout=60, check=False)
            tap.ok(done.returncode == 0, f"{what}: all formats are written")
            reference = compare(tap, folder, what)
            if what == "plain":
                tap.ok(sum(reference.values()) > 10000 and len(reference) > 500,
                       "there is something to compare")
                labels_of_samples(tap, folder)
                times_and_losses(tap, folder)
                cpus_agree(tap, folder)
                threads_agree(tap, folder)
                lines_of_functions(tap, folder, PLAIN_LINES)
                schemas_refuse(tap, folder)
            if what == "languages":
                languages_are_named(tap, folder)
            if shutil.which("go") is None:
                tap.skip(f"{what}: go tool pprof", "no go")
            elif what == "plain":
                compare_tool(tap, folder, reference)
            else:
                _, err, status = pprof_tool(folder, "-top", "-sample_index=samples")
                tap.ok(status == 0, f"{what}: go tool pprof opens it", err.strip())
    for what, unit in (("off-cpu", "time"), ("wall", "time"), ("page-faults", "events")):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([FEED, folder, what], timeout=60, check=False)
            tap.ok(done.returncode == 0, f"{what}: all formats are written")
            reference = compare(tap, folder, what, unit)
            tap.ok(len(reference) > 300, f"{what}: there is something to compare", str(len(reference)))
            counts_agree(tap, folder, what)
            go_agrees(tap, folder, what, reference)
            if unit == "time":
                waits_are_named(tap, folder, what)
    tap.done()


main()
