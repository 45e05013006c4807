/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs two programs in turn, as processes with the same PID (root only).
 *
 *	samepid ALPHA BRAVO [ARG...]		both with these arguments, until it is killed
 */

#include <err.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t pid = fork(), child;
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid_size = 1};
	int turn = 0;

	if (argc < 3)
		return 2;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	args.set_tid = (uint64_t)(uintptr_t)&pid;
	for (;;) {
		child = syscall(SYS_clone3, &args, sizeof(args));
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execv(argv[1 + turn], argv + 2);
			err(1, "%s", argv[1 + turn]);
		}
		if (child == pid) {
			waitpid(child, NULL, 0);
			turn ^= 1;
		} else {
			usleep(10000);
		}
	}
}
