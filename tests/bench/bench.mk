# SPDX-License-Identifier: GPL-2.0-or-later
# The program that `make bench` walks: one chain of calls, built once per kind of frame.

CHAIN_FLAGS := -std=gnu11 -O2 -fno-pie -fno-stack-protector -fcf-protection=none -fno-optimize-sibling-calls
CHAIN_CFI   := -fomit-frame-pointer -fasynchronous-unwind-tables
CHAIN_FP    := -fno-omit-frame-pointer -fasynchronous-unwind-tables
CHAIN_BARE  := -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables
CHAIN_BIN   := $(addprefix $(BUILD)/tests/bench/chain.,cfi fp mixed)

bench-programs: $(CHAIN_BIN) $(BUILD)/tests/bench/again $(BUILD)/tests/bench/again.bpf.o \
	$(BUILD)/tests/bench/load $(BUILD)/tests/bench/pingpong

$(BUILD)/tests/bench/again: tests/bench/again.c $(unwind_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,BENCH,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(WERROR_) -fomit-frame-pointer -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< $(unwind_LIBS) \
		-lcmocka $(LDLIBS)

$(BUILD)/tests/bench/load $(BUILD)/tests/bench/pingpong: $(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/flags
	$(folder)
	$(call say,BENCH,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(WERROR_) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< $(LDLIBS)

# $(1): name, $(2) and $(3): flags of the first and of the second source
define chain_rule
$(BUILD)/tests/bench/chain.$(1): tests/bench/chain.c tests/bench/bench.mk
	$$(folder)
	$$(call say,BENCH,$$@)
	$$(Q)$$(CC) $$(CHAIN_FLAGS) $(2) -c -o $$@.1.o $$<
	$$(Q)$$(CC) $$(CHAIN_FLAGS) $(3) -DSECOND_PART -c -o $$@.2.o $$<
	$$(Q)$$(CC) -nostdlib -static -no-pie -o $$@ $$@.1.o $$@.2.o
endef
$(eval $(call chain_rule,cfi,$(CHAIN_CFI),$(CHAIN_CFI)))
$(eval $(call chain_rule,fp,$(CHAIN_FP),$(CHAIN_FP)))
$(eval $(call chain_rule,mixed,$(CHAIN_CFI),$(CHAIN_BARE)))
