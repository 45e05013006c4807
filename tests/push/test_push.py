#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stacktop --push, as receivers see it: what arrives is what the JSON of the same run says, sample by
sample, whatever the protocol and whatever goes wrong on the way.

The source is the replay of docs/demo.session, or of its first seconds, which is the same each time. The
receiver is receiver.py, which shares no code with stacktop; nginx and nghttpd are peers that know nothing
of profiles.

    tests/push/test_push.py [PART...]       only these parts: labels, tls, trouble...

Covers: tui/push/push.c tui/push/sender.c tui/push/gather.c tui/push/request.c tui/push/otlp.c
Covers: tui/push/series.c tui/push/target.c tui/push/verdict.c tui/net/http.c tui/net/curl.c

time limit: 600 s
"""

import collections
import concurrent.futures
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live"), os.path.join(HERE, "..", "tui", "export")]
import formats  # noqa: E402
import messages  # noqa: E402
import receiver  # noqa: E402
from live import STACKTOP, Tap  # noqa: E402
from otlp_rules import findings  # noqa: E402
from receiver import Fault, Receiver, received_samples  # noqa: E402

pb = receiver.pb
DEMO = os.path.join(HERE, "..", "..", "docs", "demo.session")
WHOLE = ("-r", DEMO)
PART = (*WHOLE, "--to", "15")   # five requests, where it does not matter what is in them
SECRET = "s3cr3t-0f-the-test"
LIMIT = 360     # seconds for a run that must not hang
PATIENT = {"STACKTOP_END_MS": "300000"} # waits until all is sent, however busy the machine is
HASTY = {"STACKTOP_END_MS": ""}         # not set: for what is never sent
SIDE_BY_SIDE = 4

# By name: the scheme, which port, the path behind it, the name that the receiver has for it.
PROTOCOLS = {
    "pyroscope": ("pyroscope+http", "http", "", "push"),
    "ingest": ("pyroscope+http", "http", "/ingest", "ingest"),
    "parca": ("parca+http", "http", "", "writeraw"),
    "parca+grpc": ("parca+grpc", "grpc", "", "parca-grpc"),
    "otlp": ("otlp+http", "http", "", "otlp"),
    "otlp+grpc": ("otlp+grpc", "grpc", "", "otlp-grpc"),
}
TYPES = {"push": "application/proto", "ingest": "application/octet-stream", "writeraw": "application/json",
         "otlp": "application/x-protobuf"}


class Results:
    """Of a part, which has a thread of its own; details are for tests that fail."""

    def __init__(self):
        self.lines = []

    def ok(self, condition, name, detail=""):
        self.lines.append(("ok", bool(condition), name,
                           "" if condition else " ".join(str(detail).split())))

    def skip(self, name, why):
        self.lines.append(("skip", name, why))

    def note(self, text):
        self.lines.append(("note", text))

    def tell(self, tap):
        for what, *line in self.lines:
            getattr(tap, what)(*line)


def url_of(server, name):
    scheme, port, path, _ = PROTOCOLS[name]
    return f"{scheme}://localhost:{server.http_port if port == 'http' else server.grpc_port}{path}"


class Run:
    """A run of stacktop that sends a replay, or is one of this machine. `samples` is what its JSON says,
    by (PID, comm, names)."""

    def __init__(self, folder, url, *options, env=None, every=3, source=PART):
        self.out = tempfile.mktemp(prefix="out-", suffix=".json", dir=folder)
        self.start = time.monotonic()
        self.process = subprocess.Popen(
            [STACKTOP, *source, "-b", "--format", "json", "-o", self.out, "--push", url, "--push-every",
             str(every), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **PATIENT, **(env or {})}, stdin=subprocess.DEVNULL)

    def end(self, limit=LIMIT):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.stdout, self.stderr = self.process.communicate()
            self.stderr += f"\n(killed after {limit} s)"
        self.status = self.process.returncode
        self.took = time.monotonic() - self.start
        with open(self.out, encoding="utf-8") as file:
            self.text = file.read()
        self.reports = [json.loads(line) for line in self.text.splitlines()]
        self.samples = self.by_stack()
        return self

    def by_stack(self, value="count"):
        found = collections.Counter()
        for report in self.reports:
            names = [formats.json_name(func) for func in report["functions"]]
            for stack in report["stacks"]:
                process = report["processes"][stack["process"]]
                found[process["pid"], process["name"], tuple(names[f] for f in stack["frames"])] += \
                    stack[value]
        return found


def difference(want, got):
    """The first few differences of two counters, as text."""
    if want == got:
        return ""
    lines = [f"{sum(want.values())} samples, got {sum(got.values())}"]
    for key in list(want.keys() | got.keys()):
        if want.get(key, 0) != got.get(key, 0):
            lines.append(f"{key[:2]} {'/'.join(key[2][-3:])}: {want.get(key, 0)}, got {got.get(key, 0)}")
    return "; ".join(lines[:5])


def arrived(tap, name, run, server, first=0):
    """All samples of the run came, each once."""
    want = run.samples
    got = received_samples(server.requests[first:])
    tap.ok(run.status == 0 and want and got.samples == want and not got.errors, name,
           "; ".join(filter(None, [difference(want, got.samples), *got.errors[:2],
                                   run.status and f"exit {run.status}: {run.stderr[-200:]}"])))
    return got


# --- the protocols ---------------------------------------------------------------------------------

def each_protocol(tap, folder):
    for name, (_, _, _, speaks) in PROTOCOLS.items():
        with Receiver(out=os.path.join(folder, name)) as server:
            run = Run(folder, url_of(server, name), source=WHOLE).end()
            got = arrived(tap, f"{name}: the samples of the JSON arrive", run, server)
            came = server.requests
            tap.ok(came and {one["protocol"] for one in came} == {speaks} and not got.resent and
                   not server.broken, f"{name}: nothing else is sent",
                   f"{len(came)} requests {len(got.resent)} resent {server.broken[:1]}")
            if not came:
                continue
            headers = came[0]["headers"]
            if speaks in TYPES:
                tap.ok(headers.get("content-type") == TYPES[speaks] and
                       headers.get("user-agent", "").startswith("stacktop"),
                       f"{name}: the headers", f"{headers}")
            profiles_agree(tap, name, run, came)
            if name.startswith("otlp"):
                otlp_is_right(tap, name, run, server)
            else:
                pprof_is_right(tap, name, run, server)


def seconds_of(run):
    """When the run's first report began and its last one ended, in nanoseconds."""
    def nanoseconds(text):
        whole, _, thousandths = text.rstrip("Z").partition(".")
        at = time.strptime(whole + " UTC", "%Y-%m-%dT%H:%M:%S %Z")
        return (int(time.mktime(at)) - time.timezone) * 10**9 + int(thousandths) * 10**6

    last = run.reports[-1]
    return nanoseconds(run.reports[0]["time"]), nanoseconds(last["time"]) + last["seconds"] * 1e9


