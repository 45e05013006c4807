# SPDX-License-Identifier: GPL-2.0-or-later
# stacktop - see `make help`. All generated files are below $(BUILD).

# CROSS=aarch64 builds for another machine, with the libraries below SYSROOT.
CROSS   ?=
MACHINE := $(or $(CROSS),$(shell uname -m))
SYSROOT ?=
BUILD   := build$(if $(CROSS),/$(CROSS))
PREFIX  ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := $(if $(CROSS),$(CROSS)-linux-gnu-)gcc$(if $(SYSROOT), --sysroot=$(SYSROOT))
endif
AR := $(if $(CROSS),$(CROSS)-linux-gnu-)ar
OBJCOPY := $(if $(CROSS),$(CROSS)-linux-gnu-)objcopy
CLANG      ?= clang
LLVM_STRIP ?= llvm-strip
INSTALL    ?= install
CFLAGS     ?= -O2 -g
# For test code: optimizing it further takes longer than it saves.
TEST_CFLAGS ?= -O1
LDFLAGS    ?=
BPF_CPU    ?= v2
FUZZ_SECONDS ?= 30
DIR        ?= /usr/bin

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

# V=1 prints the commands, otherwise there is one line per artefact.
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = $(info $(blank)$(blank)$(1)$(tab)$(2))
endif
blank := $() $()
tab   := $(shell printf '\t')
comma := ,

# Makes the target's folder if it is missing. Starts a process only then, as say never does: there are
# a thousand targets.
folder = $(if $(wildcard $(@D)/.),,@mkdir -p $(@D))

# For targets that install packages before they build: below them, with a job for each CPU, unless the
# caller has said how many.
parallel = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# --- flags -----------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wformat=2
WARN    := $(WARNINGS)
WERROR_ := $(if $(CI)$(WERROR),-Werror)
DEFINES := -D_GNU_SOURCE -DSTACKTOP_THEME_DIR='"$(PREFIX)/share/stacktop/themes"'
CFLAGS_ALL = -std=gnu11 $(WARN) $(DEFINES) -I. -I$(BUILD) -pthread $(CFLAGS)
# Some distributions do not split terminfo from ncurses.
CURSES  := $(shell pkg-config --libs-only-l ncursesw 2>/dev/null || echo -lncursesw -ltinfo)
# Optional: without it, machine code is not shown (symbols/insn/disasm.c).
has_header = $(shell $(CC) -E -include $(1) -x c /dev/null >/dev/null 2>&1 && echo yes)
CAPSTONE := $(if $(call has_header,capstone/capstone.h),-lcapstone)
LDLIBS  := -lbpf -ldw -lelf $(CAPSTONE) $(CURSES) -liberty -lz -lzstd -llzma -pthread -lm

# clang -target bpf does not search the folder in which Debian keeps asm/types.h. Those of another
# machine must be found before this one's, which /usr/include/asm may lead to.
ARCH_x86_64  := x86
ARCH_aarch64 := arm64
BPF_ARCH  := $(or $(ARCH_$(MACHINE)),$(MACHINE))
BPF_ASM   := $(patsubst %/asm/types.h,%,$(firstword \
	$(wildcard $(SYSROOT)/usr/include/$(MACHINE)-linux-gnu/asm/types.h)))
# Loops stay loops. To find the deepest stack the verifier follows every path of calls: with the loops
# around calls unrolled that took it half of the time of a start.
BPF_FLAGS := -target bpf -mcpu=$(BPF_CPU) -O2 -g -fno-unroll-loops -Wall -Wextra -Wno-unused-parameter \
	-D__TARGET_ARCH_$(BPF_ARCH) -I. $(if $(CROSS),-nostdlibinc -isystem $(BPF_ASM) \
	-isystem $(SYSROOT)/usr/include,$(if $(BPF_ASM),-idirafter $(BPF_ASM)))

# --- what is built of what -------------------------------------------------------------------

