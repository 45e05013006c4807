# SPDX-License-Identifier: GPL-2.0-or-later
"""The published schemas of speedscope and of the Firefox Profiler, and a validator for them.

A schema here is data:

    str, bool, int, float       that type; int is a whole number, float any number
    None                        null
    "text"                      that string, and nothing else
    [kind]                      an array of it
    (kind, ...)                 one of these
    {"a": kind, "b?": kind}     an object that has a and may have b, and nothing else
    Any()                       whatever it is
    Table(column=kind, ...)     an object of arrays, all of the length that its member `length` says

SPEEDSCOPE says in these words what www.speedscope.app/file-format-schema.json demands, FIREFOX what
version 48 of the processed profile format does (docs-developer/CHANGELOG-formats.md and
src/types/profile.js of github.com/firefox-devtools/profiler). Both leave room for members that they
do not name; here there is none, so that a misspelt one is found.
"""

import copy
import json
import math


class Any:
    pass


class Table:
    def __init__(self, **columns):
        self.columns = columns


class Broken(AssertionError):
    pass


def refuse(where, what):
    raise Broken(f"{where or 'the whole'}: {what}")


def check_object(value, members, where):
    if not isinstance(value, dict):
        refuse(where, f"{value!r:.40} is no object")
    known = {name.rstrip("?") for name in members}
    for name in value:
        if name not in known:
            refuse(where, f"has {name!r}")
    for name, kind in members.items():
        plain = name.rstrip("?")
        if plain in value:
            check(value[plain], kind, f"{where}.{plain}")
        elif name == plain:
            refuse(where, f"has no {plain!r}")


def check_table(value, table, where):
    check_object(value, {**{name: [kind] for name, kind in table.columns.items()}, "length": int},
                 where)
    for name in table.columns:
        if name.rstrip("?") in value and len(value[name.rstrip("?")]) != value["length"]:
            refuse(where, f"{name} has {len(value[name])} rows of {value['length']}")


def check_choice(value, kinds, where):
    for kind in kinds:
        try:
            check(value, kind, where)
            return
        except Broken:
            pass
    refuse(where, f"{value!r:.40} is none of what it may be")


def check(value, kind, where=""):
    """Broken says where the value is not of that kind."""
    if isinstance(kind, Any):
        return
    if isinstance(kind, dict):
        check_object(value, kind, where)
    elif isinstance(kind, Table):
        check_table(value, kind, where)
    elif isinstance(kind, tuple):
        check_choice(value, kind, where)
    elif isinstance(kind, list):
        if not isinstance(value, list):
            refuse(where, f"{value!r:.40} is no array")
        for i, item in enumerate(value):
            check(item, kind[0], f"{where}[{i}]")
    elif isinstance(kind, str) or kind is None:
        if value != kind:
            refuse(where, f"{value!r:.40} is not {kind!r}")
    elif kind in (int, float):
        # True is a number in Python, and a number with a point may be whole in JSON.
        if isinstance(value, bool) or not isinstance(value, (int, float)) or \
                not math.isfinite(value) or (kind is int and value != int(value)):
            refuse(where, f"{value!r:.40} is no number that it may be")
    elif not isinstance(value, kind):
        refuse(where, f"{value!r:.40} is no {kind.__name__}")


def strict(text):
    """JSON by RFC 8259, where Python is more generous: no NaN, and no member twice."""
    def unique(pairs):
        members = dict(pairs)
        if len(members) != len(pairs):
            raise Broken(f"a member is there twice: {[name for name, _ in pairs]!r:.200}")
        return members

    def constant(name):
        raise Broken(f"{name} is no JSON")
    return json.loads(text, object_pairs_hook=unique, parse_constant=constant)


# --- speedscope -----------------------------------------------------------------------------------

UNIT = ("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")
SPEEDSCOPE = {
    "$schema": "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": [{"name": str, "file?": str, "line?": float, "col?": float}]},
    "profiles": [({"type": "sampled", "name": str, "unit": UNIT, "startValue": float,
                   "endValue": float, "samples": [[float]], "weights": [float]},
                  {"type": "evented", "name": str, "unit": UNIT, "startValue": float,
                   "endValue": float,
                   "events": [({"type": "O", "frame": float, "at": float},
                               {"type": "C", "frame": float, "at": float})]})],
    "name?": str,
    "activeProfileIndex?": float,
    "exporter?": str,
}

# --- Firefox Profiler -----------------------------------------------------------------------------

INDEX = int
NO_INDEX = (int, None)
COLOR = ("transparent", "lightblue", "red", "lightred", "orange", "blue", "green", "purple",
         "yellow", "brown", "magenta", "lightgreen", "grey", "darkgray")
