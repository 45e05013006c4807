#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Finds out which packages are missing to build, test or check stacktop, and installs them through the
# distribution's package manager. It looks for commands and headers, not for packages, so that a
# library installed by hand counts, and it does nothing when all are there.
#
#   deps.sh check GROUP...     names what is missing; exit 1
#   deps.sh install GROUP...   names and installs it, with sudo when not root
#   deps.sh list GROUP...      prints the command that would install everything; MANAGER=dnf and the
#                              like choose another manager than this machine's
#
# Groups: build, unit (what unit tests are built with; a part of test), test, check, kernels. With
# CROSS=aarch64 it checks for that machine, in the libraries below SYSROOT.

set -u
cc=${CC:-gcc} # may have options

# group, probe, packages by manager. A probe is a command, or header:library to link against
# (library - for none). A comma joins several packages; - means that none is needed; none means that
# the distribution has no such package and the tests do without. A probe with ? is optional: its
# packages are installed with the others, and a failing probe is no error.
table() {
    cat <<'END'
#group  probe                              apt                 dnf                    pacman       zypper                apk
build   make                               make                make                   make         make                  make
build   gcc                                gcc                 gcc                    gcc          gcc                   gcc
build   clang                              clang               clang                  clang        clang                 clang
build   llvm-strip                         llvm                llvm                   llvm         llvm                  llvm
build   stdio.h:c                          libc6-dev           glibc-devel            glibc        glibc-devel           musl-dev
build   linux/bpf.h:-                      linux-libc-dev      kernel-headers         linux-api-headers linux-glibc-devel linux-headers
build   bpf/libbpf.h:bpf                   libbpf-dev          libbpf-devel           libbpf       libbpf-devel          libbpf-dev
build   gelf.h:elf                         libelf-dev          elfutils-libelf-devel  libelf       libelf-devel          elfutils-dev
build   elfutils/libdw.h:dw                libdw-dev           elfutils-devel         libelf       libdw-devel           elfutils-dev
build   ncurses.h:ncursesw                 libncurses-dev      ncurses-devel          ncurses      ncurses-devel         ncurses-dev
build   demangle.h:iberty                  libiberty-dev       binutils-devel         binutils     binutils-devel        binutils-dev
build   zlib.h:z                           zlib1g-dev          zlib-devel             zlib         zlib-devel            zlib-dev
build   zstd.h:zstd                        libzstd-dev         libzstd-devel          zstd         libzstd-devel         zstd-dev
build   lzma.h:lzma                        liblzma-dev         xz-devel               xz           xz-devel              xz-dev
build   ?capstone/capstone.h:capstone      libcapstone-dev     capstone-devel         capstone     libcapstone-devel     capstone-dev
build   ?curl/curl.h:-                     libcurl4-openssl-dev libcurl-devel          curl         libcurl-devel         curl-dev
build   ?microhttpd.h:-                    libmicrohttpd-dev   libmicrohttpd-devel    libmicrohttpd libmicrohttpd-devel  libmicrohttpd-dev
build   uthash.h:-                         uthash-dev          uthash-devel           uthash       uthash-devel          uthash-dev
unit    cmocka.h:cmocka                    libcmocka-dev       libcmocka-devel        cmocka       libcmocka-devel       cmocka-dev
unit    vterm.h:vterm                      libvterm-dev        libvterm-devel         libvterm     libvterm-devel        libvterm-dev
test    python3                            python3             python3                python       python3               python3
test    ?ruby                              ruby                ruby                   ruby         ruby                  ruby
test    bash                               bash                bash                   bash         bash                  bash
test    tmux                               tmux                tmux                   tmux         tmux                  tmux
test    readelf                            binutils            binutils               binutils     binutils              binutils
test    eu-readelf                         elfutils            elfutils               elfutils     elfutils              elfutils
test    debuginfod                         debuginfod          elfutils-debuginfod    debuginfod   none                  none
test    dwz                                dwz                 dwz                    none         dwz                   none
test    libc-names                         libc6-dbg           none                   none         none                  none
test    g++                                g++                 gcc-c++                gcc          gcc-c++               g++
test    ps                                 procps              procps-ng              procps-ng    procps                procps
test    mount                              mount               util-linux             util-linux   util-linux            util-linux
test    ?php                               php-cli             php-cli                php          php8                  php84
test    perl-modules                       perl                perl-interpreter,perl-Data-Dumper,perl-Scalar-List-Utils perl perl         perl
test    xz                                 xz-utils            xz                     xz           xz                    xz
test    ld.lld                             lld                 lld                    lld          lld                   lld
test    musl-gcc                           musl-tools          musl-gcc               musl         none                  none
test    ?nasm                              nasm                nasm                   nasm         nasm                  nasm
test    ?boost-context                     libboost-context-dev boost-devel            boost        libboost_context-devel boost-dev
test    rustc                              rustc               rust                   rust         rust                  rust
test    go                                 golang-go           golang                 go           go                    go
test    ghc                                ghc                 ghc                    ghc          ghc                   ghc
test    ?node                              nodejs              nodejs                 nodejs       nodejs                nodejs
test    luajit                             luajit              luajit                 luajit       luajit                luajit
test    python-grpc                        python3-grpcio      python3-grpcio         python-grpcio python311-grpcio    py3-grpcio
test    python-greenlet                    python3-greenlet    python3-greenlet       python-greenlet python311-greenlet  py3-greenlet
test    python-protobuf                    python3-protobuf    python3-protobuf       python-protobuf python311-protobuf py3-protobuf
test    protoc                             protobuf-compiler   protobuf-compiler      protobuf     protobuf-devel        protoc
test    curl                               curl                curl                   curl         curl                  curl
test    openssl                            openssl             openssl                openssl      openssl               openssl
test    nghttpd                            nghttp2-server      nghttp2                nghttp2      nghttp2               nghttp2
test    nghttp                             nghttp2-client      nghttp2                nghttp2      nghttp2               nghttp2
test    ?mmdebstrap                        mmdebstrap          mmdebstrap             none         none                  none
test    nginx                              nginx-light         nginx                  nginx        nginx                 nginx
kernels qemu-system-x86_64                 qemu-system-x86     qemu-system-x86-core   qemu-system-x86 qemu-x86           qemu-system-x86_64
kernels ?qemu-system-aarch64               qemu-system-arm     qemu-system-aarch64-core qemu-system-aarch64 qemu-arm         qemu-system-aarch64
kernels ?aarch64-linux-gnu-gcc             gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc none              none
kernels static-busybox                     busybox-static      busybox                busybox      busybox-static        busybox-static
kernels cpio                               cpio                cpio                   cpio         cpio                  cpio
kernels dpkg-deb                           dpkg                dpkg                   dpkg         dpkg                  dpkg
kernels apt-get                            apt                 apt                    apt          -                     -
kernels static-libc                        libc6-dev           glibc-static           glibc        glibc-devel-static    musl-dev
check   clang-format                       clang-format        clang-tools-extra      clang        clang-tools           clang-extra-tools
check   clang-tidy                         clang-tidy          clang-tools-extra      clang        clang-tools           clang-extra-tools
check   cppcheck                           cppcheck            cppcheck               cppcheck     cppcheck              cppcheck
check   shellcheck                         shellcheck          ShellCheck             shellcheck   ShellCheck            shellcheck
check   mandoc                             mandoc              mandoc                 mandoc       mandoc                mandoc
check   git                                git                 git                    git          git                   git
END
}

