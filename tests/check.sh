#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Static analysis: one line for each check, followed by its output when it fails; the last line has
# the number passed. `make check` runs it; CHECKS='format cppcheck' runs only these.

set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
jobs=$(nproc 2>/dev/null || echo 2)
passed=0
failed=0
skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

# Tracked and new files, without those that git ignores. Patterns are git's: * crosses folders.
files() { # pattern...
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do
        if [ -f "$f" ]; then echo "$f"; fi
    done | sort -u
}

check() { # name function
    case " ${CHECKS:-$1} " in
    *" $1 "*) ;;
    *) return ;;
    esac
    local start=$SECONDS
    "check_$1" >"$log" 2>&1
    case $? in
    0)
        passed=$((passed + 1))
        echo "ok      $1 ($((SECONDS - start)) s)"
        ;;
    77)
        skipped=$((skipped + 1))
        echo "skipped $1: $(head -n 1 "$log")"
        ;;
    *)
        failed=$((failed + 1))
        echo "FAILED  $1"
        head -n 200 "$log" | sed 's/^/    | /'
        ;;
    esac
}

if [ -z "$(files Makefile)" ]; then
    echo "check: needs a git work tree that git trusts (safe.directory)" >&2
    echo "0 passed, 1 failed"
    exit 1
fi

export TIDY_FLAGS="-std=gnu11 -D_GNU_SOURCE -I. -I$build -DSTACKTOP_THEME_DIR=\"\""
sources() { files 'symbols/*.c' 'unwind/*.c' 'bpf/*.c' 'tui/*.c' | grep -v '\.bpf\.c$'; }
headers() { files 'symbols/*.h' 'unwind/*.h' 'bpf/*.h' 'tui/*.h'; }

# The configuration is for version 14, and every version formats a little differently.
check_format() {
    local tool
    tool=$(command -v clang-format-14 || command -v clang-format) || return 1
    if ! "$tool" --version | grep -q 'version 14\.'; then
        "$tool" --version
        return 77
    fi
    files '*.c' '*.h' | xargs -r -P "$jobs" -n 32 "$tool" --dry-run -Werror
}

check_cppcheck() {
    # shellcheck disable=SC2046  # no file has a blank in its name
    cppcheck --quiet --error-exitcode=1 --std=c11 --language=c -j "$jobs" \
        --enable=warning,portability --inline-suppr --suppressions-list=tests/cppcheck.txt \
        "--cppcheck-build-dir=$(mkdir -p "$build/cppcheck" && echo "$build/cppcheck")" \
        -D_GNU_SOURCE -D__x86_64__ -I. $(sources)
}

# With the warnings of the other compiler: the build has those of one only. Files of a processor are
# compiled for it. Its count of suppressed warnings on stderr is noise; findings are on stdout. A few
# functions have more paths than all others together: max-nodes stops their analysis early; SIZE=full has
# the analyzer's own limit.
check_tidy() {
    more="-Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wformat=2"
    [ "${SIZE:-}" = full ] || more="$more -Xclang -analyzer-config -Xclang max-nodes=20000"
    export more
    # shellcheck disable=SC2016  # expanded by the inner shell
    sources | xargs -r -P "$jobs" -n 1 sh -c '
        case $1 in
        */arch/x86_64/*) more="$more -DFOR_X86_64" ;;
        */arch/arm64/*) more="$more -DFOR_ARM64" ;;
        esac
        clang-tidy --quiet "$1" -- $TIDY_FLAGS $more 2>/dev/null' tidy
}

check_shellcheck() {
    files | while read -r f; do
        case $f in
        *.sh) echo "$f" ;;
        *) head -n 1 "$f" 2>/dev/null | tr -d '\0' | grep -Eq '^#!.*\b(sh|bash)$' && echo "$f" ;;
        esac
    done | xargs -r shellcheck
}

check_python() {
    files '*.py' | xargs -r python3 -c '
import ast, sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        ast.parse(file.read(), path)'
}

check_man() {
    [ -f docs/stacktop.1 ] || { echo 'docs/stacktop.1 is missing' && return 1; }
    mandoc -Tlint -Wwarning docs/stacktop.1
}

# Each header must include what it needs, and tolerate being included twice. Not headers that the
# including file completes: the step's memory access differs between BPF and host.
check_headers() {
    # shellcheck disable=SC2016  # expanded by the inner shell
    headers | grep -vx -e '.*\.bpf\.h' -e 'unwind/\(step\|lookup\|bare\|trail\|rows\|arch/[^/]*/step\)\.h' | xargs -r -P "$jobs" -n 1 sh -c '
        for cc in gcc clang; do
            printf "#include \"%s\"\n#include \"%s\"\n" "$1" "$1" |
                $cc $TIDY_FLAGS -Wall -Wextra -Werror -fsyntax-only -x c - ||
                { echo "$1: not self-contained ($cc)"; exit 1; }
        done' headers
}

check_includes() {
    tests/includes.py
}

# Each test names the sources that it covers, and each source has a test.
check_covers() {
    tests/where.py --check
}

# Each fault that a test must find has its place in the code.
check_faults() {
    tests/mutate.py --placed
}

check_licence() {
    local status=0 f
    for f in $(files '*.c' '*.h' '*.S' '*.sh' '*.py' Makefile .ci/run); do
        head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || {
            echo "$f: no SPDX line"
            status=1
        }
    done
    return $status
}

# clang-format drops the blank behind the star when it fills a paragraph that has a tab in it.
check_whitespace() {
    ! files '*.c' '*.h' | xargs -r grep -nE '^ \*[^ /*[:blank:]]' &&
    ! files '*.c' '*.h' '*.S' '*.sh' '*.py' '*.md' '*.theme' Makefile .ci/run .clang-tidy \
        .clang-format | xargs -r grep -nE '[[:blank:]]+$'
}

# Prose has 100 columns. Tables and indented code may be wider.
check_docs() {
    ! files '*.md' | LC_ALL=C.UTF-8 xargs grep -nE '.{101}' | grep -vE '^[^:]*:[0-9]*:(\||    )'
}

# Pronouns for persons hide what a sentence is about, so few may stand. The user of the number 65534
# has such a name: lines are left out that write it as a constant, in quotes, or after `user`.
check_words() {
    local found
    found=$(files '*.c' '*.h' '*.S' '*.py' '*.sh' '*.md' '*.mk' Makefile docs/stacktop.1 |
        xargs grep -niwE '(no|some|any)body|who[e]ver' |
        grep -vE 'NOBODY|(user[: ]|-u |")nobody')
    [ "$(echo "$found" | wc -l)" -lt 10 ] || { echo "$found" && return 1; }
}

# What the processor alone decides is in arch folders.
check_arch() {
    ! files 'unwind/*' 'bpf/*' 'tui/*' 'symbols/*' | grep -v /arch/ |
        xargs grep -niwE 'r([sbi]p|[abcd]x|[sd]i)'
}

for name in format headers includes arch covers faults licence whitespace docs words shellcheck python man \
    cppcheck tidy; do
    check "$name"
done
if [ $((passed + failed)) = 0 ]; then
    echo "no check ran"
    failed=1
fi
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ]
