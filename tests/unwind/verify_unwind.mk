# SPDX-License-Identifier: GPL-2.0-or-later
# For files of the other processor.

tests: $(BUILD)/tests/unwind/verify_unwind.other

$(BUILD)/unwind-other.a: $(OTHER_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@.$$$$ && $(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@

$(BUILD)/tests/unwind/verify_unwind.other: tests/unwind/verify_unwind.c tests/support/tablerule.c \
		$(BUILD)/unwind-other.a $(symbols_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,TEST,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(WERROR_) -D$(FOR_$(OTHER)) -MMD -MP -MF $@.d \
		$(LDFLAGS) -o $@ $< tests/support/tablerule.c $(BUILD)/unwind-other.a $(symbols_LIBS) $(LDLIBS)
