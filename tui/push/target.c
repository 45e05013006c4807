// SPDX-License-Identifier: GPL-2.0-or-later
/* See target.h. */
#include "tui/push/target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"
#include "tui/util/smallfile.h"

#define SECRETS_MAX  65536u  /* bytes of a file */
#define OTLP_PORT    ":4317" /* of gRPC, as OpenTelemetry has it */
#define HEADERS_MOST 64u
#define TOKEN	     "STACKTOP_PUSH_TOKEN"
#define HEADERS	     "STACKTOP_PUSH_HEADERS"

#define PARCA_API  "/api" /* before the path of its gateway, which does not see it */
#define PARCA_ROOT "/profiles/writeraw"
#define PARCA_PATH PARCA_API PARCA_ROOT

static const struct {
	const char *name;
	const char *path; /* behind the base */
} protocols[PUSH_PROTOCOLS] = {
	[PUSH_ASK] = {"what it speaks is asked", NULL},
	[PUSH_PYROSCOPE] = {"Pyroscope", "/push.v1.PusherService/Push"},
	[PUSH_INGEST] = {"Pyroscope's /ingest", "/ingest"},
	[PUSH_PARCA] = {"Parca", PARCA_PATH},
	[PUSH_PARCA_GRPC] = {"Parca over gRPC",
			     "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"},
	[PUSH_OTLP] = {"OpenTelemetry", "/v1development/profiles"},
	[PUSH_OTLP_GRPC] = {"OpenTelemetry over gRPC",
			    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/"
			    "Export"},
};

const char *push_protocol_name(enum push_protocol protocol)
{
	return protocols[protocol].name;
}

/* --- the URL --------------------------------------------------------------------------------- */

static const struct {
	const char *name; /* "" for a plain one */
	enum push_protocol http, grpc;
} kinds[] = {
	{"pyroscope+", PUSH_PYROSCOPE, PUSH_PYROSCOPE}, /* with grpc it is OpenTelemetry's */
	{"parca+", PUSH_PARCA, PUSH_PARCA_GRPC},
	{"otlp+", PUSH_OTLP, PUSH_OTLP_GRPC},
	{"", PUSH_ASK, PUSH_OTLP_GRPC},
};

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* What stands between the host and the path: nothing, or a port. */
static const char *wrong_with_port(const char *rest, const char *end)
{
	size_t digits = rest == end ? 0 : strspn(rest + 1, "0123456789");

	if (rest == end)
		return NULL;
	return *rest == ':' && digits && digits <= 5 && rest + 1 + digits == end &&
			       strtoul(rest + 1, NULL, 10) <= UINT16_MAX
		       ? NULL
		       : "has no number up to 65535 as its port";
}

/* HOST[:PORT] of that length, where an address of IPv6 is in brackets (RFC 3986 section 3.2). */
static const char *wrong_with_host(const char *rest, size_t length)
{
	size_t host = *rest == '[' ? strcspn(rest, "]") + 1 : strcspn(rest, ":/");

	if (!host || (*rest == '[' && (host < 3 || host > length)))
		return "names no host";
	return wrong_with_port(rest + host, rest + length);
}

/* What is behind the scheme. NULL: it makes sense; else what is wrong. */
static const char *wrong_with(const char *rest)
{
	size_t host = strcspn(rest, "/");

	for (const char *s = rest; *s; s++)
		if (*s <= ' ' || *s > '~' || strchr("\"<>\\^`{|}", *s))
			return "has a character that a URL can not have";
	if (memchr(rest, '@', host))
		return "has a user or a password, which every user could read: see --push-secrets";
	if (strpbrk(rest, "?#"))
		return "has a query or a fragment";
	return wrong_with_host(rest, host);
}

static void cut_slashes(struct push_target *target)
{
	while (ends_in(target->base, "/"))
		target->base[strlen(target->base) - 1] = '\0';
}

void push_target_set(struct push_target *target, enum push_protocol protocol)
{
	const char *path = protocols[protocol].path;

	target->protocol = protocol;
	target->url[0] = '\0';
	if (!path)
		return;
	/* Bounded: the parser leaves room for the longest path. */
	snprintf(target->url, sizeof(target->url), "%.*s%s", (int)(PUSH_URL_MAX - 1 - strlen(path)),
		 target->base, path);
}

