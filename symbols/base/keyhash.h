/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_KEYHASH_H
#define STACKTOP_SYMBOLS_BASE_KEYHASH_H

/*
 * The hash function for uthash's tables (hash.h), with a key drawn at the start. The keys of
 * entries are names, addresses and times of files that any user may choose. Without a secret key a
 * user could choose n names that fall into one chain, which costs n * n steps.
 */

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4 (Aumasson, Bernstein 2012); key: 16 bytes. */
uint64_t siphash(const uint8_t key[16], const void *data, size_t size);

/* The same with the key of this run. Any thread. */
uint32_t keyhash(const void *data, size_t size);

#define HASH_FUNCTION(data, size, hash)                                                            \
	do {                                                                                       \
		(hash) = keyhash(data, size);                                                      \
	} while (0)

#endif
