#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A library wherever it comes from: mapped twice, by hard links, deleted, replaced while it is mapped, on an
overlay, in a squashfs, by FUSE, with addresses that prelink gives. Its stacks are complete and have its names; a
debug file with other addresses names nothing. Of a program that was unpacked into memory it is said.

Covers: bpf/tracker/objectfile.c bpf/tracker/openfile.c bpf/tracker/runcode.c bpf/tracker/mapping.c symbols/elf/debugfile.c
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402

LIBRARY = """
volatile unsigned long sink;
__attribute__((noinline, noclone)) static void NAMED(leaf)(void) { for (int i = 0; i < 100000; i++) sink += i * sink; }
__attribute__((noinline, noclone)) static void NAMED(middle)(int n) { for (int i = 0; i < n; i++) NAMED(leaf)(); sink++; }
void run_it(void) { for (;;) NAMED(middle)(100); }
"""
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *run) { ((void (*)(void))run)(); return NULL; }
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 1; i < argc; i++) {
		void *library = dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW);
		if (!library)
			return puts(dlerror()), 1;
		pthread_create(&thread, NULL, work, dlsym(library, "run_it"));
	}
	puts("ready");
	fflush(stdout);
	pause();
}
"""

# What a packer's stub leaves: code in memory of its own, and of the program no code that is mapped.
UNPACKED = r"""
#include <string.h>
#include <sys/mman.h>
__asm__(".globl unpacked, unpacked_end\nunpacked: mov $11, %eax\n syscall\n"
	"0: call 1f\n jmp 0b\n1: inc %rcx\n cmp $1, %rcx\n jne 1b\n ret\nunpacked_end:\n");
