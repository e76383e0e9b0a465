# The test of values made bytes and back: the shim, and Python, in a program.
build/freeze/roundtrip: build/obj/tests/freeze/roundtrip.o \
		$(call objs,$(SHIM_C)) build/libcts.a
	$(call say,LD)
	$(Q)mkdir -p $(@D) && $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $^ \
		$(PY_LDFLAGS) $(LIBS_LIGHT) -ldl -lpthread

build/obj/tests/freeze/%.o: CPPFLAGS_ALL := -Ishim -Ilib $(CPPFLAGS) \
	$(PY_CFLAGS)

ifndef SAN
ifdef PYTHON_EXE
units: build/freeze/roundtrip
endif
endif
