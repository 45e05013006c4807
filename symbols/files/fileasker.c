// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/fileasker.h"

#include <errno.h>
#include <sys/stat.h>

#include "symbols/base/clock.h"
#include "symbols/files/rootfile.h"

int fileasker_ask(struct fileasker *asker, const struct file_question *question,
		  struct file_facts *facts)
{
	int fd = asker->ask(asker->arg, question, facts);

	if (fd == -EAGAIN)
		atomic_fetch_add(&asker->put_off, 1);
	return fd;
}

uint64_t fileasker_put_off(const struct fileasker *asker)
{
	return asker ? atomic_load(&asker->put_off) : 0;
}

int fileasker_open(struct fileasker *asker, int root, pid_t pid, const char *path)
{
	const struct file_question question = {.pid = root < 0 ? 0 : pid, .path = path};
	struct file_facts facts;
	int fd = asker ? rootfile_open_local(root, path) : rootfile_open(root, path);

	return fd == -EXDEV && asker ? fileasker_ask(asker, &question, &facts) : fd;
}

void file_facts_of(struct file_facts *facts, const struct stat *st)
{
	*facts = (struct file_facts){.dev = st->st_dev,
				     .inode = st->st_ino,
				     .mtime = clock_timespec_ns(&st->st_mtim),
				     .size = (uint64_t)st->st_size};
}
