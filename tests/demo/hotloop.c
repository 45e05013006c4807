/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: a loop that spends its time in calls that the compiler inlined.
 * Without debug information all of it is draw_picture.
 */
#include <stdint.h>
#include <stdio.h>

#define SIDE 512

static inline uint32_t scramble(uint32_t x)
{
	for (int i = 0; i < 6; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	return x;
}

static inline uint32_t blend(uint32_t a, uint32_t b)
{
	return ((a & 0xfefefe) >> 1) + ((b & 0xfefefe) >> 1);
}

static inline uint32_t shade(uint32_t x, uint32_t y)
{
	return blend(scramble(x * SIDE + y), scramble(y * SIDE + x));
}

static uint32_t picture[SIDE][SIDE];

__attribute__((noinline)) static void draw_picture(uint32_t time)
{
	for (uint32_t y = 0; y < SIDE; y++)
		for (uint32_t x = 0; x < SIDE; x++)
			picture[y][x] = shade(x + time, y);
}

int main(void)
{
	for (uint32_t time = 0;; time++) {
		draw_picture(time);
		if (picture[time % SIDE][0] == 0xffffffff)
			puts("white");
	}
}
