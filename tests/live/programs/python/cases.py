# SPDX-License-Identifier: GPL-2.0-or-later
"""cases.py CASE: runs one construct for ever; test_python.py has the table of the cases. Ends with
status 77 if this interpreter lacks what the case needs. PIDs of its processes are printed first; it begins
when its standard input ends."""

import os
import sys

ABSENT = 77


def spin(n):
    s = 0
    for i in range(n):
        s += i
    return s


def started(*pids):
    print(os.getpid(), *pids, flush=True)
    os.read(0, 1)


def need(name):
    try:
        return __import__(name)
    except ImportError:
        sys.exit(ABSENT)


def in_threads(count, run, *args):
    """Runs it in so many threads and in this one, which begin when all have been made."""
    threading = need("threading")
    gate = threading.Lock()
    with gate:
        for _ in range(count):
            threading.Thread(target=run, args=(gate, *args), daemon=True).start()
        started()
    run(gate, *args)


# --- the GIL is released ---------------------------------------------------------------------------

DATA = b"x" * (1 << 22)


def hashing(hashlib):
    hashlib.sha256(DATA).digest()


def packing(zlib):
    zlib.compress(DATA[:1 << 19], 9)


def unlocked(gate, hashlib, zlib):
    with gate:
        pass
    while True:
        hashing(hashlib)
        packing(zlib)


def released():
    hashlib, zlib = need("hashlib"), need("zlib")
    in_threads(1, unlocked, hashlib, zlib)


# --- threads ---------------------------------------------------------------------------------------

def newborn():
    spin(30000)


def born():
    threading = need("threading")
    started()
    while True:
        thread = threading.Thread(target=newborn)
        thread.start()
        thread.join()


def taking_turns(gate):
    with gate:
        pass
    while True:
        spin(2000)


def turns():
    """Threads that hold the GIL in turn."""
    in_threads(3, taking_turns)


def three():
    for _ in range(3000):
        pass


def one():
    for _ in range(1000):
        pass


def long():
    three()


def short():
    one()


def shares():
    """The same native frames: only the functions of Python differ."""
    started()
    while True:
        long()
        short()


# --- calls -----------------------------------------------------------------------------------------

def compare(a, b):
    return spin(20) * 0 + a[0] - b[0]


def callback():
    ctypes = need("ctypes")
    libc = ctypes.CDLL(None)
    pointer = ctypes.POINTER(ctypes.c_int)
    function = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)(compare)
    started()
    while True:
        libc.qsort((ctypes.c_int * 200)(*range(200, 0, -1)), 200, 4, function)


def descend(n):
    if n:
        return descend(n - 1)
    while True:
        spin(1000)


def deep():
    sys.setrecursionlimit(5000)
    started()
    descend(800)


def deep100():
    started()
    descend(100)


def descend_alike(n):
    if n:
        return sorted((n,), key=descend_alike_key)[0]
    while True:
        spin(1000)


def descend_alike_key(n):
    return descend_alike(n - 1)


def deep_calls():
    """Each call through a C function: a native frame of the interpreter for each."""
    started()
    descend_alike(60)


async def innermost():
    spin(3000)


async def inner():
    await innermost()


async def outer():
    while True:
        await inner()
        await need("asyncio").sleep(0)


async def both():
    await need("asyncio").gather(outer(), outer())


def coroutines():
    asyncio = need("asyncio")
    started()
    asyncio.run(both())


def in_greenlet(other):
    while True:
        spin(3000)
        other.switch()


def greenlets():
    greenlet = need("greenlet")
    started()
    other = greenlet.greenlet(in_greenlet)
    while True:
        other.switch(greenlet.getcurrent())


HUB = {}


def hub_run(hub, workers):
    while True:
        for at, worker in enumerate(workers):
            if worker.dead:
                workers[at] = worker = HUB["new"](hub_worker, hub)
            worker.switch(hub)
        spin(5000)
        hub.parent.switch()


def hub_worker(hub):
    for depth in range(5):
        hub_deep(hub, depth)
        child = HUB["new"](hub_child)
        child.switch()
        hub.switch()
        child.throw(ValueError)


def hub_deep(hub, n):
    if n:
        sorted((n,), key=HUB["partial"](hub_key, hub))
    spin(3000)
    hub.switch()
    spin(3000)


