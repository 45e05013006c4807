/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code without CFI. Where it keeps a frame pointer the walk goes on; where rbp is a general
 * register, whatever it holds, the walk ends with its reason. blind.S and blindc.c are that code;
 * this file has CFI.
 */

#include <stdint.h>

#include "frame.h"

/* push rbp; mov rsp, rbp; and then spin or call. */
void blind_framed_leaf(void);
void blind_framed_call(void (*function)(void));
/* The same, but rbp is only saved, and then a number. */
void blind_leaf(void *rbp);
void blind_call(void *rbp, void (*function)(void));
/* rbp runs through all words from the first to the last, over and over. */
void blind_sweep(void *first, void *last);
void blind_still(void); /* spins, does not touch rbp */
void behind_nop(void);	/* the bytes before it resemble the end of a call */
/* Calls second(first). */
void junk_call(void (*first)(void), void (*second)(void (*)(void)));
unsigned int blind_compiled(volatile unsigned int *stop);

static KEEP void framed_leaf(void)
{
	ready();
	blind_framed_leaf();
	STAY;
}

static KEEP void framed_call(void)
{
	ready();
	blind_framed_call(spin);
	STAY;
}

static KEEP void framed_junk(void)
{
	ready();
	junk_call(spin, blind_framed_call);
	STAY;
}

static KEEP void small_number(void)
{
	ready();
	blind_leaf((void *)5);
	STAY;
}

static KEEP void below_number(void)
{
	ready();
	blind_call((void *)5, spin);
	STAY;
}

static KEEP void zero(void)
{
	ready();
	blind_leaf(NULL);
	STAY;
}

static KEEP void below_zero(void)
{
	ready();
	blind_call(NULL, spin);
	STAY;
}

static KEEP void odd(void)
{
	uintptr_t room[4] = {0};

	ready();
	blind_leaf((char *)room + 1);
	STAY;
}

/* Two words laid out like a frame record that are none. */
#define RECORD(name, first, second)                                                                \
	static KEEP void name(void)                                                                \
	{                                                                                          \
		volatile uintptr_t room[16] = {0};                                                 \
		room[0] = (uintptr_t)(first);                                                      \
		room[1] = (uintptr_t)(second);                                                     \
		ready();                                                                           \
		blind_leaf((void *)room);                                                          \
		STAY;                                                                              \
	}
RECORD(self, room, &room[1])
/* No call precedes this address. One may precede a function's start: that of _exit, for GCC 16. */
#define NO_RETURN ((uintptr_t)junk_call + 1)
RECORD(upward, &room[8], NO_RETURN)
RECORD(nothing, &room[8], 12345)
RECORD(downward, (uintptr_t)room - 512, NO_RETURN)
RECORD(padding, &room[8], behind_nop)
RECORD(zeros, 0, 0)
RECORD(data, &room[8], &frames_stop)

/* This function's frame pointer is in rbp and leads to its caller. */
static KEEP void still(void)
{
	ready();
	blind_still();
	STAY;
}

static KEEP void sweep(void)
{
	volatile uintptr_t room[4096];

	/* Values as on programs' stacks: numbers, addresses of data and of functions. */
	for (unsigned int i = 0; i < 4096; i++) {
		const uintptr_t kinds[] = {
			i, (uintptr_t)&room[i + 1], (uintptr_t)spin, (uintptr_t)&room[0],
			0, (uintptr_t)puts};
		room[i] = kinds[(i * 2654435761u >> 16) % 6];
	}
	ready();
	blind_sweep((void *)room, (void *)&room[4095]);
	STAY;
}

static KEEP void compiled(void)
{
	ready();
	blind_compiled((volatile unsigned int *)&frames_stop);
	STAY;
}

FRAMES_MAIN({"fleaf", framed_leaf}, {"fcall", framed_call}, {"fjunk", framed_junk},
	    {"number", small_number}, {"below", below_number}, {"zero", zero},
	    {"belowzero", below_zero}, {"zeros", zeros}, {"odd", odd}, {"self", self},
	    {"upward", upward}, {"nothing", nothing}, {"downward", downward}, {"data", data},
	    {"padding", padding}, {"still", still}, {"sweep", sweep}, {"compiled", compiled})
