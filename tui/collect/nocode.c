// SPDX-License-Identifier: GPL-2.0-or-later
/* See nocode.h. */
#include "tui/collect/nocode.h"

#include <errno.h>
#include <string.h>

#include "symbols/insn/disasm.h"

const char *nocode_nowhere(enum func_kind kind, bool exited)
{
	switch (kind) {
	case FUNC_KERNEL:
		return "no function of that name is there now: its module was unloaded, or symbols "
		       "are hidden (run as root, set kernel.kptr_restrict to 0 or 1)";
	case FUNC_JIT:
		return exited ? "its process has exited, and its code with it"
			      : "other code is in its place by now";
	default:
		return exited ? "its process has exited, so the file of its code is not open"
			      : "its code is not in a file";
	}
}

static const char *kernel_unread(int err)
{
	switch (err) {
	case -ENOENT:
		return "the kernel has no /proc/kcore (CONFIG_PROC_KCORE), and lets no BPF program "
		       "read its code (Linux 5.14, without lockdown=confidentiality)";
	case -EPERM:
	case -EACCES:
		return "/proc/kcore is refused: run as root (CAP_SYS_RAWIO), or boot without "
		       "lockdown";
	case -EFAULT:
		return "nothing is at its address any more: its module was unloaded";
	default:
		return NULL;
	}
}

static const char *memory_unread(int err)
{
	switch (err) {
	case -EFAULT:
		return "nothing is at its address any more: its process has freed the code";
	case -ESRCH:
		return nocode_nowhere(FUNC_JIT, true);
	case -EPERM:
		return "the memory of its process is refused: run as root (CAP_SYS_PTRACE)";
	case -ETIMEDOUT:
		return "the memory of its process does not answer";
	default:
		return NULL;
	}
}

const char *nocode_unread(enum func_kind kind, int err)
{
	const char *why = kind == FUNC_KERNEL ? kernel_unread(err)
			  : kind == FUNC_JIT  ? memory_unread(err)
					      : NULL;

	if (why)
		return why;
	switch (err) {
	case -ENODATA:
		return "the end of the function is unknown";
	case -ENOTSUP:
		return disasm_missing() ?: "there is no disassembler for its machine";
	case -ENOENT:
		return "the file has no code at its address";
	default:
		return strerror(-err);
	}
}
