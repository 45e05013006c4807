// SPDX-License-Identifier: GPL-2.0-or-later
/* See kerneltext.h. The program reads pieces of one size, so their beginnings are aligned to it. */
#include "bpf/sampler/kerneltext.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/prog/layout.h"
#include "bpf/sampler/objects.h"

static int read_pieces(int program, struct kcode_piece *piece, uint64_t addr, uint8_t *to,
		       size_t size)
{
	while (size) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		const size_t skip = addr % KCODE_BYTES;
		size_t n = KCODE_BYTES - skip;

		if (n > size)
			n = size;
		piece->addr = addr - skip;
		if (bpf_prog_test_run_opts(program, &opts) || opts.retval)
			return -EFAULT;
		memcpy(to, piece->bytes + skip, n);
		addr += n;
		to += n;
		size -= n;
	}
	return 0;
}

static int read_loaded(struct bpf_object *object, uint64_t addr, uint8_t *to, size_t size)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "read_code");
	int map = bpf_object__find_map_fd_by_name(object, "piece"), err;
	void *piece;

	if (!program || map < 0)
		return -ENOTSUP;
	piece = mmap(NULL, sizeof(struct kcode_piece), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (piece == MAP_FAILED)
		return -ENOTSUP;
	err = read_pieces(bpf_program__fd(program), piece, addr, to, size);
	munmap(piece, sizeof(struct kcode_piece));
	return err;
}

int kerneltext_read(uint64_t addr, void *to, size_t size)
{
	struct bpf_object *object;
	sigset_t all, old;
	int err = -ENOTSUP;

	/* A signal makes the verifier give up. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	object = objects_kcode();
	if (object && !bpf_object__load(object))
		err = read_loaded(object, addr, to, size);
	bpf_object__close(object);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}
