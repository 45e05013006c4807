# SPDX-License-Identifier: GPL-2.0-or-later
# The program of tests/live/test_giant.py.

GIANT_BIN := $(BUILD)/tests/giant/giant

tests: $(GIANT_BIN)

$(GIANT_BIN): tests/live/programs/giant/giant.c
	$(folder)
	$(call say,GIANT,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -MMD -MP -MF $@.d -O1 -fno-omit-frame-pointer -Wall -Wextra -o $@ $<
