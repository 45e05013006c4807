// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A module stays for long, so there are few pieces; their bounds exclude most addresses. A module
 * from before the start has no piece until it goes.
 */
#include "bpf/sampler/kmodules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/prog/layout.h"

#define PIECES_MAX 1024u
#define STILL	   UINT32_MAX

struct module_piece {
	uint64_t start, end;
	uint32_t from, to; /* counts: from <= c < to */
	bool init;
	char name[MODULE_NAME];
};

struct kmodules {
	struct module_piece pieces[PIECES_MAX];
	size_t n;
	uint64_t low, high;  /* bounds of all pieces that ever existed */
	uint32_t known_from; /* count */
	uint64_t noted;
	struct bpf_link *links[2];
	struct ring_buffer *ring;
	const volatile struct module_counts *counts;
	uint32_t lost; /* of module_counts: those that were noted */
};

int kmodules_new(struct kmodules **out)
{
	struct kmodules *k = calloc(1, sizeof(*k));

	*out = k;
	if (!k)
		return -ENOMEM;
	k->low = UINT64_MAX;
	return 0;
}

static void detach_programs(struct kmodules *k)
{
	for (int i = 0; i < 2; i++) {
		bpf_link__destroy(k->links[i]);
		k->links[i] = NULL;
	}
	ring_buffer__free(k->ring);
	k->ring = NULL;
	if (k->counts)
		munmap((void *)k->counts, sizeof(*k->counts));
	k->counts = NULL;
}

void kmodules_free(struct kmodules *k)
{
	if (!k)
		return;
	detach_programs(k);
	free(k);
}

/* --- pieces ---------------------------------------------------------------------------------- */

/* Room for one more; NULL: all that are kept still exist. */
static struct module_piece *piece_room(struct kmodules *k)
{
	struct module_piece *oldest = k->pieces;

	if (k->n < PIECES_MAX)
		return &k->pieces[k->n++];
	for (size_t i = 1; i < k->n; i++)
		if (k->pieces[i].to < oldest->to)
			oldest = &k->pieces[i];
	if (oldest->to == STILL)
		return NULL;
	if (oldest->to > k->known_from)
		k->known_from = oldest->to;
	return oldest;
}

static void piece_add(struct kmodules *k, const struct module_piece *piece)
{
	struct module_piece *p;

	if (piece->end <= piece->start)
		return;
	p = piece_room(k);
	if (!p) {
		if (piece->from > k->known_from)
			k->known_from = piece->from;
		return;
	}
	*p = *piece;
	p->name[sizeof(p->name) - 1] = '\0';
	if (p->start < k->low)
		k->low = p->start;
	if (p->end > k->high)
		k->high = p->end;
}

static void add_module(struct kmodules *k, const struct module_change *c)
{
	struct module_piece piece = {
		.start = c->start, .end = c->start + c->size, .from = c->changes, .to = STILL};

	memcpy(piece.name, c->name, sizeof(piece.name));
	piece_add(k, &piece);
	piece.init = true;
	piece.start = c->init_start;
	piece.end = c->init_start + c->init_size;
	piece_add(k, &piece);
}

/* Two modules of one name never exist at the same time. */
static void end_module(struct kmodules *k, const struct module_change *c)
{
	const uint32_t to = c->changes + 1;
	struct module_piece piece = {.start = c->start, .end = c->start + c->size, .to = to};
	bool known = false;

	for (size_t i = 0; i < k->n; i++) {
		struct module_piece *p = &k->pieces[i];

		if (p->to != STILL || strncmp(p->name, c->name, sizeof(p->name) - 1) != 0)
			continue;
		p->to = to;
		known |= !p->init && p->start == c->start;
	}
	memcpy(piece.name, c->name, sizeof(piece.name));
	if (!known)
		piece_add(k, &piece);
}

void kmodules_note(struct kmodules *k, const struct module_change *change)
{
	k->noted++;
	if (change->gone)
		end_module(k, change);
	else
		add_module(k, change);
}

void kmodules_note_lost(struct kmodules *k, uint32_t changes)
{
	k->noted++;
	k->n = 0;
	k->known_from = changes;
}

enum kmodules_then kmodules_at(const struct kmodules *k, uint32_t changes, uint64_t addr,
			       struct kmodules_code *code)
{
	const struct module_piece *there = NULL;
	bool later = false;

	if (changes < k->known_from)
		return KMODULES_LOST;
	for (size_t i = 0; i < k->n && addr >= k->low && addr < k->high; i++) {
		const struct module_piece *p = &k->pieces[i];

		if (addr < p->start || addr >= p->end)
			continue;
		later |= p->from > changes;
		/* Freed init code makes room for a module that comes later. */
		if (changes >= p->from && changes < p->to && (!there || p->from > there->from))
			there = p;
	}
	if (!there)
		return later ? KMODULES_OTHER : KMODULES_NOTHING;
	*code = (struct kmodules_code){there->name, there->start};
	if (there->to != STILL)
		return KMODULES_GONE;
	return there->init ? KMODULES_INIT : KMODULES_SAME;
}

/* --- the BPF programs ------------------------------------------------------------------------ */

static int on_change(void *arg, void *data, size_t size)
{
	if (size >= sizeof(struct module_change))
		kmodules_note(arg, data);
	return 0;
}

uint64_t kmodules_read(struct kmodules *k)
{
	uint32_t lost;

	if (!k->ring)
		return k->noted;
	ring_buffer__consume(k->ring);
	lost = k->counts->lost;
	if (lost != k->lost) {
		k->lost = lost;
		kmodules_note_lost(k, k->counts->changes);
	}
	return k->noted;
}

static int attach_program(struct kmodules *k, int i, struct bpf_object *object, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (!program)
		return -ENOENT;
	k->links[i] = bpf_program__attach(program);
	if (!k->links[i])
		return -errno;
	return 0;
}

int kmodules_attach(struct kmodules *k, struct bpf_object *object)
{
	void *counts = mmap(NULL, sizeof(*k->counts), PROT_READ, MAP_SHARED,
			    bpf_object__find_map_fd_by_name(object, "module_counts"), 0);
	int err;

	if (counts == MAP_FAILED)
		return -errno;
	k->counts = counts;
	k->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "module_changes"),
				   on_change, k, NULL);
	err = k->ring ? attach_program(k, 0, object, "on_module_load") : -errno;
	if (!err)
		err = attach_program(k, 1, object, "on_module_free");
	if (err)
		detach_programs(k);
	/* The tracepoints exist with CONFIG_MODULES, as the file does. */
	return err == -ENOENT && access("/proc/modules", F_OK) ? 0 : err;
}
