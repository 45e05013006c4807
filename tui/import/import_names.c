// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of other profilers have names where the profile has kinds. The rules are those of the tools
 * that write them: perf has the kernel's files in brackets, flamegraph.pl's annotations stand
 * behind a name, and stacktop itself writes reasons in brackets and modules of the kernel plain.
 */
#include "tui/import/import_names.h"

#include <stdio.h>
#include <string.h>

#include "symbols/base/text.h"
#include "tui/profile/language.h"
#include "tui/profile/reasons.h"

static bool begins(struct import_text text, const char *with)
{
	size_t n = strlen(with);

	return text.length >= n && !memcmp(text.at, with, n);
}

static bool ends(struct import_text text, const char *with)
{
	size_t n = strlen(with);

	return text.length >= n && !memcmp(text.at + text.length - n, with, n);
}

static bool equals(struct import_text text, const char *with)
{
	return text.length == strlen(with) && begins(text, with);
}

struct import_text import_base(struct import_text path)
{
	const char *slash = path.length ? memrchr(path.at, '/', path.length) : NULL;
	size_t behind = slash ? (size_t)(slash + 1 - path.at) : 0;

	if (behind == path.length)
		return path;
	return (struct import_text){path.at + behind, path.length - behind};
}

/* Names in brackets that perf gives to memory of processes. */
static bool is_of_process(struct import_text file)
{
	static const char *const names[] = {"[vdso]", "[vdso32]", "[vsyscall]", "[unknown]",
					    "[heap]", "[stack]",  "[jit]",	"[uprobes]",
					    "[anon]", "[profile]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (equals(file, names[i]))
			return true;
	return begins(file, "[anon:") || begins(file, "[stack:");
}

bool import_kernel_module(struct import_text file, char *to, size_t size)
{
	static const char *const ko[] = {".ko", ".ko.xz", ".ko.zst", ".ko.gz", ".ko.debug"};
	struct import_text base = import_base(file);

	if (begins(file, "[kernel") || begins(file, "[guest.kernel") || begins(base, "vmlinux") ||
	    equals(base, "kcore")) {
		text_clean(to, size, "vmlinux", strlen("vmlinux"));
		return true;
	}
	if (begins(file, "bpf_prog_")) {
		text_clean(to, size, "bpf", strlen("bpf"));
		return true;
	}
	if (begins(file, "[") && ends(file, "]") && file.length > 2 && !is_of_process(file)) {
		text_clean(to, size, file.at + 1, file.length - 2);
		return true;
	}
	for (size_t i = 0; i < sizeof(ko) / sizeof(*ko); i++) {
		if (!ends(base, ko[i]))
			continue;
		text_clean(to, size, base.at, base.length - strlen(ko[i]));
		return true;
	}
	return false;
}

/* stacktop's own files have modules of the kernel without brackets, and none for what is unknown.
 */
static bool may_be_kernel(struct import_text file)
{
	return !file.length || (!memchr(file.at, '/', file.length) &&
				!memchr(file.at, '.', file.length) && *file.at != '[');
}

/* FUNC_USER: it is no source of a known language. */
static enum func_kind language_of(struct import_text file)
{
	static const struct {
		const char *end;
		enum func_kind kind;
	} ends_in[] = {{".py", FUNC_PYTHON}, {".php", FUNC_PHP}, {".pl", FUNC_PERL},
		       {".pm", FUNC_PERL},   {".rb", FUNC_RUBY}, {".js", FUNC_JS},
		       {".mjs", FUNC_JS},    {".cjs", FUNC_JS},	 {".java", FUNC_JAVA}};

	if (begins(file, "<frozen ")) /* modules that are part of Python itself */
		return FUNC_PYTHON;
	for (size_t i = 0; i < sizeof(ends_in) / sizeof(*ends_in); i++)
		if (ends(file, ends_in[i].end))
			return ends_in[i].kind;
	return FUNC_USER;
}

bool import_is_source(struct import_text file)
{
	return language_of(file) != FUNC_USER;
}

static bool is_made(struct import_text file)
{
	return equals(file, "[jit]") || begins(file, "//anon") || begins(file, "[anon:") ||
	       (begins(import_base(file), "perf-") && ends(file, ".map")) ||
	       (begins(import_base(file), "jitted-") && ends(file, ".so"));
}

/* "[no table for pc]" as outermost frame. */
static bool is_end(struct import_named *out)
{
	size_t length = strlen(out->name);
	char reason[64];

	if (length < 3 || length >= sizeof(reason) || out->name[0] != '[' ||
	    out->name[length - 1] != ']')
		return false;
	memcpy(reason, out->name + 1, length - 2);
	reason[length - 2] = '\0';
	if (!strcmp(reasons_find(reason)->name, "?"))
		return false;
	memcpy(out->name, reason, length - 1);
	return true;
}

/* The annotations of flamegraph.pl, and stacktop's own for languages; cut off. */
static enum func_kind take_mark(char *name)
{
	static const struct {
		const char *mark;
		enum func_kind kind;
	} marks[] = {{"_[k]", FUNC_KERNEL},
		     {"_[i]", FUNC_INLINE},
		     {"_[j]", FUNC_JIT},
#define LANGUAGE_MARK(id, mark, name) {"_[" mark "]", id},
		     LANGUAGES(LANGUAGE_MARK)
#undef LANGUAGE_MARK
	};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t n = strlen(marks[i].mark);

		if (length > n && !strcmp(name + length - n, marks[i].mark)) {
			name[length - n] = '\0';
			return marks[i].kind;
		}
	}
	return FUNC_USER;
}

static enum func_kind kind_of(const struct import_frame *frame, bool first, bool in_kernel,
			      struct import_named *out)
{
	struct import_text file = frame->module;
	enum func_kind kind = language_of(file);
	bool kernel = import_kernel_module(file, out->module, sizeof(out->module));

	if (!kernel && is_made(file))
		text_clean(out->module, sizeof(out->module), "[jit]", strlen("[jit]"));
	else if (!kernel && equals(file, "[unknown]"))
		out->module[0] = '\0';
	else if (!kernel) {
		struct import_text shown = kind == FUNC_USER ? import_base(file) : file;

		text_clean(out->module, sizeof(out->module), shown.at, shown.length);
	}
	if (first && is_end(out))
		return FUNC_END;
	if (frame->inlined)
		return FUNC_INLINE;
	if (kernel || (in_kernel && may_be_kernel(file)))
		return FUNC_KERNEL;
	return is_made(file) ? FUNC_JIT : kind;
}

void import_named(const struct import_frame *frame, bool first, bool in_kernel,
		  struct import_named *out)
{
	out->module[0] = '\0';
	if (!text_clean(out->name, sizeof(out->name), frame->name.at, frame->name.length))
		snprintf(out->name, sizeof(out->name), "%s", frame->marked ? "?" : "[unknown]");
	if (!frame->marked)
		out->kind = kind_of(frame, first, in_kernel, out);
	else
		out->kind = first && is_end(out) ? FUNC_END : take_mark(out->name);
}
