# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of other libcs, linkers, compilers and languages for tests/live/test_foreign.py. If the
# compiler of one is missing it is not built, and the test names it as skipped; tests/deps.sh installs
# them all. None is compiled with CFLAGS: how they are built is what is tested.

comma     := ,
foreign   := tests/live/programs/foreign
foreign_B := $(BUILD)/tests/foreign
foreign_CC = $(CC) -std=gnu11 -D_GNU_SOURCE -O2 -fomit-frame-pointer -Wall -Wextra
have = $(if $(shell command -v $(1) 2>/dev/null),$(2))

FOREIGN := chain chain.static chain.static-pie chain.stripped liar signal signal.static jit bits32 \
	throw $(if $(findstring /,$(shell g++ -print-file-name=libstdc++.a 2>/dev/null)),throw.static) \
	$(call have,$(CLANG),chain.clang) \
	$(call have,$(CLANG),$(call have,ld.lld,plt.lld plt.lld-lazy plt.lld-ibt chain.lld)) \
	$(call have,ld.gold,plt.gold chain.gold) \
	chain.nocfi chain.nocfi-static $(call have,nasm,chain.nasm) \
	$(if $(wildcard /usr/include/boost/context/detail/fcontext.hpp),fcontext) \
	$(call have,musl-gcc,\
		chain.musl chain.musl-direct chain.musl-static signal.musl signal.musl-static) \
	$(call have,rustc,rust rust.v0 rust.abort) \
	$(call have,go,go go.stripped cgo) \
	$(call have,ghc,haskell haskell.g haskell.dynamic)
# For another machine, those that its guests walk (tests/kernels/programs.aarch64).
foreign_musl := $(wildcard $(SYSROOT)/usr/lib/$(MACHINE)-linux-musl/musl-gcc.specs)
FOREIGN_CROSS := chain chain.static chain.static-pie chain.stripped chain.signed chain.leaf chain.nocfi \
	signal signal.static signal.signed \
	$(call have,$(CLANG),$(call have,ld.lld,chain.lld)) \
	$(if $(foreign_musl),chain.musl-static signal.musl-static) \
	$(call have,go,go go.stripped)
FOREIGN_BIN := $(addprefix $(foreign_B)/,$(if $(CROSS),$(FOREIGN_CROSS),$(FOREIGN)))
# Compilers and tools for it.
foreign_strip := $(if $(CROSS),$(CROSS)-linux-gnu-)strip
# From clang 19 on it does not find the other machine's libgcc, of a cross compiler, by itself.
foreign_gcc_B := $(if $(CROSS),$(dir $(shell $(CROSS)-linux-gnu-gcc -print-libgcc-file-name 2>/dev/null)))
foreign_clang := $(CLANG)$(if $(CROSS), --target=$(CROSS)-linux-gnu --sysroot=$(SYSROOT) \
	$(addprefix -B,$(foreign_gcc_B)) $(addprefix -L,$(foreign_gcc_B)))
foreign_go    := $(if $(CROSS),GOARCH=$(subst aarch64,arm64,$(CROSS)))
ifneq ($(CROSS),)
foreign_musl_gcc = sed 's,/usr/[a-z]*/$(MACHINE)-linux-musl,$(SYSROOT)&,g' $(foreign_musl) >$$@.specs && \
	$(CROSS)-linux-gnu-gcc -specs=$$@.specs
else
foreign_musl_gcc = musl-gcc
endif

tests kernel-programs: $(FOREIGN_BIN)

# $(call foreign_rule,program,source,command): $@ and $< as in any rule.
define foreign_rule
$(foreign_B)/$(1): $(foreign)/$(2) $(foreign)/build.mk
	$$(folder)
	$$(call say,WORK,$$@)
	$$(Q)$(3)
endef
foreign_program = $(eval $(call foreign_rule,$(1),$(2),$(3)))
foreign_plt = $(foreign_CC) $(1) -shared -fPIC -o $$@.so $(foreign)/pltlib.c 2>$$@.log && \
	$(2) $(1) -o $$@ $$< $$@.so -Wl,-rpath,'$$$$ORIGIN' 2>$$@.log || { cat $$@.log; false; }

$(call foreign_program,chain,chain.c,$(foreign_CC) -o $$@ $$<)
$(call foreign_program,liar,chain.c,$(foreign_CC) -DLIAR -o $$@ $$<)
$(call foreign_program,chain.static,chain.c,$(foreign_CC) -static -o $$@ $$<)
$(call foreign_program,chain.static-pie,chain.c,$(foreign_CC) -static-pie -fPIE -o $$@ $$<)
$(call foreign_program,chain.stripped,chain.c,$(foreign_CC) -o $$@.full $$< && $(foreign_strip) -o $$@ $$@.full)
$(call foreign_program,chain.clang,chain.c,$(CLANG) -D_GNU_SOURCE -O2 -fomit-frame-pointer -o $$@ $$<)
$(call foreign_program,chain.lld,chain.c,$(foreign_clang) -D_GNU_SOURCE -O2 -fuse-ld=lld -o $$@ $$<)
$(call foreign_program,chain.gold,chain.c,$(foreign_CC) -fuse-ld=gold -o $$@ $$<)
$(call foreign_program,chain.musl,chain.c,musl-gcc -D_GNU_SOURCE -O2 -o $$@ $$<)
$(call foreign_program,chain.musl-direct,chain.c,musl-gcc -D_GNU_SOURCE -DDIRECT -O2 -o $$@ $$<)
$(call foreign_program,chain.musl-static,chain.c,$(foreign_musl_gcc) -D_GNU_SOURCE -DDIRECT -O2 -static -o $$@ $$<)
# Of arm64: return addresses are signed; and the innermost function has not saved its own.
$(call foreign_program,chain.signed,chain.c,\
	$(foreign_CC) -mbranch-protection=standard -o $$@ $$<)
