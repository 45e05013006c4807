# SPDX-License-Identifier: GPL-2.0-or-later
"""A program for test_python_check.c: threads with nested calls, generators and coroutines.

    check.py sleep|run|alone

Prints its version, the addresses of _PyRuntime and PyCode_Type, and, when its threads are where they stay,
`ready`. They sleep there, or call functions without end; alone: there is one frame, which runs. Ends with
its standard input.
"""

import ctypes
import os
import sys
import threading

THREADS = 3


def address(name):
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
    except ValueError:      # up to 3.6
        sys.exit()


class Work:
    def __init__(self, end):
        self.end = end

    def nested(self, depth, *rest, **names):
        return self.nested(depth - 1, depth, *rest, left=depth) if depth else self.end()

    def generator(self):
        for i in range(2):
            held = [i, self, [self.nested(3) for _ in (1,)]]
            yield held

    async def coroutine(self):
        try:
            return await self.inner()
        finally:
            self.end = None

    async def inner(self):
        local_1, local_2, local_3 = self, self.end, None
        for _ in local_1.generator():
            local_3 = _
        return local_2, local_3

    def __getattr__(self, name):        # a call from C
        try:
            self.coroutine().send(None)
        except StopIteration as e:
            return e.value
        return name


def work(end):
    def closure(value):
        return sum(1 for _ in [Work(end).missing]) + value
    return sorted([1, 2], key=lambda value: closure(value))


def spin():
    x = 0
    for i in range(100):
        x += len(str(i))
    return x


def until_closed():
    os.read(0, 1)
    os._exit(0)


def main():
    entered = threading.Semaphore(0)

    def rest():
        entered.release()
        threading.Event().wait()

    def run():
        entered.release()
        while True:
            work(spin)

    target = run if sys.argv[1] == "run" else lambda: work(rest)
    for _ in range(THREADS):
        threading.Thread(target=target, daemon=True).start()
    for _ in range(THREADS):
        entered.acquire()
    print("ready", flush=True)
    if sys.argv[1] == "run":
        threading.Thread(target=until_closed).start()
        exec(compile("while True: work(spin)", "<string>", "exec"), globals())
    exec(compile("work(until_closed)", "<string>", "exec"), globals())


print("%x %x %x" % (sys.hexversion, address("_PyRuntime"), address("PyCode_Type")), flush=True)
if sys.argv[1] == "alone":
    print("ready", flush=True)
    while True:
        pass
main()
