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
# A COMMAND's first samples would come while its table is built, which takes long under emulation
# and is not what is tested: the file is run under another name before it.
walk() { # program, as a COMMAND or as the PID of one that runs
    if [ "$2" = COMMAND ]; then
        ln -s "/work/$1" /tmp/before
        stacktop -b -d 15 -n 1 --format folded -- \
            sh -c "/tmp/before 1; exec /work/$1 30" >/tmp/folded 2>/tmp/err
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
        cut -c 1-300 /tmp/verdict
    else
        not_ok "$1: 90 frames walked" "exit status $status"
        cut -c 1-1500 /tmp/verdict
        show /tmp/err
        [ -s /tmp/folded ] || echo "T # it printed nothing"
    fi
}
walk deep90 COMMAND
walk deep90.static PID

# The programs of the table all at once: each runs under a name of its own, which begins its lines.
# They stand still while stacktop builds their tables, which takes long under emulation: how soon
# tables are there is not what is tested here, so that no sample without one is excused.
number=0
pids=
while read -r program argument chain; do
    number=$((number + 1))
    ln -s "/work/$program" "/tmp/w$number"
    if [ "$argument" = - ]; then set -- 120; else set -- "$argument" 120; fi
    GODEBUG=asyncpreemptoff=1 "/tmp/w$number" "$@" >/dev/null 2>&1 &
    pids="$pids $!"
done </programs
sleep 4
# shellcheck disable=SC2086  # words on purpose
kill -STOP $pids
# shellcheck disable=SC2086
list=$(echo $pids | tr ' ' ,)
stacktop -b -d 30 -n 1 -F 499 --format folded -p "$list" >/tmp/folded 2>/tmp/err &
sampler=$!
sleep 12
# How much the verifier had to follow, which kernels tell from 5.16 on.
verified=$(cat /proc/$sampler/fdinfo/* 2>/dev/null | awk '/^verified_insns:/ { print $2 }' | sort -n |
    tail -n 1)
if [ "${verified:-0}" -ge 10000 ]; then
    not_ok "the verifier follows less than 10,000 instructions" "$verified"
else
    ok "the verifier follows less than 10,000 instructions (${verified:-not told here})"
fi
# shellcheck disable=SC2086
kill -CONT $pids
wait $sampler || {
    not_ok "programs: stacktop runs"
    show /tmp/err
}
# shellcheck disable=SC2086
kill -KILL $pids
judge() { # name that begins the lines, chain
    # Go's monitor is a thread of its own, busy under emulation, that asks the vDSO for the time on a
    # stack which Go's CFI does not describe. It counts neither way, but must not be the most.
    grep "^$1;" /tmp/folded | CHAIN=$2 awk '
        {
            count = $NF
            sub(/^[^;]*;/, "")
            sub(/ [0-9]+$/, "")
            gsub(/;[^;]*_\[k\]/, "")
            if ($0 ~ /^[^;]*_\[k\]$/)
                next
            if ($0 ~ /^(\[[^;]*\];)?runtime\.(clone(\.abi0)?;runtime\.mstart|nanotime1(\.abi0)?;__vdso)/)
                others += count
            else if ($0 ~ ENVIRON["CHAIN"])
                right += count
            else {
                wrong += count
                if (shown++ < 3) print "T # " count " " substr($0, 1, 600)
            }
        }
        END {
            printf "T # %d right, %d wrong, %d of other threads\n", right, wrong, others
            exit !(right >= 50 && right >= 0.99 * (right + wrong) && others < right)
        }' >/tmp/verdict
}
number=0
while read -r program argument chain; do
    number=$((number + 1))
    if judge "w$number" "$chain"; then
        ok "$program $argument: its chain"
    else
        not_ok "$program $argument: its chain"
    fi
    cat /tmp/verdict
    # The judge must find out a chain that lacks a frame.
    if [ $number = 1 ]; then
        if judge w1 "$(echo "$chain" | sed 's/;[^;]*$/$/')"; then
            not_ok "a shorter chain is found out"
        else
            ok "a shorter chain is found out"
        fi
    fi
done </programs
