#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of programs that the compilers of five languages have made, as their sources have them, and of
Ada as c++filt has them. A C program with names that look like these keeps its own.

Covers: symbols/names/langname.c symbols/names/symtab.c
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "live"))
import live  # noqa: E402

OCAML = """
let rec spin_of_a_long_name n acc = if n = 0 then acc else spin_of_a_long_name (n - 1) (acc lxor n)
let (+++) a b = a + b * 2
let twice' f x = f (f x)
let run n = List.fold_left (fun a x -> a + spin_of_a_long_name x a) 0 (List.init n (fun i -> i))
let () = print_int (run 100 + (3 +++ twice' succ 4))
"""
HASKELL = """
module Main where
{-# NOINLINE spin #-}
spin :: Int -> Int -> Int
spin 0 acc = acc
spin n acc = spin (n - 1) (acc * 31 + n)
{-# NOINLINE (+++) #-}
(+++) :: Int -> Int -> Int
a +++ b = a * 2 + b
main :: IO ()
main = print (sum (map (spin 3) [1 .. 1000]) +++ 4)
"""
FORTRAN = """
module heat_Eq
contains
  subroutine Spin_It(s)
    integer, intent(inout) :: s
    s = s + 1
  end subroutine
end module
program p
  use heat_eq
  integer :: s = 0
  call spin_it(s)
  print *, s
end program
"""
PASCAL = """
{$mode objfpc}
program shapes;
type TThing = class procedure Spin(n: longint); end;
procedure TThing.Spin(n: longint); begin end;
function Add(a, b: longint): longint; begin Add := a + b; end;
procedure Outer(var q: double);
  procedure Inner; begin end;
begin Inner; end;
var t: TThing; d: double;
begin t := TThing.Create; t.Spin(10); writeln(Add(1, 2)); Outer(d); end.
"""
ADA = {"geo.ads": """
package Geo is
   procedure Spin (N : Integer);
   procedure Spin (N : Float);
   package Inner_Part is
      function "+" (A, B : Integer) return Integer;
   end Inner_Part;
end Geo;
""", "geo.adb": """
package body Geo is
   X : Integer := 0; pragma Volatile (X);
   procedure Spin (N : Integer) is begin X := X + N; end;
   procedure Spin (N : Float) is begin X := X + Integer (N); end;
   package body Inner_Part is
      function "+" (A, B : Integer) return Integer is begin return A - B; end;
   end Inner_Part;
end Geo;
""", "program.adb": """
with Geo; use Geo;
procedure Program is
begin Spin (10); Spin (2.0); end;
"""}
C = """
int my__func(int x) { return x + 1; }
int geo__spin__2(int x) { return x + 2; }
int Widget_get_info(int x) { return x + 3; }
int main(void) { return my__func(1) + geo__spin__2(2) + Widget_get_info(3); }
"""


def build(folder, files, command):
    """The program, or None: it does not compile, since parts of the compiler are missing."""
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    path = os.path.join(folder, "program")
    return path if not done.returncode and os.path.exists(path) else None


def names_of(path):
    """{raw symbol: shown}, of functions that have an address for themselves."""
    text = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    at = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tT" and not words[2].startswith("."):
            at.setdefault(int(words[0], 16), []).append(words[2])
    # OCaml's labels of a file are no functions.
    at = {address: [name for name in raw if not name.endswith(("__code_begin", ".code_begin"))] for address, raw in at.items()}
    at = {address: raw[0] for address, raw in at.items() if len(raw) == 1}
    asked = "".join(f"{address:#x}\n" for address in at)
    said = subprocess.run([live.STACKTOP, "--symbolize", path], input=asked, capture_output=True, text=True,
                          check=True).stdout
    shown = {}
    for line in said.splitlines():
        columns = line.split("\t")
        if columns[0].startswith("0x") and int(columns[0], 16) in at:
            shown[at[int(columns[0], 16)]] = columns[1]
    return shown


def check(tap, language, compiler, files, command, want):
    with tempfile.TemporaryDirectory() as folder:
        path = build(folder, files, command) if shutil.which(compiler) else None
        if not path:
            tap.skip(language, f"no working {compiler}")
            return None
        names = names_of(path)
        missing = sorted(set(want) - set(names.values()))
        tap.ok(not missing, f"{language}: {', '.join(want)}", f"missing: {missing}")
        return names


def check_ada(tap, names):
    raw = [name for name in names if re.match(r"_ada_|[a-z]\w*__", name)]
    want = subprocess.run(["c++filt", "-s", "gnat"], input="\n".join(raw), capture_output=True, text=True,
                          check=True).stdout.splitlines()
    # what c++filt does not know is in angle brackets
    apart = [(a, b, names[a]) for a, b in zip(raw, want) if names[a] != (a if b[0] == "<" else b)]
    tap.ok(not apart and len(raw) > 5, f"Ada: {len(raw)} names as c++filt has them", str(apart[:3]))


def ghc_version():
    """From 9.10 on the base library's modules are GHC.Internal's."""
    if not shutil.which("ghc"):
        return (0,)
    text = subprocess.run(["ghc", "--numeric-version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, text.strip().split(".")))


def main():
    tap = live.Tap()
    check(tap, "OCaml", "ocamlopt", {"shapes.ml": OCAML}, ["ocamlopt", "-inline", "0", "-o", "program",
                                                          "shapes.ml"],
          ["Shapes.spin_of_a_long_name", "Shapes.+++", "Shapes.twice'", "Shapes.run", "Shapes.fun", "Stdlib.List.fold_left"])
    check(tap, "Haskell", "ghc", {"Main.hs": HASKELL}, ["ghc", "-O0", "-v0", "-o", "program", "Main.hs"],
          ["Main.spin", "Main.+++", "Main.main", "GHC.Internal.Base.map" if ghc_version() >= (9, 10) else "GHC.Base.map"])
    check(tap, "Fortran", "gfortran", {"p.f90": FORTRAN}, ["gfortran", "-O0", "-o", "program", "p.f90"],
          ["heat_eq::spin_it"])
    check(tap, "Pascal", "fpc", {"shapes.pas": PASCAL}, ["fpc", "-v0", "-Xs-", "shapes.pas", "-oprogram"],
          ["SHAPES.TTHING.SPIN", "SHAPES.ADD", "SHAPES.OUTER", "SHAPES.OUTER.INNER"])
    names = check(tap, "Ada", "gnatmake", ADA, ["gnatmake", "-q", "program.adb"],
                  ["geo.spin", "program", 'geo.inner_part."+"'])
    if names:
        check_ada(tap, names)
    check(tap, "C", "gcc", {"c.c": C}, ["gcc", "-O0", "-o", "program", "c.c"],
          ["my__func", "geo__spin__2", "Widget_get_info"])
    tap.done()


if __name__ == "__main__":
    main()
