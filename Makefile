# SPDX-License-Identifier: BSD-2-Clause
#
# make            build/obrec and build/obana      make obana       only the analyser (no libbpf, no clang)
# make unit       unit tests                       make check       all tests
# make fuzz       fuzz targets, limited runs       make bench       benchmarks against other tools
# make static     both as static executables, build/static
# make dist       tar archive and Debian packages of these, build/dist; BTF="KERNEL..." (scripts/btf)
# make install    PREFIX, DESTDIR; install-obana   V=1 shows commands, SAN=1 builds with ASan and UBSan
# make CROSS=aarch64-linux-gnu    cross build in build/aarch64-linux-gnu (scripts/deps test)
#
# Layers are enforced by what each may include and link: format/ uses neither libbpf nor views, analyze/ never links
# libbpf, only record/ includes bpf/. Include paths start at the top of the tree. Each layer is compiled with an include
# directory of its own, $(G)/layer/NAME, which contains only the folders that the layer may use.

SAN ?=
CROSS ?=
B ?= build$(if $(CROSS),/$(CROSS))$(if $(SAN),/san)
# generated files, the same with and without SAN
G := $(patsubst %/san,%,$(B))
V ?= 0
PREFIX ?= /usr/local

CC ?= cc
CLANG ?= clang
BPFTOOL ?= bpftool
SYSROOT :=
ifneq ($(CROSS),)
SYSROOT := $(shell scripts/sysroot arm64)
CC := $(CROSS)-gcc --sysroot=$(SYSROOT)
CXX := $(CROSS)-g++ --sysroot=$(SYSROOT)
endif
ARCH := $(patsubst aarch64%,arm64,$(patsubst x86_64%,x86,$(shell $(CC) -dumpmachine)))
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' "$(1)" "$(2)";)

CFLAGS ?= -O2 -g
CFLAGS += $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
comma := ,
ALL_CFLAGS = -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(CFLAGS)
DEPFLAGS = -MMD -MP

FORMAT_LIBS := -larchive -lzstd -ljson-c -liberty
RECORD_LIBS := -lbpf -lm -ldw -lelf -lz -llzma -lnettle -lseccomp
ANALYZE_LIBS := -ldw -lelf -lsqlite3 -lz -lm -llzma -lnettle

FORMAT_SRC := $(wildcard format/*.c format/*/*.c)
RECORD_SRC := $(wildcard record/*/*.c)
ANALYZE_SRC := $(wildcard analyze/*/*.c analyze/*/*/*.c)
# files that define maps come first: libbpf 1.1 loses the position of a map that is used before it is defined
BPF_SRC := bpf/unwind.bpf.c bpf/core.bpf.c bpf/metric.bpf.c bpf/event.bpf.c $(patsubst %,bpf/net/%.bpf.c,net_sock net_payload net tls_thread) bpf/probe/func_args.bpf.c
BPF_SRC += $(filter-out $(BPF_SRC),$(wildcard bpf/*.bpf.c bpf/*/*.bpf.c))

obj = $(patsubst %.c,$(B)/%.o,$(1))
FORMAT_A := $(B)/libformat.a
RECORD_A := $(B)/librecord.a
ANALYZE_A := $(B)/libanalyze.a
SKEL := $(G)/obrec.skel.h

.DELETE_ON_ERROR:
.PHONY: all obrec obana static dist newest-clang units unit fuzz-build workload check fuzz bench install install-obrec install-obana clean print-%
all: obrec obana
obrec: $(B)/obrec
obana: $(B)/obana

$(FORMAT_A): $(call obj,$(FORMAT_SRC))
$(RECORD_A): $(call obj,$(RECORD_SRC)) $(G)/obrec.skel.o
$(ANALYZE_A): $(call obj,$(ANALYZE_SRC))
$(B)/%.a:
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $(filter %.o,$^)

