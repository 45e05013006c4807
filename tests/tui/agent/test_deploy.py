#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files for a service: docs/agent.conf has each option that a file may have, once; the unit is one
for systemd; the DaemonSet is YAML, and both give the rights that tui/rights.c knows.

Covers: tui/arguments.c tui/rights.c
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "live"))
from live import STACKTOP, Tap  # noqa: E402

try:
    import yaml
except ImportError:
    yaml = None

UNIT = "docs/stacktop-agent.service"
DAEMONSET = "docs/stacktop-daemonset.yaml"
CONFIG = "docs/agent.conf"
LINE = re.compile(r"([a-z-]+) = (.+)")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def allowed():
    table = re.search(r"allowed\[\] = \{(.*?)NULL\};", read("tui/arguments.c"), re.S).group(1)
    return re.findall(r'"([a-z-]+)"', table)


def rights():
    return set(re.findall(r'\{"(cap_\w+)", CAP_\w+, (?:true|false)\}', read("tui/rights.c")))


def named(text):
    """The options of a configuration file, also those in comments as `#name = value`."""
    lines = [LINE.fullmatch(line.removeprefix("#")) for line in text.splitlines()]
    return [match.group(1) for match in lines if match]


def config(tap):
    names = named(read(CONFIG))
    tap.ok(set(names) == set(allowed()), "agent.conf has the options that a file may have",
           " ".join(sorted(set(names) ^ set(allowed()))))
    twice = {name for name in names if names.count(name) > 1}
    tap.ok(twice == {"label"}, "each but labels once")


def parsed(text):
    """What is wrong with a configuration; an option behind it that is always wrong ends the run."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(text)
        file.flush()
        said = subprocess.run([STACKTOP, "--agent", "--config", file.name, "--push-every", "0"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=False).stderr
    return "" if "--push-every: `0'" in said else said


def parse(tap):
    """The configurations are taken as they are, and with all that is in comments."""
    text = read(CONFIG)
    tap.ok(not parsed(text), "agent.conf is taken as it is", parsed(text))
    every = "".join(f"{line.removeprefix('#')}\n" for line in text.splitlines()
                    if LINE.fullmatch(line.removeprefix("#")))
    tap.ok(not parsed(every), "... and with each of its options", parsed(every))
    inside = re.search(r"agent\.conf: \|\n((?:    .*\n)+)", read(DAEMONSET)).group(1)
    inside = re.sub(r"^ +", "", inside, flags=re.M)
    tap.ok(not parsed(inside), "so is that of the DaemonSet", parsed(inside))


def unit(tap):
    text = read(UNIT)
    given = set(re.search(r"^CapabilityBoundingSet=(.*)$", text, re.M).group(1).lower().split())
    # Its limits make up for the one that is missing.
    tap.ok(given == rights() - {"cap_sys_resource"}, "the unit gives the rights that are needed")
    if not shutil.which("systemd-analyze"):
        tap.skip("systemd takes the unit", "systemd-analyze is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stacktop-agent.service")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("/usr/local/bin/stacktop", STACKTOP))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True,
                              text=True, timeout=60, check=False)
    # It also looks at the units that this one names.
    about = [line for line in (done.stdout + done.stderr).splitlines() if "stacktop" in line]
    tap.note("\n".join(about))
    tap.ok(not about, "systemd takes the unit")


def check_container(tap, pod):
    container = pod["containers"][0]
    security = container["securityContext"]
    given = {f"cap_{name.lower()}" for name in security["capabilities"]["add"]}
    tap.ok(given == rights(), "the container has the rights that are needed")
    tap.ok(pod["hostPID"] is True, "it sees the processes of the node")
    probes = {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("liveness", "readiness")}
    tap.ok(probes == {"/healthz", "/readyz"}, "probes ask for what is served")
    variables = {e["name"] for e in container["env"]} - {"NODE_NAME", "STACKTOP_PUSH_HEADERS"}
    known = {"STACKTOP_" + name.upper().replace("-", "_") for name in allowed()}
    tap.ok(variables <= known, "its variables are options")
    volumes = {volume["name"] for volume in pod["volumes"]}
    tap.ok(volumes == {mount["name"] for mount in container["volumeMounts"]}, "all volumes are mounted")
    tap.ok(not any("hostPath" in volume for volume in pod["volumes"]), "nothing of the node is mounted")


def daemonset(tap):
    if not yaml:
        tap.skip("the DaemonSet", "PyYAML is not installed")
        return
    parts = {part["kind"]: part for part in yaml.safe_load_all(read(DAEMONSET))}
    tap.ok(list(parts) == ["Namespace", "ConfigMap", "Secret", "DaemonSet"], "the parts are there")
    lines = parts["ConfigMap"]["data"]["agent.conf"].splitlines()
    options = {match.group(1): match.group(2) for match in map(LINE.fullmatch, lines)}
    tap.ok(set(options) <= set(allowed()), "its configuration has options of files")
    spec = parts["DaemonSet"]["spec"]
    container = spec["template"]["spec"]["containers"][0]
    port = container["ports"][0]["containerPort"]
    tap.ok(options["listen"] == f"0.0.0.0:{port}", "it listens where it is asked")
    tap.ok(os.path.dirname(options["spool"].split(":")[0]) in
           [mount["mountPath"] for mount in container["volumeMounts"]],
           "the spool is a folder of its own in a volume")
    tap.ok(spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items(),
           "the selector finds the pods")
    check_container(tap, spec["template"]["spec"])


def main():
    tap = Tap()
    config(tap)
    parse(tap)
    unit(tap)
    daemonset(tap)
    tap.done()


if __name__ == "__main__":
    main()
