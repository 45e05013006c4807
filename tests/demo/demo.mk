# SPDX-License-Identifier: GPL-2.0-or-later
# The demonstration: programs, their recording, its replay, and the pictures in docs/ made from it.

DEMO_BIN := $(patsubst tests/demo/%.c,$(BUILD)/tests/demo/%,$(wildcard tests/demo/*.c)) \
	$(BUILD)/tests/demo/shop.py

$(BUILD)/tests/demo/%: tests/demo/%.c
	$(folder)
	$(call say,DEMO,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -o $@ $< -pthread

$(BUILD)/tests/demo/%.py: tests/demo/%.py
	$(folder)
	$(Q)cp $< $@

# The recording is published, so it must not describe the machine that it was made on.
RECORDED_BIN := $(DEMO_BIN:$(BUILD)/tests/demo/%=$(BUILD)/tests/demo/recorded/%)
$(BUILD)/tests/demo/recorded/%: tests/demo/%.c
	$(folder)
	$(call say,DEMO,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -fdebug-prefix-map=$(CURDIR)=/stacktop \
		-o $@ $< -pthread

$(BUILD)/tests/demo/recorded/%.py: tests/demo/%.py
	$(folder)
	$(Q)cp $< $@

# Functions of Python have the path of their file: it is /srv. $(1): the folder of the programs.
AS_DEMO = unshare --uts --cgroup --mount sh -c 'echo demo >/proc/sys/kernel/hostname && \
	mount --bind $(BUILD)/tests/demo/$(1) /srv && exec "$$@"' -

.PHONY: demo demo-session docs-screens docs-screens-live
##   demo           replay the recording docs/demo.session; needs no rights
demo:
	@tests/deps.sh install build
	@+$(parallel) all
	@$(BUILD)/stacktop --replay docs/demo.session $(ARGS)

##   demo-session   record docs/demo.session anew: a minute of the programs below tests/demo/; needs root
demo-session:
	@tests/deps.sh install build
	@+$(parallel) all $(RECORDED_BIN)
	@$(call AS_DEMO,recorded) $(BUILD)/stacktop -b -e wall -d 1 -F 199 --record docs/demo.session -- \
		/srv/stage >/dev/null
	@chmod 644 docs/demo.session && ls -l docs/demo.session

##   docs-screens   redraw the pictures of README and docs/ from docs/demo.session
docs-screens:
	@tests/deps.sh install build
	@+$(parallel) all
	@tests/demo/screens.sh $(BUILD) session docs/screens

##   docs-screens-live  redraw those that no session has: walks, tables, machine code; needs root
docs-screens-live:
	@tests/deps.sh install build
	@+$(parallel) all $(DEMO_BIN)
	@$(call AS_DEMO,) tests/demo/screens.sh $(BUILD) live docs/screens
