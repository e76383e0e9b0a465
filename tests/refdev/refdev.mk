# The reference device, as a Python package in build/refdev/torch_refdev/.

REFDEV := build/refdev
REFDEV_SRC := $(wildcard tests/refdev/*.cc)
REFDEV_OBJ := $(REFDEV_SRC:tests/refdev/%.cc=$(REFDEV)/obj/%.o)
REFDEV_PY := $(wildcard tests/refdev/py/*.py)
REFDEV_OUT := $(REFDEV)/torch_refdev/_C.so \
	$(REFDEV_PY:tests/refdev/py/%=$(REFDEV)/torch_refdev/%)
# PyTorch's headers don't pass the project's warnings when precompiled.
REFDEV_CXX = $(CXX) $(TORCH_CXXFLAGS) $(PY_CFLAGS) -std=gnu++20 -fPIC -O1 \
	-fvisibility=hidden

.PHONY: refdev
refdev: $(REFDEV_OUT) ## build the reference device
all: $(REFDEV_OUT)

$(REFDEV)/obj/pch.h.gch: tests/refdev/pch.h build/torch.mk
	$(call say,PCH)
	$(Q)mkdir -p $(@D) && cp $< $(@D)/pch.h && \
		$(REFDEV_CXX) -w -x c++-header -o $@ $(@D)/pch.h

$(REFDEV)/obj/%.o: tests/refdev/%.cc $(REFDEV)/obj/pch.h.gch
	$(call say,CXX)
	$(Q)$(REFDEV_CXX) -Wall -Wextra $(WERROR) -I$(@D) -include pch.h \
		-Winvalid-pch -MMD -MP -c -o $@ $<

$(REFDEV)/torch_refdev/_C.so: $(REFDEV_OBJ)
	$(call say,LDXX)
	$(Q)mkdir -p $(@D) && $(CXX) -shared -o $@ $^ $(TORCH_LDFLAGS) -lcjson

$(REFDEV)/torch_refdev/%.py: tests/refdev/py/%.py
	$(Q)mkdir -p $(@D) && cp $< $@

-include $(wildcard $(REFDEV)/obj/*.d)