META = {
    "interval": float, "startTime": float, "endTime?": float, "profilingStartTime?": float,
    "profilingEndTime?": float, "processType": int, "product": str, "stackwalk": int,
    "debug?": bool, "version": int, "preprocessedProfileVersion": int,
    "categories?": [{"name": str, "color": COLOR, "subcategories": [str]}],
    "extensions?": Table(baseURL=str, id=str, name=str), "markerSchema": [Any()],
    "sampleUnits?": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": ("ns", "µs",
                                                                          "variable CPU cycles")},
    "abi?": str, "misc?": str, "oscpu?": str, "mainMemory?": int, "platform?": str,
    "toolkit?": str, "appBuildID?": str, "arguments?": str, "sourceURL?": str,
    "physicalCPUs?": int, "logicalCPUs?": int, "CPUName?": str, "symbolicated?": bool,
    "symbolicationNotSupported?": bool, "updateChannel?": str, "device?": str,
    "importedFrom?": str, "usesOnlyOneStackType?": bool, "doesNotUseFrameImplementation?": bool,
    "sourceCodeIsNotOnSearchfox?": bool, "extra?": [Any()], "initialVisibleThreads?": [INDEX],
    "initialSelectedThreads?": [INDEX], "keepProfileThreadOrder?": bool,
    "gramsOfCO2ePerKWh?": float,
}
THREAD = {
    "processType": str, "processStartupTime": float, "processShutdownTime": (float, None),
    "registerTime": float, "unregisterTime": (float, None),
    "pausedRanges": [{"startTime": (float, None), "endTime": (float, None),
                      "reason": ("profiler-paused", "collecting")}],
    "showMarkersInTimeline?": bool, "name": str, "isMainThread": bool, "eTLD+1?": str,
    "processName?": str, "isJsTracer?": bool, "pid": str, "tid": (int, str),
    "isPrivateBrowsing?": bool, "userContextId?": int, "stringArray": [str],
    # weight may be null and threadCPUDelta be there, which the columns of a table cannot say.
    "samples": {"stack": [NO_INDEX], "time": [float], "weight": (None, [float]),
                "weightType": ("samples", "tracing-ms", "bytes"),
                "threadCPUDelta?": [(float, None)], "threadId?": [(int, str)], "length": int,
                "count?": [int]},  # stacktop's own (docs/FORMATS.md)
    "markers": Table(data=Any(), name=INDEX, startTime=(float, None), endTime=(float, None),
                     phase=int, category=INDEX),
    "stackTable": Table(frame=INDEX, category=INDEX, subcategory=INDEX, prefix=NO_INDEX),
    "frameTable": Table(address=int, inlineDepth=int, category=NO_INDEX, subcategory=NO_INDEX,
                        func=INDEX, nativeSymbol=NO_INDEX, innerWindowID=NO_INDEX,
                        implementation=NO_INDEX, line=NO_INDEX, column=NO_INDEX),
    "funcTable": Table(name=INDEX, isJS=bool, relevantForJS=bool, resource=int,
                       fileName=NO_INDEX, lineNumber=NO_INDEX, columnNumber=NO_INDEX),
    "nativeSymbols": Table(libIndex=INDEX, address=int, name=INDEX, functionSize=NO_INDEX),
    "resourceTable": Table(lib=NO_INDEX, name=INDEX, host=NO_INDEX, type=int),
}
FIREFOX = {
    "meta": META,
    "libs": [{"arch": str, "name": str, "path": str, "debugName": str, "debugPath": str,
              "breakpadId": str, "codeId": (str, None)}],
    "pages?": [Any()], "counters?": [Any()], "profilerOverhead?": [Any()],
    "threads": [THREAD],
    "profilingLog?": Any(), "profileGatheringLog?": Any(),
}


# --- whether a schema refuses what is wrong ------------------------------------------------------

def mutants(value, path=()):
    """Every way to leave out a member, or to put something else in the place of a value; of arrays
    the first item alone."""
    if isinstance(value, dict):
        for name in value:
            yield path + (name,), "without it"
            yield from mutants(value[name], path + (name,))
    elif isinstance(value, list):
        if value:
            yield from mutants(value[0], path + (0,))
    if path:
        yield path, "another"


def mutate(value, path, how):
    value = copy.deepcopy(value)
    at = value
    for step in path[:-1]:
        at = at[step]
    if how == "another":
        at[path[-1]] = {"never": [1]}
    else:
        del at[path[-1]]
    return value


def survivors(value, schema):
    """The mutants that the schema takes for good, as ways to them."""
    left = []
    for path, how in mutants(value):
        try:
            check(mutate(value, path, how), schema)
            left.append((".".join(map(str, path)), how))
        except Broken:
            pass
    return left
