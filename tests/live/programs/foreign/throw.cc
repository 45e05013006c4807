// SPDX-License-Identifier: GPL-2.0-or-later
//
// C++ while exceptions are thrown.
//
//	throw dtor [SECONDS]	spins in a destructor that the unwinding calls:
//				main;one;two;Guard::~Guard();spin
//	throw catch [SECONDS]	in a catch block: main;one;in_catch;spin
//	throw hot [SECONDS]	throws and catches all the time, in main;one;hot; the frames above
//				hot depend on libstdc++ and libgcc

#include <cstdlib>
#include <cstring>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

static volatile unsigned int sink;

static KEEP void spin()
{
	for (;;)
		sink = sink * 1664525 + 1013904223;
}

struct Guard {
	unsigned int value;
	KEEP ~Guard()
	{
		if (value != 1)
			spin();
		sink = value;
	}
};

static KEEP void thrower(unsigned int x)
{
	volatile unsigned int local[30];

	local[x & 7] = x;
	if (sink != 0x12345)
		throw local[x & 7];
}

static KEEP void two(unsigned int x)
{
	Guard guard = {x};

	thrower(x);
	sink = guard.value;
}

static KEEP void in_catch(unsigned int x)
{
	try {
		thrower(x);
	} catch (unsigned int value) {
		spin();
		sink = value;
	}
}

static KEEP void hot(unsigned int x)
{
	for (;;) {
		try {
			thrower(x);
		} catch (unsigned int value) {
			sink = value;
		}
	}
}

static KEEP void one(const char *mode)
{
	volatile unsigned int local[7] = {5};

	if (!strcmp(mode, "dtor"))
		two(local[0]);
	else if (!strcmp(mode, "catch"))
		in_catch(local[0]);
	else
		hot(local[0]);
	sink = local[0];
}

int main(int argc, char **argv)
{
	alarm(argc > 2 ? atoi(argv[2]) : 60);
	try {
		one(argc > 1 ? argv[1] : "hot");
	} catch (...) {
		return 1;
	}
	return 0;
}
