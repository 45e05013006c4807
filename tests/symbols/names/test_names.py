#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Names of addresses as other tools have them.

Stubs of PLTs, by every linker and kind, against nm --synthetic. Go's functions of stripped
programs against what nm said before, and of tables of other Go versions made from the same list.
Then random addresses in files of this machine, half of them within functions where nm knows some,
against eu-addr2line, whose debug files are used where some are installed: 4,000 in 40 files, which
have as many kinds of tables as there are, and with SIZE=full 20,000 in 200 files. Each disagreement
is put to nm and falls in a class:

    alias    same start, another of its names that nm knows there
    stub     ours is a stub that nm knows, theirs is nothing or what lies before
    beyond   theirs does not reach the address by its size
    sizeless ours has no size and goes on up to the next symbol
    inner    ours begins later and covers the address
    Go       from the table of a stripped program, and `go tool addr2line` says the same
    wrong    anything else: at most one in a thousand

Covers: symbols/names/symtab.c symbols/names/symname.c symbols/names/plt.c symbols/names/gopclntab.c
symbols/elf/pclntab.c
"""

import bisect
import itertools
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
NAMES = os.path.join(BUILD, "asan/tests/symbols/names/names")
FULL = os.environ.get("SIZE") == "full"
FILES, ADDRESSES = (200, 20000) if FULL else (40, 4000)
SEED = 20100
FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
WANTED = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2", "bash", "perl")
LARGEST = 16 << 20
LOOK = 600  # files whose kind is asked for
TABLES = re.compile(r"\.symtab|\.gopclntab|\.gnu_debugdata|\.gnu_debuglink|\.plt(\.sec|\.got)?|"
                    r"\.gcc_except_table|\.gnu\.hash|\.hash|\.interp|\.opd|\.note\.stapsdt")

STUBS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int (*volatile pointer)(const char *) = puts;
int main(int argc, char **argv)
{
	char *p = malloc(argc);

	pointer(argv[0]);
	puts(argv[0]);
	p[0] = (char)atoi(argv[0]);
	printf("%zu", strlen(p) + (size_t)rand());
	free(p);
	return 0;
}
"""
KINDS = {
    "lazy": "-Wl,-z,lazy", "now": "-Wl,-z,now", "no-pie": "-fno-pie -no-pie",
    "ibt": "-fcf-protection=full -Wl,-z,ibtplt,-z,lazy",
    "ibt now": "-fcf-protection=full -Wl,-z,ibtplt,-z,now",
    "gold": "-fuse-ld=gold", "gold now": "-fuse-ld=gold -Wl,-z,now",
    "lld": "-fuse-ld=lld", "lld now": "-fuse-ld=lld -Wl,-z,now",
    "lld ibt": "-fuse-ld=lld -fcf-protection=full -Wl,-z,force-ibt",
}
GO = """package main

import "fmt"

type shape interface{ area() int }
type square struct{ side int }

//go:noinline
func (s *square) area() int { return s.side * s.side }

//go:noinline
func each[T any](list []T, f func(T)) {
	for _, x := range list {
		f(x)
	}
}

func main() {
	each([]shape{&square{2}}, func(s shape) { fmt.Println(s.area()) })
}
"""
GO_RUNTIME = GO.replace('import "fmt"', "").replace("fmt.Println", "println")
done = failed = 0


def report(name, fault=""):
    global done, failed
    done += 1
    failed += bool(fault)
    print(f"{'not ok' if fault else 'ok'} {done} - {name}" + (f": {fault}" if fault else ""))
    sys.stdout.flush()


# Without the compilers' plugins: loading LLVM's takes ten times as long as nm itself.
NM = ("nm", "--plugin=")


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, DEBUGINFOD_URLS="", LC_ALL="C"),
                          universal_newlines=True, errors="replace", check=False).stdout


def ours(path, addrs):
    """(name, offset) of each address, None where there is no name."""
    lines = run(NAMES, path, text="".join(f"{a:x}\n" for a in addrs)).splitlines()
    assert len(lines) == len(addrs), path
    split = (line.rpartition(" ") for line in lines)
    return [None if not name else (name, int(offset, 16)) for name, _, offset in split]


def theirs(path, addrs):
    """The same of eu-addr2line -S, which adds a line for the source."""
    lines = run("eu-addr2line", "-S", "-e", path,
                text="".join(f"0x{a:x}\n" for a in addrs)).splitlines()[::2]
    assert len(lines) == len(addrs), path
    found = []
    for line in lines:
        name, plus, offset = line.rpartition("+0x")
        name, offset = (name, int(offset, 16)) if plus else (line, 0)
        found.append(None if name[:1] in "?(" else (cut(name), offset))
    return found


