# SPDX-License-Identifier: GPL-2.0-or-later
"""The messages of protos/, as Python modules that protoc makes in the build folder.

import_all() returns a namespace with pprof, pyroscope, parca, collector, profiles, common, resource and
status. Needs protoc and Python's protobuf, which the system's Python has (see tests/deps.sh).
"""

import fcntl
import importlib
import os
import subprocess
import sys
import types

PROTOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "protos")
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(os.path.dirname(PROTOS), "..", "..", "build")))
FOLDER = os.path.join(BUILD, "tests", "push", "messages")
MODULES = {"pprof": "pprof", "pyroscope": "pyroscope", "parca": "parca", "status": "status",
           "common": "otlp_common", "resource": "otlp_resource", "profiles": "otlp_profiles",
           "collector": "otlp_collector"}


def sources():
    return sorted(os.path.join(PROTOS, name) for name in os.listdir(PROTOS) if name.endswith(".proto"))


def generate():
    """Runs protoc unless its output is newer than the sources; one process at a time."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = os.path.join(FOLDER, "stamp")
        newest = max(os.stat(path).st_mtime_ns for path in sources())
        if os.path.exists(stamp) and os.stat(stamp).st_mtime_ns > newest:
            return
        subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--python_out={FOLDER}", *sources()],
                       check=True)
        with open(stamp, "w", encoding="ascii"):
            pass


def import_all():
    generate()
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    return types.SimpleNamespace(**{name: importlib.import_module(f"{file}_pb2")
                                    for name, file in MODULES.items()})


def decode(message, data):
    """The text that protoc makes of a message, without these modules: decode("push.v1.PushRequest", ...)."""
    done = subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--decode={message}",
                           *map(os.path.basename, sources())],
                          input=data, capture_output=True, check=False, cwd=PROTOS)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
