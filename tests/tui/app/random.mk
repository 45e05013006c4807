# SPDX-License-Identifier: GPL-2.0-or-later

##   random-keys    type 100,000 random keys at the screen under the sanitizers (KEYS=...)
.PHONY: random-keys
random-keys:
	@tests/deps.sh install build test
	@$(MAKE) --no-print-directory unit
	@STACKTOP_RANDOM_KEYS=$(or $(KEYS),100000) LC_ALL=C.UTF-8 $(UNIT)/tests/tui/app/test_random
	@BUILD=$(UNIT) TIME_FACTOR=5 STACKTOP_RANDOM_KEYS=$(or $(KEYS),100000) \
		python3 tests/live/test_random_keys.py
