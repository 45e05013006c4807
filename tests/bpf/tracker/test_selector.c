// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a person types to choose processes: what it is taken for, whom it fits, what is refused.
 * Covers: bpf/tracker/selector.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "bpf/tracker/selector.h"

#define ID     "3f29ad0a9cd9b4e3a0cf8a9d0b3a1c5e7f60718293a4b5c6d7e8f90112233445"
#define DOCKER "0::/system.slice/docker-" ID ".scope\n"

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		enum selector_kind kind;
		const char *kept;
		unsigned int number;
	} cases[] = {
		{"123", SELECTOR_PID, "123", 123},
		{"0", SELECTOR_PID, "0", 0},
		{"-1", SELECTOR_PID, "-1", 0},
		{"4294967297", SELECTOR_PID, "4294967297", 0}, /* is not 1 */
		{"99999999999999999999", SELECTOR_PID, "99999999999999999999", 0},
		{"123 x", SELECTOR_NAME, "123 x", 0},
		{"^ngx", SELECTOR_NAME, "^ngx", 0},
		{"^user:", SELECTOR_NAME, "^user:", 0},
		{"users", SELECTOR_NAME, "users", 0},
		{"user:0", SELECTOR_USER, "0", 0},
		{"user:70 postgres", SELECTOR_USER, "postgres", 70},
		{"user: 70", SELECTOR_USER, "70", 70},
		{"user:4294967294", SELECTOR_USER, "4294967294", 4294967294u},
		{"user:70 user:71", SELECTOR_USER, "user:71", 70},
		{"cgroup:/a b", SELECTOR_CGROUP, "/a b", 0},
		{"cgroup:cgroup:", SELECTOR_CGROUP, "cgroup:", 0},
		{"container: 3f29", SELECTOR_CONTAINER, "3f29", 0},
	};
	struct selector w;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!selector_parse(cases[i].text, &w, &why))
			fail_msg("%s: %s", cases[i].text, why);
		assert_int_equal(w.kind, cases[i].kind);
		assert_string_equal(w.text, cases[i].kept);
		if (w.kind == SELECTOR_PID)
			assert_int_equal(w.pid, cases[i].number);
		if (w.kind == SELECTOR_USER)
			assert_int_equal(w.uid, cases[i].number);
		assert_int_equal(selector_is_of_group(&w),
				 w.kind == SELECTOR_CGROUP || w.kind == SELECTOR_CONTAINER);
		selector_clear(&w);
	}
}

static void test_refused(void **state)
{
	static const char *const cases[][2] = {
		{"", "nothing to look for"},
		{"user:", "nothing to look for"},
		{"cgroup:", "nothing to look for"},
		{"container:  ", "nothing to look for"},
		{"user:postgres", "there is no user"},
		{"user:70x", "there is no user"},
		{"user:-1", "there is no user"},
		{"user:+1", "there is no user"},
		{"user:4294967295", "there is no user"}, /* (uid_t)-1 is no user's ID */
		{"user:99999999999999999999", "there is no user"},
		{"(", "not a regular expression"},
		{"a[", "not a regular expression"},
	};
	char longest[1000];
	struct selector w;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_false(selector_parse(cases[i][0], &w, &why));
		assert_string_equal(why, cases[i][1]);
	}
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "cgroup:", 7);
	longest[7 + SELECTOR_BYTES] = '\0';
	assert_false(selector_parse(longest, &w, &why));
	assert_string_equal(why, "too long");
	longest[7 + SELECTOR_BYTES - 1] = '\0';
	assert_true(selector_parse(longest, &w, &why));
	selector_clear(&w);
}

static void test_same(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{"user:70 postgres", "user:70 alias", true},
		{"user:70", "user:71", false},
		{"cgroup:a", "cgroup:a", true},
		{"cgroup:a", "container:a", false},
		{"^a", "^a", true},
		{"a", "A", false},
	};
	struct selector a, b;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(selector_parse(cases[i].a, &a, &why));
		assert_true(selector_parse(cases[i].b, &b, &why));
		assert_int_equal(selector_is_same(&a, &b), cases[i].same);
		selector_clear(&a);
		selector_clear(&b);
	}
}

