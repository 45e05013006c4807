/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where profiles are sent, and what they are called there: URLs, labels, sizes, rules for services,
 * and secrets, which must not stand in any message.
 * Covers: tui/push/target.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tui/push/target.h"

#define PUSHER	  "/push.v1.PusherService/Push"
#define PARCA	  "/api/profiles/writeraw"
#define OTLP	  "/v1development/profiles"
#define OTLP_RPC  "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define PARCA_RPC "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw"

/* --- URLs ------------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	enum push_protocol protocol;
	const char *base, *url;
} right[] = {
	{"http://host:4040", PUSH_ASK, "http://host:4040", ""},
	{"https://host", PUSH_ASK, "https://host", ""},
	{"HTTPS://host", PUSH_ASK, "https://host", ""},
	{"http://host/", PUSH_ASK, "http://host", ""},
	{"http://host/prefix//", PUSH_ASK, "http://host/prefix", ""},
	{"http://[::1]:4040", PUSH_ASK, "http://[::1]:4040", ""},
	{"http://[::1]", PUSH_ASK, "http://[::1]", ""},
	{"http://host/a@b", PUSH_ASK, "http://host/a@b", ""},
	{"http://host:4317", PUSH_ASK, "http://host:4317", ""},
	{"pyroscope+http://host:4040", PUSH_PYROSCOPE, "http://host:4040",
	 "http://host:4040" PUSHER},
	{"Pyroscope+https://host/prefix/", PUSH_PYROSCOPE, "https://host/prefix",
	 "https://host/prefix" PUSHER},
	{"pyroscope+http://host/ingest", PUSH_INGEST, "http://host", "http://host/ingest"},
	{"http://host/ingest", PUSH_INGEST, "http://host", "http://host/ingest"},
	{"http://host/x/ingest/", PUSH_INGEST, "http://host/x", "http://host/x/ingest"},
	{"http://host///ingest", PUSH_INGEST, "http://host", "http://host/ingest"},
	{"pyroscope+grpc://host:4317", PUSH_OTLP_GRPC, "http://host:4317",
	 "http://host:4317" OTLP_RPC},
	{"parca+http://host:7070", PUSH_PARCA, "http://host:7070", "http://host:7070" PARCA},
	{"parca+grpc://host:7070", PUSH_PARCA_GRPC, "http://host:7070",
	 "http://host:7070" PARCA_RPC},
	{"parca+grpcs://host", PUSH_PARCA_GRPC, "https://host", "https://host" PARCA_RPC},
	{"parca+http://host/ingest", PUSH_PARCA, "http://host/ingest", "http://host/ingest" PARCA},
	{"otlp+http://host:4318", PUSH_OTLP, "http://host:4318", "http://host:4318" OTLP},
	{"otlp+http://host:4317", PUSH_OTLP_GRPC, "http://host:4317", "http://host:4317" OTLP_RPC},
	{"otlp+grpcs://host", PUSH_OTLP_GRPC, "https://host", "https://host" OTLP_RPC},
	{"grpc://host:4317", PUSH_OTLP_GRPC, "http://host:4317", "http://host:4317" OTLP_RPC},
	{"http://host:4318" OTLP, PUSH_OTLP, "http://host:4318", "http://host:4318" OTLP},
	{"https://host" PUSHER, PUSH_PYROSCOPE, "https://host", "https://host" PUSHER},
	{"http://host" PARCA, PUSH_PARCA, "http://host", "http://host" PARCA},
	/* A host that is called as a path is. */
	{"pyroscope+http://ingest", PUSH_PYROSCOPE, "http://ingest", "http://ingest" PUSHER},
	{"http://ingest", PUSH_ASK, "http://ingest", ""},
	{"http://ingest/ingest", PUSH_INGEST, "http://ingest", "http://ingest/ingest"},
};

static void test_urls(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		struct push_target target;
		char error[256] = "";

		if (!push_target_parse(right[i].text, &target, error, sizeof(error)))
			fail_msg("%s: %s", right[i].text, error);
		if (target.protocol != right[i].protocol || strcmp(target.base, right[i].base) ||
		    strcmp(target.url, right[i].url))
			fail_msg("%s is %s %s %s", right[i].text,
				 push_protocol_name(target.protocol), target.base, target.url);
	}
}

