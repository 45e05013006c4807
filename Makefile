# stacktop - see `make help`
BUILD   := build
CC      ?= gcc
CLANG   ?= clang
CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wformat=2
CFLAGS_ALL = -std=gnu11 $(WARN) $(if $(CI)$(WERROR),-Werror) -D_GNU_SOURCE -I. -I$(BUILD) -pthread $(CFLAGS)
LDLIBS  := -lbpf -ldw -lelf -lncursesw -ltinfo -liberty -lz -pthread -lm

all: $(BUILD)/stacktop

objs = $(patsubst %.c,$(BUILD)/%.o,$(filter-out %.bpf.c,$(wildcard $(1)/*.c)))

$(BUILD)/symbols.a: $(call objs,symbols)
$(BUILD)/unwind.a: $(call objs,unwind)
$(BUILD)/bpf.a: $(call objs,bpf)
$(BUILD)/tui.a: $(filter-out $(BUILD)/tui/main.o,$(call objs,tui))
$(BUILD)/%.a:
	rm -f $@ && ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
