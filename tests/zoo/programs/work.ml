module Words = Map.Make (String)

exception Third

class virtual shape = object method virtual area : int -> float end

class square side = object (self)
  inherit shape
  method area depth = if depth = 0 then side *. side else self#area (depth - 1) +. 1.
end

let rec hanoi n = if n = 0 then 0 else hanoi (n - 1) + 1 + hanoi (n - 1)

let words () =
  let all = List.init 500 (fun i -> Printf.sprintf "word%d" (i * 7919 mod 500)) in
  List.fold_left (fun m w -> Words.add w (String.length w) m) Words.empty
    (List.sort (fun a b -> compare b a) all)

let thrower n = if n mod 3 = 0 then raise Third else n

let work () =
  let shapes = List.init 500 (fun i -> new square (float i)) in
  let sum = List.fold_left (fun s o -> s +. o#area 20) 0. shapes in
  for i = 0 to 60 do try ignore (thrower i) with Third -> () done;
  sum +. float (hanoi 12) +. float (Words.cardinal (words ()))

let () = while true do ignore (Sys.opaque_identity (work ())) done