static void test_wrong_urls(void **state)
{
	static const char *const wrong[] = {
		"",
		"host:4040",
		"ftp://host",
		"file:///etc/passwd",
		"pyroscope+ftp://host",
		"pyroscope+",
		"otlp+otlp+http://host",
		"http:/host",
		"http:host",
		"https",
		"http://",
		"http:///path",
		"http://:4040",
		"http://host:port",
		"http://host:0x10",
		"http://host:99999",
		"http://host:1234567890123",
		"http://host:1:2",
		"http://host:",
		"http://host:4040abc",
		"http://[::1",
		"http://[]",
		"http://[::1]x",
		"http://host name",
		"http://host/a b",
		"http://host/\x01",
		"http://host/\n",
		"http://host\r\nX: y",
		"http://host/\x7f",
		"http://host/\xc3\xa4",
		"http://host/\033[2J",
		"http://host?query",
		"http://host/path?query=1",
		"http://host/#part",
		"http://ho\"st",
		"http://ho\\st",
		"http://{host}",
	};
	struct push_target target;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char error[256] = "";

		if (push_target_parse(wrong[i], &target, error, sizeof(error)))
			fail_msg("taken: \"%s\"", wrong[i]);
		assert_true(*error);
		for (const char *s = error; *s; s++)
			assert_true(*s >= ' ' && *s <= '~');
	}
}

/* What could be a secret is refused, and not repeated. */
static void test_users(void **state)
{
	static const char *const urls[] = {
		"http://me:hunter2@host",	"https://hunter2@host:4040",
		"otlp+grpc://me:hunter2@host/", "http://me:hunter2@",
		"http://me:hun@hunter2@host",	"http://me:hunter2/x@host",
	};
	struct push_target target;

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		char error[256] = "";

		assert_false(push_target_parse(urls[i], &target, error, sizeof(error)));
		assert_null(strstr(error, "hunter2"));
	}
}

static void test_long(void **state)
{
	static char text[2 * PUSH_URL_MAX];
	struct push_target target;

	(void)state;
	for (size_t length = 1; length < sizeof(text) - 20; length++) {
		char error[64] = "";
		int n = snprintf(text, sizeof(text), "parca+grpc://h/");

		memset(text + n, 'x', length);
		text[(size_t)n + length] = '\0';
		if (!push_target_parse(text, &target, error, sizeof(error))) {
			assert_non_null(strstr(error, "too long"));
			assert_true(length > 256);
			continue;
		}
		/* No path of a protocol is cut off. */
		for (int i = PUSH_PYROSCOPE; i < PUSH_PROTOCOLS; i++) {
			push_target_set(&target, (enum push_protocol)i);
			assert_int_equal(strncmp(target.url, target.base, strlen(target.base)), 0);
			assert_true(strlen(target.url) > strlen(target.base) + 6);
			assert_true(strlen(target.url) < PUSH_URL_MAX - 1);
		}
	}
}

/* --- labels, sizes, services ----------------------------------------------------------------- */

static void test_labels(void **state)
{
	static const char *const wrong[] = {"",	   "=",	    "a",	  "a=",	       "1a=b",
					    "-=b", "a-b=c", "a b=c",	  "\xc3\xa4=", "a=\n",
					    "=b",  ".a=b",  "a=\xff\xfe", "a=\033[m",  "a=b\177"};
	static char text[4 * PUSH_TEXT_MAX];
	struct push_label label;

	(void)state;
	assert_true(push_label_parse("k8s.pod_name=a=b c", &label));
	assert_int_equal(label.key_length, strlen("k8s.pod_name"));
	assert_memory_equal(label.key, "k8s.pod_name", label.key_length);
	assert_string_equal(label.value, "a=b c");
	assert_true(push_label_parse("_=\xc3\xa4", &label));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (push_label_parse(wrong[i], &label))
			fail_msg("taken: \"%s\"", wrong[i]);
	/* As long as the texts that they are copied to. */
	memset(text, 'k', sizeof(text));
	memcpy(text + PUSH_TEXT_MAX - 1, "=v", 3);
	assert_true(push_label_parse(text, &label));
	memset(text, 'k', sizeof(text));
	memcpy(text + PUSH_TEXT_MAX, "=v", 3);
	assert_false(push_label_parse(text, &label));
	memset(text, 'v', sizeof(text));
	text[0] = 'k';
	text[1] = '=';
	text[2 + PUSH_TEXT_MAX - 1] = '\0';
	assert_true(push_label_parse(text, &label));
	text[2 + PUSH_TEXT_MAX - 1] = 'v';
	text[2 + PUSH_TEXT_MAX] = '\0';
	assert_false(push_label_parse(text, &label));
}

