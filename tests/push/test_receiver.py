#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The receiver of the tests takes what other clients send: curl, grpcio, nghttp and Pyroscope's own
client for node; and it breaks answers and connections where it is told to.

Pyroscope's client (@pyroscope/nodejs 0.6.4, flushIntervalMs 1500, tags {region: "eu", team: "a b"})
sends each profile by a request of its own, which has no ID:

    POST /ingest?format=pprof&from=1795835942&name=demo%7Botel.scope.name%3D...%2Cregion%3Deu%2Cteam%3Da+b
         %7D&spyName=nodespy&until=1795835944&sampleRate=17
    authorization: Bearer TOKEN         (authToken), or Basic
    x-scope-orgid: t1                   (tenantID)
    content-type: application/octet-stream
    content-length: 1175

The times are in seconds. The body is pprof's gzip, without a Content-Encoding. sampleRate is that of the
sampling profile in Hz; that of the heap has none. Names of labels may have dots; the values are not
quoted. The types of a sampling profile are samples/count, wall/nanoseconds and cpu/nanoseconds.

Covers: tests/push/receiver.py tests/push/messages.py
"""

import base64
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]
import messages  # noqa: E402
import receiver  # noqa: E402
from live import Tap  # noqa: E402
from receiver import Fault, Receiver, grpc, received_samples  # noqa: E402

pb = receiver.pb
START, LENGTH = 1_700_000_000_000_000_000, 3_000_000_000
PROFILE = {(7, "web", ("main", "work", "inlined")): 5, (7, "web", ("main",)): 2, (8, "db", ()): 1}


class Results(Tap):
    """Details are for tests that fail."""

    def ok(self, condition, name, detail=""):
        super().ok(bool(condition), name, "" if condition else " ".join(str(detail).split()))


def pprof(stacks, text=("", "samples", "count", "cpu", "nanoseconds", "pid", "comm")):
    """A pprof profile of {(PID, comm, frames): samples}; a frame `inlined` is in the location before it."""
    profile = pb.pprof.Profile(time_nanos=START, duration_nanos=LENGTH, period=10101010)
    strings = list(text)

    def string(one):
        if one not in strings:
            strings.append(one)
        return strings.index(one)

    for kind, unit in (("samples", "count"), ("cpu", "nanoseconds")):
        profile.sample_type.add(type=string(kind), unit=string(unit))
    profile.period_type.type, profile.period_type.unit = string("cpu"), string("nanoseconds")
    profile.mapping.add(id=1, filename=string("/bin/app"), build_id=string("abcd"))
    functions, locations = {}, {}
    for (pid, comm, frames), count in stacks.items():
        sample = profile.sample.add(value=[count, count * 10101010])
        sample.label.add(key=string("pid"), str=string(str(pid)))
        sample.label.add(key=string("comm"), str=string(comm))
        groups = []
        for frame in frames:
            if frame == "inlined":
                groups[-1].append(frame)
            else:
                groups.append([frame])
        for group in reversed(groups):
            key = tuple(group)
            if key not in locations:
                locations[key] = len(locations) + 1
                location = profile.location.add(id=locations[key], mapping_id=1)
                for name in reversed(group):
                    if name not in functions:
                        functions[name] = len(functions) + 1
                        profile.function.add(id=functions[name], name=string(name),
                                             filename=string(f"{name}.c"))
                    location.line.add(function_id=functions[name], line=3)
            sample.location_id.append(locations[key])
    profile.string_table.extend(strings)
    return gzip.compress(profile.SerializeToString(), mtime=0)


def otlp(stacks, profile_id):
    """The same for OTLP, with a resource per process."""
    request = pb.collector.ExportProfilesServiceRequest()
    tables, strings = request.dictionary, [""]

    def string(one):
        if one not in strings:
            strings.append(one)
        return strings.index(one)

    for name in ("mapping_table", "location_table", "function_table", "link_table", "attribute_table",
                 "stack_table"):
        getattr(tables, name).add()
    names = {}
    for number, pid in enumerate(sorted({key[0] for key in stacks})):
        group = request.resource_profiles.add()
        mine = {key: count for key, count in stacks.items() if key[0] == pid}
        group.resource.attributes.add(key="service.name").value.string_value = "demo"
        group.resource.attributes.add(key="process.pid").value.int_value = pid
        group.resource.attributes.add(key="process.executable.name").value.string_value = \
            next(iter(mine))[1]
        profile = group.scope_profiles.add().profiles.add(
            time_unix_nano=START, duration_nano=LENGTH, period=1,
            profile_id=profile_id[:15] + bytes([number + 1]))
        for kind in (profile.sample_type, profile.period_type):
            kind.type_strindex, kind.unit_strindex = string("samples"), string("count")
        for (_, _, frames), count in mine.items():
            stack = tables.stack_table.add()
            for name in reversed(frames):
                if name not in names:
                    names[name] = len(names) + 1
                    tables.function_table.add(name_strindex=string(name))
                    tables.location_table.add().lines.add(function_index=names[name])
                stack.location_indices.append(names[name])
            at = len(tables.stack_table) - 1 if frames else 0
            if not frames:
                del tables.stack_table[-1]
            profile.samples.add(stack_index=at, values=[count])
    tables.string_table.extend(strings)
    return request


def push_request(stacks, name=None, **labels):
    request = pb.pyroscope.PushRequest()
    series = request.series.add()
    for key, value in {"__name__": "process_cpu", "service_name": "demo", **labels}.items():
        series.labels.add(name=key, value=value)
    series.samples.add(raw_profile=pprof(stacks), ID=name or str(uuid.uuid4()))
    return request


def writeraw_request(stacks):
    request = pb.parca.WriteRawRequest(normalized=True)
    series = request.series.add()
    for key, value in (("__name__", "process_cpu"), ("job", "demo")):
        series.labels.labels.add(name=key, value=value)
    series.samples.add(raw_profile=pprof(stacks))
    return request


def curl(to, body, kind=None, *more):
    """(exit code, status, answer); the status is 0 without one."""
    done = subprocess.run(["curl", "-sS", "-o", "-", "-w", "\n%{http_code}", "-X", "POST", "--max-time",
                           "20", "--data-binary", "@-", "-H", f"Content-Type: {kind or ''}",
                           "-H", "Expect:", *more, to], input=body, capture_output=True, check=False)
    answer, _, status = done.stdout.rpartition(b"\n")
    return done.returncode, int(status or 0), answer


def url(server, path, scheme="http"):
    return f"{scheme}://localhost:{server.http_port}{path}"


def by_curl(tap, server):
    """Each way over HTTP/1.1 brings the samples."""
    ingest = "/ingest?" + urllib.parse.urlencode({"name": "demo{region=eu,team=a b}", "from": START // 10**9,
                                                  "until": START // 10**9 + 3, "format": "pprof",
                                                  "spyName": "test", "sampleRate": 99})
    push = push_request(PROFILE)
    push_json = {"series": [{"labels": [{"name": "__name__", "value": "process_cpu"},
                                        {"name": "service_name", "value": "demo"}],
                             "samples": [{"rawProfile": base64.b64encode(pprof(PROFILE)).decode(),
                                          "ID": str(uuid.uuid4())}]}]}
    raw = {"series": [{"labels": {"labels": [{"name": "__name__", "value": "process_cpu"}]},
                       "samples": [{"rawProfile": base64.b64encode(pprof(PROFILE)).decode()}]}]}
    form = b"--b\r\nContent-Disposition: form-data; name=\"profile\"; filename=\"p\"\r\n\r\n" + \
        pprof(PROFILE) + b"\r\n--b--\r\n"
    zipped = ("-H", "Content-Encoding: gzip")
    for name, path, body, kind, more in (
            ("ingest", ingest, pprof(PROFILE), "application/octet-stream", ()),
            ("ingest with a form", ingest, form, "multipart/form-data; boundary=b", ()),
            ("push", receiver.PUSH, push.SerializeToString(), "application/proto", ()),
            ("push with gzip", receiver.PUSH, gzip.compress(push.SerializeToString()),
             "application/proto", zipped),
            ("push with JSON", receiver.PUSH, json.dumps(push_json).encode(), "application/json", ()),
            ("writeraw", receiver.WRITERAW[1], json.dumps(raw).encode(), "application/json", ()),
            ("writeraw below /api", receiver.WRITERAW[0], json.dumps(raw).encode(), "application/json",
             ()),
            ("OTLP", receiver.OTLP, otlp(PROFILE, b"i" * 16).SerializeToString(),
             "application/x-protobuf", ()),
            ("OTLP with gzip", receiver.OTLP, gzip.compress(otlp(PROFILE, b"j" * 16).SerializeToString()),
             "application/x-protobuf", zipped),
            ("a body in chunks", receiver.OTLP, otlp(PROFILE, b"k" * 16).SerializeToString(),
             "application/x-protobuf", ("-H", "Transfer-Encoding: chunked"))):
        code, status, answer = curl(url(server, path), body, kind, *more)
        got = received_samples(server.requests[-1:])
        tap.ok((code, status) == (0, 200) and got.samples == PROFILE and not got.errors,
               f"curl: {name}", f"{code} {status} {answer[:200]} {dict(got.samples)}")
    entry = server.requests[0]
    tap.ok(entry["profiles"][0]["labels"] == {"region": "eu", "team": "a b"} and
           entry["profiles"][0]["service"] == "demo", "the labels of an /ingest are read",
           str(entry["profiles"][0]["labels"]))
    with open(os.path.join(server.out, "requests.ndjson"), encoding="utf-8") as file:
        tap.ok([json.loads(line) for line in file] == json.loads(json.dumps(server.requests)),
               "the file has all requests")
    if shutil.which("go"):
        done = subprocess.run(["go", "tool", "pprof", "-raw", os.path.join(server.out, "2-0.pb.gz")],
                              capture_output=True, check=False, env={**os.environ, "HOME": server.out})
        tap.ok(done.returncode == 0 and b"comm:[web]" in done.stdout, "Go's pprof reads what was kept",
               done.stderr.decode()[:200])
    else:
        tap.skip("Go's pprof reads what was kept", "no go")
    text = messages.decode("push.v1.PushRequest", server.body(3))
    tap.ok(text is not None and '"process_cpu"' in text, "protoc reads the body that was kept")


def refusals(tap, server):
    """What servers refuse is refused, with their statuses and forms."""
    protobuf, octets = "application/proto", "application/octet-stream"

    def broken(**labels):
        return push_request(PROFILE, **labels).SerializeToString()

    unnamed = pb.pyroscope.PushRequest.FromString(broken())
    del unnamed.series[0].labels[0]
    for name, path, body, kind, want, text in (
            ("another path", "/nothing", b"", protobuf, 404, b"not found"),
            ("no type", receiver.PUSH, b"", None, 415, b"not known"),
            ("another type", receiver.OTLP, b"", octets, 415, b"not known"),
            ("nothing to push", receiver.PUSH, b"", protobuf, 400, b'"invalid_argument"'),
            ("no protobuf", receiver.PUSH, b"\xff" * 9, protobuf, 400, b"decoded"),
            ("no pprof", receiver.PUSH, push_request(PROFILE).SerializeToString().replace(
                b"\x1f\x8b", b"\x1f\x8c"), protobuf, 400, b"no pprof"),
            ("no name", receiver.PUSH, unnamed.SerializeToString(), protobuf, 400, b"__name__"),
            ("an invalid label", receiver.PUSH, broken(**{"a-b": "1"}), protobuf, 400, b"a-b"),
            ("an ID that is no UUID", receiver.PUSH,
             push_request(PROFILE, "1234").SerializeToString(), protobuf, 400, b"UUID"),
            ("ingest without a name", "/ingest?format=pprof", pprof(PROFILE), octets, 400, b"name"),
            ("OTLP with a wrong index", receiver.OTLP,
             otlp(PROFILE, b"i" * 16).SerializeToString().replace(b"\x08\x01\x22\x01", b"\x08\x7f\x22\x01"),
             "application/x-protobuf", 400, b"index")):
        code, status, answer = curl(url(server, path), body, kind)
        tap.ok(code == 0 and status == want and text in answer and not server.requests[-1]["accepted"],
               f"refused: {name}", f"{status} {answer[:100]}")
    done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                           url(server, receiver.PUSH)], capture_output=True, check=False)
    tap.ok(done.stdout == b"405", "refused: a GET", done.stdout.decode())
    code, status, answer = curl(url(server, receiver.OTLP), b"", "application/x-protobuf")
    tap.ok((code, status, answer) == (0, 200, b""), "OTLP takes a request of no bytes")


def faults(tap, server):
    """Each fault happens to one request, and the next one is taken."""
    body = push_request(PROFILE).SerializeToString()

    def post(*some):
        server.faults[:] = some
        before = time.monotonic()
        code, status, answer = curl(url(server, receiver.PUSH), body, "application/proto", "-D", "-")
        return code, status, answer, time.monotonic() - before, server.requests[-1]

    code, status, answer, _, entry = post(Fault(status=429, retry=2))
    tap.ok(status == 429 and b"Retry-After: 2\r\n" in answer and b"resource_exhausted" in answer and
           not entry["accepted"] and entry["status"] == 429, "a status with Retry-After", str(status))
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    code, status, answer, _, entry = post(Fault(status=503, retry=date))
    tap.ok(status == 503 and f"Retry-After: {date}\r\n".encode() in answer, "Retry-After is a date")
    code, status, answer, took, entry = post(Fault(delay=0.4))
    tap.ok(status == 200 and took >= 0.4 and entry["accepted"], "a delay", f"{took:.2f} s")
    for close, accepted in (("before", False), ("half", False), ("unread", False), ("after", True)):
        code, status, answer, _, entry = post(Fault(close=close))
        tap.ok(code in (52, 55, 56) and status == 0 and entry["accepted"] == accepted and
               entry["closed"] == close and entry["status"] is None,
               f"a connection is cut: {close}", f"{code} {entry['bytes']}")
    code, status, answer, _, entry = post(Fault(status=413, above=len(body), count=None))
    tap.ok(status == 200, "a body of the size that is allowed")
    for _ in range(2):
        code, status, answer, _, entry = post(Fault(status=413, above=len(body) - 1, count=None))
        tap.ok(status == 413 and not entry["accepted"], "a body that is too large")
    code, status, answer, _, entry = post(Fault(answer=receiver.PAGE))
    tap.ok(status == 200 and receiver.PAGE in answer and not entry["accepted"], "a page as the answer")
    code, status, answer, _, entry = post(Fault(status=500, where=("otlp",)))
    tap.ok(status == 200 and len(server.faults) == 1, "a fault waits for its protocol")
    server.faults[:] = [Fault(rejected=1, text="too old")]
    code, status, answer = curl(url(server, receiver.OTLP), otlp(PROFILE, b"l" * 16).SerializeToString(),
                                "application/x-protobuf")
    partial = pb.collector.ExportProfilesServiceResponse.FromString(answer).partial_success
    tap.ok(status == 200 and (partial.rejected_profiles, partial.error_message) == (1, "too old") and
           received_samples(server.requests[-1:]).samples == {(8, "db", ()): 1}, "a partial success")


def by_grpc(tap, server):
    """grpcio's client."""
    def method(channel, service, name, answer):
        return channel.unary_unary(f"/{service}/{name}", request_serializer=lambda m: m.SerializeToString(),
                                   response_deserializer=answer.FromString)

    def outcome(call, request, **more):
        """(code, details of the error, answer)"""
        try:
            return "OK", None, call(request, timeout=10, **more)
        except grpc.RpcError as error:
            details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
            return error.code().name, details and pb.status.Status.FromString(details), error.details()

    def cut(close):
        # A channel of its own: the one that was cut waits before it connects again.
        with grpc.insecure_channel(f"localhost:{server.grpc_port}") as own:
            call = method(own, receiver.OTLP_SERVICE, "Export", pb.collector.ExportProfilesServiceResponse)
            server.faults[:] = [Fault(close=close, where=("otlp-grpc",))]
            return outcome(call, otlp(PROFILE, b"m" * 16))

    with grpc.insecure_channel(f"localhost:{server.grpc_port}") as channel:
        write = method(channel, receiver.PARCA_SERVICE, "WriteRaw", pb.parca.WriteRawResponse)
        export = method(channel, receiver.OTLP_SERVICE, "Export",
                        pb.collector.ExportProfilesServiceResponse)
        for name, call, request in (("WriteRaw", write, writeraw_request(PROFILE)),
                                    ("Export", export, otlp(PROFILE, b"n" * 16))):
            for how in (grpc.Compression.NoCompression, grpc.Compression.Gzip):
                code, _, answer = outcome(call, request, compression=how,
                                          metadata=[("authorization", "Bearer secret")])
                got = received_samples(server.requests[-1:])
                tap.ok(code == "OK" and got.samples == PROFILE and not got.errors,
                       f"gRPC: {name}, {how.name}", f"{code} {answer} {dict(got.samples)}")
        headers = server.requests[-1]["headers"]
        tap.ok(headers["authorization"] == receiver.hashed("Bearer secret"), "a secret is not kept")
        server.faults[:] = [Fault(code="RESOURCE_EXHAUSTED", retry=1.5)]
        code, details, _ = outcome(export, otlp(PROFILE, b"o" * 16))
        retry = pb.status.RetryInfo.FromString(details.details[0].value).retry_delay if details else None
        tap.ok(code == "RESOURCE_EXHAUSTED" and details.details[0].type_url.endswith("RetryInfo") and
               (retry.seconds, retry.nanos) == (1, 500_000_000) and not server.requests[-1]["accepted"],
               "gRPC: a code with RetryInfo", code)
        for want in ("UNAVAILABLE", "INVALID_ARGUMENT"):
            server.faults[:] = [Fault(code=want)]
            code, details, _ = outcome(write, writeraw_request(PROFILE))
            tap.ok(code == want and details is None, f"gRPC: {want}", code)
        server.faults[:] = [Fault(rejected=1, text="too old")]
        code, _, answer = outcome(export, otlp(PROFILE, b"p" * 16))
        tap.ok(code == "OK" and answer.partial_success.rejected_profiles == 1, "gRPC: a partial success")
        unknown = method(channel, receiver.OTLP_SERVICE, "Other", pb.parca.WriteRawResponse)
        code, _, _ = outcome(unknown, writeraw_request(PROFILE))
        tap.ok(code == "UNIMPLEMENTED", "gRPC: another method", code)
        code, _, _ = outcome(write, pb.parca.WriteRawRequest(series=[pb.parca.RawProfileSeries()]))
        tap.ok(code == "INVALID_ARGUMENT", "gRPC: no labels", code)
    for close, accepted in (("before", False), ("half", False), ("unread", False), ("after", True)):
        code, _, text = cut(close)
        entry = server.requests[-1]
        tap.ok(code == "UNAVAILABLE" and entry["closed"] == close and entry["accepted"] == accepted,
               f"gRPC: a connection is cut: {close}", f"{code} {text}")


