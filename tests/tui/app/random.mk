# SPDX-License-Identifier: GPL-2.0-or-later

##   random-keys    type 100,000 random keys at the screen under the sanitizers (KEYS=...)
.PHONY: random-keys
random-keys:
	@tests/deps.sh install build test
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined' \
		all $(BUILD)/asan/tests/tui/test_random
	@STACKTOP_RANDOM_KEYS=$(or $(KEYS),100000) LC_ALL=C.UTF-8 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(BUILD)/asan/tests/tui/test_random
	@BUILD=$(BUILD)/asan TIME_FACTOR=5 STACKTOP_RANDOM_KEYS=$(or $(KEYS),100000) \
		python3 tests/live/test_random_keys.py
