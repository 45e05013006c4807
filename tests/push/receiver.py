# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver of profiles for tests: the services of Pyroscope, Parca and OTLP, made of Python's HTTP
server, grpcio and protobuf, so that nothing of it is stacktop's. In its folder are each request's
decoded body, N.body, and each of its pprof profiles, N-I.pb.gz.

Paths: push        /push.v1.PusherService/Push     Pyroscope, protobuf
       ingest      /ingest                         Pyroscope, pprof
       writeraw    /profiles/writeraw              Parca, JSON; also below /api, where Parca has it
       otlp        /v1development/profiles         OTLP, protobuf
       parca-grpc  parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw
       otlp-grpc   opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export
What is not spoken is answered as the servers do: 404, UNIMPLEMENTED, or `parca-page`, which is Parca's
page with status 200 for a path that its gateway does not have.
"""

import base64
import collections
import concurrent.futures
import dataclasses
import functools
import gzip
import hashlib
import http.server
import io
import json
import os
import re
import socket
import ssl
import struct
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")     # handshakes that fail are what tests want
import grpc  # noqa: E402
import messages  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from google.protobuf.message import DecodeError  # noqa: E402

pb = messages.import_all()

PUSH = "/push.v1.PusherService/Push"
INGEST = "/ingest"
WRITERAW = ("/api/profiles/writeraw", "/profiles/writeraw")
OTLP = "/v1development/profiles"
PARCA_SERVICE = "parca.profilestore.v1alpha1.ProfileStoreService"
OTLP_SERVICE = "opentelemetry.proto.collector.profiles.v1development.ProfilesService"
SPEAKS = ("push", "ingest", "writeraw", "otlp", "parca-grpc", "otlp-grpc")
PAGE = b"<!doctype html><html><head><title>Parca</title></head><body></body></html>\n"
# The names of errors in Connect's JSON, by HTTP status.
CONNECT_CODES = {400: "invalid_argument", 401: "unauthenticated", 403: "permission_denied",
                 404: "unimplemented", 429: "resource_exhausted", 500: "internal", 503: "unavailable",
                 504: "deadline_exceeded"}
# Pyroscope's rule for names of labels.
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.]*")
TYPES = {"push": "application/proto", "writeraw": "application/json", "otlp": "application/x-protobuf"}


class Refused(Exception):
    """A request that a server would not take."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


@dataclasses.dataclass
class Fault:
    """What happens to a request, in place of the answer it would get.

    Of `where`'s protocols only (None: all); `count` times (None: always); `above`: only to requests whose
    body has more bytes, as it was sent. `delay` is in seconds. `close` cuts the connection: "before" the
    body is read, after "half" of it, "unread" (all of it was read, nothing is kept), or "after" the
    request was processed and before the answer. `status` and `code` are the answer of HTTP and of gRPC;
    `retry` is the wait that goes with it: seconds, or the text of the header. `rejected` profiles are not
    kept, which a partial success says. `answer` and `kind` are the body and type of an answer of 200.
    """

    status: int = 0
    code: str = ""
    retry: object = None
    delay: float = 0
    close: str = ""
    rejected: int = 0
    text: str = "as the test wants"
    above: int = -1
    answer: bytes = None
    kind: str = "text/html"
    where: tuple = None
    count: int = 1
    half: int = 300     # of gRPC: the bytes of the connection that are let through


# --- from messages to profiles --------------------------------------------------------------------


