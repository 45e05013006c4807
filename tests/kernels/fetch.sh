#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Downloads Debian's cloud kernels and unpacks vmlinuz into build/kernels/SERIES/, and two modules into
# build/kernels/SERIES/modules/, if the package has them. The mirror is that of this machine's apt; apt
# keeps its lists and files in a folder below build/kernels and checks signatures as usual, and the
# system's own lists are not touched. Fetched files stay, and several of these may run at once.
# KERNEL_MIRROR (and KERNEL_SECURITY_MIRROR) set another mirror.
#
#   fetch.sh SERIES...      such as 5.10 6.1 6.12 7.2

set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
mkdir -p "$build/kernels"
top=$(cd "$build/kernels" && pwd) || exit 1
apt=$top/apt

fail() {
    echo "fetch: $*" >&2
    exit 1
}

# Base addresses of apt's sources that end in the given folder, both file formats.
mirror() { # folder
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
        2>/dev/null |
        sed -n 's/^[[:space:]]*deb[[:space:]]\(\[[^]]*\][[:space:]]*\)\{0,1\}\([a-z+]*:[^[:space:]]*\).*/\2/p
                s/^URIs:[[:space:]]*\([^[:space:]]*\).*/\1/p' |
        sed 's,/*$,,' | grep "/$1\$" | head -n 1
}

# The suites that may have a series. Old kernels disappear from a suite some day, so several are asked.
suites() {
    case $1 in
    5.10) echo bullseye bullseye-security ;;
    6.1) echo bookworm bookworm-security ;;
    6.12) echo bookworm-backports trixie-security ;;
    *) echo trixie-backports ;;
    esac
}

options() {
    opt=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State=$apt/state" -o "Dir::State::Lists=$apt/lists"
        -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
        -o APT::Sandbox::User=root -o APT::Architecture=amd64 -o APT::Architectures::=amd64
        -o Acquire::Languages=none -o Acquire::Retries=3)
}

update() { # suites
    local main security suite
    main=${KERNEL_MIRROR:-$(mirror debian)}
    security=${KERNEL_SECURITY_MIRROR:-$(mirror debian-security)}
    [ -n "$main" ] || fail "apt's sources name no Debian mirror; set KERNEL_MIRROR"
    # Some machines have one source for both.
    [ -n "$security" ] || security=${main%/debian}/debian-security
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/state"
    : >"$apt/status"
    for suite in "$@"; do
        case $suite in
        *-security) echo "deb $security $suite main" ;;
        *) echo "deb $main $suite main" ;;
        esac
    done >"$apt/sources.list"
    # A missing suite is not fatal: only a missing kernel is.
    apt-get "${opt[@]}" update >"$apt/log" 2>&1 || tail -n 3 "$apt/log" >&2
}

# The newest signed image of the series among package names on standard input. Since 7.1 it is
# linux-binary-*, and linux-image-* empty.
package() { # series
    grep -E "^linux-(binary|image)-${1//./\\.}\\.[0-9.]+(-[0-9]+|\\+deb[0-9.]+)-cloud-amd64\$" |
        sed 's/^linux-\(binary\|image\)-/\1 /' | sort -k 1,1 -k 2V |
        awk 'NR == 1 { kind = $1 } $1 == kind { name = "linux-" $1 "-" $2 } END { print name }'
}

# The package with the modules: with linux-binary-*, one of its own.
modules_package() { # package
    echo "${1/#linux-binary-/linux-modules-}"
}

# Two small modules that need no others: one is busy when it is loaded, one when it is read.
unpack_modules() { # package folder
    local deb=("$apt/debs/$1"_*.deb) file
    mkdir -p "$2"
    [ -s "${deb[0]}" ] || return 0
    dpkg-deb --fsys-tarfile "${deb[0]}" 2>/dev/null |
        tar -x -C "$2" --wildcards --transform 's,.*/,,' '*/raid6_pq.ko*' '*/brd.ko*' 2>/dev/null
    for file in "$2"/*.xz; do
        [ ! -s "$file" ] || xz -d "$file"
    done
}

# The image is the first file of its kind in the archive.
unpack() { # series package
    local dir=$top/$1 tmp=$top/$1.new deb=("$apt/debs/$2"_*.deb)
    rm -rf "$tmp"
    mkdir -p "$tmp"
    dpkg-deb --fsys-tarfile "${deb[0]}" 2>/dev/null |
        tar -x -O --occurrence=1 --wildcards '*/vmlinuz*' >"$tmp/vmlinuz" 2>/dev/null
    [ -s "$tmp/vmlinuz" ] || return 1
    unpack_modules "$(modules_package "$2")" "$tmp/modules"
    rm -f "${deb[0]}"
    echo "$2" >"$tmp/package"
    rm -rf "$dir"
    mv "$tmp" "$dir"
}

options
missing() { # series...
    local series
    for series in "$@"; do
        [ -s "$top/$series/vmlinuz" ] && [ -d "$top/$series/modules" ] || echo "$series"
    done
}

[ -n "$(missing "$@")" ] || exit 0
# One at a time: another instance may be fetching the same.
exec 9>"$top/lock"
flock 9
mapfile -t missing < <(missing "$@")
[ ${#missing[@]} -gt 0 ] || exit 0

wanted=()
for series in "${missing[@]}"; do
    # shellcheck disable=SC2207  # suites are words
    wanted+=($(suites "$series"))
done
update "${wanted[@]}"
names=$(apt-cache "${opt[@]}" pkgnames linux-)
mkdir -p "$apt/debs"
mapfile -t found < <(for series in "${missing[@]}"; do
    name=$(package "$series" <<<"$names")
    [ -z "$name" ] || printf '%s\n' "$name" "$(modules_package "$name")"
done | sort -u)
# Each call of apt reads all lists anew, so one call for all.
[ ${#found[@]} = 0 ] || (cd "$apt/debs" && apt-get "${opt[@]}" download "${found[@]}") >>"$apt/log" 2>&1 ||
    tail -n 3 "$apt/log" >&2
status=0
for series in "${missing[@]}"; do
    name=$(package "$series" <<<"$names")
    if [ -z "$name" ]; then
        echo "fetch: no package of a $series cloud kernel in: $(suites "$series")" >&2
        status=1
    elif ! unpack "$series" "$name"; then
        echo "fetch: $name cannot be downloaded" >&2
        status=1
    else
        echo "fetched $name"
    fi
done
rm -rf "$apt/cache/archives" "$apt/lists" "$apt/debs"
exit $status