/* A URL that has the path of a protocol at its end has said which it is. */
static void take_path(struct push_target *target)
{
	const char *behind = strchr(strchr(target->base, ':') + 3, '/'); /* the host */

	for (int i = PUSH_PYROSCOPE; behind && i < PUSH_PROTOCOLS; i++) {
		const char *path = protocols[i].path;
		const enum push_protocol kind =
			i == PUSH_INGEST ? PUSH_PYROSCOPE : (enum push_protocol)i;

		if ((target->protocol != PUSH_ASK && target->protocol != kind) ||
		    !ends_in(behind, path))
			continue;
		target->base[strlen(target->base) - strlen(path)] = '\0';
		cut_slashes(target);
		push_target_set(target, (enum push_protocol)i);
		return;
	}
	if (target->protocol == PUSH_PARCA && behind && ends_in(behind, PARCA_ROOT)) {
		memcpy(target->url, target->base, sizeof(target->url));
		target->base[strlen(target->base) - strlen(PARCA_ROOT)] = '\0';
	}
}

bool push_target_parse(const char *text, struct push_target *out, char *error, size_t size)
{
	const char *rest = text, *wrong;
	size_t kind = 0;
	bool grpc, tls;

	while (strncasecmp(text, kinds[kind].name, strlen(kinds[kind].name)) != 0)
		kind++;
	rest += strlen(kinds[kind].name);
	grpc = !strncasecmp(rest, "grpc", 4);
	if (!grpc && strncasecmp(rest, "http", 4) != 0) {
		snprintf(error, size,
			 "is not a URL such as pyroscope+http://HOST:4040, "
			 "parca+https://HOST or otlp+http://HOST:4318");
		return false;
	}
	rest += 4;
	tls = tolower((unsigned char)*rest) == 's';
	rest += tls;
	wrong = strncmp(rest, "://", 3) != 0	   ? "has no ://"
		: strlen(rest) >= PUSH_URL_MAX / 2 ? "is too long"
						   : wrong_with(rest + 3);
	if (wrong) {
		snprintf(error, size, "%s", wrong);
		return false;
	}
	snprintf(out->base, sizeof(out->base), "http%s%s", tls ? "s" : "", rest);
	cut_slashes(out);
	if (kinds[kind].http == PUSH_OTLP && ends_in(out->base, OTLP_PORT))
		grpc = true;
	push_target_set(
		out, grpc ? (kinds[kind].http == PUSH_PYROSCOPE ? PUSH_OTLP_GRPC : kinds[kind].grpc)
			  : kinds[kind].http);
	take_path(out);
	return true;
}

bool push_target_other(struct push_target *target)
{
	const size_t base = strlen(target->base);

	if (target->protocol == PUSH_PYROSCOPE) {
		push_target_set(target, PUSH_INGEST);
		return true;
	}
	if (target->protocol != PUSH_PARCA || strcmp(target->url + base, PARCA_PATH) != 0)
		return false;
	memcpy(target->url + base, PARCA_ROOT, sizeof(PARCA_ROOT));
	return true;
}

/* --- labels and services --------------------------------------------------------------------- */

bool push_label_parse(const char *text, struct push_label *out)
{
	char clean[PUSH_TEXT_MAX];
	const char *s = text;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_' || *s == '.')
		s++;
	if (*s != '=' || !s[1] || s - text >= PUSH_TEXT_MAX || strlen(s + 1) >= PUSH_TEXT_MAX)
		return false;
	text_clean(clean, sizeof(clean), s + 1, strlen(s + 1));
	if (strcmp(clean, s + 1) != 0)
		return false;
	*out = (struct push_label){text, (size_t)(s - text), s + 1};
	return true;
}

bool push_spool_parse(const char *text, struct push_options *out)
{
	const char *colon = strrchr(text, ':');
	unsigned long long number;
	unsigned int shift;
	char *end;

	if (!colon || colon == text || !isdigit((unsigned char)colon[1]))
		return false;
	errno = 0;
	number = strtoull(colon + 1, &end, 10);
	shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (errno || end[shift ? 1 : 0] || number > UINT64_MAX >> (shift + 8) ||
	    (uint64_t)number << shift < PUSH_SPOOL_LEAST)
		return false;
	out->spool = text;
	out->spool_length = (size_t)(colon - text);
	out->spool_bytes = (uint64_t)number << shift;
	return true;
}

/* The text for a word in braces; NULL: there is no such word. */
static const char *word_of(const char *word, size_t length, const struct push_names *n, char *pid)
{
	const struct {
		const char *name, *text;
	} words[] = {{"comm", n ? n->comm : ""},
		     {"user", n ? n->user : ""},
		     {"cgroup", n ? n->group : ""},
		     {"host", n ? n->host : ""},
		     {"pid", pid}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].name) == length && !strncmp(words[i].name, word, length))
			return words[i].text;
	return NULL;
}

