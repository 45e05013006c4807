/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -Wl,--wrap=getpwnam_r -Wl,--wrap=pthread_cond_timedwait */
/*
 * Names of users by /etc/passwd, and a look-up that hangs.
 * Covers: symbols/base/worker.c tui/collect/users.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/collect/users.h"

#define PATIENCE 3000 /* times 20 ms */

static int given_up; /* waits that ended without an answer */

int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *until);

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *until)
{
	int err = __real_pthread_cond_timedwait(cond, lock, until);

	given_up += err == ETIMEDOUT;
	return err;
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Each user of the file, the first of a number. */
static void test_passwd(void **state)
{
	FILE *file = fopen("/etc/passwd", "re");
	char line[1024], name[64], found[64];
	unsigned int uid, seen[256], n = 0, i;
	struct users *users;

	(void)state;
	assert_non_null(file);
	assert_int_equal(users_new(NULL, &users), 0);
	while (n < 256 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]:%*[^:]:%u:", name, &uid) != 2)
			continue;
		for (i = 0; i < n && seen[i] != uid;)
			i++;
		if (i < n)
			continue;
		seen[n++] = uid;
		users_name(users, uid, found, sizeof(found));
		for (i = 0; i < PATIENCE && found[0] >= '0' && found[0] <= '9'; i++) {
			pause_shortly();
			users_name(users, uid, found, sizeof(found));
		}
		assert_string_equal(found, name);
	}
	assert_true(n > 0);
	users_name(users, 3999999999u, found, sizeof(found));
	assert_string_equal(found, "3999999999");
	users_free(users);
	fclose(file);
}

static atomic_bool hang;

static int hanging(uid_t uid, char *to, size_t size)
{
	while (atomic_load(&hang))
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	snprintf(to, size, "user\033%u", (unsigned int)uid);
	return uid == 13;
}

static void test_hanging_lookup(void **state)
{
	struct users *users;
	char name[64];
	int i;

	(void)state;
	atomic_store(&hang, true);
	assert_int_equal(users_new(hanging, &users), 0);
	given_up = 0;
	for (uid_t uid = 0; uid < 200; uid++) {
		users_name(users, uid, name, sizeof(name));
		assert_int_equal(strtoul(name, NULL, 10), uid);
	}
	/* It waits once, not 200 times. */
	assert_int_equal(given_up, 1);
	atomic_store(&hang, false);
	for (i = 0; i < PATIENCE && name[0] != 'u'; i++) {
		pause_shortly();
		users_name(users, 199, name, sizeof(name));
	}
	assert_string_equal(name, "user?199");
	users_name(users, 13, name, sizeof(name));
	assert_string_equal(name, "13");
	users_name(users, 12345, name, sizeof(name));
	assert_string_equal(name, "user?12345");
	users_name(users, 12345, name, 3);
	assert_string_equal(name, "us");
	users_free(users);
}

struct answers {
	atomic_int n;
	bool known;
	uid_t uid;
	char name[64];
};

static void note(void *arg, const char *name, bool known, uid_t uid)
{
	struct answers *a = arg;

	a->known = known;
	a->uid = uid;
	snprintf(a->name, sizeof(a->name), "%s", name);
	atomic_fetch_add(&a->n, 1);
}

static void find(struct users *users, const char *name, struct answers *a)
{
	int before = atomic_load(&a->n);

	assert_int_equal(users_find(users, name, note, a), 0);
	for (int i = 0; i < PATIENCE && atomic_load(&a->n) == before; i++)
		pause_shortly();
	assert_int_equal(atomic_load(&a->n), before + 1);
	assert_string_equal(a->name, name);
}

/* The number of each user of the file, and numbers as they are. */
static void test_find(void **state)
{
	FILE *file = fopen("/etc/passwd", "re");
	char line[1024], name[64];
	struct answers a = {0};
	unsigned int uid, n = 0;
	struct users *users;

	(void)state;
	assert_non_null(file);
	assert_int_equal(users_new(NULL, &users), 0);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]:%*[^:]:%u:", name, &uid) != 2)
			continue;
		find(users, name, &a);
		assert_true(a.known);
		assert_int_equal(a.uid, uid);
		n++;
	}
	assert_true(n > 0);
	find(users, "3999999999", &a);
	assert_true(a.known);
	assert_int_equal(a.uid, 3999999999u);
	find(users, "4294967295", &a); /* (uid_t)-1 is no user's ID */
	assert_false(a.known);
	find(users, "-1", &a);
	assert_false(a.known);
	find(users, "", &a);
	assert_false(a.known);
	find(users, "no-user-is-called-so", &a);
	assert_false(a.known);
	users_free(users);
	fclose(file);
}

/* Behind a look-up that hangs 64 requests can wait; after users_free none of them is answered. */
static void test_find_waits(void **state)
{
	struct answers a = {0};
	struct users *users;
	char name[16];
	int n = 0;

	(void)state;
	atomic_store(&hang, true);
	assert_int_equal(users_new(hanging, &users), 0);
	users_name(users, 1, name, sizeof(name));
	while (n < 1000 && !users_find(users, "root", note, &a))
		n++;
	assert_int_equal(n, 64);
	assert_int_equal(users_find(users, "root", note, &a), -EAGAIN);
	users_free(users);
	atomic_store(&hang, false);
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	assert_int_equal(atomic_load(&a.n), 0);
}

static atomic_int entered;

int __real_getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
		      struct passwd **found);
int __wrap_getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
		      struct passwd **found);

int __wrap_getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
		      struct passwd **found)
{
	if (!strcmp(name, "slow")) {
		atomic_fetch_add(&entered, 1);
		while (atomic_load(&hang))
			nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
		name = "root";
	}
	return __real_getpwnam_r(name, entry, buffer, size, found);
}

/* The one that hangs and the one behind it are forgotten; what is asked after that is answered,
 * also while the first still hangs. */
static void test_forget(void **state)
{
	struct answers before = {0}, after = {0};
	struct users *users;
	int i;

	(void)state;
	atomic_store(&hang, true);
	assert_int_equal(users_new(NULL, &users), 0);
	users_forget(users);
	assert_int_equal(users_find(users, "slow", note, &before), 0);
	for (i = 0; i < PATIENCE && !atomic_load(&entered); i++)
		pause_shortly();
	assert_int_equal(atomic_load(&entered), 1);
	assert_int_equal(users_find(users, "root", note, &before), 0);
	users_forget(users);
	assert_int_equal(users_find(users, "slow", note, &after), 0);
	assert_int_equal(users_find(users, "root", note, &after), 0);
	atomic_store(&hang, false);
	for (i = 0; i < PATIENCE && atomic_load(&after.n) < 2; i++)
		pause_shortly();
	assert_int_equal(atomic_load(&after.n), 2);
	assert_true(after.known);
	assert_int_equal(after.uid, 0);
	assert_int_equal(atomic_load(&before.n), 0);
	users_free(users);
}

/* Its owner goes while it hangs; what it needs stays until it comes back. */
static void test_left_behind(void **state)
{
	struct users *users;
	char name[16];

	(void)state;
	atomic_store(&hang, true);
	assert_int_equal(users_new(hanging, &users), 0);
	users_name(users, 1, name, sizeof(name));
	assert_string_equal(name, "1");
	users_free(users); /* which comes back, though the look-up does not */
	atomic_store(&hang, false);
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	users_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passwd), cmocka_unit_test(test_hanging_lookup),
		cmocka_unit_test(test_find),   cmocka_unit_test(test_find_waits),
		cmocka_unit_test(test_forget), cmocka_unit_test(test_left_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