def profiles_agree(tap, name, run, came):
    """The profiles of an interval are about 3 s long, one after the other, and each has a service."""
    profiles = [profile for one in came for profile in one["profiles"]]
    start, end = seconds_of(run)
    spans = sorted({(profile["time"], profile["duration"]) for profile in profiles})
    apart = all(a[0] + a[1] <= b[0] + 2e6 for a, b in zip(spans, spans[1:]))
    tap.ok(apart and abs(spans[0][0] - start) < 2e6 and abs(sum(spans[-1]) - end) < 1e9 and
           all(d <= 4.5e9 for _, d in spans) and len(spans) >= (end - start) / 4.5e9,
           f"{name}: the times of profiles", f"{len(spans)} spans {spans[:2]} {start} {end}")
    names = {process["name"] for report in run.reports for process in report["processes"]
             if process["samples"]}
    tap.ok({profile["service"] for profile in profiles} == names, f"{name}: services are processes' names",
           str({profile["service"] for profile in profiles} ^ names))
    kinds = {(profile["period_type"], profile["period_unit"]) for profile in profiles}
    period = round(1e9 / run.reports[0]["frequency"])
    tap.ok(kinds == {("cpu", "nanoseconds")} and
           all(abs(profile["period"] - period) <= 1 for profile in profiles), f"{name}: the period",
           f"{kinds} {profiles[0]['period']}")
    if name in ("pyroscope", "parca", "parca+grpc"):
        tap.ok(all(profile["labels"]["__name__"] == "process_cpu" and profile["labels"]["host"]
                   for profile in profiles), f"{name}: the labels of series", str(profiles[0]["labels"]))
    if name not in ("ingest", "parca", "parca+grpc"):
        ids = [profile["id"] for profile in profiles]
        tap.ok(len(set(ids)) == len(ids) and not any(one.startswith("content:") for one in ids),
               f"{name}: each profile has its id")