def by_nghttp(tap, server, folder):
    """HTTP/2 with prior knowledge, by nghttp2's own client, which knows no gRPC."""
    if not shutil.which("nghttp"):
        return tap.skip("nghttp", "no nghttp")
    body = otlp(PROFILE, b"q" * 16).SerializeToString()
    path = os.path.join(folder, "message")
    with open(path, "wb") as file:
        file.write(b"\0" + len(body).to_bytes(4, "big") + body)
    done = subprocess.run(
        ["nghttp", "-v", "-n", "--no-dep", "-d", path, "-H", "content-type: application/grpc",
         "-H", "te: trailers", f"http://localhost:{server.grpc_port}/{receiver.OTLP_SERVICE}/Export"],
        capture_output=True, check=False, timeout=30)
    got = received_samples(server.requests[-1:])
    return tap.ok(b"grpc-status: 0" in done.stdout and got.samples == PROFILE, "nghttp",
                  done.stdout.decode("utf-8", "replace")[-300:] if got.samples != PROFILE else "")


def resent(tap):
    """A profile counts once however often it comes."""
    first = json.loads(json.dumps({"accepted": True, "profiles": receiver.push_profiles(
        push_request(PROFILE, str(uuid.UUID(int=5))))[0]}))
    other = json.loads(json.dumps({"accepted": True, "profiles": receiver.push_profiles(
        push_request({**PROFILE, (9, "x", ("y",)): 1}, str(uuid.UUID(int=5))))[0]}))
    got = received_samples([first, first, {**other, "accepted": False}])
    tap.ok(got.samples == PROFILE and len(got.resent) == 1 and not got.errors, "a resend counts once")
    got = received_samples([first, other])
    tap.ok(got.samples == PROFILE and len(got.errors) == 1, "an id that comes with other samples is an error",
           str(got.errors))
    got = received_samples([first], unit="nanoseconds")
    tap.ok(got.samples == {key: count * 10101010 for key, count in PROFILE.items()}, "values by their unit")
    got = received_samples([first], kind="cpu")
    tap.ok(got.samples == {key: count * 10101010 for key, count in PROFILE.items()}, "values by their type")


