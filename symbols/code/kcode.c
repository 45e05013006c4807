// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See kcode.h. /proc/kcore is an ELF core file with a segment for each range of kernel addresses,
 * among them the kernel's text and the modules. Names are read anew for each listing: they are
 * asked for seldom, and modules come and go.
 */
#include "symbols/code/kcode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbols/code/listing.h"
#include "symbols/elf/arch.h"
#include "symbols/elf/elffile.h"
#include "symbols/names/kallsyms.h"

/* At most *size bytes, as many as the segment has; *size is what was read. */
static int read_segment(const struct elf_file *core, uint64_t addr, uint8_t *to, size_t *size)
{
	const struct elf_load *loads;
	size_t count;

	loads = elf_file_loads(core, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = addr - loads[i].vaddr;

		if (addr < loads[i].vaddr || at >= loads[i].filesz)
			continue;
		if (*size > loads[i].filesz - at)
			*size = (size_t)(loads[i].filesz - at);
		return elf_file_read(core, loads[i].offset + at, to, *size);
	}
	return -EFAULT;
}

static int read_core(const char *path, uint64_t addr, uint8_t *to, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	struct elf_file *core = NULL;

	if (fd < 0)
		return -errno;
	err = elf_file_open_core_fd(fd, &core);
	close(fd);
	if (err)
		return err;
	err = read_segment(core, addr, to, size);
	elf_file_free(core);
	return err;
}

static int read_code(const struct kcode_request *r, struct listing_code *code)
{
	const uint64_t whole = code->end - code->start;
	int err;

	code->size = whole > LISTING_BYTES_MAX ? LISTING_BYTES_MAX : (size_t)whole;
	code->bytes = malloc(code->size);
	if (!code->bytes)
		return -ENOMEM;
	err = read_core(r->core, code->start, code->bytes, &code->size);
	if (err && r->read && !r->read(code->start, code->bytes, code->size))
		err = 0;
	return err;
}

static bool name_address(void *arg, uint64_t addr, char *to, size_t room)
{
	const char *name, *module;
	uint64_t offset;

	if (!arg || kallsyms_find(arg, addr, &name, &module, &offset))
		return false;
	if (offset)
		snprintf(to, room, "%s+0x%" PRIx64, name, offset);
	else
		snprintf(to, room, "%s", name);
	return true;
}

int kcode_list(const struct kcode_request *r, struct listing **out)
{
	struct listing_code code = {
		.start = r->start,
		.end = r->end,
		.machine = ARCH_ELF_MACHINE,
		.no_lines = "the kernel's are not read",
		.name = name_address,
		.cancel = r->cancel,
	};
	struct kallsyms *names = NULL;
	int err = 0;

	*out = NULL;
	if (kallsyms_new(r->kallsyms, &names))
		names = NULL;
	if (names && !code.end)
		code.end = kallsyms_next(names, code.start);
	if (code.end <= code.start)
		err = -ENODATA;
	code.arg = names;
	if (!err)
		err = read_code(r, &code);
	if (err)
		free(code.bytes);
	else
		err = listing_of_code(&code, out);
	kallsyms_free(names);
	return err;
}