manager() {
    if [ -n "${MANAGER:-}" ]; then
        echo "$MANAGER"
        return
    fi
    for m in apt-get dnf pacman zypper apk; do
        if command -v "$m" >/dev/null 2>&1; then
            echo "${m%-get}"
            return
        fi
    done
}

column() {
    case $1 in
    apt) echo 3 ;;
    dnf) echo 4 ;;
    pacman) echo 5 ;;
    zypper) echo 6 ;;
    apk) echo 7 ;;
    *) echo 0 ;;
    esac
}

install_command() {
    case $1 in
    apt) echo "apt-get install -y --no-install-recommends" ;;
    dnf) echo "dnf install -y" ;;
    pacman) echo "pacman -S --needed --noconfirm" ;;
    zypper) echo "zypper --non-interactive install" ;;
    apk) echo "apk add" ;;
    esac
}

links() { # header library
    header=$1
    if [ "$2" = - ]; then set --; else set -- "-l$2"; fi
    # cmocka.h needs the first four; some distributions keep libiberty's headers in a folder.
    printf '#include <%s>\n' stdarg.h stddef.h stdint.h setjmp.h stdio.h "$header" >"$scratch/p.c"
    echo 'int main(void) { return 0; }' >>"$scratch/p.c"
    $cc -D_GNU_SOURCE "-I${SYSROOT:-}/usr/include/libiberty" "$scratch/p.c" -o "$probe_out" "$@" \
        >/dev/null 2>&1
}