def secured(tap, folder):
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    body = push_request(PROFILE).SerializeToString()
    with Receiver(tls=(cert, key), out=os.path.join(folder, "tls")) as server:
        to = url(server, receiver.PUSH, "https")
        code, status, _ = curl(to, body, "application/proto", "--cacert", cert)
        tap.ok((code, status) == (0, 200), "TLS: curl", f"{code} {status}")
        code, status, _ = curl(to, body, "application/proto")
        tap.ok(code == 60 and len(server.requests) == 1, "TLS: an unknown certificate", str(code))
        server.faults.append(Fault(close="after"))
        code, status, _ = curl(to, body, "application/proto", "--cacert", cert)
        tap.ok(code in (52, 56) and server.requests[-1]["accepted"], "TLS: a connection is cut", str(code))
        with open(cert, "rb") as file:
            credentials = grpc.ssl_channel_credentials(file.read())
        with grpc.secure_channel(f"localhost:{server.grpc_port}", credentials) as channel:
            channel.unary_unary(f"/{receiver.PARCA_SERVICE}/WriteRaw")(
                writeraw_request(PROFILE).SerializeToString(), timeout=10)
        tap.ok(received_samples(server.requests[-1:]).samples == PROFILE, "TLS: gRPC")


def as_command(tap, folder):
    """The receiver as a program of its own, which speaks a part."""
    out = os.path.join(folder, "command")
    program = subprocess.Popen([sys.executable, os.path.join(HERE, "receiver.py"), "--http", "0", "--grpc",
                                "0", "--out", out, "--speak", "ingest,otlp-grpc,parca-page", "--control"],
                               stdout=subprocess.PIPE)
    try:
        port = json.loads(program.stdout.readline())["http"]
        where = f"http://localhost:{port}"
        _, status, answer = curl(where + "/profiles/writeraw", b"{}", "application/json")
        tap.ok(status == 200 and answer + b"\n" in receiver.PAGE + b"\n", "Parca's page, where nothing is",
               f"{status} {answer}")
        code, status, _ = curl(where + "/control/faults", b'[{"status": 503}]', None, "-X", "PUT")
        statuses = [curl(where + "/ingest?format=pprof&name=a", pprof(PROFILE))[1] for _ in range(2)]
        tap.ok(status == 200 and statuses == [503, 200], "faults by a request", f"{status} {statuses}")
        with open(os.path.join(out, "requests.ndjson"), encoding="utf-8") as file:
            tap.ok([json.loads(line)["status"] for line in file][1:] == [503, 200], "the file of a program")
    finally:
        program.terminate()
        tap.ok(program.wait(10) == 0, "it ends when it is told to")