def unzipped(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


# Many stacks share a location: each is decoded once in a message, so that its frames are shared, too.
def frames_of(stack, lines_of):
    """Outermost first, from locations and lines that are innermost first."""
    return [frame for location in reversed(stack) for frame in reversed(lines_of(location))]


def pprof_profiles(raw, service, labels, name):
    """The profile of a pprof message. Refuses what Go's reader of the format refuses."""
    try:
        profile = pb.pprof.Profile.FromString(unzipped(raw))
    except (DecodeError, OSError, EOFError) as error:
        raise Refused(400, f"no pprof profile: {error}") from error
    text = profile.string_table
    if not text or text[0] or not profile.sample_type:
        raise Refused(400, "no pprof profile: an empty string must be the first one")
    mappings = {mapping.id: mapping for mapping in profile.mapping}
    functions = {function.id: function for function in profile.function}
    locations = {location.id: location for location in profile.location}
    for table, of in ((mappings, profile.mapping), (functions, profile.function),
                      (locations, profile.location)):
        if len(table) != len(of) or 0 in table:
            raise Refused(400, "no pprof profile: an id is 0 or not unique")

    @functools.cache
    def lines_of(number):
        location = locations[number]
        mapping = mappings[location.mapping_id] if location.mapping_id else None
        of = [(line, functions[line.function_id]) for line in location.line]
        return [{"name": text[function.name], "module": text[mapping.filename] if mapping else None,
                 "file": text[function.filename], "line": line.line or function.start_line, "kind": None,
                 "build": text[mapping.build_id] if mapping else None} for line, function in of]

    def label(one):
        return text[one.str] if one.str else one.num

    samples = []
    try:
        types = [[text[kind.type], text[kind.unit]] for kind in profile.sample_type]
        for sample in profile.sample:
            if len(sample.value) != len(types):
                raise Refused(400, "no pprof profile: a sample has another number of values")
            keys = [text[one.key] for one in sample.label]
            if len(set(keys)) != len(keys):
                raise Refused(400, f"no pprof profile: a label twice: {keys}")
            samples.append({"labels": {text[one.key]: label(one) for one in sample.label},
                            "frames": frames_of(sample.location_id, lines_of),
                            "values": list(sample.value)})
        kind = types[-1]
        for one in types:
            if profile.default_sample_type and one[0] == text[profile.default_sample_type]:
                kind = one
        period = profile.period_type
        return [{"service": service, "labels": labels, "id": name, "type": kind[0], "unit": kind[1],
                 "types": types, "period_type": text[period.type], "period_unit": text[period.unit],
                 "period": profile.period, "time": profile.time_nanos,
                 "duration": profile.duration_nanos, "samples": samples}]
    except (IndexError, KeyError) as error:
        raise Refused(400, f"no pprof profile: an index without an entry: {error}") from error


def any_value(value, text):
    kind = value.WhichOneof("value")
    if kind == "string_value_strindex":
        return text[value.string_value_strindex]
    if kind == "array_value":
        return [any_value(one, text) for one in value.array_value.values]
    if kind == "kvlist_value":
        return {one.key: any_value(one.value, text) for one in value.kvlist_value.values}
    if kind == "bytes_value":
        return value.bytes_value.hex()
    return getattr(value, kind) if kind else None


def otlp_profiles(request):
    """The profiles of a request of OTLP; resource attributes are labels of each sample."""
    tables = request.dictionary
    text = tables.string_table

    def attributes(indices):
        found = {}
        for index in indices:
            one = tables.attribute_table[index]
            found[text[one.key_strindex]] = any_value(one.value, text)
        return found

    @functools.cache
    def lines_of(index):
        location = tables.location_table[index]
        mapping = tables.mapping_table[location.mapping_index]
        build = attributes(mapping.attribute_indices)
        kind = attributes(location.attribute_indices).get("profile.frame.type")
        of = [(line, tables.function_table[line.function_index]) for line in location.lines]
        return [{"name": text[function.name_strindex],
                 "module": text[mapping.filename_strindex] if location.mapping_index else None,
                 "file": text[function.filename_strindex], "line": line.line or function.start_line,
                 "kind": kind, "build": build.get("process.executable.build_id.gnu")}
                for line, function in of]

    found = []
    try:
        for group in request.resource_profiles:
            resource = {one.key or text[one.key_strindex]: any_value(one.value, text)
                        for one in group.resource.attributes}
            for scope in group.scope_profiles:
                for profile in scope.profiles:
                    samples = []
                    for sample in profile.samples:
                        stack = tables.stack_table[sample.stack_index].location_indices
                        values = list(sample.values)
                        if sample.timestamps_unix_nano and not values:
                            values = [1] * len(sample.timestamps_unix_nano)
                        samples.append({"labels": {**resource, **attributes(sample.attribute_indices)},
                                        "frames": frames_of(stack, lines_of),
                                        "values": [sum(values)]})
                    kind, period = profile.sample_type, profile.period_type
                    own = attributes(profile.attribute_indices)
                    found.append({
                        "service": resource.get("service.name"), "labels": {**resource, **own},
                        "id": profile.profile_id.hex(), "type": text[kind.type_strindex],
                        "unit": text[kind.unit_strindex],
                        "types": [[text[kind.type_strindex], text[kind.unit_strindex]]],
                        "period_type": text[period.type_strindex],
                        "period_unit": text[period.unit_strindex], "period": profile.period,
                        "time": profile.time_unix_nano, "duration": profile.duration_nano,
                        "samples": samples})
    except IndexError as error:
        raise Refused(400, f"an index without an entry: {error}") from error
    return found


def labels_of(pairs, required):
    labels = {pair.name: pair.value for pair in pairs}
    if len(labels) != len(pairs):
        raise Refused(400, "a label twice")
    for name, value in labels.items():
        if not LABEL_NAME.fullmatch(name) or len(value) > 2048:
            raise Refused(400, f"invalid label {name}={value[:100]}")
    for name in required:
        if not labels.get(name):
            raise Refused(400, f"the label {name} is missing")
    return labels


def content_id(raw):
    """What stands for the id where the protocol has none: a resend has the same bytes."""
    return "content:" + hashlib.sha256(unzipped(raw)).hexdigest()[:32]


def push_profiles(request):
    """The profiles of a request to Pyroscope, and the bytes of each."""
    if not request.series:
        raise Refused(400, "no profiles received")
    found, raws = [], []
    for series in request.series:
        labels = labels_of(series.labels, ["__name__"])
        for sample in series.samples:
            if sample.ID:
                try:
                    uuid.UUID(sample.ID)
                except ValueError as error:
                    raise Refused(400, f"the ID {sample.ID} is no UUID") from error
            raws.append(sample.raw_profile)
            found += pprof_profiles(sample.raw_profile, labels.get("service_name"), labels,
                                    sample.ID or content_id(sample.raw_profile))
    return found, raws


def parca_profiles(request):
    found, raws = [], []
    for series in request.series:
        labels = labels_of(series.labels.labels, ["__name__"])
        for sample in series.samples:
            raws.append(sample.raw_profile)
            found += pprof_profiles(sample.raw_profile, labels.get("service_name") or labels.get("job"),
                                    labels, content_id(sample.raw_profile))
    return found, raws


def ingest_profiles(query, body):
    """Pyroscope's /ingest: the name is NAME{LABEL=VALUE,...}, times are in seconds, sampleRate in Hz, and the
    body is pprof's gzip without a Content-Encoding, as @pyroscope/nodejs 0.6.4 sends them."""
    match = re.fullmatch(r"([^{}]+)(?:\{([^{}]*)\})?", query.get("name", ""))
    if not match:
        raise Refused(400, f"name: invalid: {query.get('name')}")
    labels = {}
    for pair in (match.group(2) or "").split(","):
        name, equal, value = pair.partition("=")
        if equal:
            if not LABEL_NAME.fullmatch(name.strip()):
                raise Refused(400, f"name: invalid label {name}")
            labels[name.strip()] = value.strip()
    if query.get("format") != "pprof":
        raise Refused(400, f"format {query.get('format')} is not for tests")
    for name in ("from", "until", "sampleRate"):
        if not query.get(name, "0").isdecimal():
            raise Refused(400, f"{name} is no number: {query[name]}")
    found = pprof_profiles(body, match.group(1).strip(), labels, content_id(body))
    return found, [body]


# --- what came ------------------------------------------------------------------------------------

Received = collections.namedtuple("Received", "samples errors resent")


def sample_key(sample):
    labels = sample["labels"]
    pid = labels.get("pid", labels.get("process.pid"))
    comm = labels.get("comm", labels.get("process.executable.name"))
    return (None if pid is None else int(pid), comm, tuple(frame["name"] for frame in sample["frames"]))


def received_samples(requests, unit="count"):
    """(samples, errors, resent) of the requests that were processed.

    `samples` counts by (PID, comm, names of the frames from the outermost one on) the values of the first
    type with this unit. A profile whose id came before is in `resent` and counts
    once; if its samples are others, `errors` says so.
    """
    samples, errors, resent, seen = collections.Counter(), [], [], {}
    for request in requests:
        if not request["accepted"]:
            continue
        for profile in request["profiles"]:
            at = [i for i, one in enumerate(profile["types"]) if one[1] == unit][:1]
            same = {**profile, "labels": None}
            if profile["id"]:
                if profile["id"] in seen:
                    resent.append(profile["id"])
                    if seen[profile["id"]] != same:
                        errors.append(f"{profile['id']} came twice with different samples")
                    continue
                seen[profile["id"]] = same
            else:
                errors.append(f"a profile of {profile['service']} has no id")
            for sample in profile["samples"] if at else ():
                samples[sample_key(sample)] += sample["values"][at[0]]
    return Received(samples, errors, resent)


# --- the servers -----------------------------------------------------------------------------------

def reset(connection):
    """Ends a connection so that the other end sees it broken, not complete."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    try:
        # The descriptor may be shared with files made of the socket.
        socket.socket(fileno=os.dup(connection.fileno())).shutdown(socket.SHUT_RD)
    except OSError:
        pass
    connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    """Requests of HTTP/1.1 connections."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def setup(self):
        if self.server.tls:
            self.request.settimeout(10)
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass

    def answer(self, status, body=b"", kind="text/plain", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return status

    def cut(self):
        self.close_connection = True
        for file in (self.rfile, self.wfile):
            try:
                file.close()
            except OSError:
                pass
        self.wfile = io.BytesIO()   # which the caller flushes
        # A TLS connection ends without its farewell.
        reset(socket.socket(fileno=self.connection.detach()))

    def wire_size(self):
        return int(self.headers.get("Content-Length", 0))

    def read_body(self, part=1.0):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    return body
        return self.rfile.read(int(self.wire_size() * part))

    def unpacked(self, wire):
        how = self.headers.get("Content-Encoding", "identity")
        if how == "identity":
            return wire
        if how != "gzip":
            raise Refused(415, f"the encoding {how} is not known")
        try:
            return gzip.decompress(wire)
        except (OSError, EOFError) as error:
            raise Refused(400, f"no gzip: {error}") from error

    def route(self):
        path = urllib.parse.urlsplit(self.path).path
        names = {PUSH: "push", INGEST: "ingest", OTLP: "otlp", **{one: "writeraw" for one in WRITERAW}}
        return names.get(path) if names.get(path) in self.server.owner.speak else None

    def do_GET(self):
        self.answer(404 if self.route() is None else 405)

    def do_POST(self):
        owner, name = self.server.owner, self.route()
        entry = {"time": time.time(), "protocol": name, "path": self.path,
                 "headers": owner.plain_headers(self.headers.items()), "bytes": {"raw": 0, "wire": 0},
                 "status": None, "closed": "", "accepted": False, "error": "", "profiles": []}
        fault = owner.take(name, self.wire_size())
        if fault and fault.delay:
            owner.stopped.wait(fault.delay)
        if fault and fault.close in ("before", "half"):
            entry["bytes"]["wire"] = len(self.read_body(0.5)) if fault.close == "half" else 0
            entry["closed"] = fault.close
            owner.keep(entry)
            return self.cut()
        wire = self.read_body()
        entry["bytes"]["wire"] = len(wire)
        if fault and fault.close == "unread":
            entry["closed"] = fault.close
            owner.keep(entry)
            return self.cut()
        body, raws = b"", []
        try:
            if name is None:
                raise Refused(404, "404 page not found")
            if fault and (fault.status or fault.answer is not None) and not fault.close:
                raise Refused(fault.status or 200, fault.text)
            body = self.unpacked(wire)
            entry["bytes"]["raw"] = len(body)
            entry["profiles"], raws = self.profiles(name, body)
            entry["accepted"] = True
        except Refused as error:
            entry["error"], entry["status"] = str(error), error.status
        if fault and fault.rejected:
            del entry["profiles"][:fault.rejected]
        if fault and fault.close == "after":
            entry["closed"] = fault.close
            owner.keep(entry, body, raws)
            return self.cut()
        entry["status"] = entry["status"] or 200
        owner.keep(entry, body, raws)   # before the answer, so that a client that has it finds the entry
        return self.reply(name, entry, fault)

    def profiles(self, name, body):
        kind = self.headers.get("Content-Type", "")
        if name in TYPES and kind.split(";")[0].strip() != TYPES[name]:
            raise Refused(415, f"the type {kind} is not known")
        try:
            if name == "ingest":
                query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                return ingest_profiles(query, body)
            message, take = {
                "push": (pb.pyroscope.PushRequest, push_profiles),
                "writeraw": (pb.parca.WriteRawRequest, parca_profiles),
                "otlp": (pb.collector.ExportProfilesServiceRequest,
                         lambda request: (otlp_profiles(request), []))}[name]
            if name == "writeraw":
                # Fields that the server does not know are no errors.
                return take(json_format.Parse(body or b"{}", message(), ignore_unknown_fields=True))
            return take(message.FromString(body))
        except (DecodeError, json_format.ParseError) as error:
            raise Refused(400, f"the message cannot be decoded: {error}") from error

    def reply(self, name, entry, fault):
        status, text = entry["status"], entry["error"]
        headers = []
        if fault and fault.retry is not None:
            headers.append(("Retry-After", str(fault.retry)))
        if fault and fault.answer is not None:
            return self.answer(status, fault.answer, fault.kind, headers)
        if name is None and "parca-page" in self.server.owner.speak:
            return self.answer(200, PAGE, "text/html; charset=utf-8")
        if status == 415 and name in TYPES:
            headers.append(("Accept-Post", TYPES[name]))
        if status == 200 and name == "otlp":
            done = pb.collector.ExportProfilesServiceResponse()
            if fault and fault.rejected:
                done.partial_success.rejected_profiles = fault.rejected
                done.partial_success.error_message = fault.text
            return self.answer(200, done.SerializeToString(), "application/x-protobuf")
        if status == 200 and name in ("push", "writeraw"):
            return self.answer(200, b"{}" if name == "writeraw" else b"", TYPES[name])
        if status != 200 and name == "push":
            code = CONNECT_CODES.get(status, "unknown")
            return self.answer(status, json.dumps({"code": code, "message": text}).encode(),
                               "application/json", headers)
        if status != 200 and name == "writeraw":
            return self.answer(status, json.dumps({"code": 3, "message": text, "details": []}).encode(),
                               "application/json", headers)
        if status != 200 and name == "otlp" and status != 415:
            return self.answer(status, pb.status.Status(message=text).SerializeToString(),
                               "application/x-protobuf", headers)
        return self.answer(status, text.encode() + b"\n" if text else b"", "text/plain", headers)


class HttpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address, owner, tls):
        self.owner, self.tls = owner, tls
        super().__init__(address, Handler)

    def handle_error(self, request, client_address):
        self.owner.broken.append(str(sys.exc_info()[1]))


class Relay:
    """Passes the bytes of connections to another port, and cuts connections where a fault wants it:
    grpcio's server cannot."""

    def __init__(self, owner, port, to):
        self.owner, self.to = owner, to
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                client.close()
                continue
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.open.add(client)
            threading.Thread(target=self.up, args=(client, server), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, client), daemon=True).start()

    def up(self, client, server):
        passed = 0
        fault = None
        try:
            while True:
                data = client.recv(65536)
                if not data:
                    break
                fault = fault or self.owner.take("grpc-bytes", None)
                if fault:
                    limit = fault.half if fault.close == "half" else 0
                    server.sendall(data[:max(0, limit - passed)])
                    if passed + len(data) > limit:
                        self.owner.keep({"time": time.time(), "protocol": "grpc-bytes", "path": "",
                                         "headers": {}, "bytes": {"raw": 0, "wire": limit},
                                         "status": None, "closed": fault.close, "accepted": False,
                                         "error": "", "profiles": []})
                        self.open.discard(client)
                        reset(client)
                        break
                else:
                    server.sendall(data)
                passed += len(data)
        except OSError:
            pass
        self.end(server)

    def copy(self, source, target):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                target.sendall(data)
        except OSError:
            pass
        self.end(target)

    @staticmethod
    def end(connection):
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()

    def cut(self):
        for client in list(self.open):
            self.open.discard(client)
            reset(client)

    def stop(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.cut()


class Receiver:
    """Both servers. `requests` has what came, in the order of arrival; `faults` what will happen to the
    next requests. A port of None: not this one."""

    def __init__(self, http_port=0, grpc_port=0, out=None, tls=None, speak=SPEAKS):
        self.speak = tuple(speak)
        self.out = out or tempfile.mkdtemp(prefix="receiver-")
        os.makedirs(self.out, exist_ok=True)
        self.requests, self.faults, self.broken = [], [], []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.http = self.grpc = self.relay = None
        self.tls = tls
        self.wanted = (http_port, grpc_port)

    @property
    def http_port(self):
        return self.http.server_address[1]

    @property
    def grpc_port(self):
        return self.relay.port

    def start(self):
        http_port, grpc_port = self.wanted
        if http_port is not None:
            context = None
            if self.tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(*self.tls)
            self.http = HttpServer(("127.0.0.1", http_port), self, context)
            threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        if grpc_port is not None:
            self.grpc = grpc.server(concurrent.futures.ThreadPoolExecutor(4),
                                    options=[("grpc.max_receive_message_length", -1)])
            self.grpc.add_generic_rpc_handlers(self.services())
            if self.tls:
                cert, key = (open(path, "rb").read() for path in self.tls)
                to = self.grpc.add_secure_port("127.0.0.1:0",
                                               grpc.ssl_server_credentials([(key, cert)]))
            else:
                to = self.grpc.add_insecure_port("127.0.0.1:0")
            self.grpc.start()
            self.relay = Relay(self, grpc_port, to)
        return self

    def stop(self):
        self.stopped.set()
        if self.http:
            self.http.shutdown()
            self.http.server_close()
        if self.relay:
            self.relay.stop()
        if self.grpc:
            self.grpc.stop(0).wait(5)

    __enter__ = start

    def __exit__(self, *_):
        self.stop()

    def services(self):
        """gRPC's handlers; without generated ones, which need another package."""
        found = []
        for speak, service, method, message, answer, take in (
                ("parca-grpc", PARCA_SERVICE, "WriteRaw", pb.parca.WriteRawRequest,
                 pb.parca.WriteRawResponse, parca_profiles),
                ("otlp-grpc", OTLP_SERVICE, "Export", pb.collector.ExportProfilesServiceRequest,
                 pb.collector.ExportProfilesServiceResponse,
                 lambda request: (otlp_profiles(request), []))):
            if speak not in self.speak:
                continue

            def handle(body, context, speak=speak, path=f"/{service}/{method}", message=message,
                       answer=answer, take=take):
                return self.call(speak, path, body, context, message, answer, take)

            found.append(grpc.method_handlers_generic_handler(service, {
                method: grpc.unary_unary_rpc_method_handler(
                    handle, request_deserializer=None,
                    response_serializer=lambda message: message.SerializeToString())}))
        return tuple(found)

    def call(self, name, path, body, context, message, answer, take):
        """One call of gRPC. Its body has been unpacked by grpcio, which does not tell the size before."""
        fault = self.take(name, len(body))
        entry = {"time": time.time(), "protocol": name, "path": path,
                 "headers": self.plain_headers(context.invocation_metadata()),
                 "bytes": {"raw": len(body), "wire": None}, "status": "OK", "closed": "",
                 "accepted": False, "error": "", "profiles": []}
        if fault and fault.delay:
            self.stopped.wait(fault.delay)
        raws, done = [], answer()
        try:
            if fault and fault.close == "unread":
                raise Refused(None, "")
            if fault and fault.code:
                raise Refused(fault.code, fault.text)
            entry["profiles"], raws = take(message.FromString(body))
            entry["accepted"] = True
        except Refused as error:
            entry["status"] = "INVALID_ARGUMENT" if error.status == 400 else error.status
            entry["error"] = str(error)
        except DecodeError as error:
            entry["status"], entry["error"] = "INTERNAL", str(error)
        if fault and fault.rejected and name == "otlp-grpc":
            del entry["profiles"][:fault.rejected]
            done.partial_success.rejected_profiles = fault.rejected
            done.partial_success.error_message = fault.text
        if fault and fault.close in ("after", "unread"):
            entry["closed"], entry["status"] = fault.close, None
            self.keep(entry, body, raws)
            self.relay.cut()
            context.abort(grpc.StatusCode.ABORTED, "cut")
        self.keep(entry, body, raws)
        if entry["status"] != "OK":
            code = grpc.StatusCode[entry["status"]]
            if fault and fault.retry is not None:
                status = pb.status.Status(code=code.value[0], message=entry["error"])
                wait = pb.status.RetryInfo()
                wait.retry_delay.seconds = int(fault.retry)
                wait.retry_delay.nanos = round((fault.retry - int(fault.retry)) * 1e9)
                status.details.add(type_url="type.googleapis.com/google.rpc.RetryInfo",
                                   value=wait.SerializeToString())
                context.set_trailing_metadata([("grpc-status-details-bin", status.SerializeToString())])
            context.abort(code, entry["error"])
        return done

    # What may be secret is kept as a hash, with which a test can compare.
    @staticmethod
    def plain_headers(pairs):
        found = {}
        for name, value in pairs:
            name = name.lower()
            if isinstance(value, bytes):
                value = base64.b64encode(value).decode()
            found[name] = hashed(value) if name in ("authorization", "proxy-authorization") else value
        return found

    def take(self, name, size):
        """The first fault that is meant for this request. Those that cut gRPC's connections before a call
        is complete are for the relay, which knows bytes only."""
        with self.lock:
            for fault in self.faults:
                grpc_only = fault.where and all(one.endswith("-grpc") for one in fault.where)
                if name == "grpc-bytes":
                    if not grpc_only or fault.close not in ("before", "half"):
                        continue
                elif fault.where and name not in fault.where or \
                        name and name.endswith("-grpc") and fault.close in ("before", "half") or \
                        fault.above >= 0 and size <= fault.above:
                    continue
                if fault.count is not None:
                    fault.count -= 1
                    if fault.count <= 0:
                        self.faults.remove(fault)
                return fault
        return None

    def keep(self, entry, body=b"", raws=()):
        with self.lock:
            number = len(self.requests)
            entry["number"] = number
            with open(os.path.join(self.out, f"{number}.body"), "wb") as file:
                file.write(body)
            for i, raw in enumerate(raws):
                with open(os.path.join(self.out, f"{number}-{i}.pb.gz"), "wb") as file:
                    file.write(raw)
            self.requests.append(entry)

    def body(self, number):
        with open(os.path.join(self.out, f"{number}.body"), "rb") as file:
            return file.read()


def hashed(value):
    return "sha256:" + hashlib.sha256(value.encode()).hexdigest()[:16]