bool push_service(const char *rule, const struct push_names *names, char to[PUSH_TEXT_MAX])
{
	char text[2 * PUSH_TEXT_MAX] = "", pid[24];
	size_t n = 0;

	snprintf(pid, sizeof(pid), "%ld", names ? names->pid : 0);
	for (const char *s = rule; *s && n < sizeof(text) - 1;) {
		size_t length = strcspn(s + 1, "}");
		const char *word;

		if (*s == '}')
			return false;
		if (*s != '{') {
			text[n++] = *s++;
			continue;
		}
		word = s[1 + length] ? word_of(s + 1, length, names, pid) : NULL;
		if (!word)
			return false;
		for (; *word && n < sizeof(text) - 1; word++)
			text[n++] = *word;
		s += length + 2;
	}
	n = text_clean(to, PUSH_TEXT_MAX, text, n);
	if (!n)
		snprintf(to, PUSH_TEXT_MAX, "unknown");
	return *rule != '\0';
}

/* --- secrets --------------------------------------------------------------------------------- */

static char *kept_token, *kept_headers; /* of the environment; see push_secrets_keep */

static char *keep(const char *name)
{
	const char *value = getenv(name);
	char *copy = value ? strdup(value) : NULL;

	if (copy)
		unsetenv(name);
	return copy;
}

void push_secrets_keep(void)
{
	kept_token = keep(TOKEN);
	kept_headers = keep(HEADERS);
}

static const char *secret_of(const char *name, const char *kept)
{
	return kept ? kept : getenv(name);
}

static int add_header(char ***list, size_t *count, size_t *room, const char *line, size_t length)
{
	char *copy;

	if (*count >= HEADERS_MOST)
		return -E2BIG;
	if (GROW(*list, *count, *room, HEADERS_MOST))
		return -ENOMEM;
	copy = strndup(line, length);
	if (!copy)
		return -ENOMEM;
	(*list)[(*count)++] = copy;
	return 0;
}

/* RFC 9110 section 5: a name is a token, and a value has no control characters. */
static bool is_header(const char *line, size_t length)
{
	const char *colon = memchr(line, ':', length);

	if (!colon || colon == line)
		return false;
	for (const char *s = line; s < colon; s++)
		if (!*s || (!isalnum((unsigned char)*s) && !strchr("!#$%&'*+-.^_`|~", *s)))
			return false;
	for (const char *s = colon; s < line + length; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return false;
	return true;
}

/* The number of the line that is no header, or 0; *err is -errno. */
static unsigned int add_lines(char ***list, size_t *count, size_t *room, const char *text,
			      size_t size, int *err)
{
	const char *end = text + size, *next;

	for (unsigned int number = 1; text < end && !*err; text = next, number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);

		next = stop ? stop + 1 : end;
		while (length && isspace((unsigned char)text[length - 1]))
			length--;
		if (!length || *text == '#')
			continue;
		if (!is_header(text, length))
			return number;
		*err = add_header(list, count, room, text, length);
	}
	return 0;
}

int push_secrets_read(const char *path, char ***list, size_t *count, char *error, size_t size)
{
	const char *token = secret_of(TOKEN, kept_token), *more = secret_of(HEADERS, kept_headers);
	char *text = NULL, *bearer = NULL;
	size_t room = 0, length = 0;
	unsigned int line = 0;
	int err = 0;

	*list = NULL;
	*count = 0;
	*error = '\0';
	if (path)
		err = smallfile_read(path, SECRETS_MAX, SMALLFILE_SOLE, &text, &length);
	if (err)
		snprintf(error, size, "%s: %s", path,
			 err == -EPERM ? "belongs to another user, or others may write to it"
				       : strerror(-err));
	if (!err && token && *token && asprintf(&bearer, "Authorization: Bearer %s", token) < 0)
		err = -ENOMEM;
	/* A token of two lines would be two headers. */
	if (!err && bearer &&
	    (add_lines(list, count, &room, bearer, strlen(bearer), &err) || *count > 1))
		line = 1;
	if (!err && !line && more)
		line = add_lines(list, count, &room, more, strlen(more), &err);
	if (!err && line)
		snprintf(error, size, "the environment's headers make no sense: line %u", line);
	if (!err && !line && text) {
		line = add_lines(list, count, &room, text, length, &err);
		if (line)
			snprintf(error, size, "%s: line %u is not `Name: value'", path, line);
	}
	if (err && !*error)
		snprintf(error, size, "%s", strerror(-err));
	free(bearer);
	free(text);
	if (!err && !line)
		return 0;
	push_secrets_free(*list, *count);
	*list = NULL;
	*count = 0;
	return err ? err : -EINVAL;
}

void push_secrets_free(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		explicit_bzero(list[i], strlen(list[i]));
		free(list[i]);
	}
	free(list);
}