def details_agree(tap, name, run, profiles, keys):
    """User and command of each process, and the modules and lines of functions."""
    want = {(process["pid"], process["user"], process["command"]) for report in run.reports
            for process in report["processes"] if process["samples"]}
    labels = [sample["labels"] for profile in profiles for sample in profile["samples"]]
    got = {tuple(int(one[key]) if key in ("pid", "process.pid") else one.get(key, "") for key in keys)
           for one in labels}
    tap.ok(got == want, f"{name}: users and commands", str(list(got ^ want)[:3]))
    modules = {(formats.json_name(func), mark + func["module"]) for report in run.reports
               for func in report["functions"] if func["total"]
               for mark in ("", "[kernel] ")[:1 + (func["kind"] == "kernel")]}
    found = {(frame["name"], frame["module"] or "") for profile in profiles
             for sample in profile["samples"] for frame in sample["frames"]}
    lost = {one for one in found if one not in modules and one[1]}
    tap.ok(not lost, f"{name}: modules of functions", str(list(lost)[:3]))


def pprof_is_right(tap, name, run, server):
    profiles = [profile for one in server.requests for profile in one["profiles"]]
    details_agree(tap, name, run, profiles, ("pid", "user", "command"))
    want = {key: count * round(1e9 / run.reports[0]["frequency"]) for key, count in run.samples.items()}
    got = received_samples(server.requests, unit="nanoseconds").samples
    # The period is rounded once.
    tap.ok(got.keys() == want.keys() and all(abs(got[key] - want[key]) <= run.samples[key] for key in got),
           f"{name}: the second value is the time")
    if not shutil.which("go"):
        return tap.skip(f"{name}: Go's pprof", "no go")
    done = subprocess.run(["go", "tool", "pprof", "-raw", os.path.join(server.out, "0-0.pb.gz")],
                          capture_output=True, check=False, text=True,
                          env={**os.environ, "PPROF_TMPDIR": server.out})
    counts = sum(int(match.group(1)) for match in
                 re.finditer(r"^ +(\d+) +\d+:", done.stdout.partition("\nLocations")[0], re.M))
    first = sum(sample["values"][0] for sample in server.requests[0]["profiles"][0]["samples"])
    return tap.ok(done.returncode == 0 and counts == first and "comm:[" in done.stdout,
                  f"{name}: Go's pprof reads it", f"{counts} of {first} {done.stderr[:100]}"
                  if counts != first else "")


KINDS = {"kernel": "kernel", "python": "cpython", "php": "php", "perl": "perl", "ruby": "ruby",
         "js": "v8js", "java": "jvm"}


