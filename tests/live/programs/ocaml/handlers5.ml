(* Effects and domains of OCaml 5: see chain.ml. *)
open Effect
open Effect.Deep

type _ Effect.t += Ask : int -> int t

let[@inline never] fiber f n = 1 + f n
let[@inline never] resumed f n = let k = perform (Ask n) in 1 + f k

let[@inline never] answer k n = 1 + continue k n

let[@inline never] handled body f n =
  match_with (body f) n
    { retc = (fun x -> x + 1); exnc = raise;
      effc = fun (type a) (e : a t) ->
        match e with Ask n -> Some (fun (k : (a, _) continuation) -> answer k n) | _ -> None }

let[@inline never] nested f n = 1 + handled fiber (fiber f) n

let all f n = handled fiber f n + handled resumed f n + handled (fun f n -> nested f n) f n

let main work = Domain.join (let d = Domain.spawn work in work (); d)
