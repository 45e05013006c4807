/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For blind.c: compiled code, stripped of its CFI, that needs every register, rbp as well. */

unsigned int blind_compiled(volatile unsigned int *stop);

#define TURN(x, y) x = (x << 7 ^ x >> 9) + y * 31 + a[y & 15]

__attribute__((noinline)) static unsigned int mix(volatile unsigned int *a)
{
	unsigned int b = a[0], c = a[1], d = a[2], e = a[3], f = a[4], g = a[5], h = a[6];
	unsigned int i = a[7], j = a[8], k = a[9], l = a[10], m = a[11], n = a[12];

	for (int turn = 0; turn < 1000; turn++) {
		TURN(b, c), TURN(c, d), TURN(d, e), TURN(e, f), TURN(f, g), TURN(g, h);
		TURN(h, i), TURN(i, j), TURN(j, k), TURN(k, l), TURN(l, m), TURN(m, n);
		TURN(n, b);
	}
	return b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n;
}

unsigned int blind_compiled(volatile unsigned int *stop)
{
	volatile unsigned int room[16];

	for (unsigned int i = 0; i < 16; i++)
		room[i] = i * 77;
	while (!*stop)
		room[1] = mix(room);
	return room[1];
}
