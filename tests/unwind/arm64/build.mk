# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of what is of arm64, on any machine.

$(BUILD)/tests/unwind/arm64/%: tests/unwind/arm64/%.c $(if $(filter arm64,$(ARCH)),$(BUILD)/unwind.a,\
		$(BUILD)/unwind-other.a) $(symbols_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,TEST,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(WERROR_) -D$(FOR_arm64) -MMD -MP -MF $@.d $(LDFLAGS) \
		-o $@ $< $(filter %.a,$^) -lcmocka $(LDLIBS)