static void test_spools(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		uint64_t bytes;
	} taken[] = {
		{"/var/spool/x:1M", 12, 1u << 20},
		{"d:1024K", 1, 1u << 20},
		{"d:3G", 1, (uint64_t)3 << 30},
		{"a:b:2M", 3, 2u << 20},
		{"d:1048576", 1, 1u << 20},
		{"/with space/:5M", 12, 5u << 20},
		{"d:16777216G", 1, (uint64_t)1 << 54},
	};
	static const char *const wrong[] = {"",
					    "d",
					    ":1M",
					    "d:",
					    "d:M",
					    "d:0",
					    "d:1",
					    "d:1023K",
					    "d:1048575",
					    "d:-1M",
					    "d:+5M",
					    "d: 5M",
					    "d:5MB",
					    "d:5T",
					    "d:5.5M",
					    "d:0x1M",
					    "d:1M:",
					    "d:5m",
					    "d:99999999999999999999",
					    "d:9999999999999999999G"};

	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		struct push_options o = {0};

		if (!push_spool_parse(taken[i].text, &o))
			fail_msg("not taken: \"%s\"", taken[i].text);
		assert_ptr_equal(o.spool, taken[i].text);
		assert_int_equal(o.spool_length, taken[i].length);
		assert_int_equal(o.spool_bytes, taken[i].bytes);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct push_options o = {0};

		if (push_spool_parse(wrong[i], &o))
			fail_msg("taken: \"%s\"", wrong[i]);
		assert_null(o.spool);
	}
}