def otlp_is_right(tap, name, run, server):
    wrong = []
    for one in server.requests:
        request = pb.collector.ExportProfilesServiceRequest.FromString(server.body(one["number"]))
        wrong += findings(request)
    tap.ok(not wrong, f"{name}: the conformance checker's rules", "; ".join(wrong[:3]))
    text = messages.decode("opentelemetry.proto.collector.profiles.v1development."
                           "ExportProfilesServiceRequest", server.body(0))
    # A field without a name is printed by its number.
    unknown = re.findall(r"^ *\d+[:{ ].*$", text or "", re.M)
    tap.ok(text and not unknown, f"{name}: protoc knows all fields", "; ".join(unknown[:3]))
    profiles = [profile for one in server.requests for profile in one["profiles"]]
    details_agree(tap, name, run, profiles, ("process.pid", "process.owner", "process.command_line"))
    kinds = {}
    for report in run.reports:
        for func in report["functions"]:
            kinds.setdefault((formats.json_name(func), func["module"]), set()).add(func["kind"])
    odd = set()
    for profile in profiles:
        for sample in profile["samples"]:
            for frame in sample["frames"]:
                own = kinds.get((frame["name"], frame["module"] or ""), set())
                if len(own) == 1:
                    kind = next(iter(own))
                    expected = KINDS.get(kind)
                    if expected and frame["kind"] != expected or \
                            kind in ("user", "jit") and frame["kind"] in KINDS.values():
                        odd.add((kind, frame["kind"], frame["name"]))
    tap.ok(not odd, f"{name}: kinds of frames", str(list(odd)[:3]))
    tap.ok(all("host.name" in profile["labels"] for profile in profiles) and
           all(len({(sample["labels"]["process.pid"]) for sample in profile["samples"]}) == 1
               for profile in profiles if profile["samples"]), f"{name}: a resource is a process")


def waits_arrive(tap, folder):
    """Off-CPU time, as a profile of its own."""
    for name in ("pyroscope", "otlp"):
        with Receiver(out=os.path.join(folder, f"off-{name}")) as server:
            run = Run(folder, url_of(server, name), "-e", "off-cpu", source=WHOLE).end()
            want = {key: 1000 * time for key, time in run.by_stack("weight").items() if time}
            got = received_samples(server.requests, unit="nanoseconds")
            found = {key: value for key, value in got.samples.items() if value}
            tap.ok(run.status == 0 and want and found == want, f"{name}: waits arrive",
                   difference(want, found) + run.stderr[-200:])
            profiles = [profile for one in server.requests for profile in one["profiles"]]
            if name == "otlp":
                kinds = {(profile["type"], profile["unit"], profile["period_type"],
                          profile["period_unit"]) for profile in profiles}
                tap.ok(kinds == {("off_cpu", "nanoseconds", "context_switch", "count")},
                       "otlp: the type of waits", str(kinds))
                wrong = [line for one in server.requests for line in findings(
                    pb.collector.ExportProfilesServiceRequest.FromString(server.body(one["number"])))]
                tap.ok(not wrong, "otlp: waits by the checker's rules", "; ".join(wrong[:3]))
            else:
                tap.ok({profile["labels"]["__name__"] for profile in profiles} == {"off_cpu"},
                       "pyroscope: the name of waits")


# --- what goes wrong ---------------------------------------------------------------------------------

def trouble(tap, folder, name):
    """Whatever happens to a request, each sample arrives once."""
    speaks = PROTOCOLS[name][3]
    grpc = name.endswith("grpc")
    cases = [("cut before", Fault(close="before")), ("cut in half", Fault(close="half")),
             ("cut when read", Fault(close="unread")), ("cut when processed", Fault(close="after"))]
    if grpc:
        cases += [("UNAVAILABLE", Fault(code="UNAVAILABLE")),
                  ("RESOURCE_EXHAUSTED with RetryInfo", Fault(code="RESOURCE_EXHAUSTED", retry=1))]
    else:
        cases += [("503", Fault(status=503)), ("429 with Retry-After", Fault(status=429, retry=1)),
                  ("502", Fault(status=502, answer=b"<html>bad gateway</html>"))]
    for what, fault in cases:
        fault.where = (speaks,)
        with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
            server.faults.append(fault)
            run = Run(folder, url_of(server, name)).end()
            got = arrived(tap, f"{name}: {what}", run, server)
            after = bool(got.resent) if fault.close == "after" else not got.resent
            again = [one["time"] for one in server.requests[:2]]
            waited = len(again) == 2 and (not fault.retry or again[1] - again[0] >= 0.95)
            tap.ok(not server.faults and after and waited, f"{name}: {what}: one resend, in time",
                   f"{again} {len(got.resent)} resent {server.faults}")


