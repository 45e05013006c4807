/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each runtime names its groups in its own way, with and without systemd's cgroup driver; the table
 * has them all. The outermost container counts: what runs inside of it is its own affair.
 */
#include "symbols/files/cgroup.h"

#include <stdio.h>
#include <string.h>

#include "symbols/base/text.h"

#define ID_SHOWN 12u
#define ID_MIN	 32u

struct cgroup_part { /* of a path, between two slashes */
	const char *at;
	size_t length;
};

/* A part with this prefix names a container. hex: an id follows, otherwise a name. */
static const struct {
	const char *prefix;
	const char *runtime;
	bool hex;
	const char *kind; /* suffix of the unit; NULL: any */
} prefixes[] = {
	{"docker-", "docker", true, NULL},
	{"libpod-conmon-", NULL, true, NULL}, /* conmon watches a container from outside */
	{"libpod-", "podman", true, NULL},
	{"cri-containerd-", "containerd", true, NULL},
	{"nerdctl-", "containerd", true, NULL},
	{"crio-conmon-", NULL, true, NULL},
	{"crio-", "cri-o", true, NULL},
	{"lxc.payload.", "lxc", false, NULL},
	{"machine-", "machine", false, ".scope"},
	{"systemd-nspawn@", "nspawn", false, ".service"},
};

/* Below a group of this name, the next part names a container. */
static const struct {
	const char *parent;
	const char *runtime;
	bool hex;
} parents[] = {
	{"docker", "docker", true},
	{"libpod_parent", "podman", true},
	{"lxc", "lxc", false},
	{"lxc.payload", "lxc", false},

};

static bool is(const struct cgroup_part *p, const char *text)
{
	return p->length == strlen(text) && !memcmp(p->at, text, p->length);
}

static bool begins(const struct cgroup_part *p, const char *text)
{
	return p->length > strlen(text) && !memcmp(p->at, text, strlen(text));
}

static bool ends(const struct cgroup_part *p, const char *text)
{
	size_t n = strlen(text);

	return p->length > n && !memcmp(p->at + p->length - n, text, n);
}

static size_t hex_digits(const struct cgroup_part *p)
{
	size_t n = 0;

	while (n < p->length && strchr("0123456789abcdef", p->at[n]) && p->at[n])
		n++;
	return n;
}

/* The name of a group without what systemd adds to it. */
static struct cgroup_part bare(struct cgroup_part p)
{
	if (ends(&p, ".scope"))
		p.length -= strlen(".scope");
	else if (ends(&p, ".service"))
		p.length -= strlen(".service");
	return p;
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* systemd escapes characters of a name as \xNN (systemd-escape(1)). */
static size_t unescape(const struct cgroup_part *p, char *to, size_t room)
{
	size_t n = 0, i = 0;

	while (i < p->length && n < room) {
		bool escaped = p->length - i >= 4 && p->at[i] == '\\' && p->at[i + 1] == 'x';
		int high = escaped ? hex_value(p->at[i + 2]) : -1;
		int low = escaped ? hex_value(p->at[i + 3]) : -1;

		if (high >= 0 && low >= 0) {
			to[n++] = (char)(high << 4 | low);
			i += 4;
		} else {
			to[n++] = p->at[i++];
		}
	}
	return n;
}

/* What a path tells. */
struct cgroup_found {
	const char *runtime;	 /* of a container; NULL: it is a unit */
	struct cgroup_part name; /* name or id; length 0: nothing was found */
	bool is_id;
};

static void say(const struct cgroup_found *found, char *to, size_t size)
{
	struct cgroup_part p = found->name;
	char raw[256];
	size_t head = 0;

	if (found->is_id)
		p.length = ID_SHOWN;
	if (found->runtime)
		head = (size_t)snprintf(raw, sizeof(raw), "%s ", found->runtime);
	text_clean(to, size, raw, head + unescape(&p, raw + head, sizeof(raw) - head));
}

static bool take(struct cgroup_found *found, const char *runtime, struct cgroup_part p, bool hex)
{
	if (!p.length || (hex && hex_digits(&p) < ID_MIN))
		return false;
	*found = (struct cgroup_found){runtime, p, hex};
	return true;
}

static bool container(const struct cgroup_part *part, const struct cgroup_part *before,
		      struct cgroup_found *found)
{
	struct cgroup_part p = bare(*part);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i].prefix);

		if (!begins(&p, prefixes[i].prefix) ||
		    (prefixes[i].kind && !ends(part, prefixes[i].kind)))
			continue;
		p.at += n;
		p.length -= n;
		return prefixes[i].runtime && take(found, prefixes[i].runtime, p, prefixes[i].hex);
	}
	for (size_t i = 0; before && i < sizeof(parents) / sizeof(*parents); i++)
		if (is(before, parents[i].parent))
			return take(found, parents[i].runtime, p, parents[i].hex);
	/*
	 * The path does not name the runtime: Kubernetes with the cgroupfs driver, or containerd
	 * alone.
	 */
	return hex_digits(&p) == p.length && take(found, "container", p, true);
}