static void test_services(void **state)
{
	static const struct push_names names = {"nginx", "www", "docker 0123456789ab", "node1", 42};
	static const struct push_names none = {"", "", "", "", 0};
	static const struct push_names bad = {"\033[2J\xff", "\xe2\x80\xae", "", "", 1};
	static const struct {
		const char *rule;
		const struct push_names *names;
		const char *text;
	} rules[] = {
		{"{comm}", &names, "nginx"},
		{"{host}/{comm}-{pid}", &names, "node1/nginx-42"},
		{"{cgroup}{user}", &names, "docker 0123456789abwww"},
		{"all", &names, "all"},
		{"{comm}", &none, "unknown"},
		{"{cgroup}", &bad, "unknown"},
		{"{comm}{user}", &bad, "?[2J??"},
		{"\xff", &names, "?"},
	};
	static const char *const wrong[] = {"",		"{",	     "}",	"{}",
					    "{comm",	"comm}",     "{Comm}",	"{comm }",
					    "{{comm}}", "a{comm}b{", "{commx}", "{com}"};
	char text[PUSH_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		assert_true(push_service(rules[i].rule, rules[i].names, text));
		assert_string_equal(text, rules[i].text);
		assert_true(push_service(rules[i].rule, NULL, text));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (push_service(wrong[i], NULL, text))
			fail_msg("taken: \"%s\"", wrong[i]);
}

static void test_long_service(void **state)
{
	static char rule[4 * PUSH_TEXT_MAX], comm[4 * PUSH_TEXT_MAX];
	const struct push_names names = {comm, "", "", "", 0};
	char text[PUSH_TEXT_MAX];

	(void)state;
	memset(rule, 'r', sizeof(rule) - 1);
	assert_true(push_service(rule, &names, text));
	assert_int_equal(strlen(text), PUSH_TEXT_MAX - 1);
	/* No character is cut in two. */
	for (size_t i = 0; i + 2 < sizeof(comm); i += 2)
		memcpy(comm + i, "\xc3\xa4", 2);
	assert_true(push_service("{comm}", &names, text));
	assert_int_equal(strlen(text), PUSH_TEXT_MAX - 2);
	assert_memory_equal(text, comm, PUSH_TEXT_MAX - 2);
}

/* --- secrets --------------------------------------------------------------------------------- */

#define SECRET "hunter2"

static char folder[SCRATCH], path[2 * SCRATCH];

static int setup(void **state)
{
	(void)state;
	unsetenv("STACKTOP_PUSH_TOKEN");
	unsetenv("STACKTOP_PUSH_HEADERS");
	snprintf(path, sizeof(path), "%s/secrets", folder);
	unlink(path);
	return 0;
}

static void put(const char *text, size_t size, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_secrets(const char *file, const char *const *lines, size_t count)
{
	char error[256] = "", **list;
	size_t n;

	if (push_secrets_read(file, &list, &n, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(n, count);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(list[i], lines[i]);
	push_secrets_free(list, n);
}

/* The reason is told, whatever was in the buffer before, and the secret is not. */
static void assert_refused(const char *file, int err, const char *why)
{
	char error[256], **list = (char **)&error;
	size_t n = 1;

	memset(error, 'x', sizeof(error) - 1);
	error[sizeof(error) - 1] = '\0';
	assert_int_equal(push_secrets_read(file, &list, &n, error, sizeof(error)), err);
	assert_null(list);
	assert_int_equal(n, 0);
	if (!strstr(error, why))
		fail_msg("\"%s\" does not say \"%s\"", error, why);
	assert_null(strstr(error, SECRET));
	assert_int_not_equal(*error, 'x');
}

static void test_secrets(void **state)
{
	static const char *const all[] = {"Authorization: Bearer " SECRET,
					  "X-Scope-OrgID: 1",
					  "A: b",
					  "C:d",
					  "X-Tab: a\tb",
					  "Empty:"};
	static const char text[] = "# a comment\r\n\n  \nC:d  \nX-Tab: a\tb\r\nEmpty:";

	(void)state;
	assert_secrets(NULL, NULL, 0);
	put("", 0, 0600);
	assert_secrets(path, NULL, 0);
	setenv("STACKTOP_PUSH_TOKEN", "", 1);
	setenv("STACKTOP_PUSH_HEADERS", "", 1);
	assert_secrets(NULL, NULL, 0);
	setenv("STACKTOP_PUSH_TOKEN", SECRET "\n", 1);
	setenv("STACKTOP_PUSH_HEADERS", "X-Scope-OrgID: 1\nA: b\n", 1);
	assert_secrets(NULL, all, 3);
	put(text, sizeof(text) - 1, 0600);
	assert_secrets(path, all, 6);
}

static void test_wrong_secrets(void **state)
{
	static const char *const wrong[] = {
		SECRET,
		": " SECRET,
		"A B: " SECRET,
		"A\t: " SECRET,
		"A\xc3: " SECRET,
		"A: " SECRET "\x01",
		"A: " SECRET "\x7f",
		"A: " SECRET "\033[m",
		"A: " SECRET "\rB: c",
		" A: " SECRET,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128];
		int n = snprintf(text, sizeof(text), "A: b\n%s\nC: d", wrong[i]);

		put(text, (size_t)n, 0600);
		assert_refused(path, -EINVAL, "line 2");
		setenv("STACKTOP_PUSH_HEADERS", wrong[i], 1);
		assert_refused(NULL, -EINVAL, "environment");
		unsetenv("STACKTOP_PUSH_HEADERS");
	}
	put("A: b\0c", 6, 0600);
	assert_refused(path, -EINVAL, "line 1");
	put("A\0: b", 5, 0600);
	assert_refused(path, -EINVAL, "line 1");
	/* A token of two lines would be two headers. */
	setenv("STACKTOP_PUSH_TOKEN", SECRET "\nX: y", 1);
	assert_refused(NULL, -EINVAL, "environment");
}

static void test_many_secrets(void **state)
{
	static char text[70000];
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 65; i++)
		n += (size_t)sprintf(text + n, "A%d: " SECRET "\n", i);
	put(text, n, 0600);
	assert_refused(path, -E2BIG, strerror(E2BIG));
	memset(text, '#', sizeof(text));
	put(text, sizeof(text), 0600);
	assert_refused(path, -EFBIG, path);
}

static void test_secret_files(void **state)
{
	(void)state;
	assert_refused(path, -ENOENT, path);
	assert_refused(folder, -EINVAL, folder);
	if (geteuid() != 0)
		skip_since("not root");
	put("A: " SECRET, 10, 0620);
	assert_refused(path, -EPERM, "others may write");
	put("A: " SECRET, 10, 0602);
	assert_refused(path, -EPERM, "others may write");
	put("A: " SECRET, 10, 0600);
	assert_int_equal(chown(path, 65534, (gid_t)-1), 0);
	assert_refused(path, -EPERM, "another user");
}

static int make_folder(void **state)
{
	(void)state;
	scratch_folder(folder, "target");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_urls),
		cmocka_unit_test(test_wrong_urls),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_spools),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_long_service),
		cmocka_unit_test_setup(test_secrets, setup),
		cmocka_unit_test_setup(test_wrong_secrets, setup),
		cmocka_unit_test_setup(test_many_secrets, setup),
		cmocka_unit_test_setup(test_secret_files, setup),
	};

	return cmocka_run_group_tests(tests, make_folder, scratch_remove);
}
