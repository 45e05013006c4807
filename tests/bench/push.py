# SPDX-License-Identifier: GPL-2.0-or-later
"""BENCH=push: bytes that a minute of docs/demo.session takes in each protocol, and what an agent costs:
its own CPU time beside that of perf, which follows frame pointers and writes to /dev/null, and its memory.
The receiver takes everything and looks at nothing."""

import base64
import gzip
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zlib

import live

SESSION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "demo.session")
PROTOCOLS = ("otlp+http", ""), ("pyroscope+http", ""), ("pyroscope+http", "/ingest"), ("parca+http", "")
AGENT_SECONDS = 60
GZIP = b"\x1f\x8b\x08"
BUSY = "import hashlib\nwhile True: hashlib.sha256(b'x' * 1000).hexdigest()"


class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((body, self.headers.get("Content-Encoding")))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


class Server:
    def __enter__(self):
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
        self.http.taken = []
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    @property
    def port(self):
        return self.http.server_port


def unpacked(body, encoding):
    """Bytes without compression, of the body or of the profiles that it has."""
    if encoding == "gzip":
        return len(gzip.decompress(body))
    if body.startswith(b"{"):
        return sum(len(gzip.decompress(base64.b64decode(sample["rawProfile"])))
                   for series in json.loads(body)["series"] for sample in series["samples"])
    size, at = 0, body.find(GZIP)
    while at >= 0:
        member = zlib.decompressobj(31)
        size += len(member.decompress(body[at:]))
        at = body.find(GZIP, len(body) - len(member.unused_data))
    return size


def sizes(table):
    for scheme, path in PROTOCOLS:
        with Server() as server:
            subprocess.run([live.STACKTOP, "-r", SESSION, "-b", "-o", "/dev/null", "--format", "text",
                            "--push", f"{scheme}://127.0.0.1:{server.port}{path}"], check=True,
                           stderr=subprocess.DEVNULL)
            sent = server.http.taken
        wire = sum(len(body) for body, _ in sent)
        raw = sum(unpacked(*one) for one in sent)
        table.row(f"a minute of the demo, {scheme}{path}", wire / 1000, "kB", None,
                  f"{raw / 1000:.1f} kB without compression, {len(sent)} requests")


def start(command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def started():
    with open("/proc/stat", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("processes ")).split()[1])


def share(process):
    """(its CPU time in % of a CPU after its start, processes started a second)"""
    time.sleep(AGENT_SECONDS)
    before, forks, when = live.process_seconds([process.pid]), started(), time.monotonic()
    time.sleep(AGENT_SECONDS)
    took = time.monotonic() - when
    return (100 * (live.process_seconds([process.pid]) - before) / took, (started() - forks) / took)


def agent(table):
    loads = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    peer = None
    try:
        if shutil.which("perf"):
            perf = start(["perf", "record", "-q", "-a", "-g", "-e", "cpu-clock", "-F", "19", "-o",
                          "/dev/null"])
            peer, _ = share(perf)
            perf.terminate()
            perf.wait()
        with Server() as server:
            top = start([live.STACKTOP, "--agent", "--push", f"otlp+http://127.0.0.1:{server.port}"])
            own, forks = share(top)
            memory = live.status_kb(top.pid, "VmRSS") / 1024
            most = live.status_kb(top.pid, "VmHWM") / 1024
            top.terminate()
            top.wait()
    finally:
        for load in loads:
            load.kill()
            load.wait()
    table.row("an agent at 19 Hz, own CPU", own, "%", 0.5,
              f"{forks:.0f} processes started a second" +
              ("" if peer is None else f"; perf record -g: {peer:.2f} %"), 2)
    table.row("its resident memory", memory, "MiB", 64, f"at most {most:.1f} MiB since its start")


def measure(table):
    sizes(table)
    agent(table)
