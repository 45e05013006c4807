/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What another user planted where root reads and writes: links, files and FIFOs of user ID 65534 in
 * a folder of the test's. What has to be there afterwards is what was there before.
 * Covers: tui/util/safepath.c tui/util/smallfile.c tui/util/outfile.c tui/ui/config_file.c
 * Covers: tui/screen/screen_file.c tui/session/session_write.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tui/ui/config.h"
#include "tui/util/outfile.h"
#include "tui/screen/screen_file.h"
#include "tui/util/safepath.h"
#include "tui/session/session_write.h"
#include "tui/util/smallfile.h"
#include "tui/screen/theme.h"

#define OTHER 65534

static char scratch[SCRATCH];

static int folder_new(void **state)
{
	(void)state;
	scratch_folder(scratch, "safepath");
	return chdir(scratch);
}

static int folder_free(void **state)
{
	char command[SCRATCH + 16];

	(void)state;
	alarm(0);
	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	return chdir("/") || system(command);
}

static void file_new(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

/* Also where this is no user namespace that knows but root. */
static void need_others(void)
{
	if (!geteuid() && !mkdir("others", 0755) && !chown("others", OTHER, OTHER))
		return;
	print_message("# needs root and user ID %d\n", OTHER);
	skip();
}

static void give(const char *path)
{
	assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

static void link_new(const char *target, const char *path, bool given)
{
	assert_int_equal(symlink(target, path), 0);
	if (given)
		give(path);
}

static void assert_content(const char *path, const char *want)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	assert_true(fd >= 0 && n >= 0);
	close(fd);
	assert_string_equal(text, want);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static bool is_empty(const char *folder)
{
	return !rmdir(folder) && !mkdir(folder, 0700);
}

static int put(const char *path, const char *text)
{
	struct outfile *file;
	int err = outfile_open(path, &file);

	if (err)
		return err;
	fputs(text, outfile_stream(file));
	return outfile_commit(file);
}

/* --- what is written ------------------------------------------------------------------------- */

static void test_reports(void **state)
{
	mode_t mask = umask(077);
	int fd;

	(void)state;
	need_others();
	alarm(60); /* a FIFO that waits for a reader */
	file_new("report", "planted", 0666);
	give("report");
	assert_int_equal(put("report", "new"), -EPERM);
	assert_content("report", "planted");
	assert_int_equal(mkfifo("fifo", 0666), 0);
	give("fifo");
	assert_int_equal(put("fifo", "new"), -EPERM);
	fd = open("fifo", O_RDWR | O_NONBLOCK);
	assert_int_equal(put("fifo", "new"), -EPERM); /* with a reader, too */
	close(fd);
	/* One of one's own is fine. */
	assert_int_equal(mkfifo("own", 0600), 0);
	fd = open("own", O_RDWR | O_NONBLOCK);
	assert_int_equal(put("own", "new"), 0);
	assert_content("own", "new");
	close(fd);
	assert_int_equal(put("/dev/null", "new"), 0);
	/* In a folder of another user. */
	assert_int_equal(put("others/new", "new"), 0);
	assert_int_equal(mode_of("others/new"), 0600);
	assert_content("others/new", "new");
	umask(mask);
}

/* A file of root's that is writable by all, and that others could put in the report's place. */
static void test_modes(void **state)
{
	mode_t mask = umask(077);

	(void)state;
	need_others();
	file_new("others/wide", "old", 0666);
	assert_int_equal(put("others/wide", "new"), 0);
	assert_int_equal(mode_of("others/wide"), 0600);
	file_new("wide", "old", 0666);
	assert_int_equal(link("wide", "second"), 0);
	assert_int_equal(put("wide", "new"), 0);
	assert_int_equal(mode_of("wide"), 0600);
	assert_content("second", "old");
	/* In a folder of one's own the mode is one's own. */
	file_new("wide", "old", 0644);
	assert_int_equal(put("wide", "new"), 0);
	assert_int_equal(mode_of("wide"), 0644);
	umask(mask);
}

/* Each of the four ways to write, through a link to a folder of root's. */
static void test_folders(void **state)
{
	struct config c;
	char error[512];

	(void)state;
	need_others();
	assert_int_equal(mkdir("target", 0700), 0);
	link_new("../target", "others/link", true);
	memset(&c, 0, sizeof(c));
	config_parse(&c, "", 0, NULL, NULL);
	c.total = true;
	assert_int_equal(put("others/link/report", "new"), -EPERM);
	assert_int_equal(screen_file_save("others/link/a.txt", "new", 3), -EPERM);
	assert_int_equal(session_file_new("others/link/s", error, sizeof(error)), -EPERM);
	assert_int_equal(config_write(&c, "others/link/config"), -EPERM);
	assert_int_equal(config_write(&c, "others/link/stacktop/config"), -EPERM);
	config_explain("others/link/config", -EPERM, error, sizeof(error));
	assert_non_null(strstr(error, "others/link/config: /"));
	assert_non_null(strstr(error, "/others/link is a link of user ID 65534"));
	assert_int_equal(config_write(&c, "others/config"), -EPERM);
	assert_true(is_empty("target"));
}

/* Links that lead to a file as it would be read at the start. */
static void test_settings(void **state)
{
	static const char theme[] = "# stacktop theme 1\n[roles]\ntitle = magenta default\n";
	const char *dirs[] = {"others/link", NULL};
	struct theme *t;
	struct config c;
	char text[512];

	(void)state;
	need_others();
	alarm(60);
	assert_int_equal(mkdir("target", 0700), 0);
	file_new("target/config", "window = total\n", 0600);
	file_new("target/mine.theme", theme, 0600);
	file_new("target/default.theme", "no theme", 0600);
	link_new("../target", "others/link", true);
	assert_int_equal(config_read(&c, "others/link/config", NULL, NULL), -EPERM);
	assert_false(c.total);
	assert_int_equal(theme_load(&t, "mine", dirs, NULL, NULL), -EPERM);
	/* The shipped ones are still to be had. */
	assert_int_equal(theme_load(&t, "default", dirs, NULL, NULL), 0);
	theme_free(t);
	file_new("config", "", 0600);
	give("config");
	assert_int_equal(config_read(&c, "config", NULL, NULL), -EPERM);
	config_explain("config", -EPERM, text, sizeof(text));
	assert_non_null(strstr(text, "/config belongs to user ID 65534"));
	/* Without the link. */
	dirs[0] = "target";
	assert_int_equal(config_read(&c, "target/config", NULL, NULL), 0);
	assert_true(c.total);
	assert_int_equal(theme_load(&t, "mine", dirs, NULL, NULL), 0);
	theme_free(t);
}

/* --- parts of a path ------------------------------------------------------------------------- */

static void test_small_files(void **state)
{
	size_t length;
	char *text;

	(void)state;
	alarm(60);
	file_new("file", "12345678", 0600);
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_OWN, &text, &length), 0);
	assert_int_equal(length, 8);
	assert_string_equal(text, "12345678");
	free(text);
	assert_int_equal(smallfile_read("file", 7, SMALLFILE_OWN, &text, &length), -EFBIG);
	assert_null(text);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(smallfile_read("fifo", 8, SMALLFILE_OWN, &text, &length), -EINVAL);
	assert_int_equal(smallfile_read("/dev/zero", 8, SMALLFILE_OWN, &text, &length), -EINVAL);
	assert_int_equal(smallfile_read("/proc/version", 4096, SMALLFILE_OWN, &text, &length),
			 -EINVAL);
	assert_int_equal(smallfile_read("none", 8, SMALLFILE_OWN, &text, &length), -ENOENT);
	need_others();
	assert_int_equal(chmod("file", 0620), 0);
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_SOLE, &text, &length), -EPERM);
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_OWN, &text, &length), 0);
	free(text);
	assert_int_equal(chmod("file", 0644), 0);
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_SOLE, &text, &length), 0);
	free(text);
	give("file");
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_SOLE, &text, &length), -EPERM);
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_OWN, &text, &length), -EPERM);
	assert_int_equal(smallfile_read("file", 8, SMALLFILE_ANY, &text, &length), 0);
	free(text);
}

