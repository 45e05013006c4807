# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of the zoo, as data. Each one burns CPU in a way that is typical of its language until it
is killed: recursion, methods, the language's library, allocation, sorting, regular expressions.

prepare and command are for bash, in the program's own folder. $SRC is tests/zoo/programs, $DATA the
folder of data.py, $ZOO build/zoo, $TOP the repository. A program whose command is a loop of short runs
has `comm`, so that only the processes with that name count."""

import dataclasses

# For all: perf, and the names inside the C library, which perf shows only with its debug file.
PACKAGES = ("linux-perf", "libc6-dbg", "gcc", "g++", "make")


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    kind: str               # class: what decides how its stacks look
    packages: tuple         # of Debian; a|b: either of them
    command: str
    prepare: str = ""
    main: str = ""          # outermost own function of the main thread: pattern
    roots: tuple = ()       # frames that have no caller, besides those of stacks.py: patterns
    own: tuple = ()         # patterns of own functions, each of which has to be in 1 % of the samples
    under: tuple = ()       # (inner, outer) patterns: a complete stack with inner has outer, too
    comm: str = ""          # only processes with this name: pattern of the whole name
    ready: str = ""         # succeeds when the program can be driven
    drive: tuple = ()       # commands outside of the group, which give a server its work
    warm: float = 0.7       # seconds before sampling
    why: str = ""           # why it is not complete


# Left out unless they are named, or PROGRAMS=all: much like others, and a run has 15 minutes.
EXTRA = frozenset("""gcc-O3-march clang-lld ocaml-bytecode node-interpreted python2.7-pyenv ghc-threaded
java-serial-c1 ruby-mjit nim gforth pari-gp maxima busybox-sort dc sed tar zsh cc1 as ocamlopt
ghc-compile git-grep z3 gnuplot pigz lzip 7z lame webp povray ffmpeg-vp9 valgrind-memcheck varnish
apache2""".split())

PROGRAMS = []


def add(name, kind, packages, command, **more):
    PROGRAMS.append(Program(name, kind, tuple(packages.split()), command, **more))


def loop(command):
    return f"while :; do {command}; done"


# --- C and C++ -------------------------------------------------------------------------------
C_OWN = ("^tree_add", "^sort_numbers", "^format_words")
C_UNDER = (("^(tree_add|tree_free|sort_numbers|format_words)$", "^work$"), ("^compare$", "^sort_numbers$"))


def c_program(name, build, own=C_OWN, main="^main$", packages="", command="exec ./work", kind="native"):
    add(name, kind, packages, command, prepare=build, main=main, own=own,
        under=C_UNDER if own else ())


c_program("gcc-O2", "gcc -O2 $SRC/work.c -o work")
c_program("gcc-O0", "gcc -O0 $SRC/work.c -o work")
c_program("gcc-O3-march", "gcc -O3 -march=native -fno-plt $SRC/work.c -o work")
c_program("gcc-fp", "gcc -O2 -fno-omit-frame-pointer $SRC/work.c -o work")
c_program("gcc-no-tables", "gcc -O2 -fno-asynchronous-unwind-tables $SRC/work.c -o work",
          kind="no CFI")
c_program("gcc-no-tables-fp", "gcc -O2 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer "
          "$SRC/work.c -o work", kind="no CFI")
c_program("gcc-no-tables-O0", "gcc -O0 -fno-asynchronous-unwind-tables $SRC/work.c -o work",
          kind="no CFI")
c_program("gcc-static", "gcc -O2 -static $SRC/work.c -o work")
c_program("gcc-static-pie", "gcc -O2 -static-pie $SRC/work.c -o work")
c_program("gcc-static-stripped", "gcc -O2 -static $SRC/work.c -o work && strip work", own=(), main="")
c_program("gcc-stripped", "gcc -O2 $SRC/work.c -o work && strip work", own=(), main="")
c_program("gcc-lto", "gcc -O3 -flto $SRC/work.c -o work", own=())
c_program("gcc-deleted", "gcc -O2 $SRC/work.c -o work.kept",
          command="cp work.kept work; (sleep 0.2; rm work) & exec ./work")
c_program("gcc-no-eh-hdr", "gcc -O2 -Wl,--no-eh-frame-hdr $SRC/work.c -o work")
c_program("clang-O2", "clang -O2 $SRC/work.c -o work", packages="clang")
c_program("clang-lld", "clang -O3 -fuse-ld=lld $SRC/work.c -o work", packages="clang lld", own=())
c_program("musl-dynamic", "musl-gcc -O2 $SRC/work.c -o work", packages="musl-tools", kind="musl")
c_program("musl-static", "musl-gcc -O2 -static $SRC/work.c -o work", packages="musl-tools",
          kind="musl")
c_program("gcc-m32", "gcc -m32 -O2 $SRC/work.c -o work", packages="gcc-12-multilib", kind="32 bits")
add("c-threads", "native", "", "exec ./threads", prepare="gcc -O2 -pthread $SRC/threads.c -o threads",
    main="^(main|context_work)$", own=("^sort_some", "^thread_work", "^context_work"))
add("c-signals", "native", "", "exec ./signals", prepare="gcc -O2 $SRC/signals.c -o signals",
    main="^main$", own=("^handler", "^burn"))
CXX_OWN = (r"Square::area", r"Circle::area", "sort_all<unsigned", "thrower")
CXX_UNDER = (("Square::area|Circle::area|sort_all<|^catcher", r"^work\b"), ("^thrower", "^catcher"))
add("g++-O2", "native", "", "exec ./work", prepare="g++ -O2 $SRC/work.cc -o work", main="^main$",
    own=CXX_OWN, under=CXX_UNDER)
add("g++-O0", "native", "", "exec ./work", prepare="g++ -O0 $SRC/work.cc -o work", main="^main$",
    own=CXX_OWN[:3], under=CXX_UNDER)
add("clang++-O2", "native", "clang", "exec ./work", prepare="clang++ -O2 $SRC/work.cc -o work",
    main="^main$", own=CXX_OWN, under=CXX_UNDER)
add("boost-coroutine", "own stack", "libboost-coroutine-dev libboost-context-dev", "exec ./context",
    prepare="g++ -O2 $SRC/context.cc -o context -lboost_coroutine -lboost_context",
    main="^(main|.*generate.*|.*trampoline.*)", own=("^sort_numbers", "generate"))
add("nasm", "no CFI", "nasm", "exec ./burn",
    prepare="nasm -f elf64 $SRC/burn.asm -o burn.o && ld burn.o -o burn", main="^_start$",
    own=("^descend",), under=(("^descend", "^_start$"),))

# --- other compiled languages ----------------------------------------------------------------
add("gfortran", "native", "gfortran", "exec ./work", prepare="gfortran -O2 $SRC/work.f90 -o work",
    main="^main$", own=("hanoi", "multiply"))
add("gnat", "native", "gnat", "exec ./work",
    prepare="cp $SRC/work.adb . && gnatmake -q -O2 work.adb", main="^main$",
    own=("work__hanoi", "work__fill|ordered_maps|maps__"))
add("gdc", "native", "gdc", "exec ./work", prepare="gdc -O2 $SRC/work.d -o work", main="^(D main|fiber_.*)$",
    own=(r"work\.Square\.area", r"work\.words"))
add("ldc", "native", "ldc", "exec ./work", prepare="ldc2 -O2 $SRC/work.d -of=work",
    main="^(D main|fiber_.*)$", own=(r"work\.Square\.area", r"work\.words"))
GO_OWN = (r"^main\.\(\*square\)\.area", r"^main\.words", r"^main\.work")
GO_UNDER = ((r"^main\.words$|^main\.\(\*square\)\.area", r"^main\.work$"), (r"^main\.work$", r"^main\.main"))
add("go", "native", "golang-go", "exec ./work", prepare="go build -o work $SRC/work.go", own=GO_OWN, under=GO_UNDER)
add("go-stripped", "native", "golang-go", "exec ./work",
    prepare="go build -ldflags='-s -w' -o work $SRC/work.go", own=GO_OWN, under=GO_UNDER)
add("go-cgo", "native", "golang-go", "exec ./work",
    prepare="cp $SRC/cgo.go . && CGO_ENABLED=1 go build -o work cgo.go",
    own=(r"^main\.sortNumbers", r"^burn_in_c", r"^main\.goCompare|^goCompare", "^qsort_r"))
add("gccgo", "native", "gccgo", "exec ./work", prepare="gccgo -O2 $SRC/work.go -o work",
    own=(r"main\.\(?\*?square\)?\.area|main\.square\.area", r"main\.words", r"main\.work"))
RUST_UNDER = (("work::words$|work::Shape>::area$", "work::work$"),)
RUST_OWN = (r"Square as work::Shape>::area|Square.*area", r"work::words", r"work::work")
add("rust", "native", "rustc", "exec ./work", prepare="rustc -O $SRC/work.rs -o work", main="^main$",
    own=RUST_OWN, under=RUST_UNDER)
add("rust-abort", "native", "rustc", "exec ./work",
    prepare="rustc -O -C panic=abort $SRC/work.rs -o work", main="^main$", own=RUST_OWN, under=RUST_UNDER)
add("rust-no-tables", "no CFI", "rustc", "exec ./work",
    prepare="rustc -O -C panic=abort -C force-unwind-tables=no $SRC/work.rs -o work", main="^main$",
    own=RUST_OWN, under=RUST_UNDER)
add("freepascal", "no CFI", "fpc", "exec ./work", prepare="fpc -O2 -Xs- -o./work $SRC/work.pas",
    main="^(main|PASCALMAIN)$", own=("(?i)tsquare.*area", "(?i)sortwords", "(?i)work"), under=(("(?i)sortwords|tsquare.*area", "(?i)[_.]work"),))
add("ocaml", "native", "ocaml-nox", "exec ./work",
    prepare="cp $SRC/work.ml . && ocamlfind ocamlopt -package str work.ml -o work 2>/dev/null || "
            "ocamlopt work.ml -o work", main="^main$",
    own=("camlWork__hanoi|camlWork.hanoi", "camlWork__work|camlWork.work", "camlStdlib__List|camlStdlib__Map|camlStdlib__list|camlStdlib__map"))
add("ocaml-bytecode", "interpreter", "ocaml-nox", "exec ./work.byte",
    prepare="cp $SRC/work.ml . && ocamlc work.ml -custom -o work.byte", main="^main$",
    own=("caml_interprete",))
add("ghc", "own stack", "ghc", "exec ./work",
    prepare="cp $SRC/work.hs . && ghc -v0 -O work.hs -o work",
    own=("Main_.*insertTree|Main_zdwinsertTree|insertTree", "sumTree", "wordCount|Map"))
add("ghc-g", "own stack", "ghc", "exec ./work",
    prepare="cp $SRC/work.hs . && ghc -v0 -O -g work.hs -o work",
    own=("insertTree", "sumTree", "wordCount|Map"))
add("ghc-threaded", "own stack", "ghc", "exec ./work +RTS -N2",
    prepare="cp $SRC/work.hs . && ghc -v0 -O -threaded -rtsopts work.hs -o work",
    own=("insertTree", "sumTree", "wordCount|Map"))
add("nim", "native", "nim", "exec ./work",
    prepare="nim c --hints:off -d:release --nimcache:cache -o:work $SRC/work.nim", main="^main$",
    own=("area__work", "countWords__work"))
add("polyml", "own stack", "polyml", "exec poly --use $SRC/work.sml --eval 'main ();'",
    own=("area", "insert"))

# --- managed runtimes ------------------------------------------------------------------------
JAVA_OWN = (r"Zoo\$Square(::|\.)area", r"Zoo(::|\.)words", r"Zoo(::|\.)work")
JAVAC = "javac -d . $SRC/Zoo.java"
JDK = "openjdk-17-jdk-headless|openjdk-25-jdk-headless"
add("java", "jit", JDK, "exec java -cp . Zoo", prepare=JAVAC, own=JAVA_OWN, warm=2)
add("java-fp", "jit", JDK, "exec java -XX:+PreserveFramePointer -cp . Zoo", prepare=JAVAC,
    own=JAVA_OWN, warm=2)
add("java-perfmap", "jit", JDK, "(sleep 1.5; jcmd Zoo Compiler.perfmap) & exec java "
    "-XX:+PreserveFramePointer -cp . Zoo", prepare=JAVAC, own=JAVA_OWN, warm=3)
add("java-Xint", "interpreter", JDK, "exec java -Xint -cp . Zoo", prepare=JAVAC, own=JAVA_OWN)
add("java-serial-c1", "jit", JDK, "exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp . Zoo",
    prepare=JAVAC, own=JAVA_OWN, warm=2)
add("mono", "jit", "mono-runtime mono-mcs", "exec mono Zoo.exe",
    prepare="mcs -out:Zoo.exe $SRC/Zoo.cs", main="^(mono_)?main", own=("Square:Area", "Zoo:Words"))
add("mono-interpreter", "interpreter", "mono-runtime mono-mcs", "exec mono --interpreter Zoo.exe",
    prepare="mcs -out:Zoo.exe $SRC/Zoo.cs", main="^(mono_)?main", own=("Square:Area", "Zoo:Words"))
JS_OWN = (r"\barea\b", r"\bwords\b", r"\bwork\b")
add("node", "jit", "nodejs", "exec node $SRC/work.js", own=JS_OWN, main="^main$|node::Start", warm=1)
add("node-perf-map", "jit", "nodejs", "exec node --perf-basic-prof --interpreted-frames-native-stack "
    "$SRC/work.js", own=JS_OWN, main="^main$|node::Start", warm=1)
add("node-interpreted", "interpreter", "nodejs", "exec node --no-opt --no-sparkplug --max-lazy "
    "$SRC/work.js", own=JS_OWN, main="^main$|node::Start", warm=1)
PY_OWN = (r"\barea\b", r"\bwords\b", r"\bwork\b")
add("python3.11", "interpreter", "python3", "exec /usr/bin/python3 $SRC/work.py", own=PY_OWN)
for version in ("2.7.18", "3.8.18", "3.12.1", "3.13.0"):
    path = f"/root/.pyenv/versions/{version}/bin/python"
    add(f"python{version.rsplit('.', 1)[0]}-pyenv", "interpreter", "",
        f"exec {path} {'-X perf ' if version >= '3.12' and version[:4] != '3.8.' else ''}$SRC/work.py",
        prepare=f"test -x {path} || {{ echo 'not there: {path}'; exit 1; }}", own=PY_OWN)
add("pypy3", "jit", "pypy3", "exec pypy3 $SRC/work.py", own=PY_OWN, warm=1.5)
add("perl", "interpreter", "perl", "exec perl $SRC/work.pl", main="^main$",
    own=(r"Square::area", r"main::words", r"main::work"))
PHP_OWN = (r"Square::area", r"\bwords\b", r"\bwork\b")
add("php", "interpreter", "php8.2-cli|php8.4-cli", "exec php -n $SRC/work.php", own=PHP_OWN)
add("php-jit", "jit", "php8.2-cli|php8.4-cli php8.2-opcache|php8.4-opcache", "exec php -d opcache.enable_cli=1 -d "
    "opcache.jit_buffer_size=64M -d opcache.jit=tracing $SRC/work.php", own=PHP_OWN)
# fiber_entry of Debian's libruby, which has no name: it calls a function that does not return.
RUBY_ROOTS = (r"libruby-3\.1\.so\.3\.1\.2\+0x930(20|3c)", r"libruby-3\.3\.so\.3\.3\.14\+0xbbda0")
# rb_fiber_start calls rb_vm_invoke_proc, which has no name in 3.3.
RUBY_MAIN = r"^(ruby_run_node|rb_vm_invoke_proc|libruby-3\.3\.so\.3\.3\.14\+0x286b10)$"
RUBY_OWN = (r"area", r"words", r"\bwork\b")
add("ruby", "interpreter", "ruby", "exec ruby $SRC/work.rb", main=RUBY_MAIN, roots=RUBY_ROOTS,
    own=RUBY_OWN)
add("ruby-mjit", "jit", "ruby gcc", "exec ruby --mjit $SRC/work.rb",
    main=RUBY_MAIN, roots=RUBY_ROOTS, own=RUBY_OWN, warm=2)
add("ruby-yjit", "jit", "ruby", "exec ruby --yjit $SRC/work.rb", main=RUBY_MAIN, roots=RUBY_ROOTS,
    own=RUBY_OWN, warm=2)
LUA_OWN = (r"\barea\b", r"\bwords\b", r"\bwork\b")
add("lua5.4", "interpreter", "lua5.4", "exec lua5.4 $SRC/work.lua", own=LUA_OWN)
add("luajit", "jit", "luajit", "exec luajit $SRC/work.lua", own=LUA_OWN)
add("luajit-interpreted", "interpreter", "luajit", "exec luajit -joff $SRC/work.lua", own=LUA_OWN)
add("tclsh", "interpreter", "tcl", "exec tclsh $SRC/work.tcl", own=("area", "words"))
add("guile", "jit", "guile-3.0", "exec guile --no-auto-compile $SRC/work.scm", own=("area", "insert"),
    warm=1.5)
add("sbcl", "own stack", "sbcl",
    "exec sbcl --noinform --non-interactive --load $SRC/work.lisp --eval '(main-loop)'",
    own=("(?i)area", "(?i)words"), warm=1.5)
add("gcl", "own stack", "gcl", "exec gcl -batch -load $SRC/work.lisp -eval '(main-loop)'",
    own=("(?i)area", "(?i)words"))
add("clisp", "interpreter", "clisp",
    "exec clisp -q -q -C -i $SRC/work.lisp -x '(main-loop)'", own=("(?i)area", "(?i)words"))
add("ecl", "interpreter", "ecl", "exec ecl --norc --load $SRC/work.lisp --eval '(main-loop)'",
    own=("(?i)area", "(?i)words"))
add("racket", "own stack", "racket", "exec racket work.rkt",
    prepare="cp $SRC/work.rkt . && raco make work.rkt || true", own=("area", "words"), warm=1.5)
add("chezscheme", "own stack", "chezscheme", "exec chezscheme --script $SRC/work.scm",
    own=("area", "insert"))
add("chicken", "own stack", "chicken-bin libchicken-dev", "exec ./work",
    prepare="chicken-csc -O2 $SRC/work.scm -o work || csc -O2 $SRC/work.scm -o work",
    main="^CHICKEN_main$",
    own=("f_[0-9]+|area",))
add("gambit", "own stack", "gambc", "exec ./work",
    prepare="cp $SRC/work.scm . && gsc -exe -o work work.scm", main="^___main", own=("___H_|area",))
add("erlang", "own stack", "erlang-base", "exec erl -noinput -pa . -s work main",
    prepare="cp $SRC/work.erl . && erlc work.erl", own=(r"work:area/2", r"work:words/0"), warm=1.5)
add("erlang-perf", "own stack", "erlang-base", "exec erl +JPperf true -noinput -pa . -s work main",
    prepare="cp $SRC/work.erl . && erlc work.erl", own=(r"work:area/2", r"work:words/0"), warm=1.5)
add("elixir", "own stack", "elixir", "exec elixir $SRC/work.exs", own=("area", "words"), warm=2)
add("R", "interpreter", "r-base-core", "exec R --vanilla --slave -f $SRC/work.R", own=("area", "words"))
add("julia", "jit", "julia", "exec julia $SRC/work.jl", own=("area", "words"), warm=3)
add("octave", "interpreter", "octave", "exec octave-cli --norc $SRC/work.m", own=("area", "words"),
    warm=2)
add("swi-prolog", "interpreter", "swi-prolog-nox",
    "exec swipl -q -g main_loop $SRC/work.pro", own=("area", "words_of"))
add("gnu-prolog", "own stack", "gprolog", "exec ./work",
    prepare="(cat $SRC/work.pro; echo ':- initialization(main_loop).') >work.pl && gplc work.pl -o work",
    own=("area", "words_of"))
add("gforth", "own stack", "gforth", "exec gforth $SRC/work.fs", own=("area", "hanoi"))
add("pari-gp", "interpreter", "pari-gp", "exec gp -q -f work.gp",
    prepare="echo 'f(n)=if(n==0,1,f(n-1)+1)' >work.gp; echo 'while(1,f(50);factor(10^25+random(10^9));"
            "matdet(matrix(20,20,i,j,random(99))))' >>work.gp")
add("maxima", "own stack", "maxima", "exec maxima --very-quiet --batch-string="
    "'for i:1 thru 100000 do (integrate(x^3*sin(x)*exp(x),x),factor(x^20-1),expand((a+b+i)^25))$'", warm=2)

# --- interpreters of text, shells ------------------------------------------------------------
add("busybox-awk", "interpreter", "busybox-static|busybox", "exec busybox awk -f $SRC/work.awk")
add("busybox-sh", "shell", "busybox-static|busybox", "exec busybox sh -c 'f() { [ $1 = 0 ] || f $(($1 - 1)); }; "
    "while :; do f 30; x=${PATH##*/}; done'")
add("busybox-gzip", "compressor", "busybox-static|busybox", loop("busybox gzip -c $DATA/text"), comm="busybox")
add("busybox-sort", "tool", "busybox-static|busybox", loop("busybox sort -r $DATA/text"), comm="busybox")
add("gawk", "interpreter", "gawk", "exec gawk -f $SRC/work.awk")
add("mawk", "interpreter", "mawk", "exec mawk -f $SRC/work.awk")
add("bc", "interpreter", "bc", "exec bc -l $SRC/work.bc")
add("dc", "interpreter", "dc", "exec dc -e '[200k2v3v*7/4^s.lax]salax'",
    comm="dc")
add("jq", "interpreter", "jq", "exec jq -n 'def f(n): if n == 0 then 1 else 1 + f(n - 1) end; "
    "[range(100000000) | (f(20) + ([range(100)] | map(tostring) | sort_by(.) | length)) | select(. < 0)]'")
add("sed", "tool", "sed", loop(r"sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g; /4[0-9]*$/d' $DATA/text"), comm="sed")
add("grep", "tool", "grep", loop(r"grep -cE '([a-z])\1[a-z]*4[0-9]+$' $DATA/text"), comm="grep")
add("sort", "tool", "coreutils", loop("sort -k 2 $DATA/text"), comm="sort")
add("bash-functions", "shell", "bash", "exec bash -c 'f() { (($1 == 0)) || f $(($1 - 1)); }; "
    "while :; do f 40; x=${PATH//[a-f]/x}; done'")
add("shell-commands", "shell", "bash", "while :; do true; /bin/echo x; date; done")
add("dash", "shell", "dash", "exec dash -c 'f() { [ $1 = 0 ] || f $(($1 - 1)); }; while :; do f 30; done'")
add("zsh", "shell", "zsh", "exec zsh -fc 'f() { (( $1 == 0 )) || f $(( $1 - 1 )) }; while :; do f 40; done'")
add("strace", "shell", "strace", "exec strace -f -o /dev/null bash -c "
    "'while :; do true; /bin/echo x; date; done'", comm="strace")
add("make", "tool", "make", loop("make -s -f many.mk"), comm="make",
    prepare="for i in $(seq 3000); do echo \"all: t$i\"; echo \"t$i: ; @:\"; "
            "echo \"X$i = \\$(patsubst %.c,%.o,\\$(wildcard /usr/include/*.c))\"; done >many.mk")
add("cmake", "tool", "cmake", loop("cmake -P work.cmake"), comm="cmake",
    prepare="printf 'function(f n)\\nif(n GREATER 0)\\nmath(EXPR m \"${n}-1\")\\nf(${m})\\nendif()\\n"
            "endfunction()\\nforeach(i RANGE 300)\\nf(30)\\nstring(REGEX REPLACE \"[a-c]+\" \"x\" y "
            "\"aabbccdd${i}\")\\nendforeach()\\n' >work.cmake")

# --- compilers and tools ---------------------------------------------------------------------
add("cc1plus", "compiler", "g++", loop("g++ -O2 -c $SRC/work.cc -o work.o"), comm="cc1plus")
add("cc1", "compiler", "gcc", loop("gcc -O2 -c $SRC/work.c -o work.o"), comm="cc1")
add("clang", "compiler", "clang", loop("clang++ -O2 -c $SRC/work.cc -o work.o"), comm="clang.*")
add("rustc", "compiler", "rustc", loop("rustc -O $SRC/work.rs -o work"), comm="rustc|opt.*|LLVM.*", warm=1.5)
add("go-compile", "compiler", "golang-go", loop("go build -a -o work $SRC/work.go"), comm="compile", warm=1.5)
add("ocamlopt", "compiler", "ocaml-nox", loop("ocamlopt work.ml -o work"),
    prepare="cp $SRC/work.ml .", comm="ocamlopt.*")
add("ghc-compile", "compiler", "ghc", loop("ghc -v0 -fforce-recomp -O work.hs -o work"),
    prepare="cp $SRC/work.hs .", comm="ghc", warm=1.5)
add("ld", "compiler", "binutils", loop("ld -r -z muldefs -o all.o $(yes work.o | head -n 40)"),
    comm="ld", prepare="g++ -O0 -g -c $SRC/work.cc -o work.o")
add("as", "compiler", "binutils", loop("as work.s -o work.o"), comm="as",
    prepare="g++ -O0 -g -S $SRC/work.cc -o work.s")
add("gdb", "tool", "gdb", loop("gdb -nx -batch -ex 'break work' -ex 'info functions .' "
    "-ex 'info types .' ./work"), comm="gdb", prepare="g++ -g -O0 $SRC/work.cc -o work")
# run_a_thread_NORETURN of Debian's valgrind, without a name: call_on_new_stack_0_1 gives it a stack whose
# first return address is 0.
VALGRIND_ROOTS = (r"callgrind-amd64-linux\+0x580c33f0", r"memcheck-amd64-linux\+0x580e1ac0")
add("valgrind", "emulator", "valgrind", "exec valgrind -q --tool=callgrind "
    "--callgrind-out-file=/dev/null ./work", prepare="gcc -O2 -g $SRC/work.c -o work", own=C_OWN, roots=VALGRIND_ROOTS, warm=2)
add("valgrind-memcheck", "emulator", "valgrind", "exec valgrind -q ./work",
    prepare="gcc -O2 -g $SRC/work.c -o work", own=C_OWN, roots=VALGRIND_ROOTS, warm=2)
add("qemu-x86_64", "emulator", "qemu-user", "exec qemu-x86_64 ./work",
    prepare="gcc -O2 -static $SRC/work.c -o work", own=C_OWN)
add("qemu-aarch64", "emulator", "qemu-user clang lld", "exec qemu-aarch64 ./bare",
    prepare="clang --target=aarch64-linux-gnu -O2 -ffreestanding -nostdlib -static -fuse-ld=lld "
            "$SRC/bare.c -o bare", own=("hanoi", "sort_numbers"))
GIT_REPO = """
test -e $ZOO/repo/.git/done && exit
rm -rf $ZOO/repo && git init -q $ZOO/repo && cd $ZOO/repo
git config user.email zoo@example.org && git config user.name zoo
for i in $(seq 120); do
    sed "s/word/word$i/; s/seed/s$i/" $SRC/work.cc >a.cc
    head -n $((i * 30)) $DATA/text >b
    git add . && git commit -qm $i