extern const char unpacked[], unpacked_end[], __executable_start[], etext[];
int main(int argc, char **argv)
{
	const unsigned long from = (unsigned long)__executable_start & -4096, to = ((unsigned long)etext + 4095) & -4096;
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argv;
	memcpy(at, unpacked, unpacked_end - unpacked);
	((void (*)(unsigned long, unsigned long))at)(from, argc > 1 ? 0 : to - from);
}
"""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=100, **options)


class Place:
    """A folder with the program, and what was mounted in it."""

    def __init__(self, folder):
        self.folder = folder
        self.mounts = contextlib.ExitStack()
        run("gcc", "-O2", "-pthread", "-x", "c", "-o", self.path("program"), "-", input=PROGRAM.encode())
        self.library("lib.so", "its")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def library(self, name, prefix, *flags):
        run("gcc", "-O2", "-g", "-fPIC", "-shared", f"-DNAMED(x)={prefix}_##x", *flags, "-x", "c", "-o", self.path(name),
            "-", input=LIBRARY.encode())
        return self.path(name)

    def copy(self, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        return shutil.copy(self.path("lib.so"), self.path(*names))

    def mount(self, *command):
        """Mounts at the last word. False: it cannot be done here."""
        os.makedirs(command[-1], exist_ok=True)
        if not shutil.which(command[0]) or subprocess.run(command, capture_output=True, timeout=60, check=False).returncode:
            return False
        self.mounts.callback(run, "umount", "-l", command[-1])
        return True

    def stacks(self, *libraries, then=lambda: None):
        with live.Load([self.path("program"), *libraries], stdout=subprocess.PIPE) as process:
            says = process.stdout.readline().decode().strip()
            if says != "ready":
                return [[says]]
            then()
            text = live.stacktop("-b", "-d", "2", "-n", "1", "-K", "--format", "folded", "-p", str(process.pid))[0]
        return [user for user, _, _ in live.folded(text)]


def is_right(stacks, prefix="its"):
    """All are complete, and some have all functions. A thread may be about to be created."""
    want = ["work", "run_it", f"{prefix}_middle", f"{prefix}_leaf"]
    return any(user[-4:] == want for user in stacks) and \
        all(user[0] in ("clone3", "__clone", "_start") and not any("+0x" in name for name in user) for user in stacks)


def test_names(tap, place):
    library = place.copy("one.so")
    os.link(library, place.path("another.so"))
    tap.ok(is_right(place.stacks(library, library)), "a library that is mapped twice")
    tap.ok(is_right(place.stacks(library, place.path("another.so"))), "one with two names")
    tap.ok(is_right(place.stacks(library, then=lambda: os.remove(library))), "one that was deleted")
    library = place.copy("old.so")
    other = place.library("new.so", "others", "-O0")
    stacks = place.stacks(library, then=lambda: os.rename(other, library))
    tap.ok(is_right(stacks), "one that was replaced has the names of what runs", stacks[:3])
    tap.ok(is_right(place.stacks(library), "others"), "and then its new ones")


def test_addresses(tap, place):
    for base in (0x400000, 0x3000000000):
        library = place.library("moved.so", "its", f"-Wl,-Ttext-segment={base:#x}")
        tap.ok(is_right(place.stacks(library)), f"one that begins at {base:#x}")
    same = "-Wl,--build-id=0x12345678123456781234567812345678"
    run("objcopy", "--only-keep-debug", place.library("first.so", "its", same), place.path("moved.so.debug"))
    for base, right in ((0, True), (0x1000, False)):
        library = place.library("moved.so", "its", same, f"-Wl,-Ttext-segment={base:#x}")
        run("objcopy", "--strip-all", "--add-gnu-debuglink=" + place.path("moved.so.debug"), library)
        stacks = place.stacks(library)
        named = [name for user in stacks for name in user if name.startswith("its_")]
        tap.ok(stacks and all("run_it" in user for user in stacks) and bool(named) == right,
               f"a debug file of {'the same' if right else 'other'} addresses", stacks[:3])


def test_mounts(tap, place):
    for name in ("lower", "upper", "work", "packed"):
        os.mkdir(place.path(name))
    place.copy("lower", "lib.so")
    place.copy("packed", "lib.so")
    if place.mount("mount", "-t", "overlay", "overlay", "-o",
                   ",".join(f"{kind}dir={place.path(kind)}" for kind in ("lower", "upper", "work")), place.path("over")):
        library = place.path("over", "lib.so")
        tap.ok(is_right(place.stacks(library)), "one of an overlay's lower folder")
        tap.ok(is_right(place.stacks(library, then=lambda: os.chmod(library, 0o700))), "one that is copied up meanwhile")
        tap.ok(is_right(place.stacks(library)), "one of the upper folder")
    else:
        tap.skip("overlay", "it cannot be mounted")
    image = place.path("image")
    if shutil.which("mksquashfs"):
        run("mksquashfs", place.path("packed"), image, "-quiet", "-noappend")
    for name, *command in (("squashfs", "mount", "-o", "loop,ro", image), ("FUSE's squashfs", "squashfuse", image),
                           ("FUSE's bindfs", "bindfs", place.path("packed"))):
        at = place.path("at-" + name.replace(" ", "-"))
        if place.mount(*command, at):
            stacks = place.stacks(os.path.join(at, "lib.so"))
            tap.ok(is_right(stacks), f"one in {name}", stacks[:3])
        else:
            tap.skip(f"one in {name}", "it cannot be mounted")


def test_unpacked(tap, place):
    if os.uname().machine != "x86_64":
        return tap.skip("a program that was unpacked", "its code is for x86-64")
    program = place.path("packed-program")
    run("gcc", "-O2", "-x", "c", "-o", program, "-", input=UNPACKED.encode())
    for arguments, told in (([], True), (["stay"], False)):
        with live.Load([program, *arguments]) as process:
            err = live.stacktop("-b", "-d", "2", "-n", "1", "-p", str(process.pid))[1]
        tap.ok(("does not run the code of its file" in err) == told,
               f"a program that {'was unpacked is told' if told else 'makes code is not'}", err)
    return None


def main():
    tap = live.Tap()
    live.need(tap)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        with place.mounts:
            test_names(tap, place)
            test_addresses(tap, place)
            test_mounts(tap, place)
            test_unpacked(tap, place)
    tap.done()


if __name__ == "__main__":
    main()
