# SPDX-License-Identifier: GPL-2.0-or-later
##   soak           endurance: a minute each of short processes, being stopped, and more (10 minutes)
.PHONY: soak
soak:
	@tests/deps.sh install build test
	@+$(parallel) all
	@BUILD=$(BUILD) SOAK=1 python3 tests/live/test_endurance.py $(T)
