// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A coroutine of boost: jump_fcontext and make_fcontext have no CFI. The stack of the coroutine
 * ends in make_fcontext, whose code it would return to.
 */
#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <unistd.h>

using namespace boost::context::detail;

static volatile unsigned int sink;

extern "C" __attribute__((noipa)) void spin(unsigned int x)
{
	do {
		for (int i = 0; i < 10000; i++)
			x = x * 1664525 + 1013904223;
		sink = x;
	} while (x != 1 || sink != 2);
}

static bool only_jumps;

/* Jumps away and back again, all the time. */
extern "C" __attribute__((noipa)) void work(transfer_t t)
{
	for (;;) {
		if (!only_jumps)
			spin(sink);
		t = jump_fcontext(t.fctx, nullptr);
	}
}

extern "C" __attribute__((noipa)) void routine(transfer_t t)
{
	work(t);
	sink++;
}

int main(int argc, char **)
{
	const size_t size = 1 << 16;
	char *stack = static_cast<char *>(malloc(size));
	transfer_t t;

	only_jumps = argc > 1;
	alarm(60);
	t.fctx = make_fcontext(stack + size, size, routine);
	for (;;)
		t = jump_fcontext(t.fctx, nullptr);
}
