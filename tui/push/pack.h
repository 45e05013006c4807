/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_PACK_H
#define STACKTOP_TUI_PUSH_PACK_H

/*
 * The samples of an interval as bytes, while they wait for a server: whatever that speaks, and
 * however small its requests must be, they are made of these. Compressed by zstd, with a check sum
 * of its own. Only this program reads them, but a file may be damaged: what is read back makes
 * sense, or is refused.
 */

#include <stddef.h>
#include <stdint.h>

struct export_model;
struct push_options;

#define PUSH_PACK_MAX ((size_t)256 << 20) /* bytes, unpacked */
#define PUSH_HOST_MAX 65

/*
 * Adds up the samples of all slices, finds the service of each process, and puts them in the order
 * in which they are sent: by service. The caller frees *data. *count: how many samples the packed
 * model has; at least one. -ENODATA: there are none; -ENOMEM.
 */
int push_pack(const struct export_model *c, const struct push_options *options, const char *host,
	      uint8_t **data, size_t *size, size_t *count);
/* *c is zeroed or was freed, and the caller frees it. -EBADMSG: it is damaged; -ENOMEM. */
int push_unpack(const uint8_t *data, size_t size, struct export_model *c, char host[PUSH_HOST_MAX]);

#endif
