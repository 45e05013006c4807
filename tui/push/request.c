// SPDX-License-Identifier: GPL-2.0-or-later
/* See request.h: what the protocols share, and which body goes with which. */
#include "tui/push/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "symbols/base/keyhash.h"
#include "tui/export/export_priv.h"

#define REQUEST_MAX ((size_t)64 << 20) /* bytes, as OpenTelemetry recommends for both sides */

void push_request_free(struct push_request *r)
{
	bytes_free(&r->body);
}

void push_part_id(const struct push_piece *piece, uint64_t number, uint8_t id[PUSH_ID])
{
	uint64_t of[4] = {piece->first, piece->end, number, 0};

	for (int half = 0; half < 2; half++) {
		uint64_t hash;

		of[3] = (uint64_t)half;
		hash = siphash(piece->id, of, sizeof(of));
		memcpy(id + 8 * half, &hash, sizeof(hash));
	}
}

size_t push_service_end(const struct push_piece *piece, size_t first)
{
	const struct export_model *c = piece->c;
	const char *service = export_model_text(c, c->procs[c->samples[first].proc].service);
	size_t end = first + 1;

	while (end < piece->end &&
	       (c->samples[end].proc == c->samples[end - 1].proc ||
		!strcmp(export_model_text(c, c->procs[c->samples[end].proc].service), service)))
		end++;
	return end;
}

const char *push_profile_name(const struct export_model *c)
{
	if (c->measure == MEASURE_OFF)
		return "off_cpu";
	return export_period(c) ? "process_cpu" : export_counted(c);
}

/* In place. */
static int gzip(struct outbytes *b)
{
	z_stream z = {0};
	uint8_t *packed;
	size_t room;
	int err;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, b->size);
	packed = malloc(room);
	z.next_in = b->data;
	z.avail_in = (unsigned int)b->size;
	z.next_out = packed;
	z.avail_out = (unsigned int)room;
	err = packed && deflate(&z, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
	if (!err) {
		bytes_free(b);
		*b = (struct outbytes){.data = packed, .size = z.total_out, .room = room};
	} else {
		free(packed);
	}
	deflateEnd(&z);
	return err;
}

int push_request_make(struct push_request *out, enum push_protocol protocol,
		      const struct push_options *options, const struct push_piece *piece)
{
	static const struct {
		const char *type;
		bool gzip, grpc;
	} forms[PUSH_PROTOCOLS] = {
		[PUSH_PYROSCOPE] = {"application/proto", false, false},
		[PUSH_INGEST] = {"application/octet-stream", false, false},
		[PUSH_PARCA] = {"application/json", false, false},
		[PUSH_PARCA_GRPC] = {"application/grpc+proto", false, true},
		[PUSH_OTLP] = {"application/x-protobuf", true, false},
		[PUSH_OTLP_GRPC] = {"application/grpc+proto", true, true},
	};
	int err;

	/* One for which there was no memory is no reason to make no other. */
	if (out->body.failed)
		bytes_free(&out->body);
	out->body.size = 0;
	out->query[0] = '\0';
	out->type = forms[protocol].type;
	out->encoding = forms[protocol].gzip ? "gzip" : NULL;
	out->grpc = forms[protocol].grpc;
	out->end = piece->end;
	if (protocol == PUSH_INGEST)
		err = push_ingest(out, options, piece);
	else if (forms[protocol].gzip)
		err = push_otlp(&out->body, options, piece, &out->profiles);
	else
		err = push_series(&out->body, protocol, options, piece, &out->profiles);
	if (!err && out->body.failed)
		err = -ENOMEM;
	if (!err && out->body.size > REQUEST_MAX)
		err = -EFBIG;
	return !err && forms[protocol].gzip ? gzip(&out->body) : err;
}
