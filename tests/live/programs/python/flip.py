# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls through C functions and back, each of a few microseconds: only the chains of test_python.py
are possible. Needs builtins and the C modules of the interpreter only. Begins when its standard input
ends."""

from posix import read

try:
    from _functools import reduce
except ImportError:
    reduce = None


def leaf_a(x):
    return x + 1


def leaf_b(x):
    return x * 2 + 1


def a_key(x):
    return leaf_a(x)


def a_outer():
    sorted((3, 1), key=a_key)


def b_step(s, x):
    return leaf_b(x) + s


def b_outer():
    if reduce:
        reduce(b_step, (1, 2), 0)


def c_gen():
    yield leaf_a(1)
    yield leaf_a(2)


def c_outer():
    for _ in c_gen():
        pass


def d_pad(a1, a2, a3, a4, a5, a6, a7, a8):
    v1 = v2 = v3 = v4 = v5 = v6 = v7 = v8 = v9 = a1
    return leaf_b(v1)


def d_key(x):
    return d_pad(x, x, x, x, x, x, x, x)


def d_outer():
    list(map(d_key, (1, 2)))


class E:
    def __del__(self):
        leaf_a(3)


def e_outer():
    E()


def f_outer():
    return [leaf_b(x) for x in (1, 2)]


def loop():
    while True:
        a_outer()
        b_outer()
        c_outer()
        d_outer()
        e_outer()
        f_outer()
        sorted((2, 1), key=a_key)
        if reduce:
            reduce(b_step, (1, 2), 0)
        sorted((2, 1), key=d_key)


read(0, 1)
loop()
