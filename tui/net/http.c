// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What libcurl is asked for, and what it found. Redirects are not followed when something is sent:
 * they would take secrets elsewhere. A server that is slow has the time of the settings; a name
 * server that hangs holds up only the thread of the request, and not the end of the program.
 */
#include "tui/net/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"
#include "symbols/base/thread.h"
#include "tui/net/curl.h"

#if HAVE_CURL

#include <ctype.h>
#include <strings.h>
#include <time.h>

#define CONNECT_SECONDS 10l
#define WAIT_MAX	86400 /* seconds, of Retry-After */
#define REDIRECTS_MAX	5l
#define GRPC_HEAD	5 /* bytes before a message: whether it is compressed, and its size */
#define AGENT		"stacktop"
#define SECRET_LEAST	4 /* bytes */

struct http {
	const struct curl_library *curl;
	CURL *easy;
	struct curl_slist *secrets; /* headers of the settings */
	unsigned int seconds;
	char *ca;
	uint8_t body[HTTP_REPLY_MAX];
	/* of the request that is under way; libcurl keeps the address of its words */
	char why[CURL_ERROR_SIZE];
	struct http_reply *reply;
	const atomic_bool *stop;
};

/* --- what comes back ------------------------------------------------------------------------- */

static size_t keep_body(char *data, size_t one, size_t n, void *arg)
{
	struct http *h = arg;
	size_t room = sizeof(h->body) - h->reply->size;

	(void)one; /* is 1 */
	memcpy(h->body + h->reply->size, data, n < room ? n : room);
	h->reply->size += n < room ? n : room;
	return n;
}

