// SPDX-License-Identifier: GPL-2.0-or-later
/* See pack.h. The order of the fields is that of the functions below, which come in pairs. */
#include "tui/push/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "symbols/base/grow.h"
#include "tui/export/export_model.h"
#include "tui/push/target.h"
#include "tui/util/bytes.h"
#include "tui/util/share.h"

#define LEVEL	 3
#define KIND_MAX FUNC_JAVA
#define CPU_MOST 8193u /* + 1 */

/* --- in the order in which they are sent ------------------------------------------------------ */

static int find_services(struct export_model *c, const struct push_options *options,
			 const char *host)
{
	for (uint32_t i = 0; i < c->nprocs; i++) {
		struct export_model_proc *proc = &c->procs[i];
		const struct push_names names = {
			export_model_text(c, proc->comm), export_model_text(c, proc->user),
			export_model_text(c, proc->group), host, proc->pid};
		char service[PUSH_TEXT_MAX];

		push_service(options->service, &names, service);
		if (textpool_add(&c->pool, service, &proc->service))
			return -ENOMEM;
	}
	return 0;
}

static int by_service(const void *a, const void *b, void *model)
{
	const struct export_model_sample *x = a, *y = b;
	const struct export_model *c = model;
	const struct export_model_proc *p = &c->procs[x->proc], *q = &c->procs[y->proc];

	if (x->proc != y->proc) {
		int order =
			strcmp(export_model_text(c, p->service), export_model_text(c, q->service));

		return order ? order : ORDER(x->proc, y->proc);
	}
	return ORDER(x->tid, y->tid) ?: ORDER(x->cpu, y->cpu) ?: ORDER(x->node, y->node);
}

/* A model with one sample for each stack of a process, or of a thread. */
static int make_ordered(const struct export_model *c, const struct push_options *options,
			const char *host, struct export_model *out)
{
	size_t count, kept = 0;
	struct export_model_sample *samples = export_model_merged(c, &count);
	struct export_model all;
	int err = samples ? count ? 0 : -ENODATA : -ENOMEM;

	for (size_t i = 0; samples && !options->threads && i < count; i++)
		samples[i].tid = 0;
	if (!err)
		err = export_model_part(c, samples, count, &all);
	free(samples);
	if (err)
		return err;
	samples = NULL;
	/* Equal but for their thread until now. */
	err = find_services(&all, options, host);
	if (!err)
		samples = export_model_merged(&all, &count);
	if (!err && !samples)
		err = -ENOMEM;
	for (size_t i = 0; samples && !err && i < count; i++)
		if (samples[i].count || samples[i].weight)
			samples[kept++] = samples[i];
	if (!err && !kept)
		err = -ENODATA;
	if (!err) {
		qsort_r(samples, kept, sizeof(*samples), by_service, &all);
		err = export_model_part(&all, samples, kept, out);
	}
	free(samples);
	export_model_free(&all);
	return err;
}

/* --- writing --------------------------------------------------------------------------------- */

static void put_text(struct outbytes *b, const struct export_model *c, size_t at)
{
	bytes_put_text(b, export_model_text(c, at));
}

/* A number that may be missing. */
static void put_or_none(struct outbytes *b, uint32_t number)
{
	bytes_put_number(b, number == EXPORT_MODEL_NONE ? 0 : (uint64_t)number + 1);
}

static void put_head(struct outbytes *b, const struct export_model *c, const char *host)
{
	const struct profile_health *h = &c->health;

	bytes_put_text(b, host);
	bytes_put_number(b, c->measure);
	bytes_put_number(b, c->slices[0].time);
	bytes_put_text(b, h->event);
	bytes_put_number(b, h->elapsed);
	bytes_put_number(b, h->frequency);
	bytes_put_number(b, h->counted);
	bytes_put_number(b, h->ncpus);
}