def cut(name):
    return name[:1] + name[1:].partition("@")[0]


def debug_file(path):
    for line in run("readelf", "-n", path).splitlines():
        if "Build ID:" in line:
            ident = line.split()[-1]
            found = f"/usr/lib/debug/.build-id/{ident[:2]}/{ident[2:]}.debug"
            return [found] if os.path.exists(found) else []
    return []


class Nm:
    """What nm lists of a file and of its debug file: (size, name) of each address."""

    def __init__(self, path):
        self.at = {}
        for file, options in [(path, ["-D"]), (path, [])] + [(f, []) for f in debug_file(path)]:
            for line in run(*NM, "-f", "posix", "--synthetic", "--defined-only", *options,
                            file).splitlines():
                name, kind, value, *size = line.rsplit(" ", 3) if line.count(" ") > 2 else \
                    line.split(" ")
                if kind in "tTwWiuV":
                    name = name if name.endswith("@plt") else cut(name)
                    self.at.setdefault(int(value, 16), set()).add(
                        (int(size[0], 16) if size and size[0] else 0, name))
        self.starts = sorted(self.at)

    def has(self, addr, name):
        if any(n == name for _, n in self.at.get(addr, ())):
            return True
        resolvers = (int(n[8:-4], 16) for _, n in self.at.get(addr, ()) if n.startswith("*ABS*+0x"))
        return any(n + "@plt" == name for r in resolvers for _, n in self.at.get(r, ()))

    def reaches(self, start, addr):
        return any(start + size > addr for size, _ in self.at.get(start, ()))

    def next(self, start):
        at = bisect.bisect_right(self.starts, start)
        return self.starts[at] if at < len(self.starts) else 1 << 64


def classify(nm, addr, we, they):
    if we == they:
        return "same" if we else "none"
    start = addr - we[1] if we else None
    other = addr - they[1] if they else None
    if we and not nm.has(start, we[0]):
        return "wrong"
    if we and they and start == other:
        return "alias"
    if we and we[0].endswith("@plt"):
        return "stub"
    if they and not nm.reaches(other, addr):
        return "beyond"
    if we and not nm.reaches(start, addr):
        return "sizeless" if addr < nm.next(start) else "wrong"
    if we and (not they or start > other):
        return "inner"
    return "wrong"


def go_says(path, addrs):
    """Names by address, of which the tool gives two lines: it reads all of the file at each start."""
    tool = shutil.which("go")
    lines = run(tool, "tool", "addr2line", path, text="".join(f"0x{a:x}\n" for a in addrs)) \
        .splitlines()[::2] if tool and addrs else []
    return dict(zip(addrs, lines))


def executable(path):
    """(address, size) of its executable sections."""
    found = []
    for line in run("readelf", "-SW", path).splitlines():
        words = line.partition("]")[2].split()
        if len(words) > 6 and "X" in words[6] and "A" in words[6] and int(words[4], 16):
            found.append((int(words[2], 16), int(words[4], 16)))
    return found


def files():
    found = []
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.realpath(os.path.join(folder, name))
            try:
                with open(path, "rb") as file:
                    head = file.read(20)
            except OSError:
                continue
            if head[:6] == b"\x7fELF\x02\x01" and head[16] in (2, 3) and \
                    os.path.getsize(path) < LARGEST and path not in found:
                found.append(path)
    first = [p for p in found if any(w in (os.path.basename(p), os.path.basename(p)[:len(w)])
                                     for w in WANTED)][:12]
    rest = [p for p in found if p not in first]
    random.Random(SEED).shuffle(rest)
    return (first + (rest if FULL else by_kind(rest[:LOOK])))[:FILES]


def kind_of(path):
    """The type of an ELF file and the names of the sections that names may come from."""
    with open(path, "rb") as file:
        head = file.read(64)
        offset, = struct.unpack("<Q", head[40:48])
        size, count, names = struct.unpack("<HHH", head[58:64])
        file.seek(offset)
        table = file.read(size * count)
        if size != 64 or len(table) != size * count or names >= count:
            return None
        at, length = struct.unpack("<QQ", table[names * size + 24:names * size + 40])
        file.seek(at)
        texts = file.read(length)
    starts = (struct.unpack("<I", table[i * size:i * size + 4])[0] for i in range(count))
    sections = (texts[start:texts.find(b"\0", start)].decode("ascii", "replace") for start in starts)
    return (head[16], *sorted(name for name in sections if TABLES.fullmatch(name)))


def by_kind(paths):
    """One of each kind of file, then another of each, and so on."""
    groups = {}
    for path in paths:
        groups.setdefault(kind_of(path), []).append(path)
    turns = itertools.zip_longest(*(paths for kind, paths in groups.items() if kind and kind[1:]))
    return [path for turn in turns for path in turn if path]


