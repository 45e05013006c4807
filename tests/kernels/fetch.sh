#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Downloads Debian's cloud kernels and unpacks vmlinuz into build/kernels/SERIES/, and two modules into
# build/kernels/SERIES/modules/, if the package has them. Fetched files stay, and several of these may
# run at once. With GUEST=aarch64 they are that machine's, in build/kernels/aarch64/.
#
#   fetch.sh SERIES...      such as 5.10 6.1 6.12 7.2; 16k: of arm64, with pages of 16 KiB

set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
top=$build/kernels
deb=amd64
guest=${GUEST:-$(uname -m)}
[ "$guest" = "$(uname -m)" ] || top=$top/$guest
[ "$guest" != aarch64 ] || deb=arm64
mkdir -p "$top"
top=$(cd "$top" && pwd) || exit 1
apt=$top/apt
. tests/kernels/apt.sh

# The suites that may have a series. Old kernels disappear from a suite some day, so several are asked.
suites() {
    case $1 in
    5.10) echo bullseye bullseye-security ;;
    6.1) echo bookworm bookworm-security ;;
    6.12 | 16k) echo bookworm-backports trixie-security ;;
    *) echo trixie-backports ;;
    esac
}

# The signed images of the series among package names on standard input, the newest first. Since 7.1
# they are linux-binary-*, and linux-image-* empty.
packages() { # series
    local series=$1 flavour=cloud-$deb
    [ "$1" != 16k ] || { series=6.12 flavour=$deb-16k; }
    grep -E "^linux-(binary|image)-${series//./\\.}\\.[0-9.]+(-[0-9]+|\\+deb[0-9.]+)-$flavour\$" |
        sed 's/^linux-\(binary\|image\)-/\1 /' | sort -k 1,1 -k 2Vr |
        awk 'NR == 1 { kind = $1 } $1 == kind { print "linux-" $1 "-" $2 }'
}

package() { # series
    packages "$1" | head -n 1
}

# The package with the modules: with linux-binary-*, one of its own.
modules_package() { # package
    echo "${1/#linux-binary-/linux-modules-}"
}

# Two small modules that need no others: one is busy when it is loaded, one when it is read. run.sh
# decompresses them, since xz may not be installed yet.
unpack_modules() { # package folder
    local deb=("$apt/debs/$1"_*.deb)
    mkdir -p "$2"
    [ -s "${deb[0]}" ] || return 0
    dpkg-deb --fsys-tarfile "${deb[0]}" 2>/dev/null |
        tar -x -C "$2" --wildcards --transform 's,.*/,,' '*/raid6_pq.ko*' '*/brd.ko*' 2>/dev/null
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
mapfile -t found < <(for series in "${missing[@]}"; do
    name=$(package "$series" <<<"$names")
    [ -z "$name" ] || printf '%s\n' "$name" "$(modules_package "$name")"
done | sort -u)
download "${found[@]}"
status=0
for series in "${missing[@]}"; do
    name=$(package "$series" <<<"$names")
    if [ -z "$name" ]; then
        echo "fetch: no package of a $series cloud kernel in: $(suites "$series")" >&2
        status=1
        continue
    fi
    # A mirror may have lost the files of security updates; those of releases stay.
    for name in $(packages "$series" <<<"$names" |
        awk '{ all[NR] = $0 } END { print all[1]; print all[NR - 1]; print all[NR] }'); do
        [ -e "$(echo "$apt/debs/$name"_*.deb)" ] || download "$name" "$(modules_package "$name")"
        if unpack "$series" "$name"; then
            echo "fetched $name"
            continue 2
        fi
    done
    echo "fetch: $name cannot be downloaded" >&2
    status=1
done
rm -rf "$apt/cache/archives" "$apt/lists" "$apt/debs"
exit $status
