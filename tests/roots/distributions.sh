#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Follows README as a new user would in minimal roots of Debian: `make run` and `make test`, where
# nothing but make is installed. Prints a table; OUT=docs/COVERAGE.md writes it there, too. The roots
# are made anew each time, in build/distributions; their mounts end with this script.
#
#   distributions.sh [SUITE...]      bookworm trixie sid

set -u
cd "$(dirname "$0")/../.." || exit 1
[ "${ROOTS_MOUNTS:-}" = own ] || ROOTS_MOUNTS=own exec unshare --mount "$0" "$@"
build=$(realpath -m "${BUILD:-build}")
top=$build/distributions
. tests/kernels/apt.sh
begin='<!-- distributions: written by make distributions -->' end='<!-- distributions: end -->'

make_root() { # suite root
    local mirror
    mirror=${KERNEL_MIRROR:-$(mirror debian)}
    # Another machine's mount of it would be removed with the files.
    rm -rf --one-file-system "$2"
    mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
        --aptopt='Acquire::Retries "3"' "$1" "$2" "${mirror:-http://deb.debian.org/debian}" ||
        fail "no root of $1"
    mount --bind "$2" "$2"
    mount --make-private "$2"
    for folder in proc sys dev; do
        mount --rbind /$folder "$2/$folder"
        mount --make-rslave "$2/$folder"
    done
    cp -L /etc/resolv.conf "$2/etc/resolv.conf"
    git clone -q . "$2/root/stacktop"
}

inside() { # root command
    chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm \
        DEBIAN_FRONTEND=noninteractive sh -c "cd /root/stacktop && $2"
}

version() { # root package...
    local root=$1 package
    shift
    for package in "$@"; do
        # Without epoch, revision, and what a distribution has added to the number.
        # shellcheck disable=SC2016  # dpkg-query's own
        chroot "$root" dpkg-query -W -f '${Version}' "$package" 2>/dev/null |
            sed 's/^[0-9]*://; s/[-+~].*//'
        echo -n ' '
    done | sed 's/ $//'
}

row() { # suite
    local root=$top/$1 log=$top/$1.log began took run counts
    make_root "$1" "$root"
    inside "$root" 'apt-get update -qq && apt-get install -y -qq make' >"$log" 2>&1
    inside "$root" 'make run' >>"$log" 2>&1 && run=yes || run=no
    began=$(cut -d . -f 1 /proc/uptime)
    inside "$root" 'make test' >>"$log" 2>&1
    took=$(($(cut -d . -f 1 /proc/uptime) - began))
    counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 | tr -cs '0-9\n' ' ')
    # shellcheck disable=SC2086  # words
    set -- "$1" ${counts:-0 0}
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$(version "$root" gcc clang)" \
        "$(version "$root" libbpf-dev libdw-dev libcapstone-dev binutils)" "$run" \
        "$2" "$3" "${4:-0}" "$((took / 60)):$(printf %02d $((took % 60)))"
}

table() { # suites
    echo '| root | gcc, clang | libbpf, elfutils, capstone, binutils | make run | passed | failed | skipped | make test |'
    echo '|---|---|---|---|--:|--:|--:|--:|'
    for suite in "$@"; do
        row "$suite"
    done
}

[ $# != 0 ] || set -- bookworm trixie sid
mkdir -p "$top"
table "$@" | tee "$top/table"
! grep -q '| no |' "$top/table" || failed=1
[ -z "${OUT:-}" ] || {
    sed -i "/^$begin\$/,/^$end\$/{/^$begin\$/r $top/table
        /^$begin\$/!{/^$end\$/!d}}" "$OUT"
}
[ -z "${failed:-}" ]
