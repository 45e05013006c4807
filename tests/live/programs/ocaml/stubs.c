// SPDX-License-Identifier: GPL-2.0-or-later
/* C between OCaml and OCaml: see chain.ml. */
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

value chain_through_c(value function, value n)
{
	CAMLparam2(function, n);

	CAMLreturn(caml_callback(function, n));
}
