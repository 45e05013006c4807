/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test makes copies in which fn_0000 is fn_0001 and so on. Each calls the next function of a
 * chain; the last one spins. */
typedef long (*link_fn)(void *const *chain, long turns);

static volatile long sink;

__attribute__((noinline, used)) static long fn_0000(void *const *chain, long turns)
{
	if (*chain)
		return ((link_fn)*chain)(chain + 1, turns) + 1;
	for (long i = 0; i < turns; i++)
		sink += i;
	return 0;
}

link_fn entry(void);
link_fn entry(void)
{
	return fn_0000;
}