CLIENT = """
const pyroscope = require('@pyroscope/nodejs');
pyroscope.init({serverAddress: process.argv[2], appName: 'demo', tags: {region: 'eu', team: 'a b'},
    flushIntervalMs: 1000, tenantID: 't1', authToken: 'secret', wall: {collectCpuTime: true}});
pyroscope.start();
const end = Date.now() + 1800;
function spin() {
    let x = 0;
    for (let i = 0; i < 5e6; i++) x += Math.sqrt(i);
    if (Date.now() < end) setImmediate(spin);
    else pyroscope.stop().then(() => process.exit(0));
}
spin();
"""


def by_pyroscope(tap, server, folder):
    """Pyroscope's own client, if npm has it within a minute."""
    name = "Pyroscope's client for node"
    if not shutil.which("npm") or not shutil.which("node"):
        return tap.skip(name, "no npm or no node")
    place = os.path.join(folder, "node")
    os.mkdir(place)
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                               "--fetch-retries=0", "--prefix", place, "@pyroscope/nodejs@0.6.4"], capture_output=True, check=False,
                              timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return tap.skip(name, "npm took too long")
    if done.returncode:
        return tap.skip(name, "npm cannot install it here")
    with open(os.path.join(place, "push.cjs"), "w", encoding="ascii") as file:
        file.write(CLIENT)
    first = len(server.requests)
    done = subprocess.run(["node", os.path.join(place, "push.cjs"), url(server, "")], capture_output=True,
                          check=False, timeout=60)
    came = server.requests[first:]
    want = {"region": "eu", "team": "a b"}
    tap.ok(done.returncode == 0 and came and
           all(one["protocol"] == "ingest" and one["accepted"] for one in came) and
           all(want.items() <= one["profiles"][0]["labels"].items() for one in came) and
           any(["cpu", "nanoseconds"] in one["profiles"][0]["types"] for one in came), name,
           f"{len(came)} requests {done.stderr.decode()[-200:]}")
    one = came[-1] if came else {"headers": {}, "path": ""}
    headers = {key: one["headers"].get(key) for key in ("x-scope-orgid", "content-type", "authorization",
                                                        "content-encoding")}
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(one["path"]).query)
    return tap.ok(headers == {"x-scope-orgid": "t1", "content-type": "application/octet-stream",
                              "authorization": receiver.hashed("Bearer secret"),
                              "content-encoding": None} and
                  set(query) - {"sampleRate"} == {"format", "from", "name", "spyName", "until"},
                  f"{name}: its form is as the first comment says", f"{headers} {sorted(query)}")


def main():
    tap = Results()
    with tempfile.TemporaryDirectory() as folder:
        with Receiver(out=os.path.join(folder, "out")) as server:
            by_curl(tap, server)
            refusals(tap, server)
            faults(tap, server)
            server.faults.clear()
            by_grpc(tap, server)
            server.faults.clear()
            by_nghttp(tap, server, folder)
            by_pyroscope(tap, server, folder)
            tap.ok(not server.broken, "the receiver has no error of its own", "; ".join(server.broken))
        resent(tap)
        secured(tap, folder)
        as_command(tap, folder)
    tap.done()


main()
