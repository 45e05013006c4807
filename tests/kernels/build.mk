# SPDX-License-Identifier: GPL-2.0-or-later
# The guests walk programs of tests/live; programs without a compiler here are left out there, too.

kernel-programs: $(addprefix $(BUILD)/tests/frames/,nest signals $(if $(CROSS),clones,realign)) \
		$(BUILD)/tests/python/guest.py

$(BUILD)/tests/python/%.py: tests/live/programs/python/%.py
	$(folder)
	$(Q)cp $< $@
