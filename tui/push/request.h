/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_REQUEST_H
#define STACKTOP_TUI_PUSH_REQUEST_H

/*
 * What is sent: some samples of a packed model (pack.h) in the words of a protocol. The same
 * samples with the same id give the same bytes, however often they are made.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/export/export_model.h"
#include "tui/push/target.h"
#include "tui/util/bytes.h"

#define PUSH_ID 16 /* bytes */

/* Samples first..end-1, which are in the order of push_pack. */
struct push_piece {
	const struct export_model *c;
	const char *host;
	size_t first, end;
	uint8_t id[PUSH_ID]; /* of all of c's samples */
};

struct push_request {
	struct outbytes body;
	const char *type;	      /* Content-Type */
	const char *encoding;	      /* NULL: none */
	char query[3 * PUSH_URL_MAX]; /* behind the URL, from its ? on; "" */
	bool grpc;
	size_t end; /* the samples before it are in the request: all, or those of one service */
	size_t profiles;
};

/*
 * out is zeroed, or was used for another request; push_request_free in the end. -ENOMEM, or -EFBIG:
 * larger than any receiver takes.
 */
int push_request_make(struct push_request *out, enum push_protocol protocol,
		      const struct push_options *options, const struct push_piece *piece);
void push_request_free(struct push_request *r);

/* An id of a part, which nothing else has: of the piece, its samples and a number. */
void push_part_id(const struct push_piece *piece, uint64_t number, uint8_t id[PUSH_ID]);
/* The end of the run of samples from `first` on whose process has the same service. */
size_t push_service_end(const struct push_piece *piece, size_t first);
/* What is counted: "process_cpu", "off_cpu", or the event. */
const char *push_profile_name(const struct export_model *c);

/*
 * ExportProfilesServiceRequest of OpenTelemetry (opentelemetry-proto, collector/profiles/
 * v1development) of all samples of the piece. *profiles: how many it has. -ENOMEM.
 */
int push_otlp(struct outbytes *out, const struct push_options *options,
	      const struct push_piece *piece, size_t *profiles);
/*
 * A profile of pprof for each service, with its labels, as push.v1.PushRequest (Pyroscope) or
 * parca.profilestore.v1alpha1.WriteRawRequest, the latter also as JSON. -ENOMEM.
 */
int push_series(struct outbytes *out, enum push_protocol protocol,
		const struct push_options *options, const struct push_piece *piece,
		size_t *profiles);
/* The profile of one service, for /ingest, and the query that describes it. -ENOMEM. */
int push_ingest(struct push_request *out, const struct push_options *options,
		const struct push_piece *piece);

#endif