$(B)/obrec: $(B)/record/obrec_main.o $(RECORD_A) $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(FORMAT_LIBS) $(RECORD_LIBS) $(LDFLAGS)
$(B)/obana: $(B)/analyze/obana_main.o $(ANALYZE_A) $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(FORMAT_LIBS) $(ANALYZE_LIBS) $(LDFLAGS)

# ---- static executables from the same objects: Debian's compilers make all code position independent

# The linker drops unreferenced code (libarchive contains all its formats, and through xar libxml2 and ICU). Warnings are errors:
# glibc warns of name services and dlopen, which need shared libraries of the same glibc version at run time.
STATIC_LDFLAGS := -static-pie -s -Wl,--gc-sections -Wl,--fatal-warnings
static: $(B)/static/obrec $(B)/static/obana
$(B)/static/obrec: $(B)/record/obrec_main.o $(RECORD_A) $(FORMAT_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread $(STATIC_LDFLAGS) -o $@ $^ $(FORMAT_LIBS) $(RECORD_LIBS) $(LDFLAGS)
$(B)/static/obana: $(B)/analyze/obana_main.o $(ANALYZE_A) $(FORMAT_A) $(B)/scripts/static.o
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread $(STATIC_LDFLAGS) -Wl,--wrap=dlopen -o $@ $^ $(FORMAT_LIBS) $(ANALYZE_LIBS) -llzma $(LDFLAGS)

# manual pages and completions are printed by programs built for the host
DEB_ARCH := $(if $(filter x86,$(ARCH)),amd64,$(ARCH))
dist: static all
	$(if $(CROSS),$(Q)$(MAKE) -s CROSS= B=build static)
	+$(Q)B=$(B) VERSION=$(VERSION) ARCH=$(DEB_ARCH) TEXTS=$(if $(CROSS),build,$(B))/static CROSS=$(CROSS) scripts/dist $(BTF)

# ---- what each layer may include: sees_LAYER, the folders and files in its include directory

sees_format := format
sees_record := record format bpf
sees_analyze := analyze format
sees_bpf := bpf format/kinds.def format/probes.def format/protocols.def format/records.def format/records.h
sees_tests := record analyze format bpf tests
LAYERS := format record analyze bpf tests
layer = $(or $(filter $(LAYERS),$(firstword $(subst _, ,$(subst /, ,$(patsubst tests/unit/%,%,$(patsubst tests/fuzz/%,%,$(1))))))),tests)
top = -iquote $(G)/layer/$(call layer,$(1))
LAYER_STAMPS := $(patsubst %,$(G)/layer/%/.made,$(LAYERS))
$(LAYER_STAMPS): $(G)/layer/%/.made: Makefile
	$(Q)rm -rf $(@D); $(foreach f,$(sees_$*),mkdir -p $(dir $(@D)/$(f)) && ln -sr $(f) $(@D)/$(f) &&) touch $@

$(B)/%.o: %.c | $(G)/version.h $(LAYER_STAMPS)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) $(DEPFLAGS) -pthread $(call top,$<) -I$(G) -c -o $@ $<
$(call obj,$(RECORD_SRC) record/obrec_main.c): | $(SKEL)

# ---- BPF programs: one object per probe, linked into one skeleton

BPF_CFLAGS := -target bpf -ffreestanding -D__TARGET_ARCH_$(ARCH) -O2 -g -mcpu=v3 -Wall -Werror -Wno-unused-function
BPF_SYS := $(SYSROOT)/usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)
$(G)/bpf/%.bpf.o: bpf/%.bpf.c | $(LAYER_STAMPS)
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(CLANG) $(BPF_CFLAGS) $(DEPFLAGS) $(call top,$<) -I$(BPF_SYS) -c -o $@ $<
$(G)/obrec.bpf.o: $(patsubst %.bpf.c,$(G)/%.bpf.o,$(BPF_SRC))
	$(call say,BPFLINK,$@)$(BPFTOOL) gen object $@ $^
