# The mutation score: how many random faults of the reference device the suite
# notices.

MUTATE := $(B)/mutate/evidence $(B)/mutate/draw $(B)/mutate/try
$(MUTATE): $(B)/mutate/%: $(B)/obj/tests/mutate/%.o \
		$(B)/obj/tests/mutate/digest.o $(LIBCTS)
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_LIGHT)

ifndef SAN
units: $(MUTATE)
endif

#: Mutation variables
#: N=100, SEED=67      how many random faults, and which
#: LEVEL=3, DTYPE=float32,int64   cases that may notice them
#: CASES=40            at most so many for each fault
#: RULES=PLAN          these faults instead of random ones
#: JOBS, TIMEOUT=10, OUT          workers; seconds of silence; results there

export CASES RULES
.PHONY: mutate
mutate: all $(MUTATE) ## draw N faults of the reference device, count the caught
	@bash tests/mutate/mutate.sh
