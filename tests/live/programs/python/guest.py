#!/usr/bin/python3 -ISE
# SPDX-License-Identifier: GPL-2.0-or-later
"""For the guests of tests/kernels: one chain, through sorted(); needs no module."""


def spin():
    n = 0
    while n < 100000000:
        n += 1


def key(_):
    spin()


def outer():
    sorted((1,), key=key)


print("ready", flush=True)
while True:
    outer()
