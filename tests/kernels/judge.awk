# SPDX-License-Identifier: GPL-2.0-or-later
#
# Judges folded stacks as stacktop writes them, refresh by refresh: each program of the table must stand
# in its chain. Counting begins with the refresh after the one in which the last of the programs was
# first seen there: the loader, the way down the chain and samples from before a table is built are
# not tested, and how long they last depends on the speed of the emulation.
#
#   awk -v least=N [-v machine=aarch64] [-v counting=1] [-v enough=FILE] [-v first=FILE] -f judge.awk TABLE FOLDED
#
# The status is 0 when each has N right samples and hardly a wrong one. With `enough`, that file is made
# when more samples would not help, since each has N right or N wrong ones; what comes later, when the
# programs end, is not judged. `first` gets the lines of the first program.
#
# Line K of TABLE is for the program with lines that begin with wK: name, argument, chain. Lines come
# with the most frequent first and without duplicates, so a refresh ends where the counts rise or a
# line comes again. If an end is missed, two refreshes count as one, and counting begins later.

# "right" or "wrong", or "kernel" or "other" for samples that count neither way
function kind_of(number, stack) {
    gsub(/;[^;]*_\[k\]/, "", stack)
    if (stack ~ /^[^;]*_\[k\]$/)
        return "kernel"
    # Go's monitor is a thread of its own, busy under emulation, that asks the vDSO for the time on a
    # stack that Go's CFI does not describe. It must not be the majority.
    if (machine == "aarch64" && stack ~ /^runtime\.mstart(\.abi0)?;runtime\.mstart0/)
        return "other"
    if (stack ~ /^(\[[^;]*\];)?runtime\.(clone(\.abi0)?;runtime\.mstart|nanotime1(\.abi0)?;__vdso)/)
        return "other"
    return stack ~ chain[number] ? "right" : "wrong"
}

function is_enough(    number) {
    for (number = 1; number <= programs; number++)
        if (sum[number, "right"] < least && sum[number, "wrong"] < least)
            return 0
    return 1
}

FNR == 1 { file++ }

file == 1 {
    programs++
    name[programs] = $2 == "-" ? $1 : $1 " " $2
    sub(/^[^ ]* [^ ]* /, "")
    chain[programs] = $0
    next
}

done || !/^w[0-9]+;.* [0-9]+$/ { next }

{
    count = $NF + 0
    line = $0
    sub(/ [0-9]+$/, "", line)
    if (count > last || refresh_of[line] == refresh) {
        refresh++
        if (counting && enough && is_enough()) {
            done = 1
            print >enough
            close(enough)
            next
        }
        counting = counting || seen == programs
    }
    last = count
    refresh_of[line] = refresh
    if (!(line in kind)) {
        end = index(line, ";")
        owner[line] = substr(line, 2, end - 2) + 0
        kind[line] = kind_of(owner[line], substr(line, end + 1))
    }
    number = owner[line]
    if (first && number == 1)
        print >first
    if (kind[line] == "right" && !there[number]++)
        seen++
    if (counting) {
        sum[number, kind[line]] += count
        if (kind[line] == "wrong" && shown[number]++ < 3)
            worst[number] = worst[number] "\n# " count " " substr(line, 1, 600)
    } else if (kind[line] == "wrong") {
        early[number] = "\n# never in its chain: " count " " substr(line, 1, 600)
    }
}

END {
    failed = !programs
    for (number = 1; number <= programs; number++) {
        right = sum[number, "right"] + 0
        wrong = sum[number, "wrong"] + 0
        other = sum[number, "other"] + 0
        good = right >= least && right >= 0.99 * (right + wrong) && other < right
        failed = failed || !good
        printf "%sok - %s: its chain\n", good ? "" : "not ", name[number]
        printf "# %d right, %d wrong, %d of other threads%s%s\n", right, wrong, other,
            worst[number], there[number] ? "" : early[number]
    }
    if (!counting)
        print "# no sample was counted: only " seen + 0 " of " programs + 0 " stood in their chain once"
    exit failed
}