$(call foreign_program,signal.signed,signal.c,\
	$(foreign_CC) -mbranch-protection=standard -o $$@ $$<)
$(call foreign_program,chain.leaf,chain.c,\
	$(foreign_CC) -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer \
	-momit-leaf-frame-pointer -o $$@ $$<)
$(call foreign_program,chain.nocfi,chain.c,$(foreign_CC) -fno-asynchronous-unwind-tables -o $$@ $$<)
$(call foreign_program,chain.nocfi-static,chain.c,\
	$(foreign_CC) -fno-asynchronous-unwind-tables -static -o $$@ $$<)
$(call foreign_program,chain.nasm,chain.asm,nasm -f elf64 -o $$@.o $$< && $(CC) -o $$@ $$@.o)
$(call foreign_program,fcontext,fcontext.cc,g++ -O2 -fomit-frame-pointer -o $$@ $$< -lboost_context)
$(call foreign_program,plt.lld,plt.c,$(call foreign_plt,-fuse-ld=lld -Wl$$(comma)-z$$(comma)now,$(CLANG) -O2))
$(call foreign_program,plt.lld-lazy,plt.c,$(call foreign_plt,-fuse-ld=lld -Wl$$(comma)-z$$(comma)lazy,$(CLANG) -O2))
$(call foreign_program,plt.lld-ibt,plt.c,$(call foreign_plt,-fuse-ld=lld \
	-Wl$$(comma)-z$$(comma)force-ibt$$(comma)-z$$(comma)lazy,$(CLANG) -O2 -fcf-protection))
$(call foreign_program,plt.gold,plt.c,$(call foreign_plt,-fuse-ld=gold,$(foreign_CC)))
$(call foreign_program,signal,signal.c,$(foreign_CC) -o $$@ $$<)
$(call foreign_program,signal.static,signal.c,$(foreign_CC) -static -o $$@ $$<)
$(call foreign_program,signal.musl,signal.c,musl-gcc -D_GNU_SOURCE -O2 -o $$@ $$<)
$(call foreign_program,signal.musl-static,signal.c,$(foreign_musl_gcc) -D_GNU_SOURCE -O2 -static -o $$@ $$<)
$(call foreign_program,jit,jit.c,$(foreign_CC) -o $$@ $$<)
$(call foreign_program,bits32,bits32.c,$(CC) -O2 -m32 -nostdlib -static -ffreestanding -fno-pic -no-pie \
	-fno-stack-protector -o $$@ $$<)
$(call foreign_program,throw,throw.cc,g++ -O2 -fomit-frame-pointer -Wall -Wextra -o $$@ $$<)
$(call foreign_program,throw.static,throw.cc,g++ -O2 -fomit-frame-pointer -static -o $$@ $$<)
# rustc puts temporary object files beside the program, under the crate's name: a folder for each.
foreign_rust = mkdir -p $$@.work && env -u MAKEFLAGS -u MFLAGS rustc --edition 2021 -O $(1) \
	-o $$@.work/rust $$< && mv $$@.work/rust $$@ && rm -r $$@.work
$(call foreign_program,rust,rust.rs,$(call foreign_rust,-C panic=unwind))
$(call foreign_program,rust.v0,rust.rs,$(call foreign_rust,-C panic=unwind -C symbol-mangling-version=v0))
$(call foreign_program,rust.abort,rust.rs,$(call foreign_rust,-C panic=abort))
foreign_GO = GO111MODULE=off GOFLAGS= CGO_ENABLED=0 $(foreign_go) GOCACHE=$(abspath $(foreign_B))/go-cache go build
$(call foreign_program,go,go.go,$(foreign_GO) -o $$@ $$<)
$(call foreign_program,go.stripped,go.go,$(foreign_strip) -o $$@ $(foreign_B)/go)
$(foreign_B)/go.stripped: $(foreign_B)/go
$(call foreign_program,cgo,cgo/cgo.go,$(subst CGO_ENABLED=0,CGO_ENABLED=1,$(foreign_GO)) -o $$@ ./$$(<D))
$(foreign_B)/cgo: $(foreign)/cgo/c.c
foreign_GHC = mkdir -p $$@.work && ghc -v0 -O1 $(1) -outputdir $$@.work -o $$@ $$< $(foreign)/haskell/h.c
$(call foreign_program,haskell,haskell/haskell.hs,$(call foreign_GHC))
$(call foreign_program,haskell.g,haskell/haskell.hs,$(call foreign_GHC,-g))
$(call foreign_program,haskell.dynamic,haskell/haskell.hs,$(call foreign_GHC,-dynamic))
$(foreign_B)/haskell $(foreign_B)/haskell.g $(foreign_B)/haskell.dynamic: $(foreign)/haskell/h.c
