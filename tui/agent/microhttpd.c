// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/agent/microhttpd.h"

#if HAVE_MICROHTTPD

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct microhttpd_library library;
static bool loaded;

static void load(void)
{
	void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool all = handle != NULL;

#define MICROHTTPD_LOOK(name)                                                                      \
	*(void **)&library.name = all ? dlsym(handle, "MHD_" #name) : NULL;                        \
	all = all && library.name;
	MICROHTTPD_FUNCTIONS(MICROHTTPD_LOOK)
#undef MICROHTTPD_LOOK
	loaded = all;
}

const struct microhttpd_library *microhttpd_library(void)
{
	pthread_once(&once, load);
	return loaded ? &library : NULL;
}

#endif
