#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes inputs for the fuzzers from files of this machine.

    seeds.py OUT    writes OUT/fuzz_NAME/N

The comment on top of each fuzzer describes its input. If a machine lacks a tool (such as an assembler
that writes .sframe) there are no seeds of that kind; those below tests/fuzz/seeds/ are always there."""

import glob
import lzma
import os
import struct
import subprocess
import sys
import tempfile

SNAPSHOTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unwind", "snapshots")
FILES = ("/bin/true", "/bin/ls", "/usr/bin/python3")
GLOBS = ("/lib*/*/libc.so.6", "/lib*/*/ld-linux*.so*", "/usr/lib/*/libstdc++.so.6", "/lib*/libc.so.6")
PIECE = 400
PIECES = 24  # per file
CODE = 1000  # bytes of machine code
CODE_HEAD = b"\x01\xff" + bytes(8)    # of fuzz_derive: one function, at the beginning
LEAVE_HEAD = b"\x01\x80\x01"           # of fuzz_leave: a return address in the middle
PROGRAM = """
#include <string.h>
int f(int n) { char text[n + 16]; memset(text, n, sizeof(text)); return text[n / 2]; }
int main(int argc, char **argv) { return argv[0][0] + f(argc) + f(argc + 1); }
"""


INLINED = """
static volatile int sink;
static inline __attribute__((always_inline)) int leaf(int x) { sink = x; return sink * 3; }
static inline __attribute__((always_inline)) int middle(int x) { return leaf(x) + leaf(x + 1); }
int outer(int x) { for (int i = 0; i < x; i++) sink += middle(i); return middle(x); }
"""


def sections(data):
    """(name, bytes) of the sections of a 64-bit little-endian ELF image."""
    if data[:6] != b"\x7fELF\x02\x01":
        return
    at, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, kind, _, _, offset, length in headers:
        end = data.index(b"\0", strings + name)
        if kind != 8:
            yield data[strings + name:end].decode(), data[offset:offset + length]


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        shift, at = shift + 7, at + 1
        if not byte & 0x80:
            return value, at


def records(section):
    """(offset, bytes, is a CIE, offset of its CIE) of .eh_frame."""
    at = 0
    while at + 8 <= len(section):
        length, = struct.unpack_from("<I", section, at)
        if not length or length >= 0xfffffff0 or at + 4 + length > len(section):
            return
        back, = struct.unpack_from("<I", section, at + 4)
        yield at, section[at:at + 4 + length], not back, at + 4 - back
        at += 4 + length


def pieces(section):
    """Parts of .eh_frame that begin with a CIE; pointers to it are corrected."""
    cies, piece, used = {}, {}, 0
    for at, record, is_cie, cie in records(section):
        if is_cie:
            cies[at] = record
            continue
        if cie not in cies:
            continue
        part = piece.setdefault(cie, bytearray(cies[cie]))
        part += record[:4] + struct.pack("<I", len(part) + 4) + record[8:]
        if len(part) > PIECE:
            yield bytes(part)
            del piece[cie]
            used += 1
            if used == PIECES:
                break
    yield from map(bytes, piece.values())


def programs(section):
    """CFA programs in the format of fuzz_cfa: of CIEs with zR, the instructions of CIE and FDE."""
    cies = {}
    for at, record, is_cie, cie in records(section):
        if is_cie:
            if record[9:12] == b"zR\0":
                cies[at] = record[17:]
        elif cie in cies:
            size, begin = uleb(record, 16)
            initial = cies[cie]
            yield bytes([0x81, 1, len(initial), 120]) + initial + record[begin + size:]


class Seeds:
    def __init__(self, out):
        self.out = out
        self.seen = set()

    def add(self, fuzzer, data):
        if (fuzzer, data) in self.seen:
            return
        self.seen.add((fuzzer, data))
        folder = os.path.join(self.out, fuzzer)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"real{len(self.seen)}"), "wb") as file:
            file.write(data)

    def add_eh_frame(self, section):
        for piece in pieces(section):
            self.add("fuzz_ehframe", b"\0" + piece)
            self.add("fuzz_unwind", b"\0" + piece)
        for count, program in enumerate(programs(section)):
            self.add("fuzz_cfa", program[:128])
            if count == 10 * PIECES:
                break

    def add_arm64(self, folder):
        for path in glob.glob(os.path.join(folder, "arm64-*.elf")):
            with open(path, "rb") as file:
                data = file.read()
            self.add("fuzz_elf", data)
            self.add("fuzz_symtab", data)
            for name, section in sections(data):
                if name == ".eh_frame":
                    for piece in pieces(section):
                        self.add("fuzz_unwind_arm64", b"\0" + piece)


def assembled(folder):
    """Small programs with .sframe, if compiler and assembler can make them."""
    source = os.path.join(folder, "p.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(PROGRAM)
    for number, flags in enumerate((["-O2"], ["-O1", "-fno-omit-frame-pointer"],
                                    ["-Os", "-fcf-protection=full", "-Wl,-z,ibtplt"])):
        program = os.path.join(folder, f"p{number}")
        done = subprocess.run(["gcc", *flags, "-Wa,--gsframe", "-o", program, source],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            yield program


def with_dwarf(folder):
    """Bytes of small libraries with debug information in several forms."""
    source = os.path.join(folder, "i.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(INLINED)
    for compiler in ("gcc", "clang"):
        for flags in (["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-flto"],
                      ["-gdwarf-5", "-gz"], ["-gdwarf-4", "-gsplit-dwarf"], ["-gdwarf-2"]):
            library = os.path.join(folder, "i.so")
            done = subprocess.run([compiler, "-O2", *flags, "-fPIC", "-shared", "-nostdlib",
                                   "-Wl,-z,noseparate-code", "-o", library, source], cwd=folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                with open(library, "rb") as file:
                    yield file.read()
    packed = ["objcopy", "--compress-debug-sections=zstd", library]
    if os.path.exists(library) and not subprocess.run(packed, stderr=subprocess.DEVNULL, check=False).returncode:
        with open(library, "rb") as file:
            yield file.read()


def without_headers(image):
    """The file without its section headers."""
    return image[:0x28] + bytes(8) + image[0x30:0x3c] + bytes(4) + image[0x40:]


def with_layouts(folder):
    """Bytes of small libraries with CPython's structures, behind a byte with the minor version."""
    library = os.path.join(folder, "o.so")
    for minor in (8, 12):
        for flags in (["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-fdebug-types-section"], ["-gz"]):
            done = subprocess.run(["gcc", "-w", *flags, f"-DMINOR={minor}", "-fPIC", "-shared", "-nostdlib",
                                   "-Wl,-z,noseparate-code", "-o", library, "-x", "c",
                                   "tests/symbols/runtime/odd_layout.h"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                with open(library, "rb") as file:
                    yield bytes([minor - 8]) + file.read()


def with_python(folder):
    """Bytes of small libraries with the symbols of CPython, behind a byte that chooses a name."""
    library = os.path.join(folder, "p.so")
    rest = ("long PyCode_Type[9] = {1}; int _PyEval_EvalFrameDefault(void) { return 1; } "
            "int cold(void) __asm__(\"_PyEval_EvalFrameDefault.cold\"); int cold(void) { return 2; }\n")
    for version in (0, 0x030b02f0, 0x030d12f0, 0x030e0af0):
        source = rest + (f"const unsigned long Py_Version = {version};\n" if version else "")
        if version >> 16 > 0x030c:
            source += ('#include "tests/symbols/runtime/debug_offsets.h"\nextern const uint64_t _PyRuntime[] '
                       f'__attribute__((alias("words_3_{version >> 16 & 255}")));\n')
        else:
            source += "long _PyRuntime[9] = {1};\n"
        done = subprocess.run(["gcc", "-w", "-I.", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,noseparate-code", "-o",
                               library, "-x", "c", "-"], input=source.encode(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            with open(library, "rb") as file:
                yield bytes([version == 0]) + file.read()


def with_runtimes(folder):
    """Small libraries with the symbols of PHP, Perl, Ruby and V8."""
    library = os.path.join(folder, "r.so")
    v8 = ('#include <stdio.h>\n#include "tests/symbols/runtime/v8_constants.h"\nint main(void) { for (unsigned i = 0; '
          'i < sizeof(v8_constants) / sizeof(*v8_constants); i++) if (v8_constants[i].value[1] != NONE) '
          'printf("int %s = %d;\\n", v8_constants[i].name, v8_constants[i].value[1]); }\n')
    program = os.path.join(folder, "v8")
    subprocess.run(["gcc", "-w", "-I.", "-o", program, "-x", "c", "-"], input=v8.encode(), check=True)
    for source in (
            'char build[] = "API420220829,NTS"; int execute_ex(void) { return 1; } long executor_globals[300];\n'
            'const char text[] = "API420220829,NTS";\n',
            "int Perl_runops_standard(void) { return 1; } int Perl_runops_debug(void) { return 2; } "
            "long PL_curinterp, PL_thr_key; const int PL_revision = 5, PL_version = 36, PL_subversion = 0;\n",
            'const char ruby_version[] = "3.1.2"; long ruby_current_vm_ptr, rb_cObject;\n'
            "int rb_during_gc(void) { return ruby_current_vm_ptr; }\n",
            subprocess.run([program], capture_output=True, text=True, check=True).stdout):
        done = subprocess.run(["gcc", "-w", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,noseparate-code", "-o",
                               library, "-x", "c", "-"], input=source.encode(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            with open(library, "rb") as file:
                yield file.read()


def linked(folder):
    """A small program with links to debug files, a compressed symbol table, and stubs."""
    source, program, data, alt = (os.path.join(folder, n) for n in ("l.c", "l", "l.xz", "l.alt"))
    with open(source, "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\nint f(void) { return 1; }\nint _start(void) "
                   "{ return f() + puts(\"\"); }\n")
    with open(alt, "wb") as file:
        file.write(b"../x.debug\0" + bytes(range(20)))
    with open(data, "wb") as file:
        file.write(lzma.compress(b"\x7fELF\2\1\1".ljust(200, b"\0"), lzma.FORMAT_XZ))
    for flags in ([], ["-s"], ["-Wl,-z,now", "-s"]):
        commands = (["gcc", "-Os", "-nostartfiles", "-Wl,-z,noseparate-code,-z,lazy", *flags, "-o",
                     program, source],
                    ["objcopy", f"--add-gnu-debuglink={source}", "--add-section",
                     f".gnu_debugdata={data}", "--add-section", f".gnu_debugaltlink={alt}", program])
        if all(subprocess.run(c, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0 for c in commands):
            with open(program, "rb") as file:
                yield file.read()


def shortened(table):
    """The first 40 functions of a .gopclntab of Go 1.18 or later, also as one of Go 1.2."""
    count, _, text, names, *_, funcs = struct.unpack_from("<8Q", table, 8)
    first = [struct.unpack_from("<II", table, funcs + 8 * i) for i in range(min(count, 40))]
    entries, pairs, strings = b"", b"", b""
    for addr, at in first:
        begin = names + struct.unpack_from("<i", table, funcs + at + 4)[0]
        entries += struct.pack("<Ii", addr, len(strings)).ljust(40, b"\0")
        strings += table[begin:table.index(b"\0", begin) + 1]
    size = 8 * len(first) + 8
    for i, (addr, _) in enumerate(first):
        pairs += struct.pack("<II", addr, size + 40 * i)
    pairs += struct.pack("<II", first[-1][0] + 64, 0)
    base = 72 + len(strings)
    yield (table[:8] + struct.pack("<8Q", len(first), 0, 0x401000, 72, 72, 72, 72, base) + strings +
           pairs + entries)
    old = b"".join(struct.pack("<QQ", 0x401000 + addr, 16 + 16 * len(first) + 16 + 16 * i)
                   for i, (addr, _) in enumerate(first)) + struct.pack("<QQ", 0x402000, 0)
    data = b"".join(struct.pack("<Qii", 0x401000, 40, 0) for _ in first)
    yield struct.pack("<IBBBBQ", 0xfffffffb, 0, 0, 1, 8, len(first)) + old + data + strings


def go_tables(folder):
    """A real .gopclntab, cut after its first functions, if there is a compiler."""
    source, program = (os.path.join(folder, n) for n in ("p.go", "go"))
    with open(source, "w", encoding="ascii") as file:
        file.write("package main\nfunc main() { println(1) }\n")
    env = dict(os.environ, GOCACHE=os.path.join(folder, "cache"), HOME=folder, CGO_ENABLED="0")
    subprocess.run(["go", "build", "-o", program, source], env=env, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if os.path.exists(program):
        with open(program, "rb") as file:
            for name, section in sections(file.read()):
                if name == ".gopclntab":
                    yield from shortened(section)


def main():
    seeds = Seeds(sys.argv[1])
    paths = [*FILES, *(sorted(glob.glob(p))[:1] for p in GLOBS)]
    paths = [p for group in paths for p in ([group] if isinstance(group, str) else group)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            paths += assembled(folder)
            for library in with_dwarf(folder):
                seeds.add("fuzz_debuginfo", library)
            for library in with_layouts(folder):
                seeds.add("fuzz_python_dwarf", library)
            for library in with_python(folder):
                seeds.add("fuzz_python_file", library)
            for library in with_runtimes(folder):
                seeds.add("fuzz_runtime_file", library)
            for image in linked(folder):
                seeds.add("fuzz_debugfile", image)
                for form in (image, without_headers(image)):
                    seeds.add("fuzz_symtab", form)
                    seeds.add("fuzz_elf", form)
            for table in go_tables(folder):
                seeds.add("fuzz_gopclntab", table)
        except FileNotFoundError:
            pass
        seeds.add_arm64(SNAPSHOTS)
        for path in paths:
            if not os.path.exists(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            for name, section in sections(data):
                if name == ".eh_frame":
                    seeds.add_eh_frame(section)
                elif name == ".text":
                    for at in range(0, min(len(section), CODE * PIECES), CODE):
                        seeds.add("fuzz_derive", CODE_HEAD + section[at:at + CODE])
                        seeds.add("fuzz_leave", LEAVE_HEAD + section[at:at + CODE])
                elif name == ".sframe":
                    seeds.add("fuzz_sframe", b"\0\0\0" + section)
                    seeds.add("fuzz_sframe", b"\x04\x10\x08" + section)
                    seeds.add("fuzz_unwind", b"\x0e" + struct.pack("<H", len(section)) + section)
            if len(data) < 20000:
                seeds.add("fuzz_elf", data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
