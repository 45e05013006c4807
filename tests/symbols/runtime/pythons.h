/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SYMBOLS_RUNTIME_PYTHONS_H
#define STACKTOP_TESTS_SYMBOLS_RUNTIME_PYTHONS_H

/*
 * The CPythons of this machine: python3, those of pyenv, and those that $STACKTOP_PYTHONS names,
 * separated by blanks.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/rights.h"

#define PYTHONS_MAX 32

struct pythons {
	char paths[PYTHONS_MAX][PATH_MAX];
	size_t count;
};

static inline void pythons_add(struct pythons *p, const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return;
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->paths[i], real))
			return;
	assert_true(p->count < PYTHONS_MAX);
	memcpy(p->paths[p->count++], real, strlen(real) + 1);
}

static inline void pythons_add_pyenv(struct pythons *p, const char *root, const char *below)
{
	char pattern[PATH_MAX];
	glob_t found;

	if (!root)
		return;
	snprintf(pattern, sizeof(pattern), "%s%s/versions/3.*/bin/python3.{[0-9],[0-9][0-9]}", root,
		 below);
	if (!glob(pattern, GLOB_BRACE, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			pythons_add(p, found.gl_pathv[i]);
	globfree(&found);
}

static inline void pythons_find(struct pythons *p)
{
	const struct passwd *user = getpwuid(getuid());
	const char *named = getenv("STACKTOP_PYTHONS");
	char *names = strdup(named ? named : "");
	char *rest = NULL;

	p->count = 0;
	assert_non_null(names);
	for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		pythons_add(p, name);
	free(names);
	pythons_add(p, "/usr/bin/python3");
	pythons_add_pyenv(p, getenv("PYENV_ROOT"), "");
	pythons_add_pyenv(p, getenv("HOME"), "/.pyenv");
	pythons_add_pyenv(p, user ? user->pw_dir : NULL, "/.pyenv");
	pythons_add_pyenv(p, "/root", "/.pyenv");
}

/* Lets look judge each, which returns how much it looked at; the test is skipped where that is
 * nothing. */
static inline void pythons_each(size_t (*look)(const char *path))
{
	static struct pythons pythons;
	size_t looked = 0;

	pythons_find(&pythons);
	for (size_t i = 0; i < pythons.count; i++)
		looked += look(pythons.paths[i]);
	if (!looked)
		skip_since("no python3 of a version that is known");
}

/* Starts one with a script of this folder. The caller closes what it prints by pclose. */
static inline FILE *pythons_run(const char *path, const char *script)
{
	char command[2 * PATH_MAX];
	FILE *out;

	snprintf(command, sizeof(command), "exec '%s' -B -I tests/symbols/runtime/%s", path,
		 script);
	out = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(out);
	return out;
}

#endif
