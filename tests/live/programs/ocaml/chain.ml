(* Functions whose callers are known: main calls outer, which comes to inner in different ways, and inner
   calls a leaf. What each of them says of itself is in tests/live/test_ocaml.py. *)

external through_c : (int -> int) -> int -> int = "chain_through_c"

let sink = ref 0
let words = Array.init 64 (fun i -> String.make 200 'w' ^ string_of_int i)

let[@inline never] leaf_plain n =
  let s = ref n in
  for i = 0 to 3000 do s := (!s * 31 + i) land 0xffff done;
  !s

(* A call of C without allocation, on the stack of the thread. *)
let[@inline never] leaf_compare n =
  let s = ref n in
  for i = 0 to 60 do
    for j = 0 to 62 do s := !s + compare words.(j) words.(j + 1) + i done
  done;
  !s

(* Fills the minor heap, so that the collector runs. *)
let[@inline never] leaf_collect n =
  let kept = ref [] in
  for i = 0 to 400 do kept := (i + n, String.make 60 (Char.chr (i land 127))) :: !kept done;
  List.length !kept

exception Enough

(* Nothing is allocated where the exception is caught: there the CFI of OCaml 5.3 is wrong. *)
let[@inline never] leaf_raise n =
  let s = ref n in
  for i = 0 to 4000 do
    try if i land 1 = 0 then raise Enough with Enough -> s := !s + i
  done;
  !s

let[@inline never] inner f n = 1 + f n
let leaves = [| leaf_plain; leaf_compare; leaf_collect; leaf_raise |]
let[@inline never] straight n = 1 + inner leaves.(n land 3) n
let[@inline never] callback n = 1 + inner leaves.(n land 3) n
let[@inline never] by_c n = 1 + through_c callback n
let[@inline never] caught n = try 1 + inner leaves.(n land 3) n with Not_found -> 0

let[@inline never] outer n =
  sink := !sink + straight n + by_c n + caught n + Handlers.all (inner leaves.(n land 3)) n;
  !sink

let () = Handlers.main (fun () -> while true do for n = 0 to 3 do ignore (outer n) done done)
