// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>

bool vaddr_of(int fd, uint64_t offset, uint64_t *vaddr)
{
	Elf *elf;
	size_t n = 0;
	bool found = false;
	GElf_Phdr ph;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && !found; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		/* whole pages are mapped */
		if (offset < (ph.p_offset & ~4095ull) ||
		    offset >= ((ph.p_offset + ph.p_filesz + 4095) & ~4095ull))
			continue;
		*vaddr = offset - ph.p_offset + ph.p_vaddr;
		found = true;
	}
	elf_end(elf);
	return found;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether all is known that an exec and then the loader, up to libc, have mapped. */
static bool is_settled(struct running *r, pid_t pid, const char *program)
{
	FILE *f = maps_open(pid);
	unsigned int seen = 0;
	bool known = true;
	struct area a;

	while (known && area_read(f, &a)) {
		if (!a.exec || !strcmp(a.name, "[vsyscall]"))
			continue;
		known = place_at(r, pid, 0, a.start).kind != PLACE_UNKNOWN;
		seen |= (strstr(a.name, program) != NULL) |
			(strstr(a.name, "/libc.so") != NULL) << 1 | !strcmp(a.name, "[vdso]") << 2;
	}
	fclose(f);
	return known && seen == 7;
}

uint64_t wait_for_image(struct running *r, pid_t pid, const char *program)
{
	struct area text;

	WAIT(is_settled(r, pid, program));
	assert_true(area_find(pid, program, true, &text));
	WAIT(place_at(r, pid, stat_image(pid), text.start).kind == PLACE_FILE);
	return text.start;
}
