# SPDX-License-Identifier: GPL-2.0-or-later
bench-programs: $(BUILD)/tests/bench/session

$(BUILD)/tests/bench/session: tests/bench/session.c $(tui_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,BENCH,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(WERROR_) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< $(tui_LIBS) $(LDLIBS)
