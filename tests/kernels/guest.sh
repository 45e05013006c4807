#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests on each kernel, run in the guest by busybox. Emulation is slow, and slower still on a busy
# machine, so no verdict depends on the number of samples in a time. Sampling goes on, refresh by
# refresh, until there are enough, up to ROUNDS refreshes, which is more than a test ever takes. The
# frequency is the lowest that is quick enough: a guest that gets a twentieth of a CPU spends all of it
# on 500 samples a second, and stacktop itself gets none.

# Enough samples of a program, from the kernel's command line, and the most refreshes.
LEAST=${LEAST:-100}
ROUNDS=800

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

ran() { # program, PID
    wait "$2"
    status=$?
    if [ $status = 0 ] && grep -q '^done$' "/tmp/out.$1"; then
        ok "$1 runs"
    else
        not_ok "$1 runs" "exit status $status"
        show "/tmp/out.$1"
    fi
}

judge() { # options of awk...
    awk -v "least=$LEAST" -v "machine=$(uname -m)" "$@" -f /judge.awk /tmp/table /tmp/seen
}

# Waits until there are enough samples, or until stacktop has ended, by itself after ROUNDS. The judged
# samples were seen by then, while the programs still ran. Judging must not take the time that stacktop
# needs: the longer it took, the longer is the pause.
sample() { # PID of stacktop
    alive=yes
    took=0
    while [ "$alive" ]; do
        pause=$((50 + 2 * took))
        sleep "$((pause / 100)).$(printf %02d $((pause % 100)))"
        kill -0 "$1" 2>/dev/null || alive=
        took=$(hundredths)
        cp /tmp/folded /tmp/seen
        ! judge -v enough=1 >/dev/null || alive=
        took=$(($(hundredths) - took))
    done
}

# Hundredths of a second since boot.
hundredths() {
    read -r up _ </proc/uptime
    echo "${up%.*}${up#*.}"
}

# Requirements on the kernel: without them no later test can pass.
if [ -s /sys/kernel/btf/vmlinux ]; then ok "kernel has BTF"; else not_ok "kernel has BTF"; fi
/work/deep90 1 >/tmp/out.deep90 2>&1 &
shared=$!
/work/deep90.static 1 >/tmp/out.deep90.static 2>&1 &
static=$!
ran deep90 $shared
ran deep90.static $static

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

chain=$(i=0; while [ $i -lt 90 ]; do printf ';f%02d' $i; i=$((i + 1)); done)

# Before 6.0, programs of arm64 cannot call each other if they have global functions.
runtimes=yes
case "$(uname -m) $(uname -r)" in
'aarch64 5.'*)
    runtimes=
    grep -v '_\\\[py' /programs >/tmp/programs
    ;;
*) cp /programs /tmp/programs ;;
esac

# All programs at once, as children of a COMMAND: each runs under a name of its own, which begins its
# lines. Their nice value favours stacktop, which has to build their tables first.
{
    echo "deep90 - ;main$chain\$"
    echo "deep90.static - ;main$chain\$"
    cat /tmp/programs
} >/tmp/table
cat >/tmp/command <<'END'
number=0
while read -r program argument chain; do
    number=$((number + 1))
    ln -s "/work/$program" "/tmp/w$number"
    if [ "$argument" = - ]; then set -- 3600; else set -- "$argument" 3600; fi
    GODEBUG=asyncpreemptoff=1 "/tmp/w$number" "$@" >/dev/null 2>&1 &
    echo $! >>/tmp/pids
    renice -n 19 -p $! >/dev/null
