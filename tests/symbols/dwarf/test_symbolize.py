#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 600 s
"""Wrong names: random addresses inside the functions of real files and of programs built in many
ways, through --symbolize, eu-addr2line, addr2line and, where it is installed, llvm-symbolizer. The
whole chain of inlined calls with its lines must be that of one of them: each has faults that the
others have not. What differs is listed by class, and so is who agrees. Also what --symbolize says
to lines that are no addresses. Of the system's files there are some, and 210 with SIZE=full.

    test_symbolize.py [ADDRESSES [FILE...]]     only these files, all that differ shown

Covers: symbols/dwarf/debuginfo.c symbols/dwarf/debugtree.c symbols/dwarf/debugunit.c symbols/dwarf/diereader.c symbols/base/leb128.h
Covers: symbols/dwarf/rangemap.c symbols/dwarf/linetable.c symbols/dwarf/lineprogram.c
Covers: symbols/dwarf/linefiles.c tui/symbolize/symbolize.c tui/symbolize/inline_chain.c
"""

import collections
import fcntl
import functools
import glob
import hashlib
import os
import posixpath
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "live"))
import live  # noqa: E402

DEBUG = "/usr/lib/debug/.build-id"
FULL = os.environ.get("SIZE") == "full"
FILES_MAX = 210  # of the system
FILES_SOME = 12  # without SIZE=full
ALWAYS = ("libc.so", "ld-linux", "libm.so", "libmvec", "libstdc++")
AGREE = 99.9
BEFORE = ".before"  # a copy of the file
TOOLS = ("eu-addr2line", "addr2line", "llvm-symbolizer")

C = """
#include <stdio.h>
#include <stdlib.h>
#define INLINE static inline __attribute__((always_inline))
static volatile int sink;
INLINE int leaf(int x) { sink = x; return sink * 3; }
INLINE int middle(int x) { int y = leaf(x); return y + leaf(y + 1); }
INLINE int upper(int x) { return x > 5 ? middle(x) - leaf(x) : middle(x + 1); }
__attribute__((noinline)) int one(int x) { return upper(x) + upper(x * 2); }
__attribute__((noinline)) int two(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += middle(i) ^ upper(sum);
	if (sum == 77)
		abort();
	return sum;
}
#ifndef __clang__
__attribute__((noinline)) int nested(int n)
{
	int inside(int x) { return upper(x) + n; }
	int (*volatile f)(int) = inside;
	return f(n) + one(n);
}
#else
#define nested one
#endif
int other(int);
int main(int argc, char **argv)
{
	(void)argv;
	return printf("%d", one(argc) + two(argc) + nested(argc) + other(argc)) == 0;
}
"""

C_OTHER = """
static volatile int far;
static inline __attribute__((always_inline)) int deep(int x) { far = x; return far + 7; }
int other(int x) { return deep(x) + deep(deep(x)); }
"""

CXX = """
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace shop {
namespace { int hidden(int x) { volatile int y = x; return y + 1; } }
struct Item { std::string name; int price; int tax() const { return price / hidden(price); } };
template <class T> struct Shelf {
	std::vector<T> items;
	void add(T item) { items.push_back(std::move(item)); }
	int total() const { int n = 0; for (auto &i : items) n += i.tax() + i.price; return n; }
};
struct Base { virtual ~Base() {} virtual int run(int) = 0; };
struct Derived : Base { int run(int x) override { auto f = [x](int y) { return hidden(x * y); };
	return f(x) + f(2); } };
}
int main(int argc, char **argv)
{
	shop::Shelf<shop::Item> shelf;
	std::map<std::string, int> count;
	for (int i = 0; i < argc * 3; i++) {
		shelf.add({std::string(argv[0]) + "x", i});
		count[shelf.items.back().name] += i;
	}
	std::sort(shelf.items.begin(), shelf.items.end(),
		  [](auto &a, auto &b) { return a.price < b.price; });
	std::unique_ptr<shop::Base> base(new shop::Derived);
	try { if (argc == 99) throw std::string("x"); } catch (std::string &) { return 3; }
	return shelf.total() + (int)count.size() + base->run(argc);
}
"""

