// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offsets of CRuby on 64-bit x86 by version, final releases. 3.1: compiled against Debian's
 * rb_mjit_min_header; 3.3 and 3.4: against the sources and Debian's config.h.
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

/* The version whose row holds for this one, but for the mark of singleton classes. */
static uint32_t row_of(uint32_t version)
{
	return version >> 8 == 0x0304 ? 0x030300 : version & 0xffff00;
}

int ruby_layout_of(uint32_t version, struct ruby_layout *out)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == row_of(version)) {
			*out = layouts[i];
			out->version = version;
			out->class_singleton =
				version >> 8 < 0x0304 ? RUBY_USER_0 : RUBY_USER_0 << 1;
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
