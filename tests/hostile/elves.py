# SPDX-License-Identifier: GPL-2.0-or-later
"""Harmful ELF files. Each function of ELVES writes one or more into a folder and returns their paths;
all have, at 0x1000, the code that programs/mapper.c executes."""

import lzma
import os
import struct
import zlib

TEXT, SIZE = 0x1000, 0x2000
CODE = bytes.fromhex("833f0074fbc3")
GIB = 1 << 30
PT_LOAD, PT_NOTE = 1, 4
PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS, DYNSYM = 1, 2, 3, 4, 7, 8, 11
COMPRESSED, ZLIB, ZSTD = 0x800, 1, 2
ELVES = {}


def elf(function):
    ELVES[function.__name__.replace("_", " ")] = function
    return function


class Section:
    """data: bytes, or the size of a hole in the file."""

    def __init__(self, name, data=b"", kind=PROGBITS, flags=0, addr=0, link=0, entsize=0, info=0):
        self.name, self.data, self.kind, self.flags = name, data, kind, flags
        self.addr, self.link, self.entsize, self.info = addr, link, entsize, info
        self.offset = 0

    @property
    def size(self):
        return self.data if isinstance(self.data, int) else len(self.data)


def phdr(kind, flags, offset, addr, size):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, addr, addr, size, size, 4)


def ehdr(phoff=0, phnum=0, shoff=0, shnum=0, shstrndx=0, ident=b"\x7fELF\2\1\1"):
    return struct.pack("<16sHHIQQQIHHHHHH", ident, 3, 62, 1, 0, phoff, shoff, 0, 64, 56, phnum, 64,
                       shnum, shstrndx)