done </tmp/table
wait
END
: >/tmp/folded
stacktop -b -d 0.5 -n "$ROUNDS" --format folded -- sh /tmp/command >/tmp/folded 2>/tmp/err &
sampler=$!
sample $sampler
# The number of instructions that the verifier followed, which kernels report from 5.16 on.
verified=$(cat /proc/$sampler/fdinfo/* 2>/dev/null | awk '/^verified_insns:/ { print $2 }' | sort -n |
    tail -n 1)
if [ "${verified:-0}" -ge 10000 ]; then
    not_ok "the verifier follows less than 10,000 instructions" "$verified"
else
    ok "the verifier follows less than 10,000 instructions (${verified:-not reported here})"
fi
# The COMMAND ends with its last program, and stacktop with the COMMAND.
xargs kill -KILL </tmp/pids
wait $sampler || {
    not_ok "stacktop ends with success"
    show /tmp/err
}
if [ -z "$runtimes" ]; then
    if grep 'this kernel refuses' /tmp/err; then
        ok "without the programs of languages, which is said"
    else
        not_ok "without the programs of languages, which is said"
    fi
elif grep 'this kernel refuses' /tmp/err; then
    not_ok "the programs of all languages are loaded"
else
    ok "the programs of all languages are loaded"
fi
judge | sed 's/^/T /'

# The judge must reject a chain that lacks a frame in its middle; one without the last frame is right
# in a sample taken before that function is called.
sed -i '1s/;f44;/;/' /tmp/table
if judge -v counting=1 | grep -A 1 '^not ok - deep90:' | grep -q '^# 0 right, [1-9]'; then
    ok "a shorter chain is rejected"
else
    not_ok "a shorter chain is rejected"
    judge -v counting=1 | sed 's/^/T # /'
fi

# Threads that wait, for a time and for the other end of a pipe.
cat >/tmp/waiting <<'END'
while :; do
    sleep 0.1
    echo
done | cat >/dev/null &
echo $! >/tmp/pids
wait
END
: >/tmp/folded
stacktop -b -e off-cpu -d 1 -n "$ROUNDS" --format folded -- sh /tmp/waiting >/tmp/folded 2>/tmp/err &
sampler=$!
slept=';hrtimer_nanosleep_\[k\];.*;\[*sleep\]* [0-9]'
read='pipe_[a-z]*_\[k\];.*\[*pipe\]* [0-9]'
while kill -0 $sampler 2>/dev/null && ! { grep -q "$slept" /tmp/folded && grep -q "$read" /tmp/folded; }; do
    sleep 0.5
done
verified=$(cat /proc/$sampler/fdinfo/* 2>/dev/null | awk '/^verified_insns:/ { print $2 }' | sort -n |
    tail -n 1)
xargs kill -KILL </tmp/pids # the reader; the writer ends of its next write
wait $sampler || not_ok "stacktop ends with success"
if grep -q "$slept" /tmp/folded; then ok "a thread that sleeps"; else not_ok "a thread that sleeps"; fi
if grep -q "$read" /tmp/folded; then ok "a thread that reads a pipe"; else not_ok "a thread that reads a pipe"; fi
if [ "${verified:-0}" -ge 10000 ]; then
    not_ok "the verifier follows less than 10,000 instructions for waits" "$verified"
else
    ok "the verifier follows less than 10,000 instructions for waits (${verified:-not reported here})"
fi
if ! grep -q "$slept" /tmp/folded || ! grep -q "$read" /tmp/folded; then
    show /tmp/err
    show /tmp/folded
fi

# In a PID namespace a process has the number of the namespace, which only this kernel's struct pid
# tells. If that went wrong, a COMMAND would have no samples.
ln -s /work/deep90 /tmp/inside
cat >/tmp/namespace <<'END'
mount -t proc proc /proc
stacktop -b -d 0.5 -n "$1" --format folded -- /tmp/inside 3600 >/tmp/folded 2>/tmp/err &
while kill -0 $! 2>/dev/null && ! grep -q '^inside;.*;f88;f89 ' /tmp/folded; do
    sleep 0.5
done
killall -KILL inside 2>/dev/null
wait $!
END
: >/tmp/folded
unshare -m -p -f sh /tmp/namespace "$ROUNDS"
if grep -q "^inside;.*;main$chain [0-9]*\$" /tmp/folded; then
    ok "a process in a PID namespace: its chain"
else
    not_ok "a process in a PID namespace: its chain"
    show /tmp/err
    show /tmp/folded
fi

# Module brd is loaded at the address that raid6_pq had, and all is named in one slice, after raid6_pq
# is gone: frames of raid6_pq must not have names of brd, nor the other way round. The first is busy
# while insmod loads it, the second while dd reads.
cat >/tmp/modules <<'END'
take() { # seconds
    read -r up _ </proc/uptime
    until=$((${up%.*} + $1))
    while [ "${up%.*}" -lt "$until" ]; do
        dd if=/dev/ram0 of=/dev/null bs=512 count=2048 iflag=direct 2>/dev/null || return
        read -r up _ </proc/uptime
    done
}
# A process that opened it a moment ago may hold it still.
drop() { # module
    tries=100
    until rmmod "$1"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return
        sleep 0.1
    done
}
for round in 1 2 3; do
    insmod /modules/raid6_pq.ko && grep '^raid6_pq ' /proc/modules && drop raid6_pq || exit
    busybox insmod /modules/brd.ko && grep '^brd ' /proc/modules || exit
    [ $round = 3 ] || drop brd || exit
done
take 3
echo done
END
if [ ! -s /modules/raid6_pq.ko ] || [ ! -s /modules/brd.ko ]; then
    echo "T # modules are left out: the kernel's package has none of these"
else
    stacktop -b -d 3600 -n 1 --format folded -o /tmp/folded -- sh /tmp/modules >/tmp/out 2>/tmp/err
    if grep -q '^done$' /tmp/out; then ok "modules are loaded"; else not_ok "modules are loaded"; fi
    cut -d ' ' -f 1,2,6 /tmp/out | sed 's/^/T # /'
    if grep -q '^insmod;.*;\[unloaded raid6_pq\]_\[k\]' /tmp/folded &&
        ! grep -q '^insmod;.*brd' /tmp/folded; then
        ok "an unloaded module does not get names of the one in its place"
    else
        not_ok "an unloaded module does not get names of the one in its place"
        grep '^insmod;' /tmp/folded >/tmp/seen
        show /tmp/seen
    fi
    # dd spends little time in brd: on some kernels no sample hits it.
    if grep '^dd;' /tmp/folded | grep -q 'raid6\|\[unloaded\|\[init of'; then
        not_ok "the module in its place has its own names"
        grep '^dd;' /tmp/folded >/tmp/seen
        show /tmp/seen
    elif grep -q '^dd;.*;brd_[^;]*_\[k\]' /tmp/folded; then
        ok "the module in its place has its own names"
    else
        ok "the module in its place has no other names (it was not sampled)"
    fi
fi
