# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Debian's packages of any machine, without those of this one: to be sourced by what downloads them. The
# mirror is that of this machine's apt; apt keeps its lists and files in the folder $apt and checks
# signatures as usual, and the system's own lists are not touched. KERNEL_MIRROR (and
# KERNEL_SECURITY_MIRROR) set another mirror. $deb: Debian's name of the machine.

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

options() {
    opt=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State=$apt/state" -o "Dir::State::Lists=$apt/lists"
        -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
        -o APT::Sandbox::User=root -o "APT::Architecture=$deb" -o "APT::Architectures::=$deb"
        -o Acquire::Languages=none -o Acquire::Retries=3)
}

update() { # suites
    local main security suite
    main=${KERNEL_MIRROR:-$(mirror debian)}
    security=${KERNEL_SECURITY_MIRROR:-$(mirror debian-security)}
    [ -n "$main" ] || fail "apt's sources name no Debian mirror; set KERNEL_MIRROR"
    # Some machines have one source for both.
    [ -n "$security" ] || security=${main%/debian}/debian-security
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/state" "$apt/debs"
    : >"$apt/status"
    for suite in "$@"; do
        case $suite in
        *-security) echo "deb $security $suite main" ;;
        *) echo "deb $main $suite main" ;;
        esac
    done >"$apt/sources.list"
    # A missing suite is not fatal: only a missing package is.
    apt-get "${opt[@]}" update >"$apt/log" 2>&1 || tail -n 3 "$apt/log" >&2
}

# Each call of apt reads all lists anew, so one call for all.
download() { # packages
    [ $# = 0 ] || (cd "$apt/debs" && apt-get "${opt[@]}" download "$@") >>"$apt/log" 2>&1 ||
        tail -n 3 "$apt/log" >&2
}
