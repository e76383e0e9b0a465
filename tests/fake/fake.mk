# Workers that misbehave as they are told, for the tests of cts-isolate.
FAKES := $(B)/fake/fake-exec

$(FAKES): $(B)/fake/%: $(B)/obj/tests/fake/%.o $(LIBCTS)
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_LIGHT)

.PHONY: fakes
fakes: $(FAKES)