def date_is_honoured(tap, folder):
    """Retry-After as a date."""
    with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
        at = time.time() + 3
        server.faults.append(Fault(status=503, retry=time.strftime("%a, %d %b %Y %H:%M:%S GMT",
                                                                    time.gmtime(at))))
        run = Run(folder, url_of(server, "otlp")).end()
        arrived(tap, "a date of Retry-After", run, server)
        tap.ok(len(server.requests) > 1 and server.requests[1]["time"] >= int(at) - 0.1,
               "the date is honoured", str([one["time"] - at for one in server.requests[:2]]))


def too_large(tap, folder):
    """413 makes parts of a request, none larger than what is allowed."""
    for name in ("pyroscope", "ingest", "parca", "otlp"):
        with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
            Run(folder, url_of(server, name), every=6).end()
            size = max(one["bytes"]["wire"] for one in server.requests)
        limit = size * 2 // 3
        with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
            server.faults.append(Fault(status=413, above=limit, count=None))
            run = Run(folder, url_of(server, name), every=6).end()
            arrived(tap, f"{name}: 413, and the parts arrive", run, server)
            sizes = [one["bytes"]["wire"] for one in server.requests if one["accepted"]]
            tap.ok(sizes and max(sizes) <= limit and
                   any(one["status"] == 413 for one in server.requests), f"{name}: the parts are small",
                   f"limit {limit}, {max(sizes or [0])} in {len(sizes)} requests")


def refused_for_good(tap, folder):
    """A request that makes no sense to the server is not sent again, which the user is told."""
    for name, fault in (("pyroscope", Fault(status=400)), ("otlp+grpc", Fault(code="INVALID_ARGUMENT"))):
        with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
            server.faults.append(fault)
            run = Run(folder, url_of(server, name)).end()
            got = received_samples(server.requests)
            lost = run.samples - got.samples
            tap.ok(got.samples and not got.samples - run.samples and lost and not got.resent and
                   fault.text in run.stderr, f"{name}: what is refused is dropped, and the rest arrives",
                   f"{sum(lost.values())} lost: {run.stderr[-300:]}")
    with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
        server.faults.append(Fault(rejected=1, text="too old for us"))
        run = Run(folder, url_of(server, "otlp")).end()
        got = received_samples(server.requests)
        tap.ok(not got.resent and run.samples - got.samples and
               re.search(r"reject|too old for us", run.stderr), "a partial success is told",
               run.stderr[-300:])


def not_a_receiver(tap, folder):
    """A server that answers with 200 and a page has stored nothing."""
    for name in ("parca", "otlp", "pyroscope"):
        with Receiver(out=tempfile.mkdtemp(dir=folder), speak=("parca-page",)) as server:
            run = Run(folder, url_of(server, name), env=HASTY).end()
            tap.ok(run.stderr.count("\n") and not received_samples(server.requests).samples and
                   re.search(r"push|sent|send|receiver|answer", run.stderr),
                   f"{name}: a page is no answer", f"exit {run.status}: {run.stderr[-200:]}")


def falls_back(tap, folder):
    """Pyroscope's Push where there is none: /ingest."""
    with Receiver(out=tempfile.mkdtemp(dir=folder), speak=("ingest",)) as server:
        run = Run(folder, url_of(server, "pyroscope")).end()
        arrived(tap, "404 of Push leads to /ingest", run, server)
        tap.ok(sum(one["status"] == 404 for one in server.requests) == 1, "which is tried once")
    for status in (405, 415):
        with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
            server.faults.append(Fault(status=status, where=("push",), count=None))
            run = Run(folder, url_of(server, "pyroscope")).end()
            arrived(tap, f"{status} of Push leads to /ingest", run, server)


