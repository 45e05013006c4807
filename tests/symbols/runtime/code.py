# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints how this interpreter's objects look in memory, and what they mean, for test_python_code.c.

    version HEX
    text ADDRESS-BYTES UTF-8        of a str, both in hexadecimal
    table FIRST TABLE LINES         of a code object: co_firstlineno, the bytes of its table, and the line
                                    of each instruction as LINExCOUNT,... (0: it has none)

Lines come from PyCode_Addr2Line, which the interpreter itself uses for tracebacks.
"""

import ctypes
import os
import sys
import types

MODULES = ("argparse ast asyncio/base_events collections/__init__ csv dataclasses difflib enum functools "
           "inspect locale pickle subprocess tarfile tokenize typing zipfile").split()

SOURCE = """
def far():
    a = 1
%s
    return a
def back(x):
    return [
        x,
        far(
        ), (lambda:
            x)(),
    ]
async def waits():
    async with far() as f: yield f
    await far()
def cleans():
    try: far()
    finally:
        del far
    with far(): pass
    for i in range(2): far() if i else far()
%s
""" % ("\n" * 700, "x = " + " + ".join(["far(%s)" % ", ".join("1" * 200)] * 2))


def text(value):
    size = value.__sizeof__()
    print("text", ctypes.string_at(id(value), size).hex(), value.encode("utf-8", "replace").hex() or "-")


def table(code):
    address = ctypes.pythonapi.PyCode_Addr2Line
    held = ctypes.py_object(code)
    runs = []
    for offset in range(0, len(code.co_code), 2):
        line = max(address(held, offset), 0)
        if runs and runs[-1][0] == line:
            runs[-1][1] += 1
        else:
            runs.append([line, 1])
    raw = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    print("table", code.co_firstlineno, raw.hex() or "-", ",".join("%dx%d" % tuple(run) for run in runs))
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            table(const)


print("version %x" % sys.hexversion)
for value in ("main", "x" * 300, "a", "", "<module>", "caf\xe9", "\xe9", "\u017elu\u0165ou\u010dk\xfd", "\u4e2d\u6587",
              "\U0001f40d snake", "\U0001f40d" * 200, sys.intern("interned_name"), sys.intern("\u03b4_name"),
              text.__code__.co_name, text.__code__.co_filename, "tab\tbed", "\u202eover", "half \ud800 pair"):
    text(value)
for name in MODULES:
    path = os.path.join(os.path.dirname(os.__file__), name + ".py")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            table(compile(file.read(), path, "exec"))
table(compile(SOURCE, "made", "exec"))