# The sources and objects of a folder and its rooms, which are folders below it; arch/ has a folder
# for each processor.
FOLDER_x86_64  := x86_64
FOLDER_aarch64 := arm64
ARCH     := $(or $(FOLDER_$(MACHINE)),$(MACHINE))
sources  = $(filter-out %.bpf.c,$(wildcard $(1)/*.c $(1)/*/*.c $(1)/*.S $(1)/*/*.S \
	$(1)/arch/$(ARCH)/*.c))
objs     = $(patsubst %,$(BUILD)/%.o,$(basename $(call sources,$(1))))
BPF_OBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard bpf/*/*.bpf.c))

# One archive per folder, linked before those of the lower folders that it may use.
symbols_LIBS := $(BUILD)/symbols.a
unwind_LIBS  := $(BUILD)/unwind.a $(symbols_LIBS)
bpf_LIBS     := $(BUILD)/bpf.a $(unwind_LIBS)
tui_LIBS     := $(BUILD)/tui.a $(bpf_LIBS)
live_LIBS    := $(tui_LIBS)
TEST_DIRS    := symbols unwind bpf tui live

TEST_C      := $(foreach d,$(TEST_DIRS),$(wildcard tests/$(d)/test_*.c tests/$(d)/*/test_*.c))
WORK_C      := $(wildcard tests/live/programs/*.c)
# Programs that tests start: those that verify much are built as the product is, others as tests are.
HELPER_C    := $(wildcard tests/unwind/verify_*.c)
FEED_C      := $(filter-out $(TEST_C) $(WORK_C) $(HELPER_C) tests/unwind/snapshots/%,$(foreach d,$(TEST_DIRS),\
	$(wildcard tests/$(d)/*.c tests/$(d)/*/*.c)))
FUZZ_C      := $(wildcard tests/fuzz/fuzz_*.c)
SUPPORT     := $(BUILD)/tests/support.a
TEST_BIN    := $(TEST_C:%.c=$(BUILD)/%)
WORK_BIN    := $(WORK_C:tests/live/programs/%.c=$(BUILD)/tests/work/%)
HELPER_BIN  := $(HELPER_C:%.c=$(BUILD)/%)
FEED_BIN    := $(FEED_C:%.c=$(BUILD)/%)
FUZZ_BIN    := $(FUZZ_C:%.c=$(BUILD)/%)

##   all            build build/stacktop (the default); installs and runs nothing
.PHONY: all
all: $(BUILD)/stacktop