# The names of the C library's inner functions, such as clone3: in it, or in a debug file beside it.
# The tools that this needs may be missing themselves; the same installation brings them.
libc_names() {
    command -v "${cc%% *}" >/dev/null 2>&1 && command -v readelf >/dev/null 2>&1 || return 1
    libc=$($cc -print-file-name=libc.so.6 2>/dev/null)
    [ -f "$libc" ] || return 0 # another C library
    readelf -SW "$libc" 2>/dev/null | grep -q '\.symtab\|\.gnu_debugdata' && return 0
    id=$(readelf -nW "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
    rest=${id#??}
    [ -n "$rest" ] && [ -f "/usr/lib/debug/.build-id/${id%"$rest"}/$rest.debug" ]
}

present() { # probe
    case $1 in
    \?*) [ "$verb" = check ] || present "${1#?}" ;;
    static-busybox)
        bb=$(command -v busybox.static || command -v busybox) && ! ldd "$bb" >/dev/null 2>&1
        ;;
    static-libc)
        printf 'int main(void) { return 0; }\n' |
            $cc -x c - -static -o "$probe_out" >/dev/null 2>&1
        ;;
    libc-names) libc_names ;;
    boost-context) [ -e /usr/include/boost/context/detail/fcontext.hpp ] ;;
    # Tests use the system's Python where another one is in front of it.
    python-grpc) /usr/bin/python3 -c 'import grpc' >/dev/null 2>&1 ;;
    python-greenlet) /usr/bin/python3 -c 'import greenlet' >/dev/null 2>&1 ;;
    python-protobuf) /usr/bin/python3 -c 'import google.protobuf' >/dev/null 2>&1 ;;
    nginx) command -v nginx >/dev/null 2>&1 || [ -x /usr/sbin/nginx ] ;;
    # Some distributions package perl's modules apart from the interpreter.
    perl-modules) perl -MData::Dumper -MList::Util -e 1 >/dev/null 2>&1 ;;
    *:*) links "${1%:*}" "${1#*:}" ;;
    clang) command -v "${CLANG:-clang}" >/dev/null 2>&1 ;;
    gcc) command -v "${cc%% *}" >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

wanted() { # group, in $groups; what tests need includes what unit tests are built with
    case "$1 $groups " in
    *" $1 "* | "unit "*" test "* | "unit test "*) return 0 ;;
    esac
    return 1
}

# Packages for missing probes (for list, of all probes), once each.
packages() {
    table | while read -r group probe apt dnf pacman zypper apk; do
        wanted "$group" || continue
        if [ "$verb" = list ] || ! present "$probe"; then
            # shellcheck disable=SC2086  # the columns are words on purpose
            set -- $group $probe $apt $dnf $pacman $zypper $apk
            shift $((field - 1))
            [ "$1" != none ] || continue
            [ "$1" = - ] || echo "$1" | tr ',' '\n'
            [ "$verb" = list ] || echo "$probe" >>"$probe_list"
        fi
    done | awk '!seen[$0]++' | tr '\n' ' ' | sed 's/ $//'
}

verb=${1:-}
[ $# -gt 0 ] && shift
groups=$*
case $verb in
check | install | list) ;;
*)
    echo "usage: $0 check|install|list build|unit|test|check|kernels..." >&2
    exit 2
    ;;
esac

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
probe_out=$scratch/probe
probe_list=$scratch/missing
: >"$probe_list"

mgr=$(manager)
field=$(column "$mgr")
[ "$field" != 0 ] || field=3 # unknown manager: name Debian's packages
need=$(packages)

if [ "$verb" = list ]; then
    echo "$(install_command "$mgr") $need"
    exit 0
fi
[ -s "$probe_list" ] || exit 0

echo "stacktop: missing: $(sed "s/^?//" "$probe_list" | tr "\n" " ")" >&2
if [ -n "${CROSS:-}" ]; then
    if ! command -v "${cc%% *}" >/dev/null 2>&1; then
        echo "stacktop: there is no compiler for $CROSS, ${cc%% *}; Debian's package is" \
            "gcc-$(echo "$CROSS" | tr _ -)-linux-gnu" >&2
        exit 1
    fi
    echo "stacktop: for $CROSS; SYSROOT names a folder with these libraries of that machine, in which" \
        "Debian's packages for it are unpacked: $need" >&2
    exit 1
fi
install=$(install_command "$mgr")
if [ -z "$install" ]; then
    echo "stacktop: no known package manager; on Debian these are in: $need" >&2
    exit 1
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
if [ "$verb" = check ]; then
    echo "stacktop: install with: ${sudo:+$sudo }$install $need" >&2
    exit 1
fi

echo "stacktop: installing with $mgr: $need"
if [ -n "$sudo" ] && ! command -v sudo >/dev/null 2>&1; then
    echo "stacktop: not root and no sudo; as root run: $install $need" >&2
    exit 1
fi
log=$scratch/log
# A fresh system's lists are empty or old. A stale mirror does not matter here: installing reports it.
case $mgr in
apt)
    DEBIAN_FRONTEND=noninteractive && export DEBIAN_FRONTEND
    $sudo apt-get update >"$log" 2>&1
    # A machine of CI is thrown away: nothing has to survive a loss of power.
    [ -z "${CI:-}" ] || install="$install -o Dpkg::Options::=--force-unsafe-io"
    ;;
pacman) $sudo pacman -Sy >"$log" 2>&1 ;;
apk) $sudo apk update >"$log" 2>&1 ;;
esac
# shellcheck disable=SC2086  # words on purpose
if ! $sudo ${sudo:+env DEBIAN_FRONTEND=noninteractive} $install $need >>"$log" 2>&1; then
    cat "$log" >&2
    echo "stacktop: the packages could not be installed" >&2
    exit 1
fi
verb=check
: >"$probe_list"
need=$(packages)
if [ -s "$probe_list" ]; then
    echo "stacktop: still missing after the installation: $(tr '\n' ' ' <"$probe_list")" >&2
    exit 1
fi
