#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Rebuilds the snapshots, which changes them if the compilers are not those of README.md. Then
# `UPDATE=1 tests/unwind/test_snapshots.py` writes their tables.

set -eu
cd "$(dirname "$0")"

# Drops everything that the tables are not made from.
link=("-Wl,--build-id=none,-z,noseparate-code,-s")

made() { # name command...
    local name=$1
    shift
    echo "$*"
    "$@" -o "$name.elf"
    objcopy -R .comment -R .note.gnu.property -R .gnu_debuglink "$name.elf"
}

made gcc-O0 gcc -O0 "${link[@]}" probe.c
made gcc-O2-ibt gcc -O2 -fcf-protection=full -Wl,-z,ibtplt "${link[@]}" probe.c
made gcc-Os-lazy gcc -Os -no-pie -fno-pie -Wl,-z,lazy "${link[@]}" probe.c
made gcc-realign gcc -O2 -mavx2 -mstackrealign "${link[@]}" probe.c
made gcc-large gcc -O2 -mcmodel=large -fno-pie -no-pie "${link[@]}" probe.c
made gcc-library gcc -O2 -shared -fPIC -Wl,-z,now "${link[@]}" probe.c
made gcc-cxx g++ -O2 "${link[@]}" throw.cc
made clang-O2 clang -O2 "${link[@]}" probe.c
made clang-lld clang -O1 -fuse-ld=lld -Wl,--build-id=none,-s probe.c
made rust rustc --crate-type=cdylib -O -C panic=abort -C link-arg=-nostdlib -C strip=symbols nostd.rs
made musl-static musl-gcc -O2 -static -fasynchronous-unwind-tables "${link[@]}" probe.c
made rules gcc -nostdlib -static "${link[@]}" rules.s
made debug-frame gcc -O2 -g -fno-asynchronous-unwind-tables -fno-exceptions -nostartfiles -nostdlib \
    -shared -fPIC -Wl,--build-id=none,-z,noseparate-code probe.c
objcopy -R '.debug_[a-eg-z]*' --strip-symbol='*' --compress-debug-sections=zlib debug-frame.elf
made both-frames gcc -O2 -g -fno-asynchronous-unwind-tables -fno-exceptions \
    -Wl,--build-id=none,-z,noseparate-code probe.c
objcopy -R '.debug_[a-eg-z]*' --strip-symbol='*' --compress-debug-sections=zlib-gnu both-frames.elf

# Of arm64, with the libraries of tests/kernels/sysroot.sh, which is SYSROOT.
[ -n "${SYSROOT:-}" ] || exit 0
arm64=(aarch64-linux-gnu-gcc "--sysroot=$SYSROOT" "-Wl,-z,max-page-size=4096")

made_arm64() { # name command...
    local name=$1
    shift
    echo "$*"
    "$@" -o "$name.elf"
    aarch64-linux-gnu-objcopy -R .comment -R .note.gnu.property -R .gnu_debuglink "$name.elf"
}

made_arm64 arm64-O0 "${arm64[@]}" -O0 "${link[@]}" probe.c
made_arm64 arm64-O2-signed "${arm64[@]}" -O2 -mbranch-protection=standard -Wl,-z,lazy,-z,force-bti "${link[@]}" probe.c
made_arm64 arm64-Os-fixed "${arm64[@]}" -Os -no-pie -fno-pie -fomit-frame-pointer -Wl,-z,lazy "${link[@]}" probe.c
made_arm64 arm64-library "${arm64[@]}" -O2 -shared -fPIC -Wl,-z,now "${link[@]}" probe.c
made_arm64 arm64-clang-lld clang --target=aarch64-linux-gnu "--sysroot=$SYSROOT" -O2 -fuse-ld=lld \
    -Wl,--build-id=none,-s probe.c
made_arm64 arm64-rules "${arm64[@]}" -nostdlib -static "${link[@]}" rules-arm64.s
