#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is tested on each kernel. Runs in the guest, in busybox.

ok() {
    echo "T ok - $1"
}

not_ok() { # what why
    echo "T not ok - $1"
    [ -z "$2" ] || echo "T # $2"
}

show() { # file
    cut -c 1-2000 "$1" | head -n 40 | sed 's/^/T # /'
}

runs() { # program
    if "/work/$1" 1 >/tmp/out 2>&1 && grep -q '^done$' /tmp/out; then
        ok "$1 runs"
    else
        not_ok "$1 runs" "exit status $?"
        show /tmp/out
    fi
}

# The kernel itself: without these nothing below could be right.
if [ -s /sys/kernel/btf/vmlinux ]; then ok "kernel has BTF"; else not_ok "kernel has BTF"; fi
runs deep90
runs deep90.static

if [ ! -x /bin/stacktop ]; then
    not_ok "stacktop is there"
    exit
fi

if stacktop --check >/tmp/out 2>&1; then
    ok "stacktop --check"
else
    not_ok "stacktop --check" "exit status $?"
fi
show /tmp/out

# Every busy sample must be the one true stack. Samples of the loader and of exec are none of
# its business; they hold no f-frame and are complete.
# A COMMAND's first samples come while its table is built, which takes long under emulation.
walk() { # program, as a COMMAND or as the PID of one that runs
    if [ "$2" = COMMAND ]; then
        stacktop -b -d 10 -n 1 --format folded -- "/work/$1" 20 >/tmp/folded 2>/tmp/err
        status=$?
    else
        "/work/$1" 60 &
        pid=$!
        stacktop -b -d 5 -n 1 --format folded -p $pid >/tmp/folded 2>/tmp/err
        status=$?
        kill $pid
    fi
    chain=$(i=0; while [ $i -lt 90 ]; do printf ';f%02d' $i; i=$((i + 1)); done)
    if awk -v chain="$chain" '
        !/^deep90/ { next }
        { count = $NF; all += count }
        /^deep90[^;]*;\[/ { wrong += count; if (shown++ < 5) print "T # " $0; next }
        index($0, ";main" chain ";") || index($0, ";main" chain " ") { right += count; next }
        /;f[0-9][0-9][; ]/ { wrong += count; if (shown++ < 5) print "T # " $0; next }
        { other += count }
        END {
            busy = right + wrong
            printf "T # %d samples: %d right, %d wrong, %d outside of the chain\n",
                all, right, wrong, other
            exit !(right >= 100 && right >= 0.99 * busy && busy >= 0.9 * all)
        }' /tmp/folded >/tmp/verdict && [ $status = 0 ]; then
        ok "$1: 90 frames walked"
        tail -n 1 /tmp/verdict
    else
        not_ok "$1: 90 frames walked" "exit status $status"
        cut -c 1-1500 /tmp/verdict
        show /tmp/err
        [ -s /tmp/folded ] || echo "T # it printed nothing"
    fi
}
walk deep90 COMMAND
walk deep90.static PID