$(BUILD)/stacktop: $(BUILD)/tui/main.o $(tui_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/symbols.a: $(call objs,symbols)
$(BUILD)/unwind.a: $(call objs,unwind) $(BUILD)/unwind-other.o
$(BUILD)/bpf.a: $(call objs,bpf)
$(BUILD)/tui.a: $(filter-out $(BUILD)/tui/main.o,$(call objs,tui))

# Unwind tables of other processors: one object, of which only a function can be called.
OTHER   := $(if $(filter arm64,$(ARCH)),x86_64,arm64)
FOR_x86_64 := FOR_X86_64
FOR_arm64  := FOR_ARM64
OTHER_OBJS := $(patsubst %.c,$(BUILD)/other/%.o,$(filter-out unwind/machine.c,$(wildcard \
	unwind/*.c unwind/arch/$(OTHER)/*.c)))
$(BUILD)/other/%.o: %.c $(BUILD)/flags | $(BUILD)/have-libraries
	$(folder)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -D$(FOR_$(OTHER)) $(WERROR_) -MMD -MP -c -o $@ $<
$(BUILD)/unwind-other.o: $(OTHER_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -r -nostdlib -o $@.all $^ && \
		$(OBJCOPY) --keep-global-symbol=unwind_dump_$(OTHER) $@.all $@ && rm -f $@.all

# The list of members is a prerequisite of its own, so that a deleted source leaves the archive.
$(BUILD)/%.a: $(BUILD)/%.members
	$(call say,AR,$@)
	$(Q)rm -f $@.$$$$ && $(AR) rcs $@.$$$$ $(filter %.o,$^) && mv $@.$$$$ $@

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/have-libraries
	$(folder)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(WERROR_) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.S $(BUILD)/flags | $(BUILD)/have-libraries
	$(folder)
	$(call say,AS,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# Keeps only BTF and code: DWARF would double the size of the binary that embeds the object.
define make_bpf
	$(folder)
	$(call say,BPF,$@)
	$(Q)$(CLANG) $(BPF_FLAGS) $(WERROR_) -MMD -MP -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@
endef
$(BUILD)/%.bpf.o: %.bpf.c $(BUILD)/flags | $(BUILD)/have-libraries
	$(make_bpf)

# Rebuilds when a library has been installed or removed: it depends on __has_include.
$(BUILD)/capstone: FORCE
	@$(call write_if_changed,$(call quoted,$(CAPSTONE)))
$(BUILD)/symbols/insn/disasm.o: $(BUILD)/capstone
$(BUILD)/curl: FORCE
	@$(call write_if_changed,$(call quoted,$(call has_header,curl/curl.h)))
$(BUILD)/tui/net/curl.o $(BUILD)/tui/net/http.o: $(BUILD)/curl
$(BUILD)/microhttpd: FORCE
	@$(call write_if_changed,$(call quoted,$(call has_header,microhttpd.h)))
$(BUILD)/tui/agent/listen.o $(BUILD)/tui/agent/microhttpd.o: $(BUILD)/microhttpd

# -MMD does not see what .incbin embeds.
$(BUILD)/bpf/sampler/objects.o: $(BPF_OBJS)
$(filter $(BUILD)/tui/screen/theme%.o,$(call objs,tui)): $(wildcard themes/*.theme)

# Rewritten only when their content changes.
write_if_changed = mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
quoted = '$(subst ','\'',$(1))'
.PHONY: FORCE
$(BUILD)/flags: FORCE
	@$(call write_if_changed,$(call quoted,$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) $(CLANG) $(BPF_FLAGS)))
$(BUILD)/%.members: FORCE
	@$(call write_if_changed,$(call quoted,$(call objs,$*)))

# Names a missing library with its package, before the compiler complains. If libiberty's headers have
# no folder of their own, one below $(BUILD) leads to them.
$(BUILD)/have-libraries:
	$(folder)
	@CC=$(call quoted,$(CC)) CLANG=$(call quoted,$(CLANG)) CROSS=$(CROSS) SYSROOT=$(SYSROOT) \
		tests/deps.sh check build
	@echo '#include <libiberty/demangle.h>' | $(CC) -E - >/dev/null 2>&1 || { \
		mkdir -p $(@D)/libiberty && echo '#include <demangle.h>' >$(@D)/libiberty/demangle.h; }
	@touch $@

# --- tests -----------------------------------------------------------------------------------

# Workloads are compiled with only the flags that they name: how they are built is what is tested.
$(BUILD)/tests/work/%: tests/live/programs/%.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -MMD -MP -MF $@.d $(or $(call own_flags,$<),-O2) -o $@ $< -pthread -lm

$(BUILD)/tests/work/%.static: tests/live/programs/%.c
	$(folder)
	$(call say,WORK,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -MMD -MP -MF $@.d $(or $(call own_flags,$<),-O2) -static -o $@ $< -pthread -lm

$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(SUPPORT) $(tui_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer -MMD -MP -MF $@.d -o $@ $< $(SUPPORT) $(tui_LIBS) $(LDLIBS)

# Of arm64, on any machine.
$(BUILD)/tests/fuzz/%_arm64: tests/fuzz/%_arm64.c $(if $(filter arm64,$(ARCH)),$(BUILD)/unwind.a,\
		$(BUILD)/unwind-other.a) $(symbols_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer -D$(FOR_arm64) -MMD -MP -MF $@.d -o $@ $< \
		tests/support/elfimage.c tests/support/tablerule.c $(filter %.a,$^) $(LDLIBS)

.PHONY: run test test-all tests check install uninstall help clean bench bench-programs fuzz \
	fuzz-programs test-kernels kernel-programs verify-unwind tsan format where mutate zoo distributions
##   run            install missing packages, build, and start (ARGS='...': options); sudo only to start
run:
	@tests/deps.sh install build
	@+$(parallel) all
	@set --; [ -t 1 ] || set -- -b -d 2 -n 1; \
	if [ "$$(id -u)" = 0 ] || ! command -v sudo >/dev/null; then \
		exec $(BUILD)/stacktop "$$@" $(ARGS); \
	else \
		exec sudo $(BUILD)/stacktop "$$@" $(ARGS); \
	fi

##   test           install missing packages, build and run all tests (T=WORD: tests with it in their name)
test:
	@BUILD=$(BUILD) SIZE=$(SIZE) tests/suite.sh $(T)

##   test-all       all tests at full size, tsan, fuzz, soak and the comparisons (80 minutes)
test-all:
	@BUILD=$(BUILD) tests/targets.sh 'test SIZE=full' tsan \
		random-keys verify-unwind verify-step fuzz soak 'check SIZE=full'

##   tests          build all test programs
tests: all unit $(WORK_BIN) $(HELPER_BIN) $(BUILD)/tests/work/deep90.static

##   test-kernels   load and walk on Linux 5.10, 6.1, 6.12 and 7.2 in QEMU (KERNELS='5.10 7.2',
##                  GUEST=aarch64: on another machine)
test-kernels:
	@tests/deps.sh install build test kernels
	@+$(if $(GUEST),tests/kernels/guest-programs.sh $(GUEST),$(parallel) kernel-programs)
	@BUILD=$(BUILD) SIZE=$(or $(SIZE),full) GUEST=$(GUEST) tests/kernels/run.sh $(KERNELS)
kernel-programs: $(if $(wildcard tui/main.c),$(BUILD)/stacktop) \
		$(addprefix $(BUILD)/tests/work/,deep90 deep90.static probed returns)

##   tsan           unit tests of threaded code under the thread sanitizer
# A quit during loading leaves the loading thread behind on purpose: no leak of threads.
TSAN_C := $(foreach t,inventory memlock sampler_maps sideband storm tracker tracker_commands \
	tracker_objects tracker_repair,$(wildcard tests/bpf/*/test_$(t).c)) \
	$(filter tests/tui/%,$(TEST_C))
tsan:
	@tests/deps.sh install build test
	@+$(parallel) BUILD=$(BUILD)/tsan \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=thread' all \
		$(TSAN_C:%.c=$(BUILD)/tsan/%) $(BUILD)/tsan/tests/tui/demo
	@BUILD=$(BUILD)/tsan UNIT=$(BUILD)/tsan TIME_FACTOR=5 \
		TSAN_OPTIONS=die_after_fork=0:report_thread_leaks=0 \
		tests/run.py $(or $(T),$(TSAN_C:tests/%.c=%))

##   fuzz           run every fuzzer for FUZZ_SECONDS (30)
fuzz:
	@tests/deps.sh install build test
	@+$(parallel) BUILD=$(BUILD)/fuzz CC=$(CLANG) \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fprofile-instr-generate' \
		fuzz-programs
	@BUILD=$(BUILD)/fuzz tests/fuzz.sh $(FUZZ_SECONDS)
fuzz-programs: $(FUZZ_BIN)

##   verify-unwind  compare the tables of every ELF file in DIR (/usr/bin) with elfutils' interpreter
##                  (OF=other: of the files for the other processor)
verify-unwind:
	@tests/deps.sh install build test
	@+$(parallel) $(BUILD)/tests/unwind/verify_unwind$(if $(OF),.other)
	$(Q)$(BUILD)/tests/unwind/verify_unwind$(if $(OF),.other) $(DIR)

##   zoo            sample real programs of Debian, beside perf (PROGRAMS='mono ruby', SECONDS=4,
##                  OUT=docs/COVERAGE.md: write the table there, too)
zoo:
	@tests/deps.sh install build
	@+$(parallel) all
	@BUILD=$(BUILD) SECONDS=$(SECONDS) OUT=$(OUT) tests/zoo/run.py $(PROGRAMS)

##   distributions  `make run` and `make test` in minimal roots of Debian (SUITES='bookworm trixie sid',
##                  OUT=docs/COVERAGE.md: write the table there, too)
distributions:
	@tests/deps.sh install build test
	@BUILD=$(BUILD) OUT=$(OUT) tests/roots/distributions.sh $(SUITES)

##   bench          measure the cost of a walk, table sizes, start time, CPU and memory use
BENCH_BIN := $(addprefix $(BUILD)/tests/bench/,tablesize peer churn deep90.fp peer.bpf.o)
bench:
	@tests/deps.sh install build test
	@+$(parallel) bench-programs
	@BUILD=$(BUILD) tests/bench/run.sh
bench-programs: all $(WORK_BIN) $(BENCH_BIN)

$(BUILD)/tests/bench/%: tests/bench/%.c $(unwind_LIBS) $(BUILD)/flags
	$(folder)
	$(call say,BENCH,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(WERROR_) -MMD -MP -MF $@.d $(LDFLAGS) -o $@ $< $(unwind_LIBS) $(LDLIBS)

# For profilers that follow frame pointers.
$(BUILD)/tests/bench/%.fp: tests/live/programs/%.c
	$(folder)
	$(call say,BENCH,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -fno-omit-frame-pointer -o $@ $<

##   check          static analysis: format, linters, headers, include rules
check:
	@tests/deps.sh install build test check
	@BUILD=$(BUILD) tests/check.sh

##   where          list the tests that cover a source (M=evict)
where:
	@tests/where.py $(M)

##   mutate         put one fault at a time into the code, list those that no unit test finds (hours; M=NAME)
mutate:
	@tests/deps.sh install build test
	@BUILD=$(BUILD) tests/mutate.py $(M)

##   format         let clang-format rewrite all C files
format:
	@tests/deps.sh install check
	@git ls-files --cached --others --exclude-standard '*.c' '*.h' | xargs -r clang-format -i

##   install        install to DESTDIR/PREFIX (PREFIX=/usr/local)
share := $(DESTDIR)$(PREFIX)/share
install: all
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(share)/man/man1 $(share)/stacktop/themes
	$(INSTALL) -m 755 $(BUILD)/stacktop $(DESTDIR)$(PREFIX)/bin/stacktop
	$(INSTALL) -m 644 docs/stacktop.1 $(share)/man/man1/stacktop.1
	$(INSTALL) -m 644 $(wildcard themes/*.theme) $(share)/stacktop/themes

##   uninstall      remove the installed files
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/stacktop $(share)/man/man1/stacktop.1
	rm -rf $(share)/stacktop

##   clean          remove built files; downloads stay (rm -r build removes them, too)
clean:
	$(Q)[ ! -d $(BUILD) ] || find $(BUILD) -mindepth 1 -maxdepth 1 ! -name kernels -exec rm -rf {} +

##   help           print this list
help:
	@echo 'make TARGET [V=1] [BUILD=build] [CC=gcc] [CFLAGS=...] [CROSS=aarch64 SYSROOT=DIR]'
	@sed -n 's/^##//p' $(MAKEFILE_LIST)

# Rules for single programs stand beside their sources.
include $(wildcard tests/*.mk tests/*/*.mk tests/*/*/*.mk tests/*/*/*/*.mk)

# Those of the folders in which another make builds are not this one's.
-include $(shell find $(BUILD) -path '$(BUILD)/*/stacktop' -prune -o \( -path $(UNIT) -o -path $(BUILD)/roots -o -path $(BUILD)/distributions \) -prune -o -name '*.d' -type f -print 2>/dev/null)