def is_later_go(path):
    """True for a Go program without symbols, of which only the table of its runtime has names."""
    tables = kind_of(path)[1:]
    return ".gopclntab" in tables and ".symtab" not in tables


def test_random():
    classes, examples, paths = {}, [], files()
    rng = random.Random(SEED)
    each = -(-ADDRESSES // len(paths))
    with_debug = 0
    for path in paths:
        sections = executable(path)
        if not sections:
            continue
        with_debug += bool(debug_file(path))
        nm = Nm(path)
        known = [(a, size) for a in nm.starts for size, _ in nm.at[a] if size and
                 any(0 <= a - start < length for start, length in sections)]
        addrs = [start + rng.randrange(size) for start, size in
                 rng.choices(sections, [s for _, s in sections], k=each // 2 if known else each)]
        addrs += [a + rng.randrange(size) for a, size in
                  (rng.choices(known, k=each - each // 2) if known else [])]
        pairs = list(zip(addrs, ours(path, addrs), theirs(path, addrs)))
        kinds = [classify(nm, *pair) for pair in pairs]
        go = go_says(path, [addr for kind, (addr, we, they) in zip(kinds, pairs)
                            if kind == "wrong" and we and not they])
        for kind, (addr, we, they) in zip(kinds, pairs):
            if addr in go and go[addr] == we[0]:
                kind = "Go"
            elif kind == "wrong" and go.get(addr, "?") == "?" and not they and is_later_go(path):
                kind = "Go, not judged"  # go's own tool reads tables up to its release only
            classes[kind] = classes.get(kind, 0) + 1
            if kind == "wrong":
                examples.append(f"{path} {addr:x}: we {we}, eu-addr2line {they}")
    total = sum(classes.values())
    for line in examples[:20]:
        print("#", line)
    print(f"# {total} addresses, {len(paths)} files, {with_debug} of them with a debug file:",
          ", ".join(f"{n} {k}" for k, n in sorted(classes.items())))
    report("random addresses agree with eu-addr2line and nm",
           f"only {total} addresses" if total < ADDRESSES * 0.95 else
           f"{len(examples)} wrong" if len(examples) * 1000 > total else "")


def test_stubs(folder):
    source = os.path.join(folder, "stubs.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(STUBS)
    for kind, flags in KINDS.items():
        if "-fuse-ld=" in flags and not shutil.which("ld." + flags.split("=")[1].split()[0]):
            report(f"# SKIP stubs, {kind}: no such linker")
            continue
        path = os.path.join(folder, "stubs")
        subprocess.run(["gcc", "-fno-builtin", *flags.split(), "-s", "-o", path, source],
                       stderr=subprocess.DEVNULL, check=True)
        want = {addr: name for addr, names in Nm(path).at.items() for _, name in names
                if name.endswith("@plt")}
        got = ours(path, list(want))
        inside = ours(path, [addr + 5 for addr in want])
        wrong = [(hex(a), name, g) for (a, name), g in zip(want.items(), got) if g != (name, 0)]
        wrong += [(hex(a + 5), name, g) for (a, name), g in zip(want.items(), inside)
                  if g != (name, 5)]
        report(f"stubs, {kind}", f"{wrong}" if wrong else "" if len(want) > 6 else f"only {want}")


def pclntab(version, funcs, text):
    """Go's table of a version with the functions (address, end, name); formats as in debug/gosym."""
    magic = {"1.2": 0xfffffffb, "1.16": 0xfffffffa, "1.18": 0xfffffff0, "1.20": 0xfffffff1}[version]
    small = version in ("1.18", "1.20")
    names, where = b"\0", {}
    for _, _, name in funcs:
        where[name] = len(names)
        names += name.encode() + b"\0"
    words = {"1.2": 1, "1.16": 7}.get(version, 8)
    header = 8 + 8 * words
    base = header if version == "1.2" else header + len(names) + -len(names) % 8
    # Offsets of functions' data count from the list, in 1.2 from the table, as do names.
    size = (len(funcs) * 2 + 1) * (4 if small else 8)
    size += -size % 8
    pairs, data = b"", b""
    first = base + size if version == "1.2" else size
    names_at = base + size + len(funcs) * 40 if version == "1.2" else 0
    for addr, _, name in funcs:
        at = first + len(data)
        pairs += struct.pack("<II", addr - text, at) if small else struct.pack("<QQ", addr, at)
        entry = struct.pack("<I", addr - text) if small else struct.pack("<Q", addr)
        data += (entry + struct.pack("<i", names_at + where[name])).ljust(40, b"\0")
    end = funcs[-1][1]
    pairs += struct.pack("<I", end - text) if small else struct.pack("<Q", end)
    head = struct.pack("<IBBBB", magic, 0, 0, 1, 8) + struct.pack("<Q", len(funcs))
    if version == "1.2":
        return head + pairs.ljust(size, b"\0") + data + names
    head += struct.pack("<Q", 0) + (struct.pack("<Q", text) if small else b"")
    head += struct.pack("<QQQQQ", header, header, header, header, base)
    return (head + names).ljust(base, b"\0") + pairs.ljust(size, b"\0") + data


def symbols(path):
    """(address, end, name) of the functions that nm knows with their sizes."""
    found = {}
    for line in run(*NM, "-S", "-n", path).splitlines():
        words = line.split(" ", 3)
        if len(words) == 4 and words[0] and words[2] in "tT" and int(words[1], 16):
            found.setdefault(int(words[0], 16), (int(words[1], 16), words[3]))
    return [(a, a + size, name) for a, (size, name) in sorted(found.items())]


def compare(path, funcs, same):
    got = ours(path, [a for a, _, _ in funcs] + [e - 1 for _, e, _ in funcs])
    wrong = []
    for i, (start, end, name) in enumerate(funcs):
        for found, offset in ((got[i], 0), (got[i + len(funcs)], end - 1 - start)):
            if not found or found[1] != offset or not same(found[0], name):
                wrong.append((hex(start + offset), name, found))
    return f"{len(wrong)} wrong: {wrong[:5]}" if wrong else ""


def go_same(ours_, theirs_):
    """The table has neither the ABI's mark nor types' parameters that the linker's symbols have."""
    theirs_ = theirs_.partition(".abi")[0]
    if "[" in ours_ or theirs_.startswith(("type:", "type..", "go:", "go.")):
        return ours_[:8] == theirs_[:8]
    return ours_ == theirs_


def test_go(folder):
    if not shutil.which("go"):
        report("# SKIP Go: no compiler")
        return
    env = {"GOCACHE": os.path.join(folder, "cache"), **os.environ, "GOFLAGS": "", "HOME": folder,
           "CGO_ENABLED": "0"}
    # The library is compiled anew for pie, of which the runtime is enough.
    for kind, flags, text in (("plain", [], GO), ("pie", ["-buildmode=pie"], GO_RUNTIME)):
        full, bare, source = (os.path.join(folder, kind + end) for end in ("", ".bare", ".go"))
        with open(source, "w", encoding="ascii") as file:
            file.write(text)
        made = subprocess.run(["go", "build", *flags, "-o", full, source], env=env, check=False)
        if made.returncode:
            report(f"Go, {kind}", "go build failed")
            continue
        subprocess.run(["strip", "-o", bare, full], check=True)
        funcs = [f for f in symbols(full) if f[2].startswith(("main.", "runtime.", "fmt."))]
        report(f"Go, {kind}, {len(funcs)} functions",
               compare(bare, funcs, go_same) if len(funcs) > 500 else "too few functions")


def test_go_versions(folder):
    """Tables of each version, in a C program's section, with the functions that nm knows of it.

    Of 512 functions: the list is read in parts of so many, and the end of the last one is alone."""
    source, full = (os.path.join(folder, n) for n in ("many.c", "many"))
    with open(source, "w", encoding="ascii") as file:
        for i in range(513):
            file.write(f"int f{i}(int n) {{ return n * {i + 2}; }}\n")
        file.write("int main(void) { return f1(2); }\n")
    subprocess.run(["gcc", "-O1", "-o", full, source], check=True)
    text = next(int(line.partition("]")[2].split()[2], 16) for line in
                run("readelf", "-SW", full).splitlines() if " .text " in line)
    funcs = [f for f in symbols(full) if f[2].startswith("f") and f[2][1:].isdigit()]
    funcs = [(a, b, f"main.{name}") for (a, _, name), (b, _, _) in zip(funcs, funcs[1:])]
    if len(funcs) != 512:
        report("Go's tables", f"{len(funcs)} functions instead of 512")
    table, bare = (os.path.join(folder, n) for n in ("table", "bare"))
    for version in ("1.2", "1.16", "1.18", "1.20"):
        with open(table, "wb") as file:
            file.write(pclntab(version, funcs, text))
        subprocess.run(["objcopy", "-S", "--add-section", f".gopclntab={table}", full, bare],
                       check=True)
        report(f"Go's table as of {version}", compare(bare, funcs, str.__eq__))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
    with tempfile.TemporaryDirectory() as folder:
        test_stubs(folder)
        test_go(folder)
        test_go_versions(folder)
    test_random()
    print(f"1..{done}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