static void search(struct cgroup_part path, struct cgroup_found *found)
{
	const char *end = path.at + path.length, *slash;
	struct cgroup_part p, before = {0}, unit = {0}, slice = {0};

	for (; path.at < end; path.at = slash < end ? slash + 1 : end) {
		slash = memchr(path.at, '/', (size_t)(end - path.at));
		slash = slash ? slash : end;
		p = (struct cgroup_part){path.at, (size_t)(slash - path.at)};
		if (!p.length || is(&p, ".."))
			continue;
		if (container(&p, before.at ? &before : NULL, found))
			return;
		if (ends(&p, ".service") || ends(&p, ".scope"))
			unit = p;
		else if (ends(&p, ".slice"))
			slice = p;
		before = p;
	}
	found->name = unit.at ? unit : slice;
}

/* The path of the next line; version 1 has a line for each controller. */
static bool next_path(struct cgroup_part *rest, struct cgroup_part *path)
{
	const char *end = rest->at + rest->length, *line_end, *at;

	while (rest->length) {
		line_end = memchr(rest->at, '\n', rest->length);
		line_end = line_end ? line_end : end;
		at = memchr(rest->at, ':', (size_t)(line_end - rest->at));
		at = at ? memchr(at + 1, ':', (size_t)(line_end - at - 1)) : NULL;
		rest->at = line_end < end ? line_end + 1 : end;
		rest->length = (size_t)(end - rest->at);
		if (at) {
			*path = (struct cgroup_part){at + 1, (size_t)(line_end - at - 1)};
			return true;
		}
	}
	return false;
}

/* The first line that tells something. */
static struct cgroup_found find(const char *text, size_t length)
{
	struct cgroup_part rest = {text, length}, path;
	struct cgroup_found found = {0};

	while (!found.name.length && next_path(&rest, &path))
		search(path, &found);
	return found;
}

void cgroup_name(const char *text, size_t length, char *to, size_t size)
{
	struct cgroup_found found = find(text, length);

	to[0] = '\0';
	if (found.name.length)
		say(&found, to, size);
}

static bool path_fits(struct cgroup_part path, const char *word, size_t n)
{
	if (word[0] != '/')
		return memmem(path.at, path.length, word, n) != NULL;
	/* "/a/" is "/a", and everything is below "/". */
	while (n && word[n - 1] == '/')
		n--;
	return path.length >= n && !memcmp(path.at, word, n) &&
	       (path.length == n || path.at[n] == '/');
}

bool cgroup_fits(const char *text, size_t length, const char *word)
{
	struct cgroup_part rest = {text, length}, path;
	char name[256];

	while (next_path(&rest, &path)) {
		struct cgroup_found found = {0};

		if (path_fits(path, word, strlen(word)))
			return true;
		search(path, &found);
		if (!found.name.length || word[0] == '/')
			continue;
		say(&found, name, sizeof(name));
		if (strstr(name, word))
			return true;
	}
	return false;
}

/* The text behind the runtime, for "docker 0123". */
static const char *behind_runtime(const char *text, const char *runtime)
{
	size_t n = strlen(runtime);

	return !strncmp(text, runtime, n) && text[n] == ' ' ? text + n + 1 : NULL;
}

static bool container_fits(struct cgroup_found found, const char *word)
{
	const char *id = behind_runtime(word, found.runtime);
	char name[256];

	id = id ? id : word;
	if (found.is_id)
		return id[0] && strlen(id) <= hex_digits(&found.name) &&
		       !memcmp(found.name.at, id, strlen(id));
	found.runtime = NULL;
	say(&found, name, sizeof(name));
	return !strcmp(name, id);
}

bool cgroup_fits_container(const char *text, size_t length, const char *word)
{
	struct cgroup_part rest = {text, length}, path;

	while (next_path(&rest, &path)) {
		struct cgroup_found found = {0};

		search(path, &found);
		if (found.runtime && container_fits(found, word))
			return true;
	}
	return false;
}

const char *cgroup_container(const char *name)
{
	const char *id;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		id = prefixes[i].runtime ? behind_runtime(name, prefixes[i].runtime) : NULL;
		if (id)
			return id;
	}
	return behind_runtime(name, "container");
}