done
touch .git/done
"""
add("git-log", "tool", "git", loop("git -C $ZOO/repo log -p --stat"), comm="git", prepare=GIT_REPO)
add("git-gc", "tool", "git", loop("rm -rf copy; cp -r $ZOO/repo copy; git -C copy repack -adfq "
    "--depth=250 --window=250"), comm="git", prepare=GIT_REPO)
add("git-grep", "tool", "git", loop(r"git -C $ZOO/repo grep -cE '([a-z])x[a-z]*4[0-9]+$' "
    "$(git -C $ZOO/repo rev-list -n 20 HEAD)"), comm="git", prepare=GIT_REPO)
add("emacs", "interpreter", "emacs-gtk|emacs-nox", "exec emacs -Q --batch -l $SRC/work.el", own=("area", "words"),
    warm=1.5)
add("vim", "interpreter", "vim", "exec vim -u NONE -N -es -S $SRC/work.vim", own=("Area", "Words"))
add("graphviz", "tool", "graphviz", loop("dot -Tsvg work.dot -o /dev/null"), comm="dot",
    prepare="(echo 'digraph g {'; for i in $(seq 300); do echo \"n$i -> n$((i * 7 % 97)); n$i -> "
            "n$((i * 13 % 301));\"; done; echo '}') >work.dot")
add("gnuplot", "tool", "gnuplot-nox", "exec gnuplot $SRC/work.gp")
add("ghostscript", "interpreter", "ghostscript", "exec gs -q -dNOSAFER -dBATCH -sDEVICE=png16m -r150 "
    "-o /dev/null $SRC/work.ps")
add("pdflatex", "interpreter", "texlive-latex-base", loop("pdflatex -interaction=batchmode $SRC/work.tex"),
    comm="pdflatex|pdftex")
add("z3", "tool", "z3", loop("z3 work.smt2"), comm="z3",
    prepare="(for i in $(seq 14); do echo \"(declare-const x$i (_ BitVec 24))\"; done; for i in $(seq 13); do "
            "echo \"(assert (= (bvmul x$i x$((i+1))) (bvadd x$i #x000$((100+i)))))(assert (bvugt x$i "
            "#x00ff00))\"; done; echo '(check-sat)') >work.smt2")

# --- compressors, codecs, cryptography -------------------------------------------------------
for name, command in (("xz", "xz -kc -T1 $DATA/text"), ("zstd", "zstd -q -19 -c $DATA/text"),
                      ("gzip", "gzip -c $DATA/text"), ("bzip2", "bzip2 -kc $DATA/text"),
                      ("lz4", "lz4 -q -9 -c $DATA/text"), ("brotli", "brotli -c $DATA/text"),
                      ("pigz", "pigz -c $DATA/text"), ("lzip", "lzip -kc $DATA/text")):
    add(name, "compressor", {"xz": "xz-utils"}.get(name, name), loop(command), comm=name)
add("7z", "compressor", "p7zip-full", loop("rm -f x.7z; 7z a -bd x.7z $DATA/text"), comm="7z.*")
add("tar", "compressor", "tar", loop("tar cf - /usr/include /usr/share/doc | cat >/dev/null"), comm="tar")
add("openssl-speed", "assembly", "openssl", loop("openssl speed -seconds 1 aes-256-cbc sha256 "
    "rsa2048 ecdhx25519"), comm="openssl")
add("gpg", "assembly", "gpg", loop("gpg --batch --yes --passphrase x --pinentry-mode loopback -z 6 -c -o "
    "/dev/null $DATA/text"), comm="gpg", prepare="mkdir -p -m 700 $HOME/.gnupg")
add("x264", "assembly", "x264", loop("x264 --quiet --no-progress -o /dev/null $DATA/film.y4m"), comm="x264")
add("x265", "assembly", "x265", loop("x265 --log-level none --y4m $DATA/film.y4m -o /dev/null"), comm="x265")
add("libjpeg-turbo", "assembly", "libjpeg-turbo-progs",
    loop("cjpeg -quality 90 -outfile x.jpg $DATA/image.ppm; djpeg -outfile /dev/null x.jpg"),
    comm="[cd]jpeg")
add("dav1d", "assembly", "dav1d ffmpeg", loop("dav1d -q -i film.ivf -o /dev/null --muxer null"), comm="dav1d.*",
    prepare="ffmpeg -v error -y -i $DATA/film.y4m -c:v libaom-av1 -cpu-used 8 -row-mt 1 -frames:v 10 film.ivf")
add("ffmpeg-x264", "assembly", "ffmpeg", loop("ffmpeg -v error -y -i $DATA/film.y4m -c:v libx264 -f null -"),
    comm="ffmpeg")
add("ffmpeg-vp9", "assembly", "ffmpeg", loop("ffmpeg -v error -y -i $DATA/film.y4m -c:v libvpx-vp9 -f null -"),
    comm="ffmpeg")
add("imagemagick", "native", "imagemagick", loop("convert $DATA/image.ppm -resize 50% -blur 0x3 -quality 90 "
    "x.png"), comm="convert.*")
add("flac", "assembly", "flac", loop("flac -s -8 -f -o x.flac $DATA/sound.wav"), comm="flac")
add("lame", "assembly", "lame", loop("lame --quiet $DATA/sound.wav /dev/null"), comm="lame")
add("webp", "assembly", "webp", loop("cwebp -quiet $DATA/image.ppm -o x.webp"), comm="cwebp")
add("povray", "native", "povray", loop("povray -D +W640 +H480 +Owork.png +Iwork.pov"), comm="povray",
    prepare="printf 'camera{location<0,2,-6> look_at 0} light_source{<9,9,-9> rgb 1} plane{y,-1 pigment{checker "
            "rgb 1 rgb 0} finish{reflection .3}} sphere{0,1 texture{pigment{rgb<1,0,0>} finish{reflection .5 "
            "phong 1}}}' >work.pov")

# --- servers, browsers -----------------------------------------------------------------------
add("sqlite3", "server", "sqlite3", loop("sqlite3 :memory: <$SRC/work.sql"), comm="sqlite3")
PG = "/usr/lib/postgresql/15/bin"
add("postgresql", "server", "postgresql", f"exec setpriv --reuid=postgres --regid=postgres --clear-groups "
    f"{PG}/postgres -D /tmp/stacktop-zoo-pg -p 15432 -c unix_socket_directories=/tmp",
    prepare=f"rm -rf /tmp/stacktop-zoo-pg; mkdir /tmp/stacktop-zoo-pg; chown postgres /tmp/stacktop-zoo-pg; "
            f"cd /tmp; setpriv --reuid=postgres --regid=postgres --clear-groups {PG}/initdb -D "
            f"/tmp/stacktop-zoo-pg >/dev/null",
    ready="psql -h /tmp -p 15432 -U postgres -c 'select 1'",
    drive=(loop("for i in 1 2 3 4 5 6 7 8; do cat $SRC/work.sql; done | psql -q -h /tmp -p 15432 -U postgres"),))
add("mariadb", "server", "mariadb-server", "exec mariadbd --no-defaults --user=root --datadir=$PWD/db "
    "--socket=/tmp/stacktop-zoo-my.sock --skip-networking",
    prepare="rm -rf db; mariadb-install-db --no-defaults --user=root --datadir=$PWD/db "
            "--auth-root-authentication-method=normal >/dev/null",
    ready="mariadb --no-defaults -uroot -S /tmp/stacktop-zoo-my.sock -e 'select 1'",
    drive=(loop("(echo 'set max_recursive_iterations=100000, sql_mode=PIPES_AS_CONCAT;'; cat $SRC/work.sql) | "
                "mariadb --no-defaults -uroot -S /tmp/stacktop-zoo-my.sock"),))
add("redis", "server", "redis-server redis-tools", "exec redis-server --port 16379 --save ''",
    ready="redis-cli -p 16379 ping",
    drive=("exec redis-benchmark -q -p 16379 -l -t set,lpush,zadd,lrange_600 -r 10000 -P 16",))
add("memcached", "server", "memcached", "exec memcached -u root -p 21211 -l 127.0.0.1",
    ready="exec 3<>/dev/tcp/127.0.0.1/21211", drive=("exec python3 $SRC/memcached.py 21211",))
HTTP_READY = "exec 3<>/dev/tcp/127.0.0.1/18080"
WRK = "exec wrk -t1 -c8 -d60 http://127.0.0.1:18080/{}"
add("nginx", "server", "nginx-light wrk", "exec nginx -p $PWD -c $PWD/nginx.conf -e error.log",
    prepare="mkdir -p www; cp $SRC/work.html www/index.html; printf 'daemon off; pid nginx.pid; "
            "user root; worker_processes 1; events {} http { access_log off; gzip on; gzip_types *; gzip_min_length 0; server { "
            "listen 127.0.0.1:18080; root www; } }' >nginx.conf",
    ready=HTTP_READY,
    drive=("exec wrk -t1 -c8 -d60 -H 'Accept-Encoding: gzip' http://127.0.0.1:18080/",), warm=1)
add("apache2", "server", "apache2 wrk", "exec apache2 -X -d $PWD -f $PWD/httpd.conf",
    prepare="mkdir -p www; cp $SRC/work.html www/index.html; printf 'ServerName x\\nListen 127.0.0.1:18080\\n"
            "PidFile x.pid\\nDefaultRuntimeDir %s\\nErrorLog error.log\\nDocumentRoot %s/www\\nLoadModule "
            "mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\\nLoadModule authz_core_module "
            "/usr/lib/apache2/modules/mod_authz_core.so\\n' $PWD $PWD >httpd.conf",
    ready=HTTP_READY, drive=(WRK.format("index.html"),), warm=1)
add("haproxy", "server", "haproxy wrk", "exec haproxy -db -f haproxy.cfg",
    prepare="printf 'global\\n nbthread 1\\ndefaults\\n mode http\\n timeout client 9s\\n timeout server 9s\\n "
            "timeout connect 9s\\nfrontend f\\n bind 127.0.0.1:18080\\n http-request return status 200 "
            "content-type text/plain lf-string \"%%[date] %%[path,regsub([a-z],x,g)]\"\\n' >haproxy.cfg",
    ready=HTTP_READY, drive=(WRK.format("words/and/words"),), warm=1)
add("varnish", "server", "varnish wrk", "exec varnishd -j none -F -a 127.0.0.1:18080 -f $PWD/v.vcl -n $PWD/v",
    prepare="printf 'vcl 4.1;\\nbackend default none;\\nsub vcl_recv { return (synth(200)); }\\nsub vcl_synth { set "
            "resp.body = regsuball(req.url, \"[a-z]\", \"x\"); return (deliver); }\\n' >v.vcl",
    ready=HTTP_READY, drive=(WRK.format("words/and/words"),), warm=2.5)
add("chromium", "browser", "chromium", "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
    "--user-data-dir=$PWD/profile --remote-debugging-port=19222 file://$SRC/work.html", own=(), warm=5)
add("firefox", "browser", "firefox-esr", "exec firefox-esr --headless --no-remote --profile $PWD/profile "
    "file://$SRC/work.html", prepare="mkdir -p profile", own=(), warm=8)
