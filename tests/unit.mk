# SPDX-License-Identifier: GPL-2.0-or-later
# The unit tests. They are built with sanitizers, in a folder of their own, beside a stacktop with the
# same flags. ASan finds null pointers and exceeded objects without UBSan's help. Warnings come from the
# usual build: sanitizers make some of the compiler's wrong. A compiler without sanitizers builds them,
# too.

UNIT     := $(BUILD)/asan
SANITIZE := -fsanitize=address,undefined -fno-sanitize=null,object-size \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize = $(if $(shell echo 'int main(void) { return 0; }' | $(CC) -x c - $(SANITIZE) -o /dev/null \
	2>&1 || echo none),,$(SANITIZE))
unit_make = $(MAKE) --no-print-directory BUILD=$(UNIT) WARN= CFLAGS='-O1 -g1 $(sanitize)' TEST_CFLAGS='-O0 -g'

.PHONY: unit unit-programs
# All of them, or GOALS.
unit:
	+$(Q)$(unit_make) $(or $(GOALS),all unit-programs)
unit-programs: $(TEST_BIN) $(FEED_BIN)
$(UNIT)/%: FORCE
	+$(Q)$(unit_make) $@

# `/* build: FLAGS */` in the first five lines of a program below tests/ adds flags.
own_flags = $(shell sed -n '1,5s,.*/\* build: \(.*\) \*/.*,\1,p' $(1))
needs_lib = $(if $(shell grep -ls 'include <vterm.h>' $(1)),-lvterm)

# Code shared by test programs, compiled once; a program links only the functions that it calls.
$(SUPPORT): $(call objs,tests/support)

# The test programs of a room are one file with a link for each program, whose name says which one it
# is. Linked `alone` are programs with flags for the linker, or with functions in place of the product's.
ALONE_C := $(shell grep -lE '/\* build: .*(alone|-Wl,|\.c\b)' $(TEST_C))
ROOM_C  := $(filter-out $(ALONE_C),$(TEST_C))
in_room  = $(filter $(1)%,$(foreach c,$(ROOM_C),$(if $(filter $(1),$(dir $(c))),$(c))))
tests/unwind/arm64/_LIBS  := $(if $(filter arm64,$(ARCH)),$(BUILD)/unwind.a,$(BUILD)/unwind-other.a) \
	$(symbols_LIBS)
tests/unwind/arm64/_FLAGS := -D$(FOR_arm64)
room_LIBS = $(or $($(1)_LIBS),$($(word 2,$(subst /, ,$(1)))_LIBS))

# cmocka 2 deprecates assert_in_range for macros that cmocka 1 lacks.
TEST_WARNINGS := $(WARNINGS) -Wno-deprecated-declarations

# Own flags come last: they take away some of the others.
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags | $(BUILD)/have-libraries
	$(folder)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(TEST_WARNINGS) $(TEST_CFLAGS) $(WERROR_) $($(dir $<)_FLAGS) \
		$(filter-out -Wl$(comma)% %.c alone,$(call own_flags,$<)) -MMD -MP -c -o $@ $<
	$(if $(filter $(ROOM_C),$<),$(Q)$(OBJCOPY) --redefine-sym main=$(*F)_main $@)
# For programs of the bench; the rule above would take them, since its stem is shorter.
$(BUILD)/tests/%.bpf.o: tests/%.bpf.c $(BUILD)/flags | $(BUILD)/have-libraries
	$(make_bpf)

# $(1): folder of tests
define room_rule
$(BUILD)/$(1)all: $(patsubst %.c,$(BUILD)/%.o,$(call in_room,$(1))) $(BUILD)/$(1)programs \
		tests/support/room.h $(SUPPORT) $(call room_LIBS,$(1))
	$$(call say,TESTS,$$@)
	$$(Q)$$(CC) $$(CFLAGS_ALL) $$(LDFLAGS) -o $$@ -x c $(BUILD)/$(1)programs -x none \
		$$(filter %.o %.a,$$^) -lcmocka $$(call needs_lib,$(call in_room,$(1))) $$(LDLIBS)
$(BUILD)/$(1)programs: FORCE
	@$$(call write_if_changed,'#define PROGRAMS$(patsubst %.c, PROGRAM(%),$(notdir $(call in_room,$(1))))' \
		'#include "tests/support/room.h"')
$(patsubst %.c,$(BUILD)/%,$(call in_room,$(1))): $(BUILD)/$(1)all
	$$(Q)ln -f $$< $$@
endef
$(foreach d,$(sort $(dir $(ROOM_C))),$(eval $(call room_rule,$(d))))

# Programs that are linked alone, and helpers.
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(SUPPORT)
	$(call say,TEST,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $< $(filter-out alone,$(call own_flags,tests/$*.c)) \
		$(filter %.a,$^) -lcmocka $(call needs_lib,tests/$*.c) $(LDLIBS)
$(foreach c,$(ALONE_C) $(HELPER_C) $(FEED_C),$(eval $(c:%.c=$(BUILD)/%): $(call room_LIBS,$(dir $(c)))))
