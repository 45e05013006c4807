/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of every size: many, with alloca and variable-length arrays, very large; and functions
 * that leave their frame before their callee returns or end in a call. f0 to f9 call each other in
 * turn, so that a lost or doubled frame shows.
 */

#include <alloca.h>
#include <unwind.h>

#include "frame.h"

static volatile unsigned int sink;

#define STEP(this, below, words)                                                                   \
	static KEEP unsigned int f##this(unsigned int depth)                                       \
	{                                                                                          \
		volatile unsigned int local[words];                                                \
		local[depth % (words)] = depth;                                                    \
		if (depth)                                                                         \
			return f##below(depth - 1) ^ local[depth % (words)];                       \
		spin();                                                                            \
		return local[0];                                                                   \
	}

static unsigned int f9(unsigned int depth);
STEP(0, 9, 3)
STEP(1, 0, 40)
STEP(2, 1, 1)
STEP(3, 2, 12)
STEP(4, 3, 200)
STEP(5, 4, 7)
STEP(6, 5, 2)
STEP(7, 6, 33)
STEP(8, 7, 5)
STEP(9, 8, 90)

/* main, run and then n frames of fN, the last of which is f0. */
#define DEPTH(n)                                                                                   \
	static KEEP void depth##n(void)                                                            \
	{                                                                                          \
		ready();                                                                           \
		sink = f9((n)-1);                                                                  \
	}
DEPTH(120)
DEPTH(500)
DEPTH(1000)
DEPTH(1500)

static KEEP void with_alloca(void)
{
	for (unsigned int size = 40; size < 4000; size += 1000) {
		volatile char *room = alloca(size);

		room[size / 2] = 1;
		WHOLE(room);
	}
	ready();
	spin();
	STAY;
}

static KEEP void vla_inner(unsigned int n)
{
	volatile unsigned int room[n];

	room[n - 1] = n;
	WHOLE(room);
	spin();
	sink = room[n - 1];
}

static KEEP void with_vla(void)
{
	ready();
	vla_inner(sink + 12345);
	STAY;
}

#define BIG(name, bytes)                                                                           \
	static KEEP void name(void)                                                                \
	{                                                                                          \
		volatile char room[bytes];                                                         \
		room[0] = room[(bytes)-1] = 1;                                                     \
		WHOLE(room);                                                                       \
		ready();                                                                           \
		spin();                                                                            \
		sink = (unsigned char)room[0];                                                     \
	}
BIG(big_frame, 40 << 10)
BIG(huge_frame, 1 << 20)

static KEEP void tail_target(void)
{
	while (!frames_stop)
		STAY;
}

static KEEP void tail_jumper(void)
{
	sink = 1;
	tail_target();
}

static KEEP void tail_caller(void)
{
	ready();
	tail_jumper();
	STAY;
}

__attribute__((noreturn)) static KEEP void never_back(void)
{
	for (;;)
		STAY;
}

static KEEP void ends_in_call(void)
{
	volatile char room[100];

	room[0] = 1;
	WHOLE(room);
	sink = (unsigned char)room[0];
	never_back();
}

static KEEP void call_ends_in_call(void)
{
	ready();
	ends_in_call();
	STAY;
}

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *arg)
{
	*(int *)arg += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}

/* The number of frames below main, by GCC's unwinder. */
static KEEP void bottom(void)
{
	int count = -2; /* this and main */

	_Unwind_Backtrace(count_frame, &count);
	printf("%d\n", count);
}

FRAMES_MAIN({"depth120", depth120}, {"depth500", depth500}, {"depth1000", depth1000},
	    {"depth1500", depth1500}, {"alloca", with_alloca}, {"vla", with_vla},
	    {"big", big_frame}, {"huge", huge_frame}, {"tail", tail_caller},
	    {"noreturn", call_ends_in_call}, {"bottom", bottom})
