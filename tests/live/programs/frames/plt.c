/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls through the procedure linkage table: bound; bound anew each time by the dynamic linker;
 * into a library opened at run time; and into a library that is opened and closed all the time.
 */

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "frame.h"

int callee(int x); /* of libcallee.so */

static volatile int sink;
#ifdef TAKE_ADDRESS
/* In code: a relocation in data would not make the linker create the stub. */
#define TAKE (sink = (int)(long)callee)
#else
#define TAKE
#endif

static KEEP void call_often(void)
{
	TAKE;
	sink = callee(1);
	ready();
	while (!frames_stop)
		callee(1);
}

static Elf64_Addr dynamic(const struct link_map *map, Elf64_Sxword tag)
{
	for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_ptr;
	return 0;
}

/* The slot through which the PLT jumps to a function of the program. */
static Elf64_Addr *slot_of(const char *name)
{
	const struct link_map *map;
	const Elf64_Rela *r;
	const Elf64_Sym *symbols;
	const char *strings;
	size_t size;

	if (dlinfo(dlopen(NULL, RTLD_LAZY), RTLD_DI_LINKMAP, &map))
		return NULL;
	r = (const void *)dynamic(map, DT_JMPREL);
	symbols = (const void *)dynamic(map, DT_SYMTAB);
	strings = (const char *)dynamic(map, DT_STRTAB);
	size = dynamic(map, DT_PLTRELSZ);
	for (size_t i = 0; i < size / sizeof(*r); i++)
		if (!strcmp(strings + symbols[ELF64_R_SYM(r[i].r_info)].st_name, name))
			return (Elf64_Addr *)(map->l_addr + r[i].r_offset);
	return NULL;
}

/* The slot leads to the resolver until the first call; resets it before each call. */
static KEEP void bind_often(void)
{
	Elf64_Addr *volatile slot = slot_of("callee");
	Elf64_Addr unbound = slot ? *slot : 0;

	sink = callee(1);
	if (!slot || *slot == unbound)
		return; /* binding is not lazy */
	ready();
	while (!frames_stop) {
		*slot = unbound;
		callee(1);
	}
}

static KEEP void in_opened(void)
{
	void *library = dlopen("libopened.so", RTLD_NOW);
	int (*calls)(void (*)(void)) =
		library ? (int (*)(void (*)(void)))dlsym(library, "callee_calls") : NULL;

	if (!calls)
		return;
	ready();
	sink = calls(spin);
	STAY;
}

static KEEP void reopen_often(void)
{
	ready();
	while (!frames_stop) {
		void *library = dlopen("libopened.so", RTLD_LAZY);
		int (*lazy)(int) = library ? (int (*)(int))dlsym(library, "callee_lazily") : NULL;

		if (!lazy)
			return;
		sink = lazy(1);
		dlclose(library);
	}
}

FRAMES_MAIN({"call", call_often}, {"bind", bind_often}, {"opened", in_opened},
	    {"reopen", reopen_often})
