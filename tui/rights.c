// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See rights.h. A line that is printed is one to be copied: it names this program by its real path,
 * and no capability that the kernel would refuse, since a program with one outside the bounding set
 * does not even start.
 */
#include "tui/rights.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sampler/kernelinfo.h"

static const struct {
	const char *name;
	int bit;
	bool needed; /* the others are for processes of other users, deleted files, kernel names */
} caps[] = {
	{"cap_bpf", CAP_BPF, true},
	{"cap_perfmon", CAP_PERFMON, true},
	{"cap_sys_ptrace", CAP_SYS_PTRACE, false},
	{"cap_dac_read_search", CAP_DAC_READ_SEARCH, false},
	{"cap_checkpoint_restore", CAP_CHECKPOINT_RESTORE, false},
	{"cap_syslog", CAP_SYSLOG, false},
	{"cap_sys_resource", CAP_SYS_RESOURCE, false},
	{"cap_sys_nice", CAP_SYS_NICE, false},
};

#define CAPS (sizeof(caps) / sizeof(caps[0]))

/* As a word of a shell. */
static void put_word(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-";

	if (strspn(word, plain) == strlen(word)) {
		fputs(word, to);
		return;
	}
	fputc('\'', to);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", to);
		else
			fputc(*word, to);
	}
	fputc('\'', to);
}

/* Nothing where a needed one cannot be had, as in most containers. */
static void put_setcap(FILE *to, const char *path)
{
	uint64_t bounding = UINT64_MAX;
	const char *comma = "";

	kernelinfo_status("CapBnd", 16, &bounding);
	for (size_t i = 0; i < CAPS; i++)
		if (caps[i].needed && !(bounding >> caps[i].bit & 1))
			return;
	fputs("  sudo setcap ", to);
	for (size_t i = 0; i < CAPS; i++)
		if (bounding >> caps[i].bit & 1) {
			fprintf(to, "%s%s", comma, caps[i].name);
			comma = ",";
		}
	fputs("=ep ", to);
	put_word(to, path);
	fputs("\n      once: then each user who may start it may sample\n", to);
}

static bool is_clean(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || (unsigned char)*path >= 0x7f)
			return false;
	return true;
}

/* Below the current folder, or where the program was built. */
static void put_demo(FILE *to, const char *path)
{
	char folder[PATH_MAX], file[PATH_MAX + 32];
	char *slash;

	if (!access("docs/demo.session", R_OK) && !access("Makefile", R_OK)) {
		fputs("  make demo\n      shows docs/demo.session\n", to);
		return;
	}
	snprintf(folder, sizeof(folder), "%s", path);
	for (int up = 0; up < 2; up++) {
		slash = strrchr(folder, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
	snprintf(file, sizeof(file), "%s/docs/demo.session", folder);
	if (!folder[0] || access(file, R_OK))
		return;
	fputs("  make -C ", to);
	put_word(to, folder);
	fputs(" demo\n      shows a recording that is there\n", to);
}

void rights_ways(FILE *to)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (!geteuid() || n <= 0)
		return;
	path[n] = '\0';
	if (!is_clean(path))
		return;
	fputs("Any of these helps:\n  sudo ", to);
	put_word(to, path);
	fputs("\n      this time\n", to);
	put_setcap(to, path);
	fputs("  ", to);
	put_word(to, path);
	fputs(" --check\n      lists all that sampling needs, and what is missing\n  ", to);
	put_word(to, path);
	fputs(" -r FILE\n      shows a recording, for which no rights are needed\n", to);
	put_demo(to, path);
}