def write(path, sections=(), segments=None, shnum=None, phnum=None, first=b"\0" * 64):
    """first: the header of section 0."""
    segments = (segments or b"") + phdr(PT_LOAD, 5, 0, 0, SIZE)
    sections = [Section(".text", 0, flags=6, addr=TEXT), *sections]
    sections[0].data = TEXT
    names = b"\0"
    places = []
    for section in sections + [Section(".shstrtab")]:
        places.append(len(names))
        names += section.name.encode() + b"\0"
    sections.append(Section(".shstrtab", names, STRTAB))
    with open(path, "wb") as file:
        at = SIZE
        for section in sections[1:]:
            section.offset = at
            if not isinstance(section.data, int):
                file.seek(at)
                file.write(section.data)
            at += -(-section.size // 16) * 16
        sections[0].offset = TEXT
        phoff = at if len(segments) > TEXT - 64 else 64
        file.seek(phoff)
        file.write(segments)
        at += len(segments) if phoff == at else 0
        file.seek(at)
        file.write(first)
        for place, section in zip(places, sections):
            file.write(struct.pack("<IIQQQQIIQQ", place, section.kind, section.flags, section.addr,
                                   section.offset, section.size, section.link, section.info, 1,
                                   section.entsize))
        file.seek(TEXT)
        file.write(CODE)
        count = len(sections) + 1
        file.seek(0)
        file.write(ehdr(phoff, phnum or len(segments) // 56, at, count if shnum is None else shnum,
                        count - 1))
        file.truncate(max(os.path.getsize(path), at + 64 * count, SIZE))
    return [path]


def chdr(kind, size):
    return struct.pack("<IIQQ", kind, 0, size, 1)


def deflated(size, unit=b"\0"):
    """`size` bytes of repeated units, compressed."""
    packer = zlib.compressobj(1)
    part = unit * (1 << 20)
    whole = b"".join(packer.compress(part) for _ in range(size // len(part)))
    return chdr(ZLIB, size) + whole + packer.flush()


def symbols(names, table=b""):
    """.symtab and .strtab; names: those of functions at TEXT."""
    text = b"\0"
    for name in names:
        table += struct.pack("<IBBHQQ", len(text), 0x12, 0, 1, TEXT, 16)
        text += name + b"\0"
    return [Section(".symtab", b"\0" * 24 + table, SYMTAB, link=3, entsize=24, info=1),
            Section(".strtab", text, STRTAB)]


@elf
def notes(path):
    return write(path, segments=phdr(PT_NOTE, 4, 0x1800, 0, 16) * 65533)


@elf
def loads(path):
    return write(path, segments=b"".join(phdr(PT_LOAD, 5, i * 4096, i * 4096, 4096)
                                         for i in range(2, 65535)))


@elf
def sections(path):
    return write(path, [Section("s", b"x") for _ in range(65000)])


@elf
def sections_without_number(path):
    first = bytearray(64)
    struct.pack_into("<Q", first, 32, 1 << 40)
    return write(path, shnum=0, first=bytes(first))


@elf
def segments_without_number(path):
    first = bytearray(64)
    struct.pack_into("<I", first, 44, 1 << 31)
    return write(path, phnum=0xffff, first=bytes(first))


def sparse(name):
    def make(path):
        return write(path, [Section(name, GIB - 4096, flags=2, addr=0x10000)])
    return make


for each in (".eh_frame", ".debug_frame", ".sframe", ".debug_info", ".debug_line", ".gopclntab",
             ".gnu_debugdata", ".note.gnu.build-id"):
    ELVES["sparse " + each] = sparse(each)


@elf
def sparse_all(path):
    return write(path, [Section(name, GIB - 4096, flags=2, addr=0x10000)
                        for name in (".eh_frame", ".debug_frame", ".sframe")])


@elf
def sparse_names(path):
    first = write(path, symbols([b"x"]) + [Section(".dynsym", GIB, DYNSYM, link=5, entsize=24),
                                           Section(".dynstr", GIB, STRTAB)])
    return first


@elf
def bomb_of_zlib(path):
    return write(path, [Section(".eh_frame", deflated(256 << 20), flags=COMPRESSED),
                        Section(".debug_frame", deflated(256 << 20), flags=COMPRESSED)])


@elf
def bomb_of_lines(path):
    """A line program that makes a row of each byte."""
    head = struct.pack("<IHIBBBBBB", (128 << 20) + 20, 3, 18, 1, 1, 1, 1, 1, 1) + b"\0" * 12
    return write(path, [Section(".debug_line", chdr(ZLIB, (128 << 20) + 24) + zlib.compress(
        head + b"\1" * (128 << 20), 1), flags=COMPRESSED),
        *unit(b"\x01\x11\x00\x10\x17\x00\x00\x00", struct.pack("<BI", 1, 0))])


@elf
def bomb_that_lies(path):
    """Its header promises more data than there is."""
    return write(path, [Section(name, chdr(kind, GIB - 1) + zlib.compress(b"\0" * 100), flags=COMPRESSED)
                        for name in (".debug_info", ".debug_abbrev", ".debug_line", ".eh_frame")
                        for kind in (ZLIB, ZSTD)])


@elf
def bomb_of_xz(path):
    packer = lzma.LZMACompressor(preset=0)
    part = b"\0" * (8 << 20)
    packed = b"".join(packer.compress(part) for _ in range(12)) + packer.flush()
    return write(path, [Section(".gnu_debugdata", packed)])


@elf
def debuglink_to_1_GiB(path):
    made = []
    for i in range(6):
        name = os.path.basename(path) + f"-{i}.debug"
        with open(os.path.join(os.path.dirname(path), name), "wb") as file:
            file.write(ehdr())
            file.truncate(GIB)
        made += debuglink(f"{path}-{i}", name.encode())
    return made


def debuglink(path, name):
    data = name + b"\0"
    return write(path, [Section(".gnu_debuglink", data + b"\0" * (-len(data) % 4) + b"\1\2\3\4")])


@elf
def debuglink_to_FIFO(path):
    os.mkfifo(path + ".debug")
    return debuglink(path, os.path.basename(path).encode() + b".debug")


@elf
def debuglink_to_itself(path):
    return debuglink(path, os.path.basename(path).encode())


@elf
def debuglink_upwards(path):
    return debuglink(path, b"../" * 40 + b"etc/shadow") + debuglink(path + "2", b"/dev/zero") + \
        debuglink(path + "3", b"\x1b[2J" * 200)


@elf
def altlink_circle(path):
    other = path + "-alt"
    for one, two in ((path, other), (other, path)):
        write(one, [Section(".gnu_debugaltlink", os.fsencode(two) + b"\0" + b"\7" * 20),
                    *unit(b"\x01\x11\x00\x00\x00\x00", b"\1")])
    return [path, other]


@elf
def altlink_to_devices(path):
    made = []
    for i, name in enumerate((b"/dev/zero", b"/proc/kmsg", b"/dev/ptmx", b"/dev/fuse")):
        made += write(f"{path}{i}", [Section(".gnu_debugaltlink", name + b"\0" + b"\7" * 20),
                                     *unit(b"\x01\x11\x00\x00\x00\x00", b"\1")])
    return made


@elf
def million_symbols(path):
    table = b"".join(struct.pack("<IBBHQQ", 1, 0x12, 0, 1, TEXT + i % 4096, 1) for i in range(4096))
    return write(path, [Section(".symtab", b"\0" * 24 + table * 256, SYMTAB, link=3, entsize=24),
                        Section(".strtab", b"\0one\0", STRTAB)])


@elf
def one_long_name(path):
    sections = symbols([b"x"])
    sections[1].data = b"\0" + b"n" * (64 << 20)
    return write(path, sections)


@elf
def names_with_escapes(path):
    return write(path, symbols([b"\x1b[2J\x1b]0;x\7\r\n\xff\x9b31m;main 99", b"\xe2\x80\xae\xc2\x9b"]))


@elf
def names_to_demangle(path):
    """Each reference doubles the length of the name."""
    doubled = b"".join(b"I" + (b"S%s_" % (b"" if i < 1 else b"%d" % (i - 1))) * 2 + b"E"
                       for i in range(9))
    return write(path, symbols([
        b"_Z1fI" + b"P" * 3000 + b"iEvv", b"_Z1fN1aE" + doubled, b"_Z1f" + b"F" * 2000,
        b"_Z1fIJ" + b"1aIS_S_E" * 200 + b"EEvv", b"_ZN" + b"1a" * 1500 + b"E",
        b"_RINvC1a1b" + b"T" + b"B2_" * 900 + b"E", b"_RIC0" + b"TIB_" * 800 + b"p",
        b"_D1a" + b"QbQb" * 900, b"_D1a1bF" + b"Qd" * 900 + b"Zv", b"_ZTV" + b"St" * 1900,
        b"_Z" + b"L" * 3800, b"_Z1fIXadL_Z" * 350]))


def cie(text=b""):
    body = struct.pack("<IB", 0, 1) + b"zR\0\x01\x78\x10\x01\x0b" + b"\x0c\x07\x08\x90\x01" + text
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def fde(at, cie_at, address, start, length, text=b""):
    """An FDE of an .eh_frame at address."""
    body = struct.pack("<IiI", at + 4 - cie_at & 0xffffffff, start - (address + at + 8), length) + b"\0" + text
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def frames(path, data):
    address = 0x10000
    return write(path, [Section(".eh_frame", data(address), flags=2, addr=address)])


@elf
def overlapping_FDEs(path):
    def data(address):
        whole = [cie()]
        at = len(whole[0])
        for i in range(100000):
            whole.append(fde(at, 0, address, TEXT + i % 2000, 4096 - i % 2000, b"\x0e\x10"))
            at += len(whole[-1])
        return b"".join(whole)
    return frames(path, data)


@elf
def a_CIE_for_each_FDE(path):
    def data(address):
        whole, at = [], 0
        for i in range(50000):
            first = cie(b"\x0a\x0b" * 40)
            whole += [first, fde(at + len(first), at, address, TEXT + i % 4096, 1)]
            at += len(first) + len(whole[-1])
        return b"".join(whole)
    return frames(path, data)


@elf
def CIEs_that_point_at_each_other(path):
    return frames(path, lambda address: b"".join(
        fde(i * 20, (i * 7919 % 5000) * 20, address, TEXT, 4096) for i in range(5000)) + cie())


@elf
def remembered_states(path):
    return frames(path, lambda address: cie() + fde(len(cie()), 0, address, TEXT, 4096,
                                                   b"\x0a" * (8 << 20) + b"\x0b" * (8 << 20)))


@elf
def row_for_each_byte(path):
    """Rules that are all different, for as much code as the FDE claims."""
    def data(address):
        text = b"".join(b"\x41\x0e" + bytes([0x80 | i & 0x78, 0x80 | i >> 7 & 0x7f, i >> 14 & 0x3f])
                        for i in range(0, 8 << 20, 8))
        return cie() + fde(len(cie()), 0, address, TEXT, 1 << 26, text)
    return frames(path, data)


@elf
def expression_without_end(path):
    """DW_OP_skip back to itself, DW_OP_bra likewise, and dup and mul for ever."""
    def data(address):
        whole = cie()
        for i, text in enumerate((b"\x2f\xfd\xff", b"\x31\x28\xfc\xff", b"\x12\x1e" * 60)):
            rule = b"\x0f" + bytes([len(text)]) + text
            whole += fde(len(whole), 0, address, TEXT + i * 2, 2, rule * 1000)
        return whole
    return frames(path, data)


def unit(abbrev, dies):
    body = struct.pack("<HIB", 4, 0, 8) + dies
    return [Section(".debug_info", struct.pack("<I", len(body)) + body),
            Section(".debug_abbrev", abbrev)]


@elf
def abbreviations_without_number(path):
    def leb(value):
        return bytes([value & 0x7f | 0x80, value >> 7 & 0x7f | 0x80, value >> 14])
    many = b"".join(leb(i) + b"\x2e\x01\x11\x01\x00\x00" for i in range(1, 400000))
    return write(path, unit(many + b"\0", leb(399999) + b"\0" * 8)) + \
        write(path + "2", unit(b"\xff" * 9 + b"\x01" + b"\x2e\x01" + b"\x11\x01" * 200000, b"\xff" * 100))


@elf
def deep_entries(path):
    """A million nested lexical blocks, all of the same code."""
    abbrev = b"\x01\x11\x01\x11\x01\x12\x06\x00\x00\x02\x2e\x01\x11\x01\x12\x06\x00\x00" \
        b"\x03\x1d\x01\x31\x13\x11\x01\x12\x06\x00\x00\x00"
    place = struct.pack("<QI", TEXT, 4096)
    return write(path, unit(abbrev, b"\x01" + place + b"\x02" + place +
                            (b"\x03" + struct.pack("<I", 11) + place) * 500000))


@elf
def entries_in_a_circle(path):
    abbrev = b"\x01\x11\x01\x11\x01\x12\x06\x00\x00\x02\x2e\x01\x31\x13\x11\x01\x12\x06\x00\x00" \
        b"\x03\x1d\x00\x31\x13\x11\x01\x12\x06\x00\x00\x00"
    place = struct.pack("<QI", TEXT, 4096)
    entry = 11 + 1 + 12
    return write(path, unit(abbrev, b"\x01" + place + b"\x02" + struct.pack("<I", entry) + place +
                            b"\x03" + struct.pack("<I", entry) + place + b"\0\0"))


@elf
def relocations(path):
    """Relocations of a PLT: four million, all of one symbol."""
    return write(path, [Section(".dynsym", b"\0" * 48, DYNSYM, link=3, entsize=24),
                        Section(".dynstr", b"\0x\0", STRTAB),
                        Section(".rela.plt", 96 << 20, RELA, link=2, entsize=24, info=5, flags=2),
                        Section(".plt", b"\xff\x25\0\0\0\0" * 10000, flags=6, addr=0x20000)])


@elf
def hash_in_a_circle(path):
    return write(path, [Section(".gnu.hash", struct.pack("<IIII", 1 << 31, 1, 1 << 31, 5) +
                                b"\1\0\0\0" * 1000, 0x6ffffff6, flags=2, link=4),
                        Section(".hash", struct.pack("<II", 1, 3) + b"\1\0\0\0\1\0\0\0" * 4, 5),
                        Section(".dynsym", b"\0" * 72, DYNSYM, link=5, entsize=24),
                        Section(".dynstr", b"\0x\0", STRTAB)])


@elf
def go_table(path):
    head = b"\xf1\xff\xff\xff\0\0\1\x08" + struct.pack("<QQQQQQQQ", 1 << 40, 1 << 40, TEXT, 64, 72, 80,
                                                      88, 96)
    return write(path, [Section(".gopclntab", head + b"\xff" * (4 << 20))])


@elf
def headers_cut_off(path):
    """Cut off at each fourth byte of the headers."""
    whole = write(path, symbols([b"x"]))[0]
    with open(whole, "rb") as file:
        text = file.read()
    made = []
    for at in range(4, 124, 4):
        made.append(f"{path}-{at}")
        with open(made[-1], "wb") as file:
            file.write(text[:at])
    for at in range(16, 64, 4):
        made.append(f"{path}-ff{at}")
        with open(made[-1], "wb") as file:
            file.write(text[:at] + b"\xff" * 4 + text[at + 4:])
    return made


@elf
def other_classes(path):
    made = []
    for i, ident in enumerate((b"\x7fELF\1\1\1", b"\x7fELF\2\2\1", b"\x7fELF\3\1\1", b"\x7fELF\xff" * 3)):
        made += write(f"{path}{i}")
        with open(made[-1], "r+b") as file:
            file.write(ident)
    return made


@elf
def a_hole_of_1_TiB(path):
    with open(path, "wb") as file:
        file.seek(TEXT)
        file.write(CODE)
        file.truncate(1 << 40)
    return [path]