def asked(tap, folder):
    """A plain URL: what the server speaks is found out."""
    for speak in ("push", "ingest", "writeraw", "otlp"):
        with Receiver(out=tempfile.mkdtemp(dir=folder), speak=(speak,)) as server:
            run = Run(folder, f"http://localhost:{server.http_port}").end()
            arrived(tap, f"a server that speaks {speak} is asked", run, server)
    for speak in ("parca-grpc", "otlp-grpc"):
        with Receiver(out=tempfile.mkdtemp(dir=folder), speak=(speak,)) as server:
            run = Run(folder, f"http://localhost:{server.grpc_port}").end()
            arrived(tap, f"a server that speaks {speak} is asked", run, server)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def late_server(tap, folder):
    """The server starts when samples already wait."""
    # The second one later than stacktop waits unless the environment says so.
    for name, after in (("pyroscope", 2), ("otlp+grpc", 12)):
        port = free_port()
        scheme = PROTOCOLS[name][0]
        server = Receiver(port, port, out=tempfile.mkdtemp(dir=folder))
        server.wanted = (port, None) if PROTOCOLS[name][1] == "http" else (None, port)
        run = Run(folder, f"{scheme}://localhost:{port}")
        timer = threading.Timer(after, server.start)
        timer.start()
        run.end()
        timer.join()
        arrived(tap, f"{name}: a server that comes late has all", run, server)
        server.stop()


def no_server(tap, folder):
    """Names that do not resolve, ports that nothing listens on: a message, and an end."""
    for what, url in (("a name that does not resolve", "otlp+http://stacktop-test.invalid:4318"),
                      ("a port without a server", f"pyroscope+http://localhost:{free_port()}")):
        run = Run(folder, url, env=HASTY).end()
        tap.ok(run.took < LIMIT and "killed" not in run.stderr and run.reports and
               re.search(r"resolve|connect|sent", run.stderr), f"{what}: it is told, and the run ends",
               f"exit {run.status} after {run.took:.0f} s: {run.stderr[-300:]}")


# --- TLS, secrets, labels -------------------------------------------------------------------------------

def certificate(folder, name="localhost"):
    cert, key = (os.path.join(folder, f"{name}.{kind}") for kind in ("pem", "key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName=DNS:{name}"], check=True, capture_output=True)
    return cert, key


def tls(tap, folder):
    good, other = certificate(folder), certificate(folder, "elsewhere.test")
    for name, scheme in (("pyroscope", "pyroscope+https"), ("otlp+grpc", "otlp+grpcs")):
        with Receiver(tls=good, out=tempfile.mkdtemp(dir=folder)) as server:
            port = server.http_port if name == "pyroscope" else server.grpc_port
            run = Run(folder, f"{scheme}://localhost:{port}", env=HASTY).end()
            tap.ok(not server.requests and re.search("certificate", run.stderr, re.I),
                   f"{name}: an unknown certificate is refused", run.stderr[-200:])
            run = Run(folder, f"{scheme}://localhost:{port}", "--push-ca", good[0]).end()
            arrived(tap, f"{name}: --push-ca trusts it", run, server)
        with Receiver(tls=other, out=tempfile.mkdtemp(dir=folder)) as server:
            port = server.http_port if name == "pyroscope" else server.grpc_port
            run = Run(folder, f"{scheme}://localhost:{port}", "--push-ca", other[0],
                      env=HASTY).end()
            tap.ok(not server.requests and re.search("certificate|name", run.stderr, re.I),
                   f"{name}: a certificate of another name is refused", run.stderr[-200:])


