/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PUSH_TARGET_H
#define STACKTOP_TUI_PUSH_TARGET_H

/*
 * Where profiles are sent, and what they are called there: the URL of --push and the options that
 * go with it. docs/PUSH.md describes them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUSH_URL_MAX	 1024
#define PUSH_LABELS_MAX	 24  /* Pyroscope takes 30 with its own */
#define PUSH_TEXT_MAX	 256 /* bytes of a label's value or of a service's name, and NUL */
#define PUSH_EVERY	 10  /* seconds, the default */
#define PUSH_SPOOL_LEAST ((uint64_t)1 << 20)

enum push_protocol {
	PUSH_ASK,	 /* a plain URL: the server is asked */
	PUSH_PYROSCOPE,	 /* push.v1.PusherService/Push */
	PUSH_INGEST,	 /* Pyroscope's /ingest */
	PUSH_PARCA,	 /* WriteRaw by its gateway for HTTP */
	PUSH_PARCA_GRPC, /* WriteRaw */
	PUSH_OTLP,	 /* profiles of OpenTelemetry over HTTP */
	PUSH_OTLP_GRPC,
	PUSH_PROTOCOLS,
};

struct push_target {
	enum push_protocol protocol;
	char base[PUSH_URL_MAX]; /* "http://host:4040/prefix", without a slash at its end */
	char url[PUSH_URL_MAX];	 /* of requests; "" for PUSH_ASK */
};

/* In messages: "Pyroscope", "OpenTelemetry over gRPC". */
const char *push_protocol_name(enum push_protocol protocol);

/*
 * [pyroscope+|parca+|otlp+]http[s]://HOST[:PORT][/PATH], or grpc[s] in place of http. False: it is
 * no such URL, and error says why. One with a user's name or a password is refused: secrets do not
 * belong where every user can read them.
 */
bool push_target_parse(const char *text, struct push_target *out, char *error, size_t size);
/* The same server by another protocol. */
void push_target_set(struct push_target *target, enum push_protocol protocol);
/*
 * What is asked of a server next that does not know the URL: what older ones have, or proxies that
 * cut off a part of the path. False: there is no more.
 */
bool push_target_other(struct push_target *target);

struct push_label {
	const char *key; /* a letter or _, then these, digits and dots */
	size_t key_length;
	const char *value;
};

struct push_options {
	const char *url;
	double every;	     /* seconds */
	const char *service; /* "{comm}", see push_service */
	struct push_label labels[PUSH_LABELS_MAX];
	size_t nlabels;
	const char *spool; /* a folder; NULL: what waits is kept in memory */
	size_t spool_length;
	uint64_t spool_bytes;
	const char *ca;	     /* a file; NULL: the system's */
	const char *secrets; /* a file of headers; NULL: none */
	bool threads;	     /* are told apart */
	bool no_kernel, no_user, no_inline;
	bool cpu, off;	     /* what is sent: samples, waits */
	unsigned int frames; /* enum frames_mode */
};

/* "K=V" with a clean value, which the label points into. False: it is none. */
bool push_label_parse(const char *text, struct push_label *out);
/* "DIR:SIZE" with a suffix K, M or G. False: it is none. */
bool push_spool_parse(const char *text, struct push_options *out);

struct push_names { /* of a process */
	const char *comm, *user, *group, *host;
	long pid;
};

/*
 * The service that a process belongs to: the rule with {comm}, {user}, {cgroup}, {host} and {pid}
 * replaced. Clean, and never empty. NULL names: only whether the rule makes sense; false: not.
 */
bool push_service(const char *rule, const struct push_names *names, char to[PUSH_TEXT_MAX]);

/* Takes the secrets out of the environment, so that no program that is started has them. Before
 * other threads start; without it they are read there each time. */
void push_secrets_keep(void);
/*
 * Headers from $STACKTOP_PUSH_TOKEN (Authorization: Bearer), $STACKTOP_PUSH_HEADERS and the file:
 * "Name: value" a line. An array of *count texts to be freed by push_secrets_free. -errno with its
 * reason in error, in which no secret stands.
 */
int push_secrets_read(const char *path, char ***list, size_t *count, char *error, size_t size);
void push_secrets_free(char **list, size_t count);

#endif
