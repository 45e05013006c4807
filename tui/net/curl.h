/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_NET_CURL_H
#define STACKTOP_TUI_NET_CURL_H

/*
 * libcurl needs thirty other libraries, and most runs send nothing, so it is loaded on demand: to
 * start takes no longer, and a build without its header is the same program without --push. Only
 * tui/net knows it.
 */

#if __has_include(<curl/curl.h>)
#define CURL_DISABLE_TYPECHECK /* calls go through pointers */
#include <curl/curl.h>
#define HAVE_CURL 1

#define CURL_FUNCTIONS(X)                                                                          \
	X(global_init, curl_global_init)                                                           \
	X(easy_init, curl_easy_init)                                                               \
	X(easy_setopt, curl_easy_setopt)                                                           \
	X(easy_getinfo, curl_easy_getinfo)                                                         \
	X(easy_perform, curl_easy_perform)                                                         \
	X(easy_reset, curl_easy_reset)                                                             \
	X(easy_cleanup, curl_easy_cleanup)                                                         \
	X(easy_strerror, curl_easy_strerror)                                                       \
	X(slist_append, curl_slist_append)                                                         \
	X(slist_free_all, curl_slist_free_all)                                                     \
	X(getdate, curl_getdate)

#undef curl_easy_setopt
#undef curl_easy_getinfo

struct curl_library {
#define CURL_MEMBER(name, function) __typeof__(&function) name;
	CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* NULL: it is not there; valid for the whole run. Any thread. */
const struct curl_library *curl_library(void);

#else
#define HAVE_CURL 0
#endif

#endif
