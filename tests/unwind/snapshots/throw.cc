// SPDX-License-Identifier: GPL-2.0-or-later
// Personality, LSDA and landing pads.
#include <cstdio>

struct guard {
	const char *name;
	explicit guard(const char *n) : name(n) {}
	~guard() { puts(name); }
};

__attribute__((noinline)) int throws(int n)
{
	guard g("throws");
	if (n > 2)
		throw n;
	return n;
}

struct base {
	virtual int run(int n);
	virtual ~base() {}
};

int base::run(int n)
{
	guard g("run");
	try {
		return throws(n);
	} catch (int caught) {
		return caught + throws(n - 1);
	}
}

int main(int argc, char **)
{
	base b;
	return b.run(argc);
}