static void test_fits(void **state)
{
	static const struct {
		const char *text;
		const char *comm;
		uid_t uid;
		bool kthread, fits;
	} cases[] = {
		{"^ngx", "ngx", 1, false, true},
		{"^ngx", "a ngx", 1, false, false},
		{"kworker", "kworker/0:1", 0, true, false}, /* names are not for kernel threads */
		{"user:0", "kworker/0:1", 0, true, true},
		{"user:1", "x", 1, false, true},
		{"user:1", "1", 11, false, false},
	};
	struct selector w;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(selector_parse(cases[i].text, &w, &why));
		assert_int_equal(selector_fits(&w, cases[i].comm, cases[i].uid, cases[i].kthread),
				 cases[i].fits);
		selector_clear(&w);
	}
}

static void test_groups(void **state)
{
	static const char docker[] = DOCKER;
	static const char mixed[] = "4:memory:/web/a\n1:name=systemd:/\n0::/other\n";
	static const struct {
		const char *text, *group;
		bool fits;
	} cases[] = {
		{"cgroup:docker-3f29", docker, true},
		{"cgroup:docker 3f29ad0a9cd9", docker, true}, /* as it is shown */
		{"cgroup:system.slice", docker, true},
		{"cgroup:/system.slice", docker, true},
		{"cgroup:/system.slice/", docker, true},
		{"cgroup:/system", docker, false}, /* no part of a name */
		{"cgroup:/docker-" ID ".scope", docker, false},
		{"cgroup:/system.slice/docker-" ID ".scope", docker, true},
		{"cgroup:/", docker, true},
		{"cgroup:Docker", docker, false},
		{"cgroup:\nx", docker, false},
		{"cgroup:0::", docker, false},
		{"cgroup:/web", mixed, true},
		{"cgroup:/other", mixed, true},
		{"cgroup:/web/b", mixed, false},
		{"cgroup:memory", mixed, false}, /* a controller is no group */
		{"cgroup:x", "0::/\n", false},
		{"cgroup:x", "", false},
		{"cgroup:my-disk", "0::/a@my\\x2ddisk.service\n", true},
		{"cgroup:my\\x2ddisk", "0::/a@my\\x2ddisk.service\n", true},
		{"cgroup:a?[31m", "0::/a\033[31m.service\n", true},
		{"container:3", docker, true},
		{"container:3f29ad0a9cd9", docker, true},
		{"container:docker 3f29ad0a9cd9", docker, true},
		{"container:podman 3f29ad0a9cd9", docker, false},
		{"container:" ID, docker, true},
		{"container:" ID "0", docker, false},
		{"container:f29a", docker, false},
		{"container:docker", docker, false},
		{"container:3f29ad0a9cd9.scope", docker, false},
		{"container:web", "0::/lxc.payload.web/x\n", true},
		{"container:we", "0::/lxc.payload.web/x\n", false},
		{"container:lxc web", "0::/lxc.payload.web/x\n", true},
		{"container:debian-12", "0::/machine-debian\\x2d12.scope/payload\n", true},
		{"container:nginx.service", "0::/system.slice/nginx.service\n", false},
		{"container:x", mixed, false},
		{"container:3f29", "4:memory:/0123456789abcdef0123456789abcdef\n" DOCKER, true},
		{"cgroup:docker 3f29", "4:memory:/0123456789abcdef0123456789abcdef\n" DOCKER, true},
	};
	struct selector w;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(selector_parse(cases[i].text, &w, &why));
		if (selector_fits_group(&w, cases[i].group, strlen(cases[i].group)) !=
		    cases[i].fits)
			fail_msg("%s in %s", cases[i].text, cases[i].group);
		selector_clear(&w);
	}
}

static void test_told(void **state)
{
	static const char *const cases[][2] = {
		{"^ngx", "named ^ngx"},
		{"user:70 postgres", "of the user postgres"},
		{"cgroup:/a", "in the cgroup /a"},
		{"container:3f29", "in the container 3f29"},
	};
	char told[64];
	struct selector w;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(selector_parse(cases[i][0], &w, &why));
		selector_tell(&w, told, sizeof(told));
		assert_string_equal(told, cases[i][1]);
		selector_clear(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_same),   cmocka_unit_test(test_fits),
		cmocka_unit_test(test_groups), cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
