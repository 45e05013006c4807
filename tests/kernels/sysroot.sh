#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Downloads what stacktop is built with and needs to run on another machine, and what its guests run
# there, and unpacks it into build/kernels/MACHINE/sysroot. Prints that folder.
#
#   sysroot.sh MACHINE      aarch64

set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
case ${1:-} in
aarch64) deb=arm64 ;;
*)
    echo "usage: $0 aarch64" >&2
    exit 2
    ;;
esac
suite=bookworm
packages=(
    libc6 libc6-dev linux-libc-dev libcrypt1 libcrypt-dev libgcc-s1 libstdc++6
    libbpf1 libbpf-dev libelf1 libelf-dev libdw1 libdw-dev libbz2-1.0 libncursesw6 libncurses6 libtinfo6
    libncurses-dev libiberty-dev zlib1g zlib1g-dev libzstd1 libzstd-dev liblzma5 liblzma-dev
    libcapstone4 libcapstone-dev uthash-dev
    busybox-static python3.11-minimal libpython3.11-minimal libexpat1 perl-base musl musl-dev
)
top=$build/kernels/$1
mkdir -p "$top"
top=$(cd "$top" && pwd) || exit 1
apt=$top/apt-sysroot
. tests/kernels/apt.sh

# Files are found by one path, whatever the links of this machine are.
unpack() {
    local package file
    rm -rf "$top/sysroot.new"
    mkdir -p "$top/sysroot.new"
    for package in "${packages[@]}"; do
        file=("$apt/debs/${package}"_*.deb)
        [ -s "${file[0]}" ] || fail "$package for $deb cannot be downloaded"
        dpkg-deb -x "${file[0]}" "$top/sysroot.new" || fail "$package for $deb cannot be unpacked"
    done
    rm -rf "$top/sysroot"
    mv "$top/sysroot.new" "$top/sysroot"
}

exec 9>"$top/lock-sysroot"
flock 9
if [ ! -d "$top/sysroot" ]; then
    options
    update $suite
    download "${packages[@]/%//$suite}"
    unpack
    rm -rf "$apt"
fi
echo "$top/sysroot"
