# SPDX-License-Identifier: GPL-2.0-or-later

# How it is compiled is what is tested, as with the workloads.
$(BUILD)/tests/unwind/verify_step_load: tests/unwind/verify_step_load.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. -O2 -fomit-frame-pointer -MMD -MP -MF $@.d \
		-Wl,-z,lazy -o $@ $< -lcmocka -ldl

# About two million instructions: whole short programs, then parts of long ones.
PYTHON_EXE := $(shell python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
STEP_ALL   := -- $(BUILD)/tests/unwind/verify_step_load \
	-- ls -l /usr -- sort Makefile -- sh -c 'for i in 1 2 3; do echo $$i | cat; done' \
	-- xz -0 -c tests/unwind/verify_unwind.c \
	-- env -i $(BUILD)/stacktop --help
STEP_LONG  := -- perl tests/unwind/verify_step_load.pl \
	-- $(PYTHON_EXE) tests/unwind/verify_step_load.py
# Hand-written CFI and a JIT, if they are installed.
ifneq ($(shell command -v openssl),)
STEP_LONG  += -- openssl speed -seconds 1 sha256 aes-128-cbc rsa2048 ecdhx25519
endif
ifneq ($(shell command -v node),)
STEP_LONG  += -- node -e 'for (let o = {};; o[Math.random() * 999 | 0] = 1) JSON.stringify(o)'
endif

.PHONY: verify-step
##   verify-step    run programs one instruction at a time and compare each step with libdw and the truth
verify-step:
	@tests/deps.sh install build test
	@+$(parallel) all $(BUILD)/tests/unwind/verify_step \
		$(BUILD)/tests/unwind/verify_step_load
	$(Q)$(BUILD)/tests/unwind/verify_step -n 250000 $(STEP_ALL)
	$(Q)$(BUILD)/tests/unwind/verify_step -n 300000 -b 5000 -f 30000 $(STEP_LONG)
