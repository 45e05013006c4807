#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Debug information that is compressed, or that shares strings with other files: what --symbolize says of each
address is what it says of the file as the compiler made it (test_symbolize.py). Of a file whose common part is
missing the lines are told, and that names lack; of a broken one, that it is.

Covers: symbols/elf/elfsection.c symbols/dwarf/debugimage.c symbols/dwarf/debuginfo.c symbols/elf/debugfile.c
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "live"))
import live  # noqa: E402

SOURCE = """
volatile unsigned long sink;
static inline __attribute__((always_inline)) void in_loop(int n)
{
	sink += n * 3;
}
__attribute__((noinline)) void outer_function(int n)
{
	for (int i = 0; i < n; i++)
		in_loop(i);
	sink--;
}
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < argc * 100; i++)
		outer_function(i);
	return 0;
}
"""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=200, **options)


def told(path, addresses):
    """({address: [(function, file:line)]} innermost first, what is said beside it)"""
    done = run(live.STACKTOP, "--symbolize", path, input="".join(f"{at}\n" for at in addresses))
    found = {}
    for line in done.stdout.splitlines():
        at, name, where = line.split("\t")
        if at:
            chain = found[at] = []
        chain.append((name, os.path.basename(where)))
    return found, done.stderr


def addresses_of(path):
    text = run("objdump", "-d", "-j", ".text", path).stdout
    found = []
    for block in re.findall(r"<(?:outer_function|main)>:\n((?:.+\n)+)", text):
        found += re.findall(r"^ +(\w+):\t", block, re.M)
    return found


def packed(path, how):
    out = f"{path}.{how}"
    run("objcopy", f"--compress-debug-sections={how}", path, out)
    return out


def check(tap, folder, compiler, version):
    def build(name, *flags):
        path = os.path.join(folder, f"{compiler}{version}.{name}")
        run(compiler, "-O2", f"-gdwarf-{version}", *flags, "-x", "c", "-o", path, source)
        return path

    name = f"{compiler}, DWARF {version}"
    source = os.path.join(folder, "x.c")
    plain = build("plain")
    addresses = addresses_of(plain)
    want, noise = told(plain, addresses)
    tap.ok(len(addresses) > 10 and not noise and sum(len(chain) == 2 and chain[0][0] == "in_loop" and
                                                     chain[0][1] == "x.c:5" for chain in want.values()) > 1,
           f"{name}: lines and inlined calls", want)
    for how in ("zlib", "zlib-gnu", "zstd"):
        try:
            path = packed(plain, how)
        except subprocess.CalledProcessError:
            tap.skip(f"{name}: {how}", "objcopy does not know it")
            continue
        kinds = run("readelf", "-tW", path).stdout
        tap.ok((how.upper() if how != "zlib-gnu" else ".zdebug_") in kinds and told(path, addresses) == (want, ""),
               f"{name}: {how} changes nothing", kinds[-300:])
        if how == "zstd":
            broken(tap, name, path, addresses)
    if shutil.which("dwz") and compiler == "gcc":
        common = os.path.join(folder, f"common{version}")
        pair = build("one"), build("two", "-DX")
        run("dwz", "-m", common, *pair)
        tap.ok(all(told(path, addresses) == (want, "") for path in pair), f"{name}: strings in a common file", pair)
        os.remove(common)
        found, noise = told(pair[0], addresses)
        lines = [[where for _, where in chain] for chain in want.values()]
        tap.ok([[where for _, where in chain] for chain in found.values()] == lines and "dwz" in noise,
               f"{name}: without the common file, the lines, and a word", noise)
        tap.ok(all(mine in (true, "?") for at, chain in want.items()
                   for (mine, _), (true, _) in zip(found[at], chain)), f"{name}: and no wrong name", found)


def broken(tap, name, path, addresses):
    """A byte of the stream of .debug_info is another one."""
    offset, size = re.search(r"\.debug_info +PROGBITS +\w+ (\w+) (\w+)", run("readelf", "-SW", path).stdout).groups()
    with open(path, "r+b") as file:
        file.seek(int(offset, 16) + 24)
        file.write(bytes(int(size, 16) - 24))
    found, noise = told(path, addresses)
    tap.ok(len(found) == len(addresses) and "broken" in noise, f"{name}: a broken stream, and a word", noise)


def main():
    tap = live.Tap()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "x.c"), "w", encoding="ascii") as file:
            file.write(SOURCE)
        for compiler in ("gcc", "clang"):
            for version in (4, 5):
                if shutil.which(compiler):
                    check(tap, folder, compiler, version)
    tap.done()


if __name__ == "__main__":
    main()
