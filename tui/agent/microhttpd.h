/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_AGENT_MICROHTTPD_H
#define STACKTOP_TUI_AGENT_MICROHTTPD_H

/*
 * libmicrohttpd brings GnuTLS, and only an agent needs it, so it is loaded on demand: to start
 * takes no longer without it. Only tui/agent knows it.
 */

#if __has_include(<microhttpd.h>)
#include <microhttpd.h>
#define HAVE_MICROHTTPD 1

#define MICROHTTPD_FUNCTIONS(X)                                                                    \
	X(add_response_header)                                                                     \
	X(create_response_from_buffer)                                                             \
	X(destroy_response)                                                                        \
	X(get_connection_info)                                                                     \
	X(get_daemon_info)                                                                         \
	X(get_timeout)                                                                             \
	X(lookup_connection_value)                                                                 \
	X(queue_response)                                                                          \
	X(run)                                                                                     \
	X(start_daemon)                                                                            \
	X(stop_daemon)

struct microhttpd_library {
#define MICROHTTPD_MEMBER(name) __typeof__(&MHD_##name) name;
	MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
#undef MICROHTTPD_MEMBER
};

/* NULL: it is not there; valid for the whole run. Any thread. */
const struct microhttpd_library *microhttpd_library(void);

#else
#define HAVE_MICROHTTPD 0
#endif

#endif