# The functions and bytes of the skeleton are compiled once, without sanitizers. Its header only declares them, and is replaced only when
# a declaration changes.
$(G)/obrec.skel.c: $(G)/obrec.bpf.o
	$(call say,SKEL,$@)$(BPFTOOL) gen skeleton $< name obrec_bpf | sed 's/^[^\t]*\<static \(inline \)\?//' > $@
$(SKEL): $(G)/obrec.skel.c
	$(Q)sed '/^{/,/^}/c;' $< > $@.new; cmp -s $@.new $@ || mv $@.new $@
$(G)/obrec.skel.o: $(G)/obrec.skel.c
	$(call say,CC,$<)$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(ALL_CFLAGS)) -c -o $@ $<
# BPF code of the newest clang installed, for tests: it must also pass the verifier. The linker takes its skeleton, which precedes that
# in the archive; their headers must be equal.
NEWEST_CLANG = $(lastword $(shell ls /usr/bin/clang-[0-9]* 2>/dev/null | grep -xE '.*/clang-[0-9]+' | sort -V))
NEWEST := $(B)/newest-clang
newest-clang: $(NEWEST)/obrec $(NEWEST)/tests/bench/verify_insns
$(NEWEST)/obrec.skel.o: $(SKEL) FORCE
	$(Q)[ -n "$(NEWEST_CLANG)" ] || { echo "no clang-N in /usr/bin (scripts/deps test)"; exit 1; }
	$(Q)$(MAKE) -s B=$(NEWEST) CLANG=$(NEWEST_CLANG) $@ $(NEWEST)/obrec.skel.h
	$(Q)cmp $(SKEL) $(NEWEST)/obrec.skel.h
$(NEWEST)/obrec $(NEWEST)/tests/bench/verify_insns: $(NEWEST)/%: $(NEWEST)/obrec.skel.o $(RECORD_A) $(FORMAT_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) $(RECORD_LIBS) $(FORMAT_LIBS) $(LDFLAGS)
$(NEWEST)/obrec: $(B)/record/obrec_main.o
$(NEWEST)/tests/bench/verify_insns: $(B)/tests/bench/verify_insns.o

# ---- text files embedded as C strings

$(G)/version.h: FORCE
	@mkdir -p $(@D); echo '#define OBREC_VERSION "$(VERSION)"' | cmp -s - $@ || echo '#define OBREC_VERSION "$(VERSION)"' > $@
