/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of /proc/PID/cgroup as the runtimes' documentation and bug reports show them, and some that
 * no runtime writes.
 * Covers: symbols/files/cgroup.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/files/cgroup.h"

#define ID "3f29ad0a9cd9b4e3a0cf8a9d0b3a1c5e7f60718293a4b5c6d7e8f90112233445"

static void test_names(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"0::/system.slice/docker-" ID ".scope\n", "docker 3f29ad0a9cd9"},
		{"12:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n", "docker 3f29ad0a9cd9"},
		{"0::/docker/" ID "/init\n", "docker 3f29ad0a9cd9"},
		{"0::/machine.slice/libpod-" ID ".scope/container\n", "podman 3f29ad0a9cd9"},
		{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		 ".scope\n",
		 "podman 3f29ad0a9cd9"},
		{"0::/libpod_parent/libpod-" ID "\n", "podman 3f29ad0a9cd9"},
		{"0::/machine.slice/libpod-conmon-" ID ".scope\n",
		 "libpod-conmon-" /* cut below */},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12.slice/"
		 "cri-containerd-" ID ".scope\n",
		 "containerd 3f29ad0a9cd9"},
		{"0::/kubepods/besteffort/pod1f2e3d4c-aaaa-bbbb-cccc-0123456789ab/" ID "\n",
		 "container 3f29ad0a9cd9"},
		{"0::/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope\n",
		 "cri-o 3f29ad0a9cd9"},
		{"0::/system.slice/nerdctl-" ID ".scope\n", "containerd 3f29ad0a9cd9"},
		{"0::/default/" ID "\n", "container 3f29ad0a9cd9"},
		{"0::/lxc.payload.web/system.slice/nginx.service\n", "lxc web"},
		{"4:memory:/lxc/web\n0::/\n", "lxc web"},
		{"0::/machine.slice/machine-debian\\x2d12.scope/payload\n", "machine debian-12"},
		{"0::/machine.slice/systemd-nspawn@web.service/payload\n", "nspawn web"},
		{"0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator\n",
		 "machine qemu-1-web"},
		{"0::/machine.slice/machine-one.slice/web.service\n", "web.service"},
		{"0::/machine-lab.slice\n", "machine-lab.slice"},
		{"0::/machine-lab.slice/machine-lab-a.slice/docker-" ID ".scope\n",
		 "docker 3f29ad0a9cd9"},
		{"0::/system.slice/machine-learning.service\n", "machine-learning.service"},
		{"0::/system.slice/nginx.service\n", "nginx.service"},
		{"0::/system.slice/system-getty.slice/getty@tty1.service\n", "getty@tty1.service"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
		 "app-org.gnome.Terminal.slice/vte-spawn-1.scope\n",
		 "vte-spawn-1.scope"},
		{"0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"},
		{"0::/user.slice\n", "user.slice"},
		{"3:cpu:/\n2:name=systemd:/init.scope\n0::/\n", "init.scope"},
		{"0::/../../docker-" ID ".scope\n", "docker 3f29ad0a9cd9"},
		{"0::/system.slice/docker-0123.scope\n", "docker-0123.scope"},
		{"0::/system.slice/a\033[31mb.service", "a?[31mb.service"},
		{"0::/system.slice/a\\x1b[31mb.service", "a?[31mb.service"},
		{"0::/\n", ""},
		{"0::\n", ""},
		{"", ""},
		{"\n\n:\n::\n", ""},
		{"0::/some/where\n", ""},
		{"0::////\n", ""},
		{"0::/lxc\n", ""},
	};
	char name[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t length = strlen(cases[i].text);
		char *text = malloc(length + 1); /* so that one byte too many is seen */

		assert_non_null(text);
		memcpy(text, cases[i].text, length);
		cgroup_name(text, length, name, sizeof(name));
		free(text);
		if (cases[i].name[0] && cases[i].name[strlen(cases[i].name) - 1] == '-')
			name[strlen(cases[i].name)] = '\0';
		assert_string_equal(name, cases[i].name);
	}
}

static void test_long_paths(void **state)
{
	char text[6000] = "0::/", name[40];

	(void)state;
	memset(text + 4, 'x', sizeof(text) - 4);
	memcpy(text + sizeof(text) - 8, ".service", 8);
	cgroup_name(text, sizeof(text), name, sizeof(name));
	assert_int_equal(strlen(name), sizeof(name) - 1);
	for (size_t i = 4; i < sizeof(text); i++)
		text[i] = i % 2 ? '/' : 'a';
	cgroup_name(text, sizeof(text), name, sizeof(name));
	assert_string_equal(name, "");
	cgroup_name("0::/a.service", 13, name, 3);
	assert_string_equal(name, "a.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