/* What is found is what stat(2) finds. */
static void assert_found(const char *path)
{
	struct safepath s;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(safepath_open(&s, path, 0), 0);
	assert_true(s.held >= 0);
	assert_int_equal(s.status.st_ino, st.st_ino);
	assert_int_equal(s.status.st_dev, st.st_dev);
	safepath_close(&s);
}

static int error_of(const char *path)
{
	struct safepath s;
	int err = safepath_open(&s, path, 0);

	safepath_close(&s);
	return err;
}

static void test_names(void **state)
{
	static const char *const paths[] = {
		"a/b/file", "./a//b/.././b/file",
		"a",	    "a/",
		"/",	    "/.",
		"..",	    "to_a/b",
		"to_file",  "to_abs",
		"to_abs/b", "up/a",
		"to_root",  "to_root/tmp/..",
	};
	char text[PATH_MAX], fd[32];
	struct safepath s;

	(void)state;
	assert_int_equal(mkdir("a", 0700) | mkdir("a/b", 0700), 0);
	file_new("a/b/file", "", 0600);
	link_new("a", "to_a", false);
	link_new("to_a/b/file", "to_file", false);
	assert_non_null(getcwd(text, sizeof(text) - 2));
	strcat(text, "/a");
	link_new(text, "to_abs", false);
	link_new("a/..", "up", false);
	link_new("/", "to_root", false);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_found(paths[i]);
	link_new("circle", "circle", false);
	link_new("none", "dangling", false);
	assert_int_equal(error_of("circle"), -ELOOP);
	assert_int_equal(error_of("dangling"), -ENOENT);
	assert_int_equal(error_of(""), -ENOENT);
	assert_int_equal(error_of("none/x"), -ENOENT);
	assert_int_equal(error_of("a/b/file/x"), -ENOTDIR);
	assert_int_equal(error_of("a/b/file/"), -ENOTDIR);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(error_of(text), -ENAMETOOLONG);
	text[300] = '\0';
	assert_int_equal(error_of(text), -ENAMETOOLONG);
	assert_int_equal(safepath_open(&s, "a/new", 0), 0);
	assert_int_equal(s.held, -1);
	assert_string_equal(s.name, "new");
	safepath_close(&s);
	assert_int_equal(safepath_open(&s, "to_a", SAFEPATH_NOFOLLOW), 0);
	assert_true(S_ISLNK(s.status.st_mode));
	/* A file that is open and has a name no more. */
	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", s.folder);
	assert_found(fd);
	safepath_close(&s);
}