RUST = """
use std::collections::HashMap;
#[inline(always)] fn square(x: u64) -> u64 { std::hint::black_box(x) * x }
trait Shape { fn area(&self) -> u64; }
struct Cube(u64);
impl Shape for Cube { fn area(&self) -> u64 { square(self.0) * 6 } }
fn main() {
    let mut seen: HashMap<String, u64> = HashMap::new();
    for i in 0..std::env::args().count() as u64 * 100 {
        *seen.entry(format!("{}", i % 7)).or_insert(0) += Cube(i).area();
    }
    let mut all: Vec<_> = seen.iter().collect();
    all.sort();
    println!("{:?}", all);
}
"""

GO = """
package main
import "fmt"
type shape interface{ area() int }
type cube struct{ edge int }
func square(x int) int { return x * x }
func (c cube) area() int { return square(c.edge) * 6 }
func main() {
	seen := map[string]int{}
	for i := 0; i < 100; i++ { var s shape = cube{i}; seen[fmt.Sprint(i%7)] += s.area() }
	fmt.Println(seen)
}
"""


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


# --- files ----------------------------------------------------------------------------------------

@functools.cache
def version_of(tool):
    return os.path.realpath(shutil.which(tool)) + run([tool, "--version"]).stdout


def build_c(folder, name, compiler, flags, sources, link=()):
    """Path of the program, or None where the compiler refuses. It is kept for the next run, by all that
    it is made of: where it is built is in its debug information, so it stays there."""
    made_of = repr((version_of(compiler), version_of("ld"), flags, sources, link))
    where = os.path.join(folder, f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}")
    program = os.path.join(where, "program")
    if os.path.exists(os.path.join(where, "made")):
        return program
    for old in glob.glob(f"{folder}/{name}-" + 16 * "?"):
        shutil.rmtree(old)
    os.mkdir(where)
    suffix = ".cc" if "++" in compiler else ".c"
    objects = []
    for i, text in enumerate(sources):
        source = os.path.join(where, f"part{i}{suffix}")
        with open(source, "w", encoding="ascii") as file:
            file.write(text)
        objects.append(f"part{i}.o")
        made = run([compiler, *flags, "-c", f"part{i}{suffix}", "-o", objects[-1]], cwd=where)
        if made.returncode:
            return None
    made = run([compiler, *flags, *link, *objects, "-o", "program"], cwd=where)
    if made.returncode:
        return None
    with open(os.path.join(where, "made"), "w", encoding="ascii"):
        return program


def tags_of(compiler, version):
    """None: all. The headers of C++ take a second each time. Without SIZE=full each compiler meets
    each tag once, dwz's pair among them, and each version; of C both versions where their sections
    differ."""
    if FULL:
        return ("plain", "lto", "split", "types") if "++" in compiler else None
    return {"gcc4": ("plain", "split", "types", "sections", "o0", "static"),
            "gcc5": ("plain", "split", "types", "sections", "lto", "zlib", "os"),
            "clang4": ("plain", "sections", "lto", "zlib", "static"),
            "clang5": ("plain", "sections", "types", "o0", "os"),
            "g++4": ("plain", "types"), "g++5": ("lto", "split"), "clang++4": ("lto",),
            "clang++5": ("plain", "types")}[compiler + version]


def variants():
    """(name, compiler, flags, sources, link flags)"""
    c, cxx = [C, C_OTHER], [CXX]
    for version in ("4", "5"):
        for compiler, sources in (("gcc", c), ("g++", cxx), ("clang", c), ("clang++", cxx)):
            base = [f"-gdwarf-{version}", "-O2"]
            tags = tags_of(compiler, version)
            for tag, extra, link in (
                    ("plain", [], []), ("lto", ["-flto"], []),
                    ("split", ["-gsplit-dwarf"], []), ("zlib", ["-gz"], ["-gz"]),
                    ("sections", ["-ffunction-sections"], ["-Wl,--gc-sections"]),
                    ("o0", ["-O0"], []), ("os", ["-Os"], []),
                    ("types", ["-fdebug-types-section"], []),
                    ("static", ["-fno-pie"], ["-no-pie"])):
                # The others do not read the range lists of clang's split units: llvm-dwarfdump
                # shows calls where none of the three tells of them.
                if (tags and tag not in tags) or (tag == "split" and "clang" in compiler):
                    continue
                yield (f"{compiler}{version}-{tag}", compiler, base + extra, sources, link)
    yield ("gcc-zdebug", "gcc", ["-g", "-O2", "-gz=zlib-gnu"], c, ["-gz=zlib-gnu"])
    yield ("gcc3", "gcc", ["-gdwarf-3", "-O2"], c, [])
    yield ("gcc2", "gcc", ["-gdwarf-2", "-O2"], c, [])


