# Workers that misbehave as they are told, for the tests of cts-isolate.  Never
# with sanitizers, which would meet a crash before anybody else does.
.PHONY: fakes torture faults
ifdef SAN
fakes:
	+$(Q)$(MAKE) --no-print-directory SAN= fakes

check-san-run: fakes
else
build/fake/fake-exec: build/obj/tests/fake/fake-exec.o build/libcts.a
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $^ \
		$(LIBS_LIGHT)

fakes: build/fake/fake-exec

units: fakes
endif

#: KILLS=200           processes that `make torture` kills

torture: all fakes ## kill processes of a run at random, resume, compare
	@KILLS=$${KILLS:-200} bash tests/t3411-isolate-torture.t

#: FAULTS=200, CASES=5000   process faults that `make faults` puts among cases
faults: all ## process faults of every kind among thousands of cases
	@FAULTS=$${FAULTS:-200} CASES=$${CASES:-5000} \
		bash tests/t5411-isolate-faults.t
