#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A thousand requests of OpenTelemetry with random samples, judged by the rules of its conformance
checker (otlp_rules.py).

Covers: tui/push/otlp.c tui/util/interner.c tui/export/export_part.c
"""

import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "live")]
import messages  # noqa: E402
from live import BUILD, Tap  # noqa: E402
from otlp_rules import findings  # noqa: E402

MAKER = os.path.join(BUILD, "asan", "tests", "tui", "push", "otlp_random")
SEED, COUNT = "20", 1000
SHOWN = 5


def requests(data):
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        yield data[at + 4:at + 4 + size]
        at += 4 + size


def main():
    tap = Tap()
    pb = messages.import_all()
    data = subprocess.run([MAKER, SEED, str(COUNT)], stdout=subprocess.PIPE, check=True).stdout
    found, samples, count = [], 0, 0
    for count, raw in enumerate(requests(data), 1):
        request = pb.collector.ExportProfilesServiceRequest.FromString(raw)
        found += [f"{count}: {text}" for text in findings(request)]
        samples += sum(len(profile.samples) for resource in request.resource_profiles
                       for scope in resource.scope_profiles for profile in scope.profiles)
    tap.ok(count == COUNT and samples > 10 * COUNT, f"{count} requests have {samples} samples")
    tap.ok(not found, "no rule has a finding", "; ".join(found[:SHOWN]))
    tap.done()


main()
