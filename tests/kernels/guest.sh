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
ROUNDS=400
# Instructions that the verifier may follow for one program.
BOUND=100000

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

judge() { # options of awk..., table, folded stacks
    awk -v "least=$LEAST" -v "machine=$(uname -m)" -f /judge.awk "$@"
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
# lines. Their nice value favours stacktop, which has to build their tables first. A script begins before
# the others: beside them its interpreter would need half a minute to start.
{
    echo "deep90 - ;main$chain\$"
    echo "deep90.static - ;main$chain\$"
    cat /tmp/programs
} >/tmp/table
cat >/tmp/command <<'END'
start() { # number program argument
    ln -s "/work/$2" "/tmp/w$1"
    if [ "$3" = - ]; then set -- "$1" 3600; else set -- "$1" "$3" 3600; fi
    number=$1
    shift
    GODEBUG=asyncpreemptoff=1 "/tmp/w$number" "$@" >"/tmp/said.$number" 2>&1 &
    echo $! >>/tmp/pids
}
for turn in scripts programs; do
    number=0
    while read -r program argument chain; do
        number=$((number + 1))
        case $turn:$program in
        scripts:*.py)
            start "$number" "$program" "$argument"
            until grep -q '^ready$' "/tmp/said.$number" || ! kill -0 $! 2>/dev/null; do
                sleep 0.1
            done
            ;;
        scripts:* | programs:*.py) continue ;;
        *) start "$number" "$program" "$argument" ;;
        esac
        renice -n 19 -p $! >/dev/null
    done </tmp/table
done
wait
END
mkfifo /tmp/pipe
judge -v enough=/tmp/enough -v first=/tmp/first /tmp/table /tmp/pipe >/tmp/verdict &
judge=$!
stacktop -b -d 1 -n "$ROUNDS" --format folded -- sh /tmp/command >/tmp/pipe 2>/tmp/err &
sampler=$!
until [ -e /tmp/enough ] || ! kill -0 $sampler 2>/dev/null; do
    sleep 0.2
done
# The number of instructions that the verifier followed, which kernels report from 5.16 on.
verified=$(cat /proc/$sampler/fdinfo/* 2>/dev/null | awk '/^verified_insns:/ { print $2 }' | sort -n |
    tail -n 1)
if [ "${verified:-0}" -ge "$BOUND" ]; then
    not_ok "the verifier follows less than $BOUND instructions" "$verified"
else
    ok "the verifier follows less than $BOUND instructions (${verified:-not reported here})"
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
wait $judge
sed 's/^/T /' /tmp/verdict
if grep -q '^[0-9]* probed$' /tmp/said.*; then
    ok "return addresses are replaced by probes"
else
    not_ok "return addresses are replaced by probes"
fi

# The judge must reject a chain that lacks a frame in its middle; one without the last frame is right
# in a sample taken before that function is called.
head -n 1 /tmp/table | sed 's/;f44;/;/' >/tmp/shorter
judge -v counting=1 /tmp/shorter /tmp/first >/tmp/verdict
if grep -A 1 '^not ok - deep90:' /tmp/verdict | grep -q '^# 0 right, [1-9]'; then
    ok "a shorter chain is rejected"
else
    not_ok "a shorter chain is rejected"
    show /tmp/verdict
fi

# All else in one more run, since the verifier takes most of the time here: in a PID namespace, where a
# process has another number, which only this kernel's struct pid tells; with waits, for a time and for the
# other end of a pipe; with a tracer, in whose program no sampling program runs; and with modules. Module brd is loaded at the address that raid6_pq had, and raid6_pq
# at that of brd, and all is named in one slice, after raid6_pq is gone: frames of raid6_pq must not have
# names of brd, nor the other way round. The first is busy while insmod loads it, the second while dd reads.
ln -s /work/deep90 /tmp/inside
cat >/tmp/commands <<'END'
/tmp/inside 3600 &
inside=$!
while [ ! -e /tmp/over ]; do
    echo
done | /work/probed >/tmp/probed &
probed=$!
renice -n 19 -p $probed >/dev/null
while [ ! -e /tmp/over ]; do
    sleep 0.1
    echo
done | cat >/dev/null &
take() { # seconds
    read -r up _ </proc/uptime
    until=$((${up%.*} + $1))
    while [ "${up%.*}" -lt "$until" ]; do
        dd if=/dev/ram0 of=/dev/null bs=512 count=2048 iflag=direct 2>/dev/null || sleep 0.1
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
if [ -s /modules/raid6_pq.ko ] && [ -s /modules/brd.ko ]; then
    for round in 1 2 3; do
        insmod /modules/raid6_pq.ko && grep '^raid6_pq ' /proc/modules >/tmp/first && drop raid6_pq || exit
        busybox insmod /modules/brd.ko && grep '^brd ' /proc/modules >/tmp/second || exit
        cat /tmp/first /tmp/second
        [ $round != 2 ] || [ "$(cut -d ' ' -f 6 /tmp/first)" != "$(cut -d ' ' -f 6 /tmp/second)" ] || break
        [ $round = 3 ] || drop brd || exit
    done
    echo loaded
fi
# Long enough that stacks are taken of some sleeps: emulated, the waits have often used up their budget.
take 8
# It says "done" for each second of its CPU time, of which others leave it little.
until [ "$(grep -c '^done$' /tmp/probed)" -ge 2 ] || ! kill -0 $probed; do
    take 1
done
cat /proc/[0-9]*/fdinfo/* 2>/dev/null | awk '/^verified_insns:/ { print "verified", $2 }' | sort -n -k 2 |
    tail -n 1
touch /tmp/over
kill -KILL $inside
echo done
END
cat >/tmp/namespace <<'END'
mount -t proc proc /proc
stacktop -b -e wall -d 3600 -n 1 --format folded -o /tmp/folded -- sh /tmp/commands >/tmp/out 2>/tmp/err
END
unshare -m -p -f sh /tmp/namespace
# NAME PATTERN: a line of the report that matches
found() {
    if grep -q "$2" /tmp/folded; then
        ok "$1"
    else
        not_ok "$1"
        show /tmp/err
        show /tmp/folded
    fi
}
found "a thread that sleeps" ';hrtimer_nanosleep_\[k\];.*;\[*sleep\]* [0-9]'
found "a thread that reads a pipe" 'pipe_[a-z]*_\[k\];.*\[*pipe\]* [0-9]'
found "a tracer's program, where it is called" '^probed;.*;main;.*;bpf_prog_[0-9a-f]*_probed_slow_\[k\]'
found "a process in a PID namespace: its chain" "^inside;.*;main$chain [0-9]*\$"
verified=$(sed -n 's/^verified //p' /tmp/out)
if [ "${verified:-0}" -ge "$BOUND" ]; then
    not_ok "the verifier follows less than $BOUND instructions for waits" "$verified"
else
    ok "the verifier follows less than $BOUND instructions for waits (${verified:-not reported here})"
fi
if [ ! -s /modules/raid6_pq.ko ] || [ ! -s /modules/brd.ko ]; then
    echo "T # modules are left out: the kernel's package has none of these"
    exit
fi
if grep -q '^loaded$' /tmp/out; then ok "modules are loaded"; else not_ok "modules are loaded"; fi
cut -d ' ' -f 1,2,6 /tmp/out | sed 's/^/T # /'
if grep -q '^insmod;.*;\[unloaded raid6_pq\]_\[k\]' /tmp/folded && ! grep -q '^insmod;.*brd' /tmp/folded; then
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