def secrets(tap, folder):
    """They reach the server, and nothing else."""
    path = os.path.join(folder, "headers")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"# of the test\nAuthorization: Bearer {SECRET}\nX-Scope-OrgID: tenant-7\n")
    os.chmod(path, 0o600)
    want = receiver.hashed(f"Bearer {SECRET}")
    for name in ("pyroscope", "otlp+grpc"):
        for how, options, env in (("a file", ["--push-secrets", path], {}),
                                  ("the environment", [], {"STACKTOP_PUSH_TOKEN": SECRET})):
            with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
                server.faults.append(Fault(status=503, code="UNAVAILABLE", delay=0.5, text="later"))
                run = Run(folder, url_of(server, name), *options, env=env)
                seen = ""
                while run.process.poll() is None and len(server.requests) < 1:
                    for pid in os.listdir("/proc"):
                        if pid.isdigit():
                            try:
                                with open(f"/proc/{pid}/cmdline", "rb") as file:
                                    seen += file.read().decode("utf-8", "replace")
                            except OSError:
                                pass
                    time.sleep(0.05)
                run.end()
                arrived(tap, f"{name}: with a secret of {how}", run, server)
                tap.ok(server.requests and
                       all(one["headers"].get("authorization") == want for one in server.requests) and
                       (how != "a file" or server.requests[0]["headers"].get("x-scope-orgid") ==
                        "tenant-7"), f"{name}: the secret of {how} is sent with each request")
                tap.ok(seen and SECRET not in seen + run.stdout + run.stderr + run.text,
                       f"{name}: the secret of {how} is seen nowhere else")
    run = Run(folder, f"otlp+http://user:{SECRET}@localhost:1")
    out, err = run.process.communicate(timeout=LIMIT)
    tap.ok(run.process.returncode and SECRET not in out + err, "a password in the URL is refused",
           err[-200:])
    with open(path, "a", encoding="ascii") as file:
        file.write(f"{SECRET} is no header\n")
    run = Run(folder, "otlp+http://localhost:1", "--push-secrets", path)
    out, err = run.process.communicate(timeout=LIMIT)
    tap.ok(run.process.returncode and f"{path}: line 4" in err and SECRET not in out + err,
           "a file that has no headers is refused", err[-200:])


def labels(tap, folder):
    for name in ("pyroscope", "ingest", "parca", "parca+grpc", "otlp"):
        with Receiver(out=tempfile.mkdtemp(dir=folder)) as server:
            run = Run(folder, url_of(server, name), "--label", "env=te st", "--label", "rack=4",
                      "--service", "fleet/{user}").end()
            arrived(tap, f"{name}: with labels", run, server)
            profiles = [profile for one in server.requests for profile in one["profiles"]]
            users = {f"fleet/{process['user']}" for report in run.reports
                     for process in report["processes"] if process["samples"]}
            tap.ok(profiles and all((profile["labels"].get("env"), profile["labels"].get("rack")) ==
                                    ("te st", "4") for profile in profiles), f"{name}: the labels",
                   str(profiles[0]["labels"] if profiles else None))
            tap.ok({profile["service"] for profile in profiles} == users, f"{name}: the service",
                   str({profile["service"] for profile in profiles}))


# --- peers that know nothing of profiles ---------------------------------------------------------------

NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{ worker_connections 64; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    limit_req_zone $server_name zone=all:1m rate={rate}r/s;
    limit_req_status 429;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        server_name localhost;
        ssl_certificate {cert};
        ssl_certificate_key {key};
        client_max_body_size {most};
        location / {{
            limit_req zone=all;
            proxy_pass http://127.0.0.1:{http};
        }}
        location /opentelemetry. {{
            limit_req zone=all;
            grpc_pass grpc://127.0.0.1:{grpc};
        }}
    }}
}}
"""


def wait_for(port, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


def behind_nginx(tap, folder):
    """A proxy ends TLS, allows small bodies and few requests."""
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.access(nginx, os.X_OK):
        return tap.skip("behind nginx", "no nginx")
    cert, key = certificate(folder)
    for name, scheme in (("pyroscope", "pyroscope+https"), ("otlp", "otlp+https"),
                         ("otlp+grpc", "otlp+grpcs")):
        place = tempfile.mkdtemp(dir=folder)
        os.chmod(place, 0o755)
        with Receiver(out=os.path.join(place, "out")) as server:
            Run(folder, url_of(server, name), every=6).end()
            size = max(one["bytes"]["wire"] or one["bytes"]["raw"] for one in server.requests)
            first = len(server.requests)
            port = free_port()
            config = os.path.join(place, "nginx.conf")
            with open(config, "w", encoding="ascii") as file:
                file.write(NGINX.format(
                    folder=place, port=port, cert=cert, key=key, http=server.http_port,
                    grpc=server.grpc_port, rate=2, most=0 if name == "otlp+grpc" else size * 2 // 3,
                    user="user root;" if os.geteuid() == 0 else ""))
            proxy = subprocess.Popen([nginx, "-p", place, "-c", config], stderr=subprocess.DEVNULL)
            try:
                tap.ok(wait_for(port), f"{name}: nginx listens")
                run = Run(folder, f"{scheme}://localhost:{port}", "--push-ca", cert, every=6).end()
            finally:
                proxy.terminate()
                proxy.wait(10)
            arrived(tap, f"{name}: all samples come through nginx", run, server, first)
            with open(os.path.join(place, "access.log"), encoding="utf-8") as file:
                statuses = collections.Counter(re.findall(r'" (\d{3}) ', file.read()))
            # A call of gRPC that has too many neighbours is answered with 429 of HTTP, too.
            tap.ok(statuses["200"] and (name == "otlp+grpc" or statuses["413"]),
                   f"{name}: nginx allowed some", str(dict(statuses)))
    return None


def http2_without_grpc(tap, folder):
    """A server of HTTP/2 that has files: no call succeeds, and the run ends."""
    if not shutil.which("nghttpd"):
        return tap.skip("nghttpd", "no nghttpd")
    port = free_port()
    place = tempfile.mkdtemp(dir=folder)
    server = subprocess.Popen(["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", place, str(port)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        for scheme in ("otlp+grpc", "parca+grpc", "http"):
            run = Run(folder, f"{scheme}://localhost:{port}", env=HASTY).end()
            tap.ok("killed" not in run.stderr and run.reports and
                   re.search(r"404|405|HTTP|gRPC|speak|receiver", run.stderr),
                   f"{scheme}: a server without gRPC is told", f"exit {run.status} after "
                   f"{run.took:.0f} s: {run.stderr[-200:]}")
    finally:
        server.terminate()
        server.wait(10)
    return None


def run_part(part):
    results = Results()
    name, function, arguments = part
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        try:
            function(results, folder, *arguments)
        except Exception as error:  # one that breaks does not hide the others
            results.ok(False, f"{name} ends", f"{type(error).__name__}: {error}")
        results.note(f"{name}: {time.monotonic() - start:.1f} s")
    return results


def main():
    tap = Tap()
    done = subprocess.run([STACKTOP, "--help"], capture_output=True, text=True, check=False)
    if "--push" not in done.stdout:
        tap.skip("everything", "this build sends nothing")
        tap.done()
    functions = (tls, http2_without_grpc, asked, no_server, each_protocol, waits_arrive, date_is_honoured,
                 too_large, refused_for_good, not_a_receiver, falls_back, late_server, secrets, labels,
                 behind_nginx)
    parts = [("trouble", trouble, (name,)) for name in PROTOCOLS]
    parts += [(function.__name__, function, ()) for function in functions]
    parts = [part for part in parts if len(sys.argv) == 1 or part[0] in sys.argv[1:]]
    # Most of the time is waiting.
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for results in pool.map(run_part, parts):
            results.tell(tap)
    tap.done()


main()