static void test_folders_are_made(void **state)
{
	struct safepath s;

	(void)state;
	assert_int_equal(safepath_open(&s, "a/b/c/config", SAFEPATH_MAKE), -ENOENT);
	assert_int_equal(safepath_open(&s, "a/b/config", SAFEPATH_MAKE), 0);
	assert_int_equal(s.held, -1);
	safepath_close(&s);
	assert_int_equal(mode_of("a/b"), 0700);
	assert_true(is_empty("a/b"));
}

/* Whose link it is, and who could put another one there. */
static void test_links(void **state)
{
	static const struct {
		mode_t mode;
		bool folder, link;
		int err;
	} cases[] = {
		{0700, false, false, 0},      {0755, false, true, -EPERM},
		{0777, false, false, -EPERM}, {0775, false, false, -EPERM},
		{01777, false, false, 0},     {01777, false, true, -EPERM},
		{0755, true, false, -EPERM},  {01777, true, false, -EPERM},
		{0700, true, true, -EPERM},
	};
	struct safepath s;
	char owner[16];

	(void)state;
	need_others();
	file_new("file", "", 0600);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(mkdir("dir", 0700), 0);
		link_new("../file", "dir/li\033nk", cases[i].link);
		if (cases[i].folder)
			give("dir");
		assert_int_equal(chmod("dir", cases[i].mode), 0);
		assert_int_equal(safepath_open(&s, "dir/li\033nk", 0), cases[i].err);
		if (cases[i].err) {
			/* Without what would speak to the terminal. */
			assert_null(strchr(s.why, '\033'));
			assert_non_null(strstr(s.why, scratch));
			assert_non_null(strstr(s.why, "/dir/li"));
			snprintf(owner, sizeof(owner), " %d", cases[i].link ? OTHER : 0);
			assert_string_equal(strrchr(s.why, ' '), owner);
		}
		safepath_close(&s);
		assert_int_equal(unlink("dir/li\033nk") | rmdir("dir"), 0);
	}
}

static void test_errors(void **state)
{
	char text[600];

	(void)state;
	outfile_error("none", -ENOSPC, text, sizeof(text));
	assert_string_equal(text, "none: No space left on device");
	need_others();
	file_new("report", "", 0666);
	give("report");
	outfile_error("report", -EPERM, text, sizeof(text));
	assert_non_null(strstr(text, "report: /"));
	assert_non_null(strstr(text, "/report belongs to user ID 65534"));
	link_new("file", "link", true);
	outfile_error("link", -EPERM, text, sizeof(text));
	assert_non_null(strstr(text, "/link is a link of user ID 65534"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_new, folder_free)
	const struct CMUnitTest tests[] = {
		TEST(test_reports),	     TEST(test_modes),	     TEST(test_folders),
		TEST(test_settings),	     TEST(test_small_files), TEST(test_names),
		TEST(test_folders_are_made), TEST(test_links),	     TEST(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
