fun area (side, 0) = side * side
  | area (side, depth) = area (side, depth - 1) + 1
fun insert (x : string, []) = [x]
  | insert (x, y :: ys) = if x < y then x :: y :: ys else y :: insert (x, ys)
fun words () = length (List.foldl insert [] (List.tabulate (200, fn i => "word" ^ Int.toString (i * 7919 mod 200))))
fun work () = words () + List.foldl op+ 0 (List.tabulate (500, fn i => area (i mod 1000, 20)))
fun main () = while true do (work (); ())
