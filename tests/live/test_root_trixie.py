#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 900 s
"""Programs, interpreters and compilers of Debian 13, seen from outside (rooted.py).

Covers: bpf/tracker/runtimefile.c symbols/files/rootfile.c
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rooted  # noqa: E402

if __name__ == "__main__":
    rooted.main("trixie")