def hub_key(hub, n):
    hub_deep(hub, n - 1)
    return n


def hub_child():
    try:
        spin(9000)
        HUB["current"]().parent.switch()
    except ValueError:
        hub_caught()


def hub_caught():
    spin(9000)


def hub_main(hub, workers, n):
    if n:
        hub_main(hub, workers, n - 1)
    spin(3000)
    hub.switch(hub, workers)


def hubs():
    """Greenlets that begin and go on at other depths of the stack than those where they were left: a hub that runs
    others, which start some of their own, throw exceptions into these, and end."""
    greenlet = need("greenlet")
    HUB.update(new=greenlet.greenlet, current=greenlet.getcurrent, partial=need("functools").partial)
    hub = greenlet.greenlet(hub_run)
    workers = [greenlet.greenlet(hub_worker, hub) for _ in range(3)]
    started()
    while True:
        for depth in range(5):
            hub_main(hub, workers, depth)


SUB = """
def in_sub():
    s = 0
    for i in range(300000):
        s += i
for _ in range(20):
    in_sub()
"""


def run_sub(sub, number):
    if hasattr(sub, "run_string"):
        sub.run_string(number, SUB)
    else:
        sub.exec(number, SUB)


def interpreters():
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            sub = __import__(name)
            break
        except ImportError:
            pass
    else:
        sys.exit(ABSENT)
    number = sub.create()
    started()
    while True:
        run_sub(sub, number)


# --- functions -------------------------------------------------------------------------------------

def make(k):
    code = "def f_%d():\n%s  for i in range(3000): pass\nf_%d()\n" % (k, "\n" * k, k)
    exec(compile(code, "<gen_%d>" % k, "exec"), {})


def recycled():
    """Other functions at the addresses of those that were freed."""
    started()
    k = 0
    while True:
        k = (k + 1) % 50
        make(k)


def latin_ñame():
    spin(1)
    for _ in range(3000):
        pass


def 日本語():
    for _ in range(3000):
        pass


def 𐐨𐐩():
    for _ in range(3000):
        pass


class Holder:
    class Inner:
        def method(self):
            for _ in range(3000):
                pass


LAMBDA = lambda: [0 for _ in range(3000)]  # noqa: E731
LONG = "long_" + "n" * 700
LATER = """
class Body:
    for _ in range(3000):
        pass
"""


def names():
    space = {}
    exec(compile("def %s():\n  for _ in range(3000): pass\n" % LONG, "<日本>", "exec"), space)
    body = compile(LATER, "<body>", "exec")
    module = compile("for _ in range(3000): pass\n", "<ñ>", "exec")
    started()
    while True:
        latin_ñame()
        日本語()
        𐐨𐐩()
        Holder.Inner().method()
        LAMBDA()
        space[LONG]()
        exec(body, {})
        exec(module, {})


def hot_line(n):
    s = 0
    while s < n:
        s += 1; a = s; b = a; c = b; d = c; e = d; f = e; a = f; b = a; c = b; d = c; e = d; f = e  # HOT
    return s


def hot_jump(items):
    for item in items:
        if item:
            a = item; b = a; c = b; d = c; e = d; f = e; a = f; b = a; c = b; d = c; e = d; f = e  # JUMP
        else:
            a = None
















    return a


def lines():
    # Instructions far from the start of their function.
    text = ["def far(n):", " a = b = 0"]
    text += [" a = n; b = a" for _ in range(300)]
    text += [" while b < 3000:", "  b += 1; a = b; a = b; a = b; a = b; a = b; a = b; a = b; a = b; a = b"]
    space = {}
    exec(compile("\n".join(text), "<far>", "exec"), space)
    items = [1] * 3000
    started()
    while True:
        hot_line(3000)
        hot_jump(items)
        space["far"](1)


# --- processes -------------------------------------------------------------------------------------

def in_child():
    while True:
        spin(1000)


def forked():
    multiprocessing = need("multiprocessing")
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=in_child, daemon=True) for _ in range(2)]
    for child in children:
        child.start()
    started(*(child.pid for child in children))
    spin_for_ever()


def spin_for_ever():
    while True:
        spin(1000)


def brief():
    """Ends after a moment."""
    for _ in range(100):
        spin(10000)


def plain():
    started()
    spin_for_ever()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
