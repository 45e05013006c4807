// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See inline_chain.h. The result is one block, since debug information may be freed while its
 * answers stay.
 */
#include "tui/symbolize/inline_chain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/names/demangle.h"
#include "symbols/base/text.h"

struct inline_texts { /* of one frame */
	char *name;
	char *file;
};

static int texts_make(const struct debuginfo_frame *frame, struct inline_texts *out)
{
	char path[PATH_MAX], *plain;

	*out = (struct inline_texts){0};
	if (frame->name) {
		plain = demangle(frame->name);
		out->name = plain ? text_clean_dup(plain) : NULL;
		free(plain);
		if (!out->name)
			return -ENOMEM;
	}
	if (frame->file) {
		snprintf(path, sizeof(path), "%s%s%s", frame->dir ? frame->dir : "",
			 frame->dir ? "/" : "", frame->file);
		out->file = text_clean_dup(path);
		if (!out->file)
			return -ENOMEM;
	}
	return 0;
}

static const char *move(char **to, const char *text)
{
	size_t length = text ? strlen(text) + 1 : 0;
	const char *at = *to;

	if (!text)
		return NULL;
	memcpy(*to, text, length);
	*to += length;
	return at;
}

static struct inline_chain *pack(const struct debuginfo_frame *frames,
				 const struct inline_texts *texts, size_t count)
{
	size_t bytes = sizeof(struct inline_chain) + count * sizeof(struct inline_chain_frame);
	struct inline_chain *calls;
	char *to;

	for (size_t i = 0; i < count; i++) {
		bytes += texts[i].name ? strlen(texts[i].name) + 1 : 0;
		bytes += texts[i].file ? strlen(texts[i].file) + 1 : 0;
	}
	calls = malloc(bytes);
	if (!calls)
		return NULL;
	calls->bytes = bytes;
	calls->count = (uint32_t)count;
	to = (char *)&calls->frames[count];
	for (size_t i = 0; i < count; i++) {
		calls->frames[i].name = move(&to, texts[i].name);
		calls->frames[i].file = move(&to, texts[i].file);
		calls->frames[i].line = frames[i].line;
	}
	return calls;
}

uid_t inline_chain_user(void)
{
	const char *sudo = getuid() ? NULL : getenv("SUDO_UID");
	unsigned long id;
	char *end;

	if (!sudo)
		return getuid();
	id = strtoul(sudo, &end, 10);
	return *end || end == sudo || id > UINT32_MAX ? 0 : (uid_t)id;
}

/* A symbol without a size extends over functions that have none. */
static bool is_another(struct debuginfo *info, uint64_t vaddr, uint64_t symbol,
		       const struct inline_chain *calls)
{
	return symbol && calls->frames[calls->count - 1].name &&
	       !debuginfo_is_one_function(info, vaddr, symbol);
}

int inline_chain_read(struct debuginfo *info, uint64_t vaddr, uint64_t symbol,
		      struct inline_chain **out)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	struct inline_texts texts[DEBUGINFO_FRAMES_MAX] = {0};
	size_t count = info ? debuginfo_find(info, vaddr, frames) : 0;
	int err = 0;

	*out = NULL;
	for (size_t i = 0; i < count && !err; i++)
		err = texts_make(&frames[i], &texts[i]);
	if (!err && count) {
		*out = pack(frames, texts, count);
		err = *out ? 0 : -ENOMEM;
	}
	if (*out)
		(*out)->renames = is_another(info, vaddr, symbol, *out);
	for (size_t i = 0; i < count; i++) {
		free(texts[i].name);
		free(texts[i].file);
	}
	return err;
}
