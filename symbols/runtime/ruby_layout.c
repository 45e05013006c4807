// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offsets of CRuby on 64-bit x86 by version, final releases. 3.1: compiled against Debian's
 * rb_mjit_min_header; 3.3 and 3.4: against the sources and Debian's config.h. 3.2 and 4.0 never ran
 * here: their members and types are those in the DWARF of 3.2.4 and 4.0.0 for WebAssembly, laid out
 * for 64 bits with glibc's threads, which gives the offsets of 3.3 and 3.4 for these.
 */
#include <errno.h>
#include <stddef.h>

#include "symbols/runtime/ruby_file.h"

#define JUMP_BUILTIN_SIZE 40  /* of its buffer */
#define JUMP_SIZE	  200 /* of a jmp_buf of glibc, and of musl */

static const struct ruby_layout layouts[] = {
	{
		.version = 0x030100,
		.vm_ractors = 8,
		.vm_main = 32,
		.ractor_next = 568,
		.ractor_threads = 304,
		.ractor_owner = 336,
		.thread_size = 88,
		.thread_ractor = 24,
		.thread_ec = 40,
		.thread_id = 80,
		.ec_size = 56,
		.ec_cfp = 16,
		.ec_tag = 24,
		.ec_thread = 48,
		.tag_buf = 16,
		.frame_size = 64,
		.frame_iseq = 16,
		.frame_ep = 32,
		.iseq_body = 16,
		.body_head = 96,
		.body_size = 152,
		.body_words = 4,
		.body_code = 8,
		.body_path = 64,
		.body_label = 80,
		.body_line = 88,
		.line_shift = 1,
		.body_lines = 120,
		.string_embed = 16,
		.string_pointer = 24,
		.method_owner = 32,
		.class_table = 24,
		.class_path = 8,
	},
	{
		.version = 0x030300,
		.vm_ractors = 8,
		.vm_main = 32,
		.ractor_next = 432,
		.ractor_threads = 256,
		.ractor_owner = 328,
		.thread_size = 56,
		.thread_ractor = 24,
		.thread_ec = 48,
		.thread_native = 40,
		.thread_id = 16,
		.ec_size = 56,
		.ec_cfp = 16,
		.ec_tag = 24,
		.ec_thread = 48,
		.tag_buf = 16,
		.frame_size = 56,
		.frame_iseq = 16,
		.frame_ep = 32,
		.iseq_body = 16,
		.body_head = 92,
		.body_size = 144,
		.body_words = 4,
		.body_code = 8,
		.body_path = 64,
		.body_label = 80,
		.body_line = 88,
		.body_lines = 112,
		.string_length = 16,
		.string_embed = 24,
		.string_pointer = 24,
		.method_owner = 32,
		.class_path = 152,
		.class_attached = 128,
	},
};

/* The version whose row holds for this one, but for what adapt sets. */
static uint32_t row_of(uint32_t version)
{
	switch (version >> 8) {
	case 0x0302:
	case 0x0304:
	case 0x0400:
		return 0x030300;
	default:
		return version & 0xffff00;
	}
}

static void adapt(struct ruby_layout *io, uint32_t version)
{
	io->version = version;
	io->class_singleton = version >> 8 < 0x0304 ? RUBY_USER_0 : RUBY_USER_0 << 1;
	if (version >> 8 == 0x0302) {
		io->ractor_next = 568;
		io->ractor_threads = 304;
		io->ractor_owner = 336;
		io->thread_id = 8;
		io->frame_size = 64;
		/* A class has its name among its variables, and only its shape says where. */
		io->class_path = io->class_attached = 0;
	}
	if (version >> 8 == 0x0400) {
		/* The scheduler between them has grown within 4.0. */
		io->ractor_next = version < 0x040006 ? 360 : 368;
		io->ractor_threads = 184;
		io->ractor_owner = 256;
		io->class_attached = 136;
	}
}

int ruby_layout_of(uint32_t version, struct ruby_layout *out)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == row_of(version)) {
			*out = layouts[i];
			adapt(out, version);
			ruby_layout_jump(out, RUBY_JUMP_BUILTIN);
			return 0;
		}
	*out = (struct ruby_layout){0};
	return -ENOTSUP;
}

void ruby_layout_jump(struct ruby_layout *io, enum ruby_jump jump)
{
	io->jump = jump;
	io->tag_prev = io->tag_buf + (jump == RUBY_JUMP_BUILTIN ? JUMP_BUILTIN_SIZE : JUMP_SIZE);
}
