# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of the file formats that stacktop writes, by the formats' own documents.

Each reader checks the form of a file (AssertionError says what is wrong) and returns its samples as
{stack: count}, a stack being a tuple of (name, module) from the outermost frame on; the module is
None in formats that have none. Processes are left out.

A unit says what is counted: "samples", "events" of which samples are only some, or "time", which is
in microseconds.
"""

import collections
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree

import schemas

KERNEL = "_[k]"
INLINE = "_[i]"
LANGUAGES = {"python": "_[py]", "php": "_[php]", "perl": "_[pl]", "ruby": "_[rb]", "js": "_[js]",
             "java": "_[java]"}


def expect(condition, *what):
    assert condition, what


# --- folded: https://github.com/brendangregg/FlameGraph, one stack a line ------------------------

def folded(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        expect(stack and count.isdecimal() and int(count) > 0, line)
        stacks[tuple((frame, None) for frame in stack.split(";")[1:])] += int(count)
    return stacks


# --- the project's JSON: docs/FORMATS.md -----------------------------------------------------------

KINDS = {"user", "kernel", "jit", "end", "inline", "eval", "wait", "time", "lock", "waker", *LANGUAGES}
UNITS = {"samples": "microseconds", "time": "microseconds", "events": "page-faults"}


def json_objects(text):
    return [json.loads(line) for line in text.splitlines()]


def check_members(thing, members):
    expect(set(thing) == set(members), sorted(thing), sorted(members))
    for name, kind in members.items():
        expect(isinstance(thing[name], kind), name, thing[name])
        if kind is int:
            expect(not isinstance(thing[name], bool) and thing[name] >= 0, name, thing[name])


def json_sums(report):
    """Of each process, and self and total of each function, by a name of the number of a stack."""
    for name in ("count", "weight"):
        own, self_, total = collections.Counter(), collections.Counter(), collections.Counter()
        for stack in report["stacks"]:
            own[stack["process"]] += stack[name]
            for func in set(stack["frames"]):
                total[func] += stack[name]
            if stack["frames"]:
                self_[stack["frames"][-1]] += stack[name]
        yield own, self_, total


def json_check(report):
    members = {"waits": dict} if "waits" in report else {}
    check_members(report, {
        **members, "measure": str, "unit": str, "weight": int,
        "stacktop": int, "time": str, "seconds": float, "event": str, "frequency": int,
        "cpus": int, "samples": int, "user_samples": int, "kernel_samples": int, "taken": int,
        "filtered": int, "outside": int, "ticks": int, "idle": int, "walks": int, "complete_walks": int,
        "complete_fp_walks": int, "lost": int, "losses": dict, "processes": list, "threads": list,
        "functions": list, "stacks": list})
    expect(report["stacktop"] == 1)
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", report["time"]))
    expect(all(isinstance(n, int) and n >= 0 for n in report["losses"].values()))
    expect(report["measure"] in ("cpu", "off-cpu", "wall"))
    if members:
        check_members(report["waits"], {name: int for name in ("walks", "thinned", "untaken", "lost", "missed")})
    for stack in report["stacks"]:
        known = {name: value for name, value in stack.items() if name != "cpu"}
        check_members(known, {"process": int, "thread": int, "count": int, "weight": int, "frames": list})
        expect(isinstance(stack.get("cpu", 0), int) and 0 <= stack.get("cpu", 0) < 8192)
        expect(stack["process"] < len(report["processes"]))
        expect(all(0 <= f < len(report["functions"]) for f in stack["frames"]))
    (own, self_, total), (own_weight, self_weight, total_weight) = json_sums(report)
    for i, process in enumerate(report["processes"]):
        check_members(process, {"pid": int, "name": str, "user": str, "command": str,
                                "threads": int, "exited": bool, "samples": int, "weight": int})
        expect((process["samples"], process["weight"]) == (own[i], own_weight[i]))
    for thread in report["threads"]:
        check_members(thread, {"process": int, "thread": int, "name": str})
        expect(thread["process"] < len(report["processes"]))
    seen = set()
    for i, func in enumerate(report["functions"]):
        line = {key: kind for key, kind in (("file", str), ("line", int)) if key in func}
        # Only a file of a language is there without a line.
        expect("line" not in line or "file" in line, func)
        expect("file" not in line or "line" in line or func["kind"] in LANGUAGES, func)
        expect("file" in line or func["kind"] not in LANGUAGES or not func["module"], func)
        check_members(func, {"name": str, "module": str, "kind": str, "self": int, "total": int,
                             "self_weight": int, "total_weight": int, **line})
        expect(func["kind"] in KINDS)
        expect((func["self"], func["total"]) == (self_[i], total[i]), func)
        expect((func["self_weight"], func["total_weight"]) == (self_weight[i], total_weight[i]), func)
        key = func["name"], func["module"], func["kind"]
        expect(key not in seen, key)
        seen.add(key)
    expect(sum(own.values()) == report["samples"])
    expect(sum(own_weight.values()) == report["weight"])


def json_name(func):
    name = func["name"] or "?"
    return f"[{name}]" if func["kind"] in ("end", "wait") else name


def json_value(stack, unit):
    return stack["count" if unit == "samples" else "weight"]


def json_stacks(text, unit="samples"):
    stacks = collections.Counter()
    for report in json_objects(text):
        json_check(report)
        funcs = [(json_name(f), f["module"]) for f in report["functions"]]
        for stack in report["stacks"]:
            stacks[tuple(funcs[f] for f in stack["frames"])] += json_value(stack, unit)
    return stacks


def json_label(func):
    """What folded calls a function of the JSON."""
    name = (func["name"] or "?").replace(";", ":")
    if func["kind"] != "kernel" and name.endswith((KERNEL, INLINE, *LANGUAGES.values())):
        name = name[:-1] + "?"
    return {"kernel": name + KERNEL, "inline": name + INLINE, "end": f"[{name}]", "wait": f"[{name}]",
            **{kind: name + mark for kind, mark in LANGUAGES.items()}}.get(func["kind"], name)


def json_folded(text, unit="samples"):
    """The stacks of the JSON with the names of folded."""
    stacks = collections.Counter()
    for report in json_objects(text):
        labels = [(json_label(func), None) for func in report["functions"]]
        for stack in report["stacks"]:
            stacks[tuple(labels[f] for f in stack["frames"])] += json_value(stack, unit)
    return stacks


# --- pprof: https://github.com/google/pprof/blob/main/proto/profile.proto -------------------------

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def message(data):
    """{field: [values]}; numbers as int, blocks as bytes."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            expect(len(value) == size)
        else:
            raise AssertionError(f"wire type {tag & 7}")
        fields[tag >> 3].append(value)
    return fields


