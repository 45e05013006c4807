// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/net/curl.h"

#include "tui/net/http.h"

#include <strings.h>

bool http_is_url(const char *text)
{
	return !strncasecmp(text, "http://", 7) || !strncasecmp(text, "https://", 8);
}

#if HAVE_CURL

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct curl_library library;
static bool loaded;

/* It stays loaded: its threads and its clean-up at the end may outlive any of its users. */
static void load(void)
{
	void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	bool all = handle != NULL;

#define CURL_LOOK(name, function)                                                                  \
	*(void **)&library.name = all ? dlsym(handle, #function) : NULL;                           \
	all = all && library.name;
	CURL_FUNCTIONS(CURL_LOOK)
#undef CURL_LOOK
	loaded = all && !library.global_init(CURL_GLOBAL_DEFAULT);
}

const struct curl_library *curl_library(void)
{
	pthread_once(&once, load);
	return loaded ? &library : NULL;
}

const char *http_missing(void)
{
	return curl_library() ? NULL
			      : "libcurl.so.4 is missing: install libcurl4 (Debian; elsewhere "
				"libcurl)";
}

#else

const char *http_missing(void)
{
	return "this stacktop was built without libcurl: install libcurl4-openssl-dev (Debian; "
	       "elsewhere libcurl-devel) and build it again";
}

#endif
