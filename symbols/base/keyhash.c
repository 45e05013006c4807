// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * If the kernel gives no key, it is made from load addresses and the time: that is better than
 * none, since the tables must work in any case.
 */
#include "symbols/base/keyhash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t drawn = PTHREAD_ONCE_INIT;
static uint8_t run_key[16];

static uint64_t rotated(uint64_t value, unsigned int by)
{
	return value << by | value >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] = rotated(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[2] = rotated(v[2], 32);
	}
}

static void take_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t siphash(const uint8_t key[16], const void *data, size_t size)
{
	const uint8_t *at = data;
	uint64_t k[2], word, v[4];
	size_t left;

	memcpy(k, key, sizeof(k));
	v[0] = k[0] ^ 0x736f6d6570736575u;
	v[1] = k[1] ^ 0x646f72616e646f6du;
	v[2] = k[0] ^ 0x6c7967656e657261u;
	v[3] = k[1] ^ 0x7465646279746573u;
	for (left = size; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		take_word(v, word);
	}
	word = (uint64_t)size << 56;
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)at[i] << (8 * i);
	take_word(v, word);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void draw(void)
{
	struct timespec now;
	uint64_t poor[2];

	if (getrandom(run_key, sizeof(run_key), GRND_NONBLOCK) == (ssize_t)sizeof(run_key))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	poor[0] = (uint64_t)(uintptr_t)&now ^ (uint64_t)getpid() << 48;
	poor[1] = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)run_key;
	memcpy(run_key, poor, sizeof(run_key));
}

uint32_t keyhash(const void *data, size_t size)
{
	pthread_once(&drawn, draw);
	return (uint32_t)siphash(run_key, data, size);
}
