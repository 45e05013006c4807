#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unpacks a root of Debian into build/roots/SUITE, with the interpreters and compilers whose programs
# tests/live/rooted.py samples from outside. Nothing in it is configured and nothing runs in it. A
# root that is there stays as it is.
#
#   make.sh SUITE...      bullseye (Debian 11), trixie (13), sid

set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
top=$build/roots
. tests/kernels/apt.sh

packages=bash,dash,base-files,coreutils,binutils,python3,perl,php-cli,ruby,nodejs,gcc,g++,libc6-dev,rustc,golang-go,ghc

ocaml() { # suite
    case $1 in
    sid) echo ocaml ;;
    *) echo ocaml-nox ;;
    esac
}

# Unpacked, these have no links that their scripts would make.
link() { # root
    local name
    for name in bin sbin lib lib64; do
        [ -e "$1/$name" ] || ln -s "usr/$name" "$1/$name"
    done
    [ -e "$1/bin/sh" ] || ln -s dash "$1/bin/sh"
    [ -e "$1/usr/bin/cc" ] || ln -s gcc "$1/usr/bin/cc"
    mkdir -p "$1/proc" "$1/dev" "$1/tmp"
}

unpack() { # suite
    local mirror
    mirror=${KERNEL_MIRROR:-$(mirror debian)}
    rm -rf "$top/$1.new"
    mkdir -p "$top"
    # A mirror may be a copy of a certain day.
    mmdebstrap --quiet --mode=root --variant=extract --include="$packages,$(ocaml "$1")" \
        --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' \
        "$1" "$top/$1.new" "${mirror:-http://deb.debian.org/debian}" &&
        link "$top/$1.new" && mv "$top/$1.new" "$top/$1"
}

for suite in "$@"; do
    [ -d "$top/$suite" ] || unpack "$suite" || fail "no root of $suite"
done
