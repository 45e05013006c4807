#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# time limit: 2400 s
#
# Loads and walks on arm64 with Linux 6.12, with SIZE=full on 5.10, 6.1 and 7.2, and with pages of 16
# KiB, too; `GUEST=aarch64 tests/kernels/run.sh` runs these.
# Covers: bpf/prog/arch.bpf.h bpf/prog/arch/arm64.bpf.h unwind/arch/arm64/step.h unwind/arch/arm64/plthead.c

if [ "$(uname -m)" = aarch64 ]; then
    echo 'ok 1 # SKIP the other tests of kernels are of arm64 here'
    echo 1..1
    exit
fi
if ! command -v qemu-system-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
    echo 'ok 1 # SKIP there is no qemu-system-aarch64, or no compiler for it'
    echo 1..1
    exit
fi
GUEST=aarch64
export GUEST
if [ "${SIZE:-}" = full ]; then
    exec tests/kernels/run.sh 5.10 6.1 6.12 7.2 16k
fi
if tests/kernels/green.sh as-before; then
    echo 'ok 1 # SKIP as in the last green run: bpf/prog, the sources of arm64, build rules, the guest'
    echo 1..1
    exit
fi
tests/kernels/run.sh 6.12 && tests/kernels/green.sh now
