# SPDX-License-Identifier: GPL-2.0-or-later
##   hostile        attack it with files, names, mounts and stacks of other users (2 minutes)
.PHONY: hostile
hostile:
	@tests/deps.sh install build test
	@+$(parallel) all
	@BUILD=$(BUILD) SIZE=full tests/run.py $(or $(T),hostile/)
