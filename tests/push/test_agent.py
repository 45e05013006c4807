#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""stacktop --agent: what its receiver, its service manager and its metrics see of it; what waits in its
spool while the server is away, and what is left of it after kill -9.

With SIZE=full the server is away for ten minutes; else for half a minute.

Covers: tui/agent_run.c tui/agent/listen.c tui/agent/notify.c tui/arguments.c tui/push/queue.c
Covers: tui/push/push.c tui/push/gather.c

time limit: 1200 s
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]
from live import STACKTOP, Gentle, Tap, need, status_kb, wait_for  # noqa: E402
from receiver import Receiver  # noqa: E402

BUSY = [sys.executable, "-c", "import hashlib\nwhile True: hashlib.sha256(b'x' * 1000).hexdigest()"]
EVERY = 2
AWAY = 600 if os.environ.get("SIZE") == "full" else 30
GROWTH_KB = 24 * 1024   # what caches may take meanwhile


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Manager:
    """A service manager, as far as it listens."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.said = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            self.said += self.socket.recv(65536).decode().splitlines()

    def has(self, word):
        return any(line == word or line.startswith(word + "=") for line in self.said)


class Agent:
    def __init__(self, folder, lines, options=(), env=None):
        self.conf = os.path.join(folder, "agent.conf")
        self.port = free_port()
        self.lines = {"push-every": EVERY, "listen": self.port, **lines}
        self.write()
        self.log = open(os.path.join(folder, f"log-{time.monotonic()}"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([STACKTOP, "--agent", "--config", self.conf, *options],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env={**os.environ, **(env or {})})

    def write(self):
        with open(self.conf, "w", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in self.lines.items())
        os.chmod(self.conf, 0o600)

    def text(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()

    def get(self, path):
        """(status, text); 0: it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name):
        found = re.search(rf"^{name} ([\d.e+]+)$", self.get("/metrics")[1], re.M)
        return float(found.group(1)) if found else -1

    def end(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        status = self.process.wait(60)
        self.log.close()
        return status


def samples_of(server):
    """All that were received, each once; profiles that came twice."""
    found, again = {}, 0
    for request in list(server.requests):
        for profile in request["profiles"] if request["status"] in (200, "OK") else ():
            again += profile["id"] in found
            found[profile["id"]] = sum(sum(sample["values"]) for sample in profile["samples"])
    return sum(found.values()), again


def profiles_of(server):
    return [profile for request in list(server.requests) for profile in request["profiles"]]


def test_service(tap, folder):
    """From the start to the end, with a server and a manager."""
    manager = Manager(folder)
    with Receiver() as server, Gentle(BUSY) as load:
        agent = Agent(folder, {"push": f"otlp+http://127.0.0.1:{server.http_port}", "label": "env=prod",
                               "frequency": 99},
                      env={"NOTIFY_SOCKET": manager.path, "STACKTOP_LABEL": "rack=4",
                           "STACKTOP_SERVICE": "wrong", "WATCHDOG_USEC": "4000000",
                           "STACKTOP_PUSH_EVERY": str(EVERY)}, options=["--service", "svc-{comm}"])
        tap.ok(wait_for(lambda: profiles_of(server)), "profiles arrive")
        tap.ok(wait_for(lambda: manager.has("READY=1")), "the manager is told that it is ready")
        tap.ok(wait_for(lambda: manager.has("WATCHDOG=1")), "... and that it lives")
        labels = profiles_of(server)[0]["labels"]
        tap.ok((labels.get("env"), labels.get("rack")) == ("prod", "4"),
               "labels of the file and of the environment add up", labels)
        tap.ok(profiles_of(server)[0]["service"].startswith("svc-"),
               "the command line counts more than the environment")
        tap.ok(agent.get("/healthz")[0] == 200 and agent.get("/readyz")[0] == 200, "it is well")
        tap.ok(wait_for(lambda: any(p["labels"].get("process.pid") == load.pid
                                    for p in profiles_of(server))), "a busy process is in them")
        before = len(server.requests)
        agent.lines["label"] = "env=test"
        agent.write()
        agent.process.send_signal(signal.SIGHUP)
        tap.ok(wait_for(lambda: any(p["labels"].get("env") == "test" for p in profiles_of(server))),
               "SIGHUP changes labels")
        tap.ok(manager.said.count("READY=1") == 2 and manager.has("RELOADING"),
               "the manager is told of it", manager.said)
        agent.lines["label"] = "no label"
        agent.write()
        agent.process.send_signal(signal.SIGHUP)
        tap.ok(wait_for(lambda: "stays as it was" in agent.text()), "a wrong file changes nothing",
               agent.text())
        tap.ok(wait_for(lambda: agent.metric("stacktop_failed_reloads_total") == 1), "... and is counted")
        wait_for(lambda: len(server.requests) > before + 2)
        tap.ok(agent.end() == 0, "SIGTERM ends it", )
        tap.ok(manager.has("STOPPING"), "the manager is told of its end")


def test_all_arrives(tap, folder):
    """What the agent counts is what the server has."""
    with Receiver() as server, Gentle(BUSY) as load:
        agent = Agent(folder, {"push": f"otlp+http://127.0.0.1:{server.http_port}", "frequency": 499,
                               "pid": load.pid})
        wait_for(lambda: agent.metric("stacktop_push_sent_samples_total") > 200)
        counted = agent.metric("stacktop_push_samples_total")
        status = agent.end()
        received, again = samples_of(server)
        tap.ok(status == 0 and received >= counted > 200 and not again,
               "all samples arrive, and the last interval", f"{counted} counted, {received} received")


def test_away(tap, folder):
    """The server is away: all waits in the spool, and memory does not grow with it."""
    spool = os.path.join(folder, "spool")
    port = free_port()
    with Gentle(BUSY) as one, Gentle(BUSY) as two:
        agent = Agent(folder, {"push": f"otlp+http://127.0.0.1:{port}", "frequency": 99,
                               "pid": f"{one.pid},{two.pid}", "spool": f"{spool}:64M"})
        wait_for(lambda: agent.metric("stacktop_push_waiting_intervals") >= 3)
        before = status_kb(agent.process.pid, "VmRSS")
        time.sleep(AWAY)
        after = status_kb(agent.process.pid, "VmRSS")
        waits = agent.metric("stacktop_push_waiting_intervals")
        tap.ok(waits >= AWAY / EVERY / 2, f"{waits:.0f} intervals wait")
        tap.ok(after - before < GROWTH_KB, "memory does not grow with them",
               f"{before} kB, {after} kB after {AWAY} s")
        tap.ok(agent.get("/readyz")[0] == 200 and agent.metric("stacktop_push_up") == 0,
               "it is well, and says that the server is not")
        with Receiver(http_port=port) as server:
            wait_for(lambda: agent.metric("stacktop_push_waiting_intervals") == 0, 300)
            counted = agent.metric("stacktop_push_samples_total")
            dropped = agent.metric("stacktop_push_dropped_samples_total")
            status = agent.end()
            received, again = samples_of(server)
    tap.ok(status == 0 and received >= counted > 0 and not dropped and not again,
           "then all of it is sent, nothing twice",
           f"exit {status}, {counted} counted, {received} received, {again} again")
    tap.ok(sorted(os.listdir(spool)) == ["lock"], "the spool is empty", os.listdir(spool))


def test_killed(tap, folder):
    """kill -9: what is in the spool is sent by the next run, which says what is missing."""
    spool = os.path.join(folder, "spool")
    with Gentle(BUSY) as load:
        settings = {"push": f"otlp+http://127.0.0.1:{free_port()}", "frequency": 499, "pid": load.pid,
                    "spool": f"{spool}:64M"}
        agent = Agent(folder, settings)
        wait_for(lambda: agent.metric("stacktop_push_waiting_intervals") >= 3)
        before = agent.metric("stacktop_push_samples_total")
        agent.end(signal.SIGKILL)
        files = sorted(name for name in os.listdir(spool) if name.endswith(".push"))
        written = [os.stat(os.path.join(spool, name)).st_mtime for name in files]
        tap.ok(len(files) >= 3, "its intervals are in the spool", files)
        with Receiver() as server:
            settings["push"] = f"otlp+http://127.0.0.1:{server.http_port}"
            agent = Agent(folder, settings)
            wait_for(lambda: agent.metric("stacktop_push_sent_samples_total") >= before)
            text = agent.text()
            said = re.search(r"was cut off: its samples from (\S+ \S+) on are lost", text)
            tap.ok(said, "the next run says what is missing", text)
            since = time.mktime(time.strptime(said.group(1), "%Y-%m-%d %H:%M:%S")) if said else 0
            # Files are written at the end of an interval; times are whole seconds.
            tap.ok(written[-2] - 1 <= since <= written[-1] + 1,
                   "which is what came after the last interval", f"{written} {since}")
            status = agent.end()
            received, again = samples_of(server)
            tap.ok(status == 0 and received >= before and not again,
                   "what was in the spool is sent", f"{before} before, {received} received")
        agent = Agent(folder, settings)
        wait_for(lambda: agent.metric("stacktop_up") == 1)
        tap.ok("cut off" not in agent.text(), "after a normal end nothing is missing", agent.text())
        agent.end()


def test_full(tap, folder):
    """A spool that is too small: the oldest goes, and is counted."""
    spool = os.path.join(folder, "spool")
    with Gentle(BUSY) as load:
        agent = Agent(folder, {"push": f"otlp+http://127.0.0.1:{free_port()}", "frequency": 99, "pid": load.pid,
                               "spool": f"{spool}:1M"})
        wait_for(lambda: agent.metric("stacktop_push_waiting_intervals") >= 1)
        second = subprocess.run([STACKTOP, "--agent", "--push", "otlp+http://127.0.0.1:1", "--spool",
                                 f"{spool}:1M"], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=60, check=False)
        tap.ok(second.returncode == 1 and "used by another stacktop" in second.stderr,
               "one agent for a spool", second.stderr)
        status = agent.end()
        tap.ok(status == 0 and "wait in the spool for the next run" in
               open(agent.log.name, encoding="utf-8").read(),
               "the end says what waits", open(agent.log.name, encoding="utf-8").read())


def main():
    tap = Tap()
    need(tap)
    for part in (test_service, test_all_arrives, test_away, test_killed, test_full):
        if sys.argv[1:] and part.__name__.removeprefix("test_") not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            part(tap, folder)
    tap.done()


main()
