# SPDX-License-Identifier: GPL-2.0-or-later

# Large programs, of gcc and clang, of C and C++, stripped and not.
DERIVED := $(wildcard /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
	/usr/lib/x86_64-linux-gnu/libcrypto.so.3 /usr/bin/perl /usr/bin/python3 /usr/bin/node)

.PHONY: verify-derived
##   verify-derived compare rows derived from machine code with CFI (FILES='...')
verify-derived:
	@tests/deps.sh install build test
	@+$(parallel) $(BUILD)/tests/unwind/verify_derived
	$(Q)$(BUILD)/tests/unwind/verify_derived $(or $(FILES),$(DERIVED))
