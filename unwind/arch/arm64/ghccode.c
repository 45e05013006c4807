// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Haskell's stack on this processor is not known (unwind/ghc.h): its code is walked by what CFI and
 * frame pointers there are.
 */
#include "unwind/ghc.h"

bool ghc_stg_return(const uint8_t code[GHC_RETURN_BYTES], int64_t *cfa, int64_t *fp)
{
	(void)code;
	*cfa = *fp = 0;
	return false;
}

bool ghc_next_call(struct ghc_scan *scan, const uint8_t *code, size_t size, struct ghc_call *out)
{
	(void)scan;
	(void)code;
	(void)size;
	*out = (struct ghc_call){0};
	return false;
}