def built(tap, folder):
    """name -> path; a file that dwz compresses has a twin whose common part is elsewhere."""
    files = {}
    kept = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "dwarf-programs")
    os.makedirs(kept, exist_ok=True)
    with open(os.path.join(kept, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, compiler, flags, sources, link in variants():
            path = shutil.which(compiler) and build_c(kept, name, compiler, flags, sources, link)
            if path:
                files[name] = path
    for name, tool, source, command in (
            ("rust", "rustc", RUST, ["rustc", "-g", "-O", "-o", "program", "part.rs"]),
            ("rust-v0", "rustc", RUST, ["rustc", "-g", "-O", "-C", "symbol-mangling-version=v0",
                                        "-o", "program", "part.rs"]),
            ("go", "go", GO, ["go", "build", "-o", "program", "part.go"])):
        where = os.path.join(folder, name)
        os.mkdir(where)
        with open(os.path.join(where, "part.go" if tool == "go" else "part.rs"), "w",
                  encoding="ascii") as file:
            file.write(source)
        env = {"GOCACHE": os.path.join(folder, "gocache"), **os.environ, "GO111MODULE": "off"}
        if shutil.which(tool) and not run(command, cwd=where, env=env).returncode:
            files[name] = os.path.join(where, "program")
    files.update(dwz_pair(folder, files))
    files["stacktop"] = live.STACKTOP
    missing = {name for name, *_ in variants()} - set(files)
    tap.note(f"{len(files)} programs built; not: {' '.join(sorted(missing)) or 'none'}")
    return files


def dwz_pair(folder, files):
    pair = [files.get("g++4-plain"), files.get("g++4-types")]
    if not shutil.which("dwz") or None in pair:
        return {}
    where = os.path.join(folder, "dwz")
    os.mkdir(where)
    names = [os.path.join(where, name) for name in ("a", "b")]
    for source, name in zip(pair, names):
        shutil.copy(source, name)
        shutil.copy(source, name + BEFORE)
    if run(["dwz", "-m", os.path.join(where, "common"), "-M", "common", *names]).returncode:
        return {}
    return {"dwz-a": names[0], "dwz-b": names[1]}


def build_id(path):
    match = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", path]).stdout)
    return match and match.group(1)


def build_id_fast(path):
    """The note as linkers place it, near the file's start; a file without it is not looked at."""
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError:
        return None
    at = head.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    return head[at + 16:at + 36].hex() if head[:4] == b"\x7fELF" and at >= 0 else None


def of_the_system():
    """Files whose debug files are installed."""
    found = []
    if not os.path.isdir(DEBUG):
        return found
    seen = set()
    for top in ("/usr/lib", "/usr/bin", "/usr/sbin"):
        for folder, dirs, names in os.walk(top):
            dirs[:] = [d for d in dirs if d not in ("debug", "python3", "gcc")]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path) or not (".so" in name or os.access(path, os.X_OK)):
                    continue
                number = build_id_fast(path)
                if number and number not in seen and \
                        os.path.exists(f"{DEBUG}/{number[:2]}/{number[2:]}.debug"):
                    seen.add(number)
                    found.append(path)
                if len(found) >= FILES_MAX:
                    return some(found)
    return some(found)


def some(paths):
    """Those that are unlike others by their code, and as many from everywhere."""
    always = [path for path in paths if os.path.basename(path).startswith(ALWAYS)]
    rest = [path for path in paths if path not in always]
    return paths if FULL else always + rest[::-(-len(rest) // FILES_SOME) or 1]


# --- what the tools say ---------------------------------------------------------------------------

def symbols(path):
    """[(address, size)] of functions, and address -> all names."""
    functions, names = {}, collections.defaultdict(set)
    files = [path]
    number = build_id(path)
    if number:
        files.append(f"{DEBUG}/{number[:2]}/{number[2:]}.debug")
    for name in files:
        for line in run(["readelf", "-sW", name]).stdout.splitlines():
            word = line.split()
            if len(word) < 8 or word[3] not in ("FUNC", "IFUNC") or word[6] == "UND":
                continue
            address, size = int(word[1], 16), int(word[2], 0)
            names[address].add(word[7].split("@")[0])
            if size:
                functions[address] = max(size, functions.get(address, 0))
    return sorted(functions.items()), names


def place(text):
    text = re.sub(r" \(discriminator \d+\)$", "", text)
    path, _, line = text.partition(":") if "??" in text else text.rpartition(":")
    path = posixpath.normpath(path) if path else "?"
    if path.startswith("?") or not line.isdigit() or line == "0":
        return "?" if path.startswith("?") else path
    return f"{path}:{line}"


def eu_place(text):
    """FILE:LINE:COLUMN, of which the column may be missing."""
    match = re.match(r"(.*?):(\d+)(:\d+)?$", text)
    return place(f"{match.group(1)}:{match.group(2)}" if match else text)


def chains(text, of_place):
    """Pairs of lines behind a line with the address, as both tools write with -a -f -i."""
    answers, current, name = {}, None, None
    for line in text.splitlines():
        if name is None and re.fullmatch("0x[0-9a-f]{16}", line):
            current = answers.setdefault(int(line, 16), [])
        elif name is None:
            name = line.split(" inlined at ")[0]
            name = re.sub(r"^\((inlined by)\) ", "", name)
        else:
            current.append((name, of_place(line)))
            name = None
    return answers


def llvm_chains(path, addresses):
    tool = shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14")
    if not tool:
        return {address: [] for address in addresses}
    text = "".join(f"{a:#x}\n" for a in addresses)
    out = run([tool, "--no-demangle", "--inlines", "--functions=linkage", "-e", path],
              input=text).stdout
    answers = {}
    for address, block in zip(addresses, out.split("\n\n")):
        lines = block.strip("\n").splitlines()
        answers[address] = [(name, eu_place(where))
                            for name, where in zip(lines[::2], lines[1::2])]
    return answers


def ours(text):
    answers, current = {}, None
    for line in text.splitlines():
        address, name, where = line.split("\t")
        if address:
            current = answers.setdefault(int(address, 16), [])
        current.append((name, place(where)))
    return answers


PARTS = re.compile(r"(\.(cold|part|isra|constprop|lto_priv|llvm)(\.\d+)*| \[clone [^]]*\])+$")


def plain_names(answers):
    """Demangled by binutils, without parameters, what Rust adds, and marks of split functions."""
    hashes = re.compile(r"::h[0-9a-f]{16}$|\[[0-9a-f]{12,16}\]|"
                        r"(?<=[0-9a-z]): ([ui](8|16|32|64|128|size)|bool|char)\b")
    every = sorted({name for chain in answers for name, _ in chain})
    out = run(["c++filt", "-p"], input="\n".join(every) + "\n").stdout.splitlines()
    known = dict(zip(every, out))
    return [[(PARTS.sub("", hashes.sub("", known[name])), where)
             for name, where in chain] for chain in answers]


# --- comparison -----------------------------------------------------------------------------------

class Comparison:
    def __init__(self):
        self.classes = collections.Counter()
        self.examples = collections.defaultdict(list)

    def differ(self, kind, *what):
        self.classes[kind] += 1
        if len(self.examples[kind]) < 20:
            self.examples[kind].append(what)

    @staticmethod
    def same_name(mine, theirs, aliases):
        return mine == theirs or (mine in aliases and theirs in aliases) or \
            (theirs in ("??", "?") and mine in aliases)

    def chain_matches(self, mine, theirs, aliases):
        """The outermost name may be another symbol of the same function."""
        return len(mine) == len(theirs) and \
            [where for _, where in mine] == [where for _, where in theirs] and \
            [name for name, _ in mine[:-1]] == [name for name, _ in theirs[:-1]] and \
            self.same_name(mine[-1][0], theirs[-1][0], aliases)

    def compare(self, label, address, mine, others, aliases):
        agree = [tool for tool, theirs in zip(TOOLS, others)
                 if self.chain_matches(mine, theirs, aliases)]
        if agree:
            self.classes["as " + ", ".join(agree)] += 1
        elif [w for _, w in mine] in [[w for _, w in theirs] for theirs in others]:
            self.differ("other names", label, hex(address), mine, *others)
        elif [n for n, _ in mine] in [[n for n, _ in theirs] for theirs in others]:
            self.differ("other lines", label, hex(address), mine, *others)
        else:
            self.differ("other chains", label, hex(address), mine, *others)

    def file(self, label, path, count):
        functions, names = symbols(path)
        addresses = set()
        for _ in range(count if functions else 0):
            start, size = random.choice(functions)
            addresses.add(start + random.randrange(size))
        if not addresses:
            return
        addresses = sorted(addresses)
        text = "".join(f"{a:#x}\n" for a in addresses)
        mine = ours(run([live.STACKTOP, "--symbolize", path], input=text).stdout)
        eu = chains(run(["eu-addr2line", "-a", "-f", "-i", "-e", path], input=text).stdout,
                    eu_place)
        other = chains(run(["addr2line", "-a", "-f", "-i", "-e", path], input=text).stdout, place)
        # llvm-symbolizer knows no files of dwz: it tells what was there before.
        before = path + BEFORE
        llvm = llvm_chains(before if os.path.exists(before) else path, addresses)
        both = [plain_names([which.get(a, []) for a in addresses])
                for which in (mine, eu, other, llvm)]
        starts = [start for start, _ in functions]
        around = []
        for address in addresses:
            aliases = set()
            for start, size in functions[:bisect_right(starts, address)][-40:]:
                if start <= address < start + size:
                    aliases |= names[start]
            around.append([(name, "") for name in sorted(aliases)])
        for i, (address, chain) in enumerate(zip(addresses, plain_names(around))):
            aliases = {name for name, _ in chain}
            self.compare(label, address, both[0][i], [one[i] for one in both[1:]], aliases)

    def report(self, tap):
        for kind, count in sorted(self.classes.items()):
            tap.note(f"{count:7} {kind}")
        for kind, list_ in self.examples.items():
            for label, address, *answers in list_[:8]:
                tap.note(f"{kind}: {label} {address}")
                for tool, answer in zip(("stacktop",) + TOOLS, answers):
                    tap.note(f"    {tool}: {answer}")


def bisect_right(starts, address):
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= address:
            low = middle + 1
        else:
            high = middle
    return low


def share(comparison):
    total = sum(comparison.classes.values())
    bad = sum(comparison.classes[kind] for kind in comparison.examples)
    return 100 * (total - bad) / total if total else 0, total


def test_names(tap, files, count, what):
    comparison = Comparison()
    for label, path in files:
        comparison.file(label, path, count)
    agree, total = share(comparison)
    tap.note(f"{what}: {total} addresses of {len(files)} files, {agree:.3f} % agree")
    comparison.report(tap)
    tap.ok(agree >= AGREE and total >= min(len(files), 10) * count // 2,
           f"names and lines of {what} are as other tools say")


def test_lines(tap, path):
    """What is no address is said to be none, and the rest is answered."""
    functions, _ = symbols(path)
    good = f"{functions[0][0]:x}"
    text = f"{good}\nzebra\n0x\n\n  0X{good}\t\r\n-5\n{'f' * 17}\n{'1' * 100000}\n\x1b[31m\n" + \
        f"{good} 1\nffffffffffffffff"
    done = run([live.STACKTOP, "--symbolize", path], input=text)
    heads = [line.split("\t")[0] for line in done.stdout.splitlines() if line[0] != "\t"]
    tap.ok(heads == [good, "?", "?", f"0X{good}", "?", "?", "?", "?", "?", "ffffffffffffffff"],
           "each line that is not empty has an answer", repr(heads))
    tap.ok(done.returncode == 1 and done.stderr.count("is not a hexadecimal address") == 7 and
           "line 2: `zebra'" in done.stderr and "\x1b" not in done.stderr,
           "bad lines are named by number", done.stderr[-300:])
    last = done.stdout.splitlines()[-1]
    tap.ok(last == "ffffffffffffffff\t?\t?", "what is unknown is `?'", last)
    done = run([live.STACKTOP, "--symbolize", path], input=good + "\n")
    tap.ok(done.returncode == 0 and not done.stderr, "nothing is said where all is well")
    for wrong in ("/nonexistent", "/dev/zero", "/etc/passwd", "/"):
        done = run([live.STACKTOP, "--symbolize", wrong], input="1000\n", timeout=20)
        tap.ok(done.returncode == 1 and wrong in done.stderr and not done.stdout,
               f"{wrong} is refused by name", done.stderr.strip())


UNSIZED = """
__asm__(".text\\n.globl unsized\\n.type unsized, @function\\nunsized: nop\\nret\\n");
static volatile int sink;
__attribute__((noinline)) static int hidden_one(int x) { sink = x; return x * sink; }
__attribute__((noinline)) static int hidden_two(int x)
{
	sink = hidden_one(x);
	__asm__ volatile(".globl entry\\n.type entry, @function\\nentry: nop");
	sink++;
	return x + sink;
}
int main(int argc, char **argv) { (void)argv; return hidden_two(argc); }
"""


def test_unsized(tap, folder):
    """A symbol without a size covers what is behind it, but debug information knows better. What
    functions there were is what nm said before their symbols were taken away."""
    path = os.path.join(folder, "unsized")
    done = run(["gcc", "-O1", "-g", "-fno-toplevel-reorder", "-x", "c", "-o", path, "-"],
               input=UNSIZED)
    if done.returncode:
        tap.skip("symbols without a size", done.stderr[-200:])
        return
    places = {name: int(start, 16) for start, _, name in
              (line.split() for line in run(["nm", path]).stdout.splitlines()
               if len(line.split()) == 3)}
    subprocess.run(["objcopy", "-N", "hidden_one", "-N", "hidden_two", path], check=True)
    names = ("unsized", "hidden_one", "hidden_two", "entry", "main")
    text = "".join(f"{places[name]:x}\n" for name in names)
    lines = run([live.STACKTOP, "--symbolize", path], input=text).stdout.splitlines()
    answers = [line.split("\t")[1] for line in lines]
    tap.ok("hidden_one" not in run(["nm", path]).stdout and answers == list(names),
           "functions without a symbol behind a symbol without a size", repr(answers))


def test_budget(tap, path):
    """More debug information than the budget costs inlined calls and lines, but no names."""
    functions, _ = symbols(path)
    text = "".join(f"{start:x}\n" for start, _ in functions[:50])
    done = run([live.STACKTOP, "--debug-memory", "1", "--symbolize", path], input=text)
    lines = done.stdout.splitlines()
    tap.ok(done.returncode == 0 and "--debug-memory" in done.stderr and len(lines) == 50 and
           all(line.endswith("\t?") for line in lines) and
           all(line.split("\t")[1] != "?" for line in lines),
           "beyond the budget there are names alone, and a message", done.stderr[-200:])


def test_fifo(tap, folder, path):
    """A split unit whose file became a FIFO is not waited for."""
    where = os.path.dirname(path)
    os.remove(os.path.join(where, "made"))  # the next run builds it again
    for name in os.listdir(where):
        if name.endswith(".dwo"):
            os.remove(os.path.join(where, name))
            os.mkfifo(os.path.join(where, name))
    functions, _ = symbols(path)
    done = run([live.STACKTOP, "--symbolize", path], timeout=20,
               input="".join(f"{start:x}\n" for start, _ in functions))
    tap.ok(done.returncode == 0 and "main" in done.stdout, "a FIFO in a split unit's place",
           folder)


def main():
    tap = live.Tap()
    random.seed(1)
    if len(sys.argv) > 2:
        test_names(tap, [(path, path) for path in sys.argv[2:]], int(sys.argv[1]), "the files")
        tap.done()
    with tempfile.TemporaryDirectory() as folder:
        files = built(tap, folder)
        test_names(tap, sorted(files.items()), 60, "programs built here")
        test_lines(tap, files["stacktop"])
        test_unsized(tap, folder)
        if "rust" in files:
            test_budget(tap, files["rust"])
        if "gcc5-split" in files:
            test_fifo(tap, "gcc5-split", files["gcc5-split"])
    system = of_the_system()
    if len(system) < 3:
        tap.skip("files of the system", "no debug packages")
    else:
        test_names(tap, [(path, path) for path in system], 100, "the system's files")
    tap.done()


if __name__ == "__main__":
    main()
