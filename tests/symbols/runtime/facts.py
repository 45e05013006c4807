# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints PY_VERSION_HEX, the folder of the headers, the first bytes of _PyRuntime in hexadecimal, and the
file that has it."""

import ctypes
import sys
import sysconfig

print("%x" % sys.hexversion)
print(sysconfig.get_path("include"))
try:
    start = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    print(ctypes.string_at(start, 1024).hex())
except ValueError:      # up to 3.6
    print(bytes(1024).hex())
with open("/proc/self/maps") as maps:
    libraries = [line.split()[-1] for line in maps if "/libpython3." in line]
print((libraries or [sys.executable])[0])
