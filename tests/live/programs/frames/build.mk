# SPDX-License-Identifier: GPL-2.0-or-later
# The programs of tests/live/test_frames.py. How they are built is what is tested, so CFLAGS do not
# apply.

FRAMES_SRC   := tests/live/programs/frames
FRAMES_DIR   := $(BUILD)/tests/frames
FRAMES_FLAGS := -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -Wall -Wextra
FRAMES_BIN   := $(addprefix $(FRAMES_DIR)/,nest kernel signals realign realign.all plt coro throw blind clones \
	nest.full nest.none plt.full plt.none plt.got libcallee.so libopened.so)
FRAMES_CC     = $(CC) -std=gnu11 -D_GNU_SOURCE -MMD -MP -MF $@.d $(FRAMES_FLAGS)
FRAMES_CXX   ?= g++

tests: $(if $(CROSS),$(addprefix $(FRAMES_DIR)/,nest signals clones),$(FRAMES_BIN))

# Lazy binding needs a PLT with writable slots, whatever the defaults of the distribution's linker.
FRAMES_LAZY   := -L$(FRAMES_DIR) -Wl,-z,lazy,-z,norelro '-Wl,-rpath,$$ORIGIN'
FRAMES_FULL   := -fcf-protection=full -Wl,-z,ibtplt,-z,ibt,-z,shstk

$(FRAMES_DIR)/%: $(FRAMES_SRC)/%.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -o $@ $< -pthread

# No function takes a vector as argument: GCC's note on their ABI does not apply.
$(FRAMES_DIR)/realign: FRAMES_FLAGS += -Wno-psabi
$(FRAMES_DIR)/realign.all: FRAMES_FLAGS += -Wno-psabi -mstackrealign

$(FRAMES_DIR)/%.all: $(FRAMES_SRC)/%.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -o $@ $<

$(FRAMES_DIR)/%.full: $(FRAMES_SRC)/%.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) $(FRAMES_FULL) -o $@ $<

$(FRAMES_DIR)/%.none: $(FRAMES_SRC)/%.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -fcf-protection=none -o $@ $<

$(FRAMES_DIR)/plt: $(FRAMES_SRC)/plt.c $(FRAMES_DIR)/libcallee.so
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -o $@ $< $(FRAMES_LAZY) -lcallee -ldl

$(FRAMES_DIR)/plt.full: $(FRAMES_SRC)/plt.c $(FRAMES_DIR)/libcallee.so
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) $(FRAMES_FULL) -o $@ $< $(FRAMES_LAZY) -lcallee -ldl

$(FRAMES_DIR)/plt.none: $(FRAMES_SRC)/plt.c $(FRAMES_DIR)/libcallee.so
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -fcf-protection=none -o $@ $< $(FRAMES_LAZY) -lcallee -ldl

# Taking the address of a function makes its calls go through .plt.got.
$(FRAMES_DIR)/plt.got: $(FRAMES_SRC)/plt.c $(FRAMES_DIR)/libcallee.so
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -DTAKE_ADDRESS -o $@ $< $(FRAMES_LAZY) -lcallee -ldl

$(FRAMES_DIR)/lib%.so: $(FRAMES_SRC)/callee.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -fPIC -shared -Wl,-z,lazy -o $@ $<

$(FRAMES_DIR)/coro: $(FRAMES_SRC)/coro.c $(FRAMES_SRC)/switch.S
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -o $@ $^

$(FRAMES_DIR)/throw: $(FRAMES_SRC)/throw.cc
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CXX) -MMD -MP -MF $@.d $(FRAMES_FLAGS) -o $@ $<

# Removes any CFI that the compiler adds by default.
$(FRAMES_DIR)/blindc.o: $(FRAMES_SRC)/blindc.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-c -o $@ $<
	$(Q)objcopy --remove-section .eh_frame --remove-section .rela.eh_frame $@

# Its callers have sound frame pointers, beside CFI.
$(FRAMES_DIR)/blind: FRAMES_FLAGS += -fno-omit-frame-pointer
$(FRAMES_DIR)/blind: $(FRAMES_SRC)/blind.c $(FRAMES_SRC)/blind.S $(FRAMES_DIR)/blindc.o
	$(call say,WORK,$@)
	$(Q)$(FRAMES_CC) -o $@ $^
