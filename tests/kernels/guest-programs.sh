#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds stacktop and the programs of the guests for another machine, below build/MACHINE. Optimizing
# more would take longer than it saves under emulation.
#
#   guest-programs.sh MACHINE      aarch64

set -u
cd "$(dirname "$0")/../.." || exit 1
sysroot=$(tests/kernels/sysroot.sh "$1") || exit 1
tests/kernels/green.sh build || exit 1
exec make --no-print-directory -j "$(nproc)" "CROSS=$1" "SYSROOT=$sysroot" "BUILD=${BUILD:-build}/$1" \
    WARN= CFLAGS=-O0 all kernel-programs