FORCE:
# foo.sql, foo.js, ... -> $(G)/foo.sql.h with the bytes, to #include in the initializer of a char array
EMBED_SRC := $(foreach e,sql js css html,$(wildcard analyze/*/*.$(e)))
EMBED := $(patsubst %,$(G)/%.h,$(notdir $(EMBED_SRC)))
vpath %.sql $(sort $(dir $(EMBED_SRC)))
vpath %.js $(sort $(dir $(EMBED_SRC)))
vpath %.css $(sort $(dir $(EMBED_SRC)))
$(EMBED): $(G)/%.h: % scripts/embed
	@mkdir -p $(@D)
	$(call say,EMBED,$<)scripts/embed $< > $@
$(call obj,$(ANALYZE_SRC)): | $(EMBED)

# ---- tests: tests/unit/LAYER_x.c and tests/fuzz/LAYER_x.c link what LAYER may link; others link both programs

UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/*.c))
link_record := $(RECORD_A) $(FORMAT_A)
link_analyze := $(ANALYZE_A) $(FORMAT_A)
link_tests := $(RECORD_A) $(ANALYZE_A) $(FORMAT_A)
link_format := $(FORMAT_A)
libs_record := $(RECORD_LIBS) $(FORMAT_LIBS)
libs_analyze := $(ANALYZE_LIBS) $(FORMAT_LIBS)
libs_tests := $(RECORD_LIBS) $(ANALYZE_LIBS) $(FORMAT_LIBS)
libs_format := $(FORMAT_LIBS)
.SECONDEXPANSION:
$(UNIT): $(B)/tests/unit/%: $(B)/tests/unit/%.o $$(link_$$(call layer,$$*))
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(libs_$(call layer,$*)) $(LDFLAGS)
$(patsubst tests/unit/%.c,$(B)/tests/unit/%.o,$(wildcard tests/unit/record_*.c)): | $(SKEL)
# programs for benchmarks and comparisons, built with the tests that use them
$(B)/tests/bench/symbolize $(B)/tests/tools/thinned: %: %.o $(ANALYZE_A) $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(libs_analyze) $(LDFLAGS)
$(B)/tests/bench/format_encode: $(B)/tests/bench/format_encode.o $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(libs_format) $(LDFLAGS)
$(B)/tests/bench/redact: $(B)/tests/bench/redact.o $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(libs_format) $(LDFLAGS)
$(B)/tests/bench/verify_insns.o $(B)/tests/bench/payload.o: | $(SKEL)
$(B)/tests/bench/verify_insns $(B)/tests/bench/payload $(B)/tests/bench/bare_tracepoint: %: %.o $(RECORD_A) $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(RECORD_LIBS) $(FORMAT_LIBS) $(LDFLAGS)
# generators of archives for tests
$(B)/tests/tools/mkobz $(B)/tests/bench/synthetic $(B)/tests/bench/traffic $(B)/tests/bench/call_loop $(B)/tests/tools/fuzzseed: %: %.o $(FORMAT_A)
	$(call say,LD,$@)$(CC) $(ALL_CFLAGS) -pthread -o $@ $^ $(libs_format) $(LDFLAGS)
units: $(UNIT) $(B)/tests/bench/verify_insns $(B)/tests/bench/payload $(B)/tests/bench/symbolize $(B)/tests/bench/format_encode $(B)/tests/bench/redact $(B)/tests/tools/mkobz $(B)/tests/tools/thinned $(B)/tests/bench/synthetic $(B)/tests/bench/traffic $(B)/tests/bench/call_loop $(B)/tests/bench/bare_tracepoint
unit: units
	$(Q)B=$(B) scripts/run-tests unit

FUZZ_B := $(B)/fuzz
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE -gline-tables-only -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ := $(patsubst tests/fuzz/%.c,$(FUZZ_B)/%,$(wildcard tests/fuzz/*.c))
$(FUZZ_B)/o/%.o: %.c | $(SKEL) $(EMBED) $(G)/version.h $(LAYER_STAMPS)
	@mkdir -p $(@D)
	$(call say,FUZZCC,$<)$(CLANG) $(FUZZ_CFLAGS) $(DEPFLAGS) -pthread $(call top,$<) -I$(G) -c -o $@ $<
fuzzobj = $(patsubst %.c,$(FUZZ_B)/o/%.o,$(1))
$(FUZZ_B)/libformat.a: $(call fuzzobj,$(FORMAT_SRC))
$(FUZZ_B)/librecord.a: $(call fuzzobj,$(RECORD_SRC)) $(G)/obrec.skel.o
$(FUZZ_B)/libanalyze.a: $(call fuzzobj,$(ANALYZE_SRC))
$(FUZZ): $(FUZZ_B)/%: $(FUZZ_B)/o/tests/fuzz/%.o $$(subst $(B)/,$(FUZZ_B)/,$$(link_$$(call layer,$$*)))
	$(call say,LD,$@)$(CLANG) -fsanitize=fuzzer,address,undefined -pthread -o $@ $^ $(libs_$(call layer,$*))
# includes the generators of the seeds
fuzz-build: $(FUZZ) $(B)/tests/tools/mkobz $(B)/tests/tools/fuzzseed
fuzz: fuzz-build
	$(Q)scripts/run-tests fuzz

# ---- workloads to record: NAME, and NAME-fp (frame pointers), NAME-static, NAME-static-pie

flavour = -O2 -g $(if $(findstring -fp,$1),-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer,-fomit-frame-pointer) \
	$(if $(findstring -static-pie,$1),-static-pie,$(if $(findstring -static,$1),-static)) -pthread
DEMO := $(B)/workload/demo $(patsubst %,$(B)/workload/demo-%,fp static static-pie)
DEEP := $(B)/workload/deep $(patsubst %,$(B)/workload/deep-%,fp static static-pie)
$(DEMO): tests/workload/demo.cpp $(wildcard tests/workload/*.h)
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CXX) -std=c++17 $(call flavour,$(@F)) -o $@ $<
$(DEEP): tests/workload/deep.c
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) -std=gnu11 $(call flavour,$(@F)) -o $@ $<
FUNCS := $(B)/workload/funcs $(B)/workload/funcs-static
NEWS := $(B)/workload/news
$(FUNCS): tests/workload/funcs.cpp
$(NEWS): tests/workload/news.cpp
$(FUNCS) $(NEWS):
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CXX) -std=c++17 $(call flavour,$(@F)) -o $@ $<
VALUES := $(B)/workload/values $(B)/workload/values-static
$(VALUES): tests/workload/values.c tests/workload/usdt_note.h
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter $(call flavour,$(@F)) -o $@ $<
TOOLS := $(patsubst %,$(B)/workload/%,talk burden churn sockets naps locks holders addresses uring memory probed \
	handover counted crowd storm hostile badelf stuckfs security resident)
$(TOOLS): $(B)/workload/%: tests/workload/%.c $(wildcard tests/workload/*.h)
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE $(call flavour,$*) -o $@ $< -ldl
CROSSING := $(B)/workload/crossing $(B)/workload/crossing-static
$(CROSSING): tests/workload/crossing.c tests/workload/need.h
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE $(call flavour,$(@F)) -pthread -o $@ $<
ALLOCS := $(B)/workload/allocs $(B)/workload/allocs-static
$(ALLOCS): tests/workload/allocs.c
	@mkdir -p $(@D)
	$(call say,WORKLOAD,$@)$(CC) -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE $(call flavour,$(@F)) -fno-builtin -fno-ipa-icf -o $@ $< \
		$(if $(findstring static,$@),,-Wl$(comma)--no-as-needed -lstdc++)
workload: $(DEMO) $(DEEP) $(FUNCS) $(NEWS) $(VALUES) $(ALLOCS) $(CROSSING) $(TOOLS) $(B)/workload/heap.so
$(B)/workload/heap.so: tests/workload/heap.c
	$(call say,WORKLOAD,$@)mkdir -p $(@D) && $(CC) -O2 -Wall -shared -fPIC -o $@ $<
# 214 MB of DWARF, for benchmarks; takes minutes to build
$(B)/workload/big: tests/workload/bigcxx.py
	$(call say,WORKLOAD,$@)python3 $< $(B)/workload/big-src && $(MAKE) -s -C $(B)/workload/big-src && cp -f $(B)/workload/big-src/big $@

check: all static units workload fuzz-build
	$(Q)$(MAKE) -s SAN=1 units
	$(Q)FULL=1 scripts/run-tests
bench: all
	$(Q)scripts/bench

# FROM: the programs to install; TEXTS: programs that print manual pages and completions, since FROM may not run on the host.
# ZSH, FISH: their completion directories, relative to PREFIX
FROM ?= $(B)
TEXTS ?= $(FROM)
ZSH ?= share/zsh/site-functions
FISH ?= share/fish/vendor_completions.d
install: install-obrec install-obana
install-obrec install-obana: install-%: %
	$(Q)install -D -m 755 $(FROM)/$* $(DESTDIR)$(PREFIX)/bin/$*
	$(Q)install -d $(addprefix $(DESTDIR)$(PREFIX)/,share/man/man1 share/bash-completion/completions $(ZSH) $(FISH))
	$(Q)cd $(DESTDIR)$(PREFIX) && p=$(abspath $(TEXTS)/$*) && $$p --man >share/man/man1/$*.1 && \
		$$p --completion=bash >share/bash-completion/completions/$* && \
		$$p --completion=zsh >$(ZSH)/_$* && $$p --completion=fish >$(FISH)/$*.fish

clean:
	rm -rf $(B)
print-%:
	@echo '$($*)'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
