# The only entry for building, testing and running.  `make help` lists it all.
# GNU make; one file, not recursive.  Parts that a folder needs for itself
# stand in tests/*/*.mk and shim/*.mk, which are included at the end.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

# Local settings that are nobody else's business; see `make help`.
-include config.mk

#: Build variables
#: PYTHON=python3      the interpreter that has your PyTorch, 2.7 or later
#: CC, CXX             compilers
#: CFLAGS, CXXFLAGS, LDFLAGS   yours; the project's own are added
#: WERROR=             empty: a compiler's warning is no error
#: SAN=address,undefined       build with sanitizers, apart, in build/san
#: V=1                 show every command
#: PREFIX=/usr/local   where `make install` puts things
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
CXX := $(if $(filter default undefined,$(origin CXX)),g++,$(CXX))
AR := $(if $(filter default undefined,$(origin AR)),ar,$(AR))
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
WERROR ?= -Werror
PREFIX ?= /usr/local
NPROC := $(shell nproc 2>/dev/null || echo 2)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $1 $@)

# Without -j, as many jobs as there are cores.
ifeq ($(MAKELEVEL)$(findstring -j,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(NPROC)
endif

# A sanitized build has objects and binaries of its own.
ifdef SAN
B := build/san
BIN := build/san/bin
SANFLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
else
B := build
BIN := bin
SANFLAGS :=
endif

# $(call stamp,FILE,TEXT): FILE holds TEXT, and is touched only if it didn't.
quote = '$(subst ','\'',$1)'
stamp = $(shell mkdir -p $(dir $1); \
	printf '%s\n' $(call quote,$2) | cmp -s - $1 || \
	printf '%s\n' $(call quote,$2) >$1)

## Set-up: packages, an interpreter with PyTorch, and what it says of itself
#
# build/torch.mk holds the answers of $(PYTHON) and, once made, costs nothing.
# Goals that need no compiler do without.
LIGHT := help clean distclean uninstall lint
ifneq ($(filter-out $(LIGHT),$(or $(MAKECMDGOALS),all)),)
ifeq ($(PYTHON),)
override PYTHON := $(shell sh lib/pick-python.sh)
endif
$(call stamp,build/python,$(PYTHON))
include build/torch.mk
endif

build/torch.mk: build/python lib/torchmk.py lib/setup.sh
	@bash lib/setup.sh "$(PYTHON)" $@

## Flags

CPPFLAGS_ALL := -Ilib $(CPPFLAGS)
WARN := -Wall -Wextra -Wshadow $(WERROR)
CFLAGS_ALL = -std=gnu11 -ffp-contract=off $(WARN) -Wstrict-prototypes \
	-Wmissing-prototypes -fPIC $(SANFLAGS) $(CFLAGS)
CXXFLAGS_ALL = -std=gnu++20 $(WARN) -fPIC $(SANFLAGS) $(CXXFLAGS)
LDFLAGS_ALL = $(SANFLAGS) $(LDFLAGS)
LIBS_LIGHT := -lcjson -lz -lm
DEFS := -DCTS_PYTHON='"$(PYTHON_EXE)"' -DCTS_TORCH_LIB='"$(TORCH_LIB)"' \
	-DCTS_SITE='"$(TORCH_SITE)"'

# Where nothing is built, nothing is known of Python: no flags to remember.
ifdef PYTHON_EXE
$(call stamp,$(B)/flags,$(CC) $(CFLAGS_ALL) $(CPPFLAGS_ALL) \
	$(CXX) $(CXXFLAGS_ALL) $(LDFLAGS_ALL) $(DEFS) $(PY_CFLAGS) \
	$(PY_LDFLAGS) $(TORCH_CXXFLAGS) $(TORCH_LDFLAGS))
endif

## What is built from what

objs = $(patsubst %.c,$(B)/obj/%.o,$1)
cxxobjs = $(patsubst %.cc,$(B)/obj/%.o,$1)

LIB_C := $(wildcard lib/*.c)
SHIM_C := $(filter-out shim/manifest_py.c,$(wildcard shim/*.c))
SHIM_CC := $(wildcard shim/*.cc)
HEAVY := cts-exec
TOOLS := $(patsubst tools/%.c,%,$(wildcard tools/cts-*.c))
LIGHT_TOOLS := $(filter-out $(HEAVY),$(TOOLS))
UNITS := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/u-*.c))

LIBCTS := $(B)/libcts.a
PRODUCTS := $(LIBCTS) $(LIGHT_TOOLS:%=$(BIN)/%)
ifndef SAN
PRODUCTS += $(patsubst %,$(BIN)/%,$(filter $(HEAVY),$(TOOLS))) \
	$(if $(wildcard shim/manifest_py.c),libexec/cts-manifest-py) \
	$(if $(SHIM_CC),build/libcts_torch.so)
endif

.PHONY: all
all: $(PRODUCTS) ## build everything

$(LIBCTS): $(call objs,$(LIB_C))
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(LIGHT_TOOLS:%=$(BIN)/%): $(BIN)/%: $(B)/obj/tools/%.o $(LIBCTS)
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_LIGHT)

bin/cts-exec: build/obj/tools/cts-exec.o $(call objs,$(SHIM_C)) build/libcts.a
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $^ \
		$(PY_LDFLAGS) $(LIBS_LIGHT) -ldl -lpthread

libexec/cts-manifest-py: $(call objs,$(wildcard shim/manifest_py.c shim/py.c)) \
		build/libcts.a
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $^ \
		$(PY_LDFLAGS) $(LIBS_LIGHT) -ldl

# Symbols of libpython come from the program that loads it.
build/libcts_torch.so: $(call cxxobjs,$(SHIM_CC)) build/libcts.a
	$(call say,LDXX)
	$(Q)$(CXX) -shared $(LDFLAGS_ALL) -o $@ $^ $(TORCH_LDFLAGS) \
		$(LIBS_LIGHT)

$(UNITS): $(B)/unit/%: $(B)/obj/tests/unit/%.o $(LIBCTS)
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_LIGHT)

# What sees Python sees the shim's headers first, and nothing else sees them.
$(B)/obj/shim/%.o $(HEAVY:%=$(B)/obj/tools/%.o): \
	CPPFLAGS_ALL := -Ishim -Ilib $(CPPFLAGS) $(PY_CFLAGS)

$(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS_ALL) $(DEFS) $(CFLAGS_ALL) \
		-MMD -MP -c -o $@ $<

$(B)/obj/%.o: %.cc $(B)/flags
	$(call say,CXX)
	$(Q)mkdir -p $(@D) && $(CXX) $(CPPFLAGS_ALL) $(DEFS) $(TORCH_CXXFLAGS) \
		$(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<

-include $(wildcard $(B)/obj/*/*.d $(B)/obj/*/*/*.d)

## Running

#: Run variables
#: DEVICE=cpu          device, as torch.device() takes it
#: LEVEL=1             up to this level, 1 to 8
#: LEVEL_EXACT, LEVEL_RANGE=A:B   only these levels
#: DTYPE, OP, SUITE, CASE         narrow: dtypes; regex; suite; one id
#: PICK='family=fft tier=*'        narrow, see cts-enum --pick
#: LIMIT=N, START_AT=ID, START_AFTER=ID   a part of the cases
#: MAX_DEVICE_MEMORY=MB, MAX_TENSOR_SIZE=MB   leave out what needs more
#: MEMORY_MODE=balanced           how often caches are emptied, see cts-enum
#: MANIFEST=FILE       the claim; default: the template for DEVICE
#: BACKEND_IMPORT=MODULE          what makes DEVICE known to PyTorch
#: OUT=DIR             run folder; default below results/
#: JOBS                workers; default: cores
#: HOSTS=a,user@b      run there, over ssh, JOBS workers on each; every host has
#:                     the toolkit and the run's folder under the same path
#: CORPUS=auto|off|DIR            where samples and references are kept
#: GOLDEN=FILE         compare with what another machine recorded
#: SEED, SAMPLES       seed of inputs; at most so many samples a case
#: TIMEOUT             seconds a case may take
#: ISOLATE=batch|case  a process for many cases, or one each
#: ADAPTIVE=auto|off, KNOWN_CRASHES=isolate|off   who gets one alone
#: CONFIRM=auto|off    run each failure once more in a fresh process
#: BASELINE=RUN        report what got worse since that run
#: WAIVERS=FILE        known failures, with device, URL, reason, expiry
#: SHARD=I/N           the I-th of N parts
#: SAMPLE=N            of CASE, for repro: not the first that fails
#: REPORT_SKIPS=1      list what did not run in the report
RUN_VARS := DEVICE LEVEL LEVEL_EXACT LEVEL_RANGE DTYPE OP SUITE CASE MANIFEST \
	BACKEND_IMPORT OUT JOBS SEED SAMPLES TIMEOUT ISOLATE ADAPTIVE \
	KNOWN_CRASHES CONFIRM BASELINE WAIVERS HOSTS SHARD REPORT_SKIPS RUN \
	FROM N CORPUS GOLDEN SAMPLE
# What was typed is meant as it is: a regex has its $, a folder its #.
end := endef
define as_typed
override define $1 :=
$(subst $$,$$$$,$(value $1))
$(end)
endef
$(foreach v,$(RUN_VARS),$(if $(filter command line,$(origin $v)),$(eval \
	$(call as_typed,$v))))
export $(RUN_VARS)
export PYTHON

# Under -j or not, a run is one line and says by itself what is wrong.
glue = @bash lib/run.sh $1

.PHONY: run resume rerun rejudge triage repro show-skips probe validate demo \
	bench sync-opinfo crash-audit
run: all ## prove or disprove what DEVICE claims
	$(call glue,run)
resume: all ## finish the interrupted run RUN=folder
	$(call glue,resume)
rerun: all ## run again what was not good in FROM=run
	$(call glue,rerun)
rejudge: all ## judge RUN=run again, without the device
	$(call glue,rejudge)
triage: all ## run each failure of RUN=run alone, N times, and class it
	$(call glue,triage)
repro: all ## print a Python script that shows how CASE fails (in FROM=run)
	$(call glue,repro)
show-skips: all ## list what would not run, and why
	$(call glue,show-skips)
probe: all ## ask DEVICE about each dtype and capability that it claims
	$(call glue,probe)
crash-audit: all ## check the ledger of known crashes against the cases
	$(call glue,crash-audit)
validate: all ## the toolkit against itself: CPU on both sides
	$(call glue,validate)
sync-opinfo: all ## ask PyTorch again: its inventory, and a corpus up to LEVEL
	$(call glue,sync-opinfo)
demo: all ## a misbehaving device, and what its failures look like
	$(call glue,demo)
bench: all ## time a run against a bare Python loop
	@for f in tests/bench/*.sh; do bash "$$f" || exit; done

.PHONY: print-python
print-python: ## print the interpreter in use
	@echo $(PYTHON_EXE)

## Testing

#: Test variables
#: T='tests/t02*.t'    only these tests

.PHONY: units test check check-san lint
units: $(UNITS)

test: all units ## build and run every test; last line "N passed, N failed"
	@bash tests/run.sh $(T)

check: test ## the same

check-san: all units ## C tests and light tools under ASan and UBSan
	+$(Q)$(MAKE) --no-print-directory SAN=address,undefined check-san-run

.PHONY: check-san-run
check-san-run: all units
	@CTS_SAN=1 bash tests/run.sh $(T)

lint: ## style of C, shell and text
	@bash tests/lint.sh

## The rest

.PHONY: man
man: all ## write the man pages anew from what the tools say
	$(Q)for t in $(TOOLS); do bash docs/mkman.sh $$t >docs/$$t.1.tmp && \
		mv docs/$$t.1.tmp docs/$$t.1; done

.PHONY: setup help install uninstall clean distclean
setup: build/torch.mk ## install what is needed, build nothing

help: ## list targets and variables
	@echo 'Targets:'
	@sed -n 's/^\([a-z][a-z-]*\):[^=]*## \(.*\)/  \1\t\2/p' \
		$(filter-out %.d build/% config.mk,$(MAKEFILE_LIST)) | \
		expand -t 16
	@sed -n -e 's/^#: \([A-Z][a-z]* variables\)/\n\1:/p' -e t \
		-e 's/^#: /  /p' Makefile

D := $(DESTDIR)$(PREFIX)
install: all ## install below PREFIX
	$(Q)for d in bin libexec templates coverage suites; do \
		[ ! -d $$d ] || { mkdir -p $(D)/lib/cts && \
		cp -R $$d $(D)/lib/cts/; }; done
	$(Q)mkdir -p $(D)/lib/cts/build $(D)/bin
	$(Q)cp build/*.so $(D)/lib/cts/build/
	$(Q)for f in bin/cts-*; do ln -sf ../lib/cts/$$f $(D)/$$f; done
	$(Q)for f in docs/*.[1-8]; do [ ! -f $$f ] || \
		install -Dm644 $$f $(D)/share/man/man$${f##*.}/$${f##*/}; done

uninstall: ## remove what install put below PREFIX
	$(Q)for f in $(TOOLS); do rm -f $(D)/bin/$$f; done
	$(Q)for f in $(notdir $(wildcard docs/*.[1-8])); do \
		rm -f $(D)/share/man/man$${f##*.}/$$f; done
	$(Q)rm -rf $(D)/lib/cts

clean: ## remove what was built; runs and .venv stay
	$(Q)rm -rf build bin libexec

-include $(wildcard tests/*/*.mk shim/*.mk)
