// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is said where code is not shown: which remedy there is, and that it fits where it is kept.
 * Covers: tui/collect/nocode.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/collect/nocode.h"
#include "tui/profile/annotation.h"

static void remedies_are_named(void **state)
{
	(void)state;
	assert_non_null(strstr(nocode_unread(FUNC_KERNEL, -ENOENT), "CONFIG_PROC_KCORE"));
	assert_non_null(strstr(nocode_unread(FUNC_KERNEL, -EPERM), "CAP_SYS_RAWIO"));
	assert_non_null(strstr(nocode_unread(FUNC_KERNEL, -EACCES), "lockdown"));
	assert_non_null(strstr(nocode_unread(FUNC_KERNEL, -EFAULT), "unloaded"));
	assert_non_null(strstr(nocode_nowhere(FUNC_KERNEL, true), "kptr_restrict"));
	assert_non_null(strstr(nocode_unread(FUNC_JIT, -EPERM), "CAP_SYS_PTRACE"));
	assert_non_null(strstr(nocode_unread(FUNC_JIT, -EFAULT), "freed the code"));
	assert_non_null(strstr(nocode_unread(FUNC_JIT, -ETIMEDOUT), "does not answer"));
	assert_non_null(strstr(nocode_unread(FUNC_JIT, -ESRCH), "has exited"));
	assert_non_null(strstr(nocode_nowhere(FUNC_JIT, true), "has exited"));
	assert_non_null(strstr(nocode_nowhere(FUNC_JIT, false), "other code"));
	assert_non_null(strstr(nocode_nowhere(FUNC_USER, true), "has exited"));
	assert_non_null(strstr(nocode_unread(FUNC_USER, -ENOENT), "no code"));
	assert_non_null(strstr(nocode_nowhere(FUNC_PYTHON, true), "has exited"));
	assert_non_null(strstr(nocode_nowhere(FUNC_PERL, false), "not known"));
	assert_non_null(strstr(nocode_unread(FUNC_PYTHON, -ENOENT), "no file of that name"));
	assert_non_null(strstr(nocode_unread(FUNC_PYTHON, -ENOTDIR), "no file of that name"));
	assert_non_null(strstr(nocode_unread(FUNC_PHP, -EACCES), "run as root"));
	assert_non_null(strstr(nocode_unread(FUNC_RUBY, -EFBIG), "8 MiB"));
	assert_non_null(strstr(nocode_unread(FUNC_PYTHON, -EINVAL), "no regular file"));
	assert_non_null(strstr(nocode_unread(FUNC_PYTHON, -ENODATA), "shorter"));
	assert_non_null(strstr(nocode_unread(FUNC_PYTHON, -ESRCH), "has exited"));
}

static void what_is_no_file_is_told(void **state)
{
	char path[300] = "/";

	(void)state;
	assert_null(nocode_no_file("/srv/app.py"));
	assert_null(nocode_no_file("app.py"));
	assert_non_null(strstr(nocode_no_file("<frozen importlib._bootstrap>"), "built into"));
	assert_non_null(strstr(nocode_no_file("<string>"), "a text in memory"));
	assert_non_null(strstr(nocode_no_file(""), "a text in memory"));
	assert_non_null(strstr(nocode_no_file("?"), "could not be read"));
	memset(path + 1, 'a', 253);
	assert_null(nocode_no_file(path));
	path[254] = 'a';
	assert_non_null(strstr(nocode_no_file(path), "too long"));
}

static void all_of_it_fits(void **state)
{
	static const enum func_kind kinds[] = {FUNC_USER, FUNC_KERNEL, FUNC_INLINE, FUNC_JIT,
					       FUNC_PYTHON};
	const size_t room = sizeof(((struct annotation *)0)->trouble);

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_true(strlen(nocode_nowhere(kinds[i], true)) < room);
		assert_true(strlen(nocode_nowhere(kinds[i], false)) < room);
		for (int err = 1; err < 134; err++)
			assert_true(strlen(nocode_unread(kinds[i], -err)) < room);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remedies_are_named),
		cmocka_unit_test(what_is_no_file_is_told),
		cmocka_unit_test(all_of_it_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
