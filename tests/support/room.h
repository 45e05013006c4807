/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The test programs of a room in one file: its name, by which it was started, says which one runs.
 * PROGRAMS has PROGRAM(NAME) for each; its main() is NAME_main (tests/unit.mk).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM(name) int name##_main(int argc, char **argv);
PROGRAMS
#undef PROGRAM

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*main)(int argc, char **argv);
	} programs[] = {
#define PROGRAM(name) {#name, name##_main},
		PROGRAMS
#undef PROGRAM
	};
	char path[4096];
	/* Not argv[0]: some start themselves again under another name. */
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *name;
	size_t i;

	path[length < 0 ? 0 : length] = '\0';
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(programs[i].name, name))
			return programs[i].main(argc, argv);
	fprintf(stderr, "%s: there is no such test program in this room\n", path);
	return 2;
}
