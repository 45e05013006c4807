// SPDX-License-Identifier: GPL-2.0-or-later
/* See nocode.h. */
#include "tui/collect/nocode.h"

#include <errno.h>
#include <string.h>

#include "symbols/insn/disasm.h"

#define PATH_KEPT 255u /* bytes of a module that a profile keeps; longer names are cut */

const char *nocode_nowhere(enum func_kind kind, bool exited)
{
	if (func_has_source(kind))
		return exited ? "its process has exited, and with it the root of its files"
			      : "it is not known which file it is in";
	switch (kind) {
	case FUNC_KERNEL:
		return "no function of that name is there now: its module was unloaded, or symbols "
		       "are hidden (run as root, set kernel.kptr_restrict to 0 or 1)";
	case FUNC_JS:
		return exited ? "its process has exited, and its code with it"
			      : "V8's interpreter runs it, or other code is in its place by now";
	case FUNC_JIT:
	case FUNC_JAVA:
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

static const char *source_unread(int err)
{
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		return "its process has no file of that name now";
	case -ENODATA:
		return "the file is shorter now: it does not have its lines";
	case -EINVAL:
		return "that is no regular file";
	case -EFBIG:
		return "the file is larger than 8 MiB";
	case -ESRCH:
		return nocode_nowhere(FUNC_PYTHON, true);
	case -EPERM:
	case -EACCES:
		return "the file is refused: run as root";
	default:
		return NULL;
	}
}

const char *nocode_no_file(const char *path)
{
	if (!strncmp(path, "<frozen", strlen("<frozen")))
		return "it is built into the interpreter";
	if (path[0] == '<' || !path[0])
		return "it was compiled from a text in memory, not from a file";
	if (!strcmp(path, "?"))
		return "the name of its file could not be read";
	if (strlen(path) >= PATH_KEPT)
		return "the name of its file is too long";
	return NULL;
}

const char *nocode_unread(enum func_kind kind, int err)
{
	const char *why = kind == FUNC_KERNEL	  ? kernel_unread(err)
			  : func_is_made(kind)	  ? memory_unread(err)
			  : func_has_source(kind) ? source_unread(err)
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