/* The value of the header if it has that name, else NULL. */
static const char *value_of(const char *line, const char *name)
{
	size_t length = strlen(name);

	if (strncasecmp(line, name, length) != 0 || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

/* RFC 9110 section 10.2.3. */
static unsigned int seconds_of(const struct http *h, const char *value)
{
	long seconds;
	char *end;

	if (isdigit((unsigned char)*value)) {
		seconds = strtol(value, &end, 10);
	} else {
		time_t then = h->curl->getdate(value, NULL);

		seconds = then < 0 ? 0 : (long)(then - time(NULL));
	}
	return (unsigned int)(seconds < 0 ? 0 : seconds > WAIT_MAX ? WAIT_MAX : seconds);
}

static int hex(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (tolower((unsigned char)c) - 'a') + 10;
}

/* grpc-message has what is not plain ASCII as %XX. */
static void message_of(char *to, size_t size, const char *value)
{
	char plain[512];
	size_t n = 0;

	for (; *value && n < sizeof(plain); value++)
		if (*value == '%' && isxdigit((unsigned char)value[1]) &&
		    isxdigit((unsigned char)value[2])) {
			plain[n++] = (char)(hex(value[1]) << 4 | hex(value[2]));
			value += 2;
		} else {
			plain[n++] = *value;
		}
	text_clean(to, size, plain, n);
}

/* What is no code of gRPC is UNKNOWN, and never OK. */
static int status_of(const char *value)
{
	char *end;
	unsigned long code = strtoul(value, &end, 10);

	return code > 255 || *end ? 2 : (int)code;
}

/* Headers and, of gRPC, the trailers. A proxy's or "100 Continue" come before those of the reply.
 */
static size_t keep_header(char *data, size_t one, size_t n, void *arg)
{
	struct http *h = arg;
	struct http_reply *reply = h->reply;
	char line[1400];
	const char *value;
	size_t length = n;

	(void)one;
	while (length && (data[length - 1] == '\r' || data[length - 1] == '\n'))
		length--;
	text_clean(line, sizeof(line), data, length);
	if (!strncmp(line, "HTTP/", 5)) {
		reply->wait = 0;
		reply->grpc_status = -1;
		reply->type[0] = reply->details[0] = reply->error[0] = '\0';
	}
	value = value_of(line, "content-type");
	if (value)
		text_clean(reply->type, sizeof(reply->type), value, strcspn(value, "; \t"));
	value = value_of(line, "retry-after");
	if (value)
		reply->wait = seconds_of(h, value);
	value = value_of(line, "grpc-status");
	if (value && isdigit((unsigned char)*value))
		reply->grpc_status = status_of(value);
	value = value_of(line, "grpc-message");
	if (value)
		message_of(reply->error, sizeof(reply->error), value);
	value = value_of(line, "grpc-status-details-bin");
	if (value && strlen(value) < sizeof(reply->details))
		memcpy(reply->details, value, strlen(value) + 1);
	return n;
}

static int look_at_stop(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct http *h = arg;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return h->stop && atomic_load(h->stop);
}

/* --- what is sent ---------------------------------------------------------------------------- */

static bool add(const struct http *h, struct curl_slist **list, const char *name, const char *value)
{
	char line[256];
	struct curl_slist *longer;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	longer = h->curl->slist_append(*list, line);
	if (longer)
		*list = longer;
	return longer != NULL;
}

static struct curl_slist *headers_of(const struct http *h, const struct http_request *r)
{
	struct curl_slist *list = NULL;
	bool whole = true;

	for (const struct curl_slist *s = h->secrets; s && whole; s = s->next) {
		struct curl_slist *longer = h->curl->slist_append(list, s->data);

		whole = longer != NULL;
		list = longer ? longer : list;
	}
	if (r->type)
		whole = whole && add(h, &list, "Content-Type", r->type) &&
			add(h, &list, "Expect", "");
	if (r->encoding)
		whole = whole &&
			add(h, &list, r->grpc ? "grpc-encoding" : "Content-Encoding", r->encoding);
	if (r->grpc)
		whole = whole && add(h, &list, "TE", "trailers");
	/* NULL would send the request without them. */
	if (!whole || !list) {
		h->curl->slist_free_all(list);
		return NULL;
	}
	return list;
}

static bool set_general(struct http *h, const char *url)
{
	const struct curl_library *c = h->curl;

	c->easy_reset(h->easy);
	c->easy_setopt(h->easy, CURLOPT_URL, url);
	c->easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1l);
#if LIBCURL_VERSION_NUM >= 0x075700
	c->easy_setopt(h->easy, CURLOPT_QUICK_EXIT, 1l);
#endif
#if LIBCURL_VERSION_NUM >= 0x075500
	c->easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	c->easy_setopt(h->easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
	c->easy_setopt(h->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	c->easy_setopt(h->easy, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	c->easy_setopt(h->easy, CURLOPT_USERAGENT, AGENT);
	c->easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->why);
	c->easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	c->easy_setopt(h->easy, CURLOPT_NOPROGRESS, 0l);
	c->easy_setopt(h->easy, CURLOPT_XFERINFOFUNCTION, look_at_stop);
	c->easy_setopt(h->easy, CURLOPT_XFERINFODATA, h);
	h->why[0] = '\0';
	/* In place of the system's, which are in a file or in a folder. */
	return !h->ca || (!c->easy_setopt(h->easy, CURLOPT_CAINFO, h->ca) &&
			  !c->easy_setopt(h->easy, CURLOPT_CAPATH, NULL));
}

static void set_request(struct http *h, const struct http_request *r, const void *body, size_t size,
			struct curl_slist *headers)
{
	const struct curl_library *c = h->curl;

	c->easy_setopt(h->easy, CURLOPT_TIMEOUT, (long)h->seconds);
	c->easy_setopt(h->easy, CURLOPT_HTTPHEADER, headers);
	c->easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, keep_body);
	c->easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	c->easy_setopt(h->easy, CURLOPT_HEADERFUNCTION, keep_header);
	c->easy_setopt(h->easy, CURLOPT_HEADERDATA, h);
	c->easy_setopt(h->easy, CURLOPT_HTTP_VERSION,
		       !r->grpc ? (long)CURL_HTTP_VERSION_1_1
		       : strncasecmp(r->url, "https:", 6) == 0
			       ? (long)CURL_HTTP_VERSION_2TLS
			       : (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	/* libcurl 7.88 breaks the second request of such a connection. */
	if (r->grpc && strncasecmp(r->url, "https:", 6) != 0)
		c->easy_setopt(h->easy, CURLOPT_FORBID_REUSE, 1l);
	if (!r->type)
		return;
	c->easy_setopt(h->easy, CURLOPT_POST, 1l);
	c->easy_setopt(h->easy, CURLOPT_POSTFIELDS, body);
	c->easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
}

/* --- all ------------------------------------------------------------------------------------- */

/* What stands for a message of gRPC; the caller frees it. NULL: no memory. */
static uint8_t *framed(const struct http_request *r)
{
	uint8_t *data = malloc(GRPC_HEAD + r->size);

	if (!data)
		return NULL;
	data[0] = r->encoding != NULL;
	for (int i = 0; i < 4; i++)
		data[1 + i] = (uint8_t)(r->size >> (24 - 8 * i));
	if (r->size)
		memcpy(data + GRPC_HEAD, r->body, r->size);
	return data;
}

/* In words that stay the same while nothing changes: libcurl's own have the time that it took. */
static void explain(struct http *h, CURLcode code)
{
	struct http_reply *reply = h->reply;
	const char *why = h->why;
	long os = 0;

	h->curl->easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &os);
	reply->certificate = code == CURLE_PEER_FAILED_VERIFICATION;
	reply->unreachable = code == CURLE_COULDNT_RESOLVE_HOST ||
			     code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_COULDNT_CONNECT ||
			     code == CURLE_OPERATION_TIMEDOUT;
	if (code == CURLE_COULDNT_CONNECT && os)
		why = strerror((int)os);
	else if (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT ||
		 strstr(why, "://") || strcasestr(why, "proxy"))
		/* It may quote the URL of a proxy, with its password. */
		why = h->curl->easy_strerror(code);
	if (*why)
		text_clean(reply->error, sizeof(reply->error), why, strlen(why));
	else if (!*reply->error)
		snprintf(reply->error, sizeof(reply->error), "%s", h->curl->easy_strerror(code));
}

/* The message of the server that goes with a failure. */
static void quote(struct http *h)
{
	struct http_reply *reply = h->reply;

	if (!*reply->error && reply->status >= 400 && reply->size)
		text_clean(reply->error, sizeof(reply->error), (const char *)h->body, reply->size);
}

/* A server may repeat what it was sent: values of secret headers, and what follows a blank in them.
 */
static void censor(struct http *h)
{
	for (const struct curl_slist *s = h->secrets; s; s = s->next) {
		const char *value = strchr(s->data, ':');
		char *at = h->reply->error;

		value = value ? value + 1 + strspn(value + 1, " \t") : "";
		if (strchr(value, ' '))
			value = strchr(value, ' ') + 1;
		if (strlen(value) < SECRET_LEAST)
			continue;
		for (; (at = strstr(at, value)); at += strlen(value))
			memset(at, '*', strlen(value));
	}
}

int http_send(struct http *h, const struct http_request *request, struct http_reply *reply,
	      const atomic_bool *stop)
{
	struct curl_slist *headers = headers_of(h, request);
	uint8_t *frame = request->grpc ? framed(request) : NULL;
	long status = 0;
	CURLcode code;

	*reply = (struct http_reply){.grpc_status = -1, .body = h->body};
	if ((request->type && !headers) || (request->grpc && !frame) ||
	    !set_general(h, request->url)) {
		h->curl->slist_free_all(headers);
		free(frame);
		return -ENOMEM;
	}
	h->reply = reply;
	h->stop = stop;
	set_request(h, request, frame ? frame : request->body,
		    frame ? GRPC_HEAD + request->size : request->size, headers);
	code = h->curl->easy_perform(h->easy);
	h->curl->easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	/* A reply that was cut off is none: what the server has taken is not known. But a refusal
	 * is one, though the connection may break because not all was read. */
	reply->status = code == CURLE_OK || status >= 400 ? (int)status : 0;
	if (!reply->status)
		explain(h, code);
	quote(h);
	censor(h);
	if (request->grpc && reply->size >= GRPC_HEAD) {
		reply->body += GRPC_HEAD;
		reply->size -= GRPC_HEAD;
	}
	h->curl->slist_free_all(headers);
	free(frame);
	h->reply = NULL;
	return code == CURLE_ABORTED_BY_CALLBACK ? -ECANCELED : 0;
}

static bool keep_secrets(struct http *h, const struct http_settings *settings)
{
	for (size_t i = 0; i < settings->nheaders; i++) {
		struct curl_slist *longer = h->curl->slist_append(h->secrets, settings->headers[i]);

		if (!longer)
			return false;
		h->secrets = longer;
	}
	return true;
}

int http_new(const struct http_settings *settings, struct http **out)
{
	const struct curl_library *curl = curl_library();
	struct http *h;

	*out = NULL;
	if (!curl)
		return -ENOTSUP;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->curl = curl;
	h->seconds = settings->seconds;
	h->easy = curl->easy_init();
	h->ca = settings->ca ? strdup(settings->ca) : NULL;
	if (!h->easy || (settings->ca && !h->ca) || !keep_secrets(h, settings)) {
		http_free(h);
		return -ENOMEM;
	}
	*out = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	if (h->easy)
		h->curl->easy_cleanup(h->easy);
	h->curl->slist_free_all(h->secrets);
	free(h->ca);
	free(h);
}

/* --- files ----------------------------------------------------------------------------------- */

struct http_file {
	FILE *to;
	uint64_t left;
	bool large;
};

static int look_at_signals(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)arg;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return thread_must_end();
}

static size_t keep_file(char *data, size_t one, size_t n, void *arg)
{
	struct http_file *file = arg;

	(void)one;
	file->large = n > file->left;
	if (file->large)
		return 0;
	file->left -= n;
	return fwrite(data, 1, n, file->to);
}

int http_fetch(const char *url, FILE *to, uint64_t most, char *error, size_t size)
{
	const struct http_settings settings = {0};
	struct http_file file = {to, most, false};
	const char *why;
	struct http *h;
	CURLcode code;
	int err = http_new(&settings, &h);

	if (err) {
		snprintf(error, size, "%s", http_missing() ? http_missing() : strerror(-err));
		return err;
	}
	set_general(h, url); /* without certificates of its own it does not fail */
	h->curl->easy_setopt(h->easy, CURLOPT_FOLLOWLOCATION, 1l);
	h->curl->easy_setopt(h->easy, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	h->curl->easy_setopt(h->easy, CURLOPT_FAILONERROR, 1l);
	h->curl->easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, keep_file);
	h->curl->easy_setopt(h->easy, CURLOPT_WRITEDATA, &file);
	h->curl->easy_setopt(h->easy, CURLOPT_XFERINFOFUNCTION, look_at_signals);
	/* A profile that is being made may take as long as it likes, one that trickles may not. */
	h->curl->easy_setopt(h->easy, CURLOPT_TIMEOUT, 600l);
	code = h->curl->easy_perform(h->easy);
	why = *h->why ? h->why : h->curl->easy_strerror(code);
	if (code == CURLE_ABORTED_BY_CALLBACK)
		snprintf(error, size, "interrupted");
	else if (file.large)
		snprintf(error, size, "has more than %llu MiB", (unsigned long long)most >> 20);
	else if (code != CURLE_OK)
		text_clean(error, size, why, strlen(why));
	http_free(h);
	return code == CURLE_OK && !ferror(to) ? 0 : file.large ? -EFBIG : -EIO;
}

#else

int http_new(const struct http_settings *settings, struct http **out)
{
	(void)settings;
	*out = NULL;
	return -ENOTSUP;
}

void http_free(struct http *h)
{
	(void)h;
}

int http_send(struct http *h, const struct http_request *request, struct http_reply *reply,
	      const atomic_bool *stop)
{
	(void)h;
	(void)request;
	(void)stop;
	*reply = (struct http_reply){.grpc_status = -1};
	return -ENOTSUP;
}

int http_fetch(const char *url, FILE *to, uint64_t most, char *error, size_t size)
{
	(void)url;
	(void)to;
	(void)most;
	snprintf(error, size, "%s", http_missing());
	return -ENOTSUP;
}

#endif
