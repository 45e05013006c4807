// SPDX-License-Identifier: GPL-2.0-or-later
/* See v8_check.h. */
#include "symbols/runtime/v8_check.h"

#include <errno.h>

int v8_check(const struct v8_layout *layout, const struct v8_place *place, v8_read_fn *read,
	     void *arg, const char **why)
{
	int32_t major, minor;
	int err;

	*why = "it does not say which version it is";
	if (!place->major || !place->minor)
		return -EINVAL;
	err = read(arg, place->major, &major, sizeof(major));
	if (!err)
		err = read(arg, place->minor, &minor, sizeof(minor));
	if (err) {
		*why = "its version cannot be read";
		return err;
	}
	*why = "it is another version";
	if (((uint32_t)major << 16 | ((uint32_t)minor & 0xffff)) != layout->version)
		return -EINVAL;
	*why = NULL;
	return 0;
}
