// SPDX-License-Identifier: GPL-2.0-or-later
/* The address of --listen. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tui/agent/listen.h"

#define PORT_MAX 65535u

static bool read_port(const char *text, in_port_t *port)
{
	unsigned int value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (unsigned int)(*text - '0');
		if (value > PORT_MAX)
			return false;
	}
	*port = htons((in_port_t)value);
	return true;
}

static bool read_host(const char *host, in_port_t port, struct sockaddr_storage *to,
		      socklen_t *length)
{
	struct sockaddr_in *four = (struct sockaddr_in *)to;

	*length = sizeof(*four);
	four->sin_family = AF_INET;
	four->sin_port = port;
	if (!*host || !strcmp(host, "localhost")) {
		four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return true;
	}
	return inet_pton(AF_INET, host, &four->sin_addr) == 1;
}

static bool read_host6(const char *host, in_port_t port, struct sockaddr_storage *to,
		       socklen_t *length)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;

	*length = sizeof(*six);
	six->sin6_family = AF_INET6;
	six->sin6_port = port;
	return inet_pton(AF_INET6, host, &six->sin6_addr) == 1;
}

bool listen_parse(const char *text, struct sockaddr_storage *to, socklen_t *length)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2] = "";
	size_t n = colon ? (size_t)(colon - text) : 0;
	in_port_t port;

	*to = (struct sockaddr_storage){0};
	*length = 0;
	if (n >= sizeof(host) || !read_port(colon ? colon + 1 : text, &port))
		return false;
	memcpy(host, text, n);
	if (*host != '[')
		return read_host(host, port, to, length);
	if (n < 2 || host[n - 1] != ']')
		return false;
	host[n - 1] = '\0';
	return read_host6(host + 1, port, to, length);
}
