#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Draws the pictures of README and docs/, so that they show the real program. Those of a session come
# out the same each time; those that no session has are drawn live, from programs of the demonstration,
# and need root; those are in /srv (demo.mk). `make docs-screens` and `make docs-screens-live` run it.
#
#   screens.sh BUILD session|live FOLDER

set -eu
build=$1 kind=$2 folder=$3
new=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$new"' EXIT
# The pictures must not depend on the user's time zone and settings.
export TZ=UTC LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$new

at() { # name second size keys: from the recording
    "$build/stacktop" --replay docs/demo.session --to "$2" --screenshot "$new/$1.svg" \
        --size "$3" --keys "$4"
}

session() {
    at procs 28 100x30 '/ j i t Enter Esc'
    at inlined 16 100x30 '/ h o t Enter Enter'
    at python 12 100x30 '/ s h o p Enter Enter 3 p'
    at recursion 20 100x30 '/ r e c Enter Enter 3 / a t t Enter'
    at kernel 26 100x30 '/ k e r n Enter Enter 5 c c'
    at convoy 33 100x34 '/ c o n v Enter Enter 4 *'
    at threads 33 100x30 'H'
    at programs 33 100x30 'c'
    at butterfly 26 100x30 '/ k e r n Enter Enter 2 / d o _ s y s c Enter f'
    at frozen 54 100x30 '3 z {'
    at difference 54 100x30 '3 z { B X / s o r t _ Enter'
    at difference-flame 54 100x30 '5 z { B X'
    at filter 30 100x30 '2 F4 m o d u l e : v m l i n u x Enter'
    at waits-procs 41 100x40 'Q / j o u r Enter Enter Esc'
    at waits-tree 41 100x40 'Q / j o u r Enter Enter p'
    at waits 41 100x40 'Q / j o u r Enter Enter 8 Enter'
    at unwind 6 100x30 '7 Down Down Enter Down'
}

# One process for all pictures of a walk, so that addresses agree between them.
start() { # program
    (cd /srv && exec setarch -R "/srv/$1" >/dev/null) &
    pid=$!
}

stop() {
    kill "$pid"
    wait "$pid" 2>/dev/null || true
    pid=
}

of() { # name size keys: live, from the started program
    "$build/stacktop" -p "$pid" --screenshot "$new/$1.svg" --size "$2" --keys "$3"
}

python() {
    start shop.py
    of annotate-python 100x30 '2 / f i n d _ Enter a'
    stop
}

live() {
    python
    start lesson
    of walk-0 100x34 'i'
    of walk-1 100x34 'i Down'
    of walk-2 100x34 'i Down Down'
    of walk-end 100x34 'i End'
    of walk-cfi 100x34 'i Down x'
    stop
    start jit
    of walk-jit 100x34 'i'
    stop
    start hotloop
    of annotate 100x34 '2 a a'
    stop
    start kernelbound
    of shards 100x30 '6 F4 k e r n e l b | l i b c . s o | l d - l i | v d s o Enter'
    stop
}

"$kind"
mkdir -p "$folder"
mv -f "$new"/*.svg "$folder"