def packed(blocks):
    values = []
    for block in blocks:
        at = 0
        while at < len(block):
            value, at = varint(block, at)
            values.append(value)
    return values


PPROF_UNITS = {"events": "count", "time": "nanoseconds"}


class Pprof:
    def __init__(self, data):
        profile = message(gzip.decompress(data))
        expect(set(profile) <= {1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14}, set(profile))
        strings = self.strings = [s.decode("utf-8") for s in profile[6]]
        expect(strings[0] == "")
        self.types = [(strings[m[1][0]], strings[m[2][0]])
                      for m in map(message, profile[1])]
        self.mappings, self.builds = {0: ""}, {}
        for m in map(message, profile[3]):
            self.mappings[m[1][0]] = strings[m[5][0]]
            self.builds[strings[m[5][0]]] = strings[(m[6] or [0])[0]]
            # has_functions, has_filenames, has_line_numbers, has_inline_frames
            expect([m[field] for field in (7, 8, 9, 10)] == [[1]] * 4)
        functions, files = {}, {}
        for m in map(message, profile[5]):
            expect(m[1][0] not in functions)
            functions[m[1][0]] = strings[m[2][0]]
            files[m[1][0]] = strings[(m[4] or [0])[0]]
        self.lines = {}  # (function, mapping): (file, line)
        self.locations = {}
        for m in map(message, profile[4]):
            expect(m[1][0] and m[1][0] not in self.locations)
            mapping = self.mappings[(m[2] or [0])[0]]
            # Inlined calls come first, and the function that they are in last.
            self.locations[m[1][0]] = [(functions[message(line)[1][0]], mapping)
                                       for line in m[4]]
            for line in map(message, m[4]):
                self.lines[functions[line[1][0]], mapping] = (files[line[1][0]],
                                                              (line[2] or [0])[0])
        self.samples = []
        for m in map(message, profile[2]):
            frames = []
            for location in packed(m[1]):
                frames += self.locations[location]
            values = packed(m[2])
            expect(len(values) == len(self.types))
            labels = {}
            for label in map(message, m[3]):
                key = strings[label[1][0]]
                labels[key] = strings[label[2][0]] if label[2] else (label[3] or [0])[0]
            self.samples.append((tuple(reversed(frames)), values, labels))
        self.time, self.duration = (profile[9] or [0])[0], (profile[10] or [0])[0]
        self.period = (profile[12] or [0])[0]
        expect(self.types[0] in (("samples", "count"), ("waits", "count")))
        expect(len(self.types) < 3)
        self.default = strings[(profile[14] or [0])[0]]
        expect(self.default == self.types[-1][0])
        for _, values, _ in self.samples:
            expect(not self.period or values[1] == values[0] * self.period)


