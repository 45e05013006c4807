// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/mapfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/objectfile.h"
#include "bpf/tracker/openfile.h"
#include "bpf/tracker/tracker_priv.h"

struct object *mapfile(struct tracker *t, const char *path, uid_t uid)
{
	static struct open_request request;
	static struct open_answer answer;
	struct mapping map = {0};
	struct stat st;
	int fd;

	assert_int_equal(stat(path, &st), 0);
	map.file = (struct file_id){st.st_dev, st.st_ino};
	objectfile_request(&t->objects, &request, getpid(), &map, path);
	openfile_do(&request, st.st_dev, &answer, &fd);
	assert_int_equal(answer.err, 0);
	return objectfile_take(&t->objects, &request, &answer, uid, fd);
}
