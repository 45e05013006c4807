import std/[algorithm, strformat, tables]

type
  Shape = ref object of RootObj
  Square = ref object of Shape
    side: float

method area(s: Shape, depth: int): float {.base.} = 0.0
method area(s: Square, depth: int): float =
  if depth == 0: s.side * s.side else: s.area(depth - 1) + 1

proc countWords(): int {.noinline.} =
  var all: seq[string]
  var counts = initTable[string, int]()
  for i in 0 ..< 500: all.add(&"word{i * 7919 mod 500}")
  all.sort(proc (a, b: string): int = cmp(b, a))
  for word in all: counts[word] = word.len
  counts.len

proc work(): float {.noinline.} =
  for i in 0 ..< 500:
    let shape: Shape = Square(side: float(i))
    result += shape.area(20)
  result += float(countWords())

var sum = 0.0
while true: sum += work()
