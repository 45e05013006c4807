// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/fds.h"

#include <fcntl.h>

size_t count_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}
