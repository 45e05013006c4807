#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Boots other kernels in QEMU with only busybox, stacktop and the workloads, and runs guest.sh there:
# kernels differ in what their verifier accepts and in what a walk finds, so both are tested on each.
# Prints TAP lines per kernel, then `N passed, N failed`.
#
#   run.sh [SERIES...]      5.10 6.1 6.12 7.2
#
# Always emulated, which works the same on every machine, also a virtual one. GUEST=aarch64: a machine of
# that kind, with what `make CROSS=aarch64 kernel-programs` has built. TESTS=FILE runs another script than
# guest.sh there, and ICOUNT=1 makes each of its nanoseconds an instruction (tests/bench/frames.py).

set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
guest=${GUEST:-$(uname -m)}
here=tests/kernels
kernels=$build/kernels
sysroot=
table=$here/programs
if [ "$guest" != "$(uname -m)" ]; then
    kernels=$kernels/$guest
    sysroot=$kernels/sysroot
    build=$build/$guest
fi
[ "$guest" = x86_64 ] || table=$here/programs.$guest
[ $# -gt 0 ] || set -- 5.10 6.1 6.12 7.2
# Enough samples of each program.
least=100
[ "${SIZE:-}" != full ] || least=300
passed=0
failed=0
number=0
root_has_python=
linux=Linux
[ -z "$sysroot" ] || linux="Linux $guest"

result() { # ok|not-ok name
    number=$((number + 1))
    if [ "$1" = ok ]; then
        passed=$((passed + 1))
        echo "ok $number - $2"
    else
        failed=$((failed + 1))
        echo "not ok $number - $2"
    fi
}

finish() {
    echo "1..$number"
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

# The shared libraries that a program needs, by their paths. What is of another machine cannot tell
# itself.
libraries() { # file
    local name
    if [ -z "$sysroot" ]; then
        ldd "$1" 2>/dev/null | grep -o '/[^ )]*'
        return
    fi
    for name in $(readelf -dlW "$1" 2>/dev/null |
        sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p; s,.*program interpreter: \(.*\)\],\1,p'); do
        case $name in
        /*) echo "$name" ;;
        *) (cd "$sysroot" && find lib usr/lib -name "$name" | head -n 1 | sed 's,^,/,') ;;
        esac
    done
}

# A program and its libraries, at the same paths in the guest.
copy() { # file guest-path
    local lib
    mkdir -p "$root/$(dirname "$2")"
    cp "$1" "$root/$2" || return 1
    for lib in $(libraries "$1"); do
        [ -e "$root/$lib" ] || copy "$(readlink -f "$sysroot$lib")" "$lib" || return 1
    done
}

# Copies the programs of the table that were built here; the guest gets the table of these.
copy_programs() {
    local size folder program argument chain
    : >"$root/programs"
    while read -r size folder program argument chain; do
        case $size in
        '#'* | '') continue ;;
        full) [ "${SIZE:-}" = full ] || continue ;;
        esac
        if [ "$folder" = python ] && [ -z "$root_has_python" ]; then
            echo "# $program is left out: there is no Python"
        elif [ -x "$build/tests/$folder/$program" ]; then
            copy "$build/tests/$folder/$program" "work/$program" || return 1
            echo "$program $argument $chain" >>"$root/programs"
        else
            echo "# $program $argument is left out: it was not built"
        fi
    done <"$table"
}

# CPython with what it needs to start; it finds its modules by os.py.
copy_python() {
    local python=/usr/bin/python3 lib real part
    if [ -n "$sysroot" ]; then
        real=/$(cd "$sysroot" && echo usr/bin/python3.?*)
    else
        real=$(readlink -f "$python")
    fi
    lib=/usr/lib/$(basename "$real")
    [ -e "$sysroot$lib/encodings/utf_8.py" ] || return
    copy "$sysroot$real" "${real#/}" || return
    ln -s "$(basename "$real")" "$root$python"
    mkdir -p "$root$lib/encodings" "$root$lib/lib-dynload"
    cp "$sysroot$lib/os.py" "$root$lib/"
    for part in __init__ aliases utf_8 ascii latin_1; do
        cp "$sysroot$lib/encodings/$part.py" "$root$lib/encodings/" || return
    done
    root_has_python=1
}

make_initramfs() {
    local busybox
    if [ -n "$sysroot" ]; then
        busybox=$sysroot/bin/busybox
    else
        busybox=$(command -v busybox.static || command -v busybox) || return 1
    fi
    rm -rf "$root"
    mkdir -p "$root"/{bin,proc,sys,dev,tmp,work} || return 1
    copy "$busybox" bin/busybox && cp "$here/init" "$root/init" &&
        cp "${TESTS:-$here/guest.sh}" "$root/tests" && cp "$here/judge.awk" "$root/" &&
        chmod +x "$root/init" &&
        ln -s busybox "$root/bin/sh" && { copy_python || true; } &&
        copy "$build/tests/work/deep90" work/deep90 && copy "$build/tests/work/probed" work/probed &&
        copy "$build/tests/work/deep90.static" work/deep90.static && copy_programs || return 1
    [ ! -x "$build/stacktop" ] || copy "$build/stacktop" bin/stacktop || return 1
}

# With that kernel's modules, if they were found.
pack_initramfs() { # series
    local module
    rm -rf "$root/modules"
    [ ! -d "$kernels/$1/modules" ] || cp -r "$kernels/$1/modules" "$root/" || return 1
    for module in "$root"/modules/*.xz; do
        [ ! -e "$module" ] || xz -d "$module" || return 1
    done
    (cd "$root" && find . | cpio --quiet -o -H newc --owner=0:0) >"$work/initramfs"
}

# Unpacks an image of x86-64 by the offsets in its header (Linux, Documentation/arch/x86/boot.rst); the
# last four bytes are the size of the content. Emulated, that takes a third of the time to boot. An image
# of another machine, or that cannot be unpacked here, boots as it is.
unpack_kernel() { # image file
    local sectors offset length unpacker
    [ "$guest" = x86_64 ] && [ ! "$2" -nt "$1" ] || return 0
    sectors=$(od -An -j 497 -N 1 -t u1 "$1")
    read -r offset length < <(od -An -j 584 -N 8 -t u4 "$1")
    offset=$(((${sectors:-0} + 1) * 512 + ${offset:-0}))
    case $(od -An -j "$offset" -N 2 -t x1 "$1") in
    ' 02 21') unpacker=lz4 ;;
    ' 28 b5') unpacker=zstd ;;
    ' fd 37') unpacker=xz ;;
    *) return 0 ;;
    esac
    if tail -c "+$((offset + 1))" "$1" | head -c "$((${length:-0} - 4))" |
        "$unpacker" -dc >"$2.$$" 2>/dev/null; then
        mv "$2.$$" "$2"
    else
        rm -f "$2.$$"
    fi
}

# If the guest hangs, it ends before the test runner's limit, so that its last lines are shown. A busy
# machine may delay the interrupts of the emulated timer for so long that the kernel thinks the board is
# broken: no_timer_check. One thread runs both CPUs: before version 8, QEMU with a thread for each may
# run an instruction of one CPU that the other has already patched, and the guest's kernel dies of its
# own jump labels. Emulated, a fifth level of page tables makes each look-up longer, and `rep stosb`
# clears memory byte by byte, as `rep movsb` copies it: with that, Linux 5.10 does not boot in QEMU 10.
boot() { # series
    local machine=(-cpu "max,la57=off,erms=off,fsrm=off") console=ttyS0 cpus=2 image=$kernels/$1/vmlinuz
    [ ! -s "$kernels/$1/vmlinux" ] || image=$kernels/$1/vmlinux
    if [ "$guest" = aarch64 ]; then
        # Signatures of addresses as the architecture has them take most of the time.
        machine=(-M virt -cpu "max,pauth-impdef=on")
        console=ttyAMA0
    fi
    # Counting instructions instead of time, which only one CPU can.
    [ -z "${ICOUNT:-}" ] || { machine+=(-icount "shift=0,sleep=off") cpus=1; }
    timeout -k 5 840 "qemu-system-$guest" -accel tcg,thread=single "${machine[@]}" -smp "$cpus" -m 1024 \
        -nodefaults -nographic -serial stdio -no-reboot -kernel "$image" \
        -initrd "$work/initramfs" \
        -append "console=$console panic=-1 quiet mitigations=off init_on_alloc=0 no_timer_check LEAST=$least" \
        </dev/null 2>&1
}

kernel() { # series
    local log=$work/$1.log line before=$number
    if [ ! -s "$kernels/$1/vmlinuz" ]; then
        result not-ok "$linux $1: the kernel's package cannot be downloaded"
        return
    fi
    if ! pack_initramfs "$1"; then
        result not-ok "$linux $1: the guest's files cannot be packed"
        return
    fi
    unpack_kernel "$kernels/$1/vmlinuz" "$kernels/$1/vmlinux"
    boot "$1" | tr -d '\r' >"$log"
    while read -r line; do
        case $line in
        'T ok - '*) result ok "$linux $1: ${line#T ok - }" ;;
        'T not ok - '*) result not-ok "$linux $1: ${line#T not ok - }" ;;
        'T #'*) echo "${line#T }" ;;
        esac
    done <"$log"
    # The guest prints that it has come to its end: a panic half-way must not pass.
    if ! grep -q '^T # end$' "$log"; then
        result not-ok "$linux $1: ran to its end"
        tail -n 30 "$log" | sed 's/^/# /'
    elif [ "$number" = "$before" ]; then
        result not-ok "$linux $1: ran a test"
    fi
}

missing=
for tool in "qemu-system-$guest" busybox cpio apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    result not-ok "kernel matrix: missing:$missing"
    finish
fi
[ -z "$sysroot" ] || "$here/sysroot.sh" "$guest" >/dev/null
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
root=$work/root
"$here/fetch.sh" "$@" | sed 's/^/# /'
if make_initramfs; then
    for series in "$@"; do
        kernel "$series"
    done
else
    result not-ok "kernel matrix: the guest's files cannot be put together"
fi
finish