static void put_funcs(struct outbytes *b, const struct export_model *c)
{
	bytes_put_number(b, c->nmodules);
	for (uint32_t i = 0; i < c->nmodules; i++) {
		put_text(b, c, c->modules[i].name);
		put_text(b, c, c->modules[i].build);
	}
	bytes_put_number(b, c->nfiles);
	for (uint32_t i = 0; i < c->nfiles; i++)
		put_text(b, c, c->files[i]);
	bytes_put_number(b, c->nfuncs);
	for (uint32_t i = 0; i < c->nfuncs; i++) {
		put_text(b, c, c->funcs[i].name);
		bytes_put_number(b, c->funcs[i].kind);
		bytes_put_number(b, c->funcs[i].number);
		put_or_none(b, c->funcs[i].file);
		bytes_put_number(b, c->funcs[i].line);
	}
}

static void put_nodes(struct outbytes *b, const struct export_model *c)
{
	bytes_put_number(b, c->nnodes);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		put_or_none(b, c->nodes[i].parent);
		bytes_put_number(b, c->nodes[i].func);
	}
}

static void put_procs(struct outbytes *b, const struct export_model *c)
{
	bytes_put_number(b, c->nprocs);
	for (uint32_t i = 0; i < c->nprocs; i++) {
		const struct export_model_proc *proc = &c->procs[i];

		bytes_put_number(b, (uint64_t)proc->pid);
		bytes_put_number(b, proc->image);
		put_text(b, c, proc->comm);
		put_text(b, c, proc->user);
		put_text(b, c, proc->command);
		put_text(b, c, proc->group);
		put_text(b, c, proc->service);
	}
	bytes_put_number(b, c->nthreads);
	for (uint32_t i = 0; i < c->nthreads; i++) {
		bytes_put_number(b, c->threads[i].proc);
		bytes_put_number(b, c->threads[i].tid);
		put_text(b, c, c->threads[i].comm);
	}
}

static void put_samples(struct outbytes *b, const struct export_model *c)
{
	bytes_put_number(b, c->nsamples);
	for (size_t i = 0; i < c->nsamples; i++) {
		const struct export_model_sample *sample = &c->samples[i];

		bytes_put_number(b, sample->proc);
		bytes_put_number(b, sample->tid);
		put_or_none(b, sample->node);
		bytes_put_number(b, sample->count);
		bytes_put_number(b, sample->cpu);
		bytes_put_number(b, sample->weight);
	}
}

static int compress_all(const struct outbytes *b, uint8_t **data, size_t *size)
{
	size_t room = ZSTD_compressBound(b->size), n;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	*data = b->failed || b->size > PUSH_PACK_MAX || !zstd ? NULL : malloc(room);
	if (*data) {
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
		n = ZSTD_compress2(zstd, *data, room, b->data, b->size);
		if (ZSTD_isError(n)) {
			free(*data);
			*data = NULL;
		}
		*size = n;
	}
	ZSTD_freeCCtx(zstd);
	return *data ? 0 : -ENOMEM;
}

