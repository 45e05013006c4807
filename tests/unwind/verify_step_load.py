# SPDX-License-Identifier: GPL-2.0-or-later
"""Endless work of many kinds for verify_step, which runs through a part of it. Between any two kinds is
a system call, since verify_step can let a program run freely for a number of them."""

import ctypes
import decimal
import hashlib
import json
import os
import random
import re
import signal
import zlib


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def raise_deep(n):
    if n == 0:
        raise KeyError("deep")
    raise_deep(n - 1)


def compare(a, b):
    return ctypes.cast(a, ctypes.POINTER(ctypes.c_int))[0] - \
        ctypes.cast(b, ctypes.POINTER(ctypes.c_int))[0]


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(compare)


def through_libc():
    """C code that calls back into Python."""
    values = (ctypes.c_int * 9)(*random.sample(range(100), 9))
    ctypes.CDLL(None).qsort(values, 9, 4, CALLBACK)
    return list(values)


def main():
    signal.signal(signal.SIGALRM, lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    while True:
        through_libc()
        os.getppid()
        fibonacci(9)
        os.getppid()
        try:
            raise_deep(12)
        except KeyError:
            pass
        os.getppid()
        data = {str(i): [i, i / 3, None, {"x": "é" * (i % 5)}] for i in range(40)}
        text = json.dumps(data)
        os.getppid()
        json.loads(text)
        os.getppid()
        re.sub(r"(\d+)\.(\d+)", r"\2-\1", text)
        os.getppid()
        zlib.decompress(zlib.compress(text.encode()))
        os.getppid()
        hashlib.sha256(text.encode()).hexdigest()
        hashlib.blake2b(text.encode()).hexdigest()
        os.getppid()
        decimal.Decimal(2).sqrt(decimal.Context(prec=60))
        os.getppid()
        sorted(data, key=lambda k: (len(k), k))
        os.getppid()
        [x for x in (i * i for i in range(50)) if x % 3]
        os.getppid()
        pow(3, 1001, 10**30 + 57)
        os.getppid()
        "{:>10}|{!r}".format("a", [1.5, 2])
        os.getppid()


if __name__ == "__main__":
    main()
