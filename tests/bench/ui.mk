# SPDX-License-Identifier: GPL-2.0-or-later
bench-programs: $(BUILD)/tests/bench/ui

$(BUILD)/tests/bench/ui: tests/bench/ui.c $(tui_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,BENCH,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(WERROR_) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< $(tui_LIBS) $(LDLIBS)
