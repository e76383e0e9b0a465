# The benchmark of the comparison alone.
$(B)/bench/compare: $(B)/obj/tests/bench/compare.o $(LIBCTS)
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS_LIGHT)