def pprof(data, unit="samples"):
    stacks, profile = collections.Counter(), Pprof(data)
    if unit in PPROF_UNITS:
        expect(not profile.period and profile.types[1][1] == PPROF_UNITS[unit], profile.types)
    for frames, values, _ in profile.samples:
        if unit == "time":
            expect(values[1] % 1000 == 0)
        stacks[frames] += {"events": values[-1], "time": values[-1] // 1000}.get(unit, values[0])
    return stacks


def pprof_raw(text):
    """What `go tool pprof -raw` makes of it."""
    body, _, rest = text.partition("\nLocations\n")
    locations_text, _, mappings_text = rest.partition("\nMappings\n")
    mappings = {}
    for line in mappings_text.splitlines():
        match = re.match(r"(\d+): 0x0/0x0/0x0 (.*?) *(?:[0-9a-f]{8,} *)?(?:\[FN\].*)?$", line)
        expect(match, line)
        mappings[match.group(1)] = match.group(2)
    locations = {}
    for line in locations_text.splitlines():
        # Further lines of a location have neither a number nor a mapping.
        match = re.match(r" *(?:(\d+): 0x0 )?(?:M=(\d+) )?(.*?) (?:/(?:src|app)/.*)?:\d+(?::0)? s=0",
                         line)
        expect(match, line)
        if match.group(1):
            where = locations[match.group(1)] = []
            mapping = mappings.get(match.group(2), "")
        where.append((match.group(3).strip(), mapping))
    stacks = collections.Counter()
    for line in body.splitlines():
        match = re.match(r" +(\d+)(?: +\d+)?:([\d ]*)$", line)
        if match:
            frames = [frame for i in match.group(2).split() for frame in locations[i]]
            stacks[tuple(reversed(frames))] += int(match.group(1))
    return stacks


# --- speedscope: https://www.speedscope.app/file-format-schema.json ------------------------------

def speedscope(text, unit="samples"):
    file = schemas.strict(text)
    schemas.check(file, schemas.SPEEDSCOPE)
    frames = file["shared"]["frames"]
    stacks = collections.Counter()
    for profile in file["profiles"]:
        expect(profile["type"] == "sampled")
        expect(profile["unit"] == ("microseconds" if unit == "time" else "none"))
        expect(len(profile["samples"]) == len(profile["weights"]))
        expect(profile["endValue"] - profile["startValue"] == sum(profile["weights"]))
        for stack, weight in zip(profile["samples"], profile["weights"]):
            expect(all(isinstance(f, int) and 0 <= f < len(frames) for f in stack))
            stacks[tuple((frames[f]["name"], frames[f].get("file", "")) for f in stack)] += weight
    return stacks


# --- Firefox Profiler, processed format 48: its docs-developer/ and src/types/profile.js ----------

# Where the numbers of a column lead, or None: they are null, or -1 where that means nothing.
COLUMNS = {
    "stackTable": {"frame": "frameTable"},
    "frameTable": {"func": "funcTable", "nativeSymbol": None, "innerWindowID": None,
                   "implementation": None, "column": None},
    "funcTable": {"name": "stringArray", "fileName": "stringArray", "lineNumber": None,
                  "columnNumber": None},
    "resourceTable": {"name": "stringArray", "host": None},
    "nativeSymbols": {"name": "stringArray", "functionSize": None},
    "markers": {"name": "stringArray"},
}


def firefox_columns(thread):
    for name, columns in COLUMNS.items():
        for column, to in columns.items():
            values = thread[name][column]
            if to is None:
                expect(all(v is None for v in values), name, column)
            else:
                other = thread[to]
                size = len(other) if isinstance(other, list) else other["length"]
                expect(all(0 <= v < size for v in values
                           if v is not None or column != "fileName"), name, column)
    # A prefix comes before what it is the prefix of.
    expect(all(v is None or 0 <= v < i for i, v in enumerate(thread["stackTable"]["prefix"])))


def firefox(text, unit="samples"):
    profile = schemas.strict(text)
    schemas.check(profile, schemas.FIREFOX)
    meta = profile["meta"]
    expect(meta["preprocessedProfileVersion"] == 48 and meta["stackwalk"] in (0, 1))
    expect(any(c["color"] == "grey" for c in meta["categories"]))
    expect(all(c["subcategories"][0] == "Other" for c in meta["categories"]))
    expect(any(c["name"] == "Waits" for c in meta["categories"]) == (unit == "time"))
    stacks = collections.Counter()
    for thread in profile["threads"]:
        firefox_thread(profile, thread, unit, stacks)
    return stacks


def firefox_thread(profile, thread, unit, stacks):
    firefox_columns(thread)
    ncategories = len(profile["meta"]["categories"])
    expect(all(0 <= c < ncategories for c in thread["stackTable"]["category"]))
    expect(all(0 <= r < len(profile["libs"]) for r in thread["resourceTable"]["lib"]))
    nresources = thread["resourceTable"]["length"]
    expect(all(-1 <= r < nresources for r in thread["funcTable"]["resource"]))
    samples, nstacks = thread["samples"], thread["stackTable"]["length"]
    expect(samples["weightType"] == ("tracing-ms" if unit == "time" else "samples"))
    expect(("count" in samples) == (unit != "samples"))
    for column in ("stack", "time", "weight", *(("count",) if unit != "samples" else ())):
        expect(len(samples[column]) == samples["length"])
    expect(all(s is None or 0 <= s < nstacks for s in samples["stack"]))
    expect(all(a <= b for a, b in zip(samples["time"], samples["time"][1:])), "time goes back")
    for stack, weight in zip(samples["stack"], samples["weight"]):
        if unit == "time":
            expect(abs(1000 * weight - round(1000 * weight)) < 1e-3)
            weight = round(1000 * weight)
        frames = []
        while stack is not None:
            func = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
            resource = thread["funcTable"]["resource"][func]
            module = ""
            if resource >= 0:
                module = profile["libs"][thread["resourceTable"]["lib"][resource]]["name"]
            frames.append((thread["stringArray"][thread["funcTable"]["name"][func]], module))
            stack = thread["stackTable"]["prefix"][stack]
        stacks[tuple(reversed(frames))] += weight


# --- the drawings: docs/FORMATS.md ------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"
ROW = 17


def svg_frames(text, below):
    """(level, x, width, lines of the title) of each frame, as drawn: parents first. below: the root
    is below its children."""
    root = ElementTree.fromstring(text)
    # The size that it has as an image is that of what is drawn.
    expect(root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}")
    elements = list(root.iter())
    expect({e.tag for e in elements} <= {SVG + n for n in ("svg", "style", "rect", "text", "g",
                                                          "title", "script")})
    for element in elements:
        expect(not any(name.startswith("on") or "href" in name for name in element.attrib))
        # A name may have an address in it, which is text and leads nowhere.
        active = [*element.attrib.values()]
        if element.tag in (SVG + "style", SVG + "script"):
            active.append(element.text.replace("http://www.w3.org/2000/svg", ""))
        expect(not any(word in part for part in active for word in ("://", "url(", "@import")),
               "something from elsewhere", active)
    scripts = root.findall(SVG + "script")
    expect(len(scripts) == 1 and text.count("<script") == 1 and len(scripts[0]) == 0)
    frames = []
    for group in root.findall(SVG + "g"):
        expect(group.get("class") == "f")
        rect = group.find(f"{SVG}g/{SVG}rect")
        lines = group.find(SVG + "title").text.split("\n")
        label = group.find(f"{SVG}g/{SVG}text")
        if label is not None and not label.text.endswith(".."):
            expect(label.text == lines[0], label.text, lines)
        frames.append((float(rect.get("y")), float(rect.get("x")), float(rect.get("width")),
                       lines))
    down = -1 if below else 1
    expect(all(y >= 0 and y + ROW < float(root.get("height")) for y, _, _, _ in frames))
    return [(round((y - frames[0][0]) / ROW * down), x, width, lines)
            for y, x, width, lines in frames]


def svg_value(line):
    """Total and own samples, or events, by the line of a title."""
    match = re.fullmatch(r"(\d+) (?:samples|page-faults) \(([\d.]+) %\), (\d+) of its own"
                         r"(?:; (\d+) samples)?", line)
    expect(match and ("samples (" in line) == (match.group(4) is None), line)
    return int(match.group(1)), int(match.group(3))


def svg(text, below=False):
    stacks, path = collections.Counter(), []
    frames = svg_frames(text, below)
    for level, x, width, lines in frames:
        expect(len(lines) == 3, lines)
        total, own = svg_value(lines[2])
        for _, _, _, _, rest, done in path[level:]:
            expect(rest == done, "children and own samples are not the whole")
        del path[level:]
        expect(len(path) == level)
        if path:
            _, left, wide, whole, rest, done = path[-1]
            expect(left - 1e-3 <= x and x + width <= left + wide + 1e-3, lines)
            path[-1] = path[-1][:5] + (done + total,)
        path.append((lines[0], x, width, total, total - own, 0))
        expect(abs(width - 1200 * total / path[0][3]) < 1e-3, lines)
        # The root and the process are no frames.
        if own:
            stacks[tuple((entry[0], None) for entry in path[2:])] += own
    return stacks


TIMES = {"us": 1, "ms": 1000, "s": 1000000}


def svg_time(text, whole, below):
    """Times are rounded in titles; only the widths are exact, as shares of the whole."""
    frames, path, stacks = svg_frames(text, below), [], collections.Counter()

    def leave(level):
        while len(path) > level:
            name, total, done = path.pop()
            expect(done <= total, name)
            if total - done and len(path) > 1:
                stacks[tuple((entry[0], None) for entry in path[2:]) + ((name, None),)] += total - done
            elif total - done:
                stacks[()] += total - done

    for level, _, width, lines in frames:
        match = re.fullmatch(r"([\d.]+) (us|ms|s) \(([\d.]+) %\), ([\d.]+) (us|ms|s) of its own; "
                             r"(\d+) waits(?: and samples)?", lines[2])
        total = round(width / 1200 * whole)
        expect(match and len(lines) == 3, lines)
        expect(abs(float(match.group(1)) * TIMES[match.group(2)] - total) <=
               {"us": 0, "ms": 50, "s": 5000}[match.group(2)] + 1, lines, total)
        leave(level)
        if path:
            path[-1] = (*path[-1][:2], path[-1][2] + total)
        path.append((lines[0], total, 0))
    leave(0)
    return stacks


def flame(text):
    return svg(text, True)


# --- perf script, as stackcollapse-perf.pl and others read it ------------------------------------

PERF_HEAD = re.compile(r"^(\S.+?)\s+(\d+)/(\d+)\s+(?:\[\d{3}\]\s+)?(\d+\.\d{6}):\s+(\d+)\s+(\S+):$")
PERF_FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((.*)\)$")


def perf(text, unit="samples"):
    """Periods of time are nanoseconds."""
    stacks = perf_periods(text)
    if unit != "time":
        return stacks
    expect(all(count % 1000 == 0 for count in stacks.values()))
    return collections.Counter({stack: count // 1000 for stack, count in stacks.items()})


def perf_periods(text):
    stacks, frames, count = collections.Counter(), [], 0
    for line in text.split("\n"):
        if not line:
            if count:
                stacks[tuple(reversed(frames))] += count
            frames, count = [], 0
        elif not line.startswith("\t"):
            match = PERF_HEAD.match(line)
            expect(match and not count, line)
            count = int(match.group(5))
        else:
            match = PERF_FRAME.match(line)
            expect(match and count, line)
            name = re.sub(r"\+0x[0-9a-f]+$", "", match.group(2))
            module = match.group(3)
            frames.append((name, "" if module in ("[unknown]", "[kernel.kallsyms]") else module))
    expect(not frames and not count, "the last record is cut off")
    return stacks


def perf_words(stacks):
    """The stacks by what perf's text makes of names and modules: no blank where readers cut."""
    def word(text):
        return re.sub(r"^ | (?=\()", "_", text)
    out = collections.Counter()
    for stack, count in stacks.items():
        out[tuple((word(name), word(module)) for name, module in stack)] += count
    return out


# --- what all of them are compared by -------------------------------------------------------------

def per_function(stacks):
    """{name: (self, total)}"""
    self_, total = collections.Counter(), collections.Counter()
    for stack, count in stacks.items():
        for frame in set(stack):
            total[frame] += count
        if stack:
            self_[stack[-1]] += count
    return {name: (self_[name], total[name]) for name in total}


def agree(found, unit="samples"):
    """(format, its stacks, what they have to be) of {format: content}, by its JSON. Folded and the
    drawings mark the kinds of functions; the others have modules instead."""
    marked, plain = json_folded(found["json"], unit), json_stacks(found["json"], unit)
    expect({report["unit"] for report in json_objects(found["json"])} == {UNITS[unit]})
    yield "folded", folded(found["folded"]), marked
    whole = sum(report["weight"] for report in json_objects(found["json"]))
    for name in ("svg", "flame"):
        below = name == "flame"
        drawn = svg_time(found[name], whole, below) if unit == "time" else svg(found[name], below)
        yield name, drawn, marked
    yield "pprof", pprof(found["pprof"], unit), plain
    yield "speedscope", speedscope(found["speedscope"], unit), plain
    yield "firefox", firefox(found["firefox"], unit), plain
    yield "perf", perf(found["perf"], unit), perf_words(plain)