int push_pack(const struct export_model *c, const struct push_options *options, const char *host,
	      uint8_t **data, size_t *size, size_t *count)
{
	struct export_model ordered;
	struct outbytes b = {0};
	int err = make_ordered(c, options, host, &ordered);

	*data = NULL;
	if (err)
		return err;
	put_head(&b, &ordered, host);
	put_funcs(&b, &ordered);
	put_nodes(&b, &ordered);
	put_procs(&b, &ordered);
	put_samples(&b, &ordered);
	*count = ordered.nsamples;
	export_model_free(&ordered);
	err = compress_all(&b, data, size);
	bytes_free(&b);
	return err;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Each returns -ENOMEM, or leaves c->bad, which the caller looks at. */

static int get_text(struct cursor *b, struct export_model *c, size_t *at)
{
	char text[2048]; /* more than any name or path has */

	cursor_clean(b, text, sizeof(text));
	return textpool_add(&c->pool, text, at);
}

/* How many items follow, of at least so many bytes each: not more than there can be. */
static uint32_t get_count(struct cursor *b, uint32_t most, size_t least)
{
	uint32_t n = cursor_number32(b, most);

	if (n > (size_t)(b->end - b->at) / least) {
		b->bad = true;
		return 0;
	}
	return n;
}

/* The number of one of `count` items. */
static uint32_t get_index(struct cursor *b, uint32_t count)
{
	if (!count)
		b->bad = true;
	return count ? cursor_number32(b, count - 1) : 0;
}

static uint32_t get_or_none(struct cursor *b, uint32_t count)
{
	uint32_t number = cursor_number32(b, count);

	return number ? number - 1 : EXPORT_MODEL_NONE;
}

static int get_head(struct cursor *b, struct export_model *c, char host[PUSH_HOST_MAX])
{
	struct profile_health *h = &c->health;

	if (GROW(c->slices, 0, c->slices_room, UINT32_MAX))
		return -ENOMEM;
	cursor_clean(b, host, PUSH_HOST_MAX);
	c->measure = (enum measure)cursor_number32(b, MEASURE_OFF);
	c->slices[0].time = cursor_number(b);
	cursor_clean(b, h->event, sizeof(h->event));
	h->elapsed = c->slices[0].elapsed = cursor_number(b);
	h->frequency = cursor_number32(b, 1000000);
	h->counted = cursor_number(b);
	h->ncpus = cursor_number32(b, CPU_MOST);
	c->nslices = c->per_slice = c->in_slice = 1;
	return 0;
}

static int get_modules(struct cursor *b, struct export_model *c)
{
	uint32_t n = get_count(b, EXPORT_MODEL_NODES_MAX, 2);

	if (GROW_TO(c->modules, (size_t)n + 1, c->modules_room, UINT32_MAX))
		return -ENOMEM;
	for (; c->nmodules < n && !b->bad; c->nmodules++)
		if (get_text(b, c, &c->modules[c->nmodules].name) ||
		    get_text(b, c, &c->modules[c->nmodules].build))
			return -ENOMEM;
	n = get_count(b, EXPORT_MODEL_NODES_MAX, 1);
	if (GROW_TO(c->files, (size_t)n + 1, c->files_room, UINT32_MAX))
		return -ENOMEM;
	for (; c->nfiles < n && !b->bad; c->nfiles++)
		if (get_text(b, c, &c->files[c->nfiles]))
			return -ENOMEM;
	return 0;
}

static int get_funcs(struct cursor *b, struct export_model *c)
{
	uint32_t n = get_count(b, EXPORT_MODEL_NODES_MAX, 5);

	if (GROW_TO(c->funcs, (size_t)n + 1, c->funcs_room, UINT32_MAX))
		return -ENOMEM;
	for (; c->nfuncs < n && !b->bad; c->nfuncs++) {
		struct export_model_func *func = &c->funcs[c->nfuncs];

		if (get_text(b, c, &func->name))
			return -ENOMEM;
		func->kind = (enum func_kind)cursor_number32(b, KIND_MAX);
		func->number = get_index(b, c->nmodules);
		func->file = get_or_none(b, c->nfiles);
		func->line = cursor_number32(b, UINT32_MAX);
		func->module = b->bad ? func->name : c->modules[func->number].name;
	}
	return 0;
}

static int get_nodes(struct cursor *b, struct export_model *c)
{
	uint32_t n = get_count(b, EXPORT_MODEL_NODES_MAX + 1, 2);

	if (GROW_TO(c->nodes, (size_t)n + 1, c->nodes_room, UINT32_MAX))
		return -ENOMEM;
	for (; c->nnodes < n && !b->bad; c->nnodes++) {
		struct export_model_node *node = &c->nodes[c->nnodes];

		node->parent = get_or_none(b, c->nnodes);
		node->func = get_index(b, c->nfuncs);
		node->depth = b->bad || node->parent == EXPORT_MODEL_NONE
				      ? 1
				      : c->nodes[node->parent].depth + 1;
	}
	return 0;
}

static int get_procs(struct cursor *b, struct export_model *c)
{
	uint32_t n = get_count(b, EXPORT_MODEL_PROCS_MAX + 1, 7);

	if (GROW_TO(c->procs, (size_t)n + 1, c->procs_room, UINT32_MAX))
		return -ENOMEM;
	for (; c->nprocs < n && !b->bad; c->nprocs++) {
		struct export_model_proc *proc = &c->procs[c->nprocs];

		*proc = (struct export_model_proc){.pid = (pid_t)cursor_number32(b, INT32_MAX),
						   .image = cursor_number(b)};
		if (get_text(b, c, &proc->comm) || get_text(b, c, &proc->user) ||
		    get_text(b, c, &proc->command) || get_text(b, c, &proc->group) ||
		    get_text(b, c, &proc->service))
			return -ENOMEM;
	}
	return 0;
}

static int get_threads(struct cursor *b, struct export_model *c)
{
	uint32_t n = get_count(b, EXPORT_MODEL_THREADS_MAX, 3);

	while (n-- && !b->bad) {
		uint32_t proc = get_index(b, c->nprocs), tid = cursor_number32(b, INT32_MAX);
		char comm[16];

		cursor_clean(b, comm, sizeof(comm));
		if (!b->bad && export_model_thread_add(c, proc, tid, comm))
			return -ENOMEM;
	}
	return 0;
}

static int get_samples(struct cursor *b, struct export_model *c)
{
	uint32_t n = get_count(b, EXPORT_MODEL_SAMPLES_MAX * 2, 6);

	if (GROW_TO(c->samples, (size_t)n + 1, c->samples_room, SIZE_MAX))
		return -ENOMEM;
	for (; c->nsamples < n && !b->bad; c->nsamples++) {
		struct export_model_sample *sample = &c->samples[c->nsamples];

		*sample = (struct export_model_sample){.proc = get_index(b, c->nprocs),
						       .tid = cursor_number32(b, INT32_MAX),
						       .node = get_or_none(b, c->nnodes)};
		sample->count = cursor_number(b) & ((1ull << 48) - 1);
		sample->cpu = (uint16_t)cursor_number32(b, CPU_MOST);
		sample->weight = cursor_number(b);
		c->count += sample->count;
		c->weight += sample->weight;
	}
	return 0;
}

static int get_all(struct cursor *b, struct export_model *c, char host[PUSH_HOST_MAX])
{
	static int (*const parts[])(struct cursor *, struct export_model *) = {
		get_modules, get_funcs, get_nodes, get_procs, get_threads, get_samples};
	int err = get_head(b, c, host);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = parts[i](b, c);
	return err ? err : b->bad || b->at != b->end || !c->nsamples ? -EBADMSG : 0;
}

int push_unpack(const uint8_t *data, size_t size, struct export_model *c, char host[PUSH_HOST_MAX])
{
	unsigned long long full = ZSTD_getFrameContentSize(data, size);
	uint8_t *plain;
	struct cursor b;
	size_t n;
	int err;

	*c = (struct export_model){0};
	if (full == ZSTD_CONTENTSIZE_UNKNOWN || full == ZSTD_CONTENTSIZE_ERROR || !full ||
	    full > PUSH_PACK_MAX)
		return -EBADMSG;
	plain = malloc((size_t)full);
	if (!plain)
		return -ENOMEM;
	n = ZSTD_decompress(plain, (size_t)full, data, size);
	b = (struct cursor){plain, plain + full, ZSTD_isError(n) || n != full};
	err = b.bad ? -EBADMSG : get_all(&b, c, host);
	free(plain);
	if (err)
		export_model_free(c);
	return err;
}
