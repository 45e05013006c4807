; SPDX-License-Identifier: GPL-2.0-or-later
; main calls deep, which calls itself five times and then fib, which is recursive.
define i64 @fib(i64 %n) noinline uwtable {
  %c = icmp slt i64 %n, 2
  br i1 %c, label %base, label %rec
base:
  ret i64 %n
rec:
  %a = sub i64 %n, 1
  %b = sub i64 %n, 2
  %x = call i64 @fib(i64 %a)
  %y = call i64 @fib(i64 %b)
  %s = add i64 %x, %y
  ret i64 %s
}
define i64 @deep(i64 %n) noinline uwtable {
  %c = icmp eq i64 %n, 0
  br i1 %c, label %base, label %rec
base:
  %f = call i64 @fib(i64 22)
  ret i64 %f
rec:
  %a = sub i64 %n, 1
  %x = call i64 @deep(i64 %a)
  %y = add i64 %x, 1
  ret i64 %y
}
define i32 @main() uwtable {
  br label %l
l:
  %r = call i64 @deep(i64 5)
  %z = icmp eq i64 %r, -1
  br i1 %z, label %e, label %l
e:
  ret i32 0
}
